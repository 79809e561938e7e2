//! Template hierarchy: the templates that can render a page, most specific first.

use svc_model::Post;
use svc_site::Settings;

use crate::resolve::{List, ListSubject};

/// The fallback for all pages.
const INDEX: &str = "index";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Templates for a post. `chosen` is the template that the post selects.
pub(crate) fn post(post: &Post, chosen: Option<&str>, settings: &Settings) -> Vec<String> {
    let (slug, id, post_type) = (&post.slug, post.id, post.post_type.as_str());
    let mut all: Vec<String> =
        chosen.filter(|c| !c.is_empty() && *c != "default").map(str::to_owned).into_iter().collect();
    if post_type == "page" {
        if settings.number("wp_page_for_privacy_policy") == id.0 {
            all.push("privacy-policy".to_owned());
        }
        all.extend([format!("page-{slug}"), format!("page-{id}"), "page".to_owned()]);
    } else {
        all.extend([format!("single-{post_type}-{slug}"), format!("single-{post_type}"), "single".to_owned()]);
    }
    all.extend(names(&["singular", INDEX]));
    all
}

/// Templates for the static front page.
pub(crate) fn front_page(page: &Post, chosen: Option<&str>, settings: &Settings) -> Vec<String> {
    let mut all = names(&["front-page"]);
    all.extend(post(page, chosen, settings));
    all
}

/// Templates for a list.
pub(crate) fn list(list: &List, settings: &Settings) -> Vec<String> {
    let mut all = match &list.subject {
        ListSubject::Home if settings.option("show_on_front") != "page" => {
            return names(&["front-page", "home", INDEX]);
        }
        ListSubject::Home => return names(&["home", INDEX]),
        ListSubject::Search(_) => return names(&["search", INDEX]),
        ListSubject::Term(term, taxonomy) => match taxonomy.name.as_str() {
            "category" => {
                vec![format!("category-{}", term.slug), format!("category-{}", term.id), "category".to_owned()]
            }
            "post_tag" => vec![format!("tag-{}", term.slug), format!("tag-{}", term.id), "tag".to_owned()],
            name => vec![format!("taxonomy-{name}-{}", term.slug), format!("taxonomy-{name}"), "taxonomy".to_owned()],
        },
        ListSubject::Author(user) => {
            vec![format!("author-{}", user.nicename), format!("author-{}", user.id), "author".to_owned()]
        }
        ListSubject::Date(_) => names(&["date"]),
        ListSubject::Type(post_type) => vec![format!("archive-{}", post_type.name)],
    };
    all.extend(names(&["archive", INDEX]));
    all
}

/// Templates for a page that is not found.
pub(crate) fn not_found() -> Vec<String> {
    names(&["404", INDEX])
}
