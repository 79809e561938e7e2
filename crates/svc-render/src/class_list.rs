//! Class names of the element around a post.

use svc_model::{Post, PostType, Term};

use crate::SiteRenderer;

/// The format stands as a term `post-format-NAME`; a post without one is standard.
pub fn format_of(terms: &[Term]) -> &str {
    let slug = terms.iter().find(|t| t.taxonomy == "post_format").map_or("", |t| t.slug.as_str());
    let format = slug.strip_prefix("post-format-").unwrap_or_default();
    if svc_site::posts::formats::FORMATS.contains(&format) { format } else { "standard" }
}

/// Class names of the element around a post, in the peer's order: the post itself, its state, then its terms.
pub fn class_list(
    site: &SiteRenderer,
    post: &Post,
    kind: &PostType,
    terms: &[Term],
    has_thumbnail: bool,
) -> Vec<String> {
    let mut classes = vec![
        format!("post-{}", post.id),
        post.post_type.clone(),
        format!("type-{}", post.post_type),
        format!("status-{}", post.status),
    ];
    if kind.supports("post-formats") {
        classes.push(format!("format-{}", format_of(terms)));
    }
    if post.is_protected() {
        // Whoever asks: the interface takes no account of cookies here.
        classes.push("post-password-required".to_owned());
    }
    if has_thumbnail && !post.is_protected() {
        classes.push("has-post-thumbnail".to_owned());
    }
    classes.push("hentry".to_owned());
    for taxonomy in site.taxonomies.of_type(&post.post_type).filter(|t| t.public) {
        let prefix = if taxonomy.name == "post_tag" { "tag" } else { &taxonomy.name };
        for term in terms.iter().filter(|t| t.taxonomy == taxonomy.name && !t.slug.is_empty()) {
            classes.push(format!("{prefix}-{}", class_of(term)));
        }
    }
    classes.iter().map(|c| svc_text::esc_attr(c)).collect()
}

/// A slug fit for a class name, or the term's number when it would read as one.
pub fn class_of(term: &Term) -> String {
    let class = svc_text::sanitize_html_class(&term.slug, &term.id.to_string());
    let digits = class.trim_start_matches('-');
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) || digits.is_empty() {
        term.id.to_string()
    } else {
        class
    }
}
