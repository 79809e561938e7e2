//! Activates a theme: the setting or the command line selects it, and the site's options store it.

use std::path::Path;

use svc_packages::theme::Theme;
use svc_store::{Store, StoredText, Tx, options};

use crate::{Error, Result};

/// Folder of themes in the content folder.
pub const FOLDER: &str = "themes";

/// The theme with this name; `None` if it is missing or broken.
pub fn read(content_dir: &Path, name: &str) -> Option<Theme> {
    Theme::read(&content_dir.join(FOLDER), name, "")
}

/// The theme with this name.
///
/// # Errors
/// If it is missing or broken.
pub fn require(content_dir: &Path, name: &str) -> Result<Theme> {
    read(content_dir, name).ok_or_else(|| {
        Error::Refused(format!("there is no theme `{name}`, or it is broken; `theme list` prints the available ones"))
    })
}

/// Activates a theme. Writes nothing if it is active already.
///
/// # Errors
/// If there is no such theme, or the options cannot be read or written.
pub fn activate(content_dir: &Path, store: &Store, name: &str) -> Result<Theme> {
    let theme = require(content_dir, name)?;
    let rows = [
        ("template", StoredText::of(&theme.template)),
        ("stylesheet", StoredText::of(&theme.stylesheet)),
        ("current_theme", StoredText::of(&theme.about.name)),
    ];
    let names = rows.each_ref().map(|(name, _)| *name);
    let stored =
        store.read_blocking(|db| options::get_many(db, &names)).map_err(Error::store("cannot read the database"))?;
    if rows.iter().any(|(name, value)| stored.get(*name) != Some(value)) {
        let write = move |tx: &mut Tx| rows.iter().try_for_each(|(name, value)| options::set(tx, name, value, true));
        store.write_blocking(write).map_err(Error::store("cannot write the database"))?;
    }
    Ok(theme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activates_existing_themes_only() {
        let content = tempfile::tempdir().unwrap();
        let themes = content.path().join(FOLDER);
        crate::theme::write(&themes).unwrap();
        std::fs::create_dir_all(themes.join("kid")).unwrap();
        std::fs::write(themes.join("kid/style.css"), "/*\nTheme Name: Kid\nTemplate: paper\n*/").unwrap();
        let store = Store::open(&svc_store::StoreConfig::new(svc_store::DatabaseUrl::Temporary)).unwrap();
        let (url, host) = ("http://localhost".to_owned(), "localhost".to_owned());
        let site = crate::NewSite { url, host, follows: false, now: chrono::Utc::now() };
        site.create(content.path(), &store).unwrap();
        for missing in ["nosuch", "../paper"] {
            let refused = activate(content.path(), &store, missing).unwrap_err();
            assert!(refused.to_string().contains(missing), "{refused}");
        }
        activate(content.path(), &store, "kid").unwrap();
        let stored = |name: &str| store.read_blocking(|db| options::get(db, name)).unwrap().unwrap().text().to_owned();
        assert_eq!((stored("stylesheet").as_str(), stored("template").as_str()), ("kid", "paper"));
    }
}
