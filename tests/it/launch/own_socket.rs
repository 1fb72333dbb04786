//! The local socket of a service, from commands that Bailiwick started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use bailiwick::contract::command::{Containment, Network};
use bailiwick::platform::local_socket::Listener;
use tokio::io::AsyncWriteExt;

use super::place::{LaunchFixture, probe_program, shell, single, wait_for};
use crate::needs::available;

/// A socket in a folder of its own, whose path is short enough for one.
struct Socket(PathBuf);

impl Socket {
    /// Serves anyone who is allowed in, and says so.
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("s{}", std::process::id()));
        wait_for(async {
            let listener = Listener::bind(&folder.join("socket")).expect("bound");
            tokio::spawn(async move {
                while let Ok(mut stream) = listener.accept().await {
                    let _ = stream.write_all(b"let in\n").await;
                }
            });
        });
        Self(folder)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_bailiwick_started_is_not_the_user_at_its_socket() {
    let mut place = LaunchFixture::new();
    place.network = Network::Full;
    let (program, folder) = (probe_program(), Socket::new());
    let socket = folder.0.join("socket");
    let socket = socket.to_str().expect("text");
    let program = program.to_str().expect("text");
    place.read_only = vec![Path::new(program).to_owned()];
    let connect = |place: &LaunchFixture, level| {
        place.run(level, single(&[program, "connect", socket])).out().to_owned()
    };

    let own = Command::new(program).args(["connect", socket]).output().expect("it starts");
    assert_eq!(String::from_utf8_lossy(&own.stdout), "let in\n\n", "the user's own programs are allowed in");
    for level in available() {
        let answer = connect(&place, level);
        let expected = if level == Containment::Full { "No such file" } else { "closed" };
        assert!(answer.contains(expected), "{level}: {answer}");
        // One that has lost its parent and left its session, by the time that it connects.
        let script = format!(
            "(setsid sh -c '{program} connect {socket} > made; mv made answer' &); while ! test -e answer; do sleep 0.05; done; cat answer"
        );
        let answer = place.run(level, shell(&script)).out().to_owned();
        assert!(answer.contains(expected), "{level}: {answer}");
        fs::remove_file(place.root().join("answer")).expect("it was made");
        // Another name on its command line makes no difference.
        let script = format!("exec -a bailiwick {program} connect {socket}");
        let answer = place.run(level, single(&["bash", "-c", &script])).out().to_owned();
        assert!(answer.contains(expected), "{level}: {answer}");
    }
}
