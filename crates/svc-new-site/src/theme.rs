//! The built-in theme: installed on new sites, and used in place of themes that cannot render pages here.

use std::path::Path;

use crate::error::{Error, Result};

/// Name of the theme's folder.
pub const NAME: &str = "paper";

/// Files of the theme by path.
macro_rules! files {
    ($($path:literal),* $(,)?) => { &[$(($path, include_str!(concat!("../theme/paper/", $path)))),*] };
}

/// All files of the theme.
const FILES: &[(&str, &str)] = files![
    "style.css",
    "theme.json",
    "parts/footer-without-search.html",
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

/// Writes the theme to a folder of themes, unless it exists. Changed files are not overwritten.
///
/// # Errors
/// If a file cannot be written.
pub fn write(themes: &Path) -> Result {
    let folder = themes.join(NAME);
    if folder.join("style.css").exists() {
        return Ok(());
    }
    // `style.css` is written last, so that an interrupted start leaves no partial theme.
    for (path, text) in FILES.iter().rev() {
        let file = folder.join(path);
        let writing = || Error::io(format!("cannot write the theme file {}", file.display()));
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
    fn writes_a_complete_theme_and_keeps_changes() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path()).unwrap();
        let theme = Theme::read(folder.path(), NAME, "").unwrap();
        assert!(theme.is_block_theme && theme.about.name == "Paper");
        for slug in ["index", "home", "single", "page", "archive", "search", "404", "wide"] {
            assert!(theme.templates.iter().any(|t| t.slug == slug), "{slug}");
        }
        assert_eq!((theme.parts.len(), theme.patterns.len(), theme.page_variations().count()), (4, 1, 1));
        assert!(theme.json.styles()["css"].is_string());
        let header = folder.path().join(NAME).join("parts/header.html");
        std::fs::write(&header, "mine").unwrap();
        write(folder.path()).unwrap();
        assert_eq!(std::fs::read_to_string(header).unwrap(), "mine");
    }
}
