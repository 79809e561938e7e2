//! Widgets: list, create, fetch, update, delete.
//!
//! Everyone may read widgets in public sidebars. Everything else requires `edit_theme_options`.

use std::{cell::Cell, sync::Arc};

use serde_json::{Value, json};
use svc_render::widgets::{WidgetType, render};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Link, Links, Map, Request, Response, Result, Route, get,
    on,
};
use svc_schema::{
    Args, MethodKind, Schema,
    build::{boolean, string},
};
use svc_site::{
    Access, Settings, Site, SiteResult,
    widgets::{
        instance::{self, Instance},
        sidebar::INACTIVE,
        store::{Widgets, parse_id, store_instance},
    },
};
use svc_store::{Db, Tx};

use super::{
    check_manage, errors,
    fields::{OBJECT, WidgetDraft, WidgetFields, WidgetItem, fields},
    is_public, may_manage,
    types::parse_form,
};
use crate::preconditions;
use crate::{LINK_RELATION, RestSite, args::context_arg, caller, request::block_viewer, respond};
use svc_site::object_state::ConditionalObject;
use svc_site::widgets::store;

/// The widget routes.
pub struct WidgetRoutes {
    site: Arc<Site>,
    rest: Arc<RestSite>,
    fields: WidgetFields,
    extra: ExtraFields,
}

impl WidgetRoutes {
    /// The widget routes of this site.
    pub fn new(rest: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        WidgetRoutes {
            site: Arc::clone(&rest.site),
            rest: Arc::clone(rest),
            fields: fields().with_extra(extra, OBJECT),
            extra: extra.clone(),
        }
    }

    /// Loads a widget in a sidebar for this request's context and fields. Renders it and its form.
    fn load(
        &self,
        db: &mut Db,
        settings: &Settings,
        req: &Request,
        (id, stored): (&str, Option<&Instance>),
        (sidebar, has_category_menu): (&str, &Cell<bool>),
    ) -> SiteResult<WidgetItem> {
        let id_base = parse_id(id).map_or(id, |(id_base, _)| id_base);
        let view = respond::view(req);
        let plan = self.fields.plan(&view);
        let mut item = WidgetItem {
            id: id.to_owned(),
            id_base: id_base.to_owned(),
            sidebar: sidebar.to_owned(),
            rendered: String::new(),
            form: String::new(),
            instance: instance::to_json(&self.site, stored),
        };
        let Some(widget_type) = self.rest.renderer.widgets.get(id_base) else { return Ok(item) };
        if let (Some(sidebar), Some(stored)) = (self.site.registries.sidebars.get(sidebar), stored)
            && plan.wants("rendered")
        {
            let widget = (id, widget_type.as_ref(), stored);
            let html = render::in_sidebar(
                db,
                &self.rest.renderer,
                settings,
                (&block_viewer(req.cx(), &self.site, settings, req), has_category_menu),
                sidebar,
                widget,
            )?;
            item.rendered = html.into_string();
        }
        let number = parse_id(id).map_or(String::new(), |(_, number)| number.to_string());
        item.form = widget_type.form(&number, stored.unwrap_or(&Instance::default())).into_string();
        Ok(item)
    }

    fn links(&self, item: &WidgetItem, settings: &Settings, req: &Request) -> Option<Links> {
        if !respond::view(req).wants_links() {
            return None;
        }
        let at = |path: &str| settings.urls.rest(&format!("/{}/{path}", self.site.brand.namespace()));
        let can_manage = may_manage(&self.site, req).unwrap_or(false);
        let methods = if can_manage { &["GET", "POST", "PUT", "PATCH", "DELETE"][..] } else { &["GET"] };
        let mut links = Links::new();
        links.add("self", Link::new(at(&format!("widgets/{}", item.id))).allow(methods.iter().copied()));
        links.add("collection", Link::new(at("widgets")));
        links.add("about", Link::new(at(&format!("widget-types/{}", item.id_base))).embeddable());
        // WordPress appends a slash here.
        links.add(format!("{LINK_RELATION}sidebar"), Link::new(at(&format!("sidebars/{}/", item.sidebar))));
        Some(links)
    }

    async fn finish(&self, item: &WidgetItem, req: &Request) -> Result<Map> {
        let view = respond::view(req);
        let mut data = self.fields.plan(&view).prepare(item);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        Ok(data)
    }

    /// A response with one widget, rendered for this sidebar.
    async fn show(&self, req: &Request, id: &str, sidebar: &str) -> Result<Response> {
        let (settings, item) = self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let widgets = Widgets::load(db, &self.site, self.rest.renderer.widgets.id_bases())?;
            let item = self.load(db, &settings, req, (id, widgets.instances.get(id)), (sidebar, &Cell::new(false)))?;
            Ok((settings, item))
        })?;
        Ok(respond::single(self.finish(&item, req).await?, self.links(&item, &settings, req)))
    }

    // List

    /// Everyone may list widgets if any sidebar is public; otherwise only users who may manage widgets.
    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        let sidebar_filter: Option<String> = req.arg("sidebar")?;
        let widgets =
            self.site.read(req.cx(), |db| Widgets::load(db, &self.site, self.rest.renderer.widgets.id_bases()))?;
        if widgets.sidebars.keys().chain(&sidebar_filter).any(|sidebar| is_public(&self.site, sidebar)) {
            return Ok(());
        }
        check_manage(&self.site, &req)
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let can_manage = may_manage(&self.site, &req)?;
        let sidebar_filter: Option<String> = req.arg("sidebar")?;
        let (settings, found) = self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let widgets = Widgets::load(db, &self.site, self.rest.renderer.widgets.id_bases())?;
            let (mut found, has_category_menu) = (Vec::new(), Cell::new(false));
            for (sidebar, ids) in &widgets.sidebars {
                let is_wanted = sidebar_filter.as_ref().is_none_or(|id| id == sidebar);
                if is_wanted && (can_manage || is_public(&self.site, sidebar)) {
                    for id in ids {
                        let widget = (id.as_str(), widgets.instances.get(id));
                        found.push(self.load(db, &settings, &req, widget, (sidebar, &has_category_menu))?);
                    }
                }
            }
            Ok((settings, found))
        })?;
        let mut items = Vec::with_capacity(found.len());
        for item in &found {
            let links = self.links(item, &settings, &req);
            items.push((self.finish(item, &req).await?, links));
        }
        Ok(respond::list(items, &req))
    }

    // Fetch

    /// Returns the widget's sidebar; `None` if the widget does not exist, which only users who may manage widgets learn.
    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Option<String>> {
        let id: String = req.require("id")?;
        let widgets =
            self.site.read(req.cx(), |db| Widgets::load(db, &self.site, self.rest.renderer.widgets.id_bases()))?;
        let sidebar = widgets.sidebar_of(&id).map(str::to_owned);
        if !sidebar.as_ref().is_some_and(|sidebar| is_public(&self.site, sidebar)) {
            check_manage(&self.site, &req)?;
        }
        Ok(sidebar)
    }

    async fn fetch(self: Arc<Self>, req: Request, sidebar: Option<String>) -> Result<Response> {
        let sidebar = sidebar.ok_or_else(errors::not_found)?;
        self.show(&req, &req.require::<String>("id")?, &sidebar).await
    }

    // Create, update

    async fn can_write(self: Arc<Self>, req: Request) -> Result<()> {
        check_manage(&self.site, &req)
    }

    /// The new settings in a request, by widget number. `None` stands for the widget that the request addresses.
    fn new_settings(&self, draft: &WidgetDraft, id_base: &str) -> Result<Vec<(Option<i64>, Instance)>> {
        if let Some(instance) = &draft.instance {
            let text = |name: &str| instance.get(name).and_then(Value::as_str);
            let settings = match (instance.get("raw"), text("encoded"), text("hash")) {
                (Some(Value::Object(raw)), ..) => Instance::from_json(raw),
                (Some(Value::Array(_)), ..) => Instance::default(),
                (_, Some(encoded), Some(hash)) => instance::decode_signed(&self.site, encoded, hash)
                    .ok_or_else(|| errors::invalid("The hash does not match the encoded settings."))?,
                _ => return Err(errors::invalid("The instance must contain raw, or encoded and hash.")),
            };
            return Ok(vec![(None, settings)]);
        }
        let by_number = draft.form.as_ref().map(|form| parse_form(form, id_base)).unwrap_or_default();
        Ok(by_number.into_iter().map(|(number, instance)| (Some(number), instance)).collect())
    }

    async fn create(self: Arc<Self>, req: Request) -> Result<Response> {
        let draft: WidgetDraft = self.fields.typed(&req).accepted()?;
        let (id_base, number) = match (&draft.id, &draft.id_base) {
            (Some(id), _) => match parse_id(id) {
                Some((id_base, number)) => (id_base.to_owned(), Some(number)),
                None => return Err(errors::invalid("The widget ID is invalid.")),
            },
            (None, Some(id_base)) => (id_base.clone(), None),
            (None, None) => return Err(errors::invalid("The widget type is missing.")),
        };
        let widget_type = self
            .rest
            .renderer
            .widgets
            .get(&id_base)
            .cloned()
            .ok_or_else(|| errors::invalid("The widget type does not exist."))?;
        let new_settings = self.new_settings(&draft, &id_base)?;
        let sidebar = draft.sidebar.clone().unwrap_or_else(|| INACTIVE.to_owned());
        let target = number.map_or(Target::New, |number| Target::Numbered(format!("{id_base}-{number}"), number));
        let (id, sidebar) = self.write(&req, widget_type, new_settings, target, Some(sidebar)).await?;
        let req = in_edit(req);
        Ok(self.show(&req, &id, &sidebar).await?.in_context("edit").status(201))
    }

    async fn update(self: Arc<Self>, req: Request) -> Result<Response> {
        let id: String = req.require("id")?;
        let (id_base, number) = parse_id(&id).map_or((id.as_str(), 0), |parts| parts);
        let widget_type = self.rest.renderer.widgets.get(id_base).cloned().ok_or_else(|| {
            let sets =
                ["instance", "form_data"].iter().any(|name| req.param(name).is_some_and(|value| !value.is_null()));
            if sets { errors::invalid("The widget type does not exist.") } else { errors::unknown_kind() }
        })?;
        self.site
            .read(req.cx(), |db| Widgets::load(db, &self.site, self.rest.renderer.widgets.id_bases()))?
            .sidebar_of(&id)
            .ok_or_else(errors::not_found)?;
        // The id in the path takes precedence over the one in the body.
        let draft: WidgetDraft = self.fields.typed(&req).accepted()?;
        let new_settings = self.new_settings(&draft, id_base)?;
        let sidebar = draft.sidebar.clone().filter(|id| !id.is_empty());
        let (id, sidebar) =
            self.write(&req, widget_type, new_settings, Target::Existing(id.clone(), number), sidebar).await?;
        let req = in_edit(req);
        Ok(self.show(&req, &id, &sidebar).await?.in_context("edit"))
    }

    /// Stores new settings of widgets of a type and assigns the target widget to a sidebar; without one it is not moved.
    /// Returns the widget's id and sidebar. Everything is read in the transaction, so that concurrent requests get different
    /// numbers.
    async fn write(
        &self,
        req: &Request,
        widget_type: Arc<dyn WidgetType>,
        new_settings: Vec<(Option<i64>, Instance)>,
        target: Target,
        sidebar: Option<String>,
    ) -> Result<(String, String)> {
        let settings = self.site.settings(req.cx())?;
        let unfiltered = Access::new(&self.site, &settings).can(&caller(req), "unfiltered_html");
        let rest = Arc::clone(&self.rest);
        let store = move |tx: &mut Tx| {
            let mut widgets = Widgets::load(tx, &rest.site, rest.renderer.widgets.id_bases())?;
            let (target_id, target_number) = match &target {
                Target::New => {
                    let number = widgets.next_number(widget_type.id_base());
                    (format!("{}-{number}", widget_type.id_base()), number)
                }
                Target::Numbered(id, number) | Target::Existing(id, number) => (id.clone(), *number),
            };
            let before = widgets.sidebar_of(&target_id).map(str::to_owned);
            if before.is_none() && matches!(target, Target::Existing(..)) {
                return Err(errors::not_found().into());
            }
            for (number, new) in &new_settings {
                let number = number.unwrap_or(target_number);
                let id = format!("{}-{number}", widget_type.id_base());
                let old = widgets.instances.get(&id).cloned().unwrap_or_default();
                let instance = widget_type.update(new, old, unfiltered);
                store_instance(tx, widget_type.id_base(), number, Some(instance))?;
            }
            match (&target, &sidebar) {
                (Target::Existing(..), Some(sidebar)) => widgets.assign(&target_id, sidebar),
                (Target::New | Target::Numbered(..), Some(sidebar)) => widgets.add(&target_id, sidebar),
                (_, None) => {}
            }
            widgets.store_sidebars(tx)?;
            Ok((target_id, sidebar.clone().or(before).unwrap_or_default()))
        };
        self.site.write(req.cx(), store).await
    }

    // Delete

    async fn delete(self: Arc<Self>, req: Request) -> Result<Response> {
        let id: String = req.require("id")?;
        let (id_base, number) = parse_id(&id).ok_or_else(errors::not_found)?;
        let widgets =
            self.site.read(req.cx(), |db| Widgets::load(db, &self.site, self.rest.renderer.widgets.id_bases()))?;
        let sidebar = widgets.sidebar_of(&id).ok_or_else(errors::not_found)?.to_owned();
        let req = in_edit(req);
        let force = respond::is_forced(&req)?;
        let previous = if force { Some(self.show(&req, &id, &sidebar).await?) } else { None };
        let (rest, base, name) = (Arc::clone(&self.rest), id_base.to_owned(), id.clone());
        self.site
            .write(req.cx(), move |tx| {
                let mut widgets = Widgets::load(tx, &rest.site, rest.renderer.widgets.id_bases())?;
                widgets.sidebar_of(&name).ok_or_else(errors::not_found)?;
                if force {
                    widgets.remove(&name);
                    store_instance(tx, &base, number, None)?;
                } else {
                    widgets.assign(&name, INACTIVE);
                }
                widgets.store_sidebars(tx)
            })
            .await?;
        match previous {
            Some(mut response) => {
                response.data = json!({"deleted": true, "previous": response.data});
                Ok(response)
            }
            None => self.show(&req, &id, INACTIVE).await,
        }
    }
}

/// The widget that a request creates or updates, by id and number.
enum Target {
    /// A new widget. It gets the next number.
    New,
    /// A widget with the requested number. It may exist already.
    Numbered(String, i64),
    /// A widget that must exist.
    Existing(String, i64),
}

/// The request with the context `edit`.
fn in_edit(req: Request) -> Request {
    req.with_param("context", "edit")
}

impl Controller for WidgetRoutes {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let args = |kind| self.fields.args(kind);
        let list = Args::from([("context", context_arg()), ("sidebar", string().describe("Only return widgets in this sidebar.").into())]);
        let force = boolean().describe("Whether to delete the widget permanently instead of making it inactive.");
        let new = json!({"id_base": "block", "sidebar": "wp_inactive_widgets", "instance": {"raw": {"content": "<p>Hello.</p>"}}});
        let change = json!({"instance": {"raw": {"content": "<p>Hello again.</p>"}}});
        vec![
            Route::new("/widgets")
                .schema(schema.clone())
                .allow_batch()
                .endpoint(get(Self::list, Self::can_list).args(list))
                .endpoint(on(CREATABLE, Self::create, Self::can_write).args(args(MethodKind::Creatable)).example(new)),
            Route::new(r"/widgets/(?P<id>[\w\-]+)")
                .conditional(preconditions::on(&self.site, |req| Some(ConditionalObject::Options(store::options_of_widget(req.param("id")?.as_str()?)))))
                .schema(schema)
                .allow_batch()
                .endpoint(get(Self::fetch, Self::can_fetch).args(Args::from([("context", context_arg())])))
                .endpoint(on(EDITABLE, Self::update, Self::can_write).args(args(MethodKind::Editable)).example(change))
                .endpoint(on(DELETABLE, Self::delete, Self::can_write).args(Args::from([("force", force)]))),
        ]
    }
}
