//! The authentication stage: who calls is found out before dispatch, by whatever the embedding program plugs in.

use http::{HeaderMap, Method};
use svc_routing::{BoxFuture, Error, Request};

/// What an authenticator may look at.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// The method on the wire.
    pub wire_method: Method,
    /// The effective method: what the request is going to do.
    pub method: Method,
    /// The route.
    pub route: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The nonce: of the form or query parameter, else of the header.
    pub nonce: Option<String>,
}

/// What authentication found. The default is an anonymous caller.
#[derive(Default)]
pub struct Outcome {
    attach: Option<Box<dyn FnOnce(Request) -> Request + Send>>,
    logged_in: bool,
    headers: Vec<(String, String)>,
    error: Option<Error>,
}

impl Outcome {
    /// Nobody is logged in.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// This caller is logged in; handlers find it by its type (`Request::caller`).
    pub fn caller<T: Clone + Send + Sync + 'static>(caller: T) -> Self {
        Self { attach: Some(Box::new(move |req| req.with_caller(caller))), logged_in: true, ..Self::default() }
    }

    /// The request is refused with this error, on every route. `logged_in` says whether the session was good all the same
    /// (a bad nonce on a good cookie): such answers are not to be cached.
    pub fn refused(error: Error, logged_in: bool) -> Self {
        Self { error: Some(error), logged_in, ..Self::default() }
    }

    /// Attaches one more value to the request (how the caller logged in, say).
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

    /// Adds a header to the answer, such as that of the fresh nonce.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The request with what was attached, whether somebody is logged in, the headers, and the refusal.
    pub(crate) fn apply(self, req: Request) -> (Request, bool, Vec<(String, String)>, Option<Error>) {
        let req = req.with_authenticated(self.logged_in);
        let req = match self.attach {
            Some(attach) => attach(req),
            None => req,
        };
        (req, self.logged_in, self.headers, self.error)
    }
}

/// Finds out who calls.
pub trait Authenticator: Send + Sync + 'static {
    /// Looks at the credentials of a request. Called once for each request from outside.
    fn authenticate(&self, credentials: Credentials) -> BoxFuture<Outcome>;
}

/// Takes everybody for anonymous.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anonymous;

impl Authenticator for Anonymous {
    fn authenticate(&self, _: Credentials) -> BoxFuture<Outcome> {
        Box::pin(std::future::ready(Outcome::anonymous()))
    }
}
