//! The words of `tunnel …`. The doc comments are the help text.

use clap::{Args, Subcommand};

use super::args::ConfirmArgs;

/// `tunnel …`.
#[derive(Debug, Subcommand)]
pub enum TunnelCommand {
    /// Have Cloudflare forward a URL to this computer, until Ctrl-C
    ///
    /// Runs `cloudflared`, which you install before. No account is needed. The URL is a new one each time, and clients have to
    /// be connected again then: for a lasting one, set up a tunnel of your own and use `tunnel manual`.
    #[command(verbatim_doc_comment)]
    Cloudflare(ConfirmArgs),
    /// Have Tailscale forward the name that this computer has there, until Ctrl-C
    ///
    /// Runs `tailscale funnel`, which has to be installed, logged in, and allowed for your tailnet. The URL stays the same.
    #[command(verbatim_doc_comment)]
    Tailscale(ConfirmArgs),
    /// Have OpenAI's Secure MCP Tunnel reach this computer, until Ctrl-C
    ///
    /// Runs `tunnel-client`, which you install before. There is no public URL: ChatGPT reaches it by the tunnel's id. Anyone who
    /// may use the tunnel in your organization gets the rights of the token in the variable BAILIWICK_TOKEN, so make one for it:
    /// `bailiwick token create openai --scope ID`. CONTROL_PLANE_API_KEY holds the key that OpenAI gave you.
    #[command(verbatim_doc_comment)]
    Openai(TunnelOpenaiArgs),
    /// Use a URL that you forward to this service yourself
    Manual(TunnelManualArgs),
    /// Serve no public URL any more; logins stay, and open nothing
    Off(TunnelOffArgs),
}

/// `tunnel openai`.
#[derive(Debug, Args)]
pub struct TunnelOpenaiArgs {
    /// The tunnel's id, from <https://platform.openai.com/settings/organization/tunnels>
    pub tunnel_id: String,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `tunnel manual`.
#[derive(Debug, Args)]
pub struct TunnelManualArgs {
    /// The URL without a path, such as <https://bw.example>
    pub url: String,
    /// Whether it is asked about.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
}

/// `tunnel off`.
#[derive(Debug, Args)]
pub struct TunnelOffArgs {
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}
