//! Programs and rights that single tests need, beside those in `system.rs`.

use std::path::Path;
use std::thread;

use bailiwick::contract::Containment;
use bailiwick::platform::launch::levels;
use bailiwick::platform::machine::user_id;

use crate::system::{Need, tell};

/// Fails if a program is missing that `tests/run` installs from the Debian package of the same name.
pub fn require_program(program: &str) {
    assert!(is_installed(program), "{program} is missing (on Debian: apt-get install {program})");
}

/// Returns whether a program is missing that not every test machine has, and reports that the test is left out.
pub fn lacks_program(program: &str) -> bool {
    left_out_unless(is_installed(program), program)
}

/// Returns whether this system has no full sandbox, and reports that the test is left out.
pub fn lacks_full_sandbox() -> bool {
    left_out_unless(Need::Sandbox.is_there(), "the full sandbox")
}

/// Returns whether the tests do not run as root, and reports that the test is left out.
pub fn lacks_root() -> bool {
    left_out_unless(user_id() == 0, "root")
}

/// Returns the levels that this computer has, and reports those that it lacks.
pub fn available() -> Vec<Containment> {
    let all = [Containment::None, Containment::Partial, Containment::Full];
    let (can, cannot): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|level| levels().missing(*level).is_none());
    for level in cannot {
        let why = levels().missing(level).unwrap_or_default();
        report_left_out(&format!("the sandbox level {level}: {why}"));
    }
    can
}

/// Returns the levels with a sandbox that this computer has, and reports those that it lacks.
pub fn available_sandboxes() -> Vec<Containment> {
    available().into_iter().filter(|level| *level != Containment::None).collect()
}

/// Does a test at every level that this computer has, side by side.
pub async fn at_every_level<Test, Done>(test: Test)
where
    Test: Fn(Containment) -> Done,
    Done: Future<Output = ()> + Send + 'static,
{
    let mut running: tokio::task::JoinSet<()> = available().into_iter().map(test).collect();
    while let Some(done) = running.join_next().await {
        if let Err(error) = done {
            std::panic::resume_unwind(error.into_panic());
        }
    }
}

/// Reports that this test is left out, so that the runner counts it.
pub fn report_left_out(need: &str) {
    let thread = thread::current();
    tell(&format!("left out: {} needs {need}", thread.name().unwrap_or("a test")));
}

fn left_out_unless(is_there: bool, need: &str) -> bool {
    if !is_there {
        report_left_out(need);
    }
    !is_there
}

/// Returns whether a program is on the usual search path.
fn is_installed(program: &str) -> bool {
    ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        .iter()
        .any(|folder| Path::new(folder).join(program).exists())
}
