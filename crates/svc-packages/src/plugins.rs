//! Plugins: PHP files with a header, directly in the plugins folder or in a folder of their own in it.
//!
//! Plugins are read, listed and deleted; their code is never executed.

use std::{cmp::Ordering, fs, io, path::Path};

use svc_content::{
    kses::{self, AllowedHtml},
    shortcodes::Shortcodes,
    texturize::texturize,
};
use svc_text::html;

use crate::header;

/// Maximum number of entries to examine in the plugins folder and in each plugin's folder.
const MAX_ENTRIES: usize = 5_000;

/// A plugin, as described by its header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plugin {
    /// Path of the main file in the plugins folder: `name.php` or `folder/name.php`.
    pub file: String,
    /// Display name, unsanitized.
    pub name: String,
    /// URL of the plugin's home page.
    pub uri: String,
    /// Description, unsanitized; may contain HTML.
    pub description: String,
    /// Version.
    pub version: String,
    /// Name of the author.
    pub author: String,
    /// URL of the author.
    pub author_uri: String,
    /// Text domain of its translations. The default is the name of its folder.
    pub text_domain: String,
    /// Folder of its translations.
    pub domain_path: String,
    /// Whether the plugin can only be activated for a whole network of sites.
    pub network: bool,
    /// Minimum version of WordPress.
    pub requires_wp: String,
    /// Minimum version of PHP.
    pub requires_php: String,
    /// URL of its update source.
    pub update_uri: String,
    /// Plugins that it depends on, by [`slug`](Plugin::slug).
    pub requires_plugins: Vec<String>,
}

impl Plugin {
    /// Parses the text of a main file; `None` if its header has no plugin name.
    fn from_header(file: &str, text: &str) -> Option<Self> {
        let field = |name: &str| header::field(text, name).unwrap_or_default();
        let name = header::field(text, "Plugin Name")?;
        let folder = file.split_once('/').map_or("", |(folder, _)| folder);
        let text_domain = header::field(text, "Text Domain").unwrap_or_else(|| folder.to_owned());
        let needs = field("Requires Plugins");
        Some(Plugin {
            file: file.to_owned(),
            name,
            uri: field("Plugin URI"),
            description: field("Description"),
            version: field("Version"),
            author: field("Author"),
            author_uri: field("Author URI"),
            text_domain,
            domain_path: field("Domain Path"),
            network: field("Network").eq_ignore_ascii_case("true"),
            requires_wp: field("Requires at least"),
            requires_php: field("Requires PHP"),
            update_uri: field("Update URI"),
            requires_plugins: needs.split(',').map(str::trim).filter(|s| is_slug(s)).map(str::to_owned).collect(),
        })
    }

    /// The name that other plugins' dependencies use: that of its folder, or else of its file.
    pub fn slug(&self) -> &str {
        let path = self.file.strip_suffix(".php").unwrap_or(&self.file);
        path.split('/').next().unwrap_or_default()
    }

    /// The header texts that a search covers.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let needs = self.requires_plugins.join(", ");
        let texts = [
            &self.file,
            &self.name,
            &self.uri,
            &self.description,
            &self.version,
            &self.author,
            &self.author_uri,
            &self.text_domain,
            &self.domain_path,
            &self.requires_wp,
            &self.requires_php,
            &self.update_uri,
            &needs,
        ];
        texts.map(|text| svc_text::strip_tags(text)).into_iter()
    }

    /// The header texts, sanitized for display.
    pub fn display_texts(&self) -> DisplayTexts {
        let (short, long) = (allowed(), allowed().clone().allow("a", ["href", "title"]));
        let author = kses::filter(&self.author, short);
        let author_uri = svc_text::esc_url(&self.author_uri);
        let description = kses::filter(&self.description, &long);
        let mut rendered = texturize(&description, &Shortcodes::default());
        if !author.is_empty() {
            let by = match author_uri.is_empty() {
                true => author.clone(),
                false => html!("<a href=\"{}\">{}</a>", author_uri, author),
            };
            rendered.push_str(&html!(" <cite>By {}.</cite>", by));
        }
        DisplayTexts {
            name: kses::filter(&self.name, short).into_string(),
            uri: svc_text::esc_url(&self.uri).into_string(),
            version: kses::filter(&self.version, &long).into_string(),
            author: author.into_string(),
            author_uri: author_uri.into_string(),
            description: description.into_string(),
            rendered,
        }
    }
}

/// The header texts of a plugin, sanitized for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayTexts {
    /// Display name.
    pub name: String,
    /// URL of the plugin's home page.
    pub uri: String,
    /// Version.
    pub version: String,
    /// Name of the author.
    pub author: String,
    /// URL of the author.
    pub author_uri: String,
    /// Description with a few allowed HTML elements.
    pub description: String,
    /// The description with typographic replacements and the author's name.
    pub rendered: String,
}

/// HTML elements that are allowed in names and authors.
fn allowed() -> &'static AllowedHtml {
    static ALLOWED: std::sync::LazyLock<AllowedHtml> = std::sync::LazyLock::new(|| {
        let none: [&str; 0] = [];
        let plain = ["code", "em", "strong"].into_iter().fold(AllowedHtml::default(), |a, e| a.allow(e, none));
        plain.allow("abbr", ["title"]).allow("acronym", ["title"])
    });
    &ALLOWED
}

fn is_slug(text: &str) -> bool {
    let mut parts = text.split('-');
    parts.all(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
}

/// Returns whether `name` is a single path component and not hidden.
fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

/// Reads the plugin with this main file.
pub fn read(folder: &Path, file: &str) -> Option<Plugin> {
    let mut parts = file.split('/');
    let is_fine = parts.by_ref().take(2).all(is_name) && parts.next().is_none() && file.ends_with(".php");
    if !is_fine { None } else { Plugin::from_header(file, &header::read(&folder.join(file))?) }
}

/// All plugins in a folder, sorted by name.
pub fn list(folder: &Path) -> Vec<Plugin> {
    let mut found = Vec::new();
    for (name, is_folder) in entries(folder) {
        if is_folder {
            let files = entries(&folder.join(&name)).into_iter().filter(|(_, is_folder)| !is_folder);
            found.extend(files.filter_map(|(file, _)| read(folder, &format!("{name}/{file}"))));
        } else {
            found.extend(read(folder, &name));
        }
    }
    found.sort_by(|a, b| by_name(&a.name, &b.name).then_with(|| a.file.cmp(&b.file)));
    found
}

/// The names in a folder, without hidden ones, and whether each is a folder.
fn entries(folder: &Path) -> Vec<(String, bool)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.take(MAX_ENTRIES).filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        let is_folder = entry.path().is_dir();
        ((is_folder || name.ends_with(".php")) && is_name(&name)).then_some((name, is_folder))
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Deletes a plugin's folder, or its only file.
///
/// # Errors
/// If a file cannot be deleted.
pub fn delete(folder: &Path, plugin: &Plugin) -> io::Result<()> {
    match plugin.file.split_once('/') {
        Some((own, _)) => {
            let own = folder.join(own);
            // Delete a link, not its target.
            if own.is_symlink() { fs::remove_file(own) } else { fs::remove_dir_all(own) }
        }
        None => fs::remove_file(folder.join(&plugin.file)),
    }
}

/// Natural sort order: ignores case and compares numbers by value.
pub fn by_name(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    loop {
        match (a.first(), b.first()) {
            (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                let (x, y) = (number(&mut a), number(&mut b));
                // Without leading zeros, the longer number is the larger one.
                match x.len().cmp(&y.len()).then_with(|| x.cmp(y)) {
                    Ordering::Equal => {}
                    other => return other,
                }
            }
            (Some(x), Some(y)) => match x.to_ascii_lowercase().cmp(&y.to_ascii_lowercase()) {
                Ordering::Equal => (a, b) = (&a[1..], &b[1..]),
                other => return other,
            },
            (x, y) => return x.is_some().cmp(&y.is_some()),
        }
    }
}

/// Splits a number without leading zeros off the beginning of `text`.
fn number<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    *text = rest;
    let zeros = digits.iter().take_while(|b| **b == b'0').count();
    &digits[zeros.min(digits.len() - 1)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "<?php\n/*\nPlugin Name: Fine <em>Tool</em><script>x</script>\nPlugin URI: https://example.org/a?b&c\n\
        Description: Does \"it\" with <b>bold</b> & <a href='x' onclick='y'>links</a>.\nVersion: 1.0\nAuthor: Ann\n\
        Author URI: javascript:x\nNetwork: TRUE\nRequires Plugins: one, Two, three-3, ../x\n*/";

    #[test]
    fn finds_plugins_one_folder_deep() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("b.php", "<?php // Plugin Name: Item 10");
        write("a/main.php", "<?php /* Plugin Name: item 9 */");
        write("a/other.php", "<?php nothing");
        write("a/deep/er.php", "<?php // Plugin Name: Deeper");
        write(".hidden/x.php", "<?php // Plugin Name: Hidden");
        write("c.txt", "Plugin Name: Text");
        let files: Vec<_> = list(folder.path()).into_iter().map(|p| (p.file, p.text_domain)).collect();
        assert_eq!(files, [("a/main.php".to_owned(), "a".to_owned()), ("b.php".to_owned(), String::new())]);
        for file in ["../b.php", "a/../b.php", "/b.php", "a/deep/er.php", "c.txt", ".hidden/x.php", "", "a", "b.php/"] {
            assert_eq!(read(folder.path(), file), None, "{file}");
        }
        delete(folder.path(), &read(folder.path(), "a/main.php").unwrap()).unwrap();
        assert!(!folder.path().join("a").exists() && folder.path().join("b.php").exists());
    }

    #[test]
    fn sanitizes_texts_for_display() {
        let plugin = Plugin::from_header("tool/tool.php", HEADER).unwrap();
        let display_texts = plugin.display_texts();
        assert_eq!(display_texts.name, "Fine <em>Tool</em>x");
        assert_eq!(display_texts.uri, "https://example.org/a?b&#038;c");
        assert_eq!(display_texts.author_uri, "");
        assert_eq!(display_texts.description, "Does \"it\" with bold &amp; <a href=\"x\">links</a>.");
        assert_eq!(
            display_texts.rendered,
            "Does &#8220;it&#8221; with bold &amp; <a href=\"x\">links</a>. <cite>By Ann.</cite>"
        );
        assert!(plugin.network);
        assert_eq!(plugin.requires_plugins, ["one", "three-3"]);
    }

    #[test]
    fn sorts_names_naturally() {
        let mut names = ["b", "a10", "A9", "a", "a09b", "", "1"];
        names.sort_by(|a, b| by_name(a, b));
        assert_eq!(names, ["", "1", "a", "A9", "a09b", "a10", "b"]);
    }
}
