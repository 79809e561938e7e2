//! Tokens of a statement, and the tables that it names.

use std::borrow::Cow;

use super::Site;

/// Maximum length of a statement that is examined, without long texts, in bytes.
const MAX_SQL: usize = 65_536;

/// Length of a statement from which on long texts are left out, and that of a long text, in bytes.
const LONG_SQL: usize = 8_192;
const LONG_TEXT: usize = 256;

/// Words that end the tables and the condition of a statement.
pub(super) const CLAUSES: [&str; 14] = [
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "WINDOW",
    "PROCEDURE",
    "INTO",
    "FOR",
    "LOCK",
    "SET",
    "RETURNING",
    "OFFSET",
    "FETCH",
];

/// Words between two SELECTs.
pub(super) const SET_OPERATORS: [&str; 4] = ["UNION", "EXCEPT", "INTERSECT", "MINUS"];

/// Words after a table that are not its alias, besides [`CLAUSES`].
const NO_ALIAS: [&str; 26] = [
    "ON",
    "USING",
    "USE",
    "FORCE",
    "IGNORE",
    "PARTITION",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "MINUS",
    "JOIN",
    "STRAIGHT_JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "CROSS",
    "NATURAL",
    "OUTER",
    "FULL",
    "VALUE",
    "VALUES",
    "SELECT",
    "TABLESAMPLE",
    "TABLE",
    "LATERAL",
    "END",
];

/// The tokens of a statement: texts and quoted identifiers with their quotes, words and variables, numbers, operators. White space and comments are
/// left out; `/*` is the beginning of a comment that is executed. A word after a point is a name and no keyword, so it has quotes. Long texts of long
/// statements are `?`, twice, which is no value. `None` if the statement is too long, or a text does not end.
pub(crate) fn tokens(sql: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut tokens: Vec<Cow<'_, str>> = Vec::with_capacity(sql.len() / 5);
    let mut left_out = 0;
    let mut rest = sql;
    loop {
        rest = without_space(rest);
        let Some(length) = token_length(rest)? else { break };
        let (token, after) = rest.split_at(length);
        if sql.len() > LONG_SQL && length >= LONG_TEXT && token.starts_with(['\'', '"']) {
            left_out += length;
            tokens.extend([Cow::from("?"), Cow::from("?")]);
        } else {
            let is_name =
                is_identifier(token) && !token.starts_with('`') && tokens.last().is_some_and(|last| last == ".");
            tokens.push(if is_name { format!("`{token}`").into() } else { token.into() });
        }
        rest = after;
    }
    (sql.len() - left_out <= MAX_SQL).then_some(tokens)
}

/// A text without the white space and the comments at its beginning.
fn without_space(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\x0b');
        let is_line = text.starts_with('#')
            || text
                .strip_prefix("--")
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c == ' ' || c.is_ascii_control()));
        let is_executed = text.starts_with("/*!") || text.starts_with("/*M!");
        text = match text.strip_prefix("/*").filter(|_| !is_executed).and_then(|rest| rest.split_once("*/")) {
            Some((_, after)) => after,
            None if is_line => text.find('\n').map_or("", |at| &text[at..]),
            None => return text,
        };
    }
}

/// The length of the token at the beginning of a text; `Some(None)` at the end, `None` if it is a text that does not end.
fn token_length(text: &str) -> Option<Option<usize>> {
    let bytes = text.as_bytes();
    let Some(&first) = bytes.first() else { return Some(None) };
    let word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || *byte >= 0x80;
    let while_true = |accept: &dyn Fn(&u8) -> bool| bytes.iter().take_while(|byte| accept(byte)).count();
    Some(Some(match first {
        b'\'' | b'"' | b'`' => quoted_length(bytes, first)?,
        b'0'..=b'9' => {
            // A name may begin with digits.
            let length = while_true(&word);
            let is_number = bytes[..length].iter().all(u8::is_ascii_digit);
            let part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
            if is_number { while_true(&part) } else { length }
        }
        _ if word(&first) => while_true(&word),
        _ if text.starts_with("<=>") => 3,
        _ if ["<=", ">=", "<>", "!=", ":=", "||", "&&", "/*"].iter().any(|two| text.starts_with(two)) => 2,
        _ => 1,
    }))
}

/// The length of a text or a quoted identifier; `None` if it does not end.
fn quoted_length(bytes: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        if byte == b'\\' && quote != b'`' {
            at += 1;
        } else if byte == quote {
            if bytes.get(at) != Some(&quote) {
                return Some(at);
            }
            at += 1;
        }
    }
}

/// Whether a token is a word, without regard to case.
pub(super) fn is(token: &str, word: &str) -> bool {
    token.eq_ignore_ascii_case(word)
}

/// Whether a token is one of these words.
pub(crate) fn is_one(token: &str, words: &[&str]) -> bool {
    words.iter().any(|word| is(token, word))
}

/// Whether a token is an identifier, or a keyword.
pub(super) fn is_identifier(token: &str) -> bool {
    token
        .as_bytes()
        .first()
        .is_some_and(|first| first.is_ascii_alphabetic() || matches!(first, b'_' | b'$' | b'`') || *first >= 0x80)
}

/// Whether a token can be the name of a table: an identifier, or a word that begins with a digit.
pub(crate) fn is_table(token: &str) -> bool {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80;
    let is_word = |token: &str| token.bytes().all(part);
    is_identifier(token) || is_word(token) && !token.bytes().all(|byte| byte.is_ascii_digit()) && !token.is_empty()
}

/// The name in an identifier, in lower case.
pub(super) fn name(token: &str) -> String {
    token.trim_matches('`').to_ascii_lowercase()
}

/// The content of a text token; `None` for others.
pub(super) fn content(token: &str) -> Option<&str> {
    let quote = token.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    token.strip_prefix(quote)?.strip_suffix(quote)
}

/// A statement, or a part of one.
pub(super) struct Statement<'s> {
    tokens: Vec<&'s str>,
    /// For each opening parenthesis, the index after the one that closes it.
    after: Vec<usize>,
}

/// Why it is not known which tables a statement names, if something in it is not clear.
pub(super) type Doubt = Option<String>;

/// A table of a statement: its alias, or its name, and its name in the database, both in lower case.
pub(super) type Named = (String, String);

impl<'s> Statement<'s> {
    pub(super) fn new(tokens: Vec<&'s str>) -> Self {
        let mut after = vec![tokens.len(); tokens.len()];
        let mut open = Vec::new();
        for (at, token) in tokens.iter().enumerate() {
            match *token {
                "(" => open.push(at),
                ")" => {
                    if let Some(start) = open.pop().and_then(|start: usize| after.get_mut(start)) {
                        *start = at + 1;
                    }
                }
                _ => {}
            }
        }
        Statement { tokens, after }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(super) fn all(&self) -> &[&'s str] {
        &self.tokens
    }

    /// The tokens from an index up to another one.
    pub(super) fn slice(&self, from: usize, end: usize) -> &[&'s str] {
        self.tokens.get(from..end.min(self.tokens.len())).unwrap_or_default()
    }

    /// The token at an index; empty if there is none.
    pub(super) fn at(&self, index: usize) -> &'s str {
        self.tokens.get(index).copied().unwrap_or_default()
    }

    pub(super) fn is(&self, index: usize, word: &str) -> bool {
        is(self.at(index), word)
    }

    pub(super) fn has_one(&self, words: &[&str]) -> bool {
        self.tokens.iter().any(|token| is_one(token, words))
    }

    /// The index after the parenthesis that closes the one at an index; the end if none does.
    pub(super) fn after(&self, open: usize) -> usize {
        self.after.get(open).copied().unwrap_or(self.tokens.len())
    }

    /// The index of the first of these words outside of parentheses; `end` if there is none.
    pub(super) fn find(&self, words: &[&str], from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end {
            let token = self.at(at);
            if token == "(" {
                at = self.after(at);
                continue;
            }
            // What follows the end of the parentheses around it is no part of it.
            if token == ")" {
                return end;
            }
            if is_one(token, words) {
                return at;
            }
            at += 1;
        }
        end
    }

    /// A range without the parentheses around it.
    pub(super) fn inside(&self, mut from: usize, mut end: usize) -> (usize, usize) {
        while from < end && self.at(from) == "(" && self.after(from) == end {
            from += 1;
            end -= 1;
        }
        (from, end)
    }

    /// The index of the parenthesis that closes the one around an index; the end if there is none.
    pub(super) fn closing(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.len() && self.at(at) != ")" {
            at = if self.at(at) == "(" { self.after(at) } else { at + 1 };
        }
        at
    }

    /// The table at an index, in lower case; `None` if there is none. Moves the index behind it.
    pub(super) fn table_at(&self, index: &mut usize, site: &Site, doubt: &mut Doubt) -> Option<String> {
        let mut table = Some(self.at(*index)).filter(|token| is_table(token))?;
        *index += 1;
        if self.at(*index) == "." && *index + 1 < self.len() {
            let database = name(table);
            if !database.eq_ignore_ascii_case(&site.database) {
                doubt.get_or_insert(format!("the database {database}"));
            }
            table = self.at(*index + 1);
            *index += 2;
        }
        Some(name(table))
    }

    /// The tables of a list such as that after FROM.
    pub(super) fn tables(&self, from: usize, end: usize, site: &Site, doubt: &mut Doubt) -> Vec<Named> {
        let mut tables: Vec<Named> = Vec::new();
        let (mut depth, mut list, mut expects, mut at) = (0_usize, 0_usize, true, from);
        while at < end {
            let token = self.at(at);
            let is_lateral = is(token, "LATERAL") && matches!(self.at(at + 1), "(" | "?");
            if token == "(" {
                depth += 1;
                list = if expects { depth } else { list };
            } else if token == ")" {
                depth = depth.saturating_sub(1);
                list = list.min(depth);
            } else if is_one(token, &["JOIN", "STRAIGHT_JOIN"]) || token == "," && depth == list {
                expects = true;
            } else if expects && !is_lateral && is_table(token) {
                let Some(table) = self.table_at(&mut at, site, doubt) else { break };
                at += usize::from(self.is(at, "AS"));
                let next = self.at(at);
                let has_alias = at < end && is_identifier(next) && !is_one(next, &NO_ALIAS) && !is_one(next, &CLAUSES);
                let alias = if has_alias { name(next) } else { table.clone() };
                at += usize::from(has_alias);
                if !tables.iter().any(|(known, of)| *known == alias && *of == table) {
                    tables.push((alias, table));
                }
                expects = false;
                continue;
            } else {
                if expects && token != "?" && !is_lateral {
                    doubt.get_or_insert("a table whose name cannot be read".to_owned());
                }
                expects = false;
            }
            at += 1;
        }
        tables
    }
}
