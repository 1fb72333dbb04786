//! Output: read whatever comes, kept within bounds, and the memory that takes.

use std::fs;

use serde_json::{Value, json};

use crate::needs::available;
use support::service::TestService;
use support::stdio_client::{StdioClient, outcome};

/// How much memory the output may cost.
const MAX_GROWTH_KIB: u64 = 20 * 1_024;

/// Returns the most memory that a process has had, in KiB.
fn peak_kib(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).expect("the process runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("Linux tells it");
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_megabytes_of_output_cost_little_memory_and_never_stop_the_program() {
    let host = TestService::for_commands(
        json!({"sandbox": "none", "allowedCommands": ["yes *", "head *"], "maxOutputBytes": 1_000_000}),
    );
    let mut program = host.mcp();
    let mut client = StdioClient::of(&mut program.0);
    client.initialize("2025-06-18").await;
    let run = |bytes: u64| {
        json!({"scope": "app", "op": "command.run",
            "input": {"command": format!("yes 'a line of some length' | head -c {bytes}")},
            "options": {"timeoutSeconds": 600, "detail": "full"}})
    };
    let first = outcome(&client.call("computer_operation", run(1_000)).await);
    assert_eq!(first["data"]["exitCode"], 0, "{first:#}");
    let before = peak_kib(program.0.id());
    let second = outcome(&client.call("computer_operation", run(100_000_000)).await);
    let after = peak_kib(program.0.id());
    let data = &second["data"];
    assert_eq!((&data["exitCode"], &data["timedOut"]), (&json!(0), &json!(false)), "{second:#}");
    let kept = data["stdout"].as_str().expect("text");
    let cut = kept.find("[…").expect("a mark where it is cut");
    let mark = kept[cut..].find('\n').expect("the mark is a line") + 1;
    let left_out = data["leftOut"]["stdout"]["bytes"].as_u64().expect("a number");
    assert_eq!(kept.len() as u64 - mark as u64 + left_out, 100_000_000);
    println!("peak memory {before} KiB before, {after} KiB after 100 MB of output");
    assert!(after - before <= MAX_GROWTH_KIB, "{before} KiB grew to {after} KiB");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_streams_at_once_never_stop_the_program() {
    for level in available() {
        let host = TestService::for_commands(json!({"sandbox": level, "allowedCommands": ["make *"]}));
        // More than any pipe holds, in turns.
        host.write(
            "Makefile",
            "all:\n\t@for i in 1 2 3 4 5 6 7 8; do head -c 300000 /dev/zero | tr '\\0' x; \
             head -c 300000 /dev/zero | tr '\\0' y >&2; done\n",
        );
        let options = json!({"timeoutSeconds": 600, "detail": "full"});
        let data = host.answer(json!(["make", "all"]), options).await["data"].take();
        assert_eq!(data["exitCode"], 0, "{level}");
        for (stream, letter) in [("stdout", 'x'), ("stderr", 'y')] {
            let text = data[stream].as_str().expect("text");
            let left_out = data["leftOut"][stream]["bytes"].as_u64().expect("a number");
            let shown = text.chars().filter(|found| *found == letter).count() as u64;
            // The mark has the letter `y` in `bytes`.
            let of_mark = u64::from(letter == 'y');
            assert_eq!(shown - of_mark + left_out, 2_400_000, "{level}: {stream}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standard_input_is_given_whole_and_need_not_be_read() {
    for level in available() {
        let host = TestService::for_commands(json!({"sandbox": level, "allowedCommands": ["wc *", "true"]}));
        let text = "x".repeat(1_000_000);
        for (command, printed) in [(json!(["wc", "-c"]), "1000000\n"), (json!(["true"]), "")] {
            let envelope =
                json!({"scope": "app", "op": "command.run", "input": {"command": command, "stdin": text}});
            let answer = host.send(envelope).await;
            assert_eq!(answer["data"]["exitCode"], 0, "{level}: {answer:#}");
            assert_eq!(answer["data"]["stdout"], printed, "{level}: {answer:#}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_shapes_of_a_command_give_the_same() {
    let host = TestService::for_commands(json!({"sandbox": "none", "allowedCommands": ["printf *"]}));
    let without_time = |mut data: Value| {
        data["durationMs"] = Value::Null;
        data
    };
    let array = host.run(json!(["printf", "%s\\n", "a b", "c\"d"])).await;
    let line = host.run(json!("printf '%s\\n' 'a b' 'c\"d'")).await;
    assert_eq!(array["stdout"], "a b\nc\"d\n");
    assert_eq!(without_time(array), without_time(line));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_is_larger_than_asked_for() {
    let host = TestService::for_commands(json!({"sandbox": "none", "allowedCommands": ["head *"]}));
    for bytes in [1_000, 5_000, 45_000] {
        // NULs are what takes the most room as JSON.
        let options = json!({"maxOutputBytes": bytes});
        let answer = host.answer(json!(["head", "-c", "200000", "/dev/zero"]), options).await;
        let length = answer["data"].to_string().len();
        assert!(length <= bytes.max(1_600), "{length} bytes of {bytes}: {answer}");
    }
}
