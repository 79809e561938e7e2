//! Imports of valid and invalid dumps.

use std::io::Write as _;

use super::*;
use crate::{DatabaseUrl, StoreConfig, StoredText, options, users};

fn empty() -> Store {
    crate::fixture::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap()
}

/// The dump of a small site, with this table prefix.
fn site(prefix: &str) -> String {
    let mut out = String::from("-- a dump\n/*!40101 SET NAMES utf8mb4 */;\n");
    for table in crate::tables::TABLES {
        let create = crate::export::create_table(table, &format!("{prefix}{}", table.name));
        out += &format!("DROP TABLE IF EXISTS `{prefix}{}`;\n{create} AUTO_INCREMENT=501;\n", table.name);
    }
    out += &format!(
        "CREATE TABLE `{prefix}plugin_log` (`id` int, `t` text);\nINSERT INTO `{prefix}plugin_log` VALUES (1,'a;b');\n"
    );
    out += &format!(
        "INSERT INTO `{prefix}options` VALUES (1,'siteurl','http://old.example','yes'),\n(2,'{prefix}user_roles','a:1:{{s:3:\"url\";s:18:\"http://old.example\";}}','yes');\n"
    );
    out += &format!("INSERT INTO `{prefix}users` (`ID`, `user_login`) VALUES (3,'it\\'s me');\n");
    out += &format!("INSERT INTO `{prefix}usermeta` VALUES (1,3,'{prefix}capabilities','x'),(2,3,'other',NULL);\n");
    out
}

fn gz(text: &str) -> Vec<u8> {
    let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    compressed.write_all(text.as_bytes()).unwrap();
    compressed.finish().unwrap()
}

#[test]
fn imports_a_site_with_another_prefix() {
    for compressed in [false, true] {
        let store = empty();
        let text = site("my_1_");
        let bytes = if compressed { gz(&text) } else { text.into_bytes() };
        let replace = vec![("http://old.example".to_owned(), "https://new.example.org".to_owned())];
        let mut reported_bytes = 0;
        let mut progress = |p: &Progress| reported_bytes = p.bytes;
        let import = ImportOptions { search_replace: replace, progress: Some(&mut progress), ..Default::default() };
        let report = store.import(&bytes[..], import).unwrap();
        assert_eq!(report.prefix, "my_1_");
        assert_eq!(report.rows(), 5);
        assert_eq!(report.skipped["my_1_plugin_log"], 1);
        assert_eq!(reported_bytes, bytes.len() as u64);
        store
            .read_blocking(|db| {
                let all = options::autoloaded(db)?;
                assert_eq!(all["siteurl"].text(), "https://new.example.org");
                assert_eq!(all["wp_user_roles"].as_stored(), "a:1:{s:3:\"url\";s:23:\"https://new.example.org\";}");
                assert_eq!(users::by_login(db, "IT'S ME")?.unwrap().id.0, 3);
                let meta = crate::meta::load_one(db, crate::MetaKind::User, 3)?;
                assert_eq!(meta.iter().map(|(k, _)| k).collect::<Vec<_>>(), ["wp_capabilities", "other"]);
                Ok(())
            })
            .unwrap();
        let id = store.write_blocking(|tx| users::insert(tx, &svc_model::User::default())).unwrap();
        assert_eq!(id.0, 501);
    }
}

#[test]
fn invalid_dumps_change_nothing_and_report_the_line() {
    let dump = site("wp_");
    let lines = dump.lines().count() as u64;
    #[rustfmt::skip]
    let rows = [
        (format!("{dump}INSERT INTO `wp_users` VALUES (1,2);\n"), Some(lines + 1)),
        (format!("{dump}INSERT INTO `wp_users` (`ID`) VALUES (3);\n"), Some(lines + 1)),
        (format!("{dump}INSERT INTO `wp_users` (`ID`) VALUES (NOW());\n"), Some(lines + 1)),
        (format!("{dump}\n\nINSERT INTO `wp_options` VALUES (9,'a','b"), Some(lines + 3)),
        (format!("{dump}INSERT INTO `wp_nothing` VALUES (1);\n"), Some(lines + 1)),
        (format!("{dump}GRANT ALL ON x TO y;\n"), Some(lines + 1)),
        (dump.replace("wp_term_taxonomy", "wp_lost"), None),
        (String::new(), None),
    ];
    for (dump, line) in rows {
        let store = empty();
        store
            .write_blocking(|tx| {
                crate::schema::install(tx)?;
                options::set(tx, "marker", &StoredText::of("yes"), true)
            })
            .unwrap();
        let import = ImportOptions { overwrite: true, ..Default::default() };
        let error = store.import(dump.as_bytes(), import).unwrap_err();
        let at = if let ImportError::Dump { line, .. } = &error { Some(*line) } else { None };
        assert_eq!(at, line, "{error}");
        assert_eq!(
            store.read_blocking(|db| options::get(db, "marker")).unwrap().as_ref().map(StoredText::text),
            Some("yes")
        );
        assert!(!store.read_blocking(|db| db.table_exists("svc_import_wp_users")).unwrap());
    }
}

#[test]
fn existing_sites_are_only_replaced_on_request() {
    let store = empty();
    store.import(site("wp_").as_bytes(), ImportOptions::default()).unwrap();
    let again = store.import(site("wp_").as_bytes(), ImportOptions::default());
    assert!(matches!(again, Err(ImportError::NotEmpty)));
    let overwrite = ImportOptions { overwrite: true, ..Default::default() };
    store.import(site("wp_").as_bytes(), overwrite).unwrap();
}

#[test]
fn every_truncated_dump_is_an_error_or_a_site() {
    let dump = site("wp_");
    for cut in (0..dump.len()).step_by(97) {
        let store = empty();
        if let Err(e) = store.import(&dump.as_bytes()[..cut], ImportOptions::default()) {
            assert!(matches!(e, ImportError::Dump { .. } | ImportError::NoSite(_)), "{e}");
        }
    }
    let compressed = gz(&dump);
    assert!(empty().import(&compressed[..compressed.len() - 9], ImportOptions::default()).is_err());
}
