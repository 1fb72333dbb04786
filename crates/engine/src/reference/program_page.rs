//! `docs/reference/programs.md`: what is known about programs whose commands are judged.

use bailiwick_policy::command::profile::{At, Profile, Then, What, all};

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
                Then::Never => "never",
                Then::Refuse => "refused",
                Then::Ask => "asks",
                Then::AskAlways => "always asks",
                Then::Held => "full",
                Then::Shell => "shell",
                Then::ShellText => "shell text",
                Then::Code => "any code",
            };
            vec![what(&row.what), then.to_owned(), row.why.replace('*', "\\*"), code(row.sample)]
        })
        .collect()
}

fn what(what: &What) -> String {
    let place = |at: &At| match at {
        At::Any => String::new(),
        At::Global => " before the subcommand".to_owned(),
        At::Sub(names) => format!(" of {}", codes(names.iter().copied())),
    };
    match what {
        What::Option(at, names) => format!("{}{}", codes(names.iter().copied()), place(at)),
        What::OptionOutside(at, names) => {
            format!("{}{} that leads outside", codes(names.iter().copied()), place(at))
        }
        What::Sub(names) => codes(names.iter().copied()),
        What::Words(words) => code(&words.join(" ")),
        What::UnknownSub => "any other subcommand".to_owned(),
        What::Word(at, _) => format!("some words{}", place(at)),
        What::Program => "everything".to_owned(),
        What::Check(_) => "some commands".to_owned(),
    }
}
