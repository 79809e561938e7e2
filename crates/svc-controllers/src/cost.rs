//! Which requests for lists take long.

use serde_json::Value;
use svc_routing::{Cost, Request};

/// The cost of a page of a list: heavy for searches in texts, and far into the list.
pub(crate) fn of_list(req: &Request) -> Cost {
    let number = |name: &str| match req.sent_param(name)? {
        Value::String(text) => text.trim().parse::<u64>().ok(),
        value => value.as_u64(),
    };
    let is_search = ["search", "q"].into_iter().any(|name| req.sent_param(name).is_some_and(|text| text != ""));
    let is_ranked = req.sent_param("orderby").is_some_and(|by| by == "relevance");
    let page = number("page").unwrap_or(1);
    let offset = number("offset").unwrap_or_else(|| page.saturating_mul(number("per_page").unwrap_or(10)));
    if is_search || is_ranked { Cost::Heavy } else { Cost::of_offset(offset) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_and_deep_pages_are_heavy() {
        for (query, is_heavy) in [
            ("", false),
            ("per_page=100&page=2", false),
            ("per_page=100&page=51", true),
            ("offset=5000", false),
            ("offset=5001", true),
            ("search=", false),
            ("search=a", true),
            ("searc%68=a", true),
            ("search[]=a", true),
            ("q=a", true),
            ("orderby=relevance", true),
            ("orderby=date", false),
            ("per_page=100&page=1&page=55", true),
            ("page=99999999999999999999", false),
            ("page=18446744073709551615", true),
        ] {
            let req = Request::get("/svc/v2/posts").with_query_string(query);
            assert_eq!(of_list(&req), if is_heavy { Cost::Heavy } else { Cost::Light }, "{query}");
        }
        let req = Request::get("/svc/v2/posts").with_json(&serde_json::json!({"offset": 6_000}));
        assert_eq!(of_list(&req), Cost::Heavy, "a list that is read by POST");
    }
}
