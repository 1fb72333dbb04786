//! The result envelope: what every transport hands back.

use serde_json::{Map, Value};

use super::{Failure, time};

/// An image that goes with a result; MCP clients get it as an image, not as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    pub mime_type: &'static str,
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
    /// Data, or why there is none.
    pub result: Result<Value, Failure>,
    /// What the client should know although the operation succeeded.
    pub warnings: Vec<String>,
    /// Images that the client asked for.
    pub images: Vec<Image>,
}

impl Outcome {
    /// Gives the JSON object that goes to the client, as described in `schemas/outcome.json`.
    pub fn into_json(self) -> Value {
        let mut object = self.head();
        match self.result {
            Ok(data) => {
                object.insert("data".to_owned(), data);
                object.insert("warnings".to_owned(), Value::from(self.warnings));
                if !self.images.is_empty() {
                    let images = self.images.into_iter().map(
                        |image| serde_json::json!({"mimeType": image.mime_type, "base64": image.base64}),
                    );
                    object.insert("images".to_owned(), images.collect());
                }
            }
            Err(failure) => {
                object.insert("error".to_owned(), failure.to_json());
            }
        }
        Value::Object(object)
    }

    fn head(&self) -> Map<String, Value> {
        let mut object = Map::new();
        object.insert("ok".to_owned(), Value::Bool(self.result.is_ok()));
        object.insert("operationId".to_owned(), Value::from(self.operation_id.clone()));
        object.insert("scope".to_owned(), Value::from(self.scope.clone()));
        object.insert("op".to_owned(), Value::from(self.op.clone()));
        object.insert("startedAt".to_owned(), Value::from(time::rfc3339(self.started_at_ms)));
        object.insert("durationMs".to_owned(), Value::from(self.duration_us as f64 / 1_000.0));
        object
    }
}
