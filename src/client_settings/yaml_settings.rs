//! Settings in YAML: edited in their syntax tree, so that all else stays as it is.

use std::str::FromStr;

use serde_json::{Map, Value, json};
use yaml_edit::{Document, Mapping, MappingBuilder, ScalarType, ScalarValue, Sequence, SequenceBuilder};
use yaml_edit::{YamlError, YamlFile, YamlNode, YamlValue};

use super::entry::{Entry, Likeness};
use super::kind::{ClientFacts, CommandForm};
use super::settings::{FirstEdit, Problem};

/// The field by which the entries of a list are told apart.
const NAME: &str = "name";

/// Reads the text as a value. Servers that are a list are given by name.
pub fn value(text: &str, container: &str) -> Result<Value, Problem> {
    let Some(document) = document(&parse(text)?)? else { return Ok(json!({})) };
    let value = YamlValue::from_document(&document).map_err(|error| Problem::Shape(error.to_string()))?;
    let mut value = as_json(&value);
    let top = match &mut value {
        Value::Null => return Ok(json!({})),
        Value::Object(top) => top,
        _ => return Err(Problem::Shape("the file contains no mapping".to_owned())),
    };
    match top.get_mut(container) {
        Some(Value::Null) => drop(top.remove(container)),
        Some(servers @ Value::Array(_)) => *servers = by_name(servers.take())?,
        _ => {}
    }
    Ok(value)
}

/// Returns the comments, sorted: an edit may move one, and must lose none.
pub fn comments(text: &str) -> Result<Vec<String>, Problem> {
    let mut found: Vec<String> = parse(text)?.comments().map(|it| it.text().trim_end().to_owned()).collect();
    found.sort();
    Ok(found)
}

/// Puts an entry in, or makes the one that is there right.
pub fn put(text: &str, facts: &ClientFacts, name: &str, entry: &Entry) -> Result<String, Problem> {
    let before = value(text, facts.container)?;
    let there = &before[facts.container][name];
    let is_new = there.is_null();
    let text = if is_new && before.get(facts.container).is_none() {
        appended(text, facts, name)?
    } else {
        text.to_owned()
    };
    let file = parse(&text)?;
    let servers = servers(&file, facts.container)?.ok_or(Problem::Loss)?;
    let fields = match servers.find(name) {
        Some(fields) => fields,
        None => servers.add(name).ok_or(Problem::Loss)?,
    };
    for field in entry.superfluous(there) {
        fields.remove(field.as_str());
    }
    for (field, wanted) in entry.wrong(there) {
        set(&fields, field, wanted, there.get(field));
    }
    let edited = file.to_string();
    let after = value(&edited, facts.container).map_err(|_| Problem::Loss)?;
    match entry.compare(&after[facts.container][name]) {
        Likeness::Right => Ok(edited),
        Likeness::Stale | Likeness::Foreign => Err(Problem::Loss),
    }
}

/// Takes an entry out.
pub fn take_out(text: &str, container: &str, name: &str, made: &FirstEdit) -> Result<String, Problem> {
    let file = parse(text)?;
    let Some(servers) = servers(&file, container)? else { return Ok(text.to_owned()) };
    if !servers.remove(name) {
        return Ok(text.to_owned());
    }
    if made.container
        && servers.is_empty()
        && let Some(top) = document(&file)?.and_then(|it| it.as_mapping())
    {
        top.remove(container);
    }
    Ok(file.to_string())
}

/// What holds the servers.
enum Servers {
    ByName(Mapping),
    List(Sequence),
}

impl Servers {
    fn find(&self, name: &str) -> Option<Mapping> {
        match self {
            Self::ByName(servers) => servers.get_mapping(name),
            Self::List(servers) => servers.get(Self::position(servers, name)?)?.as_mapping().cloned(),
        }
    }

    fn add(&self, name: &str) -> Option<Mapping> {
        let entry = MappingBuilder::new().pair(NAME, name).build_document().as_mapping()?;
        match self {
            Self::ByName(servers) => servers.set(name, entry),
            Self::List(servers) => servers.push(entry),
        }
        self.find(name)
    }

    fn remove(&self, name: &str) -> bool {
        match self {
            Self::ByName(servers) => servers.remove(name).is_some(),
            Self::List(servers) => {
                Self::position(servers, name).is_some_and(|at| servers.remove(at).is_some())
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::ByName(servers) => servers.is_empty(),
            Self::List(servers) => servers.is_empty(),
        }
    }

    fn position(servers: &Sequence, name: &str) -> Option<usize> {
        let has_name = |it: YamlNode| {
            it.get(NAME).and_then(|it| Some(it.as_scalar()?.as_string())).is_some_and(|it| it == name)
        };
        servers.values().position(has_name)
    }
}

fn servers(file: &YamlFile, container: &str) -> Result<Option<Servers>, Problem> {
    let Some(top) = document(file)?.and_then(|it| it.as_mapping()) else { return Ok(None) };
    Ok(match top.get(container) {
        Some(YamlNode::Mapping(servers)) => Some(Servers::ByName(servers)),
        Some(YamlNode::Sequence(servers)) => Some(Servers::List(servers)),
        None => None,
        Some(_) => return Err(Problem::Shape(format!("`{container}` contains no servers"))),
    })
}

/// Returns the text with the container and an entry that has its name alone.
fn appended(text: &str, facts: &ClientFacts, name: &str) -> Result<String, Problem> {
    let file = parse(text)?;
    let container = facts.container;
    let is_list = facts.command != CommandForm::Short;
    if let Some(top) = document(&file)?.and_then(|it| it.as_mapping())
        && (top.contains_key(container) || top.is_flow_style())
    {
        let entry = || MappingBuilder::new().pair(NAME, name);
        let servers = match is_list {
            true => SequenceBuilder::new().insert_mapping(entry()).build_document(),
            false => MappingBuilder::new().insert_mapping(name, entry()).build_document(),
        };
        match (servers.as_sequence(), servers.as_mapping()) {
            (Some(list), _) => top.set(container, list),
            (None, Some(by_name)) => top.set(container, by_name),
            (None, None) => return Err(Problem::Loss),
        }
        return Ok(file.to_string());
    }
    let name = ScalarValue::string(name).to_yaml_string();
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    Ok(match is_list {
        true => format!("{text}{gap}{container}:\n  - {NAME}: {name}\n"),
        false => format!("{text}{gap}{container}:\n  {name}:\n    {NAME}: {name}\n"),
    })
}

/// Makes a field right; inside a mapping, each of its fields, since further ones are the user's.
fn set(fields: &Mapping, name: &str, wanted: &Value, there: Option<&Value>) {
    match (wanted, fields.get_mapping(name)) {
        (Value::Object(wanted), Some(inner)) => {
            let there = there.unwrap_or(&Value::Null);
            wanted.iter().for_each(|(name, wanted)| set(&inner, name, wanted, there.get(name)));
        }
        _ if there == Some(wanted) => {}
        _ => fields.set(name, as_yaml(wanted)),
    }
}

fn by_name(list: Value) -> Result<Value, Problem> {
    let Value::Array(list) = list else { return Ok(list) };
    let mut servers = Map::new();
    for (at, entry) in list.into_iter().enumerate() {
        let name = entry[NAME].as_str().map_or_else(|| format!("#{at}"), str::to_owned);
        if servers.contains_key(&name) {
            return Err(Problem::Shape(format!("`{name}` is there twice")));
        }
        servers.insert(name, entry);
    }
    Ok(Value::Object(servers))
}

fn as_json(value: &YamlValue) -> Value {
    match value {
        YamlValue::Scalar(scalar) => match scalar.scalar_type() {
            ScalarType::Null => Value::Null,
            ScalarType::Boolean => scalar.to_bool().map_or_else(|| json!(scalar.value()), Value::from),
            ScalarType::Integer => scalar.to_i64().map_or_else(|| json!(scalar.value()), Value::from),
            _ => json!(scalar.value()),
        },
        YamlValue::Sequence(items) => items.iter().map(as_json).collect(),
        YamlValue::Mapping(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), as_json(value))).collect()
        }
        // Tagged values and sets: never in what is written here; equal where they are written alike.
        other => json!(other.to_yaml_string(0)),
    }
}

fn as_yaml(value: &Value) -> YamlValue {
    match value {
        Value::Null => YamlValue::Scalar(ScalarValue::null()),
        Value::Bool(it) => YamlValue::from(*it),
        Value::Number(it) => YamlValue::from(it.as_i64().unwrap_or_default()),
        Value::String(it) => YamlValue::Scalar(ScalarValue::string(it.as_str())),
        Value::Array(items) => YamlValue::Sequence(items.iter().map(as_yaml).collect()),
        Value::Object(fields) => {
            YamlValue::Mapping(fields.iter().map(|(name, it)| (name.clone(), as_yaml(it))).collect())
        }
    }
}

fn parse(text: &str) -> Result<YamlFile, Problem> {
    YamlFile::from_str(text).map_err(|error| match error {
        YamlError::Parse { message, line, column } => {
            Problem::Syntax { line: line.unwrap_or(1), column: column.unwrap_or(1), message }
        }
        other => Problem::Shape(other.to_string()),
    })
}

fn document(file: &YamlFile) -> Result<Option<Document>, Problem> {
    let mut documents = file.documents();
    let first = documents.next();
    match documents.next() {
        Some(_) => Err(Problem::Shape("the file contains several documents".to_owned())),
        None => Ok(first),
    }
}
