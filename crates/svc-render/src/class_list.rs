//! CSS class names for a post's element.

use svc_model::{Post, PostType, Term};
use svc_php::numeric::numeric_string;
use svc_site::Site;
use svc_text::{Html, esc_attr};

/// The post's format, stored as a term with the slug `post-format-NAME`; `standard` if there is none.
pub fn post_format(terms: &[Term]) -> &str {
    let slug = terms.iter().find(|t| t.taxonomy == "post_format").map_or("", |t| t.slug.as_str());
    let format = slug.strip_prefix("post-format-").unwrap_or_default();
    if svc_site::posts::formats::FORMATS.contains(&format) { format } else { "standard" }
}

/// CSS class names for a post's element, in WordPress's order: the post, its state, then its terms.
///
/// A protected post always gets `post-password-required`: the REST API ignores password cookies.
pub fn class_list(site: &Site, post: &Post, post_type: &PostType, terms: &[Term], has_thumbnail: bool) -> Vec<Html> {
    let mut classes = vec![
        format!("post-{}", post.id),
        post.post_type.clone(),
        format!("type-{}", post.post_type),
        format!("status-{}", post.status),
    ];
    if post_type.supports("post-formats") {
        classes.push(format!("format-{}", post_format(terms)));
    }
    if post.is_protected() {
        classes.push("post-password-required".to_owned());
    }
    if has_thumbnail && !post.is_protected() {
        classes.push("has-post-thumbnail".to_owned());
    }
    classes.push("hentry".to_owned());
    for taxonomy in site.registries.taxonomies.of_type(&post.post_type).filter(|t| t.public) {
        let prefix = if taxonomy.name == "post_tag" { "tag" } else { &taxonomy.name };
        for term in terms.iter().filter(|t| t.taxonomy == taxonomy.name && !matches!(t.slug.as_str(), "" | "0")) {
            classes.push(format!("{prefix}-{}", term_class(term)));
        }
    }
    classes.iter().map(|c| esc_attr(c)).collect()
}

/// A term's slug as a class name, or its id if the slug is numeric or empty once sanitized.
pub fn term_class(term: &Term) -> String {
    let class = svc_text::sanitize_html_class(&term.slug, &term.id.to_string());
    let is_blank = matches!(class.trim_matches('-'), "" | "0");
    if is_blank || numeric_string(&class).is_some() { term.id.to_string() } else { class }
}
