//! HTML pages: which content is shown, links to the REST API, and redirects to canonical URLs.

use serde_json::json;

use crate::{client::send, site::Site};

const ROOT_LINK: &str = "rel=\"https://api.w.org/\"";

#[tokio::test(flavor = "multi_thread")]
async fn the_front_page_links_to_the_rest_api() {
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    for method in ["GET", "HEAD"] {
        let front = send(site.address, method, "/", &[], "").await;
        assert_eq!(front.status, 200);
        assert_eq!(front.all("link"), [format!("<{home}/svc-json/>; {ROOT_LINK}")]);
        assert_eq!(front.body.is_empty(), method == "HEAD");
    }
    let front = site.get("/").await;
    assert!(front.body.contains(&format!("<link rel=\"https://api.w.org/\" href=\"{home}/svc-json/\" />")));
    for title in ["This site is running", "Writing the first post", "Moving a site here"] {
        assert!(front.body.contains(title), "{title}");
    }
    assert!(front.body.starts_with("<!DOCTYPE html>\n<html lang=\"en-US\">"));
    assert!(!front.body.contains("<script"), "the page has a script");
    // The page is rendered with the default theme.
    for part in ["wp-theme-paper", "href=\"#content\"", "<main id=\"content\"", "--wp--preset--color--accent: #8a3b12;"]
    {
        assert!(front.body.contains(part), "{part}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_kinds_of_pages_are_served() {
    let site = Site::start().await;
    let link = |post: serde_json::Value| {
        let url = post[0]["link"].as_str().unwrap().to_owned();
        url.split_once(&site.address.to_string()).unwrap().1.to_owned()
    };
    let post = link(site.get("/svc-json/svc/v2/posts?slug=this-site-is-running").await.json());
    let (year, rest) = (&post[1..5], &post[6..8]);
    #[rustfmt::skip]
    let rows = [
        // path, status, route of the resource, text on the page
        (post.clone(), 200, Some("posts/1"), "Everything on this page is also available"),
        ("/about/".to_owned(), 200, Some("pages/4"), "Pages are not part of the list"),
        ("/category/how-to/".to_owned(), 200, Some("categories/2"), "Writing the first post"),
        ("/tag/rest-api/".to_owned(), 200, Some("tags/4"), "Writing the first post"),
        ("/author/admin/".to_owned(), 200, Some("users/1"), "By admin"),
        (format!("/{year}/"), 200, None, "This site is running"),
        (format!("/{year}/{rest}/"), 200, None, "This site is running"),
        ("/?s=notebook".to_owned(), 200, None, "Writing the first post"),
        ("/?s=nothinghasthis".to_owned(), 200, None, "Nothing was found."),
        ("/feed/".to_owned(), 200, None, "<rss version=\"2.0\""),
        ("/nosuch/".to_owned(), 404, None, "There is no page at this URL."),
        ("/page/2/".to_owned(), 404, None, "There is no page at this URL."),
        ("/1999/".to_owned(), 404, None, "There is no page at this URL."),
        ("/xmlrpc.php?rsd".to_owned(), 200, None, "<api name=\"WP-API\" blogID=\"1\" preferred=\"false\" apiLink="),
        ("/robots.txt".to_owned(), 200, None, "/wp-sitemap.xml"),
        ("/wp-sitemap.xml".to_owned(), 200, None, "/wp-sitemap-posts-post-1.xml</loc>"),
        ("/wp-sitemap-posts-post-1.xml".to_owned(), 200, None, "/this-site-is-running/</loc><lastmod>"),
        ("/wp-sitemap-posts-page-1.xml".to_owned(), 200, None, "/about/</loc>"),
        ("/wp-sitemap-taxonomies-category-1.xml".to_owned(), 200, None, "/category/how-to/</loc>"),
        ("/wp-sitemap-taxonomies-post_tag-1.xml".to_owned(), 200, None, "/tag/rest-api/</loc>"),
        ("/wp-sitemap-users-1.xml".to_owned(), 200, None, "/author/admin/</loc>"),
        ("/wp-sitemap-users-2.xml".to_owned(), 404, None, "There is no page at this URL."),
        ("/wp-sitemap-posts-attachment-1.xml".to_owned(), 404, None, "There is no page at this URL."),
    ];
    for (path, status, route, text) in rows {
        let page = site.get(&path).await;
        assert_eq!(page.status, status, "{path}");
        assert!(page.body.contains(text), "{path}: {}", page.body);
        let alternate = route.map(|r| format!("/svc-json/svc/v2/{r}>; rel=\"alternate\""));
        let alternate_link = page.all("link").into_iter().find(|l| l.contains("rel=\"alternate\""));
        assert_eq!(alternate_link.is_some(), alternate.is_some(), "{path}: {alternate_link:?}");
        assert!(alternate.is_none_or(|a| alternate_link.is_some_and(|t| t.contains(&a))), "{path}: {alternate_link:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn other_urls_redirect_to_the_canonical_one() {
    let site = Site::start().await;
    let home = format!("http://{}", site.address);
    let post = site.get("/svc-json/svc/v2/posts/1").await.json()["link"].as_str().unwrap().to_owned();
    let path = post.strip_prefix(&home).unwrap();
    #[rustfmt::skip]
    let rows = [
        ("/?p=1".to_owned(), post.clone()), (path.trim_end_matches('/').to_owned(), post.clone()),
        ("/about".to_owned(), format!("{home}/about/")), ("/?page_id=4".to_owned(), format!("{home}/about/")),
        ("/?author=1".to_owned(), format!("{home}/author/admin/")), ("/category/how-to".to_owned(), format!("{home}/category/how-to/")),
        ("/?tag=rest-api".to_owned(), format!("{home}/tag/rest-api/")),
    ];
    for (from, to) in rows {
        let response = site.get(&from).await;
        assert_eq!((response.status, response.header("location")), (301, to.as_str()), "{from}");
        let there = site.get(to.strip_prefix(&home).unwrap()).await;
        assert_eq!(there.status, 200, "{to} is not the canonical URL");
    }
    for api in
        ["/svc-json", "/svc-json/svc/v2/posts/", "/?rest_route=/svc/v2/posts", "/index.php/svc-json/svc/v2/posts"]
    {
        assert_eq!(site.get(api).await.status, 200, "{api} is a REST API URL");
    }
}

/// Sites that discourage search engines name no pages to them.
#[tokio::test(flavor = "multi_thread")]
async fn hidden_sites_have_no_sitemap() {
    let site = Site::start().await;
    assert_eq!(site.get("/wp-sitemap.xml").await.status, 200);
    crate::site::execute(&site.folder, "UPDATE wp_options SET option_value = '0' WHERE option_name = 'blog_public'");
    assert_eq!(site.get("/wp-sitemap.xml").await.status, 404);
    let robots = site.get("/robots.txt").await;
    assert_eq!(robots.body, "User-agent: *\nDisallow: /\n");
}

/// Content that requires authentication is on no page, under any URL.
#[tokio::test(flavor = "multi_thread")]
async fn content_that_is_not_public_is_on_no_page() {
    let site = Site::start().await;
    let admin = site.app_password();
    let mut ids = Vec::new();
    for (status, password) in [("draft", ""), ("private", ""), ("pending", ""), ("publish", "opensesame")] {
        let body = json!({
            "title": format!("Canary {status}{password}"), "content": "canarytext", "excerpt": "canarytext",
            "slug": format!("canary-{status}"), "status": status, "password": password,
        });
        let created = site.post("/svc-json/svc/v2/posts", &admin, &body).await;
        assert_eq!(created.status, 201, "{}", created.body);
        ids.push((created.json()["id"].as_i64().unwrap(), status));
    }
    let mut paths: Vec<String> =
        ["/", "/feed/", "/author/admin/", "/category/general/", "/?s=canarytext", "/?s=canary", "/?feed=rss2"]
            .map(str::to_owned)
            .to_vec();
    for (id, status) in &ids {
        paths.extend([
            format!("/?p={id}"),
            format!("/?p={id}&preview=true"),
            format!("/?p={id}&feed=rss2"),
            format!("/canary-{status}/"),
        ]);
    }
    for path in paths {
        let mut page = site.get(&path).await;
        if page.status == 301 {
            let to = page.header("location").split_once(&site.address.to_string()).unwrap().1.to_owned();
            page = site.get(&to).await;
        }
        let searched = path.contains("s=canarytext");
        assert!(searched || !page.body.contains("canarytext"), "{path}");
        for hidden in ["Canary draft", "Canary private", "Canary pending"] {
            assert!(!page.body.contains(hidden), "{path} reveals {hidden}");
        }
    }
    let found = site.get("/?s=canarytext").await;
    assert!(found.body.contains("Nothing was found."), "searches must not find protected content");
    let locked = format!("/?p={}", ids[3].0);
    let to = site.get(&locked).await.header("location").split_once(&site.address.to_string()).unwrap().1.to_owned();
    let page = site.get(&to).await;
    assert!(
        page.body.contains("Protected: Canary publish") && page.body.contains("Enter the password to read this post")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_allow_only_get_and_support_conditional_requests() {
    let site = Site::start().await;
    let rejected = send(site.address, "POST", "/about/", &[], "x=1").await;
    assert_eq!((rejected.status, rejected.header("allow")), (405, "GET, HEAD"));
    let first = site.get("/about/").await;
    let again = send(site.address, "GET", "/about/", &[("If-None-Match", first.header("etag"))], "").await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
}
