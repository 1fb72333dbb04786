//! Recordings of real windows, read by a decoder that everybody has.

use std::fs;
use std::io::Cursor;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bailiwick::contract::Cancel;
use bailiwick::contract::{Envelope, Progress};
use bailiwick::platform::screen::{Displays, Rect};
use bailiwick::policy::{OwnFolders, Scopes};
use bailiwick::providers::screen::{
    Mp4Writer, Picture, RecordingEnd, RecordingOrder, RecordingTarget, VideoEncoder, record as recording,
};
use serde_json::{Value, json};
use support::patience::{eventually, eventually_async, eventually_some};
use support::screen::{Client, XServer, window_id};
use support::service::data;
use tokio_util::sync::CancellationToken;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, CreateGCAux, CreateWindowAux, ImageFormat, WindowClass};

use super::scope::{ScreenScope, bytes, refusal};
use crate::temporary::TemporaryFolder;

const RED: u32 = 0xff_00_00;
const GREEN: u32 = 0x00_c0_00;
const BLUE: u32 = 0x20_40_e0;

/// A recording while it is made.
struct RecordingControl {
    progress: Progress,
    gone: CancellationToken,
}

impl RecordingControl {
    /// Waits until it has so many pictures.
    async fn pictures(&self, count: usize) {
        let number = || {
            let said = self.progress.said()?;
            said.split(' ').next()?.parse::<usize>().ok()
        };
        eventually_async("the recording has another picture", || number().is_some_and(|it| it >= count))
            .await;
    }
}

/// Records a minute at most, and does something meanwhile.
async fn record(
    desk: &ScreenScope,
    target: Option<&str>,
    mut options: Value,
    act: impl AsyncFnOnce(&RecordingControl),
) -> Value {
    let defaults = options.as_object_mut().expect("options are an object");
    defaults.entry("seconds").or_insert(json!(60));
    defaults.entry("framesPerSecond").or_insert(json!(15));
    let envelope = json!({"scope": "screen", "op": "screen.record", "target": target, "options": options});
    let running = RecordingControl { progress: Progress::default(), gone: CancellationToken::new() };
    let caller = Arc::new(desk.caller.clone());
    let recording =
        desk.service.handle_told(caller, Envelope::from_value(envelope), &running.gone, &running.progress);
    let (outcome, ()) = tokio::join!(recording, act(&running));
    outcome.into_reply().into_value()
}

/// Reads the file of a recording in parts.
async fn file(desk: &ScreenScope, id: &str) -> Vec<u8> {
    let mut file = Vec::new();
    loop {
        let options = json!({"return": "base64", "offset": file.len(), "maxOutputBytes": 4_000});
        let answer = desk.ask("screen.read_capture", Some(id), options).await;
        let part = &data(&answer)["part"];
        file.extend(bytes(&part["base64"]));
        match part["nextOffset"].as_u64() {
            Some(next) => assert_eq!(next, file.len() as u64),
            None => return file,
        }
    }
}

/// What a decoder makes of a file.
struct DecodedVideo {
    width: u32,
    height: u32,
    seconds: f64,
    /// The pictures, three bytes a pixel.
    frames: Vec<Vec<u8>>,
}

fn decode(file: &[u8]) -> DecodedVideo {
    let folder = TemporaryFolder::new();
    let path = folder.path().join("recording.mp4");
    fs::write(&path, file).expect("a file of the test");
    let run = |program: &str, words: &[&str]| {
        let ran = Command::new(program).args(["-v", "error"]).args(words).arg(&path).output();
        let ran = ran.unwrap_or_else(|error| panic!("{program}: {error}"));
        assert!(ran.status.success() && ran.stderr.is_empty(), "{}", String::from_utf8_lossy(&ran.stderr));
        ran.stdout
    };
    let shown = run("ffprobe", &["-show_streams", "-of", "json"]);
    let stream = &serde_json::from_slice::<Value>(&shown).expect("JSON")["streams"][0];
    assert_eq!((&stream["codec_name"], &stream["profile"]), (&json!("h264"), &json!("Constrained Baseline")));
    let number = |name: &str| u32::try_from(stream[name].as_u64().expect("a number")).expect("small");
    let (width, height) = (number("width"), number("height"));
    let raw = folder.path().join("frames");
    let words = ["-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24"];
    let ran = Command::new("ffmpeg").args(["-v", "error", "-i"]).arg(&path).args(words).arg(&raw).output();
    let ran = ran.expect("ffmpeg is installed");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let pixels = fs::read(&raw).expect("ffmpeg wrote it");
    let frame_bytes = (width * height * 3) as usize;
    DecodedVideo {
        width,
        height,
        seconds: stream["duration"].as_str().and_then(|it| it.parse().ok()).expect("a duration"),
        frames: pixels.chunks_exact(frame_bytes).map(<[u8]>::to_vec).collect(),
    }
}

impl DecodedVideo {
    fn is(&self, frame: usize, (x, y): (u32, u32), colour: u32) -> bool {
        let at = ((y * self.width + x) * 3) as usize;
        let [_, wanted @ ..] = colour.to_be_bytes();
        let pixel = &self.frames[frame][at..at + 3];
        pixel.iter().zip(wanted).all(|(one, other)| one.abs_diff(other) < 12)
    }

    /// Claims that no picture has a pixel that is at all as red as a window was.
    fn assert_without_red(&self) {
        for (at, frame) in self.frames.iter().enumerate() {
            let red = frame.chunks_exact(3).any(|it| it[0] > 90 && it[1] < 60 && it[2] < 60);
            assert!(!red, "picture {at} has the colour of the window that is not shown");
        }
    }
}

/// Shows a window that has its title from its first moment on.
fn titled(client: &Client, place: Rect, colour: u32, title: &str) -> u32 {
    let window = client.connection.generate_id().expect("a number");
    let short = |value: i32| i16::try_from(value).expect("small");
    let side = |value: u32| u16::try_from(value).expect("small");
    let look = CreateWindowAux::new().background_pixel(colour);
    let (root, class) = (client.screen().root, WindowClass::INPUT_OUTPUT);
    let (x, y, width, height) = (short(place.x), short(place.y), side(place.width), side(place.height));
    client
        .connection
        .create_window(0, window, root, x, y, width, height, 0, class, 0, &look)
        .expect("sent")
        .check()
        .expect("the server makes it");
    client.text(window, "_NET_WM_NAME", "UTF8_STRING", title.as_bytes());
    client.connection.map_window(window).expect("sent");
    client.sync();
    window
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_shows_each_colour_in_its_turn_until_it_is_closed() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(20, 30, 101, 75), BLUE);
    // It covers the window, of whose recording it is no part.
    client.window(Rect::new(60, 50, 300, 300), RED);
    let desk = ScreenScope::on(&server, json!({}));
    let id = window_id(&server, window);
    let answer = record(&desk, Some(&id), json!({}), async |running| {
        running.pictures(1).await;
        client.recolour(window, GREEN);
        running.pictures(2).await;
        client.recolour(window, 0xff_ff_ff);
        running.pictures(3).await;
        client.connection.destroy_window(window).expect("sent");
        client.sync();
    })
    .await;
    let told = data(&answer);
    assert_eq!((&told["ended"], &told["window"]), (&json!("windowClosed"), &json!(id)), "{told:#}");
    assert_eq!(told["area"], json!({"x": 20, "y": 30, "width": 101, "height": 75}));
    assert_eq!((&told["width"], &told["height"]), (&json!(102), &json!(76)), "sides are even");
    let capture = told["captureId"].as_str().expect("an id");
    let file = file(&desk, capture).await;
    assert_eq!(told["file"]["size"], file.len());
    let decoded = decode(&file);
    assert_eq!((decoded.width, decoded.height), (102, 76));
    assert_eq!(told["frames"], decoded.frames.len());
    let duration = f64::from(u32::try_from(told["durationMs"].as_u64().expect("a number")).expect("small"));
    assert!((decoded.seconds - duration / 1000.0).abs() < 0.01, "{} {told:#}", decoded.seconds);
    let last = decoded.frames.len() - 1;
    assert!(last >= 2);
    for place in [(3, 3), (98, 70), (101, 75)] {
        assert!(decoded.is(0, place, BLUE), "{place:?}");
        assert!(decoded.is(last, place, 0xff_ff_ff), "{place:?}");
        assert!((0..last).any(|at| decoded.is(at, place, GREEN)), "{place:?}");
    }
    decoded.assert_without_red();
    // It is listed, and other scopes do not know it.
    let listed = desk.ask("screen.captures", None, json!({})).await;
    assert_eq!(data(&listed)["captures"][0]["durationMs"], told["durationMs"]);
    let other = desk.ask_in("other", "screen.read_capture", Some(capture), json!({"return": "facts"})).await;
    assert_eq!(refusal(&other).0, "not_found");
    let image = desk.ask("screen.read_capture", Some(capture), json!({})).await;
    assert_eq!(refusal(&image).0, "invalid_request");
    // Nor is it given once the rules for windows are others.
    desk.change(json!({"deniedWindows": [{"title": "vault"}]}));
    let later = desk.ask("screen.read_capture", Some(capture), json!({"return": "base64"})).await;
    assert_eq!(refusal(&later).2, "rules-changed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_is_not_shown_is_black_in_every_picture_also_if_it_opens_in_between() {
    let server = XServer::start();
    let client = server.client();
    let shown = client.window(Rect::new(0, 0, 200, 200), BLUE);
    let desk = ScreenScope::on(&server, json!({"deniedWindows": [{"title": "vault"}]}));
    let answer = record(&desk, None, json!({}), async |running| {
        running.pictures(1).await;
        let vault = titled(&client, Rect::new(100, 100, 150, 90), RED, "vault");
        running.pictures(2).await;
        client.place(vault, Rect::new(300, 50, 150, 90));
        running.pictures(3).await;
        client.recolour(shown, GREEN);
        running.pictures(4).await;
        running.gone.cancel();
    })
    .await;
    assert_eq!(refusal(&answer).0, "cancelled");
    // What was recorded until it was cancelled is kept.
    let capture = kept(&desk, 1).await;
    let facts = desk.ask("screen.read_capture", Some(&capture), json!({"return": "facts"})).await;
    assert_eq!(data(&facts)["blackedOut"], 1, "{facts:#}");
    let decoded = decode(&file(&desk, &capture).await);
    decoded.assert_without_red();
    assert!(decoded.is(0, (120, 120), BLUE) && decoded.frames.len() >= 4);
    let last = decoded.frames.len() - 1;
    assert!(decoded.is(last, (120, 120), GREEN) && decoded.is(last, (320, 70), 0), "it is black where it is");
}

/// Waits until there are so many recordings, and returns the id of the newest.
async fn kept(desk: &ScreenScope, count: usize) -> String {
    eventually_some("recordings are kept", async || {
        let listed = desk.ask("screen.captures", None, json!({})).await;
        let captures = data(&listed)["captures"].as_array().expect("a list").clone();
        let id = captures.first()?["file"]["captureId"].as_str()?.to_owned();
        (captures.len() == count).then_some(id)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_is_not_shown_any_more_ends_its_recording() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(0, 0, 64, 64), BLUE);
    let desk = ScreenScope::on(&server, json!({"deniedWindows": [{"title": "vault"}]}));
    let answer = record(&desk, Some(&window_id(&server, window)), json!({}), async |running| {
        running.pictures(1).await;
        client.text(window, "_NET_WM_NAME", "UTF8_STRING", b"vault");
        client.recolour(window, RED);
    })
    .await;
    let told = data(&answer);
    assert_eq!(told["ended"], "windowNotShown", "{told:#}");
    let decoded = decode(&file(&desk, told["captureId"].as_str().expect("an id")).await);
    assert!(decoded.is(0, (30, 30), BLUE));
    decoded.assert_without_red();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_recorded_is_kept_where_the_display_goes() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(0, 0, 64, 64), BLUE);
    let desk = ScreenScope::on(&server, json!({}));
    let answer = record(&desk, None, json!({"maxWidth": 320}), async |running| {
        running.pictures(1).await;
        client.recolour(window, GREEN);
        running.pictures(2).await;
        drop((client, server));
    })
    .await;
    let told = data(&answer);
    assert_eq!(told["ended"], "displayGone", "{told:#}");
    assert_eq!((&told["width"], &told["height"]), (&json!(320), &json!(240)));
    let decoded = decode(&file(&desk, told["captureId"].as_str().expect("an id")).await);
    assert!(decoded.is(0, (10, 10), BLUE) && decoded.is(decoded.frames.len() - 1, (10, 10), GREEN));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_nothing_is_drawn_there_is_one_picture_and_a_third_recording_is_refused() {
    let server = XServer::start();
    let client = server.client();
    client.window(Rect::new(0, 0, 640, 480), BLUE);
    let desk = ScreenScope::on(&server, json!({}));
    let region = json!({"x": 1, "y": 1, "width": 33, "height": 31});
    let one = record(&desk, None, json!({"region": region}), async |first| {
        first.pictures(1).await;
        let two = record(&desk, None, json!({}), async |second| {
            second.pictures(1).await;
            let third = desk.ask("screen.record", None, json!({"seconds": 1})).await;
            assert_eq!(refusal(&third).0, "conflict");
            second.gone.cancel();
        });
        assert_eq!(refusal(&two.await).0, "cancelled");
        first.gone.cancel();
    });
    assert_eq!(refusal(&one.await).0, "cancelled");
    kept(&desk, 2).await;
    // Their files are there a moment before others may record.
    let answer = eventually_some("another may be recorded", async || {
        let answer = desk.ask("screen.record", None, json!({"seconds": 1, "region": region})).await;
        (answer["error"]["code"] != "conflict").then_some(answer)
    })
    .await;
    let told = data(&answer);
    let facts = (&told["ended"], &told["frames"], &told["durationMs"]);
    assert_eq!(facts, (&json!("time"), &json!(1), &json!(1_000)), "{told:#}");
    let decoded = decode(&file(&desk, told["captureId"].as_str().expect("an id")).await);
    assert_eq!((decoded.frames.len(), decoded.width, decoded.height), (1, 34, 32));
    assert!((decoded.seconds - 1.0).abs() < 0.01);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_is_hidden_or_leaves_its_part_ends_its_recording_and_the_file_has_no_uri() {
    let server = XServer::start();
    let client = server.client();
    let desk = ScreenScope::on(&server, json!({}));
    let hidden = titled(&client, Rect::new(0, 0, 64, 64), BLUE, "notes");
    let shrunk = client.window(Rect::new(100, 0, 64, 64), BLUE);
    let part = json!({"region": {"x": 40, "y": 40, "width": 20, "height": 20}});
    for (window, options, reason) in [(hidden, json!({}), "windowHidden"), (shrunk, part, "regionOutside")] {
        let answer = record(&desk, Some(&window_id(&server, window)), options, async |running| {
            running.pictures(1).await;
            if window == hidden {
                client.connection.unmap_window(window).expect("sent");
            } else {
                client.place(window, Rect::new(100, 0, 30, 30));
            }
            client.sync();
        })
        .await;
        let told = data(&answer);
        assert_eq!(told["ended"], reason, "{told:#}");
        assert_eq!(told["file"]["uri"], Value::Null, "it cannot be read as a resource");
        let decoded = decode(&file(&desk, told["captureId"].as_str().expect("an id")).await);
        assert!(decoded.is(0, (10, 10), BLUE));
    }
}

/// Fills a window with another pattern that hardly compresses.
fn noise(client: &Client, window: u32, seed: u32) {
    let context = client.connection.generate_id().expect("a number");
    client.connection.create_gc(context, window, &CreateGCAux::new()).expect("sent");
    let mut state = seed;
    let mut bytes = vec![0; 320 * 240 * 4];
    for byte in &mut bytes {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = state.to_be_bytes()[0];
    }
    let depth = client.screen().root_depth;
    client
        .connection
        .put_image(ImageFormat::Z_PIXMAP, window, context, 320, 240, 0, 0, 0, depth, &bytes)
        .expect("sent");
    client.connection.free_gc(context).expect("sent");
    client.sync();
}

#[test]
fn a_recording_ends_at_its_size_and_what_is_there_can_be_played() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(0, 0, 320, 240), BLUE);
    let desk = ScreenScope::on(&server, json!({}));
    let scopes = Scopes::compile(&desk.config, &OwnFolders::of(&desk.dirs)).expect("good scopes");
    let progress = Progress::default();
    let order = RecordingOrder {
        displays: Arc::new(Displays::new(server.sources())),
        scope: Arc::clone(scopes.find("screen").expect("the scope")),
        target: RecordingTarget::Window(window_id(&server, window)),
        region: None,
        duration: Duration::from_secs(60),
        pause: Duration::from_millis(20),
        max_size: (1_920, 1_920),
        max_bytes: 400_000,
        cancel: Cancel::after(Duration::from_secs(60)),
        progress: progress.clone(),
    };
    let recorded = std::thread::spawn(move || recording(&order, Cursor::new(Vec::new())));
    let mut seed = 0;
    eventually("it is as large as it may be", || {
        seed += 1;
        noise(&client, window, seed);
        recorded.is_finished()
    });
    let (done, file) = recorded.join().expect("no panic").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(done.end, RecordingEnd::SizeLimit);
    let file = file.into_inner();
    // No picture is written that would make it larger; what is known of them takes the rest.
    assert!((100_000..404_000).contains(&file.len()), "{}", file.len());
    assert_eq!(decode(&file).frames.len(), done.frames);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_the_disk_takes_no_more_the_recording_fails_and_nothing_is_left() {
    const NAME: &str = "screen::record::where_the_disk_takes_no_more_the_recording_fails_and_nothing_is_left";
    // In a process of its own, whose files have at most 512 KiB.
    if std::env::var_os("BAILIWICK_TEST_SMALL_FILES").is_none() {
        let status = Command::new("sh")
            .args(["-c", "trap '' XFSZ && ulimit -S -f 1024 && exec \"$@\"", "sh"])
            .arg(std::env::current_exe().expect("this test"))
            .args(["--exact", NAME])
            .env("BAILIWICK_TEST_SMALL_FILES", "1")
            .status();
        assert!(status.expect("started").success());
        return;
    }
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(0, 0, 320, 240), BLUE);
    let desk = ScreenScope::on(&server, json!({}));
    let id = window_id(&server, window);
    let is_over = AtomicBool::new(false);
    let recorded = async {
        let answer = record(&desk, Some(&id), json!({}), async |_| {}).await;
        is_over.store(true, Ordering::Release);
        answer
    };
    let mut seed = 0;
    let drawn = eventually_async("the recording has ended", || {
        seed += 1;
        noise(&client, window, seed);
        is_over.load(Ordering::Acquire)
    });
    let (answer, ()) = tokio::join!(recorded, drawn);
    assert_eq!(refusal(&answer).0, "execution_failed", "{answer:#}");
    let message = answer["error"]["message"].as_str().expect("words");
    assert!(message.contains("the recording cannot be kept"), "{message}");
    let listed = desk.ask("screen.captures", None, json!({})).await;
    assert_eq!(data(&listed)["captures"], json!([]));
    let captures = desk.dirs.state.join("captures");
    let files = fs::read_dir(&captures).expect("the folder is there").flatten();
    assert!(files.map(|it| it.path()).all(|it| it.is_dir()), "a file is left in {}", captures.display());
}

#[test]
fn a_decoder_has_the_very_pictures_that_the_encoder_predicts_from() {
    let mut state = 1_u32;
    let mut next = move |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    for (width, height, quantizer) in [(64, 48, 12), (113, 75, 24), (16, 97, 33), (2, 2, 26), (200, 40, 51)] {
        let mut encoder = VideoEncoder::new(width, height).expect("it is small");
        let file = Cursor::new(Vec::new());
        let mut file = Mp4Writer::new(file, encoder.size(), encoder.parameters()).expect("memory");
        let (mut rgb, mut expected) = (vec![230; (width * height * 3) as usize], Vec::new());
        for frame in 0..24 {
            for _ in 0..next(4) {
                let (left, top) = (next(width), next(height));
                let (right, bottom) =
                    ((left + 1 + next(width)).min(width), (top + 1 + next(height)).min(height));
                let (kind, colour) = (next(4), [next(256), next(256), next(256)]);
                for (x, y) in (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y))) {
                    for (part, colour) in colour.into_iter().enumerate() {
                        let value = match kind {
                            0 => colour,
                            1 => colour + x * 3 + y,
                            2 => next(256),
                            _ => (x / 2 + y / 3) % 2 * 255,
                        };
                        let at = ((y * width + x) * 3) as usize + part;
                        rgb[at] = u8::try_from(value % 256).expect("below 256");
                    }
                }
            }
            let picture = Picture::new(width, height, rgb.clone()).expect("sizes agree");
            let is_key = frame % 9 == 0;
            if let Some(unit) = encoder.encode(&picture, quantizer, is_key) {
                file.write(&unit, is_key, frame * 100).expect("memory");
                expected.extend(encoder.decoded());
            }
        }
        let folder = TemporaryFolder::new();
        let (path, raw) = (folder.path().join("codec.mp4"), folder.path().join("frames"));
        fs::write(&path, file.finish(2_400).expect("memory").into_inner()).expect("a file of the test");
        let words = ["-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p"];
        let ran =
            Command::new("ffmpeg").args(["-v", "error", "-i"]).arg(&path).args(words).arg(&raw).output();
        let ran = ran.expect("ffmpeg is installed");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let is_same = fs::read(&raw).expect("ffmpeg wrote it") == expected;
        assert!(is_same, "{width}x{height} with {quantizer}");
    }
}
