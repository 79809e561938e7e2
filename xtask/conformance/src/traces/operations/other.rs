//! Requests for settings, application passwords, revisions, autosaves, searches, batches and registries.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Fields, Operations, Request};

impl Operations {
    pub(super) fn settings(&mut self) -> Result<Request> {
        let path = "/wp/v2/settings".to_owned();
        if self.choices.chance(40) {
            return Ok(Request::read(path, Fields::new()));
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
        Ok(Request::write("POST", path, f))
    }

    pub(super) fn application_passwords(&mut self) -> Result<Request> {
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
            2 => Request::write("PUT", path, json!({"name": self.choices.text()?})),
            3 if path.contains("{{") => Request { method: "DELETE", path, ..Request::default() },
            4 => Request::read(path, Fields::new()),
            _ => Request::read(base, self.choices.read_parameters(&["uuid", "name"])?),
        })
    }

    pub(super) fn revisions(&mut self) -> Result<Request> {
        let kind = self.choices.pick(&["posts", "pages", "books", "blocks"]);
        let base = format!("/wp/v2/{kind}/{}/revisions", self.post(kind));
        let mut query = self.choices.read_parameters(&["id", "title", "content", "parent"])?;
        Ok(match self.choices.below(5) {
            0..=2 => {
                self.choices.maybe(&mut query, 30, "per_page", |c| Ok(c.pick(&["1", "5"]).into()))?;
                let more = [("capture".to_owned(), json!({"revision": "/0/id"}))].into_iter().collect();
                Request { method: "GET", path: base, query, more, ..Request::default() }
            }
            3 => Request::read(format!("{base}/{{{{revision}}}}"), query),
            _ => self.delete(format!("{base}/{{{{revision}}}}"), 80)?,
        })
    }

    pub(super) fn autosaves(&mut self) -> Result<Request> {
        let kind = self.choices.pick(&["posts", "pages", "books"]);
        let path = format!("/wp/v2/{kind}/{}/autosaves", self.post(kind));
        Ok(if self.choices.chance(60) {
            let mut f = Fields::new();
            self.choices.maybe(&mut f, 80, "title", |c| Ok(c.text()?.into()))?;
            self.choices.maybe(&mut f, 80, "content", |c| Ok(c.content().into()))?;
            self.choices.maybe(&mut f, 40, "excerpt", |c| Ok(c.text()?.into()))?;
            Request::write("POST", path, f)
        } else {
            Request::read(path, self.choices.read_parameters(&["id", "title"])?)
        })
    }

    pub(super) fn search(&mut self) -> Result<Request> {
        let mut query = Fields::new();
        let c = &mut self.choices;
        query.insert("search".to_owned(), c.pick(&["dune", "alpha", "fox", "é", "nosuch thing"]).into());
        c.maybe(&mut query, 40, "type", |c| Ok(c.pick(&["post", "term", "post-format", "x"]).into()))?;
        c.maybe(&mut query, 30, "subtype", |c| Ok(c.pick(&["post", "page", "book", "category", "any"]).into()))?;
        c.maybe(&mut query, 30, "per_page", |c| Ok(c.pick(&["1", "5", "100"]).into()))?;
        c.maybe(&mut query, 10, "_embed", |_| Ok("1".into()))?;
        Ok(Request::read("/wp/v2/search".to_owned(), query))
    }

    pub(super) fn batch(&mut self) -> Result<Request> {
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
        Ok(Request::write("POST", "/batch/v1".to_owned(), json))
    }

    /// Reads of what is registered.
    pub(super) fn registry(&mut self) -> Result<Request> {
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
