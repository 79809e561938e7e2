//! Passkeys: log-in with a key pair of the user's device or password manager (Web Authentication, level 2, without attestation).
//!
//! The server stores nothing when it sends a challenge: a challenge has a signature of the site, and is valid for one purpose, one
//! browser and a limited time. A used challenge is stored with the user until it expires, so that no response is accepted twice.
//! Signatures are verified by `ring`; everything else of a response has a fixed layout.
//!
//! Source: <https://www.w3.org/TR/webauthn-2/>, sections 6.1, 7.1 and 7.2.

mod public_key;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use svc_model::UserId;

use self::public_key::PublicKey;
use crate::{RandomSourceError, Scheme, crypto, keys::Keys, stored::integer};

/// Algorithms of the keys, as COSE numbers them, the preferred one first: ECDSA with P-256, Ed25519, and RSA.
pub const ALGORITHMS: [i32; 3] = [-7, -8, -257];

/// Maximum number of passkeys of a user.
pub const MAX_PASSKEYS: usize = 20;

/// Maximum length of a passkey's name, in characters.
pub const MAX_NAME: usize = 60;

/// Time for which a challenge is valid, in seconds.
pub const LIFETIME: i64 = 3_600;

/// Maximum number of challenges that a user can use in their lifetime.
const MAX_USED: usize = 64;

/// Maximum length of a credential's ID, in bytes.
const MAX_ID: usize = 1_023;

/// Length of the random part of a challenge, in bytes.
const RANDOM: usize = 16;

/// Bits of the flags in authenticator data.
mod flag {
    pub(super) const PRESENT: u8 = 0x01;
    pub(super) const VERIFIED: u8 = 0x04;
    pub(super) const MAY_BE_BACKED_UP: u8 = 0x08;
    pub(super) const IS_BACKED_UP: u8 = 0x10;
    pub(super) const HAS_CREDENTIAL: u8 = 0x40;
}

/// Why a response of a browser is rejected. `Display` is a text for the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyFault {
    /// The response does not have the form of one.
    #[error("The response of the browser cannot be read.")]
    Unreadable,
    /// It was made on a page of another site, or for another site.
    #[error("The passkey was used on another site.")]
    OtherSite,
    /// The challenge is none of this site for this purpose and browser, or has expired.
    #[error("This page has expired. Try again.")]
    Expired,
    /// The challenge was used before.
    #[error("This response was used before. Try again.")]
    Used,
    /// The user has used as many challenges as are allowed at once.
    #[error("Passkeys of this account were used too often. Try again in an hour.")]
    TooOften,
    /// The passkey does not belong to this user.
    #[error("This passkey is not one of this account. It may have been removed.")]
    Unknown,
    /// The device has not verified the user, by a fingerprint, a PIN or the like.
    #[error(
        "The device has not verified you. Use a passkey with a fingerprint, a face or a PIN, or log in with your password."
    )]
    NotVerified,
    /// The signature is wrong.
    #[error("The signature of the passkey is wrong.")]
    WrongSignature,
    /// The signature counter is not greater than the last one: two devices have the key.
    #[error("This passkey seems to have been copied. Log in another way, and remove it.")]
    Counter,
    /// The key has an algorithm that was not offered, or an unexpected form.
    #[error("This kind of passkey is not supported.")]
    Unsupported,
    /// The user has this passkey.
    #[error("This passkey was added before.")]
    Known,
    /// The user has [`MAX_PASSKEYS`] passkeys.
    #[error("The account has as many passkeys as are allowed. Remove one first.")]
    Full,
}

/// The site as browsers and authenticators know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelyingParty {
    /// The host name.
    pub id: String,
    /// Scheme, host and port, as in the `Origin` header.
    pub origin: String,
}

impl RelyingParty {
    /// The site with this URL. `None` if browsers allow no passkeys there: they require a host name, and TLS or `localhost`.
    pub fn of_url(url: &str) -> Option<Self> {
        let url = url::Url::parse(url).ok()?;
        let id = url.domain()?.to_owned();
        let is_local = id == "localhost" || id.ends_with(".localhost");
        let is_secure = url.scheme() == "https" || (url.scheme() == "http" && is_local);
        is_secure.then(|| RelyingParty { id, origin: url.origin().ascii_serialization() })
    }
}

/// What a challenge is for. A response for one purpose is not valid for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To log in without a password. The device must verify the user.
    LogIn,
    /// The second factor after the password.
    SecondFactor,
    /// To confirm a change of the own account.
    Confirm,
    /// To add a passkey.
    Add,
}

impl Purpose {
    fn name(self) -> &'static str {
        match self {
            Purpose::LogIn => "log-in",
            Purpose::SecondFactor => "second-factor",
            Purpose::Confirm => "confirm",
            Purpose::Add => "add",
        }
    }
}

/// The exchange of a challenge and a response with one browser.
#[derive(Clone)]
pub struct Ceremony {
    /// The keys of the site, which sign challenges.
    pub keys: Keys,
    /// The site.
    pub party: RelyingParty,
    /// What the challenge is for.
    pub purpose: Purpose,
    /// What only this browser has: the token of a session, or the value of a cookie.
    pub browser: String,
    /// Seconds since the epoch.
    pub now: i64,
}

/// A challenge that was used: its random part, and when it expires, in seconds since the epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct UsedChallenge {
    random: String,
    expires: i64,
}

impl Ceremony {
    /// A new challenge, for the script of the page.
    ///
    /// # Errors
    /// If the operating system provides no random bytes.
    pub fn challenge(&self) -> Result<String, RandomSourceError> {
        let mut random = [0; RANDOM];
        getrandom::fill(&mut random).map_err(|_| RandomSourceError)?;
        let expires = self.now.saturating_add(LIFETIME).to_be_bytes();
        Ok(BASE64.encode([&expires[..], &random, &self.signature(expires, random)].concat()))
    }

    fn signature(&self, expires: [u8; 8], random: [u8; RANDOM]) -> [u8; 32] {
        let key = crypto::hmac_sha256(self.keys.key(Scheme::Auth), b"svc passkey challenge");
        let text = format!("{}|{}|{}|", self.purpose.name(), self.party.origin, self.browser);
        crypto::hmac_sha256(&key, &[text.as_bytes(), &expires, &random].concat())
    }

    /// Checks what the browser says about the page and the challenge.
    fn check_client_data(&self, client_data: &[u8], kind: &str) -> Result<UsedChallenge, PasskeyFault> {
        let data: Value = serde_json::from_slice(client_data).map_err(|_| PasskeyFault::Unreadable)?;
        if data["type"] != kind {
            return Err(PasskeyFault::Unreadable);
        }
        // A frame on a page of another site is another site.
        if data["origin"] != *self.party.origin || data["crossOrigin"] == true || !data["topOrigin"].is_null() {
            return Err(PasskeyFault::OtherSite);
        }
        let challenge = data["challenge"].as_str().and_then(|text| BASE64.decode(text).ok()).unwrap_or_default();
        let parts = challenge.split_first_chunk::<8>();
        let parts = parts.and_then(|(expires, rest)| Some((expires, rest.split_first_chunk::<RANDOM>()?)));
        let Some((expires, (random, signature))) = parts else { return Err(PasskeyFault::Expired) };
        let is_own = crypto::constant_time_eq(signature, &self.signature(*expires, *random));
        let until = i64::from_be_bytes(*expires);
        if !is_own || self.now > until {
            return Err(PasskeyFault::Expired);
        }
        Ok(UsedChallenge { random: BASE64.encode(random), expires: until })
    }

    /// Reads authenticator data and checks that it is of this site, and that somebody was there.
    fn check_authenticator_data<'a>(&self, data: &'a [u8]) -> Result<AuthenticatorData<'a>, PasskeyFault> {
        let read = || {
            let (party, rest) = data.split_first_chunk::<32>()?;
            let (flags, rest) = rest.split_first()?;
            let (counter, rest) = rest.split_first_chunk::<4>()?;
            Some((party, AuthenticatorData { flags: *flags, counter: u32::from_be_bytes(*counter), rest }))
        };
        let (party, data) = read().ok_or(PasskeyFault::Unreadable)?;
        if party[..] != Sha256::digest(&self.party.id)[..] {
            return Err(PasskeyFault::OtherSite);
        }
        let is_backed_up_only = data.has(flag::IS_BACKED_UP) && !data.has(flag::MAY_BE_BACKED_UP);
        if !data.has(flag::PRESENT) || is_backed_up_only {
            return Err(PasskeyFault::Unreadable);
        }
        Ok(data)
    }
}

/// The signed data of an authenticator.
struct AuthenticatorData<'a> {
    flags: u8,
    counter: u32,
    /// The new credential, and data of extensions.
    rest: &'a [u8],
}

impl AuthenticatorData<'_> {
    fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Binary members of a browser's response, which the page's script sends as JSON with Base64 texts.
fn member(response: &Value, name: &str) -> Option<Vec<u8>> {
    BASE64.decode(response[name].as_str()?.trim_end_matches('=')).ok()
}

/// What a browser returns for a new passkey.
#[derive(Clone)]
pub struct NewPasskey {
    client_data: Vec<u8>,
    authenticator_data: Vec<u8>,
}

impl NewPasskey {
    /// Reads the JSON object of the page's script. `None` if members are missing.
    pub fn read(text: &str) -> Option<Self> {
        let response: Value = serde_json::from_str(text).ok()?;
        let of = |name| member(&response, name);
        Some(NewPasskey { client_data: of("clientDataJSON")?, authenticator_data: of("authenticatorData")? })
    }
}

/// What a browser returns when a passkey is used.
#[derive(Clone)]
pub struct Assertion {
    id: Vec<u8>,
    client_data: Vec<u8>,
    authenticator_data: Vec<u8>,
    signature: Vec<u8>,
    user: Option<UserId>,
}

impl Assertion {
    /// Reads the JSON object of the page's script. `None` if members are missing.
    pub fn read(text: &str) -> Option<Self> {
        let response: Value = serde_json::from_str(text).ok()?;
        let of = |name| member(&response, name);
        Some(Assertion {
            id: of("id")?,
            client_data: of("clientDataJSON")?,
            authenticator_data: of("authenticatorData")?,
            signature: of("signature")?,
            user: of("userHandle").and_then(|handle| user_of_handle(&handle)),
        })
    }

    /// The user whose passkey it claims to be. Authenticators omit this for passkeys that the page named.
    pub fn user(&self) -> Option<UserId> {
        self.user
    }
}

/// The name of a user for authenticators: they keep one discoverable passkey for each host and handle, so it contains the site,
/// of which a host can have several.
pub fn user_handle(site_url: &str, user: UserId) -> String {
    let site = Sha256::digest(format!("svc passkeys|{site_url}"));
    BASE64.encode([&site[..16], &user.0.to_be_bytes()].concat())
}

fn user_of_handle(handle: &[u8]) -> Option<UserId> {
    let (site, id) = handle.split_last_chunk()?;
    (site.len() == 16).then(|| UserId(i64::from_be_bytes(*id)))
}

/// A passkey of a user, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passkey {
    /// The ID, in Base64 for URLs.
    pub id: String,
    /// The name that the user has chosen.
    pub name: String,
    /// When it was added, in seconds since the epoch.
    pub created: i64,
    /// When it was used last, in seconds since the epoch; 0 if never.
    pub used: i64,
    key: PublicKey,
    /// The last signature counter; 0 if the authenticator has none.
    counter: u32,
}

/// The passkeys of a user, and the challenges that they have used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Passkeys {
    list: Vec<Passkey>,
    used: Vec<UsedChallenge>,
}

impl Passkeys {
    /// Reads stored values. Passkeys that cannot be read are left out.
    pub(crate) fn from_value(stored: &Value) -> Self {
        let items = |name: &str| stored[name].as_array().cloned().unwrap_or_default();
        let text = |item: &Value, name: &str| item[name].as_str().map(str::to_owned);
        let number = |item: &Value, name: &str| item.get(name).and_then(integer).unwrap_or_default();
        let passkey = |item: &Value| {
            Some(Passkey {
                id: text(item, "id")?,
                name: text(item, "name").unwrap_or_default(),
                created: number(item, "created"),
                used: number(item, "used"),
                key: PublicKey::read(&BASE64.decode(item["key"].as_str()?).ok()?)?.0,
                counter: u32::try_from(number(item, "counter")).ok()?,
            })
        };
        let used =
            |item: &Value| Some(UsedChallenge { random: text(item, "challenge")?, expires: number(item, "expires") });
        Passkeys {
            list: items("passkeys").iter().filter_map(passkey).collect(),
            used: items("used").iter().filter_map(used).collect(),
        }
    }

    /// The lists to store, under the names `passkeys` and `used`.
    pub(crate) fn to_values(&self) -> [Value; 2] {
        let passkey = |passkey: &Passkey| {
            let Passkey { id, name, created, used, key, counter } = passkey;
            json!({"id": id, "name": name, "created": created, "used": used, "key": BASE64.encode(key.to_cose()), "counter": counter})
        };
        let used = |used: &UsedChallenge| json!({"challenge": used.random, "expires": used.expires});
        [self.list.iter().map(passkey).collect(), self.used.iter().map(used).collect()]
    }

    /// The passkeys, in the order in which they were added.
    pub fn list(&self) -> &[Passkey] {
        &self.list
    }

    /// Adds the passkey that a browser has made.
    ///
    /// # Errors
    /// Why the response is rejected. Nothing has changed then.
    pub fn add(&mut self, ceremony: &Ceremony, new: &NewPasskey, name: &str) -> Result<(), PasskeyFault> {
        let challenge = ceremony.check_client_data(&new.client_data, "webauthn.create")?;
        let data = ceremony.check_authenticator_data(&new.authenticator_data)?;
        if !data.has(flag::HAS_CREDENTIAL) {
            return Err(PasskeyFault::Unreadable);
        }
        let (id, key) = credential(data.rest).ok_or(PasskeyFault::Unsupported)?;
        let id = BASE64.encode(id);
        if self.list.iter().any(|known| known.id == id) {
            return Err(PasskeyFault::Known);
        }
        if self.list.len() >= MAX_PASSKEYS {
            return Err(PasskeyFault::Full);
        }
        self.use_up(challenge, ceremony.now)?;
        let name = match name.trim() {
            "" => "Passkey".to_owned(),
            name => name.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect(),
        };
        self.list.push(Passkey { id, name, created: ceremony.now, used: 0, key, counter: data.counter });
        Ok(())
    }

    /// Uses a passkey. The result must be stored, in the transaction that has read it: each challenge is accepted once.
    ///
    /// # Errors
    /// Why the response is rejected. Nothing has changed then.
    pub fn accept(&mut self, ceremony: &Ceremony, assertion: &Assertion) -> Result<(), PasskeyFault> {
        let challenge = ceremony.check_client_data(&assertion.client_data, "webauthn.get")?;
        let data = ceremony.check_authenticator_data(&assertion.authenticator_data)?;
        let id = BASE64.encode(&assertion.id);
        let at = self.list.iter().position(|passkey| passkey.id == id).ok_or(PasskeyFault::Unknown)?;
        let passkey = self.list.get(at).ok_or(PasskeyFault::Unknown)?;
        let signed = [&assertion.authenticator_data[..], &Sha256::digest(&assertion.client_data)].concat();
        if !passkey.key.verify(&signed, &assertion.signature) {
            return Err(PasskeyFault::WrongSignature);
        }
        if ceremony.purpose == Purpose::LogIn && !data.has(flag::VERIFIED) {
            return Err(PasskeyFault::NotVerified);
        }
        // Synchronized passkeys have no counter: it stays 0.
        if (data.counter != 0 || passkey.counter != 0) && data.counter <= passkey.counter {
            return Err(PasskeyFault::Counter);
        }
        let counter = data.counter;
        self.use_up(challenge, ceremony.now)?;
        if let Some(passkey) = self.list.get_mut(at) {
            passkey.counter = counter;
            passkey.used = ceremony.now;
        }
        Ok(())
    }

    /// Removes a passkey. Returns its name, or `None` if there is no such passkey.
    pub fn remove(&mut self, id: &str) -> Option<String> {
        let at = self.list.iter().position(|passkey| passkey.id == id)?;
        Some(self.list.remove(at).name)
    }

    /// Records that a challenge was used, until it expires.
    fn use_up(&mut self, challenge: UsedChallenge, now: i64) -> Result<(), PasskeyFault> {
        if self.used.iter().any(|used| used.random == challenge.random) {
            return Err(PasskeyFault::Used);
        }
        // A challenge that expires in this second is still valid.
        self.used.retain(|used| used.expires >= now);
        if self.used.len() >= MAX_USED {
            return Err(PasskeyFault::TooOften);
        }
        self.used.push(challenge);
        Ok(())
    }
}

/// The ID and the key of a new credential, after the model of the authenticator.
fn credential(data: &[u8]) -> Option<(&[u8], PublicKey)> {
    let (_model, rest) = data.split_first_chunk::<16>()?;
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let (id, key) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    let (key, _extensions) = PublicKey::read(key)?;
    (!id.is_empty() && id.len() <= MAX_ID).then_some((id, key))
}
