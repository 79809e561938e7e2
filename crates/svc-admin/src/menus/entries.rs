//! The entries of a menu, as a list with depths. A menu is stored as blocks; those that are not links stay as they are.

use std::borrow::Cow;

use serde_json::{Map, Value};
use svc_content::blocks::{Block, parse, serialize_blocks, strip_core_namespace};
use svc_text::{Quotes, esc_html, specialchars_decode};

use super::moves::Nested;
use crate::{layout::plain, posts::capitalized};

const LINK: &str = "core/navigation-link";
const SUBMENU: &str = "core/navigation-submenu";
const HOME: &str = "core/home-link";

/// Maximum number of entries of a menu.
pub(super) const MAX_ENTRIES: usize = 200;

/// Attributes that say which object a link leads to. They are not true of another URL.
const OF_OBJECT: [&str; 4] = ["id", "type", "kind", "metadata"];

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    /// 0 for an entry of the menu itself, 1 for one below it, and so on.
    pub(super) depth: usize,
    block: Block<'static>,
}

impl Entry {
    /// A link.
    pub(super) fn link(label: &str, url: &str, object: Option<(i64, &str, &str)>) -> Self {
        let mut attrs = Map::new();
        attrs.insert("label".to_owned(), String::from(esc_html(label)).into());
        if let Some((id, kind, name)) = object {
            attrs.insert("type".to_owned(), name.into());
            attrs.insert("id".to_owned(), id.into());
            attrs.insert("url".to_owned(), url.into());
            attrs.insert("kind".to_owned(), kind.into());
        } else {
            attrs.insert("url".to_owned(), url.into());
            attrs.insert("kind".to_owned(), "custom".into());
        }
        Entry { depth: 0, block: Block { name: Some(Cow::Borrowed(LINK)), attrs, ..Block::default() } }
    }

    fn name(&self) -> &str {
        self.block.name.as_deref().unwrap_or_default()
    }

    /// Whether the entry has a label and a URL that can be edited.
    pub(super) fn is_link(&self) -> bool {
        matches!(self.name(), LINK | SUBMENU)
    }

    /// The label of a link, or what another block is.
    pub(super) fn label(&self) -> String {
        match self.name() {
            LINK | SUBMENU => plain(self.block["label"].as_str().unwrap_or_default()),
            HOME => self.block["label"].as_str().map_or_else(|| "Home".to_owned(), plain),
            "core/page-list" => "All pages".to_owned(),
            name => capitalized(&strip_core_namespace(name).replace(['-', '/'], " ")),
        }
    }

    /// The URL of a link.
    pub(super) fn url(&self) -> &str {
        self.block["url"].as_str().unwrap_or_default()
    }

    /// Changes a link. A label that stays as it is shown keeps its formats.
    pub(super) fn set(&mut self, label: &str, url: &str) {
        if label != self.label() {
            self.block.attrs.insert("label".to_owned(), String::from(esc_html(label)).into());
        }
        if url != self.url() {
            OF_OBJECT.iter().for_each(|name| drop(self.block.attrs.shift_remove(*name)));
            self.block.attrs.insert("url".to_owned(), url.into());
            self.block.attrs.insert("kind".to_owned(), "custom".into());
        }
    }
}

/// The entries of a menu's content.
pub(super) fn read(content: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let mut open: Vec<(usize, Block<'_>)> = parse(content).into_iter().rev().map(|block| (0, block)).collect();
    while let Some((depth, mut block)) = open.pop() {
        if block.name.is_none() {
            continue;
        }
        if block.name.as_deref() == Some(SUBMENU) {
            let below = std::mem::take(&mut block.inner_blocks);
            block.inner_content.clear();
            open.extend(below.into_iter().rev().map(|block| (depth.saturating_add(1), block)));
        }
        entries.push(Entry { depth, block: owned(block) });
    }
    entries
}

/// The block with texts of its own.
fn owned(block: Block<'_>) -> Block<'static> {
    let Block { name, attrs, has_invalid_attrs, inner_blocks, inner_content } = block;
    let text = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
    Block {
        name: name.map(text),
        attrs,
        has_invalid_attrs,
        inner_blocks: inner_blocks.into_iter().map(owned).collect(),
        inner_content: inner_content.into_iter().map(|chunk| chunk.map(text)).collect(),
    }
}

/// The content of a menu with these entries.
pub(super) fn write(entries: &[Entry]) -> String {
    let mut rest = entries;
    let mut blocks = Vec::new();
    while let Some(block) = take(&mut rest, 0) {
        blocks.push(block);
    }
    blocks.iter().map(|block| serialize_blocks(std::slice::from_ref(block))).collect::<Vec<_>>().join("\n\n")
}

/// The block of the first entry with those below it.
fn take(rest: &mut &[Entry], depth: usize) -> Option<Block<'static>> {
    let (first, after) = rest.split_first()?;
    if first.depth < depth {
        return None;
    }
    *rest = after;
    let mut block = first.block.clone();
    if !first.is_link() {
        return Some(block);
    }
    while let Some(below) = take(rest, depth.saturating_add(1)) {
        if !block.inner_blocks.is_empty() {
            block.inner_content.push(Some(Cow::Borrowed("\n\n")));
        }
        block.inner_content.push(None);
        block.inner_blocks.push(below);
    }
    block.name = Some(Cow::Borrowed(if block.inner_blocks.is_empty() { LINK } else { SUBMENU }));
    Some(block)
}

impl Nested for Entry {
    fn depth(&self) -> usize {
        self.depth
    }

    fn set_depth(&mut self, depth: usize) {
        self.depth = depth;
    }

    fn can_contain(&self) -> bool {
        self.is_link()
    }
}

/// The title of a menu for people.
pub(super) fn title_of(menu: &Value) -> String {
    let title = specialchars_decode(menu["title"]["raw"].as_str().unwrap_or_default(), Quotes::Both);
    if title.trim().is_empty() { "Menu".to_owned() } else { title }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::moves::{Move, apply},
        *,
    };

    const STORED: &str = "<!-- wp:navigation-link {\"label\":\"One\",\"url\":\"/1\"} /-->\n\n\
        <!-- wp:navigation-submenu {\"label\":\"Two \\u003cem\\u003e!\\u003c/em\\u003e\",\"type\":\"page\",\"id\":7,\"url\":\"/2\"} -->\
        <!-- wp:navigation-link {\"label\":\"Two A\",\"url\":\"/2a\"} /-->\n\n\
        <!-- wp:navigation-link {\"label\":\"Two B\",\"url\":\"/2b\"} /-->\
        <!-- /wp:navigation-submenu -->\n\n<!-- wp:search {\"label\":\"x\"} /-->";

    fn outline(entries: &[Entry]) -> Vec<String> {
        entries.iter().map(|entry| format!("{}{}", "-".repeat(entry.depth), entry.label())).collect()
    }

    #[test]
    fn a_menu_is_read_and_written_as_it_was() {
        let entries = read(STORED);
        assert_eq!(outline(&entries), ["One", "Two !", "-Two A", "-Two B", "Search"]);
        assert_eq!(write(&entries), STORED);
        assert_eq!(write(&read("text <!-- wp:page-list /-->")), "<!-- wp:page-list /-->");
    }

    #[test]
    fn a_link_keeps_what_is_not_changed() {
        let mut entries = read(STORED);
        entries[1].set("Two !", "/2");
        assert_eq!(write(&entries), STORED);
        entries[1].set("A & <b>", "/elsewhere");
        let block = &entries[1].block;
        assert_eq!((&block["label"], &block["url"]), (&"A &amp; &lt;b&gt;".into(), &"/elsewhere".into()));
        assert_eq!((&block["id"], &block["kind"]), (&Value::Null, &"custom".into()));
        assert_eq!(entries[1].label(), "A & <b>");
    }

    #[test]
    fn entries_move_with_those_below_them() {
        let moved = |at: usize, action: Move| {
            let mut entries = read(STORED);
            apply(&mut entries, at, action).then(|| outline(&read(&write(&entries))))
        };
        assert_eq!(moved(1, Move::Up).unwrap(), ["Two !", "-Two A", "-Two B", "One", "Search"]);
        assert_eq!(moved(1, Move::Down).unwrap(), ["One", "Search", "Two !", "-Two A", "-Two B"]);
        assert_eq!(moved(1, Move::In).unwrap(), ["One", "-Two !", "--Two A", "--Two B", "Search"]);
        assert_eq!(moved(2, Move::Out).unwrap(), ["One", "Two !", "-Two B", "Two A", "Search"]);
        assert_eq!(moved(2, Move::Down).unwrap(), ["One", "Two !", "-Two B", "-Two A", "Search"]);
        assert_eq!(moved(1, Move::Remove).unwrap(), ["One", "Two A", "Two B", "Search"]);
        // A search form has nothing below it, and the ends of a menu are ends.
        for (at, action) in
            [(0, Move::Up), (0, Move::In), (0, Move::Out), (4, Move::Down), (2, Move::Up), (9, Move::Up)]
        {
            assert_eq!(moved(at, action), None, "{at} {action:?}");
        }
    }

    proptest! {
        #[test]
        fn no_entry_is_lost(moves in prop::collection::vec((0_usize..8, 0_usize..4), 0..40)) {
            let mut entries = read(STORED);
            for (at, n) in moves {
                apply(&mut entries, at, Move::ALL[n].0);
                let again = read(&write(&entries));
                prop_assert_eq!(outline(&again), outline(&entries));
            }
            let mut labels: Vec<String> = entries.iter().map(Entry::label).collect();
            labels.sort();
            prop_assert_eq!(labels, ["One", "Search", "Two !", "Two A", "Two B"]);
        }
    }
}
