//! The files of WordPress, its plugins and themes. What was rendered before one of them has changed is not replayed.
//!
//! PHP may have compiled a file before it changed, and use it for some seconds more (`opcache.revalidate_freq`). What is rendered in that time is not
//! replayed either.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use serde::Deserialize;

/// Extensions of files that PHP reads. Others, such as logs, may be written with each request.
const EXTENSIONS: [&str; 14] =
    ["php", "phtml", "inc", "html", "htm", "twig", "css", "json", "xml", "yml", "yaml", "mo", "po", "neon"];

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
    /// When PHP last forgot all compiled files. If it does not look for changes, it uses them from then on.
    pub compiled: u64,
}

/// Since when the files are as they are.
pub(crate) struct CodeFiles {
    start: Instant,
    /// What was rendered before is out of date: milliseconds after `start`.
    since: AtomicU64,
    /// Milliseconds for which PHP may use a file that has changed.
    delay: AtomicU64,
    watch: Mutex<State>,
}

enum State {
    /// The files that are watched, as long as the watcher lives.
    Watched { code: Code, _watcher: RecommendedWatcher },
    /// Why none are.
    Unseen(String),
}

impl Default for CodeFiles {
    fn default() -> Self {
        let watch = Mutex::new(State::Unseen("the connector has not said where they are".to_owned()));
        CodeFiles { start: Instant::now(), since: AtomicU64::new(0), delay: AtomicU64::new(0), watch }
    }
}

impl CodeFiles {
    /// Watches these files instead of the former ones. Returns when one of them last changed; `None` if they are watched already. Blocks while it looks for
    /// all folders.
    ///
    /// # Errors
    /// If one cannot be watched: PHP may be on another machine, or see it at another path.
    pub(crate) fn watch(self: &Arc<Self>, code: Code) -> Result<Option<SystemTime>, String> {
        let mut state = self.state();
        if matches!(&*state, State::Watched { code: watched, .. } if *watched == code) {
            return Ok(None);
        }
        self.delay.store(code.delay.saturating_mul(1_000), Ordering::Relaxed);
        match watcher(&code, Arc::downgrade(self)) {
            Ok(_watcher) => {
                let last_change = code.last_change();
                let former = std::mem::replace(&mut *state, State::Watched { code, _watcher });
                if matches!(former, State::Watched { .. }) {
                    // Other files than before.
                    self.changed();
                }
                Ok(Some(last_change))
            }
            Err(why) => {
                *state = State::Unseen(why.clone());
                Err(why)
            }
        }
    }

    /// Why changes are not noticed; `None` if they are.
    pub(crate) fn unseen(&self) -> Option<String> {
        match &*self.state() {
            State::Watched { .. } => None,
            State::Unseen(why) => Some(why.clone()),
        }
    }

    /// Whether no file has changed since a rendering began.
    pub(crate) fn are_of(&self, rendering: Instant) -> bool {
        self.millis(rendering) >= self.since.load(Ordering::Acquire)
    }

    fn changed(&self) {
        let since = self.millis(Instant::now()) + 1 + self.delay.load(Ordering::Relaxed);
        self.since.fetch_max(since, Ordering::AcqRel);
    }

    fn millis(&self, at: Instant) -> u64 {
        u64::try_from(at.saturating_duration_since(self.start).as_millis()).unwrap_or(u64::MAX)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Code {
    /// When a file last changed, as far as PHP may not have noticed before.
    fn last_change(&self) -> SystemTime {
        let deep = self.deep.iter().map(|folder| last_change(folder, MAX_DEPTH));
        let last = deep.chain(self.flat.iter().map(|folder| last_change(folder, 0))).max();
        last.unwrap_or(SystemTime::UNIX_EPOCH) + Duration::from_secs(self.delay)
    }
}

/// Watches the files of `code`, and notes changes.
fn watcher(code: &Code, files: Weak<CodeFiles>) -> Result<RecommendedWatcher, String> {
    if code.deep.is_empty() {
        return Err("the connector has not said where they are".to_owned());
    }
    let folders = [&*code.deep, &*code.flat].concat();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        // After an error it is not known what has changed.
        if event.as_ref().map_or(true, |event| matters(event, &folders))
            && let Some(files) = files.upgrade()
        {
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

/// Whether an event is a change of a file that PHP reads, or of a folder, below these.
fn matters(event: &Event, folders: &[PathBuf]) -> bool {
    let below = |path: &PathBuf| {
        let below = folders.iter().filter_map(|folder| path.strip_prefix(folder).ok());
        is_code(below.min_by_key(|below| below.as_os_str().len()).unwrap_or(path))
    };
    event.need_rescan() || !matches!(event.kind, EventKind::Access(_)) && event.paths.iter().any(below)
}

/// Whether PHP may read this file of a folder. Names without an extension may be those of folders and links.
fn is_code(path: &Path) -> bool {
    let is_hidden = path.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."));
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    !is_hidden && extension.is_none_or(|extension| EXTENSIONS.contains(&extension.as_str()))
}

/// When a file in a folder last changed, appeared or went. Files that cannot be read do not count.
fn last_change(folder: &Path, depth: usize) -> SystemTime {
    let changed = |path: &Path| fs::metadata(path).ok().map(|found| (changed(&found), found.is_dir()));
    let mut last = changed(folder).map_or(SystemTime::UNIX_EPOCH, |(at, _)| at);
    for entry in
        fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| is_code(Path::new(&entry.file_name())))
    {
        let Some((at, is_folder)) = changed(&entry.path()) else { continue };
        last = last.max(if !is_folder {
            at
        } else if depth > 0 {
            last_change(&entry.path(), depth - 1)
        } else {
            continue;
        });
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
        noticed(&files, "new compilations", || drop(files.watch(Code { compiled: 1, ..code })));
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
    fn files_without_code_do_not_count() {
        for (path, expected) in [
            ("/home/.a/plugins/b/b.php", true),
            ("/home/.a/plugins/b/theme.JSON", true),
            ("/home/.a/plugins/b", true),
            ("/home/.a/plugins", true),
            ("/home/.a/plugins/b/debug.log", false),
            ("/home/.a/plugins/b/.git/index", false),
            ("/home/.a/.maintenance", false),
        ] {
            let folders = ["/home/.a/plugins", "/home/.a"].map(PathBuf::from);
            let event = Event::new(EventKind::Any).add_path(path.into());
            assert_eq!(matters(&event, &folders), expected, "{path}");
        }
        let event = Event::new(EventKind::Access(notify::event::AccessKind::Any)).add_path("/a/b.php".into());
        assert!(!matters(&event, &[]));
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
    }
}
