//! The page on which users request a link to set a new password.
//!
//! The response is the same, and takes the same time, whether the account exists or not.

use std::time::Duration;

use askama::Template;
use http::{StatusCode, header};
use svc_site::{Settings, mail};
use tokio::{
    sync::Semaphore,
    time::{Instant, sleep_until},
};

use crate::{
    LoginPages, Page, PrivateRequest,
    form::Form,
    rate_limit::seconds,
    redirect,
    response::PrivateResponse,
    view::{Frame, Hidden, hidden},
};

/// How to get a new password on a site that sends no mail.
const WITHOUT_MAIL: &str = "This site sends no email. Ask its administrator for a link to set a new password; on the \
                            server, `svc-server user reset-link NAME` prints one.";

/// The message after a request.
pub(crate) const REQUESTED: &str = "If there is an account with this name or address, a mail with a link to set a new password is on its \
                                    way. If it does not arrive within a few minutes, look into your spam folder.";

/// The time of a response, or a multiple of it: longer than the transaction that stores a mail, so that its absence is not noticed.
const RESPONSE_TIME: Duration = Duration::from_millis(500);

/// Maximum number of requests that wait for this time.
const MAX_WAITING: usize = 16;

static WAITING: Semaphore = Semaphore::const_new(MAX_WAITING);

/// The form.
#[derive(Template)]
#[template(path = "account/lost_password.html")]
struct LostPasswordPage {
    page: Frame,
    /// Error message; may be empty.
    error: String,
    /// What the user typed.
    login: String,
    action: String,
    log_in: String,
    hidden: Vec<Hidden>,
}

impl LoginPages {
    /// The form for a link, or a message that the site sends no mail.
    pub(crate) fn show_lost_password(&self, parts: &PrivateRequest) -> Page {
        let settings = self.identities.site.settings(&parts.cx)?;
        let error = match parts.query.get("error") {
            "invalidkey" => "This link is not valid: it was used before, or a newer one was requested.",
            "expiredkey" => "This link has expired.",
            _ => "",
        };
        if !mail::is_configured(&self.identities.site) {
            return self.form(StatusCode::OK, &settings, parts, &parts.query, error, WITHOUT_MAIL);
        }
        let error = if error.is_empty() { String::new() } else { format!("{error} Request a new one.") };
        Ok(self.lost_password_form(StatusCode::OK, &settings, &parts.query, error))
    }

    fn lost_password_form(
        &self,
        status: StatusCode,
        settings: &Settings,
        form: &Form,
        error: impl Into<String>,
    ) -> PrivateResponse {
        let log_in = self.login_url(settings);
        let template = LostPasswordPage {
            page: Frame::new(settings, "Lost Password"),
            error: error.into(),
            login: form.get("user_login").to_owned(),
            action: redirect::with_query(&log_in, &[("action", "lostpassword")]),
            log_in,
            hidden: hidden(&[("redirect_to", form.get("redirect_to"))]),
        };
        PrivateResponse::html(status, &template)
    }

    /// Handles the form: stores a mail with a link if there is such an account.
    pub(crate) async fn request_reset(&self, parts: &PrivateRequest, form: &Form, settings: &Settings) -> Page {
        if !mail::is_configured(&self.identities.site) {
            return self.show_lost_password(parts);
        }
        let typed = form.get("user_login").trim();
        if typed.is_empty() {
            let text = "The user name or email address is required.";
            return Ok(self.lost_password_form(StatusCode::OK, settings, form, text));
        }
        if let Err(wait) = self.attempts.at_reset(parts.client) {
            let text = format!("Too many requests. Try again in {} s.", seconds(wait));
            let page = self.lost_password_form(StatusCode::TOO_MANY_REQUESTS, settings, form, text);
            return Ok(page.header(header::RETRY_AFTER, seconds(wait)));
        }
        let Ok(_waiting) = WAITING.try_acquire() else {
            let text = "The site is busy. Try again in a few seconds.";
            let page = self.lost_password_form(StatusCode::SERVICE_UNAVAILABLE, settings, form, text);
            return Ok(page.header(header::RETRY_AFTER, "5"));
        };
        let start = Instant::now();
        let stored = self.store_reset(parts, typed).await;
        let n_periods = u32::try_from(start.elapsed().as_millis() / RESPONSE_TIME.as_millis()).unwrap_or(u32::MAX);
        sleep_until(start + RESPONSE_TIME * n_periods.saturating_add(1)).await;
        if let Err(error) = stored {
            // A response would tell that the account exists.
            tracing::error!(error = error.message(), "the mail with a link to set a new password was not stored");
        }
        let confirm = redirect::with_query(&self.login_url(settings), &[("checkemail", "confirm")]);
        Ok(PrivateResponse::redirect(&redirect::on_site(form.get("redirect_to"), settings).unwrap_or(confirm)))
    }

    /// Stores a reset key and a mail for the account with this name or address, if there is one.
    async fn store_reset(&self, parts: &PrivateRequest, typed: &str) -> Result<(), svc_schema::Error> {
        let Some(found) = self.identities.by_name(&parts.cx, typed)? else { return Ok(()) };
        // Silently, since a message would tell that the account exists.
        if self.attempts.at_reset_mail(&found.user.login).is_err() {
            tracing::warn!(client = %parts.client, user = found.user.login, "too many mails with links to set a new password");
            return Ok(());
        }
        let site = std::sync::Arc::clone(&self.identities.site);
        let (settings, id, client) = (site.settings(&parts.cx)?, found.user.id, parts.client.to_string());
        let store = move |tx: &mut svc_store::Tx| mail::accounts::request_reset(tx, &site, &settings, id, &client);
        self.identities.site.write(&parts.cx, store).await
    }
}
