//! Names of environment variables that make programs run other code, or look for it elsewhere.
//!
//! A list of names to refuse is never whole: a command's environment is built from an allow-list, and this
//! list only keeps the worst names out of that.

/// Names that start with one of these are dangerous. Compared in capitals.
const PREFIXES: &[(&str, &str)] = &[
    ("LD_", "the dynamic loader reads it"),
    ("DYLD_", "the dynamic loader reads it"),
    ("GIT_", "git takes programs, configs and folders from such names"),
    ("NPM_CONFIG_", "npm takes its whole configuration from such names"),
    ("YARN_", "yarn takes its whole configuration from such names"),
    ("PNPM_", "pnpm takes its configuration from such names"),
    ("BUN_", "bun takes its configuration from such names"),
    ("CARGO_", "cargo takes programs and configuration from such names"),
    ("RUSTC", "cargo starts the program that it names"),
    ("RUSTDOC", "cargo starts the program that it names"),
    ("RUSTUP_", "rustup takes the toolchain from such names"),
    ("PERL5", "perl loads code from it"),
    ("PYTHON", "python loads code from it"),
    ("LUA_", "lua loads code from it"),
    ("BASH_", "bash runs code from it"),
    ("MALLOC_", "the C library reads it"),
    ("SSH_", "ssh takes programs and sockets from such names"),
    ("DOCKER_", "docker takes the machine that it commands from such names"),
    ("XDG_", "programs take the folders of their configs from such names"),
];

/// Names that end with one of these are dangerous. Compared in capitals.
const SUFFIXES: &[(&str, &str)] = &[
    ("_PROXY", "programs send their traffic there"),
    ("_PAGER", "programs start what it names"),
    ("_EDITOR", "programs start what it names"),
    ("_ASKPASS", "programs start what it names"),
];

/// Names that are dangerous themselves. Compared in capitals.
const NAMES: &[(&str, &str)] = &[
    ("PATH", "it decides which programs run"),
    ("HOME", "programs take their configs from there"),
    ("TMPDIR", "programs put their files there"),
    ("USER", "it is fixed"),
    ("LOGNAME", "it is fixed"),
    ("SHELL", "programs start what it names"),
    ("ENV", "shells run code from it"),
    ("SHELLOPTS", "bash runs code by it"),
    ("BASHOPTS", "bash runs code by it"),
    ("PS4", "shells run code from it"),
    ("PROMPT_COMMAND", "bash runs code from it"),
    ("IFS", "shells split words by it"),
    ("CDPATH", "shells change to other folders by it"),
    ("GLOBIGNORE", "bash matches files by it"),
    ("NODE_OPTIONS", "node loads code from it"),
    ("NODE_PATH", "node loads code from there"),
    ("NODE_REPL_EXTERNAL_MODULE", "node loads code from it"),
    ("RUBYOPT", "ruby loads code from it"),
    ("RUBYLIB", "ruby loads code from there"),
    ("JAVA_TOOL_OPTIONS", "java loads code from it"),
    ("_JAVA_OPTIONS", "java loads code from it"),
    ("JDK_JAVA_OPTIONS", "java loads code from it"),
    ("CLASSPATH", "java loads code from there"),
    ("GOFLAGS", "go starts programs that it names"),
    ("RUSTFLAGS", "rustc starts the linker that it names"),
    ("MAKEFLAGS", "make runs code from it"),
    ("GNUMAKEFLAGS", "make runs code from it"),
    ("MAKEFILES", "make runs code from the files that it names"),
    ("EDITOR", "programs start what it names"),
    ("VISUAL", "programs start what it names"),
    ("PAGER", "programs start what it names"),
    ("BROWSER", "programs start what it names"),
    ("LESSOPEN", "less starts what it names"),
    ("LESSCLOSE", "less starts what it names"),
    ("VIMINIT", "vim runs code from it"),
    ("EXINIT", "vi runs code from it"),
    ("GCONV_PATH", "the C library loads code from there"),
    ("GETCONF_DIR", "getconf starts programs from there"),
    ("HOSTALIASES", "the C library resolves names by it"),
    ("LOCALDOMAIN", "the C library resolves names by it"),
    ("RES_OPTIONS", "the C library resolves names by it"),
    ("LOCPATH", "the C library reads files from there"),
    ("NLSPATH", "the C library reads files from there"),
    ("TZDIR", "the C library reads files from there"),
    ("OPENSSL_CONF", "OpenSSL loads code from it"),
    ("OPENSSL_MODULES", "OpenSSL loads code from there"),
    ("OPENSSL_ENGINES", "OpenSSL loads code from there"),
];

/// Tells why no caller may set a variable of this name; `None` for names that a scope can open.
pub fn dangerous(name: &str) -> Option<&'static str> {
    let upper = name.to_ascii_uppercase();
    let prefix = PREFIXES.iter().find(|(prefix, _)| upper.starts_with(prefix));
    let suffix = SUFFIXES.iter().find(|(suffix, _)| upper.ends_with(suffix));
    let exact = NAMES.iter().find(|(exact, _)| upper == *exact);
    exact.or(prefix).or(suffix).map(|(_, why)| *why)
}

/// Tells whether a text can be the name of a variable: letters, digits and `_`, at most 128, no digit first.
pub fn is_name(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=128).contains(&text.len()) && text.bytes().all(word) && !text.as_bytes()[0].is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_run_code_are_dangerous_in_any_case() {
        for name in [
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "GIT_SSH_COMMAND",
            "npm_config_script_shell",
            "NODE_OPTIONS",
            "https_proxy",
            "HTTP_PROXY",
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "BASH_ENV",
            "ENV",
            "SHELLOPTS",
            "PS4",
            "IFS",
            "PERL5LIB",
            "PYTHONPATH",
            "PYTHONSTARTUP",
            "RUBYOPT",
            "JAVA_TOOL_OPTIONS",
            "PATH",
            "HOME",
            "VIMINIT",
            "LUA_INIT",
            "HOSTALIASES",
        ] {
            assert!(dangerous(name).is_some(), "{name}");
        }
    }

    #[test]
    fn ordinary_names_are_not() {
        for name in ["RUST_LOG", "RUST_BACKTRACE", "NODE_ENV", "DEBUG", "LANG", "CI", "PORT", "DATABASE_URL"]
        {
            assert_eq!(dangerous(name), None, "{name}");
        }
    }

    #[test]
    fn names_are_words() {
        assert!(is_name("A_1"));
        for text in ["", "1A", "A=B", "A B", "BASH_FUNC_x%%", "é", "A\0"] {
            assert!(!is_name(text), "{text:?}");
        }
    }
}
