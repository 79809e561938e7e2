//! The names of items for people: `a post`, `an autosave of a post`.

use std::collections::{BTreeSet, HashMap};

use svc_routing::{Context, Server};

use crate::{paths::templates, shape::without_names};

/// The names of items, as the titles of item schemas and the paths of all routes show them.
#[derive(Default)]
pub(crate) struct Names {
    /// The last literal segments of the paths of lists whose items have this title.
    lists: HashMap<String, BTreeSet<String>>,
    /// The titles of the items at paths with unnamed parameters.
    titles: HashMap<String, String>,
}

impl Names {
    pub(crate) fn new(cx: &Context, server: &Server) -> Self {
        let mut out = Names::default();
        for route in server.routes() {
            let title = route.schema(cx).and_then(|schema| Some(schema.get("title")?.as_str()?.to_owned()));
            let Some(title) = title else { continue };
            for template in templates(route.pattern()).unwrap_or_default() {
                out.add(&template.path, &title);
            }
        }
        out
    }

    fn add(&mut self, path: &str, title: &str) {
        let (_, last) = split(path);
        if last.ends_with('s') {
            self.lists.entry(title.to_owned()).or_default().insert(last.to_owned());
        }
        self.titles.entry(without_names(path)).or_insert_with(|| title.to_owned());
    }

    /// The name of the items at a path, with an article. Items that are in lists of several kinds, such as revisions and
    /// autosaves, are named after their list, and those below other items after these as well. `None` without a title.
    pub(crate) fn item(&self, path: &str) -> Option<String> {
        let title = self.titles.get(&without_names(path))?;
        let (parent, last) = split(path);
        let is_shared = self.lists.get(title).is_some_and(|lists| lists.len() > 1 && lists.contains(last));
        let name = if is_shared { singular(last) } else { title.clone() };
        Some(article(&words(&name)) + &self.of_parent(parent))
    }

    /// The name of the list at a path: `revisions of a post`.
    pub(crate) fn list(&self, path: &str) -> String {
        let (parent, last) = split(path);
        words(last) + &self.of_parent(parent)
    }

    /// ` of a post` if there are items at this path.
    fn of_parent(&self, path: &str) -> String {
        let parent = if path.ends_with('}') { self.item(path) } else { None };
        parent.map(|parent| format!(" of {parent}")).unwrap_or_default()
    }
}

/// The last literal segment of a path, and the path before it.
fn split(path: &str) -> (&str, &str) {
    let mut list = path;
    while let Some((rest, _)) = list.rsplit_once('/').filter(|(_, last)| last.starts_with('{')) {
        list = rest;
    }
    list.rsplit_once('/').unwrap_or(("", list))
}

fn singular(list: &str) -> String {
    match (list.strip_suffix("ies"), list.strip_suffix('s')) {
        (Some(stem), _) => format!("{stem}y"),
        // `status` is no plural.
        (None, Some(stem)) if stem.ends_with(['s', 'u']) => list.to_owned(),
        (None, stem) => stem.unwrap_or(list).to_owned(),
    }
}

/// A title or a segment in words. The prefix of WordPress's internal types says nothing.
fn words(name: &str) -> String {
    let words = name.replace(['-', '_'], " ");
    words.strip_prefix("wp ").map(str::to_owned).unwrap_or(words)
}

fn article(name: &str) -> String {
    let article = if name.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_named_by_title_list_and_parent() {
        let mut names = Names::default();
        for (path, title) in [
            ("/v2/posts", "post"),
            ("/v2/posts/{id}", "post"),
            ("/v2/posts/{parent}/revisions", "post-revision"),
            ("/v2/posts/{parent}/revisions/{id}", "post-revision"),
            ("/v2/posts/{id}/autosaves", "post-revision"),
            ("/v2/templates/{id_1}/{id_2}", "wp_template"),
            ("/v2/templates/{id_1}/{id_2}/autosaves", "wp_template"),
            ("/v2/users/me", "user"),
        ] {
            names.add(path, title);
        }
        for (path, item, list) in [
            ("/v2/posts", "a post", "posts"),
            ("/v2/posts/{id}", "a post", "posts"),
            ("/v2/posts/{parent}/revisions/{id}", "a revision of a post", "revisions of a post"),
            ("/v2/posts/{id}/autosaves", "an autosave of a post", "autosaves of a post"),
            ("/v2/templates/{id_1}/{id_2}/autosaves", "an autosave of a template", "autosaves of a template"),
            ("/v2/users/me", "a user", "me"),
        ] {
            assert_eq!((names.item(path).as_deref(), names.list(path).as_str()), (Some(item), list), "{path}");
        }
        assert_eq!(names.item("/v2/nothing"), None);
        for (list, item) in [("font-families", "font-family"), ("https-status", "https-status"), ("posts", "post")] {
            assert_eq!(singular(list), item);
        }
    }
}
