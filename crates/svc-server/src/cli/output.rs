//! Output of commands: results to standard output, errors to standard error.

use std::{
    io::{self, Write},
    sync::OnceLock,
};

use clap::{Arg, ArgAction};

/// The flag of commands that can print JSON.
pub(super) fn json_flag() -> Arg {
    Arg::new("json").long("json").action(ArgAction::SetTrue).help("Print JSON")
}

/// The first error of standard output.
static FAILED: OnceLock<io::Error> = OnceLock::new();

/// Prints a line. [`failure`] returns the first error.
pub(crate) fn say(line: &str) {
    let _written = show(line);
}

/// Prints a line. Returns whether it was written.
pub(super) fn show(line: &str) -> bool {
    let mut out = io::stdout().lock();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Ok(()) => true,
        Err(error) => {
            let _first = FAILED.set(error);
            false
        }
    }
}

/// Why output of the command was lost. That the reader of a pipe has enough (`| head`) is no error.
pub(super) fn failure() -> Option<&'static io::Error> {
    FAILED.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// Prints a line that is not part of the result to standard error.
pub(super) fn note(line: &str) {
    drop(writeln!(io::stderr().lock(), "{line}"));
}

/// Prints an error.
pub(super) fn print_error(line: &str) {
    drop(writeln!(io::stderr().lock(), "svc-server: {line}"));
}

/// Prints a warning.
pub(super) fn print_warning(line: &str) {
    print_error(&format!("warning: {line}"));
}

/// Prints an advice that belongs to the error before it.
pub(super) fn print_hint(line: &str) {
    drop(writeln!(io::stderr().lock(), "  hint: {line}"));
}

/// Formats rows as columns, each as wide as its widest cell.
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
