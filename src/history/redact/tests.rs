//! The table of rules against its own samples, and ordinary text that must stay.

use super::Redactor;
use super::key::Key;
use super::rules::RULES;

fn redactor(values: &[&str]) -> Redactor {
    let folder = std::env::temp_dir().join(format!("bailiwick-key-{}", crate::contract::id::new_id()));
    let key = Key::open(&folder);
    std::fs::remove_dir_all(&folder).expect("the key was kept there");
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
        let end = if rule.name == "url-user" { "@db.example/app" } else { "" };
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
fn the_table_fits_its_bit_set_and_has_words_in_lower_case() {
    assert!(RULES.len() <= 64);
    for rule in RULES {
        assert!(!rule.words.is_empty(), "{}", rule.name);
        assert!(rule.words.iter().all(|word| **word == word.to_lowercase()), "{}", rule.name);
    }
}
