//! The client.

use std::{io::Read, time::Duration};

use http::{HeaderMap, Uri};
use ureq::{
    Agent,
    config::Config,
    unversioned::{
        resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver},
        transport::{DefaultConnector, NextTimeout},
    },
};

use crate::{Allowed, FetchError, Guard};

/// Most redirects that are followed.
const REDIRECTS: u32 = 3;

/// Largest head of an answer.
const HEAD_BYTES: usize = 64 << 10;

/// Sends requests within its guard. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    guard: Guard,
    user_agent: String,
}

/// A request to read something. The default is 5 seconds for all of it, and 1 MiB.
#[derive(Clone, Debug)]
pub struct Get {
    url: String,
    headers: Vec<(String, String)>,
    time: Duration,
    limit: u64,
    cut: bool,
    allowed: Vec<Allowed>,
}

/// What came back.
#[derive(Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Headers.
    pub headers: HeaderMap,
    /// Body, or its beginning when it was to be cut.
    pub body: Vec<u8>,
    /// The address that answered, after redirects.
    pub url: String,
}

impl Response {
    /// A header as text; empty when there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default()
    }
}

impl Get {
    /// A request for this address.
    pub fn new(url: impl Into<String>) -> Self {
        Get {
            url: url.into(),
            headers: Vec::new(),
            time: Duration::from_secs(5),
            limit: 1 << 20,
            cut: false,
            allowed: Vec::new(),
        }
    }

    /// Sets a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Bounds the time of the whole, from the look-up of the host to the last byte.
    #[must_use]
    pub fn within(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// Bounds the body in bytes; a larger one is an error.
    #[must_use]
    pub fn at_most(mut self, bytes: u64) -> Self {
        (self.limit, self.cut) = (bytes, false);
        self
    }

    /// Reads only the first bytes of the body.
    #[must_use]
    pub fn first(mut self, bytes: u64) -> Self {
        (self.limit, self.cut) = (bytes, true);
        self
    }

    /// Lets this request, redirects included, reach something besides.
    #[must_use]
    pub fn allow(mut self, allowed: impl IntoIterator<Item = Allowed>) -> Self {
        self.allowed.extend(allowed);
        self
    }
}

impl Client {
    /// A client that says this of itself.
    pub fn new(guard: Guard, user_agent: impl Into<String>) -> Self {
        Client { guard, user_agent: user_agent.into() }
    }

    /// Sends a request and waits for its answer. Any status is an answer.
    ///
    /// # Errors
    /// When the address may not be asked, nobody answers in time, or the answer is too large.
    pub fn send(&self, get: &Get) -> Result<Response, FetchError> {
        let guard = self.guard.clone().with(get.allowed.iter().cloned());
        guard.check_uri(&get.url.parse().map_err(|_| FetchError::BadAddress)?)?;
        let config = Agent::config_builder()
            .timeout_global(Some(get.time))
            .max_redirects(REDIRECTS)
            .max_response_header_size(HEAD_BYTES)
            .max_idle_connections(0)
            .http_status_as_error(false)
            .save_redirect_history(true)
            // The environment's proxy would resolve names on its own, out of reach of the guard.
            .proxy(None)
            .user_agent(&self.user_agent)
            .build();
        let resolver = Guarded { guard, inner: DefaultResolver::default() };
        let agent = Agent::with_parts(config, DefaultConnector::default(), resolver);
        let request =
            get.headers.iter().fold(agent.get(&get.url), |request, (name, value)| request.header(name, value));
        let mut response = request.call()?;
        let url = ureq::ResponseExt::get_uri(&response).to_string();
        // The bound is on what comes out of the decoder; ureq's own is on what goes in.
        let bound = if get.cut { get.limit } else { get.limit.saturating_add(1) };
        let mut body = Vec::new();
        response.body_mut().as_reader().take(bound).read_to_end(&mut body)?;
        if body.len() as u64 > get.limit {
            return Err(FetchError::TooLarge(get.limit));
        }
        let (head, _) = response.into_parts();
        Ok(Response { status: head.status.as_u16(), headers: head.headers, body, url })
    }

    /// Whether an address is one that could be asked, as far as can be said without looking its host up.
    pub fn is_address(&self, get: &Get) -> bool {
        let guard = self.guard.clone().with(get.allowed.iter().cloned());
        get.url.parse().is_ok_and(|uri| guard.check_uri(&uri).is_ok())
    }

    /// Whether an address may be asked: looks its host up, and connects to nobody.
    ///
    /// # Errors
    /// Why it may not.
    pub fn check(&self, get: &Get) -> Result<(), FetchError> {
        let guard = self.guard.clone().with(get.allowed.iter().cloned());
        let uri: Uri = get.url.parse().map_err(|_| FetchError::BadAddress)?;
        guard.check_uri(&uri)?;
        let timeout = NextTimeout { after: get.time.into(), reason: ureq::Timeout::Resolve, ..NextTimeout::default() };
        Guarded { guard, inner: DefaultResolver::default() }.resolve(&uri, &Config::default(), timeout)?;
        Ok(())
    }
}

/// Resolves names, and gives out only addresses that the guard lets through. Every hop of a redirect comes by here, and
/// connects to what was given out.
#[derive(Debug)]
struct Guarded {
    guard: Guard,
    inner: DefaultResolver,
}

impl Resolver for Guarded {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let refused = |error: FetchError| ureq::Error::Other(Box::new(error));
        self.guard.check_uri(uri).map_err(refused)?;
        let found = match self.inner.resolve(uri, config, timeout) {
            // What the system says of a name that it does not know.
            Err(ureq::Error::Io(_)) => return Err(ureq::Error::HostNotFound),
            other => other?,
        };
        self.guard.check_addresses(uri, &found).map_err(refused)?;
        Ok(found)
    }
}
