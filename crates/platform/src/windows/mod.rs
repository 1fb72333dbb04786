//! Who this user is to Windows, and who else has rights to something.

mod console;
mod processes;
mod rights;
mod sys;

pub(super) use console::say_into;
pub(crate) use processes::{RunningProcess, process_birth, processes};
pub use rights::{Object, OwnList, Rights, make_private_folder, narrow_file, narrow_folder, set_rights};
pub(super) use rights::{own_account, private_pipe};
pub(crate) use sys::integrity;
pub(super) use sys::version;
