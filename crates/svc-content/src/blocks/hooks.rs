//! Block hooks: blocks that are automatically inserted before, after or inside other blocks.
//!
//! A block stores the names of the hooked blocks that editors have seen in its attribute
//! `metadata.ignoredHookedBlocks`, so that a block that a user removes is not inserted again. The root of the content
//! has no attributes; callers store the names for it.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{Block, BlockType, parse, parse::n_unclosed, serialize_blocks};

/// Positions of hooked blocks, as in block types.
const POSITIONS: [&str; 4] = ["before", "after", "first_child", "last_child"];

#[derive(Clone, Copy, PartialEq)]
enum HookPosition {
    Before,
    After,
    First,
    Last,
}

/// The hooked blocks of a set of block types.
#[derive(Clone, Debug, Default)]
pub struct BlockHooks {
    /// Hooked blocks by anchor block, then by position, in the order of the block types.
    hooked: HashMap<String, [Vec<String>; 4]>,
    /// Blocks that may occur only once in content.
    single: HashSet<String>,
}

/// The root of content, as a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentRoot {
    name: String,
    ignored: Vec<String>,
}

impl ContentRoot {
    /// The root of a post's content. `stored` is the stored value of [`StoredContent::names`], as a JSON array.
    pub fn of(post_type: &str, stored: &str) -> Self {
        let name = match post_type {
            "wp_block" => "core/block",
            "wp_navigation" => "core/navigation",
            "wp_template_part" => "core/template-part",
            _ => "core/post-content",
        };
        let names = serde_json::from_str(stored).unwrap_or(Value::Null);
        ContentRoot { name: name.to_owned(), ignored: texts(names.as_array().map_or(&[], Vec::as_slice)) }
    }
}

impl ContentRoot {
    /// Whether content without any block counts as a block.
    fn counts_text_as_block(&self, purpose: Purpose) -> bool {
        purpose != Purpose::Store && self.name != "core/template-part"
    }
}

/// Content to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredContent {
    /// The content.
    pub content: String,
    /// Names of hooked blocks at the content's root, which are not inserted again.
    pub names: Vec<String>,
}

/// The purpose of applying hooks.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    /// Rendering: insert hooked blocks.
    Render,
    /// Editing: insert hooked blocks, and store their names.
    Edit,
    /// Storing: only store the names.
    Store,
}

impl BlockHooks {
    /// The hooked blocks of these types.
    pub(super) fn of<'t>(types: impl Iterator<Item = &'t BlockType>) -> Self {
        let mut hooks = BlockHooks::default();
        for block_type in types {
            for (anchor, position) in &block_type.block_hooks {
                let Some(position) = POSITIONS.iter().position(|known| position == known) else { continue };
                let by_position = hooks.hooked.entry(anchor.clone()).or_default();
                by_position[position].push(block_type.name.clone());
                if !block_type.has_support(&["multiple"], true) {
                    hooks.single.insert(block_type.name.clone());
                }
            }
        }
        hooks
    }

    /// Whether there are no hooked blocks.
    pub fn is_empty(&self) -> bool {
        self.hooked.is_empty()
    }

    /// Inserts hooked blocks, for rendering.
    pub fn insert<'a>(&self, blocks: Vec<Block<'a>>, root: Option<&ContentRoot>) -> Vec<Block<'a>> {
        if self.is_empty() { blocks } else { self.apply(blocks, root, Purpose::Render).0 }
    }

    /// Content for an editor: normalized blocks, with hooked blocks inserted.
    ///
    /// Content with several unclosed blocks cannot be normalized, and is unchanged.
    pub fn content_to_edit(&self, content: &str, root: Option<&ContentRoot>) -> String {
        self.normalize(content, root, Purpose::Edit).content
    }

    /// Content to store after a change: like [`Self::content_to_edit`], but no blocks are inserted.
    pub fn content_to_store(&self, content: &str, root: Option<&ContentRoot>) -> StoredContent {
        self.normalize(content, root, Purpose::Store)
    }

    fn normalize(&self, content: &str, root: Option<&ContentRoot>, purpose: Purpose) -> StoredContent {
        // Content that is empty in PHP's sense is unchanged.
        let stays = match purpose {
            Purpose::Edit if matches!(content, "" | "0") => true,
            _ => self.is_empty() && !content.contains("<!--") || n_unclosed(content) > 1,
        };
        if stays {
            return StoredContent { content: content.to_owned(), names: Vec::new() };
        }
        let (blocks, names) = match self.is_empty() {
            true => (parse(content), Vec::new()),
            false => self.apply(parse(content), root, purpose),
        };
        StoredContent { content: serialize_blocks(&blocks), names }
    }

    /// The blocks, and the names of the root's ignored blocks.
    fn apply<'a>(
        &self,
        blocks: Vec<Block<'a>>,
        root: Option<&ContentRoot>,
        purpose: Purpose,
    ) -> (Vec<Block<'a>>, Vec<String>) {
        let mut used = HashSet::new();
        self.collect_used(&blocks, &mut used);
        let root_name = root.map(|root| root.name.as_str());
        let mut inserter = Inserter { hooks: self, purpose, root: root_name, used };
        let mut root_block = wrap_in_root(blocks, root, purpose);
        // These only store names, since nothing is inserted next to the root.
        inserter.at(&mut root_block, HookPosition::Before);
        inserter.at(&mut root_block, HookPosition::After);
        if root_block.inner_blocks.is_empty() && root.is_some_and(|root| root.counts_text_as_block(purpose)) {
            for position in [HookPosition::First, HookPosition::Last] {
                let inserted = inserter.at(&mut root_block, position);
                root_block.inner_content.extend(inserted.iter().map(|_| None));
                root_block.inner_blocks.extend(inserted);
            }
        } else {
            inserter.inside(&mut root_block);
        }
        let names = texts(ignored(&root_block));
        let mut inner = root_block.inner_blocks.into_iter();
        let chunks = root_block.inner_content.into_iter();
        let blocks = chunks.filter_map(|chunk| chunk.map_or_else(|| inner.next(), |text| Some(Block::freeform(text))));
        (blocks.collect(), names)
    }

    /// Collects the blocks that may occur only once.
    fn collect_used(&self, blocks: &[Block<'_>], used: &mut HashSet<String>) {
        if self.single.is_empty() {
            return;
        }
        for block in blocks {
            used.extend(block.name.as_deref().filter(|name| self.single.contains(*name)).map(str::to_owned));
            self.collect_used(&block.inner_blocks, used);
        }
    }
}

/// Wraps blocks in their root. Text next to blocks belongs to the root; text alone may be a block.
fn wrap_in_root<'a>(blocks: Vec<Block<'a>>, root: Option<&ContentRoot>, purpose: Purpose) -> Block<'a> {
    let mut root_block = Block { name: root.map(|root| root.name.clone().into()), ..Block::default() };
    if let Some(root) = root.filter(|root| !root.ignored.is_empty()) {
        ignore(&mut root_block, root.ignored.iter().map(String::as_str));
    }
    let is_text =
        blocks.iter().all(|block| block.name.is_none()) && root.is_none_or(|root| root.counts_text_as_block(purpose));
    for block in blocks {
        if block.name.is_none() && !is_text {
            root_block.inner_content.extend(block.inner_content);
        } else {
            root_block.inner_content.push(None);
            root_block.inner_blocks.push(block);
        }
    }
    root_block
}

/// Inserts hooked blocks.
struct Inserter<'h> {
    hooks: &'h BlockHooks,
    purpose: Purpose,
    root: Option<&'h str>,
    /// Blocks that may occur only once, and do.
    used: HashSet<String>,
}

impl Inserter<'_> {
    /// Inserts blocks next to and inside the inner blocks of `parent`. The parser limits the depth.
    fn inside(&mut self, parent: &mut Block<'_>) {
        let chunks = std::mem::take(&mut parent.inner_content);
        let inner = std::mem::take(&mut parent.inner_blocks);
        let (count, mut inner) = (inner.len(), inner.into_iter().enumerate());
        for chunk in chunks {
            if chunk.is_some() {
                parent.inner_content.push(chunk);
                continue;
            }
            let Some((index, mut block)) = inner.next() else { continue };
            let mut inserted = if index == 0 { self.at(parent, HookPosition::First) } else { Vec::new() };
            inserted.extend(self.at(&mut block, HookPosition::Before));
            let mut after = self.at(&mut block, HookPosition::After);
            if index + 1 == count {
                after.extend(self.at(parent, HookPosition::Last));
            }
            self.inside(&mut block);
            inserted.push(block);
            inserted.extend(after);
            parent.inner_content.extend(inserted.iter().map(|_| None));
            parent.inner_blocks.extend(inserted);
        }
    }

    /// The blocks to insert at a position of `anchor`, which stores their names if required.
    fn at(&mut self, anchor: &mut Block<'_>, position: HookPosition) -> Vec<Block<'static>> {
        let name = anchor.name.as_deref().unwrap_or_default();
        let Some(by_position) = self.hooks.hooked.get(name) else { return Vec::new() };
        // Nothing is inserted next to the root, or next to inner blocks of the same name.
        let is_sibling = matches!(position, HookPosition::Before | HookPosition::After);
        if is_sibling && self.purpose != Purpose::Store && self.root == Some(name) {
            return Vec::new();
        }
        let hooked = by_position[position as usize].iter().map(String::as_str);
        let names: Vec<&str> =
            hooked.filter(|name| !self.hooks.single.contains(*name) || self.used.insert((*name).to_owned())).collect();
        let known = ignored(anchor);
        let to_insert =
            names.iter().filter(|name| self.purpose != Purpose::Store && known.iter().all(|known| known != *name));
        let inserted =
            to_insert.map(|name| Block { name: Some((*name).to_owned().into()), ..Block::default() }).collect();
        // Blocks that may occur only once are not stored as ignored.
        let stays = |name: &&str| self.purpose == Purpose::Store || !self.hooks.single.contains(*name);
        if self.purpose != Purpose::Render {
            ignore(anchor, names.into_iter().filter(stays));
        }
        inserted
    }
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(|value| Some(value.as_str()?.to_owned())).collect()
}

/// Names of the blocks that are not inserted at this block.
fn ignored<'b>(block: &'b Block<'_>) -> &'b [Value] {
    block["metadata"]["ignoredHookedBlocks"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn ignore<'n>(block: &mut Block<'_>, names: impl Iterator<Item = &'n str>) {
    let mut all = ignored(block).to_vec();
    for name in names {
        if all.iter().all(|known| known != name) {
            all.push(name.into());
        }
    }
    if all.is_empty() {
        return;
    }
    let metadata = block.attrs.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(metadata) = metadata {
        metadata.insert("ignoredHookedBlocks".to_owned(), all.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::blocks::BlockTypes;

    /// Block types that hook into an anchor block.
    fn hooks(rows: &[(&str, &str, &str)]) -> BlockHooks {
        let mut types = BlockTypes::default();
        for (name, anchor, position) in rows {
            let file =
                json!({"name": name, "blockHooks": {*anchor: position}, "supports": {"multiple": *name != "x/one"}});
            types.register_from_file(BlockType::from_json(&file).expect("a valid block name"));
        }
        types.hooks().clone()
    }

    fn all() -> BlockHooks {
        hooks(&[
            ("x/b", "core/heading", "before"),
            ("x/a", "core/heading", "after"),
            ("x/f", "core/group", "firstChild"),
            ("x/l", "core/group", "lastChild"),
            ("x/cb", "core/post-content", "before"),
            ("x/cf", "core/post-content", "firstChild"),
            ("x/cl", "core/post-content", "lastChild"),
            ("x/one", "core/list", "before"),
        ])
    }

    const MARK: &str = r#"{"metadata":{"ignoredHookedBlocks":["x/b","x/a"]}}"#;

    /// Content for editing, rendering and storing, as recorded from WordPress.
    #[test]
    fn hooked_blocks_are_inserted() {
        let hooks = all();
        let heading = format!("<!-- wp:x/b /--><!-- wp:heading {MARK} -->h<!-- /wp:heading --><!-- wp:x/a /-->");
        let stored_heading = format!("<!-- wp:heading {MARK} -->h<!-- /wp:heading -->");
        let plain = "<!-- wp:heading -->h<!-- /wp:heading -->";
        let group = |inside: &str| format!("<!-- wp:group --><div>{inside}</div><!-- /wp:group -->");
        let marked = r#"<!-- wp:group {"metadata":{"ignoredHookedBlocks":["x/f","x/l"]}} -->"#;
        let (first, last) = ("<!-- wp:x/cf /-->", "<!-- wp:x/cl /-->");
        let rows: [(&str, String, String); 9] = [
            (plain, format!("{first}{heading}{last}"), stored_heading.clone()),
            (&stored_heading, format!("{first}{stored_heading}{last}"), stored_heading.clone()),
            (
                &group(plain),
                format!("{first}{marked}<div><!-- wp:x/f /-->{heading}<!-- wp:x/l /--></div><!-- /wp:group -->{last}"),
                format!("{marked}<div>{stored_heading}</div><!-- /wp:group -->"),
            ),
            (&group(""), format!("{first}{}{last}", group("")), group("")),
            ("text", format!("{first}text{last}"), "text".to_owned()),
            ("", String::new(), String::new()),
            ("a<!-- wp:p/q /-->b", format!("a{first}<!-- wp:p/q /-->{last}b"), "a<!-- wp:p/q /-->b".to_owned()),
            (
                "<!-- wp:list /--><!-- wp:list /-->",
                format!("{first}<!-- wp:x/one /--><!-- wp:list /--><!-- wp:list /-->{last}"),
                r#"<!-- wp:list {"metadata":{"ignoredHookedBlocks":["x/one"]}} /--><!-- wp:list /-->"#.to_owned(),
            ),
            (
                "<!-- wp:list /--><!-- wp:x/one /-->",
                format!("{first}<!-- wp:list /--><!-- wp:x/one /-->{last}"),
                "<!-- wp:list /--><!-- wp:x/one /-->".to_owned(),
            ),
        ];
        let root = ContentRoot::of("post", "");
        for (content, edited, stored) in rows {
            assert_eq!(hooks.content_to_edit(content, Some(&root)), edited);
            assert_eq!(hooks.content_to_store(content, Some(&root)).content, stored);
            let shown = serialize_blocks(&hooks.insert(parse(content), Some(&root)));
            let bare = |text: &str| {
                let mut text = text.replace(&format!(" {MARK}"), "");
                text = text.replace(r#" {"metadata":{"ignoredHookedBlocks":["x/f","x/l"]}}"#, "");
                if text.is_empty() { format!("{first}{last}") } else { text }
            };
            assert_eq!(bare(&shown), bare(&edited), "{content}");
        }
    }

    #[test]
    fn removed_hooked_blocks_are_not_inserted_again() {
        let hooks = all();
        let stored = hooks.content_to_store("<!-- wp:p/q /-->", Some(&ContentRoot::of("page", "")));
        assert_eq!(stored.names, ["x/cb", "x/cf", "x/cl"]);
        let root = ContentRoot::of("page", &json!(stored.names).to_string());
        assert_eq!(hooks.content_to_edit("text", Some(&root)), "text");
        let text_alone = hooks.content_to_store("text", Some(&ContentRoot::of("post", r#"["x\/y"]"#)));
        assert_eq!(text_alone.names, ["x/y", "x/cb"]);
        assert!(hooks.content_to_store("text", Some(&ContentRoot::of("wp_block", ""))).names.is_empty());
        let hooks = self::hooks(&[("x/p", "core/template-part", "firstChild")]);
        assert_eq!(hooks.content_to_edit("text", Some(&ContentRoot::of("wp_template_part", ""))), "text");
    }

    /// Blocks are normalized even without hooks. Content that would change its meaning is unchanged.
    #[test]
    fn blocks_are_normalized() {
        let hooks = BlockHooks::default();
        for (content, normalized) in [
            (
                r#"<!--   wp:core/heading   {"b":  {}, "u":"\u00e9<\/"}   --><h2><!-- /wp:core/heading  -->"#,
                r#"<!-- wp:heading {"b":[],"u":"é\u003c/"} --><h2><!-- /wp:heading -->"#,
            ),
            ("<!-- wp:group --><div>", "<!-- wp:group --><div><!-- /wp:group -->"),
            ("<!-- wp:group --><!-- wp:list -->a", "<!-- wp:group --><!-- wp:list -->a"),
            ("a<!-- /wp:list --><!--  wp:list /-->", "a<!-- /wp:list --><!--  wp:list /-->"),
            ("<!-- wp:heading {bad} /-->", "<!-- wp:heading /-->"),
            ("text <b>&amp;</b>", "text <b>&amp;</b>"),
        ] {
            assert_eq!(hooks.content_to_edit(content, None), normalized);
            assert_eq!(
                hooks.content_to_store(content, None),
                StoredContent { content: normalized.to_owned(), names: Vec::new() }
            );
        }
    }
}
