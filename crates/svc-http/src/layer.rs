//! A layer that picks off the interface's requests before another service sees them.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use tower::{Layer, Service};

use crate::route_url::RouteUrls;
use crate::service::RestService;

/// Puts a [`RestService`] before another service. Requests in any of the three shapes of address are answered by it, all
/// others by the service behind.
#[derive(Clone)]
pub struct RestLayer {
    service: RestService,
}

impl RestLayer {
    /// A layer over this service. The addresses follow from the server's root address and prefix.
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

/// A service with the interface before it.
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
    R: http_body::Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<UnsyncBoxBody<Bytes, R::Error>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let query = svc_php::query::parse(request.uri().query().unwrap_or_default().as_bytes());
        match RouteUrls::of(&self.service.server()).route(request.uri().path(), &query) {
            Some(route) => {
                let service = self.service.clone();
                Box::pin(async move {
                    let answer = service.answer(route, request).await;
                    Ok(answer.map(|body| body.map_err(|never| match never {}).boxed_unsync()))
                })
            }
            None => {
                let inner = self.inner.call(request);
                Box::pin(async move { Ok(inner.await?.map(BodyExt::boxed_unsync)) })
            }
        }
    }
}
