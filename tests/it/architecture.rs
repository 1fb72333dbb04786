//! The rules of the house, held by reading the source: layers, fences, one file for one operation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use bailiwick::operations::FAMILIES;
use bailiwick::policy::STAGES;
use regex::Regex;

use crate::source::{SourceFile, files, repository, rust_files};

/// The longest file, in lines.
const MAX_LINES: usize = 800;

/// What may be named only in some places.
struct Fence {
    /// What is fenced, as a pattern over code without comments and literals.
    pattern: &'static str,
    /// The paths below which it may stand; none means nowhere.
    inside: &'static [&'static str],
    /// Why.
    because: &'static str,
}

const FENCES: &[Fence] = &[
    Fence {
        pattern: r"\b(rmcp|axum|hyper|hyper_util|tower|http)\s*(::|;)",
        inside: &["src/adapters/", "crates/providers/src/http_client.rs"],
        because: "transports are adapters' business; nothing below knows how a request arrived",
    },
    Fence {
        pattern: r"\b(tokio_rustls|rustls|rcgen)\s*(::|;)",
        inside: &[
            "src/adapters/http/tls/",
            "crates/providers/src/http_client.rs",
            "src/public_urls/pinned.rs",
        ],
        because: "the listener and the client of round trips alone deal with certificates and encryption",
    },
    Fence {
        pattern: r"\brusqlite\s*(::|;)",
        inside: &["crates/history/src/"],
        because: "only the history knows how it is stored",
    },
    Fence {
        pattern: r"\b(grep_matcher|grep_regex|grep_searcher|ignore|nucleo_matcher)\s*(::|;)",
        inside: &["crates/providers/src/"],
        because: "mechanisms of search are providers, reached with a permit",
    },
    Fence {
        pattern: r"\brustix\s*(::|;)",
        inside: &["crates/platform/src/"],
        because: "the system is called in one place",
    },
    Fence {
        pattern: r"\b(clap|clap_complete|clap_mangen)\s*(::|;)",
        inside: &["src/adapters/cli/"],
        because: "the command line is one adapter among others",
    },
    Fence {
        pattern: r"\bcfg(_attr)?\b.*\b(target_os|target_family|target_env|unix|windows)\b|\bcfg!\s*\(\s*(target_|unix|windows)",
        inside: &["crates/platform/src/"],
        because: "what differs between systems lives in one place",
    },
    Fence {
        pattern: r"\bunsafe\b",
        inside: WITH_UNSAFE_CODE,
        because: "small modules make the system calls that have no safe wrapper",
    },
    Fence {
        pattern: r"\b(print|println|eprint|eprintln|dbg)!",
        inside: &[
            "src/adapters/cli/",
            "src/autostart/tests.rs",
            "crates/engine/build.rs",
            "crates/grammars/build.rs",
        ],
        because: "standard output belongs to MCP or to the CLI's printer",
    },
    Fence {
        pattern: r"\b(nix|landlock)\s*(::|;)",
        inside: &["crates/platform/src/launch/", "crates/platform/src/fs/writers.rs"],
        because: "only the launcher forks and shuts in; a lease on a file has no other wrapper",
    },
    Fence {
        pattern: r"\bavt\s*(::|;)",
        inside: &["crates/platform/src/emulator.rs"],
        because: "one place deals with the terminal emulator's crate",
    },
    Fence {
        pattern: r"\bbrush_parser\s*(::|;)",
        inside: &["crates/policy/src/command/second_reading.rs"],
        because: "the grammar may only confirm what the first reading took: it recurses, and panics on some text",
    },
    Fence {
        pattern: r"\.\s*(capture_display(_unjudged)?|capture_window|to_rgb)\s*\(|\bPicture::of\b",
        inside: &[
            "crates/platform/src/screen/",
            "crates/providers/src/screen/shot.rs",
            "crates/providers/src/screen/picture.rs",
        ],
        because: "a picture passes the rules for windows before anybody else has a pixel of it",
    },
    Fence {
        pattern: r"\.\s*(change_window|read_clipboard|save_clipboard)\s*\(",
        inside: &[
            "crates/platform/src/screen/",
            "crates/providers/src/screen/control.rs",
            "crates/providers/src/screen/clipboard.rs",
        ],
        because: "windows are changed, and what programs have copied is read, only where the rules for windows are asked",
    },
    Fence {
        pattern: r"\.\s*(act_if|release_input)\s*\(",
        inside: &["crates/platform/src/screen/", "crates/providers/src/screen/input.rs"],
        because: "pointer and keyboard are used only where every receiver is judged in the same instant",
    },
    Fence {
        pattern: r"\bxtest_fake_input\b",
        inside: &["crates/platform/src/screen/x11/input/inject.rs"],
        because: "one place makes input, and what it presses is known to a guard before",
    },
    Fence {
        pattern: r"\btree_sitter\w*\s*(::|;)",
        inside: &["crates/grammars/", "crates/providers/src/syntax/", "crates/providers/src/code/"],
        because: "grammars are written in C: one place says how long and how large a text they get",
    },
    Fence {
        pattern: r"\bx11rb\s*(::|;)",
        inside: &["crates/platform/src/screen/x11/"],
        because: "one place speaks to display servers",
    },
    Fence {
        pattern: r"\b(fast_image_resize|image_webp|jpeg_encoder|png)\s*(::|;)",
        inside: &["crates/providers/src/screen/"],
        because: "one place deals with the forms of pictures",
    },
    Fence {
        pattern: r"\bobjc2(_\w+)?\s*(::|;)",
        inside: &[
            "crates/platform/src/accessibility/ax/element.rs",
            "crates/platform/src/screen/desktop/mac_hand.rs",
            "crates/platform/src/screen/desktop/macos.rs",
            "crates/platform/src/screen/desktop/pasteboard.rs",
        ],
        because: "the libraries of macOS are called in small modules, and the rest is tested on Linux",
    },
    Fence {
        pattern: r"\bwindows_sys\s*(::|;)",
        inside: &[
            "crates/platform/src/fs/windows/notify.rs",
            "crates/platform/src/fs/windows/sys.rs",
            "crates/platform/src/launch/windows/pseudo_console.rs",
            "crates/platform/src/launch/windows/sys.rs",
            "crates/platform/src/screen/desktop/data_exchange.rs",
            "crates/platform/src/screen/desktop/input/sending.rs",
            "crates/platform/src/screen/desktop/windows.rs",
            "crates/platform/src/tty/console.rs",
            "crates/platform/src/windows/console.rs",
            "crates/platform/src/windows/processes.rs",
            "crates/platform/src/windows/sys.rs",
        ],
        because: "calls of Windows have no safe wrapper",
    },
    Fence {
        pattern: r"(^|[^:\w])windows\s*::\s*(Win32|core)\b",
        inside: &["crates/platform/src/accessibility/uia/element.rs"],
        because: "one small module speaks to UI Automation, and the rest is tested on Linux",
    },
    Fence {
        pattern: r"\b(crate|bailiwick_providers)::(code|syntax)::(.*\W)?(check|definitions|references|parse|faults)\b|\bsyntax::(check|parse|faults)\s*\(",
        inside: &["crates/providers/src/parser/"],
        because: "only a parse worker runs grammars: a text can crash them",
    },
    Fence {
        pattern: r"\b(TcpStream::connect|TcpSocket::|UdpSocket::|reqwest|ureq|(hyper|hyper_util)::client)",
        inside: &[
            "crates/platform/src/launch/",
            "crates/platform/src/screen/x11/",
            "crates/providers/src/egress/gate.rs",
            "crates/providers/src/egress/tests.rs",
            "src/diagnosis/prove/over_http.rs",
            "src/diagnosis/service.rs",
            "crates/providers/src/http_client.rs",
        ],
        because: "nothing connects to the network on its own: a process's own ports, the hosts that a scope names for its \
                  commands, displays, doctor's look at the own service, and the round trips of a public URL that the user \
                  asks for, are all",
    },
];

/// The modules that may have unsafe code, each for one system and one kind of calls.
const WITH_UNSAFE_CODE: &[&str] = &[
    "crates/grammars/build.rs",
    "crates/grammars/src/tables.rs",
    "crates/platform/src/accessibility/ax/element.rs",
    "crates/platform/src/accessibility/uia/element.rs",
    "crates/platform/src/fs/windows/notify.rs",
    "crates/platform/src/fs/windows/sys.rs",
    "crates/platform/src/fs/writers.rs",
    "crates/platform/src/launch/process/portable/sys.rs",
    "crates/platform/src/launch/sys.rs",
    "crates/platform/src/launch/windows/pseudo_console.rs",
    "crates/platform/src/launch/windows/sys.rs",
    "crates/platform/src/libproc.rs",
    "crates/platform/src/screen/desktop/data_exchange.rs",
    "crates/platform/src/screen/desktop/input/sending.rs",
    "crates/platform/src/screen/desktop/mac_hand.rs",
    "crates/platform/src/screen/desktop/macos.rs",
    "crates/platform/src/screen/desktop/windows.rs",
    "crates/platform/src/tty/console.rs",
    "crates/platform/src/windows/console.rs",
    "crates/platform/src/windows/processes.rs",
    "crates/platform/src/windows/sys.rs",
];

/// The crates below the adapters, each above those that may use it.
const LAYERS: &[&str] = &[
    "insta",
    "uncached",
    "cached",
    "schemaless",
    "schema",
    "contract",
    "platform",
    "config",
    "policy",
    "history",
    "grammars",
    "providers",
    "engine",
];

/// Reads every `.rs` file of the product.
fn sources() -> Vec<SourceFile> {
    ["src", "crates"].into_iter().flat_map(rust_files).collect()
}

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn a_crate_uses_only_crates_above_it() {
    let dependency = Regex::new(r"(?m)^bailiwick-(\w+)\b").expect("a good pattern");
    let mut problems = Vec::new();
    let mut found = BTreeSet::new();
    for folder in fs::read_dir(repository().join("crates")).expect("crates exists") {
        let name = folder.expect("crates can be read").file_name().to_string_lossy().into_owned();
        let Some(rank) = LAYERS.iter().position(|layer| *layer == name) else {
            problems.push(format!("crates/{name} is not in LAYERS"));
            continue;
        };
        let path = format!("crates/{name}/Cargo.toml");
        let manifest = fs::read_to_string(repository().join(&path)).expect("a manifest");
        for used in dependency.captures_iter(&manifest).map(|found| found[1].to_owned()) {
            if !LAYERS[..rank].contains(&used.as_str()) {
                problems.push(format!("{path}: `{name}` uses `{used}`, which is below it in LAYERS"));
            }
        }
        found.insert(name);
    }
    problems.extend(
        LAYERS
            .iter()
            .filter(|layer| !found.contains(**layer))
            .map(|layer| format!("there is no crates/{layer}")),
    );
    assert_none(&problems);
}

/// Inside the engine and the root package, whose modules are layers too: the compiler does not hold those.
#[test]
fn a_module_uses_only_modules_above_it() {
    let mut problems = Vec::new();
    let module = Regex::new(r"(?m)^(?:pub )?mod ([a-z_]+);").expect("a good pattern");
    let path = Regex::new(r"\bcrate::(\w+|\{)").expect("a good pattern");
    for (folder, skipped) in [("crates/engine/src", 1), ("src", 0)] {
        let text = fs::read_to_string(repository().join(folder).join("lib.rs")).expect("the file exists");
        let layers: Vec<String> = module.captures_iter(&text).map(|found| found[1].to_owned()).collect();
        assert!(layers.len() > 2, "the layers of {folder} were not read");
        for file in rust_files(folder) {
            let path_of_file = file.module_path();
            let modules = path_of_file.get(skipped..).unwrap_or_default();
            let Some(own) = modules.first() else { continue };
            let Some(own_rank) = layers.iter().position(|layer| layer == own) else {
                problems.push(format!("{}: `{own}` is no `mod` line of {folder}/lib.rs", file.path));
                continue;
            };
            for (number, line) in file.lines() {
                for found in path.captures_iter(line) {
                    let used = &found[1];
                    let problem = if used == "{" {
                        "write one `use crate::…` for each module, so that the layer is plain to see"
                            .to_owned()
                    } else {
                        match layers.iter().position(|layer| layer == used) {
                            Some(used_rank) if used_rank <= own_rank => continue,
                            Some(_) => format!("`{own}` uses `{used}`, which is below it in {folder}/lib.rs"),
                            None => format!("`crate::{used}` is no layer"),
                        }
                    };
                    problems.push(format!("{}:{number}: {problem}", file.path));
                }
            }
            problems.extend(climbs_to_the_crate(&file, modules.len()));
        }
    }
    assert_none(&problems);
}

/// `super::` must not reach the crate itself, past the check above.
fn climbs_to_the_crate(file: &SourceFile, depth: usize) -> Vec<String> {
    let chain = Regex::new(r"\b(super::)+").expect("a good pattern");
    let mut inline = 0;
    let mut problems = Vec::new();
    for (number, line) in file.lines() {
        if line.trim_start().starts_with("mod ") && line.trim_end().ends_with('{') {
            inline = 1;
        }
        for found in chain.find_iter(line) {
            if found.as_str().matches("super::").count() >= depth + inline {
                problems.push(format!(
                    "{}:{number}: `{}` reaches the crate; write `crate::…`",
                    file.path,
                    found.as_str()
                ));
            }
        }
    }
    problems
}

/// Families share what is in layers above them. Where one uses another, that one does not use it.
#[test]
fn no_two_families_use_each_other() {
    let used = Regex::new(r"\b(?:crate::operations|super::super)::([a-z_]+)").expect("a good pattern");
    let names: BTreeSet<&str> = FAMILIES.iter().map(|family| family.name).collect();
    let mut uses: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in rust_files("crates/engine/src/operations") {
        let family = file.module_path().get(2).map(|it| (*it).to_owned()).unwrap_or_default();
        let found = used.captures_iter(file.code()).map(|found| found[1].to_owned());
        uses.entry(family.clone())
            .or_default()
            .extend(found.filter(|it| *it != family && names.contains(&it[..])));
    }
    assert!(uses["menu"].contains("ui"), "the uses were not read");
    // Takes away whoever uses nobody that is left, until nobody is left, or only a circle.
    while let Some(family) =
        uses.iter().find(|(_, used)| used.iter().all(|it| !uses.contains_key(it))).map(|it| it.0.clone())
    {
        uses.remove(&family);
    }
    assert!(uses.is_empty(), "families that use each other: {uses:?}");
}

#[test]
fn fenced_names_stay_inside_their_fences() {
    let sources = sources();
    let mut problems = Vec::new();
    for fence in FENCES {
        let pattern = Regex::new(fence.pattern).expect("a good pattern");
        for file in &sources {
            let is_inside = fence.inside.iter().any(|place| file.path.starts_with(place));
            if is_inside || !pattern.is_match(file.code()) {
                continue;
            }
            for (number, line) in file.lines().filter(|(_, line)| pattern.is_match(line)) {
                let places =
                    if fence.inside.is_empty() { "nowhere".to_owned() } else { fence.inside.join(", ") };
                problems.push(format!(
                    "{}:{number}: `{}` may be only in {places}: {}",
                    file.path,
                    line.trim(),
                    fence.because
                ));
            }
        }
    }
    assert_none(&problems);
}

#[test]
fn no_other_file_has_unsafe_code() {
    // The fence above covers the product; tests, benches and examples have none either, nor may they ask for it.
    let word = Regex::new(r"\bunsafe\b|\bunsafe_code\b").expect("a good pattern");
    let is_root = |path: &str| path.ends_with("/src/lib.rs") || path == "src/lib.rs";
    let with_it: Vec<String> = ["src", "crates", "tests", "benches", "examples"]
        .into_iter()
        .flat_map(rust_files)
        .filter(|file| !is_root(&file.path) && word.is_match(file.code()))
        .map(|file| file.path)
        .collect();
    assert_eq!(
        with_it.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        WITH_UNSAFE_CODE.iter().copied().collect()
    );
    for file in sources().iter().filter(|file| is_root(&file.path)) {
        let crate_name = file.path.split('/').nth(1).unwrap_or_default();
        let level = if ["grammars", "platform"].contains(&crate_name) { "deny" } else { "forbid" };
        assert!(file.text.contains(&format!("#![{level}(unsafe_code)]")), "{}: {level} it", file.path);
    }
}

#[test]
fn every_fence_finds_what_it_fences() {
    let samples = [
        "use axum::Router;",
        "let config = rustls::ServerConfig::builder();",
        "let c = rusqlite::Connection::open();",
        "use ignore::WalkBuilder;",
        "use rustix::fs::openat;",
        "#[derive(clap::Parser)]",
        "#[cfg(target_os = )]",
        "unsafe { f() }",
        "println!();",
        "use nix::libc;",
        "use avt::Terminal;",
        "use brush_parser::word;",
        "displays.capture_display(id, None)",
        "displays.change_window(id, change, judge, true)",
        "displays.act_if(display, plan, judge, mode)",
        "connection.xtest_fake_input(kind, detail, 0, root, 0, 0, 0)",
        "tree_sitter_rust::LANGUAGE",
        "use x11rb::connection::Connection;",
        "png::Encoder::new()",
        "use objc2_core_foundation::CFString;",
        "use windows_sys::Win32::Foundation::HANDLE;",
        "use windows::Win32::Foundation::HANDLE;",
        "use bailiwick_providers::code::{Definitions, definitions, language_of};",
        "let stream = TcpStream::connect(address);",
    ];
    for (fence, sample) in FENCES.iter().zip(samples) {
        assert!(Regex::new(fence.pattern).expect("a good pattern").is_match(sample), "{sample}");
    }
    let of_systems = FENCES.iter().find(|fence| fence.pattern.contains("target_os")).expect("there is one");
    let system = Regex::new(of_systems.pattern).expect("a good pattern");
    for sample in
        ["#[cfg(unix)]", "#[cfg(not(windows))]", "if cfg!(target_os = \"\") {", "#[cfg_attr(unix, x)]"]
    {
        assert!(system.is_match(sample), "{sample}");
    }
    assert!(!system.is_match("#[cfg(test)]"));
}

#[test]
fn no_file_is_longer_than_the_limit() {
    let problems: Vec<String> = ["src", "crates", "tests", "benches", "examples"]
        .into_iter()
        .flat_map(rust_files)
        .filter_map(|file| {
            let lines = file.text.lines().count();
            (lines > MAX_LINES).then(|| format!("{}: {lines} lines, more than {MAX_LINES}", file.path))
        })
        .collect();
    assert_none(&problems);
}

#[test]
fn every_module_begins_by_saying_what_it_is_for() {
    let problems: Vec<String> = ["src", "crates", "tests", "benches"]
        .into_iter()
        .flat_map(rust_files)
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| format!("{}:1: the file must begin with `//! `", file.path))
        .collect();
    assert_none(&problems);
}

#[test]
fn a_mod_file_holds_no_logic() {
    let function = Regex::new(r"\bfn\s+\w+").expect("a good pattern");
    let mut problems = Vec::new();
    for file in sources() {
        if !file.path.ends_with("/mod.rs") && !file.path.ends_with("src/lib.rs") {
            continue;
        }
        for (number, line) in file.lines().filter(|(_, line)| function.is_match(line)) {
            problems.push(format!(
                "{}:{number}: `{}`: a mod.rs holds docs, modules, re-exports and tables",
                file.path,
                line.trim()
            ));
        }
    }
    assert_none(&problems);
}

#[test]
fn every_operation_has_one_file_of_its_name() {
    // A row that is another name of an operation has a file too.
    let operation = Regex::new(r"\bimpl Operation for\b|\bEntry::alias::<").expect("a good pattern");
    let name = Regex::new(r#"(?m)^\s*name: "([^"]+)","#).expect("a good pattern");
    let sources = rust_files("crates/engine/src/operations");
    let mut problems = Vec::new();
    let mut found = BTreeSet::new();
    for file in &sources {
        let implemented = operation.find_iter(file.code()).count();
        if implemented == 0 {
            continue;
        }
        let own = file.module_path()[2..].join(".");
        if implemented > 1 {
            problems.push(format!("{}: {implemented} operations in one file", file.path));
        }
        let stated = name.captures(&file.text).map(|found| found[1].to_owned()).unwrap_or_default();
        if stated != own {
            problems.push(format!("{}: its SPEC is named `{stated}`, the file says `{own}`", file.path));
        }
        found.insert(own);
    }
    for family in FAMILIES {
        for entry in family.operations {
            if entry.spec.family() != family.name {
                problems.push(format!("{} is in the table of `{}`", entry.spec.name, family.name));
            }
            if !found.remove(entry.spec.name) {
                problems.push(format!(
                    "{} has no file crates/engine/src/operations/{}.rs",
                    entry.spec.name,
                    entry.spec.name.replacen('.', "/", 1)
                ));
            }
        }
    }
    problems.extend(found.iter().map(|name| format!("{name} is in no family's table")));
    assert_none(&problems);
}

#[test]
fn every_stage_of_the_policy_has_one_file_of_its_name() {
    let mut expected: BTreeSet<String> =
        STAGES.iter().map(|stage| format!("crates/policy/src/stage/{}.rs", stage.name)).collect();
    let mut problems = Vec::new();
    for file in rust_files("crates/policy/src/stage") {
        if file.code().contains("const STAGE:") && !expected.remove(&file.path) {
            problems.push(format!("{}: no stage in STAGES has the name of this file", file.path));
        }
    }
    problems.extend(expected.iter().map(|path| format!("{path} does not exist")));
    assert_none(&problems);
}

/// Where a request is refused after the policy has permitted it, each with the reason why no stage can.
const REFUSALS_AFTER_THE_POLICY: &[(&str, &str)] = &[
    ("crates/engine/src/service/approvals.rs", "what the user has refused is in a file"),
    ("crates/engine/src/operations/git/commit.rs", "what is staged is known when the index is read"),
    ("crates/engine/src/operations/git/stage.rs", "what changed is known when Git has looked"),
    (
        "crates/engine/src/operations/git/worktree_create.rs",
        "where a worktree leads is known when Git has looked",
    ),
    ("crates/engine/src/operations/input/keys.rs", "a chord is known only when it is read"),
    ("crates/engine/src/operations/input/refusal.rs", "windows are judged at the instant of the input"),
    ("crates/engine/src/operations/process/secret.rs", "the user refuses while the operation waits"),
    ("crates/engine/src/operations/screen/read_capture.rs", "the rules of a kept picture are in its file"),
    (
        "crates/engine/src/operations/clipboard/refusal.rs",
        "who owns the clipboard is judged at the instant of the reading",
    ),
    ("crates/engine/src/operations/screen/refusal.rs", "windows are judged at the instant of the picture"),
    (
        "crates/engine/src/operations/ui/refusal.rs",
        "windows are judged at the instant when their elements are read",
    ),
    (
        "crates/engine/src/programs/commit.rs",
        "whether approved changes may still be written is known when they are taken over",
    ),
    ("crates/providers/src/command/environment.rs", "variables are judged where the environment is built"),
    ("crates/providers/src/command/hold.rs", "the level is known when the sandbox is chosen"),
    ("crates/providers/src/display/desktop.rs", "how many displays there are is known when one is made"),
    ("crates/providers/src/command/program.rs", "which file a program is, is known when it is found"),
    ("crates/providers/src/git/repository.rs", "where a repository leads is known when it is opened"),
    ("crates/providers/src/process/start.rs", "how many processes run is known when one starts"),
    ("crates/providers/src/repositories/closed.rs", "repositories are found beside the command"),
    ("src/adapters/http/listener.rs", "no request: a listener that does not start"),
    ("src/client_settings/settings_file.rs", "no request: a file that a command of the user cannot change"),
    ("src/diagnosis/config_files.rs", "no request: a file of another user, which a command cannot change"),
    ("src/installation/home.rs", "no request: a token that a command of the user names"),
    ("src/public_urls/typed_url.rs", "no request: a token that would go without encryption"),
    ("src/scope_setup/open_folder.rs", "no request: a folder that a command of the user cannot open"),
    ("src/scope_setup/scope_edit.rs", "no request: a folder that commands cannot be given"),
    ("src/tunnels/added_token.rs", "no request: a tunnel that would let everybody in"),
];

#[test]
fn requests_are_refused_by_the_policy_alone() {
    let refusal = Regex::new(r"\bFailure::denied\b").expect("a good pattern");
    // The command line refuses its own user, and no request.
    let is_elsewhere =
        |path: &str| !["crates/policy/src/", "src/adapters/cli/"].iter().any(|it| path.starts_with(it));
    let found: BTreeSet<String> = sources()
        .into_iter()
        .filter(|file| is_elsewhere(&file.path) && refusal.is_match(file.code()))
        .map(|file| file.path)
        .collect();
    let listed: BTreeSet<String> =
        REFUSALS_AFTER_THE_POLICY.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(found, listed);
    assert!(REFUSALS_AFTER_THE_POLICY.iter().all(|(_, reason)| !reason.is_empty()));
}

#[test]
fn there_is_no_leftover_file_in_the_schemas() {
    let names: BTreeSet<String> = FAMILIES
        .iter()
        .flat_map(|family| family.operations)
        .map(|entry| format!("{}.json", entry.spec.name))
        .collect();
    let problems: Vec<String> = files("schemas/operations")
        .iter()
        .filter_map(|path| path.file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| !names.contains(name))
        .map(|name| format!("schemas/operations/{name} belongs to no operation"))
        .collect();
    assert_none(&problems);
}

/// The text of every string literal of the code with the place where it begins, without those of its tests.
fn literals(file: &SourceFile) -> Vec<(usize, String)> {
    let own = file.text.find("#[cfg(test)]").unwrap_or(file.text.len());
    let quoted = Regex::new(r#""((?:[^"\\]|\\(?s:.))*)""#).expect("the pattern is fixed");
    let folded = Regex::new(r"\\\n\s*").expect("the pattern is fixed");
    let is_doc = |at: usize| {
        file.text[..at].rsplit('\n').next().is_some_and(|line| line.trim_start().starts_with("//"))
    };
    quoted
        .captures_iter(&file.text[..own])
        .filter_map(|found| found.get(1))
        .filter(|found| !is_doc(found.start()))
        .map(|found| (found.start(), folded.replace_all(found.as_str(), "").replace("\\\"", "\"")))
        .collect()
}

/// Returns the path and the line of a place, as editors take it.
fn line_of(file: &SourceFile, at: usize) -> String {
    format!("{}:{}", file.path, file.text[..at].lines().count())
}

fn shipped() -> Vec<SourceFile> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs");
    ["crates", "src"].into_iter().flat_map(rust_files).filter(|file| !is_test(&file.path)).collect()
}

#[test]
fn what_a_user_is_told_to_do_is_a_command_where_there_is_one() {
    let config: serde_json::Value = serde_json::from_str(bailiwick::config::Config::SCHEMA).expect("JSON");
    let policy = &config["$defs"]["ScopePolicy"]["properties"];
    let keys: Vec<&String> = policy.as_object().expect("fields").keys().collect();
    assert!(keys.len() > 20, "{keys:?}");
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in shipped() {
        for (at, text) in literals(&file) {
            let told = match text.split_once("For the user:").or_else(|| text.split_once("{FOR_USER}")) {
                Some((_, told)) => told.to_owned(),
                // What `doctor` proposes is for the user alone.
                None if ["/doctor/", "/diagnosis/"].iter().any(|it| file.path.contains(it)) => text,
                None => continue,
            };
            seen += 1;
            let is_named = |key: &&&String| {
                [format!("policy.{key}"), format!("`{key}`"), format!("\"{key}\"")]
                    .iter()
                    .any(|it| told.contains(it))
            };
            if let Some(key) = keys.iter().find(is_named) {
                wrong.push(format!("{}: {key}: {told}", line_of(&file, at)));
            }
        }
    }
    assert!(seen > 50, "{seen}");
    assert!(wrong.is_empty(), "a command of `bailiwick scope` changes these:\n{}", wrong.join("\n"));
}

#[test]
fn no_text_of_the_program_names_a_file_of_its_source() {
    let named = Regex::new(r"\bdocs/[a-z]+(/[a-z-]+)?\.md\b").expect("the pattern is fixed");
    // These make or read the pages.
    let about_pages = ["crates/engine/src/reference/", "src/adapters/cli/topics.rs"];
    let mut wrong = Vec::new();
    for file in shipped().iter().filter(|file| !about_pages.iter().any(|it| file.path.starts_with(it))) {
        let texts = literals(file).into_iter().filter(|(_, text)| named.is_match(text));
        wrong.extend(texts.map(|(at, text)| format!("{}: {text}", line_of(file, at))));
        // The help of the command line is in its comments.
        if file.path.ends_with("/args.rs") {
            let help = file
                .text
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains("///") && named.is_match(line));
            wrong.extend(help.map(|(at, line)| format!("{}:{}: {line}", file.path, at + 1)));
        }
    }
    assert!(
        wrong.is_empty(),
        "`bailiwick help TOPIC` has pages for those who have no source:\n{}",
        wrong.join("\n")
    );
}
