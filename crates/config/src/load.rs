//! Reading and writing `config.json`. Strict: what is broken in any part is refused as a whole.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use bailiwick_contract::ScopeType;
use bailiwick_contract::fields::nearest;
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{
    FileStamp, OwnFileError, Protection, Secrecy, create_private_dir, read_own_file, replace_private_file,
};
use bailiwick_platform::paths;

use super::{Config, ConfigError, TlsConfig, VisionModel};

/// The largest `config.json` that is read.
const LIMIT_BYTES: u64 = 4 << 20;

impl Config {
    /// The file beside the config that holds its JSON Schema; a saved config points to it.
    pub const SCHEMA_FILE: &str = "config.schema.json";

    /// Returns the config file of an installation, unless `--config` names another.
    pub fn path(dirs: &Dirs) -> PathBuf {
        dirs.config.join("config.json")
    }

    /// Creates the config of a computer that has no scopes yet.
    pub fn new(machine_id: String, machine_name: String) -> Self {
        let empty = serde_json::json!({"machineId": machine_id, "machineName": machine_name});
        serde_json::from_value(empty).expect("everything else has a default")
    }

    /// Reads a config file.
    ///
    /// # Errors
    /// When it is not there, others can write it, or anything in it is wrong: with the place, what was
    /// expected, and the smallest fix.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::load_stamped(path).map(|(config, _)| config)
    }

    /// Reads a config file, and tells by which stamp to notice that it has changed.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn load_stamped(path: &Path) -> Result<(Self, FileStamp), ConfigError> {
        let (content, stamp) = read_own_file(path, Secrecy::Guarded, LIMIT_BYTES).map_err(|error| {
            let fix = match &error {
                OwnFileError::NotFound => {
                    "Run `bailiwick setup FOLDER` to open a folder and make the file.".to_owned()
                }
                OwnFileError::Exposed(_) => {
                    format!("Run `{}`.", Protection::narrowing_command(path, false))
                }
                _ => "Check the file's kind, owner and permissions.".to_owned(),
            };
            ConfigError {
                missing: matches!(error, OwnFileError::NotFound),
                ..ConfigError::new(path, "", error.to_string(), fix)
            }
        })?;
        Ok((Self::parse(path, &content)?, stamp))
    }

    /// Reads a config from its text; `path` is for messages.
    ///
    /// # Errors
    /// As [`Config::load`].
    pub fn parse(path: &Path, content: &[u8]) -> Result<Self, ConfigError> {
        let text = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
        let config = match parse_strict(text) {
            Ok(config) => config,
            // The older key is checked only when the strict reading failed, and must then be there.
            Err(wrong) => match legacy(text) {
                Some(value) => serde_path_to_error::deserialize(value).map_err(|error| {
                    let place = error.path().to_string();
                    broken(path, &place, &error.into_inner())
                })?,
                None => return Err(broken(path, &wrong.0, &wrong.1)),
            },
        };
        check(path, &config)?;
        Ok(config)
    }

    /// The text of the config's JSON Schema.
    pub const SCHEMA: &str = include_str!("../../../schemas/config.json");

    /// Returns the text that [`Config::save`] writes: it points to the schema, unless it points elsewhere.
    pub fn text(&self) -> String {
        let mut config = self.clone();
        config.schema.get_or_insert_with(schema_place);
        let mut text = serde_json::to_string_pretty(&config).expect("a config has a JSON form");
        text.push('\n');
        text
    }

    /// Writes the config: a new file private (0600) that replaces the old one.
    ///
    /// # Errors
    /// When the config itself would be refused, or the file cannot be written; the old file is then
    /// untouched.
    pub fn save(&self, path: &Path) -> Result<(), ConfigError> {
        check(path, self)?;
        let text = self.text();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A link in the file's place is the user's choice: what it leads to is replaced.
        #[expect(clippy::disallowed_methods, reason = "the config is no scope's file")]
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let written = || {
            create_private_dir(folder)?;
            if self.schema.as_ref().is_none_or(|place| *place == schema_place()) {
                replace_private_file(&folder.join(Self::SCHEMA_FILE), Self::SCHEMA.as_bytes())?;
            }
            replace_private_file(&target, text.as_bytes())
        };
        written().map_err(|error| {
            ConfigError::new(
                path,
                "",
                format!("the file cannot be written: {error}"),
                "Check the folder's owner, permissions and free space.",
            )
        })
    }
}

fn schema_place() -> String {
    format!("./{}", Config::SCHEMA_FILE)
}

fn parse_strict(text: &[u8]) -> Result<Config, (String, serde_json::Error)> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let config = serde_path_to_error::deserialize(&mut reader)
        .map_err(|error| (error.path().to_string(), error.into_inner()))?;
    reader.end().map_err(|error| (String::new(), error))?;
    Ok(config)
}

/// Turns the older key `workspaces` into folder scopes; `None` where the text has no such key.
///
/// Older configs mirrored their scopes in it: an id that `scopes` has too is taken from there.
fn legacy(text: &[u8]) -> Option<Value> {
    let mut value: Value = serde_json::from_slice(text).ok()?;
    let fields = value.as_object_mut()?;
    let workspaces = fields.remove("workspaces")?;
    let scopes = fields.entry("scopes").or_insert_with(|| Value::Array(Vec::new()));
    let (Value::Array(workspaces), Some(scopes)) = (workspaces, scopes.as_array_mut()) else { return None };
    for mut workspace in workspaces {
        if let Some(fields) = workspace.as_object_mut() {
            if let Some(path) = fields.remove("path") {
                fields.entry("roots").or_insert_with(|| Value::Array(vec![path]));
            }
            fields.entry("type").or_insert_with(|| Value::from("folder"));
        }
        if !scopes.iter().any(|scope| scope.get("id") == workspace.get("id")) {
            scopes.push(workspace);
        }
    }
    Some(value)
}

/// Returns what the parser found wrong at a field.
pub(super) fn broken(path: &Path, field: &str, error: &serde_json::Error) -> ConfigError {
    let mut place = Vec::new();
    if error.line() > 0 {
        place.push(format!("line {}, column {}", error.line(), error.column()));
    }
    if !field.is_empty() && field != "." && !field.starts_with('?') {
        place.push(format!("`{field}`"));
    }
    // serde_json ends its text with the position, which is said already.
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or(&text);
    let meant = meant(text);
    let fix = if let Some(fix) = &meant {
        fix
    } else if text.contains("trailing comma") {
        "Remove the comma before the closing bracket."
    } else if text.starts_with("unknown field") {
        "Correct the field's name, or remove it."
    } else if text.starts_with("missing field") {
        "Add the field."
    } else if text.starts_with("duplicate field") {
        "Remove one of the two."
    } else {
        match error.classify() {
            serde_json::error::Category::Eof => "Close what is open: the text ends too early.",
            serde_json::error::Category::Syntax => {
                "Correct the JSON at that place; comments are not part of JSON."
            }
            _ => "Give it the expected form.",
        }
    };
    ConfigError::new(path, &place.join(", "), text, fix)
}

/// Returns the one of the expected words that is nearest to the one that is there.
fn meant(text: &str) -> Option<String> {
    let mut words = text.strip_prefix("unknown variant ")?.split('`').skip(1).step_by(2);
    let word = words.next()?;
    nearest(word, words, 1).first().map(|name| format!("Did you mean `{name}`?"))
}

/// Returns whether a text can be the id of a scope.
pub fn is_scope_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && id.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

/// Holds what the types do not say.
pub(super) fn check(path: &Path, config: &Config) -> Result<(), ConfigError> {
    let wrong = |place: String, problem: &str, fix: &str| Err(ConfigError::new(path, &place, problem, fix));
    if config.machine_id.is_empty() || config.machine_id.len() > 64 {
        return wrong(
            "`machineId`".to_owned(),
            "1 to 64 characters were expected",
            "Remove the file's `machineId` value and run `bailiwick setup`, or write an id of your own.",
        );
    }
    if config.machine_name.is_empty() {
        return wrong("`machineName`".to_owned(), "a name was expected", "Give this computer a name.");
    }
    if config.host.parse::<std::net::IpAddr>().is_err() && config.host != "localhost" {
        return wrong(
            "`host`".to_owned(),
            "an IP address or `localhost` was expected",
            "Use 127.0.0.1 for this computer alone.",
        );
    }
    if config.http.public_base_url.is_some() && config.http.allow_loopback_without_token {
        return wrong(
            "`http.allowLoopbackWithoutToken`".to_owned(),
            "with `http.publicBaseUrl`, a tunnel could admit everybody without a token",
            "Remove one of the two.",
        );
    }
    if let Some((field, problem)) = config.http.tls.as_ref().and_then(TlsConfig::problem) {
        return wrong(
            format!("`http.tls.{field}`"),
            problem,
            "Name both files, or write `{}` for a certificate that Bailiwick makes.",
        );
    }
    if let Some((field, problem)) = config.vision_model.as_ref().and_then(VisionModel::problem) {
        return wrong(
            format!("`visionModel.{field}`"),
            &problem,
            "Correct it; docs/how-to/desktop.md has examples.",
        );
    }
    let mut ids = HashSet::new();
    for (index, scope) in config.scopes.iter().enumerate() {
        let place = |field: &str| format!("`scopes[{index}].{field}`");
        if !is_scope_id(&scope.id) {
            return wrong(
                place("id"),
                "letters, digits, `-`, `_` and `.` were expected, 1 to 64 of them",
                "Choose a short id such as `app`.",
            );
        }
        if !ids.insert(scope.id.to_ascii_lowercase()) {
            return wrong(
                place("id"),
                &format!("another scope has the id `{}`", scope.id),
                "Give each scope an id of its own.",
            );
        }
        match scope.scope_type {
            ScopeType::Folder if scope.roots.is_empty() => {
                return wrong(place("roots"), "a folder scope needs at least one folder", "Name the folder.");
            }
            ScopeType::Computer if !scope.roots.is_empty() => {
                return wrong(
                    place("roots"),
                    "a computer scope has no folders",
                    "Remove `roots`, or set `type` to `folder`.",
                );
            }
            ScopeType::Folder | ScopeType::Computer => {}
        }
        if let Some(at) = scope.roots.iter().position(|root| !root.is_absolute()) {
            return wrong(
                place(&format!("roots[{at}]")),
                "an absolute path was expected",
                &format!("Write the folder's whole path, {}.", paths::EXAMPLE),
            );
        }
        if scope.policy.max_runtime_seconds == Some(0) {
            return wrong(
                place("policy.maxRuntimeSeconds"),
                "1 or more was expected",
                "Set it to the longest time that one operation may take.",
            );
        }
        if scope.policy.max_process_seconds == Some(0) {
            return wrong(
                place("policy.maxProcessSeconds"),
                "1 or more was expected",
                "Set it to the longest time that a started process may run.",
            );
        }
        if scope.policy.max_output_bytes.is_some_and(|bytes| bytes < 1_000) {
            return wrong(
                place("policy.maxOutputBytes"),
                "1000 or more was expected",
                "Set it to 45000 or more, or leave it out.",
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::parse(Path::new("config.json"), paths::rooted(text).as_bytes())
    }

    const HEAD: &str = r#""machineId":"m","machineName":"n""#;

    #[test]
    fn the_smallest_config_has_no_scope_and_stays_on_loopback() {
        let config = parse(&format!("{{{HEAD}}}")).expect("enough");
        assert_eq!((config.host.as_str(), config.port, config.scopes.len()), ("127.0.0.1", 3939, 0));
        assert_eq!(config, Config::new("m".into(), "n".into()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place_and_a_fix() {
        for (text, place, problem) in [
            ("{\n  \"machineId\": }", "line 2, column 16", "expected value"),
            ("{", "line 1, column 1", "EOF"),
            (r#"{HEAD,}"#, "line 1", "trailing comma"),
            (r#"{"machineName":"n"}"#, "", "missing field `machineId`"),
            (r#"{HEAD,"colour":1}"#, "colour", "unknown field `colour`"),
            (r#"{HEAD,"port":"x"}"#, "port", "invalid type"),
            (r#"{HEAD,"port":70000}"#, "port", "invalid value"),
            (r#"{HEAD,"port":1,"port":2}"#, "line 1", "duplicate field"),
            (r#"{HEAD} x"#, "line 1", "trailing characters"),
            (r#"{HEAD,"host":"example.com"}"#, "host", "IP address"),
            (r#"{HEAD,"http":{"tls":{"certificate":"/c.pem"}}}"#, "http.tls.certificate", "its `key`"),
            (r#"{HEAD,"http":{"tls":{"key":"/k.pem"}}}"#, "http.tls.key", "its `certificate`"),
            (
                r#"{HEAD,"http":{"tls":{"certificate":"c","key":"/k.pem"}}}"#,
                "http.tls.certificate",
                "absolute",
            ),
            (r#"{HEAD,"http":{"tls":{"certificate":"/c.pem","key":"k"}}}"#, "http.tls.key", "absolute"),
            (
                r#"{HEAD,"http":{"publicBaseUrl":"https://b.example","allowLoopbackWithoutToken":true}}"#,
                "http.allowLoopbackWithoutToken",
                "admit everybody without a token",
            ),
            (
                r#"{HEAD,"visionModel":{"kind":"openai","baseUrl":"http://a.example","model":"m"}}"#,
                "visionModel.baseUrl",
                "not encrypted",
            ),
            (
                r#"{HEAD,"visionModel":{"kind":"openai","baseUrl":"https://a.example","model":"m","key":"sk"}}"#,
                "visionModel",
                "unknown field `key`",
            ),
            (r#"{HEAD,"scopes":[{"id":"a b","roots":["/x"]}]}"#, "scopes[0].id", "letters"),
            (r#"{HEAD,"scopes":[{"id":".","roots":["/x"]}]}"#, "scopes[0].id", "letters"),
            (r#"{HEAD,"scopes":[{"id":"a"}]}"#, "scopes[0].roots", "at least one"),
            (r#"{HEAD,"scopes":[{"id":"a","roots":["x"]}]}"#, "scopes[0].roots[0]", "absolute"),
            (
                r#"{HEAD,"scopes":[{"id":"a","type":"computer","roots":["/x"]}]}"#,
                "scopes[0].roots",
                "no folders",
            ),
            (
                r#"{HEAD,"scopes":[{"id":"a","roots":["/x"],"capabilities":["fs:raed"]}]}"#,
                "scopes[0].capabilities[0]",
                "unknown variant `fs:raed`",
            ),
            (
                r#"{HEAD,"scopes":[{"id":"a","roots":["/x"]},{"id":"A","roots":["/y"]}]}"#,
                "scopes[1].id",
                "another scope",
            ),
            (
                r#"{HEAD,"scopes":[{"id":"a","roots":["/x"],"policy":{"sandbox":"on"}}]}"#,
                "policy.sandbox",
                "auto",
            ),
        ] {
            let text = text.replace("HEAD", HEAD);
            let error = parse(&text).expect_err("refused");
            assert!(error.place.contains(place), "{text}: {error}");
            assert!(error.problem.contains(problem), "{text}: {error}");
            assert!(!error.fix.is_empty(), "{text}");
        }
    }

    #[test]
    fn the_older_key_is_read_as_folder_scopes() {
        let config = parse(&format!(
            r#"{{{HEAD},"scopes":[{{"id":"a","roots":["/a"]}}],
                "workspaces":[{{"id":"a","path":"/other"}},{{"id":"b","path":"/b","capabilities":["fs:read"]}}]}}"#
        ))
        .expect("read");
        let roots = config.scopes.iter().map(|it| format!("{} {:?}", it.id, it.roots[0]));
        assert_eq!(roots.collect::<Vec<_>>(), ["a \"/a\"", "b \"/b\""].map(paths::rooted));
        let error =
            parse(&format!(r#"{{{HEAD},"workspaces":[{{"id":"b","path":"b"}}]}}"#)).expect_err("relative");
        assert!(error.place.contains("scopes[0].roots[0]"), "{error}");
        assert!(parse(&format!(r#"{{{HEAD},"workspaces":7}}"#)).is_err());
    }
}
