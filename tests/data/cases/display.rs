//! The blocks `display` and `desktop`: a display of its own with windows.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bailiwick::platform::screen::{Rect, Sources};
use support::desktop::Desktop;
use support::screen::{Client, WindowManager, XServer};

/// A display, and the program whose windows it shows.
#[expect(clippy::large_enum_variant, reason = "a case has one of it")]
pub enum CaseDisplay {
    /// With windows that are painted.
    Painted {
        server: XServer,
        _client: Client,
        _manager: Option<WindowManager>,
        /// The number of the first window.
        first: Option<u32>,
    },
    /// With a window that has elements.
    Desktop(Box<Mutex<Desktop>>),
}

impl CaseDisplay {
    /// Starts a display of a size, such as `64x48`, with a window for each line: `X Y WIDTH HEIGHT RRGGBB TITLE`. With
    /// `managed` after the size it has a window manager.
    ///
    /// # Errors
    /// A sentence about the line that is none.
    pub fn start(argument: &str, content: &str) -> Result<Self, String> {
        let (size, is_managed) = match argument.split_once(' ') {
            Some((size, "managed")) => (size, true),
            Some(_) => return Err(format!("display: `{argument}` is no display")),
            None => (argument, false),
        };
        let server = XServer::with(&["-screen", "0", &format!("{size}x24")]);
        let client = server.client();
        let manager = is_managed.then(|| server.manage());
        let mut windows = Vec::new();
        for line in content.lines() {
            let wrong = || format!("display: `{line}` is no window");
            let mut words = line.splitn(6, ' ');
            let mut word = || words.next().ok_or_else(wrong);
            let (x, y) = (word()?.parse().map_err(|_| wrong())?, word()?.parse().map_err(|_| wrong())?);
            let (width, height) =
                (word()?.parse().map_err(|_| wrong())?, word()?.parse().map_err(|_| wrong())?);
            let colour = u32::from_str_radix(word()?, 16).map_err(|_| wrong())?;
            let place = Rect::new(x, y, width, height);
            if is_managed {
                windows.push(client.managed(place, word()?, true));
                continue;
            }
            let window = client.window(place, colour);
            client.text(window, "_NET_WM_NAME", "UTF8_STRING", word()?.as_bytes());
            client.text(window, "WM_CLASS", "STRING", b"painter\0Painter\0");
            windows.push(window);
        }
        if !is_managed {
            client.manage(&windows);
        }
        Ok(Self::Painted { server, _client: client, _manager: manager, first: windows.first().copied() })
    }

    /// Starts a display with a window that has elements, of a kind and a title.
    ///
    /// # Errors
    /// None here; where no display can be started, always.
    pub fn desktop(kind: &str, title: &str) -> Result<Self, String> {
        Ok(Self::Desktop(Box::new(Mutex::new(Desktop::start(kind, title)))))
    }

    /// Returns the id of the window that has elements.
    pub fn window(&self) -> Option<String> {
        match self {
            Self::Painted { .. } => None,
            Self::Desktop(desktop) => Some(locked(desktop).window()),
        }
    }

    /// Returns the id of the status icon that is there.
    pub fn icon(&self) -> Option<String> {
        match self {
            Self::Painted { .. } => None,
            Self::Desktop(desktop) => locked(desktop).icon().map(str::to_owned),
        }
    }

    /// Returns the display's id.
    pub fn id(&self) -> String {
        match self {
            Self::Painted { server, .. } => server.id(),
            Self::Desktop(desktop) => locked(desktop).server.id(),
        }
    }

    /// Returns how the ids of its windows begin: the server gives each of its clients numbers of its own, a multiple of
    /// 0x200000 and up, and which depends on who else has asked.
    pub fn windows(&self) -> Option<String> {
        let Self::Painted { first: Some(first), .. } = self else { return None };
        let base = first & !0x1f_ffff;
        Some(format!("{}/{:#x}", self.id(), base >> 8))
    }

    /// Returns where it is found.
    pub fn sources(&self) -> Sources {
        match self {
            Self::Painted { server, .. } => server.sources(),
            Self::Desktop(desktop) => locked(desktop).sources(),
        }
    }
}

fn locked(desktop: &Mutex<Desktop>) -> MutexGuard<'_, Desktop> {
    desktop.lock().unwrap_or_else(PoisonError::into_inner)
}
