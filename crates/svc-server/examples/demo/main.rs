//! A program with its own registrations: the routes, types, taxonomies, meta and fields of the recorded WordPress site.
//!
//! `cargo run -p svc-server --example demo -- serve`

mod abilities;
mod blocks;
mod routes;
mod schema_args;
mod types;

use svc_server::{SiteBuilder, auth::Caller, routing::Request};
use svc_site::caller::AppPassword;

fn caller(req: &Request) -> Option<&Caller> {
    req.caller::<Caller>()
}

fn main() -> std::process::ExitCode {
    let who = routes::Who {
        id: |req| caller(req).map_or(0, |c| c.id.0),
        can: |req, capability| caller(req).is_some_and(|c| c.has(capability)),
        app_password: |req| req.extensions().get::<AppPassword>().map(|used| used.0.clone()),
    };
    SiteBuilder::new()
        .prepare(types::register)
        .prepare(blocks::register)
        .prepare(abilities::register)
        .register(move |registry, rest| {
            let zone = types::zone(&rest.site);
            routes::register(registry, who, zone).expect("every demo route has a namespace and a path");
            types::fields(registry, &rest.site);
        })
        .command_line()
}
