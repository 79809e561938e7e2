//! Character references: which are valid, and how they are written.

/// Longest digits that a reference may have besides leading zeros: decimal, hexadecimal.
const MAX_DIGITS: (usize, usize) = (7, 6);

/// A character reference at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference<'a> {
    /// `&name;` with the name.
    Named(&'a str),
    /// `&#n;`, the code point.
    Decimal(u32),
    /// `&#xh;`, the digits without leading zeros.
    Hex(&'a str),
}

/// Reads the reference that `text` begins with; also gives its length in bytes.
///
/// Names are 2 to 8 letters and up to 2 digits, not yet looked up; numbers are code points that XML allows.
pub(crate) fn read(text: &str) -> Option<(Reference<'_>, usize)> {
    let body = text.strip_prefix('&')?;
    // The longest form is bounded but for leading zeros, which are passed over in `numeric`.
    if let Some(number) = body.strip_prefix('#') {
        let (reference, len) = numeric(number)?;
        return Some((reference, 2 + len));
    }
    let letters = body.bytes().take(9).take_while(u8::is_ascii_alphabetic).count();
    let digits = body.bytes().skip(letters).take(3).take_while(u8::is_ascii_digit).count();
    let len = letters + digits;
    ((2..=8).contains(&letters) && digits <= 2 && body.as_bytes().get(len) == Some(&b';'))
        .then(|| (Reference::Named(&body[..len]), len + 2))
}

/// Reads what follows `&#`; the length counts up to and with the semicolon.
fn numeric(text: &str) -> Option<(Reference<'_>, usize)> {
    let hex = matches!(text.as_bytes().first(), Some(b'x' | b'X'));
    let start = usize::from(hex);
    let bytes = text.as_bytes();
    let zeros = bytes[start..].iter().take_while(|b| **b == b'0').count();
    let first = start + zeros;
    let most = if hex { MAX_DIGITS.1 } else { MAX_DIGITS.0 };
    let is_digit = |b: &u8| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
    let n = bytes[first..].iter().take(most + 1).take_while(|b| is_digit(b)).count();
    if n == 0 || n > most || bytes.get(first + n) != Some(&b';') {
        return None;
    }
    let digits = &text[first..first + n];
    let code = u32::from_str_radix(digits, if hex { 16 } else { 10 }).ok()?;
    let reference = if hex { Reference::Hex(digits) } else { Reference::Decimal(code) };
    is_valid_code(code).then_some((reference, first + n + 1))
}

/// Whether XML 1.0 allows this code point (section 2.2, production 2).
fn is_valid_code(code: u32) -> bool {
    matches!(code, 0x9 | 0xA | 0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x1_0000..=0x10_FFFF)
}

/// Text in which every `&` begins a valid reference: others become `&amp;`, numbers get their plain form.
///
/// Decimal references are padded to three digits, hexadecimal ones lose leading zeros and write `x` small.
/// Source: `wp_kses_normalize_entities`.
pub fn normalize_entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(i) = text[at..].find('&') {
        let start = at + i;
        out.push_str(&text[at..start]);
        at = start + push_reference(&mut out, &text[start..], is_entity_name);
    }
    out.push_str(&text[at..]);
    out
}

/// Writes the reference that `text` (beginning with `&`) stands for; gives how many bytes it took.
pub(crate) fn push_reference(out: &mut String, text: &str, known: impl Fn(&str) -> bool) -> usize {
    match read(text) {
        Some((Reference::Named(name), len)) if known(name) => {
            out.push_str(&text[..len]);
            len
        }
        None | Some((Reference::Named(_), _)) => {
            out.push_str("&amp;");
            1
        }
        Some((number, len)) => {
            push_number(out, number);
            len
        }
    }
}

fn push_number(out: &mut String, reference: Reference<'_>) {
    use std::fmt::Write as _;
    // Writing to a String cannot fail.
    let _ = match reference {
        Reference::Decimal(code) => write!(out, "&#{code:03};"),
        Reference::Hex(digits) => write!(out, "&#x{digits};"),
        Reference::Named(name) => write!(out, "&{name};"),
    };
}

/// Whether HTML 4 (or XML) names an entity so. Case counts.
pub(crate) fn is_entity_name(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}

/// The entity names of HTML 4.01, and `apos` of XML, in byte order.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "#039", "AElig", "Aacute", "Acirc", "Agrave", "Alpha", "Aring", "Atilde", "Auml", "Beta", "Ccedil", "Chi",
    "Dagger", "Delta", "ETH", "Eacute", "Ecirc", "Egrave", "Epsilon", "Eta", "Euml", "Gamma", "Iacute", "Icirc",
    "Igrave", "Iota", "Iuml", "Kappa", "Lambda", "Mu", "Ntilde", "Nu", "OElig", "Oacute", "Ocirc", "Ograve",
    "Omega", "Omicron", "Oslash", "Otilde", "Ouml", "Phi", "Pi", "Prime", "Psi", "Rho", "Scaron", "Sigma", "THORN",
    "Tau", "Theta", "Uacute", "Ucirc", "Ugrave", "Upsilon", "Uuml", "Xi", "Yacute", "Yuml", "Zeta", "aacute",
    "acirc", "acute", "aelig", "agrave", "alefsym", "alpha", "amp", "and", "ang", "apos", "aring", "asymp",
    "atilde", "auml", "bdquo", "beta", "brvbar", "bull", "cap", "ccedil", "cedil", "cent", "chi", "circ", "clubs",
    "cong", "copy", "crarr", "cup", "curren", "dArr", "dagger", "darr", "deg", "delta", "diams", "divide", "eacute",
    "ecirc", "egrave", "empty", "emsp", "ensp", "epsilon", "equiv", "eta", "eth", "euml", "euro", "exist", "fnof",
    "forall", "frac12", "frac14", "frac34", "frasl", "gamma", "ge", "gt", "hArr", "harr", "hearts", "hellip",
    "iacute", "icirc", "iexcl", "igrave", "image", "infin", "int", "iota", "iquest", "isin", "iuml", "kappa",
    "lArr", "lambda", "lang", "laquo", "larr", "lceil", "ldquo", "le", "lfloor", "lowast", "loz", "lrm", "lsaquo",
    "lsquo", "lt", "macr", "mdash", "micro", "middot", "minus", "mu", "nabla", "nbsp", "ndash", "ne", "ni", "not",
    "notin", "nsub", "ntilde", "nu", "oacute", "ocirc", "oelig", "ograve", "oline", "omega", "omicron", "oplus",
    "or", "ordf", "ordm", "oslash", "otilde", "otimes", "ouml", "para", "part", "permil", "perp", "phi", "pi",
    "piv", "plusmn", "pound", "prime", "prod", "prop", "psi", "quot", "rArr", "radic", "rang", "raquo", "rarr",
    "rceil", "rdquo", "real", "reg", "rfloor", "rho", "rlm", "rsaquo", "rsquo", "sbquo", "scaron", "sdot", "sect",
    "shy", "sigma", "sigmaf", "sim", "spades", "sub", "sube", "sum", "sup", "sup1", "sup2", "sup3", "supe", "szlig",
    "tau", "there4", "theta", "thetasym", "thinsp", "thorn", "tilde", "times", "trade", "uArr", "uacute", "uarr",
    "ucirc", "ugrave", "uml", "upsih", "upsilon", "uuml", "weierp", "xi", "yacute", "yen", "yuml", "zeta", "zwj",
    "zwnj",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(NAMES.is_sorted());
    }

    #[test]
    fn references() {
        for (text, expected) in [
            ("a & b", "a &amp; b"),
            ("&lt;&bogus;&copy", "&lt;&amp;bogus;&amp;copy"),
            ("&#39;&#0039;&#0;", "&#039;&#039;&amp;#0;"),
            ("&#X41;&#x0041;&#xD800;", "&#x41;&#x41;&amp;#xD800;"),
            ("&amp;#39;", "&amp;#39;"),
            ("&amp;lt;", "&amp;lt;"),
            ("&amp;amp;#39;", "&amp;amp;#39;"),
            ("&#12345678;", "&amp;#12345678;"),
        ] {
            assert_eq!(normalize_entities(text), expected, "{text}");
        }
    }
}
