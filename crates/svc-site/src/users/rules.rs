//! Rules for applying a draft to a user: sanitized texts, derived names, roles and levels.

use chrono::NaiveDateTime;
use svc_auth::roles::{CapSet, Roles};
use svc_model::User;
use svc_schema::Error;
use svc_store::Meta;

use crate::{errors::users as errors, sanitize, users::draft::UserDraft};

/// Maximum length of a login in characters (column `user_login`).
const MAX_LOGIN: usize = 60;
/// Maximum length of a slug in characters (column `user_nicename`).
const MAX_SLUG: usize = 50;
/// Maximum length of an e-mail address or URL in characters (columns `user_email` and `user_url`).
const MAX_ADDRESS: usize = 100;
/// Maximum length of a display name in characters.
const MAX_NAME: usize = 250;

/// A user to be stored: the row and the texts in meta.
pub struct Profile {
    /// The row. Its slug is not yet unique.
    pub user: User,
    /// Whether the slug was set explicitly rather than derived from the login.
    pub slug_is_given: bool,
    /// First name, last name, nickname, description and locale, by meta key.
    pub texts: [(&'static str, String); 5],
}

fn is_longer(text: &str, most: usize) -> bool {
    text.chars().count() > most
}

/// The text, or an empty one for "0", which PHP treats as empty.
fn non_empty(text: String) -> String {
    if text == "0" { String::new() } else { text }
}

/// Applies a draft to a new or existing user. `hash` is the hash of a new password.
///
/// As in WordPress, unchanged fields are sanitized again: stored texts may be older than the sanitizers.
///
/// # Errors
/// Names and addresses that are too long for their columns.
pub fn apply(
    existing: Option<(&User, &Meta)>,
    draft: &UserDraft,
    hash: Option<&str>,
    now: NaiveDateTime,
) -> Result<Profile, Error> {
    let stored = |key: &str| existing.map_or("", |(_, meta)| meta.text(key)).to_owned();
    let mut user = match existing {
        Some((user, _)) => user.clone(),
        None => User { login: draft.username.clone().unwrap_or_default(), registered: Some(now), ..User::default() },
    };
    if is_longer(&user.login, MAX_LOGIN) {
        return Err(errors::login_too_long());
    }
    let name =
        |input: &Option<String>, key| non_empty(sanitize::user_name(&input.clone().unwrap_or_else(|| stored(key))));
    let first = name(&draft.first_name, "first_name");
    let last = name(&draft.last_name, "last_name");
    let nickname =
        Some(name(&draft.nickname, "nickname")).filter(|n| !n.is_empty()).unwrap_or_else(|| user.login.clone());
    let description = non_empty(draft.description.clone().unwrap_or_else(|| stored("description")));

    let display_name = non_empty(sanitize::user_name(draft.name.as_deref().unwrap_or(&user.display_name)));
    user.display_name = match (display_name.as_str(), existing) {
        // What removed elements leave in the names is sanitized again: `x < y > z` becomes `x  z`, then `x z`.
        ("", None) => {
            let names = [&first, &last].map(String::as_str).into_iter().filter(|n| !n.is_empty());
            sanitize::user_name(&names.collect::<Vec<_>>().join(" "))
        }
        _ => display_name,
    };
    if user.display_name.is_empty() {
        user.display_name.clone_from(&user.login);
    }
    if is_longer(&user.display_name, MAX_NAME) {
        return Err(errors::name_too_long());
    }

    let slug_is_given = draft.slug.as_deref().is_some_and(|s| !s.is_empty());
    match &draft.slug {
        Some(slug) if slug_is_given => user.nicename.clone_from(slug),
        None if existing.is_some() => {}
        _ => user.nicename = slug_of(&user.login),
    }
    if slug_is_given && is_longer(&user.nicename, MAX_SLUG) {
        return Err(errors::slug_too_long());
    }
    let changed_email = draft.email.as_ref().filter(|email| **email != user.email);
    if let Some(email) = changed_email {
        user.email.clone_from(email);
    }
    if is_longer(&user.email, MAX_ADDRESS) {
        return Err(errors::invalid_email());
    }
    user.url = sanitize::author_url(draft.url.as_deref().unwrap_or(&user.url));
    if is_longer(&user.url, MAX_ADDRESS) {
        return Err(errors::url_too_long());
    }
    if let Some(hash) = hash {
        hash.clone_into(&mut user.pass);
    }
    if hash.is_some() || changed_email.is_some() {
        // Invalidates password reset links that were sent before.
        user.activation_key.clear();
    }
    let texts = [
        ("first_name", first),
        ("last_name", last),
        ("nickname", nickname),
        ("description", sanitize::user_description(&description)),
        ("locale", draft.locale.clone().unwrap_or_else(|| stored("locale"))),
    ];
    Ok(Profile { user, slug_is_given, texts })
}

/// The slug derived from a login, cut to the column's length.
fn slug_of(login: &str) -> String {
    svc_text::sanitize_title(&svc_text::sanitize_user(login, true)).chars().take(MAX_SLUG).collect()
}

/// The stored capabilities of a user with these roles. Capabilities that are not roles are not changed.
pub(crate) fn with_roles(own: &CapSet, roles: &Roles, wanted: &[String]) -> CapSet {
    let mut changed = own.clone();
    for (key, _) in own.iter().filter(|(key, _)| roles.get(key).is_some()) {
        changed.remove(key);
    }
    for role in wanted.iter().filter(|role| roles.get(role).is_some()) {
        changed.set(role, true);
    }
    changed
}

/// The user level for old plugins: the highest `level_N` among the capabilities.
pub fn level(caps: &CapSet) -> u32 {
    let levels = caps.iter().filter(|(cap, _)| caps.grants(cap)).filter_map(|(cap, _)| cap.strip_prefix("level_"));
    levels.filter_map(|n| n.parse().ok()).filter(|n| *n <= 10).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn now() -> NaiveDateTime {
        chrono::DateTime::from_timestamp(1_700_000_000, 0).unwrap().naive_utc()
    }

    fn draft(input: &Value) -> UserDraft {
        let text = |name: &str| input[name].as_str().map(str::to_owned);
        UserDraft {
            username: text("username"),
            name: text("name"),
            first_name: text("first_name"),
            last_name: text("last_name"),
            nickname: text("nickname"),
            slug: text("slug"),
            email: text("email"),
            url: text("url"),
            ..UserDraft::default()
        }
    }

    #[test]
    fn missing_names_are_derived() {
        // Drafts of a new user `zz`, with display name, nickname and slug as recorded from WordPress.
        #[rustfmt::skip]
        let rows = [
            (json!({}), "zz", "zz", "zz"),
            (json!({"first_name": "Ann", "last_name": "Bee"}), "Ann Bee", "zz", "zz"),
            (json!({"first_name": "Ann"}), "Ann", "zz", "zz"),
            (json!({"last_name": "Bee"}), "Bee", "zz", "zz"),
            (json!({"first_name": "x < y > z", "last_name": "a & b"}), "x z a &amp; b", "zz", "zz"),
            (json!({"name": "", "nickname": "", "slug": ""}), "zz", "zz", "zz"),
            (json!({"name": " <i>n</i> & x "}), "n &amp; x", "zz", "zz"),
            (json!({"nickname": " <b>k</b> ", "slug": "uni-code"}), "zz", "k", "uni-code"),
            (json!({"username": "Zed.Name@x"}), "Zed.Name@x", "Zed.Name@x", "zed-namex"),
            (json!({"username": "x y"}), "x y", "x y", "x-y"),
        ];
        for (mut input, name, nickname, slug) in rows {
            if input.get("username").is_none() {
                input["username"] = json!("zz");
            }
            let made = apply(None, &draft(&input), None, now()).unwrap();
            let got = (made.user.display_name.as_str(), made.texts[2].1.as_str(), made.user.nicename.as_str());
            assert_eq!(got, (name, nickname, slug), "{input}");
        }
    }

    #[test]
    fn fields_that_are_not_set_are_unchanged() {
        let user = User {
            login: "author1".to_owned(),
            nicename: "author-one".to_owned(),
            email: "a@b.example".to_owned(),
            display_name: "A B".to_owned(),
            pass: "old".to_owned(),
            activation_key: "key".to_owned(),
            ..User::default()
        };
        let none = Meta::default();
        let change = |input: Value, hash| apply(Some((&user, &none)), &draft(&input), hash, now()).unwrap().user;
        assert_eq!(change(json!({}), None), user);
        assert_eq!(change(json!({"username": "other"}), None).login, "author1");
        let cleared = change(json!({"name": "", "slug": ""}), None);
        assert_eq!((cleared.display_name.as_str(), cleared.nicename.as_str()), ("author1", "author1"));
        assert_eq!(change(json!({"email": "a@b.example"}), None).activation_key, "key");
        assert_eq!(change(json!({"email": "A@b.example"}), None).activation_key, "");
        let new_password = change(json!({}), Some("new"));
        assert_eq!((new_password.pass.as_str(), new_password.activation_key.as_str()), ("new", ""));
    }

    #[test]
    fn texts_too_long_for_their_column_are_rejected() {
        let long = |n: usize| "a".repeat(n);
        for (input, code) in [
            (json!({"username": long(61)}), "user_login_too_long"),
            (json!({"username": long(60)}), ""),
            (json!({"slug": long(51)}), "user_nicename_too_long"),
            (json!({"url": format!("http://x.example/{}", long(90))}), "user_url_too_long"),
            (json!({"email": format!("{}@x.example", long(95))}), "rest_user_invalid_email"),
            (json!({"name": long(251)}), "rest_invalid_param"),
            (json!({"nickname": long(300)}), ""),
        ] {
            let made = apply(None, &draft(&input), None, now());
            assert_eq!(made.as_ref().err().map_or("", |e| e.code()), code, "{input}");
            if let Ok(made) = made {
                assert!(made.user.nicename.len() <= MAX_SLUG);
            }
        }
    }

    #[test]
    fn changing_roles_preserves_capabilities() {
        let roles = Roles::default();
        let own = CapSet::from_value(&json!({"author": true, "x": true, "y": false}));
        let texts = |list: &[&str]| list.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
        for (wanted, expected, n) in [
            (texts(&["editor"]), json!({"x": true, "y": false, "editor": true}), 7),
            (texts(&["editor", "author", "editor"]), json!({"x": true, "y": false, "editor": true, "author": true}), 7),
            (texts(&["nosuch"]), json!({"x": true, "y": false}), 0),
            (texts(&[]), json!({"x": true, "y": false}), 0),
        ] {
            let changed = with_roles(&own, &roles, &wanted);
            assert_eq!(changed.to_value(), expected, "{wanted:?}");
            assert_eq!(level(&roles.caps_of(&changed.to_value()).all), n, "{wanted:?}");
        }
        assert_eq!(level(&roles.caps_of(&json!({"administrator": true})).all), 10);
        assert_eq!(level(&CapSet::from_value(&json!({"level_99": true, "level_x": true, "level_3": false}))), 0);
    }
}
