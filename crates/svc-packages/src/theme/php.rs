//! Evaluates the constant output of a pattern's PHP file.
//!
//! Supported are text outside of PHP, translated texts (`esc_html__( 'Hello', 'theme' )` and similar, which are not
//! translated), `printf`, and URLs of the theme's own files. All other code prints nothing.

/// Functions that print, and the functions that return the same text.
const PRINTING: [(&str, &str); 5] =
    [("_e", "__"), ("_ex", "_x"), ("esc_html_e", "esc_html__"), ("esc_attr_e", "esc_attr__"), ("printf", "sprintf")];
/// Maximum number of arguments of a call.
const MAX_ARGUMENTS: usize = 32;
/// Maximum length of a call's result.
const MAX_LENGTH: usize = 1 << 20;
/// Maximum depth of nested calls.
const MAX_DEPTH: usize = 8;

/// The output of the file. `url` is the URL of the theme's folder.
pub(super) fn output(source: &str, url: &str) -> String {
    let mut out = String::new();
    let mut rest = source;
    while let Some((text, code)) = rest.split_once("<?") {
        out.push_str(text);
        let (code, after) = code.split_once("?>").unwrap_or((code, ""));
        out.push_str(&tag_output(code, url));
        // PHP omits a line break directly after its closing tag.
        rest = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
    }
    out.push_str(rest);
    out
}

/// The output of the statements in one tag.
fn tag_output(code: &str, url: &str) -> String {
    let code = match code.strip_prefix('=') {
        Some(value) => return PhpParser { rest: value, url }.value(0).unwrap_or_default(),
        None => code.strip_prefix("php").unwrap_or(code),
    };
    let mut reader = PhpParser { rest: code, url };
    let mut out = String::new();
    while let Some(text) = reader.statement() {
        out.push_str(&text);
    }
    out
}

struct PhpParser<'a> {
    rest: &'a str,
    url: &'a str,
}

impl<'a> PhpParser<'a> {
    /// The output of the next statement; `None` at the end, or if the statement is not supported.
    fn statement(&mut self) -> Option<String> {
        self.skip_space();
        if self.rest.is_empty() {
            return None;
        }
        let identifier = self.identifier();
        let text = if identifier == "echo" || identifier == "print" {
            self.list(0)?.concat()
        } else {
            let (_, returning) = PRINTING.iter().find(|(name, _)| *name == identifier)?;
            self.call(returning, 0)?
        };
        self.skip_space();
        self.rest = self.rest.strip_prefix(';').unwrap_or(self.rest);
        Some(text)
    }

    /// An expression: texts and calls, concatenated with dots.
    fn value(&mut self, depth: usize) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut out = String::new();
        loop {
            self.skip_space();
            if self.rest.starts_with(['\'', '"']) {
                out.push_str(&self.string_literal()?);
            } else {
                let name = self.identifier();
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
        self.skip_space();
        self.rest = self.rest.strip_prefix('(')?;
        self.skip_space();
        let arguments = if self.rest.starts_with(')') { Vec::new() } else { self.list(depth + 1)? };
        self.skip_space();
        self.rest = self.rest.strip_prefix(')')?;
        self.call_result(name, &arguments)
    }

    /// Expressions separated by commas, with an optional trailing comma.
    fn list(&mut self, depth: usize) -> Option<Vec<String>> {
        let mut values = Vec::new();
        loop {
            values.push(self.value(depth)?);
            self.skip_space();
            let Some(rest) = self.rest.strip_prefix(',').filter(|_| values.len() < MAX_ARGUMENTS) else {
                return Some(values);
            };
            self.rest = rest;
            self.skip_space();
            if self.rest.starts_with(')') {
                return Some(values);
            }
        }
    }

    /// The result of a function with constant arguments.
    fn call_result(&self, name: &str, arguments: &[String]) -> Option<String> {
        if let "get_template_directory_uri" | "get_stylesheet_directory_uri" = name {
            return Some(self.url.to_owned());
        }
        let first = arguments.first()?;
        let call_result = match name {
            "__" | "_x" => first.clone(),
            "esc_html" | "esc_html__" | "esc_html_x" => svc_text::esc_html(first).into_string(),
            "esc_attr" | "esc_attr__" | "esc_attr_x" => svc_text::esc_attr(first).into_string(),
            "esc_url" => svc_text::esc_url(first).into_string(),
            "wp_kses_post" => svc_content::kses::post(first).into_string(),
            "trailingslashit" => format!("{}/", first.trim_end_matches(['/', '\\'])),
            "get_theme_file_uri" | "get_parent_theme_file_uri" => {
                format!("{}/{}", self.url, first.trim_start_matches('/'))
            }
            "sprintf" => sprintf(first, &arguments[1..])?,
            _ => return None,
        };
        (call_result.len() <= MAX_LENGTH).then_some(call_result)
    }

    /// A quoted string. Double-quoted strings must not contain variables.
    fn string_literal(&mut self) -> Option<String> {
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

    fn identifier(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (identifier, rest) = self.rest.split_at(end);
        self.rest = rest;
        identifier
    }

    /// Skips white space and comments.
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

/// PHP's `sprintf` with `%s` and `%2$s`; `None` for other formats.
fn sprintf(format: &str, arguments: &[String]) -> Option<String> {
    let mut out = String::new();
    let mut rest = format;
    let mut next = 0;
    while let Some((text, directive)) = rest.split_once('%') {
        out.push_str(text);
        if let Some(after) = directive.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let digits = directive.len() - directive.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, after) = directive.split_at(digits);
        let (index, kind) = match after.strip_prefix('$') {
            Some(kind) => (number.parse::<usize>().ok()?.checked_sub(1)?, kind),
            None if number.is_empty() => {
                next += 1;
                (next - 1, after)
            }
            None => return None,
        };
        let argument = arguments.get(index)?;
        rest = kind.strip_prefix('s')?;
        out.push_str(argument);
        if out.len() > MAX_LENGTH {
            return None;
        }
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluates_constant_code() {
        let rows = [
            ("<?php\n/** Title: x */\n?>\n<p>a</p>\n", "<p>a</p>\n"),
            ("a<?php echo esc_html__( 'It\\'s', 'd' ); ?> b", "aIt&#039;s b"),
            ("<?php esc_html_e( \"Two\", 'd' ) ?>", "Two"),
            ("<?php esc_attr_e( 'a \"b\"', 'd', ); _e( '<b>' ); ?>", "a &quot;b&quot;<b>"),
            ("<?= __('x') ?>", "x"),
            ("<?php echo esc_url( get_template_directory_uri() ); ?>/a.png", "https://u/t/a.png"),
            ("<?php echo esc_url( get_theme_file_uri( '/a.png' ) ) . '?x'; ?>", "https://u/t/a.png?x"),
            ("<?php // a\necho 'x'; echo 'y', 'z';", "xyz"),
            (
                "<?php printf( /* translators: %s: a link. */ esc_html__( 'By %s, 9%%', 'd' ), '<a href=\"' . esc_url( __( 'https://e.org' ) ) . '\">E</a>' );",
                "By <a href=\"https://e.org\">E</a>, 9%",
            ),
            ("<?php echo wp_kses_post( sprintf( '%2$s <i>%1$s</i><script>', 'a', 'b' ) );", "b <i>a</i>"),
            ("[<?php printf( '%s %s', 'a' ); ?>]", "[]"),
            ("[<?php printf( '%05d', 'a' ); ?>]", "[]"),
            ("[<?php echo date('Y'); ?>]", "[]"),
            ("[<?php if ($x) { echo 'x'; } ?>]", "[]"),
            ("[<?php echo \"$x\"; ?>]", "[]"),
        ];
        for (source, expected) in rows {
            assert_eq!(output(source, "https://u/t"), expected, "{source}");
        }
    }
}
