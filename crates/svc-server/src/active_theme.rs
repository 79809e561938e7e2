//! Which theme draws the site: chosen by a setting or on the command line, stored as options.

use std::path::Path;

use svc_packages::theme::Theme;
use svc_store::{Store, StoredText, Tx, options};

use crate::error::{Error, Result};

/// Themes stand in this folder of the content folder.
pub(crate) const FOLDER: &str = "themes";

/// The theme of this name, if it can be used.
pub(crate) fn read(content_dir: &Path, name: &str) -> Option<Theme> {
    Theme::read(&content_dir.join(FOLDER), name, "")
}

/// The theme of this name.
///
/// # Errors
/// When it is missing or cannot be used.
pub(crate) fn require(content_dir: &Path, name: &str) -> Result<Theme> {
    read(content_dir, name).ok_or_else(|| {
        Error::Refused(format!("there is no theme `{name}` that could be used; `theme list` shows those there are"))
    })
}

/// Makes this theme the site's; writes nothing when it is so already.
///
/// # Errors
/// When there is no such theme, or the options cannot be read or written.
pub(crate) fn activate(content_dir: &Path, store: &Store, name: &str) -> Result<Theme> {
    let theme = require(content_dir, name)?;
    let rows = [
        ("template", StoredText::of(&theme.template)),
        ("stylesheet", StoredText::of(&theme.stylesheet)),
        ("current_theme", StoredText::of(&theme.about.name)),
    ];
    let names = rows.each_ref().map(|(name, _)| *name);
    let stored = store.read(|db| options::get_many(db, &names)).map_err(Error::store("cannot read the database"))?;
    if rows.iter().any(|(name, value)| stored.get(*name) != Some(value)) {
        let write = move |tx: &mut Tx| rows.iter().try_for_each(|(name, value)| options::set(tx, name, value, true));
        store.write_blocking(write).map_err(Error::store("cannot write the database"))?;
    }
    Ok(theme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{first_run, shipped_theme};

    #[test]
    fn a_theme_is_chosen_and_one_that_is_not_there_is_refused() {
        let content = tempfile::tempdir().unwrap();
        let themes = content.path().join(FOLDER);
        shipped_theme::write(&themes).unwrap();
        std::fs::create_dir_all(themes.join("kid")).unwrap();
        std::fs::write(themes.join("kid/style.css"), "/*\nTheme Name: Kid\nTemplate: paper\n*/").unwrap();
        let store = Store::open(&svc_store::StoreConfig::new(svc_store::DatabaseUrl::Temporary)).unwrap();
        first_run::create(content.path(), &store, &"http://localhost".parse().unwrap(), chrono::Utc::now()).unwrap();
        for missing in ["nosuch", "../paper"] {
            let refused = activate(content.path(), &store, missing).unwrap_err();
            assert!(refused.to_string().contains(missing), "{refused}");
        }
        activate(content.path(), &store, "kid").unwrap();
        let stored = |name: &str| store.read(|db| options::get(db, name)).unwrap().unwrap().text().to_owned();
        assert_eq!((stored("stylesheet").as_str(), stored("template").as_str()), ("kid", "paper"));
    }
}
