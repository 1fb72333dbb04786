//! Letting two entries trade places where the system has no single step for it.

use std::ffi::OsStr;

use super::{FileError, WritableDir};

impl WritableDir {
    /// Lets two entries trade places by way of a free name in the other folder.
    pub(super) fn exchange_by_way_of(
        &self,
        name: &OsStr,
        with: &Self,
        other_name: &OsStr,
        aside: &OsStr,
    ) -> Result<(), FileError> {
        with.rename_to_free(other_name, with, aside)?;
        if let Err(error) = self.rename_to_free(name, with, other_name) {
            with.rename_to_free(aside, with, other_name)?;
            return Err(error);
        }
        with.rename_to_free(aside, self, name)
    }
}
