//! Answers to challenges with TLS-ALPN-01 (RFC 8737): the authority connects with the protocol `acme-tls/1`, and expects a certificate that
//! contains a digest.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::{
    crypto::ring,
    pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    server::ClientHello,
    sign::CertifiedKey,
};

/// The protocol by which an authority asks.
pub(crate) const PROTOCOL: &[u8] = b"acme-tls/1";

/// The answers to the challenges of the current order, by name.
#[derive(Debug, Default)]
pub(crate) struct Challenges(Mutex<HashMap<String, Arc<CertifiedKey>>>);

/// The answers of an order. They are removed on drop.
pub(crate) struct Answers(Arc<Challenges>);

impl Challenges {
    /// Begins an order.
    pub(crate) fn begin(self: &Arc<Self>) -> Answers {
        Answers(Arc::clone(self))
    }

    /// Whether a client is an authority that asks.
    pub(crate) fn is_asked(hello: &ClientHello<'_>) -> bool {
        hello.alpn().is_some_and(|mut protocols| protocols.next() == Some(PROTOCOL) && protocols.next().is_none())
    }

    pub(crate) fn answer(&self, hello: &ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.map().get(&hello.server_name()?.to_ascii_lowercase()).cloned()
    }

    fn map(&self) -> MutexGuard<'_, HashMap<String, Arc<CertifiedKey>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answers {
    /// Answers questions about this name with this digest.
    pub(crate) fn add(&self, name: &str, digest: &[u8]) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new([name.to_owned()])?;
        params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
        let certificate = params.self_signed(&key)?.der().clone();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        // Without the check whether both fit: it refuses the extension with the digest, which is critical and unknown to it.
        let certified = CertifiedKey::new(vec![certificate], ring::sign::any_ecdsa_type(&key)?);
        self.0.map().insert(name.to_ascii_lowercase(), Arc::new(certified));
        Ok(())
    }
}

impl Drop for Answers {
    fn drop(&mut self) {
        self.0.map().clear();
    }
}
