//! Sizes of the site's folders and its database.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};
use svc_schema::Error;
use svc_site::{Site, blocking::run_blocking};
use svc_versions::Context;

/// Time limit for all folders together.
const TIME: Duration = Duration::from_secs(20);

/// The size of a folder or of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Name in the response, such as `themes_size`.
    pub name: &'static str,
    /// Size in bytes; `None` if the time limit was exceeded.
    pub bytes: Option<u64>,
}

/// The current sizes on disk of the server binary, the site's folders and the database.
///
/// # Errors
/// Database errors.
pub async fn sizes(cx: &Context, site: &Site) -> Result<Vec<Size>, Error> {
    let content = site.content_dir.clone();
    let binary = std::env::current_exe().unwrap_or_default();
    let mut sizes = run_blocking(move || {
        let deadline = Instant::now() + TIME;
        let size = |name, path: PathBuf| Size { name, bytes: size_of(&path, deadline) };
        vec![
            size("wordpress_size", binary),
            size("themes_size", content.join("themes")),
            size("plugins_size", content.join("plugins")),
            size("uploads_size", content.join("uploads")),
            size("fonts_size", content.join("fonts")),
        ]
    })
    .await?;
    let database = site.read(cx, |db| Ok(db.size()?))?;
    sizes.push(Size { name: "database_size", bytes: Some(database) });
    Ok(sizes)
}

/// Total size in bytes of a file or of all files below a folder; `None` after the deadline. Missing and unreadable entries
/// count as 0 bytes, and symbolic links are not followed.
fn size_of(path: &Path, deadline: Instant) -> Option<u64> {
    let mut total = 0_u64;
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop() {
        if Instant::now() > deadline {
            return None;
        }
        let metadata = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                tracing::debug!(%error, "failed to read the size of a file");
                continue;
            }
        };
        if metadata.is_dir() {
            pending.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        } else {
            total = total.saturating_add(metadata.len());
        }
    }
    Some(total)
}

/// The JSON of a response.
pub(super) fn to_value(sizes: &[Size]) -> Value {
    // WordPress always returns this field; it is 0.
    let mut response = Map::from_iter([("raw".to_owned(), json!(0))]);
    let total = sizes.iter().map(|size| size.bytes).try_fold(0_u64, |sum, bytes| Some(sum.saturating_add(bytes?)));
    let rows = sizes.iter().map(|size| (size.name, size.bytes)).chain([("total_size", total)]);
    for (name, bytes) in rows {
        let row = match bytes {
            Some(bytes) => {
                let text = format_bytes(bytes);
                json!({"size": text, "debug": format!("{text} ({bytes} bytes)"), "raw": bytes})
            }
            None => json!({"size": "The size calculation timed out.", "debug": "timed out"}),
        };
        response.insert(name.to_owned(), row);
    }
    Value::Object(response)
}

/// Formats a size with two decimals and a binary unit, such as `716.00 B`.
pub fn format_bytes(bytes: u64) -> String {
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
    fn sums_folders_without_following_symbolic_links() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/x"), [0; 700]).unwrap();
        fs::write(folder.path().join("y"), [0; 300]).unwrap();
        let later = Instant::now() + TIME;
        assert_eq!(size_of(folder.path(), later), Some(1000));
        assert_eq!(size_of(&folder.path().join("nosuch"), later), Some(0));
        assert_eq!(size_of(folder.path(), Instant::now() - Duration::from_secs(1)), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/", folder.path().join("all")).unwrap();
            assert_eq!(size_of(folder.path(), later), Some(1000 + 1), "the link itself has one byte");
        }
    }

    #[test]
    fn response_includes_the_total() {
        let size = |name, bytes| Size { name, bytes };
        let complete = to_value(&[size("a_size", Some(716)), size("b_size", Some(819_200))]);
        assert_eq!(complete["a_size"], json!({"size": "716.00 B", "debug": "716.00 B (716 bytes)", "raw": 716}));
        assert_eq!(complete["total_size"]["size"], "800.70 KB");
        let partial = to_value(&[size("a_size", Some(716)), size("b_size", None)]);
        assert_eq!((partial["b_size"].get("raw"), partial["total_size"].get("raw")), (None, None));
    }
}
