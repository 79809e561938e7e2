//! How WordPress stores values in text columns: scalars as text, arrays and objects serialized.

use super::{serialize, unserialize};
use crate::{Php, float};

/// Whether text looks serialized, by its first characters.
///
/// `strict` also checks the end of the text; otherwise anything may follow the first token. Source: `is_serialized`.
pub fn is_serialized(text: &[u8], strict: bool) -> bool {
    let text = trim(text);
    if text == b"N;" {
        return true;
    }
    let &[token, b':', .., last] = text else { return false };
    if text.len() < 4 {
        return false;
    }
    if strict {
        if !matches!(last, b';' | b'}') {
            return false;
        }
    } else {
        let position_of = |mark: u8| text.iter().position(|b| *b == mark);
        let (semicolon, brace) = (position_of(b';'), position_of(b'}'));
        if (semicolon.is_none() && brace.is_none()) || semicolon.is_some_and(|n| n < 3) || brace.is_some_and(|n| n < 4)
        {
            return false;
        }
    }
    let body = &text[2..];
    match token {
        b's' if strict && text[text.len() - 2] != b'"' => false,
        b's' if !strict && !text.contains(&b'"') => false,
        b's' | b'a' | b'O' | b'E' => {
            let digits = body.iter().take_while(|b| b.is_ascii_digit()).count();
            digits > 0 && body.get(digits) == Some(&b':')
        }
        b'b' | b'i' | b'd' => {
            let number =
                body.iter().take_while(|b| b.is_ascii_digit() || matches!(b, b'E' | b'.' | b'+' | b'-')).count();
            number > 0 && body.get(number) == Some(&b';') && (!strict || body.len() == number + 1)
        }
        _ => false,
    }
}

/// Whether text looks like one serialized string. Source: `is_serialized_string`.
pub fn is_serialized_string(text: &[u8]) -> bool {
    let text = trim(text);
    text.len() >= 4 && text.starts_with(b"s:") && text.ends_with(b"\";")
}

/// The value to store: arrays, objects and text that looks serialized are serialized, all other values are unchanged.
/// Source: `maybe_serialize`.
pub fn maybe_serialize(value: Php) -> Php {
    match &value {
        Php::Array(_) | Php::Object(_) | Php::Opaque(_) => Php::Bytes(serialize(&value)),
        // Otherwise reading would unserialize the text.
        Php::Bytes(text) if is_serialized(text, false) => Php::Bytes(serialize(&value)),
        _ => value,
    }
}

/// The value of stored text: unserialized if it looks serialized (`false` if that fails), unchanged otherwise.
/// Source: `maybe_unserialize`.
pub fn maybe_unserialize(value: Php) -> Php {
    match &value {
        Php::Bytes(text) if is_serialized(text, true) => unserialize(trim(text)).unwrap_or(Php::Bool(false)),
        _ => value,
    }
}

/// The text of a value in an option or meta column: [`maybe_serialize`], then PHP's cast to string (`true` is `1`;
/// `false` and null are empty).
pub fn to_stored(value: Php) -> Vec<u8> {
    match maybe_serialize(value) {
        Php::Bytes(text) => text,
        Php::Bool(true) => b"1".to_vec(),
        Php::Int(n) => n.to_string().into_bytes(),
        Php::Float(f) => float::to_text(f).into_bytes(),
        _ => Vec::new(),
    }
}

/// The value in an option or meta column: plain text, or the unserialized value.
pub fn from_stored(text: &[u8]) -> Php {
    maybe_unserialize(Php::Bytes(text.to_vec()))
}

/// PHP's `trim` for bytes.
pub(super) fn trim(text: &[u8]) -> &[u8] {
    let blank = |b: &u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0 | 0x0B);
    let Some(start) = text.iter().position(|b| !blank(b)) else { return b"" };
    let end = text.iter().rposition(|b| !blank(b)).map_or(start, |last| last + 1);
    &text[start..end]
}
