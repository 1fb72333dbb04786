//! Does the operation exist?

use bailiwick_contract::{ErrorCode, Failure};

use super::super::Case;
use super::super::scope::clip;
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "operation",
    asks: "Does the operation exist?",
    builds_on: &[],
    check,
    note: |case, _| format!("`{}`", case.envelope.op),
};

fn check<'a>(case: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    let name = &case.envelope.op;
    if let Some(candidate) = case.catalogue.find(name) {
        draft.candidate = Some(candidate);
        return Ok(());
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
