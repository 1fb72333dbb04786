//! The vision model that the user configured, by which things are found on pictures.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PublicUrl;

/// How a service of models is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelApi {
    /// `POST BASE/chat/completions`, as OpenAI and many others have it.
    Openai,
    /// `POST BASE/v1/messages`, as Anthropic has it.
    Anthropic,
    /// `POST BASE/api/chat`, as Ollama has it.
    Ollama,
}

impl ModelApi {
    /// Returns its name in the config.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }
}

/// What a model counts places of a picture in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelCoordinates {
    /// Pixels of the picture that was sent.
    #[default]
    Pixels,
    /// Thousandths of its width and height, from 0 to 1000.
    Thousandths,
    /// Fractions of its width and height, from 0 to 1.
    Unit,
}

impl ModelCoordinates {
    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    fn is_pixels(&self) -> bool {
        *self == Self::Pixels
    }
}

/// A vision model. Its key is never in the config.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct VisionModel {
    /// `openai` (and what is compatible with it), `anthropic` or `ollama`.
    pub kind: ModelApi,
    /// Where the service is: `https://api.openai.com/v1`, `https://api.anthropic.com`, `http://127.0.0.1:11434`. Without encryption only
    /// on this computer.
    pub base_url: String,
    /// The model's name, as the service has it.
    pub model: String,
    /// What the model counts places in. It is asked to, and its answers are read so; a place outside is an error. Default `pixels`.
    #[serde(default, skip_serializing_if = "ModelCoordinates::is_pixels")]
    pub coordinates: ModelCoordinates,
    /// The environment variable of the service that has the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_variable: Option<String>,
    /// The file that has the key, absolute and outside of all scopes; only you may have access to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_file: Option<PathBuf>,
}

impl VisionModel {
    /// The longest name of a model.
    const MAX_NAME: usize = 200;

    /// Returns the base without a slash at its end.
    pub fn base(&self) -> &str {
        self.base_url.trim_end_matches('/')
    }

    /// Returns the field that is wrong, and how.
    pub(super) fn problem(&self) -> Option<(&'static str, String)> {
        let place = self.base().find("://").map_or(0, |at| at + 3);
        let end = self.base()[place..].find('/').map_or(self.base().len(), |at| place + at);
        let (origin, path) = self.base().split_at(end);
        if let Err(problem) = PublicUrl::try_from(origin.to_owned()) {
            return Some(("baseUrl", problem));
        }
        if !path.bytes().all(|it| it.is_ascii_alphanumeric() || b"/-_.~".contains(&it)) {
            return Some(("baseUrl", "its path has more than letters, digits and `-_.~/`".to_owned()));
        }
        if self.model.is_empty()
            || self.model.chars().count() > Self::MAX_NAME
            || self.model.chars().any(char::is_control)
        {
            return Some(("model", format!("1 to {} characters were expected", Self::MAX_NAME)));
        }
        let is_variable = |name: &String| {
            name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
                && name.bytes().next().is_some_and(|it| !it.is_ascii_digit())
        };
        match (&self.key_variable, &self.key_file) {
            (Some(_), Some(_)) => Some(("keyFile", "there is a `keyVariable` already".to_owned())),
            (Some(name), None) if !is_variable(name) => {
                Some(("keyVariable", "the name of an environment variable was expected".to_owned()))
            }
            (None, Some(path)) if !path.is_absolute() => {
                Some(("keyFile", "an absolute path was expected".to_owned()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_has_a_place_a_name_and_at_most_one_reference_to_a_key() {
        let model = |base: &str, model: &str, variable: Option<&str>, file: Option<&str>| {
            let it = VisionModel {
                kind: ModelApi::Openai,
                base_url: base.to_owned(),
                model: model.to_owned(),
                coordinates: ModelCoordinates::Pixels,
                key_variable: variable.map(str::to_owned),
                key_file: file.map(PathBuf::from),
            };
            it.problem().map(|(field, _)| field)
        };
        for base in [
            "https://api.example/v1",
            "https://api.example:8443/a/b/",
            "http://127.0.0.1:11434",
            "http://[::1]:1",
        ] {
            assert_eq!(model(base, "m", Some("KEY"), None), None, "{base}");
        }
        for base in [
            "",
            "api.example",
            "http://api.example/v1",
            "http://localhost.evil.example",
            "https://me:key@api.example/v1",
            "https://api.example/v1?key=1",
            "https://api.example/v1#x",
            "https://api.example/v 1",
            "file:///etc/passwd",
        ] {
            assert_eq!(model(base, "m", None, None), Some("baseUrl"), "{base}");
        }
        assert_eq!(model("https://a.example", "", None, None), Some("model"));
        assert_eq!(model("https://a.example", "a\nb", None, None), Some("model"));
        assert_eq!(model("https://a.example", "m", Some("sk-123"), None), Some("keyVariable"));
        assert_eq!(model("https://a.example", "m", Some(""), None), Some("keyVariable"));
        assert_eq!(model("https://a.example", "m", None, Some("key")), Some("keyFile"));
        assert_eq!(model("https://a.example", "m", Some("KEY"), Some("/key")), Some("keyFile"));
    }
}
