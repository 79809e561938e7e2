//! Final responses: `_envelope`, links, `_embed` and the methods that `self` links allow.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use svc_php::list::split_list;
use svc_schema::{Embed, Error, parse_embed};
use svc_traces::TARGET;
use tracing::Instrument as _;

use super::arguments::prepare;
use super::dispatch::is_read;
use super::embed::embed;
use super::{MAX_DEPTH, Server};
use crate::{Body, Request, Response, Served, Validators};

/// The relations to embed; `None` without `_embed`.
///
/// # Errors
/// `rest_too_many_values` (413) if they, or the names in `_fields`, are too many.
pub(super) fn wanted(req: &Request) -> Result<Option<Embed>, Error> {
    if let Some(Value::String(names)) = req.param("_fields") {
        drop(split_list(names)?);
    }
    Ok(req.params().query.get("_embed").map(parse_embed).transpose()?)
}

impl Server {
    /// Responds to a client's request: dispatch, `_envelope`, links, `_embed`.
    pub async fn serve(&self, req: Request) -> Served {
        self.serve_with(req, |_| {}).await
    }

    /// As [`Self::serve`]. `add_cors` adds the CORS headers, which functions of
    /// [`Hooks::pre_serve`](crate::Hooks::pre_serve) can change.
    pub async fn serve_with(&self, req: Request, add_cors: impl FnOnce(&mut Served)) -> Served {
        let takes_encoded = self.takes_encoded(&req);
        let req = self.attach_server(req).with_encoded(takes_encoded);
        match wanted(&req) {
            Ok(wanted) => {
                let res = self.dispatch(req.clone()).await;
                let finish = self.finish(res, wanted, &req, add_cors);
                finish.instrument(tracing::info_span!(target: TARGET, "response")).await
            }
            Err(error) => self.serve_error_with(req, error, add_cors).await,
        }
    }

    /// Whether nothing looks into the data of the response to a client's request.
    fn takes_encoded(&self, req: &Request) -> bool {
        !self.hooks().can_change_data() && !req.params().query.contains_key("_envelope")
    }

    /// Responds to a request that was rejected before dispatch.
    pub async fn serve_error(&self, req: Request, error: Error) -> Served {
        self.serve_error_with(req, error, |_| {}).await
    }

    /// As [`Self::serve_error`], with `add_cors` as in [`Self::serve_with`].
    pub async fn serve_error_with(&self, req: Request, error: Error, add_cors: impl FnOnce(&mut Served)) -> Served {
        let req = self.attach_server(req);
        let res = self.dispatch_error(req.clone(), error).await;
        let wanted = wanted(&req).unwrap_or_default();
        self.finish(res, wanted, &req, add_cors).await
    }

    /// Whether hooks see and may change final responses.
    pub fn filters_final_responses(&self) -> bool {
        self.hooks().see_final_responses()
    }

    async fn finish(
        &self,
        res: Response,
        wanted: Option<Embed>,
        req: &Request,
        add_cors: impl FnOnce(&mut Served),
    ) -> Served {
        let query = &req.params().query;
        // Embedded items change without the object.
        let modified = res.validators.modified.filter(|_| wanted.is_none());
        let validators = Validators { modified, ..res.validators.clone() };
        // The status of an envelope is 200, whatever it contains.
        let is_ok = res.status == StatusCode::OK;
        let mut served = if req.is_head() {
            let enveloped = query.contains_key("_envelope");
            let (status, mut headers) = if enveloped { Default::default() } else { (res.status, res.headers) };
            if let Some(raw) = &res.raw {
                headers.set("Content-Type", &raw.content_type);
            }
            Served { status, headers, body: Body::Empty, ..Served::default() }
        } else if let Some(raw) = &res.raw {
            Served { status: res.status, body: Body::Raw(raw.clone()), headers: res.headers, ..Served::default() }
        } else if query.contains_key("_envelope") {
            let (status, headers) = (res.status, res.headers.to_value());
            let data = self.to_data(res, wanted.as_ref(), req).await;
            let body = Body::Json(envelope(data, status, headers));
            Served { status: StatusCode::OK, headers: Default::default(), body, ..Served::default() }
        } else {
            let (status, headers) = (res.status, res.headers.clone());
            let body = match &res.encoded {
                _ if status == StatusCode::NO_CONTENT => Body::Empty,
                Some(encoded) => Body::Encoded(self.embed_encoded(encoded, wanted.as_ref(), req).await),
                None => match self.to_data(res, wanted.as_ref(), req).await {
                    Value::Null => Body::Empty,
                    data => Body::Json(data),
                },
            };
            Served { status, headers, body, ..Served::default() }
        };
        served.cacheable = is_ok
            && matches!(*req.method(), Method::GET | Method::OPTIONS)
            && self.frozen().cacheable
            && !req.is_uncacheable();
        served.validators = validators;
        self.hooks().run_pre_serve(&mut served, req, add_cors);
        if self.site().debug {
            served.notices = [self.notices().to_vec(), req.notices()].concat();
        }
        served
    }

    /// The data of a response with its links, and with the targets of the `wanted` relations embedded.
    pub(super) async fn to_data(&self, res: Response, wanted: Option<&Embed>, req: &Request) -> Value {
        let mut res = res.decoded();
        self.add_hints(&mut res, req).await;
        let data = self.data_with_links(res);
        match wanted {
            Some(wanted) => Box::pin(embed(self, req, data, wanted)).await,
            None => data,
        }
    }

    /// The data with `_links`. They are omitted if the data is neither an object nor empty.
    pub(super) fn data_with_links(&self, res: Response) -> Value {
        let res = res.decoded();
        let Some(links) = res.links.to_value(self.curies()) else { return res.data };
        match res.data {
            Value::Object(mut map) => {
                map.insert("_links".to_owned(), links.into());
                map.into()
            }
            Value::Array(list) if list.is_empty() => json!({ "_links": links }),
            other => other,
        }
    }

    /// Adds the methods that the caller may use to the `self` links.
    async fn add_hints(&self, res: &mut Response, req: &Request) {
        let known = res.allowed.take();
        for link in res.links.unhinted_self() {
            let is_same_route =
                self.route_of(link.href()).is_some_and(|(route, query)| route == req.route() && query.is_empty());
            let allowed = match &known {
                // Already determined for the same object.
                Some(allowed) if is_same_route && is_read(req.method()) => Some(allowed.clone()),
                _ => self.target_hints(req, link.href()).await,
            };
            if let Some(allowed) = allowed.filter(|a| !a.is_empty()) {
                *link = link.clone().allow(allowed.iter().map(String::as_str));
            }
        }
    }

    /// The methods that the caller of `req` may use on the target of a link; `None` if the URL does not belong to the
    /// API or the target is not readable.
    pub async fn target_hints(&self, req: &Request, href: &str) -> Option<Vec<String>> {
        if req.depth() >= MAX_DEPTH {
            return None;
        }
        // Requests may end with a slash, but WordPress finds no route for such a link.
        if href.split(['?', '#']).next().is_some_and(|path| path.ends_with('/')) {
            return None;
        }
        let (route, query) = self.route_of(href)?;
        let sub = self.attach_server(req.sub_request(Method::GET, route).with_query(query));
        let matched = self.find(&sub)?;
        let sub = prepare(matched.attach(sub), matched.endpoint()).ok()?;
        Some(self.allowed(matched.route, &sub, None).await).filter(|allowed| !allowed.is_empty())
    }
}

/// Combines body, status and headers.
pub(super) fn envelope(body: Value, status: StatusCode, headers: Value) -> Value {
    json!({ "body": body, "status": status.as_u16(), "headers": headers })
}
