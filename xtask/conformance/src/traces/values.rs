//! Random values of parameters and fields.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::choices::Choices;

/// Names and short texts: plain ones, and those that sanitizing or escaping changes.
#[rustfmt::skip]
const TEXTS: &[&str] = &[
    "Alpha", "Beta tester", "Grüße aus Köln", "日本語", "🚀 launch", "a & b", "It's \"fine\"", "<b>bold</b> move", "x < y > z",
    "  spaced  out  ", "UPPER lower", "100% sure", "one/two", "tab\there", "line\nbreak", "<script>alert(1)</script>x", "---", "",
    "0", "Zed's café", "q?a=1&b=2", "#hash", "e\u{301}te", "très-long-mot-composé", "[gallery]", "…",
];

/// Contents of posts.
#[rustfmt::skip]
const CONTENTS: &[&str] = &[
    "Plain text.", "Two\n\nparagraphs", "<p>HTML</p>", "<!-- wp:paragraph -->\n<p>One block</p>\n<!-- /wp:paragraph -->",
    "<!-- wp:heading {\"level\":3} -->\n<h3 class=\"wp-block-heading\">Title</h3>\n<!-- /wp:heading -->\n\n<!-- wp:paragraph -->\n<p>Text \"quoted\" -- dashed</p>\n<!-- /wp:paragraph -->",
    "<!-- wp:list -->\n<ul class=\"wp-block-list\"><!-- wp:list-item -->\n<li>a</li>\n<!-- /wp:list-item --></ul>\n<!-- /wp:list -->",
    "<a href=\"javascript:alert(1)\" onclick=\"x()\">link</a> <em>em</em>", "<script>alert(1)</script>text", "<img src=\"x\" onerror=\"y\">",
    "<!-- wp:latest-posts /-->", "before<!--more-->after", "http://example.com/ :)", "<div><p>unclosed", "&lt;tag&gt; &amp; é", "",
];

#[rustfmt::skip]
const SLUGS: &[&str] = &["alpha", "beta-two", "Mixed Case", "über", "hello-world", "a/b", "", "x--y", "2024", "feed", "page"];

#[rustfmt::skip]
const BAD: &[&str] = &["-1", "abc", "", "99999999", "1.5", "true", "null", "1,2", " 5"];

impl Choices {
    pub(super) fn text(&mut self) -> Result<String> {
        if self.chance(30) {
            self.value(&"[A-Za-z][a-z]{2,8}( [a-z]{1,8}){0,2}")
        } else {
            Ok(self.pick(TEXTS).to_owned())
        }
    }

    pub(super) fn content(&mut self) -> String {
        self.pick(CONTENTS).to_owned()
    }

    pub(super) fn slug(&mut self) -> String {
        self.pick(SLUGS).to_owned()
    }

    /// A text that is seldom valid.
    pub(super) fn bad(&mut self) -> String {
        self.pick(BAD).to_owned()
    }

    /// A local date; each is different, so that lists by date have one order only.
    pub(super) fn date(&mut self) -> String {
        let (year, month, day) = (2019 + self.below(5), 1 + self.below(12), 1 + self.below(28));
        let (hour, minute, second) = (self.below(24), self.below(60), self.below(60));
        format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
    }

    pub(super) fn context(&mut self) -> &'static str {
        self.pick(&["view", "view", "edit", "embed"])
    }

    /// Adds an entry in this many of 100 cases.
    pub(super) fn maybe(
        &mut self,
        map: &mut Map<String, Value>,
        percent: usize,
        name: &str,
        value: impl FnOnce(&mut Self) -> Result<Value>,
    ) -> Result<()> {
        if self.chance(percent) {
            let value = value(self)?;
            map.insert(name.to_owned(), value);
        }
        Ok(())
    }

    /// Parameters that every read takes.
    pub(super) fn read_parameters(&mut self, fields: &[&str]) -> Result<Map<String, Value>> {
        let mut query = Map::new();
        self.maybe(&mut query, 50, "context", |c| Ok(c.context().into()))?;
        self.maybe(&mut query, 25, "_fields", |c| {
            let names: Vec<&str> = (0..=c.below(3)).map(|_| c.pick(fields)).collect();
            Ok(names.join(",").into())
        })?;
        self.maybe(&mut query, 12, "_embed", |c| Ok(c.pick(&["1", "author", "wp:term", "up"]).into()))?;
        self.maybe(&mut query, 4, "_envelope", |_| Ok(json!(1)))?;
        Ok(query)
    }
}
