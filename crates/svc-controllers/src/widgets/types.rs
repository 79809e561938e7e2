//! Widget types: list, fetch, encode the settings of a widget in an editor, render a preview.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use svc_php::{cast::to_int, numeric::is_numeric};
use svc_render::widgets::{WidgetType, render};
use svc_resource::Fields;
use svc_routing::{Link, Links, Method, Request, Response, Result, Route, on};
use svc_schema::{
    Arg, Args, Sanitizer,
    build::{boolean, string, untyped},
};
use svc_site::{
    Access, Settings,
    widgets::instance::{self, Instance},
};
use svc_text::{Html, html};

use super::{check_manage, errors};
use crate::{
    RestSite,
    args::context_args,
    caller,
    contexts::{EMBED_VIEW_EDIT, VIEW_EDIT_EMBED},
    registry_family::{Listed, RegistryEntries, RegistryFamily, route_url},
    request::block_viewer,
};

type SharedWidgetType = Arc<dyn WidgetType>;

/// The widget types of the site.
pub struct WidgetTypeFamily;

/// The requested widget type, if the caller may manage widgets.
fn requested(rest: &RestSite, req: &Request) -> Result<SharedWidgetType> {
    check_manage(&rest.site, req)?;
    rest.renderer.widgets.get(&req.require::<String>("id")?).cloned().ok_or_else(errors::invalid_type)
}

impl RegistryEntries for WidgetTypeFamily {
    type Entry = SharedWidgetType;
    const OBJECT: &'static str = "widget-type";

    #[rustfmt::skip]
    fn fields() -> Fields<SharedWidgetType, ()> {
        let mut f = Fields::<SharedWidgetType, ()>::new(Self::OBJECT);
        f.add("id", string().describe("The widget type's ID.").context(EMBED_VIEW_EDIT).readonly()).get(|k| k.id_base().to_owned());
        f.add("name", string().describe("Display name of the widget type.").default("").context(EMBED_VIEW_EDIT).readonly()).get(|k| k.name().to_owned());
        f.add("description", string().describe("A short description of the widget type.").default("").context(VIEW_EDIT_EMBED)).get(|k| k.description().to_owned());
        f.add("is_multi", boolean().describe("Whether the site can have several widgets of this type.").context(VIEW_EDIT_EMBED).readonly()).get(|_| true);
        f.add("classname", string().describe("Class names of the widget's wrapper element.").default("").context(EMBED_VIEW_EDIT).readonly()).get(|k| k.class().to_owned());
        f
    }

    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()> {
        check_manage(&rest.site, req)
    }

    async fn entries(rest: &Arc<RestSite>, _: &Request) -> Result<Listed<SharedWidgetType>> {
        Ok(rest.renderer.widgets.sorted().into_iter().cloned().collect::<Vec<_>>().into())
    }

    fn links(rest: &Arc<RestSite>, widget_type: &SharedWidgetType, req: &Request) -> Result<Links> {
        let own = route_url(req.cx(), &rest.site, &format!("widget-types/{}", widget_type.id_base()))?;
        let mut links = Links::new();
        links.add("collection", Link::new(route_url(req.cx(), &rest.site, "widget-types")?));
        links.add("self", Link::new(own).allow(["GET"]));
        Ok(links)
    }

    fn check_fetch(rest: &Arc<RestSite>, req: &Request) -> Result<Option<SharedWidgetType>> {
        requested(rest, req).map(Some)
    }

    #[rustfmt::skip]
    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>> {
        type Family = RegistryFamily<WidgetTypeFamily>;
        let id = || ("id", string().describe("The widget type's ID."));
        let settings = || ("instance", untyped().keyword("type", "object").describe("The widget's settings."));
        // Not sanitized: editors send null for a form without input.
        let form = string().describe("The widget's edit form as URL-encoded form data.");
        let form = Arg { sanitize: Sanitizer::None, ..Arg::new(form) };
        vec![
            family.list_route("/widget-types", context_args()),
            family.fetch_route("/widget-types/(?P<id>[a-zA-Z0-9_-]+)", context_args()).args(Args::from([id()])),
            Route::new("/widget-types/(?P<id>[a-zA-Z0-9_-]+)/encode")
                .args(Args::from([("id", id().1.required()), settings()]).with("form_data", form))
                .endpoint(on(Method::POST, Family::encode, Family::can_render).example(json!({"instance": {}}))),
            Route::new("/widget-types/(?P<id>[a-zA-Z0-9_-]+)/render")
                .args(Args::from([("id", id().1.required()), settings()]))
                .endpoint(on(Method::POST, Family::render, Family::can_render).example(json!({"instance": {}}))),
        ]
    }
}

impl RegistryFamily<WidgetTypeFamily> {
    async fn can_render(self: Arc<Self>, req: Request) -> Result<SharedWidgetType> {
        requested(&self.rest, &req)
    }

    /// Applies form data to a widget's settings without storing them. Returns the form, a preview, and the encoded settings.
    async fn encode(self: Arc<Self>, req: Request, widget_type: SharedWidgetType) -> Result<Response> {
        let settings_json: Map<String, Value> = req.arg("instance")?.unwrap_or_default();
        let text = |name: &str| settings_json.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let mut instance = match (text("encoded"), text("hash")) {
            (Some(encoded), Some(hash)) => instance::decode_signed(&self.rest.site, encoded, hash)
                .ok_or_else(|| errors::invalid("The hash does not match the encoded settings."))?,
            _ => Instance::default(),
        };
        let settings = self.rest.site.settings(req.cx())?;
        if let Some(form) = req.param("form_data").and_then(Value::as_str)
            && let Some((_, new)) = parse_form(form, widget_type.id_base()).into_iter().next()
        {
            let unfiltered = Access::new(&self.rest.site, &settings).can(&caller(&req), "unfiltered_html");
            instance = widget_type.update(&new, instance, unfiltered);
        }
        let preview = self.preview(&req, &settings, &widget_type, &instance)?;
        // A widget that does not exist yet has no number.
        let number = req.param("number").filter(|n| is_numeric(n)).map_or(-1, to_int);
        Ok(Response::new(json!({
            "form": widget_type.form(&number.to_string(), &instance).as_str(),
            "preview": preview.as_str(),
            "instance": instance::to_json(&self.rest.site, Some(&instance)),
        })))
    }

    /// The HTML of a widget outside of a sidebar.
    fn preview(
        &self,
        req: &Request,
        settings: &Settings,
        widget_type: &SharedWidgetType,
        instance: &Instance,
    ) -> Result<Html> {
        let viewer = block_viewer(req.cx(), &self.rest.site, settings, req);
        self.rest.site.read(req.cx(), |db| {
            render::preview(db, &self.rest.renderer, settings, &viewer, widget_type.as_ref(), instance)
        })
    }

    /// Renders an HTML page that contains one widget with these settings.
    async fn render(self: Arc<Self>, req: Request, widget_type: SharedWidgetType) -> Result<Response> {
        let settings_json: Map<String, Value> = req.arg("instance")?.unwrap_or_default();
        let (settings, instance) = (self.rest.site.settings(req.cx())?, Instance::from_json(&settings_json));
        let html = self.preview(&req, &settings, &widget_type, &instance)?;
        let page = html!(
            "<!doctype html>\n<html>\n<head>\n<meta charset=\"UTF-8\" />\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\" />\n</head>\n<body>\n{}\n</body>\n</html>\n",
            html
        );
        Ok(Response::new(json!({"preview": page.as_str()})))
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
