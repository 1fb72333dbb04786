//! Plans on Windows itself, or on what stands for it: programs of the system, and this test's program as others.

mod terminal;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::fs::{FileId, remove_tree};
use crate::handle::Handle;
use crate::launch::kept::{
    Control, ControlError, Event, Input, KeeperRequest, Lifetime, ProcessFiles, State, Status, Stream,
    TerminalSize,
};
use crate::launch::{
    FolderChanges, InnerSandboxes, Job, LaunchCommand, LaunchError, LaunchRequest, Launcher, PathGrant,
    PlanEnd, ProcessLimits, SandboxRequest, SetGroupId, Step, pipe,
};
use bailiwick_contract::command::{Containment, Joiner, Network, Redirect};

/// The variable that tells this test's program what it is to be.
const BE: &str = "BAILIWICK_TEST_BE";
/// The file in the folder of a process by which its starter tells that it has taken note of the start.
const STARTED: &str = "started";
/// The longest that anything here may take.
const LONG: Duration = Duration::from_secs(60);

fn system(name: &str) -> PathBuf {
    let root = std::env::var_os("SystemRoot").expect("Windows has one");
    Path::new(&root).join("system32").join(name)
}

fn command(program: PathBuf, words: &[&str]) -> LaunchCommand {
    let name = program.file_name().expect("it has a name").to_owned();
    LaunchCommand {
        identity: FileId::of(&program).expect("it is there"),
        argv: std::iter::once(name).chain(words.iter().map(OsString::from)).collect(),
        program,
        redirects: Vec::new(),
    }
}

fn cmd(line: &str) -> LaunchCommand {
    let mut words = vec!["/d", "/c"];
    words.extend(line.split(' '));
    command(system("cmd.exe"), &words)
}

/// This test's program, which does what the variable says in the test of that name.
fn own(words: &[&str]) -> LaunchCommand {
    let own = std::env::current_exe().expect("it runs");
    let mut all =
        vec!["platform::launch::windows::tests::this_program_is_another", "--exact", "--nocapture", "--"];
    all.extend(words);
    command(own, &all)
}

fn one(command: LaunchCommand) -> Vec<Step> {
    vec![Step { joiner: None, commands: vec![command] }]
}

fn open_folder(path: &Path) -> Handle {
    OpenOptions::new().read(true).custom_flags(0x0200_0000).open(path).expect("a folder").into()
}

fn request(plan: Vec<Step>, be: &str, streams: (Option<Handle>, Handle, Handle)) -> LaunchRequest {
    let names = ["SystemRoot", "SystemDrive", "TEMP", "USERPROFILE"];
    let kept = names.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
    let folder = std::env::temp_dir().canonicalize().expect("there is one");
    LaunchRequest {
        plan,
        environment: kept.chain([(BE.into(), be.into()), ("NAME".into(), "value".into())]).collect(),
        cwd: open_folder(&folder),
        port: None,
        cwd_path: folder,
        hold: SandboxRequest {
            level: Containment::None,
            network: Network::Full,
            network_group: None,
            read_only: Vec::new(),
            read_write: Vec::new(),
            protected: Vec::new(),
            lacks_protected: false,
            closed: Vec::new(),
            lacks_closed: false,
            home: PathGrant::of(&std::env::temp_dir()).expect("there is one"),
            inner: InnerSandboxes::Refused,
            set_group_id: SetGroupId::Refused,
            changes: FolderChanges::Lasting,
        },
        limits: ProcessLimits {
            memory_bytes: None,
            job_memory_bytes: None,
            processes: None,
            file_bytes: None,
            open_files: 64,
        },
        stdin: streams.0,
        stdout: streams.1,
        stderr: streams.2,
    }
}

struct JobOutput {
    ended: Result<PlanEnd, LaunchError>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl JobOutput {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).replace('\r', "")
    }

    fn code(&self) -> Option<i32> {
        self.ended.as_ref().expect("it ended").exit_code
    }
}

async fn run_as(plan: Vec<Step>, be: &str, input: Option<Vec<u8>>, stop: Option<Duration>) -> JobOutput {
    let (mut out, stdout) = pipe::from_program().expect("a pipe");
    let (mut err, stderr) = pipe::from_program().expect("a pipe");
    let (stdin, feed) = match &input {
        None => (None, None),
        Some(_) => pipe::to_program().map(|(stdin, feed)| (Some(stdin), Some(feed))).expect("a pipe"),
    };
    let job = Launcher::new().launch(request(plan, be, (stdin, stdout, stderr))).await;
    let mut job = match job {
        Ok(job) => job,
        Err(error) => return JobOutput { ended: Err(error), stdout: Vec::new(), stderr: Vec::new() },
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let all = async {
        let read_out = out.read_to_end(&mut stdout);
        let read_err = err.read_to_end(&mut stderr);
        let write = async {
            if let Some(mut feed) = feed {
                let _ = feed.write_all(&input.unwrap_or_default()).await;
            }
        };
        let ended = async {
            if let Some(grace) = stop {
                tokio::time::sleep(Duration::from_millis(500)).await;
                job.stop(grace);
            }
            job.ended().await
        };
        tokio::join!(read_out, read_err, write, ended).3
    };
    let ended = tokio::time::timeout(LONG, all).await.expect("it ends");
    JobOutput { ended, stdout, stderr }
}

async fn run(plan: Vec<Step>) -> JobOutput {
    run_as(plan, "", None, None).await
}

/// What the test below is told to be by the variable. As a test it is told nothing.
#[test]
fn this_program_is_another() {
    let words: Vec<String> = std::env::args().skip_while(|word| word != "--").skip(1).collect();
    let own = || std::env::current_exe().expect("it runs");
    let say = |text: &str| std::io::stderr().write_all(text.as_bytes()).expect("somebody reads");
    match std::env::var(BE).unwrap_or_default().as_str() {
        "" => assert!(words.is_empty()),
        // One line for each word, with nothing in it that a console could change.
        "words" => words.iter().for_each(|word| say(&format!("{:x?}\n", word.as_bytes()))),
        "sleeper" => {
            say("here\n");
            std::thread::sleep(LONG * 2);
        }
        // Starts two more, one of which outlives it.
        "tree" => {
            let start = || Command::new(own()).args(std::env::args_os().skip(1)).env(BE, "sleeper").spawn();
            let (_one, mut other) = (start().expect("it starts"), start().expect("it starts"));
            other.wait().expect("it ends some time");
        }
        "orphan" => {
            let start = Command::new(own()).args(std::env::args_os().skip(1)).env(BE, "sleeper").spawn();
            drop(start.expect("it starts"));
        }
        // A service that starts a tree, and does not end on its own.
        "service" => {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let out = std::io::stderr().as_handle().try_clone_to_owned().expect("open");
                let copy = out.try_clone().expect("open");
                let tree = request(one(self::own(&[])), "tree", (None, out, copy));
                let _job: Job = Launcher::new().launch(tree).await.expect("it starts");
                std::future::pending::<()>().await;
            });
        }
        "copier" => {
            std::io::copy(&mut std::io::stdin().lock(), &mut std::io::stderr().lock()).expect("copied");
        }
        "answerer" => {
            for line in std::io::stdin().lines() {
                say(&format!("heard {}\n", line.expect("text")));
            }
        }
        // Ends at Ctrl-C, with a code of its own.
        "obedient" => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let mut asked = tokio::signal::windows::ctrl_c().expect("it can be heard");
                say("heard nothing yet\n");
                asked.recv().await;
            });
            #[expect(clippy::exit, reason = "the code is what is checked")]
            std::process::exit(7);
        }
        "durable" => start_kept(Lifetime::Durable),
        "bound" => start_kept(Lifetime::Service),
        "bound terminal" => start_kept(Lifetime::Service),
        other => assert!(terminal::play(other, &words), "{other} is nothing to be"),
    }
}

#[tokio::test]
async fn a_command_prints_and_tells_its_exit_code_with_its_streams_apart() {
    let ran = run(one(cmd("echo out& echo err 1>&2& exit /b 7"))).await;
    assert_eq!((ran.text().as_str(), ran.code()), ("out\n", Some(7)));
    assert_eq!(String::from_utf8_lossy(&ran.stderr).trim(), "err");
    let ended = ran.ended.expect("it ended");
    assert_eq!((ended.signal, ended.left_killed), (None, 0));
    assert_eq!(ended.held.layers, ["limits", "jobObject"]);
    assert_eq!(run(one(cmd("echo %NAME%"))).await.text(), "value\n");
    assert_eq!(run(one(cmd("exit /b -1"))).await.code(), Some(-1));
}

#[tokio::test]
async fn steps_follow_each_other_as_their_joiners_say() {
    let step = |joiner, line| Step { joiner, commands: vec![cmd(line)] };
    let plan = vec![
        step(None, "exit /b 1"),
        step(Some(Joiner::And), "echo never"),
        step(Some(Joiner::Or), "echo or"),
        step(Some(Joiner::And), "echo and"),
        step(Some(Joiner::Then), "exit /b 3"),
    ];
    let ran = run(plan).await;
    assert_eq!((ran.text().as_str(), ran.code()), ("or\nand\n", Some(3)));
}

#[tokio::test]
async fn a_pipe_joins_commands_and_redirections_move_their_streams() {
    let mut first = cmd("echo one& echo two 1>&2");
    first.redirects = vec![Redirect::StderrToStdout];
    let plan = vec![Step { joiner: None, commands: vec![first, own(&[])] }];
    let ran = run_as(plan, "copier", None, None).await;
    assert_eq!(String::from_utf8_lossy(&ran.stderr).replace([' ', '\r'], ""), "one\ntwo\n");
    let mut quiet = cmd("echo gone& echo left 1>&2");
    quiet.redirects = vec![Redirect::StdoutToNull];
    let ran = run(one(quiet)).await;
    assert_eq!((ran.text().as_str(), String::from_utf8_lossy(&ran.stderr).trim()), ("", "left"));
}

#[tokio::test]
async fn input_arrives_and_ends_and_without_any_there_is_none() {
    let ran = run_as(one(own(&[])), "copier", Some(b"a\r\n\0b".to_vec()), None).await;
    assert_eq!((ran.stderr.as_slice(), ran.code()), (b"a\r\n\0b".as_slice(), Some(0)));
    assert_eq!(run_as(one(own(&[])), "copier", None, None).await.stderr, b"");
}

#[tokio::test]
async fn ten_megabytes_pass_through_a_pipeline_whole() {
    let line = "0123456789abcdef".repeat(4);
    let text: Vec<u8> = format!("{line}\r\n").repeat(10 * 16 * 1024).into_bytes();
    // The first one's test says a little of itself beside.
    let mut first = own(&[]);
    first.redirects = vec![Redirect::StderrToStdout];
    let plan = vec![Step { joiner: None, commands: vec![first, own(&[])] }];
    let ran = run_as(plan, "copier", Some(text.clone()), None).await;
    assert_eq!(ran.code(), Some(0));
    assert!(ran.stderr.len() < text.len() + 1000);
    let begins = ran.stderr.iter().position(|byte| *byte == text[0]).unwrap_or_default();
    assert!(ran.stderr[begins..].windows(text.len()).any(|part| part == text), "{}", ran.stderr.len());
}

#[tokio::test]
async fn words_arrive_as_they_were_given() {
    let words = [
        "a b",
        "",
        "\"",
        r"\",
        r#"a\"b\\"#,
        r"c:\x y\",
        "ä€",
        "%PATH%",
        "^&|<>",
        "tab\there",
        "new\nline",
        "*",
    ];
    let ran = run_as(one(own(&words)), "words", None, None).await;
    let told: Vec<String> = String::from_utf8_lossy(&ran.stderr)
        .lines()
        .filter(|line| line.starts_with('['))
        .map(str::to_owned)
        .collect();
    let given: Vec<String> = words.iter().map(|word| format!("{:x?}", word.as_bytes())).collect();
    assert_eq!(told, given);
}

#[tokio::test]
async fn a_tree_is_killed_after_the_grace_and_nothing_of_it_writes_any_more() {
    // Reading to the end of its output waits for all who could write.
    let ran = run_as(one(own(&[])), "tree", None, Some(Duration::from_millis(700))).await;
    let ended = ran.ended.expect("it ended");
    // It may have heard that it is to end.
    assert!(ended.exit_code.is_none() && matches!(ended.signal, Some(9 | 15)), "{ended:?}");
}

#[tokio::test]
async fn what_a_command_leaves_behind_is_killed_and_counted() {
    let ran = run_as(one(own(&[])), "orphan", None, None).await;
    let ended = ran.ended.expect("it ended");
    assert_eq!(ended.exit_code, Some(0));
    // Wine counts what serves their console, too.
    assert!((1..=2).contains(&ended.left_killed), "{}", ended.left_killed);
}

#[tokio::test]
async fn a_dropped_job_kills_everything_at_once() {
    let (mut out, stdout) = pipe::from_program().expect("a pipe");
    let copy = stdout.try_clone().expect("open");
    let job =
        Launcher::new().launch(request(one(own(&[])), "tree", (None, stdout, copy))).await.expect("it runs");
    let mut some = [0; 1];
    out.read_exact(&mut some).await.expect("it prints");
    drop(job);
    tokio::time::timeout(LONG, out.read_to_end(&mut Vec::new())).await.expect("all are gone").expect("read");
}

#[test]
fn the_death_of_the_service_kills_what_it_started() {
    let own = own(&[]);
    let mut service = Command::new(&own.program)
        .args(&own.argv[1..])
        .env(BE, "service")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut told = service.stderr.take().expect("a pipe");
    let mut seen = String::new();
    // Both sleepers of the tree are there.
    while seen.matches("here").count() < 2 {
        let mut some = [0; 64];
        let length = told.read(&mut some).expect("read");
        assert!(length > 0, "it ended early: {seen}");
        seen.push_str(&String::from_utf8_lossy(&some[..length]));
    }
    service.kill().expect("it lives");
    let began = Instant::now();
    // Ends when nobody is left who could write.
    told.read_to_end(&mut Vec::new()).expect("read");
    assert!(began.elapsed() < LONG);
    service.wait().expect("it is over");
}

#[tokio::test]
async fn a_program_that_changed_is_not_started_and_a_batch_file_never_is() {
    let mut other = cmd("echo x");
    other.identity = FileId { device: 1, inode: 1 };
    assert_eq!(run(one(other.clone())).await.ended, Err(LaunchError::ProgramChanged(other.program)));
    let batch = std::env::temp_dir().join(format!("bailiwick-{}.bat", bailiwick_contract::id::new_id()));
    fs::write(&batch, "@echo ran %1\r\n").expect("written");
    let ran = run(one(command(batch.clone(), &["\"&calc.exe"]))).await;
    assert!(
        matches!(&ran.ended, Err(LaunchError::Step { step, .. }) if step == "program"),
        "{:?}",
        ran.ended
    );
    fs::remove_file(batch).expect("it is not held any more");
}

#[tokio::test]
async fn the_working_folder_is_the_one_that_was_opened() {
    let made = |name: &str| {
        let path =
            std::env::temp_dir().join(format!("bailiwick-{}-{name}", bailiwick_contract::id::new_id()));
        fs::create_dir(&path).expect("made");
        path.canonicalize().expect("it is there")
    };
    let (right, wrong) = (made("right"), made("wrong"));
    File::create(right.join("here")).expect("made");
    let ask = async |opened: &Path, path: &Path| {
        let (mut out, stdout) = pipe::from_program().expect("a pipe");
        let stderr = stdout.try_clone().expect("open");
        let mut asked = request(one(cmd("dir /b")), "", (None, stdout, stderr));
        (asked.cwd, asked.cwd_path) = (open_folder(opened), path.to_owned());
        let mut job = Launcher::new().launch(asked).await?;
        let mut told = String::new();
        out.read_to_string(&mut told).await.expect("read");
        job.ended().await.map(|_| told)
    };
    assert_eq!(ask(&right, &right).await.expect("it runs").trim(), "here");
    assert!(matches!(ask(&wrong, &right).await, Err(LaunchError::Step { .. })));
    for folder in [right, wrong] {
        remove_tree(&folder).expect("nobody is in it any more");
    }
}

/// A folder of a process, removed in the end.
struct ProcessFolder(PathBuf);

impl ProcessFolder {
    fn new() -> Self {
        let name = format!("bailiwick-{}", bailiwick_contract::id::new_id());
        Self(std::env::temp_dir().canonicalize().expect("there is one").join(name))
    }

    async fn state_after(&self, is_it: impl Fn(&Status) -> bool) -> Status {
        let began = Instant::now();
        loop {
            match ProcessFiles::look(&self.0) {
                Ok(status) if is_it(&status) => return status,
                other => assert!(began.elapsed() < LONG, "{other:?}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

impl Drop for ProcessFolder {
    fn drop(&mut self) {
        let _ = remove_tree(&self.0);
    }
}

fn kept_request(folder: &Path, be: &str, lifetime: Lifetime) -> KeeperRequest {
    let nothing = || OpenOptions::new().write(true).open(r"\\.\NUL").expect("it is there").into();
    let request = request(one(own(&[])), be, (None, nothing(), nothing()));
    KeeperRequest {
        plan: request.plan,
        environment: request.environment,
        cwd: request.cwd,
        proxy: None,
        cwd_path: request.cwd_path,
        hold: request.hold,
        limits: request.limits,
        folder: folder.to_owned(),
        input: Input::Pipe,
        terminal: None,
        ring_bytes: 1 << 20,
        lifetime,
        max_time: LONG,
        temporary: None,
    }
}

/// Starts a process from another process of this test's program, which ends or stays as it is told.
fn starter(be: &str, place: &ProcessFolder) -> std::process::Child {
    let own = own(&[]);
    let folder = ("BAILIWICK_TEST_FOLDER", &place.0);
    Command::new(&own.program)
        .args(&own.argv[1..])
        .env(BE, be)
        .env(folder.0, folder.1)
        .stdout(Stdio::null())
        .spawn()
        .expect("it starts")
}

/// Starts a process that lasts, as the test above tells this program to.
fn start_kept(lifetime: Lifetime) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let folder = PathBuf::from(std::env::var_os("BAILIWICK_TEST_FOLDER").expect("it is told"));
    runtime.block_on(async {
        let mut request = kept_request(&folder, "answerer", lifetime);
        if std::env::var(BE).is_ok_and(|be| be.ends_with("terminal")) {
            request = terminal::with_terminal(request, "holder", &folder);
        }
        Launcher::new().start_kept(request).await.expect("it starts");
        if lifetime == Lifetime::Service {
            fs::write(folder.join(STARTED), "").expect("it can be written");
            std::future::pending::<()>().await;
        }
    });
}

/// Asks the program and reads until it has answered.
async fn ask(place: &ProcessFolder, control: &mut Control, question: &str) {
    control.input(format!("{question}\n").as_bytes()).await.expect("it takes input");
    said(place, &format!("heard {question}")).await;
}

/// Reads until the program has said something.
async fn said(place: &ProcessFolder, wanted: &str) {
    let kept = ProcessFiles::open(&place.0).expect("its files are there");
    let began = Instant::now();
    loop {
        let read = kept.read(0, usize::MAX).expect("read");
        let bytes: Vec<u8> = read
            .frames
            .into_iter()
            .filter(|it| it.stream == Stream::Stderr)
            .flat_map(|it| it.bytes)
            .collect();
        let said = String::from_utf8_lossy(&bytes).into_owned();
        if said.contains(wanted) {
            return;
        }
        assert!(began.elapsed() < LONG, "{said}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_kept_process_is_spoken_to_read_and_ends_by_itself() {
    let place = ProcessFolder::new();
    let request = kept_request(&place.0, "answerer", Lifetime::Durable);
    let held = Launcher::new().start_kept(request).await.expect("it starts");
    assert_eq!(held.layers, ["limits", "jobObject"]);
    assert_eq!(place.state_after(|_| true).await.state, State::Running);
    let mut control = Control::connect(&place.0).await.expect("its keeper listens");
    ask(&place, &mut control, "one").await;
    let mut watcher = Control::connect(&place.0).await.expect("there is room for more");
    watcher.watch().await.expect("it tells");
    assert!(matches!(watcher.next_event().await, Ok(Event::Output { end }) if end > 0));
    assert!(matches!(
        control.resize(TerminalSize { rows: 1, columns: 1 }).await,
        Err(ControlError::NoTerminal)
    ));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("it has one").port();
    assert_eq!(control.is_listening(port).await, Ok(true));
    drop(control.dial(port).await.expect("it listens"));
    drop(listener);
    assert_eq!(control.is_listening(port).await, Ok(false));
    control.close_input().await.expect("it is open");
    assert!(matches!(control.close_input().await, Err(ControlError::NoInput | ControlError::Gone)));
    while let Event::Output { .. } = watcher.next_event().await.expect("it shows the end") {}
    let status = place.state_after(|status| status.state.is_final()).await;
    assert_eq!((status.state, status.exit_code, status.left_killed), (State::Ended, Some(0), 0));
    assert!(matches!(Control::connect(&place.0).await, Err(ControlError::Gone)));
}

#[tokio::test]
async fn a_durable_process_outlives_its_starter_and_is_stopped_by_another() {
    let place = ProcessFolder::new();
    assert!(starter("durable", &place).wait().expect("it ends").success());
    let mut control = Control::connect(&place.0).await.expect("its keeper listens");
    ask(&place, &mut control, "two").await;
    assert_eq!(place.state_after(|_| true).await.state, State::Running);
    control.stop(9, Duration::ZERO).await.expect("it is told");
    let status = place.state_after(|status| status.state.is_final()).await;
    assert_eq!((status.state, status.exit_code, status.signal), (State::Ended, None, Some(9)));
}

#[tokio::test]
async fn a_kept_process_hears_that_it_is_to_end_and_its_keeper_stays() {
    // Wine has no Ctrl-Break, which is what else is typed.
    let place = ProcessFolder::new();
    let request = kept_request(&place.0, "obedient", Lifetime::Durable);
    Launcher::new().start_kept(request).await.expect("it starts");
    let mut control = Control::connect(&place.0).await.expect("its keeper listens");
    said(&place, "heard nothing yet").await;
    control.signal(2).await.expect("it is told");
    let status = place.state_after(|status| status.state.is_final()).await;
    assert_eq!((status.state, status.exit_code, status.signal), (State::Ended, Some(7), None));
}

#[tokio::test]
async fn a_process_of_the_service_ends_with_it() {
    let place = ProcessFolder::new();
    let mut service = starter("bound", &place);
    // A start that nobody took note of is given up, which is another end.
    place.state_after(|status| status.state == State::Running && place.0.join(STARTED).exists()).await;
    service.kill().expect("it lives");
    service.wait().expect("it is over");
    let status = place.state_after(|status| status.state.is_final()).await;
    assert_eq!((status.state, status.signal), (State::Ended, Some(9)));
}

#[tokio::test]
async fn a_keeper_that_is_killed_is_noticed() {
    let place = ProcessFolder::new();
    let request = kept_request(&place.0, "answerer", Lifetime::Durable);
    Launcher::new().start_kept(request).await.expect("it starts");
    let keeper = place.state_after(|status| status.state == State::Running).await.process_id.to_string();
    let killed =
        Command::new(system("taskkill.exe")).args(["/f", "/pid", &keeper]).status().expect("it runs");
    assert!(killed.success());
    assert_eq!(place.state_after(|status| status.state.is_final()).await.state, State::Lost);
    assert!(matches!(Control::connect(&place.0).await, Err(ControlError::Gone)));
}
