//! Contents of files that crash a grammar, hold it, or have it swallow memory: a parse worker dies of them, the service
//! does not.

mod documents;
mod stress;
// What a process may and has is read from /proc.
#[cfg(target_os = "linux")]
mod worker;

use std::fs;
use std::time::{Duration, Instant};

use bailiwick::contract::Cancel;
use bailiwick::providers::code::language_of;
use bailiwick::providers::parser::ParserPool;
use bailiwick::providers::syntax::{Side, SyntaxInput};
use serde_json::{Value, json};
use support::generator::Numbers;
use support::installation::{Installation, Service};

/// How long an answer may take beyond the time that a check has.
const LONGEST: Duration = Duration::from_secs(3);
/// How long a check has.
const CHECK_TIME: Duration = Duration::from_secs(1);
/// How much memory the service may ever have.
#[cfg(target_os = "linux")]
const MOST_MEMORY_KB: u64 = 300 << 10;

/// A service that runs apart from the test, with a folder that may be written.
struct Host {
    place: Installation,
    service: Service,
    token: String,
}

impl Host {
    fn new() -> Self {
        let place = Installation::new();
        let ran = place.run(&["setup", "project", "--preset", "coding", "--yes"]);
        assert_eq!(ran.exit, 0, "{}", ran.err);
        let token = place.run(&["token", "create", "test", "--json"]).json();
        let token = token["token"]["secret"].as_str().expect("a secret").to_owned();
        let service = place.start();
        Self { place, service, token }
    }

    /// Sends a request. The answer must come in time.
    fn ask(&self, envelope: &Value) -> Value {
        let began = Instant::now();
        let answer = self.service.ask(&self.token, envelope);
        if cfg!(target_os = "linux") {
            assert!(began.elapsed() < LONGEST + CHECK_TIME, "{:?}: {answer}", began.elapsed());
        }
        answer
    }

    /// Returns the time that the service has computed.
    fn spent(&self) -> Duration {
        spent(self.service.child.id())
    }

    fn write(&self, name: &str, content: &str) -> Value {
        self.ask(&json!({"op": "file.write", "target": name, "input": {"content": content}}))
    }

    fn data(&self, envelope: &Value) -> Value {
        let answer = self.ask(envelope);
        assert_eq!(answer["ok"], true, "{envelope}: {answer}");
        answer["data"].clone()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.place.project().join(name)).expect("it was written")
    }

    /// Checks that the service parses, and that it has not grown.
    fn is_well(&self) {
        let answer = self.write("well.rs", "fn one( {}\n");
        assert_eq!(answer["data"]["syntax"]["errors"][0]["line"], 1, "{answer}");
        assert_eq!(self.write("well.rs", "fn one() {}\n")["ok"], true);
        #[cfg(target_os = "linux")]
        {
            let peak = worker::peak_kb(self.service.child.id());
            assert!(peak < MOST_MEMORY_KB, "{peak} kB");
        }
    }
}

/// Files whose contents ended the service, held it, or had it swallow memory when it parsed them itself.
fn poisons() -> Vec<(&'static str, String)> {
    let keys = (0..257).map(|level| format!("{}a:\n", " ".repeat(level))).collect();
    let mut random = Numbers::new(3);
    let printable = (0..3_000).map(|_| char::from(32 + u8::try_from(random.below(95)).expect("below 95")));
    vec![
        ("list.yaml", "- ".repeat(195)),
        ("lists.yaml", "- ".repeat(5_000)),
        ("keys.yaml", keys),
        ("minus.kt", "- ".repeat(1_562)),
        ("minuses.kt", "-".repeat(3_515)),
        ("random.kt", printable.collect()),
        ("document.py", "<<~A ".repeat(2_812)),
        ("raw.swift", format!("{}\"\"\"", "#".repeat(900_000))),
        ("minuses.rb", "-".repeat(900_000)),
        ("less.cpp", "a<b<".repeat(250_000)),
    ]
}

/// The same for operations that read only what a person could have written: with many short lines behind.
fn sources_that_fail() -> Vec<(&'static str, String)> {
    let lines = "\n".repeat(2_600);
    vec![
        ("raw.swift", format!("{}\"\"\"{lines}", "#".repeat(900_000))),
        ("minuses.rb", format!("{}{lines}", "-".repeat(900_000))),
    ]
}

#[test]
fn a_content_that_breaks_a_grammar_is_written_and_ends_nothing() {
    let host = Host::new();
    for (name, content) in poisons() {
        let answer = host.write(name, &content);
        assert_eq!(answer["ok"], true, "{name}: {answer}");
        assert_eq!(host.read(name), content, "{name}");
        // An edit of it parses the text before, too.
        let answer = host.write(name, &format!("{content} "));
        assert_eq!(answer["ok"], true, "{name}: {answer}");
        host.is_well();
    }
    let answer = host.write("raw.swift", &sources_that_fail()[0].1);
    assert_eq!(answer["data"]["syntax"]["notChecked"], "it took too long", "{answer}");
    let refused = host.ask(&json!({"op": "file.write", "target": "new.swift",
        "input": {"content": poisons()[7].1}, "options": {"check": "refuse"}}));
    assert_eq!(refused["error"]["details"]["rule"], "syntax-unchecked", "{refused}");
    host.is_well();
}

#[test]
fn several_contents_that_hold_a_grammar_at_once_hold_nobody_else() {
    let host = Host::new();
    host.is_well();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (host, content) = (&host, format!("{}\"\"\"", "#".repeat(900_000 + number)));
            scope.spawn(move || assert_eq!(host.write(&format!("{number}.swift"), &content)["ok"], true));
        }
        assert_eq!(host.data(&json!({"op": "file.read", "target": "hello.txt"}))["content"], "hello\n");
    });
    host.is_well();
}

#[test]
fn a_content_that_breaks_a_grammar_is_skipped_by_the_index_until_it_changes() {
    let host = Host::new();
    for (name, content) in poisons().into_iter().chain(sources_that_fail()) {
        fs::write(host.place.project().join(name), content).expect("written");
    }
    for number in 0..40 {
        let text = format!("fn needle_{number}() {{}}\n");
        fs::write(host.place.project().join(format!("{number}.rs")), text).expect("written");
    }
    let find = |query: &str| {
        // All files are read for it, not only those that have the text.
        let options = json!({"match": "fuzzy", "maxResults": 100});
        let envelope = json!({"op": "code.search_symbols", "input": {"query": query}, "options": options});
        // Two files take their time each.
        let answer = host.service.ask(&host.token, &envelope);
        assert_eq!((&answer["ok"], &answer["data"]["complete"]), (&json!(true), &json!(true)), "{answer}");
        answer["data"].clone()
    };
    let found = find("needle_");
    assert_eq!(found["total"], 40, "{found}");
    let partial = &found["index"]["partial"];
    assert_eq!(
        partial["tooSlow"].as_u64().unwrap_or(0) + partial["failed"].as_u64().unwrap_or(0),
        2,
        "{partial}"
    );
    // It is not tried again: this would take its time.
    let began = host.spent();
    assert_eq!(find("needle_")["index"]["partial"], *partial);
    let took = host.spent().saturating_sub(began);
    assert!(took < CHECK_TIME, "{took:?}");
    fs::write(host.place.project().join("raw.swift"), "func needle_of_swift() {}\n").expect("written");
    assert_eq!(find("needle_")["total"], 41);
    host.is_well();
}

#[test]
fn a_content_that_breaks_a_grammar_is_named_by_what_reads_definitions() {
    let host = Host::new();
    for (name, content) in sources_that_fail() {
        fs::write(host.place.project().join(name), format!("needle\n{content}")).expect("written");
        // Which of its limits such a text meets first depends on how fast the computer is at the time.
        let is_named = |said: &Value| {
            let said = said.as_str().unwrap_or_default();
            ["it took too long", "the parser failed on this text"].iter().any(|why| said.ends_with(why))
        };
        let outline = host.data(&json!({"op": "code.outline", "target": name}));
        assert!(is_named(&outline["unread"][0]["because"]), "{outline}");
        let read = host.ask(&json!({"op": "code.read_symbol", "target": name, "input": {"name": "needle"}}));
        assert!(is_named(&read["error"]["message"]), "{read}");
        let uses = host.data(&json!({"op": "code.references", "target": name, "input": {"name": "needle"}}));
        assert!(uses["skipped"]["tooSlow"] == 1 || uses["skipped"]["failed"] == 1, "{uses}");
    }
    for (name, content) in poisons() {
        fs::write(host.place.project().join(name), content).expect("written");
        host.ask(&json!({"op": "code.outline", "target": name}));
    }
    host.is_well();
}

/// What is repeated, and what comes behind.
const PATTERNS: [(&str, &str); 25] = [
    ("(", ""),
    ("[", ""),
    ("{", ""),
    ("<", ""),
    ("- ", ""),
    ("-", ""),
    ("a<b<", ""),
    ("<<~A ", ""),
    ("<<A\n", ""),
    ("#", "\"\"\""),
    ("\"", ""),
    ("'", ""),
    ("`${", ""),
    ("/*", ""),
    ("#{", ""),
    ("@", ""),
    ("*&!", ""),
    ("a.", ""),
    ("<a>", ""),
    ("a ? b : ", ""),
    ("if a {", ""),
    ("\\", "\n"),
    ("a: ", "\n"),
    ("? ", ""),
    ("<!--", ""),
];

/// A file of every language, and one that is of two.
const NAMES: [&str; 21] = [
    "a.h", "a.rs", "a.py", "a.ts", "a.tsx", "a.js", "a.go", "a.java", "a.c", "a.cpp", "a.cs", "a.rb",
    "a.php", "a.swift", "a.kt", "a.sh", "a.json", "a.yaml", "a.toml", "a.html", "a.css",
];

/// Parses each pattern in each language by workers, which must answer in time and be there again for the next. Returns
/// how many texts they failed on.
fn parse_patterns(names: &[&str], bytes: usize) -> usize {
    let pool = ParserPool::new(&support::program());
    let mut failed = 0;
    for name in names {
        for (repeated, behind) in PATTERNS {
            let text = format!("{}{behind}", repeated.repeat(bytes / repeated.len()));
            failed += parse(&pool, name, &text);
        }
        still_parses(&pool, name);
    }
    failed
}

/// Has a text parsed both ways, each of which must end in time. Returns how often a worker failed on it.
fn parse(pool: &ParserPool, name: &str, text: &str) -> usize {
    let test = std::process::id();
    let after = Side { text, version: "1" };
    let checked = SyntaxInput { path: name, before: None, after, regions: &[] };
    let within_limit = |what: &str, began: Duration| {
        let (took, start) = (spent(test).saturating_sub(began), text.chars().take(80).collect::<String>());
        assert!(took < LONGEST, "{name} {start:?} of {} bytes, {what}: {took:?}", text.len());
    };
    let began = spent(test);
    let found = pool.check(&checked, Instant::now() + CHECK_TIME).expect("a grammar");
    within_limit("checked", began);
    let mut failed = usize::from(found.new.is_err());
    if let Some(language) = language_of(name.as_bytes(), b"") {
        // An error is an answer, too. It is the service that says when it comes.
        let (began, cancel) = (spent(test), Cancel::after(*support::patience::PATIENCE));
        failed += usize::from(pool.definitions(language, text.as_bytes(), &cancel).is_err());
        within_limit("read", began);
    }
    failed
}

/// The time that a process and its parse workers have computed, so that other programs do not count.
#[cfg(target_os = "linux")]
fn spent(process: u32) -> Duration {
    worker::computed(process)
}

/// The time.
#[cfg(not(target_os = "linux"))]
fn spent(_process: u32) -> Duration {
    static BEGAN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    BEGAN.elapsed()
}

fn still_parses(pool: &ParserPool, after: &str) {
    let side = Side { text: "a: [", version: "2" };
    let well = SyntaxInput { path: "well.yaml", before: None, after: side, regions: &[] };
    let found = pool.check(&well, Instant::now() + *support::patience::PATIENCE).expect("a grammar");
    assert!(found.new.is_ok_and(|new| new.len() == 1), "after {after}");
}

#[test]
fn no_pattern_in_any_language_holds_a_parse_worker() {
    for bytes in [300, 4_000] {
        parse_patterns(&NAMES, bytes);
    }
}
