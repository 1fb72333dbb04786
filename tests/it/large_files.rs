//! Files above 1 MiB, of which `file.read` reads no more than the part that is asked for.

use bailiwick::providers::file::sha256_hex;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use support::scope::TestScope;
use support::service::{call, data};

#[test]
fn parts_of_a_large_file_are_those_of_its_content() {
    let content: String = (1..=40_000).map(|n| format!("line {n} ä{}\n", "x".repeat(n % 70))).collect();
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let scope = TestScope::new();
    for (name, mark) in [("plain.txt", ""), ("marked.txt", "\u{feff}")] {
        scope.write(name, format!("{mark}{content}"));
    }
    let host = scope.host();
    for (name, mark) in [("plain.txt", ""), ("marked.txt", "\u{feff}")] {
        let stored = format!("{mark}{content}");
        let ask = |options: Value| {
            call(
                &host.service,
                json!({"scope": "app", "op": "file.read", "target": name, "options": options}),
            )
        };
        let (mut joined, mut next) = (String::new(), json!({"maxOutputBytes": 200_000}));
        loop {
            let answer = ask(next);
            let page = data(&answer);
            assert_eq!(page["sha256"], sha256_hex(stored.as_bytes()));
            assert_eq!((&page["totalLines"], &page["size"]), (&json!(40_000), &json!(stored.len())));
            assert_eq!((&page["lineEnding"], &page["bom"]), (&json!("lf"), &json!(!mark.is_empty())));
            joined.push_str(page["content"].as_str().expect("text"));
            if page["truncated"] == false {
                break;
            }
            next = json!({"maxOutputBytes": 200_000, "cursor": page["nextCursor"]});
        }
        assert_eq!(joined, content);
        for (first, last) in [(1, 1), (4_096, 4_097), (4_097, 4_100), (12_345, 12_350), (39_990, 40_000)] {
            let answer = ask(json!({"startLine": first, "endLine": last}));
            assert_eq!(data(&answer)["content"], lines[first - 1..last].concat(), "{first} to {last}");
        }
        let (offset, length) = (1_200_003, 301);
        let answer = ask(json!({"offset": offset, "length": length, "encoding": "base64"}));
        let bytes = &stored.as_bytes()[offset..offset + length];
        assert_eq!(data(&answer)["content"], STANDARD.encode(bytes));
        // Text begins and ends at whole characters.
        let answer = ask(json!({"offset": offset, "length": length}));
        let text = data(&answer)["content"].as_str().expect("text").to_owned();
        assert!(String::from_utf8_lossy(bytes).contains(&text) && text.len() + 2 >= length, "{text}");
        let answer = ask(json!({"startLine": 40_001}));
        assert_eq!(answer["error"]["details"]["totalLines"], 40_000, "{answer}");
    }
    // A cursor holds for the version that it was given for, also where the size stays the same.
    let ask = |options: Value| {
        call(
            &host.service,
            json!({"scope": "app", "op": "file.read", "target": "plain.txt", "options": options}),
        )
    };
    let cursor = data(&ask(json!({})))["nextCursor"].clone();
    scope.write("plain.txt", content.replace("line 39999 ", "LINE 39999 "));
    assert_eq!(ask(json!({"cursor": cursor}))["error"]["code"], "conflict");
    // What is no text in UTF-8 is read as it was before.
    scope.write("binary.dat", [&content.as_bytes()[..1_500_000], b"\0"].concat());
    let answer = call(&host.service, json!({"scope": "app", "op": "file.read", "target": "binary.dat"}));
    assert_eq!(answer["error"]["details"]["offset"], 1_500_000, "{answer}");
}
