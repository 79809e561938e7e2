//! A tower layer that routes REST API requests to a [`RestService`] and all others to the inner service.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use svc_routing::Transport;
use tower::{Layer, Service};

use crate::service::RestService;

/// Puts a [`RestService`] in front of another service. It responds to requests in all three URL forms; other requests
/// go to the inner service.
#[derive(Clone)]
pub struct RestLayer {
    service: RestService,
}

impl RestLayer {
    /// A layer over this service. The URLs follow from the server's root URL and prefix.
    pub fn new(service: RestService) -> Self {
        Self { service }
    }
}

impl<S> Layer<S> for RestLayer {
    type Service = WithRest<S>;

    fn layer(&self, inner: S) -> WithRest<S> {
        WithRest { service: self.service.clone(), inner }
    }
}

/// An error of a response's body.
type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A service with the REST API in front of it.
#[derive(Clone)]
pub struct WithRest<S> {
    service: RestService,
    inner: S,
}

impl<S, B, R> Service<Request<B>> for WithRest<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: std::fmt::Display + Send,
    R: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let uri = request.uri();
        // Paths of the API do not depend on the transport.
        let server = self.service.server(Transport::Plain);
        match server.route_urls().route(uri.path(), uri.query().unwrap_or_default()) {
            Some(route) => {
                let service = self.service.clone();
                Box::pin(async move {
                    let response = service.respond(route, request).await;
                    Ok(response.map(|body| body.map_err(BoxError::from).boxed_unsync()))
                })
            }
            None => {
                let inner = self.inner.call(request);
                Box::pin(async move { Ok(inner.await?.map(|body| body.map_err(Into::into).boxed_unsync())) })
            }
        }
    }
}
