//! Stores autosaves, either in the post's own row or as a revision.

use svc_model::{PostId, RouteFamily};
use svc_routing::{Request, Result};
use svc_site::{
    hooked_blocks::{applies_to, content_to_store},
    posts::{draft::PostDraft, edit_lock},
    revisions::{self, AutosaveAuthor, AutosaveDraft},
};
use svc_store::posts;

use super::{Authorized, AuthorizedChange, Posts};
use crate::{caller, errors, respond};

impl Posts {
    /// Stores the unsaved changes of an editor. The caller's own draft is updated in place, unless another user has it
    /// open; for other posts the autosave is a revision, one for each editor. Returns the id of the row with the
    /// autosave.
    pub(crate) async fn autosave(&self, req: &Request, change: AuthorizedChange) -> Result<PostId> {
        let AuthorizedChange { authorized: Authorized { post, settings, .. }, draft } = change;
        let caller = caller(req);
        let draft = match self.post_type.route_family {
            RouteFamily::MenuItems => PostDraft { meta: respond::param_or_null(req, "meta"), ..PostDraft::default() },
            _ => draft.accepted()?,
        };
        let now = self.site.now(req.cx());
        let job = self.job(caller.clone(), PostDraft::default(), Some(post.id), settings.clone());
        // As in WordPress, a status that the caller may not set discards all other changes.
        let is_discarded = job.refuses_status_of(&draft, &post.status);
        let is_own = matches!(post.status.as_str(), "draft" | "auto-draft") && post.author == caller.id;
        let is_open_elsewhere =
            |db: &mut _| Ok(edit_lock::holder(db, post.id, caller.id, now.and_utc().timestamp())?.is_some());
        if is_own && !self.site.read(req.cx(), is_open_elsewhere)? {
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
        field_meta: Vec::new(),
        terms: indexmap::IndexMap::new(),
        ..draft
    }
}
