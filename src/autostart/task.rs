//! The Task Scheduler of Windows: the task's text, and what `schtasks` is asked.
//!
//! A task that runs at logon with the rights of the user, and no more: no password is kept, and nothing is asked of an
//! administrator. A task has no environment of its own and keeps nothing of what its program says, so the command line
//! says both (`--home`, `--said`). Windows gives the program a console; it lets go of it first of all, and the window closes:
//! it is seen for a moment. (`conhost --headless` would show none, but is not documented.)
//!
//! # Source
//! "Task Scheduler Schema" and "schtasks" of Microsoft's documentation; quoting by "Parsing C command-line arguments".

use std::path::{Path, PathBuf};

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::machine;
use bailiwick_platform::service_manager::ServiceManager;

use super::file::{self, WRITTEN_BY};
use super::job::Job;
use super::manager::{Manager, ServiceStatus, Words, done};
use super::programs::{ProgramOutput, Programs};
use super::xml::escaped;
use crate::installation::home::Home;
use crate::installation::running::RunningNote;

/// What `schtasks` calls a task that runs. The word is of the system's language; the number in the list is not.
const RUNS: &str = "267009";

/// The Task Scheduler.
#[derive(Debug)]
pub struct TaskScheduler {
    home: Home,
    task: PathBuf,
    name: String,
    programs: Programs,
}

impl TaskScheduler {
    /// Finds the place of the task's text. The tasks of all people of a computer share their names.
    pub fn find(home: &Home, programs: Programs) -> Self {
        Self::new(home, &machine::user_name(), programs)
    }

    /// Takes an installation, a user and programs.
    pub fn new(home: &Home, user: &str, programs: Programs) -> Self {
        let task = home.dirs.state.join("service-task.xml");
        Self { home: home.clone(), task, name: format!("Bailiwick-{user}"), programs }
    }

    fn ask(&self, words: &[&str]) -> Result<ProgramOutput, Failure> {
        self.programs.ask("schtasks", words, &[])
    }

    fn have(&self, words: &[&str]) -> Result<(), Failure> {
        done(self.name(), &self.ask(words)?)
    }

    /// Refuses a task of that name which somebody else made.
    fn is_taken_up(&self) -> Result<bool, Failure> {
        let said = self.ask(&["/Query", "/TN", &self.name, "/XML"])?;
        // It may come in UTF-16, of which these signs are every second byte.
        if said.ok && !file::is_ours(&said.text.replace('\0', "")) {
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!("the task {} was not made by Bailiwick", self.name),
            )
            .hint("Rename it in the Task Scheduler, and run this again."));
        }
        Ok(said.ok)
    }

    fn end(&self) -> Result<(), Failure> {
        if self.standing()?.is_running {
            self.have(&["/End", "/TN", &self.name])?;
            // It ends without a word, so that nobody else takes back what it left.
            RunningNote::remove(&self.home.dirs);
        }
        Ok(())
    }
}

impl Manager for TaskScheduler {
    fn kind(&self) -> ServiceManager {
        ServiceManager::TaskScheduler
    }

    fn name(&self) -> &'static str {
        "Task Scheduler"
    }

    fn file(&self) -> &Path {
        &self.task
    }

    fn text(&self, job: &Job) -> Result<String, Failure> {
        task(job)
    }

    fn checked(&self) -> Option<Result<ProgramOutput, Failure>> {
        // It checks a task when it takes it up.
        None
    }

    fn unreachable(&self) -> Result<Option<String>, Failure> {
        let said = self.ask(&["/Query", "/FO", "CSV", "/NH"])?;
        Ok((!said.ok).then(|| said.reason()))
    }

    fn standing(&self) -> Result<ServiceStatus, Failure> {
        let said = self.ask(&["/Query", "/TN", &self.name, "/FO", "CSV", "/NH", "/V"])?;
        if !said.ok {
            return Ok(ServiceStatus { is_known: false, is_running: false, words: said.reason() });
        }
        let fields = csv_fields(said.text.lines().next().unwrap_or_default());
        // Computer, name, next run, status, logon mode, last run, last result, …
        let words = fields.get(3).cloned().unwrap_or_else(|| "no state is told".to_owned());
        let is_running = fields.get(6).is_some_and(|result| result == RUNS);
        Ok(ServiceStatus { is_known: true, is_running, words })
    }

    fn take_up(&self, is_changed: bool) -> Result<(), Failure> {
        let is_known = self.is_taken_up()?;
        if is_changed || !is_known {
            if is_known {
                self.end()?;
            }
            let file = self.task.display().to_string();
            self.have(&["/Create", "/TN", &self.name, "/XML", &file, "/F"])?;
        }
        self.start()
    }

    fn start(&self) -> Result<(), Failure> {
        if self.standing()?.is_running { Ok(()) } else { self.have(&["/Run", "/TN", &self.name]) }
    }

    fn stop(&self) -> Result<(), Failure> {
        self.end()
    }

    fn forget(&self) -> Result<(), Failure> {
        if !self.is_taken_up()? {
            return Ok(());
        }
        self.end()?;
        self.have(&["/Delete", "/TN", &self.name, "/F"])
    }

    fn words(&self) -> Words {
        Words::File
    }

    fn way_to_it(&self) -> &'static str {
        "See that the service `Task Scheduler` of Windows runs"
    }

    fn after_install(&self) -> Option<&'static str> {
        Some("At logon a window is seen for a moment: the service closes it.")
    }
}

/// Reads a line of fields between quotes.
fn csv_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let (mut is_quoted, mut chars) = (false, line.trim().chars().peekable());
    while let Some(it) = chars.next() {
        match it {
            '"' if is_quoted && chars.peek() == Some(&'"') => {
                chars.next();
                fields.last_mut().expect("there is always one").push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => fields.last_mut().expect("there is always one").push(it),
        }
    }
    fields
}

/// Returns the task's text.
fn task(job: &Job) -> Result<String, Failure> {
    let mut words = vec!["serve".to_owned()];
    if let Some((_, home)) = job.environment.iter().find(|(name, _)| *name == "BAILIWICK_HOME") {
        words.extend(["--home".to_owned(), quoted(plain(home)?)]);
    }
    if let Some(config) = &job.config {
        words.extend(["--config".to_owned(), quoted(plain(config)?)]);
    }
    words.extend(["--said".to_owned(), quoted(plain(&job.said)?)]);
    let (command, arguments) = (escaped(plain(&job.program)?), escaped(&words.join(" ")));
    let (written_by, account) = (escaped(WRITTEN_BY), escaped(&job.account));
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Author>Bailiwick</Author>
    <Description>Lets AI clients work on this computer, within bounds. {written_by}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>
      <UserId>{account}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{account}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <AllowHardTerminate>true</AllowHardTerminate>
    <StartWhenAvailable>false</StartWhenAvailable>
    <RunOnlyIfNetworkAvailable>false</RunOnlyIfNetworkAvailable>
    <IdleSettings>
      <StopOnIdleEnd>false</StopOnIdleEnd>
      <RestartOnIdle>false</RestartOnIdle>
    </IdleSettings>
    <AllowStartOnDemand>true</AllowStartOnDemand>
    <Enabled>true</Enabled>
    <Hidden>false</Hidden>
    <RunOnlyIfIdle>false</RunOnlyIfIdle>
    <WakeToRun>false</WakeToRun>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>5</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>10</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>{command}</Command>
      <Arguments>{arguments}</Arguments>
    </Exec>
  </Actions>
</Task>
"#
    );
    // As the system's own tools write it.
    Ok(text.replace('\n', "\r\n"))
}

/// Refuses a path that the Task Scheduler would read as something else: it puts the values of variables for `%NAME%` and
/// of its own parameters for `$(Arg0)`, and knows no way to write either as it is.
fn plain(path: &str) -> Result<&str, Failure> {
    if path.matches('%').count() > 1 || path.contains("$(") {
        return Err(Failure::invalid(
            "service",
            format!("a task cannot name the path `{path}`: the Task Scheduler would put other words there"),
        )
        .hint("Move it to a path without `%` and `$(`."));
    }
    Ok(path)
}

/// Quotes a word of a command line.
fn quoted(word: &str) -> String {
    let mut text = String::from("\"");
    let mut backslashes = 0;
    for it in word.chars() {
        match it {
            '\\' => backslashes += 1,
            '"' => {
                // Those before a quote count twice, and the quote has one of its own.
                text.extend(std::iter::repeat_n('\\', backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        text.push(it);
    }
    text.extend(std::iter::repeat_n('\\', backslashes));
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_programs_of_windows_read_them() {
        assert_eq!(quoted(r"C:\a b"), r#""C:\a b""#);
        assert_eq!(quoted(r"C:\a\"), r#""C:\a\\""#);
        assert_eq!(quoted(r#"a\"b"#), r#""a\\\"b""#);
    }

    #[test]
    fn a_path_that_the_scheduler_would_change_is_refused() {
        assert!(plain(r"C:\%TEMP%\x").is_err() && plain(r"C:\$(Arg0)").is_err());
        assert!(plain(r"C:\100%\$HOME (x)").is_ok());
    }

    #[test]
    fn a_list_is_read_field_by_field() {
        assert_eq!(csv_fields(r#""A","\B","N/A","say ""x"", y""#), ["A", r"\B", "N/A", r#"say "x", y"#]);
    }
}
