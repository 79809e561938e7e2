//! The demo namespace, which has every kind of route that the framework supports. These are the routes of the server's
//! example, without a server.
#![allow(dead_code, reason = "each test binary uses its part")]

#[path = "../../../svc-server/examples/demo/routes.rs"]
mod routes;
#[path = "../../../svc-server/examples/demo/schema_args.rs"]
mod schema_args;

use serde_json::json;
use svc_routing::{ParamOrder, Registry, SiteInfo};
use svc_schema::dates::SiteZone;

/// Namespace of the demo routes.
pub const NS: &str = "demo/v1";

/// The caller in these tests.
#[derive(Clone, Debug)]
pub struct User {
    /// The user's id.
    pub id: i64,
    /// The user's capabilities.
    pub caps: &'static [&'static str],
}

impl User {
    /// The user with this name in the recordings.
    pub fn named(name: &str) -> Option<User> {
        Some(match name {
            "admin" => User { id: 1, caps: &["edit_posts", "manage_options"] },
            "author1" => User { id: 3, caps: &["edit_posts"] },
            "subscriber1" => User { id: 6, caps: &[] },
            _ => return None,
        })
    }
}

/// The site of the recordings, with the demo namespace only.
pub fn registry(brand: &str, order: ParamOrder) -> Registry {
    let brand = svc_brand::Brand::new(brand).expect("a brand");
    let home = "http://127.0.0.1:8801";
    let index_fields = json!({
        "name": "Peer &amp; Site", "description": "Testing “quotes” &amp; more", "url": home, "home": home,
        "gmt_offset": -5, "timezone_string": "America/New_York",
    });
    let mut site = SiteInfo::new(brand.clone(), format!("{home}/{}/", brand.prefix()))
        .fixed_index_fields(index_fields.as_object().cloned().unwrap_or_default());
    site.param_order = order;
    // As the recorded WordPress.
    site.append_root_link = order == ParamOrder::UrlFirst;
    let mut registry = Registry::for_site(site);
    let who = routes::Who {
        id: |req| req.caller::<User>().map_or(0, |user| user.id),
        can: |req, cap| req.caller::<User>().is_some_and(|user| user.caps.contains(&cap)),
        app_password: |_| None,
    };
    let zone = SiteZone::from_options("America/New_York", 0.0);
    routes::register(&mut registry, who, zone).expect("every route has a namespace and a path");
    registry
}
