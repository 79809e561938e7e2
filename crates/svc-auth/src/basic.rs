//! The `Basic` scheme of the `Authorization` header (RFC 7617), which application passwords come in.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::Secret;

/// Longest header value that is looked at, in bytes.
const MAX_HEADER: usize = 8192;

/// A user name (or e-mail address) and a password as sent. `Debug` hides the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// What was sent before the first colon. May be empty.
    pub login: String,
    /// What was sent after it. May be empty.
    pub password: Secret,
}

/// Reads an `Authorization` header value; `None` when it is of another scheme or malformed.
///
/// The scheme's name may be in any letter case; padding may be missing. Bytes that are no UTF-8 read as U+FFFD: no
/// login and no application password holds one.
pub fn parse(header: &str) -> Option<Credentials> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_allow_trailing_bits(true)
            .with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let (scheme, text) = header.trim_ascii().split_once(' ')?;
    if header.len() > MAX_HEADER || !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let bytes = LENIENT.decode(text.trim_ascii()).ok()?;
    let colon = bytes.iter().position(|b| *b == b':')?;
    Some(Credentials {
        login: String::from_utf8_lossy(&bytes[..colon]).into_owned(),
        password: Secret::new(String::from_utf8_lossy(&bytes[colon + 1..])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_what_they_say() {
        #[rustfmt::skip]
        let rows = [
            ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", Some(("Aladdin", "open sesame"))), // RFC 7617, section 2
            ("basic QWxhZGRpbjpvcGVuIHNlc2FtZQ", Some(("Aladdin", "open sesame"))),
            ("  BASIC   QWxhZGRpbjpvcGVuIHNlc2FtZQ==  ", Some(("Aladdin", "open sesame"))),
            ("Basic dGVzdDoxMjPCow==", Some(("test", "123£"))), // RFC 7617, section 2.1
            ("Basic YTpiOmM=", Some(("a", "b:c"))),
            ("Basic Og==", Some(("", ""))),
            ("Basic YTr/", Some(("a", "\u{fffd}"))),
            ("Basic YWJj", None),
            ("Basic !!!!", None),
            ("Basic ", None),
            ("Basic", None),
            ("", None),
            ("Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==", None),
        ];
        for (header, expected) in rows {
            let got = parse(header);
            let got = got.as_ref().map(|c| (c.login.as_str(), c.password.expose()));
            assert_eq!(got, expected, "{header}");
        }
        assert_eq!(parse(&format!("Basic {}", "A".repeat(MAX_HEADER))), None);
    }
}
