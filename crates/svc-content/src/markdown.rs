//! HTML as Markdown (CommonMark with tables of GitHub's extension), for programs that read text.
//!
//! Text stays text: characters that Markdown or HTML would interpret are escaped, scripts and styles are left out, and only links to
//! HTTP, mail and paths remain. Elements without a form in Markdown are replaced by their contents.

use svc_text::decode_references;

/// Maximum depth of lists and quotations. Deeper ones are part of the one around them.
const MAX_DEPTH: usize = 16;

/// Elements whose contents are not text.
const HIDDEN: [&str; 7] = ["script", "style", "template", "noscript", "iframe", "svg", "math"];

/// Elements that begin and end a paragraph.
const BLOCKS: [&str; 22] = [
    "address",
    "article",
    "aside",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "header",
    "main",
    "nav",
    "p",
    "section",
    "summary",
    "caption",
    "video",
    "audio",
];

/// Converts HTML to Markdown. The result ends with a line break, unless it is empty.
pub fn to_markdown(html: &str) -> String {
    let mut writer = Writer::default();
    let mut rest = html;
    while let Some((text, tag, after)) = next_tag(rest) {
        writer.text(text);
        rest = after;
        if let Some(tag) = tag {
            match HIDDEN.iter().find(|hidden| **hidden == tag.name && !tag.is_end) {
                // An element without an end hides the rest, as in browsers.
                Some(hidden) => rest = after_end_tag(rest, hidden),
                None => writer.tag(&tag),
            }
        }
    }
    writer.text(rest);
    writer.finish()
}

struct Tag<'a> {
    name: String,
    is_end: bool,
    attributes: &'a str,
}

impl Tag<'_> {
    /// The value of an attribute, decoded.
    fn attribute(&self, name: &str) -> Option<String> {
        let mut rest = self.attributes;
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            if rest.is_empty() {
                return None;
            }
            let end = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '/')).unwrap_or(rest.len());
            let (found, after) = rest.split_at(end.max(1).min(rest.len()));
            let after = after.trim_start();
            let Some(value) = after.strip_prefix('=').map(str::trim_start) else {
                rest = after;
                continue;
            };
            let (value, after) = match value.chars().next() {
                Some(quote @ ('"' | '\'')) => {
                    let value = &value[1..];
                    let end = value.find(quote).unwrap_or(value.len());
                    (&value[..end], value.get(end + 1..).unwrap_or_default())
                }
                _ => value.split_at(value.find(|c: char| c.is_ascii_whitespace()).unwrap_or(value.len())),
            };
            if found.eq_ignore_ascii_case(name) {
                return Some(decode_references(value));
            }
            rest = after;
        }
    }
}

/// The text before the next tag or comment, the tag, and what follows it. `None` if there is none.
fn next_tag(html: &str) -> Option<(&str, Option<Tag<'_>>, &str)> {
    let mut from = 0;
    loop {
        let at = from + html[from..].find('<')?;
        let (text, tag) = html.split_at(at);
        if let Some(comment) = tag.strip_prefix("<!--") {
            return Some((text, None, comment.find("-->").map_or("", |end| &comment[end + 3..])));
        }
        let is_end = tag.starts_with("</");
        let body = &tag[if is_end { 2 } else { 1 }..];
        if !body.starts_with(|c: char| c.is_ascii_alphabetic() || c == '!') {
            from = at + 1;
            continue;
        }
        let end = tag_end(body)?;
        let inside = &body[..end];
        let name = &inside[..inside.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(end)];
        let parsed = Tag { name: name.to_ascii_lowercase(), is_end, attributes: &inside[name.len()..] };
        return Some((text, (!name.is_empty()).then_some(parsed), &body[end + 1..]));
    }
}

/// The position of the `>` of a tag; quoted values of attributes may contain others.
fn tag_end(body: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in body.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    body.find('>')
}

/// What follows the end tag of an element.
fn after_end_tag<'a>(html: &'a str, name: &str) -> &'a str {
    let mut rest = html;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        if rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return rest.find('>').map_or("", |end| &rest[end + 1..]);
        }
    }
    ""
}

/// A list item or a quotation, in which blocks are indented.
struct Container {
    first: String,
    rest: &'static str,
    is_used: bool,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    depth: usize,
}

#[derive(Default)]
struct Writer {
    out: String,
    /// The Markdown of the current paragraph.
    inline: String,
    containers: Vec<Container>,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u32>>,
    /// Where the texts of open links begin, and where they lead.
    links: Vec<(usize, Option<String>)>,
    /// Level of the current heading.
    heading: usize,
    table: Option<Table>,
    /// The text and the language of the current preformatted text.
    code_block: Option<(String, String)>,
    code: bool,
}

impl Writer {
    fn text(&mut self, html: &str) {
        if html.is_empty() {
            return;
        }
        let text = decode_references(html);
        match &mut self.code_block {
            Some((code, _)) => code.push_str(&text),
            None if self.code => self.inline.push_str(&text.replace(['`', '\n'], " ")),
            None => self.inline.push_str(&escaped(&text)),
        }
    }

    fn tag(&mut self, tag: &Tag<'_>) {
        if let Some((code, language)) = &mut self.code_block {
            match (tag.name.as_str(), tag.is_end) {
                ("pre", true) => self.end_code_block(),
                ("br", _) => code.push('\n'),
                ("code", false) if code.is_empty() => *language = language_of(tag),
                _ => {}
            }
            return;
        }
        match (tag.name.as_str(), tag.is_end) {
            ("br", _) if self.table.is_some() || self.heading > 0 => self.inline.push(' '),
            ("br", _) => self.inline.push_str("\\\n"),
            ("hr", _) => {
                self.flush();
                self.block("---");
            }
            ("strong" | "b", _) => self.inline.push_str("**"),
            ("em" | "i" | "cite", _) => self.inline.push('*'),
            ("del" | "s", _) => self.inline.push_str("~~"),
            ("code" | "kbd" | "samp", end) if self.code == end => {
                self.code = !end;
                self.inline.push('`');
            }
            ("a", false) => self.links.push((self.inline.len(), tag.attribute("href").and_then(|url| safe(&url)))),
            ("a", true) => self.end_link(),
            ("img", _) => self.image(tag),
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", end) => {
                self.flush();
                let level = tag.name.bytes().last().map_or(1, |digit| usize::from(digit - b'0'));
                self.heading = if end { 0 } else { level };
            }
            ("pre", false) => {
                self.flush();
                self.code_block = Some((String::new(), language_of(tag)));
            }
            ("blockquote", end) => self.container(end, || ("> ".to_owned(), "> ")),
            ("ul", end) => self.list(end, None),
            ("ol", end) => {
                let start = tag.attribute("start").and_then(|n| n.parse().ok()).unwrap_or(1);
                self.list(end, Some(start));
            }
            ("li", end) => self.item(end),
            ("table", end) => self.table(end),
            ("tr", false) => {
                if let Some(table) = self.table.as_mut().filter(|table| table.depth == 1) {
                    table.rows.push(Vec::new());
                }
                self.inline.clear();
            }
            ("td" | "th", false) => self.inline.push(' '),
            ("td" | "th", true) => {
                if let Some(table) = self.table.as_mut().filter(|table| table.depth == 1)
                    && let Some(row) = table.rows.last_mut()
                {
                    row.push(collapsed(&std::mem::take(&mut self.inline)));
                    self.links.clear();
                }
            }
            (name, _) if BLOCKS.contains(&name) => self.flush(),
            _ => {}
        }
    }

    fn end_link(&mut self) {
        let Some((start, url)) = self.links.pop() else { return };
        if let (Some(url), true) = (url, start < self.inline.len()) {
            self.inline.insert(start, '[');
            self.inline.push_str(&format!("](<{url}>)"));
        }
    }

    fn image(&mut self, tag: &Tag<'_>) {
        if let Some(url) = tag.attribute("src").and_then(|url| safe(&url)) {
            let alt = escaped(&tag.attribute("alt").unwrap_or_default());
            self.inline.push_str(&format!("![{}](<{url}>)", collapsed(&alt)));
        }
    }

    fn container(&mut self, is_end: bool, new: impl FnOnce() -> (String, &'static str)) {
        self.flush();
        if is_end {
            self.containers.pop_if(|container| container.rest == "> ");
        } else if self.containers.len() < MAX_DEPTH {
            let (first, rest) = new();
            self.containers.push(Container { first, rest, is_used: false });
        }
    }

    fn list(&mut self, is_end: bool, number: Option<u32>) {
        self.flush();
        if is_end {
            self.containers.pop_if(|container| container.rest != "> ");
            self.lists.pop();
        } else if self.lists.len() < MAX_DEPTH {
            self.lists.push(number);
        }
        if is_end && self.lists.is_empty() {
            // The next block is no part of the last item.
            self.containers.retain(|container| container.rest == "> ");
        }
    }

    fn item(&mut self, is_end: bool) {
        self.flush();
        if is_end {
            self.containers.pop_if(|container| container.rest != "> ");
            return;
        }
        // An item without an end tag ends where the next one begins.
        let n_open = self.containers.iter().filter(|container| container.rest != "> ").count();
        if n_open >= self.lists.len().max(1) {
            self.containers.pop_if(|container| container.rest != "> ");
        }
        let first = match self.lists.last_mut() {
            Some(Some(number)) => {
                let first = format!("{number}. ");
                *number = number.saturating_add(1);
                first
            }
            _ => "- ".to_owned(),
        };
        if self.containers.len() < MAX_DEPTH {
            let rest = if first.len() > 2 { "    " } else { "  " };
            self.containers.push(Container { first, rest, is_used: false });
        }
    }

    fn table(&mut self, is_end: bool) {
        match (&mut self.table, is_end) {
            (None, true) => {}
            (None, false) => {
                self.flush();
                self.table = Some(Table { rows: Vec::new(), depth: 1 });
            }
            (Some(table), false) => table.depth += 1,
            (Some(table), true) if table.depth > 1 => table.depth -= 1,
            (Some(_), true) => self.end_table(),
        }
    }

    fn end_table(&mut self) {
        let Some(Table { rows, .. }) = self.table.take() else { return };
        self.flush();
        let width = rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for (n, mut row) in rows.into_iter().filter(|row| !row.is_empty()).enumerate() {
            // A short row is not filled up beyond what its table has anyway.
            row.resize(width.min(row.len().max(1) + 64), String::new());
            text.push_str(&format!("| {} |\n", row.join(" | ")));
            if n == 0 {
                text.push_str(&format!("|{}\n", " --- |".repeat(row.len())));
            }
        }
        self.block(text.trim_end());
    }

    fn end_code_block(&mut self) {
        let Some((code, language)) = self.code_block.take() else { return };
        let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        self.block(&format!("{fence}{language}\n{}\n{fence}", code.trim_matches('\n')));
    }

    /// Ends a paragraph.
    fn flush(&mut self) {
        if self.table.is_some() {
            self.inline.push(' ');
            return;
        }
        if self.code {
            self.inline.push('`');
            self.code = false;
        }
        self.links.clear();
        let text = collapsed(&std::mem::take(&mut self.inline));
        // Without text, markers of emphasis mean nothing.
        if text.chars().any(|c| !matches!(c, '*' | '~' | '`' | '\\' | ' ' | '\n')) {
            let text = match self.heading {
                0 => guarded(&text),
                level => format!("{} {text}", "#".repeat(level)),
            };
            self.block(&text);
        }
    }

    /// Writes a block with the indentation of the open lists and quotations.
    fn block(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let is_next_item = self.containers.last().is_some_and(|container| !container.is_used && container.rest != "> ");
        let is_inner = self.containers.iter().filter(|container| container.rest != "> ").count() > 1;
        let is_numbered_on = self.out.ends_with('\n') && is_next_item && (is_inner || self.follows_item());
        if !self.out.is_empty() && !is_numbered_on {
            let prefix: String = self.containers.iter().filter(|c| c.is_used).map(|container| container.rest).collect();
            self.out.push_str(prefix.trim_end());
            self.out.push('\n');
        }
        for line in text.split('\n') {
            let start = self.out.len();
            for container in &mut self.containers {
                if container.is_used {
                    self.out.push_str(container.rest);
                } else {
                    self.out.push_str(&container.first);
                    container.is_used = true;
                }
            }
            self.out.push_str(line);
            let end = self.out[start..].trim_end().len() + start;
            self.out.truncate(end);
            self.out.push('\n');
        }
    }

    /// Whether the last line is one of a list.
    fn follows_item(&self) -> bool {
        let line = self.out.trim_end().rsplit('\n').next().unwrap_or_default();
        let line = line.trim_start_matches(['>', ' ']);
        line.starts_with("- ") || line.split_once(". ").is_some_and(|(n, _)| n.bytes().all(|c| c.is_ascii_digit()))
    }

    fn finish(mut self) -> String {
        self.end_code_block();
        self.end_table();
        self.flush();
        self.out
    }
}

/// The language of preformatted text, by the class `language-…`.
fn language_of(tag: &Tag<'_>) -> String {
    let class = tag.attribute("class").unwrap_or_default();
    let language = class.split_whitespace().find_map(|class| class.strip_prefix("language-")).unwrap_or_default();
    language.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#')).take(20).collect()
}

/// A URL that may be a link: of the web, of mail, or relative. Characters that would end it are encoded.
fn safe(url: &str) -> Option<String> {
    let url = url.trim();
    let scheme = url.split(['/', '?', '#']).next().and_then(|start| start.split_once(':')).map(|(scheme, _)| scheme);
    let is_safe =
        scheme.is_none_or(|scheme| ["http", "https", "mailto"].iter().any(|s| s.eq_ignore_ascii_case(scheme)));
    if url.is_empty() || !is_safe {
        return None;
    }
    let mut out = String::with_capacity(url.len());
    for c in url.chars() {
        match c {
            '<' | '>' | '\\' | ' ' | '"' | '`' | '|' => out.push_str(&format!("%{:02X}", u32::from(c))),
            c if c.is_control() || c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    Some(out)
}

/// Text whose characters mean themselves in Markdown.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~') {
            out.push('\\');
        }
        out.push(if c.is_whitespace() { ' ' } else { c });
    }
    out
}

/// Text without white space at its ends, and single spaces.
fn collapsed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (n, line) in text.split('\n').enumerate() {
        if n > 0 {
            out.push('\n');
        }
        for (n, word) in line.split(' ').filter(|word| !word.is_empty()).enumerate() {
            if n > 0 {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    out.trim().trim_end_matches("\\\n").trim_end().to_owned()
}

/// A paragraph whose lines do not begin a heading, a list or a line.
fn guarded(text: &str) -> String {
    let guard = |line: &str| {
        let n_digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let after = line.get(n_digits..).unwrap_or_default();
        if n_digits > 0 && after.starts_with(['.', ')']) {
            return format!("{}\\{after}", &line[..n_digits]);
        }
        let is_marker = line.starts_with(['#', '+', '=']) || line.starts_with('-');
        if is_marker { format!("\\{line}") } else { line.to_owned() }
    };
    text.split('\n').map(|line| guard(line.trim())).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        #[rustfmt::skip]
        let rows = [
            ("", ""),
            ("<p>One <strong>two</strong>\n <em>three</em> &amp; four</p><p>five<br>six</p>", "One **two** *three* \\& four\n\nfive\\\nsix\n"),
            ("<h2>Title</h2>text<h3 class=x>Sub</h3>", "## Title\n\ntext\n\n### Sub\n"),
            ("<p><a href='/x y'>link</a> <a href=https://a.example/>b</a></p>", "[link](</x%20y>) [b](<https://a.example/>)\n"),
            ("<ul><li>one</li><li>two<ul><li>inner</li></ul></li></ul><p>after</p>", "- one\n- two\n  - inner\n\nafter\n"),
            ("<p>x</p><ol start=3><li><p>a</p><p>b</p></li><li>c</li></ol>", "x\n\n3. a\n\n    b\n\n4. c\n"),
            ("<ul><li>one<li>two</ul>", "- one\n- two\n"),
            ("<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n>\n> b\n\nc\n"),
            ("<pre><code class=\"language-rust\">fn x() {\n  a &lt; b;\n}</code></pre>", "```rust\nfn x() {\n  a < b;\n}\n```\n"),
            ("<pre>a ``` b</pre>", "````\na ``` b\n````\n"),
            ("<p>Use <code>a*b</code>.</p>", "Use `a*b`.\n"),
            ("<figure><img src=\"/a.png\" alt=\"A [b]\"><figcaption>Cap</figcaption></figure>", "![A \\[b\\]](</a.png>)\n\nCap\n"),
            ("<table><tr><th>a</th><th>b</th></tr><tr><td>1|2</td><td><p>x</p></td></tr></table>", "| a | b |\n| --- | --- |\n| 1\\|2 | x |\n"),
            ("<hr/>x<!-- wp:x --><!-- /wp:x -->", "---\n\nx\n"),
            ("<p><strong></strong></p>", ""),
        ];
        for (html, expected) in rows {
            assert_eq!(to_markdown(html), expected, "{html}");
        }
    }

    /// Nothing in a text becomes markup, a script or a link that runs one.
    #[test]
    fn hostile_documents() {
        #[rustfmt::skip]
        let rows = [
            ("<script>alert(1)</script><style>x</style><iframe src=x>y</iframe>z", "z\n"),
            ("<p onclick=alert(1)>x</p>", "x\n"),
            ("&lt;script&gt;alert(1)&lt;/script&gt;", "\\<script\\>alert(1)\\</script\\>\n"),
            ("&amp;lt;b&amp;gt;", "\\&lt;b\\&gt;\n"),
            ("<a href=\"javascript:alert(1)\">x</a>", "x\n"),
            ("<a href=\" JaVa&#10;script:alert(1)\">x</a>", "x\n"),
            ("<a href=\"data:text/html,x\">x</a><img src=\"vbscript:x\">", "x\n"),
            ("<a href=\"/a>)[x](javascript:x\">y</a>", "[y](</a%3E)[x](javascript:x>)\n"),
            ("<a href=\"/a&#10;&#10;# x\">y</a>", "[y](</a#%20x>)\n"),
            ("<img src=/x alt=\"](javascript:x) &lt;b&gt;\">", "![\\](javascript:x) \\<b\\>](</x>)\n"),
            ("<p># no heading</p><p>- no list</p><p>1. no list</p><p>=== </p>", "\\# no heading\n\n\\- no list\n\n1\\. no list\n\n\\===\n"),
            ("<p>[x](javascript:y) *a* _b_ `c` ![d](e)</p>", "\\[x\\](javascript:y) \\*a\\* \\_b\\_ \\`c\\` !\\[d\\](e)\n"),
            ("<code>a`b</code>", "`a b`\n"),
            ("<pre><code class=\"language-x`y\n#\">c</code></pre>", "```xy\nc\n```\n"),
            ("a &#10;&#10;# b", "a # b\n"),
        ];
        for (html, expected) in rows {
            assert_eq!(to_markdown(html), expected, "{html}");
        }
        for open in [
            "<",
            "<a \"",
            "<!--",
            "<ul><li>",
            "<blockquote>",
            "<table><tr><td>",
            "<a href=x>",
            "<b>",
            "<pre>",
            "<code>",
            "<script>",
            "</li>",
            "`",
            "<td>",
        ] {
            let long = to_markdown(&open.repeat(20_000));
            assert!(long.len() < 2_000_000, "{open}: {}", long.len());
            to_markdown(&format!("{open}x").repeat(10_000));
        }
    }
}
