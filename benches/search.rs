//! Measures `file.search` beside `rg`: one literal over 25,000 files, 0.5 GB, warm.
//!
//! ```text
//! cargo bench --bench measure search               a literal
//! cargo bench --bench measure search -- WORD       a word
//! ```
//!
//! The same tree is made in every run, below the temporary folder, and removed at the end. Each round runs
//! `rg` as a process and the operation in this process, through `Service::handle` with the history on, in
//! turn. Ends with 1 if the hits differ.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Instant;

use bailiwick::contract::{Caller, Envelope, Transport};
use bailiwick::service::Service;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::fixture::{Folder, median, milliseconds, service};

const FILES: usize = 25_000;
const BYTES: usize = 500_000_000;
const LITERAL: &str = "quarterlyLedgerTotal";
const ROUNDS: usize = 21;

/// Measures it; the first word is searched for instead of the literal.
pub fn run(words: &[String]) -> ExitCode {
    let query = words.first().map_or(LITERAL, String::as_str);
    let folder = Folder::make();
    let tree = folder.join("tree");
    let bytes = make_tree(&tree);
    println!("tree: {FILES} files, {:.2} GB, query {query:?}", bytes as f64 / 1e9);

    let runtime = tokio::runtime::Runtime::new().expect("a runtime starts");
    let scopes = json!([{"id": "tree", "roots": [tree], "capabilities": ["fs:read"]}]);
    let service = service(folder.join("home"), scopes);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut our_hits, mut their_hits) = (Vec::new(), Vec::new());
    // The first round warms the page cache and does not count.
    for round in 0..=ROUNDS {
        let (took, hits) = search(&runtime, &service, query);
        our_hits = hits;
        if round > 0 {
            ours.push(took);
        }
        let Some((took, hits)) = ripgrep(&tree, query) else {
            println!("rg cannot be run: install ripgrep to compare");
            return ExitCode::SUCCESS;
        };
        their_hits = hits;
        if round > 0 {
            theirs.push(took);
        }
    }
    let (our_median, their_median) = (median(&mut ours), median(&mut theirs));
    println!("file.search  median {our_median:.1} ms  (best {:.1}, {} hits)", ours[0], our_hits.len());
    println!("rg           median {their_median:.1} ms  (best {:.1}, {} hits)", theirs[0], their_hits.len());
    println!("ratio        {:.2}", our_median / their_median);
    their_hits.sort();
    our_hits.sort();
    let agree = our_hits == their_hits;
    println!("hits         {}", if agree { "the same" } else { "DIFFERENT" });
    ExitCode::from(u8::from(!agree))
}

type Hits = Vec<(String, u64)>;

fn search(runtime: &tokio::runtime::Runtime, service: &Arc<Service>, query: &str) -> (f64, Hits) {
    let envelope = json!({
        "op": "file.search",
        "input": {"query": query},
        "options": {"literal": true, "maxResults": 10_000, "maxOutputBytes": 1_000_000},
    });
    let caller = Caller::local(Transport::Cli);
    let began = Instant::now();
    let outcome = runtime
        .block_on(service.handle(&caller, Envelope::from_value(envelope), &CancellationToken::new()))
        .into_reply()
        .into_value();
    let took = milliseconds(began.elapsed());
    let matches = outcome["data"]["matches"].as_array().unwrap_or_else(|| panic!("no matches: {outcome}"));
    assert_eq!(outcome["data"]["truncated"], Value::Bool(false), "the query has too many hits to compare");
    let hits =
        matches.iter().filter_map(|hit| Some((hit["path"].as_str()?.to_owned(), hit["line"].as_u64()?)));
    (took, hits.collect())
}

fn ripgrep(tree: &Path, query: &str) -> Option<(f64, Hits)> {
    let began = Instant::now();
    let output = Command::new("rg")
        .args([
            "--no-config",
            "--fixed-strings",
            "--line-number",
            "--no-heading",
            "--color=never",
            "-e",
            query,
            ".",
        ])
        .current_dir(tree)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let took = milliseconds(began.elapsed());
    let text = String::from_utf8_lossy(&output.stdout);
    let hits = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let path = parts.next()?.trim_start_matches("./");
        Some((path.to_owned(), parts.next()?.parse().ok()?))
    });
    Some((took, hits.collect()))
}

/// Creates the tree: folders three deep, sizes from 1 KB to 200 KB, one file in 60 with the literal, one in 100
/// binary, and some that `.gitignore` files leave out. Returns the bytes of the files that count.
fn make_tree(tree: &Path) -> usize {
    const WORDS: &[&str] = &[
        "fn",
        "let",
        "return",
        "self",
        "value",
        "index",
        "result",
        "error",
        "match",
        "request",
        "response",
        "buffer",
        "length",
        "offset",
        "parser",
        "token",
        "stream",
        "(",
        ")",
        "{",
        "}",
        "=",
        "->",
        "quarterly",
        "Ledger",
        "Total",
        "customer",
        "invoice",
        "total",
        "update",
        "select",
        "from",
        "where",
    ];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    fs::create_dir_all(tree.join(".git")).expect("the temporary folder can be written");
    fs::write(tree.join(".gitignore"), "*.log\n/build/\n!keep.log\n").expect("written");
    let mut line = String::new();
    let mut total = 0;
    for number in 0..FILES {
        let folder =
            tree.join(format!("part{}/module{}/unit{}", number % 10, number / 10 % 10, number / 100 % 10));
        if number < 1_000 {
            fs::create_dir_all(&folder).expect("written");
            if number % 50 == 0 {
                fs::write(folder.join(".gitignore"), "*.tmp\n/generated/\n").expect("written");
                fs::write(folder.join("skipped.tmp"), format!("{LITERAL}\n")).expect("written");
                fs::write(folder.join("skipped.log"), format!("{LITERAL}\n")).expect("written");
            }
        }
        // Most files are small, a few are large; the rest of the bytes spreads over those to come.
        let rest = (BYTES.saturating_sub(total)) / (FILES - number);
        let size = match random.below(10) {
            0 => rest * 4,
            1..=3 => rest,
            _ => rest / 2,
        };
        let name = format!("file{number}.{}", ["rs", "ts", "py", "md"][number % 4]);
        let mut file = BufWriter::new(File::create(folder.join(name)).expect("written"));
        let mut written = 0;
        if number % 100 == 7 {
            written += file.write(b"\0binary\0").expect("written");
        }
        let marked = (number % 60 == 0).then_some(size / 2);
        let mut is_marked = false;
        while written < size {
            line.clear();
            for _ in 0..4 + random.below(10) {
                line.push_str(WORDS[random.below(WORDS.len())]);
                line.push(' ');
            }
            if marked.is_some_and(|at| written >= at) && !is_marked {
                line.push_str(LITERAL);
                is_marked = true;
            }
            line.push('\n');
            file.write_all(line.as_bytes()).expect("written");
            written += line.len();
        }
        file.flush().expect("written");
        total += written;
    }
    fs::create_dir_all(tree.join("build")).expect("written");
    fs::write(tree.join("build/out.txt"), format!("{LITERAL}\n")).expect("written");
    total
}

/// A small generator (xorshift64*), so that every run makes the same tree.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}
