#![doc = include_str!("../README.md")]

mod assets;
mod comments;
mod dashboard;
mod export;
mod form;
mod import;
mod layout;
mod list;
mod media;
mod menus;
mod notices;
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
use http::{Method, StatusCode, header};
use quick_cache::sync::Cache;
use serde_json::json;
use svc_http::context_of;
use svc_login::{Form, LoginPages, Page, PrivateRequest, PrivateResponse};
use svc_metrics::History;
use svc_schema::Error;
use svc_site::transfer::runs::ImportRuns;

pub use import::upload_router;
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
    /// The posts that the latest forms of new posts have created, by user and form: a form whose response was lost is sent again.
    created: Cache<(i64, String), i64>,
    imports: ImportRuns,
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
            created: Cache::new(MAX_CREATED),
            imports: ImportRuns::default(),
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

    fn asset_urls(&self) -> assets::Urls {
        self.urls.clone()
    }
}

/// A router for the pages.
pub fn router(admin: Admin) -> Router {
    let path = admin.path.clone();
    Router::new()
        .route(&path, any(handle_root))
        .route(&format!("{path}/"), any(handle_root))
        .route(&format!("{path}/assets/{{name}}"), get(handle_asset))
        .route(&format!("{path}/{{*page}}"), any(handle))
        .with_state(Arc::new(admin))
}

async fn handle_asset(Path(name): Path<String>) -> Response {
    assets::respond(&name).unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
}

async fn handle_root(State(admin): State<Arc<Admin>>, request: Request) -> Response {
    admin.respond("", request).await
}

async fn handle(State(admin): State<Arc<Admin>>, Path(page): Path<String>, request: Request) -> Response {
    admin.respond(&page, request).await
}

impl Admin {
    async fn respond(&self, page: &str, request: Request) -> Response {
        let cx = context_of(request.extensions());
        let parts = PrivateRequest::of(&request, &self.pages);
        let wants_json = parts.headers.get(header::ACCEPT).is_some_and(|accept| accept == "application/json");
        let response = match self.pages.session(&parts, parts.admin_scheme()) {
            Ok(Some(session)) => {
                let visit = AdminRequest::new(self, parts, session);
                match visit.is_download(page).then(|| visit.download()) {
                    Some(Ok(file)) => return file,
                    Some(Err(error)) => layout::failure(&visit, &error).await,
                    None => visit.respond(page, request, wants_json).await,
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

/// A response for the editor's script.
fn json_response(status: u16, data: &serde_json::Value) -> PrivateResponse {
    PrivateResponse::json(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), data)
}

impl AdminRequest<'_> {
    async fn respond(&self, page: &str, request: Request, wants_json: bool) -> Page {
        let shown = if matches!(*request.method(), Method::GET | Method::HEAD) {
            self.show(page).await
        } else {
            let pages = &self.admin.pages;
            match pages.submitted(&self.parts, request, &self.session, ACTION, MAX_FORM).await {
                Ok(form) => self.submit(page, &form, wants_json).await,
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

    /// Shows a page. The names are those of WordPress's pages, so that links of other programs lead there.
    async fn show(&self, page: &str) -> Page {
        match page {
            "" | "index.php" => self.dashboard().await,
            "edit.php" => self.list_posts().await,
            "post.php" => self.edit_post().await,
            "post-new.php" => self.new_post().await,
            "revision.php" => self.show_revisions().await,
            "upload.php" => self.list_media().await,
            "edit-comments.php" => self.list_comments().await,
            "edit-tags.php" => self.list_terms().await,
            "term.php" => self.edit_term().await,
            "nav-menus.php" => self.show_menus().await,
            layout::TEMPLATES => self.show_templates().await,
            "users.php" => self.list_users().await,
            layout::ROLES => self.show_roles().await,
            "user-new.php" => self.new_user().await,
            "user-edit.php" => self.edit_user().await,
            "options-general.php" => self.show_settings().await,
            layout::PERMALINKS => self.show_permalinks().await,
            layout::EXPORT => self.show_export().await,
            layout::IMPORT => self.show_import().await,
            layout::STATUS => self.show_status().await,
            layout::WEBHOOKS => self.list_webhooks().await,
            layout::WEBHOOK => self.show_webhook().await,
            _ => Err(not_found()),
        }
    }

    /// Handles the form of a page.
    async fn submit(&self, page: &str, form: &Form, wants_json: bool) -> Page {
        match page {
            "edit.php" | "upload.php" => self.change_posts(form).await,
            "post.php" => self.save_post(form, wants_json).await,
            "revision.php" => self.restore_revision(form).await,
            "edit-comments.php" => self.change_comments(form).await,
            "edit-tags.php" => self.change_terms(form).await,
            "term.php" => self.save_term(form).await,
            "nav-menus.php" => self.change_menu(form).await,
            layout::TEMPLATES => self.change_template(form).await,
            "user-new.php" => self.create_user(form).await,
            "user-edit.php" => self.save_user(form).await,
            "options-general.php" => self.save_settings(form).await,
            layout::PERMALINKS => self.save_permalinks(form).await,
            layout::IMPORT => self.change_import(form).await,
            layout::WEBHOOKS => self.create_webhook(form).await,
            layout::WEBHOOK => self.change_webhook(form).await,
            _ => Err(not_found()),
        }
    }
}

fn not_found() -> Error {
    Error::new("admin_page_not_found", "There is no such page.").with_status(404)
}
