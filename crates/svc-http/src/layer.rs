//! A tower layer that routes REST API requests to a [`RestService`] and all others to the inner service.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use svc_routing::{Map, Transport};
use tower::{Layer, Service};

use crate::route_url::RouteUrls;
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
    R: http_body::Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<UnsyncBoxBody<Bytes, R::Error>>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let query = route_query(request.uri().query().unwrap_or_default());
        // Paths of the API do not depend on the transport.
        match RouteUrls::of(&self.service.server(Transport::Plain)).route(request.uri().path(), &query) {
            Some(route) => {
                let service = self.service.clone();
                Box::pin(async move {
                    let response = service.respond(route, request).await;
                    Ok(response.map(|body| body.map_err(|never| match never {}).boxed_unsync()))
                })
            }
            None => {
                let inner = self.inner.call(request);
                Box::pin(async move { Ok(inner.await?.map(BodyExt::boxed_unsync)) })
            }
        }
    }
}

/// The parameters of a query that may name a route; none for most requests, which have their route in the path.
fn route_query(query: &str) -> Map {
    // `rest.route` and `rest+route` are the same name, as in PHP, and letters may be encoded.
    if query.contains("route") || query.contains('%') { svc_php::query::parse(query.as_bytes()) } else { Map::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_in_queries_are_found() {
        for (query, route) in [
            ("", None),
            ("per_page=5", None),
            ("rest_route=/a", Some("/a")),
            ("a=1&rest.route=/a", Some("/a")),
            ("rest+route=/a", Some("/a")),
            ("%72est_r%6fute=/a", Some("/a")),
        ] {
            assert_eq!(route_query(query).get("rest_route").and_then(|v| v.as_str()), route, "{query}");
        }
    }
}
