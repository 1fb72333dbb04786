//! Asking the programs of a manager, with an end to every wait.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use bailiwick_contract::{ErrorCode, Failure};

use crate::installation::bounded_run::{RunError, run_to_end};
use crate::installation::limit::Limit;

/// How long a program may take.
const TIME: Duration = Duration::from_secs(20);

/// What a program said.
#[derive(Debug, Clone)]
pub struct ProgramOutput {
    /// Whether it did what it was asked.
    pub ok: bool,
    /// Its words.
    pub text: String,
}

impl ProgramOutput {
    /// Returns its first line, as the reason of something.
    pub fn reason(&self) -> String {
        let first = self.text.lines().map(str::trim).find(|line| !line.is_empty());
        first.unwrap_or("it does not say why").to_owned()
    }
}

/// Where the programs are.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    /// Their folder; without one they are found as the shell finds them.
    folder: Option<PathBuf>,
}

impl Programs {
    /// Takes them from one folder alone.
    #[cfg(test)]
    pub fn of(folder: PathBuf) -> Self {
        Self { folder: Some(folder) }
    }

    /// Runs a program to its end, with further variables in its environment.
    ///
    /// # Errors
    /// `unsupported_platform` where there is no such program; `timeout` if it does not end.
    pub fn ask(
        &self,
        program: &str,
        words: &[&str],
        environment: &[(&str, &Path)],
    ) -> Result<ProgramOutput, Failure> {
        let found = self.folder.as_ref().map_or_else(|| PathBuf::from(program), |it| it.join(program));
        let mut command = Command::new(found);
        command.args(words).env("LC_ALL", "C.UTF-8").envs(environment.iter().copied());
        match run_to_end(&mut command, &Limit::default(), TIME) {
            Ok(ended) => Ok(ProgramOutput { ok: ended.status.success(), text: ended.said() }),
            Err(RunError::NotStarted(error)) => Err(missing(program, &error)),
            Err(RunError::TookTooLong) => Err(Failure::new(
                ErrorCode::Timeout,
                format!("`{program} {}` did not end within {} s", words.join(" "), TIME.as_secs()),
            )),
        }
    }
}

fn missing(program: &str, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::UnsupportedPlatform, format!("`{program}` cannot be run: {error}")).hint(
        "`bailiwick service` is for systemd, launchd and the Task Scheduler; elsewhere have `bailiwick serve` run at login.",
    )
}
