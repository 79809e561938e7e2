//! Responses to clients that look for the REST API under the prefix of another brand, such as `/wp-json/`.

use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde_json::json;
use svc_brand::Brand;
use svc_routing::RouteUrls;

/// The brands that clients look for.
pub struct OtherBrands {
    /// The URLs of their REST APIs, where this site has nothing.
    others: Vec<(Brand, RouteUrls)>,
    own: Brand,
    /// Path of this site's REST API.
    own_path: String,
}

impl OtherBrands {
    /// The well-known brands apart from this site's own. `path` is the path of the site: empty, or `/folder`.
    pub fn new(own: &Brand, path: &str) -> Self {
        let others = [Brand::original(), Brand::default()].into_iter().filter(|brand| brand != own);
        let urls = |brand: Brand| (brand.clone(), RouteUrls::new(path, brand.prefix()));
        OtherBrands {
            others: others.map(urls).collect(),
            own: own.clone(),
            own_path: format!("{path}/{}", own.prefix()),
        }
    }

    /// The response to a request with this path, if it belongs to the REST API of another brand.
    pub fn response(&self, path: &str) -> Option<Response> {
        if path.strip_prefix(&*self.own_path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        let (other, urls) = self.others.iter().find(|(_, urls)| urls.route_of_path(path).is_some())?;
        let message = format!(
            "The REST API of this site is at {}/, because its brand is `{}`. Start the server with `--brand {}` to serve it at {}/{}/.",
            self.own_path,
            self.own.word(),
            other.word(),
            urls.site_path(),
            urls.prefix()
        );
        let body = json!({"code": "rest_no_route", "message": message, "data": {"status": 404}});
        let content_type = [(header::CONTENT_TYPE, "application/json; charset=UTF-8")];
        Some((StatusCode::NOT_FOUND, content_type, body.to_string()).into_response())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_other_brands() {
        let site = OtherBrands::new(&Brand::default(), "/blog");
        for (path, found) in [
            ("/blog/wp-json", true),
            ("/blog/wp-json/wp/v2/posts", true),
            ("/blog/wp-jsonp", false),
            ("/blog/wp%2Djson/a%20b", true),
            ("/wp-json/", false),
            ("/blog/svc-json/", false),
        ] {
            assert_eq!(site.response(path).is_some(), found, "{path}");
        }
        let branded = OtherBrands::new(&Brand::original(), "");
        assert!(branded.response("/svc-json/").is_some() && branded.response("/wp-json/").is_none());
        let own = OtherBrands::new(&Brand::new("acme").unwrap(), "");
        assert!(own.response("/svc-json/").is_some() && own.response("/wp-json/").is_some());
    }
}
