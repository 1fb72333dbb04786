//! A desktop of its own: an X server, an accessibility bus, and a program with a window that prints what it receives.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Receiver;

use bailiwick::platform::screen::Sources;
use rustix::process::{Pid, Signal, kill_process};
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::lines::lines_of;
use crate::needs::require_program;
use crate::patience::{PATIENCE, eventually};
use crate::screen::{Client, XServer};
use crate::service::Program;
use crate::temporary::TemporaryFolder;
use crate::tray::TrayProgram;

/// What a window of the desktop is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolkit {
    /// GTK 3.
    Gtk3,
    /// GTK 4.
    Gtk4,
    /// Qt 5.
    Qt,
    /// A page in Chromium.
    Web,
}

impl Toolkit {
    /// Returns the program, and the Debian packages that it needs.
    const fn program(self) -> (&'static str, &'static str) {
        match self {
            Self::Gtk3 => (include_str!("desktop.py"), "python3-gi gir1.2-gtk-3.0 at-spi2-core"),
            Self::Gtk4 => (include_str!("desktop_gtk4.py"), "python3-gi gir1.2-gtk-4.0 at-spi2-core"),
            Self::Qt => (include_str!("desktop_qt.py"), "python3-pyqt5 at-spi2-core"),
            Self::Web => (include_str!("desktop_web.py"), "chromium at-spi2-core"),
        }
    }
}

/// The desktop. Everything that runs there is ended with its value.
pub struct Desktop {
    /// The program with the window.
    program: Program,
    input: ChildStdin,
    lines: Receiver<String>,
    tray: Option<TrayProgram>,
    _registry: Registry,
    _bus: Program,
    /// The display.
    pub server: XServer,
    /// A client of the display.
    pub client: Client,
    title: String,
    folder: TemporaryFolder,
}

impl Desktop {
    /// Starts one with a window of a kind, `form`, `fields`, `widgets`, `named`, `tray`, `list`, `grid`, `pad` or `ends`, and of a title.
    pub fn start(kind: &str, title: &str) -> Self {
        Self::with(Toolkit::Gtk3, (kind, title), "1280x720x24", 1)
    }

    /// Starts one with the window `Form` of a toolkit, which draws so many times larger than usual.
    pub fn form(toolkit: Toolkit, scale: u32) -> Self {
        Self::with(toolkit, ("form", "Form"), "1600x1400x24", scale)
    }

    /// Starts one with a page of 1,900 buttons in Chromium.
    pub fn large_page() -> Self {
        Self::with(Toolkit::Web, ("large", "Form"), "1600x1400x24", 1)
    }

    fn with(toolkit: Toolkit, (kind, title): (&str, &str), screen: &str, scale: u32) -> Self {
        require_program("dbus-daemon");
        let folder = TemporaryFolder::new();
        let server = XServer::with(&["-screen", "0", screen]);
        let client = server.client();
        let bus = folder.path().join("bus");
        let address = format!("unix:path={}", bus.display());
        let daemon = start_bus(folder.path(), &address);
        eventually("the bus listens", || bus.exists());
        let root = client.screen().root;
        client.text(root, "AT_SPI_BUS", "STRING", address.as_bytes());
        let file = folder.path().join("desktop.py");
        let (program, packages) = toolkit.program();
        fs::write(&file, program).expect("a file of the test");
        let sources = server.sources();
        let mut command = Command::new("/usr/bin/python3");
        command
            .arg(&file)
            .args([if kind == "tray" { "form" } else { kind }, title])
            .env_clear()
            .env("DISPLAY", server.id())
            .env("XAUTHORITY", sources.authority.as_ref().expect("a cookie"))
            .env("HOME", folder.path())
            .env("XDG_RUNTIME_DIR", folder.path())
            .env("LC_ALL", "C.UTF-8")
            .env("GDK_BACKEND", "x11")
            .env("GSETTINGS_BACKEND", "memory")
            .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if scale > 1 {
            command.env("GDK_SCALE", scale.to_string()).env("QT_SCALE_FACTOR", scale.to_string());
        }
        if toolkit != Toolkit::Gtk3 {
            command
                .env("PATH", "/usr/bin:/bin")
                .env("AT_SPI_BUS_ADDRESS", &address)
                // Without a bus of the session Qt shows no elements.
                .env("DBUS_SESSION_BUS_ADDRESS", &address)
                // Chromium looks for them.
                .env("ACCESSIBILITY_ENABLED", "1")
                .env("GNOME_ACCESSIBILITY", "1")
                .env("QT_QPA_PLATFORM", "xcb")
                .env("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1");
        }
        let needs = format!("the window is shown (on Debian: apt-get install {packages})");
        let mut program = command.spawn().expect(&needs);
        let input = program.stdin.take().expect("piped");
        let lines = lines_of(program.stdout.take().expect("piped"));
        let desktop = Self {
            program: Program(program),
            input,
            lines,
            tray: match kind {
                "tray" => Some(TrayProgram::start(&address, ["chat", title, ""])),
                "named" => Some(TrayProgram::start(&address, ["chat", &format!("Chat {title}"), title])),
                _ => None,
            },
            _registry: Registry(Registry::file(folder.path())),
            _bus: daemon,
            server,
            client,
            title: title.to_owned(),
            folder,
        };
        assert_eq!(desktop.lines.recv_timeout(*PATIENCE).as_deref(), Ok("ready"), "{needs}");
        eventually("the window is there", || desktop.find().is_some());
        if kind == "pad" {
            desktop.focus();
            desktop.rest();
        }
        desktop
    }

    /// Returns where the display and its bus are found.
    pub fn sources(&self) -> Sources {
        Sources { session_bus: Some(self.bus()), ..self.server.sources() }
    }

    /// Returns the address of its bus.
    pub fn bus(&self) -> String {
        format!("unix:path={}", self.folder.path().join("bus").display())
    }

    /// Returns the id of the status icon, where the kind of the window is `tray` or `named`.
    pub fn icon(&self) -> Option<&str> {
        self.tray.as_ref().map(TrayProgram::icon)
    }

    /// Returns the id of the window.
    pub fn window(&self) -> String {
        let mut found = None;
        eventually("the window is there", || {
            found = self.find();
            found.is_some()
        });
        found.expect("it was found")
    }

    /// Returns the id of the window that has a title.
    pub fn window_of(&self, title: &str) -> String {
        let listing = self.server.displays().list().expect("a listing");
        let found = listing.windows.into_iter().find(|window| window.title == title && window.mapped);
        found.expect("the window is there").id
    }

    /// Has the display say that the user works in the window.
    pub fn activate(&self) {
        let number = self.window().rsplit_once("/0x").map(|(_, number)| u32::from_str_radix(number, 16));
        let number = number.expect("a window").expect("a number");
        let root = self.client.screen().root;
        self.client.numbers(root, "_NET_ACTIVE_WINDOW", x11rb::protocol::xproto::AtomEnum::WINDOW, &[number]);
        self.client.sync();
    }

    fn find(&self) -> Option<String> {
        let listing = self.server.displays().list().expect("a listing");
        listing.windows.into_iter().find(|window| window.title == self.title && window.mapped).map(|it| it.id)
    }

    /// Gives the window the keyboard, as a window manager does, and returns its number.
    pub fn focus(&self) -> u32 {
        let id = self.window();
        let number = id.rsplit_once("/0x").and_then(|(_, number)| u32::from_str_radix(number, 16).ok());
        let number = number.expect("a window's id");
        self.client
            .connection
            .set_input_focus(x11rb::protocol::xproto::InputFocus::PARENT, number, x11rb::CURRENT_TIME)
            .expect("sent");
        self.client.sync();
        number
    }

    /// Waits until nobody has used pointer and keyboard for a while; the start of the display counts.
    pub fn rest(&self) {
        self.client.rest();
    }

    /// Returns what was typed into the window of the kind `pad`.
    pub fn text(&mut self) -> String {
        let lines = self.change("text");
        let line = lines.iter().rfind(|line| line.starts_with('"')).expect("the text");
        serde_json::from_str(line).expect("a JSON string")
    }

    /// Waits for the next line that the program prints.
    pub fn next(&self) -> String {
        self.lines.recv_timeout(*PATIENCE).expect("the program prints a line")
    }

    /// Has the window changed, and returns what the program has received before.
    pub fn change(&mut self, words: &str) -> Vec<String> {
        writeln!(self.input, "{words}").expect("the program reads");
        let mut received = Vec::new();
        loop {
            match self.next() {
                line if line == "done" => return received,
                line => received.push(line),
            }
        }
    }

    /// Returns what the program has received until now.
    pub fn received(&mut self) -> Vec<String> {
        self.change("nothing")
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.program.0), signal).expect("it lives");
    }

    /// Ends the program.
    pub fn kill(&mut self) {
        let _ = self.program.0.kill();
        let _ = self.program.0.wait();
    }
}

/// The registry of accessible programs, which the bus starts when it is asked for, and which does not end with the bus.
struct Registry(PathBuf);

impl Registry {
    /// Returns where its process id is.
    fn file(folder: &Path) -> PathBuf {
        folder.join("registry.pid")
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let id = fs::read_to_string(&self.0).ok().and_then(|id| id.trim().parse().ok());
        if let Some(id) = id.and_then(Pid::from_raw) {
            let _ = kill_process(id, Signal::KILL);
        }
    }
}

/// Starts a bus with a registry of accessible programs.
fn start_bus(folder: &Path, address: &str) -> Program {
    let services = folder.join("services");
    fs::create_dir(&services).expect("a folder of the test");
    let script = folder.join("registry");
    let run = format!("echo $$ >{}\nexec /usr/libexec/at-spi2-registryd\n", Registry::file(folder).display());
    fs::write(&script, run).expect("a file of the test");
    let service =
        format!("[D-BUS Service]\nName=org.a11y.atspi.Registry\nExec=/bin/sh {}\n", script.display());
    fs::write(services.join("registry.service"), service).expect("a file of the test");
    let config = format!(
        "<busconfig><type>session</type><listen>{address}</listen><auth>EXTERNAL</auth>\
         <servicedir>{}</servicedir><policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/>\
         <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy>\
         <limit name=\"max_replies_per_connection\">50000</limit></busconfig>",
        services.display()
    );
    let file = folder.join("bus.conf");
    fs::write(&file, config).expect("a file of the test");
    let child: Child = Command::new("dbus-daemon")
        .arg(format!("--config-file={}", file.display()))
        .args(["--nofork", "--nopidfile"])
        .env("AT_SPI_BUS_ADDRESS", address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("dbus-daemon starts");
    Program(child)
}
