//! Themes in the content folder: list and fetch.
//!
//! Users who may switch themes see all themes; users who may edit posts see the active theme. Theme supports, template
//! types and template part areas are returned for the active theme only.

mod fields;
mod supports;

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use svc_model::PostId;
use svc_packages::theme::{self, Theme};
use svc_resource::{Fields, total_headers};
use svc_routing::{
    Controller, ExtraFields, Link, Links, Map, Method, Request, Response, Result, Route, forbidden, get,
};
use svc_schema::{
    Arg, Args, Error, Sanitizer, Schema,
    build::{array, string},
};
use svc_site::{Access, Settings, blocking::run_blocking};

use self::fields::ThemeItem;
use crate::{
    LINK_RELATION, RestSite, caller, respond,
    theme_access::{FOLDER, clean_stylesheet, is_writer, not_found},
};

/// The object type that additional fields name.
const OBJECT: &str = "theme";
/// Fields that are returned for the active theme only.
const ACTIVE_ONLY: [&str; 3] = ["theme_supports", "default_template_types", "default_template_part_areas"];

/// The caller may not view all themes.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view_themes", "You are not allowed to view themes.")
}

/// The caller may not view the active theme.
fn cannot_view_active(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view_active_theme", "You are not allowed to view the active theme.")
}

/// The controller for themes.
pub struct Themes {
    site: Arc<RestSite>,
    fields: Fields<ThemeItem, ()>,
    extra: ExtraFields,
}

impl Themes {
    /// The controller for this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        Themes { site: Arc::clone(site), fields: fields::fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    /// Whether the caller may view all themes, and whether they may view the active theme.
    fn rights(&self, req: &Request, settings: &Settings) -> (bool, bool) {
        let (caller, access) = (caller(req), Access::new(&self.site, settings));
        let all = access.can(&caller, "switch_themes") || access.can(&caller, "manage_network_themes");
        (all, is_writer(&self.site, &caller, &access))
    }

    fn read(&self, stylesheet: &str, settings: &Arc<Settings>) -> Option<ThemeItem> {
        let active = self.site.theme(settings);
        let is_active = active.name == stylesheet;
        let theme = match &active.theme {
            Some(theme) if is_active => theme.clone(),
            _ => Theme::read(&self.site.themes_dir(), stylesheet, &settings.themes_url())?,
        };
        let supports = if is_active { supports::of(&theme, &self.site.theme_supports) } else { Map::new() };
        Some(ThemeItem { theme, is_active, supports, url: settings.themes_url() })
    }

    /// Ids of these themes' global styles posts, if links are requested. Creates the active theme's post if it is missing.
    async fn styles(&self, items: &[ThemeItem], req: &Request) -> Result<HashMap<String, PostId>> {
        if !respond::view(req).wants_links() {
            return Ok(HashMap::new());
        }
        let mut styles = if items.iter().all(|item| item.is_active) {
            HashMap::new()
        } else {
            self.site.read(svc_site::global_styles::ids_by_theme)?
        };
        for item in items.iter().filter(|item| item.is_active) {
            let name = &item.theme.stylesheet;
            styles.insert(
                name.clone(),
                svc_site::global_styles::find_or_create(&self.site.site, name, caller(req).id).await?,
            );
        }
        Ok(styles)
    }

    /// The JSON of a theme, and its links if they are requested.
    async fn show(
        &self,
        item: &ThemeItem,
        styles: Option<&PostId>,
        req: &Request,
        settings: &Settings,
    ) -> Result<(Map, Option<Links>)> {
        let view = respond::view(req);
        let mut data = self.fields.plan(&view).prepare(item);
        if !item.is_active {
            data.retain(|name, _| !ACTIVE_ONLY.contains(&name.as_str()));
        }
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        if !view.wants_links() {
            return Ok((data, None));
        }
        let urls = &settings.urls;
        let collection = urls.rest(&format!("/{}/themes", self.site.brand.namespace()));
        let mut links = Links::new();
        links.add("self", Link::new(format!("{collection}/{}", item.theme.stylesheet)).allow(["GET"]));
        links.add("collection", Link::new(&collection));
        if let Some(id) = styles {
            let styles = urls.rest(&format!("/{}/global-styles/{id}", self.site.brand.namespace()));
            links.add(format!("{LINK_RELATION}user-global-styles"), Link::new(styles));
        }
        if item.is_active && item.theme.is_block_theme {
            let editor = Access::new(&self.site, settings).can(&caller(req), "edit_theme_options");
            let export = urls.rest(&format!("/{}/export", self.site.brand.side_namespace("block-editor")));
            let hints = serde_json::json!({"allow": if editor { vec!["GET"] } else { Vec::new() }});
            links.add(format!("{LINK_RELATION}export-theme"), Link::new(export).attr("targetHints", hints));
        }
        Ok((data, Some(links)))
    }

    // List

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        let (all, active) = self.rights(&req, &*self.site.settings()?);
        // Arguments of `OPTIONS` requests are not parsed. As in WordPress, a string is not a list of one status there.
        let has_filter = *req.method() != Method::OPTIONS || req.param("status").is_some_and(Value::is_array);
        let only_active = has_filter && requested_statuses(&req).is_some_and(|statuses| statuses == ["active"]);
        match (all, only_active, active) {
            (true, ..) | (_, true, true) => Ok(()),
            (_, true, false) => Err(cannot_view_active(&req)),
            _ => Err(cannot_view(&req)),
        }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings()?;
        let requested = requested_statuses(&req);
        let site = Arc::clone(&self.site);
        // This reads many files.
        let names = run_blocking(move || theme::folders(&site.themes_dir())).await?;
        let mut items = Vec::new();
        for name in names {
            let status = if name == settings.option("stylesheet") { "active" } else { "inactive" };
            if requested.as_ref().is_none_or(|requested| requested.iter().any(|r| r == status)) {
                items.extend(self.read(&name, &settings));
            }
        }
        let total = u64::try_from(items.len()).unwrap_or(u64::MAX);
        let mut data = Vec::with_capacity(items.len());
        if !req.is_head() {
            let styles = self.styles(&items, &req).await?;
            for item in &items {
                let (item, links) = self.show(item, styles.get(&item.theme.stylesheet), &req, &settings).await?;
                data.push(respond::with_links(item, links, &req));
            }
        }
        let mut response = Response::new(Value::Array(data));
        for (name, value) in total_headers(total, 1) {
            response = response.header(&self.site.brand.header(name), value);
        }
        Ok(response)
    }

    // Fetch

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<()> {
        let settings = self.site.settings()?;
        let (all, active) = self.rights(&req, &settings);
        let is_active = req.require::<String>("stylesheet")? == settings.option("stylesheet");
        match (all, is_active, active) {
            (true, ..) | (_, true, true) => Ok(()),
            (_, true, false) => Err(cannot_view_active(&req)),
            _ => Err(cannot_view(&req)),
        }
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings()?;
        let stylesheet: String = req.require("stylesheet")?;
        let item = self.read(&stylesheet, &settings).ok_or_else(not_found)?;
        let styles = self.styles(std::slice::from_ref(&item), &req).await?;
        let (data, links) = self.show(&item, styles.get(&stylesheet), &req, &settings).await?;
        Ok(respond::single(data, links))
    }
}

/// The requested statuses: a list, or a string if the request's arguments were not parsed (`OPTIONS`).
fn requested_statuses(req: &Request) -> Option<Vec<String>> {
    let statuses = svc_php::list::parse_list(req.param("status")?);
    Some(statuses.iter().map(|status| svc_php::cast::to_text(status).into_owned()).collect())
}

impl Controller for Themes {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let status = array(string().one_of(["active", "inactive"])).describe("Only return themes with these statuses.");
        let status = status.compile();
        let parse = status.clone();
        // `sanitize_arg` parses it: the permission check of `OPTIONS` needs the value as it was sent.
        let status = Arg { sanitize: Sanitizer::None, ..Arg::new(status) };
        let name = string().describe("Name of the theme's folder.");
        let name = Args::new().with("stylesheet", Arg::new(name.compile()).sanitize_with(clean_stylesheet));
        vec![
            Route::new("/themes").schema(schema.clone()).endpoint(
                get(Self::list, Self::can_list)
                    .args(Args::new().with("status", status))
                    .sanitize_arg("status", move |_, value| parse.parse(value.clone(), "status")),
            ),
            Route::new(format!("/themes/(?P<stylesheet>{FOLDER})"))
                .schema(schema)
                .endpoint(get(Self::fetch, Self::can_fetch).args(name)),
        ]
    }
}
