//! Does the operation exist?

use bailiwick_contract::{ErrorCode, Failure, StageName};

use super::super::scope::clip;
use super::super::{Candidate, Case};
use super::Stage;

pub const STAGE: Stage = Stage { name: StageName::Operation, asks: "Does the operation exist?" };

pub fn check<'a>(case: &Case<'a>) -> Result<&'a dyn Candidate, Failure> {
    let name = &case.envelope.op;
    if let Some(candidate) = case.catalogue.find(name) {
        return Ok(candidate);
    }
    let nearest = case.catalogue.nearest(name);
    let failure =
        Failure::new(ErrorCode::UnknownOperation, format!("there is no operation `{}`", clip(name)))
            .detail("nearest", nearest.clone());
    Err(if nearest.is_empty() {
        failure.hint("`computer.info` with `input.include` = [\"operations\"] lists the operations.")
    } else {
        failure.hint(format!("Did you mean {}?", nearest.join(" or ")))
    })
}
