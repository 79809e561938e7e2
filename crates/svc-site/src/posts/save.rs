//! Stores a post draft: one transaction, all of it or nothing.

use std::sync::Arc;

use svc_auth::{
    Caller,
    caps::{Object, PostCap},
};
use svc_model::{Post, PostId, PostType, Term, TermId, UserId};
use svc_store::{
    StoredText, Tx,
    meta::{self, MetaKind},
    options, posts, terms, users,
};

use crate::{
    Access, Settings, Site, SiteResult,
    errors::posts as errors,
    hooked_blocks::{applies_to, content_to_store, store_ignored_hooks},
    languages::{self, Translated, Translations},
    media::attached::{ALT, DETAILS, FILE},
    posts::{
        calendar_option,
        draft::PostDraft,
        old_slugs,
        publish::{permalink, published},
        rules, slugs,
    },
    registries::meta::{self as registered_meta, MetaRights},
    revisions::{RevisionAuthor, store_revision},
};

/// Maximum length of the password column, in characters.
pub(crate) const MAX_PASSWORD: usize = 255;

/// Maximum length of titles and excerpts, in bytes.
pub const MAX_TEXT: usize = 65_535;

/// Everything that the transaction needs, so that it can be retried.
pub struct SavePost {
    site: Arc<Site>,
    settings: Arc<Settings>,
    post_type: Arc<PostType>,
    draft: PostDraft,
    writer: rules::ChangeAuthor,
    caller: Caller,
    existing: Option<PostId>,
    /// Whether a revision is stored.
    revises: bool,
    /// Hooked blocks that are no longer inserted for editors.
    ignored_hooks: Vec<String>,
}

impl SavePost {
    /// Prepares a draft for the transaction.
    pub fn new(
        site: &Arc<Site>,
        settings: Arc<Settings>,
        post_type: &Arc<PostType>,
        caller: Caller,
        mut draft: PostDraft,
        existing: Option<PostId>,
    ) -> Self {
        let access = Access::new(site, &settings);
        let [unfiltered_html, publishes] =
            ["unfiltered_html", &post_type.caps.publish_posts].map(|cap| access.can(&caller, cap));
        let mut ignored_hooks = Vec::new();
        if let Some(content) = draft.content.as_mut().filter(|_| existing.is_some() && applies_to(&post_type.name)) {
            let stored = content_to_store(site, &settings, &post_type.name, content);
            (*content, ignored_hooks) = (stored.content, stored.names);
        }
        SavePost {
            ignored_hooks,
            writer: rules::ChangeAuthor {
                id: caller.id,
                unfiltered_html,
                publishes,
                names_pending: publishes,
                now: site.clock(),
            },
            site: Arc::clone(site),
            post_type: Arc::clone(post_type),
            existing,
            settings,
            caller,
            draft,
            revises: existing.is_some(),
        }
    }

    /// Whether the caller may store any HTML.
    pub fn allows_any_html(&self) -> bool {
        self.writer.unfiltered_html
    }

    /// Whether the draft has a status that the caller may not set.
    pub fn refuses_status_of(&self, draft: &PostDraft, now: &str) -> bool {
        rules::refuses_status(draft, Some(now), &self.writer)
    }

    /// Stores no revision.
    pub fn without_revision(self) -> Self {
        SavePost { revises: false, ..self }
    }

    /// Stores the draft and returns the post's id. All changes are part of the transaction.
    pub fn run(&self, tx: &mut Tx) -> SiteResult<PostId> {
        let existing = match self.existing {
            Some(id) => Some(posts::get(tx, id)?.ok_or_else(errors::post_not_found)?),
            None => None,
        };
        self.check_references(tx)?;
        let mut writer = self.writer.clone();
        if let Some(post) = &existing {
            writer.names_pending = self.names_pending(tx, post)?;
        }
        let mut row = rules::apply(existing.as_ref(), &self.draft, &self.post_type, &self.settings, &writer)?;
        if self.draft.parent.is_some() && is_own_ancestor(tx, &row)? {
            row.parent = PostId(0);
        }
        let leaves_trash = row.status != "trash" && existing.as_ref().is_some_and(|before| before.status == "trash");
        let former_slug = if leaves_trash { posts::take_former_slug(tx, row.id)? } else { None };
        if row.password.chars().count() > MAX_PASSWORD || row.title.len().max(row.excerpt.len()) > MAX_TEXT {
            return Err(errors::not_stored(existing.is_some()).into());
        }
        // Drafts get a unique slug only if they request one; new ones only if they also request the draft status. The
        // former slug of a post that leaves the trash takes precedence over a requested one.
        let has_requested_slug = matches!(row.status.as_str(), "draft" | "pending")
            && self.draft.slug.is_some()
            && former_slug.is_none()
            && (existing.is_some() || self.draft.status.is_some());
        row.slug = former_slug.unwrap_or(row.slug);
        // A post that needs a slug and whose title yields none has its id, which a new post does not have yet.
        let is_floating = rules::is_floating(&row.status);
        if row.slug.is_empty() && !is_floating && existing.is_some() {
            row.slug = row.id.to_string();
        }
        if !row.slug.is_empty() && row.status != "trash" {
            let types: Vec<&str> = self.site.registries.types.searchable().into_iter().collect();
            posts::free_slug(tx, &row.slug, row.id, &types)?;
        }
        // With languages, posts may share a slug, which stays.
        let keeps_slug = existing.as_ref().is_some_and(|before| {
            let is_kept = before.slug == row.slug && before.parent == row.parent && !rules::is_floating(&before.status);
            is_kept && self.settings.languages_of_type(&row.post_type).is_some()
        });
        if !row.slug.is_empty() && !keeps_slug && (has_requested_slug || !is_floating) {
            let before = existing.as_ref().map_or("", |post| post.slug.as_str());
            row.slug = slugs::unique(tx, &row, before, &self.post_type, &self.settings.urls)?;
        }
        match &existing {
            Some(before) => {
                posts::update(tx, &row)?;
                old_slugs::remember(tx, &self.post_type, before, &row)?;
                self.set_language(tx, &row)?;
            }
            None => row.id = self.insert(tx, &mut row)?,
        }
        self.store_fields(tx, &row)?;
        self.join_translations(tx, &row)?;
        let was_public = existing.as_ref().is_some_and(|p| p.status == "publish");
        if !was_public && row.status == "publish" {
            let by = (self.caller.id, self.writer.now);
            published(tx, &self.site, &self.settings, &self.post_type, &row, by)?;
        }
        if self.revises {
            let author = RevisionAuthor { id: self.caller.id, unfiltered_html: self.writer.unfiltered_html };
            store_revision(tx, &self.site, &self.settings, &self.post_type, &row, author)?;
        }
        let before = existing.as_ref().map_or("", |post| post.status.as_str());
        calendar_option::status_changed(tx, &row.post_type, before, &row.status)?;
        Ok(row.id)
    }

    /// Checks that author and parent exist.
    fn check_references(&self, tx: &mut Tx) -> SiteResult<()> {
        if let Some(author) = self.draft.author
            && author != 0
            && UserId(author) != self.caller.id
            && users::get(tx, UserId(author))?.is_none()
        {
            return Err(errors::invalid_author().into());
        }
        if let Some(parent) = self.draft.parent
            && parent != 0
            && posts::get(tx, PostId(parent))?.is_none()
        {
            return Err(errors::invalid_parent().into());
        }
        Ok(())
    }

    /// Inserts a row. If a post needs a slug and the title yields none, its slug is its id. The GUID is the post's
    /// current permalink.
    fn insert(&self, tx: &mut Tx, row: &mut Post) -> SiteResult<PostId> {
        row.id = posts::insert(tx, row)?;
        let has_slug = !row.slug.is_empty() || rules::is_floating(&row.status);
        if !has_slug {
            row.slug = row.id.to_string();
            row.slug = slugs::unique(tx, row, "", &self.post_type, &self.settings.urls)?;
        }
        self.set_language(tx, row)?;
        if !self.sets_categories() {
            give_default_terms(tx, &self.settings, row)?;
        }
        let has_guid = !row.guid.is_empty();
        if !has_guid {
            row.guid = permalink(tx, &self.settings, &self.post_type, row)?;
        }
        if !has_slug {
            posts::update(tx, row)?;
        } else if !has_guid {
            // No index has this column.
            posts::set_guid(tx, row.id, &row.guid, None)?;
        }
        Ok(row.id)
    }

    /// Whether the draft decides on the categories, even that there are none. The permalink of a post without categories is that of
    /// one in the default category.
    fn sets_categories(&self) -> bool {
        self.draft.terms.iter().any(|(taxonomy, _)| taxonomy == "category")
    }

    /// Whether the caller may set the slug of this post while it is pending, which requires the right to publish it. A
    /// new post requires the right to publish posts of its type, which differs for patterns.
    fn names_pending(&self, tx: &mut Tx, post: &Post) -> SiteResult<bool> {
        if self.draft.status.as_deref().unwrap_or(&post.status) != "pending" {
            return Ok(true);
        }
        let access = Access::of_posts(&self.site, &self.settings, tx, std::slice::from_ref(post))?;
        Ok(self.caller.can_post(PostCap::Publish, post, &access))
    }

    /// Gives a post of a translated type its language.
    fn set_language(&self, tx: &mut Tx, row: &Post) -> SiteResult<()> {
        let Some(languages) = self.settings.languages_of_type(&row.post_type) else { return Ok(()) };
        let requested = self.draft.language.as_deref();
        languages::set_language(tx, languages, Translated::Posts, (row.id.0, row.parent.0), requested)?;
        Ok(())
    }

    /// Makes the post a translation of the named ones. After a change of its language, its group has it under the new one.
    fn join_translations(&self, tx: &mut Tx, row: &Post) -> SiteResult<()> {
        let Some(languages) = self.settings.languages_of_type(&row.post_type) else { return Ok(()) };
        if self.draft.language.is_none() && self.draft.translations.is_none() {
            return Ok(());
        }
        let terms = terms::of_objects(tx, &[row.id])?.remove(&row.id).unwrap_or_default();
        let Some(language) = languages.of(Translated::Posts, &terms) else { return Ok(()) };
        let by = (&*self.site, &*self.settings, &self.caller);
        let none = Translations::default();
        let named = self.draft.translations.as_ref().unwrap_or(&none);
        languages::join(tx, languages, Translated::Posts, (row.id.0, language), named, |tx, ids| {
            languages::check_posts(tx, by, &row.post_type, ids)
        })
    }

    /// Stores everything that is not part of the row.
    fn store_fields(&self, tx: &mut Tx, row: &Post) -> SiteResult<()> {
        let (draft, id) = (&self.draft, row.id);
        store_ignored_hooks(tx, id, &self.ignored_hooks)?;
        if self.existing.is_some() && !self.sets_categories() {
            give_default_terms(tx, &self.settings, row)?;
        }
        if let Some(sticky) = draft.sticky {
            set_sticky(tx, id, sticky)?;
        }
        // The rows of an attachment are in WordPress's order: its file first, its metadata last.
        if let Some(file) = &draft.file {
            meta::add(tx, MetaKind::Post, id.0, FILE, &StoredText::of(&file.path))?;
        }
        if let Some(alt) = &draft.alt_text {
            meta::update(tx, MetaKind::Post, id.0, ALT, &StoredText::of(alt))?;
        }
        if let Some(media) = draft.featured_media.filter(|_| supports_featured_image(row)) {
            self.set_featured(tx, id, media)?;
        }
        if let Some(format) = &draft.format {
            set_format(tx, id, format)?;
        }
        for (key, value) in &draft.field_meta {
            meta::update(tx, MetaKind::Post, id.0, key, &StoredText::of(value))?;
        }
        for (taxonomy, wanted) in &draft.terms {
            let wanted: Vec<TermId> = wanted.iter().map(|id| TermId(id.saturating_abs())).collect();
            let exist: Vec<TermId> = terms::without_counts(tx, &wanted)?
                .into_iter()
                .filter(|t| t.taxonomy == *taxonomy)
                .map(|t| t.id)
                .collect();
            terms::set_object_terms(tx, id, taxonomy, &exist)?;
        }
        if let Some(value) = &draft.meta {
            let access = Access::of_posts(&self.site, &self.settings, tx, std::slice::from_ref(row))?;
            let may = |cap: &str, key: &str| {
                self.caller.can_post(PostCap::Edit, row, &access)
                    && self.caller.can(cap, Object::Meta(MetaKind::Post, id.0, key), &access)
            };
            let rights = MetaRights {
                edit: &|key| may("edit_post_meta", key),
                delete: &|key| may("delete_post_meta", key),
                unfiltered_html: self.writer.unfiltered_html,
            };
            let stored = meta::load_one(tx, MetaKind::Post, id.0)?;
            let changes =
                self.site.registries.meta.changes("post", &row.post_type, &stored, value, &rights, &self.caller)?;
            drop(access);
            registered_meta::store(tx, MetaKind::Post, id.0, &changes)?;
        }
        if let Some(file) = &draft.file {
            meta::add(tx, MetaKind::Post, id.0, DETAILS, &file.details)?;
        }
        Ok(())
    }

    /// Sets the featured image; zero removes it. Ids of posts that do not exist are ignored, as in WordPress.
    fn set_featured(&self, tx: &mut Tx, id: PostId, media: i64) -> SiteResult<()> {
        let named = if media == 0 { None } else { posts::get(tx, PostId(media))? };
        match named {
            Some(m) if m.post_type == "attachment" && m.mime_type.starts_with("image/") => {
                meta::update(tx, MetaKind::Post, id.0, "_thumbnail_id", &StoredText::of(media))?;
            }
            None if media != 0 => {}
            // The id of something other than an image removes the featured image.
            _ => {
                meta::delete(tx, MetaKind::Post, id.0, "_thumbnail_id", None)?;
            }
        }
        Ok(())
    }
}

/// Assigns the default category to a post without categories.
pub(crate) fn give_default_terms(tx: &mut Tx, settings: &Settings, row: &Post) -> SiteResult<()> {
    let category = TermId(settings.number("default_category"));
    if row.post_type != "post" || row.status == "auto-draft" || category.is_none() {
        return Ok(());
    }
    let has = terms::of_objects(tx, &[row.id])?;
    if !has.get(&row.id).is_some_and(|all| all.iter().any(|t| t.taxonomy == "category")) {
        let category = match settings.languages_of_taxonomy("category") {
            Some(languages) => languages::translated_term(tx, languages, row.id, category)?,
            None => category,
        };
        terms::set_object_terms(tx, row.id, "category", &[category])?;
    }
    Ok(())
}

/// Whether a post can have a featured image. Among attachments only audio and video files can.
pub(crate) fn supports_featured_image(post: &Post) -> bool {
    post.post_type != "attachment" || ["audio/", "video/"].iter().any(|kind| post.mime_type.starts_with(kind))
}

/// Whether a post is its own ancestor.
pub(crate) fn is_own_ancestor(tx: &mut Tx, row: &Post) -> SiteResult<bool> {
    if row.id.is_none() || row.parent.is_none() {
        return Ok(false);
    }
    let ancestors = posts::ancestors(tx, row)?;
    Ok(row.parent == row.id || ancestors.iter().any(|post| post.parent == row.id))
}

/// Adds a post to the list of sticky posts, or removes it.
pub(crate) fn set_sticky(tx: &mut Tx, id: PostId, sticky: bool) -> SiteResult<()> {
    let mut list = crate::settings::sticky(options::get(tx, "sticky_posts")?.as_ref());
    if list.contains(&id) == sticky {
        return Ok(());
    }
    if sticky {
        list.push(id);
    } else {
        list.retain(|other| *other != id);
    }
    let ids = serde_json::Value::from_iter(list.iter().map(|id| id.0));
    options::set(tx, "sticky_posts", &StoredText::of(ids), true)?;
    Ok(())
}

/// Sets the format: a term of the formats taxonomy, created on first use; `standard` removes it.
pub(crate) fn set_format(tx: &mut Tx, id: PostId, format: &str) -> SiteResult<()> {
    if format == "standard" {
        terms::set_object_terms(tx, id, "post_format", &[])?;
        return Ok(());
    }
    let slug = format!("post-format-{format}");
    let term = match terms::by_slug(tx, &slug, "post_format")? {
        Some(term) => term.id,
        None => {
            let term = Term { taxonomy: "post_format".to_owned(), name: slug.clone(), slug, ..Term::default() };
            terms::insert(tx, &term)?.id
        }
    };
    terms::set_object_terms(tx, id, "post_format", &[term])?;
    Ok(())
}
