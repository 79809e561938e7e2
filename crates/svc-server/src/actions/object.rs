//! The object of a write, and what it was before.

use http::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use svc_controllers::RestSite;
use svc_model::{Comment, CommentId, Post, PostId, RouteFamily, Stamp, Term, TermId};
use svc_store::{Db, Numbered, comments, newest_id, posts, terms};

/// The routes whose actions are known.
const NAMESPACE: &str = "/wp/v2/";

/// Maximum size of an object in JSON, in bytes. Of larger ones, long texts and the parameters are omitted.
const MAX_SIZE: usize = 24 << 10;

/// The columns of posts and comments that may be long.
const LONG: [&str; 4] = ["post_content", "post_excerpt", "comment_content", "description"];

/// Kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Post,
    Term,
    Comment,
}

/// The object or list of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    kind: Kind,
    /// Post type or taxonomy; `comment`.
    of: String,
    /// `None` for a list, where objects are created.
    id: Option<i64>,
}

impl Subject {
    /// The subject of a route; `None` if its actions are not known. Media, users, settings and everything below a single object are
    /// not: their writes do more in WordPress than to run actions.
    pub(super) fn of(site: &RestSite, route: &str) -> Option<Self> {
        let mut parts = route.strip_prefix(NAMESPACE)?.trim_end_matches('/').split('/');
        let base = parts.next()?;
        let id = match parts.next() {
            None => None,
            Some(id) => Some(id.parse().ok().filter(|id| *id > 0)?),
        };
        if parts.next().is_some() {
            return None;
        }
        let of_type =
            site.types.iter().find(|t| t.show_in_rest && t.rest_base == base && t.route_family == RouteFamily::Posts);
        let of_taxonomy =
            site.taxonomies.iter().find(|t| t.show_in_rest && t.rest_base == base && t.standard_controller);
        let (kind, of) = match (of_type, of_taxonomy) {
            (Some(post_type), _) => (Kind::Post, post_type.name.as_str()),
            (None, Some(taxonomy)) => (Kind::Term, taxonomy.name.as_str()),
            (None, None) if base == "comments" => (Kind::Comment, "comment"),
            (None, None) => return None,
        };
        Some(Subject { kind, of: of.to_owned(), id })
    }
}

/// An object that was written, as it is sent to the connector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Object {
    pub(super) kind: Kind,
    /// Post type or taxonomy; `comment`.
    pub(super) of: String,
    /// `None` if an object was created, and its id was not recorded.
    pub(super) id: Option<i64>,
    /// The highest id of all objects of this kind before one was created.
    after: Option<i64>,
    /// The columns before the write; `None` if the object was created.
    before: Option<Value>,
    method: String,
    route: String,
    /// The parameters of the request; empty if they are too large.
    params: Map<String, Value>,
    /// The user who wrote; 0 for visitors, or if it is unknown.
    pub(super) user: i64,
}

impl Object {
    /// Reads what the object of a write is before it.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub(super) fn read(
        site: &RestSite,
        subject: Subject,
        method: &Method,
        route: &str,
        params: Map<String, Value>,
    ) -> svc_store::Result<Self> {
        let Subject { kind, of, id } = subject;
        let (before, after) = site.store.read(|db| match id {
            Some(id) => Ok((columns(db, kind, id)?, None)),
            None => Ok((None, Some(newest_id(db, numbered(kind))?))),
        })?;
        let method = method.as_str().to_owned();
        let mut object = Object { kind, of, id, after, before, method, route: route.to_owned(), params, user: 0 };
        if object.size() > MAX_SIZE {
            object.params.clear();
        }
        if object.size() > MAX_SIZE
            && let Some(Value::Object(columns)) = &mut object.before
        {
            LONG.iter().for_each(|name| drop(columns.remove(*name)));
        }
        if object.size() > MAX_SIZE {
            object.before = object.before.map(|columns| json!({"post_status": columns["post_status"]}));
        }
        Ok(object)
    }

    /// Size in JSON, in bytes.
    pub(super) fn size(&self) -> usize {
        serde_json::to_string(self).map_or(usize::MAX, |text| text.len())
    }

    /// Objects with equal keys are delivered in order. Objects whose id is unknown have the key of their list.
    pub(super) fn key(&self) -> (Kind, Option<i64>) {
        (self.kind, self.id)
    }
}

fn numbered(kind: Kind) -> Numbered {
    match kind {
        Kind::Post => Numbered::Posts,
        Kind::Term => Numbered::Terms,
        Kind::Comment => Numbered::Comments,
    }
}

/// The columns of an object, with WordPress's names.
fn columns(db: &mut Db, kind: Kind, id: i64) -> svc_store::Result<Option<Value>> {
    Ok(match kind {
        Kind::Post => posts::get(db, PostId(id))?.as_ref().map(of_post),
        Kind::Term => terms::get(db, TermId(id), None)?.as_ref().map(of_term),
        Kind::Comment => comments::get(db, CommentId(id))?.as_ref().map(of_comment),
    })
}

/// A date as it is stored.
fn date(stamp: Stamp) -> String {
    stamp.map_or_else(|| "0000-00-00 00:00:00".to_owned(), |stamp| stamp.format("%Y-%m-%d %H:%M:%S").to_string())
}

fn of_post(post: &Post) -> Value {
    json!({
        "ID": post.id.0, "post_author": post.author.0.to_string(), "post_date": date(post.date),
        "post_date_gmt": date(post.date_gmt), "post_content": post.content, "post_title": post.title,
        "post_excerpt": post.excerpt, "post_status": post.status, "comment_status": post.comment_status,
        "ping_status": post.ping_status, "post_password": post.password, "post_name": post.slug,
        "post_modified": date(post.modified), "post_modified_gmt": date(post.modified_gmt),
        "post_parent": post.parent.0, "guid": post.guid, "menu_order": post.menu_order, "post_type": post.post_type,
        "post_mime_type": post.mime_type, "comment_count": post.comment_count.to_string(),
    })
}

fn of_term(term: &Term) -> Value {
    json!({
        "term_id": term.id.0, "name": term.name, "slug": term.slug, "term_group": term.group,
        "term_taxonomy_id": term.taxonomy_id.0, "taxonomy": term.taxonomy, "description": term.description,
        "parent": term.parent.0, "count": term.count,
    })
}

fn of_comment(comment: &Comment) -> Value {
    json!({
        "comment_ID": comment.id.0.to_string(), "comment_post_ID": comment.post.0.to_string(),
        "comment_author": comment.author, "comment_author_email": comment.author_email,
        "comment_author_url": comment.author_url, "comment_author_IP": comment.author_ip,
        "comment_date": date(comment.date), "comment_date_gmt": date(comment.date_gmt),
        "comment_content": comment.content, "comment_karma": comment.karma.to_string(),
        "comment_approved": comment.approved, "comment_agent": comment.agent, "comment_type": comment.comment_type,
        "comment_parent": comment.parent.0.to_string(), "user_id": comment.user.0.to_string(),
    })
}
