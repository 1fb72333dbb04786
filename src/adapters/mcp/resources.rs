//! Kept pictures as MCP resources: `bailiwick://captures/SCOPE/ID`.
//!
//! A list and a reading are operations like any other: `screen.captures` and `screen.read_capture`, judged and recorded.
//! Only callers to whom a scope gives pictures of screens are offered resources at all.

use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::{Map, Value, json};

use bailiwick_contract::{Envelope, ErrorCode, Reply};
use bailiwick_providers::artifact::CaptureFacts;

/// How many bytes a list may take: more than as many pictures as are kept need.
const LIST_BYTES: u64 = 200_000;

/// Creates the request for the kept pictures of a scope.
pub(super) fn list_envelope(scope: &str) -> Envelope {
    let mut options = Map::new();
    options.insert("maxOutputBytes".to_owned(), json!(LIST_BYTES));
    Envelope {
        scope: Some(scope.to_owned()),
        op: "screen.captures".to_owned(),
        options,
        ..Envelope::default()
    }
}

/// Creates the request for one kept picture.
///
/// # Errors
/// When the name is none of a picture.
pub(super) fn read_envelope(uri: &str) -> Result<Envelope, ErrorData> {
    let (scope, capture_id) = CaptureFacts::from_uri(uri).ok_or_else(|| unknown(uri))?;
    Ok(Envelope {
        scope: Some(scope.to_owned()),
        op: "screen.read_capture".to_owned(),
        target: Some(capture_id.to_owned()),
        ..Envelope::default()
    })
}

/// Creates the list out of the answers for each scope. A scope that refuses has none.
pub(super) fn listed(replies: Vec<Reply>) -> ListResourcesResult {
    let pictures = replies.into_iter().filter(|reply| reply.ok).flat_map(|reply| {
        let mut outcome = reply.into_value();
        match outcome["data"]["captures"].take() {
            Value::Array(pictures) => pictures,
            _ => Vec::new(),
        }
    });
    ListResourcesResult::with_all_items(pictures.filter_map(|picture| resource(&picture)).collect())
}

fn resource(picture: &Value) -> Option<Resource> {
    let file = &picture["file"];
    // A recording has none: it is read in parts.
    let uri = file["uri"].as_str()?;
    let what = if picture["window"].is_null() { "display" } else { "window" };
    let title = format!(
        "Picture of a {what}, {}x{}, {}",
        picture["width"],
        picture["height"],
        picture["takenAt"].as_str()?
    );
    let expires = format!("Kept until {}.", file["expiresAt"].as_str()?);
    Some(
        Resource::new(uri, file["captureId"].as_str()?)
            .with_title(title)
            .with_description(expires)
            .with_mime_type(file["mimeType"].as_str()?)
            .with_size(file["size"].as_u64()?),
    )
}

/// Describes how pictures are named.
pub(super) fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::with_all_items(vec![
        ResourceTemplate::new(format!("{}{{scope}}/{{captureId}}", CaptureFacts::URI_PREFIX), "capture")
            .with_title("Picture of a screen")
            .with_description("Taken with `return` = `fileRef`; kept for a day."),
    ])
}

/// Creates the content of a picture out of its answer.
///
/// # Errors
/// When there is no such picture for the caller, or it could not be read.
pub(super) fn content(uri: &str, reply: Reply) -> Result<ReadResourceResult, ErrorData> {
    if let Some(image) = reply.images.first().filter(|_| reply.ok) {
        let blob = ResourceContents::blob(image.base64.clone(), uri).with_mime_type(image.mime_type.clone());
        return Ok(ReadResourceResult::new(vec![blob]));
    }
    let outcome = reply.into_value();
    let error = &outcome["error"];
    let message = error["message"].as_str().unwrap_or("the picture has no image").to_owned();
    let none = [ErrorCode::NotFound, ErrorCode::UnknownScope, ErrorCode::PermissionDenied];
    if none.iter().any(|code| error["code"] == code.as_str()) {
        return Err(ErrorData::resource_not_found(message, Some(json!({"uri": uri}))));
    }
    Err(ErrorData::internal_error(message, Some(json!({"uri": uri}))))
}

fn unknown(uri: &str) -> ErrorData {
    ErrorData::resource_not_found("there is no such resource", Some(json!({"uri": uri})))
}
