//! The door to the file system: every file of a scope is reached by handle, beneath its root.
//!
//! A [`Root`] is an open folder. Everything else is opened relative to it, and no step of a
//! resolution follows a symbolic link: links are read by hand ([`Root::resolve_links`]), so that the
//! caller can judge where they lead before anything is opened. There is no check-then-open.

mod attributes;
mod beneath;
mod change;
mod dir;
mod door_error;
mod file_lock;
mod own_file;
mod private;
mod rel_path;
mod root;
mod stat;
mod volume;
mod watch;

pub use attributes::Attributes;
pub use dir::{Dir, DirEntry};
pub use door_error::DoorError;
pub use file_lock::FileLock;
pub use own_file::{FileStamp, OwnFileError, Secrecy, read_own_file};
pub use private::{create_private_dir, create_private_file, replace_private_file};
pub use rel_path::{PathProblem, RelPath};
pub use root::{Opened, Root};
pub use stat::{FileId, FileKind, Stat};
pub use volume::Volume;
pub use watch::{Drained, FolderEvent, FolderWatch, WatchId};
