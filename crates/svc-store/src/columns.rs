//! Tables of columns: each entity declares its columns once, with [`columns!`]. `SELECT` lists, reading a row, and the
//! values of `INSERT` and `UPDATE` derive from the table.

use sea_query::Expr;
use svc_db::{Charset, Result, Row};
use svc_model::{CommentId, PostId, TermId, TermTaxonomyId, Timestamp, UserId};

use crate::stamp;

/// A column of an entity `T`. `C` is its name: `&str`, or a pair of table alias and name.
pub(crate) struct Column<T, C> {
    /// The name in statements.
    pub(crate) name: C,
    /// The statements that write the column.
    pub(crate) written: Written,
    /// The value to store.
    pub(crate) value: fn(&T, Charset) -> Expr,
}

/// The statements that write a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// `INSERT` and `UPDATE`.
    Always,
    /// `INSERT` only.
    OnInsert,
    /// None; the database generates the value.
    Never,
}

/// Declares the columns of an entity, one per line: name, field, kind ([`ColumnKind`]), and which statements write it
/// ([`Written`], `Always` if omitted). Defines `COLUMNS` and the function `read`, which reads a row of these columns.
/// Every field of the entity must be listed.
macro_rules! columns {
    ($entity:ident, $name:ty; $(($column:expr, $field:ident, $kind:ident $(, $written:ident)?),)+) => {
        const COLUMNS: [$crate::columns::Column<$entity, $name>; [$(stringify!($field)),+].len()] = [
            $($crate::columns::Column {
                name: $column,
                written: $crate::columns::columns!(@written $($written)?),
                value: |entity, charset| {
                    <$crate::columns::$kind as $crate::columns::ColumnKind<_>>::write(&entity.$field, charset)
                },
            }),+
        ];

        pub(crate) fn read(row: &svc_db::Row<'_>) -> svc_db::Result<$entity> {
            #[expect(non_camel_case_types, reason = "the variants are the fields")]
            enum Position {
                $($field),+
            }
            Ok($entity {
                $($field: <$crate::columns::$kind as $crate::columns::ColumnKind<_>>::read(
                    row,
                    Position::$field as usize,
                )?),+
            })
        }
    };
    (@written) => { $crate::columns::Written::Always };
    (@written $written:ident) => { $crate::columns::Written::$written };
}

pub(crate) use columns;

/// The names of these columns.
pub(crate) fn names<T, C: Copy>(columns: &[Column<T, C>]) -> impl Iterator<Item = C> {
    columns.iter().map(|column| column.name)
}

/// The names and values for an `INSERT` of the entity.
pub(crate) fn inserted<'c, T: 'c, C: Copy + 'c>(
    columns: impl IntoIterator<Item = &'c Column<T, C>>,
    entity: &T,
    charset: Charset,
) -> (Vec<C>, Vec<Expr>) {
    let written = columns.into_iter().filter(|column| column.written != Written::Never);
    written.map(|column| (column.name, (column.value)(entity, charset))).unzip()
}

/// The names and values for an `UPDATE` of the entity.
pub(crate) fn updated<'c, T: 'c, C: Copy + 'c>(
    columns: impl IntoIterator<Item = &'c Column<T, C>>,
    entity: &T,
    charset: Charset,
) -> Vec<(C, Expr)> {
    let written = columns.into_iter().filter(|column| column.written == Written::Always);
    written.map(|column| (column.name, (column.value)(entity, charset))).collect()
}

/// How a column stores values of a type.
pub(crate) trait ColumnKind<T> {
    /// Reads the value at a position of a row.
    fn read(row: &Row<'_>, column: usize) -> Result<T>;
    /// The value to store.
    fn write(value: &T, charset: Charset) -> Expr;
}

/// A text, stored unchanged.
pub(crate) struct Text;

/// A text that users write. Emoji become character references where they cannot be stored.
pub(crate) struct EmojiText;

/// A date, or the zero date.
pub(crate) struct Date;

/// An integer.
pub(crate) struct Int;

/// An integer that is clamped to 32 bits, as databases in non-strict mode do.
pub(crate) struct Int32;

/// An id.
pub(crate) struct Id;

/// An id in an unsigned column. Negative ids become 0, as databases in non-strict mode do.
pub(crate) struct UnsignedId;

impl ColumnKind<String> for Text {
    fn read(row: &Row<'_>, column: usize) -> Result<String> {
        row.text(column)
    }

    fn write(value: &String, _: Charset) -> Expr {
        value.as_str().into()
    }
}

impl ColumnKind<String> for EmojiText {
    fn read(row: &Row<'_>, column: usize) -> Result<String> {
        row.text(column)
    }

    fn write(value: &String, charset: Charset) -> Expr {
        match charset {
            Charset::Full => value.as_str().into(),
            Charset::Basic => svc_text::encode_emoji(value).into_owned().into(),
        }
    }
}

impl ColumnKind<Timestamp> for Date {
    fn read(row: &Row<'_>, column: usize) -> Result<Timestamp> {
        row.stamp(column)
    }

    fn write(value: &Timestamp, _: Charset) -> Expr {
        stamp::format(*value).into()
    }
}

impl ColumnKind<i64> for Int {
    fn read(row: &Row<'_>, column: usize) -> Result<i64> {
        row.int(column)
    }

    fn write(value: &i64, _: Charset) -> Expr {
        (*value).into()
    }
}

impl ColumnKind<i64> for Int32 {
    fn read(row: &Row<'_>, column: usize) -> Result<i64> {
        row.int(column)
    }

    fn write(value: &i64, _: Charset) -> Expr {
        Ord::clamp(*value, i32::MIN.into(), i32::MAX.into()).into()
    }
}

macro_rules! ids {
    ($($id:ident),+) => {$(
        impl ColumnKind<$id> for Id {
            fn read(row: &Row<'_>, column: usize) -> Result<$id> {
                Ok($id(row.int(column)?))
            }

            fn write(value: &$id, _: Charset) -> Expr {
                value.0.into()
            }
        }

        impl ColumnKind<$id> for UnsignedId {
            fn read(row: &Row<'_>, column: usize) -> Result<$id> {
                Ok($id(row.int(column)?))
            }

            fn write(value: &$id, _: Charset) -> Expr {
                Ord::max(value.0, 0).into()
            }
        }
    )+};
}

ids!(PostId, TermId, TermTaxonomyId, UserId, CommentId);

#[cfg(test)]
mod tests {
    use svc_db::ReadText as _;
    use svc_model::PostId;

    use super::*;

    #[derive(Clone, Debug, Default, PartialEq)]
    pub(crate) struct Book {
        id: PostId,
        title: String,
        pages: i64,
        parent: PostId,
    }

    columns! { Book, &'static str;
        ("ID", id, Id, Never),
        ("title", title, EmojiText),
        ("pages", pages, Int32, OnInsert),
        ("parent", parent, UnsignedId),
    }

    #[test]
    fn columns_follow_the_table() {
        assert_eq!(names(&COLUMNS).collect::<Vec<_>>(), ["ID", "title", "pages", "parent"]);
        let book = Book { id: PostId(7), title: "a 😀".to_owned(), pages: i64::MAX, parent: PostId(-1) };
        let (columns, values) = inserted(&COLUMNS, &book, Charset::Full);
        assert_eq!(columns, ["title", "pages", "parent"]);
        assert_eq!(values, ["a 😀".into(), i64::from(i32::MAX).into(), 0_i64.into()] as [Expr; 3]);
        let changes = updated(&COLUMNS, &book, Charset::Basic);
        assert_eq!(changes, [("title", "a &#x1f600;".into()), ("parent", Expr::from(0_i64))]);
    }

    #[test]
    fn rows_are_read_in_the_order_of_the_table() {
        let (store, _folder) = crate::fixture::store();
        let mut books = Vec::new();
        store
            .read_blocking(|db| {
                db.query_text("SELECT 7, 'a', 300, 2", &[], &mut |row| read(row).map(|book| books.push(book)))
            })
            .unwrap();
        let book = Book { id: PostId(7), title: "a".to_owned(), pages: 300, parent: PostId(2) };
        assert_eq!(books, [book]);
    }
}
