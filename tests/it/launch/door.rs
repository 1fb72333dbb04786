//! Who speaks to a keeper: strangers, silent ones, those who never read, and what is contained itself.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use bailiwick::contract::command::{Containment, Network};
use bailiwick::platform::launch::kept::{ControlError, KeeperRequest, State};

use super::lasting::{DurableProcess, request, start};
use super::place::{LaunchFixture, shell, single, wait_for};
use crate::needs::{available, available_sandboxes, lacks_full_sandbox, lacks_root, require_program};
use crate::patience::{PATIENCE, eventually};

fn knock(process: &DurableProcess) -> UnixStream {
    let stream = UnixStream::connect(process.folder.join("control")).expect("connected");
    stream.set_read_timeout(Some(*PATIENCE)).expect("set");
    stream
}

/// Waits for the next word of the keeper; returns whether it has closed the connection instead.
fn is_closed(stream: &mut UnixStream) -> bool {
    match stream.read(&mut [0; 64]) {
        Ok(length) => length == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

fn message(content: &[u8]) -> Vec<u8> {
    let mut bytes = u32::try_from(content.len()).expect("short").to_le_bytes().to_vec();
    bytes.extend_from_slice(content);
    bytes
}

/// Returns what the first message must be: the key is in the status.
fn hello(process: &DurableProcess) -> Vec<u8> {
    let status = std::fs::read(process.folder.join("status")).expect("read");
    message(&[&[0][..], &status[24..40]].concat())
}

fn goes_on(process: &DurableProcess, level: Containment) {
    let before = process.out().matches("heard").count();
    wait_for(async { process.control().await.input(b"\n").await.expect("taken") });
    eventually("it is heard", || process.out().matches("heard").count() > before);
    assert_eq!(process.status().state, State::Running, "{level}");
}

const HEARS: &str = "echo on; while read line; do echo heard; done";

#[test]
fn garbage_ends_its_connection_and_nothing_else() {
    let place = LaunchFixture::new();
    for level in available() {
        let process = start(&place, request(&place, level, shell(HEARS)));
        process.shows("on");
        let mut watching = wait_for(async {
            let mut control = process.control().await;
            control.watch().await.expect("watching");
            control
        });
        let input = message(&[&[1][..], b"unheard\n"].concat());
        for garbage in [
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            vec![0; 64],
            vec![0xff; 5000],
            // Before the key, with a wrong one, and with one of another length.
            input.clone(),
            [message(&[0; 17]), input.clone()].concat(),
            message(&[0; 18]),
            // The key, and then what is no message, or too long, or the key again.
            [hello(&process), vec![0; 4]].concat(),
            [hello(&process), message(&[99])].concat(),
            [hello(&process), message(&[4, 1])].concat(),
            [hello(&process), (64_u32 << 20).to_le_bytes().to_vec()].concat(),
            [hello(&process), hello(&process)].concat(),
        ] {
            let mut stranger = knock(&process);
            stranger.write_all(&garbage).expect("written");
            assert!(is_closed(&mut stranger), "{level}: {garbage:?}");
        }
        // A message that is cut off.
        drop(
            [hello(&process), message(&[1; 100])[..50].to_vec()].map(|part| knock(&process).write_all(&part)),
        );
        goes_on(&process, level);
        assert!(!process.out().contains("unheard"), "{level}");
        wait_for(async { watching.next_event().await.expect("it still watches") });
    }
}

/// Connects clients that say nothing and one that never reads; looks at the keeper while they are there.
pub(super) fn silent_and_deaf_clients(look: impl Fn(&DurableProcess, Containment)) {
    let place = LaunchFixture::new();
    for level in available() {
        let process = start(&place, request(&place, level, shell(HEARS)));
        process.shows("on");
        let mut silent: Vec<_> = (0..200).map(|_| knock(&process)).collect();
        goes_on(&process, level);
        let closed = silent.iter_mut().filter(|stream| {
            stream.set_nonblocking(true).expect("set");
            matches!((&mut &**stream).read(&mut [0; 1]), Ok(0))
        });
        assert!(closed.count() >= 100, "{level}: connections are few");
        drop(silent);
        // Asks again and again, and takes no answer.
        let mut deaf = knock(&process);
        deaf.write_all(&hello(&process)).expect("written");
        deaf.set_nonblocking(true).expect("set");
        let ask = message(&[9]).repeat(1000);
        let mut written = 0;
        while let Ok(length) = deaf.write(&ask) {
            written += length;
            assert!(written < 64 << 20, "{level}: the keeper takes everything");
        }
        goes_on(&process, level);
        look(&process, level);
    }
}

#[test]
fn who_says_nothing_makes_room_for_others_and_who_never_reads_is_not_waited_for() {
    silent_and_deaf_clients(|_, _| {});
}

#[cfg(not(feature = "portable-launch"))]
#[test]
fn what_is_contained_reaches_nothing_of_its_keeper() {
    let mut place = LaunchFixture::new();
    place.network = Network::Full;
    require_program("python3");
    for level in available_sandboxes() {
        let made = request(&place, level, Vec::new());
        let folder = made.folder.clone();
        let script = format!(
            "import os,socket,glob\n\
             def tries(name,action):\n\
             \x20try: action(); print('OPEN',name)\n\
             \x20except Exception as error: pass\n\
             folder={folder:?}\n\
             tries('status read',lambda:open(folder+'/status','rb').read())\n\
             tries('status write',lambda:open(folder+'/status','r+b').write(b'x'))\n\
             tries('ring read',lambda:open(folder+'/ring-a','rb').read())\n\
             tries('ring write',lambda:open(folder+'/ring-a','ab').write(b'x'))\n\
             tries('control removed',lambda:os.unlink(folder+'/control'))\n\
             def control():\n\
             \x20s=socket.socket(socket.AF_UNIX);s.settimeout(10);s.connect(folder+'/control')\n\
             \x20s.sendall((17).to_bytes(4,'little')+bytes(17)+(2).to_bytes(4,'little')+b'\\x09')\n\
             \x20assert s.recv(1)\n\
             tries('control',control)\n\
             for keeper in ('1',str(os.getppid())):\n\
             \x20for number in range(100): tries('its descriptor',lambda:os.open('/proc/%s/fd/%d'%(keeper,number),os.O_RDWR))\n\
             \x20tries('memory',lambda:open('/proc/'+keeper+'/mem','rb'))\n\
             \x20tries('killed',lambda:os.kill(int(keeper),9) if keeper!='1' or os.getppid()==1 else os.listdir('/proc/0'))\n\
             for number in range(3,1024):\n\
             \x20tries('descriptor %d'%number,lambda:os.fstat(number))\n\
             print('done')"
        );
        let process = start(&place, KeeperRequest { plan: single(&["python3", "-c", &script]), ..made });
        let status = process.ended();
        // At the full level a signal to the init of a namespace is taken by nobody, without an error.
        let out = process
            .out()
            .replace("OPEN killed\n", if level == Containment::Full { "" } else { "OPEN killed\n" });
        assert_eq!(
            (out.as_str(), status.exit_code),
            ("done\n", Some(0)),
            "{level}: {}",
            process.printed(bailiwick::platform::launch::kept::Stream::Stderr)
        );
    }
}

#[test]
fn a_process_of_another_user_is_not_heard_although_it_knows_the_key() {
    require_program("python3");
    if lacks_root() {
        return;
    }
    let place = LaunchFixture::new();
    for level in available() {
        let process = start(&place, request(&place, level, shell(HEARS)));
        process.shows("on");
        // As if folder and socket were open to all.
        for path in
            [process.folder.parent().expect("a folder"), &process.folder, &process.folder.join("control")]
        {
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("set");
        }
        let mut said = hello(&process);
        said.extend(message(&[7, 80, 0]));
        let said: String = said.iter().map(|byte| format!("{byte:02x}")).collect();
        let script = format!(
            "import socket\ns=socket.socket(socket.AF_UNIX);s.settimeout({});s.connect({:?})\n\
             s.sendall(bytes.fromhex('{said}'))\nprint(len(s.recv(10)))",
            PATIENCE.as_secs(),
            process.folder.join("control")
        );
        let run = |user: &str| {
            let output = std::process::Command::new("setpriv")
                .args([&format!("--reuid={user}"), "--clear-groups", "python3", "-c", &script])
                .output()
                .expect("started");
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        };
        assert_eq!(run("0"), "5", "{level}: the same user is heard");
        assert!(matches!(run("12345").as_str(), "0" | ""), "{level}");
        goes_on(&process, level);
    }
}

#[cfg(not(feature = "portable-launch"))]
#[test]
fn a_port_is_seen_and_dialled_in_the_network_of_the_process() {
    if lacks_full_sandbox() {
        return;
    }
    require_program("python3");
    let mut place = LaunchFixture::new();
    for (level, network) in [
        (Containment::None, Network::Full),
        (Containment::Partial, Network::Full),
        (Containment::Full, Network::Full),
        (Containment::Full, Network::Loopback),
    ] {
        place.network = network;
        for address in ["127.0.0.1", "::1"] {
            // The program chooses a free port and says it.
            let script = format!(
                "import socket\ns=socket.create_server(({address:?},0),family=socket.{})\nprint(s.getsockname()[1],flush=True)\n\
                 while True:\n c=s.accept()[0];c.sendall(b'hello '+c.recv(100))",
                if address == "::1" { "AF_INET6" } else { "AF_INET" }
            );
            let process = start(&place, request(&place, level, single(&["python3", "-c", &script])));
            process.shows("\n");
            let port: u16 = process.out().trim().parse().expect("a port");
            wait_for(async {
                let mut control = process.control().await;
                assert!(control.is_listening(port).await.expect("asked"), "{level} {network:?} {address}");
                assert!(!control.is_listening(1).await.expect("asked"), "{level} {network:?}");
                assert_eq!(control.dial(1).await.map(drop), Err(ControlError::NotListening), "{level}");
                for _ in 0..3 {
                    let mut stream = control.dial(port).await.expect("connected");
                    tokio::io::AsyncWriteExt::write_all(&mut stream, b"you").await.expect("written");
                    let mut answer = [0; 9];
                    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut answer).await.expect("read");
                    assert_eq!(&answer, b"hello you", "{level} {network:?} {address}");
                }
                control.stop(9, Duration::ZERO).await.expect("stopped");
            });
            process.ended();
        }
    }
}

#[cfg(not(feature = "portable-launch"))]
#[test]
fn what_the_program_could_not_connect_to_is_neither_seen_nor_dialled() {
    if lacks_full_sandbox() {
        return;
    }
    let mut place = LaunchFixture::new();
    let outside = std::net::TcpListener::bind("127.0.0.1:0").expect("bound");
    let port = outside.local_addr().expect("bound").port();
    for (level, network, is_seen) in [
        (Containment::None, Network::None, true),
        (Containment::Partial, Network::Full, true),
        (Containment::Partial, Network::Loopback, false),
        (Containment::Partial, Network::None, false),
        (Containment::Full, Network::Full, true),
        (Containment::Full, Network::Loopback, false),
        (Containment::Full, Network::None, false),
    ] {
        place.network = network;
        let process = start(&place, request(&place, level, single(&["cat"])));
        wait_for(async {
            let mut control = process.control().await;
            assert_eq!(control.is_listening(port).await, Ok(is_seen), "{level} {network:?}");
            assert_eq!(control.dial(port).await.is_ok(), is_seen, "{level} {network:?}");
            control.close_input().await.expect("closed");
        });
        assert_eq!(process.ended().exit_code, Some(0), "{level} {network:?}");
    }
}
