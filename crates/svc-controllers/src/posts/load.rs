//! Loads the data of a page of posts in a fixed number of queries.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex},
};

use svc_auth::Caller;
use svc_content::{blocks::BlockTypes, shortcodes::Page};
use svc_model::{Post, PostId, PostType, Taxonomy, Term, UserId};
use svc_render::{
    SiteRenderer,
    blocks::{self, BlockViewer},
    content::RenderOptions,
    feeds::MissingFeeds,
    images::SiteImages,
};
use svc_resource::{Plan, View};
use svc_routing::Request;
use svc_site::{
    Access, Settings, Site, SiteResult, hooked_blocks,
    languages::{Languages, Translated},
    media::attached::AttachmentFiles,
    permalinks::{self, PermalinkParts, category_paths, first_category},
    posts::{draft::PostDraft, slugs},
};
use svc_store::{
    Db,
    meta::{self, Meta, MetaKind},
    posts, terms, users,
};
use svc_text::Html;
use svc_versions::Context;

use super::{
    item::{LoadedPost, PostItem, featured_media},
    links::{self, Revisions},
    rights::PostRights,
};
use crate::{
    item_languages::{self, ItemLanguages, LANG, TRANSLATIONS},
    posts::attachment,
    request::block_viewer,
};

/// Loads posts for a request.
pub(crate) struct PostLoader<'a> {
    pub site: &'a Arc<Site>,
    pub renderer: &'a Arc<SiteRenderer>,
    pub settings: &'a Arc<Settings>,
    pub post_type: &'a Arc<PostType>,
    pub caller: &'a Caller,
    pub view: &'a View,
    /// The password of the request for protected content; empty when there is none.
    pub password: String,
    pub excerpt_length: usize,
    /// The request, if blocks depend on its caller and URL.
    pub req: Option<&'a Request>,
    /// Collects feeds of other sites that are not cached yet.
    pub missing: MissingFeeds,
    /// Whether loading records what the items depend on. Otherwise the caller calls
    /// [`record_dependencies`](PostItem::record_dependencies) for each.
    pub records_items: bool,
}

/// What the items of a page need besides their rows.
struct Related<'a> {
    /// The taxonomies of the type that the REST API has.
    taxonomies: Vec<&'a Taxonomy>,
    /// The block types, in the context `edit` of a type with hooked blocks.
    hooked_types: Option<Arc<BlockTypes>>,
    meta: HashMap<i64, Meta>,
    /// The files of attachments, and the permalinks of the posts to which they are attached.
    attached: HashMap<PostId, (AttachmentFiles, Option<String>)>,
    images: Arc<SiteImages>,
    /// The state of shortcodes on the page.
    page: Arc<Mutex<Page>>,
    terms: HashMap<PostId, Vec<Term>>,
    languages: HashMap<i64, ItemLanguages>,
    permalink_parts: HashMap<PostId, PermalinkParts>,
    /// The number of revisions, and the latest one.
    revisions: HashMap<PostId, (u64, PostId)>,
    parent_urls: HashMap<PostId, String>,
    /// The featured images that links may name.
    media: HashSet<PostId>,
    slugs: HashMap<PostId, String>,
}

impl PostLoader<'_> {
    /// Loads the data that the plan reads: one query per kind of related data, regardless of the number of posts.
    pub(crate) fn load(
        &self,
        db: &mut Db,
        access: &Access<'_>,
        rows: Vec<Post>,
        plan: &Plan<'_, PostItem, PostDraft>,
    ) -> SiteResult<Vec<LoadedPost>> {
        let mut related = self.related(db, access, &rows, plan)?;
        let requested = blocks::RequestedTexts {
            content: plan.wants("content.rendered"),
            excerpt: plan.wants("excerpt.rendered"),
            words: self.excerpt_length,
            before: &[],
        };
        let viewer = |cx: &Context| {
            let viewer = self.req.map(|req| block_viewer(cx, self.site, self.settings, req)).unwrap_or_default();
            BlockViewer { missing: self.missing.clone(), ..viewer }
        };
        let (cx, images, page) = (db.cx().clone(), Arc::clone(&related.images), Arc::clone(&related.page));
        let options = RenderOptions::new(&cx, &images, &page);
        let texts = blocks::render_dynamic(self.renderer, self.settings, viewer, db, &rows, requested, &options)?;
        let mut texts = texts.into_iter();
        let load = |post| self.loaded(&cx, access, post, &mut related, texts.next().unwrap_or_default());
        let mut loaded: Vec<LoadedPost> = rows.into_iter().map(load).collect();
        if self.is_of_attachments() && plan.wants("description.rendered") {
            self.render_descriptions(db, &mut loaded, viewer, &options)?;
        }
        if self.records_items {
            loaded.iter().for_each(|loaded| loaded.item.record_dependencies());
        }
        Ok(loaded)
    }

    fn is_of_attachments(&self) -> bool {
        self.post_type.name == "attachment"
    }

    fn is_edited(&self) -> bool {
        self.view.context == "edit"
    }

    /// Loads what the plan reads besides the rows.
    fn related(
        &self,
        db: &mut Db,
        access: &Access<'_>,
        rows: &[Post],
        plan: &Plan<'_, PostItem, PostDraft>,
    ) -> SiteResult<Related<'_>> {
        let ids: Vec<PostId> = rows.iter().map(|p| p.id).collect();
        let raw_ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let wants_links = self.view.wants_links();
        let taxonomies: Vec<_> =
            self.site.registries.taxonomies.of_type(&self.post_type.name).filter(|t| t.show_in_rest).collect();
        let hooked_types = (self.is_edited() && hooked_blocks::applies_to(&self.post_type.name))
            .then(|| self.site.block_types(self.settings));
        let has_hooks = hooked_types.as_ref().is_some_and(|types| !types.hooks().is_empty());
        let wants_meta = wants_links
            || self.is_of_attachments()
            || has_hooks && plan.wants("content.raw")
            || plan.wants_any(&["meta", "featured_media", "template", "class_list"]);
        let meta = match wants_meta {
            true => db.recorded_by_caller(|db| meta::load(db, MetaKind::Post, &raw_ids))?,
            false => HashMap::new(),
        };
        let attached = match self.is_of_attachments() {
            true => attachment::attached(db, self.site, self.settings, self.caller, rows, &meta)?,
            false => HashMap::new(),
        };
        let wants_texts = plan.wants_any(&["content", "excerpt", "description", "caption"]);
        let rendered: Vec<&Post> = rows.iter().filter(|_| wants_texts).collect();
        let images = Arc::new(SiteImages::of_posts(db, self.site, self.settings, &rendered)?);
        let wants_permalinks = plan.wants_any(&["link", "permalink_template"]);
        let languages = self.settings.languages_of_type(&self.post_type.name);
        let languages = languages.filter(|_| plan.wants_any(&[LANG, TRANSLATIONS]));
        let wants_terms = plan.wants_any(&["format", "class_list"])
            || languages.is_some()
            || (wants_permalinks && self.settings.urls.uses_category())
            || (wants_permalinks && self.settings.urls.have_language_of_type(&self.post_type.name))
            || taxonomies.iter().any(|t| plan.wants(&t.rest_base));
        let terms = match wants_terms {
            true => db.recorded_by_caller(|db| terms::of_objects(db, &ids))?,
            false => HashMap::new(),
        };
        let languages = match languages {
            Some(languages) => self.languages(db, languages, rows, &terms)?,
            None => HashMap::new(),
        };
        let mut permalink_parts =
            if wants_permalinks { self.permalink_parts(db, rows, &terms)? } else { HashMap::new() };
        for post in rows.iter().filter(|post| wants_permalinks && post.status == "private") {
            permalink_parts.entry(post.id).or_default().unreadable = !access.can_read(self.caller, post);
        }
        let revisions = match wants_links && self.post_type.supports("revisions") {
            true => db.recorded_by_caller(|db| posts::revision_counts(db, &ids))?,
            false => HashMap::new(),
        };
        let parent_urls =
            if wants_links && self.post_type.hierarchical { self.parent_urls(db, rows)? } else { HashMap::new() };
        let media = if wants_links { self.readable_media(db, &meta)? } else { HashSet::new() };
        let slugs = if plan.wants("generated_slug") { self.generated_slugs(db, rows)? } else { HashMap::new() };
        let page = Arc::default();
        Ok(Related {
            taxonomies,
            hooked_types,
            meta,
            attached,
            images,
            page,
            terms,
            languages,
            permalink_parts,
            revisions,
            parent_urls,
            media,
            slugs,
        })
    }

    /// An item with its data, which is taken from `related`, and its links.
    fn loaded(
        &self,
        cx: &Context,
        access: &Access<'_>,
        mut post: Post,
        related: &mut Related<'_>,
        rendered: blocks::RenderedTexts,
    ) -> LoadedPost {
        let (id, wants_links, edit) = (post.id, self.view.wants_links(), self.is_edited());
        let rights = (wants_links || edit && post.is_protected()).then(|| {
            PostRights::of(self.caller, access, &post, self.post_type, &related.taxonomies, wants_links && edit)
        });
        let has_password = !self.password.is_empty() && super::same_secret(&self.password, &post.password);
        let unlocked = has_password || (edit && rights.as_ref().is_some_and(PostRights::may_edit));
        let (attached, parent) = related.attached.remove(&id).unzip();
        let mut permalink_parts = related.permalink_parts.remove(&id).unwrap_or_default();
        permalink_parts.parent = parent.flatten();
        if self.site.policies.users.hides_from(self.caller) {
            post.author = UserId::default();
        }
        let item = PostItem {
            cx: cx.clone(),
            attached,
            images: Arc::clone(&related.images),
            page: Arc::clone(&related.page),
            hooked_types: related.hooked_types.clone(),
            stored_meta: related.meta.remove(&id.0).unwrap_or_default(),
            terms: related.terms.remove(&id).unwrap_or_default(),
            languages: related.languages.remove(&id.0).unwrap_or_default(),
            permalink_parts,
            parent_url: related.parent_urls.remove(&id).unwrap_or_default(),
            generated_slug: related.slugs.remove(&id).unwrap_or_default(),
            post,
            post_type: Arc::clone(self.post_type),
            site: Arc::clone(self.site),
            renderer: Arc::clone(self.renderer),
            settings: Arc::clone(self.settings),
            unlocked,
            excerpt_length: self.excerpt_length,
            rendered,
        };
        let (count, latest) = related.revisions.get(&id).copied().unwrap_or_default();
        let links = rights
            .filter(|_| wants_links)
            .map(|rights| links::links(&item, &rights, Revisions { count, latest }, &related.media, edit));
        LoadedPost { item, links }
    }

    /// Renders the descriptions of attachments with dynamic blocks. Their files precede them.
    fn render_descriptions(
        &self,
        db: &mut Db,
        loaded: &mut [LoadedPost],
        viewer: impl FnOnce(&Context) -> BlockViewer,
        with: &RenderOptions<'_>,
    ) -> SiteResult<()> {
        if !loaded.iter().any(|loaded| svc_content::blocks::has_blocks(&loaded.item.post.content)) {
            return Ok(());
        }
        let rows: Vec<Post> = loaded.iter().map(|loaded| loaded.item.post.clone()).collect();
        let files: Vec<Option<Html>> = loaded.iter().map(|loaded| loaded.item.file_element()).collect();
        let requested =
            blocks::RequestedTexts { content: true, excerpt: false, words: self.excerpt_length, before: &files };
        let texts = blocks::render_dynamic(self.renderer, self.settings, viewer, db, &rows, requested, with)?;
        for (loaded, texts) in loaded.iter_mut().zip(texts) {
            loaded.item.rendered = texts;
        }
        Ok(())
    }

    /// The languages of the posts, and their translations that the caller may read.
    fn languages(
        &self,
        db: &mut Db,
        languages: &Languages,
        rows: &[Post],
        terms: &HashMap<PostId, Vec<Term>>,
    ) -> SiteResult<HashMap<i64, ItemLanguages>> {
        let items: Vec<(i64, &[Term])> =
            rows.iter().map(|post| (post.id.0, terms.get(&post.id).map_or(&[][..], Vec::as_slice))).collect();
        let by = (&**self.site, &**self.settings, self.caller);
        item_languages::of_items(db, languages, Translated::Posts, &items, |db, ids| {
            item_languages::readable_posts(db, by, &self.post_type.name, ids)
        })
    }

    /// The featured images of these posts that are published or that the caller may read; two queries if there are any.
    fn readable_media(&self, db: &mut Db, meta: &HashMap<i64, Meta>) -> SiteResult<HashSet<PostId>> {
        let mut ids: Vec<PostId> = meta.values().map(featured_media).filter(|id| id.0 > 0).collect();
        ids.sort_unstable();
        ids.dedup();
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        let found = posts::get_many(db, &ids)?;
        let access = Access::of_posts(self.site, self.settings, db, &found)?;
        let is_shown = |post: &&Post| access.is_published_attachment(post) || access.can_read(self.caller, post);
        Ok(found.iter().filter(is_shown).map(|post| post.id).collect())
    }

    /// The parts of the posts' permalinks that are not in their rows. Only the parts in the permalink structure are
    /// loaded.
    fn permalink_parts(
        &self,
        db: &mut Db,
        rows: &[Post],
        terms: &HashMap<PostId, Vec<Term>>,
    ) -> SiteResult<HashMap<PostId, PermalinkParts>> {
        let mut permalink_parts: HashMap<PostId, PermalinkParts> = HashMap::new();
        let is_post = self.post_type.name == "post";
        if is_post && self.settings.urls.uses_author() {
            let mut authors: Vec<_> = rows.iter().map(|p| p.author).collect();
            authors.sort_unstable();
            authors.dedup();
            let names: HashMap<_, _> = users::get_many(db, &authors)?.into_iter().map(|u| (u.id, u.nicename)).collect();
            for post in rows {
                permalink_parts.entry(post.id).or_default().author =
                    names.get(&post.author).cloned().unwrap_or_default();
            }
        }
        if is_post && self.settings.urls.uses_category() {
            let categories: Vec<(PostId, Term)> =
                rows.iter().filter_map(|p| Some((p.id, first_category(terms.get(&p.id)?)?.clone()))).collect();
            let paths = category_paths(db, categories.iter().map(|(_, t)| t))?;
            for (id, term) in categories {
                permalink_parts.entry(id).or_default().category = paths.get(&term.id).cloned().unwrap_or_default();
            }
        }
        if let Some(languages) = self.settings.languages_of_type(&self.post_type.name) {
            for post in rows {
                let of_post = terms.get(&post.id).map_or(&[][..], Vec::as_slice);
                permalink_parts.entry(post.id).or_default().language =
                    languages.of(Translated::Posts, of_post).map(|language| language.slug.clone());
            }
        }
        if self.post_type.hierarchical {
            for (id, path) in posts::ancestor_slugs(db, rows)? {
                permalink_parts.entry(id).or_default().ancestors = path;
            }
        }
        Ok(permalink_parts)
    }

    /// The REST URLs of the posts' parents, which may be of another type; one query.
    fn parent_urls(&self, db: &mut Db, rows: &[Post]) -> SiteResult<HashMap<PostId, String>> {
        let mut parents: Vec<PostId> = rows.iter().map(|p| p.parent).filter(|id| !id.is_none()).collect();
        parents.sort_unstable();
        parents.dedup();
        if parents.is_empty() {
            return Ok(HashMap::new());
        }
        let found = posts::get_many(db, &parents)?;
        let parent_url = |post: &Post| {
            let parent = found.iter().find(|p| p.id == post.parent);
            let route = parent.map(|p| permalinks::rest_route(self.site, self.settings, p)).unwrap_or_default();
            (post.id, self.settings.urls.rest(&route))
        };
        Ok(rows.iter().filter(|p| !p.parent.is_none()).map(parent_url).collect())
    }

    /// The slugs derived from the titles, each unique among the other posts.
    fn generated_slugs(&self, db: &mut Db, rows: &[Post]) -> SiteResult<HashMap<PostId, String>> {
        let candidate = |post: &Post| {
            let slug = svc_text::sanitize_title(&post.title);
            let slug = if slug.is_empty() { post.id.to_string() } else { slug };
            slugs::unique_slug_request(&slug, post, "", self.post_type, &self.settings.urls)
        };
        let candidates: Vec<_> = rows.iter().map(candidate).collect();
        let slugs = posts::unique_slugs(db, &candidates)?;
        Ok(rows.iter().zip(slugs).map(|(post, slug)| (post.id, percent_decoded(&slug))).collect())
    }
}

fn percent_decoded(slug: &str) -> String {
    percent_encoding::percent_decode_str(slug).decode_utf8_lossy().into_owned()
}
