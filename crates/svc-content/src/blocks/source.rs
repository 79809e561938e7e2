//! The attributes of a block, complete: those in its comment, those that its type reads from its markup, and defaults.
//!
//! Source: `getBlockAttributes` and `parseWithAttributeSchema` of the package `@wordpress/blocks`.

use std::{cell::Cell, ops::Range};

use serde_json::{Map, Value};
use svc_text::{decode_references, strip_tags};

use super::{Block, BlockType};
use crate::tags::{ElementEvent, Tag, Tags, VOID};

/// Maximum number of elements that the queries of a block's attributes return.
const MAX_QUERIED: usize = 20_000;

/// Maximum number of elements that queries return, as a multiple of those in the markup. Elements inside others of the same name are
/// in the rows of each.
const MAX_ROWS_PER_ELEMENT: usize = 4;

/// Maximum size of the attributes from the markup, as a multiple of its size.
const MAX_COPIES: usize = 2;

/// Number of bytes that the attributes of each block may have in addition.
const MIN_BYTES: usize = 1024;

/// Maximum number of elements that selectors are compared with, as a multiple of those in the markup.
const MAX_VISITS_PER_ELEMENT: usize = 64;

/// Number of elements that the selectors of each block may be compared with in addition.
const MIN_VISITS: usize = 4096;

/// Maximum number of open elements. Those further inside have no content.
const MAX_OPEN: usize = 256;

/// The attributes of a block that its type declares. A value that is not of the declared type is replaced by the default, or left
/// out if there is none. An attribute is left out as well if it would copy more of the markup than all attributes of the block may.
pub fn declared_attributes(block: &Block<'_>, block_type: &BlockType) -> Map<String, Value> {
    let html = block.inner_html();
    let markup = Markup::of(&html);
    let mut all = Map::new();
    for (name, schema) in &block_type.attributes {
        let found = match schema.get("source").and_then(Value::as_str) {
            Some(source) => match markup.read_within_budget(source, schema) {
                Ok(value) => value,
                Err(BudgetExceeded) => continue,
            },
            None => block.attrs.get(name).cloned(),
        };
        let value = found.filter(|value| has_type(schema, value)).or_else(|| schema.get("default").cloned());
        if let Some(value) = value {
            all.insert(name.clone(), value);
        }
    }
    all
}

/// Whether a value has one of the types of an attribute, and is one of its choices.
fn has_type(schema: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("string" | "rich-text") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("null") => value.is_null(),
        _ => true,
    };
    let types = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(is),
        Some(one) => is(one),
        None => true,
    };
    types && schema.get("enum").and_then(Value::as_array).is_none_or(|choices| choices.contains(value))
}

/// The elements of a block's own markup, in the order of their tags.
struct Markup<'h> {
    html: &'h str,
    elements: Vec<Element>,
    budget: Budget,
}

/// What reading the attributes of a block may still cost.
struct Budget {
    /// Bytes in values.
    bytes: Cell<usize>,
    /// Elements that queries return.
    rows: Cell<usize>,
    /// Elements that selectors are compared with.
    visits: Cell<usize>,
}

/// An attribute costs more than is left.
#[derive(Debug, PartialEq)]
struct BudgetExceeded;

impl Budget {
    fn of(html: &str, n_elements: usize) -> Self {
        let sum = |factor: usize, n: usize, more: usize| Cell::new(n.saturating_mul(factor).saturating_add(more));
        Budget {
            bytes: sum(MAX_COPIES, html.len(), MIN_BYTES),
            rows: Cell::new(MAX_QUERIED.min(n_elements.saturating_mul(MAX_ROWS_PER_ELEMENT))),
            visits: sum(MAX_VISITS_PER_ELEMENT, n_elements, MIN_VISITS),
        }
    }

    fn take(left: &Cell<usize>, n: usize) -> Result<(), BudgetExceeded> {
        left.set(left.get().checked_sub(n).ok_or(BudgetExceeded)?);
        Ok(())
    }
}

struct Element {
    tag: Tag,
    /// What is between its tags.
    inner: Range<usize>,
    /// The element that contains it.
    parent: Option<usize>,
    /// The position after that of the last element in it.
    end: usize,
}

impl<'h> Markup<'h> {
    fn of(html: &'h str) -> Self {
        let mut elements: Vec<Element> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut tags = Tags::new(html);
        while let Some(event) = tags.next_element() {
            match event {
                ElementEvent::Open(tag) => {
                    let at = elements.len();
                    let is_empty = open.len() >= MAX_OPEN || VOID.iter().any(|name| tag.is(html, name));
                    let (parent, start) = (open.last().copied(), tag.end());
                    let (inner, end) = if is_empty { (start..start, at + 1) } else { (start..html.len(), usize::MAX) };
                    elements.push(Element { tag, inner, parent, end });
                    if !is_empty {
                        open.push(at);
                    }
                }
                ElementEvent::Close { name, start } => {
                    let is_open = |at: &usize| elements.get(*at).is_some_and(|element| element.tag.is(html, name));
                    let Some(depth) = open.iter().rposition(is_open) else { continue };
                    let n_elements = elements.len();
                    // Elements that are still open inside end here, too.
                    for at in open.split_off(depth) {
                        if let Some(element) = elements.get_mut(at) {
                            element.inner.end = start.max(element.inner.start);
                            element.end = n_elements;
                        }
                    }
                }
                ElementEvent::Other { .. } => {}
            }
        }
        let budget = Budget::of(html, elements.len());
        Markup { html, elements, budget }
    }

    /// The value of an attribute, read in the whole markup. One that is too large leaves its bytes and rows to the others.
    fn read_within_budget(&self, source: &str, schema: &Value) -> Result<Option<Value>, BudgetExceeded> {
        let (bytes, rows) = (self.budget.bytes.get(), self.budget.rows.get());
        self.read(None, source, schema).inspect_err(|BudgetExceeded| {
            self.budget.bytes.set(bytes);
            self.budget.rows.set(rows);
        })
    }

    /// The value of an attribute, read in the whole markup or in an element that a query has found.
    fn read(&self, within: Option<usize>, source: &str, schema: &Value) -> Result<Option<Value>, BudgetExceeded> {
        let text = |name: &str| schema.get(name).and_then(Value::as_str);
        let selector = text("selector");
        let first = || match selector {
            Some(selector) => self.select(within, selector).next().transpose(),
            None => Ok(within),
        };
        // Counts what is copied.
        let copied = |html: &'h str| Budget::take(&self.budget.bytes, html.len()).map(|()| html);
        Ok(match source {
            "attribute" => {
                let Some(name) = text("attribute") else { return Ok(None) };
                let value = first()?.and_then(|at| self.elements.get(at)?.tag.value(self.html, name));
                if text("type") == Some("boolean") {
                    return Ok(Some(value.is_some().into()));
                }
                value.map(copied).transpose()?.map(|value| decode_references(value).into())
            }
            "text" => {
                let html = self.inner(first()?, selector).map(copied).transpose()?;
                html.map(|html| decode_references(&strip_tags(html)).into())
            }
            "html" | "rich-text" | "children" | "node" => {
                self.inner(first()?, selector).map(copied).transpose()?.map(Value::from)
            }
            "raw" => Some(copied(self.html)?.into()),
            "tag" => {
                let name = first()?.and_then(|at| Some(self.elements.get(at)?.tag.name(self.html)));
                name.map(copied).transpose()?.map(|name| name.to_ascii_lowercase().into())
            }
            "query" => {
                let fields = schema.get("query").and_then(Value::as_object);
                let (Some(fields), Some(selector)) = (fields, selector) else { return Ok(None) };
                let mut rows = Vec::new();
                for at in self.select(within, selector) {
                    let at = at?;
                    Budget::take(&self.budget.rows, 1)?;
                    let mut row = Map::new();
                    for (name, field) in fields {
                        let Some(source) = field.get("source").and_then(Value::as_str) else { continue };
                        let found = self.read(Some(at), source, field)?.filter(|value| has_type(field, value));
                        if let Some(value) = found.or_else(|| field.get("default").cloned()) {
                            row.insert(name.clone(), value);
                        }
                    }
                    rows.push(Value::Object(row));
                }
                Some(rows.into())
            }
            // The meta of the post, which clients read there.
            _ => None,
        })
    }

    /// What is in an element; all markup without a selector.
    fn inner(&self, element: Option<usize>, selector: Option<&str>) -> Option<&'h str> {
        match (element, selector) {
            (Some(at), _) => self.html.get(self.elements.get(at)?.inner.clone()),
            (None, None) => Some(self.html),
            (None, Some(_)) => None,
        }
    }

    /// The elements in the whole markup or in an element that match a list of selectors.
    fn select<'m>(
        &'m self,
        within: Option<usize>,
        selectors: &str,
    ) -> impl Iterator<Item = Result<usize, BudgetExceeded>> + use<'m, 'h> {
        let range = match within.and_then(|at| Some((at, self.elements.get(at)?))) {
            Some((at, element)) => at + 1..element.end.min(self.elements.len()),
            None => 0..self.elements.len(),
        };
        let selectors: Vec<Vec<Step>> = selectors.split(',').filter_map(steps).collect();
        range.filter_map(move |at| self.matches_any(at, &selectors).map(|matches| matches.then_some(at)).transpose())
    }

    fn matches_any(&self, at: usize, selectors: &[Vec<Step>]) -> Result<bool, BudgetExceeded> {
        for steps in selectors {
            if self.matches(at, steps)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn matches(&self, at: usize, steps: &[Step]) -> Result<bool, BudgetExceeded> {
        let (Some((last, before)), Some(element)) = (steps.split_last(), self.elements.get(at)) else {
            return Ok(false);
        };
        Budget::take(&self.budget.visits, 1)?;
        if !last.matches(&element.tag, self.html) {
            return Ok(false);
        }
        if before.is_empty() {
            return Ok(true);
        }
        let mut parent = element.parent;
        while let Some(at) = parent {
            if self.matches(at, before)? {
                return Ok(true);
            }
            parent = if last.is_child { None } else { self.elements.get(at).and_then(|element| element.parent) };
        }
        Ok(false)
    }
}

/// A part of a selector for one element.
#[derive(Debug, Default, PartialEq)]
struct Step {
    /// The element's name; `None` for any.
    name: Option<String>,
    classes: Vec<String>,
    /// Names of attributes that it has, or does not have.
    attributes: Vec<(String, bool)>,
    /// Whether it is a child of the element before.
    is_child: bool,
}

impl Step {
    fn matches(&self, tag: &Tag, html: &str) -> bool {
        self.name.as_deref().is_none_or(|name| tag.is(html, name))
            && self.classes.iter().all(|class| tag.has_class(html, class))
            && self.attributes.iter().all(|(name, has)| tag.value(html, name).is_some() == *has)
    }
}

/// The steps of a selector with names, classes, `[attribute]` and `:not([attribute])`, and the combinators space and `>`. `None` for
/// others, which match nothing.
fn steps(selector: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut is_child = false;
    for word in selector.split_ascii_whitespace() {
        if word == ">" {
            is_child = true;
            continue;
        }
        steps.push(step(word, std::mem::take(&mut is_child))?);
    }
    (!steps.is_empty()).then_some(steps)
}

fn step(word: &str, is_child: bool) -> Option<Step> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut step = Step { is_child, ..Step::default() };
    let mut rest = word;
    while !rest.is_empty() {
        let (kind, after) =
            [".", ":not([", "["].iter().find_map(|kind| Some((*kind, rest.strip_prefix(kind)?))).unwrap_or(("", rest));
        let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
        let (name, tail) = after.split_at(end);
        if name.is_empty() {
            return None;
        }
        rest = match kind {
            "." => {
                step.classes.push(name.to_owned());
                tail
            }
            ":not([" => {
                step.attributes.push((name.to_owned(), false));
                tail.strip_prefix("])")?
            }
            "[" => {
                step.attributes.push((name.to_owned(), true));
                tail.strip_prefix(']')?
            }
            _ => {
                step.name = Some(name.to_owned());
                tail
            }
        };
    }
    Some(step)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::blocks::{BlockTypes, parse};

    #[track_caller]
    fn check(content: &str, expected: Value) {
        let types = BlockTypes::core();
        let blocks = parse(content);
        let block_type = types.get(blocks[0].name.as_deref().unwrap()).unwrap();
        let mut found = declared_attributes(&blocks[0], block_type);
        found.retain(|name, _| expected.get(name).is_some());
        assert_eq!(Value::Object(found), expected, "{content}");
    }

    #[test]
    fn attributes_of_core_blocks() {
        check(
            "<!-- wp:paragraph {\"dropCap\":true} -->\n<p class=\"has-drop-cap\">a <b>b</b> &amp; c</p>\n<!-- /wp:paragraph -->",
            json!({"content": "a <b>b</b> &amp; c", "dropCap": true}),
        );
        check("<!-- wp:heading --><h2 class=\"x\">T</h2><!-- /wp:heading -->", json!({"content": "T", "level": 2}));
        check(
            "<!-- wp:heading {\"level\":\"x\"} --><h3>T</h3><!-- /wp:heading -->",
            json!({"content": "T", "level": 2}),
        );
        check(
            "<!-- wp:image {\"id\":5} --><figure class=\"wp-block-image\"><a href=\"https://e.org/?a=1&amp;b=2\" rel=\"x\"><img src=\"a.png\" alt=\"&quot;A&quot;\"/></a><figcaption>C <i>c</i></figcaption></figure><!-- /wp:image -->",
            json!({"id": 5, "url": "a.png", "alt": "\"A\"", "href": "https://e.org/?a=1&b=2", "caption": "C <i>c</i>"}),
        );
        check(
            "<!-- wp:table --><figure><table><thead><tr><th>H</th></tr></thead><tbody><tr><td>1</td><td colspan=\"2\">2<br>x</td></tr><tr><td>3</td></tr></tbody></table></figure><!-- /wp:table -->",
            json!({
                "head": [{"cells": [{"content": "H", "tag": "th"}]}],
                "body": [
                    {"cells": [{"content": "1", "tag": "td"}, {"content": "2<br>x", "tag": "td", "colspan": "2"}]},
                    {"cells": [{"content": "3", "tag": "td"}]},
                ],
                "foot": [],
            }),
        );
        check(
            "<!-- wp:video --><figure><video controls src=\"v.mp4\"></video></figure><!-- /wp:video -->",
            json!({"src": "v.mp4", "controls": true, "loop": false}),
        );
        check("<!-- wp:shortcode -->[y]<!-- /wp:shortcode -->", json!({"text": "[y]"}));
        check(
            "<!-- wp:file --><div><a id=\"i\" href=\"f.pdf\">F</a><a href=\"f.pdf\" download>Get</a></div><!-- /wp:file -->",
            json!({"textLinkHref": "f.pdf", "fileName": "F", "downloadButtonText": "Get"}),
        );
    }

    #[test]
    fn damaged_markup_has_the_attributes_that_can_be_read() {
        check("<!-- wp:paragraph --><p>open <b>x<!-- /wp:paragraph -->", json!({"content": "open <b>x"}));
        check("<!-- wp:paragraph --></p></div><!-- /wp:paragraph -->", json!({}));
        check("<!-- wp:image --><img src=\"a.png\"<!-- /wp:image -->", json!({}));
        let deep = "<div>".repeat(200);
        check(&format!("<!-- wp:paragraph -->{deep}<p>x</p><!-- /wp:paragraph -->"), json!({"content": "x"}));
        let (open, closed) = ("<div>".repeat(100_000), "</i>".repeat(100_000));
        check(&format!("<!-- wp:paragraph -->{open}{closed}<p>x</p><!-- /wp:paragraph -->"), json!({"content": ""}));
    }

    #[test]
    fn nested_elements_do_not_multiply_the_markup() {
        let attributes = |html: &str| {
            let content = format!("<!-- wp:table -->{html}<!-- /wp:table -->");
            declared_attributes(&parse(&content)[0], BlockTypes::core().get("core/table").unwrap())
        };
        let nested = |text: &str, n: usize| {
            let (open, close) = ("<tr><td>".repeat(n), "</td></tr>".repeat(n));
            format!("<figure><table><tbody>{open}{text}{close}</tbody></table><figcaption>C</figcaption></figure>")
        };
        for (text, n) in [("x".repeat(2_000_000), 120), ("x".repeat(12_000), 120), (String::new(), 120)] {
            let html = nested(&text, n);
            let found = attributes(&html);
            assert!((found.get("body"), &found["caption"]) == (None, &json!("C")), "{n}");
            assert!(Value::from(found).to_string().len() < 2 * html.len() + 2048);
        }
        // Other elements in nested rows are not compared for each row.
        assert_eq!(attributes(&nested(&"<b></b>".repeat(200_000), 120)).get("body"), None);
        // Tables that are not nested have all their cells, and small ones in others as well.
        let rows = "<tr><td>1</td></tr>".repeat(5_000);
        let flat = attributes(&format!("<table><tbody>{rows}</tbody></table>"));
        assert_eq!(flat["body"].as_array().unwrap().len(), 5_000);
        assert_eq!(attributes(&nested("x", 2))["body"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn selectors() {
        let html = "<figure class=\"a b\"><a href=1><img></a></figure><p><a download>x</a></p>";
        let markup = Markup::of(html);
        for (selector, expected) in [
            ("a", &[1, 4][..]),
            ("figure > a", &[1]),
            ("figure img", &[2]),
            ("figure > img", &[]),
            (".b", &[0]),
            ("figure.a.b, p", &[0, 3]),
            ("a:not([download])", &[1]),
            ("a[download]", &[4]),
            ("a:first-child", &[]),
            ("", &[]),
            ("a[x='1']", &[]),
            ("p > a,figure > a", &[1, 4]),
        ] {
            assert_eq!(markup.select(None, selector).collect::<Result<Vec<_>, _>>().unwrap(), expected, "{selector}");
        }
        assert_eq!(markup.select(Some(0), "a").collect::<Result<Vec<_>, _>>().unwrap(), [1]);
    }
}
