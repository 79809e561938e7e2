//! The permalink settings: how they are checked and stored.
//!
//! The rules are those of WordPress's page for them. Values that would make pages unreachable are rejected as well.

use std::{borrow::Cow, fmt};

use svc_store::{Db, StoredText, Tx, options};

/// The options of the settings.
pub const OPTIONS: [&str; 3] = ["permalink_structure", "category_base", "tag_base"];

/// The tags that a structure can contain, without percent signs.
pub const TAGS: [&str; 10] =
    ["year", "monthnum", "day", "hour", "minute", "second", "post_id", "postname", "category", "author"];

/// Longest value, in bytes.
const MAX_LENGTH: usize = 200;

/// Beginnings of paths that the server uses itself.
const RESERVED: [&str; 6] = ["wp-admin", "wp-content", "wp-includes", "wp-login.php", "wp-json", "index.php"];

/// Beginnings of paths of other pages of a site, which bases cannot be, and structures cannot begin with.
const OTHER_BASES: [&str; 8] = ["author", "search", "page", "comments", "feed", "embed", "trackback", "attachment"];

/// Segments that select a presentation of the page before, or an attachment. Posts with them in their paths are not found.
const PRESENTATIONS: [&str; 9] = ["embed", "feed", "rdf", "rss", "rss2", "atom", "trackback", "page", "attachment"];

/// Tags of which a structure needs one, because the others do not distinguish posts.
const IDENTIFYING_TAGS: [&str; 2] = ["postname", "post_id"];

/// The bases that apply if none is set.
const DEFAULT_BASES: [&str; 2] = ["category", "tag"];

/// The permalink settings as they are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PermalinkSettings {
    /// Structure of the permalinks of posts; empty for plain URLs.
    pub structure: String,
    /// Base of the URLs of categories; empty for `category`.
    pub category_base: String,
    /// Base of the URLs of tags; empty for `tag`.
    pub tag_base: String,
}

/// A change of the settings; `None` leaves a value as it is.
#[derive(Clone, Debug, Default)]
pub struct PermalinkDraft {
    /// New structure.
    pub structure: Option<String>,
    /// New base of categories.
    pub category_base: Option<String>,
    /// New base of tags.
    pub tag_base: Option<String>,
}

/// Why a setting was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidPermalinks {
    /// Name of the setting: `structure`, `category_base` or `tag_base`.
    pub setting: &'static str,
    /// The reason, for people.
    pub message: String,
}

impl fmt::Display for InvalidPermalinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InvalidPermalinks {}

fn invalid(setting: &'static str, message: impl Into<String>) -> InvalidPermalinks {
    InvalidPermalinks { setting, message: message.into() }
}

/// Reads the settings.
///
/// # Errors
/// Errors of the store.
pub fn load(db: &mut Db) -> svc_store::Result<PermalinkSettings> {
    let stored = options::get_many(db, &OPTIONS)?;
    let [structure, category_base, tag_base] =
        OPTIONS.map(|name| stored.get(name).map_or("", StoredText::text).to_owned());
    Ok(PermalinkSettings { structure, category_base, tag_base })
}

/// Changes the settings, and empties the option with the rewrite rules, which WordPress then computes again. Returns the settings after
/// the change; if it cannot be used, why, and nothing is stored. `rest_prefix` is the first segment of the REST API's path.
///
/// # Errors
/// Errors of the store.
pub fn change(
    tx: &mut Tx,
    draft: &PermalinkDraft,
    rest_prefix: &str,
) -> svc_store::Result<Result<PermalinkSettings, InvalidPermalinks>> {
    let current = load(tx)?;
    let new = match draft.applied_to(&current, rest_prefix) {
        Ok(new) if new != current => new,
        unchanged => return Ok(unchanged),
    };
    let values = [&new.structure, &new.category_base, &new.tag_base];
    for (name, value) in OPTIONS.into_iter().zip(values) {
        options::set(tx, name, &StoredText::of(value.as_str()), true)?;
    }
    options::set(tx, "rewrite_rules", &StoredText::of(""), true)?;
    Ok(Ok(new))
}

impl PermalinkDraft {
    /// The settings after this change. `rest_prefix` is the first segment of the REST API's path.
    ///
    /// # Errors
    /// If one of the new values cannot be used. Values that are not changed are not checked.
    fn applied_to(
        &self,
        current: &PermalinkSettings,
        rest_prefix: &str,
    ) -> Result<PermalinkSettings, InvalidPermalinks> {
        let mut new = current.clone();
        if let Some(structure) = &self.structure {
            new.structure = cleaned("structure", structure)?;
            if new.structure != current.structure {
                check_structure(&new.structure, rest_prefix)?;
            }
        }
        let bases = [
            ("category_base", &self.category_base, &mut new.category_base, &current.category_base),
            ("tag_base", &self.tag_base, &mut new.tag_base, &current.tag_base),
        ];
        for (setting, change, value, before) in bases {
            let Some(change) = change else { continue };
            *value = cleaned(setting, change)?;
            if value != before {
                check_base(setting, value, rest_prefix)?;
            }
        }
        let effective = |base: &str, default: &str| match base.trim_matches('/') {
            "" => default.to_owned(),
            base => base.to_owned(),
        };
        let [category, tag] =
            [effective(&new.category_base, DEFAULT_BASES[0]), effective(&new.tag_base, DEFAULT_BASES[1])];
        let bases_change = (&new.category_base, &new.tag_base) != (&current.category_base, &current.tag_base);
        if bases_change && category == tag {
            let setting = if new.tag_base == current.tag_base { "category_base" } else { "tag_base" };
            return Err(invalid(setting, "Categories and tags need different bases."));
        }
        Ok(new)
    }
}

/// The value as it is stored: a path with a leading slash and without empty segments. Empty if there is nothing else.
fn cleaned(setting: &'static str, value: &str) -> Result<String, InvalidPermalinks> {
    if value.len() > MAX_LENGTH {
        return Err(invalid(setting, format!("This has more than {MAX_LENGTH} characters.")));
    }
    let mut path = String::from("/");
    for letter in value.trim().chars().filter(|letter| *letter != '#') {
        if letter != '/' || !path.ends_with('/') {
            path.push(letter);
        }
    }
    let path = svc_text::sanitize_url(&path).replace("http://", "");
    if path.contains(['?', '\\']) || path.split('/').any(|segment| matches!(segment, "." | "..")) {
        return Err(invalid(setting, "This cannot be a part of a URL's path."));
    }
    Ok(if path == "/" { String::new() } else { path })
}

/// The segments of a path, decoded.
fn segments(path: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    segments.map(|segment| percent_encoding::percent_decode_str(segment).decode_utf8_lossy())
}

/// The first segment of a path, decoded.
fn first_segment(path: &str) -> Cow<'_, str> {
    segments(path).next().unwrap_or_default()
}

fn check_reserved(setting: &'static str, path: &str, rest_prefix: &str) -> Result<(), InvalidPermalinks> {
    let first = first_segment(path);
    if RESERVED.contains(&&*first) || first == rest_prefix {
        return Err(invalid(setting, format!("Paths that begin with “{first}” are the server's own.")));
    }
    Ok(())
}

fn check_structure(structure: &str, rest_prefix: &str) -> Result<(), InvalidPermalinks> {
    const SETTING: &str = "structure";
    if structure.is_empty() {
        return Ok(());
    }
    let mut identifies = false;
    let mut rest = structure;
    while let Some((_, after)) = rest.split_once('%') {
        rest = after;
        let Some((name, after)) = after.split_once('%').filter(|(name, _)| is_tag_name(name)) else { continue };
        if !TAGS.contains(&name) {
            let known = TAGS.map(|tag| format!("%{tag}%")).join(", ");
            return Err(invalid(SETTING, format!("%{name}% is not a tag. The tags are {known}.")));
        }
        identifies |= IDENTIFYING_TAGS.contains(&name);
        rest = after;
    }
    if !identifies {
        return Err(invalid(SETTING, "A structure needs %postname% or %post_id%, so that each post has its own URL."));
    }
    let path = match structure.strip_prefix("/index.php") {
        Some(rest) if rest.starts_with('/') => rest,
        _ => structure,
    };
    check_reserved(SETTING, path, rest_prefix)?;
    let first = first_segment(path);
    if OTHER_BASES.contains(&&*first) {
        return Err(invalid(SETTING, format!("“{first}” is the base of other pages.")));
    }
    match segments(path).find(|segment| PRESENTATIONS.contains(&&**segment)) {
        Some(segment) => Err(invalid(SETTING, format!("Paths with “{segment}” are those of other pages."))),
        None => Ok(()),
    }
}

/// Whether a text between percent signs is meant as a tag. Two hexadecimal digits are an encoded byte.
fn is_tag_name(name: &str) -> bool {
    let is_byte = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    !name.is_empty() && !is_byte && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

fn check_base(setting: &'static str, base: &str, rest_prefix: &str) -> Result<(), InvalidPermalinks> {
    if base.split('%').skip(1).step_by(2).any(is_tag_name) {
        return Err(invalid(setting, "A base has no tags."));
    }
    let name = base.trim_matches('/');
    if OTHER_BASES.contains(&name) {
        return Err(invalid(setting, format!("“{name}” is the base of other pages.")));
    }
    check_reserved(setting, base, rest_prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(structure: &str, category_base: &str, tag_base: &str) -> PermalinkSettings {
        let [structure, category_base, tag_base] = [structure, category_base, tag_base].map(str::to_owned);
        PermalinkSettings { structure, category_base, tag_base }
    }

    fn structure(value: &str) -> Result<String, String> {
        let draft = PermalinkDraft { structure: Some(value.to_owned()), ..PermalinkDraft::default() };
        let new = draft.applied_to(&settings("/old/%postname%", "", ""), "svc-json");
        new.map(|new| new.structure).map_err(|error| format!("{}: {error}", error.setting))
    }

    #[test]
    fn structures_are_stored_as_by_wordpress() {
        for (typed, stored) in [
            ("", ""),
            ("  / ", ""),
            ("%postname%", "/%postname%"),
            ("//a//%year%/#%postname%/", "/a/%year%/%postname%/"),
            ("/index.php/%postname%", "/index.php/%postname%"),
            ("/a b/%postname%.html", "/a%20b/%postname%.html"),
            ("/caf%C3%A9/%postname%/", "/caf%C3%A9/%postname%/"),
            ("/100%/%postname%", "/100%/%postname%"),
            ("/<b>/%post_id%", "/b/%post_id%"),
            ("/http://x/%post_id%", "/http:/x/%post_id%"),
        ] {
            assert_eq!(structure(typed), Ok(stored.to_owned()), "{typed}");
        }
    }

    #[test]
    fn structures_without_a_known_tag_are_rejected() {
        for (typed, message) in [
            ("/blog/", "structure: A structure needs %postname% or %post_id%"),
            ("/%ee%/", "structure: A structure needs %postname% or %post_id%"),
            ("/%title%/", "structure: %title% is not a tag"),
            ("/%postname%/%post_tag%", "structure: %post_tag% is not a tag"),
            ("/?x=%postname%", "structure: This cannot be"),
            ("/../%postname%", "structure: This cannot be"),
            ("/svc-json/%postname%", "structure: Paths that begin with “svc-json”"),
            ("wp-admin/%postname%", "structure: Paths that begin with “wp-admin”"),
            ("/wp-json/%postname%", "structure: Paths that begin with “wp-json”"),
            ("/index.php/svc-json/%postname%/", "structure: Paths that begin with “svc-json”"),
            ("/index.php/index.php/%postname%/", "structure: Paths that begin with “index.php”"),
            ("/%year%/", "structure: A structure needs %postname% or %post_id%"),
            ("/%category%/", "structure: A structure needs %postname% or %post_id%"),
            ("/%author%/%second%", "structure: A structure needs %postname% or %post_id%"),
            ("/search/%postname%/", "structure: “search” is the base"),
            ("/index.php/author/%postname%/", "structure: “author” is the base"),
            ("/%postname%/embed/", "structure: Paths with “embed”"),
            ("/%postname%/f%65ed/", "structure: Paths with “feed”"),
            ("/%postname%/feed", "structure: Paths with “feed”"),
            ("/%postname%/trackback", "structure: Paths with “trackback”"),
            ("/%year%/page/%post_id%", "structure: Paths with “page”"),
        ] {
            let error = structure(typed).unwrap_err();
            assert!(error.starts_with(message), "{typed}: {error}");
        }
        assert!(structure(&"%postname%/".repeat(30)).unwrap_err().contains("200 characters"));
    }

    #[test]
    fn bases_differ_from_each_other_and_from_other_pages() {
        let current = settings("/%postname%/", "/author", "");
        let bases = |category: Option<&str>, tag: Option<&str>| {
            let [category_base, tag_base] = [category, tag].map(|base| base.map(str::to_owned));
            let draft = PermalinkDraft { structure: None, category_base, tag_base };
            draft.applied_to(&current, "svc-json").map(|new| [new.category_base, new.tag_base])
        };
        assert_eq!(bases(Some("topics/of/us/"), None).unwrap(), ["/topics/of/us/", ""]);
        assert_eq!(bases(Some("tag"), Some("category")).unwrap(), ["/tag", "/category"]);
        // What is not changed is not checked.
        assert_eq!(bases(Some("/author"), Some("label")).unwrap(), ["/author", "/label"]);
        for (category, tag, setting) in [
            (Some("tag"), None, "category_base"),
            (Some("/topics/"), Some("topics"), "tag_base"),
            (Some("search"), None, "category_base"),
            (None, Some("wp-content/x"), "tag_base"),
            (None, Some("wp-json"), "tag_base"),
            (Some("index.php"), None, "category_base"),
            (None, Some("a/%year%"), "tag_base"),
        ] {
            assert_eq!(bases(category, tag).unwrap_err().setting, setting, "{category:?} {tag:?}");
        }
    }
}
