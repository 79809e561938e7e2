//! Test harness: a complete site in process, with a copy of the recorded fixture in an SQLite file and all routes mounted.

use std::{path::Path, sync::Arc};

use serde_json::Value;
use svc_auth::Caller;
use svc_brand::Brand;
use svc_controllers::{RestSetup, RestSite, mount, site_info};
use svc_model::{PostType, Taxonomy, UserId};
use svc_routing::{Method, Registry, Request, Server};
use svc_site::caller::{caller_key, capabilities_key};
use svc_site::{Clock, MetaField, Settings, Site};
use svc_store::{MetaKind, Store, meta};
use svc_testkit::fixture;
use svc_versions::Context;
use tempfile::TempDir;

/// A site and the server on it.
pub(crate) struct Harness {
    /// The site.
    pub(crate) site: Arc<Site>,
    /// The site with its REST API.
    pub(crate) rest: Arc<RestSite>,
    /// The server with all routes.
    pub(crate) server: Server,
    /// The folder of the database; `None` for databases on a server.
    _folder: Option<TempDir>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct TestResponse {
    /// The status.
    pub(crate) status: u16,
    /// The headers, with names as sent.
    pub(crate) headers: Vec<(String, String)>,
    /// The JSON body; null if there is none.
    pub(crate) body: Value,
}

impl TestResponse {
    /// The error code; empty if the body is not an error.
    pub(crate) fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// A header, by name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }
}

impl Harness {
    /// A new copy of the fixture, with a custom post type and a custom taxonomy.
    pub(crate) fn new() -> Self {
        Self::with(|_| ())
    }

    /// [`Self::new`], with changes to the site's setup.
    pub(crate) fn with(change: impl FnOnce(&mut RestSetup)) -> Self {
        let (mut config, folder) = fixture::sqlite().unwrap();
        // A single reader, so that a request that needs two connections fails.
        config.readers = 1;
        Harness { _folder: Some(folder), ..Self::on(Store::open(&config).unwrap(), change) }
    }

    /// A server on a database that already has the fixture. Several servers may share a database.
    pub(crate) fn on(store: Store, change: impl FnOnce(&mut RestSetup)) -> Self {
        Self::of(RestSetup::new(store, Brand::default(), Path::new("no-such-folder")), change)
    }

    /// [`Self::with`] with this clock.
    pub(crate) fn at(clock: Clock, change: impl FnOnce(&mut RestSetup)) -> Self {
        let (config, folder) = fixture::sqlite().unwrap();
        let mut setup = RestSetup::new(Store::open(&config).unwrap(), Brand::default(), Path::new("no-such-folder"));
        setup.site.clock = clock;
        Harness { _folder: Some(folder), ..Self::of(setup, change) }
    }

    fn of(mut setup: RestSetup, change: impl FnOnce(&mut RestSetup)) -> Self {
        let book = PostType::new("book").labelled("Books", "Book").public().rest("books");
        setup.registries.types.register(book.supporting(&[
            "title",
            "editor",
            "author",
            "custom-fields",
            "revisions",
            "thumbnail",
        ]));
        setup.registries.taxonomies.register(Taxonomy::new("genre", &["book"]).hierarchical().rest("genres"));
        setup.registries.meta.register("term", "category", MetaField::new("fx_rank", "integer"));
        setup.registries.meta.register("term", "", MetaField::new("fx_any_term", "boolean"));
        setup.registries.meta.register("post", "post", MetaField::new("fx_string", "string"));
        setup.registries.meta.register("post", "post", MetaField::new("fx_integer", "integer"));
        setup.registries.meta.register("post", "post", MetaField::new("fx_strings", "string").list());
        // Application passwords do not require TLS.
        setup.site.environment = "local";
        change(&mut setup);
        let rest = setup.build().unwrap();
        let cx = Context::background();
        let mut registry = Registry::for_site(site_info(&cx, &rest.site).unwrap());
        mount(&cx, &mut registry, &rest).unwrap();
        let server = registry.build();
        assert!(server.notices().is_empty(), "{:?}", server.notices());
        Harness { site: Arc::clone(&rest.site), rest, server, _folder: None }
    }

    /// The caller for a user id of the fixture; `None` for 0.
    fn caller(&self, user: i64) -> Option<Caller> {
        if user == 0 {
            return None;
        }
        self.site
            .read(&Context::background(), |db| {
                let settings: Arc<Settings> = self.site.settings_in(db)?;
                let stored = meta::get(db, MetaKind::User, user, &format!("{}capabilities", db.prefix()))?;
                let capabilities = stored.unwrap_or_default().json();
                Ok(Some(Caller::new(UserId(user), settings.roles(db.prefix()).caps_of(&capabilities))))
            })
            .unwrap()
    }

    /// Sends a request as this user.
    pub(crate) async fn send(&self, user: i64, req: Request) -> TestResponse {
        let req = match self.caller(user) {
            Some(caller) => {
                let key = caller_key(caller.id, capabilities_key(&caller));
                req.with_caller(caller).with_extension(key)
            }
            None => req,
        };
        let served = self.server.serve(req).await;
        TestResponse {
            status: served.status.as_u16(),
            headers: served.headers.iter().map(|(n, v)| (n.to_owned(), v.to_owned())).collect(),
            body: served.body.into_value(),
        }
    }

    /// `GET` of a route with a query string.
    pub(crate) async fn get(&self, user: i64, route: &str, query: &str) -> TestResponse {
        self.send(user, Request::get(route).with_query_string(query)).await
    }

    /// A request with a JSON body.
    pub(crate) async fn json(&self, user: i64, method: Method, route: &str, body: Value) -> TestResponse {
        self.send(user, Request::new(method, route).with_json(&body)).await
    }

    /// Number of SQL statements that the store has executed.
    pub(crate) fn statements(&self) -> u64 {
        self.site.read(&Context::background(), |db| Ok(db.statement_count())).unwrap()
    }
}

/// An anonymous caller. The other constants are user ids of the fixture.
pub(crate) const NOBODY: i64 = 0;
/// An administrator.
pub(crate) const ADMIN: i64 = 1;
/// An author.
pub(crate) const AUTHOR: i64 = 3;
/// An editor.
pub(crate) const EDITOR: i64 = 2;
/// A contributor.
pub(crate) const CONTRIBUTOR: i64 = 5;
