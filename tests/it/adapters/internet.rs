//! What replaces the internet in tests of tunnels: a proxy on loopback that takes connections to any name, has a
//! certificate for the names of tunnels, and passes what comes on to a port of this computer.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// The proxy. It ends with the runtime of its test.
pub struct Internet {
    pub address: SocketAddr,
    /// The certificate, for `SSL_CERT_FILE`.
    pub certificate: PathBuf,
    forward_to: Arc<AtomicU16>,
    is_cut: Arc<AtomicBool>,
}

impl Internet {
    /// Opens it, with a file for its certificate.
    pub async fn open(certificate: PathBuf) -> Self {
        let names = vec!["*.trycloudflare.com".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        std::fs::write(&certificate, made.cert.pem()).expect("written");
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("they belong together");
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (forward_to, is_cut) = (Arc::new(AtomicU16::new(0)), Arc::new(AtomicBool::new(false)));
        let (to, cut) = (Arc::clone(&forward_to), Arc::clone(&is_cut));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, to) = (acceptor.clone(), to.load(Ordering::SeqCst));
                let is_cut = cut.load(Ordering::SeqCst);
                tokio::spawn(pass_on(stream, acceptor, to, is_cut));
            }
        });
        Self { address, certificate, forward_to, is_cut }
    }

    /// Passes connections on to this port of the computer.
    pub fn forward_to(&self, port: u16) {
        self.forward_to.store(port, Ordering::SeqCst);
    }

    /// Cuts the tunnel, as seen from outside, or fixes it: its maker answers instead.
    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }
}

async fn pass_on(mut stream: TcpStream, acceptor: TlsAcceptor, port: u16, is_cut: bool) -> Option<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    assert!(head.starts_with(b"CONNECT "), "{}", String::from_utf8_lossy(&head));
    stream.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.ok()?;
    let mut stream = acceptor.accept(stream).await.ok()?;
    if is_cut {
        let mut request = [0_u8; 4_096];
        let _ = stream.read(&mut request).await;
        let answer = "HTTP/1.1 530 <none>\r\nContent-Length: 16\r\nConnection: close\r\n\r\nerror code: 1033";
        stream.write_all(answer.as_bytes()).await.ok()?;
        stream.shutdown().await.ok()?;
        return Some(());
    }
    let mut service = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    copy_bidirectional(&mut stream, &mut service).await.ok()?;
    Some(())
}
