//! Search and replace that updates string lengths in PHP-serialized values.

use std::borrow::Cow;

/// Maximum nesting depth; deeper values are left unchanged.
const MAX_DEPTH: usize = 64;

/// Pairs of search text and replacement.
#[derive(Clone, Debug, Default)]
pub(crate) struct Replacer(Vec<(Vec<u8>, Vec<u8>)>);

impl Replacer {
    /// Creates a replacer. Pairs with an empty search text are ignored.
    pub(crate) fn new(pairs: &[(String, String)]) -> Self {
        let pairs = pairs.iter().filter(|(old, _)| !old.is_empty());
        Replacer(pairs.map(|(old, new)| (old.as_bytes().to_vec(), new.as_bytes().to_vec())).collect())
    }

    /// Replaces all occurrences, preserving the structure of serialized values.
    pub(crate) fn apply<'a>(&self, value: &'a [u8]) -> Cow<'a, [u8]> {
        self.at_depth(value, 0)
    }

    fn at_depth<'a>(&self, value: &'a [u8], depth: usize) -> Cow<'a, [u8]> {
        if !self.0.iter().any(|(old, _)| find(value, old).is_some()) {
            return Cow::Borrowed(value);
        }
        if depth < MAX_DEPTH && matches!(value, [b'a' | b'O' | b's' | b'C', b':', ..]) {
            let mut out = Vec::with_capacity(value.len());
            let mut at = 0;
            if self.serialized(value, &mut at, &mut out, depth).is_some() && at == value.len() {
                return Cow::Owned(out);
            }
        }
        Cow::Owned(self.plain(value))
    }

    fn plain(&self, value: &[u8]) -> Vec<u8> {
        let mut text = value.to_vec();
        for (old, new) in &self.0 {
            let mut out = Vec::with_capacity(text.len());
            let mut rest = &text[..];
            while let Some(n) = find(rest, old) {
                out.extend_from_slice(&rest[..n]);
                out.extend_from_slice(new);
                rest = &rest[n + old.len()..];
            }
            out.extend_from_slice(rest);
            text = out;
        }
        text
    }

    /// Copies one serialized value from `at`; `None` if there is none.
    fn serialized(&self, value: &[u8], at: &mut usize, out: &mut Vec<u8>, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match value.get(*at)? {
            b'N' => copy_to(value, at, b';', out),
            b'b' | b'i' | b'd' | b'r' | b'R' | b'E' => copy_to(value, at, b';', out),
            b's' => {
                *at += 2;
                let len = number(value, at)?;
                let text = quoted(value, at, len)?;
                let text = self.at_depth(text, depth + 1);
                out.extend_from_slice(format!("s:{}:\"", text.len()).as_bytes());
                out.extend_from_slice(&text);
                out.extend_from_slice(b"\";");
                (value.get(*at)? == &b';').then(|| *at += 1)
            }
            kind @ (b'a' | b'O') => {
                if *kind == b'O' {
                    // Class names are not replaced.
                    let start = *at;
                    *at += 2;
                    let len = number(value, at)?;
                    quoted(value, at, len)?;
                    out.extend_from_slice(&value[start..*at]);
                    (value.get(*at)? == &b':').then_some(())?;
                    out.push(b':');
                    *at += 1;
                } else {
                    out.extend_from_slice(b"a:");
                    *at += 2;
                }
                let n_members = number(value, at)?;
                (value.get(*at)? == &b'{').then_some(())?;
                out.extend_from_slice(format!("{n_members}:{{").as_bytes());
                *at += 1;
                for _ in 0..n_members {
                    self.serialized(value, at, out, depth + 1)?;
                    self.serialized(value, at, out, depth + 1)?;
                }
                (value.get(*at)? == &b'}').then_some(())?;
                out.push(b'}');
                *at += 1;
                Some(())
            }
            _ => None,
        }
    }
}

/// Copies up to and including the byte.
fn copy_to(value: &[u8], at: &mut usize, end: u8, out: &mut Vec<u8>) -> Option<()> {
    let n = value[*at..].iter().take(64).position(|b| *b == end)?;
    out.extend_from_slice(&value[*at..=*at + n]);
    *at += n + 1;
    Some(())
}

/// Reads a length and the following colon.
fn number(value: &[u8], at: &mut usize) -> Option<usize> {
    let rest = value.get(*at..)?;
    let n = rest.iter().take(12).position(|b| *b == b':')?;
    let number = std::str::from_utf8(&rest[..n]).ok()?.parse().ok()?;
    *at += n + 1;
    Some(number)
}

/// Reads a quoted text of this length.
fn quoted<'a>(value: &'a [u8], at: &mut usize, len: usize) -> Option<&'a [u8]> {
    let start = at.checked_add(1)?;
    let end = start.checked_add(len)?;
    let is_quoted = value.get(*at)? == &b'"' && value.get(end)? == &b'"';
    *at = end + 1;
    is_quoted.then(|| &value[start..end])
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    let first = *part.first()?;
    let mut from = 0;
    while let Some(n) = text.get(from..)?.iter().position(|b| *b == first) {
        if text[from + n..].starts_with(part) {
            return Some(from + n);
        }
        from += n + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn updates_lengths() {
        let replacer = Replacer::new(&[("http://old.example".to_owned(), "https://new.example.org".to_owned())]);
        let rows = [
            ("see http://old.example/x", "see https://new.example.org/x"),
            ("nothing", "nothing"),
            (
                r#"a:2:{s:3:"url";s:18:"http://old.example";i:5;b:1;}"#,
                r#"a:2:{s:3:"url";s:23:"https://new.example.org";i:5;b:1;}"#,
            ),
            (
                r#"O:3:"Foo":1:{s:1:"a";a:1:{i:0;s:21:"http://old.example/é";}}"#,
                r#"O:3:"Foo":1:{s:1:"a";a:1:{i:0;s:26:"https://new.example.org/é";}}"#,
            ),
            // A serialized text within a serialized text.
            (r#"s:26:"s:18:"http://old.example";";"#, r#"s:31:"s:23:"https://new.example.org";";"#),
            // Text that only resembles serialized data is plain text.
            ("s:99:\"http://old.example\";", "s:99:\"https://new.example.org\";"),
            ("a:1:{broken http://old.example", "a:1:{broken https://new.example.org"),
        ];
        for (value, expected) in rows {
            let got = replacer.apply(value.as_bytes());
            assert_eq!(String::from_utf8_lossy(&got), expected);
        }
    }

    #[test]
    fn hostile_lengths_and_depths_are_harmless() {
        let replacer = Replacer::new(&[("x".to_owned(), "yy".to_owned())]);
        let deep = format!("{}x", "a:1:{i:0;".repeat(10_000));
        assert_eq!(replacer.apply(deep.as_bytes()).len(), deep.len() + 1);
        for value in ["s:18446744073709551615:\"x\";", "a:999999999999:{x", "O:1", "s:", "s:-1:\"x\";"] {
            assert!(replacer.apply(value.as_bytes()).len() >= value.len());
        }
    }
}
