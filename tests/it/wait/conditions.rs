//! Each kind of condition holds when it should, says what it saw, and says so when it cannot hold any more.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::hall::Hall;
use crate::command::yard::has;

/// Gives the only condition of an answer.
fn only(data: &Value) -> &Value {
    let conditions = data["conditions"].as_array().expect("conditions");
    assert_eq!(conditions.len(), 1);
    &conditions[0]
}

/// Does something a little later.
fn later(what: impl FnOnce() + Send + 'static) {
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        what();
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_is_seen_with_its_exit_code_and_another_code_is_impossible() {
    if !has("python3") {
        return;
    }
    let hall = Hall::new();
    let process = hall.python("time.sleep(0.3); sys.exit(3)").await;
    let data = hall.wait(json!({"any": [{"until": "exit", "process": process}]})).await;
    assert_eq!(data["outcome"], "held", "{data:#}");
    assert_eq!((&only(&data)["exitCode"], &only(&data)["processId"]), (&json!(3), &json!(process)));
    let data = hall.wait(json!({"any": [{"until": "exit", "process": process, "code": 0}]})).await;
    assert_eq!(data["outcome"], "impossible");
    assert_eq!(only(&data)["why"], "the process has ended with exit code 3");
    let data = hall.wait(json!({"all": [{"until": "exit", "process": process, "code": 3}]})).await;
    assert_eq!(data["outcome"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_process_whose_keeper_was_killed_is_an_end_without_a_code() {
    if !has("python3") {
        return;
    }
    let hall = Hall::new();
    let process = hall.python("print('up'); time.sleep(600)").await;
    hall.wait(json!({"any": [{"until": "text", "process": process, "text": "up"}]})).await;
    let exit = json!({"any": [{"until": "exit", "process": process}]});
    let (data, ()) = tokio::join!(hall.wait(exit), async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        hall.kill_keepers();
    });
    assert_eq!((&data["outcome"], &only(&data)["exitCode"]), (&json!("held"), &json!(null)));
    let code = json!({"any": [{"until": "exit", "process": process, "code": 0}]});
    let data = hall.wait(code).await;
    assert_eq!(
        (&data["outcome"], &only(&data)["why"]),
        (&json!("impossible"), &json!("the process was lost"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_is_seen_whether_it_was_printed_before_the_wait_or_comes_later() {
    if !has("python3") {
        return;
    }
    let hall = Hall::new();
    let process = hall
        .python("print('starting'); print('warming', file=sys.stderr); time.sleep(0.5); print('ready on 5173 now'); time.sleep(600)")
        .await;
    let input = json!({"any": [{"until": "regex", "process": process, "pattern": r"ready on (\d+)\b"}]});
    for _ in 0..2 {
        let data = hall.wait(input.clone()).await;
        let seen = only(&data);
        assert_eq!((&seen["line"], &seen["stream"]), (&json!("ready on 5173 now"), &json!("stdout")));
        assert_eq!(seen["position"], 17);
        // Python may write the line's end by itself.
        assert!(seen["next"] == 34 || seen["next"] == 35, "{seen:#}");
    }
    let text = json!({"until": "text", "text": "warm"});
    let data = hall.data(json!({"op": "process.wait", "target": process, "input": {"any": [text]}})).await;
    assert_eq!(only(&data)["stream"], "stderr");
    let read = hall.data(json!({"op": "process.read", "target": process})).await;
    let after = json!({"any": [{"until": "text", "process": process, "text": "ready", "from": 35},
                               {"until": "text", "process": process, "text": "r", "from": read["nextCursor"]},
                               {"until": "time", "seconds": 0.2}]});
    let data = hall.wait(after).await;
    assert_eq!(data["conditions"][0]["standing"], "waiting", "{data:#}");
    assert_eq!(data["conditions"][1]["standing"], "waiting");
    assert_eq!(data["conditions"][2]["standing"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_is_seen_although_its_line_does_not_end() {
    if !has("python3") {
        return;
    }
    let hall = Hall::new();
    let process = hall.python("print('hello'); print('>>> ', end='', flush=True); time.sleep(600)").await;
    let data = hall.wait(json!({"any": [{"until": "regex", "process": process, "pattern": "^>>> $"}]})).await;
    assert_eq!(only(&data)["line"], ">>> ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_ended_process_did_not_print_is_impossible_at_once() {
    if !has("python3") {
        return;
    }
    let hall = Hall::new();
    let ended = hall.python("print('done')").await;
    let lives = hall.python("time.sleep(600)").await;
    let never = json!({"until": "text", "process": ended, "text": "never"});
    let port = json!({"until": "port", "process": ended, "port": 1});
    let open = json!({"until": "exit", "process": lives});
    let data = hall.wait(json!({"all": [never, open]})).await;
    assert_eq!(data["outcome"], "impossible");
    assert_eq!(data["conditions"][0]["why"], "the process has ended with exit code 0 without printing it");
    assert_eq!(data["conditions"][1]["standing"], "waiting");
    let data = hall.wait(json!({"any": [never, port]})).await;
    assert_eq!(data["outcome"], "impossible");
    let data = hall.wait(json!({"any": [never, {"until": "time", "seconds": 0.1}]})).await;
    assert_eq!(data["outcome"], "held", "time can still pass");
}

const SERVER: &str = "
import http.server, socket
time.sleep(0.4)
class H(http.server.BaseHTTPRequestHandler):
    n = 0
    def do_GET(self):
        H.n += 1
        self.send_response(503 if H.n < 3 else 204)
        self.end_headers()
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1]) if len(sys.argv) > 1 else 18473), H).serve_forever()
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_awaited_by_its_port_and_by_its_answer_in_its_own_network() {
    if !has("python3") {
        return;
    }
    let hall = Hall::new();
    let (server, other) = (hall.python(SERVER).await, hall.python("time.sleep(600)").await);
    let data = hall.wait(json!({"any": [{"until": "port", "process": server, "port": 18473}]})).await;
    assert_eq!(data["outcome"], "held", "{data:#}");
    let http = json!({"until": "http", "process": server, "port": 18473, "path": "/health"});
    let data = hall.wait(json!({"any": [http]})).await;
    assert_eq!((&data["outcome"], &only(&data)["status"]), (&json!("held"), &json!(204)));
    if crate::command::yard::has_full() {
        let elsewhere = json!({"until": "port", "process": other, "port": 18473});
        let data = hall.wait(json!({"any": [elsewhere, {"until": "time", "seconds": 0.3}]})).await;
        assert_eq!(data["conditions"][0]["standing"], "waiting", "each has a network of its own");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_awaited_until_it_comes_changes_or_goes() {
    let hall = Hall::new();
    let path = hall.path("made");
    let made = path.clone();
    later(move || fs::write(made, "1").expect("written"));
    let data = hall.wait(json!({"any": [{"until": "file", "path": "made"}]})).await;
    assert_eq!(data["outcome"], "held");
    let changed = path.clone();
    later(move || fs::write(changed, "22").expect("written"));
    let data = hall.wait(json!({"any": [{"until": "file", "path": "made", "state": "changed"}]})).await;
    assert_eq!(data["outcome"], "held");
    later(move || fs::remove_file(path).expect("removed"));
    let data = hall.wait(json!({"any": [{"until": "file", "path": "made", "state": "absent"}]})).await;
    assert_eq!(data["outcome"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_awaited_only_inside_the_scope_and_by_those_who_may_read() {
    let hall = Hall::new();
    for (path, code) in [("../out", "path_out_of_scope"), (".env", "permission_denied")] {
        let input = json!({"any": [{"until": "file", "path": path}]});
        let answer = hall.send(json!({"op": "process.wait", "input": input})).await;
        assert_eq!(answer["error"]["code"], code, "{answer:#}");
    }
    let blind = Hall::with(&["process:manage"]);
    blind.write("there", "");
    let input = json!({"any": [{"until": "file", "path": "there"}]});
    let answer = blind.send(json!({"op": "process.wait", "input": input})).await;
    assert_eq!(answer["error"]["details"]["rule"], "scope-capabilities", "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quiet_is_counted_from_the_last_output_and_an_end_is_quiet() {
    if !has("python3") {
        return;
    }
    let hall = Hall::new();
    let process = hall.python("[(print(n), time.sleep(0.2)) for n in range(5)]; time.sleep(600)").await;
    let quiet = json!({"all": [{"until": "quiet", "process": process, "seconds": 0.7}]});
    assert_eq!(hall.wait(quiet).await["outcome"], "held");
    let read = hall.data(json!({"op": "process.read", "target": process})).await;
    assert_eq!(read["stdout"], "0\n1\n2\n3\n4\n", "it did not hold in between");
    let ended = hall.python("pass").await;
    let quiet = json!({"all": [{"until": "quiet", "process": ended, "seconds": 86400}]});
    assert_eq!(hall.wait(quiet).await["outcome"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_wants_each_of_them_at_one_time_or_another() {
    if !has("python3") {
        return;
    }
    let hall = Hall::new();
    let process =
        hall.python("print('one'); time.sleep(0.3); print('two', file=sys.stderr); time.sleep(600)").await;
    let condition = |text: &str| json!({"until": "text", "process": process, "text": text});
    let file = json!({"until": "file", "path": "brief"});
    hall.write("brief", "");
    let path = hall.path("brief");
    later(move || fs::remove_file(path).expect("removed"));
    let data = hall.wait(json!({"all": [condition("two"), condition("one"), file]})).await;
    assert_eq!(data["outcome"], "held");
    let positions: Vec<_> =
        data["conditions"].as_array().expect("a list").iter().map(|it| &it["position"]).collect();
    assert_eq!(positions, [&json!(4), &json!(0), &json!(null)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_condition_is_refused_with_the_field() {
    let hall = Hall::new();
    for (input, field) in [
        (json!({}), "input.any"),
        (json!({"any": []}), "input.any"),
        (
            json!({"any": [{"until": "time", "seconds": 1}], "all": [{"until": "time", "seconds": 1}]}),
            "input.all",
        ),
        (json!({"any": vec![json!({"until": "time", "seconds": 1}); 33]}), "input.any"),
        (json!({"any": [{"until": "port", "port": 80}]}), "input.any[0].process"),
        (json!({"any": [{"until": "time", "seconds": 1}, {"until": "time"}]}), "input.any[1].seconds"),
        (json!({"any": [{"until": "time", "seconds": 1e9}]}), "input.any[0].seconds"),
        (json!({"any": [{"until": "time", "seconds": 1, "port": 1}]}), "input.any[0].port"),
        (json!({"any": [{"until": "file"}]}), "input.any[0].path"),
        (json!({"all": [{"until": "regex", "pattern": "("}]}), "input.all[0].pattern"),
        (json!({"all": [{"until": "text", "text": "a\nb"}]}), "input.all[0].text"),
        (json!({"any": [{"until": "often"}]}), "input.any[0].until"),
        (json!({"any": [{"until": "time", "seconds": 1, "for": 1}]}), "input.any[0].for"),
    ] {
        let answer = hall.send(json!({"op": "process.wait", "input": input})).await;
        assert_eq!(answer["error"]["code"], "invalid_request", "{input}: {answer:#}");
        assert_eq!(answer["error"]["details"]["field"], field, "{input}: {answer:#}");
    }
    let absent = json!({"any": [{"until": "exit", "process": "01JD0000000000000000000000"}]});
    let answer = hall.send(json!({"op": "process.wait", "input": absent})).await;
    assert_eq!(answer["error"]["code"], "process_not_found");
}
