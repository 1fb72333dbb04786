//! What a command prints, kept while it runs, and told as a digest where that says the same in less.
//!
//! A digest is in the answer only if the output itself can be read with process.read.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use crate::registry::Context;
use bailiwick_contract::Failure;
use bailiwick_platform::launch::kept::Stream;
use bailiwick_policy::Permit;
use bailiwick_policy::command::PermittedCommand;
use bailiwick_providers::command::{CapturedStream, Run};
use bailiwick_providers::digest::{Digest, Digester, WHOLE_BYTES};
use bailiwick_providers::process::{self, ContinuationSettings, Process, RunEnd, RunFacts, RunRecorder};

use super::ready::clean_preview;

/// Where the output itself is, which a digest stands for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RawOutput {
    /// The id by which process.read gives it, for 24 hours.
    pub process_id: String,
    /// How many bytes went to standard output.
    pub stdout_bytes: u64,
    /// How many bytes went to standard error.
    pub stderr_bytes: u64,
}

/// What a command prints, while it runs.
pub struct Recording {
    /// None where the answer gives the output itself.
    digester: Option<Digester>,
    recorder: RunRecorder,
    stdout_bytes: u64,
    stderr_bytes: u64,
}

impl Recording {
    /// Begins before the command starts. Nothing is on disk while little is printed.
    pub fn begin(
        cx: &Context,
        permit: &Permit,
        command: &PermittedCommand,
        is_advisory: bool,
        digest_within: Option<usize>,
    ) -> Option<Self> {
        let facts = RunFacts {
            scope: permit.scope()?.id().to_owned(),
            caller: cx.caller.name.clone(),
            preview: clean_preview(cx, command),
            folder: permit.path().shown(),
            is_advisory,
        };
        Some(Self {
            digester: digest_within.map(|room| Digester::for_argv(&telling_words(command)).within(room)),
            recorder: cx.service.processes.keep_run(facts),
            stdout_bytes: 0,
            stderr_bytes: 0,
        })
    }

    /// Takes what was printed.
    pub fn push(&mut self, stream: Stream, bytes: &[u8]) {
        let count = match stream {
            Stream::Stdout => &mut self.stdout_bytes,
            Stream::Stderr => &mut self.stderr_bytes,
        };
        *count += bytes.len() as u64;
        if let Some(digester) = &mut self.digester {
            digester.push(stream, bytes);
        }
        self.recorder.push(stream, bytes);
    }

    /// Creates a process of the command, if that can be.
    ///
    /// # Errors
    /// Those of [`RunRecorder::leave`].
    pub async fn leave(
        self,
        run: Run,
        leaving: ContinuationSettings,
    ) -> Result<CommandContinuation, Failure> {
        let Self { digester, recorder, stdout_bytes, stderr_bytes } = self;
        Ok(match recorder.leave(run, leaving).await? {
            process::ContinuationResult::Process(process, kept) => {
                CommandContinuation::Process(process, kept)
            }
            process::ContinuationResult::Command(command) => {
                let (recorder, run) = *command;
                CommandContinuation::Command(Box::new((
                    Self { digester, recorder, stdout_bytes, stderr_bytes },
                    run,
                )))
            }
        })
    }

    /// Returns the digest, if there is one to give, and keeps the output then. `is_whole` shows whether the output
    /// fits into the answer; then only the output of a known tool is digested.
    pub async fn finish(self, end: RunEnd, is_whole: bool) -> Option<(Digest, RawOutput)> {
        let Self { digester, recorder, stdout_bytes, stderr_bytes } = self;
        let exit_code = end.ended.as_ref().filter(|_| !end.timed_out).and_then(|ended| ended.exit_code);
        let digester = digester?;
        // Little output has no digest: no thread is needed to find that.
        if stdout_bytes + stderr_bytes <= WHOLE_BYTES {
            return None;
        }
        let finish = move || {
            let digest = digester.finish(exit_code).filter(|digest| !is_whole || digest.is_recognised())?;
            // What cannot be kept is given as it is.
            let process_id = recorder.finish(end).ok()?;
            Some((digest, RawOutput { process_id, stdout_bytes, stderr_bytes }))
        };
        tokio::task::spawn_blocking(finish).await.ok()?
    }
}

/// What has become of a command that was to be a process.
pub enum CommandContinuation {
    /// A process, with what was kept of both streams.
    Process(Arc<Process>, [CapturedStream; 2]),
    /// It runs as before, or has ended.
    Command(Box<(Recording, Run)>),
}

/// What prints nothing of its own in a text for bash, and what looks like a command there.
const SILENT: &[&str] = &[
    "", ".", ":", "[", "[[", "}", "case", "cd", "cp", "done", "esac", "exit", "export", "fi", "for", "local",
    "mkdir", "mv", "popd", "pushd", "read", "rm", "set", "shift", "sleep", "source", "test", "touch", "true",
    "unset", "wait",
];

/// Returns the words of the command that says most about what will be printed: the first of the first pipeline that
/// does more than show a text.
fn telling_words(command: &PermittedCommand) -> Vec<&str> {
    let words = |argv| <[String]>::iter(argv).map(String::as_str).collect::<Vec<_>>();
    let plan = command.plan();
    let pipelines = std::iter::once(&plan.first).chain(plan.rest.iter().map(|(_, pipeline)| pipeline));
    let all: Vec<Vec<&str>> = if command.is_for_bash() {
        command
            .commands()
            .map(words)
            .filter(|argv| !argv.first().is_some_and(|it| SILENT.contains(it)))
            .collect()
    } else {
        pipelines.filter_map(|pipeline| pipeline.commands.first()).map(|it| words(&it.argv)).collect()
    };
    let telling = all.iter().find(|argv| !Digester::is_viewer(argv)).or(all.first());
    telling.cloned().unwrap_or_default()
}
