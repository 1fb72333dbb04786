//! `uninstall`: removes what Bailiwick has put on this computer, and nothing of the user's own.
//!
//! Only files of names that Bailiwick gives are removed from the config's and the socket's folder; the state folder is removed
//! as a whole, if it has Bailiwick's history. Links are not followed.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_config::Config;
use bailiwick_contract::{ErrorCode, Failure};

use super::args::ConfirmArgs;
use super::args::UninstallArgs;
use super::ask;
use super::client::{added_settings, own_program, remove_added};
use super::home::Home;
use super::printer::{Printer, Report, one_line};
use super::processes::stop_all;
use super::running::{RunningNote, is_running, processes_that_go_on};
use super::service::{installed_file, remove_installed};

/// The names that Bailiwick gives to files beside the config.
const CONFIG_FILES: &[&str] =
    &["config.json", Config::SCHEMA_FILE, "tokens.json", "login-code.json", "login-key", ".lock"];
/// How names of files beside the socket begin.
const RUNTIME_FILES: &[&str] =
    &["bailiwick.sock", "bailiwick.lock", "service.json", "stdio-", "connect.jsonl", "tunnel.json"];
/// By which a state folder is known to be Bailiwick's.
const OF_STATE: &[&str] = &["history.db", "history.key", "history.lock", "history.anchor"];

/// `uninstall`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UninstallOutput {
    /// Always true.
    pub ok: bool,
    /// Whether anything was removed; not with `--dry-run`, and not if you said no.
    pub written: bool,
    /// How many background processes clients started that were running.
    pub processes: usize,
    /// The file of the service, if it was installed.
    pub service: Option<PathBuf>,
    /// The settings files with entries that `client add` wrote.
    pub clients: Vec<PathBuf>,
    /// Files and folders of Bailiwick's own.
    pub data: Vec<PathBuf>,
    /// Whether those were kept.
    pub data_kept: bool,
    /// The program, which stays.
    pub program: Option<PathBuf>,
}

/// Removes it all, or lists it.
///
/// # Errors
/// `conflict` while a service runs that is not to be removed; `approval_required` where nobody can be asked; what a step that
/// fails says: those before it are done.
pub fn run(home: &Home, printer: Printer, args: &UninstallArgs) -> Result<Report, Failure> {
    let mut output = UninstallOutput {
        ok: true,
        written: false,
        processes: processes_that_go_on(home),
        service: installed_file(home),
        clients: added_settings(home)?,
        data: data(home),
        data_kept: args.keep_data,
        program: env::current_exe().ok().map(|path| own_program(&path)),
    };
    if output.service.is_none() && is_running(home) {
        let process = RunningNote::read(&home.dirs)
            .map_or_else(String::new, |note| format!(", as process {}", note.process_id));
        return Err(Failure::new(ErrorCode::Conflict, format!("a service runs{process}"))
            .hint("End it first: Ctrl-C in its terminal."));
    }
    let list = listed(&output, args.keep_data);
    if args.dry_run {
        return Ok(Report::of(format!("Would remove:\n{list}{}", left(&output)), &output));
    }
    if !args.yes {
        if !ask::is_possible(printer) {
            return Err(Failure::new(
                ErrorCode::ApprovalRequired,
                "nothing was removed: there is no terminal to ask at",
            )
            .hint("`--dry-run` lists what would be removed; `--yes` removes it without asking."));
        }
        printer.talk(&format!("This is removed:\n{}", list.trim_end()));
        if !ask::yes(printer, "Remove it?")? {
            return Ok(Report::of("Left as it was.\n", &output));
        }
        if !args.keep_data && !output.data.is_empty() {
            let question =
                "Remove config, tokens, history and earlier versions of files too? They cannot be restored.";
            output.data_kept = !ask::yes(printer, question)?;
        }
    }
    let mut text = String::new();
    if output.processes > 0 {
        text.push_str(&stop_all(home)?.text);
    }
    if let Some(report) = remove_installed(home)? {
        text.push_str(&report.text);
    }
    if !output.clients.is_empty() {
        text.push_str(&remove_added(home, printer, ConfirmArgs { dry_run: false, yes: true })?.text);
    }
    if !output.data_kept {
        for path in &output.data {
            remove(path).map_err(|error| not_removed(path, &error))?;
            text.push_str(&format!("Removed {}.\n", shown(path)));
        }
        for folder in [&home.dirs.runtime, &home.dirs.config] {
            // One that has anything else in it stays.
            let _ = fs::remove_dir(folder);
        }
    }
    output.written = true;
    text.push_str(&left(&output));
    Ok(Report::of(text, &output))
}

/// Returns the files and folders of Bailiwick's own.
fn data(home: &Home) -> Vec<PathBuf> {
    let dirs = &home.dirs;
    let is_file = |path: &PathBuf| path.symlink_metadata().is_ok_and(|facts| !facts.is_dir());
    let mut all = Vec::new();
    // What is beside a config that `--config` names can be another one's.
    if home.config_is_named {
        all.push(home.config_path.clone());
    } else {
        all.extend(CONFIG_FILES.iter().map(|name| dirs.config.join(name)));
    }
    let entries = fs::read_dir(&dirs.runtime).into_iter().flatten().flatten();
    all.extend(entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        RUNTIME_FILES.iter().any(|front| name.starts_with(front))
    }));
    all.retain(is_file);
    let is_folder = dirs.state.symlink_metadata().is_ok_and(|facts| facts.is_dir());
    if is_folder && OF_STATE.iter().any(|name| dirs.state.join(name).is_file()) {
        all.retain(|path| !path.starts_with(&dirs.state));
        all.push(dirs.state.clone());
    }
    all
}

fn remove(path: &Path) -> io::Result<()> {
    let removed =
        if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn not_removed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::ExecutionFailed, format!("{} cannot be removed: {error}", shown(path)))
        .hint("Close AI clients that use Bailiwick, and run it again.")
}

fn listed(output: &UninstallOutput, keep_data: bool) -> String {
    let mut text = String::new();
    let mut add = |label: &str, what: String| text.push_str(&format!("  {label:<10} {what}\n"));
    if output.processes > 0 {
        add("processes", format!("{} that clients started", output.processes));
    }
    if let Some(file) = &output.service {
        add("service", shown(file));
    }
    output
        .clients
        .iter()
        .for_each(|file| add("client", format!("the entry `client add` wrote into {}", shown(file))));
    if !keep_data {
        output.data.iter().for_each(|path| add("data", shown(path)));
    }
    if text.is_empty() { "  nothing\n".to_owned() } else { text }
}

fn left(output: &UninstallOutput) -> String {
    let program = output.program.as_ref().map_or_else(|| "the program".to_owned(), |path| shown(path));
    format!("Your files stay. So does {program}: remove it the way you installed it.\n")
}

fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_bailiwicks_names_are_its_own() {
        let folder =
            env::temp_dir().join(format!("bailiwick-uninstall-{}", bailiwick_contract::id::new_id()));
        let dirs = bailiwick_platform::dirs::Dirs::below(folder.clone());
        let home = Home::in_dirs(dirs.clone(), None).expect("a home");
        for of in [&dirs.config, &dirs.state, &dirs.runtime] {
            fs::create_dir_all(of).expect("made");
            fs::write(of.join("notes.txt"), "mine").expect("written");
        }
        assert_eq!(
            data(&home),
            Vec::<PathBuf>::new(),
            "a state folder without a history is not known to be Bailiwick's"
        );
        fs::write(dirs.config.join("tokens.json"), "[]").expect("written");
        fs::write(dirs.runtime.join("service.json"), "{}").expect("written");
        fs::write(dirs.state.join("history.db"), "").expect("written");
        let expected =
            [dirs.config.join("tokens.json"), dirs.runtime.join("service.json"), dirs.state.clone()];
        assert_eq!(data(&home), expected);
        let named = Home::in_dirs(dirs.clone(), Some(&dirs.config.join("other.json"))).expect("a home");
        assert_eq!(data(&named), Vec::<PathBuf>::new(), "what is beside a named config is another one's");
        fs::remove_dir_all(folder).expect("removed");
    }
}
