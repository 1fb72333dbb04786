//! A wait whose time is over continues later, and loses nothing in between.

use serde_json::{Value, json};

use crate::patience::{eventually_async, eventually_some};
use support::service::TestService;

/// Waits for a second at most, and gives `data`.
async fn briefly(host: &TestService, input: &Value, resume: Option<&Value>) -> Value {
    let mut input = input.clone();
    if let Some(resume) = resume {
        input["resume"] = resume.clone();
    }
    host.data(json!({"op": "process.wait", "input": input, "options": {"timeoutSeconds": 1}})).await
}

/// Resumes until the wait is over.
async fn to_the_end(host: &TestService, input: &Value, mut resume: Value) -> Value {
    eventually_some("the wait ends", async || {
        let data = briefly(host, input, Some(&resume)).await;
        resume = data["resume"].clone();
        (data["outcome"] != "timeOver").then_some(data)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_that_is_over_is_an_outcome_with_a_token_and_no_error() {
    let host = TestService::for_waits();
    let input = json!({"all": [{"until": "time", "seconds": 4}, {"until": "time", "seconds": 0.1}]});
    let first = briefly(&host, &input, None).await;
    assert_eq!(first["outcome"], "timeOver");
    assert_eq!(first["conditions"][0]["standing"], "waiting");
    assert_eq!(first["conditions"][1]["standing"], "held");
    let last = to_the_end(&host, &input, first["resume"].clone()).await;
    assert_eq!(last["outcome"], "held");
    assert!(last["resume"].is_null());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happens_between_two_waits_is_seen_by_the_second_also_after_a_restart() {
    let mut host = TestService::for_waits();
    let program = "print('first line'); print('half', end='', flush=True)
while not os.path.exists('go'): time.sleep(0.01)
print(' and half'); print('second line'); print('second line again'); sys.stdout.flush()
open('gone', 'w').close(); time.sleep(600)";
    let process = host.python(program).await;
    let text = |text: &str| json!({"until": "text", "process": process, "text": text});
    host.wait_until(json!({"any": [text("half")]})).await;
    let input = json!({"all": [text("half and half"), text("first"), text("second line")]});
    let first = briefly(&host, &input, None).await;
    assert_eq!(first["outcome"], "timeOver", "{first:#}");
    assert_eq!(first["conditions"][1]["position"], 0);
    host.write("go", "");
    eventually_async("it has printed all", || host.path("gone").exists()).await;
    host.restart();
    let last = to_the_end(&host, &input, first["resume"].clone()).await;
    let position = |n: usize| last["conditions"][n]["position"].as_u64();
    assert_eq!(last["outcome"], "held", "{last:#}");
    assert_eq!((position(0), position(1), position(2)), (Some(11), Some(0), Some(25)), "{last:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_line_is_found_once_by_waits_that_follow_each_other() {
    let host = TestService::for_waits();
    // The streams are two pipes. So that their order is known, the program turns to the other one only when what it
    // printed before was found.
    let program = "for n in range(40):
    while n % 3 < 2 and n > 0 and not os.path.exists(f'found-{n - 1}'): time.sleep(0.01)
    print(f'line {n}', file=(sys.stderr if n % 3 else sys.stdout), flush=True)";
    let process = host.python(program).await;
    let mut from = 0;
    for n in 0..40 {
        let input =
            json!({"any": [{"until": "regex", "process": process, "pattern": "^line \\d+$", "from": from}]});
        let data = host.wait(input).await;
        assert_eq!(data["conditions"][0]["line"], format!("line {n}"), "{data:#}");
        from = data["conditions"][0]["next"].as_u64().expect("a position");
        host.write(format!("found-{n}"), "");
    }
    let input = json!({"any": [{"until": "text", "process": process, "text": "line", "from": from}]});
    assert_eq!(host.wait(input).await["outcome"], "impossible");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changed_between_two_waits_has_changed() {
    let host = TestService::for_waits();
    host.write("watched", "1");
    let input = json!({"any": [{"until": "file", "path": "watched", "state": "changed"}]});
    let first = briefly(&host, &input, None).await;
    assert_eq!(first["outcome"], "timeOver");
    host.write("watched", "22");
    assert_eq!(briefly(&host, &input, Some(&first["resume"])).await["outcome"], "held");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_was_changed_or_belongs_to_other_conditions_is_refused() {
    let host = TestService::for_waits();
    let input = json!({"any": [{"until": "time", "seconds": 60}]});
    let token = briefly(&host, &input, None).await["resume"].as_str().expect("a token").to_owned();
    let other = json!({"any": [{"until": "time", "seconds": 61}]});
    let all = json!({"all": [{"until": "time", "seconds": 60}]});
    let changed = format!("{}A", &token[..token.len() - 2]);
    for (input, token) in [(&input, changed.as_str()), (&input, "x"), (&other, &token), (&all, &token)] {
        let mut input = input.clone();
        input["resume"] = json!(token);
        let answer = host.send(json!({"op": "process.wait", "input": input})).await;
        assert_eq!(answer["error"]["code"], "invalid_request", "{answer:#}");
        assert_eq!(answer["error"]["details"]["field"], "input.resume");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_token_names_is_judged_again() {
    let mut host = TestService::for_waits();
    let process = host.python("time.sleep(600)").await;
    let input = json!({"all": [{"until": "exit", "process": process}, {"until": "file", "path": "never"}]});
    let token = briefly(&host, &input, None).await["resume"].clone();
    host.config.scopes[0].capabilities = serde_json::from_value(json!(["process:manage"])).expect("a list");
    host.restart();
    let mut resumed = input.clone();
    resumed["resume"] = token;
    let answer = host.send(json!({"op": "process.wait", "input": resumed})).await;
    assert_eq!(answer["error"]["code"], "permission_denied", "{answer:#}");
}
