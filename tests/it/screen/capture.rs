//! Pictures of displays: every pixel, every depth, and nothing that moved between pixels and geometry.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use bailiwick::platform::screen::{Content, Rect, ScreenError};
use bailiwick::providers::screen::{Format, Picture, black_out, encode};

use crate::patience::PATIENCE;
use support::screen::{XServer, assert_pixels, pattern, picture, window_id};

#[test]
fn a_display_is_captured_pixel_by_pixel() {
    let server = XServer::start();
    let client = server.client();
    let place = Rect::new(31, 22, 203, 151);
    let window = client.patterned(place);
    let frame = server.displays().capture_display(&server.id(), None).expect("a picture");
    assert_eq!((frame.width, frame.height, frame.content), (640, 480, Content::Display));
    assert_eq!(frame.bounds(), Rect::new(0, 0, 640, 480));
    assert_eq!(
        frame.windows.iter().map(|it| it.id.clone()).collect::<Vec<_>>(),
        [window_id(&server, window)]
    );
    let picture = picture(&frame);
    assert_pixels(&picture, place, pattern);
    for outside in Rect::new(0, 0, 640, 480).without(&place) {
        assert_pixels(&picture, outside, |_, _| [0, 0, 0]);
    }
    // The file holds the same pixels.
    let file = encode(&picture, Format::Png).expect("it is encoded");
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG");
    let mut pixels = vec![0; reader.output_buffer_size().expect("it is known")];
    reader.next_frame(&mut pixels).expect("it decodes");
    assert!(pixels == picture.rgb());
}

#[test]
fn a_region_is_counted_from_the_corner_of_what_is_captured() {
    let server = XServer::start();
    let client = server.client();
    let window = client.patterned(Rect::new(100, 50, 200, 150));
    let displays = server.displays();
    let region = Rect::new(110, 70, 33, 17);
    let frame = displays.capture_display("primary", Some(region)).expect("a picture");
    assert_eq!(frame.bounds(), region);
    assert_pixels(&picture(&frame), Rect::new(0, 0, 33, 17), |x, y| pattern(x + 10, y + 20));

    let region = Rect::new(5, 6, 40, 30);
    let frame = displays.capture_window(&window_id(&server, window), Some(region)).expect("a picture");
    assert_eq!(frame.bounds(), Rect::new(105, 56, 40, 30));
    assert_pixels(&picture(&frame), Rect::new(0, 0, 40, 30), |x, y| pattern(x + 5, y + 6));

    for region in [Rect::new(600, 0, 41, 1), Rect::new(-1, 0, 5, 5), Rect::new(0, 0, 0, 5)] {
        let bounds = Rect::new(0, 0, 640, 480);
        let error = displays.capture_display(&server.id(), Some(region)).expect_err("it is outside");
        assert_eq!(error, ScreenError::Outside { region, bounds });
    }
}

#[test]
fn a_server_that_shares_no_memory_gives_the_same_pixels() {
    let server = XServer::with(&["-screen", "0", "640x480x24", "-extension", "MIT-SHM"]);
    let client = server.client();
    assert!(!client.has("MIT-SHM"));
    let place = Rect::new(11, 12, 203, 151);
    client.patterned(place);
    let frame = server.displays().capture_display(&server.id(), None).expect("a picture");
    assert_pixels(&picture(&frame), place, pattern);
}

#[test]
fn displays_of_other_depths_are_read_or_refused() {
    for (depth, [red, green, blue]) in
        [(16, [0xf800, 0x07e0, 0x001f]), (30, [0x3ff0_0000, 0x000f_fc00, 0x3ff])]
    {
        let server = XServer::with(&["-screen", "0", &format!("320x240x{depth}")]);
        let client = server.client();
        assert_eq!(client.screen().root_depth, depth);
        let window = client.window(Rect::new(0, 0, 100, 240), red);
        client.window(Rect::new(100, 0, 101, 240), green);
        client.window(Rect::new(201, 0, 50, 240), blue);
        let displays = server.displays();
        let all = picture(&displays.capture_display(&server.id(), None).expect("a picture"));
        assert_pixels(&all, Rect::new(0, 0, 100, 240), |_, _| [255, 0, 0]);
        assert_pixels(&all, Rect::new(100, 0, 101, 240), |_, _| [0, 255, 0]);
        assert_pixels(&all, Rect::new(201, 0, 50, 240), |_, _| [0, 0, 255]);
        let one = picture(&displays.capture_window(&window_id(&server, window), None).expect("a picture"));
        assert_pixels(&one, Rect::new(0, 0, 100, 240), |_, _| [255, 0, 0]);
    }
    let server = XServer::with(&["-screen", "0", "320x240x8"]);
    let error = server.displays().capture_display(&server.id(), None).expect_err("a table of colours");
    assert!(matches!(error, ScreenError::PixelFormat { .. }), "{error:?}");
}

#[test]
fn several_pictures_may_be_held_at_once() {
    let server = XServer::start();
    let client = server.client();
    let window = client.window(Rect::new(0, 0, 640, 480), 0xff_0000);
    let displays = server.displays();
    let colours = [0xff_0000, 0x00_ff00, 0x00_00ff];
    let frames = colours.map(|colour| {
        client.recolour(window, colour);
        displays.capture_display(&server.id(), None).expect("a picture")
    });
    for (frame, expected) in frames.iter().zip([[255, 0, 0], [0, 255, 0], [0, 0, 255]]) {
        assert_eq!(picture(frame).pixel(320, 240), Some(expected));
    }
}

/// A window that must not be seen moves, grows and changes its place in the pile all the time. With the rectangle
/// that came with each picture, nothing of it is left.
#[test]
fn a_window_that_moves_all_the_time_is_always_where_the_frame_says() {
    const SECRET: [u8; 3] = [250, 20, 30];
    let server = XServer::start();
    let client = server.client();
    client.window(Rect::new(0, 0, 640, 480), 0x10_80_10);
    let secret = client.window(Rect::new(0, 0, 60, 40), 0xfa_14_1e);
    let id = window_id(&server, secret);
    let displays = server.displays();
    let stop = AtomicBool::new(false);
    let mut places = std::collections::BTreeSet::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut step: u32 = 0;
            while !stop.load(Ordering::Relaxed) {
                step = step.wrapping_add(1);
                let at = |value: u32| i32::try_from(value).expect("small");
                let place =
                    Rect::new(at(step * 13 % 560), at(step * 7 % 430), 40 + step % 41, 20 + step % 31);
                client.place(secret, place);
            }
        });
        let began = Instant::now();
        // Often enough, and until it was met at many places.
        let mut pictures = 0;
        while pictures < 60 || (places.len() <= 20 && began.elapsed() < *PATIENCE) {
            pictures += 1;
            let frame = displays.capture_display(&server.id(), None).expect("a picture");
            let shown = frame.windows.iter().find(|window| window.id == id).expect("it is there");
            let mut picture = picture(&frame);
            let seen = count(&picture, SECRET);
            assert_eq!(
                u64::try_from(seen).expect("small"),
                shown.frame.pixels(),
                "all of it, and only there"
            );
            black_out(&mut picture, &[shown.frame]);
            assert_eq!(count(&picture, SECRET), 0);
            places.insert((shown.frame.x, shown.frame.y));
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(places.len() > 20, "it moved between pictures: {}", places.len());
}

fn count(picture: &Picture, colour: [u8; 3]) -> usize {
    picture.rgb().chunks_exact(3).filter(|pixel| **pixel == colour).count()
}
