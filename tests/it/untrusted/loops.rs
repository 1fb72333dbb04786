//! Ordinary work after a stranger's text was read: reading, changing, testing and committing, in one scope.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn ordinary_work_needs_no_approval() {
    if support::needs::lacks_full_sandbox() {
        return support::needs::report_left_out("a full sandbox");
    }
    let host = TestScope::new()
        .with_capabilities(&[
            "fs:read",
            "fs:write",
            "search:read",
            "git:read",
            "git:write",
            "command:run",
            "process:manage",
            "history:read",
        ])
        .with_policy(json!({
            "afterUntrusted": "ask",
            "untrustedFiles": ["vendor/**"],
            "allowedCommands": ["python3 *", "git *"],
            "network": "loopback",
            "sandbox": "full",
        }))
        .save()
        .host();
    host.write("vendor/page.md", INJECTION);
    host.out(json!(["git", "init", "-q", "."])).await;
    let page = host.send(json!({"op": "file.read", "target": "vendor/page.md"})).await;
    assert_eq!(page["origin"], "untrusted_file", "{page:#}");
    for round in 0..20 {
        let file = format!("part{round}.py");
        let steps = [
            json!({"op": "file.create", "target": file, "input": {"content": format!("def f():\n    return {round}\n")}}),
            json!({"op": "file.read", "target": file}),
            json!({"op": "file.search", "input": {"query": "return"}}),
            json!({"op": "file.write", "target": file, "input": {"content": format!("def f():\n    return {}\n", round + 1)}}),
            json!({"op": "command.run", "input": {"command": ["python3", "-c", format!("import part{round}; assert part{round}.f() == {}", round + 1)]}}),
            json!({"op": "git.status"}),
            json!({"op": "git.stage", "input": {"paths": [file]}}),
            json!({"op": "file.list"}),
        ];
        for step in steps {
            let answer = host.send(step.clone()).await;
            assert_eq!(answer["ok"], true, "round {round}: {step}: {answer:#}");
            if step["op"] == "command.run" {
                assert_eq!(answer["data"]["exitCode"], 0, "{answer:#}");
                assert_eq!(answer["origin"], Value::Null);
            }
        }
    }
    let process = host.start(json!(["python3", "-i", "-q"])).await;
    host.data(json!({"op": "process.write", "target": process, "input": {"text": "print(1)\n"}})).await;
    assert_eq!(host.cli(&["approve", "--list"])["approvals"], json!([]));
}
