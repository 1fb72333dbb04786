//! Keeping what a change replaces or removes, so that it can be taken back.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::reads::asker;
use super::restore::unreadable;
use crate::registry::Context;
use bailiwick_contract::{Cancel, Failure, id};
use bailiwick_policy::Permit;
use bailiwick_providers::file::{
    CurrentFile, FileLocation, MAX_PLAIN_BYTES, ReplacedContent, Slot, WholeTree, cannot_undo, current,
};
use bailiwick_providers::versions::{
    Before, ChangeSource, Deposit, FileChange, Location, Relocation, StoredFile, VersionStore,
};

/// Makes what is kept of a file.
pub fn before(found: CurrentFile) -> Before {
    let (content, facts) = (Arc::new(found.bytes), found.facts);
    Before { content, sha256: found.sha256, mode: found.stat.mode, facts }
}

/// Reads the regular file at a place with its version, if it can be kept.
pub fn read(place: &FileLocation, cancel: &Cancel) -> Option<(String, Before)> {
    place.stat().ok().flatten().filter(|stat| stat.size <= MAX_PLAIN_BYTES)?;
    let found = current(place, None, cancel).ok().flatten()?;
    Some((found.version.clone(), before(found)))
}

/// Names the scope in the store.
pub fn scope_key(permit: &Permit) -> &str {
    permit.scope().map_or("", |scope| scope.storage_key())
}

/// Returns whether an undo of a change has begun, and was neither given up nor taken back.
///
/// # Errors
/// `cancelled`, `timeout`, `provider_unavailable`.
pub fn has_undo_begun(cx: &Context, permit: &Permit, undo_id: &str) -> Result<bool, Failure> {
    let store = VersionStore::below(&cx.service.dirs.state);
    let since_ms = id::began_ms(undo_id).unwrap_or_default();
    let (mut has_begun, mut taken_back) = (false, HashSet::new());
    // The newest come first.
    store
        .changes_since(scope_key(permit), since_ms, i64::MAX, |it| {
            if !taken_back.contains(&it.undo_id) {
                has_begun |= it.takes_back.iter().any(|it| it == undo_id);
                taken_back.extend(it.takes_back.iter().cloned());
            }
            let is_over = has_begun || cx.cancel.is_raised();
            if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(false) }
        })
        .map_err(|error| unreadable(&error))?;
    cx.cancel.check().map(|()| has_begun)
}

/// What a change keeps, so that it can be taken back.
pub struct Undo<'a> {
    cx: &'a Context,
    permit: &'a Permit,
    is_wanted: bool,
    /// The undo ids of the changes that it takes back.
    takes_back: Vec<String>,
    /// The names that it gives, changes or takes away.
    names: Vec<String>,
    kept: Option<UndoChoice>,
}

enum UndoChoice {
    Record(String),
    Deposit(Deposit),
}

impl<'a> Undo<'a> {
    /// Prepares to keep what a change replaces or removes, unless the client does without undo.
    pub const fn new(cx: &'a Context, permit: &'a Permit, without_undo: bool) -> Self {
        Self { cx, permit, is_wanted: !without_undo, takes_back: Vec::new(), names: Vec::new(), kept: None }
    }

    /// As [`Undo::new`], for a change that takes others back.
    pub fn taking_back(cx: &'a Context, permit: &'a Permit, takes_back: Vec<String>) -> Self {
        Self { takes_back, ..Self::new(cx, permit, false) }
    }

    /// Returns whether anything is to be kept.
    pub const fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    fn store(&self) -> VersionStore {
        VersionStore::below(&self.cx.service.dirs.state)
    }

    fn source<'b>(&'b self, scope: &'b str) -> ChangeSource<'b> {
        ChangeSource {
            scope,
            op: self.permit.spec().name,
            operation_id: &self.cx.request.id,
            caller: self.cx.caller.identity(),
            batch: self.cx.request.batch.as_deref(),
            takes_back: &self.takes_back,
            is_rollback: self.cx.request.is_rollback,
        }
    }

    /// Keeps the contents of files.
    ///
    /// # Errors
    /// As [`Undo::whole`].
    pub fn contents(&mut self, changes: &[FileChange]) -> Result<(), Failure> {
        for change in changes {
            self.names.extend(std::iter::once(&change.path).chain(&change.moved_from).cloned());
            if let Some(version) = &change.version_after {
                self.cx.service.seen.note(scope_key(self.permit).to_owned(), change.path.clone(), version);
            }
        }
        if self.is_wanted {
            let kept = self.store().keep(self.source(scope_key(self.permit)), changes);
            self.kept = Some(UndoChoice::Record(kept.map_err(|error| cannot_keep(&error))?));
        }
        Ok(())
    }

    /// Writes down how things that were only moved go back.
    ///
    /// # Errors
    /// As [`Undo::whole`].
    pub fn moves(&mut self, files: Vec<StoredFile>, relocations: Vec<Relocation>) -> Result<(), Failure> {
        self.note_names(&files);
        if self.is_wanted {
            let kept = self.store().note(self.source(scope_key(self.permit)), files, relocations);
            self.kept = Some(UndoChoice::Record(kept.map_err(|error| cannot_keep(&error))?));
        }
        Ok(())
    }

    /// Makes room for a thing that goes as a whole, writes down how it is put back, and returns where to put it.
    ///
    /// # Errors
    /// `invalid_request` with the rule `no-undo` if it cannot be kept.
    pub fn whole(
        &mut self,
        disk_bytes: u64,
        files: Vec<StoredFile>,
        relocations: Vec<Relocation>,
    ) -> Result<Option<Slot>, Failure> {
        self.note_names(&files);
        if !self.is_wanted {
            return Ok(None);
        }
        let deposit = self.store().deposit(disk_bytes).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => too_large(disk_bytes),
            _ => cannot_keep(&error),
        })?;
        let written = deposit.write(self.source(scope_key(self.permit)), files, relocations);
        let slot = written
            .map_err(|error| cannot_keep(&error))
            .and_then(|()| deposit.slot(0).map_err(|error| cannot_keep(&io::Error::other(error))));
        match slot {
            Ok(slot) => {
                self.kept = Some(UndoChoice::Deposit(deposit));
                Ok(Some(slot))
            }
            Err(failure) => {
                deposit.discard();
                Err(failure)
            }
        }
    }

    fn note_names(&mut self, files: &[StoredFile]) {
        let names = files.iter().flat_map(|file| std::iter::once(&file.path).chain(&file.moved_from));
        self.names.extend(names.cloned());
    }

    /// Opens the place of one more thing that goes as a whole.
    ///
    /// # Errors
    /// As [`Undo::whole`].
    pub fn slot(&self, number: usize) -> Result<Slot, Failure> {
        match &self.kept {
            Some(UndoChoice::Deposit(deposit)) => {
                deposit.slot(number).map_err(|error| cannot_keep(&io::Error::other(error)))
            }
            Some(UndoChoice::Record(_)) | None => Err(cannot_keep(&io::Error::other("nothing is kept"))),
        }
    }

    /// Keeps what is removed.
    ///
    /// # Errors
    /// As [`Undo::whole`].
    pub fn removed(
        &mut self,
        place: &FileLocation,
        going: &ReplacedContent<'_>,
    ) -> Result<Option<Slot>, Failure> {
        let path = place.path.shown();
        let (Some(old), true) = (going.old, self.is_wanted) else {
            self.names.push(path);
            return Ok(None);
        };
        if old.is_plain()
            && let Some((_, before)) = read(place, &self.cx.cancel)
        {
            let before = Some(before);
            let change = FileChange { path, moved_from: None, before, version_after: None, made_folders: 0 };
            return self.contents(&[change]).map(|()| None);
        }
        let back = Relocation {
            from: Location::Kept(0),
            to: Location::Path(path.clone()),
            version: old.version.clone(),
        };
        self.whole(old.disk_bytes(), vec![whole_file(path, Some(old), None)], vec![back])
    }

    /// Finishes: returns the undo id of a change that was made, and forgets what was kept for one that was not.
    ///
    /// # Errors
    /// The failure of the change.
    pub fn settle<T>(self, done: Result<T, Failure>) -> Result<(T, Option<String>), Failure> {
        match (done, self.kept) {
            (Ok(done), kept) => {
                let (scope, asker) = (scope_key(self.permit), asker(self.cx));
                for name in &self.names {
                    self.cx.service.seen.authors.change(scope, name, &asker);
                }
                let undo_id = kept.map(|kept| match kept {
                    UndoChoice::Record(undo_id) => undo_id,
                    UndoChoice::Deposit(deposit) => deposit.undo_id().to_owned(),
                });
                Ok((done, undo_id))
            }
            (Err(failure), kept) => {
                match kept {
                    Some(UndoChoice::Record(undo_id)) => {
                        VersionStore::below(&self.cx.service.dirs.state).forget(&undo_id);
                    }
                    // What was put there nevertheless stays, with its record.
                    Some(UndoChoice::Deposit(deposit)) => deposit.discard(),
                    None => {}
                }
                Err(failure)
            }
        }
    }
}

/// Describes a thing that is kept whole, for file.history.
pub fn whole_file(path: String, old: Option<&WholeTree>, version_after: Option<String>) -> StoredFile {
    StoredFile {
        path,
        bytes: old.map_or(0, |old| old.counts.bytes),
        mode: old.map_or(0, |old| old.stat.mode),
        version_after,
        whole: old.is_some(),
        ..StoredFile::default()
    }
}

/// Creates the failure of a change of which nothing can be kept.
pub fn cannot_keep(error: &io::Error) -> Failure {
    with_disk(cannot_undo(&format!("what the change replaces cannot be kept for undo: {error}")), error)
}

/// Adds to a failure what it says of the disk.
pub fn with_disk(failure: Failure, error: &io::Error) -> Failure {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => failure.detail("disk", "full"),
        ErrorKind::ReadOnlyFilesystem => failure.detail("disk", "readOnly"),
        // Anything else that has no name of its own is an error of the disk.
        ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::NotFound
        | ErrorKind::AlreadyExists
        | ErrorKind::PermissionDenied
        | ErrorKind::InvalidInput
        | ErrorKind::InvalidData
        | ErrorKind::FileTooLarge => failure,
        _ => failure.detail("disk", "error"),
    }
}

fn too_large(disk_bytes: u64) -> Failure {
    let (needed, most) = (disk_bytes.div_ceil(1 << 20), VersionStore::max_whole_bytes() >> 20);
    cannot_undo(&format!("what goes takes {needed} MiB, and at most {most} MiB are kept for undo"))
        .detail("bytes", disk_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::may_pass;
    use bailiwick_contract::ErrorCode;

    #[test]
    fn what_the_disk_refuses_is_said_to_pass() {
        let batch = id::new_id();
        let passes = |error: io::Error| may_pass(&batch, &cannot_keep(&error));
        for kind in [ErrorKind::StorageFull, ErrorKind::QuotaExceeded, ErrorKind::ReadOnlyFilesystem] {
            assert!(passes(kind.into()), "{kind}");
        }
        for kind in [ErrorKind::NotADirectory, ErrorKind::PermissionDenied, ErrorKind::FileTooLarge] {
            assert!(!passes(kind.into()), "{kind}");
        }
        assert!(passes(io::Error::from_raw_os_error(5)), "the disk has failed once");
        assert!(!may_pass(&batch, &too_large(1 << 40)), "it stays too large");
        let elsewhere = cannot_undo("`a` cannot be kept for undo: a part of it is on another file system");
        assert!(!may_pass(&batch, &elsewhere));
        let failed = Failure::new(ErrorCode::ExecutionFailed, "`a`: Input/output error");
        assert!(may_pass(&batch, &failed));
        assert!(!may_pass("01JD0000000000000000000000", &failed), "not for ever");
    }
}
