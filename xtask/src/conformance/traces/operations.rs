//! Random sequences of requests: creates, changes, deletes and reads of all kinds of objects, by users of all roles.
//!
//! A sequence follows from its seed alone. Objects that earlier requests created are named by variables, so the same sequence
//! can be sent to several servers; requests for objects whose creation failed lead to errors on all of them.

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

    /// Fields of a post of this type, each with a probability.
    fn post_fields(&mut self, kind: &str, percent: usize) -> Result<Fields> {
        let mut f = Fields::new();
        let statuses =
            ["publish", "publish", "publish", "draft", "draft", "pending", "private", "future", "trash", "nosuch"];
        self.choices.maybe(&mut f, percent * 2, "title", |c| Ok(c.text()?.into()))?;
        self.choices.maybe(&mut f, percent * 2, "content", |c| Ok(c.content().into()))?;
        self.choices.maybe(&mut f, percent * 2, "status", |c| Ok(c.pick(&statuses).into()))?;
        self.choices.maybe(&mut f, percent / 2, "slug", |c| Ok(c.slug().into()))?;
        self.choices.maybe(&mut f, percent / 4, "password", |c| Ok(c.pick(&["secret", ""]).into()))?;
        self.choices.maybe(&mut f, percent / 4, "author", |c| Ok(c.pick(&[1, 2, 3, 4, 99]).into()))?;
        self.choices
            .maybe(&mut f, percent / 4, "template", |c| Ok(c.pick(&["", "wide", "nosuch", "my-custom"]).into()))?;
        if matches!(kind, "posts" | "pages" | "blocks") {
            self.choices.maybe(&mut f, percent / 2, "excerpt", |c| Ok(c.text()?.into()))?;
        }
        if matches!(kind, "posts" | "pages") {
            self.choices
                .maybe(&mut f, percent / 4, "comment_status", |c| Ok(c.pick(&["open", "closed", "x"]).into()))?;
            self.choices
                .maybe(&mut f, percent / 4, "featured_media", |c| Ok(c.pick(&[0, 1200, 1000, 999_999]).into()))?;
        }
        if kind == "pages" {
            if self.choices.chance(percent / 2) {
                let parent = self.post("pages");
                f.insert("parent".to_owned(), Self::reference(&parent));
            }
            self.choices.maybe(&mut f, percent / 2, "menu_order", |c| Ok(c.below(9).into()))?;
        }
        if kind == "posts" {
            for taxonomy in ["categories", "tags"] {
                if self.choices.chance(percent / 2) {
                    let terms: Vec<Value> =
                        (0..self.choices.below(3)).map(|_| Self::reference(&self.term(taxonomy))).collect();
                    f.insert(taxonomy.to_owned(), terms.into());
                }
            }
            self.choices.maybe(&mut f, percent / 4, "sticky", |c| Ok(c.chance(50).into()))?;
            self.choices
                .maybe(&mut f, percent / 4, "format", |c| Ok(c.pick(&["aside", "standard", "video", "x"]).into()))?;
            self.choices.maybe(&mut f, percent / 2, "meta", |c| {
                Ok(match c.below(5) {
                    0 => json!({"fx_string": c.text()?}),
                    1 => json!({"fx_integer": c.below(50), "fx_boolean": c.chance(50)}),
                    2 => json!({"fx_strings": ["a", c.text()?]}),
                    3 => json!({"fx_object": {"colour": "#abc", "size": c.below(3)}}),
                    _ => json!({"fx_integer": c.bad(), "fx_alias": "mid"}),
                })
            })?;
        }
        if kind == "books" && self.choices.chance(percent / 2) {
            let genre = self.term("genres");
            f.insert("genres".to_owned(), json!([Self::reference(&genre)]));
        }
        Ok(f)
    }

    fn create_post(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let mut fields = self.post_fields(kind, 40)?;
        // A date of its own, so that the order of lists does not depend on the time of the request.
        if self.choices.chance(92) {
            fields.insert("date".to_owned(), self.choices.date().into());
        }
        Ok(Request {
            method: "POST",
            path: format!("/wp/v2/{kind}"),
            json: Some(fields.into()),
            creates: Some(kind),
            ..Request::default()
        })
    }

    fn update_post(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let mut fields = self.post_fields(kind, 22)?;
        self.choices.maybe(&mut fields, 10, "date", |c| Ok(c.date().into()))?;
        let path = format!("/wp/v2/{kind}/{}", self.post(kind));
        Ok(Request {
            method: self.choices.pick(&["POST", "PUT", "PATCH"]),
            path,
            json: Some(fields.into()),
            ..Request::default()
        })
    }

    fn restore_post(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let path = format!("/wp/v2/{kind}/{}", self.post(kind));
        let status = self.choices.pick(&["publish", "draft", "pending", "private"]);
        Ok(Request { method: "POST", path, json: Some(json!({"status": status})), ..Request::default() })
    }

    fn delete_post(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let path = format!("/wp/v2/{kind}/{}", self.post(kind));
        self.delete(path, 35)
    }

    /// A request to delete, with `force` in this many of 100 cases.
    fn delete(&mut self, path: String, forced: usize) -> Result<Request> {
        let mut query = Fields::new();
        self.choices.maybe(&mut query, forced, "force", |c| Ok(c.pick(&["true", "1", "true", "false"]).into()))?;
        Ok(Request { method: "DELETE", path, query, ..Request::default() })
    }

    fn read_post(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let path = format!("/wp/v2/{kind}/{}", self.post(kind));
        let fields = [
            "id",
            "title",
            "content.rendered",
            "excerpt",
            "slug",
            "link",
            "meta",
            "_links",
            "status",
            "date",
            "class_list",
        ];
        let mut query = self.choices.read_parameters(&fields)?;
        self.choices.maybe(&mut query, 6, "password", |c| Ok(c.pick(&["secret", "wrong"]).into()))?;
        Ok(Request {
            method: self.choices.pick(&["GET", "GET", "GET", "HEAD", "OPTIONS"]),
            path,
            query,
            ..Request::default()
        })
    }

    fn list_posts(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let mut query =
            self.choices.read_parameters(&["id", "title", "slug", "link", "_links", "status", "sticky", "date"])?;
        let c = &mut self.choices;
        // Only keys that differ for all posts: the database orders equal ones as it likes.
        c.maybe(&mut query, 70, "orderby", |c| Ok(c.pick(&["id", "date", "slug", "id", "nosuch"]).into()))?;
        c.maybe(&mut query, 40, "order", |c| Ok(c.pick(&["asc", "desc"]).into()))?;
        c.maybe(&mut query, 50, "per_page", |c| Ok(c.pick(&["1", "3", "5", "100", "0", "101"]).into()))?;
        c.maybe(&mut query, 15, "page", |c| Ok(c.pick(&["1", "2", "99"]).into()))?;
        c.maybe(&mut query, 15, "offset", |c| Ok(c.pick(&["0", "2", "40"]).into()))?;
        c.maybe(&mut query, 30, "status", |c| {
            Ok(c.pick(&["publish", "draft", "any", "publish,draft", "trash", "private", "nosuch"]).into())
        })?;
        c.maybe(&mut query, 12, "search", |c| {
            Ok(c.pick(&["fox", "alpha", "é", "nothing at all", "\"two words\"", "-beta"]).into())
        })?;
        c.maybe(&mut query, 10, "author", |c| Ok(c.pick(&["1", "3", "1,3", "99"]).into()))?;
        c.maybe(&mut query, 8, "slug", |c| Ok(c.slug().into()))?;
        c.maybe(&mut query, 8, "after", |c| Ok(c.date().into()))?;
        c.maybe(&mut query, 8, "before", |c| Ok(c.pick(&["2021-01-01T00:00:00", "bad"]).into()))?;
        c.maybe(&mut query, 6, "exclude", |c| Ok(c.pick(&["1000", "1000,1001"]).into()))?;
        if kind == "posts" {
            c.maybe(&mut query, 10, "categories", |c| Ok(c.pick(&["1", "2,3", "7"]).into()))?;
            c.maybe(&mut query, 8, "sticky", |c| Ok(c.pick(&["true", "false"]).into()))?;
            c.maybe(&mut query, 6, "tags_exclude", |c| Ok(c.pick(&["10", "14"]).into()))?;
        }
        Ok(Request {
            method: c.pick(&["GET", "GET", "GET", "GET", "HEAD"]),
            path: format!("/wp/v2/{kind}"),
            query,
            ..Request::default()
        })
    }

    fn media(&mut self) -> Result<Request> {
        let path = format!("/wp/v2/media/{}", self.other("media"));
        match self.choices.below(10) {
            0..=3 => {
                let (file, content_type) = self.choices.pick(FILES);
                let stem = self.choices.pick(&["upload", "Grüße", "two words", "UPPER"]);
                let name = format!("{stem}.{}", file.rsplit('.').next().unwrap_or_default());
                let head = json!({"Content-Type": content_type, "Content-Disposition": format!("attachment; filename=\"{name}\"")});
                let body = if file == "dot.png" { ("file", json!(file)) } else { ("body", json!("a,b\n1,2\n")) };
                let more = [("headers".to_owned(), head), (body.0.to_owned(), body.1)].into_iter().collect();
                Ok(Request {
                    method: "POST",
                    path: "/wp/v2/media".to_owned(),
                    creates: Some("media"),
                    more,
                    ..Request::default()
                })
            }
            4..=6 => {
                let mut f = Fields::new();
                self.choices.maybe(&mut f, 50, "title", |c| Ok(c.text()?.into()))?;
                self.choices.maybe(&mut f, 50, "alt_text", |c| Ok(c.text()?.into()))?;
                self.choices.maybe(&mut f, 30, "caption", |c| Ok(c.content().into()))?;
                self.choices.maybe(&mut f, 30, "description", |c| Ok(c.content().into()))?;
                self.choices.maybe(&mut f, 20, "slug", |c| Ok(c.slug().into()))?;
                self.choices.maybe(&mut f, 20, "post", |c| Ok(c.pick(&[0, 1000, 999_999]).into()))?;
                Ok(Request { method: "POST", path, json: Some(f.into()), ..Request::default() })
            }
            7 => self.delete(path, 80),
            8 => Ok(Request {
                method: "GET",
                path,
                query: self.choices.read_parameters(&["id", "caption", "media_details", "source_url"])?,
                ..Request::default()
            }),
            _ => {
                let mut query = self.choices.read_parameters(&["id", "slug", "media_type"])?;
                query.insert("orderby".to_owned(), "id".into());
                self.choices
                    .maybe(&mut query, 30, "media_type", |c| Ok(c.pick(&["image", "text", "file", "video"]).into()))?;
                self.choices.maybe(&mut query, 30, "search", |c| Ok(c.pick(&["upload", "landscape"]).into()))?;
                Ok(Request { method: "GET", path: "/wp/v2/media".to_owned(), query, ..Request::default() })
            }
        }
    }

    fn terms(&mut self) -> Result<Request> {
        let kind = self.choices.pick(&["categories", "tags", "genres"]);
        let path = format!("/wp/v2/{kind}/{}", self.term(kind));
        let choice = self.choices.below(10);
        if choice < 6 {
            let mut f = Fields::new();
            let percent = if choice < 3 { 95 } else { 40 };
            self.choices.maybe(&mut f, percent, "name", |c| Ok(c.text()?.into()))?;
            self.choices.maybe(&mut f, 25, "slug", |c| Ok(c.slug().into()))?;
            self.choices.maybe(&mut f, 30, "description", |c| Ok(c.content().into()))?;
            if kind != "tags" && self.choices.chance(30) {
                let parent = self.term(kind);
                f.insert("parent".to_owned(), Self::reference(&parent));
            }
            if kind == "categories" {
                self.choices
                    .maybe(&mut f, 15, "meta", |c| Ok(json!({"fx_rank": c.below(9), "fx_colour": c.text()?})))?;
            }
            let json = Some(f.into());
            return Ok(if choice < 3 {
                Request {
                    method: "POST",
                    path: format!("/wp/v2/{kind}"),
                    json,
                    creates: Some(kind),
                    ..Request::default()
                }
            } else {
                Request { method: "PUT", path, json, ..Request::default() }
            });
        }
        match choice {
            6 => self.delete(path, 85),
            7 => Ok(Request {
                method: "GET",
                path,
                query: self.choices.read_parameters(&["id", "name", "count", "meta"])?,
                ..Request::default()
            }),
            _ => {
                let mut query = self.choices.read_parameters(&["id", "name", "slug", "count"])?;
                let c = &mut self.choices;
                c.maybe(&mut query, 80, "orderby", |c| Ok(c.pick(&["id", "slug", "include", "nosuch"]).into()))?;
                c.maybe(&mut query, 30, "order", |c| Ok(c.pick(&["asc", "desc"]).into()))?;
                c.maybe(&mut query, 30, "hide_empty", |c| Ok(c.pick(&["true", "false"]).into()))?;
                c.maybe(&mut query, 20, "search", |c| Ok(c.pick(&["a", "asia", "é"]).into()))?;
                c.maybe(&mut query, 20, "per_page", |c| Ok(c.pick(&["1", "3", "100"]).into()))?;
                c.maybe(&mut query, 15, "post", |c| Ok(c.pick(&["1000", "1005", "1300"]).into()))?;
                c.maybe(&mut query, 15, "parent", |c| Ok(c.pick(&["0", "2", "50"]).into()))?;
                Ok(Request { method: "GET", path: format!("/wp/v2/{kind}"), query, ..Request::default() })
            }
        }
    }

    fn comments(&mut self) -> Result<Request> {
        let path = format!("/wp/v2/comments/{}", self.other("comments"));
        let choice = self.choices.below(10);
        if choice < 6 {
            let mut f = Fields::new();
            let creates = choice < 4;
            self.choices.maybe(&mut f, if creates { 90 } else { 50 }, "content", |c| {
                Ok(if c.chance(40) { c.content() } else { c.text()? }.into())
            })?;
            if creates {
                let post = self.post("posts");
                f.insert("post".to_owned(), Self::reference(&post));
                f.insert("date".to_owned(), self.choices.date().into());
                self.choices.maybe(&mut f, 40, "author_name", |c| Ok(c.text()?.into()))?;
                self.choices.maybe(&mut f, 40, "author_email", |c| Ok(c.pick(&["a@example.com", "bad", ""]).into()))?;
                if self.choices.chance(25) {
                    let parent = self.other("comments");
                    f.insert("parent".to_owned(), Self::reference(&parent));
                }
            }
            self.choices
                .maybe(&mut f, 20, "status", |c| Ok(c.pick(&["approved", "hold", "spam", "trash", "x"]).into()))?;
            self.choices.maybe(&mut f, 10, "author_url", |c| {
                Ok(c.pick(&["https://example.com/?a=1&b=2", "javascript:x", ""]).into())
            })?;
            self.choices.maybe(&mut f, 8, "meta", |c| Ok(json!({"fx_rating": c.below(6)})))?;
            let json = Some(f.into());
            return Ok(if creates {
                Request {
                    method: "POST",
                    path: "/wp/v2/comments".to_owned(),
                    json,
                    creates: Some("comments"),
                    ..Request::default()
                }
            } else {
                Request { method: "POST", path, json, ..Request::default() }
            });
        }
        match choice {
            6 => self.delete(path, 40),
            7 => Ok(Request {
                method: "GET",
                path,
                query: self.choices.read_parameters(&["id", "content", "link", "author_name"])?,
                ..Request::default()
            }),
            _ => {
                let mut query = self.choices.read_parameters(&["id", "content", "status", "parent"])?;
                let c = &mut self.choices;
                query.insert("orderby".to_owned(), c.pick(&["id", "date", "nosuch", "id"]).into());
                c.maybe(&mut query, 30, "order", |c| Ok(c.pick(&["asc", "desc"]).into()))?;
                c.maybe(&mut query, 30, "status", |c| Ok(c.pick(&["hold", "spam", "approve", "all"]).into()))?;
                c.maybe(&mut query, 20, "post", |c| Ok(c.pick(&["1000", "1001", "1036"]).into()))?;
                c.maybe(&mut query, 20, "search", |c| Ok(c.pick(&["alpha", "text"]).into()))?;
                c.maybe(&mut query, 20, "per_page", |c| Ok(c.pick(&["1", "5", "100"]).into()))?;
                c.maybe(&mut query, 10, "parent", |c| Ok(c.pick(&["0", "500"]).into()))?;
                Ok(Request { method: "GET", path: "/wp/v2/comments".to_owned(), query, ..Request::default() })
            }
        }
    }

    fn users(&mut self) -> Result<Request> {
        let path = format!("/wp/v2/users/{}", self.other("users"));
        let choice = self.choices.below(10);
        if choice < 6 {
            let (mut f, creates) = (Fields::new(), choice < 3);
            if creates {
                let name: String = self.choices.value(&"[a-z]{4,8}")?;
                f.insert("email".to_owned(), format!("{name}@example.com").into());
                f.insert(
                    "username".to_owned(),
                    if self.choices.chance(90) { name } else { self.choices.text()? }.into(),
                );
                f.insert("password".to_owned(), "a long pass phrase".into());
            }
            let c = &mut self.choices;
            c.maybe(&mut f, 30, "name", |c| Ok(c.text()?.into()))?;
            c.maybe(&mut f, 30, "first_name", |c| Ok(c.text()?.into()))?;
            c.maybe(&mut f, 20, "nickname", |c| Ok(c.text()?.into()))?;
            c.maybe(&mut f, 20, "slug", |c| Ok(c.slug().into()))?;
            c.maybe(&mut f, 20, "url", |c| Ok(c.pick(&["https://example.com/é", "x", ""]).into()))?;
            c.maybe(&mut f, 30, "description", |c| Ok(c.content().into()))?;
            c.maybe(&mut f, 25, "roles", |c| Ok(json!([c.pick(&["author", "editor", "subscriber", "nosuch"])])))?;
            c.maybe(&mut f, 10, "locale", |c| Ok(c.pick(&["", "en_US", "de_DE"]).into()))?;
            c.maybe(&mut f, 10, "meta", |c| Ok(json!({"fx_city": c.text()?, "fx_scores": [c.below(9)]})))?;
            let json = Some(f.into());
            return Ok(if creates {
                Request {
                    method: "POST",
                    path: "/wp/v2/users".to_owned(),
                    json,
                    creates: Some("users"),
                    ..Request::default()
                }
            } else {
                Request { method: "PUT", path, json, ..Request::default() }
            });
        }
        match choice {
            6 => {
                // Accounts of the recorded site send the requests, so only new ones are deleted.
                let created = self.created.get("users").cloned().unwrap_or_default();
                let id = if created.is_empty() { "8".to_owned() } else { self.choices.pick(&created) };
                let mut request = self.delete(format!("/wp/v2/users/{id}"), 85)?;
                self.choices
                    .maybe(&mut request.query, 85, "reassign", |c| Ok(c.pick(&["1", "2", "false", "999"]).into()))?;
                Ok(request)
            }
            7 => Ok(Request {
                method: "GET",
                path,
                query: self.choices.read_parameters(&["id", "name", "roles", "capabilities"])?,
                ..Request::default()
            }),
            _ => {
                let mut query = self.choices.read_parameters(&["id", "name", "slug", "roles"])?;
                let c = &mut self.choices;
                query.insert("orderby".to_owned(), c.pick(&["id", "slug", "email", "nosuch"]).into());
                c.maybe(&mut query, 20, "roles", |c| Ok(c.pick(&["author", "administrator,editor"]).into()))?;
                c.maybe(&mut query, 20, "search", |c| Ok(c.pick(&["author", "example.com", "a"]).into()))?;
                c.maybe(&mut query, 10, "who", |_| Ok("authors".into()))?;
                c.maybe(&mut query, 20, "per_page", |c| Ok(c.pick(&["1", "3", "100"]).into()))?;
                Ok(Request { method: "GET", path: "/wp/v2/users".to_owned(), query, ..Request::default() })
            }
        }
    }

    fn menus(&mut self) -> Result<Request> {
        let choice = self.choices.below(10);
        if choice < 4 {
            let path = format!("/wp/v2/menus/{}", self.other("menus"));
            let mut f = Fields::new();
            self.choices.maybe(&mut f, 90, "name", |c| Ok(c.text()?.into()))?;
            self.choices.maybe(&mut f, 30, "description", |c| Ok(c.text()?.into()))?;
            self.choices.maybe(&mut f, 30, "locations", |c| Ok(json!([c.pick(&["primary", "footer", "nosuch"])])))?;
            self.choices.maybe(&mut f, 30, "auto_add", |c| Ok(c.chance(50).into()))?;
            let json = Some(f.into());
            return match choice {
                0 | 1 => Ok(Request {
                    method: "POST",
                    path: "/wp/v2/menus".to_owned(),
                    json,
                    creates: Some("menus"),
                    ..Request::default()
                }),
                2 => Ok(Request { method: "PUT", path, json, ..Request::default() }),
                _ => self.delete(path, 85),
            };
        }
        let path = format!("/wp/v2/menu-items/{}", self.other("menu-items"));
        match choice {
            4..=7 => {
                let mut f = Fields::new();
                self.choices.maybe(&mut f, 80, "title", |c| Ok(c.text()?.into()))?;
                self.choices.maybe(&mut f, 30, "attr_title", |c| Ok(c.text()?.into()))?;
                self.choices.maybe(&mut f, 30, "description", |c| Ok(c.text()?.into()))?;
                self.choices.maybe(&mut f, 30, "status", |c| Ok(c.pick(&["publish", "draft", "x"]).into()))?;
                self.choices.maybe(&mut f, 20, "menu_order", |c| Ok((1 + c.below(9)).into()))?;
                self.choices.maybe(&mut f, 20, "classes", |c| Ok(json!(["a", c.text()?])))?;
                self.choices.maybe(&mut f, 20, "target", |c| Ok(c.pick(&["_blank", "", "x"]).into()))?;
                let menu = self.other("menus");
                if self.choices.chance(80) {
                    f.insert("menus".to_owned(), Self::reference(&menu));
                }
                if self.choices.chance(20) {
                    let parent = self.other("menu-items");
                    f.insert("parent".to_owned(), Self::reference(&parent));
                }
                match self.choices.below(3) {
                    0 => f.extend([("url".to_owned(), json!("https://example.com/?a=1&b=2"))]),
                    1 => {
                        let page = self.post("pages");
                        f.extend([
                            ("type".to_owned(), json!("post_type")),
                            ("object".to_owned(), json!("page")),
                            ("object_id".to_owned(), Self::reference(&page)),
                        ]);
                    }
                    _ => {
                        let term = self.term("categories");
                        f.extend([
                            ("type".to_owned(), json!("taxonomy")),
                            ("object".to_owned(), json!("category")),
                            ("object_id".to_owned(), Self::reference(&term)),
                        ]);
                    }
                }
                let json = Some(f.into());
                Ok(if choice < 6 {
                    Request {
                        method: "POST",
                        path: "/wp/v2/menu-items".to_owned(),
                        json,
                        creates: Some("menu-items"),
                        ..Request::default()
                    }
                } else {
                    Request { method: "PATCH", path, json, ..Request::default() }
                })
            }
            8 => self.delete(path, 85),
            _ => {
                let mut query = self.choices.read_parameters(&["id", "title", "menus", "type"])?;
                query.insert("orderby".to_owned(), "id".into());
                self.choices.maybe(&mut query, 40, "menus", |c| Ok(c.pick(&["30", "31"]).into()))?;
                let path =
                    self.choices.pick(&["/wp/v2/menu-items", "/wp/v2/menus", "/wp/v2/menu-locations"]).to_owned();
                if path != "/wp/v2/menu-items" {
                    query.remove("orderby");
                    query.remove("menus");
                }
                Ok(Request { method: "GET", path, query, ..Request::default() })
            }
        }
    }

    fn templates(&mut self) -> Result<Request> {
        let kind = self.choices.pick(&["templates", "template-parts"]);
        let path = format!("/wp/v2/{kind}/{}", self.other(kind));
        match self.choices.below(8) {
            choice @ 0..=4 => {
                let mut f = Fields::new();
                if choice < 2 {
                    f.insert(
                        "slug".to_owned(),
                        self.choices.pick(&["own", "own-two", "single-book", "page", "Bad Slug"]).into(),
                    );
                    f.insert("theme".to_owned(), "fixture".into());
                }
                self.choices.maybe(&mut f, 70, "title", |c| Ok(c.text()?.into()))?;
                self.choices.maybe(&mut f, 70, "content", |c| Ok(c.content().into()))?;
                self.choices.maybe(&mut f, 30, "description", |c| Ok(c.text()?.into()))?;
                if kind == "template-parts" {
                    self.choices.maybe(&mut f, 40, "area", |c| {
                        Ok(c.pick(&["header", "footer", "uncategorized", "x"]).into())
                    })?;
                }
                let json = Some(f.into());
                Ok(if choice < 2 {
                    Request {
                        method: "POST",
                        path: format!("/wp/v2/{kind}"),
                        json,
                        creates: Some(kind),
                        ..Request::default()
                    }
                } else {
                    Request { method: "PUT", path, json, ..Request::default() }
                })
            }
            5 => self.delete(path, 60),
            6 => Ok(Request {
                method: "GET",
                path,
                query: self.choices.read_parameters(&["id", "content", "source", "title"])?,
                ..Request::default()
            }),
            _ => Ok(Request {
                method: "GET",
                path: format!("/wp/v2/{kind}"),
                query: self.choices.read_parameters(&["id", "source", "wp_id"])?,
                ..Request::default()
            }),
        }
    }

    fn global_styles(&mut self) -> Result<Request> {
        let path = "/wp/v2/global-styles/1460".to_owned();
        Ok(match self.choices.below(4) {
            0 | 1 => {
                let mut f = Fields::new();
                self.choices.maybe(&mut f, 70, "styles", |c| {
                    Ok(json!({"color": {"background": c.pick(&["#fff", "red", "var(--x)"])}}))
                })?;
                self.choices.maybe(&mut f, 40, "settings", |c| Ok(json!({"color": {"custom": c.chance(50)}})))?;
                self.choices.maybe(&mut f, 30, "title", |c| Ok(c.text()?.into()))?;
                Request { method: "POST", path, json: Some(f.into()), ..Request::default() }
            }
            2 => Request {
                method: "GET",
                path,
                query: self.choices.read_parameters(&["id", "styles", "title"])?,
                ..Request::default()
            },
            _ => Request {
                method: "GET",
                path: format!("{path}/revisions"),
                query: self.choices.read_parameters(&["id", "styles"])?,
                ..Request::default()
            },
        })
    }

    fn widgets(&mut self) -> Result<Request> {
        let path = format!("/wp/v2/widgets/{}", self.other("widgets"));
        let sidebar = self.other("sidebars");
        match self.choices.below(8) {
            choice @ 0..=4 => {
                let mut f = Fields::new();
                let base = self.choices.pick(&["text", "block", "nosuch"]);
                self.choices.maybe(&mut f, 70, "instance", |c| {
                    let raw = if base == "text" {
                        json!({"title": c.text()?, "text": c.content()})
                    } else {
                        json!({"content": c.content()})
                    };
                    Ok(json!({"raw": raw}))
                })?;
                self.choices.maybe(&mut f, if choice < 3 { 95 } else { 40 }, "sidebar", |_| Ok(sidebar.into()))?;
                if choice < 3 {
                    f.insert("id_base".to_owned(), base.into());
                }
                let json = Some(f.into());
                Ok(if choice < 3 {
                    Request {
                        method: "POST",
                        path: "/wp/v2/widgets".to_owned(),
                        json,
                        creates: Some("widgets"),
                        ..Request::default()
                    }
                } else {
                    Request { method: "PUT", path, json, ..Request::default() }
                })
            }
            5 => self.delete(path, 60),
            6 => Ok(Request {
                method: "GET",
                path,
                query: self.choices.read_parameters(&["id", "rendered", "instance"])?,
                ..Request::default()
            }),
            _ => {
                let mut query = self.choices.read_parameters(&["id", "sidebar"])?;
                self.choices.maybe(&mut query, 40, "sidebar", |_| Ok(sidebar.into()))?;
                Ok(Request { method: "GET", path: "/wp/v2/widgets".to_owned(), query, ..Request::default() })
            }
        }
    }

    fn sidebars(&mut self) -> Result<Request> {
        let path = format!("/wp/v2/sidebars/{}", self.other("sidebars"));
        Ok(if self.choices.chance(50) {
            let widgets: Vec<Value> = (0..self.choices.below(3)).map(|_| self.other("widgets").into()).collect();
            Request { method: "PUT", path, json: Some(json!({"widgets": widgets})), ..Request::default() }
        } else {
            let path = if self.choices.chance(50) { path } else { "/wp/v2/sidebars".to_owned() };
            Request {
                method: "GET",
                path,
                query: self.choices.read_parameters(&["id", "widgets", "status"])?,
                ..Request::default()
            }
        })
    }

    fn settings(&mut self) -> Result<Request> {
        let path = "/wp/v2/settings".to_owned();
        if self.choices.chance(40) {
            return Ok(Request { method: "GET", path, ..Request::default() });
        }
        let mut f = Fields::new();
        let c = &mut self.choices;
        c.maybe(&mut f, 30, "title", |c| Ok(c.text()?.into()))?;
        c.maybe(&mut f, 30, "description", |c| Ok(c.text()?.into()))?;
        c.maybe(&mut f, 20, "posts_per_page", |c| Ok(c.pick(&[json!(5), json!(0), json!(-3), json!("x")])))?;
        c.maybe(&mut f, 20, "default_comment_status", |c| Ok(c.pick(&["open", "closed", "x"]).into()))?;
        c.maybe(&mut f, 15, "start_of_week", |c| Ok(c.below(8).into()))?;
        c.maybe(&mut f, 15, "date_format", |c| Ok(c.pick(&["Y-m-d", "F j, Y", "<b>"]).into()))?;
        c.maybe(&mut f, 15, "use_smilies", |c| Ok(c.chance(50).into()))?;
        c.maybe(&mut f, 15, "fx_motto", |c| Ok(if c.chance(20) { Value::Null } else { c.text()?.into() }))?;
        c.maybe(&mut f, 10, "fx_site_layout", |c| Ok(json!({"columns": c.below(8), "wide": c.chance(50)})))?;
        Ok(Request { method: "POST", path, json: Some(f.into()), ..Request::default() })
    }

    fn application_passwords(&mut self) -> Result<Request> {
        let user = self.choices.pick(&["me", "1", "3", "me"]);
        let base = format!("/wp/v2/users/{user}/application-passwords");
        let path = format!("{base}/{}", self.other("application-passwords"));
        Ok(match self.choices.below(6) {
            0 | 1 => {
                let name = self.choices.text()?;
                let more = [("volatile".to_owned(), json!(["/password"]))].into_iter().collect();
                let json = Some(json!({"name": name}));
                Request {
                    method: "POST",
                    path: base,
                    json,
                    creates: Some("application-passwords"),
                    id: Some("/uuid"),
                    more,
                    ..Request::default()
                }
            }
            2 => {
                Request { method: "PUT", path, json: Some(json!({"name": self.choices.text()?})), ..Request::default() }
            }
            3 if path.contains("{{") => Request { method: "DELETE", path, ..Request::default() },
            4 => Request { method: "GET", path, ..Request::default() },
            _ => Request {
                method: "GET",
                path: base,
                query: self.choices.read_parameters(&["uuid", "name"])?,
                ..Request::default()
            },
        })
    }

    fn revisions(&mut self) -> Result<Request> {
        let kind = self.choices.pick(&["posts", "pages", "books", "blocks"]);
        let base = format!("/wp/v2/{kind}/{}/revisions", self.post(kind));
        let mut query = self.choices.read_parameters(&["id", "title", "content", "parent"])?;
        Ok(match self.choices.below(5) {
            0..=2 => {
                self.choices.maybe(&mut query, 30, "per_page", |c| Ok(c.pick(&["1", "5"]).into()))?;
                let more = [("capture".to_owned(), json!({"revision": "/0/id"}))].into_iter().collect();
                Request { method: "GET", path: base, query, more, ..Request::default() }
            }
            3 => Request { method: "GET", path: format!("{base}/{{{{revision}}}}"), query, ..Request::default() },
            _ => self.delete(format!("{base}/{{{{revision}}}}"), 80)?,
        })
    }

    fn autosaves(&mut self) -> Result<Request> {
        let kind = self.choices.pick(&["posts", "pages", "books"]);
        let path = format!("/wp/v2/{kind}/{}/autosaves", self.post(kind));
        Ok(if self.choices.chance(60) {
            let mut f = Fields::new();
            self.choices.maybe(&mut f, 80, "title", |c| Ok(c.text()?.into()))?;
            self.choices.maybe(&mut f, 80, "content", |c| Ok(c.content().into()))?;
            self.choices.maybe(&mut f, 40, "excerpt", |c| Ok(c.text()?.into()))?;
            Request { method: "POST", path, json: Some(f.into()), ..Request::default() }
        } else {
            Request {
                method: "GET",
                path,
                query: self.choices.read_parameters(&["id", "title"])?,
                ..Request::default()
            }
        })
    }

    fn search(&mut self) -> Result<Request> {
        let mut query = Fields::new();
        let c = &mut self.choices;
        query.insert("search".to_owned(), c.pick(&["dune", "alpha", "fox", "é", "nosuch thing"]).into());
        c.maybe(&mut query, 40, "type", |c| Ok(c.pick(&["post", "term", "post-format", "x"]).into()))?;
        c.maybe(&mut query, 30, "subtype", |c| Ok(c.pick(&["post", "page", "book", "category", "any"]).into()))?;
        c.maybe(&mut query, 30, "per_page", |c| Ok(c.pick(&["1", "5", "100"]).into()))?;
        c.maybe(&mut query, 10, "_embed", |_| Ok("1".into()))?;
        Ok(Request { method: "GET", path: "/wp/v2/search".to_owned(), query, ..Request::default() })
    }

    fn batch(&mut self) -> Result<Request> {
        let mut requests = Vec::new();
        for _ in 0..=self.choices.below(3) {
            let (kind, create) =
                (self.choices.pick(&["posts", "pages", "categories", "tags"]), self.choices.chance(60));
            let mut fields = match kind {
                "posts" | "pages" => self.post_fields(kind, 25)?,
                _ => [("name".to_owned(), Value::from(self.choices.text()?))].into_iter().collect(),
            };
            let object = if matches!(kind, "posts" | "pages") { self.post(kind) } else { self.term(kind) };
            let path = if create { format!("/wp/v2/{kind}") } else { format!("/wp/v2/{kind}/{object}") };
            if create && matches!(kind, "posts" | "pages") {
                fields.insert("date".to_owned(), self.choices.date().into());
            }
            requests.push(json!({"method": if create { "POST" } else { "PUT" }, "path": path, "body": fields}));
        }
        let mut json = json!({"requests": requests});
        if self.choices.chance(30) {
            json["validation"] = "require-all-validate".into();
        }
        Ok(Request { method: "POST", path: "/batch/v1".to_owned(), json: Some(json), ..Request::default() })
    }

    /// Reads of what is registered.
    fn registry(&mut self) -> Result<Request> {
        #[rustfmt::skip]
        let path = self.choices.pick(&[
            "/wp/v2/types", "/wp/v2/types/book", "/wp/v2/statuses", "/wp/v2/taxonomies", "/wp/v2/themes", "/wp/v2/plugins",
            "/wp/v2/block-types/core/paragraph", "/wp/v2/block-patterns/categories", "/wp/v2/widget-types", "/wp/v2/users/me", "/wp/v2",
        ]);
        let method = self.choices.pick(&["GET", "GET", "OPTIONS"]);
        Ok(Request {
            method,
            path: path.to_owned(),
            query: self.choices.read_parameters(&["name", "slug", "labels", "routes"])?,
            ..Request::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::scenario::Step;

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
