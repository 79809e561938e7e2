//! The document that Markdown can express, made from a tree of HTML.

use std::mem::take;

use super::{
    tree::{Element, Node},
    urls,
};

/// Maximum number of columns of a table. Cells of further columns are part of the last.
const MAX_COLUMNS: usize = 64;

/// Maximum number of a list's first item.
const MAX_START: u32 = 999_999_999;

/// Maximum length of the language of preformatted text.
const MAX_LANGUAGE: usize = 32;

/// Elements that are not part of the paragraph around them.
#[rustfmt::skip]
const BLOCKS: [&str; 40] = [
    "address", "article", "aside", "blockquote", "caption", "center", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption",
    "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "main", "menu", "nav", "ol", "p",
    "pre", "search", "section", "summary", "table", "td", "th", "tr", "ul",
];

pub(super) enum Block {
    Paragraph(Vec<Inline>),
    /// A heading with its level, 1 to 6.
    Heading(u8, Vec<Inline>),
    Quote(Vec<Block>),
    List {
        /// The number of the first item; `None` for bullets.
        start: Option<u32>,
        /// None of them is empty.
        items: Vec<Vec<Block>>,
    },
    Code {
        language: String,
        text: String,
    },
    /// The cells of each row. The first row is the header. There is at least one.
    Table(Vec<Vec<Vec<Inline>>>),
    Rule,
}

pub(super) enum Inline {
    /// Text that is not empty, without control characters and repeated white space, except next to other inline units.
    Text(String),
    Code(String),
    Image {
        alt: String,
        destination: String,
    },
    Break,
    /// Units, of which at least one shows something. A unit is never in another of the same kind.
    In(Wrapper, Vec<Inline>),
}

#[derive(Clone, PartialEq)]
pub(super) enum Wrapper {
    Strong,
    Emphasis,
    Deleted,
    /// A link with its destination as Markdown.
    Link(String),
}

/// The blocks of a document.
pub(super) fn blocks(nodes: Vec<Node>) -> Vec<Block> {
    let mut flow = Flow::default();
    flow.nodes(nodes, Context::default());
    flow.finish()
}

/// The text of a document as one line, without breaks.
pub(super) fn inlines(nodes: Vec<Node>) -> Vec<Inline> {
    Context { is_line: true, ..Context::default() }.line(nodes)
}

/// What is around a node.
#[derive(Clone, Copy, Default)]
struct Context {
    /// Whether blocks and breaks are spaces.
    is_line: bool,
    is_strong: bool,
    is_emphasis: bool,
    is_deleted: bool,
    is_link: bool,
}

impl Context {
    /// The context in a wrapper; `None` if there is one of the same kind around it.
    fn within(self, wrapper: &Wrapper) -> Option<Self> {
        let mut inner = self;
        let flag = match wrapper {
            Wrapper::Strong => &mut inner.is_strong,
            Wrapper::Emphasis => &mut inner.is_emphasis,
            Wrapper::Deleted => &mut inner.is_deleted,
            Wrapper::Link(_) => &mut inner.is_link,
        };
        (!std::mem::replace(flag, true)).then_some(inner)
    }

    fn line(self, nodes: Vec<Node>) -> Vec<Inline> {
        let mut flow = Flow::default();
        flow.nodes(nodes, Context { is_line: true, ..self });
        flow.line
    }

    fn blocks(self, nodes: Vec<Node>) -> Vec<Block> {
        let mut flow = Flow::default();
        flow.nodes(nodes, self);
        flow.finish()
    }
}

/// Blocks, and the inline units of the paragraph that is not finished.
#[derive(Default)]
struct Flow {
    blocks: Vec<Block>,
    line: Vec<Inline>,
    /// Whether the first paragraph continues the text before the flow: nothing separates them. `None` until it ends.
    continues: Option<bool>,
}

impl Flow {
    fn finish(mut self) -> Vec<Block> {
        self.end_paragraph();
        self.blocks
    }

    fn nodes(&mut self, nodes: Vec<Node>, context: Context) {
        for node in nodes {
            match node {
                Node::Text(text) => self.text(&text),
                Node::Element(element) => self.element(element, context),
            }
        }
    }

    fn element(&mut self, element: Element, context: Context) {
        let Element { name, attributes, children } = element;
        let name = name.as_str();
        match name {
            "br" if context.is_line => self.text(" "),
            "br" => self.line.push(Inline::Break),
            "strong" | "b" => self.wrapped(Wrapper::Strong, children, context),
            "em" | "i" | "cite" | "dfn" => self.wrapped(Wrapper::Emphasis, children, context),
            "del" | "s" | "strike" => self.wrapped(Wrapper::Deleted, children, context),
            "a" => match attributes.url.as_deref().and_then(urls::destination) {
                Some(destination) => self.wrapped(Wrapper::Link(destination), children, context),
                None => self.nodes(children, context),
            },
            "code" | "kbd" | "samp" | "tt" => self.code(&text_of(&children)),
            "img" => {
                let alt = attributes.label.as_deref().map(str::trim).unwrap_or_default().to_owned();
                match attributes.url.as_deref().and_then(urls::destination) {
                    Some(destination) => self.line.push(Inline::Image { alt, destination }),
                    None => self.text(&alt),
                }
            }
            "iframe" | "embed" | "audio" | "video" => {
                if let Some(url) = attributes.url
                    && let Some(destination) = urls::destination(&url)
                {
                    let label = attributes.label.filter(|label| !label.trim().is_empty()).unwrap_or(url);
                    self.separate(context);
                    self.wrapped(Wrapper::Link(destination), vec![Node::Text(label)], context);
                    self.separate(context);
                }
            }
            "pre" if context.is_line => {
                self.separate(context);
                self.code(&text_of(&children));
                self.separate(context);
            }
            name if context.is_line && is_block(name) => self.separated(children, context),
            "hr" => self.block(Some(Block::Rule)),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = name.bytes().last().unwrap_or(b'1') - b'0';
                let line = context.line(children);
                self.block(shows_something(&line).then_some(Block::Heading(level, line)));
            }
            "pre" => self.block(preformatted(attributes.class.as_deref(), &children)),
            "blockquote" => {
                let blocks = context.blocks(children);
                self.block((!blocks.is_empty()).then_some(Block::Quote(blocks)));
            }
            "ul" | "ol" | "menu" => {
                let start = (name == "ol").then(|| first_number(attributes.start.as_deref()));
                let items = items(children, context);
                self.block((!items.is_empty()).then_some(Block::List { start, items }));
            }
            "table" => {
                let mut table = Table { before: Flow::default(), rows: Vec::new(), context };
                table.nodes(children);
                self.end_paragraph();
                self.blocks.extend(table.before.finish());
                self.block((!table.rows.is_empty()).then_some(Block::Table(table.rows)));
            }
            name if is_block(name) => self.separated(children, context),
            _ => self.nodes(children, context),
        }
    }

    /// Adds text, in which white space is folded and control characters are left out.
    fn text(&mut self, text: &str) {
        let mut folded = match self.line.pop_if(|last| matches!(last, Inline::Text(_))) {
            Some(Inline::Text(before)) => before,
            _ => String::new(),
        };
        for c in text.chars() {
            match c {
                ' ' | '\t' | '\n' | '\r' | '\x0C' if folded.ends_with(' ') => {}
                ' ' | '\t' | '\n' | '\r' | '\x0C' => folded.push(' '),
                c if c.is_control() => {}
                c => folded.push(c),
            }
        }
        if !folded.is_empty() {
            self.line.push(Inline::Text(folded));
        }
    }

    /// Adds code. Code next to other code is one unit with it.
    fn code(&mut self, text: &str) {
        let mut code = Flow::default();
        code.text(text);
        let Some(Inline::Text(code)) = code.line.pop() else { return };
        match self.line.last_mut() {
            _ if code.trim().is_empty() => self.text(&code),
            Some(Inline::Code(before)) => before.push_str(&code),
            _ => self.line.push(Inline::Code(code)),
        }
    }

    /// Adds nodes in a wrapper, unless they are in one of its kind. In a wrapper with blocks, each paragraph is wrapped; a link is
    /// that of the first.
    fn wrapped(&mut self, wrapper: Wrapper, nodes: Vec<Node>, context: Context) {
        let Some(inner) = context.within(&wrapper) else { return self.nodes(nodes, context) };
        let mut flow = Flow::default();
        flow.nodes(nodes, inner);
        let Some(continues) = flow.continues else { return self.wrap(wrapper, flow.line) };
        let mut wrapper = Some(wrapper);
        let mut blocks = flow.blocks.into_iter().peekable();
        if continues && let Some(Block::Paragraph(line)) = blocks.next_if(|block| matches!(block, Block::Paragraph(_)))
        {
            self.wrap_next(&mut wrapper, line);
        }
        self.end_paragraph();
        let first = self.blocks.len();
        self.blocks.extend(blocks);
        wrap_blocks(&mut wrapper, self.blocks.get_mut(first..).unwrap_or_default());
        self.wrap_next(&mut wrapper, flow.line);
    }

    /// Adds units in the next wrapper, if there is one.
    fn wrap_next(&mut self, wrapper: &mut Option<Wrapper>, line: Vec<Inline>) {
        match next(wrapper, &line) {
            Some(wrapper) => self.wrap(wrapper, line),
            None => self.append(line),
        }
    }

    fn append(&mut self, line: Vec<Inline>) {
        for unit in line {
            match unit {
                Inline::Text(text) => self.text(&text),
                unit => self.line.push(unit),
            }
        }
    }

    fn wrap(&mut self, wrapper: Wrapper, mut line: Vec<Inline>) {
        if !shows_something(&line) {
            return self.append(line);
        }
        match self.line.last_mut() {
            Some(Inline::In(before, units)) if *before == wrapper && !matches!(wrapper, Wrapper::Link(_)) => {
                units.append(&mut line);
            }
            _ => self.line.push(Inline::In(wrapper, line)),
        }
    }

    /// Adds a block after the paragraph before it.
    fn block(&mut self, block: Option<Block>) {
        self.end_paragraph();
        self.blocks.extend(block);
    }

    fn separated(&mut self, nodes: Vec<Node>, context: Context) {
        self.separate(context);
        self.nodes(nodes, context);
        self.separate(context);
    }

    fn separate(&mut self, context: Context) {
        if context.is_line {
            self.text(" ");
        } else {
            self.end_paragraph();
        }
    }

    fn end_paragraph(&mut self) {
        let line = take(&mut self.line);
        let shows_something = shows_something(&line);
        self.continues.get_or_insert(shows_something);
        if shows_something {
            self.blocks.push(Block::Paragraph(line));
        }
    }
}

fn shows_something(line: &[Inline]) -> bool {
    line.iter().any(|unit| match unit {
        Inline::Text(text) => text.chars().any(|c| !c.is_whitespace()),
        Inline::Break => false,
        Inline::Code(_) | Inline::Image { .. } | Inline::In(..) => true,
    })
}

/// The wrapper of the next paragraph. The destination of a link is not repeated, as it may be long.
fn next(wrapper: &mut Option<Wrapper>, line: &[Inline]) -> Option<Wrapper> {
    match &*wrapper {
        Some(Wrapper::Link(_)) if shows_something(line) => wrapper.take(),
        Some(Wrapper::Link(_)) => None,
        other => other.clone(),
    }
}

fn wrap_blocks(wrapper: &mut Option<Wrapper>, blocks: &mut [Block]) {
    for block in blocks {
        match block {
            Block::Paragraph(line) | Block::Heading(_, line) => {
                // The destination of a link is not repeated, as it may be long.
                if let Some(own) = next(wrapper, line) {
                    *line = vec![Inline::In(own, take(line))];
                }
            }
            Block::Quote(blocks) => wrap_blocks(wrapper, blocks),
            Block::List { items, .. } => items.iter_mut().for_each(|item| wrap_blocks(wrapper, item)),
            Block::Code { .. } | Block::Table(_) | Block::Rule => {}
        }
    }
}

/// Whether an element is not part of the paragraph around it.
fn is_block(name: &str) -> bool {
    BLOCKS.contains(&name)
}

fn first_number(start: Option<&str>) -> u32 {
    start.and_then(|start| start.trim().parse().ok()).unwrap_or(1).min(MAX_START)
}

/// The items of a list. What is between them is an item of its own, except lists, which are part of the item before.
fn items(nodes: Vec<Node>, context: Context) -> Vec<Vec<Block>> {
    fn end_item(between: &mut Flow, items: &mut Vec<Vec<Block>>) {
        let blocks = take(between).finish();
        if !blocks.is_empty() {
            items.push(blocks);
        }
    }
    let mut items: Vec<Vec<Block>> = Vec::new();
    let mut between = Flow::default();
    for node in nodes {
        let name = if let Node::Element(element) = &node { element.name.as_str() } else { "" };
        let (is_item, is_list) = (name == "li", matches!(name, "ul" | "ol" | "menu"));
        if !is_item && !is_list {
            between.nodes(vec![node], context);
            continue;
        }
        end_item(&mut between, &mut items);
        let mut blocks = context.blocks(vec![node]);
        match items.last_mut() {
            Some(last) if is_list => last.append(&mut blocks),
            _ if blocks.is_empty() => {}
            _ => items.push(blocks),
        }
    }
    end_item(&mut between, &mut items);
    items
}

/// The text of nodes with its line breaks.
fn text_of(nodes: &[Node]) -> String {
    fn add(nodes: &[Node], text: &mut String) {
        for node in nodes {
            match node {
                Node::Text(part) => text.push_str(part),
                Node::Element(element) if element.name == "br" => text.push('\n'),
                Node::Element(element) => {
                    let separator = if is_block(&element.name) { "\n" } else { "" };
                    text.push_str(separator);
                    add(&element.children, text);
                    text.push_str(separator);
                }
            }
        }
    }
    let mut text = String::new();
    add(nodes, &mut text);
    text
}

/// Preformatted text; `None` if it is empty. Its language is a class of it or of the code in it.
fn preformatted(class: Option<&str>, nodes: &[Node]) -> Option<Block> {
    let text = text_of(nodes).replace("\r\n", "\n").replace('\r', "\n").replace('\x0C', " ");
    let text: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
    let text = text.strip_prefix('\n').unwrap_or(&text).trim_end();
    let of_code = nodes.iter().find_map(|node| match node {
        Node::Element(element) if element.name == "code" => element.attributes.class.as_deref(),
        _ => None,
    });
    let language = [class, of_code].into_iter().flatten().find_map(language).unwrap_or_default();
    (!text.is_empty()).then(|| Block::Code { language, text: text.to_owned() })
}

/// The language that classes name.
fn language(class: &str) -> Option<String> {
    let names = class.split_ascii_whitespace().filter_map(|class| class.strip_prefix("language-"));
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '.' | '_' | '-');
    names.filter(|name| (1..=MAX_LANGUAGE).contains(&name.len()) && name.chars().all(is_name)).map(str::to_owned).next()
}

/// A table while its rows are collected.
struct Table {
    /// What is in the table, but not in a row, such as its caption.
    before: Flow,
    rows: Vec<Vec<Vec<Inline>>>,
    context: Context,
}

impl Table {
    fn nodes(&mut self, nodes: Vec<Node>) {
        for node in nodes {
            match node {
                Node::Element(element) => match element.name.as_str() {
                    "thead" | "tbody" | "tfoot" => self.nodes(element.children),
                    "tr" => self.row(element.children),
                    "td" | "th" => self.row(vec![Node::Element(element)]),
                    _ => self.before.nodes(vec![Node::Element(element)], self.context),
                },
                text => self.before.nodes(vec![text], self.context),
            }
        }
    }

    fn row(&mut self, nodes: Vec<Node>) {
        let mut cells: Vec<Vec<Inline>> = Vec::new();
        for node in nodes {
            let is_cell = matches!(&node, Node::Element(element) if matches!(element.name.as_str(), "td" | "th"));
            let mut cell = self.context.line(vec![node]);
            let is_full = cells.len() >= MAX_COLUMNS;
            match cells.last_mut() {
                _ if !is_cell && !shows_something(&cell) => {}
                Some(last) if is_full => {
                    last.push(Inline::Text(" ".to_owned()));
                    last.append(&mut cell);
                }
                _ => cells.push(cell),
            }
        }
        if cells.iter().any(|cell| shows_something(cell)) {
            self.rows.push(cells);
        }
    }
}
