//! By which words clients are named on the command line.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::client_settings::kind::ClientKind;

impl ValueEnum for ClientKind {
    fn value_variants<'a>() -> &'a [Self] {
        Self::all()
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let facts = self.facts();
        let help = match self {
            Self::Continue => "Continue, in an editor",
            Self::ContinueCli => "Continue's program `cn`",
            Self::Cline => "Cline, in Visual Studio Code",
            Self::Junie => "Junie, in JetBrains editors",
            Self::Generic => "Any other client that reads a JSON file with `mcpServers`",
            _ => facts.title,
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
        Some(PossibleValue::new(facts.id).help(help).aliases(alias))
    }
}
