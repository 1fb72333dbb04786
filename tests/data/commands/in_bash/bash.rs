//! What the real bash starts for a string, seen by programs that only log: each name that a plan starts is
//! a stub in a folder of its own, which is all of `PATH`.
//!
//! A stub writes down its words and where its three streams lead. So a plan is held not only to the words
//! but to the wiring: which pipes join which commands, and what goes to `/dev/null`.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bailiwick::contract::{CommandPlan, Joiner, Pipeline, Redirect, SimpleCommand};
use support::temporary::TemporaryFolder;

/// The builtins of bash that are programs as well: switched off, so that the stubs are started.
const PROGRAMS_TOO: &str = "echo false kill printf pwd test true [";

/// A folder with stubs, and a bash that finds nothing else.
pub struct Bash {
    folder: TemporaryFolder,
    program: PathBuf,
    stubs: HashSet<String>,
}

/// One start of a stub, as it was logged.
#[derive(Debug, PartialEq, Eq)]
pub struct Start {
    argv: Vec<String>,
    streams: [Stream; 3],
}

/// Where a stream leads.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stream {
    Input,
    Output,
    Errors,
    Null,
    Pipe(String),
    Other(String),
}

impl Bash {
    /// Creates the folder, without stubs yet.
    pub fn new() -> Self {
        let program = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"]
            .into_iter()
            .map(PathBuf::from)
            .find(|path| path.exists())
            .expect("these tests compare with bash: install it");
        let folder = TemporaryFolder::new();
        for name in ["stubs", "log", "work"] {
            fs::create_dir(folder.path().join(name)).expect("a folder can be made");
        }
        fs::write(folder.path().join("prelude"), format!("enable -n {PROGRAMS_TOO}\n")).expect("written");
        fs::write(folder.path().join("in"), "").expect("written");
        let readlink =
            ["/usr/bin/readlink", "/bin/readlink"].into_iter().find(|path| Path::new(path).exists());
        let readlink = readlink.expect("these tests ask readlink where streams lead");
        let log = folder.path().join("log");
        let log = log.display();
        let stub = format!(
            "#!/bin/sh\n({readlink} /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2 >{log}/$$.streams)\n\
             printf '%s\\0' \"${{0##*/}}\" \"$@\" >{log}/$$.argv\necho $$ >>{log}/order\n\
             case $0 in */false | */no*) exit 1 ;; esac\n"
        );
        let path = folder.path().join("stub");
        fs::write(&path, stub).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("made executable");
        let mut bash = Self { folder, program, stubs: HashSet::new() };
        // What hostile strings want to start, so that it would be seen.
        for name in ["rm", "sh", "bash", "curl", "cat", "touch", "id"] {
            bash.stub(name);
        }
        bash
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn stub(&mut self, name: &str) {
        if self.stubs.insert(name.to_owned()) {
            symlink(self.path("stub"), self.path("stubs").join(name)).expect("a stub can be made");
        }
    }

    /// Runs bash with the words after it and a clean environment; gives its standard output.
    pub fn ask(&self, script: &str) -> String {
        let output = Command::new(&self.program)
            .args(["--noprofile", "--norc", "-c", script])
            .env_clear()
            .output()
            .expect("bash starts");
        String::from_utf8(output.stdout).expect("bash answers in UTF-8")
    }

    /// Runs the string in bash and says how that differs from what the plan would start.
    pub fn difference(&mut self, line: &str, plan: &CommandPlan) -> Option<String> {
        for command in plan.commands() {
            self.stub(command.program());
        }
        let started = self.run(line);
        let expected = expected(plan);
        let shown = || format!("expected {expected:?}\nstarted {started:?}");
        let mut rest = started.as_slice();
        for group in &expected {
            if rest.len() < group.len() {
                return Some(shown());
            }
            let (these, others) = rest.split_at(group.len());
            if !is_same_pipeline(group, these) {
                return Some(shown());
            }
            rest = others;
        }
        (!rest.is_empty()).then(shown)
    }

    /// Runs the string; gives the starts in their order.
    fn run(&self, line: &str) -> Vec<Start> {
        let log = self.path("log");
        for entry in fs::read_dir(&log).expect("the log can be read").flatten() {
            fs::remove_file(entry.path()).expect("an old log can be removed");
        }
        let open = |name: &str| fs::File::create(self.path(name)).expect("a stream can be made");
        Command::new(&self.program)
            .args(["--noprofile", "--norc", "-c", "--", line])
            .env_clear()
            .env("PATH", self.path("stubs"))
            .env("BASH_ENV", self.path("prelude"))
            .env("HOME", self.path("work"))
            .env("LC_ALL", "C.UTF-8")
            .current_dir(self.path("work"))
            .stdin(Stdio::from(fs::File::open(self.path("in")).expect("the input exists")))
            .stdout(Stdio::from(open("out")))
            .stderr(Stdio::from(open("err")))
            .status()
            .expect("bash starts");
        let left: Vec<_> = fs::read_dir(self.path("work")).expect("it exists").flatten().collect();
        assert!(left.is_empty(), "{line:?} left {left:?}");
        let Ok(order) = fs::read_to_string(log.join("order")) else { return Vec::new() };
        order.lines().map(|process| self.start(&log, process)).collect()
    }

    fn start(&self, log: &Path, process: &str) -> Start {
        let read = |kind: &str| fs::read_to_string(log.join(format!("{process}.{kind}"))).expect("logged");
        let stream = |path: &str| match path {
            "/dev/null" => Stream::Null,
            pipe if pipe.starts_with("pipe:") => Stream::Pipe(pipe.to_owned()),
            path if Path::new(path) == self.path("in") => Stream::Input,
            path if Path::new(path) == self.path("out") => Stream::Output,
            path if Path::new(path) == self.path("err") => Stream::Errors,
            other => Stream::Other(other.to_owned()),
        };
        let streams: Vec<Stream> = read("streams").lines().map(stream).collect();
        let argv = read("argv");
        let argv = argv.strip_suffix('\0').unwrap_or(&argv).split('\0').map(str::to_owned).collect();
        Start { argv, streams: streams.try_into().expect("a stub logs three streams") }
    }
}

/// Returns what a plan starts, pipeline by pipeline, when the stubs end as they do.
fn expected(plan: &CommandPlan) -> Vec<Vec<Start>> {
    let mut groups = vec![starts(&plan.first)];
    let mut succeeded = succeeds(&plan.first);
    for (joiner, pipeline) in &plan.rest {
        let runs = match joiner {
            Joiner::And => succeeded,
            Joiner::Or => !succeeded,
            Joiner::Then => true,
        };
        if runs {
            groups.push(starts(pipeline));
            succeeded = succeeds(pipeline);
        }
    }
    groups
}

fn succeeds(pipeline: &Pipeline) -> bool {
    pipeline.commands.last().is_some_and(|command| {
        let program = command.program();
        program != "false" && !program.starts_with("no")
    })
}

fn starts(pipeline: &Pipeline) -> Vec<Start> {
    let last = pipeline.commands.len() - 1;
    let commands = pipeline.commands.iter().enumerate();
    commands.map(|(at, command)| expected_start(command, at, at == last)).collect()
}

fn expected_start(command: &SimpleCommand, at: usize, is_last: bool) -> Start {
    let input = if at == 0 { Stream::Input } else { Stream::Pipe((at - 1).to_string()) };
    let output = if is_last { Stream::Output } else { Stream::Pipe(at.to_string()) };
    let mut streams = [input, output, Stream::Errors];
    for redirect in &command.redirects {
        match redirect {
            Redirect::StdinFromNull => streams[0] = Stream::Null,
            Redirect::StdoutToNull => streams[1] = Stream::Null,
            Redirect::StderrToNull => streams[2] = Stream::Null,
            Redirect::StderrToStdout => streams[2] = streams[1].clone(),
            Redirect::StdoutToStderr => streams[1] = streams[2].clone(),
        }
    }
    Start { argv: command.argv.clone(), streams }
}

/// Returns whether the starts are those of one pipeline. They are logged in any order, and the pipes have
/// names of their own; each expected pipe has to be one real pipe everywhere.
fn is_same_pipeline(expected: &[Start], started: &[Start]) -> bool {
    fn place<'a>(
        expected: &'a [Start],
        started: &'a [Start],
        used: &mut Vec<usize>,
        pipes: &BTreeMap<&'a str, &'a str>,
    ) -> bool {
        let Some((first, others)) = expected.split_first() else { return true };
        for (at, candidate) in started.iter().enumerate() {
            if used.contains(&at) || candidate.argv != first.argv {
                continue;
            }
            let Some(pipes) = joined(first, candidate, pipes.clone()) else { continue };
            used.push(at);
            if place(others, started, used, &pipes) {
                return true;
            }
            used.pop();
        }
        false
    }
    place(expected, started, &mut Vec::new(), &BTreeMap::new())
}

/// Adds the pipes of one command to those known; `None` if they do not fit.
fn joined<'a>(
    expected: &'a Start,
    started: &'a Start,
    mut pipes: BTreeMap<&'a str, &'a str>,
) -> Option<BTreeMap<&'a str, &'a str>> {
    for (wanted, found) in expected.streams.iter().zip(&started.streams) {
        match (wanted, found) {
            (Stream::Pipe(wanted), Stream::Pipe(found)) => match pipes.get(wanted.as_str()) {
                Some(known) if known != found => return None,
                Some(_) => {}
                None if pipes.values().any(|known| known == found) => return None,
                None => {
                    pipes.insert(wanted, found);
                }
            },
            (wanted, found) if wanted == found => {}
            _ => return None,
        }
    }
    Some(pipes)
}
