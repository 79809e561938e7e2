//! How long requests take: the header `Server-Timing` for administrators, and the log of slow requests.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{extract::Request, response::Response};
use http::{HeaderName, HeaderValue, Method, header};
use svc_brand::Brand;
use svc_http::{Runner, Uncached};
use svc_login::Administrator;
use svc_metrics::{StatementLog, StatementReport};

/// Maximum length of a logged path, in bytes.
const PATH_LIMIT: usize = 200;

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// What is measured of requests.
#[derive(Clone)]
pub(super) struct Profiling {
    /// Requests that take longer are logged.
    slow: Option<Duration>,
    /// The header that asks for `Server-Timing`.
    header: Option<HeaderName>,
}

/// The measurement of a request.
pub(super) struct Profile {
    began: Instant,
    statements: Arc<StatementLog>,
    is_asked: bool,
    slow: Option<Duration>,
    method: Method,
    path: String,
}

impl Profiling {
    pub(super) fn new(slow: Option<Duration>, brand: &Brand) -> Self {
        Profiling { slow, header: brand.header("Timing").parse().ok() }
    }

    /// Begins to measure a request, if somebody may want to know.
    pub(super) fn begin(&self, runner: &dyn Runner, request: Request) -> (Request, Option<Profile>) {
        let headers = request.headers();
        let has = |name: &HeaderName| headers.contains_key(name);
        // Without credentials nobody gets the header, and the response may come from the cache.
        let is_asked = self.header.as_ref().is_some_and(has) && (has(&header::AUTHORIZATION) || has(&header::COOKIE));
        if !is_asked && self.slow.is_none() {
            return (request, None);
        }
        let (mut head, body) = request.into_parts();
        let cx = runner.context(&head, Instant::now()).with(StatementLog::default());
        let statements = cx.get::<StatementLog>().unwrap_or_default();
        head.extensions.insert(cx);
        if is_asked {
            head.extensions.insert(Uncached);
        }
        let path = head.uri.path();
        let profile = Profile {
            began: Instant::now(),
            statements,
            is_asked,
            slow: self.slow,
            method: head.method.clone(),
            path: path.get(..PATH_LIMIT).unwrap_or(path).to_owned(),
        };
        (Request::from_parts(head, body), Some(profile))
    }
}

impl Profile {
    /// Logs the request if it was slow, and adds the header if an administrator has asked for it.
    pub(super) fn end(self, response: &mut Response) {
        let took = self.began.elapsed();
        let is_slow = self.slow.is_some_and(|slow| took >= slow);
        let is_shown = self.is_asked && response.extensions().get::<Administrator>().is_some();
        if !is_slow && !is_shown {
            return;
        }
        let report = self.statements.report();
        if is_shown && let Ok(value) = HeaderValue::try_from(server_timing(took, &report)) {
            response.headers_mut().insert(SERVER_TIMING, value);
        }
        if is_slow {
            tracing::warn!(
                method = %self.method,
                path = self.path,
                status = response.status().as_u16(),
                ms = milliseconds(took),
                n_statements = report.n_statements,
                statement_ms = milliseconds(report.time),
                statements = listed(&report),
                "slow request"
            );
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 100_000.0).round() / 100.0
}

fn server_timing(took: Duration, report: &StatementReport) -> String {
    let (total, db) = (milliseconds(took), milliseconds(report.time));
    format!("total;dur={total}, db;dur={db};desc=\"{} statements\"", report.n_statements)
}

fn listed(report: &StatementReport) -> String {
    let one = |(took, sql): &(Duration, String)| format!("{} ms: {sql}", milliseconds(*took));
    report.slowest.iter().map(one).collect::<Vec<_>>().join("; ")
}
