//! Do sensitive files and Git's own files stay closed?

use bailiwick_contract::Failure;

use super::super::{Case, PermittedTarget};
use super::{Draft, Stage};

pub const STAGE: Stage = Stage {
    name: "sensitive",
    asks: "Do sensitive files, and Git's own files, stay closed?",
    builds_on: &["path"],
    check,
    note: |_, _| "nothing closed is touched; links are judged again when they are followed".to_owned(),
};

fn check<'a>(_: &Case<'a>, draft: &mut Draft<'a>) -> Result<(), Failure> {
    if let PermittedTarget::Path(path) = &draft.target {
        path.judge()?;
    }
    draft.paths.iter().try_for_each(|path| path.judge())
}
