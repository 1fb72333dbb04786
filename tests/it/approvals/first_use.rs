//! What needs approval the first time, and what an answer for all files of a folder opens.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_first_use_in_a_session_asks_and_later_ones_do_not() {
    let host = asks_in_every_way();
    let of = |session: &str| Caller { session: Some(session.to_owned()), ..Caller::local(Transport::Stdio) };
    let printf = |word: &str| json!({"op": "command.run", "input": {"command": ["printf", word]}});
    let through = json!({"op": "command.run", "input": {"command": ["env", "printf", "three"]}});
    let id = ticket(&host.send_as(&of("one"), printf("one")).await);
    let listed = host.waiting();
    assert_eq!(listed[0]["always"], json!(["bailiwick scope edit app --remove-rule printf"]), "{listed:#?}");
    assert_eq!(ticket(&host.send_as(&of("one"), printf("two")).await), id, "it is one question");
    approve(&host, &[&id, "--once"]);
    for word in ["one", "two"] {
        assert_eq!(data(&host.send_as(&of("one"), printf(word)).await)["stdout"], word);
    }
    data(&host.send_as(&of("one"), through.clone()).await);
    assert_ne!(ticket(&host.send_as(&of("two"), through).await), id, "another session has a first time too");
    let foreign = Caller { token: Some("01JD0000000000000000000001".to_owned()), ..of("one") };
    assert_ne!(ticket(&host.send_as(&foreign, printf("one")).await), id);
    // A copy of the approval under another question's name is not believed.
    let granted = stored(&host, "granted");
    let other = stored(&host, "open").with_extension("granted");
    fs::copy(&granted, &other).expect("copied");
    ticket(&host.send_as(&of("two"), printf("one")).await);
    data(&host.send_as(&of("one"), printf("one")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_use_of_writing_asks_about_commands_too_and_over_http_counts_for_the_client() {
    let mut host = asks_in_every_way();
    host.config.scopes[0].policy.ask_first_use = vec!["fs:write".to_owned(), "python".to_owned()];
    host.restart();
    let of =
        |connection: &str| Caller { session: Some(connection.to_owned()), ..Caller::local(Transport::Http) };
    // A client has many connections over HTTP: it is asked once, not on each.
    let id = ticket(&host.send_as(&of("one"), echo("text")).await);
    assert_eq!(ticket(&host.send_as(&of("two"), write("new.txt", "text")).await), id, "it is one question");
    approve(&host, &[&id, "--once"]);
    data(&host.send_as(&of("two"), echo("text")).await);
    data(&host.send_as(&of("three"), write("new.txt", "text")).await);
    // A version of the program is the program.
    ticket(&host.send_as(&of("four"), echo("python3.12")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_need_no_approval_any_more_open_nothing_sensitive_among_them() {
    let mut host = asks_in_every_way();
    host.config.scopes[0].policy.ask_files = vec!["deploy/**".to_owned()];
    host.config.scopes[0].policy.open_sensitive.clear();
    host.restart();
    for file in ["deploy/app.json", "deploy/.env", "deploy/other.json"] {
        host.write(file, format!("text of {file}\n"));
    }
    let env = read("deploy/.env");
    assert_eq!(host.send(env.clone()).await["error"]["code"], "permission_denied");
    let id = ticket(&host.send(read("deploy/app.json")).await);
    let opens = |host: &TestService, words: &[&str]| {
        host.save_config();
        assert_eq!(host.cli(words)["ok"], true);
        let policy = host.cli(&["scope", "show", "app"])["scope"]["policy"].clone();
        (policy.get("askFiles").cloned(), policy.get("openSensitive").cloned())
    };
    // By an answer, and by the command that the question names.
    for words in
        [&["approve", &id, "--always"][..], &["scope", "allow", "app", "--files", "deploy/**", "--yes"]]
    {
        assert_eq!(opens(&host, words), (None, None), "{words:?}");
    }
    host.config.scopes[0].policy.ask_files.clear();
    host.restart();
    data(&host.send(read("deploy/other.json")).await);
    assert_eq!(host.send(env).await["error"]["code"], "permission_denied");
}
