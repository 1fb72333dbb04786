//! Windows in which what is typed runs as commands: terminals, and what starts programs by name. Nothing is pressed or typed in
//! them: that would be `command:run` by another way.

/// The names of terminals and runners: of their programs, or the class of their windows, in lower case. `*` matches any end.
const TERMINALS: &[&str] = &[
    "*terminal*",
    "alacritty*",
    "albert*",
    "alfred*",
    "automator*",
    "bemenu*",
    "blackbox*",
    "com.raggesilver.blackbox*",
    "com.mitchellh.ghostty*",
    "cascadia_hosting_window_class",
    "conemu*",
    "conhost*",
    "consolewindowclass",
    "cool-retro-term*",
    "cmd",
    "cmd.exe",
    "deepin-terminal*",
    "dmenu*",
    "eterm*",
    "explorer",
    "explorer.exe",
    "foot",
    "footclient",
    "fuzzel*",
    "ghostty*",
    "gmrun*",
    "guake*",
    "hyper",
    "iterm*",
    "kgx*",
    "kitty*",
    "konsole*",
    "krunner*",
    "launchbar*",
    "lxqt-runner*",
    "lxterm*",
    "mintty*",
    "mlterm*",
    "openconsole*",
    "org.gnome.console*",
    "org.gnome.ptyxis*",
    "org.kde.konsole*",
    "org.kde.yakuake*",
    "org.wezfurlong.wezterm*",
    "powershell*",
    "powertoys.powerlauncher*",
    "putty*",
    "pseudoconsolewindow",
    "ptyxis*",
    "pwsh*",
    "qterminal*",
    "quicksilver*",
    "raycast*",
    "rio",
    "rofi*",
    "roxterm*",
    "sakura*",
    "script editor*",
    "searchapp*",
    "searchhost*",
    "searchui*",
    "spotlight*",
    "st-256color*",
    "st",
    "tabby*",
    "terminator*",
    "termite*",
    "termius*",
    "terminology*",
    "taskmgr*",
    "tilda*",
    "tilix*",
    "ulauncher*",
    "urxvt*",
    "uxterm*",
    "warp",
    "virtualconsoleclass",
    "wave",
    "wezterm*",
    "wineconsole*",
    "wofi*",
    "wt.exe",
    "x-terminal-emulator*",
    "xfce4-appfinder*",
    "xterm*",
    "yakuake*",
    "zutty*",
];

/// Returns whether one of these names of a window is a terminal's.
pub fn is_terminal<'a>(names: impl IntoIterator<Item = &'a str>) -> bool {
    names.into_iter().any(|name| {
        let name = name.to_lowercase();
        TERMINALS.iter().any(|pattern| match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(part), Some(_)) => name.contains(part.trim_end_matches('*')),
            (None, Some(start)) => name.starts_with(start),
            _ => name == *pattern,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_known_by_class_and_program() {
        for name in [
            "XTerm",
            "gnome-terminal-server",
            "Gnome-terminal",
            "kitty",
            "st",
            "org.gnome.Console",
            "konsole",
            "iTerm2",
            "Alacritty",
            "wezterm-gui",
            "Ghostty",
            "Warp",
            "Script Editor",
            "ConsoleWindowClass",
            "CASCADIA_HOSTING_WINDOW_CLASS",
            "WindowsTerminal.exe",
            "cmd",
            "powershell.exe",
            "WineConsoleClass",
            // Whatever is typed at its address bar, or into its dialog to run something, is started.
            "explorer.exe",
        ] {
            assert!(is_terminal([name]), "{name}");
        }
        for name in ["firefox", "gedit", "Steam", "storage", "libreoffice", "", "fixture"] {
            assert!(!is_terminal([name]), "{name}");
        }
        assert!(is_terminal(["Firefox", "xterm"]));
        // On macOS the first name is in the language of the user.
        assert!(is_terminal(["ターミナル", "Terminal", "Terminal"]));
        assert!(is_terminal(["Warp", "Warp", "stable"]));
    }
}
