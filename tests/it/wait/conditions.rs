//! Each kind of condition holds when it should, says what it saw, and says so when it cannot hold any more.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use support::needs::lacks_full_sandbox;
use support::service::TestService;

/// Returns the only condition of an answer.
fn only(data: &Value) -> &Value {
    let conditions = data["conditions"].as_array().expect("conditions");
    assert_eq!(conditions.len(), 1);
    &conditions[0]
}

/// The lines of a Python program that wait until the test makes the file `go`.
const UNTIL_GO: &str = "while not os.path.exists('go'): time.sleep(0.01)";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_is_seen_with_its_exit_code_and_another_code_is_impossible() {
    let host = TestService::for_waits();
    let process = host.python(&format!("{UNTIL_GO}\nsys.exit(3)")).await;
    let exit = json!({"any": [{"until": "exit", "process": process}]});
    let data = host.wait_and(exit, async || host.write("go", "")).await;
    assert_eq!(data["outcome"], "held", "{data:#}");
    assert_eq!((&only(&data)["exitCode"], &only(&data)["processId"]), (&json!(3), &json!(process)));
    let data = host.wait(json!({"any": [{"until": "exit", "process": process, "code": 0}]})).await;
    assert_eq!(data["outcome"], "impossible");
    assert_eq!(only(&data)["why"], "the process has ended with exit code 3");
    let data = host.wait(json!({"all": [{"until": "exit", "process": process, "code": 3}]})).await;
    assert_eq!(data["outcome"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_process_whose_keeper_was_killed_is_an_end_without_a_code() {
    let host = TestService::for_waits();
    let process = host.python("print('up'); time.sleep(600)").await;
    host.wait_until(json!({"any": [{"until": "text", "process": process, "text": "up"}]})).await;
    let exit = json!({"any": [{"until": "exit", "process": process}]});
    let data = host.wait_and(exit, async || host.kill_keepers()).await;
    assert_eq!((&data["outcome"], &only(&data)["exitCode"]), (&json!("held"), &json!(null)));
    let code = json!({"any": [{"until": "exit", "process": process, "code": 0}]});
    let data = host.wait(code).await;
    assert_eq!(
        (&data["outcome"], &only(&data)["why"]),
        (&json!("impossible"), &json!("the process was lost"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_is_seen_whether_it_was_printed_before_the_wait_or_comes_later() {
    let host = TestService::for_waits();
    let program = format!(
        "print('starting'); print('warming', file=sys.stderr)\n{UNTIL_GO}\nprint('ready on 5173 now'); time.sleep(600)"
    );
    let process = host.python(&program).await;
    // Both lines are kept before the third is printed, so that its position is known.
    let printed = |text: &str| json!({"until": "text", "process": process, "text": text});
    host.wait_until(json!({"all": [printed("starting"), printed("warming")]})).await;
    let input = json!({"any": [{"until": "regex", "process": process, "pattern": r"ready on (\d+)\b"}]});
    let later = host.wait_and(input.clone(), async || host.write("go", "")).await;
    let before = host.wait(input).await;
    for data in [later, before] {
        let seen = only(&data);
        assert_eq!((&seen["line"], &seen["stream"]), (&json!("ready on 5173 now"), &json!("stdout")));
        assert_eq!(seen["position"], 17);
        // Python may write the line's end on its own.
        assert!(seen["next"] == 34 || seen["next"] == 35, "{seen:#}");
    }
    let text = json!({"until": "text", "text": "warm"});
    let data = host.data(json!({"op": "process.wait", "target": process, "input": {"any": [text]}})).await;
    assert_eq!(only(&data)["stream"], "stderr");
    let read = host.data(json!({"op": "process.read", "target": process})).await;
    let after = json!({"any": [{"until": "text", "process": process, "text": "ready", "from": 35},
                               {"until": "text", "process": process, "text": "r", "from": read["nextCursor"]},
                               {"until": "time", "seconds": 0.2}]});
    let data = host.wait(after).await;
    assert_eq!(data["conditions"][0]["standing"], "waiting", "{data:#}");
    assert_eq!(data["conditions"][1]["standing"], "waiting");
    assert_eq!(data["conditions"][2]["standing"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_is_seen_although_its_line_does_not_end() {
    let host = TestService::for_waits();
    let process = host.python("print('hello'); print('>>> ', end='', flush=True); time.sleep(600)").await;
    let data = host.wait(json!({"any": [{"until": "regex", "process": process, "pattern": "^>>> $"}]})).await;
    assert_eq!(only(&data)["line"], ">>> ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_ended_process_did_not_print_is_impossible_at_once() {
    let host = TestService::for_waits();
    let ended = host.python("print('done')").await;
    let lives = host.python("time.sleep(600)").await;
    let never = json!({"until": "text", "process": ended, "text": "never"});
    let port = json!({"until": "port", "process": ended, "port": 1});
    let open = json!({"until": "exit", "process": lives});
    let data = host.wait(json!({"all": [never, open]})).await;
    assert_eq!(data["outcome"], "impossible");
    assert_eq!(data["conditions"][0]["why"], "the process has ended with exit code 0 without printing it");
    assert_eq!(data["conditions"][1]["standing"], "waiting");
    let data = host.wait(json!({"any": [never, port]})).await;
    assert_eq!(data["outcome"], "impossible");
    let data = host.wait(json!({"any": [never, {"until": "time", "seconds": 0.1}]})).await;
    assert_eq!(data["outcome"], "held", "time can still pass");
}

/// Takes a free port, prints it, and listens on it once the test makes the file `go`.
const SERVER: &str = "
import http.server
class H(http.server.BaseHTTPRequestHandler):
    n = 0
    def do_GET(self):
        H.n += 1
        self.send_response(503 if H.n < 3 else 200)
        self.end_headers()
        self.wfile.write(b'page ' + b'x' * 300000)
server = http.server.HTTPServer(('127.0.0.1', 0), H, bind_and_activate=False)
server.server_bind()
print(server.server_port)
while not os.path.exists('go'): time.sleep(0.01)
server.server_activate()
server.serve_forever()
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_awaited_by_its_port_and_by_its_answer_in_its_own_network() {
    if lacks_full_sandbox() {
        return;
    }
    let host = TestService::for_waits();
    let (server, other) = (host.python(SERVER).await, host.python("time.sleep(600)").await);
    let line = json!({"any": [{"until": "regex", "process": server, "pattern": r"^\d+$"}]});
    let data = host.wait(line).await;
    let port: u16 = only(&data)["line"].as_str().and_then(|line| line.parse().ok()).expect("a port");
    let listens = json!({"any": [{"until": "port", "process": server, "port": port}]});
    let data = host.wait_and(listens, async || host.write("go", "")).await;
    assert_eq!(data["outcome"], "held", "{data:#}");
    let http = json!({"until": "http", "process": server, "port": port, "path": "/health"});
    let data = host.wait(json!({"any": [http]})).await;
    assert_eq!((&data["outcome"], &only(&data)["status"]), (&json!("held"), &json!(200)));
    assert!(only(&data)["body"].as_str().is_some_and(|body| body.starts_with("page xxx")), "{data:#}");
    assert_eq!(only(&data)["bodyTruncated"], true, "{data:#}");
    if !lacks_full_sandbox() {
        let elsewhere = json!({"until": "port", "process": other, "port": port});
        let data = host.wait(json!({"any": [elsewhere]})).await;
        assert_eq!(
            data["outcome"], "held",
            "those of one caller in one scope share their loopback: {data:#}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_awaited_until_it_comes_changes_or_goes() {
    let host = TestService::for_waits();
    let file = |state: &str| json!({"any": [{"until": "file", "path": "made", "state": state}]});
    let data = host.wait_and(file("exists"), async || host.write("made", "1")).await;
    assert_eq!(data["outcome"], "held");
    let data = host.wait_and(file("changed"), async || host.write("made", "22")).await;
    assert_eq!(data["outcome"], "held");
    let remove = async || fs::remove_file(host.path("made")).expect("removed");
    let data = host.wait_and(file("absent"), remove).await;
    assert_eq!(data["outcome"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_awaited_only_inside_the_scope_and_by_those_who_may_read() {
    let host = TestService::for_waits();
    for (path, code) in [("../out", "path_out_of_scope"), (".env", "permission_denied")] {
        let input = json!({"any": [{"until": "file", "path": path}]});
        let answer = host.send(json!({"op": "process.wait", "input": input})).await;
        assert_eq!(answer["error"]["code"], code, "{answer:#}");
    }
    let blind = TestService::for_waits_with(&["process:manage"]);
    blind.write("there", "");
    let input = json!({"any": [{"until": "file", "path": "there"}]});
    let answer = blind.send(json!({"op": "process.wait", "input": input})).await;
    assert_eq!(answer["error"]["details"]["rule"], "scope-capabilities", "{answer:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quiet_is_counted_from_the_last_output_and_an_end_is_quiet() {
    let host = TestService::for_waits();
    let program = format!("print('up')\n{UNTIL_GO}\nprint('again'); time.sleep(600)");
    let process = host.python(&program).await;
    host.wait_until(json!({"any": [{"until": "text", "process": process, "text": "up"}]})).await;
    // Only lower bounds of time: the wait begins, a second later the program prints, and from then on it must take as
    // long as was asked for. Counted from its beginning it would be a second short.
    let seconds = Duration::from_secs(5);
    let quiet = json!({"all": [{"until": "quiet", "process": process, "seconds": seconds.as_secs()}]});
    let mut printed = None;
    let data = host
        .wait_and(quiet, async || {
            tokio::time::sleep(Duration::from_secs(1)).await;
            printed = Some(Instant::now());
            host.write("go", "");
        })
        .await;
    let rested = printed.expect("it acted").elapsed();
    assert_eq!(data["outcome"], "held");
    assert!(rested >= seconds, "it held {rested:?} after the last output");
    let read = host.data(json!({"op": "process.read", "target": process})).await;
    assert_eq!(read["stdout"], "up\nagain\n");
    let ended = host.python("pass").await;
    let quiet = json!({"all": [{"until": "quiet", "process": ended, "seconds": 86400}]});
    assert_eq!(host.wait(quiet).await["outcome"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_wants_each_of_them_at_one_time_or_another() {
    let host = TestService::for_waits();
    let program = format!("print('one')\n{UNTIL_GO}\nprint('two', file=sys.stderr); time.sleep(600)");
    let process = host.python(&program).await;
    let condition = |text: &str| json!({"until": "text", "process": process, "text": text});
    let file = json!({"until": "file", "path": "brief"});
    host.write("brief", "");
    host.wait_until(json!({"any": [condition("one")]})).await;
    let all = json!({"all": [condition("two"), condition("one"), file]});
    let data = host
        .wait_and_when("file has held", all, async || {
            fs::remove_file(host.path("brief")).expect("removed");
            host.write("go", "");
        })
        .await;
    assert_eq!(data["outcome"], "held");
    let positions: Vec<_> =
        data["conditions"].as_array().expect("a list").iter().map(|it| &it["position"]).collect();
    assert_eq!(positions, [&json!(4), &json!(0), &json!(null)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_condition_is_refused_with_the_field() {
    let host = TestService::for_waits();
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
        let answer = host.send(json!({"op": "process.wait", "input": input})).await;
        assert_eq!(answer["error"]["code"], "invalid_request", "{input}: {answer:#}");
        assert_eq!(answer["error"]["details"]["field"], field, "{input}: {answer:#}");
    }
    let absent = json!({"any": [{"until": "exit", "process": "01JD0000000000000000000000"}]});
    let answer = host.send(json!({"op": "process.wait", "input": absent})).await;
    assert_eq!(answer["error"]["code"], "process_not_found");
}
