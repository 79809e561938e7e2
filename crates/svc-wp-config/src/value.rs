//! Values of a configuration, and the PHP functions that it may call.

use std::path::Path;

/// Maximum size of a file that is read as a value, such as a secret of an orchestrator.
const SECRET_LIMIT: u64 = 64 << 10;

/// A PHP value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    /// An array with its keys as text, or the properties of an object.
    List(Vec<(String, Value)>),
    /// Only running the file would give the value.
    Unknown,
}

impl Value {
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Value::Null | Value::Bool(false) => Some(String::new()),
            Value::Bool(true) => Some("1".to_owned()),
            Value::Int(n) => Some(n.to_string()),
            Value::Text(text) => Some(text.clone()),
            Value::List(_) | Value::Unknown => None,
        }
    }

    pub(crate) fn to_bool(&self) -> Option<bool> {
        match self {
            Value::Null => Some(false),
            Value::Bool(b) => Some(*b),
            Value::Int(n) => Some(*n != 0),
            Value::Text(text) => Some(!text.is_empty() && text != "0"),
            Value::List(items) => Some(!items.is_empty()),
            Value::Unknown => None,
        }
    }

    pub(crate) fn from_bool(truth: Option<bool>) -> Self {
        truth.map_or(Value::Unknown, Value::Bool)
    }

    /// The element with this key; `Null` if there is none.
    pub(crate) fn element(&self, key: &Value) -> Value {
        match (self, key.text()) {
            (Value::List(items), Some(key)) => {
                items.iter().find(|(k, _)| *k == key).map_or(Value::Null, |(_, value)| value.clone())
            }
            (Value::Null, _) => Value::Null,
            _ => Value::Unknown,
        }
    }

    /// `==`, or `===` if `strictly`. Covers values of one type, and the comparisons of text with numbers that configurations use.
    pub(crate) fn equals(&self, other: &Value, strictly: bool) -> Option<bool> {
        match (self, other) {
            (Value::Unknown, _) | (_, Value::Unknown) => None,
            _ if strictly || std::mem::discriminant(self) == std::mem::discriminant(other) => Some(self == other),
            (Value::Bool(_) | Value::Null, _) | (_, Value::Bool(_) | Value::Null) => {
                Some(self.to_bool()? == other.to_bool()?)
            }
            _ => Some(self.text()? == other.text()?),
        }
    }
}

impl From<Option<String>> for Value {
    /// A text, or `false`, as PHP functions return.
    fn from(text: Option<String>) -> Self {
        text.map_or(Value::Bool(false), Value::Text)
    }
}

/// Calls a function that depends only on its arguments and on files. `None` if the function is not supported.
pub(crate) fn call(name: &str, args: &[Value]) -> Option<Value> {
    let text = |i: usize| args.get(i).and_then(Value::text);
    let int = |i: usize| text(i).and_then(|t| t.trim().parse::<i64>().ok());
    let path = || text(0).map(|t| Path::new(&t).to_owned());
    let value = match name {
        "strtolower" => text(0).map(|t| t.to_ascii_lowercase()).map(Value::Text),
        "strtoupper" => text(0).map(|t| t.to_ascii_uppercase()).map(Value::Text),
        "trim" => trim(text(0), args, true, true),
        "ltrim" => trim(text(0), args, true, false),
        "rtrim" => trim(text(0), args, false, true),
        "strval" => text(0).map(Value::Text),
        "boolval" => args.first().and_then(Value::to_bool).map(Value::Bool),
        "intval" => int(0).map(Value::Int),
        "substr" => text(0).zip(int(1)).and_then(|(t, from)| {
            let from = usize::try_from(from).ok()?;
            (args.len() == 2).then(|| Value::Text(t.get(from..).unwrap_or_default().to_owned()))
        }),
        "str_replace" => match (text(0), text(1), text(2)) {
            (Some(old), Some(new), Some(t)) if !old.is_empty() => Some(Value::Text(t.replace(&old, &new))),
            _ => None,
        },
        "dirname" => text(0).map(|t| Value::Text(dirname(&t, if args.len() > 1 { int(1).unwrap_or(1) } else { 1 }))),
        "basename" => path().map(|p| Value::Text(p.file_name().unwrap_or_default().to_string_lossy().into_owned())),
        "realpath" => path().map(|p| p.canonicalize().ok().map(|p| p.display().to_string()).into()),
        "file_exists" | "is_readable" => path().map(|p| Value::Bool(p.exists())),
        "is_file" => path().map(|p| Value::Bool(p.is_file())),
        "is_dir" => path().map(|p| Value::Bool(p.is_dir())),
        "file_get_contents" => path().map(|p| file_content(&p).into()),
        "parse_url" if args.len() == 1 => text(0).map(|t| parse_url(&t)),
        _ => None,
    };
    // Supported functions of unknown arguments are unknown, too.
    value.or_else(|| args.contains(&Value::Unknown).then_some(Value::Unknown))
}

/// Trims whitespace, or the characters of a second argument.
fn trim(text: Option<String>, args: &[Value], start: bool, end: bool) -> Option<Value> {
    let signs = args.get(1).map_or(Some(" \t\n\r\0\u{b}".to_owned()), Value::text)?;
    let mut text = text?;
    if start {
        text = text.trim_start_matches(|c| signs.contains(c)).to_owned();
    }
    if end {
        text.truncate(text.trim_end_matches(|c| signs.contains(c)).len());
    }
    Some(Value::Text(text))
}

fn dirname(path: &str, levels: i64) -> String {
    let mut path = Path::new(path);
    for _ in 0..levels.clamp(0, 100) {
        path = path.parent().unwrap_or(path);
    }
    let text = path.display().to_string();
    if text.is_empty() { ".".to_owned() } else { text }
}

fn file_content(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > SECRET_LIMIT {
        return None;
    }
    std::fs::read_to_string(path).ok()
}

/// Splits `scheme://user:password@host:port/path?query`.
fn parse_url(text: &str) -> Value {
    let mut parts = Vec::new();
    let mut put = |name: &str, value: &str| parts.push((name.to_owned(), Value::Text(value.to_owned())));
    let Some((scheme, rest)) = text.split_once("://") else { return Value::Bool(false) };
    put("scheme", scheme);
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let at = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let host = match authority.rsplit_once('@') {
        Some((who, host)) => {
            let (user, password) = who.split_once(':').map_or((who, None), |(u, p)| (u, Some(p)));
            put("user", user);
            password.into_iter().for_each(|p| put("pass", p));
            host
        }
        None => authority,
    };
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => (host, Some(port)),
        _ => (host, None),
    };
    put("host", host);
    port.into_iter().for_each(|p| put("port", p));
    if !path.is_empty() {
        put("path", path);
    }
    query.into_iter().for_each(|q| put("query", q));
    Value::List(parts)
}

/// Parses a `.env` file: lines `NAME=value` with an optional `export`; values may be quoted.
pub(crate) fn dotenv(text: &str) -> Vec<(String, String)> {
    let one = |line: &str| {
        let line = line.trim();
        let (name, value) = line.strip_prefix("export ").unwrap_or(line).split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        let fits = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.');
        let quote = value.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let value = match quote {
            Some(quote) => value[1..].split(quote).next().unwrap_or_default(),
            None => value.split(" #").next().unwrap_or_default().trim_end(),
        };
        fits.then(|| (name.to_owned(), value.to_owned()))
    };
    text.lines().filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions() {
        let text = |t: &str| Value::Text(t.to_owned());
        #[rustfmt::skip]
        let rows = [
            ("dirname", vec![text("/a/b/c.php")], Some(text("/a/b"))), ("dirname", vec![text("/a/b/c.php"), Value::Int(2)], Some(text("/a"))),
            ("dirname", vec![text("c.php")], Some(text("."))), ("trim", vec![text(" x\n")], Some(text("x"))),
            ("ltrim", vec![text("/db"), text("/")], Some(text("db"))), ("substr", vec![text("/db"), Value::Int(1)], Some(text("db"))),
            ("file_exists", vec![text("/no/such/file")], Some(Value::Bool(false))), ("strtolower", vec![Value::Unknown], Some(Value::Unknown)),
            ("phpversion", vec![], None),
        ];
        for (name, args, expected) in rows {
            assert_eq!(call(name, &args), expected, "{name} {args:?}");
        }
    }

    #[test]
    fn splits_urls() {
        let url = parse_url("mysql://me:p@ss@db.example:3307/name?ssl=1");
        let part = |name: &str| url.element(&Value::Text(name.to_owned())).text().unwrap();
        let parts = ["scheme", "user", "pass", "host", "port", "path", "query", "none"].map(part);
        assert_eq!(parts, ["mysql", "me", "p@ss", "db.example", "3307", "/name", "ssl=1", ""]);
    }

    #[test]
    fn parses_dotenv_files() {
        let found = dotenv("# x\nexport A='b c' # d\nB=\"#\"\nC = d # e\nno line\nD=");
        let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(found, [("A", "b c"), ("B", "#"), ("C", "d"), ("D", "")]);
    }
}
