//! The operation trait, and the row that an operation becomes.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use bailiwick_contract::fields::{self, FieldNames};
use bailiwick_contract::{
    CommandInput, CommonOption, CommonOptions, Envelope, Failure, Json, OperationSpec, Threads,
};
use bailiwick_policy::{Candidate, InputPath, Need, ParsedArguments, Permit};
use bailiwick_providers::approval::EffectPreview;

use super::Context;
use super::signature::Signatures;

/// One operation. No default methods: what could be forgotten must be decided.
pub trait Operation: 'static {
    /// Everything that is fixed about it.
    const SPEC: OperationSpec;
    /// The fields of `input`; [`NoFields`] if there are none.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// The operation's own fields of `options`; [`NoFields`] if there are none.
    type Options: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// The `data` of its result.
    type Output: Serialize + JsonSchema;
    /// What of `input` the policy judges; [`JudgedFields::NONE`] if there is nothing.
    const JUDGED: JudgedFields<Self::Input>;
}

/// What the run of an operation ends with.
pub type RunResult<O> = Result<<O as Operation>::Output, Failure>;

/// An operation that calls the disk or works hard: it has a thread of its own.
pub trait RunBlocking: Operation {
    /// Does it. `permit` holds the judged target, paths and limits.
    ///
    /// # Errors
    /// Why it was not done.
    fn run(
        cx: &Context,
        permit: &Permit,
        input: &Self::Input,
        options: &Self::Options,
    ) -> Result<Self::Output, Failure>;
}

/// An operation that waits: it runs on the asynchronous threads, and hands what would hold them up to others.
pub trait RunAsync: Operation {
    /// Whether it begins before the row that says so is on the disk, and has no effect until [`Context::received`] says that
    /// it is.
    const WAITS_FOR_ROW: bool = false;

    /// Does it. `permit` holds the judged target, paths and limits.
    fn run(
        cx: &Context,
        permit: &Permit,
        input: &Self::Input,
        options: &Self::Options,
    ) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// What a preview has shown.
#[derive(Debug)]
pub struct PreviewResult {
    /// What the user sees of it.
    pub shown: EffectPreview,
    /// What has changed, to be taken over once it is approved, or why it cannot be; `None` where the scope does not want that.
    pub changes: Option<Result<Vec<u8>, String>>,
}

/// An operation that can be run once to see what it would do, before the user approves it.
pub trait Preview: RunAsync {
    /// Runs it so that nothing of it stays: without a network, and what it writes is thrown away.
    fn preview(
        cx: &Context,
        permit: &Permit,
        input: &Self::Input,
        options: &Self::Options,
    ) -> impl Future<Output = Result<PreviewResult, Failure>> + Send;
}

/// An operation some of whose fields need a capability that it does not need without them.
pub trait ConditionalNeeds: Operation {
    /// Names what the given fields need; the policy judges it before the operation runs.
    fn needs(input: &Self::Input, options: &Self::Options) -> Vec<Need>;
}

/// An operation whose work can often be done without waiting for anything.
pub trait Attempt: RunBlocking {
    /// Does it if nothing has to be waited for, and nothing speaks against it. `None` says nothing: then
    /// [`RunBlocking::run`] finds out. It runs where others wait, so it takes microseconds.
    fn attempt(
        cx: &Context,
        permit: &Permit,
        input: &Self::Input,
        options: &Self::Options,
    ) -> Option<Self::Output>;
}

/// What of an operation's `input` must be permitted for the call to continue.
pub struct JudgedFields<I> {
    kind: JudgedKind,
    paths: fn(&I) -> Vec<InputPath>,
    command: fn(&I) -> Option<CommandInput>,
    handles: &'static [HandleField],
}

/// A field of `input` in which handles of secrets are replaced by their values.
#[derive(Debug, Clone, Copy)]
pub struct HandleField {
    /// The field.
    pub name: &'static str,
    /// The fields of the objects in it that count; all where there are none.
    pub parts: &'static [&'static str],
    /// What becomes of its texts.
    pub usage: HandleUsage,
}

/// What becomes of a text that may have handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandleUsage {
    /// It is stored in a file.
    Content,
    /// It is a difference, whose lines are stored in files; those that name files have no handles.
    Patch,
    /// It is a word of a command, or a list of them.
    Words,
    /// A program reads it: a variable, standard input, the terminal.
    Input,
}

impl HandleUsage {
    /// Returns the field that a text is of.
    pub const fn of(self, name: &'static str, parts: &'static [&'static str]) -> HandleField {
        HandleField { name, parts, usage: self }
    }
}

/// What of an operation's `input` the policy looks at, besides what the fields need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JudgedKind {
    /// Nothing.
    Nothing,
    /// Paths, in any of the fields.
    Paths,
    /// The field `command`.
    Command,
}

impl<I> JudgedFields<I> {
    /// The `input` holds no path and no command, or the operation judges each for itself.
    pub const NONE: Self =
        Self { kind: JudgedKind::Nothing, paths: |_| Vec::new(), command: |_| None, handles: &[] };

    /// The `input` holds these paths.
    pub const fn paths(paths: fn(&I) -> Vec<InputPath>) -> Self {
        Self { kind: JudgedKind::Paths, paths, ..Self::NONE }
    }

    /// The `input` names this command.
    pub const fn command(command: fn(&I) -> Option<CommandInput>) -> Self {
        Self { kind: JudgedKind::Command, command, ..Self::NONE }
    }

    /// Handles of secrets are replaced in these fields.
    #[must_use]
    pub const fn with_handles(self, handles: &'static [HandleField]) -> Self {
        Self { handles, ..self }
    }
}

/// The type of an `input` or `options` without fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoFields {}

/// The JSON Schemas (draft 2020-12) of an operation's parts, each whole in itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schemas {
    /// Of `input`.
    pub input: Value,
    /// Of the operation's own `options`.
    pub options: Value,
    /// Of `data`.
    pub output: Value,
}

type Parse = fn(&Entry, &Envelope) -> Result<ParsedArguments, Failure>;
/// What an operation becomes that runs on the asynchronous threads.
pub type OperationFuture<'a> = Pin<Box<dyn Future<Output = Result<Json, Failure>> + Send + 'a>>;

/// How an operation runs: its trait says it.
#[derive(Clone, Copy)]
pub enum RunForm {
    /// See [`RunBlocking`].
    Blocking(fn(&Context, &Permit) -> Result<Json, Failure>),
    /// See [`RunAsync`].
    Async(for<'a> fn(&'a Context, &'a Permit) -> OperationFuture<'a>),
}

/// What a preview becomes that runs.
pub type RunningPreview<'a> = Pin<Box<dyn Future<Output = Result<PreviewResult, Failure>> + Send + 'a>>;
type PreviewFunction = for<'a> fn(&'a Context, &'a Permit) -> RunningPreview<'a>;
type AttemptFunction = fn(&Context, &Permit) -> Option<Json>;

/// An operation as a row of its family's table.
pub struct Entry {
    /// Everything that is fixed about it.
    pub spec: &'static OperationSpec,
    /// The operation that this row is another name of, if it is one.
    pub alias_of: Option<&'static str>,
    /// What of `input` the policy looks at.
    pub judged: JudgedKind,
    /// The fields of `input` in which handles of secrets are replaced.
    pub handles: &'static [HandleField],
    parse: Parse,
    /// How it runs.
    pub run: RunForm,
    attempt: Option<AttemptFunction>,
    /// See [`RunAsync::WAITS_FOR_ROW`].
    pub waits_for_row: bool,
    /// How it shows what it would do, if it can.
    pub preview: Option<PreviewFunction>,
    #[cfg(test)]
    schemas: fn() -> Schemas,
    field_names: OnceLock<(FieldNames, FieldNames)>,
    signatures: OnceLock<Signatures>,
}

impl Entry {
    /// Erases an operation with a thread of its own into a row.
    pub const fn blocking<O: RunBlocking>() -> Self {
        const { assert!(matches!(O::SPEC.threads, Threads::Blocking)) };
        Self::row::<O>(const { &O::SPEC }, None, parse::<O>, RunForm::Blocking(run_blocking::<O>), None)
    }

    /// As [`Entry::blocking`], of an operation some of whose fields need further capabilities.
    pub const fn blocking_with_needs<O: RunBlocking + ConditionalNeeds>() -> Self {
        const { assert!(matches!(O::SPEC.threads, Threads::Blocking)) };
        let row = RunForm::Blocking(run_blocking::<O>);
        Self::row::<O>(const { &O::SPEC }, None, parse_with_needs::<O>, row, None)
    }

    /// As [`Entry::blocking`], of an operation that is tried at once before.
    pub const fn tried_at_once<O: Attempt>() -> Self {
        let row = RunForm::Blocking(run_blocking::<O>);
        Self::row::<O>(const { &O::SPEC }, None, parse::<O>, row, Some(attempt::<O>))
    }

    /// Erases an operation on the asynchronous threads into a row.
    pub const fn asynchronous<O: RunAsync>() -> Self {
        const { assert!(matches!(O::SPEC.threads, Threads::Async | Threads::Held)) };
        let run = RunForm::Async(run_async::<O>);
        let mut row = Self::row::<O>(const { &O::SPEC }, None, parse::<O>, run, None);
        row.waits_for_row = O::WAITS_FOR_ROW;
        row
    }

    /// As [`Entry::asynchronous`], of an operation that can show what it would do.
    pub const fn previewed<O: Preview>() -> Self {
        let mut row = Self::asynchronous::<O>();
        row.preview = Some(preview::<O>);
        row
    }

    /// As [`Entry::asynchronous`], of an operation some of whose fields need further capabilities.
    pub const fn asynchronous_with_needs<O: RunAsync + ConditionalNeeds>() -> Self {
        const { assert!(matches!(O::SPEC.threads, Threads::Async | Threads::Held)) };
        Self::row::<O>(const { &O::SPEC }, None, parse_with_needs::<O>, RunForm::Async(run_async::<O>), None)
    }

    /// Creates a row by which an operation can be called by another name: the same in all but name, family and example.
    pub const fn alias<O: RunAsync>(spec: &'static OperationSpec) -> Self {
        Self::row::<O>(spec, Some(O::SPEC.name), parse::<O>, RunForm::Async(run_async::<O>), None)
    }

    const fn row<O: Operation>(
        spec: &'static OperationSpec,
        alias_of: Option<&'static str>,
        parse: Parse,
        run: RunForm,
        attempt: Option<AttemptFunction>,
    ) -> Self {
        const { assert!(O::SPEC.is_whole(), "the operation leaves something out that has no default") };
        Self {
            spec,
            alias_of,
            judged: O::JUDGED.kind,
            handles: O::JUDGED.handles,
            parse,
            run,
            attempt,
            waits_for_row: false,
            preview: None,
            #[cfg(test)]
            schemas: super::derived::schemas::<O>,
            field_names: OnceLock::new(),
            signatures: OnceLock::new(),
        }
    }

    /// Creates the JSON Schemas of the operation's parts: out of its types.
    #[cfg(test)]
    pub fn schemas(&self) -> Schemas {
        (self.schemas)()
    }

    /// Reads the JSON Schemas of the operation's parts.
    #[cfg(not(test))]
    pub fn schemas(&self) -> Schemas {
        super::packed::packed_schemas(self)
    }

    /// Returns the names of the fields of `input` and of `options`, with their schemas; made once.
    pub fn field_names(&self) -> &(FieldNames, FieldNames) {
        self.field_names.get_or_init(|| {
            let Schemas { input, options, .. } = self.schemas();
            (FieldNames::from_schema(input), FieldNames::from_schema(options))
        })
    }

    /// Returns what a call looks like; made once.
    pub(super) fn signatures(&self) -> &Signatures {
        self.signatures.get_or_init(|| Signatures::of(self))
    }

    /// Reads `input` and `options`, to see whether they are of the operation's form.
    ///
    /// # Errors
    /// As [`Candidate::parse`].
    pub fn parses(&self, envelope: &Envelope) -> Result<(), Failure> {
        (self.parse)(self, envelope).map(drop)
    }

    /// Does the operation if nothing has to be waited for.
    pub fn attempt(&self, cx: &Context, permit: &Permit) -> Option<Json> {
        self.attempt.and_then(|attempt| attempt(cx, permit))
    }
}

impl Candidate for Entry {
    fn spec(&self) -> &'static OperationSpec {
        self.spec
    }

    fn canonical_name(&self) -> &'static str {
        self.alias_of.unwrap_or(self.spec.name)
    }

    fn parse(&self, envelope: &Envelope) -> Result<ParsedArguments, Failure> {
        (self.parse)(self, envelope)
    }
}

fn parse<O: Operation>(entry: &Entry, envelope: &Envelope) -> Result<ParsedArguments, Failure> {
    parse_as::<O>(entry, envelope, |_, _| Vec::new())
}

fn parse_with_needs<O: ConditionalNeeds>(
    entry: &Entry,
    envelope: &Envelope,
) -> Result<ParsedArguments, Failure> {
    parse_as::<O>(entry, envelope, O::needs)
}

fn parse_as<O: Operation>(
    entry: &Entry,
    envelope: &Envelope,
    needs: fn(&O::Input, &O::Options) -> Vec<Need>,
) -> Result<ParsedArguments, Failure> {
    let (input_names, option_names) = entry.field_names();
    let common = CommonOptions::read(&envelope.options, O::SPEC.options)?;
    let shared: Vec<&str> = CommonOption::honoured(O::SPEC.options).map(CommonOption::as_str).collect();
    let own = envelope.options.iter().filter(|(name, _)| !shared.contains(&name.as_str()));
    let options: O::Options = fields::parse("options", own, option_names, &shared)?;
    let input: O::Input = fields::parse("input", envelope.input.iter(), input_names, &[])?;
    let (paths, command) = ((O::JUDGED.paths)(&input), (O::JUDGED.command)(&input));
    let needs = needs(&input, &options);
    Ok(ParsedArguments { fields: Box::new((input, options)), paths, needs, command, common })
}

fn attempt<O: Attempt>(cx: &Context, permit: &Permit) -> Option<Json> {
    let (input, options) = permit.fields().downcast_ref::<(O::Input, O::Options)>()?;
    Json::of(&O::attempt(cx, permit, input, options)?).ok()
}

fn parsed<O: Operation>(permit: &Permit) -> &(O::Input, O::Options) {
    permit.fields().downcast_ref().expect("the permit holds what this row parsed")
}

fn run_blocking<O: RunBlocking>(cx: &Context, permit: &Permit) -> Result<Json, Failure> {
    let (input, options) = parsed::<O>(permit);
    answer(&O::run(cx, permit, input, options)?)
}

fn run_async<'a, O: RunAsync>(cx: &'a Context, permit: &'a Permit) -> OperationFuture<'a> {
    let (input, options) = parsed::<O>(permit);
    Box::pin(async move { answer(&O::run(cx, permit, input, options).await?) })
}

fn preview<'a, O: Preview>(cx: &'a Context, permit: &'a Permit) -> RunningPreview<'a> {
    let (input, options) = parsed::<O>(permit);
    Box::pin(O::preview(cx, permit, input, options))
}

fn answer<T: Serialize>(output: &T) -> Result<Json, Failure> {
    Json::of(output).map_err(|error| {
        Failure::new(
            bailiwick_contract::ErrorCode::ExecutionFailed,
            format!("the result has no JSON form: {error}"),
        )
    })
}
