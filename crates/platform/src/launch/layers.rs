//! The names of the layers that can hold a command, and of what stays open without them.
//!
//! A supervisor reports bits; results show the names.

/// A set of names of a table, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Names(pub(super) u32);

impl Names {
    #[cfg(unix)]
    pub(super) const fn with(self, bit: u32) -> Self {
        Self(self.0 | bit)
    }

    /// Finds the bits of names.
    pub(super) fn of(table: &[(u32, &'static str)], names: &[&'static str]) -> Self {
        let bits = table.iter().filter(|(_, name)| names.contains(name)).map(|(bit, _)| bit);
        Self(bits.fold(0, |all, bit| all | bit))
    }

    pub(super) fn show(self, table: &[(u32, &'static str)]) -> Vec<&'static str> {
        table.iter().filter(|(bit, _)| self.0 & bit != 0).map(|(_, name)| *name).collect()
    }
}

/// What can be in force.
pub(super) mod layer {
    pub(in super::super) const SESSION: u32 = 1;
    pub(in super::super) const LIMITS: u32 = 1 << 1;
    pub(in super::super) const USER_NAMESPACE: u32 = 1 << 2;
    pub(in super::super) const MOUNT_NAMESPACE: u32 = 1 << 3;
    pub(in super::super) const PROCESS_NAMESPACE: u32 = 1 << 4;
    pub(in super::super) const NETWORK_NAMESPACE: u32 = 1 << 5;
    pub(in super::super) const IPC_NAMESPACE: u32 = 1 << 6;
    pub(in super::super) const NO_CAPABILITIES: u32 = 1 << 7;
    pub(in super::super) const NO_NEW_PRIVILEGES: u32 = 1 << 8;
    pub(in super::super) const LANDLOCK: u32 = 1 << 9;
    pub(in super::super) const SECCOMP: u32 = 1 << 10;
    pub(in super::super) const SANDBOX_EXEC: u32 = 1 << 11;
    /// A control group of Linux, which bounds the memory that all processes take together.
    pub(in super::super) const CONTROL_GROUP: u32 = 1 << 12;
    /// A job object of Windows, which leaves nothing behind.
    pub(in super::super) const JOB_OBJECT: u32 = 1 << 20;

    /// The names, in the order in which the layers are put on.
    pub(in super::super) const NAMES: &[(u32, &str)] = &[
        (SESSION, "session"),
        (LIMITS, "limits"),
        (CONTROL_GROUP, "controlGroup"),
        (USER_NAMESPACE, "userNamespace"),
        (MOUNT_NAMESPACE, "mountNamespace"),
        (PROCESS_NAMESPACE, "processNamespace"),
        (NETWORK_NAMESPACE, "networkNamespace"),
        (IPC_NAMESPACE, "ipcNamespace"),
        (NO_CAPABILITIES, "noCapabilities"),
        (NO_NEW_PRIVILEGES, "noNewPrivileges"),
        (LANDLOCK, "landlock"),
        (SECCOMP, "seccomp"),
        (SANDBOX_EXEC, "sandbox-exec"),
        (JOB_OBJECT, "jobObject"),
    ];
}

/// What can stay open.
pub(super) mod open {
    /// Files outside the roots can be read and written.
    pub(in super::super) const FILES: u32 = 1;
    /// Modes, times and attributes of files outside the roots can be seen, and changed where the user may.
    pub(in super::super) const METADATA: u32 = 1 << 1;
    /// Protected names of the roots can be written.
    pub(in super::super) const PROTECTED_NAMES: u32 = 1 << 2;
    /// Other processes and their command lines can be seen.
    pub(in super::super) const PROCESS_LIST: u32 = 1 << 3;
    /// Other processes of the user can be signalled.
    pub(in super::super) const SIGNALS: u32 = 1 << 4;
    /// The whole network can be reached although less was asked for.
    pub(in super::super) const NETWORK: u32 = 1 << 5;
    /// Sockets with a path can be connected to.
    pub(in super::super) const PATH_SOCKETS: u32 = 1 << 6;
    /// Abstract sockets of the machine can be connected to.
    pub(in super::super) const ABSTRACT_SOCKETS: u32 = 1 << 7;
    /// Every system call can be made.
    pub(in super::super) const SYSTEM_CALLS: u32 = 1 << 8;
    /// More processes than the limit can be started.
    pub(in super::super) const PROCESS_LIMIT: u32 = 1 << 9;
    /// Files outside the roots can be cut to a length of nothing where they can be written (Landlock before 3).
    pub(in super::super) const TRUNCATE: u32 = 1 << 10;
    /// Devices that can be opened take any ioctl (Landlock before 5).
    pub(in super::super) const DEVICE_CONTROL: u32 = 1 << 11;
    /// Namespaces and mounts can be made inside, and Landlock is left out for it.
    pub(in super::super) const INNER_SANDBOXES: u32 = 1 << 12;

    /// More memory than the limit can be taken: macOS does not hold to it.
    pub(in super::super) const MEMORY_LIMIT: u32 = 1 << 13;
    /// What is reached as loopback is the computer's own, with all that listens there.
    pub(in super::super) const LOCAL_SERVICES: u32 = 1 << 14;
    /// A process that hides from its parent can outlive its job, still held as it was.
    pub(in super::super) const DETACHED_PROCESSES: u32 = 1 << 15;
    /// Nothing bounds the memory that all processes take together.
    pub(in super::super) const JOB_MEMORY: u32 = 1 << 16;
    /// Files of the roots that are closed as sensitive can be read.
    pub(in super::super) const CLOSED_FILES: u32 = 1 << 17;

    /// The names.
    pub(in super::super) const NAMES: &[(u32, &str)] = &[
        (FILES, "files"),
        (METADATA, "metadata"),
        (PROTECTED_NAMES, "protectedNames"),
        (PROCESS_LIST, "processList"),
        (SIGNALS, "signals"),
        (NETWORK, "network"),
        (PATH_SOCKETS, "pathSockets"),
        (ABSTRACT_SOCKETS, "abstractSockets"),
        (SYSTEM_CALLS, "systemCalls"),
        (PROCESS_LIMIT, "processLimit"),
        (TRUNCATE, "truncate"),
        (DEVICE_CONTROL, "deviceControl"),
        (INNER_SANDBOXES, "innerSandboxes"),
        (MEMORY_LIMIT, "memoryLimit"),
        (LOCAL_SERVICES, "localServices"),
        (DETACHED_PROCESSES, "detachedProcesses"),
        (JOB_MEMORY, "jobMemory"),
        (CLOSED_FILES, "closedFiles"),
    ];
}
