//! PHP's `trim` functions, whose white space differs from Unicode's.

/// Whether PHP's `trim` removes this character: space, tab, line feed, carriage return, NUL, vertical tab.
pub fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\0' | '\x0B')
}

/// PHP's `trim`.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// PHP's `ltrim`.
pub fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// PHP's `rtrim`.
pub fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Replaces every run of matching characters by a single `by`.
pub(crate) fn collapse(text: &str, is_match: impl Fn(char) -> bool, by: char) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside = false;
    for c in text.chars() {
        let hit = is_match(c);
        if !hit {
            out.push(c);
        } else if !inside {
            out.push(by);
        }
        inside = hit;
    }
    out
}

/// Removes triples `% x y` that `hit` accepts, including those that a removal creates.
///
/// The end of a triple cannot start another one, so removing them from the left with a stack gives the result of any
/// other order, in a single pass.
pub(crate) fn remove_percent_triples(text: &str, hit: impl Fn(u8, u8) -> bool) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut found = false;
    for c in text.chars() {
        out.push(c);
        if let [.., b'%', x, y] = out.as_bytes()
            && hit(*x, *y)
        {
            out.truncate(out.len() - 3);
            found = true;
        }
    }
    (out, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_php_spaces_are_trimmed() {
        assert_eq!(trim(" \t\r\n\0\x0Ba b\u{a0} "), "a b\u{a0}");
        assert_eq!(trim("\x0Ca\u{3000}"), "\x0Ca\u{3000}");
        assert_eq!((trim_start(" a "), trim_end(" a ")), ("a ", " a"));
    }

    #[test]
    fn nested_triples_are_removed() {
        let hex = |x: u8, y: u8| x.is_ascii_hexdigit() && y.is_ascii_hexdigit();
        assert_eq!(remove_percent_triples("a%%200%410b", hex), ("ab".to_owned(), true));
        assert_eq!(remove_percent_triples("50%zz é%é", hex), ("50%zz é%é".to_owned(), false));
    }
}
