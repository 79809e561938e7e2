//! Table maps and rows: the values in the columns of each row.
//!
//! Source: the binary log formats of MariaDB and MySQL (`TABLE_MAP_EVENT`, `WRITE_ROWS_EVENT` versions 1 and 2).

use super::bytes::{Bytes, little_endian};

mod kind {
    pub(super) const TINY: u8 = 1;
    pub(super) const SHORT: u8 = 2;
    pub(super) const LONG: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const LONGLONG: u8 = 8;
    pub(super) const INT24: u8 = 9;
    pub(super) const DATE: u8 = 10;
    pub(super) const TIME: u8 = 11;
    pub(super) const DATETIME: u8 = 12;
    pub(super) const YEAR: u8 = 13;
    pub(super) const NEWDATE: u8 = 14;
    pub(super) const VARCHAR: u8 = 15;
    pub(super) const BIT: u8 = 16;
    pub(super) const TIMESTAMP2: u8 = 17;
    pub(super) const DATETIME2: u8 = 18;
    pub(super) const TIME2: u8 = 19;
    /// MariaDB's compressed columns.
    pub(super) const BLOB_COMPRESSED: u8 = 140;
    pub(super) const VARCHAR_COMPRESSED: u8 = 141;
    pub(super) const VECTOR: u8 = 242;
    pub(super) const JSON: u8 = 245;
    pub(super) const NEWDECIMAL: u8 = 246;
    pub(super) const ENUM: u8 = 247;
    pub(super) const SET: u8 = 248;
    pub(super) const TINY_BLOB: u8 = 249;
    pub(super) const BLOB: u8 = 252;
    pub(super) const STRING: u8 = 254;
    pub(super) const GEOMETRY: u8 = 255;
}

/// How the values of a column are stored in row events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    kind: u8,
    /// The rest of the table map: lengths, precision.
    meta: [u8; 2],
}

/// How a value becomes a part of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Signed,
    Unsigned,
    Text,
    /// A text in an encoding in which only the letters of ASCII are those of UTF-8.
    Ascii,
}

impl Column {
    /// Whether values of the column can be read in this form.
    pub(super) fn has_form(self, form: Form) -> bool {
        match form {
            Form::Signed | Form::Unsigned => {
                matches!(self.kind, kind::TINY | kind::SHORT | kind::INT24 | kind::LONG | kind::LONGLONG)
            }
            Form::Text | Form::Ascii => match self.kind {
                kind::VARCHAR | kind::TINY_BLOB..=kind::BLOB => true,
                kind::STRING => !matches!(self.meta[0], kind::ENUM | kind::SET),
                _ => false,
            },
        }
    }

    /// Takes a value from the bytes of a row: that of a text without its length. `None` if its length is not known.
    fn take<'a>(self, bytes: &mut Bytes<'a>) -> Option<&'a [u8]> {
        let [low, high] = self.meta.map(usize::from);
        // The bytes of fractions of a second, with up to six digits.
        let fraction = low.min(6).div_ceil(2);
        let length = match self.kind {
            kind::TINY | kind::YEAR => 1,
            kind::SHORT => 2,
            kind::INT24 | kind::DATE | kind::TIME | kind::NEWDATE => 3,
            kind::LONG | kind::FLOAT | kind::TIMESTAMP => 4,
            kind::LONGLONG | kind::DOUBLE | kind::DATETIME => 8,
            kind::TIMESTAMP2 => 4 + fraction,
            kind::DATETIME2 => 5 + fraction,
            kind::TIME2 => 3 + fraction,
            kind::BIT => high + usize::from(low > 0),
            kind::NEWDECIMAL => decimal_length(low, high)?,
            kind::VARCHAR | kind::VARCHAR_COMPRESSED => prefixed(bytes, low | high << 8)?,
            kind::STRING => match self.meta[0] {
                kind::ENUM | kind::SET => high,
                // Two bits of the length of long columns are in the byte of the type.
                real => prefixed(bytes, high | usize::from((real & 0x30) ^ 0x30) << 4)?,
            },
            kind::TINY_BLOB..=kind::BLOB | kind::GEOMETRY | kind::JSON | kind::VECTOR | kind::BLOB_COMPRESSED => {
                if !(1..=4).contains(&low) {
                    return None;
                }
                usize::try_from(bytes.number(low)?).ok()?
            }
            _ => return None,
        };
        bytes.take(length)
    }
}

/// The length of a text in a column that may have texts of up to `longest` bytes.
fn prefixed(bytes: &mut Bytes<'_>, longest: usize) -> Option<usize> {
    usize::try_from(bytes.number(if longest > 255 { 2 } else { 1 })?).ok()
}

/// Nine digits of a decimal number are four bytes; fewer digits are fewer bytes.
fn decimal_length(precision: usize, scale: usize) -> Option<usize> {
    const DIGITS: [usize; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    let length = |digits: usize| digits / 9 * 4 + DIGITS[digits % 9];
    Some(length(precision.checked_sub(scale)?) + length(scale))
}

/// A table map event.
#[derive(Debug)]
pub(super) struct TableMap<'a> {
    pub(super) id: u64,
    pub(super) schema: &'a [u8],
    pub(super) table: &'a [u8],
    columns: Bytes<'a>,
}

impl<'a> TableMap<'a> {
    /// Reads the event as far as the columns.
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let mut bytes = Bytes(data);
        let id = bytes.number(6)?;
        bytes.u16()?;
        Some(TableMap { id, schema: bytes.name()?, table: bytes.name()?, columns: bytes })
    }

    /// Reads the columns. `None` if one has an unknown type.
    pub(super) fn columns(&self) -> Option<Vec<Column>> {
        let mut bytes = self.columns;
        let count = bytes.length_encoded()?;
        let kinds = bytes.take(count)?;
        let length = bytes.length_encoded()?;
        let mut metas = Bytes(bytes.take(length)?);
        let column = |kind: &u8| {
            let length = match *kind {
                kind::TINY
                | kind::SHORT
                | kind::LONG
                | kind::INT24
                | kind::LONGLONG
                | kind::TIMESTAMP
                | kind::DATE
                | kind::TIME
                | kind::DATETIME
                | kind::YEAR
                | kind::NEWDATE => 0,
                kind::FLOAT
                | kind::DOUBLE
                | kind::TINY_BLOB..=kind::BLOB
                | kind::GEOMETRY
                | kind::JSON
                | kind::VECTOR
                | kind::BLOB_COMPRESSED
                | kind::TIMESTAMP2
                | kind::DATETIME2
                | kind::TIME2 => 1,
                kind::VARCHAR | kind::VARCHAR_COMPRESSED | kind::BIT | kind::NEWDECIMAL | kind::STRING => 2,
                _ => return None,
            };
            let meta = metas.take(length)?;
            let byte = |at: usize| meta.get(at).copied().unwrap_or_default();
            Some(Column { kind: *kind, meta: [byte(0), byte(1)] })
        };
        let columns: Option<Vec<Column>> = kinds.iter().map(column).collect();
        columns.filter(|_| metas.0.is_empty())
    }
}

/// The operation of a row event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Insert,
    Update,
    Delete,
}

/// A row event, up to its rows.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    pub(super) table: u64,
    pub(super) ends_statement: bool,
    width: usize,
    /// Which columns the rows have: the first image, and the second image of updates.
    present: [&'a [u8]; 2],
    operation: Operation,
    /// The rows; compressed in some events.
    pub(super) data: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// The row event does not have this column.
    Absent,
    Null,
    Bytes(&'a [u8]),
}

impl<'a> Rows<'a> {
    /// Reads an event. Events of version 2 have data between the header and the columns.
    pub(super) fn read(data: &'a [u8], operation: Operation, version: u8) -> Option<Self> {
        const ENDS_STATEMENT: u16 = 1;
        let mut bytes = Bytes(data);
        let table = bytes.number(6)?;
        let flags = bytes.u16()?;
        if version == 2 {
            let length = usize::from(bytes.u16()?);
            bytes.take(length.checked_sub(2)?)?;
        }
        let width = bytes.length_encoded()?;
        let mut present = [bytes.take(width.div_ceil(8))?, &[]];
        if operation == Operation::Update {
            present[1] = bytes.take(width.div_ceil(8))?;
        }
        Some(Rows { table, ends_statement: flags & ENDS_STATEMENT != 0, width, present, operation, data: bytes.0 })
    }

    /// Whether rows were inserted.
    pub(super) fn is_insert(&self) -> bool {
        self.operation == Operation::Insert
    }

    /// Calls `each` with the values of all columns of each row, and for updates with those afterwards; there, columns that the event does
    /// not have keep their values. `None` if the rows do not have the expected form; then `each` may have been called for some of them.
    pub(super) fn each<'d>(
        &self,
        data: &'d [u8],
        columns: &[Column],
        mut each: impl FnMut(&[Value<'d>], Option<&[Value<'d>]>) -> Option<()>,
    ) -> Option<()> {
        if self.width != columns.len() {
            return None;
        }
        let mut bytes = Bytes(data);
        let mut first = vec![Value::Absent; columns.len()];
        let mut second = first.clone();
        while !bytes.0.is_empty() {
            let left = bytes.0.len();
            first.fill(Value::Absent);
            image(&mut bytes, columns, self.present[0], &mut first)?;
            if self.operation == Operation::Update {
                second.copy_from_slice(&first);
                image(&mut bytes, columns, self.present[1], &mut second)?;
                each(&first, Some(&second))?;
            } else {
                each(&first, None)?;
            }
            // Rows without columns would never end.
            if bytes.0.len() == left {
                return None;
            }
        }
        Some(())
    }
}

/// Reads an image of a row: which of its columns are NULL, then the values of the others.
fn image<'d>(bytes: &mut Bytes<'d>, columns: &[Column], present: &[u8], values: &mut [Value<'d>]) -> Option<()> {
    let bit = |bits: &[u8], at: usize| bits[at / 8] & (1 << (at % 8)) != 0;
    let count = (0..columns.len()).filter(|at| bit(present, *at)).count();
    let nulls = bytes.take(count.div_ceil(8))?;
    let mut nth = 0;
    for (at, (column, value)) in columns.iter().zip(values).enumerate() {
        if bit(present, at) {
            *value = if bit(nulls, nth) { Value::Null } else { Value::Bytes(column.take(bytes)?) };
            nth += 1;
        }
    }
    Some(())
}

/// The integer in a column, sign-extended if it is signed.
pub(super) fn integer(bytes: &[u8], form: Form) -> i128 {
    let number = i128::from(little_endian(bytes));
    let bits = bytes.len() * 8;
    let negative = form == Form::Signed && bits > 0 && number >> (bits - 1) & 1 == 1;
    if negative { number - (1 << bits) } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_values_follow_the_table_map() {
        #[track_caller]
        fn check(kind: u8, meta: [u8; 2], stored: &[u8], value: &[u8]) {
            let mut bytes = Bytes(stored);
            assert_eq!(Column { kind, meta }.take(&mut bytes), Some(value));
            assert_eq!(bytes.0, b"rest");
        }
        check(kind::LONGLONG, [0, 0], b"12345678rest", b"12345678");
        check(kind::VARCHAR, [80, 0], b"\x04postrest", b"post");
        check(kind::VARCHAR, [0x2C, 1], b"\x04\0postrest", b"post");
        check(kind::BLOB, [2, 0], b"\x03\0abcrest", b"abc");
        check(kind::DATETIME2, [0, 0], b"12345rest", b"12345");
        check(kind::DATETIME2, [5, 0], b"12345678rest", b"12345678");
        check(kind::NEWDECIMAL, [10, 2], b"12345rest", b"12345");
        check(kind::STRING, [kind::ENUM, 1], b"1rest", b"1");
        check(kind::STRING, [254, 40], b"\x02abrest", b"ab");
        // CHAR(255) of four bytes each: 1,020 bytes.
        check(kind::STRING, [254 ^ 0x30, 0xFC], b"\x02\0abrest", b"ab");
        check(kind::BIT, [1, 1], b"12rest", b"12");
        assert_eq!(Column { kind: 200, meta: [0, 0] }.take(&mut Bytes(b"12")), None);
        assert_eq!(Column { kind: kind::LONG, meta: [0, 0] }.take(&mut Bytes(b"12")), None);
    }

    #[test]
    fn integers_have_the_sign_of_their_column() {
        assert_eq!(integer(&[255, 255, 255], Form::Signed), -1);
        assert_eq!(integer(&[255, 255, 255], Form::Unsigned), 0xFF_FFFF);
        assert_eq!(integer(&[255; 8], Form::Unsigned), i128::from(u64::MAX));
        assert_eq!(integer(&[0, 0, 0, 0, 0, 0, 0, 128], Form::Signed), i128::from(i64::MIN));
    }
}
