//! Owners by their numbers, and what others can do by permission bits.

use std::io;
use std::path::Path;

use super::Stat;
use super::ownership::{Others, Owner, Ownership};
use crate::machine::user_id;

impl Ownership {
    /// Asks who owns what a path leads to, links followed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::by(&Stat::from_system(&rustix::fs::stat(path)?)))
    }

    /// Tells who owns what has these facts and was found at this path, links followed.
    pub fn of_known(_: &Path, stat: &Stat) -> Self {
        Self::by(stat)
    }

    fn by(stat: &Stat) -> Self {
        let owner = match stat.user {
            user if user == user_id() => Owner::Me,
            0 => Owner::System,
            _ => Owner::Other,
        };
        Self { owner, others: allowed(stat.mode) }
    }
}

/// Reads three bits.
const fn allowed(bits: u32) -> Others {
    match bits & 0o7 {
        0 => Others::Nothing,
        bits if bits & 0o2 == 0 => Others::Read,
        _ => Others::Change,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_tell_what_others_can_do() {
        let mut stat = Stat::of(&std::env::temp_dir()).expect("it is there");
        stat.user = user_id();
        for (mode, others) in [
            (0o700, Others::Nothing),
            (0o755, Others::Read),
            (0o770, Others::Nothing),
            (0o757, Others::Change),
            (0o711, Others::Read),
        ] {
            stat.mode = mode;
            let told = Ownership::by(&stat);
            assert_eq!((told.owner, told.others), (Owner::Me, others), "{mode:o}");
        }
        stat.user = u32::MAX;
        assert_eq!(Ownership::by(&stat).owner, Owner::Other);
    }
}
