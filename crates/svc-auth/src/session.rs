//! Login sessions of a user, as stored in the `session_tokens` user meta.
//!
//! Only the cookie contains the token. The database stores its SHA-256, the verifier, with information about the login.

use indexmap::IndexMap;
use serde_json::{Map, Value};

use crate::{RandomSourceError, Secret, crypto, secret::random_text, stored::integer};

/// Lifetime of a session in seconds.
pub const LIFETIME: i64 = 2 * 86_400;

/// Lifetime of a session in seconds if the user chose to be remembered.
pub const REMEMBERED_LIFETIME: i64 = 14 * 86_400;

/// Maximum number of sessions per user. A new session replaces the one that expires first.
const MAX_SESSIONS: usize = 500;

/// Generates a random session token: 43 letters and digits, 256 bits.
///
/// # Errors
/// [`RandomSourceError`] if the operating system provides no random bytes.
pub fn new_token() -> Result<Secret, RandomSourceError> {
    random_text(43)
}

/// The verifier under which a token's session is stored.
pub fn verifier(token: &str) -> String {
    crypto::sha256_hex(token.as_bytes())
}

/// A login session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Session {
    /// Last second in which the session is valid, since the epoch.
    pub expiration: i64,
    /// IP address of the login.
    pub ip: Option<String>,
    /// User agent of the login.
    pub ua: Option<String>,
    /// Time of the login in seconds since the epoch.
    pub login: Option<i64>,
    /// Properties added by extensions, preserved unchanged.
    pub extra: Map<String, Value>,
}

impl Session {
    /// Reads a stored session: a map, or in very old rows only the expiration.
    fn from_value(value: &Value) -> Option<Self> {
        let Value::Object(map) = value else {
            return Some(Session { expiration: value.as_i64()?, ..Session::default() });
        };
        let mut session = Session { expiration: integer(map.get("expiration")?)?, ..Session::default() };
        for (name, value) in map {
            match (name.as_str(), value) {
                ("expiration", _) => {}
                ("ip", Value::String(ip)) => session.ip = Some(ip.clone()),
                ("ua", Value::String(ua)) => session.ua = Some(ua.clone()),
                ("login", value) if integer(value).is_some() => session.login = integer(value),
                _ => {
                    session.extra.insert(name.clone(), value.clone());
                }
            }
        }
        Some(session)
    }

    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("expiration".to_owned(), self.expiration.into());
        if let Some(ip) = &self.ip {
            map.insert("ip".to_owned(), ip.as_str().into());
        }
        if let Some(ua) = &self.ua {
            map.insert("ua".to_owned(), ua.as_str().into());
        }
        if let Some(login) = self.login {
            map.insert("login".to_owned(), login.into());
        }
        map.extend(self.extra.clone());
        Value::Object(map)
    }

    /// Returns whether the session is valid at `now` (seconds since the epoch).
    pub fn is_active(&self, now: i64) -> bool {
        self.expiration >= now
    }
}

/// A user's sessions by verifier, oldest first. `Debug` shows only their number.
#[derive(Clone, Default, PartialEq)]
pub struct Sessions(IndexMap<String, Session>);

impl Sessions {
    /// Reads the unserialized `session_tokens` meta and skips invalid sessions.
    pub fn from_value(stored: &Value) -> Self {
        let entries = stored.as_object().into_iter().flatten();
        Sessions(entries.filter_map(|(v, s)| Some((v.clone(), Session::from_value(s)?))).collect())
    }

    /// The value to store. `None` if no session is left and the row must be deleted.
    pub fn to_value(&self) -> Option<Value> {
        let map: Map<String, Value> = self.0.iter().map(|(v, s)| (v.clone(), s.to_value())).collect();
        (!map.is_empty()).then_some(Value::Object(map))
    }

    /// The session of a token, if it is valid.
    pub fn get(&self, token: &str, now: i64) -> Option<&Session> {
        self.0.get(&verifier(token)).filter(|s| s.is_active(now))
    }

    /// Returns whether a token's session is valid.
    pub fn verify(&self, token: &str, now: i64) -> bool {
        self.get(token, now).is_some()
    }

    /// The valid sessions with their verifiers, oldest first.
    pub fn active(&self, now: i64) -> impl Iterator<Item = (&str, &Session)> {
        self.0.iter().filter(move |(_, s)| s.is_active(now)).map(|(v, s)| (v.as_str(), s))
    }

    /// Starts a session, replacing one with the same token. Expired sessions are removed.
    pub fn insert(&mut self, token: &str, session: Session, now: i64) {
        self.prune(now);
        if self.0.len() >= MAX_SESSIONS
            && let Some(first) = self.0.iter().min_by_key(|(_, s)| s.expiration).map(|(v, _)| v.clone())
        {
            self.0.shift_remove(&first);
        }
        self.0.insert(verifier(token), session);
    }

    /// Ends the session of a token, for logout.
    pub fn remove(&mut self, token: &str, now: i64) {
        self.prune(now);
        self.0.shift_remove(&verifier(token));
    }

    /// Ends the session with this verifier, as returned by [`Sessions::active`]. Returns whether it existed.
    pub fn remove_verifier(&mut self, verifier: &str) -> bool {
        self.0.shift_remove(verifier).is_some()
    }

    /// Ends all sessions except that of a token.
    pub fn remove_others(&mut self, token: &str, now: i64) {
        let current = verifier(token);
        self.prune(now);
        self.0.retain(|v, _| *v == current);
    }

    /// Ends every session.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The number of sessions, including expired ones.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no sessions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn prune(&mut self, now: i64) {
        self.0.retain(|_, s| s.is_active(now));
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sessions({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TOK: &str = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0"; // SHA-256 of `token`

    #[test]
    fn stored_shapes_that_verify() {
        let now = 1000;
        for (stored, expected) in [
            (json!({"expiration": 1000}), true),
            (json!({"expiration": 999}), false),
            (json!({"expiration": "1001"}), true),
            (json!(1001), true),
            (json!(999), false),
            (json!({}), false),
            (json!({"ip": "x"}), false),
            (json!("junk"), false),
            (json!(null), false),
            (json!(true), false),
        ] {
            let sessions = Sessions::from_value(&json!({TOK: stored}));
            assert_eq!(sessions.verify("token", now), expected, "{stored}");
            assert!(!sessions.verify(TOK, now), "a verifier is not a token");
        }
        for stored in [json!([]), json!(""), json!(false), json!(null)] {
            assert!(Sessions::from_value(&stored).is_empty());
            assert_eq!(Sessions::from_value(&stored).to_value(), None);
        }
    }

    #[test]
    fn stored_properties_round_trip() {
        let stored = json!({TOK: {"expiration": 5, "ip": "::1", "ua": "x", "login": 3, "two_factor": {"a": [1]}}});
        let sessions = Sessions::from_value(&stored);
        let session = Session {
            expiration: 5,
            ip: Some("::1".to_owned()),
            ua: Some("x".to_owned()),
            login: Some(3),
            extra: Map::from_iter([("two_factor".to_owned(), json!({"a": [1]}))]),
        };
        assert_eq!(sessions.active(5).collect::<Vec<_>>(), [(TOK, &session)]);
        assert_eq!(sessions.to_value(), Some(stored));
        // Values of unexpected types are preserved, too.
        let stored = json!({TOK: {"expiration": 5, "ip": [1], "ua": null, "login": "soon"}});
        assert_eq!(Sessions::from_value(&stored).to_value(), Some(stored));
    }

    #[test]
    fn sessions_start_and_end() {
        let mut sessions = Sessions::default();
        let until = |expiration| Session { expiration, ..Session::default() };
        sessions.insert("a", until(10), 0);
        sessions.insert("b", until(20), 0);
        assert!(sessions.verify("a", 10) && !sessions.verify("a", 11) && sessions.verify("b", 20));
        sessions.insert("c", until(30), 11);
        assert_eq!(sessions.len(), 2, "the expired session is removed");
        sessions.remove("b", 11);
        assert!(!sessions.verify("b", 11) && sessions.verify("c", 11));
        sessions.insert("d", until(30), 11);
        sessions.remove_others("d", 11);
        assert!(!sessions.verify("c", 11) && sessions.verify("d", 11));
        let verifier = sessions.active(11).next().unwrap().0.to_owned();
        assert!(!sessions.is_empty());
        assert!(sessions.remove_verifier(&verifier) && !sessions.remove_verifier(&verifier));
        assert_eq!(sessions.to_value(), None);
        sessions.insert("e", until(30), 11);
        sessions.clear();
        assert!(sessions.is_empty());
    }

    #[test]
    fn limits_the_number_of_sessions() {
        let mut sessions = Sessions::default();
        for i in 0..MAX_SESSIONS + 10 {
            sessions.insert(&i.to_string(), Session { expiration: 100 + i as i64, ..Session::default() }, 0);
        }
        assert_eq!(sessions.len(), MAX_SESSIONS);
        assert!(!sessions.verify("9", 0) && sessions.verify("10", 0));
    }

    #[test]
    fn sessions_last_two_days_or_two_weeks() {
        assert_eq!((LIFETIME, REMEMBERED_LIFETIME), (172_800, 1_209_600));
    }

    #[test]
    fn tokens_have_43_characters_and_debug_omits_them() {
        assert_eq!(new_token().unwrap().expose().len(), 43);
        assert_eq!(format!("{:?}", Sessions::from_value(&json!({TOK: 5}))), "Sessions(1)");
    }
}
