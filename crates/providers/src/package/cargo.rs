//! What cargo can do with the package of a folder: its verbs, its programs, its aliases.

use toml::{Table, Value};

use super::manifest::Folder;
use super::{Arguments, Script, Scripts};

/// The verbs that every package has.
const VERBS: &[(&str, &str, Arguments)] = &[
    ("build", "compile the package", Arguments::None),
    ("check", "check the package for errors", Arguments::None),
    ("test", "compile and run the tests", Arguments::Words),
    ("bench", "compile and run the benches", Arguments::Words),
    ("doc", "build the documentation", Arguments::None),
];

/// Finds the verbs, a `run` for each program (`run:NAME` where there are several), and the aliases.
pub fn find(folder: &Folder, scripts: &mut Scripts) {
    let Some(manifest) = folder.read(&["Cargo.toml"], scripts) else { return };
    let package: Table = match manifest.text.parse() {
        Ok(package) => package,
        Err(error) => {
            let error: toml::de::Error = error;
            return scripts.warn(format!("`{}` cannot be read: {}", manifest.source, error.message()));
        }
    };
    let mut add = |name: &str, runs: &str, argv: &[&str], source: &str, arguments| {
        scripts.add(Script {
            name: name.to_owned(),
            runner: Some("cargo"),
            source: source.to_owned(),
            runs: runs.to_owned(),
            argv: argv.iter().map(|word| (*word).to_owned()).collect(),
            arguments,
        });
    };
    for (verb, runs, arguments) in VERBS {
        add(verb, runs, &["cargo", verb], &manifest.source, *arguments);
    }
    match programs(&package, folder).as_slice() {
        [] => {}
        [one] => {
            let runs = format!("compile and run `{one}`");
            add("run", &runs, &["cargo", "run"], &manifest.source, Arguments::Words);
        }
        several => {
            for one in several {
                let (name, runs) = (format!("run:{one}"), format!("compile and run `{one}`"));
                let argv = ["cargo", "run", "--bin", one];
                add(&name, &runs, &argv, &manifest.source, Arguments::Words);
            }
        }
    }
    aliases(folder, scripts);
}

/// Returns the names of the package's programs.
fn programs(package: &Table, folder: &Folder) -> Vec<String> {
    let stated = package.get("bin").and_then(Value::as_array).into_iter().flatten();
    let mut names: Vec<String> = stated
        .filter_map(|one| one.get("name")?.as_str())
        .filter(|name| is_word(name))
        .map(str::to_owned)
        .collect();
    let own = package.get("package").and_then(|it| it.get("name")).and_then(Value::as_str);
    if let Some(own) = own.filter(|name| is_word(name))
        && !names.iter().any(|name| name == own)
        && folder.has("src/main.rs")
    {
        names.insert(0, own.to_owned());
    }
    names
}

fn aliases(folder: &Folder, scripts: &mut Scripts) {
    let Some(config) = folder.read(&[".cargo/config.toml", ".cargo/config"], scripts) else { return };
    let Ok(table) = config.text.parse::<Table>() else {
        return scripts.warn(format!("`{}` cannot be read", config.source));
    };
    let Some(aliases) = table.get("alias").and_then(Value::as_table) else { return };
    for (name, means) in aliases {
        let means = match means {
            Value::String(line) => line.clone(),
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
            _ => continue,
        };
        if is_word(name) {
            scripts.add(Script {
                name: name.clone(),
                runner: Some("cargo"),
                source: config.source.clone(),
                runs: format!("cargo {means}"),
                argv: vec!["cargo".to_owned(), name.clone()],
                arguments: Arguments::None,
            });
        }
    }
}

/// Returns whether a text can be a name of cargo's: a word that no option begins.
fn is_word(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    !text.is_empty() && !text.starts_with('-') && text.bytes().all(word)
}
