//! The address that the comment form of a page is sent to.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    response::Response,
};
use http::{Method, StatusCode, header};
use svc_auth::{Scheme, cookie::site_hash};
use svc_site::{
    OpenedPosts, Settings, Visitor,
    comments::form::{Refusal, Sender, Submission, Submitted, submit},
};

use crate::{
    LoginPages, LoginRequest, Page, cookies,
    form::{self, Form},
    identity::cookie_value,
    redirect, respond,
    response::LoginResponse,
    view,
};

/// How long the browser keeps a guest's name, in seconds: a year, as WordPress.
const LIFETIME: i64 = 365 * 86_400;

/// The heading of refusals.
const FAILED: &str = "The comment was not posted";

pub(crate) async fn answer(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    if *request.method() != Method::POST {
        let answer = view::message(&pages, StatusCode::METHOD_NOT_ALLOWED, FAILED, "Use the form below a post.");
        return respond(&pages, Ok(answer.header(header::ALLOW, "POST")));
    }
    let asked = LoginRequest::of(&request, &pages);
    let page = match form::read_up_to(request, form::LARGEST_TEXT).await {
        Ok(form) => pages.comment(&asked, &form).await,
        Err(status) => Ok(view::message(&pages, status, FAILED, "The comment is too large.")),
    };
    respond(&pages, page)
}

impl LoginPages {
    async fn comment(&self, asked: &LoginRequest, form: &Form) -> Page {
        let site = &self.identities.site;
        let settings = site.settings()?;
        let who = self.signed_in(asked, Scheme::LoggedIn)?;
        let hash = site_hash(settings.option("siteurl"));
        let opener = site.brand.post_password_cookie() + &hash;
        let opened = cookie_value(&asked.headers, &opener).map(|value| OpenedPosts::by_cookie(&value));
        let is_guest = who.is_none();
        let visitor = Visitor {
            caller: who.map(|who| who.caller).unwrap_or_default(),
            logout_nonce: String::new(),
            opened: opened.unwrap_or_default(),
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
        let agent = asked.headers.get(header::USER_AGENT).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let sender = Sender { visitor, ip: asked.client, agent: agent.to_owned() };
        let stored = match submit(&site.site, given, sender).await {
            Ok(stored) => stored,
            Err(Refusal::Silent) => return Ok(LoginResponse::plain(StatusCode::OK, String::new())),
            Err(Refusal::Because(status, text)) => {
                let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
                return Ok(view::message(self, status, FAILED, &text));
            }
            Err(Refusal::Failed(error)) => return Err(error),
        };
        let consents = form.has("wp-comment-cookies-consent");
        let to = target(form, &settings, &stored, consents);
        let answer = LoginResponse::redirect(&to);
        Ok(if is_guest {
            answer.cookies(names(&settings, &hash, &stored, self.identities.now(), consents))
        } else {
            answer
        })
    }
}

/// Where the comment is, or the page that the form names. Guests whose browser keeps no name get a proof that the comment is
/// theirs while it waits for approval.
fn target(form: &Form, settings: &Settings, stored: &Submitted, consents: bool) -> String {
    let comment = &stored.comment;
    let sites = [settings.option("home"), settings.option("siteurl")];
    let wanted = form.get("redirect_to");
    let to = if wanted.is_empty() { stored.link.clone() } else { format!("{wanted}#comment-{}", comment.id) };
    let to = redirect::on_site(&to, &sites).unwrap_or_else(|| settings.urls.site.home_url("/"));
    if consents || comment.approved != "0" || comment.author_email.is_empty() {
        return to;
    }
    let id = comment.id.to_string();
    redirect::with_query(&to, &[("unapproved", &id), ("moderation-hash", &stored.moderation_hash)])
}

/// The cookies with a guest's name, address and site; without consent, their ends.
fn names(settings: &Settings, hash: &str, stored: &Submitted, now: i64, consents: bool) -> Vec<String> {
    let comment = &stored.comment;
    let of = |name: &str, value: &str| match consents {
        true => cookies::of_guest(&format!("{name}_{hash}"), value, settings, now, Some(LIFETIME)),
        false => cookies::of_guest(&format!("{name}_{hash}"), " ", settings, now, None),
    };
    vec![
        of("comment_author", &comment.author),
        of("comment_author_email", &comment.author_email),
        of("comment_author_url", &comment.author_url),
    ]
}
