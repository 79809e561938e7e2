//! Stores autosaves, either in the post's own row or as a revision.

use svc_auth::Caller;
use svc_model::{Post, PostId, RouteFamily, UserId};
use svc_routing::{Request, Result};
use svc_site::{
    SiteResult,
    hooked_blocks::{applies_to, content_to_store},
    posts::draft::PostDraft,
    revisions::{self, AutosaveAuthor, AutosaveDraft},
};
use svc_store::{
    Db,
    meta::{self, MetaKind},
    posts, users,
};

use super::{Authorized, Posts};
use crate::{caller, errors, respond};

/// Meta key of the edit lock: timestamp and user who has the post open in an editor.
const LOCK: &str = "_edit_lock";
/// Lifetime of an edit lock, in seconds.
const LOCK_SECONDS: i64 = 150;

impl Posts {
    /// Stores the unsaved changes of an editor. The caller's own draft is updated in place, unless another user has it
    /// open; for other posts the autosave is a revision, one for each editor. Returns the id of the row with the
    /// autosave.
    pub(crate) async fn autosave(&self, req: &Request, authorized: Authorized) -> Result<PostId> {
        let Authorized { post, settings } = authorized;
        let caller = caller(req);
        let draft = match self.post_type.route_family {
            RouteFamily::MenuItems => PostDraft { meta: respond::param_or_null(req, "meta"), ..PostDraft::default() },
            _ => self.draft(req)?,
        };
        let now = self.site.now(req.cx());
        let job = self.job(caller.clone(), PostDraft::default(), Some(post.id), settings.clone());
        // As in WordPress, a status that the caller may not set discards all other changes.
        let is_discarded = job.refuses_status_of(&draft, &post.status);
        let is_own = matches!(post.status.as_str(), "draft" | "auto-draft") && post.author == caller.id;
        if is_own && !self.site.read(req.cx(), |db| is_open_elsewhere(db, &post, &caller, now.and_utc().timestamp()))? {
            let draft = if is_discarded { PostDraft::default() } else { own_columns(draft) };
            let job = self.job(caller, draft, Some(post.id), settings).without_revision();
            return self.site.write(req.cx(), move |tx| job.run(tx)).await;
        }
        let typed = match self.post_type.route_family {
            // Autosaves of menu items have empty texts.
            RouteFamily::MenuItems => AutosaveDraft::empty_texts(draft.meta),
            _ if is_discarded => AutosaveDraft::default(),
            _ => {
                let stored =
                    |text: String| content_to_store(&self.site, &settings, &self.post_type.name, &text).content;
                let content = if applies_to(&self.post_type.name) { draft.content.map(stored) } else { draft.content };
                AutosaveDraft { title: draft.title, content, excerpt: draft.excerpt, meta: draft.meta }
            }
        };

        let site = self.site.clone();
        let write = move |tx: &mut svc_store::Tx| {
            let editor = AutosaveAuthor { caller: &caller, unfiltered_html: job.allows_any_html(), now };
            let post = posts::get(tx, post.id)?.ok_or_else(errors::post_not_found)?;
            revisions::autosave(tx, &site, &settings, &post, &typed, &editor)
        };
        self.site.write(req.cx(), write).await
    }
}

/// The changes of a draft to columns of the post's row. Other changes are not autosaved.
fn own_columns(draft: PostDraft) -> PostDraft {
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
    if since <= now.saturating_sub(LOCK_SECONDS) || user == caller.id {
        return Ok(false);
    }
    Ok(users::get(db, user)?.is_some())
}
