//! Requests for posts, media, terms, comments and users.

use anyhow::Result;
use serde_json::{Value, json};

use super::{FILES, Fields, Operations, Request};

impl Operations {
    /// Fields of a post of this type, each with a probability.
    pub(super) fn post_fields(&mut self, kind: &str, percent: usize) -> Result<Fields> {
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

    pub(super) fn create_post(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let mut fields = self.post_fields(kind, 40)?;
        // A date of its own, so that the order of lists does not depend on the time of the request.
        if self.choices.chance(92) {
            fields.insert("date".to_owned(), self.choices.date().into());
        }
        Ok(Request::create(&format!("/wp/v2/{kind}"), kind, fields))
    }

    pub(super) fn update_post(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let mut fields = self.post_fields(kind, 22)?;
        self.choices.maybe(&mut fields, 10, "date", |c| Ok(c.date().into()))?;
        let path = format!("/wp/v2/{kind}/{}", self.post(kind));
        Ok(Request::write(self.choices.pick(&["POST", "PUT", "PATCH"]), path, fields))
    }

    pub(super) fn restore_post(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let path = format!("/wp/v2/{kind}/{}", self.post(kind));
        let status = self.choices.pick(&["publish", "draft", "pending", "private"]);
        Ok(Request::write("POST", path, json!({"status": status})))
    }

    pub(super) fn delete_post(&mut self) -> Result<Request> {
        let kind = self.post_type();
        let path = format!("/wp/v2/{kind}/{}", self.post(kind));
        self.delete(path, 35)
    }

    /// A request to delete, with `force` in this many of 100 cases.
    pub(super) fn delete(&mut self, path: String, forced: usize) -> Result<Request> {
        let mut query = Fields::new();
        self.choices.maybe(&mut query, forced, "force", |c| Ok(c.pick(&["true", "1", "true", "false"]).into()))?;
        Ok(Request { method: "DELETE", path, query, ..Request::default() })
    }

    pub(super) fn read_post(&mut self) -> Result<Request> {
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

    pub(super) fn list_posts(&mut self) -> Result<Request> {
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
        // Drafts have no slug.
        if query.contains_key("status") && query.get("orderby").is_some_and(|key| key == "slug") {
            query.insert("orderby".to_owned(), "id".into());
        }
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

    pub(super) fn media(&mut self) -> Result<Request> {
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
                Ok(Request::write("POST", path, f))
            }
            7 => self.delete(path, 80),
            8 => Ok(Request::read(
                path,
                self.choices.read_parameters(&["id", "caption", "media_details", "source_url"])?,
            )),
            _ => {
                let mut query = self.choices.read_parameters(&["id", "slug", "media_type"])?;
                query.insert("orderby".to_owned(), "id".into());
                self.choices
                    .maybe(&mut query, 30, "media_type", |c| Ok(c.pick(&["image", "text", "file", "video"]).into()))?;
                self.choices.maybe(&mut query, 30, "search", |c| Ok(c.pick(&["upload", "landscape"]).into()))?;
                Ok(Request::read("/wp/v2/media".to_owned(), query))
            }
        }
    }

    pub(super) fn terms(&mut self) -> Result<Request> {
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
            return Ok(if choice < 3 {
                Request::create(&format!("/wp/v2/{kind}"), kind, f)
            } else {
                Request::write("PUT", path, f)
            });
        }
        match choice {
            6 => self.delete(path, 85),
            7 => Ok(Request::read(path, self.choices.read_parameters(&["id", "name", "count", "meta"])?)),
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
                Ok(Request::read(format!("/wp/v2/{kind}"), query))
            }
        }
    }

    pub(super) fn comments(&mut self) -> Result<Request> {
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
            return Ok(if creates {
                Request::create("/wp/v2/comments", "comments", f)
            } else {
                Request::write("POST", path, f)
            });
        }
        match choice {
            6 => self.delete(path, 40),
            7 => Ok(Request::read(path, self.choices.read_parameters(&["id", "content", "link", "author_name"])?)),
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
                Ok(Request::read("/wp/v2/comments".to_owned(), query))
            }
        }
    }

    pub(super) fn users(&mut self) -> Result<Request> {
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
            return Ok(if creates {
                Request::create("/wp/v2/users", "users", f)
            } else {
                Request::write("PUT", path, f)
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
            7 => Ok(Request::read(path, self.choices.read_parameters(&["id", "name", "roles", "capabilities"])?)),
            _ => {
                let mut query = self.choices.read_parameters(&["id", "name", "slug", "roles"])?;
                let c = &mut self.choices;
                query.insert("orderby".to_owned(), c.pick(&["id", "slug", "email", "nosuch"]).into());
                c.maybe(&mut query, 20, "roles", |c| Ok(c.pick(&["author", "administrator,editor"]).into()))?;
                c.maybe(&mut query, 20, "search", |c| Ok(c.pick(&["author", "example.com", "a"]).into()))?;
                c.maybe(&mut query, 10, "who", |_| Ok("authors".into()))?;
                c.maybe(&mut query, 20, "per_page", |c| Ok(c.pick(&["1", "3", "100"]).into()))?;
                Ok(Request::read("/wp/v2/users".to_owned(), query))
            }
        }
    }
}
