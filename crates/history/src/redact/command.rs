//! Secrets among the words of commands: options whose names do not say that their values are secret.
//!
//! `-p` is a port here and a password there; which, only the program says. A program is looked for at any
//! word, since others may precede it: `timeout 5 curl …`, `docker exec db mysql …`.

use std::ops::Range;

use super::placeholder::{Candidate, is_placeholder};
use super::rules::{is_mixed, is_secret_flag, is_secret_name};

/// What marks of secrets found here are called.
pub const KIND: &str = "command";

/// How deep commands may be quoted within commands.
const MAX_DEPTH: usize = 3;

/// A program, and which of its words are secret.
struct Program {
    /// Its names; one that ends in `*` is the beginning of names.
    names: &'static [&'static str],
    /// Words of which one must be between the program and the secret; none if it needs none.
    subcommands: &'static [&'static str],
    /// Where its secrets are.
    secrets: &'static [SecretPosition],
}

/// Where a secret is among the words of a program.
enum SecretPosition {
    /// The value of an option, in a word of its own or after `=`; of a short one also in the same word.
    Option(&'static str, Part),
    /// The value of an option in the same word only: alone, the option means something else.
    Attached(&'static str, Part),
    /// The word after this one, unless it reads like a word of a sentence.
    After(&'static str),
    /// The word after one that is the name of a secret.
    AfterName,
    /// The last word.
    Last,
}

/// Which part of a value is secret.
#[derive(Clone, Copy)]
enum Part {
    All,
    /// What follows this character; nothing if it does not occur.
    Behind(char),
    /// What follows this character, or all.
    BehindOrAll(char),
}

use Part::{All, Behind, BehindOrAll};
use SecretPosition::{After, AfterName, Attached, Last, Option as Opt};

/// Every program that is known to take secrets as words.
const PROGRAMS: &[Program] = &[
    Program { names: &["mysql*", "mariadb*"], subcommands: &[], secrets: &[Attached("-p", All)] },
    Program { names: &["sshpass"], subcommands: &[], secrets: &[Opt("-p", All)] },
    Program {
        names: &[
            "docker", "podman", "nerdctl", "buildah", "skopeo", "oras", "crane", "helm", "regctl", "az",
            "oc", "cf", "ibmcloud",
        ],
        subcommands: &["login"],
        secrets: &[Opt("-p", All), Opt("--apikey", All)],
    },
    Program {
        names: &["redis-cli", "valkey-cli", "keydb-cli"],
        subcommands: &[],
        secrets: &[Opt("-a", All), Opt("--pass", All)],
    },
    Program {
        names: &["curl"],
        subcommands: &[],
        secrets: &[
            Opt("-u", Behind(':')),
            Opt("--user", Behind(':')),
            Opt("-U", Behind(':')),
            Opt("--proxy-user", Behind(':')),
            Opt("-E", Behind(':')),
            Opt("--cert", Behind(':')),
            Opt("-b", Behind('=')),
            Opt("--cookie", Behind('=')),
            Opt("--oauth2-bearer", All),
            Opt("--pass", All),
        ],
    },
    Program {
        names: &["http", "https", "xh", "xhs"],
        subcommands: &[],
        secrets: &[Opt("-a", BehindOrAll(':')), Opt("--auth", BehindOrAll(':'))],
    },
    Program { names: &["7z", "7za", "7zr", "7zz"], subcommands: &[], secrets: &[Attached("-p", All)] },
    Program {
        names: &["rar", "unrar"],
        subcommands: &[],
        secrets: &[Attached("-p", All), Attached("-hp", All)],
    },
    Program { names: &["zip", "unzip"], subcommands: &[], secrets: &[Opt("-P", All)] },
    Program { names: &["ldap*"], subcommands: &[], secrets: &[Opt("-w", All)] },
    Program {
        names: &["smbclient", "smbget", "rpcclient"],
        subcommands: &[],
        secrets: &[Opt("-U", Behind('%')), Opt("--user", Behind('%'))],
    },
    Program { names: &["sqlcmd", "bcp", "osql", "isql"], subcommands: &[], secrets: &[Opt("-P", All)] },
    Program { names: &["sqlplus"], subcommands: &[], secrets: &[Attached("", Behind('/'))] },
    Program {
        names: &["mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport"],
        subcommands: &[],
        secrets: &[Opt("-p", All)],
    },
    Program {
        names: &["mosquitto_pub", "mosquitto_sub", "ipmitool"],
        subcommands: &[],
        secrets: &[Opt("-P", All)],
    },
    Program {
        names: &["snmpget", "snmpwalk", "snmpset", "snmpbulkwalk"],
        subcommands: &[],
        secrets: &[Opt("-c", All), Opt("-A", All), Opt("-X", All)],
    },
    Program { names: &["lftp"], subcommands: &[], secrets: &[Opt("-u", Behind(','))] },
    Program { names: &["xfreerdp", "wfreerdp"], subcommands: &[], secrets: &[Attached("/p:", All)] },
    Program { names: &["rdesktop", "psexec", "twine"], subcommands: &[], secrets: &[Opt("-p", All)] },
    Program {
        names: &["htpasswd"],
        subcommands: &[
            "-b", "-cb", "-bc", "-nb", "-bn", "-nbB", "-bB", "-Bb", "-cbB", "-bcB", "-nBb", "-cBb", "-Bbn",
            "-bnB",
        ],
        secrets: &[Last],
    },
    Program { names: &["wpa_passphrase"], subcommands: &[], secrets: &[Last] },
    Program { names: &["ssh-keygen"], subcommands: &[], secrets: &[Opt("-N", All), Opt("-P", All)] },
    Program {
        names: &["keytool", "jarsigner"],
        subcommands: &[],
        secrets: &[
            Opt("-storepass", All),
            Opt("-keypass", All),
            Opt("-srcstorepass", All),
            Opt("-deststorepass", All),
            Opt("-srckeypass", All),
            Opt("-destkeypass", All),
        ],
    },
    Program {
        names: &["security"],
        subcommands: &["add-generic-password", "add-internet-password"],
        secrets: &[Opt("-w", All)],
    },
    Program {
        names: &["security"],
        subcommands: &["unlock-keychain", "create-keychain", "set-keychain-password"],
        secrets: &[Opt("-p", All)],
    },
    Program { names: &["openssl"], subcommands: &["enc"], secrets: &[Opt("-k", All), Opt("-K", All)] },
    Program { names: &["openssl"], subcommands: &[], secrets: &[Attached("pass:", All)] },
    Program { names: &["openssl"], subcommands: &["passwd"], secrets: &[Last] },
    Program { names: &["nmcli"], subcommands: &[], secrets: &[After("password"), AfterName] },
    Program { names: &["vault", "cargo"], subcommands: &[], secrets: &[After("login")] },
    Program { names: &["bw"], subcommands: &[], secrets: &[After("unlock")] },
    Program { names: &["ngrok"], subcommands: &[], secrets: &[After("authtoken"), After("add-authtoken")] },
    Program {
        names: &["gh", "glab"],
        subcommands: &["secret", "variable"],
        secrets: &[Opt("-b", All), Opt("--body", All)],
    },
    Program {
        names: &["kubectl", "oc"],
        subcommands: &["secret"],
        secrets: &[Opt("--from-literal", Behind('='))],
    },
    Program {
        names: &[
            "npm", "pnpm", "yarn", "git", "aws", "poetry", "bundle", "dotnet", "gcloud", "pip", "pip3",
            "composer", "pulumi", "hg", "conda", "rclone", "mc",
        ],
        subcommands: &["set", "config", "user-secrets"],
        secrets: &[AfterName],
    },
];

/// Words that occur in every text in which [`find_in_text`] can find something, in lower case.
pub fn words() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().flat_map(|program| program.names.iter()).map(|name| match *name {
        // Shorter ones, and some others, occur everywhere: the word that has to follow stands for them.
        "az" | "oc" | "cf" | "cargo" | "docker" | "podman" | "helm" => "login",
        "pip" | "pip3" => "config",
        "kubectl" => "secret",
        "bw" => "unlock",
        "mc" | "hg" | "git" => "config",
        "gh" => "secret",
        "http" => "http ",
        "https" => "https ",
        "xh" => "xh ",
        other => other.trim_end_matches('*'),
    })
}

/// A secret among words: which word, and which bytes of it.
#[derive(Debug)]
pub struct Secret {
    /// The number of the word.
    pub word: usize,
    /// Its bytes.
    pub bytes: Range<usize>,
}

/// Finds the secrets among the words of commands.
pub fn find(words: &[&str]) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut start = 0;
    for end in 0..=words.len() {
        if end == words.len() || is_joiner(words[end]) {
            in_command(&words[start..end], start, &mut found);
            start = end + 1;
        }
    }
    found
}

/// Finds the values of words that are nothing but a secret with its name: `NAME=value with blanks`, and words
/// after `--token`.
pub fn find_named(words: &[&str]) -> Vec<Secret> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| words[before]);
        if before.is_some_and(is_secret_flag) {
            push(&mut found, at, word, 0, All);
        }
        // A script for a shell is judged as text: more follows the value there.
        if before.is_some_and(|it| it.starts_with('-') && !it.starts_with("--") && it.ends_with('c')) {
            continue;
        }
        let Some((name, _)) = word.split_once('=') else { continue };
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-.".contains(&it))
        };
        if is_name(name) && is_secret_name(name) {
            push(&mut found, at, word, name.len() + 1, All);
        }
    }
    found
}

/// Finds the secrets of commands in a text, as byte ranges.
pub fn find_in_text(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    in_text(text, 0, MAX_DEPTH, &mut found);
    found
}

fn in_text(text: &str, offset: usize, depth: usize, found: &mut Vec<Range<usize>>) {
    let ranges = split(text);
    let words: Vec<&str> = ranges.iter().map(|range| &text[range.clone()]).collect();
    for secret in find(&words) {
        let start = offset + ranges[secret.word].start;
        found.push(start + secret.bytes.start..start + secret.bytes.end);
    }
    if depth > 0 {
        for (word, range) in words.iter().zip(&ranges).filter(|(word, _)| word.contains(' ')) {
            in_text(word, offset + range.start, depth - 1, found);
        }
    }
}

fn is_joiner(word: &str) -> bool {
    matches!(word, "|" | "||" | "&&" | ";" | "&" | "|&" | "\n" | "`")
}

fn in_command(words: &[&str], offset: usize, found: &mut Vec<Secret>) {
    // Each row is tried once, at its first place: what follows a second one was checked by then.
    let mut done = 0_u64;
    for (at, word) in words.iter().enumerate() {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        let name = name.strip_suffix(".exe").unwrap_or(name);
        if name.len() > 24 || name.is_empty() {
            continue;
        }
        for (row, program) in PROGRAMS.iter().enumerate() {
            if done >> row & 1 == 0 && program.names.iter().any(|it| is_named(name, it)) {
                done |= 1 << row;
                of_program(program, &words[at + 1..], offset + at + 1, found);
            }
        }
    }
}

fn is_named(name: &str, row: &str) -> bool {
    match row.strip_suffix('*') {
        Some(beginning) => name.get(..beginning.len()).is_some_and(|it| it.eq_ignore_ascii_case(beginning)),
        None => name.eq_ignore_ascii_case(row),
    }
}

fn of_program(program: &Program, words: &[&str], offset: usize, found: &mut Vec<Secret>) {
    let start = match program.subcommands {
        [] => 0,
        subcommands => match words.iter().position(|word| subcommands.contains(word)) {
            Some(at) => at,
            None => return,
        },
    };
    for place in program.secrets {
        match place {
            Opt(name, part) => of_option(name, *part, words, start, offset, found),
            Attached(name, part) => {
                for (at, word) in words.iter().enumerate().skip(start) {
                    if word.starts_with(name) && word.len() > name.len() {
                        push(found, offset + at, word, name.len(), *part);
                    }
                }
            }
            After(before) => {
                let pairs = words.windows(2).enumerate().filter(|(_, pair)| pair[0] == *before);
                let is_value = |word: &str| {
                    !word.starts_with('-') && !word.contains('=') && (word.len() >= 12 || is_mixed(word))
                };
                for (at, pair) in pairs.filter(|(_, pair)| is_value(pair[1])) {
                    push(found, offset + at + 1, pair[1], 0, All);
                }
            }
            AfterName => {
                let pairs = words.windows(2).enumerate().skip(start);
                for (at, pair) in pairs.filter(|(_, pair)| is_secret_name(pair[0]) && !pair[0].contains('='))
                {
                    push(found, offset + at + 1, pair[1], 0, All);
                }
            }
            Last => {
                let last = words.iter().enumerate().skip(start + 1).next_back();
                if let Some((at, word)) = last.filter(|(_, word)| !word.starts_with('-') || word.len() > 2) {
                    push(found, offset + at, word, 0, All);
                }
            }
        }
    }
}

fn of_option(name: &str, part: Part, words: &[&str], start: usize, offset: usize, found: &mut Vec<Secret>) {
    let is_short = name.len() == 2;
    for (at, word) in words.iter().enumerate().skip(start) {
        let Some(rest) = word.strip_prefix(name) else {
            // Short options in one word, the last of which takes the value: `-sSu anna:secret`.
            let letters = word.strip_prefix('-').filter(|it| it.bytes().all(|it| it.is_ascii_alphabetic()));
            if is_short
                && letters.is_some_and(|it| it.len() < 8 && it.ends_with(&name[1..]))
                && let Some(value) = words.get(at + 1)
            {
                push(found, offset + at + 1, value, 0, part);
            }
            continue;
        };
        if rest.is_empty() {
            if let Some(value) = words.get(at + 1) {
                push(found, offset + at + 1, value, 0, part);
            }
        } else if rest.starts_with('=') {
            push(found, offset + at, word, name.len() + 1, part);
        } else if is_short {
            push(found, offset + at, word, name.len(), part);
        }
    }
}

/// Adds the secret part of a word from a byte on, unless a placeholder is there.
fn push(found: &mut Vec<Secret>, at: usize, word: &str, from: usize, part: Part) {
    let value = &word[from..];
    let start = match part {
        All => 0,
        Behind(mark) => match value.find(mark) {
            Some(at) => at + mark.len_utf8(),
            None => return,
        },
        BehindOrAll(mark) => value.find(mark).map_or(0, |at| at + mark.len_utf8()),
    };
    if !value[start..].is_empty() && !is_placeholder(Candidate::within(word, from + start, word.len())) {
        found.push(Secret { word: at, bytes: from + start..word.len() });
    }
}

/// Splits a text into words as a shell or a list in JSON does, roughly: quotes keep blanks together.
///
/// A quote that is never closed, and an apostrophe within a word, are characters like others.
fn split(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    // Where a closing quote was looked for in vain: it is not looked for again.
    let mut unclosed = [false; 3];
    while at < bytes.len() {
        match bytes[at] {
            b'\n' | b';' | b'|' | b'`' => {
                words.push(at..at + 1);
                at += 1;
                continue;
            }
            b'&' if bytes.get(at + 1) == Some(&b'&') => {
                words.push(at..at + 2);
                at += 2;
                continue;
            }
            b':' if at > 0 && matches!(bytes[at - 1], b'"' | b'\'') => {
                at += 1;
                continue;
            }
            byte if byte.is_ascii_whitespace() || b"[](){},".contains(&byte) => {
                at += 1;
                continue;
            }
            _ => {}
        }
        let start = at;
        let mut inner = None;
        while at < bytes.len() {
            let byte = bytes[at];
            if byte.is_ascii_whitespace() || matches!(byte, b';' | b'|' | b'`') {
                break;
            }
            let which = match byte {
                b'\\' if bytes.get(at + 1) == Some(&b'"') => 0,
                b'"' => 1,
                b'\'' => 2,
                b'\\' => {
                    at = (at + 2).min(bytes.len());
                    continue;
                }
                _ => {
                    at += 1;
                    continue;
                }
            };
            let quote = [r#"\""#, "\"", "'"][which];
            let within_a_word =
                which == 2 && at > start && bytes[at - 1].is_ascii_alphabetic() && bytes[start] != b'-';
            let close =
                if unclosed[which] || within_a_word { None } else { text[at + quote.len()..].find(quote) };
            let Some(close) = close else {
                unclosed[which] |= !within_a_word;
                at += quote.len();
                continue;
            };
            let end = at + quote.len() + close;
            if at == start {
                inner = Some((at + quote.len()..end, end + quote.len()));
            }
            at = end + quote.len();
            // The end of an item of a list.
            if matches!(bytes.get(at), Some(b',' | b']' | b'}' | b':')) {
                break;
            }
        }
        at = at.min(bytes.len());
        while !text.is_char_boundary(at) {
            at += 1;
        }
        // Quotes around the whole word are no part of it.
        words.push(match inner {
            Some((inner, end)) if end == at => inner,
            _ => start..at,
        });
    }
    words
}
