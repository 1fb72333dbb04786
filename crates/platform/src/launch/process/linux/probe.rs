//! Finds out what this computer can hold a command with, by trying it.

use std::io;

use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, fsconfig_create, fsmount, fsopen, move_mount,
};

use super::filter;
use super::namespaces::{Owner, flags, raise_loopback};
use crate::launch::{Levels, sys};
use bailiwick_contract::command::{Containment, Network};

/// The steps of a sandbox that can fail for the machine's sake, each with the hint that helps.
const STEPS: &[(&str, &str)] = &[
    ("the user cannot be mapped into a namespace", "unprivileged user namespaces are restricted here"),
    ("a private root cannot be mounted", "unprivileged user namespaces are restricted here"),
    ("a private /proc cannot be mounted", "parts of /proc are hidden here, as in a container"),
    ("the private loopback cannot be switched on", "network namespaces are restricted here"),
];

/// Looks what this computer can do.
pub(in super::super::super) fn probe() -> Levels {
    let landlock_abi = sys::landlock_version();
    let partial_missing = if !filter::exists() {
        Some("there is no filter of system calls for this processor".to_owned())
    } else if !sys::has_seccomp_filters() {
        Some("the kernel has no filters of system calls (seccomp)".to_owned())
    } else if landlock_abi == 0 {
        Some("the kernel has no Landlock, or it is not switched on (`lsm=landlock,…`)".to_owned())
    } else {
        None
    };
    let full_missing = partial_missing.clone().or_else(try_namespaces);
    let strongest = match (&full_missing, &partial_missing) {
        (None, _) => Containment::Full,
        (_, None) => Containment::Partial,
        _ => Containment::None,
    };
    Levels { strongest, full_missing, partial_missing, landlock_abi }
}

/// Creates the namespaces of a sandbox in a process of its own. Returns why that fails.
fn try_namespaces() -> Option<String> {
    let owner = Owner::current();
    let forked = match sys::fork_into(flags(Containment::Full, Network::Loopback)) {
        Ok(forked) => forked,
        Err(error) => return Some(format!("namespaces cannot be made: {error}")),
    };
    match forked {
        sys::ForkSide::Child => {
            // This may be the copy of a process with threads: system calls only, and no memory allocated. Locks of that process
            // are not to outlive it here.
            let _ = sys::close_descriptors(sys::Descriptors::Close);
            let failed = steps(owner).err();
            sys::exit_now(failed.map_or(0, |step| i32::from(step) + 1))
        }
        sys::ForkSide::Parent(child) => loop {
            match waitpid(Pid::from_raw(child), None) {
                Ok(WaitStatus::Exited(_, 0)) => return None,
                Ok(WaitStatus::Exited(_, code)) => {
                    let step = usize::try_from(code - 1).ok().and_then(|step| STEPS.get(step));
                    return Some(step.map_or_else(
                        || "a sandbox cannot be made".to_owned(),
                        |(what, why)| format!("{what}: {why}"),
                    ));
                }
                Ok(WaitStatus::Signaled(..)) => {
                    return Some("a sandbox is killed when it is made".to_owned());
                }
                Ok(_) | Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Some(format!("a sandbox cannot be tried: {error}")),
            }
        },
    }
}

fn steps(owner: Owner) -> Result<(), u8> {
    let no_flags = MountAttrFlags::empty();
    let mount = |name: &std::ffi::CStr| -> io::Result<std::os::fd::OwnedFd> {
        let made = fsopen(name, FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&made)?;
        Ok(fsmount(&made, FsMountFlags::FSMOUNT_CLOEXEC, no_flags)?)
    };
    owner.map().map_err(|_| 0)?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    let attach = |top: std::os::fd::OwnedFd| Ok(move_mount(&top, c"", rustix::fs::CWD, c"/", flags)?);
    mount(c"tmpfs").and_then(attach).map_err(|_| 1)?;
    mount(c"proc").map_err(|_| 2)?;
    raise_loopback().map_err(|_| 3)
}
