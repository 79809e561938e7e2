//! The way from the front page to a post: the pages or terms above it.

use svc_model::{PostId, TermId};
use svc_text::{esc_attr, esc_html, esc_url};

use crate::{core::Call, data::PostView};

/// Steps between the front page and the post.
const MAX_STEPS: usize = 20;

fn link(address: &str, title: &str) -> String {
    format!("<a href=\"{}\">{title}</a>", esc_url(address))
}

/// The pages above a post, the topmost first.
fn above(call: &Call<'_>, post: &PostView) -> Vec<String> {
    let (mut steps, mut id) = (Vec::new(), post.post.parent);
    while let Some(parent) = (id != PostId(0) && steps.len() < MAX_STEPS).then(|| call.data().post(id)).flatten() {
        steps.push(link(&parent.link, &parent.title));
        id = parent.post.parent;
    }
    steps.reverse();
    steps
}

/// The first term of the post, and those above it, the topmost first.
fn terms(call: &Call<'_>, post: &PostView) -> Vec<String> {
    let taxonomies = ["category", "post_tag"];
    let Some((taxonomy, first)) =
        taxonomies.iter().find_map(|name| Some((*name, call.data().terms_of(post.post.id, name).into_iter().next()?)))
    else {
        return Vec::new();
    };
    let mut steps = vec![link(&first.link, &first.term.name)];
    let mut id = first.term.parent;
    while let Some(parent) =
        (id != TermId(0) && steps.len() < MAX_STEPS).then(|| call.data().term(id, taxonomy)).flatten()
    {
        steps.push(link(&parent.link, &parent.term.name));
        id = parent.term.parent;
    }
    steps.reverse();
    steps
}

pub(crate) fn breadcrumbs(call: &Call<'_>) -> String {
    let Some(post) = call.post() else { return String::new() };
    let facts = call.data().facts();
    let is_on = |name: &str| call.attr(name).is_null() || call.is(name);
    if facts.is_front && !call.is("showOnHomePage") {
        return String::new();
    }
    let mut steps = Vec::new();
    if is_on("showHomeItem") {
        steps.push(link(&format!("{}/", facts.home), "Home"));
    }
    if let Some((name, address)) = call.data().archive(&post.post.post_type) {
        steps.push(link(&address, &esc_html(&name)));
    }
    let pages = above(call, &post);
    let wants_terms = pages.is_empty() || call.is("prefersTaxonomy");
    let found = if wants_terms { terms(call, &post) } else { Vec::new() };
    steps.extend(if found.is_empty() { pages } else { found });
    if is_on("showCurrentItem") {
        steps.push(format!("<span aria-current=\"page\">{}</span>", post.title));
    }
    let separator = call.attr("separator").as_str().unwrap_or("/");
    let quoted = separator.replace('\\', "\\\\").replace('"', "\\\"");
    let items: String = steps.iter().map(|step| format!("<li>{step}</li>")).collect();
    let mut look = call.look();
    look.style.push(("--separator".to_owned(), format!(" \"{quoted}\"")));
    format!("<nav {}><ol>{items}</ol></nav>", call.wrapper_of(&look, &[("aria-label", "Breadcrumbs")]))
}

/// An icon of the site's collections.
pub(crate) fn icon(call: &Call<'_>) -> String {
    let Some(svg) = call.data().icon(call.text("icon")) else { return String::new() };
    let said = match call.text("ariaLabel") {
        "" => "aria-hidden=\"true\" focusable=\"false\"".to_owned(),
        label => format!("aria-label=\"{}\" role=\"img\"", esc_attr(label)),
    };
    let svg = svg.replacen("<svg", &format!("<svg {said}"), 1);
    format!("<div {}>{svg}</div>", call.wrapper(&[]))
}
