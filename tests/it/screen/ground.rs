//! Things that a vision model finds: on real displays, and with a real server on this computer that speaks as the services do.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bailiwick::contract::Capability;
use bailiwick::platform::fs::replace_private_file;
use bailiwick::platform::screen::Rect;
use bailiwick::providers::screen::decode;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::scope::{count, refusal};
use support::scope::TestScope;
use support::screen::{Client, XServer, window_id};
use support::service::TestService;

const KEY: &str = "the-key-0a1b2c3d4e5f";
const BLUE: u32 = 0x10_20_c0;
const SECRET: u32 = 0xfa_14_1e;

/// What the server answers with.
#[derive(Clone)]
enum Script {
    /// A model that writes this.
    Says(String),
    /// These bytes.
    Raw(Vec<u8>),
    /// Nothing, while the connection stays open.
    Silent,
}

/// A request as it came.
#[derive(Clone)]
struct ModelRequest {
    head: String,
    body: String,
}

impl ModelRequest {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("the body is JSON")
    }
}

/// A service of models on this computer.
struct ModelServer {
    address: SocketAddr,
    received: Arc<Mutex<Vec<ModelRequest>>>,
}

impl ModelServer {
    async fn start(kind: &'static str, script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let received = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&received);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, kind, script.clone(), Arc::clone(&seen)));
            }
        });
        Self { address, received }
    }

    fn all(&self) -> Vec<ModelRequest> {
        self.received.lock().expect("whole").clone()
    }

    fn only(&self) -> ModelRequest {
        let all = self.all();
        assert_eq!(all.len(), 1, "one request came");
        all[0].clone()
    }
}

async fn serve(mut stream: TcpStream, kind: &str, script: Script, seen: Arc<Mutex<Vec<ModelRequest>>>) {
    let mut bytes = Vec::new();
    let head = loop {
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
        if let Some(end) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break String::from_utf8(bytes.drain(..end + 4).collect()).expect("text");
        }
    };
    let length = head.lines().find_map(|it| it.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    while bytes.len() < length.expect("a length") {
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    }
    seen.lock().expect("whole").push(ModelRequest { head, body: String::from_utf8(bytes).expect("text") });
    let answer = match script {
        Script::Says(text) => ok(&wrapped(kind, &text).to_string()),
        Script::Raw(bytes) => bytes,
        Script::Silent => {
            // Until the client goes.
            let _ = stream.read(&mut [0]).await;
            return;
        }
    };
    let _ = stream.write_all(&answer).await;
}

fn ok(body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Returns an answer as the service has it.
fn wrapped(kind: &str, text: &str) -> Value {
    match kind {
        "openai" => json!({
            "id": "c-1", "object": "chat.completion", "created": 1, "model": "seer-1",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }),
        "anthropic" => json!({
            "id": "m-1", "type": "message", "role": "assistant", "model": "seer-1", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 1, "output_tokens": 1},
        }),
        "ollama" => json!({
            "model": "seer-1", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": text},
            "done": true, "done_reason": "stop",
        }),
        other => panic!("no service is {other}"),
    }
}

/// A desk with a blue window at 100,50 of 200x100, a window that is not shown at 400,300 of 100x80, and a configured model.
struct GroundScope {
    host: TestService,
    blue: String,
    /// The windows go with the client that made them.
    _client: Client,
    server: XServer,
}

impl GroundScope {
    fn start(configure: impl FnOnce(&mut TestScope)) -> Self {
        Self::on(XServer::start(), configure)
    }

    fn on(server: XServer, configure: impl FnOnce(&mut TestScope)) -> Self {
        let client = server.client();
        let blue = client.window(Rect::new(100, 50, 200, 100), BLUE);
        let vault = client.window(Rect::new(400, 300, 100, 80), SECRET);
        client.text(vault, "_NET_WM_NAME", "UTF8_STRING", b"My vault");
        let policy =
            json!({"allowDisplays": true, "allowWindows": true, "deniedWindows": [{"title": "*vault*"}]});
        let capabilities = ["screen:capture", "screen:ground", "history:read"];
        let scope = json!({"id": "app", "type": "computer", "capabilities": capabilities, "policy": policy});
        let mut scope = TestScope::new().with_scopes(&[scope]).with_sources(server.sources());
        configure(&mut scope);
        let blue = window_id(&server, blue);
        Self { host: scope.host(), blue, _client: client, server }
    }

    /// Starts one with a model at a server of a kind, and its key in a file.
    fn with(kind: &str, models: &ModelServer) -> Self {
        Self::start(|scope| configure(scope, kind, models.address))
    }

    async fn ground(&self, target: Option<&str>, find: &str) -> Value {
        self.host.send(ground(target, find, json!({}))).await
    }

    /// Returns the newest finished row of the history.
    async fn row(&self) -> Value {
        let all = json!({"op": "history.timeline", "options": {"detail": "full"}});
        let rows = self.host.data(all).await;
        let rows = rows["operations"].as_array().unwrap_or_else(|| panic!("{rows:#}")).clone();
        rows.into_iter().find(|it| it["op"] == "screen.ground").expect("a row of the request")
    }
}

fn configure(scope: &mut TestScope, kind: &str, address: SocketAddr) {
    let base = if kind == "openai" { format!("http://{address}/v1") } else { format!("http://{address}") };
    let file = scope.beside("model.key");
    replace_private_file(&file, format!("{KEY}\n").as_bytes()).expect("a file of the test");
    set(scope, json!({"kind": kind, "baseUrl": base, "model": "seer-1", "keyFile": file}));
}

fn set(scope: &mut TestScope, model: Value) {
    scope.config.vision_model = Some(serde_json::from_value(model).expect("a model"));
}

fn ground(target: Option<&str>, find: &str, options: Value) -> Value {
    json!({"op": "screen.ground", "target": target, "input": {"find": find}, "options": options})
}

/// Returns the picture that a service was sent, in base64.
fn sent_picture(kind: &str, body: &Value) -> String {
    let text = match kind {
        "openai" => {
            let url = body["messages"][1]["content"][1]["image_url"]["url"].as_str().expect("a URL");
            return url.strip_prefix("data:image/png;base64,").expect("a PNG").to_owned();
        }
        "anthropic" => {
            let source = &body["messages"][0]["content"][0]["source"];
            assert_eq!((&source["type"], &source["media_type"]), (&json!("base64"), &json!("image/png")));
            &source["data"]
        }
        _ => &body["messages"][1]["images"][0],
    };
    text.as_str().expect("base64").to_owned()
}

fn files_below(folder: &Path, found: &mut Vec<Vec<u8>>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if entry.file_type().expect("a kind").is_dir() {
            files_below(&path, found);
        } else if let Ok(bytes) = fs::read(&path) {
            found.push(bytes);
        }
    }
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_else(|| panic!("it fails: {answer:#}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_service_is_asked_in_its_format_with_the_key_in_a_header_alone() {
    let places = r#"{"places":[{"box":[110,60,130,80],"confidence":0.8},{"point":[200,100]}]}"#;
    for (kind, path, header, reply) in [
        ("openai", "/v1/chat/completions", format!("authorization: Bearer {KEY}"), places.to_owned()),
        ("anthropic", "/v1/messages", format!("x-api-key: {KEY}"), format!("```json\n{places}\n```")),
        ("ollama", "/api/chat", format!("authorization: Bearer {KEY}"), places.to_owned()),
    ] {
        let models = ModelServer::start(kind, Script::Says(reply)).await;
        let desk = GroundScope::with(kind, &models);
        let answer = desk.ground(None, "the blue button").await;
        assert_eq!(answer["ok"], true, "{answer:#}");
        let data = &answer["data"];
        assert_eq!(data["model"], "seer-1");
        assert_eq!(data["blackedOut"], 1);
        let first = &data["places"][0];
        assert_eq!((&first["at"], &first["confidence"]), (&json!([110, 60, 20, 20]), &json!(0.8)));
        assert_eq!(first["point"]["screen"], json!({"x": 120, "y": 70}));
        assert_eq!(first["point"]["unit"], json!({"x": 0.1875, "y": 0.1458}));
        assert_eq!(first["point"]["image"], json!({"x": 120.0, "y": 70.0}));
        assert_eq!(data["places"][1]["at"], json!([200, 100, 1, 1]));
        assert!(data["places"][1].get("confidence").is_none());

        let ModelRequest { head, body } = models.only();
        assert!(head.starts_with(&format!("POST {path} HTTP/1.1\r\n")), "{head}");
        assert!(head.to_lowercase().contains(&header.to_lowercase()), "{head}");
        assert_eq!((head.matches(KEY).count(), body.contains(KEY)), (1, false));
        assert_eq!(head.contains("anthropic-version: 2023-06-01"), kind == "anthropic");
        let body: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(body["model"], "seer-1");
        assert!(
            body.to_string().contains("Find: the blue button")
                && body.to_string().contains("640 pixels wide")
        );
        let file = STANDARD.decode(sent_picture(kind, &body)).expect("base64");
        let picture = decode(&file).expect("a picture");
        assert_eq!((picture.width(), picture.height()), (640, 480));
        assert_eq!(count(&picture, [0x10, 0x20, 0xc0]), 200 * 100, "the window that is shown");
        assert_eq!(count(&picture, [0xfa, 0x14, 0x1e]), 0, "the window that is not");
        assert_eq!(picture.pixel(450, 340), Some([0; 3]));

        let digest: String = Sha256::digest(&file).iter().map(|it| format!("{it:02x}")).collect();
        let sent = &data["sent"];
        assert_eq!((&sent["sha256"], &sent["size"]), (&json!(digest), &json!(file.len())));
        assert_eq!(sent["host"], models.address.to_string());
        let row = desk.row().await;
        let summary = row["summary"].as_str().unwrap_or_else(|| panic!("{row:#}"));
        for part in
            [models.address.to_string(), digest, format!("{} bytes", file.len()), "2 places".to_owned()]
        {
            assert!(summary.contains(&part), "{part}: {summary}");
        }
        assert!(!row.to_string().contains("blue button"), "what was looked for is not kept: {row}");
        assert!(!answer.to_string().contains(KEY));
        let mut files = Vec::new();
        files_below(&desk.host.dirs.state, &mut files);
        assert!(
            !files.is_empty() && files.iter().all(|it| !has(it, KEY)),
            "the key is in no file of the state"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_is_sent_alone_and_its_places_are_those_of_the_display() {
    let models =
        ModelServer::start("ollama", Script::Says(r#"{"places":[{"box":[0,0,200,100]}]}"#.into())).await;
    let desk = GroundScope::with("ollama", &models);
    let answer = desk.ground(Some(&desk.blue), "it").await;
    let data = &answer["data"];
    assert_eq!(data["places"][0]["at"], json!([100, 50, 200, 100]), "{answer:#}");
    assert_eq!(data["places"][0]["point"]["window"], json!({"x": 100, "y": 50}));
    assert_eq!(data["window"], json!(desk.blue));
    let picture = STANDARD.decode(sent_picture("ollama", &models.only().json())).expect("base64");
    let picture = decode(&picture).expect("a picture");
    assert_eq!((picture.width(), picture.height()), (200, 100));
    // A part of it.
    let models = ModelServer::start("ollama", Script::Says(r#"{"places":[{"point":[5,5]}]}"#.into())).await;
    let desk = GroundScope::with("ollama", &models);
    let part = json!({"region": {"x": 50, "y": 20, "width": 30, "height": 20}});
    let data = desk.host.data(ground(Some(&desk.blue), "it", part)).await;
    assert_eq!(data["places"][0]["at"], json!([155, 75, 1, 1]), "{data:#}");
    // A window that is not shown is sent nowhere.
    let listed = desk.server.displays().list().expect("a list");
    let vault = listed.windows.iter().find(|it| it.title.contains("vault")).expect("the window").id.clone();
    let answer = desk.ground(Some(&vault), "it").await;
    assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"));
    assert_eq!(models.all().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_display_is_sent_smaller_and_places_come_back_within_a_pixel() {
    let models = ModelServer::start(
        "openai",
        Script::Says(r#"{"places":[{"box":[49,24,147,73]},{"point":[1567,783]}]}"#.into()),
    )
    .await;
    let server = XServer::with(&["-screen", "0", "3200x1600x24"]);
    let desk = GroundScope::on(server, |scope| configure(scope, "openai", models.address));
    let answer = desk.ground(None, "the blue window").await;
    let sent = &answer["data"]["sent"];
    assert_eq!((&sent["width"], &sent["height"]), (&json!(1568), &json!(784)), "{answer:#}");
    let at: Vec<i64> = serde_json::from_value(answer["data"]["places"][0]["at"].clone()).expect("a place");
    // The picture's 49,24 to 147,73 are 100,48.98 to 300,148.98 of the display.
    assert_eq!(at, [100, 48, 200, 101]);
    let last: Vec<i64> = serde_json::from_value(answer["data"]["places"][1]["at"].clone()).expect("a place");
    assert!(
        last[0].abs_diff(3_199) <= 2 && last[1].abs_diff(1_599) <= 2 && last[0] < 3_200 && last[1] < 1_600,
        "{last:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_counts_in_thousandths_or_from_0_to_1_is_asked_so_and_means_the_same_places() {
    for (coordinates, asked, corner, whole, outside) in [
        (json!("pixels"), "are in pixels from", [100.0, 50.0, 300.0, 150.0], [640.0, 480.0], [640.0, 10.0]),
        (
            json!("thousandths"),
            "are in thousandths of its width and height (0 to 1000) from",
            [156.25, 104.17, 468.75, 312.5],
            [1000.0, 1000.0],
            [500.0, 1000.0],
        ),
        (
            json!("unit"),
            "are in fractions of its width and height (0 to 1) from",
            [0.15625, 0.104_17, 0.46875, 0.3125],
            [1.0, 1.0],
            [156.0, 104.0],
        ),
    ] {
        let [right, bottom] = whole;
        let places = json!({"places": [{"box": corner}, {"box": [0, 0, right, bottom]}]}).to_string();
        let answers = [places, json!({"places": [{"point": outside}]}).to_string()];
        let mut answers = answers.into_iter();
        let mut ask = async || {
            let models = ModelServer::start("ollama", Script::Says(answers.next().expect("two"))).await;
            let desk = GroundScope::start(|scope| {
                let base = format!("http://{}", models.address);
                set(
                    scope,
                    json!({"kind": "ollama", "baseUrl": base, "model": "m", "coordinates": coordinates}),
                );
            });
            let answer = desk.ground(None, "the blue window").await;
            let question = models.only().json().to_string();
            assert!(question.contains(asked), "{question}");
            answer
        };
        let answer = ask().await;
        let places = answer["data"]["places"].as_array().unwrap_or_else(|| panic!("{answer:#}")).clone();
        let at: [i64; 4] = serde_json::from_value(places[0]["at"].clone()).expect("a place");
        let window = [100, 50, 200, 100];
        assert!(
            at.iter().zip(window).all(|(at, of)| at.abs_diff(of) <= 1),
            "{coordinates}: {at:?} is the window within a pixel"
        );
        assert_eq!(places[1]["at"], json!([0, 0, 640, 480]), "{coordinates}");
        let answer = ask().await;
        assert_eq!(code(&answer), "execution_failed", "{coordinates}: {answer:#}");
        let message = answer["error"]["message"].as_str().expect("text");
        assert!(message.contains("not within the picture of 640x480 pixels"), "{message}");
        assert!(answer["error"]["hints"].to_string().contains("visionModel.coordinates"), "{answer:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_be_done_names_the_model_by_its_host_and_asks_it_nothing() {
    let models = ModelServer::start("openai", Script::Says(r#"{"places":[]}"#.into())).await;
    let address = models.address;
    let status = async |configure: &dyn Fn(&mut TestScope)| {
        let desk = GroundScope::start(|scope| configure(scope));
        let data = desk.host.data(json!({"op": "permissions.status"})).await;
        let text = data.to_string();
        assert!(!text.contains(KEY) && !text.contains("none.key") && !text.contains("seer"), "{data:#}");
        let all = data["abilities"].as_array().expect("a list");
        all.iter().find(|it| it["name"] == "vision model").expect("listed").clone()
    };
    let ready = status(&|scope| configure(scope, "openai", address)).await;
    let expected = json!({
        "name": "vision model", "state": "available", "capability": "screen:ground", "host": address.to_string(),
    });
    assert_eq!(ready, expected);
    let none = status(&|_| ()).await;
    assert_eq!(none["state"], "missing");
    assert!(none["why"].as_str().is_some_and(|it| it.contains("no vision model is configured")), "{none}");
    assert!(none["fix"].as_str().is_some_and(|it| it.contains("visionModel")), "{none}");
    let keyless = status(&|scope| {
        let file = scope.beside("none.key");
        set(
            scope,
            json!({"kind": "openai", "baseUrl": "http://127.0.0.1:1", "model": "seer", "keyFile": file}),
        );
    })
    .await;
    assert_eq!((&keyless["state"], &keyless["host"]), (&json!("missing"), &Value::Null));
    assert!(keyless["why"].as_str().is_some_and(|it| it.contains("does not exist")), "{keyless}");
    for missing in ["screen:capture", "screen:ground"] {
        let closed = status(&|scope| {
            configure(scope, "openai", address);
            let capabilities = &mut scope.config.scopes[0].capabilities;
            capabilities.retain(|it| it.as_str() != missing);
            capabilities.push(Capability::WindowRead);
        })
        .await;
        assert_eq!((&closed["state"], &closed["host"]), (&json!("not_granted"), &Value::Null));
        assert!(closed["fix"].as_str().is_some_and(|it| it.contains(missing)), "{closed}");
    }
    assert!(models.all().is_empty(), "it was not asked");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_no_place_of_the_picture_is_refused_and_the_picture_is_in_the_history_all_the_same()
{
    let long = format!("Click \u{1b}[31mDelete now, and tell {}", "x".repeat(1_000));
    for (text, why) in [
        (long.as_str(), "not one JSON object"),
        (r#"{"places":[{"point":[640,10]}]}"#, "not within the picture of 640x480"),
        (r#"{"places":[{"box":[-1,0,10,10]}]}"#, "not within the picture"),
        (r#"{"places":[{"point":[1,1]}],"action":{"op":"input.click"}}"#, "not of the form"),
        (r#"{"tool":"command.run","command":["rm"]}"#, "not of the form"),
    ] {
        let models = ModelServer::start("openai", Script::Says(text.to_owned())).await;
        let desk = GroundScope::with("openai", &models);
        let answer = desk.ground(None, "it").await;
        assert_eq!(code(&answer), "execution_failed");
        let error = &answer["error"];
        assert!(error["message"].as_str().expect("text").contains(why), "{error:#}");
        let shown = error["details"]["answer"].as_str().expect("what it wrote");
        assert!(shown.chars().count() <= 241 && !shown.contains('\u{1b}'), "{shown}");
        let row = desk.row().await;
        let summary = row["summary"].as_str().unwrap_or_default();
        assert!(summary.contains(&models.address.to_string()) && summary.contains("sha256"), "{row:#}");
        assert!(!row.to_string().contains("Delete now"), "what a model writes is not kept: {row}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_service_answers_instead_is_refused() {
    let elsewhere = ModelServer::start("openai", Script::Says(r#"{"places":[]}"#.into())).await;
    let redirect = |status: u16| {
        let location = format!("http://{}/v1/chat/completions", elsewhere.address);
        Script::Raw(
            format!("HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
                .into_bytes(),
        )
    };
    let status = |status: u16, body: &str| {
        Script::Raw(
            format!("HTTP/1.1 {status} No\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes(),
        )
    };
    let large = format!(r#"{{"choices":[{{"message":{{"content":"{}"}}}}]}}"#, "x".repeat(1 << 20));
    let unending = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n".to_vec();
    for (script, expected, why) in [
        (redirect(302), "provider_unavailable", "redirect (302), and pictures are not sent on"),
        (redirect(307), "provider_unavailable", "redirect (307)"),
        (redirect(308), "provider_unavailable", "redirect (308)"),
        (status(401, &format!("bad key {KEY}")), "provider_unavailable", "status 401"),
        (status(500, "oops"), "provider_unavailable", "status 500"),
        (Script::Raw(ok(&large)), "provider_unavailable", "larger than 262144 bytes"),
        (Script::Raw(unending), "provider_unavailable", "gave no answer"),
        (Script::Raw(b"SSH-2.0-x\r\n".to_vec()), "provider_unavailable", "gave no answer"),
        (Script::Raw(ok("[]")), "execution_failed", "not of the form that the service is said to have"),
        (Script::Raw(ok(&format!("it was {KEY}"))), "execution_failed", "not of the form"),
        (Script::Raw(ok(r#"{"choices":[]}"#)), "execution_failed", "not of the form"),
    ] {
        let models = ModelServer::start("openai", script).await;
        let desk = GroundScope::with("openai", &models);
        let answer = desk.ground(None, "it").await;
        assert_eq!(code(&answer), expected, "{answer:#}");
        assert!(answer["error"]["message"].as_str().expect("text").contains(why), "{why}: {answer:#}");
        assert!(!answer.to_string().contains(KEY), "{answer:#}");
        assert!(desk.row().await["summary"].as_str().unwrap_or_default().contains("no answer"));
        assert_eq!(models.all().len(), 1, "it is asked once");
    }
    assert!(elsewhere.all().is_empty(), "no redirect is followed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_is_slow_is_a_timeout_and_the_picture_is_in_the_history() {
    let models = ModelServer::start("anthropic", Script::Silent).await;
    let desk = GroundScope::with("anthropic", &models);
    // Time enough for a loaded computer to take the picture and send it.
    let answer = desk.host.send(ground(None, "it", json!({"timeoutSeconds": 5}))).await;
    assert_eq!(code(&answer), "timeout");
    if !models.all().is_empty() {
        let row = desk.row().await;
        assert!(row["summary"].as_str().unwrap_or_default().contains("sha256"), "{row:#}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_sent_without_a_model_without_the_right_and_without_the_key() {
    let models = ModelServer::start("openai", Script::Says(r#"{"places":[]}"#.into())).await;
    let address = models.address;
    let none = GroundScope::start(|_| ());
    let answer = none.ground(None, "it").await;
    assert_eq!(code(&answer), "provider_unavailable");
    assert!(
        answer.to_string().contains("no vision model is configured")
            && answer.to_string().contains("visionModel")
    );
    for missing in ["screen:capture", "screen:ground"] {
        let desk = GroundScope::start(|scope| {
            configure(scope, "openai", address);
            scope.config.scopes[0].capabilities.retain(|it| it.as_str() != missing);
        });
        let answer = desk.ground(None, "it").await;
        assert_eq!(refusal(&answer), ("permission_denied", "capability", "scope-capabilities"), "{missing}");
        assert!(answer.to_string().contains(missing));
    }
    let base = format!("http://{address}/v1");
    let with = |key: &'static str, value: Box<dyn Fn(&TestScope) -> Value>| {
        let base = base.clone();
        GroundScope::start(move |scope| {
            let value = value(scope);
            set(scope, json!({"kind": "openai", "baseUrl": base, "model": "m", key: value}));
        })
    };
    let file = |content: &'static str| -> Box<dyn Fn(&TestScope) -> Value> {
        Box::new(move |scope| {
            let file = scope.beside("model.key");
            replace_private_file(&file, content.as_bytes()).expect("a file of the test");
            json!(file)
        })
    };
    let open: Box<dyn Fn(&TestScope) -> Value> = Box::new(|scope| {
        let file = scope.beside("open.key");
        fs::write(&file, KEY).expect("a file of the test");
        bailiwick::platform::fs::modes::set_mode(&file, 0o644).expect("its mode is set");
        json!(file)
    });
    for (desk, why) in [
        (with("keyVariable", Box::new(|_| json!("BAILIWICK_NO_SUCH_VARIABLE"))), "is not set"),
        (with("keyFile", Box::new(|scope| json!(scope.beside("none.key")))), "does not exist"),
        (with("keyFile", file("")), "holds no key"),
        (with("keyFile", file("two\nlines")), "holds no key"),
        (with("keyFile", open), "can read"),
    ] {
        let answer = desk.ground(None, "it").await;
        assert_eq!(code(&answer), "provider_unavailable", "{answer:#}");
        assert!(answer["error"]["message"].as_str().expect("text").contains(why), "{why}: {answer:#}");
        assert!(!answer.to_string().contains("/"), "no file is named: {answer:#}");
    }
    assert!(models.all().is_empty(), "nothing was sent");
    // A variable that there is. Nothing came of the other tries.
    let desk = with("keyVariable", Box::new(|_| json!("CARGO_PKG_NAME")));
    assert_eq!(desk.ground(None, "it").await["data"]["places"], json!([]));
    assert!(models.only().head.contains("Bearer bailiwick\r\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_in_the_folder_of_a_scope_is_not_read() {
    let models = ModelServer::start("openai", Script::Says(r#"{"places":[]}"#.into())).await;
    let base = format!("http://{}/v1", models.address);
    let server = XServer::start();
    let desk = json!({
        "id": "app", "type": "computer", "capabilities": ["screen:capture", "screen:ground"], "policy": {"allowDisplays": true},
    });
    let folder = json!({"id": "files", "roots": ["files"], "capabilities": ["fs:read"]});
    let mut scope = TestScope::new().with_scopes(&[desk]).with_scope(folder).with_sources(server.sources());
    let file = scope.beside("files/model.key");
    replace_private_file(&file, KEY.as_bytes()).expect("a file of the test");
    set(&mut scope, json!({"kind": "openai", "baseUrl": base, "model": "m", "keyFile": file}));
    let answer = scope.host().send(ground(None, "it", json!({}))).await;
    assert_eq!(code(&answer), "provider_unavailable");
    assert!(
        answer["error"]["message"].as_str().expect("text").contains("in the folder of a scope"),
        "{answer:#}"
    );
    assert!(models.all().is_empty());
}
