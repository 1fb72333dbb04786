//! Tries what a held command must not be able to do, and what it must. The tests run it inside each level.
//!
//! Prints one line for each thing: `open` or `shut`, and its name. It is given a folder outside the sandbox,
//! which the test has filled, and listeners on the test's side; nothing else is touched.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "it is here to try, and to tell")]

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File, OpenOptions};
    use std::io::{self, Read, Write};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt, symlink};
    use std::os::unix::net::{SocketAddr, UnixStream};
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::time::{Duration, SystemTime};

    use rustix::fs::{CWD, Mode, OFlags};
    use rustix::net::{AddressFamily, Protocol, RawProtocol, SocketType};
    use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, Signal};

    /// What the test has prepared.
    struct World {
        /// A folder outside all roots.
        outside: PathBuf,
        /// A process of the same user that is not the probe's.
        other: Pid,
        /// A TCP listener on the computer's loopback.
        tcp: u16,
        /// A UDP socket there, which sends back what it gets.
        udp: u16,
        /// The name of an abstract socket.
        abstract_name: String,
    }

    type Row = (&'static str, fn(&World) -> io::Result<()>);

    const ROWS: &[Row] = &[
        ("read a file outside", |w| fs::read(w.outside.join("file")).map(drop)),
        ("read a file outside through a link", |w| {
            symlink(w.outside.join("file"), "link-out")?;
            let read = fs::read("link-out").map(drop);
            fs::remove_file("link-out")?;
            read
        }),
        ("write a file outside", |w| {
            OpenOptions::new().append(true).open(w.outside.join("file"))?.write_all(b"x")
        }),
        ("list a folder outside", |w| fs::read_dir(&w.outside)?.next().ok_or_else(nothing)?.map(drop)),
        ("create a file outside", |w| File::create_new(w.outside.join("new")).map(drop)),
        ("cut a file outside", |w| OpenOptions::new().write(true).open(w.outside.join("cut"))?.set_len(0)),
        ("cut a file outside by its path", |w| rustix_truncate(&w.outside.join("cut"))),
        ("rename a file outside", |w| fs::rename(w.outside.join("rename"), w.outside.join("renamed"))),
        ("move a file outside into the root", |w| fs::rename(w.outside.join("move"), "moved")),
        ("remove a file outside", |w| fs::remove_file(w.outside.join("remove"))),
        ("make a link in the root to a file outside, as a second name", |w| {
            fs::hard_link(w.outside.join("file"), "second-name")
        }),
        ("make a folder outside", |w| fs::create_dir(w.outside.join("folder"))),
        ("see the facts of a file outside", |w| fs::metadata(w.outside.join("file")).map(drop)),
        ("change the mode of a file outside", |w| {
            fs::set_permissions(w.outside.join("file"), fs::Permissions::from_mode(0o640))
        }),
        ("change the times of a file outside", |w| {
            let now = rustix::fs::Timespec { tv_sec: 1, tv_nsec: 0 };
            let times = rustix::fs::Timestamps { last_access: now, last_modification: now };
            Ok(rustix::fs::utimensat(CWD, w.outside.join("file"), &times, rustix::fs::AtFlags::empty())?)
        }),
        ("change an attribute of a file outside", |w| {
            let flags = rustix::fs::XattrFlags::empty();
            Ok(rustix::fs::setxattr(w.outside.join("file"), "user.probe", b"1", flags)?)
        }),
        ("execute a program outside", |w| ran(Command::new(w.outside.join("program")).output()?)),
        ("read a private file of the system", |_| {
            File::open("/etc/shadow").and_then(|mut file| file.read(&mut [0])).map(drop)
        }),
        ("write into a folder of the system", |_| {
            let path = "/usr/bailiwick-probe";
            File::create_new(path)?;
            fs::remove_file(path)
        }),
        ("read the home folder of the user", |_| {
            see_beside_the_way(if rustix::process::getuid().is_root() { "/root" } else { "/home" })
        }),
        ("write into the shared /tmp", |w| {
            // It is the shared one only if the test's folder, which is there, can be seen in it.
            fs::metadata(&w.outside)?;
            let path = format!("/tmp/bailiwick-probe-{}", w.tcp);
            File::create_new(&path)?;
            fs::remove_file(path)
        }),
        ("environment of another process", |w| read_of(w, "environ")),
        ("memory of another process", |w| File::open(of(w, "mem")).map(drop)),
        ("working folder of another process", |w| fs::read_link(of(w, "cwd")).map(drop)),
        ("root folder of another process", |w| fs::read_dir(of(w, "root")).map(drop)),
        ("command line of another process", |w| read_of(w, "cmdline")),
        ("signal another process", |w| Ok(rustix::process::kill_process(w.other, Signal::CONT)?)),
        ("take a descriptor of another process", |w| {
            let held = rustix::process::pidfd_open(w.other, PidfdFlags::empty())?;
            rustix::process::pidfd_getfd(&held, 0, PidfdGetfdFlags::empty())?;
            Ok(())
        }),
        ("limit another process", |w| {
            let all = rustix::process::Resource::Core;
            let limit = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
            rustix::process::prlimit(Some(w.other), all, limit)?;
            Ok(())
        }),
        ("change the priority of all processes of a user", |_| {
            // Of one who has none.
            match rustix::process::setpriority_user(rustix::process::Uid::from_raw(61_234), 19) {
                Err(error) if error != rustix::io::Errno::SRCH => Err(error.into()),
                _ => Ok(()),
            }
        }),
        ("make a file that others run as its owner", |_| in_every_way(0o4755)),
        ("make a file that others run as its group", |_| in_every_way(0o2755)),
        ("TCP to the computer's loopback", |w| TcpStream::connect(("127.0.0.1", w.tcp)).map(drop)),
        ("UDP to the computer's loopback", |w| {
            let socket = UdpSocket::bind("127.0.0.1:0")?;
            socket.set_read_timeout(Some(Duration::from_millis(500)))?;
            socket.send_to(b"x", ("127.0.0.1", w.udp))?;
            socket.recv(&mut [0]).map(drop)
        }),
        ("raw socket", |_| socket(AddressFamily::INET, SocketType::RAW, 1)),
        ("packet socket", |_| socket(AddressFamily::PACKET, SocketType::RAW, 0)),
        ("netlink socket for events", |_| socket(AddressFamily::NETLINK, SocketType::RAW, 15)),
        ("netlink socket for routes", |_| socket(AddressFamily::NETLINK, SocketType::RAW, 0)),
        ("socket to the host of a virtual machine", |_| socket(AddressFamily::VSOCK, SocketType::STREAM, 0)),
        ("socket to the kernel's cryptography", |_| {
            socket(AddressFamily::from_raw(38), SocketType::SEQPACKET, 0)
        }),
        ("socket with a path outside", |w| UnixStream::connect(w.outside.join("socket")).map(drop)),
        ("abstract socket outside", |w| {
            UnixStream::connect_addr(&SocketAddr::from_abstract_name(&w.abstract_name)?).map(drop)
        }),
        ("new user namespace", |_| {
            #[expect(deprecated, reason = "nothing is shared with another thread here")]
            rustix::thread::unshare(rustix::thread::UnshareFlags::NEWUSER)?;
            Ok(())
        }),
        ("mount a file system", |_| {
            fs::create_dir("mount")?;
            let mounted =
                rustix::mount::mount("none", "mount", "tmpfs", rustix::mount::MountFlags::empty(), None);
            if mounted.is_ok() {
                rustix::mount::unmount("mount", rustix::mount::UnmountFlags::DETACH)?;
            }
            fs::remove_dir("mount")?;
            Ok(mounted?)
        }),
        ("change the root folder", |_| Ok(rustix::process::chroot(".")?)),
        ("make a device", |_| {
            let device = rustix::fs::makedev(1, 3);
            rustix::fs::mknodat(CWD, "device", rustix::fs::FileType::CharacterDevice, Mode::RUSR, device)?;
            fs::remove_file("device")
        }),
        ("write a setting of the kernel", |_| {
            OpenOptions::new().write(true).open("/proc/sys/kernel/core_pattern").map(drop)
        }),
        ("open a disk", |_| {
            let block = fs::read_dir("/dev")?
                .flatten()
                .find(|entry| entry.file_type().is_ok_and(|kind| kind.is_block_device()))
                .ok_or_else(nothing)?;
            File::open(block.path()).map(drop)
        }),
        ("read the kernel's log", |_| {
            let flags = OFlags::NONBLOCK.bits().cast_signed();
            OpenOptions::new().read(true).custom_flags(flags).open("/dev/kmsg").map(drop)
        }),
        ("get privileges back", |_| {
            let all = rustix::thread::CapabilitySet::SYS_ADMIN;
            let sets = rustix::thread::CapabilitySets { effective: all, permitted: all, inheritable: all };
            Ok(rustix::thread::set_capabilities(None, sets)?)
        }),
        ("works: write, read, rename and remove in the root", |_| {
            fs::create_dir("made")?;
            fs::write("made/a", "x")?;
            fs::rename("made/a", "b")?;
            fs::hard_link("b", "made/c")?;
            symlink("b", "made/d")?;
            for mode in [0o600, 0o1777, 0o755] {
                fs::set_permissions("b", fs::Permissions::from_mode(mode))?;
                OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open("made/e")?;
                fs::remove_file("made/e")?;
            }
            File::open("b")?.set_modified(SystemTime::now())?;
            fs::read("b")?;
            fs::remove_file("b")?;
            fs::remove_dir_all("made")
        }),
        ("works: the private home", |_| {
            let file = PathBuf::from(std::env::var_os("HOME").ok_or_else(nothing)?).join("file");
            fs::write(&file, "x")?;
            fs::remove_file(file)
        }),
        ("works: run a program", |_| ran(Command::new("/bin/sh").args(["-c", "true"]).output()?)),
        ("works: threads", |_| std::thread::Builder::new().spawn(|| ())?.join().map_err(|_| nothing())),
        ("works: a pair of sockets", |_| UnixStream::pair().map(drop)),
        ("works: devices", |_| {
            File::open("/dev/urandom")?.read_exact(&mut [0; 8])?;
            File::create("/dev/null")?.write_all(b"x")
        }),
        ("works: a name of the system", |_| fs::read("/etc/passwd").map(drop)),
        ("TCP on a loopback of its own", |_| {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            TcpStream::connect(listener.local_addr()?)?;
            listener.accept().map(drop)
        }),
        ("a private /tmp and shared memory", |_| {
            for path in ["/tmp/probe-own", "/dev/shm/probe-own"] {
                fs::write(path, "x")?;
                fs::remove_file(path)?;
            }
            Ok(())
        }),
        ("a terminal of its own", |_| {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            let terminal = rustix::fs::open("/dev/ptmx", flags, Mode::empty())?;
            File::from(terminal).write_all(b"x")
        }),
    ];

    fn nothing() -> io::Error {
        io::Error::from(io::ErrorKind::NotFound)
    }

    /// Succeeds if anything can be seen below a folder but what the probe was given, its root, home and program, and the folders
    /// that lead there.
    fn see_beside_the_way(folder: &str) -> io::Result<()> {
        let home = std::env::var_os("HOME").expect("a home");
        let program = std::env::current_exe().expect("it has a path");
        let given = [std::env::current_dir().expect("it is somewhere"), home.into(), program];
        let mut folders = vec![PathBuf::from(folder)];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for path in entries.flatten().map(|entry| entry.path()) {
                match given.iter().find(|it| it.starts_with(&path)) {
                    None => return Ok(()),
                    Some(_) if given.contains(&path) => {}
                    Some(_) => folders.push(path),
                }
            }
        }
        Err(nothing())
    }

    fn of(world: &World, name: &str) -> PathBuf {
        Path::new("/proc").join(world.other.as_raw_nonzero().to_string()).join(name)
    }

    fn read_of(world: &World, name: &str) -> io::Result<()> {
        let mut text = Vec::new();
        File::open(of(world, name))?.read_to_end(&mut text)?;
        if text.is_empty() { Err(nothing()) } else { Ok(()) }
    }

    fn rustix_truncate(path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).truncate(true).open(path).map(drop)
    }

    fn socket(family: AddressFamily, kind: SocketType, protocol: u32) -> io::Result<()> {
        let protocol = RawProtocol::new(protocol).map(Protocol::from_raw);
        rustix::net::socket(family, kind, protocol)?;
        Ok(())
    }

    /// Tries whether any way to set a mode leaves these bits on a file.
    fn in_every_way(mode: u32) -> io::Result<()> {
        let bits = Mode::from_raw_mode(mode);
        fs::write("mode-path", "x")?;
        fs::write("mode-open", "x")?;
        let opened = File::open("mode-open")?;
        let plain = |name: &str| Path::new(name).to_owned();
        let ways = [
            (plain("mode-path"), rustix::fs::chmod("mode-path", bits)),
            (plain("mode-open"), rustix::fs::fchmod(&opened, bits)),
            (plain("mode-at"), {
                fs::write("mode-at", "x")?;
                rustix::fs::chmodat(CWD, "mode-at", bits, rustix::fs::AtFlags::empty())
            }),
            (
                plain("mode-new"),
                rustix::fs::open("mode-new", OFlags::CREATE | OFlags::WRONLY, bits).map(drop),
            ),
            (
                plain("mode-created"),
                rustix::fs::openat2(
                    CWD,
                    "mode-created",
                    OFlags::CREATE | OFlags::WRONLY,
                    bits,
                    rustix::fs::ResolveFlags::empty(),
                )
                .map(drop),
            ),
            (
                plain("mode-node"),
                rustix::fs::mknodat(CWD, "mode-node", rustix::fs::FileType::RegularFile, bits, 0),
            ),
            (
                plain("mode-linked"),
                rustix::fs::open(".", OFlags::TMPFILE | OFlags::RDWR, bits).and_then(|file| {
                    let name = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
                    rustix::fs::linkat(CWD, name, CWD, "mode-linked", rustix::fs::AtFlags::SYMLINK_FOLLOW)
                }),
            ),
        ];
        let mut made = Err(nothing());
        for (path, result) in ways {
            if let Ok(facts) = fs::metadata(&path) {
                if facts.permissions().mode() & 0o6000 != 0 {
                    made = Ok(());
                }
                fs::remove_file(&path)?;
            } else if result.is_ok() {
                return Err(nothing());
            }
        }
        made
    }

    /// Says hello at the local socket of a service. Returns what is answered.
    fn answer_at(path: &Path) -> io::Result<String> {
        let mut socket = UnixStream::connect(path)?;
        let mut answer = String::new();
        let hello = "{\"hello\":{\"protocol\":3,\"transport\":\"cli\"}}\n";
        // Where it was closed at once, nothing can be written any more.
        let _ = socket.write_all(hello.as_bytes());
        let _ = io::BufRead::read_line(&mut io::BufReader::new(socket), &mut answer);
        Ok(if answer.is_empty() { "closed".to_owned() } else { answer })
    }

    fn ran(output: std::process::Output) -> io::Result<()> {
        if output.status.success() { Ok(()) } else { Err(nothing()) }
    }

    pub fn main() {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        if let [word, path] = arguments.as_slice()
            && word == "connect"
        {
            println!("{}", answer_at(Path::new(path)).unwrap_or_else(|error| error.to_string()));
            return;
        }
        let [outside, other, tcp, udp, abstract_name, row @ ..] = arguments.as_slice() else {
            println!("usage: probe OUTSIDE PROCESS TCP-PORT UDP-PORT ABSTRACT-NAME");
            return;
        };
        let Some(row) = row.first().and_then(|row| row.parse::<usize>().ok()) else {
            // Each in a process of its own: what one of them takes from itself, the next still has.
            for row in 0..ROWS.len() {
                let mut command = Command::new("/proc/self/exe");
                let status = command.args(&arguments).arg(row.to_string()).status();
                assert!(status.is_ok_and(|status| status.success()), "row {row} was tried");
            }
            return;
        };
        let world = World {
            outside: outside.into(),
            other: other.parse().ok().and_then(Pid::from_raw).expect("a process"),
            tcp: tcp.parse().expect("a port"),
            udp: udp.parse().expect("a port"),
            abstract_name: abstract_name.clone(),
        };
        let (name, row) = ROWS[row];
        match row(&world) {
            Ok(()) => println!("open {name}"),
            Err(error) => println!("shut {name} ({error})"),
        }
    }
}
