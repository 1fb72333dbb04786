//! Figures of judging commands: `cargo bench --bench measure command`. Goals: 50 µs for an ordinary string (p50);
//! 32 KiB of hostile nesting refused in 5 ms. Ends with 1 if one is missed.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bailiwick::config::ScopePolicy;
use bailiwick::contract::CommandInput;
use bailiwick::policy::command::{Commands, Grant, recognise};

const ROUNDS: usize = 2_000;
const ORDINARY_GOAL: Duration = Duration::from_micros(50);
const HOSTILE_GOAL: Duration = Duration::from_millis(5);

/// What agents run all day: `tests/commands/ordinary.md` has more of it.
const ORDINARY: &[&str] = &[
    "git status",
    "git log --oneline -20",
    "git log --format=\"%h; %s\"",
    "git show HEAD^",
    "git add -A && git commit -m \"parser: take a word apart; keep its quotes\"",
    "cargo test --workspace --all-features",
    "cargo build 2>&1 | tail -20",
    "cargo fmt --check && cargo clippy --all-targets -- -D warnings && cargo test",
    "npm test -- --grep \"a;b\"",
    "npm run build && npm run lint",
    "node -e \"console.log(1 + 1)\"",
    "python3 -m pytest -k \"not slow and (api or db)\"",
    "cat src/a.rs | grep -n \"fn \" | sort | uniq -c",
    "grep -E \"^(pub )?fn [a-z_]+\\(\" src/lib.rs",
    "find . -name \"*.rs\" -not -path \"./target/*\"",
    "jq -r '.items[] | select(.id > 3) | .name' data.json",
    "make -j4 test",
    "ls -la src",
];

/// Text that nests, or that is as much work as a string can be.
const HOSTILE: &[&str] = &[
    "(",
    "{ ",
    "{",
    "$(",
    "$((",
    "${",
    "${x:-",
    "`",
    "\"$(",
    "<(",
    "<<<",
    "if ",
    "while ",
    "case x in x) ",
    "f() ",
    "! ",
    "coproc ",
    "{a,",
    "{1..",
    "@(",
    "a[",
    "a;",
    "a&&",
    "a|",
    "a\n",
    "a ",
    "'a' ",
    "\"a\"",
    "\\a",
    "\\\"",
    "~",
];

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let policy: ScopePolicy = serde_json::from_value(serde_json::json!({
        "allowedCommands": ["git *", "cargo *", "npm *", "node *", "python3 *", "cat *", "grep *", "sort *", "uniq *",
            "find *", "jq *", "make *", "ls *", "tail *"],
        "deniedCommands": ["git push *"],
        "askCommands": ["cargo publish *"],
    }))
    .expect("a good policy");
    let commands = Commands::compile("app", &policy).expect("good rules");

    let mut read = Vec::new();
    let mut judged = Vec::new();
    let mut slowest = ("", Duration::ZERO);
    for line in ORDINARY {
        let input = CommandInput::Line((*line).to_owned());
        let reading = times(ROUNDS, || recognise::plan(black_box(&input)).is_ok());
        if reading[ROUNDS / 2] > slowest.1 {
            slowest = (line, reading[ROUNDS / 2]);
        }
        read.extend(reading);
        judged.extend(times(ROUNDS, || commands.judge(black_box(&input), Grant::Rules).is_ok()));
    }
    read.sort();
    judged.sort();
    row("ordinary string, read", &read);
    row("ordinary string, read and judged", &judged);
    println!("slowest of them to read                  p50 {:>9.1?}   {}", slowest.1, slowest.0);

    let mut worst = ("", String::new(), Duration::ZERO);
    for opener in HOSTILE {
        for prefix in ["", "git ", "git \"", "git '"] {
            let mut line = prefix.to_owned();
            while line.len() + opener.len() < recognise::MAX_LINE_BYTES {
                line.push_str(opener);
            }
            line.push_str(prefix.get(4..).unwrap_or_default());
            let input = CommandInput::Line(line);
            let time = times(9, || recognise::plan(black_box(&input)).is_ok())[4];
            if time > worst.2 {
                worst = (opener, prefix.to_owned(), time);
            }
        }
    }
    println!(
        "32 KiB of hostile text, the slowest      p50 {:>9.1?}   {:?} after {:?}",
        worst.2, worst.0, worst.1
    );

    let met = judged[judged.len() / 2] <= ORDINARY_GOAL && worst.2 <= HOSTILE_GOAL;
    println!("{}", if met { "both goals are met" } else { "A GOAL IS MISSED" });
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn times<T>(rounds: usize, mut run: impl FnMut() -> T) -> Vec<Duration> {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let began = Instant::now();
            black_box(run());
            began.elapsed()
        })
        .collect();
    times.sort();
    times
}

fn row(name: &str, times: &[Duration]) {
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("{name:<40} p50 {:>9.1?}   p99 {:>9.1?}", at(50), at(99));
}
