//! Pages of lists beyond WordPress's page numbers: cursors, and lists that are not counted.
//!
//! A cursor is the position of the last item of a page: its sort values, which the caller may not be allowed to read. It is
//! therefore encrypted, with the site's keys, and bound to the list with its filters.

use serde_json::Value;
use svc_resource::{Paging, Params};
use svc_routing::{Request, Result};
use svc_schema::build::{boolean, string};
use svc_site::{Site, errors::lists as errors};
use svc_store::{Beyond, Continued, Page, Position, SortValue};

use crate::item_cache::{CachedPage, PageLinks};

/// Longest cursor, in characters.
const MAX_CURSOR: usize = 2_048;

/// Longest position in bytes. A cursor of a longer one contains the item's id instead.
const MAX_POSITION: usize = 1_024;

/// What cursors are encrypted for.
const PURPOSE: &str = "svc list cursor";

/// Parameters that do not change which items are in a list, and in which order.
const NEUTRAL: [&str; 4] = ["context", "cursor", "per_page", "_total"];

/// Adds the parameters of a list.
pub(crate) fn add_params<Q>(p: &mut Params<Q>) {
    let cursor = string().max_length(MAX_CURSOR).describe(
        "Cursor from the `next` link of the previous page; empty for the first page. It keeps its place while items are added and removed.",
    );
    p.add("cursor", cursor).unlisted();
    let total =
        boolean().default(true).describe("Whether to count the items of the list, for the headers with its size.");
    p.add("_total", total).unlisted();
}

/// How a request selects a page of a list.
pub(crate) struct ListPage {
    /// What the page follows; `Some(None)` for the first page of a list that is read with cursors.
    cursor: Option<Option<Beyond>>,
    has_total: bool,
    /// The list that cursors belong to.
    list: String,
}

impl ListPage {
    /// Reads the parameters.
    ///
    /// # Errors
    /// 400 if the cursor is not one of this list, or if there is a page number too.
    pub(crate) fn read(site: &Site, req: &Request) -> Result<Self> {
        let has_total = req.param("_total") != Some(&Value::Bool(false));
        let Some(sent) = req.param("cursor").and_then(Value::as_str) else {
            return Ok(ListPage { cursor: None, has_total, list: String::new() });
        };
        if req.sent_param("page").is_some() || req.sent_param("offset").is_some() {
            return Err(errors::cursor_with_page());
        }
        let list = list_of(req);
        let beyond = match sent {
            "" => None,
            sent => {
                Some(site.open(PURPOSE, &list, sent).and_then(|text| parse(&text)).ok_or_else(errors::invalid_cursor)?)
            }
        };
        Ok(ListPage { cursor: Some(beyond), has_total, list })
    }

    /// Whether the list is read with cursors.
    pub(crate) fn is_by_cursor(&self) -> bool {
        self.cursor.is_some()
    }

    /// Restricts a query to the page.
    pub(crate) fn select<Q: Continued>(&self, mut query: Q) -> Q {
        let bounds = query.bounds();
        *bounds.total = self.has_total;
        *bounds.next = self.cursor.is_some() || !self.has_total;
        if let Some(beyond) = &self.cursor {
            *bounds.offset = 0;
            bounds.beyond.clone_from(beyond);
        }
        query
    }

    /// The page that was found. `paging` has the total, if it was counted.
    pub(crate) fn found<Id: Copy + Into<i64>>(
        &self,
        site: &Site,
        found: &Page<Id>,
        paging: Paging,
    ) -> Result<CachedPage> {
        let next = match (&self.cursor, &found.next, found.ids.last()) {
            (Some(_), Some(position), Some(last)) => {
                let text = text(position, (*last).into());
                Some(site.seal(PURPOSE, &self.list, &text).ok_or_else(errors::no_keys)?)
            }
            _ => None,
        };
        let links = match self.cursor {
            Some(_) => PageLinks::Cursor(next.map(Into::into)),
            None if self.has_total => PageLinks::Pages,
            None => PageLinks::Uncounted { more: found.next.is_some() },
        };
        let ids = found.ids.iter().map(|id| (*id).into()).collect();
        Ok(CachedPage { ids, paging, has_total: self.has_total, links })
    }
}

/// Identifies the list that a request reads: the route and the filters.
fn list_of(req: &Request) -> String {
    let mut list = format!("{}\n", req.route());
    for (name, value) in req.sent_args().into_iter().filter(|(name, _)| !NEUTRAL.contains(&name.as_ref())) {
        list.push_str(&format!("{name}={value}\n"));
    }
    list
}

/// A position as JSON, or the item's id if it is too long.
fn text(position: &Position, id: i64) -> String {
    let value = |value: &SortValue| match value {
        SortValue::Int(n) => Value::from(*n),
        SortValue::Text(text) => Value::from(text.as_str()),
        SortValue::Number(bits) => Value::from(vec![*bits]),
    };
    let text = Value::from(position.0.iter().map(value).collect::<Vec<_>>()).to_string();
    if text.len() <= MAX_POSITION { text } else { id.to_string() }
}

fn parse(text: &str) -> Option<Beyond> {
    match serde_json::from_str(text).ok()? {
        Value::Number(id) => id.as_i64().map(Beyond::Item),
        Value::Array(values) => {
            let value = |value: Value| match value {
                Value::Number(n) => n.as_i64().map(SortValue::Int),
                Value::String(text) => Some(SortValue::Text(text)),
                Value::Array(bits) => bits.first().and_then(Value::as_u64).map(SortValue::Number),
                _ => None,
            };
            values.into_iter().map(value).collect::<Option<_>>().map(|values| Beyond::Position(Position(values)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_were_written() {
        let position = |text: &str| Position(vec![SortValue::Text(text.to_owned()), SortValue::Int(-5)]);
        for value in ["", "2024-01-01 00:00:00", "\"\\\u{0}é"] {
            assert_eq!(parse(&text(&position(value), 5)), Some(Beyond::Position(position(value))));
        }
        assert_eq!(parse(&text(&position(&"x".repeat(2_000)), 7)), Some(Beyond::Item(7)));
        let number = Position(vec![SortValue::Number((-0.1_f64).to_bits()), SortValue::Int(3)]);
        assert_eq!(parse(&text(&number, 3)), Some(Beyond::Position(number)));
        for other in ["", "[", "[1.5]", "[null]", "{}", "\"5\"", "1e300"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
