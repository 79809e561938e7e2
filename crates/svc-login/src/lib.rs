#![doc = include_str!("../README.md")]

mod authenticate;
mod authorize;
mod client;
mod comment;
mod cookies;
mod form;
mod identity;
mod log_in_out;
mod post_password;
mod profile;
mod rate_limit;
mod redirect;
mod response;
mod view;

use std::{net::IpAddr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
    routing::any,
};
use form::Form;
use http::{HeaderMap, Method, StatusCode, header};
use response::LoginResponse;
use serde_json::Value;
use svc_auth::{Caller, Scheme, nonce::NonceSubject};
use svc_controllers::ClientAddress;
use svc_model::User;
use svc_routing::Server;
use svc_site::Settings;

pub use authenticate::SiteAuthenticator;
pub use client::{Client, FORWARDED_FOR, network_of};
pub use identity::{AuthenticatedUser, Identities, NOBODY, SESSIONS, Subject, cookie_value, token_of};
pub use rate_limit::Attempts;
pub use view::language;

/// What the pages are made from.
pub struct LoginPages {
    /// Finds the user of a cookie.
    pub identities: Arc<Identities>,
    /// Counts failed attempts.
    pub attempts: Arc<Attempts>,
    /// The interface as it stands now.
    pub server: Box<dyn Fn() -> Server + Send + Sync>,
    /// Application passwords may be used on this site.
    pub passwords_available: bool,
    /// The site is one on a developer's machine.
    pub local: bool,
}

/// The pages under the path of the site's installation (empty, or `/folder`).
pub fn router(pages: Arc<LoginPages>, path: &str) -> Router {
    let brand = &pages.identities.site.brand;
    let (login, admin) = (format!("{path}/{}", brand.login_path()), format!("{path}/{}", brand.admin_path()));
    Router::new()
        .route(&format!("{path}/wp-comments-post.php"), any(comment::answer))
        .route(&login, any(log_in_out::answer))
        .route(&admin, any(front))
        .route(&format!("{admin}/"), any(front))
        .route(&format!("{admin}/profile.php"), any(profile::answer))
        .route(&format!("{admin}/authorize-application.php"), any(authorize::answer))
        .route(&format!("{admin}/admin-ajax.php"), any(ajax))
        .route(&format!("{admin}/{{*rest}}"), any(missing))
        .with_state(pages)
}

/// A request as the pages see it.
struct LoginRequest {
    headers: HeaderMap,
    query: Form,
    /// Path and query as they came.
    address: String,
    client: IpAddr,
    /// The browser reached the site over TLS.
    tls: bool,
}

impl LoginRequest {
    fn of(request: &Request, pages: &LoginPages) -> Self {
        let client = request.extensions().get::<Client>();
        let settings = pages.identities.site.settings();
        LoginRequest {
            headers: request.headers().clone(),
            query: Form::parse(request.uri().query().unwrap_or_default()),
            address: request.uri().to_string(),
            client: client.map_or(IpAddr::from([0, 0, 0, 0]), |c| c.address),
            tls: client.is_some_and(|c| c.tls) || settings.is_ok_and(|s| s.option("siteurl").starts_with("https://")),
        }
    }

    /// The scheme of the cookies that the administration area goes by.
    fn admin_scheme(&self) -> Scheme {
        if self.tls { Scheme::SecureAuth } else { Scheme::Auth }
    }

    /// Whether another site's page made the browser send this. Only browsers tell; programs have no cookies to abuse.
    fn comes_from_elsewhere(&self, settings: &Settings) -> bool {
        let text = |name: &str| self.headers.get(name).and_then(|v| v.to_str().ok());
        if let Some(origin) = text("origin") {
            let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
            let own =
                |site: &str| site == origin || site.strip_prefix(origin).is_some_and(|rest| rest.starts_with('/'));
            return !own(settings.option("siteurl"))
                && !own(settings.option("home"))
                && text("host").is_none_or(|host| host != authority);
        }
        text("sec-fetch-site").is_some_and(|site| matches!(site, "cross-site" | "same-site"))
    }
}

/// Somebody who is signed in.
struct SignedIn {
    user: User,
    caller: Caller,
    /// The session's token.
    token: String,
    settings: Arc<Settings>,
}

impl SignedIn {
    fn bearer(&self) -> NonceSubject<'_> {
        NonceSubject { user: self.user.id, token: &self.token }
    }
}

/// A page, or why there is none.
type Page = Result<LoginResponse, svc_schema::Error>;

/// What the interface answers.
type Data = Result<Value, svc_schema::Error>;

impl LoginPages {
    /// Who is signed in by the cookie of this scheme.
    fn signed_in(&self, asked: &LoginRequest, scheme: Scheme) -> Result<Option<SignedIn>, svc_schema::Error> {
        if !asked.headers.contains_key(header::COOKIE) {
            return Ok(None);
        }
        self.identities.site.read(|db| {
            let known = self.identities.known(db)?;
            let name = match scheme {
                Scheme::Auth => &known.cookies.auth,
                Scheme::SecureAuth => &known.cookies.secure_auth,
                Scheme::LoggedIn | Scheme::Nonce => &known.cookies.logged_in,
            };
            let Some(value) = cookie_value(&asked.headers, name) else { return Ok(None) };
            let (_, subject) = self.identities.of_cookie(db, &value, scheme, false)?;
            Ok(subject.map(|subject| self.as_signed_in(&subject, &value, &known, db.prefix())))
        })
    }

    fn as_signed_in(
        &self,
        subject: &identity::Subject,
        value: &str,
        known: &AuthenticatedUser,
        prefix: &str,
    ) -> SignedIn {
        SignedIn {
            caller: known.caller(subject, prefix),
            token: token_of(value).to_owned(),
            settings: Arc::clone(&known.settings),
            user: subject.user.clone(),
        }
    }

    /// An address in the administration area.
    fn admin_url(&self, settings: &Settings, page: &str) -> String {
        settings.urls.site.site_url(&format!("{}/{page}", self.identities.site.brand.admin_path()))
    }

    fn login_url(&self, settings: &Settings) -> String {
        settings.urls.site.site_url(self.identities.site.brand.login_path())
    }

    /// The log-in page, which leads back to what was asked for.
    fn to_login(&self, asked: &LoginRequest, settings: &Settings) -> LoginResponse {
        let sites = [settings.option("siteurl")];
        let back = redirect::on_site(&asked.address, &sites).unwrap_or_default();
        let to = redirect::with_query(&self.login_url(settings), &[("redirect_to", &back), ("reauth", "1")]);
        LoginResponse::redirect(&to)
    }

    /// Name of the field that carries a nonce.
    fn nonce_field(&self) -> String {
        self.identities.site.brand.nonce_param()
    }

    /// Whether the form brought a nonce of this action for this user.
    fn has_nonce(&self, form: &Form, action: &str, who: &SignedIn) -> bool {
        self.identities.is_nonce(form.get(&self.nonce_field()), action, who.bearer())
    }

    /// What the interface answers to this user; `body` goes as JSON.
    async fn call(&self, who: &SignedIn, client: IpAddr, method: Method, route: &str, body: Option<&Value>) -> Data {
        let route = format!("/{}/{route}", self.identities.site.brand.namespace());
        let mut request = svc_routing::Request::new(method, route)
            .with_caller(who.caller.clone())
            .with_authenticated(true)
            .with_extension(ClientAddress(client));
        if let Some(body) = body {
            request = request.with_json(body);
        }
        let response = (self.server)().dispatch(request).await;
        match response.error() {
            Some(error) => Err(error.clone()),
            None => Ok(response.data),
        }
    }
}

/// Makes a response of what a page gave.
fn respond(pages: &LoginPages, page: Page) -> Response {
    page.unwrap_or_else(|error| {
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        view::message(pages, status, "This did not work", error.message())
    })
    .into_response()
}

/// The front of the administration area: there is nothing but the profile.
async fn front(State(pages): State<Arc<LoginPages>>) -> Response {
    let page = pages.identities.site.settings().map(|s| LoginResponse::redirect(&pages.admin_url(&s, "profile.php")));
    respond(&pages, page)
}

async fn missing(State(pages): State<Arc<LoginPages>>) -> Response {
    let text = "The administration area of this site has no such page.";
    respond(&pages, Ok(view::message(&pages, StatusCode::NOT_FOUND, "Not found", text)))
}

/// The one thing that clients ask of `admin-ajax.php`: a nonce of the interface for a session that lives on.
async fn ajax(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let asked = LoginRequest::of(&request, &pages);
    let mut action = asked.query.get("action").to_owned();
    if action.is_empty() && *request.method() == Method::POST {
        action = form::read(request).await.map(|form| form.get("action").to_owned()).unwrap_or_default();
    }
    let page = pages.signed_in(&asked, asked.admin_scheme()).map(|who| match who {
        Some(who) if action == "rest-nonce" => {
            let action = pages.identities.site.brand.nonce_action();
            LoginResponse::plain(StatusCode::OK, pages.identities.nonce(&action, who.bearer()))
        }
        _ => LoginResponse::plain(StatusCode::BAD_REQUEST, "0".to_owned()),
    });
    respond(&pages, page)
}
