//! The authentication stage. The embedding program supplies an [`Authenticator`], which runs before dispatch.

use http::{HeaderMap, Method};
use svc_routing::{BoxFuture, Context, Cost, Error, Request};

/// The parts of a request that an authenticator may use.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Credentials {
    /// The method on the wire.
    pub wire_method: Method,
    /// The effective method, after `X-HTTP-Method-Override` and `_method`.
    pub method: Method,
    /// The route.
    pub route: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The nonce from the form or query parameter, otherwise from the header.
    pub nonce: Option<String>,
    /// What the request costs, as estimated from the parameters that were sent.
    pub cost: Cost,
    /// The context of the request.
    pub cx: Context,
    /// The extensions of the HTTP request: what middleware in front of the service has added, such as the client's address.
    pub extensions: http::Extensions,
}

/// The result of authentication. The default is an anonymous caller.
#[derive(Default)]
pub struct AuthOutcome {
    attach: Option<Box<dyn FnOnce(Request) -> Request + Send>>,
    logged_in: bool,
    headers: Vec<(String, String)>,
    response: http::Extensions,
    error: Option<Error>,
}

impl AuthOutcome {
    /// An anonymous caller.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// An authenticated caller. Handlers read it by type with `Request::caller`.
    pub fn caller<T: Clone + Send + Sync + 'static>(caller: T) -> Self {
        Self { attach: Some(Box::new(move |req| req.with_caller(caller))), logged_in: true, ..Self::default() }
    }

    /// Rejects the request with this error, on every route. `logged_in` reports whether the session is valid
    /// nevertheless (a valid cookie with an invalid nonce): such responses must not be cached.
    pub fn rejected(error: Error, logged_in: bool) -> Self {
        Self { error: Some(error), logged_in, ..Self::default() }
    }

    /// Attaches another value to the request, such as the authentication method.
    #[must_use]
    pub fn with_extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        let before = self.attach.take();
        self.attach = Some(Box::new(move |req| {
            let req = match before {
                Some(attach) => attach(req),
                None => req,
            };
            req.with_extension(value)
        }));
        self
    }

    /// Adds a header to the response, such as a fresh nonce.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Adds an extension to the response, for middleware around the service.
    #[must_use]
    pub fn with_response_extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.response.insert(value);
        self
    }

    /// An extension that was added to the response.
    pub fn response_extension<T: Clone + Send + Sync + 'static>(&self) -> Option<&T> {
        self.response.get()
    }

    /// The extensions of the response.
    pub(crate) fn response_extensions(&mut self) -> http::Extensions {
        std::mem::take(&mut self.response)
    }

    /// Returns the request with the attached values, whether the caller is logged in, the response headers, and the
    /// error of a rejected request.
    pub(crate) fn apply(self, req: Request) -> (Request, bool, Vec<(String, String)>, Option<Error>) {
        let req = req.with_authenticated(self.logged_in);
        let req = match self.attach {
            Some(attach) => attach(req),
            None => req,
        };
        (req, self.logged_in, self.headers, self.error)
    }
}

/// Identifies the caller of a request.
pub trait Authenticator: Send + Sync + 'static {
    /// Authenticates a request. Called once for each HTTP request, not for nested ones such as batch items.
    fn authenticate(&self, credentials: Credentials) -> BoxFuture<AuthOutcome>;
}

/// Treats every caller as anonymous.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anonymous;

impl Authenticator for Anonymous {
    fn authenticate(&self, _: Credentials) -> BoxFuture<AuthOutcome> {
        Box::pin(std::future::ready(AuthOutcome::anonymous()))
    }
}
