//! Finding, selecting, unfolding, scrolling, menus and checks on a real window of GTK, which prints what it receives.

use serde_json::{Value, json};
use x11rb::protocol::xproto::ConnectionExt as _;

use super::elements::{element, lines, press, see, service};
use super::scope::refusal;
use support::desktop::Desktop;
use support::service::{TestService, data};

/// A request about a window, an element or a snapshot.
pub(super) fn ask(op: &str, target: &str, input: Value) -> Value {
    json!({"scope": "app", "op": op, "target": target, "input": input})
}

async fn find(host: &TestService, desktop: &Desktop, input: Value) -> Value {
    host.data(ask("ui.find", &desktop.window(), input)).await
}

/// Returns the element that is plainly meant.
pub(super) async fn found(host: &TestService, desktop: &Desktop, input: Value) -> String {
    let answer = find(host, desktop, input).await;
    assert_eq!(answer["outcome"], "found", "{answer:#}");
    answer["element"].as_str().expect("an element").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_is_found_by_its_words_and_by_what_is_near_it_or_not_at_all() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let phone = found(&host, &desktop, json!({"roles": ["text field"], "near": "phone:"})).await;
    let set = ask("ui.set_value", &phone, json!({"value": "112"}));
    assert_eq!(host.data(set).await["effect"], "confirmed");
    let seen = host.data(see(&desktop)).await;
    let fields: Vec<String> = lines(&seen).into_iter().filter(|line| line.contains("text field")).collect();
    assert!(fields.iter().any(|line| line.contains("\"112\"")), "{fields:?}");
    // Two of one name, a name that nothing has, anchors that are none or two.
    for (input, outcome) in [
        (json!({"text": "Twin"}), "unclear"),
        (json!({"text": "Publish", "roles": ["button"]}), "none"),
        (json!({"roles": ["text field"], "near": "Fax"}), "noAnchor"),
        (json!({"roles": ["text field"], "near": "Twin"}), "severalAnchors"),
    ] {
        let answer = find(&host, &desktop, input).await;
        assert_eq!((&answer["outcome"], &answer["element"]), (&json!(outcome), &Value::Null), "{answer:#}");
    }
    let two = find(&host, &desktop, json!({"text": "Twin"})).await;
    assert!(two["candidates"].as_array().is_some_and(|all| all.len() >= 2), "{two:#}");
    // In rows, the button of the row that is named, and never that of the one above.
    desktop.received();
    let mut list = Desktop::start("list", "List");
    let host = service(&list, json!({}));
    for key in ["2", "3"] {
        let input = json!({"text": "delete", "roles": ["button"], "near": format!("Item {key}")});
        let delete = found(&host, &list, input).await;
        host.data(press(&delete)).await;
        assert_eq!(list.received(), [format!("pressed Delete {key}")]);
    }
    assert_eq!(find(&host, &list, json!({"text": "Delete"})).await["outcome"], "unclear");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn items_of_lists_combo_boxes_and_tabs_are_selected_by_name_or_not_at_all() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let seen = host.data(see(&desktop)).await;
    let combo = element(&seen, "combo box");
    let select = |target: &str, item: &str| ask("ui.select", target, json!({"item": item}));
    let answer = host.data(select(&combo, "Landscape")).await;
    assert_eq!(answer["effect"], "confirmed", "{answer:#}");
    assert_eq!(desktop.received(), ["layout Landscape"]);
    // It is called otherwise now, so what was seen is not there any more.
    assert_eq!(refusal(&host.send(select(&combo, "Portrait")).await).0, "element_not_found");
    let combo = found(&host, &desktop, json!({"roles": ["combo box"]})).await;
    let again = host.data(select(&combo, "Landscape")).await;
    assert_eq!((&again["effect"], &again["path"]), (&json!("confirmed"), &json!("none")), "{again:#}");
    let twins = host.send(select(&combo, "Twin")).await;
    assert_eq!(refusal(&twins).0, "ambiguous_target");
    assert_eq!(twins["error"]["details"]["candidates"].as_array().map(Vec::len), Some(2), "{twins:#}");
    let missing = host.send(select(&combo, "landscape")).await;
    assert_eq!(refusal(&missing).0, "element_not_found");
    assert!(missing["error"]["details"]["candidates"].to_string().contains("Landscape"), "{missing:#}");
    assert_eq!(desktop.received(), Vec::<String>::new());

    let tab = element(&seen, "tab \"Colors\"");
    let answer = host.data(ask("ui.select", &tab, json!({}))).await;
    assert_eq!(
        (&answer["effect"], &answer["path"]),
        (&json!("confirmed"), &json!("selection")),
        "{answer:#}"
    );
    assert_eq!(desktop.received(), ["page 1"]);

    // A row has no name of its own: that of its label is its name.
    let rows = host.data(json!({"scope": "app", "op": "ui.see", "target": desktop.window(), "input": {"roles": ["list item"]}}));
    let rows = rows.await;
    let second = lines(&rows)[1].split(' ').next().expect("an id").to_owned();
    let second = format!("{second}@{}", rows["snapshot"].as_str().expect("a snapshot"));
    let answer = host.data(ask("ui.select", &second, json!({}))).await;
    assert_eq!(answer["effect"], "confirmed", "{answer:#}");
    assert_eq!(desktop.received(), ["row Two"]);
    let button = host.send(ask("ui.select", &element(&seen, "\"More\""), json!({}))).await;
    assert_eq!(refusal(&button).0, "unsupported_action");
    assert_eq!(desktop.received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_folds_is_opened_and_closed_and_what_is_so_already_is_left() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let more = found(&host, &desktop, json!({"text": "More"})).await;
    let expand = |open: bool| ask("ui.expand", &more, json!({"open": open}));
    let mut dry = expand(true);
    dry["options"] = json!({"dryRun": true});
    assert_eq!(host.data(dry).await["effect"], Value::Null);
    let closed = host.data(expand(false)).await;
    assert_eq!((&closed["effect"], &closed["path"]), (&json!("confirmed"), &json!("none")), "{closed:#}");
    assert_eq!(desktop.received(), Vec::<String>::new());
    assert_eq!(host.data(expand(true)).await["effect"], "confirmed");
    assert_eq!(host.data(expand(false)).await["effect"], "confirmed");
    assert_eq!(desktop.received(), ["more True", "more False"]);
    let tab = found(&host, &desktop, json!({"text": "Colors", "roles": ["tab"]})).await;
    assert_eq!(refusal(&host.send(ask("ui.expand", &tab, json!({}))).await).0, "unsupported_action");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_out_of_view_is_found_scrolled_to_and_only_then_pressed() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let answer = find(&host, &desktop, json!({"text": "Far 33", "roles": ["button"]})).await;
    let far = answer["element"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned();
    assert!(answer["candidates"][0].as_str().is_some_and(|it| it.contains(" out-of-view")), "{answer:#}");
    let early = host.send(press(&far)).await;
    assert_eq!(refusal(&early).0, "element_not_found");
    assert!(early.to_string().contains("ui.scroll_to"), "{early:#}");
    let scrolled = host.data(ask("ui.scroll_to", &far, json!({}))).await;
    assert_eq!(scrolled["effect"], "confirmed", "{scrolled:#}");
    let again = host.data(ask("ui.scroll_to", &far, json!({}))).await;
    assert_eq!((&again["effect"], &again["path"]), (&json!("confirmed"), &json!("none")), "{again:#}");
    host.data(press(&far)).await;
    assert_eq!(desktop.received(), ["pressed far 33"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entries_of_menus_are_chosen_by_their_whole_path_without_opening_anything() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let menus = host.data(ask("menu.list", &desktop.window(), json!({}))).await;
    let entries = menus["entries"].as_array().expect("entries");
    for expected in [
        "\"File\" ▸",
        "  \"Save as…\"",
        "  \"Print\" disabled",
        "  \"Recent\" ▸",
        "    \"a.txt\"",
        "  \"Ruler\"",
    ] {
        assert!(entries.contains(&json!(expected)), "{expected}: {menus:#}");
    }
    let part = host.data(ask("menu.list", &desktop.window(), json!({"path": ["File", "Recent"]}))).await;
    let part = part["entries"].as_array().expect("entries");
    assert!(part.len() == 2 && part.contains(&json!("\"a.txt\"")), "{part:?}");
    let snapshot = menus["snapshot"].as_str().expect("a snapshot");
    let choose = |path: &[&str]| ask("menu.select", snapshot, json!({"path": path}));
    let windows =
        || desktop.server.displays().list().expect("a listing").windows.iter().filter(|it| it.mapped).count();
    let before = windows();
    let answer = host.data(choose(&["View", "Ruler"])).await;
    assert_eq!(answer["effect"], "confirmed", "{answer:#}");
    host.data(choose(&["File", "Save as"])).await;
    host.data(choose(&["File", "Recent", "b.txt"])).await;
    assert_eq!(windows(), before, "a menu has opened");
    assert_eq!(desktop.received(), ["menu Ruler True", "menu Save as…", "menu b.txt"]);
    for (path, code, candidates) in [
        (&["File", "Print"][..], "element_disabled", None),
        (&["View", "Twice"], "ambiguous_target", Some(r#"["\"Twice\"","\"Twice\""]"#)),
        (&["File", "Recent", "c.txt"], "element_not_found", Some(r#"["\"a.txt\"","\"b.txt\""]"#)),
        (&["File", "Recent"], "invalid_request", None),
        (&[], "invalid_request", None),
    ] {
        let answer = host.send(choose(path)).await;
        assert_eq!(refusal(&answer).0, code, "{path:?}");
        let named = answer["error"]["details"]["candidates"].as_array().map(|all| json!(all).to_string());
        assert_eq!(named.as_deref(), candidates, "{path:?}");
    }
    assert_eq!(desktop.received(), Vec::<String>::new());
    desktop.change("title My vault");
    let closed = service(&desktop, json!({"deniedWindows": [{"title": "*vault*"}]}));
    let hidden = closed.send(ask("menu.list", &desktop.window_of("My vault"), json!({}))).await;
    assert_eq!(refusal(&hidden), ("permission_denied", "screen", "denied-windows"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_element_is_described_named_by_its_point_and_its_actions_are_done_by_name() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let seen = host.data(see(&desktop)).await;
    let tab = element(&seen, "tab \"Colors\"");
    let about = host.data(ask("ui.inspect", &tab, json!({}))).await;
    let line = about["element"].as_str().expect("a line");
    assert!(line.starts_with("tab \"Colors\""), "{about:#}");
    let inside = about["inside"].as_array().expect("what it is in");
    assert_eq!(inside.last(), Some(&json!("window \"Widgets\"")), "{about:#}");
    let place = line.split_once('[').expect("a place").1.trim_end_matches(']');
    let place: Vec<i32> = place.split(' ').map(|it| it.parse().expect("a number")).collect();
    let point = json!({"x": place[0] + place[2] / 2, "y": place[1] + place[3] / 2});
    let there = host.data(ask("ui.element_at", &desktop.window(), point)).await;
    assert!(there["element"].as_str().is_some_and(|it| it.contains("\"Colors\"")), "{there:#}");
    let outside = host.send(ask("ui.element_at", &desktop.window(), json!({"x": 5000, "y": 5000}))).await;
    assert_eq!(refusal(&outside).0, "invalid_request");

    let mail = found(&host, &desktop, json!({"roles": ["text field"], "near": "Mail"})).await;
    let about = host.data(ask("ui.inspect", &mail, json!({}))).await;
    assert_eq!(about["actions"], json!(["activate"]), "{about:#}");
    let unknown = host.send(ask("ui.action", &mail, json!({"name": "explode"}))).await;
    assert_eq!(refusal(&unknown).0, "unsupported_action");
    assert_eq!(unknown["error"]["details"]["available"], json!(["activate"]), "{unknown:#}");
    assert_eq!(desktop.received(), Vec::<String>::new());
    host.data(ask("ui.action", &mail, json!({"name": "Activate"}))).await;
    assert_eq!(desktop.received(), ["sent"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_keyboard_moves_only_within_the_window_that_the_user_works_in() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let root = desktop.client.screen().root;
    let other = desktop.client.window(bailiwick::platform::screen::Rect::new(700, 10, 200, 100), 0xff);
    let connection = &desktop.client.connection;
    let time = x11rb::CURRENT_TIME;
    connection.set_input_focus(x11rb::protocol::xproto::InputFocus::PARENT, other, time).expect("sent");
    desktop.client.sync();
    let keyboard = || {
        let focus = desktop.client.connection.get_input_focus().expect("sent").reply().expect("an answer");
        let pointer =
            desktop.client.connection.query_pointer(root).expect("sent").reply().expect("an answer");
        (focus.focus, pointer.root_x, pointer.root_y)
    };
    let phone = found(&host, &desktop, json!({"roles": ["text field"], "near": "Phone"})).await;
    let before = keyboard();
    let refused = host.send(ask("ui.focus", &phone, json!({}))).await;
    assert_eq!(refusal(&refused).0, "unsupported_action");
    assert_eq!(keyboard(), before, "another window has the keyboard");
    desktop.activate();
    let focused = host.data(ask("ui.focus", &phone, json!({}))).await;
    assert_eq!(focused["effect"], "confirmed", "{focused:#}");
    let label = found(&host, &desktop, json!({"text": "Phone", "roles": ["label"]})).await;
    assert_eq!(refusal(&host.send(ask("ui.focus", &label, json!({}))).await).0, "unsupported_action");
    desktop.received();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn selecting_unfolding_scrolling_and_menus_change_neither_pointer_nor_focus_nor_clipboard() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let root = desktop.client.screen().root;
    let other = desktop.client.window(bailiwick::platform::screen::Rect::new(700, 10, 200, 100), 0xff);
    let connection = &desktop.client.connection;
    let time = x11rb::CURRENT_TIME;
    connection.set_input_focus(x11rb::protocol::xproto::InputFocus::PARENT, other, time).expect("sent");
    let clipboard = desktop.client.atom("CLIPBOARD");
    connection.set_selection_owner(other, clipboard, time).expect("sent");
    connection.warp_pointer(x11rb::NONE, root, 0, 0, 0, 0, 300, 200).expect("sent");
    desktop.client.sync();
    let state = || {
        let connection = &desktop.client.connection;
        let pointer = connection.query_pointer(root).expect("sent").reply().expect("an answer");
        let focus = connection.get_input_focus().expect("sent").reply().expect("an answer").focus;
        let owner =
            connection.get_selection_owner(clipboard).expect("sent").reply().expect("an answer").owner;
        (pointer.root_x, pointer.root_y, pointer.mask, focus, owner)
    };
    let before = state();
    let combo = found(&host, &desktop, json!({"roles": ["combo box"]})).await;
    let tab = found(&host, &desktop, json!({"text": "Colors", "roles": ["tab"]})).await;
    let more = found(&host, &desktop, json!({"text": "More"})).await;
    let far = found(&host, &desktop, json!({"text": "Far 33", "roles": ["button"]})).await;
    let snapshot = far.split_once('@').expect("a snapshot").1.to_owned();
    for (op, target, input) in [
        ("ui.select", &combo, json!({"item": "Landscape"})),
        ("ui.select", &tab, json!({})),
        ("ui.expand", &more, json!({})),
        ("ui.scroll_to", &far, json!({})),
        ("menu.select", &snapshot, json!({"path": ["View", "Ruler"]})),
    ] {
        let answer = host.data(ask(op, target, input)).await;
        assert_eq!(answer["effect"], "confirmed", "{op}: {answer:#}");
    }
    assert_eq!(state(), before);
    desktop.received();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_text_is_read_page_by_page_and_no_secret_is_in_it() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({}));
    let notes = found(&host, &desktop, json!({"text": "Notes"})).await;
    let whole: Vec<String> = (0..400).map(|at| format!("line {at}")).collect();
    let (mut text, mut cursor) = (String::new(), None);
    for _ in 0..10 {
        let mut page = ask("ui.read", &notes, json!({}));
        page["options"] = json!({"maxOutputBytes": 2_500, "cursor": cursor});
        if cursor.is_none() {
            page["options"].as_object_mut().expect("an object").remove("cursor");
        }
        let page = host.data(page).await;
        text.push_str(page["text"].as_str().expect("a text"));
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(text, format!("Notes: {}", whole.join("\n")));
    let mut other = ask("ui.read", &notes, json!({}));
    other["options"] = json!({"cursor": "10.000000000000"});
    assert_eq!(refusal(&host.send(other).await).0, "conflict");
    let all = host.data(ask("ui.read", &desktop.window(), json!({}))).await;
    let all = all["text"].as_str().expect("a text").to_owned();
    assert!(all.contains("The page General") && all.contains("line 399"), "{all}");
    desktop.received();

    let mut form = Desktop::start("form", "Form");
    let host = service(&form, json!({}));
    let all = host.data(ask("ui.read", &form.window(), json!({}))).await;
    assert!(all.to_string().contains("Password") && !all.to_string().contains("hunter2"), "{all:#}");
    let secret = found(&host, &form, json!({"roles": ["password field"]})).await;
    for op in ["ui.read", "ui.inspect", "ui.focus", "ui.scroll_to", "ui.select", "ui.expand"] {
        assert_eq!(refusal(&host.send(ask(op, &secret, json!({}))).await).0, "secure_field", "{op}");
    }
    let action = host.send(ask("ui.action", &secret, json!({"name": "activate"}))).await;
    assert_eq!(refusal(&action).0, "secure_field");
    assert_eq!(form.received(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conditions_are_met_not_met_or_unknown_and_silence_is_not_absence() {
    let mut desktop = Desktop::start("form", "Form");
    let host = service(&desktop, json!({}));
    let verify = |conditions: Value| ask("ui.verify", &desktop.window(), json!({"conditions": conditions}));
    let checked = host
        .data(verify(json!([
            {"text": "agree", "state": "unchecked"},
            {"text": "not saved", "absent": true},
            {"roles": ["dialog"], "absent": true},
        ])))
        .await;
    let verdicts: Vec<&Value> =
        checked["each"].as_array().expect("each").iter().map(|it| &it["verdict"]).collect();
    assert_eq!(verdicts, ["met", "notMet", "met"], "{checked:#}");
    assert_eq!(checked["verdict"], "notMet");
    let met = host.data(verify(json!([{"text": "Save", "state": "enabled"}]))).await;
    assert_eq!(met["verdict"], "met", "{met:#}");
    assert!(met["each"][0]["element"].as_str().is_some_and(|it| it.starts_with("button")), "{met:#}");
    // A secret is no value.
    let secret = host.data(verify(json!([{"value": "hunter2"}]))).await;
    assert_eq!(secret["verdict"], "notMet", "{secret:#}");
    for wrong in [json!([]), json!([{}]), json!([{"absent": true}])] {
        assert_eq!(refusal(&host.send(verify(wrong)).await).0, "invalid_request");
    }
    let absent = verify(json!([{"text": "no such thing", "absent": true}]));
    assert_eq!(host.data(absent.clone()).await["verdict"], "met");
    desktop.signal(rustix::process::Signal::STOP);
    let silent = host.data(absent).await;
    assert_eq!(silent["verdict"], "unknown", "{silent:#}");
    desktop.signal(rustix::process::Signal::CONT);
    desktop.received();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_new_reads_or_acts_in_hidden_windows_and_terminals() {
    let mut desktop = Desktop::start("widgets", "Widgets");
    let host = service(&desktop, json!({"deniedWindows": [{"title": "*vault*"}]}));
    let window = desktop.window();
    let tab = found(&host, &desktop, json!({"text": "Colors", "roles": ["tab"]})).await;
    let notes = found(&host, &desktop, json!({"text": "Notes"})).await;
    let snapshot = tab.split_once('@').expect("a snapshot").1.to_owned();
    let number = u32::from_str_radix(window.rsplit_once("/0x").expect("a window").1, 16).expect("a number");
    let acting = [
        ("ui.select", &tab, json!({})),
        ("ui.focus", &tab, json!({})),
        ("ui.expand", &tab, json!({})),
        ("ui.scroll_to", &tab, json!({})),
        ("ui.action", &tab, json!({"name": "switch"})),
        ("ui.scroll", &notes, json!({"direction": "down"})),
        ("ui.scroll", &window, json!({"direction": "down"})),
        ("ui.step", &notes, json!({"by": 1})),
        ("ui.type", &notes, json!({"text": "rm -rf ."})),
        ("menu.select", &snapshot, json!({"path": ["View", "Ruler"]})),
    ];
    let reading = [
        ("ui.find", &window, json!({"text": "Colors"})),
        ("ui.read", &window, json!({})),
        ("ui.read", &tab, json!({})),
        ("ui.context", &window, json!({})),
        ("ui.inspect", &tab, json!({})),
        ("ui.element_at", &window, json!({"x": 10, "y": 10})),
        ("ui.verify", &window, json!({"conditions": [{"text": "Colors"}]})),
        ("menu.list", &window, json!({})),
    ];
    desktop.change("title My vault");
    for (op, target, input) in acting.iter().chain(&reading) {
        let answer = host.send(ask(op, target, input.clone())).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "denied-windows"), "{op}");
        assert!(!answer.to_string().contains("Colors"), "{op}: {answer:#}");
    }
    desktop.change("title Widgets");
    desktop.client.text(number, "WM_CLASS", "STRING", b"xterm\0XTerm\0");
    for (op, target, input) in &acting {
        let answer = host.send(ask(op, target, input.clone())).await;
        assert_eq!(refusal(&answer), ("permission_denied", "screen", "terminal-windows"), "{op}");
    }
    assert!(data(&host.send(ask("ui.find", &window, json!({"text": "Colors"}))).await).is_object());
    assert_eq!(desktop.received(), Vec::<String>::new());
}
