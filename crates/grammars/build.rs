//! Builds each grammar in two parts: its code for the target, and its parse tables deflated, as data.
//!
//! Parse tables are nine tenths of a grammar, and deflate to a tenth. The packages of the grammars are linked into this
//! program, which reads the tables where they lie; their C code is compiled again with room in place of the tables.
//! What has another form than expected ends the build.

#![expect(unsafe_code, reason = "the tables of a grammar are found by its pointers alone")]
#![expect(clippy::disallowed_methods, reason = "the sources of the grammars are no scope's")]
#![expect(clippy::panic, reason = "what has another form than expected ends the build")]

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, slice};

use miniz_oxide::deflate::compress_to_vec;
use tree_sitter_language::LanguageFn;

/// Each grammar: its name in C, its package, the folder of its sources there, and its function.
const GRAMMARS: [(&str, &str, &str, LanguageFn); 20] = [
    ("bash", "bash", "src", tree_sitter_bash::LANGUAGE),
    ("c", "c", "src", tree_sitter_c::LANGUAGE),
    ("c_sharp", "c-sharp", "src", tree_sitter_c_sharp::LANGUAGE),
    ("cpp", "cpp", "src", tree_sitter_cpp::LANGUAGE),
    ("css", "css", "src", tree_sitter_css::LANGUAGE),
    ("go", "go", "src", tree_sitter_go::LANGUAGE),
    ("html", "html", "src", tree_sitter_html::LANGUAGE),
    ("java", "java", "src", tree_sitter_java::LANGUAGE),
    ("javascript", "javascript", "src", tree_sitter_javascript::LANGUAGE),
    ("json", "json", "src", tree_sitter_json::LANGUAGE),
    ("kotlin", "kotlin-ng", "src", tree_sitter_kotlin_ng::LANGUAGE),
    ("php", "php", "php/src", tree_sitter_php::LANGUAGE_PHP),
    ("python", "python", "src", tree_sitter_python::LANGUAGE),
    ("ruby", "ruby", "src", tree_sitter_ruby::LANGUAGE),
    ("rust", "rust", "src", tree_sitter_rust::LANGUAGE),
    ("swift", "swift", "src", tree_sitter_swift::LANGUAGE),
    ("toml", "toml-ng", "src", tree_sitter_toml_ng::LANGUAGE),
    ("tsx", "typescript", "tsx/src", tree_sitter_typescript::LANGUAGE_TSX),
    ("typescript", "typescript", "typescript/src", tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
    ("yaml", "yaml", "src", tree_sitter_yaml::LANGUAGE),
];

/// The beginning of a grammar in memory, the same in every version that is taken here.
#[repr(C)]
struct Head {
    abi_version: u32,
    symbol_count: u32,
    alias_count: u32,
    token_count: u32,
    external_token_count: u32,
    state_count: u32,
    large_state_count: u32,
    production_id_count: u32,
    field_count: u32,
    max_alias_sequence_length: u16,
    parse_table: *const u16,
    small_parse_table: *const u16,
    small_parse_table_map: *const u32,
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names the folder"));
    let mut text = String::new();
    for (name, package, folder, function) in GRAMMARS {
        let (large, small) = tables(function);
        let sources = package_folder(&format!("tree-sitter-{package}")).join(folder);
        let parser = out.join(format!("{name}.c"));
        let length = large.len() + small.len();
        fs::write(&parser, without_tables(&sources, name, large.len(), length))
            .expect("the build's folder takes files");
        compile(name, &parser, &sources);
        let bytes: Vec<u8> = [large, small].concat().into_iter().flat_map(u16::to_le_bytes).collect();
        let packed = out.join(format!("{name}.deflated"));
        fs::write(packed, compress_to_vec(&bytes, 6)).expect("the build's folder takes files");
        let constant = name.to_ascii_uppercase();
        writeln!(
            text,
            "grammar!({constant}, tree_sitter_{name}, tables_of_{name}, {length}, \"/{name}.deflated\");"
        )
        .expect("a text grows");
    }
    fs::write(out.join("grammars.rs"), text).expect("the build's folder takes files");
}

/// Reads the tables of states with many and with few symbols.
fn tables(function: LanguageFn) -> (&'static [u16], &'static [u16]) {
    // SAFETY: what tree-sitter's generator makes takes nothing and returns a constant of the program, which begins so;
    // the version is checked before all else.
    let head = unsafe { &*function.into_raw()().cast::<Head>() };
    assert!(
        [14, 15].contains(&head.abi_version),
        "version {} of grammars is not known here",
        head.abi_version
    );
    let large = (head.large_state_count * head.symbol_count) as usize;
    let few = (head.state_count - head.large_state_count) as usize;
    // SAFETY: a row for each of these states, and a beginning for each of the others.
    let (large, beginnings) = unsafe {
        (
            slice::from_raw_parts(head.parse_table, large),
            slice::from_raw_parts(head.small_parse_table_map, few),
        )
    };
    // SAFETY: the parser reads a state of few symbols in this way, too.
    let small_at = |index: usize| usize::from(unsafe { *head.small_parse_table.add(index) });
    let end = |beginning: &u32| {
        let beginning = *beginning as usize;
        // Of each group: a value, the number of its symbols, and these.
        (0..small_at(beginning)).fold(beginning + 1, |group, _| group + 2 + small_at(group + 1))
    };
    let small = beginnings.iter().map(end).max().unwrap_or_default();
    // SAFETY: every part of it was read.
    (large, unsafe { slice::from_raw_parts(head.small_parse_table, small) })
}

/// Finds the sources of a package, which are where those of tree-sitter do.
fn package_folder(package: &str) -> PathBuf {
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock");
    let lock = fs::read_to_string(lock).expect("the workspace has a lock file");
    let (_, entry) =
        lock.split_once(&format!("name = \"{package}\"\nversion = \"")).expect("it names every package");
    let (version, _) = entry.split_once('"').expect("a version is a text");
    let headers =
        PathBuf::from(env::var_os("DEP_TREE_SITTER_INCLUDE").expect("tree-sitter names its headers"));
    let packages = headers.ancestors().nth(2).expect("they are in a folder of its package");
    // As in cargo's registry, and as `cargo vendor` lays them.
    let places = [packages.join(format!("{package}-{version}")), packages.join(package)];
    places
        .into_iter()
        .find(|it| it.is_dir())
        .unwrap_or_else(|| panic!("no {package} in {}", packages.display()))
}

/// Returns a grammar's C code with room that is not filled in place of its tables.
fn without_tables(sources: &Path, name: &str, large: usize, length: usize) -> String {
    let path = sources.join("parser.c");
    let mut text = fs::read_to_string(&path).expect("a grammar has its parser");
    let mut replace = |from: &str, to: &str, with: &str| {
        let expected = || panic!("{}: expected `{from}` once", path.display());
        let begin = text.find(from).unwrap_or_else(expected);
        let end = begin + text[begin..].find(to).unwrap_or_else(expected) + to.len();
        text.replace_range(begin..end, with);
        assert!(!text.contains(from), "{}: `{from}` twice", path.display());
    };
    replace(
        "static const uint16_t ts_parse_table[LARGE_STATE_COUNT][SYMBOL_COUNT] = {",
        "\n};\n",
        &format!(
            "_Static_assert(LARGE_STATE_COUNT * SYMBOL_COUNT == {large}, \"another version\");\n\
             static uint16_t tables[{length}];\n\
             uint16_t *tables_of_{name}(void) {{ return tables; }}\n"
        ),
    );
    replace("static const uint16_t ts_small_parse_table[] = {", "\n};\n", "");
    replace(".parse_table = &ts_parse_table[0][0]", ",", ".parse_table = tables,");
    replace(
        ".small_parse_table = ts_small_parse_table",
        ",",
        &format!(".small_parse_table = tables + {large},"),
    );
    text
}

/// Compiles a grammar as its package does.
fn compile(name: &str, parser: &Path, sources: &Path) {
    let mut build = cc::Build::new();
    build.std("c11").include(sources).warnings(false).file(parser);
    if env::var("CARGO_CFG_TARGET_ENV").is_ok_and(|it| it == "msvc") {
        build.flag("-utf-8");
    } else {
        build.flag("-w");
    }
    let scanner = sources.join("scanner.c");
    if scanner.exists() {
        build.file(scanner);
    }
    build.compile(&format!("grammar-of-{name}"));
}
