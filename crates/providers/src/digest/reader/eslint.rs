//! What ESLint prints in its usual format, `stylish`.

use super::super::facts::{Counts, DigestItem, Facts, Tool};
use super::super::place;
use super::router::{LineOwner, Reader};

/// The reader.
#[derive(Debug)]
pub struct Eslint {
    facts: Facts,
    /// The last line that may be the file of the lines below it.
    file: Option<String>,
    errors: u64,
    warnings: u64,
    ended: bool,
}

impl Eslint {
    /// At the beginning of a stream.
    pub fn new() -> Self {
        Self { facts: Facts::of(Tool::Eslint), file: None, errors: 0, warnings: 0, ended: false }
    }

    fn problem(&mut self, line: &str) -> Option<()> {
        let file = self.file.as_ref()?;
        let (at, rest) = place::number(line.trim_start())?;
        let (column, rest) = place::number(rest.strip_prefix(':')?)?;
        let rest = rest.trim_start();
        let is_error = rest.starts_with("error  ");
        let rest = rest.strip_prefix("error  ").or_else(|| rest.strip_prefix("warning  "))?.trim();
        let found = DigestItem::saying(
            &rest.split("  ").filter(|part| !part.is_empty()).map(str::trim).collect::<Vec<_>>().join(" · "),
        );
        let found = found.at(file, at, Some(column));
        if is_error {
            self.errors += 1;
            self.facts.failures.push(found);
        } else {
            self.warnings += 1;
            self.facts.warnings.push(found);
        }
        Some(())
    }

    /// `✖ 3 problems (2 errors, 1 warning)`.
    fn end(&mut self, line: &str) -> Option<()> {
        let (_, rest) = place::number(line.strip_prefix("✖ ")?)?;
        let told = rest.strip_prefix(" problems (").or_else(|| rest.strip_prefix(" problem ("))?;
        let errors = place::count_of(told, "errors").or_else(|| place::count_of(told, "error"))?;
        let warnings = place::count_of(told, "warnings").or_else(|| place::count_of(told, "warning"))?;
        if errors != self.errors || warnings != self.warnings {
            self.facts.doubt("other numbers of problems in the list and at the end");
        }
        (self.errors, self.warnings) = (0, 0);
        self.facts.seen = true;
        self.facts.ended = true;
        self.facts.declare(errors);
        self.facts.summarize(line.trim_start_matches("✖ "));
        self.facts.counts.add(Counts { errors: Some(errors), warnings: Some(warnings), ..Counts::default() });
        self.ended = true;
        self.file = None;
        Some(())
    }
}

impl Reader for Eslint {
    fn line(&mut self, line: &str) -> LineOwner {
        match line.as_bytes().first() {
            Some(b' ') => {
                if self.problem(line).is_some()
                    || (self.ended && line.contains(" potentially fixable with the `--fix`"))
                {
                    return LineOwner::Line;
                }
                LineOwner::Pass
            }
            Some(b'/') => {
                self.file = Some(line.to_owned());
                LineOwner::Pass
            }
            Some(0xe2) if self.end(line).is_some() => LineOwner::Line,
            Some(b'A'..=b'Z') if line.as_bytes().get(1) == Some(&b':') => {
                self.file = Some(line.to_owned());
                LineOwner::Pass
            }
            _ => LineOwner::Pass,
        }
    }

    fn finish(self: Box<Self>) -> Facts {
        let mut facts = self.facts;
        if self.errors + self.warnings > 0 {
            facts.doubt("the output breaks off");
        }
        facts
    }
}
