//! The text that a pattern's PHP file prints, as far as it is constant.
//!
//! Understood are texts outside of PHP, translated texts (`esc_html__( 'Hello', 'theme' )` and its like, which stay as they
//! are written) and addresses of the theme's own files. All other code prints nothing.

/// Functions that give their first argument, and whether they print it by themselves.
#[rustfmt::skip]
const TEXTS: &[(&str, bool)] = &[
    ("esc_html__", false), ("esc_attr__", false), ("__", false), ("_x", false), ("esc_html_x", false), ("esc_attr_x", false),
    ("esc_html_e", true), ("esc_attr_e", true), ("_e", true), ("_ex", true),
];
/// Functions around others that escape what is harmless here already.
const WRAPPERS: [&str; 5] = ["esc_url", "esc_html", "esc_attr", "wp_kses_post", "trailingslashit"];
/// Functions that give the address of the theme's folder, or of a file in it.
const FOLDERS: [&str; 2] = ["get_template_directory_uri", "get_stylesheet_directory_uri"];
/// Functions that give the address of a file in the theme's folder.
const FILES: [&str; 2] = ["get_theme_file_uri", "get_parent_theme_file_uri"];
/// Calls within calls.
const MAX_DEPTH: usize = 8;

/// What the file prints. `url` is the address of the theme's folder.
pub(super) fn output(source: &str, url: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some((text, code)) = rest.split_once("<?") {
        out.push_str(text);
        let (code, after) = code.split_once("?>").unwrap_or((code, ""));
        out.push_str(&printed(code, url));
        // As PHP, which swallows a line break right after its closing tag.
        rest = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    }
    out.push_str(rest);
    out
}

/// What the statements of one tag print.
fn printed(code: &str, url: &str) -> String {
    let code = match code.strip_prefix('=') {
        Some(value) => return Reader { rest: value, url }.value(0).unwrap_or_default(),
        None => code.strip_prefix("php").unwrap_or(code),
    };
    let mut reader = Reader { rest: code, url };
    let mut out = String::new();
    while let Some(text) = reader.statement() {
        out.push_str(&text);
    }
    out
}

struct Reader<'a> {
    rest: &'a str,
    url: &'a str,
}

impl<'a> Reader<'a> {
    /// What the next statement prints; `None` at the end, or at one that is not understood.
    fn statement(&mut self) -> Option<String> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        let word = self.word();
        let text = if word == "echo" || word == "print" {
            self.value(0)?
        } else if TEXTS.iter().any(|(name, prints)| *name == word && *prints) {
            self.first_argument()?
        } else {
            return None;
        };
        self.skip_space();
        self.rest = self.rest.strip_prefix(';').unwrap_or(self.rest);
        Some(text)
    }

    /// A value: texts and calls, joined by dots.
    fn value(&mut self, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut out = String::new();
        loop {
            self.skip_space();
            if self.rest.starts_with(['\'', '"']) {
                out.push_str(&self.quoted()?);
            } else {
                let name = self.word();
                out.push_str(&self.call(name, depth)?);
            }
            self.skip_space();
            match self.rest.strip_prefix('.') {
                Some(rest) => self.rest = rest,
                None => return Some(out),
            }
        }
    }

    fn call(&mut self, name: &str, depth: usize) -> Option<String> {
        if TEXTS.iter().any(|(text, prints)| *text == name && !prints) {
            return self.first_argument();
        }
        self.skip_space();
        self.rest = self.rest.strip_prefix('(')?;
        let value = if FOLDERS.contains(&name) {
            self.url.to_owned()
        } else if FILES.contains(&name) {
            self.skip_space();
            let file = self.quoted()?;
            format!("{}/{}", self.url, file.trim_start_matches('/'))
        } else if WRAPPERS.contains(&name) {
            self.value(depth + 1)?
        } else {
            return None;
        };
        self.skip_space();
        self.rest = self.rest.strip_prefix(')')?;
        Some(value)
    }

    /// The first of some constant arguments.
    fn first_argument(&mut self) -> Option<String> {
        self.skip_space();
        self.rest = self.rest.strip_prefix('(')?;
        let mut first = None;
        loop {
            self.skip_space();
            let text = self.quoted()?;
            first.get_or_insert(text);
            self.skip_space();
            if let Some(rest) = self.rest.strip_prefix(',') {
                self.rest = rest;
            } else {
                self.rest = self.rest.strip_prefix(')')?;
                return first;
            }
        }
    }

    /// A text in quotes; double ones must hold no variable.
    fn quoted(&mut self) -> Option<String> {
        let mut chars = self.rest.char_indices();
        let (_, quote) = chars.next().filter(|(_, c)| matches!(c, '\'' | '"'))?;
        let mut out = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => match chars.next()?.1 {
                    escaped if escaped == quote || escaped == '\\' => out.push(escaped),
                    'n' if quote == '"' => out.push('\n'),
                    other => out.extend(['\\', other]),
                },
                '$' if quote == '"' => return None,
                c if c == quote => {
                    self.rest = &self.rest[at + c.len_utf8()..];
                    return Some(out);
                }
                c => out.push(c),
            }
        }
        None
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Steps over blanks and comments.
    fn skip_space(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let after = if self.rest.starts_with("/*") {
                self.rest.split_once("*/").map_or("", |(_, rest)| rest)
            } else if self.rest.starts_with("//") || self.rest.starts_with('#') {
                self.rest.split_once('\n').map_or("", |(_, rest)| rest)
            } else {
                return;
            };
            self.rest = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_code_prints() {
        let rows = [
            ("<?php\n/** Title: x */\n?>\n<p>a</p>\n", "<p>a</p>\n"),
            ("a<?php echo esc_html__( 'It\\'s', 'd' ); ?> b", "aIt's b"),
            ("<?php esc_html_e( \"Two\", 'd' ) ?>", "Two"),
            ("<?= __('x') ?>", "x"),
            ("<?php echo esc_url( get_template_directory_uri() ); ?>/a.png", "U/t/a.png"),
            ("<?php echo esc_url( get_theme_file_uri( '/a.png' ) ) . '?x'; ?>", "U/t/a.png?x"),
            ("<?php // a\necho 'x'; echo 'y';", "xy"),
            ("[<?php echo date('Y'); ?>]", "[]"),
            ("[<?php if ($x) { echo 'x'; } ?>]", "[]"),
            ("[<?php echo \"$x\"; ?>]", "[]"),
        ];
        for (source, expected) in rows {
            assert_eq!(output(source, "U/t"), expected, "{source}");
        }
    }
}
