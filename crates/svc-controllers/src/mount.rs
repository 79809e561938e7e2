//! Mounts the route families of a site, and supplies the site's fields and links of the API index.

use std::{sync::Arc, time::Duration};

use chrono::Timelike as _;
use serde_json::{Value, json};
use svc_brand::OWN_NAMESPACE;
use svc_media::RegisteredSize;
use svc_model::{PostId, PostType, RouteFamily};
use svc_routing::{ApiUrls, DependsOn, Link, Map, ParamOrder, Registry, Request, Response, SiteInfo};
use svc_schema::Error;
use svc_site::{Access, Settings, Site, SiteResult, media::sizes, menus::item::MENU, permalinks};
use svc_store::{Db, MetaKind, meta, posts};
use svc_versions::{Context, Transport};

use crate::{
    LINK_RELATION, RestSite,
    abilities::{AbilityCategoryFamily, AbilityFamily},
    application_passwords::ApplicationPasswords,
    batch_data::StoreBatches,
    block_directory::BlockDirectory,
    blocks, caller,
    comments::Comments,
    editor_settings::EditorSettingsRoutes,
    events,
    export::ThemeExport,
    fonts::{FontCollections, FontFaces, FontFamilies},
    global_styles::{GlobalStyles, StylesHistory},
    icons::{IconCollectionFamily, IconFamily},
    images::Images,
    languages::{self, LanguageList},
    media::Media,
    menus::{MenuItems, MenuLocations, Menus},
    navigation_fallback::{self, NavigationFallback},
    oembed::OEmbed,
    patterns::{PatternCategories, PatternDirectory, Patterns},
    permalinks::PermalinkRoutes,
    plugins::Plugins,
    posts::Posts,
    preview_links::PreviewLinks,
    public_site::{PublicMenus, PublicSettings},
    registry_family::{RegistryEntries, RegistryFamily},
    resolve::Resolve,
    revisions::{Autosaves, Revisions},
    search::{RankedSearches, Search},
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
    widgets::{SidebarFamily, WidgetRoutes, WidgetTypeFamily},
};

/// Maximum bits per channel of images that clients generate.
const MAX_BIT_DEPTH: u8 = 16;

/// The site's REST URL, brand and index fields, as the routing server needs them. The URLs are those for requests with the transport of `cx`;
/// [`api_urls`] returns others.
///
/// # Errors
/// Those of the store.
pub fn site_info(cx: &Context, site: &Arc<Site>) -> Result<SiteInfo, Error> {
    let mut info = SiteInfo::with_urls(site.brand.clone(), SiteApiUrls(site.settings(cx)?));
    // WordPress's precedence. Parameters are parsed once, so the permission check and the handler always see the same
    // value, regardless of its source.
    info.param_order = ParamOrder::UrlLast;
    info.max_batch = site.policies.max_batch.unwrap_or(info.max_batch);
    let site_of = Arc::clone(site);
    let (versions, store) = (Arc::clone(site.store.versions()), site.store.clone());
    let info = info.observed_by(versions, move |cx| store.stamp(cx)).batch_data(StoreBatches(Arc::clone(site)));
    Ok(info.index_fields(move |req| {
        let fields = |settings: Arc<Settings>| index_fields(req.cx(), &site_of, &settings);
        let index_fields = site_of.settings(req.cx()).map(fields).unwrap_or_default();
        Box::pin(std::future::ready(index_fields))
    }))
}

/// The URLs of the site's API with these settings.
pub fn api_urls(settings: Arc<Settings>) -> impl ApiUrls + 'static {
    SiteApiUrls(settings)
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

fn index_fields(cx: &Context, site: &Site, settings: &Settings) -> Map {
    // A missing option is `false`.
    let text = |name: &str| settings.stored(name).map_or(Value::Bool(false), |stored| stored.text().into());
    let offset = match settings.option("timezone_string") {
        "" | "0" => text("gmt_offset"),
        _ => {
            let now = site.clock();
            // Offsets change at full minutes.
            cx.expires_in(Duration::from_secs(60 - u64::from(now.second().min(59))));
            svc_php::cast::float_value(settings.zone.offset_hours(now))
        }
    };
    let index_fields = json!({
        "name": text("blogname"),
        "description": text("blogdescription"),
        "url": settings.option("siteurl").trim_end_matches('/'),
        "home": settings.urls.site.home_url(""),
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

/// Mounts every family of this site, in WordPress's order, and completes the index. It contains the URL of the page that authorizes
/// application passwords if these are available to the request.
///
/// Some schemas depend on the site's options, which are read in `cx`. They are those of requests without TLS, so that they do
/// not depend on the request during which the routes are registered.
///
/// # Errors
/// Those of the store.
pub fn mount(cx: &Context, registry: &mut Registry, rest: &Arc<RestSite>) -> Result<(), Error> {
    let site = &rest.site;
    let settings = site.settings(&cx.over(Transport::Plain))?;
    let settings_of_site = Arc::clone(&settings);
    let own = ["site-health", "block-editor", "abilities"].map(|name| site.brand.side_namespace(name));
    registry.list_namespaces_last(std::iter::once(site.brand.namespace()).chain(own));
    let embeds = Arc::clone(site);
    registry.mount(svc_render::oembed::NAMESPACE, move |_| OEmbed::new(&embeds));
    let namespace = site.brand.namespace();
    for post_type in site.registries.types.iter().filter(|t| t.show_in_rest) {
        mount_type(registry, &namespace, rest, &settings, post_type);
    }
    mount_registry::<Types>(registry, &namespace, rest);
    mount_registry::<Statuses>(registry, &namespace, rest);
    mount_registry::<TaxonomyFamily>(registry, &namespace, rest);
    for taxonomy in site.registries.taxonomies.iter().filter(|t| t.show_in_rest) {
        let (rest, taxonomy, settings) = (Arc::clone(rest), taxonomy.clone(), Arc::clone(&settings));
        if taxonomy.name == MENU {
            registry.mount(&namespace, move |extra| Menus::new(&rest, &taxonomy, extra));
        } else if taxonomy.standard_controller {
            registry.mount(&namespace, move |extra| {
                let languages = settings.languages_of_taxonomy(&taxonomy.name);
                Terms::new(&rest, &taxonomy, extra).with_languages(languages)
            });
        }
    }
    let [users, comments, search] = [(); 3].map(|()| Arc::clone(rest));
    let passwords = Arc::clone(site);
    let [of_users, of_comments] = [(); 2].map(|()| Arc::clone(&settings));
    registry.mount(&namespace, move |extra| Users::new(&users, &of_users, extra));
    registry.mount(&namespace, move |extra| ApplicationPasswords::new(&passwords, extra));
    registry.mount(&namespace, move |extra| Comments::new(&comments, &of_comments, extra));
    registry.mount_with(&namespace, move |registered| Search::mounted(&search, registered));
    let (renderer, settings, plugins) = (Arc::clone(&rest.renderer), Arc::clone(rest), Arc::clone(site));
    registry.mount(&namespace, move |_| blocks::renderer::Renderer::new(&renderer));
    mount_registry::<blocks::types::Types>(registry, &namespace, rest);
    registry.mount(&namespace, move |_| SiteSettings::new(&settings));
    mount_registry::<Themes>(registry, &namespace, rest);
    registry.mount(&namespace, move |extra| Plugins::new(&plugins, extra));
    mount_registry::<SidebarFamily>(registry, &namespace, rest);
    mount_registry::<WidgetTypeFamily>(registry, &namespace, rest);
    let (widgets, [blocks, directory]) = (Arc::clone(rest), [(); 2].map(|()| Arc::clone(site)));
    registry.mount(&namespace, move |extra| WidgetRoutes::new(&widgets, extra));
    registry.mount(&namespace, move |extra| BlockDirectory::new(&blocks, extra));
    registry.mount(&namespace, move |_| PatternDirectory::new(&directory));
    mount_registry::<Patterns>(registry, &namespace, rest);
    mount_registry::<PatternCategories>(registry, &namespace, rest);
    let [health, details, export] = [(); 3].map(|()| Arc::clone(site));
    registry.mount(&site.brand.side_namespace("site-health"), move |_| SiteHealth::new(&health));
    let editor = site.brand.side_namespace("block-editor");
    registry.mount(&editor, move |_| UrlDetails::new(&details));
    mount_registry::<MenuLocations>(registry, &namespace, rest);
    registry.mount(&editor, move |_| ThemeExport::new(&export));
    if let Some(menus) = site.registries.types.get(navigation_fallback::TYPE).cloned() {
        let rest = Arc::clone(rest);
        registry.mount(&editor, move |extra| NavigationFallback::new(&rest, menus, extra));
    }
    mount_registry::<FontCollections>(registry, &namespace, rest);
    let abilities = site.brand.side_namespace("abilities");
    mount_registry::<AbilityCategoryFamily>(registry, &abilities, rest);
    mount_registry::<AbilityFamily>(registry, &abilities, rest);
    mount_registry::<IconFamily>(registry, &namespace, rest);
    mount_registry::<IconCollectionFamily>(registry, &namespace, rest);
    let views = Arc::clone(site);
    registry.mount(&namespace, move |_| ViewConfig::new(&views));
    mount_own(registry, rest, &settings_of_site);
    let site = Arc::clone(site);
    let index = registry.hooks.index(10, move |response, req| {
        let response = complete_index(response, &req, &site);
        async move { response }
    });
    index.depends_on(DependsOn::Object);
    Ok(())
}

/// Mounts the families that WordPress does not have. The index does not list their routes.
fn mount_own(registry: &mut Registry, rest: &Arc<RestSite>, settings_of_site: &Settings) {
    let [resolve, links, permalinks] = [(); 3].map(|()| Arc::clone(&rest.site));
    registry.mount(OWN_NAMESPACE, move |_| Resolve::new(&resolve));
    registry.mount(OWN_NAMESPACE, move |_| PreviewLinks::new(&links));
    registry.mount(OWN_NAMESPACE, move |_| PermalinkRoutes::new(&permalinks));
    let source = events::source(rest);
    registry.mount(OWN_NAMESPACE, move |_| events::ChangeFeed(source));
    let editor = Arc::clone(&rest.site);
    registry.mount(&rest.site.brand.side_namespace("block-editor"), move |_| EditorSettingsRoutes::new(&editor));
    let (menus, settings) = (Arc::clone(&rest.site), Arc::clone(rest));
    registry.mount(OWN_NAMESPACE, move |_| PublicMenus::new(&menus));
    registry.mount(OWN_NAMESPACE, move |_| PublicSettings::new(&settings));
    let [hooks, ranked] = [(); 2].map(|()| Arc::clone(&rest.site));
    registry.mount(OWN_NAMESPACE, move |_| events::WebhookRoutes::new(&hooks));
    registry.mount(OWN_NAMESPACE, move |_| RankedSearches::new(&ranked));
    if let Some(images) = Images::new(&rest.site) {
        registry.mount(OWN_NAMESPACE, move |_| images);
    }
    if settings_of_site.languages.is_some() {
        mount_registry::<LanguageList>(registry, languages::NAMESPACE, rest);
    }
}

/// Whether the caller may switch themes or edit posts of any type in the REST API.
fn can_see_active_theme(site: &Site, settings: &Settings, req: &Request) -> bool {
    let (access, caller) = (Access::new(site, settings), caller(req));
    let edits = site.registries.types.iter().filter(|t| t.show_in_rest).map(|t| t.caps.edit_posts.as_str());
    std::iter::once("switch_themes").chain(edits).any(|cap| access.can(&caller, cap))
}

/// Mounts a read-only family.
fn mount_registry<S: RegistryEntries>(registry: &mut Registry, namespace: &str, rest: &Arc<RestSite>) {
    let rest = Arc::clone(rest);
    registry.mount(namespace, move |extra| RegistryFamily::<S>::new(&rest, extra));
}

/// Mounts the routes of a type: posts, their revisions and their autosaves.
fn mount_type(
    registry: &mut Registry,
    namespace: &str,
    rest: &Arc<RestSite>,
    settings: &Arc<Settings>,
    post_type: &PostType,
) {
    let post_type = Arc::new(post_type.clone());
    let shared = || (Arc::clone(rest), Arc::clone(&post_type));
    let ((own, own_type), (history, history_type)) = (shared(), shared());
    match post_type.route_family {
        RouteFamily::Posts | RouteFamily::Blocks => {
            let settings = Arc::clone(settings);
            registry.mount(namespace, move |extra| {
                let languages = settings.languages_of_type(&own_type.name);
                Posts::new(&own, &own_type, extra).with_languages(languages)
            });
            if post_type.supports("revisions") {
                registry.mount(namespace, move |extra| Revisions::new(&history.renderer, &history_type, extra));
            }
        }
        RouteFamily::Attachments => {
            let settings = Arc::clone(settings);
            registry.mount(namespace, move |extra| Media::new(&own, &settings, &own_type, extra));
        }
        RouteFamily::MenuItems => registry.mount(namespace, move |extra| MenuItems::new(&own, &own_type, extra)),
        RouteFamily::Templates => {
            // Before the templates, because template ids may contain slashes.
            registry.mount(namespace, move |extra| TemplateHistory::new(&history.site, &history_type, extra));
            registry.mount(namespace, move |extra| Templates::new(&own.site, &own_type, extra));
        }
        RouteFamily::GlobalStyles => {
            registry.mount(namespace, move |extra| StylesHistory::new(&history.site, &history_type, extra));
            registry.mount(namespace, move |extra| GlobalStyles::new(&own.site, &own_type, extra));
        }
        RouteFamily::FontFamilies => registry.mount(namespace, move |extra| FontFamilies::new(&own, &own_type, extra)),
        RouteFamily::FontFaces => registry.mount(namespace, move |extra| FontFaces::new(&own, &own_type, extra)),
    }
    let has_autosaves = [RouteFamily::Posts, RouteFamily::Blocks, RouteFamily::MenuItems];
    if has_autosaves.contains(&post_type.route_family) && post_type.supports("autosave") {
        let (rest, post_type) = shared();
        registry.mount(namespace, move |extra| Autosaves::new(&rest, &post_type, extra));
    }
}

/// Adds the authorization page, the logo, the icon and the link to the active theme to the index.
fn complete_index(mut response: Response, req: &Request, site: &Site) -> Response {
    let Ok(settings) = site.settings(req.cx()) else { return response };
    let Value::Object(data) = &mut response.data else { return response };
    if site.has_application_passwords(req.transport()) && req.wants("authentication") {
        let page = settings.urls.site.site_url(&format!("{}/authorize-application.php", site.brand.admin_path()));
        data.insert(
            "authentication".to_owned(),
            json!({"application-passwords": {"endpoints": {"authorization": page}}}),
        );
    }
    if req.is_secure_origin() && caller(req).has("upload_files") {
        let fields = image_settings(site, &settings).into_iter();
        data.extend(fields.filter(|(name, _)| req.wants(name)).map(|(name, value)| (name.to_owned(), value)));
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
            id => read_or_omit(site, req, |db| Ok(meta::get(db, MetaKind::Post, id, "_wp_attached_file")?)).flatten(),
        };
        let url = file.map_or(String::new(), |file| format!("{}/{}", settings.uploads_url(), file.text()));
        data.insert("site_icon_url".to_owned(), json!(url));
    }
    let wants_links = req.wants_index_links();
    if wants_links && can_see_active_theme(site, &settings, req) {
        let href = settings.urls.rest(&format!("/{}/themes/{}", site.brand.namespace(), settings.option("stylesheet")));
        response.links.add(format!("{LINK_RELATION}active-theme"), Link::new(href));
    }
    add_image_links(&mut response, req, site, &settings, wants_links);
    response
}

/// What is read for the index. If the database fails, the index has the rest, and is not cached.
fn read_or_omit<T>(site: &Site, req: &Request, read: impl FnOnce(&mut Db) -> SiteResult<T>) -> Option<T> {
    site.read(req.cx(), read).inspect_err(|_| req.cx().never()).ok()
}

/// How clients process images before they upload them.
fn image_settings(site: &Site, settings: &Settings) -> [(&'static str, Value); 4] {
    let all = sizes::all(site, settings).into_iter();
    let described = all.map(|size| {
        let RegisteredSize { name, width, height, crop } = size;
        (name, json!({"width": width, "height": height, "crop": crop}))
    });
    [
        ("image_sizes", Value::Object(described.collect())),
        ("image_size_threshold", sizes::MAX_DIMENSION.into()),
        ("image_strip_meta", true.into()),
        ("image_max_bit_depth", MAX_BIT_DEPTH.into()),
    ]
}

/// Adds links to the site's logo and icon. They are included with the fields that they belong to, even if `_links` is
/// not requested. They are omitted if the database fails.
fn add_image_links(response: &mut Response, req: &Request, site: &Site, settings: &Settings, wants_links: bool) {
    let wanted = |names: &[&str]| wants_links || names.iter().any(|name| req.wants(name));
    let mut images = vec![("site_logo", &["site_logo"][..]), ("site_icon", &["site_icon", "site_icon_url"])];
    images.retain(|(option, fields)| settings.number(option) > 0 && wanted(fields));
    if images.is_empty() {
        return;
    }
    let ids: Vec<PostId> = images.iter().map(|(option, _)| PostId(settings.number(option))).collect();
    let Some(posts) = read_or_omit(site, req, |db| Ok(posts::get_many(db, &ids)?)) else { return };
    for ((option, _), id) in images.into_iter().zip(ids) {
        let post = posts.iter().find(|post| post.id == id);
        let href =
            settings.urls.rest(&post.map(|post| permalinks::rest_route(site, settings, post)).unwrap_or_default());
        let link = Link::new(href).embeddable().attr("type", option);
        response.links.add(format!("{LINK_RELATION}featuredmedia"), link);
    }
}
