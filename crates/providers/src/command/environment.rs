//! The environment of a command: built from nothing by an allow-list.
//!
//! Nothing of the service's own environment reaches a command. The order is: what Bailiwick sets, what the
//! person wrote into the scope, what the caller asks for and the scope lists.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use bailiwick_contract::environment::{dangerous, is_name};
use bailiwick_contract::{FOR_USER, Failure, SCOPE, StageName};
use bailiwick_platform::machine::user_name;
use bailiwick_platform::programs::{self, SEARCH_PATH_SEPARATOR};

/// How many variables a caller may set.
const MAX_ASKED: usize = 64;
/// How many bytes the values of a caller may have together.
const MAX_ASKED_BYTES: usize = 65_536;

/// What an environment is made of.
#[derive(Debug)]
pub struct EnvironmentSources<'a> {
    /// Where programs are looked for.
    pub search_path: &'a [PathBuf],
    /// The private home folder.
    pub home: &'a Path,
    /// The private folder for temporary files.
    pub temporary: &'a Path,
    /// What the user wrote into the scope.
    pub fixed: &'a BTreeMap<String, String>,
    /// The names that a caller may set; `None` for any, where the command could set them itself.
    pub allowed: Option<&'a BTreeSet<String>>,
    /// Whether the command gets a terminal: then it may show itself as it does to a person.
    pub has_terminal: bool,
}

/// Builds the environment of a command.
///
/// # Errors
/// `permission_denied` for a name that the scope does not list, or that no caller may set;
/// `invalid_request` for what is no name or value.
pub fn environment(
    surroundings: &EnvironmentSources<'_>,
    asked: &BTreeMap<String, String>,
) -> Result<Vec<(OsString, OsString)>, Failure> {
    judge(surroundings.allowed, asked)?;
    let mut variables: BTreeMap<OsString, OsString> = BTreeMap::new();
    let mut set = |name: &str, value: &OsStr| {
        variables.insert(name.into(), value.into());
    };
    let mut path = OsString::new();
    for folder in surroundings.search_path {
        if !path.is_empty() {
            path.push(SEARCH_PATH_SEPARATOR);
        }
        path.push(folder);
    }
    for (name, value) in programs::environment(surroundings.home, surroundings.temporary) {
        set(name, &value);
    }
    set("PATH", &path);
    set("HOME", surroundings.home.as_os_str());
    set("TMPDIR", surroundings.temporary.as_os_str());
    set("USER", OsStr::new(&user_name()));
    let plain: &[(&str, &str)] = match surroundings.has_terminal {
        true => &[("LANG", "C.UTF-8"), ("TERM", "xterm-256color")],
        false => &[("LANG", "C.UTF-8"), ("TERM", "dumb"), ("NO_COLOR", "1"), ("CI", "1")],
    };
    for (name, value) in plain {
        set(name, OsStr::new(value));
    }
    for (name, value) in surroundings.fixed.iter().chain(asked) {
        set(name, OsStr::new(value));
    }
    Ok(variables.into_iter().collect())
}

/// Lets Git find tracked files unchanged that are hidden from it: it compares length and time alone, and not the identity
/// of a file. Those are kept, so Git neither reports nor adds what it cannot read.
pub fn let_git_pass(variables: &mut Vec<(OsString, OsString)>) {
    const COUNT: &str = "GIT_CONFIG_COUNT";
    let known = variables.iter().position(|(name, _)| name == COUNT);
    let count = match known {
        None => 0,
        // What the user wrote stays as it is where it is no number.
        Some(at) => match variables[at].1.to_str().and_then(|count| count.parse::<u32>().ok()) {
            Some(count) => count,
            None => return,
        },
    };
    if let Some(at) = known {
        variables.remove(at);
    }
    let mut set = |name: String, value: &str| variables.push((name.into(), value.into()));
    set(COUNT.to_owned(), &(u64::from(count) + 1).to_string());
    set(format!("GIT_CONFIG_KEY_{count}"), "core.checkStat");
    set(format!("GIT_CONFIG_VALUE_{count}"), "minimal");
}

fn judge(allowed: Option<&BTreeSet<String>>, asked: &BTreeMap<String, String>) -> Result<(), Failure> {
    if asked.len() > MAX_ASKED || asked.values().map(String::len).sum::<usize>() > MAX_ASKED_BYTES {
        return Err(Failure::invalid(
            "input.env",
            format!("`input.env` may have {MAX_ASKED} names and {MAX_ASKED_BYTES} bytes of values"),
        ));
    }
    for (name, value) in asked {
        let field = format!("input.env.{name}");
        if !is_name(name) {
            return Err(Failure::invalid("input.env", "`input.env` has a name that is none")
                .hint("Names are letters, digits and `_`, without a digit at the start."));
        }
        if value.contains('\0') {
            return Err(Failure::invalid(&field, format!("the value of `{name}` contains a NUL")));
        }
        let Some(allowed) = allowed else { continue };
        if let Some(why) = dangerous(name) {
            return Err(Failure::denied(
                "environment",
                format!("`{name}` is never taken from a caller: {why}"),
            )
            .at_stage(StageName::Command)
            .detail("field", field)
            .hint("Leave it out.")
            .hint(format!(
                "{FOR_USER}`bailiwick scope edit {SCOPE} --env {name}=VALUE` gives it to every command."
            )));
        }
        if !allowed.contains(name) {
            return Err(Failure::denied(
                "environment",
                format!("this scope does not let callers set `{name}`"),
            )
            .at_stage(StageName::Command)
            .detail("field", field)
            .detail("allowed", allowed.iter().cloned().collect::<Vec<_>>())
            .hint("Leave it out.")
            .hint(format!(
                "{FOR_USER}`bailiwick scope edit {SCOPE} --allow-env {name}` lets callers set it."
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_contract::ErrorCode;

    fn build(
        fixed: &[(&str, &str)],
        allowed: &[&str],
        asked: &[(&str, &str)],
    ) -> Result<BTreeMap<String, String>, Failure> {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        let allowed: BTreeSet<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        let surroundings = EnvironmentSources {
            search_path: &[PathBuf::from("/usr/bin"), PathBuf::from("/bin")],
            home: Path::new("/private/home"),
            temporary: Path::new("/private/tmp"),
            fixed: &map(fixed),
            allowed: Some(&allowed),
            has_terminal: false,
        };
        let text = |value: OsString| value.into_string().expect("text");
        let built = environment(&surroundings, &map(asked))?;
        Ok(built.into_iter().map(|(name, value)| (text(name), text(value))).collect())
    }

    #[test]
    fn a_setting_of_git_is_added_to_those_that_are_there() {
        let with = |count: Option<&str>| {
            let mut variables: Vec<(OsString, OsString)> =
                count.into_iter().map(|count| ("GIT_CONFIG_COUNT".into(), count.into())).collect();
            let_git_pass(&mut variables);
            variables
                .into_iter()
                .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
                .collect::<Vec<_>>()
        };
        let setting = |at: u32| {
            [
                format!("GIT_CONFIG_COUNT={}", at + 1),
                format!("GIT_CONFIG_KEY_{at}=core.checkStat"),
                format!("GIT_CONFIG_VALUE_{at}=minimal"),
            ]
        };
        assert_eq!(with(None), setting(0));
        assert_eq!(with(Some("4")), setting(4));
        assert_eq!(with(Some("x")), ["GIT_CONFIG_COUNT=x"]);
    }

    #[test]
    fn nothing_of_the_services_own_environment_is_in_it() {
        let built = build(&[], &[], &[]).expect("nothing is asked");
        let names: Vec<&str> = built.keys().map(String::as_str).collect();
        // What no program of this system goes without.
        let needed = programs::environment(Path::new("/private/home"), Path::new("/private/tmp"));
        let mut expected = vec!["CI", "HOME", "LANG", "NO_COLOR", "PATH", "TERM", "TMPDIR", "USER"];
        expected.extend(needed.iter().map(|(name, _)| *name));
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert_eq!(built["PATH"], ["/usr/bin", "/bin"].join(SEARCH_PATH_SEPARATOR));
        assert_eq!(built["HOME"], "/private/home");
    }

    #[test]
    fn the_person_may_set_what_a_caller_may_not() {
        let built =
            build(&[("CARGO_HOME", "/opt/cargo"), ("TERM", "xterm")], &["NODE_ENV"], &[("NODE_ENV", "test")])
                .expect("all of it is allowed");
        assert_eq!(built["CARGO_HOME"], "/opt/cargo");
        assert_eq!(built["TERM"], "xterm");
        assert_eq!(built["NODE_ENV"], "test");
    }

    #[test]
    fn a_dangerous_name_is_refused_although_the_scope_lists_it() {
        for name in ["LD_PRELOAD", "PATH", "GIT_SSH_COMMAND", "npm_config_script_shell"] {
            let failure = build(&[], &[name], &[(name, "x")]).expect_err(name);
            assert_eq!((failure.code, failure.rule()), (ErrorCode::PermissionDenied, Some("environment")));
        }
        assert!(build(&[], &[], &[("DEBUG", "1")]).is_err(), "a name that is not listed");
        assert!(build(&[], &["A"], &[("A", "1\0")]).is_err(), "a NUL");
    }
}
