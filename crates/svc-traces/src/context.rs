//! The W3C trace context: the header `traceparent`.

use std::fmt;

use http::{HeaderMap, HeaderName};

pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
pub(crate) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");

/// Length of a header of version 0, in bytes.
const LENGTH: usize = 55;

/// A span of a trace, as the header `traceparent` names it. Its text form is the header's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// Id of the trace; not zero.
    pub trace_id: u128,
    /// Id of the span; not zero.
    pub span_id: u64,
    /// Whether the trace is recorded.
    pub is_sampled: bool,
}

impl TraceContext {
    /// Parses the value of a header. `None` if it is invalid. Of a version that is not known, the fields of version 0 are read.
    /// Source: W3C Trace Context, section 3.2.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (known, rest) = value.split_at_checked(LENGTH)?;
        let known = std::str::from_utf8(known).ok()?;
        let mut fields = known.split('-');
        let (version, trace_id) = (hex(fields.next()?, 2)?, hex(fields.next()?, 32)?);
        let (span_id, flags) = (hex(fields.next()?, 16)?, hex(fields.next()?, 2)?);
        let is_end = match version {
            0 => rest.is_empty(),
            0xff => false,
            _ => rest.is_empty() || rest.starts_with(b"-"),
        };
        let span_id = u64::try_from(span_id).ok()?;
        let is_valid = is_end && fields.next().is_none() && trace_id != 0 && span_id != 0;
        is_valid.then_some(TraceContext { trace_id, span_id, is_sampled: flags & 1 == 1 })
    }

    /// The context that a request has. Several headers have no meaning, so that they are ignored.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(&TRACEPARENT).iter();
        let value = values.next().filter(|_| values.next().is_none())?;
        Self::parse(value.as_bytes())
    }

    /// The id of the trace, 32 hexadecimal digits.
    pub fn trace_id_text(&self) -> String {
        format!("{:032x}", self.trace_id)
    }
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace_id, self.span_id, u8::from(self.is_sampled))
    }
}

/// A number of exactly this many hexadecimal digits in lower case.
fn hex(text: &str, n_digits: usize) -> Option<u128> {
    let is_hex = text.len() == n_digits && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if is_hex { u128::from_str_radix(text, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALID: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn headers_are_parsed_strictly() {
        for (value, expected) in [
            (VALID, Some(true)),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", Some(false)),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff", Some(true)),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Some(true)),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", Some(true)),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01more", None),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", None),
            ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", None),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", None),
            ("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
            ("00-0af7651916cd43dd8448eb211c80319-cb7ad6b7169203331-01", None),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0", None),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b71692033-01-1", None),
            ("00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
            ("00_0af7651916cd43dd8448eb211c80319c_b7ad6b7169203331_01", None),
            (" 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None),
            ("", None),
        ] {
            let parsed = TraceContext::parse(value.as_bytes());
            assert_eq!(parsed.map(|context| context.is_sampled), expected, "{value}");
        }
        assert_eq!(TraceContext::parse(&[0xc3; 80]), None);
        assert_eq!(TraceContext::parse(VALID.as_bytes()).map(|context| context.to_string()).as_deref(), Some(VALID));
    }

    #[test]
    fn several_headers_are_ignored() {
        let mut headers = HeaderMap::new();
        assert_eq!(TraceContext::of(&headers), None);
        headers.append(TRACEPARENT, http::HeaderValue::from_static(VALID));
        assert!(TraceContext::of(&headers).is_some());
        headers.append(TRACEPARENT, http::HeaderValue::from_static(VALID));
        assert_eq!(TraceContext::of(&headers), None);
    }
}
