//! What does the work of programs that scopes seldom allow.

/// Programs, and the operation that does what they are usually run for.
const INSTEAD: &[(&str, &str)] = &[
    (
        "cat head tail less more bat nl",
        "To read a file, use file.read; `startLine` and `endLine` give a part of it.",
    ),
    ("ls dir", "To see what is in a folder, use file.list."),
    ("tree", "To see a folder with all below it, use file.tree."),
    ("find fd locate", "To find files by name, use file.find: {\"pattern\":\"**/*.py\"}."),
    ("grep egrep fgrep rg ag ack", "To search in files, use file.search: {\"query\":\"…\"}."),
    (
        "sed awk perl patch ed",
        "To change parts of files, use file.patch: {\"edits\":[{\"old\":\"…\",\"new\":\"…\"}]}.",
    ),
    ("rm rmdir unlink shred", "To remove a file or folder, use file.delete."),
    ("cp install rsync", "To copy a file or folder, use file.copy: {\"to\":\"…\"}."),
    ("mv rename", "To move or rename, use file.move: {\"to\":\"…\"}."),
    ("mkdir", "To make a folder, use file.mkdir; `parents` makes those above it."),
    ("touch", "To make an empty file, use file.create."),
    ("tee echo printf", "To write a file, use file.write: {\"content\":\"…\"}."),
    ("chmod chown", "file.write and file.create set a file's `mode`."),
    ("stat du wc file realpath readlink", "For the facts of a file, use file.stat."),
    ("sha256sum sha1sum md5sum shasum", "For a file's hash, use file.stat with `hash`."),
    (
        "diff cmp",
        "For changes in a repository, use git.diff; to compare two files, read both with file.read_many.",
    ),
    (
        "sleep timeout wait",
        "To wait, use process.wait: {\"any\":[{\"until\":\"time\",\"seconds\":5}]}; it waits for output, ports and files too.",
    ),
    (
        "curl wget http https httpie nc telnet",
        "To see whether a started server answers, use process.wait: {\"any\":[{\"until\":\"http\",\"port\":8000}]} with its processId as target.",
    ),
    (
        "env printenv export set",
        "get_computer_info shows the system; variables for a command go into `input.env`.",
    ),
    (
        "which whereis command type whoami uname hostname id",
        "get_computer_info shows the system and which programs may run.",
    ),
    (
        "bash sh zsh dash ksh fish cmd powershell pwsh",
        "Send the commands themselves: command.run reads simple commands joined by `&&`, `||`, `;` and `|`.",
    ),
    ("sudo su doas", "Commands run as the user who started Bailiwick; leave this out."),
    ("nohup setsid screen tmux", "To start what keeps running, use process.start."),
    ("ps top pgrep jobs", "To see what you started, use process.list."),
    ("kill pkill killall", "To end what you started, use process.stop."),
    ("xargs parallel", "Run one command for each item, or name all of them in one command."),
    ("pwd", "Commands start in the scope's folder, or in the `target`."),
    ("cd pushd popd", "Set `target` to the folder."),
];

/// Returns what to use instead of a program.
pub(super) fn instead(program: &str) -> Option<&'static str> {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    INSTEAD.iter().find(|(names, _)| names.split(' ').any(|it| it == name)).map(|(_, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_program_has_one_row() {
        let mut seen = HashSet::new();
        for program in INSTEAD.iter().flat_map(|(names, _)| names.split(' ')) {
            assert!(seen.insert(program), "{program} is there twice");
            assert!(instead(program).is_some());
        }
        assert_eq!(instead("/usr/bin/sed"), instead("sed"));
        assert_eq!(instead("cargo"), None);
    }
}
