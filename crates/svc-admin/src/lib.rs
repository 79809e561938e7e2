#![doc = include_str!("../README.md")]

mod assets;
mod block_editor;
mod comments;
mod dashboard;
mod export;
mod form;
mod health;
mod import;
mod layout;
mod list;
mod media;
mod menus;
mod notices;
mod pages;
mod permalinks;
mod post;
mod posts;
mod request;
mod roles;
mod settings;
mod status;
mod templates;
mod terms;
mod users;
mod webhooks;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Path, Request, State},
    response::{IntoResponse as _, Response},
    routing::{any, get},
};
use http::{Method, StatusCode, header, request::Parts};
use quick_cache::sync::Cache;
use serde_json::json;
use svc_http::{Cost, context_of};
use svc_login::{LoginPages, Page, PrivateRequest, PrivateResponse};
use svc_metrics::History;
use svc_packages::block_editor::BlockEditor;
use svc_schema::Error;
use svc_site::transfer::runs::ImportRuns;

pub use import::upload_router;
use pages::AdminPage;
use request::{ACTION, AdminRequest};

/// Maximum size of a form, in bytes. A post is the largest.
pub const MAX_FORM: usize = 8 << 20;

/// The pages of the admin.
pub struct Admin {
    pages: Arc<LoginPages>,
    /// Path of the admin: `/wp-admin`.
    path: String,
    /// Path of the REST API's default namespace, with a slash at the end.
    rest: String,
    /// Maximum size of an upload, in bytes.
    max_upload: u64,
    urls: assets::Urls,
    /// What the server's numbers were, for the page with its status.
    history: Option<Arc<History>>,
    /// What the tests of the site's health have found last.
    health: health::LastHealth,
    /// The posts that the latest forms of new posts have created, by user and form: a form whose response was lost is sent again.
    created: Cache<(i64, String), i64>,
    imports: ImportRuns,
    /// WordPress's block editor, which the site's owner may have installed.
    block_editor: Option<BlockEditor>,
}

/// Number of forms of new posts that are remembered.
const MAX_CREATED: usize = 1_000;

impl Admin {
    /// The admin of a site. `path` is the path of WordPress's URL: empty, or `/folder`. `rest` is the path of the REST API,
    /// without a slash at the end.
    pub fn new(pages: Arc<LoginPages>, path: &str, rest: &str, max_upload: u64) -> Self {
        let brand = &pages.identities.site.brand;
        let path = format!("{path}/{}", brand.admin_path());
        let rest = format!("{rest}/{}/", brand.namespace());
        let urls = assets::Urls::new(&path);
        Admin {
            urls,
            history: None,
            health: health::LastHealth::default(),
            created: Cache::new(MAX_CREATED),
            imports: ImportRuns::default(),
            block_editor: None,
            pages,
            path,
            rest,
            max_upload,
        }
    }

    /// Adds a page with the server's status, from these numbers.
    #[must_use]
    pub fn with_history(mut self, history: Arc<History>) -> Self {
        self.history = Some(history);
        self
    }

    /// Shares the imports with the admin of [`upload_router`].
    #[must_use]
    pub fn with_imports(mut self, imports: ImportRuns) -> Self {
        self.imports = imports;
        self
    }

    /// Offers WordPress's block editor, if it is installed in the content folder.
    #[must_use]
    pub fn with_block_editor(mut self, editor: BlockEditor) -> Self {
        self.block_editor = Some(editor);
        self
    }

    /// The cost of requests to the [`router`]: heavy for lists that are searched, and far into them.
    pub fn cost(&self) -> impl Fn(&Parts) -> Cost + use<> {
        let path = self.path.clone();
        move |parts| pages::cost(&path, &parts.uri)
    }

    fn asset_urls(&self) -> assets::Urls {
        self.urls.clone()
    }
}

/// A router for the pages.
pub fn router(admin: Admin) -> Router {
    let path = admin.path.clone();
    Router::new()
        .route(&path, any(handle))
        .route(&format!("{path}/"), any(handle))
        .route(&format!("{path}/assets/{{name}}"), get(handle_asset))
        .route(&format!("{path}/{}/{{name}}", block_editor::FILES), get(block_editor::handle_file))
        .route(&format!("{path}/{{*page}}"), any(handle))
        .with_state(Arc::new(admin))
}

async fn handle_asset(Path(name): Path<String>) -> Response {
    assets::respond(&name).unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
}

async fn handle(State(admin): State<Arc<Admin>>, request: Request) -> Response {
    let page = pages::name_in(&admin.path, request.uri()).into_owned();
    admin.respond(&page, request).await
}

impl Admin {
    async fn respond(&self, page: &str, request: Request) -> Response {
        let cx = context_of(request.extensions());
        let parts = PrivateRequest::of(&request, &self.pages);
        let wants_json = wants_json(&parts);
        let response = match self.pages.session(&parts, parts.admin_scheme()) {
            Ok(Some(session)) => {
                let visit = AdminRequest::new(self, parts, session);
                match visit.is_download(page).then(|| visit.download()) {
                    Some(Ok(file)) => return file,
                    Some(Err(error)) => layout::failure(&visit, &error).await,
                    None => visit.respond(page, request).await,
                }
            }
            Ok(None) => self.pages.identities.site.settings(&cx).map(|settings| {
                if wants_json {
                    let login = self.pages.login_url(&settings);
                    return json_response(401, &json!({"message": "You are logged out.", "login": login}));
                }
                self.pages.to_login(&parts, &settings)
            }),
            Err(error) => Err(error),
        };
        svc_login::respond(&cx, &self.pages, response)
    }
}

/// Whether the editor's script sends the request, which expects JSON.
fn wants_json(parts: &PrivateRequest) -> bool {
    parts.headers.get(header::ACCEPT).is_some_and(|accept| accept == "application/json")
}

/// A response for the editor's script.
fn json_response(status: u16, data: &serde_json::Value) -> PrivateResponse {
    PrivateResponse::json(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), data)
}

impl AdminRequest<'_> {
    async fn respond(&self, page: &str, request: Request) -> Page {
        let (page, wants_json) = (AdminPage::find(page), wants_json(&self.parts));
        let shown = if matches!(*request.method(), Method::GET | Method::HEAD) {
            match page {
                Some(page) => (page.show)(self).await,
                None => Err(not_found()),
            }
        } else {
            let pages = &self.admin.pages;
            match pages.submitted(&self.parts, request, &self.session, ACTION, MAX_FORM).await {
                Ok(form) => match page.and_then(|page| page.submit) {
                    Some(submit) => submit(self, &form).await,
                    None => Err(not_found()),
                },
                Err(refused) if wants_json => {
                    let data = json!({"message": "This form has expired."});
                    return Ok(json_response(refused.status().as_u16(), &data));
                }
                Err(refused) => return Ok(refused),
            }
        };
        match shown {
            Err(error) if wants_json => Ok(post::save::error_for_script(&error)),
            Err(error) => layout::failure(self, &error).await,
            shown => shown,
        }
    }
}

fn not_found() -> Error {
    Error::new("admin_page_not_found", "There is no such page.").with_status(404)
}
