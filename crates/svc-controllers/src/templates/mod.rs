//! Templates and template parts: list, look up, create, fetch, update, delete.
//!
//! Reading requires permission to edit posts, writing requires `edit_theme_options`. Editing a theme file creates a post that
//! replaces it; deleting the post restores the file.

mod fields;
mod history;
mod write;

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};
use svc_model::{PostId, PostType};
use svc_resource::{Fields, Params, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Link, Links, Map, Request, Response, Result, Route,
    forbidden, get, on,
};
use svc_schema::{
    Arg, Args, Error, MethodKind, Schema,
    build::{boolean, string},
};
use svc_site::{
    Access, Settings, Site,
    templates::{draft::TemplateDraft, hierarchy},
};
use svc_store::posts;
use svc_versions::Context;

use self::fields::TemplateList;
use crate::preconditions;
use crate::{LINK_RELATION, args::context_arg, caller, request::can, respond, theme_access};
use svc_site::object_state::ConditionalObject;

pub use history::TemplateHistory;
pub use svc_site::templates::load::Template;
pub use svc_site::templates::load::TemplateKind;
pub use svc_site::templates::load::TemplateLookup;

/// The caller may not read, or not write, templates.
fn cannot_manage(req: &Request) -> Error {
    forbidden(req, "rest_cannot_manage_templates", "You are not allowed to access the templates of this site.")
}

/// The template does not exist.
fn not_found() -> Error {
    Error::new("rest_template_not_found", "The template does not exist.").with_status(404)
}

/// The template is a theme file.
fn not_deletable() -> Error {
    Error::new("rest_invalid_template", "Theme files cannot be deleted.").with_status(400)
}

/// The template is already in the trash.
fn already_trashed() -> Error {
    Error::new("rest_template_already_trashed", "The template is already in the trash.").with_status(410)
}

/// The template's theme is not active. The template would not be found again.
fn other_theme() -> Error {
    Error::new("rest_template_insert_error", "Templates can only be created for the active theme.").with_status(400)
}

/// The routes of templates or template parts.
pub struct Templates {
    site: Arc<Site>,
    kind: TemplateKind,
    post_type: PostType,
    fields: Fields<Template, TemplateDraft>,
    params: Params<TemplateList>,
    extra: ExtraFields,
}

impl Templates {
    /// The routes of this post type: `wp_template` or `wp_template_part`.
    pub fn new(site: &Arc<Site>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let kind =
            if post_type.name == TemplateKind::Part.post_type() { TemplateKind::Part } else { TemplateKind::Template };
        Templates {
            site: Arc::clone(site),
            kind,
            post_type: post_type.clone(),
            fields: fields::fields(site, kind).with_extra(extra, &post_type.name),
            params: fields::params(),
            extra: extra.clone(),
        }
    }

    fn find(&self, cx: &Context, id: &str, settings: &Settings) -> Result<Template> {
        let lookup = TemplateLookup::new(cx, &self.site, settings);
        self.site.read(cx, |db| lookup.find(db, self.kind, id))?.ok_or_else(not_found)
    }

    /// Response fields of templates, with links if requested.
    async fn prepare(
        &self,
        mut items: Vec<Template>,
        req: &Request,
        view: &View,
        settings: &Settings,
    ) -> Result<Vec<(Map, Option<Links>)>> {
        let plan = self.fields.plan(view);
        if plan.wants("content") {
            let lookup = TemplateLookup::new(req.cx(), &self.site, settings);
            items.iter_mut().for_each(|t| t.content = lookup.content_for_editor(t));
        }
        let revisions = if view.wants_links() {
            let ids: Vec<PostId> = items.iter().filter_map(|t| Some(t.post.as_ref()?.id)).collect();
            self.site.read(req.cx(), |db| Ok(posts::revision_counts(db, &ids)?))?
        } else {
            HashMap::new()
        };
        let mut prepared = Vec::with_capacity(items.len());
        for item in items {
            let mut data = plan.prepare(&item);
            if item.kind == TemplateKind::Template {
                // Lookups return templates on the routes of parts as well. Templates have no area.
                data.shift_remove("area");
            }
            respond::add_extra(&self.extra, &self.post_type.name, &mut data, req, view).await?;
            let links = view.wants_links().then(|| self.links(&item, &revisions, req, settings));
            prepared.push((data, links));
        }
        Ok(prepared)
    }

    fn links(
        &self,
        item: &Template,
        revisions: &HashMap<PostId, (u64, PostId)>,
        req: &Request,
        settings: &Settings,
    ) -> Links {
        let urls = &settings.urls;
        let (caller, access) = (caller(req), Access::new(&self.site, settings));
        let items = self.site.route_of_type(&self.post_type);
        let (collection, own) = (urls.rest(&items), urls.rest(&format!("{items}/{}", item.id())));
        let can_write = access.can(&caller, "edit_theme_options");
        let allowed: &[&str] = if can_write { &["GET", "POST", "PUT", "PATCH", "DELETE"] } else { &["GET"] };
        let mut links = Links::new();
        links.add("self", Link::new(&own).allow(allowed.iter().copied()));
        links.add("collection", Link::new(&collection));
        let about = format!("/{}/types/{}", self.site.brand.namespace(), self.post_type.name);
        links.add("about", Link::new(urls.rest(&about)));
        // A lookup among parts may return a template, which has no history on these routes.
        if let Some(post) = item.post.as_ref().filter(|_| item.kind == self.kind) {
            let (count, latest) = revisions.get(&post.id).copied().unwrap_or_default();
            let history = format!("{items}/{}/revisions", item.id());
            links.add("version-history", Link::new(urls.rest(&history)).attr("count", count));
            if count > 0 {
                let latest_link = Link::new(urls.rest(&format!("{history}/{latest}"))).attr("id", latest.0);
                links.add("predecessor-version", latest_link);
            }
        }
        let actions = [("publish", self.post_type.caps.publish_posts.as_str()), ("unfiltered-html", "unfiltered_html")];
        for (action, _) in actions.iter().filter(|(_, cap)| access.can(&caller, cap)) {
            links.add(format!("{LINK_RELATION}action-{action}"), Link::new(&own));
        }
        links
    }

    /// A response with one template.
    async fn show(&self, item: Template, req: &Request, view: View, settings: &Settings) -> Result<Response> {
        let mut prepared = self.prepare(vec![item], req, &view, settings).await?;
        let (data, links) = prepared.pop().ok_or_else(not_found)?;
        Ok(respond::single(data, links))
    }

    // List

    async fn can_read(self: Arc<Self>, req: Request) -> Result<()> {
        if theme_access::is_writer(&self.site, &req)? { Ok(()) } else { Err(cannot_manage(&req)) }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let list = self.params.typed(&req).accepted()?;
        let settings = self.site.settings(req.cx())?;
        let lookup = TemplateLookup::new(req.cx(), &self.site, &settings);
        let mut items = self.site.read(req.cx(), |db| lookup.all(db, self.kind))?;
        if let Some(id) = list.wp_id {
            items.retain(|t| t.post.as_ref().is_some_and(|p| p.id.0 == id));
        }
        match self.kind {
            TemplateKind::Part => items.retain(|t| list.area.as_ref().is_none_or(|area| t.area == *area)),
            TemplateKind::Template => items.retain(|t| {
                let offers = |wanted: &String| match wanted.as_str() {
                    // An empty post type selects edited templates.
                    "" => t.post.is_some(),
                    _ => t.is_selectable_for(wanted),
                };
                list.post_type.as_ref().is_none_or(offers)
            }),
        }
        let view = respond::view(&req);
        Ok(respond::list(self.prepare(items, &req, &view, &settings).await?, &req))
    }

    /// The template that would render a page whose most specific template has this slug.
    async fn look_up(self: Arc<Self>, req: Request) -> Result<Response> {
        let slug: String = req.require("slug")?;
        let is_custom = req.arg::<bool>("is_custom")?.unwrap_or(false);
        let prefix = req.arg::<String>("template_prefix")?.unwrap_or_default();
        let slugs = hierarchy::of_slug(
            &slug,
            is_custom,
            &prefix,
            &self.site.registries.types,
            &self.site.registries.taxonomies,
        );
        let slugs: Vec<&str> = slugs.iter().map(String::as_str).collect();
        let settings = self.site.settings(req.cx())?;
        let lookup = TemplateLookup::new(req.cx(), &self.site, &settings);
        let found = match slug.as_str() {
            "" | "0" => None,
            _ => self.site.read(req.cx(), |db| lookup.most_specific(db, &slugs))?,
        };
        match found {
            Some(found) => self.show(found, &req, respond::view(&req), &settings).await,
            None => Ok(Response::new(json!({}))),
        }
    }

    // Fetch

    async fn fetch(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings(req.cx())?;
        let found = self.find(req.cx(), &req.require::<String>("id")?, &settings)?;
        self.show(found, &req, respond::view(&req), &settings).await
    }

    // Create

    async fn can_write(self: Arc<Self>, req: Request) -> Result<()> {
        if can(&self.site, &req, "edit_theme_options")? { Ok(()) } else { Err(cannot_manage(&req)) }
    }

    async fn create(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings(req.cx())?;
        let created = self.save(&req, None, &settings).await?;
        let route = format!("{}/{}", self.site.route_of_type(&self.post_type), created.id());
        let location = settings.urls.rest(&route);
        Ok(self.show(created, &req, respond::view(&req), &settings).await?.status(201).header("Location", location))
    }

    // Update

    async fn update(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings(req.cx())?;
        let id: String = req.require("id")?;
        let found = self.find(req.cx(), &id, &settings)?;
        let changed = if req.param("source").is_some_and(|s| s == "theme") {
            self.reset(req.cx(), found, &settings).await?
        } else {
            self.save(&req, Some(found), &settings).await?
        };
        self.show(changed, &req, respond::edit_view(&req), &settings).await
    }

    // Delete

    async fn delete(self: Arc<Self>, req: Request) -> Result<Response> {
        let settings = self.site.settings(req.cx())?;
        let mut found = self.find(req.cx(), &req.require::<String>("id")?, &settings)?;
        let Some(post) = &found.post else { return Err(not_deletable()) };
        if req.arg::<bool>("force")?.unwrap_or(false) {
            let id = post.id;
            let previous = self.show(found, &req, respond::previous_view(&req, "edit"), &settings).await?;
            self.remove(req.cx(), id).await?;
            return Ok(respond::deleted(previous.data));
        }
        if post.status == "trash" {
            return Err(already_trashed());
        }
        let trashed = self.trash(req.cx(), post.id, &settings, caller(&req).id).await?;
        if let (Some(post), Some(trashed)) = (&mut found.post, trashed) {
            // WordPress shows the previous values with the new status.
            post.status = trashed.status;
        }
        let mut response = self.show(found, &req, respond::edit_view(&req), &settings).await?;
        // Trashed templates are not found any more, so they have no history.
        for relation in ["version-history", "predecessor-version"] {
            response.links.remove(relation, None);
        }
        Ok(response)
    }
}

/// Percent-decodes an id.
fn clean_id(value: Value, _: &str) -> Result<Value> {
    Ok(theme_access::decoded(&value).into())
}

/// Pattern of template ids in paths.
pub(crate) fn id_pattern() -> String {
    format!(r"({})[\/\w%-]+", theme_access::FOLDER)
}

impl Controller for Templates {
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = Schema::compile(self.fields.item_schema());
        let id = string().describe("The template's ID: theme and slug.");
        let id = Args::new().with("id", Arg::new(id.compile()).sanitize_with(clean_id));
        let force = crate::args::force("Whether to delete the template permanently instead of moving it to the trash.");
        let kind = self.kind;
        let look_up = Args::from([
            ("slug", string().describe("Slug of the most specific template for the page.").required()),
            ("is_custom", boolean().describe("Whether the template is a custom template that users assign to posts.")),
            ("template_prefix", string().describe("Prefix of the slug that names a more general template.")),
        ]);
        let new = json!({"slug": "my-template", "title": "My template", "content": "<!-- wp:paragraph --><p>Hello.</p><!-- /wp:paragraph -->"});
        vec![
            Route::new(format!("/{base}"))
                .schema(schema.clone())
                .endpoint(get(Self::list, Self::can_read).args(self.params.query_args()))
                .endpoint(
                    on(CREATABLE, Self::create, Self::can_write)
                        .args(self.fields.args(MethodKind::Creatable))
                        .example(new),
                ),
            Route::new(format!("/{base}/lookup")).endpoint(get(Self::look_up, Self::can_read).args(look_up)),
            Route::new(format!("/{base}/(?P<id>{})", id_pattern()))
                .conditional(preconditions::on(&self.site, move |req| {
                    Some(ConditionalObject::Template(kind, req.param("id")?.as_str()?.to_owned()))
                }))
                .schema(schema)
                .args(id)
                .endpoint(get(Self::fetch, Self::can_read).args(Args::from([("context", context_arg())])))
                .endpoint(
                    on(EDITABLE, Self::update, Self::can_write)
                        .args(self.fields.args(MethodKind::Editable))
                        .example(json!({"title": "A better title"})),
                )
                .endpoint(on(DELETABLE, Self::delete, Self::can_write).args(Args::from([("force", force)]))),
        ]
    }
}
