//! The programs that make tunnels: how each is started, and how it says where it leads.

use std::ffi::OsString;
use std::path::Path;

use serde_json::Value;

use bailiwick_config::PublicUrl;
use bailiwick_contract::Failure;

use crate::installation::text::one_line;

/// The variable by which OpenAI's program gets the token that it adds to requests.
pub const AUTHORIZATION: &str = "BAILIWICK_AUTHORIZATION";

/// A program that makes a tunnel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TunnelProgram {
    /// A quick tunnel of Cloudflare, whose URL is a new one each time.
    Cloudflare,
    /// A funnel of Tailscale, under the name that this computer has there.
    Tailscale,
    /// OpenAI's Secure MCP Tunnel, which has no public URL.
    OpenAi {
        /// The tunnel, as OpenAI's settings name it.
        tunnel_id: String,
    },
}

impl TunnelProgram {
    /// Takes the id of a tunnel of OpenAI.
    ///
    /// # Errors
    /// `invalid_request` for anything but `tunnel_` and 32 hexadecimal digits.
    pub fn openai(tunnel_id: &str) -> Result<Self, Failure> {
        let is_digit = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
        let digits = tunnel_id.strip_prefix("tunnel_");
        if digits.is_some_and(|digits| digits.len() == 32 && digits.bytes().all(is_digit)) {
            return Ok(Self::OpenAi { tunnel_id: tunnel_id.to_owned() });
        }
        Err(Failure::invalid("TUNNEL_ID", format!("`{}` is not the id of a tunnel", one_line(tunnel_id)))
            .hint("Copy it from https://platform.openai.com/settings/organization/tunnels: `tunnel_` and 32 digits."))
    }

    /// Returns its word in commands and notes.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Cloudflare => "cloudflare",
            Self::Tailscale => "tailscale",
            Self::OpenAi { .. } => "openai",
        }
    }

    /// Returns the program's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cloudflare => "cloudflared",
            Self::Tailscale => "tailscale",
            Self::OpenAi { .. } => "tunnel-client",
        }
    }

    /// Returns where the program comes from.
    pub fn home_page(&self) -> &'static str {
        match self {
            Self::Cloudflare => {
                "https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads"
            }
            Self::Tailscale => "https://tailscale.com/download",
            Self::OpenAi { .. } => "https://github.com/openai/tunnel-client/releases",
        }
    }

    /// Returns whether it has a public URL.
    pub fn has_url(&self) -> bool {
        !matches!(self, Self::OpenAi { .. })
    }

    /// Returns the words with which it is started. `folder` is one of Bailiwick's own, for its files.
    ///
    /// # Source
    /// `cloudflared tunnel --help` and its `quick_tunnel.go`: a quick tunnel needs a config without tunnels, and an empty file
    /// is one. `tailscale funnel --help`, since 1.52: in the foreground. `docs/configuration.md` of openai/tunnel-client.
    pub fn words(&self, port: &str, folder: &Path) -> Vec<OsString> {
        let url = format!("http://127.0.0.1:{port}");
        let of = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<OsString>>();
        match self {
            Self::Cloudflare => {
                let mut words = of(&["tunnel", "--no-autoupdate", "--config"]);
                words.push(empty_config(folder).into());
                words.extend(of(&["--url", &url]));
                words
            }
            Self::Tailscale => of(&["funnel", "--yes", &url]),
            Self::OpenAi { tunnel_id } => {
                let mut words = of(&[
                    "run",
                    "--control-plane.tunnel-id",
                    tunnel_id,
                    "--mcp.server-url",
                    &format!("{url}/mcp"),
                    "--mcp.extra-headers",
                    &format!("Authorization: env:{AUTHORIZATION}"),
                    "--health.listen-addr",
                    "127.0.0.1:0",
                    "--health.url-file",
                ]);
                words.push(health_file(folder).into());
                words
            }
        }
    }

    /// Returns the beginnings of variables that would make it another tunnel.
    pub fn foreign_variables(&self) -> &'static [&'static str] {
        match self {
            Self::Cloudflare => &["TUNNEL_"],
            Self::Tailscale => &[],
            Self::OpenAi { .. } => &[
                "MCP_",
                "CONTROL_PLANE_TUNNEL_ID",
                "TUNNEL_CLIENT_CONFIG",
                "TUNNEL_CLIENT_PROFILE",
                "HARPOON_",
            ],
        }
    }

    /// Creates a reader of what it prints.
    pub fn reader(&self) -> UrlReader {
        UrlReader { program: self.clone(), is_next: false }
    }
}

/// The config file of a quick tunnel: an empty one, so that the user's own tunnels are not in it.
pub fn empty_config(folder: &Path) -> std::path::PathBuf {
    folder.join("cloudflared.yml")
}

/// The file in which OpenAI's program says where its health can be asked for.
pub fn health_file(folder: &Path) -> std::path::PathBuf {
    folder.join("tunnel-client-health")
}

/// Reads the URL out of what a program prints. Everything but the very form that it prints is no URL.
#[derive(Debug)]
pub struct UrlReader {
    program: TunnelProgram,
    /// Whether the line that announces the URL was read.
    is_next: bool,
}

impl UrlReader {
    /// Reads a line.
    pub fn read(&mut self, line: &str) -> Option<PublicUrl> {
        match self.program {
            TunnelProgram::Cloudflare => quick_tunnel(line),
            TunnelProgram::Tailscale => self.funnel(line.trim()),
            TunnelProgram::OpenAi { .. } => None,
        }
    }

    /// # Source
    /// `messageForPort` in Tailscale's `serve_v2.go`: `Available on the internet:`, an empty line, then the URL with a slash.
    fn funnel(&mut self, line: &str) -> Option<PublicUrl> {
        if line == "Available on the internet:" {
            self.is_next = true;
            return None;
        }
        if !self.is_next || line.is_empty() {
            return None;
        }
        self.is_next = false;
        let url = line.strip_suffix('/').filter(|url| url.starts_with("https://"))?;
        PublicUrl::try_from(url.to_owned()).ok()
    }
}

/// Reads a line of cloudflared's log: the second line of its box, as text or as JSON.
///
/// # Source
/// `AsciiBox` in cloudflared's `quick_tunnel.go`; `--output json`, which a variable can have set, has it in `message`.
fn quick_tunnel(line: &str) -> Option<PublicUrl> {
    let json: Option<Value> = line.starts_with('{').then(|| serde_json::from_str(line).ok()).flatten();
    let text = match &json {
        Some(json) => json["message"].as_str()?,
        None => line,
    };
    let (_, boxed) = text.trim_end().strip_suffix('|')?.split_once('|')?;
    let url = boxed.trim();
    let name = url.strip_prefix("https://")?.strip_suffix(".trycloudflare.com")?;
    let is_plain = !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if is_plain && name != "api" { PublicUrl::try_from(url.to_owned()).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(program: &TunnelProgram, lines: &str) -> Vec<String> {
        let mut reader = program.reader();
        lines.lines().filter_map(|line| reader.read(line)).map(|url| url.origin().to_owned()).collect()
    }

    #[test]
    fn the_url_of_a_quick_tunnel_is_read_from_its_box_alone() {
        let real = "\
2026-11-23T10:00:00Z INF Thank you for trying Cloudflare Tunnel. See (https://www.cloudflare.com/website-terms/)
2026-11-23T10:00:00Z INF Requesting new quick Tunnel on trycloudflare.com...
2026-11-23T10:00:02Z INF +----------------------------------------------------------------------------+
2026-11-23T10:00:02Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time):   |
2026-11-23T10:00:02Z INF |  https://words-in-a-row.trycloudflare.com                                   |
2026-11-23T10:00:02Z INF +----------------------------------------------------------------------------+
2026-11-23T10:00:03Z INF Registered tunnel connection connIndex=0 connection=1 event=0 ip=192.0.2.1
";
        let url = ["https://words-in-a-row.trycloudflare.com"];
        assert_eq!(read(&TunnelProgram::Cloudflare, real), url);
        let json = r#"{"level":"info","time":"2026-11-23T10:00:02Z","message":"|  https://words-in-a-row.trycloudflare.com     |"}"#;
        assert_eq!(read(&TunnelProgram::Cloudflare, json), url);
        for other in [
            "ERR failed to request quick Tunnel: Post \"https://api.trycloudflare.com/tunnel\": timeout",
            "INF |  https://api.trycloudflare.com  |",
            "INF |  https://evil.example/.trycloudflare.com  |",
            "INF |  https://evil.example?.trycloudflare.com  |",
            "INF |  https://a.b.trycloudflare.com  |",
            "INF |  https://.trycloudflare.com  |",
            "INF |  http://words.trycloudflare.com  |",
            "INF https://words.trycloudflare.com",
            r#"{"message":7}"#,
            r#"{"message":"https://words.trycloudflare.com"}"#,
            "{",
        ] {
            assert!(read(&TunnelProgram::Cloudflare, other).is_empty(), "{other}");
        }
    }

    #[test]
    fn the_url_of_a_funnel_is_read_where_it_is_announced() {
        let real = "\
Available on the internet:

https://box.tail1234.ts.net/
|-- proxy http://127.0.0.1:3939

Press Ctrl+C to exit.
";
        assert_eq!(read(&TunnelProgram::Tailscale, real), ["https://box.tail1234.ts.net"]);
        let on_a_port = real.replace("ts.net/", "ts.net:8443/");
        assert_eq!(read(&TunnelProgram::Tailscale, &on_a_port), ["https://box.tail1234.ts.net:8443"]);
        for other in [
            "Available within your tailnet:\n\nhttps://box.tail1234.ts.net/\n",
            "Funnel is not enabled on your tailnet.\nTo enable, visit:\n\n  https://login.tailscale.com/f/funnel?node=x\n",
            "Available on the internet:\n\nhttp://box.tail1234.ts.net/\n",
            "Available on the internet:\n\n|-- https://box.tail1234.ts.net/\nhttps://late.ts.net/\n",
        ] {
            assert!(read(&TunnelProgram::Tailscale, other).is_empty(), "{other}");
        }
    }

    #[test]
    fn the_words_of_each_program_are_those_of_its_manual() {
        let words = |program: TunnelProgram| {
            let words = program.words("4040", Path::new("/run/b"));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            words(TunnelProgram::Cloudflare),
            "tunnel --no-autoupdate --config /run/b/cloudflared.yml --url http://127.0.0.1:4040"
        );
        assert_eq!(words(TunnelProgram::Tailscale), "funnel --yes http://127.0.0.1:4040");
        let id = "tunnel_0123456789abcdef0123456789abcdef";
        let openai = words(TunnelProgram::openai(id).expect("an id"));
        assert!(openai.starts_with(&format!(
            "run --control-plane.tunnel-id {id} --mcp.server-url http://127.0.0.1:4040/mcp "
        )));
        assert!(openai.contains("--mcp.extra-headers Authorization: env:BAILIWICK_AUTHORIZATION"));
        for wrong in
            ["", "tunnel_", "tunnel_0123456789ABCDEF0123456789ABCDEF", "x_0123456789abcdef0123456789abcdef"]
        {
            assert!(TunnelProgram::openai(wrong).is_err(), "{wrong}");
        }
    }
}
