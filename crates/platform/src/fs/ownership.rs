//! Who owns something, and what others can do with it: by numbers and bits on Unix, by accounts and lists of rights
//! on Windows.
//!
//! It is asked for by path, for what the user chose: never for a path from a client. What cannot be found out is
//! nobody's, and open to all.

/// Who owns something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// This user; on Windows also the administrators, to whom belongs what an administrator makes.
    Me,
    /// The system: root; on Windows the accounts of the system and of its installer.
    System,
    /// Anybody else, or it is not known.
    Other,
}

/// What somebody can do with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OtherUsers {
    /// Nothing.
    Nothing,
    /// Read it.
    Read,
    /// Change it, or who may change it.
    Change,
}

/// Who owns something, and what others can do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ownership {
    /// Its owner.
    pub owner: Owner,
    /// The most that anybody can do who is not its owner and not the system. A group that may change it counts if somebody
    /// else is in it; Windows has no group that counts.
    pub others: OtherUsers,
}

impl Ownership {
    /// What is not known: nobody's, and open to all.
    #[cfg(any(windows, test))]
    pub(super) const UNKNOWN: Self = Self { owner: Owner::Other, others: OtherUsers::Change };

    /// Returns whether this user owns it.
    pub fn is_mine(self) -> bool {
        self.owner == Owner::Me
    }

    /// Returns whether only this user and the system have a say in it: one of them owns it, and no stranger can change
    /// it.
    pub fn is_trusted(self) -> bool {
        self.owner != Owner::Other && self.others != OtherUsers::Change
    }
}

#[cfg(test)]
mod tests {
    use super::super::Stat;
    use super::*;

    #[test]
    fn what_this_user_makes_is_its_own_and_what_is_not_there_is_nobodys() {
        let folder =
            std::env::temp_dir().join(format!("bailiwick-owner-{}", bailiwick_contract::id::new_id()));
        super::super::create_private_dir(&folder).expect("a folder can be made");
        let file = folder.join("file");
        super::super::create_private_file(&file).expect("a file can be made");
        for path in [&folder, &file] {
            let told = Ownership::of(path).expect("it is there");
            assert_eq!((told.owner, told.others), (Owner::Me, OtherUsers::Nothing), "{}", path.display());
            assert!(told.is_mine() && told.is_trusted());
            let stat = Stat::of(path).expect("it is there");
            assert_eq!(Ownership::of_known(path, &stat), told);
        }
        assert!(Ownership::of(&folder.join("none")).is_err());
        crate::fs::remove_tree(&folder).expect("it was made above");
    }

    #[test]
    fn the_system_is_trusted_and_strangers_are_not() {
        let told = |owner, others| Ownership { owner, others };
        assert!(told(Owner::System, OtherUsers::Read).is_trusted());
        assert!(!told(Owner::System, OtherUsers::Read).is_mine());
        assert!(!told(Owner::Other, OtherUsers::Nothing).is_trusted());
        assert!(!told(Owner::Me, OtherUsers::Change).is_trusted());
        assert!(!Ownership::UNKNOWN.is_trusted() && !Ownership::UNKNOWN.is_mine());
    }
}
