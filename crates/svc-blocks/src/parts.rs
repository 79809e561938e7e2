//! Blocks with content from another place: synced patterns, patterns, template parts, feeds, footnotes.

use serde_json::Value;
use svc_content::{blocks::ContentRoot, kses};
use svc_model::PostId;
use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use crate::{
    core::{BlockCall, root_of},
    date,
    html::{classes, element, stored},
    posts::{iso_date, title_or_placeholder},
};

/// Maximum number of feed items.
const MAX_ITEMS: i64 = 20;

/// A synced pattern, which is stored as a post.
pub(crate) fn synced(call: &BlockCall<'_>) -> Html {
    let Some(id) = call.number("ref").filter(|id| *id > 0) else { return Html::new() };
    let Some(post) = call.data().post(PostId(id)) else { return Html::new() };
    if post.post.post_type != "wp_block" || post.post.status != "publish" || post.post.is_protected() {
        return Html::new();
    }
    let content = call.attr("content").clone();
    call.within([("pattern/overrides", content)], || {
        call.blocks_of(format!("post {id}"), &post.post.content, Some(&root_of(&post)))
    })
}

pub(crate) fn pattern(call: &BlockCall<'_>) -> Html {
    let slug = call.text("slug");
    match call.data().pattern(slug) {
        Some(content) => call.blocks_of(format!("pattern {slug}"), &content, None),
        None => Html::new(),
    }
}

pub(crate) fn template_part(call: &BlockCall<'_>) -> Html {
    let site_info = call.data().site_info();
    let theme = if call.text("theme").is_empty() { site_info.theme.as_str() } else { call.text("theme") };
    let slug = call.text("slug");
    let Some(part) = (!slug.is_empty()).then(|| call.data().template_part(slug, theme)).flatten() else {
        return Html::new();
    };
    let root = ContentRoot::of("wp_template_part", &part.ignored_hooks);
    let inside = call.blocks_of(format!("part {theme}//{slug}"), &part.content, Some(&root));
    let tag = match call.text("tagName") {
        "" => element(&part.area, &["header", "footer"]),
        name => element(name, &["header", "footer", "main", "section", "article", "aside", "nav"]),
    };
    let tag = tag.unwrap_or("div");
    html!("<{tag} {}>{}</{tag}>", call.wrapper(&[]), inside, tag = tag)
}

/// The footnotes of a post: a numbered list with links back to the references.
pub(crate) fn footnotes(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post().filter(|post| !post.locked) else { return Html::new() };
    let notes: Value = serde_json::from_str(&post.footnotes).unwrap_or_default();
    let items: Html = notes
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|note| Some((note["id"].as_str()?, note["content"].as_str()?)))
        .enumerate()
        .map(|(index, (id, text))| {
            let label = html!("Jump to footnote reference {}", index + 1);
            html!(
                "<li id=\"{id}\">{} <a href=\"#{id}-link\" aria-label=\"{}\">\u{21a9}\u{fe0e}</a></li>",
                kses::post(text),
                label,
                id = esc_attr(id)
            )
        })
        .collect();
    if items.is_empty() { items } else { html!("<ol {}>{}</ol>", call.wrapper(&[]), items) }
}

pub(crate) fn rss(call: &BlockCall<'_>) -> Html {
    let error_notice = |text: &'static str| {
        html!("<div class=\"components-placeholder\"><div class=\"notice notice-error\">{}</div></div>", text)
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
        let title = title_or_placeholder(esc_html(svc_text::trim(&item.title)));
        let title = if item.link.is_empty() { title } else { html!("<a href='{}'>{}</a>", esc_url(&item.link), title) };
        let mut out = html!("<li class='wp-block-rss__item'><div class='wp-block-rss__item-title'>{}</div>", title);
        if let (true, Some(at)) = (call.is("displayDate"), item.date) {
            let site_info = call.data().site_info();
            out.push(html!(
                "<time datetime=\"{}\" class=\"wp-block-rss__item-publish-date\">{}</time> ",
                esc_attr(&iso_date(call, at)),
                stored(&date::format(at, &site_info.date_format))
            ));
        }
        if call.is("displayAuthor") && !item.author.is_empty() {
            out.push(html!("<span class=\"wp-block-rss__item-author\">by {}</span>", esc_html(&item.author)));
        }
        if call.is("displayExcerpt") && !item.text.is_empty() {
            let words = usize::try_from(call.number("excerptLength").unwrap_or(55).clamp(1, 1_000)).unwrap_or(55);
            let text = esc_html(&svc_content::excerpt::trim_words(&item.text, words, " [&hellip;]"));
            out.push(html!("<div class=\"wp-block-rss__item-excerpt\">{}</div>", text));
        }
        out.push("</li>");
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
    html!("<ul {}>{}</ul>", call.wrapper_with(&[&class]), items.iter().map(item).collect::<Html>())
}
