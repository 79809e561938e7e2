//! Responses to clients that look for the REST API under the prefix of another brand, such as `/wp-json/`.

use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};
use serde_json::json;
use svc_brand::Brand;

/// The brands that clients look for.
pub struct OtherBrands {
    /// Paths of their REST APIs, below which this site has nothing.
    paths: Vec<(Brand, String)>,
    own: Brand,
    /// Path of this site's REST API.
    own_path: String,
}

impl OtherBrands {
    /// The well-known brands apart from this site's own. `path` is the path of the site: empty, or `/folder`.
    pub fn new(own: &Brand, path: &str) -> Self {
        let others = [Brand::original(), Brand::default()].into_iter().filter(|brand| brand != own);
        let root = |brand: &Brand| format!("{path}/{}", brand.prefix());
        OtherBrands {
            paths: others.map(|brand| (brand.clone(), root(&brand))).collect(),
            own: own.clone(),
            own_path: root(own),
        }
    }

    /// The response to a request with this path, if it belongs to the REST API of another brand.
    pub fn response(&self, path: &str) -> Option<Response> {
        let below = |root: &str| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let (other, root) = self.paths.iter().find(|(_, root)| below(root))?;
        let message = format!(
            "The REST API of this site is at {}/, because its brand is `{}`. Start the server with `--brand {}` to serve it at {root}/.",
            self.own_path,
            self.own.word(),
            other.word()
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
