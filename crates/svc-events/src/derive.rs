//! The event of an entry of the log. It depends on nothing but the entry and the objects as they are now.

use svc_model::PostTypes;
use svc_site::Site;
use svc_store::{
    LoggedChange, Object as LoggedObject, Operation,
    descriptions::{CommentClass, meta_keys},
    post_changes::PostClass,
    rows,
};

use crate::event::{Event, EventKind, Object, ObjectKind, State, comment_status};

/// Post meta that says nothing of the post's content: locks, traces of editing and of the trash, caches.
const INTERNAL_POST_META: [&str; 12] = [
    "_edit_lock",
    "_edit_last",
    "_encloseme",
    "_pingme",
    "_wp_old_slug",
    "_wp_old_date",
    "_wp_trash_meta_status",
    "_wp_trash_meta_time",
    "_wp_trash_meta_comments_status",
    "_wp_desired_post_slug",
    "_wp_sideloaded_file",
    "_svc_preview_link",
];

/// The meta of users that events tell of: what describes them, and what they may do. The rest is about sessions, and how screens look.
const USER_META: [&str; 5] = ["nickname", "first_name", "last_name", "description", "locale"];

/// The rows of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Post,
    Term,
    Comment,
    User,
    Setting,
}

/// The family of an entry, and whether it is about rows that only belong to the object. `None` for rows of which there are no events.
pub(crate) fn family(change: &LoggedChange) -> Option<(Family, bool)> {
    let families = [
        (rows::POSTS, Family::Post, false),
        (rows::POST_META, Family::Post, true),
        (rows::POST_TERMS, Family::Post, true),
        (rows::TERMS, Family::Term, false),
        (rows::TERM_META, Family::Term, true),
        (rows::COMMENTS, Family::Comment, false),
        (rows::COMMENT_META, Family::Comment, true),
        (rows::USERS, Family::User, false),
        (rows::USER_META, Family::User, true),
        (rows::OPTIONS, Family::Setting, false),
    ];
    families.into_iter().find(|(rows, ..)| rows.name() == change.kind).map(|(_, family, is_part)| (family, is_part))
}

/// The objects as they are now.
pub(crate) trait Now {
    /// A post's type and status, and what it belongs to.
    fn post(&self, id: i64) -> Option<State>;
    /// A term's taxonomy.
    fn term(&self, id: i64) -> Option<State>;
    /// A comment.
    fn comment(&self, id: i64) -> Option<State>;
    /// The public name of the setting that is stored in an option.
    fn setting(&self, option: &str) -> Option<&str>;
    /// The prefix of the names of tables.
    fn prefix(&self) -> &str;
}

/// The event of an entry; `None` if it is internal.
pub(crate) fn event(site: &Site, change: &LoggedChange, now: &impl Now) -> Option<Event> {
    let (family, is_part) = family(change)?;
    let id = match &change.object {
        None => return Some(of(change, EventKind::Reset, None, None, None)),
        Some(LoggedObject::Name(name)) => return setting(change, name, now),
        Some(LoggedObject::Id(id)) => *id,
    };
    if is_part && !says_something(family, change, now.prefix()) {
        return None;
    }
    match family {
        Family::Post => post(site, change, id, is_part, now.post(id)),
        Family::Term => term(change, id, is_part, now.term(id)),
        Family::Comment => comment(change, id, is_part, now.comment(id)),
        Family::User => Some(user(change, id, is_part)),
        Family::Setting => None,
    }
}

fn of(
    change: &LoggedChange,
    kind: EventKind,
    object: Option<Object>,
    before: Option<State>,
    after: Option<State>,
) -> Event {
    Event { seq: change.seq, time: change.time, kind, object, before, after, caller: change.caller }
}

/// Whether changed meta, or changed terms of a post, are more than an internal note.
fn says_something(family: Family, change: &LoggedChange, prefix: &str) -> bool {
    let Some(text) = change.after.as_deref().or(change.before.as_deref()) else {
        // Which keys have changed is not known: all meta of the object was deleted, or the terms of a post have changed.
        return change.kind == rows::POST_TERMS.name();
    };
    meta_keys(text).any(|key| match family {
        Family::Post => !INTERNAL_POST_META.contains(&key) && !key.starts_with("_oembed_"),
        Family::Comment => !key.starts_with("_wp_trash_meta_"),
        Family::User => USER_META.contains(&key) || key.strip_prefix(prefix) == Some("capabilities"),
        Family::Term | Family::Setting => true,
    })
}

fn setting(change: &LoggedChange, option: &str, now: &impl Now) -> Option<Event> {
    let object = Object { kind: ObjectKind::Setting, id: 0, name: now.setting(option)?.to_owned(), now: None };
    let kind = if change.operation == Operation::Delete { EventKind::Deleted } else { EventKind::Updated };
    Some(of(change, kind, Some(object), None, None))
}

fn user(change: &LoggedChange, id: i64, is_part: bool) -> Event {
    let object = Object { kind: ObjectKind::User, id, name: String::new(), now: None };
    let (kind, before, after) = match change.operation {
        Operation::Insert if !is_part => (EventKind::Created, None, Some(State::default())),
        Operation::Delete if !is_part => (EventKind::Deleted, Some(State::default()), None),
        _ => (EventKind::Updated, Some(State::default()), Some(State::default())),
    };
    of(change, kind, Some(object), before, after)
}

fn term(change: &LoggedChange, id: i64, is_part: bool, now: Option<State>) -> Option<Event> {
    let state = |text: &Option<String>| {
        let object_type = text.clone().filter(|_| !is_part)?;
        Some(State { object_type, ..State::default() })
    };
    let (before, after) = (state(&change.before), state(&change.after));
    let (kind, before, after) = match (before, after) {
        (None, Some(after)) => (EventKind::Created, None, Some(after)),
        (Some(before), None) => (EventKind::Deleted, Some(before), None),
        (Some(before), Some(after)) => (EventKind::Updated, Some(before), Some(after)),
        // The row with the name, of which there is one for several taxonomies: that of the taxonomy is logged as well.
        (None, None) if !is_part && change.operation != Operation::Update => return None,
        (None, None) => (EventKind::Updated, now.clone(), Some(now.clone()?)),
    };
    let object_type = &after.as_ref().or(before.as_ref())?.object_type;
    let kind_of = if object_type == svc_site::menus::item::MENU { ObjectKind::Menu } else { ObjectKind::Term };
    let object = Object { kind: kind_of, id, name: String::new(), now };
    Some(of(change, kind, Some(object), before, after))
}

fn comment(change: &LoggedChange, id: i64, is_part: bool, now: Option<State>) -> Option<Event> {
    let state = |text: &Option<String>| {
        let class = CommentClass::from_text(text.as_deref().filter(|_| !is_part)?)?;
        Some(State {
            object_type: class.comment_type,
            status: comment_status(&class.approved).to_owned(),
            author: Some(class.user),
            parent: Some(class.post),
        })
    };
    let (mut before, mut after) = (state(&change.before), state(&change.after));
    if before.is_none() && after.is_none() && change.operation != Operation::Delete {
        (before, after) = (now.clone(), Some(now.clone()?));
    }
    let is_public = |state: &Option<State>| state.as_ref().is_some_and(|state| state.status == "approved");
    let kind = kind(&before, &after, is_public(&before), is_public(&after));
    let object = Object { kind: ObjectKind::Comment, id, name: String::new(), now };
    Some(of(change, kind, Some(object), before, after))
}

fn post(site: &Site, change: &LoggedChange, id: i64, is_part: bool, now: Option<State>) -> Option<Event> {
    let (before, after) = if is_part {
        (now.clone(), now.clone())
    } else {
        let state = |text: &Option<String>| Some(post_state(PostClass::from_text(text.as_deref()?)?, now.as_ref()));
        (state(&change.before), state(&change.after))
    };
    // What an editor reserves before the first word is written.
    let is_post = |state: &State| state.status != "auto-draft";
    let (before, after) = (before.filter(is_post), after.filter(is_post));
    // Without both, only other columns have changed, such as the number of comments.
    let kind_of = object_kind(&site.registries.types, &after.as_ref().or(before.as_ref())?.object_type)?;
    let is_public = |state: &Option<State>| {
        let status = state.as_ref().map(|state| state.status.as_str()).unwrap_or_default();
        site.registries.statuses.get(status).is_some_and(|status| status.public)
    };
    let kind = kind(&before, &after, is_public(&before), is_public(&after));
    let object = Object { kind: kind_of, id, name: String::new(), now: now.filter(is_post) };
    Some(of(change, kind, Some(object), before, after))
}

/// The state of a post. What a transaction did not read of it is as it is now.
fn post_state(class: PostClass, now: Option<&State>) -> State {
    State {
        object_type: class.post_type,
        status: class.status,
        author: class.author.or(now.and_then(|now| now.author)),
        parent: class.parent.or(now.and_then(|now| now.parent)),
    }
}

/// What posts of a type are; `None` for types without routes, which are internal.
fn object_kind(types: &PostTypes, name: &str) -> Option<ObjectKind> {
    types.get(name).filter(|post_type| post_type.show_in_rest)?;
    Some(match name {
        "attachment" => ObjectKind::Media,
        svc_site::menus::item::ITEM => ObjectKind::MenuItem,
        _ => ObjectKind::Post,
    })
}

fn kind(before: &Option<State>, after: &Option<State>, was_public: bool, is_public: bool) -> EventKind {
    let is_trash = |state: &Option<State>| state.as_ref().is_some_and(|state| state.status == "trash");
    match (before, after) {
        (_, None) => EventKind::Deleted,
        _ if is_trash(after) && !is_trash(before) => EventKind::Trashed,
        _ if is_public && !was_public => EventKind::Published,
        (None, _) => EventKind::Created,
        _ if was_public && !is_public => EventKind::Unpublished,
        _ => EventKind::Updated,
    }
}
