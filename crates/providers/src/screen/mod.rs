//! Pictures: taken as a scope may see them, and from a display's pixels to what is sent.
//!
//! `shot` captures and has the policy judge each window, `control` changes windows that it shows, `clipboard` reads what one of its programs has copied, `input` uses pointer
//! and keyboard, `video` records; all else is pure computation.

mod access;
mod apps;
mod clipboard;
mod control;
mod decode;
mod encode;
mod fit;
mod input;
mod lane;
mod ocr;
mod picture;
mod scale;
mod shot;
mod video;
mod workspace;

pub use access::{AccessState, access_state};
pub use apps::{App, Apps, apps};
pub use clipboard::{
    ClipboardReturn, ClipboardStore, SavedClipboard, TemporaryClipboard, read_clipboard, save_clipboard,
};
pub use control::{WindowChanged, change_window};
pub use decode::decode;
pub use encode::{Format, encode};
pub use fit::{ImageFile, fit};
pub use input::{
    Act, ClosedProcesses, InputError, InputOrder, InputPoint, InputSeen, act as act_if,
    release as release_input,
};
pub use lane::{InputLanes, InputTurn, NoTurn};
pub use ocr::{OCR_PACKAGE, OcrContext, OcrLine, OcrWord, has_ocr, read_text};
pub use picture::{Picture, black_out};
pub use scale::{fitting, scale};
pub use shot::{Coverage, Screenshot, ScreenshotError, of_display, of_window, withheld};
pub use video::{
    Mp4Writer, Recording, RecordingEnd, RecordingError, RecordingOrder, RecordingTarget, VideoEncoder, record,
};
pub use workspace::switch_workspace;
