//! What is known of a picture that was taken: enough to find a point of it on the display again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use bailiwick_config::is_scope_id;
use bailiwick_contract::id;

/// A rectangle of pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Area {
    /// The left edge.
    pub x: i32,
    /// The upper edge.
    pub y: i32,
    /// How many pixels wide.
    pub width: u32,
    /// How many pixels high.
    pub height: u32,
}

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CaptureKind {
    /// A display, or a part of one.
    Display,
    /// A window that was named by its id.
    Window,
    /// A window that was found by its process.
    Process,
}

/// What is known of a picture. No pixels, and no titles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct CaptureFacts {
    /// Its id.
    pub capture_id: String,
    /// The scope in which it was taken.
    pub scope: String,
    /// What it shows.
    pub kind: CaptureKind,
    /// The display.
    pub display: String,
    /// The window, if it shows one.
    pub window: Option<String>,
    /// The part of the display that it shows, in the display's pixels.
    pub area: Area,
    /// The picture's width as it was given, in pixels.
    pub width: u32,
    /// The picture's height as it was given, in pixels.
    pub height: u32,
    /// How many windows were made black in it.
    pub blacked_out: u32,
    /// When it was taken, in milliseconds since the epoch.
    pub taken_at_ms: i64,
    /// Until when it is known, in milliseconds since the epoch.
    pub expires_at_ms: i64,
    /// What the rules for windows were, so that a picture by other rules is not shown.
    pub rules: String,
    /// The picture itself, if it is kept.
    pub picture: Option<KeptPicture>,
    /// What is known of it as a recording, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recording: Option<RecordingFacts>,
}

/// What is known of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct RecordingFacts {
    /// How long it is, in milliseconds.
    pub duration_ms: u32,
    /// How many pictures it has.
    pub frames: u64,
}

/// A picture that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct KeptPicture {
    /// `image/png`, `image/jpeg` or `image/webp`; `video/mp4` of a recording.
    pub mime_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

impl CaptureFacts {
    /// How the name of a kept picture as a resource begins.
    pub const URI_PREFIX: &str = "bailiwick://captures/";

    /// Returns the name of the picture as a resource.
    pub fn uri(&self) -> String {
        format!("{}{}/{}", Self::URI_PREFIX, self.scope, self.capture_id)
    }

    /// Reads the name of a resource: the scope and the capture's id.
    pub fn from_uri(uri: &str) -> Option<(&str, &str)> {
        let (scope, capture_id) = uri.strip_prefix(Self::URI_PREFIX)?.split_once('/')?;
        (is_scope_id(scope) && id::is_id(capture_id)).then_some((scope, capture_id))
    }

    /// Returns how many pixels of the picture one pixel of the display takes, across and down.
    pub fn scale(&self) -> (f64, f64) {
        (
            f64::from(self.width) / f64::from(self.area.width.max(1)),
            f64::from(self.height) / f64::from(self.area.height.max(1)),
        )
    }

    /// Finds the pixel of the display under the middle of a pixel of the picture; `None` beside the picture.
    pub fn to_display(&self, x: u32, y: u32) -> Option<(i32, i32)> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let (across, down) = self.scale();
        let place = |from: i32, at: u32, scale: f64, length: u32| {
            let moved = ((f64::from(at) + 0.5) / scale).floor().clamp(0.0, f64::from(length.max(1) - 1));
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a place within a side; a cast keeps within its bounds"
            )]
            let moved = moved as i32;
            from.saturating_add(moved)
        };
        Some((place(self.area.x, x, across, self.area.width), place(self.area.y, y, down, self.area.height)))
    }
}
