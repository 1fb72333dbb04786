//! Whether files that are open may be written, and their time. There are no bits and no numbers of owners here.

use std::fs::File;
use std::os::windows::io::{AsHandle, BorrowedHandle};
use std::time::{Duration, UNIX_EPOCH};

use super::beneath::{EXISTING, LOOK};
use super::facts::READ_CONTROL;
use super::sys::{self, Opening};
use super::{Dir, FileError, NO_USER, Stat, WritableDir};
use crate::windows::{Object, Rights};

/// `FILE_WRITE_ATTRIBUTES`.
const WRITE_ATTRIBUTES: u32 = 0x100;
/// `WRITE_DAC`: the right to say who has rights.
const WRITE_CONTROL: u32 = READ_CONTROL | 0x0004_0000;

/// Extended attributes: names and values.
pub type AttributeList = Vec<(Vec<u8>, Vec<u8>)>;

/// Something open whose facts can be read.
pub trait Attributes {
    /// Returns the handle to act on.
    fn handle(&self) -> BorrowedHandle<'_>;

    /// Returns its facts.
    ///
    /// # Errors
    /// The usual ones.
    fn facts(&self) -> Result<Stat, FileError> {
        Ok(Stat::of_open(self.handle())?)
    }

    /// Returns none: what a file has beside its content is its list of rights, which is carried over as a whole.
    ///
    /// # Errors
    /// None.
    fn attributes(&self) -> Result<AttributeList, FileError> {
        Ok(Vec::new())
    }
}

/// Something open whose facts can be changed: a folder only where its entries can be, too.
pub trait ChangeAttributes: Attributes {
    /// Sets whether it may be written, which is all that the bits mean here. Of a folder it means nothing.
    ///
    /// # Errors
    /// The usual ones.
    fn set_mode(&self, mode: u32) -> Result<(), FileError> {
        let file = again(self.handle())?;
        let facts = file.metadata()?;
        let mut permissions = facts.permissions();
        if facts.is_dir() || permissions.readonly() == (mode & 0o200 == 0) {
            return Ok(());
        }
        permissions.set_readonly(mode & 0o200 == 0);
        Ok(file.set_permissions(permissions)?)
    }

    /// Refuses to give it to another user: owners have no numbers here.
    ///
    /// # Errors
    /// [`FileError::Denied`].
    fn set_user(&self, user: u32) -> Result<(), FileError> {
        if user == NO_USER { Ok(()) } else { Err(FileError::Denied) }
    }

    /// Refuses to give it to another group, as [`ChangeAttributes::set_user`].
    ///
    /// # Errors
    /// [`FileError::Denied`].
    fn set_group(&self, group: u32) -> Result<(), FileError> {
        self.set_user(group)
    }

    /// Sets the time of the last change to that of `stat`.
    ///
    /// # Errors
    /// The usual ones.
    fn set_modified_as(&self, stat: &Stat) -> Result<(), FileError> {
        self.set_modified_ns(stat.modified_ns)
    }

    /// Sets the time of the last change, in nanoseconds since the epoch.
    ///
    /// # Errors
    /// The usual ones.
    fn set_modified_ns(&self, modified_ns: i128) -> Result<(), FileError> {
        let since = u64::try_from(modified_ns).unwrap_or(0);
        Ok(again(self.handle())?.set_modified(UNIX_EPOCH + Duration::from_nanos(since))?)
    }

    /// Sets nothing, as [`Attributes::attributes`] returns nothing, and shows whether that was all.
    fn set_attributes(&self, attributes: &[(Vec<u8>, Vec<u8>)]) -> bool {
        attributes.is_empty()
    }

    /// Carries the list of rights of `from` over, as far as it is its own and not what its folder hands down. Streams and
    /// attributes stay behind with the old content, and what it says of where it came from (`Zone.Identifier`) does too.
    ///
    /// # Errors
    /// The usual ones.
    fn copy_attributes(&self, from: &impl Attributes) -> Result<bool, FileError> {
        let opening = Opening { access: LOOK | WRITE_CONTROL, disposition: EXISTING, options: 0 };
        let Some(list) = Rights::of(from.handle(), Object::File).ok().and_then(|rights| rights.own_part())
        else {
            return Ok(true);
        };
        list.give(sys::open_at(self.handle(), &[], opening)?.as_handle())?;
        Ok(true)
    }
}

impl Attributes for File {
    fn handle(&self) -> BorrowedHandle<'_> {
        self.as_handle()
    }
}

impl ChangeAttributes for File {}

impl ChangeAttributes for WritableDir {}

impl Attributes for WritableDir {
    fn handle(&self) -> BorrowedHandle<'_> {
        self.as_handle()
    }
}

impl Attributes for Dir {
    fn handle(&self) -> BorrowedHandle<'_> {
        self.as_handle()
    }
}

/// Opens what is open once more, with the right to change its attributes.
fn again(file: BorrowedHandle<'_>) -> Result<File, FileError> {
    let opening = Opening { access: LOOK | WRITE_ATTRIBUTES, disposition: EXISTING, options: 0 };
    Ok(File::from(sys::open_at(file, &[], opening)?))
}
