//! Restores the continuous backup of a large site, and measures how long that takes.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use svc_backup::{Destination as _, Folder, summary};
use svc_db::WriteText as _;
use svc_store::{DatabaseUrl, Store, StoreConfig, posts};
use xtask_support::{
    say,
    server::{self, Server},
};

use crate::{Run, Tally, backup::now};

/// The longest time for the restore of a gigabyte, and of less.
const LIMIT: Duration = Duration::from_secs(60);

/// Bytes in a megabyte.
const MEGABYTE: u64 = 1_000_000;

/// Bytes of a post. Half of it can be compressed away.
const POST: u64 = 8_000;

/// Bytes of an uploaded file.
const FILE: u64 = 2 * MEGABYTE;

/// Which part of the site is uploaded files.
const FILES_SHARE: u64 = 10;

/// Number of posts that are written while the site is backed up, so that the log is restored, too.
const LATER: usize = 100;

/// The longest time for the first snapshot.
const PATIENCE: Duration = Duration::from_mins(10);

/// The folder of uploaded files in a site.
const UPLOADS: &str = "content/uploads";

/// The folder of a backup with the lists of files.
const FILE_LISTS: &str = "files/list";

/// Backs up a site of this size, and restores it. Returns the number of failures.
pub(crate) fn on_large_site(program: &Path, megabytes: u64) -> Result<usize> {
    let run = Run::new(program, None)?;
    let folder = run.folder.path();
    fill(&run, megabytes * MEGABYTE)?;
    let backup = Folder::new(&folder.join("backup"));
    let server = start(&run)?;
    let copying = Instant::now();
    wait("snapshot", || Ok(summary(&backup)?.snapshots > 0 && !backup.list(FILE_LISTS)?.is_empty()))?;
    let copied = copying.elapsed();
    let tally = Tally::default();
    let mut last = now();
    while tally.written().len() < LATER {
        last = now();
        tally.write(server.address(), &run.credentials)?;
    }
    wait("copy of the last write", || Ok(summary(&backup)?.last.is_some_and(|time| time >= last)))?;
    drop(server);
    let mut restore = run.command();
    restore.args(["restore", "--from", "backup", "--at", "latest", "--to", "restored"]);
    let restoring = Instant::now();
    let output = restore.output().context("cannot restore")?;
    let took = restoring.elapsed();
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (site, restored) = (folder.join("svc-data"), folder.join("restored"));
    let (expected, found) = (Found::read(&site)?, Found::read(&restored)?);
    let bytes = found.database + found.files;
    let limit = LIMIT.mul_f64((bytes as f64 / 1e9).max(1.0));
    say(&format!(
        "Restore: a database of {} MB with {} posts and files of {} MB in {:.1} s, from a backup of {} MB that was made in {:.1} s",
        found.database / MEGABYTE,
        found.posts,
        found.files / MEGABYTE,
        took.as_secs_f64(),
        size(&folder.join("backup"))? / MEGABYTE,
        copied.as_secs_f64(),
    ))?;
    let is_whole = (found.posts, found.files) == (expected.posts, expected.files);
    if !is_whole {
        say(&format!("    {found:?} instead of {expected:?}"))?;
    }
    Ok(usize::from(!is_whole) + usize::from(took > limit))
}

/// What a site has.
#[derive(Debug)]
struct Found {
    posts: u64,
    /// Bytes of the database.
    database: u64,
    /// Bytes of the uploaded files.
    files: u64,
}

impl Found {
    fn read(site: &Path) -> Result<Self> {
        let file = site.join("site.db");
        let store = Store::open(&StoreConfig::new(DatabaseUrl::Sqlite(file.clone())))?;
        let posts = store.read_blocking(|db| posts::query(db, &posts::PostQuery::published("post", 1)))?.total;
        let posts = posts.context("the list of posts has no total")?;
        drop(store);
        Ok(Found { posts, database: fs::metadata(file)?.len(), files: size(&site.join(UPLOADS))? })
    }
}

/// Fills a site whose server does not run with posts and uploaded files of so many bytes.
fn fill(run: &Run, bytes: u64) -> Result<()> {
    let n_files = bytes / FILES_SHARE / FILE;
    let n_posts = bytes.saturating_sub(n_files * FILE) / POST;
    let insert = format!(
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {n_posts}) \
         INSERT INTO wp_posts (post_author, post_date, post_date_gmt, post_modified, post_modified_gmt, post_content, post_title, \
         post_name, post_status, post_type) \
         SELECT 1, d, d, d, d, hex(randomblob({})), 'Post ' || n, 'post-' || n, 'publish', 'post' \
         FROM (SELECT n, datetime('2000-01-01', n || ' minutes') AS d FROM numbers)",
        POST / 2
    );
    run.store()?.write_blocking(move |tx| tx.execute_text(&insert, &[]).map(drop))?;
    let uploads = run.folder.path().join("svc-data").join(UPLOADS);
    fs::create_dir_all(&uploads)?;
    let mut random = fs::File::open("/dev/urandom").context("no random numbers")?;
    for n in 0..n_files {
        let mut file = fs::File::create(uploads.join(format!("{n}.bin")))?;
        io::copy(&mut (&mut random).take(FILE), &mut file)?;
    }
    Ok(())
}

fn start(run: &Run) -> Result<Server> {
    let mut command = run.command();
    // The first index of many posts would take its time, too.
    command.env("SVC_BACKUP_TO", "backup").env("SVC_SEARCH_INDEX_MIN_POSTS", "1000000000");
    server::serve(command, run.folder.path())
}

/// Waits until the backup is so far.
fn wait(what: &str, is_so: impl Fn() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !is_so()? {
        ensure!(begun.elapsed() < PATIENCE, "the backup has no {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Bytes of the files of a folder and those in it.
fn size(folder: &Path) -> Result<u64> {
    let (mut folders, mut sum) = (vec![folder.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                sum += metadata.len();
            }
        }
    }
    Ok(sum)
}
