//! Finding the script that is meant, and judging the command that it stands for.

use crate::registry::Context;
use bailiwick_contract::{Capability, CommandInput, ErrorCode, Failure, fields};
use bailiwick_policy::Permit;
use bailiwick_policy::command::{Grant, PermittedCommand};
use bailiwick_providers::package::{Script, Scripts, find_scripts};

/// Finds a script of the permit's target by name, and judges its command.
///
/// # Errors
/// `invalid_request`, `not_found` and `conflict` for the name, those of the policy for the command.
pub async fn permitted_script(
    cx: &Context,
    permit: &Permit,
    name: &str,
    runner: Option<&str>,
    arguments: &[String],
) -> Result<PermittedCommand, Failure> {
    if name.is_empty() || name.contains('\0') {
        let problem = if name.is_empty() { "is empty" } else { "contains a NUL, which no name has" };
        return Err(Failure::invalid("input.script", format!("`input.script` {problem}"))
            .hint("package.scripts lists what there is."));
    }
    let (folder, cancel) = (permit.path().clone(), cx.cancel.clone());
    let found =
        tokio::task::spawn_blocking(move || find_scripts(&folder, &cancel)).await.map_err(|error| {
            Failure::new(ErrorCode::ExecutionFailed, format!("the manifests could not be read: {error}"))
        })??;
    let argv = choose(&found, name, runner)?.with_arguments(arguments)?;
    let grant = match permit.capability() {
        Some(Capability::PackageRun) => Grant::Package,
        _ => Grant::Rules,
    };
    permit.judge_command(&CommandInput::Argv(argv), grant)
}

/// Finds the one script that is meant.
fn choose<'a>(found: &'a Scripts, name: &str, runner: Option<&str>) -> Result<&'a Script, Failure> {
    let named: Vec<&Script> = found.list.iter().filter(|script| script.name == name).collect();
    let fitting: Vec<&Script> =
        named.iter().copied().filter(|script| runner.is_none() || script.runner == runner).collect();
    match fitting.as_slice() {
        [] => Err(not_found(found, name, runner, &named)),
        [script] if script.runner.is_none() => Err(Failure::new(
            ErrorCode::NotFound,
            format!("nothing says what runs `{name}` of {}", script.source),
        )
        .hint("A lock file of uv, poetry or pdm says so; else use command.run where the scope allows it.")),
        [script] => Ok(script),
        several => {
            let runners: Vec<&str> = several.iter().filter_map(|script| script.runner).collect();
            Err(Failure::new(ErrorCode::Conflict, format!("several manifests define `{name}`"))
                .detail("runners", runners.clone())
                .hint(format!("Set `input.runner` to one of {}.", runners.join(", "))))
        }
    }
}

fn not_found(found: &Scripts, name: &str, runner: Option<&str>, named: &[&Script]) -> Failure {
    let short: String = name.chars().take(100).collect();
    if let (Some(runner), [first, ..]) = (runner, named) {
        let runners: Vec<&str> = named.iter().filter_map(|script| script.runner).collect();
        return Failure::new(ErrorCode::NotFound, format!("`{short}` is not run by `{runner}`"))
            .detail("runners", runners)
            .hint(format!("It is defined in {}; leave `input.runner` out.", first.source));
    }
    let failure = Failure::new(ErrorCode::NotFound, format!("no manifest in this folder defines `{short}`"));
    let near = fields::nearest(name, found.list.iter().map(|script| script.name.as_str()), 3);
    match near.as_slice() {
        [] if found.list.is_empty() => failure
            .hint("There is no package.json, Cargo.toml, makefile, justfile or pyproject.toml; choose the folder by `target`."),
        [] => failure.hint("package.scripts lists what there is."),
        near => failure.hint(format!("Did you mean {}?", near.join(" or "))),
    }
}
