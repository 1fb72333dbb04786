//! The one list of sensitive files, used by read, search, find, list and copy alike.
//!
//! Names are folded before they are compared: case, and characters that some file systems ignore,
//! make no difference, on any platform.

use std::borrow::Cow;
use std::sync::LazyLock;

/// How a row's text is compared with one folded name of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The whole name.
    Name(&'static str),
    /// The beginning of the name.
    Start(&'static str),
    /// The end of the name.
    End(&'static str),
    /// Beginning and end.
    Both(&'static str, &'static str),
    /// The name, inside a folder of the given name.
    In(&'static str, &'static str),
}

/// One row: which names are closed, and why.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveRow {
    form: Form,
    /// What such files hold; the rule that a denial names.
    pub rule: &'static str,
    /// Names that match and must be closed, for the test of the row.
    pub samples: &'static [&'static str],
}

const fn row(form: Form, rule: &'static str, samples: &'static [&'static str]) -> SensitiveRow {
    SensitiveRow { form, rule, samples }
}

/// Every row. A name that matches is closed, and so is everything in a folder of that name.
pub const SENSITIVE: &[SensitiveRow] = &[
    row(Form::Name(".env"), "environment-file", &[".env", ".ENV", "app/.env"]),
    row(Form::Start(".env."), "environment-file", &[".env.local", ".env.production"]),
    row(Form::End(".env"), "environment-file", &["prod.env"]),
    row(Form::Name(".envrc"), "environment-file", &[".envrc"]),
    row(Form::End(".pem"), "private-key", &["server.pem", "SERVER.PEM"]),
    row(Form::End(".key"), "private-key", &["server.key"]),
    row(Form::End(".p12"), "private-key", &["id.p12"]),
    row(Form::End(".pfx"), "private-key", &["id.pfx"]),
    row(Form::End(".p8"), "private-key", &["AuthKey.p8"]),
    row(Form::End(".jks"), "private-key", &["store.jks"]),
    row(Form::End(".keystore"), "private-key", &["debug.keystore"]),
    row(Form::End(".ppk"), "private-key", &["putty.ppk"]),
    row(Form::Start("id_rsa"), "private-key", &["id_rsa", "id_rsa.bak"]),
    row(Form::Start("id_dsa"), "private-key", &["id_dsa"]),
    row(Form::Start("id_ecdsa"), "private-key", &["id_ecdsa"]),
    row(Form::Start("id_ed25519"), "private-key", &["id_ed25519"]),
    row(Form::Name(".ssh"), "private-key", &[".ssh/config", ".ssh"]),
    row(Form::Name(".gnupg"), "private-key", &[".gnupg/secring.gpg"]),
    row(Form::End(".kdbx"), "password-store", &["passwords.kdbx"]),
    row(Form::Name(".password-store"), "password-store", &[".password-store/mail.gpg"]),
    row(Form::End(".psafe3"), "password-store", &["old.psafe3"]),
    row(Form::In("share", "keyrings"), "password-store", &[".local/share/keyrings/login.keyring"]),
    row(Form::Name("kwalletd"), "password-store", &[".local/share/kwalletd/kdewallet.kwl"]),
    row(Form::In(".config", "op"), "password-store", &[".config/op/config"]),
    row(Form::End(".keychain"), "password-store", &["login.keychain"]),
    row(Form::End(".keychain-db"), "password-store", &["login.keychain-db"]),
    row(Form::In("library", "keychains"), "password-store", &["Library/Keychains/login.keychain-db"]),
    row(
        Form::In("microsoft", "protect"),
        "password-store",
        &["AppData/Roaming/Microsoft/Protect/S-1-5-21-1/Preferred"],
    ),
    row(Form::In("microsoft", "crypto"), "password-store", &["AppData/Roaming/Microsoft/Crypto/RSA/k"]),
    row(Form::In("microsoft", "vault"), "password-store", &["AppData/Local/Microsoft/Vault/v.vpol"]),
    row(Form::Name(".git-credentials"), "credentials", &[".git-credentials"]),
    row(Form::In(".git", "config"), "credentials", &[".git/config", "sub/.GIT/Config"]),
    row(Form::In(".git", "credentials"), "credentials", &[".git/credentials"]),
    row(Form::Name(".netrc"), "credentials", &[".netrc"]),
    row(Form::Name("_netrc"), "credentials", &["_netrc"]),
    row(Form::Name(".pgpass"), "credentials", &[".pgpass"]),
    row(Form::Name(".my.cnf"), "credentials", &[".my.cnf"]),
    row(Form::Name(".npmrc"), "credentials", &[".npmrc"]),
    row(Form::Name(".pypirc"), "credentials", &[".pypirc"]),
    row(Form::Name(".htpasswd"), "credentials", &[".htpasswd"]),
    row(Form::Name(".dockercfg"), "credentials", &[".dockercfg"]),
    row(Form::Name(".docker"), "credentials", &[".docker/config.json"]),
    row(Form::Name(".aws"), "credentials", &[".aws/credentials"]),
    row(Form::Name(".azure"), "credentials", &[".azure/accessTokens.json"]),
    row(Form::Name(".kube"), "credentials", &[".kube/config"]),
    row(Form::Name("kubeconfig"), "credentials", &["kubeconfig"]),
    row(Form::Name("gcloud"), "credentials", &[".config/gcloud/credentials.db"]),
    row(Form::Name(".vault-token"), "credentials", &[".vault-token"]),
    row(Form::Name(".terraformrc"), "credentials", &[".terraformrc"]),
    row(Form::Name("terraform.tfstate"), "credentials", &["terraform.tfstate"]),
    row(Form::Name("credentials"), "credentials", &["credentials"]),
    row(Form::Both("credentials.", ".json"), "credentials", &["credentials.prod.json"]),
    row(Form::Name("credentials.json"), "credentials", &["credentials.json"]),
    row(Form::Name("credentials.toml"), "credentials", &[".cargo/credentials.toml"]),
    row(Form::Name("credentials.yml"), "credentials", &["credentials.yml"]),
    row(Form::Name("credentials.yaml"), "credentials", &["credentials.yaml"]),
    row(Form::Name("credentials.yml.enc"), "credentials", &["config/credentials.yml.enc"]),
    row(Form::Both("service-account", ".json"), "credentials", &["service-account-prod.json"]),
    row(Form::Both("service_account", ".json"), "credentials", &["service_account.json"]),
    row(Form::Name(".credentials.json"), "credentials", &[".claude/.credentials.json"]),
    row(Form::In(".codex", "auth.json"), "credentials", &[".codex/auth.json"]),
    row(Form::In(".gemini", "oauth_creds.json"), "credentials", &[".gemini/oauth_creds.json"]),
    row(Form::In("github-copilot", "hosts.json"), "credentials", &[".config/github-copilot/hosts.json"]),
    row(Form::In("github-copilot", "apps.json"), "credentials", &["AppData/Local/github-copilot/apps.json"]),
    row(Form::In("gh", "hosts.yml"), "credentials", &[".config/gh/hosts.yml"]),
    row(Form::In("github cli", "hosts.yml"), "credentials", &["AppData/Roaming/GitHub CLI/hosts.yml"]),
    row(
        Form::Name("application_default_credentials.json"),
        "credentials",
        &["application_default_credentials.json"],
    ),
    row(Form::Name(".databrickscfg"), "credentials", &[".databrickscfg"]),
    row(Form::Name(".s3cfg"), "credentials", &[".s3cfg"]),
    row(Form::Name(".boto"), "credentials", &[".boto"]),
    row(Form::Name("rclone.conf"), "credentials", &[".config/rclone/rclone.conf"]),
    row(Form::Name("terraform.rc"), "credentials", &["AppData/Roaming/terraform.rc"]),
    row(Form::Name("pgpass.conf"), "credentials", &["AppData/Roaming/postgresql/pgpass.conf"]),
    row(Form::In(".m2", "settings.xml"), "credentials", &[".m2/settings.xml"]),
    row(Form::In(".m2", "settings-security.xml"), "credentials", &[".m2/settings-security.xml"]),
    row(Form::In(".gradle", "gradle.properties"), "credentials", &[".gradle/gradle.properties"]),
    row(Form::In(".composer", "auth.json"), "credentials", &[".composer/auth.json"]),
    row(Form::In("composer", "auth.json"), "credentials", &["AppData/Roaming/Composer/auth.json"]),
    row(Form::In(".subversion", "auth"), "credentials", &[".subversion/auth/svn.simple/a"]),
    row(Form::In("subversion", "auth"), "credentials", &["AppData/Roaming/Subversion/auth/svn.simple/a"]),
    row(Form::Name("winscp.ini"), "credentials", &["WinSCP.ini"]),
    row(Form::Name("sitemanager.xml"), "credentials", &["AppData/Roaming/FileZilla/sitemanager.xml"]),
    row(Form::Name("recentservers.xml"), "credentials", &[".config/filezilla/recentservers.xml"]),
    row(Form::Start("secrets."), "secrets", &["secrets.yaml", "Secrets.JSON"]),
    row(Form::Name(".secrets"), "secrets", &[".secrets"]),
    row(Form::End(".secret"), "secrets", &["token.secret"]),
    row(Form::Name("master.key"), "secrets", &["config/master.key"]),
    // What the system keeps of its users: password hashes, and keys to what else is kept.
    row(Form::In("etc", "shadow"), "system-accounts", &["etc/shadow"]),
    row(Form::In("etc", "gshadow"), "system-accounts", &["etc/gshadow"]),
    row(
        Form::In("system32", "config"),
        "system-accounts",
        &["Windows/System32/config/SAM", "WINDOWS/system32/CONFIG/security"],
    ),
    row(Form::Start("ntuser.dat"), "system-accounts", &["NTUSER.DAT", "ntuser.dat.LOG1"]),
    row(Form::Start("usrclass.dat"), "system-accounts", &["AppData/Local/Microsoft/Windows/UsrClass.dat"]),
    row(Form::Name("ntds.dit"), "system-accounts", &["Windows/NTDS/ntds.dit"]),
    row(Form::Name("unattend.xml"), "system-accounts", &["Windows/Panther/Unattend.xml"]),
    row(Form::Name("autounattend.xml"), "system-accounts", &["autounattend.xml"]),
    // Whole profiles: passwords, cookies that stand for logins, and where the person has been.
    row(Form::Start("login data"), "browser-profile", &["Login Data", "Login Data For Account"]),
    row(Form::Name("local state"), "browser-profile", &["Local State"]),
    row(Form::Name("cookies.sqlite"), "browser-profile", &["cookies.sqlite"]),
    row(Form::Name("key3.db"), "browser-profile", &["key3.db"]),
    row(Form::Name("key4.db"), "browser-profile", &["key4.db"]),
    row(Form::Name("logins.json"), "browser-profile", &["logins.json"]),
    row(Form::Name(".mozilla"), "browser-profile", &[".mozilla/firefox/profiles.ini"]),
    row(Form::Name(".thunderbird"), "browser-profile", &[".thunderbird/profiles.ini"]),
    row(Form::In(".config", "mozilla"), "browser-profile", &[".config/mozilla/firefox/profiles.ini"]),
    row(
        Form::In("firefox", "profiles"),
        "browser-profile",
        &["AppData/Roaming/Mozilla/Firefox/Profiles/p/prefs.js"],
    ),
    row(Form::In("thunderbird", "profiles"), "browser-profile", &["Library/Thunderbird/Profiles/p/prefs.js"]),
    row(Form::In(".config", "google-chrome"), "browser-profile", &[".config/google-chrome/Default/Web Data"]),
    row(Form::In(".config", "chromium"), "browser-profile", &[".config/chromium/Default/History"]),
    row(
        Form::In(".config", "bravesoftware"),
        "browser-profile",
        &[".config/BraveSoftware/Brave-Browser/Default/History"],
    ),
    row(
        Form::In(".config", "microsoft-edge"),
        "browser-profile",
        &[".config/microsoft-edge/Default/History"],
    ),
    row(Form::In(".config", "vivaldi"), "browser-profile", &[".config/vivaldi/Default/History"]),
    row(
        Form::In(".config", "google-chrome-beta"),
        "browser-profile",
        &[".config/google-chrome-beta/Default/History"],
    ),
    row(
        Form::In(".config", "google-chrome-unstable"),
        "browser-profile",
        &[".config/google-chrome-unstable/Default/History"],
    ),
    row(
        Form::In(".config", "google-chrome-canary"),
        "browser-profile",
        &[".config/google-chrome-canary/Default/History"],
    ),
    row(
        Form::In(".config", "microsoft-edge-beta"),
        "browser-profile",
        &[".config/microsoft-edge-beta/Default/History"],
    ),
    row(
        Form::In(".config", "microsoft-edge-dev"),
        "browser-profile",
        &[".config/microsoft-edge-dev/Default/History"],
    ),
    row(Form::In(".config", "opera"), "browser-profile", &[".config/opera/Default/History"]),
    row(
        Form::In(".config", "vivaldi-snapshot"),
        "browser-profile",
        &[".config/vivaldi-snapshot/Default/History"],
    ),
    // Of snaps and flatpaks, which have home folders of their own.
    row(Form::In("snap", "chromium"), "browser-profile", &["snap/chromium/common/chromium/Default/Cookies"]),
    row(
        Form::In("app", "com.google.chrome"),
        "browser-profile",
        &[".var/app/com.google.Chrome/config/google-chrome/Default/Cookies"],
    ),
    row(
        Form::In("app", "com.google.chromedev"),
        "browser-profile",
        &[".var/app/com.google.ChromeDev/config/google-chrome-unstable/Default/Cookies"],
    ),
    row(
        Form::In("app", "org.chromium.chromium"),
        "browser-profile",
        &[".var/app/org.chromium.Chromium/config/chromium/Default/Cookies"],
    ),
    row(
        Form::In("app", "com.brave.browser"),
        "browser-profile",
        &[".var/app/com.brave.Browser/config/BraveSoftware/Brave-Browser/Default/Cookies"],
    ),
    row(
        Form::In("app", "com.microsoft.edge"),
        "browser-profile",
        &[".var/app/com.microsoft.Edge/config/microsoft-edge/Default/Cookies"],
    ),
    row(
        Form::In("app", "com.vivaldi.vivaldi"),
        "browser-profile",
        &[".var/app/com.vivaldi.Vivaldi/config/vivaldi/Default/Cookies"],
    ),
    row(
        Form::In("app", "com.opera.opera"),
        "browser-profile",
        &[".var/app/com.opera.Opera/config/opera/Default/Cookies"],
    ),
    row(
        Form::In("app", "org.mozilla.firefox"),
        "browser-profile",
        &[".var/app/org.mozilla.firefox/config/mozilla/firefox/profiles.ini"],
    ),
    row(
        Form::In("chrome", "user data"),
        "browser-profile",
        &["AppData/Local/Google/Chrome/User Data/Default/Network/Cookies"],
    ),
    row(
        Form::In("chromium", "user data"),
        "browser-profile",
        &["AppData/Local/Chromium/User Data/Default/History"],
    ),
    row(
        Form::In("edge", "user data"),
        "browser-profile",
        &["AppData/Local/Microsoft/Edge/User Data/Default/History"],
    ),
    row(
        Form::In("brave-browser", "user data"),
        "browser-profile",
        &["AppData/Local/BraveSoftware/Brave-Browser/User Data/Default/History"],
    ),
    row(
        Form::In("chrome beta", "user data"),
        "browser-profile",
        &["AppData/Local/Google/Chrome Beta/User Data/Default/History"],
    ),
    row(
        Form::In("chrome dev", "user data"),
        "browser-profile",
        &["AppData/Local/Google/Chrome Dev/User Data/Default/History"],
    ),
    row(
        Form::In("chrome sxs", "user data"),
        "browser-profile",
        &["AppData/Local/Google/Chrome SxS/User Data/Default/History"],
    ),
    row(
        Form::In("edge beta", "user data"),
        "browser-profile",
        &["AppData/Local/Microsoft/Edge Beta/User Data/Default/History"],
    ),
    row(
        Form::In("edge dev", "user data"),
        "browser-profile",
        &["AppData/Local/Microsoft/Edge Dev/User Data/Default/History"],
    ),
    row(
        Form::In("edge sxs", "user data"),
        "browser-profile",
        &["AppData/Local/Microsoft/Edge SxS/User Data/Default/History"],
    ),
    row(
        Form::In("brave-browser-beta", "user data"),
        "browser-profile",
        &["AppData/Local/BraveSoftware/Brave-Browser-Beta/User Data/Default/History"],
    ),
    row(
        Form::In("brave-browser-nightly", "user data"),
        "browser-profile",
        &["AppData/Local/BraveSoftware/Brave-Browser-Nightly/User Data/Default/History"],
    ),
    row(
        Form::In("vivaldi", "user data"),
        "browser-profile",
        &["AppData/Local/Vivaldi/User Data/Default/History"],
    ),
    row(
        Form::Name("opera software"),
        "browser-profile",
        &["AppData/Roaming/Opera Software/Opera Stable/History"],
    ),
    row(
        Form::In("application support", "google"),
        "browser-profile",
        &["Library/Application Support/Google/Chrome/Default/Cookies"],
    ),
    row(
        Form::In("application support", "chromium"),
        "browser-profile",
        &["Library/Application Support/Chromium/Default/Cookies"],
    ),
    row(
        Form::In("application support", "microsoft edge"),
        "browser-profile",
        &["Library/Application Support/Microsoft Edge/Default/Cookies"],
    ),
    row(
        Form::In("application support", "microsoft edge beta"),
        "browser-profile",
        &["Library/Application Support/Microsoft Edge Beta/Default/Cookies"],
    ),
    row(
        Form::In("application support", "microsoft edge dev"),
        "browser-profile",
        &["Library/Application Support/Microsoft Edge Dev/Default/Cookies"],
    ),
    row(
        Form::In("application support", "microsoft edge canary"),
        "browser-profile",
        &["Library/Application Support/Microsoft Edge Canary/Default/Cookies"],
    ),
    row(
        Form::In("application support", "bravesoftware"),
        "browser-profile",
        &["Library/Application Support/BraveSoftware/Brave-Browser/Default/Cookies"],
    ),
    row(
        Form::In("application support", "vivaldi"),
        "browser-profile",
        &["Library/Application Support/Vivaldi/Default/Cookies"],
    ),
    row(
        Form::In("application support", "arc"),
        "browser-profile",
        &["Library/Application Support/Arc/User Data/Default/Cookies"],
    ),
    row(
        Form::In("application support", "com.operasoftware.opera"),
        "browser-profile",
        &["Library/Application Support/com.operasoftware.Opera/Cookies"],
    ),
    row(Form::In("library", "safari"), "browser-profile", &["Library/Safari/History.db"]),
    row(Form::In("library", "cookies"), "browser-profile", &["Library/Cookies/com.apple.appstore.plist"]),
    row(Form::End(".binarycookies"), "browser-profile", &["Cookies.binarycookies"]),
    row(Form::In("library", "messages"), "personal-data", &["Library/Messages/chat.db"]),
    row(Form::In("library", "mail"), "personal-data", &["Library/Mail/V10/MailData/Envelope Index"]),
    row(
        Form::In("library", "mobile documents"),
        "personal-data",
        &["Library/Mobile Documents/com~apple~CloudDocs/a.txt"],
    ),
    row(
        Form::In("application support", "icloud"),
        "personal-data",
        &["Library/Application Support/iCloud/Accounts/a"],
    ),
    row(
        Form::In("application support", "addressbook"),
        "personal-data",
        &["Library/Application Support/AddressBook/AddressBook-v22.abcddb"],
    ),
    row(
        Form::In("application support", "mobilesync"),
        "personal-data",
        &["Library/Application Support/MobileSync/Backup/a"],
    ),
    row(
        Form::In("application support", "com.apple.tcc"),
        "personal-data",
        &["Library/Application Support/com.apple.TCC/a"],
    ),
    row(Form::Name("tcc.db"), "personal-data", &["TCC.db"]),
    row(
        Form::Both(".", "_history"),
        "shell-history",
        &[".bash_history", ".zsh_history", ".python_history", ".node_repl_history"],
    ),
    row(Form::Name("fish_history"), "shell-history", &[".local/share/fish/fish_history"]),
    row(
        Form::Name("consolehost_history.txt"),
        "shell-history",
        &["AppData/Roaming/Microsoft/Windows/PowerShell/PSReadLine/ConsoleHost_history.txt"],
    ),
    // Programs that stand here are started by AI clients, outside every sandbox; tokens stand here too.
    row(Form::Name(".mcp.json"), "client-settings", &[".mcp.json", "sub/.MCP.json"]),
    row(Form::Name(".claude.json"), "client-settings", &[".claude.json"]),
    row(Form::Name("claude_desktop_config.json"), "client-settings", &["claude_desktop_config.json"]),
    row(Form::Name("mcp_config.json"), "client-settings", &[".codeium/windsurf/mcp_config.json"]),
    row(Form::In(".claude", "settings.json"), "client-settings", &[".claude/settings.json"]),
    row(Form::In(".claude", "settings.local.json"), "client-settings", &[".claude/settings.local.json"]),
    row(Form::In(".codex", "config.toml"), "client-settings", &[".codex/config.toml"]),
    row(Form::In(".cursor", "mcp.json"), "client-settings", &[".cursor/mcp.json", "a/.Cursor/MCP.json"]),
    row(Form::In(".gemini", "settings.json"), "client-settings", &[".gemini/settings.json"]),
    row(Form::In(".vscode", "mcp.json"), "client-settings", &[".vscode/mcp.json"]),
    row(Form::In(".zed", "settings.json"), "client-settings", &[".zed/settings.json"]),
    row(
        Form::In("user", "mcp.json"),
        "client-settings",
        &[".config/Code/User/mcp.json", "AppData/Roaming/Code/User/mcp.json"],
    ),
    row(
        Form::In("zed", "settings.json"),
        "client-settings",
        &[".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"],
    ),
];

/// Names that match a row and are open all the same: they are made to be shared.
const SHARED: &[Form] = &[
    Form::Both(".env.", "example"),
    Form::Both(".env.", "sample"),
    Form::Both(".env.", "template"),
    Form::Both(".env.", "dist"),
    Form::Both("id_", ".pub"),
];

impl SensitiveRow {
    /// Shows which names the row closes, as a glob.
    pub fn pattern(&self) -> String {
        self.form.pattern()
    }
}

/// Shows the names that are open although a row matches them, as globs.
pub fn shared_patterns() -> Vec<String> {
    SHARED.iter().map(|form| form.pattern()).collect()
}

impl Form {
    fn pattern(self) -> String {
        match self {
            Self::Name(text) => text.to_owned(),
            Self::Start(text) => format!("{text}*"),
            Self::End(text) => format!("*{text}"),
            Self::Both(start, end) => format!("{start}*{end}"),
            Self::In(folder, text) => format!("{folder}/{text}"),
        }
    }

    /// Gives a byte that every name which it matches begins or ends with.
    fn edge(self) -> Edge {
        match self {
            Self::Name(text) | Self::Start(text) | Self::Both(text, _) | Self::In(_, text) => {
                Edge::First(text.as_bytes()[0])
            }
            Self::End(text) => Edge::Last(text.as_bytes()[text.len() - 1]),
        }
    }

    fn matches(self, parent: Option<&[u8]>, name: &[u8]) -> bool {
        match self {
            Self::Name(text) => name == text.as_bytes(),
            Self::Start(text) => name.starts_with(text.as_bytes()),
            Self::End(text) => name.ends_with(text.as_bytes()),
            Self::Both(start, end) => {
                name.len() >= start.len() + end.len()
                    && name.starts_with(start.as_bytes())
                    && name.ends_with(end.as_bytes())
            }
            Self::In(folder, text) => name == text.as_bytes() && parent == Some(folder.as_bytes()),
        }
    }
}

/// Finds the rule that closes a name in a folder; both must be folded.
pub(super) fn rule_for(parent: Option<&[u8]>, name: &[u8]) -> Option<&'static str> {
    let row = likely_rows(name).find(|row| row.form.matches(parent, name))?;
    let shared = SHARED.iter().any(|form| form.matches(parent, name));
    (!shared).then_some(row.rule)
}

/// A byte by which rows are found.
#[derive(Debug, Clone, Copy)]
enum Edge {
    First(u8),
    Last(u8),
}

/// A bit for each row.
type Mask = [u64; 3];

/// Gives the rows that can match a name, by its first and its last byte, in the order of the table.
fn likely_rows(name: &[u8]) -> impl Iterator<Item = &'static SensitiveRow> {
    /// Those of each first byte, and of each last one.
    static BY_EDGE: LazyLock<Box<[[Mask; 256]; 2]>> = LazyLock::new(|| {
        let mut masks = Box::new([[Mask::default(); 256]; 2]);
        for (at, row) in SENSITIVE.iter().enumerate() {
            let mask = match row.form.edge() {
                Edge::First(byte) => &mut masks[0][usize::from(byte)],
                Edge::Last(byte) => &mut masks[1][usize::from(byte)],
            };
            mask[at / 64] |= 1 << (at % 64);
        }
        masks
    });
    const { assert!(SENSITIVE.len() <= size_of::<Mask>() * 8, "a row has a bit of the mask") };
    let mut left = match name {
        [] => Mask::default(),
        [first, ..] => {
            let (begin, end) =
                (&BY_EDGE[0][usize::from(*first)], &BY_EDGE[1][usize::from(name[name.len() - 1])]);
            [begin[0] | end[0], begin[1] | end[1], begin[2] | end[2]]
        }
    };
    std::iter::from_fn(move || {
        let (at, word) = left.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros() as usize;
        *word &= *word - 1;
        SENSITIVE.get(at * 64 + bit)
    })
}

/// Folds a name for comparison: upper and lower case are one, ignored characters vanish.
///
/// # Source
/// The code points that HFS+ ignores: U+200C–200F, U+202A–202E, U+206A–206F, U+FEFF (Apple TN1150).
/// Upper-casing first brings ſ to s and the Kelvin sign to k.
pub(super) fn fold(name: &[u8]) -> Cow<'_, [u8]> {
    if name.iter().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    let mut folded = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        let kept = chunk.valid().chars().filter(|c| {
            !matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
        });
        let mut buffer = [0; 4];
        for lower in kept.flat_map(char::to_uppercase).flat_map(char::to_lowercase) {
            folded.extend_from_slice(lower.encode_utf8(&mut buffer).as_bytes());
        }
        folded.extend_from_slice(chunk.invalid());
    }
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bailiwick_platform::fs::RelPath;

    fn closed(path: &str) -> Option<&'static str> {
        let path = RelPath::parse(path.as_bytes()).expect("a good path");
        let mut parent: Option<Cow<'_, [u8]>> = None;
        for name in path.components() {
            let name = fold(name);
            if let Some(rule) = rule_for(parent.as_deref(), &name) {
                return Some(rule);
            }
            parent = Some(name);
        }
        None
    }

    #[test]
    fn every_row_closes_its_samples() {
        for row in SENSITIVE {
            for sample in row.samples {
                assert!(closed(sample).is_some(), "{sample} must be closed");
                let names: Vec<Cow<'_, [u8]>> = sample.split('/').map(|name| fold(name.as_bytes())).collect();
                let matched = (0..names.len()).any(|at| {
                    let parent = at.checked_sub(1).map(|above| names[above].as_ref());
                    row.form.matches(parent, &names[at])
                });
                assert!(matched, "{sample} is no sample of {}", row.pattern());
            }
        }
    }

    #[test]
    fn a_row_is_found_by_the_edges_of_every_name_that_it_matches() {
        for row in SENSITIVE {
            for name in row.samples.iter().flat_map(|sample| sample.split('/')) {
                let name = fold(name.as_bytes());
                let is_found = likely_rows(&name).any(|likely| likely.pattern() == row.pattern());
                let (by_name, by_parent) = match row.form {
                    Form::In(_, text) => (false, name.as_ref() == text.as_bytes()),
                    form => (form.matches(None, &name), false),
                };
                assert!(is_found || !(by_name || by_parent), "{} of {}", row.pattern(), row.samples[0]);
            }
        }
    }

    #[test]
    fn other_spellings_are_closed_too() {
        for path in
            [".ENV", ".\u{200c}env", ".env\u{feff}", "ſecrets.json", "server.\u{212a}ey", ".Git/CONFIG"]
        {
            assert!(closed(path).is_some(), "{path:?} must be closed");
        }
    }

    #[test]
    fn ordinary_files_are_open() {
        for path in [
            "src/main.rs",
            ".env.example",
            ".env.local.sample",
            "id_rsa.pub",
            "environment.rs",
            "keys.rs",
            ".github/workflows/ci.yml",
            ".gitignore",
            "src/config",
            "secretsauce.md",
            "docs/monkey.md",
            "src/mozilla/firefox/README.md",
            "Microsoft/README.md",
            "src/library/Mailer.php",
            "chrome/manifest.json",
            "share/keyring.rs",
            ".history/a.rs",
            "chat_history",
            "config/system.toml",
            "src/cookies/jar.rs",
        ] {
            assert_eq!(closed(path), None, "{path} must be open");
        }
    }
}
