#![doc = include_str!("../README.md")]

mod build;
mod embed;
mod format;
mod hierarchy;
mod resolve;
mod respond;
mod theme;
pub mod uploads;
mod urls;
mod view;
mod visitor;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
};
use http::{HeaderMap, Method, StatusCode};
use resolve::{Found, PageResolver};
use respond::Page;
use svc_auth::caps::PostCap;
use svc_controllers::RestSite;
use svc_discovery::{Lookup, What};
use svc_login::Identities;
use svc_render::feeds::{Missing, with_feeds};
use svc_site::{Access, Settings, SiteResult};
use svc_store::{Db, posts};

pub use format::{SiteTexts, Texts};

/// Longest query that is looked at, in pairs.
const MOST_PAIRS: usize = 100;

/// What pages are made from.
struct Pages {
    site: Arc<RestSite>,
    format: Arc<dyn Texts>,
    sheet: theme::Sheet,
    /// Finds the user of a cookie.
    identities: Arc<Identities>,
}

/// Answers every request with a page.
pub fn router(site: Arc<RestSite>, format: Arc<dyn Texts>, identities: Arc<Identities>) -> Router {
    let pages = Pages { site, format, sheet: theme::Sheet::default(), identities };
    Router::new().fallback(answer).with_state(Arc::new(pages))
}

/// A request for a page, taken apart.
struct PageRequest {
    path: String,
    /// Path and query as they were sent.
    whole: String,
    query: Vec<(String, String)>,
    headers: HeaderMap,
}

impl PageRequest {
    fn of(request: &Request) -> Self {
        let pairs = request.uri().query().unwrap_or_default().split('&').filter(|p| !p.is_empty()).take(MOST_PAIRS);
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pair = |p: &str| p.split_once('=').map_or((decode(p), String::new()), |(k, v)| (decode(k), decode(v)));
        PageRequest {
            path: request.uri().path().to_owned(),
            whole: request.uri().path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            query: pairs.map(pair).collect(),
            headers: request.headers().clone(),
        }
    }

    /// The last value of this name, as PHP takes it.
    fn value(&self, name: &str) -> Option<&str> {
        self.query.iter().rev().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }

    fn has(&self, name: &str) -> bool {
        self.query.iter().any(|(k, _)| k == name)
    }
}

async fn answer(State(pages): State<Arc<Pages>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return respond::not_allowed();
    }
    let asked = PageRequest::of(&request);
    let page = with_feeds(&pages.site.renderer, |missing| pages.page(&asked, missing)).await.unwrap_or_else(|error| {
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Page::failure(status)
    });
    page.into_response(request.headers())
}

impl Pages {
    fn page(&self, asked: &PageRequest, missing: &Missing) -> Result<Page, svc_schema::Error> {
        self.site.read(|db| {
            let settings = self.site.settings_in(db)?;
            if asked.path.ends_with("/xmlrpc.php") {
                return Ok(Page::rsd(&settings, asked.has("rsd")));
            }
            let lookups = settings.urls.site.lookups(&asked.path, &asked.query);
            if let Some(page) = special(&settings, &lookups) {
                return Ok(page);
            }
            let viewer = visitor::Viewer::of(&self.identities, db, &asked.headers)?;
            let shows_autosave = match self.preview_of(asked, &viewer) {
                Ok(post) => post.is_some(),
                Err(refused) => return Ok(refused),
            };
            let mut finder = PageResolver { site: &self.site, settings: &settings, db, viewer: &viewer.visitor.caller };
            let (lookup, found) = finder.find(&lookups)?;
            let (found, private) = self.for_viewer(db, &viewer, &lookup, found, shows_autosave)?;
            let mut build = build::PageBuilder {
                site: &self.site,
                settings: &settings,
                texts: &*self.format,
                db,
                address: format!("{}{}", origin(&settings.urls.site.home_url("")), asked.whole),
                sheet: &self.sheet,
                missing: missing.clone(),
                visitor: viewer.visitor.clone(),
            };
            let page = self.found(&mut build, asked, &lookup, found)?;
            // Lists and blocks show the texts of posts that the visitor has opened.
            Ok(if private || viewer.visitor.opened.is_any() { page.private() } else { page })
        })
    }

    /// The post whose autosave the request wants to see; a page that refuses when its nonce is not valid.
    fn preview_of(&self, asked: &PageRequest, viewer: &visitor::Viewer) -> Result<Option<i64>, Page> {
        let (Some(id), Some(nonce)) = (asked.value("preview_id"), asked.value("preview_nonce")) else {
            return Ok(None);
        };
        let id = svc_php::numeric::text_to_int(id);
        let action = format!("post_preview_{id}");
        if self.identities.is_nonce(nonce, &action, viewer.bearer()) {
            Ok(Some(id))
        } else {
            Err(Page::failure(StatusCode::FORBIDDEN).private())
        }
    }

    /// What was found, as this viewer sees it: in a preview the newest autosave over the post. And whether the page is for
    /// them alone.
    fn for_viewer(
        &self,
        db: &mut Db,
        viewer: &visitor::Viewer,
        lookup: &Lookup,
        found: Found,
        shows_autosave: bool,
    ) -> SiteResult<(Found, bool)> {
        let is_user = viewer.visitor.caller.is_logged_in();
        let (mut post, is_front) = match found {
            Found::Single(post) => (post, false),
            Found::Front(post) => (post, true),
            other => return Ok((other, is_user)),
        };
        let has_password = post.is_protected();
        if lookup.preview && shows_autosave && is_user {
            let settings = self.site.settings_in(db)?;
            let access = Access::of_posts(&self.site, &settings, db, std::slice::from_ref(&*post))?;
            let may_edit = viewer.visitor.caller.can_post(PostCap::Edit, &post, &access);
            drop(access);
            if may_edit && let Some(autosave) = posts::latest_autosave(db, post.id, None)? {
                post.title = autosave.title;
                post.content = autosave.content;
                post.excerpt = autosave.excerpt;
            }
        }
        Ok((if is_front { Found::Front(post) } else { Found::Single(post) }, is_user || has_password))
    }

    fn found(
        &self,
        build: &mut build::PageBuilder<'_>,
        asked: &PageRequest,
        lookup: &Lookup,
        found: Found,
    ) -> SiteResult<Page> {
        // Further pages of a text or of its comments, and previews, have addresses that are not made here.
        let plain =
            lookup.page == 0 && lookup.comment_page == 0 && lookup.feed.is_none() && !lookup.embed && !lookup.preview;
        match found {
            Found::Nothing => build.nothing(),
            Found::Single(post) | Found::Front(post) if lookup.embed => {
                let address = build.address(&post)?;
                build.embed(&post, address)
            }
            Found::Single(post) if post.post_type == "attachment" => build.attachment(&post),
            Found::Single(post) => {
                let address = build.address(&post)?;
                // The proper URL of a post that is not public is for its viewers alone to know.
                let is_public = self.site.statuses.get(&post.status).is_some_and(|s| s.public);
                match urls::redirect(&address, &asked.path).filter(|_| plain && is_public) {
                    Some(to) => Ok(Page::redirect(&to)),
                    None => build.single(*post, address, false),
                }
            }
            Found::Front(post) => {
                let address = build.address(&post)?;
                build.single(*post, address, true)
            }
            Found::List(list) if list.feed => build.feed(&list),
            Found::List(list) => {
                let first = urls::of_list(build.db, build.site, build.settings, &list.subject)?;
                let canonical = first.as_ref().map(|f| urls::page_of(&build.settings.urls.site, f, list.number));
                match canonical.as_deref().and_then(|c| urls::redirect(c, &asked.path)).filter(|_| plain) {
                    Some(to) => Ok(Page::redirect(&to)),
                    None => build.list(&list, first),
                }
            }
        }
    }
}

/// Scheme and host of an address.
fn origin(address: &str) -> &str {
    let host = address.find("://").map_or(0, |at| at + 3);
    address[host..].find('/').map_or(address, |at| &address[..host + at])
}

/// Addresses that every site has and that are no pages.
fn special(settings: &Settings, lookups: &[Lookup]) -> Option<Page> {
    match lookups.first().map(|l| &l.what) {
        Some(What::Robots) => Some(Page::robots(settings.option("blog_public") != "0")),
        Some(What::Favicon) => Some(Page::empty()),
        _ => None,
    }
}
