//! Sidebars: list, fetch, update the widgets in a sidebar.

use std::sync::Arc;

use serde_json::Value;
use svc_resource::Fields;
use svc_routing::{Controller, EDITABLE, ExtraFields, Link, Links, Map, Request, Response, Result, Route, get, on};
use svc_schema::{
    Args, MethodKind, Schema,
    build::{array, string, types},
};
use svc_site::{
    Settings,
    widgets::{
        sidebar::{INACTIVE, Sidebar},
        store::Widgets,
    },
};
use svc_store::Tx;

use super::{check_manage, errors, is_public, may_manage};
use crate::{LINK_RELATION, RestSite, args::context_arg, contexts::EMBED_VIEW_EDIT, links::with_query, respond};

/// Object type of additional fields.
const OBJECT: &str = "sidebar";

/// A sidebar with its widgets.
struct Item {
    /// The sidebar's id; `None` if it is not registered.
    id: Option<String>,
    /// The registered sidebar.
    sidebar: Option<Sidebar>,
    /// Whether the theme renders sidebars.
    is_rendered: bool,
    widgets: Vec<String>,
}

impl Item {
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

/// The changes in a request.
#[derive(Clone, Debug, Default)]
struct Draft {
    widgets: Option<Vec<Value>>,
}

#[rustfmt::skip]
fn fields() -> Fields<Item, Draft> {
    let mut f = Fields::<Item, Draft>::new(OBJECT);
    let text = |description: &str| string().describe(description).context(EMBED_VIEW_EDIT).readonly();
    f.add("id", text("The sidebar's ID.")).get(|s| s.id.clone().unwrap_or_default());
    f.add("name", text("Display name of the sidebar.")).get(Item::name);
    f.add("description", text("Description of the sidebar, such as its position in the theme.")).get(|s| s.of(|s| &s.description));
    f.add("class", text("Additional class name of the sidebar in the administration area.")).get(|s| s.of(|s| &s.class));
    f.add("before_widget", text("HTML before each widget.").default("")).get(|s| s.of(|s| &s.before_widget));
    f.add("after_widget", text("HTML after each widget.").default("")).get(|s| s.of(|s| &s.after_widget));
    f.add("before_title", text("HTML before the title of each widget.").default("")).get(|s| s.of(|s| &s.before_title));
    f.add("after_title", text("HTML after the title of each widget.").default("")).get(|s| s.of(|s| &s.after_title));
    f.add("status", text("Whether the theme renders the sidebar.").one_of(["active", "inactive"])).get(|s| s.status());
    f.add("widgets", array(types(["object", "string"])).describe("The widgets in the sidebar, in order.").default(serde_json::json!([])).context(EMBED_VIEW_EDIT))
        .get(|s| s.widgets.clone()).set(|d, v| d.widgets = Some(v));
    f
}

/// The sidebar routes.
pub struct SidebarRoutes {
    site: Arc<RestSite>,
    fields: Fields<Item, Draft>,
    extra: ExtraFields,
}

impl SidebarRoutes {
    /// The sidebar routes of this site.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        SidebarRoutes { site: Arc::clone(site), fields: fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    /// Whether the theme renders sidebars. Block themes do not.
    fn renders_sidebars(&self, settings: &Settings) -> bool {
        !self.site.theme(settings).is_block_theme()
    }

    fn item(&self, widgets: &Widgets, settings: &Settings, id: &str) -> Item {
        let is_known = id == INACTIVE || self.site.sidebars.contains_key(id);
        Item {
            id: is_known.then(|| id.to_owned()),
            sidebar: self.site.sidebars.get(id).cloned(),
            is_rendered: self.renders_sidebars(settings),
            widgets: widgets.sidebars.get(id).filter(|_| is_known).cloned().unwrap_or_default(),
        }
    }

    async fn show(&self, item: &Item, settings: &Settings, req: &Request) -> Result<(Map, Option<Links>)> {
        let view = respond::view(req);
        let mut data = self.fields.plan(&view).prepare(item);
        if item.id.is_none() {
            // As in WordPress, an unregistered sidebar has neither id nor name.
            data.shift_remove("id");
            data.shift_remove("name");
        }
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        let links = view.wants_links().then(|| {
            let at = |path: &str| settings.urls.rest(&format!("/{}/{path}", self.site.brand.namespace()));
            let widgets = match &item.id {
                Some(id) => with_query(&at("widgets"), "sidebar", id),
                None => at("widgets"),
            };
            let mut links = Links::new();
            let own = Link::new(at(&format!("sidebars/{}", item.id.as_deref().unwrap_or_default())));
            links.add("self", if item.id.is_some() { own.allow(self.methods(req)) } else { own });
            links.add("collection", Link::new(at("sidebars")));
            links.add(format!("{LINK_RELATION}widget"), Link::new(widgets).embeddable());
            links
        });
        Ok((data, links))
    }

    /// Methods of the sidebar's route that the caller may use.
    fn methods(&self, req: &Request) -> Vec<&'static str> {
        match may_manage(&self.site, req) {
            Ok(true) => vec!["GET", "POST", "PUT", "PATCH"],
            _ => vec!["GET"],
        }
    }

    /// Everyone may list sidebars if any of them is public; otherwise only users who may manage widgets.
    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        let widgets = self.site.read(|db| Widgets::load(db, &self.site, self.site.widgets.id_bases()))?;
        if widgets.sidebars.keys().any(|id| is_public(&self.site, id)) {
            return Ok(());
        }
        check_manage(&self.site, &req)
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let can_manage = may_manage(&self.site, &req)?;
        let (settings, widgets) = self.site.read(|db| {
            Ok((self.site.settings_in(db)?, Widgets::load(db, &self.site, self.site.widgets.id_bases())?))
        })?;
        let mut items = Vec::new();
        for id in widgets.sidebars.keys().filter(|id| can_manage || is_public(&self.site, id)) {
            let (data, links) = self.show(&self.item(&widgets, &settings, id), &settings, &req).await?;
            items.push(respond::with_links(data, links, &req));
        }
        Ok(Response::new(Value::Array(items)))
    }

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<()> {
        let id: String = req.require("id")?;
        if is_public(&self.site, &id) { Ok(()) } else { check_manage(&self.site, &req) }
    }

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let id: String = req.require("id")?;
        let (settings, widgets) = self.site.read(|db| {
            Ok((self.site.settings_in(db)?, Widgets::load(db, &self.site, self.site.widgets.id_bases())?))
        })?;
        let item = self.item(&widgets, &settings, &id);
        if item.id.is_none() {
            return Err(errors::sidebar_not_found());
        }
        let (data, links) = self.show(&item, &settings, &req).await?;
        Ok(respond::single(data, links))
    }

    async fn can_update(self: Arc<Self>, req: Request) -> Result<()> {
        check_manage(&self.site, &req)
    }

    async fn update(self: Arc<Self>, req: Request) -> Result<Response> {
        let id: String = req.require("id")?;
        let draft: Draft = self.fields.read(|name| respond::given(&req, name))?;
        let mut updated = None;
        if let Some(widgets) = draft.widgets {
            // Each widget is an id, or an object with an id.
            let id_of = |widget: &Value| match widget {
                Value::Object(widget) => widget.get("id").and_then(Value::as_str).map(str::to_owned),
                widget => widget.as_str().map(str::to_owned),
            };
            let widget_ids: Vec<String> = widgets.iter().filter_map(id_of).collect();
            let (site, sidebar) = (Arc::clone(&self.site), id.clone());
            let fill = move |tx: &mut Tx| {
                let mut widgets = Widgets::load(tx, &site, site.widgets.id_bases())?;
                if sidebar == INACTIVE || site.sidebars.contains_key(&sidebar) {
                    widgets.set_widgets(&sidebar, &widget_ids);
                }
                widgets.store_sidebars(tx)?;
                Ok(widgets)
            };
            updated = Some(self.site.write(fill).await?);
        }
        let settings = self.site.settings()?;
        // Shows the state as written. Removed widgets are added to the inactive ones at the next load.
        let widgets = match updated {
            Some(widgets) => widgets,
            None => self.site.read(|db| Widgets::load(db, &self.site, self.site.widgets.id_bases()))?,
        };
        let (data, links) = self.show(&self.item(&widgets, &settings, &id), &settings, &req).await?;
        Ok(respond::single(data, links))
    }
}

impl Controller for SidebarRoutes {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let context = || ("context", context_arg());
        let id = ("id", string().describe("The sidebar's ID.").into());
        vec![
            Route::new("/sidebars").schema(schema.clone()).endpoint(get(Self::list, Self::can_list).args(Args::from([context()]))),
            Route::new(r"/sidebars/(?P<id>[\w-]+)")
                .schema(schema)
                .endpoint(get(Self::fetch, Self::can_fetch).args(Args::from([id, context()])))
                .endpoint(on(EDITABLE, Self::update, Self::can_update).args(self.fields.args(MethodKind::Editable))),
        ]
    }
}
