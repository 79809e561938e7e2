//! Themes of the content folder: list and fetch.
//!
//! Whoever may switch themes sees all; whoever writes posts sees the active one. Only of the active theme is told what it
//! supports, and which templates pages can have.

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
use svc_site::{Access, Settings, blocking::blocking};

use self::fields::ThemeItem;
use crate::{
    LINK_RELATION, RestSite, caller, respond,
    theme_access::{FOLDER, clean_stylesheet, is_writer, not_found},
};

/// The object type that additional fields name.
const OBJECT: &str = "theme";
/// Members that only the active theme has.
const OF_ACTIVE: [&str; 3] = ["theme_supports", "default_template_types", "default_template_part_areas"];

/// The caller may not see all themes.
fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view_themes", "You are not allowed to see themes.")
}

/// The caller may not see the active theme.
fn cannot_view_active(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view_active_theme", "You are not allowed to see the active theme.")
}

/// The family of themes.
pub struct Themes {
    site: Arc<RestSite>,
    fields: Fields<ThemeItem, ()>,
    extra: ExtraFields,
}

impl Themes {
    /// The family on this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        Themes { site: Arc::clone(site), fields: fields::fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    /// Whether the caller may see all themes, and the active one.
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

    /// The posts of these themes' styles, when links are asked for. That of the active theme is made when there is none.
    async fn styles(&self, items: &[ThemeItem], req: &Request) -> Result<HashMap<String, PostId>> {
        if !respond::view(req).wants_links() {
            return Ok(HashMap::new());
        }
        let mut styles = if items.iter().all(|item| item.is_active) {
            HashMap::new()
        } else {
            self.site.read(svc_site::global_styles::of_themes)?
        };
        for item in items.iter().filter(|item| item.is_active) {
            let name = &item.theme.stylesheet;
            styles
                .insert(name.clone(), svc_site::global_styles::of_theme(&self.site.site, name, caller(req).id).await?);
        }
        Ok(styles)
    }

    /// The wire form of a theme, and its links when they are asked for.
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
            data.retain(|name, _| !OF_ACTIVE.contains(&name.as_str()));
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
        // For OPTIONS arguments are not processed: there a text is not a list of one state, as in WordPress.
        let counts = *req.method() != Method::OPTIONS || req.param("status").is_some_and(Value::is_array);
        let only_active = counts && wanted_states(&req).is_some_and(|states| states == ["active"]);
        match (all, only_active, active) {
            (true, ..) | (_, true, true) => Ok(()),
            (_, true, false) => Err(cannot_view_active(&req)),
            _ => Err(cannot_view(&req)),
        }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings()?;
        let wanted = wanted_states(&req);
        let site = Arc::clone(&self.site);
        // Many files are looked at.
        let names = blocking(move || theme::folders(&site.themes_dir())).await?;
        let mut items = Vec::new();
        for name in names {
            let status = if name == settings.option("stylesheet") { "active" } else { "inactive" };
            if wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|w| w == status)) {
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

/// The states that a list is narrowed to, given as a list or, where the request was not processed (`OPTIONS`), as text.
fn wanted_states(req: &Request) -> Option<Vec<String>> {
    let states = svc_php::list::parse_list(req.param("status")?);
    Some(states.iter().map(|state| svc_php::cast::to_text(state).into_owned()).collect())
}

impl Controller for Themes {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let status =
            array(string().one_of(["active", "inactive"])).describe("Narrows the list to themes of these states.");
        let status = status.compile();
        let parse = status.clone();
        // Parsed for this request alone: the permission for `OPTIONS` depends on the form in which it was sent.
        let status = Arg { sanitize: Sanitizer::None, ..Arg::new(status) };
        let name = string().describe("The theme's folder.");
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
