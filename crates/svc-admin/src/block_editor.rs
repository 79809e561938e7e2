//! WordPress's block editor, if the site's owner has installed it: the page that starts it, and its files.
//!
//! The editor talks to the REST API alone. Its files are those that `svc-server editor install` has built in the content folder.

use std::sync::Arc;

use askama::Template;
use axum::{
    body::Bytes,
    extract::{Path, RawQuery, State},
    response::{IntoResponse as _, Response},
};
use http::{Method, StatusCode, header};
use serde_json::{Map, Value, json};
use svc_login::{Form, Page, PrivateResponse};
use svc_packages::block_editor::InstalledEditor;
use svc_schema::Error;
use svc_site::users::locales::language_tag;

use crate::{
    Admin,
    layout::{BLOCK_EDITOR, TypeInfo},
    posts::{allows, title_of},
    request::{AdminRequest, text},
};

/// Folder of the files' URLs, below the path of the admin.
pub(crate) const FILES: &str = "block-editor";

/// Names in URLs, names of the installed files, and media types.
const SERVED: [(&str, &str, &str); 3] = [
    ("editor.js", "editor.js.gz", "text/javascript; charset=UTF-8"),
    ("editor.css", "editor.css.gz", "text/css; charset=UTF-8"),
    ("content.css", "content.css.gz", "text/css; charset=UTF-8"),
];

/// Content security policy of the page: scripts of the server only. The editor adds `style` elements, shows the content in a frame
/// with a `blob:` URL and the page's base URL, and embedded pages in frames.
const SOURCES: &str = "script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob: http: https:; media-src 'self' \
                       blob: http: https:; connect-src 'self'; font-src 'self' data:; frame-src 'self' blob: https:; base-uri 'self'";

/// What the editor reads of the API's index.
const INDEX_FIELDS: [&str; 16] = [
    "description",
    "gmt_offset",
    "home",
    "image_max_bit_depth",
    "image_sizes",
    "image_size_threshold",
    "image_strip_meta",
    "name",
    "site_icon",
    "site_icon_url",
    "site_logo",
    "timezone_string",
    "url",
    "page_for_posts",
    "page_on_front",
    "show_on_front",
];

/// Title of a new post. A post without a title and a content cannot be stored.
const NEW_TITLE: &str = "Untitled";

fn not_installed() -> Error {
    let message =
        "The block editor is not installed. The owner of the server can install it: svc-server editor install.";
    Error::new("admin_no_block_editor", message).with_status(404)
}

#[derive(Template)]
#[template(path = "block_editor.html")]
struct BlockEditorPage {
    lang: String,
    title: String,
    script: String,
    style: String,
    /// JSON that contains no `<`.
    config: String,
    edit: String,
}

impl Admin {
    /// The installed editor.
    fn installed_block_editor(&self) -> Option<Arc<InstalledEditor>> {
        self.block_editor.as_ref()?.current().unwrap_or_else(|error| {
            tracing::warn!("cannot read the block editor: {error}; run svc-server editor install");
            None
        })
    }

    /// The URL of a file, which changes with its content.
    fn block_editor_file(&self, editor: &InstalledEditor, name: &str) -> String {
        let known = SERVED.iter().find(|(served, ..)| *served == name);
        let hash = known.and_then(|(_, stored, _)| editor.file(stored)).map_or("", |file| &file.hash);
        format!("{}/{FILES}/{name}?v={hash}", self.path)
    }
}

impl AdminRequest<'_> {
    /// Whether posts of the type can be edited in the block editor: it is installed, and they have a content.
    pub(crate) fn has_block_editor(&self, info: &TypeInfo) -> bool {
        info.has_content && self.admin.installed_block_editor().is_some()
    }

    /// The page with the block editor of a post.
    pub(crate) fn block_editor_url(&self, id: i64) -> String {
        self.url(BLOCK_EDITOR, &[("post", &id.to_string())])
    }

    /// Creates a draft and opens it in the block editor, which has no post that is not stored.
    pub(crate) async fn new_in_block_editor(&self) -> Page {
        self.admin.installed_block_editor().ok_or_else(not_installed)?;
        let info = self.post_type(self.param("post_type")).await?;
        let body = json!({ "title": NEW_TITLE, "status": "draft" });
        let created = self.post(&*info.rest_base, body).query("context", "edit").send().await?.data;
        let id = created["id"].as_i64().unwrap_or_default().to_string();
        Ok(PrivateResponse::redirect(&self.url(BLOCK_EDITOR, &[("post", &id), ("new", "1")])))
    }

    /// The page with the block editor of a post.
    pub(crate) async fn show_block_editor(&self) -> Page {
        let admin = self.admin;
        let editor = admin.installed_block_editor().ok_or_else(not_installed)?;
        let id = self.id("post").unwrap_or_default();
        let (info, post) = self.post_of(id).await?;
        let post = post.data;
        if !info.has_content || !allows(&post, "PUT") {
            return Err(Error::new("admin_cannot_edit", "You may not edit this post.").with_status(403));
        }
        if text(&post, "/status") == "trash" {
            let message = "This post is in the trash. Restore it there, then edit it.";
            return Err(Error::new("admin_post_in_trash", message).with_status(400));
        }
        let autosave = self.newer_autosave(&info, &post).await?;
        let brand = &admin.pages.identities.site.brand;
        let root = admin.rest.strip_suffix(&format!("{}/", brand.namespace())).unwrap_or(&admin.rest);
        let config = json!({
            "brand": brand.word(),
            "root": root,
            "nonce": self.rest_nonce(),
            "nonceUrl": self.url("admin-ajax.php", &[("action", "rest-nonce")]),
            "user": self.session.user.id.0,
            "post": id,
            "type": info.name,
            // A new post appears without its title, until it is saved.
            "isNew": !self.param("new").is_empty() && text(&post, "/title/raw") == NEW_TITLE,
            "autosave": autosave.map(|autosave| autosave.url),
            "maxUpload": admin.max_upload,
            "contentCss": admin.block_editor_file(&editor, "content.css"),
            "preload": self.editor_responses(&info, &post).await,
            "lock": { "url": self.edit_url(id), "fields": { admin.pages.nonce_field(): self.nonce() } },
        });
        let page = BlockEditorPage {
            lang: language_tag(self.session.settings.option("WPLANG")),
            title: title_of(&post),
            script: admin.block_editor_file(&editor, "editor.js"),
            style: admin.block_editor_file(&editor, "editor.css"),
            config: config.to_string().replace('<', "\\u003c"),
            edit: self.edit_url(id),
        };
        Ok(PrivateResponse::html(StatusCode::OK, &page).sources(SOURCES))
    }

    /// The responses that the editor needs before it can show the post.
    async fn editor_responses(&self, info: &TypeInfo, post: &Value) -> Map<String, Value> {
        let brand = &self.admin.pages.identities.site.brand;
        let (root, base, id) = (format!("/{}", brand.namespace()), info.rest_base.as_str(), &post["id"]);
        let theme =
            self.get("themes").query("status", "active").send().await.map(|reply| reply.data).unwrap_or_default();
        let links = theme[0]["_links"].as_object().into_iter().flatten();
        let styles = links.filter(|(relation, _)| relation.ends_with(":user-global-styles"));
        let styles = styles.filter_map(|(_, links)| links[0]["href"].as_str()?.rsplit(['/', '=']).next()).next();
        let theme = text(&theme, "/0/stylesheet");
        let template = if info.name == "page" { "page".to_owned() } else { format!("single-{}", info.name) };
        let template = match text(post, "/slug") {
            "" => template,
            slug => format!("{template}-{slug}"),
        };
        let mut reads = vec![
            format!("/{}/settings", brand.side_namespace("block-editor")),
            format!("/?_fields={}", INDEX_FIELDS.join("%2C")),
            format!("{root}/users/me"),
            format!("{root}/users/{}?context=view&_fields=id%2Cname", post["author"]),
            format!("{root}/types?context=view"),
            format!("{root}/types/{}?context=edit", info.name),
            format!("{root}/taxonomies?context=view"),
            format!("{root}/taxonomies?context=edit"),
            format!("{root}/settings"),
            format!("{root}/block-patterns/categories"),
            format!("{root}/templates/lookup?slug=front-page"),
            format!("{root}/templates/lookup?slug={template}"),
            format!("{root}/themes?context=edit&status=active"),
            format!("{root}/global-styles/themes/{theme}?context=view"),
            format!("{root}/global-styles/themes/{theme}/variations?context=view"),
            format!("{root}/{base}/{id}?context=edit"),
            format!("{root}/{base}/{id}/autosaves?context=edit"),
        ];
        let mut options: Vec<String> =
            [base, "media", "pages", "blocks", "templates", "settings"].map(|base| format!("{root}/{base}")).into();
        if let Some(styles) = styles {
            let context = if self.can("edit_theme_options") { "edit" } else { "view" };
            reads.push(format!("{root}/global-styles/{styles}?context={context}"));
            options.push(format!("{root}/global-styles/{styles}"));
        }
        let reads = reads.iter().map(|path| (Method::GET, path.as_str()));
        let paths: Vec<_> = reads.chain(options.iter().map(|path| (Method::OPTIONS, path.as_str()))).collect();
        self.preload(&paths).await
    }
}

/// Serves a file of the installed editor. The URL has its hash, so that it is cached without limit.
pub(crate) async fn handle_file(
    State(admin): State<Arc<Admin>>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let not_found = || StatusCode::NOT_FOUND.into_response();
    let Some((_, stored, content_type)) = SERVED.iter().find(|(served, ..)| *served == name) else {
        return not_found();
    };
    let Some(editor) = admin.installed_block_editor() else { return not_found() };
    let version = Form::parse(query.as_deref().unwrap_or_default());
    if editor.file(stored).is_none_or(|file| file.hash != version.get("v")) {
        return not_found();
    }
    let headers = [
        (header::CONTENT_TYPE, *content_type),
        (header::CONTENT_ENCODING, "gzip"),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let content = StoredFile { editor: Arc::clone(&editor), name: stored };
    (headers, Bytes::from_owner(content)).into_response()
}

/// The content of a file, which is sent without a copy.
struct StoredFile {
    editor: Arc<InstalledEditor>,
    name: &'static str,
}

impl AsRef<[u8]> for StoredFile {
    fn as_ref(&self) -> &[u8] {
        self.editor.file(self.name).map_or(&[], |file| &file.content)
    }
}
