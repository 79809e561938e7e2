//! Widget types: list, fetch, encode the settings of a widget in an editor, render a preview.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_php::{cast::to_int, numeric::is_numeric};
use svc_render::widgets::{WidgetType, render};
use svc_resource::Fields;
use svc_routing::{Controller, ExtraFields, Link, Links, Method, Request, Response, Result, Route, get, on};
use svc_schema::{
    Arg, Args, Sanitizer, Schema,
    build::{boolean, string, untyped},
};
use svc_site::{
    Access, Settings,
    widgets::instance::{self, Instance},
};

use super::{check_manage, errors};
use crate::{
    RestSite,
    args::context_arg,
    caller,
    contexts::{EMBED_VIEW_EDIT, VIEW_EDIT_EMBED},
    request::block_viewer,
    respond,
};

/// Object type of additional fields.
const OBJECT: &str = "widget-type";

type SharedWidgetType = Arc<dyn WidgetType>;

#[rustfmt::skip]
fn fields() -> Fields<SharedWidgetType, ()> {
    let mut f = Fields::<SharedWidgetType, ()>::new(OBJECT);
    f.add("id", string().describe("The widget type's ID.").context(EMBED_VIEW_EDIT).readonly()).get(|k| k.id_base().to_owned());
    f.add("name", string().describe("Display name of the widget type.").default("").context(EMBED_VIEW_EDIT).readonly()).get(|k| k.name().to_owned());
    f.add("description", string().describe("A short description of the widget type.").default("").context(VIEW_EDIT_EMBED)).get(|k| k.description().to_owned());
    f.add("is_multi", boolean().describe("Whether the site can have several widgets of this type.").context(VIEW_EDIT_EMBED).readonly()).get(|_| true);
    f.add("classname", string().describe("Class names of the widget's wrapper element.").default("").context(EMBED_VIEW_EDIT).readonly()).get(|k| k.class().to_owned());
    f
}

/// The routes of widget types.
pub struct WidgetTypeRoutes {
    site: Arc<RestSite>,
    fields: Fields<SharedWidgetType, ()>,
    extra: ExtraFields,
}

impl WidgetTypeRoutes {
    /// The routes of this site's widget types.
    pub fn new(site: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        WidgetTypeRoutes { site: Arc::clone(site), fields: fields().with_extra(extra, OBJECT), extra: extra.clone() }
    }

    async fn show(
        &self,
        widget_type: &SharedWidgetType,
        settings: &Settings,
        req: &Request,
    ) -> Result<(Map<String, Value>, Option<Links>)> {
        let view = respond::view(req);
        let mut data = self.fields.plan(&view).prepare(widget_type);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        let links = view.wants_links().then(|| {
            let all = settings.urls.rest(&format!("/{}/widget-types", self.site.brand.namespace()));
            let mut links = Links::new();
            links.add("self", Link::new(format!("{all}/{}", widget_type.id_base())).allow(["GET"]));
            links.add("collection", Link::new(all));
            links
        });
        Ok((data, links))
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        check_manage(&self.site, &req)
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        if req.is_head() {
            return Ok(Response::new(Value::Null));
        }
        let settings = self.site.settings()?;
        let mut items = Vec::new();
        for widget_type in self.site.widgets.sorted() {
            let (data, links) = self.show(widget_type, &settings, &req).await?;
            items.push(respond::with_links(data, links, &req));
        }
        Ok(Response::new(Value::Array(items)))
    }

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<SharedWidgetType> {
        check_manage(&self.site, &req)?;
        self.site.widgets.get(&req.require::<String>("id")?).cloned().ok_or_else(errors::invalid_type)
    }

    async fn fetch(self: Arc<Self>, req: Request, widget_type: SharedWidgetType) -> Result<Response> {
        let settings = self.site.settings()?;
        let (data, links) = self.show(&widget_type, &settings, &req).await?;
        Ok(respond::single(data, links))
    }

    /// Applies form data to a widget's settings without storing them. Returns the form, a preview, and the encoded settings.
    async fn encode(self: Arc<Self>, req: Request, widget_type: SharedWidgetType) -> Result<Response> {
        let settings_json: Map<String, Value> = req.arg("instance")?.unwrap_or_default();
        let text = |name: &str| settings_json.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let mut instance = match (text("encoded"), text("hash")) {
            (Some(encoded), Some(hash)) => instance::decode_signed(&self.site, encoded, hash)
                .ok_or_else(|| errors::invalid("The hash does not match the encoded settings."))?,
            _ => Instance::default(),
        };
        let settings = self.site.settings()?;
        if let Some(form) = req.param("form_data").and_then(Value::as_str)
            && let Some((_, new)) = parse_form(form, widget_type.id_base()).into_iter().next()
        {
            let unfiltered = Access::new(&self.site, &settings).can(&caller(&req), "unfiltered_html");
            instance = widget_type.update(&new, instance, unfiltered);
        }
        let preview = self.preview(&req, &settings, &widget_type, &instance)?;
        // A widget that does not exist yet has no number.
        let number = req.param("number").filter(|n| is_numeric(n)).map_or(-1, to_int);
        Ok(Response::new(json!({
            "form": widget_type.form(&number.to_string(), &instance),
            "preview": preview,
            "instance": instance::to_json(&self.site, Some(&instance)),
        })))
    }

    /// The HTML of a widget outside of a sidebar.
    fn preview(
        &self,
        req: &Request,
        settings: &Settings,
        widget_type: &SharedWidgetType,
        instance: &Instance,
    ) -> Result<String> {
        let viewer = block_viewer(&self.site, settings, req);
        self.site.read(|db| render::preview(db, &self.site.renderer, settings, &viewer, widget_type.as_ref(), instance))
    }

    /// Renders an HTML page that contains one widget with these settings.
    async fn render(self: Arc<Self>, req: Request, widget_type: SharedWidgetType) -> Result<Response> {
        let settings_json: Map<String, Value> = req.arg("instance")?.unwrap_or_default();
        let (settings, instance) = (self.site.settings()?, Instance::from_json(&settings_json));
        let html = self.preview(&req, &settings, &widget_type, &instance)?;
        let page = format!(
            "<!doctype html>\n<html>\n<head>\n<meta charset=\"UTF-8\" />\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\" />\n</head>\n<body>\n{html}\n</body>\n</html>\n"
        );
        Ok(Response::new(json!({"preview": page})))
    }
}

/// The widgets of a type in URL-encoded form data: their numbers and settings.
pub(super) fn parse_form(form: &str, id_base: &str) -> Vec<(i64, Instance)> {
    let form = svc_php::query::parse(form.as_bytes());
    let by_number = match form.get(&format!("widget-{id_base}")) {
        Some(Value::Object(by_number)) => by_number.clone(),
        Some(Value::Array(list)) => list.iter().enumerate().map(|(n, v)| (n.to_string(), v.clone())).collect(),
        _ => return Vec::new(),
    };
    let settings = |value: &Value| value.as_object().map(Instance::from_json);
    by_number.iter().filter_map(|(number, value)| Some((number.parse().ok()?, settings(value)?))).collect()
}

impl Controller for WidgetTypeRoutes {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let id = || ("id", string().describe("The widget type's ID."));
        let settings = || ("instance", untyped().keyword("type", "object").describe("The widget's settings."));
        // Not sanitized: editors send null for a form without input.
        let form = string().describe("The widget's edit form as URL-encoded form data.");
        let form = Arg { sanitize: Sanitizer::None, ..Arg::new(form) };
        vec![
            Route::new("/widget-types")
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).args(Args::from([("context", context_arg())]))),
            Route::new("/widget-types/(?P<id>[a-zA-Z0-9_-]+)")
                .schema(schema)
                .args(Args::from([id()]))
                .endpoint(get(Self::fetch, Self::can_fetch).args(Args::from([("context", context_arg())]))),
            Route::new("/widget-types/(?P<id>[a-zA-Z0-9_-]+)/encode")
                .args(Args::from([("id", id().1.required()), settings()]).with("form_data", form))
                .endpoint(on(Method::POST, Self::encode, Self::can_fetch)),
            Route::new("/widget-types/(?P<id>[a-zA-Z0-9_-]+)/render")
                .args(Args::from([("id", id().1.required()), settings()]))
                .endpoint(on(Method::POST, Self::render, Self::can_fetch)),
        ]
    }
}
