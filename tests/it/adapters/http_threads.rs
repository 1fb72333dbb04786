//! The threads on which connections are served.

use std::collections::HashMap;
use std::thread::ThreadId;

use bailiwick::adapters::http::ConnectionThreads;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

#[tokio::test]
async fn each_thread_gets_as_many_connections_as_the_others() {
    let threads = ConnectionThreads::start().expect("threads");
    let count = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let mut connections = JoinSet::new();
    let (note, mut noted) = mpsc::unbounded_channel();
    for _ in 0..2 * count {
        let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (client, note) = (client.expect("it listens"), note.clone());
        threads.handles().spawn(&mut connections, accepted.expect("it is accepted").0, |stream| async move {
            note.send(std::thread::current().id()).expect("the test waits");
            stream.readable().await.expect("the client stays");
            drop(client);
        });
    }
    let mut counts: HashMap<ThreadId, usize> = HashMap::new();
    for _ in 0..2 * count {
        *counts.entry(noted.recv().await.expect("each is served")).or_default() += 1;
    }
    assert_eq!(counts.len(), count);
    assert!(counts.values().all(|count| *count == 2), "{counts:?}");
    assert!(!counts.contains_key(&std::thread::current().id()), "none is served where it was accepted");
}
