//! Large and many pictures, and programs that are too large for the gate: run apart from it.

use bailiwick::platform::screen::Rect;
use serde_json::json;

use super::elements::{see, service};
use super::jobs;
use super::policy::pictures_while_a_title_changes;
use super::scope::ScreenScope;
use super::toolkits::{a_large_page_of_chromium_is_read_in, a_page_of_chromium_is_read_and_used};
use support::desktop::Desktop;
use support::screen::XServer;
use support::service::data;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_that_is_too_large_for_any_answer_is_made_smaller_and_says_so() {
    let server = XServer::with(&["-screen", "0", "1600x1200x24"]);
    let client = server.client();
    client.noisy(Rect::new(0, 0, 1600, 1200));
    let desk = ScreenScope::on(&server, json!({}));
    let whole = json!({"maxWidth": 1600, "maxHeight": 1600});
    let answer = desk.ask("screen.capture", None, whole).await;
    data(&answer);
    let sent = answer["images"][0]["base64"].as_str().expect("an image").len();
    assert!(answer.to_string().len() <= 1_000_000 && sent > 300_000, "{sent}");
    let warning = answer["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("1600x1200") && warning.contains("more than"), "{warning}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn titles_are_judged_at_the_instant_of_each_of_many_pictures() {
    pictures_while_a_title_changes(40).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_jobs_are_done_on_displays_of_three_sizes_at_two_scales() {
    for size in [(1280, 720), (1440, 900), (1920, 1080)] {
        for scale in [1, 2] {
            jobs::does_all(size, scale).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_chromium_is_read_and_used_and_is_where_it_says() {
    for scale in [1, 2] {
        a_page_of_chromium_is_read_and_used(scale).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_2000_elements_is_read_whole() {
    let (median, late) = a_large_page_of_chromium_is_read_in().await;
    support::system::tell(&format!("ui.see of 1,900 buttons in Chromium: {median:?}, {late:?} (p50, p95)"));
}

/// Returns the memory that this process has, in KiB.
fn memory() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("the system tells it");
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_observations_take_no_more_memory() {
    let desktop = Desktop::start("form", "Form");
    let host = service(&desktop, json!({}));
    let request = see(&desktop);
    let descriptors = || std::fs::read_dir("/proc/self/fd").expect("the system tells it").count();
    let mut before = (0, 0);
    for round in 0..10_000 {
        // What is kept has its bound by then.
        if round == 2_000 {
            before = (memory(), descriptors());
        }
        host.data(request.clone()).await;
    }
    let after = (memory(), descriptors());
    support::system::tell(&format!(
        "KiB and descriptors after 2,000 observations {before:?}, after 10,000 {after:?}"
    ));
    assert!(after.0 < before.0 + (4 << 10) && after.1 <= before.1 + 2, "{before:?} {after:?}");
}
