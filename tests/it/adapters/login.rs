//! Logging in by OAuth: the whole way of a client, and every way that has to fail.

use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick::adapters::http::HttpSettings;
use bailiwick::config::{LoginCode, PublicUrl, Tokens, edit_lock};
use bailiwick::contract::{Cancel, time};
use bailiwick::history::Filter;
use bailiwick::platform::fs::FileStamp;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::patience::PATIENCE;
use support::http_client::{Reply, api, call, mcp, request, send, send_raw};
use support::server::TestServer;

pub(super) const URL: &str = "https://bw.example";
pub(super) const REDIRECT: &str = "http://127.0.0.1:7777/callback";
const VERIFIER: &str = "a-verifier-of-43-characters-at-the-very-least";
pub(super) const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");

/// A service with a public URL, and a browser and a client that know it.
pub(super) struct Login {
    pub house: TestServer,
    pub address: SocketAddr,
}

impl Login {
    pub async fn new() -> Self {
        let mut house = TestServer::new();
        let public_url = PublicUrl::try_from(URL.to_owned()).expect("a URL");
        let settings = HttpSettings { public_url: Some(public_url), ..house.settings() };
        let address = house.http_with(settings).await;
        Self { house, address }
    }

    /// Sends a request as it comes through a tunnel.
    pub async fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let headers = [&[("Host", "bw.example")], headers].concat();
        send_raw(self.address, request(method, target, &headers, body).as_bytes()).await
    }

    pub async fn register(&self, redirect: &str) -> String {
        let asked = json!({"client_name": "Tester", "redirect_uris": [redirect]}).to_string();
        let reply =
            self.send("POST", "/oauth/register", &[("Content-Type", "application/json")], &asked).await;
        assert_eq!(reply.status, 201, "{reply:?}");
        reply.json()["client_id"].as_str().expect("an id").to_owned()
    }

    pub fn link(client: &str, changes: &[(&str, &str)]) -> String {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
        let mut pairs = vec![
            ("response_type", "code"),
            ("client_id", client),
            ("redirect_uri", REDIRECT),
            ("state", "its state"),
            ("resource", "https://bw.example/mcp"),
            ("code_challenge", challenge.as_str()),
            ("code_challenge_method", "S256"),
        ];
        for (name, value) in changes {
            pairs.retain(|(known, _)| known != name);
            pairs.push((name, value));
        }
        format!("/oauth/authorize?{}", form(&pairs))
    }

    /// Opens the page and returns its form's hidden field and the cookie.
    pub async fn open(&self, link: &str) -> (String, String) {
        let followed = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")];
        let reply = self.send("GET", link, &followed, "").await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let cookie = reply.header("set-cookie").expect("a cookie");
        assert!(
            cookie.starts_with("__Host-bailiwick-login=")
                && cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"),
            "{cookie}"
        );
        for secret in ["app", "notes", "test<"] {
            assert!(!reply.body.contains(&format!(">{secret}")), "strangers see {secret}");
        }
        (hidden(&reply), cookie.split(';').next().expect("a value").to_owned())
    }

    pub async fn post(&self, cookie: &str, pairs: &[(&str, &str)]) -> Reply {
        let headers = [FORM, ("Origin", URL), ("Sec-Fetch-Site", "same-origin"), ("Cookie", cookie)];
        self.send("POST", "/oauth/authorize", &headers, &form(pairs)).await
    }

    pub fn code(&self) -> String {
        LoginCode::create(&self.house.dirs, time::now_ms()).expect("a code")
    }

    /// Goes through the page, and returns the authorization code.
    pub async fn agree(&self, client: &str) -> String {
        let (request, cookie) = self.open(&Self::link(client, &[])).await;
        let reply =
            self.post(&cookie, &[("request", &request), ("answer", "prove"), ("code", &self.code())]).await;
        assert_eq!(reply.status, 200, "{reply:?}");
        let chosen = [
            ("request", hidden(&reply)),
            ("answer", "allow".to_owned()),
            ("scope", "app".to_owned()),
            ("capability", "fs:read".to_owned()),
        ];
        let chosen: Vec<(&str, &str)> = chosen.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let reply = self.post(&cookie, &chosen).await;
        assert_eq!(reply.status, 303, "{reply:?}");
        let back = reply.header("location").expect("an address").to_owned();
        assert!(back.starts_with(REDIRECT), "{back}");
        assert_eq!(answer(&back, "iss").as_deref(), Some(URL));
        assert_eq!(answer(&back, "state").as_deref(), Some("its state"));
        answer(&back, "code").expect("a code")
    }

    pub async fn token(&self, client: &str, changes: &[(&str, &str)]) -> Reply {
        let mut pairs = vec![
            ("grant_type", "authorization_code"),
            ("client_id", client),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
            ("resource", "https://bw.example/mcp"),
        ];
        for (name, value) in changes {
            pairs.retain(|(known, _)| known != name);
            pairs.push((name, value));
        }
        self.send("POST", "/oauth/token", &[FORM], &form(&pairs)).await
    }

    async fn renew(&self, client: &str, refresh: &str) -> Reply {
        self.token(client, &[("grant_type", "refresh_token"), ("refresh_token", refresh)]).await
    }

    pub async fn log_in(&self, client: &str) -> (String, String) {
        let code = self.agree(client).await;
        tokens(&self.token(client, &[("code", &code)]).await)
    }

    pub async fn read(&self, token: &str, scope: &str) -> Reply {
        let asked = json!({"scope": scope, "op": "file.read", "target": if scope == "app" { "README.md" } else { "todo.txt" }});
        mcp(self.address, token, "2025-11-25", call("computer_query", &asked)).await
    }

    fn records(&self) -> Vec<(String, bool)> {
        let tokens = Tokens::load(&self.house.dirs).expect("readable");
        tokens.records().iter().map(|record| (record.name.clone(), record.login.is_some())).collect()
    }
}

pub(super) fn form(pairs: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
}

pub(super) fn hidden(reply: &Reply) -> String {
    let (_, after) = reply.body.split_once("name=request value=\"").expect("the form");
    after.split('"').next().expect("a value").to_owned()
}

pub(super) fn answer(location: &str, name: &str) -> Option<String> {
    let (_, query) = location.split_once('?')?;
    form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

fn tokens(reply: &Reply) -> (String, String) {
    assert_eq!(reply.status, 200, "{reply:?}");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let body = reply.json();
    assert_eq!((&body["token_type"], &body["expires_in"]), (&json!("Bearer"), &json!(3_600)));
    let text = |name: &str| body[name].as_str().expect(name).to_owned();
    (text("access_token"), text("refresh_token"))
}

fn error(reply: &Reply) -> Value {
    assert_eq!(reply.status, 400, "{reply:?}");
    reply.json()["error"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_finds_the_way_to_log_in_and_then_uses_what_the_owner_chose() {
    let login = Login::new().await;
    let json = ("Content-Type", "application/json");
    let refused = login.send("POST", "/mcp", &[json], "{}").await;
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").expect("a challenge");
    let metadata = "https://bw.example/.well-known/oauth-protected-resource/mcp";
    assert!(challenge.contains(&format!("resource_metadata=\"{metadata}\"")), "{challenge}");
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let resource = login.send("GET", path, &[], "").await.json();
        assert_eq!(resource["resource"], "https://bw.example/mcp");
        assert_eq!(resource["authorization_servers"], json!([URL]));
    }
    for path in ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"] {
        let server = login.send("GET", path, &[], "").await.json();
        assert_eq!(
            (&server["issuer"], &server["code_challenge_methods_supported"]),
            (&json!(URL), &json!(["S256"]))
        );
    }
    let client = login.register(REDIRECT).await;
    let (access, refresh) = login.log_in(&client).await;
    let answer = login.read(&access, "app").await;
    assert!(answer.body.contains("hello"), "{answer:?}");
    // The owner chose `app` and reading alone.
    assert!(login.read(&access, "notes").await.body.contains("unknown_scope"));
    let write = json!({"scope": "app", "op": "file.write", "target": "new.txt", "input": {"content": "x"}});
    let denied = mcp(login.address, &access, "2025-11-25", call("computer_operation", &write)).await;
    assert!(denied.body.contains("permission_denied"), "{denied:?}");
    let (second, again) = tokens(&login.renew(&client, &refresh).await);
    assert_eq!(login.read(&access, "app").await.status, 401, "the first access token was replaced");
    assert!(login.read(&second, "app").await.body.contains("hello"));
    // Who ends the login itself needs no more than the token.
    let over = login
        .send("POST", "/oauth/revoke", &[FORM], &form(&[("token", &again), ("client_id", &client)]))
        .await;
    assert_eq!(over.status, 200);
    assert_eq!(login.read(&second, "app").await.status, 401);
    assert_eq!(login.records().len(), 1);
    let filter = Filter { caller: Some("Tester".to_owned()), limit: 100, ..Filter::default() };
    let rows =
        login.house.service.history().query(&filter, &Cancel::after(*PATIENCE)).expect("readable").entries;
    let done: Vec<&str> = rows.iter().rev().map(|row| row.op.as_str()).collect();
    assert_eq!(done[..2], ["login", "file.read"], "{done:?}");
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_page_allows_beyond_the_scope_is_allowed_nowhere() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let (request, cookie) = login.open(&Login::link(&client, &[])).await;
    let proof = [("request", request.as_str()), ("answer", "prove"), ("code", &login.code())];
    let page = hidden(&login.post(&cookie, &proof).await);
    // `notes` grants reading alone; the page offers no more, and a browser can send what it likes.
    let chosen = [
        ("request", page.as_str()),
        ("answer", "allow"),
        ("scope", "notes"),
        ("capability", "fs:read"),
        ("capability", "fs:write"),
        ("capability", "command:run"),
        ("capability", "history:read"),
    ];
    let reply = login.post(&cookie, &chosen).await;
    let code = answer(reply.header("location").expect("back to the client"), "code").expect("a code");
    let (access, _) = tokens(&login.token(&client, &[("code", &code)]).await);
    assert!(login.read(&access, "notes").await.body.contains("write tests"));
    for (op, input) in [
        ("file.write", json!({"content": "x"})),
        ("file.delete", json!({})),
        ("command.run", json!({"command": ["true"]})),
        ("history.last", json!({})),
    ] {
        let asked = json!({"scope": "notes", "op": op, "target": "todo.txt", "input": input});
        let refused = mcp(login.address, &access, "2025-11-25", call("computer_operation", &asked)).await;
        assert!(refused.body.contains("permission_denied"), "{op}: {refused:?}");
    }
    assert!(login.read(&access, "app").await.body.contains("unknown_scope"));
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_address_that_a_stranger_names_is_asked() {
    let login = Login::new().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("set");
    let place = format!("http://{}/client.json", listener.local_addr().expect("an address"));
    let mut asked = json!({"client_name": "Tester", "redirect_uris": [REDIRECT]});
    for field in
        ["client_id", "client_uri", "logo_uri", "jwks_uri", "policy_uri", "tos_uri", "sector_identifier_uri"]
    {
        asked[field] = json!(place);
    }
    let json = ("Content-Type", "application/json");
    let made = login.send("POST", "/oauth/register", &[json], &asked.to_string()).await;
    assert_eq!(made.status, 201, "{made:?}");
    let client = made.json()["client_id"].as_str().expect("an id").to_owned();
    login.open(&Login::link(&client, &[("request_uri", &place)])).await;
    for id in [place.clone(), place.replace("http:", "https:")] {
        let page = login.send("GET", &Login::link(&id, &[]), &[("Sec-Fetch-Mode", "navigate")], "").await;
        assert_eq!(page.status, 400, "{page:?}");
        assert_eq!(login.token(&id, &[("code", "x")]).await.status, 400);
    }
    // Whoever asks does so before the answer, which needs what is there.
    let heard = listener.accept().map(|(_, from)| from);
    assert!(heard.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "{heard:?}");
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_sends_nobody_to_an_address_that_was_not_registered() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let link = |changes: &[(&str, &str)]| Login::link(&client, changes);
    let twice = format!("{}&client_id=x", link(&[]));
    for (link, reason) in [
        (link(&[("redirect_uri", "https://evil.example/callback")]), "another host"),
        (link(&[("redirect_uri", "http://127.0.0.1:7777/other")]), "another path"),
        (link(&[("redirect_uri", "http://localhost:7777/callback")]), "another name"),
        (link(&[("redirect_uri", "javascript:alert(1)")]), "no address"),
        (link(&[("redirect_uri", "")]), "none"),
        (link(&[("client_id", "unknown")]), "an unknown client"),
        (link(&[("client_id", &client.replacen('A', "B", 1))]), "a changed client"),
        (twice, "a doubled field"),
    ] {
        let reply = login.send("GET", &link, &[("Sec-Fetch-Mode", "navigate")], "").await;
        assert_eq!((reply.status, reply.header("location")), (400, None), "{reason}: {reply:?}");
    }
    // Any port of this computer, as native programs choose them.
    login.open(&link(&[("redirect_uri", "http://127.0.0.1:9/callback")])).await;
    for (change, wanted) in [
        (("response_type", "token"), "unsupported_response_type"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("code_challenge", "short"), "invalid_request"),
        (("code_challenge", ""), "invalid_request"),
        (("resource", "https://other.example/mcp"), "invalid_target"),
    ] {
        let reply = login.send("GET", &link(&[change]), &[], "").await;
        let back = reply.header("location").expect("back to the client");
        assert_eq!((reply.status, answer(back, "error").as_deref()), (303, Some(wanted)), "{change:?}");
        assert_eq!(answer(back, "code"), None);
    }
    // Everybody can register an address of the web; a wrong request does not lead there on its own.
    let web = "https://evil.example/callback";
    let stranger = login.register(web).await;
    let wrong = Login::link(&stranger, &[("redirect_uri", web), ("response_type", "token")]);
    let reply = login.send("GET", &wrong, &[], "").await;
    assert_eq!((reply.status, reply.header("location")), (400, None), "{reply:?}");
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_agrees_but_the_owner_in_the_browser_that_was_asked() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let (asked, cookie) = login.open(&Login::link(&client, &[])).await;
    let allow =
        [("request", asked.as_str()), ("answer", "allow"), ("scope", "app"), ("capability", "fs:read")];
    let is_no_way = |reply: &Reply| reply.header("location").is_none() && !reply.body.contains("name=scope");
    assert!(is_no_way(&login.post(&cookie, &allow).await), "without a proof");
    for typed in ["", "AAAA-AAAA-AAAA", "bwl_no", &login.house.token("no-owner", None, &["*"], &["*"])] {
        assert!(is_no_way(&login.post(&cookie, &[("request", &asked), ("code", typed)]).await), "{typed}");
    }
    let proof = login.code();
    let prove = [("request", asked.as_str()), ("answer", "prove"), ("code", proof.as_str())];
    let other = format!("__Host-bailiwick-login={}", "0".repeat(64));
    for cookie in ["", other.as_str()] {
        assert!(is_no_way(&login.post(cookie, &prove).await), "another browser");
    }
    for origin in ["https://evil.example", "null", "http://localhost:5173"] {
        let headers = [FORM, ("Origin", origin), ("Cookie", &cookie)];
        let reply = login.send("POST", "/oauth/authorize", &headers, &form(&prove)).await;
        assert!(is_no_way(&reply) && matches!(reply.status, 400 | 403), "{origin}: {reply:?}");
    }
    let headers = [FORM, ("Cookie", cookie.as_str())];
    assert!(is_no_way(&login.send("POST", "/oauth/authorize", &headers, &form(&prove)).await), "no origin");
    let changed = asked.replacen('e', "f", 1);
    assert!(
        is_no_way(&login.post(&cookie, &[("request", &changed), ("code", &proof)]).await),
        "a changed request"
    );
    // None of these used the code up; now it is used, and only once.
    assert!(login.post(&cookie, &prove).await.body.contains("name=scope"));
    assert!(is_no_way(&login.post(&cookie, &prove).await), "the code again");
    let outside =
        [("request", asked.as_str()), ("answer", "allow"), ("scope", "nowhere"), ("capability", "fs:read")];
    let again = login.post(&cookie, &outside).await;
    assert!(again.header("location").is_none() && again.body.contains("at least one scope"), "{again:?}");
    assert_eq!(login.post(&cookie, &allow).await.status, 303);
    assert!(is_no_way(&login.post(&cookie, &allow).await), "the approval again");
    // A refusal needs no proof.
    let (asked, cookie) = login.open(&Login::link(&client, &[])).await;
    let refused = login.post(&cookie, &[("request", &asked), ("answer", "refuse")]).await;
    assert_eq!(answer(refused.header("location").expect("back"), "error").as_deref(), Some("access_denied"));
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_code_is_exchanged_once_by_its_client_with_its_verifier() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let other = login.register("http://127.0.0.1:7777/callback?other").await;
    for change in [
        ("code_verifier", "another-verifier-of-43-characters-at-the-least"),
        ("redirect_uri", "http://127.0.0.1:7778/callback"),
        ("client_id", other.as_str()),
    ] {
        let code = login.agree(&client).await;
        assert_eq!(
            error(&login.token(&client, &[("code", &code), change]).await),
            "invalid_grant",
            "{change:?}"
        );
        // A try uses it up.
        assert_eq!(error(&login.token(&client, &[("code", &code)]).await), "invalid_grant", "{change:?}");
    }
    let code = login.agree(&client).await;
    let target = login.token(&client, &[("code", &code), ("resource", "https://other.example/mcp")]).await;
    assert_eq!(error(&target), "invalid_target");
    let (access, _) = tokens(&login.token(&client, &[("code", &code)]).await);
    assert!(login.read(&access, "app").await.body.contains("hello"));
    assert_eq!(error(&login.token(&client, &[("code", &code)]).await), "invalid_grant");
    assert_eq!(login.read(&access, "app").await.status, 401, "its second use ended the login");
    assert_eq!(error(&login.token(&client, &[("code", "made-up")]).await), "invalid_grant");
    assert_eq!(
        error(&login.token(&client, &[("grant_type", "client_credentials")]).await),
        "unsupported_grant_type"
    );
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refresh_token_is_used_once_and_by_its_client() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let other = login.register("http://127.0.0.1:7777/callback?other").await;
    let (_, refresh) = login.log_in(&client).await;
    assert_eq!(error(&login.renew(&other, &refresh).await), "invalid_grant", "another client");
    let (access, next) = tokens(&login.renew(&client, &refresh).await);
    assert_eq!(error(&login.renew(&client, &refresh).await), "invalid_grant", "a second time");
    assert_eq!(login.read(&access, "app").await.status, 401, "that ended the login");
    assert_eq!(error(&login.renew(&client, &next).await), "invalid_grant");
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_access_token_opens_the_mcp_endpoint_alone() {
    let login = Login::new().await;
    let client = login.register(REDIRECT).await;
    let (access, refresh) = login.log_in(&client).await;
    let stat = r#"{"scope":"app","op":"file.stat"}"#;
    assert_eq!(api(login.address, &access, stat).await.status, 401, "the JSON API is another resource");
    assert_eq!(login.read(&refresh, "app").await.status, 401, "a refresh token is none");
    // Another installation's URL is another audience.
    let mut elsewhere = TestServer::new();
    let public_url = PublicUrl::try_from("https://other.example".to_owned()).expect("a URL");
    let settings = HttpSettings { public_url: Some(public_url), ..elsewhere.settings() };
    elsewhere.keys = Arc::clone(&login.house.keys);
    let address = elsewhere.http_with(settings).await;
    let asked = call("computer_query", &json!({"scope": "app", "op": "file.stat", "target": "README.md"}));
    assert_eq!(mcp(address, &access, "2025-11-25", asked).await.status, 401);
    elsewhere.end().await;
    login.house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_public_url_serves_the_endpoint_and_the_login_and_nothing_else() {
    let login = Login::new().await;
    let bearer = format!("Bearer {}", login.house.token);
    let owner = ("Authorization", bearer.as_str());
    for path in ["/api/v1/info", "/api/v1/history", "/api/v1/openapi.json", "/"] {
        assert_eq!(login.send("GET", path, &[owner], "").await.status, 404, "{path}");
        // A tunnel that rewrites the host says that it has passed the request on.
        let passed_on = [owner, ("X-Forwarded-For", "192.0.2.1")];
        assert_eq!(send(login.address, "GET", path, &passed_on, "").await.status, 404, "{path}");
    }
    assert_eq!(send(login.address, "GET", "/api/v1/info", &[owner], "").await.status, 200, "from here");
    assert_eq!(login.send("GET", "/healthz", &[], "").await.status, 200);
    // What is in no row of the table is not said to be anything.
    for path in ["/oauth/other", "/.well-known/other", "/mcp/other"] {
        assert_eq!(login.send("GET", path, &[owner], "").await.status, 404, "{path}");
    }
    login.house.end().await;
    // Without a public URL there is no login.
    let mut house = TestServer::new();
    let address = house.http().await;
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"] {
        assert_eq!(send(address, "GET", path, &[], "").await.status, 404, "{path}");
    }
    assert_eq!(
        send(address, "POST", "/oauth/register", &[("Content-Type", "application/json")], "{}").await.status,
        401
    );
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_leave_nothing_behind() {
    let login = Login::new().await;
    let before = login.records();
    for _ in 0..200 {
        let client = login.register(REDIRECT).await;
        let reply =
            login.send("GET", &Login::link(&client, &[]), &[("Sec-Fetch-Mode", "navigate")], "").await;
        let policy = reply.header("content-security-policy").expect("a policy");
        assert!(
            policy.contains("frame-ancestors 'none'")
                && policy.contains("form-action 'self' http://127.0.0.1:7777;"),
            "{policy}"
        );
    }
    assert_eq!(login.records(), before);
    let long = format!("x={}", "a".repeat(17 << 10));
    for path in ["/oauth/token", "/oauth/revoke", "/oauth/authorize"] {
        let reply = login.send("POST", path, &[FORM, ("Origin", URL)], &long).await;
        assert_eq!(reply.status, 400, "{path}");
    }
    let client = login.register(REDIRECT).await;
    let (asked, cookie) = login.open(&Login::link(&client, &[])).await;
    // What no login has is answered without a look at the file, also while somebody changes it.
    let lock = edit_lock(&login.house.dirs).expect("free");
    let (name, made) = (Tokens::path(&login.house.dirs), FileStamp::of(&Tokens::path(&login.house.dirs)));
    assert_eq!(error(&login.renew(&client, "bwl_unknown").await), "invalid_grant");
    let form = form(&[("token", "bwl_unknown"), ("client_id", &client)]);
    assert_eq!(login.send("POST", "/oauth/revoke", &[FORM], &form).await.status, 200);
    assert_eq!(FileStamp::of(&name), made);
    drop(lock);
    let code = login.code();
    for _ in 0..20 {
        login.post(&cookie, &[("request", &asked), ("code", "AAAA-AAAA-AAAA")]).await;
    }
    assert_eq!(login.records(), before);
    let right = login.post(&cookie, &[("request", &asked), ("code", &code)]).await;
    assert!(right.body.contains("name=scope"), "a wrong code changes nothing: {right:?}");
    login.house.end().await;
}
