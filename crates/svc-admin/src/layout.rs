//! What all pages of the admin have: the navigation, the notice after a change, and the nonce of the forms.

use askama::Template;
use http::StatusCode;
use serde_json::Value;
use svc_login::PrivateResponse;
use svc_schema::Error;
use svc_site::users::locales::language_tag;
use svc_text::{Quotes, specialchars_decode};

use crate::{
    assets,
    request::{AdminRequest, items, text},
};

/// Content security policy of the pages: scripts and styles of the server only, images of any site, as posts contain them, and
/// previews of the site's pages.
const SOURCES: &str = "script-src 'self'; style-src 'self'; img-src 'self' data: blob: http: https:; media-src 'self' blob: http: \
                       https:; connect-src 'self'; font-src 'self'; frame-src 'self'";

/// Post types that are edited elsewhere: files with the media, menus and templates on pages of their own.
const NOT_LISTED: &[&str] = &[
    "attachment",
    "nav_menu_item",
    "wp_template",
    "wp_template_part",
    "wp_navigation",
    "wp_global_styles",
    "wp_font_family",
    "wp_font_face",
];

/// Taxonomies that are not edited as lists of terms.
const NO_TERMS: &[&str] = &["nav_menu", "wp_pattern_category"];

/// Names of pages that WordPress does not have, or has with another content.
pub(crate) const ROLES: &str = "roles.php";
pub(crate) const STATUS: &str = "site-health.php";
pub(crate) const WEBHOOKS: &str = "webhooks.php";
pub(crate) const WEBHOOK: &str = "webhook.php";
pub(crate) const BLOCK_EDITOR: &str = "block-editor.php";

/// Names of pages that WordPress has as well.
pub(crate) const PERMALINKS: &str = "options-permalink.php";
pub(crate) const EXPORT: &str = "export.php";
pub(crate) const IMPORT: &str = "import.php";
pub(crate) const TEMPLATES: &str = "site-editor.php";

/// Name of the URL that receives the file of an import.
pub(crate) const IMPORT_FILE: &str = "import-file.php";

/// A link.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) label: String,
    pub(crate) url: String,
}

impl Link {
    pub(crate) fn new(label: impl Into<String>, url: impl Into<String>) -> Self {
        Link { label: label.into(), url: url.into() }
    }
}

/// An entry of the navigation.
pub(crate) struct NavItem {
    pub(crate) link: Link,
    /// Number of things that wait for the user; 0 to show none.
    pub(crate) waiting: u64,
    pub(crate) current: bool,
    /// Shown below the entry if the user is there.
    pub(crate) children: Vec<NavItem>,
}

impl NavItem {
    /// Whether the user is at the entry or below it.
    pub(crate) fn is_open(&self) -> bool {
        !self.children.is_empty() && (self.current || self.children.iter().any(|child| child.current))
    }
}

/// A post type, as far as the admin needs it.
pub(crate) struct TypeInfo {
    pub(crate) name: String,
    pub(crate) rest_base: String,
    pub(crate) plural: String,
    pub(crate) add_new: String,
    pub(crate) taxonomies: Vec<String>,
    pub(crate) hierarchical: bool,
    pub(crate) viewable: bool,
    /// Whether its posts have a content.
    pub(crate) has_content: bool,
    pub(crate) can_create: bool,
    pub(crate) can_edit: bool,
    pub(crate) can_publish: bool,
}

/// A taxonomy, as far as the admin needs it.
pub(crate) struct TaxonomyInfo {
    pub(crate) name: String,
    pub(crate) rest_base: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) hierarchical: bool,
    pub(crate) can_manage: bool,
}

/// Values of the page around its content.
pub(crate) struct Layout {
    pub(crate) lang: String,
    pub(crate) title: String,
    pub(crate) site_name: String,
    pub(crate) home: String,
    pub(crate) nav: Vec<NavItem>,
    pub(crate) user: String,
    pub(crate) profile: String,
    pub(crate) log_out: String,
    /// Message about the change before; empty without one.
    pub(crate) notice: String,
    /// Error message; empty without one.
    pub(crate) problem: String,
    pub(crate) nonce_field: String,
    pub(crate) nonce: String,
    /// URL of a file of the admin, by its name.
    pub(crate) assets: assets::Urls,
}

/// Text that the REST API returns with HTML entities, as in rendered titles.
pub(crate) fn plain(html: &str) -> String {
    specialchars_decode(&decode_numeric(&svc_text::strip_tags(html)), Quotes::Both)
}

/// The text with the characters of numeric references, which typography writes: `&#8217;`.
fn decode_numeric(text: &str) -> String {
    let mut parts = text.split("&#");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let decoded = part.split_once(';').and_then(|(number, rest)| {
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            // References of special characters stay, so that none is decoded twice.
            let character = char::from_u32(code).filter(|c| !c.is_control() && *c != '&')?;
            Some((character, rest))
        });
        match decoded {
            Some((character, rest)) => {
                out.push(character);
                out.push_str(rest);
            }
            None => {
                out.push_str("&#");
                out.push_str(part);
            }
        }
    }
    out
}

fn label<'v>(item: &'v Value, name: &str, or: &'v str) -> &'v str {
    item["labels"][name].as_str().filter(|text| !text.is_empty()).unwrap_or(or)
}

impl AdminRequest<'_> {
    /// The post types that the user may edit and the admin lists, in order of registration. Empty for other users.
    pub(crate) async fn types(&self) -> Result<Vec<TypeInfo>, Error> {
        let all = match self.get("types").query("context", "edit").send().await {
            Ok(reply) => reply.data,
            Err(error) if error.status() == 403 => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let info = |item: &Value| {
            let can = |name: &str| item["capabilities"][name].as_str().is_some_and(|capability| self.can(capability));
            let name = text(item, "/name");
            TypeInfo {
                name: text(item, "/slug").to_owned(),
                rest_base: text(item, "/rest_base").to_owned(),
                plural: name.to_owned(),
                add_new: label(item, "add_new_item", "New").to_owned(),
                taxonomies: items(&item["taxonomies"]).iter().filter_map(|t| t.as_str().map(str::to_owned)).collect(),
                hierarchical: item["hierarchical"] == true,
                viewable: item["viewable"] == true,
                // True, or a list with what the editor supports.
                has_content: !matches!(item["supports"]["editor"], Value::Null | Value::Bool(false)),
                can_create: can("create_posts"),
                can_edit: can("edit_posts"),
                can_publish: can("publish_posts"),
            }
        };
        let shown = |item: &&Value| {
            item["visibility"]["show_ui"] == true
                && item["rest_namespace"] == self.admin.pages.identities.site.brand.namespace()
                && !NOT_LISTED.contains(&text(item, "/slug"))
        };
        let all = all.as_object().into_iter().flat_map(|types| types.values());
        Ok(all.filter(shown).map(info).filter(|t| t.can_edit).collect())
    }

    /// The taxonomies with terms that the user may assign or manage.
    pub(crate) async fn taxonomies(&self) -> Result<Vec<TaxonomyInfo>, Error> {
        let all = match self.get("taxonomies").query("context", "edit").send().await {
            Ok(reply) => reply.data,
            Err(error) if error.status() == 403 => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let info = |item: &Value| TaxonomyInfo {
            name: text(item, "/slug").to_owned(),
            rest_base: text(item, "/rest_base").to_owned(),
            plural: text(item, "/name").to_owned(),
            singular: label(item, "singular_name", text(item, "/name")).to_owned(),
            hierarchical: item["hierarchical"] == true,
            can_manage: item["capabilities"]["manage_terms"].as_str().is_some_and(|capability| self.can(capability)),
        };
        let shown = |item: &&Value| item["visibility"]["show_ui"] == true && !NO_TERMS.contains(&text(item, "/slug"));
        Ok(all.as_object().into_iter().flat_map(|map| map.values()).filter(shown).map(info).collect())
    }

    /// The layout of a page. `current` is the URL of the entry of the navigation to which the page belongs.
    pub(crate) async fn layout(&self, title: &str, current: &str) -> Result<Layout, Error> {
        let session = &self.session;
        let settings = &session.settings;
        let pages = &self.admin.pages;
        Ok(Layout {
            lang: language_tag(settings.option("WPLANG")),
            title: title.to_owned(),
            site_name: specialchars_decode(settings.option("blogname"), Quotes::Both),
            home: settings.urls.site.home_url("/"),
            nav: self.navigation(current).await?,
            user: session.display_name(),
            profile: self.url("profile.php", &[]),
            log_out: pages.log_out_url(&self.parts, session),
            notice: crate::notices::text_of(self.param("done")).to_owned(),
            problem: String::new(),
            nonce_field: pages.nonce_field(),
            nonce: self.nonce(),
            assets: self.admin.asset_urls(),
        })
    }

    async fn navigation(&self, current: &str) -> Result<Vec<NavItem>, Error> {
        let entry = |label: &str, url: String| NavItem {
            current: url == current,
            link: Link::new(label, url),
            waiting: 0,
            children: Vec::new(),
        };
        let mut nav = vec![entry("Dashboard", self.url("", &[]))];
        let taxonomies = self.taxonomies().await?;
        for info in self.types().await? {
            let mut item = entry(&info.plural, self.list_url(&info.name));
            let own = taxonomies.iter().filter(|t| t.can_manage && info.taxonomies.contains(&t.name));
            item.children = own.map(|t| entry(&t.plural, self.terms_url(&t.name))).collect();
            nav.push(item);
        }
        if self.can("upload_files") {
            nav.push(entry("Media", self.url("upload.php", &[])));
        }
        if self.can("moderate_comments") {
            let mut item = entry("Comments", self.url("edit-comments.php", &[]));
            item.waiting = self.get("comments").query("context", "edit").query("status", "hold").count().await?;
            nav.push(item);
        }
        if self.can("edit_theme_options") {
            nav.push(entry("Menus", self.url("nav-menus.php", &[])));
            nav.push(entry("Templates", self.url(TEMPLATES, &[])));
        }
        if self.can("list_users") {
            let mut item = entry("Users", self.url("users.php", &[]));
            item.children = vec![entry("Roles", self.url(ROLES, &[]))];
            nav.push(item);
        }
        if self.can("import") {
            nav.push(entry("Import", self.url(IMPORT, &[])));
        }
        if self.can("export") {
            nav.push(entry("Export", self.url(EXPORT, &[])));
        }
        if self.can("manage_options") {
            let mut item = entry("Settings", self.url("options-general.php", &[]));
            item.children =
                vec![entry("Permalinks", self.url(PERMALINKS, &[])), entry("Webhooks", self.url(WEBHOOKS, &[]))];
            nav.push(item);
            if self.admin.history.is_some() {
                nav.push(entry("Status", self.url(STATUS, &[])));
            }
        }
        Ok(nav)
    }

    /// The list of posts of a type.
    pub(crate) fn list_url(&self, post_type: &str) -> String {
        if post_type == "post" { self.url("edit.php", &[]) } else { self.url("edit.php", &[("post_type", post_type)]) }
    }

    /// The list of terms of a taxonomy.
    pub(crate) fn terms_url(&self, taxonomy: &str) -> String {
        self.url("edit-tags.php", &[("taxonomy", taxonomy)])
    }

    /// The page that edits a post or file.
    pub(crate) fn edit_url(&self, id: i64) -> String {
        self.url("post.php", &[("post", &id.to_string()), ("action", "edit")])
    }
}

/// A page with an error message.
#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage {
    page: Layout,
}

/// Renders a page of the admin.
pub(crate) fn html(status: StatusCode, template: &impl Template) -> PrivateResponse {
    PrivateResponse::html(status, template).sources(SOURCES)
}

/// The page that is shown instead of one that failed.
pub(crate) async fn failure(request: &AdminRequest<'_>, error: &Error) -> Result<PrivateResponse, Error> {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let title = match status {
        StatusCode::NOT_FOUND => "Not found",
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => "Not allowed",
        _ => "Error",
    };
    let mut page = request.layout(title, "").await?;
    page.problem = error.message().to_owned();
    Ok(html(status, &MessagePage { page }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rendered_titles_are_plain_text() {
        for (html, text) in [
            ("It&#8217;s &#8220;Bob&#8217;s&#8221; <em>day</em>", "It\u{2019}s \u{201c}Bob\u{2019}s\u{201d} day"),
            ("A &amp; B &#038; C", "A & B & C"),
            ("&#x1F600; &#xZZ; &#; &# 1", "\u{1F600} &#xZZ; &#; &# 1"),
            ("&amp;#8217;", "&#8217;"),
        ] {
            assert_eq!(plain(html), text, "{html}");
        }
    }
}
