//! By which words clients are named on the command line.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::client_settings::kind::ClientKind;

impl ValueEnum for ClientKind {
    fn value_variants<'a>() -> &'a [Self] {
        Self::all()
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::ClaudeDesktop => ("claude-desktop", "Claude Desktop"),
            Self::ClaudeCode => ("claude-code", "Claude Code"),
            Self::Codex => ("codex", "Codex"),
            Self::VsCode => ("vscode", "Visual Studio Code"),
            Self::Cursor => ("cursor", "Cursor"),
            Self::Windsurf => ("windsurf", "Windsurf"),
            Self::Zed => ("zed", "Zed"),
            Self::Gemini => ("gemini", "Gemini CLI"),
            Self::Qwen => ("qwen", "Qwen Code"),
            Self::OpenCode => ("opencode", "opencode"),
            Self::Continue => ("continue", "Continue, in an editor"),
            Self::ContinueCli => ("cn", "Continue's program `cn`"),
            Self::Goose => ("goose", "goose"),
            Self::Cline => ("cline", "Cline, in Visual Studio Code"),
            Self::Junie => ("junie", "Junie, in JetBrains editors"),
            Self::LmStudio => ("lm-studio", "LM Studio"),
            Self::Generic => ("generic", "Any other client that reads a JSON file with `mcpServers`"),
        };
        let alias = match self {
            Self::VsCode => Some("vs-code"),
            Self::Gemini => Some("gemini-cli"),
            Self::Qwen => Some("qwen-code"),
            Self::ContinueCli => Some("continue-cli"),
            Self::Junie => Some("jetbrains"),
            Self::LmStudio => Some("lmstudio"),
            _ => None,
        };
        Some(PossibleValue::new(name).help(help).aliases(alias))
    }
}
