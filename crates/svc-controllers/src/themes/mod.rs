//! Themes in the content folder: list and fetch.
//!
//! Users who may switch themes see all themes; users who may edit posts see the active theme. Theme supports, template
//! types and template part areas are returned for the active theme only.

mod fields;
pub mod supports;

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;
use svc_packages::theme::{self, Theme};
use svc_resource::{Fields, Plan};
use svc_routing::{Link, Links, Map, Method, Request, Response, Result, Route, forbidden};
use svc_schema::{
    Arg, Args, Error, Sanitizer,
    build::{array, string},
};
use svc_site::{Access, Settings, Site, blocking::run_blocking};
use svc_versions::Context;

use self::fields::ThemeItem;
use crate::{
    LINK_RELATION, RestSite, caller, collection,
    registry_family::{Listed, RegistryEntries, RegistryFamily, entry_links, route_url},
    respond,
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

/// The themes in the content folder.
pub struct Themes;

/// Whether the caller may view all themes, and whether they may view the active theme.
fn rights(site: &Arc<Site>, req: &Request, settings: &Settings) -> Result<(bool, bool)> {
    let (caller, access) = (caller(req), Access::new(site, settings));
    let all = access.can(&caller, "switch_themes") || access.can(&caller, "manage_network_themes");
    Ok((all, is_writer(site, req)?))
}

/// Reads a theme that can be used.
fn read(cx: &Context, site: &Arc<Site>, stylesheet: &str, settings: &Arc<Settings>) -> Option<ThemeItem> {
    let active = site.theme(cx, settings);
    let theme = match &active.theme {
        Some(theme) if active.name == stylesheet => theme.clone(),
        _ => Theme::read(&site.themes_dir(), stylesheet, &settings.themes_url())?,
    };
    Some(item(site, theme, settings))
}

/// Reads a theme, even if its parent, its templates, its style sheet or its folder are missing.
fn read_any(cx: &Context, site: &Arc<Site>, stylesheet: &str, settings: &Arc<Settings>) -> ThemeItem {
    read(cx, site, stylesheet, settings)
        .unwrap_or_else(|| item(site, Theme::read_broken(&site.themes_dir(), stylesheet), settings))
}

fn item(site: &Arc<Site>, theme: Theme, settings: &Settings) -> ThemeItem {
    let is_active = theme.stylesheet == settings.option("stylesheet");
    let supports = if is_active { supports::of(&theme, &site.registries.theme_supports) } else { Map::new() };
    ThemeItem { theme, is_active, supports, url: settings.themes_url(), styles: None }
}

/// Loads the ids of these themes' global styles posts, if links are requested. Creates the active theme's post if it
/// is missing.
async fn load_styles(site: &Arc<Site>, items: &mut [ThemeItem], req: &Request) -> Result<()> {
    if !respond::view(req).wants_links() {
        return Ok(());
    }
    let mut styles = if items.iter().all(|item| item.is_active) {
        HashMap::new()
    } else {
        site.read(req.cx(), svc_site::global_styles::ids_by_theme)?
    };
    for item in items.iter().filter(|item| item.is_active) {
        let name = &item.theme.stylesheet;
        styles
            .insert(name.clone(), svc_site::global_styles::find_or_create(req.cx(), site, name, caller(req).id).await?);
    }
    for item in items {
        item.styles = styles.get(&item.theme.stylesheet).copied();
    }
    Ok(())
}

impl RegistryEntries for Themes {
    type Entry = ThemeItem;
    const OBJECT: &'static str = OBJECT;

    fn fields() -> Fields<ThemeItem, ()> {
        fields::fields()
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        let (all, active) = rights(&rest.site, req, &*rest.site.settings(req.cx())?)?;
        // Arguments of `OPTIONS` requests are not parsed. As in WordPress, a string is not a list of one status there.
        let has_filter = *req.method() != Method::OPTIONS || req.param("status").is_some_and(Value::is_array);
        let only_active = has_filter && requested_statuses(req).is_some_and(|statuses| statuses == ["active"]);
        match (all, only_active, active) {
            (true, ..) | (_, true, true) => Ok(()),
            (_, true, false) => Err(cannot_view_active(req)),
            _ => Err(cannot_view(req)),
        }
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<ThemeItem>> {
        let settings = rest.site.settings(req.cx())?;
        let requested = requested_statuses(req);
        let active = settings.option("stylesheet");
        let mut entries = Vec::new();
        // As in WordPress, this filter alone is about the stored name; all others select from the folders.
        if requested.as_ref().is_some_and(|statuses| statuses == &["active"]) {
            entries.push(read_any(req.cx(), &rest.site, active, &settings));
        } else {
            let folder = rest.site.themes_dir();
            // This reads many files.
            for name in run_blocking(move || theme::folders(&folder)).await? {
                let status = if name == active { "active" } else { "inactive" };
                if requested.as_ref().is_none_or(|requested| requested.iter().any(|r| r == status)) {
                    entries.extend(read(req.cx(), &rest.site, &name, &settings));
                }
            }
        }
        let total = u64::try_from(entries.len()).unwrap_or(u64::MAX);
        let response = collection::with_totals(&rest.site, Response::default(), total, 1);
        load_styles(&rest.site, &mut entries, req).await?;
        Ok(Listed { entries, response })
    }

    fn prepare(plan: &Plan<'_, ThemeItem, ()>, item: &ThemeItem) -> Result<Map> {
        let mut data = plan.prepare(item);
        if !item.is_active {
            data.retain(|name, _| !ACTIVE_ONLY.contains(&name.as_str()));
        }
        Ok(data)
    }

    fn links(rest: &Arc<RestSite>, item: &ThemeItem, req: &Request) -> Result<Links> {
        let own = route_url(req.cx(), &rest.site, &format!("themes/{}", item.theme.stylesheet))?;
        let mut links = entry_links(own, route_url(req.cx(), &rest.site, "themes")?);
        if let Some(id) = item.styles {
            let styles = route_url(req.cx(), &rest.site, &format!("global-styles/{id}"))?;
            links.add(format!("{LINK_RELATION}user-global-styles"), Link::new(styles));
        }
        if item.is_active && item.theme.is_block_theme {
            let settings = rest.site.settings(req.cx())?;
            let editor = Access::new(&rest.site, &settings).can(&caller(req), "edit_theme_options");
            let export = settings.urls.rest(&format!("/{}/export", rest.site.brand.side_namespace("block-editor")));
            let hints = serde_json::json!({"allow": if editor { vec!["GET"] } else { Vec::new() }});
            links.add(format!("{LINK_RELATION}export-theme"), Link::new(export).attr("targetHints", hints));
        }
        Ok(links)
    }

    fn check_fetch(rest: &Arc<RestSite>, req: &Request) -> Result<Option<ThemeItem>> {
        let settings = rest.site.settings(req.cx())?;
        let (all, active) = rights(&rest.site, req, &settings)?;
        let is_active = req.require::<String>("stylesheet")? == settings.option("stylesheet");
        match (all, is_active, active) {
            (true, ..) | (_, true, true) => Ok(None),
            (_, true, false) => Err(cannot_view_active(req)),
            _ => Err(cannot_view(req)),
        }
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<ThemeItem> {
        let settings = rest.site.settings(req.cx())?;
        let stylesheet: String = req.require("stylesheet")?;
        // An empty name, which only the query can have, is the active theme.
        let stylesheet = if stylesheet.is_empty() { settings.option("stylesheet") } else { &stylesheet };
        let mut item = read_any(req.cx(), &rest.site, stylesheet, &settings);
        if item.theme.about.is_missing && !item.has_folder(&rest.site.themes_dir()) {
            return Err(not_found());
        }
        load_styles(&rest.site, std::slice::from_mut(&mut item), req).await?;
        Ok(item)
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        let status = array(string().one_of(["active", "inactive"]).first(&["enum"]))
            .describe("Only return themes with these statuses.");
        let status = status.compile();
        let parse = status.clone();
        // `sanitize_arg` parses it: the permission check of `OPTIONS` needs the value as it was sent.
        let status = Arg { sanitize: Sanitizer::None, ..Arg::new(status) };
        let name = string().describe("Name of the theme's folder.");
        let name = Args::new().with("stylesheet", Arg::new(name.compile()).sanitize_with(clean_stylesheet));
        let list = family
            .list_endpoint(Args::new().with("status", status))
            .sanitize_arg("status", move |_, value| parse.parse(value.clone(), "status"));
        vec![family.route("/themes", list), family.fetch_route(format!("/themes/(?P<stylesheet>{FOLDER})"), name)]
    }
}

/// The requested statuses: a list, or a string if the request's arguments were not parsed (`OPTIONS`).
fn requested_statuses(req: &Request) -> Option<Vec<String>> {
    let statuses = svc_php::list::parse_list(req.param("status")?).ok()?;
    Some(statuses.iter().map(|status| svc_php::cast::to_text(status).into_owned()).collect())
}
