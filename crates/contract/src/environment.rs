//! Names of environment variables that make programs run other code, or look for it elsewhere.
//!
//! A list of names to refuse is never whole: a command's environment is built from an allow-list, and this
//! list only keeps the worst names out of that.

/// The names, in capitals: `X*` stands for all that begin with `X`, `*X` for all that end with it.
const DANGEROUS: &[(&str, &str)] = &[
    ("PATH", "it decides which programs run"),
    ("HOME", "programs take their configs from there"),
    ("TMPDIR", "programs put their files there"),
    ("USER", "it is fixed"),
    ("LOGNAME", "it is fixed"),
    ("XDG_*", "programs take the folders of their configs from such names"),
    ("USERPROFILE", "programs take their configs from there"),
    ("HOMEDRIVE", "programs take their configs from there"),
    ("HOMEPATH", "programs take their configs from there"),
    ("APPDATA", "programs take their configs from there"),
    ("LOCALAPPDATA", "programs take their configs from there"),
    ("PROGRAMDATA", "programs take their configs from there"),
    ("ALLUSERSPROFILE", "programs take their configs from there"),
    ("PROGRAMFILES*", "programs start others from there"),
    ("COMMONPROGRAM*", "programs load code from there"),
    ("SYSTEMROOT", "Windows loads code from there"),
    ("SYSTEMDRIVE", "Windows loads code from there"),
    ("WINDIR", "programs start others from there"),
    ("COMSPEC", "programs start what it names"),
    ("PATHEXT", "it decides which programs run"),
    ("NODEFAULTCURRENTDIRECTORYINEXEPATH", "it decides which programs run"),
    ("PSMODULEPATH", "PowerShell loads code from there"),
    ("COR_*", "programs of .NET load code by such names"),
    ("CORECLR_*", "programs of .NET load code by such names"),
    ("COMPLUS_*", "programs of .NET load code by such names"),
    ("__COMPAT_LAYER", "Windows runs programs otherwise by it"),
    ("TEMP", "programs put their files there"),
    ("TMP", "programs put their files there"),
    ("USERNAME", "it is fixed"),
    ("LD_*", "the dynamic loader reads it"),
    ("DYLD_*", "the dynamic loader reads it"),
    ("MALLOC_*", "the C library reads it"),
    ("GLIBC_*", "the C library reads it"),
    ("GCONV_PATH", "the C library loads code from there"),
    ("GETCONF_DIR", "getconf starts programs from there"),
    ("HOSTALIASES", "the C library resolves names by it"),
    ("LOCALDOMAIN", "the C library resolves names by it"),
    ("RES_OPTIONS", "the C library resolves names by it"),
    ("LOCPATH", "the C library reads files from there"),
    ("NLSPATH", "the C library reads files from there"),
    ("TZDIR", "the C library reads files from there"),
    ("TERMINFO*", "programs read files from there"),
    ("TERMCAP", "programs read the file that it names"),
    ("SHELL", "programs start what it names"),
    ("ENV", "shells run code from it"),
    ("BASH_*", "bash runs code from it"),
    ("SHELLOPTS", "bash runs code by it"),
    ("BASHOPTS", "bash runs code by it"),
    ("PS0", "shells run code from it"),
    ("PS1", "shells run code from it"),
    ("PS2", "shells run code from it"),
    ("PS3", "shells run code from it"),
    ("PS4", "shells run code from it"),
    ("PROMPT_COMMAND", "bash runs code from it"),
    ("IFS", "shells split words by it"),
    ("CDPATH", "shells change to other folders by it"),
    ("GLOBIGNORE", "bash matches files by it"),
    ("POSIXLY_CORRECT", "programs read their options otherwise"),
    ("*_PROXY", "programs send their traffic there"),
    ("*PAGER", "programs start what it names"),
    ("*_EDITOR", "programs start what it names"),
    ("*_ASKPASS", "programs start what it names"),
    ("EDITOR", "programs start what it names"),
    ("VISUAL", "programs start what it names"),
    ("BROWSER", "programs start what it names"),
    ("LESS*", "less starts what it names"),
    ("VIMINIT", "vim runs code from it"),
    ("EXINIT", "vi runs code from it"),
    ("TAR_OPTIONS", "tar starts what it names"),
    ("GZIP", "gzip takes options from it"),
    ("ZIPOPT", "zip takes options from it"),
    ("GREP_*", "grep takes options from it"),
    ("FIND_*", "find takes options from it"),
    ("RIPGREP_*", "ripgrep starts what its config names"),
    ("CURL_*", "curl takes files and hosts from such names"),
    ("OPENSSL_*", "OpenSSL loads code from it"),
    ("SSL_*", "programs trust the certificates that it names"),
    ("SSH_*", "ssh takes programs and sockets from such names"),
    ("DOCKER_*", "docker takes the machine that it commands from such names"),
    ("AWS_*", "it says whose account is used, and how"),
    ("GIT_*", "git takes programs, configs and folders from such names"),
    ("NODE_OPTIONS", "node loads code from it"),
    ("NODE_PATH", "node loads code from there"),
    ("NODE_EXTRA_CA_CERTS", "node trusts the certificates that it names"),
    ("NODE_REPL_*", "node loads code from it"),
    ("NODE_TLS_*", "node trusts whom it says"),
    ("NODE_V8_*", "node writes files there"),
    ("NODE_PENDING_*", "node reads it"),
    ("NODE_ICU_*", "node reads files from there"),
    ("NODE_REDIRECT_*", "node writes files there"),
    ("NPM_CONFIG_*", "npm takes its whole configuration from such names"),
    ("YARN_*", "yarn takes its whole configuration from such names"),
    ("PNPM_*", "pnpm takes its configuration from such names"),
    ("COREPACK_*", "corepack takes the package manager from such names"),
    ("BUN_*", "bun takes its configuration from such names"),
    ("DENO_*", "deno takes its configuration from such names"),
    ("CARGO_*", "cargo takes programs and configuration from such names"),
    ("RUSTC*", "cargo starts the program that it names"),
    ("RUSTDOC*", "cargo starts the program that it names"),
    ("RUSTUP_*", "rustup takes the toolchain from such names"),
    ("RUSTFLAGS", "rustc starts the linker that it names"),
    ("PYTHON*", "python loads code from it"),
    ("PIP_*", "pip takes its configuration from such names"),
    ("UV_*", "uv takes its configuration from such names"),
    ("POETRY_*", "poetry takes its configuration from such names"),
    ("VIRTUAL_ENV", "python programs are taken from there"),
    ("CONDA_*", "conda takes its configuration from such names"),
    ("PERL5*", "perl loads code from it"),
    ("PERLLIB", "perl loads code from there"),
    ("PERL_*", "perl loads code from it"),
    ("RUBY*", "ruby loads code from it"),
    ("GEM_*", "ruby loads code from there"),
    ("BUNDLE_*", "bundler takes its configuration from such names"),
    ("LUA_*", "lua loads code from it"),
    ("JAVA_*", "java loads code from it"),
    ("_JAVA_*", "java loads code from it"),
    ("JDK_*", "java loads code from it"),
    ("CLASSPATH", "java loads code from there"),
    ("MAVEN_*", "maven takes its configuration from such names"),
    ("GRADLE_*", "gradle takes its configuration from such names"),
    ("DOTNET_*", "dotnet loads code from it"),
    ("GO*", "go takes programs and folders from such names"),
    ("CGO_*", "go starts programs that it names"),
    ("CC", "build tools start what it names"),
    ("CXX", "build tools start what it names"),
    ("AR", "build tools start what it names"),
    ("LD", "build tools start what it names"),
    ("MAKEFLAGS", "make runs code from it"),
    ("MFLAGS", "make runs code from it"),
    ("GNUMAKEFLAGS", "make runs code from it"),
    ("MAKEFILES", "make runs code from the files that it names"),
];

/// Returns why no caller may set a variable of this name; `None` for names that a scope can open.
pub fn dangerous(name: &str) -> Option<&'static str> {
    let upper = name.to_ascii_uppercase();
    let is_meant = |pattern: &str| match (pattern.strip_suffix('*'), pattern.strip_prefix('*')) {
        (Some(start), _) => upper.starts_with(start),
        (None, Some(end)) => upper.ends_with(end),
        (None, None) => upper == pattern,
    };
    DANGEROUS.iter().find(|(pattern, _)| is_meant(pattern)).map(|(_, why)| *why)
}

/// Returns whether a text can be the name of a variable: letters, digits and `_`, at most 128, no digit first.
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
            "Path",
            "PathExt",
            "ComSpec",
            "SystemRoot",
            "COR_PROFILER_PATH",
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
