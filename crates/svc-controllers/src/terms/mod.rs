//! Terms of each taxonomy: list, create, fetch, update, delete.
//!
//! One controller per taxonomy in the REST API. Terms are public; listing the terms of a post requires permission to
//! read the post. Menus (taxonomy `nav_menu`) are a separate family.

pub(crate) mod errors;
pub(crate) mod fields;
mod links;
mod load;
pub(crate) mod params;
pub(crate) mod write;

use std::sync::Arc;

use serde_json::json;
use svc_model::{PostId, PostType, Taxonomy, Term, TermId};
use svc_resource::{Paging, Params, Typed, View};
use svc_routing::{
    CREATABLE, Controller, DELETABLE, EDITABLE, ExtraFields, Map, Request, Response, Result, Route, get, on,
};
use svc_schema::{Args, MethodKind, Schema, build::integer};
use svc_site::{Access, Site, SiteResult, languages::Languages, terms::paths};
use svc_store::{Db, get_or_load, posts, terms};

use self::{
    fields::TermFields,
    load::{LoadedTerm, TermLoader},
    params::TermList,
};
use crate::preconditions;
use crate::{
    RestSite,
    args::context_arg,
    caller,
    collection::{self, Totals},
    cost,
    cursor::ListPage,
    encoded_items::{ItemReader, PreparedItem},
    errors::{forbidden_context, trash_not_supported},
    item_cache::FamilyId,
    links::create_term_cap,
    request::can,
    respond,
};
use svc_site::object_state::ConditionalObject;

pub(crate) use self::links::TermRights;

/// The family of one taxonomy.
pub struct Terms {
    site: Arc<Site>,
    rest: Arc<RestSite>,
    taxonomy: Arc<Taxonomy>,
    fields: TermFields,
    params: Params<TermList>,
    extra: ExtraFields,
    family: FamilyId,
}

impl Terms {
    /// The family of this taxonomy.
    pub fn new(rest: &Arc<RestSite>, taxonomy: &Taxonomy, extra: &ExtraFields) -> Self {
        Terms {
            site: Arc::clone(&rest.site),
            rest: Arc::clone(rest),
            fields: fields::fields(&rest.site, taxonomy).with_extra(extra, fields::object_type(taxonomy)),
            params: params::params(taxonomy),
            taxonomy: Arc::new(taxonomy.clone()),
            extra: extra.clone(),
            family: rest.item_cache.new_family(),
        }
    }

    /// Replaces the fields.
    pub(crate) fn with_fields(self, fields: TermFields) -> Self {
        let fields = fields.with_extra(&self.extra, fields::object_type(&self.taxonomy));
        Terms { fields, ..self }
    }

    /// Adds the fields and the parameter of a taxonomy whose terms have these languages.
    pub(crate) fn with_languages(mut self, languages: Option<&Arc<Languages>>) -> Self {
        if let Some(languages) = languages {
            fields::add_languages(&mut self.fields, languages);
            params::add_languages(&mut self.params, languages);
        }
        self
    }

    /// The fields of the taxonomy's terms.
    pub(crate) fn fields(&self) -> &TermFields {
        &self.fields
    }

    /// The parameters of the list.
    pub(crate) fn query_args(&self) -> Args {
        self.params.query_args()
    }
}

impl Controller for Terms {
    #[rustfmt::skip]
    fn routes(&self) -> Vec<Route<Self>> {
        let base = &self.taxonomy.rest_base;
        let schema = Schema::compile(self.fields.item_schema());
        let args = |kind| self.fields.args(kind);
        let id = integer().describe("The term's ID.");
        let force = crate::args::force("Must be true: terms cannot be moved to the trash.");
        vec![
            Route::new(format!("/{base}"))
                .schema(schema.clone())
                .allow_batch()
                .endpoint(get(Self::list, Self::can_list).cacheable().cost(cost::of_list).args(self.params.query_args()))
                .endpoint(on(CREATABLE, Self::create, Self::can_create).args(args(MethodKind::Creatable)).example(json!({"name": "Science"}))),
            Route::new(format!(r"/{base}/(?P<id>[\d]+)"))
                .conditional(preconditions::on_id(&self.site, |id| ConditionalObject::Term(TermId(id))))
                .schema(schema)
                .args(Args::from([("id", id)]))
                .allow_batch()
                .endpoint(get(Self::fetch, Self::can_fetch).cacheable().args(Args::from([("context", context_arg())])))
                .endpoint(on(EDITABLE, Self::update, Self::can_update).args(args(MethodKind::Editable)).example(json!({"description": "News from research."})))
                .endpoint(on(DELETABLE, Self::delete, Self::can_delete).args(Args::from([("force", force)]))),
        ]
    }
}

impl Terms {
    /// The term of the request, if `authorize` accepts it, or 404.
    fn authorized(&self, req: &Request, authorize: impl FnOnce(TermRights) -> Result<()>) -> Result<Term> {
        let id = respond::number(req, "id");
        // Cached for the request, because the permission checks of all methods run for `Allow`.
        let found = get_or_load(req.cx(), (self.family, id), || {
            self.site.read(req.cx(), |db| {
                let found = if id > 0 { terms::get(db, TermId(id), Some(&self.taxonomy.name))? } else { None };
                let term = found.ok_or_else(errors::not_found)?;
                Ok(Arc::new((term, self.site.settings_in(db)?)))
            })
        })?;
        let (term, settings) = &*found;
        let access = paths::access_to_terms(&self.site, settings, std::slice::from_ref(term));
        authorize(TermRights::of(&caller(req), &access, term))?;
        Ok(term.clone())
    }

    /// Whether the caller has one of the taxonomy's capabilities.
    fn can(&self, req: &Request, cap: &str) -> Result<bool> {
        can(&self.site, req, cap)
    }

    /// Adds additional fields to a prepared term.
    async fn finish(&self, id: TermId, item: Map, req: &Request, view: &View) -> Result<Map> {
        respond::finish(&self.extra, fields::object_type(&self.taxonomy), id.0, item, req, view).await
    }

    /// A response with one term in a context.
    pub(crate) async fn show(&self, req: &Request, term: Term, context: &str) -> Result<Response> {
        self.show_in(req, term, View { context: context.to_owned(), ..respond::view(req) }).await
    }

    /// A response with one term in a view.
    pub(crate) async fn show_in(&self, req: &Request, term: Term, view: View) -> Result<Response> {
        let prepared = self.prepare(req, &view, |_| Ok(vec![term])).await?.pop();
        prepared.and_then(PreparedItem::into_response).ok_or_else(errors::not_found)
    }

    /// Prepares terms that are loaded in the same snapshot.
    async fn prepare(
        &self,
        req: &Request,
        view: &View,
        load: impl FnOnce(&mut Db) -> SiteResult<Vec<Term>>,
    ) -> Result<Vec<PreparedItem>> {
        let caller = caller(req);
        let plan = self.fields.plan(view);
        let loaded = self.site.read(req.cx(), |db| {
            let settings = self.site.settings_in(db)?;
            let rows = load(db)?;
            let (site, taxonomy) = (&self.site, &self.taxonomy);
            TermLoader { site, settings: &settings, taxonomy, caller: &caller, view }.load(db, rows, &plan)
        })?;
        let mut prepared = Vec::with_capacity(loaded.len());
        for LoadedTerm { item, links } in loaded {
            let id = item.term.id;
            let data = self.finish(id, plan.prepare(&item), req, view).await?;
            prepared.push(PreparedItem::new(id.0, data, links));
        }
        Ok(prepared)
    }

    /// Reads terms as the request selects them.
    fn reader<'r>(&'r self, req: &'r Request) -> ItemReader<'r> {
        let cache = self.rest.item_cache(req.cx(), &self.extra, fields::object_type(&self.taxonomy));
        ItemReader::new(req, self.family, cache)
    }

    // List

    pub(crate) async fn can_list(self: Arc<Self>, req: Request) -> Result<Typed<TermList>> {
        let list = self.params.typed(&req);
        if req.context() == "edit" && !self.can(&req, &self.taxonomy.caps.edit_terms)? {
            return Err(forbidden_context(&req));
        }
        if let Some(post) = list.values().post() {
            self.can_see_post(&req, post)?;
        }
        Ok(list)
    }

    /// Checks that the caller may read the post whose terms are requested.
    fn can_see_post(&self, req: &Request, id: PostId) -> Result<()> {
        self.site.read(req.cx(), |db| {
            let post = if id.0 > 0 { posts::get(db, id)? } else { None }.ok_or_else(errors::invalid_post)?;
            let settings = self.site.settings_in(db)?;
            let post_type = self.site.registries.types.get(&post.post_type).filter(|t| t.show_in_rest);
            let is_served = post_type.is_some() && self.taxonomy.object_types.contains(&post.post_type);
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&post))?;
            let caller = caller(req);
            // Posts of types without pages require a login, regardless of their status.
            let has_page = post_type.is_some_and(PostType::is_viewable);
            let can_read = access.can_read(&caller, &post) && (has_page || caller.is_logged_in());
            if is_served && can_read { Ok(()) } else { Err(errors::forbidden_post(req).into()) }
        })
    }

    pub(crate) async fn list(self: Arc<Self>, req: Request, list: Typed<TermList>) -> Result<Response> {
        let items = self.reader(&req);
        let page = items
            .page(async |req: Request| {
                let list = list.accepted()?;
                let (page, per_page) = (list.effective_page(), list.per_page);
                let requested = ListPage::read(&self.site, &req)?;
                let found = self.site.read(req.cx(), |db| list.find(db, &self.site, &self.taxonomy, &requested))?;
                // Unlike in lists of posts, a page beyond the last one is empty and no error.
                let paging = Paging { total: found.total.unwrap_or_default(), per_page, page };
                requested.found(&self.site, &found, paging)
            })
            .await?;
        let prepare = async |req: Request, ids: &[i64]| {
            self.prepare(&req, items.view(), |db| self.rows(db, ids, items.view())).await
        };
        let response = items.list(&page.ids, prepare).await?;
        let url = self.site.settings(req.cx())?.urls.rest(&self.site.route_of_taxonomy(&self.taxonomy));
        Ok(collection::with_page(&self.site, response, &page, &url, &req, Totals::Numbers))
    }

    /// The terms of this taxonomy with these ids, in order. Excludes other taxonomies of a shared term.
    fn rows(&self, db: &mut Db, ids: &[i64], view: &View) -> SiteResult<Vec<Term>> {
        let ids: Vec<TermId> = ids.iter().copied().map(TermId).collect();
        let shows_count = self.fields.plan(view).wants("count");
        let found = if shows_count { terms::get_many(db, &ids)? } else { terms::without_counts(db, &ids)? };
        Ok(found.into_iter().filter(|t| t.taxonomy == self.taxonomy.name).collect())
    }

    // Fetch

    pub(crate) async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Term> {
        self.authorized(&req, |rights| {
            if req.context() == "edit" && !rights.edit { Err(forbidden_context(&req)) } else { Ok(()) }
        })
    }

    pub(crate) async fn fetch(self: Arc<Self>, req: Request, term: Term) -> Result<Response> {
        let items = self.reader(&req);
        let prepare = async |req: Request, ids: &[i64]| {
            self.prepare(&req, items.view(), |db| self.rows(db, ids, items.view())).await
        };
        items.item(term.id.0, prepare).await?.ok_or_else(errors::not_found)
    }

    // Create

    pub(crate) async fn can_create(self: Arc<Self>, req: Request) -> Result<()> {
        if self.can(&req, create_term_cap(&self.taxonomy))? { Ok(()) } else { Err(errors::cannot_create(&req)) }
    }

    async fn create(self: Arc<Self>, req: Request) -> Result<Response> {
        let term = self.save(&req, None).await?;
        self.show_created(&req, term).await
    }

    /// The response to a request that created this term.
    pub(crate) async fn show_created(&self, req: &Request, term: Term) -> Result<Response> {
        let route = format!("{}/{}", self.site.route_of_taxonomy(&self.taxonomy), term.id);
        let location = self.site.settings(req.cx())?.urls.rest(&route);
        let response = self.show(req, term, "edit").await?.in_context("edit");
        Ok(response.status(201).header("Location", location))
    }

    // Update

    pub(crate) async fn can_update(self: Arc<Self>, req: Request) -> Result<Term> {
        self.authorized(&req, |rights| if rights.edit { Ok(()) } else { Err(errors::cannot_update(&req)) })
    }

    async fn update(self: Arc<Self>, req: Request, term: Term) -> Result<Response> {
        let term = self.save(&req, Some(term.id)).await?;
        Ok(self.show(&req, term, "edit").await?.in_context("edit"))
    }

    // Delete

    pub(crate) async fn can_delete(self: Arc<Self>, req: Request) -> Result<Term> {
        self.authorized(&req, |rights| if rights.delete { Ok(()) } else { Err(errors::cannot_delete(&req)) })
    }

    async fn delete(self: Arc<Self>, req: Request, term: Term) -> Result<Response> {
        if !respond::is_forced(&req)? {
            return Err(trash_not_supported());
        }
        let id = term.id;
        let previous = self.show_in(&req, term, respond::previous_view(&req, "edit")).await?.data;
        self.remove(req.cx(), id).await?;
        Ok(respond::deleted(previous))
    }
}
