//! Rules over commands, and the profiles of programs, as a scope uses them.

use bailiwick::config::{CommandRule, ScopePolicy};
use bailiwick::contract::{CommandInput, CommandPlan, Containment, Failure};
use bailiwick::policy::command::{Commands, Decision, Grant, Rules, Verdict};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

fn rules(policy: Value) -> Rules {
    try_rules(policy).expect("the rules compile")
}

fn try_rules(policy: Value) -> Result<Rules, Failure> {
    Rules::compile(&serde_json::from_value::<ScopePolicy>(policy).expect("the policy is of its form"))
}

fn commands(policy: Value) -> Commands {
    let policy = serde_json::from_value::<ScopePolicy>(policy).expect("the policy is of its form");
    Commands::compile("app", &policy).expect("the rules compile")
}

fn judge(rules: &Rules, line: &str) -> Verdict {
    let argv: Vec<String> = line.split(' ').map(str::to_owned).collect();
    rules.judge(&CommandPlan::of_argv(argv), Grant::Rules)
}

fn decisions(rules: &Rules, lines: &[&str], expected: Decision) {
    let wrong: Vec<String> = lines
        .iter()
        .filter(|line| judge(rules, line).decision != expected)
        .map(|line| format!("{line}: {:?}", judge(rules, line)))
        .collect();
    assert!(wrong.is_empty(), "not {}:\n{}", expected.as_str(), wrong.join("\n"));
}

const RULES: &[&str] = &[
    "git *",
    "git push *",
    "git push --force *",
    "git status",
    "npm *",
    "npm run *",
    "npm publish",
    "rm -rf *",
    "rm *",
    "cargo build",
    "cargo *",
    "env *",
    "*",
    "python3 *",
];

const COMMANDS: &[&str] = &[
    "git status",
    "git push origin main",
    "git -C . push -f",
    "git push origin +main",
    "npm run build",
    "npm pub",
    "rm -r -f x",
    "rm x",
    "cargo build --release",
    "cargo build",
    "env git push",
    "env rm -rf x",
    "python3 x.py",
    "frob",
    "/bin/ls",
];

fn policy() -> impl Strategy<Value = Value> {
    let list = || subsequence(RULES, 0..5);
    (list(), list(), list(), select(&["auto", "full", "partial", "none"][..])).prop_map(
        |(allowed, ask, denied, sandbox)| json!({"allowedCommands": allowed, "askCommands": ask, "deniedCommands": denied, "sandbox": sandbox}),
    )
}

proptest! {
    #[test]
    fn adding_a_rule_that_denies_or_asks_never_makes_a_verdict_weaker(
        policy in policy(), rule in select(RULES), asks in any::<bool>(), line in select(COMMANDS),
    ) {
        let before = judge(&rules(policy.clone()), line).decision;
        let mut more = policy;
        let field = if asks { "askCommands" } else { "deniedCommands" };
        more[field].as_array_mut().expect("a list").push(json!(rule));
        let after = judge(&rules(more), line).decision;
        prop_assert!(after >= before, "{before:?} became {after:?}");
    }

    #[test]
    fn the_order_of_rules_does_not_matter(policy in policy(), line in select(COMMANDS)) {
        let mut turned = policy.clone();
        for field in ["allowedCommands", "askCommands", "deniedCommands"] {
            turned[field].as_array_mut().expect("a list").reverse();
        }
        let (one, other) = (judge(&rules(policy), line), judge(&rules(turned), line));
        prop_assert_eq!(one.decision, other.decision);
        prop_assert_eq!(one.must_be_full().is_some(), other.must_be_full().is_some());
    }

    #[test]
    fn a_plan_is_judged_as_strictly_as_its_strictest_command(
        policy in policy(), lines in proptest::collection::vec(select(COMMANDS), 1..8),
    ) {
        // A plan of many, made as the recogniser makes it.
        let rules = rules(policy);
        let one = |line: &str| CommandPlan::of_argv(line.split(' ').map(str::to_owned).collect());
        let mut plan = one(lines[0]);
        for line in &lines[1..] {
            plan.rest.push((bailiwick::contract::Joiner::Then, one(line).first));
        }
        let strictest = lines.iter().map(|line| judge(&rules, line).decision).max().expect("there is one");
        prop_assert_eq!(rules.judge(&plan, Grant::Rules).decision, strictest);
    }

    #[test]
    fn no_words_make_the_rules_panic(policy in policy(), words in proptest::collection::vec(".{0,12}", 0..8)) {
        rules(policy).judge(&CommandPlan::of_argv(words), Grant::Rules);
    }
}

#[test]
fn nothing_is_allowed_without_a_rule() {
    decisions(&rules(json!({})), COMMANDS, Decision::Deny);
}

#[test]
fn a_denied_command_is_denied_however_it_is_spelled() {
    let all = rules(json!({
        "allowedCommands": ["git *", "rm *", "npm *", "env *", "timeout *", "xargs *", "find *", "sudo *", "docker *", "cargo *", "python3 *"],
        "deniedCommands": ["git push --force *", "rm -rf *", "npm publish *", "cargo publish", "docker run -v / *", "python *"],
    }));
    decisions(
        &all,
        &[
            "git push --force",
            "git push --forc origin",
            "git push origin main --force",
            "git push -f",
            "git push -uf origin main",
            "git push origin +main",
            "git -C . push -f",
            "git --git-dir=x --work-tree y push --force=yes",
            "git -P push -fu origin",
            "/usr/bin/git push -f",
            "GIT push -f",
            "git.exe push -f",
            "git-push -f",
            "rm -rf x",
            "rm -fr x",
            "rm -r -f x",
            "rm x -rf",
            "rm -Rfv x",
            "rm --recursive --force x",
            "rm --rec --fo x",
            "rm x --force -- y -r",
            "env rm -rf x",
            "env -u A B=c rm -rf x",
            "timeout 5 rm -rf x",
            "timeout 5 nice -n 5 rm -r -f x",
            "xargs -n1 rm -rf",
            "xargs -I{} /bin/rm -rf {}",
            "find . -exec rm -rf {} ;",
            "sudo rm -rf x",
            "npm publish",
            "npm publ",
            "npm --access public publish",
            "npm --tag=x publish",
            "npm -- publish",
            "cargo --color always publish --dry-run",
            "cargo publish -p a",
            "docker run -v / image",
            "docker run --volume / image",
            "docker run -v=/ image",
            "docker run -itv/ image",
            "python3 x.py",
            "python3.12 x.py",
        ],
        Decision::Deny,
    );
    for argv in [
        ["env", "-S", "rm -rf x"],
        ["env", "--split-string=A=b rm -fr x", "y"],
        ["xargs", "-a", "x;rm -r -f y"],
        ["env", "-S rm -rf x", "y"],
        ["env", "-vSrm -rf", "y"],
        ["env", "-Srm", "-rf"],
    ] {
        let verdict = all.judge(&CommandPlan::of_argv(argv.map(str::to_owned).to_vec()), Grant::Rules);
        assert_eq!(verdict.decision, Decision::Deny, "{argv:?}");
    }
    let denied: Vec<String> = ["git push --forc", "rm -fr x", "env rm -rf x"]
        .iter()
        .map(|line| judge(&all, line).deciding().expect("there is a reason").1.source.name())
        .collect();
    assert_eq!(denied, ["deniedCommands[0]", "deniedCommands[1]", "deniedCommands[1]"]);
    decisions(
        &all,
        &[
            "git push origin main",
            "rm -f x",
            "rm -r x",
            "git log push --force-x",
            "npm view publish",
            "git commit -m push",
        ],
        Decision::Allow,
    );
}

#[test]
fn allowing_git_does_not_allow_arbitrary_code() {
    let git = rules(json!({"allowedCommands": ["git *"]}));
    decisions(
        &git,
        &[
            "git -c core.pager=id log",
            "git -ccore.pager=id log",
            "git --exec-path=x status",
            "git --config-env core.pager=X log",
            "git config core.hooksPath x",
            "git config alias.x !id",
            "git config --comment user.name core.pager id",
            "git config --add include.path x",
            "git config --global user.name x",
            "git config set core.sshCommand id",
            "git x",
            "git clone ext::id",
            "git remote add x ext::id",
            "git bisect run id",
            "git submodule foreach id",
            "git submodule --quiet foreach id",
            "git rebase --ex=id main",
            "git rebase -ix id main",
            "git difftool -x id",
            "git grep -Oid x",
            "git grep --open-files=id x",
            "git fetch --upload-pack id origin",
            "git archive --remote=x --exec=id HEAD",
            "git filter-branch --tree-filter id",
            "git clone -c core.pager=id x",
            "git clone --template=x y",
            "git --frob alias status",
        ],
        Decision::Deny,
    );
    // Named by the user, it is what the user meant; it is said that this is any code.
    let meant = rules(json!({"allowedCommands": ["git *", "git bisect run *"]}));
    let verdict = judge(&meant, "git bisect run make");
    assert_eq!(verdict.decision, Decision::Allow);
    assert_eq!(verdict.implies().count(), 1);
    // Naming the subcommand does not name the setting.
    let config = rules(json!({"allowedCommands": ["git config *"]}));
    decisions(&config, &["git config core.pager x"], Decision::Deny);
    decisions(&config, &["git config user.name x", "git config --get core.pager"], Decision::Allow);
}

#[test]
fn allowing_an_interpreter_says_that_it_allows_any_code() {
    let rules = rules(
        json!({"allowedCommands": ["python3 *", "node *", "make *", "npm *", "cargo *", "git *", "ls *"]}),
    );
    for line in ["python3 x.py", "node x.js", "make", "npm run build", "npm t", "cargo build", "cargo t"] {
        let verdict = judge(&rules, line);
        assert_eq!((verdict.decision, verdict.implies().count()), (Decision::Allow, 1), "{line}");
    }
    for line in ["git log", "ls", "npm ls"] {
        assert_eq!(judge(&rules, line).implies().count(), 0, "{line}");
    }
    let any: Vec<(String, bool)> =
        rules.implications().into_iter().map(|(name, why)| (name, why.is_some())).collect();
    assert_eq!(
        any.iter().filter(|(_, any)| !any).map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["git", "ls"]
    );
}

#[test]
fn a_rule_for_everything_allows_no_program_that_runs_others() {
    let rules = rules(json!({"allowedCommands": ["*"]}));
    decisions(
        &rules,
        &["env ls", "bash x.sh", "python3 x.py", "sudo ls", "xargs ls", "npm run x"],
        Decision::Deny,
    );
    decisions(&rules, &["ls -la", "git status", "frob"], Decision::Allow);
}

#[test]
fn every_command_of_a_long_chain_is_judged() {
    let commands =
        commands(json!({"allowedCommands": ["echo *", "git *"], "deniedCommands": ["git push *"]}));
    for parts in [60, 500] {
        let mut chain = vec!["echo x"; parts];
        chain[parts - 1] = "git push";
        for joiner in [" && ", "; ", " | ", "\n"] {
            let input = CommandInput::Line(chain.join(joiner));
            let failure = commands.judge(&input, Grant::Rules).expect_err("the last part is denied");
            assert_eq!(failure.rule(), Some("deniedCommands[0]"), "{parts} parts");
        }
        let input = CommandInput::Line(vec!["echo x"; parts].join(" && "));
        assert!(commands.judge(&input, Grant::Rules).is_ok(), "{parts} parts");
    }
}

#[test]
fn a_rule_with_a_wrong_example_is_not_used() {
    let good = json!({"tokens": ["git", {"not": "push"}, "*"], "match": ["git status", "git --no-pager log"], "notMatch": ["git push", "git -C . push", "git"]});
    rules(json!({"allowedCommands": [good]}));
    let bad = json!({"tokens": ["git", "push", "*"], "notMatch": ["git --git-dir x push -f"]});
    let failure = try_rules(json!({"deniedCommands": ["ls", bad]})).expect_err("the example matches");
    assert_eq!(failure.details["field"], "policy.deniedCommands[1]");
    assert!(failure.message.contains("`git push *`") && failure.message.contains("git --git-dir x push -f"));
    for (wrong, said) in [
        (json!(""), "no words"),
        (json!("'git"), "quote"),
        (json!("/usr/bin/git *"), "without their folder"),
        (json!({"tokens": [{"not": "git"}, "*"]}), "first word"),
        (json!({"tokens": ["git", []]}), "empty"),
        (json!({"tokens": ["git"], "match": ["npm"]}), "should match"),
    ] {
        let failure = try_rules(json!({"allowedCommands": [wrong]})).expect_err("refused");
        assert!(failure.message.contains(said), "{said}: {}", failure.message);
    }
}

#[test]
fn words_of_rules_are_compared_one_by_one() {
    let rules = rules(json!({"allowedCommands": [
        "cargo build", "npm run lint:* *",
        {"tokens": ["git", ["log", "show"], "*"]},
        {"tokens": ["go", {"not": ["run", "generate"]}, "*"]},
    ]}));
    decisions(
        &rules,
        &[
            "cargo build",
            "npm run lint:css",
            "npm run lint:css -x",
            "git log -5",
            "git --no-pager show HEAD",
            "go list",
        ],
        Decision::Allow,
    );
    decisions(
        &rules,
        &[
            "cargo build x",
            "cargo buildx",
            "npm run build",
            "git logs",
            "gitlog",
            "go run x",
            "go -C . run x",
            "go -x run list",
            "go",
        ],
        Decision::Deny,
    );
}

#[test]
fn a_word_that_may_be_the_value_of_an_unknown_option_allows_nothing() {
    let rules = rules(json!({"allowedCommands": [
        "npm view *", {"tokens": ["npm", {"not": "publish"}, "*"]}, {"tokens": ["git", {"not": "push"}, "*"]},
    ]}));
    decisions(
        &rules,
        &[
            "npm --foo publish view",
            "npm --s publish view",
            "npm -p publish view",
            "npm --filter publish view",
            "npm --dir publish view",
            "npm publish",
            "git -c x push",
            "git --frob push log",
            "git -C log push",
        ],
        Decision::Deny,
    );
    decisions(
        &rules,
        &["npm view x", "npm --loglevel silent view x", "git --no-pager log push"],
        Decision::Allow,
    );
}

#[test]
fn a_shell_runs_only_in_a_full_sandbox_and_only_where_the_scope_says_so() {
    let line = |text: &str| CommandInput::Line(text.to_owned());
    let off = commands(json!({"allowedCommands": ["bash *", "echo *"]}));
    for command in [line("echo $(id)"), CommandInput::Argv(["bash", "-c", "id"].map(str::to_owned).to_vec())]
    {
        assert!(off.judge(&command, Grant::Rules).is_err(), "{command:?}");
    }
    let on = commands(
        json!({"shell": "sandboxed", "allowedCommands": ["bash *"], "deniedCommands": ["git push *"]}),
    );
    let judged = on.judge(&line("for x in a b; do echo \"$x\"; done"), Grant::Rules).expect("bash reads it");
    assert!(judged.permitted.must_be_full().is_some() && judged.permitted.is_advisory());
    let argv = &judged.permitted.plan().first.commands[0].argv;
    assert_eq!(argv[..4], ["bash", "--noprofile", "--norc", "-c"]);
    let judged = on.judge(&line("bash -c id"), Grant::Rules).expect("it is allowed by name");
    assert!(judged.permitted.must_be_full().is_some() && !judged.permitted.is_advisory());
    for text in
        ["echo $(git push)", "if true; then git -C . push; fi", "A=b git push $X", "x=$(env git push)"]
    {
        let failure = on.judge(&line(text), Grant::Rules).expect_err("the rules are heard");
        assert_eq!(failure.rule(), Some("deniedCommands[0]"), "{text}");
    }
    // On a computer without a full sandbox the strict rules decide, questions included.
    let asks = commands(json!({"shell": "sandboxed", "allowedCommands": ["cargo *"]}));
    let nextest = line("cargo nextest run");
    assert!(
        asks.judge(&nextest, Grant::Rules).is_ok_and(|judged| judged.verdict.decision == Decision::Allow)
    );
    let judged = asks.judge_at(&nextest, Grant::Rules, Containment::Partial).expect("it is asked about");
    assert_eq!((judged.verdict.decision, judged.permitted.is_advisory()), (Decision::Ask, false));
    let failure = asks.judge_at(&line("echo $(id)"), Grant::Rules, Containment::Partial).expect_err("strict");
    assert_eq!(failure.rule(), Some("not-literal"));
    assert!(
        failure.hints.iter().any(|hint| hint.contains("this computer has `partial`")),
        "{:?}",
        failure.hints
    );
    let weak = commands(json!({"shell": "sandboxed", "sandbox": "partial"}));
    assert_eq!(
        weak.judge(&line("echo $(id)"), Grant::Rules).err().and_then(|it| it.rule().map(str::to_owned)),
        Some("not-literal".to_owned())
    );
}

#[test]
fn package_run_needs_no_rule_but_keeps_what_is_denied() {
    let rules = rules(json!({"deniedCommands": ["npm run deploy *"]}));
    let decide = |line: &str| {
        let argv = line.split(' ').map(str::to_owned).collect();
        rules.judge(&CommandPlan::of_argv(argv), Grant::Package).decision
    };
    assert_eq!(decide("npm run build"), Decision::Allow);
    assert_eq!(decide("npm --silent run deploy"), Decision::Deny);
    assert_eq!(decide("npm --script-shell=x run build"), Decision::Deny);
}

#[test]
fn no_caller_sets_a_variable_that_makes_programs_run_other_code() {
    let refused = |name: &str| {
        let policy = json!({"allowedEnvironment": [name]});
        let policy = serde_json::from_value::<ScopePolicy>(policy).expect("the policy is of its form");
        Commands::compile("app", &policy).is_err()
    };
    for name in [
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_COUNT",
        "NODE_OPTIONS",
        "LD_PRELOAD",
        "https_proxy",
        "npm_config_script_shell",
        "RUSTC_WRAPPER",
        "CARGO_HOME",
        "BASH_ENV",
        "ENV",
        "SHELLOPTS",
        "PS4",
        "IFS",
        "PERL5OPT",
        "PYTHONPATH",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "PATH",
        "VIMINIT",
        "LUA_INIT",
        "HOSTALIASES",
        "MAKEFLAGS",
        "PAGER",
        "A=B",
        "",
        "1A",
    ] {
        assert!(refused(name), "{name}");
    }
    for name in ["DEBUG", "RUST_LOG", "CI", "FORCE_COLOR", "DATABASE_URL", "TZ"] {
        assert!(!refused(name), "{name}");
    }
}

#[test]
fn the_older_forms_of_network_are_read() {
    for (written, meant) in [
        (json!(false), "none"),
        (json!(true), "full"),
        (json!("loopback"), "loopback"),
        (json!("none"), "none"),
        (json!(null), "loopback"),
    ] {
        assert_eq!(commands(json!({"network": written})).hold().network.as_str(), meant);
    }
    assert!(serde_json::from_value::<ScopePolicy>(json!({"network": "some"})).is_err());
}

#[test]
fn a_network_of_hosts_is_read_and_anything_else_of_that_form_refused_with_what_is_expected() {
    let hosts = json!({"hosts": ["github.com", "*.example.org:443"], "otherwise": "deny"});
    let read = commands(json!({"network": hosts}));
    assert_eq!(read.hold().network.as_str(), "hosts");
    let rules = read.hold().hosts.as_ref().expect("hosts");
    assert_eq!(rules.texts(), ["github.com", "*.example.org:443"]);
    // Texts for bash could hide what the rules ask about, and there is a way out.
    let with_texts = commands(json!({"network": {"hosts": ["github.com"]}, "shell": "sandboxed"}));
    assert!(!with_texts.runs_any_program());
    for (written, said) in [
        (json!({"hosts": ["github.com"], "otherwise": "allow"}), "expected `deny` or `ask`"),
        (json!({"hosts": ["github.com"], "otherwise": "allow"}), "expected `deny`"),
        (json!({"hosts": "github.com"}), "expected a sequence"),
        (json!({"otherwise": "deny"}), "missing field `hosts`"),
        (json!({"hosts": [], "also": 1}), "unknown field `also`"),
        (json!("hosts"), "`loopback`"),
    ] {
        let policy = serde_json::from_value::<ScopePolicy>(json!({"network": written}));
        let problem = policy.expect_err("refused").to_string();
        assert!(problem.contains(said), "{written}: {problem}");
    }
    let refusal = |policy: Value| {
        let policy = serde_json::from_value(policy).expect("a policy");
        let failure = Commands::compile("app", &policy).expect_err("refused");
        (failure.details["field"].clone(), failure.message)
    };
    let (field, message) = refusal(json!({"network": {"hosts": ["github.com", "https://a.test"]}}));
    assert_eq!(field, "policy.network.hosts[1]", "{message}");
    assert!(message.contains("`https://a.test`") && message.contains("expected a host"), "{message}");
    for level in ["partial", "none"] {
        let (field, message) = refusal(json!({"network": {"hosts": ["github.com"]}, "sandbox": level}));
        assert_eq!(field, "policy.network", "{message}");
        assert!(message.contains("full sandbox only"), "{message}");
    }
}

#[test]
fn a_refusal_repeats_no_word_that_a_caller_chose() {
    let commands =
        commands(json!({"allowedCommands": ["git *", "env *", "npm *"], "deniedCommands": ["rm *"]}));
    for command in [
        &["git", "-c", "http.extraHeader=secret-1", "fetch"][..],
        &["git", "fetch", "ext::secret-2"],
        &["git", "secret-3"],
        &["npm", "secret-4"],
        &["env", "TOKEN=secret-5", "rm", "secret-6"],
        &["frob", "secret-7"],
        &["./secret-8"],
    ] {
        let input = CommandInput::Argv(command.iter().map(|word| (*word).to_owned()).collect());
        let said = match commands.judge(&input, Grant::Rules) {
            Err(failure) => format!("{failure:?}"),
            Ok(judged) => format!("{:?}", judged.refusal().expect("it is asked about")),
        };
        assert!(!said.contains("secret"), "{said}");
    }
}

/// The command that a refusal names, carried out on the rules: with it the refused command is allowed.
fn carried_out(policy: &ScopePolicy, hint: &str) -> ScopePolicy {
    let mut policy = policy.clone();
    let mut lines = hint.split('`').filter(|part| part.starts_with("bailiwick scope ")).peekable();
    assert!(lines.peek().is_some(), "no command in: {hint}");
    for line in lines {
        let words = bailiwick::policy::command::recognise::plan(&CommandInput::Line(line.to_owned()));
        let words = words.expect("a command line").first.commands[0].argv.clone();
        assert_eq!(words[3], "app", "{line}");
        for flag in words[4..].chunks(2) {
            let rule = CommandRule::Line(flag[1].clone());
            match flag[0].as_str() {
                "--remove-rule" => {
                    policy.ask_commands.retain(|it| it.spelled() != flag[1]);
                    policy.denied_commands.retain(|it| it.spelled() != flag[1]);
                }
                "--command" => policy.allowed_commands.push(rule),
                other => panic!("{other} in {line}"),
            }
        }
    }
    policy
}

#[test]
fn the_command_that_a_refusal_names_allows_what_was_refused() {
    let policy = json!({
        "allowedCommands": ["git *", "npm *", "curl --version"],
        "askCommands": ["git push *", {"tokens": ["git", ["tag", "branch"], "*"]}],
        "deniedCommands": ["git reset --hard *"],
    });
    let policy = serde_json::from_value::<ScopePolicy>(policy).expect("the policy is of its form");
    let commands = |policy: &ScopePolicy| Commands::compile("app", policy).expect("the rules compile");
    let refusal = |commands: &Commands, line: &str| {
        commands
            .judge(&CommandInput::Line(line.to_owned()), Grant::Rules)
            .map_or_else(Some, |it| it.refusal())
    };
    for (line, named) in [
        ("docker ps", "`bailiwick scope allow app --command 'docker *'` allows it."),
        ("git push origin main", "`bailiwick scope edit app --remove-rule 'git push *'` allows it."),
        ("git reset --hard x", "`bailiwick scope edit app --remove-rule 'git reset --hard *'` allows it."),
        ("npm publish", "`bailiwick scope allow app --command 'npm publish *'` allows it."),
        ("curl https://example.com", "`bailiwick scope allow app --command 'curl *'` allows it."),
        ("git tag v1", "--remove-rule"),
        (
            "git push && docker ps",
            "` and `bailiwick scope allow app --command 'docker *'` allow it together.",
        ),
    ] {
        let refused = refusal(&commands(&policy), line).unwrap_or_else(|| panic!("{line} is allowed"));
        let hint = refused.hints.last().unwrap_or_else(|| panic!("no hint: {refused:?}"));
        assert!(hint.contains(named), "{line}: {hint}");
        let after = commands(&carried_out(&policy, hint));
        assert_eq!(refusal(&after, line), None, "{line}: {hint}");
    }
}

#[test]
fn a_refusal_names_no_command_that_would_not_help() {
    let policy = json!({"allowedCommands": ["git *", "npm *", "bash *"], "sandbox": "partial"});
    let policy = serde_json::from_value::<ScopePolicy>(policy).expect("the policy is of its form");
    let commands = Commands::compile("app", &policy).expect("the rules compile");
    for line in ["git -c core.pager=./x log", "bash -c 'echo x'", "npm frobnicate", "docker ps && bash -c x"]
    {
        let judged = commands.judge(&CommandInput::Line(line.to_owned()), Grant::Rules);
        let refused =
            judged.map_or_else(Some, |it| it.refusal()).unwrap_or_else(|| panic!("{line} is allowed"));
        assert_eq!(
            refused.hints.last().map(String::as_str),
            Some("For the user: `bailiwick policy explain 'COMMAND'` shows which word is meant.")
        );
        assert!(!refused.hints.iter().any(|hint| hint.contains("bailiwick scope")), "{:?}", refused.hints);
    }
}
