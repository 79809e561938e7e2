//! Blocks to HTML.
//!
//! Static blocks print their stored markup with the classes that the block type, its element colours and its layout add.
//! Blocks whose markup comes from code plug in through [`DynamicBlocks`]; none is known here.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use serde_json::{Map, Value};

use super::{
    Block, BlockType, BlockTypes, Chunk, FluidSizes, MAX_DEPTH, Root, bindings, duotone, features, layout, parse,
    states, stored, styles::Styles,
};
use crate::tags::{self, Changes, Tag, Tags};

/// Blocks whose HTML is made when a page is.
pub trait DynamicBlocks {
    /// The HTML of a block; nothing for one that is not dynamic, which then prints `content`.
    ///
    /// `content` is the stored markup with inner blocks rendered. The renderer serves to render further blocks, such as those of
    /// a template part.
    fn render(&self, renderer: &Renderer<'_>, block: &Block<'_>, content: &str) -> Option<String>;

    /// Whether a block renders the blocks inside by itself; `content` is empty then.
    fn renders_inner_blocks(&self, _name: &str) -> bool {
        false
    }

    /// The types that are known; blocks of others print what is stored.
    fn types(&self) -> &BlockTypes {
        BlockTypes::core()
    }

    /// Attributes of a block whose values come from elsewhere.
    fn bound(&self, _block: &Block<'_>) -> Map<String, Value> {
        Map::new()
    }

    /// The blocks inside this one are rendered next, until [`Self::leave`].
    fn enter(&self, _block: &Block<'_>) {}

    /// The blocks inside this one are rendered.
    fn leave(&self, _block: &Block<'_>) {}
}

/// No dynamic blocks: every block prints what is stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct StaticOnly;

impl DynamicBlocks for StaticOnly {
    fn render(&self, _: &Renderer<'_>, _: &Block<'_>, _: &str) -> Option<String> {
        None
    }
}

/// What of a theme's settings shows in the classes of blocks.
#[derive(Debug, Clone, Default)]
pub struct Theme {
    /// The gap between blocks (`styles.spacing.blockGap`), for themes that let blocks set it (`settings.spacing.blockGap`).
    pub block_gap: Option<String>,
    /// Gaps of particular blocks (`styles.blocks.NAME.spacing.blockGap`), by full block name.
    pub block_gaps: BTreeMap<String, String>,
    /// Padding of the page applies to full-width blocks (`settings.useRootPaddingAwareAlignments`).
    pub root_padding: bool,
    /// Styles that the theme adds to blocks, by full block name: `annotation` for the class `is-style-annotation`.
    pub style_variations: BTreeMap<String, Vec<String>>,
    /// How sizes of letters grow with the window.
    pub fluid: FluidSizes,
    /// Places that blocks can have on the page (`settings.position`): `sticky`, `fixed`.
    pub positions: Vec<String>,
    /// The duotones that can be chosen.
    pub duotones: Vec<Duotone>,
}

/// Colours in which pictures can be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Duotone {
    /// Its name.
    pub slug: String,
    /// The colours, from that of black to that of white.
    pub colors: Vec<String>,
}

/// Styles that every theme has, by full block name.
const CORE_STYLES: [(&str, &str); 2] = [("core/button", "outline"), ("core/site-logo", "rounded")];

impl Theme {
    /// The gap of a block by the theme.
    pub(super) fn gap_of(&self, name: &str) -> Option<&str> {
        self.block_gaps.get(name).or(self.block_gap.as_ref()).map(String::as_str)
    }

    /// The style that a block chose by its class, if it is one of the theme's.
    fn variation_of<'b>(&self, name: &str, block: &'b Block<'_>) -> Option<&'b str> {
        let known = self.style_variations.get(name).map(Vec::as_slice).unwrap_or_default();
        let chosen = block["className"].as_str()?.split_ascii_whitespace();
        chosen
            .filter_map(|class| class.strip_prefix("is-style-"))
            .find(|style| known.iter().any(|known| known == style) || CORE_STYLES.contains(&(name, style)))
    }
}

/// Renders blocks of one page; numbers given to blocks run on over its calls, and over those of its clones.
#[derive(Clone)]
pub struct Renderer<'r> {
    theme: &'r Theme,
    dynamic: &'r dyn DynamicBlocks,
    page: Rc<Page>,
}

/// What goes on over the blocks of a page.
#[derive(Default)]
struct Page {
    n_variations: Cell<u64>,
    n_elements: Cell<u64>,
    n_galleries: Cell<u64>,
    n_duotones: Cell<u64>,
    n_ids: Cell<u64>,
    /// Rules that go with the classes, where they are wanted.
    styles: RefCell<Option<Styles>>,
    depth: Cell<usize>,
    /// Contents of posts that are being rendered, one inside the other.
    contents: Cell<usize>,
    /// Classes of the block being rendered that stand beside its own choice.
    chosen: RefCell<Vec<String>>,
    /// That of how it sits in its container.
    child: RefCell<Option<String>>,
}

/// Renders blocks under a theme without settings of its own. Source: `do_blocks`.
pub fn render(blocks: &[Block<'_>], dynamic: &dyn DynamicBlocks) -> String {
    Renderer::new(&Theme::default(), dynamic).render(blocks)
}

impl<'r> Renderer<'r> {
    /// A renderer for one page.
    pub fn new(theme: &'r Theme, dynamic: &'r dyn DynamicBlocks) -> Self {
        Renderer { theme, dynamic, page: Rc::default() }
    }

    /// Collects the rules that go with the classes of blocks, for a page.
    pub fn collecting_styles(self) -> Self {
        self.page.styles.replace(Some(Styles::default()));
        self
    }

    /// The rules that were collected so far. They cannot end the element that they stand in.
    pub fn styles(&self) -> String {
        self.page.styles.borrow().as_ref().map_or_else(String::new, |styles| styles.css().to_owned())
    }

    /// The filters that the rules name, as an element of the page; nothing when they name none.
    pub fn filters(&self) -> String {
        self.page.styles.borrow().as_ref().map_or_else(String::new, Styles::filters)
    }

    /// What of the theme shows in blocks.
    pub fn theme(&self) -> &'r Theme {
        self.theme
    }

    /// Reads content into blocks, with those that want to stand in it.
    pub fn parse<'c>(&self, content: &'c str, root: Option<&Root>) -> Vec<Block<'c>> {
        self.dynamic.types().hooks().shown(parse(content), root)
    }

    /// Renders the content of a post, whose images are told later when to load.
    pub fn content(&self, blocks: &[Block<'_>]) -> String {
        let contents = &self.page.contents;
        contents.set(contents.get() + 1);
        let html = self.render(blocks);
        contents.set(contents.get() - 1);
        html
    }

    /// Whether the content of a post is being rendered.
    pub fn is_content(&self) -> bool {
        self.page.contents.get() > 0
    }

    /// The next number for ids of elements.
    pub fn next_id(&self) -> u64 {
        next(&self.page.n_ids)
    }

    /// The number that was given last.
    pub fn last_id(&self) -> u64 {
        self.page.n_ids.get()
    }

    /// For code of dynamic blocks, when it begins: classes that go with those which the block chose itself.
    pub fn chosen_classes(&self) -> Vec<String> {
        self.page.chosen.borrow().clone()
    }

    /// For code of dynamic blocks, when it begins: the class that says how the block sits in its container.
    pub fn child_class(&self) -> Option<String> {
        self.page.child.borrow().clone()
    }

    /// For code of dynamic blocks that render what is inside once for each item: an item's HTML, which the reference
    /// dresses as a block with the attributes of the whole. `chosen` and `child` are the classes as the code began.
    pub fn item(&self, html: String, block: &Block<'_>, chosen: &[String], child: Option<&String>) -> String {
        let html = if svc_php::cast::truthy(&block["fitText"]) { stored::fit_text(html) } else { html };
        let is_css = |class: &&String| class.starts_with(features::CSS_CLASS);
        let mut classes: Vec<String> = chosen.iter().filter(|class| !is_css(class)).chain(child).cloned().collect();
        for css in chosen.iter().filter(is_css) {
            classes.extend(["has-custom-css".to_owned(), css.clone()]);
        }
        add_to(html, |_, _| true, &classes)
    }

    /// The HTML of blocks, one after the other.
    ///
    /// Dynamic blocks may call this again; beyond the depth of [`MAX_DEPTH`] there is nothing more.
    pub fn render(&self, blocks: &[Block<'_>]) -> String {
        blocks.iter().map(|block| self.block(block, None)).collect()
    }

    /// The HTML of one block.
    pub fn render_block(&self, block: &Block<'_>) -> String {
        self.block(block, None)
    }

    fn block(&self, block: &Block<'_>, parent: Option<&Block<'_>>) -> String {
        let depth = self.page.depth.get();
        // Twice, so that what a dynamic block brings in may nest as deeply as content.
        if depth >= 2 * MAX_DEPTH {
            return String::new();
        }
        self.page.depth.set(depth + 1);
        let html = self.block_within(block, parent);
        self.page.depth.set(depth);
        html
    }

    fn block_within(&self, block: &Block<'_>, parent: Option<&Block<'_>>) -> String {
        let name = block.name.as_deref().unwrap_or_default();
        let block_type = self.dynamic.types().get(name).map(AsRef::as_ref);
        let bound = if block["metadata"]["bindings"].is_object() { self.dynamic.bound(block) } else { Map::new() };
        let mut with_bound;
        let block = if bound.is_empty() {
            block
        } else {
            with_bound = block.clone();
            with_bound.attrs.extend(bound.clone());
            &with_bound
        };
        // Numbers are given on the way in, so a container's comes before those of the blocks inside.
        let variation = self.theme.variation_of(name, block);
        let variation = variation.map(|style| format!("is-style-{style}--{}", next(&self.page.n_variations)));
        let elements =
            has_element_colors(block, block_type).then(|| format!("wp-elements-{}", next(&self.page.n_elements)));
        let mut content = String::new();
        if !self.dynamic.renders_inner_blocks(name) {
            self.dynamic.enter(block);
            for chunk in block.chunks() {
                match chunk {
                    Chunk::Text(text) => content.push_str(text),
                    Chunk::Block(inner) => content.push_str(&self.block(inner, Some(block))),
                }
            }
            self.dynamic.leave(block);
        }
        if let Some(block_type) = block_type {
            content = bound.iter().fold(content, |html, (name, value)| bindings::put(html, block_type, name, value));
        }
        let chosen: Vec<String> = [&variation, &elements].into_iter().flatten().cloned().collect();
        let css = features::css_class(block, block_type, parent, &chosen);
        self.page.chosen.replace(chosen.iter().chain(&css).cloned().collect());
        let child = layout::child_class(block, parent).filter(|_| block_type.is_some());
        self.page.child.replace(child.clone());
        let mut html = match self.dynamic.render(self, block, &content) {
            Some(html) => html,
            None => {
                let around =
                    stored::Around { block, parent, id: &|| self.next_id(), gallery: &|| next(&self.page.n_galleries) };
                stored::mend(name, content, &around)
            }
        };
        if svc_php::cast::truthy(&block["fitText"]) {
            html = stored::fit_text(html);
        }
        let mut styles = self.page.styles.borrow_mut();
        if let Some(styles) = &mut *styles {
            let given = |block: &'_ Block<'_>| block["layout"].as_object().cloned();
            if let (Some(class), Some(layout)) = (&child, block["style"]["layout"].as_object()) {
                styles.child(class, layout, parent.and_then(given).as_ref());
            }
            if let Some(class) = &elements {
                styles.elements(class, &block["style"]["elements"]);
            }
            if let (Some(class), Some(text)) = (&css, block["style"]["css"].as_str()) {
                styles.own(class, text);
            }
        }
        let first: Vec<String> = elements.into_iter().chain(child).chain(variation).collect();
        html = add_to(html, |_, _| true, &first);
        let classes = layout::container_classes(block, block_type, self.theme, styles.as_mut());
        let wrapper = layout::wrapper_class(block);
        let is_wrapper = |html: &str, tag: &Tag| {
            wrapper.is_none_or(|wrapper| tag.value(html, "class").is_some_and(|class| class.contains(wrapper)))
        };
        html = add_to(html, is_wrapper, &classes);
        if let Some(states) = states::of(block, block_type) {
            if let Some(styles) = &mut *styles {
                styles.states(&states.css);
            }
            html = add_to(html, |_, _| true, &[states.class]);
        }
        if let Some(block_type) = block_type {
            html = features::ratio(html, block, block_type);
            html = features::position(html, block, block_type, self.theme, styles.as_mut(), || self.next_id());
            html = features::background(html, block, block_type);
            let id = || next(&self.page.n_duotones);
            html = duotone::add(html, block, block_type, self.theme, styles.as_mut(), id);
            html = features::visibility(html, block, block_type, styles.as_mut());
        }
        if let Some(css) = &css {
            html = features::add(html, "", &["has-custom-css", css]);
        }
        match name {
            "core/paragraph" => add_to(html, |html, tag| tag.is(html, "p"), &["wp-block-paragraph".to_owned()]),
            // What is folded away need not be fetched first.
            "core/details" if block["showContent"] != true => tags::set_image_priority(&html, "low"),
            "core/accordion-item" if block["openByDefault"] != true => tags::set_image_priority(&html, "low"),
            _ => html,
        }
    }
}

fn next(counter: &Cell<u64>) -> u64 {
    counter.set(counter.get() + 1);
    counter.get()
}

/// Adds classes to the first tag of a kind.
fn add_to(html: String, wanted: impl Fn(&str, &Tag) -> bool, classes: &[String]) -> String {
    if classes.is_empty() {
        return html;
    }
    let Some(tag) = Tags::new(&html).find(|tag| wanted(&html, tag)) else { return html };
    let mut changes = Changes::of(&html);
    changes.add_classes(&tag, classes.iter().map(String::as_str));
    changes.apply()
}

/// Whether a block sets colours of links, buttons or headings inside.
fn has_element_colors(block: &Block<'_>, block_type: Option<&BlockType>) -> bool {
    const FULL: &[&[&str]] = &[&["color", "text"], &["color", "background"], &["color", "gradient"]];
    const LINK: &[&[&str]] = &[&["color", "text"], &[":hover", "color", "text"]];
    // Some put colours on elements of their own choice.
    if block_type.is_none_or(|t| t.shows_itself("color", "link")) {
        return false;
    }
    let Some(elements) = block.attrs.get("style").and_then(|style| style.get("elements")) else { return false };
    let set = |element: &str, paths: &[&[&str]]| {
        paths
            .iter()
            .any(|path| path.iter().try_fold(&elements[element], |at, step| at.get(step)).is_some_and(|v| !v.is_null()))
    };
    set("link", LINK)
        || ["button", "heading", "h1", "h2", "h3", "h4", "h5", "h6"].into_iter().any(|name| set(name, FULL))
}

/// Content for an excerpt: text, and the blocks that read as running text; columns and groups for what they hold.
///
/// Source: `excerpt_remove_blocks`.
pub fn excerpt_remove_blocks(content: &str, renderer: &Renderer<'_>) -> String {
    if !super::has_blocks(content) {
        return content.to_owned();
    }
    let mut out = String::new();
    for block in super::parse(content) {
        if !is_excerpt_text(&block) && !is_excerpt_wrapper(&block) {
            continue;
        }
        if block.inner_blocks.is_empty() {
            out.push_str(&renderer.render_block(&block));
        } else if is_excerpt_wrapper(&block) {
            excerpt_inner(&block, renderer, &mut out);
        } else if block.inner_blocks.iter().all(|inner| is_excerpt_text(inner) && inner.inner_blocks.is_empty()) {
            out.push_str(&renderer.render_block(&block));
        }
    }
    out
}

/// The text blocks inside a wrapper. Nesting is bounded by [`MAX_DEPTH`].
fn excerpt_inner(block: &Block<'_>, renderer: &Renderer<'_>, out: &mut String) {
    for inner in &block.inner_blocks {
        if !is_excerpt_text(inner) && !is_excerpt_wrapper(inner) {
            continue;
        }
        if inner.inner_blocks.is_empty() {
            out.push_str(&renderer.render_block(inner));
        } else {
            excerpt_inner(inner, renderer, out);
        }
    }
}

fn is_excerpt_text(block: &Block<'_>) -> bool {
    const TEXT: [&str; 10] = [
        "core/freeform",
        "core/heading",
        "core/html",
        "core/list",
        "core/media-text",
        "core/paragraph",
        "core/preformatted",
        "core/pullquote",
        "core/quote",
        "core/table",
    ];
    block.name.as_deref().is_none_or(|name| TEXT.contains(&name) || name == "core/verse")
}

fn is_excerpt_wrapper(block: &Block<'_>) -> bool {
    block.name.as_deref().is_some_and(|name| matches!(name, "core/columns" | "core/column" | "core/group"))
}

impl std::fmt::Debug for Renderer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renderer").field("theme", self.theme).field("depth", &self.page.depth).finish_non_exhaustive()
    }
}

/// The attribute value of a block, for code of dynamic blocks: null when it is not set.
impl<'a> std::ops::Index<&str> for Block<'a> {
    type Output = Value;

    fn index(&self, name: &str) -> &Value {
        self.attrs.get(name).unwrap_or(&Value::Null)
    }
}
