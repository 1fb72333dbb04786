//! Completions in the shells themselves: what this computer alone knows is offered, and nothing is said of what is wrong.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::json;

use crate::installation::{CommandOutput, Installation};
use crate::needs::require_program;
use support::pty::Pty;

/// An installation with ids to offer, and the scripts as a person installs them.
struct CompletionFixture {
    place: Installation,
    process: String,
    operation: String,
    secret: String,
}

impl CompletionFixture {
    fn new() -> Self {
        let place = Installation::new();
        let at = |path: &str| place.folder.path().join(path);
        for folder in ["bin", "library", "zfunc"] {
            fs::create_dir(at(folder)).expect("made");
        }
        symlink(env!("CARGO_BIN_EXE_bailiwick"), at("bin/bailiwick")).expect("a link");
        for words in [
            &["setup", "project", "--preset", "full", "--yes"][..],
            &["scope", "allow", "project", "--command", "sleep *"],
            &["scope", "add", "library", "--name", "Papers of mine"],
        ] {
            let ran = place.run(words);
            assert_eq!(ran.exit, 0, "{words:?}: {}", ran.err);
        }
        place.make_token("owner");
        let secret = place.make_token("my $(touch made) laptop");
        let start =
            json!({"scope": "project", "op": "process.start", "input": {"command": ["sleep", "600"]}});
        let started = place.run(&["call", &start.to_string(), "--json"]).json();
        let process = started["data"]["processId"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned();
        let last = place.run(&["history", "last", "--json"]).json();
        let operation = last["operation"]["operationId"].as_str().expect("an id").to_owned();
        for (shell, file) in
            [("bash", "bailiwick.bash"), ("zsh", "zfunc/_bailiwick"), ("fish", "bailiwick.fish")]
        {
            fs::write(at(file), place.run(&["completions", shell]).out).expect("written");
        }
        Self { place, process, operation, secret }
    }

    /// A shell of this person's, with nothing of this computer's settings.
    fn shell(&self, words: &[&str]) -> Command {
        let folder = self.place.folder.path();
        let path = format!("{}:/usr/bin:/bin", folder.join("bin").display());
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(folder).env_clear().env("PATH", path).env("HOME", folder);
        command.env("BAILIWICK_HOME", folder.join("home")).env("TERM", "dumb").env("LC_ALL", "C.UTF-8");
        command
    }

    /// What the program itself offers behind words.
    fn values(&self, words: &[&str]) -> Vec<String> {
        let ran = self.place.run(&[&["completions", "--values", "--"], words].concat());
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{words:?}");
        assert!(!ran.out.contains(&self.secret), "{}", ran.out);
        ran.out.lines().map(|line| line.split('\t').next().expect("one").to_owned()).collect()
    }
}

impl Drop for CompletionFixture {
    fn drop(&mut self) {
        let _: CommandOutput = self.place.run(&["processes", "stop", "--all", "--grace", "0"]);
    }
}

#[test]
fn values_are_offered_without_secrets_and_without_a_word_of_what_is_wrong() {
    let desk = CompletionFixture::new();
    assert_eq!(desk.values(&["scope", "show"]), ["project", "library"]);
    assert_eq!(desk.values(&["history", "--scope"]), ["project", "library"]);
    assert_eq!(desk.values(&["token", "revoke"]), ["owner", "my $(touch made) laptop"]);
    assert_eq!(desk.values(&["processes", "stop"]), [desk.process.as_str()]);
    assert!(desk.values(&["history", "get"]).contains(&desk.operation));
    assert!(desk.values(&["call"]).contains(&"file.read".to_owned()));
    assert!(desk.values(&["setup"]).is_empty() && desk.values(&["token", "create"]).is_empty());
    let about = desk.place.run(&["completions", "--values", "--", "scope", "show"]).out;
    assert_eq!(about, "project\nlibrary\tPapers of mine\n");
    // Another installation is asked where the words name it; and what is broken offers nothing.
    let none = desk.place.folder.path().join("none.json");
    let words = ["--config", none.to_str().expect("UTF-8"), "scope", "show"];
    assert!(desk.values(&words).is_empty());
    fs::write(desk.place.config(), "{ broken").expect("written");
    assert!(desk.values(&["scope", "show"]).is_empty());
    let bare = Installation::new();
    for words in [&["scope", "show"][..], &["history", "get"], &["processes", "read"], &["client", "undo"]] {
        let ran = bare.run(&[&["completions", "--values", "--"], words].concat());
        assert_eq!((ran.exit, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{words:?}");
    }
    assert!(!bare.folder.path().join("home").exists(), "nothing is made by asking");
}

/// What bash offers for a line, of which the last word is at the cursor.
fn bash(desk: &CompletionFixture, words: &[&str]) -> Vec<String> {
    let quoted: String = words.iter().map(|word| format!(" '{word}'")).collect();
    let script = format!(
        "source ./bailiwick.bash; COMP_WORDS=({quoted}); COMP_CWORD={}
        _bailiwick bailiwick \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"
        printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words.len() - 1
    );
    let ran: CommandOutput = desk.shell(&["bash", "--norc", "-c", &script]).output().expect("it runs").into();
    assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{words:?}");
    ran.out.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn bash_offers_what_this_computer_knows_in_its_own_quoting() {
    let desk = CompletionFixture::new();
    assert_eq!(bash(&desk, &["bailiwick", "scope", "show", ""]), ["project", "library"]);
    assert_eq!(bash(&desk, &["bailiwick", "scope", "show", "li"]), ["library"]);
    assert_eq!(bash(&desk, &["bailiwick", "token", "revoke", "my"]), ["my\\ \\$\\(touch\\ made\\)\\ laptop"]);
    assert_eq!(bash(&desk, &["bailiwick", "token", "create", "x", "--scope", "pro"]), ["project"]);
    // What the definition says is offered as before.
    assert_eq!(bash(&desk, &["bailiwick", "scope", "sh"]), ["show"]);
    assert_eq!(bash(&desk, &["bailiwick", "scope", "show", "--js"]), ["--json"]);
    assert_eq!(bash(&desk, &["bailiwick", "client", "print", "wind"]), ["windsurf"]);
    typed(&desk, &["bash", "--norc", "-i"], "source ./bailiwick.bash");
}

#[test]
fn fish_offers_what_this_computer_knows_and_what_it_is_about() {
    let desk = CompletionFixture::new();
    require_program("fish");
    let offered = |line: &str| -> Vec<String> {
        let script = format!("source bailiwick.fish; complete --do-complete='{line}'");
        let ran: CommandOutput =
            desk.shell(&["fish", "--no-config", "-c", &script]).output().expect("it runs").into();
        assert_eq!((ran.exit, ran.err.as_str()), (0, ""), "{line}");
        ran.out.lines().map(str::to_owned).collect()
    };
    assert_eq!(offered("bailiwick scope show "), ["project", "library\tPapers of mine"]);
    assert_eq!(offered("bailiwick scope show li"), ["library\tPapers of mine"]);
    assert_eq!(offered("bailiwick token create x --scope "), ["project", "library\tPapers of mine"]);
    assert_eq!(offered("bailiwick token revoke o"), ["owner\topens *"]);
    assert_eq!(offered(&format!("bailiwick ps stop {}", &desk.process[..9])).len(), 1);
    assert_eq!(offered("bailiwick call file.rea").len(), 2);
    assert!(offered("bailiwick scope sh").iter().any(|line| line.starts_with("show\t")));
    assert!(offered("bailiwick setup pro").contains(&"project/".to_owned()), "files where files are wanted");
}

#[test]
fn zsh_offers_what_this_computer_knows_at_its_own_prompt() {
    require_program("zsh");
    let desk = CompletionFixture::new();
    let begin = "fpath=(~/zfunc $fpath); autoload -Uz compinit; compinit -u -D; unsetopt list_beep";
    typed(&desk, &["zsh", "-f", "-i"], begin);
}

/// Types words and TAB at a shell's prompt, and runs what it makes of them.
fn typed(desk: &CompletionFixture, shell: &[&str], begin: &str) {
    let mut command = desk.shell(shell);
    command.env("PS1", "> ").env("TERM", "xterm");
    let mut terminal = Pty::start(&command, 24, 100);
    // The quotes keep what is typed from looking like what is printed.
    terminal.answer("> ", &format!("{begin}; echo rea''dy\r"));
    terminal.answer(
        "ready",
        "bailiwick scope show li\t--json | grep -c 'Papers of mine' | sed s/^/found=/; echo do''ne\r",
    );
    terminal.until("done");
    assert!(terminal.text().contains("found=1"), "{}", terminal.text());
    terminal.press("bailiwick token revoke --yes my\t; echo do''ne\r");
    terminal.until("done");
    assert!(terminal.text().contains("Revoked"), "{}", terminal.text());
    terminal.press("exit\r");
    terminal.ended();
    assert!(!desk.place.folder.path().join("made").exists(), "no name is run");
    assert_eq!(desk.values(&["token", "revoke"]), ["owner"]);
}
