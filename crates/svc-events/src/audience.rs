//! Which events a caller may see, and as what.
//!
//! An event tells of two states, and it may be read long after it happened. A caller sees all of it if they may read the state after it
//! and the object as it is now. If they may not, but could read one of its states, they see that the object is gone. Otherwise they see
//! nothing. The state before it is only shown to those who could read it.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use svc_auth::{Caller, caps::PostCap};
use svc_model::{Comment, Post, PostId, RouteFamily, TermId};
use svc_site::{Access, Settings, Site, permalinks};

use crate::{
    event::{Event, EventKind, Object, ObjectKind, State},
    source::{is_post, post_of},
};

/// What a caller sees of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The event, with the state before it if the caller could read it.
    Whole {
        /// Whether the state before it is shown.
        before: bool,
    },
    /// That the caller cannot read the object any more.
    Gone,
}

/// Decides what callers see of the events of a [`Batch`](crate::Batch).
pub struct Viewer<'a> {
    site: &'a Site,
    settings: &'a Settings,
    access: Access<'a>,
    posts: &'a HashMap<PostId, Post>,
    log_id: &'a str,
}

impl<'a> Viewer<'a> {
    pub(crate) fn new(
        site: &'a Site,
        settings: &'a Settings,
        access: Access<'a>,
        posts: &'a HashMap<PostId, Post>,
        log_id: &'a str,
    ) -> Self {
        Viewer { site, settings, access, posts, log_id }
    }

    /// What a caller sees of an event; `None` if nothing.
    pub fn shown(&self, caller: &Caller, event: &Event) -> Option<Shown> {
        let Some(object) = &event.object else { return Some(Shown::Whole { before: false }) };
        let may_see = |state: &Option<State>| state.as_ref().is_some_and(|state| self.may_see(caller, object, state));
        match object.kind {
            ObjectKind::User => {
                let may = self.access.can(caller, "list_users") || (caller.is_logged_in() && caller.id.0 == object.id);
                return may.then_some(Shown::Whole { before: event.before.is_some() });
            }
            ObjectKind::Setting => {
                return self.access.can(caller, "manage_options").then_some(Shown::Whole { before: false });
            }
            _ => {}
        }
        let (before, after) = (may_see(&event.before), may_see(&event.after));
        let Some(_) = &object.now else {
            // It does not exist any more. Those who could change it know what it was.
            let states = [&event.before, &event.after];
            let may_change = states.into_iter().flatten().any(|state| self.may_change(caller, object, state));
            let is_unknown = event.before.is_none() && event.after.is_none();
            return match (before || after, may_change) {
                (_, true) => Some(Shown::Whole { before: event.before.is_some() }),
                (true, false) => Some(Shown::Gone),
                (false, false) if is_unknown && self.access.can(caller, "moderate_comments") => {
                    Some(Shown::Whole { before: false })
                }
                (false, false) => None,
            };
        };
        match (self.may_see_now(caller, object), before, after) {
            (true, before, true) => Some(Shown::Whole { before }),
            (true, true, false) | (false, true, _) | (false, _, true) => Some(Shown::Gone),
            (_, false, false) => None,
        }
    }

    /// Whether a caller may read the object as it is now.
    fn may_see_now(&self, caller: &Caller, object: &Object) -> bool {
        match self.posts.get(&PostId(object.id)).filter(|_| is_post(object)) {
            Some(post) => self.may_read(caller, post),
            None => object.now.as_ref().is_some_and(|now| self.may_see(caller, object, now)),
        }
    }

    /// Whether a caller may read an object in this state.
    fn may_see(&self, caller: &Caller, object: &Object, state: &State) -> bool {
        match object.kind {
            ObjectKind::Post | ObjectKind::Media | ObjectKind::MenuItem => {
                let parent = state.parent.unwrap_or_default();
                // What it was attached to does not exist any more: nobody knows whether it was public.
                let is_attached = state.status == "inherit" && (state.parent.is_none() || !parent.is_none());
                let is_known = !is_attached || self.access.knows(parent);
                is_known && self.may_read(caller, &post_of(PostId(object.id), state))
            }
            ObjectKind::Comment => self.may_read_comment(caller, state),
            ObjectKind::Menu => self.access.can(caller, "edit_theme_options"),
            ObjectKind::Term => {
                self.site.registries.taxonomies.get(&state.object_type).is_some_and(|taxonomy| taxonomy.show_in_rest)
            }
            ObjectKind::User | ObjectKind::Setting => false,
        }
    }

    /// Whether a caller may read a post in the REST API.
    fn may_read(&self, caller: &Caller, post: &Post) -> bool {
        let Some(post_type) = self.site.registries.types.get(&post.post_type) else { return false };
        post_type.show_in_rest
            && match post_type.route_family {
                RouteFamily::Posts | RouteFamily::Attachments | RouteFamily::Blocks => {
                    self.access.can_read(caller, post)
                }
                _ => self.access.can(caller, "edit_theme_options"),
            }
    }

    /// An approved comment can be read by those who may read its post, without a password; others by their author and by those who
    /// may edit the post, and notes by the latter only.
    fn may_read_comment(&self, caller: &Caller, state: &State) -> bool {
        let (post, user) = (state.parent.unwrap_or_default(), state.author.unwrap_or_default());
        let may_edit = || self.may_edit_comment(caller, post);
        if state.object_type == "note" {
            return may_edit();
        }
        if state.status == "approved"
            && let Some(post) = self.posts.get(&post)
        {
            let may_edit_post = || caller.is_logged_in() && caller.can_post(PostCap::Edit, post, &self.access);
            if self.may_read(caller, post) && (!post.is_protected() || may_edit_post()) {
                return true;
            }
        }
        caller.is_logged_in() && (caller.id == user || may_edit())
    }

    fn may_edit_comment(&self, caller: &Caller, post: PostId) -> bool {
        if post.is_none() || !self.posts.contains_key(&post) {
            return self.access.can(caller, "moderate_comments");
        }
        let comment = Comment { post, ..Comment::default() };
        caller.is_logged_in() && caller.can_edit_comment(&comment, &self.access)
    }

    /// Whether a caller may change an object in this state.
    fn may_change(&self, caller: &Caller, object: &Object, state: &State) -> bool {
        match object.kind {
            ObjectKind::Post | ObjectKind::Media | ObjectKind::MenuItem => {
                let post = post_of(PostId(object.id), state);
                caller.is_logged_in() && caller.can_post(PostCap::Edit, &post, &self.access)
            }
            ObjectKind::Comment => self.may_edit_comment(caller, state.parent.unwrap_or_default()),
            ObjectKind::Menu => self.access.can(caller, "edit_theme_options"),
            ObjectKind::Term => self
                .site
                .registries
                .taxonomies
                .get(&state.object_type)
                .is_some_and(|taxonomy| self.access.can(caller, &taxonomy.caps.edit_terms)),
            ObjectKind::User | ObjectKind::Setting => false,
        }
    }

    /// An event as a caller sees it; `None` if they may not know of it.
    pub fn json(&self, caller: &Caller, event: &Event) -> Option<Value> {
        let shown = self.shown(caller, event)?;
        let user = event.caller.filter(|_| self.access.can(caller, "list_users"));
        Some(self.as_json(event, shown, user))
    }

    /// All of an event, for those who may know everything.
    pub fn whole(&self, event: &Event) -> Value {
        self.as_json(event, Shown::Whole { before: true }, event.caller)
    }

    fn as_json(&self, event: &Event, shown: Shown, user: Option<i64>) -> Value {
        let mut out = Map::new();
        out.insert("id".to_owned(), event.id(self.log_id).into());
        out.insert("seq".to_owned(), event.seq.into());
        out.insert("time".to_owned(), event.time_text().into());
        let (Some(object), Shown::Whole { before }) = (&event.object, shown) else {
            let kind = if event.object.is_some() { "gone" } else { EventKind::Reset.name() };
            out.insert("kind".to_owned(), kind.into());
            if let Some(object) = &event.object {
                out.insert("object".to_owned(), json!({ "kind": object.kind.name(), "id": object.id }));
            }
            return out.into();
        };
        out.insert("kind".to_owned(), event.kind.name().into());
        out.insert("object".to_owned(), self.object(object, event));
        out.insert("before".to_owned(), status(event.before.as_ref().filter(|_| before)));
        out.insert("after".to_owned(), status(event.after.as_ref()));
        if let Some(user) = user {
            out.insert("user".to_owned(), user.into());
        }
        out.into()
    }

    fn object(&self, object: &Object, event: &Event) -> Value {
        let mut out = Map::new();
        out.insert("kind".to_owned(), object.kind.name().into());
        if object.kind == ObjectKind::Setting {
            out.insert("name".to_owned(), object.name.clone().into());
        } else {
            out.insert("id".to_owned(), object.id.into());
        }
        let state = event.after.as_ref().or(event.before.as_ref());
        if let Some(state) = state.filter(|state| !state.object_type.is_empty()) {
            out.insert("type".to_owned(), state.object_type.clone().into());
        }
        if let (ObjectKind::Comment, Some(post)) = (object.kind, state.and_then(|state| state.parent)) {
            out.insert("post".to_owned(), post.0.into());
        }
        if event.after.is_some() || object.kind == ObjectKind::Setting {
            let route = self.route(object, state);
            out.insert("href".to_owned(), self.settings.urls.rest(&route).into());
        }
        out.into()
    }

    /// The REST route of an object.
    fn route(&self, object: &Object, state: Option<&State>) -> String {
        let (namespace, registries) = (self.site.brand.namespace(), &self.site.registries);
        let object_type = state.map(|state| state.object_type.as_str()).unwrap_or_default();
        match object.kind {
            ObjectKind::Post | ObjectKind::Media | ObjectKind::MenuItem => {
                let post_type = registries.types.get(object_type);
                post_type.map_or_else(String::new, |post_type| {
                    permalinks::rest_route_of(self.site, self.settings, post_type, PostId(object.id))
                })
            }
            ObjectKind::Term | ObjectKind::Menu => {
                let taxonomy = registries.taxonomies.get(object_type);
                taxonomy.map_or_else(String::new, |taxonomy| {
                    permalinks::rest_route_of_term(self.site, self.settings, taxonomy, TermId(object.id))
                })
            }
            ObjectKind::Comment => format!("/{namespace}/comments/{}", object.id),
            ObjectKind::User => format!("/{namespace}/users/{}", object.id),
            ObjectKind::Setting => format!("/{namespace}/settings"),
        }
    }
}

/// The status of an object before or after an event.
fn status(state: Option<&State>) -> Value {
    match state {
        None => Value::Null,
        Some(state) if state.status.is_empty() => json!({}),
        Some(state) => json!({ "status": state.status }),
    }
}
