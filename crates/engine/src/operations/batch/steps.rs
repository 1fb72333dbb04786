//! The steps of a batch: what is written for one, references to earlier answers, and what an answer has to be.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::registry::Submit;
use bailiwick_contract::{Envelope, Failure, is_success};

/// The key of a reference.
const REFERENCE: &str = "$ref";

/// A request, as a client writes it, and what its answer has to be.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Step {
    /// The operation's name.
    pub op: String,
    /// What its `data` must hold, by paths such as `exitCode` or `files.0.path`: a value, or {`contains`: text}. Without it,
    /// the request must succeed, and a command must exit with 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Map<String, Value>>,
    /// `target`, `input` and `options`, as in a request of its own. {`$ref`: "0.version"} anywhere in them is replaced by a value from
    /// the `data` of an earlier step, counted from 0.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// A step that was read.
#[derive(Debug)]
pub struct PlannedStep {
    /// How errors name it: `steps[0]`.
    pub place: String,
    /// The name of its operation.
    pub op: String,
    request: Value,
    expect: Option<Map<String, Value>>,
}

impl PlannedStep {
    /// Reads a step. `earlier` is how many steps it can refer to.
    ///
    /// # Errors
    /// `invalid_request` that names the step.
    pub fn read(
        step: &Step,
        place: String,
        scope: &str,
        earlier: usize,
        submit: &dyn Submit,
    ) -> Result<Self, Failure> {
        let invalid = |problem: &str| Failure::invalid(&place, format!("`{place}` {problem}"));
        let mut fields = step.fields.clone();
        if fields.get("scope").is_some_and(|it| it != scope) {
            return Err(
                invalid("names another scope: a batch runs in one").hint("Leave `scope` out of steps.")
            );
        }
        fields.insert("op".to_owned(), Value::from(step.op.as_str()));
        fields.insert("scope".to_owned(), Value::from(scope));
        let request = Value::Object(fields);
        let mut problem = None;
        // What is referred to is not known yet; any text will do.
        let sample = replaced(&request, &mut |path| {
            let number = path.split('.').next().and_then(|it| it.parse::<usize>().ok());
            if number.is_none_or(|number| number >= earlier) {
                problem = Some(format!("refers to `{path}`, which is not an earlier step"));
            }
            Some(Value::from("1"))
        });
        if let Some(problem) = problem {
            return Err(invalid(&problem)
                .hint("`$ref` takes the number of an earlier step and a path: \"0.version\"."));
        }
        let read = submit.read(sample.unwrap_or_default()).map_err(|failure| about(failure, &place))?;
        if read.op.starts_with("batch.") {
            return Err(invalid("is a batch; batches cannot be steps"));
        }
        Ok(Self { place, op: read.op, request, expect: step.expect.clone() })
    }

    /// Creates its request, with what earlier steps answered.
    ///
    /// # Errors
    /// `invalid_request` if an answer does not have what is referred to.
    pub fn request(&self, answers: &[Value], submit: &dyn Submit) -> Result<Envelope, Failure> {
        let mut missing = None;
        let request = replaced(&self.request, &mut |path| {
            let (number, rest) = path.split_once('.').unwrap_or((path, ""));
            let answer = number.parse().ok().and_then(|number: usize| answers.get(number));
            let found = answer.and_then(|answer| at(answer, rest)).cloned();
            if found.is_none() {
                missing = Some(path.to_owned());
            }
            found
        });
        match (request, missing) {
            (Some(request), None) => submit.read(request).map_err(|failure| about(failure, &self.place)),
            (_, missing) => {
                let path = missing.unwrap_or_default();
                let problem = format!("`{}` refers to `{path}`, which that answer does not have", self.place);
                Err(Failure::invalid(&self.place, problem))
            }
        }
    }

    /// Returns what is wrong with an answer's data, if anything is.
    pub fn problem(&self, data: &Value) -> Option<String> {
        let Some(expect) = &self.expect else {
            return (!is_success(data)).then(|| match data["exitCode"].as_i64() {
                Some(code) => format!("the command exited with {code}"),
                None => "the command did not end well".to_owned(),
            });
        };
        expect.iter().find_map(|(path, expected)| {
            let found = at(data, path).unwrap_or(&Value::Null);
            let is_met = match expected.get("contains").and_then(Value::as_str) {
                Some(text) => found.as_str().is_some_and(|it| it.contains(text)),
                None => found == expected,
            };
            (!is_met).then(|| format!("`{path}` is {}, not {expected}", clipped(found)))
        })
    }
}

fn about(failure: Failure, place: &str) -> Failure {
    failure.hint(format!("This is about `{place}`; nothing of it was run."))
}

fn clipped(value: &Value) -> Value {
    const MOST: usize = 200;
    match value {
        Value::String(text) if text.len() > MOST => {
            let end = (0..=MOST).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
            json!(format!("{}…", &text[..end]))
        }
        Value::Array(_) | Value::Object(_) => json!("something else"),
        other => other.clone(),
    }
}

/// Finds a value by a path of names and numbers.
fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').filter(|name| !name.is_empty()).try_fold(value, |value, name| match value {
        Value::Array(list) => list.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    })
}

/// Returns a value with each reference replaced; `None` if one has no replacement.
fn replaced(value: &Value, replace: &mut impl FnMut(&str) -> Option<Value>) -> Option<Value> {
    Some(match value {
        Value::Object(fields) => match fields.get(REFERENCE) {
            Some(Value::String(path)) if fields.len() == 1 => replace(path)?,
            _ => {
                let pairs = fields.iter().map(|(name, it)| Some((name.clone(), replaced(it, replace)?)));
                Value::Object(pairs.collect::<Option<_>>()?)
            }
        },
        Value::Array(list) => {
            Value::Array(list.iter().map(|it| replaced(it, replace)).collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}
