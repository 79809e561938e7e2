//! The items of a menu with menu locations, in their order.

use serde_json::{Map, Value};
use svc_login::Form;
use svc_schema::Error;

use super::{
    bad_request, check_link,
    moves::{self, Move, Nested},
};
use crate::{layout::plain, request::text};

/// An item of a menu.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) id: i64,
    pub(super) depth: usize,
    pub(super) label: String,
    pub(super) url: String,
    /// What the item links to, such as `Page`.
    pub(super) kind: String,
    /// Whether its URL can be edited.
    pub(super) is_custom: bool,
    /// Whether what it links to does not exist any more.
    pub(super) is_invalid: bool,
    /// The stored parent and position.
    pub(super) parent: i64,
    pub(super) order: i64,
}

impl Nested for Item {
    fn depth(&self) -> usize {
        self.depth
    }

    fn set_depth(&mut self, depth: usize) {
        self.depth = depth;
    }

    fn can_contain(&self) -> bool {
        true
    }
}

/// The items in the order in which themes show them, with depths. Items whose parent is missing, or below themselves, are at the top.
pub(super) fn in_order(mut all: Vec<Item>) -> Vec<Item> {
    all.sort_by_key(|item| (item.order, item.id));
    let ids: Vec<i64> = all.iter().map(|item| item.id).collect();
    let mut waiting: Vec<Item> = all;
    let mut ordered: Vec<Item> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        // The first item at the top, or else the first one of a circle.
        let at = waiting.iter().position(|item| !ids.contains(&item.parent)).unwrap_or(0);
        let mut open = vec![(0, waiting.remove(at))];
        while let Some((depth, item)) = open.pop() {
            let (below, others): (Vec<Item>, Vec<Item>) =
                waiting.into_iter().partition(|other| other.parent == item.id);
            waiting = others;
            open.extend(below.into_iter().rev().map(|item| (depth + 1, item)));
            ordered.push(Item { depth, ..item });
        }
    }
    ordered
}

/// The parents and positions that the items must have for their order and depths, of those that have others.
pub(super) fn changed_places(items: &[Item]) -> Vec<(i64, Map<String, Value>)> {
    let mut above: Vec<i64> = Vec::new();
    let mut changed = Vec::new();
    for (item, order) in items.iter().zip(1_i64..) {
        above.truncate(item.depth);
        let parent = above.last().copied().unwrap_or(0);
        above.push(item.id);
        let mut change = Map::new();
        if parent != item.parent {
            change.insert("parent".to_owned(), parent.into());
        }
        if order != item.order {
            change.insert("menu_order".to_owned(), order.into());
        }
        if !change.is_empty() {
            changed.push((item.id, change));
        }
    }
    changed
}

/// The item of a REST API object.
pub(super) fn item(value: &Value) -> Item {
    let number = |name: &str| value[name].as_i64().unwrap_or_default();
    Item {
        id: number("id"),
        depth: 0,
        label: plain(text(value, "/title/raw")),
        url: text(value, "/url").to_owned(),
        kind: plain(text(value, "/type_label")),
        is_custom: value["type"] == "custom",
        is_invalid: value["invalid"] == true,
        parent: number("parent"),
        order: number("menu_order"),
    }
}

/// The labels and URLs that a form changes.
pub(super) fn changed_texts(items: &[Item], form: &Form) -> Result<Vec<(i64, Map<String, Value>)>, Error> {
    let mut changed = Vec::new();
    for item in items {
        let (label, url) = (format!("label-{}", item.id), format!("url-{}", item.id));
        let mut change = Map::new();
        let (new_label, new_url) = (form.get(&label).trim(), form.get(&url).trim());
        if form.has(&label) && new_label != item.label {
            change.insert("title".to_owned(), new_label.into());
        }
        if item.is_custom && form.has(&url) {
            if new_url != item.url {
                change.insert("url".to_owned(), new_url.into());
            }
            if !change.is_empty() {
                check_link(new_label, new_url)?;
            }
        }
        if !change.is_empty() {
            changed.push((item.id, change));
        }
    }
    Ok(changed)
}

/// The items after a move, and the ID of an item that is removed.
pub(super) fn moved(items: &[Item], action: &str, id: &str) -> Result<(Vec<Item>, Option<i64>), Error> {
    let mut moved = items.to_vec();
    let at = moved.iter().position(|item| item.id.to_string() == id);
    let wanted = at.zip(Move::named(action));
    match wanted.filter(|(at, action)| moves::apply(&mut moved, *at, *action)) {
        Some((at, Move::Remove)) => Ok((moved, items.get(at).map(|item| item.id))),
        Some(_) => Ok((moved, None)),
        None => Err(bad_request("admin_no_move", "The entry cannot be moved there.")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(rows: &[(i64, i64, i64)]) -> Vec<Item> {
        let one = |(id, parent, order): &(i64, i64, i64)| {
            item(&json!({"id": id, "parent": parent, "menu_order": order, "title": {"raw": id.to_string()}}))
        };
        in_order(rows.iter().map(one).collect())
    }

    fn outline(items: &[Item]) -> Vec<String> {
        items.iter().map(|item| format!("{}{}", "-".repeat(item.depth), item.id)).collect()
    }

    #[test]
    fn items_are_below_their_parents_and_none_is_lost() {
        for (rows, expected) in [
            (&[(1, 0, 1), (2, 0, 2)][..], &["1", "2"][..]),
            (&[(2, 0, 1), (1, 0, 2), (3, 2, 9), (4, 3, 4), (5, 2, 3)], &["2", "-5", "-3", "--4", "1"]),
            // A parent that comes later, one that is missing, and circles.
            (&[(1, 2, 1), (2, 0, 2)], &["2", "-1"]),
            (&[(1, 99, 1)], &["1"]),
            (&[(1, 1, 1), (2, 3, 2), (3, 2, 3)], &["1", "2", "-3"]),
            (&[], &[]),
        ] {
            assert_eq!(outline(&of(rows)), expected, "{rows:?}");
        }
    }

    #[test]
    fn only_items_in_other_places_are_changed() {
        let mut items = of(&[(1, 0, 1), (2, 0, 2), (3, 2, 3), (4, 0, 4)]);
        assert!(changed_places(&items).is_empty());
        assert!(moves::apply(&mut items, 1, Move::In));
        assert_eq!(outline(&items), ["1", "-2", "--3", "4"]);
        let changed = |items: &[Item]| {
            Value::from_iter(changed_places(items).into_iter().map(|(id, change)| json!([id, change])))
        };
        assert_eq!(changed(&items), json!([[2, {"parent": 1}]]));
        let mut items = of(&[(1, 0, 1), (2, 0, 2), (3, 2, 3), (4, 0, 4)]);
        assert!(moves::apply(&mut items, 1, Move::Up));
        assert_eq!(changed(&items), json!([[2, {"menu_order": 1}], [3, {"menu_order": 2}], [1, {"menu_order": 3}]]));
    }
}
