//! What the transports cost, beside a bare server on the same library: `cargo build --release --example bare_rmcp`, then
//! `cargo bench --bench transport`. Everything runs in rounds in which both take turns; figures are medians.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    reason = "a bench runs what it measures, and tells"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use bailiwick::config::{Config, NewToken, Tokens};
use bailiwick::contract::{id, time};
use bailiwick::platform::dirs::Dirs;
use serde_json::{Value, json};

const STARTS: usize = 60;
const ROUNDS: usize = 5;
const CALLS: usize = 1_000;
const CONNECTIONS: usize = 32;
const SECONDS: u64 = 4;

/// A server process that is spoken to by lines.
struct Pipe {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Pipe {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let (input, output) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { child, input, output: BufReader::new(output) }
    }

    fn ask(&mut self, line: &str) -> String {
        self.input.write_all(line.as_bytes()).expect("it reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("it writes");
        answer
    }

    fn initialize(&mut self) {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}});
        let answer = self.ask(&message("initialize", &params));
        assert!(answer.contains("protocolVersion"), "{answer}");
        writeln!(self.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .expect("it reads");
    }

    fn resident_kib(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn message(method: &str, params: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
}

fn call(tool: &str, arguments: &Value) -> String {
    message("tools/call", &json!({"name": tool, "arguments": arguments}))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Bailiwick's folder, with a scope that holds a file of 4 KB and a folder of 100 files.
struct Installation {
    folder: PathBuf,
    token: String,
}

impl Installation {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("bailiwick-bench-{}", id::new_id()));
        fs::create_dir_all(folder.join("app/many")).expect("a folder is made");
        fs::write(folder.join("app/4k.txt"), "0123456789abcde\n".repeat(256)).expect("a file is written");
        for n in 0..100 {
            fs::write(folder.join(format!("app/many/file-{n:03}.txt")), "x").expect("a file is written");
        }
        let dirs = Dirs::below(folder.join("home"));
        let mut config = Config::new(id::new_id(), "bench".to_owned());
        config.scopes = serde_json::from_value(json!([
            {"id": "app", "roots": [folder.join("app")], "capabilities": ["fs:read", "search:read", "fs:write", "history:read"]}
        ]))
        .expect("valid scopes");
        config.save(&Config::path(&dirs)).expect("the config is saved");
        let mut tokens = Tokens::load(&dirs).expect("readable");
        let all = vec!["*".to_owned()];
        let new =
            NewToken { name: "bench".into(), scopes: all.clone(), capabilities: all, ..NewToken::default() };
        let (_, token) = tokens.create(new, time::now_ms()).expect("a token is made");
        tokens.save().expect("the tokens are saved");
        Self { folder, token }
    }

    fn program(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bailiwick"));
        command.args(words).env("BAILIWICK_HOME", self.folder.join("home"));
        command
    }
}

impl Drop for Installation {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn start_ms(command: &dyn Fn() -> Command) -> f64 {
    let began = Instant::now();
    let mut pipe = Pipe::start(command());
    pipe.initialize();
    began.elapsed().as_secs_f64() * 1_000.0
}

fn idle_mib(command: Command) -> f64 {
    let mut pipe = Pipe::start(command);
    pipe.initialize();
    pipe.ask(&message("tools/list", &json!({})));
    std::thread::sleep(Duration::from_secs(1));
    pipe.resident_kib() as f64 / 1_024.0
}

fn call_us(pipe: &mut Pipe, line: &str, calls: usize) -> Vec<f64> {
    let mut times = Vec::with_capacity(calls);
    for _ in 0..calls {
        let began = Instant::now();
        let answer = pipe.ask(line);
        times.push(began.elapsed().as_secs_f64() * 1e6);
        assert!(!answer.contains("\"isError\":true") && answer.contains("result"), "{answer}");
    }
    times
}

/// Calls over kept-alive connections until the time is over; gives calls a second.
fn http_per_second(address: SocketAddr, token: &str, body: &str) -> f64 {
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let began = Instant::now();
    let until = began + Duration::from_secs(SECONDS);
    let threads: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let request = request.clone();
            std::thread::spawn(move || {
                let mut stream = TcpStream::connect(address).expect("it accepts");
                stream.set_nodelay(true).expect("a TCP stream");
                let (mut done, mut buffer) = (0_u64, vec![0_u8; 64 << 10]);
                while Instant::now() < until {
                    stream.write_all(request.as_bytes()).expect("it reads");
                    let mut answer: Vec<u8> = Vec::new();
                    while !answer.ends_with(b"0\r\n\r\n") {
                        let got = stream.read(&mut buffer).expect("it answers");
                        assert!(got > 0, "closed: {}", String::from_utf8_lossy(&answer));
                        answer.extend_from_slice(&buffer[..got]);
                    }
                    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
                    done += 1;
                }
                done
            })
        })
        .collect();
    let done: u64 = threads.into_iter().map(|thread| thread.join().expect("no panic")).sum();
    done as f64 / began.elapsed().as_secs_f64()
}

fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("bound")
}

fn wait_for(address: SocketAddr) {
    for _ in 0..500 {
        if TcpStream::connect(address).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("nothing listens on {address}");
}

fn row(figure: &str, ours: f64, bare: Option<f64>, unit: &str) {
    let bare = bare.map_or_else(|| "–".to_owned(), |bare| format!("{bare:.1} {unit} ({:.2}×)", ours / bare));
    println!("{figure:<42} {ours:>10.1} {unit:<4} bare rmcp: {bare}");
}

fn main() {
    let own = std::env::current_exe().expect("this program");
    let release = own.parent().and_then(Path::parent).expect("target/release/deps");
    let bare = release.join("examples/bare_rmcp");
    assert!(bare.is_file(), "first: cargo build --release --example bare_rmcp");
    let bare_command = |words: &[&str]| {
        let mut command = Command::new(&bare);
        command.args(words);
        command
    };
    let house = Installation::new();

    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        ours.push(start_ms(&|| house.program(&["mcp"])));
        theirs.push(start_ms(&|| bare_command(&["stdio"])));
    }
    row("stdio, start to initialize answer", median(ours), Some(median(theirs)), "ms");
    row(
        "stdio, idle memory",
        idle_mib(house.program(&["mcp"])),
        Some(idle_mib(bare_command(&["stdio"]))),
        "MiB",
    );

    let read = call("computer_query", &json!({"op": "file.read", "target": "4k.txt"}));
    let list = call("computer_query", &json!({"op": "file.list", "target": "many"}));
    let echo = call("echo", &json!({"text": "0123456789abcde\n".repeat(256)}));
    let (mut pipe, mut peer) = (Pipe::start(house.program(&["mcp"])), Pipe::start(bare_command(&["stdio"])));
    pipe.initialize();
    peer.initialize();
    let (mut reads, mut lists, mut echoes) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let times = [
            call_us(&mut pipe, &read, CALLS),
            call_us(&mut pipe, &list, CALLS),
            call_us(&mut peer, &echo, CALLS),
        ];
        // The first round warms up.
        if round > 0 {
            for (all, times) in [&mut reads, &mut lists, &mut echoes].into_iter().zip(times) {
                all.extend(times);
            }
        }
    }
    let echo_us = median(echoes);
    row("stdio, file.read of 4 KB, p50", median(reads), Some(echo_us), "µs");
    row("stdio, file.list of 100 entries, p50", median(lists), Some(echo_us), "µs");
    drop((pipe, peer));

    let (address, bare_address) = (free_address(), free_address());
    let service = Pipe::start(house.program(&["start", "--port", &address.port().to_string()]));
    let peer = Pipe::start(bare_command(&["http", &bare_address.port().to_string()]));
    wait_for(address);
    wait_for(bare_address);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let noop = call("echo", &json!({"text": "x"}));
    for _ in 0..3 {
        ours.push(http_per_second(address, &house.token, read.trim_end()));
        theirs.push(http_per_second(bare_address, &house.token, noop.trim_end()));
    }
    row("HTTP, file.read of 4 KB, 32 connections", median(ours), Some(median(theirs)), "/s");
    row(
        "HTTP, memory afterwards",
        service.resident_kib() as f64 / 1_024.0,
        Some(peer.resident_kib() as f64 / 1_024.0),
        "MiB",
    );
}
