//! Plugins: list, install, fetch, activate, deactivate and delete.
//!
//! The list has PHP plugins from the content folder, which are stored but never run, and the server's own extensions (see
//! [`svc_site::Extension`]), which change the REST API when they are activated or deactivated.

mod errors;
mod fields;

use std::{path::PathBuf, sync::Arc};

use fields::{NAME, OBJECT, PluginDraft, PluginFields, STATES};
use serde_json::{Map, Value, json};
use svc_packages::plugins::{self, by_name};
use svc_resource::{Typed, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Link, Links, Method, ObjectId, Request, Response, Result,
    Route, get, on,
};
use svc_schema::{
    Arg, Args, Schema,
    build::{array, string},
};
use svc_site::{
    Settings, Site,
    blocking::run_blocking,
    extensions::{ACTIVE_EXTENSIONS, ACTIVE_PLUGINS, names_in, set_active},
    plugin_directory_client,
    plugins::{install, item::PluginItem, requirements},
};
use svc_versions::Context;

use crate::{
    args::{CONTEXTS, context_arg, one_line},
    request::can,
    respond,
};

/// The controller for plugins.
pub struct Plugins {
    site: Arc<Site>,
    fields: PluginFields,
    extra: ExtraFields,
}

/// The collection's route.
pub(crate) fn route(site: &Site) -> String {
    format!("/{}/plugins", site.brand.namespace())
}

/// The plugins folder.
fn folder(site: &Site) -> PathBuf {
    site.content_dir.join("plugins")
}

/// All plugins and extensions, sorted by name. An extension replaces a plugin with the same id.
///
/// # Errors
/// Database errors.
pub(crate) async fn all(cx: &Context, site: &Site) -> Result<Vec<PluginItem>> {
    let settings = site.settings(cx)?;
    let active_extensions = names_in(settings.stored(ACTIVE_EXTENSIONS));
    let mut items: Vec<PluginItem> = site
        .extensions
        .iter()
        .map(|extension| extension.about())
        .map(|about| PluginItem::new(about.clone(), active_extensions.contains(&about.file), true))
        .collect();
    let dir = folder(site);
    let files = run_blocking(move || plugins::list(&dir)).await?;
    let active = names_in(settings.stored(ACTIVE_PLUGINS));
    for plugin in files {
        let item = PluginItem::new(plugin.clone(), active.contains(&plugin.file), false);
        if !items.iter().any(|other| other.id() == item.id()) {
            items.push(item);
        }
    }
    items.sort_by(|a, b| by_name(&a.plugin.name, &b.plugin.name).then_with(|| a.id().cmp(b.id())));
    Ok(items)
}

impl Plugins {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>, extra: &ExtraFields) -> Self {
        let fields = fields::fields().with_extra(extra, OBJECT);
        Plugins { site: Arc::clone(site), fields, extra: extra.clone() }
    }

    /// The requested plugin. `draft` has the values of the request.
    async fn named(&self, req: &Request, draft: &Typed<PluginDraft>) -> Result<PluginItem> {
        // WordPress resolves plugin names only after all arguments are valid, which never happens for `OPTIONS`. Permission
        // checks that only compute `Allow` therefore find no plugin. Recorded in `plugins` and `options-allow-cors`.
        let method = req.method();
        let is_change = !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS | Method::DELETE);
        let is_context = |value: &Value| value.as_str().is_some_and(|text| CONTEXTS.contains(&text));
        let is_valid = req.param("context").is_none_or(is_context) && (!is_change || draft.is_accepted());
        if *method == Method::OPTIONS || !is_valid {
            return Err(errors::not_found());
        }
        let id: String = req.require("plugin")?;
        all(req.cx(), &self.site).await?.into_iter().find(|item| item.id() == id).ok_or_else(errors::not_found)
    }

    /// The JSON of a plugin. It always has all fields, because WordPress ignores the context here.
    async fn data(&self, item: &PluginItem, req: &Request) -> Result<Map<String, Value>> {
        let view = View { context: "view".to_owned(), ..respond::view(req) };
        let mut data = self.fields.plan(&view).prepare(item);
        respond::add_extra(&self.extra, OBJECT, &mut data, req, &view).await?;
        Ok(data)
    }

    fn links(&self, item: &PluginItem, settings: &Settings, may_delete: bool) -> Links {
        let mut methods = vec!["GET", "POST", "PUT", "PATCH"];
        methods.extend(may_delete.then_some("DELETE"));
        let href = settings.urls.rest(&format!("{}/{}", route(&self.site), item.id()));
        let mut links = Links::new();
        links.add("self", Link::new(href).allow(methods));
        links
    }

    async fn show(&self, item: &PluginItem, req: &Request) -> Result<Response> {
        let data = self.data(item, req).await?;
        let links = self.links(item, &*self.site.settings(req.cx())?, can(&self.site, req, "delete_plugins")?);
        Ok(respond::single(data, respond::view(req).wants_links().then_some(links)))
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        if can(&self.site, &req, "activate_plugins")? { Ok(()) } else { Err(errors::cannot_list(&req)) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let search: Option<String> = req.arg("search")?;
        let states: Option<Vec<String>> = req.arg("status")?;
        let is_wanted = |item: &PluginItem| {
            let state = states.as_ref().is_none_or(|s| s.is_empty() || s.iter().any(|s| s == item.status()));
            let text = search.as_deref().map(str::trim).filter(|s| !s.is_empty());
            state && text.is_none_or(|text| item.plugin.texts().any(|t| t.contains(text)))
        };
        let items = all(req.cx(), &self.site).await?;
        let (settings, may_delete) = (self.site.settings(req.cx())?, can(&self.site, &req, "delete_plugins")?);
        let wants_links = respond::view(&req).wants_links();
        let mut data = Vec::new();
        for item in items.iter().filter(|item| is_wanted(item)) {
            let links = wants_links.then(|| self.links(item, &settings, may_delete));
            data.push((self.data(item, &req).await?, links));
        }
        Ok(respond::list(data, &req))
    }

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<PluginItem> {
        if can(&self.site, &req, "activate_plugins")? {
            self.named(&req, &self.fields.typed(&req)).await
        } else {
            Err(errors::cannot_fetch(&req))
        }
    }

    async fn fetch(self: Arc<Self>, req: Request, item: PluginItem) -> Result<Response> {
        self.show(&item, &req).await
    }

    async fn can_create(self: Arc<Self>, req: Request) -> Result<Typed<PluginDraft>> {
        if !can(&self.site, &req, "install_plugins")? {
            return Err(errors::cannot_install(&req));
        }
        let draft = self.fields.typed(&req);
        // Lists, for which this computes `Allow`, have a list of states.
        let activates = draft.values().active == Some(true) || !draft.is_accepted();
        if activates && !can(&self.site, &req, "activate_plugins")? {
            return Err(errors::cannot_activate(&req));
        }
        Ok(draft)
    }

    async fn create(self: Arc<Self>, req: Request, draft: Typed<PluginDraft>) -> Result<Response> {
        let draft = draft.accepted()?;
        let slug: String = req.require("slug")?;
        let params = Map::from_iter([
            ("slug".to_owned(), slug.into()),
            ("fields".to_owned(), json!({"sections": false, "language_packs": true})),
        ]);
        let about = plugin_directory_client::request(&self.site, "plugin_information", params).await?;
        let package = plugin_directory_client::download(&self.site, &about).await?;
        let dir = folder(&self.site);
        let plugin = run_blocking(move || install::install(&package, &dir)).await??;
        let mut item = PluginItem::new(plugin, false, false);
        if draft.active == Some(true) {
            self.set_active(req.cx(), &mut item, true).await?;
        }
        self.extra.update(OBJECT, &ObjectId::from(item.id()), &req).await?;
        let location = self.site.settings(req.cx())?.urls.rest(&format!("{}/{}", route(&self.site), item.id()));
        Ok(self.show(&item, &req).await?.status(201).header("Location", location))
    }

    async fn can_update(self: Arc<Self>, req: Request) -> Result<(PluginItem, Typed<PluginDraft>)> {
        if !can(&self.site, &req, "activate_plugins")? {
            return Err(errors::cannot_manage(&req));
        }
        let draft = self.fields.typed(&req);
        Ok((self.named(&req, &draft).await?, draft))
    }

    async fn update(
        self: Arc<Self>,
        req: Request,
        (mut item, draft): (PluginItem, Typed<PluginDraft>),
    ) -> Result<Response> {
        if let Some(active) = draft.accepted()?.active {
            self.set_active(req.cx(), &mut item, active).await?;
        }
        self.extra.update(OBJECT, &ObjectId::from(item.id()), &req).await?;
        self.show(&item, &req).await
    }

    /// Activates or deactivates a plugin. Routes of an extension appear or disappear with the next request.
    async fn set_active(&self, cx: &Context, item: &mut PluginItem, active: bool) -> Result<()> {
        if item.active == active {
            return Ok(());
        }
        if active {
            requirements::check(item, &all(cx, &self.site).await?)?;
        }
        let option = if item.compiled_in { ACTIVE_EXTENSIONS } else { ACTIVE_PLUGINS };
        let file = item.plugin.file.clone();
        self.site.write(cx, move |tx| set_active(tx, option, &file, active)).await?;
        item.active = active;
        Ok(())
    }

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<PluginItem> {
        let may = can(&self.site, &req, "activate_plugins")? && can(&self.site, &req, "delete_plugins")?;
        if may { self.named(&req, &self.fields.typed(&req)).await } else { Err(errors::cannot_manage(&req)) }
    }

    async fn delete(self: Arc<Self>, req: Request, item: PluginItem) -> Result<Response> {
        if item.active {
            return Err(errors::is_active());
        }
        if item.compiled_in {
            return Err(errors::is_compiled_in());
        }
        let previous = self.data(&item, &req).await?;
        let dir = folder(&self.site);
        let deleted = run_blocking(move || plugins::delete(&dir, &item.plugin)).await?;
        deleted.map_err(|error| errors::cannot_remove(&error))?;
        Ok(respond::deleted(previous))
    }
}

/// The plugin argument of item routes.
fn name_arg() -> Arg {
    let shape = Schema::compile(json!({"type": "string", "pattern": format!("^{NAME}$")}));
    Arg::new(string().pattern(NAME)).validate_with(move |value, name| Ok(shape.validate(value, name).is_ok()))
}

fn list_args() -> Args {
    let states = array(string().one_of(STATES));
    let search = Arg::by_schema(string().describe("Only return plugins whose header contains this text."))
        .sanitize_with(one_line);
    Args::from([
        ("context", context_arg()),
        ("search", search),
        ("status", states.describe("Only return plugins with these statuses.").into()),
    ])
}

fn create_args() -> Args {
    let slug = string()
        .describe("Slug of the plugin in the plugin directory.")
        .first(&["type"])
        .pattern(r"[\w\-]+")
        .required();
    let status = string().describe("Status of the plugin after installation.").one_of(STATES).default("inactive");
    Args::from([("slug", slug), ("status", status)])
}

impl Controller for Plugins {
    fn routes(&self) -> Vec<Route<Self>> {
        let schema = Schema::compile(self.fields.item_schema());
        let status = || {
            Args::from([("status", Arg::by_schema(string().describe("Whether the plugin is active.").one_of(STATES)))])
        };
        let mut common = Args::from([("context", context_arg())]);
        common.insert("plugin", name_arg());
        vec![
            Route::new("/plugins")
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_list).args(list_args()))
                .endpoint(
                    on(CREATABLE, Self::create, Self::can_create)
                        .args(create_args())
                        .example(json!({"slug": "hello-dolly"})),
                ),
            Route::new(format!("/plugins/(?P<plugin>{NAME})"))
                .schema(schema)
                .args(common)
                .endpoint(get(Self::fetch, Self::can_fetch))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_update).args(status()).example(json!({"status": "active"})),
                )
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete)),
        ]
    }
}
