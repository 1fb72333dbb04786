//! `app.open`: open a file or an address with the program that is set for it, on a private display.

use std::collections::BTreeMap;

use crate::registry::prelude::*;
use bailiwick_contract::{CommandInput, ErrorCode, RawPath};
use bailiwick_platform::fs::FileKind;
use bailiwick_policy::command::Grant;
use bailiwick_policy::{InputPath, PermittedPath};
use bailiwick_providers::display::LaunchedProgram;
use bailiwick_providers::handlers::{Handler, HandlerError, Handlers};

use super::super::display::owner;
use super::launch::start;
use crate::programs::{Options, ProcessStart};

/// The operation.
pub struct Op;

/// The longest address, in bytes.
const LONGEST: usize = 4_000;

/// What to open: `path` or `url`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Input {
    /// A file or folder of the scope.
    #[serde(default)]
    pub path: Option<RawPath>,
    /// An address that begins with `http://` or `https://`.
    #[serde(default)]
    pub url: Option<String>,
    /// The display, from display.list; default your first one.
    #[serde(default)]
    pub display: Option<String>,
    /// A name for process.list, at most 100 characters.
    #[serde(default)]
    pub label: Option<String>,
}

/// The program that was started.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The name of the program's file among the applications of the system.
    pub handler: String,
    /// The type that it is set for.
    pub mime_type: String,
    /// The process, as app.launch returns it.
    #[serde(flatten)]
    pub process: ProcessStart,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "app.open",
        summary: "Open a file or an address with its program on a private display",
        details: "The program is the one that the system is set up to open the type with (freedesktop.org), found by the name of \
                  the file. It is judged and started as if app.launch had named it, and `path` as file.read judges it.",
        capabilities: &[&[Capability::CommandRun], &[Capability::AppControl], &[Capability::FsRead]],
        effect: Effect::RunsCode,
        target: TargetRule::PathOrRoot(Access::Write),
        scope: ScopeNeed::FOLDER,
        platforms: &["linux"],
        options: &[CommonOption::DryRun],
        threads: Threads::Async,
        audited_fields: &["path", "display", "label", "maxRunSeconds", "timeoutSeconds", "dryRun"],
        example: r#"{"op":"app.open","input":{"path":"report.html"}}"#,
        ..OperationSpec::USUAL
    };
    type Input = Input;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<Input> = JudgedFields::paths(|input| {
        let path = input.path.iter().cloned();
        path.map(|path| InputPath { field: "input.path", path, access: Access::Read }).collect()
    });

    // Which command it is comes out of the system's settings; `Permit::judge_command` judges it then.
}

impl RunAsync for Op {
    async fn run(cx: &Context, permit: &Permit, input: &Input, options: &Options) -> Result<Output, Failure> {
        let display = cx.service.private_displays.get(&owner(cx, permit)?, input.display.as_deref())?;
        let path = permit.input_paths().first().cloned();
        let url = input.url.clone();
        let found = tokio::task::spawn_blocking(move || handler(path, url)).await.map_err(|error| {
            Failure::new(ErrorCode::ExecutionFailed, format!("the program could not be found: {error}"))
        })?;
        let Handler { name, mime_type, mut command } = found?;
        // Programs are looked up by their names on the scope's search path, also one that the system names with its folder.
        if let Some(program) = command.first_mut() {
            *program = program.rsplit('/').next().unwrap_or_default().to_owned();
        }
        let program = LaunchedProgram {
            command: CommandInput::Argv(command),
            environment: BTreeMap::new(),
            label: input.label.clone(),
        };
        let command = permit.judge_command(&program.command, Grant::Rules)?;
        let process = start(cx, permit, &display, command, program, options).await?;
        Ok(Output { handler: name, mime_type, process })
    }
}

/// Finds what opens a path or an address.
fn handler(path: Option<PermittedPath>, url: Option<String>) -> Result<Handler, Failure> {
    let handlers = Handlers::of_system();
    let (found, field) = match (path, url) {
        (Some(path), None) => {
            let path = path.follow()?;
            let is_folder = path.stat()?.kind == FileKind::Dir;
            let path = path.on_disk()?.into_os_string().into_string();
            let path = path.map_err(|_| Failure::invalid("input.path", "the path is not UTF-8"))?;
            (handlers.for_path(&path, is_folder), "input.path")
        }
        (None, Some(url)) => (handlers.for_url(scheme(&url)?, &url), "input.url"),
        _ => {
            return Err(Failure::invalid("input", "give either `path` or `url`")
                .hint("`path` is a file of the scope, `url` an address that begins with https://."));
        }
    };
    found.map_err(|error| {
        let hint = match error {
            HandlerError::NeedsTerminal(_) => "process.start with a terminal runs such programs.",
            HandlerError::UnknownType | HandlerError::None(_) => "app.launch starts a program that you name.",
        };
        Failure::new(ErrorCode::NotFound, error.to_string()).detail("field", field).hint(hint)
    })
}

/// Returns the scheme of an address.
fn scheme(url: &str) -> Result<&'static str, Failure> {
    let has = |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    let scheme = if has("https://") {
        "https"
    } else if has("http://") {
        "http"
    } else {
        ""
    };
    let is_word = url.len() <= LONGEST && url.bytes().all(|byte| byte.is_ascii_graphic());
    if scheme.is_empty() || !is_word {
        return Err(Failure::invalid(
            "input.url",
            "`url` begins with http:// or https:// and is one word of ASCII",
        )
        .hint("For a file of the scope use `path`."));
    }
    Ok(scheme)
}
