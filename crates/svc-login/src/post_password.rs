//! The password form of protected posts: sets a cookie and redirects to the post.

use http::{StatusCode, header};
use svc_auth::{cookie::site_hash, password};
use svc_site::Settings;

use crate::{LoginPages, Page, PrivateRequest, cookies, form::Form, redirect, response::PrivateResponse, view};

/// Lifetime of the cookie in seconds: ten days, as in WordPress.
const LIFETIME: i64 = 10 * 86_400;

/// Maximum length of a password in bytes. A post's password has up to 255 characters.
const MAX_LENGTH: usize = 1_020;

impl LoginPages {
    /// Sets the cookie for the password in the form. The password is checked when a post is shown.
    pub(crate) async fn open_post(&self, parts: &PrivateRequest, form: &Form, settings: &Settings) -> Page {
        let referer = parts.headers.get(header::REFERER).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let wanted = if form.has("redirect_to") { form.get("redirect_to") } else { referer };
        let to = redirect::on_site(wanted, settings).unwrap_or_else(|| settings.urls.site.home_url("/"));
        if !form.has("post_password") {
            return Ok(PrivateResponse::redirect(&to));
        }
        let typed = form.get("post_password").as_bytes().to_vec();
        if typed.len() > MAX_LENGTH {
            let text = "The password is too long.";
            return Ok(view::message(&parts.cx, self, StatusCode::BAD_REQUEST, "Error", text));
        }
        let hashed = tokio::task::spawn_blocking(move || password::post_password_cookie(&typed)).await;
        let Ok(Ok(value)) = hashed else {
            let text = "The site is busy. Try again in a few seconds.";
            return Ok(view::message(&parts.cx, self, StatusCode::SERVICE_UNAVAILABLE, "Error", text));
        };
        let name = self.identities.site.brand.post_password_cookie() + &site_hash(settings.option("siteurl"));
        Ok(PrivateResponse::redirect(&to).cookies(vec![cookies::guest_cookie(
            &name,
            &value,
            settings,
            self.identities.now(&parts.cx),
            Some(LIFETIME),
        )]))
    }
}
