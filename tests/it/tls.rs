//! TLS is a property of each request: the URLs in a response have its scheme, regardless of the stored URL of the site.

use serde_json::{Value, json};
use svc_server::SiteBuilder;

use crate::{
    client::{HttpResponse, raw, send},
    site::{Site, basic},
    visitor::encode,
};

const API: &str = "/svc-json/svc/v2";
const IMAGE: &[u8] = include_bytes!("../../crates/svc-controllers/tests/data/wide.png");
const PLAIN: &str = "http://site.example";
const SECURE: &str = "https://site.example";

/// The header that a trusted proxy adds to requests that it has received over TLS.
const OVER_TLS: (&str, &str) = ("X-Forwarded-Proto", "https");

/// Routes of the REST API, below [`API`].
const ROUTES: &[&str] = &[
    "/posts",
    "/posts?per_page=1&page=2",
    "/posts?_embed",
    "/posts?_fields=id,link,_links",
    "/posts/1",
    "/posts/1?_embed",
    "/pages",
    "/categories",
    "/categories/1",
    "/tags",
    "/users",
    "/users/1",
    "/comments",
    "/media",
    "/media?_embed",
    "/search?search=hello",
    "/search?type=term",
    "/types",
    "/taxonomies",
    "/statuses",
    "/posts?context=edit",
    "/users/me?context=edit",
    "/settings",
    "/templates",
    "/themes",
    "/block-types",
    "/menu-locations",
    "/navigation",
    "/sidebars",
    "/widget-types",
    "/global-styles/themes/svc",
    "/block-patterns/patterns",
];

/// Other URLs of the site.
const PATHS: &[&str] = &[
    "/",
    "/?p=1",
    "/?page_id=2",
    "/?cat=1",
    "/?author=1",
    "/?s=hello",
    "/?p=999",
    "/feed/",
    "/?feed=rss2",
    "/wp-sitemap.xml",
    "/wp-sitemap-posts-post-1.xml",
    "/robots.txt",
    "/xmlrpc.php?rsd",
    "/svc-json/",
    "/svc-json/svc/v2",
    "/svc-json/openapi.json",
    "/wp-login.php",
];

async fn start(settings: &[(&str, &str)]) -> Site {
    let mut all = vec![("trusted_proxies", "127.0.0.1")];
    all.extend(settings);
    Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &all).await
}

/// Uploads an image over TLS.
pub(crate) async fn upload(site: &Site, user: &str) -> Value {
    let head = format!(
        "POST {API}/media HTTP/1.1\r\nHost: site.example\r\nConnection: close\r\nAuthorization: {}\r\n\
         X-Forwarded-Proto: https\r\nContent-Disposition: attachment; filename=wide.png\r\nContent-Length: {}\r\n\r\n",
        basic(user),
        IMAGE.len()
    );
    let response = raw(site.address, &[head.as_bytes(), IMAGE].concat(), false).await;
    serde_json::from_str(String::from_utf8_lossy(&response).split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Uploads an image, and publishes a post that shows it.
async fn publish_image(site: &Site, user: &str) -> Value {
    let image = upload(site, user).await;
    let (id, file) = (&image["id"], image["source_url"].as_str().unwrap().replacen("https:", "http:", 1));
    let content = format!(
        "<!-- wp:image {{\"id\":{id}}} --><figure class=\"wp-block-image\"><img src=\"{file}\" alt=\"\" class=\"wp-image-{id}\"/>\
         </figure><!-- /wp:image --><!-- wp:latest-posts /--><!-- wp:search /--><!-- wp:site-title /-->"
    );
    let post = json!({"title": "Image", "content": content, "status": "publish", "featured_media": id});
    let created = site.post(&format!("{API}/posts"), user, &post).await;
    assert_eq!(created.status, 201, "{}", created.body);
    image
}

/// Removes what an index or an OpenAPI document has for secure origins only: the routes with which clients process images, and their
/// settings.
fn remove_secure_routes(body: &mut Value) {
    let is_secure = |path: &String| path.ends_with("/sideload") || path.ends_with("/finalize");
    for list in ["routes", "paths"] {
        if let Some(paths) = body.get_mut(list).and_then(Value::as_object_mut) {
            paths.retain(|path, _| !is_secure(path));
        }
    }
    // The bodies of these routes.
    if let Some(schemas) = body.pointer_mut("/components/schemas").and_then(Value::as_object_mut) {
        schemas.retain(|name, _| !matches!(name.as_str(), "AttachmentUpdate2" | "AttachmentUpdate3"));
    }
    if let Some(index) = body.as_object_mut() {
        for name in ["image_sizes", "image_size_threshold", "image_strip_meta", "image_max_bit_depth"] {
            index.shift_remove(name);
        }
    }
}

/// The response without its stored URLs, which do not depend on the request: GUIDs, contents as typed, and the option `siteurl`.
fn without_stored(path: &str, response: &HttpResponse) -> String {
    fn remove(value: &mut Value) {
        match value {
            Value::Object(map) => {
                for name in ["guid", "raw", "block"] {
                    map.shift_remove(name);
                }
                map.values_mut().for_each(remove);
            }
            Value::Array(list) => list.iter_mut().for_each(remove),
            _ => {}
        }
    }
    let headers: Vec<String> =
        ["link", "location"].iter().flat_map(|name| response.all(name)).map(str::to_owned).collect();
    let body = match serde_json::from_str::<Value>(&response.body) {
        Ok(mut body) => {
            remove(&mut body);
            remove_secure_routes(&mut body);
            if let Some(index) =
                body.as_object_mut().filter(|_| path.ends_with("-json/") || path.ends_with("/settings"))
            {
                index.shift_remove("url");
            }
            body.to_string()
        }
        Err(_) => response.body.lines().filter(|line| !line.starts_with("<guid")).collect::<Vec<_>>().join("\n"),
    };
    // The image's URL in the content is stored, those of its sizes are not.
    let mut text = format!("{}\n{body}", headers.join("\n"));
    // Browsers allow passkeys with TLS only.
    if let Some((before, form)) = text.split_once("<form id=\"passkey\"") {
        text = format!("{before}{}", form.split_once("</form>").map_or("", |(_, after)| after));
    }
    let is_kept = |line: &&str| !line.is_empty() && !line.contains("/passkeys.js?");
    text = text.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
    // Secrets of embeds are random.
    let mut parts = text.split("secret=");
    let first = parts.next().unwrap_or_default().to_owned();
    let without_secret = |part: &str| {
        part.trim_start_matches(['\\', '"']).trim_start_matches(|c: char| c.is_ascii_alphanumeric()).to_owned()
    };
    text = first + &parts.map(without_secret).collect::<String>();
    // URLs in queries of URLs.
    text = text.replace("%3A%2F%2Fsite.example", "://site.example");
    for quote in ["\"", "\\\"", "&#34;"] {
        for site in [PLAIN, SECURE] {
            text = text.replace(&format!(" src={quote}{site}/wp-content/"), "");
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn urls_have_the_scheme_of_the_request() {
    let site = start(&[("site_url", PLAIN), ("environment", "local")]).await;
    let user = site.app_password();
    let image = publish_image(&site, &user).await;
    let authorization = basic(&user);
    let mut n_urls = 0;
    for method in ["GET", "OPTIONS"] {
        let routes = ROUTES.iter().map(|route| format!("{API}{route}"));
        let paths =
            PATHS.iter().filter(|path| method == "GET" || path.contains("-json")).map(|path| (*path).to_owned());
        let embed = format!("/svc-json/oembed/1.0/embed?url={}", encode(&format!("{PLAIN}/?p=1")));
        let upload = format!("/?attachment_id={}", image["id"]);
        for path in routes.chain(paths).chain([embed, upload]) {
            for caller in [None, Some(("Authorization", authorization.as_str()))] {
                let get = async |scheme: Option<(&str, &str)>| {
                    let headers: Vec<_> = caller.into_iter().chain(scheme).collect();
                    send(site.address, method, &path, &headers, "").await
                };
                // The later ones come from caches.
                let (first, tls) = (get(None).await, get(Some(OVER_TLS)).await);
                let (second, tls_again) = (get(None).await, get(Some(OVER_TLS)).await);
                assert_eq!(first.status, tls.status, "{method} {path}: {}", tls.body);
                let [first, second, tls, tls_again] =
                    [first, second, tls, tls_again].map(|response| without_stored(&path, &response));
                assert_eq!(first, second, "{method} {path}");
                assert_eq!(tls, tls_again, "{method} {path}");
                assert!(!first.contains(SECURE), "{method} {path}: {first}");
                assert!(!tls.contains(PLAIN), "{method} {path}: {tls}");
                let replaced = tls.replace(SECURE, PLAIN);
                let different = replaced.lines().zip(first.lines()).find(|(tls, plain)| tls != plain);
                assert_eq!(different, None, "{method} {path}");
                assert_eq!(replaced.lines().count(), first.lines().count(), "{method} {path}");
                n_urls += tls.matches(SECURE).count();
            }
        }
    }
    assert!(n_urls > 2_000, "{n_urls}");
}

#[tokio::test(flavor = "multi_thread")]
async fn media_have_the_scheme_of_the_request_and_stored_urls_stay() {
    let site = start(&[("site_url", PLAIN), ("environment", "local")]).await;
    let user = site.app_password();
    let image = publish_image(&site, &user).await;
    let at = |value: &Value| value.as_str().unwrap().to_owned();
    assert!(at(&image["guid"]["rendered"]).starts_with("http://site.example/wp-content/uploads/"));
    assert!(at(&image["link"]).starts_with(SECURE) && at(&image["source_url"]).starts_with(SECURE));
    let sizes = image["media_details"]["sizes"].as_object().unwrap();
    assert!(sizes.len() > 2 && sizes.values().all(|size| at(&size["source_url"]).starts_with(SECURE)));
    assert!(at(&image["description"]["rendered"]).contains(" src=\"https://site.example/wp-content/"), "{image}");
    let posts = send(site.address, "GET", &format!("{API}/posts"), &[OVER_TLS], "").await.json();
    let content = at(&posts[0]["content"]["rendered"]);
    assert!(content.contains("src=\"http://site.example/wp-content/"), "{content}");
    assert!(content.contains(" srcset=\"https://site.example/wp-content/"), "{content}");
    // A site whose stored URL has TLS keeps it.
    let site = start(&[("site_url", SECURE), ("environment", "local")]).await;
    for headers in [&[][..], &[OVER_TLS]] {
        let posts = send(site.address, "GET", &format!("{API}/posts"), headers, "").await;
        let body = posts.body.replace("\\/", "/");
        assert!(body.contains("https://site.example/") && !body.contains(PLAIN), "{body}");
    }
}

/// Redirects, cookies and forms agree on the scheme: a cookie that was set over TLS is not sent to other URLs.
#[tokio::test(flavor = "multi_thread")]
async fn a_login_over_tls_stays_on_tls() {
    let site = start(&[("site_url", PLAIN)]).await;
    let password = site.created.as_ref().unwrap().password.expose().to_owned();
    let visit = async |method: &str, path: &str, headers: &[(&str, &str)], body: &str| {
        let all: Vec<_> = [OVER_TLS].into_iter().chain(headers.iter().copied()).collect();
        send(site.address, method, path, &all, body).await
    };
    let admin = visit("GET", "/wp-admin/", &[], "").await;
    assert!(admin.header("location").starts_with("https://site.example/wp-login.php?"), "{admin:?}");
    let profile = visit("GET", "/wp-admin/profile.php", &[], "").await;
    assert!(profile.header("location").starts_with("https://site.example/wp-login.php?"), "{profile:?}");
    let back = "redirect_to=https%3A%2F%2Fsite.example%2Fwp-admin%2Fprofile.php&";
    assert!(profile.header("location").contains(back), "{profile:?}");
    let form = visit("GET", "/wp-login.php", &[], "").await;
    assert!(form.body.contains("action=\"https://site.example/wp-login.php\""), "{}", form.body);
    assert!(form.header("set-cookie").contains("; Secure;"), "{form:?}");
    for (redirect_to, expected) in [
        ("", "https://site.example/wp-admin/"),
        ("http://site.example/wp-admin/profile.php", "https://site.example/wp-admin/profile.php"),
        ("https://site.example/wp-admin/profile.php", "https://site.example/wp-admin/profile.php"),
        ("/wp-admin/profile.php", "https://site.example/wp-admin/profile.php"),
        ("https://other.example/", "https://site.example/wp-admin/"),
    ] {
        let body = format!("log=admin&pwd={}&redirect_to={}", encode(&password), encode(redirect_to));
        let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Origin", SECURE)];
        let response = visit("POST", "/wp-login.php", &headers, &body).await;
        assert_eq!((response.status, response.header("location")), (302, expected), "{redirect_to}");
        let cookies = response.all("set-cookie");
        let secure: Vec<_> = cookies.iter().filter(|cookie| cookie.starts_with("svc_sec_")).collect();
        assert!(secure.len() == 2 && secure.iter().all(|cookie| cookie.contains("; Secure;")), "{cookies:?}");
        let pairs: Vec<_> = cookies.iter().map(|cookie| cookie.split(';').next().unwrap()).collect();
        let page = visit("GET", "/wp-admin/profile.php", &[("Cookie", &pairs.join("; "))], "").await;
        assert_eq!(page.status, 200, "{page:?}");
        let out = page.body.split("href=\"").find(|link| link.contains("action=logout")).unwrap();
        assert!(out.starts_with("https://site.example/wp-login.php?"), "{out}");
    }
    // Without TLS, nothing is secure.
    let body = format!("log=admin&pwd={}", encode(&password));
    let headers = [("Content-Type", "application/x-www-form-urlencoded")];
    let plain = send(site.address, "POST", "/wp-login.php", &headers, &body).await;
    assert_eq!(plain.header("location"), "http://site.example/wp-admin/");
    assert!(plain.all("set-cookie").iter().all(|cookie| !cookie.contains("Secure")), "{plain:?}");
}

/// In production, application passwords are accepted over TLS only, regardless of the stored URL and of what a client claims.
#[tokio::test(flavor = "multi_thread")]
async fn application_passwords_require_tls_of_the_request() {
    for (url, trusted, environment) in [
        (PLAIN, "127.0.0.1", "production"),
        (SECURE, "127.0.0.1", "production"),
        (SECURE, "", "production"),
        (PLAIN, "", "local"),
    ] {
        let settings = [("site_url", url), ("trusted_proxies", trusted), ("environment", environment)];
        let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
        let (password, me) = (site.app_password(), format!("{API}/users/me"));
        let user = basic(&password);
        for _ in 0..2 {
            for header in [None, Some(OVER_TLS), Some(("Forwarded", "for=192.0.2.7;proto=https"))] {
                let is_available = environment == "local" || header.is_some() && !trusted.is_empty();
                let headers: Vec<_> = header.into_iter().chain([("Authorization", user.as_str())]).collect();
                let response = send(site.address, "GET", &me, &headers, "").await;
                let expected = if is_available { 200 } else { 401 };
                assert_eq!(response.status, expected, "{settings:?} {header:?}: {}", response.body);
                let headers: Vec<_> = header.into_iter().collect();
                let index = send(site.address, "GET", "/svc-json/", &headers, "").await.json();
                let offered = index["authentication"]["application-passwords"]["endpoints"]["authorization"].as_str();
                assert_eq!(offered.is_some(), is_available, "{settings:?} {header:?}");
                let scheme = if url == SECURE || header.is_some() && !trusted.is_empty() { SECURE } else { PLAIN };
                assert!(offered.is_none_or(|page| page.starts_with(scheme)), "{offered:?}");
            }
        }
    }
}
