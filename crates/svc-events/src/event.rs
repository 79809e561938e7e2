//! What an event is: what happened to an object, and when.

use std::{str::FromStr, time::SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use svc_model::{Comment, PostId, UserId};

/// What happened to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It is new, and not public.
    Created,
    /// It has changed, and is as public as before.
    Updated,
    /// It is public, and was not: it may be new.
    Published,
    /// It is not public any more.
    Unpublished,
    /// It was moved to the trash.
    Trashed,
    /// It does not exist any more.
    Deleted,
    /// Anything may have changed: what happened in between is not known.
    Reset,
}

impl EventKind {
    /// All kinds that an object can have.
    pub const ALL: [EventKind; 6] = [
        EventKind::Created,
        EventKind::Updated,
        EventKind::Published,
        EventKind::Unpublished,
        EventKind::Trashed,
        EventKind::Deleted,
    ];

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::Created => "created",
            EventKind::Updated => "updated",
            EventKind::Published => "published",
            EventKind::Unpublished => "unpublished",
            EventKind::Trashed => "trashed",
            EventKind::Deleted => "deleted",
            EventKind::Reset => "reset",
        }
    }
}

impl FromStr for EventKind {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(())
    }
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A post of any type but the next two.
    Post,
    /// An attachment.
    Media,
    /// An item of a menu.
    MenuItem,
    /// A term of any taxonomy but menus.
    Term,
    /// A menu.
    Menu,
    /// A comment.
    Comment,
    /// A user.
    User,
    /// A setting of the site.
    Setting,
}

impl ObjectKind {
    /// All of them.
    pub const ALL: [ObjectKind; 8] = [
        ObjectKind::Post,
        ObjectKind::Media,
        ObjectKind::MenuItem,
        ObjectKind::Term,
        ObjectKind::Menu,
        ObjectKind::Comment,
        ObjectKind::User,
        ObjectKind::Setting,
    ];

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            ObjectKind::Post => "post",
            ObjectKind::Media => "media",
            ObjectKind::MenuItem => "menu_item",
            ObjectKind::Term => "term",
            ObjectKind::Menu => "menu",
            ObjectKind::Comment => "comment",
            ObjectKind::User => "user",
            ObjectKind::Setting => "setting",
        }
    }
}

impl FromStr for ObjectKind {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or(())
    }
}

/// The state of an object before or after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The post type, the taxonomy, or the type of the comment. Empty for users and settings.
    pub object_type: String,
    /// The status of a post or comment, as in the REST API. Empty for others.
    pub status: String,
    /// The author of a post or comment; `None` if it is not known.
    pub author: Option<UserId>,
    /// The parent of a post, or the post of a comment; `None` if it is not known.
    pub parent: Option<PostId>,
}

/// What happened to an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The number of the entry in the log. Events are in its order.
    pub seq: i64,
    /// When it happened.
    pub time: SystemTime,
    /// What happened.
    pub kind: EventKind,
    /// What it happened to; `None` for [`EventKind::Reset`].
    pub object: Option<Object>,
    /// The state before. `None` if it did not exist, or if it is not known.
    pub before: Option<State>,
    /// The state after. `None` if it does not exist any more, or if it is not known.
    pub after: Option<State>,
    /// The user whose request made the change; `None` for other requests, jobs and other programs.
    pub caller: Option<i64>,
}

/// An object that an event is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// The id; 0 for settings.
    pub id: i64,
    /// The name of a setting; empty for others.
    pub name: String,
    /// Its state when the event is read. `None` if it does not exist any more.
    pub now: Option<State>,
}

impl Object {
    /// A name that no other object has: messages about equal ones keep their order.
    pub fn key(&self) -> String {
        format!("{}:{}{}", self.kind.name(), self.id, self.name)
    }
}

impl Event {
    /// Whether the object did not exist before.
    pub fn is_new(&self) -> bool {
        matches!(self.kind, EventKind::Created | EventKind::Published) && self.before.is_none()
    }

    /// The id, which no other event has: it begins with the id of the log, because the numbers of another one begin with 1 as well.
    pub fn id(&self, log: &str) -> String {
        let time = self.time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        format!("evt_{log}{time:012x}{:x}", self.seq)
    }

    /// The time in UTC, in the form of RFC 3339 with milliseconds.
    pub fn time_text(&self) -> String {
        DateTime::<Utc>::from(self.time).to_rfc3339_opts(SecondsFormat::Millis, true)
    }
}

/// The status of a comment in the REST API.
pub(crate) fn comment_status(approved: &str) -> &str {
    match approved {
        "1" => "approved",
        "0" => "hold",
        other => other,
    }
}

impl From<&Comment> for State {
    fn from(comment: &Comment) -> Self {
        State {
            object_type: comment.comment_type.clone(),
            status: comment_status(&comment.approved).to_owned(),
            author: Some(comment.user),
            parent: Some(comment.post),
        }
    }
}
