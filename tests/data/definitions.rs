//! The sources in `tests/code` have what the lists beside them say. `UPDATE=1` rewrites the lists; read them.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use bailiwick::providers::code::{
    Definition, Definitions, MAX_BYTES, Role, SourceProblem, definitions, language_of, references,
};
use bailiwick::providers::syntax::Language;

use libtest_mimic::Trial;
use support::source::{files, repository};
use support::update::is_updating;

use crate::trials::TrialFilter;

/// The trials: each source, and what is read beside them.
pub fn trials(_: &TrialFilter) -> Vec<Trial> {
    let mut trials = trials![
        every_language_has_a_source,
        errors_and_line_ends_of_windows_hide_nothing_that_stands_apart,
        what_is_nested_a_hundred_thousand_deep_is_read_without_recursion,
        what_nobody_wrote_is_not_read_and_said,
        uses_are_no_words_of_comments_and_texts,
        values_in_texts_and_symbols_are_uses,
    ];
    trials.extend(each![
        sources_define_and_use_what_the_lists_beside_them_say,
        definitions_lie_in_their_containers_and_have_their_names_in_them;
        sources().into_iter().map(|source| (source.name.clone(), source))
    ]);
    trials
}

/// A source in `tests/code`.
struct Source {
    name: String,
    path: PathBuf,
}

impl Source {
    /// Reads it. Returns its language and its text.
    fn read(&self) -> (Language, Vec<u8>) {
        let text = fs::read(&self.path).expect("it was listed");
        let language = language_of(self.name.as_bytes(), &text).expect("every source has a language");
        (language, text)
    }
}

fn sources() -> Vec<Source> {
    let paths = files("tests/code").into_iter();
    let sources = paths.filter(|path| path.extension().is_some_and(|it| it != "txt"));
    sources
        .map(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("the names are ASCII");
            Source { name: name.to_owned(), path }
        })
        .collect()
}

fn never() -> bool {
    false
}

fn listing(found: &Definitions) -> String {
    let mut text = String::new();
    for (index, definition) in found.list.iter().enumerate() {
        let Definition { kind, name_at, first_line, last_line, signature, .. } = definition;
        let path = found.path(index).join(".");
        let only = if definition.declared_only { " (declared)" } else { "" };
        writeln!(
            text,
            "{}:{} {} {path} {first_line}-{last_line}{only}\n    {signature}",
            name_at.line,
            name_at.column,
            kind.as_str(),
        )
        .expect("a text takes all");
    }
    text
}

fn uses(language: Language, source: &[u8], name: &str) -> String {
    let mut text = format!("\nuses of {name}:\n");
    for reference in references(language, source, name, &never).expect("the sources are small").list {
        let (at, role) = (reference.at, reference.role.as_str());
        writeln!(text, "{}:{} {role}", at.line, at.column).expect("a text takes all");
        let bytes = reference.bytes.start as usize..reference.bytes.end as usize;
        assert_eq!(source.get(bytes), Some(name.as_bytes()));
    }
    text
}

fn sources_define_and_use_what_the_lists_beside_them_say(source: &Source) {
    let (name, (language, source)) = (&source.name, source.read());
    let found = definitions(language, &source, &never).expect("the sources are small");
    let mut text = listing(&found);
    // What a source with errors loses is found again.
    assert_eq!(found.parsed_whole, !name.starts_with("recovered."), "{name}");
    text.push_str(&uses(language, &source, "größe"));
    text.push_str(&uses(language, &source, "Größe"));
    let beside = repository().join("tests/code").join(format!("{name}.txt"));
    if is_updating() {
        fs::write(&beside, &text).expect("the repository can be written");
    }
    let expected = fs::read_to_string(&beside).unwrap_or_default();
    assert!(expected == text, "{name} is not as its list says; UPDATE=1 rewrites the list");
}

fn every_language_has_a_source() {
    let mut languages: Vec<Language> = sources().iter().map(|source| source.read().0).collect();
    languages.sort_unstable();
    languages.dedup();
    let data = [Language::Json, Language::Yaml, Language::Toml, Language::Html, Language::Css];
    assert_eq!(languages.len(), Language::ALL.len() - data.len());
}

/// Holds what callers build on: order, containers, ranges.
fn assert_sound(name: &str, source: &[u8], found: &Definitions) {
    for (index, definition) in found.list.iter().enumerate() {
        let Definition { bytes, name_byte, first_line, last_line, name_at, container, .. } = definition;
        let at = format!("{name}: {}", definition.name);
        let range = bytes.start as usize..bytes.end as usize;
        let text = source.get(range).unwrap_or_else(|| panic!("{at}: its bytes are in the text"));
        assert!(bytes.contains(name_byte), "{at}: its name is in it");
        assert!(!definition.name.is_empty() && !definition.signature.is_empty(), "{at}");
        assert!(definition.signature.chars().count() <= 200, "{at}");
        let feeds = |bytes: &[u8]| {
            u32::try_from(bytes.iter().filter(|byte| **byte == b'\n').count()).expect("a short source")
        };
        assert_eq!(*first_line, feeds(&source[..bytes.start as usize]) + 1, "{at}: first line");
        assert_eq!(*last_line, first_line + feeds(text), "{at}: last line");
        assert_eq!(name_at.line, feeds(&source[..*name_byte as usize]) + 1, "{at}: line of its name");
        if let Some(container) = container {
            assert!((*container as usize) < index, "{at}: what it is in comes before");
            let outer = &found.list[*container as usize].bytes;
            assert!(outer.start <= bytes.start && bytes.end <= outer.end, "{at}: it lies in its container");
        }
    }
}

fn definitions_lie_in_their_containers_and_have_their_names_in_them(source: &Source) {
    let (name, (language, source)) = (&source.name, source.read());
    let found = definitions(language, &source, &never).expect("the sources are small");
    assert_sound(name, &source, &found);
    // What is left of a source that is cut anywhere is as sound.
    for cut in (0..source.len()).step_by(97) {
        let found = definitions(language, &source[..cut], &never).expect("the sources are small");
        assert_sound(&format!("{name} up to {cut}"), &source[..cut], &found);
    }
}

fn errors_and_line_ends_of_windows_hide_nothing_that_stands_apart() {
    let source = "fn first() {}\r\n\r\n/// Of two.\r\nfn second(a: u8,\r\n  b: u8) {}\r\nfn broken( {\r\n}\r\n\r\nfn third() {}\r\n";
    let found = definitions(Language::Rust, source.as_bytes(), &never).expect("it is short");
    assert!(!found.parsed_whole);
    let names: Vec<&str> = found.list.iter().map(|it| it.name.as_str()).collect();
    assert!(names.contains(&"first") && names.contains(&"second") && names.contains(&"third"), "{names:?}");
    assert_eq!(found.list[1].signature, "fn second(a: u8, b: u8)");
    assert_eq!((found.list[1].first_line, found.list[1].last_line), (3, 5));
    let latin = b"def caf\xe9(): pass\n\ndef next(): pass\n";
    let found = definitions(Language::Python, latin, &never).expect("it is short");
    assert!(found.list.iter().any(|it| it.name == "next"), "{:?}", found.list);
}

fn what_is_nested_a_hundred_thousand_deep_is_read_without_recursion() {
    // Some grammars take long over such texts, so that only two go so deep.
    for (language, deep, open, close) in [
        (Language::Rust, 100_000, "mod a{", "}"),
        (Language::JavaScript, 100_000, "[", ""),
        (Language::Rust, 5_000, "fn a(){(", ")}"),
        (Language::Python, 5_000, "(", ")"),
        (Language::JavaScript, 5_000, "class A{a(){", "}}"),
        (Language::TypeScript, 5_000, "namespace A{", "}"),
        (Language::Go, 5_000, "func(){", "}"),
        (Language::Java, 5_000, "class A{", "}"),
        (Language::C, 5_000, "{", "}"),
        (Language::Cpp, 5_000, "namespace a{", "}"),
        (Language::Ruby, 5_000, "module A;", "end;"),
        (Language::Bash, 5_000, "{ ", "}; "),
    ] {
        let lines = |part: &str| format!("{part}\n").repeat(deep);
        let source = lines(open) + &lines(close);
        let found = definitions(language, source.as_bytes(), &never);
        assert!(found.is_ok(), "{language:?} {open}");
        assert!(references(language, source.as_bytes(), "a", &never).is_ok(), "{language:?} {open}");
    }
}

fn what_nobody_wrote_is_not_read_and_said() {
    let long = " ".repeat(MAX_BYTES + 1);
    assert_eq!(definitions(Language::Go, long.as_bytes(), &never), Err(SourceProblem::TooLarge));
    let minified = "function a(){return 1};".repeat(2_000);
    assert_eq!(definitions(Language::JavaScript, minified.as_bytes(), &never), Err(SourceProblem::Minified));
    let lines = "function a(){return 1};\n".repeat(2_000);
    assert_eq!(
        definitions(Language::JavaScript, lines.as_bytes(), &never).map(|it| it.list.len()),
        Ok(2_000)
    );
    let stop = || true;
    let source = "fn a() {}\n".repeat(20_000);
    assert_eq!(definitions(Language::Rust, source.as_bytes(), &stop), Err(SourceProblem::Stopped));
    // The parser that was stopped reads the next source from its start.
    let found = definitions(Language::Rust, b"fn b() {}", &never).expect("it is short");
    assert_eq!(found.list.len(), 1);
    assert!(found.parsed_whole);
}

fn uses_are_no_words_of_comments_and_texts() {
    let source = br#"
use shapes::area;
// area in words
/* area */
const NAME: &str = "area";
struct Flat { area: f64 }
fn twice(shape: &Shape) -> f64 { shape.area() + area(shape) + shape.area * print!("{area}", area = 1) }
fn area(of: Area) -> f64 { area_of(of) }
"#;
    let found = references(Language::Rust, source, "area", &never).expect("it is short");
    assert!(found.parsed_whole);
    let told: Vec<(u32, Role)> = found.list.iter().map(|it| (it.at.line, it.role)).collect();
    assert_eq!(
        told,
        [
            (2, Role::Import),
            (6, Role::Definition),
            (7, Role::Call),
            (7, Role::Call),
            (7, Role::Other),
            // In a text that is a template, and as its argument.
            (7, Role::Other),
            (7, Role::Other),
            (8, Role::Definition),
        ]
    );
    assert_eq!(references(Language::Rust, source, "", &never).map(|it| it.list), Ok(Vec::new()));
    assert_eq!(references(Language::Rust, source, "absent", &never).map(|it| it.list), Ok(Vec::new()));
}

fn values_in_texts_and_symbols_are_uses() {
    for (language, source, columns) in [
        (Language::Kotlin, r#"val a = "$foo, ${foo.bar}, \$foo, foo, $food""#, &[11, 18][..]),
        (Language::Kotlin, r#"val a = """x $foo""""#, &[15]),
        (Language::Python, r#"a = f"{foo} {1:>{foo}} foo" + "{foo}""#, &[8, 18]),
        (Language::JavaScript, "const a = `${foo} foo ${foo.x}`, b = { foo }", &[14, 25, 40]),
        (Language::Ruby, r##"a "#{foo} foo", foo: 1, b: :foo, c: %i[foo bar]"##, &[6, 17, 29, 40]),
        (Language::Ruby, "a = <<~E\n#{foo} foo\nE\n", &[3]),
        (Language::Bash, r#"echo "$foo ${foo} foo""#, &[8, 14]),
        (Language::Php, r#"<?php a("$foo {$foo->x} foo");"#, &[11, 17]),
        (Language::CSharp, r#"class A { string B() => $"{foo} foo"; }"#, &[28]),
        (Language::Swift, r#"let a = "\(foo) foo""#, &[12]),
        (Language::Rust, r#"fn a() { b!("{foo} {foo:?} {{foo}} foo", foo); c("{foo}") }"#, &[15, 21, 42]),
    ] {
        let found = references(language, source.as_bytes(), "foo", &never).expect("it is short");
        let told: Vec<u32> = found.list.iter().map(|it| it.at.column).collect();
        assert_eq!(told, columns, "{source}");
    }
}
