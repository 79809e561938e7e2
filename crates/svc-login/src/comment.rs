//! The target of comment forms.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::Response,
};
use http::{Method, StatusCode, header};
use svc_auth::{Scheme, cookie::site_hash};
use svc_site::{
    Settings, UnlockedPosts, Visitor,
    comments::form::{Sender, Submission, SubmissionError, Submitted, submit},
};

use crate::{
    LoginPages, Page, PrivateRequest, cookies,
    form::{self, Form},
    identity::cookie_value,
    redirect, respond,
    response::PrivateResponse,
    view,
};

/// Lifetime of the cookies with a guest's name, in seconds: a year, as in WordPress.
const LIFETIME: i64 = 365 * 86_400;

/// Heading of error pages.
const FAILED: &str = "The comment was not posted";

pub(crate) async fn handle(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let parts = PrivateRequest::of(&request, &pages);
    if *request.method() != Method::POST {
        let response = view::message(
            &parts.cx,
            &pages,
            StatusCode::METHOD_NOT_ALLOWED,
            FAILED,
            "This method is not allowed. Submit the form below a post.",
        );
        return respond(&parts.cx, &pages, Ok(response.header(header::ALLOW, "POST")));
    }
    let page = match form::read_up_to(request, form::MAX_COMMENT_SIZE).await {
        Ok(form) => pages.comment(&parts, &form).await,
        Err(status) => Ok(view::message(&parts.cx, &pages, status, FAILED, "The comment is too large.")),
    };
    respond(&parts.cx, &pages, page)
}

impl LoginPages {
    async fn comment(&self, parts: &PrivateRequest, form: &Form) -> Page {
        let site = &self.identities.site;
        let settings = site.settings(&parts.cx)?;
        let session = self.session(parts, Scheme::LoggedIn)?;
        let hash = site_hash(settings.option("siteurl"));
        let opener = site.brand.post_password_cookie() + &hash;
        let unlocked = cookie_value(&parts.headers, &opener).map(|value| UnlockedPosts::from_cookie(&value));
        let is_guest = session.is_none();
        let visitor = Visitor {
            caller: session.map(|session| session.caller).unwrap_or_default(),
            logout_nonce: String::new(),
            unlocked: unlocked.unwrap_or_default(),
        };
        let number = |name: &str| svc_php::numeric::text_to_int(form.get(name));
        let given = Submission {
            post: number("comment_post_ID"),
            parent: number("comment_parent").saturating_abs(),
            author: form.get("author").to_owned(),
            email: form.get("email").to_owned(),
            url: form.get("url").to_owned(),
            content: form.get("comment").to_owned(),
        };
        let agent = parts.headers.get(header::USER_AGENT).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let sender = Sender { visitor, ip: parts.client, agent: agent.to_owned() };
        let stored = match submit(&parts.cx, site, given, sender).await {
            Ok(stored) => stored,
            Err(SubmissionError::Silent) => return Ok(PrivateResponse::plain(StatusCode::OK, String::new())),
            Err(SubmissionError::Rejected(status, text)) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
                return Ok(view::message(&parts.cx, self, status, FAILED, &text));
            }
            Err(SubmissionError::Failed(error)) => return Err(error),
        };
        let consents = form.has("wp-comment-cookies-consent");
        let to = redirect_url(form, &settings, &stored, consents);
        let response = PrivateResponse::redirect(&to);
        Ok(if is_guest {
            response.cookies(guest_cookies(&settings, &hash, &stored, self.identities.now(&parts.cx), consents))
        } else {
            response
        })
    }
}

/// The URL of the comment, or of the page that the form requests. Guests who refuse cookies get query parameters that let them
/// see their comment while it awaits moderation.
fn redirect_url(form: &Form, settings: &Settings, stored: &Submitted, consents: bool) -> String {
    let comment = &stored.comment;
    let wanted = form.get("redirect_to");
    let to = if wanted.is_empty() { stored.link.clone() } else { format!("{wanted}#comment-{}", comment.id) };
    let to = redirect::on_site(&to, settings).unwrap_or_else(|| settings.urls.site.home_url("/"));
    if consents || comment.approved != "0" || comment.author_email.is_empty() {
        return to;
    }
    let id = comment.id.to_string();
    redirect::with_query(&to, &[("unapproved", &id), ("moderation-hash", &stored.moderation_hash)])
}

/// The cookies with a guest's name, email address and website. Without consent they are deleted.
fn guest_cookies(settings: &Settings, hash: &str, stored: &Submitted, now: i64, consents: bool) -> Vec<String> {
    let comment = &stored.comment;
    let of = |name: &str, value: &str| match consents {
        true => cookies::guest_cookie(&format!("{name}_{hash}"), value, settings, now, Some(LIFETIME)),
        false => cookies::guest_cookie(&format!("{name}_{hash}"), " ", settings, now, None),
    };
    vec![
        of("comment_author", &comment.author),
        of("comment_author_email", &comment.author_email),
        of("comment_author_url", &comment.author_url),
    ]
}
