//! A copy of an SQLite database from before another version of the program first writes to it.
//!
//! A file beside the database (`site.db.version`) records the [`Build`] that last opened it: it stays with the database, whichever data folder
//! a command is given, and is neither visible to WordPress nor a change of the database. If another build is about to open the database, it
//! first copies it to the folder [`FOLDER`] of the data folder, records itself, and then opens it. So nothing that it does, not even creating its
//! indexes, is in the copy. A file that cannot be written is neither copied nor recorded.
//!
//! A running server may still be the former build, and writes on after a command of the new one. So it records itself again when it
//! stops. Before it restarts in place, it lets the new program make the copy while it still serves ([`before_restart`]).

use std::{
    fmt,
    fs::File,
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use chrono::{NaiveDateTime, TimeDelta, Utc};
use svc_controllers::site_health::format_bytes;
use svc_listen::notify_longer_start;
use svc_monitoring::free_bytes;
use svc_store::{DatabaseUrl, copy_file, file_size, is_writable};
use tracing::level_filters::LevelFilter;

use crate::{
    config::Config,
    data_folder,
    error::{Error, Result},
    version::version,
};

/// The folder of the copies in the data folder.
pub(crate) const FOLDER: &str = "before-upgrade";

/// How many copies are kept.
const KEPT: usize = 2;

/// Ending of the names of complete copies.
const COMPLETE: &str = "sqlite";

/// Ending of the name of a copy that is being written.
const UNFINISHED: &str = "unfinished";

/// Ending of the name of the record.
const RECORD: &str = ".version";

/// Maximum number of bytes of a record that are read.
const RECORD_LENGTH: u64 = 200;

/// In the name of a copy, the version of a database without a record.
const UNKNOWN: &str = "unknown";

/// Format of times in names. It has no hyphen.
const TIME: &str = "%Y%m%dT%H%M%SZ";

/// Free space that is left for the database itself if it is large, in bytes.
const RESERVE: u64 = 64 << 20;

/// How often a supervisor learns that the start takes longer, and until when it shall wait.
const SIGN_OF_LIFE: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(90));

/// What tells programs apart that may write a database differently: the version of the program, and the format of the database, which is the version of
/// the indexes, private tables and triggers, and that of the order of texts.
///
/// So a release counts as another build, and so does each build with another `SVC_BUILD`. Between releases, a development build counts as
/// another one only if it changes what the database itself has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Build {
    version: String,
    format: String,
}

impl Build {
    /// This program.
    pub(crate) fn this() -> Self {
        Build { version: version(), format: svc_store::schema::sqlite_format() }
    }

    /// Reads what [`Display`](fmt::Display) writes. `None` if it is something else.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (version, format) = text.trim_end().split_once(' ')?;
        let is_name = |part: &str, more: &[char]| {
            (1..=60).contains(&part.len()) && part.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(&c))
        };
        let is_valid = is_name(version, &['.', '+', '-', '_']) && is_name(format, &['.']);
        is_valid.then(|| Build { version: version.to_owned(), format: format.to_owned() })
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.version, self.format)
    }
}

/// A complete copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) file: PathBuf,
    /// Size in bytes.
    pub(crate) bytes: u64,
    /// Time in the name, which sorts as the times do.
    time: String,
}

/// Opens the database of a configuration, and before that copies it if it is a file that another build has opened last.
///
/// # Errors
/// Those of `open`; if the database cannot be copied.
pub(crate) fn open<T>(config: &Config, url: &DatabaseUrl, open: impl FnOnce() -> Result<T>) -> Result<T> {
    let DatabaseUrl::Sqlite(file) = url else { return open() };
    if std::fs::metadata(file).is_ok_and(|file| file.len() > 0) {
        prepare(config, file, None)?;
        return open();
    }
    let opened = open()?;
    record(file)?;
    Ok(opened)
}

/// Copies the database for this program, which a server that is `running` replaces itself by.
///
/// # Errors
/// If the database cannot be copied.
pub(crate) fn before_restart(config: &Config, running: &Build) -> Result<()> {
    match database(config) {
        Some(file) => prepare(config, &file, Some(running)),
        None => Ok(()),
    }
}

/// Records that this program has written to the database until now, after another one has recorded itself. A failure is logged.
pub(crate) fn record_again(config: &Config) {
    let Some(file) = database(config) else { return };
    if recorded(&file).as_ref() != Some(&Build::this())
        && is_writable(&file)
        && let Err(error) = record(&file)
    {
        tracing::warn!(%error, "the version of the database is not recorded");
    }
}

/// Records that this program has last opened a database file.
///
/// # Errors
/// If the record cannot be written.
pub(crate) fn record(database: &Path) -> Result<()> {
    let path = record_of(database);
    let write = || -> io::Result<()> {
        let mut unfinished = path.clone().into_os_string();
        unfinished.push(format!(".{}", std::process::id()));
        let mut file = svc_files::private().create(true).truncate(true).open(&unfinished)?;
        writeln!(file, "{}", Build::this())?;
        file.sync_all()?;
        std::fs::rename(&unfinished, &path)?;
        svc_files::sync_folder(path.parent().unwrap_or(Path::new("")))
    };
    write().map_err(Error::io(format!("cannot write {}", path.display())))
}

/// The complete copies of a data folder, the oldest first.
pub(crate) fn copies(config: &Config) -> Vec<Copy> {
    copies_in(&config.data.join(FOLDER))
}

/// The file of the database; `None` if it is not in a file, or does not exist yet.
fn database(config: &Config) -> Option<PathBuf> {
    match config.database.expose().parse() {
        Ok(DatabaseUrl::Sqlite(file)) if file.exists() => Some(file),
        _ => None,
    }
}

fn record_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(RECORD);
    name.into()
}

/// The build that has last opened a database; `None` if it was one without records.
fn recorded(database: &Path) -> Option<Build> {
    let mut text = String::new();
    File::open(record_of(database)).ok()?.take(RECORD_LENGTH).read_to_string(&mut text).ok()?;
    Build::parse(&text)
}

/// Copies a database that another build has opened last, and records this one. That build is `running`, or is the recorded one.
fn prepare(config: &Config, database: &Path, running: Option<&Build>) -> Result<()> {
    let this = Build::this();
    let former = || running.cloned().or_else(|| recorded(database));
    if former().as_ref() == Some(&this) || !is_writable(database) {
        return Ok(());
    }
    if config.upgrade_copy {
        let folder = config.data.join(FOLDER);
        let creating = Error::io(format!("cannot create {}", folder.display()));
        svc_files::create_private_folder(&folder).map_err(creating)?;
        let _turn = data_folder::lock(&folder);
        // Another process may have made the copy meanwhile.
        let former = former();
        if former.as_ref() != Some(&this) {
            let copying = Copying { database, folder: &folder, free: &free_bytes, now: Utc::now().naive_utc() };
            copying.run(former.as_ref())?;
        }
    }
    record(database)
}

/// One copy.
struct Copying<'c> {
    database: &'c Path,
    folder: &'c Path,
    /// Free space for a folder in bytes, if it is known.
    free: &'c dyn Fn(&Path) -> Option<u64>,
    now: NaiveDateTime,
}

impl Copying<'_> {
    /// Makes the copy, and deletes those that are not kept.
    fn run(&self, former: Option<&Build>) -> Result<()> {
        for (path, _) in files(self.folder, UNFINISHED) {
            // What was interrupted, since the folder is locked.
            drop(std::fs::remove_file(path));
        }
        let failed = || format!("cannot copy {} before this version writes to it", self.database.display());
        // The message of a start without a copy: nothing is to be copied of a file that is no database.
        let bytes = file_size(self.database).map_err(Error::store("cannot open the database"))?;
        self.make_room(bytes)?;
        let from = former.map_or(UNKNOWN, |build| &build.version);
        let to = self.new_file(from);
        let (size, begun) = (format_bytes(bytes), Instant::now());
        tell(&format!(
            "copying the database ({size}) of version {from} to {} before version {} writes to it",
            to.display(),
            version()
        ));
        let bytes = with_signs_of_life(|| copy_file(self.database, &to)).map_err(Error::store(failed()))?;
        let took = begun.elapsed().as_secs_f64();
        tell(&format!("copied the database: {} in {took:.1} seconds", format_bytes(bytes)));
        let copies = copies_in(self.folder);
        let n_old = copies.len().saturating_sub(KEPT);
        copies.iter().take(n_old).for_each(|old| drop(std::fs::remove_file(&old.file)));
        Ok(())
    }

    /// Fails if there is no room for a copy of this size. Deletes the oldest copy if that gives room, and it would not be kept.
    fn make_room(&self, bytes: u64) -> Result<()> {
        let needed = bytes + bytes.min(RESERVE);
        let missing = || (self.free)(self.folder).filter(|free| *free < needed);
        let copies = copies_in(self.folder);
        if missing().is_some() {
            let n_old = (copies.len() + 1).saturating_sub(KEPT);
            copies.iter().take(n_old).for_each(|old| drop(std::fs::remove_file(&old.file)));
        }
        let Some(free) = missing() else { return Ok(()) };
        Err(Error::Refused(format!(
            "another version has written the database {}, which is copied to {} before this one writes to it: that needs {}, and {} are free. Free some \
             space; or make a backup and set `upgrade_copy = false`",
            self.database.display(),
            self.folder.display(),
            format_bytes(needed),
            format_bytes(free)
        )))
    }

    /// The name of a copy that is newer than all others, also after the clock was set back.
    fn new_file(&self, version: &str) -> PathBuf {
        let last = copies_in(self.folder).last().and_then(|copy| NaiveDateTime::parse_from_str(&copy.time, TIME).ok());
        let next = last.and_then(|last| last.checked_add_signed(TimeDelta::seconds(1)));
        let time = next.map_or(self.now, |next| self.now.max(next));
        self.folder.join(format!("{version}-{}.{COMPLETE}", time.format(TIME)))
    }
}

/// Files in a folder with this ending, and their sizes.
fn files(folder: &Path, ending: &str) -> Vec<(PathBuf, u64)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files =
        entries.filter_map(|entry| Some((entry.path(), entry.metadata().ok().filter(|file| file.is_file())?.len())));
    files.filter(|(path, _)| path.extension().is_some_and(|found| found == ending)).collect()
}

fn copies_in(folder: &Path) -> Vec<Copy> {
    let copy = |(file, bytes): (PathBuf, u64)| {
        let (_, time) = file.file_stem()?.to_str()?.rsplit_once('-')?;
        NaiveDateTime::parse_from_str(time, TIME).ok()?;
        Some(Copy { time: time.to_owned(), file, bytes })
    };
    let mut copies: Vec<Copy> = files(folder, COMPLETE).into_iter().filter_map(copy).collect();
    copies.sort_by(|a, b| a.time.cmp(&b.time));
    copies
}

/// Does something that may take long during a start, for which the supervisor waits.
fn with_signs_of_life<T>(work: impl FnOnce() -> T) -> T {
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let (interval, patience) = SIGN_OF_LIFE;
            while is_done.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                notify_longer_start(patience);
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Logs a line; a command, which has no log, prints it to standard error.
fn tell(line: &str) {
    if LevelFilter::current() == LevelFilter::OFF {
        drop(writeln!(io::stderr().lock(), "{line}"));
    } else {
        tracing::info!("{line}");
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, fs};

    use svc_store::{Store, StoreConfig, StoredText, options};

    use super::*;
    use crate::config::Sources;

    fn config(folder: &Path, settings: &str) -> Config {
        fs::write(folder.join("svc.toml"), settings).unwrap();
        Config::load(&Sources { folder: folder.to_owned(), ..Sources::default() }).unwrap()
    }

    /// Opens the database of a folder as commands do. Returns the names of the copies.
    fn open_in(folder: &Path, settings: &str) -> Vec<String> {
        let config = config(folder, settings);
        data_folder::create(&config.data).unwrap();
        drop(crate::site::open_store(&config).unwrap());
        copies(&config).iter().map(|copy| copy.file.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    }

    fn versions(names: &[String]) -> Vec<&str> {
        names.iter().map(|name| name.rsplit_once('-').unwrap().0).collect()
    }

    #[test]
    fn builds_are_recorded_as_a_line() {
        let this = Build::this();
        assert_eq!(Build::parse(&format!("{this}\n")), Some(this));
        let build = Build { version: "1.2.3-rc.1+deb_4".to_owned(), format: "6.1".to_owned() };
        assert_eq!(Build::parse("1.2.3-rc.1+deb_4 6.1"), Some(build));
        for text in ["", "1.2.3", " 6.1", "1.2.3 ", "../x 6.1", "1 6/1", "1 2 3", &format!("{} 1", "1".repeat(61))] {
            assert_eq!(Build::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_database_is_copied_once_before_another_build_opens_it() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let record = folder.join("svc-data/site.db.version");
        assert!(open_in(folder, "").is_empty(), "a new database");
        assert_eq!(fs::read_to_string(&record).unwrap(), format!("{}\n", Build::this()));
        assert!(open_in(folder, "").is_empty(), "the same build");

        fs::write(&record, "0.0.1 5.1\n").unwrap();
        assert_eq!(versions(&open_in(folder, "")), ["0.0.1"]);
        assert_eq!(versions(&open_in(folder, "")), ["0.0.1"], "once");
        // Each build makes one, whichever is newer; two are kept.
        fs::write(&record, "9.0.0 50.1\n").unwrap();
        assert_eq!(versions(&open_in(folder, "")), ["0.0.1", "9.0.0"]);
        fs::remove_file(&record).unwrap();
        assert_eq!(versions(&open_in(folder, "")), ["9.0.0", "unknown"], "without a record");
        fs::write(&record, format!("{} 50.1\n", version())).unwrap();
        assert_eq!(versions(&open_in(folder, "")), ["unknown", &version()], "another format of the same version");

        fs::write(&record, "0.0.1 5.1\n").unwrap();
        assert_eq!(versions(&open_in(folder, "upgrade_copy = false")), ["unknown", &version()], "switched off");
        assert_eq!(versions(&open_in(folder, "")), ["unknown", &version()], "and recorded");
    }

    #[test]
    fn a_copy_has_what_a_running_program_has_committed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        open_in(folder, "");
        let running = Store::open(&StoreConfig::new(DatabaseUrl::Sqlite(folder.join("svc-data/site.db")))).unwrap();
        running.write_blocking(svc_store::schema::install).unwrap();
        let write = |name: &'static str| {
            running.write_blocking(move |tx| options::set(tx, "blogname", &StoredText::of(name), true)).unwrap();
        };
        write("Boats");
        fs::write(folder.join("svc-data/site.db.version"), "0.0.1 1.1").unwrap();
        open_in(folder, "");
        write("Ships");
        let copy = copies(&config(folder, "")).remove(0);
        assert_eq!(copy.bytes, fs::metadata(&copy.file).unwrap().len());
        let copied = Store::open(&StoreConfig::new(DatabaseUrl::Sqlite(copy.file))).unwrap();
        let name = copied.read_blocking(|db| options::get(db, "blogname")).unwrap().unwrap();
        assert_eq!(name.text(), "Boats");
    }

    #[test]
    fn a_copy_needs_room() {
        let folder = tempfile::tempdir().unwrap();
        let (database, copies) = (folder.path().join("a.db"), folder.path().join("copies"));
        fs::create_dir(&copies).unwrap();
        drop(Store::open(&StoreConfig::new(DatabaseUrl::Sqlite(database.clone()))).unwrap());
        let bytes = file_size(&database).unwrap();
        let free = Cell::new(2 * bytes - 1);
        // Each deleted copy frees its size.
        let room = |folder: &Path| Some(free.get() + bytes * (2 - copies_in(folder).len() as u64));
        let former = Build::parse("0.0.1 5.1");
        let copy = |day: u32| {
            let now = chrono::DateTime::from_timestamp(1_700_000_000 + 86_400 * i64::from(day), 0).unwrap().naive_utc();
            Copying { database: &database, folder: &copies, free: &room, now }.run(former.as_ref())
        };
        fs::write(copies.join("0.0.1-20200101T000000Z.unfinished"), "half").unwrap();
        fs::write(copies.join("notes.txt"), "not a copy").unwrap();
        copy(0).unwrap();
        copy(1).unwrap();
        let names = || copies_in(&copies).into_iter().map(|copy| copy.time).collect::<Vec<_>>();
        assert_eq!(names(), ["20231114T221320Z", "20231115T221320Z"]);
        // There is room once the oldest copy, which would not be kept, is deleted.
        copy(2).unwrap();
        assert_eq!(names(), ["20231115T221320Z", "20231116T221320Z"]);
        copy(2).unwrap();
        assert_eq!(names(), ["20231116T221320Z", "20231116T221321Z"], "at the same second");
        copy(0).unwrap();
        assert_eq!(names(), ["20231116T221321Z", "20231116T221322Z"], "after the clock was set back");
        free.set(0);
        let refused = copy(3).unwrap_err().to_string();
        assert!(
            refused.contains("upgrade_copy = false") && refused.contains(&database.display().to_string()),
            "{refused}"
        );
        assert_eq!(names(), ["20231116T221322Z"], "the last copy is not deleted");
        assert!(copies.join("notes.txt").exists() && files(&copies, UNFINISHED).is_empty());
    }

    #[test]
    fn a_restart_copies_for_another_build_only() {
        let folder = tempfile::tempdir().unwrap();
        open_in(folder.path(), "");
        let config = config(folder.path(), "");
        before_restart(&config, &Build::this()).unwrap();
        assert!(copies(&config).is_empty());
        // The running server has written since this program was recorded.
        let running = Build::parse("0.0.1 5.1").unwrap();
        before_restart(&config, &running).unwrap();
        assert_eq!(copies(&config).len(), 1);
        let record = folder.path().join("svc-data/site.db.version");
        fs::write(&record, "0.0.2 5.1").unwrap();
        record_again(&config);
        assert_eq!(recorded(&folder.path().join("svc-data/site.db")), Some(Build::this()));
    }
}
