//! The head of a CGI response (RFC 3875, section 6), as PHP sends it.

use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CONTENT_LENGTH, LOCATION},
};

use crate::failure::Failed;

/// Maximum size of a head in bytes.
const MAX_HEAD: usize = 128 << 10;

/// A response without its body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// Length of the body, if the script has set it.
    pub(crate) length: Option<u64>,
}

/// Collects parts of a response until its head is complete.
#[derive(Default)]
pub(crate) struct Collector(BytesMut);

impl Collector {
    /// Adds a part. Returns the head as soon as it is complete, with the beginning of the body.
    ///
    /// # Errors
    /// If the head is invalid or too long.
    pub(crate) fn add(&mut self, part: &[u8]) -> Result<Option<(Head, Bytes)>, Failed> {
        // The end of the head may have begun in the last part.
        let from = self.0.len().saturating_sub(2);
        self.0.extend_from_slice(part);
        let Some((head, body)) = end(&self.0, from) else {
            return if self.0.len() > MAX_HEAD { Err(Failed::Invalid) } else { Ok(None) };
        };
        if head > MAX_HEAD {
            return Err(Failed::Invalid);
        }
        let parsed = parse(&self.0[..head]).ok_or(Failed::Invalid)?;
        let rest = std::mem::take(&mut self.0).freeze().slice(body..);
        Ok(Some((parsed, rest)))
    }
}

/// Where the head ends and where the body begins: at an empty line, which ends with or without a carriage return.
fn end(received: &[u8], from: usize) -> Option<(usize, usize)> {
    let line_ends = received.iter().enumerate().skip(from).filter(|(_, byte)| **byte == b'\n');
    for (at, _) in line_ends {
        match &received[at + 1..] {
            [b'\n', ..] => return Some((at + 1, at + 2)),
            [b'\r', b'\n', ..] => return Some((at + 1, at + 3)),
            _ => {}
        }
    }
    None
}

fn parse(head: &[u8]) -> Option<Head> {
    let (mut status, mut headers) = (None, HeaderMap::new());
    for line in head.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.eq_ignore_ascii_case(b"status") {
            status = Some(parse_status(value)?);
            continue;
        }
        let name = HeaderName::from_bytes(name).ok()?;
        headers.try_append(name, HeaderValue::from_bytes(value).ok()?).ok()?;
    }
    if status.is_none() && headers.is_empty() {
        return None;
    }
    let default = if headers.contains_key(LOCATION) { StatusCode::FOUND } else { StatusCode::OK };
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter().map(|value| value.to_str().ok()?.parse::<u64>().ok());
    let length = match lengths.next() {
        Some(length) => Some(length?),
        None => None,
    };
    if lengths.any(|other| other != length) {
        return None;
    }
    if let Some(length) = length {
        headers.insert(CONTENT_LENGTH, length.into());
    }
    Some(Head { status: status.unwrap_or(default), headers, length })
}

/// A status of three digits, which a reason may follow. Interim responses and changes of the protocol are none of a script's.
fn parse_status(value: &[u8]) -> Option<StatusCode> {
    let (digits, rest) = value.split_at_checked(3)?;
    let status = StatusCode::from_bytes(digits).ok().filter(|status| !status.is_informational())?;
    matches!(rest, [] | [b' ', ..]).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(text: &str, part: usize) -> Result<Option<(Head, Bytes)>, Failed> {
        let mut collector = Collector::default();
        let mut parts = text.as_bytes().chunks(part);
        while let Some(bytes) = parts.next() {
            if let Some((head, body)) = collector.add(bytes)? {
                return Ok(Some((head, [&body[..], &parts.collect::<Vec<_>>().concat()].concat().into())));
            }
        }
        Ok(None)
    }

    #[test]
    fn heads() {
        for (text, status, headers, body) in [
            ("Content-type: text/html\r\n\r\nhi", 200, &[("content-type", "text/html")][..], "hi"),
            ("Status: 404 Not Found\nX-A:1\n\n\nhi", 404, &[("x-a", "1")], "\nhi"),
            ("Location: /a\r\n\r\n", 302, &[("location", "/a")], ""),
            ("Location: /a\r\nStatus: 201\r\n\r\n", 201, &[("location", "/a")], ""),
            (
                "Set-Cookie: a=1\r\nSet-Cookie: b=2\n\r\n\r\n",
                200,
                &[("set-cookie", "a=1"), ("set-cookie", "b=2")],
                "\r\n",
            ),
            ("X-Latin: \u{e9}\r\n\r\n", 200, &[("x-latin", "\u{e9}")], ""),
            ("Content-Length: 02\r\nContent-Length: 2\r\n\r\nok", 200, &[("content-length", "2")], "ok"),
        ] {
            for part in [1, 2, 5, text.len()] {
                let (head, rest) = collect(text, part).unwrap().expect("a head");
                let found: Vec<(&str, &str)> = head
                    .headers
                    .iter()
                    .map(|(name, value)| (name.as_str(), std::str::from_utf8(value.as_bytes()).unwrap()))
                    .collect();
                assert_eq!(
                    (head.status.as_u16(), &found[..], &rest[..]),
                    (status, headers, body.as_bytes()),
                    "{text:?}"
                );
            }
        }
    }

    #[test]
    fn invalid_and_incomplete_heads() {
        for invalid in [
            "\n\n",
            "no colon\r\n\r\n",
            "Status: 99\r\n\r\n",
            "Status: 101 Switching Protocols\r\n\r\n",
            "Status: 2000\r\n\r\n",
            "Status: OK\r\n\r\n",
            "X A: 1\r\n\r\n",
            ": 1\r\n\r\n",
            "X: a\rb\r\n\r\n",
            "Content-Length: -1\r\n\r\n",
            "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ] {
            assert_eq!(collect(invalid, 3), Err(Failed::Invalid), "{invalid:?}");
        }
        assert_eq!(collect("Content-type: text/html\r\n", 4), Ok(None));
        let long = format!("X: {}\r\n", "a".repeat(1000));
        assert_eq!(collect(&long.repeat(MAX_HEAD / long.len()), 8192), Ok(None));
        assert_eq!(collect(&long.repeat(MAX_HEAD / long.len() + 1), 8192), Err(Failed::Invalid));
    }
}
