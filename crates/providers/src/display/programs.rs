//! The programs that a private display is made of.

use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, FOR_USER, Failure};
use bailiwick_platform::fs::FileId;
use bailiwick_platform::programs::usual_folders;

use crate::command::{Program, SearchPath};

/// A program that a private display lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingProgram {
    /// What it is called.
    pub program: &'static str,
    /// The Debian package that has it.
    pub package: &'static str,
    /// What does not work without it.
    pub without: &'static str,
}

/// The X server. Without it there is no display.
const SERVER: MissingProgram =
    MissingProgram { program: "Xvfb", package: "xvfb", without: "there are no private displays" };
const BUS: MissingProgram = MissingProgram {
    program: "dbus-daemon",
    package: "dbus-daemon",
    without: "programs on private displays show no elements, and ui.see reads none",
};
const REGISTRY_PROGRAM: MissingProgram = MissingProgram {
    program: "at-spi2-registryd",
    package: "at-spi2-core",
    without: "programs on private displays show no elements, and ui.see reads none",
};
const WINDOW_MANAGER: MissingProgram = MissingProgram {
    program: "openbox",
    package: "openbox",
    without: "nothing moves, resizes, minimizes or closes windows of private displays",
};

/// Where the registry of accessible programs is.
const REGISTRIES: [&str; 2] = ["/usr/libexec/at-spi2-registryd", "/usr/lib/at-spi2-core/at-spi2-registryd"];

/// The programs that were found.
#[derive(Debug)]
pub(super) struct DisplayPrograms {
    pub server: Program,
    /// The bus, and where its registry of accessible programs is.
    pub bus: Option<(Program, PathBuf)>,
    pub window_manager: Option<Program>,
    /// What was not found.
    pub missing: Vec<MissingProgram>,
}

impl DisplayPrograms {
    /// Looks for the programs.
    ///
    /// # Errors
    /// `provider_unavailable` without an X server.
    pub fn find(search: &SearchPath<'_>) -> Result<Self, Failure> {
        let server = search.get(SERVER.program).ok_or_else(no_server)?;
        let mut missing = Vec::new();
        let mut optional = |wanted: MissingProgram| {
            let found = search.get(wanted.program);
            if found.is_none() {
                missing.push(wanted);
            }
            found
        };
        let (bus, window_manager) = (optional(BUS), optional(WINDOW_MANAGER));
        let registry = registry();
        if registry.is_none() {
            missing.push(REGISTRY_PROGRAM);
        }
        Ok(Self { server, bus: bus.zip(registry), window_manager, missing })
    }
}

/// Lists what private displays of a scope with this search path lack; an empty one stands for the usual folders.
pub fn missing_programs(folders: &[PathBuf]) -> Vec<MissingProgram> {
    let usual = usual_folders();
    let search = SearchPath::new(if folders.is_empty() { &usual } else { folders }, &[]);
    let has = |wanted: &MissingProgram| match wanted.program {
        name if name == REGISTRY_PROGRAM.program => registry().is_some(),
        name => search.get(name).is_some(),
    };
    [SERVER, BUS, REGISTRY_PROGRAM, WINDOW_MANAGER].into_iter().filter(|it| !has(it)).collect()
}

fn registry() -> Option<PathBuf> {
    REGISTRIES.iter().map(Path::new).find(|path| FileId::of(path).is_some()).map(Path::to_owned)
}

fn no_server() -> Failure {
    Failure::new(ErrorCode::ProviderUnavailable, "no private display can be made: Xvfb is not installed")
        .detail("program", SERVER.program)
        .hint(format!("{FOR_USER}install it; on Debian and Ubuntu: `apt-get install {}`.", SERVER.package))
}
