//! Terminals. Wine gives a program no standard streams of its terminal, so that these open it by its names.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tokio::io::AsyncReadExt;

use super::{BE, LONG, ProcessFolder, cmd, kept_request, own, starter, system};
use crate::emulator::Emulator;
use crate::launch::kept::{
    Control, ControlError, KeeperRequest, Lifetime, ProcessFiles, State, Stream, TerminalSize,
};
use crate::launch::windows::pseudo_console::{PseudoConsole, size_of};
use crate::launch::{LaunchCommand, Launcher, Step, pipe};
use bailiwick_contract::command::Joiner;

const SIZE: TerminalSize = TerminalSize { rows: 20, columns: 60 };
/// The variable that names a folder to programs.
const FOLDER: &str = "BAILIWICK_TEST_FOLDER";

fn keyboard() -> File {
    OpenOptions::new().read(true).write(true).open("CONIN$").expect("it has a terminal")
}

fn screen() -> File {
    OpenOptions::new().read(true).write(true).open("CONOUT$").expect("it has a terminal")
}

/// The size of the terminal, as its programs see it.
fn measured() -> String {
    let TerminalSize { rows, columns } = size_of(screen().as_handle()).expect("it has one");
    format!("{rows} rows, {columns} columns")
}

/// Does what a variable says, in a terminal. Returns whether that is anything.
pub(super) fn play(role: &str, words: &[String]) -> bool {
    let say = |text: &str| screen().write_all(text.as_bytes()).expect("it is drawn");
    match role {
        "typist" => {
            say("ready\r\n");
            let mut line = [0; 256];
            loop {
                match keyboard()
                    .read(&mut line)
                    .map(|length| String::from_utf8_lossy(&line[..length]).into_owned())
                {
                    // Windows itself takes Ctrl-Z for the end. Of wine, programs do.
                    Ok(text) if text.is_empty() || text.starts_with('\u{1a}') => break,
                    Ok(text) if text.trim_end() == "size" => say(&format!("{}\r\n", measured())),
                    Ok(text) => say(&format!("heard {}\r\n", text.trim_end())),
                    // It was closed.
                    Err(_) => return true,
                }
            }
            say("over\r\n");
        }
        "sayer" => say(&format!("{}\r\n", words.join(" "))),
        "shower" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).expect("it is piped");
            say(&format!("shown {text}\r\n"));
        }
        "holder" | "held" => {
            let path = PathBuf::from(std::env::var_os(FOLDER).expect("it is told")).join(role);
            let mut options = OpenOptions::new();
            let _held =
                options.write(true).create(true).truncate(true).share_mode(0).open(path).expect("made");
            if role == "holder" {
                let own = std::env::current_exe().expect("it runs");
                let start = Command::new(own).args(std::env::args_os().skip(1)).env(BE, "held").spawn();
                drop(start.expect("it starts"));
            }
            std::thread::sleep(LONG * 2);
        }
        _ => return false,
    }
    true
}

/// Has a request's program run as something in a terminal.
pub(super) fn with_terminal(mut request: KeeperRequest, be: &str, folder: &Path) -> KeeperRequest {
    request.terminal = Some(SIZE);
    request.environment.retain(|(name, _)| name != BE);
    request.environment.extend([(BE.into(), be.into()), (FOLDER.into(), folder.into())]);
    request
}

async fn start(place: &ProcessFolder, be: &str, plan: Option<Vec<Step>>) -> Control {
    let mut request = with_terminal(kept_request(&place.0, be, Lifetime::Durable), be, &place.0);
    request.plan = plan.unwrap_or(request.plan);
    let held = Launcher::new().start_kept(request).await.expect("it starts");
    assert_eq!(held.layers, ["limits", "jobObject"]);
    Control::connect(&place.0).await.expect("its keeper listens")
}

/// Returns all that was drawn, as it came.
fn drawn(place: &ProcessFolder) -> Vec<u8> {
    let read =
        ProcessFiles::open(&place.0).and_then(|kept| kept.read(0, usize::MAX)).expect("its files are there");
    assert!(read.frames.iter().all(|frame| frame.stream == Stream::Stdout), "a terminal is one stream");
    read.frames.into_iter().flat_map(|frame| frame.bytes).collect()
}

fn lines(place: &ProcessFolder) -> Vec<String> {
    let mut emulator = Emulator::new(SIZE.rows, SIZE.columns);
    emulator.feed(&drawn(place));
    emulator.lines().into_iter().filter(|line| !line.is_empty()).collect()
}

/// Waits until a line is shown.
async fn shows(place: &ProcessFolder, line: &str) {
    let began = Instant::now();
    while !lines(place).iter().any(|shown| shown == line) {
        assert!(
            began.elapsed() < LONG,
            "{line}: {:?}, {:?}",
            lines(place),
            String::from_utf8_lossy(&drawn(place))
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until nobody has the files of programs open.
async fn are_gone(place: &ProcessFolder) {
    let began = Instant::now();
    let is_free = |name| OpenOptions::new().write(true).open(place.0.join(name)).is_ok();
    while !(is_free("holder") && is_free("held")) {
        assert!(began.elapsed() < LONG, "a program still runs");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Waits until both programs hold their files.
async fn are_there(place: &ProcessFolder) {
    let began = Instant::now();
    while !["holder", "held"].iter().all(|name| place.0.join(name).exists()) {
        assert!(began.elapsed() < LONG, "they do not start");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(OpenOptions::new().write(true).open(place.0.join("held")).is_err(), "it is held");
}

#[tokio::test]
async fn a_program_in_a_terminal_is_typed_to_and_its_screen_is_what_it_drew() {
    let place = ProcessFolder::new();
    let mut control = start(&place, "typist", None).await;
    shows(&place, "ready").await;
    control.input(b"one\r").await.expect("it takes keys");
    shows(&place, "heard one").await;
    control.input("zw\u{f6}lf\r".as_bytes()).await.expect("it takes keys");
    shows(&place, "zw\u{f6}lf").await;
    assert_eq!(lines(&place)[..3], ["ready", "one", "heard one"]);
    control.close_input().await.expect("it is open");
    let status = place.state_after(|status| status.state.is_final()).await;
    assert_eq!((status.state, status.exit_code, status.left_killed), (State::Ended, Some(0), 0));
    assert_eq!(status.terminal, Some(SIZE));
    // What is drawn last is there when it has ended.
    assert_eq!(lines(&place).last().map(String::as_str), Some("over"));
}

#[tokio::test]
async fn a_secret_that_a_terminal_echoes_is_masked() {
    let place = ProcessFolder::new();
    let mut control = start(&place, "typist", None).await;
    shows(&place, "ready").await;
    control.secret(b"hunter2").await.expect("it takes a secret");
    control.input(b"\r").await.expect("it takes keys");
    shows(&place, "heard [secret]").await;
    assert!(!String::from_utf8_lossy(&drawn(&place)).contains("hunter2"));
    control.stop(9, Duration::ZERO).await.expect("it is told");
    place.state_after(|status| status.state.is_final()).await;
}

#[tokio::test]
async fn a_terminal_outlasts_each_program_of_a_plan_and_stands_at_both_ends_of_a_pipeline() {
    let place = ProcessFolder::new();
    let step = |joiner, commands: Vec<LaunchCommand>| Step { joiner, commands };
    let plan = vec![step(None, vec![own(&["first"])]), step(Some(Joiner::And), vec![own(&["second"])])];
    start(&place, "sayer", Some(plan)).await;
    let status = place.state_after(|status| status.state.is_final()).await;
    assert_eq!((status.state, status.exit_code), (State::Ended, Some(0)));
    assert_eq!(lines(&place), ["first", "second"]);

    let place = ProcessFolder::new();
    start(&place, "shower", Some(vec![step(None, vec![cmd("echo piped"), own(&[])])])).await;
    let status = place.state_after(|status| status.state.is_final()).await;
    assert_eq!((status.state, status.exit_code), (State::Ended, Some(0)));
    assert_eq!(lines(&place), ["shown piped"]);
}

#[tokio::test]
async fn a_terminal_has_the_size_that_was_asked_for_and_says_whether_it_took_another() {
    let place = ProcessFolder::new();
    let mut control = start(&place, "typist", None).await;
    shows(&place, "ready").await;
    control.input(b"size\r").await.expect("it takes keys");
    shows(&place, "20 rows, 60 columns").await;
    let other = TerminalSize { rows: 19, columns: 50 };
    let expected = match control.resize(other).await {
        Ok(()) => other,
        // Wine 8 does not know the call.
        Err(ControlError::System(_)) => SIZE,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(place.state_after(|_| true).await.terminal, Some(expected));
    control.input(b"size\r").await.expect("it takes keys");
    if expected == other {
        shows(&place, "19 rows, 50 columns").await;
    }
    control.input(b"still\r").await.expect("it takes keys");
    shows(&place, "heard still").await;
    control.stop(9, Duration::ZERO).await.expect("it is told");
    place.state_after(|status| status.state.is_final()).await;
}

#[tokio::test]
async fn ctrl_c_typed_at_a_terminal_ends_its_program() {
    let place = ProcessFolder::new();
    let mut control = start(&place, "typist", None).await;
    shows(&place, "ready").await;
    control.input(b"\x03").await.expect("it takes keys");
    let status = place.state_after(|status| status.state.is_final()).await;
    assert_eq!(status.state, State::Ended);
}

#[tokio::test]
async fn all_programs_of_a_terminal_are_gone_when_it_is_stopped() {
    for (signal, grace) in [(9, Duration::ZERO), (15, Duration::from_secs(1))] {
        let place = ProcessFolder::new();
        let mut control = start(&place, "holder", None).await;
        are_there(&place).await;
        control.stop(signal, grace).await.expect("it is told");
        let status = place.state_after(|status| status.state.is_final()).await;
        // Where Ctrl-Break is heard, it ends by that.
        assert!(status.exit_code.is_none() && matches!(status.signal, Some(9 | 15)), "{status:?}");
        are_gone(&place).await;
    }
}

#[tokio::test]
async fn all_programs_of_a_terminal_are_gone_with_the_service_and_with_the_keeper() {
    let place = ProcessFolder::new();
    let mut service = starter("bound terminal", &place);
    are_there(&place).await;
    service.kill().expect("it lives");
    service.wait().expect("it is over");
    let status = place.state_after(|status| status.state.is_final()).await;
    assert_eq!((status.state, status.signal), (State::Ended, Some(9)));
    are_gone(&place).await;

    let place = ProcessFolder::new();
    start(&place, "holder", None).await;
    are_there(&place).await;
    let keeper = place.state_after(|status| status.state == State::Running).await.process_id.to_string();
    let killed =
        Command::new(system("taskkill.exe")).args(["/f", "/pid", &keeper]).status().expect("it runs");
    assert!(killed.success());
    assert_eq!(place.state_after(|status| status.state.is_final()).await.state, State::Lost);
    are_gone(&place).await;
}

#[tokio::test]
async fn a_closed_console_lets_go_of_its_pipes_and_takes_no_further_size() {
    let (typed, _input) = pipe::to_program().expect("a pipe");
    let (mut output, drawn) = pipe::from_program().expect("a pipe");
    let console = PseudoConsole::new(SIZE, typed.as_handle(), drawn.as_handle()).expect("there is one");
    drop((typed, drawn));
    let closing = std::thread::spawn(move || {
        console.close(LONG);
        console.close(LONG);
        assert!(console.resize(SIZE).is_err());
    });
    tokio::time::timeout(LONG, output.read_to_end(&mut Vec::new())).await.expect("it ends").expect("read");
    closing.join().expect("it was closed");
}
