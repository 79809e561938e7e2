//! The core's dynamic blocks: which code makes which block, and what that code is told.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashSet},
    rc::Rc,
};

use serde_json::{Map, Value};
use svc_content::{
    RenderContext,
    blocks::{Block, BlockType, BlockTypes, DynamicBlocks, Renderer, Root},
    display::{self, TextBlocks, standard_shortcodes},
};
use svc_model::{CommentId, PostId, TermId};

use crate::{
    attributes,
    data::{BlockData, ImageRequest, Loading, PostView},
    supports,
};

/// Dynamic blocks that one response may render; those beyond show nothing.
const MAX_BLOCKS: u32 = 20_000;
/// Bytes of HTML that the dynamic blocks of one response may render, in all; those beyond show nothing.
pub const MAX_BYTES: usize = 8 << 20;
/// Contents of other posts, patterns and parts that may stand in one another.
const MAX_CONTENTS: usize = 8;

/// Makes the HTML of a block.
pub(crate) type RenderFn = fn(&Call<'_>) -> String;

/// What blocks around tell those inside: names and values.
type Context = Vec<(String, Value)>;

/// The dynamic blocks of a site, for one response.
pub struct CoreBlocks<'d> {
    pub(crate) data: &'d dyn BlockData,
    types: &'d BlockTypes,
    context: RefCell<Vec<Context>>,
    numbers: RefCell<BTreeMap<&'static str, u64>>,
    /// Contents being rendered, so that none stands in itself.
    open: RefCell<HashSet<String>>,
    left: Cell<u32>,
    /// Bytes that may still be rendered.
    bytes_left: Cell<usize>,
}

impl<'d> CoreBlocks<'d> {
    /// The blocks of these types over this data.
    pub fn new(types: &'d BlockTypes, data: &'d dyn BlockData) -> Self {
        CoreBlocks {
            data,
            types,
            context: RefCell::default(),
            numbers: RefCell::default(),
            open: RefCell::default(),
            left: Cell::new(MAX_BLOCKS),
            bytes_left: Cell::new(MAX_BYTES),
        }
    }

    /// With another bound than [`MAX_BYTES`].
    #[must_use]
    pub fn at_most(self, bytes: usize) -> Self {
        self.bytes_left.set(bytes);
        self
    }

    /// Whether blocks were left out because the response would have become too large.
    pub fn is_cut(&self) -> bool {
        self.bytes_left.get() == 0
    }

    /// Runs what makes HTML and counts its bytes once, without the `given` ones that were counted before; nothing when no
    /// more may be rendered.
    fn counted(&self, given: usize, run: impl FnOnce() -> String) -> String {
        let before = self.bytes_left.get();
        if before == 0 {
            return String::new();
        }
        let html = run();
        let inside = before - self.bytes_left.get();
        let own = html.len().saturating_sub(given).saturating_sub(inside);
        match self.bytes_left.get().checked_sub(own) {
            Some(left) => {
                self.bytes_left.set(left);
                html
            }
            None => {
                self.bytes_left.set(0);
                String::new()
            }
        }
    }

    /// Runs with the post that the blocks are of.
    pub fn within_post<T>(&self, post: PostId, post_type: &str, run: impl FnOnce() -> T) -> T {
        self.within([("postId", post.0.into()), ("postType", post_type.into())], run)
    }

    /// Runs with the term whose archive the page shows.
    pub fn within_term<T>(&self, term: TermId, taxonomy: &str, run: impl FnOnce() -> T) -> T {
        self.within([("termId", term.0.into()), ("taxonomy", taxonomy.into())], run)
    }

    /// Runs with values that the blocks inside see.
    pub(crate) fn within<T, const N: usize>(&self, values: [(&str, Value); N], run: impl FnOnce() -> T) -> T {
        self.context.borrow_mut().push(values.map(|(name, value)| (name.to_owned(), value)).into());
        let made = run();
        self.context.borrow_mut().pop();
        made
    }

    /// The number of the post that blocks are of here.
    pub(crate) fn post_id(&self) -> Option<PostId> {
        let id = svc_php::cast::to_int(&self.around("postId"));
        (id > 0).then_some(PostId(id))
    }

    /// What the nearest block around says under a name.
    pub(crate) fn around(&self, name: &str) -> Value {
        let context = self.context.borrow();
        let mut found = context.iter().rev().flat_map(|values| values.iter().rev());
        found.find(|(known, _)| known == name).map_or(Value::Null, |(_, value)| value.clone())
    }

    /// Runs unless it runs already under this name, or too many others do.
    fn once(&self, name: String, run: impl FnOnce() -> String) -> String {
        let is_new = {
            let mut open = self.open.borrow_mut();
            open.len() < MAX_CONTENTS && open.insert(name.clone())
        };
        if !is_new {
            return String::new();
        }
        let made = run();
        self.open.borrow_mut().remove(&name);
        made
    }

    /// The next number of this kind, as ids of elements have it.
    fn number(&self, kind: &'static str) -> u64 {
        let mut numbers = self.numbers.borrow_mut();
        let number = numbers.entry(kind).or_default();
        *number += 1;
        *number
    }
}

impl std::fmt::Debug for CoreBlocks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CoreBlocks").field("left", &self.left).finish_non_exhaustive()
    }
}

impl DynamicBlocks for CoreBlocks<'_> {
    fn render(&self, renderer: &Renderer<'_>, block: &Block<'_>, content: &str) -> Option<String> {
        let name = block.name.as_deref()?;
        let block_type = self.types.get(name)?;
        let make = crate::RENDERERS.iter().find(|(known, _)| *known == name).map(|(_, make)| *make);
        if make.is_none() && block_type.render.is_none() {
            return None;
        }
        let Some(left) = self.left.get().checked_sub(1) else { return Some(String::new()) };
        self.left.set(left);
        let attrs = attributes::completed(block_type, &block.attrs);
        if let Some(render) = &block_type.render {
            return Some(self.counted(content.len(), || render(&attrs, content)));
        }
        let (chosen, child) = (renderer.chosen_classes(), renderer.child_class());
        let call = Call { blocks: self, renderer, block, block_type, attrs, content, chosen, child };
        make.map(|make| self.counted(content.len(), || make(&call)))
    }

    fn renders_inner_blocks(&self, name: &str) -> bool {
        crate::WITH_OWN_INSIDE.contains(&name)
    }

    fn types(&self) -> &BlockTypes {
        self.types
    }

    fn bound(&self, block: &Block<'_>) -> Map<String, Value> {
        let bound = crate::bindings::bound(self, block);
        let text = |value: &Value| value.as_str().map_or(0, str::len);
        let bytes: usize = bound.values().map(text).sum();
        let left = self.bytes_left.get().saturating_sub(bytes);
        self.bytes_left.set(left);
        if left == 0 { Map::new() } else { bound }
    }

    fn enter(&self, block: &Block<'_>) {
        let mut values = Vec::new();
        if let Some(block_type) = block.name.as_deref().and_then(|name| self.types.get(name))
            && !block_type.provides_context.is_empty()
        {
            let attrs = attributes::completed(block_type, &block.attrs);
            let given = block_type.provides_context.iter();
            values = given.filter_map(|(name, of)| Some((name.clone(), attrs.get(of)?.clone()))).collect();
        }
        self.context.borrow_mut().push(values);
    }

    fn leave(&self, _: &Block<'_>) {
        self.context.borrow_mut().pop();
    }
}

/// What the code of a block is told.
pub(crate) struct Call<'c> {
    pub(crate) blocks: &'c CoreBlocks<'c>,
    pub(crate) renderer: &'c Renderer<'c>,
    pub(crate) block: &'c Block<'c>,
    pub(crate) block_type: &'c BlockType,
    pub(crate) attrs: Map<String, Value>,
    /// The stored markup with inner blocks rendered.
    pub(crate) content: &'c str,
    chosen: Vec<String>,
    child: Option<String>,
}

impl<'c> Call<'c> {
    pub(crate) fn data(&self) -> &'c dyn BlockData {
        self.blocks.data
    }

    /// An attribute; null when it is not set.
    pub(crate) fn attr(&self, name: &str) -> &Value {
        self.attrs.get(name).unwrap_or(&Value::Null)
    }

    /// An attribute that is a text; empty when it is not set.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.attr(name).as_str().unwrap_or_default()
    }

    /// An attribute that is on.
    pub(crate) fn is(&self, name: &str) -> bool {
        svc_php::cast::truthy(self.attr(name))
    }

    /// An attribute that is a whole number.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        let value = self.attr(name);
        (!value.is_null()).then(|| svc_php::cast::to_int(value))
    }

    /// What a block around says under this name.
    pub(crate) fn around(&self, name: &str) -> Value {
        self.blocks.around(name)
    }

    /// The number of the post that the block is of.
    pub(crate) fn post_id(&self) -> Option<PostId> {
        self.blocks.post_id()
    }

    /// The post that the block is of, when the reader may see it.
    pub(crate) fn post(&self) -> Option<Rc<PostView>> {
        self.data().post(self.post_id()?)
    }

    /// The number of the comment that the block is of.
    pub(crate) fn comment_id(&self) -> Option<CommentId> {
        let id = svc_php::cast::to_int(&self.around("commentId"));
        (id > 0).then_some(CommentId(id))
    }

    /// The next number for ids of elements, whatever their kind.
    pub(crate) fn next_id(&self) -> u64 {
        self.renderer.next_id()
    }

    /// The next number for ids of this kind.
    pub(crate) fn next(&self, kind: &'static str) -> u64 {
        self.blocks.number(kind)
    }

    /// What supports show on the outermost element.
    pub(crate) fn look(&self) -> supports::Look {
        supports::look(self.block_type, &self.attrs, &self.chosen, &self.renderer.theme().fluid)
    }

    /// The attributes of the outermost element, with these of the block's own.
    pub(crate) fn wrapper(&self, own: &[(&str, &str)]) -> String {
        supports::attributes(&self.look(), &self.attrs, self.block_type, own)
    }

    /// [`Self::wrapper`] for another look.
    pub(crate) fn wrapper_of(&self, look: &supports::Look, own: &[(&str, &str)]) -> String {
        supports::attributes(look, &self.attrs, self.block_type, own)
    }

    /// [`Self::wrapper`] with classes of the block's own, empty ones left out.
    pub(crate) fn wrapper_with(&self, classes: &[&str]) -> String {
        let classes: Vec<&str> = classes.iter().copied().filter(|class| !class.is_empty()).collect();
        self.wrapper(&[("class", &classes.join(" "))])
    }

    /// [`Self::wrapper_with`] one class, without id and label: for an element inside the outermost one.
    pub(crate) fn wrapper_without_id(&self, class: &str) -> String {
        let mut attrs = self.attrs.clone();
        attrs.retain(|name, _| name != "anchor" && name != "ariaLabel");
        supports::attributes(&self.look(), &attrs, self.block_type, &[("class", class)])
    }

    /// The class for text that is aligned by an attribute of the block's own.
    pub(crate) fn align_class(&self) -> String {
        match self.text("textAlign") {
            "" => String::new(),
            align => format!("has-text-align-{align}"),
        }
    }

    /// The class for links that have a colour of their own.
    pub(crate) fn link_class(&self) -> &'static str {
        let color = &self.attr("style")["elements"]["link"]["color"]["text"];
        if color.is_null() { "" } else { "has-link-color" }
    }

    /// The tag of an attachment; in the content of a post it is told later when to load.
    pub(crate) fn image(&self, id: PostId, wish: ImageRequest) -> Option<String> {
        let loading = if self.renderer.is_content() { Loading::Content } else { wish.loading };
        self.data().image(id, &ImageRequest { loading, ..wish })
    }

    /// The blocks inside, rendered now for an item of a list.
    pub(crate) fn item(&self) -> String {
        self.blocks.counted(0, || {
            let mut out = String::new();
            for chunk in self.block.chunks() {
                match chunk {
                    svc_content::blocks::Chunk::Text(text) => out.push_str(text),
                    svc_content::blocks::Chunk::Block(block) => out.push_str(&self.renderer.render_block(block)),
                }
            }
            self.renderer.item(out, self.block, &self.chosen, self.child.as_ref())
        })
    }

    /// Runs with what this block tells those inside, and these values.
    pub(crate) fn within<T, const N: usize>(&self, values: [(&str, Value); N], run: impl FnOnce() -> T) -> T {
        self.blocks.enter(self.block);
        let made = self.blocks.within(values, run);
        self.blocks.leave(self.block);
        made
    }

    /// Content that stands elsewhere, as that of a post; nothing when it stands in itself.
    pub(crate) fn content_of(&self, name: String, run: impl FnOnce(&mut RenderContext<'_>) -> String) -> String {
        let facts = self.data().facts();
        self.blocks.once(name, || {
            let mut context = RenderContext::new(self.renderer.clone(), standard_shortcodes());
            context.smilies = facts.smilies;
            context.smilies_url = &facts.smilies_url;
            context.own_host = &facts.own_host;
            context.images = self.data().images();
            run(&mut context)
        })
    }

    /// The content of a post as it is shown.
    pub(crate) fn post_content(&self, post: &PostView) -> String {
        self.content_of(format!("post {}", post.post.id), |context| {
            context.page.post.set(u64::try_from(post.post.id.0).unwrap_or_default());
            context.root = Some(root_of(post));
            let run = || display::render_content(&post.post.content, context);
            self.blocks.within_post(post.post.id, &post.post.post_type, run)
        })
    }

    /// Blocks that stand elsewhere, rendered without the rules of content.
    pub(crate) fn blocks_of(&self, name: String, content: &str, root: Option<&Root>) -> String {
        self.content_of(name, |context| context.renderer.render(&context.renderer.parse(content, root)))
    }
}

/// What the content of a post stands in.
pub(crate) fn root_of(post: &PostView) -> Root {
    Root::of(&post.post.post_type, &post.ignored_hooks)
}

/// The blocks as renderers take them: with those that need nothing but their own text.
pub fn with_text<'b>(blocks: &'b CoreBlocks<'_>) -> TextBlocks<'b> {
    TextBlocks(blocks)
}
