//! Revisions and autosaves of templates.
//!
//! A revision has the template's fields with its own texts. Templates that are only theme files have no revisions.

use std::sync::Arc;

use serde_json::json;
use svc_auth::caps::PostCap;
use svc_model::{Post, PostId, PostType};
use svc_resource::{Fields, Params, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, ExtraFields, Link, Links, Map, Request, Response, Result, Route, get, on,
};
use svc_schema::{
    Arg, Args, Error, MethodKind, Schema,
    build::{integer, string},
};
use svc_site::{
    Access, Settings, Site,
    revisions::{self as site_revisions, AutosaveAuthor, AutosaveDraft},
    templates::{
        draft::TemplateDraft,
        load::{Template, TemplateKind, TemplateLookup},
    },
};
use svc_store::{Tx, posts};
use svc_versions::Context;

use super::{cannot_manage, clean_id, fields, id_pattern};
use crate::preconditions;
use crate::{
    args::context_arg,
    caller, collection, errors,
    request::can,
    respond,
    revisions::{RevisionList, find, params},
};

/// The template is a theme file without a post.
fn not_saved() -> Error {
    Error::new("rest_invalid_template", "This template has no revisions because it has not been edited.")
        .with_status(400)
}

/// The revision and autosave routes of templates or template parts.
pub struct TemplateHistory {
    site: Arc<Site>,
    kind: TemplateKind,
    post_type: PostType,
    fields: Fields<Template, TemplateDraft>,
    params: Params<RevisionList>,
    extra: ExtraFields,
}

/// An edited template.
struct TemplateParent {
    template: Template,
    post: Post,
    settings: Arc<Settings>,
}

impl TemplateHistory {
    /// The routes of this post type: `wp_template` or `wp_template_part`.
    pub fn new(site: &Arc<Site>, post_type: &PostType, extra: &ExtraFields) -> Self {
        let kind =
            if post_type.name == TemplateKind::Part.post_type() { TemplateKind::Part } else { TemplateKind::Template };
        let mut fields = fields::fields(site, kind).with_extra(extra, &post_type.name);
        let parent = integer().describe("ID of the post that stores the template.");
        fields.add("parent", parent.context(&["view", "edit", "embed"])).get(|t| t.post.as_ref().map(|p| p.parent.0));
        TemplateHistory {
            site: Arc::clone(site),
            kind,
            post_type: post_type.clone(),
            fields,
            params: params(),
            extra: extra.clone(),
        }
    }

    /// The edited template with this id.
    fn saved(&self, cx: &Context, id: &str) -> Result<TemplateParent> {
        let settings = self.site.settings(cx)?;
        let lookup = TemplateLookup::new(cx, &self.site, &settings);
        let template =
            self.site.read(cx, |db| lookup.find(db, self.kind, id))?.ok_or_else(errors::invalid_revision_parent)?;
        let post = template.post.clone().ok_or_else(not_saved)?;
        Ok(TemplateParent { template, post, settings })
    }

    /// The template that a request addresses. Rejects callers who may not edit it.
    fn parent(&self, req: &Request, name: &str) -> Result<TemplateParent> {
        let parent = self.saved(req.cx(), &req.require::<String>(name)?)?;
        let access = Access::new(&self.site, &parent.settings);
        if caller(req).can_post(PostCap::Edit, &parent.post, &access) {
            Ok(parent)
        } else {
            Err(errors::cannot_read_revisions(req))
        }
    }

    /// Response fields and links of revisions. `part` is the path segment of their routes.
    async fn show(
        &self,
        req: &Request,
        parent: &TemplateParent,
        rows: Vec<Post>,
        view: &View,
        (part, allowed): (&str, &[&str]),
    ) -> Result<Vec<(Map, Option<Links>)>> {
        let plan = self.fields.plan(view);
        let lookup = TemplateLookup::new(req.cx(), &self.site, &parent.settings);
        let route = format!("{}/{}", self.site.route_of_type(&self.post_type), parent.template.id());
        let urls = &parent.settings.urls;
        let mut prepared = Vec::with_capacity(rows.len());
        for mut revision in self.site.read(req.cx(), |db| lookup.of_revisions(db, self.kind, &parent.post, rows))? {
            let id = revision.post.as_ref().map(|post| post.id).unwrap_or_default();
            revision.content = lookup.with_patterns(&revision.content);
            let mut data = plan.prepare(&revision);
            respond::add_extra(&self.extra, &self.post_type.name, &mut data, req, view).await?;
            let links = view.wants_links().then(|| {
                let mut links = Links::new();
                let own = urls.rest(&format!("{route}/{part}/{id}"));
                links.add("self", Link::new(own).allow(allowed.iter().copied()));
                links.add("parent", Link::new(urls.rest(&route)));
                links
            });
            prepared.push((data, links));
        }
        Ok(prepared)
    }

    async fn show_one(
        &self,
        req: &Request,
        parent: &TemplateParent,
        row: Post,
        view: &View,
        kind: (&str, &[&str]),
    ) -> Result<Response> {
        let mut prepared = self.show(req, parent, vec![row], view, kind).await?;
        let (data, links) = prepared.pop().ok_or_else(errors::revision_not_found)?;
        Ok(respond::single(data, links))
    }

    // Revisions: list, fetch, delete

    async fn can_list(self: Arc<Self>, req: Request) -> Result<TemplateParent> {
        self.parent(&req, "parent")
    }

    async fn list(self: Arc<Self>, req: Request, parent: TemplateParent) -> Result<Response> {
        let list = self.params.typed(&req).accepted()?;
        let (paging, rows) =
            self.site.read(req.cx(), |db| list.run(db, &self.site, &self.post_type, parent.post.id))?;
        let prepared = self.show(&req, &parent, rows, &respond::view(&req), REVISIONS).await?;
        let data = prepared.into_iter().map(|(item, links)| respond::with_links(item, links, &req)).collect();
        let route = format!("{}/{}/revisions", self.site.route_of_type(&self.post_type), parent.template.id());
        Ok(collection::respond(&self.site, data, &paging, &parent.settings.urls.rest(&route), &req))
    }

    async fn fetch(self: Arc<Self>, req: Request, parent: TemplateParent) -> Result<Response> {
        let row = self.site.read(req.cx(), |db| find::revision(db, parent.post.id, number(&req)))?;
        self.show_one(&req, &parent, row, &respond::view(&req), REVISIONS).await
    }

    async fn can_delete(self: Arc<Self>, req: Request) -> Result<(TemplateParent, Post)> {
        let parent = self.saved(req.cx(), &req.require::<String>("parent")?)?;
        let (caller, access) = (caller(&req), Access::new(&self.site, &parent.settings));
        if !caller.can_post(PostCap::Delete, &parent.post, &access) || !access.can(&caller, "edit_theme_options") {
            return Err(errors::cannot_delete_revision(&req));
        }
        let row = self.site.read(req.cx(), |db| find::any_revision(db, number(&req)))?;
        Ok((parent, row))
    }

    async fn delete(self: Arc<Self>, req: Request, (parent, row): (TemplateParent, Post)) -> Result<Response> {
        if row.parent != parent.post.id {
            return Err(errors::not_a_revision_of());
        }
        if !respond::is_forced(&req)? {
            return Err(errors::trash_not_supported());
        }
        let id = row.id;
        let view = respond::previous_view(&req, "view");
        let previous = self.show_one(&req, &parent, row, &view, REVISIONS).await?;
        self.site.write(req.cx(), move |tx| Ok(posts::delete(tx, id)?.ok_or_else(errors::post_not_found)?)).await?;
        Ok(respond::deleted(previous.data))
    }

    // Autosaves: list, fetch, create

    async fn can_list_autosaves(self: Arc<Self>, req: Request) -> Result<TemplateParent> {
        self.parent(&req, "id")
    }

    async fn list_autosaves(self: Arc<Self>, req: Request, parent: TemplateParent) -> Result<Response> {
        let rows = self.site.read(req.cx(), |db| Ok(posts::autosaves(db, parent.post.id)?))?;
        Ok(respond::list(self.show(&req, &parent, rows, &respond::view(&req), AUTOSAVES).await?, &req))
    }

    /// The latest autosave of the template. Like WordPress, it ignores the id in the path.
    async fn fetch_autosave(self: Arc<Self>, req: Request, parent: TemplateParent) -> Result<Response> {
        let latest = self.site.read(req.cx(), |db| Ok(posts::latest_autosave(db, parent.post.id, None)?))?;
        let row = latest.ok_or_else(errors::no_autosave)?;
        self.show_one(&req, &parent, row, &respond::view(&req), AUTOSAVES).await
    }

    async fn can_create_autosave(self: Arc<Self>, req: Request) -> Result<()> {
        if can(&self.site, &req, "edit_theme_options")? { Ok(()) } else { Err(cannot_manage(&req)) }
    }

    async fn create_autosave(self: Arc<Self>, req: Request) -> Result<Response> {
        let parent = self.saved(req.cx(), &req.require::<String>("id")?)?;
        let draft: TemplateDraft = self.fields.typed(&req).accepted()?;
        let typed =
            AutosaveDraft { title: draft.title, content: draft.content, excerpt: draft.description, meta: None };
        let (caller, now) = (caller(&req), self.site.now(req.cx()));
        let unfiltered_html = Access::new(&self.site, &parent.settings).can(&caller, "unfiltered_html");
        let (site, settings, post) = (Arc::clone(&self.site), Arc::clone(&parent.settings), parent.post.clone());
        let write = move |tx: &mut Tx| {
            let editor = AutosaveAuthor { caller: &caller, unfiltered_html, now };
            let post = posts::get(tx, post.id)?.ok_or_else(errors::post_not_found)?;
            let id = site_revisions::autosave(tx, &site, &settings, &post, &typed, &editor)?;
            Ok(posts::get(tx, id)?.ok_or_else(errors::no_autosave)?)
        };
        let row = self.site.write(req.cx(), write).await?;
        self.show_one(&req, &parent, row, &respond::edit_view(&req), AUTOSAVES).await
    }
}

/// Path segment of revision routes, and the methods that their links allow.
const REVISIONS: (&str, &[&str]) = ("revisions", &["GET", "DELETE"]);
/// The same for autosaves.
const AUTOSAVES: (&str, &[&str]) = ("autosaves", &["GET"]);

/// The revision's id in the path.
fn number(req: &Request) -> PostId {
    PostId(req.param("id").map_or(0, svc_php::cast::to_int))
}

impl Controller for TemplateHistory {
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.post_type.rest_base;
        let schema = || Schema::compile(self.fields.item_schema());
        let named = |name: &str| {
            let arg = Arg::new(string().describe("The template's ID: theme and slug.").compile());
            Args::new().with(name, arg.sanitize_with(clean_id))
        };
        let number = || Arg::new(integer().describe("The revision's ID.").compile());
        let context = || Args::from([("context", context_arg())]);
        let force = crate::args::force("Must be true: revisions cannot be trashed.");
        let id = id_pattern();
        vec![
            Route::new(format!("/{base}/(?P<parent>{id})/revisions"))
                .schema(schema())
                .args(named("parent"))
                .endpoint(get(Self::list, Self::can_list).args(self.params.query_args())),
            Route::new(format!(r"/{base}/(?P<parent>{id})/revisions/(?P<id>[\d]+)"))
                .conditional(preconditions::on_post(&self.site))
                .schema(schema())
                .args(named("parent").with("id", number()))
                .endpoint(get(Self::fetch, Self::can_list).args(context()))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force)]))),
            Route::new(format!("/{base}/(?P<id>{id})/autosaves"))
                .schema(schema())
                .args(named("id"))
                .endpoint(get(Self::list_autosaves, Self::can_list_autosaves).args(context()))
                .endpoint(
                    on(CREATABLE, Self::create_autosave, Self::can_create_autosave)
                        .args(fields::fields(&self.site, self.kind).args(MethodKind::Editable))
                        .example(json!({"content": "<!-- wp:paragraph --><p>Hello.</p><!-- /wp:paragraph -->"})),
                ),
            Route::new(format!(r"/{base}/(?P<parent>{id})/autosaves/(?P<id>[\d]+)"))
                .schema(schema())
                .args(named("parent").with("id", number()))
                .endpoint(get(Self::fetch_autosave, Self::can_list).args(context())),
        ]
    }
}
