//! The files of `tests/commands/`: Markdown with a fenced block for each command and a list of what is
//! expected below it; written back unchanged but for what a run replaced.
//!
//! A block `line` holds a string as it is, `escaped` a JSON string, `argv` a JSON array. Below it stand
//!
//!     - plan: `["git","status"] | ["head"]`
//!     - verdict everyday: allow
//!
//! `- plan:` is the plan that is recognised, or `refused: CONSTRUCT`, or `malformed`. `- verdict NAME:` is
//! one of [`VERDICTS`] under the rules that a block `policy NAME` of the file gives (the JSON of a
//! scope's policy).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bailiwick::contract::{CommandInput, CommandPlan, Failure, Joiner};
use serde_json::Value;
use support::source::files;

use crate::trials::{TrialFilter, slug};

/// What can become of a command.
pub const VERDICTS: &[&str] = &["allow", "allow in full only", "ask", "ask in full only", "deny"];

/// One command and what is expected of it.
#[derive(Debug, Clone)]
pub struct Case {
    /// The line of its fence, counted from 1.
    pub line: usize,
    /// The heading that it stands below; none for what stands at the top.
    heading: Option<String>,
    /// The command.
    pub input: CommandInput,
    /// What is recognised, as [`written`] writes it.
    pub plan: Option<String>,
    /// The verdict under each named policy.
    pub verdicts: BTreeMap<String, String>,
    /// The line after the fenced block, counted from 0.
    after: usize,
}

/// One file of commands.
#[derive(Debug)]
pub struct CommandFile {
    /// Where it lies.
    pub path: PathBuf,
    /// The policies that it names.
    pub policies: BTreeMap<String, Value>,
    /// Its commands.
    pub cases: Vec<Case>,
    lines: Vec<String>,
}

impl CommandFile {
    /// Reads every file of `tests/commands/`, in the order of their names.
    pub fn all() -> Vec<Self> {
        paths().iter().map(|path| Self::read(path)).collect()
    }

    /// Lists the sections of the files that may be asked for, each with a name for its trial.
    pub fn sections(wanted: &TrialFilter) -> Vec<(String, Section)> {
        let mut sections = BTreeMap::new();
        for path in paths() {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if !wanted.may_be_in(&stem) {
                continue;
            }
            let file = Self::read(&path);
            for case in file.cases {
                let name = case.heading.as_deref().map(|heading| format!("::{}", slug(heading)));
                let name = format!("{stem}{}", name.unwrap_or_default());
                sections.entry(name).or_insert(Section { path: file.path.clone(), heading: case.heading });
            }
        }
        sections.into_iter().collect()
    }

    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a file of commands can be read");
        Self::parse(path, &text).unwrap_or_else(|problem| panic!("{problem}"))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// A sentence with the file and the line.
    pub fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let path = path.to_owned();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut file = Self { path, policies: BTreeMap::new(), cases: Vec::new(), lines };
        let mut heading = None;
        let mut at = 0;
        while at < file.lines.len() {
            if file.lines[at].starts_with("```") {
                at = file.block(at, heading.as_deref())?;
            } else {
                if let Some(title) = file.lines[at].strip_prefix("## ") {
                    heading = Some(title.to_owned());
                }
                if let (Some(item), Some(case)) = (file.lines[at].strip_prefix("- "), file.cases.last_mut()) {
                    expect(case, item)
                        .map_err(|problem| format!("{}:{}: {problem}", file.path.display(), at + 1))?;
                }
                at += 1;
            }
        }
        Ok(file)
    }

    /// Reads the fenced block that begins at a line below a heading; returns the line after it.
    fn block(&mut self, start: usize, heading: Option<&str>) -> Result<usize, String> {
        let wrong = |problem: &str| format!("{}:{}: {problem}", self.path.display(), start + 1);
        let fence: String = self.lines[start].chars().take_while(|&at| at == '`').collect();
        let info = self.lines[start][fence.len()..].trim();
        let length = self.lines[start + 1..]
            .iter()
            .position(|line| *line == fence)
            .ok_or_else(|| wrong("the block is not closed"))?;
        let content = self.lines[start + 1..start + 1 + length].join("\n");
        let after = start + length + 2;
        let json =
            |content: &str| serde_json::from_str::<Value>(content).map_err(|error| wrong(&error.to_string()));
        let input = match info.split_once(' ').unwrap_or((info, "")) {
            ("policy", name) if !name.is_empty() => {
                let policy = json(&content)?;
                self.policies.insert(name.to_owned(), policy);
                return Ok(after);
            }
            ("line", "") => CommandInput::Line(content),
            ("escaped", "") => CommandInput::Line(
                json(&content)?.as_str().ok_or_else(|| wrong("`escaped` holds a JSON string"))?.to_owned(),
            ),
            ("argv", "") => {
                serde_json::from_value(json(&content)?).map_err(|error| wrong(&error.to_string()))?
            }
            _ => return Err(wrong("a block is `line`, `escaped`, `argv` or `policy NAME`")),
        };
        let heading = heading.map(str::to_owned);
        self.cases.push(Case {
            line: start + 1,
            heading,
            input,
            plan: None,
            verdicts: BTreeMap::new(),
            after,
        });
        Ok(after)
    }

    /// Returns where a case stands.
    pub fn place(&self, case: &Case) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        format!("tests/commands/{name}:{}", case.line)
    }

    /// Returns the file's text with what was found, for each case that something was found for.
    pub fn updated(&self, found: &[Option<CommandResult>]) -> String {
        let mut text = String::new();
        let found = self.cases.iter().zip(found).filter_map(|(case, found)| Some((case, found.as_ref()?)));
        let mut next = found.peekable();
        let mut replacing = false;
        let mut at = 0;
        loop {
            if let Some((_, found)) = next.next_if(|(case, _)| case.after == at) {
                text.push_str(&format!("- plan: {}\n", quoted(&found.plan)));
                for (name, verdict) in &found.verdicts {
                    text.push_str(&format!("- verdict {name}: {verdict}\n"));
                }
                replacing = true;
            }
            let Some(line) = self.lines.get(at) else { break };
            at += 1;
            replacing &= line.starts_with("- plan: ") || line.starts_with("- verdict ");
            if !replacing {
                text.push_str(line);
                text.push('\n');
            }
        }
        text
    }
}

/// The paths of the files, in the order of their names.
fn paths() -> Vec<PathBuf> {
    let paths = files("tests/commands").into_iter();
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The commands of a file below one heading.
#[derive(Debug)]
pub struct Section {
    /// The file.
    pub path: PathBuf,
    heading: Option<String>,
}

impl Section {
    /// Reads its file.
    pub fn file(&self) -> CommandFile {
        CommandFile::read(&self.path)
    }

    /// Returns whether a case of its file belongs to it.
    pub fn has(&self, case: &Case) -> bool {
        case.heading == self.heading
    }
}

/// What was found for a case.
#[derive(Debug)]
pub struct CommandResult {
    /// The plan, as [`written`] writes it.
    pub plan: String,
    /// The verdict under each policy of the file; none where no plan was recognised.
    pub verdicts: BTreeMap<String, &'static str>,
}

fn expect(case: &mut Case, item: &str) -> Result<(), String> {
    let (key, value) = item.split_once(": ").ok_or("a list item is `- plan: …` or `- verdict NAME: …`")?;
    match key.split_once(' ') {
        None if key == "plan" => case.plan = Some(unquoted(value)),
        Some(("verdict", name)) if VERDICTS.contains(&value) => {
            case.verdicts.insert(name.to_owned(), value.to_owned());
        }
        _ => return Err(format!("`{item}` is neither a plan nor a verdict")),
    }
    Ok(())
}

/// Puts text into as many backquotes as it needs.
fn quoted(text: &str) -> String {
    let longest = text.split(|at| at != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

fn unquoted(text: &str) -> String {
    let inner = text.trim_matches('`');
    let ticks = (text.len() - inner.len()) / 2;
    let inner = &text[ticks..text.len() - ticks];
    if ticks > 1 { inner.trim().to_owned() } else { inner.to_owned() }
}

/// Writes what was recognised in one line.
pub fn written(plan: &Result<CommandPlan, Failure>) -> String {
    let plan = match plan {
        Ok(plan) => plan,
        Err(failure) => {
            return match failure.details.get("construct").and_then(Value::as_str) {
                Some(construct) => format!("refused: {construct}"),
                None => "malformed".to_owned(),
            };
        }
    };
    let pipeline = |pipeline: &bailiwick::contract::Pipeline| {
        let commands = pipeline.commands.iter().map(|command| {
            let argv = visible(&serde_json::to_string(&command.argv).expect("words become JSON"));
            let redirects = command.redirects.iter().map(|redirect| format!(" {}", redirect.as_str()));
            std::iter::once(argv).chain(redirects).collect::<String>()
        });
        commands.collect::<Vec<_>>().join(" | ")
    };
    let mut text = pipeline(&plan.first);
    for (joiner, next) in &plan.rest {
        let joiner = match joiner {
            Joiner::Then => ";".to_owned(),
            Joiner::And | Joiner::Or => format!(" {}", joiner.as_str()),
        };
        text.push_str(&format!("{joiner} {}", pipeline(next)));
    }
    text
}

/// Escapes what would not be seen in a file.
fn visible(json: &str) -> String {
    let is_invisible = |at: char| matches!(at, '\u{7f}'..='\u{a0}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    json.chars()
        .map(|at| if is_invisible(at) { format!("\\u{:04x}", u32::from(at)) } else { at.to_string() })
        .collect()
}

pub fn text_in_backquotes_is_read_as_it_was_written() {
    for text in ["a", "`", "a`b", "``", "a `` b", "malformed"] {
        assert_eq!(unquoted(&quoted(text)), text);
    }
}
