//! `scope show`: everything about one scope, and what it comes to with all defaults.

use bailiwick_config::{AfterUntrusted, NetworkRule, OtherHosts, PreviewMode, ScopeConfig, ScopePolicy};
use bailiwick_contract::{Failure, ScopeType};
use bailiwick_policy::RootPaths;

use super::super::printer::{Report, labelled, one_line};
use crate::installation::home::Home;
use crate::scope_setup::commands_setup;
use crate::scope_setup::effective::{EffectiveScope, effective};
use crate::scope_setup::grants::{Closure, closure, describe_grants, secret_words};
use crate::scope_setup::output::ScopeShowOutput;
use crate::scope_setup::scope_words::{input_words, place_of, screen_words, type_name, without_values};

/// Shows everything about a scope.
///
/// # Errors
/// `unknown_scope`; or what makes the scope unusable.
pub fn run(home: &Home, id: &str) -> Result<Report, Failure> {
    let config = home.config()?;
    let scope = &config.scopes[place_of(&config, id)?];
    let effective = effective(home, scope, &RootPaths::new(&config.scopes))?;
    // A broken token file is the business of `doctor`.
    let tokens: Vec<String> = home.tokens().map_or_else(
        |_| Vec::new(),
        |tokens| {
            let opens = |ids: &[String]| ids.iter().any(|it| it == "*" || it == id);
            tokens.records().iter().filter(|it| opens(&it.scopes)).map(|it| it.name.clone()).collect()
        },
    );
    let text = text(scope, &effective, &tokens)?;
    Ok(Report::of(text, &ScopeShowOutput { ok: true, scope: without_values(scope), effective, tokens }))
}

/// Returns what else needs approval, a line for each kind, and whether it is shown without a preview.
fn asked_words(policy: &ScopePolicy) -> String {
    let mut lines = Vec::new();
    if !policy.ask_operations.is_empty() {
        lines.push(format!("each time: {}", one_line(&policy.ask_operations.join(", "))));
    }
    if !policy.ask_first_use.is_empty() {
        lines.push(format!("the first time in a session: {}", one_line(&policy.ask_first_use.join(", "))));
    }
    if policy.after_untrusted == AfterUntrusted::Ask {
        lines.push(
            "for a day after a client has read the network, the screen or files that are not trusted: what can send data,\n\
             opens sensitive files or changes another scope"
                .to_owned(),
        );
    }
    if let Some(NetworkRule::Hosts(list)) = &policy.network
        && list.otherwise == OtherHosts::Ask
    {
        lines.push("each host that the scope does not name".to_owned());
    }
    match policy.preview {
        PreviewMode::Show => {}
        PreviewMode::Off => lines.push("without a preview of what a command would do".to_owned()),
        PreviewMode::Commit => {
            lines.push("an approval takes over the changes of a command's preview".to_owned());
        }
    }
    lines.join("\n")
}

fn text(scope: &ScopeConfig, effective: &EffectiveScope, tokens: &[String]) -> Result<String, Failure> {
    let mut lines = vec![("type", type_name(scope).to_owned())];
    let roots: Vec<String> = effective
        .roots
        .iter()
        .map(|root| {
            let shown = one_line(&root.path.display().to_string());
            let name =
                if effective.roots.len() > 1 { format!("{}: ", one_line(&root.name)) } else { String::new() };
            match &root.problem {
                Some(problem) => format!("{name}{shown}\n  NOT SERVED: {}", one_line(problem)),
                None => format!("{name}{shown}"),
            }
        })
        .collect();
    if scope.scope_type == ScopeType::Folder {
        lines.push(("folders", roots.join("\n")));
    }
    lines.extend(describe_grants(scope));
    lines.push((
        "operations",
        format!(
            "{} are open; `bailiwick client tools --scope {}` lists them",
            effective.operations.len(),
            scope.id
        ),
    ));
    if scope.scope_type == ScopeType::Folder {
        let policy = &scope.policy;
        let mut files = "files with secrets (.env, keys, credentials) are closed".to_owned();
        files.push_str(match closure(scope) {
            Closure::Everything => "",
            Closure::Programs => " to file operations and to commands",
            Closure::FileOperations => {
                " to file operations; programs that run here can read them (a full sandbox closes them)"
            }
        });
        if !policy.open_sensitive.is_empty() {
            files.push_str(&format!("\nopen all the same: {}", one_line(&policy.open_sensitive.join(", "))));
        }
        if !policy.closed_files.is_empty() {
            files.push_str(&format!("\nclosed too: {}", one_line(&policy.closed_files.join(", "))));
        }
        if !policy.ask_files.is_empty() {
            files.push_str(&format!("\nneed your approval: {}", one_line(&policy.ask_files.join(", "))));
        }
        if !policy.untrusted_files.is_empty() {
            files.push_str(&format!("\nnot trusted: {}", one_line(&policy.untrusted_files.join(", "))));
        }
        if policy.refuse_hard_links {
            files.push_str("\nfiles with several names (hard links) are refused");
        }
        lines.push(("files", files));
    } else {
        lines.push(("screens", screen_words(scope)));
        lines.extend(input_words(scope).map(|words| ("input", words)));
    }
    if let Some(words) = secret_words(&scope.policy) {
        lines.push(("secrets", words.to_owned()));
    }
    let asked = asked_words(&scope.policy);
    if !asked.is_empty() {
        lines.push(("approval", asked));
    }
    lines.push((
        "limits",
        format!(
            "{} s for one operation, {} bytes for its result",
            effective.max_runtime_seconds, effective.max_output_bytes
        ),
    ));
    let tokens = if tokens.is_empty() {
        "no token".to_owned()
    } else {
        format!("tokens {}", one_line(&tokens.join(", ")))
    };
    lines.push(("opened by", format!("programs that you start on this computer (stdio), and {tokens}")));
    let title = scope.name.as_ref().map(|name| format!(" ({})", one_line(name))).unwrap_or_default();
    let mut text = format!("Scope `{}`{title}\n{}", scope.id, labelled(&lines));
    if let Some(commands) = &effective.commands {
        text.push_str("commands\n");
        text.push_str(&labelled(&commands_setup::describe(scope)?));
        let bound = |bytes: Option<u64>| bytes.map_or("no bound".to_owned(), |it| format!("{} MB", it >> 20));
        let limits = format!(
            "memory {} (each process: {}), {} processes, files of {}\nstarted ones: {} at a time, {} s each, lifetime {}",
            match scope.policy.max_job_memory_megabytes {
                Some(megabytes) => format!("{megabytes} MB"),
                None => "an eighth of the computer's, or 2048 MB if that is more".to_owned(),
            },
            bound(commands.max_memory_bytes),
            commands.max_processes.map_or("any number of".to_owned(), |it| it.to_string()),
            bound(commands.max_file_bytes),
            commands.max_live_processes,
            commands.max_process_seconds,
            commands.process_lifetime.as_str(),
        );
        text.push_str(&labelled(&[("limits", limits)]));
    }
    Ok(text)
}
