//! The name and version of the operating system, as it tells them itself.

use std::sync::LazyLock;

/// Returns the name and version of this system, such as `Debian GNU/Linux 13 (trixie)`, `macOS 15.1` or `Windows 11
/// (10.0.26100)`; `None` where it does not tell them.
pub fn system() -> Option<&'static str> {
    static TOLD: LazyLock<Option<String>> = LazyLock::new(told);
    TOLD.as_deref()
}

#[cfg(target_os = "linux")]
fn told() -> Option<String> {
    let text = std::fs::read_to_string("/etc/os-release")
        .or_else(|_| std::fs::read_to_string("/usr/lib/os-release"));
    of_os_release(&text.ok()?)
}

#[cfg(target_os = "macos")]
fn told() -> Option<String> {
    of_property_list(&std::fs::read_to_string("/System/Library/CoreServices/SystemVersion.plist").ok()?)
}

#[cfg(windows)]
fn told() -> Option<String> {
    /// `VER_NT_WORKSTATION`.
    const WORKSTATION: u8 = 1;
    let told = super::windows::version()?;
    Some(of_windows(WindowsVersion {
        major: told.dwMajorVersion,
        minor: told.dwMinorVersion,
        build: told.dwBuildNumber,
        is_server: told.wProductType != WORKSTATION,
    }))
}

/// Reads `PRETTY_NAME`.
///
/// # Source
/// os-release(5): assignments as a shell has them, without expansions.
#[cfg(any(target_os = "linux", test))]
fn of_os_release(text: &str) -> Option<String> {
    let value = text.lines().find_map(|line| line.trim_start().strip_prefix("PRETTY_NAME="))?.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    shown(&quoted.unwrap_or(value).replace('\\', ""))
}

/// Reads the product's name and version from a property list.
#[cfg(any(target_os = "macos", test))]
fn of_property_list(text: &str) -> Option<String> {
    let value = |key: &str| {
        let (_, rest) = text.split_once(&format!("<key>{key}</key>"))?;
        let (value, _) = rest.trim_start().strip_prefix("<string>")?.split_once("</string>")?;
        Some(value.trim().to_owned())
    };
    shown(&format!("{} {}", value("ProductName")?, value("ProductVersion")?))
}

/// The version of Windows.
#[cfg(any(windows, test))]
#[derive(Debug, Clone, Copy)]
struct WindowsVersion {
    major: u32,
    minor: u32,
    build: u32,
    is_server: bool,
}

/// # Source
/// "Operating System Version" of Microsoft's documentation; Windows 11 begins with the build 22000.
#[cfg(any(windows, test))]
fn of_windows(version: WindowsVersion) -> String {
    let WindowsVersion { major, minor, build, is_server } = version;
    let name = match (major, is_server) {
        (_, true) => "Windows Server",
        (10, false) if build >= 22_000 => "Windows 11",
        (10, false) => "Windows 10",
        (_, false) => "Windows",
    };
    format!("{name} ({major}.{minor}.{build})")
}

/// Takes a name of reasonable length without control characters.
#[cfg(any(unix, test))]
fn shown(name: &str) -> Option<String> {
    let name = name.trim();
    ((1..=100).contains(&name.len()) && !name.contains(char::is_control)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_tells_its_name_and_version() {
        let linux = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n";
        assert_eq!(of_os_release(linux).as_deref(), Some("Debian GNU/Linux 13 (trixie)"));
        assert_eq!(of_os_release("PRETTY_NAME=\"A \\\"b\\\" 1\"\n").as_deref(), Some("A \"b\" 1"));
        assert_eq!(of_os_release("PRETTY_NAME=Plain\n").as_deref(), Some("Plain"));
        assert_eq!(of_os_release("NAME=x\n"), None);
        assert_eq!(of_os_release("PRETTY_NAME=\"\"\n"), None);
        let mac = "<plist version=\"1.0\"><dict>\n<key>ProductName</key>\n\t<string>macOS</string>\n\
                   <key>ProductVersion</key>\n\t<string>15.1</string>\n</dict></plist>";
        assert_eq!(of_property_list(mac).as_deref(), Some("macOS 15.1"));
        assert_eq!(of_property_list("<plist/>"), None);
        let windows =
            |major, build, is_server| of_windows(WindowsVersion { major, minor: 0, build, is_server });
        assert_eq!(windows(10, 26_100, false), "Windows 11 (10.0.26100)");
        assert_eq!(windows(10, 19_045, false), "Windows 10 (10.0.19045)");
        assert_eq!(windows(10, 26_100, true), "Windows Server (10.0.26100)");
    }
}
