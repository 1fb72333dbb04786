//! The seccomp filter: which system calls a held program cannot make.
//!
//! Of the system calls that are known here everything is allowed but what is listed, so that ordinary tools work. What a
//! newer kernel has besides is answered as an older kernel would. The program searches the list
//! by halves: the kernel tries every system call once when a filter is put in force, and a chain of
//! comparisons would make that the costliest part of a start.

use nix::libc;

use crate::launch::{InnerSandboxes, SetGroupId};
use bailiwick_contract::command::{Containment, Network};

/// One instruction of a filter.
pub(super) type Instruction = libc::sock_filter;

/// How a system call is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Allow,
    Error(i32),
    Kill,
}

/// What is done with a listed system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Answer(Answer),
    /// `clone` and `unshare`: none of these new namespaces.
    Without(u32),
    /// `ioctl`: nothing that types into a terminal.
    Ioctl,
    /// `socket`: by family, and netlink for routes alone.
    Socket,
    /// `socketpair`: by family.
    SocketPair,
    /// `mmap`: memory alone, no file, and nothing that can be executed.
    Memory,
    /// `mprotect`: nothing that can be executed.
    NotExecutable,
    /// Refused where the first argument is this.
    Unless(u32),
    /// Only for the calling process, whose number is given as 0.
    OwnProcess,
    /// The argument with this index is a mode, which must not let others run the file as its owner or group.
    Mode(u32),
    /// The same, where the argument before it are flags that make a file.
    ModeOfNewFile(u32),
}

/// The audit number of this processor's system calls; none where there is no filter for it.
///
/// # Source
/// linux/audit.h, `AUDIT_ARCH_*`.
const ARCHITECTURE: Option<u32> = if cfg!(target_arch = "x86_64") {
    Some(0xc000_003e)
} else if cfg!(target_arch = "aarch64") {
    Some(0xc000_00b7)
} else {
    None
};

/// The same numbers everywhere; libc does not name them on every processor yet.
const SYS_FCHMODAT2: libc::c_long = 452;
const SYS_OPEN_TREE_ATTR: libc::c_long = 467;

/// The last system call that was checked for this filter. What has a higher number does not exist inside: neither
/// newer ones nor those of the x32 interface.
const LAST_KNOWN: libc::c_long = SYS_OPEN_TREE_ATTR;

/// The bits of a mode with which others run a file as its owner, and as its group.
const SET_USER_ID: u32 = 0o4000;
const SET_GROUP_ID: u32 = 0o2000;

/// The flags of `open` that make a file; only then is there a mode.
const MAKES_A_FILE: u32 = (libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY)).cast_unsigned();

/// `PRIO_USER` and `IOPRIO_WHO_USER`: all processes of the user.
const PRIORITY_OF_USER: u32 = 2;
const IO_PRIORITY_OF_USER: u32 = 3;

/// Memory, messages and locks that all processes of the user share. In a namespace of its own a job shares them with
/// nobody.
const SHARED_WITH_OTHERS: &[libc::c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// System calls that set the mode of a file.
const MODES: &[(libc::c_long, Rule)] = &[
    (libc::SYS_fchmod, Rule::Mode(1)),
    (libc::SYS_fchmodat, Rule::Mode(2)),
    (SYS_FCHMODAT2, Rule::Mode(2)),
    (libc::SYS_mknodat, Rule::Mode(2)),
    (libc::SYS_openat, Rule::ModeOfNewFile(3)),
];

/// More of them, which only this processor has.
#[cfg(target_arch = "x86_64")]
const MODES_HERE: &[(libc::c_long, Rule)] = &[
    (libc::SYS_chmod, Rule::Mode(1)),
    (libc::SYS_creat, Rule::Mode(1)),
    (libc::SYS_mknod, Rule::Mode(1)),
    (libc::SYS_open, Rule::ModeOfNewFile(2)),
];
/// More of them, which only this processor has.
#[cfg(not(target_arch = "x86_64"))]
const MODES_HERE: &[(libc::c_long, Rule)] = &[];

/// System calls that answer "operation not permitted".
const DENIED: &[libc::c_long] = &[
    // Into other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    // Large interfaces of the kernel that ordinary tools do without.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_fanotify_mark,
    // Mounts, roots and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    // Files past the tree.
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_lookup_dcookie,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    // Keys, which are shared with the user's other processes.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
];

/// More of them, which only this processor has.
#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[libc::c_long] =
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_uselib];
/// More of them, which only this processor has.
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[libc::c_long] = &[];

/// The flags of `clone` that make namespaces.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

/// What of that a sandbox inside is made with.
const FOR_INNER_SANDBOXES: &[libc::c_long] =
    &[libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_unshare];

/// What a parse worker needs: it reads, computes, and writes.
const OF_WORKERS: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_futex,
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_sched_yield,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Returns whether there is a filter for this processor.
pub(super) const fn exists() -> bool {
    ARCHITECTURE.is_some()
}

/// Creates the filter for a level and a kind of network. None where there is none for this processor.
pub(super) fn filter(
    level: Containment,
    network: Network,
    inner: InnerSandboxes,
    set_group_id: SetGroupId,
) -> Option<Vec<Instruction>> {
    let refused_bits = match set_group_id {
        SetGroupId::Refused => SET_USER_ID | SET_GROUP_ID,
        SetGroupId::Allowed => SET_USER_ID,
    };
    let shared_with_others = if level == Containment::Full { &[] } else { SHARED_WITH_OTHERS };
    let denied = Rule::Answer(Answer::Error(libc::EPERM));
    let (socket, pair) = match network {
        Network::None => (denied, Rule::SocketPair),
        Network::Loopback | Network::Hosts | Network::Full => (Rule::Socket, Rule::SocketPair),
    };
    let namespaces = Rule::Without(match inner {
        InnerSandboxes::Refused => NAMESPACES,
        // A sandbox inside does without groups of control, which lead to the limits of the whole.
        InnerSandboxes::Allowed => libc::CLONE_NEWCGROUP.cast_unsigned(),
    });
    let mut rules: Vec<(u32, Rule)> = DENIED
        .iter()
        .chain(DENIED_HERE)
        .chain(shared_with_others)
        .filter(|number| inner == InnerSandboxes::Refused || !FOR_INNER_SANDBOXES.contains(number))
        .map(|number| (*number, denied))
        .chain((inner == InnerSandboxes::Allowed).then_some((libc::SYS_unshare, namespaces)))
        .chain(MODES.iter().chain(MODES_HERE).copied())
        .chain([
            (libc::SYS_clone, namespaces),
            // What they are to do is in memory, where a filter cannot look. Programs continue with `clone` and
            // `openat` then.
            (libc::SYS_clone3, Rule::Answer(Answer::Error(libc::ENOSYS))),
            (libc::SYS_openat2, Rule::Answer(Answer::Error(libc::ENOSYS))),
            (libc::SYS_prlimit64, Rule::OwnProcess),
            (libc::SYS_setpriority, Rule::Unless(PRIORITY_OF_USER)),
            (libc::SYS_ioprio_set, Rule::Unless(IO_PRIORITY_OF_USER)),
            (libc::SYS_ioctl, Rule::Ioctl),
            (libc::SYS_socket, socket),
            (libc::SYS_socketpair, pair),
        ])
        .filter_map(|(number, rule)| Some((u32::try_from(number).ok()?, rule)))
        .collect();
    rules.sort_by_key(|(number, _)| *number);
    assemble(&rules, Answer::Allow, refused_bits)
}

/// Returns the filter of a parse worker, which refuses everything that is not listed. None where there is none for this
/// processor.
pub(super) fn worker_filter() -> Option<Vec<Instruction>> {
    let mut rules: Vec<(u32, Rule)> = OF_WORKERS
        .iter()
        .map(|number| (*number, Rule::Answer(Answer::Allow)))
        .chain([(libc::SYS_mmap, Rule::Memory), (libc::SYS_mprotect, Rule::NotExecutable)])
        .filter_map(|(number, rule)| Some((u32::try_from(number).ok()?, rule)))
        .collect();
    rules.sort_by_key(|(number, _)| *number);
    assemble(&rules, Answer::Error(libc::EPERM), SET_USER_ID | SET_GROUP_ID)
}

/// Returns a program that answers listed system calls by their rules, and all others alike.
fn assemble(rules: &[(u32, Rule)], others: Answer, refused_bits: u32) -> Option<Vec<Instruction>> {
    let mut program = vec![
        load(ARCHITECTURE_OFFSET),
        jump(libc::BPF_JEQ, ARCHITECTURE?, 1, 0)?,
        give(Answer::Kill),
        load(NUMBER_OFFSET),
        jump(libc::BPF_JGT, u32::try_from(LAST_KNOWN).ok()?, 0, 1)?,
        give(Answer::Error(libc::ENOSYS)),
    ];
    program.extend(search(&Span::all(rules), others, refused_bits)?);
    Some(program)
}

/// Neighbouring numbers with the same rule.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: u32,
    last: u32,
    rule: Rule,
}

impl Span {
    /// Joins neighbours. The rules are valid.
    fn all(rules: &[(u32, Rule)]) -> Vec<Self> {
        let mut spans: Vec<Self> = Vec::new();
        for (number, rule) in rules.iter().copied() {
            match spans.last_mut() {
                Some(span) if span.last + 1 == number && span.rule == rule => span.last = number,
                _ => spans.push(Self { first: number, last: number, rule }),
            }
        }
        spans
    }
}

/// Creates the part that finds the rule of a number, by halves.
fn search(spans: &[Span], others: Answer, refused_bits: u32) -> Option<Vec<Instruction>> {
    match spans {
        [] => Some(vec![give(others)]),
        [Span { first, last, rule }] => {
            let answer = decide(*rule, refused_bits)?;
            let mut program = if first == last {
                vec![jump(libc::BPF_JEQ, *first, 0, answer.len())?]
            } else {
                vec![
                    jump(libc::BPF_JGE, *first, 0, 1 + answer.len())?,
                    jump(libc::BPF_JGT, *last, answer.len(), 0)?,
                ]
            };
            program.extend(answer);
            program.push(give(others));
            Some(program)
        }
        _ => {
            let (lower, upper) = spans.split_at(spans.len() / 2);
            let search = |spans| search(spans, others, refused_bits);
            let (below, above) = (search(lower)?, search(upper)?);
            let mut program = vec![jump(libc::BPF_JGE, upper.first()?.first, below.len(), 0)?];
            program.extend(below);
            program.extend(above);
            Some(program)
        }
    }
}

/// Creates the part that answers one system call. It always answers. `refused_bits` are those that no mode gets.
fn decide(rule: Rule, refused_bits: u32) -> Option<Vec<Instruction>> {
    let not_permitted = give(Answer::Error(libc::EPERM));
    let no_family = give(Answer::Error(libc::EAFNOSUPPORT));
    let allow = give(Answer::Allow);
    let equal = |value, yes, no| jump(libc::BPF_JEQ, value, yes, no);
    Some(match rule {
        Rule::Answer(answer) => vec![give(answer)],
        Rule::Without(namespaces) => {
            vec![load(argument(0)), jump(libc::BPF_JSET, namespaces, 0, 1)?, not_permitted, allow]
        }
        Rule::Ioctl => vec![
            load(argument(1)),
            equal(u32::try_from(libc::TIOCSTI).ok()?, 1, 0)?,
            equal(u32::try_from(libc::TIOCLINUX).ok()?, 0, 1)?,
            not_permitted,
            allow,
        ],
        Rule::Socket => vec![
            load(argument(0)),
            equal(family(libc::AF_UNIX)?, 5, 0)?,
            equal(family(libc::AF_INET)?, 4, 0)?,
            equal(family(libc::AF_INET6)?, 3, 0)?,
            equal(family(libc::AF_NETLINK)?, 0, 3)?,
            load(argument(2)),
            equal(family(libc::NETLINK_ROUTE)?, 0, 1)?,
            allow,
            no_family,
        ],
        Rule::SocketPair => {
            vec![load(argument(0)), equal(family(libc::AF_UNIX)?, 0, 1)?, allow, no_family]
        }
        Rule::Memory => vec![
            load(argument(3)),
            jump(libc::BPF_JSET, libc::MAP_ANONYMOUS.cast_unsigned(), 0, 2)?,
            load(argument(2)),
            jump(libc::BPF_JSET, libc::PROT_EXEC.cast_unsigned(), 0, 1)?,
            not_permitted,
            allow,
        ],
        Rule::NotExecutable => vec![
            load(argument(2)),
            jump(libc::BPF_JSET, libc::PROT_EXEC.cast_unsigned(), 0, 1)?,
            not_permitted,
            allow,
        ],
        Rule::Unless(value) => vec![load(argument(0)), equal(value, 0, 1)?, not_permitted, allow],
        Rule::OwnProcess => vec![load(argument(0)), equal(0, 1, 0)?, not_permitted, allow],
        Rule::Mode(index) => {
            vec![load(argument(index)), jump(libc::BPF_JSET, refused_bits, 0, 1)?, not_permitted, allow]
        }
        Rule::ModeOfNewFile(index) => vec![
            load(argument(index - 1)),
            jump(libc::BPF_JSET, MAKES_A_FILE, 0, 3)?,
            load(argument(index)),
            jump(libc::BPF_JSET, refused_bits, 0, 1)?,
            not_permitted,
            allow,
        ],
    })
}

fn family(value: i32) -> Option<u32> {
    u32::try_from(value).ok()
}

/// Where `struct seccomp_data` has the number of the system call.
const NUMBER_OFFSET: u32 = 0;
/// Where it has the architecture.
const ARCHITECTURE_OFFSET: u32 = 4;

/// Where it has the lower half of an argument; the kernel takes no more of those that are checked.
const fn argument(index: u32) -> u32 {
    16 + 8 * index + if cfg!(target_endian = "big") { 4 } else { 0 }
}

#[expect(clippy::cast_possible_truncation, reason = "the codes of instructions are 16 bits")]
const fn load(offset: u32) -> Instruction {
    Instruction { code: (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

fn jump(kind: u32, value: u32, yes: usize, no: usize) -> Option<Instruction> {
    let code = u16::try_from(libc::BPF_JMP | kind | libc::BPF_K).ok()?;
    Some(Instruction { code, jt: u8::try_from(yes).ok()?, jf: u8::try_from(no).ok()?, k: value })
}

#[expect(clippy::cast_possible_truncation, reason = "the codes of instructions are 16 bits")]
fn give(answer: Answer) -> Instruction {
    let value = match answer {
        Answer::Allow => libc::SECCOMP_RET_ALLOW,
        Answer::Error(number) => libc::SECCOMP_RET_ERRNO | number.cast_unsigned(),
        Answer::Kill => libc::SECCOMP_RET_KILL_PROCESS,
    };
    Instruction { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: value }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a filter as the kernel does.
    fn run(program: &[Instruction], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let mut data = Vec::new();
        data.extend_from_slice(&number.to_ne_bytes());
        data.extend_from_slice(&architecture.to_ne_bytes());
        data.extend_from_slice(&[0; 8]);
        for argument in arguments {
            data.extend_from_slice(&argument.to_ne_bytes());
        }
        let (mut at, mut accumulator) = (0, 0_u32);
        loop {
            let Instruction { code, jt, jf, k } = program[at];
            at += 1;
            let code = u32::from(code);
            match code & 7 {
                libc::BPF_LD => {
                    let from = usize::try_from(k).expect("small");
                    accumulator = u32::from_ne_bytes(data[from..from + 4].try_into().expect("four bytes"));
                }
                libc::BPF_RET => return k,
                _ => {
                    let holds = match code & 0xf0 {
                        libc::BPF_JEQ => accumulator == k,
                        libc::BPF_JGE => accumulator >= k,
                        libc::BPF_JGT => accumulator > k,
                        libc::BPF_JSET => accumulator & k != 0,
                        other => panic!("{other:x}"),
                    };
                    at += usize::from(if holds { jt } else { jf });
                }
            }
        }
    }

    fn error(number: i32) -> u32 {
        libc::SECCOMP_RET_ERRNO | number.cast_unsigned()
    }

    #[test]
    fn every_listed_call_is_refused_and_every_other_allowed() {
        let architecture = ARCHITECTURE.expect("a processor with a filter");
        for level in [Containment::Partial, Containment::Full] {
            let program =
                filter(level, Network::Full, InnerSandboxes::Refused, SetGroupId::Refused).expect("a filter");
            for number in 0..1024 {
                let call = libc::c_long::from(number);
                if [libc::SYS_socket, libc::SYS_socketpair].contains(&call) {
                    continue;
                }
                let listed = DENIED.contains(&call)
                    || DENIED_HERE.contains(&call)
                    || level == Containment::Partial && SHARED_WITH_OTHERS.contains(&call);
                let expected = match call {
                    _ if listed => error(libc::EPERM),
                    libc::SYS_clone3 | libc::SYS_openat2 => error(libc::ENOSYS),
                    call if call > LAST_KNOWN => error(libc::ENOSYS),
                    _ => libc::SECCOMP_RET_ALLOW,
                };
                assert_eq!(run(&program, architecture, number, [0; 6]), expected, "{level} {number}");
            }
            for number in [0x4000_0001, u32::MAX] {
                assert_eq!(run(&program, architecture, number, [0; 6]), error(libc::ENOSYS));
            }
            assert_eq!(run(&program, architecture ^ 1, 1, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
            assert!(program.len() < 512, "{}", program.len());
        }
    }

    #[test]
    fn a_system_call_of_a_newer_kernel_does_not_exist_inside() {
        // Raise this only after a look at what the new ones do.
        assert_eq!(LAST_KNOWN, 467);
        const { assert!(LAST_KNOWN >= libc::SYS_mseal, "libc names newer ones than were checked") };
        let architecture = ARCHITECTURE.expect("a processor with a filter");
        let program = filter(Containment::Full, Network::Full, InnerSandboxes::Allowed, SetGroupId::Refused)
            .expect("a filter");
        for number in [468, 469, 500, 1 << 20] {
            assert_eq!(run(&program, architecture, number, [0; 6]), error(libc::ENOSYS), "{number}");
        }
    }

    #[test]
    fn arguments_decide_where_the_number_alone_does_not() {
        let architecture = ARCHITECTURE.expect("a processor with a filter");
        let of = |network| {
            filter(Containment::Full, network, InnerSandboxes::Refused, SetGroupId::Refused)
                .expect("a filter")
        };
        let (open, none) = (of(Network::Loopback), of(Network::None));
        let ask = |program: &[Instruction], call: libc::c_long, arguments: [i64; 3]| {
            let [a, b, c] = arguments.map(i64::cast_unsigned);
            run(program, architecture, u32::try_from(call).expect("a number"), [a, b, c, 0, 0, 0])
        };
        let allow = libc::SECCOMP_RET_ALLOW;
        let high = 1 << 32;
        for (call, arguments, in_loopback, in_none) in [
            (libc::SYS_clone, [i64::from(libc::SIGCHLD), 0, 0], allow, allow),
            (libc::SYS_clone, [i64::from(libc::CLONE_NEWUSER), 0, 0], error(libc::EPERM), error(libc::EPERM)),
            (
                libc::SYS_clone,
                [i64::from(libc::CLONE_NEWNET) | high, 0, 0],
                error(libc::EPERM),
                error(libc::EPERM),
            ),
            (libc::SYS_ioctl, [0, 0x5401, 0], allow, allow),
            (libc::SYS_ioctl, [0, 0x5412, 0], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_ioctl, [0, 0x5412 | high, 0], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_ioctl, [0, 0x541c, 0], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_socket, [1, 1, 0], allow, error(libc::EPERM)),
            (libc::SYS_socket, [2, 1, 0], allow, error(libc::EPERM)),
            (libc::SYS_socket, [10, 2, 0], allow, error(libc::EPERM)),
            (libc::SYS_socket, [16, 3, 0], allow, error(libc::EPERM)),
            (libc::SYS_socket, [16, 3, 16], error(libc::EAFNOSUPPORT), error(libc::EPERM)),
            (libc::SYS_socket, [17, 3, 0], error(libc::EAFNOSUPPORT), error(libc::EPERM)),
            (libc::SYS_socket, [38, 5, 0], error(libc::EAFNOSUPPORT), error(libc::EPERM)),
            (libc::SYS_socket, [40, 1, 0], error(libc::EAFNOSUPPORT), error(libc::EPERM)),
            (libc::SYS_socketpair, [1, 1, 0], allow, allow),
            (libc::SYS_socketpair, [30, 1, 0], error(libc::EAFNOSUPPORT), error(libc::EAFNOSUPPORT)),
            (libc::SYS_prlimit64, [0, 7, 1], allow, allow),
            (libc::SYS_prlimit64, [1, 7, 1], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_prlimit64, [high | 1, 7, 0], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_setpriority, [0, 7, 19], allow, allow),
            (libc::SYS_setpriority, [2, 0, 19], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_ioprio_set, [3, 0, 0], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_fchmod, [3, 0o1777, 0], allow, allow),
            (libc::SYS_fchmod, [3, 0o4755, 0], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_fchmod, [3, 0o2755 | high, 0], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_fchmodat, [3, 0o6000, 0o777], allow, allow),
            (libc::SYS_fchmodat, [3, 0, 0o6000], error(libc::EPERM), error(libc::EPERM)),
            (SYS_FCHMODAT2, [3, 0, 0o2000], error(libc::EPERM), error(libc::EPERM)),
            (libc::SYS_mknodat, [3, 0, 0o104_755], error(libc::EPERM), error(libc::EPERM)),
        ] {
            assert_eq!(ask(&open, call, arguments), in_loopback, "{call} {arguments:?}");
            assert_eq!(ask(&none, call, arguments), in_none, "{call} {arguments:?}");
        }
    }

    #[test]
    fn a_worker_reads_writes_and_takes_memory_and_does_nothing_else() {
        let architecture = ARCHITECTURE.expect("a processor with a filter");
        let program = worker_filter().expect("a filter");
        let ask = |call: libc::c_long, arguments: [i32; 4]| {
            let [a, b, c, d] = arguments.map(|argument| u64::from(argument.cast_unsigned()));
            run(&program, architecture, u32::try_from(call).expect("a number"), [a, b, c, d, 0, 0])
        };
        let (allow, refused) = (libc::SECCOMP_RET_ALLOW, error(libc::EPERM));
        for number in 0..1024 {
            let call = libc::c_long::from(number);
            let listed = OF_WORKERS.contains(&call) || [libc::SYS_mmap, libc::SYS_mprotect].contains(&call);
            if !listed {
                let expected = if call > LAST_KNOWN { error(libc::ENOSYS) } else { refused };
                assert_eq!(ask(call, [0; 4]), expected, "{number}");
            }
        }
        for call in OF_WORKERS {
            assert_eq!(ask(*call, [0; 4]), allow, "{call}");
        }
        let data = libc::PROT_READ | libc::PROT_WRITE;
        let code = libc::PROT_READ | libc::PROT_EXEC;
        let private = libc::MAP_PRIVATE;
        let memory = private | libc::MAP_ANONYMOUS;
        assert_eq!(ask(libc::SYS_mmap, [0, 4096, data, memory]), allow);
        assert_eq!(ask(libc::SYS_mmap, [0, 4096, data, private]), refused, "a file");
        assert_eq!(ask(libc::SYS_mmap, [0, 4096, code, memory]), refused, "code");
        assert_eq!(ask(libc::SYS_mprotect, [0, 4096, data, 0]), allow);
        assert_eq!(ask(libc::SYS_mprotect, [0, 4096, code, 0]), refused, "code");
    }

    #[test]
    fn a_mode_counts_where_a_file_is_made_and_nowhere_else() {
        let architecture = ARCHITECTURE.expect("a processor with a filter");
        let program = filter(Containment::Full, Network::None, InnerSandboxes::Refused, SetGroupId::Refused)
            .expect("a filter");
        let of_git = filter(Containment::Full, Network::None, InnerSandboxes::Refused, SetGroupId::Allowed)
            .expect("a filter");
        let mut calls = vec![(libc::SYS_openat, 2)];
        #[cfg(target_arch = "x86_64")]
        calls.push((libc::SYS_open, 1));
        for (call, at) in calls {
            let number = u32::try_from(call).expect("a number");
            let ask = |flags: i32, mode: u64| {
                let mut arguments = [0; 6];
                arguments[at] = u64::from(flags.cast_unsigned());
                arguments[at + 1] = mode;
                run(&program, architecture, number, arguments)
            };
            for flags in [libc::O_CREAT, libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY, libc::O_TMPFILE] {
                assert_eq!(ask(flags, 0o666), libc::SECCOMP_RET_ALLOW);
                for mode in [0o4755, 0o2755, 0o6000, 0o2000 | 1 << 32] {
                    assert_eq!(ask(flags, mode), error(libc::EPERM), "{call} {flags:o} {mode:o}");
                }
            }
            // Git hands on the group of folders in a repository that several users share.
            let ask_of_git = |mode: u64| {
                let mut arguments = [0; 6];
                arguments[at] = u64::from(libc::O_CREAT.cast_unsigned());
                arguments[at + 1] = mode;
                run(&of_git, architecture, number, arguments)
            };
            assert_eq!(ask_of_git(0o2775), libc::SECCOMP_RET_ALLOW);
            assert_eq!(ask_of_git(0o6775), error(libc::EPERM));
            // Without a new file the argument is whatever stood there before.
            for flags in [0, libc::O_RDWR | libc::O_TRUNC, libc::O_DIRECTORY | libc::O_PATH] {
                assert_eq!(ask(flags, 0o6755), libc::SECCOMP_RET_ALLOW, "{call} {flags:o}");
            }
        }
    }

    #[test]
    fn a_program_with_inner_sandboxes_makes_namespaces_and_mounts_and_nothing_else() {
        let architecture = ARCHITECTURE.expect("a processor with a filter");
        let inner = filter(Containment::Full, Network::Full, InnerSandboxes::Allowed, SetGroupId::Refused)
            .expect("a filter");
        let ask = |call: libc::c_long, first: i32| {
            let number = u32::try_from(call).expect("a number");
            run(&inner, architecture, number, [u64::from(first.cast_unsigned()), 0, 0, 0, 0, 0])
        };
        for call in DENIED.iter().chain(DENIED_HERE) {
            let is_for_them = FOR_INNER_SANDBOXES.contains(call);
            let expected = if is_for_them { libc::SECCOMP_RET_ALLOW } else { error(libc::EPERM) };
            assert_eq!(ask(*call, 0), expected, "{call}");
        }
        for call in [libc::SYS_clone, libc::SYS_unshare] {
            assert_eq!(ask(call, libc::CLONE_NEWUSER | libc::CLONE_NEWNS), libc::SECCOMP_RET_ALLOW);
            assert_eq!(ask(call, libc::CLONE_NEWUSER | libc::CLONE_NEWCGROUP), error(libc::EPERM));
        }
        assert_eq!(ask(libc::SYS_clone3, 0), error(libc::ENOSYS));
    }

    #[test]
    fn the_kernel_refuses_what_is_listed() {
        use crate::launch::sys;
        // Without arguments these do nothing, should they be let through.
        let harmless = [
            libc::SYS_io_uring_setup,
            libc::SYS_io_uring_enter,
            libc::SYS_io_uring_register,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_pidfd_getfd,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_open_by_handle_at,
            libc::SYS_fsopen,
            libc::SYS_userfaultfd,
            libc::SYS_shmget,
            libc::SYS_msgget,
            libc::SYS_semget,
        ];
        let filter =
            filter(Containment::Partial, Network::Full, InnerSandboxes::Refused, SetGroupId::Refused)
                .expect("a filter");
        match sys::fork_into(0).expect("forked") {
            sys::ForkSide::Child => {
                // A copy of a process with threads: system calls only.
                let put = rustix::thread::set_no_new_privs(true).is_ok()
                    && sys::set_seccomp_filter(&filter).is_ok();
                let first_allowed =
                    harmless.iter().position(|number| sys::refusal_without_arguments(*number) != libc::EPERM);
                let clone3 = sys::refusal_without_arguments(libc::SYS_clone3) == libc::ENOSYS;
                let code = match first_allowed {
                    None if put && clone3 => 0,
                    None => 99,
                    Some(at) => i32::try_from(at + 1).unwrap_or(98),
                };
                sys::exit_now(code)
            }
            sys::ForkSide::Parent(child) => {
                let status =
                    nix::sys::wait::waitpid(nix::unistd::Pid::from_raw(child), None).expect("waited for");
                assert!(
                    matches!(status, nix::sys::wait::WaitStatus::Exited(_, 0)),
                    "{status:?}: the code is the place in the list, from 1"
                );
            }
        }
    }
}
