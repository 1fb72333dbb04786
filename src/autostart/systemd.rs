//! systemd's user manager: the unit, and what `systemctl --user` is asked.
//!
//! # Source
//! systemd.unit(5), systemd.service(5), systemd.kill(5); quoting by systemd.syntax(7).

use std::fs;
use std::path::{Path, PathBuf};

use bailiwick_contract::{Failure, id};
use bailiwick_platform::dirs::UserFolders;
use bailiwick_platform::fs::create_private_dir;
use bailiwick_platform::service_manager::ServiceManager;

use super::file::WRITTEN_BY;
use super::job::Job;
use super::manager::{Manager, ServiceStatus, Words, done, no_home};
use super::programs::{ProgramOutput, Programs};

/// The unit's name.
pub const UNIT: &str = "bailiwick.service";
/// The first version that puts a service into a group below the one that it hands over, so that commands can have theirs there.
///
/// # Source
/// systemd.resource-control(5): "DelegateSubgroup=", added in version 254.
const WITH_SUBGROUPS: u32 = 254;

/// systemd's user manager.
#[derive(Debug)]
pub struct Systemd {
    unit: PathBuf,
    programs: Programs,
}

impl Systemd {
    /// Finds the place of the unit.
    ///
    /// # Errors
    /// `provider_unavailable` where the user has no home folder.
    pub fn find(programs: Programs) -> Result<Self, Failure> {
        let folders = UserFolders::find().ok_or_else(no_home)?;
        Ok(Self { unit: folders.terminal_settings.join("systemd/user").join(UNIT), programs })
    }

    fn ask(&self, words: &[&str]) -> Result<ProgramOutput, Failure> {
        self.programs.ask("systemctl", &[&["--user", "--no-pager"], words].concat(), &[])
    }

    fn have(&self, words: &[&str]) -> Result<(), Failure> {
        done(self.name(), &self.ask(words)?)
    }

    /// Returns the version of systemd, if it can be asked.
    fn version(&self) -> Option<u32> {
        let said = self.ask(&["--version"]).ok().filter(|said| said.ok)?;
        version_in(&said.text)
    }

    /// Lets a unit start again that has failed too often.
    fn allow_starts(&self) {
        // One that has never run has nothing to forget, which is an error.
        let _ = self.ask(&["reset-failed", UNIT]);
    }
}

impl Manager for Systemd {
    fn kind(&self) -> ServiceManager {
        ServiceManager::Systemd
    }

    fn name(&self) -> &'static str {
        "systemd"
    }

    fn file(&self) -> &Path {
        &self.unit
    }

    fn text(&self, job: &Job) -> Result<String, Failure> {
        Ok(unit(job, self.version()))
    }

    fn checked(&self) -> Option<Result<ProgramOutput, Failure>> {
        // It wants a runtime folder, which a person without a session lacks.
        let runtime = std::env::temp_dir().join(format!("bailiwick-{}", id::new_id()));
        if let Err(error) = create_private_dir(&runtime) {
            return Some(Ok(ProgramOutput { ok: false, text: format!("{}: {error}", runtime.display()) }));
        }
        let words = ["--user", "verify", &self.unit.display().to_string()];
        let said = self.programs.ask("systemd-analyze", &words, &[("XDG_RUNTIME_DIR", &runtime)]);
        // Whatever is left there is in the system's folder for what is temporary.
        let _ = fs::remove_dir_all(&runtime);
        Some(said)
    }

    fn unreachable(&self) -> Result<Option<String>, Failure> {
        let said = self.ask(&["show", "--property=Version"])?;
        Ok((!said.ok).then(|| said.reason()))
    }

    fn standing(&self) -> Result<ServiceStatus, Failure> {
        let words = self.ask(&["is-active", UNIT])?.text;
        let loaded = self.ask(&["show", "--property=LoadState", "--value", UNIT])?.text;
        Ok(ServiceStatus { is_known: loaded == "loaded", is_running: words == "active", words })
    }

    fn take_up(&self, is_changed: bool) -> Result<(), Failure> {
        self.have(&["daemon-reload"])?;
        self.have(&["enable", UNIT])?;
        if is_changed || !self.standing()?.is_running {
            self.allow_starts();
            self.have(&["restart", UNIT])?;
        }
        Ok(())
    }

    fn start(&self) -> Result<(), Failure> {
        self.allow_starts();
        self.have(&["start", UNIT])
    }

    fn stop(&self) -> Result<(), Failure> {
        self.have(&["stop", UNIT])
    }

    fn forget(&self) -> Result<(), Failure> {
        // The next reading of the units notices that its file is gone.
        self.have(&["disable", "--now", UNIT])
    }

    fn words(&self) -> Words {
        Words::Journal
    }

    fn way_to_it(&self) -> &'static str {
        "Log in to a session with systemd"
    }

    fn after_install(&self) -> Option<&'static str> {
        Some("To have it run while you are not logged in: `loginctl enable-linger`.")
    }
}

/// Returns the unit's text.
fn unit(job: &Job, version: Option<u32>) -> String {
    let groups = if version.is_some_and(|version| version >= WITH_SUBGROUPS) {
        "# Each command gets a control group of its own, which bounds its memory and its processes.\n\
         Delegate=memory pids\n\
         DelegateSubgroup=service\n"
    } else {
        ""
    };
    let mut words = vec![quoted(&job.program), "serve".to_owned()];
    if let Some(config) = &job.config {
        // Only behind the program `$` stands for other things.
        words.extend(["--config".to_owned(), quoted(&config.replace('$', "$$"))]);
    }
    let environment: String = job
        .environment
        .iter()
        .map(|(name, value)| format!("Environment={}\n", quoted(&format!("{name}={value}"))))
        .collect();
    format!(
        "# {WRITTEN_BY}\n\
         [Unit]\n\
         Description=Bailiwick: lets AI clients work on this computer, within bounds\n\
         # What cannot start, as with a broken config, is not tried for ever.\n\
         StartLimitIntervalSec=300\n\
         StartLimitBurst=10\n\
         \n\
         [Service]\n\
         Type=exec\n\
         ExecStart={}\n\
         {environment}\
         # Started processes outlive the service: their keepers are not stopped with it.\n\
         KillMode=process\n\
         {groups}\
         Restart=on-failure\n\
         RestartSec=2\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        words.join(" ")
    )
}

/// Reads the version of what `systemctl --version` prints: `systemd 257 (257.13-1)`.
fn version_in(text: &str) -> Option<u32> {
    let number = text.split_whitespace().skip_while(|word| *word != "systemd").nth(1)?;
    number.parse().ok()
}

/// Quotes a word: `%` stands for other things in a unit.
fn quoted(word: &str) -> String {
    let mut text = String::with_capacity(word.len() + 2);
    text.push('"');
    for it in word.chars() {
        match it {
            '"' | '\\' => text.extend(['\\', it]),
            '%' => text.extend([it, it]),
            _ => text.push(it),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_path_means_anything_to_systemd() {
        assert_eq!(quoted("/opt/a b/bailiwick"), "\"/opt/a b/bailiwick\"");
        assert_eq!(quoted("/%h/$HOME/\"\\"), "\"/%%h/$HOME/\\\"\\\\\"");
    }

    fn job() -> Job {
        Job {
            program: "/opt/bailiwick".to_owned(),
            config: None,
            environment: Vec::new(),
            said: String::new(),
            account: String::new(),
        }
    }

    #[test]
    fn commands_have_groups_where_systemd_can_put_the_service_into_one_beside_theirs() {
        let has_groups = |said: &str| {
            unit(&job(), version_in(said)).contains("\nDelegate=memory pids\nDelegateSubgroup=service\n")
        };
        assert!(has_groups("systemd 257 (257.13-1~deb13u1)\n+PAM +AUDIT"));
        assert!(has_groups("systemd 254 (254)"));
        for without in
            ["systemd 253 (253.1)", "systemd 252 (252.38-1~deb12u1)\n+PAM", "", "systemd", "systemd x"]
        {
            assert!(!unit(&job(), version_in(without)).contains("Delegate"), "{without}");
        }
    }

    #[test]
    fn a_service_that_cannot_start_is_not_tried_for_ever() {
        let job = job();
        let text = unit(&job, None);
        let number = |key: &str| -> u64 {
            let line =
                text.lines().find_map(|line| line.strip_prefix(&format!("{key}="))).expect("it is there");
            line.parse().expect("a number")
        };
        // Even where each start takes ten seconds, the last one is within the time that counts.
        let seconds = number("StartLimitBurst") * (number("RestartSec") + 10);
        assert!(seconds < number("StartLimitIntervalSec"), "{seconds}");
    }
}
