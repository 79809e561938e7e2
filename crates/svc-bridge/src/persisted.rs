//! Stored responses in a file, from one process to the next.
//!
//! Only responses to visitors are written: those of users may be private, and their keys depend on a secret of the process.
//!
//! The file is a line with a [`Header`], then for each response a line with an [`PersistedEntry`] and its body, and a line with [`END`].

use std::{
    io::{self, BufWriter, Write as _},
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};

use crate::{
    changes::Changes,
    feed::ResumePoint,
    key::Key,
    names::Name,
    settings::Settings,
    stored::{Answer, Stored},
};

/// The last line.
const END: &str = "end";

/// The largest file that is read, in sizes of the store: entries are larger as text.
const LARGEST: u64 = 3;

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: String,
    /// The settings, which decide what is stored and for how long.
    settings: String,
    from: ResumePoint,
}

#[derive(Debug, Serialize, Deserialize)]
struct PersistedEntry {
    key: Key,
    status: u16,
    headers: Vec<(String, String)>,
    names: Vec<String>,
    left_out: u64,
    /// In milliseconds since the epoch.
    at: u64,
    until: u64,
    length: usize,
}

/// Responses of a previous process.
#[derive(Debug)]
pub(crate) struct Saved {
    /// Where that process has stopped reading the news.
    pub(crate) from: ResumePoint,
    entries: Vec<(PersistedEntry, Bytes)>,
}

/// Writes responses to visitors that are valid at `from` or later.
///
/// # Errors
/// If the file cannot be written.
pub(crate) fn write(
    path: &Path,
    settings: &Settings,
    from: ResumePoint,
    responses: impl Iterator<Item = (Key, Arc<Stored>)>,
) -> io::Result<usize> {
    let new = path.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = BufWriter::new(options.open(&new)?);
    let header = Header { version: env!("CARGO_PKG_VERSION").to_owned(), settings: fingerprint(settings), from };
    let line = |file: &mut BufWriter<_>, line: String| writeln!(file, "{line}");
    line(&mut file, serde_json::to_string(&header)?)?;
    let (clock, mut n) = (Clock::now(), 0);
    for (key, stored) in responses.filter(|(_, stored)| stored.is_for_visitor && stored.check().is_ok()) {
        let Some(entry) = PersistedEntry::of(key, &stored, clock) else { continue };
        line(&mut file, serde_json::to_string(&entry)?)?;
        file.write_all(&stored.answer.body)?;
        n += 1;
    }
    line(&mut file, END.to_owned())?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    std::fs::rename(new, path)?;
    Ok(n)
}

/// Reads what a previous process with the same settings has written, and removes the file. `None` if there is nothing that can be used.
pub(crate) fn read(path: &Path, settings: &Settings) -> Option<Saved> {
    let length = std::fs::metadata(path).ok()?.len();
    let bytes = (length <= settings.memory.saturating_mul(LARGEST)).then(|| std::fs::read(path).ok()).flatten();
    drop(std::fs::remove_file(path));
    let mut rest = &*bytes?;
    let header: Header = serde_json::from_slice(next_line(&mut rest)?).ok()?;
    if header.version != env!("CARGO_PKG_VERSION") || header.settings != fingerprint(settings) {
        return None;
    }
    let mut entries = Vec::new();
    loop {
        match next_line(&mut rest)? {
            line if line == END.as_bytes() => return Some(Saved { from: header.from, entries }),
            line => {
                let entry: PersistedEntry = serde_json::from_slice(line).ok()?;
                let (body, after) = rest.split_at_checked(entry.length)?;
                entries.push((entry, Bytes::copy_from_slice(body)));
                rest = after;
            }
        }
    }
}

impl Saved {
    /// Drops what was rendered up to a time.
    pub(crate) fn keep_since(&mut self, time: SystemTime) {
        let millis = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        self.entries.retain(|(entry, _)| u128::from(entry.at) > millis);
    }

    /// The responses, which depend on what has changed since a position of the news.
    pub(crate) fn into_stored(self, changes: &Changes, since: u64) -> impl Iterator<Item = (Key, Stored)> {
        let clock = Clock::now();
        self.entries.into_iter().filter_map(move |(entry, body)| {
            let key = entry.key;
            Some((key, entry.into_stored(body, changes, since, clock)?))
        })
    }
}

impl PersistedEntry {
    /// `None` for a header that is no text.
    fn of(key: Key, stored: &Stored, clock: Clock) -> Option<Self> {
        let headers = stored.answer.headers.iter();
        let headers = headers.map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        Some(PersistedEntry {
            key,
            status: stored.answer.status.as_u16(),
            headers: headers.collect::<Option<_>>()?,
            names: stored.dependencies.names().map(Name::to_string).collect(),
            left_out: stored.left_out,
            at: clock.millis(stored.at),
            until: clock.millis(stored.until),
            length: stored.answer.body.len(),
        })
    }

    /// `None` if it has changed or is too old.
    fn into_stored(self, body: Bytes, changes: &Changes, since: u64, clock: Clock) -> Option<Stored> {
        let (at, until) = (clock.instant(self.at)?, clock.instant(self.until)?);
        // After a change of the clock its age is not known.
        if at > clock.monotonic || until <= clock.monotonic {
            return None;
        }
        let names: Vec<Name> = self.names.iter().map(|name| Name::parse(name)).collect();
        let dependencies = changes.depend(&names, since).ok()?;
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            headers.append(HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?);
        }
        let answer = Answer { status: StatusCode::from_u16(self.status).ok()?, headers, body };
        let left_out = self.left_out;
        Some(Stored { answer, dependencies, left_out, is_for_visitor: true, at, until, replays: 0.into() })
    }
}

/// The same time of both clocks: of this process, and of all.
#[derive(Clone, Copy)]
struct Clock {
    monotonic: Instant,
    wall: Duration,
}

impl Clock {
    fn now() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { monotonic: Instant::now(), wall }
    }

    /// Milliseconds since the epoch.
    fn millis(self, time: Instant) -> u64 {
        let later = time.saturating_duration_since(self.monotonic);
        let earlier = self.monotonic.saturating_duration_since(time);
        u64::try_from((self.wall + later).saturating_sub(earlier).as_millis()).unwrap_or(u64::MAX)
    }

    /// `None` before this machine was started.
    fn instant(self, millis: u64) -> Option<Instant> {
        let time = Duration::from_millis(millis);
        match time.checked_sub(self.wall) {
            Some(later) => self.monotonic.checked_add(later),
            None => self.monotonic.checked_sub(self.wall - time),
        }
    }
}

fn fingerprint(settings: &Settings) -> String {
    format!("{settings:?}")
}

/// Removes the first line, and returns it without its end.
fn next_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let at = rest.iter().position(|byte| *byte == b'\n')?;
    let line = &rest[..at];
    *rest = &rest[at + 1..];
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::for_tests;

    const AGE: Duration = Duration::from_secs(60);

    fn stored(changes: &Changes, body: &'static str, is_for_visitor: bool) -> Arc<Stored> {
        let names = [Name::row("posts", 5), Name::group("posts", "page")];
        let mut headers = HeaderMap::new();
        headers.append("link", HeaderValue::from_static("a"));
        headers.append("link", HeaderValue::from_static("b"));
        let answer = Answer { status: StatusCode::NOT_FOUND, headers, body: Bytes::from_static(body.as_bytes()) };
        Arc::new(Stored {
            answer,
            dependencies: changes.depend(&names, 3).unwrap(),
            left_out: 9,
            is_for_visitor,
            at: Instant::now(),
            until: Instant::now() + AGE,
            replays: 0.into(),
        })
    }

    fn point() -> ResumePoint {
        ResumePoint { server: "a".to_owned(), file: "bin.000002".to_owned(), offset: 4, created: Some((1, 2)) }
    }

    #[test]
    fn visitors_responses_survive_and_depend_on_later_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("responses");
        let (before, settings) = (Changes::default(), for_tests());
        let changed = stored(&before, "changed", true);
        before.changed(&[Name::row("posts", 5)], 4);
        let later = Changes::default();
        let all = [
            ([1; 32], changed),
            ([2; 32], stored(&later, "two\nlines", true)),
            ([3; 32], stored(&later, "private", false)),
            ([4; 32], stored(&later, "", true)),
        ];
        assert_eq!(write(&path, &settings, point(), all.into_iter()).unwrap(), 2);
        let mut saved = read(&path, &settings).unwrap();
        assert_eq!((saved.from.clone(), path.exists()), (point(), false));
        saved.keep_since(SystemTime::now() - AGE);
        let changes = Changes::default();
        let restored: Vec<_> = saved.into_stored(&changes, 7).collect();
        let bodies: Vec<_> = restored.iter().map(|(key, stored)| (key[0], &*stored.answer.body)).collect();
        assert_eq!(bodies, [(2, &b"two\nlines"[..]), (4, b"")]);
        let (_, first) = &restored[0];
        assert_eq!((first.answer.status, first.left_out), (StatusCode::NOT_FOUND, 9));
        assert_eq!(first.answer.headers.get_all("link").iter().collect::<Vec<_>>(), ["a", "b"]);
        let left = first.until.saturating_duration_since(Instant::now());
        assert!(left <= AGE && left > AGE / 2, "{left:?}");
        assert_eq!(first.check(), Ok(()));
        changes.changed(&[Name::group("posts", "page")], 8);
        assert!(first.check().is_err());
        let one = [([1; 32], stored(&later, "one", true))];
        assert_eq!(write(&path, &settings, point(), one.into_iter()).unwrap(), 1);
        let mut saved = read(&path, &settings).unwrap();
        saved.keep_since(SystemTime::now());
        assert_eq!(saved.into_stored(&changes, 9).count(), 0, "the code has changed since");
    }

    #[test]
    fn what_is_cut_off_or_of_other_settings_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("responses");
        let settings = for_tests();
        let changes = Changes::default();
        let all = || [([1; 32], stored(&changes, "body", true))].into_iter();
        write(&path, &settings, point(), all()).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for length in 0..whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            assert!(read(&path, &settings).is_none(), "{length}");
        }
        write(&path, &settings, point(), all()).unwrap();
        assert!(read(&path, &Settings { pages: true, ..for_tests() }).is_none());
        write(&path, &settings, point(), all()).unwrap();
        assert!(read(&path, &Settings { memory: 10, ..for_tests() }).is_none(), "too large");
        write(&path, &settings, point(), all()).unwrap();
        assert!(read(&path, &settings).is_some());
    }

    #[test]
    fn too_old_responses_are_left_out() {
        let changes = Changes::default();
        let clock = Clock::now();
        let later = Clock { monotonic: clock.monotonic, wall: clock.wall + 2 * AGE };
        let earlier = Clock { monotonic: clock.monotonic, wall: clock.wall.saturating_sub(AGE) };
        let restored = |at: Clock| {
            let entry = PersistedEntry::of([1; 32], &stored(&changes, "", true), clock).unwrap();
            entry.into_stored(Bytes::new(), &changes, 7, at).is_some()
        };
        assert!(restored(clock) || restored(Clock::now()));
        assert!(!restored(later));
        assert!(!restored(earlier), "the clock was set back");
    }
}
