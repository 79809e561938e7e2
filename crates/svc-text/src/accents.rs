//! Replaces accented letters and ligatures by ASCII letters.

use std::{collections::HashMap, sync::LazyLock};

use unicode_normalization::{UnicodeNormalization as _, is_nfc};

/// Replacements and the characters that they replace. All other characters are unchanged.
#[rustfmt::skip]
const REPLACEMENTS: &[(&str, &str)] = &[
    ("", "£"),
    ("A", "ÀÁÂÃÄÅĀĂĄǍẠẢẤẦẨẪẬẮẰẲẴẶ"),
    ("AE", "Æ"),
    ("C", "ÇĆĈĊČ"),
    ("D", "ÐĎĐ"),
    ("E", "ÈÉÊËĒĔĖĘĚƏẸẺẼẾỀỂỄỆ€"),
    ("G", "ĜĞĠĢ"),
    ("H", "ĤĦ"),
    ("I", "ÌÍÎÏĨĪĬĮİǏỈỊ"),
    ("IJ", "Ĳ"),
    ("J", "Ĵ"),
    ("K", "Ķ"),
    ("L", "ĹĻĽĿŁ"),
    ("N", "ÑŃŅŇŊ"),
    ("O", "ÒÓÔÕÖØŌŎŐƠǑỌỎỐỒỔỖỘỚỜỞỠỢ"),
    ("OE", "Œ"),
    ("R", "ŔŖŘ"),
    ("S", "ŚŜŞŠȘ"),
    ("T", "ŢŤŦȚ"),
    ("TH", "Þ"),
    ("U", "ÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛỤỦỨỪỬỮỰ"),
    ("W", "Ŵ"),
    ("Y", "ÝŶŸỲỴỶỸ"),
    ("Z", "ŹŻŽ"),
    ("a", "ªàáâãäåāăąǎɑạảấầẩẫậắằẳẵặ"),
    ("ae", "æ"),
    ("c", "çćĉċč"),
    ("d", "ðďđ"),
    ("e", "èéêëēĕėęěǝẹẻẽếềểễệ"),
    ("g", "ĝğġģ"),
    ("h", "ĥħ"),
    ("i", "ìíîïĩīĭįıǐỉị"),
    ("ij", "ĳ"),
    ("j", "ĵ"),
    ("k", "ķĸ"),
    ("l", "ĺļľŀł"),
    ("n", "ñńņňŉŋ"),
    ("o", "ºòóôõöøōŏőơǒọỏốồổỗộớờởỡợ"),
    ("oe", "œ"),
    ("r", "ŕŗř"),
    ("s", "ßśŝşšſș"),
    ("t", "ţťŧț"),
    ("th", "þ"),
    ("u", "ùúûüũūŭůűųưǔǖǘǚǜụủứừửữự"),
    ("w", "ŵ"),
    ("y", "ýÿŷỳỵỷỹ"),
    ("z", "źżž"),
];

/// Locales, and the replacements that differ there.
type LocaleReplacements = (&'static [&'static str], &'static [(char, &'static str)]);

#[rustfmt::skip]
const LOCALE_REPLACEMENTS: &[LocaleReplacements] = &[
    (&["de_DE", "de_DE_formal", "de_CH", "de_CH_informal", "de_AT"],
     &[('Ä', "Ae"), ('ä', "ae"), ('Ö', "Oe"), ('ö', "oe"), ('Ü', "Ue"), ('ü', "ue"), ('ß', "ss"), ('ẞ', "SS")]),
    (&["da_DK"], &[('Æ', "Ae"), ('æ', "ae"), ('Ø', "Oe"), ('ø', "oe"), ('Å', "Aa"), ('å', "aa")]),
    (&["sr_RS", "bs_BA"], &[('Đ', "DJ"), ('đ', "dj")]),
];

static TABLE: LazyLock<HashMap<char, &'static str>> =
    LazyLock::new(|| REPLACEMENTS.iter().flat_map(|(plain, accented)| accented.chars().map(|c| (c, *plain))).collect());

/// Removes accents, for slugs and file names: `Æther café` becomes `AEther cafe`.
///
/// In some locales, such as `de_DE`, `ä` becomes `ae`; other locales use the common table. Combining marks are first
/// composed with their letters (NFC). Source: `remove_accents`.
pub fn remove_accents(text: &str, locale: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let local =
        LOCALE_REPLACEMENTS.iter().find(|(locales, _)| locales.contains(&locale)).map_or(&[][..], |(_, local)| local);
    let composed: String = if is_nfc(text) { text.to_owned() } else { text.nfc().collect() };
    // Catalan writes a doubled l with a dot in between.
    let composed = if locale == "ca" { composed.replace("l·l", "ll") } else { composed };
    let mut out = String::with_capacity(composed.len());
    for c in composed.chars() {
        let plain = local.iter().find(|(o, _)| *o == c).map(|(_, plain)| *plain);
        match plain.or_else(|| TABLE.get(&c).copied()) {
            Some(plain) => out.push_str(plain),
            None => out.push(c),
        }
    }
    out
}

/// Replacements for bytes of Windows-1252 text.
#[rustfmt::skip]
const WINDOWS_1252_REPLACEMENTS: &[(&str, &[u8])] = &[
    ("A", &[0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5]), ("AE", &[0xC6]), ("C", &[0xC7]), ("DH", &[0xD0]),
    ("E", &[0x80, 0xC8, 0xC9, 0xCA, 0xCB]), ("I", &[0xCC, 0xCD, 0xCE, 0xCF]), ("N", &[0xD1]), ("OE", &[0x8C]),
    ("O", &[0xD2, 0xD3, 0xD4, 0xD5, 0xD6, 0xD8]), ("S", &[0x8A]), ("TH", &[0xDE]), ("U", &[0xD9, 0xDA, 0xDB, 0xDC]),
    ("Y", &[0x9F, 0xA5, 0xDD]), ("Z", &[0x8E]), ("a", &[0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5]), ("ae", &[0xE6]),
    ("c", &[0xA2, 0xE7]), ("dh", &[0xF0]), ("e", &[0xE8, 0xE9, 0xEA, 0xEB]), ("f", &[0x83]),
    ("i", &[0xEC, 0xED, 0xEE, 0xEF]), ("n", &[0xF1]), ("o", &[0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF8]), ("oe", &[0x9C]),
    ("s", &[0x9A]), ("ss", &[0xDF]), ("th", &[0xFE]), ("u", &[0xB5, 0xF9, 0xFA, 0xFB, 0xFC]), ("y", &[0xFD, 0xFF]),
    ("z", &[0x9E]),
];

/// [`remove_accents`] for text that may not be UTF-8. Such text is decoded as Windows-1252; bytes without a
/// replacement are unchanged.
pub fn remove_accents_from_bytes(text: &[u8], locale: &str) -> Vec<u8> {
    if let Ok(text) = std::str::from_utf8(text) {
        return remove_accents(text, locale).into_bytes();
    }
    let mut out = Vec::with_capacity(text.len());
    for b in text {
        match WINDOWS_1252_REPLACEMENTS.iter().find(|(_, bytes)| bytes.contains(b)) {
            Some((plain, _)) => out.extend_from_slice(plain.as_bytes()),
            None => out.push(*b),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents() {
        for (locale, text, expected) in [
            ("en_US", "Æther café ßẞ £5 €", "AEther cafe sẞ 5 E"),
            ("en_US", "e\u{301} x\u{301}", "e x\u{301}"),
            ("de_DE", "Füße", "Fuesse"),
            ("da_DK", "Århus æøå", "Aarhus aeoeaa"),
            ("sr_RS", "Đorđe", "DJordje"),
            ("ca", "col·lecció", "colleccio"),
            ("", "日本 ñ", "日本 n"),
        ] {
            assert_eq!(remove_accents(text, locale), expected, "{locale} {text}");
        }
        assert_eq!(remove_accents_from_bytes(b"caf\xE9 \xDF\x81", "en_US"), b"cafe ss\x81");
    }
}
