//! Files: reading windows of them, replacing them as a whole, and whole trees.
//!
//! Takes [`bailiwick_policy::PermittedPath`] and [`bailiwick_policy::WritablePath`] only. No judgement is made here but by asking such a path.

mod aside;
mod batch;
mod change;
mod image;
mod locks;
mod make_folder;
mod place;
mod read;
mod remove;
mod replace;
mod scan;
mod single_byte;
mod temporary;
mod text;
mod trade;
mod transfer;
mod tree;
mod version;
mod window;

pub use aside::{
    KeepFunction, MAX_PLAIN_BYTES, ReplacedContent, Slot, WholeTree, cannot_undo, put_aside, put_back,
    remove_kept,
};
pub use batch::{Site, Step, StepResult, perform, remove_empty_folders, remove_made_folders};
pub use change::{CurrentFile, KnownContent, current};
pub use image::{MAX_IMAGE_BYTES, image_type};
pub use locks::{LockGuards, Locks};
pub use make_folder::make_folders;
pub use place::{CopySource, FileLocation, find_place, missing_folders, rest_of};
pub use read::{Content, Part, ReadRequest, WHOLE_BYTES, read_content, read_content_cached, read_image};
pub use remove::{Removal, RemovalResult, remove};
pub use replace::{IfExists, ReplaceResult, Replacement, replace_held};
pub use single_byte::{decode_single_byte, encode_single_byte, single_byte_text};
pub use temporary::{files_left, is_temporary, places_left};
pub use text::{Encoding, LineEnding, byte_order_mark, decode_utf16, json_end, json_len, line_ending};
pub use transfer::{Transfer, TransferResult, copy, rename};
pub use tree::Counts;
pub use version::{content_version, facts_version, hash_file, sha256_hex};
pub use window::Marks;

pub(crate) use temporary::{TemporaryName, sweep_at_once};
pub(crate) use trade::keep_both;

use change::{ExistingFile, existing};
