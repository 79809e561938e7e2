//! Fields of revisions: their own, and the texts of the post's type. Loads and serializes them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use svc_content::shortcodes::Page;
use svc_model::{Post, PostType, RouteFamily};
use svc_render::{
    SiteRenderer,
    blocks::{self, BlockViewer},
    content::RenderOptions,
    images::SiteImages,
};
use svc_resource::{Plan, View};
use svc_routing::{ExtraFields, Link, Links, Map, Request, Response, Result};
use svc_schema::build::{integer, string, types};
use svc_site::{
    Settings, Site, SiteResult,
    permalinks::{self, PermalinkParts},
    posts::draft::PostDraft,
};
use svc_store::{
    Db,
    meta::{self, MetaKind},
};

use crate::{
    contexts::{VIEW_EDIT, VIEW_EDIT_EMBED},
    item_languages::ItemLanguages,
    posts::{
        fields::{self as post_fields, PostFields},
        item::PostItem,
    },
    respond,
};

/// Length of generated excerpts, in words. Revisions contain manual excerpts only.
const NO_EXCERPT: usize = 0;

/// The fields of one type's revisions, with the data required to load and serialize them.
pub(crate) struct RevisionTable {
    site: Arc<Site>,
    renderer: Arc<SiteRenderer>,
    post_type: Arc<PostType>,
    fields: PostFields,
    /// The object type that additional fields name: `post-revision`.
    object: String,
    extra: ExtraFields,
}

#[rustfmt::skip]
fn fields(site: &Arc<Site>, post_type: &PostType, object: &str) -> PostFields {
    let mut f = PostFields::new(object);
    f.add("author", integer().describe("User ID of the revision's author.").context(VIEW_EDIT_EMBED)).get(|p| p.post.author);
    f.add("date", string().describe("Creation date in the site's time zone.").format("date-time").context(VIEW_EDIT_EMBED)).get(|p| date_or_null(p, PostItem::date));
    f.add("date_gmt", string().describe("Creation date in UTC.").format("date-time").context(VIEW_EDIT)).get(|p| date_or_null(p, PostItem::date_gmt));
    f.add("id", integer().describe("The revision's ID.").context(VIEW_EDIT_EMBED)).get(|p| p.post.id);
    f.add("modified", string().describe("Date of the last change in the site's time zone.").format("date-time").context(VIEW_EDIT)).get(PostItem::modified);
    f.add("modified_gmt", string().describe("Date of the last change in UTC.").format("date-time").context(VIEW_EDIT)).get(PostItem::modified_gmt);
    f.add("parent", integer().describe("ID of the revision's post.").context(VIEW_EDIT_EMBED)).get(|p| p.post.parent);
    f.add("slug", string().describe("Slug of the revision, composed of the post's ID and the kind of revision.").context(VIEW_EDIT_EMBED)).get(|p| p.post.slug.clone());

    let mut texts = match post_type.route_family {
        RouteFamily::MenuItems => menu_item_texts(object),
        _ => post_fields::fields(site, post_type).only(&["guid", "title", "content", "excerpt", "meta"]),
    };
    if !texts.has("meta") {
        // Revisions have `meta` even if their posts do not.
        crate::meta_fields::add_member(&mut texts, &site.registries.meta, "post", &post_type.name, |p| &p.stored_meta);
    }
    if post_type.route_family == RouteFamily::Blocks {
        // Patterns have stored text only. Their revisions also have HTML, which the schema does not list.
        for name in ["title", "content"] {
            if let Some(text) = texts.at(name) {
                text.subfield("rendered", json!({})).hidden().get(PostItem::content_rendered);
            }
        }
    }
    if let Some(rendered) = texts.at("title.rendered") {
        rendered.get(title);
    }
    if let Some(rendered) = texts.at("excerpt.rendered") {
        rendered.get(|p| if p.post.excerpt.is_empty() { String::new() } else { p.excerpt_rendered() });
    }
    // Revisions have no password and no block version.
    for path in ["content.protected", "content.block_version", "excerpt.protected"] {
        if let Some(subfield) = texts.at(path) {
            subfield.write_only();
        }
    }
    let mut f = f.join(texts);
    f.schema_order(&["author", "date", "date_gmt", "guid"]);
    f
}

/// Text fields of autosaves of menu items.
#[rustfmt::skip]
fn menu_item_texts(object: &str) -> PostFields {
    let mut f = PostFields::new(object);
    f.add("guid", string().describe("Permanent global identifier of the revision.").context(VIEW_EDIT)).get(|p| json!({"rendered": p.post.guid, "raw": p.post.guid}));
    let title = f.add("title", types(["string", "object"]).describe("The title.").context(VIEW_EDIT_EMBED));
    title.subfield("raw", string().describe("The title as stored.").context(&["edit"])).get(|p| p.post.title.clone());
    title.subfield("rendered", string().describe("The title as HTML.").context(VIEW_EDIT_EMBED).readonly());
    f
}

/// A date of the item; null for a draft that was autosaved in its own row, which has no date until it is published.
fn date_or_null(item: &PostItem, read: fn(&PostItem) -> Value) -> Value {
    if item.post.date_gmt.is_none() { Value::Null } else { read(item) }
}

/// The title as pages display it, with a prefix for protected and private posts.
fn title(item: &PostItem) -> String {
    let title = item.title_rendered();
    let prefix = match (item.post.is_protected(), item.post.status.as_str()) {
        (true, _) => "Protected:",
        (false, "private") => "Private:",
        _ => return title,
    };
    format!("{prefix} {title}").trim_end().to_owned()
}

impl RevisionTable {
    /// The fields of this type's revisions.
    pub(crate) fn new(renderer: &Arc<SiteRenderer>, post_type: &Arc<PostType>, extra: &ExtraFields) -> Self {
        let object = format!("{}-revision", post_type.name);
        RevisionTable {
            site: Arc::clone(&renderer.site),
            renderer: Arc::clone(renderer),
            post_type: Arc::clone(post_type),
            fields: fields(&renderer.site, post_type, &object).with_extra(extra, &object),
            object,
            extra: extra.clone(),
        }
    }

    /// Adds fields to the schema, whose values the caller inserts.
    pub(crate) fn with(mut self, add: impl FnOnce(&mut PostFields)) -> Self {
        add(&mut self.fields);
        self
    }

    /// The item schema.
    pub(crate) fn item_schema(&self) -> Value {
        self.fields.item_schema()
    }

    /// The fields that are visible in a view.
    pub(crate) fn plan(&self, view: &View) -> Plan<'_, PostItem, PostDraft> {
        self.fields.plan(view)
    }

    /// Loads revisions with the data that the plan reads: one query for meta, and the queries of the blocks in their
    /// texts.
    pub(crate) fn load(
        &self,
        db: &mut Db,
        settings: &Arc<Settings>,
        rows: Vec<Post>,
        plan: &Plan<'_, PostItem, PostDraft>,
    ) -> SiteResult<Vec<PostItem>> {
        let ids: Vec<i64> = rows.iter().map(|post| post.id.0).collect();
        let wants_meta = plan.wants("meta") && !ids.is_empty();
        let mut meta = if wants_meta { meta::load(db, MetaKind::Post, &ids)? } else { HashMap::new() };
        let rendered: Vec<&Post> = rows.iter().filter(|_| plan.wants_any(&["content", "excerpt"])).collect();
        let images = Arc::new(SiteImages::of_posts(db, &self.site, settings, &rendered)?);
        let page: Arc<Mutex<Page>> = Arc::default();
        let requested = blocks::RequestedTexts {
            content: plan.wants("content.rendered"),
            excerpt: plan.wants("excerpt.rendered"),
            words: NO_EXCERPT,
            before: &[],
        };
        let cx = db.cx().clone();
        let mut texts = blocks::render_dynamic(
            &self.renderer,
            settings,
            |_| BlockViewer::default(),
            db,
            &rows,
            requested,
            &RenderOptions::new(&cx, &images, &page),
        )?
        .into_iter();
        let item = |post: Post| PostItem {
            cx: cx.clone(),
            attached: None,
            images: Arc::clone(&images),
            page: Arc::clone(&page),
            hooked_types: None,
            stored_meta: meta.remove(&post.id.0).unwrap_or_default(),
            post,
            post_type: Arc::clone(&self.post_type),
            site: Arc::clone(&self.site),
            renderer: Arc::clone(&self.renderer),
            settings: Arc::clone(settings),
            terms: Vec::new(),
            permalink_parts: PermalinkParts::default(),
            languages: ItemLanguages::default(),
            parent_url: String::new(),
            generated_slug: String::new(),
            unlocked: true,
            excerpt_length: NO_EXCERPT,
            rendered: texts.next().unwrap_or_default(),
        };
        Ok(rows.into_iter().map(item).collect())
    }

    /// The prepared fields of a revision, and the link to its post if `parent` is visible. As in WordPress, a single revision has
    /// the link even if `_fields` does not name `_links`.
    pub(crate) async fn show(
        &self,
        item: &PostItem,
        req: &Request,
        view: &View,
        plan: &Plan<'_, PostItem, PostDraft>,
    ) -> Result<(Map, Option<Links>)> {
        let data = plan.prepare(item);
        let data = respond::finish(&self.extra, &self.object, item.post.id.0, data, req, view).await?;
        if !view.links || !plan.wants("parent") || item.post.parent.is_none() {
            return Ok((data, None));
        }
        let route = permalinks::rest_route_of(&self.site, &item.settings, &self.post_type, item.post.parent);
        let mut links = Links::new();
        links.add("parent", Link::new(item.settings.urls.rest(&route)));
        Ok((data, Some(links)))
    }

    /// A response with one revision.
    pub(crate) async fn respond(
        &self,
        req: &Request,
        settings: &Arc<Settings>,
        post: Post,
        view: &View,
    ) -> Result<Response> {
        let plan = self.plan(view);
        let items = self.site.read(req.cx(), |db| self.load(db, settings, vec![post], &plan))?;
        let mut data = Map::new();
        let mut links = None;
        for item in &items {
            (data, links) = self.show(item, req, view, &plan).await?;
        }
        Ok(respond::single(data, links))
    }
}
