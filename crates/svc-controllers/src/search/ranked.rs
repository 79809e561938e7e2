//! Ranked search: posts of all types that match words, phrases and beginnings of words, best first, and their numbers per type and term.
//!
//! The parameter `q` selects it. The route is in svc's own namespace; where that is also the namespace of WordPress's search, both
//! are one route.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use svc_auth::Caller;
use svc_brand::OWN_NAMESPACE;
use svc_model::{PostId, TermId};
use svc_resource::{Fields, Paging, Params};
use svc_routing::{Controller, Cost, Request, Response, Result, Returns, Route, get, public};
use svc_schema::{
    Error, Schema,
    build::{SchemaBuilder, array, integer, object, string},
};
use svc_site::{Access, Settings, Site};
use svc_store::{
    QueryError,
    posts::{self, Ranked, RankedSearch, Unranked},
    terms,
};

use super::{ANY, MAX_PER_PAGE, posts::PostSearch};
use crate::{caller, collection, contexts::VIEW_EMBED, respond};

/// Maximum length of the search text, in characters.
const MAX_TEXT: usize = 200;

/// Number of posts, best first, that can be listed, and whose terms are counted.
const MAX_LISTED: u64 = 1_000;

/// Maximum number of terms that posts are restricted to.
const MAX_TERMS: usize = 5;

/// Maximum number of terms whose posts are counted.
const MAX_COUNTED: usize = 100;

/// Parameters of WordPress's search that say the same in another way, or nothing here.
const NOT_WITH_Q: [&str; 3] = ["search", "include", "exclude"];

/// The index of words is not ready.
fn no_index() -> Error {
    Error::new("rest_search_index_not_ready", "The search index is being built. Try again later.").with_status(503)
}

/// The text cannot be searched for.
fn invalid_text(e: QueryError) -> Error {
    let error = match e {
        QueryError::NoWords => Error::new("rest_search_no_words", "The parameter q has no word."),
        QueryError::TooManyWords(most) => {
            Error::new("rest_search_too_many_words", format!("The parameter q has more than {most} words."))
        }
    };
    error.with_status(400)
}

/// Parameters are combined that exclude each other.
fn not_with_q(name: &str) -> Error {
    Error::new("rest_search_parameters", format!("The parameters q and {name} cannot be combined.")).with_status(400)
}

/// Adds the parameters of a ranked search that WordPress's search does not have.
pub(super) fn add_params<Q>(p: &mut Params<Q>, is_required: bool) {
    let text = string().max_length(MAX_TEXT).describe(
        "Return the posts that match these words best. Double quotes enclose phrases; `*` after a word finds words that begin with it, as does the last word if no space follows.",
    );
    p.add("q", if is_required { text.required() } else { text }).unlisted();
    let ids =
        array(integer()).max_items(MAX_TERMS).describe("With q: only return posts that have all terms with these IDs.");
    p.add("terms", ids.default(json!([]))).unlisted();
}

/// Adds the field with the marked words.
pub(super) fn add_field(f: &mut Fields<(), ()>) {
    let text = |about: &str| string().describe(about);
    let highlights = object([
        ("title", text("The title as HTML.")),
        ("text", text("The part of the excerpt or the content with the most words, as HTML.")),
    ]);
    let highlights = highlights.describe("Where the words are: `mark` elements in text.");
    f.add("highlights", highlights.context(VIEW_EMBED).readonly());
}

/// Finds posts for the routes of ranked searches.
pub(super) struct RankedPosts(pub(super) Arc<Site>);

impl RankedPosts {
    /// A page of the posts that match `q`.
    pub(super) fn list(&self, req: &Request, url: &str) -> Result<Response> {
        if let Some(name) = NOT_WITH_Q.into_iter().find(|name| req.sent_param(name).is_some()) {
            return Err(not_with_q(name));
        }
        if req.param("type").is_some_and(|kind| kind != "post") {
            return Err(not_with_q("type"));
        }
        let (page, per_page): (u64, u64) = (req.require("page")?, req.require("per_page")?);
        let end = page.saturating_mul(per_page);
        let site = &self.0;
        let found = site.read(req.cx(), |db| {
            let settings = site.settings_in(db)?;
            self.find(db, &settings, req, end.min(MAX_LISTED))
        })?;
        let paging = Paging { total: found.total.min(MAX_LISTED), per_page, page };
        paging.check("rest_search_invalid_page_number")?;
        let ids: Vec<PostId> = paging.items(found.ids.iter().copied()).collect();
        let (posts, view) = (PostSearch(Arc::clone(site)), respond::view(req));
        let items = posts.show(&ids, req, Some(&found.highlighter))?.into_iter().filter_map(|(item, mut links)| {
            let Value::Object(item) = item else { return None };
            links.add("collection", svc_routing::Link::new(url));
            Some((item, view.wants_links().then_some(links)))
        });
        let response = respond::list(items, req);
        let response = collection::with_totals(site, response, found.total, paging.pages());
        Ok(collection::with_page_links(response, paging.links_from_page(url, &req.params().query)))
    }

    /// The numbers of the posts that match `q`, per type and term.
    fn facets(&self, req: &Request) -> Result<Value> {
        let site = &self.0;
        let taxonomies = self.taxonomies();
        let (found, counts, rows) = site.read(req.cx(), |db| {
            let settings = site.settings_in(db)?;
            let found = self.find(db, &settings, req, MAX_LISTED)?;
            let mut counts = posts::terms_among(db, &found.ids, &taxonomies)?;
            counts.truncate(MAX_COUNTED);
            let ids: Vec<TermId> = counts.iter().map(|(id, _)| *id).collect();
            let rows = terms::get_many(db, &ids)?;
            Ok((found, counts, rows))
        })?;
        let counts: HashMap<TermId, u64> = counts.into_iter().collect();
        let of_terms = rows.into_iter().filter(|term| taxonomies.contains(&term.taxonomy)).map(|term| {
            let n = counts.get(&term.id).copied().unwrap_or_default();
            json!({ "id": term.id.0, "taxonomy": term.taxonomy, "name": term.name, "slug": term.slug, "count": n })
        });
        Ok(json!({
            "total": found.total,
            "types": found.types.iter().map(|(name, n)| json!({ "name": name, "count": n })).collect::<Vec<_>>(),
            "counted": found.ids.len(),
            "terms": of_terms.collect::<Vec<_>>(),
        }))
    }

    fn taxonomies(&self) -> Vec<String> {
        self.0.registries.taxonomies.iter().filter(|t| t.public && t.show_in_rest).map(|t| t.name.clone()).collect()
    }

    fn find(
        &self,
        db: &mut svc_store::Db,
        settings: &Settings,
        req: &Request,
        limit: u64,
    ) -> svc_site::SiteResult<Ranked> {
        let requested: Vec<String> = req.arg("subtype")?.unwrap_or_default();
        let terms: Vec<i64> = req.arg("terms")?.unwrap_or_default();
        let search = RankedSearch {
            text: req.require("q")?,
            classes: self.classes(settings, &caller(req), &requested),
            terms: terms.into_iter().map(TermId).collect(),
            taxonomies: self.taxonomies(),
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
        };
        posts::ranked_search(db, &search)?.map_err(|e| match e {
            Unranked::Query(e) => invalid_text(e).into(),
            Unranked::NoIndex => no_index().into(),
        })
    }

    /// The types and statuses that the caller may read: published posts of public types, and private ones for those who may read
    /// all private posts of the type.
    fn classes(&self, settings: &Settings, caller: &Caller, requested: &[String]) -> Vec<(String, String)> {
        let access = Access::new(&self.0, settings);
        let mut classes = Vec::new();
        for name in PostSearch(Arc::clone(&self.0)).types() {
            if !requested.iter().any(|requested| requested == ANY || *requested == name) {
                continue;
            }
            let reads_private = self.0.registries.types.get(&name).is_some_and(|post_type| {
                caller.is_logged_in() && access.can(caller, &post_type.caps.read_private_posts)
            });
            if reads_private {
                classes.push((name.clone(), "private".to_owned()));
            }
            classes.push((name, "publish".to_owned()));
        }
        classes
    }
}

/// The controller for the routes in svc's own namespace.
pub struct RankedSearches {
    posts: RankedPosts,
    fields: Fields<(), ()>,
    params: Params<()>,
    /// Whether WordPress's search is in another namespace.
    has_list: bool,
}

impl RankedSearches {
    /// The controller for this site.
    pub fn new(site: &Arc<Site>) -> Self {
        let types = PostSearch(Arc::clone(site)).types();
        let mut fields = super::fields(&["post".to_owned()], &types);
        add_field(&mut fields);
        let mut params = Params::<()>::new("search");
        let context = string().describe("Context of the request, which determines the fields in the response.");
        params.add("context", context.one_of(VIEW_EMBED.iter().copied()).default("view"));
        params.add("page", integer().describe("Page number of the list.").default(1).minimum(1));
        params.add(
            "per_page",
            integer().describe("Maximum number of items per page.").default(10).range(1..=MAX_PER_PAGE),
        );
        params.add("subtype", subtypes(&types));
        add_params(&mut params, true);
        let has_list = site.brand.namespace() != OWN_NAMESPACE;
        RankedSearches { posts: RankedPosts(Arc::clone(site)), fields, params, has_list }
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let url = self.posts.0.settings(req.cx())?.urls.rest(&format!("/{OWN_NAMESPACE}/search"));
        self.posts.list(&req, &url)
    }

    async fn fetch_facets(self: Arc<Self>, req: Request) -> Result<Response> {
        Ok(Response::new(self.posts.facets(&req)?))
    }
}

fn subtypes(types: &[String]) -> SchemaBuilder {
    let any: Vec<String> = types.iter().cloned().chain([ANY.to_owned()]).collect();
    array(string().one_of(any)).describe("Only return posts of these types.").default(json!([ANY]))
}

#[rustfmt::skip]
fn facets_schema() -> Value {
    let mut f = Fields::<(), ()>::new("search-summary");
    let field = |schema: SchemaBuilder| schema.context(&["view"]).readonly();
    let number = |about: &str| integer().describe(about);
    let of_type = object([("name", string().describe("Post type.")), ("count", number("Number of posts."))]);
    let of_term = object([
        ("id", number("ID of the term.")), ("taxonomy", string().describe("Taxonomy.")), ("name", string().describe("Name of the term.")),
        ("slug", string().describe("Slug of the term.")), ("count", number("Number of posts.")),
    ]);
    f.add("total", field(number("Number of posts that match.")));
    f.add("types", field(array(of_type).describe("Numbers of posts that match, by type.")));
    f.add("counted", field(number("Number of the best posts, whose terms are counted.")));
    f.add("terms", field(array(of_term).describe("The most frequent terms of these posts, by number of posts.")));
    f.item_schema()
}

impl Controller for RankedSearches {
    fn routes(&self) -> Vec<Route<Self>> {
        let heavy = |_: &Request| Cost::Heavy;
        let mut args = self.params.query_args();
        let mut routes = Vec::new();
        if self.has_list {
            let list = get(Self::list, public).args(args.clone()).cost(heavy).cacheable();
            routes.push(
                Route::new("/search").unlisted().schema(Schema::compile(self.fields.item_schema())).endpoint(list),
            );
        }
        args.0.retain(|name, _| ["q", "subtype", "terms"].contains(&name.as_str()));
        let facets = get(Self::fetch_facets, public).args(args).cost(heavy).cacheable().returns(Returns::Item);
        routes.push(Route::new("/search/facets").unlisted().schema(Schema::compile(facets_schema())).endpoint(facets));
        routes
    }
}
