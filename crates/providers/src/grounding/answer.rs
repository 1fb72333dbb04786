//! What a model wrote, read as places of a picture and as nothing else.

use bailiwick_config::ModelCoordinates;
use serde::Deserialize;

/// The most places of an answer.
pub const MAX_PLACES: usize = 10;
/// How much of what a stranger wrote is shown, in characters.
const MAX_SHOWN: usize = 240;

/// A place on a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelPlace {
    /// Left, upper, right and lower edge, in pixels of the picture; those of a point are equal.
    pub edges: [f64; 4],
    /// How sure the model says that it is, from 0 to 1.
    pub confidence: Option<f64>,
}

/// The one form that is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    places: Vec<WrittenPlace>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPlace {
    #[serde(rename = "box")]
    edges: Option<[f64; 4]>,
    point: Option<[f64; 2]>,
    confidence: Option<f64>,
}

/// What places of a picture are counted in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub coordinates: ModelCoordinates,
    /// The picture's width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
}

impl Scale {
    /// Returns the number of its right edge, and that of its lower one.
    fn ends(self) -> (f64, f64) {
        match self.coordinates {
            ModelCoordinates::Pixels => (f64::from(self.width), f64::from(self.height)),
            ModelCoordinates::Thousandths => (1_000.0, 1_000.0),
            ModelCoordinates::Unit => (1.0, 1.0),
        }
    }

    fn outside(self) -> String {
        let Self { width, height, .. } = self;
        let counted = match self.coordinates {
            ModelCoordinates::Pixels => "",
            ModelCoordinates::Thousandths => ", counted in thousandths",
            ModelCoordinates::Unit => ", counted from 0 to 1",
        };
        format!("it names a place that is not within the picture of {width}x{height} pixels{counted}")
    }
}

/// Reads the places of a picture: one JSON object, which may be in a code fence.
///
/// # Errors
/// In words, with nothing of the text.
pub(super) fn places(text: &str, scale: Scale) -> Result<Vec<ModelPlace>, String> {
    let answer: Answer = serde_json::from_str(unfenced(text)).map_err(|error| {
        let what = match error.classify() {
            serde_json::error::Category::Data => "it is not of the form that was asked for",
            _ => "it is not one JSON object",
        };
        what.to_owned()
    })?;
    if answer.places.len() > MAX_PLACES {
        return Err(format!("it has more than {MAX_PLACES} places"));
    }
    answer.places.iter().map(|it| place(it, scale)).collect()
}

fn place(written: &WrittenPlace, scale: Scale) -> Result<ModelPlace, String> {
    let (across, down) = scale.ends();
    let edges = match (written.edges, written.point) {
        (Some(edges), None) => {
            let [left, top, right, bottom] = edges;
            let is_across = 0.0 <= left && left < right && right <= across;
            let is_down = 0.0 <= top && top < bottom && bottom <= down;
            if !(is_across && is_down) {
                return Err(scale.outside());
            }
            edges
        }
        (None, Some([x, y])) => {
            if !(0.0..across).contains(&x) || !(0.0..down).contains(&y) {
                return Err(scale.outside());
            }
            [x, y, x, y]
        }
        _ => return Err("it names a place without `box` or `point`, or with both".to_owned()),
    };
    if written.confidence.is_some_and(|it| !(0.0..=1.0).contains(&it)) {
        return Err("it names a `confidence` that is not from 0 to 1".to_owned());
    }
    let [left, top, right, bottom] = edges;
    let (x, y) =
        (|at: f64| at * f64::from(scale.width) / across, |at: f64| at * f64::from(scale.height) / down);
    let edges = [x(left), y(top), x(right), y(bottom)];
    Ok(ModelPlace { edges, confidence: written.confidence })
}

/// Returns what is in the code fence, where the whole text is one.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```").and_then(|it| it.strip_suffix("```"));
    match inside {
        Some(inside) => inside.strip_prefix("json").unwrap_or(inside).trim(),
        None => text,
    }
}

/// Returns the beginning of what a stranger wrote, without anything that a terminal or a reader could take for more than text.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String =
        text.chars().take(MAX_SHOWN).flat_map(char::escape_debug).take(MAX_SHOWN).collect();
    if text.chars().nth(MAX_SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<[f64; 4]>, String> {
        read_in(ModelCoordinates::Pixels, text)
    }

    fn read_in(coordinates: ModelCoordinates, text: &str) -> Result<Vec<[f64; 4]>, String> {
        let scale = Scale { coordinates, width: 100, height: 50 };
        places(text, scale).map(|it| it.iter().map(|it| it.edges).collect())
    }

    #[test]
    fn what_is_counted_otherwise_comes_in_pixels_and_nothing_is_moved_into_the_picture() {
        use ModelCoordinates::{Thousandths, Unit};
        for (coordinates, text, expected) in [
            (Thousandths, r#"{"places":[{"box":[0,0,1000,1000]}]}"#, [0.0, 0.0, 100.0, 50.0]),
            (Thousandths, r#"{"places":[{"box":[500,500,750.0,760]}]}"#, [50.0, 25.0, 75.0, 38.0]),
            (Thousandths, r#"{"places":[{"point":[990,980]}]}"#, [99.0, 49.0, 99.0, 49.0]),
            (Unit, r#"{"places":[{"box":[0,0,1,1]}]}"#, [0.0, 0.0, 100.0, 50.0]),
            (Unit, r#"{"places":[{"point":[0.25,0.5]}]}"#, [25.0, 25.0, 25.0, 25.0]),
        ] {
            assert_eq!(read_in(coordinates, text).expect("read"), [expected], "{text}");
        }
        for (coordinates, place) in [
            (Thousandths, r#""box":[0,0,1001,10]"#),
            (Thousandths, r#""box":[0,0,10,1000.5]"#),
            (Thousandths, r#""point":[1000,0]"#),
            (Thousandths, r#""point":[-1,0]"#),
            (Unit, r#""box":[0,0,2,1]"#),
            (Unit, r#""point":[0,1]"#),
            (Unit, r#""point":[500,500]"#),
        ] {
            let error = read_in(coordinates, &format!(r#"{{"places":[{{{place}}}]}}"#)).expect_err(place);
            assert!(error.contains("within the picture of 100x50 pixels, counted"), "{place}: {error}");
        }
    }

    #[test]
    fn one_object_is_read_also_in_a_code_fence() {
        let plain = r#"{"places":[{"box":[1,2,3.5,4],"confidence":0.5},{"point":[0,49]}]}"#;
        let all = [[1.0, 2.0, 3.5, 4.0], [0.0, 49.0, 0.0, 49.0]];
        for text in [plain.to_owned(), format!("```json\n{plain}\n```"), format!("```\n{plain}```\n")] {
            assert_eq!(read(&text).expect("read"), all, "{text}");
        }
        assert_eq!(read(r#"{"places":[]}"#).expect("read"), [[0.0; 4]; 0]);
        assert_eq!(read(r#"{"places":[{"box":[0,0,100,50]}]}"#).expect("the whole").len(), 1);
    }

    #[test]
    fn everything_else_is_refused_and_nothing_is_moved_into_the_picture() {
        for (text, why) in [
            ("", "not one JSON object"),
            ("I found it at 10, 10", "not one JSON object"),
            (r#"{"places":[]} {"places":[]}"#, "not one JSON object"),
            (r#"Here: {"places":[]}"#, "not one JSON object"),
            ("```json\n{\"places\":[]}\n``` and more", "not one JSON object"),
            ("[]", "form"),
            ("{}", "form"),
            (r#"{"places":[],"action":"click"}"#, "form"),
            (r#"{"places":[],"places":[]}"#, "form"),
            (r#"{"places":[{"box":[1,2,3]}]}"#, "form"),
            (r#"{"places":[{"box":["1",2,3,4]}]}"#, "form"),
            (r#"{"places":[{"box":[1,2,3,4],"run":"rm"}]}"#, "form"),
            (r#"{"places":[{}]}"#, "without `box`"),
            (r#"{"places":[{"box":[1,2,3,4],"point":[1,2]}]}"#, "with both"),
            (r#"{"places":[{"box":[-1,2,3,4]}]}"#, "within"),
            (r#"{"places":[{"box":[1,2,101,4]}]}"#, "within"),
            (r#"{"places":[{"box":[3,2,1,4]}]}"#, "within"),
            (r#"{"places":[{"box":[1,2,1,4]}]}"#, "within"),
            (r#"{"places":[{"box":[1,2,3,51]}]}"#, "within"),
            (r#"{"places":[{"point":[100,2]}]}"#, "within"),
            (r#"{"places":[{"point":[1,-0.1]}]}"#, "within"),
            (r#"{"places":[{"point":[1e999,1]}]}"#, "JSON"),
            (r#"{"places":[{"point":[1,1],"confidence":2}]}"#, "confidence"),
            (r#"{"places":[{"point":[1,1]},{"point":[1,99]}]}"#, "within"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
        let many = format!(r#"{{"places":[{}]}}"#, [r#"{"point":[1,1]}"#; MAX_PLACES + 1].join(","));
        assert!(read(&many).expect_err("too many").contains("more than"));
    }

    #[test]
    fn what_is_shown_of_a_text_is_short_and_has_no_control_characters() {
        let text = shown(&format!("a\u{1b}[31m\n\u{202e}\"{}", "x".repeat(1_000)));
        assert!(text.starts_with("a\\u{1b}[31m\\n\\u{202e}\\\"x") && text.ends_with("x…"), "{text}");
        assert!(text.chars().count() <= MAX_SHOWN + 1);
        assert_eq!(shown("so"), "so");
        assert_eq!(shown(&"\u{7}".repeat(500)).chars().count(), MAX_SHOWN + 1);
    }
}
