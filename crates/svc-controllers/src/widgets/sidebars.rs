//! Sidebars: list, fetch, update the widgets in a sidebar.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_resource::{Fields, Plan};
use svc_routing::{EDITABLE, Link, Links, Map, Request, Response, Result, Route, on};
use svc_schema::{
    Args, MethodKind,
    build::{array, string, types},
};
use svc_site::{
    Settings, Site,
    widgets::{
        sidebar::{INACTIVE, Sidebar},
        store::Widgets,
    },
};
use svc_store::Tx;
use svc_versions::Context;

use super::{check_manage, errors, is_public, may_manage};
use crate::preconditions;
use crate::{
    LINK_RELATION, RestSite,
    args::{context_arg, context_args},
    contexts::EMBED_VIEW_EDIT,
    links::with_query,
    registry_family::{Listed, RegistryEntries, RegistryFamily, route_url},
};
use svc_site::object_state::ConditionalObject;
use svc_site::widgets::store;

/// A sidebar with its widgets.
pub struct SidebarItem {
    /// The sidebar's id; `None` if it is not registered.
    id: Option<String>,
    /// The registered sidebar.
    sidebar: Option<Sidebar>,
    /// Whether the theme renders sidebars.
    is_rendered: bool,
    widgets: Vec<String>,
}

impl SidebarItem {
    fn of(&self, property: fn(&Sidebar) -> &String) -> String {
        self.sidebar.as_ref().map(|sidebar| property(sidebar).clone()).unwrap_or_default()
    }

    fn name(&self) -> String {
        match &self.id {
            Some(id) if id == INACTIVE => "Inactive widgets".to_owned(),
            _ => self.of(|s| &s.name),
        }
    }

    fn status(&self) -> &'static str {
        if self.is_rendered && self.sidebar.is_some() { "active" } else { "inactive" }
    }
}

/// The sidebars of the site.
pub struct SidebarFamily;

/// Whether the theme renders sidebars. Block themes do not.
fn renders_sidebars(cx: &Context, site: &Arc<Site>, settings: &Settings) -> bool {
    !site.theme(cx, settings).is_block_theme()
}

fn item(cx: &Context, site: &Arc<Site>, widgets: &Widgets, settings: &Settings, id: &str) -> SidebarItem {
    let is_known = id == INACTIVE || site.registries.sidebars.contains_key(id);
    SidebarItem {
        id: is_known.then(|| id.to_owned()),
        sidebar: site.registries.sidebars.get(id).cloned(),
        is_rendered: renders_sidebars(cx, site, settings),
        widgets: widgets.sidebars.get(id).filter(|_| is_known).cloned().unwrap_or_default(),
    }
}

/// Methods of the sidebar's route that the caller may use.
fn methods(site: &Arc<Site>, req: &Request) -> Vec<&'static str> {
    match may_manage(site, req) {
        Ok(true) => vec!["GET", "POST", "PUT", "PATCH"],
        _ => vec!["GET"],
    }
}

/// The settings and the widgets, in one snapshot.
fn load(cx: &Context, rest: &RestSite) -> Result<(Arc<Settings>, Widgets)> {
    let (site, types) = (&rest.site, &rest.renderer.widgets);
    site.read(cx, |db| Ok((site.settings_in(db)?, Widgets::load(db, site, types.id_bases())?)))
}

impl RegistryEntries for SidebarFamily {
    type Entry = SidebarItem;
    const OBJECT: &'static str = "sidebar";

    #[rustfmt::skip]
    fn fields() -> Fields<SidebarItem, ()> {
        let mut f = Fields::<SidebarItem, ()>::new(Self::OBJECT);
        let text = |description: &str| string().describe(description).context(EMBED_VIEW_EDIT).readonly();
        f.add("id", text("The sidebar's ID.")).get(|s| s.id.clone().unwrap_or_default());
        f.add("name", text("Display name of the sidebar.")).get(SidebarItem::name);
        f.add("description", text("Description of the sidebar, such as its position in the theme.")).get(|s| s.of(|s| &s.description));
        f.add("class", text("Additional class name of the sidebar in the administration area.")).get(|s| s.of(|s| &s.class));
        f.add("before_widget", text("HTML before each widget.").default("").last(&["context", "readonly"])).get(|s| s.of(|s| &s.before_widget));
        f.add("after_widget", text("HTML after each widget.").default("").last(&["context", "readonly"])).get(|s| s.of(|s| &s.after_widget));
        f.add("before_title", text("HTML before the title of each widget.").default("").last(&["context", "readonly"])).get(|s| s.of(|s| &s.before_title));
        f.add("after_title", text("HTML after the title of each widget.").default("").last(&["context", "readonly"])).get(|s| s.of(|s| &s.after_title));
        f.add("status", text("Whether the theme renders the sidebar.").one_of(["active", "inactive"]).last(&["context", "readonly"])).get(|s| s.status());
        f.add("widgets", array(types(["object", "string"])).describe("The widgets in the sidebar, in order.").default(serde_json::json!([])).context(EMBED_VIEW_EDIT))
            .get(|s| s.widgets.clone());
        f
    }

    /// Everyone may list sidebars if any of them is public; otherwise only users who may manage widgets.
    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        let widgets = rest.site.read(req.cx(), |db| Widgets::load(db, &rest.site, rest.renderer.widgets.id_bases()))?;
        if widgets.sidebars.keys().any(|id| is_public(&rest.site, id)) {
            return Ok(());
        }
        check_manage(&rest.site, req)
    }

    async fn entries(rest: &Arc<RestSite>, req: &Request) -> Result<Listed<SidebarItem>> {
        let can_manage = may_manage(&rest.site, req)?;
        let (settings, widgets) = load(req.cx(), rest)?;
        let ids = widgets.sidebars.keys().filter(|id| can_manage || is_public(&rest.site, id));
        Ok(ids.map(|id| item(req.cx(), &rest.site, &widgets, &settings, id)).collect::<Vec<_>>().into())
    }

    /// As in WordPress, an unregistered sidebar has neither id nor name.
    fn prepare(plan: &Plan<'_, SidebarItem, ()>, item: &SidebarItem) -> Result<Map> {
        let mut data = plan.prepare(item);
        if item.id.is_none() {
            data.shift_remove("id");
            data.shift_remove("name");
        }
        Ok(data)
    }

    fn links(rest: &Arc<RestSite>, item: &SidebarItem, req: &Request) -> Result<Links> {
        let widgets = route_url(req.cx(), &rest.site, "widgets")?;
        let widgets = match &item.id {
            Some(id) => with_query(&widgets, "sidebar", id),
            None => widgets,
        };
        let own = route_url(req.cx(), &rest.site, &format!("sidebars/{}", item.id.as_deref().unwrap_or_default()))?;
        let own = Link::new(own);
        let mut links = Links::new();
        links.add("collection", Link::new(route_url(req.cx(), &rest.site, "sidebars")?));
        links.add("self", if item.id.is_some() { own.allow(methods(&rest.site, req)) } else { own });
        links.add(format!("{LINK_RELATION}widget"), Link::new(widgets).embeddable());
        Ok(links)
    }

    fn check_fetch(rest: &Arc<RestSite>, req: &Request) -> Result<Option<SidebarItem>> {
        let id: String = req.require("id")?;
        if !is_public(&rest.site, &id) {
            check_manage(&rest.site, req)?;
        }
        Ok(None)
    }

    async fn find(rest: &Arc<RestSite>, req: &Request) -> Result<SidebarItem> {
        let id: String = req.require("id")?;
        let (settings, widgets) = load(req.cx(), rest)?;
        let item = item(req.cx(), &rest.site, &widgets, &settings, &id);
        if item.id.is_none() { Err(errors::sidebar_not_found()) } else { Ok(item) }
    }

    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        type Family = RegistryFamily<SidebarFamily>;
        let args = Args::from([("id", string().describe("The sidebar's ID."))]).with("context", context_arg());
        vec![
            family.list_route("/sidebars", context_args()),
            family
                .fetch_route(r"/sidebars/(?P<id>[\w-]+)", args)
                .conditional(preconditions::on(&family.rest.site, |_| {
                    Some(ConditionalObject::Options(store::options_of_sidebars()))
                }))
                .endpoint(
                    on(EDITABLE, Family::update, Family::can_update)
                        .args(family.fields().args(MethodKind::Editable))
                        .example(json!({"widgets": ["block-2"]})),
                ),
        ]
    }
}

impl RegistryFamily<SidebarFamily> {
    async fn can_update(self: Arc<Self>, req: Request) -> Result<()> {
        check_manage(&self.rest.site, &req)
    }

    async fn update(self: Arc<Self>, req: Request) -> Result<Response> {
        let id: String = req.require("id")?;
        let mut updated = None;
        if let Some(widgets) = req.arg::<Vec<Value>>("widgets")? {
            // Each widget is an id, or an object with an id.
            let id_of = |widget: &Value| match widget {
                Value::Object(widget) => widget.get("id").and_then(Value::as_str).map(str::to_owned),
                widget => widget.as_str().map(str::to_owned),
            };
            let widget_ids: Vec<String> = widgets.iter().filter_map(id_of).collect();
            let (rest, sidebar) = (Arc::clone(&self.rest), id.clone());
            let fill = move |tx: &mut Tx| {
                let mut widgets = Widgets::load(tx, &rest.site, rest.renderer.widgets.id_bases())?;
                if sidebar == INACTIVE || rest.site.registries.sidebars.contains_key(&sidebar) {
                    widgets.set_widgets(&sidebar, &widget_ids);
                } else {
                    widgets.make_inactive(&widget_ids);
                }
                let written = widgets.clone();
                widgets.list_unassigned();
                widgets.store_sidebars(tx)?;
                Ok(written)
            };
            updated = Some(self.rest.site.write(req.cx(), fill).await?);
        }
        let settings = self.rest.site.settings(req.cx())?;
        // As in WordPress, the response does not show widgets that have just left the inactive ones; they are stored there.
        let widgets = match updated {
            Some(widgets) => widgets,
            None => self
                .rest
                .site
                .read(req.cx(), |db| Widgets::load(db, &self.rest.site, self.rest.renderer.widgets.id_bases()))?,
        };
        self.show(&item(req.cx(), &self.rest.site, &widgets, &settings, &id), &req).await
    }
}
