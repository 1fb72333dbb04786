//! Finding the user's Codex: on the scope's search path, then where its installers put it.

use std::path::{Path, PathBuf};

use crate::command::{Program, SearchPath, closed_folders};
use bailiwick_contract::{ErrorCode, FOR_USER, Failure, SCOPE};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::FileId;
use bailiwick_platform::machine::home_folder;
use bailiwick_policy::{AllRoots, Scope};

/// The program's name.
pub const NAME: &str = "codex";
/// How it is installed.
pub const INSTALL: &str = "npm install -g @openai/codex";
/// The folders below the user's home in which installers put it.
const BELOW_HOME: &[&str] =
    &[".local/bin", ".npm-global/bin", ".bun/bin", ".volta/bin", ".cargo/bin", "bin", ".codex/bin"];
/// Folders of package managers outside of the system's own.
const ELSEWHERE: &[&str] = &["/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin"];
/// What npm installs as `codex`: a program for Node that starts the real one.
const NPM_STARTER: &str = "@openai/codex/bin/codex.js";

/// Codex on this computer.
#[derive(Debug, Clone)]
pub struct Installation {
    /// The program itself, no script before it.
    pub program: Program,
    /// The folder that it must be able to read: its package, or the folder of the program.
    pub package: PathBuf,
    /// The folder of tools that come with it, if there is one.
    pub tools: Option<PathBuf>,
}

impl Installation {
    /// Finds Codex for a scope. Where the scope names its own search path, nowhere else.
    ///
    /// # Errors
    /// `provider_unavailable` with the rule `codex-missing`; `permission_denied` where the only one is in a place
    /// that clients or strangers can change.
    pub fn find(scope: &Scope, roots: &AllRoots, dirs: &Dirs) -> Result<Self, Failure> {
        let policy = scope.commands().hold();
        let closed = closed_folders(roots, dirs);
        let found = match SearchPath::new(&policy.search_path, &closed).find(NAME) {
            Err(failure) if failure.code == ErrorCode::NotFound && policy.has_default_search_path() => {
                SearchPath::new(&usual_folders(), &closed).find(NAME)
            }
            other => other,
        };
        let program = found.map_err(|failure| match failure.code {
            ErrorCode::NotFound => missing(),
            _ => failure,
        })?;
        Self::of_program(program, &closed)
    }

    fn of_program(program: Program, closed: &[FileId]) -> Result<Self, Failure> {
        let real = program.real_path().ok_or_else(missing)?;
        let program = match real.ends_with(NPM_STARTER) {
            true => native(&real, closed)?,
            false => program,
        };
        let package = match program.real_folder.parent() {
            Some(above) if FileId::of(&above.join("codex-package.json")).is_some() => above.to_owned(),
            _ => program.real_folder.clone(),
        };
        let tools = Some(package.join("codex-path")).filter(|tools| FileId::of(tools).is_some());
        Ok(Self { program, package, tools })
    }
}

/// Finds the real program behind npm's starter, in the package for this platform.
fn native(starter: &Path, closed: &[FileId]) -> Result<Program, Failure> {
    let (short, triple) = platform().ok_or_else(missing)?;
    let package = starter.parent().and_then(Path::parent).ok_or_else(missing)?;
    let name = format!("codex-{short}");
    let folders: Vec<PathBuf> = [
        Some(package.join("node_modules/@openai").join(&name)),
        package.parent().map(|beside| beside.join(&name)),
        Some(package.to_owned()),
    ]
    .into_iter()
    .flatten()
    .map(|package| package.join("vendor").join(triple).join("bin"))
    .collect();
    SearchPath::new(&folders, closed).find(NAME).map_err(|failure| match failure.code {
        ErrorCode::NotFound => Failure::new(
            ErrorCode::ProviderUnavailable,
            "the package of Codex has no program for this platform: its installation is not complete",
        )
        .detail("rule", "codex-missing")
        .hint(format!("For the user: run `{INSTALL}` again.")),
        _ => failure,
    })
}

/// Returns the short name and the triple by which packages name this platform.
fn platform() -> Option<(&'static str, &'static str)> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some(("linux-x64", "x86_64-unknown-linux-musl")),
        ("linux", "aarch64") => Some(("linux-arm64", "aarch64-unknown-linux-musl")),
        ("macos", "x86_64") => Some(("darwin-x64", "x86_64-apple-darwin")),
        ("macos", "aarch64") => Some(("darwin-arm64", "aarch64-apple-darwin")),
        _ => None,
    }
}

fn usual_folders() -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(home) = home_folder() {
        folders.extend(BELOW_HOME.iter().map(|below| home.join(below)));
        folders.extend(of_node_versions(&home.join(".nvm/versions/node")));
    }
    folders.extend(ELSEWHERE.iter().map(PathBuf::from));
    folders
}

/// Returns the folders of programs of each Node that nvm installed, newest first.
fn of_node_versions(versions: &Path) -> Vec<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "a folder of the user's tools, not of a scope")]
    let entries = std::fs::read_dir(versions);
    let mut found: Vec<(Vec<u32>, PathBuf)> = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let numbers = name.trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0));
            (numbers.collect(), entry.path().join("bin"))
        })
        .collect();
    found.sort_by(|(a, _), (b, _)| b.cmp(a));
    found.into_iter().map(|(_, folder)| folder).collect()
}

/// Says that there is no Codex.
fn missing() -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, "Codex is not installed, or not where it is looked for")
        .detail("rule", "codex-missing")
        .hint(format!("For the user: install it with `{INSTALL}`, then run `codex login`."))
        .hint(format!(
            "{FOR_USER}if it is installed, name its folder: `bailiwick scope edit {SCOPE} --search-path FOLDER`."
        ))
}
