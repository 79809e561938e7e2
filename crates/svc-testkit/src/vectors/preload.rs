//! Test vectors for preloaded responses (`rest_preload_api_request`), on a new site with the brand of the recordings.

use std::{path::Path, sync::OnceLock};

use anyhow::Result;
use serde_json::{Value, json};
use svc_auth::{Caller, roles::Roles};
use svc_brand::Brand;
use svc_controllers::{RestSetup, mount, site_info};
use svc_model::{Post, Term, User, UserId};
use svc_routing::{Method, Registry, Request, Server};
use svc_store::{DatabaseUrl, Store, StoreConfig, StoreError, Tx, options, posts, schema, terms, users};

use super::{Outcome, Vector};

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    if vector.function != "rest_preload_api_request" {
        return None;
    }
    static SITE: OnceLock<Option<Server>> = OnceLock::new();
    let server = SITE.get_or_init(|| server().inspect_err(|error| eprintln!("no site for vectors: {error:#}")).ok());
    Some(preload(server.as_ref()?, vector.arg(1), vector.arg(2)["user"].as_str()).into())
}

/// The preloaded responses for a user with this role.
fn preload(server: &Server, path: &Value, role: Option<&str>) -> Value {
    let (path, method) = match path {
        Value::Array(both) if both.len() == 2 => (&both[0], both[1].as_str().unwrap_or_default()),
        path => (path, ""),
    };
    let method = if method == "OPTIONS" { Method::OPTIONS } else { Method::GET };
    let path = svc_php::cast::to_text(path);
    let mut caller = Request::get("/");
    if let Some(role) = role {
        caller = caller.with_caller(Caller::new(UserId(1), Roles::default().caps_of(&json!({ role: true }))));
    }
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return Value::Null };
    runtime.block_on(server.preload(&[(method, path.as_ref())], &caller)).into()
}

/// A new site as WordPress installs it: one user, one category, one post.
fn server() -> Result<Server> {
    let mut config = StoreConfig::new(DatabaseUrl::Temporary);
    config.durable = false;
    let store = Store::open(&config)?;
    store.write_blocking(install)?;
    let mut setup = RestSetup::new(store, Brand::original(), Path::new("no-such-folder"));
    setup.site.environment = "local";
    let rest = setup.build()?;
    let cx = svc_routing::Context::background();
    let mut registry = Registry::for_site(site_info(&cx, &rest.site)?);
    mount(&cx, &mut registry, &rest)?;
    Ok(registry.build())
}

fn install(tx: &mut Tx) -> Result<(), StoreError> {
    schema::install(tx)?;
    let rows = [
        ("siteurl", "http://example.org"),
        ("home", "http://example.org"),
        ("permalink_structure", "/%postname%/"),
        ("default_category", "1"),
    ];
    rows.iter().try_for_each(|(name, value)| options::set(tx, name, &svc_store::StoredText::of(*value), true))?;
    let author = users::insert(
        tx,
        &User {
            login: "admin".to_owned(),
            nicename: "admin".to_owned(),
            display_name: "admin".to_owned(),
            url: "http://example.org".to_owned(),
            ..User::default()
        },
    )?;
    let term = Term {
        taxonomy: "category".to_owned(),
        name: "Uncategorized".to_owned(),
        slug: "uncategorized".to_owned(),
        ..Term::default()
    };
    let term = terms::insert(tx, &term)?;
    let date = chrono::NaiveDate::from_ymd_opt(2024, 1, 1).and_then(|day| day.and_hms_opt(0, 0, 0));
    let post = Post {
        author,
        date,
        date_gmt: date,
        modified: date,
        modified_gmt: date,
        title: "Hello".to_owned(),
        content: "Hello".to_owned(),
        status: "publish".to_owned(),
        slug: "hello-world".to_owned(),
        post_type: "post".to_owned(),
        ..Post::default()
    };
    let post = posts::insert(tx, &post)?;
    terms::set_object_terms(tx, post, "category", &[term.id])
}
