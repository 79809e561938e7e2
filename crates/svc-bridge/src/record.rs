//! Records: what WordPress read to render a response. The connector sends one in front of the body if a signed header asks for it.
//!
//! Its signature proves that the connector of this site has made it for this request. It does not cover the content: whoever can change that on its
//! way can change the body of the response as well.

use std::io::Read as _;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::read::ZlibDecoder;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderName, HeaderValue, Method};
use serde::Deserialize;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use crate::reads::Reads;

/// The header with which a record is asked for, and which announces one.
pub const HEADER: HeaderName = HeaderName::from_static("x-svc-record");

/// Bytes in front of the JSON: its length in eight digits, the signature in 64 hexadecimal digits, a line feed.
pub const PREFIX: usize = 8 + 64 + 1;

/// Maximum size of the JSON, in bytes. A response that reads more is not stored.
pub const MAX_RECORD: usize = 1 << 20;

/// The record of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The form of records: [`FORM`].
    v: u32,
    /// What was read.
    #[serde(flatten)]
    pub(crate) reads: Reads,
    /// Seconds for which the response may be stored at most, because it depends on a clock.
    pub age: Option<u64>,
    /// Whether it may be stored at all.
    pub store: bool,
    /// Why it may not.
    pub why: String,
    /// The matched route of the REST API.
    pub route: Option<String>,
    /// Whether WordPress has a persistent object cache. What it reads there may be older than the database.
    pub cache: bool,
    /// The current user; 0 for visitors.
    pub user: u64,
}

/// The form of records that this program reads.
const FORM: u32 = 2;

/// A record that cannot be used: it is not signed for this request, or has another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record of the connector cannot be used")]
pub struct Invalid;

/// Asks for records, and reads them.
#[derive(Clone)]
pub struct Recorder {
    key: Hmac<Sha256>,
}

/// A request for a record.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The value of [`HEADER`].
    pub header: HeaderValue,
    nonce: String,
}

impl Recorder {
    /// A recorder with the secret that it shares with the connector.
    pub fn new(secret: &[u8]) -> Self {
        #[expect(clippy::expect_used, reason = "keys of any length are valid")]
        let key = Hmac::new_from_slice(secret).expect("a key");
        Recorder { key }
    }

    /// Asks for a record of a request. `target` is path and query as they are sent; `now` is in seconds since the epoch; `nonce` is
    /// 32 random letters and digits.
    pub fn ask(&self, method: &Method, target: &str, now: u64, nonce: String) -> Asked {
        let signature = self.sign(&["svc-record", &now.to_string(), &nonce, method.as_str(), target]);
        let header = format!("{now}.{nonce}.{signature}");
        let header = HeaderValue::try_from(header).unwrap_or_else(|_| HeaderValue::from_static(""));
        Asked { header, nonce }
    }

    /// Length of the JSON, from the first [`PREFIX`] bytes of a body.
    ///
    /// # Errors
    /// If they are not the beginning of a record, or the record is too large.
    pub fn length(prefix: &[u8]) -> Result<usize, Invalid> {
        let digits = prefix.get(..8).filter(|digits| digits.iter().all(u8::is_ascii_digit)).ok_or(Invalid)?;
        let length = std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).ok_or(Invalid)?;
        if prefix.get(PREFIX - 1) == Some(&b'\n') && length <= MAX_RECORD { Ok(length) } else { Err(Invalid) }
    }

    /// Reads the record in front of a body.
    ///
    /// # Errors
    /// If it is not signed for this request.
    pub fn read(&self, asked: &Asked, prefix: &[u8], json: &[u8]) -> Result<Record, Invalid> {
        self.verify(asked, prefix.get(8..PREFIX - 1).ok_or(Invalid)?, json)
    }

    /// Reads the record in a header, compressed, which responses without a body have.
    ///
    /// # Errors
    /// If it is not signed for this request.
    pub fn read_header(&self, asked: &Asked, value: &HeaderValue) -> Result<Record, Invalid> {
        let (json, signature) = value.to_str().ok().and_then(|text| text.split_once('.')).ok_or(Invalid)?;
        let compressed = BASE64_STANDARD.decode(json).map_err(|_| Invalid)?;
        let mut json = Vec::new();
        let limit = MAX_RECORD as u64;
        ZlibDecoder::new(&*compressed).take(limit).read_to_end(&mut json).map_err(|_| Invalid)?;
        self.verify(asked, signature.as_bytes(), &json)
    }

    fn verify(&self, asked: &Asked, signature: &[u8], json: &[u8]) -> Result<Record, Invalid> {
        if !bool::from(self.sign(&["svc-recorded", &asked.nonce]).as_bytes().ct_eq(signature)) {
            return Err(Invalid);
        }
        serde_json::from_slice(json).ok().filter(|record: &Record| record.v == FORM).ok_or(Invalid)
    }

    fn sign(&self, lines: &[&str]) -> String {
        let mut mac = self.key.clone();
        mac.update(lines.join("\n").as_bytes());
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::ZlibEncoder};

    use super::*;
    use crate::names::Name;

    /// A body with a record, as the connector sends it.
    fn body(recorder: &Recorder, nonce: &str, json: &str, rest: &str) -> Vec<u8> {
        let signature = recorder.sign(&["svc-recorded", nonce]);
        format!("{:08}{signature}\n{json}{rest}", json.len()).into_bytes()
    }

    #[test]
    fn reads_what_is_signed_for_the_request_only() {
        let recorder = Recorder::new(b"secret");
        let asked = recorder.ask(&Method::GET, "/wp-json/", 1_700_000_000, "n".repeat(32));
        let json = r#"{"v":2,"parts":["posts/5","options/a"],"age":null,"store":true,"route":"/a","user":0}"#;
        let whole = body(&recorder, &asked.nonce, json, "[]");
        let length = Recorder::length(&whole).unwrap();
        let (prefix, rest) = whole.split_at(PREFIX);
        let record = recorder.read(&asked, prefix, &rest[..length]).unwrap();
        let mut names = record.reads.found(true).names();
        names.sort();
        assert_eq!(names, [Name::row("options", "a"), Name::row("posts", 5)]);
        assert_eq!(&rest[length..], b"[]");
        let other = recorder.ask(&Method::GET, "/wp-json/", 1_700_000_000, "m".repeat(32));
        assert_eq!(recorder.read(&other, prefix, &rest[..length]), Err(Invalid));
        assert_eq!(recorder.read(&asked, prefix, &rest[..length - 1]), Err(Invalid));
        let other_form = json.replace("\"v\":2", "\"v\":3");
        assert_eq!(recorder.read(&asked, prefix, other_form.as_bytes()), Err(Invalid));
        assert_eq!(Recorder::new(b"other").read(&asked, prefix, &rest[..length]), Err(Invalid));
        let mut compressed = ZlibEncoder::new(Vec::new(), Compression::default());
        compressed.write_all(json.as_bytes()).unwrap();
        let mut header = BASE64_STANDARD.encode(compressed.finish().unwrap()).into_bytes();
        header.extend(b".");
        header.extend(&prefix[8..PREFIX - 1]);
        let value = HeaderValue::from_bytes(&header).unwrap();
        assert_eq!(recorder.read_header(&asked, &value), Ok(record));
        assert!(recorder.read_header(&asked, &HeaderValue::from_static("1")).is_err());
    }

    #[test]
    fn other_bodies_are_no_records() {
        let record = format!("{:08}{}\n", 5, "0".repeat(64));
        assert_eq!(Recorder::length(record.as_bytes()), Ok(5));
        for other in [
            "",
            "[]",
            "0000000x",
            &record[..PREFIX - 1],
            &record.replace('\n', " "),
            &record.replace("00000005", "99999999"),
        ] {
            assert_eq!(Recorder::length(other.as_bytes()), Err(Invalid), "{other}");
        }
    }

    #[test]
    fn signatures_are_those_of_the_connector() {
        // PHP: hash_hmac('sha256', "svc-record\n1700000000\nabc\nGET\n/wp-json/", 'secret')
        let recorder = Recorder::new(b"secret");
        let asked = recorder.ask(&Method::GET, "/wp-json/", 1_700_000_000, "abc".to_owned());
        let expected = "f00ef1e382ef0eb4f0997ac040d5501f202db8239a5415d4b981b59cf9fe3aec";
        assert_eq!(asked.header, format!("1700000000.abc.{expected}"));
    }
}
