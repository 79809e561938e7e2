//! Puts the families of a site on a registry, and tells the framework what it has to know of the site.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::{PostId, PostType, RestController};
use svc_routing::{ApiUrls, Link, Map, ParamOrder, Registry, Request, Response, SiteInfo};
use svc_schema::Error;
use svc_site::{Access, Settings, menus::item::MENU, permalinks};
use svc_store::{MetaKind, meta, posts};

use crate::{
    LINK_RELATION, RestSite,
    abilities::AbilityRoutes,
    application_passwords::ApplicationPasswords,
    block_directory::BlockDirectory,
    blocks, caller,
    comments::Comments,
    export::ThemeExport,
    fonts::{FontCollections, FontFaces, FontFamilies},
    global_styles::{GlobalStyles, StylesHistory},
    icons::IconRoutes,
    media::Media,
    menus::{MenuItems, MenuLocations, Menus},
    navigation_fallback::{self, NavigationFallback},
    oembed::{self, OEmbed},
    patterns::{PatternDirectory, Patterns},
    plugins::Plugins,
    posts::Posts,
    revisions::{Autosaves, Revisions},
    search::Search,
    site_health::SiteHealth,
    site_settings::SiteSettings,
    statuses::Statuses,
    taxonomies::TaxonomyFamily,
    templates::{TemplateHistory, Templates},
    terms::Terms,
    themes::Themes,
    types::Types,
    url_details::UrlDetails,
    users::Users,
    view_config::ViewConfig,
    widgets::{SidebarRoutes, WidgetRoutes, WidgetTypeRoutes},
};

/// What the framework has to know of a site: its addresses and the first members of its index.
///
/// # Errors
/// Those of the store.
pub fn site_info(site: &Arc<RestSite>) -> Result<SiteInfo, Error> {
    let settings = site.settings()?;
    let mut info = SiteInfo::with_urls(site.brand.clone(), SiteApiUrls(settings));
    // As clients of the peer expect. Parameters are parsed once, so that permission and callback see the same value
    // whichever source it comes from.
    info.param_order = ParamOrder::UrlLast;
    let site_of = Arc::clone(site);
    Ok(info.index_fields(move |_| {
        let index_fields = site_of.settings().map(|settings| index_fields(&site_of, &settings)).unwrap_or_default();
        Box::pin(std::future::ready(index_fields))
    }))
}

/// The URLs of the site's API, with the changes of its URL hooks.
struct SiteApiUrls(Arc<Settings>);

impl ApiUrls for SiteApiUrls {
    fn url(&self, path: &str) -> String {
        self.0.urls.rest(path)
    }

    fn site_path(&self) -> String {
        match self.0.urls.site.home_path() {
            "" => String::new(),
            path => format!("/{path}"),
        }
    }

    fn prefix(&self) -> String {
        self.0.urls.site.rest_prefix()
    }
}

fn index_fields(site: &RestSite, settings: &Settings) -> Map {
    // An option that is not there is told as such.
    let text = |name: &str| settings.stored(name).map_or(Value::Bool(false), |stored| stored.text().into());
    let offset = match settings.option("timezone_string") {
        "" | "0" => text("gmt_offset"),
        _ => svc_php::cast::float_value(settings.zone.hours_at(site.now())),
    };
    let index_fields = json!({
        "name": text("blogname"),
        "description": text("blogdescription"),
        "url": settings.option("siteurl").trim_end_matches('/'),
        "home": settings.option("home").trim_end_matches('/'),
        "gmt_offset": offset,
        "timezone_string": text("timezone_string"),
        "page_for_posts": settings.number("page_for_posts"),
        "page_on_front": settings.number("page_on_front"),
        "show_on_front": text("show_on_front"),
    });
    match index_fields {
        Value::Object(index_fields) => index_fields,
        _ => Map::new(),
    }
}

/// Mounts every family of this site, and fills the index with what the families know. `app_passwords` says whether
/// application passwords are available, and the index then tells where they are authorized.
pub fn mount(registry: &mut Registry, site: &Arc<RestSite>, app_passwords: bool) {
    let own = ["site-health", "block-editor", "abilities"].map(|name| site.brand.side_namespace(name));
    registry.list_namespaces_last(std::iter::once(site.brand.namespace()).chain(own));
    let embeds = Arc::clone(site);
    registry.mount(oembed::NAMESPACE, move |_| OEmbed::new(&embeds));
    let namespace = site.brand.namespace();
    let types: Vec<_> = site.types.iter().filter(|t| t.show_in_rest).cloned().collect();
    for post_type in types {
        match post_type.rest_controller {
            RestController::Attachments => {
                let site = Arc::clone(site);
                registry.mount(&namespace, move |extra| Media::new(&site, &post_type, extra));
            }
            RestController::Posts | RestController::Blocks => mount_type(registry, &namespace, site, post_type),
            RestController::Templates => {
                let [site, history] = [(); 2].map(|()| Arc::clone(site));
                let kind = post_type.clone();
                // Before the templates: an id may hold slashes.
                registry.mount(&namespace, move |extra| TemplateHistory::new(&history, &kind, extra));
                registry.mount(&namespace, move |extra| Templates::new(&site, &post_type, extra));
            }
            RestController::GlobalStyles => {
                let [site, history] = [(); 2].map(|()| Arc::clone(site));
                let kind = post_type.clone();
                registry.mount(&namespace, move |extra| StylesHistory::new(&history, &kind, extra));
                registry.mount(&namespace, move |extra| GlobalStyles::new(&site, &post_type, extra));
            }
            _ => {}
        }
    }
    menus(registry, site, &namespace);
    fonts(registry, site, &namespace);
    widgets(registry, site, &namespace);
    let [abilities, icons, views] = [(); 3].map(|()| Arc::clone(site));
    registry.mount(&namespace, move |extra| IconRoutes::new(&icons, extra));
    registry.mount(&namespace, move |_| ViewConfig::new(&views));
    let settings = Arc::clone(site);
    registry.mount(&namespace, move |_| SiteSettings::new(&settings));
    let [types, statuses, taxonomies] = [(); 3].map(|()| Arc::clone(site));
    registry.mount(&namespace, move |extra| Types::new(&types, extra));
    registry.mount(&namespace, move |extra| Statuses::new(&statuses, extra));
    registry.mount(&namespace, move |extra| TaxonomyFamily::new(&taxonomies, extra));
    for taxonomy in site.taxonomies.iter().filter(|t| t.show_in_rest && t.standard_controller) {
        let (site, taxonomy) = (Arc::clone(site), taxonomy.clone());
        registry.mount(&namespace, move |extra| Terms::new(&site, &taxonomy, extra));
    }
    let [users, passwords] = [(); 2].map(|()| Arc::clone(site));
    registry.mount(&namespace, move |extra| Users::new(&users, extra));
    registry.mount(&namespace, move |extra| ApplicationPasswords::new(&passwords, app_passwords, extra));
    let [block_types, renderer] = [(); 2].map(|()| Arc::clone(site));
    registry.mount(&namespace, move |_| blocks::renderer::Renderer::new(&renderer));
    registry.mount(&namespace, move |extra| blocks::types::Types::new(&block_types, extra));
    let [comments, search] = [(); 2].map(|()| Arc::clone(site));
    registry.mount(&namespace, move |extra| Comments::new(&comments, extra));
    registry.mount_with(&namespace, move |registered| Search::mounted(&search, registered));
    let [themes, patterns, directory] = [(); 3].map(|()| Arc::clone(site));
    registry.mount(&namespace, move |extra| Themes::new(&themes, extra));
    registry.mount(&namespace, move |extra| Patterns::new(&patterns, extra));
    registry.mount(&namespace, move |_| PatternDirectory::new(&directory));
    let plugins = Arc::clone(site);
    registry.mount(&namespace, move |extra| Plugins::new(&plugins, extra));
    let [blocks, details, export, health] = [(); 4].map(|()| Arc::clone(site));
    registry.mount(&namespace, move |extra| BlockDirectory::new(&blocks, extra));
    registry.mount(&site.brand.side_namespace("site-health"), move |_| SiteHealth::new(&health));
    let editor = site.brand.side_namespace("block-editor");
    registry.mount(&editor, move |_| UrlDetails::new(&details));
    registry.mount(&editor, move |_| ThemeExport::new(&export));
    if let Some(menus) = site.types.get(navigation_fallback::TYPE).cloned() {
        let site = Arc::clone(site);
        registry.mount(&editor, move |extra| NavigationFallback::new(&site, menus, extra));
    }
    registry.mount(&site.brand.side_namespace("abilities"), move |extra| AbilityRoutes::new(&abilities, extra));
    let site = Arc::clone(site);
    registry.hooks.index(10, move |response, req| {
        let response = complete_index(response, &req, &site, app_passwords);
        async move { response }
    });
}

/// Whether the caller may change the theme, or write what it shows.
fn works_with_theme(site: &RestSite, settings: &Settings, req: &Request) -> bool {
    let (access, caller) = (Access::new(site, settings), caller(req));
    let edits = site.types.iter().filter(|t| t.show_in_rest).map(|t| t.caps.edit_posts.as_str());
    std::iter::once("switch_themes").chain(edits).any(|cap| access.can(&caller, cap))
}

/// Menus, their items, and where they are shown.
fn menus(registry: &mut Registry, site: &Arc<RestSite>, namespace: &str) {
    if let Some(taxonomy) = site.taxonomies.get(MENU).filter(|t| t.show_in_rest).cloned() {
        let site = Arc::clone(site);
        registry.mount(namespace, move |extra| Menus::new(&site, &taxonomy, extra));
    }
    for post_type in site.types.iter().filter(|t| t.show_in_rest && t.rest_controller == RestController::MenuItems) {
        let [own, beside] = [(); 2].map(|()| (Arc::clone(site), post_type.clone()));
        registry.mount(namespace, move |extra| MenuItems::new(&own.0, &own.1, extra));
        if post_type.supports("autosave") {
            registry.mount(namespace, move |extra| Autosaves::new(&beside.0, &beside.1, extra));
        }
    }
    let site = Arc::clone(site);
    registry.mount(namespace, move |extra| MenuLocations::new(&site, extra));
}

/// Widgets, their kinds, and the sidebars that they stand in.
fn widgets(registry: &mut Registry, site: &Arc<RestSite>, namespace: &str) {
    let [sidebars, kinds, widgets] = [(); 3].map(|()| Arc::clone(site));
    registry.mount(namespace, move |extra| SidebarRoutes::new(&sidebars, extra));
    registry.mount(namespace, move |extra| WidgetTypeRoutes::new(&kinds, extra));
    registry.mount(namespace, move |extra| WidgetRoutes::new(&widgets, extra));
}

/// Font families, their faces, and collections of fonts.
fn fonts(registry: &mut Registry, site: &Arc<RestSite>, namespace: &str) {
    for post_type in site.types.iter().filter(|t| t.show_in_rest) {
        let (site, post_type) = (Arc::clone(site), post_type.clone());
        match post_type.rest_controller {
            RestController::FontFamilies => {
                registry.mount(namespace, move |extra| FontFamilies::new(&site, &post_type, extra));
            }
            RestController::FontFaces => {
                registry.mount(namespace, move |extra| FontFaces::new(&site, &post_type, extra));
            }
            _ => {}
        }
    }
    let site = Arc::clone(site);
    registry.mount(namespace, move |extra| FontCollections::new(&site, extra));
}

/// The posts of a type, and what is kept of them beside.
fn mount_type(registry: &mut Registry, namespace: &str, site: &Arc<RestSite>, post_type: PostType) {
    let post_type = Arc::new(post_type);
    let shared = || (Arc::clone(site), Arc::clone(&post_type));
    let (own, kind) = shared();
    registry.mount(namespace, move |extra| Posts::new(&own, &kind, extra));
    if post_type.supports("revisions") {
        let (site, kind) = shared();
        registry.mount(namespace, move |extra| Revisions::new(&site, &kind, extra));
    }
    if post_type.supports("autosave") {
        let (site, kind) = shared();
        registry.mount(namespace, move |extra| Autosaves::new(&site, &kind, extra));
    }
}

/// Adds what the families know to the index: where applications are authorized, logo and icon.
fn complete_index(mut response: Response, req: &Request, site: &RestSite, app_passwords: bool) -> Response {
    let Ok(settings) = site.settings() else { return response };
    let Value::Object(data) = &mut response.data else { return response };
    if app_passwords && req.wants("authentication") {
        let page = settings.urls.site.site_url(&format!("{}/authorize-application.php", site.brand.admin_path()));
        data.insert(
            "authentication".to_owned(),
            json!({"application-passwords": {"endpoints": {"authorization": page}}}),
        );
    }
    let (logo, icon) = (settings.number("site_logo"), settings.number("site_icon"));
    if req.wants("site_logo") {
        data.insert("site_logo".to_owned(), json!(logo));
    }
    if req.wants("site_icon") {
        data.insert("site_icon".to_owned(), json!(icon));
    }
    if req.wants("site_icon_url") {
        let file = match icon {
            0 => None,
            id => site.read(|db| Ok(meta::get(db, MetaKind::Post, id, "_wp_attached_file")?)).ok().flatten(),
        };
        let url = file.map_or(String::new(), |file| format!("{}/{}", settings.uploads_url(), file.text()));
        data.insert("site_icon_url".to_owned(), json!(url));
    }
    let wants_links = req.wants("_links") || req.has_param("_embed");
    if wants_links && works_with_theme(site, &settings, req) {
        let href = settings.urls.rest(&format!("/{}/themes/{}", site.brand.namespace(), settings.option("stylesheet")));
        response.links.add(format!("{LINK_RELATION}active-theme"), Link::new(href));
    }
    picture_links(&mut response, req, site, &settings, wants_links);
    response
}

/// Links to the site's logo and icon: they come with the members that they are about, whether or not `_links` is asked for.
/// Where the store does not answer there are none.
fn picture_links(response: &mut Response, req: &Request, site: &RestSite, settings: &Settings, wants_links: bool) {
    let wanted = |names: &[&str]| wants_links || names.iter().any(|name| req.wants(name));
    let mut pictures = vec![("site_logo", &["site_logo"][..]), ("site_icon", &["site_icon", "site_icon_url"])];
    pictures.retain(|(kind, members)| settings.number(kind) > 0 && wanted(members));
    if pictures.is_empty() {
        return;
    }
    let ids: Vec<PostId> = pictures.iter().map(|(kind, _)| PostId(settings.number(kind))).collect();
    let Ok(known) = site.read(|db| Ok(posts::get_many(db, &ids)?)) else { return };
    for ((kind, _), id) in pictures.into_iter().zip(ids) {
        let post = known.iter().find(|post| post.id == id);
        let href = settings.urls.rest(&post.map(|post| permalinks::route(site, post)).unwrap_or_default());
        let link = Link::new(href).embeddable().attr("type", kind);
        response.links.add(format!("{LINK_RELATION}featuredmedia"), link);
    }
}
