//! What does not give a value: handles of elsewhere, forms that nothing recognizes, parts, places that take none.

use super::*;

/// Returns the handle that stands for the value of a line.
async fn handle(host: &TestService, file: &str, line: &str) -> String {
    host.write(file, format!("{line}\n"));
    let answer = host.data(json!({"op": "file.read", "target": file})).await;
    let content = answer["content"].as_str().expect("text");
    let (start, end) = (content.find("{{").expect("a handle"), content.find("}}").expect("a handle") + 2);
    content[start..end].to_owned()
}

fn write(content: &str) -> Value {
    json!({"op": "file.write", "target": "out.txt", "input": {"content": content}})
}

/// Sends a request that must be refused, and returns the field that the answer names.
async fn refused(host: &TestService, request: Value) -> String {
    let answer = host.send(request.clone()).await;
    assert_eq!(answer["error"]["code"], "invalid_request", "{request}: {answer:#}");
    answer["error"]["details"]["field"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_is_written_elsewhere_is_shown_as_its_handle_again() {
    let host = with_handles();
    let named = handle(&host, "a.txt", "DB_PASSWORD=correct-horse-battery").await;
    host.data(write(&format!("say {named}, twice: {named}\n"))).await;
    let stored = fs::read_to_string(host.path("out.txt")).expect("a file");
    assert_eq!(stored, "say correct-horse-battery, twice: correct-horse-battery\n");
    let answer = host.data(json!({"op": "file.read", "target": "out.txt"})).await;
    assert_eq!(answer["content"], format!("say {named}, twice: {named}\n"));
    let found = host.send(json!({"op": "file.search", "input": {"query": "twice"}})).await.to_string();
    assert!(!found.contains("correct-horse") && found.contains(&named), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_value_is_written_back_with_its_name_only() {
    let host = with_handles();
    let short = handle(&host, "a.txt", "PIN_SECRET=1234").await;
    for content in [short.clone(), format!("the number is {short}\n"), format!("PORT={short}\n")] {
        assert_eq!(refused(&host, write(&content)).await, "input.content");
    }
    assert!(!host.path("out.txt").exists());
    host.data(write(&format!("OTHER_SECRET={short}\n"))).await;
    assert_eq!(fs::read_to_string(host.path("out.txt")).expect("a file"), "OTHER_SECRET=1234\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handle_of_another_scope_or_of_nothing_is_refused_and_nothing_is_written() {
    let host = TestScope::new()
        .with_policy(json!({"secrets": "handles"}))
        .with_scope(json!({"id": "lib", "roots": ["lib"], "capabilities": ["fs:read", "fs:write"], "policy": {"secrets": "handles"}}))
        .save()
        .host();
    host.write("out.txt", "before\n");
    let known = handle(&host, "a.txt", "DB_PASSWORD=correct-horse-battery").await;
    let other_name = known.replace("db_password", "harmless");
    for text in
        ["{{secret:db#12345678}}", "{{secret:db}}", "{{secret:", &other_name, &known[..known.len() - 1]]
    {
        assert_eq!(refused(&host, write(text)).await, "input.content", "{text}");
    }
    let mut elsewhere = write(&known);
    elsewhere["scope"] = json!("lib");
    assert_eq!(refused(&host, elsewhere).await, "input.content");
    assert_eq!(fs::read_to_string(host.path("out.txt")).expect("a file"), "before\n");
    // Who may not write hears nothing of handles.
    let reader = TestScope::new()
        .with_capabilities(&["fs:read"])
        .with_policy(json!({"secrets": "handles"}))
        .save()
        .host();
    assert_eq!(reader.code(write("{{secret:db#12345678}}")).await, "permission_denied");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handle_stands_for_nothing_where_another_caller_was_shown_it() {
    let host = with_handles();
    let known = handle(&host, "a.txt", "DB_PASSWORD=correct-horse-battery").await;
    let other = host.caller_with_token("other");
    let answer = host.send_as(&other, write(&known)).await;
    assert_eq!(answer["error"]["code"], "invalid_request", "{answer:#}");
    assert_eq!(answer["error"]["details"]["field"], "input.content", "{answer:#}");
    let shown = host.send_as(&other, json!({"op": "file.read", "target": "a.txt"})).await;
    assert_eq!(shown["data"]["content"], format!("DB_PASSWORD={known}\n"), "the same handle: {shown:#}");
    let answer = host.send_as(&other, write(&known)).await;
    assert_eq!(answer["ok"], true, "{answer:#}");
    assert_eq!(fs::read_to_string(host.path("out.txt")).expect("a file"), "correct-horse-battery");
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_of_a_batch_have_values_and_show_handles() {
    let host = with_handles();
    let known = handle(&host, "a.txt", "DB_PASSWORD=correct-horse-battery").await;
    let steps = json!([
        {"op": "file.write", "target": "out.txt", "input": {"content": format!("DB_PASSWORD={known}\n")}},
        {"op": "file.read", "target": "out.txt"},
    ]);
    let answer = host.send(json!({"op": "batch.run", "input": {"steps": steps}})).await;
    assert_eq!(answer["ok"], true, "{answer:#}");
    let text = answer.to_string();
    assert!(text.contains(&known) && !text.contains("correct-horse"), "{text}");
    assert_eq!(
        fs::read_to_string(host.path("out.txt")).expect("a file"),
        "DB_PASSWORD=correct-horse-battery\n"
    );
    let unknown =
        json!([{"op": "file.write", "target": "out.txt", "input": {"content": "{{secret:db#12345678}}"}}]);
    let answer = host.send(json!({"op": "batch.run", "input": {"steps": unknown}})).await.to_string();
    assert!(answer.contains("stands for no secret"), "{answer}");
    assert_eq!(
        fs::read_to_string(host.path("out.txt")).expect("a file"),
        "DB_PASSWORD=correct-horse-battery\n"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handle_of_an_earlier_run_stands_for_its_value_or_for_none() {
    let mut host = with_handles();
    let before = handle(&host, "a.txt", "DB_PASSWORD=correct-horse-battery").await;
    host.restart();
    assert_eq!(refused(&host, write(&before)).await, "input.content");
    assert_eq!(handle(&host, "b.txt", "DB_PASSWORD=another-horse-battery").await.len(), before.len());
    assert_eq!(refused(&host, write(&before)).await, "input.content");
    assert_eq!(handle(&host, "a.txt", "DB_PASSWORD=correct-horse-battery").await, before);
    host.data(write(&before)).await;
    assert_eq!(fs::read_to_string(host.path("out.txt")).expect("a file"), "correct-horse-battery");
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_by_bytes_and_bytes_in_base64_are_not_shown() {
    let host = with_handles();
    host.write("a.txt", "DB_PASSWORD=correct-horse-battery\n");
    let wide: Vec<u8> =
        "\u{feff}DB_PASSWORD=correct-horse-battery\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    host.write("wide.txt", &wide);
    host.write("data.bin", [0, 159, 146, 150, 0, 1, 2, 3]);
    for (target, options, field) in [
        ("a.txt", json!({"offset": 14}), "options.offset"),
        ("a.txt", json!({"length": 16}), "options.length"),
        ("a.txt", json!({"encoding": "base64"}), "options.encoding"),
        ("a.txt", json!({"encoding": "base64", "offset": 14, "length": 3}), "options.encoding"),
        ("wide.txt", json!({"encoding": "base64"}), "options.encoding"),
    ] {
        let request = json!({"op": "file.read", "target": target, "options": options});
        assert_eq!(refused(&host, request).await, field, "{target} {options}");
    }
    let bytes =
        host.data(json!({"op": "file.read", "target": "data.bin", "options": {"encoding": "base64"}})).await;
    assert_eq!(bytes["content"], "AJ+SlgABAgM=");
    let wide = host.data(json!({"op": "file.read", "target": "wide.txt"})).await.to_string();
    assert!(wide.contains("{{secret:db_password#") && !wide.contains("correct-horse"), "{wide}");
}

#[tokio::test(flavor = "multi_thread")]
async fn handles_are_replaced_in_no_path_and_in_no_line_that_names_a_file() {
    let host = with_handles();
    let known = handle(&host, "a.txt", "DB_PASSWORD=correct-horse-battery").await;
    let create = json!({"op": "file.create", "target": known, "input": {"content": "x"}});
    host.send(create).await;
    let patch = format!("*** Begin Patch\n*** Add File: {known}\n+x\n*** End Patch\n");
    let request = json!({"op": "file.patch", "target": ".", "input": {"patch": patch}});
    assert_eq!(refused(&host, request).await, "input.patch");
    assert!(!host.path("correct-horse-battery").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn marks_are_not_written_back() {
    let host = scope_with("redact").host();
    host.write(".env", "PORT=1\nDB_PASSWORD=correct-horse-battery\n");
    let content = host.data(read(json!({}))).await["content"].as_str().expect("text").to_owned();
    assert!(content.contains("DB_PASSWORD=[redacted:secret:"), "{content}");
    let back = json!({"op": "file.write", "target": ".env", "input": {"content": content.replace("PORT=1", "PORT=2")}});
    assert_eq!(refused(&host, back).await, "input.content");
    let edit = json!({"op": "file.patch", "target": ".env", "input": {"edits": [{"old": "PORT=1", "new": "PORT=2"}]}});
    host.data(edit).await;
    assert_eq!(
        fs::read_to_string(host.path(".env")).expect("a file"),
        "PORT=2\nDB_PASSWORD=correct-horse-battery\n"
    );
}
