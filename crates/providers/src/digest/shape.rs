//! A digest as it is given: typed, and as text.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::facts::Counts;

/// What a tool's output says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Digest {
    /// The tools whose output it is, such as `cargo test` or `make, gcc`; `text` if it is of no known form.
    pub tool: String,
    /// The tools' own last lines.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub summary: String,
    /// How many of each, as far as the output says so.
    #[serde(skip_serializing_if = "is_nothing")]
    pub counts: Counts,
    /// What failed: every failing test and every error, with as many of their messages as fit. Those of one file stand
    /// together where there are many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// How many failures are not in the list, if any.
    #[serde(skip_serializing_if = "is_zero")]
    pub failures_left_out: u64,
    /// The warnings, where there is room for all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Failure>,
    /// Of what the tools' forms do not explain, the beginning and the end, with lines that repeat folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What failed, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// The name of the test, or of a target of make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file, as the output names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column in the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// What is wrong.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Where a template is used that the error is in, as `FILE:LINE:COLUMN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub required_from: Option<String>,
    /// Further ones in the same file; a message is that of all of them. With names: each `LINE NAME`, or the name alone where the line is not known.
    /// Without: `LINE` or `LINE:COLUMN` with spaces between, or `LINE-LINE` for each of these lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// What `~` at the beginning of a name in `also` stands for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

impl Digest {
    /// Returns whether the form of the output is known.
    pub fn is_recognised(&self) -> bool {
        self.tool != "text"
    }
}

/// For people: the summary, then a line for each failure.
impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_recognised() {
            writeln!(out, "{}: {}", self.tool, self.summary)?;
        }
        for failure in &self.failures {
            writeln!(out, "{failure}")?;
        }
        if self.failures_left_out > 0 {
            writeln!(out, "… and {} more", self.failures_left_out)?;
        }
        if !self.warnings.is_empty() {
            writeln!(out, "warnings:")?;
        }
        for warning in &self.warnings {
            writeln!(out, "{warning}")?;
        }
        match &self.text {
            Some(text) => out.write_str(text),
            None => Ok(()),
        }
    }
}

/// `file:line:column: name: message`.
impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(file) = &self.file {
            let mut place = file.clone();
            for number in [self.line, self.column].into_iter().flatten() {
                place.push_str(&format!(":{number}"));
            }
            parts.push(place);
        }
        parts.extend(self.name.clone());
        if !self.message.is_empty() {
            parts.push(self.message.clone());
        }
        out.write_str(&parts.join(": "))?;
        if let Some(place) = &self.required_from {
            write!(out, " (required from {place})")?;
        }
        for also in &self.also {
            match (&self.prefix, also.split_once('~')) {
                (Some(prefix), Some((line, rest)))
                    if line.trim_end().bytes().all(|byte| byte.is_ascii_digit()) =>
                {
                    write!(out, "\n  also {line}{prefix}{rest}")?;
                }
                _ => write!(out, "\n  also {also}")?,
            }
        }
        Ok(())
    }
}

fn is_nothing(counts: &Counts) -> bool {
    *counts == Counts::default()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
