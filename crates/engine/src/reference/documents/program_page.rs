//! `docs/reference/programs.md`: what is known about programs whose commands are judged.

use bailiwick_policy::command::profile::{Position, Profile, RowEffect, RowPattern, all};

use super::markdown::{code, codes, table};

pub fn page() -> String {
    let mut text = String::from(
        "# Programs\n\n\
         What the rules of a scope know about programs. A rule that allows a program allows what no row catches; a\n\
         row is lifted by a rule that names its word literally (`git bisect run *`), but for rows that look at\n\
         values. Options count however they are spelled: abbreviated, bundled, with `=` or a blank. A program that\n\
         is not here is judged by the rules alone.\n\n\
         - **never**: it does not run, whatever a rule or a sandbox says.\n\
         - **refused**: it does not run.\n\
         - **asks**: it needs approval.\n\
         - **always asks**: the same, also where `policy.shell` lets any program run in a full sandbox.\n\
         - **full**: it runs in a full sandbox only; where the scope asks for a weaker one, it is refused as **asks** is.\n\
         - **shell**: it runs in a full sandbox only, where `policy.shell` is `sandboxed`.\n\
         - **shell text**: the same, or by a rule that is the whole command, word for word.\n\
         - **any code**: it runs, and can run anything; the sandbox alone holds it.\n",
    );
    for profile in all() {
        text.push_str(&format!("\n## {}\n\n", profile.name()));
        let others = &profile.names[1..];
        if !others.is_empty() {
            text.push_str(&format!("Also {}.\n\n", codes(others.iter().copied())));
        }
        if let Some(why) = profile.code {
            text.push_str(&format!("Can run any code: {why}.\n\n"));
        }
        text.push_str(&table(&["what", "then", "why", "for example"], &rows(profile)));
    }
    text
}

fn rows(profile: &Profile) -> Vec<Vec<String>> {
    profile
        .rows
        .iter()
        .map(|row| {
            let then = match row.then {
                RowEffect::Never => "never",
                RowEffect::Refuse => "refused",
                RowEffect::Ask => "asks",
                RowEffect::AskAlways => "always asks",
                RowEffect::Held => "full",
                RowEffect::Shell => "shell",
                RowEffect::ShellText => "shell text",
                RowEffect::Code => "any code",
            };
            vec![what(&row.what), then.to_owned(), row.why.replace('*', "\\*"), code(row.sample)]
        })
        .collect()
}

fn what(what: &RowPattern) -> String {
    let place = |at: &Position| match at {
        Position::Any => String::new(),
        Position::Global => " before the subcommand".to_owned(),
        Position::Sub(names) => format!(" of {}", codes(names.iter().copied())),
    };
    match what {
        RowPattern::Option(at, names) => format!("{}{}", codes(names.iter().copied()), place(at)),
        RowPattern::OptionOutside(at, names) => {
            format!("{}{} that leads outside", codes(names.iter().copied()), place(at))
        }
        RowPattern::Sub(names) => codes(names.iter().copied()),
        RowPattern::Words(words) => code(&words.join(" ")),
        RowPattern::UnknownSub => "any other subcommand".to_owned(),
        RowPattern::Word(at, _) => format!("some words{}", place(at)),
        RowPattern::Program => "everything".to_owned(),
        RowPattern::Check(_) => "some commands".to_owned(),
    }
}
