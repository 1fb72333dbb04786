//! Recordings: pictures of a screen as video. All but `recording` is pure computation.

mod bits;
mod cavlc;
mod colour;
mod encoder;
mod mp4;
mod recording;
mod transform;

pub use encoder::VideoEncoder;
pub use mp4::Mp4Writer;
pub use recording::{Recording, RecordingEnd, RecordingError, RecordingOrder, RecordingTarget, record};
