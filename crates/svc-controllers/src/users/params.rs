//! Parameters of a list of users, and the query built from them.

use serde_json::{Map, Value, json};
use svc_auth::{Caller, UserVisibility, roles::Roles};
use svc_model::UserId;
use svc_resource::{Params, Typed};
use svc_routing::Request;
use svc_schema::{
    Error,
    build::{array, integer, string, types},
};
use svc_store::{
    Order,
    users::{UserColumn, UserOrderBy, UserQuery},
};

use super::{errors, rights};
use crate::{
    args::{context_param, one_line},
    errors::forbidden_context,
};
use svc_site::Site;

/// Maximum number of items per page.
const MAX_PER_PAGE: i64 = 100;

/// The parameters of a list request.
#[derive(Clone, Debug, Default)]
pub(super) struct UserList {
    page: u64,
    pub(super) per_page: u64,
    offset: Option<i64>,
    search: String,
    columns: Vec<UserColumn>,
    slugs: Vec<String>,
    roles: Vec<String>,
    capabilities: Vec<String>,
    authors: bool,
    published: Published,
    orderby: String,
    query: UserQuery,
}

/// The filter `has_published_posts`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Published {
    /// No filter.
    #[default]
    Any,
    /// Users with a post of a public type.
    Public,
    /// Users with a post of one of these types.
    Types(Vec<String>),
}

impl From<Value> for Published {
    fn from(value: Value) -> Self {
        match value {
            Value::Bool(true) => Published::Public,
            Value::Array(types) if !types.is_empty() => {
                Published::Types(types.iter().filter_map(Value::as_str).map(str::to_owned).collect())
            }
            _ => Published::Any,
        }
    }
}

fn ids(ids: Vec<i64>) -> Vec<UserId> {
    ids.into_iter().map(|id| UserId(id.saturating_abs())).collect()
}

/// The parameters of the list.
#[rustfmt::skip]
pub(super) fn params(site: &Site) -> Params<UserList> {
    let mut p = Params::<UserList>::new("users");
    // In WordPress's schema, this `enum` is an object.
    let rest_types: Map<String, Value> = rights::rest_types(site).map(|t| (t.to_owned(), t.into())).collect();
    let published = types(["boolean", "array"]).keyword("items", json!({"type": "string", "enum": rest_types}));
    p.add("context", context_param());
    p.add("page", integer().describe("Page number.").default(1).minimum(1)).set(|l, n| l.page = n);
    p.add("per_page", integer().describe("Number of items per page.").default(10).range(1..=MAX_PER_PAGE)).set(|l, n| l.per_page = n);
    p.add("search", string().describe("Only return users that match this search text.")).sanitize_with(one_line).set(|l, s| l.search = s);
    p.add("exclude", array(integer()).describe("Exclude users with these IDs.").default(json!([]))).set(|l, v| l.query.exclude = ids(v));
    p.add("include", array(integer()).describe("Only return users with these IDs.").default(json!([]))).set(|l, v| l.query.include = ids(v));
    p.add("offset", integer().describe("Number of items to skip.")).set(|l, n| l.offset = Some(n));
    p.add("order", string().describe("Sort direction.").default("asc").one_of(["asc", "desc"]).first(&["default", "description", "enum"]))
        .set(|l, o: String| l.query.order = if o == "asc" { Order::Asc } else { Order::Desc });
    p.add("orderby", string().describe("Sort key.").default("name").one_of(ORDERS).first(&["default", "description", "enum"])).set(|l, o| l.orderby = o);
    p.add("slug", array(string()).describe("Only return users with these slugs.")).set(|l, v| l.slugs = v);
    p.add("roles", array(string()).describe("Only return users with one of these roles.")).set(|l, v| l.roles = v);
    p.add("capabilities", array(string()).describe("Only return users with one of these capabilities.")).set(|l, v| l.capabilities = v);
    p.add("who", string().describe("Only return users who can write posts.").one_of(["authors"])).set(|l, who: String| l.authors = who == "authors");
    p.add("has_published_posts", published.describe("Only return users with published posts, optionally of these post types."))
        .set(|l, v: Value| l.published = v.into());
    p.add("search_columns", array(string().one_of(["email", "name", "id", "username", "slug"]).first(&["enum"])).default(json!([])).describe("Fields to search.").first(&["default"]))
        .set(|l, v: Vec<String>| l.columns = v.iter().filter_map(|c| column(c)).collect());
    crate::cursor::add_params(&mut p);
    p
}

const ORDERS: [&str; 8] = ["id", "include", "name", "registered_date", "slug", "include_slugs", "email", "url"];

fn column(name: &str) -> Option<UserColumn> {
    match name {
        "email" => Some(UserColumn::Email),
        "name" => Some(UserColumn::Name),
        "id" => Some(UserColumn::Id),
        "username" => Some(UserColumn::Login),
        "slug" => Some(UserColumn::Slug),
        _ => None,
    }
}

/// Checks that the caller may see the requested list.
///
/// # Errors
/// 401 or 403. Roles, capabilities and fields of context `edit` require `list_users`.
pub(super) fn check(site: &Site, caller: &Caller, req: &Request, list: &Typed<UserList>) -> Result<(), Error> {
    if site.policies.users.hides_from(caller) {
        return Err(errors::cannot_view(req));
    }
    let lists = rights::lists_users(caller);
    let UserList { roles, capabilities, orderby, authors, .. } = list.values();
    let by_rights = !roles.is_empty() || !capabilities.is_empty();
    if !lists && (by_rights || list.has_mismatch("roles") || list.has_mismatch("capabilities")) {
        return Err(errors::cannot_view(req));
    }
    if !lists && req.context() == "edit" {
        return Err(forbidden_context(req));
    }
    if !lists && matches!(orderby.as_str(), "email" | "registered_date") {
        return Err(errors::forbidden_orderby(req));
    }
    if *authors && !rights::lists_authors(site, caller) {
        return Err(errors::forbidden_who(req));
    }
    Ok(())
}

impl UserList {
    /// Number of users to skip. `offset` takes precedence over the page.
    fn skipped(&self) -> u64 {
        self.offset
            .map_or_else(
                || self.page.saturating_sub(1).saturating_mul(self.per_page),
                |offset| u64::try_from(offset).unwrap_or(0),
            )
            .min(i64::MAX as u64)
    }

    /// The page from which the links to the previous and next page are computed.
    pub(super) fn effective_page(&self) -> u64 {
        self.skipped().div_ceil(self.per_page.max(1)).saturating_add(1)
    }

    /// The query for one page of the list, limited to users that the caller may see.
    pub(super) fn into_query(self, site: &Site, roles: &Roles, caller: &Caller) -> UserQuery {
        let lists = rights::lists_users(caller);
        let (limit, offset) = (Some(self.per_page), self.skipped());
        let types = |public: bool| -> Vec<String> {
            let types = site
                .registries
                .types
                .iter()
                .filter(|t| t.show_in_rest || (public && lists))
                .filter(|t| t.public || !public);
            types.map(|t| t.name.clone()).collect()
        };
        let published = match self.published {
            Published::Types(types) => Some(types),
            Published::Public => Some(types(true)),
            // Callers without `list_users` see published authors; with `who=authors` they also see those without posts.
            Published::Any if !lists && !self.authors && site.policies.users != UserVisibility::Public => {
                Some(types(false))
            }
            Published::Any => None,
        };
        let search = svc_text::trim(&self.search).trim_matches('*').to_owned();
        let columns = columns(self.columns, &search, lists);
        let order_by = match self.orderby.as_str() {
            "id" => UserOrderBy::Id,
            "include" if !self.query.include.is_empty() => UserOrderBy::Include,
            "include_slugs" if !self.slugs.is_empty() => UserOrderBy::IncludeSlugs,
            "registered_date" => UserOrderBy::Registered,
            "slug" => UserOrderBy::Slug,
            "email" => UserOrderBy::Email,
            "url" => UserOrderBy::Url,
            // Without the list that they refer to, these orders are no order, or the order by login.
            "include_slugs" => UserOrderBy::Id,
            "include" => UserOrderBy::Login,
            _ => UserOrderBy::Name,
        };
        // The order of the slugs is used in either direction.
        let order = if self.orderby == "include_slugs" { Order::Asc } else { self.query.order };
        self.query
            .rights(self.roles.into_iter().chain(holders(self.capabilities, roles)).collect())
            .authors_only(self.authors)
            .published(published)
            .slugs(self.slugs)
            // `0` is empty in PHP.
            .search(Some(search).filter(|s| !s.is_empty() && s != "0"))
            .search_columns(columns)
            .order_by(order_by)
            .order(order)
            .limit(limit)
            .offset(offset)
            .total(true)
    }
}

/// The roles and capabilities stored with users who have one of these capabilities: the capability itself, or a role
/// with it.
fn holders(capabilities: Vec<String>, roles: &Roles) -> impl Iterator<Item = String> {
    let grant = |caps: &svc_auth::roles::CapSet| capabilities.iter().any(|cap| caps.grants(cap));
    let roles_with_cap: Vec<String> =
        roles.iter().filter(|(_, role)| grant(&role.capabilities)).map(|(key, _)| key.to_owned()).collect();
    roles_with_cap.into_iter().chain(capabilities)
}

/// The columns to search. Callers without `list_users` cannot search by e-mail address or web site. For others, the
/// columns depend on the form of the search text, unless the request lists them.
fn columns(requested: Vec<UserColumn>, text: &str, lists: bool) -> Vec<UserColumn> {
    use UserColumn::{Email, Id, Login, Name, Slug, Url};
    if !lists {
        let open: Vec<UserColumn> = requested.into_iter().filter(|column| *column != Email).collect();
        return if open.is_empty() { vec![Id, Login, Slug, Name] } else { open };
    }
    if !requested.is_empty() {
        return requested;
    }
    let is_url = ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme));
    match text {
        _ if text.contains('@') => vec![Email],
        _ if svc_php::numeric::is_numeric(&text.into()) => vec![Login, Id],
        _ if is_url => vec![Url],
        _ => vec![Login, Url, Email, Slug, Name],
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use svc_auth::roles::UserCaps;
    use svc_brand::Brand;
    use svc_site::{Registries, SiteSetup};
    use svc_store::{DatabaseUrl, Store, StoreConfig};

    use super::*;

    fn site() -> std::sync::Arc<Site> {
        SiteSetup::new(
            Store::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap(),
            Brand::default(),
            Path::new("none"),
        )
        .build(Registries::default())
        .unwrap()
    }

    fn caller(role: &str) -> Caller {
        let roles = Roles::default();
        let caps: UserCaps = roles.caps_of(&json!({role: true}));
        if role.is_empty() { Caller::anonymous() } else { Caller::new(UserId(9), caps) }
    }

    fn list(site: &Site, params_json: &Value) -> UserList {
        let params = params(site);
        let mut query = params.query_args().defaults();
        query.extend(params_json.as_object().unwrap().clone());
        params.typed(&Request::get("/list").with_query(query)).accepted().unwrap()
    }

    #[test]
    fn lists_require_permissions() {
        let site = site();
        // Role, parameters, error code. Recorded from WordPress.
        #[rustfmt::skip]
        let rows = [
            ("", json!({}), ""),
            ("", json!({"roles": ["author"], "who": "authors", "context": "edit"}), "rest_user_cannot_view"),
            ("editor", json!({"capabilities": ["edit_posts"]}), "rest_user_cannot_view"),
            ("", json!({"orderby": "email", "context": "edit"}), "rest_forbidden_context"),
            ("", json!({"orderby": "email", "who": "authors"}), "rest_forbidden_orderby"),
            ("", json!({"orderby": "registered_date"}), "rest_forbidden_orderby"),
            ("", json!({"orderby": "url"}), ""),
            ("", json!({"who": "authors"}), "rest_forbidden_who"),
            ("subscriber", json!({"who": "authors"}), "rest_forbidden_who"),
            ("contributor", json!({"who": "authors"}), ""),
            ("administrator", json!({"roles": ["author"], "who": "authors", "context": "edit", "orderby": "email"}), ""),
        ];
        for (role, params_json, code) in rows {
            let query = params_json.as_object().unwrap().clone();
            let request = Request::get("/svc/v2/users").with_query(query);
            let error = check(&site, &caller(role), &request, &params(&site).typed(&request)).err();
            assert_eq!(error.as_ref().map_or("", |e| e.code()), code, "{role} {params_json}");
        }
    }

    #[test]
    fn pages_and_offsets() {
        let site = site();
        for (params_json, skipped, effective_page) in [
            (json!({}), 0, 1),
            (json!({"page": 3, "per_page": 2}), 4, 3),
            (json!({"offset": 2}), 2, 2),
            (json!({"offset": 1, "page": 2, "per_page": 2}), 1, 2),
            (json!({"offset": -1, "page": 2}), 0, 1),
            (json!({"page": i64::MAX, "per_page": 100}), i64::MAX as u64, 92_233_720_368_547_760),
        ] {
            let list = list(&site, &params_json);
            assert_eq!((list.skipped(), list.effective_page()), (skipped, effective_page), "{params_json}");
        }
    }

    #[test]
    fn anonymous_callers_see_authors_only() {
        let site = site();
        let query = |role: &str, params_json: Value| {
            list(&site, &params_json).into_query(&site, &Roles::default(), &caller(role))
        };
        let n_types = |q: &UserQuery| q.published.as_ref().map_or(0, Vec::len);
        let all = rights::rest_types(&site).count();
        for (role, params_json, expected) in [
            ("", json!({}), all),
            ("editor", json!({}), all),
            ("editor", json!({"who": "authors"}), 0),
            ("", json!({"has_published_posts": false}), all),
            ("", json!({"has_published_posts": ["page"]}), 1),
            ("administrator", json!({}), 0),
            ("administrator", json!({"has_published_posts": []}), 0),
            ("administrator", json!({"has_published_posts": true}), 3),
        ] {
            assert_eq!(n_types(&query(role, params_json.clone())), expected, "{role} {params_json}");
        }
    }

    #[test]
    fn search_columns_depend_on_the_caller() {
        use UserColumn::{Email, Id, Login, Name, Slug, Url};
        let rows: [(&[UserColumn], &str, bool, &[UserColumn]); 9] = [
            (&[], "x", true, &[Login, Url, Email, Slug, Name]),
            (&[], "a@b", true, &[Email]),
            (&[], "12", true, &[Login, Id]),
            (&[], "https://x", true, &[Url]),
            (&[Name], "12", true, &[Name]),
            (&[], "a@b", false, &[Id, Login, Slug, Name]),
            (&[Email], "x", false, &[Id, Login, Slug, Name]),
            (&[Email, Name], "x", false, &[Name]),
            (&[Slug], "x", false, &[Slug]),
        ];
        for (params_json, text, lists, expected) in rows {
            assert_eq!(columns(params_json.to_vec(), text, lists), expected, "{params_json:?} {text}");
        }
    }

    #[test]
    fn search_texts_orders_and_capabilities() {
        let site = site();
        let query = |params_json: Value| {
            list(&site, &params_json).into_query(&site, &Roles::default(), &caller("administrator"))
        };
        for (text, expected) in [("*one*", Some("one")), (" x", Some("x")), ("*", None), ("0", None), ("", None)] {
            assert_eq!(query(json!({"search": text})).search.as_deref(), expected, "{text}");
        }
        for (params_json, expected) in [
            (json!({}), UserOrderBy::Name),
            (json!({"orderby": "include"}), UserOrderBy::Login),
            (json!({"orderby": "include", "include": [3]}), UserOrderBy::Include),
            (json!({"orderby": "include_slugs"}), UserOrderBy::Id),
            (json!({"orderby": "include_slugs", "slug": ["x"]}), UserOrderBy::IncludeSlugs),
        ] {
            assert_eq!(query(params_json.clone()).order_by, expected, "{params_json}");
        }
        let rights = query(json!({"roles": ["subscriber"], "capabilities": ["publish_posts", "x"]})).rights;
        assert_eq!(rights, ["subscriber", "administrator", "editor", "author", "publish_posts", "x"]);
        assert!(query(json!({"capabilities": []})).rights.is_empty());
    }
}
