//! The command: looks, tells, fixes, takes back.

use serde_json::Value;

use bailiwick_contract::{Failure, Transport};

use super::super::args::DoctorArgs;
use super::super::printer::{Paint, Printer, Report, one_line, paint, printable};
use super::prove;
use crate::adapters::own_backend::{backend, service_facts};
use crate::diagnosis::backups::undo;
use crate::diagnosis::finding::{CheckState, Finding, Findings};
use crate::diagnosis::look::{Examination, look_and_repair};
use crate::diagnosis::output::{CheckView, Counts, DoctorOutput, UndoOutput};
use crate::diagnosis::repair::Repair;
use crate::diagnosis::service::TIME;
use crate::installation::home::Home;
use crate::installation::runtime;

/// Looks at an installation. Exits 0 if nothing fails, 1 if something does.
///
/// # Errors
/// When a repair cannot be made or taken back; what was changed before stays and can be taken back. Those of
/// [`prove::run`].
pub fn run(home: &Home, printer: Printer, args: &DoctorArgs, verbose: bool) -> Result<Report, Failure> {
    if args.prove {
        return prove::run(home, printer);
    }
    if args.undo {
        return taken_back(home);
    }
    let looked =
        if args.fix && !args.dry_run { look_and_repair(home, asked)? } else { Examination::at(home, asked) };
    Ok(report(&looked.found, &looked.repaired, args, verbose, looked.undo))
}

/// Asks the running service what it is.
///
/// # Errors
/// In words: why it does not answer.
pub fn asked(home: &Home) -> Result<Value, String> {
    let runtime = runtime::small().map_err(|failure| failure.message)?;
    let asked = runtime.block_on(async {
        let answer = async {
            let backend = backend(home, Transport::Cli, None).await.map_err(|failure| failure.message)?;
            if !backend.is_remote() {
                return Err("its socket is not served".to_owned());
            }
            service_facts(&backend, &["service", "status"]).await.map_err(|failure| failure.message)
        };
        let answered = tokio::time::timeout(TIME, answer).await;
        answered.unwrap_or_else(|_| Err(format!("nothing came within {} s", TIME.as_secs())))
    });
    runtime.shutdown_background();
    asked
}

fn taken_back(home: &Home) -> Result<Report, Failure> {
    let paths = undo(&home.dirs.state)?;
    let mut text = "Put back as it was:\n".to_owned();
    for path in &paths {
        text.push_str(&format!("  {}\n", path.display()));
    }
    let output = UndoOutput { ok: true, restored: paths };
    Ok(Report::new(text, serde_json::to_value(&output).expect("an output has a JSON form")))
}

/// Lays out what was found: problems, and with `verbose` also what is valid.
fn report(
    found: &Findings,
    repaired: &[Finding],
    args: &DoctorArgs,
    verbose: bool,
    undo: Option<String>,
) -> Report {
    let count = |standing| found.count(standing);
    let failed = count(CheckState::Fail);
    let mut text = String::new();
    for finding in repaired {
        text.push_str(&format!("{} {}\n", paint(Paint::Good, "fixed"), one_line(&finding.says)));
        text.push_str(&shown(finding.repair.as_ref()));
    }
    if !repaired.is_empty() {
        text.push('\n');
    }
    let mut group = "";
    for finding in found.list().iter().filter(|it| verbose || it.standing != CheckState::Ok) {
        if finding.group != group {
            let gap = if group.is_empty() { "" } else { "\n" };
            group = finding.group;
            text.push_str(&format!("{gap}{group}\n"));
        }
        let mark = match finding.standing {
            CheckState::Ok => paint(Paint::Good, "ok  "),
            CheckState::Warn => paint(Paint::Hint, "warn"),
            CheckState::Fail => paint(Paint::Bad, "FAIL"),
        };
        text.push_str(&format!("  {mark}  {}\n", one_line(&finding.says)));
        if let Some(fix) = &finding.fix {
            let auto = if finding.repair.is_some() { " (`--fix` does it)" } else { "" };
            text.push_str(&format!("        {}{auto}\n", one_line(fix)));
        }
        if args.dry_run {
            text.push_str(&shown(finding.repair.as_ref()));
        }
    }
    if !group.is_empty() {
        text.push('\n');
    }
    let warnings = count(CheckState::Warn);
    let plural = if warnings == 1 { "" } else { "s" };
    text.push_str(&match (failed, warnings) {
        (0, 0) => format!("{} {} checks\n", paint(Paint::Good, "No problems:"), count(CheckState::Ok)),
        _ => format!("{} ok, {warnings} warning{plural}, {failed} failed\n", count(CheckState::Ok)),
    });
    let mendable = found.list().iter().filter(|finding| finding.repair.is_some()).count();
    let output = DoctorOutput {
        ok: failed == 0,
        version: env!("CARGO_PKG_VERSION"),
        counts: Counts { ok: count(CheckState::Ok), warn: count(CheckState::Warn), fail: failed },
        checks: found.list().iter().map(CheckView::with_repair).collect(),
        repaired: repaired.iter().map(CheckView::with_repair).collect(),
        undo,
    };
    let json = serde_json::to_value(&output).expect("an output has a JSON form");
    let mut report = Report { exit: u8::from(failed > 0), ..Report::new(text, json) };
    if !repaired.is_empty() {
        report = report.note("`bailiwick doctor --undo` takes the repairs back.");
    } else if mendable > 0 && args.dry_run {
        report = report.note("Nothing was changed. After each repair doctor looks again: there may be more.");
    } else if mendable > 0 {
        report = report.note("`bailiwick doctor --fix` fixes what is marked; `--fix --dry-run` shows how.");
    }
    report
}

fn shown(repair: Option<&Repair>) -> String {
    let diff = repair.map(Repair::diff).unwrap_or_default();
    diff.lines().map(|line| format!("          {}\n", printable(line))).collect()
}
