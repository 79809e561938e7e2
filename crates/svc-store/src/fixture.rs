//! The fixture site for tests: imported once, copied for each test.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::import::ImportOptions;
use crate::{DatabaseUrl, Store, StoreConfig};

/// The dump of the fixture site.
pub(crate) fn dump() -> Vec<u8> {
    std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/site.sql.gz")).unwrap()
}

/// A store with the fixture site, which the test alone uses.
pub(crate) fn store() -> (Store, tempfile::TempDir) {
    static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
    let template = TEMPLATE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap().keep();
        let path = folder.join("site.db");
        let mut config = StoreConfig::new(DatabaseUrl::Sqlite(path.clone()));
        config.durable = false;
        let store = Store::open(&config).unwrap();
        store.import(&dump()[..], ImportOptions::default()).unwrap();
        let copy = folder.join("template.db");
        store.backup(&copy).unwrap();
        copy
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("site.db");
    std::fs::copy(template, &path).unwrap();
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(path));
    config.durable = false;
    (Store::open(&config).unwrap(), folder)
}

#[test]
fn the_whole_fixture_is_loaded() {
    let (store, _folder) = store();
    store.check().unwrap();
    let (posts, users, autoloaded) = store
        .read(|db| {
            let posts = crate::posts::query(db, &crate::posts::PostQuery::published("post", 10))?;
            let users = crate::users::by_login(db, "ADMIN")?;
            Ok((posts, users, crate::options::autoloaded(db)?.len()))
        })
        .unwrap();
    assert_eq!(posts.ids.len(), 10);
    assert_eq!(users.unwrap().id.0, 1);
    assert!(autoloaded > 50);
}
