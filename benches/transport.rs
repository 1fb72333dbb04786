//! What the transports cost, beside a bare server on the same library: `cargo build --release --example bare_rmcp`, then
//! `cargo bench --bench measure transport`. Everything runs in rounds in which both take turns; figures are medians.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use bailiwick::config::{Config, NewToken, Tokens};
use bailiwick::contract::time;
use bailiwick::platform::dirs::Dirs;
use serde_json::{Value, json};

use crate::client::{Pipe, message};
use crate::fixture::{Folder, config, kib, median, milliseconds};

const STARTS: usize = 60;
const ROUNDS: usize = 5;
const CALLS: usize = 1_000;
const CONNECTIONS: usize = 32;
const SECONDS: u64 = 4;

fn call(tool: &str, arguments: &Value) -> String {
    message("tools/call", &json!({"name": tool, "arguments": arguments}))
}

/// Bailiwick's folder, with a scope that holds a file of 4 KB and a folder of 100 files.
struct Installation {
    folder: Folder,
    token: String,
}

impl Installation {
    fn new() -> Self {
        let folder = Folder::make();
        fs::create_dir_all(folder.join("app/many")).expect("a folder is made");
        fs::write(folder.join("app/4k.txt"), "0123456789abcde\n".repeat(256)).expect("a file is written");
        for n in 0..100 {
            fs::write(folder.join(format!("app/many/file-{n:03}.txt")), "x").expect("a file is written");
        }
        let dirs = Dirs::below(folder.join("home"));
        let scopes = json!([
            {"id": "app", "roots": [folder.join("app")], "capabilities": ["fs:read", "search:read", "fs:write", "history:read"]}
        ]);
        config(scopes).save(&Config::path(&dirs)).expect("the config is saved");
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

fn start_ms(command: &dyn Fn() -> Command) -> f64 {
    let began = Instant::now();
    let mut pipe = Pipe::start(command());
    pipe.initialize();
    milliseconds(began.elapsed())
}

fn idle_mib(command: Command) -> f64 {
    let mut pipe = Pipe::start(command);
    pipe.initialize();
    pipe.ask(&message("tools/list", &json!({})));
    std::thread::sleep(Duration::from_secs(1));
    resident_mib(&pipe)
}

fn resident_mib(pipe: &Pipe) -> f64 {
    kib(pipe.child.id(), "VmRSS") as f64 / 1_024.0
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

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
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
    row("stdio, start to initialize answer", median(&mut ours), Some(median(&mut theirs)), "ms");
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
    let echo_us = median(&mut echoes);
    row("stdio, file.read of 4 KB, p50", median(&mut reads), Some(echo_us), "µs");
    row("stdio, file.list of 100 entries, p50", median(&mut lists), Some(echo_us), "µs");
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
    row("HTTP, file.read of 4 KB, 32 connections", median(&mut ours), Some(median(&mut theirs)), "/s");
    row("HTTP, memory afterwards", resident_mib(&service), Some(resident_mib(&peer)), "MiB");
    ExitCode::SUCCESS
}
