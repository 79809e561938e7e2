//! Preview links: tokens with which anyone may read one post for a while, such as a draft, or one of its revisions or autosaves.
//!
//! A token is signed with the site's keys, so that forged ones cost no statement. Each has a row of its own among the meta of the post:
//! without it, the token is worth nothing. A token is also worth nothing while its creator may not edit the post, and while the
//! post is in the trash.

use serde::{Deserialize, Serialize};
use svc_auth::{caps::PostCap, random_text};
use svc_model::{Post, PostId, UserId};
use svc_store::{
    Db, StoredText, Tx,
    meta::{self, MetaKind},
    posts,
};

use crate::{Access, Settings, Site, SiteError, SiteResult, comments::moderation, errors::preview_links as errors};

/// Name of the query parameter with the token, of the REST API and of pages.
pub const TOKEN_PARAM: &str = "preview_token";

/// Lifetime of a link by default, in seconds.
pub const DEFAULT_LIFETIME: i64 = 60 * 60;

/// Shortest and longest lifetime of a link, in seconds.
pub const LIFETIMES: std::ops::RangeInclusive<i64> = 60..=7 * 24 * 60 * 60;

/// Meta key of the links, one row each.
const KEY: &str = "_svc_preview_link";

/// Maximum number of links of a post that have not expired.
const MAX_LINKS: usize = 50;

/// Characters of the random part of an id.
const ID_LENGTH: usize = 20;

/// Longest token, in bytes.
const MAX_TOKEN: usize = 200;

/// What the signature covers besides the token's parts, so that it cannot be taken for another one.
const PURPOSE: &str = "svc preview link";

/// A preview link. Times are in seconds since the epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewLink {
    /// The id: the post's, and a random text.
    pub id: String,
    /// The revision or autosave that the link shows instead of the post; 0 for the post itself.
    pub revision: i64,
    /// The user who created the link.
    pub creator: i64,
    /// Time of creation.
    pub created: i64,
    /// When the link ends.
    pub expires: i64,
}

/// A post that a token gives access to.
pub struct Preview {
    /// The post as it is to be shown: with the texts of the revision or autosave, if the token names one.
    pub post: Post,
    /// The revision or autosave.
    pub revision: Option<PostId>,
}

impl PreviewLink {
    /// The post of the link.
    pub fn post(&self) -> Option<PostId> {
        post_of(&self.id)
    }

    /// The signed token; `None` on a site without keys.
    pub fn token(&self, site: &Site) -> Option<String> {
        let claims = format!("{}.{}.{}", self.id, self.revision, self.expires);
        let signature = site.sign(PURPOSE, &claims)?;
        Some(format!("{claims}.{signature}"))
    }

    fn is_current(&self, now: i64) -> bool {
        now < self.expires
    }
}

/// The post of the link with this id.
pub fn post_of(id: &str) -> Option<PostId> {
    let (post, _) = id.split_once('-')?;
    post.parse().ok().filter(|id| *id > 0).map(PostId)
}

/// Creates a link. The caller has checked that its creator may edit the post, and that the revision belongs to it.
///
/// # Errors
/// `rest_too_many_preview_links` (400); errors of the store.
pub fn create(
    tx: &mut Tx,
    post: PostId,
    revision: Option<PostId>,
    creator: UserId,
    now: i64,
    lifetime: i64,
) -> SiteResult<PreviewLink> {
    let mut n_current = 0;
    for (link, row) in rows(tx, post)? {
        if link.is_some_and(|link| link.is_current(now)) {
            n_current += 1;
        } else {
            meta::delete(tx, MetaKind::Post, post.0, KEY, Some(&row))?;
        }
    }
    if n_current >= MAX_LINKS {
        return Err(errors::too_many().into());
    }
    let random = random_text(ID_LENGTH).map_err(|_| SiteError::from(errors::no_random_numbers()))?;
    let link = PreviewLink {
        id: format!("{}-{}", post.0, random.expose()),
        revision: revision.map_or(0, |id| id.0),
        creator: creator.0,
        created: now,
        expires: now.saturating_add(lifetime),
    };
    let row = serde_json::to_string(&link).unwrap_or_default();
    meta::add(tx, MetaKind::Post, post.0, KEY, &StoredText::of(row))?;
    Ok(link)
}

/// The links of a post that have not expired, oldest first.
///
/// # Errors
/// Errors of the store.
pub fn list(db: &mut Db, post: PostId, now: i64) -> SiteResult<Vec<PreviewLink>> {
    let links = rows(db, post)?.into_iter().filter_map(|(link, _)| link);
    Ok(links.filter(|link| link.is_current(now)).collect())
}

/// Deletes the link and returns it; `None` if it does not exist.
///
/// # Errors
/// Errors of the store.
pub fn delete(tx: &mut Tx, id: &str) -> SiteResult<Option<PreviewLink>> {
    let Some(post) = post_of(id) else { return Ok(None) };
    for (link, row) in rows(tx, post)? {
        if let Some(link) = link.filter(|link| link.id == id) {
            meta::delete(tx, MetaKind::Post, post.0, KEY, Some(&row))?;
            return Ok(Some(link));
        }
    }
    Ok(None)
}

/// Deletes all links of a post.
///
/// # Errors
/// Errors of the store.
pub(crate) fn delete_all(tx: &mut Tx, post: PostId) -> SiteResult<()> {
    meta::delete(tx, MetaKind::Post, post.0, KEY, None)?;
    Ok(())
}

/// The post that the token gives access to now; `None` if it gives access to none.
///
/// # Errors
/// Errors of the store.
pub fn open(db: &mut Db, site: &Site, settings: &Settings, token: &str) -> SiteResult<Option<Preview>> {
    let now = site.now(db.cx()).and_utc().timestamp();
    let Some(id) = signed_id(site, token, now) else { return Ok(None) };
    let Some(post) = post_of(id) else { return Ok(None) };
    let links = list(db, post, now)?;
    let Some(link) = links.into_iter().find(|link| link.id == id) else { return Ok(None) };
    let Some(mut post) = posts::get(db, post)?.filter(|post| !matches!(&*post.status, "trash" | "auto-draft")) else {
        return Ok(None);
    };
    let Some(creator) = moderation::user(db, settings, UserId(link.creator))? else { return Ok(None) };
    let access = Access::of_posts(site, settings, db, std::slice::from_ref(&post))?;
    let may_edit = creator.can_post(PostCap::Edit, &post, &access);
    drop(access);
    if !may_edit {
        return Ok(None);
    }
    if link.revision == 0 {
        return Ok(Some(Preview { post, revision: None }));
    }
    let id = PostId(link.revision);
    let Some(revision) = revision_of(db, post.id, id)? else { return Ok(None) };
    post.title = revision.title;
    post.content = revision.content;
    post.excerpt = revision.excerpt;
    Ok(Some(Preview { post, revision: Some(id) }))
}

/// The revision or autosave of the post with this id.
///
/// # Errors
/// Errors of the store.
pub fn revision_of(db: &mut Db, post: PostId, id: PostId) -> SiteResult<Option<Post>> {
    Ok(posts::get(db, id)?.filter(|revision| revision.post_type == "revision" && revision.parent == post))
}

/// The id of the link, if the token's signature is right and it has not expired.
fn signed_id<'t>(site: &Site, token: &'t str, now: i64) -> Option<&'t str> {
    let (claims, signature) = token.rsplit_once('.').filter(|_| token.len() <= MAX_TOKEN)?;
    if !site.is_signed(PURPOSE, claims, signature) {
        return None;
    }
    let mut parts = claims.split('.');
    let (id, _, expires) = (parts.next()?, parts.next()?, parts.next()?.parse::<i64>().ok()?);
    (now < expires).then_some(id)
}

/// The stored links of a post, each with its row.
fn rows(db: &mut Db, post: PostId) -> SiteResult<Vec<(Option<PreviewLink>, StoredText)>> {
    let meta = meta::load_one(db, MetaKind::Post, post.0)?;
    let link = |row: &StoredText| serde_json::from_str::<PreviewLink>(row.text()).ok();
    Ok(meta.all(KEY).iter().map(|row| (link(row), row.clone())).collect())
}
