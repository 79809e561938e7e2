//! Which pages take long.

use svc_permalinks::{Lookup, LookupTarget};
use svc_routing::Cost;
use svc_store::posts::search_text;

use super::{PageUrl, pages};
use crate::{Settings, sitemaps};

/// The cost of resolving and showing this URL: heavy for searches, and far into a list. Reads nothing; the settings may be older than
/// those with which the URL is resolved.
pub fn cost(settings: &Settings, url: &PageUrl) -> Cost {
    let lookups = settings.urls.lookups(&url.path, &url.query);
    let is_heavy = lookups.iter().any(|lookup| of_lookup(settings, lookup) == Cost::Heavy);
    if is_heavy { Cost::Heavy } else { Cost::Light }
}

fn of_lookup(settings: &Settings, lookup: &Lookup) -> Cost {
    match &lookup.target {
        LookupTarget::Archive(archive) if search_text(archive.search.clone()).is_some() => Cost::Heavy,
        // The page may be the one that lists the posts.
        LookupTarget::Archive(_) | LookupTarget::Front | LookupTarget::Page(_) => {
            Cost::of_offset(pages::offset(settings, lookup))
        }
        LookupTarget::Sitemap(file) => Cost::of_offset(sitemaps::offset_of(file)),
        LookupTarget::Post(_)
        | LookupTarget::Attachment(_)
        | LookupTarget::Robots
        | LookupTarget::Favicon
        | LookupTarget::NotFound => Cost::Light,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use svc_store::{StoredText, options::Options};

    use super::*;
    use crate::settings::urls::Urls;

    #[track_caller]
    fn check(options: &[(&str, &str)], rows: &[(&str, bool)]) {
        let given = [("home", "http://a.b/sub"), ("posts_per_page", "10"), ("posts_per_rss", "10")];
        let options: Options =
            given.iter().chain(options).map(|(name, value)| ((*name).to_owned(), StoredText::of(*value))).collect();
        let (types, taxonomies) = Default::default();
        let urls = Urls::new(&options, &svc_brand::Brand::default(), &types, &taxonomies, &Default::default());
        let settings = Settings::new(Arc::new(options.clone()), urls);
        for (url, is_heavy) in rows {
            let (path, query) = url.split_once('?').unwrap_or((url, ""));
            let expected = if *is_heavy { Cost::Heavy } else { Cost::Light };
            assert_eq!(cost(&settings, &PageUrl::new(&format!("/sub{path}"), query)), expected, "{url} {options:?}");
        }
    }

    const BY_NAME: (&str, &str) = ("permalink_structure", "/%postname%/");

    #[test]
    fn searches_and_deep_pages_are_heavy() {
        check(
            &[BY_NAME],
            &[
                ("/", false),
                ("/?s=", false),
                ("/?s=+", true),
                ("/?s=a", true),
                ("/?%73=a", true),
                ("/?s=&s=a", true),
                ("/?s=a&s=", false),
                ("/feed/?s=a", true),
                ("/?feed=rss2&s=a", true),
                ("/category/news/?s=a", true),
                ("/?rest_route=&s=a", true),
                ("/search/a/", true),
                ("/search/a/feed/", true),
                ("/search/a/page/2/", true),
                ("/search/", false),
                ("/page/2/", false),
                ("/page/501/", false),
                ("/page/502/", true),
                ("/page/9999999999/", true),
                ("/?paged=502", true),
                ("/?paged=18446744073709551615", true),
                ("/page/2/?paged=9999", true),
                ("/page/9999/?paged=2", false),
                ("/category/news/page/9999/", true),
                ("/blog/page/9999/", true),
                ("/author/jo/page/9999/", true),
                ("/2024/page/9999/", true),
                ("/wp-sitemap-posts-post-2.xml", false),
                ("/wp-sitemap-posts-post-7.xml", true),
                ("/wp-sitemap.xml", false),
                ("/robots.txt?s=a", false),
            ],
        );
    }

    #[test]
    fn what_only_looks_like_a_search_or_a_deep_page_is_light() {
        check(
            &[BY_NAME],
            &[
                ("/?p=1&s=a", false),
                ("/hello/?s=a", false),
                ("/hello/?page=9999", false),
                ("/hello/9999/", false),
                ("/hello/comment-page-9999/", false),
                ("/posts/search/", false),
                ("/posts/search/a/", false),
                ("/?page=9999", false),
                ("/?query=s%3Da", false),
            ],
        );
    }

    #[test]
    fn the_permalink_structure_counts() {
        for structure in ["/%year%/%monthnum%/%day%/%postname%/", "/archives/%post_id%", "/%category%/%postname%/"] {
            let rows = [("/search/a/", true), ("/page/9999/", true), ("/?s=a", true), ("/archives/4?s=a", false)];
            check(&[("permalink_structure", structure)], &rows);
        }
        check(
            &[("permalink_structure", "/index.php/%postname%/")],
            &[
                ("/index.php/search/a/", true),
                ("/index.php/page/9999/", true),
                ("/search/a/", false),
                ("/page/9999/", false),
            ],
        );
        check(
            &[("permalink_structure", "")],
            &[
                ("/search/a/", false),
                ("/page/9999/", false),
                ("/search/a/?s=a", true),
                ("/?paged=9999", true),
                ("/?page_id=2&paged=9999", true),
                ("/?p=2&paged=9999", false),
            ],
        );
    }

    #[test]
    fn the_number_of_posts_per_page_counts() {
        check(&[BY_NAME, ("posts_per_page", "100")], &[("/page/51/", false), ("/page/52/", true)]);
        check(&[BY_NAME, ("posts_per_page", "1")], &[("/page/502/", false), ("/feed/?paged=502", true)]);
    }
}
