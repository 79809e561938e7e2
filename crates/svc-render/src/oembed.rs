//! oEmbed of the site's own posts: data, and links in pages.

use serde_json::{Value, json};
use svc_auth::{Caller, UserVisibility};
use svc_model::Post;
use svc_php::query::extend_url_with;
use svc_schema::Error;
use svc_site::{Settings, Site, SiteResult, permalinks, url_resolver::UrlResolver};
use svc_store::{Db, users};
use svc_text::{Html, esc_attr, esc_url, html};

use crate::{content as render, oembed_thumbnail as thumbnail};

/// The namespace of oEmbed's routes, which is independent of the brand.
pub const NAMESPACE: &str = "oembed/1.0";

/// Minimum and maximum width of the iframe, in pixels.
const WIDTHS: (i64, i64) = (200, 600);

/// Minimum height of the iframe, in pixels.
const MIN_HEIGHT: i64 = 200;

/// Length of the secret that identifies an iframe to the embedding page.
const SECRET_LENGTH: usize = 10;

/// Script of the embedding page. It resizes iframes and follows links on request of the iframe with the matching secret.
const SCRIPT: &str = r#"(function(w,d){if(w.contentEmbedsHeard)return;w.contentEmbedsHeard=true;w.addEventListener("message",function(e){var m=e.data;if(!m||!/^[a-zA-Z0-9]+$/.test(m.secret))return;d.querySelectorAll('iframe[data-secret="'+m.secret+'"]').forEach(function(f){if(f.contentWindow!==e.source)return;if(m.message==="height"){f.height=Math.min(1000,Math.max(200,parseInt(m.value,10)||0))}else if(m.message==="link"&&d.activeElement===f){var from=new URL(f.src),to=new URL(m.value,f.src);if(/^https?:$/.test(to.protocol)&&to.host===from.host)w.top.location.href=to.href}})})})(window,document);"#;

/// The oEmbed discovery links for the head of a post's page.
pub fn discovery_links(settings: &Settings, post_url: &str) -> Html {
    let endpoint = settings.urls.rest(&format!("/{NAMESPACE}/embed"));
    let json = extend_url_with(&endpoint, [("url", post_url)]);
    let xml = extend_url_with(&endpoint, [("url", post_url), ("format", "xml")]);
    let link = |format: &'static str, mime: &'static str, url: &str| {
        html!("<link rel=\"alternate\" title=\"oEmbed ({})\" type=\"{}\" href=\"{}\" />\n", format, mime, esc_url(url))
    };
    [link("JSON", "application/json+oembed", &json), link("XML", "text/xml+oembed", &xml)].into_iter().collect()
}

/// The post at a URL of this site, if it is public.
///
/// # Errors
/// Errors of the store.
pub fn post_at(db: &mut Db, site: &Site, settings: &Settings, url: &str) -> SiteResult<Option<Post>> {
    let bare = |url: &str| {
        let parts = svc_text::parse_url(url)?;
        Some((parts.host?.to_ascii_lowercase().trim_start_matches("www.").to_owned(), parts.port))
    };
    let (Some((host, port)), Some((own_host, own_port))) = (bare(url), bare(settings.option("home"))) else {
        return Ok(None);
    };
    if host != own_host {
        return Ok(None);
    }
    let anonymous = Caller::anonymous();
    let mut resolver = UrlResolver { site, settings, db, viewer: &anonymous, previewed: None };
    // Of the query string only ids are read, and they take precedence. Source: `url_to_postid`.
    if let Some(id) = id_in(url) {
        return resolver.by_id(id);
    }
    let Some(parts) = svc_text::parse_url(url).filter(|_| port == own_port) else { return Ok(None) };
    let path = parts.path.unwrap_or_else(|| "/".to_owned());
    let lookups = settings.urls.lookups(&path, &[]);
    for lookup in &lookups {
        let is_front = matches!(lookup.target, svc_permalinks::LookupTarget::Front);
        if let Some(post) = if is_front { resolver.front()? } else { resolver.find(lookup)? } {
            return Ok(Some(post));
        }
    }
    Ok(None)
}

/// The id in a URL's `p`, `page_id` or `attachment_id` parameter. Ignores 0.
fn id_in(url: &str) -> Option<u64> {
    let id = |(at, _): (usize, &str)| {
        let rest = &url[at + 1..];
        let digits = ["p=", "page_id=", "attachment_id="].iter().find_map(|name| rest.strip_prefix(name))?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        (end > 0).then(|| digits[..end].parse::<u64>().unwrap_or(u64::MAX))
    };
    url.match_indices(['?', '&']).find_map(id).filter(|id| *id > 0)
}

/// The oEmbed document of a post. `width` is the maximum width in pixels.
///
/// # Errors
/// Errors of the store; 500 if the operating system provides no randomness.
pub fn data(db: &mut Db, site: &Site, settings: &Settings, post: &Post, width: i64) -> SiteResult<Value> {
    let width = width.clamp(WIDTHS.0, WIDTHS.1);
    let height = (width.saturating_mul(9) + 15).div_euclid(16).max(MIN_HEIGHT);
    let rows = std::slice::from_ref(post);
    let url = permalinks::of_posts(db, site, settings, rows)?.remove(&post.id).unwrap_or_default();
    let name = settings.option("blogname");
    let title = render::title(&post.title);
    let title = if post.is_protected() { html!("Protected: {}", title) } else { title };
    let mut data = json!({
        "version": "1.0",
        "provider_name": name,
        "provider_url": settings.urls.site.home_url(""),
        "author_name": name,
        "author_url": settings.urls.site.home_url(""),
        "title": title.as_str(),
        "type": "rich",
        "width": width,
        "height": height,
        "html": html(&url, &frame_url(&url), &title, name, (width, height))?.into_string(),
    });
    if site.policies.users != UserVisibility::Private
        && let Some(author) = users::get(db, post.author)?
    {
        data["author_name"] = author.display_name.as_str().into();
        data["author_url"] = settings.urls.author(&author).into();
    }
    if let Some(image) = thumbnail::of_post(db, settings, post, width)? {
        data["thumbnail_url"] = image.url.into();
        data["thumbnail_width"] = image.width.into();
        data["thumbnail_height"] = image.height.into();
    }
    Ok(data)
}

/// The URL of the iframe's page.
fn frame_url(url: &str) -> String {
    if url.contains('?') {
        svc_php::query::extend_url_with(url, [("embed", "true")])
    } else {
        let end = if url.ends_with('/') { "/" } else { "" };
        format!("{}/embed{end}", url.trim_end_matches('/'))
    }
}

/// The embed HTML: a quoted link as fallback without scripts, the iframe, and the script.
fn html(url: &str, frame: &str, title: &Html, site_name: &str, (width, height): (i64, i64)) -> Result<Html, Error> {
    let secret = svc_auth::random_text(SECRET_LENGTH).map_err(|error| {
        tracing::error!(%error, "failed to generate the secret of an embedded post");
        Error::new("rest_internal_error", "Internal server error. The details have been logged.").with_status(500)
    })?;
    let secret = esc_attr(secret.expose());
    let label = esc_attr(&format!("&#8220;{title}&#8221; &#8212; {site_name}"));
    Ok(html!(
        "<blockquote class=\"wp-embedded-content\" data-secret=\"{secret}\"><a href=\"{url}\">{title}</a></blockquote>\
         <iframe sandbox=\"allow-scripts\" security=\"restricted\" src=\"{frame}#?secret={secret}\" width=\"{width}\" \
         height=\"{height}\" title=\"{label}\" data-secret=\"{secret}\" frameborder=\"0\" marginwidth=\"0\" \
         marginheight=\"0\" scrolling=\"no\" class=\"wp-embedded-content\"></iframe><script>{SCRIPT}</script>\n",
        url = esc_url(url),
        frame = esc_url(frame),
        secret = secret,
        title = title,
        width = width,
        height = height,
        label = label,
        SCRIPT = SCRIPT
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_urls() {
        for (url, frame) in [
            ("http://a.example/x/", "http://a.example/x/embed/"),
            ("http://a.example/x", "http://a.example/x/embed"),
            ("http://a.example/?p=1", "http://a.example/?p=1&embed=true"),
        ] {
            assert_eq!(frame_url(url), frame);
        }
    }

    #[test]
    fn ids_in_urls() {
        for (url, id) in [
            ("http://a.example/?p=1", Some(1)),
            ("http://a.example/x/?a=b&page_id=23#c", Some(23)),
            ("http://a.example/?attachment_id=7x", Some(7)),
            ("http://a.example/?p=x&page_id=2", Some(2)),
            ("http://a.example/?p=0", None),
            ("http://a.example/?pp=1&xp=2", None),
            ("http://a.example/p=1", None),
            ("http://a.example/?p=99999999999999999999", Some(u64::MAX)),
        ] {
            assert_eq!(id_in(url), id, "{url}");
        }
    }

    #[test]
    fn titles_are_escaped_in_attributes() {
        let title = Html::from("A \"b\" <em>c</em>");
        let html = html("http://a.example/", "http://a.example/embed/", &title, "S", (600, 338)).unwrap();
        assert!(html.contains("title=\"&#8220;A &quot;b&quot; &lt;em&gt;c&lt;/em&gt;&#8221; &#8212; S\""), "{html}");
        assert!(!SCRIPT.contains("</"), "the script contains no closing tag");
    }
}
