//! `file.list`: what is in a folder.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;

use crate::registry::Attempt;
use crate::registry::prelude::*;
use bailiwick_contract::Detail;
use bailiwick_contract::limits::within;
use bailiwick_contract::path::{decode_name, encode_name};
use bailiwick_contract::time::rfc3339;
use bailiwick_platform::fs::{Dir, DirEntry, FileError, FileKind, FirstInOrder, MAX_LISTED, RelPath};
use bailiwick_policy::{PermittedPath, file_failure};
use bailiwick_providers::file::{is_temporary, json_len};
use bailiwick_providers::search::IgnoreRules;

/// How many entries an answer holds when the request does not say.
const DEFAULT_RESULTS: usize = 1_000;
/// How many entries of folders further down are checked.
const MAX_FOUND: usize = 200_000;
/// The room that an entry takes in an answer beside its path.
const ENTRY_BYTES: usize = 100;
/// The room that everything but the entries takes.
const FACTS_BYTES: usize = 300;

/// The operation.
pub struct Op;

/// What to list.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Options {
    /// How many levels: 1 (default) for the folder's own entries, up to 64.
    #[schemars(range(min = 1, max = 64))]
    pub depth: usize,
    /// The most entries in this answer, 1 to 10,000; default 1,000.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_results: Option<usize>,
    /// List what `.gitignore` and `.ignore` leave out too; default true, since a listing shows what is there.
    pub include_ignored: bool,
    /// List names that begin with a dot too; default true.
    pub include_hidden: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { depth: 1, max_results: None, include_ignored: true, include_hidden: true }
    }
}

/// What is in the folder.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// The entries, in the order of the bytes of their paths.
    pub entries: Vec<Entry>,
    /// How many entries there are in all, those of other answers included.
    pub total: usize,
    /// Whether entries are left; see `nextCursor`.
    pub truncated: bool,
    /// Continues with the entries that are left: send it as `options.cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// One entry.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The path, relative to the scope's folder.
    pub path: String,
    /// What it is. A link is listed itself. Left out for closed entries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<FileKind>,
    /// The size of a file in bytes, with `detail` `full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// The last change, RFC 3339 in UTC, with `detail` `full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
    /// `true` for a sensitive entry, which is closed in this scope: nothing but its name is told.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

impl Operation for Op {
    const SPEC: OperationSpec = OperationSpec {
        name: "file.list",
        summary: "List what is in a folder",
        details: "Shows every entry, hidden and ignored ones included, unless told otherwise: names and kinds, with \
                  `options.detail` \"full\" sizes and times too. Sensitive files are listed by name only. Links are \
                  listed, not followed.",
        capabilities: &[&[Capability::FsRead]],
        effect: Effect::ReadOnly,
        target: TargetRule::PathOrRoot(Access::Read),
        scope: ScopeNeed::FOLDER,
        options: &[CommonOption::Cursor, CommonOption::Detail],
        audited_fields: &["depth", "maxResults", "includeIgnored", "includeHidden"],
        example: r#"{"op":"file.list","target":"src"}"#,
        ..OperationSpec::USUAL
    };
    type Input = NoFields;
    type Options = Options;
    type Output = Output;
    const JUDGED: JudgedFields<NoFields> = JudgedFields::NONE;
}

impl RunBlocking for Op {
    fn run(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Result<Output, Failure> {
        within("depth", Some(options.depth), 1, 1..=64)?;
        let max_results = within("maxResults", options.max_results, DEFAULT_RESULTS, 1..=10_000)?;
        let after = permit.common().cursor.as_deref().map(position).transpose()?;
        ListedNames::below(cx, permit.path(), options, after, max_results)?.answer(cx, permit, max_results)
    }
}

impl Attempt for Op {
    fn attempt(cx: &Context, permit: &Permit, _: &NoFields, options: &Options) -> Option<Output> {
        let max_results = within("maxResults", options.max_results, DEFAULT_RESULTS, 1..=10_000).ok()?;
        let common = permit.common();
        if options.depth != 1
            || !options.include_ignored
            || common.detail == Detail::Full
            || common.cursor.is_some()
        {
            return None;
        }
        let entries = permit.path().listing_cached()?;
        let mut found = ListedNames::new(permit.path().clone(), IgnoreRules::default(), None, max_results);
        found.add(0, &Source::Entries(&entries), options).ok()?;
        found.answer(cx, permit, max_results).ok()
    }
}

fn position(cursor: &str) -> Result<Vec<u8>, Failure> {
    cursor.strip_prefix("l1.").map(decode_name).ok_or_else(|| {
        Failure::invalid("options.cursor", "`options.cursor` is not a cursor of file.list")
            .hint("Send the `nextCursor` of an earlier file.list of the same folder.")
    })
}

/// A folder that is listed.
struct Folder {
    path: PermittedPath,
    ignore: IgnoreRules,
    level: usize,
}

/// A name that was found, and the index of its folder. There is one of each path.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    rel: RelPath,
    name: OsString,
    folder: usize,
    closed: bool,
    /// What the folder says that it is.
    kind: Option<FileKind>,
}

/// Where the names in a folder come from.
enum Source<'a> {
    Dir(&'a Dir),
    /// They were read before.
    Entries(&'a [DirEntry]),
}

impl Source<'_> {
    fn for_each(
        &self,
        mut take: impl FnMut(&OsStr, Option<FileKind>) -> ControlFlow<()>,
    ) -> Result<(), FileError> {
        match self {
            Self::Dir(dir) => dir.for_each_entry(take),
            Self::Entries(entries) => {
                let _ = entries.iter().try_for_each(|entry| take(&entry.name, entry.kind));
                Ok(())
            }
        }
    }

    fn dir(&self) -> Option<&Dir> {
        match self {
            Self::Dir(dir) => Some(dir),
            Self::Entries(_) => None,
        }
    }
}

/// All names, before anything more is asked about them.
struct ListedNames {
    folders: Vec<Folder>,
    /// The first names after the cursor, one more than are asked for.
    names: FirstInOrder<Name>,
    after: Option<Vec<u8>>,
    /// How many names there are in all.
    total: usize,
    /// The handle of the first folder: the only one of a listing of one level. `None` where its names were read before.
    dir: Option<Dir>,
}

impl ListedNames {
    fn new(path: PermittedPath, ignore: IgnoreRules, after: Option<Vec<u8>>, most: usize) -> Self {
        let folders = vec![Folder { path, ignore, level: 1 }];
        Self { folders, names: FirstInOrder::new(most + 1), after, total: 0, dir: None }
    }

    fn below(
        cx: &Context,
        path: &PermittedPath,
        options: &Options,
        after: Option<Vec<u8>>,
        most: usize,
    ) -> Result<Self, Failure> {
        let (dir, path) = path.open_dir()?;
        let ignore = if options.include_ignored {
            IgnoreRules::default()
        } else {
            IgnoreRules::for_folder(&path, &dir)?
        };
        // What changes while it is read has other facts then.
        let before = if options.depth == 1 { path.stat_cached() } else { None };
        let before = before.filter(|stat| stat.id == dir.id());
        let mut found = Self::new(path, ignore, after, most);
        let entries = found.add(0, &Source::Dir(&dir), options)?;
        if let (Some(before), Some(entries)) = (before, entries) {
            found.folders[0].path.keep_listing(&before, entries);
        }
        found.dir = Some(dir);
        let (mut next, mut unopened) = (1, 0_usize);
        while next < found.folders.len() {
            cx.cancel.check()?;
            if found.total > MAX_FOUND {
                cx.warn(format!("More than {MAX_FOUND} entries: some folders were not opened."));
                break;
            }
            let opened = found.folders[next].path.open_dir_itself();
            if opened.and_then(|dir| found.add(next, &Source::Dir(&dir), options)).is_err() {
                unopened += 1;
            }
            next += 1;
        }
        if unopened > 0 {
            cx.warn(format!("{unopened} folders could not be opened; only their names are listed."));
        }
        Ok(found)
    }

    /// Reads the names in a folder, and notes the folders in it that are to be read too. Returns the entries if they are few,
    /// and the folder says what each is.
    fn add(
        &mut self,
        index: usize,
        source: &Source<'_>,
        options: &Options,
    ) -> Result<Option<Vec<DirEntry>>, Failure> {
        let folder = &self.folders[index];
        let (path, level) = (folder.path.clone(), folder.level);
        let ignore = match source.dir() {
            Some(dir) if !options.include_ignored && index > 0 => {
                folder.ignore.enter_unlisted(path.rel(), dir)
            }
            _ => folder.ignore.clone(),
        };
        let mut below = Vec::new();
        let mut few = source.dir().is_some().then(Vec::new);
        let (names, total, after) = (&mut self.names, &mut self.total, self.after.as_deref());
        let mut add = |name: &OsStr, kind: Option<FileKind>| -> Result<(), Failure> {
            let hidden = name.as_encoded_bytes().starts_with(b".");
            let kind_read = kind;
            let kind = || kind.or_else(|| source.dir()?.stat(name).ok().map(|stat| stat.kind));
            // A folder of such a name is shown: nothing hides in it.
            let is_own = is_temporary(name) && kind() == Some(FileKind::File);
            if is_own || (hidden && !options.include_hidden) {
                return Ok(());
            }
            let rel = path.rel().child(name);
            let closed = path.rules().rule_for_child(path.rel(), name, Access::Read).is_some();
            if level < options.depth || !options.include_ignored {
                let is_folder = kind() == Some(FileKind::Dir);
                if !options.include_ignored && ignore.is_ignored(rel.as_bytes(), is_folder) {
                    return Ok(());
                }
                if is_folder && !closed && level < options.depth && below.len() <= MAX_FOUND {
                    let path = path.child(name)?;
                    below.push(Folder { path, ignore: ignore.clone(), level: level + 1 });
                }
            }
            *total += 1;
            if after.is_none_or(|after| rel.as_bytes() > after) {
                names.push(Name { rel, name: name.to_owned(), folder: index, closed, kind: kind_read });
            }
            Ok(())
        };
        let mut added = Ok(());
        let read = source.for_each(|name, kind| {
            match &mut few {
                Some(few) if kind.is_some() && few.len() < MAX_LISTED => {
                    few.push(DirEntry { name: name.to_owned(), kind });
                }
                _ => few = None,
            }
            added = add(name, kind);
            if added.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        read.map_err(|error| file_failure(&error, &path))?;
        added?;
        self.folders.append(&mut below);
        Ok(few)
    }

    /// Describes the names after the cursor, and says how many there are.
    fn answer(self, cx: &Context, permit: &Permit, most: usize) -> Result<Output, Failure> {
        let room = permit.limits().max_output_bytes.saturating_sub(FACTS_BYTES);
        let output = self.page(cx, most, room, permit.common().detail)?;
        cx.summarize(format!("{} of {} entries", output.entries.len(), output.total));
        Ok(output)
    }

    /// Describes the names after the cursor, as many as there is room for.
    fn page(self, cx: &Context, most: usize, room: usize, detail: Detail) -> Result<Output, Failure> {
        let (names, _) = self.names.finish();
        let mut output = Output {
            entries: Vec::with_capacity(most.min(names.len())),
            total: self.total,
            truncated: false,
            next_cursor: None,
        };
        let mut used = 0;
        let mut opened: Option<(usize, Dir)> = None;
        let mut last: Option<&Name> = None;
        for name in &names {
            let folder = &self.folders[name.folder];
            let path = folder.path.show(&name.rel);
            used += json_len(path.as_bytes()) + ENTRY_BYTES;
            if output.entries.len() == most || (used > room && last.is_some()) {
                output.truncated = true;
                output.next_cursor = last.map(|last| format!("l1.{}", encode_name(last.rel.as_bytes())));
                break;
            }
            last = Some(name);
            if name.closed {
                output.entries.push(Entry { path, kind: None, size: None, modified: None, closed: true });
                continue;
            }
            if detail == Detail::Concise
                && let Some(kind) = name.kind
            {
                output.entries.push(Entry {
                    path,
                    kind: Some(kind),
                    size: None,
                    modified: None,
                    closed: false,
                });
                continue;
            }
            if name.folder > 0 && opened.as_ref().is_none_or(|(index, _)| *index != name.folder) {
                cx.cancel.check()?;
                opened = folder.path.open_dir_itself().ok().map(|dir| (name.folder, dir));
            }
            let dir = match (&opened, name.folder) {
                (_, 0) => self.dir.as_ref(),
                (Some((_, dir)), _) => Some(dir),
                (None, _) => None,
            };
            // What is gone since its name was read is left out.
            let Some(stat) = dir.and_then(|dir| dir.stat(&name.name).ok()) else { continue };
            output.entries.push(Entry {
                path,
                kind: Some(stat.kind),
                size: (detail == Detail::Full && stat.kind == FileKind::File).then_some(stat.size),
                modified: (detail == Detail::Full).then(|| rfc3339(stat.modified_ms())),
                closed: false,
            });
        }
        Ok(output)
    }
}
