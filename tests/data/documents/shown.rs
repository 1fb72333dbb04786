//! What a guide shows was printed: its blocks `console` are run, line by line, and compared.
//!
//! A page is one terminal from its top to its end. Blocks `bash` are run too, and must succeed; `sh` is not run. Comments of HTML, which readers do not see, say what else happens:
//! `<!-- fresh -->` begins anew, `<!-- run: COMMAND -->` runs a command, `<!-- service -->` starts the service. In what is shown, `…` stands
//! for any text of a line, and alone on a line for any lines. A table with the heads `request` and `verdict` is held against
//! `bailiwick policy explain`. `UPDATE=1` writes what was printed where it differs.

use libtest_mimic::Trial;
use regex::Regex;
use serde_json::Value;
use support::needs::lacks_full_sandbox;
use support::source::{files, repository, shown_path};
use support::update::{is_updating, update};

use super::markdown::Page;
use super::terminal::Terminal;
use crate::trials::TrialFilter;

/// What a page asks for, with the lines that it covers.
#[derive(Debug)]
enum Step {
    Fresh,
    Service,
    Run(String),
    /// What is typed, and what is printed; the lines of the latter, counted from 0.
    Show {
        typed: String,
        lines: std::ops::Range<usize>,
    },
    /// A request, and the verdict on it.
    Verdict {
        request: String,
        verdict: String,
        line: usize,
    },
}

fn steps(lines: &[&str]) -> Vec<Step> {
    let comment = Regex::new(r"^<!-- (fresh|service|run: (.*)) -->$").expect("a good pattern");
    let row = Regex::new(r"^\| `([^`]+)` \| ([^|]+) \|$").expect("a good pattern");
    let mut steps = Vec::new();
    let mut is_session = false;
    let mut is_script = false;
    let mut is_table = false;
    for (at, line) in lines.iter().enumerate() {
        if is_session {
            if *line == "```" {
                is_session = false;
            } else if let Some(typed) = line.strip_prefix("$ ") {
                steps.push(Step::Show { typed: typed.to_owned(), lines: at + 1..at + 1 });
            } else if let Some(Step::Show { typed, lines }) = steps.last_mut() {
                if lines.start == lines.end && typed.ends_with('\\') {
                    typed.pop();
                    typed.push_str(line.trim_start());
                    *lines = at + 1..at + 1;
                } else {
                    lines.end = at + 1;
                }
            }
        } else if is_script {
            if *line == "```" {
                is_script = false;
            } else {
                steps.push(Step::Run((*line).to_owned()));
            }
        } else if *line == "```console" {
            is_session = true;
        } else if *line == "```bash" {
            is_script = true;
        } else if let Some(found) = comment.captures(line) {
            steps.push(match (&found[1], found.get(2)) {
                (_, Some(command)) => Step::Run(command.as_str().to_owned()),
                ("fresh", None) => Step::Fresh,
                _ => Step::Service,
            });
        } else if line.starts_with("| request | verdict |") {
            is_table = true;
        } else if !line.starts_with('|') {
            is_table = false;
        } else if let Some(found) = row.captures(line).filter(|_| is_table) {
            steps.push(Step::Verdict {
                request: found[1].to_owned(),
                verdict: found[2].trim().to_owned(),
                line: at,
            });
        }
    }
    steps
}

/// Returns whether a text is what is shown, whose `…` stand for anything.
fn matches(shown: &str, printed: &str) -> bool {
    let pattern: String = shown
        .lines()
        .map(|line| match line {
            "…" => r"(?:[^\n]*\n)*".to_owned(),
            line => format!("{}\n", line.split('…').map(regex::escape).collect::<Vec<_>>().join(r"[^\n]*")),
        })
        .collect();
    Regex::new(&format!("^{pattern}$")).is_ok_and(|pattern| pattern.is_match(printed))
}

/// Returns the verdict of `policy explain` in the words of the documents.
fn verdict(told: &Value) -> String {
    if let Some(verdict) = told["verdict"].as_str() {
        return verdict.to_owned();
    }
    let refused = told["stages"].as_array().into_iter().flatten().find(|stage| stage["verdict"] == "refused");
    match (told["permitted"].as_bool(), refused) {
        (Some(true), _) => "allow".to_owned(),
        (_, Some(stage)) if stage["stage"] == "approval" => "ask".to_owned(),
        (_, Some(stage)) => format!("deny, at `{}`", stage["stage"].as_str().unwrap_or_default()),
        _ => format!("not told: {told}"),
    }
}

/// Runs a page; gives what differs, and the page as it would be true.
fn run(page: &Page) -> (Vec<String>, String) {
    let lines: Vec<&str> = page.text.lines().collect();
    let mut terminal: Option<Terminal> = None;
    let mut problems = Vec::new();
    let mut changes: Vec<(std::ops::Range<usize>, Vec<String>)> = Vec::new();
    for step in steps(&lines) {
        if matches!(step, Step::Fresh) {
            terminal = None;
            continue;
        }
        let terminal = terminal.get_or_insert_with(Terminal::new);
        match step {
            Step::Fresh => {}
            Step::Service => terminal.serve(),
            Step::Run(command) => {
                terminal.do_it(&command);
            }
            Step::Show { typed, lines: at } => {
                let (printed, _) = terminal.run(&typed);
                let shown: String = lines[at.clone()].iter().map(|line| format!("{line}\n")).collect();
                if !matches(&shown, &printed) {
                    problems.push(format!("{}:{}: `{typed}` prints\n{printed}", page.path, at.start));
                    changes.push((at, printed.lines().map(|line| line.trim_end().to_owned()).collect()));
                }
            }
            Step::Verdict { request, verdict: expected, line } => {
                // An operation stands with its target and fields, a command with its words.
                let is_operation =
                    request.split(' ').next().is_some_and(|it| it.contains('.') && !it.contains('/'));
                let asked = if is_operation {
                    request.clone()
                } else {
                    format!("'{}'", request.replace('\'', r"'\''"))
                };
                let (told, _) = terminal.run(&format!("bailiwick policy explain {asked} --json"));
                let told: Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{request}: {told}"));
                let verdict = verdict(&told);
                if verdict != expected {
                    problems.push(format!("{}:{}: `{request}` is {verdict}", page.path, line + 1));
                    changes.push((line..line + 1, vec![format!("| `{request}` | {verdict} |")]));
                }
            }
        }
    }
    let mut text: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    for (at, new) in changes.into_iter().rev() {
        text.splice(at, new);
    }
    (problems, format!("{}\n", text.join("\n")))
}

/// Pages that show what is so in a full sandbox.
const NEED_SANDBOX: &[&str] = &["docs/guides/troubleshooting.md"];

/// The trials: each page that shows a terminal or verdicts.
pub fn trials(wanted: &TrialFilter) -> Vec<Trial> {
    let mut trials =
        trials![the_guides_are_found, dots_stand_for_text_and_for_lines_and_nothing_else_differs];
    trials.extend(each![what_the_guides_show_was_printed; guides(wanted)]);
    trials
}

/// Lists the pages, each with a name: `guides/cookbook`.
fn guides(wanted: &TrialFilter) -> Vec<(String, Page)> {
    let paths =
        ["docs/guides", "docs/clients", "docs/concepts", "docs/tutorials"].into_iter().flat_map(files);
    let pages = paths.map(|path| shown_path(&path)).filter(|path| path.ends_with(".md"));
    let pages = pages.filter_map(|path| {
        let name = path.trim_start_matches("docs/").trim_end_matches(".md").to_owned();
        wanted.may_be_in(&name).then(|| (name, Page::read(&path)))
    });
    let has_steps =
        |page: &Page| page.text.contains("\n```console\n") || page.text.contains("\n| request | verdict |\n");
    pages.filter(|(_, page)| has_steps(page)).collect()
}

fn the_guides_are_found() {
    let guides = guides(&TrialFilter { name: None });
    assert!(guides.len() > 3, "{} guides were found", guides.len());
}

fn what_the_guides_show_was_printed(page: &Page) {
    if NEED_SANDBOX.contains(&page.path.as_str()) && lacks_full_sandbox() {
        return;
    }
    let (differing, text) = run(page);
    if is_updating() {
        // Each page has one trial.
        update(
            &repository().join(&page.path),
            |old| if differing.is_empty() { old.to_owned() } else { text },
        );
        return;
    }
    assert!(
        differing.is_empty(),
        "UPDATE=1 cargo test --test data documents::shown, and read the diff:\n{}",
        differing.join("\n")
    );
}

fn dots_stand_for_text_and_for_lines_and_nothing_else_differs() {
    assert!(matches("a … c\n…\nd\n", "a b c\nx\ny\nd\n"));
    assert!(matches("a\n…\n", "a\n"));
    assert!(matches("", ""));
    assert!(!matches("a … c\n", "a b d\n"));
    assert!(!matches("a\n", "a\nb\n"));
    let page = "<!-- run: x -->\n```console\n$ a \\\n  b\nc\n```\n\n| request | verdict |\n| --- | --- |\n| `ls` | ask |\n";
    let steps = steps(&page.lines().collect::<Vec<_>>());
    assert!(
        matches!(&steps[..], [Step::Run(_), Step::Show { typed, lines }, Step::Verdict { line: 9, .. }]
        if typed == "a b" && *lines == (4..5)),
        "{steps:?}"
    );
}
