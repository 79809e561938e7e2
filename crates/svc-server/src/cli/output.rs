//! What a command says: results to standard output, complaints to standard error.

use std::io::Write;

/// Writes a line of the command's result. A reader that went away is no reason to fail.
pub(crate) fn say(line: &str) {
    drop(writeln!(std::io::stdout().lock(), "{line}"));
}

/// Writes a line that must have been seen; whether it was written.
pub(super) fn show(line: &str) -> bool {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
}

/// Writes why a command failed.
pub(super) fn complain(line: &str) {
    drop(writeln!(std::io::stderr().lock(), "svc-server: {line}"));
}

/// Lines as columns, each as wide as its widest cell.
pub(super) fn columns(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |i: usize| rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let rows = [["a", "longer", "x"], ["long", "é", ""]].map(|r| r.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows), "a     longer  x\nlong  é\n");
        assert_eq!(columns(&[]), "");
    }
}
