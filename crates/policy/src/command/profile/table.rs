//! The table of all profiles, and finding a program in it.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::{
    Profile, archive, cargo, containers, files, git, interpreters, javascript, python, remote, tools,
    wrappers,
};

/// Every profile.
const PROFILES: &[&[Profile]] = &[
    git::PROFILES,
    javascript::PROFILES,
    cargo::PROFILES,
    python::PROFILES,
    interpreters::PROFILES,
    files::PROFILES,
    archive::PROFILES,
    tools::PROFILES,
    containers::PROFILES,
    remote::PROFILES,
    wrappers::PROFILES,
];

/// Returns every profile, family after family.
pub fn all() -> impl Iterator<Item = &'static Profile> {
    PROFILES.iter().copied().flatten()
}

/// Finds the profile of a program by one of its names, in lower case.
pub fn find(name: &str) -> Option<&'static Profile> {
    static BY_NAME: LazyLock<HashMap<&'static str, &'static Profile>> = LazyLock::new(|| {
        all().flat_map(|profile| profile.names.iter().map(move |name| (*name, profile))).collect()
    });
    BY_NAME.get(name).copied()
}

/// Programs that are another command by another name, such as `npx` for `npm exec`.
pub const SAME_AS: &[(&str, &[&str])] = &[
    ("npx", &["npm", "exec"]),
    ("pnpx", &["pnpm", "dlx"]),
    ("bunx", &["bun", "x"]),
    ("uvx", &["uv", "tool", "run"]),
    ("docker-compose", &["docker", "compose"]),
    ("podman-compose", &["podman", "compose"]),
    ("rustdoc", &["cargo", "rustdoc"]),
];
