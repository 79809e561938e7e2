//! The theme that comes with the server: written into the folder of themes of a new site, and standing in for themes that
//! cannot draw pages here.

use std::path::Path;

use crate::error::{Error, Result};

/// The folder's name.
pub(crate) const NAME: &str = "paper";

/// A file of the theme, by its path in it.
macro_rules! files {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../theme/paper/", $path)))),*] };
}

/// Every file of the theme.
const FILES: &[(&str, &str)] = files![
    "style.css",
    "theme.json",
    "parts/footer.html",
    "parts/header.html",
    "parts/posts.html",
    "patterns/note.php",
    "styles/slate.json",
    "templates/404.html",
    "templates/archive.html",
    "templates/home.html",
    "templates/index.html",
    "templates/page.html",
    "templates/search.html",
    "templates/single.html",
    "templates/wide.html",
];

/// Writes the theme into a folder of themes, unless one of its name is there. Files that were changed stay as they are.
///
/// # Errors
/// When a file cannot be written.
pub(crate) fn write(themes: &Path) -> Result {
    let folder = themes.join(NAME);
    if folder.join("style.css").exists() {
        return Ok(());
    }
    // The file that says that the theme is there comes last, so that an interrupted start leaves no half of a theme.
    for (path, text) in FILES.iter().rev() {
        let file = folder.join(path);
        let writing = || Error::io(format!("cannot write the theme's file {}", file.display()));
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(writing())?;
        }
        std::fs::write(&file, text).map_err(writing())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use svc_packages::theme::Theme;

    use super::*;

    #[test]
    fn the_theme_is_whole_and_stays_as_people_change_it() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let theme = Theme::read(folder.path(), NAME, "").unwrap();
        assert!(theme.is_block_theme && theme.about.name == "Paper");
        for slug in ["index", "home", "single", "page", "archive", "search", "404", "wide"] {
            assert!(theme.templates.iter().any(|t| t.slug == slug), "{slug}");
        }
        assert_eq!((theme.parts.len(), theme.patterns.len(), theme.page_variations().count()), (3, 1, 1));
        assert!(theme.json.styles()["css"].is_string());
        let header = folder.path().join(NAME).join("parts/header.html");
        std::fs::write(&header, "mine").unwrap();
        write(folder.path()).unwrap();
        assert_eq!(std::fs::read_to_string(header).unwrap(), "mine");
    }
}
