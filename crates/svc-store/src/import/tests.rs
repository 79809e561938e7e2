//! Whole dumps, good and broken.

use std::io::Write as _;

use super::*;
use crate::{DatabaseUrl, StoreConfig, StoredText, options, users};

fn empty() -> Store {
    Store::open(&StoreConfig::new(DatabaseUrl::Temporary)).unwrap()
}

/// A small site as a dump, its tables under this prefix.
fn site(prefix: &str) -> String {
    let mut out = String::from("-- a dump\n/*!40101 SET NAMES utf8mb4 */;\n");
    for table in crate::schema::TABLES {
        let create = table.create(crate::Dialect::MySql, &format!("{prefix}{}", table.name));
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
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

#[test]
fn a_site_under_another_prefix() {
    for packed in [false, true] {
        let store = empty();
        let text = site("my_1_");
        let bytes = if packed { gz(&text) } else { text.into_bytes() };
        let replace = vec![("http://old.example".to_owned(), "https://new.example.org".to_owned())];
        let mut told = 0;
        let mut progress = |p: &Progress| told = p.bytes;
        let import = ImportOptions { search_replace: replace, progress: Some(&mut progress), ..Default::default() };
        let report = store.import(&bytes[..], import).unwrap();
        assert_eq!(report.prefix, "my_1_");
        assert_eq!(report.rows(), 5);
        assert_eq!(report.skipped["my_1_plugin_log"], 1);
        assert_eq!(told, bytes.len() as u64);
        store
            .read(|db| {
                let all = options::autoloaded(db)?;
                assert_eq!(all["siteurl"], "https://new.example.org");
                assert_eq!(all["wp_user_roles"], "a:1:{s:3:\"url\";s:23:\"https://new.example.org\";}");
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
fn a_broken_dump_changes_nothing_and_names_the_line() {
    let whole = site("wp_");
    let lines = whole.lines().count() as u64;
    #[rustfmt::skip]
    let rows = [
        (format!("{whole}INSERT INTO `wp_users` VALUES (1,2);\n"), Some(lines + 1)),
        (format!("{whole}INSERT INTO `wp_users` (`ID`) VALUES (3);\n"), Some(lines + 1)),
        (format!("{whole}INSERT INTO `wp_users` (`ID`) VALUES (NOW());\n"), Some(lines + 1)),
        (format!("{whole}\n\nINSERT INTO `wp_options` VALUES (9,'a','b"), Some(lines + 3)),
        (format!("{whole}INSERT INTO `wp_nothing` VALUES (1);\n"), Some(lines + 1)),
        (format!("{whole}GRANT ALL ON x TO y;\n"), Some(lines + 1)),
        (whole.replace("wp_term_taxonomy", "wp_lost"), None),
        (String::new(), None),
    ];
    for (dump, line) in rows {
        let store = empty();
        store
            .write_blocking(|tx| {
                crate::schema::install(tx)?;
                options::set(tx, "kept", &StoredText::of("yes"), true)
            })
            .unwrap();
        let import = ImportOptions { overwrite: true, ..Default::default() };
        let error = store.import(dump.as_bytes(), import).unwrap_err();
        let at = if let ImportError::Dump { line, .. } = &error { Some(*line) } else { None };
        assert_eq!(at, line, "{error}");
        assert_eq!(store.read(|db| options::get(db, "kept")).unwrap().as_ref().map(StoredText::text), Some("yes"));
        assert!(!store.read(|db| db.table_exists("svc_import_wp_users")).unwrap());
    }
}

#[test]
fn a_site_that_is_there_is_not_replaced_unasked() {
    let store = empty();
    store.import(site("wp_").as_bytes(), ImportOptions::default()).unwrap();
    let again = store.import(site("wp_").as_bytes(), ImportOptions::default());
    assert!(matches!(again, Err(ImportError::NotEmpty)));
    let overwrite = ImportOptions { overwrite: true, ..Default::default() };
    store.import(site("wp_").as_bytes(), overwrite).unwrap();
}

#[test]
fn every_cut_of_a_dump_is_an_error_or_a_site() {
    let whole = site("wp_");
    for cut in (0..whole.len()).step_by(97) {
        let store = empty();
        if let Err(e) = store.import(&whole.as_bytes()[..cut], ImportOptions::default()) {
            assert!(matches!(e, ImportError::Dump { .. } | ImportError::NoSite(_)), "{e}");
        }
    }
    let packed = gz(&whole);
    assert!(empty().import(&packed[..packed.len() - 9], ImportOptions::default()).is_err());
}
