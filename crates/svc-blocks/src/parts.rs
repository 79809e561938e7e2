//! Blocks with content from another place: synced patterns, patterns, template parts, feeds, footnotes.

use serde_json::Value;
use svc_content::{blocks::ContentRoot, kses};
use svc_model::PostId;
use svc_text::{esc_attr, esc_html, esc_url};

use crate::{
    core::{BlockCall, root_of},
    date,
    html::classes,
};

/// Maximum number of feed items.
const MAX_ITEMS: i64 = 20;

/// A synced pattern, which is stored as a post.
pub(crate) fn synced(call: &BlockCall<'_>) -> String {
    let Some(id) = call.number("ref").filter(|id| *id > 0) else { return String::new() };
    let Some(post) = call.data().post(PostId(id)) else { return String::new() };
    if post.post.post_type != "wp_block" || post.post.status != "publish" || post.post.is_protected() {
        return String::new();
    }
    let content = call.attr("content").clone();
    call.within([("pattern/overrides", content)], || {
        call.blocks_of(format!("post {id}"), &post.post.content, Some(&root_of(&post)))
    })
}

pub(crate) fn pattern(call: &BlockCall<'_>) -> String {
    let slug = call.text("slug");
    match call.data().pattern(slug) {
        Some(content) => call.blocks_of(format!("pattern {slug}"), &content, None),
        None => String::new(),
    }
}

pub(crate) fn template_part(call: &BlockCall<'_>) -> String {
    let site_info = call.data().site_info();
    let theme = if call.text("theme").is_empty() { site_info.theme.as_str() } else { call.text("theme") };
    let slug = call.text("slug");
    let Some(part) = (!slug.is_empty()).then(|| call.data().template_part(slug, theme)).flatten() else {
        return String::new();
    };
    let root = ContentRoot::of("wp_template_part", &part.ignored_hooks);
    let inside = call.blocks_of(format!("part {theme}//{slug}"), &part.content, Some(&root));
    let tag = match (call.text("tagName"), part.area.as_str()) {
        ("", "header") => "header",
        ("", "footer") => "footer",
        (tag @ ("header" | "footer" | "main" | "section" | "article" | "aside" | "nav"), _) => tag,
        _ => "div",
    };
    format!("<{tag} {}>{inside}</{tag}>", call.wrapper(&[]))
}

/// The footnotes of a post: a numbered list with links back to the references.
pub(crate) fn footnotes(call: &BlockCall<'_>) -> String {
    let Some(post) = call.post().filter(|post| !post.locked) else { return String::new() };
    let notes: Value = serde_json::from_str(&post.footnotes).unwrap_or_default();
    let items: String = notes
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|note| Some((note["id"].as_str()?, note["content"].as_str()?)))
        .enumerate()
        .map(|(index, (id, text))| {
            let label = format!("Jump to footnote reference {}", index + 1);
            format!(
                "<li id=\"{id}\">{} <a href=\"#{id}-link\" aria-label=\"{label}\">\u{21a9}\u{fe0e}</a></li>",
                kses::post(text),
                id = esc_attr(id),
            )
        })
        .collect();
    if items.is_empty() { items } else { format!("<ol {}>{items}</ol>", call.wrapper(&[])) }
}

pub(crate) fn rss(call: &BlockCall<'_>) -> String {
    let error_notice = |text: &str| {
        format!("<div class=\"components-placeholder\"><div class=\"notice notice-error\">{text}</div></div>")
    };
    let count = call.number("itemsToShow").unwrap_or(5).clamp(1, MAX_ITEMS);
    let items = match call.text("feedURL") {
        "" => None,
        url => call.data().feed(url, u64::try_from(count).unwrap_or(5)),
    };
    let Some(items) = items else { return error_notice("The feed could not be loaded. Try again later.") };
    if items.is_empty() {
        return error_notice("The feed has no items.");
    }
    let item = |item: &crate::data::FeedItem| {
        let title = match svc_text::trim(&item.title) {
            "" => "(no title)".to_owned(),
            title => esc_html(title),
        };
        let title = if item.link.is_empty() { title } else { format!("<a href='{}'>{title}</a>", esc_url(&item.link)) };
        let mut out = format!("<li class='wp-block-rss__item'><div class='wp-block-rss__item-title'>{title}</div>");
        if let (true, Some(at)) = (call.is("displayDate"), item.date) {
            let site_info = call.data().site_info();
            out.push_str(&format!(
                "<time datetime=\"{}\" class=\"wp-block-rss__item-publish-date\">{}</time> ",
                crate::posts::iso_date(call, at),
                date::format(at, &site_info.date_format)
            ));
        }
        if call.is("displayAuthor") && !item.author.is_empty() {
            out.push_str(&format!("<span class=\"wp-block-rss__item-author\">by {}</span>", esc_html(&item.author)));
        }
        if call.is("displayExcerpt") && !item.text.is_empty() {
            let words = usize::try_from(call.number("excerptLength").unwrap_or(55).clamp(1, 1_000)).unwrap_or(55);
            let text = svc_content::excerpt::trim_words(&item.text, words, " [&hellip;]");
            out.push_str(&format!("<div class=\"wp-block-rss__item-excerpt\">{text}</div>"));
        }
        out.push_str("</li>");
        out
    };
    let is_grid = call.text("blockLayout") == "grid";
    let columns = format!("columns-{}", call.number("columns").unwrap_or(2));
    let class = classes(&[
        if is_grid { "is-grid" } else { "" },
        if is_grid { &columns } else { "" },
        if call.is("displayDate") { "has-dates" } else { "" },
        if call.is("displayAuthor") { "has-authors" } else { "" },
        if call.is("displayExcerpt") { "has-excerpts" } else { "" },
    ]);
    format!("<ul {}>{}</ul>", call.wrapper_with(&[&class]), items.iter().map(item).collect::<String>())
}
