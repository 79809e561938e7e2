//! Converts straight quotes to curly ones, apostrophes and primes.
//!
//! During conversion, decided quotes are bytes that do not occur in UTF-8, so later rules do not confuse them with
//! text.

use super::{CLOSE_DOUBLE, CLOSE_SINGLE, DOUBLE_PRIME, OPEN_DOUBLE, OPEN_SINGLE, PRIME};
use crate::markup::{ends_with_space, space_len};

const OPEN: u8 = 0xF8;
const CLOSE: u8 = 0xF9;
const PRIMED: u8 = 0xFA;
const APOSTROPHE: u8 = 0xFB;
/// A closing double quote that is decided among single quotes.
const CLOSE_OTHER: u8 = 0xFC;
/// A quote that is closing or a prime, during [`close`].
const UNDECIDED: u8 = 0xFD;

/// Converts all single quotes of a text.
pub(super) fn single(text: &str) -> String {
    let text = text.as_bytes().to_vec();
    let number = |text: &[u8], at: usize| {
        let digit = |n: usize| text.get(at + n).is_some_and(u8::is_ascii_digit);
        digit(1) && digit(2)
    };
    // '99' and '99": an abbreviated year at the end of a quotation.
    let text = apply_rule(text, b'\'', |text, at, out| {
        let closer = *text.get(at + 3)?;
        if !number(text, at) || !matches!(closer, b'\'' | b'"') || !may_close(&text[at + 4..]) {
            return None;
        }
        let closer = if closer == b'"' { CLOSE_OTHER } else { CLOSE };
        out.extend([APOSTROPHE, text[at + 1], text[at + 2], closer]);
        Some(4)
    });
    // '99: an abbreviated year, but not '999, '99% or '99.5.
    let text = apply_rule(text, b'\'', |text, at, out| {
        let continues = match text.get(at + 3..) {
            Some([b'%' | b'0'..=b'9', ..] | [b'.' | b',', b'0'..=b'9', ..]) => true,
            Some(_) | None => false,
        };
        if !number(text, at) || continues {
            return None;
        }
        out.push(APOSTROPHE);
        Some(1)
    });
    let text = apply_rule(text, b'\'', quoted_number);
    let text = apply_rule(text, b'\'', |text, at, out| {
        let before = &text[..at];
        let opens = matches!(before, [] | [.., b'(' | b'[' | b'{' | b'"' | b'-'])
            || before.ends_with(b"&lt;")
            || ends_with_space(before);
        opens.then(|| out.push(OPEN)).map(|()| 1)
    });
    // Inside a word: not followed by the end of a word.
    let text = apply_rule(text, b'\'', |text, at, out| {
        let after = &text[at + 1..];
        let ends = match after {
            [] => true,
            [b'.' | b',' | b':' | b';' | b'!' | b'?' | b'"' | b'\'', ..] => true,
            [b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'-', ..] => true,
            _ => after.starts_with(b"&lt;") || after.starts_with(b"&gt;") || space_len(after).is_some(),
        };
        (!ends && !ends_with_space(&text[..at])).then(|| out.push(APOSTROPHE)).map(|()| 1)
    });
    let text = close(&text, b'\'', CLOSE_SINGLE);
    write_references(&text, [OPEN_SINGLE, CLOSE_SINGLE, PRIME])
}

/// Converts all double quotes of a text.
pub(super) fn double(text: &str) -> String {
    let text = text.as_bytes().to_vec();
    let text = apply_rule(text, b'"', quoted_number);
    let text = apply_rule(text, b'"', |text, at, out| {
        let before = &text[..at];
        let opens = matches!(before, [] | [.., b'(' | b'[' | b'{' | b'-'])
            || before.ends_with(b"&lt;")
            || ends_with_space(before);
        (opens && space_len(&text[at + 1..]).is_none()).then(|| out.push(OPEN)).map(|()| 1)
    });
    let text = close(&text, b'"', CLOSE_DOUBLE);
    write_references(&text, [OPEN_DOUBLE, CLOSE_DOUBLE, DOUBLE_PRIME])
}

/// Applies a rule to all quotes of a text, from left to right. The rule receives the original text, writes a
/// replacement, and returns the number of bytes replaced.
fn apply_rule(text: Vec<u8>, quote: u8, rule: impl Fn(&[u8], usize, &mut Vec<u8>) -> Option<usize>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text[at..].iter().position(|b| *b == quote).map(|n| at + n) {
        out.extend_from_slice(&text[copied..found]);
        let len = rule(&text, found, &mut out);
        copied = found + len.unwrap_or(0);
        at = found + len.unwrap_or(1);
        if len.is_none() {
            out.push(quote);
            copied = at;
        }
    }
    out.extend_from_slice(&text[copied..]);
    out
}

/// A quoted number: `'0.42'`.
fn quoted_number(text: &[u8], at: usize, out: &mut Vec<u8>) -> Option<usize> {
    if at > 0 && !ends_with_space(&text[..at]) || !text.get(at + 1).is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let end = text[at + 1..].iter().position(|b| !matches!(b, b'0'..=b'9' | b'.' | b',')).map(|n| at + 1 + n)?;
    if text[end] != text[at] {
        return None;
    }
    out.push(OPEN);
    out.extend_from_slice(&text[at + 1..end]);
    out.push(CLOSE);
    Some(end + 1 - at)
}

/// Whether a quote before this text may be a closing one: at the end, before punctuation or space.
fn may_close(after: &[u8]) -> bool {
    matches!(after, [] | [b'.' | b',' | b':' | b';' | b'!' | b'?' | b')' | b'}' | b'-' | b']', ..])
        || after.starts_with(b"&gt;")
        || space_len(after).is_some()
}

/// Distinguishes closing quotes from primes, in each part of the text after an opening quote.
///
/// `closed` is the reference of a closing quote, which may already occur in the text.
fn close(text: &[u8], quote: u8, closed: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for (n, part) in text.split(|b| *b == OPEN).enumerate() {
        if n > 0 {
            out.push(OPEN);
        }
        let from = out.len();
        out.extend_from_slice(part);
        let part = &mut out[from..];
        if part.contains(&quote) {
            let is_open = n > 0 && !has_close(part, closed);
            close_part(part, quote, is_open);
        }
    }
    out
}

fn has_close(part: &[u8], closed: &str) -> bool {
    part.contains(&CLOSE) || part.windows(closed.len()).any(|w| w == closed.as_bytes())
}

/// Converts the quotes of a part. If the part is `open`, a closing quote takes precedence over primes.
fn close_part(text: &mut [u8], quote: u8, is_open: bool) {
    let after_digit = |text: &[u8], at: usize| at > 0 && text[at - 1].is_ascii_digit();
    if is_open {
        let mut found = Vec::new();
        for at in 0..text.len() {
            if text[at] == quote && may_close(&text[at + 1..]) {
                found.push(at);
            }
        }
        for at in &found {
            text[*at] = if found.len() == 1 { CLOSE } else { UNDECIDED };
        }
        if found.len() > 1 {
            let certain: Vec<usize> = found.iter().copied().filter(|at| !after_digit(text, *at)).collect();
            // All may be primes: choose the last one before a full stop, or the last one.
            let guess = || {
                let stop = found.iter().rev().find(|at| text.get(**at + 1) == Some(&b'.'));
                stop.or(found.last()).copied().into_iter().collect()
            };
            let closing: Vec<usize> = if certain.is_empty() { guess() } else { certain };
            for at in closing {
                text[at] = CLOSE;
            }
        }
    }
    for at in 0..text.len() {
        if text[at] == quote || text[at] == UNDECIDED {
            if after_digit(text, at) {
                text[at] = PRIMED;
            } else if text[at] == UNDECIDED {
                text[at] = CLOSE;
            }
        }
    }
    for at in 0..text.len() {
        let closes = quote == b'"' || !is_open && may_close(&text[at + 1..]);
        if text[at] == quote && closes {
            text[at] = CLOSE;
        }
    }
}

/// Replaces decided quotes by references.
fn write_references(text: &[u8], [open, close, prime]: [&str; 3]) -> String {
    let mut out = Vec::with_capacity(text.len() + text.len() / 8);
    for b in text {
        match *b {
            OPEN => out.extend_from_slice(open.as_bytes()),
            CLOSE => out.extend_from_slice(close.as_bytes()),
            PRIMED => out.extend_from_slice(prime.as_bytes()),
            APOSTROPHE => out.extend_from_slice(CLOSE_SINGLE.as_bytes()),
            CLOSE_OTHER => out.extend_from_slice(CLOSE_DOUBLE.as_bytes()),
            b => out.push(b),
        }
    }
    // Only ASCII characters were replaced, by ASCII text.
    String::from_utf8(out).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}
