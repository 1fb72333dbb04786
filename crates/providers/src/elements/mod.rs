//! Elements of windows: what a snapshot of them holds, finding the same element again before it is acted on, and what came
//! of acting.
//!
//! What programs say of their elements is a stranger's word: it is cut and escaped, and an element that is not plainly the
//! one that was seen is not acted on.

mod access;
mod dialogs;
mod file_dialogs;
mod identity;
mod lines;
mod matching;
mod menus;
mod outcome;
mod scene;
#[cfg(test)]
mod shuffled;
mod snapshot;
mod store;

pub use access::Elements;
pub use dialogs::{buttons, buttons_titled, dismissing_button, is_titled, text_fields};
pub use file_dialogs::{SHOW_LOCATION, accepting_buttons, location_fields, possible_file_choosers};
pub use identity::{Identity, identify, resolve, resolve_out_of_view};
pub use lines::{is_checkable, line, quoted};
pub use matching::{Candidate, Description, FindResult, find_element, item_name, items_named, items_of};
pub use menus::{MenuEntry, MenuPathError, is_submenu, menu_entries, menu_entry, menu_level, same_title};
pub use outcome::{ActionEffect, Change, compare};
pub use scene::{SceneError, WindowScene, judge_again, scene, windows_of_program};
pub use snapshot::{ListedElement, Snapshot, View, has_number, has_text, see};
pub use store::{Owner, Snapshots};
