//! The version of what this crate adds to an SQLite file.

use expect_test::expect_file;

use svc_db::ReadText as _;

use crate::tables::SCHEMA;
use crate::{DatabaseUrl, Store, StoreConfig, schema};

/// Other statements need another version: a server of this version otherwise keeps those of an earlier one, and a database that an earlier version has
/// written is not copied before.
#[test]
fn other_statements_have_another_version() {
    let store = Store::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap();
    store.write_blocking(schema::install).unwrap();
    let mut statements = store
        .read_blocking(|db| {
            let mut found = Vec::new();
            db.query_text(
                "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name",
                &[],
                &mut |row| row.text(0).map(|sql| found.push(sql)),
            )?;
            Ok(found)
        })
        .unwrap()
        .join(";\n");
    statements.push_str(";\n");
    // If this fails, increase `Layout::version`, and write the file of the new version with UPDATE_EXPECT=1.
    let file = format!("../../testdata/layout/{}.sql", SCHEMA.layout.version);
    expect_file![file].assert_eq(&statements);
}
