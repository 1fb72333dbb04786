//! Do sensitive files and Git's own files stay closed?

use bailiwick_contract::Failure;

use super::super::permitted_path::JudgedPath;
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
    if let Some(path) = &draft.located {
        draft.target = match JudgedPath::judge(path.clone())? {
            JudgedPath::Permitted(path) => PermittedTarget::Path(path),
            JudgedPath::Writable(path) => PermittedTarget::WritablePath(path),
        };
    }
    for path in &draft.located_paths {
        match JudgedPath::judge(path.clone())? {
            JudgedPath::Permitted(path) => draft.paths.push(path),
            JudgedPath::Writable(path) => draft.writable_paths.push(path),
        }
    }
    Ok(())
}
