//! Records of FastCGI 1.0: those that a web server sends, and a decoder of those that it receives.
//!
//! A connection has one request, whose id is 1.

use std::io;

use bytes::{BufMut as _, Bytes, BytesMut};
use tokio_util::codec::Decoder;

const VERSION: u8 = 1;
const BEGIN_REQUEST: u8 = 1;
const END_REQUEST: u8 = 3;
const PARAMS: u8 = 4;
const STDIN: u8 = 5;
const STDOUT: u8 = 6;
const STDERR: u8 = 7;

/// The role of a program that responds to requests.
const RESPONDER: u16 = 1;

/// The id of the request. Records with the id 0 are about the connection.
const REQUEST: u16 = 1;

/// Length of a record's header.
const HEADER: usize = 8;

/// Maximum length of a record's content.
pub(crate) const MAX_CONTENT: usize = 0xffff;

/// Length of the content of `END_REQUEST`.
const END_LENGTH: usize = 8;

/// A pair does not fit into a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLong;

/// A record from the upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// A part of the response. Empty at its end.
    Stdout(Bytes),
    /// A part of the error log. Empty at its end.
    Stderr(Bytes),
    /// The request has ended.
    End(End),
    /// A record that belongs to no request of this client. It is ignored.
    Other,
}

/// How a request has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It was handled.
    Complete,
    /// The upstream has no place for it.
    Overloaded,
    /// The upstream does not run programs of this kind.
    Refused,
}

fn put_header(buffer: &mut BytesMut, kind: u8, length: usize) {
    buffer.put_u8(VERSION);
    buffer.put_u8(kind);
    buffer.put_u16(REQUEST);
    // Callers split longer contents.
    buffer.put_u16(u16::try_from(length).unwrap_or(u16::MAX));
    // No padding, and a reserved byte.
    buffer.put_u16(0);
}

/// The records before the body: the begin of a request on a connection of its own, and its parameters.
///
/// # Errors
/// If a parameter is too long for a record.
pub(crate) fn head<'a>(params: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Result<BytesMut, TooLong> {
    let mut buffer = BytesMut::with_capacity(2048);
    put_header(&mut buffer, BEGIN_REQUEST, 8);
    buffer.put_u16(RESPONDER);
    // Without FCGI_KEEP_CONN, and five reserved bytes.
    buffer.put_bytes(0, 6);
    let mut content = BytesMut::new();
    for (name, value) in params {
        let length = |bytes: &[u8]| if bytes.len() < 0x80 { 1 } else { 4 };
        let size = length(name) + length(value) + name.len() + value.len();
        if size > MAX_CONTENT {
            return Err(TooLong);
        }
        // PHP reads each record alone: a pair must not be in two of them.
        if content.len() + size > MAX_CONTENT {
            put_params(&mut buffer, &content);
            content.clear();
        }
        for bytes in [name, value] {
            match u8::try_from(bytes.len()) {
                Ok(length) if length < 0x80 => content.put_u8(length),
                // At most MAX_CONTENT.
                _ => content.put_u32(bytes.len() as u32 | 0x8000_0000),
            }
        }
        content.put_slice(name);
        content.put_slice(value);
    }
    if !content.is_empty() {
        put_params(&mut buffer, &content);
    }
    put_params(&mut buffer, &[]);
    Ok(buffer)
}

fn put_params(buffer: &mut BytesMut, content: &[u8]) {
    put_header(buffer, PARAMS, content.len());
    buffer.put_slice(content);
}

/// The header of a record with a part of the body, of at most [`MAX_CONTENT`] bytes. The end of the body is an empty part.
pub(crate) fn stdin(buffer: &mut BytesMut, length: usize) {
    put_header(buffer, STDIN, length);
}

/// Splits what the upstream sends into records. Each is at most 64 KB.
pub(crate) struct Records;

impl Decoder for Records {
    type Item = Record;
    type Error = io::Error;

    fn decode(&mut self, received: &mut BytesMut) -> io::Result<Option<Record>> {
        let Some(&[version, kind, id_high, id_low, length_high, length_low, padding, _]) = received.first_chunk()
        else {
            return Ok(None);
        };
        if version != VERSION {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a FastCGI record"));
        }
        let length = usize::from(u16::from_be_bytes([length_high, length_low]));
        let size = HEADER + length + usize::from(padding);
        if received.len() < size {
            received.reserve(size - received.len());
            return Ok(None);
        }
        let content = received.split_to(size).freeze().slice(HEADER..HEADER + length);
        if u16::from_be_bytes([id_high, id_low]) != REQUEST {
            return Ok(Some(Record::Other));
        }
        Ok(Some(match kind {
            STDOUT => Record::Stdout(content),
            STDERR => Record::Stderr(content),
            END_REQUEST if content.len() < END_LENGTH => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "the end of the request is too short"));
            }
            // The fifth byte is the protocol status; the status of the program before it has no meaning for PHP.
            END_REQUEST => Record::End(match content[4] {
                0 => End::Complete,
                2 => End::Overloaded,
                _ => End::Refused,
            }),
            _ => Record::Other,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records in these bytes, as kind and content.
    fn split(mut bytes: &[u8]) -> Vec<(u8, &[u8])> {
        let mut records = Vec::new();
        while let [1, kind, 0, 1, high, low, 0, 0, rest @ ..] = bytes {
            let (content, rest) = rest.split_at(usize::from(u16::from_be_bytes([*high, *low])));
            records.push((*kind, content));
            bytes = rest;
        }
        assert!(bytes.is_empty(), "{bytes:?}");
        records
    }

    #[test]
    fn a_request_begins_with_its_parameters() {
        let long = "v".repeat(200);
        let sent = head([(&b"A"[..], &b"1"[..]), (b"LONG", long.as_bytes()), (b"EMPTY", b"")]).unwrap();
        let params = [&b"\x01\x01A1\x04\x80\x00\x00\xc8LONG"[..], long.as_bytes(), b"\x05\x00EMPTY"].concat();
        assert_eq!(split(&sent), [(1, &[0, 1, 0, 0, 0, 0, 0, 0][..]), (4, &params), (4, b"")]);
        assert_eq!(split(&head([]).unwrap())[1..], [(4, &b""[..])]);
    }

    #[test]
    fn pairs_are_not_split() {
        let value = vec![b'x'; 30_000];
        let pairs = [(&b"A"[..], &value[..]), (b"B", &value), (b"C", &value)];
        let sent = head(pairs).unwrap();
        let lengths: Vec<usize> = split(&sent)[1..].iter().map(|(_, content)| content.len()).collect();
        assert_eq!(lengths, [60_012, 30_006, 0]);
        let limit = MAX_CONTENT - 6;
        assert_eq!(split(&head([(&b"A"[..], &vec![b'x'; limit][..])]).unwrap())[1].1.len(), MAX_CONTENT);
        assert_eq!(head([(&b"A"[..], &vec![b'x'; limit + 1][..])]), Err(TooLong));
    }

    #[test]
    fn records_are_decoded_from_any_parts() {
        let sent = [
            &b"\x01\x06\x00\x01\x00\x03\x05\x00abcPPPPP"[..],
            b"\x01\x07\x00\x01\x00\x01\x00\x00!",
            b"\x01\x0a\x00\x00\x00\x00\x00\x00",
            b"\x01\x06\x00\x02\x00\x01\x00\x00z",
            b"\x01\x0b\x00\x01\x00\x00\x00\x00",
            b"\x01\x06\x00\x01\x00\x00\x00\x00",
            b"\x01\x03\x00\x01\x00\x08\x00\x00\x00\x00\x00\x07\x00\x00\x00\x00",
        ]
        .concat();
        let expected = [
            Record::Stdout(Bytes::from("abc")),
            Record::Stderr(Bytes::from("!")),
            Record::Other,
            Record::Other,
            Record::Other,
            Record::Stdout(Bytes::new()),
            Record::End(End::Complete),
        ];
        for part in [1, 3, 8, sent.len()] {
            let (mut received, mut records) = (BytesMut::new(), Vec::new());
            for bytes in sent.chunks(part) {
                received.put_slice(bytes);
                while let Some(record) = Records.decode(&mut received).unwrap() {
                    records.push(record);
                }
            }
            assert_eq!(records, expected, "{part}");
            assert!(received.is_empty());
        }
    }

    #[test]
    fn ends_and_invalid_records() {
        let end = |status: u8| [b"\x01\x03\x00\x01\x00\x08\x00\x00\x00\x00\x00\x00", &[status, 0, 0, 0][..]].concat();
        for (status, expected) in [(0, End::Complete), (1, End::Refused), (2, End::Overloaded), (3, End::Refused)] {
            let record = Records.decode(&mut BytesMut::from(&end(status)[..])).unwrap();
            assert_eq!(record, Some(Record::End(expected)));
        }
        for invalid in [&b"HTTP/1.1 400 Bad Request"[..], b"\x01\x03\x00\x01\x00\x01\x00\x00\x00"] {
            assert!(Records.decode(&mut BytesMut::from(invalid)).is_err(), "{invalid:?}");
        }
        // In the middle of a record.
        let mut rest = BytesMut::from(&b"\x01\x06\x00\x01\x00\x03\x00\x00a"[..]);
        assert!(Records.decode_eof(&mut rest).is_err());
    }
}
