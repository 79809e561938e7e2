//! The files of WordPress, its plugins and themes. What was rendered before one of them has changed is not replayed.
//!
//! PHP may have compiled a file before it changed, and use it for some seconds more (`opcache.revalidate_freq`). What is rendered in that time is not
//! replayed either.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, event::ModifyKind};
use serde::Deserialize;

/// Extensions of files that PHP reads. Others, such as logs, may be written with each request.
const EXTENSIONS: [&str; 18] = [
    "php", "phtml", "inc", "html", "htm", "twig", "tpl", "mustache", "css", "js", "svg", "json", "xml", "ini", "yml",
    "yaml", "mo", "po",
];

/// Time after which folders that could not be watched are tried again: the system may have too few watches for all of them.
const RETRY: Duration = Duration::from_secs(300);

/// Why files cannot be watched if nobody has said where they are.
const UNKNOWN: &str = "the connector has not said where they are";

/// Most folders inside each other in which changes are looked for.
const MAX_DEPTH: usize = 30;

/// Where the site's PHP files are, as the connector says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Code {
    /// Folders whose files matter, and those in folders below them.
    pub deep: Vec<PathBuf>,
    /// Folders of which only their own files matter.
    pub flat: Vec<PathBuf>,
    /// Seconds for which PHP may use a file that has changed.
    pub delay: u64,
    /// When PHP last compiled all files anew, in seconds since 1970, if it does not look for changes in between.
    pub compiled: u64,
}

/// Since when the files are as they are.
pub(crate) struct CodeFiles {
    start: Instant,
    /// What was rendered before is out of date: milliseconds after `start`.
    since: AtomicU64,
    /// Milliseconds for which PHP may use a file that has changed.
    delay: AtomicU64,
    /// Whether there may be folders that are not watched yet.
    must_look: AtomicBool,
    state: Mutex<State>,
}

enum State {
    /// Nobody has said which files there are.
    Unknown,
    /// The files that are watched, as long as the watcher lives.
    Watched { code: Code, places: Vec<Place>, _watcher: RecommendedWatcher },
    /// Why they are not, and since when.
    Unseen { code: Code, why: String, since: Instant },
}

/// Where a folder really is: another one may have taken its place.
type Place = Option<(u64, u64)>;

impl Default for CodeFiles {
    fn default() -> Self {
        CodeFiles {
            start: Instant::now(),
            since: AtomicU64::new(0),
            delay: AtomicU64::new(0),
            must_look: AtomicBool::new(false),
            state: Mutex::new(State::Unknown),
        }
    }
}

impl CodeFiles {
    /// Watches these files instead of the former ones. Returns when one of them last changed; `None` if they are watched already. Blocks while it looks for
    /// all folders. Only one caller may do this.
    ///
    /// # Errors
    /// If one cannot be watched: PHP may be on another machine, or see it at another path.
    pub(crate) fn watch(self: &Arc<Self>, code: Code) -> Result<Option<SystemTime>, String> {
        let places = code.places();
        // Before the folders are looked for: what appears meanwhile sets it again.
        let must_look = self.must_look.swap(false, Ordering::AcqRel);
        let is_first = match &mut *self.state() {
            State::Watched { code: watched, places: before, .. }
                if !must_look && *before == places && watched.is_of_same_files(&code) =>
            {
                if std::mem::replace(&mut watched.compiled, code.compiled) < code.compiled {
                    self.changed();
                }
                return Ok(None);
            }
            State::Unseen { code: before, why, since } if *before == code && since.elapsed() < RETRY => {
                return Err(why.clone());
            }
            state => matches!(state, State::Unknown),
        };
        self.delay.store(code.delay.saturating_mul(1_000), Ordering::Relaxed);
        let watched = watcher(&code, Arc::downgrade(self)).map(|watcher| (code.last_change(), watcher));
        match watched {
            Ok((last_change, _watcher)) => {
                if !is_first {
                    // They may have changed while nobody watched.
                    self.changed();
                }
                *self.state() = State::Watched { code, places, _watcher };
                Ok(Some(last_change))
            }
            Err(why) => {
                *self.state() = State::Unseen { code, why: why.clone(), since: Instant::now() };
                Err(why)
            }
        }
    }

    /// Why changes are not noticed; `None` if they are.
    pub(crate) fn unseen(&self) -> Option<String> {
        match &*self.state() {
            State::Watched { .. } => None,
            State::Unseen { why, .. } => Some(why.clone()),
            State::Unknown => Some(UNKNOWN.to_owned()),
        }
    }

    /// Whether no file has changed since a rendering began.
    pub(crate) fn are_of(&self, rendering: Instant) -> bool {
        self.millis(rendering) >= self.since.load(Ordering::Acquire)
    }

    /// Ends what was rendered up to now.
    pub(crate) fn changed(&self) {
        let since = self.millis(Instant::now()) + 1 + self.delay.load(Ordering::Relaxed);
        self.since.fetch_max(since, Ordering::AcqRel);
    }

    fn millis(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.start).as_millis()).unwrap_or(u64::MAX)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Code {
    fn is_of_same_files(&self, other: &Code) -> bool {
        (&self.deep, &self.flat, self.delay) == (&other.deep, &other.flat, other.delay)
    }

    fn places(&self) -> Vec<Place> {
        self.deep.iter().chain(&self.flat).map(|folder| place(folder)).collect()
    }

    /// When a file last changed, as far as PHP may not have noticed before.
    fn last_change(&self) -> SystemTime {
        let deep = self.deep.iter().map(|folder| last_change(folder, MAX_DEPTH));
        let last = deep.chain(self.flat.iter().map(|folder| last_change(folder, 0))).max();
        let changed = last.unwrap_or(SystemTime::UNIX_EPOCH) + Duration::from_secs(self.delay);
        changed.max(SystemTime::UNIX_EPOCH + Duration::from_secs(self.compiled))
    }
}

fn place(folder: &Path) -> Place {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(folder).ok().map(|found| (found.dev(), found.ino()))
    }
    #[cfg(not(unix))]
    fs::metadata(folder).ok().map(|_| (0, 0))
}

/// Watches the files of `code`, and notes changes.
fn watcher(code: &Code, files: Weak<CodeFiles>) -> Result<RecommendedWatcher, String> {
    if code.deep.is_empty() {
        return Err(UNKNOWN.to_owned());
    }
    let folders = [&*code.deep, &*code.flat].concat();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        let Some(files) = files.upgrade() else { return };
        // After an error it is not known what has changed.
        let (is_change, is_structure) = event.map_or((true, true), |event| examine(&event, &folders));
        if is_structure {
            files.must_look.store(true, Ordering::Release);
        }
        if is_change {
            files.changed();
        }
    })
    .map_err(|error| error.to_string())?;
    let deep = code.deep.iter().map(|folder| (folder, RecursiveMode::Recursive));
    let flat = code.flat.iter().map(|folder| (folder, RecursiveMode::NonRecursive));
    for (folder, mode) in deep.chain(flat) {
        watcher.watch(folder, mode).map_err(|error| error.to_string())?;
    }
    Ok(watcher)
}

/// Whether an event is a change of a file that PHP reads, or of a folder, below these; and whether folders may have appeared, or be others.
fn examine(event: &Event, folders: &[PathBuf]) -> (bool, bool) {
    if event.need_rescan() {
        return (true, true);
    }
    let is_entry = matches!(
        event.kind,
        EventKind::Any
            | EventKind::Create(_)
            | EventKind::Remove(_)
            | EventKind::Modify(ModifyKind::Name(_) | ModifyKind::Any)
    );
    if matches!(event.kind, EventKind::Access(_)) {
        return (false, false);
    }
    let mut found = (false, false);
    for path in &event.paths {
        let below = folders.iter().filter_map(|folder| path.strip_prefix(folder).ok());
        let below = below.min_by_key(|below| below.as_os_str().len()).unwrap_or(path);
        if is_hidden(below) {
            continue;
        }
        let is_code = is_code(below);
        let is_folder = is_entry && !is_code && !is_other_file(path);
        found = (found.0 || is_code || is_folder, found.1 || is_folder);
    }
    found
}

/// Whether a path is that of a file, and of no folder and no link. What is gone was a file if it had an extension, and that was no part of a version.
fn is_other_file(path: &Path) -> bool {
    let extension =
        || path.extension().is_some_and(|extension| !extension.as_encoded_bytes().iter().all(u8::is_ascii_digit));
    fs::symlink_metadata(path).map_or_else(|_| extension(), |found| found.is_file())
}

/// Whether a part of a path below a watched folder is hidden.
fn is_hidden(below: &Path) -> bool {
    below.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
}

/// Whether PHP may read a file with this name.
fn is_code(path: &Path) -> bool {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// When a file in a folder last changed, appeared or went. Files that cannot be read do not count.
fn last_change(folder: &Path, depth: usize) -> SystemTime {
    let changed = |path: &Path| fs::metadata(path).ok().map(|found| (changed(&found), found.is_dir()));
    let mut last = changed(folder).map_or(SystemTime::UNIX_EPOCH, |(at, _)| at);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let Some((at, is_folder)) = changed(&path).filter(|_| !is_hidden(Path::new(&name))) else { continue };
        if is_folder && depth > 0 {
            last = last.max(last_change(&path, depth - 1));
        } else if !is_folder && is_code(&path) {
            last = last.max(at);
        }
    }
    last
}

/// When a file was last changed in any way, renamed included.
fn changed(file: &fs::Metadata) -> SystemTime {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let nanos = u32::try_from(file.ctime_nsec()).unwrap_or_default();
        SystemTime::UNIX_EPOCH + Duration::new(u64::try_from(file.ctime()).unwrap_or_default(), nanos)
    }
    #[cfg(not(unix))]
    file.modified().unwrap_or_else(|_| SystemTime::now())
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use notify::event::{AccessKind, CreateKind, DataChange, Flag, RemoveKind, RenameMode};

    use super::*;

    /// Waits until a change is noticed.
    #[track_caller]
    fn noticed(files: &CodeFiles, what: &str, change: impl FnOnce()) {
        // Of the next millisecond.
        sleep(Duration::from_millis(2));
        let rendered = Instant::now();
        assert!(files.are_of(rendered), "before {what}");
        change();
        let start = Instant::now();
        while files.are_of(rendered) {
            assert!(start.elapsed() < Duration::from_secs(20), "{what} is not noticed");
            sleep(Duration::from_millis(5));
        }
        // One change may be several events.
        let settled = || files.since.load(Ordering::Relaxed);
        let mut last = settled();
        loop {
            sleep(Duration::from_millis(50));
            if std::mem::replace(&mut last, settled()) == settled() {
                return;
            }
        }
    }

    #[test]
    fn changes_of_code_are_noticed() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("plugins/a/inc")).unwrap();
        fs::create_dir_all(at("uploads")).unwrap();
        fs::write(at("plugins/a/a.php"), "1").unwrap();
        fs::write(at("plugins/a/log.log"), "1").unwrap();
        let code = Code { deep: vec![at("plugins")], flat: vec![root.path().to_owned()], ..Code::default() };
        let files = Arc::new(CodeFiles::default());
        assert!(files.watch(code.clone()).unwrap().is_some() && files.watch(code.clone()).unwrap().is_none());
        let begun = Instant::now();
        fs::write(at("plugins/a/log.log"), "2").unwrap();
        fs::write(at("uploads/a.php"), "1").unwrap();
        fs::read(at("plugins/a/a.php")).unwrap();
        noticed(&files, "a file in place", || fs::write(at("plugins/a/a.php"), "2").unwrap());
        noticed(&files, "a new file", || fs::write(at("plugins/a/inc/b.php"), "1").unwrap());
        noticed(&files, "a renamed file", || fs::rename(at("plugins/a/inc/b.php"), at("plugins/a/a.php")).unwrap());
        noticed(&files, "a file in a flat folder", || fs::write(at("db.php"), "1").unwrap());
        noticed(&files, "a new folder", || fs::create_dir(at("plugins/b")).unwrap());
        noticed(&files, "a file in it", || fs::write(at("plugins/b/b.php"), "1").unwrap());
        noticed(&files, "a removed folder", || fs::remove_dir_all(at("plugins/b")).unwrap());
        assert!(!files.are_of(begun) && files.unseen().is_none());
    }

    #[test]
    fn renderings_are_out_of_date_until_php_looks_again() {
        let files = CodeFiles::default();
        files.delay.store(60_000, Ordering::Relaxed);
        assert!(files.are_of(files.start));
        files.changed();
        assert!(!files.are_of(Instant::now()) && files.are_of(Instant::now() + Duration::from_secs(61)));
    }

    #[test]
    fn events_are_changes_of_code_or_of_folders() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(".site").join(path);
        for folder in ["plugins/a", "plugins/a-1.2", "plugins/.git"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("error_log"), "").unwrap();
        let folders = [at("plugins"), at("")];
        let (data, name) =
            (EventKind::Modify(ModifyKind::Data(DataChange::Any)), EventKind::Modify(ModifyKind::Name(RenameMode::To)));
        let (created, removed) = (EventKind::Create(CreateKind::Any), EventKind::Remove(RemoveKind::Any));
        for (path, kind, expected) in [
            ("plugins/a/b.php", data, (true, false)),
            ("plugins/a/theme.JSON", removed, (true, false)),
            ("plugins/a", created, (true, true)),
            ("plugins/a-1.2", name, (true, true)),
            ("plugins/gone", removed, (true, true)),
            ("plugins/gone-1.2", removed, (true, true)),
            ("plugins", removed, (true, true)),
            ("plugins/a/debug.log", data, (false, false)),
            ("plugins/a/debug.log", removed, (false, false)),
            ("error_log", data, (false, false)),
            ("error_log", created, (false, false)),
            ("plugins/.git/index", data, (false, false)),
            ("plugins/.git", created, (false, false)),
            (".maintenance", created, (false, false)),
            ("plugins/a/b.php", EventKind::Access(AccessKind::Any), (false, false)),
        ] {
            let event = Event::new(kind).add_path(at(path));
            assert_eq!(examine(&event, &folders), expected, "{path} {kind:?}");
        }
        assert_eq!(examine(&Event::new(EventKind::Other).set_flag(Flag::Rescan), &folders), (true, true));
    }

    #[cfg(unix)]
    #[test]
    fn folders_that_are_replaced_are_watched_again() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        for site in ["one/plugins", "two/plugins", "three"] {
            fs::create_dir_all(at(site)).unwrap();
        }
        std::os::unix::fs::symlink(at("three"), at("one/plugins/link")).unwrap();
        fs::rename(at("one"), at("site")).unwrap();
        let code = Code { deep: vec![at("site/plugins")], ..Code::default() };
        let files = Arc::new(CodeFiles::default());
        let watch = || files.watch(code.clone()).unwrap();
        assert!(watch().is_some() && watch().is_none());
        noticed(&files, "a file behind a link", || fs::write(at("three/a.php"), "1").unwrap());
        // The folder above is another one: no event says so.
        fs::rename(at("site"), at("old")).unwrap();
        fs::rename(at("two"), at("site")).unwrap();
        noticed(&files, "another folder", || assert!(watch().is_some()));
        noticed(&files, "a file in it", || fs::write(at("site/plugins/a.php"), "1").unwrap());
        // A new link, whose files are watched after the next look.
        noticed(&files, "a link", || std::os::unix::fs::symlink(at("three"), at("site/plugins/link")).unwrap());
        noticed(&files, "the next look", || assert!(watch().is_some()));
        noticed(&files, "a file behind the new link", || fs::write(at("three/a.php"), "2").unwrap());
        let newer = Code { compiled: 1, ..code.clone() };
        noticed(&files, "new compilations", || assert!(files.watch(newer).unwrap().is_none()));
    }

    #[test]
    fn changes_while_nobody_watched() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("plugins/a")).unwrap();
        let code = Code { deep: vec![at("plugins")], ..Code::default() };
        let before = code.last_change();
        let after = |what: &str, before: SystemTime| {
            let last = code.last_change();
            assert!(last > before, "{what}");
            last
        };
        sleep(Duration::from_millis(20));
        fs::write(at("plugins/a/a.php"), "1").unwrap();
        let before = after("a new file", before);
        sleep(Duration::from_millis(20));
        fs::rename(at("plugins/a/a.php"), at("plugins/a/b.php")).unwrap();
        let before = after("a renamed file", before);
        sleep(Duration::from_millis(20));
        fs::remove_file(at("plugins/a/b.php")).unwrap();
        after("a removed file", before);
        let files = Arc::new(CodeFiles::default());
        for deep in [vec![at("none")], Vec::new()] {
            assert_eq!(files.watch(Code { deep, ..Code::default() }).err(), files.unseen());
        }
        assert!(Code { compiled: 1 << 40, ..code }.last_change() > SystemTime::now());
    }
}
