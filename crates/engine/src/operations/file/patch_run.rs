//! Carrying out the plan of `file.patch`: everything is worked out before the first file is written.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::registry::Context;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_policy::{Permit, PermittedPath, WritablePath};
use bailiwick_providers::edit::{
    Basis, Change as LineChange, ChangedPlace, EditedText, Edits, Failures, Text, apply, merge, show_lines,
    unified_diff, unstorable,
};
use bailiwick_providers::file::{
    CurrentFile, FileLocation, LockGuards, Locks, Site, Step, StepResult, content_version, current,
    find_place, perform, sha256_hex,
};
use bailiwick_providers::syntax::{Region, Side};
use bailiwick_providers::versions::{Before, FileChange};

use super::patch::{self, Action, File, FileResult, Options, Output};
use super::patch_plan::{Change, FilePlan};
use super::syntax_check::{Subject, around};
use crate::changes::{self, Undo};

/// How often a file that others change meanwhile is read again.
const ATTEMPTS: usize = 8;
/// How many lines of one place are shown.
const SHOWN_LINES: usize = 20;
/// How many bytes of lines are shown, of all places together.
const SHOWN_BYTES: usize = 12_000;
/// The room that is kept for everything but lines and diffs.
const FACTS_BYTES: usize = 2_000;

/// A file of the plan, with the places that it is about.
struct PlannedFile<'a> {
    plan: &'a FilePlan,
    site: Site,
    to: Option<Site>,
}

/// A file whose change is worked out.
struct PatchedFile {
    steps: Vec<Step>,
    changed: FileResult,
    /// The file as it was, to be kept.
    kept: FileChange,
    /// The texts before and after, for lines and diffs.
    texts: Option<Texts>,
}

/// A file's text before and after, and where it was changed.
struct Texts {
    before: Text,
    after: Text,
    landed: Vec<ChangedPlace>,
    /// The lines that differ.
    changes: Vec<LineChange>,
}

impl Texts {
    /// Takes two texts of which no line is the same.
    fn other(before: Text, after: Text) -> Self {
        let changes = vec![LineChange { old: (0, before.len()), new: (0, after.len()) }];
        Self { before, after, landed: Vec::new(), changes }
    }
}

/// Runs the plan.
///
/// # Errors
/// Those of file.patch.
pub fn run(
    cx: &Context,
    permit: &Permit,
    plans: Vec<FilePlan>,
    options: &Options,
    may_read: bool,
) -> Result<Output, Failure> {
    let runner = Runner { cx, permit, options, dry_run: permit.common().dry_run };
    let locks = Locks::below(&cx.service.dirs.state);
    let done: Vec<Result<PatchedFile, (String, Failure)>> = if options.atomic || plans.len() == 1 {
        let several = plans.len() > 1;
        let done = runner.together(&plans, &locks);
        done.map_err(|failure| conceal(failure, several, may_read))?.into_iter().map(Ok).collect()
    } else {
        plans
            .into_iter()
            .map(|plan| {
                let named = plan.named.clone();
                let done = runner.together(&[plan], &locks);
                let done = done.and_then(|mut done| {
                    done.pop().ok_or_else(|| Failure::new(ErrorCode::ExecutionFailed, "nothing was done"))
                });
                done.map_err(|failure| (named, conceal(failure, false, may_read)))
            })
            .collect()
    };
    let room = permit.limits().max_output_bytes.saturating_sub(FACTS_BYTES);
    let mut output = output(done, room, may_read, runner.dry_run)?;
    if options.atomic {
        // One id for all.
        for file in &mut output.files {
            if let File::Changed(changed) = file {
                output.undo_id = changed.undo_id.take();
            }
        }
    }
    cx.summarize(summary(&output));
    Ok(output)
}

/// Leaves the file's lines out of what is said of one edit.
fn conceal_places(details: &mut Map<String, Value>, rule: Option<&str>, message: &mut String) {
    for shown in ["nearest", "places", "lines", "base", "yours", "theirs", "found"] {
        details.remove(shown);
    }
    // How often a text is there, and what a line's hash is, tells of the content bit by bit.
    let (cut, instead) = match rule {
        Some("match-count") => (": its old text is in ", ": its old text is not there as often as expected"),
        Some("ambiguous") => (": it fits ", ": it fits several places"),
        Some("stale-anchor") => (" is stale: ", " is stale"),
        Some("weak-match") => (": its old text is ", ": its old text is not in the file as it is written"),
        Some("header") => (": no line of ", ": its lines are not where the line after its `@@` says"),
        Some("repeated-anchor") => (": ", ": several lines have the hash of its anchor"),
        _ => return,
    };
    let end = message.find(cut).or_else(|| message.find(": ")).unwrap_or(0);
    message.truncate(end);
    message.push_str(instead);
}

/// Leaves the file's lines out of a failure for a caller who may not read, and says what stayed.
fn conceal(mut failure: Failure, several: bool, may_read: bool) -> Failure {
    if !may_read {
        let rule = failure.rule().map(str::to_owned);
        conceal_places(&mut failure.details, rule.as_deref(), &mut failure.message);
        for one in each_failure(&mut failure) {
            let text = |key: &str| one.get(key).and_then(Value::as_str).map(str::to_owned);
            let (rule, mut message) = (text("rule"), text("message").unwrap_or_default());
            conceal_places(one, rule.as_deref(), &mut message);
            one.insert("message".to_owned(), message.into());
        }
        failure.hints.retain(|hint| !hint.contains("`details.") && !hint.contains("`expect`"));
    }
    if several && !failure.details.contains_key("restored") {
        return failure.hint("No file was changed. With `options.atomic` false, the others would be.");
    }
    failure
}

struct Runner<'a> {
    cx: &'a Context,
    permit: &'a Permit,
    options: &'a Options,
    dry_run: bool,
}

impl Runner<'_> {
    /// Changes files together. Where someone else changes one meanwhile, all are worked out again.
    fn together(&self, plans: &[FilePlan], locks: &Locks) -> Result<Vec<PatchedFile>, Failure> {
        let mut attempt = 1;
        loop {
            match self.attempt(plans, locks) {
                Err(failure)
                    if failure.rule() == Some("if-version")
                        && attempt < ATTEMPTS
                        && !failure.details.contains_key("notRestored")
                        && plans.iter().all(|plan| plan.if_version.is_none()) =>
                {
                    attempt += 1;
                }
                other => return other,
            }
        }
    }

    fn attempt(&self, plans: &[FilePlan], locks: &Locks) -> Result<Vec<PatchedFile>, Failure> {
        let mut opened = Vec::with_capacity(plans.len());
        let mut failures = Failures::default();
        for plan in plans {
            self.cx.cancel.check()?;
            opened.extend(failures.take(open(plan).map_err(|failure| at_file(failure, &plan.path.shown())))?);
        }
        refuse_twice(&opened)?;
        let sites = opened.iter().flat_map(|it| std::iter::once(&it.site).chain(&it.to));
        let places: Vec<&FileLocation> = sites
            .filter_map(|site| match site {
                Site::Place(place) => Some(place),
                Site::Missing(_) => None,
            })
            .collect();
        let held = locks.take(&places, &self.cx.cancel)?;
        let mut ready = Vec::with_capacity(opened.len());
        for it in opened {
            self.cx.cancel.check()?;
            let shown = it.plan.path.shown();
            ready.extend(failures.take(self.work_out(it).map_err(|failure| at_file(failure, &shown)))?);
        }
        failures.check()?;
        let steps: Vec<Step> = ready.iter_mut().flat_map(|it| std::mem::take(&mut it.steps)).collect();
        let subjects: Vec<Option<Subject<'_>>> = ready.iter().map(subject).collect();
        let at: Vec<usize> = (0..ready.len()).filter(|at| subjects[*at].is_some()).collect();
        let subjects: Vec<Subject<'_>> = subjects.into_iter().flatten().collect();
        let work = || if self.dry_run { Ok(None) } else { self.perform(&ready, steps, &held) };
        let (undo_id, found) = around(self.cx, self.permit, self.options.check, &subjects, work)?;
        drop(subjects);
        for (at, syntax) in at.into_iter().zip(found) {
            ready[at].changed.syntax = syntax;
        }
        for it in &mut ready {
            it.changed.undo_id.clone_from(&undo_id);
        }
        Ok(ready)
    }

    /// Keeps the files as they are and changes them; gives the undo id.
    fn perform(
        &self,
        ready: &[PatchedFile],
        steps: Vec<Step>,
        held: &LockGuards,
    ) -> Result<Option<String>, Failure> {
        if steps.is_empty() {
            return Ok(None);
        }
        let changes: Vec<FileChange> = ready.iter().map(|it| it.kept.clone()).collect();
        let mut undo = Undo::new(self.cx, self.permit, self.options.without_undo);
        undo.contents(&changes)?;
        let (done, undo_id) = undo.settle(perform(steps, held, &self.cx.cancel))?;
        for it in ready {
            if let Some(version) = &it.changed.version {
                changes::has_written(self.cx, self.permit, it.changed.path.clone(), version);
            }
        }
        for StepResult { warnings, .. } in done {
            for warning in warnings {
                self.cx.warn(warning);
            }
        }
        Ok(undo_id)
    }

    /// Reads a file and works out its new content.
    fn work_out(&self, opened: PlannedFile<'_>) -> Result<PatchedFile, Failure> {
        let PlannedFile { plan, site, to } = opened;
        let if_version = plan.if_version.as_deref();
        let (found, base) = match &site {
            Site::Place(place) => self.found(place, &plan.change, if_version)?,
            Site::Missing(_) => (None, None),
        };
        match (&plan.change, found) {
            (Change::Create { content, mode }, None) => create(site, content, *mode),
            (Change::Create { .. }, Some(_)) => Err(Failure::new(
                ErrorCode::Conflict,
                format!("`{}` exists already, and the patch would make it", plan.path.shown()),
            )
            .detail("rule", "exists")
            .hint("Change it by a hunk instead, or delete it first.")),
            (_, None) => Err(Failure::new(
                ErrorCode::NotFound,
                format!("`{}` does not exist, and the edit would change it", plan.path.shown()),
            )
            .hint("Use file.find to look for it, or file.create to make it.")),
            (Change::Delete { content }, Some(found)) => delete(site, content.as_deref(), found),
            (Change::Hunks { .. } | Change::Texts(_) | Change::Lines(_), Some(found)) => {
                self.update(plan, site, to, found, base)
            }
        }
    }

    /// Reads a file. If it is in another version than the edits are for, gives that version too.
    fn found(
        &self,
        place: &FileLocation,
        change: &Change,
        if_version: Option<&str>,
    ) -> Result<(Option<CurrentFile>, Option<Vec<u8>>), Failure> {
        let failure = match current(place, if_version, &self.cx.cancel) {
            Ok(found) => return Ok((found, None)),
            Err(failure) => failure,
        };
        let mergeable = match change {
            Change::Texts(_) | Change::Lines(_) | Change::Hunks { to: None, .. } => true,
            Change::Hunks { to: Some(_), .. } | Change::Create { .. } | Change::Delete { .. } => false,
        };
        let Some(version) = if_version.filter(|_| mergeable && failure.rule() == Some("if-version")) else {
            return Err(failure);
        };
        match changes::content_of_version(self.cx, self.permit, &place.path.shown(), version) {
            None => Err(failure),
            Some(base) => Ok((current(place, None, &self.cx.cancel)?, Some(base))),
        }
    }

    fn update(
        &self,
        plan: &FilePlan,
        site: Site,
        to: Option<Site>,
        found: CurrentFile,
        base: Option<Vec<u8>>,
    ) -> Result<PatchedFile, Failure> {
        let shown = plan.path.shown();
        let text = Text::decode(found.bytes).map_err(|at| {
            Failure::new(ErrorCode::InvalidRequest, format!("`{shown}` is binary: byte {at} is not text"))
                .detail("rule", "binary")
                .hint("Use file.write with `contentBase64`.")
        })?;
        let basis = match &plan.if_version {
            Some(_) => Basis::Current,
            None => changes::basis(self.cx, self.permit, &site_path(&site).shown(), &found.version),
        };
        let (edits, mode) = match &plan.change {
            Change::Texts(edits) => (Edits::Texts(edits), None),
            Change::Lines(edits) => (Edits::Lines(edits), None),
            Change::Hunks { hunks, mode, .. } => (Edits::Hunks(hunks), *mode),
            Change::Create { .. } | Change::Delete { .. } => (Edits::Hunks(&[]), None),
        };
        let merged = base.is_some();
        let EditedText { text: new, landed, changes } = match base.map(Text::decode) {
            None => apply(&text, edits, basis, &self.cx.cancel)?,
            Some(Ok(base)) => merge(&base, &apply(&base, edits, basis, &self.cx.cancel)?, &text)?,
            Some(Err(_)) => return Err(changed_since(&shown)),
        };
        if new.is_empty() && !text.is_empty() && !self.options.allow_empty {
            return Err(Failure::new(
                ErrorCode::InvalidRequest,
                format!("`{shown}` would be empty after the edit"),
            )
            .detail("rule", "would-be-empty")
            .hint("Set `options.allowEmpty` to true if that is meant.")
            .hint("Use file.delete to remove the file."));
        }
        let mode = mode.map(|wanted| run_bits(found.stat.mode & 0o777, wanted));
        let mode = mode.filter(|mode| *mode != found.stat.mode & 0o777);
        let same = new.content() == text.content();
        // Merged texts can come of files that were stored in two ways.
        let bytes = |text: &Text| {
            text.encode().map_err(|character| unstorable(text, character, &format!("`{shown}`")))
        };
        let old_bytes = Arc::new(bytes(&text)?);
        let new_bytes = bytes(&new)?;
        let version = if same { found.version.clone() } else { content_version(&sha256_hex(&new_bytes)) };
        let path = to.as_ref().map_or_else(|| site_path(&site).shown(), |to| site_path(to).shown());
        let changed = FileResult {
            ok: true,
            path,
            moved_from: to.as_ref().map(|_| site_path(&site).shown()),
            action: match (&to, same && mode.is_none()) {
                (Some(_), _) => Action::Moved,
                (None, true) => Action::Unchanged,
                (None, false) => Action::Updated,
            },
            version_before: Some(found.version.clone()),
            version: Some(version.clone()),
            bytes: new_bytes.len() as u64,
            merged,
            places: Vec::new(),
            syntax: None,
            undo_id: None,
            diff: None,
        };
        let kept = FileChange {
            path: changed.path.clone(),
            moved_from: changed.moved_from.clone(),
            before: Some(Before {
                content: Arc::clone(&old_bytes),
                sha256: found.sha256,
                mode: found.stat.mode,
                facts: found.facts,
            }),
            version_after: changed.version.clone(),
            made_folders: 0,
        };
        let mut steps = Vec::new();
        let written = !same || mode.is_some();
        let before = Some((found.version, old_bytes));
        match (to, site) {
            (None, site) if written => {
                steps.push(Step::Write { site, content: new_bytes, version, before, mode, facts: None });
            }
            (None, _) => {}
            (Some(_), Site::Missing(_)) => {}
            (Some(to), Site::Place(from)) => {
                // Written first, under the old name: then the new name has the new content at once.
                if written {
                    let site = Site::Place(FileLocation::of(&from.path)?);
                    let version = version.clone();
                    steps.push(Step::Write { site, content: new_bytes, version, before, mode, facts: None });
                }
                steps.push(Step::Rename { from, to, version });
            }
        }
        Ok(PatchedFile {
            steps,
            changed,
            kept,
            texts: Some(Texts { before: text, after: new, landed, changes }),
        })
    }
}

/// Names what is checked for syntax errors: the texts of a file that gets another content.
fn subject(ready: &PatchedFile) -> Option<Subject<'_>> {
    let changed = &ready.changed;
    let texts = ready.texts.as_ref()?;
    let before =
        changed.version_before.as_deref().map(|version| Side { text: texts.before.content(), version });
    let after = Side { text: texts.after.content(), version: changed.version.as_deref()? };
    if changed.version_before == changed.version {
        return None;
    }
    let regions = texts.changes.iter().map(|it| Region { old: it.old, new: it.new }).collect();
    Some(Subject { path: changed.path.clone(), before, after, regions })
}

/// Works out a new file.
fn create(site: Site, content: &str, mode: Option<u32>) -> Result<PatchedFile, Failure> {
    if content.contains('\0') {
        return Err(Failure::invalid("input.patch", "a new text file cannot hold a NUL"));
    }
    let path = site_path(&site).shown();
    let bytes = content.as_bytes().to_vec();
    let version = content_version(&sha256_hex(&bytes));
    let changed = FileResult {
        ok: true,
        path,
        moved_from: None,
        action: Action::Created,
        version_before: None,
        version: Some(version.clone()),
        bytes: bytes.len() as u64,
        merged: false,
        places: Vec::new(),
        syntax: None,
        undo_id: None,
        diff: None,
    };
    // The mode of ordinary files is the umask's to decide.
    let mode = mode.filter(|mode| mode & 0o111 != 0);
    let texts = Some(Texts::other(Text::new(String::new()), Text::new(content.to_owned())));
    let kept = FileChange {
        path: changed.path.clone(),
        moved_from: None,
        before: None,
        version_after: changed.version.clone(),
        made_folders: site.missing_folders(),
    };
    let steps = vec![Step::Write { site, content: bytes, version, before: None, mode, facts: None }];
    Ok(PatchedFile { steps, changed, kept, texts })
}

/// Works out that a file goes.
fn delete(site: Site, content: Option<&str>, found: CurrentFile) -> Result<PatchedFile, Failure> {
    let place = match site {
        Site::Place(place) => place,
        Site::Missing(path) => {
            return Err(Failure::new(ErrorCode::NotFound, format!("`{}` does not exist", path.shown())));
        }
    };
    let version = found.version.clone();
    let text = Text::decode(found.bytes.clone()).ok();
    let before = changes::before(found);
    if let Some(content) = content {
        let plain = |text: &str| text.replace("\r\n", "\n").trim_end_matches('\n').to_owned();
        if text.as_ref().is_none_or(|text| plain(text.content()) != plain(content)) {
            return Err(Failure::new(
                ErrorCode::Conflict,
                format!("`{}` has other lines than the patch deletes", place.path.shown()),
            )
            .detail("rule", "delete-content")
            .hint("Use file.delete to remove it whatever it holds."));
        }
    }
    let changed = FileResult {
        ok: true,
        path: place.path.shown(),
        moved_from: None,
        action: Action::Deleted,
        version_before: Some(version.clone()),
        version: None,
        bytes: 0,
        merged: false,
        places: Vec::new(),
        syntax: None,
        undo_id: None,
        diff: None,
    };
    let texts = text.map(|text| Texts::other(text, Text::new(String::new())));
    let kept = FileChange {
        path: changed.path.clone(),
        moved_from: None,
        before: Some(before),
        version_after: None,
        made_folders: 0,
    };
    Ok(PatchedFile { steps: vec![Step::Remove { place, version }], changed, kept, texts })
}

fn changed_since(shown: &str) -> Failure {
    Failure::new(ErrorCode::Conflict, format!("`{shown}` was changed since `ifVersion`"))
        .detail("rule", "if-version")
        .hint("Read the file again and repeat the change on what is there now.")
}

/// Names the file in a failure that does not.
fn at_file(mut failure: Failure, shown: &str) -> Failure {
    if !failure.message.contains(&format!("`{shown}`")) {
        failure.message = format!("`{shown}`: {}", failure.message);
    }
    failure.details.entry("path").or_insert_with(|| shown.into());
    for one in each_failure(&mut failure) {
        if let Some(Value::String(message)) = one.get_mut("message")
            && !message.contains(&format!("`{shown}`"))
        {
            *message = format!("`{shown}`: {message}");
        }
        one.entry("path").or_insert_with(|| shown.into());
    }
    failure
}

/// Returns the failures that a failure holds.
fn each_failure(failure: &mut Failure) -> impl Iterator<Item = &mut Map<String, Value>> {
    let all = failure.details.get_mut("failures").and_then(Value::as_array_mut);
    all.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Returns or takes the right to run, to whom may read.
fn run_bits(mode: u32, wanted: u32) -> u32 {
    if wanted & 0o111 == 0 { mode & !0o111 } else { mode | ((mode & 0o444) >> 2) }
}

fn site_path(site: &Site) -> &PermittedPath {
    match site {
        Site::Place(place) => &place.path,
        Site::Missing(path) => path,
    }
}

/// Opens the folders that a file's change is about.
fn open(plan: &FilePlan) -> Result<PlannedFile<'_>, Failure> {
    let shown = plan.path.shown();
    let missing = |failure: Failure| match failure.code {
        ErrorCode::NotFound => Failure::new(
            ErrorCode::NotFound,
            format!("`{shown}` does not exist, and the edit would change it"),
        )
        .hint("Use file.find to look for it, or file.create to make it."),
        _ => failure,
    };
    let new = |path: &WritablePath| match FileLocation::of(path) {
        Ok(place) => Ok(Site::Place(place)),
        Err(failure) if failure.code == ErrorCode::NotFound => Ok(Site::Missing(path.clone())),
        Err(failure) => Err(failure),
    };
    let (site, to) = match &plan.change {
        Change::Create { .. } => (new(&plan.path)?, None),
        Change::Delete { .. } => (Site::Place(FileLocation::of(&plan.path).map_err(missing)?), None),
        Change::Hunks { to: Some(to), .. } => {
            let to = new(to)?;
            if let Site::Place(place) = &to
                && place.stat()?.is_some()
            {
                return Err(Failure::new(
                    ErrorCode::Conflict,
                    format!("`{}` exists already, and `{shown}` would get its name", place.path.shown()),
                )
                .detail("rule", "exists"));
            }
            (Site::Place(FileLocation::of(&plan.path).map_err(missing)?), Some(to))
        }
        Change::Hunks { to: None, .. } | Change::Texts(_) | Change::Lines(_) => {
            (Site::Place(find_place(&plan.path, false).map_err(missing)?), None)
        }
    };
    Ok(PlannedFile { plan, site, to })
}

/// Refuses a call that changes one file in two parts, be it by two names.
fn refuse_twice(opened: &[PlannedFile<'_>]) -> Result<(), Failure> {
    let mut seen: Vec<&Site> = Vec::new();
    for site in opened.iter().flat_map(|it| std::iter::once(&it.site).chain(&it.to)) {
        let twice = seen.iter().any(|other| match (other, site) {
            (Site::Place(a), Site::Place(b)) => a.dir.id() == b.dir.id() && a.name == b.name,
            (Site::Missing(a), Site::Missing(b)) => a.same_root(b) && a.rel() == b.rel(),
            (Site::Place(_), Site::Missing(_)) | (Site::Missing(_), Site::Place(_)) => false,
        });
        if twice {
            let shown = site_path(site).shown();
            return Err(Failure::invalid("input", format!("`{shown}` is named twice in one call"))
                .detail("rule", "named-twice")
                .hint("Put everything that happens to a file together, under one name."));
        }
        seen.push(site);
    }
    Ok(())
}

/// Creates the answer, with lines and diffs as far as there is room.
fn output(
    done: Vec<Result<PatchedFile, (String, Failure)>>,
    mut room: usize,
    may_read: bool,
    dry_run: bool,
) -> Result<Output, Failure> {
    let mut lines_room = SHOWN_BYTES.min(room / 2);
    let mut output =
        Output { files: Vec::with_capacity(done.len()), undo_id: None, truncated: false, dry_run };
    for result in done {
        let file = match result {
            Err((path, failure)) => File::Failed { ok: false, path, error: failure.to_json() },
            Ok(PatchedFile { mut changed, texts, .. }) => {
                if let Some(texts) = texts {
                    for it in &texts.landed {
                        let lines = if may_read { lines(&texts.after, it) } else { None };
                        let lines = lines.filter(|lines| {
                            let fits = lines.len() <= lines_room;
                            output.truncated |= !fits;
                            fits
                        });
                        lines_room -= lines.as_ref().map_or(0, String::len);
                        changed.places.push(place(it, lines));
                    }
                    if dry_run && may_read && changed.action != Action::Unchanged {
                        let diff = diff(&changed, &texts);
                        if diff.len() * 2 < room {
                            changed.diff = Some(diff);
                        } else {
                            output.truncated = true;
                        }
                    }
                }
                File::Changed(Box::new(changed))
            }
        };
        let size = serde_json::to_string(&file).map_or(0, |json| json.len() + 1);
        if size > room {
            // Whatever happened has happened; only its description is too long.
            output.truncated = true;
            continue;
        }
        room -= size;
        output.files.push(file);
    }
    Ok(output)
}

fn place(it: &ChangedPlace, lines: Option<String>) -> patch::HunkPosition {
    patch::HunkPosition {
        edit: it.number,
        tier: it.tier,
        chosen: it.chosen,
        moved_by: it.moved_by,
        start_line: it.new_start,
        end_line: it.new_start + it.new_lines - 1,
        lines,
    }
}

/// Shows a place as it is now, with a line around it; the middle of a long one is left out.
fn lines(new: &Text, it: &ChangedPlace) -> Option<String> {
    let start = (it.new_start - 1).saturating_sub(1);
    let end = (it.new_start - 1 + it.new_lines + 1).min(new.len());
    if end <= start {
        return None;
    }
    if end - start <= SHOWN_LINES {
        return Some(show_lines(new, start, end));
    }
    let half = SHOWN_LINES / 2;
    let (first, last) = (show_lines(new, start, start + half), show_lines(new, end - half, end));
    Some(format!("{first}…\n{last}"))
}

fn diff(changed: &FileResult, texts: &Texts) -> String {
    let now = changed.path.as_str();
    let names = match changed.action {
        Action::Created => (None, Some(now)),
        Action::Deleted => (Some(now), None),
        Action::Updated | Action::Unchanged => (Some(now), Some(now)),
        Action::Moved => (changed.moved_from.as_deref(), Some(now)),
    };
    unified_diff(names, &texts.before, &texts.after, &texts.changes)
}

/// Says in a few words what was done, with the names of the first files.
fn summary(output: &Output) -> String {
    const NAMED: usize = 8;
    let (mut changed, mut failed, mut places) = (Vec::new(), 0, 0);
    for file in &output.files {
        match file {
            File::Changed(it) => {
                places += it.places.len();
                changed.push(it.path.as_str());
            }
            File::Failed { .. } => failed += 1,
        }
    }
    let more = if changed.len() > NAMED { ", …" } else { "" };
    let named = changed[..changed.len().min(NAMED)].join(", ");
    let (count, dry) = (changed.len(), if output.dry_run { "dry run: " } else { "" });
    format!("{dry}{count} files, {places} places, {failed} failed: {named}{more}")
}
