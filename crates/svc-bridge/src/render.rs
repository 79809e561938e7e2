//! Renderings by WordPress: a request with the wish for a record, and the complete response.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, Request, Response,
    header::{CONTENT_LENGTH, CONTENT_TYPE, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE},
    request::Parts,
};
use http_body::Body as _;
use http_body_util::{BodyExt as _, Full, StreamBody};
use svc_gateway::{Body, BoxError, Failure, Origin, Proxy, Turn};

use crate::{
    changes::Changes,
    key,
    record::{Asked, HEADER, Invalid, PREFIX, Record, Recorder},
    stored::Answer,
};

/// Media types of responses that are collected before they are sent, if there is no record: others may be streams.
const WHOLE: [&str; 5] = ["application/json", "text/html", "text/xml", "application/rss+xml", "application/xml"];

/// What came of a rendering.
pub(crate) enum Rendered {
    /// The whole response.
    Whole(Box<Whole>),
    /// A response that is too large to be stored, or a stream.
    Stream(Box<Response<Body>>),
}

/// A complete response.
pub(crate) struct Whole {
    pub(crate) answer: Answer,
    /// What it read, if the connector says so.
    pub(crate) record: Option<Record>,
}

/// Renders responses.
pub(crate) struct Renderer {
    pub(crate) proxy: Proxy,
    pub(crate) recorder: Option<Recorder>,
    pub(crate) max_body: usize,
}

impl Renderer {
    /// Forwards a request as it is, without a wish for a record.
    pub(crate) async fn forward(&self, mut request: Request<Body>, origin: Origin) -> Result<Response<Body>, Failure> {
        request.headers_mut().remove(HEADER);
        let mut response = self.proxy.forward(request, origin).await?;
        response.headers_mut().remove(HEADER);
        Ok(response)
    }

    /// Renders the response to a request without a body. Conditions of the client are left out: the whole response is stored. What it writes is
    /// told apart in the changes. If the record in a response cannot be found, WordPress renders it again without one.
    pub(crate) async fn render(
        &self,
        parts: &Parts,
        origin: Origin,
        changes: &Changes,
        turn: Turn,
    ) -> Result<Rendered, Failure> {
        let mut headers = parts.headers.clone();
        for name in [HEADER, IF_NONE_MATCH, IF_MODIFIED_SINCE, IF_MATCH, IF_UNMODIFIED_SINCE] {
            headers.remove(name);
        }
        key::withhold(&mut headers);
        let unrecorded = without_body(parts, headers.clone());
        let _rendering = changes.rendering();
        let asked = self.recorder.as_ref().and_then(|recorder| ask(recorder, parts));
        if let Some(asked) = &asked {
            headers.insert(HEADER, asked.header.clone());
        }
        let request = without_body(parts, headers);
        let mut response = self.proxy.forward_in_turn(request, origin, turn).await?;
        let announced = response.headers_mut().remove(HEADER);
        let (Some(value), Some(asked), Some(recorder)) = (announced, asked, &self.recorder) else {
            return self.collect(response, None, BytesMut::new()).await;
        };
        let usable = |record: Result<Record, Invalid>| {
            let warn = |error: &Invalid| tracing::warn!("{error}: run `svc-server connector install`");
            record.inspect_err(warn).ok()
        };
        if value != "1" {
            let record = usable(recorder.read_header(&asked, &value));
            return self.collect(response, record, BytesMut::new()).await;
        }
        // The record is in front of the body.
        response.headers_mut().remove(CONTENT_LENGTH);
        let mut start = BytesMut::new();
        read_up_to(response.body_mut(), &mut start, PREFIX).await?;
        let length = Recorder::length(&start).unwrap_or(usize::MAX - PREFIX);
        let is_there = length < usize::MAX - PREFIX && {
            read_up_to(response.body_mut(), &mut start, PREFIX + length).await?;
            start.len() >= PREFIX + length
        };
        if !is_there {
            tracing::warn!(
                "a response announces a record, and has none: something else writes in front of it, or compresses it"
            );
            drop(response);
            let response = self.forward(unrecorded, origin).await?;
            return self.collect(response, None, BytesMut::new()).await;
        }
        let prefix = start.split_to(PREFIX);
        let json = start.split_to(length);
        let record = usable(recorder.read(&asked, &prefix, &json));
        self.collect(response, record, start).await
    }

    /// Reads the body up to the maximum, after the part that was read already.
    async fn collect(
        &self,
        mut response: Response<Body>,
        record: Option<Record>,
        mut start: BytesMut,
    ) -> Result<Rendered, Failure> {
        if record.is_none() && !is_whole(response.headers()) {
            return Ok(Rendered::Stream(Box::new(before(start.freeze(), response))));
        }
        read_up_to(response.body_mut(), &mut start, self.max_body + 1).await?;
        if start.len() > self.max_body
            || !response.body().is_end_stream() && !ends(response.body_mut(), &mut start).await?
        {
            return Ok(Rendered::Stream(Box::new(before(start.freeze(), response))));
        }
        let (mut parts, _) = response.into_parts();
        // Of the body as it was sent.
        if parts.headers.contains_key(CONTENT_LENGTH) && !start.is_empty() {
            parts.headers.remove(CONTENT_LENGTH);
        }
        let answer = Answer { status: parts.status, headers: parts.headers, body: start.freeze() };
        Ok(Rendered::Whole(Box::new(Whole { answer, record })))
    }
}

/// A wish for a record; `None` if the system has no random numbers.
fn ask(recorder: &Recorder, parts: &Parts) -> Option<Asked> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    let nonce = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    Some(recorder.ask(&parts.method, target, now, nonce))
}

/// A request with other headers, and without its body.
fn without_body(parts: &Parts, headers: HeaderMap) -> Request<Body> {
    let mut request = Request::new(svc_gateway::empty());
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = headers;
    request
}

/// Whether a response is collected without a record.
fn is_whole(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    WHOLE.iter().any(|whole| kind.eq_ignore_ascii_case(whole))
}

/// Reads parts of a body until there are at least `length` bytes, or it ends.
pub(crate) async fn read_up_to(body: &mut Body, start: &mut BytesMut, length: usize) -> Result<(), Failure> {
    while start.len() < length && !body.is_end_stream() {
        match body.frame().await {
            Some(Ok(frame)) => start.extend(frame.into_data().ok()),
            Some(Err(error)) => {
                tracing::warn!(%error, "WordPress's response ended early");
                return Err(Failure::Unreachable);
            }
            None => break,
        }
    }
    Ok(())
}

/// Whether a body that has been read up to here has ended. Adds what comes instead.
async fn ends(body: &mut Body, start: &mut BytesMut) -> Result<bool, Failure> {
    let before = start.len();
    read_up_to(body, start, before + 1).await?;
    Ok(start.len() == before)
}

/// A response with a part of its body in front of the rest.
fn before(start: Bytes, response: Response<Body>) -> Response<Body> {
    if start.is_empty() {
        return response;
    }
    response.map(|rest| {
        let first = Full::new(start).map_err(|never| match never {});
        let frames = futures_util::StreamExt::chain(
            http_body_util::BodyStream::new(first.map_err(|never: BoxError| never)),
            http_body_util::BodyStream::new(rest),
        );
        StreamBody::new(frames).boxed_unsync()
    })
}
