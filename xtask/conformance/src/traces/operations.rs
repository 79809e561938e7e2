//! Random sequences of requests: creates, changes, deletes and reads of all kinds of objects, by users of all roles.
//!
//! A sequence follows from its seed alone. Objects that earlier requests created are named by variables, so the same sequence
//! can be sent to several servers; requests for objects whose creation failed lead to errors on all of them.

mod appearance;
mod content;
mod other;

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::choices::Choices;

/// Senders of requests: each role, and those who may more are chosen more often.
#[rustfmt::skip]
const SENDERS: &[&str] = &[
    "admin", "admin", "admin", "admin", "editor1", "editor1", "editor1", "author1", "author1", "contributor1", "subscriber1", "none",
];

/// Files that requests upload: name, content type, content.
const FILES: &[(&str, &str)] = &[("dot.png", "image/png"), ("note.txt", "text/plain"), ("data.csv", "text/csv")];

/// Post types with the posts family: their route and ids in the recorded site.
#[rustfmt::skip]
const POST_TYPES: &[(&str, &[u32])] = &[
    ("posts",      &[1000, 1002, 1005, 1010, 1014, 1016, 1019, 1020, 1036, 1059]),
    ("pages",      &[1100, 1101, 1102, 1105, 1106, 1109]),
    ("books",      &[1300, 1301, 1303, 1304]),
    ("blocks",     &[1400, 1401, 1402]),
    ("navigation", &[1440, 1441]),
];

/// Taxonomies: their route and ids in the recorded site.
const TAXONOMIES: &[(&str, &[u32])] =
    &[("categories", &[1, 2, 3, 7]), ("tags", &[10, 11, 14]), ("genres", &[50, 51, 52])];

/// Other kinds of objects, and ids of the recorded site.
#[rustfmt::skip]
const OTHERS: &[(&str, &[&str])] = &[
    ("media", &["1200", "1201", "1203"]),
    ("comments", &["500", "501", "503", "505", "520"]),
    ("users", &["1", "2", "3", "5", "6", "me"]),
    ("menus", &["30", "31"]),
    ("menu-items", &["1420", "1421", "1423", "1426"]),
    ("templates", &["fixture//index", "fixture//page", "fixture//my-custom", "fixture//nosuch"]),
    ("template-parts", &["fixture//header", "fixture//footer"]),
    ("widgets", &["block-2", "text-2", "archives-2", "meta-2", "nosuch-9"]),
    ("sidebars", &["sidebar-main", "sidebar-footer", "sidebar-public", "wp_inactive_widgets", "nosuch"]),
    ("application-passwords", &["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000101"]),
];

type Fields = Map<String, Value>;

/// A generator of requests.
pub(super) struct Operations {
    choices: Choices,
    /// References to objects that earlier requests created, by kind.
    created: BTreeMap<&'static str, Vec<String>>,
    n_steps: usize,
}

/// A request before it is named.
#[derive(Default)]
struct Request {
    method: &'static str,
    path: String,
    query: Fields,
    json: Option<Value>,
    /// Kind of the object that the request creates.
    creates: Option<&'static str>,
    /// JSON pointer to the new object's id, unless it is `/id`.
    id: Option<&'static str>,
    /// Further fields of the step.
    more: Fields,
}

impl Request {
    /// Reads.
    fn read(path: impl Into<String>, query: Fields) -> Self {
        Request { method: "GET", path: path.into(), query, ..Request::default() }
    }

    /// Creates an object of this kind.
    fn create(path: &str, kind: &'static str, json: impl Into<Value>) -> Self {
        Request { creates: Some(kind), ..Request::write("POST", path, json) }
    }

    /// Sends fields, to change an object or for a special operation.
    fn write(method: &'static str, path: impl Into<String>, json: impl Into<Value>) -> Self {
        Request { method, path: path.into(), json: Some(json.into()), ..Request::default() }
    }
}

/// The steps of the sequence of this seed.
pub(super) fn steps(seed: u64, n_steps: usize) -> Result<Vec<Value>> {
    let mut operations = Operations { choices: Choices::new(seed), created: BTreeMap::new(), n_steps: 0 };
    (0..n_steps).map(|_| operations.step()).collect()
}

impl Operations {
    fn step(&mut self) -> Result<Value> {
        let request = self.request()?;
        let sender = self.choices.pick(SENDERS);
        let Request { method, path, query, json, creates, id, more } = request;
        self.n_steps += 1;
        let mut step = json!({"name": format!("{} {method} {path} as {sender}", self.n_steps), "as": sender, "method": method, "path": path});
        if !query.is_empty() {
            step["query"] = query.into();
        }
        if let Some(json) = json {
            step["json"] = json;
        }
        if let Some(kind) = creates {
            let variable = format!("{}_{}", kind.replace('-', "_"), self.n_steps);
            step["capture"] = json!({variable.as_str(): id.unwrap_or("/id")});
            self.created.entry(kind).or_default().push(format!("{{{{{variable}}}}}"));
        }
        if let Some(step) = step.as_object_mut() {
            step.extend(more);
        }
        Ok(step)
    }

    /// One of the operations, those on posts more often.
    fn request(&mut self) -> Result<Request> {
        match self.choices.below(100) {
            0..=14 => self.create_post(),
            15..=28 => self.update_post(),
            29..=32 => self.restore_post(),
            33..=38 => self.delete_post(),
            39..=44 => self.read_post(),
            45..=50 => self.list_posts(),
            51..=53 => self.media(),
            54..=60 => self.terms(),
            61..=67 => self.comments(),
            68..=72 => self.users(),
            73..=78 => self.menus(),
            79..=82 => self.templates(),
            83..=84 => self.global_styles(),
            85..=87 => self.widgets(),
            88 => self.sidebars(),
            89 => self.settings(),
            90..=91 => self.application_passwords(),
            92..=94 => self.revisions(),
            95..=96 => self.autosaves(),
            97 => self.search(),
            98 => self.batch(),
            _ => self.registry(),
        }
    }

    /// An object of this kind: one that the sequence created in most cases, if there is one.
    fn object(&mut self, kind: &str, known: &[String]) -> String {
        match self.created.get(kind).cloned() {
            Some(created) if self.choices.chance(70) => self.choices.pick(&created),
            _ if self.choices.chance(3) => "999999".to_owned(),
            _ => self.choices.pick(known),
        }
    }

    fn other(&mut self, kind: &str) -> String {
        let known = OTHERS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, ids)| ids);
        let known: Vec<String> = known.iter().map(|id| (*id).to_owned()).collect();
        self.object(kind, &known)
    }

    fn post_type(&mut self) -> &'static str {
        self.choices.pick(&["posts", "posts", "posts", "pages", "pages", "books", "blocks", "navigation"])
    }

    fn post(&mut self, kind: &str) -> String {
        let known = POST_TYPES.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, ids)| ids);
        let known: Vec<String> = known.iter().map(u32::to_string).collect();
        self.object(kind, &known)
    }

    fn term(&mut self, taxonomy: &str) -> String {
        let known = TAXONOMIES.iter().find(|(name, _)| *name == taxonomy).map_or(&[][..], |(_, ids)| ids);
        let known: Vec<String> = known.iter().map(u32::to_string).collect();
        self.object(taxonomy, &known)
    }

    /// A reference as a JSON value: a number if it is one.
    fn reference(text: &str) -> Value {
        text.parse::<u64>().map_or_else(|_| text.into(), Value::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Step;

    #[test]
    fn sequences_follow_from_their_seed_and_are_steps() {
        let (one, again, other) = (steps(7, 300).unwrap(), steps(7, 300).unwrap(), steps(8, 300).unwrap());
        assert_eq!(one, again);
        assert_ne!(one, other);
        for step in one {
            serde_json::from_value::<Step>(step.clone()).unwrap_or_else(|e| panic!("{e}: {step}"));
        }
    }

    #[test]
    fn sequences_contain_every_kind_of_operation() {
        let all: Vec<String> = steps(1, 3000)
            .unwrap()
            .iter()
            .map(|step| format!("{} {}", step["method"].as_str().unwrap(), step["path"].as_str().unwrap()))
            .collect();
        for (method, path) in [
            ("POST", "/wp/v2/posts"),
            ("DELETE", "/wp/v2/pages/"),
            ("POST", "/wp/v2/media"),
            ("PUT", "/wp/v2/genres/"),
            ("DELETE", "/wp/v2/comments/"),
            ("POST", "/wp/v2/users"),
            ("PATCH", "/wp/v2/menu-items/"),
            ("DELETE", "/wp/v2/templates/"),
            ("POST", "/wp/v2/global-styles/"),
            ("PUT", "/wp/v2/widgets/"),
            ("PUT", "/wp/v2/sidebars/"),
            ("POST", "/wp/v2/settings"),
            ("GET", "/wp/v2/search"),
            ("POST", "/batch/v1"),
            ("OPTIONS", "/wp/v2/"),
        ] {
            assert!(all.iter().any(|one| one.starts_with(&format!("{method} {path}"))), "{method} {path}");
        }
        for part in ["/revisions/", "/autosaves", "/application-passwords"] {
            assert!(all.iter().any(|one| one.contains(part)), "{part}");
        }
    }
}
