//! Fenced code blocks of Markdown documents.

/// A fenced code block.
#[derive(Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// Line of the opening fence, from 1.
    pub line: usize,
    /// The first word after the opening fence, such as `rust,no_run`.
    pub language: &'a str,
    /// The words after the language, such as `file=svc.toml`.
    pub attributes: &'a str,
    /// The lines between the fences.
    pub code: String,
}

impl<'a> Block<'a> {
    /// The value of an attribute `NAME=VALUE`; empty for an attribute without value.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.attributes.split_whitespace().find_map(|word| match word.strip_prefix(name)? {
            "" => Some(""),
            rest => rest.strip_prefix('='),
        })
    }
}

/// The closed code blocks of a text, in order.
pub fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(Block<'_>, &str, usize)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        let indent = line.len() - trimmed.len();
        let marker = ["```", "~~~"].into_iter().find(|m| trimmed.starts_with(m));
        open = match (open, marker) {
            (None, Some(marker)) => {
                let info = trimmed[marker.len()..].trim();
                let (language, attributes) = info.split_once(' ').unwrap_or((info, ""));
                Some((Block { line: number, language, attributes, code: String::new() }, marker, indent))
            }
            (Some((block, with, _)), Some(marker)) if marker == with => {
                found.push(block);
                None
            }
            (Some((mut block, with, indent)), _) => {
                // A block in a list item is indented as a whole.
                block.code.push_str(line.get(indent..).unwrap_or(trimmed));
                block.code.push('\n');
                Some((block, with, indent))
            }
            (None, None) => None,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_a_line_a_language_and_code() {
        let text = "a\n```rust,no_run\nlet a;\n```\n- b\n  ~~~\n  c\n    d\n  ~~~\n```sh\nopen";
        let found: Vec<_> = blocks(text).into_iter().map(|b| (b.line, b.language, b.code)).collect();
        assert_eq!(found, [(2, "rust,no_run", "let a;\n".to_owned()), (6, "", "c\n  d\n".to_owned())]);
    }

    #[test]
    fn attributes_follow_the_language() {
        let found = blocks("```toml file=svc.toml server\n```\n");
        let block = &found[0];
        assert_eq!((block.language, block.attribute("file")), ("toml", Some("svc.toml")));
        assert_eq!((block.attribute("server"), block.attribute("output")), (Some(""), None));
    }
}
