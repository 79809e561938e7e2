//! Sizes of the site's folders and of its database.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};
use svc_schema::Error;
use svc_site::blocking::blocking;

use crate::RestSite;

/// Time for all folders together.
const TIME: Duration = Duration::from_secs(20);

/// A folder or the database: its name in the answer, and its size when it could be found out in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// `themes_size`, `uploads_size` and so on.
    pub name: &'static str,
    /// Bytes.
    pub bytes: Option<u64>,
}

/// The sizes of the program, the site's folders and the database, as they are on disk now.
///
/// # Errors
/// Those of the store.
pub async fn sizes(site: &RestSite) -> Result<Vec<Size>, Error> {
    let content = site.content_dir.clone();
    let program = std::env::current_exe().unwrap_or_default();
    let mut sizes = blocking(move || {
        let until = Instant::now() + TIME;
        let size = |name, path: PathBuf| Size { name, bytes: size_of(&path, until) };
        vec![
            size("wordpress_size", program),
            size("themes_size", content.join("themes")),
            size("plugins_size", content.join("plugins")),
            size("uploads_size", content.join("uploads")),
            size("fonts_size", content.join("fonts")),
        ]
    })
    .await?;
    let database = site.read(|db| Ok(db.size()?))?;
    sizes.push(Size { name: "database_size", bytes: Some(database) });
    Ok(sizes)
}

/// Bytes of all files of a folder, or of one file; `None` when the time is over. What does not exist has none, links are
/// not followed, and what may not be read counts nothing.
fn size_of(path: &Path, until: Instant) -> Option<u64> {
    let mut total = 0_u64;
    let mut waiting = vec![path.to_owned()];
    while let Some(path) = waiting.pop() {
        if Instant::now() > until {
            return None;
        }
        let about = match fs::symlink_metadata(&path) {
            Ok(about) => about,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                tracing::debug!(%error, "a size was not found out");
                continue;
            }
        };
        if about.is_dir() {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else {
            total = total.saturating_add(about.len());
        }
    }
    Some(total)
}

/// The sizes as the interface shows them.
pub(super) fn to_value(sizes: &[Size]) -> Value {
    // The peer's own sum of what it has no names for: nothing.
    let mut answer = Map::from_iter([("raw".to_owned(), json!(0))]);
    let total = sizes.iter().map(|size| size.bytes).try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)));
    let rows = sizes.iter().map(|size| (size.name, size.bytes)).chain([("total_size", total)]);
    for (name, bytes) in rows {
        let row = match bytes {
            Some(bytes) => {
                let text = in_words(bytes);
                json!({"size": text, "debug": format!("{text} ({bytes} bytes)"), "raw": bytes})
            }
            None => json!({"size": "It took too long to find out.", "debug": "not found out in time"}),
        };
        answer.insert(name.to_owned(), row);
    }
    Value::Object(answer)
}

/// A size for people: two decimals and a unit.
pub fn in_words(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let (mut size, mut unit) = (bytes as f64, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        (size, unit) = (size / 1024.0, unit + 1);
    }
    format!("{size:.2} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_summed_without_following_links() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/x"), [0; 700]).unwrap();
        fs::write(folder.path().join("y"), [0; 300]).unwrap();
        let far = Instant::now() + TIME;
        assert_eq!(size_of(folder.path(), far), Some(1000));
        assert_eq!(size_of(&folder.path().join("nosuch"), far), Some(0));
        assert_eq!(size_of(folder.path(), Instant::now() - Duration::from_secs(1)), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/", folder.path().join("all")).unwrap();
            assert_eq!(size_of(folder.path(), far), Some(1000 + 1), "the link itself is one byte");
        }
    }

    #[test]
    fn sizes_are_shown_with_their_total() {
        let size = |name, bytes| Size { name, bytes };
        let whole = to_value(&[size("a_size", Some(716)), size("b_size", Some(819_200))]);
        assert_eq!(whole["a_size"], json!({"size": "716.00 B", "debug": "716.00 B (716 bytes)", "raw": 716}));
        assert_eq!(whole["total_size"]["size"], "800.70 KB");
        let part = to_value(&[size("a_size", Some(716)), size("b_size", None)]);
        assert_eq!((part["b_size"].get("raw"), part["total_size"].get("raw")), (None, None));
    }
}
