//! The Landlock rules: which files a held program can reach, whatever namespaces it is in.

use std::os::fd::{AsFd, BorrowedFd};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, Scope,
};
use rustix::fs::{FileType, fstat};

use super::super::prepare::failed;
use crate::launch::LaunchError;
use crate::launch::layers::open;
use bailiwick_contract::command::Network;

/// The newest interface that these rules are written for. What an older kernel lacks is left out, and told.
const NEWEST: ABI = ABI::V9;

/// What may be done beneath a folder or with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Reading, listing, executing.
    Read,
    /// The names in a folder, but no content.
    List,
    /// Everything but making devices and controlling them.
    Write,
    /// Reading, writing and controlling a device.
    Device,
}

impl Reach {
    fn access(self, is_folder: bool) -> BitFlags<AccessFs> {
        let all = AccessFs::from_all(NEWEST);
        let access = match self {
            Self::Read => AccessFs::from_read(NEWEST),
            Self::List => AccessFs::ReadDir.into(),
            Self::Write => all & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev),
            Self::Device => {
                AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev
            }
        };
        if is_folder { access } else { access & AccessFs::from_file(NEWEST) }
    }
}

/// Rules that are being collected.
#[derive(Debug)]
pub(super) struct Rules(RulesetCreated);

impl Rules {
    /// Begins with nothing allowed. Without a network, connecting and listening are refused here too.
    pub(super) fn new(network: Network) -> Result<Self, LaunchError> {
        let step = "landlock";
        let mut ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))
            .map_err(failed(step))?
            .scope(Scope::from_all(NEWEST))
            .map_err(failed(step))?;
        if network == Network::None {
            ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST)).map_err(failed(step))?;
        }
        Ok(Self(ruleset.create().map_err(failed(step))?))
    }

    /// Allows something beneath an open folder, or with an open file.
    pub(super) fn allow(&mut self, place: BorrowedFd<'_>, reach: Reach) -> Result<(), LaunchError> {
        let is_folder =
            FileType::from_raw_mode(fstat(place).map_err(failed("landlock"))?.st_mode) == FileType::Directory;
        let access = reach.access(is_folder);
        if !access.is_empty() {
            (&mut self.0).add_rule(PathBeneath::new(place.as_fd(), access)).map_err(failed("landlock"))?;
        }
        Ok(())
    }

    /// Returns the ruleset, to be put in force.
    pub(super) fn finish(self) -> RulesetCreated {
        self.0
    }
}

/// Names what an older version of the interface leaves open, as bits.
pub(super) fn left_open(version: u32) -> u32 {
    let since = |first: u32, bits: u32| if version < first { bits } else { 0 };
    since(3, open::TRUNCATE)
        | since(5, open::DEVICE_CONTROL)
        | since(6, open::SIGNALS | open::ABSTRACT_SOCKETS)
}
