//! The routes of `demo/v1`: every way of registering a route.

use serde_json::{Map, Value, json};
use svc_routing::{
    Link, Method, PermissionResult, Registry, Request, Response, Result, Route, allow_if, get, on, public,
    without_permission,
};
use svc_schema::{Arg, Args, Error, MethodKind, Notice, Notices, Sanitizer, Schema, Validator, build, dates};

use super::schema_args::schema_args;

const NAMESPACE: &str = "demo/v1";

/// Data about the caller that the routes use.
#[derive(Clone, Copy)]
pub(crate) struct Who {
    /// The user's id; zero for anonymous requests.
    pub(crate) id: fn(&Request) -> i64,
    /// Whether the user has a capability.
    pub(crate) can: fn(&Request, &str) -> bool,
    /// UUID of the application password used.
    pub(crate) app_password: fn(&Request) -> Option<String>,
}

/// Registers all routes, for a site in this time zone.
pub(crate) fn register(registry: &mut Registry, who: Who, zone: dates::SiteZone) -> std::result::Result<(), Notice> {
    let groups = [schema_tools(zone), arguments(), permissions(who), merging(), sources(), answers(), others(who)];
    groups.into_iter().flatten().try_for_each(|route| registry.route(NAMESPACE, route))
}

/// Converts objects as PHP's `json_encode` prints arrays: empty ones, and those with the keys of a list, become lists.
fn php(value: Value) -> Value {
    match value {
        Value::Array(list) => list.into_iter().map(php).collect(),
        Value::Object(map) => {
            let map: Map<String, Value> = map.into_iter().map(|(k, v)| (k, php(v))).collect();
            svc_php::list::list_shape(map.into())
        }
        scalar => scalar,
    }
}

/// An error inside of a value, as PHP's `json_encode` prints an error object.
fn php_error(error: Error) -> Value {
    let data: Map<String, Value> =
        error.data().map(|data| (error.code().to_owned(), data.clone())).into_iter().collect();
    json!({"errors": {error.code(): [error.message()]}, "error_data": data})
}

/// Echoes the request: method, route, URL parameters and declared arguments.
async fn echo(req: Request) -> Result {
    let declared = req.args().cloned().unwrap_or_default();
    let has = |name: &&str| req.has_param(name);
    let params: Map<String, Value> = declared
        .iter()
        .map(|(name, _)| name)
        .filter(has)
        .map(|name| (name.to_owned(), php(req.param(name).cloned().unwrap_or_default())))
        .collect();
    Ok(json!({"method": req.method().as_str(), "route": req.route(), "url": *req.params().url, "params": params})
        .into())
}

/// A callback that returns a constant.
fn fixed(value: Value) -> impl Fn(Request) -> std::future::Ready<Result> + Send + Sync + 'static {
    move |_| std::future::ready(Ok(value.clone().into()))
}

fn arg(source: Value) -> Arg {
    Arg::new(Schema::compile(source))
}

/// A property of the JSON body.
fn member(req: &Request, name: &str) -> Value {
    req.json().and_then(|json| json.get(name)).cloned().unwrap_or_default()
}

fn member_text(req: &Request, name: &str, or: &str) -> String {
    member(req, name).as_str().unwrap_or(or).to_owned()
}

/// The schema crate, by hand.
fn schema_tools(zone: dates::SiteZone) -> Vec<Route> {
    let post = |path: &str, callback: fn(&Request) -> Value| {
        let callback = move |req: Request| std::future::ready(Ok(Response::new(callback(&req))));
        Route::new(path).endpoint(on(Method::POST, callback, public))
    };
    let dates = move |req: Request| async move {
        let (text, utc): (String, bool) = (req.require("date")?, req.require("utc")?);
        let stamp = |forced| dates::parse_date(&text, forced).map_or(Value::Bool(false), Value::from);
        let pair = dates::date_with_gmt(&text, utc, &zone).map(|(local, gmt)| json!([local, gmt]));
        Ok(Response::new(json!({"timestamp": stamp(false), "forced_utc": stamp(true), "pair": pair})))
    };
    let dates = get(dates, public)
        .args(Args::new().with("date", build::string().required()).with("utc", build::boolean().default(false)));
    vec![
        Route::new("/schema").endpoint(on("GET, POST", echo, public).args(schema_args())),
        post("/validate", |req| {
            let (schema, value) = (Schema::compile(member(req, "schema")), member(req, "value"));
            let param = member_text(req, "param", "value");
            let show = |outcome: std::result::Result<Value, Error>| outcome.unwrap_or_else(|e| json!({"error": e.to_body()}));
            let valid = schema.validate(&value, &param).map(|()| Value::Bool(true));
            let cleaned = schema.sanitize_keeping_errors(value, &param, &mut Notices::new(), &mut php_error);
            json!({"valid": show(valid), "sanitized": php(show(cleaned))})
        }),
        post("/context", |req| {
            let schema = Schema::compile(member(req, "schema"));
            schema.filter_by_context(member(req, "data"), &member_text(req, "context", ""))
        }),
        post("/endpoint-args", |req| {
            let kind = match member_text(req, "method", "POST").as_str() {
                "POST" => MethodKind::Creatable,
                _ => MethodKind::Editable,
            };
            let args = svc_schema::endpoint_args(&member(req, "schema"), kind);
            args.iter().map(|(name, arg)| (name.to_owned(), described(arg))).collect::<Map<_, _>>().into()
        }),
        post("/closed-schema", |req| svc_schema::default_additional_properties_to_false(member(req, "schema"))),
        Route::new("/dates").endpoint(dates),
        Route::new("/fields").endpoint(get(
            fixed(json!({
                "a": {"b": {"c": 1, "d": 2}, "e": 3}, "list": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "f": null, "_private": true,
            })),
            public,
        )),
    ]
}

/// The schema of an argument, without callbacks.
fn described(arg: &Arg) -> Value {
    arg.source().clone()
}

/// Arguments with custom validation.
fn arguments() -> Vec<Route> {
    let mut fifth = arg(json!({"type": "string", "enum": ["p", "q"]}));
    (fifth.validate, fifth.sanitize) = (Validator::None, Sanitizer::None);
    let required = Args::new()
        .with("first", build::untyped().required())
        .with("second", build::integer().required())
        .with("third", build::untyped())
        .with("fourth", build::untyped())
        .with("fifth", fifth);
    let mut required = required;
    required.insert(
        "third",
        Arg::default()
            .validate_with(third_is_right)
            .sanitize_with(|value, _| Ok(text_of(&value).to_ascii_uppercase().into())),
    );
    required.insert(
        "fourth",
        Arg::default().sanitize_with(|value, _| match value.as_str() {
            Some("boom") => Err(Error::new("fx_fourth", "Fourth cannot be cleaned.").with_data(json!({"hint": 4}))),
            _ => Ok(text_of(&value).trim().into()),
        }),
    );
    vec![Route::new("/required").endpoint(on(Method::POST, echo, public).args(required))]
}

/// All sources of parameters.
fn sources() -> Vec<Route> {
    let items = Args::new().with("id", build::integer().maximum(500)).with("q", build::string());
    let source_args = Args::new().with("d", build::untyped().default("default"));
    vec![
        Route::new(r"/items/(?P<id>\d+)").endpoint(on("GET, POST, PUT, PATCH, DELETE", echo, public).args(items)),
        Route::new(r"/items/(?P<slug>[a-z-]+)").endpoint(get(echo, public)),
        Route::new(r"/items/(?P<id>\d+)/parts/(?P<part>[\w]+)").endpoint(get(echo, public)),
        Route::new(r"/sources(?:/(?P<p>[a-z]+))?")
            .endpoint(on("GET, POST, PUT, PATCH, DELETE", show_sources, public).args(source_args)),
    ]
}

/// A route for batches, and the caller.
fn others(who: Who) -> Vec<Route> {
    let who_am_i = move |req: Request| {
        std::future::ready(Ok(json!({"id": (who.id)(&req), "app_password": (who.app_password)(&req)}).into()))
    };
    vec![
        Route::new("/batchable").allow_batch().endpoint(on("POST, PUT, PATCH, DELETE", echo, public).args(
            Args::new().with("n", build::integer().required().maximum(10)).with("s", build::string().default("x")),
        )),
        Route::new("/whoami").endpoint(get(who_am_i, public)),
    ]
}

fn third_is_right(value: &Value, _name: &str) -> Result<bool> {
    match value.as_str() {
        Some("no") => Ok(false),
        Some("err") => Err(Error::new("fx_third", "Third is wrong.").with_data(json!({"hint": 3}))),
        _ => Ok(true),
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

async fn show_sources(req: Request) -> Result {
    let params = req.params();
    let kind = req
        .content_type()
        .map(|c| json!({"value": c.value, "type": c.kind, "subtype": c.subtype, "parameters": c.parameters}));
    let files: Vec<&str> = req.files().iter().map(|f| f.field.as_str()).collect();
    Ok(json!({
        "query": *params.query,
        "body": params.body,
        "json": req.json(),
        "url": *params.url,
        "p": req.param("p"),
        "d": req.param("d"),
        "is_json": req.content_type().is_some_and(|c| c.is_json()),
        "content_type": kind,
        "files": files,
        "all": params.merged(),
    })
    .into())
}

/// Permissions: every possible result.
fn permissions(who: Who) -> Vec<Route> {
    let tag = |default: &str| build::string().default(default);
    let common =
        Args::new().with("tag", tag("common")).with("note", build::string().describe("Shared note.").first(&["type"]));
    let own = Args::new().with("tag", tag("own").one_of(["own", "other"]));
    let item = build::object([("tag", build::string())]).compile();
    let item = move || {
        let mut shown = json!({"$schema": "http://json-schema.org/draft-04/schema#", "title": "multi"});
        if let (Some(shown), Some(item)) = (shown.as_object_mut(), item.source().as_object()) {
            shown.extend(item.clone());
        }
        shown
    };
    vec![
        Route::new("/multi")
            .args(common)
            .schema_with(move |_| item())
            .endpoint(get(echo, public))
            .endpoint(on(Method::POST, echo, may(who, "edit_posts")).args(own))
            .endpoint(on("PUT, PATCH", echo, may(who, "manage_options")))
            .endpoint(on(Method::DELETE, echo, allow_if(|_| false))),
        Route::new("/perm/(?P<mode>[a-z0-9_-]+)").endpoint(on("GET, POST", echo_decided, decide)),
        Route::new("/noperm").endpoint(without_permission(Method::GET, echo)),
        Route::new("/hidden").endpoint(get(echo, public).hidden()),
    ]
}

/// Allows users with this capability.
fn may(
    who: Who,
    capability: &'static str,
) -> impl Fn(Request) -> std::future::Ready<Result<()>> + Send + Sync + 'static {
    allow_if(move |req| (who.can)(req, capability))
}

async fn echo_decided(req: Request, _: PermissionResult) -> Result {
    echo(req).await
}

async fn decide(req: Request) -> Result<PermissionResult> {
    let when = |allowed| if allowed { PermissionResult::True } else { PermissionResult::Denied };
    match req.require::<String>("mode")?.as_str() {
        "true" => Ok(PermissionResult::True),
        "one" | "text" => Ok(PermissionResult::Truthy),
        // Only `false` and `null` refuse; zero does not.
        "zero" => Ok(PermissionResult::Truthy),
        "error" => Err(Error::new("fx_denied", "Denied by the fixture.").with_status(418)),
        "nostatus" => Err(Error::new("fx_denied_plain", "Denied without a status.")),
        "user" => Ok(when(req.is_authenticated())),
        _ => Ok(PermissionResult::Denied),
    }
}

/// The same route registered twice.
fn merging() -> Vec<Route> {
    let text =
        |path: &str, methods: &str, text: &str| Route::new(path).endpoint(on(methods, fixed(text.into()), public));
    vec![
        text("/override", "GET, POST", "first"),
        text("/override", "GET", "second").replace(),
        text("/merge", "GET", "merge get one"),
        text("/merge", "GET", "merge get two").endpoint(on("POST", fixed("merge post".into()), public)),
    ]
}

/// Statuses, errors and values of all types.
fn answers() -> Vec<Route> {
    vec![
        Route::new(r"/status/(?P<code>\d+)").endpoint(on("GET, POST", status, public)),
        Route::new("/error/(?P<kind>[a-z]+)").endpoint(get(error, public)),
        Route::new("/return/(?P<kind>[a-z]+)").endpoint(get(value, public)),
    ]
}

async fn status(req: Request) -> Result {
    let code: u16 = req.require::<String>("code")?.parse().unwrap_or(500);
    Ok(Response::new(json!({"code": code}))
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
            Error::new("fx_data", "With data.").with_data(json!({"status": 422, "list": [1, 2], "deep": {"a": null}}))
        }
        "empty" => Error::new("", "No code."),
        "many" => {
            let mut many = Error::new("fx_one", "First.").with_status(400);
            many.add("fx_one", "First again.", None);
            many.add("fx_two", "Second.", Some(json!({"status": 404})));
            many.add("fx_three", "Third.", None);
            many
        }
        "moredata" => {
            let mut more = Error::new("fx_more", "More data.").with_data(json!({"status": 400, "n": 1}));
            more.add_data(json!({"status": 403, "n": 2}), None);
            more.add_data(json!({"n": 3}), None);
            more
        }
        _ => unknown(),
    })
}

async fn value(req: Request) -> Result {
    Ok(match req.require::<String>("kind")?.as_str() {
        "null" => Value::Null.into(),
        "true" => Value::Bool(true).into(),
        "false" => Value::Bool(false).into(),
        "int" => json!(42).into(),
        "float" => json!(1.0).into(),
        "floats" => json!([0.1, 1e25, -0.0, 1.5, 100_000_000_000_000_000_000.0]).into(),
        "string" => json!("A \"quoted\" / slashed <b>text</b> & caf\u{e9} \u{1f600} \u{2028} end").into(),
        "list" => json!([1, "two", null]).into(),
        "emptylist" => json!([]).into(),
        "emptyobject" => json!({}).into(),
        "gaps" => json!({"0": "a", "2": "b"}).into(),
        "links" => links(&req),
        _ => return Err(unknown()),
    })
}

fn links(req: &Request) -> Response {
    let inside = |path: String| req.server().map(|s| s.rest_url(&path)).unwrap_or(path);
    let own = req.server().map(|s| s.site().brand.namespace()).unwrap_or_default();
    let resource = |path: &str| Link::new(inside(format!("/{own}/{path}")));
    let plain = || Link::new(inside(format!("/{NAMESPACE}/fields")));
    Response::new(json!({"title": "with links"}))
        .link("author", resource("users/1").embeddable())
        .link("related", resource("posts/1000").embeddable().attr("title", "a post"))
        .link("missing", resource("posts/999999").embeddable())
        .link("outside", Link::new("https://example.org/x").embeddable())
        .link("plain", plain())
        .link("https://api.w.org/thing", plain().embeddable())
        .link_header("next", "https://example.org/?page=2", &[])
}
