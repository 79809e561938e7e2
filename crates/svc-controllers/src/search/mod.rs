//! Search: one route for several types of objects, each with its own handler.
//!
//! There are handlers for posts, terms and post formats; hooks add or remove handlers. A handler finds ids and prepares
//! the results; this module has the route, its parameters and the paging.

mod formats;
mod handler;
mod posts;
mod ranked;
mod terms;

pub use ranked::RankedSearches;

pub use handler::{SearchHandler, SearchHandlers, SearchPage, filter_handlers};

use std::{collections::HashSet, sync::Arc};

use serde_json::{Value, json};
use svc_resource::{Fields, Paging, Params};
use svc_routing::{
    Controller, ExtraFields, Link, Links, Map, Registered, Request, Response, Result, Route, get, public,
};
use svc_schema::{
    Error, Schema,
    build::{SchemaBuilder, array, integer, string, types},
};

use self::ranked::RankedPosts;
use crate::{
    RestSite,
    args::one_line,
    collection,
    contexts::VIEW_EMBED,
    cost,
    encoded_items::{ItemReader, PreparedItem},
    item_cache::{CachedPage, FamilyId},
    respond,
};
use svc_brand::OWN_NAMESPACE;
use svc_site::Site;

/// The object type of a result, in the item schema and for additional fields.
const OBJECT: &str = "search-result";
/// Value of `subtype` that selects all subtypes.
const ANY: &str = "any";
/// Maximum of `per_page`.
const MAX_PER_PAGE: i64 = 100;

/// The built-in handlers (specification, "What the service does" 8).
fn handlers(site: &Arc<Site>) -> SearchHandlers {
    vec![
        Arc::new(posts::PostSearch(Arc::clone(site))),
        Arc::new(terms::TermSearch(Arc::clone(site))),
        Arc::new(formats::FormatSearch(Arc::clone(site))),
    ]
}

/// The controller for search.
pub struct Search {
    site: Arc<Site>,
    rest: Arc<RestSite>,
    handlers: SearchHandlers,
    fields: Fields<(), ()>,
    params: Params<SearchParams>,
    extra: ExtraFields,
    /// The family of each handler's results.
    families: Vec<FamilyId>,
    /// The search by `q`, if this is its namespace.
    ranked: Option<RankedPosts>,
}

/// Parameters of a request that are independent of the handler.
#[derive(Clone, Debug, Default)]
struct SearchParams {
    page: u64,
    per_page: u64,
    object_type: String,
    subtypes: Vec<String>,
}

impl Search {
    /// A controller with the built-in handlers, after the filters of the registry.
    pub(crate) fn mounted(rest: &Arc<RestSite>, registered: &Registered) -> Self {
        Self::new(rest, handler::filtered(handlers(&rest.site), registered), &registered.fields)
    }

    /// A controller with these handlers.
    pub fn new(rest: &Arc<RestSite>, handlers: SearchHandlers, extra: &ExtraFields) -> Self {
        let type_names: Vec<String> = handlers.iter().map(|h| h.kind().to_owned()).collect();
        let mut subtypes: Vec<String> = Vec::new();
        for subtype in handlers.iter().flat_map(|h| h.subtypes()) {
            if !subtypes.contains(&subtype) {
                subtypes.push(subtype);
            }
        }
        let families = handlers.iter().map(|_| rest.item_cache.new_family()).collect();
        let mut params = params(&type_names, &subtypes);
        let ranked = (rest.site.brand.namespace() == OWN_NAMESPACE).then(|| {
            ranked::add_params(&mut params, false);
            RankedPosts(Arc::clone(&rest.site))
        });
        Search {
            site: Arc::clone(&rest.site),
            rest: Arc::clone(rest),
            fields: fields(&type_names, &subtypes).with_extra(extra, OBJECT),
            params,
            ranked,
            handlers,
            extra: extra.clone(),
            families,
        }
    }
}

#[rustfmt::skip]
fn fields(type_names: &[String], subtypes: &[String]) -> Fields<(), ()> {
    let mut f = Fields::new(OBJECT);
    let field = |schema: SchemaBuilder| schema.context(VIEW_EMBED).readonly();
    f.add("id", field(types(["integer", "string"]).describe("The object's ID or slug.")));
    f.add("title", field(string().describe("Title or name of the object.")));
    f.add("url", field(string().describe("URL of the object.").format("uri")));
    f.add("type", field(string().describe("Type of the object.").one_of(type_names.to_vec())));
    f.add("subtype", field(string().describe("Subtype of the object, such as its post type or taxonomy.").one_of(subtypes.to_vec())));
    f
}

#[rustfmt::skip]
fn params(type_names: &[String], subtypes: &[String]) -> Params<SearchParams> {
    let mut p = Params::<SearchParams>::new("search");
    let ids = || array(integer()).default(json!([]));
    let first = type_names.first().cloned().unwrap_or_default();
    let any: Vec<String> = subtypes.iter().cloned().chain([ANY.to_owned()]).collect();
    p.add("context", string().describe("Context of the request, which determines the fields in the response.").one_of(VIEW_EMBED.iter().copied()).default("view"));
    p.add("page", integer().describe("Page number of the list.").default(1).minimum(1)).set(|p, n| p.page = n);
    p.add("per_page", integer().describe("Maximum number of items per page.").default(10).range(1..=MAX_PER_PAGE)).set(|p, n| p.per_page = n);
    p.add("search", string().describe("Only return objects that match this text.")).sanitize_with(one_line);
    p.add("type", string().describe("Only return objects of this type.").default(first).one_of(type_names.to_vec()).first(&["default"])).set(|p, v| p.object_type = v);
    p.add("subtype", array(string().one_of(any).first(&["enum"])).describe("Only return objects of these subtypes.").default(ANY).first(&["default"])).set(|p, v| p.subtypes = v);
    p.add("exclude", ids().describe("Do not return objects with these IDs."));
    p.add("include", ids().describe("Only return objects with these IDs."));
    p
}

impl Controller for Search {
    fn routes(&self) -> Vec<Route<Self>> {
        let list = get(Self::list, public).cost(cost::of_list);
        let is_cacheable = self.handlers.iter().all(|handler| handler.is_cacheable());
        vec![
            Route::new("/search").schema(Schema::compile(self.fields.item_schema())).endpoint(
                if is_cacheable { list.cacheable() } else { list }
                    .args(self.params.query_args())
                    .sanitize_arg("subtype", sanitize_subtypes(&self.handlers, &self.params)),
            ),
        ]
    }
}

/// No handler exists for the requested type.
fn unknown_type() -> Error {
    Error::new("rest_search_invalid_type", "Objects of this type cannot be searched.").with_status(400)
}

/// A handler whose results are cached found an id that is no integer.
fn no_number() -> Error {
    Error::new("rest_search_handler_error", "A search found an object whose ID is not a number.").with_status(500)
}

impl Search {
    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        if let Some(ranked) = self.ranked.as_ref().filter(|_| req.sent_param("q").is_some()) {
            return ranked.list(&req, &self.url(&req)?);
        }
        let params = self.params.typed(&req).accepted()?;
        let mut handlers = self.handlers.iter().zip(&self.families);
        let (handler, family) = handlers.find(|(h, _)| h.kind() == params.object_type).ok_or_else(unknown_type)?;
        let subtypes = supported_subtypes(params.subtypes, &handler.subtypes());
        let mut query = svc_routing::Map::clone(&req.params().query);
        if query.contains_key("subtype") {
            query.insert("subtype".to_owned(), json!(subtypes));
        }
        let req = req.with_param("subtype", json!(subtypes));
        let url = self.url(&req)?;
        let paging = |found: &SearchPage| {
            let paging = Paging { total: found.total, per_page: params.per_page, page: params.page };
            paging.check("rest_search_invalid_page_number").map(|()| paging)
        };
        let (response, paging) = if handler.is_cacheable() {
            let items = ItemReader::new(&req, *family, self.rest.item_cache(req.cx(), &self.extra, OBJECT));
            let find = async |req: Request| {
                let found = handler.search(req.clone()).await?;
                let ids: Option<_> = found.ids.iter().map(Value::as_i64).collect();
                Ok(CachedPage::new(ids.ok_or_else(no_number)?, paging(&found)?))
            };
            let page = items.page(find).await?;
            let mut response = None;
            if page.ids.iter().collect::<HashSet<_>>().len() == page.ids.len() {
                // Whether each result is known to belong to the id at its position: none is invisible to the caller.
                let mut is_complete = true;
                let prepare = async |req: Request, ids: &[i64]| {
                    let prepared = self.prepare(&**handler, values(ids), &req, &url).await?;
                    is_complete = prepared.len() == ids.len();
                    if !is_complete {
                        req.cx().depends_on_request();
                    }
                    Ok(ids
                        .iter()
                        .zip(prepared)
                        .map(|(id, (item, links))| PreparedItem::new(*id, item, links))
                        .collect())
                };
                let joined = items.list(&page.ids, prepare).await?;
                response = is_complete.then_some(joined);
            }
            // A term of several taxonomies is found several times.
            let response = match response {
                Some(joined) => joined,
                None => respond::list(self.prepare(&**handler, values(&page.ids), &req, &url).await?, &req),
            };
            (response, page.paging)
        } else {
            let found = handler.search(req.clone()).await?;
            let paging = paging(&found)?;
            let items = self.prepare(&**handler, found.ids, &req, &url).await?;
            (respond::list(items, &req), paging)
        };
        let response = collection::with_totals(&self.site, response, paging.total, paging.pages());
        Ok(collection::with_page_links(response, paging.links_from_page(&url, &query)))
    }

    fn url(&self, req: &Request) -> Result<String> {
        Ok(self.site.settings(req.cx())?.urls.rest(&format!("/{}/search", self.site.brand.namespace())))
    }

    /// Prepares the found objects that the caller sees, in order, with their links if they are requested.
    async fn prepare(
        &self,
        handler: &dyn SearchHandler,
        ids: Vec<Value>,
        req: &Request,
        url: &str,
    ) -> Result<Vec<(Map, Option<Links>)>> {
        let view = respond::view(req);
        let mut items = Vec::with_capacity(ids.len());
        for (data, mut links) in handler.prepare(ids, req.clone()).await? {
            let Value::Object(mut item) = data else { continue };
            respond::add_extra(&self.extra, OBJECT, &mut item, req, &view).await?;
            links.add("collection", Link::new(url));
            items.push((item, view.wants_links().then_some(links)));
        }
        Ok(items)
    }
}

fn values(ids: &[i64]) -> Vec<Value> {
    ids.iter().copied().map(Value::from).collect()
}

/// Returns the sanitizer of `subtype`: it parses slugs by the parameter's schema and drops those that the handler of the
/// requested type does not support. If the type has no handler, both parameters are reported as invalid.
fn sanitize_subtypes(
    handlers: &[Arc<dyn SearchHandler>],
    params: &Params<SearchParams>,
) -> impl Fn(&Request, &Value) -> Result<Value> + use<> {
    let handlers = handlers.to_vec();
    let schema = params.query_args().get("subtype").and_then(|arg| arg.schema.clone());
    move |req, sent| {
        let slugs = svc_php::list::parse_text_list(sent)?;
        let slugs = json!(slugs.iter().map(|slug| svc_text::sanitize_title(slug)).collect::<Vec<_>>());
        let subtypes =
            schema.as_ref().map_or_else(|| Ok(slugs.clone()), |schema| schema.parse(slugs.clone(), "subtype"))?;
        let subtypes: Vec<String> = svc_php::list::parse_text_list(&subtypes)?;
        if subtypes.iter().any(|subtype| subtype == ANY) {
            return Ok(json!([ANY]));
        }
        let handler = handlers.iter().find(|handler| req.param("type").is_some_and(|kind| kind == handler.kind()));
        Ok(json!(supported_subtypes(subtypes, &handler.ok_or_else(unknown_type)?.subtypes())))
    }
}

/// The requested subtypes that the handler supports; `any` alone if it is among them.
fn supported_subtypes(requested: Vec<String>, supported: &[String]) -> Vec<String> {
    if requested.iter().any(|s| s == ANY) {
        return vec![ANY.to_owned()];
    }
    requested.into_iter().filter(|s| supported.contains(s)).collect()
}

/// The subtypes that a handler searches: all supported ones for `any`.
fn searched_subtypes(req: &Request, supported: Vec<String>) -> Result<Vec<String>> {
    let requested: Vec<String> = req.arg("subtype")?.unwrap_or_default();
    Ok(if requested.iter().any(|s| s == ANY) { supported } else { requested })
}

/// The ids in a parameter.
fn ids(req: &Request, name: &str) -> Result<Vec<i64>> {
    let ids = req.param(name).map(svc_php::list::parse_id_list).transpose()?.unwrap_or_default();
    Ok(ids.into_iter().filter_map(|id| i64::try_from(id).ok()).collect())
}

/// Limit and offset of the requested page.
fn limits(req: &Request) -> Result<(u64, u64)> {
    let (page, per_page): (u64, u64) = (req.require("page")?, req.require("per_page")?);
    Ok((per_page, page.saturating_sub(1).saturating_mul(per_page).min(i64::MAX as u64)))
}

/// The search text; `None` if it is empty.
fn text(req: &Request) -> Option<String> {
    // In PHP the string `0` is falsy.
    req.param("search").map(|s| svc_php::cast::to_text(s).into_owned()).filter(|s| !s.is_empty() && s != "0")
}

/// A result, limited to the fields that the request selects.
fn result(req: &Request, rows: [(&str, Option<Value>); 5]) -> Value {
    let selected =
        rows.into_iter().filter(|(name, _)| req.fields().is_none_or(|f| f.names().iter().any(|n| n == name)));
    Value::Object(selected.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_subtypes_of_other_types() {
        let rows: [(&[&str], &[&str]); 5] = [
            (&["any"], &["any"]),
            (&["page", "any"], &["any"]),
            (&["page", "category"], &["page"]),
            (&["category"], &[]),
            (&[], &[]),
        ];
        let supported = ["post".to_owned(), "page".to_owned()];
        for (requested, expected) in rows {
            assert_eq!(
                supported_subtypes(requested.iter().map(|s| (*s).to_owned()).collect(), &supported),
                expected,
                "{requested:?}"
            );
        }
    }
}
