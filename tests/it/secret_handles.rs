//! Secrets that answers do not show: handles in their place keep every value, and lead to no other.

mod answers;
mod attempts;
mod commands;
// Windows of GTK on X servers.
#[cfg(target_os = "linux")]
mod windows;
// The same, and private displays.
#[cfg(target_os = "linux")]
mod windows_sweep;

use std::fs;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use support::scope::TestScope;
use support::service::{TestService, wait_for};

/// The values of [`env_file`] that no answer shows.
const VALUES: &[&str] = &[
    "correct-horse-battery",
    "zebra77",
    "pa ss wörd # 9x",
    "single $quoted$ 1",
    "s3cr3t=with=equals==",
    "hunter2:swordfish",
    "Tr0ub4dor&3;x",
    "duplicate-one-1",
    "duplicate-two-2",
    "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB",
    "wQNneCjGJVRJmFWvzuC3rJvp0Qx1x7q4L3iHgbnRRYtYZKWQs0E6zWl0YxQeQIiP",
    "first line of two 1",
    "second line of two 2",
    "hunter22/ab3",
    "0123456789abcdef",
];

/// A file as projects have them: quotes, CRLF, keys of several lines, doubled and empty names, comments, text in UTF-8.
fn env_file() -> String {
    let key =
        ["-----BEGIN PRIV", "ATE KEY-----\n", VALUES[9], "\n", VALUES[10], "\n-----END PRIV", "ATE KEY-----"];
    let lines = [
        "# größe: the settings of the app".to_owned(),
        "PORT=3000".to_owned(),
        "HOST=localhost".to_owned(),
        "DEBUG=true\r".to_owned(),
        String::new(),
        format!("DB_PASSWORD={}", VALUES[0]),
        format!("DB_PASSWORD_OLD=\"{}\"", VALUES[0]),
        format!("SMTP_PASS={}\r", VALUES[1]),
        format!("ADMIN_PASSWORD={}", VALUES[2].split(" #").next().unwrap_or_default()),
        format!("QUOTED_PASSWORD=\"{}\"", VALUES[2]),
        format!("OTHER_SECRET='{}'", VALUES[3]),
        format!("export API_TOKEN={}", VALUES[4]),
        "EMPTY_TOKEN=".to_owned(),
        "BLANK_SECRET=\"\"".to_owned(),
        format!("DATABASE_URL=postgres://{}@db.example/app", VALUES[5]),
        format!("ODD_PASSWORD={}", VALUES[6]),
        format!("API_KEY={}", VALUES[7]),
        format!("API_KEY={}", VALUES[8]),
        "SHORT_TOKEN=ab1".to_owned(),
        "PIN_SECRET=1234\r".to_owned(),
        "PASSWORD_FILE=/run/secrets/db".to_owned(),
        "REFERENCE_TOKEN=${API_TOKEN}".to_owned(),
        "  INDENTED_SECRET = spaced-1  ".to_owned(),
        "yaml_password: in yaml 1".to_owned(),
        format!("PRIVATE_KEY=\"{}\"", key.concat()),
        format!("TWO_LINES_SECRET=\"{}\n{}\"", VALUES[11], VALUES[12]),
        format!("AMQP_URL=amqps://app:{}@mq.example", VALUES[13]),
        format!("LICENSE_KEY={}", VALUES[14]),
        "TAIL=1".to_owned(),
        "# the end".to_owned(),
        String::new(),
        "LAST_TOKEN=no-line-end-9".to_owned(),
    ];
    assert!(lines.len() > 30);
    lines.join("\n")
}

/// Starts a service whose scope shows handles in the place of secrets.
fn with_handles() -> TestService {
    scope_with("handles").host()
}

fn scope_with(secrets: &str) -> TestScope {
    TestScope::new().with_policy(json!({"secrets": secrets, "openSensitive": [".env"]})).save()
}

/// Checks that an answer shows no secret of [`env_file`].
fn shows_none(answer: &str) {
    for value in VALUES.iter().chain(&["no-line-end-9", "spaced-1"]) {
        // As it is in JSON, too.
        let written = Value::from(*value).to_string();
        let written = &written[1..written.len() - 1];
        assert!(!answer.contains(value) && !answer.contains(written), "{value}: {answer}");
    }
}

fn read(options: Value) -> Value {
    json!({"op": "file.read", "target": ".env", "options": options})
}

#[tokio::test(flavor = "multi_thread")]
async fn reading_changing_and_writing_an_env_file_keeps_every_value() {
    let host = with_handles();
    let original = env_file();
    host.write(".env", &original);
    let shown = host.data(read(json!({}))).await;
    let content = shown["content"].as_str().expect("text");
    shows_none(content);
    for kept in ["PORT=3000", "größe", "DB_PASSWORD={{secret:db_password#", "EMPTY_TOKEN=\n", "-----BEGIN "]
    {
        assert!(content.contains(kept), "{kept}: {content}");
    }
    assert_eq!(content.matches("{{secret:db_password#").count(), 2, "one value, one handle: {content}");
    assert!(content.contains("REFERENCE_TOKEN=${API_TOKEN}"), "no secret: {content}");

    // The whole file.
    let changed = content.replace("PORT=3000", "PORT=4000");
    let write = json!({"op": "file.write", "target": ".env", "input": {"content": changed},
        "options": {"ifVersion": shown["version"]}});
    host.data(write).await;
    let expected = original.replace("PORT=3000", "PORT=4000");
    assert_eq!(fs::read_to_string(host.path(".env")).expect("a file"), expected);

    // Lines with a handle, by text, by a difference and by anchors.
    let line = |start: &str| {
        content.lines().find(|line| line.starts_with(start)).expect("the line").trim_end().to_owned()
    };
    let (smtp, token) = (line("SMTP_PASS="), line("export API_TOKEN="));
    let edits = json!([{"old": smtp, "new": format!("# moved\n{smtp}")}]);
    host.data(json!({"op": "file.patch", "target": ".env", "input": {"edits": edits}})).await;
    let patch =
        format!("--- a/.env\n+++ b/.env\n@@ -1,1 +1,2 @@\n {token}\n+COPY_{}\n", &token["export ".len()..]);
    host.data(json!({"op": "file.patch", "target": ".env", "input": {"patch": patch}})).await;
    let anchored = host.data(read(json!({"anchors": true}))).await;
    let anchored = anchored["content"].as_str().expect("text").to_owned();
    shows_none(&anchored);
    let last = anchored.lines().last().expect("a line");
    let (anchor, text) = last.split_once('|').expect("an anchor");
    let lines = json!([{"start": anchor, "new": format!("{text}\nEND=1")}]);
    host.data(json!({"op": "file.patch", "target": ".env", "input": {"lines": lines}})).await;
    let smtp = format!("SMTP_PASS={}", VALUES[1]);
    let token = format!("export API_TOKEN={}", VALUES[4]);
    let expected = expected
        .replace(&smtp, &format!("# moved\n{smtp}"))
        .replace(&token, &format!("{token}\nCOPY_API_TOKEN={}", VALUES[4]))
        + "\nEND=1";
    let stored = fs::read_to_string(host.path(".env")).expect("a file");
    assert_eq!(stored.replace('\r', ""), expected.replace('\r', ""));
    // A new line ends as those around it.
    assert_eq!(stored.matches('\r').count(), expected.matches('\r').count() + 1, "{stored:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_gives_back_the_very_bytes() {
    let host = with_handles();
    let original = env_file();
    host.write(".env", &original);
    let content = host.data(read(json!({}))).await["content"].as_str().expect("text").to_owned();
    let changed = format!("{content}\nMORE=1\n");
    let write = json!({"op": "file.write", "target": ".env", "input": {"content": changed}});
    let written = host.data(write).await;
    let stored = fs::read_to_string(host.path(".env")).expect("a file");
    assert_eq!(stored, format!("{original}\nMORE=1\n"));
    host.data(json!({"op": "file.restore", "input": {"undoId": written["undoId"]}})).await;
    assert_eq!(fs::read_to_string(host.path(".env")).expect("a file"), original);
}

/// A line of a settings file with a secret in it, and the value.
fn line() -> impl Strategy<Value = (String, String)> {
    let name =
        prop::sample::select(vec!["DB_PASSWORD", "api_key", "AUTH_TOKEN", "Client-Secret", "x.passphrase"]);
    let value = prop::string::string_regex("[A-Za-z0-9!#$%&*+./:;<=>?@^_|~-]{1,40}").expect("a pattern");
    let form = prop::sample::select(vec![
        "N=V",
        "N=\"V\"",
        "N='V'",
        "export N=V",
        "  N: V",
        "N = V",
        "\"N\": \"V\",",
    ]);
    let end = prop::sample::select(vec!["\n", "\r\n", "\n\n"]);
    (name, value, form, end).prop_map(|(name, value, form, end)| {
        let line = form.replace('N', "\u{1}").replace('V', &value).replace('\u{1}', name);
        (line + end, value)
    })
}

#[test]
fn what_is_read_and_written_back_is_what_was_there() {
    let host = with_handles();
    let cases = (prop::collection::vec(line(), 1..20), any::<bool>());
    let config = ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() };
    let ran = TestRunner::new(config).run(&cases, |(lines, is_numbered)| {
        let original: String = lines.iter().map(|(line, _)| line.as_str()).collect();
        host.write(".env", &original);
        let content = wait_for(host.data(read(json!({"lineNumbers": is_numbered}))));
        let content = content["content"].as_str().expect("text").to_owned();
        let without_number = |line: &str| line.split_once('\t').expect("a number").1.to_owned();
        let plain: String = match is_numbered {
            true => content.split_inclusive('\n').map(without_number).collect(),
            false => content,
        };
        wait_for(host.data(json!({"op": "file.write", "target": ".env", "input": {"content": plain}})));
        prop_assert_eq!(fs::read_to_string(host.path(".env")).expect("a file"), original);
        Ok(())
    });
    ran.expect("every file is as it was");
}
