#![doc = include_str!("../README.md")]

mod account;
mod authenticate;
mod authorize;
mod browser;
mod comment;
mod cookies;
mod details;
mod factor_changes;
mod form;
mod identity;
mod log_in_out;
mod lost_password;
mod once;
mod passkeys;
mod post_password;
mod profile;
mod proof;
mod qr;
mod rate_limit;
mod redirect;
mod reset_password;
mod response;
mod second_factor;
mod sessions;
mod set_up;
mod shared_attempts;
pub mod two_factor;
mod view;

use std::{net::IpAddr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
    routing::{any, get},
};
use http::{HeaderMap, Method, StatusCode, header};
use serde_json::Value;
use svc_auth::{Caller, Scheme, nonce::NonceSubject, two_factor::TwoFactor};
use svc_http::context_of;
use svc_listen::Client;
use svc_model::User;
use svc_routing::Server;
use svc_site::Settings;
use svc_site::caller::ClientAddress;
use svc_versions::{Context, Transport};

pub use authenticate::{Administrator, SiteAuthenticator, WrongPassword};
pub use form::Form;
pub use identity::{ANONYMOUS, Identities, LoginSettings, SESSIONS, UserCredentials, cookie_value, token_of};
pub use once::ShownOnce;
pub use rate_limit::Attempts;
pub use redirect::{on_site, with_query};
pub use response::PrivateResponse;
pub use shared_attempts::ShareAttempts;

/// State of the log-in pages.
pub struct LoginPages {
    /// Finds the user of a cookie.
    pub identities: Arc<Identities>,
    /// Counts failed attempts.
    pub attempts: Arc<Attempts>,
    /// Returns the current server of the REST API for requests with a transport.
    pub server: Box<dyn Fn(Transport) -> Server + Send + Sync>,
    /// Whether the site runs on a developer's machine. Applications may then use URLs without TLS.
    pub local: bool,
    /// The path of the API explorer, if there is one. The account page links to it.
    pub explorer: Option<String>,
    /// Whether another router serves the rest of the administration area. The account page links to it.
    pub admin: bool,
}

/// A router for the pages. `path` is the path of WordPress's URL: empty, or `/folder`.
pub fn router(pages: Arc<LoginPages>, path: &str) -> Router {
    let brand = &pages.identities.site.brand;
    let (login, admin_path) = (format!("{path}/{}", brand.login_path()), format!("{path}/{}", brand.admin_path()));
    let (root, others) = (format!("{admin_path}/"), format!("{admin_path}/{{*rest}}"));
    let router = Router::new()
        .route(&format!("{path}/wp-comments-post.php"), any(comment::handle))
        .route(&login, any(log_in_out::handle))
        .route(&format!("{admin_path}/profile.php"), any(profile::handle))
        .route(&format!("{admin_path}/{}", two_factor::PAGE), any(two_factor::handle))
        .route(&format!("{admin_path}/{}", passkeys::SCRIPT_NAME), get(passkeys::script))
        .route(&format!("{admin_path}/authorize-application.php"), any(authorize::handle))
        .route(&format!("{admin_path}/install.php"), any(set_up::handle))
        .route(&format!("{admin_path}/admin-ajax.php"), any(ajax));
    let router = if pages.admin {
        router
    } else {
        router.route(&admin_path, any(admin_root)).route(&root, any(admin_root)).route(&others, any(missing))
    };
    router.with_state(pages)
}

/// The parts of a request for a log-in page, or for a page of users who are logged in, apart from its body.
pub struct PrivateRequest {
    /// The request's context.
    pub cx: Context,
    /// The headers.
    pub headers: HeaderMap,
    /// The parameters of the query string.
    pub query: Form,
    /// Path and query, as sent.
    pub url: String,
    client: IpAddr,
    /// Whether the site has URLs with TLS: the browser has reached it over TLS, or is redirected there.
    tls: bool,
}

impl PrivateRequest {
    /// The parts of this request.
    pub fn of(request: &Request, pages: &LoginPages) -> Self {
        let client = request.extensions().get::<Client>();
        let cx = context_of(request.extensions());
        let settings = pages.identities.site.settings(&cx);
        let is_tls_site = settings.is_ok_and(|settings| settings.urls.site.site_url("").starts_with("https://"));
        PrivateRequest {
            cx,
            headers: request.headers().clone(),
            query: Form::parse(request.uri().query().unwrap_or_default()),
            url: request.uri().to_string(),
            client: client.map_or(IpAddr::from([0, 0, 0, 0]), |c| c.address),
            tls: is_tls_site,
        }
    }

    /// The scheme of the cookie that the administration area uses.
    pub fn admin_scheme(&self) -> Scheme {
        if self.tls { Scheme::SecureAuth } else { Scheme::Auth }
    }

    /// Whether a page of another site made the browser send this request, by the headers that browsers add. Other clients have
    /// no cookies that could be abused.
    fn is_cross_site(&self, settings: &Settings) -> bool {
        let text = |name: &str| self.headers.get(name).and_then(|v| v.to_str().ok());
        if let Some(origin) = text("origin") {
            let authority = origin.split_once("://").map_or("", |(_, authority)| authority);
            let is_own =
                |site: &str| site == origin || site.strip_prefix(origin).is_some_and(|rest| rest.starts_with('/'));
            let urls = &settings.urls.site;
            return !is_own(&urls.site_url(""))
                && !is_own(&urls.home_url(""))
                && text("host").is_none_or(|host| host != authority);
        }
        text("sec-fetch-site").is_some_and(|site| matches!(site, "cross-site" | "same-site"))
    }
}

/// A user who is logged in, and the session.
pub struct UserSession {
    /// The user.
    pub user: User,
    /// The user with their capabilities.
    pub caller: Caller,
    /// The session's token.
    token: String,
    /// The second factor, if two-factor log-in is on.
    two_factor: Option<TwoFactor>,
    /// Whether the user must set up two-factor log-in first.
    must_set_up: bool,
    /// The settings of the site.
    pub settings: Arc<Settings>,
}

impl UserSession {
    /// The user's name as text: it is stored with HTML entities.
    pub fn display_name(&self) -> String {
        svc_text::specialchars_decode(&self.user.display_name, svc_text::Quotes::Both)
    }

    /// The subject of this session's nonces.
    pub fn nonce_subject(&self) -> NonceSubject<'_> {
        NonceSubject { user: self.user.id, token: &self.token }
    }
}

/// A page, or the error that is shown instead.
pub type Page = Result<PrivateResponse, svc_schema::Error>;

/// The data of a REST API response.
type Data = Result<Value, svc_schema::Error>;

impl LoginPages {
    /// The session of the cookie of this scheme, if it is valid. `None` for users who must set up two-factor log-in first.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn session(&self, parts: &PrivateRequest, scheme: Scheme) -> Result<Option<UserSession>, svc_schema::Error> {
        let session = self.any_session(parts, scheme)?.filter(|session| !session.must_set_up);
        parts.cx.set_caller(session.as_ref().map_or(0, |session| session.user.id.0));
        Ok(session)
    }

    /// Like [`Self::session`], also of users who must set up two-factor log-in first.
    fn any_session(&self, parts: &PrivateRequest, scheme: Scheme) -> Result<Option<UserSession>, svc_schema::Error> {
        if !parts.headers.contains_key(header::COOKIE) {
            return Ok(None);
        }
        let config = self.identities.login_settings(&parts.cx)?;
        let name = match scheme {
            Scheme::Auth => &config.cookies.auth,
            Scheme::SecureAuth => &config.cookies.secure_auth,
            Scheme::LoggedIn | Scheme::Nonce => &config.cookies.logged_in,
        };
        let Some(value) = cookie_value(&parts.headers, name) else { return Ok(None) };
        let (_, subject) = self.identities.by_cookie_value(&parts.cx, &value, scheme, false)?;
        let session = subject.map(|subject| UserSession {
            caller: config.caller(&subject),
            token: token_of(&value).to_owned(),
            settings: Arc::clone(&config.settings),
            must_set_up: self.identities.must_set_up_two_factor(&config, &subject),
            two_factor: subject.two_factor.clone(),
            user: subject.user.clone(),
        });
        Ok(session)
    }

    /// Whether application passwords are available to a request.
    fn has_passwords(&self, parts: &PrivateRequest) -> bool {
        self.identities.site.has_application_passwords(parts.cx.transport())
    }

    /// URL of a page in the administration area.
    pub fn admin_url(&self, settings: &Settings, page: &str) -> String {
        settings.urls.site.site_url(&format!("{}/{page}", self.identities.site.brand.admin_path()))
    }

    /// URL of the log-in page.
    pub fn login_url(&self, settings: &Settings) -> String {
        settings.urls.site.site_url(self.identities.site.brand.login_path())
    }

    /// A redirect to the log-in page, which then redirects back; to the page that sets up two-factor log-in for users who must do that
    /// first.
    pub fn to_login(&self, parts: &PrivateRequest, settings: &Settings) -> PrivateResponse {
        let back = redirect::on_site(&parts.url, settings).unwrap_or_default();
        if matches!(self.any_session(parts, parts.admin_scheme()), Ok(Some(session)) if session.must_set_up) {
            return PrivateResponse::redirect(&self.two_factor_url(settings, &back));
        }
        let to = redirect::with_query(&self.login_url(settings), &[("redirect_to", &back), ("reauth", "1")]);
        PrivateResponse::redirect(&to)
    }

    /// Name of the form field with the nonce.
    pub fn nonce_field(&self) -> String {
        self.identities.site.brand.nonce_param()
    }

    /// Whether the form contains a valid nonce for this action and session.
    fn has_nonce(&self, parts: &PrivateRequest, form: &Form, action: &str, session: &UserSession) -> bool {
        self.identities.is_nonce(&parts.cx, form.get(&self.nonce_field()), action, session.nonce_subject())
    }

    /// Whether a form that is not read by [`Self::submitted`] may be handled: it has this nonce of the session, and is on a page of the
    /// site.
    pub fn accepts(&self, parts: &PrivateRequest, session: &UserSession, action: &str, nonce: &str) -> bool {
        !parts.is_cross_site(&session.settings)
            && self.identities.is_nonce(&parts.cx, nonce, action, session.nonce_subject())
    }

    /// A cookie that keeps a choice of the user about the pages of the administration area for a year.
    pub fn choice_cookie(&self, parts: &PrivateRequest, session: &UserSession, name: &str, value: &str) -> String {
        cookies::choice_cookie(name, value, &self.admin_url(&session.settings, ""), parts.tls)
    }

    /// A request to the REST API with this user's rights. A route without a leading slash is one of the default namespace.
    pub fn rest_request(
        &self,
        session: &UserSession,
        parts: &PrivateRequest,
        method: Method,
        route: &str,
    ) -> svc_routing::Request {
        let route = match route.starts_with('/') {
            true => route.to_owned(),
            false => format!("/{}/{route}", self.identities.site.brand.namespace()),
        };
        svc_routing::Request::new(method, route)
            .with_caller(session.caller.clone())
            .with_cx(parts.cx.clone())
            .with_extension(ClientAddress(parts.client))
    }

    /// Sends a request to the REST API as this user. `body` is sent as JSON.
    async fn call(
        &self,
        session: &UserSession,
        parts: &PrivateRequest,
        method: Method,
        route: &str,
        body: Option<&Value>,
    ) -> Data {
        let mut request = self.rest_request(session, parts, method, route);
        if let Some(body) = body {
            request = request.with_json(body);
        }
        let response = (self.server)(parts.cx.transport()).dispatch(request).await;
        match response.error() {
            Some(error) => Err(error.clone()),
            None => Ok(response.data),
        }
    }

    /// The form that this request submits.
    ///
    /// # Errors
    /// The page to show instead if the method is not `POST`, if the form has more than `max_size` bytes or no valid nonce of this
    /// action and session, or if it is on a page of another site.
    pub async fn submitted(
        &self,
        parts: &PrivateRequest,
        request: Request,
        session: &UserSession,
        action: &str,
        max_size: usize,
    ) -> Result<Form, PrivateResponse> {
        let refuse = |status, text| view::message(&parts.cx, self, status, "Error", text);
        if *request.method() != Method::POST {
            let text = "This method is not allowed. Submit a form.";
            return Err(refuse(StatusCode::METHOD_NOT_ALLOWED, text).header(header::ALLOW, "GET, HEAD, POST"));
        }
        let form =
            form::read_up_to(request, max_size).await.map_err(|status| refuse(status, "The form is too large."))?;
        if parts.is_cross_site(&session.settings) || !self.has_nonce(parts, &form, action, session) {
            let text = "This form has expired. Go back, reload the page and try again.";
            return Err(refuse(StatusCode::FORBIDDEN, text).because(response::NO_NONCE));
        }
        Ok(form)
    }

    /// A page with a message.
    pub fn message(&self, parts: &PrivateRequest, status: StatusCode, heading: &str, text: &str) -> PrivateResponse {
        view::message(&parts.cx, self, status, heading, text)
    }
}

/// Converts a page to a response; shows errors as a page.
pub fn respond(cx: &Context, pages: &LoginPages, page: Page) -> Response {
    page.unwrap_or_else(|error| {
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        view::message(cx, pages, status, "Error", error.message())
    })
    .into_response()
}

/// The root of the administration area: redirects to the profile, its only page.
async fn admin_root(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let cx = context_of(request.extensions());
    let page =
        pages.identities.site.settings(&cx).map(|s| PrivateResponse::redirect(&pages.admin_url(&s, "profile.php")));
    respond(&cx, &pages, page)
}

async fn missing(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let cx = context_of(request.extensions());
    let mut text =
        "This site has no administration area, only a profile page. Write posts and change settings through the REST \
                    API, with an editor or app that supports it"
            .to_owned();
    text.push_str(if pages.explorer.is_some() {
        ", or in the API Explorer, to which the profile page links."
    } else {
        "."
    });
    respond(&cx, &pages, Ok(view::message(&cx, &pages, StatusCode::NOT_FOUND, "Not found", &text)))
}

/// `admin-ajax.php`, for its one supported action: a new REST API nonce for the current session.
async fn ajax(State(pages): State<Arc<LoginPages>>, request: Request) -> Response {
    let parts = PrivateRequest::of(&request, &pages);
    let mut action = parts.query.get("action").to_owned();
    if action.is_empty() && *request.method() == Method::POST {
        action = form::read(request).await.map(|form| form.get("action").to_owned()).unwrap_or_default();
    }
    let page = pages.session(&parts, parts.admin_scheme()).map(|session| match session {
        Some(session) if action == "rest-nonce" => {
            let action = pages.identities.site.brand.nonce_action();
            PrivateResponse::plain(StatusCode::OK, pages.identities.nonce(&parts.cx, &action, session.nonce_subject()))
        }
        _ => PrivateResponse::plain(StatusCode::BAD_REQUEST, "0".to_owned()),
    });
    respond(&parts.cx, &pages, page)
}
