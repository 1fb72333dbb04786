//! Connections over TLS: with a certificate that is made or given, and what a client that does it wrong gets.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bailiwick::adapters::http::{HttpSettings, Server, certificate_path};
use bailiwick::config::TlsConfig;
use bailiwick::platform::fs::{Secrecy, read_own_file, replace_private_file};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use crate::patience::PATIENCE;
use support::http_client::{Reply, parse, request, send};
use support::server::TestServer;

const STAT: &str = r#"{"scope":"app","op":"file.stat"}"#;

pub(super) fn encrypted(house: &TestServer) -> HttpSettings {
    HttpSettings { tls: Some(TlsConfig::default()), ..house.settings() }
}

/// Connects as a client that trusts the certificate that Bailiwick has made, under a name.
pub(super) async fn connect(
    house: &TestServer,
    address: SocketAddr,
    name: &str,
) -> io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
    let certificate = CertificateDer::from_pem_file(certificate_path(&house.dirs)).expect("a certificate");
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("trusted");
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).expect("a name");
    let stream = TcpStream::connect(address).await?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

async fn ask(house: &TestServer, address: SocketAddr, name: &str) -> io::Result<Reply> {
    let mut stream = connect(house, address, name).await?;
    let (host, bearer) = (address.to_string(), format!("Bearer {}", house.token));
    let headers =
        [("Host", host.as_str()), ("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    stream.write_all(request("POST", "/api/v1/operations", &headers, STAT).as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(parse(&answer))
}

/// Reads until the listener closes the connection.
async fn until_closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut answer = Vec::new();
    let read = tokio::time::timeout(*PATIENCE, stream.read_to_end(&mut answer)).await;
    let _ = read.expect("the listener closes it");
    answer
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_made_certificate_is_good_for_its_names_alone_and_is_kept() {
    let mut house = TestServer::new();
    let address = house.http_with(encrypted(&house)).await;
    for name in ["localhost", "127.0.0.1", "::1"] {
        assert_eq!(ask(&house, address, name).await.expect("trusted").status, 200, "{name}");
    }
    assert!(ask(&house, address, "other.example").await.is_err(), "another name");
    let path = certificate_path(&house.dirs);
    let before = fs::read(&path).expect("a certificate");
    // Nobody else can read the key.
    read_own_file(&path.with_file_name("key.pem"), Secrecy::Secret, 1 << 20).expect("private");
    house.http_with(encrypted(&house)).await;
    assert_eq!(fs::read(&path).expect("a certificate"), before, "it is kept");
    // Under a further name there has to be another.
    let settings = HttpSettings { allowed_hosts: vec!["other.example:8443".to_owned()], ..encrypted(&house) };
    let further = house.http_with(settings).await;
    assert_ne!(fs::read(&path).expect("a certificate"), before);
    assert_eq!(ask(&house, further, "other.example").await.expect("trusted").status, 200);
    // A file that was damaged is made again.
    replace_private_file(&path.with_file_name("key.pem"), b"damaged").expect("written");
    let again = house.http_with(encrypted(&house)).await;
    assert_eq!(ask(&house, again, "localhost").await.expect("trusted").status, 200);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_given_certificate_is_served_and_one_that_cannot_be_is_refused_by_its_field() {
    let mut house = TestServer::new();
    // Two pairs, made by two starts.
    house.http_with(encrypted(&house)).await;
    let made = certificate_path(&house.dirs);
    let [certificate, key, other] = ["given.pem", "given-key.pem", "other-key.pem"].map(|it| house.path(it));
    let copy = |from: &std::path::Path, to: &std::path::Path| {
        replace_private_file(to, &fs::read(from).expect("readable")).expect("written");
    };
    copy(&made, &certificate);
    copy(&made.with_file_name("key.pem"), &key);
    let settings = HttpSettings { allowed_hosts: vec!["other.example".to_owned()], ..encrypted(&house) };
    house.http_with(settings).await;
    copy(&made.with_file_name("key.pem"), &other);
    let given = |certificate: &std::path::Path, key: &std::path::Path| HttpSettings {
        tls: Some(TlsConfig { certificate: Some(certificate.to_owned()), key: Some(key.to_owned()) }),
        ..house.settings()
    };
    let wrong = house.path("wrong.pem");
    fs::write(&wrong, "no PEM").expect("written");
    for (certificate, key, field, problem) in [
        (&certificate, &other, "http.tls.key", "it is not the key of the certificate"),
        (&certificate, &certificate, "http.tls.key", "no private key"),
        (&wrong, &key, "http.tls.certificate", "no certificate in it"),
        (&house.path("missing"), &key, "http.tls.certificate", "does not exist"),
        (&certificate, &house.path("missing"), "http.tls.key", "does not exist"),
    ] {
        let bound =
            Server::bind(Arc::clone(&house.service), Arc::clone(&house.keys), given(certificate, key)).await;
        let failure = bound.err().expect("refused");
        let text = serde_json::to_string(&failure.details).expect("JSON");
        assert!(failure.message.contains(problem), "{failure}");
        assert!(failure.to_string().contains(field) || text.contains(field), "{failure} {text}");
    }
    let settings = given(&certificate, &key);
    copy(&certificate, &made);
    let address = house.http_with(settings).await;
    assert_eq!(ask(&house, address, "localhost").await.expect("trusted").status, 200);
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_encrypt_is_answered_so_and_no_request_of_it_is_served() {
    let mut house = TestServer::new();
    let address = house.http_with(encrypted(&house)).await;
    let bearer = format!("Bearer {}", house.token);
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    for (method, path, body) in [("POST", "/api/v1/operations", STAT), ("GET", "/healthz", "")] {
        let reply = send(address, method, path, &headers, body).await;
        assert_eq!((reply.status, reply.body.as_str()), (400, "This port is encrypted: use https instead."));
    }
    // What begins as TLS and is none, and what ends at once.
    for bytes in [&b"\x16\x03\x01\x00\x05hello"[..], b"\x16", b""] {
        let mut stream = TcpStream::connect(address).await.expect("accepted");
        stream.write_all(bytes).await.expect("written");
        stream.shutdown().await.expect("ended");
        let answer = until_closed(&mut stream).await;
        assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    }
    assert_eq!(ask(&house, address, "localhost").await.expect("it still serves").status, 200);
    // And TLS where nothing is encrypted.
    let plain = house.http().await;
    assert!(connect(&house, plain, "localhost").await.is_err());
    house.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshakes_that_do_not_end_keep_nobody_waiting_and_are_given_up() {
    let mut house = TestServer::new();
    let address = house.http_with(encrypted(&house)).await;
    let mut waiting = Vec::new();
    // More than there are places.
    for number in 0..500 {
        let mut stream = TcpStream::connect(address).await.expect("accepted");
        if number % 2 == 0 {
            stream.write_all(b"\x16\x03\x01").await.expect("written");
        }
        waiting.push(stream);
    }
    let asked = tokio::time::timeout(*PATIENCE, ask(&house, address, "localhost")).await;
    assert_eq!(asked.expect("in time").expect("trusted").status, 200);
    // The newest that began has a place: the listener gives it up after the time for a head.
    until_closed(&mut waiting[498]).await;
    house.end().await;
}
