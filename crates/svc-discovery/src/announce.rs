//! Discovery of the REST API: Link headers, links in the HTML head, the RSD document.

use svc_brand::LINK_RELATION;
use svc_permalinks::SiteUrls;
use svc_text::{Html, esc_html, esc_url, html, sanitize_url};

/// The discovery links of a page: the API root, and the route of the resource that the page shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    root: String,
    resource: Option<String>,
}

impl Announcement {
    /// The links of a page that shows the resource with this route. An empty route stands for none.
    pub fn new(site: &SiteUrls, route: &str) -> Self {
        Announcement { root: site.rest_url(""), resource: (!route.is_empty()).then(|| site.rest_url(route)) }
    }

    /// Values of `Link` headers. Send each as a header of its own, after those that the response already has.
    pub fn header_values(&self) -> Vec<String> {
        let mut values = Vec::new();
        if !self.root.is_empty() {
            values.push(format!("<{}>; rel=\"{LINK_RELATION}\"", sanitize_url(&self.root)));
            if let Some(resource) = &self.resource {
                let href = sanitize_url(resource);
                values.push(format!("<{href}>; rel=\"alternate\"; title=\"JSON\"; type=\"application/json\""));
            }
        }
        values
    }

    /// `<link>` elements for the HTML head.
    pub fn head_links(&self) -> Html {
        if self.root.is_empty() {
            return Html::new();
        }
        let mut html = html!("<link rel=\"{}\" href=\"{}\" />", LINK_RELATION, esc_url(&self.root));
        if let Some(resource) = &self.resource {
            let href = esc_url(resource);
            html.push(html!("<link rel=\"alternate\" title=\"JSON\" type=\"application/json\" href=\"{}\" />", href));
        }
        html
    }

    /// The `api` element of an RSD document; empty if the site has no API root.
    pub(crate) fn rsd_element(&self) -> String {
        if self.root.is_empty() {
            return String::new();
        }
        let href = esc_url(&self.root);
        format!("<api name=\"WP-API\" blogID=\"1\" preferred=\"false\" apiLink=\"{href}\" />")
    }
}

/// The RSD 1.0 document, listing the REST API as the only API.
///
/// `engine` and `engine_url` are the name and the home page of the software.
pub fn rsd_document(site: &SiteUrls, engine: &str, engine_url: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><rsd version=\"1.0\" xmlns=\"http://archipelago.phrasewise.com/rsd\">\n\
         \t<service>\n\
         \t\t<engineName>{}</engineName>\n\
         \t\t<engineLink>{}</engineLink>\n\
         \t\t<homePageLink>{}</homePageLink>\n\
         \t\t<apis>\n\
         \t\t\t{}\n\
         \t\t</apis>\n\
         \t</service>\n\
         </rsd>\n",
        esc_html(engine),
        esc_url(engine_url),
        esc_url(&site.home_url("")),
        Announcement::new(site, "").rsd_element(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use svc_permalinks::Permalinks;

    #[test]
    fn links_in_headers_head_and_rsd() {
        let site = SiteUrls::new("http://a.b", "http://a.b", "svc-json", Permalinks::new("/%postname%/"));
        let page = Announcement::new(&site, "/svc/v2/posts/4");
        assert_eq!(
            page.header_values(),
            [
                "<http://a.b/svc-json/>; rel=\"https://api.w.org/\"",
                "<http://a.b/svc-json/svc/v2/posts/4>; rel=\"alternate\"; title=\"JSON\"; type=\"application/json\"",
            ]
        );
        assert_eq!(
            page.head_links(),
            "<link rel=\"https://api.w.org/\" href=\"http://a.b/svc-json/\" />\
             <link rel=\"alternate\" title=\"JSON\" type=\"application/json\" \
             href=\"http://a.b/svc-json/svc/v2/posts/4\" />"
        );
        assert_eq!(Announcement::new(&site, "").header_values().len(), 1);
        let rsd = rsd_document(&site, "S & Co", "https://x.y/?a&b");
        assert!(
            rsd.contains("<api name=\"WP-API\" blogID=\"1\" preferred=\"false\" apiLink=\"http://a.b/svc-json/\" />")
        );
        assert!(rsd.contains("<engineName>S &amp; Co</engineName>"));
    }

    #[test]
    fn empty_root_produces_no_links() {
        let mut site = SiteUrls::new("http://a.b", "http://a.b", "svc-json", Permalinks::default());
        site.hooks.rest_url.add(10, std::sync::Arc::new(|_, _| String::new()));
        let page = Announcement::new(&site, "/svc/v2/posts/4");
        assert!(page.header_values().is_empty() && page.head_links().is_empty() && page.rsd_element().is_empty());
    }
}
