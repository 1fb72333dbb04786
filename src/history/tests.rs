//! White-box tests of the store: they use SQLite directly, which nothing outside of this module may.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{EventDraft, HistoryHandle, HistorySettings, Phase};
use crate::contract::{Transport, id, time};

/// A temporary state folder, removed when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("bailiwick-history-{}", id::new_id()));
        std::fs::create_dir(&path).expect("a temporary folder");
        Self(path)
    }

    fn start(&self) -> HistoryHandle {
        start(&self.0)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Left behind only where a test has failed already.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn start(folder: &Path) -> HistoryHandle {
    HistoryHandle::start(HistorySettings {
        folder: folder.to_owned(),
        machine_id: "01JD0000000000000000000000".to_owned(),
        max_age_days: 90,
        max_megabytes: 64,
    })
}

fn event(target: &str) -> EventDraft {
    EventDraft {
        operation_id: id::new_id(),
        phase: Phase::Finished,
        at_ms: time::now_ms(),
        caller: "local".to_owned(),
        client: Some("test 1.0".to_owned()),
        session: Some("session-1".to_owned()),
        transport: Transport::Stdio,
        scope: Some("app".to_owned()),
        op: "file.read".to_owned(),
        target: Some(target.to_owned()),
        capability: None,
        stage: None,
        rule: None,
        code: None,
        duration_us: 120,
        bytes: 4_096,
        summary: "4096 bytes".to_owned(),
        error: None,
        template: json!({"scope": "app", "op": "file.read", "target": target, "options": {"maxBytes": 4096}}),
        has_effect: false,
    }
}

#[test]
fn appended_rows_are_on_disk_and_chained_when_answered() {
    let folder = Folder::new();
    let history = folder.start();
    for at in 0..10 {
        history.append(event(&format!("src/{at}.rs"))).expect("written");
    }
    let status = history.status();
    assert_eq!((status["ok"].clone(), status["headSeq"].clone()), (json!(true), json!(10)), "{status}");
}
