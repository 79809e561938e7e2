//! oEmbed client: fetches embeds of other sites from known providers or from the endpoint that a page links to.

use std::time::Duration;

use serde_json::{Map, Value};
use svc_content::kses::{self, AllowedHtml};
use svc_fetch::Get;
use svc_site::HttpClient;
use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use super::providers;

/// Timeout of a request, and size limits of a response and of a page.
const TIME: Duration = Duration::from_secs(8);
const RESPONSE_BYTES: u64 = 256 << 10;
const PAGE_BYTES: u64 = 150 << 10;

/// Maximum size of an embed, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct MaxSize {
    pub(super) width: i64,
    pub(super) height: Option<i64>,
}

/// The oEmbed data of a URL: the provider's response with HTML that is safe to display. `None` if no endpoint is found or
/// the response cannot be displayed.
pub(super) async fn data(http_client: &HttpClient, url: &str, max_size: MaxSize, discover: bool) -> Option<Value> {
    let (endpoint, trusted) = match providers::endpoint(url) {
        Some(endpoint) => (with_query(endpoint, &[("url", url.to_owned())]), true),
        None if discover => (discover_endpoint(http_client, url).await?, false),
        None => return None,
    };
    let mut query = vec![("maxwidth", max_size.width.to_string()), ("format", "json".to_owned())];
    query.extend(max_size.height.map(|height| ("maxheight", height.to_string())));
    let get = Get::new(with_query(&endpoint, &query)).within(TIME).max_bytes(RESPONSE_BYTES);
    let response =
        http_client.send(get).await.inspect_err(|error| tracing::debug!(%error, "an oEmbed request failed")).ok()?;
    if response.status != 200 {
        return None;
    }
    let mut data = serde_json::from_slice::<Map<String, Value>>(&response.body).ok()?;
    let html = embed_html(&data, url, trusted)?;
    data.insert("html".to_owned(), html.into_string().into());
    Some(Value::Object(data))
}

/// Appends query parameters to a URL.
fn with_query(url: &str, parameters: &[(&str, String)]) -> String {
    let all: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={}", svc_php::query::urlencode(value))).collect();
    format!("{url}{}{}", if url.contains('?') { '&' } else { '?' }, all.join("&"))
}

/// The oEmbed endpoint that a page links to.
async fn discover_endpoint(http_client: &HttpClient, url: &str) -> Option<String> {
    let page = http_client.send(Get::new(url).within(TIME).first(PAGE_BYTES)).await.ok().filter(|a| a.status == 200)?;
    let html = String::from_utf8_lossy(&page.body).into_owned();
    let link = svc_render::html_metadata::description(&html)?;
    let endpoint = url::Url::parse(&page.url).ok()?.join(link.trim()).ok()?;
    matches!(endpoint.scheme(), "http" | "https").then(|| endpoint.into())
}

/// The HTML of a response: unchanged from known providers, otherwise a sandboxed frame only.
fn embed_html(data: &Map<String, Value>, url: &str, trusted: bool) -> Option<Html> {
    let text = |name: &str| data.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "photo" => {
            let [image, link] = [text("url"), url].map(esc_url);
            let number = |name: &str| data.get(name).map(svc_php::cast::to_int).filter(|n| *n > 0);
            let (width, height) = (number("width")?, number("height")?);
            let title = esc_attr(text("title"));
            (!image.is_empty()).then(|| {
                html!(
                    "<a href=\"{}\"><img src=\"{}\" alt=\"{}\" width=\"{}\" height=\"{}\" /></a>",
                    link,
                    image,
                    title,
                    width,
                    height
                )
            })
        }
        "video" | "rich" if trusted => {
            Some(Html::trusted(text("html"), "the response of a provider that is on the list"))
                .filter(|html| !html.trim().is_empty())
        }
        "video" | "rich" => sandboxed(text("html")),
        "link" => {
            let title = esc_html(text("title"));
            (!title.is_empty()).then(|| html!("<a href=\"{}\">{}</a>", esc_url(url), title))
        }
        _ => None,
    }
}

/// The quotation and the frame of an untrusted response, the frame with a restrictive sandbox. `None` if there is no
/// frame.
fn sandboxed(html: &str) -> Option<Html> {
    let part = |html: &str| Html::trusted(html, "an element or the attributes of one, from filtered HTML");
    let none: [&str; 0] = [];
    let frame = ["src", "width", "height", "frameborder", "marginwidth", "marginheight", "scrolling", "title"];
    let allowed = AllowedHtml::default().allow("a", ["href"]).allow("blockquote", none).allow("iframe", frame);
    let clean = kses::filter(html, &allowed);
    let quotation = clean.find("<blockquote").and_then(|start| {
        let end = clean[start..].find("</blockquote>")? + start + "</blockquote>".len();
        Some(part(&clean[start..end].replacen("<blockquote", "<blockquote class=\"wp-embedded-content\"", 1)))
    });
    let start = clean.find("<iframe ")?;
    let end = start + clean[start..].find('>')?;
    let tag = &clean[start + "<iframe ".len()..end];
    let is_web = ["src=\"http://", "src=\"https://"].iter().any(|src| tag.contains(src));
    is_web.then(|| {
        html!(
            "{}<iframe class=\"wp-embedded-content\" sandbox=\"allow-scripts\" security=\"restricted\" {}></iframe>",
            quotation,
            part(tag)
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(data: &Value, trusted: bool, expected: Option<&str>) {
        assert_eq!(
            embed_html(data.as_object().unwrap(), "https://a.example/x", trusted).as_deref(),
            expected,
            "{data}"
        );
    }

    #[test]
    fn untrusted_html_becomes_a_sandboxed_frame() {
        let evil = "<script>x</script><blockquote onclick=x><a href=\"javascript:x\">q</a></blockquote>\
                    <iframe src=\"https://a.example/e\" srcdoc=x onload=x sandbox=\"allow-same-origin\" width=600></iframe><p>more";
        check(
            &json!({"type": "rich", "html": evil}),
            false,
            Some(
                "<blockquote class=\"wp-embedded-content\"><a href=\"x\">q</a></blockquote><iframe class=\"wp-embedded-content\" \
                 sandbox=\"allow-scripts\" security=\"restricted\" src=\"https://a.example/e\" width=\"600\"></iframe>",
            ),
        );
        check(&json!({"type": "rich", "html": "<script>x</script>"}), false, None);
        check(&json!({"type": "rich", "html": "<iframe src=\"javascript:x\"></iframe>"}), false, None);
        check(&json!({"type": "rich", "html": "<b>x</b>"}), true, Some("<b>x</b>"));
        check(&json!({"type": "rich", "html": 7}), true, None);
        check(
            &json!({"type": "photo", "url": "https://a.example/i.png\"onload=x", "width": "4", "height": 3, "title": "\"t"}),
            false,
            Some(
                "<a href=\"https://a.example/x\"><img src=\"https://a.example/i.pngonload=x\" alt=\"&quot;t\" width=\"4\" \
                 height=\"3\" /></a>",
            ),
        );
        check(&json!({"type": "link", "title": "<b>t"}), false, Some("<a href=\"https://a.example/x\">&lt;b&gt;t</a>"));
        check(&json!({"type": "other"}), true, None);
    }

    #[test]
    fn appends_query_parameters() {
        assert_eq!(with_query("http://a/x", &[("url", "b c&d".to_owned())]), "http://a/x?url=b+c%26d");
        assert_eq!(
            with_query("http://a/x?y=1", &[("n", "1".to_owned()), ("m", "2".to_owned())]),
            "http://a/x?y=1&n=1&m=2"
        );
    }
}
