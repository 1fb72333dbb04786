//! The throw-away installation, and what is in its folders before anything is done.

use bailiwick_platform::fs::modes::symlink;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use bailiwick_config::{ScopeConfig, VisibleInput};
use bailiwick_contract::{Capability, ErrorCode, Failure, ScopeType, id};

use crate::installation::throwaway::{Throwaway, folder_scope};
use crate::scope_setup::presets::Preset;

/// What is outside the scopes and must never be seen.
pub const OUTSIDE: &str = "outside-9c1f";
/// What is in a closed file and must never be seen.
pub const SECRET: &str = "secret-77ab";

/// What the scope `run` may start. Scripts are files of the scope: no shell is handed a text.
const COMMANDS: &[&str] =
    &["printf *", "touch *", "cat *", "cat", "ls *", "sh *", "bash *", "perl *", "python3 *"];

/// The installation in which everything is done, and its folders.
pub struct ProofInstallation {
    /// The installation.
    pub place: Throwaway,
    /// The folder of the scopes `test` (reads and writes), `look` (reads) and `run` (runs commands).
    pub folder: PathBuf,
    /// The folder of the scope `repository`.
    pub repository: PathBuf,
    /// A file beside the scopes.
    pub outside: PathBuf,
    /// In the names of scripts, so that their processes can be told from others.
    pub mark: String,
}

impl ProofInstallation {
    /// Creates it in a temporary folder.
    ///
    /// # Errors
    /// When the temporary folder cannot be used.
    pub fn new() -> Result<Self, Failure> {
        let place = Throwaway::make()?;
        let folder = place.make_folder("scope")?;
        let repository = place.make_folder("repository")?;
        let outside = place.base().join("outside.txt");
        let proof = Self { place, folder, repository, outside, mark: id::new_id() };
        proof.fill().map_err(|error| {
            Failure::new(
                ErrorCode::ProviderUnavailable,
                format!("the temporary folder cannot be used: {error}"),
            )
        })?;
        let runs = vec![Capability::CommandRun, Capability::ProcessManage];
        proof.place.open(vec![
            folder_scope("test", &proof.folder, Preset::Coding.capabilities(), &[]),
            folder_scope("look", &proof.folder, Preset::ReadOnly.capabilities(), &[]),
            folder_scope("run", &proof.folder, runs, COMMANDS),
            folder_scope("repository", &proof.repository, Preset::Coding.capabilities(), &[]),
            screens(),
            desk(&proof.folder),
        ])?;
        Ok(proof)
    }

    fn fill(&self) -> std::io::Result<()> {
        let folder = &self.folder;
        fs::write(&self.outside, OUTSIDE)?;
        fs::write(folder.join("hello.txt"), "hello one\nhello two\n")?;
        fs::create_dir_all(folder.join("src/deep"))?;
        fs::write(
            folder.join("src/deep/code.rs"),
            "/// Needs thread.\npub fn needle(eye: u8) -> u8 {\n    eye\n}\n",
        )?;
        fs::write(folder.join(".env"), format!("KEY={SECRET}\n"))?;
        symlink("hello.txt", folder.join("inside-link"))?;
        symlink(&self.outside, folder.join("outside-link"))
    }
}

/// The scope of pictures: it shows displays, and no window that is kept from clients by default.
fn screens() -> ScopeConfig {
    let mut scope = folder_scope("screens", Path::new("/"), vec![Capability::ScreenCapture], &[]);
    scope.scope_type = ScopeType::Computer;
    scope.roots.clear();
    scope.policy.allow_displays = Some(true);
    scope
}

/// The scope of private displays: programs show windows there, which are read and used.
fn desk(folder: &Path) -> ScopeConfig {
    let capabilities = vec![
        Capability::CommandRun,
        Capability::ProcessManage,
        Capability::DisplayManage,
        Capability::AppControl,
        Capability::WindowRead,
        Capability::WindowControl,
        Capability::UiRead,
        Capability::UiControl,
        Capability::InputControl,
    ];
    let mut scope = folder_scope("desk", folder, capabilities, &["python3 window.py"]);
    scope.policy.allow_windows = Some(true);
    scope.policy.visible_input = VisibleInput::Allow;
    scope
}

/// Creates an envelope for a scope.
pub fn ask(scope: &str, op: &str, target: &str, input: Value, options: Value) -> Value {
    json!({"scope": scope, "op": op, "target": target, "input": input, "options": options})
}
