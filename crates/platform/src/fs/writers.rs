//! Whether somebody has a file open for writing.

#![cfg_attr(target_os = "linux", expect(unsafe_code, reason = "no crate that is used here has leases"))]

use std::fs::File;

/// Returns whether somebody has a file open for writing, in this process or another; `None` where the system does not
/// tell. The file has to be open for reading alone.
#[cfg(target_os = "linux")]
pub fn is_open_for_writing(file: &File) -> Option<bool> {
    use std::os::fd::AsRawFd;

    use nix::libc;

    /// # Source
    /// Linux, `include/uapi/asm-generic/fcntl.h`.
    const F_SETSIG: libc::c_int = 10;

    let call = |command: libc::c_int, value: libc::c_int| {
        // SAFETY: these commands take a number and touch no memory of this process.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, value) } {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    // Who opens it while the lease is there has it end, with a signal that does nothing unless it is asked for; the one
    // that is sent otherwise ends the process.
    call(F_SETSIG, libc::SIGURG).ok()?;
    match call(libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            let _ = call(libc::F_SETLEASE, libc::F_UNLCK);
            Some(false)
        }
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Some(true),
        // The file of another user, or a file system without leases.
        Err(_) => None,
    }
}

/// Returns `None`: this system is not asked.
#[cfg(not(target_os = "linux"))]
pub const fn is_open_for_writing(_: &File) -> Option<bool> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn who_writes_is_known_and_who_reads_does_not_count() {
        let path = std::env::temp_dir().join(format!("bailiwick-writers-{}", std::process::id()));
        std::fs::write(&path, "text").expect("written");
        let (file, reader) = (File::open(&path).expect("opened"), File::open(&path).expect("opened"));
        if is_open_for_writing(&file).is_some() {
            assert_eq!(is_open_for_writing(&file), Some(false));
            let writer = File::options().append(true).open(&path).expect("opened");
            assert_eq!(is_open_for_writing(&file), Some(true));
            drop(writer);
            assert_eq!(is_open_for_writing(&file), Some(false));
        }
        drop((file, reader));
        std::fs::remove_file(&path).expect("it was made above");
    }
}
