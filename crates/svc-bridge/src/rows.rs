//! Rows by the values in their columns: the conditions of reads, and the rows that a change has found or left.
//!
//! A condition is compared with a row as the database compares them. Where that is not known, the row is one of those that are read.

use std::{fmt, sync::Arc};

/// Integers beyond this are compared with texts as floating-point numbers.
const EXACT: i128 = 1 << 53;

/// What each row that a statement reads has in some of its columns, and which columns the statement names.
///
/// As text: `post_name=a|b&id:5&@id|post_name`. Texts follow `=`, and numbers, which a column with texts may have in several forms, follow `:`. Names of
/// columns and texts are in lower case, texts without spaces at the end; `%`, `&` and `|` in them are written as `%25`, `%26` and `%7c`. After `@` are
/// the columns that the statement names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Condition {
    rows: Arc<[(Box<str>, Values)]>,
    /// The only columns of which the values matter. `None` for all.
    named: Option<Arc<[Box<str>]>>,
}

/// The values of which a column has one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Values {
    Texts(Box<[Box<str>]>),
    Numbers(Box<[i128]>),
}

/// Values of a row. Columns that are missing have values that are not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Image {
    values: Box<[(Arc<str>, Value)]>,
    /// The columns that the change has given other values. `None` if that is not known, and for rows that are new or deleted.
    changed: Option<Arc<[Arc<str>]>>,
}

/// The value of a column.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Equals nothing.
    Null,
    /// Of a column with integers.
    Number(i128),
    /// Of a column with texts, as they are compared.
    Text(Box<str>),
}

impl Condition {
    /// Reads a condition; `None` if the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let is_name =
            |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let (rows, named) = match text.rsplit_once('@') {
            Some((rows, named)) if rows.is_empty() || rows.ends_with('&') => (rows.trim_end_matches('&'), Some(named)),
            _ => (text, None),
        };
        let named = match named {
            Some(named) => {
                Some(named.split('|').map(|name| is_name(name).then(|| name.into())).collect::<Option<_>>()?)
            }
            None => None,
        };
        if rows.is_empty() {
            return named.map(|named| Condition { rows: Arc::default(), named: Some(named) });
        }
        let column = |part: &str| {
            let at = part.find(['=', ':'])?;
            let (name, values) = (&part[..at], part[at + 1..].split('|'));
            let values = match part.as_bytes()[at] {
                b':' => Values::Numbers(values.map(|value| value.parse().ok()).collect::<Option<_>>()?),
                _ => Values::Texts(values.map(decoded).collect::<Option<_>>()?),
            };
            is_name(name).then(|| (Box::from(name), values))
        };
        rows.split('&').map(column).collect::<Option<_>>().map(|rows| Condition { rows, named })
    }

    /// The columns of which the rows have certain values.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|(column, _)| &**column)
    }

    /// The values of which a column has one, as texts; `None` if any is possible.
    pub fn values(&self, column: &str) -> Option<Vec<String>> {
        let (_, values) = self.rows.iter().find(|(name, _)| name.eq_ignore_ascii_case(column))?;
        Some(match values {
            Values::Texts(texts) => texts.iter().map(|text| text.to_string()).collect(),
            Values::Numbers(numbers) => numbers.iter().map(i128::to_string).collect(),
        })
    }

    /// The texts of which a column has one; `None` if it may have others.
    pub fn texts(&self, column: &str) -> Option<Vec<&str>> {
        match self.rows.iter().find(|(name, _)| **name == *column)? {
            (_, Values::Texts(texts)) => Some(texts.iter().map(|text| &**text).collect()),
            _ => None,
        }
    }

    /// Whether a change of a row may change what is read: the row before or after it may be one of those, and a column that is named has changed.
    pub fn may_have(&self, row: &Image) -> bool {
        let is_changed = |named: &Arc<[Box<str>]>| {
            row.changed
                .as_deref()
                .is_none_or(|changed| changed.iter().any(|column| named.iter().any(|name| **name == **column)))
        };
        self.named.as_ref().is_none_or(is_changed)
            && self.rows.iter().all(|(column, values)| row.get(column).is_none_or(|value| values.may_have(value)))
    }

    /// The condition in SQL. `quoted` makes a literal of a text.
    pub(crate) fn to_sql(&self, quoted: impl Fn(&str) -> String) -> String {
        let part = |(column, values): &(Box<str>, Values)| {
            let values: Vec<String> = match values {
                Values::Texts(texts) => texts.iter().map(|text| quoted(text)).collect(),
                Values::Numbers(numbers) => numbers.iter().map(i128::to_string).collect(),
            };
            format!("`{column}` IN ({})", values.join(","))
        };
        if self.rows.is_empty() {
            return "TRUE".to_owned();
        }
        self.rows.iter().map(part).collect::<Vec<_>>().join(" AND ")
    }

    /// Approximate size, in bytes.
    pub fn size(&self) -> usize {
        let values = |values: &Values| match values {
            Values::Texts(texts) => texts.iter().map(|text| text.len() + 16).sum(),
            Values::Numbers(numbers) => numbers.len() * 16,
        };
        let named = self.named.iter().flat_map(|named| named.iter()).map(|name| name.len() + 16);
        self.rows.iter().map(|(column, list)| column.len() + 40 + values(list)).chain(named).sum()
    }
}

impl Values {
    fn may_have(&self, value: &Value) -> bool {
        match (self, value) {
            (_, Value::Null) => false,
            (Values::Texts(texts), Value::Text(value)) => texts.contains(value),
            (Values::Numbers(numbers), Value::Number(value)) => numbers.contains(value),
            (Values::Texts(texts), Value::Number(value)) => texts.iter().any(|text| match exact_integer(text) {
                Some(number) => number == *value,
                // A text of another form is a number to the database.
                None => true,
            }),
            // Many texts are the same number.
            (Values::Numbers(_), Value::Text(_)) => true,
        }
    }
}

/// The integer of which a text is the only form, if the database compares it exactly.
fn exact_integer(text: &str) -> Option<i128> {
    let number: i128 = text.parse().ok()?;
    (number.abs() < EXACT && number.to_string() == text).then_some(number)
}

/// The text without escapes; `None` if one is not of this form.
fn decoded(text: &str) -> Option<Box<str>> {
    let mut parts = text.split('%');
    let mut decoded = parts.next()?.to_owned();
    for part in parts {
        let (code, rest) = part.split_at_checked(2)?;
        decoded.push(match code {
            "25" => '%',
            "26" => '&',
            "7c" => '|',
            _ => return None,
        });
        decoded.push_str(rest);
    }
    Some(decoded.into())
}

fn encoded(text: &str) -> String {
    text.replace('%', "%25").replace('&', "%26").replace('|', "%7c")
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, (column, values)) in self.rows.iter().enumerate() {
            let (mark, values) = match values {
                Values::Texts(texts) => ('=', texts.iter().map(|text| encoded(text)).collect::<Vec<_>>()),
                Values::Numbers(numbers) => (':', numbers.iter().map(i128::to_string).collect()),
            };
            write!(f, "{}{column}{mark}{}", if nth > 0 { "&" } else { "" }, values.join("|"))?;
        }
        if let Some(named) = &self.named {
            write!(f, "{}@{}", if self.rows.is_empty() { "" } else { "&" }, named.join("|"))?;
        }
        Ok(())
    }
}

impl Image {
    /// A row with these values.
    pub fn new(values: impl IntoIterator<Item = (Arc<str>, Value)>) -> Self {
        Image { values: values.into_iter().collect(), changed: None }
    }

    /// The row before or after a change of only these columns.
    pub fn with_changed(self, changed: Arc<[Arc<str>]>) -> Self {
        Image { changed: Some(changed), ..self }
    }

    fn get(&self, column: &str) -> Option<&Value> {
        self.values.iter().find(|(name, _)| **name == *column).map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_written_as_they_are_read() {
        for text in
            ["a=x", "a=x|y&b:5|6", "a=", "a=%25%26%7c'\"", "a:5", "a=x y", "a=x@y", "a=x&@a|b", "@a", "a=x@y&@b"]
        {
            assert_eq!(Condition::parse(text).unwrap().to_string(), text);
        }
        for text in ["", "a", "=x", "a=x&", "a:x", "a:", "a.b=x", "a=%2", "a=%41", "@", "a=x&@", "@a|", "@a&b=c"] {
            assert_eq!(Condition::parse(text), None, "{text}");
        }
    }

    #[test]
    fn rows_are_compared_as_by_the_database() {
        let text = |text: &str| Value::Text(text.into());
        for (condition, value, expected) in [
            ("a=x|y", text("x"), true),
            ("a=x|y", text("z"), false),
            ("a=x", Value::Null, false),
            ("a=", text(""), true),
            ("a:5|6", Value::Number(5), true),
            ("a:5", Value::Number(6), false),
            ("a=5", Value::Number(5), true),
            ("a=6", Value::Number(5), false),
            ("a=5", text("05"), false),
            ("a:5", text("6"), true),
            ("a=05", Value::Number(5), true),
            ("a=x", Value::Number(1), true),
            ("a=9007199254740993", Value::Number(9_007_199_254_740_992), true),
            ("a=x&b=y", text("x"), true),
            ("b=x", text("y"), true),
        ] {
            let row = Image::new([(Arc::from("a"), value.clone())]);
            assert_eq!(Condition::parse(condition).unwrap().may_have(&row), expected, "{condition} {value:?}");
        }
    }

    #[test]
    fn changes_of_columns_that_are_not_named_do_not_matter() {
        for (condition, changed, expected) in [
            ("a:5&@a|b", Some(["b", "c"].as_slice()), true),
            ("a:5&@a|b", Some(["c"].as_slice()), false),
            ("a:5&@a|b", None, true),
            ("a:6&@a|b", Some(["b"].as_slice()), false),
            ("a:5", Some(["c"].as_slice()), true),
            ("@b", Some(["b"].as_slice()), true),
            ("@b", Some([].as_slice()), false),
        ] {
            let row = Image::new([(Arc::from("a"), Value::Number(5))]);
            let row = match changed {
                Some(changed) => row.with_changed(changed.iter().map(|column| Arc::from(*column)).collect()),
                None => row,
            };
            assert_eq!(Condition::parse(condition).unwrap().may_have(&row), expected, "{condition} {changed:?}");
        }
    }
}
