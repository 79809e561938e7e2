//! Forwards requests to the upstream: a web server, or scripts behind FastCGI.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{Method, Request, Response, request::Parts};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout},
};
use tracing::Instrument as _;

use crate::{
    body::Body,
    failure::Failure,
    fastcgi::{FastCgi, ScriptRoute, open},
    headers::{self, Origin, has_passed},
    http_client::HttpClient,
    options::{Options, ProxyLimits},
    upstream::{Address, Upstream},
};

/// Requests that wait for a slot: so many per slot, and at least this number. Further ones are rejected at once.
const WAITING_PER_SLOT: usize = 4;
const WAITING: usize = 256;

/// Minimum time between two log lines about loops.
const REPORT_LOOP: Duration = Duration::from_secs(60);

/// A reverse proxy to one upstream. Cheap to clone.
#[derive(Clone)]
pub struct Proxy(Arc<Inner>);

struct Inner {
    client: Client,
    upstream: Upstream,
    /// Name of this proxy in `Via`.
    name: String,
    limits: ProxyLimits,
    slots: Arc<Semaphore>,
    waiting: Semaphore,
    /// When a loop was logged.
    loop_reported: Mutex<Option<Instant>>,
}

/// The turn of a request: until it is used or dropped, others may have to wait.
#[derive(Debug)]
pub struct Turn(OwnedSemaphorePermit);

enum Client {
    Http(Box<HttpClient>),
    FastCgi(Box<FastCgi>),
}

impl Proxy {
    /// A proxy to this upstream. `name` identifies this process in `Via`, so that a loop is recognized; it must be a token.
    /// [`ProxyLimits`] suffice as options for a web server; FastCGI requires a [`Site`](crate::Site).
    pub fn new(upstream: Upstream, name: impl Into<String>, options: impl Into<Options>) -> Self {
        let (name, Options { limits, site }) = (name.into(), options.into());
        let client = match &upstream.0 {
            Address::Http(authority) => {
                Client::Http(Box::new(HttpClient::new(authority.clone(), name.clone(), limits)))
            }
            Address::FastCgi(_) | Address::Socket(_) => {
                Client::FastCgi(Box::new(FastCgi::new(upstream.clone(), site, limits)))
            }
        };
        let slots = limits.requests.clamp(1, Semaphore::MAX_PERMITS / WAITING_PER_SLOT);
        Proxy(Arc::new(Inner {
            client,
            upstream,
            name,
            limits,
            slots: Arc::new(Semaphore::new(slots)),
            waiting: Semaphore::new((slots * WAITING_PER_SLOT).max(WAITING)),
            loop_reported: Mutex::default(),
        }))
    }

    /// The upstream.
    pub fn upstream(&self) -> &Upstream {
        &self.0.upstream
    }

    /// Whether the upstream accepts connections. Nothing is sent.
    pub async fn connects(&self) -> bool {
        timeout(self.0.limits.connect, open(&self.0.upstream)).await.is_ok_and(|opened| opened.is_ok())
    }

    /// Forwards a request and returns the upstream's response. The body of either is streamed; FastCGI gets a request when its body
    /// has been received as a whole. In front of FastCGI, files of the site are responses of this server.
    ///
    /// # Errors
    /// If the request must not be forwarded, or the upstream did not respond.
    pub async fn forward(&self, request: Request<Body>, origin: Origin) -> Result<Response<Body>, Failure> {
        self.send(request, origin, None).await
    }

    /// The same without another wait: for callers that have to know when the request is sent.
    ///
    /// # Errors
    /// If the request must not be forwarded, or the upstream did not respond.
    pub async fn forward_in_turn(
        &self,
        request: Request<Body>,
        origin: Origin,
        turn: Turn,
    ) -> Result<Response<Body>, Failure> {
        self.send(request, origin, Some(turn)).await
    }

    /// Waits until a request may be sent.
    ///
    /// # Errors
    /// If too many wait, or it takes too long.
    pub async fn turn(&self) -> Result<Turn, Failure> {
        let Inner { slots, waiting, limits, .. } = &*self.0;
        if let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
            return Ok(Turn(slot));
        }
        let _waiting = waiting.try_acquire().map_err(|_| Failure::Busy)?;
        let slot = timeout(limits.response, Arc::clone(slots).acquire_owned()).await;
        slot.ok().and_then(Result::ok).map(Turn).ok_or(Failure::Busy)
    }

    async fn send(
        &self,
        request: Request<Body>,
        origin: Origin,
        turn: Option<Turn>,
    ) -> Result<Response<Body>, Failure> {
        if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
            return Err(Failure::Method);
        }
        if has_passed(request.headers(), &self.0.name) {
            self.report_loop();
            return Err(Failure::Loop);
        }
        let (parts, body) = request.into_parts();
        headers::check(&parts)?;
        match &self.0.client {
            Client::Http(client) => {
                let Turn(slot) = self.turn_or(turn).await?;
                self.traced(parts, |parts| client.forward(Request::from_parts(parts, body), origin, slot)).await
            }
            Client::FastCgi(client) => match client.route(&parts).await? {
                ScriptRoute::Response(response) => Ok(response),
                ScriptRoute::Script(script) => {
                    let Turn(slot) = self.turn_or(turn).await?;
                    self.traced(parts, |parts| client.run(script, parts, body, origin, slot)).await
                }
            },
        }
    }

    async fn turn_or(&self, turn: Option<Turn>) -> Result<Turn, Failure> {
        match turn {
            Some(turn) => Ok(turn),
            None => self.turn().await,
        }
    }

    /// Sends a request as a part of the trace of the received one, if that is traced; the upstream continues it.
    async fn traced<F>(&self, mut parts: Parts, send: impl FnOnce(Parts) -> F) -> Result<Response<Body>, Failure>
    where
        F: Future<Output = Result<Response<Body>, Failure>>,
    {
        let upstream = self.upstream();
        let span = svc_traces::client_span(&parts.method, upstream.host(), Some(upstream.port()));
        svc_traces::propagate(&span, &mut parts.headers);
        let response = send(parts).instrument(span.clone()).await;
        svc_traces::end_client_span(&span, response.as_ref().ok().map(|response| response.status().as_u16()));
        response
    }

    /// Logs a request that came back, at most once in a while: a client can cause it as well, since it sees the name in `Via`.
    fn report_loop(&self) {
        let mut reported = self.0.loop_reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.is_none_or(|at| at.elapsed() >= REPORT_LOOP) {
            *reported = Some(Instant::now());
            let upstream = self.upstream().authority();
            tracing::warn!(
                upstream,
                "a request has passed this server before: the upstream sends requests back, or a client claims it"
            );
        }
    }
}
