//! Figures of captures on a display of 1920x1080: `cargo bench --bench measure screen` (needs Xvfb; scrot to compare with
//! it).
//!
//! Goals, as medians: a raw capture takes at most 1.3 times a copy of its bytes in memory; a picture as PNG in an
//! answer at most 0.15 times scrot. `BAILIWICK_BENCH_PEER` names another program that captures the display to PNG and prints
//! the milliseconds it took; at most 0.6 times that. Ends with 1 if a goal is missed. Beside the time on the clock
//! stands the processor's time of this thread, which tells more while the computer is busy.

use std::fs;
use std::hint::black_box;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use bailiwick::platform::screen::{Displays, Rect, Sources};
use bailiwick::providers::screen::{Format, Picture, encode, scale};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    ConnectionExt as _, CreateGCAux, CreateWindowAux, ImageFormat, Rectangle, WindowClass,
};
use x11rb::rust_connection::{DefaultStream, RustConnection};
use x11rb::wrapper::ConnectionExt as _;

use crate::fixture::{Folder, median};

const WIDTH: u16 = 1920;
const HEIGHT: u16 = 1080;
const ROUNDS: usize = 60;

/// Measures it.
pub fn run(_: &[String]) -> ExitCode {
    let Some(desk) = DesktopFixture::start() else {
        println!("Xvfb cannot be started: install it (on Debian: apt-get install xvfb)");
        return ExitCode::SUCCESS;
    };
    let displays = Displays::new(desk.sources());
    let first = Instant::now();
    let listing = displays.list().expect("a listing");
    println!("first list, with the connection: {:.2?}, {} windows", first.elapsed(), listing.windows.len());
    let capture = |region| displays.capture_display(&desk.id, region).expect("a picture");

    let frame_bytes = usize::from(WIDTH) * usize::from(HEIGHT) * 4;
    let source = vec![1_u8; frame_bytes];
    let mut target = source.clone();
    let mut copies = Vec::new();
    let mut raws = Vec::new();
    for _ in 0..ROUNDS {
        copies.push(timed(|| target.copy_from_slice(black_box(&source))));
        raws.push(timed(|| drop(black_box(capture(None)))));
    }
    let (copy, raw) = (show("memcpy of a frame", copies), show("raw capture", raws));
    show("raw capture of 400x300", rounds(|| drop(black_box(capture(Some(Rect::new(0, 0, 400, 300)))))));
    show("list", rounds(|| drop(black_box(displays.list()))));
    show("capture to red, green, blue", rounds(|| drop(black_box(Picture::of(&capture(None))))));
    let picture = Picture::of(&capture(None)).expect("a picture");
    for format in [Format::Png, Format::Webp, Format::Jpeg { quality: 80 }] {
        let bytes = encode(&picture, format).expect("it is encoded").len();
        let name = format!("encode {} ({} kB)", format.media_type(), bytes / 1000);
        show(&name, rounds(|| drop(black_box(encode(&picture, format)))));
    }
    show("scale to 1568", rounds(|| drop(black_box(scale(picture.clone(), 1568, 1568)))));

    let (mut ours, mut scrots, mut peers) = (Vec::new(), Vec::new(), Vec::new());
    let peer = std::env::var_os("BAILIWICK_BENCH_PEER");
    for _ in 0..ROUNDS / 3 {
        ours.push(timed(|| {
            let picture = Picture::of(&capture(None)).expect("a picture");
            black_box(STANDARD.encode(encode(&picture, Format::Png).expect("it is encoded")));
        }));
        scrots.extend(desk.scrot());
        peers.extend(peer.as_ref().and_then(|program| desk.peer(program)));
    }
    let ours = show("to PNG as base64", ours);
    let scrot = (!scrots.is_empty()).then(|| show("scrot", scrots));
    let peer = (!peers.is_empty()).then(|| show("the peer", peers));

    let mut missed = goal("raw capture / memcpy", raw, copy, 1.3);
    if let Some(scrot) = scrot {
        missed |= goal("to PNG / scrot", ours, scrot, 0.15);
    }
    if let Some(peer) = peer {
        missed |= goal("to PNG / the peer", ours, peer, 0.6);
    }
    if missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Time on the clock, and the processor's time of this thread.
type Took = (Duration, Duration);

fn timed(act: impl FnOnce()) -> Took {
    let before = processor();
    let clock = Instant::now();
    act();
    (clock.elapsed(), processor().saturating_sub(before))
}

fn processor() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split(' ').next().and_then(|value| value.parse().ok()).unwrap_or(0))
}

fn rounds(mut act: impl FnMut()) -> Vec<Took> {
    (0..ROUNDS).map(|_| timed(&mut act)).collect()
}

/// Prints medians, and gives that of the time on the clock.
fn show(name: &str, took: Vec<Took>) -> Duration {
    let (mut clock, mut processor): (Vec<Duration>, Vec<Duration>) = took.into_iter().unzip();
    let clock = median(&mut clock);
    println!("{name:<32} {clock:>10.2?}   this thread {:>10.2?}", median(&mut processor));
    clock
}

fn goal(name: &str, ours: Duration, other: Duration, most: f64) -> bool {
    let ratio = ours.as_secs_f64() / other.as_secs_f64();
    let missed = ratio > most;
    println!("{name}: {ratio:.2}, goal {most}{}", if missed { ", MISSED" } else { "" });
    missed
}

/// A display with a wallpaper like a photograph and windows with something like text.
struct DesktopFixture {
    server: Child,
    folder: Folder,
    id: String,
    _painted: RustConnection,
}

impl DesktopFixture {
    fn start() -> Option<Self> {
        let number = 21_000 + std::process::id() % 10_000;
        let socket = format!("/tmp/.X11-unix/X{number}");
        let server = Command::new("Xvfb")
            .args([&format!(":{number}"), "-screen", "0", &format!("{WIDTH}x{HEIGHT}x24")])
            .args(["-noreset", "-extension", "GLX", "-nolisten", "tcp"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let stream = loop {
            match std::os::unix::net::UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let (stream, _) = DefaultStream::from_unix_stream(stream).ok()?;
        let connection = RustConnection::connect_to_stream(stream, 0).ok()?;
        paint(&connection);
        let folder = Folder::make();
        symlink(socket, folder.join(format!("X{number}"))).ok()?;
        Some(Self { server, folder, id: format!(":{number}"), _painted: connection })
    }

    fn sources(&self) -> Sources {
        Sources { sockets: self.folder.to_path_buf(), ..Sources::default() }
    }

    fn scrot(&self) -> Option<Took> {
        let file = self.folder.join("scrot.png");
        let mut took = None;
        let clock = Instant::now();
        let done = Command::new("scrot").arg("-o").arg(&file).env("DISPLAY", &self.id).status();
        if done.is_ok_and(|status| status.success()) {
            took = Some((clock.elapsed(), Duration::ZERO));
        }
        took
    }

    fn peer(&self, program: &std::ffi::OsStr) -> Option<Took> {
        let output = Command::new(program).env("DISPLAY", &self.id).output().ok()?;
        let milliseconds: f64 = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
        Some((Duration::from_secs_f64(milliseconds / 1000.0), Duration::ZERO))
    }
}

impl Drop for DesktopFixture {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn paint(connection: &RustConnection) {
    let screen = &connection.setup().roots[0];
    let [pixmap, pen, wall] = [0; 3].map(|_| connection.generate_id().expect("a number"));
    connection.create_pixmap(24, pixmap, screen.root, WIDTH, HEIGHT).expect("sent");
    connection.create_gc(pen, pixmap, &CreateGCAux::new()).expect("sent");
    for y in 0..HEIGHT {
        let row: Vec<u8> = (0..WIDTH).flat_map(|x| photograph(x, y)).collect();
        let at = i16::try_from(y).expect("small");
        connection.put_image(ImageFormat::Z_PIXMAP, pixmap, pen, WIDTH, 1, 0, at, 0, 24, &row).expect("sent");
    }
    let show = |window, (x, y), (width, height), look: &CreateWindowAux| {
        let kind = WindowClass::INPUT_OUTPUT;
        connection
            .create_window(0, window, screen.root, x, y, width, height, 0, kind, 0, look)
            .expect("sent");
        connection.map_window(window).expect("sent");
    };
    show(wall, (0, 0), (WIDTH, HEIGHT), &CreateWindowAux::new().background_pixmap(pixmap));
    for place in 0..4_i16 {
        let window = connection.generate_id().expect("a number");
        let at = (120 + place * 260, 90 + place * 120);
        show(window, at, (700, 450), &CreateWindowAux::new().background_pixel(0xf8_f8f8));
        let text = connection.generate_id().expect("a number");
        connection.create_gc(text, window, &CreateGCAux::new().foreground(0x20_2020)).expect("sent");
        connection.poly_fill_rectangle(window, text, &strokes()).expect("sent");
    }
    connection.sync().expect("the server answers");
}

/// Wood, more or less: slow waves with a fine grain.
fn photograph(x: u16, y: u16) -> [u8; 4] {
    let (across, down) = (f32::from(x), f32::from(y));
    let grain = (u32::from(x) * 7 + u32::from(y) * 13 + ((u32::from(x) * u32::from(y)) >> 9)) % 2;
    let wave = (across * 0.01).sin() * 30.0 + (down * 0.07 + (across * 0.004).sin() * 8.0).sin() * 25.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
    let [blue, green, red] =
        [70.0, 110.0, 150.0].map(|base: f32| (base + wave + grain as f32).clamp(0.0, 255.0) as u8);
    [blue, green, red, 0]
}

fn strokes() -> Vec<Rectangle> {
    let mut strokes = Vec::new();
    let mut state = 7_u32;
    for line in 0..22_i16 {
        let mut x = 12;
        while x < 670 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let width = 2 + i16::try_from(state >> 29).expect("below 8");
            let lower = i16::try_from(state >> 24 & 7).expect("below 8");
            let y = 12 + line * 19;
            strokes.push(Rectangle { x, y, width: 2, height: 9 });
            strokes.push(Rectangle { x, y: y + lower, width: width.unsigned_abs(), height: 2 });
            x += width + 4;
        }
    }
    strokes
}
