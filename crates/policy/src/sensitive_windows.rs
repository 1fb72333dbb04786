//! The list of windows that no scope shows unless it opens them: password managers and prompts for secrets.
//!
//! Told by class, program or title. Titles are there for what runs in a browser or a terminal.

/// One row: which windows stay closed, and why.
#[derive(Debug, Clone, Copy)]
pub struct SensitiveWindowRow {
    /// What such windows show.
    pub rule: &'static str,
    /// Globs over the window's class and the name of its program, in lower case.
    pub apps: &'static [&'static str],
    /// Globs over the title, in lower case.
    pub titles: &'static [&'static str],
    /// App and title of windows that must be closed, for the test of the row.
    pub samples: &'static [(&'static str, &'static str)],
}

const MANAGER: &str = "password-manager";
const PROMPT: &str = "secret-prompt";

const fn manager(
    apps: &'static [&'static str],
    titles: &'static [&'static str],
    samples: &'static [(&'static str, &'static str)],
) -> SensitiveWindowRow {
    SensitiveWindowRow { rule: MANAGER, apps, titles, samples }
}

const fn prompt(
    apps: &'static [&'static str],
    titles: &'static [&'static str],
    samples: &'static [(&'static str, &'static str)],
) -> SensitiveWindowRow {
    SensitiveWindowRow { rule: PROMPT, apps, titles, samples }
}

/// Every row. A window that one of its globs matches is closed.
pub const SENSITIVE_WINDOWS: &[SensitiveWindowRow] = &[
    manager(&["1password*"], &["*1password*"], &[("1Password", ""), ("Firefox", "Sign in | 1Password")]),
    manager(
        &["bitwarden*"],
        &["*bitwarden*"],
        &[("Bitwarden", ""), ("firefox", "Vaults | Bitwarden Web vault")],
    ),
    manager(
        &["keepass*", "org.keepassxc*", "keeweb*"],
        &["*keepass*", "*.kdbx*"],
        &[("KeePassXC", "x"), ("org.keepassxc.KeePassXC", ""), ("mono", "all.kdbx"), ("keepass2", "")],
    ),
    manager(&["lastpass*"], &["*lastpass*"], &[("chromium", "My LastPass Vault")]),
    manager(&["dashlane*"], &["*dashlane*"], &[("Dashlane", "")]),
    manager(&["enpass*"], &["*enpass*"], &[("Enpass", "")]),
    manager(
        &["proton*pass*"],
        &["*proton pass*"],
        &[("Proton Pass", ""), ("firefox", "Proton Pass: Logins")],
    ),
    manager(&["nordpass*"], &["*nordpass*"], &[("NordPass", "")]),
    manager(&["roboform*"], &["*roboform*"], &[("RoboForm", "")]),
    manager(
        &["keeper*password*", "keeperpasswordmanager*"],
        &["*keeper vault*"],
        &[("Keeper Password Manager", "")],
    ),
    manager(
        &["buttercup*", "padloc*", "passky*", "qtpass*", "gopass*", "passwordsafe*", "pwsafe*", "authpass*"],
        &["*password safe*"],
        &[("QtPass", ""), ("Buttercup", ""), ("x", "Password Safe")],
    ),
    manager(
        &["*seahorse*", "org.gnome.world.secrets*", "kwallet*", "ksecret*"],
        &["passwords and keys*", "*kwallet*"],
        &[
            ("org.gnome.seahorse.Application", ""),
            ("kwalletmanager5", ""),
            ("x", "KDE Wallet Service - kwalletd"),
        ],
    ),
    manager(
        &["keychain access*", "passwords", "*authenticator*", "authy*", "*otpclient*"],
        &[
            "keychain access*",
            "*google password manager*",
            "*about:logins*",
            "firefox passwords*",
            "*password manager",
        ],
        &[
            ("Keychain Access", ""),
            ("Google-chrome", "Google Password Manager - Google Chrome"),
            ("Authy Desktop", ""),
        ],
    ),
    prompt(
        &["*pinentry*", "*gcr-prompter*", "gcr-*"],
        &["*pinentry*"],
        &[("Pinentry-gtk-2", ""), ("gcr-prompter", "")],
    ),
    prompt(
        &["*askpass*", "gnome-keyring*"],
        &["*askpass*"],
        &[("ksshaskpass", ""), ("Gnome-ssh-askpass", "OpenSSH")],
    ),
    prompt(
        &["*polkit*", "*policykit*", "*policy-kit*", "gksu*", "kdesu*", "lxqt-sudo*"],
        &["authentication required*", "authenticate"],
        &[("polkit-gnome-authentication-agent-1", "Authenticate"), ("lxpolkit", ""), ("kdesu", "")],
    ),
    prompt(&["veracrypt*", "zulucrypt*", "luksy*"], &[], &[("VeraCrypt", "")]),
    prompt(
        &["securityagent*", "coreauthui*", "credentialuibroker*", "consent.exe", "consent", "logonui*"],
        &["windows security", "user account control"],
        &[("SecurityAgent", ""), ("CredentialUIBroker.exe", "Windows Security"), ("consent.exe", "")],
    ),
    // Where macOS asks for rights, and where they are granted.
    prompt(
        &[
            "usernotificationcenter*",
            "coreautha*",
            "universalaccessauthwarn*",
            "system settings",
            "system preferences",
        ],
        &[],
        &[("UserNotificationCenter", ""), ("System Settings", "Privacy & Security"), ("coreautha", "")],
    ),
    prompt(
        &[],
        &["*bailiwick approve*", "*log in to bailiwick*"],
        &[("XTerm", "bailiwick approve"), ("firefox", "Log in to Bailiwick - Mozilla Firefox")],
    ),
];
