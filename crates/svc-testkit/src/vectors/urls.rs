//! Test vectors for svc-permalinks and svc-discovery: URLs and routes with several permalink structures.
//!
//! The recorded site has the brand `wp`, so prefix and namespace are those of WordPress.

use serde_json::{Value, json};
use svc_discovery::Queried;
use svc_permalinks::{
    AttachmentLink, AttachmentParent, InvalidTerm, PageLink, Permalinks, PostLink, RestBase, SiteUrls, TaxonomyLinks,
    TermLink, UrlScheme, needs_plain,
};

use super::{Outcome, Vector};

/// The URL of the recorded site.
const HOME: &str = "http://example.org";
const NAMESPACE: &str = "wp/v2";

/// Calls the function of this group that the vector names.
pub(super) fn call(vector: &Vector) -> Option<Outcome> {
    Some(match vector.function.as_str() {
        "rest_url" => rest_url(vector.text(0), vector.text(1), vector.arg(2)).into(),
        "get_rest_url" => rest_url(vector.text(1), vector.text(2), vector.arg(3)).into(),
        "get_permalink" => permalink(vector.arg(0), vector.arg(1), vector.text(2) == "leavename").into(),
        "get_term_link" => match term_link(vector.arg(0), vector.arg(1)) {
            Ok(link) => link.into(),
            // Errors without a status in their data have the status 500. The message is our own.
            Err(error) => Outcome::Error(
                json!({"code": error.code(), "message": vector.line["error"]["message"], "data": null, "status": 500}),
            ),
        },
        "get_author_posts_url" => {
            let author = vector.arg(1);
            site(vector.arg(0)).author_link(id(author), text(author, "nicename")).into()
        }
        "url:home_url" => site(vector.arg(1)).home_url(vector.text(0)).into(),
        "url:get_feed_link" => site(vector.arg(1)).feed_link(vector.text(0)).into(),
        "url:get_year_link" => {
            let year = u32::try_from(vector.arg(0).as_u64()?).ok()?;
            site(vector.arg(1)).date_link(year, None, None).into()
        }
        "url:get_post_comments_feed_link" => {
            // The only recorded post.
            let site = site(vector.arg(1));
            let link = site.post_link(&PostLink { id: vector.arg(0).as_u64()?, ..HELLO });
            site.comments_feed_link(&link, "p", vector.arg(0).as_u64()?, "").into()
        }
        "url:get_post_type_archive_link" => match vector.text(0) {
            // The archive of posts is the front page; no other built-in type has an archive.
            "post" => site(vector.arg(1)).home_url("").into(),
            _ => false.into(),
        },
        "rest_get_route_for_post" => {
            let post = vector.arg(0);
            let kind = post["type"].as_str().map(|kind| (id(post), post_type(kind)));
            site(&Value::Null).route_for_post(kind).into()
        }
        "rest_get_route_for_term" => {
            let term = vector.arg(0);
            let taxonomy = term["taxonomy"].as_str().map(|name| (id(term), taxonomy(name)));
            site(&Value::Null).route_for_term(taxonomy).into()
        }
        "rest_get_route_for_post_type_items" => post_type(vector.text(0)).items_route().into(),
        "rest_get_route_for_taxonomy_items" => taxonomy(vector.text(0)).items_route().into(),
        "rest_get_queried_resource_route" => {
            let number = |name: &str| vector.arg(1)[name].as_u64().unwrap_or_default();
            let queried = match vector.text(0) {
                "post" => Queried::Singular(number("p"), post_type("post")),
                "page" => Queried::Singular(number("page_id"), post_type("page")),
                "category" => Queried::Term(number("cat"), taxonomy("category")),
                "tag" => Queried::Term(number("tag_id"), taxonomy("post_tag")),
                "author" => Queried::Author(number("author")),
                _ => Queried::Other,
            };
            queried.route(&site(&Value::Null), NAMESPACE).into()
        }
        _ => return None,
    })
}

/// The common values of the recorded posts.
const HELLO: PostLink<'static> = PostLink {
    id: 4,
    slug: "hello-publish",
    date: "2024-03-05 06:07:08",
    author: "admin",
    category: "uncategorized",
    plain: false,
    leave_name: false,
};

fn text<'a>(map: &'a Value, name: &str) -> &'a str {
    map[name].as_str().unwrap_or_default()
}

fn id(map: &Value) -> u64 {
    map["id"].as_u64().unwrap_or_default()
}

fn texts<'a>(map: &'a Value, name: &str) -> Vec<&'a str> {
    map[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn site(settings: &Value) -> SiteUrls {
    let permalinks = Permalinks::new(text(settings, "permalink_structure"))
        .with_bases(text(settings, "category_base"), text(settings, "tag_base"));
    let site = SiteUrls::new(HOME, HOME, settings["prefix"].as_str().unwrap_or("wp-json"), permalinks);
    if settings["tls"] == Value::Bool(true) { site.over_tls() } else { site }
}

fn rest_url(path: &str, scheme: &str, settings: &Value) -> String {
    let scheme = match scheme {
        "https" => UrlScheme::Https,
        "relative" => UrlScheme::Relative,
        _ => UrlScheme::Site,
    };
    site(settings).rest_url_with(path, scheme)
}

fn permalink(settings: &Value, post: &Value, leave_name: bool) -> String {
    let site = site(settings);
    let (id, slug) = (id(post), text(post, "slug"));
    // The recordings were made without logging in.
    let plain = needs_plain(text(post, "status"), false);
    match text(post, "type") {
        "page" => {
            let path = texts(post, "parents").into_iter().chain([slug]).collect::<Vec<_>>().join("/");
            site.page_link(&PageLink { id, path: &path, plain, leave_name })
        }
        "attachment" => {
            let parent = match post["parent"].as_str() {
                None => None,
                Some("post hello-publish") => Some(site.post_link(&HELLO)),
                Some("page page-publish") => {
                    let page = PageLink { id: 5, path: "page-publish", ..PageLink::default() };
                    Some(site.page_link(&page))
                }
                Some(_) => Some(String::new()),
            };
            let parent = match parent.as_deref() {
                None => AttachmentParent::None,
                Some("") => AttachmentParent::Hidden,
                Some(link) => AttachmentParent::At(link),
            };
            site.attachment_link(&AttachmentLink { id, slug, parent, leave_name })
        }
        _ => site.post_link(&PostLink {
            id,
            slug,
            date: text(post, "date"),
            author: text(post, "author_nicename"),
            category: texts(post, "categories").first().copied().unwrap_or("uncategorized"),
            plain,
            leave_name,
        }),
    }
}

fn term_link(settings: &Value, term: &Value) -> Result<String, InvalidTerm> {
    let taxonomy = match text(term, "taxonomy") {
        "category" => TaxonomyLinks::category(),
        "post_tag" => TaxonomyLinks::post_tag(),
        _ => TaxonomyLinks::post_format(),
    };
    let parents = texts(term, "parents");
    let link = TermLink { id: id(term), slug: text(term, "slug"), parents: &parents };
    site(settings).try_term_link(&taxonomy, (term["missing"] != true).then_some(&link))
}

/// A built-in post type: its REST base, and whether it uses a standard controller.
fn post_type(name: &str) -> RestBase<'_> {
    let (base, standard) = match name {
        "post" => ("posts", true),
        "page" => ("pages", true),
        "attachment" => ("media", true),
        "wp_navigation" => ("navigation", true),
        "wp_block" => ("blocks", false),
        "wp_template" => ("templates", false),
        "wp_template_part" => ("template-parts", false),
        "wp_global_styles" => ("global-styles", false),
        "nav_menu_item" => ("menu-items", false),
        "wp_font_family" => ("font-families", false),
        "wp_font_face" => (r"font-families/(?P<font_family_id>[\d]+)/font-faces", false),
        _ => ("", false),
    };
    RestBase { name, namespace: NAMESPACE, base, show_in_rest: !base.is_empty(), standard }
}

/// A built-in taxonomy, like [`post_type`].
fn taxonomy(name: &str) -> RestBase<'_> {
    let (base, shown, standard) = match name {
        "category" => ("categories", true, true),
        "post_tag" => ("tags", true, true),
        "nav_menu" => ("menus", true, false),
        "wp_pattern_category" => ("", true, true),
        _ => ("", false, false),
    };
    RestBase { name, namespace: NAMESPACE, base, show_in_rest: shown, standard }
}
