//! Writes blocks.

use super::{
    document::{Block, Inline},
    inlines::{longest_run, write_cell, write_line, write_paragraph},
};

/// Writes a document; `None` if it would be longer than the budget, in bytes. Lists and quotations in more than `max_containers`
/// others are part of the one around them.
pub(super) fn document(blocks: &[Block], max_containers: usize, budget: usize) -> Option<String> {
    let mut writer = Writer { out: String::new(), containers: Vec::new(), max_containers, budget };
    writer.blocks(blocks, false)?;
    Some(writer.out)
}

/// A list item or a quotation around the blocks that are written.
struct Container {
    /// The beginning of the first line, until it is written.
    first: Option<String>,
    /// The beginning of further lines.
    next: String,
}

struct Writer {
    out: String,
    containers: Vec<Container>,
    max_containers: usize,
    budget: usize,
}

impl Writer {
    /// Writes a line in its containers; `None` if the budget is exceeded.
    fn line(&mut self, line: &str) -> Option<()> {
        let start = self.out.len();
        for container in &mut self.containers {
            match container.first.take() {
                Some(first) => self.out.push_str(&first),
                None => self.out.push_str(&container.next),
            }
        }
        self.out.push_str(line);
        self.end_line(start)
    }

    fn empty_line(&mut self) -> Option<()> {
        let start = self.out.len();
        self.containers.iter().for_each(|container| self.out.push_str(&container.next));
        self.end_line(start)
    }

    fn end_line(&mut self, start: usize) -> Option<()> {
        let end = self.out.get(start..).unwrap_or_default().trim_end_matches(' ').len();
        self.out.truncate(start + end);
        self.out.push('\n');
        (self.out.len() <= self.budget).then_some(())
    }

    /// Writes blocks, with empty lines between them, except in a tight list.
    fn blocks(&mut self, blocks: &[Block], is_tight: bool) -> Option<()> {
        // Two lists of the same kind would be one, if their markers were the same.
        let mut is_alternate = false;
        for (at, block) in blocks.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|before| blocks.get(before));
            if before.is_some() && !is_tight {
                self.empty_line()?;
            }
            is_alternate = match (before, block) {
                (Some(Block::List { start: before, .. }), Block::List { start, .. }) => {
                    before.is_some() == start.is_some() && !is_alternate
                }
                _ => false,
            };
            self.block(block, is_alternate)?;
        }
        Some(())
    }

    fn block(&mut self, block: &Block, is_alternate: bool) -> Option<()> {
        match block {
            Block::Paragraph(units) => write_paragraph(units).split('\n').try_for_each(|line| self.line(line)),
            Block::Heading(level, units) => {
                let marker = "#".repeat((*level).into());
                self.line(&format!("{marker} {}", write_line(units)))
            }
            Block::Rule => self.line("___"),
            Block::Code { language, text } => {
                let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
                self.line(&format!("{fence}{language}"))?;
                text.split('\n').try_for_each(|line| self.line(line))?;
                self.line(&fence)
            }
            Block::Table(rows) => self.table(rows),
            Block::Quote(blocks) => self.contained("> ".to_owned(), "> ".to_owned(), blocks, false),
            Block::List { start, items } => self.list(*start, items, is_alternate),
        }
    }

    fn contained(&mut self, first: String, next: String, blocks: &[Block], is_tight: bool) -> Option<()> {
        if self.containers.len() >= self.max_containers {
            return self.blocks(blocks, false);
        }
        self.containers.push(Container { first: Some(first), next });
        self.blocks(blocks, is_tight)?;
        self.containers.pop();
        Some(())
    }

    fn list(&mut self, start: Option<u32>, items: &[Vec<Block>], is_alternate: bool) -> Option<()> {
        let is_tight = self.containers.len() < self.max_containers && items.iter().all(|item| is_tight(item));
        for (at, item) in items.iter().enumerate() {
            if at > 0 && !is_tight {
                self.empty_line()?;
            }
            // Only the first number counts. CommonMark allows nine digits.
            let number = |start: u32| start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX)).min(999_999_999);
            let first = match (start, is_alternate) {
                (None, false) => "- ".to_owned(),
                (None, true) => "* ".to_owned(),
                (Some(start), false) => format!("{}. ", number(start)),
                (Some(start), true) => format!("{}) ", number(start)),
            };
            let next = " ".repeat(first.len());
            self.contained(first, next, item, is_tight)?;
        }
        Some(())
    }

    fn table(&mut self, rows: &[Vec<Vec<Inline>>]) -> Option<()> {
        let n_columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        for (at, row) in rows.iter().enumerate() {
            let mut line = String::from("|");
            for cell in row {
                line.push_str(&format!(" {} |", write_cell(cell)));
            }
            if at == 0 {
                line.push_str(&"  |".repeat(n_columns.saturating_sub(row.len())));
                self.line(&line)?;
                line = format!("|{}", " --- |".repeat(n_columns));
            }
            self.line(&line)?;
        }
        Some(())
    }
}

/// Whether an item of a list needs no empty lines: it is one block, or a paragraph and a list that may follow it in the next line.
fn is_tight(item: &[Block]) -> bool {
    match item {
        [_] => true,
        [Block::Paragraph(_), list] => interrupts_paragraph(list),
        _ => false,
    }
}

/// Whether a list starts in the line after a paragraph. A list with another number than 1 does not (CommonMark 0.31, section 5.3), and
/// some parsers read only text if such a list is the first item of the list in this line.
fn interrupts_paragraph(block: &Block) -> bool {
    let Block::List { start, items } = block else { return false };
    let first = items.first().and_then(|item| item.first());
    start.is_none_or(|start| start == 1)
        && first.is_none_or(|first| !matches!(first, Block::List { .. }) || interrupts_paragraph(first))
}
