//! `approve --phone`: a link for one browser, one request and one answer, and nothing for anybody else.

use std::io::Read;
use std::net::SocketAddr;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc::Receiver;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use support::http_client::{Reply, parse, request, send, send_raw};
use support::lines::lines_of;
use support::patience::PATIENCE;
use support::pty::Pty;
use support::service::{TestService, data};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{asks_for_commands, asks_for_writing, echo, ticket, write};

/// The command, with its link.
struct Form {
    child: Child,
    said: Receiver<String>,
    address: SocketAddr,
    path: String,
}

impl Form {
    fn open(host: &TestService, words: &[&str]) -> Self {
        let mut child = host
            .command(&[&["approve", "--phone", "127.0.0.1"], words].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let said = lines_of(child.stderr.take().expect("piped"));
        let link = loop {
            let line = said.recv_timeout(*PATIENCE).expect("it shows a link");
            if let Some(link) = line.trim().strip_prefix("http://") {
                break link.to_owned();
            }
        };
        let (address, path) = link.split_once('/').expect("a path");
        assert_eq!(path.len(), 32, "128 bits: {path}");
        Self { child, said, address: address.parse().expect("an address"), path: format!("/{path}") }
    }

    async fn get(&self, headers: &[(&str, &str)]) -> Reply {
        send(self.address, "GET", &self.path, headers, "").await
    }

    async fn post(&self, headers: &[(&str, &str)], body: &str) -> Reply {
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        send(self.address, "POST", &self.path, &[&[kind], headers].concat(), body).await
    }

    /// Waits until it has said something, and returns all until then.
    fn until(&self, words: &str) {
        while !self.said.recv_timeout(*PATIENCE).expect(words).contains(words) {}
    }

    /// Waits for the end, and returns what it has printed.
    fn end(mut self) -> (ExitStatus, String) {
        let mut printed = String::new();
        self.child.stdout.take().expect("piped").read_to_string(&mut printed).expect("text");
        let status = self.child.wait().expect("it ends");
        (status, printed)
    }
}

/// Sends a request on a connection, and reads until it closes.
async fn exchange(mut connection: TcpStream, request: String) -> Reply {
    let mut answer = Vec::new();
    let _ = connection.write_all(request.as_bytes()).await;
    let _ = connection.read_to_end(&mut answer).await;
    parse(&answer)
}

/// Opens the link as a browser does, and returns its cookie and the number of the page.
async fn opened(form: &Form) -> (String, String) {
    let page = form.get(&[]).await;
    assert_eq!(page.status, 200, "{page:?}");
    let cookie = page.header("set-cookie").expect("a cookie");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    let number = page.body.split("name=number value=").nth(1).expect("a number");
    let number = number.split('>').next().expect("its end").to_owned();
    (cookie.split(';').next().expect("a value").to_owned(), number)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_browser_that_opens_the_link_answers_one_request_once() {
    let host = asks_for_commands();
    let secret = ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let hostile = format!("<b>&\"{secret}");
    let id = ticket(&host.send(echo(&hostile)).await);
    let form = Form::open(&host, &[&id]);
    let page = form.get(&[]).await;
    for (header, part) in [
        ("content-security-policy", "default-src 'none'"),
        ("content-security-policy", "frame-ancestors 'none'"),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert!(page.header(header).is_some_and(|it| it.contains(part)), "{header}: {page:?}");
    }
    assert!(page.body.contains("&lt;b&gt;") && page.body.contains("command.run"), "{page:?}");
    assert!(!page.body.contains("<b>&") && !page.body.contains(&secret), "{page:?}");
    let cookie = page.header("set-cookie").and_then(|it| it.split(';').next()).expect("a cookie").to_owned();
    // The browser that has it can open it again.
    let page = form.get(&[("Cookie", &cookie)]).await;
    let number = page.body.split("name=number value=").nth(1).and_then(|it| it.split('>').next());
    let body = format!("number={}&answer=yes", number.expect("a number"));
    let origin = format!("http://{}", form.address);
    let done = form.post(&[("Cookie", &cookie), ("Origin", &origin)], &body).await;
    // A listener that ends waits for its last answer a moment only, which is too short for a computer that stands still.
    assert!(done.status == 0 || (done.status == 200 && done.body.contains("approved once")), "{done:?}");
    form.until("Opened from 127.0.0.1");
    let (status, printed) = form.end();
    assert!(status.success() && printed.contains("approved once on a phone at 127.0.0.1"), "{printed}");

    let answer = host.send(echo(&hostile)).await;
    assert_eq!(data(&answer)["exitCode"], 0, "{answer:#}");
    assert_eq!(host.send(echo(&hostile)).await["error"]["code"], "approval_required", "once");
    let rows = host.data(json!({"op": "history.timeline", "options": {"detail": "full"}})).await.to_string();
    assert!(rows.contains("approved once on a phone at 127.0.0.1"), "{rows}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_refuses_and_a_second_answer_at_the_same_moment_counts_for_nothing() {
    let host = asks_for_writing();
    let id = ticket(&host.send(write("a.txt", "x")).await);
    // The only request that waits needs no name.
    let form = Form::open(&host, &[]);
    let (cookie, number) = opened(&form).await;
    let headers = [("Cookie", cookie.as_str())];
    let (no, yes) = (format!("number={number}&answer=no"), format!("number={number}&answer=yes"));
    let kind = ("Content-Type", "application/x-www-form-urlencoded");
    let own = form.address.to_string();
    let answer = |body: &str| request("POST", &form.path, &[("Host", &own), headers[0], kind], body);
    // Both are connected before the first is answered, which may end the listener before it reads the second.
    let connect = || TcpStream::connect(form.address);
    let (one, other) = (connect().await.expect("it listens"), connect().await.expect("it listens"));
    let (one, other) = tokio::join!(exchange(one, answer(&no)), exchange(other, answer(&yes)));
    let statuses = [one.status, other.status];
    assert!(statuses.iter().filter(|it| **it == 200).count() <= 1, "{statuses:?}");
    let (status, printed) = form.end();
    assert!(status.success(), "{printed}");
    let is_refused = printed.contains("refused on a phone");
    let code = host.send(write("a.txt", "x")).await["error"]["code"].clone();
    assert_eq!(code == "permission_denied", is_refused, "{code}: {printed}");
    assert!(host.waiting().iter().all(|it| it["id"] != id.as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_opens_the_link_or_answers_by_it() {
    let host = asks_for_writing();
    let token = format!("Bearer {}", host.token("client"));
    let (one, other) =
        (ticket(&host.send(write("a.txt", "x")).await), ticket(&host.send(write("b.txt", "x")).await));
    let form = Form::open(&host, &[&one]);
    let elsewhere = Form::open(&host, &[&other]);
    let own = form.address.to_string();
    let not_there = async |path: &str, headers: &[(&str, &str)]| {
        let reply = send(form.address, "GET", path, headers, "").await;
        assert_eq!(reply.status, 404, "{path}: {reply:?}");
    };
    // Guesses, other tickets, the link of another request, tokens of clients, the routes of the service.
    for path in
        ["/", &format!("/{one}"), &elsewhere.path, "/mcp", &form.path[..32], &format!("{}/", form.path)]
    {
        not_there(path, &[("Authorization", &token)]).await;
    }
    not_there(&format!("{}?x=1", form.path), &[]).await;
    assert_eq!(send(form.address, "HEAD", &form.path, &[], "").await.status, 405);
    // Names that are rebound, and whatever passes requests on.
    for hosts in [&["evil.example"][..], &["localhost"], &[&own, "evil.example"], &[]] {
        let headers: Vec<(&str, &str)> = hosts.iter().map(|host| ("Host", *host)).collect();
        let reply = send_raw(form.address, request("GET", &form.path, &headers, "").as_bytes()).await;
        assert!([400, 421].contains(&reply.status), "{hosts:?}: {reply:?}");
    }
    let passed_on = form.get(&[("X-Forwarded-For", "192.168.1.2")]).await;
    assert_eq!(passed_on.status, 421, "{passed_on:?}");
    // Nothing is answered that was not opened.
    assert_eq!(form.post(&[], "answer=yes").await.status, 403);

    let (cookie, number) = opened(&form).await;
    let stolen = form.get(&[("Authorization", &token), ("Cookie", "bailiwick-approval=00")]).await;
    assert!(stolen.status == 410 && !stolen.body.contains("a.txt"), "{stolen:?}");
    let (yes, cookie) = (format!("number={number}&answer=yes"), cookie.as_str());
    for (headers, body) in [
        (vec![("Authorization", token.as_str())], yes.as_str()),
        (vec![("Cookie", "bailiwick-approval=00")], &yes),
        (vec![("Cookie", cookie), ("Origin", "http://evil.example")], &yes),
        (vec![("Cookie", cookie), ("Origin", "null")], &yes),
        (vec![("Cookie", cookie)], "answer=yes"),
        (vec![("Cookie", cookie)], &format!("number={}&answer=yes", "0".repeat(32))),
        (vec![("Cookie", cookie)], &format!("number={number}&answer=always")),
        (vec![("Cookie", cookie)], &format!("number={number}&answer=no&answer=yes")),
    ] {
        let reply = form.post(&headers, body).await;
        assert_eq!(reply.status, 403, "{headers:?} {body}: {reply:?}");
    }
    assert_eq!(host.waiting().len(), 2, "nothing was decided");
    // Sixteen tries were wrong by now: the twentieth closes the form.
    for _ in 0..4 {
        send(form.address, "GET", "/guess", &[], "").await;
    }
    form.until("too much else was asked for");
    assert!(!form.end().0.success());
    assert_eq!(host.waiting().len(), 2, "nothing was decided");

    // Ctrl-C closes it.
    kill_process(Pid::from_child(&elsewhere.child), Signal::INT).expect("it runs");
    assert!(!elsewhere.end().0.success());
    assert_eq!(host.waiting().len(), 2, "nothing was decided");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_is_for_one_request_that_waits_and_for_a_local_network() {
    let host = asks_for_writing();
    let refused = |words: &[&str]| {
        let answer = host.cli(&[&["approve"], words].concat());
        answer["error"]["code"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
    };
    // What is wrong with an address is said also where nothing waits.
    for address in ["0.0.0.0", "8.8.8.8:80"] {
        assert_eq!(refused(&["--phone", address]), "invalid_request", "{address}");
    }
    let one = ticket(&host.send(write("a.txt", "x")).await);
    ticket(&host.send(write("b.txt", "x")).await);
    assert_eq!(refused(&["--phone", "127.0.0.1"]), "invalid_request", "two wait");
    for address in ["0.0.0.0", "::", "192.0.2.1", "8.8.8.8:80"] {
        assert_eq!(refused(&[&one, "--phone", address]), "invalid_request", "{address}");
    }
    // What is answered elsewhere ends it.
    let form = Form::open(&host, &[&one]);
    super::approve(&host, &[&one, "--deny"]);
    form.until("answered elsewhere");
    assert!(!form.end().0.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_shows_the_link_as_a_picture_too() {
    let host = asks_for_writing();
    let id = ticket(&host.send(write("a.txt", "x")).await);
    let mut command = host.command(&["approve", &id, "--phone", "127.0.0.1"]);
    command.env("TERM", "xterm-256color");
    let mut terminal = Pty::start(&command, 60, 100);
    terminal.until("Ctrl-C closes the link");
    let shown = terminal.text();
    assert!(shown.contains("http://127.0.0.1:") && shown.contains('▄'), "{shown}");
}
