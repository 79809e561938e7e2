//! Sessions follow the site's clock.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use axum::{Router, body::Body};
use chrono::{DateTime, NaiveDateTime};
use http::{Request, Response, StatusCode, header};
use svc_auth::{Keys, password, roles::Roles};
use svc_brand::Brand;
use svc_login::{Attempts, Identities, LoginPages};
use svc_model::User;
use svc_routing::Registry;
use svc_site::{Registries, SiteSetup};
use svc_store::{DatabaseUrl, Store, StoreConfig, StoredText, options, schema, users};
use tower::ServiceExt;

const DAY: i64 = 86_400;

/// 2023-11-14 22:13:20 UTC.
const START: i64 = 1_700_000_000;

/// The time of the site's clock, in seconds since the epoch.
static NOW: AtomicI64 = AtomicI64::new(START);

fn clock() -> NaiveDateTime {
    DateTime::from_timestamp(NOW.load(Ordering::Relaxed), 0).unwrap().naive_utc()
}

/// The log-in pages of a site with the user `ada` and the password `secret`.
fn pages() -> Router {
    let store = Store::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap();
    store.write_blocking(schema::install).unwrap();
    let hash = password::hash(b"secret").unwrap();
    store
        .write_blocking(move |tx| {
            for name in ["siteurl", "home"] {
                options::set(tx, name, &StoredText::of("http://localhost"), true)?;
            }
            let roles = format!("{}user_roles", tx.prefix());
            options::set(tx, &roles, &StoredText::of(Roles::default().to_value()), true)?;
            let user = User { login: "ada".to_owned(), pass: hash.clone(), ..User::default() };
            users::insert(tx, &user).map(drop)
        })
        .unwrap();
    let keys = Keys::resolve(|name| Some(format!("the secret {name}")), |_| None).unwrap();
    let mut setup = SiteSetup::new(store, Brand::default(), Path::new("no-such-folder"));
    (setup.keys, setup.clock) = (Some(keys.clone()), clock);
    let site = setup.build(Registries::default()).unwrap();
    let server = Registry::new().build();
    let pages = LoginPages {
        identities: Arc::new(Identities::new(site, keys)),
        attempts: Arc::new(Attempts::default()),
        server: Box::new(move |_| server.clone()),
        local: true,
        explorer: None,
        admin: false,
    };
    svc_login::router(Arc::new(pages), "")
}

async fn send(pages: &Router, request: Request<Body>) -> Response<Body> {
    pages.clone().oneshot(request).await.unwrap()
}

/// Status of the account page for a client with these cookies.
async fn profile_status(pages: &Router, cookies: &str) -> StatusCode {
    let request = Request::get("/wp-admin/profile.php").header(header::COOKIE, cookies);
    send(pages, request.body(Body::empty()).unwrap()).await.status()
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_start_and_expire_by_the_clock_of_the_site() {
    let pages = pages();
    let form = "log=ada&pwd=secret&rememberme=forever";
    let response = send(&pages, Request::post("/wp-login.php").body(Body::from(form)).unwrap()).await;
    assert_eq!(response.status(), StatusCode::FOUND);
    let set: Vec<&str> =
        response.headers().get_all(header::SET_COOKIE).iter().map(|value| value.to_str().unwrap()).collect();
    // 14 days, and the 12 hours for which browsers keep expired cookies.
    assert!(set.iter().all(|c| c.contains("; Expires=Wed, 29 Nov 2023 10:13:20 GMT; Max-Age=1252800;")), "{set:?}");
    let cookies = set.iter().filter_map(|c| c.split(';').next()).collect::<Vec<_>>().join("; ");

    assert_eq!(profile_status(&pages, &cookies).await, StatusCode::OK);
    NOW.store(START + 14 * DAY - 1, Ordering::Relaxed);
    assert_eq!(profile_status(&pages, &cookies).await, StatusCode::OK);
    NOW.store(START + 14 * DAY + 1, Ordering::Relaxed);
    assert_eq!(profile_status(&pages, &cookies).await, StatusCode::FOUND, "redirected to the log-in page");
}
