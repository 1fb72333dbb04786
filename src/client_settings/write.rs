//! Making a planned edit, and showing what it changes without the secrets around it.

use std::sync::LazyLock;

use regex::Regex;

use bailiwick_contract::Failure;
use bailiwick_providers::edit::{Text, text_diff};

use super::output::MadeToken;
use super::plan::SettingsEdit;
use super::record::{NewChange, Records};
use super::settings_file::remove_empty_folders;
use crate::installation::home::Home;

/// The mode of a new settings file of the user, which may come to hold secrets.
const USER_FILE_MODE: u32 = 0o600;
/// The mode of a new settings file of a project.
const PROJECT_FILE_MODE: u32 = 0o644;

/// Writes one file, and keeps the file as it was. Returns the id of the change; an undo of a change has none of its own.
///
/// # Errors
/// When it cannot be written; the file is then as it was.
pub fn write(
    home: &Home,
    planned: &SettingsEdit,
    token: Option<&MadeToken>,
) -> Result<Option<String>, Failure> {
    let _lock = home.lock()?;
    let mut records = Records::load(home)?;
    let mode = if planned.is_projects { PROJECT_FILE_MODE } else { USER_FILE_MODE };
    if let Some(undone) = &planned.undoes {
        planned.file.write(planned.after.as_deref(), mode)?;
        remove_empty_folders(&planned.folders_to_remove);
        records.mark_undone(undone)?;
        return Ok(None);
    }
    let id = records.begin(NewChange {
        action: planned.action,
        client: planned.client,
        name: &planned.name,
        file: &planned.file.path,
        before: planned.file.content.as_deref(),
        after: planned.after.as_deref(),
        token: token.map(|it| it.name.clone()),
    })?;
    match planned.file.write(planned.after.as_deref(), mode) {
        Ok(folders) => records.finish(&id, Some(folders))?,
        Err(failure) => {
            records.finish(&id, None)?;
            return Err(failure);
        }
    }
    remove_empty_folders(&planned.folders_to_remove);
    Ok(Some(id))
}

/// Prints what an edit changes; in the lines around it, what looks secret is masked.
pub fn diff(planned: &SettingsEdit) -> String {
    let text = |bytes: Option<&[u8]>| {
        let text = String::from_utf8_lossy(bytes.unwrap_or_default());
        Text::new(text.trim_start_matches('\u{feff}').to_owned())
    };
    let (before, after) = (text(planned.file.content.as_deref()), text(planned.after.as_deref()));
    let diff = text_diff((None, None), &before, &after);
    // The file's name is above it.
    diff.lines().skip(2).map(|line| masked(line) + "\n").collect()
}

/// Masks what is named as a secret, and in the lines around a change also what looks like one. Of the entry itself
/// only references to secrets are shown.
pub fn masked(line: &str) -> String {
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("(?i)((?:token|secret|passw|api[-_]?key|authorization|credential)[^:=]*[:=]\\s*).+")
            .expect("the pattern is fixed")
    });
    static RANDOM: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("[A-Za-z0-9_+=-]{24,}").expect("the pattern is fixed"));
    let is_reference = [
        "\"Authorization\": \"Bearer ${",
        "\"Authorization\": \"Bearer {env:",
        "bearer_token_env_var = \"BAILIWICK_TOKEN\"",
    ]
    .iter()
    .any(|own| line.trim_start_matches(['+', '-', ' ', '\t']).starts_with(own));
    if is_reference {
        return line.to_owned();
    }
    let line = NAMED.replace_all(line, "${1}…");
    if line.starts_with(' ') { RANDOM.replace_all(&line, "…").into_owned() } else { line.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_beside_a_change_are_masked() {
        for (line, shown) in [
            (r#"   "GITHUB_TOKEN": "abc","#, r#"   "GITHUB_TOKEN": …"#),
            (r#"   "Authorization": "Bearer abc""#, r#"   "Authorization": …"#),
            (r#" api_key = "abc""#, " api_key = …"),
            (r#"   "args": ["ghp_0123456789abcdefghij0123"]"#, r#"   "args": ["…"]"#),
            (r#"   "command": "/usr/local/bin/other","#, r#"   "command": "/usr/local/bin/other","#),
            (r#"-{"a": {"env": {"API_TOKEN": "abc"}}}"#, r#"-{"a": {"env": {"API_TOKEN": …"#),
            (
                r#"+    "Authorization": "Bearer ${BAILIWICK_TOKEN}""#,
                r#"+    "Authorization": "Bearer ${BAILIWICK_TOKEN}""#,
            ),
        ] {
            assert_eq!(masked(line), shown);
        }
    }
}
