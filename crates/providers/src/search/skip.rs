//! Why a walk leaves something out, and counting it.

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Skip {
    /// The scope's rules close it.
    Closed,
    /// Its name starts with a dot.
    Hidden,
    /// An ignore rule names it.
    Ignored,
    /// It is a symbolic link; walks follow none.
    Link,
    /// It is a pipe, a socket or a device.
    Special,
    /// The operating system does not let it be read.
    Unreadable,
    /// Its path is longer than the system takes.
    TooDeep,
    /// It is larger than what is searched, or has a line that is.
    TooLarge,
    /// It has a NUL byte.
    Binary,
}

impl Skip {
    /// Every reason.
    pub const ALL: [Self; 9] = [
        Self::Closed,
        Self::Hidden,
        Self::Ignored,
        Self::Link,
        Self::Special,
        Self::Unreadable,
        Self::TooDeep,
        Self::TooLarge,
        Self::Binary,
    ];

    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Hidden => "hidden",
            Self::Ignored => "ignored",
            Self::Link => "links",
            Self::Special => "special",
            Self::Unreadable => "unreadable",
            Self::TooDeep => "tooDeep",
            Self::TooLarge => "tooLarge",
            Self::Binary => "binary",
        }
    }

    /// Returns whether results name examples. Names of closed files stay closed; the rest was asked for.
    pub const fn has_examples(self) -> bool {
        !matches!(self, Self::Closed | Self::Hidden | Self::Ignored)
    }
}

/// How much was left out, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SkipCounts([u64; Skip::ALL.len()]);

impl SkipCounts {
    /// Counts one.
    pub fn add(&mut self, reason: Skip) {
        self.0[reason as usize] += 1;
    }

    /// Adds another count.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// Returns the reasons that occurred, with how often.
    pub fn iter(&self) -> impl Iterator<Item = (Skip, u64)> {
        Skip::ALL.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_stands_at_its_own_place() {
        for (place, reason) in Skip::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, place);
        }
    }
}
