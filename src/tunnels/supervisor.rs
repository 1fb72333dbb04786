//! Keeping a tunnel's program running: started, read, started again when it ends or hangs, ended with its owner.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, Sender, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use bailiwick_config::PublicUrl;

use super::program::{TunnelProgram, UrlReader};
use crate::installation::text::one_line;

/// How much of a line is kept; more of it is thrown away.
const MAX_LINE_BYTES: usize = 4 << 10;
/// How many lines wait to be read; a program that prints more waits.
const MAX_LINES: usize = 64;
/// How many of its last lines say why a program has ended.
const LAST_LINES: usize = 3;
/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(50);
/// How long a program that was ended may take to be gone.
const END_TIME: Duration = Duration::from_secs(3);

/// How long everything takes.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// The pause before the first new start.
    pub first_pause: Duration,
    /// The longest pause; each is twice the one before.
    pub longest_pause: Duration,
    /// How long a program may run without a URL.
    pub url_time: Duration,
    /// How long it has to run with one until the pauses start over.
    pub settled: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(60),
            url_time: Duration::from_secs(60),
            settled: Duration::from_secs(60),
        }
    }
}

/// What happens to the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramEvent {
    /// It was started; one without a URL serves from now on.
    Started,
    /// It says where it leads.
    Url(PublicUrl),
    /// It has ended, or was ended.
    Ended {
        /// Why, in its own words where it has any.
        why: String,
        /// When it is started again.
        again_in: Duration,
    },
}

/// What is started.
#[derive(Debug, Clone)]
pub struct ProgramStart {
    /// The program's file.
    pub file: PathBuf,
    /// Its words.
    pub words: Vec<OsString>,
    /// Variables to set.
    pub set: Vec<(&'static str, String)>,
    /// Makes the command: of a program that ends when its input closes, as the keeper does.
    pub command: fn(&Path, &[OsString]) -> io::Result<Command>,
}

/// A program that is kept running until this is dropped or stopped.
pub struct Supervisor {
    events: UnboundedReceiver<ProgramEvent>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Supervisor {
    /// Starts it.
    pub fn start(program: TunnelProgram, start: ProgramStart, timing: Timing) -> Self {
        let (says, events) = unbounded_channel();
        let stop = CancellationToken::new();
        let task = tokio::spawn(supervise(program, start, timing, says, stop.clone()));
        Self { events, stop, task }
    }

    /// Waits for what happens next.
    pub async fn next(&mut self) -> Option<ProgramEvent> {
        self.events.recv().await
    }

    /// Ends the program, and waits until it is gone.
    pub async fn stop(self) {
        self.stop.cancel();
        // It bounds its own waits.
        let _ = self.task.await;
    }
}

/// Why a program does not run any more.
enum ProgramEnd {
    Itself,
    NoUrl,
    Stopped,
}

async fn supervise(
    program: TunnelProgram,
    start: ProgramStart,
    timing: Timing,
    says: UnboundedSender<ProgramEvent>,
    stop: CancellationToken,
) {
    let mut pause = timing.first_pause;
    loop {
        let began = Instant::now();
        let why = match spawn(&program, &start) {
            Err(error) => format!("{}: {error}", start.file.display()),
            Ok(mut running) => {
                let _ = says.send(ProgramEvent::Started);
                let (end, had_url) = attend(&program, &mut running, &timing, &says, &stop).await;
                end_child(running.child).await;
                match end {
                    ProgramEnd::Stopped => return,
                    ProgramEnd::NoUrl => {
                        format!("it ran for {} s without saying its URL", timing.url_time.as_secs())
                    }
                    ProgramEnd::Itself => {
                        if had_url && began.elapsed() >= timing.settled {
                            pause = timing.first_pause;
                        }
                        last_words(running.last)
                    }
                }
            }
        };
        let _ = says.send(ProgramEvent::Ended { why, again_in: pause });
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = (pause * 2).min(timing.longest_pause);
    }
}

/// A program that runs, with what it has said.
struct RunningProgram {
    child: Child,
    lines: Receiver<String>,
    last: VecDeque<String>,
}

impl RunningProgram {
    fn note(&mut self, line: &str) {
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(one_line(line.trim()));
    }
}

async fn attend(
    program: &TunnelProgram,
    running: &mut RunningProgram,
    timing: &Timing,
    says: &UnboundedSender<ProgramEvent>,
    stop: &CancellationToken,
) -> (ProgramEnd, bool) {
    let mut reader = program.reader();
    let mut url = None;
    let until = tokio::time::Instant::now() + timing.url_time;
    let mut is_open = true;
    loop {
        tokio::select! {
            () = stop.cancelled() => return (ProgramEnd::Stopped, url.is_some()),
            line = running.lines.recv(), if is_open => match line {
                Some(line) => hear(running, &mut reader, &line, &mut url, says),
                None => is_open = false,
            },
            () = tokio::time::sleep_until(until), if url.is_none() && program.has_url() => {
                return (ProgramEnd::NoUrl, false);
            }
            () = tokio::time::sleep(LOOK) => {
                if !matches!(running.child.try_wait(), Ok(None)) {
                    // Its last words may come after its end.
                    while let Ok(Some(line)) = tokio::time::timeout(LOOK, running.lines.recv()).await {
                        hear(running, &mut reader, &line, &mut url, says);
                    }
                    return (ProgramEnd::Itself, url.is_some());
                }
            }
        }
    }
}

fn hear(
    running: &mut RunningProgram,
    reader: &mut UrlReader,
    line: &str,
    url: &mut Option<PublicUrl>,
    says: &UnboundedSender<ProgramEvent>,
) {
    if !line.trim().is_empty() {
        running.note(line);
    }
    if let Some(found) = reader.read(line)
        && url.as_ref() != Some(&found)
    {
        *url = Some(found.clone());
        let _ = says.send(ProgramEvent::Url(found));
    }
}

fn spawn(program: &TunnelProgram, start: &ProgramStart) -> io::Result<RunningProgram> {
    let mut command: Command = (start.command)(&start.file, &start.words)?;
    let is_foreign =
        |name: &str| program.foreign_variables().iter().any(|beginning| name.starts_with(beginning));
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(is_foreign) {
            command.env_remove(name);
        }
    }
    // Nobody but the tunnel's own header needs the token.
    command.env_remove("BAILIWICK_TOKEN");
    command.envs(start.set.iter().map(|(name, value)| (*name, value)));
    let mut child = command.spawn()?;
    let (says, lines) = channel(MAX_LINES);
    read_lines(child.stdout.take().expect("it was piped"), says.clone());
    read_lines(child.stderr.take().expect("it was piped"), says);
    Ok(RunningProgram { child, lines, last: VecDeque::new() })
}

/// Reads lines on a thread of its own, so that the program is never stopped by a full pipe. Of a long line the beginning
/// is kept.
fn read_lines(mut pipe: impl Read + Send + 'static, says: Sender<String>) {
    thread::spawn(move || {
        let (mut line, mut bytes) = (Vec::new(), [0_u8; 4_096]);
        while let Ok(count) = pipe.read(&mut bytes) {
            if count == 0 {
                break;
            }
            for byte in &bytes[..count] {
                match byte {
                    b'\n' => {
                        // Nobody hears it once the program is given up.
                        let _ = says.blocking_send(String::from_utf8_lossy(&line).into_owned());
                        line.clear();
                    }
                    _ if line.len() < MAX_LINE_BYTES => line.push(*byte),
                    _ => {}
                }
            }
        }
    });
}

/// Ends a program by its keeper, whose input closes.
async fn end_child(mut child: Child) {
    drop(child.stdin.take());
    let until = Instant::now() + END_TIME;
    while matches!(child.try_wait(), Ok(None)) {
        if Instant::now() >= until {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

fn last_words(last: VecDeque<String>) -> String {
    let last: Vec<String> = last.into();
    if last.is_empty() {
        "it ended without a word".to_owned()
    } else {
        format!("it ended: {}", last.join(" / "))
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use bailiwick_platform::dirs::System;

    use super::*;

    /// A shell that runs the program's text, and ends when its input closes.
    #[expect(clippy::disallowed_methods, reason = "the test plays the program of a tunnel by a shell")]
    fn shell(_: &Path, words: &[OsString]) -> io::Result<Command> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    fn start(text: &str) -> Supervisor {
        let start = ProgramStart {
            file: PathBuf::from("cloudflared"),
            words: vec![text.into()],
            set: Vec::new(),
            command: shell,
        };
        let timing = Timing {
            first_pause: Duration::from_millis(1),
            longest_pause: Duration::from_millis(2),
            url_time: Duration::from_millis(100),
            settled: Duration::from_secs(60),
        };
        Supervisor::start(TunnelProgram::Cloudflare, start, timing)
    }

    #[tokio::test]
    async fn a_program_that_hangs_without_a_url_is_ended_and_started_again() {
        if System::THIS == System::Windows {
            return;
        }
        let mut supervisor = start("echo 'INF Requesting new quick Tunnel' >&2; exec cat > /dev/null");
        let mut pauses = Vec::new();
        while pauses.len() < 4 {
            if let Some(ProgramEvent::Ended { why, again_in }) = supervisor.next().await {
                assert!(why.contains("without saying its URL"), "{why}");
                pauses.push(again_in.as_millis());
            }
        }
        assert_eq!(pauses, [1, 2, 2, 2]);
        supervisor.stop().await;
    }

    #[tokio::test]
    async fn a_url_that_changes_while_the_program_runs_is_heard() {
        if System::THIS == System::Windows {
            return;
        }
        let text = "for name in a a b; do echo \"INF |  https://$name.trycloudflare.com  |\" >&2; done; exec cat > /dev/null";
        let mut supervisor = start(text);
        let mut urls = Vec::new();
        while urls.len() < 2 {
            if let Some(ProgramEvent::Url(url)) = supervisor.next().await {
                urls.push(url.host().to_owned());
            }
        }
        assert_eq!(urls, ["a.trycloudflare.com", "b.trycloudflare.com"]);
        supervisor.stop().await;
    }
}
