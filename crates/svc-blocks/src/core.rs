//! Renders the dynamic core blocks: the context of blocks, limits, and the arguments of block renderers.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashSet},
    rc::Rc,
};

use serde_json::{Map, Value};
use svc_content::{
    RenderContext,
    block_render::{DynamicBlocks, Renderer},
    blocks::{Block, BlockType, BlockTypes, ContentRoot},
    display::{self, TextBlocks, standard_shortcodes},
};
use svc_model::{CommentId, PostId, TermId};
use svc_text::Html;

use crate::{
    data::{BlockData, ImageLoading, ImageRequest, PostView},
    html::stored,
    supports,
};

/// Maximum number of dynamic blocks in a response. Further ones are empty.
const MAX_BLOCKS: u32 = 20_000;
/// Maximum size of all dynamic blocks in a response, in bytes of HTML. Further blocks are empty.
pub const MAX_BYTES: usize = 8 << 20;
/// Maximum depth of posts, patterns and template parts that are nested in each other.
const MAX_NESTING: usize = 8;

/// Block context: names and values.
type Context = Vec<(String, Value)>;

/// Renderer of the dynamic core blocks of a site, for a single response.
pub struct CoreBlocks<'d> {
    pub(crate) data: &'d dyn BlockData,
    pub(crate) types: &'d BlockTypes,
    pub(crate) context: RefCell<Vec<Context>>,
    numbers: RefCell<BTreeMap<&'static str, u64>>,
    /// Whether HTML was rendered that depends on more than its own blocks and their data.
    is_shared: Cell<bool>,
    /// Posts, patterns and template parts that are being rendered; prevents recursion.
    in_progress: RefCell<HashSet<String>>,
    pub(crate) blocks_left: Cell<u32>,
    /// How many more bytes may be rendered.
    pub(crate) bytes_left: Cell<usize>,
}

impl<'d> CoreBlocks<'d> {
    /// Creates a renderer for the blocks of `types` with the given data.
    pub fn new(types: &'d BlockTypes, data: &'d dyn BlockData) -> Self {
        CoreBlocks {
            data,
            types,
            context: RefCell::default(),
            numbers: RefCell::default(),
            is_shared: Cell::new(false),
            in_progress: RefCell::default(),
            blocks_left: Cell::new(MAX_BLOCKS),
            bytes_left: Cell::new(MAX_BYTES),
        }
    }

    /// Sets another limit than [`MAX_BYTES`].
    #[must_use]
    pub fn with_byte_limit(self, bytes: usize) -> Self {
        self.bytes_left.set(bytes);
        self
    }

    /// Whether blocks were omitted because the response exceeded the size limit.
    pub fn is_truncated(&self) -> bool {
        self.bytes_left.get() == 0
    }

    /// Whether the HTML rendered since the last call depends on more than its own blocks and their data: on numbers that
    /// are shared by the response, on its limits, or on functions that were registered.
    pub fn take_shared(&self) -> bool {
        self.is_shared.replace(false) || self.is_truncated() || self.blocks_left.get() == 0
    }

    pub(crate) fn mark_shared(&self) {
        self.is_shared.set(true);
    }

    /// Runs a renderer and subtracts the size of its HTML from the limit, except for nested blocks and the `given`
    /// bytes, which were counted before. Returns an empty string if the limit is exceeded.
    pub(crate) fn count_bytes(&self, given: usize, run: impl FnOnce() -> Html) -> Html {
        let before = self.bytes_left.get();
        if before == 0 {
            return Html::new();
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
                Html::new()
            }
        }
    }

    /// Renders blocks in the context of a post.
    pub fn within_post<T>(&self, post: PostId, post_type: &str, run: impl FnOnce() -> T) -> T {
        self.within([("postId", post.0.into()), ("postType", post_type.into())], run)
    }

    /// Renders blocks in the context of a term, for the term's archive page.
    pub fn within_term<T>(&self, term: TermId, taxonomy: &str, run: impl FnOnce() -> T) -> T {
        self.within([("termId", term.0.into()), ("taxonomy", taxonomy.into())], run)
    }

    /// Renders nested blocks with additional context values.
    pub(crate) fn within<T, const N: usize>(&self, values: [(&str, Value); N], run: impl FnOnce() -> T) -> T {
        self.context.borrow_mut().push(values.map(|(name, value)| (name.to_owned(), value)).into());
        let result = run();
        self.context.borrow_mut().pop();
        result
    }

    /// The id of the post in the current block context.
    pub(crate) fn post_id(&self) -> Option<PostId> {
        let id = svc_php::cast::to_int(&self.context_value("postId"));
        (id > 0).then_some(PostId(id))
    }

    /// The context value of the nearest outer block that provides it; null if there is none.
    pub(crate) fn context_value(&self, name: &str) -> Value {
        let context = self.context.borrow();
        let mut found = context.iter().rev().flat_map(|values| values.iter().rev());
        found.find(|(known, _)| known == name).map_or(Value::Null, |(_, value)| value.clone())
    }

    /// Renders content unless it is already being rendered under this name, or the nesting is too deep.
    fn render_once(&self, name: String, run: impl FnOnce() -> Html) -> Html {
        let is_new = {
            let mut in_progress = self.in_progress.borrow_mut();
            in_progress.len() < MAX_NESTING && in_progress.insert(name.clone())
        };
        if !is_new {
            return Html::new();
        }
        let result = run();
        self.in_progress.borrow_mut().remove(&name);
        result
    }

    /// The next number of this kind, for element ids.
    fn number(&self, kind: &'static str) -> u64 {
        self.mark_shared();
        let mut numbers = self.numbers.borrow_mut();
        let number = numbers.entry(kind).or_default();
        *number += 1;
        *number
    }
}

impl std::fmt::Debug for CoreBlocks<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CoreBlocks").field("blocks_left", &self.blocks_left).finish_non_exhaustive()
    }
}

/// The arguments of a block's renderer.
pub(crate) struct BlockCall<'c> {
    pub(crate) blocks: &'c CoreBlocks<'c>,
    pub(crate) renderer: &'c Renderer<'c>,
    pub(crate) block: &'c Block<'c>,
    pub(crate) block_type: &'c BlockType,
    pub(crate) attrs: Map<String, Value>,
    /// The stored markup, with inner blocks rendered.
    pub(crate) content: &'c Html,
    /// Generated classes that belong to the block's `className`.
    pub(crate) chosen: Vec<String>,
    /// The block's layout class.
    pub(crate) child: Option<String>,
}

impl<'c> BlockCall<'c> {
    pub(crate) fn data(&self) -> &'c dyn BlockData {
        self.blocks.data
    }

    /// The value of an attribute; null if it is not set.
    pub(crate) fn attr(&self, name: &str) -> &Value {
        self.attrs.get(name).unwrap_or(&Value::Null)
    }

    /// The value of a string attribute; empty if it is not set.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.attr(name).as_str().unwrap_or_default()
    }

    /// Whether an attribute is truthy.
    pub(crate) fn is(&self, name: &str) -> bool {
        svc_php::cast::truthy(self.attr(name))
    }

    /// The value of an attribute as an integer.
    pub(crate) fn number(&self, name: &str) -> Option<i64> {
        let value = self.attr(name);
        (!value.is_null()).then(|| svc_php::cast::to_int(value))
    }

    /// A value of the block context.
    pub(crate) fn context_value(&self, name: &str) -> Value {
        self.blocks.context_value(name)
    }

    /// The id of the post in the block context.
    pub(crate) fn post_id(&self) -> Option<PostId> {
        self.blocks.post_id()
    }

    /// The post in the block context, if the current user may see it.
    pub(crate) fn post(&self) -> Option<Rc<PostView>> {
        self.data().post(self.post_id()?)
    }

    /// The id of the comment in the block context.
    pub(crate) fn comment_id(&self) -> Option<CommentId> {
        let id = svc_php::cast::to_int(&self.context_value("commentId"));
        (id > 0).then_some(CommentId(id))
    }

    /// The next number for element ids, shared by all kinds.
    pub(crate) fn next_id(&self) -> u64 {
        self.renderer.next_id()
    }

    /// The next number for element ids of this kind.
    pub(crate) fn next(&self, kind: &'static str) -> u64 {
        self.blocks.number(kind)
    }

    /// The classes and styles of the block's supports, for the wrapper element.
    pub(crate) fn styles(&self) -> supports::WrapperStyles {
        supports::styles(self.block_type, &self.attrs, &self.chosen, &self.renderer.theme().fluid)
    }

    /// The attributes of the wrapper element, including the block's own.
    pub(crate) fn wrapper(&self, own: &[(&'static str, &str)]) -> Html {
        supports::attributes(&self.styles(), &self.attrs, self.block_type, own)
    }

    /// [`Self::wrapper`] with other styles.
    pub(crate) fn wrapper_with_styles(&self, styles: &supports::WrapperStyles, own: &[(&'static str, &str)]) -> Html {
        supports::attributes(styles, &self.attrs, self.block_type, own)
    }

    /// [`Self::wrapper`] with the block's own classes. Empty ones are omitted.
    pub(crate) fn wrapper_with(&self, classes: &[&str]) -> Html {
        let classes: Vec<&str> = classes.iter().copied().filter(|class| !class.is_empty()).collect();
        self.wrapper(&[("class", &classes.join(" "))])
    }

    /// [`Self::wrapper_with`] a single class, without id and label: for an element inside the wrapper.
    pub(crate) fn wrapper_without_id(&self, class: &str) -> Html {
        let mut attrs = self.attrs.clone();
        attrs.retain(|name, _| name != "anchor" && name != "ariaLabel");
        supports::attributes(&self.styles(), &attrs, self.block_type, &[("class", class)])
    }

    /// The class of the block's `textAlign` attribute.
    pub(crate) fn align_class(&self) -> String {
        match self.text("textAlign") {
            "" => String::new(),
            align => format!("has-text-align-{align}"),
        }
    }

    /// The class of blocks with a custom link colour.
    pub(crate) fn link_class(&self) -> &'static str {
        let color = &self.attr("style")["elements"]["link"]["color"]["text"];
        if color.is_null() { "" } else { "has-link-color" }
    }

    /// The `img` tag of an attachment. In post content, its `loading` attribute is added later.
    pub(crate) fn image(&self, id: PostId, request: ImageRequest) -> Option<Html> {
        let loading = if self.renderer.is_content() { ImageLoading::Content } else { request.loading };
        self.data().image(id, &ImageRequest { loading, ..request })
    }

    /// Renders the inner blocks, for an item of a list.
    pub(crate) fn item(&self) -> Html {
        self.blocks.count_bytes(0, || {
            let mut out = Html::new();
            for chunk in self.block.chunks() {
                match chunk {
                    svc_content::blocks::Chunk::Text(text) => out.push(stored(text)),
                    svc_content::blocks::Chunk::Block(block) => out.push(self.renderer.render_block(block)),
                }
            }
            self.renderer.item(out, self.block, &self.chosen, self.child.as_ref())
        })
    }

    /// Runs with the context that this block provides and additional values.
    pub(crate) fn within<T, const N: usize>(&self, values: [(&str, Value); N], run: impl FnOnce() -> T) -> T {
        self.blocks.enter(self.block);
        let result = self.blocks.within(values, run);
        self.blocks.leave(self.block);
        result
    }

    /// Renders content from another place, such as a post's. Empty if it contains itself.
    pub(crate) fn content_of(&self, name: String, run: impl FnOnce(&mut RenderContext<'_>) -> Html) -> Html {
        let site_info = self.data().site_info();
        self.blocks.render_once(name, || {
            let mut context = RenderContext::new(self.renderer.clone(), standard_shortcodes());
            context.smilies = site_info.smilies;
            context.smilies_url = &site_info.smilies_url;
            context.own_host = &site_info.own_host;
            context.images = self.data().images();
            run(&mut context)
        })
    }

    /// The rendered content of a post.
    pub(crate) fn post_content(&self, post: &PostView) -> Html {
        self.content_of(format!("post {}", post.post.id), |context| {
            context.page.post.set(u64::try_from(post.post.id.0).unwrap_or_default());
            context.root = Some(root_of(post));
            let run = || display::render_content(&post.post.content, context);
            self.blocks.within_post(post.post.id, &post.post.post_type, run)
        })
    }

    /// Renders blocks from another place, without the filters of post content.
    pub(crate) fn blocks_of(&self, name: String, content: &str, root: Option<&ContentRoot>) -> Html {
        self.content_of(name, |context| context.renderer.render(&context.renderer.parse(content, root)))
    }
}

/// The root of a post's content, for block hooks.
pub(crate) fn root_of(post: &PostView) -> ContentRoot {
    ContentRoot::of(&post.post.post_type, &post.ignored_hooks)
}

/// Adds the blocks that need no site data, such as shortcodes, to the renderer.
pub fn with_text<'b>(blocks: &'b CoreBlocks<'_>) -> TextBlocks<'b> {
    TextBlocks(blocks)
}
