//! Runs the scripts of a site with php-fpm, and sends its files.

mod answer;
mod connection;
mod head;
mod params;
mod record;
mod spool;

use std::{sync::Arc, time::Duration};

use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version,
    header::{
        ACCEPT_RANGES, ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, EXPIRES, LOCATION,
        SET_COOKIE,
    },
    request::Parts,
};
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tokio::{sync::OwnedSemaphorePermit, time::Instant};

pub(crate) use self::connection::open;
use self::{
    answer::FastCgiAnswer,
    connection::{ErrorLog, Times, exchange},
    head::Head,
    spool::Spool,
};
use crate::{
    body::{Body, Download, empty},
    failure::{Failed, Failure},
    files::{self, FileTarget, Files, Script},
    headers::{Origin, prepare, remove_hop_by_hop},
    options::{ProxyLimits, Site},
    upstream::Upstream,
};

/// Headers with which a script lets this server send a file: the path of a URL, and a path on disk.
const X_ACCEL_REDIRECT: HeaderName = HeaderName::from_static("x-accel-redirect");
const X_SENDFILE: HeaderName = HeaderName::from_static("x-sendfile");

/// Headers of a script's response that are not for clients.
const INTERNAL: [HeaderName; 6] = [
    X_ACCEL_REDIRECT,
    X_SENDFILE,
    HeaderName::from_static("x-accel-buffering"),
    HeaderName::from_static("x-accel-charset"),
    HeaderName::from_static("x-accel-expires"),
    HeaderName::from_static("x-accel-limit-rate"),
];

/// Headers of a script that the response with a file has, as in nginx.
const KEPT: [HeaderName; 6] = [CONTENT_TYPE, CONTENT_DISPOSITION, ACCEPT_RANGES, SET_COOKIE, CACHE_CONTROL, EXPIRES];

/// Time after the start of a request in which a closed connection is that of a server which is restarting. Later, the script itself has
/// failed, and would fail again.
const RESTART: Duration = Duration::from_secs(1);

/// Runs scripts with php-fpm.
pub(crate) struct FastCgi {
    upstream: Upstream,
    files: Arc<Files>,
    limits: ProxyLimits,
    log: Arc<ErrorLog>,
}

/// The side that responds to a request.
pub(crate) enum ScriptRoute {
    /// This server.
    Response(Response<Body>),
    Script(Script),
}

impl FastCgi {
    pub(crate) fn new(upstream: Upstream, site: Site, limits: ProxyLimits) -> Self {
        if !site.root.is_absolute() {
            tracing::error!(upstream = upstream.authority(), "FastCGI requires the absolute path of the site's folder");
        }
        FastCgi { log: ErrorLog::new(upstream.clone()), upstream, files: Arc::new(Files::new(site)), limits }
    }

    /// Finds the script of a request, or responds with a file.
    ///
    /// # Errors
    /// If the folder of the site is not known.
    pub(crate) async fn route(&self, parts: &Parts) -> Result<ScriptRoute, Failure> {
        if !self.files.site().root.is_absolute() {
            return Err(Failure::Unreachable);
        }
        let path = parts.uri.path().to_owned();
        let target = self.blocking(move |files| files.find(&path)).await?;
        Ok(ScriptRoute::Response(match target {
            FileTarget::Script(script) => return Ok(ScriptRoute::Script(script)),
            FileTarget::File(file) if matches!(parts.method, Method::GET | Method::HEAD) => {
                files::send(&file, &parts.method, &parts.headers).await
            }
            FileTarget::File(_) => {
                let mut response = files::plain(StatusCode::METHOD_NOT_ALLOWED);
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                response
            }
            FileTarget::Redirect(to) => {
                let query = parts.uri.query().map(|query| format!("?{query}")).unwrap_or_default();
                let mut response = files::plain(StatusCode::MOVED_PERMANENTLY);
                if let Ok(to) = HeaderValue::from_str(&(to + &query)) {
                    response.headers_mut().insert(LOCATION, to);
                }
                response
            }
            FileTarget::NotFound => files::plain(StatusCode::NOT_FOUND),
            FileTarget::Invalid => files::plain(StatusCode::BAD_REQUEST),
        }))
    }

    /// Looks up files on a thread that may wait for the disk.
    async fn blocking<T: Send + 'static>(&self, find: impl FnOnce(&Files) -> T + Send + 'static) -> Result<T, Failure> {
        let files = Arc::clone(&self.files);
        tokio::task::spawn_blocking(move || find(&files)).await.map_err(|error| {
            tracing::error!(%error, "cannot look up a file");
            Failure::Unreachable
        })
    }

    /// Runs a script, which occupies the slot until the end of the response.
    ///
    /// # Errors
    /// If the body cannot be received, or php-fpm does not respond.
    pub(crate) async fn run(
        &self,
        script: Script,
        mut parts: Parts,
        body: Body,
        origin: Origin,
        slot: OwnedSemaphorePermit,
    ) -> Result<Response<Body>, Failure> {
        let has_body = parts.headers.contains_key(CONTENT_LENGTH) || !body.is_end_stream();
        prepare(&mut parts, origin);
        let mut body = match has_body {
            true => Spool::receive(body, self.files.site().body, self.limits.response).await?,
            false => Spool::empty(),
        };
        let length = has_body.then_some(body.length());
        // Without a body, a safe request may be sent twice.
        let mut may_repeat = parts.method.is_safe() && body.length() == 0;
        let (head, answer) = loop {
            let params = params::params(&parts, &self.files, &script, origin, length);
            let params = params.iter().map(|(name, value)| (name.as_bytes(), &**value));
            let begin = record::head(params).map_err(|record::TooLong| Failure::HeadTooLarge)?;
            let ProxyLimits { connect, response, .. } = self.limits;
            let times = Times { connect, response };
            let start = Instant::now();
            match exchange(&self.upstream, begin, body, times, Arc::clone(&self.log)).await {
                Err(Failed::Closed) if may_repeat && start.elapsed() < RESTART => {
                    (may_repeat, body) = (false, Spool::empty())
                }
                Err(failed) => {
                    // The others are logged with their error.
                    if matches!(failed, Failed::Closed | Failed::Invalid | Failed::Late) {
                        tracing::warn!(upstream = self.upstream.authority(), reason = ?failed, "a script has not responded");
                    }
                    return Err(failed.into());
                }
                Ok(answer) => break answer,
            }
        };
        self.respond(&parts, head, answer, slot).await
    }

    async fn respond(
        &self,
        request: &Parts,
        head: Head,
        answer: FastCgiAnswer,
        slot: OwnedSemaphorePermit,
    ) -> Result<Response<Body>, Failure> {
        let mut headers = head.headers;
        let accel = headers.get(X_ACCEL_REDIRECT).map(text);
        let sendfile = headers.get(X_SENDFILE).map(text);
        if accel.is_some() || sendfile.is_some() {
            drop(answer);
            let shown = accel.clone().or_else(|| sendfile.clone());
            let find = move |files: &Files| match (accel, sendfile) {
                (Some(path), _) => files.for_accel(&path),
                (None, path) => files.for_sendfile(&path?),
            };
            let Some(file) = self.blocking(find).await? else {
                let path = shown.unwrap_or_default();
                tracing::warn!(path, "a script sends a file that does not exist, or is in none of the site's folders");
                return Ok(files::plain(StatusCode::NOT_FOUND));
            };
            // As in nginx, the file is the response to any method.
            let method = if request.method == Method::HEAD { Method::HEAD } else { Method::GET };
            return Ok(keep(files::send(&file, &method, &request.headers).await, &headers));
        }
        remove_hop_by_hop(&mut headers);
        for name in &INTERNAL {
            headers.remove(name);
        }
        let has_none =
            request.method == Method::HEAD || matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        if head.status == StatusCode::NO_CONTENT {
            headers.remove(CONTENT_LENGTH);
        }
        let body = if has_none { empty() } else { Download::new(answer, self.limits.idle, slot).boxed_unsync() };
        let mut response = Response::new(body);
        (*response.status_mut(), *response.version_mut(), *response.headers_mut()) =
            (head.status, Version::HTTP_11, headers);
        Ok(response)
    }
}

/// A header's value, as a path.
fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// Adds the headers of a script to the response with the file that it sends.
fn keep(mut response: Response<Body>, script: &HeaderMap) -> Response<Body> {
    let status = response.status();
    if !status.is_success() && status != StatusCode::NOT_MODIFIED {
        return response;
    }
    for name in KEPT.iter().filter(|name| status.is_success() || **name != CONTENT_TYPE) {
        if !script.contains_key(name) {
            continue;
        }
        response.headers_mut().remove(name);
        for value in script.get_all(name) {
            response.headers_mut().append(name, value.clone());
        }
    }
    response
}
