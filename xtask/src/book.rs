//! `cargo xtask book`: renders `docs/` as a book in `target/book` with mdBook.
//!
//! Links of pages to files outside of `docs/` have no target in the book. mdBook runs this task as a preprocessor
//! (`book.toml`), which replaces them by their text.

use std::io::Read as _;

use anyhow::{Context, Result};
use pulldown_cmark::{Event, Options as Extensions, Parser, Tag};
use serde_json::Value;
use xtask_support::{run as run_command, say, target};

use crate::tools::MDBOOK;

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Read a book from mdBook and print it without the links (`supports RENDERER` only succeeds).
    #[arg(long, hide = true, num_args = 0.., value_name = "SUPPORTS")]
    preprocess: Option<Vec<String>>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    match options.preprocess.as_deref() {
        None => render(),
        Some([]) => preprocess(),
        Some(_) => Ok(()),
    }
}

/// Renders the book, if mdBook is installed.
pub(crate) fn render() -> Result<()> {
    let Some(mut mdbook) = MDBOOK.command("the book")? else { return Ok(()) };
    let to = target()?.join("book");
    run_command(mdbook.args(["build", "--dest-dir"]).arg(&to))?;
    say(&format!("{}", to.join("index.html").display()))
}

/// The preprocessor: standard input is a list of a context and the book.
fn preprocess() -> Result<()> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input).context("cannot read the book")?;
    let mut input: Value = serde_json::from_str(&input).context("cannot parse the book")?;
    let book = input.get_mut(1).context("mdBook has sent no book")?;
    edit_chapters(book);
    say(&book.to_string())
}

/// Edits the text of all chapters below a value.
fn edit_chapters(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(edit_chapters),
        Value::Object(members) => {
            if let Some(Value::String(text)) = members.get_mut("content") {
                *text = without_outside_links(text);
            }
            members.values_mut().for_each(edit_chapters);
        }
        _ => {}
    }
}

/// Markdown with the text of each link that leads out of the folder in place of the link.
fn without_outside_links(markdown: &str) -> String {
    let mut result = String::new();
    let mut copied = 0;
    for (event, range) in Parser::new_ext(markdown, Extensions::ENABLE_TABLES).into_offset_iter() {
        let Event::Start(Tag::Link { dest_url, .. }) = event else { continue };
        if !dest_url.starts_with("../") {
            continue;
        }
        let link = &markdown[range.clone()];
        if let Some((text, _)) = link.strip_prefix('[').and_then(|link| link.rsplit_once("](")) {
            result += &markdown[copied..range.start];
            result += text;
            copied = range.end;
        }
    }
    result + &markdown[copied..]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_out_of_the_folder_are_text() {
        let code = "\n```md\n[c](../c.md)\n```\n";
        let page = format!("See [`a`, b](../crates/a.md) and [p](p.md#x).\n\n| a |\n|---|\n| [r](../r.md#y) |\n{code}");
        let chapter = json!({"Chapter": {"name": "P", "content": page, "sub_items": []}});
        let mut book = json!({"items": [chapter, "Separator"]});
        edit_chapters(&mut book);
        let expected = format!("See `a`, b and [p](p.md#x).\n\n| a |\n|---|\n| r |\n{code}");
        assert_eq!(book["items"][0]["Chapter"]["content"], expected);
        assert_eq!(book["items"][1], "Separator");
    }
}
