//! Shortcodes: `[name attribute="value"]content[/name]`, replaced by the output of registered functions.
//!
//! `[[name]]` is an escaped shortcode. A shortcode ends at the first closing tag with its name, so shortcodes of the
//! same name cannot be nested. Inside HTML tags, shortcodes are replaced outside of quoted values only.

mod attributes;
mod media;
mod scan;
mod tags;

use std::{
    borrow::Cow,
    cell::{Cell, RefCell},
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock},
};

pub use attributes::Attributes;
pub(crate) use media::media_kind;
use scan::Scanner;
pub use scan::unautop;
use svc_text::Html;

use crate::markup::stored;

/// Maximum nesting of content with shortcodes that shortcodes render. Deeper ones are left as text.
pub const MAX_DEPTH: usize = 32;

/// The arguments of a shortcode function.
#[derive(Debug)]
pub struct Call<'c> {
    /// The registered name.
    pub name: &'c str,
    /// The attributes.
    pub attributes: Attributes,
    /// The content between the opening and the closing tag; `None` without a closing tag.
    pub content: Option<&'c str>,
    /// The registered shortcodes, for nested content; see [`Call::render`].
    pub shortcodes: &'c Shortcodes,
    /// State shared by all shortcodes of a page.
    pub page: &'c Page,
}

impl Call<'_> {
    /// Replaces the shortcodes in nested content.
    pub fn render(&self, text: &str) -> Html {
        stored(self.shortcodes.run(text, self.page))
    }
}

/// Counters and state of a page or response, shared by all its texts.
#[derive(Debug)]
pub struct Page {
    /// The id of the post whose text is rendered, for element ids; 0 outside of posts.
    pub post: Cell<u64>,
    /// Whether captions are `figure` elements, as in HTML5 themes, or `div` elements.
    pub html5: Cell<bool>,
    depth: Cell<usize>,
    counters: RefCell<HashMap<String, u64>>,
}

impl Default for Page {
    fn default() -> Self {
        Page { post: Cell::new(0), html5: Cell::new(true), depth: Cell::new(0), counters: RefCell::default() }
    }
}

impl Page {
    /// The next number of this kind, starting at 1.
    pub fn number(&self, kind: &str) -> u64 {
        let mut counters = self.counters.borrow_mut();
        let counter = counters.entry(kind.to_owned()).or_default();
        *counter += 1;
        *counter
    }

    /// How many numbers were given.
    pub fn n_numbers(&self) -> u64 {
        self.counters.borrow().values().sum()
    }
}

type Handler = Arc<dyn Fn(&Call<'_>) -> Html + Send + Sync>;

/// The registered shortcodes of a site.
#[derive(Clone, Default)]
pub struct Shortcodes {
    handlers: HashMap<String, Handler>,
}

static STANDARD: LazyLock<Shortcodes> = LazyLock::new(Shortcodes::standard);

/// The shortcodes of a site without extensions. See [`Shortcodes::standard`].
pub fn standard_shortcodes() -> &'static Shortcodes {
    &STANDARD
}

impl Shortcodes {
    /// Without any shortcodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// The standard shortcodes: `caption`, `audio`, `video`, `embed`, and `gallery` and `playlist`, which are empty
    /// until functions with access to the site's attachments are registered for them.
    pub fn standard() -> Self {
        let mut all = Self::new();
        media::register(&mut all);
        all
    }

    /// Registers a function, replacing the existing one. Names with invalid characters are ignored.
    ///
    /// Source: `add_shortcode`.
    pub fn register(&mut self, name: &str, handler: impl Fn(&Call<'_>) -> Html + Send + Sync + 'static) {
        if !name.is_empty() && !name.bytes().any(scan::ends_name) {
            self.handlers.insert(name.to_owned(), Arc::new(handler));
        }
    }

    /// Whether a name is registered. Source: `shortcode_exists`.
    pub fn contains(&self, name: &str) -> bool {
        self.handlers.contains_key(name)
    }

    /// The registered names, in no particular order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.handlers.keys().map(String::as_str)
    }

    /// Replaces the shortcodes in a text. Source: `do_shortcode`.
    pub fn run(&self, text: &str, page: &Page) -> String {
        let depth = page.depth.get();
        let names = scan::names_in(text, self);
        if depth >= MAX_DEPTH || names.is_empty() {
            return text.to_owned();
        }
        page.depth.set(depth + 1);
        let text = tags::hide_brackets(text, |part| Some(self.replace(part, &names, page)));
        let out = tags::show_brackets(self.replace(&text, &names, page));
        page.depth.set(depth);
        out
    }

    fn replace(&self, text: &str, names: &[&str], page: &Page) -> String {
        self.rewrite(text, names, |found, out| match self.handlers.get(found.name) {
            Some(handler) => out.push_str(&handler(&found.call(self, page))),
            None => out.push_str(found.whole),
        })
    }

    /// Replaces the shortcodes of a single name, except in tags, regardless of registered shortcodes.
    pub(crate) fn run_one(name: &str, text: &str, page: &Page, handler: &dyn Fn(&Call<'_>) -> Html) -> String {
        let mut one = Self::new();
        one.register(name, |_| Html::new());
        let names = scan::names_in(text, &one);
        if names.is_empty() {
            return text.to_owned();
        }
        let hidden = tags::hide_brackets(text, |_| None);
        tags::show_brackets(one.rewrite(&hidden, &names, |found, out| out.push_str(&handler(&found.call(&one, page)))))
    }

    /// Removes shortcodes and their content. Source: `strip_shortcodes`.
    pub fn strip<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let names = scan::names_in(text, self);
        if names.is_empty() {
            return text.into();
        }
        let hidden = tags::hide_brackets(text, |_| None);
        tags::show_brackets(self.rewrite(&hidden, &names, |_, _| {})).into()
    }

    /// Replaces each shortcode with the output of `replacement`, and unescapes escaped ones.
    fn rewrite(
        &self,
        text: &str,
        names: &[&str],
        mut replacement: impl FnMut(&scan::ShortcodeMatch<'_>, &mut String),
    ) -> String {
        let mut out = String::with_capacity(text.len());
        let mut scanner = Scanner::new(text, self, names.to_vec());
        let mut copied = 0;
        while let Some(found) = scanner.next(copied) {
            out.push_str(&text[copied..found.start]);
            if found.extra == (true, true) {
                out.push_str(&text[found.start + 1..found.end - 1]);
            } else {
                out.push_str(if found.extra.0 { "[" } else { "" });
                replacement(&found, &mut out);
                out.push_str(if found.extra.1 { "]" } else { "" });
            }
            copied = found.end;
        }
        out.push_str(&text[copied..]);
        out
    }
}

impl fmt::Debug for Shortcodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.names().collect();
        names.sort();
        f.debug_tuple("Shortcodes").field(&names).finish()
    }
}

#[cfg(test)]
mod tests;
