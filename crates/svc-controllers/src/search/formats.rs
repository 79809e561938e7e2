//! Search handler for post formats that have a term on the site.

use std::sync::Arc;

use serde_json::Value;
use svc_routing::{BoxFuture, Links, Request, Result};
use svc_site::{Site, posts::formats::FORMATS};
use svc_store::terms::{self, TermQuery};
use svc_versions::Context;

use super::{SearchHandler, SearchPage, limits, result, text};

/// The taxonomy of post formats.
const TAXONOMY: &str = "post_format";

/// The handler of type `post-format`.
pub(super) struct FormatSearch(pub(super) Arc<Site>);

impl SearchHandler for FormatSearch {
    fn kind(&self) -> &str {
        "post-format"
    }

    fn is_cacheable(&self) -> bool {
        true
    }

    fn subtypes(&self) -> Vec<String> {
        Vec::new()
    }

    fn search(&self, req: Request) -> BoxFuture<Result<SearchPage>> {
        Box::pin(std::future::ready(self.find(&req)))
    }

    fn prepare(&self, ids: Vec<Value>, req: Request) -> BoxFuture<Result<Vec<(Value, Links)>>> {
        Box::pin(std::future::ready(self.show(&ids, &req)))
    }
}

/// Display name of a format.
fn label(format: &str) -> String {
    let mut chars = format.chars();
    chars.next().map(|first| first.to_ascii_uppercase().to_string() + chars.as_str()).unwrap_or_default()
}

impl FormatSearch {
    /// The formats that have a term, with the URLs of their archives.
    fn formats(&self, cx: &Context) -> Result<Vec<(&'static str, String)>> {
        let Some(taxonomy) = self.0.registries.taxonomies.get(TAXONOMY) else { return Ok(Vec::new()) };
        self.0.read(cx, |db| {
            let settings = self.0.settings_in(db)?;
            let query = TermQuery::default()
                .taxonomies(vec![TAXONOMY.to_owned()])
                .slugs(FORMATS.iter().map(|format| format!("post-format-{format}")).collect());
            let ids = terms::query(db, &query)?.ids;
            let terms = terms::get_many(db, &ids)?;
            let archive_url = |format: &str| {
                let term = terms.iter().find(|t| t.slug.strip_prefix("post-format-") == Some(format))?;
                Some(settings.urls.term(term, taxonomy, &[], None))
            };
            Ok(FORMATS.iter().filter_map(|format| Some((*format, archive_url(format)?))).collect())
        })
    }

    fn find(&self, req: &Request) -> Result<SearchPage> {
        let search = text(req).map(|text| text.to_lowercase()).unwrap_or_default();
        let formats = self.formats(req.cx())?;
        let found: Vec<&str> =
            formats.iter().map(|(format, _)| *format).filter(|format| format.contains(&search)).collect();
        let (limit, offset) = limits(req)?;
        let to_usize = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let page = found.iter().skip(to_usize(offset)).take(to_usize(limit));
        let position = |format: &&str| FORMATS.iter().position(|known| known == format).map(Value::from);
        Ok(SearchPage { ids: page.filter_map(position).collect(), total: found.len() as u64 })
    }

    fn show(&self, ids: &[Value], req: &Request) -> Result<Vec<(Value, Links)>> {
        let formats = self.formats(req.cx())?;
        let format_of = |id: &Value| FORMATS.get(usize::try_from(id.as_u64()?).ok()?);
        let found = ids.iter().filter_map(|id| formats.iter().find(|(format, _)| Some(format) == format_of(id)));
        let show = |(format, url): &(&str, String)| {
            let data = result(
                req,
                [
                    ("id", Some((*format).into())),
                    ("title", Some(label(format).into())),
                    ("url", Some(url.clone().into())),
                    ("type", Some("post-format".into())),
                    ("subtype", None),
                ],
            );
            (data, Links::new())
        };
        Ok(found.map(show).collect())
    }
}
