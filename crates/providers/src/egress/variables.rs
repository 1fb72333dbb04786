//! The variables by which programs find their proxy.

use std::ffi::OsString;

/// The address of the proxy in a command's network. The NUL is replaced by the number of its port, which is known only there.
const PROXY: &str = "http://127.0.0.1:\0";
/// What is reached without it: the loopback that the scope's commands share.
const DIRECT: &str = "localhost,127.0.0.1,::1";

/// The variables that programs read, with their values.
const VARIABLES: &[(&str, &str)] = &[
    // Most programs, in one of the two forms.
    ("HTTP_PROXY", PROXY),
    ("http_proxy", PROXY),
    ("HTTPS_PROXY", PROXY),
    ("https_proxy", PROXY),
    ("ALL_PROXY", PROXY),
    ("all_proxy", PROXY),
    ("NO_PROXY", DIRECT),
    ("no_proxy", DIRECT),
    // Node, whose own fetch looks for the above only with it.
    ("NODE_USE_ENV_PROXY", "1"),
    // These beat what a project's settings say.
    ("npm_config_proxy", PROXY),
    ("npm_config_https_proxy", PROXY),
    ("npm_config_noproxy", DIRECT),
    ("YARN_HTTP_PROXY", PROXY),
    ("YARN_HTTPS_PROXY", PROXY),
    ("PIP_PROXY", PROXY),
    ("CARGO_HTTP_PROXY", PROXY),
];

/// Java's, which are added to what the user has written.
const JAVA: &str = "-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=\0 -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=\0 \
                    -Dhttp.nonProxyHosts=localhost|127.0.0.1|[::1]";

/// Sets the variables, in place of their earlier values: nothing else leads out of the network.
pub(crate) fn set_variables(variables: &mut Vec<(OsString, OsString)>) {
    const JAVA_NAME: &str = "JAVA_TOOL_OPTIONS";
    let mut java = JAVA.to_owned();
    if let Some((_, options)) = variables.iter().find(|(name, _)| name == JAVA_NAME) {
        java = format!("{} {JAVA}", options.to_string_lossy());
    }
    let set = VARIABLES.iter().copied().chain([(JAVA_NAME, java.as_str())]);
    for (name, value) in set {
        variables.retain(|(it, _)| it != name);
        variables.push((name.into(), value.into()));
    }
}
