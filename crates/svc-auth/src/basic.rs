//! The `Basic` scheme of the `Authorization` header (RFC 7617), which transports application passwords.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::Secret;

/// Maximum length of a header value, in bytes.
const MAX_HEADER: usize = 8192;

/// A user name or e-mail address and a password, as sent. `Debug` omits the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasicCredentials {
    /// Text before the first colon; may be empty.
    pub login: String,
    /// Text after the first colon; may be empty.
    pub password: Secret,
}

/// Parses an `Authorization` header value. `None` if the scheme is different or the value is malformed.
///
/// The name of the scheme is case-insensitive and padding is optional. Invalid UTF-8 is read as U+FFFD, which no login
/// or application password contains.
pub fn parse(header: &str) -> Option<BasicCredentials> {
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
    Some(BasicCredentials {
        login: String::from_utf8_lossy(&bytes[..colon]).into_owned(),
        password: Secret::new(String::from_utf8_lossy(&bytes[colon + 1..])),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_headers() {
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
            let credentials = parse(header);
            let credentials = credentials.as_ref().map(|c| (c.login.as_str(), c.password.expose()));
            assert_eq!(credentials, expected, "{header}");
        }
        let of_length = |length: usize| format!("Basic {}YTpi", " ".repeat(length - "Basic YTpi".len()));
        assert!(parse(&of_length(MAX_HEADER)).is_some());
        assert_eq!(parse(&of_length(MAX_HEADER + 1)), None);
    }
}
