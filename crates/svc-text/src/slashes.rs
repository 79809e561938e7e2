//! Backslash escapes, and trailing slashes of paths.

/// Adds a backslash before quotes and backslashes; NUL becomes `\0`. Source: `wp_slash`.
pub fn slash(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\'' | '"' | '\\' => out.extend(['\\', c]),
            '\0' => out.push_str("\\0"),
            c => out.push(c),
        }
    }
    out
}

/// Removes one level of backslashes; `\0` becomes NUL. Source: `wp_unslash`.
pub fn unslash(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('0') => out.push('\0'),
                Some(c) => out.push(c),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}

/// Removes all slashes and backslashes from the end of a path. Source: `untrailingslashit`.
pub fn untrailing_slash(path: &str) -> &str {
    path.trim_end_matches(['/', '\\'])
}

/// Makes a path end in exactly one slash. Source: `trailingslashit`.
pub fn trailing_slash(path: &str) -> String {
    format!("{}/", untrailing_slash(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_and_forth() {
        assert_eq!(slash("it's \\ \0"), "it\\'s \\\\ \\0");
        assert_eq!(unslash(&slash("it's \\ \"\0")), "it's \\ \"\0");
        assert_eq!(unslash("a\\b\\"), "ab");
        assert_eq!((trailing_slash("a//\\"), untrailing_slash("a/\\")), ("a/".to_owned(), "a"));
    }
}
