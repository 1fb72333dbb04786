//! launchd: the agent's list of properties, and what `launchctl` is asked.
//!
//! An agent belongs to the session at the screen, `gui/UID`; over SSH alone there is none.
//!
//! # Source
//! launchd.plist(5), launchctl(1) and plist(5) of macOS.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::dirs::UserFolders;
use bailiwick_platform::service_manager::ServiceManager;

use super::file::WRITTEN_BY;
use super::job::{Job, account};
use super::manager::{Manager, ServiceStatus, Words, done, no_home};
use super::programs::{ProgramOutput, Programs};
use super::xml::escaped;
use crate::installation::limit::Limit;

/// The agent's name. The project has no domain of its own; `local` is nobody's.
pub const LABEL: &str = "local.bailiwick.service";

/// How long an agent that was asked to end may take: longer than the service takes.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// launchd.
#[derive(Debug)]
pub struct Launchd {
    agent: PathBuf,
    account: String,
    programs: Programs,
}

impl Launchd {
    /// Finds the place of the agent.
    ///
    /// # Errors
    /// `provider_unavailable` where the user has no home folder.
    pub fn find(programs: Programs) -> Result<Self, Failure> {
        let folders = UserFolders::find().ok_or_else(no_home)?;
        Ok(Self::new(&folders.home, account()?, programs))
    }

    /// Takes a home folder, an account and programs.
    pub fn new(home: &Path, account: String, programs: Programs) -> Self {
        Self { agent: home.join("Library/LaunchAgents").join(format!("{LABEL}.plist")), account, programs }
    }

    fn ask(&self, words: &[&str]) -> Result<ProgramOutput, Failure> {
        self.programs.ask("launchctl", words, &[])
    }

    fn have(&self, words: &[&str]) -> Result<(), Failure> {
        done(self.name(), &self.ask(words)?)
    }

    /// The session at the screen.
    fn session(&self) -> String {
        format!("gui/{}", self.account)
    }

    /// The agent in it.
    fn target(&self) -> String {
        format!("{}/{LABEL}", self.session())
    }

    /// Has it read the file, which starts the agent.
    fn load(&self) -> Result<(), Failure> {
        // A person may have turned it off before; where nothing was, nothing is to be said of it.
        let _ = self.ask(&["enable", &self.target()])?;
        self.have(&["bootstrap", &self.session(), &self.agent.display().to_string()])
    }

    /// Has it end the agent and forget it until the next session, and waits until that is done: an agent that
    /// still ends cannot be loaded again.
    fn unload(&self) -> Result<(), Failure> {
        let asked = self.ask(&["bootout", &self.target()])?;
        let is_gone = || match self.standing() {
            Ok(standing) => (!standing.is_known).then_some(Ok(())),
            Err(failure) => Some(Err(failure)),
        };
        match Limit::default().wait_for(ENDS_WITHIN, is_gone) {
            Some(gone) => gone,
            // What it said shows why, if it refused.
            None if !asked.ok => done(self.name(), &asked),
            None => Err(Failure::new(
                ErrorCode::Timeout,
                format!("launchd: {} did not end within {} s", self.target(), ENDS_WITHIN.as_secs()),
            )),
        }
    }
}

impl Manager for Launchd {
    fn kind(&self) -> ServiceManager {
        ServiceManager::Launchd
    }

    fn name(&self) -> &'static str {
        "launchd"
    }

    fn file(&self) -> &Path {
        &self.agent
    }

    fn text(&self, job: &Job) -> Result<String, Failure> {
        Ok(agent(job))
    }

    fn checked(&self) -> Option<Result<ProgramOutput, Failure>> {
        Some(self.programs.ask("plutil", &["-lint", &self.agent.display().to_string()], &[]))
    }

    fn unreachable(&self) -> Result<Option<String>, Failure> {
        let said = self.ask(&["print", &self.session()])?;
        Ok((!said.ok).then(|| said.reason()))
    }

    fn standing(&self) -> Result<ServiceStatus, Failure> {
        let said = self.ask(&["print", &self.target()])?;
        if !said.ok {
            return Ok(ServiceStatus { is_known: false, is_running: false, words: said.reason() });
        }
        // Its own fields are one step in; deeper ones are of other things.
        let field = said.text.lines().find_map(|line| line.strip_prefix("\tstate = "));
        let words = field.unwrap_or("no state is told").trim().to_owned();
        Ok(ServiceStatus { is_known: true, is_running: words == "running", words })
    }

    fn take_up(&self, is_changed: bool) -> Result<(), Failure> {
        let standing = self.standing()?;
        if standing.is_known && is_changed {
            self.unload()?;
        }
        if !standing.is_known || is_changed {
            return self.load();
        }
        if standing.is_running { Ok(()) } else { self.have(&["kickstart", &self.target()]) }
    }

    fn start(&self) -> Result<(), Failure> {
        self.take_up(false)
    }

    fn stop(&self) -> Result<(), Failure> {
        if self.standing()?.is_known { self.unload() } else { Ok(()) }
    }

    fn forget(&self) -> Result<(), Failure> {
        self.stop()
    }

    fn words(&self) -> Words {
        Words::File
    }

    fn way_to_it(&self) -> &'static str {
        "Log in at the screen of this Mac: launchd keeps agents for that session alone"
    }

    fn after_install(&self) -> Option<&'static str> {
        None
    }
}

/// Returns the agent's text.
fn agent(job: &Job) -> String {
    let string = |text: &str| format!("<string>{}</string>", escaped(text));
    let mut words = vec![string(&job.program), string("serve")];
    if let Some(config) = &job.config {
        words.extend([string("--config"), string(config)]);
    }
    // By the program, which begins the file again when it is long; by launchd below, for what is said before.
    let said = string(&job.said);
    words.extend([string("--said"), said.clone()]);
    let variables: String = job
        .environment
        .iter()
        .map(|(name, value)| format!("\n    <key>{name}</key>\n    {}", string(value)))
        .collect();
    let environment = if variables.is_empty() {
        String::new()
    } else {
        format!("  <key>EnvironmentVariables</key>\n  <dict>{variables}\n  </dict>\n")
    };
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- {WRITTEN_BY} -->\n\
         <plist version=\"1.0\">\n\
         <dict>\n  \
           <key>Label</key>\n  \
           <string>{LABEL}</string>\n  \
           <key>ProgramArguments</key>\n  \
           <array>\n    {}\n  </array>\n\
         {environment}  \
           <key>RunAtLoad</key>\n  \
           <true/>\n  \
           <!-- Started again if it fails, not if it was asked to end. -->\n  \
           <key>KeepAlive</key>\n  \
           <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n  \
           <!-- Started processes outlive the service: their keepers are not stopped with it. -->\n  \
           <key>AbandonProcessGroup</key>\n  \
           <true/>\n  \
           <!-- What clients start does what a person waits for, and is not slowed down. -->\n  \
           <key>ProcessType</key>\n  \
           <string>Interactive</string>\n  \
           <key>StandardOutPath</key>\n  \
           {said}\n  \
           <key>StandardErrorPath</key>\n  \
           {said}\n\
         </dict>\n\
         </plist>\n",
        words.join("\n    ")
    )
}
