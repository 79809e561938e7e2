//! From when on and until when a certificate is valid, from its DER encoding (RFC 5280, section 4.1). Reads nothing else.

use chrono::NaiveDateTime;

const INTEGER: u8 = 0x02;
const SEQUENCE: u8 = 0x30;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
/// The version, which certificates of version 1 do not have.
const VERSION: u8 = 0xa0;

/// The first and the last time, in UTC, at which a certificate is valid.
pub(crate) fn period(certificate: &[u8]) -> Option<(NaiveDateTime, NaiveDateTime)> {
    let whole = content(&mut { certificate }, SEQUENCE)?;
    let mut fields = content(&mut { whole }, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        content(&mut fields, VERSION)?;
    }
    // Serial number, algorithm, issuer.
    for tag in [INTEGER, SEQUENCE, SEQUENCE] {
        content(&mut fields, tag)?;
    }
    let mut validity = content(&mut fields, SEQUENCE)?;
    Some((time(&mut validity)?, time(&mut validity)?))
}

/// Takes the next value, which has this tag. Returns its content.
fn content<'a>(bytes: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    let (found, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        short @ 0..=0x7f => (usize::from(*short), rest),
        // The length is in this many bytes.
        long @ 0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
            (digits.iter().try_fold(0_usize, |n, digit| n.checked_mul(256)?.checked_add(usize::from(*digit)))?, rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    (*found == tag).then_some(content)
}

/// Takes the next time.
fn time(bytes: &mut &[u8]) -> Option<NaiveDateTime> {
    let tag = *bytes.first()?;
    let text = std::str::from_utf8(content(bytes, tag)?).ok()?;
    match tag {
        // Two digits of the year: from 1950 to 2049.
        UTC_TIME => {
            let century = if text.get(..2)?.parse::<u8>().ok()? < 50 { "20" } else { "19" };
            parse(&format!("{century}{text}"))
        }
        GENERALIZED_TIME => parse(text),
        _ => None,
    }
}

fn parse(text: &str) -> Option<NaiveDateTime> {
    NaiveDateTime::parse_from_str(text, "%Y%m%d%H%M%SZ").ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_time(tag: u8, text: &str) -> Vec<u8> {
        let value = |tag: u8, content: &[u8]| [&[tag, content.len() as u8], content].concat();
        let sequence = |parts: &[Vec<u8>]| value(SEQUENCE, &parts.concat());
        let validity = sequence(&[value(UTC_TIME, b"200101000000Z"), value(tag, text.as_bytes())]);
        sequence(&[sequence(&[value(INTEGER, &[1]), sequence(&[]), sequence(&[]), validity])])
    }

    #[test]
    fn times() {
        for (tag, text, expected) in [
            (UTC_TIME, "491231235959Z", Some("2049-12-31 23:59:59")),
            (UTC_TIME, "500101000000Z", Some("1950-01-01 00:00:00")),
            (GENERALIZED_TIME, "20500101000000Z", Some("2050-01-01 00:00:00")),
            (GENERALIZED_TIME, "99991231235959Z", Some("9999-12-31 23:59:59")),
            (UTC_TIME, "501301000000Z", None),
            (UTC_TIME, "", None),
            (INTEGER, "500101000000Z", None),
        ] {
            assert_eq!(period(&with_time(tag, text)).map(|(_, last)| last.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn truncated_and_other_bytes_have_no_time() {
        let whole = with_time(UTC_TIME, "491231235959Z");
        for length in 0..whole.len() {
            assert_eq!(period(&whole[..length]), None, "{length}");
        }
        assert_eq!(period(&[SEQUENCE, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(period(&[SEQUENCE, 0x80, 0, 0]), None, "indefinite lengths are not DER");
    }

    #[test]
    fn times_of_certificates() {
        let mut params = rcgen::CertificateParams::new(["a.example".to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(2031, 2, 3);
        let certificate = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap();
        assert_eq!(period(certificate.der()).unwrap().1.to_string(), "2031-02-03 00:00:00");
    }
}
