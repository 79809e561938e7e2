//! Requests with the token of a preview link.

use svc_model::{PostId, PostType, RouteFamily};
use svc_routing::{Request, Response, Result};
use svc_site::{
    Site,
    errors::preview_links as errors,
    preview_links::{self, Preview, TOKEN_PARAM},
};

pub(crate) use svc_site::errors::preview_links::invalid_token;

/// Whether posts of the type have preview links.
pub(crate) fn has_links(post_type: &PostType) -> bool {
    post_type.show_in_rest && matches!(post_type.route_family, RouteFamily::Posts)
}

/// The preview that the request's token gives access to; `None` for requests without a token. Responses are not cached.
///
/// # Errors
/// `rest_invalid_preview_token` (403), also for contexts in which only editors read; errors of the store.
pub(crate) fn of_request(site: &Site, post_type: &PostType, req: &Request) -> Result<Option<Preview>> {
    let Some(token) = req.params().query.get(TOKEN_PARAM).filter(|_| has_links(post_type)) else { return Ok(None) };
    req.mark_uncacheable();
    let token = token.as_str().filter(|_| req.context() != "edit").ok_or_else(errors::invalid_token)?;
    let found = site.read(req.cx(), |db| {
        let settings = site.settings_in(db)?;
        preview_links::open(db, site, &settings, token)
    })?;
    let found = found.filter(|preview| preview.post.post_type == post_type.name);
    found.map(Some).ok_or_else(errors::invalid_token)
}

/// Whether the request's token gives access to this revision or autosave of the post.
///
/// # Errors
/// As [`of_request`]: a token for something else is an error.
pub(crate) fn grants(
    site: &Site,
    post_type: &PostType,
    req: &Request,
    post: PostId,
    revision: Option<PostId>,
) -> Result<bool> {
    match of_request(site, post_type, req)? {
        None => Ok(false),
        Some(preview) if preview.post.id == post && preview.revision == revision && revision.is_some() => Ok(true),
        Some(_) => Err(errors::invalid_token()),
    }
}

/// Adds the headers of a preview: nothing stores it, indexes it, or passes its URL on.
pub(crate) fn protect(response: Response) -> Response {
    response
        .header("Cache-Control", "private, no-store")
        .header("X-Robots-Tag", "noindex")
        .header("Referrer-Policy", "no-referrer")
}
