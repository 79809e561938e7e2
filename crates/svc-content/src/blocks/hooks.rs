//! Block hooks: blocks that types want to stand beside others, or inside them, put in where content is read.
//!
//! A block beside which others want to stand remembers those that an editor was shown, so that one that he takes away stays
//! away: in its attribute `metadata.ignoredHookedBlocks`. What the content as a whole stands in has no attributes; the names
//! for it are kept by whoever keeps the content.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::{Block, BlockTypes, parse, parse::n_unclosed, serialize_blocks};

/// Where a block stands by another one, as types say it.
const PLACES: [&str; 4] = ["before", "after", "first_child", "last_child"];

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Before,
    After,
    First,
    Last,
}

/// Which blocks want to stand where.
#[derive(Clone, Debug, Default)]
pub struct Hooks {
    /// By the block that they stand by, then by place, in the order of their types.
    wanted: HashMap<String, [Vec<String>; 4]>,
    /// Those that may stand once only in a content.
    single: HashSet<String>,
}

/// What content stands in, as a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Root {
    name: String,
    ignored: Vec<String>,
}

impl Root {
    /// Of a post of this type. `stored` is what was kept of [`Kept::names`], as a list in JSON.
    pub fn of(post_type: &str, stored: &str) -> Self {
        let name = match post_type {
            "wp_block" => "core/block",
            "wp_navigation" => "core/navigation",
            "wp_template_part" => "core/template-part",
            _ => "core/post-content",
        };
        let names = serde_json::from_str(stored).unwrap_or(Value::Null);
        Root { name: name.to_owned(), ignored: texts(names.as_array().map_or(&[], Vec::as_slice)) }
    }
}

impl Root {
    /// Whether text alone counts as a block in it.
    fn takes_text(&self, purpose: Purpose) -> bool {
        purpose != Purpose::Store && self.name != "core/template-part"
    }
}

/// Content as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The content.
    pub content: String,
    /// The blocks that want to stand in the content or beside it, and need not be shown there again.
    pub names: Vec<String>,
}

/// What the blocks are for.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    /// They are shown.
    Show,
    /// They are edited: what is put in is remembered.
    Edit,
    /// They are stored: what was put in before is remembered.
    Store,
}

impl Hooks {
    pub(super) fn of(types: &BlockTypes) -> Self {
        let mut hooks = Hooks::default();
        for block_type in types.iter() {
            for (anchor, place) in &block_type.block_hooks {
                let Some(place) = PLACES.iter().position(|known| place == known) else { continue };
                let places = hooks.wanted.entry(anchor.clone()).or_default();
                places[place].push(block_type.name.clone());
                if !block_type.has_support(&["multiple"], true) {
                    hooks.single.insert(block_type.name.clone());
                }
            }
        }
        hooks
    }

    /// No block wants to stand by another.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Blocks to be shown, with those that want to stand there.
    pub fn shown<'a>(&self, blocks: Vec<Block<'a>>, root: Option<&Root>) -> Vec<Block<'a>> {
        if self.is_empty() { blocks } else { self.apply(blocks, root, Purpose::Show).0 }
    }

    /// Content as an editor gets it: blocks spelled in the one way, those put in that want to stand there.
    ///
    /// Content in which several blocks are never closed has no other spelling that says the same, and stays.
    pub fn edited(&self, content: &str, root: Option<&Root>) -> String {
        self.respelled(content, root, Purpose::Edit).content
    }

    /// Content as it is stored when it is changed: as [`Self::edited`], but nothing is put in.
    pub fn kept(&self, content: &str, root: Option<&Root>) -> Kept {
        self.respelled(content, root, Purpose::Store)
    }

    fn respelled(&self, content: &str, root: Option<&Root>, purpose: Purpose) -> Kept {
        // Nothing is put into what is empty in PHP's sense.
        let stays = match purpose {
            Purpose::Edit if matches!(content, "" | "0") => true,
            _ => self.is_empty() && !content.contains("<!--") || n_unclosed(content) > 1,
        };
        if stays {
            return Kept { content: content.to_owned(), names: Vec::new() };
        }
        let (blocks, names) = match self.is_empty() {
            true => (parse(content), Vec::new()),
            false => self.apply(parse(content), root, purpose),
        };
        Kept { content: serialize_blocks(&blocks), names }
    }

    /// The blocks, and the names that the root remembers.
    fn apply<'a>(
        &self,
        blocks: Vec<Block<'a>>,
        root: Option<&Root>,
        purpose: Purpose,
    ) -> (Vec<Block<'a>>, Vec<String>) {
        let mut used = HashSet::new();
        self.note_used(&blocks, &mut used);
        let root_name = root.map(|root| root.name.as_str());
        let mut run = Run { hooks: self, purpose, root: root_name, used };
        let mut around = around(blocks, root, purpose);
        // Asked for where they are remembered; beside the root nothing is put in.
        run.at(&mut around, Place::Before);
        run.at(&mut around, Place::After);
        if around.inner_blocks.is_empty() && root.is_some_and(|root| root.takes_text(purpose)) {
            for place in [Place::First, Place::Last] {
                let made = run.at(&mut around, place);
                around.inner_content.extend(made.iter().map(|_| None));
                around.inner_blocks.extend(made);
            }
        } else {
            run.inside(&mut around);
        }
        let names = texts(ignored(&around));
        let mut inner = around.inner_blocks.into_iter();
        let chunks = around.inner_content.into_iter();
        let blocks = chunks.filter_map(|chunk| chunk.map_or_else(|| inner.next(), |text| Some(Block::freeform(text))));
        (blocks.collect(), names)
    }

    /// Those of the blocks that may stand only once.
    fn note_used(&self, blocks: &[Block<'_>], used: &mut HashSet<String>) {
        if self.single.is_empty() {
            return;
        }
        for block in blocks {
            used.extend(block.name.as_deref().filter(|name| self.single.contains(*name)).map(str::to_owned));
            self.note_used(&block.inner_blocks, used);
        }
    }
}

/// The block that blocks stand in. Text beside blocks is its own; text alone may be a block.
fn around<'a>(blocks: Vec<Block<'a>>, root: Option<&Root>, purpose: Purpose) -> Block<'a> {
    let mut around = Block { name: root.map(|root| root.name.clone().into()), ..Block::default() };
    if let Some(root) = root.filter(|root| !root.ignored.is_empty()) {
        ignore(&mut around, root.ignored.iter().map(String::as_str));
    }
    let is_text = blocks.iter().all(|block| block.name.is_none()) && root.is_none_or(|root| root.takes_text(purpose));
    for block in blocks {
        if block.name.is_none() && !is_text {
            around.inner_content.extend(block.inner_content);
        } else {
            around.inner_content.push(None);
            around.inner_blocks.push(block);
        }
    }
    around
}

/// Blocks being put in.
struct Run<'h> {
    hooks: &'h Hooks,
    purpose: Purpose,
    root: Option<&'h str>,
    /// Blocks that may stand only once, and do.
    used: HashSet<String>,
}

impl Run<'_> {
    /// Puts blocks by those inside this one. The content's depth is bounded where it is read.
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
            let mut made = if index == 0 { self.at(parent, Place::First) } else { Vec::new() };
            made.extend(self.at(&mut block, Place::Before));
            let mut after = self.at(&mut block, Place::After);
            if index + 1 == count {
                after.extend(self.at(parent, Place::Last));
            }
            self.inside(&mut block);
            made.push(block);
            made.extend(after);
            parent.inner_content.extend(made.iter().map(|_| None));
            parent.inner_blocks.extend(made);
        }
    }

    /// The blocks that are put at a place by this one, which remembers them where it is to.
    fn at(&mut self, anchor: &mut Block<'_>, place: Place) -> Vec<Block<'static>> {
        let name = anchor.name.as_deref().unwrap_or_default();
        let Some(places) = self.hooks.wanted.get(name) else { return Vec::new() };
        // Beside what content stands in nothing can be put; nor beside the like of it inside.
        let is_beside = matches!(place, Place::Before | Place::After);
        if is_beside && self.purpose != Purpose::Store && self.root == Some(name) {
            return Vec::new();
        }
        let wanted = places[place as usize].iter().map(String::as_str);
        let names: Vec<&str> =
            wanted.filter(|name| !self.hooks.single.contains(*name) || self.used.insert((*name).to_owned())).collect();
        let known = ignored(anchor);
        let put =
            names.iter().filter(|name| self.purpose != Purpose::Store && known.iter().all(|known| known != *name));
        let made = put.map(|name| Block { name: Some((*name).to_owned().into()), ..Block::default() }).collect();
        // What stands once is seen where it stands.
        let stays = |name: &&str| self.purpose == Purpose::Store || !self.hooks.single.contains(*name);
        if self.purpose != Purpose::Show {
            ignore(anchor, names.into_iter().filter(stays));
        }
        made
    }
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(|value| Some(value.as_str()?.to_owned())).collect()
}

/// Names of the blocks that are not put by this one.
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
    use crate::blocks::BlockType;

    /// Types that want to stand at each place of some block, named after it.
    fn hooks(rows: &[(&str, &str, &str)]) -> Hooks {
        let mut types = BlockTypes::default();
        for (name, anchor, place) in rows {
            let file =
                json!({"name": name, "blockHooks": {*anchor: place}, "supports": {"multiple": *name != "x/one"}});
            types.add_found(BlockType::from_json(&file).expect("it has a name"));
        }
        types.hooks().clone()
    }

    fn all() -> Hooks {
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

    /// What a recorded site gave to editors, showed and stored.
    #[test]
    fn blocks_are_put_where_they_want_to_stand() {
        let hooks = all();
        let heading = format!("<!-- wp:x/b /--><!-- wp:heading {MARK} -->h<!-- /wp:heading --><!-- wp:x/a /-->");
        let kept = format!("<!-- wp:heading {MARK} -->h<!-- /wp:heading -->");
        let plain = "<!-- wp:heading -->h<!-- /wp:heading -->";
        let group = |inside: &str| format!("<!-- wp:group --><div>{inside}</div><!-- /wp:group -->");
        let marked = r#"<!-- wp:group {"metadata":{"ignoredHookedBlocks":["x/f","x/l"]}} -->"#;
        let (first, last) = ("<!-- wp:x/cf /-->", "<!-- wp:x/cl /-->");
        let rows: [(&str, String, String); 9] = [
            (plain, format!("{first}{heading}{last}"), kept.clone()),
            (&kept, format!("{first}{kept}{last}"), kept.clone()),
            (
                &group(plain),
                format!("{first}{marked}<div><!-- wp:x/f /-->{heading}<!-- wp:x/l /--></div><!-- /wp:group -->{last}"),
                format!("{marked}<div>{kept}</div><!-- /wp:group -->"),
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
        let root = Root::of("post", "");
        for (content, edited, stored) in rows {
            assert_eq!(hooks.edited(content, Some(&root)), edited);
            assert_eq!(hooks.kept(content, Some(&root)).content, stored);
            let shown = serialize_blocks(&hooks.shown(parse(content), Some(&root)));
            let bare = |text: &str| {
                let mut text = text.replace(&format!(" {MARK}"), "");
                text = text.replace(r#" {"metadata":{"ignoredHookedBlocks":["x/f","x/l"]}}"#, "");
                if text.is_empty() { format!("{first}{last}") } else { text }
            };
            assert_eq!(bare(&shown), bare(&edited), "{content}");
        }
    }

    #[test]
    fn what_was_taken_away_stays_away() {
        let hooks = all();
        let kept = hooks.kept("<!-- wp:p/q /-->", Some(&Root::of("page", "")));
        assert_eq!(kept.names, ["x/cb", "x/cf", "x/cl"]);
        let root = Root::of("page", &json!(kept.names).to_string());
        assert_eq!(hooks.edited("text", Some(&root)), "text");
        let text_alone = hooks.kept("text", Some(&Root::of("post", r#"["x\/y"]"#)));
        assert_eq!(text_alone.names, ["x/y", "x/cb"]);
        assert!(hooks.kept("text", Some(&Root::of("wp_block", ""))).names.is_empty());
        let hooks = self::hooks(&[("x/p", "core/template-part", "firstChild")]);
        assert_eq!(hooks.edited("text", Some(&Root::of("wp_template_part", ""))), "text");
    }

    /// Without hooks too; what cannot be said otherwise, or could not be told apart from text, stays.
    #[test]
    fn blocks_are_spelled_in_one_way() {
        let hooks = Hooks::default();
        for (content, spelled) in [
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
            assert_eq!(hooks.edited(content, None), spelled);
            assert_eq!(hooks.kept(content, None), Kept { content: spelled.to_owned(), names: Vec::new() });
        }
    }
}
