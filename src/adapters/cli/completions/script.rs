//! The scripts: what clap makes, and for three shells the question what fits here.
//!
//! A value is shown in the shell's own quoting, so that no name is read as anything else.

use clap_complete::Shell;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::definition::definition;
use super::super::printer::Report;
use super::wanted::FLAGS;

/// The head of the function that clap makes, in bash and zsh.
const HEAD: &str = "_bailiwick() {\n";

/// Asks for values first, in bash. Where there are any, files are none.
const BASH: &str = r#"# Offers what only this computer knows: ids of scopes and processes, names of tokens.
_bailiwick_values() {
    local value found=1
    [[ "${COMP_WORDS[COMP_CWORD]}" == -* ]] && return 1
    while IFS=$'\t' read -r value _; do
        [[ -n "${value}" ]] || continue
        found=0
        if [[ "${value}" == "${1}"* ]]; then
            printf -v value '%q' "${value}"
            COMPREPLY+=("${value}")
        fi
    done < <(command bailiwick completions --values -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
    if [[ "${found}" -eq 0 && "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        compopt +o default +o bashdefault 2>/dev/null
    fi
    return "${found}"
}

"#;
const BASH_CALL: &str = "    COMPREPLY=()\n    _bailiwick_values \"$2\" && return 0\n";

/// Asks for values first, in zsh.
const ZSH: &str = r#"# Offers what only this computer knows: ids of scopes and processes, names of tokens.
_bailiwick_values() {
    local line
    local -a offered shown
    [[ "${PREFIX}" == -* ]] && return 1
    for line in "${(@f)$(command bailiwick completions --values -- "${(@Q)words[2,CURRENT-1]}" 2>/dev/null)}"; do
        [[ -n "${line}" ]] || continue
        offered+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  }")
    done
    (( ${#offered} )) || return 1
    compadd -l -d shown -a offered
    return 0
}

"#;
const ZSH_CALL: &str = "    _bailiwick_values && return 0\n";

/// Asks for values, in fish, which also shows what each is about.
const FISH: &str = r#"
# Offers what only this computer knows: ids of scopes and processes, names of tokens.
function __bailiwick_values
    set -l words (commandline -opc)
    set -e words[1]
    command bailiwick completions --values -- $words 2>/dev/null
end

# Asked once: the condition keeps what the completion offers.
function __bailiwick_has_values
    set -g __bailiwick_found (__bailiwick_values)
    count $__bailiwick_found >/dev/null
end

complete -c bailiwick -n __bailiwick_has_values -k -f -a '$__bailiwick_found'
"#;

/// `completions`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CompletionsOutput {
    /// Always true.
    pub ok: bool,
    /// The shell's name.
    pub shell: String,
    /// The script that the shell reads.
    pub script: String,
}

/// Creates the completions for a shell.
pub fn run(shell: Shell) -> Report {
    let script = script(shell);
    let output = CompletionsOutput { ok: true, shell: shell.to_string(), script: script.clone() };
    Report::of(script, &output).verbatim()
}

/// Creates the script for a shell.
fn script(shell: Shell) -> String {
    let mut made = Vec::new();
    clap_complete::generate(shell, &mut definition(), "bailiwick", &mut made);
    let made = String::from_utf8_lossy(&made).into_owned();
    match shell {
        Shell::Bash => begun(&made, BASH, BASH_CALL),
        Shell::Zsh => {
            // The first line says what the file is for.
            let (first, rest) = made.split_once('\n').unwrap_or_default();
            format!("{first}\n{}", begun(rest, ZSH, ZSH_CALL))
        }
        Shell::Fish => {
            let flags: String = FLAGS
                .iter()
                .map(|(flag, _)| format!("complete -c bailiwick -l {flag} -k -x -a '(__bailiwick_values)'\n"))
                .collect();
            format!("{made}{FISH}{flags}")
        }
        _ => made,
    }
}

/// Has the function that clap made begin with a call of another, which is before it.
fn begun(made: &str, before: &str, call: &str) -> String {
    format!("{before}{}", made.replacen(HEAD, &format!("{HEAD}{call}"), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_function_that_is_made_begins_with_the_question() {
        for (shell, call) in [(Shell::Bash, BASH_CALL), (Shell::Zsh, ZSH_CALL)] {
            let made = script(shell);
            assert_eq!(made.matches(&format!("{HEAD}{call}")).count(), 1, "{shell}");
        }
        assert!(script(Shell::Zsh).starts_with("#compdef bailiwick\n"));
    }
}
