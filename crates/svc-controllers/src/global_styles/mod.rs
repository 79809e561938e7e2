//! Global styles: the site's settings and styles, which override the theme's, and the theme's own.
//!
//! Reading requires permission to edit posts, writing requires `edit_theme_options`.

mod history;
mod theme_files;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_auth::{Caller, caps::PostCap};
use svc_model::{Post, PostId, PostType};
use svc_render::content as render;
use svc_resource::{Fields, View};
use svc_routing::{
    Controller, EDITABLE, ExtraFields, Link, Links, Request, Response, Result, Route, forbidden, get, on,
};
use svc_schema::{
    Arg, Args, Error, MethodKind, Schema,
    build::{integer, string, types},
};
use svc_site::{
    Access, Settings, Site,
    global_styles::{self as stored, StylesDraft, not_found},
    revisions::RevisionAuthor,
};
use svc_store::posts;

use crate::preconditions;
use crate::{
    LINK_RELATION, caller,
    contexts::{EMBED_VIEW_EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
    errors, respond, theme_access,
};

pub use history::StylesHistory;
pub(crate) use svc_site::global_styles::POST_TYPE;
pub use svc_site::global_styles::user_styles;

/// Fields of a style variation in responses.
const VARIATION_FIELDS: [&str; 6] = ["version", "title", "slug", "description", "settings", "styles"];

/// The caller may not view the site's global styles.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to view these styles.")
}

/// The caller may not edit the site's global styles.
fn cannot_edit(req: &Request) -> Error {
    forbidden(req, "rest_cannot_edit", "You are not allowed to edit these styles.")
}

/// The caller may not view the theme's styles.
fn cannot_read(req: &Request) -> Error {
    forbidden(req, "rest_cannot_read_global_styles", "You are not allowed to view the theme's styles.")
}

/// CSS that would close its `style` element.
fn illegal_css() -> Error {
    Error::new("rest_custom_css_illegal_markup", "CSS must not contain markup that closes the style element.")
        .with_status(400)
}

/// Global styles with their parsed content.
pub(crate) struct StylesItem {
    post: Post,
    /// The parsed content of the post.
    json: svc_packages::theme::ThemeJson,
}

impl StylesItem {
    pub(crate) fn new(post: Post) -> Self {
        StylesItem { json: stored::parse(&post), post }
    }

    /// Whether there are neither settings nor styles.
    pub(crate) fn has_nothing(&self) -> bool {
        ["settings", "styles"].iter().all(|name| self.json.get(name).is_none())
    }

    /// A property, or an empty object.
    fn map(&self, name: &str) -> Value {
        self.json.get(name).cloned().unwrap_or_else(|| json!({}))
    }
}

#[rustfmt::skip]
fn fields() -> Fields<StylesItem, StylesDraft> {
    let mut f = Fields::<StylesItem, StylesDraft>::new(POST_TYPE);
    f.add("id", integer().describe("ID of the global styles.").context(EMBED_VIEW_EDIT).readonly()).get(|s| s.post.id);
    let title = f.add("title", types(["object", "string"]).describe("Title of the global styles.").default("").context(EMBED_VIEW_EDIT));
    title.subfield("raw", string().describe("The title as stored.").context(VIEW_EDIT_EMBED)).get(|s| s.post.title.clone());
    title.subfield("rendered", string().describe("The title as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(|s| render::title(&s.post.title).into_string());
    title.set(|d, v: Value| d.title = v.as_str().or_else(|| v["raw"].as_str()).map(str::to_owned));
    f.add("settings", types(["object"]).describe("The global settings.").context(VIEW_EDIT)).get(|s| s.map("settings")).set(|d, v| d.settings = Some(v));
    f.add("styles", types(["object"]).describe("The global styles.").context(VIEW_EDIT)).get(|s| s.map("styles")).set(|d, v| d.styles = Some(v));
    f.schema_order(&["id", "styles", "settings"]);
    f
}

/// The global style routes.
pub struct GlobalStyles {
    site: Arc<Site>,
    post_type: PostType,
    fields: Fields<StylesItem, StylesDraft>,
    extra: ExtraFields,
}

impl GlobalStyles {
    /// The routes of this post type, `wp_global_styles`.
    pub fn new(site: &Arc<Site>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let fields = fields().with_extra(extra, &post_type.name);
        GlobalStyles { site: Arc::clone(site), post_type: post_type.clone(), fields, extra: extra.clone() }
    }

    /// The global styles that the request addresses, if `authorize` allows it.
    fn authorized(
        &self,
        req: &Request,
        authorize: impl FnOnce(&Caller, &Access<'_>, &Post) -> Result<()>,
    ) -> Result<Post> {
        // As in WordPress, only GET declares this parameter.
        let id = req.param("id").map_or(0, svc_php::cast::to_int);
        self.site.read(req.cx(), |db| {
            let post = posts::get(db, PostId(id))?.filter(|post| post.post_type == POST_TYPE).ok_or_else(not_found)?;
            let settings = self.site.settings_in(db)?;
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
            authorize(&caller(req), &access, &post)?;
            Ok(post)
        })
    }

    async fn show(&self, req: &Request, post: Post, view: View) -> Result<Response> {
        let item = StylesItem::new(post);
        let mut data = self.fields.plan(&view).prepare(&item);
        respond::add_extra(&self.extra, &self.post_type.name, &mut data, req, &view).await?;
        let links = if view.wants_links() { Some(self.links(req, &item.post)?) } else { None };
        Ok(respond::single(data, links))
    }

    fn links(&self, req: &Request, post: &Post) -> Result<Links> {
        let caller = caller(req);
        self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(post))?;
            let (count, _) = posts::revision_counts(db, &[post.id])?.remove(&post.id).unwrap_or_default();
            let can_edit = caller.is_logged_in() && caller.can_post(PostCap::Edit, post, &access);
            let route = format!("{}/{}", self.site.route_of_type(&self.post_type), post.id);
            let own = settings.urls.rest(&route);
            let about = format!("/{}/types/{POST_TYPE}", self.site.brand.namespace());
            let allowed: &[&str] = if can_edit { &["GET", "POST", "PUT", "PATCH"] } else { &["GET"] };
            let mut links = Links::new();
            links.add("self", Link::new(&own).allow(allowed.iter().copied()));
            links.add("about", Link::new(settings.urls.rest(&about)));
            links.add(
                "version-history",
                Link::new(settings.urls.rest(&format!("{route}/revisions"))).attr("count", count),
            );
            for (action, cap) in [("publish", self.post_type.caps.publish_posts.as_str()), ("edit-css", "edit_css")] {
                if access.can(&caller, cap) {
                    links.add(format!("{LINK_RELATION}action-{action}"), Link::new(&own));
                }
            }
            Ok(links)
        })
    }

    // The site's own styles: fetch, update

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Post> {
        self.authorized(&req, |caller, access, post| {
            if req.context() == "edit" && !caller.can_post(PostCap::Edit, post, access) {
                return Err(errors::forbidden_context(&req));
            }
            let can_read = caller.is_logged_in() && caller.can_post(PostCap::Read, post, access);
            if can_read { Ok(()) } else { Err(cannot_view(&req)) }
        })
    }

    async fn fetch(self: Arc<Self>, req: Request, post: Post) -> Result<Response> {
        self.show(&req, post, respond::view(&req)).await
    }

    async fn can_update(self: Arc<Self>, req: Request) -> Result<Post> {
        self.authorized(&req, |caller, access, post| {
            let can_edit = caller.is_logged_in() && caller.can_post(PostCap::Edit, post, access);
            if can_edit { Ok(()) } else { Err(cannot_edit(&req)) }
        })
    }

    async fn update(self: Arc<Self>, req: Request, post: Post) -> Result<Response> {
        let draft: StylesDraft = self.fields.typed(&req).accepted()?;
        if draft.styles.as_ref().and_then(|s| s["css"].as_str()).is_some_and(stored::closes_style_element) {
            return Err(illegal_css());
        }
        let caller = caller(&req);
        let unfiltered_html = Access::new(&self.site, &*self.site.settings(req.cx())?).can(&caller, "unfiltered_html");
        let author = RevisionAuthor { id: caller.id, unfiltered_html };
        let post = stored::save(req.cx(), &self.site, &self.post_type, post, &draft, author).await?;
        self.show(&req, post, respond::edit_view(&req)).await
    }

    // The theme's styles and their variations

    async fn can_read_theme(self: Arc<Self>, req: Request) -> Result<()> {
        if theme_access::is_writer(&self.site, &req)? { Ok(()) } else { Err(cannot_read(&req)) }
    }

    /// The active theme. The styles of other themes are not found. If its folder is missing, it has only defaults.
    fn active(&self, req: &Request) -> Result<(Arc<Settings>, Arc<svc_site::ActiveTheme>)> {
        let settings = self.site.settings(req.cx())?;
        let theme = self.site.theme(req.cx(), &settings);
        let stylesheet: String = req.require("stylesheet")?;
        if theme.name != stylesheet {
            return Err(theme_access::not_found());
        }
        Ok((settings, theme))
    }

    async fn fetch_theme(self: Arc<Self>, req: Request) -> Result<Response> {
        let (settings, theme) = self.active(&req)?;
        let mut data = Map::new();
        // The context is not a declared parameter of this route, but it takes effect.
        let has_fields = matches!(req.context(), "view" | "edit");
        for (name, value) in [("settings", theme.json.settings()), ("styles", theme.json.styles())] {
            if has_fields && req.wants(name) {
                data.insert(name.to_owned(), value.clone());
            }
        }
        let own = format!("/{}/global-styles/themes/{}", self.site.brand.namespace(), theme.name);
        let mut links = Links::new();
        links.add("self", Link::new(settings.urls.rest(&own)).allow(["GET"]));
        theme_files::add(&mut links, &theme.json, theme.theme.as_ref(), &settings);
        Ok(respond::single(data, respond::view(&req).wants_links().then_some(links)))
    }

    async fn list_variations(self: Arc<Self>, req: Request) -> Result<Response> {
        let (settings, theme) = self.active(&req)?;
        let variations = theme.theme.iter().flat_map(|theme| theme.page_variations());
        let prepare = |variation: &svc_packages::theme::Variation| {
            let mut fields = variation.json.members().clone();
            fields.retain(|name, _| VARIATION_FIELDS.contains(&name.as_str()));
            fields.entry("title").or_insert_with(|| variation.name.as_str().into());
            let mut links = Links::new();
            theme_files::add(&mut links, &variation.json, theme.theme.as_ref(), &settings);
            respond::with_links(fields, (!links.is_empty()).then_some(links), &req)
        };
        Ok(Response::new(variations.map(prepare).collect::<Value>()))
    }
}

/// Reads an id that may be surrounded by slashes.
fn clean_id(value: Value, _: &str) -> Result<Value> {
    let text = svc_php::cast::to_text(&value);
    Ok(svc_php::numeric::text_to_int(text.trim_matches('/')).into())
}

impl Controller for GlobalStyles {
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let stylesheet = || Arg::new(string().describe("The theme's folder.").compile());
        // As in WordPress, only the first of these two routes decodes its path.
        let decoded = Args::new().with("stylesheet", stylesheet().sanitize_with(theme_access::clean_stylesheet));
        let as_sent = Args::new().with("stylesheet", stylesheet());
        let id = Arg::new(integer().describe("ID of the global styles.").compile()).sanitize_with(clean_id);
        vec![
            Route::new(format!(r"/{base}/themes/(?P<stylesheet>[\/\s%\w\.\(\)\[\]\@_\-]+)/variations"))
                .disallow_batch()
                .endpoint(get(Self::list_variations, Self::can_read_theme).args(as_sent)),
            Route::new(format!("/{base}/themes/(?P<stylesheet>{})", theme_access::FOLDER))
                .disallow_batch()
                .endpoint(get(Self::fetch_theme, Self::can_read_theme).args(decoded)),
            Route::new(format!(r"/{base}/(?P<id>[\/\d+]+)"))
                .conditional(preconditions::on_post(&self.site))
                .schema(Schema::compile(self.fields.item_schema()))
                .disallow_batch()
                .endpoint(get(Self::fetch, Self::can_fetch).args(Args::new().with("id", id)))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_update)
                        .args(self.fields.args(MethodKind::Editable))
                        .example(json!({"styles": {"color": {"background": "#ffffff"}}})),
                ),
        ]
    }
}
