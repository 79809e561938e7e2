//! A request for a page of the admin, and the REST API as its user sees it.

use std::collections::HashMap;

use http::Method;
use serde_json::{Map, Value};
use svc_auth::caps::Object;
use svc_login::{Form, PrivateRequest, UserSession};
use svc_routing::{Server, Validators};
use svc_schema::Error;
use svc_site::{access::Access, mail::accounts::NewUserMails};

use crate::Admin;

/// Nonce action of all forms of the admin.
pub(crate) const ACTION: &str = "admin-form";

/// A request for a page, with the user who sent it.
pub(crate) struct AdminRequest<'a> {
    pub(crate) admin: &'a Admin,
    pub(crate) parts: PrivateRequest,
    pub(crate) session: UserSession,
    server: Server,
}

/// A successful response of the REST API.
#[derive(Clone, Default)]
pub(crate) struct Reply {
    /// The data, with `_links` and `_embedded`.
    pub(crate) data: Value,
    /// Number of items on all pages of a list.
    pub(crate) total: u64,
    /// Number of pages of a list.
    pub(crate) pages: u64,
    /// The cursor of the previous page of a list that is read with cursors; empty on the first one.
    pub(crate) previous: String,
    /// The cursor of the next page of a list that is read with cursors; empty at the end.
    pub(crate) next: String,
    /// The state of the object, for [`Call::if_match`].
    pub(crate) state: String,
}

/// A request to the REST API that is being built.
pub(crate) struct Call<'a> {
    request: &'a AdminRequest<'a>,
    method: Method,
    route: String,
    query: Map<String, Value>,
    body: Option<Value>,
    if_match: Option<String>,
    mails: Option<NewUserMails>,
}

impl<'a> AdminRequest<'a> {
    pub(crate) fn new(admin: &'a Admin, parts: PrivateRequest, session: UserSession) -> Self {
        let server = (admin.pages.server)(parts.cx.transport());
        AdminRequest { admin, parts, session, server }
    }

    /// Reads from a route of the default namespace.
    pub(crate) fn get(&'a self, route: impl Into<String>) -> Call<'a> {
        self.call(Method::GET, route)
    }

    /// Writes to a route of the default namespace, or to one that begins with a slash.
    pub(crate) fn post(&'a self, route: impl Into<String>, body: Value) -> Call<'a> {
        Call { body: Some(body), ..self.call(Method::POST, route) }
    }

    /// A request with another method.
    pub(crate) fn call(&'a self, method: Method, route: impl Into<String>) -> Call<'a> {
        Call { request: self, method, route: route.into(), query: Map::new(), body: None, if_match: None, mails: None }
    }

    /// The responses to reads of these paths, which a script of the page then need not request.
    pub(crate) async fn preload(&self, paths: &[(Method, &str)]) -> Map<String, Value> {
        let caller = self.admin.pages.rest_request(&self.session, &self.parts, Method::GET, "/");
        self.server.preload(paths, &caller).await
    }

    /// A parameter of the page's URL.
    pub(crate) fn param(&self, name: &str) -> &str {
        self.parts.query.get(name)
    }

    /// A parameter of the page's URL that is an ID; `None` if it is not.
    pub(crate) fn id(&self, name: &str) -> Option<i64> {
        self.param(name).parse().ok().filter(|id| *id > 0)
    }

    /// Whether the user has this capability, which decides what the pages offer. What they may do is decided by the REST API.
    pub(crate) fn can(&self, capability: &str) -> bool {
        let access = Access::new(&self.admin.pages.identities.site, &self.session.settings);
        self.session.caller.can(capability, Object::None, &access)
    }

    /// The path of a page of the admin with a query: `edit.php` and `post_type=page`.
    pub(crate) fn url(&self, page: &str, query: &[(&str, &str)]) -> String {
        let page = format!("{}/{page}", self.admin.path);
        if query.is_empty() { page } else { svc_login::with_query(&page, query) }
    }

    /// The nonce of the page's forms.
    pub(crate) fn nonce(&self) -> String {
        self.admin.pages.identities.nonce(&self.parts.cx, ACTION, self.session.nonce_subject())
    }

    /// The nonce with which scripts send requests to the REST API.
    pub(crate) fn rest_nonce(&self) -> String {
        let identities = &self.admin.pages.identities;
        identities.nonce(&self.parts.cx, &identities.site.brand.nonce_action(), self.session.nonce_subject())
    }

    /// The names of these users, by ID. Users whom the caller may not see are missing.
    pub(crate) async fn names_of(&self, ids: &[i64]) -> Result<HashMap<i64, String>, Error> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
        let call =
            self.get("users").query("include", ids.join(",")).query("per_page", "100").query("_fields", "id,name");
        let users = call.send().await?.data;
        let name = |user: &Value| Some((user["id"].as_i64()?, text(user, "/name").to_owned()));
        Ok(users.as_array().into_iter().flatten().filter_map(name).collect())
    }
}

impl Call<'_> {
    /// Adds a query parameter; an empty one is left out.
    pub(crate) fn query(mut self, name: &str, value: impl Into<String>) -> Self {
        let value = value.into();
        if !value.is_empty() {
            self.query.insert(name.to_owned(), value.into());
        }
        self
    }

    /// Adds a query parameter, even if it is empty.
    pub(crate) fn value(mut self, name: &str, value: Value) -> Self {
        self.query.insert(name.to_owned(), value);
        self
    }

    /// Requires that the object is still in this state, unless it is empty.
    pub(crate) fn if_match(mut self, state: &str) -> Self {
        if !state.is_empty() {
            self.if_match = Some(format!("\"{state}\""));
        }
        self
    }

    /// Sets who is told about a new user.
    pub(crate) fn mails(mut self, mails: NewUserMails) -> Self {
        self.mails = Some(mails);
        self
    }

    /// Sends the request.
    ///
    /// # Errors
    /// The error of the REST API.
    pub(crate) async fn send(self) -> Result<Reply, Error> {
        let AdminRequest { admin, parts, session, server } = self.request;
        let mut request = admin.pages.rest_request(session, parts, self.method, &self.route).with_query(self.query);
        if let Some(state) = &self.if_match {
            request = request.with_header("if-match", state);
        }
        if let Some(body) = &self.body {
            request = request.with_json(body);
        }
        if let Some(mails) = self.mails {
            request = request.with_extension(mails);
        }
        let served = server.serve(request).await;
        let number = |name: &str| {
            let header = admin.pages.identities.site.brand.header(name);
            served.headers.get(&header).and_then(|text| text.parse().ok()).unwrap_or(0)
        };
        let (total, pages) = (number("Total"), number("TotalPages"));
        let links = served.headers.get("Link").unwrap_or_default();
        let (previous, next) = (cursor_of(links, "prev"), cursor_of(links, "next"));
        let Validators { state, .. } = served.validators;
        let data = served.body.into_value();
        if served.status.is_client_error() || served.status.is_server_error() {
            let error = Error::new(text(&data, "/code"), text(&data, "/message"));
            let error = error.with_data(data["data"].clone()).with_status(served.status.as_u16());
            return Err(error);
        }
        Ok(Reply { data, total, pages, previous, next, state: state.unwrap_or_default() })
    }

    /// The number of items on all pages of a list.
    ///
    /// # Errors
    /// The error of the REST API.
    pub(crate) async fn count(self) -> Result<u64, Error> {
        let call = Call { method: Method::HEAD, ..self };
        Ok(call.query("per_page", "1").send().await?.total)
    }
}

/// The cursor in the link with this relation, of the values of a `Link` header; empty if there is none.
fn cursor_of(links: &str, relation: &str) -> String {
    let relation = format!("rel=\"{relation}\"");
    let link = links.split('<').filter_map(|link| link.split_once('>')).find(|(_, rest)| rest.contains(&relation));
    let query = link.and_then(|(url, _)| url.split_once('?')).map_or("", |(_, query)| query);
    Form::parse(query).get("cursor").to_owned()
}

/// A text in a response; empty if it is missing.
pub(crate) fn text<'v>(data: &'v Value, pointer: &str) -> &'v str {
    data.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The items of a list.
pub(crate) fn items(data: &Value) -> &[Value] {
    data.as_array().map_or(&[], Vec::as_slice)
}
