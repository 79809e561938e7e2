//! What responses to anonymous requests tell caches: browsers, proxies, CDNs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CACHE_CONTROL, VARY};
use http::{HeaderMap, HeaderName, HeaderValue};
use svc_versions::Dependencies;

use crate::response::set;

/// For how long caches may use responses to requests without credentials, and by which tags they are purged.
#[derive(Clone, Debug, Default)]
pub struct SharedCaching {
    /// Time in seconds for all caches, including those of browsers, which cannot be purged. `None` for responses of the REST
    /// API without `Cache-Control`, as in WordPress, unless caches in front of the server may use them.
    pub max_age: Option<u32>,
    /// Time in seconds for caches that are shared, if it differs.
    pub shared_max_age: Option<u32>,
    /// Time in seconds for which a cache may use an old response while it requests a new one.
    pub stale_while_revalidate: Option<u32>,
    /// The header with what a response depends on.
    pub tags: Option<CacheTags>,
}

/// A header that tells caches what a response depends on.
#[derive(Clone)]
pub struct CacheTags {
    /// The name of the header.
    pub header: HeaderName,
    /// What is between two tags.
    pub separator: &'static str,
    /// The tags of a response with these dependencies.
    pub tags_of: Arc<dyn Fn(&Dependencies) -> Vec<String> + Send + Sync>,
}

impl fmt::Debug for CacheTags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheTags").field("header", &self.header).finish_non_exhaustive()
    }
}

impl SharedCaching {
    /// Whether responses are changed at all.
    pub fn is_none(&self) -> bool {
        self.max_age.is_none() && self.shared_max_age.is_none() && self.tags.is_none()
    }

    /// Lets caches use a response to an anonymous request, which varies by these request headers: those that identify a caller.
    pub fn allow(&self, headers: &mut HeaderMap, vary: &str) {
        if let Some(control) = self.control(self.shared_max_age) {
            set(headers, CACHE_CONTROL.as_str(), &control);
            if let Ok(vary) = HeaderValue::from_str(vary) {
                headers.append(VARY, vary);
            }
        }
    }

    /// Completes a response that caches may use with its tags. One that is about to change by itself, or whose changes are not
    /// known, is not kept longer than that.
    pub fn describe(&self, headers: &mut HeaderMap, dependencies: &Dependencies) {
        if let Some(shared) = self.shared_max_age {
            let lifetime = if dependencies.is_cacheable() { dependencies.lifetime() } else { Some(Duration::ZERO) };
            let seconds = lifetime.map(|time| u32::try_from(time.as_secs()).unwrap_or(u32::MAX));
            if let Some(control) = seconds.filter(|seconds| *seconds < shared).and_then(|s| self.control(Some(s))) {
                set(headers, CACHE_CONTROL.as_str(), &control);
            }
        }
        if let Some(tags) = &self.tags {
            let value = (tags.tags_of)(dependencies).join(tags.separator);
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(tags.header.clone(), value);
            }
        }
    }

    fn control(&self, shared: Option<u32>) -> Option<String> {
        let mut control = match (self.max_age, shared) {
            (None, None) => return None,
            (Some(all), None) => format!("public, max-age={all}"),
            (all, Some(shared)) => format!("public, max-age={}, s-maxage={shared}", all.unwrap_or_default()),
        };
        if let Some(seconds) = self.stale_while_revalidate.filter(|_| shared != Some(0)) {
            control.push_str(&format!(", stale-while-revalidate={seconds}"));
        }
        Some(control)
    }
}

#[cfg(test)]
mod tests {
    use svc_versions::{Context, Key};

    use super::*;

    fn caching(max_age: Option<u32>, shared_max_age: Option<u32>) -> SharedCaching {
        SharedCaching { max_age, shared_max_age, ..SharedCaching::default() }
    }

    #[track_caller]
    fn check(caching: &SharedCaching, record: impl FnOnce(&Context), control: Option<&str>) {
        let cx = Context::background();
        let ((), dependencies) = cx.capture(|| record(&cx));
        let mut headers = HeaderMap::new();
        caching.allow(&mut headers, "Cookie");
        caching.describe(&mut headers, &dependencies);
        assert_eq!(headers.get(CACHE_CONTROL).map(|value| value.to_str().unwrap()), control);
        assert_eq!(headers.contains_key(VARY), control.is_some());
    }

    #[test]
    fn caches_are_told_how_long_they_may_use_a_response() {
        check(&caching(None, None), |_| (), None);
        check(&caching(Some(60), None), |_| (), Some("public, max-age=60"));
        check(&caching(None, Some(600)), |_| (), Some("public, max-age=0, s-maxage=600"));
        let stale = SharedCaching { stale_while_revalidate: Some(30), ..caching(Some(5), Some(600)) };
        check(&stale, |_| (), Some("public, max-age=5, s-maxage=600, stale-while-revalidate=30"));
        // What is only looked at again because it is not observed may be kept.
        check(
            &stale,
            |cx| cx.recheck_after(Duration::ZERO),
            Some("public, max-age=5, s-maxage=600, stale-while-revalidate=30"),
        );
        check(&stale, |cx| cx.never(), Some("public, max-age=5, s-maxage=0"));
        check(&stale, |cx| cx.expires_in(Duration::ZERO), Some("public, max-age=5, s-maxage=0"));
    }

    #[test]
    fn responses_have_the_tags_of_what_they_depend_on() {
        let tags_of = Arc::new(|of: &Dependencies| of.keys().iter().map(|_| "tag".to_owned()).collect::<Vec<_>>());
        let tags = CacheTags { header: HeaderName::from_static("cache-tag"), separator: ",", tags_of };
        let caching = SharedCaching { tags: Some(tags), ..SharedCaching::default() };
        let (cx, mut headers) = (Context::background(), HeaderMap::new());
        let ((), dependencies) = cx.capture(|| cx.depends_on_all([Key::member(1, 1), Key::member(1, 2)]));
        caching.allow(&mut headers, "Cookie");
        caching.describe(&mut headers, &dependencies);
        assert_eq!(headers["cache-tag"], "tag,tag");
        assert_eq!(headers.len(), 1);
    }
}
