//! A table of secrets in all their forms, of which nothing may be left, and of look-alikes, which must stay.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::board::StoreState;
use super::super::event::{EventDraft, Phase};
use super::tests::redactor;
use super::{Redactor, ScopeSecrets};
use bailiwick_contract::Transport;

/// A line of a table.
struct Line {
    /// The text, or the words.
    form: Form,
    /// What must vanish.
    secrets: Vec<String>,
}

enum Form {
    Text(String),
    Words(Vec<String>),
}

fn lines(table: &str) -> Vec<Line> {
    let lines = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(line).collect()
}

fn line(line: &str) -> Line {
    let whole = line.replace('·', "");
    let (kind, content) = whole.split_once(' ').expect("a kind and a form");
    let texts = match kind {
        "argv" => serde_json::from_str::<Vec<String>>(content).expect("an array of texts"),
        "text" => vec![content.replace("\\n", "\n")],
        _ => panic!("{kind} is no kind of form"),
    };
    let secrets = texts
        .iter()
        .flat_map(|text| text.split('«').skip(1))
        .map(|rest| rest.split_once('»').expect("a secret ends").0.to_owned());
    let secrets = secrets.collect();
    let mut plain = texts.iter().map(|text| text.replace(['«', '»'], ""));
    let form = match kind {
        "text" => Form::Text(plain.next().expect("one text")),
        _ => Form::Words(plain.collect()),
    };
    Line { form, secrets }
}

/// Writes words as a line for a shell.
fn quoted(words: &[String]) -> String {
    let word = |word: &String| {
        let is_plain = word.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_./:=%@,+".contains(&it));
        if is_plain { word.clone() } else { format!("'{word}'") }
    };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn cleaned_words(redactor: &Redactor, words: &[String]) -> Vec<String> {
    redactor.words(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn cleaned(redactor: &Redactor, text: &str) -> String {
    redactor.clean(text, &mut Vec::new()).into_owned()
}

/// Returns all that a row holds of a request.
fn row(redactor: &Redactor, input: &Value, target: &str) -> String {
    let template = json!({"op": "command.run", "input": input});
    let event = EventDraft {
        operation_id: "01JD0M9Q4Z8K3T5V7X9YBCDEFG".to_owned(),
        phase: Phase::Finished,
        at_ms: 1,
        duration_us: 1,
        bytes: 1,
        has_effect: true,
        caller: "local".to_owned(),
        client: None,
        session: None,
        transport: Transport::Cli,
        scope: Some("app".to_owned()),
        op: "command.run".to_owned(),
        target: Some(target.to_owned()),
        capability: None,
        stage: None,
        rule: None,
        code: None,
        summary: format!("ran {target}"),
        error: Some(format!("`{target}` failed")),
        template,
    };
    format!("{:?}", redactor.row(event, "here"))
}

/// Returns what is left of a secret: all of it or, of a longer one, its half.
fn left(text: &str, secret: &str) -> bool {
    let text = text.replace("\\\"", "\"");
    let middle = secret.floor_char_boundary(secret.len() / 2);
    let (first, second) = secret.split_at(middle);
    text.contains(secret) || (secret.len() >= 14 && (text.contains(first) || text.contains(second)))
}

#[test]
fn no_form_of_secret_is_left_in_a_row_or_in_the_facts_of_a_process() {
    let redactor = redactor(&[]);
    let lines = lines(include_str!("secrets.txt"));
    assert!(lines.len() >= 140, "{}", lines.len());
    let mut leaks = Vec::new();
    for Line { form, secrets } in &lines {
        assert!(!secrets.is_empty(), "a line names its secret");
        let mut seen = Vec::new();
        match form {
            Form::Text(text) => {
                seen.push(cleaned(&redactor, text));
                seen.push(cleaned(&redactor, &format!("größe {text}\nnext")));
                seen.push(redactor.json(json!({"a": [{"b": text}]})).to_string());
                seen.push(row(&redactor, &json!({"command": text}), text));
                seen.push(row(&redactor, &json!({"command": ["sh", "-c", text]}), "app"));
            }
            Form::Words(words) => {
                let line = quoted(words);
                for before in [&[][..], &["timeout", "5"], &["env", "X=1"], &["sudo", "-n", "nice"]] {
                    let words: Vec<String> =
                        before.iter().map(|it| (*it).to_owned()).chain(words.iter().cloned()).collect();
                    seen.push(cleaned_words(&redactor, &words).join(" "));
                    seen.push(redactor.json(json!({"command": words})).to_string());
                    seen.push(row(&redactor, &json!({"command": words}), &quoted(&words)));
                }
                let piped: Vec<String> =
                    words.iter().cloned().chain(["|".to_owned(), "tee".to_owned(), "x".to_owned()]).collect();
                seen.push(cleaned_words(&redactor, &piped).join(" "));
                seen.push(cleaned(&redactor, &line));
                seen.push(cleaned(&redactor, &format!("cd x && {line}; true")));
            }
        }
        for (secret, seen) in secrets.iter().flat_map(|secret| seen.iter().map(move |seen| (secret, seen))) {
            if left(seen, secret) {
                leaks.push(format!("{secret}: {seen}"));
            }
        }
    }
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn handles_show_no_form_of_secret_and_give_back_every_text() {
    let folder = std::env::temp_dir().join(format!("bailiwick-handles-{}", bailiwick_contract::id::new_id()));
    let state = Arc::new(StoreState::new(folder.clone(), "here".to_owned()));
    let secrets =
        ScopeSecrets::new(Arc::clone(&state), "app", "caller", state.redactor().scope_handles("app"));
    let mut wrong = Vec::new();
    let known = lines(include_str!("secrets.txt"));
    let alike = include_str!("lookalikes.txt").lines().map(str::to_owned);
    let texts = known.into_iter().map(|Line { form, secrets }| match form {
        Form::Text(text) => (text, secrets),
        Form::Words(words) => (quoted(&words), secrets),
    });
    for (text, hidden) in texts.chain(alike.map(|text| (text, Vec::new()))) {
        for text in [text.clone(), format!("größe {text}\r\nnext\n"), format!("1\t{text}\n2\tnext\n")] {
            let noted = secrets.note(&text);
            let shown = secrets.with_handles(&text, &noted).into_owned();
            let again = secrets.with_handles(&shown, &secrets.note(&shown)).into_owned();
            let back = secrets.resolve(&shown, true);
            let back = back.map(|found| found.map_or_else(|| shown.clone(), |found| found.text));
            if back.as_ref() != Ok(&text) || again != shown || hidden.iter().any(|it| left(&shown, it)) {
                wrong.push(format!("{text:?}: {shown:?}: {back:?}: {again:?}"));
            }
        }
    }
    bailiwick_platform::fs::remove_tree(&folder).expect("the key was kept there");
    assert!(wrong.is_empty(), "{} texts:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn lines_of_a_key_have_handles_of_their_own_however_they_are_listed() {
    let folder = std::env::temp_dir().join(format!("bailiwick-handles-{}", bailiwick_contract::id::new_id()));
    let state = Arc::new(StoreState::new(folder.clone(), "here".to_owned()));
    let secrets =
        ScopeSecrets::new(Arc::clone(&state), "app", "caller", state.redactor().scope_handles("app"));
    let (begin, end) =
        (["-----BEGIN PRIV", "ATE KEY-----"].concat(), ["-----END PRIV", "ATE KEY-----"].concat());
    let key = [&begin, "MIIEvQIBADANBgkqhkiG9w0BAQ", "+QNneCjGJVRJmFWvzuC3rJvp0Q", "Zg==", &end];
    let parts = |text: &str| {
        let shown = secrets.with_handles(text, &secrets.note(text)).into_owned();
        let found =
            shown.lines().filter_map(|line| Some(line[line.find("{{")?..].to_owned())).collect::<Vec<_>>();
        let back = secrets.resolve(&shown, true).expect("known").expect("handles").text;
        assert_eq!(back, text);
        found
    };
    let plain = parts(&key.join("\n"));
    assert_eq!(plain.len(), 3, "{plain:?}");
    let numbered =
        key.iter().enumerate().map(|(at, line)| format!("{}\t{line}\n", at + 7)).collect::<String>();
    assert_eq!(parts(&numbered), plain);
    let anchored =
        key.iter().enumerate().map(|(at, line)| format!("{}:12af|{line}\n", at + 7)).collect::<String>();
    assert_eq!(parts(&anchored), plain);
    let difference = key.iter().map(|line| format!("+{line}\n")).collect::<String>();
    assert_eq!(parts(&difference), plain);
    let indented = key.iter().map(|line| format!("    {line}\r\n")).collect::<String>();
    assert_eq!(parts(&indented), plain);
    bailiwick_platform::fs::remove_tree(&folder).expect("the key was kept there");
}

#[test]
fn a_secret_of_any_characters_vanishes_from_the_words_of_a_command() {
    let redactor = redactor(&[]);
    let mut leaks = Vec::new();
    let mut tried = 0;
    for Line { form, secrets } in lines(include_str!("secrets.txt")) {
        let Form::Words(words) = form else { continue };
        // In the words that hold texts with a syntax of their own it is that syntax which ends a secret.
        let has_syntax = |word: &String| word.contains(['{', '&', ' ', ';']) || word.contains("://");
        let is_plain = secrets == ["plainwordsecret"] && !words.iter().any(has_syntax);
        if !is_plain {
            continue;
        }
        tried += 1;
        for secret in [
            "p@ss:w0rd/x",
            "a&b;c|d",
            "q\"uo'te",
            "größe-ключ",
            "two words",
            "-dash1",
            "k=v,w",
            "a$b{c}",
            "\\y1",
        ] {
            let words: Vec<String> =
                words.iter().map(|word| word.replace("plainwordsecret", secret)).collect();
            let cleaned = cleaned_words(&redactor, &words).join(" ");
            if cleaned.contains(secret)
                || secret.split(' ').any(|part| part.len() > 3 && cleaned.contains(part))
            {
                leaks.push(format!("{secret}: {cleaned}"));
            }
        }
    }
    assert!(tried >= 50, "{tried}");
    assert!(leaks.is_empty(), "{} leaks:\n{}", leaks.len(), leaks.join("\n"));
}

#[test]
fn look_alikes_stay() {
    let redactor = redactor(&[]);
    let lines = lines(include_str!("lookalikes.txt"));
    assert!(lines.len() >= 60, "{}", lines.len());
    let mut replaced = Vec::new();
    for Line { form, .. } in &lines {
        let (before, after) = match form {
            Form::Text(text) => (text.clone(), cleaned(&redactor, text)),
            Form::Words(words) => (words.join(" "), cleaned_words(&redactor, words).join(" ")),
        };
        if before != after {
            replaced.push(after);
        }
        if let Form::Words(words) = form {
            let line = quoted(words);
            let after = cleaned(&redactor, &line);
            if after != line {
                replaced.push(after);
            }
        }
    }
    assert!(replaced.len() <= 1, "{} replaced:\n{}", replaced.len(), replaced.join("\n"));
}

#[test]
fn only_the_secret_of_a_command_is_replaced() {
    let redactor = redactor(&[]);
    let marks = regex::Regex::new(r"\[redacted:[a-z-]+:[0-9a-f]{8}\]").expect("a good pattern");
    for (words, kept) in [
        (
            &["curl", "-u", "admin:sesame", "https://example.test/a"][..],
            "curl -u admin:[…] https://example.test/a",
        ),
        (
            &["curl", "-H", "Authorization: Bearer abc12345", "https://example.test/a"],
            "curl -H Authorization: […] https://example.test/a",
        ),
        (&["mysql", "-uapp", "-psesame", "shop"], "mysql -uapp -p[…] shop"),
        (&["env", "API_TOKEN=two words", "make", "all"], "env API_TOKEN=[…] make all"),
        (&["timeout", "5", "sshpass", "-p", "sesame", "ssh", "host"], "timeout 5 sshpass -p […] ssh host"),
        (
            &["docker", "login", "-u", "me", "-p", "sesame", "|", "tee", "-p", "x"],
            "docker login -u me -p […] | tee -p x",
        ),
    ] {
        let cleaned = redactor.words(words).join(" ");
        assert_eq!(marks.replace_all(&cleaned, "[…]"), kept);
    }
}

#[test]
fn many_words_and_quotes_take_linear_time() {
    let redactor = redactor(&[]);
    let programs: Vec<&str> = std::iter::repeat_n("curl", 60_000).collect();
    let mut key = vec!["-----BEGIN RSA PRIV\u{41}TE KEY-----"];
    key.extend(std::iter::repeat_n("password=x1", 20_000));
    let began = std::time::Instant::now();
    assert_eq!(redactor.words(&programs).len(), 60_000);
    assert_eq!(redactor.words(&key).len(), 20_001);
    let quotes = format!("curl {}", "\\\"'\" a\\\n".repeat(20_000));
    assert!(!cleaned(&redactor, &quotes).is_empty());
    // Quadratic time would be minutes.
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}
