//! Languages that a site can speak.

use crate::{Settings, Site};

/// The language that everything is written in without a translation.
const BUILT_IN: &str = "en_US";

/// Most translations that are looked at.
const MAX_FILES: usize = 10_000;

/// The language of the site.
pub fn of_site(settings: &Settings) -> &str {
    match settings.option("WPLANG") {
        "" => BUILT_IN,
        language => language,
    }
}

/// Languages that a user may choose: that of the site (the empty text), the built-in one, and those with a translation in
/// the folder `languages` of the site's content.
pub fn choices(site: &Site) -> Vec<String> {
    let mut found: Vec<String> = std::fs::read_dir(site.content_dir.join("languages"))
        .into_iter()
        .flatten()
        .take(MAX_FILES)
        .flatten()
        .filter_map(|entry| language_of(entry.file_name().to_str()?).map(str::to_owned))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.retain(|language| language != BUILT_IN);
    [String::new(), BUILT_IN.to_owned()].into_iter().chain(found).collect()
}

/// The language that a file translates everything into: `de_DE.mo`, `de_DE.l10n.php`. Files of parts of the site have the
/// part's name in front.
fn language_of(file: &str) -> Option<&str> {
    let name = file.strip_suffix(".mo").or_else(|| file.strip_suffix(".l10n.php"))?;
    let is_part = name.contains('-') || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (!name.is_empty() && !is_part).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_read_off_file_names() {
        for (file, expected) in [
            ("de_DE.mo", Some("de_DE")),
            ("de_DE_formal.l10n.php", Some("de_DE_formal")),
            ("fi.mo", Some("fi")),
            ("admin-de_DE.mo", None),
            ("continents-cities-de_DE.mo", None),
            ("de_DE.po", None),
            (".mo", None),
            ("../x.mo", None),
        ] {
            assert_eq!(language_of(file), expected, "{file}");
        }
    }
}
