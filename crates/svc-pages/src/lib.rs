#![doc = include_str!("../README.md")]

mod build;
mod disk_lane;
mod embed;
pub mod explorer;
mod format;
mod in_lane;
mod other_brands;
mod page_cache;
mod respond;
mod sitemap;
mod theme;
mod to_explorer;
pub mod uploads;
mod view;
mod visitor;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
};
use http::{HeaderMap, Method, StatusCode, request::Parts};
use svc_auth::caps::PostCap;
use svc_http::{Cost, context_of};
use svc_login::Identities;
use svc_permalinks::{Lookup, LookupTarget};
use svc_render::{
    SiteRenderer,
    feeds::{MissingFeeds, with_feeds},
};
use svc_site::{
    Access, Settings, Site, SiteResult,
    preview_links::{self, TOKEN_PARAM},
    sitemaps::{self, Sitemaps},
    url_resolver::{self, PageResolver, PageTarget, PageUrl, Resolved},
};
use svc_store::{Db, posts};
use svc_versions::Context;

pub use format::{SiteTexts, Texts};
pub use in_lane::PageLanes;
pub use other_brands::OtherBrands;
pub use page_cache::{PageCache, respond_cached};
pub use to_explorer::ToExplorer;

use page_cache::Slot;
use respond::Page;

/// State of the pages.
struct Pages {
    renderer: Arc<SiteRenderer>,
    format: Arc<dyn Texts>,
    sheet: theme::Sheet,
    /// Finds the user of a cookie.
    identities: Arc<Identities>,
    account: AccountLinks,
}

/// Where the links of signed-in users on the site's pages lead, apart from their profile.
#[derive(Clone, Debug, Default)]
pub struct AccountLinks {
    /// Whether the site has an administration area: users who may edit get links to it.
    pub admin: bool,
    /// Path of the API explorer, if there is one.
    pub explorer: Option<String>,
}

/// A router that responds to every request with a page. Those of signed-in users have the links of `account`.
pub fn router(
    renderer: Arc<SiteRenderer>,
    format: Arc<dyn Texts>,
    identities: Arc<Identities>,
    account: AccountLinks,
) -> Router {
    let pages = Pages { renderer, format, sheet: theme::Sheet::default(), identities, account };
    Router::new().fallback(handle).with_state(Arc::new(pages))
}

/// The cost of requests to the [`router`]: that of the page at the URL. Before the site's settings are known it is light, as they are
/// read first.
pub fn cost(site: &Arc<Site>) -> impl Fn(&Parts) -> Cost + use<> {
    let site = Arc::clone(site);
    move |parts| {
        let Some(settings) = site.last_settings() else { return Cost::Light };
        let url = PageUrl::new(parts.uri.path(), parts.uri.query().unwrap_or_default());
        url_resolver::cost(&settings, &url)
    }
}

/// The parts of a request for a page.
struct PageRequest {
    cx: Context,
    url: PageUrl,
    /// Path and query, as sent.
    whole: String,
    headers: HeaderMap,
}

impl PageRequest {
    fn of(request: &Request) -> Self {
        let uri = request.uri();
        PageRequest {
            cx: context_of(request.extensions()),
            url: PageUrl::new(uri.path(), uri.query().unwrap_or_default()),
            whole: uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            headers: request.headers().clone(),
        }
    }
}

async fn handle(State(pages): State<Arc<Pages>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return respond::not_allowed();
    }
    let mut parts = PageRequest::of(&request);
    let slot = request.extensions().get::<Slot>().filter(|_| pages.format.is_cacheable()).cloned();
    let cx = parts.cx.clone();
    cx.renew_stamp(slot.as_ref().map(|slot| slot.stamp));
    let render = async |part: Context| {
        parts.cx = part;
        Box::pin(with_feeds(&parts.cx, &pages.renderer, |missing| pages.page(&parts, missing))).await
    };
    let (page, dependencies) = cx.scope(render).await;
    let page = page.unwrap_or_else(|error| {
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Page::failure(status)
    });
    let mut page = page.ready();
    if let Some(slot) = &slot {
        slot.describe(&mut page, &dependencies);
    }
    let page = Arc::new(page);
    if let Some(slot) = slot {
        slot.insert(&cx, &page, dependencies);
    }
    page.respond(request.headers())
}

impl Pages {
    fn page(&self, parts: &PageRequest, missing: &MissingFeeds) -> Result<Page, svc_schema::Error> {
        self.renderer.site.read(&parts.cx, |db| {
            let settings = self.renderer.site.settings_in(db)?;
            if parts.url.path.ends_with("/xmlrpc.php") {
                return Ok(Page::rsd(&settings, parts.url.has("rsd")));
            }
            let lookups = settings.urls.lookups(&parts.url.path, &parts.url.query);
            if let Some(page) = fixed_path(&settings, &lookups) {
                return Ok(page);
            }
            if let Some(LookupTarget::Sitemap(file)) = lookups.first().map(|lookup| &lookup.target) {
                let mut sitemaps = Sitemaps { site: &self.renderer.site, settings: &settings, db: &mut *db };
                if let Some(found) = sitemaps.find(file)? {
                    return Ok(sitemap::page(found));
                }
            }
            let mut viewer = visitor::Viewer::of(db.cx(), &self.identities, &parts.headers)?;
            let preview = match parts.url.value(TOKEN_PARAM) {
                Some(token) => match preview_links::open(db, &self.renderer.site, &settings, token)? {
                    Some(preview) => Some(preview.post),
                    None => return Ok(Page::failure(StatusCode::FORBIDDEN).preview()),
                },
                None => None,
            };
            if let Some(post) = &preview {
                viewer.visitor.unlocked = viewer.visitor.unlocked.with_preview(post.id);
            }
            let has_preview_nonce = match self.preview_of(parts, &viewer) {
                Ok(post) => post.is_some(),
                Err(refused) => return Ok(refused),
            };
            let language = settings.urls.language_of_path(&parts.url.path);
            let mut resolver = PageResolver {
                site: &self.renderer.site,
                settings: &settings,
                db,
                viewer: &viewer.visitor.caller,
                language,
                previewed: preview.as_ref().map(|post| post.id),
                with_posts: true,
            };
            let mut resolved = resolver.resolve(&lookups, &parts.url.path)?;
            let is_preview = preview.is_some();
            // A link shows its post only.
            if let Some(post) = preview
                && !resolved.show_instead(post)
            {
                return Ok(Page::failure(StatusCode::FORBIDDEN).preview());
            }
            let (resolved, private) = self.for_viewer(db, &viewer, resolved, has_preview_nonce)?;
            let mut builder = build::PageBuilder {
                site: &self.renderer.site,
                renderer: &self.renderer,
                settings: &settings,
                texts: &*self.format,
                db,
                language,
                url: format!("{}{}", origin(&settings.urls.site.home_url("")), parts.whole),
                sheet: &self.sheet,
                missing: missing.clone(),
                visitor: viewer.visitor.clone(),
                account: &self.account,
            };
            let page = render(&mut builder, resolved)?;
            if is_preview {
                return Ok(page.preview());
            }
            // The footer has links of the account.
            let private = private || viewer.visitor.caller.is_logged_in();
            // Lists and blocks show the content of posts whose password the visitor has entered.
            Ok(if private || viewer.visitor.unlocked.is_any() { page.private() } else { page })
        })
    }

    /// The id of the post whose autosave is requested.
    ///
    /// # Errors
    /// A page with status 403 if the nonce is not valid.
    fn preview_of(&self, parts: &PageRequest, viewer: &visitor::Viewer) -> Result<Option<i64>, Page> {
        let (Some(id), Some(nonce)) = (parts.url.value("preview_id"), parts.url.value("preview_nonce")) else {
            return Ok(None);
        };
        let id = svc_php::numeric::text_to_int(id);
        let action = format!("post_preview_{id}");
        if self.identities.is_nonce(&parts.cx, nonce, &action, viewer.nonce_subject()) {
            Ok(Some(id))
        } else {
            Err(Page::failure(StatusCode::FORBIDDEN).private())
        }
    }

    /// The target as this viewer sees it, with the latest autosave in previews, and whether the page is private to the viewer.
    fn for_viewer(
        &self,
        db: &mut Db,
        viewer: &visitor::Viewer,
        mut resolved: Resolved,
        has_preview_nonce: bool,
    ) -> SiteResult<(Resolved, bool)> {
        let is_user = viewer.visitor.caller.is_logged_in();
        let (PageTarget::Single(post) | PageTarget::Front(post)) = &mut resolved.target else {
            return Ok((resolved, is_user));
        };
        let has_password = post.is_protected();
        if resolved.lookup.preview && has_preview_nonce && is_user {
            let settings = self.renderer.site.settings_in(db)?;
            let access = Access::of_posts(&self.renderer.site, &settings, db, std::slice::from_ref(&**post))?;
            let may_edit = viewer.visitor.caller.can_post(PostCap::Edit, post, &access);
            drop(access);
            if may_edit && let Some(autosave) = posts::latest_autosave(db, post.id, None)? {
                post.title = autosave.title;
                post.content = autosave.content;
                post.excerpt = autosave.excerpt;
            }
        }
        Ok((resolved, is_user || has_password))
    }
}

/// The page that the URL shows, or the redirect.
fn render(builder: &mut build::PageBuilder<'_>, resolved: Resolved) -> SiteResult<Page> {
    let Resolved { lookup, target, url, redirect } = resolved;
    if let Some(to) = redirect {
        return Ok(Page::redirect(&to));
    }
    match target {
        PageTarget::NotFound => builder.not_found(),
        PageTarget::Single(post) | PageTarget::Front(post) if lookup.embed => {
            builder.embed(&post, url.unwrap_or_default())
        }
        PageTarget::Single(post) => builder.single(*post, url.unwrap_or_default(), false),
        PageTarget::Front(post) => builder.single(*post, url.unwrap_or_default(), true),
        PageTarget::List(list) if list.feed => builder.feed(&list),
        PageTarget::List(list) => builder.list(&list, url),
    }
}

/// Scheme and host of a URL.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    url[host..].find('/').map_or(url, |at| &url[..host + at])
}

/// Responses of fixed paths: `robots.txt` and the favicon.
fn fixed_path(settings: &Settings, lookups: &[Lookup]) -> Option<Page> {
    match lookups.first().map(|l| &l.target) {
        Some(LookupTarget::Robots) => {
            let sitemap = settings.urls.site.home_url(&format!("/{}", sitemaps::INDEX));
            Some(Page::robots(Some(&*sitemap).filter(|_| settings.option("blog_public") != "0")))
        }
        Some(LookupTarget::Favicon) => Some(Page::empty()),
        _ => None,
    }
}
