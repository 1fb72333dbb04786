//! The result envelope: what every transport hands back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ContentOrigin, Failure, Json, time};

/// An image that goes with a result; MCP clients get it as an image, not as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime_type: String,
    /// The bytes of the file, in base64.
    pub base64: String,
}

/// The result of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The request's id in the history.
    pub operation_id: String,
    /// The scope that was named or filled in, if any.
    pub scope: Option<String>,
    /// The operation's name as asked.
    pub op: String,
    /// When the service began, in milliseconds since the epoch.
    pub started_at_ms: i64,
    /// How long it took, policy and work together, in microseconds.
    pub duration_us: u64,
    /// Where its content comes from, if that is untrusted; `None` for files that are trusted, and for failures.
    pub origin: Option<ContentOrigin>,
    /// Data, or why there is none.
    pub result: Result<Json, Failure>,
    /// What the client should know besides the result: all of a success, and of a failure that it has no row.
    pub warnings: Vec<String>,
    /// Images that the client asked for.
    pub images: Vec<Image>,
}

/// A result envelope on its way to a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Whether the request succeeded.
    pub ok: bool,
    /// The JSON object as described in `schemas/outcome.json`, without `images`: compact, on one line.
    pub text: String,
    /// The images that go with it.
    pub images: Vec<Image>,
}

/// Returns whether the data of an answer says that the request did what it was sent for: a command that fails is answered,
/// but did not.
pub fn is_success(data: &Value) -> bool {
    data["exitCode"].as_i64().is_none_or(|code| code == 0)
        && data["running"] != true
        && !data["signal"].is_string()
        && data["timedOut"] != true
        && !matches!(data["outcome"].as_str(), Some("timeOver" | "impossible"))
}

impl Outcome {
    /// Writes the JSON object that goes to the client.
    pub fn into_reply(self) -> Reply {
        let head = Json::of(&self.head()).expect("the fields have a JSON form");
        let head = head.text();
        let (ok, name, body) = match &self.result {
            Ok(data) => (true, "data", data.text()),
            Err(failure) => (false, "error", &*failure.to_json().to_string()),
        };
        let mut text = String::with_capacity(head.len() + body.len() + 64);
        text.push_str(&head[..head.len() - 1]);
        for part in [",\"", name, "\":", body] {
            text.push_str(part);
        }
        if ok || !self.warnings.is_empty() {
            text.push_str(",\"warnings\":");
            text.push_str(&Value::from(self.warnings).to_string());
        }
        text.push('}');
        Reply { ok, text, images: self.images }
    }

    fn head(&self) -> Head<'_> {
        Head {
            ok: self.result.is_ok(),
            operation_id: &self.operation_id,
            scope: self.scope.as_deref(),
            op: &self.op,
            started_at: time::rfc3339(self.started_at_ms),
            duration_ms: self.duration_us as f64 / 1_000.0,
            origin: self.origin,
        }
    }
}

/// The fields that every result envelope begins with.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    ok: bool,
    operation_id: &'a str,
    scope: Option<&'a str>,
    op: &'a str,
    started_at: String,
    duration_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<ContentOrigin>,
}

impl Reply {
    /// Returns the whole JSON object, with `images` where there are any.
    pub fn into_text(self) -> String {
        if self.images.is_empty() {
            return self.text;
        }
        let images = Json::of(&self.images).expect("images have a JSON form");
        let mut text = self.text;
        text.pop();
        text.push_str(",\"images\":");
        text.push_str(images.text());
        text.push('}');
        text
    }

    /// Reads the whole JSON object into a tree.
    pub fn into_value(self) -> Value {
        serde_json::from_str(&self.into_text()).expect("the text was written from values")
    }
}
