//! Requests for menus, templates, styles, widgets and sidebars.

use anyhow::Result;
use serde_json::{Value, json};

use super::{Fields, Operations, Request};

impl Operations {
    pub(super) fn menus(&mut self) -> Result<Request> {
        let choice = self.choices.below(10);
        if choice < 4 {
            let path = format!("/wp/v2/menus/{}", self.other("menus"));
            let mut f = Fields::new();
            self.choices.maybe(&mut f, 90, "name", |c| Ok(c.text()?.into()))?;
            self.choices.maybe(&mut f, 30, "description", |c| Ok(c.text()?.into()))?;
            self.choices.maybe(&mut f, 30, "locations", |c| Ok(json!([c.pick(&["primary", "footer", "nosuch"])])))?;
            self.choices.maybe(&mut f, 30, "auto_add", |c| Ok(c.chance(50).into()))?;
            return match choice {
                0 | 1 => Ok(Request::create("/wp/v2/menus", "menus", f)),
                2 => Ok(Request::write("PUT", path, f)),
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
                Ok(if choice < 6 {
                    Request::create("/wp/v2/menu-items", "menu-items", f)
                } else {
                    Request::write("PATCH", path, f)
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
                    query.shift_remove("orderby");
                    query.shift_remove("menus");
                }
                Ok(Request::read(path, query))
            }
        }
    }

    pub(super) fn templates(&mut self) -> Result<Request> {
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
                Ok(if choice < 2 {
                    Request::create(&format!("/wp/v2/{kind}"), kind, f)
                } else {
                    Request::write("PUT", path, f)
                })
            }
            5 => self.delete(path, 60),
            6 => Ok(Request::read(path, self.choices.read_parameters(&["id", "content", "source", "title"])?)),
            _ => {
                let query = self.choices.read_parameters(&["id", "source", "wp_id"])?;
                // The order is that of the files in the theme's folder, which differs between file systems.
                let more = [("unordered".to_owned(), json!(["", "/body"]))].into_iter().collect();
                Ok(Request { more, ..Request::read(format!("/wp/v2/{kind}"), query) })
            }
        }
    }

    pub(super) fn global_styles(&mut self) -> Result<Request> {
        let path = "/wp/v2/global-styles/1460".to_owned();
        Ok(match self.choices.below(4) {
            0 | 1 => {
                let mut f = Fields::new();
                self.choices.maybe(&mut f, 70, "styles", |c| {
                    Ok(json!({"color": {"background": c.pick(&["#fff", "red", "var(--x)"])}}))
                })?;
                self.choices.maybe(&mut f, 40, "settings", |c| Ok(json!({"color": {"custom": c.chance(50)}})))?;
                self.choices.maybe(&mut f, 30, "title", |c| Ok(c.text()?.into()))?;
                Request::write("POST", path, f)
            }
            2 => Request::read(path, self.choices.read_parameters(&["id", "styles", "title"])?),
            _ => Request::read(format!("{path}/revisions"), self.choices.read_parameters(&["id", "styles"])?),
        })
    }

    pub(super) fn widgets(&mut self) -> Result<Request> {
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
                Ok(if choice < 3 {
                    Request::create("/wp/v2/widgets", "widgets", f)
                } else {
                    Request::write("PUT", path, f)
                })
            }
            5 => self.delete(path, 60),
            6 => Ok(Request::read(path, self.choices.read_parameters(&["id", "rendered", "instance"])?)),
            _ => {
                let mut query = self.choices.read_parameters(&["id", "sidebar"])?;
                self.choices.maybe(&mut query, 40, "sidebar", |_| Ok(sidebar.into()))?;
                Ok(Request::read("/wp/v2/widgets".to_owned(), query))
            }
        }
    }

    pub(super) fn sidebars(&mut self) -> Result<Request> {
        let path = format!("/wp/v2/sidebars/{}", self.other("sidebars"));
        Ok(if self.choices.chance(50) {
            let widgets: Vec<Value> = (0..self.choices.below(3)).map(|_| self.other("widgets").into()).collect();
            Request::write("PUT", path, json!({"widgets": widgets}))
        } else {
            let path = if self.choices.chance(50) { path } else { "/wp/v2/sidebars".to_owned() };
            Request::read(path, self.choices.read_parameters(&["id", "widgets", "status"])?)
        })
    }
}
