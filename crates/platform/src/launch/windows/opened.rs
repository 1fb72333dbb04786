//! What is held open while a plan is started, so that what was checked is what starts: working folder and programs.

use std::fs::OpenOptions;
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::path::Path;

use super::command_line::{plain, zero_ended};
use crate::fs::{FileId, FileKind, Stat};
use crate::launch::{LaunchCommand, LaunchError};
use crate::programs::is_program_name;

/// `GENERIC_READ`.
const GENERIC_READ: u32 = 0x8000_0000;
/// `FILE_LIST_DIRECTORY`, as which a folder is opened so that what others share counts.
const LIST: u32 = 1;
/// `FILE_SHARE_READ`.
const SHARE_READ: u32 = 1;
/// `FILE_SHARE_WRITE`: of a folder, that entries can be made in it.
const SHARE_WRITE: u32 = 2;
/// `FILE_FLAG_BACKUP_SEMANTICS`, without which no folder is opened.
const BACKUP_SEMANTICS: u32 = 0x0200_0000;

/// A working folder that cannot be renamed or removed, nor any folder above it, while this is held.
#[derive(Debug)]
pub(super) struct Folder {
    /// Its path, with a zero at its end.
    pub(super) path: Vec<u16>,
    _held: OwnedHandle,
}

impl Folder {
    /// Holds the folder at a path, if it is the one that was opened before.
    pub(super) fn hold(path: &Path, opened: &OwnedHandle) -> Result<Self, LaunchError> {
        let failed = |error: io::Error| step("working folder", error);
        let held = open_folder(path).map_err(failed)?;
        let (there, wanted) = (identify(&held).map_err(failed)?, identify(opened).map_err(failed)?);
        if there != wanted {
            return Err(step("working folder", "it is another folder than the one that was opened"));
        }
        Self::of(path, held).map_err(failed)
    }

    /// Holds the folder at a path that another process holds meanwhile, and has looked at.
    pub(super) fn hold_again(path: &Path) -> Result<Self, LaunchError> {
        open_folder(path).and_then(|held| Self::of(path, held)).map_err(|error| step("working folder", error))
    }

    fn of(path: &Path, held: OwnedHandle) -> io::Result<Self> {
        Ok(Self { path: zero_ended(plain(path).as_os_str())?, _held: held })
    }
}

/// A program whose file cannot be written, renamed or removed while this is held.
#[derive(Debug)]
pub(super) struct Program {
    /// Its path, with a zero at its end.
    pub(super) path: Vec<u16>,
    _held: OwnedHandle,
}

impl Program {
    /// Holds the program of a command, if it is the file that was checked.
    pub(super) fn hold(command: &LaunchCommand) -> Result<Self, LaunchError> {
        let path = &command.program;
        if !is_program_name(&path.file_name().unwrap_or_default().to_string_lossy()) {
            return Err(step(
                "program",
                format!("{} is no program that Windows starts itself", path.display()),
            ));
        }
        let changed = || LaunchError::ProgramChanged(path.clone());
        let mut options = OpenOptions::new();
        options.access_mode(GENERIC_READ).share_mode(SHARE_READ);
        let held = OwnedHandle::from(options.open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => changed(),
            _ => step("open program", error),
        })?);
        if identify(&held).map_err(|error| step("open program", error))? != command.identity {
            return Err(changed());
        }
        let path = zero_ended(plain(path).as_os_str()).map_err(|error| step("open program", error))?;
        Ok(Self { path, _held: held })
    }
}

fn open_folder(path: &Path) -> io::Result<OwnedHandle> {
    let mut options = OpenOptions::new();
    options.access_mode(LIST).share_mode(SHARE_READ | SHARE_WRITE).custom_flags(BACKUP_SEMANTICS);
    options.open(path).map(OwnedHandle::from)
}

fn identify(file: &OwnedHandle) -> io::Result<FileId> {
    let stat = Stat::of_open(file.as_handle())?;
    if stat.kind == FileKind::Symlink { Err(io::ErrorKind::InvalidInput.into()) } else { Ok(stat.id) }
}

/// Creates the error of a step of the preparation.
pub(super) fn step(step: &str, reason: impl ToString) -> LaunchError {
    LaunchError::Step { step: step.to_owned(), reason: reason.to_string() }
}
