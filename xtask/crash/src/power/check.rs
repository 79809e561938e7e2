//! Opens what a power failure has left, with the code of the server and with the server itself.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use svc_backup::{Folder, Moment, restore_database, summary, verify};
use svc_store::{DatabaseUrl, SearchIndexConfig, Store, StoreConfig, posts};

use super::{
    Site,
    disk::Random,
    writes::{Found, Log, Writer},
};

/// The longest time to open the search index, and to copy a write.
const WAIT: Duration = Duration::from_secs(30);

/// What was found after a power failure.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Whether there was a database with tables.
    pub(super) has_site: bool,
    /// Whether there was a backup that could be restored.
    pub(super) has_backup: bool,
    /// Whether the search index was used as it was found.
    pub(super) has_index: bool,
    /// Microseconds since the acknowledgement of the oldest write that the backup does not have.
    pub(super) lag: u64,
    pub(super) faults: Vec<String>,
}

/// Checks a folder that was cut off at a time, in microseconds since 1970.
pub(super) fn check(folder: &Path, log: &Log, time: u64) -> Checked {
    let mut checked = Checked::default();
    if let Err(error) = checked.look(folder, log, time) {
        checked.faults.push(format!("{error:#}"));
    }
    checked
}

impl Checked {
    fn look(&mut self, folder: &Path, log: &Log, time: u64) -> Result<()> {
        let (data, backup) = (folder.join("svc-data"), folder.join("backup"));
        // First, since the server would continue it.
        let restored = self.restore(&backup, &folder.join("restored.db"))?;
        let store = store(&data.join("site.db"))?;
        self.has_site = store.as_ref().is_some_and(|store| Found::read(store, None).is_ok());
        let found = match &store {
            Some(store) if self.has_site => {
                store.check()?;
                let found = Found::read(store, Some(&data))?;
                self.search(store, &data.join("search"))?;
                found
            }
            _ => Found::nothing(),
        };
        self.faults.extend(log.missing(&found, time));
        drop(store);
        if self.has_site {
            svc_db::check_file(&data.join("site.db")).context("the database")?;
        }
        if let Some((restored, reached)) = restored {
            // Uploads are copied to the backup later than their rows.
            let missing = log.missing(&restored, reached.min(time));
            self.faults.extend(missing.into_iter().map(|fault| format!("the backup of {reached}: {fault}")));
            self.lag = log.oldest_missing(&restored, time);
        }
        Ok(())
    }

    /// Restores the last state of the backup, and returns it with the time that it has reached, in microseconds.
    fn restore(&mut self, backup: &Path, to: &Path) -> Result<Option<(Found, u64)>> {
        let from = Folder::new(backup);
        let faults = verify(&from).context("the backup")?.faults;
        self.faults.extend(faults.iter().map(|fault| format!("the backup: {fault}")));
        if summary(&from)?.snapshots == 0 || !faults.is_empty() {
            return Ok(None);
        }
        self.has_backup = true;
        let restored = restore_database(&from, Moment::Latest, to).context("the backup")?;
        let Some(store) = store(to)? else { bail!("nothing was restored") };
        // The first snapshot may be earlier than the tables.
        Ok(Found::read(&store, None).ok().map(|found| (found, restored.reached * 1_000)))
    }

    /// Compares searches with the index with those that read all posts.
    fn search(&mut self, store: &Store, folder: &Path) -> Result<()> {
        let find = || {
            ["a", "crash", "line 3", "post 17", "1"].map(|words| {
                let query = posts::PostQuery::published("post", 10_000).search(Some(words.to_owned()));
                store.read_blocking(|db| posts::query(db, &query))
            })
        };
        let expected = find();
        // A site has an index from a number of posts on.
        if !expected.iter().flatten().any(|page| !page.ids.is_empty()) {
            return Ok(());
        }
        self.has_index = folder.join("index.json").exists();
        let mut config = SearchIndexConfig::new(folder.to_owned());
        config.min_posts = 1;
        let Some(indexer) = store.start_search_index(config) else { bail!("there is no search index") };
        let begun = Instant::now();
        while !indexer.is_ready() {
            ensure!(begun.elapsed() < WAIT, "the search index does not become ready");
            std::thread::sleep(Duration::from_millis(2));
        }
        for (found, expected) in find().into_iter().zip(expected) {
            ensure!(found? == expected?, "the search index finds something else");
        }
        Ok(())
    }
}

/// Opens a database; `None` if there is none.
fn store(file: &Path) -> Result<Option<Store>> {
    if !file.exists() {
        return Ok(None);
    }
    let mut config = StoreConfig::new(DatabaseUrl::Sqlite(file.to_owned()));
    config.durable = false;
    Ok(Some(Store::open(&config)?))
}

/// Starts the server on a folder with the writes of a log, and, if there are credentials, writes to it until the backup has it.
pub(super) fn serve(site: &Site, folder: &Path, written: &Log, credentials: Option<&str>) -> Result<()> {
    let server = site.start(folder)?;
    let Some(credentials) = credentials else { return Ok(()) };
    let log = written.after();
    let mut writer = Writer { log: &log, address: server.address(), credentials, random: Random(7), posts: Vec::new() };
    while log.acknowledged() < 3 {
        writer.write()?;
    }
    let (begun, to) = (Instant::now(), folder.join("restored.db"));
    loop {
        drop(fs::remove_file(&to));
        let from = Folder::new(&folder.join("backup"));
        if summary(&from)?.snapshots > 0 && restore_database(&from, Moment::Latest, &to).is_ok() {
            let Some(store) = store(&to)? else { bail!("nothing was restored") };
            let found = Found::read(&store, None)?;
            if log.oldest_missing(&found, u64::MAX) == 0 {
                break;
            }
        }
        ensure!(begun.elapsed() < WAIT, "the backup does not continue");
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(server);
    let faults = verify(&Folder::new(&folder.join("backup")))?.faults;
    ensure!(faults.is_empty(), "the backup: {faults:?}");
    Ok(())
}
