//! The local socket, by the same test on every system.

use std::fs;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{BindError, Listener, connect, split};

#[tokio::test]
async fn the_local_socket_serves_one_service_at_a_time_and_many_callers() {
    let folder = std::env::temp_dir().join(format!("bailiwick-socket-{}", bailiwick_contract::id::new_id()));
    let path = folder.join("run/bailiwick.sock");
    assert!(connect(&path).await.is_err(), "nobody is there");
    let listener = Listener::bind(&path).expect("free");
    assert!(matches!(Listener::bind(&path), Err(BindError::Running)));
    for caller in 0..3 {
        let (server, client) = tokio::join!(listener.accept(), connect(&path));
        let (mut from_client, mut to_client) = split(server.expect("accepted"));
        let (mut from_server, mut to_server) = split(client.expect("connected"));
        let mut heard = [0; 5];
        to_server.write_all(b"hello").await.expect("sent");
        from_client.read_exact(&mut heard).await.expect("heard");
        assert_eq!(&heard, b"hello", "{caller}");
        to_client.write_all(b"there").await.expect("sent");
        from_server.read_exact(&mut heard).await.expect("heard");
        assert_eq!(&heard, b"there", "{caller}");
    }
    drop(listener);
    drop(Listener::bind(&path).expect("free again"));
    fs::remove_file(path.with_extension("lock")).expect("it was made");
    fs::remove_dir(folder.join("run")).expect("nothing else is left");
    fs::remove_dir(folder).expect("nothing else is left");
}
