//! Available locales of the site.

use svc_versions::Context;

use crate::{Settings, Site};

/// The locale of untranslated texts.
const BUILT_IN: &str = "en_US";

/// Maximum number of translation files that are listed.
const MAX_FILES: usize = 10_000;

/// The site's locale.
pub fn site_locale(settings: &Settings) -> &str {
    match settings.option("WPLANG") {
        "" => BUILT_IN,
        language => language,
    }
}

/// The language tag of a locale, for `lang` attributes: `de-DE` for `de_DE_formal`, `en-US` for an empty one.
pub fn language_tag(locale: &str) -> String {
    let parts: Vec<&str> = locale.split('_').take(2).filter(|p| p.bytes().all(|b| b.is_ascii_alphanumeric())).collect();
    if parts.iter().all(|p| p.is_empty()) { "en-US".to_owned() } else { parts.join("-") }
}

/// Locales that a user may choose: the site's (empty text), the built-in one, and those with a translation in the
/// folder `languages` of the content folder.
pub fn available(cx: &Context, site: &Site) -> Vec<String> {
    cx.recheck_after(std::time::Duration::from_secs(1));
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

/// Locales that a user may choose, with names for people. Those of translations have no names.
pub fn choices(cx: &Context, site: &Site) -> Vec<(String, String)> {
    let name = |locale: &str| match locale {
        "" => "Site default".to_owned(),
        BUILT_IN => "English (United States)".to_owned(),
        other => other.to_owned(),
    };
    available(cx, site).into_iter().map(|locale| (locale.clone(), name(&locale))).collect()
}

/// The locale of a translation file: `de_DE.mo`, `de_DE.l10n.php`. `None` for files of single components, which have a
/// prefix.
fn language_of(file: &str) -> Option<&str> {
    let name = file.strip_suffix(".mo").or_else(|| file.strip_suffix(".l10n.php"))?;
    let is_part = name.contains('-') || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (!name.is_empty() && !is_part).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_tags_of_locales() {
        for (locale, tag) in [("", "en-US"), ("de_DE_formal", "de-DE"), ("eo", "eo"), ("\"><x", "en-US")] {
            assert_eq!(language_tag(locale), tag, "{locale}");
        }
    }

    #[test]
    fn locales_are_parsed_from_file_names() {
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
