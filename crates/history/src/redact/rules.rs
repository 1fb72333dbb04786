//! The forms of secrets that are known: a row each.
//!
//! A test takes every sample apart: its secret must vanish, alone and within other text. Samples are
//! written in parts, so that scanners of repositories stay quiet.

use super::placeholder::{Candidate, is_placeholder};

/// One form of secret.
pub struct Rule {
    /// What it is called in `[redacted:name:…]`.
    pub name: &'static str,
    /// Words of which one must occur, in lower case, or the rule is not tried.
    pub words: &'static [&'static str],
    /// The pattern. The secret is the group that took part, or all of it. No pattern needs something
    /// to follow the secret: secrets are cut, and are before any character.
    pub pattern: &'static str,
    /// A further condition on the secret. Of a header the pattern finds only where its value begins.
    pub holds: fn(Candidate<'_>) -> bool,
    /// An example: what is before the secret, and the parts of the secret.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests of the table read it"))]
    pub sample: (&'static str, &'static [&'static str]),
}

/// A value: quoted, or up to a blank or a character that ends it in a shell, a URL or JSON.
macro_rules! value {
    () => {
        r#"(?:\\?"((?:\\.|[^"\\\r\n])+)|\\?'([^'\\\r\n]+)|`([^`\r\n]+)|([^\s"'`&;,)\]}<>]+))"#
    };
}

/// The last words of names that hold secrets.
macro_rules! secret_name {
    () => {
        r"(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|connection[_. -]?string|(?:api|access|private|client|auth|encryption|signing|secret|master|account|shared|license|deploy|session|service|webhook|storage|ssh)[_. -]?key(?:[_. -]?base)?)"
    };
}

/// Every rule, at most 64.
pub const RULES: &[Rule] = &[
    Rule {
        name: "private-key",
        words: &["-----begin"],
        pattern: r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)",
        holds: always,
        sample: ("", &["-----BEGIN OPENSSH PRIV", "ATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nBG5vbmUAAAAE"]),
    },
    Rule {
        name: "jwt",
        words: &["eyj"],
        pattern: r"\beyJ[A-Za-z0-9_-]{16,}(?:\.[A-Za-z0-9_-]*){0,4}",
        holds: always,
        sample: ("", &["eyJhbGciOiJIUzI1", "NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0In0.abc-_x"]),
    },
    Rule {
        name: "url-user",
        words: &[":/"],
        // One slash is enough: a path made of a URL has lost the other.
        pattern: r#"(?i)\b[a-z][a-z0-9+.-]{1,30}:/{1,3}([^\s/?#"'<>`]+)@"#,
        holds: |user| user.text != "git" && has_password(user.text),
        sample: ("postgres://", &["app:hunt", "er2"]),
    },
    Rule {
        // A password with a slash in it, which a URL must not have. A port before a path is none.
        name: "url-password",
        words: &["://"],
        pattern: r#"(?i)\b[a-z][a-z0-9+.-]{1,30}://([^\s/?#:@"'<>]+:[^\s@"'<>`]+)@"#,
        holds: |found| {
            let (_, password) = found.text.split_once(':').unwrap_or_default();
            let part = password.split('/').next().unwrap_or_default();
            has_password(found.text) && !part.bytes().all(|it| it.is_ascii_digit())
        },
        sample: ("postgres://", &["app:hunt", "/er2"]),
    },
    Rule {
        name: "header",
        words: &["authorization", "cookie", "x-"],
        pattern: r#"(?i)\b(?:(?:proxy-)?authorization|(?:set-)?cookie2?|x-[a-z0-9-]*(?:key|token|secret|auth|signature)[a-z-]{0,20})\\?["']?\s*[:=]\s*(?:\\?"([^"\r\n])|([^\s"]))"#,
        holds: is_header_value,
        sample: ("Cookie: ", &["sid=31d4d96e407aad42; th", "eme=\"dark\"; id=a3fWa"]),
    },
    Rule {
        name: "bearer",
        words: &["bearer", "basic", "digest", "negotiate"],
        pattern: r"(?i)\b(?:bearer|basic|digest|negotiate)[ +:]+([A-Za-z0-9._~+/=-]{8,})",
        holds: |found| is_mixed(found.text) && !found.after.starts_with('('),
        sample: ("Bearer ", &["mF_9.B5f-", "4.1JqM"]),
    },
    Rule {
        name: "assigned",
        words: &["passw", "passphrase", "pwd", "secret", "token", "credential", "connection", "key"],
        pattern: concat!(r"(?i)", secret_name!(), r#"\\?["'`]?\]?\s*(?:=>|:=|={1,3}|:)\s*"#, value!()),
        holds: is_no_placeholder,
        sample: ("export DB_PASSWORD=", &["correct-hor", "se"]),
    },
    Rule {
        // `'NAME=a value with blanks'`: the quotes are around the name, too.
        name: "quoted",
        words: &[
            "word=",
            "asswd=",
            "phrase=",
            "pwd=",
            "secret=",
            "token=",
            "credential=",
            "credentials=",
            "string=",
            "key=",
            "base=",
            "pass=",
            "pw=",
            "auth=",
        ],
        pattern: concat!(
            r#"(?i)(?:^|[\s(\[,=])(?:'-{0,2}(?:(?:[a-z0-9_.-]*[_.-])?(?:pass|pw|auth)|[a-z0-9_.-]*"#,
            secret_name!(),
            r#")=([^'\r\n]+)|"-{0,2}(?:(?:[a-z0-9_.-]*[_.-])?(?:pass|pw|auth)|[a-z0-9_.-]*"#,
            secret_name!(),
            r#")=([^"\r\n]+))"#
        ),
        holds: |found| {
            let first = found.text.split([' ', '&', ';', ',', ')']).next().unwrap_or_default();
            found.text.contains(' ') && !is_placeholder(Candidate { text: first, ..found })
        },
        sample: ("env 'API_TOKEN=", &["zebra ", "77"]),
    },
    Rule {
        name: "flag",
        words: &[
            "-pass",
            "password",
            "passwd",
            "passphrase",
            "pwd",
            "secret",
            "token",
            "key",
            "credential",
            "-auth",
        ],
        pattern: concat!(
            r"(?i)(?:^|[\s\[,\x22'(])-{1,2}(?:[a-z0-9]+-)*(?:pass|auth|",
            secret_name!(),
            r#")\\?["']?(?:,?\s+|=|,)"#,
            value!()
        ),
        holds: is_no_placeholder,
        sample: ("deploy --api-key ", &["zebra", "77"]),
    },
    Rule {
        name: "short-flag",
        words: &["mysql", "mariadb", "sshpass", "docker login", "podman login", "redis-cli", "7z", "zip "],
        pattern: r#"(?i)\b(?:(?:mysql|mariadb)[a-z-]*\b[^\n|;]*?\s-p|sshpass\s+-p\s*|(?:docker|podman)\s+login\b[^\n|;]*?\s-p\s*|redis-cli\b[^\n|;]*?\s-a\s+|(?:7z[a-z]?|zip)\b[^\n|;]*?\s-[pP]\s*)(?:"([^"\r\n]+)|'([^'\r\n]+)|([^\s"']+))"#,
        holds: is_no_placeholder,
        sample: ("mysql -u root -p", &["swor", "dfish"]),
    },
    Rule {
        name: "user-flag",
        words: &["curl", "wget", "http"],
        pattern: r#"(?i)\b(?:curl|wget|https?|xh)\b[^\n|;]*?\s(?:-u|--user|-a|--auth)[\s=]*["']?[^\s:"']+:("[^"]+|[^\s"']+)"#,
        holds: is_no_placeholder,
        sample: ("curl -s -u anna:", &["s3s", "ame"]),
    },
    Rule {
        name: "netrc",
        words: &["login"],
        pattern: r"(?i)\blogin\s+\S+\s+(?:account\s+\S+\s+)?password\s+(\S+)",
        holds: always,
        sample: ("machine example.org login anna password ", &["op", "en"]),
    },
    Rule {
        name: "openssl-pass",
        words: &["pass:"],
        pattern: r"\bpass:(\S+)",
        holds: always,
        sample: ("openssl rsa -passin pass:", &["tr", "0ub4dor"]),
    },
    Rule {
        name: "short-name",
        words: &[
            "pass=", "pass:", "pass\"", "pass'", "pass\\", "pw=", "pw:", "pw\"", "pw'", "pw\\", "pswd",
            "auth=", "auth:", "auth\"", "auth'", "auth\\",
        ],
        pattern: concat!(r#"(?i)(?:^|[\s_?&;,'"(])(?:pass|pw|pswd|auth)\\?["']?(?:=|:\s?)"#, value!()),
        holds: |found| {
            let text = found.text;
            is_no_placeholder(found)
                && (!found.before.ends_with([' ', ':']) || is_mixed(text))
                && !text.bytes().all(|it| it.is_ascii_digit())
                && !matches!(text, "basic" | "bearer" | "oauth" | "oauth2" | "digest" | "ntlm" | "password")
        },
        sample: ("SMTP_PASS=", &["zebra", "77"]),
    },
    Rule {
        name: "otpauth",
        words: &["otpauth"],
        pattern: r"(?i)otpauth(?:-migration)?://(\S+)",
        holds: always,
        sample: ("otpauth://", &["totp/ACME:anna?secret=JBSW", "Y3DPEHPK3PXP&issuer=ACME"]),
    },
    Rule {
        name: "signature",
        words: &["sig=", "signature=", "credential=", "code="],
        pattern: r#"(?i)[?&;](?:sig|signature|x-(?:amz|goog)-(?:signature|credential)|code)=([^&\s"'<>]{8,})"#,
        holds: always,
        sample: ("https://x.blob.example/c?sv=2024&sig=", &["a%2BfK9", "wQmJ3%3D"]),
    },
    Rule {
        name: "password-hash",
        words: &["$2", "$5$", "$6$", "$y$", "$argon2", "$1$", "$apr1$"],
        pattern: r"\$(?:2[abxy]?|1|5|6|y|apr1|argon2(?:id|i|d))\$[^\s:\x22']{16,}",
        holds: always,
        sample: ("", &["$6$rounds=5000$usesome", "sillystri$D4IrlXatmP7rx3P3InaxBe"]),
    },
    Rule {
        name: "bailiwick",
        words: &["bwl_"],
        pattern: r"bwl_[A-Za-z0-9_-]{6,}",
        holds: always,
        sample: ("", &["bw", "l_3kTMd9aPq2w_x-1"]),
    },
    Rule {
        // The same in base 64, whatever precedes it: a token may begin at each of three places of a group.
        name: "bailiwick-encoded",
        words: &["yndsx", "j3bf", "id2xf"],
        pattern: r"[A-Za-z0-9+/_-]*?(?:YndsX[w-z0-9+/_-]|[GWm2]J3bF[89]|[BFJNRVZdhlptx159]id2xf)[A-Za-z0-9+/_-]{6,}={0,2}",
        holds: always,
        sample: ("", &["Ynd", "sXzNrVE1kOWFQcTJ3X3gtMQ=="]),
    },
    Rule {
        name: "aws",
        words: &["akia", "asia", "aroa", "aida", "abia", "acca"],
        pattern: r"\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z2-7]{12,}",
        holds: always,
        sample: ("", &["AK", "IAIOSFODNN7EXAMPLE"]),
    },
    Rule {
        name: "github",
        words: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        pattern: r"(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{16,}",
        holds: always,
        sample: ("", &["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"]),
    },
    Rule {
        name: "gitlab",
        words: &[
            "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-",
            "glimt-", "glffct-",
        ],
        pattern: r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[A-Za-z0-9_.-]{12,}",
        holds: always,
        sample: ("", &["glp", "at-Xk3PmQz81vTn5bRw2LsY"]),
    },
    Rule {
        name: "slack",
        words: &["xox", "xapp-", "hooks.slack.com"],
        pattern: r"\b(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,}|hooks\.slack\.com/(?:services|workflows|triggers)/(\S+)",
        holds: always,
        sample: ("", &["xo", "xb-123456789012-abcdefABCDEF"]),
    },
    Rule {
        name: "stripe",
        words: &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_", "whsec_"],
        pattern: r"\b(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9+/]{10,}",
        holds: always,
        sample: ("", &["sk_", "live_4eC39HqLyjWDarjtT1zdp7dc"]),
    },
    Rule {
        name: "google",
        words: &["aiza", "ya29.", "gocspx-", "1//0"],
        pattern: r"\b(?:AIza[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{16,}|1//0[A-Za-z0-9_-]{24,})",
        holds: always,
        sample: ("", &["AI", "zaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"]),
    },
    Rule {
        name: "model-provider",
        words: &["sk-", "hf_", "gsk_", "xai-", "r8_", "pplx-"],
        pattern: r"\b(?:sk-[A-Za-z0-9_-]{20,}|(?:hf|gsk|r8)_[A-Za-z0-9]{24,}|(?:xai|pplx)-[A-Za-z0-9]{24,})",
        holds: |found| is_mixed(found.text),
        sample: ("", &["sk", "-ant-api03-Zx8Kq1LmP0oWvB72nRtYh-3dFgAAA"]),
    },
    Rule {
        name: "package-registry",
        words: &["npm_", "pypi-", "rubygems_", "dckr_pat_", "dckr_oat_", "cio", "nuget"],
        pattern: r"\b(?:npm_[A-Za-z0-9]{24,}|pypi-[A-Za-z0-9_-]{32,}|rubygems_[a-f0-9]{32,}|dckr_[po]at_[A-Za-z0-9_-]{16,}|cio[A-Za-z0-9]{32}\b)",
        holds: |found| is_mixed(found.text),
        sample: ("", &["np", "m_kH7sPq29xVbN41mZtR83wLdYc56fJg0aEuXo"]),
    },
    Rule {
        name: "service-token",
        words: &[
            "dop_v1_",
            "doo_v1_",
            "dor_v1_",
            "sg.",
            "shpat_",
            "shpca_",
            "shppa_",
            "shpss_",
            "dapi",
            "hvs.",
            "hvb.",
            "lin_api_",
            "ntn_",
            "atatt3",
            "age-secret-key-",
            "sbp_",
            "pscale_",
            "fo1_",
            "dp.pt.",
            "key-",
            "phc_",
            "sntrys_",
            "glsa_",
            "ghost",
            "eaac",
            "sq0",
            "eaaa",
            "ctx7sk",
            "tskey-",
            "rnd_",
            "cfut_",
            "fm1",
            "fm2",
            "secret_",
            "nvapi-",
            "xkeysib-",
            "figd_",
            "pul-",
            "glc_",
            "pmak-",
            "atctt3",
            "atbb",
            ".atlasv1.",
            "re_",
            "ops_eyj",
        ],
        pattern: r"\b(?:do[opr]_v1_[a-f0-9]{32,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{24,}|dapi[a-f0-9]{32}|hv[sb]\.[A-Za-z0-9_-]{20,}|lin_api_[A-Za-z0-9]{24,}|ntn_[A-Za-z0-9]{24,}|ATATT3[A-Za-z0-9_=-]{24,}|AGE-SECRET-KEY-1[A-Z0-9]{24,}|sbp_[a-f0-9]{24,}|pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{20,}|fo1_[A-Za-z0-9_-]{24,}|dp\.pt\.[A-Za-z0-9]{24,}|key-[a-f0-9]{32}|sntrys_[A-Za-z0-9_=+/-]{24,}|glsa_[A-Za-z0-9_]{24,}|EAA[AC][A-Za-z0-9]{24,}|sq0[a-z]{3}-[A-Za-z0-9_-]{20,}|tskey-[a-z]+-[A-Za-z0-9-]{16,}|rnd_[A-Za-z0-9]{24,}|fm[12][a-z]?_[A-Za-z0-9_+/=-]{16,}|ctx7sk-[A-Za-z0-9_-]{16,}|cfut_[A-Za-z0-9_-]{24,}|phc_[A-Za-z0-9]{24,}|secret_[A-Za-z0-9]{40,}|nvapi-[A-Za-z0-9_-]{24,}|xkeysib-[a-f0-9]{32,}[A-Za-z0-9-]*|figd_[A-Za-z0-9_-]{24,}|pul-[a-f0-9]{32,}|glc_[A-Za-z0-9+/=]{24,}|PMAK-[a-f0-9]{20,}[a-f0-9-]*|AT(?:CTT3|BB)[A-Za-z0-9_=-]{16,}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{24,}|re_[A-Za-z0-9]{6,}_[A-Za-z0-9]{16,}|ops_eyJ[A-Za-z0-9_=-]{24,})",
        holds: always,
        sample: ("", &["SG", ".ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr"]),
    },
    Rule {
        name: "telegram",
        words: &[":aa", "%3aaa"],
        // In a URL `bot` is before the digits, without a boundary between.
        pattern: r"(?i)(?:\b|bot)([0-9]{8,10}(?::|%3A)AA[A-Za-z0-9_-]{30,})",
        holds: always,
        sample: ("https://api.telegram.org/bot", &["110201543:AA", "HdqTcvCH1vGWJxfSeofSAs0K5PALDsaw"]),
    },
    Rule {
        name: "discord",
        words: &["discord"],
        pattern: r"discord(?:app)?\.com/api/webhooks/[0-9]+/([A-Za-z0-9_-]+)",
        holds: always,
        sample: ("https://discord.com/api/webhooks/123456/", &["a1B2c3", "D4e5F6g7H8"]),
    },
];

/// Returns whether a name says that its value is a secret.
pub fn is_secret_name(name: &str) -> bool {
    static NAME: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
        regex::Regex::new(concat!(r"(?i)(?:^|[^a-z])(?:pass|pw|auth)$|", secret_name!(), "$"))
            .expect("a test compiles it")
    });
    NAME.is_match(name)
}

/// Returns whether an argument is a flag whose value, the next argument, is a secret.
pub fn is_secret_flag(argument: &str) -> bool {
    argument.starts_with('-') && !argument.contains(['=', ' ']) && is_secret_name(argument)
}

fn always(_: Candidate<'_>) -> bool {
    true
}

/// Returns whether a text has a digit, or a large letter after a small one: words have neither.
pub fn is_mixed(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().any(u8::is_ascii_digit)
        || bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// Returns whether a value stands for itself: not for a variable, a type or nothing.
fn is_no_placeholder(found: Candidate<'_>) -> bool {
    !is_placeholder(found)
}

/// Returns whether the part of a URL before `@` is more than a name and a placeholder.
fn has_password(user: &str) -> bool {
    let password = user.split_once(':').map_or(user, |(_, password)| password);
    !is_placeholder(Candidate::alone(password))
}

/// Returns whether the value of a header is more than a scheme and a placeholder.
fn is_header_value(found: Candidate<'_>) -> bool {
    const SCHEMES: &[&str] = &["bearer", "basic", "token", "digest", "negotiate", "apikey", "bot"];
    let text = found.text.trim().trim_matches(['"', '\'', '`', '\\']);
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_scheme = SCHEMES.contains(&first.to_ascii_lowercase().as_str());
    let value = if is_scheme { rest.trim() } else { text };
    // What a header of one line is followed by is no part of a template.
    let end = if value.starts_with("${{") || value.starts_with("{{") {
        value.find("}}").map_or(value.len(), |at| at + 2)
    } else {
        value.find(['"', '\'', '`', ' ']).unwrap_or(value.len())
    };
    !is_placeholder(Candidate::within(value, 0, end))
}
