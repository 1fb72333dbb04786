//! The scripts and tasks of `pyproject.toml`.

use toml::{Table, Value};

use super::manifest::Folder;
use super::{Arguments, Script, Scripts};

/// Which lock file belongs to which runner.
const LOCK_FILES: &[(&str, &str)] = &[("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm")];
/// The tables of scripts, and the runner that alone runs those of its own table.
const TABLES: &[(&[&str], Option<&str>)] = &[
    (&["project", "scripts"], None),
    (&["tool", "poetry", "scripts"], Some("poetry")),
    (&["tool", "pdm", "scripts"], Some("pdm")),
];

/// Finds the scripts. Without a lock file nothing says what runs those of `project.scripts`; they are listed
/// without a runner.
pub fn find(folder: &Folder, scripts: &mut Scripts) {
    let Some(manifest) = folder.read(&["pyproject.toml"], scripts) else { return };
    let Ok(project) = manifest.text.parse::<Table>() else {
        return scripts.warn(format!("`{}` cannot be read", manifest.source));
    };
    let locked = folder.nearest(LOCK_FILES);
    for (path, own) in TABLES {
        let mut table = Some(&project);
        for key in *path {
            table = table.and_then(|table| table.get(*key)).and_then(Value::as_table);
        }
        let runner = own.or(locked);
        for (name, runs) in table.into_iter().flatten() {
            let runs = match runs {
                Value::String(runs) => Some(runs.as_str()),
                // pdm's own, such as `_`, hold settings, not scripts.
                Value::Table(table) => {
                    ["cmd", "shell", "call"].iter().find_map(|key| table.get(*key)?.as_str())
                }
                _ => None,
            };
            let Some(runs) = runs else { continue };
            let argv = runner.map_or_else(Vec::new, |it| vec![it.to_owned(), "run".to_owned(), name.clone()]);
            scripts.add(Script {
                name: name.clone(),
                runner,
                source: manifest.source.clone(),
                runs: runs.to_owned(),
                argv,
                arguments: Arguments::Words,
            });
        }
    }
}
