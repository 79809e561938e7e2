//! Plain HTML pages of the public site: what everybody may see, in the site's own words and addresses.
//!
//! A request's path is read by `svc-discovery` into things to look up; the first that is found, among what everybody may
//! see, is shown. Requests of the interface never come here.

mod embed;
mod find;
mod hierarchy;
mod respond;
mod show;
mod texts;
mod themed;
mod urls;
mod view;

use std::sync::Arc;

use axum::{
    Router,
    extract::{Request, State},
    response::Response,
};
use http::{Method, StatusCode};
use svc_controllers::{
    Settings, Site, Stored,
    feeds::{Missing, with_feeds},
};
use svc_discovery::{Lookup, What};

pub(crate) use show::language;
pub(crate) use texts::SiteTexts;
pub use texts::Texts;

use find::{Finder, Found};
use respond::Page;

/// Longest query that is looked at, in pairs.
const MOST_PAIRS: usize = 100;

/// What pages are made from.
struct Pages {
    site: Arc<Site>,
    texts: Arc<dyn Texts>,
    sheet: themed::Sheet,
}

/// Answers every request with a page.
pub(crate) fn router(site: Arc<Site>, texts: Arc<dyn Texts>) -> Router {
    Router::new().fallback(answer).with_state(Arc::new(Pages { site, texts, sheet: themed::Sheet::default() }))
}

/// A request for a page, taken apart.
struct Asked {
    path: String,
    /// Path and query as they were sent.
    whole: String,
    query: Vec<(String, String)>,
}

impl Asked {
    fn of(request: &Request) -> Self {
        let pairs = request.uri().query().unwrap_or_default().split('&').filter(|p| !p.is_empty()).take(MOST_PAIRS);
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pair = |p: &str| p.split_once('=').map_or((decode(p), String::new()), |(k, v)| (decode(k), decode(v)));
        Asked {
            path: request.uri().path().to_owned(),
            whole: request.uri().path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string),
            query: pairs.map(pair).collect(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.query.iter().any(|(k, _)| k == name)
    }
}

async fn answer(State(pages): State<Arc<Pages>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return respond::not_allowed();
    }
    let asked = Asked::of(&request);
    let page = with_feeds(&pages.site, |missing| pages.page(&asked, missing)).await.unwrap_or_else(|error| {
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Page::failure(status)
    });
    page.into_response(request.headers())
}

impl Pages {
    fn page(&self, asked: &Asked, missing: &Missing) -> Result<Page, svc_schema::Error> {
        self.site.read(|db| {
            let settings = self.site.settings_in(db)?;
            if asked.path.ends_with("/xmlrpc.php") {
                return Ok(Page::rsd(&settings, asked.has("rsd")));
            }
            let lookups = settings.urls.site.lookups(&asked.path, &asked.query);
            if let Some(page) = special(&settings, &lookups) {
                return Ok(page);
            }
            let mut finder = Finder { site: &self.site, settings: &settings, db };
            let (lookup, found) = finder.find(&lookups)?;
            let mut show = show::Show {
                site: &self.site,
                settings: &settings,
                texts: &*self.texts,
                db: finder.db,
                address: format!("{}{}", origin(&settings.urls.site.home_url("")), asked.whole),
                sheet: &self.sheet,
                missing: missing.clone(),
            };
            self.found(&mut show, asked, &lookup, found)
        })
    }

    fn found(&self, show: &mut show::Show<'_>, asked: &Asked, lookup: &Lookup, found: Found) -> Stored<Page> {
        // Further pages of a text or of its comments, and previews, have addresses that are not made here.
        let plain =
            lookup.page == 0 && lookup.comment_page == 0 && lookup.feed.is_none() && !lookup.embed && !lookup.preview;
        match found {
            Found::Nothing => show.nothing(),
            Found::Single(post) | Found::Front(post) if lookup.embed => {
                let address = show.address(&post)?;
                show.embed(&post, address)
            }
            Found::Single(post) if post.post_type == "attachment" => show.attachment(&post),
            Found::Single(post) => {
                let address = show.address(&post)?;
                match urls::redirect(&address, &asked.path).filter(|_| plain) {
                    Some(to) => Ok(Page::redirect(&to)),
                    None => show.single(*post, address, false),
                }
            }
            Found::Front(post) => {
                let address = show.address(&post)?;
                show.single(*post, address, true)
            }
            Found::List(list) if list.feed => show.feed(&list),
            Found::List(list) => {
                let first = urls::of_list(show.db, show.site, show.settings, &list.subject)?;
                let canonical = first.as_ref().map(|f| urls::page_of(&show.settings.urls.site, f, list.number));
                match canonical.as_deref().and_then(|c| urls::redirect(c, &asked.path)).filter(|_| plain) {
                    Some(to) => Ok(Page::redirect(&to)),
                    None => show.list(&list, first),
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
