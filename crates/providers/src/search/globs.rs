//! Globs over paths, as clients write them to choose files.

use std::ffi::OsStr;

use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

use bailiwick_contract::Failure;
use bailiwick_platform::names::OsStrExt;

/// How many globs one request may have.
const MAX_GLOBS: usize = 100;
/// How long one glob may be, in bytes.
const MAX_GLOB_BYTES: usize = 1_000;

/// Compiled globs. With none, every path is chosen.
#[derive(Debug, Clone)]
pub struct Globs {
    wanted: GlobSet,
    unwanted: GlobSet,
    /// How many bytes of a path beneath the root lead to the folder that was asked about, with the slash.
    target_prefix: usize,
}

impl Globs {
    /// Compiles globs. `*` and `?` stay within one name, `**` spans folders, `{a,b}` and `[…]` choose.
    ///
    /// A glob without `/` is about the name alone, at any depth; another one about the whole path, from the
    /// scope's folder or from the folder that was asked about. `!` in front excludes; a folder's glob with `!`
    /// or with a final `/` stands for all that is in the folder.
    ///
    /// # Errors
    /// `invalid_request` that names the field.
    pub fn compile(field: &str, globs: &[String], ignore_case: bool, target: &[u8]) -> Result<Self, Failure> {
        if globs.len() > MAX_GLOBS {
            return Err(Failure::invalid(field, format!("`{field}` has more than {MAX_GLOBS} globs")));
        }
        let (mut wanted, mut unwanted) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for text in globs {
            let (set, glob, excludes) = match text.strip_prefix('!') {
                Some(rest) => (&mut unwanted, rest, true),
                None => (&mut wanted, text.as_str(), false),
            };
            let (glob, folder) = match glob.strip_suffix('/') {
                Some(folder) => (folder, true),
                None => (glob, false),
            };
            let anchored = glob.contains('/');
            let glob = glob.strip_prefix('/').or_else(|| glob.strip_prefix("./")).unwrap_or(glob);
            if glob.is_empty() || glob.len() > MAX_GLOB_BYTES {
                return Err(wrong(field, text, "it is empty or longer than 1000 bytes"));
            }
            let glob = if anchored { glob.to_owned() } else { format!("**/{glob}") };
            let mut add = |glob: &str| -> Result<(), Failure> {
                let built =
                    GlobBuilder::new(glob).literal_separator(true).case_insensitive(ignore_case).build();
                set.add(built.map_err(|error| wrong(field, text, &error.kind().to_string()))?);
                Ok(())
            };
            if !folder {
                add(&glob)?;
            }
            if folder || excludes {
                add(&format!("{glob}/**"))?;
            }
        }
        let build = |set: GlobSetBuilder| {
            set.build().map_err(|_| Failure::invalid(field, format!("the globs of `{field}` are too large")))
        };
        let target_prefix = if target.is_empty() { 0 } else { target.len() + 1 };
        Ok(Self { wanted: build(wanted)?, unwanted: build(unwanted)?, target_prefix })
    }

    /// Returns whether a path beneath the root is chosen.
    pub fn choose(&self, path: &[u8]) -> bool {
        if self.wanted.is_empty() && self.unwanted.is_empty() {
            return true;
        }
        let from_root = Candidate::new(OsStr::from_bytes(path));
        let below = path.get(self.target_prefix..).filter(|_| self.target_prefix > 0);
        let from_target = below.map(|path| Candidate::new(OsStr::from_bytes(path)));
        let any = |set: &GlobSet| {
            !set.is_empty()
                && (set.is_match_candidate(&from_root)
                    || from_target.as_ref().is_some_and(|path| set.is_match_candidate(path)))
        };
        (self.wanted.is_empty() || any(&self.wanted)) && !any(&self.unwanted)
    }
}

fn wrong(field: &str, glob: &str, why: &str) -> Failure {
    let shown: String = glob.chars().take(80).collect();
    Failure::invalid(field, format!("`{field}`: `{shown}` is not a glob: {why}"))
        .hint("Examples: `*.rs`, `src/**/*.ts`, `**/test_*.py`, `*.{js,ts}`.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(globs: &[&str], target: &str, path: &str) -> bool {
        let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
        Globs::compile("input.pattern", &globs, false, target.as_bytes())
            .expect("good globs")
            .choose(path.as_bytes())
    }

    #[test]
    fn globs_choose_names_or_paths() {
        for (globs, target, path, expected) in [
            (&["*.rs"] as &[&str], "", "src/a/b.rs", true),
            (&["src/*.rs"], "", "src/a/b.rs", false),
            (&["src/**/*.rs"], "", "src/a/b.rs", true),
            (&["/src/*.rs"], "", "src/b.rs", true),
            (&["./src/*.rs"], "", "src/b.rs", true),
            (&["a/*.rs"], "src", "src/a/b.rs", true),
            (&["src/a/*.rs"], "src", "src/a/b.rs", true),
            (&["*.rs", "!b.*"], "", "src/a/b.rs", false),
            (&["!a"], "", "src/a/b.rs", false),
            (&["!a/"], "", "src/a/b.rs", false),
            (&["!a/"], "", "src/a", true),
            (&["src/"], "", "src/a/b.rs", true),
            (&["*.{js,ts}"], "", "x/y.ts", true),
            (&[], "", "anything", true),
        ] {
            assert_eq!(chosen(globs, target, path), expected, "{globs:?} from {target:?} on {path}");
        }
    }

    #[test]
    fn a_broken_glob_is_named() {
        let failure = Globs::compile("input.pattern", &["a[".to_owned()], false, b"").expect_err("no glob");
        assert!(failure.message.contains("`a[`"), "{failure}");
    }
}
