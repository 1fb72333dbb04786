//! Showing planned edits, asking, making them, and telling what became of them.

use bailiwick_contract::{ErrorCode, Failure};

use super::super::args::ConfirmArgs;
use super::super::ask;
use super::super::printer::{Printer, Report, printable, to_user};
use crate::client_settings::kind::ClientKind;
use crate::client_settings::output::{EditOutput, EditResult, EditView, MadeToken};
use crate::client_settings::plan::SettingsEdit;
use crate::client_settings::record::Action;
use crate::client_settings::write::{diff, write};
use crate::installation::home::Home;

/// A run of edits.
pub struct Session<'h> {
    home: &'h Home,
    printer: Printer,
    confirm: ConfirmArgs,
    output: EditOutput,
    text: String,
    notes: Vec<String>,
    exit: u8,
}

impl<'h> Session<'h> {
    /// Begins.
    pub fn new(home: &'h Home, printer: Printer, confirm: ConfirmArgs) -> Self {
        let output = EditOutput { ok: true, dry_run: confirm.dry_run, edits: Vec::new(), tokens: Vec::new() };
        Self { home, printer, confirm, output, text: String::new(), notes: Vec::new(), exit: 0 }
    }

    /// Refuses to continue where something is to be written and nobody can be asked.
    ///
    /// # Errors
    /// `approval_required`.
    pub fn check_that_one_can_ask(&self, planned: &[SettingsEdit]) -> Result<(), Failure> {
        let writes = planned.iter().any(|it| !it.is_nothing());
        if !writes || self.confirm.dry_run || self.confirm.yes || ask::is_possible(self.printer) {
            return Ok(());
        }
        Err(Failure::new(ErrorCode::ApprovalRequired, "nothing was written: there is no terminal to ask at")
            .hint("`--dry-run` shows what would change; `--yes` writes it without asking."))
    }

    /// Shows an edit, asks, and makes it. `make_token` is called just before a file is written.
    ///
    /// # Errors
    /// When it cannot be written; the file is then as it was.
    pub fn go(
        &mut self,
        planned: SettingsEdit,
        make_token: impl FnOnce() -> Result<Option<MadeToken>, Failure>,
    ) -> Result<(), Failure> {
        let diff = diff(&planned);
        let title = planned.client.facts().title;
        let shown = printable(&planned.file.path.display().to_string());
        let mut view = EditView {
            client: planned.client,
            name: planned.name.clone(),
            file: Some(planned.file.path.clone()),
            action: planned.action,
            result: EditResult::Nothing,
            diff: diff.clone(),
            change: None,
            problem: None,
            notes: Vec::new(),
        };
        if planned.is_nothing() {
            self.text.push_str(&match planned.action {
                Action::Install => format!("{title}: nothing to change, it is in {shown} already.\n"),
                Action::Remove => format!("{title}: nothing to change, it is not in {shown}.\n"),
            });
            self.output.edits.push(view);
            return Ok(());
        }
        let heading = format!("{title}: {shown}\n{}", printable(&diff));
        if self.confirm.dry_run {
            self.text.push_str(&heading);
            view.result = EditResult::WouldWrite;
            view.notes = planned.notes;
            self.output.edits.push(view);
            return Ok(());
        }
        if self.confirm.yes {
            self.text.push_str(&heading);
        } else {
            self.printer.talk(&heading);
            let question = match planned.action {
                Action::Install => "Write this?",
                Action::Remove => "Take this out?",
            };
            if !ask::yes(self.printer, question)? {
                self.text.push_str(&format!("{title}: left as it is.\n"));
                view.result = EditResult::Declined;
                self.output.edits.push(view);
                return Ok(());
            }
        }
        let token = make_token()?;
        let change = write(self.home, &planned, token.as_ref())?;
        view.result = EditResult::Written;
        view.notes.clone_from(&planned.notes);
        let undo = change
            .as_ref()
            .map(|id| format!(" `bailiwick client undo {id}` puts it back."))
            .unwrap_or_default();
        self.text.push_str(&match (planned.action, &planned.after) {
            (Action::Install, _) => format!("{title}: wrote {shown}.{undo}\n"),
            (Action::Remove, Some(_)) => format!("{title}: took it out of {shown}.{undo}\n"),
            (Action::Remove, None) => format!("{title}: removed {shown}, which was made for it.{undo}\n"),
        });
        view.change = change;
        if let Some(token) = token {
            let secret =
                token.secret.as_ref().map(|secret| format!(" Its value, shown this once:\n  {secret}"));
            self.text.push_str(&format!(
                "  The token `{}` was made for it.{}\n",
                token.name,
                secret.unwrap_or_default()
            ));
            self.output.tokens.push(token);
        }
        if let Some(name) = &planned.token_to_revoke
            && self.home.edit_tokens(|tokens| Ok(tokens.revoke(name)))?.is_some()
        {
            let note = format!("The token `{name}`, which was made for it, was revoked.");
            self.text.push_str(&format!("  {note}\n"));
            view.notes.push(note);
        }
        for note in planned.notes {
            self.text.push_str(&format!("  {note}\n"));
        }
        self.output.edits.push(view);
        Ok(())
    }

    /// Notes an edit that cannot even be planned, where others continue.
    pub fn failed(&mut self, client: ClientKind, name: &str, action: Action, failure: &Failure) {
        self.output.ok = false;
        self.exit = failure.code.facts().exit_code;
        let title = client.facts().title;
        self.text.push_str(&format!("{title}: {}\n", printable(&failure.message)));
        self.notes
            .extend(failure.hints.iter().map(|hint| format!("hint: {title}: {}", printable(&to_user(hint)))));
        self.output.edits.push(EditView {
            client,
            name: name.to_owned(),
            file: None,
            action,
            result: EditResult::Failed,
            diff: String::new(),
            change: None,
            problem: Some(failure.message.clone()),
            notes: failure.hints.clone(),
        });
    }

    /// Returns whether nothing has happened so far.
    pub fn is_empty(&self) -> bool {
        self.output.edits.is_empty()
    }

    /// Ends: what was done.
    pub fn report(self) -> Report {
        let json = serde_json::to_value(&self.output).expect("an output has a JSON form");
        let mut report = Report { exit: self.exit, ..Report::new(self.text, json) };
        if self.confirm.dry_run {
            report = report.note("\nNothing was written.");
        }
        self.notes.into_iter().fold(report, Report::note)
    }
}
