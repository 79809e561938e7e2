//! Two-factor log-in: the codes of an authenticator app (RFC 6238), passkeys and recovery codes, as they are stored with a user.
//!
//! The app's secret is stored encrypted with a key that derives from the site's keys: whoever reads the database, or a backup of it,
//! cannot compute codes. Recovery codes are stored as hashes, which need no key: they work after the site's keys were replaced.

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde_json::{Value, json};
use svc_model::UserId;
use totp_rs::Builder;

use crate::{RandomSourceError, Scheme, Secret, crypto, keys::Keys, passkey::Passkeys, stored::integer};

/// Key of the user meta.
pub const META_KEY: &str = "_svc_two_factor";

/// Number of recovery codes.
pub const N_RECOVERY_CODES: usize = 10;

/// Time for which a log-in waits for the code, in seconds.
pub const LOG_IN_LIFETIME: i64 = 600;

/// Time for which a new secret waits for its first code, in seconds.
pub const SET_UP_LIFETIME: i64 = 3_600;

/// Length of the app's secret, in bytes: that of the hash (RFC 4226, section 4).
const SECRET_LENGTH: usize = 20;

/// Time for which the app shows a code, in seconds.
const STEP: u64 = 30;

/// Number of earlier and later codes that are valid, since clocks differ.
const SKEW: u16 = 1;

/// Length of a recovery code, without hyphens. Each character has 5 bits.
const RECOVERY_LENGTH: usize = 16;

/// Letters and digits of recovery codes: none is taken for another one (as in Crockford's Base32).
const RECOVERY_ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Purposes of encrypted texts, which cannot be used for each other.
const STORED: &str = "stored";
const SET_UP: &str = "set-up";

/// A secret that the server shares with an authenticator app. `Debug` omits it.
#[derive(Clone, PartialEq, Eq)]
pub struct AppSecret([u8; SECRET_LENGTH]);

impl std::fmt::Debug for AppSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AppSecret(…)")
    }
}

impl AppSecret {
    /// A new secret.
    ///
    /// # Errors
    /// If the operating system provides no random bytes.
    pub fn generate() -> Result<Self, RandomSourceError> {
        random().map(AppSecret)
    }

    fn totp(&self) -> totp_rs::Totp {
        // Its own check refuses no secret of this length.
        Builder::new().with_secret(self.0.to_vec()).with_skew(SKEW).with_step_duration(STEP).build_noncompliant()
    }

    /// The secret as users type it into an app, in Base32.
    pub fn text(&self) -> Secret {
        Secret::new(self.totp().secret().to_base32())
    }

    /// The number of the 30 seconds in which the app shows this code, if they are now, just over or about to begin. `now` is in
    /// seconds since the epoch.
    fn step_of(&self, code: &str, now: i64) -> Option<i64> {
        let step = self.totp().check(code, u64::try_from(now).ok()?)?;
        i64::try_from(step).ok()
    }
}

/// Fills an array with random bytes.
fn random<const N: usize>() -> Result<[u8; N], RandomSourceError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| RandomSourceError)?;
    Ok(bytes)
}

/// The key for encrypted texts.
fn cipher(keys: &Keys) -> LessSafeKey {
    let key = crypto::hmac_sha256(keys.key(Scheme::Auth), b"svc two-factor secret");
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).expect("the key has the length of a SHA-256"))
}

fn encrypt(keys: &Keys, context: &str, secret: &AppSecret) -> Result<String, RandomSourceError> {
    let nonce: [u8; NONCE_LEN] = random()?;
    let mut text = secret.0.to_vec();
    let sealed = cipher(keys).seal_in_place_append_tag(
        Nonce::assume_unique_for_key(nonce),
        Aad::from(context.as_bytes()),
        &mut text,
    );
    sealed.map_err(|_| RandomSourceError)?;
    Ok(BASE64.encode([&nonce[..], &text].concat()))
}

fn decrypt(keys: &Keys, context: &str, text: &str) -> Option<AppSecret> {
    let mut bytes = BASE64.decode(text).ok()?;
    let (nonce, sealed) = bytes.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    let plain = cipher(keys).open_in_place(nonce, Aad::from(context.as_bytes()), sealed).ok()?;
    Some(AppSecret((&*plain).try_into().ok()?))
}

/// A new secret in the form that turns two-factor log-in on, encrypted. It is valid for this user and session until it expires:
/// nothing is stored before the first code was right. `session` identifies the session.
///
/// # Errors
/// If the operating system provides no random bytes.
pub fn set_up_text(
    keys: &Keys,
    user: UserId,
    session: &str,
    secret: &AppSecret,
    now: i64,
) -> Result<String, RandomSourceError> {
    let expires = now.saturating_add(SET_UP_LIFETIME);
    let sealed = encrypt(keys, &format!("{SET_UP}|{user}|{session}|{expires}"), secret)?;
    Ok(format!("{expires}.{sealed}"))
}

/// The secret in a text of [`set_up_text`]; `None` if it has expired, or is that of another user or session.
pub fn read_set_up(keys: &Keys, user: UserId, session: &str, text: &str, now: i64) -> Option<AppSecret> {
    let (expires, sealed) = text.split_once('.')?;
    let expires: i64 = expires.parse().ok()?;
    if now > expires {
        return None;
    }
    decrypt(keys, &format!("{SET_UP}|{user}|{session}|{expires}"), sealed)
}

/// How a code was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// It is one of the app.
    App,
    /// It is not a code but a passkey.
    Passkey,
    /// It is a recovery code, which is used up.
    Recovery,
}

/// The second factor of a user, as it is stored. `Debug` omits it.
#[derive(Clone, PartialEq, Eq)]
pub struct TwoFactor {
    /// The encrypted secret of the app; empty without an app.
    secret: String,
    /// The number of the last 30 seconds whose code was used.
    last_step: i64,
    /// Since when it is on, in seconds since the epoch.
    pub since: i64,
    /// Hashes of the unused recovery codes.
    recovery: Vec<String>,
    /// The passkeys.
    pub passkeys: Passkeys,
}

impl std::fmt::Debug for TwoFactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TwoFactor(…)")
    }
}

impl TwoFactor {
    /// A text that changes with the app and the passkeys, and when they are turned off and on.
    pub fn factors(&self) -> String {
        let ids = self.passkeys.list().iter().map(|passkey| passkey.id.as_str());
        [&*self.since.to_string(), &self.secret].into_iter().chain(ids).collect::<Vec<_>>().join("|")
    }

    /// A second factor that was turned on at this time, in seconds since the epoch. It must still get an app or a passkey.
    pub fn since(now: i64) -> Self {
        TwoFactor {
            secret: String::new(),
            last_step: 0,
            since: now,
            recovery: Vec::new(),
            passkeys: Passkeys::default(),
        }
    }

    /// Whether it has an app.
    pub fn has_app(&self) -> bool {
        !self.secret.is_empty()
    }

    /// Whether it has an app or a passkey. Recovery codes alone are no second factor.
    pub fn is_complete(&self) -> bool {
        self.has_app() || !self.passkeys.list().is_empty()
    }

    /// Sets the app, if the code is one of it. Returns whether it is.
    ///
    /// # Errors
    /// If the operating system provides no random bytes.
    pub fn set_app(
        &mut self,
        keys: &Keys,
        user: UserId,
        secret: &AppSecret,
        code: &str,
        now: i64,
    ) -> Result<bool, RandomSourceError> {
        let Some(last_step) = secret.step_of(&typed(code), now) else { return Ok(false) };
        self.secret = encrypt(keys, &stored_context(user), secret)?;
        self.last_step = last_step;
        Ok(true)
    }

    /// Removes the app.
    pub fn remove_app(&mut self) {
        self.secret.clear();
    }

    /// Reads the unserialized meta. A value that cannot be read has no valid code: the account stays closed.
    pub fn from_value(stored: &Value) -> Self {
        let number = |name: &str| stored.get(name).and_then(integer).unwrap_or_default();
        let hashes = stored["recovery"].as_array().into_iter().flatten().filter_map(Value::as_str);
        TwoFactor {
            secret: stored["secret"].as_str().unwrap_or_default().to_owned(),
            last_step: number("last_step"),
            since: number("since"),
            recovery: hashes.map(str::to_owned).collect(),
            passkeys: Passkeys::from_value(stored),
        }
    }

    /// The value to store.
    pub fn to_value(&self) -> Value {
        let [passkeys, used] = self.passkeys.to_values();
        json!({
            "secret": self.secret, "last_step": self.last_step, "since": self.since, "recovery": self.recovery,
            "passkeys": passkeys, "used": used,
        })
    }

    /// Number of recovery codes that are left.
    pub fn n_recovery_codes(&self) -> usize {
        self.recovery.len()
    }

    /// Uses a code of the app, or a recovery code. `None` if it is wrong or was used before; otherwise the state has changed and must
    /// be stored, in the transaction that has read it: each code is accepted once. `now` is in seconds since the epoch.
    pub fn accept(&mut self, keys: &Keys, user: UserId, code: &str, now: i64) -> Option<Accepted> {
        let code = typed(code);
        if let Some(step) = decrypt(keys, &stored_context(user), &self.secret).and_then(|s| s.step_of(&code, now)) {
            // Neither the last code nor an earlier one.
            if step <= self.last_step {
                return None;
            }
            self.last_step = step;
            return Some(Accepted::App);
        }
        let hash = recovery_hash(user, &code);
        let n_codes = self.recovery.len();
        self.recovery.retain(|stored| !crypto::constant_time_eq(stored.as_bytes(), hash.as_bytes()));
        (self.recovery.len() < n_codes).then_some(Accepted::Recovery)
    }

    /// Replaces all recovery codes. Returns the new ones, which are not stored.
    ///
    /// # Errors
    /// If the operating system provides no random bytes.
    pub fn renew_recovery_codes(&mut self, user: UserId) -> Result<Vec<Secret>, RandomSourceError> {
        let codes: Vec<Secret> = (0..N_RECOVERY_CODES).map(|_| recovery_code()).collect::<Result<_, _>>()?;
        self.recovery = codes.iter().map(|code| recovery_hash(user, &typed(code.expose()))).collect();
        Ok(codes)
    }

    /// What a log-in that waits for the second factor depends on.
    fn state(&self) -> String {
        format!("{}|{}", self.secret, self.since)
    }
}

/// The context of the stored secret: it belongs to one user.
fn stored_context(user: UserId) -> String {
    format!("{STORED}|{user}")
}

/// A code as it is compared: without the spaces and hyphens between its groups, in small letters.
fn typed(code: &str) -> String {
    code.chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .take(2 * RECOVERY_LENGTH)
        .collect::<String>()
        .to_ascii_lowercase()
}

/// A new recovery code, in groups of four characters.
fn recovery_code() -> Result<Secret, RandomSourceError> {
    let bytes: [u8; RECOVERY_LENGTH] = random()?;
    let text: Vec<char> = bytes.iter().map(|b| char::from(RECOVERY_ALPHABET[usize::from(b & 31)])).collect();
    let groups: Vec<String> = text.chunks(4).map(|group| group.iter().collect()).collect();
    Ok(Secret::new(groups.join("-")))
}

/// The stored form of a recovery code. A code has 80 random bits, so a fast hash is enough.
fn recovery_hash(user: UserId, code: &str) -> String {
    crypto::sha256_hex(format!("svc recovery code|{user}|{code}").as_bytes())
}

/// A log-in that waits for its code: the password was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingLogIn {
    /// The user.
    pub user: UserId,
    /// When it expires, in seconds since the epoch.
    pub expires: i64,
    /// Whether the browser shall keep the session when it is closed.
    pub remembered: bool,
}

impl PendingLogIn {
    /// The value of the cookie, signed. It is valid until the password or the second factor of the user changes. `pass` is the hash
    /// of the password.
    pub fn to_cookie(self, keys: &Keys, pass: &str, two_factor: &TwoFactor) -> Secret {
        let signature = self.signature(keys, pass, two_factor);
        Secret::new(format!("{}|{signature}", self.text()))
    }

    fn text(self) -> String {
        format!("{}|{}|{}", self.user, self.expires, u8::from(self.remembered))
    }

    fn signature(self, keys: &Keys, pass: &str, two_factor: &TwoFactor) -> String {
        let key = crypto::hmac_sha256(keys.key(Scheme::Auth), b"svc pending log-in");
        crypto::hex(&crypto::hmac_sha256(&key, format!("{}|{pass}|{}", self.text(), two_factor.state()).as_bytes()))
    }

    /// Reads a cookie. Its signature must still be checked, with the stored values of the user whom it names.
    pub fn read(value: &str) -> Option<(Self, &str)> {
        let (text, signature) = value.rsplit_once('|')?;
        let [user, expires, remembered] = text.split('|').collect::<Vec<_>>().try_into().ok()?;
        let pending = PendingLogIn {
            user: UserId(user.parse().ok()?),
            expires: expires.parse().ok()?,
            remembered: remembered == "1",
        };
        Some((pending, signature))
    }

    /// Whether the signature is that of this log-in, and it has not expired.
    pub fn is_valid(self, keys: &Keys, signature: &str, pass: &str, two_factor: &TwoFactor, now: i64) -> bool {
        let expected = self.signature(keys, pass, two_factor);
        crypto::constant_time_eq(signature.as_bytes(), expected.as_bytes()) && now <= self.expires
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: UserId = UserId(7);
    const NOW: i64 = 1_700_000_010;

    fn keys() -> Keys {
        Keys::new([("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")])
    }

    fn code(secret: &AppSecret, at: i64) -> String {
        secret.totp().generate(u64::try_from(at).unwrap()).to_string()
    }

    fn two_factor() -> (AppSecret, TwoFactor, Vec<Secret>) {
        let secret = AppSecret::generate().unwrap();
        let mut two_factor = TwoFactor::since(NOW);
        assert!(!two_factor.is_complete() && !two_factor.set_app(&keys(), ADA, &secret, "000", NOW).unwrap());
        assert!(
            two_factor.set_app(&keys(), ADA, &secret, &code(&secret, NOW), NOW).unwrap() && two_factor.is_complete()
        );
        let codes = two_factor.renew_recovery_codes(ADA).unwrap();
        (secret, two_factor, codes)
    }

    #[test]
    fn codes_are_those_of_the_rfc() {
        // RFC 6238, appendix B, with the last six of eight digits.
        let secret = AppSecret(*b"12345678901234567890");
        assert_eq!(secret.text().expose(), "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
        for (time, expected) in [(59, "287082"), (1_111_111_109, "081804"), (20_000_000_000, "353130")] {
            assert_eq!(secret.step_of(expected, time), Some(time / 30), "{time}");
        }
    }

    #[test]
    fn a_code_is_valid_one_step_before_and_after_its_own_and_once() {
        for (at, expected) in
            [(-60, None), (-30, Some(Accepted::App)), (0, Some(Accepted::App)), (30, Some(Accepted::App)), (60, None)]
        {
            let (secret, mut state, _) = two_factor();
            state.last_step = 0;
            let code = code(&secret, NOW + at);
            let typed = format!("{} {}", &code[..3], &code[3..]);
            assert_eq!(state.accept(&keys(), ADA, &typed, NOW), expected, "{at}");
            assert_eq!(state.accept(&keys(), ADA, &code, NOW), None, "again, {at}");
        }
    }

    #[test]
    fn codes_before_the_last_one_are_rejected() {
        let (secret, mut state, _) = two_factor();
        assert_eq!(state.accept(&keys(), ADA, &code(&secret, NOW), NOW), None, "the code that turned it on");
        let later = NOW + 30;
        assert_eq!(state.accept(&keys(), ADA, &code(&secret, later), later), Some(Accepted::App));
        assert_eq!(state.accept(&keys(), ADA, &code(&secret, NOW), later), None);
        assert_eq!(state.accept(&keys(), ADA, &code(&secret, later), later), None);
    }

    #[test]
    fn recovery_codes_work_once_for_one_user_and_without_the_keys() {
        let (_, mut state, codes) = two_factor();
        assert_eq!((codes.len(), state.n_recovery_codes()), (10, 10));
        assert!(codes.iter().all(|code| code.expose().len() == 19), "{}", codes[0].expose());
        let other = Keys::new([("z", "z"); 4]);
        assert_eq!(state.accept(&other, UserId(8), codes[0].expose(), NOW), None);
        assert_eq!(state.accept(&other, ADA, &codes[0].expose().to_uppercase(), NOW), Some(Accepted::Recovery));
        assert_eq!(state.accept(&other, ADA, codes[0].expose(), NOW), None);
        assert_eq!(state.n_recovery_codes(), 9);
        let new = state.renew_recovery_codes(ADA).unwrap();
        assert_eq!(state.accept(&keys(), ADA, codes[1].expose(), NOW), None);
        assert_eq!(state.accept(&keys(), ADA, new[1].expose(), NOW), Some(Accepted::Recovery));
    }

    #[test]
    fn stored_values_contain_no_secret_and_are_bound_to_the_user_and_the_keys() {
        let (secret, state, codes) = two_factor();
        let stored = state.to_value();
        let text = stored.to_string();
        assert!(!text.contains(secret.text().expose()) && !text.contains(&BASE64.encode(secret.0)));
        assert!(codes.iter().all(|code| !text.contains(code.expose()) && !text.contains(&typed(code.expose()))));
        assert_eq!(TwoFactor::from_value(&stored), state);
        let later = NOW + 30;
        for (keys, user, expected) in
            [(keys(), ADA, Some(Accepted::App)), (keys(), UserId(8), None), (Keys::new([("z", "z"); 4]), ADA, None)]
        {
            let mut read = TwoFactor::from_value(&stored);
            assert_eq!(read.accept(&keys, user, &code(&secret, later), later), expected, "{user}");
        }
    }

    #[test]
    fn unreadable_values_accept_no_code() {
        for stored in [json!(null), json!(""), json!({}), json!({"secret": "", "recovery": [""]}), json!([1])] {
            let mut state = TwoFactor::from_value(&stored);
            for code in ["", "000000", "0000-0000-0000-0000"] {
                assert_eq!(state.accept(&keys(), ADA, code, NOW), None, "{stored} {code}");
            }
        }
    }

    #[test]
    fn a_new_secret_belongs_to_a_user_and_a_session_for_an_hour() {
        let secret = AppSecret::generate().unwrap();
        let text = set_up_text(&keys(), ADA, "session", &secret, NOW).unwrap();
        let read = |user, session, text: &str, now| read_set_up(&keys(), user, session, text, now);
        assert_eq!(read(ADA, "session", &text, NOW + SET_UP_LIFETIME), Some(secret));
        assert_eq!(read(ADA, "session", &text, NOW + SET_UP_LIFETIME + 1), None);
        assert_eq!(read(UserId(8), "session", &text, NOW), None);
        assert_eq!(read(ADA, "other", &text, NOW), None);
        let later = text.replacen(&(NOW + SET_UP_LIFETIME).to_string(), &(NOW + 9 * SET_UP_LIFETIME).to_string(), 1);
        for wrong in ["", ".", "1.x", &later, &text[..text.len() - 4]] {
            assert_eq!(read(ADA, "session", wrong, NOW), None, "{wrong}");
        }
    }

    #[test]
    fn a_pending_log_in_depends_on_the_user_the_password_and_the_second_factor() {
        let (_, state, _) = two_factor();
        let (_, other, _) = two_factor();
        let pending = PendingLogIn { user: ADA, expires: NOW + LOG_IN_LIFETIME, remembered: true };
        let value = pending.to_cookie(&keys(), "hash", &state);
        let (read, signature) = PendingLogIn::read(value.expose()).unwrap();
        assert_eq!(read, pending);
        let valid = |pending: PendingLogIn, pass: &str, state: &TwoFactor, now| {
            pending.is_valid(&keys(), signature, pass, state, now)
        };
        assert!(valid(read, "hash", &state, NOW + LOG_IN_LIFETIME));
        assert!(!valid(read, "hash", &state, NOW + LOG_IN_LIFETIME + 1));
        assert!(!valid(read, "another", &state, NOW));
        assert!(!valid(read, "hash", &other, NOW));
        for forged in [
            PendingLogIn { user: UserId(1), ..pending },
            PendingLogIn { expires: i64::MAX, ..pending },
            PendingLogIn { remembered: false, ..pending },
        ] {
            assert!(!valid(forged, "hash", &state, NOW), "{forged:?}");
        }
        for wrong in ["", "|", "1|2|3", "1|2|1|x|y", "x|2|1|y"] {
            assert_eq!(PendingLogIn::read(wrong).filter(|(p, s)| p.is_valid(&keys(), s, "hash", &state, 0)), None);
        }
    }
}
