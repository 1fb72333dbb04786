//! Who this user is to Windows, and who else has rights to something.

mod rights;
mod sys;

pub(super) use rights::private_pipe;
pub use rights::{Object, Others, Rights, make_private_folder, narrow_file, narrow_folder};
