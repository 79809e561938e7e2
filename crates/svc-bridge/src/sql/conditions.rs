//! What a condition says about the rows for which it is true.

use std::borrow::Cow;

use super::{
    MAX_NAME, MAX_ROWS, Site,
    columns::has_column,
    group, named, row,
    tokens::{Named, Statement, content, is, is_identifier, is_one, name},
    whole,
};
use crate::names::{IDENTITIES, Identity, Name, SESSION_TOKENS, SESSIONS};

/// Most values of a column in a name, and maximum length of a condition in it, in bytes.
const MAX_VALUES: usize = 60;
const MAX_CONDITION: usize = 1_500;

/// Deepest nesting of conditions that is examined. What is deeper says nothing.
const MAX_DEPTH: usize = 60;

/// Columns with texts that name rows and groups; the others have numbers.
const TEXTS: [&str; 4] = ["option_name", "autoload", "post_type", "taxonomy"];

/// What each row for which a condition is true has in its columns: one of these tokens, by `alias.column` or `.column` in lower case, or a text that
/// begins with one of these, by `.column^`.
#[derive(Clone, Default)]
pub(super) struct Constraints<'s>(Vec<(String, Vec<Cow<'s, str>>)>);

impl<'s> Constraints<'s> {
    pub(super) fn get(&self, key: &str) -> Option<&[Cow<'s, str>]> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, values)| &**values)
    }

    fn of_column(&self, alias: &str, column: &str) -> Option<&[Cow<'s, str>]> {
        self.get(&format!("{alias}.{column}")).or_else(|| self.get(&format!(".{column}")))
    }

    /// Adds what another condition says that is true as well. The shorter list of values counts.
    pub(super) fn add(&mut self, key: String, values: Vec<Cow<'s, str>>) {
        match self.0.iter_mut().find(|(known, _)| *known == key) {
            Some((_, known)) if known.len() <= values.len() => {}
            Some((_, known)) => *known = values,
            None => self.0.push((key, values)),
        }
    }

    fn and(mut self, other: Self) -> Self {
        for (key, values) in other.0 {
            self.add(key, values);
        }
        self
    }

    fn or(mut self, other: &Self) -> Self {
        self.0.retain(|(key, _)| other.get(key).is_some());
        for (key, values) in &mut self.0 {
            values.extend(other.get(key).into_iter().flatten().cloned());
        }
        self
    }

    /// Those of a table whose condition is true for its rows only.
    pub(super) fn of_alias(self, alias: &str) -> impl Iterator<Item = (String, Vec<Cow<'s, str>>)> {
        let start = format!("{alias}.");
        self.0.into_iter().filter(move |(key, _)| key.starts_with(&start))
    }

    /// The values that a column of a table must have, as names have them; `None` if any is possible, or one is not known.
    fn only(&self, alias: &str, column: &str) -> Option<Vec<String>> {
        let mut values = Vec::new();
        for token in self.of_column(alias, &column.to_ascii_lowercase())? {
            let value = value(column, token)?;
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Some(values)
    }

    /// The same with the table of columns that are written without one, if one of these has them: the database refuses what others have as well.
    pub(super) fn of_tables(mut self, tables: &[Named], site: &Site) -> Self {
        for (key, _) in &mut self.0 {
            let Some(column) = key.strip_prefix('.').map(|column| column.trim_end_matches('^')) else { continue };
            let has =
                |(_, table): &&Named| table.strip_prefix(&*site.prefix).is_some_and(|name| has_column(name, column));
            let mut owners = tables.iter().filter(has);
            if let (Some((alias, _)), None) = (owners.next(), owners.next()) {
                *key = format!("{alias}{key}");
            }
        }
        self
    }

    /// Whether the names of a table's rows have all texts as they are in the statement: where the database compares them exactly, others are other
    /// rows.
    pub(super) fn has_exact_texts(&self, alias: &str) -> bool {
        let is_exact = |text: &str| !text.ends_with(' ') && !text.bytes().any(|byte| byte.is_ascii_uppercase());
        let is_of =
            |key: &str| key.starts_with('.') || key.strip_prefix(alias).is_some_and(|rest| rest.starts_with('.'));
        let texts = self.0.iter().filter(|(key, _)| is_of(key)).flat_map(|(_, values)| values);
        texts.filter_map(|token| content(token)).all(is_exact)
    }

    /// Whether the rows of user metadata are sessions; `None` for both.
    fn are_sessions(&self, alias: &str) -> Option<bool> {
        let keys = self.of_column(alias, "meta_key")?;
        let mut are = keys.iter().map(|token| value("option_name", token).map(|key| key == SESSION_TOKENS));
        let first = are.next()??;
        are.all(|is| is == Some(first)).then_some(first)
    }

    /// The names of the rows of a table that may be found.
    pub(super) fn names(&self, alias: &str, table: &str) -> Vec<Name> {
        let identity = IDENTITIES.into_iter().find(|identity| identity.table == table);
        let names = self.rows(alias, table, identity);
        if table == "usermeta" { with_sessions(names, self.are_sessions(alias)) } else { names }
    }

    fn rows(&self, alias: &str, table: &str, identity: Option<Identity>) -> Vec<Name> {
        if let Some(ids) = identity.and_then(|identity| self.only(alias, identity.row)) {
            return named(table, &ids, row);
        }
        let starts = (table == "options").then(|| self.of_column(alias, "option_name^")).flatten();
        if let Some(starts) = starts {
            return starts.iter().map(|start| Name::start(table, start)).collect();
        }
        let groups = identity.and_then(|identity| identity.group).and_then(|group| self.only(alias, group));
        let are_revisions = groups.as_deref().is_some_and(|groups| *groups == ["revision"]);
        if are_revisions && let Some(parents) = self.only(alias, "post_parent") {
            return named(table, &parents, |table, parent| Name::group(table, format!("revision/{parent}")));
        }
        let condition = self.condition(alias);
        match groups.filter(|_| table != "options" && !condition.contains('&')) {
            Some(groups) => named(table, &groups, group),
            None if condition.is_empty() || !table.is_ascii() => vec![whole(table)],
            None => vec![Name::parse(&format!("{table}#{condition}"))],
        }
    }

    /// What each row has in its columns, as names have it; empty if nothing is known.
    fn condition(&self, alias: &str) -> String {
        let mut parts: Vec<(&str, String)> = Vec::new();
        for (key, tokens) in &self.0 {
            let Some((of, column)) = key.split_once('.') else { continue };
            let is_name = !column.is_empty() && column.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !of.is_empty() && of != alias || !is_name || tokens.len() > MAX_VALUES {
                continue;
            }
            if parts.iter().all(|(known, _)| *known != column)
                && let Some(values) = condition_values(tokens)
            {
                parts.push((column, values));
            }
        }
        parts.sort_unstable();
        let condition = parts.iter().map(|(column, values)| format!("{column}{values}")).collect::<Vec<_>>().join("&");
        if condition.len() > MAX_CONDITION { String::new() } else { condition }
    }
}

/// Texts after `=` or numbers after `:`; `None` if one is not known, or there are both.
fn condition_values(tokens: &[Cow<'_, str>]) -> Option<String> {
    let is_text = content(tokens.first()?).is_some();
    let mut values: Vec<String> = Vec::new();
    for token in tokens {
        let value = match content(token) {
            Some(_) if is_text => value("option_name", token)?,
            None if !is_text && token.len() < 30 => number(token)?,
            _ => return None,
        };
        let value = value.replace('%', "%25").replace('&', "%26").replace('|', "%7c");
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Some(format!("{}{}", if is_text { '=' } else { ':' }, values.join("|")))
}

/// The value of a token in a column as names have it; `None` if it is not known. The database compares texts without regard to case and spaces at
/// the end.
fn value(column: &str, token: &str) -> Option<String> {
    let text = content(token);
    if !TEXTS.contains(&column) {
        return number(text.unwrap_or(token));
    }
    let text = text.filter(|text| text.bytes().all(|byte| (0x20..0x7f).contains(&byte) && byte != b'\\'))?;
    let quote = &token[..1];
    let text = text.replace(&format!("{quote}{quote}"), quote);
    (token.len() <= MAX_NAME).then(|| text.trim_end_matches(' ').to_ascii_lowercase())
}

/// A number as names have it; `None` if the text is none.
pub(super) fn number(digits: &str) -> Option<String> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = digits.trim_start_matches('0');
    Some(if number.is_empty() { "0" } else { number }.to_owned())
}

/// The text with which all texts begin that are `LIKE` a token; `None` if there is none, or it may be equal to others.
fn start_of(token: &str) -> Option<String> {
    let (text, quote) = (content(token)?, *token.as_bytes().first()?);
    let mut start = Vec::new();
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'%' | b'_' => break,
            b'\\' => {
                // In a text, `\_` is the same as `\\_`; other escapes are not read.
                bytes.next_if_eq(&b'\\');
                match bytes.next() {
                    Some(escaped @ (b'%' | b'_')) => start.push(escaped),
                    _ => break,
                }
            }
            byte if byte == quote => break,
            byte => start.push(byte),
        }
    }
    let start = String::from_utf8(start).ok()?.to_ascii_lowercase();
    let start = start.trim_end_matches(' ');
    let is_plain = start.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    (!start.is_empty() && start.len() <= MAX_NAME / 2 && is_plain).then(|| start.to_owned())
}

/// Names of rows of user metadata, whose sessions have names of their own.
pub(super) fn with_sessions(names: Vec<Name>, are_sessions: Option<bool>) -> Vec<Name> {
    let session = |name: &Name| match name.clone() {
        Name::Table(_) => Name::table(SESSIONS),
        Name::Row(_, id) => Name::Row(SESSIONS.into(), id),
        Name::Where(_, condition) => Name::Where(SESSIONS.into(), condition),
        name => name,
    };
    match are_sessions {
        Some(false) => names,
        Some(true) => names.iter().map(session).collect(),
        None => names.iter().flat_map(|name| [session(name), name.clone()]).collect(),
    }
}

/// What a condition, from an index to another, says about the rows for which it is true.
pub(super) fn constraints<'s>(s: &Statement<'s>, from: usize, end: usize) -> Constraints<'s> {
    nested(s, from, end, MAX_DEPTH)
}

fn nested<'s>(s: &Statement<'s>, from: usize, end: usize, depth: usize) -> Constraints<'s> {
    let (from, end) = s.inside(from, end);
    if depth == 0 || s.slice(from, end).iter().any(|token| is(token, "XOR")) {
        return Constraints::default();
    }
    for (is_and, words) in [(false, ["OR", "||"]), (true, ["AND", "&&"])] {
        let parts = parts(s, from, end, &words);
        let [first, others @ ..] = &*parts else { continue };
        if others.is_empty() {
            continue;
        }
        let all = nested(s, first.0, first.1, depth - 1);
        return others.iter().fold(all, |all, part| {
            let found = nested(s, part.0, part.1, depth - 1);
            if is_and { all.and(found) } else { all.or(&found) }
        });
    }
    comparison(s, from, end)
}

/// The parts of a condition between these words.
fn parts(s: &Statement<'_>, from: usize, end: usize, words: &[&str]) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    let (mut start, mut at, mut cases, mut between) = (from, from, 0_usize, 0_usize);
    while at < end {
        let token = s.at(at);
        if token == "(" {
            at = s.after(at);
            continue;
        } else if is(token, "CASE") {
            cases += 1;
        } else if is(token, "END") {
            cases = cases.saturating_sub(1);
        } else if cases > 0 {
            // Inside.
        } else if is(token, "BETWEEN") {
            between += 1;
        } else if is(token, "AND") && between > 0 {
            between -= 1;
        } else if is_one(token, words) {
            parts.push((start, at));
            start = at + 1;
        }
        at += 1;
    }
    parts.push((start, end));
    parts
}

/// The same for a single comparison: column = value, value = column, column IN ( values ), column LIKE text.
fn comparison<'s>(s: &Statement<'s>, mut at: usize, end: usize) -> Constraints<'s> {
    let one = |key: String, token: Cow<'s, str>| Constraints(vec![(key, vec![token])]);
    let nothing = Constraints::default;
    if at + 3 == end && s.at(at + 1) == "=" && !is_identifier(s.at(at)) && is_identifier(s.at(at + 2)) {
        return one(format!(".{}", name(s.at(at + 2))), s.at(at).into());
    }
    if at + 3 > end || !is_identifier(s.at(at)) || s.is(at, "NOT") {
        return nothing();
    }
    let mut table = String::new();
    while s.at(at + 1) == "." && at + 4 < end {
        table = name(s.at(at));
        at += 2;
    }
    let column = format!("{table}.{}", name(s.at(at)));
    if s.at(at + 1) == "=" && at + 3 == end {
        return one(column, s.at(at + 2).into());
    }
    if s.is(at + 1, "LIKE") && at + 3 == end {
        return start_of(s.at(at + 2)).map_or_else(nothing, |start| one(format!("{column}^"), start.into()));
    }
    if !s.is(at + 1, "IN") || s.at(at + 2) != "(" || s.after(at + 2) != end {
        return nothing();
    }
    let mut values = Vec::new();
    for (nth, token) in s.slice(at + 3, end - 1).iter().enumerate() {
        match (nth % 2, *token) {
            (0, "," | "(") => return nothing(),
            (0, token) => values.push(token.into()),
            (_, ",") => {}
            _ => return nothing(),
        }
    }
    // Further ones are for the whole table.
    if values.is_empty() || values.len() > 4 * MAX_ROWS { nothing() } else { Constraints(vec![(column, values)]) }
}
