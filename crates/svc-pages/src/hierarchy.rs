//! Which templates could draw a page, from the closest to the farthest.

use svc_model::Post;
use svc_site::Settings;

use crate::resolve::{List, Subject};

/// The last resort.
const INDEX: &str = "index";

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Of one post. `chosen` is the template that it names itself.
pub(crate) fn of_post(post: &Post, chosen: Option<&str>, settings: &Settings) -> Vec<String> {
    let (slug, id, kind) = (&post.slug, post.id, post.post_type.as_str());
    let mut all: Vec<String> =
        chosen.filter(|c| !c.is_empty() && *c != "default").map(str::to_owned).into_iter().collect();
    if kind == "page" {
        if settings.number("wp_page_for_privacy_policy") == id.0 {
            all.push("privacy-policy".to_owned());
        }
        all.extend([format!("page-{slug}"), format!("page-{id}"), "page".to_owned()]);
    } else {
        all.extend([format!("single-{kind}-{slug}"), format!("single-{kind}"), "single".to_owned()]);
    }
    all.extend(names(&["singular", INDEX]));
    all
}

/// Of the page that is the site's front page.
pub(crate) fn of_front(post: &Post, chosen: Option<&str>, settings: &Settings) -> Vec<String> {
    let mut all = names(&["front-page"]);
    all.extend(of_post(post, chosen, settings));
    all
}

/// Of a list.
pub(crate) fn of_list(list: &List, settings: &Settings) -> Vec<String> {
    let mut all = match &list.subject {
        Subject::Home if settings.option("show_on_front") != "page" => return names(&["front-page", "home", INDEX]),
        Subject::Home => return names(&["home", INDEX]),
        Subject::Search(_) => return names(&["search", INDEX]),
        Subject::Term(term, taxonomy) => match taxonomy.name.as_str() {
            "category" => {
                vec![format!("category-{}", term.slug), format!("category-{}", term.id), "category".to_owned()]
            }
            "post_tag" => vec![format!("tag-{}", term.slug), format!("tag-{}", term.id), "tag".to_owned()],
            name => vec![format!("taxonomy-{name}-{}", term.slug), format!("taxonomy-{name}"), "taxonomy".to_owned()],
        },
        Subject::Author(user) => {
            vec![format!("author-{}", user.nicename), format!("author-{}", user.id), "author".to_owned()]
        }
        Subject::Date(_) => names(&["date"]),
        Subject::Type(kind) => vec![format!("archive-{}", kind.name)],
    };
    all.extend(names(&["archive", INDEX]));
    all
}

/// Of an address where there is nothing.
pub(crate) fn of_nothing() -> Vec<String> {
    names(&["404", INDEX])
}
