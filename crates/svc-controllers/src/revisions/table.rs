//! What a revision looks like: its own members, then the texts of its post's table, loaded and shown.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use svc_content::shortcodes::Page;
use svc_model::{Post, PostType, RestController};
use svc_render::{
    blocks::{self, site_blocks::BlockViewer},
    content::RenderOptions,
    images::SiteImages,
};
use svc_resource::{Plan, View};
use svc_routing::{ExtraFields, Link, Links, Map, Request, Response, Result};
use svc_schema::build::{integer, string, types};
use svc_site::{Settings, SiteResult, permalinks::PermalinkParts, posts::draft::PostDraft};
use svc_store::{
    Db,
    meta::{self, MetaKind},
};

use crate::{
    RestSite,
    contexts::{VIEW_EDIT, VIEW_EDIT_EMBED},
    posts::{
        fields::{self as post_fields, PostFields},
        item::PostItem,
    },
    respond,
};

/// Words of an excerpt that is made of the content: revisions show only excerpts that were written.
const NO_WORDS: usize = 0;

/// The table of one type's revisions, and what showing them takes.
pub(crate) struct RevisionTable {
    site: Arc<RestSite>,
    post_type: Arc<PostType>,
    fields: PostFields,
    /// The object type that additional fields name: `post-revision`.
    object: String,
    extra: ExtraFields,
}

#[rustfmt::skip]
fn fields(site: &Arc<RestSite>, post_type: &PostType, object: &str) -> PostFields {
    let mut f = PostFields::new(object);
    f.add("author", integer().describe("Number of the user who made the revision.").context(VIEW_EDIT_EMBED)).get(|p| p.post.author);
    f.add("date", string().describe("When it was made, in the site's time zone.").format("date-time").context(VIEW_EDIT_EMBED)).get(|p| dated(p, PostItem::date));
    f.add("date_gmt", string().describe("When it was made, in UTC.").format("date-time").context(VIEW_EDIT)).get(|p| dated(p, PostItem::date_gmt));
    f.add("id", integer().describe("Number that identifies the revision.").context(VIEW_EDIT_EMBED)).get(|p| p.post.id);
    f.add("modified", string().describe("When it was last changed, in the site's time zone.").format("date-time").context(VIEW_EDIT)).get(PostItem::modified);
    f.add("modified_gmt", string().describe("When it was last changed, in UTC.").format("date-time").context(VIEW_EDIT)).get(PostItem::modified_gmt);
    f.add("parent", integer().describe("Number of the post.").context(VIEW_EDIT_EMBED)).get(|p| p.post.parent);
    f.add("slug", string().describe("Name of the revision, of its post's number and its kind.").context(VIEW_EDIT_EMBED)).get(|p| p.post.slug.clone());

    let mut texts = match post_type.rest_controller {
        RestController::MenuItems => texts_of_items(object),
        _ => post_fields::fields(site, post_type).only(&["guid", "title", "content", "excerpt", "meta"]),
    };
    if !texts.has("meta") {
        // Revisions tell meta whether or not their posts do.
        crate::meta_fields::add_member(&mut texts, &site.meta, "post", &post_type.name, |p| &p.stored_meta);
    }
    if post_type.rest_controller == RestController::Blocks {
        // The posts are shown as stored only, and their schema says no more; revisions are shown as HTML too.
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
    // A revision has no password and no version of its own.
    for path in ["content.protected", "content.block_version", "excerpt.protected"] {
        if let Some(subfield) = texts.at(path) {
            subfield.write_only();
        }
    }
    f.join(texts)
}

/// The texts that autosaves of items of menus show.
#[rustfmt::skip]
fn texts_of_items(object: &str) -> PostFields {
    let mut f = PostFields::new(object);
    f.add("guid", string().describe("Global name of the revision.").context(VIEW_EDIT)).get(|p| json!({"rendered": p.post.guid, "raw": p.post.guid}));
    let title = f.add("title", types(["string", "object"]).describe("The title.").context(VIEW_EDIT_EMBED));
    title.subfield("raw", string().describe("The title as stored.").context(&["edit"])).get(|p| p.post.title.clone());
    title.subfield("rendered", string().describe("The title as HTML.").context(VIEW_EDIT_EMBED).readonly());
    f
}

/// A draft that is autosaved in its own row has no date until it is published.
fn dated(item: &PostItem, read: fn(&PostItem) -> Value) -> Value {
    if item.post.date_gmt.is_none() { Value::Null } else { read(item) }
}

/// The title as pages show it: what few may read says so.
fn title(item: &PostItem) -> String {
    let title = item.title_rendered();
    let mark = match (item.post.is_protected(), item.post.status.as_str()) {
        (true, _) => "Protected:",
        (false, "private") => "Private:",
        _ => return title,
    };
    format!("{mark} {title}").trim_end().to_owned()
}

impl RevisionTable {
    /// The table of this type's revisions.
    pub(crate) fn new(site: &Arc<RestSite>, post_type: &Arc<PostType>, extra: &ExtraFields) -> Self {
        let object = format!("{}-revision", post_type.name);
        RevisionTable {
            site: Arc::clone(site),
            post_type: Arc::clone(post_type),
            fields: fields(site, post_type, &object).with_extra(extra, &object),
            object,
            extra: extra.clone(),
        }
    }

    /// The same with further members of the schema, which items get elsewhere.
    pub(crate) fn with(mut self, add: impl FnOnce(&mut PostFields)) -> Self {
        add(&mut self.fields);
        self
    }

    /// The item schema.
    pub(crate) fn item_schema(&self) -> Value {
        self.fields.item_schema()
    }

    /// The members that a view shows.
    pub(crate) fn plan(&self, view: &View) -> Plan<'_, PostItem, PostDraft> {
        self.fields.plan(view)
    }

    /// Revisions with what the plan reads: one query for meta, and what their texts take.
    pub(crate) fn load(
        &self,
        db: &mut Db,
        settings: &Arc<Settings>,
        rows: Vec<Post>,
        plan: &Plan<'_, PostItem, PostDraft>,
    ) -> SiteResult<Vec<PostItem>> {
        let numbers: Vec<i64> = rows.iter().map(|post| post.id.0).collect();
        let wants_meta = plan.wants("meta") && !numbers.is_empty();
        let mut meta = if wants_meta { meta::load(db, MetaKind::Post, &numbers)? } else { HashMap::new() };
        let shown: Vec<&Post> = rows.iter().filter(|_| plan.wants_any(&["content", "excerpt"])).collect();
        let images = Arc::new(SiteImages::of_posts(db, &self.site, settings, &shown)?);
        let page: Arc<Mutex<Page>> = Arc::default();
        let wanted = blocks::Wanted {
            content: plan.wants("content.rendered"),
            excerpt: plan.wants("excerpt.rendered"),
            words: NO_WORDS,
        };
        let mut texts = blocks::rendered(
            &self.site,
            settings,
            BlockViewer::default,
            db,
            &rows,
            wanted,
            &RenderOptions::new(&images, &page),
        )?
        .into_iter();
        let item = |post: Post| PostItem {
            attached: None,
            images: Arc::clone(&images),
            page: Arc::clone(&page),
            edited_with: None,
            stored_meta: meta.remove(&post.id.0).unwrap_or_default(),
            post,
            post_type: Arc::clone(&self.post_type),
            site: Arc::clone(&self.site),
            settings: Arc::clone(settings),
            terms: Vec::new(),
            place: PermalinkParts::default(),
            up: String::new(),
            generated_slug: String::new(),
            unlocked: true,
            excerpt_length: NO_WORDS,
            rendered: texts.next().unwrap_or_default(),
        };
        Ok(rows.into_iter().map(item).collect())
    }

    /// The wire form of a revision, and the link to its post, which is there when the post's number is.
    pub(crate) async fn show(
        &self,
        item: &PostItem,
        req: &Request,
        view: &View,
        plan: &Plan<'_, PostItem, PostDraft>,
    ) -> Result<(Map, Option<Links>)> {
        let data = plan.prepare(item);
        let data = respond::finish(&self.extra, &self.object, item.post.id.0, data, req, view).await?;
        if !view.wants_links() || !plan.wants("parent") || item.post.parent.is_none() {
            return Ok((data, None));
        }
        let route = format!("{}/{}", self.site.route_of_type(&self.post_type), item.post.parent);
        let mut links = Links::new();
        links.add("parent", Link::new(item.settings.urls.rest(&route)));
        Ok((data, Some(links)))
    }

    /// A response that shows one revision.
    pub(crate) async fn respond(
        &self,
        req: &Request,
        settings: &Arc<Settings>,
        post: Post,
        view: &View,
    ) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let plan = self.plan(view);
        let items = self.site.read(|db| self.load(db, settings, vec![post], &plan))?;
        let mut shown = Map::new();
        let mut links = None;
        for item in &items {
            (shown, links) = self.show(item, req, view, &plan).await?;
        }
        Ok(respond::single(shown, links))
    }
}
