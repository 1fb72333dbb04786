//! The certificate and its key: read from given files, or made here and kept in the state folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose, date_time_ymd};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::NoServerSessionStorage;
use tokio_rustls::rustls::{Error, InconsistentKeys, ServerConfig};

use crate::public_urls::pinned::fingerprint;
use bailiwick_config::TlsConfig;
use bailiwick_contract::time::now_ms;
use bailiwick_contract::{ErrorCode, Failure};
use bailiwick_platform::dirs::Dirs;
use bailiwick_platform::fs::{Secrecy, create_private_dir, read_own_file, replace_private_file};

/// The largest file of a certificate or a key.
const MAX_PEM_BYTES: u64 = 1 << 20;
const DAY: Duration = Duration::from_secs(86_400);
/// How long a certificate that is made here is valid.
///
/// # Source
/// Apple, "Requirements for trusted certificates in iOS 13 and macOS 10.15": 825 days at most.
const VALID: Duration = Duration::from_secs(825 * DAY.as_secs());
/// How long before its end another one is made.
const RENEWED_BEFORE: Duration = Duration::from_secs(30 * DAY.as_secs());

/// What a listener needs to encrypt.
pub struct Identity {
    /// The settings of the handshake.
    pub config: Arc<ServerConfig>,
    /// The SHA-256 of the certificate, as browsers and OpenSSL print it.
    pub fingerprint: String,
}

/// Returns the file of the certificate that is made here.
pub fn certificate_path(dirs: &Dirs) -> PathBuf {
    dirs.state.join("tls").join("certificate.pem")
}

impl Identity {
    /// Reads the given certificate, or the one that was made here; makes one for these names where there is none.
    ///
    /// # Errors
    /// `invalid_request` for files that cannot be used, `provider_unavailable` if none can be made.
    pub fn open(config: &TlsConfig, dirs: &Dirs, names: &[String]) -> Result<Self, Failure> {
        match config.files() {
            Some((certificate, key)) => Self::given(certificate, key),
            None => Self::own(dirs, names),
        }
    }

    fn given(certificate: &Path, key: &Path) -> Result<Self, Failure> {
        let chain = read("http.tls.certificate", certificate, Secrecy::Guarded)?;
        let secret = read("http.tls.key", key, Secrecy::Secret)?;
        Self::from_pem(&chain, &secret).map_err(|CertificateError { field, problem }| {
            let path = if field == "http.tls.key" { key } else { certificate };
            Failure::invalid(field, format!("`{}` cannot be used: {problem}", path.display()))
                .hint("For a certificate that Bailiwick makes, write `\"tls\": {}`.")
        })
    }

    fn own(dirs: &Dirs, names: &[String]) -> Result<Self, Failure> {
        let path = certificate_path(dirs);
        let key_path = path.with_file_name("key.pem");
        let failed = |problem: String| {
            Failure::new(ErrorCode::ProviderUnavailable, format!("no certificate can be made: {problem}"))
                .hint("`bailiwick doctor` checks the state folder.")
        };
        let kept = || {
            let (chain, _) = read_own_file(&path, Secrecy::Guarded, MAX_PEM_BYTES).ok()?;
            let (key, _) = read_own_file(&key_path, Secrecy::Secret, MAX_PEM_BYTES).ok()?;
            is_current(&chain, names, now_ms()).then(|| Self::from_pem(&chain, &key).ok()).flatten()
        };
        if let Some(identity) = kept() {
            return Ok(identity);
        }
        let (chain, key) = make(names, now_ms()).map_err(|error| failed(error.to_string()))?;
        create_private_dir(path.parent().expect("it is below the state folder"))
            .and_then(|()| replace_private_file(&key_path, key.as_bytes()))
            .and_then(|()| replace_private_file(&path, chain.as_bytes()))
            .map_err(|error| failed(error.to_string()))?;
        Self::from_pem(chain.as_bytes(), key.as_bytes()).map_err(|it| failed(it.problem))
    }

    fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let of_certificate = |problem: String| CertificateError { field: "http.tls.certificate", problem };
        let of_key = |problem: String| CertificateError { field: "http.tls.key", problem };
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain)
            .collect::<Result<_, _>>()
            .map_err(|error| of_certificate(error.to_string()))?;
        let Some(first) = chain.first() else {
            return Err(of_certificate("there is no certificate in it".to_owned()));
        };
        let fingerprint = fingerprint(first);
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| of_key("there is no private key without a password in it".to_owned()))?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| of_certificate(error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(|error| match error {
                Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                    of_key("it is not the key of the certificate".to_owned())
                }
                Error::InvalidCertificate(_) => of_certificate(error.to_string()),
                other => of_key(other.to_string()),
            })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self { config: Arc::new(config), fingerprint })
    }
}

/// Why a certificate and its key cannot be used.
struct CertificateError {
    field: &'static str,
    problem: String,
}

fn read(field: &'static str, path: &Path, secrecy: Secrecy) -> Result<Vec<u8>, Failure> {
    let read = read_own_file(path, secrecy, MAX_PEM_BYTES);
    read.map(|(content, _)| content).map_err(|error| {
        let failure = Failure::invalid(field, format!("`{}` cannot be read: {error}", path.display()));
        match secrecy {
            Secrecy::Secret => {
                failure.hint("The key is a file of your own, with the mode 0600, and no link.")
            }
            Secrecy::Guarded => failure.hint("Name a PEM file that nobody else can write."),
        }
    })
}

/// Creates a certificate for these names, and its key. The first line of the text is a note for [`is_current`].
fn make(names: &[String], now_ms: i64) -> Result<(String, String), rcgen::Error> {
    let key = KeyPair::generate()?;
    let now = Duration::from_millis(u64::try_from(now_ms).unwrap_or(0));
    let at = |since: Duration| date_time_ymd(1970, 1, 1) + Duration::from_secs(since.as_secs());
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "Bailiwick");
    // Clocks of other computers may be behind.
    params.not_before = at(now.saturating_sub(DAY));
    params.not_after = at(now + VALID - DAY);
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.self_signed(&key)?;
    let until_ms =
        now_ms.saturating_add(i64::try_from((VALID - DAY - RENEWED_BEFORE).as_millis()).unwrap_or(0));
    Ok((format!("{}{}", note(names, until_ms), certificate.pem()), key.serialize_pem()))
}

fn note(names: &[String], until_ms: i64) -> String {
    format!("# Made by Bailiwick for: {}; used until: {until_ms}\n", names.join(" "))
}

/// Returns whether a text that was made here is for these names, and is not too old.
fn is_current(text: &[u8], names: &[String], now_ms: i64) -> bool {
    let line = text.split_inclusive(|byte| *byte == b'\n').next().and_then(|line| str::from_utf8(line).ok());
    let until = line.and_then(|line| line.trim_end().rsplit_once(' ')?.1.parse::<i64>().ok());
    until.is_some_and(|until| now_ms < until && line == Some(&note(names, until)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_used_for_its_names_until_a_month_before_its_end() {
        let names = ["localhost".to_owned(), "192.0.2.7".to_owned()];
        let (chain, key) = make(&names, 1_000_000_000_000).expect("made");
        assert!(Identity::from_pem(chain.as_bytes(), key.as_bytes()).is_ok());
        let end =
            1_000_000_000_000 + i64::try_from((VALID - DAY - RENEWED_BEFORE).as_millis()).expect("small");
        let is_current = |names: &[String], at| is_current(chain.as_bytes(), names, at);
        assert!(is_current(&names, 1_000_000_000_000) && is_current(&names, end - 1));
        assert!(!is_current(&names, end) && !is_current(&names[..1], 1_000_000_000_000));
        assert!(!super::is_current(b"", &names, 0) && !super::is_current(b"\xff\n", &names, 0));
    }

    #[test]
    fn a_key_of_another_certificate_and_no_key_at_all_are_refused_by_field() {
        let names = ["localhost".to_owned()];
        let (chain, key) = make(&names, now_ms()).expect("made");
        let (_, other) = make(&names, now_ms()).expect("made");
        let field = |chain: &str, key: &str| {
            let made = Identity::from_pem(chain.as_bytes(), key.as_bytes());
            made.err().map(|it| (it.field, it.problem))
        };
        assert_eq!(field(&chain, &key), None);
        let problem = field(&chain, &other).expect("refused");
        assert_eq!(problem, ("http.tls.key", "it is not the key of the certificate".to_owned()));
        for (chain, key, wanted) in [
            (chain.as_str(), chain.as_str(), "http.tls.key"),
            (&chain, "", "http.tls.key"),
            ("", &key, "http.tls.certificate"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", &key, "http.tls.certificate"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n", &key, "http.tls.certificate"),
        ] {
            assert_eq!(field(chain, key).expect("refused").0, wanted, "{chain}\n{key}");
        }
    }
}
