//! Read-only families: the entries of a registry, listed and fetched by their name.
//!
//! A family implements [`RegistryEntries`]. [`RegistryFamily`] is its controller: it runs the checks, prepares the
//! fields, and adds additional fields and links.

use std::{future::Future, sync::Arc};

use serde_json::Value;
use svc_resource::{Fields, Plan, View};
use svc_routing::{
    Controller, Endpoint, ExtraFields, Link, Links, Map, Request, Response, Result, Returns, Route, get,
};
use svc_schema::{Args, Error, Schema};
use svc_site::Site;
use svc_versions::Context;

use crate::{RestSite, encoded_items::ItemReader, item_cache::FamilyId, respond};

/// The entries of a registry: their fields, who may read them, and how they are returned.
pub trait RegistryEntries: Send + Sync + Sized + 'static {
    /// An entry with everything that its fields read.
    type Entry: Send + Sync + 'static;

    /// The object type that additional fields name.
    const OBJECT: &'static str;

    /// Whether the data of an entry never changes, apart from stored data that its links read. Lists then have no headers of
    /// their own.
    const CACHEABLE: bool = false;

    /// Whether a list omits the entries that cannot be prepared, instead of failing.
    const OMITS_FAILED: bool = false;

    /// The form of lists.
    const LIST: ListForm<Self::Entry> = ListForm::Array;

    /// The field table.
    fn fields() -> Fields<Self::Entry, ()>;

    /// Checks whether the caller may list the entries.
    ///
    /// # Errors
    /// 401 or 403 if the caller may not.
    fn check_list(rest: &Arc<RestSite>, req: &Request) -> Result<()>;

    /// The entries that the request lists.
    fn entries(rest: &Arc<RestSite>, req: &Request) -> impl Future<Output = Result<Listed<Self::Entry>>> + Send;

    /// Checks whether the caller may fetch the requested entry. Returns the entry if the check loads it.
    ///
    /// # Errors
    /// 401 or 403 if the caller may not; 404 if there is no such entry and `Allow` must not list the method.
    fn check_fetch(rest: &Arc<RestSite>, req: &Request) -> Result<Option<Self::Entry>> {
        Self::check_list(rest, req).map(|()| None)
    }

    /// The requested entry, if [`Self::check_fetch`] did not return it. By default there is none.
    ///
    /// # Errors
    /// 404 if there is no such entry.
    fn find(rest: &Arc<RestSite>, req: &Request) -> impl Future<Output = Result<Self::Entry>> + Send {
        let _ = (rest, req);
        std::future::ready(Err(Error::new("rest_not_found", "There is no such entry.").with_status(404)))
    }

    /// The planned fields of an entry.
    ///
    /// # Errors
    /// An error of the entry, if it cannot be returned with these fields.
    fn prepare(plan: &Plan<'_, Self::Entry, ()>, entry: &Self::Entry) -> Result<Map> {
        Ok(plan.prepare(entry))
    }

    /// Whether responses in this view have links.
    fn wants_links(view: &View) -> bool {
        view.wants_links()
    }

    /// The links of an entry.
    ///
    /// # Errors
    /// Database errors.
    fn links(rest: &Arc<RestSite>, entry: &Self::Entry, req: &Request) -> Result<Links> {
        let _ = (rest, entry, req);
        Ok(Links::new())
    }

    /// The routes of the family.
    fn routes(family: &RegistryFamily<Self>) -> Vec<Route<RegistryFamily<Self>>>;
}

/// The form of a list, with the key of an entry if it is an object.
pub enum ListForm<T> {
    /// An array.
    Array,
    /// An object.
    Object(fn(&T) -> &str),
    /// An object, or an array if it is empty, as PHP has it.
    ObjectUnlessEmpty(fn(&T) -> &str),
}

/// The entries of a list.
pub struct Listed<T> {
    /// The entries, in order.
    pub entries: Vec<T>,
    /// The headers of the response.
    pub response: Response,
}

impl<T> From<Vec<T>> for Listed<T> {
    /// A list without paging.
    fn from(entries: Vec<T>) -> Self {
        Listed { entries, response: Response::default() }
    }
}

/// The controller of a registry.
pub struct RegistryFamily<S: RegistryEntries> {
    pub(crate) rest: Arc<RestSite>,
    fields: Fields<S::Entry, ()>,
    schema: Schema,
    extra: ExtraFields,
    family: FamilyId,
}

impl<S: RegistryEntries> RegistryFamily<S> {
    /// The family on this site.
    pub fn new(rest: &Arc<RestSite>, extra: &ExtraFields) -> Self {
        let fields = S::fields().with_extra(extra, S::OBJECT);
        let schema = Schema::compile(fields.item_schema());
        let family = rest.item_cache.new_family();
        RegistryFamily { rest: Arc::clone(rest), fields, schema, extra: extra.clone(), family }
    }

    /// The field table, with the schemas of additional fields.
    pub fn fields(&self) -> &Fields<S::Entry, ()> {
        &self.fields
    }

    /// The route of the list.
    pub fn list_route(&self, path: impl Into<String>, args: Args) -> Route<Self> {
        self.route(path, self.list_endpoint(args))
    }

    /// The endpoint of the list.
    pub fn list_endpoint(&self, args: Args) -> Endpoint<Self> {
        let form = if matches!(S::LIST, ListForm::Array) { Returns::List } else { Returns::Map };
        self.endpoint(get(Self::list, Self::can_list).returns(form), args)
    }

    /// A route with the item schema and this endpoint.
    pub fn route(&self, path: impl Into<String>, endpoint: Endpoint<Self>) -> Route<Self> {
        Route::new(path).schema(self.schema.clone()).endpoint(endpoint)
    }

    fn endpoint(&self, endpoint: Endpoint<Self>, args: Args) -> Endpoint<Self> {
        let endpoint = if S::CACHEABLE { endpoint.cacheable() } else { endpoint };
        endpoint.args(args)
    }

    async fn can_list(self: Arc<Self>, req: Request) -> Result<()> {
        S::check_list(&self.rest, &req)
    }

    async fn list(self: Arc<Self>, req: Request) -> Result<Response> {
        // The targets of links in a map of entries are not embedded.
        if S::CACHEABLE
            && !req.has_param("_embed")
            && let Some(response) =
                self.reader(&req).whole(async |req: Request| Ok(self.listed(&req).await?.data)).await?
        {
            return Ok(response);
        }
        self.listed(&req).await
    }

    /// Reads responses as the request selects them.
    fn reader<'r>(&'r self, req: &'r Request) -> ItemReader<'r> {
        let cache = if S::CACHEABLE { self.rest.item_cache(req.cx(), &self.extra, S::OBJECT) } else { None };
        ItemReader::new(req, self.family, cache)
    }

    async fn listed(&self, req: &Request) -> Result<Response> {
        let Listed { entries, mut response } = S::entries(&self.rest, req).await?;
        let mut items = Vec::with_capacity(entries.len());
        for entry in entries {
            match self.prepare(&entry, req).await {
                Ok((item, links)) => items.push((entry, item, links)),
                Err(_) if S::OMITS_FAILED => {}
                Err(error) => return Err(error),
            }
        }
        response.data = match S::LIST {
            ListForm::Array => {
                items.into_iter().map(|(_, item, links)| respond::with_links(item, links, req)).collect()
            }
            ListForm::Object(_) if items.is_empty() => Value::Object(Map::new()),
            ListForm::Object(key) | ListForm::ObjectUnlessEmpty(key) => {
                respond::keyed(items.into_iter().map(|(entry, item, links)| (key(&entry).to_owned(), item, links)), req)
            }
        };
        Ok(response)
    }

    /// The response fields of an entry, and its links if they are requested.
    async fn prepare(&self, entry: &S::Entry, req: &Request) -> Result<(Map, Option<Links>)> {
        let view = respond::view(req);
        let mut item = S::prepare(&self.fields.plan(&view), entry)?;
        respond::add_extra(&self.extra, S::OBJECT, &mut item, req, &view).await?;
        let links = if S::wants_links(&view) { Some(S::links(&self.rest, entry, req)?) } else { None };
        Ok((item, links))
    }

    /// The response with one entry.
    pub(crate) async fn show(&self, entry: &S::Entry, req: &Request) -> Result<Response> {
        let (item, links) = self.prepare(entry, req).await?;
        Ok(respond::single(item, links))
    }

    /// The route of one entry.
    pub fn fetch_route(&self, path: impl Into<String>, args: Args) -> Route<Self> {
        self.route(path, self.endpoint(get(Self::fetch, Self::can_fetch), args))
    }

    async fn can_fetch(self: Arc<Self>, req: Request) -> Result<Option<S::Entry>> {
        S::check_fetch(&self.rest, &req)
    }

    async fn fetch(self: Arc<Self>, req: Request, found: Option<S::Entry>) -> Result<Response> {
        let entry = match found {
            Some(entry) => entry,
            None => S::find(&self.rest, &req).await?,
        };
        let make = async |req: Request| {
            let (item, links) = self.prepare(&entry, &req).await?;
            Ok(respond::with_links(item, links, &req))
        };
        match self.reader(&req).whole(make).await? {
            Some(response) => Ok(response),
            None => self.show(&entry, &req).await,
        }
    }
}

impl<S: RegistryEntries> Controller for RegistryFamily<S> {
    fn routes(&self) -> Vec<Route<Self>> {
        S::routes(self)
    }
}

/// The links of an entry to itself and to its list.
pub(crate) fn entry_links(own: impl Into<String>, list: impl Into<String>) -> Links {
    let mut links = Links::new();
    links.add("self", Link::new(own).allow(["GET"]));
    links.add("collection", Link::new(list));
    links
}

/// The URL of a path below the site's own namespace.
///
/// # Errors
/// Database errors.
pub(crate) fn route_url(cx: &Context, site: &Site, path: &str) -> Result<String> {
    Ok(site.settings(cx)?.urls.rest(&format!("/{}/{path}", site.brand.namespace())))
}
