//! Creates, updates, resets and deletes templates.

use std::sync::Arc;

use chrono::NaiveDateTime;
use svc_model::{Post, PostId, UserId};
use svc_routing::{Request, Result};
use svc_site::{
    Access, Settings,
    hooked_blocks::store_ignored_hooks,
    permalinks::PermalinkParts,
    posts::rules::has_no_text,
    revisions::{RevisionAuthor, store_revision},
    sanitize,
    templates::{
        draft::TemplateDraft,
        kinds,
        load::{AREA, Template, TemplateKind, TemplateLookup},
        save::{TemplateChange, find_or_create_term, insert},
    },
};
use svc_store::{
    StoredText, Tx,
    meta::{self, MetaKind},
    posts, terms, users,
};
use svc_versions::Context;

use super::{Templates, already_trashed, not_found, other_theme};
use crate::{caller, errors};

impl Templates {
    /// Creates or updates a template in one transaction. Updating a theme file creates a post for it.
    pub(super) async fn save(
        &self,
        req: &Request,
        existing: Option<Template>,
        settings: &Arc<Settings>,
    ) -> Result<Template> {
        let mut draft: TemplateDraft = self.fields.typed(req).accepted()?;
        let caller = caller(req);
        let theme = self.site.theme(req.cx(), settings).name.clone();
        if let Some(author) = draft.author.map(UserId)
            && !author.is_none()
            && author != caller.id
            && self.site.read(req.cx(), |db| Ok(users::get(db, author)?))?.is_none()
        {
            return Err(errors::invalid_author());
        }
        // A template without a theme could not be found again.
        let theme = draft.theme.clone().unwrap_or(theme);
        if existing.is_none() && svc_text::trim(&theme).is_empty() && !is_empty(&draft) {
            return Err(other_theme());
        }
        let ignored_hooks = self.keep_hooks(&mut draft, settings);
        let filtered = !Access::new(&self.site, settings).can(&caller, "unfiltered_html");
        let is_new = existing.as_ref().is_none_or(|t| t.post.is_none());
        let change = TemplateChange {
            base: existing.as_ref().and_then(|t| t.post.clone()),
            row: self.row(req.cx(), &draft, existing.as_ref(), settings, caller.id, filtered),
            ignored_hooks,
            theme: is_new.then(|| existing.as_ref().map_or(theme, |t| t.theme.clone())),
            area: self.area(&draft, existing.as_ref()),
            origin: existing.as_ref().filter(|_| is_new).map(|t| t.source().to_owned()),
            suggested: req
                .param("is_wp_suggestion")
                .map(|v| if svc_php::cast::truthy(v) { "1" } else { "" }.to_owned()),
            by: caller.id,
        };
        if has_no_text(&change.row) {
            return Err(errors::empty_content());
        }
        let (site, post_type, urls) = (Arc::clone(&self.site), self.post_type.clone(), Arc::clone(settings));
        let (kind, current) = (self.kind, Arc::clone(settings));
        let url = move |row: &Post| urls.urls.post(row, &post_type, &PermalinkParts::default());
        let post_type = self.post_type.clone();
        let row = self
            .site
            .write(req.cx(), move |tx| {
                let mut change = change.clone();
                if change.row.id.is_none() {
                    insert(tx, &mut change, kind, &url)?;
                } else {
                    let now = posts::get(tx, change.row.id)?.ok_or_else(not_found)?;
                    change.rebase(now);
                    posts::update(tx, &change.row)?;
                    let author = RevisionAuthor { id: change.by, unfiltered_html: !filtered };
                    store_revision(tx, &site, &current, &post_type, &change.row, author)?;
                }
                if let Some(area) = &change.area {
                    let term = find_or_create_term(tx, AREA, area)?;
                    terms::set_object_terms(tx, change.row.id, AREA, &[term])?;
                }
                store_ignored_hooks(tx, change.row.id, &change.ignored_hooks)?;
                if let Some(suggested) = &change.suggested {
                    meta::update(tx, MetaKind::Post, change.row.id.0, "is_wp_suggestion", &StoredText::of(suggested))?;
                }
                Ok(change.row)
            })
            .await?;
        let lookup = TemplateLookup::new(req.cx(), &self.site, settings);
        self.site.read(req.cx(), |db| lookup.of_post(db, kind, row))?.ok_or_else(not_found)
    }

    /// Records in the draft's blocks which hooked blocks were handled. Returns the names to store for the root.
    fn keep_hooks(&self, draft: &mut TemplateDraft, settings: &Settings) -> Vec<String> {
        let types = self.site.block_types(settings);
        let Some(content) = draft.content.as_mut().filter(|_| !types.hooks().is_empty()) else { return Vec::new() };
        let handled = types.hooks().content_to_store(content, self.kind.root("").as_ref());
        *content = handled.content;
        handled.names
    }

    /// The post to store.
    fn row(
        &self,
        cx: &Context,
        draft: &TemplateDraft,
        existing: Option<&Template>,
        settings: &Settings,
        by: UserId,
        filtered: bool,
    ) -> Post {
        let now = self.site.now(cx);
        let local = settings.zone.to_local(now);
        let mut row = existing.and_then(|t| t.post.clone()).unwrap_or_else(|| Post {
            author: by,
            date: Some(local),
            date_gmt: Some(now),
            comment_status: "closed".to_owned(),
            ping_status: "closed".to_owned(),
            slug: existing.map_or_else(|| draft.slug.clone().unwrap_or_default(), |t| t.slug.clone()),
            post_type: self.post_type.name.clone(),
            ..Post::default()
        });
        (row.modified, row.modified_gmt) = (Some(local), Some(now));
        "publish".clone_into(&mut row.status);
        if let Some(author) = draft.author.filter(|author| *author != 0) {
            row.author = UserId(author);
        }
        // The request's value, or the stored one, or empty.
        let (title, content, excerpt) = match existing {
            Some(Template { post: None, title, content, description, .. }) => (&**title, &**content, &**description),
            // The stored title, because the displayed one may derive from the slug.
            _ => (&*row.title, &*row.content, &*row.excerpt),
        };
        let text = |given: &Option<String>, was: &str, save: fn(&str, bool) -> String| {
            save(given.as_deref().unwrap_or(was), filtered)
        };
        let title = text(&draft.title, title, sanitize::title);
        let content = text(&draft.content, content, sanitize::content);
        let excerpt = text(&draft.description, excerpt, sanitize::excerpt);
        (row.title, row.content, row.excerpt) = (title, content, excerpt);
        row
    }

    /// The area of a part to store: the request's, the theme file's, or the default. `None` leaves the stored area.
    fn area(&self, draft: &TemplateDraft, existing: Option<&Template>) -> Option<String> {
        if self.kind != TemplateKind::Part {
            return None;
        }
        match (&draft.area, existing) {
            (Some(area), _) => Some(kinds::area(area).to_owned()),
            (None, Some(template)) if template.post.is_some() => None,
            (None, Some(template)) => Some(template.area.clone()),
            (None, None) => Some(kinds::UNCATEGORIZED.to_owned()),
        }
    }

    /// Resets a template to its theme file: deletes its post and returns the file.
    pub(super) async fn reset(&self, cx: &Context, template: Template, settings: &Arc<Settings>) -> Result<Template> {
        let lookup = TemplateLookup::new(cx, &self.site, settings);
        let file = lookup.theme_file(self.kind, &template.id()).ok_or_else(not_found)?;
        if let Some(post) = template.post {
            self.remove(cx, post.id).await?;
        }
        Ok(file)
    }

    /// Deletes a post permanently.
    pub(super) async fn remove(&self, cx: &Context, id: PostId) -> Result<()> {
        self.site.write(cx, move |tx| Ok(posts::delete(tx, id)?.map(drop).ok_or_else(not_found)?)).await
    }

    /// Moves a post to the trash.
    pub(super) async fn trash(
        &self,
        cx: &Context,
        id: PostId,
        settings: &Arc<Settings>,
        by: UserId,
    ) -> Result<Option<Post>> {
        let now: (NaiveDateTime, NaiveDateTime) = (settings.zone.to_local(self.site.now(cx)), self.site.now(cx));
        let (site, post_type, settings) = (Arc::clone(&self.site), self.post_type.clone(), Arc::clone(settings));
        let write = move |tx: &mut Tx| {
            let post = posts::get(tx, id)?.ok_or_else(not_found)?;
            if post.status == "trash" {
                return Err(already_trashed().into());
            }
            let row = posts::trash(tx, id, now)?;
            if let Some(row) = &row {
                store_revision(
                    tx,
                    &site,
                    &settings,
                    &post_type,
                    row,
                    RevisionAuthor { id: by, unfiltered_html: true },
                )?;
            }
            Ok(row)
        };
        self.site.write(cx, write).await
    }
}

fn is_empty(draft: &TemplateDraft) -> bool {
    let nothing = |text: &Option<String>| text.as_deref().is_none_or(|text| matches!(text, "" | "0"));
    nothing(&draft.content) && nothing(&draft.title) && nothing(&draft.description)
}
