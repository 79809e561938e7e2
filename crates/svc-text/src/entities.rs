//! Parses, normalizes and decodes HTML character references.

/// Maximum number of digits in a reference, without leading zeros: decimal, hexadecimal.
const MAX_DIGITS: (usize, usize) = (7, 6);

/// A character reference at the beginning of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reference<'a> {
    /// `&name;`: the name.
    Named(&'a str),
    /// `&#n;`: the code point.
    Decimal(u32),
    /// `&#xh;`: the digits without leading zeros.
    Hex(&'a str),
}

/// Parses the reference at the start of `text`; returns it with its length in bytes.
///
/// Names are 2 to 8 letters and up to 2 digits, and are not looked up here; numbers are code points that XML allows.
pub(crate) fn parse_reference(text: &str) -> Option<(Reference<'_>, usize)> {
    let body = text.strip_prefix('&')?;
    // The length is bounded, except for leading zeros, which `parse_numeric` skips.
    if let Some(number) = body.strip_prefix('#') {
        let (reference, len) = parse_numeric(number)?;
        return Some((reference, 2 + len));
    }
    let letters = body.bytes().take(9).take_while(u8::is_ascii_alphabetic).count();
    let digits = body.bytes().skip(letters).take(3).take_while(u8::is_ascii_digit).count();
    let len = letters + digits;
    ((2..=8).contains(&letters) && digits <= 2 && body.as_bytes().get(len) == Some(&b';'))
        .then(|| (Reference::Named(&body[..len]), len + 2))
}

/// Parses the part after `&#`. The length includes the semicolon.
fn parse_numeric(text: &str) -> Option<(Reference<'_>, usize)> {
    let hex = matches!(text.as_bytes().first(), Some(b'x' | b'X'));
    let start = usize::from(hex);
    let bytes = text.as_bytes();
    let zeros = bytes[start..].iter().take_while(|b| **b == b'0').count();
    let first = start + zeros;
    let max_digits = if hex { MAX_DIGITS.1 } else { MAX_DIGITS.0 };
    let is_digit = |b: &u8| if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
    let n = bytes[first..].iter().take(max_digits + 1).take_while(|b| is_digit(b)).count();
    if n == 0 || n > max_digits || bytes.get(first + n) != Some(&b';') {
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

/// Normalizes references: an `&` that starts no valid reference becomes `&amp;`, and numeric references get their
/// canonical form.
///
/// Decimal references are padded to three digits; hexadecimal ones lose leading zeros and have a lowercase `x`.
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

/// Appends the normalized reference at the start of `text`, which begins with `&`; returns the number of bytes
/// consumed.
pub(crate) fn push_reference(out: &mut String, text: &str, known: impl Fn(&str) -> bool) -> usize {
    match parse_reference(text) {
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

/// Whether this is an entity name of HTML 4 or XML. Case-sensitive.
pub(crate) fn is_entity_name(name: &str) -> bool {
    entity(name).is_some()
}

/// The character of a named entity.
pub(crate) fn entity(name: &str) -> Option<char> {
    NAMES.binary_search_by_key(&name, |(known, _)| *known).ok().map(|i| NAMES[i].1)
}

/// The quotes that [`specialchars_decode`] decodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotes {
    /// Neither kind.
    None,
    /// `'` only.
    Single,
    /// `"` only.
    Double,
    /// Both kinds.
    Both,
}

/// Decodes the references of `&`, `<`, `>` and quotes, once. Source: `wp_specialchars_decode`.
pub fn specialchars_decode(text: &str, quotes: Quotes) -> String {
    let single = matches!(quotes, Quotes::Single | Quotes::Both);
    let double = matches!(quotes, Quotes::Double | Quotes::Both);
    let decoded_char = |reference| match reference {
        Reference::Named("amp") | Reference::Decimal(38) | Reference::Hex("26") => Some('&'),
        Reference::Named("lt") | Reference::Decimal(60) => Some('<'),
        Reference::Named("gt") | Reference::Decimal(62) => Some('>'),
        Reference::Named("quot") | Reference::Decimal(34) | Reference::Hex("22") if double => Some('"'),
        Reference::Decimal(39) | Reference::Hex("27") if single => Some('\''),
        _ => None,
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(i) = text[at..].find('&') {
        let start = at + i;
        out.push_str(&text[at..start]);
        match parse_reference(&text[start..]).and_then(|(reference, len)| Some((decoded_char(reference)?, len))) {
            Some((c, len)) => {
                out.push(c);
                at = start + len;
            }
            None => {
                out.push('&');
                at = start + 1;
            }
        }
    }
    out.push_str(&text[at..]);
    out
}

/// Decodes the references in an HTML attribute value. Names are those of HTML 4.01 and `apos`.
///
/// As in HTML, numbers 128 to 159 are read as Windows-1252 where that has a character. Only references that end in a
/// semicolon are decoded, so the text should come from [`normalize_entities`]. Source: HTML, "Numeric character
/// reference end state".
pub fn decode_references(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(i) = text[at..].find('&') {
        let start = at + i;
        out.push_str(&text[at..start]);
        let decoded = parse_reference(&text[start..]).and_then(|(reference, len)| {
            let c = match reference {
                Reference::Named(name) => entity(name),
                Reference::Decimal(code) => numeric_char(code),
                Reference::Hex(digits) => numeric_char(u32::from_str_radix(digits, 16).ok()?),
            };
            Some((c?, len))
        });
        let (c, len) = decoded.unwrap_or(('&', 1));
        out.push(c);
        at = start + len;
    }
    out.push_str(&text[at..]);
    out
}

fn numeric_char(code: u32) -> Option<char> {
    let windows_1252 = code.checked_sub(128).and_then(|i| WINDOWS_1252.get(usize::try_from(i).ok()?));
    windows_1252.copied().filter(|c| *c != '\0').or_else(|| char::from_u32(code))
}

/// The characters 128 to 159 of Windows-1252; NUL where there is none.
const WINDOWS_1252: [char; 32] = [
    '€', '\0', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\0', 'Ž', '\0', '\0', '‘', '’', '“', '”', '•',
    '–', '—', '˜', '™', 'š', '›', 'œ', '\0', 'ž', 'Ÿ',
];

/// Replaces references 128 to 159, which are meant as Windows-1252, by references to the intended characters;
/// unassigned ones are removed.
///
/// Source: `convert_invalid_entities`.
pub fn convert_invalid_entities(text: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(i) = text[at..].find("&#1") {
        let start = at + i;
        out.push_str(&text[at..start]);
        let code = text.get(start + 2..start + 5).and_then(|d| d.parse::<usize>().ok());
        let intended = code.and_then(|c| WINDOWS_1252.get(c.checked_sub(128)?));
        match intended {
            Some(c) if text.as_bytes().get(start + 5) == Some(&b';') => {
                if *c != '\0' {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "&#{};", u32::from(*c));
                }
                at = start + 6;
            }
            _ => {
                out.push_str("&#1");
                at = start + 3;
            }
        }
    }
    out.push_str(&text[at..]);
    out
}

/// The entities of HTML 4.01 and `apos` of XML, sorted by the bytes of their names.
#[rustfmt::skip]
const NAMES: &[(&str, char)] = &[
    ("#039", '\u{27}'), ("AElig", '\u{c6}'), ("Aacute", '\u{c1}'), ("Acirc", '\u{c2}'), ("Agrave", '\u{c0}'),
    ("Alpha", '\u{391}'), ("Aring", '\u{c5}'), ("Atilde", '\u{c3}'), ("Auml", '\u{c4}'), ("Beta", '\u{392}'),
    ("Ccedil", '\u{c7}'), ("Chi", '\u{3a7}'), ("Dagger", '\u{2021}'), ("Delta", '\u{394}'), ("ETH", '\u{d0}'),
    ("Eacute", '\u{c9}'), ("Ecirc", '\u{ca}'), ("Egrave", '\u{c8}'), ("Epsilon", '\u{395}'), ("Eta", '\u{397}'),
    ("Euml", '\u{cb}'), ("Gamma", '\u{393}'), ("Iacute", '\u{cd}'), ("Icirc", '\u{ce}'), ("Igrave", '\u{cc}'),
    ("Iota", '\u{399}'), ("Iuml", '\u{cf}'), ("Kappa", '\u{39a}'), ("Lambda", '\u{39b}'), ("Mu", '\u{39c}'),
    ("Ntilde", '\u{d1}'), ("Nu", '\u{39d}'), ("OElig", '\u{152}'), ("Oacute", '\u{d3}'), ("Ocirc", '\u{d4}'),
    ("Ograve", '\u{d2}'), ("Omega", '\u{3a9}'), ("Omicron", '\u{39f}'), ("Oslash", '\u{d8}'), ("Otilde", '\u{d5}'),
    ("Ouml", '\u{d6}'), ("Phi", '\u{3a6}'), ("Pi", '\u{3a0}'), ("Prime", '\u{2033}'), ("Psi", '\u{3a8}'), ("Rho",
    '\u{3a1}'), ("Scaron", '\u{160}'), ("Sigma", '\u{3a3}'), ("THORN", '\u{de}'), ("Tau", '\u{3a4}'), ("Theta",
    '\u{398}'), ("Uacute", '\u{da}'), ("Ucirc", '\u{db}'), ("Ugrave", '\u{d9}'), ("Upsilon", '\u{3a5}'), ("Uuml",
    '\u{dc}'), ("Xi", '\u{39e}'), ("Yacute", '\u{dd}'), ("Yuml", '\u{178}'), ("Zeta", '\u{396}'), ("aacute",
    '\u{e1}'), ("acirc", '\u{e2}'), ("acute", '\u{b4}'), ("aelig", '\u{e6}'), ("agrave", '\u{e0}'), ("alefsym",
    '\u{2135}'), ("alpha", '\u{3b1}'), ("amp", '\u{26}'), ("and", '\u{2227}'), ("ang", '\u{2220}'), ("apos",
    '\u{27}'), ("aring", '\u{e5}'), ("asymp", '\u{2248}'), ("atilde", '\u{e3}'), ("auml", '\u{e4}'), ("bdquo",
    '\u{201e}'), ("beta", '\u{3b2}'), ("brvbar", '\u{a6}'), ("bull", '\u{2022}'), ("cap", '\u{2229}'), ("ccedil",
    '\u{e7}'), ("cedil", '\u{b8}'), ("cent", '\u{a2}'), ("chi", '\u{3c7}'), ("circ", '\u{2c6}'), ("clubs",
    '\u{2663}'), ("cong", '\u{2245}'), ("copy", '\u{a9}'), ("crarr", '\u{21b5}'), ("cup", '\u{222a}'), ("curren",
    '\u{a4}'), ("dArr", '\u{21d3}'), ("dagger", '\u{2020}'), ("darr", '\u{2193}'), ("deg", '\u{b0}'), ("delta",
    '\u{3b4}'), ("diams", '\u{2666}'), ("divide", '\u{f7}'), ("eacute", '\u{e9}'), ("ecirc", '\u{ea}'), ("egrave",
    '\u{e8}'), ("empty", '\u{2205}'), ("emsp", '\u{2003}'), ("ensp", '\u{2002}'), ("epsilon", '\u{3b5}'), ("equiv",
    '\u{2261}'), ("eta", '\u{3b7}'), ("eth", '\u{f0}'), ("euml", '\u{eb}'), ("euro", '\u{20ac}'), ("exist",
    '\u{2203}'), ("fnof", '\u{192}'), ("forall", '\u{2200}'), ("frac12", '\u{bd}'), ("frac14", '\u{bc}'), ("frac34",
    '\u{be}'), ("frasl", '\u{2044}'), ("gamma", '\u{3b3}'), ("ge", '\u{2265}'), ("gt", '\u{3e}'), ("hArr",
    '\u{21d4}'), ("harr", '\u{2194}'), ("hearts", '\u{2665}'), ("hellip", '\u{2026}'), ("iacute", '\u{ed}'),
    ("icirc", '\u{ee}'), ("iexcl", '\u{a1}'), ("igrave", '\u{ec}'), ("image", '\u{2111}'), ("infin", '\u{221e}'),
    ("int", '\u{222b}'), ("iota", '\u{3b9}'), ("iquest", '\u{bf}'), ("isin", '\u{2208}'), ("iuml", '\u{ef}'),
    ("kappa", '\u{3ba}'), ("lArr", '\u{21d0}'), ("lambda", '\u{3bb}'), ("lang", '\u{27e8}'), ("laquo", '\u{ab}'),
    ("larr", '\u{2190}'), ("lceil", '\u{2308}'), ("ldquo", '\u{201c}'), ("le", '\u{2264}'), ("lfloor", '\u{230a}'),
    ("lowast", '\u{2217}'), ("loz", '\u{25ca}'), ("lrm", '\u{200e}'), ("lsaquo", '\u{2039}'), ("lsquo", '\u{2018}'),
    ("lt", '\u{3c}'), ("macr", '\u{af}'), ("mdash", '\u{2014}'), ("micro", '\u{b5}'), ("middot", '\u{b7}'),
    ("minus", '\u{2212}'), ("mu", '\u{3bc}'), ("nabla", '\u{2207}'), ("nbsp", '\u{a0}'), ("ndash", '\u{2013}'),
    ("ne", '\u{2260}'), ("ni", '\u{220b}'), ("not", '\u{ac}'), ("notin", '\u{2209}'), ("nsub", '\u{2284}'),
    ("ntilde", '\u{f1}'), ("nu", '\u{3bd}'), ("oacute", '\u{f3}'), ("ocirc", '\u{f4}'), ("oelig", '\u{153}'),
    ("ograve", '\u{f2}'), ("oline", '\u{203e}'), ("omega", '\u{3c9}'), ("omicron", '\u{3bf}'), ("oplus",
    '\u{2295}'), ("or", '\u{2228}'), ("ordf", '\u{aa}'), ("ordm", '\u{ba}'), ("oslash", '\u{f8}'), ("otilde",
    '\u{f5}'), ("otimes", '\u{2297}'), ("ouml", '\u{f6}'), ("para", '\u{b6}'), ("part", '\u{2202}'), ("permil",
    '\u{2030}'), ("perp", '\u{22a5}'), ("phi", '\u{3c6}'), ("pi", '\u{3c0}'), ("piv", '\u{3d6}'), ("plusmn",
    '\u{b1}'), ("pound", '\u{a3}'), ("prime", '\u{2032}'), ("prod", '\u{220f}'), ("prop", '\u{221d}'), ("psi",
    '\u{3c8}'), ("quot", '\u{22}'), ("rArr", '\u{21d2}'), ("radic", '\u{221a}'), ("rang", '\u{27e9}'), ("raquo",
    '\u{bb}'), ("rarr", '\u{2192}'), ("rceil", '\u{2309}'), ("rdquo", '\u{201d}'), ("real", '\u{211c}'), ("reg",
    '\u{ae}'), ("rfloor", '\u{230b}'), ("rho", '\u{3c1}'), ("rlm", '\u{200f}'), ("rsaquo", '\u{203a}'), ("rsquo",
    '\u{2019}'), ("sbquo", '\u{201a}'), ("scaron", '\u{161}'), ("sdot", '\u{22c5}'), ("sect", '\u{a7}'), ("shy",
    '\u{ad}'), ("sigma", '\u{3c3}'), ("sigmaf", '\u{3c2}'), ("sim", '\u{223c}'), ("spades", '\u{2660}'), ("sub",
    '\u{2282}'), ("sube", '\u{2286}'), ("sum", '\u{2211}'), ("sup", '\u{2283}'), ("sup1", '\u{b9}'), ("sup2",
    '\u{b2}'), ("sup3", '\u{b3}'), ("supe", '\u{2287}'), ("szlig", '\u{df}'), ("tau", '\u{3c4}'), ("there4",
    '\u{2234}'), ("theta", '\u{3b8}'), ("thetasym", '\u{3d1}'), ("thinsp", '\u{2009}'), ("thorn", '\u{fe}'),
    ("tilde", '\u{2dc}'), ("times", '\u{d7}'), ("trade", '\u{2122}'), ("uArr", '\u{21d1}'), ("uacute", '\u{fa}'),
    ("uarr", '\u{2191}'), ("ucirc", '\u{fb}'), ("ugrave", '\u{f9}'), ("uml", '\u{a8}'), ("upsih", '\u{3d2}'),
    ("upsilon", '\u{3c5}'), ("uuml", '\u{fc}'), ("weierp", '\u{2118}'), ("xi", '\u{3be}'), ("yacute", '\u{fd}'),
    ("yen", '\u{a5}'), ("yuml", '\u{ff}'), ("zeta", '\u{3b6}'), ("zwj", '\u{200d}'), ("zwnj", '\u{200c}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted() {
        assert!(NAMES.is_sorted_by_key(|(name, _)| *name));
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

    #[test]
    fn decoding() {
        for (text, none, both) in [
            ("&lt;&#0060;&#x3c;", "<<&#x3c;", "<<&#x3c;"),
            ("&amp;lt;&#X026;", "&lt;&", "&lt;&"),
            ("&quot;&#34;&#x22;&#039;&#X27;", "&quot;&#34;&#x22;&#039;&#X27;", "\"\"\"''"),
            ("&apos;&nbsp;&", "&apos;&nbsp;&", "&apos;&nbsp;&"),
        ] {
            assert_eq!(specialchars_decode(text, Quotes::None), none, "{text}");
            assert_eq!(specialchars_decode(text, Quotes::Both), both, "{text}");
        }
    }

    #[test]
    fn windows_references() {
        assert_eq!(convert_invalid_entities("&#150;&#129;&#0150;&#127;&#1é"), "&#8211;&#0150;&#127;&#1é");
    }

    #[test]
    fn references_to_characters() {
        let text = "&amp;lt; &nbsp;&lang;&apos;&#039;&#x1f600;&#128;&#x81;&bogus;&copy &";
        assert_eq!(decode_references(text), "&lt; \u{a0}\u{27e8}''\u{1f600}\u{20ac}\u{81}&bogus;&copy &");
    }
}
