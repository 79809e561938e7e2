//! An authenticator with its browser, as pages see them: makes passkeys and signs challenges.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// A key pair.
enum Pair {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// An authenticator with one passkey. Tests change its fields to make it lie.
pub(crate) struct Authenticator {
    pair: Pair,
    /// The credential's ID.
    pub(crate) id: Vec<u8>,
    /// The origin of the page.
    pub(crate) origin: String,
    /// The host for which the passkey is.
    pub(crate) party: String,
    /// The signature counter; every response counts.
    pub(crate) counter: u32,
    /// Whether it counts.
    pub(crate) counts: bool,
    /// The flags of its data: somebody was there, and was verified.
    pub(crate) flags: u8,
    /// Further members of the client data.
    pub(crate) client_data: Value,
}

impl Authenticator {
    /// A new one for the site with this origin: with ECDSA, or with Ed25519.
    pub(crate) fn new(origin: &str, id: &[u8], is_ecdsa: bool) -> Self {
        let random = SystemRandom::new();
        let pair = if is_ecdsa {
            let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
            Pair::P256(EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &random).unwrap())
        } else {
            let key = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
            Pair::Ed25519(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
        };
        let host = origin.split_once("://").unwrap().1;
        Authenticator {
            pair,
            id: id.to_vec(),
            origin: origin.to_owned(),
            party: host.split_once(':').map_or(host, |(host, _)| host).to_owned(),
            counter: 0,
            counts: true,
            flags: 0x05,
            client_data: json!({"crossOrigin": false}),
        }
    }

    fn client_data(&self, kind: &str, challenge: &str) -> Vec<u8> {
        let mut data = json!({"type": kind, "challenge": challenge, "origin": self.origin});
        for (name, value) in self.client_data.as_object().unwrap() {
            data[name] = value.clone();
        }
        data.to_string().into_bytes()
    }

    fn data(&mut self, flags: u8) -> Vec<u8> {
        self.counter += u32::from(self.counts);
        [&Sha256::digest(&self.party)[..], &[flags], &self.counter.to_be_bytes()].concat()
    }

    fn cose(&self) -> Vec<u8> {
        match &self.pair {
            Pair::P256(pair) => {
                let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
                let start = [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20];
                [&start[..], x, &[0x22, 0x58, 0x20], y].concat()
            }
            Pair::Ed25519(pair) => {
                let start = [0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20];
                [&start[..], pair.public_key().as_ref()].concat()
            }
        }
    }

    /// The response to a challenge for a new passkey.
    pub(crate) fn create(&mut self, challenge: &str) -> Value {
        let length = u16::try_from(self.id.len()).unwrap().to_be_bytes();
        let data = [&self.data(self.flags | 0x40)[..], &[0; 16], &length, &self.id, &self.cose()].concat();
        let client_data = self.client_data("webauthn.create", challenge);
        json!({"clientDataJSON": BASE64.encode(client_data), "authenticatorData": BASE64.encode(data)})
    }

    /// The response to a challenge, signed. `handle` is the user's handle, of a discoverable passkey.
    pub(crate) fn get(&mut self, challenge: &str, handle: Option<&str>) -> Value {
        let (data, client_data) = (self.data(self.flags), self.client_data("webauthn.get", challenge));
        let message = [&data[..], &Sha256::digest(&client_data)].concat();
        let signature = match &self.pair {
            Pair::P256(pair) => pair.sign(&SystemRandom::new(), &message).unwrap().as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.sign(&message).as_ref().to_vec(),
        };
        json!({
            "id": BASE64.encode(&self.id), "clientDataJSON": BASE64.encode(client_data),
            "authenticatorData": BASE64.encode(data), "signature": BASE64.encode(signature), "userHandle": handle,
        })
    }
}
