//! Settings of editors and AI clients that name programs to start: closed for writing.
//!
//! What they name runs outside every sandbox, as soon as the project is opened or a client starts. They may be read:
//! they hold no secrets as a rule.

use super::sensitive::{Form, SensitiveRow, row};

/// The rule that a denial names.
pub const RULE: &str = "program-settings";

/// Every row. A name that matches is closed for writing, and so is everything in a folder of that name.
pub const PROGRAM_SETTINGS: &[SensitiveRow] = &[
    row(Form::InDot("hooks", ".json"), RULE, &[".cursor/hooks.json", ".codex/hooks.json", ".a/b/hooks.json"]),
    row(Form::In(".claude", "hooks"), RULE, &[".claude/hooks/a.sh"]),
    row(Form::In(".cursor", "hooks"), RULE, &[".cursor/hooks/a.sh"]),
    row(Form::In(".codex", "hooks"), RULE, &[".codex/hooks/a.sh"]),
    row(Form::In(".gemini", "hooks"), RULE, &[".gemini/hooks/a.sh"]),
    row(Form::In(".kiro", "hooks"), RULE, &[".kiro/hooks/a.kiro.hook"]),
    row(Form::In(".vscode", "tasks.json"), RULE, &[".vscode/tasks.json", "sub/.VSCode/Tasks.json"]),
    row(Form::In(".vscode", "settings.json"), RULE, &[".vscode/settings.json"]),
    row(Form::In(".vscode", "launch.json"), RULE, &[".vscode/launch.json"]),
    row(Form::End(".code-workspace"), RULE, &["app.code-workspace"]),
    row(
        Form::Name("devcontainer.json"),
        RULE,
        &[".devcontainer/devcontainer.json", ".devcontainer/a/devcontainer.json"],
    ),
    row(Form::Name(".devcontainer.json"), RULE, &[".devcontainer.json"]),
    row(Form::Name(".idea"), RULE, &[".idea/workspace.xml", ".idea/runConfigurations/a.xml"]),
    row(Form::Name(".zed"), RULE, &[".zed/tasks.json", ".zed/debug.json"]),
    row(Form::In(".vs", "tasks.vs.json"), RULE, &[".vs/tasks.vs.json"]),
    row(Form::In(".vs", "launch.vs.json"), RULE, &[".vs/launch.vs.json"]),
    row(Form::End(".sublime-project"), RULE, &["app.sublime-project"]),
    row(Form::Name(".exrc"), RULE, &[".exrc"]),
    row(Form::Name(".nvimrc"), RULE, &[".nvimrc"]),
    row(Form::Name(".nvim.lua"), RULE, &[".nvim.lua"]),
    row(Form::Name(".dir-locals.el"), RULE, &[".dir-locals.el"]),
    row(Form::Name(".gdbinit"), RULE, &[".gdbinit"]),
    row(Form::Name(".lldbinit"), RULE, &[".lldbinit"]),
    row(Form::Name("opencode.json"), RULE, &["opencode.json"]),
    row(Form::Name("opencode.jsonc"), RULE, &["opencode.jsonc"]),
    row(Form::Name(".opencode"), RULE, &[".opencode/plugin/a.ts"]),
    row(Form::Name("crush.json"), RULE, &["crush.json"]),
    row(Form::Name(".crush.json"), RULE, &[".crush.json"]),
    row(Form::Name(".aider.conf.yml"), RULE, &[".aider.conf.yml"]),
    row(Form::In(".continue", "config.json"), RULE, &[".continue/config.json"]),
    row(Form::In(".continue", "config.yaml"), RULE, &[".continue/config.yaml"]),
    row(Form::In(".continue", "config.ts"), RULE, &[".continue/config.ts"]),
    row(Form::In(".continue", "mcpservers"), RULE, &[".continue/mcpServers/a.yaml"]),
    row(Form::In(".qwen", "settings.json"), RULE, &[".qwen/settings.json"]),
    row(Form::In(".copilot", "config.json"), RULE, &[".copilot/config.json"]),
    row(Form::In(".cursor", "cli.json"), RULE, &[".cursor/cli.json"]),
    row(Form::In(".cursor", "environment.json"), RULE, &[".cursor/environment.json"]),
    row(Form::In(".amazonq", "cli-agents"), RULE, &[".amazonq/cli-agents/a.json"]),
    row(Form::In(".kiro", "agents"), RULE, &[".kiro/agents/a.json"]),
    row(Form::In(".factory", "settings.json"), RULE, &[".factory/settings.json"]),
];
