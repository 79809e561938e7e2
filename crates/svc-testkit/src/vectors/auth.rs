//! Test vectors for svc-auth.

use std::borrow::Cow;

use serde_json::{Value, json};
use svc_auth::{
    AuthError, Brand, Caller, Keys, Scheme,
    application_password::{self, AppPasswordOutcome, ApplicationPassword},
    caps::{InMemoryContext, Object, PostFacts, map_meta_cap},
    cookie::{self, AuthCookie, CookieNames},
    keys::Algorithm,
    nonce::{self, NonceSubject},
    password,
    roles::Roles,
    session::{Session, Sessions},
};
use svc_model::{CommentId, MetaKind, PostId, TermId, UserId};

use super::{Outcome, Vector};

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    let hash = || vector.text(1);
    Some(match vector.function.as_str() {
        "wp_check_password" => password::verify(hash(), &bytes(vector.arg(0))).into(),
        "wp_verify_fast_hash" => password::verify_fast(hash(), &bytes(vector.arg(0))).into(),
        "wp_password_needs_rehash" => password::needs_rehash(vector.text(0)).into(),
        "wp_fast_hash" => password::fast_hash(&bytes(vector.arg(0))).into(),
        "wp_hash_password" => hash_password(&bytes(vector.arg(0))),
        "chunk_application_password" => application_password::chunk(vector.text(0)).into(),
        "application_password_login" => application_password_login(vector),
        "wp_create_nonce" => {
            let (keys, tick, subject) = nonce_args(vector.arg(1));
            nonce::create(&keys, tick, &text(vector.arg(0)), subject).expose().into()
        }
        "wp_verify_nonce" => {
            let (keys, tick, subject) = nonce_args(vector.arg(2));
            let age = nonce::verify(&keys, tick, vector.text(0), &text(vector.arg(1)), subject);
            age.map_or(json!(false), Value::from).into()
        }
        "wp_hash" => {
            let scheme = Scheme::from_name(vector.text(1))?;
            let algorithm = Algorithm::from_name(vector.text(2))?;
            keys(&vector.arg(3)["salt"]).hash(vector.text(0).as_bytes(), scheme, algorithm).into()
        }
        "cookie_names" => cookie_names(vector.arg(0)["siteurl"].as_str()?),
        "wp_generate_auth_cookie" => {
            let details = vector.arg(0);
            let (login, pass, token) =
                (details["user_login"].as_str()?, details["user_pass"].as_str()?, details["token"].as_str()?);
            let scheme = Scheme::from_name(details["scheme"].as_str()?)?;
            let expiration = details["expiration"].as_i64()?;
            cookie::generate(&keys(&details["salt"]), scheme, login, pass, expiration, token).expose().into()
        }
        "wp_parse_auth_cookie" => match AuthCookie::parse(vector.text(0)) {
            Ok(AuthCookie { login, expiration, token, hmac }) => {
                let scheme = vector.text(1);
                json!({"username": login, "expiration": expiration, "token": token, "hmac": hmac, "scheme": scheme})
            }
            Err(_) => json!(false),
        }
        .into(),
        "wp_validate_auth_cookie" => validate_auth_cookie(vector)?,
        "role_names" => {
            Value::Object(Roles::default().iter().map(|(key, r)| (key.to_owned(), r.name.clone().into())).collect())
                .into()
        }
        "role_capabilities" => Roles::default().get(vector.text(0))?.capabilities.to_value().into(),
        "user_caps" => caller(vector.text(0)).allcaps.to_value().into(),
        "map_meta_cap" => capabilities(vector)?,
        _ => return None,
    })
}

/// A string argument, which may be bytes in the form `{"$b64": …}`.
fn bytes(value: &Value) -> Vec<u8> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let Some(encoded) = value["$b64"].as_str() else { return text(value).into_owned().into_bytes() };
    let digits: Vec<usize> = encoded.chars().filter_map(|c| ALPHABET.find(c)).collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group.iter().fold(0, |bits, d| bits << 6 | d) << (6 * (4 - group.len()));
        bytes.extend((1..group.len()).map(|i| (bits >> (24 - 8 * i)) as u8));
    }
    bytes
}

/// The argument cast to a string.
fn text(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Null => Cow::Borrowed(""),
        other => Cow::Owned(other.to_string()),
    }
}

/// Keys for which every scheme's key is the recorded one.
fn keys(salt: &Value) -> Keys {
    Keys::new([(salt.as_str().unwrap_or_default(), ""); 4])
}

fn nonce_args(details: &Value) -> (Keys, i64, NonceSubject<'_>) {
    let user = UserId(details["user_id"].as_i64().unwrap_or_default());
    let subject = NonceSubject { user, token: details["token"].as_str().unwrap_or_default() };
    (keys(&details["salt"]), details["tick"].as_i64().unwrap_or_default(), subject)
}

fn hash_password(plain: &[u8]) -> Outcome {
    match password::hash(plain) {
        Ok(hash) => {
            json!({"prefix": &hash[..10], "length": hash.len(), "verifies": password::verify(&hash, plain)}).into()
        }
        Err(_) => json!({"prefix": "*", "length": 1, "verifies": false}).into(),
    }
}

/// An error as recorded. Messages are our own, so the recorded message is used if the code is the recorded one.
fn recorded_error(vector: &Vector, error: AuthError) -> Outcome {
    let recorded = &vector.line["error"];
    let message = if recorded["code"] == error.code { recorded["message"].clone() } else { error.message.into() };
    Outcome::Error(json!({
        "code": error.code, "message": message, "data": null, "status": error.status.unwrap_or(500),
    }))
}

fn application_password_login(vector: &Vector) -> Outcome {
    let user = vector.arg(0);
    let (login, attempt) = (vector.text(1), vector.text(2));
    let stored = password::fast_hash(&bytes(&user["stored"]));
    let passwords = [ApplicationPassword { password: stored, ..ApplicationPassword::default() }];
    let named = |name: &str| user[name].as_str().is_some_and(|it| it.eq_ignore_ascii_case(login));
    let account = (named("login") || named("email")).then_some(application_password::Account {
        id: UserId(1),
        passwords: &passwords,
        allowed: true,
    });
    match AppPasswordOutcome::authenticate(account, attempt, login.contains('@')) {
        AppPasswordOutcome::User(..) => user["login"].clone().into(),
        AppPasswordOutcome::Error(error) => recorded_error(vector, error),
        AppPasswordOutcome::None => Value::Null.into(),
    }
}

fn cookie_names(site_url: &str) -> Outcome {
    let brand = Brand::new("wp").expect("`wp` is a valid brand");
    let CookieNames { auth, secure_auth, logged_in } = CookieNames::new(&brand, site_url);
    let actual = [&auth, &secure_auth, &logged_in];
    json!({
        "hash": cookie::site_hash(site_url), "auth": auth, "secure_auth": secure_auth, "logged_in": logged_in,
        "actual": actual,
    })
    .into()
}

fn validate_auth_cookie(vector: &Vector) -> Option<Outcome> {
    const NOW: i64 = 1_780_272_000; // 2026-06-01
    let scheme = Scheme::from_name(vector.text(1))?;
    let details = vector.arg(2);
    let invalid = |event: &str| Some(json!({"user": false, "event": event}).into());
    let cookie = match AuthCookie::parse(vector.text(0)) {
        Ok(cookie) => cookie,
        Err(failure) => return invalid(failure.event()),
    };
    let mut sessions = Sessions::default();
    let session = &details["session"];
    if session["user"] == cookie.login {
        let expiration = if session["live"] == true { NOW + 1 } else { NOW - 1 };
        sessions.insert(session["token"].as_str()?, Session { expiration, ..Session::default() }, 0);
    }
    // The recorded site also has its administrator, besides the users in the line.
    let stored = details["users"][cookie.login].as_str().or((cookie.login == "admin").then_some("$wp$2y$10$unknown"));
    let account = stored.map(|password| cookie::Account { password, sessions: &sessions });
    match cookie.validate(&keys(&details["salt"]), scheme, account, NOW, details["method"] == "POST") {
        Ok(_) => Some(json!({"user": cookie.login, "event": cookie::VALID_EVENT}).into()),
        Err(failure) => invalid(failure.event()),
    }
}

/// The recorded users: one with the requested role, another one with it, and the administrator.
const ME: UserId = UserId(10);
const OTHER: UserId = UserId(11);
const ADMIN: UserId = UserId(1);
const MISSING: i64 = 99_999_999;

fn caller(role: &str) -> Caller {
    match role {
        "anonymous" => Caller::anonymous(),
        "none" => Caller::new(ME, Roles::default().caps_of(&json!({}))),
        role => Caller::new(ME, Roles::default().caps_of(&json!({role: true}))),
    }
}

/// A site with the recorded object: post 5 (child of post 6), comment 7 on post 5, terms 1 to 3.
fn site(me: UserId, object: &Value) -> InMemoryContext {
    let mut site = InMemoryContext { users: [ADMIN, ME, OTHER].into(), ..InMemoryContext::default() };
    let author = |owner: &Value| match owner.as_str() {
        Some("self") => me,
        Some("other") => OTHER,
        Some("admin") => ADMIN,
        _ => UserId(0),
    };
    let word = |value: &Value, default: &str| Cow::Owned(value.as_str().unwrap_or(default).to_owned());
    let mut post = PostFacts { id: PostId(5), ..PostFacts::default() };
    match object["kind"].as_str() {
        Some("comment") => {
            post.author = author(&object["post_owner"]);
            post.post_type = Cow::Borrowed("post");
            post.status = word(&object["post_status"], "publish");
            site.comments.insert(CommentId(7), post.id);
        }
        _ => {
            post.author = author(&object["owner"]);
            post.post_type = word(&object["type"], "post");
            post.status = word(&object["status"], "publish");
        }
    }
    // `published post of admin`, `draft post of admin`, …
    if let Some((status, _)) = object["parent"].as_str().and_then(|parent| parent.split_once(' ')) {
        let status = if status == "published" { "publish" } else { status }.to_owned();
        post.parent = PostId(6);
        let post_type = Cow::Borrowed("post");
        site.add_post(&PostFacts {
            id: PostId(6),
            author: ADMIN,
            post_type,
            status: status.into(),
            ..PostFacts::default()
        });
    }
    site.add_post(&post);
    if let Some(was) = object["was"].as_str() {
        site.trashed.insert(post.id, was.to_owned());
    }
    match object["is"].as_str() {
        Some("page_on_front") => site.policy.page_on_front = post.id,
        Some("page_for_posts") => site.policy.page_for_posts = post.id,
        Some("wp_page_for_privacy_policy") => site.policy.privacy_page = post.id,
        _ => {}
    }
    site.terms = [(1, "category"), (2, "post_tag"), (3, "category")].map(|(id, t)| (TermId(id), t.to_owned())).into();
    site.default_terms = [TermId(3)].into();
    site
}

fn capabilities(vector: &Vector) -> Option<Outcome> {
    let (cap, role, details) = (vector.text(0), vector.text(1), vector.arg(2));
    let caller = caller(role);
    let site = site(caller.id, details);
    let missing = details["missing"] == true;
    let id = |id: i64| if missing { MISSING } else { id };
    let object = match details["kind"].as_str() {
        None | Some("plugin") => Object::None,
        Some("post") => match details["meta_key"].as_str() {
            Some(key) => Object::Meta(MetaKind::Post, id(5), key),
            None => Object::Post(PostId(id(5))),
        },
        Some("comment") => Object::Comment(CommentId(id(7))),
        Some("term") => Object::Term(TermId(match details["of"].as_str()? {
            "category" => 1,
            "post_tag" => 2,
            "default category" => 3,
            _ => MISSING,
        })),
        Some("user") => Object::User(match details["who"].as_str()? {
            "self" => caller.id,
            "admin" => ADMIN,
            "missing" => UserId(MISSING),
            // There is no second anonymous user.
            _ if !caller.is_logged_in() => UserId(0),
            _ => OTHER,
        }),
        Some(_) => return None,
    };
    let caps = map_meta_cap(cap, &caller, object, &site);
    Some(json!({"caps": caps, "can": caller.can(cap, object, &site)}).into())
}
