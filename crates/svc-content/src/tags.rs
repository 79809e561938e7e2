//! Finds tags in HTML and changes their attributes, leaving all other text unchanged.
//!
//! Tags are parsed like in the HTML standard's tokenizer; no tree is built.

use std::ops::Range;

/// An attribute of a tag, as byte offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Attribute {
    name: Range<usize>,
    whole: Range<usize>,
    value: Range<usize>,
}

/// An opening tag, as byte offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    name: Range<usize>,
    attributes: Vec<Attribute>,
    end: usize,
}

impl Tag {
    /// Whether it is a tag of this element.
    pub fn is(&self, html: &str, name: &str) -> bool {
        html.get(self.name.clone()).is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    /// The element's name as written.
    pub fn name<'h>(&self, html: &'h str) -> &'h str {
        html.get(self.name.clone()).unwrap_or_default()
    }

    /// The names of its attributes as written.
    pub fn attribute_names<'h>(&self, html: &'h str) -> impl Iterator<Item = &'h str> {
        self.attributes.iter().filter_map(move |attribute| html.get(attribute.name.clone()))
    }

    /// End of the tag.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Start of the tag.
    pub fn start(&self) -> usize {
        self.name.start.saturating_sub(1)
    }

    /// The first attribute with this name.
    fn attribute(&self, html: &str, name: &str) -> Option<&Attribute> {
        let is = |of: &&Attribute| html.get(of.name.clone()).is_some_and(|own| own.eq_ignore_ascii_case(name));
        self.attributes.iter().find(is)
    }

    /// The value of an attribute as written; `None` if there is no such attribute.
    pub fn value<'h>(&self, html: &'h str, name: &str) -> Option<&'h str> {
        self.attribute(html, name).and_then(|found| html.get(found.value.clone()))
    }

    /// Whether it has a class.
    pub fn has_class(&self, html: &str, class: &str) -> bool {
        self.value(html, "class").is_some_and(|own| own.split_ascii_whitespace().any(|has| has == class))
    }
}

/// Elements whose content is text up to their closing tag.
pub(crate) const RAW_TEXT: [&str; 8] = ["script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"];

/// Elements without content.
pub(crate) const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

/// Iterates over the opening tags. Ends at an incomplete tag or comment.
#[derive(Debug, Clone)]
pub struct Tags<'h> {
    html: &'h str,
    at: usize,
}

impl<'h> Tags<'h> {
    /// The tags of a text.
    pub fn new(html: &'h str) -> Self {
        Tags { html, at: 0 }
    }

    fn rest(&self) -> &'h str {
        self.html.get(self.at..).unwrap_or_default()
    }

    fn stop(&mut self) -> Option<Tag> {
        self.at = self.html.len();
        None
    }

    /// Skips past the next occurrence of a mark; `None` if there is none.
    fn skip_past(&mut self, mark: &str) -> Option<()> {
        self.at += self.rest().find(mark)? + mark.len();
        Some(())
    }

    fn skip_comment(&mut self) -> Option<()> {
        self.at += "<!--".len();
        for abrupt in [">", "->"] {
            if self.rest().starts_with(abrupt) {
                self.at += abrupt.len();
                return Some(());
            }
        }
        self.skip_past("--")?;
        // Both `-->` and `--!>` end a comment; `--` does not.
        loop {
            let rest = self.rest();
            if rest.starts_with('>') || rest.starts_with("!>") {
                return self.skip_past(">");
            }
            self.at -= 1;
            self.skip_past("--")?;
        }
    }

    /// Parses the name and attributes after `<` or `</`, and skips past `>`.
    fn tag(&mut self) -> Option<Tag> {
        let bytes = self.html.as_bytes();
        let white = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\x0C' | b'\r');
        let run = |from: usize, stop: &dyn Fn(&u8) -> bool| {
            bytes.get(from..).unwrap_or_default().iter().position(stop).map_or(bytes.len(), |n| from + n)
        };
        let start = self.at;
        let mut at = run(start, &|b| white(b) || matches!(b, b'/' | b'>'));
        let mut tag = Tag { name: start..at, attributes: Vec::new(), end: 0 };
        loop {
            at = run(at, &|b| !white(b) && *b != b'/');
            if *bytes.get(at)? == b'>' {
                tag.end = at + 1;
                self.at = tag.end;
                return Some(tag);
            }
            let name_start = at;
            // An attribute name may start with an equals sign.
            at = run(at + 1, &|b| white(b) || matches!(b, b'/' | b'>' | b'='));
            let name = name_start..at;
            let mut value = at..at;
            let equals = run(at, &|b| !white(b));
            if bytes.get(equals) == Some(&b'=') {
                at = run(equals + 1, &|b| !white(b));
                match bytes.get(at)? {
                    quote @ (b'"' | b'\'') => {
                        let end = run(at + 1, &|b| b == quote);
                        bytes.get(end)?;
                        value = at + 1..end;
                        at = end + 1;
                    }
                    b'>' => value = at..at,
                    _ => {
                        let end = run(at, &|b| white(b) || *b == b'>');
                        value = at..end;
                        at = end;
                    }
                }
            }
            tag.attributes.push(Attribute { whole: name.start..at, name, value });
        }
    }

    fn skip_raw_text(&mut self, name: &str) -> Option<()> {
        loop {
            self.skip_past("</")?;
            let rest = self.rest();
            let same = rest.get(..name.len()).is_some_and(|end| end.eq_ignore_ascii_case(name));
            if same && rest[name.len()..].starts_with([' ', '\t', '\n', '\x0C', '\r', '/', '>']) {
                return self.tag().map(|_| ());
            }
        }
    }
}

/// Markup between texts.
enum TagEvent {
    Open(Tag),
    Close(Tag),
    /// A comment, a declaration, or markup that is not complete, which is the rest of the text.
    Other {
        start: usize,
    },
}

impl Tags<'_> {
    /// The next markup. What is between it and the one before is text.
    fn next_event(&mut self) -> Option<TagEvent> {
        loop {
            let found = self.rest().find('<')?;
            self.at += found;
            let start = self.at;
            let rest = self.rest();
            let event = match rest.as_bytes().get(1) {
                Some(b'!') if rest.starts_with("<!--") => self.skip_comment().map(|()| None),
                Some(b'!' | b'?') => self.skip_past(">").map(|()| None),
                Some(b'/') if rest.as_bytes().get(2).is_some_and(u8::is_ascii_alphabetic) => {
                    self.at += 2;
                    self.tag().map(|tag| Some(TagEvent::Close(tag)))
                }
                Some(b'/') => self.skip_past(">").map(|()| None),
                Some(b) if b.is_ascii_alphabetic() => {
                    self.at += 1;
                    self.element().map(|tag| Some(TagEvent::Open(tag)))
                }
                _ => {
                    self.at += 1;
                    continue;
                }
            };
            if event.is_none() {
                self.at = self.html.len();
            }
            return Some(event.flatten().unwrap_or(TagEvent::Other { start }));
        }
    }

    /// Parses an opening tag, and skips the content if that is text.
    fn element(&mut self) -> Option<Tag> {
        let tag = self.tag()?;
        if let Some(name) = RAW_TEXT.iter().find(|name| tag.is(self.html, name)) {
            self.skip_raw_text(name)?;
        }
        Some(tag)
    }
}

/// Markup between texts, when elements are read.
pub(crate) enum ElementEvent<'h> {
    Open(Tag),
    Close {
        /// The element's name as written.
        name: &'h str,
        /// Start of the closing tag.
        start: usize,
    },
    /// What is not shown: a comment, a declaration, or an incomplete tag.
    Other {
        /// Start of the markup.
        start: usize,
    },
}

impl<'h> Tags<'h> {
    /// The next tag or comment. Elements whose content is text, such as scripts, have no closing tag.
    pub(crate) fn next_element(&mut self) -> Option<ElementEvent<'h>> {
        match self.next_event() {
            Some(TagEvent::Open(tag)) => Some(ElementEvent::Open(tag)),
            Some(TagEvent::Close(tag)) => {
                // Two characters before its name: `</`.
                let start = tag.name.start.saturating_sub(2);
                Some(ElementEvent::Close { name: self.html.get(tag.name).unwrap_or_default(), start })
            }
            Some(TagEvent::Other { start }) => Some(ElementEvent::Other { start }),
            None => {
                self.stop();
                None
            }
        }
    }

    /// Where the text after the last event begins.
    pub(crate) fn position(&self) -> usize {
        self.at
    }
}

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        loop {
            match self.next_event() {
                Some(TagEvent::Open(tag)) => return Some(tag),
                Some(TagEvent::Close(_) | TagEvent::Other { .. }) => {}
                None => return self.stop(),
            }
        }
    }
}

/// The content between a tag and its closing tag; `None` if it is not closed.
pub fn inside(html: &str, tag: &Tag) -> Option<Range<usize>> {
    let name = html.get(tag.name.clone())?;
    let (mut tags, mut depth) = (Tags { html, at: tag.end }, 0_usize);
    loop {
        match tags.next_event()? {
            TagEvent::Open(inner) if inner.is(html, name) => depth += 1,
            TagEvent::Close(end) if end.is(html, name) => match depth.checked_sub(1) {
                Some(left) => depth = left,
                // Two characters before its name: `</`.
                None => return Some(tag.end..end.name.start.saturating_sub(2)),
            },
            _ => {}
        }
    }
}

/// Changes to the tags of a text, which are applied together.
#[derive(Debug)]
pub struct TagChanges<'h> {
    html: &'h str,
    /// Ranges to replace, whether they are sorted after changes to the tag's start, and replacements.
    edits: Vec<(Range<usize>, bool, String)>,
}

impl<'h> TagChanges<'h> {
    /// Creates an empty set of changes.
    pub fn of(html: &'h str) -> Self {
        TagChanges { html, edits: Vec::new() }
    }

    /// Replaces an attribute, or adds it after the tag's name.
    fn replace_or_add(&mut self, tag: &Tag, name: &str, text: String) {
        match tag.attribute(self.html, name) {
            Some(existing) => self.edits.push((existing.whole.clone(), true, text)),
            None => self.edits.push((tag.name.end..tag.name.end, true, format!(" {text}"))),
        }
    }

    /// Sets an attribute.
    pub fn set(&mut self, tag: &Tag, name: &str, value: &str) {
        self.replace_or_add(tag, name, format!("{name}=\"{}\"", escape(value)));
    }

    /// Sets an attribute to a value that is already escaped.
    pub fn set_escaped(&mut self, tag: &Tag, name: &str, value: &str) {
        self.replace_or_add(tag, name, format!("{name}=\"{value}\""));
    }

    /// Sets an attribute without a value.
    pub fn set_boolean(&mut self, tag: &Tag, name: &str) {
        self.replace_or_add(tag, name, name.to_owned());
    }

    /// Removes an attribute.
    pub fn remove(&mut self, tag: &Tag, name: &str) {
        if let Some(existing) = tag.attribute(self.html, name) {
            self.edits.push((existing.whole.clone(), true, String::new()));
        }
    }

    /// Adds classes that the tag does not have. The attribute is unchanged if it has all of them.
    pub fn add_classes<'c>(&mut self, tag: &Tag, classes: impl IntoIterator<Item = &'c str>) {
        let own = tag.value(self.html, "class").unwrap_or_default();
        let mut value = own.trim_matches([' ', '\t', '\n', '\x0C', '\r']).replace('"', "&quot;");
        let before = value.len();
        for class in classes.into_iter().filter(|class| !class.is_empty()) {
            if value.split_ascii_whitespace().any(|has| has == class) {
                continue;
            }
            if !value.is_empty() {
                value.push(' ');
            }
            value.push_str(class);
        }
        if value.len() != before {
            self.replace_or_add(tag, "class", format!("class=\"{value}\""));
        }
    }

    /// Adds declarations to the end of a tag's `style`.
    pub fn add_style(&mut self, tag: &Tag, css: &str) {
        let own = tag.value(self.html, "style").unwrap_or_default().trim();
        let separator = if own.is_empty() || own.ends_with(';') { "" } else { ";" };
        // The existing declarations are already escaped.
        self.replace_or_add(
            tag,
            "style",
            format!("style=\"{}{separator}{}\"", own.replace('"', "&quot;"), escape(css)),
        );
    }

    /// Inserts attributes, as text with a leading space, before all others of a tag.
    pub fn insert_first(&mut self, tag: &Tag, text: impl Into<String>) {
        self.edits.push((tag.name.end..tag.name.end, false, text.into()));
    }

    /// Inserts text at a position outside of tags.
    pub fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.edits.push((at..at, true, text.into()));
    }

    /// Replaces text.
    pub fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.edits.push((range, true, text.into()));
    }

    /// Applies the changes. New attributes of a tag are sorted by name; of overlapping changes, only the first is
    /// applied.
    pub fn apply(mut self) -> String {
        self.edits.sort_by(|(a, rank_a, text_a), (b, rank_b, text_b)| {
            (a.start, rank_a, text_a).cmp(&(b.start, rank_b, text_b))
        });
        let mut out = String::with_capacity(self.html.len() + 64 * self.edits.len());
        let mut copied = 0;
        for (range, _, text) in &self.edits {
            if range.start < copied {
                continue;
            }
            out.push_str(self.html.get(copied..range.start).unwrap_or_default());
            out.push_str(text);
            copied = range.end;
        }
        out.push_str(self.html.get(copied..).unwrap_or_default());
        out
    }
}

/// Escapes a value for double quotes.
pub(crate) fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            c => out.push(c),
        }
    }
    out
}

/// Sets the `fetchpriority` of all images.
pub fn set_image_priority(html: &str, priority: &str) -> String {
    let mut changes = TagChanges::of(html);
    for tag in Tags::new(html).filter(|tag| tag.is(html, "img")) {
        changes.set(&tag, "fetchpriority", priority);
    }
    changes.apply()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the class `n` to the first `<p>`.
    #[track_caller]
    fn check(html: &str, expected: &str) {
        let mut changes = TagChanges::of(html);
        if let Some(tag) = Tags::new(html).find(|tag| tag.is(html, "p")) {
            changes.add_classes(&tag, ["n"]);
        }
        assert_eq!(changes.apply(), expected);
    }

    #[test]
    fn classes_are_added_to_the_first_tag() {
        for (html, expected) in [
            ("<p>x</p><p>", "<p class=\"n\">x</p><p>"),
            ("x<P id=y CLASS='a  b \"'>", "x<P id=y class=\"a  b &quot; n\">"),
            ("<p class>", "<p class=\"n\">"),
            ("<p class=\"\" x>", "<p class=\"n\" x>"),
            ("<p class=a/>", "<p class=\"a/ n\">"),
            ("<p class=\"n a\">", "<p class=\"n a\">"),
            ("<p class=\"a\" class=\"b\">", "<p class=\"a n\" class=\"b\">"),
            ("<p/>", "<p class=\"n\"/>"),
            ("<p data-x=\"<p>\">", "<p class=\"n\" data-x=\"<p>\">"),
            ("<!--<p>--><p>", "<!--<p>--><p class=\"n\">"),
            ("<!--><p>", "<!--><p class=\"n\">"),
            ("<!-- -- --!><p>", "<!-- -- --!><p class=\"n\">"),
            ("<!DOCTYPE p></><?p?></ p><p>", "<!DOCTYPE p></><?p?></ p><p class=\"n\">"),
            ("</p><pre><p>", "</p><pre><p class=\"n\">"),
            (
                "<script>\"<p>\"</script><textarea><p></textarea ><p>",
                "<script>\"<p>\"</script><textarea><p></textarea ><p class=\"n\">",
            ),
            ("<style><p>", "<style><p>"),
            ("<p ", "<p "),
            ("<p x=\"", "<p x=\""),
            ("<!-- <p>", "<!-- <p>"),
            ("1 < 2 <p>", "1 < 2 <p class=\"n\">"),
            ("<é<p>", "<é<p class=\"n\">"),
        ] {
            check(html, expected);
        }
    }

    #[test]
    fn attributes_are_replaced_in_place_or_added_in_order() {
        let html = "<a x='1' STYLE=\"b:c\"><b style='d:e;' hidden>";
        let tags: Vec<Tag> = Tags::new(html).collect();
        let mut changes = TagChanges::of(html);
        changes.set(&tags[0], "z", "it's <\"&\">");
        changes.set(&tags[0], "x", "2");
        changes.set_boolean(&tags[0], "data-y");
        changes.add_style(&tags[0], "f:'g';");
        changes.add_style(&tags[1], "f:g;");
        changes.remove(&tags[1], "hidden");
        changes.insert(tags[1].end(), "<!-- in -->");
        assert_eq!(
            changes.apply(),
            concat!(
                "<a data-y z=\"it&apos;s &lt;&quot;&amp;&quot;&gt;\" x=\"2\" style=\"b:c;f:&apos;g&apos;;\">",
                "<b style=\"d:e;f:g;\" ><!-- in -->"
            )
        );
    }
}
