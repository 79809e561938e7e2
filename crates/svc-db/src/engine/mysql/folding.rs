//! The characters that `LIKE` treats as equal under a collation. The server reports this for every character, because collations and
//! their versions differ between servers.
//!
//! `LIKE` compares single characters. Those that it treats as equal have the same weights, but not the reverse: some collations give the
//! same weight to all characters outside the Basic Multilingual Plane. Characters with the same weights are therefore compared with
//! `LIKE` as well.

use std::hash::{BuildHasher as _, RandomState};

use crate::error::Result;
use crate::handle::Db;
use crate::schema::LoggedTable;

/// Number of characters of one statement: three hexadecimal digits.
const CHUNK: u32 = 0x1000;

/// Characters with the same weights are compared one by one, unless there are more.
const MANY: usize = 2_000;

/// Number of comparisons in one statement.
const COMPARISONS: usize = 250;

/// Number of characters in a block of the table.
const BLOCK: usize = 0x100;

/// The collation of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Collation {
    pub(super) charset: String,
    pub(super) name: String,
}

impl Collation {
    /// The common collation of the texts of a table. `None` if they have several, or a character set that is not Unicode.
    pub(super) fn of_texts(db: &mut Db, logged: &LoggedTable) -> Result<Option<Self>> {
        let texts = logged.texts.map(|text| format!("'{text}'")).join(", ");
        let sql = format!(
            "SELECT DISTINCT CHARACTER_SET_NAME, COLLATION_NAME FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND COLUMN_NAME IN ({texts})"
        );
        let table = format!("{}{}", db.prefix(), logged.table);
        let mut found = Vec::new();
        let _timer = db.count(&sql);
        db.conn.query(&sql, &[table.into()], &mut |row| {
            found.push(Collation { charset: row.text(0)?, name: row.text(1)? });
            Ok(())
        })?;
        let is_unicode = |c: &Collation| matches!(c.charset.as_str(), "utf8mb4" | "utf8mb3" | "utf8");
        // The names become part of statements.
        let is_name = |c: &Collation| c.name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        Ok(match &found[..] {
            [only] if is_unicode(only) && is_name(only) => Some(only.clone()),
            _ => None,
        })
    }

    /// An SQL expression for a character.
    fn character(&self, code: impl std::fmt::Display) -> String {
        format!("CONVERT(CHAR({code} USING utf32) USING {}) COLLATE {}", self.charset, self.name)
    }

    /// The first code point that the character set cannot store.
    fn end(&self) -> u32 {
        if self.charset == "utf8mb4" { 0x11_0000 } else { 0x1_0000 }
    }
}

/// The first of the characters that are equal to each character.
pub(super) struct Folding {
    pub(super) collation: Collation,
    /// Blocks of 256 characters; `None` if all are equal to no other.
    blocks: Vec<Option<Box<[char; BLOCK]>>>,
    checksum: u32,
}

impl Folding {
    /// Reads the weights of all characters, and compares those with the same weights.
    pub(super) fn read(db: &mut Db, collation: Collation, proceed: &dyn Fn() -> Result<()>) -> Result<Self> {
        // Characters by a hash of their weights, since there are a million of them.
        let hashes = RandomState::new();
        let mut by_weight: Vec<(u64, char)> = Vec::new();
        for start in (0..collation.end()).step_by(CHUNK as usize) {
            proceed()?;
            let sql = chunk(&format!("n, WEIGHT_STRING({})", collation.character("n")), start);
            db.conn.query(&sql, &[], &mut |row| {
                if let Some(c) = u32::try_from(row.int(0)?).ok().and_then(char::from_u32) {
                    by_weight.push((hashes.hash_one(row.bytes(1)?), c));
                }
                Ok(())
            })?;
        }
        let mut pairs: Vec<(char, char)> = Vec::new();
        let mut equal: Vec<(char, char)> = Vec::new();
        by_weight.sort_unstable();
        for class in by_weight.chunk_by(|a, b| a.0 == b.0) {
            let Some(((_, first), others)) = class.split_first() else { continue };
            if others.len() > MANY {
                equal.extend(like(db, &collation, *first, proceed)?.into_iter().map(|c| (c, *first)));
            } else {
                pairs.extend(others.iter().map(|(_, c)| (*c, *first)));
            }
        }
        drop(by_weight);
        for pairs in pairs.chunks(COMPARISONS) {
            proceed()?;
            // The first one may be a wildcard, which is none as the text.
            let comparisons = pairs
                .iter()
                .map(|(c, first)| format!("({}) LIKE ({})", code(&collation, *first), code(&collation, *c)));
            let sql = format!("SELECT {}", comparisons.collect::<Vec<_>>().join(", "));
            db.conn.query(&sql, &[], &mut |row| {
                for (at, pair) in pairs.iter().enumerate() {
                    if row.int(at)? == 1 {
                        equal.push(*pair);
                    }
                }
                Ok(())
            })?;
        }
        Ok(Self::of(collation, equal))
    }

    /// From characters and the first ones that they are equal to.
    fn of(collation: Collation, mut equal: Vec<(char, char)>) -> Self {
        equal.sort_unstable();
        let mut blocks: Vec<Option<Box<[char; BLOCK]>>> = vec![None; 0x11_0000 / BLOCK];
        let mut crc = flate2::Crc::new();
        for (c, first) in equal {
            crc.update(&u32::from(c).to_le_bytes());
            crc.update(&u32::from(first).to_le_bytes());
            let code = u32::from(c) as usize;
            let Some(block) = blocks.get_mut(code / BLOCK) else { continue };
            let start = code - code % BLOCK;
            let itself = |at: usize| u32::try_from(start + at).ok().and_then(char::from_u32).unwrap_or_default();
            let block = block.get_or_insert_with(|| Box::new(std::array::from_fn(itself)));
            if let Some(slot) = block.get_mut(code % BLOCK) {
                *slot = first;
            }
        }
        Folding { collation, blocks, checksum: crc.sum() }
    }

    /// Identifies the rules.
    pub(super) fn name(&self) -> String {
        format!("{} {:08x}", self.collation.name, self.checksum)
    }

    /// Replaces each character by the first one that is equal to it.
    pub(super) fn fold(&self, text: &str, out: &mut String) {
        out.clear();
        out.extend(text.chars().map(|c| {
            let code = u32::from(c) as usize;
            let block = self.blocks.get(code / BLOCK).and_then(Option::as_deref);
            block.and_then(|block| block.get(code % BLOCK)).copied().unwrap_or(c)
        }));
    }
}

fn code(collation: &Collation, c: char) -> String {
    collation.character(u32::from(c))
}

/// A query of `columns` for each code point `n` of a chunk.
fn chunk(columns: &str, start: u32) -> String {
    let digits: Vec<String> = (0..16).map(|d| format!("SELECT {d} AS d")).collect();
    let digits = digits.join(" UNION ALL ");
    format!(
        "SELECT {columns} FROM (SELECT {start} + a.d + 16 * b.d + 256 * c.d AS n FROM ({digits}) a, ({digits}) b, ({digits}) c) chars"
    )
}

/// All characters that are equal to one.
fn like(db: &mut Db, collation: &Collation, first: char, proceed: &dyn Fn() -> Result<()>) -> Result<Vec<char>> {
    let mut found = Vec::new();
    for start in (0..collation.end()).step_by(CHUNK as usize) {
        proceed()?;
        let sql = chunk(&format!("n, ({}) LIKE ({})", code(collation, first), collation.character("n")), start);
        db.conn.query(&sql, &[], &mut |row| {
            if row.int(1)? == 1 {
                found.extend(u32::try_from(row.int(0)?).ok().and_then(char::from_u32).filter(|c| *c != first));
            }
            Ok(())
        })?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use svc_testkit::mariadb::{DISPOSABLE_OPTIONS, MariaDb};

    use super::*;
    use crate::schema::Schema;
    use crate::{Database, DatabaseUrl, StoreConfig, Tuning};

    #[test]
    fn folded_characters_are_equal_exactly_if_like_says_so() {
        let Some(server) = MariaDb::start(DISPOSABLE_OPTIONS).unwrap() else {
            eprintln!("SKIPPED: mariadbd is not installed");
            return;
        };
        let config = StoreConfig::new(DatabaseUrl::MySql(server.create("folding").unwrap()));
        let database = Database::open(&config, &Schema::EMPTY, Arc::new(()), Tuning::QUICK).unwrap();
        for name in ["unicode_520_ci", "unicode_ci", "general_ci", "bin"] {
            let collation = Collation { charset: "utf8mb4".to_owned(), name: format!("utf8mb4_{name}") };
            let folding = database.read_unlimited(|db| Folding::read(db, collation.clone(), &|| Ok(()))).unwrap();
            let folded = |c: char| {
                let mut out = String::new();
                folding.fold(&c.to_string(), &mut out);
                out
            };
            let chars = [
                'a', 'A', 'é', 'É', 'ß', 's', 'ẞ', 'ł', 'l', '😀', '😁', 'п', 'П', 'ａ', 'ﬁ', '中', '\u{301}',
                '\u{300}', '\0', 'ª',
            ];
            let pairs: Vec<(char, char)> = chars.iter().flat_map(|a| chars.map(|b| (*a, b))).collect();
            let comparisons =
                pairs.iter().map(|(a, b)| format!("({}) LIKE ({})", code(&collation, *a), code(&collation, *b)));
            let sql = format!("SELECT {}", comparisons.collect::<Vec<_>>().join(", "));
            let mut equal = Vec::new();
            database
                .read_unlimited(|db| {
                    db.conn.query(&sql, &[], &mut |row| {
                        equal = (0..pairs.len()).map(|at| row.int(at).unwrap() == 1).collect();
                        Ok(())
                    })
                })
                .unwrap();
            for ((a, b), equal) in pairs.iter().zip(&equal) {
                assert_eq!(folded(*a) == folded(*b), *equal, "{name}: {a:?} {b:?}");
            }
            assert!(equal.iter().filter(|equal| **equal).count() >= chars.len());
        }
    }
}
