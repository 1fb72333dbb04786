//! A point of a display in every space, as answers have it.

use schemars::JsonSchema;
use serde::Serialize;

use bailiwick_platform::screen::{Point, Rect};
use bailiwick_providers::artifact::CaptureFacts;

/// A point in every space that applies.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PointOutput {
    /// The display.
    pub display: String,
    /// In pixels of the display.
    pub screen: Pixel,
    /// In pixels of the content of the window that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<Pixel>,
    /// In pixels of the picture that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Fraction>,
    /// 0 to 1 of the display.
    pub unit: Fraction,
}

/// A pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Pixel {
    /// To the right.
    pub x: i32,
    /// Downwards.
    pub y: i32,
}

/// A point that need not be a whole pixel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Fraction {
    /// To the right.
    pub x: f64,
    /// Downwards.
    pub y: f64,
}

/// Returns a point of a display in every space that applies.
pub(in crate::operations) fn of_point(
    point: Point,
    bounds: Rect,
    content: Option<Rect>,
    display: &str,
    picture: Option<&CaptureFacts>,
) -> PointOutput {
    let content = content.filter(|it| it.contains(&Rect::new(point.x, point.y, 1, 1)));
    let image = picture.map(|facts| {
        let scale = |at: i32, from: i32, length: u32, pixels: u32| {
            rounded(f64::from(at - from) * f64::from(pixels) / f64::from(length.max(1)))
        };
        let area = facts.area;
        Fraction {
            x: scale(point.x, area.x, area.width, facts.width),
            y: scale(point.y, area.y, area.height, facts.height),
        }
    });
    let part = |at: i32, length: u32| rounded(f64::from(at) / f64::from(length.max(1)));
    PointOutput {
        display: display.to_owned(),
        screen: Pixel { x: point.x, y: point.y },
        window: content.map(|it| Pixel { x: point.x - it.x, y: point.y - it.y }),
        image,
        unit: Fraction { x: part(point.x, bounds.width), y: part(point.y, bounds.height) },
    }
}

fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
