//! The block `display`: a display of its own with windows.

use bailiwick::platform::screen::{Rect, Sources};
use support::screen::{Client, XServer};

/// A display, and the program whose windows it shows.
pub struct Shown {
    server: XServer,
    _client: Client,
    /// The number of the first window.
    first: Option<u32>,
}

impl Shown {
    /// Starts a display of a size, such as `64x48`, with a window for each line: `X Y WIDTH HEIGHT RRGGBB TITLE`.
    ///
    /// # Errors
    /// A sentence about the line that is none.
    pub fn start(size: &str, content: &str) -> Result<Self, String> {
        let server = XServer::with(&["-screen", "0", &format!("{size}x24")]);
        let client = server.client();
        let mut windows = Vec::new();
        for line in content.lines() {
            let wrong = || format!("display: `{line}` is no window");
            let mut words = line.splitn(6, ' ');
            let mut word = || words.next().ok_or_else(wrong);
            let (x, y) = (word()?.parse().map_err(|_| wrong())?, word()?.parse().map_err(|_| wrong())?);
            let (width, height) =
                (word()?.parse().map_err(|_| wrong())?, word()?.parse().map_err(|_| wrong())?);
            let colour = u32::from_str_radix(word()?, 16).map_err(|_| wrong())?;
            let window = client.window(Rect::new(x, y, width, height), colour);
            client.text(window, "_NET_WM_NAME", "UTF8_STRING", word()?.as_bytes());
            client.text(window, "WM_CLASS", "STRING", b"painter\0Painter\0");
            windows.push(window);
        }
        client.manage(&windows);
        Ok(Self { server, _client: client, first: windows.first().copied() })
    }

    /// Returns the display's id.
    pub fn id(&self) -> String {
        self.server.id()
    }

    /// Returns how the ids of its windows begin: the server gives each of its clients numbers of its own, a multiple of
    /// 0x200000 and up, and which depends on who else has asked.
    pub fn windows(&self) -> Option<String> {
        let base = self.first? & !0x1f_ffff;
        Some(format!("{}/{:#x}", self.id(), base >> 8))
    }

    /// Returns where it is found.
    pub fn sources(&self) -> Sources {
        self.server.sources()
    }
}
