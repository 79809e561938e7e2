//! Search: one route over several kinds of objects, each with a handler of its own.
//!
//! Posts, terms and post formats are searched; hooks add further kinds or take these away. A handler finds ids and
//! prepares what is shown of them; here are the route, its parameters and the pages.

mod formats;
mod handler;
mod posts;
mod terms;

pub use handler::{SearchHandler, SearchHandlers, SearchPage, filter_handlers};

use std::sync::Arc;

use serde_json::{Value, json};
use svc_resource::{Fields, Paging, Params, total_headers};
use svc_routing::{Controller, ExtraFields, Link, Registered, Request, Response, Result, Route, get, public};
use svc_schema::{
    Error, Schema,
    build::{SchemaBuilder, array, integer, string, types},
};

use crate::{RestSite, args::one_line, contexts::VIEW_EMBED, respond};

/// What additional fields and the item schema call a result.
const OBJECT: &str = "search-result";
/// Stands for all subtypes.
const ANY: &str = "any";
/// Largest number of items on a page.
const MAX_PER_PAGE: i64 = 100;

/// The handlers that every site has (specification, "What the service does" 8).
fn handlers(site: &Arc<RestSite>) -> SearchHandlers {
    vec![
        Arc::new(posts::PostSearch(Arc::clone(site))),
        Arc::new(terms::TermSearch(Arc::clone(site))),
        Arc::new(formats::FormatSearch(Arc::clone(site))),
    ]
}

/// The search route.
pub struct Search {
    site: Arc<RestSite>,
    handlers: SearchHandlers,
    fields: Fields<(), ()>,
    params: Params<Asked>,
    extra: ExtraFields,
}

/// What a request asks for.
#[derive(Clone, Debug, Default)]
struct Asked {
    page: u64,
    per_page: u64,
    kind: String,
    subtypes: Vec<String>,
}

impl Search {
    /// The route over the handlers that every site has, after the filters of the registry.
    pub(crate) fn mounted(site: &Arc<RestSite>, registered: &Registered) -> Self {
        Self::new(site, handler::filtered(handlers(site), registered), &registered.fields)
    }

    /// The route over these handlers.
    pub fn new(site: &Arc<RestSite>, handlers: SearchHandlers, extra: &ExtraFields) -> Self {
        let kinds: Vec<String> = handlers.iter().map(|h| h.kind().to_owned()).collect();
        let mut subtypes: Vec<String> = Vec::new();
        for subtype in handlers.iter().flat_map(|h| h.subtypes()) {
            if !subtypes.contains(&subtype) {
                subtypes.push(subtype);
            }
        }
        Search {
            site: Arc::clone(site),
            fields: fields(&kinds, &subtypes).with_extra(extra, OBJECT),
            params: params(&kinds, &subtypes),
            handlers,
            extra: extra.clone(),
        }
    }
}

#[rustfmt::skip]
fn fields(kinds: &[String], subtypes: &[String]) -> Fields<(), ()> {
    let mut f = Fields::new(OBJECT);
    let shown = |schema: SchemaBuilder| schema.context(VIEW_EMBED).readonly();
    f.add("id", shown(types(["integer", "string"]).describe("Number or name that identifies the object.")));
    f.add("title", shown(string().describe("What the object is called.")));
    f.add("url", shown(string().describe("Address of the object's page.").format("uri")));
    f.add("type", shown(string().describe("Kind of object.").one_of(kinds.to_vec())));
    f.add("subtype", shown(string().describe("Kind of object, more closely.").one_of(subtypes.to_vec())));
    f
}

#[rustfmt::skip]
fn params(kinds: &[String], subtypes: &[String]) -> Params<Asked> {
    let mut p = Params::<Asked>::new("search");
    let ids = || array(integer()).default(json!([]));
    let first = kinds.first().cloned().unwrap_or_default();
    let any: Vec<String> = subtypes.iter().cloned().chain([ANY.to_owned()]).collect();
    p.add("context", string().describe("Which members are shown.").one_of(VIEW_EMBED.iter().copied()).default("view"));
    p.add("page", integer().describe("Page of the list.").default(1).minimum(1)).set(|a, n| a.page = n);
    p.add("per_page", integer().describe("Items on a page.").default(10).range(1..=MAX_PER_PAGE)).set(|a, n| a.per_page = n);
    p.add("search", string().describe("Only objects that match this text.")).sanitize_with(one_line);
    p.add("type", string().describe("Only objects of this kind.").default(first).one_of(kinds.to_vec())).set(|a, k| a.kind = k);
    p.add("subtype", array(string().one_of(any)).describe("Only objects of these kinds, more closely.").default(ANY)).set(|a, v| a.subtypes = v);
    p.add("exclude", ids().describe("No objects with these numbers."));
    p.add("include", ids().describe("Only objects with these numbers."));
    p
}

impl Controller for Search {
    fn routes(&self) -> Vec<Route<Self>> {
        vec![
            Route::new("/search").schema(Schema::compile(self.fields.item_schema())).endpoint(
                get(Self::list, public)
                    .args(self.params.query_args())
                    .sanitize_arg("subtype", sanitize_subtypes(&self.handlers, &self.params)),
            ),
        ]
    }
}

/// A kind that is searched no more, though a filter of the request says so.
fn unknown_kind() -> Error {
    Error::new("rest_search_invalid_type", "There is no search for this type.").with_status(400)
}

impl Search {
    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        let asked = self.params.read(|name| req.param(name).cloned())?;
        let handler = self.handlers.iter().find(|h| h.kind() == asked.kind).ok_or_else(unknown_kind)?;
        let subtypes = fitting(asked.subtypes, &handler.subtypes());
        let mut query = req.params().query.clone();
        if query.contains_key("subtype") {
            query.insert("subtype".to_owned(), json!(subtypes));
        }
        let req = req.with_param("subtype", json!(subtypes));
        let found = handler.search(req.clone()).await?;
        let paging = Paging { total: found.total, per_page: asked.per_page, page: asked.page };
        paging.check("rest_search_invalid_page_number")?;
        let collection = self.site.settings()?.urls.rest(&format!("/{}/search", self.site.brand.namespace()));
        let mut items = Vec::with_capacity(found.ids.len());
        if !req.is_head() && !found.ids.is_empty() {
            let view = respond::view(&req);
            for (data, mut links) in handler.prepare(found.ids, req.clone()).await? {
                let Value::Object(mut item) = data else { continue };
                respond::add_extra(&self.extra, OBJECT, &mut item, &req, &view).await?;
                links.add("collection", Link::new(&collection));
                items.push(respond::with_links(item, view.wants_links().then_some(links), &req));
            }
        }
        let mut response = Response::new(Value::Array(items));
        for (name, value) in total_headers(paging.total, paging.pages()) {
            response = response.header(&self.site.brand.header(name), value);
        }
        for (relation, href) in paging.links_from_page(&collection, &query) {
            response = response.link_header(relation, &href, &[]);
        }
        Ok(response)
    }
}

/// Sanitizes `subtype`: slugs that the schema of the parameter allows, and of these the ones that the handler of the
/// request's type knows. A request whose type has no handler is refused in the name of both parameters.
fn sanitize_subtypes(
    handlers: &[Arc<dyn SearchHandler>],
    params: &Params<Asked>,
) -> impl Fn(&Request, &Value) -> Result<Value> + use<> {
    let handlers = handlers.to_vec();
    let schema = params.query_args().get("subtype").and_then(|arg| arg.schema.clone());
    move |req, sent| {
        let slugs = svc_php::list::parse_text_list(sent);
        let slugs = json!(slugs.iter().map(|slug| svc_text::sanitize_title(slug)).collect::<Vec<_>>());
        let wanted =
            schema.as_ref().map_or_else(|| Ok(slugs.clone()), |schema| schema.parse(slugs.clone(), "subtype"))?;
        let wanted: Vec<String> = svc_php::list::parse_text_list(&wanted);
        if wanted.iter().any(|subtype| subtype == ANY) {
            return Ok(json!([ANY]));
        }
        let handler = handlers.iter().find(|handler| req.param("type").is_some_and(|kind| kind == handler.kind()));
        Ok(json!(fitting(wanted, &handler.ok_or_else(unknown_kind)?.subtypes())))
    }
}

/// The subtypes that the handler of the type knows; `any` stands for all of them.
fn fitting(wanted: Vec<String>, known: &[String]) -> Vec<String> {
    if wanted.iter().any(|s| s == ANY) {
        return vec![ANY.to_owned()];
    }
    wanted.into_iter().filter(|s| known.contains(s)).collect()
}

/// The subtypes that a handler is to search: all that it knows for `any`.
fn searched(req: &Request, known: Vec<String>) -> Result<Vec<String>> {
    let wanted: Vec<String> = req.arg("subtype")?.unwrap_or_default();
    Ok(if wanted.iter().any(|s| s == ANY) { known } else { wanted })
}

/// The ids that a parameter names.
fn ids(req: &Request, name: &str) -> Vec<i64> {
    let ids = req.param(name).map(svc_php::list::parse_id_list).unwrap_or_default();
    ids.into_iter().filter_map(|id| i64::try_from(id).ok()).collect()
}

/// How many objects are on a page, and how many are before it.
fn limits(req: &Request) -> Result<(u64, u64)> {
    let (page, per_page): (u64, u64) = (req.require("page")?, req.require("per_page")?);
    Ok((per_page, page.saturating_sub(1).saturating_mul(per_page).min(i64::MAX as u64)))
}

/// The text that is searched for; `None` when there is none.
fn text(req: &Request) -> Option<String> {
    // PHP takes a zero for nothing.
    req.param("search").map(|s| svc_php::cast::to_text(s).into_owned()).filter(|s| !s.is_empty() && s != "0")
}

/// The members of a result that the request wants to see.
fn members(req: &Request, rows: [(&str, Option<Value>); 5]) -> Value {
    let wanted = rows.into_iter().filter(|(name, _)| req.fields().is_none_or(|f| f.names().iter().any(|n| n == name)));
    Value::Object(wanted.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subtypes_of_other_types_fall_away() {
        let rows: [(&[&str], &[&str]); 5] = [
            (&["any"], &["any"]),
            (&["page", "any"], &["any"]),
            (&["page", "category"], &["page"]),
            (&["category"], &[]),
            (&[], &[]),
        ];
        let known = ["post".to_owned(), "page".to_owned()];
        for (wanted, expected) in rows {
            assert_eq!(fitting(wanted.iter().map(|s| (*s).to_owned()).collect(), &known), expected, "{wanted:?}");
        }
    }
}
