//! TLS of the HTTP listener, as the config has it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The certificate of the HTTP listener. With neither of the two, Bailiwick makes a certificate of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct TlsConfig {
    /// A PEM file with the certificate, and those between it and its root, absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// A PEM file with its private key, absolute; only you may have access to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
}

impl TlsConfig {
    /// Returns the files of a given certificate and its key; `None` for one that Bailiwick makes.
    pub fn files(&self) -> Option<(&PathBuf, &PathBuf)> {
        self.certificate.as_ref().zip(self.key.as_ref())
    }

    /// Returns the field that is wrong, and how.
    pub(super) fn problem(&self) -> Option<(&'static str, &'static str)> {
        match (&self.certificate, &self.key) {
            (Some(_), None) => Some(("certificate", "a certificate needs its `key`")),
            (None, Some(_)) => Some(("key", "a key needs its `certificate`")),
            (Some(it), _) if !it.is_absolute() => Some(("certificate", "an absolute path was expected")),
            (_, Some(it)) if !it.is_absolute() => Some(("key", "an absolute path was expected")),
            _ => None,
        }
    }
}
