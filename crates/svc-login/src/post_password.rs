//! The form that opens posts with a password: it sets a cookie and leads back to the post.

use http::{StatusCode, header};
use svc_auth::{cookie::site_hash, password};
use svc_site::Settings;

use crate::{LoginPages, LoginRequest, Page, cookies, form::Form, redirect, response::LoginResponse, view};

/// How long the browser keeps the cookie, in seconds: ten days, as WordPress.
const LIFETIME: i64 = 10 * 86_400;

/// Longest password that is hashed, in bytes: posts hold up to 255 characters.
const LONGEST: usize = 1_020;

impl LoginPages {
    /// Sets the cookie for the password of the form. Whether it opens anything is seen on the page that it leads to.
    pub(crate) async fn open_post(&self, asked: &LoginRequest, form: &Form, settings: &Settings) -> Page {
        let sites = [settings.option("home"), settings.option("siteurl")];
        let referer = asked.headers.get(header::REFERER).and_then(|v| v.to_str().ok()).unwrap_or_default();
        let wanted = if form.has("redirect_to") { form.get("redirect_to") } else { referer };
        let to = redirect::on_site(wanted, &sites).unwrap_or_else(|| settings.urls.site.home_url("/"));
        if !form.has("post_password") {
            return Ok(LoginResponse::redirect(&to));
        }
        let typed = form.get("post_password").as_bytes().to_vec();
        if typed.len() > LONGEST {
            let text = "This password is too long.";
            return Ok(view::message(self, StatusCode::BAD_REQUEST, "This did not work", text));
        }
        let hashed = tokio::task::spawn_blocking(move || password::post_password_cookie(&typed)).await;
        let Ok(Ok(value)) = hashed else {
            let text = "The site is busy. Try again in some seconds.";
            return Ok(view::message(self, StatusCode::SERVICE_UNAVAILABLE, "This did not work", text));
        };
        let name = self.identities.site.brand.post_password_cookie() + &site_hash(settings.option("siteurl"));
        Ok(LoginResponse::redirect(&to).cookies(vec![cookies::of_guest(
            &name,
            &value,
            settings,
            self.identities.now(),
            Some(LIFETIME),
        )]))
    }
}
