//! What the tests of screens are on: X servers of their own, and a client that makes windows.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bailiwick::platform::screen::{Displays, Frame, Listing, Rect, Sources, Window};
use bailiwick::providers::screen::Picture;
use rustix::process::{Pid, Signal, kill_process};
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::sync::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConfigureWindowAux, ConnectionExt as _, CreateGCAux,
    CreateWindowAux, ImageFormat, PropMode, Screen, StackMode, WindowClass,
};
use x11rb::rust_connection::{DefaultStream, RustConnection};
use x11rb::wrapper::ConnectionExt as _;

use crate::patience::{PATIENCE, eventually};
use crate::temporary::TemporaryFolder;

const COOKIE: &[u8; 16] = b"sixteen bytes ok";

/// An X server that is ended with its value.
pub struct XServer {
    child: Child,
    /// Its number.
    pub number: u16,
    folder: TemporaryFolder,
}

impl XServer {
    /// Starts one with a screen of 640x480 and 24 bits.
    pub fn start() -> Self {
        Self::with(&["-screen", "0", "640x480x24"])
    }

    /// Starts one with such arguments, at a number that is free.
    pub fn with(arguments: &[&str]) -> Self {
        let folder = TemporaryFolder::new();
        let cookies = write_cookie(&folder.path().join("cookies"), COOKIE);
        loop {
            let number = next_number();
            let child = Command::new("Xvfb")
                .arg(format!(":{number}"))
                .args(["-noreset", "-extension", "GLX", "-nolisten", "tcp", "-nolisten", "local", "-auth"])
                .arg(&cookies)
                .args(arguments)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("Xvfb starts (on Debian: apt-get install xvfb)");
            let mut server = Self { child, number, folder: TemporaryFolder::new() };
            if server.is_up() {
                server.folder = folder;
                return server;
            }
        }
    }

    /// Waits until it listens, or has ended because the number was taken. (It would pick one itself by `-displayfd`,
    /// but then it makes no lock, and two that start at once take the same.)
    fn is_up(&mut self) -> bool {
        let lock = format!("/tmp/.X{}-lock", self.number);
        let mut has_ended = false;
        eventually("the X server listens, or has ended", || {
            has_ended = self.child.try_wait().expect("it is our child").is_some();
            let owner = fs::read_to_string(&lock).unwrap_or_default();
            let is_its_own = owner.trim() == self.child.id().to_string();
            has_ended || (is_its_own && UnixStream::connect(self.socket()).is_ok())
        });
        !has_ended
    }

    /// Returns the id of its display.
    pub fn id(&self) -> String {
        format!(":{}", self.number)
    }

    /// Returns displays of which there is this one alone.
    pub fn displays(&self) -> Displays {
        Displays::new(self.sources())
    }

    /// Returns where this one alone is found.
    pub fn sources(&self) -> Sources {
        let sockets = self.folder.path().join("sockets");
        if !sockets.exists() {
            fs::create_dir(&sockets).expect("a folder of the test");
            self.show_in(&sockets, self.number);
        }
        Sources { sockets, authority: Some(self.folder.path().join("cookies")), ..Sources::default() }
    }

    /// Puts its socket into a folder, as that of a display of such a number.
    pub fn show_in(&self, folder: &Path, number: u16) {
        let link = folder.join(format!("X{number}"));
        let _ = fs::remove_file(&link);
        symlink(self.socket(), link).expect("a link of the test");
    }

    /// Returns where it listens.
    pub fn socket(&self) -> PathBuf {
        PathBuf::from(format!("/tmp/.X11-unix/X{}", self.number))
    }

    /// Connects to it.
    pub fn client(&self) -> Client {
        let stream = UnixStream::connect(self.socket()).expect("the server listens");
        let (stream, _) = DefaultStream::from_unix_stream(stream).expect("a socket");
        let method = b"MIT-MAGIC-COOKIE-1".to_vec();
        let connection = RustConnection::connect_to_stream_with_auth_info(stream, 0, method, COOKIE.to_vec());
        Client { connection: connection.expect("the server lets us in") }
    }

    /// Starts a window manager on it, and waits until that manages.
    pub fn manage(&self) -> WindowManager {
        let home = TemporaryFolder::new();
        let child = Command::new("openbox")
            .arg("--sm-disable")
            .env_clear()
            .envs([("DISPLAY", self.id()), ("HOME", home.path().display().to_string())])
            .env("XAUTHORITY", self.folder.path().join("cookies"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("openbox starts (on Debian: apt-get install openbox)");
        let manager = WindowManager { child, _home: home, client: self.client() };
        let client = &manager.client;
        // It says that it is there before it listens, and forgets windows that come up between.
        let mut probe = client.inner(client.screen().root, Rect::new(0, 0, 20, 20), 0);
        let mut looks = 0;
        eventually("the window manager manages a window", || {
            looks += 1;
            if looks % 40 == 0 {
                client.connection.destroy_window(probe).expect("sent");
                probe = client.inner(client.screen().root, Rect::new(0, 0, 20, 20), 0);
            }
            client.has_property(probe, "WM_STATE")
        });
        client.connection.destroy_window(probe).expect("sent");
        client.sync();
        let (root, list) = (client.screen().root, client.atom("_NET_CLIENT_LIST"));
        eventually("the window manager has forgotten the window", || {
            let asked = client.connection.get_property(false, root, list, AtomEnum::WINDOW, 0, 64);
            let listed = asked.expect("sent").reply().expect("the server answers");
            listed.value32().is_none_or(|mut listed| listed.all(|window| window != probe))
        });
        manager
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it lives");
    }

    fn finish(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::CONT);
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

impl Drop for XServer {
    fn drop(&mut self) {
        self.finish();
    }
}

/// A window manager. It is ended with its value.
pub struct WindowManager {
    child: Child,
    _home: TemporaryFolder,
    /// So that no window of anybody else gets a number that the window manager has seen go.
    client: Client,
}

impl WindowManager {
    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it lives");
    }
}

impl Drop for WindowManager {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a number that no other test of this process has, and probably none of another.
fn next_number() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = std::process::id() % 199 * 100 + NEXT.fetch_add(1, Ordering::Relaxed);
    u16::try_from(1_000 + next % 20_000).expect("below 21000")
}

/// Writes a file with one cookie for any display.
pub fn write_cookie(path: &Path, cookie: &[u8]) -> PathBuf {
    let mut bytes = 65_535_u16.to_be_bytes().to_vec();
    for field in [b"".as_slice(), b"", b"MIT-MAGIC-COOKIE-1", cookie] {
        bytes.extend(u16::try_from(field.len()).expect("short").to_be_bytes());
        bytes.extend(field);
    }
    fs::write(path, bytes).expect("a file of the test");
    path.to_owned()
}

/// A program with windows.
pub struct Client {
    /// Its connection.
    pub connection: RustConnection,
}

impl Client {
    /// Waits until nobody has used pointer and keyboard for a while; the start of the display counts.
    pub fn rest(&self) {
        let connection = &self.connection;
        connection.sync_initialize(3, 1).expect("sent").reply().expect("an answer");
        let counters = connection.sync_list_system_counters().expect("sent").reply().expect("an answer");
        let idle = counters.counters.iter().find(|it| it.name == b"IDLETIME").expect("a clock").counter;
        eventually("nobody uses pointer and keyboard", || {
            let value = connection.sync_query_counter(idle).expect("sent").reply().expect("an answer");
            value.counter_value.lo > 1_000
        });
    }

    /// Returns the first screen.
    pub fn screen(&self) -> &Screen {
        &self.connection.setup().roots[0]
    }

    /// Waits until the server has done everything.
    pub fn sync(&self) {
        self.connection.sync().expect("the server answers");
    }

    /// Creates a window that the server paints in one colour, and shows it.
    pub fn window(&self, place: Rect, colour: u32) -> u32 {
        self.make(place, &CreateWindowAux::new().background_pixel(colour))
    }

    /// Creates a window without a frame where a window manager runs, and waits until that manages it. One that `stays`
    /// does nothing when it is asked to close.
    pub fn managed(&self, place: Rect, title: &str, stays: bool) -> u32 {
        let window = self.connection.generate_id().expect("a number");
        let ((x, y), (width, height)) = (origin(place), size(place));
        let look = CreateWindowAux::new().background_pixel(0x20_40_60);
        let (depth, visual) = (x11rb::COPY_DEPTH_FROM_PARENT, x11rb::COPY_FROM_PARENT);
        let (root, class) = (self.screen().root, WindowClass::INPUT_OUTPUT);
        self.connection
            .create_window(depth, window, root, x, y, width, height, 0, class, visual, &look)
            .expect("sent");
        self.text(window, "_NET_WM_NAME", "UTF8_STRING", title.as_bytes());
        self.text(window, "WM_CLASS", "STRING", b"painter\0Painter\0");
        // No decorations; the place and the size are the user's.
        let words = |name: &str, kind: &str, words: &[u32]| {
            let (name, kind) = (self.atom(name), self.atom(kind));
            self.connection.change_property32(PropMode::REPLACE, window, name, kind, words).expect("sent");
        };
        words("_MOTIF_WM_HINTS", "_MOTIF_WM_HINTS", &[2, 0, 0, 0, 0]);
        let mut hints = [0; 18];
        hints[0] = 1 | 2;
        words("WM_NORMAL_HINTS", "WM_SIZE_HINTS", &hints);
        if stays {
            words("WM_PROTOCOLS", "ATOM", &[self.atom("WM_DELETE_WINDOW")]);
        }
        self.connection.map_window(window).expect("sent");
        self.sync();
        // A new window gets the focus, a moment after it is managed.
        let until = Instant::now() + *PATIENCE;
        while !(self.has_property(window, "WM_STATE") && self.is_active(window)) {
            assert!(Instant::now() < until, "the window manager shows the window and gives it the focus");
            std::thread::sleep(Duration::from_millis(5));
        }
        window
    }

    fn is_active(&self, window: u32) -> bool {
        let name = self.atom("_NET_ACTIVE_WINDOW");
        let asked = self.connection.get_property(false, self.screen().root, name, AtomEnum::WINDOW, 0, 1);
        let active = asked.expect("sent").reply().expect("the server answers");
        active.value32().and_then(|mut active| active.next()) == Some(window)
    }

    /// Returns whether something is said of a window.
    pub fn has_property(&self, window: u32, name: &str) -> bool {
        let asked = self.connection.get_property(false, window, self.atom(name), AtomEnum::ANY, 0, 1);
        asked.expect("sent").reply().is_ok_and(|property| !property.value.is_empty())
    }

    /// Creates a window that the server never paints, and shows it.
    pub fn unpainted(&self, place: Rect) -> u32 {
        self.make(place, &CreateWindowAux::new())
    }

    /// Creates a window with another colour in every pixel ([`pattern`]), which the server paints, and shows it.
    pub fn patterned(&self, place: Rect) -> u32 {
        let connection = &self.connection;
        let (width, height) = size(place);
        let pixels: Vec<u8> = (0..place.height)
            .flat_map(|y| (0..place.width).map(move |x| (x, y)))
            .flat_map(|(x, y)| {
                let [red, green, blue] = pattern(x, y);
                [blue, green, red, 0]
            })
            .collect();
        let [pixmap, pen] = [0; 2].map(|_| connection.generate_id().expect("a number"));
        let root = self.screen().root;
        connection.create_pixmap(24, pixmap, root, width, height).expect("sent");
        connection.create_gc(pen, pixmap, &CreateGCAux::new()).expect("sent");
        connection
            .put_image(ImageFormat::Z_PIXMAP, pixmap, pen, width, height, 0, 0, 0, 24, &pixels)
            .expect("sent");
        self.make(place, &CreateWindowAux::new().background_pixmap(pixmap))
    }

    /// Creates a window that no encoder makes much smaller, and shows it.
    pub fn noisy(&self, place: Rect) -> u32 {
        let window = self.unpainted(place);
        let pen = self.connection.generate_id().expect("a number");
        self.connection.create_gc(pen, window, &CreateGCAux::new()).expect("sent");
        let width = u16::try_from(place.width).expect("small");
        let mut state = 1_u32;
        for row in 0..u16::try_from(place.height).expect("small") {
            let pixels: Vec<u8> = (0..place.width * 4)
                .map(|_| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    state.to_be_bytes()[0]
                })
                .collect();
            let row = i16::try_from(row).expect("small");
            self.connection
                .put_image(ImageFormat::Z_PIXMAP, window, pen, width, 1, 0, row, 0, 24, &pixels)
                .expect("sent");
        }
        self.sync();
        window
    }

    /// Creates a window that no window manager deals with, without a title.
    pub fn menu(&self, place: Rect, colour: u32) -> u32 {
        let window = self.connection.generate_id().expect("a number");
        let look = CreateWindowAux::new().background_pixel(colour).override_redirect(1);
        self.make_in(self.screen().root, window, place, &look);
        window
    }

    /// Takes a window off the screen.
    pub fn hide(&self, window: u32) {
        self.connection.unmap_window(window).expect("sent");
        self.sync();
    }

    /// Creates a window of one colour within another, and shows it.
    pub fn inner(&self, parent: u32, place: Rect, colour: u32) -> u32 {
        let window = self.connection.generate_id().expect("a number");
        self.make_in(parent, window, place, &CreateWindowAux::new().background_pixel(colour));
        window
    }

    fn make(&self, place: Rect, look: &CreateWindowAux) -> u32 {
        let window = self.connection.generate_id().expect("a number");
        self.make_in(self.screen().root, window, place, look);
        window
    }

    /// Makes a window of such a number in another, and shows it.
    pub fn make_in(&self, parent: u32, window: u32, place: Rect, look: &CreateWindowAux) {
        let ((x, y), (width, height)) = (origin(place), size(place));
        let (depth, visual) = (x11rb::COPY_DEPTH_FROM_PARENT, x11rb::COPY_FROM_PARENT);
        self.connection
            .create_window(
                depth,
                window,
                parent,
                x,
                y,
                width,
                height,
                0,
                WindowClass::INPUT_OUTPUT,
                visual,
                look,
            )
            .expect("sent")
            .check()
            .expect("the server makes it");
        self.connection.map_window(window).expect("sent");
        self.sync();
    }

    /// Moves and sizes a window.
    pub fn place(&self, window: u32, place: Rect) {
        let ((x, y), (width, height)) = (origin(place), size(place));
        let to = ConfigureWindowAux::new().x(i32::from(x)).y(i32::from(y));
        let to = to.width(u32::from(width)).height(u32::from(height));
        self.connection.configure_window(window, &to).expect("sent");
        self.sync();
    }

    /// Brings a window before all others.
    pub fn raise(&self, window: u32) {
        let to = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        self.connection.configure_window(window, &to).expect("sent");
        self.sync();
    }

    /// Has the server paint a window in another colour from now on.
    pub fn recolour(&self, window: u32, colour: u32) {
        let look = ChangeWindowAttributesAux::new().background_pixel(colour);
        self.connection.change_window_attributes(window, &look).expect("sent");
        self.connection.clear_area(false, window, 0, 0, 0, 0).expect("sent");
        self.sync();
    }

    /// Returns the number of a name.
    pub fn atom(&self, name: &str) -> u32 {
        self.connection.intern_atom(false, name.as_bytes()).expect("sent").reply().expect("a number").atom
    }

    /// Hangs a text on a window.
    pub fn text(&self, window: u32, name: &str, kind: &str, text: &[u8]) {
        let (name, kind) = (self.atom(name), self.atom(kind));
        self.connection.change_property8(PropMode::REPLACE, window, name, kind, text).expect("sent");
        self.sync();
    }

    /// Hangs numbers on a window.
    pub fn numbers(&self, window: u32, name: &str, kind: AtomEnum, numbers: &[u32]) {
        let name = self.atom(name);
        self.connection.change_property32(PropMode::REPLACE, window, name, kind, numbers).expect("sent");
        self.sync();
    }

    /// Tells, as a window manager does, which windows there are.
    pub fn manage(&self, windows: &[u32]) {
        self.numbers(self.screen().root, "_NET_CLIENT_LIST_STACKING", AtomEnum::WINDOW, windows);
    }

    /// Returns whether the server has an extension.
    pub fn has(&self, extension: &'static str) -> bool {
        self.connection.extension_information(extension).expect("the server answers").is_some()
    }
}

fn origin(place: Rect) -> (i16, i16) {
    (i16::try_from(place.x).expect("small"), i16::try_from(place.y).expect("small"))
}

fn size(place: Rect) -> (u16, u16) {
    (u16::try_from(place.width).expect("small"), u16::try_from(place.height).expect("small"))
}

/// Returns the colour of a pixel of [`Client::patterned`].
pub fn pattern(x: u32, y: u32) -> [u8; 3] {
    [x * 7, y * 5, x ^ y].map(|value| u8::try_from(value % 256).expect("below 256"))
}

/// Returns the id of a window.
pub fn window_id(server: &XServer, window: u32) -> String {
    format!("{}/{window:#x}", server.id())
}

/// Finds a window in a listing.
pub fn find<'a>(listing: &'a Listing, server: &XServer, window: u32) -> &'a Window {
    let id = window_id(server, window);
    listing.windows.iter().find(|known| known.id == id).unwrap_or_else(|| panic!("no {id} in {listing:?}"))
}

/// Reads a frame's pixels.
pub fn picture(frame: &Frame) -> Picture {
    Picture::of(frame).expect("the pixels are there")
}

/// Claims of every pixel of a part that it has the colour that a function tells of its place in the part.
pub fn assert_pixels(picture: &Picture, part: Rect, colour: impl Fn(u32, u32) -> [u8; 3]) {
    let (left, top) = (part.x.unsigned_abs(), part.y.unsigned_abs());
    for y in 0..part.height {
        for x in 0..part.width {
            assert_eq!(picture.pixel(left + x, top + y), Some(colour(x, y)), "{x},{y} of {part}");
        }
    }
}
