//! The continuous backup to a bucket.

use std::{sync::Arc, time::Duration};

use svc_backup::{
    Backup, BackupError, BackupSettings, Bucket, BucketConfig, Destination, Moment, restore_database, summary, verify,
};
use svc_store::{DatabaseUrl, Store, StoreConfig};

use crate::s3::{BUCKET, KEY, S3};

fn open(s3: &S3, prefix: &str, key: &str) -> Bucket {
    let config = BucketConfig {
        name: BUCKET.to_owned(),
        prefix: prefix.to_owned(),
        endpoint: Some(format!("http://{}", s3.address)),
        region: "us-east-1".to_owned(),
        access_key: key.to_owned(),
        secret_key: "secret".to_owned(),
    };
    Bucket::new(&config).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_is_backed_up_to_a_bucket() {
    let s3 = S3::start().await;
    tokio::task::spawn_blocking(move || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("site.db");
        let mut config = StoreConfig::new(DatabaseUrl::Sqlite(path.clone()));
        config.follow_log = true;
        let store = Store::open(&config).unwrap();
        let settings = BackupSettings { interval: Duration::from_millis(50), ..BackupSettings::default() };
        let to = Arc::new(open(&s3, "one/site", KEY));
        let start = || {
            let to = Arc::clone(&to) as Arc<dyn Destination>;
            Backup::start(store.log_reader().unwrap().unwrap(), None, to, settings.clone()).unwrap()
        };
        let backup = start();
        while backup.report().last_snapshot.is_none() {
            std::thread::sleep(Duration::from_millis(10));
        }
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("CREATE TABLE boats (name TEXT); INSERT INTO boats VALUES ('Swift')").unwrap();
        drop(backup);
        other.execute("INSERT INTO boats VALUES ('Swallow')", []).unwrap();
        drop(start());
        let found = summary(&*to).unwrap();
        assert!(found.generations == 1 && found.log_parts >= 2, "{found:?}");
        assert!(s3.names().iter().all(|name| name.starts_with("one/site/db/")), "{:?}", s3.names());
        assert!(verify(&*to).unwrap().faults.is_empty());
        let restored = folder.path().join("restored.db");
        restore_database(&*to, Moment::Latest, &restored).unwrap();
        let restored = rusqlite::Connection::open(restored).unwrap();
        let n: i64 = restored.query_row("SELECT COUNT(*) FROM boats", [], |row| row.get(0)).unwrap();
        assert_eq!(n, 2);

        let more = ["more/1", "more/2"].map(str::to_owned);
        more.iter().for_each(|key| to.put(key, b"more".to_vec()).unwrap());
        assert_eq!(to.list("more").unwrap(), more);
        to.delete_all(&more).unwrap();
        assert_eq!(to.list("more").unwrap(), [] as [String; 0]);
        let key = to.list("db").unwrap().pop().unwrap();
        assert!(matches!(to.put(&key, Vec::new()), Err(BackupError::Exists(_))), "objects are written once");
        to.delete(&key).unwrap();
        assert!(matches!(to.get(&key), Err(BackupError::Missing(_))));
        assert_eq!(summary(&open(&s3, "", KEY)).unwrap().generations, 0, "another prefix");
        assert!(matches!(summary(&open(&s3, "one/site", "wrong")), Err(BackupError::Destination(_))));
    })
    .await
    .unwrap();
}
