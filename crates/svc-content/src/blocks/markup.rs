//! Finding tags in HTML and adding classes to them, leaving all other text as it is.
//!
//! Reads tags as the HTML standard's tokenizer does; builds no tree.

use std::ops::Range;

/// An opening tag; ranges are byte offsets in the text searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) name: Range<usize>,
    /// The first `class` attribute: the whole of it, and its value.
    class: Option<(Range<usize>, Range<usize>)>,
    /// The value of the first `src` attribute.
    source: Option<Range<usize>>,
    /// The whole of the first `fetchpriority` attribute.
    priority: Option<Range<usize>>,
    pub(super) end: usize,
}

impl Tag {
    pub(super) fn is(&self, html: &str, name: &str) -> bool {
        html.get(self.name.clone()).is_some_and(|own| own.eq_ignore_ascii_case(name))
    }

    /// The value of `class` as written; nothing without the attribute.
    pub(super) fn class<'h>(&self, html: &'h str) -> Option<&'h str> {
        self.class.as_ref().and_then(|(_, value)| html.get(value.clone()))
    }

    /// The value of `src` as written.
    pub(super) fn source<'h>(&self, html: &'h str) -> Option<&'h str> {
        self.source.as_ref().and_then(|value| html.get(value.clone()))
    }
}

/// Elements whose content is text up to their end tag.
const RAW_TEXT: [&str; 8] = ["script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"];

/// Opening tags in order. A tag or comment cut short ends the walk.
pub(super) struct Tags<'h> {
    html: &'h str,
    at: usize,
}

impl<'h> Tags<'h> {
    pub(super) fn new(html: &'h str) -> Self {
        Tags { html, at: 0 }
    }

    fn rest(&self) -> &'h str {
        self.html.get(self.at..).unwrap_or_default()
    }

    fn stop(&mut self) -> Option<Tag> {
        self.at = self.html.len();
        None
    }

    /// Past the next occurrence of a mark; `None` when there is none.
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
        // Both `-->` and `--!>` end it; `--` inside does not.
        loop {
            let rest = self.rest();
            if rest.starts_with('>') || rest.starts_with("!>") {
                return self.skip_past(">");
            }
            self.at -= 1;
            self.skip_past("--")?;
        }
    }

    /// Reads name and attributes from just after `<` or `</`; the place after `>`.
    fn tag(&mut self) -> Option<Tag> {
        let bytes = self.html.as_bytes();
        let white = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\x0C' | b'\r');
        let run = |from: usize, stop: &dyn Fn(&u8) -> bool| {
            bytes.get(from..).unwrap_or_default().iter().position(stop).map_or(bytes.len(), |n| from + n)
        };
        let start = self.at;
        let mut at = run(start, &|b| white(b) || matches!(b, b'/' | b'>'));
        let mut tag = Tag { name: start..at, class: None, source: None, priority: None, end: 0 };
        loop {
            at = run(at, &|b| !white(b) && *b != b'/');
            if *bytes.get(at)? == b'>' {
                tag.end = at + 1;
                self.at = tag.end;
                return Some(tag);
            }
            let name_start = at;
            // An attribute name may begin with an equals sign.
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
            let is = |wanted: &str| self.html.get(name.clone()).is_some_and(|n| n.eq_ignore_ascii_case(wanted));
            if tag.class.is_none() && is("class") {
                tag.class = Some((name.start..at, value));
            } else if tag.source.is_none() && is("src") {
                tag.source = Some(value);
            } else if tag.priority.is_none() && is("fetchpriority") {
                tag.priority = Some(name.start..at);
            }
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

impl Iterator for Tags<'_> {
    type Item = Tag;

    fn next(&mut self) -> Option<Tag> {
        loop {
            let Some(found) = self.rest().find('<') else { return self.stop() };
            self.at += found;
            let rest = self.rest();
            let complete = match rest.as_bytes().get(1) {
                Some(b'!') if rest.starts_with("<!--") => self.skip_comment(),
                Some(b'!' | b'?') => self.skip_past(">"),
                Some(b'/') if rest.as_bytes().get(2).is_some_and(u8::is_ascii_alphabetic) => {
                    self.at += 2;
                    self.tag().map(|_| ())
                }
                Some(b'/') => self.skip_past(">"),
                Some(b) if b.is_ascii_alphabetic() => {
                    self.at += 1;
                    let Some(tag) = self.tag() else { return self.stop() };
                    let raw = RAW_TEXT.iter().find(|name| tag.is(self.html, name));
                    if let Some(name) = raw
                        && self.skip_raw_text(name).is_none()
                    {
                        return self.stop();
                    }
                    return Some(tag);
                }
                _ => {
                    self.at += 1;
                    Some(())
                }
            };
            if complete.is_none() {
                return self.stop();
            }
        }
    }
}

/// Adds classes to a tag, those it has left out; writes the attribute anew where it changes.
pub(super) fn add_classes(html: &str, tag: &Tag, classes: &[String]) -> String {
    let own = tag.class(html).unwrap_or_default();
    let mut value = own.trim_matches([' ', '\t', '\n', '\x0C', '\r']).replace('"', "&quot;");
    let mut changed = false;
    for class in classes.iter().filter(|class| !class.is_empty()) {
        if value.split_ascii_whitespace().any(|has| has == class) {
            continue;
        }
        if !value.is_empty() {
            value.push(' ');
        }
        value.push_str(class);
        changed = true;
    }
    if !changed {
        return html.to_owned();
    }
    let (place, lead) = match &tag.class {
        Some((whole, _)) => (whole.clone(), ""),
        None => (tag.name.end..tag.name.end, " "),
    };
    format!("{}{lead}class=\"{value}\"{}", &html[..place.start], &html[place.end..])
}

/// Tells every image to load late.
pub(super) fn lower_image_priority(html: &str) -> String {
    let mut out = String::with_capacity(html.len());
    let mut copied = 0;
    for tag in Tags::new(html).filter(|tag| tag.is(html, "img")) {
        let (place, lead) = match tag.priority {
            Some(whole) => (whole, ""),
            None => (tag.name.end..tag.name.end, " "),
        };
        out.push_str(&html[copied..place.start]);
        out.push_str(lead);
        out.push_str("fetchpriority=\"low\"");
        copied = place.end;
    }
    out.push_str(&html[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds the class `n` to the first `<p>`.
    #[track_caller]
    fn check(html: &str, expected: &str) {
        let tag = Tags::new(html).find(|tag| tag.is(html, "p"));
        let out = tag.map_or_else(|| html.to_owned(), |tag| add_classes(html, &tag, &["n".to_owned()]));
        assert_eq!(out, expected);
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
}
