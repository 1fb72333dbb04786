//! Real programs in a terminal: a REPL, an editor, a pager.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use super::scope::{TerminalScope, lines};
use crate::needs::require_program;
use crate::patience::PATIENCE;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_repl_of_python_takes_lines_blocks_an_interrupt_and_its_end() {
    require_program("python3");
    let desk = TerminalScope::new();
    let python = desk.start(&["python3", "-q"], json!(true)).await;
    python.ends_with(">>>").await;
    python.press(&["x = 6 * 7", "Enter"]).await;
    python.write(json!({"text": "print('x is', x)", "keys": ["Enter"]})).await;
    python.shows("x is 42").await;
    for line in ["for i in range(3):", "    print('row', i)", ""] {
        python.press(&[line, "Enter"][usize::from(line.is_empty())..]).await;
    }
    python.shows("row 2").await;
    // The line editor: back to the beginning of the line, and the line before.
    python.press(&["ab", "Left", "C-a", "'", "End", "'", "Enter"]).await;
    python.shows("'ab'").await;
    python.press(&["Up", "Backspace", "c'", "Enter"]).await;
    python.shows("'abc'").await;
    python.press(&["import time; print('begun'); time.sleep(1000)", "Enter"]).await;
    python.shows("begun").await;
    python.press(&["C-c"]).await;
    python.shows("KeyboardInterrupt").await;
    python.ends_with(">>>").await;
    // It ends by the signal itself if nothing comes after an interrupt.
    python.press(&["print('goes', 'on')", "Enter"]).await;
    python.shows("goes on").await;
    python.press(&["C-d"]).await;
    let ended = python.ended().await;
    assert_eq!(ended["exitCode"], 0, "{ended:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vim_writes_the_file_that_its_screen_shows() {
    require_program("vim");
    let desk = TerminalScope::new();
    desk.write("notes.txt", "first\nsecond\n");
    let vim = desk.start(&["vim", "-N", "-u", "NONE", "notes.txt"], json!({"rows": 12, "columns": 40})).await;
    vim.shows("\"notes.txt\"").await;
    // It names the file before it shows it.
    let screen = vim.shows("~").await;
    assert_eq!(lines(&screen)[..4], ["first", "second", "~", "~"]);
    assert_eq!((&screen["alternateScreen"], &screen["rows"]), (&json!(true), &json!(12)));
    assert_eq!(screen["cursor"], json!({"row": 1, "column": 1, "visible": true}));
    // Arrow keys as the editor wants them: it has switched on those of applications.
    vim.press(&["Down", "End", "a", " line", "Enter", "gr\u{fc}n", "Escape"]).await;
    let screen = vim.shows("gr\u{fc}n").await;
    assert_eq!(lines(&screen)[..4], ["first", "second line", "gr\u{fc}n", "~"]);
    vim.ask("process.resize", json!({"rows": 6, "columns": 60}), json!({})).await;
    vim.press(&[":set ruler", "Enter", "gg"]).await;
    let screen = vim.shows("first").await;
    assert_eq!((&screen["rows"], &screen["columns"]), (&json!(6), &json!(60)));
    vim.press(&[":wq", "Enter"]).await;
    assert_eq!(vim.ended().await["exitCode"], 0);
    let text = fs::read_to_string(desk.path("notes.txt")).expect("the file");
    assert_eq!(text, "first\nsecond line\ngr\u{fc}n\n");
    assert_eq!(vim.screen().await["alternateScreen"], false, "it gives the screen back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn less_shows_a_file_page_by_page() {
    require_program("less");
    let desk = TerminalScope::new();
    let text: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    desk.write("long.txt", &text);
    let less = desk.start(&["less", "long.txt"], json!({"rows": 11, "columns": 40})).await;
    let screen = less.shows("line 10").await;
    assert_eq!(lines(&screen)[..10], (1..=10).map(|at| format!("line {at}")).collect::<Vec<_>>());
    less.press(&["Space"]).await;
    assert_eq!(lines(&less.shows("line 20").await)[0], "line 11");
    less.press(&["Up"]).await;
    assert_eq!(lines(&less.shows("line 10").await)[0], "line 10");
    less.press(&["G"]).await;
    assert_eq!(lines(&less.shows("line 100").await)[0], "line 91");
    less.press(&["g", "/line 42", "Enter"]).await;
    assert_eq!(lines(&less.shows("line 42").await)[0], "line 42");
    less.press(&["q"]).await;
    assert_eq!(less.ended().await["exitCode"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_asks_its_terminal_gets_answers() {
    require_program("python3");
    let desk = TerminalScope::new();
    desk.write(
        "asks.py",
        "import os, sys, termios, tty\n\
         tty.setraw(0)\n\
         def ask(question, end):\n    \
             os.write(1, question)\n    \
             got = b''\n    \
             while not got.endswith(end):\n        got += os.read(0, 1)\n    \
             return got\n\
         os.write(1, b'\\x1b[H\\x1b[2Jhi\\r\\n')\n\
         got = [ask(b'\\x1b[c', b'c'), ask(b'\\x1b[>c', b'c'), ask(b'\\x1b[5n', b'n'), ask(b'ab\\x1b[6n', b'R')]\n\
         os.write(1, b'\\r\\n' + repr(got).encode() + b'\\r\\n')\n",
    );
    let asks = desk.start(&["python3", "asks.py"], json!(true)).await;
    assert_eq!(asks.ended().await["exitCode"], 0);
    let shown = asks.lines().await;
    let told = r"[b'\x1b[?62;22c', b'\x1b[>1;10;0c', b'\x1b[0n', b'\x1b[2;3R']";
    assert_eq!(shown, ["hi", "ab", told]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_gets_nothing_that_it_printed_back_as_input() {
    require_program("python3");
    let desk = TerminalScope::new();
    // Titles, the clipboard, a setting, colours, the terminal's own name, and words that a terminal is to answer with:
    // after all of them the one question that is answered, and no byte before its answer.
    desk.write(
        "asks.py",
        "import os, termios, tty\n\
         tty.setraw(0)\n\
         hostile = [b'\\x1b]2;touch evil\\r\\x07', b'\\x1b]1;touch evil\\r\\x07', b'\\x1b[21t', b'\\x1b[20t', b'\\x05',\n    \
             b'\\x1bP$qm\\x1b\\\\', b'\\x1b]52;c;dG91Y2g=\\x07', b'\\x1b]52;c;?\\x07', b'\\x1b]4;1;?\\x07', b'\\x1b]10;?\\x07',\n    \
             b'\\x1bP+q544e\\x1b\\\\', b'\\x1b[>q', b'\\x1b[?u', b'\\x1b]1337;ReportVariable=dA==\\x07']\n\
         for one in hostile:\n    \
             os.write(1, one + b'\\x1b[5n')\n    \
             got = b''\n    \
             while not got.endswith(b'\\x1b[0n'):\n        got += os.read(0, 1)\n    \
             if got != b'\\x1b[0n':\n        raise SystemExit(repr((one, got)))\n\
         os.write(1, b'\\x1b[H\\x1b[2Jnothing\\r\\n')\n",
    );
    let asks = desk.start(&["python3", "asks.py"], json!(true)).await;
    let ended = asks.ended().await;
    assert_eq!((&ended["exitCode"], asks.lines().await), (&json!(0), vec!["nothing".to_owned()]), "{ended}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_screen_is_right_after_other_sizes_and_in_another_service() {
    require_program("python3");
    let desk = TerminalScope::new();
    desk.write(
        "draws.py",
        "import signal, shutil, sys\n\
         signal.signal(signal.SIGWINCH, lambda *_: None)\n\
         signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])\n\
         while True:\n    \
             size = shutil.get_terminal_size()\n    \
             sys.stdout.write(f'\\x1b[2J\\x1b[{size.lines};{size.columns}H#\\x1b[1;1H{size.columns}x{size.lines} ')\n    \
             sys.stdout.flush()\n    \
             signal.sigwait([signal.SIGWINCH])\n",
    );
    let draws = desk.start(&["python3", "draws.py"], json!({"rows": 10, "columns": 30})).await;
    draws.shows("30x10").await;
    for (rows, columns) in [(20, 50), (5, 20), (8, 40)] {
        let resized = draws.ask("process.resize", json!({"rows": rows, "columns": columns}), json!({})).await;
        assert_eq!(resized["ok"], true, "{resized:#}");
        draws.shows(&format!("{columns}x{rows}")).await;
    }
    let screen = draws.screen().await;
    assert_eq!(lines(&screen)[7], format!("{:>40}", "#"));
    // The command line is a service of its own: it draws the screen from the beginning.
    let ran = desk.cli(&["call", "process.read", &draws.id, "--scope", "app", "--view", "screen", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    assert_eq!(told["data"]["screen"], screen);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_screen_whose_beginning_is_not_kept_says_so() {
    require_program("python3");
    let desk = TerminalScope::new();
    desk.write(
        "prints.py",
        "import sys, time\nfor row in range(200_000):\n    sys.stdout.write(f'row {row} of a text that a long build prints\\n')\n\
         sys.stdout.write('over> ')\nsys.stdout.flush()\ntime.sleep(1000)\n",
    );
    let prints = desk.start(&["python3", "prints.py"], json!({"rows": 4, "columns": 60})).await;
    // Anyone who has looked all the time misses nothing; nobody has.
    let began = Instant::now();
    while !prints.tail().await.contains("over>") {
        assert!(began.elapsed() < *PATIENCE, "it prints for ever");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let screen = prints.screen().await;
    let rows = (199_997..200_000).map(|row| format!("row {row} of a text that a long build prints"));
    assert_eq!(lines(&screen), rows.chain(["over>".to_owned()]).collect::<Vec<_>>());
    assert_eq!(screen["beginningLost"], true);
}
