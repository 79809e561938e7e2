//! Counts the requests that no REST API handles, by a fixed list of paths.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{extract::Request, response::Response};
use http::{Method, StatusCode};
use svc_metrics::{RequestCounts, RouteCounts, UNKNOWN_ROUTE};
use svc_traces::RequestTrace;
use tower::Service;

/// Numbers of requests for pages, files and the like.
pub struct PageCounts {
    /// Beginnings of paths, each with its numbers.
    prefixes: Vec<(String, Arc<RouteCounts>)>,
    pages: Arc<RouteCounts>,
    others: Arc<RouteCounts>,
}

impl PageCounts {
    /// Numbers among `requests`. The first of `prefixes` with which a path begins names its route; all other paths have the route
    /// `pages`.
    pub fn new(requests: &RequestCounts, pages: &str, prefixes: &[(&str, &str)]) -> Arc<Self> {
        let prefixes = prefixes.iter().map(|(prefix, route)| ((*prefix).to_owned(), requests.of(route))).collect();
        Arc::new(PageCounts { prefixes, pages: requests.of(pages), others: requests.of(UNKNOWN_ROUTE) })
    }

    fn of(&self, path: &str) -> &Arc<RouteCounts> {
        let found = self.prefixes.iter().find(|(prefix, _)| path.starts_with(prefix.as_str()));
        found.map_or(&self.pages, |(_, counts)| counts)
    }

    /// Counts a response that belongs to no route, such as one of middleware.
    pub fn record_other(&self, method: &Method, status: StatusCode, took: Duration) {
        self.others.record(method.as_str(), status.as_u16(), took);
    }

    /// Counts the requests of a service.
    pub fn wrap<S>(self: &Arc<Self>, service: S) -> CountedPages<S> {
        CountedPages { inner: service, counts: Arc::clone(self) }
    }
}

/// A service whose requests are counted.
#[derive(Clone)]
pub struct CountedPages<S> {
    inner: S,
    counts: Arc<PageCounts>,
}

impl<S> Service<Request> for CountedPages<S>
where
    S: Service<Request, Response = Response, Error = Infallible, Future: Send + 'static>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (arrived, method) = (Instant::now(), request.method().clone());
        let counts = Arc::clone(self.counts.of(request.uri().path()));
        let trace = request.extensions().get::<RequestTrace>().cloned();
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await?;
            counts.record(method.as_str(), response.status().as_u16(), arrived.elapsed());
            if let (Some(trace), Some(name)) = (trace, counts.route()) {
                trace.set_route(&method, name);
            }
            Ok(response)
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn paths_are_counted_by_prefix() {
        let requests = RequestCounts::default();
        let counts = PageCounts::new(&requests, "page", &[("/files/", "files")]);
        let service = counts.wrap(tower::service_fn(async |request: Request| {
            let status = if request.uri().path() == "/files/a" { 200 } else { 404 };
            Ok(Response::builder().status(status).body(Body::empty()).unwrap())
        }));
        for path in ["/files/a", "/files/b", "/files", "/", "/x/y"] {
            service.clone().oneshot(Request::get(path).body(Body::empty()).unwrap()).await.unwrap();
        }
        counts.record_other(&Method::POST, StatusCode::PAYLOAD_TOO_LARGE, Duration::ZERO);
        let found: Vec<_> = requests
            .report()
            .into_iter()
            .flat_map(|of| of.methods.into_iter().map(move |m| format!("{} {} {:?}", of.route, m.method, m.statuses)))
            .collect();
        let expected =
            [r#"files GET [("2xx", 1), ("4xx", 1)]"#, r#"other POST [("4xx", 1)]"#, r#"page GET [("4xx", 3)]"#];
        assert_eq!(found, expected);
    }
}
