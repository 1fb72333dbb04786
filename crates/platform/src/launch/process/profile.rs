//! What `sandbox-exec` of macOS is told: a profile that denies everything but what a job needs.
//!
//! Its text depends on how many places there are of each kind, never on their names: those are parameters, which
//! are handed over as arguments. Of several rules that fit, the last one counts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::launch::{ProtectedPath, SandboxRequest};
use bailiwick_contract::command::Network;

/// What every program may read and execute: the system, what is installed for all users, and developer tools.
const SYSTEM: &[&str] = &[
    "/System",
    "/usr",
    "/bin",
    "/sbin",
    "/opt",
    "/nix/store",
    "/Library/Apple",
    "/Library/Developer",
    "/Library/Frameworks",
    "/Library/Java",
    "/Library/Perl",
    "/Library/Ruby",
    "/Applications/Xcode.app",
    "/private/etc",
    "/private/var/select",
    "/private/var/db/dyld",
    "/private/var/db/timezone",
    "/private/var/db/xcode_select_link",
];

/// Services of the system without which programs fail for no reason of the job: who a user is, folders for
/// temporary files, times, logs.
const SERVICES: &[&str] = &[
    "com.apple.bsd.dirhelper",
    "com.apple.logd",
    "com.apple.system.logger",
    "com.apple.system.notification_center",
    "com.apple.system.opendirectoryd.libinfo",
    "com.apple.system.DirectoryService.libinfo_v1",
];

/// What programs ask about names and certificates where the network is open.
const SERVICES_OF_NETWORK: &[&str] = &[
    "com.apple.SystemConfiguration.DNSConfiguration",
    "com.apple.SystemConfiguration.configd",
    "com.apple.trustd",
    "com.apple.trustd.agent",
];

/// A profile with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Profile {
    pub(super) text: String,
    /// Each as `NAME=value`.
    pub(super) parameters: Vec<OsString>,
}

/// The places of a profile, as the system itself names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ProfilePaths {
    readable: Vec<PathBuf>,
    writable: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    /// What cannot be removed, renamed or replaced: roots, and the folders on the way to protected names.
    fixed: Vec<PathBuf>,
    /// The terminal of the job.
    terminal: Option<PathBuf>,
}

impl ProfilePaths {
    /// Collects the places of a job. `real` gives a path without links, as far as there is something.
    pub(super) fn of(
        hold: &SandboxRequest,
        own_program: &Path,
        terminal: Option<PathBuf>,
        real: impl Fn(&Path) -> PathBuf,
    ) -> Result<Self, String> {
        let mut places = Self { terminal, ..Self::default() };
        for grant in hold.read_write.iter().chain([&hold.home]) {
            let path = real(&grant.path);
            if !path.is_absolute() || path.parent().is_none() {
                return Err(format!(
                    "{}: only a folder below the top can be a root in a sandbox",
                    path.display()
                ));
            }
            places.writable.push(path);
        }
        places.readable.push(own_program.to_owned());
        let read = hold.read_only.iter().map(|grant| real(&grant.path));
        places.readable.extend(read.filter(|path| path.is_absolute() && path.parent().is_some()));
        for ProtectedPath { path: name, .. } in &hold.protected {
            let roots = hold.read_write.iter().map(|root| &root.path).filter(|root| name.starts_with(root));
            // A name outside every root cannot be written anyway.
            let Some(root) = roots.max_by_key(|root| root.as_os_str().len()) else { continue };
            let Ok(below) = name.strip_prefix(root) else { continue };
            let root = real(root);
            let name = root.join(below);
            let on_the_way = name.ancestors().skip(1).take_while(|folder| **folder != root);
            places.fixed.extend(on_the_way.map(Path::to_owned));
            // Where something on the way is a link, what it leads to is what is written.
            let target = real(&name);
            places.protected.extend((target != name).then_some(target));
            places.protected.push(name);
        }
        places.fixed.extend(places.writable.iter().cloned());
        places.fixed.sort();
        places.fixed.dedup();
        places.protected.sort();
        places.protected.dedup();
        Ok(places)
    }

    /// Writes the profile.
    pub(super) fn profile(&self, network: Network) -> Profile {
        let mut out = Writer::default();
        out.text(BASE);
        for service in SERVICES {
            out.line(&format!("(allow mach-lookup (global-name \"{service}\"))"));
        }
        for path in SYSTEM {
            out.line(&format!("(allow file-read* file-map-executable (subpath \"{path}\"))"));
        }
        for path in &self.readable {
            out.rule("READ", path, "(allow file-read* file-map-executable (subpath (param \"@\")))");
        }
        for path in &self.writable {
            out.rule(
                "WRITE",
                path,
                "(allow file-read* file-write* file-map-executable (subpath (param \"@\")))",
            );
        }
        for path in &self.fixed {
            out.rule("FIXED", path, "(deny file-write-create file-write-unlink (literal (param \"@\")))");
        }
        for path in &self.protected {
            out.rule("PROTECTED", path, "(deny file-write* (subpath (param \"@\")))");
        }
        if let Some(path) = &self.terminal {
            out.rule(
                "TERMINAL",
                path,
                "(allow file-read* file-write-data file-ioctl (literal (param \"@\")))",
            );
            out.line("(allow file-read* file-write-data file-ioctl (literal \"/dev/tty\"))");
        }
        match network {
            // Only the full level has hosts, which this system has not.
            Network::None | Network::Hosts => {}
            Network::Loopback => out.text(LOOPBACK),
            Network::Full => {
                out.text(WHOLE_NETWORK);
                for service in SERVICES_OF_NETWORK {
                    out.line(&format!("(allow mach-lookup (global-name \"{service}\"))"));
                }
            }
        }
        Profile { text: out.text, parameters: out.parameters }
    }
}

/// What is the same for every job. Programs start programs and signal what shares their sandbox. The names of files
/// can be looked up everywhere, as path names need that; no content is shown by it.
const BASE: &str = r#"(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow sysctl-read)
(deny sysctl-read (sysctl-name-prefix "kern.proc"))
(allow ipc-posix-sem)
(allow ipc-posix-shm-read-data (ipc-posix-name "apple.shm.notification_center"))
(allow file-read-metadata)
(allow file-read-data (literal "/"))
(allow file-read* file-write-data (literal "/dev/null") (literal "/dev/zero"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom"))
(allow file-read* file-write-data file-ioctl (literal "/dev/dtracehelper"))
(allow file-read* file-write-data (subpath "/dev/fd"))
"#;

/// Only what is on this computer, in both directions.
const LOOPBACK: &str = r#"(allow network-bind (local ip "localhost:*"))
(allow network-inbound (local ip "localhost:*"))
(allow network-outbound (remote ip "localhost:*"))
"#;

/// Every address, and names; but no socket with a path save the one that resolves names.
const WHOLE_NETWORK: &str = r#"(allow system-socket)
(allow network-bind (local ip "*:*"))
(allow network-inbound (local ip "*:*"))
(allow network-outbound (remote ip "*:*"))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow file-read* (literal "/private/var/run/resolv.conf"))
"#;

/// Puts a profile together.
#[derive(Default)]
struct Writer {
    text: String,
    parameters: Vec<OsString>,
}

impl Writer {
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a rule about a place, whose name becomes a parameter in the place of `@`.
    fn rule(&mut self, kind: &str, path: &Path, rule: &str) {
        let name = format!("{kind}_{}", self.parameters.len());
        self.line(&rule.replace('@', &name));
        let mut parameter = OsString::from(name);
        parameter.push("=");
        parameter.push(path);
        self.parameters.push(parameter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::FileId;
    use crate::launch::{FolderChanges, InnerSandboxes, PathGrant, SetGroupId, StandIn};
    use bailiwick_contract::command::Containment;

    fn grant(path: &str) -> PathGrant {
        PathGrant { path: path.into(), identity: FileId { device: 0, inode: 0 } }
    }

    fn hold(root: &str, protected: &[&str], network: Network) -> SandboxRequest {
        SandboxRequest {
            level: Containment::Partial,
            network,
            network_group: None,
            read_only: vec![grant("/srv/books"), grant("/")],
            read_write: vec![grant(root)],
            protected: protected
                .iter()
                .map(|path| ProtectedPath { path: path.into(), stand_in: StandIn::Folder })
                .collect(),
            lacks_protected: false,
            closed: Vec::new(),
            lacks_closed: false,
            home: grant("/private/var/home-of-job"),
            inner: InnerSandboxes::Refused,
            set_group_id: SetGroupId::Refused,
            changes: FolderChanges::Lasting,
        }
    }

    fn profile(hold: &SandboxRequest) -> Profile {
        let real = |path: &Path| match path.strip_prefix("/tmp") {
            Ok(below) => Path::new("/private/tmp").join(below),
            Err(_) => path.to_owned(),
        };
        let places =
            ProfilePaths::of(hold, Path::new("/usr/local/bin/bailiwick"), None, real).expect("places");
        places.profile(hold.network)
    }

    fn parameter<'a>(profile: &'a Profile, rule: &str, path: &str) -> Option<&'a str> {
        let value =
            |it: &&OsString| it.to_str().is_some_and(|it| it.split_once('=').is_some_and(|it| it.1 == path));
        let names =
            profile.parameters.iter().filter(value).filter_map(|it| Some(it.to_str()?.split_once('=')?.0));
        names.into_iter().find(|name| {
            profile
                .text
                .lines()
                .any(|line| line.contains(rule) && line.contains(&format!("(param \"{name}\")")))
        })
    }

    /// Takes a profile apart as Scheme does, as far as it must be right: brackets and strings are closed.
    fn forms(text: &str) -> Vec<String> {
        let (mut forms, mut depth, mut is_text, mut form) = (Vec::new(), 0, false, String::new());
        for character in text.chars() {
            form.push(character);
            match character {
                '"' => is_text = !is_text,
                '(' if !is_text => depth += 1,
                ')' if !is_text => {
                    depth -= 1;
                    assert!(depth >= 0, "{form}");
                    if depth == 0 {
                        forms.push(std::mem::take(&mut form).trim().to_owned());
                    }
                }
                _ => {}
            }
        }
        assert!(depth == 0 && !is_text && form.trim().is_empty(), "{form}");
        forms
    }

    #[test]
    fn everything_is_denied_first_and_only_roots_are_written() {
        let profile = profile(&hold("/tmp/app", &[], Network::None));
        let forms = forms(&profile.text);
        assert_eq!(&forms[..2], ["(version 1)", "(deny default)"]);
        assert!(
            parameter(&profile, "(allow file-read* file-write* file-map-executable", "/private/tmp/app")
                .is_some()
        );
        assert!(parameter(&profile, "(allow file-read* file-write*", "/private/var/home-of-job").is_some());
        assert!(parameter(&profile, "(allow file-read* file-map-executable", "/srv/books").is_some());
        assert!(
            parameter(&profile, "(allow file-read* file-map-executable", "/usr/local/bin/bailiwick")
                .is_some()
        );
        // The whole of the tree is no place that can be named.
        assert!(!profile.parameters.iter().any(|it| it.to_string_lossy().ends_with("=/")));
        for form in &forms {
            let writes = form.contains("file-write*") && form.starts_with("(allow");
            assert!(!writes || form.contains("(param \"WRITE_"), "{form}");
            let all = [
                "(allow default",
                "(allow file*",
                "(allow network*",
                "(allow mach*",
                "appleevent",
                "pasteboard",
            ];
            assert!(!all.iter().any(|it| form.contains(it)), "{form}");
        }
    }

    #[test]
    fn a_root_cannot_be_replaced_nor_what_leads_to_a_protected_name() {
        let protected = ["/tmp/app/.git/config", "/tmp/app/.git/hooks", "/elsewhere/x"];
        let profile = profile(&hold("/tmp/app", &protected, Network::None));
        let fixed = "(deny file-write-create file-write-unlink (literal";
        for path in ["/private/tmp/app", "/private/tmp/app/.git", "/private/var/home-of-job"] {
            assert!(parameter(&profile, fixed, path).is_some(), "{path}");
        }
        for path in ["/private/tmp/app/.git/config", "/private/tmp/app/.git/hooks"] {
            assert!(parameter(&profile, "(deny file-write* (subpath", path).is_some(), "{path}");
        }
        assert!(!profile.parameters.iter().any(|it| it.to_string_lossy().contains("elsewhere")));
        // The last rule that fits counts: what is denied is after what is allowed.
        let at = |part: &str| profile.text.find(part).expect("it is there");
        assert!(at("(allow file-read* file-write*") < at("(deny file-write-create"));
        assert!(at("(allow file-read* file-write*") < at("(deny file-write* (subpath"));
    }

    #[test]
    fn each_network_opens_no_more_than_it_says() {
        let rules = |network| -> Vec<String> {
            let profile = profile(&hold("/tmp/app", &[], network));
            let network = |form: &String| form.contains("network") || form.contains("socket");
            forms(&profile.text).into_iter().filter(network).collect()
        };
        assert_eq!(rules(Network::None), [""; 0]);
        let loopback = rules(Network::Loopback);
        assert_eq!(loopback.len(), 3);
        assert!(loopback.iter().all(|rule| rule.contains("ip \"localhost:*\"")), "{loopback:?}");
        let whole = rules(Network::Full);
        assert_eq!(whole.len(), 5, "{whole:?}");
        let paths: Vec<_> = whole.iter().filter(|rule| rule.contains("literal")).collect();
        assert_eq!(paths, ["(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))"]);
    }

    #[test]
    fn no_name_of_a_folder_becomes_a_part_of_the_text() {
        let plain = hold("/srv/plain", &["/srv/plain/.git/config"], Network::Loopback);
        for name in
            ["a\")) (allow default) ;", "x\\", "n\nl", "=B=", "(param \"WRITE_1\")", "@", "ü\u{202e}", "*"]
        {
            let root = format!("/srv/{name}");
            let hostile = hold(&root, &[&format!("{root}/.git/config")], Network::Loopback);
            let (hostile, plain) = (profile(&hostile), profile(&plain));
            assert_eq!(hostile.text, plain.text, "{name:?}");
            let expected = format!("={root}");
            assert!(
                hostile.parameters.iter().any(|it| it.to_string_lossy().ends_with(&expected)),
                "{name:?}"
            );
            // What is before the first sign of equality is the parameter's name, whatever follows.
            assert!(hostile.parameters.iter().all(|it| {
                it.to_str().and_then(|it| it.split_once('=')).is_some_and(|(name, value)| {
                    value.starts_with('/')
                        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                })
            }));
        }
    }

    #[test]
    fn of_the_systems_services_six_are_open_and_nothing_that_starts_other_programs() {
        let text = |network| profile(&hold("/tmp/app", &[], network)).text;
        let services =
            |text: &str| forms(text).into_iter().filter(|form| form.contains("mach-")).collect::<Vec<_>>();
        for network in [Network::None, Network::Loopback] {
            let open: Vec<String> =
                SERVICES.iter().map(|name| format!("(allow mach-lookup (global-name \"{name}\"))")).collect();
            assert_eq!(services(&text(network)), open);
            assert_eq!(open.len(), 6);
        }
        let text = text(Network::Full);
        assert!(
            services(&text)
                .iter()
                .all(|form| form.starts_with("(allow mach-lookup (global-name \"com.apple."))
        );
        for closed in [
            // Programs of others: Apple events, Launch Services, jobs of launchd.
            "appleevent",
            "lsopen",
            "launchservices",
            "coreservices",
            "job-creation",
            "mach-register",
            "mach-priv",
            // What belongs to the user: the clipboard, the keychain, preferences, windows, permissions.
            "pasteboard",
            "securityd",
            "SecurityServer",
            "preference",
            "cfprefsd",
            "windowserver",
            "tccd",
            // Devices, further names of files, and what others run.
            "iokit",
            "hid-",
            "file-link",
            "file-mount",
            "system-fsctl",
            "debug",
            "same-user",
            "others",
        ] {
            assert!(!text.contains(closed), "{closed}: {text}");
        }
        // What is denied by default is what no rule allows: none allows by a pattern that could be all.
        assert!(!text.contains("regex") && !text.contains("(allow mach-lookup)"), "{text}");
    }

    #[test]
    fn the_top_of_the_tree_is_no_root() {
        let places = ProfilePaths::of(&hold("/", &[], Network::None), Path::new("/b"), None, Path::to_owned);
        assert!(places.expect_err("refused").contains("only a folder below the top"));
    }

    #[test]
    fn only_the_terminal_of_the_job_can_be_controlled() {
        let hold = hold("/tmp/app", &[], Network::None);
        let own = Path::new("/b");
        let places =
            ProfilePaths::of(&hold, own, Some("/dev/ttys004".into()), Path::to_owned).expect("places");
        let with = places.profile(Network::None);
        assert!(parameter(&with, "file-ioctl (literal", "/dev/ttys004").is_some());
        assert!(!with.text.contains("ptmx") && !with.text.contains("pseudo-tty"));
        assert!(!profile(&hold).text.contains("/dev/tty"));
    }
}
