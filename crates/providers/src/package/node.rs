//! The scripts of `package.json`.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::manifest::Folder;
use super::{Arguments, Script, Scripts};

/// Which lock file belongs to which package manager.
const LOCK_FILES: &[(&str, &str)] = &[
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
];

#[derive(Deserialize)]
struct PackageJson {
    #[serde(default)]
    scripts: Map<String, Value>,
    #[serde(default, rename = "packageManager")]
    package_manager: Option<String>,
}

/// Finds the scripts. The package manager is the one that the manifest or a lock file names, else npm.
pub fn find(folder: &Folder, scripts: &mut Scripts) {
    let Some(manifest) = folder.read(&["package.json"], scripts) else { return };
    let text = manifest.text.trim_start_matches('\u{feff}');
    let package: PackageJson = match serde_json::from_str(text) {
        Ok(package) => package,
        Err(error) => return scripts.warn(format!("`{}` cannot be read: {error}", manifest.source)),
    };
    let named = package.package_manager.as_deref().and_then(|text| {
        let name = text.split('@').next().unwrap_or_default();
        ["npm", "pnpm", "yarn", "bun"].into_iter().find(|known| *known == name)
    });
    let runner = named.or_else(|| folder.nearest(LOCK_FILES)).unwrap_or("npm");
    for (name, runs) in &package.scripts {
        let Some(runs) = runs.as_str() else { continue };
        scripts.add(Script {
            name: name.clone(),
            runner: Some(runner),
            source: manifest.source.clone(),
            runs: runs.to_owned(),
            argv: [runner, "run", name].map(str::to_owned).to_vec(),
            arguments: Arguments::Words,
        });
    }
}
