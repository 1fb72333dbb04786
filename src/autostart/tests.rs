//! The three managers, each with its own texts and calls, on whatever system the tests run.
//!
//! The calls of `launchctl` and `schtasks` are made to a program of the tests where the real one is not there: what it
//! is asked is compared word by word, and it answers as the real one is documented to. That shows what is asked, and
//! nothing of what the real one does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use bailiwick_contract::{ErrorCode, id};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::modes::set_mode;
use bailiwick_platform::service_manager::{ServiceManager, service_manager};

use super::job::Job;
use super::launchd::{LABEL, Launchd};
use super::manager::{Manager, ServiceStatus};
use super::programs::Programs;
use super::systemd::Systemd;
use super::task::TaskScheduler;
use super::{file, service};
use crate::installation::home::{Home, IfMissing};

/// A folder with an installation and programs; gone with its value.
struct TestFolder {
    folder: PathBuf,
    home: Home,
}

impl TestFolder {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("bailiwick-service-{}", id::new_id()));
        let dirs = Dirs::below(folder.join("home"));
        let home = Home {
            config_path: bailiwick_config::Config::path(&dirs),
            dirs,
            config_is_named: false,
            is_dry_run: false,
        };
        home.edit(IfMissing::Make, |_| Ok(())).expect("a config");
        fs::create_dir(folder.join("bin")).expect("made");
        Self { folder, home }
    }

    /// Puts a program there, which writes down what it is asked, and then does this.
    fn program(&self, name: &str, does: &str) {
        let path = self.folder.join("bin").join(name);
        let text = format!("#!/bin/sh\ncd \"${{0%/*}}\" || exit 1\necho \"{name} $*\" >>asked\n{does}\n");
        fs::write(&path, text).expect("written");
        set_mode(&path, 0o755).expect("its mode");
    }

    fn programs(&self) -> Programs {
        Programs::of(self.folder.join("bin"))
    }

    /// What was asked since the last time, but for questions how things stand.
    fn asked(&self) -> Vec<String> {
        let asked = self.folder.join("bin/asked");
        let lines = fs::read_to_string(&asked).unwrap_or_default();
        // It may not have been made yet.
        let _ = fs::remove_file(&asked);
        let is_question = |line: &&str| !line.starts_with("launchctl print") && !line.contains("/Query");
        lines
            .lines()
            .filter(is_question)
            .map(|line| line.replace(&self.folder.display().to_string(), "~"))
            .collect()
    }

    fn install(&self, manager: &dyn Manager) -> Value {
        serde_json::to_value(service::install(&self.home, manager).expect("installed").output).expect("JSON")
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        // What cannot be removed is in the system's folder for what is temporary.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A job whose every path holds what means something to XML, shells or managers.
fn hostile() -> Job {
    let odd = |name: &str| format!("/a & b/<c>/\"d\"/'e'/]]>/größe 😀/$HOME/{name}");
    Job {
        program: odd("bailiwick"),
        config: Some(odd("config.json")),
        environment: vec![("BAILIWICK_HOME", odd("home")), ("XDG_STATE_HOME", odd("state"))],
        said: odd("service.log"),
        account: "501".to_owned(),
    }
}

/// Whether there is a Python to ask. There is none among the programs of wine.
fn python(script: &str, file: &Path) -> Option<Value> {
    if service_manager() == ServiceManager::TaskScheduler {
        return None;
    }
    let said = match Command::new("python3").args(["-c", script]).arg(file).output() {
        Ok(said) => said,
        Err(error) => {
            eprintln!("SKIPPED: python3 cannot be run: {error}");
            return None;
        }
    };
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    Some(serde_json::from_slice(&said.stdout).expect("JSON"))
}

#[test]
fn an_agent_says_to_other_readers_what_was_meant() {
    let temporary = TestFolder::new();
    let job = hostile();
    let launchd = Launchd::new(&temporary.folder, "501".to_owned(), temporary.programs());
    file::write(launchd.file(), &launchd.text(&job).expect("a text")).expect("written");
    let script = "import json,plistlib,sys; print(json.dumps(plistlib.load(open(sys.argv[1],'rb'))))";
    let Some(read) = python(script, launchd.file()) else { return };
    let environment: BTreeMap<&str, &String> =
        job.environment.iter().map(|(name, value)| (*name, value)).collect();
    let expected = json!({
        "Label": LABEL,
        "ProgramArguments": [job.program, "serve", "--config", job.config, "--said", job.said],
        "EnvironmentVariables": environment,
        "RunAtLoad": true,
        "KeepAlive": {"SuccessfulExit": false},
        "AbandonProcessGroup": true,
        "ProcessType": "Interactive",
        "StandardOutPath": job.said,
        "StandardErrorPath": job.said,
    });
    assert_eq!(read, expected);
    // A second reader, of other people, where it is there.
    let binary = launchd.file().with_extension("binary");
    let mut second = Command::new("plistutil");
    match second.arg("-i").arg(launchd.file()).arg("-o").arg(&binary).output() {
        Ok(said) => {
            assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
            assert!(fs::read(&binary).expect("written").starts_with(b"bplist"));
            assert_eq!(python(script, &binary), Some(expected));
        }
        Err(error) => eprintln!("SKIPPED: plistutil cannot be run: {error}"),
    }
}

#[test]
fn a_task_says_to_other_readers_what_was_meant() {
    let temporary = TestFolder::new();
    // One that stands for something to the Task Scheduler is refused; see its own tests.
    let job = hostile();
    let task = TaskScheduler::new(&temporary.home, "ada", temporary.programs());
    file::write(task.file(), &task.text(&job).expect("a text")).expect("written");
    let bytes = fs::read(task.file()).expect("there");
    assert_eq!(bytes[..4], [0xff, 0xfe, b'<', 0], "schtasks wants UTF-16");
    // Every element by its path, with its text.
    let script = "import json,sys,xml.etree.ElementTree as t
all=[]
def walk(e,path):
    path=path+'/'+e.tag.split('}')[1]
    assert e.tag.startswith('{http://schemas.microsoft.com/windows/2004/02/mit/task}'),e.tag
    all.append([path,(e.text or '').strip()])
    for below in e: walk(below,path)
walk(t.parse(sys.argv[1]).getroot(),'')
print(json.dumps(all))";
    let Some(read) = python(script, task.file()) else { return };
    let read: Vec<(String, String)> = serde_json::from_value(read).expect("pairs");
    let of = |path: &str| read.iter().find(|(it, _)| it == path).map(|(_, text)| text.as_str());
    let below = |path: &str| -> Vec<&str> {
        let names = read.iter().filter_map(|(it, _)| it.strip_prefix(path)?.strip_prefix('/'));
        names.filter(|name| !name.contains('/')).collect()
    };
    // The schema leaves the order of most free (`xs:all`); what it orders are triggers and the parts of `Exec`.
    assert_eq!(below("/Task"), ["RegistrationInfo", "Triggers", "Principals", "Settings", "Actions"]);
    assert_eq!(below("/Task/Triggers/LogonTrigger"), ["Enabled", "UserId"]);
    assert_eq!(below("/Task/Principals/Principal"), ["UserId", "LogonType", "RunLevel"]);
    assert_eq!(below("/Task/Actions/Exec"), ["Command", "Arguments"]);
    assert_eq!(below("/Task/Settings/RestartOnFailure"), ["Interval", "Count"]);
    for (path, text) in [
        ("/Task/Triggers/LogonTrigger/UserId", "501"),
        ("/Task/Principals/Principal/UserId", "501"),
        ("/Task/Principals/Principal/LogonType", "InteractiveToken"),
        ("/Task/Principals/Principal/RunLevel", "LeastPrivilege"),
        ("/Task/Settings/MultipleInstancesPolicy", "IgnoreNew"),
        ("/Task/Settings/ExecutionTimeLimit", "PT0S"),
        ("/Task/Settings/Hidden", "false"),
        ("/Task/Actions/Exec/Command", job.program.as_str()),
    ] {
        assert_eq!(of(path), Some(text), "{path}");
    }
    let quote = |path: &str| format!("\"{}\"", path.replace('"', "\\\""));
    let expected = format!(
        "serve --home {} --config {} --said {}",
        quote(&job.environment[0].1),
        quote(job.config.as_deref().expect("named")),
        quote(&job.said)
    );
    assert_eq!(of("/Task/Actions/Exec/Arguments"), Some(expected.as_str()));
}

#[test]
fn no_file_of_a_manager_holds_a_secret() {
    let temporary = TestFolder::new();
    let made = bailiwick_config::NewToken { name: "laptop".to_owned(), ..Default::default() };
    let secret = temporary
        .home
        .edit_tokens(|tokens| tokens.create(made, 0).map_err(|error| error.for_person()))
        .expect("a token")
        .1;
    let job = Job::of(&temporary.home).expect("a job");
    let managers: [Box<dyn Manager>; 3] = [
        Box::new(Systemd::find(temporary.programs()).expect("a home folder")),
        Box::new(Launchd::new(&temporary.folder, "501".to_owned(), temporary.programs())),
        Box::new(TaskScheduler::new(&temporary.home, "ada", temporary.programs())),
    ];
    for manager in managers {
        let text = manager.text(&job).expect("a text");
        assert!(!text.contains(&secret) && file::is_ours(&text), "{text}");
    }
}

/// As launchctl(1) and macOS answer: an agent that is asked to end is known for a while, and cannot be loaded meanwhile.
const LAUNCHCTL: &str = r#"case "$1 $2" in
'print gui/501') ;;
'print gui/501/local.bailiwick.service')
  if [ -e ending ]; then
    left=$(($(cat ending) - 1)); echo "$left" >ending
    [ "$left" -gt 0 ] || rm ending loaded
  fi
  [ -e loaded ] || { echo 'Could not find service "local.bailiwick.service" in domain for port' >&2; exit 113; }
  printf 'gui/501/local.bailiwick.service = {\n\tactive count = 1\n\n\tstate = %s\n\n\tspawn type = x\n\tsemaphores = {\n\t\tstate = other\n\t}\n}\n' "$(cat loaded)" ;;
'bootstrap gui/501')
  [ ! -e loaded ] || { echo 'Bootstrap failed: 5: Input/output error' >&2; exit 5; }
  echo running >loaded ;;
'bootout gui/501/local.bailiwick.service') echo 3 >ending ;;
'kickstart gui/501/local.bailiwick.service') echo running >loaded ;;
'enable gui/501/local.bailiwick.service') ;;
*) echo "Unrecognized: $*" >&2; exit 64 ;;
esac"#;

#[test]
fn launchd_is_asked_to_load_start_end_and_forget_the_agent() {
    // Programs of the tests are scripts, which Windows does not start.
    if service_manager() == ServiceManager::TaskScheduler {
        return;
    }
    let temporary = TestFolder::new();
    temporary.program("launchctl", LAUNCHCTL);
    temporary.program("plutil", "exit 0");
    let launchd = Launchd::new(&temporary.folder, "501".to_owned(), temporary.programs());
    let agent = format!("~/Library/LaunchAgents/{LABEL}.plist");
    let target = format!("gui/501/{LABEL}");
    let load = [format!("launchctl enable {target}"), format!("launchctl bootstrap gui/501 {agent}")];

    let made = temporary.install(&launchd);
    assert_eq!(
        (&made["changed"], &made["started"], &made["manager"]),
        (&json!(true), &json!(true), &json!("launchd"))
    );
    assert_eq!(temporary.asked(), [vec![format!("plutil -lint {agent}")], load.to_vec()].concat());
    // What it says is written where the state is, in a folder of the user's own.
    assert!(temporary.home.dirs.state.is_dir());
    let again = temporary.install(&launchd);
    assert_eq!((&again["changed"], &again["started"]), (&json!(false), &json!(true)));
    assert!(temporary.asked().is_empty(), "one that runs as it should is left alone");

    // The agent of another version is taken back before the new one is loaded.
    let old = file::read(launchd.file()).expect("there").replace("Interactive", "Standard");
    file::write(launchd.file(), &old).expect("written");
    assert_eq!(temporary.install(&launchd)["changed"], true);
    let unload = format!("launchctl bootout {target}");
    let lint = format!("plutil -lint {agent}");
    assert_eq!(temporary.asked(), [vec![lint, unload.clone()], load.to_vec()].concat());

    let shown = service::status(&temporary.home, &launchd).expect("installed");
    assert_eq!((shown.running, shown.state.as_str()), (true, "running"));
    assert!(!shown.ok, "nothing is served: {shown:?}");
    service::stop(&launchd).expect("stopped");
    assert_eq!(temporary.asked(), [unload.as_str()]);
    assert!(!launchd.standing().expect("told").is_known);
    service::start(&temporary.home, &launchd).expect("started");
    assert_eq!(temporary.asked(), load);
    fs::write(temporary.folder.join("bin/loaded"), "not running").expect("written");
    assert_eq!(
        launchd.standing().ok(),
        Some(ServiceStatus { is_known: true, is_running: false, words: "not running".to_owned() })
    );
    service::start(&temporary.home, &launchd).expect("started");
    assert_eq!(temporary.asked(), [format!("launchctl kickstart {target}")]);

    service::remove(&temporary.home, &launchd).expect("removed");
    assert_eq!(temporary.asked(), [unload]);
    assert!(!launchd.file().exists());
    // Over SSH alone there is no session at the screen.
    temporary.program("launchctl", "echo 'Could not find domain for user gui: 501' >&2; exit 113");
    let made = temporary.install(&launchd);
    assert_eq!(made["started"], false);
    assert_eq!(made["unreachable"], "Could not find domain for user gui: 501");
    let failure = service::start(&temporary.home, &launchd).expect_err("nobody can be asked");
    assert_eq!(failure.code, ErrorCode::ProviderUnavailable);
}

/// As schtasks answers in German: only numbers and our own words are the same everywhere.
const SCHTASKS: &str = r#"case "$*" in
'/Query /FO CSV /NH') ;;
'/Query /TN Bailiwick-ada /XML') [ -e task ] || { echo 'FEHLER: nicht gefunden.' >&2; exit 1; }; cat task ;;
'/Query /TN Bailiwick-ada /FO CSV /NH /V')
  [ -e task ] || { echo 'FEHLER: nicht gefunden.' >&2; exit 1; }
  if [ -e runs ]; then state='"Wird ausgefuehrt"' result=267009; else state='"Bereit"' result=0; fi
  echo '"PC","\Bailiwick-ada","N/V",'"$state"',"Nur interaktiv","22.11.2026 02:00:00","'"$result"'","Bailiwick","start"' ;;
'/Create /TN Bailiwick-ada /XML '*' /F') cp "$5" task ;;
'/Run /TN Bailiwick-ada') touch runs ;;
'/End /TN Bailiwick-ada') rm runs ;;
'/Delete /TN Bailiwick-ada /F') rm task ;;
*) echo "FEHLER: $*" >&2; exit 1 ;;
esac"#;

#[test]
fn the_task_scheduler_is_asked_to_make_run_end_and_delete_the_task() {
    if service_manager() == ServiceManager::TaskScheduler {
        return;
    }
    let temporary = TestFolder::new();
    temporary.program("schtasks", SCHTASKS);
    let task = TaskScheduler::new(&temporary.home, "ada", temporary.programs());
    let create = "schtasks /Create /TN Bailiwick-ada /XML ~/home/state/service-task.xml /F".to_owned();
    let run = "schtasks /Run /TN Bailiwick-ada".to_owned();
    let end = "schtasks /End /TN Bailiwick-ada".to_owned();

    let made = temporary.install(&task);
    assert_eq!(made["manager"], "task-scheduler");
    assert_eq!(temporary.asked(), [create.clone(), run.clone()]);
    assert_eq!(temporary.install(&task)["changed"], false);
    assert!(temporary.asked().is_empty(), "one that runs as it should is left alone");
    let old = file::read(task.file()).expect("there").replace("<Count>10", "<Count>3");
    file::write(task.file(), &old).expect("written");
    assert_eq!(temporary.install(&task)["changed"], true);
    assert_eq!(temporary.asked(), [end.clone(), create.clone(), run.clone()]);

    let shown = service::status(&temporary.home, &task).expect("installed");
    assert_eq!((shown.running, shown.state.as_str()), (true, "Wird ausgefuehrt"));
    service::stop(&task).expect("stopped");
    service::stop(&task).expect("stopped before");
    assert_eq!(temporary.asked(), [end]);
    service::start(&temporary.home, &task).expect("started");
    assert_eq!(temporary.asked(), [run.as_str()]);
    // Deleted in the Task Scheduler's own window.
    fs::remove_file(temporary.folder.join("bin/task")).expect("removed");
    assert!(!task.standing().expect("told").is_known);
    temporary.install(&task);
    assert_eq!(temporary.asked()[0], create);

    fs::write(temporary.folder.join("bin/task"), "<Task/>").expect("written");
    let somebodys = task.take_up(true).expect_err("it is not ours");
    assert_eq!(somebodys.code, ErrorCode::Conflict);
    assert_eq!(
        service::remove(&temporary.home, &task).map_err(|it| it.code).err(),
        Some(ErrorCode::Conflict)
    );
    fs::copy(task.file(), temporary.folder.join("bin/task")).expect("copied");
    service::remove(&temporary.home, &task).expect("removed");
    assert_eq!(temporary.asked().last().map(String::as_str), Some("schtasks /Delete /TN Bailiwick-ada /F"));
    assert!(!task.file().exists());
}
