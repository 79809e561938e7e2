//! Writes inline units.
//!
//! Delimiters of emphasis are written only where CommonMark reads them as such, which depends on the characters around them; elsewhere the
//! text is written without emphasis.

use super::document::{Inline, Wrapper};

/// A paragraph, whose lines end with hard line breaks.
pub(super) fn write_paragraph(units: &[Inline]) -> String {
    let text = write(units, Place::Paragraph);
    let lines: Vec<String> = text.split('\n').map(escape_start).collect();
    lines.join("\n")
}

/// The text of a heading.
pub(super) fn write_line(units: &[Inline]) -> String {
    write(units, Place::Line)
}

/// A cell of a table.
pub(super) fn write_cell(units: &[Inline]) -> String {
    write(units, Place::Cell)
}

fn write(units: &[Inline], place: Place) -> String {
    let mut line = Line { out: String::new(), before: '\n', place, is_in_link: false };
    line.units(units, After { is_separator: true, delimiter: None });
    let (_, text, _) = split_gaps(&line.out);
    text.to_owned()
}

#[derive(Clone, Copy, PartialEq)]
enum Place {
    Paragraph,
    Line,
    Cell,
}

/// What follows a unit.
#[derive(Clone, Copy)]
struct After {
    /// Whether it certainly begins with white space or ASCII punctuation.
    is_separator: bool,
    /// The delimiter that it begins with, if the unit is the last in a wrapper.
    delimiter: Option<char>,
}

/// White space at the beginning or the end of the units in a wrapper, which is written outside.
#[derive(Clone, Copy, PartialEq)]
enum Gap {
    None,
    Space,
    Break,
}

const BREAK: &str = "\\\n";

struct Line {
    out: String,
    /// The character before `out`.
    before: char,
    place: Place,
    is_in_link: bool,
}

impl Line {
    fn last(&self) -> char {
        self.out.chars().next_back().unwrap_or(self.before)
    }

    fn units(&mut self, units: &[Inline], outer: After) {
        for (at, unit) in units.iter().enumerate() {
            let rest = units.get(at + 1..).unwrap_or_default();
            match unit {
                Inline::Text(text) => self.text(text),
                Inline::Code(code) => self.code(code),
                Inline::Image { alt, destination } => {
                    let mut inner = self.inner('[');
                    inner.text(&folded(alt));
                    // Some parsers end the text of an image in a link at an escaped bracket.
                    let alt = inner.out.trim_matches(' ').replace("\\[", "&#91;").replace("\\]", "&#93;");
                    self.unit(&format!("![{alt}]({destination})"));
                }
                Inline::Break => self.gap(Gap::Break),
                Inline::In(Wrapper::Link(destination), units) => {
                    let mut inner = Line { is_in_link: true, ..self.inner('[') };
                    inner.units(units, After { is_separator: true, delimiter: None });
                    let (before, text, after) = split_gaps(&inner.out);
                    self.gap(before);
                    self.unit(&format!("[{text}]({destination})"));
                    self.gap(after);
                }
                Inline::In(wrapper, units) => self.emphasis(wrapper, units, after(rest, outer)),
            }
        }
    }

    fn inner(&self, before: char) -> Line {
        Line { out: String::new(), before, place: self.place, is_in_link: self.is_in_link }
    }

    /// Adds a unit that begins with a bracket or a delimiter.
    fn unit(&mut self, unit: &str) {
        // Text does not escape it, since only here it would make an image of a link.
        if unit.starts_with('[') && self.out.ends_with('!') {
            self.out.pop();
            self.out.push_str("\\!");
        }
        self.out.push_str(unit);
    }

    fn gap(&mut self, gap: Gap) {
        match (gap, self.last()) {
            (Gap::None, _) | (_, '\n') | (Gap::Space, ' ') => {}
            (Gap::Break, _) if self.place == Place::Paragraph => {
                if self.out.ends_with(' ') {
                    self.out.pop();
                }
                self.out.push_str(BREAK);
            }
            (_, ' ') => {}
            _ => self.out.push(' '),
        }
    }

    fn text(&mut self, text: &str) {
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let last = self.last();
            match c {
                ' ' => self.gap(Gap::Space),
                // In words, underscores are no delimiters.
                '_' if last.is_ascii_alphanumeric() && chars.peek().is_some_and(char::is_ascii_alphanumeric) => {
                    self.out.push('_');
                }
                // Parsers disagree on `\\\|` in a table.
                '|' if last == '\\' && self.place == Place::Cell => self.out.push_str("&#124;"),
                // Parsers that make links of bare URLs read a backslash as part of one, which would leave `<` unescaped.
                '<' => self.out.push_str("&lt;"),
                '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '|' => self.out.extend(['\\', c]),
                '&' if chars.peek().is_none_or(|next| next.is_ascii_alphanumeric() || *next == '#') => {
                    self.out.push_str("\\&");
                }
                // At the end of a heading.
                '#' if matches!(last, ' ' | '\n') => self.out.push_str("\\#"),
                c => self.out.push(c),
            }
        }
    }

    /// Adds a code span. Code that has no unambiguous form here is written as text.
    fn code(&mut self, code: &str) {
        let text = code.trim_matches(' ');
        // The fence after a bare URL may be read as part of it.
        let is_after_word = !matches!(self.last(), ' ' | '\n');
        if self.last() == '`'
            || (is_after_word && text.contains('<'))
            // Some parsers end a link at a bracket in code.
            || (self.is_in_link && text.contains(['[', ']']))
            || (self.place == Place::Cell && text.contains("\\|"))
        {
            return self.text(code);
        }
        if code.starts_with(' ') {
            self.gap(Gap::Space);
        }
        let fence = "`".repeat(longest_run(text, '`') + 1);
        let padding = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        let text = if self.place == Place::Cell { text.replace('|', "\\|") } else { text.to_owned() };
        self.unit(&format!("{fence}{padding}{text}{padding}{fence}"));
        if code.ends_with(' ') {
            self.gap(Gap::Space);
        }
    }

    fn emphasis(&mut self, wrapper: &Wrapper, units: &[Inline], after: After) {
        let delimiters: &[&str] = match wrapper {
            Wrapper::Strong => &["**"],
            // An asterisk next to one of `**` would be read as part of it.
            Wrapper::Emphasis => &["_", "*"],
            Wrapper::Deleted => &["~~"],
            Wrapper::Link(_) => &[],
        };
        for delimiter in delimiters {
            let Some(c) = delimiter.chars().next() else { continue };
            let mut inner = self.inner(c);
            inner.units(units, After { is_separator: true, delimiter: Some(c) });
            let (start, text, end) = split_gaps(&inner.out);
            let before = if start == Gap::None { self.last() } else { ' ' };
            let after = if end == Gap::None { after } else { After { is_separator: true, delimiter: None } };
            if can_open(c, before, text) && can_close(c, text, after) {
                self.gap(start);
                self.unit(&format!("{delimiter}{text}{delimiter}"));
                self.gap(end);
                return;
            }
        }
        self.units(units, after);
    }
}

/// What follows the units before `rest`.
fn after(rest: &[Inline], outer: After) -> After {
    let first = match rest.first() {
        None => return outer,
        Some(Inline::Text(text) | Inline::Code(text)) => text.chars().next(),
        Some(Inline::Image { .. } | Inline::Break | Inline::In(Wrapper::Link(_), _)) => None,
        Some(Inline::In(_, units)) => return After { delimiter: None, ..after(units, outer) },
    };
    After { is_separator: first.is_none_or(is_separator), delimiter: None }
}

fn is_separator(c: char) -> bool {
    c.is_ascii_punctuation() || matches!(c, ' ' | '\n')
}

/// Whether a delimiter between `before` and `text` begins emphasis. Characters that parsers classify differently are taken for those
/// that prevent it.
fn can_open(delimiter: char, before: char, text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let is_word = first.is_alphanumeric() && delimiter != '_';
    !first.is_whitespace() && before != delimiter && (is_word || is_separator(before))
}

/// Whether a delimiter between `text` and what follows ends emphasis.
fn can_close(delimiter: char, text: &str, after: After) -> bool {
    let Some(last) = text.chars().next_back() else { return false };
    let is_word = last.is_alphanumeric() && delimiter != '_';
    !last.is_whitespace() && after.delimiter != Some(delimiter) && (is_word || after.is_separator)
}

/// Splits units into the gap at their beginning, the rest, and the gap at their end.
fn split_gaps(text: &str) -> (Gap, &str, Gap) {
    let (mut start, mut end, mut rest) = (Gap::None, Gap::None, text);
    loop {
        if let Some(after) = rest.strip_prefix(BREAK) {
            (start, rest) = (Gap::Break, after);
        } else if let Some(after) = rest.strip_prefix(' ') {
            (start, rest) = (if start == Gap::None { Gap::Space } else { start }, after);
        } else if let Some(before) = rest.strip_suffix(BREAK) {
            (end, rest) = (Gap::Break, before);
        } else if let Some(before) = rest.strip_suffix(' ') {
            (end, rest) = (if end == Gap::None { Gap::Space } else { end }, before);
        } else {
            return (start, rest, end);
        }
    }
}

/// Text with its white space folded, and without control characters.
fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    words.join(" ").replace(char::is_control, "")
}

/// The length of the longest run of a character.
pub(super) fn longest_run(text: &str, of: char) -> usize {
    let mut run = 0;
    text.chars().fold(0, |longest, c| {
        run = if c == of { run + 1 } else { 0 };
        longest.max(run)
    })
}

/// Escapes the beginning of a line that would be a heading, a quotation, a list or a rule.
fn escape_start(line: &str) -> String {
    let rest = line.get(1..).unwrap_or_default();
    match line.chars().next() {
        Some('#' | '>' | '=' | ':') => format!("\\{line}"),
        Some('-' | '+') if rest.is_empty() || rest.starts_with([' ', '-', '+', '\\', '\t']) => format!("\\{line}"),
        Some('0'..='9') => {
            let (number, rest) = line.split_at(line.find(|c: char| !c.is_ascii_digit()).unwrap_or(line.len()));
            let after = rest.strip_prefix(['.', ')']);
            if after.is_some_and(|after| after.is_empty() || after.starts_with([' ', '\\'])) {
                format!("{number}\\{rest}")
            } else {
                line.to_owned()
            }
        }
        _ => line.to_owned(),
    }
}
