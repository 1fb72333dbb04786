//! By which words presets are named on the command line.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::scope_setup::presets::Preset;

impl ValueEnum for Preset {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::ReadOnly, Self::Coding, Self::Full]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            Self::ReadOnly => ("read-only", "Read, search and list files"),
            Self::Coding => ("coding", "And change files, and use Git"),
            Self::Full => ("full", "And run common programs of projects, in a sandbox"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}
