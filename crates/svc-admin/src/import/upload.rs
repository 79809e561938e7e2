//! Receives the file of an import. It is written to disk while it arrives, so that it can be large.
//!
//! The page is not one of the others, which read the whole form first. The user is known before the file is read.

use std::sync::Arc;
use std::time::Instant;

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
    routing::post,
};
use http::{StatusCode, header};
use multer::Multipart;
use svc_http::{Cost, Runner, run};
use svc_login::{Page, PrivateRequest, PrivateResponse, UserSession};
use svc_schema::Error;
use svc_site::transfer::upload::Upload;

use crate::{
    Admin,
    layout::{IMPORT, IMPORT_FILE},
    request::{ACTION, AdminRequest},
};

/// Maximum size of the nonce, in bytes.
const MAX_NONCE: usize = 100;

/// Why a file is refused: the codes of errors, and what the page shows.
const PROBLEMS: &[(&str, &str)] = &[
    ("rest_upload_too_large", "The file is too large. Import it with the command svc-server import."),
    ("rest_no_wxr", "This is no WXR file, or it is damaged."),
    ("rest_too_many_imports", "Too many imports run. Wait until one has ended."),
    ("rest_upload_failed", "The file has not arrived completely. Try again."),
    ("rest_no_file", "Choose a file."),
    ("rest_no_nonce", "This form has expired. Try again."),
];

/// What the page shows for a code; empty for an unknown one.
pub(super) fn problem(code: &str) -> &'static str {
    PROBLEMS.iter().find(|(known, _)| *known == code).map_or("", |(_, text)| text)
}

fn refused(code: &'static str) -> Error {
    Error::new(code, problem(code)).with_status(400)
}

struct Uploads {
    admin: Admin,
    runner: Arc<dyn Runner>,
}

/// A router for the uploads of imports. The other pages read their forms as a whole; this one must not run behind them.
pub fn upload_router(admin: Admin, runner: Arc<dyn Runner>) -> Router {
    let path = format!("{}/{IMPORT_FILE}", admin.path);
    Router::new().route(&path, post(receive)).with_state(Arc::new(Uploads { admin, runner }))
}

async fn receive(State(uploads): State<Arc<Uploads>>, request: Request) -> Response {
    let (mut head, body) = request.into_parts();
    let cx = uploads.runner.context(&head, Instant::now());
    head.extensions.insert(cx.clone());
    let known = {
        let (uploads, cx) = (Arc::clone(&uploads), cx.clone());
        let probe = Request::from_parts(head.clone(), Body::empty());
        async move {
            let pages = &uploads.admin.pages;
            let parts = PrivateRequest::of(&probe, pages);
            let session = cx.run(async { pages.session(&parts, parts.admin_scheme()) }).await;
            (parts, session)
        }
    };
    let Ok((parts, session)) = run(&*uploads.runner, Cost::Light, known).await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let page = match session {
        Ok(Some(session)) => uploads.admin.receive(parts, session, &head.headers, body).await,
        Ok(None) => Ok(PrivateResponse::redirect(&format!("{}/{IMPORT}", uploads.admin.path))),
        Err(error) => Err(error),
    };
    svc_login::respond(&cx, &uploads.admin.pages, page)
}

impl Admin {
    async fn receive(
        &self,
        parts: PrivateRequest,
        session: UserSession,
        headers: &http::HeaderMap,
        body: Body,
    ) -> Page {
        let visit = AdminRequest::new(self, parts, session);
        // The page shows why.
        if !visit.can("import") {
            return Ok(PrivateResponse::redirect(&visit.url(IMPORT, &[])));
        }
        let query = match visit.read_file(headers, body).await {
            Ok(id) => ("file", id),
            Err(error) if error.status() < 500 || error.status() == 503 => ("refused", error.code().to_owned()),
            Err(error) => return Err(error),
        };
        Ok(PrivateResponse::redirect(&visit.url(IMPORT, &[(query.0, &query.1)])))
    }
}

impl AdminRequest<'_> {
    /// Reads the form: the nonce, and then the file. Returns the ID of the import.
    async fn read_file(&self, headers: &http::HeaderMap, body: Body) -> Result<String, Error> {
        let boundary = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let boundary =
            boundary.and_then(|value| multer::parse_boundary(value).ok()).ok_or_else(|| refused("rest_no_file"))?;
        let mut form = Multipart::new(body.into_data_stream(), boundary);
        let failed = |error: multer::Error| {
            tracing::debug!(%error, "an upload failed");
            refused("rest_upload_failed")
        };
        let mut has_nonce = false;
        while let Some(mut field) = form.next_field().await.map_err(failed)? {
            if field.name() == Some(&*self.admin.pages.nonce_field()) {
                let mut nonce = Vec::new();
                while let Some(chunk) = field.chunk().await.map_err(failed)? {
                    nonce.extend_from_slice(&chunk);
                    if nonce.len() > MAX_NONCE {
                        return Err(refused("rest_no_nonce"));
                    }
                }
                let nonce = String::from_utf8_lossy(&nonce).into_owned();
                has_nonce = self.admin.pages.accepts(&self.parts, &self.session, ACTION, &nonce);
                continue;
            }
            if !has_nonce {
                return Err(refused("rest_no_nonce"));
            }
            if field.name() != Some("file") {
                continue;
            }
            let name = field.file_name().unwrap_or_default().chars().take(200).collect::<String>();
            if name.is_empty() {
                return Err(refused("rest_no_file"));
            }
            let mut upload = Upload::new(self.admin.max_upload)?;
            while let Some(chunk) = field.chunk().await.map_err(failed)? {
                upload.write(&chunk).await?;
            }
            return self.admin.imports.add(self.session.user.id, name, upload.finish().await?).await;
        }
        Err(refused(if has_nonce { "rest_no_file" } else { "rest_no_nonce" }))
    }
}
