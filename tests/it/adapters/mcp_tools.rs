//! The four tools as clients see them.

use bailiwick::adapters::backend::{Backend, EmbeddedService};
use bailiwick::contract::Transport;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

use support::http_client::{api, call, mcp, whole};
use support::server::TestServer;
use support::stdio_client::{StdioClient, in_memory, meta, outcome};

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().expect("a list of tools");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

async fn begin(house: &TestServer) -> StdioClient {
    let (mut client, _) = in_memory(house.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_refused_before_it_is_judged_keeps_what_it_named() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let (mut client, _) = in_memory(house.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    let write = json!({"scope": "app", "op": "file.write", "target": "a", "input": {"content": ""}});
    let unknown = json!({"scope": "app", "op": "file.read", "no": 1});
    let answers = [
        outcome(&client.call("computer_query", write).await),
        outcome(&client.call("computer_operation", unknown.clone()).await),
        api(address, &house.token, &unknown.to_string()).await.json(),
    ];
    for (answer, op) in answers.iter().zip(["file.write", "file.read", "file.read"]) {
        assert_eq!((&answer["op"], &answer["scope"]), (&json!(op), &json!("app")), "{answer}");
        assert_eq!(answer["error"]["code"], "invalid_request", "{answer}");
        assert!(answer["error"]["details"].get("asked").is_none(), "{answer}");
        let get = json!({"scope": "app", "op": "history.get", "target": answer["operationId"]});
        let row = outcome(&client.call("computer_query", get).await);
        assert_eq!(row["ok"], true, "it is a row of its scope: {row}");
    }
    house.end().await;
}

#[tokio::test(flavor = "current_thread")]
async fn the_list_fits_into_2800_characters_and_is_private() {
    let house = TestServer::new();
    let (mut client, _) = in_memory(house.backend(), CancellationToken::new());
    let answer = client.ask("tools/list", json!({"_meta": meta()})).await;
    let size = answer["result"].to_string().chars().count();
    assert!(size <= 2_800, "{size} characters");
    assert_eq!(answer["result"]["cacheScope"], "private");
    assert_eq!(answer["result"]["ttlMs"], 0);
    for tool in answer["result"]["tools"].as_array().expect("a list") {
        assert!(tool["title"].is_string(), "{tool}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{hint}: {tool}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_caller_sees_only_the_tools_that_it_can_use() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let reader = house.token("reader", None, &["notes"], &["*"]);
    let auditor = house.token("auditor", None, &["*"], &["history:read"]);
    for version in ["2025-11-25", "2026-07-28"] {
        let answer = mcp(address, &reader, version, list.clone()).await.json();
        assert_eq!(names(&answer), ["get_computer_info", "computer_query"]);
        let answer = mcp(address, &auditor, version, list.clone()).await.json();
        assert_eq!(names(&answer), ["get_computer_info", "computer_query", "get_operation_history"]);
    }
    // What is not listed is refused in words all the same.
    let envelope = json!({"scope": "app", "op": "file.stat", "target": "README.md"});
    let answer = mcp(address, &reader, "2025-11-25", call("computer_operation", &envelope)).await.json();
    assert_eq!(outcome(&answer)["error"]["code"], "unknown_scope");
    house.end().await;
}

#[tokio::test(flavor = "current_thread")]
async fn the_instructions_name_the_scopes_of_the_caller() {
    let house = TestServer::new();
    house.token("narrow", None, &["notes"], &["*"]);
    let caller =
        house.keys.profile("narrow", Transport::Stdio).expect("readable").expect("the token is there");
    let backend =
        Backend::Embedded(EmbeddedService { service: Arc::clone(&house.service), caller, keys: None });
    let (mut client, _) = in_memory(backend, CancellationToken::new());
    let answer = client.ask("server/discover", json!({"_meta": meta()})).await;
    let text = answer["result"]["instructions"].as_str().expect("instructions");
    assert!(text.contains("`notes`") && !text.contains("`app`"), "{text}");
    let versions = &answer["result"]["supportedVersions"];
    assert_eq!(versions, &json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]));
    let answer = client.initialize("2024-11-05").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    let text = answer["result"]["instructions"].as_str().expect("instructions");
    assert!(text.contains("`notes`") && !text.contains("`app`"), "{text}");
}

#[tokio::test(flavor = "current_thread")]
async fn the_query_tool_refuses_operations_with_an_effect() {
    let house = TestServer::new();
    let mut client = begin(&house).await;
    let effects =
        house.service.facts().registry.operations().filter(|it| !it.spec.effect.is_read_only()).count();
    for entry in house.service.facts().registry.operations() {
        let envelope = json!({"scope": "app", "op": entry.spec.name, "target": "README.md"});
        let outcome = outcome(&client.call("computer_query", envelope).await);
        let refused = outcome["error"]["message"].as_str().is_some_and(|it| it.contains("changes things"));
        assert_eq!(refused, !entry.spec.effect.is_read_only(), "{outcome}");
        if refused {
            assert!(outcome["error"]["hints"][0].as_str().expect("a hint").contains("computer_operation"));
        }
    }
    assert_eq!(std::fs::read_to_string(house.path("app/README.md")).expect("still there"), "hello\n");
    assert!(effects > 0, "there is something to refuse");
}

#[tokio::test(flavor = "current_thread")]
async fn the_end_of_an_undo_id_that_an_answer_shows_takes_the_change_back() {
    let house = TestServer::new();
    let mut client = begin(&house).await;
    let mut operate = async |envelope: Value| {
        let params = json!({"name": "computer_operation", "arguments": envelope});
        let result = client.ask("tools/call", params).await["result"].clone();
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().expect("a text").to_owned()
    };
    let write =
        json!({"scope": "app", "op": "file.write", "target": "README.md", "input": {"content": "changed\n"}});
    let text = operate(write).await;
    let end: String = text
        .split("undo ")
        .nth(1)
        .unwrap_or_default()
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    assert_eq!(end.len(), 6, "{text}");
    operate(json!({"scope": "app", "op": "file.restore", "input": {"undoId": &end}})).await;
    assert_eq!(std::fs::read_to_string(house.path("app/README.md")).expect("there"), "hello\n");
    for wrong in ["ZZZZZZ", &end[1..]] {
        let restore = json!({"scope": "app", "op": "file.restore", "input": {"undoId": wrong}});
        assert_ne!(outcome(&client.call("computer_operation", restore).await)["ok"], true, "{wrong}");
    }
}

#[tokio::test(flavor = "current_thread")]
async fn malformed_arguments_are_results_that_name_the_field() {
    let house = TestServer::new();
    let mut client = begin(&house).await;
    for (tool, arguments, field) in [
        ("computer_query", json!({"op": 3}), "op"),
        ("computer_operation", json!({"op": "file.stat", "options": [1]}), "options"),
        ("get_computer_info", json!({"includ": ["scopes"]}), "includ"),
        ("get_computer_info", json!({"include": ["nothing"]}), "input.include[0]"),
        ("get_operation_history", json!({"view": "tomorrow"}), "view"),
        ("get_operation_history", json!({"scope": 3}), "scope"),
        ("get_operation_history", json!({"veiw": "last"}), "veiw"),
    ] {
        let answer = client.call(tool, arguments.clone()).await;
        let outcome = outcome(&answer);
        assert_eq!(outcome["error"]["code"], "invalid_request", "{tool} {arguments}: {outcome}");
        assert_eq!(outcome["error"]["details"]["field"], field, "{tool} {arguments}");
    }
    for arguments in [json!("file.stat"), json!(["file.stat"])] {
        let result = client.call("computer_query", arguments).await["result"].clone();
        let text = result["content"][0]["text"].as_str().expect("a text");
        assert!(text.starts_with("invalid_request: `arguments` must be an object"), "{text}");
        assert_eq!(result["isError"], true);
    }
    // The whole call as JSON text is a call all the same.
    let text = json!({"scope": "app", "op": "file.stat", "target": "README.md"}).to_string();
    let result = client.call("computer_query", json!(text)).await["result"].clone();
    assert_eq!(result["isError"], false, "{result}");
}

/// What a model sees of an answer: what was asked for, once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_what_was_asked_for_and_nothing_is_there_twice() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let (mut client, _) = in_memory(house.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    for (envelope, is_error, start, end) in [
        (
            json!({"scope": "app", "op": "cat", "path": "README.md"}),
            false,
            "[README.md · 1 line · version ",
            "]\nhello\n",
        ),
        (json!({"scope": "app", "op": "ls"}), false, "", "]"),
        (json!({"scope": "app", "op": "grep", "pattern": "hel"}), false, "README.md:1: hello\n[1 match", "]"),
        (
            json!({"scope": "app", "op": "cat", "path": "readme.md"}),
            true,
            "not_found: ",
            "- Did you mean `README.md`?",
        ),
    ] {
        let params = json!({"name": "computer_query", "arguments": envelope});
        let over_stdio = client.ask("tools/call", params.clone()).await["result"].clone();
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let over_http = mcp(address, &house.token, "2025-11-25", message).await.json()["result"].clone();
        for result in [over_stdio, over_http] {
            let text = result["content"][0]["text"].as_str().expect("a text");
            assert!(text.starts_with(start) && text.ends_with(end), "{envelope}: {text}");
            assert_eq!(result["content"].as_array().map(Vec::len), Some(1));
            assert_eq!(result["isError"], is_error);
            assert!(result.get("structuredContent").is_none(), "{result}");
            assert!(!text.contains("operationId") && !text.contains("startedAt"), "{text}");
        }
    }
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_that_are_no_object_are_results_over_http_too() {
    let mut house = TestServer::new();
    let address = house.http().await;
    for version in ["2025-11-25", "2026-07-28"] {
        let reply = mcp(address, &house.token, version, call("computer_query", &json!("file.stat"))).await;
        let result = reply.json()["result"].clone();
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("invalid_request: `arguments` must be an object"), "{version}: {reply:?}");
        assert_eq!(result["isError"], true);
    }
    house.end().await;
}

#[tokio::test(flavor = "current_thread")]
async fn what_is_not_declared_is_refused_as_an_unknown_method() {
    let house = TestServer::new();
    let mut client = begin(&house).await;
    for method in [
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "completion/complete",
        "logging/setLevel",
        "no/such",
    ] {
        let params = json!({
            "name": "x", "uri": "x:y", "level": "info",
            "ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "x", "value": "y"},
        });
        let answer = client.ask(method, params).await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
    }
    let answer = client.call("no_such_tool", json!({})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test(flavor = "current_thread")]
async fn prompts_say_which_calls_to_make_and_those_calls_work() {
    let house = TestServer::new();
    for version in ["2025-11-25", "2026-07-28"] {
        let (mut client, _) = in_memory(house.backend(), CancellationToken::new());
        let modern = version == "2026-07-28";
        if !modern {
            let hello = client.initialize(version).await;
            assert!(hello["result"]["capabilities"]["prompts"].is_object(), "{hello}");
        }
        let with = |mut params: Value| {
            if modern {
                params["_meta"] = meta();
            }
            params
        };
        let list = client.ask("prompts/list", with(json!({}))).await;
        let names: Vec<&Value> =
            list["result"]["prompts"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["orient"], "no scope here lets Codex run");
        assert_eq!(list["result"]["cacheScope"].as_str(), modern.then_some("private"), "{list}");

        let arguments = json!({"scope": "app", "folder": "src"});
        let prompt = client.ask("prompts/get", with(json!({"name": "orient", "arguments": arguments}))).await;
        let text = prompt["result"]["messages"][0]["content"]["text"].as_str().expect("a text");
        let call = text.split_once("with ").expect("a call").1;
        let mut calls = serde_json::Deserializer::from_str(call).into_iter::<Value>();
        let call = calls.next().expect("a call").expect("JSON");
        let answer =
            client.ask("tools/call", with(json!({"name": "computer_query", "arguments": whole(call)}))).await;
        assert_eq!(outcome(&answer)["data"]["path"], "src", "{answer}");

        for params in [
            json!({"name": "codex_fix", "arguments": {"problem": "p"}}),
            json!({"name": "orient", "arguments": {"no": "such"}}),
            json!({"name": "no_such"}),
        ] {
            let answer = client.ask("prompts/get", with(params)).await;
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_caller_sees_only_the_prompts_that_it_can_use() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/list", "params": {}});
    let reader = house.token("reader", None, &["notes"], &["*"]);
    let auditor = house.token("auditor", None, &["*"], &["history:read"]);
    for version in ["2025-11-25", "2026-07-28"] {
        for (token, count) in [(&reader, 1), (&auditor, 0)] {
            let answer = mcp(address, token, version, list.clone()).await.json();
            let listed = answer["result"]["prompts"].as_array().map(Vec::len);
            assert_eq!(listed, Some(count), "{answer}");
        }
    }
    house.end().await;
}

/// Several requests in one call: each is judged and recorded for itself, and none runs after one that failed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_follow_run_while_they_succeed_and_each_has_its_row() {
    let mut house = TestServer::new();
    let address = house.http().await;
    let (mut client, _) = in_memory(house.backend(), CancellationToken::new());
    client.initialize("2025-11-25").await;
    let text = async |client: &mut StdioClient, tool: &str, arguments: Value| {
        let result =
            client.ask("tools/call", json!({"name": tool, "arguments": arguments})).await["result"].clone();
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{result}");
        (result["content"][0]["text"].as_str().expect("a text").to_owned(), result["isError"] == true)
    };
    let call = json!({
        "scope": "app", "op": "file.write", "target": "new.txt", "input": {"content": "one\n"},
        "then": [
            {"op": "file.patch", "target": "new.txt", "input": {"edits": [{"old": "one", "new": "two"}]}},
            {"op": "file.read", "target": "missing.txt"},
            {"op": "file.delete", "target": "new.txt"},
        ],
    });
    let (answer, is_error) = text(&mut client, "computer_operation", call.clone()).await;
    assert!(is_error, "{answer}");
    let mark = answer.split(" file.write\n").next().expect("a mark").to_owned();
    assert!(mark.starts_with("=== ") && mark.len() == 8, "{answer}");
    for part in [
        "file.write\nnew.txt created\n",
        "file.patch\nnew.txt updated: line 1\n",
        "file.read\nnot_found: ",
        "not run: file.delete",
    ] {
        assert_eq!(answer.matches(&format!("{mark} {part}")).count(), 1, "{part}: {answer}");
    }
    assert_eq!(std::fs::read_to_string(house.path("app/new.txt")).expect("it is there"), "two\n");
    let history = json!({"scope": "app", "view": "timeline"});
    let rows = outcome(&client.call("get_operation_history", history).await)["data"]["operations"].clone();
    let ops: Vec<&str> = rows.as_array().expect("rows").iter().filter_map(|row| row["op"].as_str()).collect();
    assert_eq!(ops[..3], ["file.read", "file.patch", "file.write"], "each has its row: {rows}");

    // What cannot be read, or changes things where nothing may, keeps all of it from running.
    let then = |tool: &str, step: Value| json!({"name": tool, "arguments": {"scope": "app", "op": "file.read", "target": "README.md", "then": [step]}});
    for (tool, step) in [
        ("computer_query", json!({"op": "file.delete", "target": "README.md"})),
        ("computer_operation", json!({"op": "file.read", "target": "README.md", "path": "other.md"})),
        ("computer_operation", json!({"op": "file.read", "then": []})),
        ("computer_operation", json!("file.read")),
    ] {
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": then(tool, step.clone())});
        let result = mcp(address, &house.token, "2025-11-25", message).await.json()["result"].clone();
        let answer = result["content"][0]["text"].as_str().expect("a text").to_owned();
        assert!(result["isError"] == true && answer.starts_with("invalid_request: "), "{step}: {answer}");
        assert!(!answer.contains("hello"), "{step}: {answer}");
    }
    assert!(house.path("app/README.md").exists());

    // The whole of it, for who asks.
    let all = json!({"scope": "app", "op": "file.read", "target": "README.md", "detail": "full", "then": [{"op": "file.stat", "target": "README.md"}]});
    let whole = outcome(&client.call("computer_query", all).await);
    assert_eq!((&whole["ok"], &whole["notRun"]), (&json!(true), &json!([])), "{whole}");
    let ops: Vec<&Value> = whole["answers"].as_array().expect("answers").iter().map(|it| &it["op"]).collect();
    assert_eq!(ops, ["file.read", "file.stat"]);
    house.end().await;
}
