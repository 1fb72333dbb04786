//! The part of a scope's policy that is about commands, as `config.json` writes it.

use std::fmt;

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use bailiwick_contract::Network;

/// A rule over the words of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a rule is a line such as `git status *`, or an object with `tokens`")]
pub enum CommandRule {
    /// Words apart by blanks. `*` alone stands for any number of words; in a word for any characters.
    Line(String),
    /// Words one by one, with examples.
    Tokens(TokenRule),
}

impl CommandRule {
    /// Returns the rule as the command line names it: the line itself, or the JSON of its words.
    pub fn spelled(&self) -> String {
        match self {
            Self::Line(line) => line.clone(),
            Self::Tokens(_) => serde_json::to_string(self).expect("a rule has a JSON form"),
        }
    }
}

impl From<&str> for CommandRule {
    fn from(line: &str) -> Self {
        Self::Line(line.to_owned())
    }
}

/// A rule whose words are given one by one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TokenRule {
    /// The words; the first is the program's.
    pub tokens: Vec<TokenPattern>,
    /// Commands that the rule must match, or the config is refused.
    #[serde(rename = "match", default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<String>,
    /// Commands that the rule must not match, or the config is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_match: Vec<String>,
}

/// One word of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a word, a list of words, or `{\"not\": word}`")]
pub enum TokenPattern {
    /// This word; `*` alone stands for any number of words, in a word for any characters.
    Word(String),
    /// One of these words.
    OneOf(Vec<String>),
    /// One word that is none of these.
    Not(NegatedWords),
}

/// `{"not": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NegatedWords {
    /// What the word must not be.
    pub not: Words,
}

/// A word, or several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a word or a list of words")]
pub enum Words {
    /// One.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl Words {
    /// Returns the words.
    pub fn as_slice(&self) -> &[String] {
        match self {
            Self::One(word) => std::slice::from_ref(word),
            Self::Many(words) => words,
        }
    }
}

/// What happens to a command string that is more than literal words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ShellMode {
    /// It is refused.
    #[default]
    Off,
    /// Any program and any text for bash may run, in a full sandbox without a network beyond its loopback and nowhere else; rules that
    /// deny or ask count as far as they recognise it.
    Sandboxed,
}

impl ShellMode {
    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// Whose changes can be taken back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum UndoMode {
    /// Those of operations on files.
    #[default]
    Files,
    /// Also those of commands and of scripts of projects, in the folders of the scope.
    Commands,
}

impl UndoMode {
    /// Returns the name in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Commands => "commands",
        }
    }

    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_files(&self) -> bool {
        *self == Self::Files
    }
}

/// Whether you see what a command would do before you approve it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PreviewMode {
    /// No.
    Off,
    /// It runs once before, in a full sandbox without a network, and what it writes is thrown away.
    #[default]
    Show,
    /// The same, and an approval of the request takes over exactly the changes that were shown: the command does not run again.
    Commit,
}

impl PreviewMode {
    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_show(&self) -> bool {
        *self == Self::Show
    }
}

/// How strongly commands are held.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SandboxLevel {
    /// As strongly as this computer can, and at least partially.
    #[default]
    Auto,
    /// Names, processes, network, files and system calls.
    Full,
    /// Files and system calls.
    Partial,
    /// Not at all; a person has to write this.
    None,
}

impl SandboxLevel {
    /// Returns the name in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Full => "full",
            Self::Partial => "partial",
            Self::None => "none",
        }
    }

    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// How long a started process lives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ProcessLifetime {
    /// Until it ends, is stopped, or its time is over, whatever becomes of the client and of the service.
    #[default]
    Durable,
    /// At most as long as the service that started it.
    Service,
    /// At most as long as the connection of the client that started it.
    Client,
}

impl ProcessLifetime {
    /// Returns the name in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Durable => "durable",
            Self::Service => "service",
            Self::Client => "client",
        }
    }

    /// Returns whether it is the default.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
    pub(super) fn is_durable(&self) -> bool {
        *self == Self::Durable
    }
}

/// What commands may reach, as `config.json` writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkRule {
    /// Nothing.
    None,
    /// A loopback of their own.
    Loopback,
    /// Everything.
    Full,
    /// A loopback of their own, and the named hosts.
    Hosts(HostList),
}

impl NetworkRule {
    /// Returns what commands may reach, without the names of hosts.
    pub const fn network(&self) -> Network {
        match self {
            Self::None => Network::None,
            Self::Loopback => Network::Loopback,
            Self::Full => Network::Full,
            Self::Hosts(_) => Network::Hosts,
        }
    }
}

impl From<NetworkWord> for NetworkRule {
    fn from(word: NetworkWord) -> Self {
        match word {
            NetworkWord::None => Self::None,
            NetworkWord::Loopback => Self::Loopback,
            NetworkWord::Full => Self::Full,
        }
    }
}

impl Serialize for NetworkRule {
    fn serialize<S: serde::Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Hosts(list) => list.serialize(writer),
            word => word.network().serialize(writer),
        }
    }
}

/// The hosts that commands may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostList {
    /// A host (`github.com`), a domain (`*.example.org`), an address or a network (`10.0.0.5`, `10.0.0.0/8`); each with
    /// `:PORT`, or for the ports 443 and 80.
    pub hosts: Vec<String>,
    /// What happens to all other hosts; default `deny`.
    #[serde(default)]
    pub otherwise: OtherHosts,
}

/// What happens to hosts that are not named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OtherHosts {
    /// They are refused.
    #[default]
    Deny,
    /// They are refused, and open a ticket: once it is approved, the next try succeeds.
    Ask,
}

impl OtherHosts {
    /// Returns the word in the config.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
        }
    }
}

impl<'de> Deserialize<'de> for OtherHosts {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        match String::deserialize(reader)?.as_str() {
            "deny" => Ok(Self::Deny),
            "ask" => Ok(Self::Ask),
            other => Err(D::Error::custom(format!(
                "`{}` is unknown; expected `deny` or `ask`",
                other.escape_debug()
            ))),
        }
    }
}

/// The forms of `network` that are a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetworkWord {
    /// Nothing: no socket but connected pairs.
    None,
    /// A loopback interface of its own, which nothing outside can reach.
    Loopback,
    /// Everything that the computer reaches.
    Full,
}

/// The forms of `network`.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "for the schema alone")]
pub(super) enum NetworkForm {
    /// The older form: `true` is `full`, `false` is `none`.
    Flag(bool),
    /// What commands may reach.
    Word(NetworkWord),
    /// The hosts that commands may reach, beside a loopback of their own. Full sandbox only.
    Hosts(HostList),
}

impl<'de> Deserialize<'de> for NetworkRule {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(NetworkVisitor)
    }
}

struct NetworkVisitor;

impl<'de> Visitor<'de> for NetworkVisitor {
    type Value = NetworkRule;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`none`, `loopback`, `full`, `true`, `false` or `{\"hosts\": [...]}`")
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<NetworkRule, E> {
        Ok(if flag { NetworkRule::Full } else { NetworkRule::None })
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<NetworkRule, E> {
        match word {
            "none" => Ok(NetworkRule::None),
            "loopback" => Ok(NetworkRule::Loopback),
            "full" => Ok(NetworkRule::Full),
            _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NetworkRule, A::Error> {
        HostList::deserialize(MapAccessDeserializer::new(map)).map(NetworkRule::Hosts)
    }
}
