//! Measures `code.search_symbols` over 25,000 files in eight languages: the first answer, the whole index, later
//! answers, and what the index takes.
//!
//! ```text
//! cargo bench --bench measure code               a tree that is the same in every run
//! cargo bench --bench measure code -- FOLDER     the sources of a real one
//! ```
//!
//! Through `Service::handle` with the history on. The tree is below the temporary folder and is removed at the end.
//! Ends with 1 if an answer lacks what the tree was made with.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bailiwick::contract::{Caller, Envelope, Transport};
use bailiwick::service::Service;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Folder, median, milliseconds, service};

const FILES: usize = 25_000;
const MEDIAN_BYTES: f64 = 6_000.0;
const ROUNDS: usize = 41;

/// Measures it; the first word is the folder of a real tree.
pub fn run(words: &[String]) -> ExitCode {
    let folder = Folder::make();
    let (tree, name) = match words.first() {
        Some(tree) => (PathBuf::from(tree), "parse".to_owned()),
        None => {
            let tree = folder.join("tree");
            let bytes = make_tree(&tree);
            println!("tree         {FILES} files, {:.1} MB", bytes as f64 / 1e6);
            (tree, "get_ledger_total_17".to_owned())
        }
    };
    let bench = Bench { runtime: tokio::runtime::Runtime::new().expect("a runtime starts"), tree, folder };
    let good = bench.run(&name, words.is_empty());
    ExitCode::from(u8::from(!good))
}

struct Bench {
    runtime: tokio::runtime::Runtime,
    tree: PathBuf,
    folder: Folder,
}

impl Bench {
    fn run(&self, name: &str, made: bool) -> bool {
        let service = self.service();
        let before_kb = resident_kb();
        println!("memory       {:.1} MB before the first question", before_kb / 1e3);
        let began = Instant::now();
        let (took, first) = self.ask(&service, name, json!({}));
        println!(
            "cold         first answer after {took:.0} ms: {}, {}",
            told(&first),
            first["index"]["files"]
        );
        let whole = loop {
            let (_, data) = self.ask(&service, "qzxjv_nowhere", json!({"match": "fuzzy"}));
            if data["complete"] == true {
                break data;
            }
        };
        println!("cold         whole index after {:.2} s: {}", began.elapsed().as_secs_f64(), whole["index"]);
        println!("memory       {:.1} MB more with the index", (resident_kb() - before_kb) / 1e3);
        let mut good = !made || (first["total"] == 1 && whole["index"]["files"] == FILES);
        for (what, query, options) in [
            ("the name", name, json!({})),
            ("a part of names", "ledger", json!({})),
            ("one letter", "e", json!({})),
            ("letters", "gtldgrttl", json!({"match": "fuzzy"})),
            ("no such name", "qzxjv_nowhere", json!({})),
            ("100 hits", "get", json!({"maxResults": 100})),
        ] {
            let mut times: Vec<f64> = Vec::new();
            let mut last = Value::Null;
            for _ in 0..ROUNDS {
                let (took, data) = self.ask(&service, query, options.clone());
                good &= data["complete"] == true && data["index"]["checked"] == "watched";
                times.push(took);
                last = data;
            }
            let (median, best, worst) = (median(&mut times), times[0], times[ROUNDS - 1]);
            println!("warm         {median:.1} ms median ({best:.1} to {worst:.1}), {what}: {}", told(&last));
        }
        if made {
            good &= self.change(&service);
        }
        let (files, bytes) = self.sources();
        let index = self.written();
        println!(
            "index        {:.2} MB for {files} files of {:.1} MB: {:.2} %",
            index as f64 / 1e6,
            bytes as f64 / 1e6,
            index as f64 * 100.0 / bytes as f64
        );
        drop(service);
        let service = self.service();
        let (took, data) = self.ask(&service, name, json!({}));
        println!("restarted    first answer after {took:.0} ms: {}", told(&data));
        good &= data["complete"] == true;
        println!("answers      {}", if good { "as they must be" } else { "WRONG" });
        good
    }

    /// Changes a file and asks for what is new in it.
    fn change(&self, service: &Arc<Service>) -> bool {
        let path = self.tree.join("part3/unit5/module_fresh.rs");
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            fs::write(&path, format!("pub fn fresh_name_{round}() {{}}\n")).expect("written");
            let (took, data) = self.ask(service, &format!("fresh_name_{round}"), json!({"match": "exact"}));
            if data["total"] != 1 {
                return false;
            }
            times.push(took);
        }
        println!("after a change {:.1} ms median", median(&mut times));
        true
    }

    fn service(&self) -> Arc<Service> {
        let scopes = json!([{"id": "tree", "roots": [self.tree], "capabilities": ["fs:read"]}]);
        service(self.folder.join("home"), scopes)
    }

    fn ask(&self, service: &Arc<Service>, query: &str, options: Value) -> (f64, Value) {
        let envelope = json!({"op": "code.search_symbols", "input": {"query": query}, "options": options});
        let caller = Caller::local(Transport::Cli);
        let began = Instant::now();
        let outcome = self
            .runtime
            .block_on(service.handle(&caller, Envelope::from_value(envelope), &CancellationToken::new()))
            .into_reply();
        let took = milliseconds(began.elapsed());
        let mut outcome = outcome.into_value();
        assert_eq!(outcome["ok"], Value::Bool(true), "{outcome:#}");
        (took, outcome["data"].take())
    }

    /// Returns the size of the index, once all of it is written.
    fn written(&self) -> u64 {
        let mut before = 0;
        loop {
            std::thread::sleep(Duration::from_millis(500));
            let files = fs::read_dir(self.folder.join("home/state/code")).into_iter().flatten().flatten();
            let size = files.filter_map(|file| file.metadata().ok()).map(|facts| facts.len()).sum();
            if size > 0 && size == before {
                return size;
            }
            before = size;
        }
    }

    /// Counts the source files and their bytes, as far as names tell.
    fn sources(&self) -> (usize, u64) {
        let (mut files, mut bytes) = (0, 0);
        let mut folders = vec![self.tree.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                let Ok(facts) = entry.metadata() else { continue };
                let name = entry.file_name().to_string_lossy().into_owned();
                if facts.is_dir() && !name.starts_with('.') {
                    folders.push(entry.path());
                } else if bailiwick::providers::code::language_of(name.as_bytes(), b"").is_some() {
                    (files, bytes) = (files + 1, bytes + facts.len());
                }
            }
        }
        (files, bytes)
    }
}

fn told(data: &Value) -> String {
    let shown = data["symbols"].as_array().map_or(0, Vec::len);
    format!("{shown} of {} shown, complete {}", data["total"], data["complete"])
}

fn resident_kb() -> f64 {
    let facts = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = facts.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0.0);
    pages * 4.096
}

/// Numbers that look random, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides
    }

    /// Returns a size as files have them: many small ones, few large ones.
    fn size(&mut self) -> usize {
        // The sum of evenly spread numbers is spread like a bell.
        let bell: f64 = (0..12).map(|_| self.roll(10_000) as f64 / 10_000.0).sum::<f64>() - 6.0;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is between the bounds"
        )]
        let size = (MEDIAN_BYTES * bell.exp()).clamp(200.0, 300_000.0) as usize;
        size
    }

    fn name(&mut self, camel: bool) -> String {
        const WORDS: [&str; 60] = [
            "get", "set", "load", "store", "parse", "render", "build", "open", "close", "read", "write",
            "merge", "split", "user", "order", "invoice", "ledger", "total", "config", "session", "token",
            "cache", "buffer", "stream", "packet", "socket", "handler", "request", "response", "queue",
            "worker", "index", "table", "column", "row", "field", "value", "key", "entry", "state", "event",
            "signal", "timer", "clock", "frame", "image", "pixel", "color", "shape", "point", "vector",
            "matrix", "graph", "node", "edge", "path", "file", "folder", "record", "report",
        ];
        let mut name = String::new();
        for at in 0..2 + self.roll(3) {
            let word = WORDS[self.roll(WORDS.len())];
            if camel && at > 0 {
                name.extend(word.chars().take(1).map(|it| it.to_ascii_uppercase()));
                name.push_str(&word[1..]);
            } else {
                if at > 0 {
                    name.push('_');
                }
                name.push_str(word);
            }
        }
        name
    }

    fn type_name(&mut self) -> String {
        let name = self.name(true);
        name[..1].to_uppercase() + &name[1..]
    }
}

fn make_tree(tree: &Path) -> u64 {
    const EXTENSIONS: [&str; 8] = ["rs", "py", "ts", "js", "go", "java", "c", "cpp"];
    let mut dice = Dice(11);
    let mut bytes = 0;
    for number in 0..FILES {
        let extension = EXTENSIONS[number % EXTENSIONS.len()];
        let folder = tree.join(format!("part{}/unit{}", number % 40, number % 61));
        if number < 40 * 61 {
            fs::create_dir_all(&folder).expect("made");
        }
        let size = dice.size();
        let mut text = String::with_capacity(size + 2_000);
        if number == FILES / 2 {
            text.push_str(&function(&mut dice, extension, "get_ledger_total_17", ""));
        }
        while text.len() < size {
            piece(&mut dice, extension, &mut text);
        }
        bytes += text.len() as u64;
        fs::create_dir_all(&folder).expect("made");
        fs::write(folder.join(format!("module_{number}.{extension}")), text).expect("written");
    }
    bytes
}

/// Adds a type with methods, or a function.
fn piece(dice: &mut Dice, extension: &str, text: &mut String) {
    let camel = !matches!(extension, "rs" | "py" | "c");
    let methods = if extension == "c" { 0 } else { dice.roll(6) };
    if methods == 0 && extension != "java" {
        let name = dice.name(camel);
        text.push_str(&function(dice, extension, &name, ""));
        return;
    }
    let name = dice.type_name();
    let (head, indent, end) = match extension {
        "rs" => (
            format!(
                "/// Holds what belongs together.\npub struct {name} {{\n    count: usize,\n}}\n\nimpl {name} {{\n"
            ),
            "    ",
            "}\n\n",
        ),
        "py" => (format!("class {name}:\n    \"\"\"Holds what belongs together.\"\"\"\n\n"), "    ", "\n"),
        "go" => (format!("type {name} struct {{\n\tcount int\n}}\n\n"), "", "\n"),
        "cpp" => (format!("class {name} {{\npublic:\n    int count;\n"), "    ", "};\n\n"),
        _ => (format!("/** Holds what belongs together. */\nclass {name} {{\n"), "    ", "}\n\n"),
    };
    text.push_str(&head);
    for _ in 0..=methods {
        let method = dice.name(camel);
        let of = format!("{indent}|{name}");
        text.push_str(&function(dice, extension, &method, &of));
    }
    text.push_str(end);
}

/// Writes a function; `of` is the indent and the type of a method.
fn function(dice: &mut Dice, extension: &str, name: &str, of: &str) -> String {
    let (indent, of_type) = of.split_once('|').unwrap_or(("", ""));
    let method = !of_type.is_empty();
    let head = match (extension, method) {
        ("rs", true) => format!("pub fn {name}(&mut self, first: &str, second: usize) -> Option<usize> {{"),
        ("rs", false) => format!("pub fn {name}(first: &str, second: usize) -> Option<usize> {{"),
        ("py", true) => format!("def {name}(self, first, second=None):"),
        ("py", false) => format!("def {name}(first, second=None):"),
        ("ts", true) => format!("{name}(first: string, second: number): number {{"),
        ("ts", false) => format!("export function {name}(first: string, second: number): number {{"),
        ("js", true) => format!("{name}(first, second) {{"),
        ("js", false) => format!("export function {name}(first, second) {{"),
        ("go", true) => format!("func (it *{of_type}) {name}(first string, second int) int {{"),
        ("go", false) => format!("func {name}(first string, second int) int {{"),
        ("java", _) => format!("public int {name}(String first, int second) {{"),
        (_, _) => format!("int {name}(const char *first, int second) {{"),
    };
    let mut text = format!("{indent}{head}\n");
    for line in 0..4 + dice.roll(24) {
        let (camel, other) = (!matches!(extension, "rs" | "py" | "c"), dice.roll(100));
        let (left, right) = (dice.name(camel), dice.name(camel));
        let statement = match extension {
            "rs" => format!("let {left} = {right}(first.len() + {other}, \"a text of line {line}\");"),
            "py" => format!("{left} = {right}(len(first) + {other}, \"a text of line {line}\")"),
            "ts" | "js" => {
                format!("const {left}{line} = {right}(first.length + {other}, `a text of line {line}`);")
            }
            "go" => format!("{left}{line} := {right}(len(first)+{other}, \"a text of line {line}\")"),
            _ => format!("int {left}{line} = {right}(second + {other}, \"a text of line {line}\");"),
        };
        let _ = writeln!(text, "{indent}    {statement}");
    }
    let end = match extension {
        "rs" => "    None\n}",
        "py" => "    return first",
        _ => "    return 1;\n}",
    };
    for line in end.lines() {
        let _ = writeln!(text, "{indent}{line}");
    }
    text.push('\n');
    text
}
