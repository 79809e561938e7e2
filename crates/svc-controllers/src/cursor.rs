//! Pages of lists beyond WordPress's page numbers: cursors, and lists that are not counted.
//!
//! A cursor is a place between two items of a list, and a direction: the page that begins there, or the page that ends there. The
//! place is that behind an item, as the item's sort values, which the caller may not be allowed to read. It is therefore
//! encrypted, with the site's keys, and bound to the list with its filters.
//!
//! The links of a page have its two ends. Where it was begun is known from the request, so that only the other end is read.

use std::sync::Arc;

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
        "Cursor from the `next` or `prev` link of a page; empty for the first page. It keeps its place while items are added and removed.",
    );
    p.add("cursor", cursor).unlisted();
    let total =
        boolean().default(true).describe("Whether to count the items of the list, for the headers with its size.");
    p.add("_total", total).unlisted();
}

/// Where a page is in a list that is read with cursors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Cursor {
    /// The place; `None` for the beginning of the list.
    place: Option<Beyond>,
    /// Whether the page ends there.
    backwards: bool,
}

/// How a request selects a page of a list.
pub(crate) struct ListPage {
    /// `None` for a page by its number.
    cursor: Option<Cursor>,
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
        let cursor = match sent {
            "" => Cursor::default(),
            sent => site.open(PURPOSE, &list, sent).and_then(|text| parse(&text)).ok_or_else(errors::invalid_cursor)?,
        };
        Ok(ListPage { cursor: Some(cursor), has_total, list })
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
        if let Some(cursor) = &self.cursor {
            *bounds.offset = 0;
            bounds.beyond.clone_from(&cursor.place);
            *bounds.backwards = cursor.backwards;
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
        let links = match &self.cursor {
            Some(cursor) => self.links(site, cursor, found)?,
            None if self.has_total => PageLinks::Pages,
            None => PageLinks::Uncounted { more: found.next.is_some() },
        };
        let ids = found.ids.iter().map(|id| (*id).into()).collect();
        Ok(CachedPage { ids, paging, has_total: self.has_total, links })
    }

    /// The cursors of the pages before and after the one that `cursor` has selected.
    fn links<Id: Copy + Into<i64>>(&self, site: &Site, cursor: &Cursor, found: &Page<Id>) -> Result<PageLinks> {
        let sealed = |place: String, backwards| -> Result<Arc<str>> {
            let text = text(&place, backwards);
            Ok(site.seal(PURPOSE, &self.list, &text).ok_or_else(errors::no_keys)?.into())
        };
        // Whether something is left there is not known; it was when the cursor was made.
        let begun = cursor.place.as_ref().map(|place| sealed(self::place(place), !cursor.backwards)).transpose()?;
        let goes_on = |(id, position): &(Id, Position)| sealed(behind((*id).into(), position), cursor.backwards);
        let goes_on = found.next.as_ref().map(goes_on).transpose()?;
        let (previous, next) = if cursor.backwards { (goes_on, begun) } else { (begun, goes_on) };
        Ok(PageLinks::Cursor { previous, next })
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

/// A place as JSON.
fn place(place: &Beyond) -> String {
    match place {
        Beyond::Position(position) => position_text(position),
        Beyond::Item(id) => id.to_string(),
    }
}

/// The place behind an item as JSON: its position, or its id if this is too long.
fn behind(id: i64, position: &Position) -> String {
    let text = position_text(position);
    if text.len() <= MAX_POSITION { text } else { id.to_string() }
}

fn position_text(position: &Position) -> String {
    let value = |value: &SortValue| match value {
        SortValue::Int(n) => Value::from(*n),
        SortValue::Text(text) => Value::from(text.as_str()),
        SortValue::Number(bits) => Value::from(vec![*bits]),
    };
    Value::from(position.0.iter().map(value).collect::<Vec<_>>()).to_string()
}

/// What a cursor contains: the place, in an object if the page ends there.
fn text(place: &str, backwards: bool) -> String {
    if backwards { format!("{{\"to\":{place}}}") } else { place.to_owned() }
}

fn parse(text: &str) -> Option<Cursor> {
    let (place, backwards) = match serde_json::from_str(text).ok()? {
        Value::Object(mut end) => (end.swap_remove("to")?, true),
        place => (place, false),
    };
    parse_place(place).map(|place| Cursor { place: Some(place), backwards })
}

fn parse_place(place: Value) -> Option<Beyond> {
    match place {
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
        let at = |text: &str| Position(vec![SortValue::Text(text.to_owned()), SortValue::Int(-5)]);
        let number = Position(vec![SortValue::Number((-0.1_f64).to_bits()), SortValue::Int(3)]);
        for position in [at(""), at("2024-01-01 00:00:00"), at("\"\\\u{0}é{}"), number] {
            for backwards in [false, true] {
                let cursor = Cursor { place: Some(Beyond::Position(position.clone())), backwards };
                assert_eq!(parse(&text(&behind(5, &position), backwards)), Some(cursor.clone()));
                assert_eq!(parse(&text(&place(cursor.place.as_ref().unwrap()), backwards)), Some(cursor));
            }
        }
        let stamp = "2024-01-01 00:00:00";
        assert_eq!(
            text(&behind(5, &at(stamp)), false),
            format!("[\"{stamp}\",-5]"),
            "cursors that were issued stay valid"
        );
        let long = behind(7, &at(&"x".repeat(2_000)));
        for (written, backwards) in [(&long, false), (&text(&long, true), true)] {
            assert_eq!(parse(written), Some(Cursor { place: Some(Beyond::Item(7)), backwards }));
        }
        for other in ["", "[", "[1.5]", "[null]", "{}", "{\"to\":{\"to\":5}}", "{\"from\":5}", "\"5\"", "1e300"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
