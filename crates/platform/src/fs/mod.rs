//! The door to the file system: every file of a scope is reached by handle, beneath its root.
//!
//! A [`Root`] is an open folder. Everything else is opened relative to it, and no step of a
//! resolution follows a symbolic link: links are read by hand ([`Root::resolve_links`]), so that the
//! caller can judge where they lead before anything is opened. There is no check-then-open.

#[cfg_attr(unix, path = "unix/attributes.rs")]
#[cfg_attr(windows, path = "windows/attributes.rs")]
mod attributes;
#[cfg_attr(unix, path = "unix/beneath.rs")]
#[cfg_attr(windows, path = "windows/beneath.rs")]
mod beneath;
#[cfg(target_os = "linux")]
#[path = "unix/cached.rs"]
mod cached;
#[cfg_attr(unix, path = "unix/change.rs")]
#[cfg_attr(windows, path = "windows/change.rs")]
mod change;
mod claim;
#[cfg_attr(unix, path = "unix/dir.rs")]
#[cfg_attr(windows, path = "windows/dir.rs")]
mod dir;
mod file_error;
mod entries;
mod entry_mode;
#[cfg_attr(unix, path = "unix/errors.rs")]
#[cfg_attr(windows, path = "windows/errors.rs")]
mod errors;
mod exchange;
#[cfg_attr(unix, path = "unix/facts.rs")]
#[cfg_attr(windows, path = "windows/facts.rs")]
mod facts;
mod file_lock;
#[cfg_attr(unix, path = "unix/guard.rs")]
#[cfg_attr(windows, path = "windows/guard.rs")]
mod guard;
mod holes;
mod links;
#[cfg(unix)]
mod listings;
pub mod modes;
#[cfg_attr(unix, path = "unix/naming.rs")]
#[cfg_attr(windows, path = "windows/naming.rs")]
mod naming;
#[cfg(windows)]
#[path = "windows/notify.rs"]
mod notify;
mod opened;
mod own_file;
mod ownership;
#[cfg_attr(unix, path = "unix/ownership.rs")]
#[cfg_attr(windows, path = "windows/ownership.rs")]
mod ownership_told;
mod private;
#[cfg_attr(unix, path = "unix/protection.rs")]
#[cfg_attr(windows, path = "windows/protection.rs")]
mod protection;
#[cfg(unix)]
#[path = "unix/regular.rs"]
mod regular;
mod rel_path;
#[cfg_attr(unix, path = "unix/remove_tree.rs")]
#[cfg_attr(windows, path = "windows/remove_tree.rs")]
mod remove_tree;
mod resolve;
mod retained_folder;
mod retained_things;
mod retention_clock;
#[cfg_attr(unix, path = "unix/root.rs")]
#[cfg_attr(windows, path = "windows/root.rs")]
mod root;
#[cfg(unix)]
#[path = "unix/spelling.rs"]
mod spelling;
mod stat;
#[cfg(windows)]
#[path = "windows/sys.rs"]
mod sys;
#[cfg(all(test, windows))]
#[path = "windows/tests.rs"]
mod tests;
#[cfg_attr(unix, path = "unix/volume.rs")]
#[cfg_attr(windows, path = "windows/volume.rs")]
mod volume;
mod watch;
#[cfg(windows)]
#[path = "windows/watch.rs"]
mod watch_windows;
mod writable_dir;
mod writers;

pub use attributes::{AttributeList, Attributes, ChangeAttributes};
pub use claim::{ABANDONED_AFTER, claim_file, hold_file, is_older, is_unheld};
pub use dir::{Dir, DirEntry};
pub use entries::{Entries, EntryPage, FirstInOrder, MAX_LISTED};
pub use entry_mode::CAN_RESTORE_TREES;
pub use file_error::FileError;
pub use file_lock::FileLock;
pub use guard::{Exposure, create_private_dir};
pub use holes::next_data;
pub use opened::ReadableFile;
pub use own_file::{FileStamp, OwnFileError, Secrecy, open_own_file, read_own_file};
pub use ownership::{OtherUsers, Owner, Ownership};
pub use private::{
    create_private_file, half_written_files, new_private_file, remove_half_written, replace_file,
    replace_private_file, write_private_file,
};
pub use protection::Protection;
pub use rel_path::{PathProblem, RelPath};
pub use remove_tree::remove_tree;
pub use resolve::{PathLink, ResolvedPath};
pub use retained_folder::{RetainedFolder, RetentionLimits};
pub use retained_things::RetainedThings;
pub use retention_clock::RetentionClock;
pub use root::Root;
pub use stat::{FileId, FileKind, NO_USER, Stat};
#[cfg(windows)]
pub(super) use sys::is_removed;
pub use volume::Volume;
pub use watch::{DrainResult, FolderEvent, FolderWatch, WatchId};
pub use writable_dir::WritableDir;
pub use writers::is_open_for_writing;
