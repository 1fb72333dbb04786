//! The beginning of a connection over TLS.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use bailiwick_config::TlsConfig;
use bailiwick_contract::Failure;
use bailiwick_platform::dirs::Dirs;

use super::super::stream::NotedStream;
use super::certificate::Identity;

/// The first byte of a TLS connection.
///
/// # Source
/// RFC 8446 §5.1: `ContentType.handshake`.
const HANDSHAKE: u8 = 22;
/// What a client that does not encrypt gets.
const ANSWER: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 42\r\nConnection: close\r\n\r\n\
                        This port is encrypted: use https instead.";

/// Encrypts the connections of a listener.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
    fingerprint: String,
}

impl Tls {
    /// Opens the certificate that is configured, or the one that Bailiwick makes for these names.
    ///
    /// # Errors
    /// As [`Identity::open`].
    pub fn open(config: &TlsConfig, dirs: &Dirs, names: &[String]) -> Result<Self, Failure> {
        let identity = Identity::open(config, dirs, names)?;
        Ok(Self { acceptor: TlsAcceptor::from(identity.config), fingerprint: identity.fingerprint })
    }

    /// Returns the SHA-256 of the certificate.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Does the handshake. `None` if the client ends it, or does not encrypt; then it is answered so. Takes as long as the
    /// client does: the caller bounds it.
    pub async fn accept(&self, mut stream: NotedStream) -> Option<TlsStream<NotedStream>> {
        let mut first = [0];
        if stream.stream.peek(&mut first).await.ok()? == 0 {
            return None;
        }
        if first == [HANDSHAKE] {
            let mut stream = self.acceptor.accept(stream).await.ok()?;
            let (transport, session) = stream.get_mut();
            transport.connection.await_requests();
            // What came along with the end of the handshake is the beginning of a head.
            if session.process_new_packets().ok()?.plaintext_bytes_to_read() > 0 {
                transport.connection.heard();
            }
            return Some(stream);
        }
        stream.write_all(ANSWER).await.ok()?;
        stream.shutdown().await.ok()?;
        // What was sent is taken, so that the client sees the answer and not a broken connection.
        let mut taken = [0; 4_096];
        while stream.read(&mut taken).await.is_ok_and(|bytes| bytes > 0) {}
        None
    }
}
