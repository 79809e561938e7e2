//! The demo namespace: every kind of route that the framework can have, as the recordings of the peer know it.

#![allow(dead_code, reason = "each test binary uses its part")]

mod schema_args;

use serde_json::{Value, json};
use svc_routing::{
    Decision, Error, Link, Map, ParamOrder, Registry, Request, Response, Result, Route, SiteInfo, allow_if, get, on,
    public, without_permission,
};
use svc_schema::build::{boolean, integer, string, untyped};
use svc_schema::dates::{SiteZone, date_with_gmt, parse_date};
use svc_schema::{Arg, Args, MethodKind, Sanitizer, Schema, default_additional_properties_to_false, endpoint_args};

/// Namespace of the demo routes.
pub const NS: &str = "demo/v1";

/// Who calls in these tests.
#[derive(Clone, Debug)]
pub struct User {
    /// The user's id.
    pub id: u64,
    /// Whether he may edit posts.
    pub edits: bool,
    /// Whether he may manage the site.
    pub manages: bool,
}

impl User {
    /// The user with this name in the recordings.
    pub fn named(name: &str) -> Option<User> {
        Some(match name {
            "admin" => User { id: 1, edits: true, manages: true },
            "author1" => User { id: 3, edits: true, manages: false },
            "subscriber1" => User { id: 6, edits: false, manages: false },
            _ => return None,
        })
    }
}

fn object(map: &Map) -> Value {
    Value::Object(map.clone())
}

/// A value as PHP prints the arrays that it made of it: an empty map as a list.
fn php(value: Value) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(php).collect(),
        Value::Object(map) => {
            svc_php::list::list_shape(map.into_iter().map(|(k, v)| (k, php(v))).collect::<Map>().into())
        }
        scalar => scalar,
    }
}

async fn echo(req: Request) -> Result {
    let names = req.endpoint().map(|e| e.args().iter().map(|(n, _)| n.to_owned()).collect::<Vec<_>>());
    let params: Map = names
        .unwrap_or_default()
        .into_iter()
        .filter(|name| req.has_param(name))
        .map(|name| (name.clone(), php(req.param(&name).cloned().unwrap_or_default())))
        .collect();
    let url = object(&req.params().url);
    Ok(json!({ "method": req.method().as_str(), "route": req.route(), "url": url, "params": params }).into())
}

async fn echo_decided(req: Request, _: Decision) -> Result {
    echo(req).await
}

fn body(req: &Request, name: &str) -> Value {
    req.json().and_then(|json| json.get(name)).cloned().unwrap_or_default()
}

async fn validate(req: Request) -> Result {
    let schema = Schema::compile(body(&req, "schema"));
    let value = body(&req, "value");
    let param = body(&req, "param");
    let param = param.as_str().unwrap_or("value");
    let show = |result: std::result::Result<Value, Error>| result.unwrap_or_else(|e| json!({ "error": e.to_body() }));
    let valid = show(schema.validate(&value, param).map(|()| true.into()));
    Ok(json!({ "valid": valid, "sanitized": php(show(schema.sanitize(value, param))) }).into())
}

async fn context(req: Request) -> Result {
    let context = body(&req, "context");
    let data =
        Schema::compile(body(&req, "schema")).filter_by_context(body(&req, "data"), context.as_str().unwrap_or(""));
    Ok(data.into())
}

async fn args_of(req: Request) -> Result {
    let method = body(&req, "method");
    let kind = match method.as_str() {
        None | Some("POST") => MethodKind::Creatable,
        Some(_) => MethodKind::Editable,
    };
    let args = endpoint_args(&body(&req, "schema"), kind);
    let shown: Map = args.iter().map(|(name, arg)| (name.to_owned(), arg.source().clone())).collect();
    Ok(Value::Object(shown).into())
}

async fn closed_schema(req: Request) -> Result {
    Ok(default_additional_properties_to_false(body(&req, "schema")).into())
}

async fn dates(req: Request) -> Result {
    let (date, utc): (String, bool) = (req.require("date")?, req.require("utc")?);
    let zone = SiteZone::from_options("America/New_York", 0.0);
    let stamp = |force| parse_date(&date, force).map_or(json!(false), Value::from);
    let pair = date_with_gmt(&date, utc, &zone).map_or(Value::Null, |(local, gmt)| json!([local, gmt]));
    Ok(json!({ "timestamp": stamp(false), "forced_utc": stamp(true), "pair": pair }).into())
}

async fn fields(_: Request) -> Result {
    Ok(json!({
        "a": { "b": { "c": 1, "d": 2 }, "e": 3 },
        "list": [{ "x": 1, "y": 2 }, { "x": 3, "y": 4 }],
        "f": null,
        "_private": true,
    })
    .into())
}

async fn mode_permission(req: Request) -> Result<Decision> {
    let mode: String = req.require("mode")?;
    let user = if req.is_authenticated() { Decision::True } else { Decision::Denied };
    match mode.as_str() {
        "true" => Ok(Decision::True),
        "one" | "zero" | "text" => Ok(Decision::Truthy),
        "error" => Err(Error::new("fx_denied", "Denied by the fixture.").with_status(418)),
        "nostatus" => Err(Error::new("fx_denied_plain", "Denied without a status.")),
        "user" => Ok(user),
        _ => Ok(Decision::Denied),
    }
}

async fn sources(req: Request) -> Result {
    let p = req.params();
    let kind = req
        .content_type()
        .map(|k| json!({ "value": k.value, "type": k.kind, "subtype": k.subtype, "parameters": k.parameters }));
    Ok(json!({
        "query": object(&p.query), "body": object(&p.body), "json": req.json(), "url": object(&p.url),
        "p": req.param("p"), "d": req.param("d"),
        "is_json": req.content_type().is_some_and(|k| k.is_json()), "content_type": kind,
        "files": req.files().iter().map(|f| f.field.clone()).collect::<Vec<_>>(), "all": object(&p.merged()),
    })
    .into())
}

async fn status(req: Request) -> Result {
    let code: u16 = req.require::<String>("code")?.parse().unwrap_or(500);
    Ok(Response::new(json!({ "code": code }))
        .status(code)
        .header("X-Fixture", format!("status-{code}"))
        .header("X-Fixture-Two", "a")
        .add_header("X-Fixture-Two", "b"))
}

fn unknown() -> Error {
    Error::new("fx_unknown", "Unknown kind.").with_status(404)
}

async fn error(req: Request) -> Result {
    Err(match req.require::<String>("kind")?.as_str() {
        "plain" => Error::new("fx_plain", "A plain error."),
        "status" => Error::new("fx_status", "With a status.").with_status(409),
        "scalar" => Error::new("fx_scalar", "With scalar data.").with_data("scalar".into()),
        "data" => {
            let data = json!({ "status": 422, "list": [1, 2], "deep": { "a": null } });
            Error::new("fx_data", "With data.").with_data(data)
        }
        "empty" => Error::new("", "No code."),
        "many" => {
            let mut e = Error::new("fx_one", "First.").with_status(400);
            e.add("fx_one", "First again.", None);
            e.add("fx_two", "Second.", Some(json!({ "status": 404 })));
            e.add("fx_three", "Third.", None);
            e
        }
        "moredata" => {
            let mut e = Error::new("fx_more", "More data.").with_data(json!({ "status": 400, "n": 1 }));
            e.add_data(json!({ "status": 403, "n": 2 }), None);
            e.add_data(json!({ "n": 3 }), None);
            e
        }
        _ => unknown(),
    })
}

async fn kinds(req: Request) -> Result {
    Ok(match req.require::<String>("kind")?.as_str() {
        "null" => Value::Null,
        "true" => json!(true),
        "false" => json!(false),
        "int" => json!(42),
        "float" => json!(1.0),
        "floats" => json!([0.1, 1e25, -0.0, 1.5, 100_000_000_000_000_000_000.0]),
        "string" => json!("A \"quoted\" / slashed <b>text</b> & caf\u{e9} \u{1f600} \u{2028} end"),
        "list" => json!([1, "two", null]),
        "emptylist" => json!([]),
        "emptyobject" => json!({}),
        "gaps" => json!({ "0": "a", "2": "b" }),
        "links" => return links(&req),
        _ => return Err(unknown()),
    }
    .into())
}

fn links(req: &Request) -> Result {
    let server = req.server().ok_or_else(unknown)?;
    let ns = server.site().brand.namespace();
    let link = |path: &str| Link::new(server.rest_url(path));
    Ok(Response::new(json!({ "title": "with links" }))
        .link("author", link(&format!("{ns}/users/1")).embeddable())
        .link("related", link(&format!("{ns}/posts/1000")).embeddable().attr("title", "a post"))
        .link("missing", link(&format!("{ns}/posts/999999")).embeddable())
        .link("outside", Link::new("https://example.org/x").embeddable())
        .link("plain", link("demo/v1/fields"))
        .link("https://api.w.org/thing", link("demo/v1/fields").embeddable())
        .link_header("next", "https://example.org/?page=2", &[]))
}

async fn whoami(req: Request) -> Result {
    Ok(json!({ "id": req.caller::<User>().map_or(0, |u| u.id), "app_password": null }).into())
}

async fn text(text: &'static str) -> Result {
    Ok(Response::new(text))
}

fn third() -> Arg {
    Arg::default()
        .validate_with(|v, _| match v.as_str() {
            Some("no") => Ok(false),
            Some("err") => Err(Error::new("fx_third", "Third is wrong.").with_data(json!({ "hint": 3 }))),
            _ => Ok(true),
        })
        .sanitize_with(|v, _| Ok(v.as_str().unwrap_or_default().to_uppercase().into()))
}

fn fourth() -> Arg {
    Arg::default().sanitize_with(|v, _| match v.as_str() {
        Some("boom") => Err(Error::new("fx_fourth", "Fourth cannot be cleaned.").with_data(json!({ "hint": 4 }))),
        other => Ok(other.unwrap_or_default().trim().into()),
    })
}

/// Registers all demo routes.
pub fn register(r: &mut Registry) {
    let mut add = |route: Route| r.route(NS, route).expect("demo routes have a path");
    let id = r"/items/(?P<id>\d+)";

    add(Route::new("/schema").endpoint(on("GET, POST", echo, public).args(schema_args::all())));
    add(Route::new("/validate").endpoint(on("POST", validate, public)));
    add(Route::new("/context").endpoint(on("POST", context, public)));
    add(Route::new("/endpoint-args").endpoint(on("POST", args_of, public)));
    add(Route::new("/closed-schema").endpoint(on("POST", closed_schema, public)));
    let date = Args::new().with("date", string().required()).with("utc", boolean().default(false));
    add(Route::new("/dates").endpoint(get(dates, public).args(date)));
    add(Route::new("/fields").endpoint(get(fields, public)));
    let required = Args::new()
        .with("first", untyped().required())
        .with("second", integer().required())
        .with("third", third())
        .with("fourth", fourth())
        .with("fifth", Arg { sanitize: Sanitizer::None, ..string().one_of(["p", "q"]).into() });
    add(Route::new("/required").endpoint(on("POST", echo, public).args(required)));

    let common = Args::new().with("tag", string().default("common")).with("note", string().describe("Shared note."));
    let own = Args::new().with("tag", string().default("own").one_of(["own", "other"]));
    let edits = |req: &Request| req.caller::<User>().is_some_and(|u| u.edits);
    let manages = |req: &Request| req.caller::<User>().is_some_and(|u| u.manages);
    let schema = || {
        json!({ "$schema": "http://json-schema.org/draft-04/schema#", "title": "multi", "type": "object",
                "properties": { "tag": { "type": "string" } } })
    };
    add(Route::new("/multi")
        .args(common)
        .endpoint(get(echo, public))
        .endpoint(on("POST", echo, allow_if(edits)).args(own))
        .endpoint(on("PUT, PATCH", echo, allow_if(manages)))
        .endpoint(on("DELETE", echo, allow_if(|_| false)))
        .schema_with(schema));

    add(Route::new("/perm/(?P<mode>[a-z0-9_-]+)").endpoint(on("GET,POST", echo_decided, mode_permission)));
    add(Route::new("/noperm").endpoint(without_permission("GET", echo)));
    add(Route::new("/hidden").endpoint(get(echo, public).hidden()));
    add(Route::new("/override").endpoint(on("GET,POST", |_: Request| text("first"), public)));
    add(Route::new("/override").endpoint(get(|_: Request| text("second"), public)).replace());
    add(Route::new("/merge").endpoint(get(|_: Request| text("merge get one"), public)));
    add(Route::new("/merge").endpoint(get(|_: Request| text("merge get two"), public)).endpoint(on(
        "POST",
        |_: Request| text("merge post"),
        public,
    )));
    let item = Args::new().with("id", integer().maximum(500)).with("q", string());
    add(Route::new(id).endpoint(on("GET,POST,PUT,PATCH,DELETE", echo, public).args(item)));
    add(Route::new("/items/(?P<slug>[a-z-]+)").endpoint(get(echo, public)));
    add(Route::new(format!(r"{id}/parts/(?P<part>[\w]+)")).endpoint(get(echo, public)));
    let d = Args::new().with("d", untyped().default("default"));
    let all = "GET,POST,PUT,PATCH,DELETE";
    add(Route::new("/sources(?:/(?P<p>[a-z]+))?").endpoint(on(all, sources, public).args(d)));
    add(Route::new(r"/status/(?P<code>\d+)").endpoint(on("GET,POST", status, public)));
    add(Route::new("/error/(?P<kind>[a-z]+)").endpoint(get(error, public)));
    add(Route::new("/return/(?P<kind>[a-z]+)").endpoint(get(kinds, public)));
    let n = Args::new().with("n", integer().required().maximum(10)).with("s", string().default("x"));
    let batchable = on("POST,PUT,PATCH,DELETE", echo, public).args(n).allow_batch(true);
    add(Route::new("/batchable").endpoint(batchable));
    add(Route::new("/whoami").endpoint(get(whoami, public)));
}

/// The site that the recordings are of, with the demo namespace only.
pub fn registry(brand: &str, order: ParamOrder) -> Registry {
    let brand = svc_brand::Brand::new(brand).expect("a brand");
    let home = "http://127.0.0.1:8801";
    let facts = json!({
        "name": "Peer &amp; Site", "description": "Testing “quotes” &amp; more", "url": home, "home": home,
        "gmt_offset": -5, "timezone_string": "America/New_York",
    });
    let mut site = SiteInfo::new(brand.clone(), format!("{home}/{}/", brand.prefix()))
        .fixed_facts(facts.as_object().cloned().unwrap_or_default());
    site.param_order = order;
    let mut registry = Registry::for_site(site);
    register(&mut registry);
    registry
}
