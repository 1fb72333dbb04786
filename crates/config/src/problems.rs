//! Everything that is wrong in the text of a config, as far as one mistake does not hide another.
//!
//! Reads as strictly as the loader does. What is found wrong is set aside, and the rest is read again; nothing that
//! was read so is ever served.

use std::path::Path;

use serde_json::Value;
use serde_path_to_error::Segment;

use super::load::{broken, check};
use super::{Config, ConfigError};

/// How many mistakes are looked for.
const MAX_PROBLEMS: usize = 100;

/// What is wrong in a config, and what is left of it.
#[derive(Debug)]
pub struct ConfigReport {
    /// The mistakes; none if the text would be accepted.
    pub problems: Vec<ConfigError>,
    /// The config without what is wrong, if anything can be made of the rest.
    pub rest: Option<Config>,
    /// For each scope of the rest: its place among the scopes of the text.
    pub scopes: Vec<usize>,
}

/// A step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(usize),
}

impl Config {
    /// Looks for everything that is wrong in a config's text; `path` is for messages.
    pub fn examine(path: &Path, content: &[u8]) -> ConfigReport {
        let first = match Self::parse(path, content) {
            Ok(config) => {
                let scopes = (0..config.scopes.len()).collect();
                return ConfigReport { problems: Vec::new(), rest: Some(config), scopes };
            }
            Err(error) => error,
        };
        let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        match serde_json::from_slice::<Value>(text) {
            // The older form is read as a whole, or not at all.
            Ok(value) if value.is_object() && value.get("workspaces").is_none() => {
                let mut search = Search { path, value, problems: Vec::new(), set_aside: Vec::new() };
                let rest = search.run();
                let scopes = search.scopes(rest.as_ref().map_or(0, |config| config.scopes.len()));
                let mut problems = search.problems;
                // A field that is there twice is no longer seen in the value.
                if problems.iter().all(|it| it.field != first.field) && first.problem.starts_with("duplicate")
                {
                    problems.insert(0, first);
                }
                ConfigReport { problems, rest, scopes }
            }
            _ => ConfigReport { problems: vec![first], rest: None, scopes: Vec::new() },
        }
    }
}

struct Search<'a> {
    path: &'a Path,
    value: Value,
    problems: Vec<ConfigError>,
    /// What was set aside, by its place in the text.
    set_aside: Vec<Vec<Step>>,
}

impl Search<'_> {
    /// Reads again and again, each time without what was wrong.
    fn run(&mut self) -> Option<Config> {
        for _ in 0..MAX_PROBLEMS {
            let (steps, error) = match serde_path_to_error::deserialize::<_, Config>(self.value.clone()) {
                Err(error) => {
                    let steps = error.path().iter().filter_map(step).collect::<Vec<_>>();
                    let field = written(&self.original(&steps));
                    (steps, broken(self.path, &field, error.inner()))
                }
                Ok(config) => match check(self.path, &config) {
                    Ok(()) => return Some(config),
                    Err(error) => {
                        let steps = parsed(&error.field);
                        let field = written(&self.original(&steps));
                        (steps, ConfigError { place: format!("`{field}`"), field: field.into(), ..error })
                    }
                },
            };
            if !self.repair(steps, error) {
                break;
            }
        }
        None
    }

    /// Notes a mistake and sets aside what is wrong. Returns whether that changed anything.
    fn repair(&mut self, steps: Vec<Step>, error: ConfigError) -> bool {
        let missing = error.problem.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
        let missing = missing.map(str::to_owned);
        let mut at = self.original(&steps);
        if let Some(name) = &missing {
            at.push(Step::Field(name.clone()));
        }
        // What lacks because it was set aside is said already.
        let is_said = self.set_aside.iter().any(|it| it.starts_with(&at));
        if !is_said {
            self.problems.push(ConfigError { field: written(&at).into(), ..error });
        }
        match missing {
            Some(name) => {
                let number = self.set_aside.len();
                self.set_aside.push(at);
                find(&mut self.value, &steps)
                    .and_then(Value::as_object_mut)
                    .map(|fields| fields.insert(name, Value::from(format!("missing-{number}"))))
                    .is_some()
            }
            // The part itself was set aside before, and now the whole around it does not hold.
            None if is_said => {
                let whole: Vec<Step> = steps.iter().take(2).cloned().collect();
                whole.len() == 2 && self.set_aside(&whole)
            }
            None => self.set_aside(&steps),
        }
    }

    fn set_aside(&mut self, steps: &[Step]) -> bool {
        let at = self.original(steps);
        let Some((last, parents)) = steps.split_last() else { return false };
        let removed = match (find(&mut self.value, parents), last) {
            (Some(Value::Object(fields)), Step::Field(name)) => fields.remove(name).is_some(),
            (Some(Value::Array(items)), Step::Index(index)) if *index < items.len() => {
                items.remove(*index);
                true
            }
            _ => false,
        };
        let is_new = !self.set_aside.contains(&at);
        self.set_aside.push(at);
        removed || is_new
    }

    /// Returns the place in the text of what is now at a place in the value: elements before it may have been removed.
    fn original(&self, steps: &[Step]) -> Vec<Step> {
        let mut original: Vec<Step> = Vec::new();
        for step in steps {
            original.push(match step {
                Step::Field(name) => Step::Field(name.clone()),
                Step::Index(index) => Step::Index(self.index_in_text(&original, *index)),
            });
        }
        original
    }

    fn index_in_text(&self, list: &[Step], index: usize) -> usize {
        let mut removed: Vec<usize> = self
            .set_aside
            .iter()
            .filter(|it| it.len() == list.len() + 1 && it.starts_with(list))
            .filter_map(|it| match it.last() {
                Some(Step::Index(index)) => Some(*index),
                _ => None,
            })
            .collect();
        removed.sort_unstable();
        removed.into_iter().fold(index, |index, gone| if gone <= index { index + 1 } else { index })
    }

    fn scopes(&self, count: usize) -> Vec<usize> {
        (0..count).map(|index| self.index_in_text(&[Step::Field("scopes".to_owned())], index)).collect()
    }
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Field(key.clone())),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}

fn find<'v>(value: &'v mut Value, steps: &[Step]) -> Option<&'v mut Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Index(index) => value.get_mut(index),
    })
}

/// Writes a place as messages do: `scopes[0].policy.network`.
fn written(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Field(name) if text.is_empty() => text.push_str(name),
            Step::Field(name) => text.push_str(&format!(".{name}")),
            Step::Index(index) => text.push_str(&format!("[{index}]")),
        }
    }
    text
}

/// Reads a place that [`written`] wrote.
fn parsed(field: &str) -> Vec<Step> {
    let parts = field.split(['.', '[']).filter(|part| !part.is_empty());
    let step = |part: &str| match part.strip_suffix(']').and_then(|number| number.parse().ok()) {
        Some(index) => Step::Index(index),
        None => Step::Field(part.to_owned()),
    };
    parts.map(step).collect()
}

#[cfg(test)]
mod tests {
    use bailiwick_platform::paths::rooted;

    use super::*;

    fn found(text: &str) -> Vec<(String, String)> {
        let examined = Config::examine(Path::new("config.json"), rooted(text).as_bytes());
        examined.problems.into_iter().map(|it| (it.field.into_string(), it.problem)).collect()
    }

    #[test]
    fn every_mistake_is_found_and_none_is_said_twice() {
        let text = r#"{"machineName":"n","port":"x","colour":1,"host":"example.com","scopes":[
            {"id":"a","roots":["/a"],"capabilities":["fs:raed","fs:read","fs:wrote"]},
            {"id":"b"},
            {"roots":["/c"]},
            {"id":"d","roots":["d","/d"],"policy":{"sandbox":"on","maxOutputBytes":5,"allowedCommands":[{"x":1},"npm *"]}},
            {"id":"A","roots":["/e"]}]}"#;
        let mut fields: Vec<String> = found(text).into_iter().map(|(field, _)| field).collect();
        fields.sort();
        assert_eq!(
            fields,
            [
                "colour",
                "host",
                "machineId",
                "port",
                "scopes[0].capabilities[0]",
                "scopes[0].capabilities[2]",
                "scopes[1].roots",
                "scopes[2].id",
                "scopes[3].policy.allowedCommands[0]",
                "scopes[3].policy.maxOutputBytes",
                "scopes[3].policy.sandbox",
                "scopes[3].roots[0]",
                "scopes[4].id",
            ]
        );
    }

    #[test]
    fn what_is_left_keeps_its_places_in_the_text() {
        let text = r#"{"machineId":"m","machineName":"n","scopes":[{"id":"a","roots":[]},7,{"id":"b","roots":["/b"]}]}"#;
        let examined = Config::examine(Path::new("config.json"), rooted(text).as_bytes());
        let fields: Vec<&str> = examined.problems.iter().map(|it| &*it.field).collect();
        assert_eq!(fields, ["scopes[1]", "scopes[0].roots"]);
        assert_eq!((examined.rest.map(|config| config.scopes.len()), examined.scopes), (Some(1), vec![2]));
    }

    #[test]
    fn a_text_in_order_has_no_problem_and_a_broken_one_has_its_first() {
        assert_eq!(found(r#"{"machineId":"m","machineName":"n"}"#), []);
        for text in ["{", "[1]", "", r#"{"machineId":"m","machineName":"n","port":1,"port":2}"#] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
    }
}
