//! The HTTP client.

use std::{io::Read, time::Duration};

use http::{HeaderMap, Method, Request, Uri};
use tracing::Span;
use ureq::{
    Agent,
    config::Config,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

use crate::{Allowed, FetchError, Guard, guard};

/// Maximum number of redirects to follow.
const MAX_REDIRECTS: u32 = 3;

/// Maximum size of the response headers, in bytes.
const MAX_HEADER_BYTES: usize = 64 << 10;

/// A blocking HTTP client that only connects to addresses its [`Guard`] permits. Cheap to clone.
#[derive(Clone, Debug)]
pub struct GuardedClient {
    guard: Guard,
    user_agent: String,
}

/// A GET request. By default it has a total timeout of 5 seconds and a body limit of 1 MiB.
#[derive(Clone, Debug)]
pub struct Get {
    url: String,
    headers: Vec<(String, String)>,
    timeout: Duration,
    limit: u64,
    truncate: bool,
    allowed: Vec<Allowed>,
}

/// A response to a [`Get`] request, with any status code.
#[derive(Debug)]
pub struct FetchedResponse {
    /// Status code.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// The body, truncated if the request used [`Get::first`].
    pub body: Vec<u8>,
    /// The final URL, after redirects.
    pub url: String,
}

impl FetchedResponse {
    /// The value of a header as text; empty if the header is absent or not visible ASCII.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default()
    }
}

impl Get {
    /// Creates a request for `url`.
    pub fn new(url: impl Into<String>) -> Self {
        Get {
            url: url.into(),
            headers: Vec::new(),
            timeout: Duration::from_secs(5),
            limit: 1 << 20,
            truncate: false,
            allowed: Vec::new(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the total timeout, from DNS lookup to the last byte of the body.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the maximum size of the decoded body. A larger body fails with [`FetchError::TooLarge`].
    #[must_use]
    pub fn max_bytes(mut self, bytes: u64) -> Self {
        (self.limit, self.truncate) = (bytes, false);
        self
    }

    /// Reads at most this many bytes of the decoded body and discards the rest.
    #[must_use]
    pub fn first(mut self, bytes: u64) -> Self {
        (self.limit, self.truncate) = (bytes, true);
        self
    }

    /// Permits further targets for this request and its redirects.
    #[must_use]
    pub fn allow(mut self, allowed: impl IntoIterator<Item = Allowed>) -> Self {
        self.allowed.extend(allowed);
        self
    }
}

/// A POST request, or one with another method and a body. Redirects are not followed: the response is returned as it is.
#[derive(Clone, Debug)]
pub struct Post {
    method: Method,
    url: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    timeout: Duration,
    limit: u64,
    allowed: Vec<Allowed>,
}

impl Post {
    /// A request for `url` with this body, a total timeout of 5 seconds, of whose response at most 4 KiB are read.
    pub fn new(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let (headers, timeout, allowed) = (Vec::new(), Duration::from_secs(5), Vec::new());
        Post { method: Method::POST, url: url.into(), headers, body: body.into(), timeout, limit: 4 << 10, allowed }
    }

    /// Replaces the method, also by one that HTTP does not define, such as `PURGE`.
    #[must_use]
    pub fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Replaces the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Permits further targets for this request.
    #[must_use]
    pub fn allow(mut self, allowed: impl IntoIterator<Item = Allowed>) -> Self {
        self.allowed.extend(allowed);
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Sets the total timeout, from DNS lookup to the last byte of the body.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }
}

/// Reads a response, of its decoded body at most `limit` bytes.
fn read(mut response: http::Response<ureq::Body>, limit: u64) -> Result<FetchedResponse, FetchError> {
    let url = ureq::ResponseExt::get_uri(&response).to_string();
    let mut body = Vec::new();
    response.body_mut().as_reader().take(limit).read_to_end(&mut body)?;
    let (head, _) = response.into_parts();
    Ok(FetchedResponse { status: head.status.as_u16(), headers: head.headers, body, url })
}

/// The part of a trace that a request is.
struct ClientTrace {
    span: Span,
    /// With the header by which the server continues the trace; empty outside of a trace.
    headers: HeaderMap,
}

impl ClientTrace {
    fn begin(method: &Method, url: &str) -> Self {
        let uri = url.parse::<Uri>().unwrap_or_default();
        let span = svc_traces::client_span(method, uri.host().unwrap_or_default(), guard::port(&uri));
        let mut headers = HeaderMap::new();
        svc_traces::propagate(&span, &mut headers);
        ClientTrace { span, headers }
    }

    fn end(self, result: Result<FetchedResponse, FetchError>) -> Result<FetchedResponse, FetchError> {
        svc_traces::end_client_span(&self.span, result.as_ref().ok().map(|response| response.status));
        result
    }
}

impl GuardedClient {
    /// Creates a client that sends `user_agent` with every request.
    pub fn new(guard: Guard, user_agent: impl Into<String>) -> Self {
        GuardedClient { guard, user_agent: user_agent.into() }
    }

    /// Sends a request and waits for the response. Responses with an error status are returned like any other.
    ///
    /// # Errors
    /// If the URL is not permitted, the request fails or times out, or the response exceeds a limit.
    pub fn send(&self, get: &Get) -> Result<FetchedResponse, FetchError> {
        let guard = self.guard.clone().with(get.allowed.iter().cloned());
        guard.check_uri(&get.url.parse().map_err(|_| FetchError::InvalidUrl)?)?;
        let agent = self.agent(guard, get.timeout, MAX_REDIRECTS);
        let trace = ClientTrace::begin(&Method::GET, &get.url);
        let request =
            get.headers.iter().fold(agent.get(&get.url), |request, (name, value)| request.header(name, value));
        let request = trace.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        // Limit the decoded size; ureq's own limit applies to the encoded size.
        let limit = if get.truncate { get.limit } else { get.limit.saturating_add(1) };
        let fetched = trace.end(request.call().map_err(FetchError::from).and_then(|response| read(response, limit)))?;
        if fetched.body.len() as u64 > get.limit {
            return Err(FetchError::TooLarge(get.limit));
        }
        Ok(fetched)
    }

    /// Sends a POST request and waits for the response. Responses with an error status are returned like any other.
    ///
    /// # Errors
    /// If the URL is not permitted, or the request fails or times out.
    pub fn post(&self, post: &Post) -> Result<FetchedResponse, FetchError> {
        let guard = self.guard.clone().with(post.allowed.iter().cloned());
        guard.check_uri(&post.url.parse().map_err(|_| FetchError::InvalidUrl)?)?;
        let agent = self.agent(guard, post.timeout, 0);
        let trace = ClientTrace::begin(&post.method, &post.url);
        let request = Request::builder().method(&post.method).uri(&post.url);
        let request = post.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let request = trace.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let response = match post.body.is_empty() && post.method != Method::POST {
            true => agent.run(request.body(()).map_err(ureq::Error::from)?),
            false => agent.run(request.body(&post.body[..]).map_err(ureq::Error::from)?),
        };
        trace.end(response.map_err(FetchError::from).and_then(|response| read(response, post.limit)))
    }

    fn agent(&self, guard: Guard, timeout: Duration, max_redirects: u32) -> Agent {
        let config = Agent::config_builder()
            .timeout_global(Some(timeout))
            .max_redirects(max_redirects)
            .max_response_header_size(MAX_HEADER_BYTES)
            .max_idle_connections(0)
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .save_redirect_history(true)
            // A proxy from the environment would resolve host names itself, and so bypass the guard.
            .proxy(None)
            .user_agent(&self.user_agent)
            .build();
        let resolver = GuardedResolver { guard, inner: DefaultResolver::default() };
        Agent::with_parts(config, DefaultConnector::default(), resolver)
    }

    /// Returns whether the URL is valid and permitted, without looking up its host.
    pub fn is_permitted_url(&self, get: &Get) -> bool {
        let guard = self.guard.clone().with(get.allowed.iter().cloned());
        get.url.parse().is_ok_and(|uri| guard.check_uri(&uri).is_ok())
    }

    /// Checks that the URL is permitted, including the addresses of its host. Looks up the host, but does not connect.
    ///
    /// # Errors
    /// If the URL or an address of its host is not permitted, or the host cannot be resolved.
    pub fn check(&self, get: &Get) -> Result<(), FetchError> {
        let guard = self.guard.clone().with(get.allowed.iter().cloned());
        let uri: Uri = get.url.parse().map_err(|_| FetchError::InvalidUrl)?;
        guard.check_uri(&uri)?;
        let timeout =
            NextTimeout { after: get.timeout.into(), reason: ureq::Timeout::Resolve, ..NextTimeout::default() };
        GuardedResolver { guard, inner: DefaultResolver::default() }.resolve(&uri, &Config::default(), timeout)?;
        Ok(())
    }
}

/// Resolves names and returns only addresses that the guard permits. It runs for every hop of a redirect, and the
/// connection is made to the addresses that were checked.
#[derive(Debug)]
struct GuardedResolver {
    guard: Guard,
    inner: DefaultResolver,
}

impl Resolver for GuardedResolver {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let rejected = |error: FetchError| ureq::Error::Other(Box::new(error));
        self.guard.check_uri(uri).map_err(rejected)?;
        let addresses = match self.inner.resolve(uri, config, timeout) {
            // The system resolver reports an unknown name as an I/O error.
            Err(ureq::Error::Io(_)) => return Err(ureq::Error::HostNotFound),
            other => other?,
        };
        self.guard.check_addresses(uri, &addresses).map_err(rejected)?;
        Ok(addresses)
    }
}
