//! Owners by their numbers, and what others can do by permission bits.

use std::fs;
use std::io;
use std::path::Path;

use super::Stat;
use super::ownership::{OtherUsers, Owner, Ownership};
use crate::machine::user_id;

impl Ownership {
    /// Asks who owns what a path leads to, links followed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::by(&Stat::from_system(&rustix::fs::stat(path)?)))
    }

    /// Returns who owns what has these facts and was found at this path, links followed.
    pub fn of_known(_: &Path, stat: &Stat) -> Self {
        Self::by(stat)
    }

    fn by(stat: &Stat) -> Self {
        let owner = match stat.user {
            user if user == user_id() => Owner::Me,
            0 => Owner::System,
            _ => Owner::Other,
        };
        let others = match stat.mode & GROUP_MAY_CHANGE != 0 && !is_group_mine(stat.group) {
            true => OtherUsers::Change,
            false => allowed(stat.mode),
        };
        Self { owner, others }
    }
}

/// The bit by which its group may change something.
const GROUP_MAY_CHANGE: u32 = 0o020;

/// Returns whether a group has nobody but this user and the system.
///
/// # Source
/// group(5), passwd(5). A group that these files do not name may have anybody.
fn is_group_mine(group: u32) -> bool {
    // On macOS the files have little of it; administrators there can become root.
    let is_systems = group == 0 || cfg!(target_os = "macos") && group == ADMINISTRATORS;
    is_systems
        || !cfg!(target_os = "macos")
            && match (fs::read_to_string("/etc/group"), fs::read_to_string("/etc/passwd")) {
                (Ok(groups), Ok(users)) => has_no_other(group, user_id(), &groups, &users),
                _ => false,
            }
}

/// The group `admin` of macOS.
const ADMINISTRATORS: u32 = 80;

/// Returns whether these files name a group, and nobody in it but a user and root.
fn has_no_other(group: u32, user: u32, groups: &str, users: &str) -> bool {
    let is = |text: Option<&&str>, number: u32| text.and_then(|text| text.parse().ok()) == Some(number);
    let users: Vec<Vec<&str>> = users.lines().map(|line| line.split(':').collect()).collect();
    let is_own = |fields: &Vec<&str>| is(fields.get(2), user) || is(fields.get(2), 0);
    let has_other_primary = users.iter().any(|fields| is(fields.get(3), group) && !is_own(fields));
    let is_own_name = |name: &str| users.iter().any(|fields| fields.first() == Some(&name) && is_own(fields));
    let groups = groups.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let named: Vec<_> = groups.filter(|fields| is(fields.get(2), group)).collect();
    let has_other_member = named.iter().any(|fields| {
        let members = fields.get(3).copied().unwrap_or_default();
        members.split(',').map(str::trim).any(|name| !name.is_empty() && !is_own_name(name))
    });
    !named.is_empty() && !has_other_primary && !has_other_member
}

/// Reads three bits.
const fn allowed(bits: u32) -> OtherUsers {
    match bits & 0o7 {
        0 => OtherUsers::Nothing,
        bits if bits & 0o2 == 0 => OtherUsers::Read,
        _ => OtherUsers::Change,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_trusted_if_nobody_else_is_in_it() {
        let users = "root:x:0:0::/root:/bin/sh\nana:x:1000:1000::/home/ana:/bin/sh\nbo:x:1001:100::/home/bo:/bin/sh\n";
        let groups = "root:x:0:\nstaff:x:50:\nusers:x:100:\nana:x:1000:\nteam:x:2000:ana,bo\nown:x:2001:ana,root\ngone:x:2002:eve\n";
        let trusted = |group| has_no_other(group, 1000, groups, users);
        for (group, expected) in [
            (50, true),
            (1000, true),
            (2001, true),
            (100, false),
            (2000, false),
            (2002, false),
            (3000, false),
        ] {
            assert_eq!(trusted(group), expected, "{group}");
        }
    }

    #[test]
    fn whoever_is_in_its_group_may_change_what_the_group_may() {
        let mut stat = Stat::of(&std::env::temp_dir()).expect("it is there");
        (stat.user, stat.mode) = (user_id(), 0o775);
        // A number that no file names.
        stat.group = u32::MAX - 7;
        assert!(!Ownership::by(&stat).is_trusted());
        stat.mode = 0o755;
        assert!(Ownership::by(&stat).is_trusted());
        (stat.group, stat.mode) = (0, 0o775);
        assert!(Ownership::by(&stat).is_trusted());
    }

    #[test]
    fn bits_tell_what_others_can_do() {
        let mut stat = Stat::of(&std::env::temp_dir()).expect("it is there");
        (stat.user, stat.group) = (user_id(), 0);
        for (mode, others) in [
            (0o700, OtherUsers::Nothing),
            (0o755, OtherUsers::Read),
            (0o770, OtherUsers::Nothing),
            (0o757, OtherUsers::Change),
            (0o711, OtherUsers::Read),
        ] {
            stat.mode = mode;
            let told = Ownership::by(&stat);
            assert_eq!((told.owner, told.others), (Owner::Me, others), "{mode:o}");
        }
        stat.user = u32::MAX;
        assert_eq!(Ownership::by(&stat).owner, Owner::Other);
    }
}
