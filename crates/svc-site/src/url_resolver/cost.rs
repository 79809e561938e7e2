//! Which pages take long.

use svc_routing::Cost;

/// Posts per page, for the estimate. Sites may have another number.
const PER_PAGE: u64 = 10;

/// The cost of the page with this path and query: heavy for searches, and far into a list. Queries are read as PHP reads them.
pub fn cost(path: &str, query: &str) -> Cost {
    let query = svc_php::query::parse(query.as_bytes());
    let number = |name: &str| query.get(name).and_then(|value| value.as_str()?.trim().parse::<u64>().ok());
    let mut segments = path.split('/').skip_while(|segment| !matches!(*segment, "search" | "page"));
    let (is_search_page, page_of_path) = match (segments.next(), segments.next()) {
        (Some("search"), Some(_)) => (true, None),
        (Some(_), Some(page)) => (false, page.parse().ok()),
        _ => (false, None),
    };
    let is_search = is_search_page || query.get("s").is_some_and(|text| text != "");
    let page = number("page").or_else(|| number("paged")).or(page_of_path).unwrap_or(1);
    if is_search { Cost::Heavy } else { Cost::of_offset(page.saturating_mul(PER_PAGE)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_and_deep_pages_are_heavy() {
        for (url, is_heavy) in [
            ("/", false),
            ("/?s=", false),
            ("/?s=a", true),
            ("/?%73=a", true),
            ("/?paged=501", true),
            ("/page/501/", true),
            ("/page/2/", false),
            ("/search/a/", true),
            ("/blog/search/a/feed/", true),
            ("/posts/search", false),
        ] {
            let expected = if is_heavy { Cost::Heavy } else { Cost::Light };
            let (path, query) = url.split_once('?').unwrap_or((url, ""));
            assert_eq!(cost(path, query), expected, "{url}");
        }
    }
}
