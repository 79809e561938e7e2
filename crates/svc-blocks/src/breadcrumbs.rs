//! The breadcrumbs block and the icon block.

use svc_model::{PostId, TermId};
use svc_text::{Html, HtmlPart, esc_attr, esc_html, esc_url, html};

use crate::{core::BlockCall, data::PostView, html::stored};

/// Maximum number of breadcrumbs between the front page and the post.
const MAX_ANCESTORS: usize = 20;

fn link(url: &str, title: impl HtmlPart) -> Html {
    html!("<a href=\"{}\">{}</a>", esc_url(url), title)
}

/// Links to the ancestors of a post, topmost first.
fn ancestors(call: &BlockCall<'_>, post: &PostView) -> Vec<Html> {
    let (mut items, mut id) = (Vec::new(), post.post.parent);
    while let Some(parent) = (id != PostId(0) && items.len() < MAX_ANCESTORS).then(|| call.data().post(id)).flatten() {
        items.push(link(&parent.link, &parent.title));
        id = parent.post.parent;
    }
    items.reverse();
    items
}

/// Links to the post's first term and its ancestors, topmost first.
fn term_links(call: &BlockCall<'_>, post: &PostView) -> Vec<Html> {
    let taxonomies = ["category", "post_tag"];
    let Some((taxonomy, first)) =
        taxonomies.iter().find_map(|name| Some((*name, call.data().terms_of(post.post.id, name).into_iter().next()?)))
    else {
        return Vec::new();
    };
    let mut items = vec![link(&first.link, stored(&first.term.name))];
    let mut id = first.term.parent;
    while let Some(parent) =
        (id != TermId(0) && items.len() < MAX_ANCESTORS).then(|| call.data().term(id, taxonomy)).flatten()
    {
        items.push(link(&parent.link, stored(&parent.term.name)));
        id = parent.term.parent;
    }
    items.reverse();
    items
}

pub(crate) fn breadcrumbs(call: &BlockCall<'_>) -> Html {
    let Some(post) = call.post() else { return Html::new() };
    let site_info = call.data().site_info();
    let is_on = |name: &str| call.attr(name).is_null() || call.is(name);
    if site_info.is_front && !call.is("showOnHomePage") {
        return Html::new();
    }
    let mut items = Vec::new();
    if is_on("showHomeItem") {
        items.push(link(&format!("{}/", site_info.home), "Home"));
    }
    if let Some((name, url)) = call.data().archive(&post.post.post_type) {
        items.push(link(&url, esc_html(&name)));
    }
    let pages = ancestors(call, &post);
    let wants_terms = pages.is_empty() || call.is("prefersTaxonomy");
    let found = if wants_terms { term_links(call, &post) } else { Vec::new() };
    items.extend(if found.is_empty() { pages } else { found });
    if is_on("showCurrentItem") {
        items.push(html!("<span aria-current=\"page\">{}</span>", post.title));
    }
    let separator = call.attr("separator").as_str().unwrap_or("/");
    let quoted = separator.replace('\\', "\\\\").replace('"', "\\\"");
    let items: Html = items.iter().map(|item| html!("<li>{}</li>", item)).collect();
    let mut styles = call.styles();
    styles.style.push(("--separator".to_owned(), format!(" \"{quoted}\"")));
    html!("<nav {}><ol>{}</ol></nav>", call.wrapper_with_styles(&styles, &[("aria-label", "Breadcrumbs")]), items)
}

/// An SVG icon from the site's icon collections.
pub(crate) fn icon(call: &BlockCall<'_>) -> Html {
    let Some(svg) = call.data().icon(call.text("icon")) else { return Html::new() };
    let accessibility = match call.text("ariaLabel") {
        "" => Html::from("aria-hidden=\"true\" focusable=\"false\""),
        label => html!("aria-label=\"{}\" role=\"img\"", esc_attr(label)),
    };
    let with_attributes = svg.replacen("<svg", &html!("<svg {}", accessibility), 1);
    let svg = Html::trusted(with_attributes, "an icon, with attributes that are HTML");
    html!("<div {}>{}</div>", call.wrapper(&[]), svg)
}
