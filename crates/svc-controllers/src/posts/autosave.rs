//! What becomes of an autosave: a change of the post's own row, or a revision beside it.

use svc_auth::Caller;
use svc_model::{Post, PostId, RestController, UserId};
use svc_routing::{Request, Result};
use svc_site::{
    SiteResult,
    block_types::{is_edited, kept},
    posts::draft::PostDraft,
    revisions::{self as keep, Editor, Typed},
};
use svc_store::{
    Db,
    meta::{self, MetaKind},
    posts, users,
};

use super::{Authorized, Posts};
use crate::{caller, errors, respond};

/// Meta that says who has a post open in an editor, and since when.
const LOCK: &str = "_edit_lock";
/// Seconds for which an editor has a post to himself without saying so again.
const LOCKED: i64 = 150;

impl Posts {
    /// Saves what an editor has typed so far. His own draft is changed in place, unless somebody else has it open; of any
    /// other post it is kept beside, one for each editor. Gives the id of the row that holds it.
    pub(crate) async fn autosave(&self, req: &Request, granted: Authorized) -> Result<PostId> {
        let Authorized { post, settings } = granted;
        let caller = caller(req);
        let draft = match self.post_type.rest_controller {
            RestController::MenuItems => PostDraft { meta: respond::given(req, "meta"), ..PostDraft::default() },
            _ => self.draft(req)?,
        };
        let now = self.site.now();
        let job = self.job(caller.clone(), PostDraft::default(), Some(post.id), settings.clone());
        // A status that the caller may not give spoils the rest, and the peer saves what is left: nothing.
        let spoilt = job.refuses_status_of(&draft, &post.status);
        let is_own = matches!(post.status.as_str(), "draft" | "auto-draft") && post.author == caller.id;
        if is_own && !self.site.read(|db| is_open_elsewhere(db, &post, &caller, now.and_utc().timestamp()))? {
            let draft = if spoilt { PostDraft::default() } else { in_row(draft) };
            let job = self.job(caller, draft, Some(post.id), settings).without_revision();
            return self.site.write(move |tx| job.run(tx)).await;
        }
        let typed = match self.post_type.rest_controller {
            // What is typed of an item of a menu goes into none of the texts that an autosave has: they are empty.
            RestController::MenuItems => Typed::nothing(draft.meta),
            _ if spoilt => Typed::default(),
            _ => {
                let kept = |text: String| kept(&self.site, &settings, &self.post_type.name, &text).content;
                let content = if is_edited(&self.post_type.name) { draft.content.map(kept) } else { draft.content };
                Typed { title: draft.title, content, excerpt: draft.excerpt, meta: draft.meta }
            }
        };

        let site = self.site.clone();
        let write = move |tx: &mut svc_store::Tx| {
            let editor = Editor { caller: &caller, unfiltered_html: job.allows_any_html(), now };
            let post = posts::get(tx, post.id)?.ok_or_else(errors::post_not_found)?;
            keep::autosave(tx, &site, &settings, &post, &typed, &editor)
        };
        self.site.write(write).await
    }
}

/// What of a draft is in the row: the rest of the post is not autosaved.
fn in_row(draft: PostDraft) -> PostDraft {
    PostDraft {
        featured_media: None,
        format: None,
        meta: None,
        sticky: None,
        template: None,
        terms: indexmap::IndexMap::new(),
        ..draft
    }
}

/// Whether another user has the post open. Source: `wp_check_post_lock`.
fn is_open_elsewhere(db: &mut Db, post: &Post, caller: &Caller, now: i64) -> SiteResult<bool> {
    let Some(lock) = meta::get(db, MetaKind::Post, post.id.0, LOCK)? else { return Ok(false) };
    let Some((since, user)) = lock.text().split_once(':') else { return Ok(false) };
    let (since, user) = (svc_php::numeric::text_to_int(since), UserId(svc_php::numeric::text_to_int(user)));
    if since <= now.saturating_sub(LOCKED) || user == caller.id {
        return Ok(false);
    }
    Ok(users::get(db, user)?.is_some())
}
