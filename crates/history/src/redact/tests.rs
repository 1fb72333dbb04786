//! The table of rules against its own samples, and ordinary text that must stay.

use super::Redactor;
use super::key::Key;
use super::rules::RULES;
use super::scan::MAX_CLEAN_NAMES;

pub fn redactor(values: &[&str]) -> Redactor {
    let folder = std::env::temp_dir().join(format!("bailiwick-key-{}", bailiwick_contract::id::new_id()));
    let key = Key::open(&folder);
    bailiwick_platform::fs::remove_tree(&folder).expect("the key was kept there");
    Redactor::new(key, values.iter().map(|value| (*value).to_owned()).collect())
}

fn clean(redactor: &Redactor, text: &str) -> String {
    redactor.clean(text, &mut Vec::new()).into_owned()
}

#[test]
fn every_rule_finds_its_own_sample_alone_and_embedded() {
    let redactor = redactor(&[]);
    for rule in RULES {
        let (before, parts) = rule.sample;
        let secret = parts.concat();
        let end = if rule.name.starts_with("url-") { "@db.example/app" } else { "" };
        for text in [
            format!("{before}{secret}{end}"),
            format!("see {before}{secret}{end} and more"),
            format!("first line\n{before}{secret}{end}\nlast line"),
            format!("größe\t{before}{secret}{end}"),
        ] {
            let cleaned = clean(&redactor, &text);
            assert!(!cleaned.contains(&secret), "{}: {cleaned}", rule.name);
            assert!(cleaned.contains(&format!("[redacted:{}:", rule.name)), "{}: {cleaned}", rule.name);
            assert_eq!(clean(&redactor, &cleaned), cleaned, "a mark is not marked again");
        }
    }
}

#[test]
fn a_name_that_was_clean_before_still_shows_no_secret_that_is_known_by_now() {
    let redactor = redactor(&["hunter-two-value"]);
    let name = |text: &str, also: &mut Vec<String>| redactor.clean_name(text, also).into_owned();
    for _ in 0..2 {
        assert_eq!(name("laptop", &mut Vec::new()), "laptop");
        assert_eq!(name("laptop", &mut vec!["laptop".to_owned()]), clean_with(&redactor, "laptop"));
        assert!(!name("hunter-two-value", &mut Vec::new()).contains("hunter"));
    }
    let mut found = Vec::new();
    name("hunter-two-value", &mut found);
    assert_eq!(found, ["hunter-two-value"], "it is looked for in the other columns");
    for number in 0..2_000 {
        assert_eq!(name(&format!("client {number}"), &mut Vec::new()), format!("client {number}"));
    }
    assert!(redactor.clean_names.read().expect("nobody else has it").len() <= MAX_CLEAN_NAMES);
}

/// As a text in a row where the whole of it is known to be secret.
fn clean_with(redactor: &Redactor, secret: &str) -> String {
    redactor.clean(secret, &mut vec![secret.to_owned()]).into_owned()
}

#[test]
fn the_table_fits_its_bit_set_and_has_words_in_lower_case() {
    assert!(RULES.len() <= 64);
    for rule in RULES {
        assert!(!rule.words.is_empty(), "{}", rule.name);
        assert!(rule.words.iter().all(|word| **word == word.to_lowercase()), "{}", rule.name);
    }
}

#[test]
fn ordinary_text_stays_as_it_is() {
    let redactor = redactor(&[]);
    let mut changed = Vec::new();
    for text in [
        "src/keyboard/token_stream.rs",
        "crates/server/src/handlers/authorization_test.rs",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 by Anna",
        "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
        "SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8",
        "01JD0M9Q4Z8K3T5V7X9YBCDEFG",
        "550e8400-e29b-41d4-a716-446655440000",
        "https://github.com/rust-lang/rust/blob/master/src/tools/compiletest.rs#L120",
        "git@github.com:rust-lang/rust.git and https://git@host/repo.git",
        "12 matches in 3 files",
        "`input` has no field `surprise` for this operation",
        "the time limit of 30 s was reached",
        "tokens: 4096, max_tokens=200, keys: 12, monkey=banana, passworded: x",
        "const TOKEN_COUNT: usize = 12;",
        "fn secret_of(password: &str, token: string, key: Key)",
        "password=$DB_PASSWORD secret=${SECRET} token: null api_key=****",
        "basic authentication is a bearer of bad news",
        "MyVeryLongComponentNameWithManyWordsAndSome2024Digits01",
        "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/build-2026-11-21T10-26-56",
        "node_modules/.pnpm/@babel+plugin-transform-modules-commonjs@7.24.8_@babel+core@7.25.2",
        "release-please--branches--main--components--sk-learn-something-longer",
        "größe, ключ, 鍵, naïve",
        "-p 8080:80 --port 22 --auth-type basic --pass-through",
    ] {
        let cleaned = clean(&redactor, text);
        if cleaned != text {
            changed.push(cleaned);
        }
    }
    assert_eq!(changed, Vec::<String>::new());
}

#[test]
fn values_of_the_environment_are_found_in_every_spelling() {
    let value = ["p&ss w0rd", "/of-mine"].concat();
    let redactor = redactor(&[&value]);
    for text in [
        format!("a {value} b"),
        "x=p%26ss%20w0rd%2Fof-mine;".to_owned(),
        "data:cCZzcyB3MHJkL29mLW1pbm".to_owned(),
    ] {
        let cleaned = clean(&redactor, &text);
        assert!(cleaned.contains("[redacted:environment:"), "{cleaned}");
    }
}

#[test]
fn equal_secrets_have_equal_marks_in_one_installation_only() {
    let (one, other) = (redactor(&[]), redactor(&[]));
    let secret = ["password=", "hunter2"].concat();
    assert_eq!(clean(&one, &secret), clean(&one, &secret));
    assert_ne!(clean(&one, &secret), clean(&other, &secret));
}

proptest::proptest! {
    #[test]
    fn samples_vanish_within_any_text(before in "\\PC{0,40}", after in "\\PC{0,40}", rule in 0..RULES.len()) {
        // The secret of a row is found whatever is around it, with a blank between.
        let (lead, parts) = RULES[rule].sample;
        let secret = parts.concat();
        let end = if RULES[rule].name.starts_with("url-") { "@db.example/app" } else { "" };
        static REDACTOR: std::sync::LazyLock<Redactor> = std::sync::LazyLock::new(|| redactor(&[]));
        let cleaned = clean(&REDACTOR, &format!("{before} {lead}{secret}{end} {after}"));
        proptest::prop_assert!(!cleaned.contains(&secret), "{}", cleaned);
    }
}
