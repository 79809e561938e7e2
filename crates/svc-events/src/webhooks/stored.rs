//! The stored webhooks of a site.

use serde::{Deserialize, Serialize};
use svc_auth::RandomSourceError;
use svc_site::{SiteError, SiteResult};
use svc_store::{Db, StoreError, StoredText, Tx, options};

use super::{queue::CONSUMER, sign};
use crate::event::{Event, EventKind, ObjectKind};

/// The option with the webhooks, as JSON. It is not loaded with every request.
const OPTION: &str = "svc_webhooks";

/// Maximum number of webhooks of a site.
pub const MAX_WEBHOOKS: usize = 50;

/// Maximum number of secrets of a webhook: the current one, and those that receivers still check.
const MAX_SECRETS: usize = 3;

/// Maximum number of patterns, types and statuses each.
const MAX_FILTERS: usize = 50;

/// Maximum length of a URL and of a name, in bytes.
const MAX_TEXT: usize = 2_000;

/// A webhook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// The id.
    pub id: String,
    /// What administrators call it.
    #[serde(default)]
    pub name: String,
    /// Where deliveries are sent.
    pub url: String,
    /// Patterns of the events that are sent: `post.published`, `post.*`, `*.deleted` or `*`.
    pub events: Vec<String>,
    /// Only events of objects of these types; any if it is empty.
    #[serde(default)]
    pub types: Vec<String>,
    /// Only events of objects with one of these statuses, before or after; any if it is empty.
    #[serde(default)]
    pub statuses: Vec<String>,
    /// Whether deliveries are sent.
    pub active: bool,
    /// The secrets, the current one first. Deliveries are signed with each.
    pub secrets: Vec<String>,
    /// When it was created, in seconds since the epoch.
    pub created: i64,
    /// The last entry of the log when it was created: earlier events are not sent.
    pub since: i64,
    /// Since when deliveries have failed, without a success in between.
    #[serde(default)]
    pub failing_since: Option<i64>,
    /// Why the server has switched it off. Empty if it has not.
    #[serde(default)]
    pub switched_off: String,
}

/// Changes of a webhook.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// See [`Webhook::name`].
    pub name: Option<String>,
    /// See [`Webhook::url`].
    pub url: Option<String>,
    /// See [`Webhook::events`].
    pub events: Option<Vec<String>>,
    /// See [`Webhook::types`].
    pub types: Option<Vec<String>>,
    /// See [`Webhook::statuses`].
    pub statuses: Option<Vec<String>>,
    /// See [`Webhook::active`].
    pub active: Option<bool>,
}

/// Why a webhook cannot be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The URL is missing, or not an HTTP URL.
    Url,
    /// A pattern matches no event.
    Pattern,
    /// A list or a text is too long.
    TooLong,
    /// The site has the maximum number of webhooks.
    TooMany,
    /// The database keeps no log of changes.
    NoLog,
}

impl Invalid {
    /// What is wrong, for administrators.
    pub fn message(self) -> String {
        match self {
            Invalid::Url => "The URL must begin with https:// or http://.".to_owned(),
            Invalid::Pattern => "Events are patterns such as post.published, post.*, *.deleted or *.".to_owned(),
            Invalid::TooLong => "A list or a text is too long.".to_owned(),
            Invalid::TooMany => format!("A site can have at most {MAX_WEBHOOKS} webhooks."),
            Invalid::NoLog => "Webhooks need the log of changes: set `change_log`, such as `change_log = 100000`, and \
                               restart the server."
                .to_owned(),
        }
    }

    /// The error of a transaction.
    pub(super) fn error(self) -> SiteError {
        let status = if self == Invalid::NoLog { 501 } else { 400 };
        svc_schema::Error::new("rest_webhook_invalid", self.message()).with_status(status).into()
    }
}

/// Whether a pattern can match an event.
pub fn is_pattern(pattern: &str) -> bool {
    let Some((object, kind)) = pattern.split_once('.') else { return pattern == "*" };
    (object == "*" || object.parse::<ObjectKind>().is_ok()) && (kind == "*" || kind.parse::<EventKind>().is_ok())
}

impl Draft {
    /// Applies the changes to a webhook.
    fn apply(&self, hook: &mut Webhook) -> Result<(), Invalid> {
        let Draft { name, url, events, types, statuses, active } = self.clone();
        hook.name = name.unwrap_or(std::mem::take(&mut hook.name));
        hook.url = url.unwrap_or(std::mem::take(&mut hook.url));
        hook.events = events.unwrap_or(std::mem::take(&mut hook.events));
        hook.types = types.unwrap_or(std::mem::take(&mut hook.types));
        hook.statuses = statuses.unwrap_or(std::mem::take(&mut hook.statuses));
        if let Some(active) = active {
            hook.active = active;
            if active {
                // An administrator has seen to the receiver.
                (hook.failing_since, hook.switched_off) = (None, String::new());
            }
        }
        if !["https://", "http://"].iter().any(|scheme| hook.url.starts_with(scheme)) {
            return Err(Invalid::Url);
        }
        if hook.events.is_empty() || !hook.events.iter().all(|pattern| is_pattern(pattern)) {
            return Err(Invalid::Pattern);
        }
        let lists = [&hook.events, &hook.types, &hook.statuses];
        let mut texts = lists.into_iter().flatten().chain([&hook.name, &hook.url]);
        if lists.iter().any(|list| list.len() > MAX_FILTERS) || texts.any(|text| text.len() > MAX_TEXT) {
            return Err(Invalid::TooLong);
        }
        Ok(())
    }
}

impl Webhook {
    /// Whether an event is sent.
    pub fn wants(&self, event: &Event) -> bool {
        if !self.active || event.seq <= self.since {
            return false;
        }
        let Some(object) = &event.object else { return true };
        let states = || [&event.after, &event.before].into_iter().flatten();
        let is_in = |list: &[String], value: fn(&crate::event::State) -> &str| {
            list.is_empty() || states().any(|state| list.iter().any(|one| one == value(state)))
        };
        self.events.iter().any(|pattern| matches(pattern, object.kind, event))
            && is_in(&self.types, |state| &state.object_type)
            && is_in(&self.statuses, |state| &state.status)
    }
}

fn matches(pattern: &str, object: ObjectKind, event: &Event) -> bool {
    let Some((of, kind)) = pattern.split_once('.') else { return pattern == "*" };
    // What is new and public at once is published, and created as well.
    let is_kind = kind == "*" || kind == event.kind.name() || (kind == EventKind::Created.name() && event.is_new());
    (of == "*" || of == object.name()) && is_kind
}

/// The webhooks of a site, in the order in which they were created.
///
/// # Errors
/// Errors of the store; an option that is not readable.
pub fn list(db: &mut Db) -> SiteResult<Vec<Webhook>> {
    let Some(stored) = options::get(db, OPTION)? else { return Ok(Vec::new()) };
    serde_json::from_str(stored.text()).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> SiteError {
    StoreError::Other(format!("the option `{OPTION}`: {error}")).into()
}

fn store(tx: &mut Tx, hooks: &[Webhook]) -> SiteResult<()> {
    let text = serde_json::to_string(hooks).map_err(|error| unreadable(&error))?;
    Ok(options::set(tx, OPTION, &StoredText::of(text), false)?)
}

/// Creates a webhook, with a secret. `now` is in seconds since the epoch.
///
/// # Errors
/// [`Invalid`], and errors of the store.
pub fn create(tx: &mut Tx, draft: &Draft, now: i64) -> SiteResult<Webhook> {
    let Some(bounds) = tx.log_bounds()? else { return Err(Invalid::NoLog.error()) };
    let mut hooks = list(tx)?;
    if hooks.len() >= MAX_WEBHOOKS {
        return Err(Invalid::TooMany.error());
    }
    let random = |error: RandomSourceError| SiteError::from(StoreError::Other(error.to_string()));
    let mut hook = Webhook {
        id: format!("wh_{}", svc_auth::random_text(16).map_err(random)?.expose()),
        name: String::new(),
        url: String::new(),
        events: vec!["*".to_owned()],
        types: Vec::new(),
        statuses: Vec::new(),
        active: true,
        secrets: vec![sign::new_secret().map_err(random)?],
        created: now,
        since: bounds.last,
        failing_since: None,
        switched_off: String::new(),
    };
    draft.apply(&mut hook).map_err(Invalid::error)?;
    if tx.consumer_position(CONSUMER)?.is_none() {
        tx.set_consumer_position(CONSUMER, bounds.last)?;
    }
    hooks.push(hook.clone());
    store(tx, &hooks)?;
    Ok(hook)
}

/// Changes a webhook and returns it; `None` if it does not exist.
fn change(tx: &mut Tx, id: &str, change: impl FnOnce(&mut Webhook) -> SiteResult<()>) -> SiteResult<Option<Webhook>> {
    let mut hooks = list(tx)?;
    let Some(hook) = hooks.iter_mut().find(|hook| hook.id == id) else { return Ok(None) };
    let before = hook.clone();
    change(hook)?;
    let after = hook.clone();
    if after != before {
        store(tx, &hooks)?;
    }
    Ok(Some(after))
}

/// Updates a webhook and returns it; `None` if it does not exist.
///
/// # Errors
/// [`Invalid`], and errors of the store.
pub fn update(tx: &mut Tx, id: &str, draft: &Draft) -> SiteResult<Option<Webhook>> {
    change(tx, id, |hook| draft.apply(hook).map_err(Invalid::error))
}

/// Deletes a webhook and returns it; `None` if it does not exist. Its deliveries that wait are given up.
///
/// # Errors
/// Errors of the store.
pub fn delete(tx: &mut Tx, id: &str) -> SiteResult<Option<Webhook>> {
    let mut hooks = list(tx)?;
    let Some(at) = hooks.iter().position(|hook| hook.id == id) else { return Ok(None) };
    let deleted = hooks.remove(at);
    if hooks.is_empty() {
        options::delete(tx, OPTION)?;
        tx.remove_consumer(CONSUMER)?;
    } else {
        store(tx, &hooks)?;
    }
    Ok(Some(deleted))
}

/// Gives a webhook a new secret, which comes first. The earlier ones are used as well, until `only_new` removes them. `None` if the
/// webhook does not exist.
///
/// # Errors
/// Errors of the store; a missing source of random bytes.
pub fn rotate_secret(tx: &mut Tx, id: &str, only_new: bool) -> SiteResult<Option<Webhook>> {
    let secret = sign::new_secret().map_err(|error| SiteError::from(StoreError::Other(error.to_string())))?;
    change(tx, id, |hook| {
        if only_new {
            hook.secrets.clear();
        }
        hook.secrets.insert(0, secret);
        hook.secrets.truncate(MAX_SECRETS);
        Ok(())
    })
}

/// Records that deliveries fail. The first time is kept.
///
/// # Errors
/// Errors of the store.
pub fn set_failing(tx: &mut Tx, id: &str, now: i64) -> SiteResult<Option<Webhook>> {
    change(tx, id, |hook| {
        hook.failing_since.get_or_insert(now);
        Ok(())
    })
}

/// Records that a delivery was accepted.
///
/// # Errors
/// Errors of the store.
pub fn set_working(tx: &mut Tx, id: &str) -> SiteResult<Option<Webhook>> {
    change(tx, id, |hook| {
        hook.failing_since = None;
        Ok(())
    })
}

/// Switches a webhook off, for a reason that administrators see.
///
/// # Errors
/// Errors of the store.
pub fn switch_off(tx: &mut Tx, id: &str, reason: &str) -> SiteResult<Option<Webhook>> {
    change(tx, id, |hook| {
        if hook.active {
            (hook.active, hook.switched_off) = (false, reason.to_owned());
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::event::{Object, State};

    fn hook(events: &[&str], types: &[&str], statuses: &[&str]) -> Webhook {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        Webhook {
            id: "wh_1".to_owned(),
            name: String::new(),
            url: "https://example.org/".to_owned(),
            events: texts(events),
            types: texts(types),
            statuses: texts(statuses),
            active: true,
            secrets: Vec::new(),
            created: 0,
            since: 5,
            failing_since: None,
            switched_off: String::new(),
        }
    }

    fn event(kind: EventKind, before: Option<&str>, after: Option<&str>) -> Event {
        let state =
            |status: &str| State { object_type: "page".to_owned(), status: status.to_owned(), ..State::default() };
        let object = Object { kind: ObjectKind::Post, id: 1, name: String::new(), now: None };
        let (before, after) = (before.map(state), after.map(state));
        Event { seq: 6, time: SystemTime::UNIX_EPOCH, kind, object: Some(object), before, after, caller: None }
    }

    #[test]
    fn events_are_filtered() {
        let published = event(EventKind::Published, None, Some("publish"));
        let unpublished = event(EventKind::Unpublished, Some("publish"), Some("draft"));
        #[rustfmt::skip]
        let rows = [
            (&["*"][..], &[][..], &[][..], true, true),
            (&["post.*"], &[], &[], true, true),
            (&["media.*"], &[], &[], false, false),
            (&["*.published"], &[], &[], true, false),
            (&["post.created"], &[], &[], true, false),
            (&["post.unpublished", "post.deleted"], &[], &[], false, true),
            (&["*"], &["post"], &[], false, false),
            (&["*"], &["post", "page"], &["draft"], false, true),
            (&["*"], &[], &["publish"], true, true),
        ];
        for (events, types, statuses, first, second) in rows {
            let hook = hook(events, types, statuses);
            assert_eq!((hook.wants(&published), hook.wants(&unpublished)), (first, second), "{events:?} {types:?}");
        }
        let all = || hook(&["*"], &[], &[]);
        assert!(!Webhook { active: false, ..all() }.wants(&published));
        assert!(!Webhook { since: 6, ..all() }.wants(&published), "it happened before");
        let reset = Event { object: None, kind: EventKind::Reset, ..published };
        assert!(hook(&["media.deleted"], &["attachment"], &[]).wants(&reset), "nobody knows what has changed");
    }

    #[test]
    fn patterns_that_match_nothing_are_refused() {
        for (pattern, is_valid) in [
            ("*", true),
            ("*.*", true),
            ("menu_item.trashed", true),
            ("post", false),
            ("post.", false),
            ("posts.created", false),
            ("post.gone", false),
            ("", false),
        ] {
            assert_eq!(is_pattern(pattern), is_valid, "{pattern}");
        }
    }
}
