//! Application passwords: random passwords that users create for clients, stored as a list in the user's meta.
//!
//! The list is one value, the user meta `_application_passwords`. A change rewrites the whole list, so callers must
//! prevent concurrent changes. This module does not decide whether application passwords are available (TLS, site
//! rules), and does not access the database.

use serde_json::{Map, Value};
use svc_model::UserId;

use crate::{AuthError, RandomSourceError, Secret, password, secret::random_text, stored::integer};

/// User meta key of the list.
pub const META_KEY: &str = "_application_passwords";

/// Option that records whether an application password was ever created. If not, there is nothing to look up.
pub const IN_USE_OPTION: &str = "using_application_passwords";

/// Length of a generated password.
pub const LENGTH: usize = 24;

/// Seconds during which further uses are not recorded: at most one write per day.
const RECORD_EVERY: i64 = 86_400;

/// A stored application password. `Debug` omits the hash.
#[derive(Clone, Default, PartialEq)]
pub struct ApplicationPassword {
    /// Id in the REST API: a lower-case version 4 UUID. Empty in very old rows.
    pub uuid: String,
    /// UUID of the client, as sent by the client; may be empty.
    pub app_id: String,
    /// Name that the user gave it.
    pub name: String,
    /// Hash of the password; see [`password::verify_fast`].
    pub password: String,
    /// Time of creation in seconds since the epoch.
    pub created: i64,
    /// Time of the last recorded use in seconds since the epoch, accurate to a day.
    pub last_used: Option<i64>,
    /// IP address of the last recorded use.
    pub last_ip: Option<String>,
    /// Properties added by extensions, preserved unchanged.
    pub extra: Map<String, Value>,
}

impl std::fmt::Debug for ApplicationPassword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut output = f.debug_struct("ApplicationPassword");
        output.field("uuid", &self.uuid).field("name", &self.name).finish_non_exhaustive()
    }
}

impl ApplicationPassword {
    /// Creates an application password and returns it with the generated plain text, which is not stored.
    ///
    /// # Errors
    /// [`RandomSourceError`] if the operating system provides no random bytes.
    pub fn generate(name: &str, app_id: &str, now: i64) -> Result<(Self, Secret), RandomSourceError> {
        let plain = random_text(LENGTH)?;
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|_| RandomSourceError)?;
        let item = ApplicationPassword {
            uuid: uuid::Builder::from_random_bytes(bytes).into_uuid().to_string(),
            app_id: app_id.to_owned(),
            name: name.to_owned(),
            password: password::fast_hash(plain.expose().as_bytes()),
            created: now,
            ..ApplicationPassword::default()
        };
        Ok((item, plain))
    }

    fn from_value(value: &Value) -> Option<Self> {
        let mut item = ApplicationPassword::default();
        for (name, value) in value.as_object()? {
            match (name.as_str(), value) {
                ("uuid", Value::String(v)) => item.uuid.clone_from(v),
                ("app_id", Value::String(v)) => item.app_id.clone_from(v),
                ("name", Value::String(v)) => item.name.clone_from(v),
                ("password", Value::String(v)) => item.password.clone_from(v),
                ("created", v) => item.created = integer(v).unwrap_or(0),
                ("last_used", v) => item.last_used = integer(v),
                ("last_ip", v) => item.last_ip = v.as_str().map(str::to_owned),
                _ => {
                    item.extra.insert(name.clone(), value.clone());
                }
            }
        }
        Some(item)
    }

    fn to_value(&self) -> Value {
        let mut map = Map::new();
        for (name, value) in [
            ("uuid", Value::from(self.uuid.as_str())),
            ("app_id", self.app_id.as_str().into()),
            ("name", self.name.as_str().into()),
            ("password", self.password.as_str().into()),
            ("created", self.created.into()),
            ("last_used", self.last_used.into()),
            ("last_ip", self.last_ip.as_deref().into()),
        ] {
            map.insert(name.to_owned(), value);
        }
        map.extend(self.extra.clone());
        Value::Object(map)
    }

    /// Records a use. Returns whether the record changed and must be stored, which happens at most once a day.
    pub fn record_use(&mut self, now: i64, ip: &str) -> bool {
        if self.last_used.is_some_and(|last| last.saturating_add(RECORD_EVERY) > now) {
            return false;
        }
        self.last_used = Some(now);
        self.last_ip = Some(ip.to_owned());
        true
    }
}

/// Reads the unserialized user meta and skips invalid records.
pub fn list_from_value(stored: &Value) -> Vec<ApplicationPassword> {
    match stored {
        Value::Array(items) => items.iter().filter_map(ApplicationPassword::from_value).collect(),
        // A list with a removed item is stored as a map of the remaining indexes.
        Value::Object(items) => items.values().filter_map(ApplicationPassword::from_value).collect(),
        _ => Vec::new(),
    }
}

/// Converts the list to the value to store.
pub fn list_to_value(list: &[ApplicationPassword]) -> Value {
    list.iter().map(ApplicationPassword::to_value).collect()
}

/// Removes everything but ASCII letters and digits, such as the spaces that users and clients insert.
fn normalize(password_input: &str) -> String {
    password_input.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Formats a password for display, in groups of four characters.
pub fn chunk(password: &str) -> String {
    let plain = normalize(password);
    let mut output = String::with_capacity(plain.len() + plain.len() / 4);
    for (i, c) in plain.chars().enumerate() {
        if i > 0 && i % 4 == 0 {
            output.push(' ');
        }
        output.push(c);
    }
    output
}

/// Finds the record that matches a password, which may contain spaces.
pub fn find<'a>(list: &'a [ApplicationPassword], password_input: &str) -> Option<&'a ApplicationPassword> {
    if password_input.len() > password::MAX_LENGTH {
        return None;
    }
    let plain = normalize(password_input);
    list.iter().find(|item| password::verify_fast(&item.password, plain.as_bytes()))
}

/// No user has this user name.
pub const INVALID_USERNAME: AuthError =
    AuthError { code: "invalid_username", message: "No user has this user name.", status: None };
/// No user has this e-mail address.
pub const INVALID_EMAIL: AuthError =
    AuthError { code: "invalid_email", message: "No user has this email address.", status: None };
/// The password matches none of the user's application passwords.
pub const INCORRECT_PASSWORD: AuthError =
    AuthError { code: "incorrect_password", message: "This is not an application password of the user.", status: None };
/// Application passwords are disabled on this site.
pub const DISABLED: AuthError = AuthError {
    code: "application_passwords_disabled",
    message: "Application passwords cannot be used on this site.",
    status: None,
};
/// Application passwords are disabled for this user.
pub const DISABLED_FOR_USER: AuthError = AuthError {
    code: "application_passwords_disabled_for_user",
    message: "This account cannot use application passwords.",
    status: None,
};

/// The account that the credentials refer to.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// The user's id.
    pub id: UserId,
    /// The user's application passwords.
    pub passwords: &'a [ApplicationPassword],
    /// Whether the user may use them on this site.
    pub allowed: bool,
}

/// Outcome of application password authentication for a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AppPasswordOutcome {
    /// The user was authenticated with the password that has this UUID (`None` if the record has no UUID).
    User(UserId, Option<String>),
    /// Credentials were sent and rejected.
    Error(AuthError),
    /// No credentials were sent, or application passwords are not available.
    #[default]
    None,
}

impl AppPasswordOutcome {
    /// Checks credentials against the account found for the login.
    ///
    /// `login_is_email` selects the error for an unknown login: whether it was looked up as an e-mail address.
    pub fn authenticate(account: Option<Account<'_>>, password_input: &str, login_is_email: bool) -> Self {
        let Some(account) = account else {
            return AppPasswordOutcome::Error(if login_is_email { INVALID_EMAIL } else { INVALID_USERNAME });
        };
        if !account.allowed {
            return AppPasswordOutcome::Error(DISABLED_FOR_USER);
        }
        match find(account.passwords, password_input) {
            Some(item) => AppPasswordOutcome::User(account.id, Some(item.uuid.clone()).filter(|uuid| !uuid.is_empty())),
            None => AppPasswordOutcome::Error(INCORRECT_PASSWORD),
        }
    }

    /// UUID of the password that was used; `None` if no application password was used (rule 3).
    pub fn uuid(&self) -> Option<&str> {
        match self {
            AppPasswordOutcome::User(_, uuid) => uuid.as_deref(),
            _ => None,
        }
    }

    /// Combines this outcome with the result of authentication so far (rule 2).
    ///
    /// `earlier` is the result of other mechanisms. If there is one, it is returned unchanged. An error without a
    /// status gets status 401.
    pub fn check(&self, earlier: Option<Result<(), AuthError>>) -> Option<Result<(), AuthError>> {
        earlier.or(match self {
            AppPasswordOutcome::User(..) => Some(Ok(())),
            AppPasswordOutcome::Error(error) => Some(Err(error.or_status(401))),
            AppPasswordOutcome::None => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn chunks_passwords_in_groups_of_four() {
        for (password, expected) in [
            ("", ""),
            ("abcd", "abcd"),
            ("abcde", "abcd e"),
            ("abc-def-gh", "abcd efgh"),
            ("1LkSyé!", "1LkS y"),
            (" abcd efgh ", "abcd efgh"),
        ] {
            assert_eq!(chunk(password), expected, "{password}");
        }
    }

    #[test]
    fn finds_passwords_with_and_without_spaces() {
        let (item, plain) = ApplicationPassword::generate("phone", "app", 5).unwrap();
        assert_eq!((&*item.name, &*item.app_id, item.created, item.last_used), ("phone", "app", 5, None));
        let (other, _) = ApplicationPassword::generate("laptop", "", 5).unwrap();
        assert_eq!(plain.expose().len(), LENGTH);
        assert_eq!((item.uuid.len(), item.uuid.as_bytes()[14]), (36, b'4'));
        let list = [other, item.clone()];
        let plain = plain.expose();
        let swapped: String =
            plain.chars().map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c }).collect();
        for (password_input, expected) in [
            (plain.to_owned(), true),
            (chunk(plain), true),
            (format!("\t{plain}\n"), true),
            (format!("{plain}{}", " ".repeat(password::MAX_LENGTH - LENGTH)), true),
            (format!("{plain}{}", " ".repeat(password::MAX_LENGTH - LENGTH + 1)), false),
            (swapped, false),
            (plain[1..].to_owned(), false),
            (format!("{plain}a"), false),
            (String::new(), false),
            (format!("{plain}{}", " ".repeat(5000)), false),
        ] {
            assert_eq!(
                find(&list, &password_input).map(|i| &i.name),
                expected.then_some(&item.name),
                "{password_input}"
            );
        }
    }

    #[test]
    fn stored_lists_round_trip() {
        let record = json!({"uuid": "u", "app_id": "", "name": "n", "password": "$generic$x", "created": 7,
            "last_used": null, "last_ip": null, "scope": ["a"]});
        let stored = json!([record]);
        assert_eq!(list_to_value(&list_from_value(&stored)), stored);
        let text = serde_json::to_string(&list_to_value(&list_from_value(&stored))).unwrap();
        assert!(text.starts_with(r#"[{"uuid":"u","app_id":"","name":"n","password":"#), "{text}");
        let full = json!([{"uuid": "u", "app_id": "a", "name": "n", "password": "$generic$x", "created": 7, "last_used": 8,
            "last_ip": "::1", "scope": ["a"]}]);
        let parsed = ApplicationPassword {
            uuid: "u".to_owned(),
            app_id: "a".to_owned(),
            name: "n".to_owned(),
            password: "$generic$x".to_owned(),
            created: 7,
            last_used: Some(8),
            last_ip: Some("::1".to_owned()),
            extra: [("scope".to_owned(), json!(["a"]))].into_iter().collect(),
        };
        assert_eq!((list_to_value(std::slice::from_ref(&parsed)), list_from_value(&full)), (full, vec![parsed]));
        let gaps = json!({"1": record, "3": record});
        assert_eq!(list_from_value(&gaps).len(), 2);
        for junk in [json!(null), json!(false), json!(""), json!([1, "x", null])] {
            assert!(list_from_value(&junk).is_empty(), "{junk}");
        }
        let partial = list_from_value(&json!([{"created": "12", "last_used": "x", "name": 5}]));
        assert_eq!((partial[0].created, partial[0].last_used, partial[0].name.as_str()), (12, None, ""));
    }

    #[test]
    fn records_uses_once_a_day() {
        let mut item = ApplicationPassword::default();
        assert!(item.record_use(1000, "::1"));
        assert!(!item.record_use(1000 + RECORD_EVERY - 1, "::2"));
        assert_eq!((item.last_used, item.last_ip.as_deref()), (Some(1000), Some("::1")));
        assert!(item.record_use(1000 + RECORD_EVERY, "::2"));
        assert_eq!(item.last_ip.as_deref(), Some("::2"));
    }

    #[test]
    fn outcomes_combine_with_earlier_results() {
        let (item, plain) = ApplicationPassword::generate("n", "", 0).unwrap();
        let passwords = [item.clone()];
        let account = Account { id: UserId(7), passwords: &passwords, allowed: true };
        let nameless = [ApplicationPassword { uuid: String::new(), ..item.clone() }];
        let plain = plain.expose();
        let error = |e: AuthError| AppPasswordOutcome::Error(e);
        #[rustfmt::skip]
        let rows = [
            (Some(account), plain, false, AppPasswordOutcome::User(UserId(7), Some(item.uuid.clone()))),
            (Some(Account { passwords: &nameless, ..account }), plain, false, AppPasswordOutcome::User(UserId(7), None)),
            (Some(account), "x", false, error(INCORRECT_PASSWORD)),
            (Some(Account { passwords: &[], ..account }), plain, false, error(INCORRECT_PASSWORD)),
            (Some(Account { allowed: false, ..account }), plain, false, error(DISABLED_FOR_USER)),
            (None, plain, false, error(INVALID_USERNAME)),
            (None, plain, true, error(INVALID_EMAIL)),
        ];
        for (account, password_input, is_email, expected) in rows {
            let outcome = AppPasswordOutcome::authenticate(account, password_input, is_email);
            assert_eq!(outcome, expected);
            let earlier = Some(Err(INVALID_EMAIL.or_status(418)));
            assert_eq!(outcome.check(earlier), earlier);
            assert_eq!(outcome.check(Some(Ok(()))), Some(Ok(())));
            match outcome.check(None) {
                Some(Ok(())) => match &outcome {
                    AppPasswordOutcome::User(_, uuid) => assert_eq!(outcome.uuid(), uuid.as_deref()),
                    other => panic!("{other:?}"),
                },
                Some(Err(e)) => assert_eq!((e.status, outcome.uuid()), (Some(401), None)),
                None => panic!("{outcome:?} expected no result"),
            }
        }
        assert_eq!(AppPasswordOutcome::None.check(None), None);
        assert_eq!(DISABLED.to_string(), DISABLED.message);
        assert_eq!(error(INVALID_EMAIL.or_status(403)).check(None), Some(Err(INVALID_EMAIL.or_status(403))));
    }

    #[test]
    fn debug_omits_the_hash() {
        let (item, _) = ApplicationPassword::generate("n", "", 0).unwrap();
        let item = ApplicationPassword { uuid: "u".to_owned(), ..item };
        assert_eq!(format!("{item:?}"), r#"ApplicationPassword { uuid: "u", name: "n", .. }"#);
    }
}
