//! Loads, for a whole page of posts at once, what the members that are asked for read.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use svc_auth::Caller;
use svc_content::shortcodes::Page;
use svc_model::{Post, PostId, PostType, Term};
use svc_render::{
    blocks::{self, site_blocks::BlockViewer},
    content::RenderOptions,
    feeds::Missing,
    images::SiteImages,
};
use svc_resource::{Plan, View};
use svc_routing::Request;
use svc_site::{
    Access, Settings, SiteResult, block_types,
    permalinks::{self, PermalinkParts, category_paths, first_category},
    posts::{draft::PostDraft, slugs},
};
use svc_store::{
    Db,
    meta::{self, MetaKind},
    posts, terms, users,
};

use super::{
    item::PostItem,
    links::{self, Revisions},
    rights::PostRights,
};
use crate::{RestSite, posts::attachment, request::block_viewer};

/// What a request may see of the posts that it loads.
pub(crate) struct PostLoader<'a> {
    pub site: &'a Arc<RestSite>,
    pub settings: &'a Arc<Settings>,
    pub post_type: &'a Arc<PostType>,
    pub caller: &'a Caller,
    pub view: &'a View,
    /// The password that the request gives for content that one guards; empty when it gives none.
    pub password: String,
    pub excerpt_length: usize,
    /// The request, where blocks are told who reads.
    pub req: Option<&'a Request>,
    /// Feeds of other sites that were not known yet.
    pub missing: Missing,
}

/// A post ready to be rendered, with its links when they are asked for.
pub(crate) struct LoadedPost {
    pub item: PostItem,
    pub links: Option<svc_routing::Links>,
}

impl PostLoader<'_> {
    /// Loads what the plan reads: one query per kind of related data, whatever the number of posts.
    pub(crate) fn load(
        &self,
        db: &mut Db,
        access: &Access<'_>,
        rows: Vec<Post>,
        plan: &Plan<'_, PostItem, PostDraft>,
    ) -> SiteResult<Vec<LoadedPost>> {
        let ids: Vec<PostId> = rows.iter().map(|p| p.id).collect();
        let numbers: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let wants_links = self.view.wants_links();
        let taxonomies: Vec<_> =
            self.site.taxonomies.of_type(&self.post_type.name).filter(|t| t.show_in_rest).collect();

        let is_attachment = self.post_type.name == "attachment";
        let edit = self.view.context == "edit";
        let edited_with =
            (edit && block_types::is_edited(&self.post_type.name)).then(|| self.site.block_types(self.settings));
        let has_hooks = edited_with.as_ref().is_some_and(|types| !types.hooks().is_empty());
        let wants_meta = wants_links
            || is_attachment
            || has_hooks && plan.wants("content.raw")
            || plan.wants_any(&["meta", "featured_media", "template", "class_list"]);
        let mut meta = if wants_meta { meta::load(db, MetaKind::Post, &numbers)? } else { HashMap::new() };
        let wants_addresses = plan.wants_any(&["link", "permalink_template"]);
        let mut attached = match is_attachment {
            true => attachment::attached(db, self.site, self.settings, &rows, &meta)?,
            false => HashMap::new(),
        };
        let wants_texts = plan.wants_any(&["content", "excerpt", "description", "caption"]);
        let shown: Vec<&Post> = rows.iter().filter(|_| wants_texts).collect();
        let images = Arc::new(SiteImages::of_posts(db, self.site, self.settings, &shown)?);
        let page: Arc<Mutex<Page>> = Arc::default();
        let wants_terms = plan.wants_any(&["format", "class_list"])
            || (wants_addresses && self.settings.urls.names_category())
            || taxonomies.iter().any(|t| plan.wants(&t.rest_base));
        let mut terms = if wants_terms { terms::of_objects(db, &ids)? } else { HashMap::new() };
        let mut places = if wants_addresses { self.places(db, &rows, &terms)? } else { HashMap::new() };
        let revisions = if wants_links && self.post_type.supports("revisions") {
            posts::revision_counts(db, &ids)?
        } else {
            HashMap::new()
        };
        let mut above =
            if wants_links && self.post_type.hierarchical { self.above(db, &rows)? } else { HashMap::new() };
        let slugs = if plan.wants("generated_slug") { self.generated_slugs(db, &rows)? } else { HashMap::new() };

        let wanted = blocks::Wanted {
            content: plan.wants("content.rendered"),
            excerpt: plan.wants("excerpt.rendered"),
            words: self.excerpt_length,
        };
        let reader = || {
            let reader = self.req.map(|req| block_viewer(self.site, self.settings, req)).unwrap_or_default();
            BlockViewer { missing: self.missing.clone(), ..reader }
        };
        let mut texts =
            blocks::rendered(self.site, self.settings, reader, db, &rows, wanted, &RenderOptions::new(&images, &page))?
                .into_iter();

        Ok(rows
            .into_iter()
            .map(|post| {
                let id = post.id;
                let rights = (wants_links || edit && post.is_protected()).then(|| {
                    PostRights::of(self.caller, access, &post, self.post_type, &taxonomies, wants_links && edit)
                });
                let given = !self.password.is_empty() && super::same_secret(&self.password, &post.password);
                let unlocked = given || (edit && rights.as_ref().is_some_and(PostRights::may_edit));
                let (attached, page_above) = attached.remove(&id).unzip();
                let mut place = places.remove(&id).unwrap_or_default();
                place.parent = page_above.flatten();
                let item = PostItem {
                    attached,
                    images: Arc::clone(&images),
                    page: Arc::clone(&page),
                    edited_with: edited_with.clone(),
                    stored_meta: meta.remove(&id.0).unwrap_or_default(),
                    terms: terms.remove(&id).unwrap_or_default(),
                    place,
                    up: above.remove(&id).unwrap_or_default(),
                    generated_slug: slugs.get(&id).cloned().unwrap_or_default(),
                    post,
                    post_type: Arc::clone(self.post_type),
                    site: Arc::clone(self.site),
                    settings: Arc::clone(self.settings),
                    unlocked,
                    excerpt_length: self.excerpt_length,
                    rendered: texts.next().unwrap_or_default(),
                };
                let count = revisions.get(&id).copied().unwrap_or_default();
                let links = rights
                    .filter(|_| wants_links)
                    .map(|r| links::links(&item, &r, Revisions { count: count.0, latest: count.1 }, edit));
                LoadedPost { item, links }
            })
            .collect())
    }

    /// What the addresses of the posts need: only what the site's structure, or the type's, names.
    fn places(
        &self,
        db: &mut Db,
        rows: &[Post],
        terms: &HashMap<PostId, Vec<Term>>,
    ) -> SiteResult<HashMap<PostId, PermalinkParts>> {
        let mut places: HashMap<PostId, PermalinkParts> = HashMap::new();
        let plain = self.post_type.name == "post";
        if plain && self.settings.urls.names_author() {
            let mut authors: Vec<_> = rows.iter().map(|p| p.author).collect();
            authors.sort_unstable();
            authors.dedup();
            let names: HashMap<_, _> = users::get_many(db, &authors)?.into_iter().map(|u| (u.id, u.nicename)).collect();
            for post in rows {
                places.entry(post.id).or_default().author = names.get(&post.author).cloned().unwrap_or_default();
            }
        }
        if plain && self.settings.urls.names_category() {
            let unique_with_index: Vec<(PostId, Term)> =
                rows.iter().filter_map(|p| Some((p.id, first_category(terms.get(&p.id)?)?.clone()))).collect();
            let paths = category_paths(db, unique_with_index.iter().map(|(_, t)| t))?;
            for (id, term) in unique_with_index {
                places.entry(id).or_default().category = paths.get(&term.id).cloned().unwrap_or_default();
            }
        }
        if self.post_type.hierarchical {
            for (id, path) in posts::ancestor_slugs(db, rows)? {
                places.entry(id).or_default().ancestors = path;
            }
        }
        Ok(places)
    }

    /// The addresses in the interface of what stands above these posts, which may be of another type; one query.
    fn above(&self, db: &mut Db, rows: &[Post]) -> SiteResult<HashMap<PostId, String>> {
        let mut parents: Vec<PostId> = rows.iter().map(|p| p.parent).filter(|id| !id.is_none()).collect();
        parents.sort_unstable();
        parents.dedup();
        if parents.is_empty() {
            return Ok(HashMap::new());
        }
        let found = posts::get_many(db, &parents)?;
        let address = |post: &Post| {
            let parent = found.iter().find(|p| p.id == post.parent);
            let route = parent.map(|p| permalinks::route(self.site, p)).unwrap_or_default();
            (post.id, self.settings.urls.rest(&route))
        };
        Ok(rows.iter().filter(|p| !p.parent.is_none()).map(address).collect())
    }

    /// The slugs that the titles would give, each made unique among the other posts.
    fn generated_slugs(&self, db: &mut Db, rows: &[Post]) -> SiteResult<HashMap<PostId, String>> {
        let wish = |post: &Post| {
            let slug = svc_text::sanitize_title(&post.title);
            let slug = if slug.is_empty() { post.id.to_string() } else { slug };
            slugs::wish(&slug, post, "", self.post_type, &self.settings.urls)
        };
        let wishes: Vec<_> = rows.iter().map(wish).collect();
        let slugs = posts::unique_slugs(db, &wishes)?;
        Ok(rows.iter().zip(slugs).map(|(post, slug)| (post.id, percent_decoded(&slug))).collect())
    }
}

fn percent_decoded(slug: &str) -> String {
    percent_encoding::percent_decode_str(slug).decode_utf8_lossy().into_owned()
}
