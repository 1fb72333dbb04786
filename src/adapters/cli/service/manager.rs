//! Asking systemd's user manager, with an end to every wait.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::contract::{ErrorCode, Failure};

/// How long the manager may take.
const TIME: Duration = Duration::from_secs(20);

/// What the manager said.
#[derive(Debug, Clone)]
pub struct Said {
    /// Whether it did what it was asked.
    pub ok: bool,
    /// Its words.
    pub text: String,
}

/// Runs `systemctl --user` with some words.
///
/// # Errors
/// `unsupported_platform` where there is no systemd; `timeout` if it does not end.
pub fn systemctl(words: &[&str]) -> Result<Said, Failure> {
    ask("systemctl", &[&["--user", "--no-pager"], words].concat(), &[])
}

/// Runs a program of systemd to its end, with further variables in its environment.
///
/// # Errors
/// As [`systemctl`].
pub fn ask(program: &str, words: &[&str], environment: &[(&str, &Path)]) -> Result<Said, Failure> {
    let mut child = Command::new(program)
        .args(words)
        .env("LC_ALL", "C.UTF-8")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| missing(program, &error))?;
    let reads = |mut pipe: Box<dyn Read + Send>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What could not be read is not there.
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = child.stdout.take().map(|pipe| reads(Box::new(pipe)));
    let err = child.stderr.take().map(|pipe| reads(Box::new(pipe)));
    let deadline = Instant::now() + TIME;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                // It may have ended by itself meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                return Err(Failure::new(
                    ErrorCode::Timeout,
                    format!("`{program} {}` did not end within {} s", words.join(" "), TIME.as_secs()),
                ));
            }
        }
    };
    let said =
        |reader: Option<thread::JoinHandle<String>>| reader.and_then(|it| it.join().ok()).unwrap_or_default();
    let (out, err) = (said(out), said(err));
    let text =
        [out.trim(), err.trim()].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    Ok(Said { ok: status.success(), text })
}

fn missing(program: &str, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::UnsupportedPlatform, format!("`{program}` cannot be run: {error}")).hint(
        "`bailiwick service` is for systems with systemd; elsewhere have `bailiwick start` run at login.",
    )
}

/// Tells why the user manager cannot be asked; none if it can.
///
/// # Errors
/// `unsupported_platform` where there is no systemd.
pub fn unreachable() -> Result<Option<String>, Failure> {
    let said = systemctl(&["show", "--property=Version"])?;
    Ok((!said.ok).then(|| said.text.lines().next().unwrap_or("it does not say why").to_owned()))
}
