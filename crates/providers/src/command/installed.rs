//! Which of the programs that projects need are there, by their names alone: nothing is started.

use bailiwick_platform::dirs::Dirs;
use bailiwick_policy::{AllRoots, Scope};

use super::prepare::closed_folders;
use super::program::SearchPath;

/// Git, the usual search, and what builds, tests and installs packages.
pub(super) const TOOLS: &[&str] = &[
    "git", "rg", "node", "npm", "pnpm", "yarn", "bun", "deno", "python3", "pip", "uv", "poetry", "cargo",
    "go", "java", "mvn", "gradle", "dotnet", "ruby", "bundle", "php", "composer", "make", "cmake", "gcc",
    "docker",
];

/// Returns which tools the search path of a scope has, of those that a caller could run there.
pub fn installed_tools(
    scope: &Scope,
    roots: &AllRoots,
    dirs: &Dirs,
    may_run: impl Fn(&str) -> bool,
) -> Vec<&'static str> {
    let closed = closed_folders(roots, dirs);
    let search = SearchPath::new(&scope.commands().hold().search_path, &closed);
    TOOLS.iter().copied().filter(|name| may_run(name) && search.get(name).is_some()).collect()
}
