//! The request, as permission callbacks, handlers and hooks receive it.

use std::any::Any;
use std::borrow::Cow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Extensions, HeaderMap, Method};
use serde::de::DeserializeOwned;
use serde_json::Value;
use svc_schema::{Args, Error, FieldSet, Notice, Notices};
use svc_versions::{Context, Transport};

use super::caller_key::CallerKey;
use super::error::{invalid_param, missing_param};
use super::json::JsonBody;
use super::methods::accepts_body;
use super::params::{ParamOrder, ParamSource, Params};
use crate::{Map, Result};

/// The server of a request, whose type the request does not know. It is turned back by
/// [`Request::server`](crate::Request::server), which the server defines.
pub(crate) type OpaqueServer = Arc<dyn Any + Send + Sync>;

/// A REST API request: effective method, route, parameters, headers, caller. Cheap to clone.
///
/// Parameters are parsed once: before a permission callback or handler runs, the arguments are validated and sanitized,
/// and both use the same values.
#[derive(Clone)]
pub struct Request(Arc<RequestParts>);

#[derive(Clone)]
struct RequestParts {
    method: Method,
    wire_method: Method,
    route: Arc<str>,
    params: Params,
    headers: Arc<HeaderMap>,
    body: Bytes,
    /// A body that was written to a temporary file.
    body_on_disk: Option<FileData>,
    json: JsonBody,
    files: Arc<Vec<File>>,
    extensions: Arc<Extensions>,
    authenticated: bool,
    server: Option<OpaqueServer>,
    /// The arguments of the matched endpoint.
    args: Option<Arc<Args>>,
    fields: OnceLock<Option<Arc<FieldSet>>>,
    depth: u8,
    cx: Context,
    notices: Option<Arc<Mutex<Notices>>>,
    /// Whether this request, or one made on its behalf, prevents caching of the response.
    is_uncacheable: Arc<AtomicBool>,
    /// Whether the response may be encoded already.
    takes_encoded: bool,
}

/// An uploaded file of a multipart body.
#[derive(Clone)]
pub struct File {
    /// The form field that carried it.
    pub field: String,
    /// The file's name as sent by the client. Do not use it as a path.
    pub name: String,
    /// The media type as sent by the client.
    pub content_type: String,
    /// Size in bytes.
    pub size: u64,
    /// Its content.
    pub data: FileData,
}

/// The content of an uploaded file.
#[derive(Clone)]
pub enum FileData {
    /// In memory.
    Memory(Bytes),
    /// In a temporary file, which is deleted when the last clone of the request is dropped.
    Disk(Arc<dyn AsRef<Path> + Send + Sync>),
}

/// A parsed `Content-Type` header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentType {
    /// `application/json`, in lower case.
    pub value: String,
    /// Before the slash.
    pub kind: String,
    /// After the slash.
    pub subtype: String,
    /// After the semicolon, as sent.
    pub parameters: String,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request").field("method", &self.0.method).field("route", &self.0.route).finish_non_exhaustive()
    }
}

impl Request {
    /// A request without parameters, headers, caller or [context](Request::with_cx). `route` has a leading slash.
    pub fn new(method: Method, route: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(RequestParts {
            params: Params { body_in_use: accepts_body(&method), ..Params::default() },
            wire_method: method.clone(),
            method,
            route: route.into(),
            headers: Arc::default(),
            body: Bytes::new(),
            body_on_disk: None,
            json: JsonBody::Absent,
            files: Arc::default(),
            extensions: Arc::default(),
            authenticated: false,
            server: None,
            args: None,
            fields: OnceLock::new(),
            depth: 0,
            cx: Context::background(),
            notices: None,
            is_uncacheable: Arc::default(),
            takes_encoded: false,
        }))
    }

    /// A `GET` request for this route.
    pub fn get(route: impl Into<Arc<str>>) -> Self {
        Self::new(Method::GET, route)
    }

    fn parts(&mut self) -> &mut RequestParts {
        let parts = Arc::make_mut(&mut self.0);
        parts.fields = OnceLock::new();
        parts
    }

    /// Sets the effective method. The method on the wire stays that of [`Request::new`].
    #[must_use]
    pub fn with_method(mut self, method: Method) -> Self {
        let parts = self.parts();
        parts.params.body_in_use = accepts_body(&method);
        parts.method = method;
        self
    }

    /// Sets the query parameters.
    #[must_use]
    pub fn with_query(mut self, query: Map) -> Self {
        self.parts().params.query = Arc::new(query);
        self
    }

    /// Parses the query parameters from a string, by PHP's rules (`a[]=1&b[k]=2`).
    #[must_use]
    pub fn with_query_string(self, query: &str) -> Self {
        self.with_query(svc_php::query::parse(query.as_bytes()))
    }

    /// Sets the fields of a form body.
    #[must_use]
    pub fn with_form(mut self, form: Map) -> Self {
        self.parts().params.body = form.into();
        self
    }

    /// Sets all headers.
    #[must_use]
    pub fn with_headers(mut self, headers: HeaderMap) -> Self {
        self.parts().headers = Arc::new(headers);
        self
    }

    /// Sets one header. Invalid names and values are ignored.
    #[must_use]
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) {
            Arc::make_mut(&mut self.parts().headers).insert(name, value);
        }
        self
    }

    /// Sets the body and parses it by the `Content-Type` header, which must be set before: JSON and form bodies become
    /// parameters. A malformed JSON body is reported when the request is dispatched (`rest_invalid_json`).
    ///
    /// For untrusted bodies use [`Request::with_body_bounded`].
    #[must_use]
    pub fn with_body(self, body: impl Into<Bytes>) -> Self {
        self.with_body_bounded(body, usize::MAX)
    }

    /// As [`Request::with_body`], with a limit on the number of JSON values. A larger body is not parsed, which is
    /// reported when the request is dispatched (`rest_too_many_values`). Forms have PHP's limit:
    /// [`MAX_VARIABLES`](svc_php::query::MAX_VARIABLES).
    #[must_use]
    pub fn with_body_bounded(mut self, body: impl Into<Bytes>, max_values: usize) -> Self {
        let body = body.into();
        let (is_json, is_form) = self
            .content_type()
            .map_or((false, false), |c| (c.is_json(), c.value == "application/x-www-form-urlencoded"));
        let parts = self.parts();
        if is_json {
            (parts.json, parts.params.json) = JsonBody::read(&body, max_values);
        } else if is_form {
            parts.params.body = svc_php::query::parse(&body).into();
        }
        parts.body = body;
        self
    }

    /// Sets a file as the body. If it is on disk, it is not parsed as parameters.
    #[must_use]
    pub fn with_body_file(mut self, file: FileData) -> Self {
        match file {
            FileData::Memory(body) => self.with_body(body),
            on_disk => {
                self.parts().body_on_disk = Some(on_disk);
                self
            }
        }
    }

    /// Sets a JSON body, including its content type.
    #[must_use]
    pub fn with_json(self, value: &Value) -> Self {
        self.with_header(CONTENT_TYPE.as_str(), "application/json").with_body(value.to_string())
    }

    /// Adds an uploaded file.
    #[must_use]
    pub fn with_file(mut self, file: File) -> Self {
        Arc::make_mut(&mut self.parts().files).push(file);
        self
    }

    /// Attaches a value that handlers and hooks can look up by type.
    #[must_use]
    pub fn with_extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        Arc::make_mut(&mut self.parts().extensions).insert(value);
        self
    }

    /// Sets the caller: an extension, and the request counts as authenticated (403 instead of 401). Set a [`CallerKey`]
    /// afterwards if data may be cached for the caller.
    #[must_use]
    pub fn with_caller<T: Clone + Send + Sync + 'static>(mut self, caller: T) -> Self {
        Arc::make_mut(&mut self.parts().extensions).remove::<CallerKey>();
        self.with_extension(caller).with_authenticated(true)
    }

    /// Sets whether the caller is logged in.
    #[must_use]
    pub fn with_authenticated(mut self, authenticated: bool) -> Self {
        self.parts().authenticated = authenticated;
        self
    }

    /// A request made on behalf of this one (embed, batch, preload). It has the same caller, context and extensions, but no
    /// headers or parameters.
    #[must_use]
    pub fn sub_request(&self, method: Method, route: impl Into<Arc<str>>) -> Self {
        let mut sub = Self::new(method, route);
        let parts = sub.parts();
        parts.extensions = Arc::clone(&self.0.extensions);
        parts.authenticated = self.0.authenticated;
        parts.server = self.0.server.clone();
        parts.depth = self.0.depth.saturating_add(1);
        parts.cx = self.0.cx.clone();
        parts.notices = self.0.notices.clone();
        parts.is_uncacheable = Arc::clone(&self.0.is_uncacheable);
        sub
    }

    /// The same request with a separate mark that its response is uncacheable.
    pub(crate) fn with_own_mark(mut self) -> Self {
        self.parts().is_uncacheable = Arc::default();
        self
    }

    /// Allows responses that are [encoded](crate::Encoded) already.
    pub(crate) fn with_encoded(mut self, takes_encoded: bool) -> Self {
        if self.0.takes_encoded != takes_encoded {
            self.parts().takes_encoded = takes_encoded;
        }
        self
    }

    /// Whether the response may be encoded already, because nothing needs to look into it. Otherwise the data must be in
    /// [`Response::data`](crate::Response::data).
    pub fn takes_encoded(&self) -> bool {
        self.0.takes_encoded
    }

    /// Prevents caching of the response, including that of the request that this one was made for.
    pub fn mark_uncacheable(&self) {
        self.0.is_uncacheable.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::mark_uncacheable`] was called, here or by a request made on behalf of this one.
    pub(crate) fn is_uncacheable(&self) -> bool {
        self.0.is_uncacheable.load(Ordering::Relaxed)
    }

    /// The effective method: after `_method` and `X-HTTP-Method-Override`.
    pub fn method(&self) -> &Method {
        &self.0.method
    }

    /// The method of the request line. Used only for caching and CORS.
    pub fn wire_method(&self) -> &Method {
        &self.0.wire_method
    }

    /// Whether only the headers are needed, so that the handler may skip rendering.
    pub fn is_head(&self) -> bool {
        self.0.method == Method::HEAD
    }

    /// The requested route: `/svc/v2/posts/5`.
    pub fn route(&self) -> &str {
        &self.0.route
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// A header's value, if it is ASCII or UTF-8, which clients use for file names.
    pub fn header(&self, name: &str) -> Option<&str> {
        std::str::from_utf8(self.0.headers.get(name)?.as_bytes()).ok()
    }

    /// The `Content-Type`; `None` if it is missing or has no slash.
    pub fn content_type(&self) -> Option<ContentType> {
        ContentType::parse(self.header(CONTENT_TYPE.as_str())?)
    }

    /// The body as sent; empty if it is a file on disk ([`Request::body_file`]).
    pub fn body(&self) -> &Bytes {
        &self.0.body
    }

    /// The body as sent, in memory or on disk.
    pub fn body_file(&self) -> FileData {
        self.0.body_on_disk.clone().unwrap_or_else(|| FileData::Memory(self.0.body.clone()))
    }

    /// The value of a JSON body; `None` if the body is absent, not JSON, or malformed.
    pub fn json(&self) -> Option<&Value> {
        self.0.params.json.body()
    }

    /// Uploaded files.
    pub fn files(&self) -> &[File] {
        &self.0.files
    }

    /// The uploaded file of a form field.
    pub fn file(&self, field: &str) -> Option<&File> {
        self.0.files.iter().find(|f| f.field == field)
    }

    /// The parameters by source.
    pub fn params(&self) -> &Params {
        &self.0.params
    }

    pub(crate) fn params_mut(&mut self) -> &mut Params {
        &mut self.parts().params
    }

    /// Sets one parameter in the source of highest precedence that has it, otherwise in the query.
    #[must_use]
    pub fn with_param(mut self, name: &str, value: impl Into<Value>) -> Self {
        let params = &mut self.parts().params;
        let source = params.sources().iter().copied().find(|s| params.get_from(*s, name).is_some());
        let source = source.filter(|s| *s != ParamSource::Defaults).unwrap_or(ParamSource::Query);
        params.insert(source, name.to_owned(), value.into());
        self
    }

    pub(crate) fn with_param_order(mut self, order: ParamOrder) -> Self {
        if self.0.params.order != order {
            self.parts().params.order = order;
        }
        self
    }

    /// A parameter; `None` if it is absent or `null`.
    pub fn param(&self, name: &str) -> Option<&Value> {
        self.0.params.get(name)
    }

    /// A parameter that the request contains; `None` if it is absent or `null`, even if it has a default.
    pub fn sent_param(&self, name: &str) -> Option<&Value> {
        self.0.params.get_sent(name)
    }

    /// The arguments of the endpoint that the request contains, by name, without those that are `null`.
    pub fn sent_args(&self) -> Vec<(Cow<'_, str>, &Value)> {
        let Some(args) = &self.0.args else { return Vec::new() };
        let sent = self.0.params.sent().filter(|(_, name, value)| !value.is_null() && args.get(name).is_some());
        // The sources are in order of precedence, which the stable sort preserves.
        let mut sent: Vec<_> = sent.map(|(_, name, value)| (name, value)).collect();
        sent.sort_by(|(a, _), (b, _)| a.cmp(b));
        sent.dedup_by(|(a, _), (b, _)| a == b);
        sent
    }

    /// Whether any source has the parameter, including defaults and `null`.
    pub fn has_param(&self, name: &str) -> bool {
        self.0.params.has(name)
    }

    /// A parameter as a Rust value; `None` if it is absent or `null`.
    ///
    /// # Errors
    /// `rest_invalid_param` (400) if the value cannot be deserialized to `T`.
    pub fn arg<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        match self.param(name) {
            None => Ok(None),
            Some(value) => T::deserialize(value).map(Some).map_err(|_| invalid_param(name)),
        }
    }

    /// A required parameter.
    ///
    /// # Errors
    /// `rest_missing_callback_param` (400) if it is absent, `rest_invalid_param` (400) if it cannot be deserialized to
    /// `T`.
    pub fn require<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        self.arg(name)?.ok_or_else(|| missing_param(name))
    }

    /// The `context` parameter; `view` by default.
    pub fn context(&self) -> &str {
        self.param("context").and_then(Value::as_str).unwrap_or("view")
    }

    /// The fields selected by `_fields`, if present.
    pub fn fields(&self) -> Option<&FieldSet> {
        // A list that is too long was rejected before dispatch.
        let parse = |value| FieldSet::parse(value).ok();
        let compiled = || self.param("_fields").and_then(parse).filter(|set| !set.is_everything()).map(Arc::new);
        self.0.fields.get_or_init(compiled).as_deref()
    }

    /// Whether `_fields` includes this field (dotted for nested ones).
    pub fn wants(&self, field: &str) -> bool {
        self.fields().is_none_or(|set| set.is_included(field))
    }

    /// Whether the index of the site has links: `_fields` includes them or what is embedded from them, or `_embed` requires them.
    pub fn wants_index_links(&self) -> bool {
        self.wants("_links") || self.wants("_embedded") || self.has_param("_embed")
    }

    /// Values attached by the server or the embedding program.
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// The caller, if it was set with this type.
    pub fn caller<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.extensions.get()
    }

    /// The key under which data for the caller is cached; `None` if it is unknown.
    pub fn caller_key(&self) -> Option<CallerKey> {
        if self.0.authenticated { self.extensions().get().copied() } else { Some(CallerKey::ANONYMOUS) }
    }

    /// Whether the caller is logged in.
    pub fn is_authenticated(&self) -> bool {
        self.0.authenticated
    }

    /// Status of an authorization error: 401 for anonymous callers, otherwise 403.
    pub fn authorization_status(&self) -> u16 {
        if self.0.authenticated { 403 } else { 401 }
    }

    /// The server that dispatches this request; `None` before dispatch.
    pub(crate) fn opaque_server(&self) -> Option<&OpaqueServer> {
        self.0.server.as_ref()
    }

    /// Sets the server, unless the request already has one. In debug mode, the request then collects notices.
    pub(crate) fn with_opaque_server<S: Any + Send + Sync>(mut self, server: &Arc<S>, debug: bool) -> Self {
        if self.0.server.is_none() {
            let parts = self.parts();
            parts.server = Some(Arc::<S>::clone(server));
            if debug && parts.notices.is_none() {
                parts.notices = Some(Arc::default());
            }
        }
        self
    }

    /// The arguments of the matched endpoint, including those of its route; `None` before a route is matched, and for
    /// `OPTIONS`.
    pub fn args(&self) -> Option<&Args> {
        self.0.args.as_deref()
    }

    /// Sets the URL parameters of the matched route, and the arguments and defaults of the matched endpoint.
    pub(crate) fn with_args(mut self, url: Arc<Map>, defaults: Arc<Map>, args: Option<Arc<Args>>) -> Self {
        let parts = self.parts();
        parts.params.url = url;
        parts.params.defaults = defaults;
        parts.args = args;
        self
    }

    /// The nesting level of requests inside requests: 0 for one from a client.
    pub fn depth(&self) -> u8 {
        self.0.depth
    }

    /// Sets the context: that of the request as a whole, or of a part of it that records what it depends on.
    #[must_use]
    pub fn with_cx(mut self, cx: Context) -> Self {
        self.parts().cx = cx;
        self
    }

    /// The context, which everything that reads or writes for the request takes as an argument. A request made on behalf of
    /// another one has its context.
    pub fn cx(&self) -> &Context {
        &self.0.cx
    }

    /// How the client reached the site.
    pub fn transport(&self) -> Transport {
        self.0.cx.transport()
    }

    /// Whether the client reached the site over TLS. Source: `is_ssl`.
    pub fn is_over_tls(&self) -> bool {
        self.transport().is_tls()
    }

    /// Whether browsers treat the site as a secure context: over TLS, or if its host is `localhost` or below that.
    pub fn is_secure_origin(&self) -> bool {
        self.transport().is_secure()
    }

    /// Records a developer notice. It is sent as a response header in debug mode, otherwise dropped.
    pub fn notice(&self, notice: Notice) {
        if let Some(notices) = &self.0.notices {
            notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
        }
    }

    /// Whether notices are recorded, which is the case in debug mode.
    pub(crate) fn collects_notices(&self) -> bool {
        self.0.notices.is_some()
    }

    /// The notices recorded so far.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.0
            .notices
            .as_ref()
            .map_or_else(Vec::new, |n| n.lock().unwrap_or_else(PoisonError::into_inner).clone().into_vec())
    }

    /// Returns the error of a malformed JSON body.
    pub(crate) fn check_json(&self) -> std::result::Result<(), Error> {
        self.0.json.check()
    }
}

impl ContentType {
    /// Parses a header's value; `None` if there is no slash in it.
    pub fn parse(header: &str) -> Option<Self> {
        let (value, parameters) = header.split_once(';').unwrap_or((header, ""));
        let value = value.trim().to_ascii_lowercase();
        let (kind, subtype) = value.split_once('/')?;
        Some(Self {
            kind: kind.to_owned(),
            subtype: subtype.to_owned(),
            parameters: parameters.trim().to_owned(),
            value,
        })
    }

    /// Whether this is JSON: `application/json` or `application/…+json`, each with an optional `+oembed` suffix.
    pub fn is_json(&self) -> bool {
        self.value.split([' ', '\t', ',']).any(|media| {
            let media = media.strip_suffix("+oembed").unwrap_or(media);
            let Some(name) = media.strip_prefix("application/") else { return false };
            name == "json" || name.strip_suffix("+json").is_some_and(|prefix| !prefix.is_empty())
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_content_types() {
        for (header, want) in [
            ("application/json", true),
            ("APPLICATION/JSON; charset=utf-8", true),
            ("application/vnd.api+json", true),
            ("application/json+oembed", true),
            ("application/+json", false),
            ("application/foo+json+x", false),
            ("text/json", false),
        ] {
            assert_eq!(ContentType::parse(header).unwrap().is_json(), want, "{header}");
        }
        assert!(ContentType::parse("json").is_none());
    }

    #[test]
    fn null_falls_through_to_the_next_source() {
        let req = Request::new(Method::POST, "/x").with_query_string("a=q&b=1").with_json(&json!({"a": null, "b": 2}));
        assert_eq!(req.arg::<String>("a").unwrap().as_deref(), Some("q"));
        assert_eq!(req.require::<u8>("b").unwrap(), 2);
        assert_eq!(req.arg::<Vec<u8>>("b").unwrap_err().code(), "rest_invalid_param");
        assert_eq!(req.require::<u8>("c").unwrap_err().code(), "rest_missing_callback_param");
    }

    #[test]
    fn sub_requests_keep_only_the_caller() {
        let req = Request::get("/a").with_caller(7_u32).with_query_string("x=1").with_header("x-a", "1");
        let sub = req.sub_request(Method::GET, "/b");
        assert!(!sub.is_over_tls() && !sub.is_secure_origin());
        let sub_over_tls = req.with_cx(Context::request(Transport::Tls)).sub_request(Method::GET, "/b");
        assert!(sub_over_tls.is_over_tls() && sub_over_tls.is_secure_origin());
        assert_eq!((sub.caller::<u32>(), sub.is_authenticated(), sub.depth()), (Some(&7), true, 1));
        assert!(!sub.has_param("x") && sub.headers().is_empty());
        assert!(!Request::get("/a").is_authenticated());
    }

    #[test]
    fn bodies_are_read_by_their_content_type() {
        let post = |content_type: &str, body: &'static str| {
            Request::new(Method::POST, "/x").with_header("content-type", content_type).with_body_bounded(body, 3)
        };
        let form = post("application/x-www-form-urlencoded", "a=1&b[]=2");
        assert_eq!((form.param("a"), form.param("b")), (Some(&json!("1")), Some(&json!(["2"]))));
        let json = post("application/json", r#"{"a": 1}"#);
        assert_eq!((json.param("a"), json.json()), (Some(&json!(1)), Some(&json!({"a": 1}))));
        let text = post("text/plain", "a=1");
        assert_eq!((text.param("a"), text.json(), &text.body()[..]), (None, None, &b"a=1"[..]));
        // Rows: a JSON body, and the code of its error. PHP considers the body 0 empty.
        for (body, code) in [
            ("", None),
            ("0", None),
            ("[1, 2]", None),
            ("{", Some("rest_invalid_json")),
            ("[1, 2, 3]", Some("rest_too_many_values")),
        ] {
            let error = post("application/json", body).check_json().err();
            assert_eq!(error.as_ref().map(Error::code), code, "{body}");
        }
        // Fields of a form are parameters of requests with a body only.
        let fields = || serde_json::Map::from_iter([("a".to_owned(), json!(1))]);
        for (method, expected) in [(Method::GET, None), (Method::POST, Some(&json!(1)))] {
            assert_eq!(Request::new(method, "/x").with_form(fields()).param("a"), expected);
        }
    }

    #[test]
    fn files_are_found_by_their_field() {
        let file = |field: &str| File {
            field: field.to_owned(),
            name: "n".to_owned(),
            content_type: "text/plain".to_owned(),
            size: 1,
            data: FileData::Memory(Bytes::from_static(b"x")),
        };
        let req = Request::new(Method::POST, "/x").with_file(file("a")).with_file(file("b"));
        assert_eq!(req.files().len(), 2);
        assert_eq!(req.file("b").map(|file| file.field.as_str()), Some("b"));
        assert!(req.file("c").is_none());
    }

    #[test]
    fn sent_parameters_do_not_include_defaults() {
        let map = |value: Value| Arc::new(value.as_object().cloned().unwrap_or_default());
        let integer = svc_schema::build::integer;
        let args = Args::from([("id", integer()), ("a", integer()), ("b", integer()), ("c", integer())]);
        let req =
            Request::new(Method::POST, "/x").with_query_string("b=2&other=3").with_json(&json!({"b": 1, "a": null}));
        assert!(req.sent_args().is_empty(), "no endpoint matched yet");
        let req = req.with_args(map(json!({"id": "7"})), map(json!({"c": 5})), Some(Arc::new(args)));
        let sent: Vec<_> =
            req.sent_args().into_iter().map(|(name, value)| (name.into_owned(), value.clone())).collect();
        assert_eq!(sent, [("b".to_owned(), json!(1)), ("id".to_owned(), json!("7"))]);
        assert_eq!((req.sent_param("b"), req.sent_param("a"), req.sent_param("c")), (Some(&json!(1)), None, None));
        assert_eq!(req.param("c"), Some(&json!(5)));
    }

    #[test]
    fn with_param_changes_the_source_that_has_the_parameter() {
        let map = |value: Value| Arc::new(value.as_object().cloned().unwrap_or_default());
        let req = Request::new(Method::POST, "/x").with_json(&json!({"a": 1})).with_query_string("a=q&b=q");
        let req = req.with_args(Arc::default(), map(json!({"c": 3})), None);
        let req = req.with_param("a", 10).with_param("b", 20).with_param("c", 30);
        assert_eq!(req.params().json.get("a"), Some(&json!(10)));
        assert_eq!(Value::Object((*req.params().query).clone()), json!({"a": "q", "b": 20, "c": 30}));
        assert_eq!(req.params().defaults["c"], 3);
    }

    #[test]
    fn notices_are_recorded_in_debug_mode() {
        let notice = || Notice::new(svc_schema::NoticeKind::DoingItWrong, "f", "m");
        for debug in [false, true] {
            let req = Request::get("/x").with_opaque_server(&Arc::new(()), debug);
            req.notice(notice());
            assert_eq!((req.collects_notices(), req.notices().len()), (debug, usize::from(debug)));
        }
    }

    #[test]
    fn the_wire_method_stays_when_the_method_is_overridden() {
        let req = Request::new(Method::POST, "/x").with_method(Method::DELETE);
        assert_eq!((req.wire_method(), req.method()), (&Method::POST, &Method::DELETE));
        assert_eq!(format!("{req:?}"), r#"Request { method: DELETE, route: "/x", .. }"#);
    }
}
