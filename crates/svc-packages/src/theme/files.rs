//! Files in a theme's folder. Counts, depths and lengths are bounded.

use std::{fs, io::Read, path::Path, time::SystemTime};

use serde_json::Value;

use super::{StyleOrigin, ThemeJson, Variation, php};
use crate::header;

/// Maximum file size, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Maximum number of files of one kind per theme.
const MAX_FILES: usize = 2_000;
/// Maximum depth of nested template folders.
const MAX_DEPTH: usize = 4;

/// A template or template part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateFile {
    /// Path in its folder without the extension: `single`, `sub/deep`.
    pub slug: String,
    /// Block markup, unchanged.
    pub content: String,
}

/// A block pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// Slug: `theme/hero`.
    pub slug: String,
    /// Display name.
    pub title: String,
    /// Description.
    pub description: Option<String>,
    /// Width of the preview in pixels.
    pub viewport_width: Option<i64>,
    /// Whether the pattern is offered in the inserter.
    pub inserter: Option<bool>,
    /// Slugs of its categories.
    pub categories: Vec<String>,
    /// Search keywords.
    pub keywords: Vec<String>,
    /// Block types that the pattern is suggested for.
    pub block_types: Vec<String>,
    /// Post types that the pattern is available for.
    pub post_types: Vec<String>,
    /// Template types that the pattern is suggested for.
    pub template_types: Vec<String>,
    /// Source of the pattern (`core`), if it is reported.
    pub source: Option<String>,
    /// Block markup.
    pub content: String,
}

/// A page template of a classic theme.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageTemplate {
    /// Path of the file: `templates/wide.php`.
    pub name: String,
    /// Post types that may use it.
    pub post_types: Vec<String>,
}

/// Reads a text file; `None` if it is too large or cannot be read.
fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let is_complete = u64::try_from(bytes.len()).is_ok_and(|n| n <= MAX_BYTES);
    is_complete.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a JSON file.
pub(super) fn json(path: &Path) -> Option<Value> {
    serde_json::from_str(&text(path)?).ok()
}

/// Relative paths of the files with this extension, in directory order.
fn walk(folder: &Path, ending: &str, depth: usize) -> Vec<String> {
    let mut found = Vec::new();
    collect(folder, "", ending, depth, &mut 0, &mut found);
    found
}

fn collect(folder: &Path, prefix: &str, ending: &str, depth: usize, examined: &mut usize, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        *examined += 1;
        if *examined > MAX_FILES {
            return;
        }
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = entry.path();
        if path.is_dir() {
            if depth > 0 {
                collect(&path, &format!("{prefix}{name}/"), ending, depth - 1, examined, found);
            }
        } else if name.ends_with(ending) {
            found.push(format!("{prefix}{name}"));
        }
    }
}

/// Reads the templates of a theme, from the folder or its legacy name.
pub(super) fn templates(theme: &Path, name: &str, legacy_name: &str) -> Vec<TemplateFile> {
    let legacy = theme.join(legacy_name);
    let folder = if legacy.is_dir() { legacy } else { theme.join(name) };
    let read = |path: String| {
        Some(TemplateFile { content: text(&folder.join(&path))?, slug: path.strip_suffix(".html")?.to_owned() })
    };
    walk(&folder, ".html", MAX_DEPTH).into_iter().filter_map(read).collect()
}

/// Reads the style variations, sorted by name.
pub(super) fn variations(folder: &Path) -> Vec<Variation> {
    let mut files = walk(folder, ".json", MAX_DEPTH);
    files.sort();
    let read = |file: String| {
        let name = file.strip_suffix(".json")?.rsplit('/').next()?.to_owned();
        Some(Variation { name, json: ThemeJson::new(json(&folder.join(&file))?, StyleOrigin::Theme) })
    };
    files.into_iter().filter_map(read).collect()
}

/// Reads the patterns, sorted by file name. `url` is the URL of the theme's folder.
pub(super) fn patterns(theme: &Path, url: &str) -> Vec<Pattern> {
    let folder = theme.join("patterns");
    let mut files = walk(&folder, ".php", 0);
    files.sort();
    files.into_iter().filter_map(|file| pattern(&text(&folder.join(file))?, url)).collect()
}

fn pattern(source: &str, url: &str) -> Option<Pattern> {
    let field = |name: &str| header::field(source, name);
    let list = |name: &str| -> Vec<String> {
        let text = field(name).unwrap_or_default();
        text.split([',', ' ', '\t']).filter(|item| !item.is_empty()).map(str::to_owned).collect()
    };
    let slug = field("Slug").filter(|s| s.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_-".contains(&b)))?;
    Some(Pattern {
        slug,
        title: field("Title")?,
        description: Some(field("Description").unwrap_or_default()),
        viewport_width: field("Viewport Width").map(|width| leading_number(&width)),
        inserter: field("Inserter").map(|item| ["yes", "true"].contains(&item.to_ascii_lowercase().as_str())),
        categories: list("Categories"),
        keywords: list("Keywords"),
        block_types: list("Block Types"),
        post_types: list("Post Types"),
        template_types: list("Template Types"),
        source: None,
        content: php::output(source, url),
    })
}

/// The number at the beginning of a text; 0 if there is none.
fn leading_number(text: &str) -> i64 {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// Page templates declared in headers of PHP files, in the theme's folder and one level below.
pub(super) fn page_templates(theme: &Path) -> Vec<PageTemplate> {
    let read = |file: String| {
        let head = header::read(&theme.join(&file))?;
        header::field(&head, "Template Name")?;
        let types = header::field(&head, "Template Post Type").unwrap_or_else(|| "page".to_owned());
        Some(PageTemplate { name: file, post_types: types.split(',').map(|t| t.trim().to_owned()).collect() })
    };
    walk(theme, ".php", 1).into_iter().filter_map(read).collect()
}

/// The latest modification time of the theme's files and its folder.
pub(super) fn changed(theme: &Path) -> Option<SystemTime> {
    let mut last = None;
    let mut update = |path: &Path| last = last.max(fs::metadata(path).and_then(|m| m.modified()).ok());
    update(theme);
    for file in ["style.css", "theme.json"] {
        update(&theme.join(file));
    }
    for name in ["templates", "parts", "patterns", "styles", "block-templates", "block-template-parts"] {
        let folder = theme.join(name);
        if folder.is_dir() {
            update(&folder);
            walk(&folder, "", MAX_DEPTH).iter().for_each(|file| update(&folder.join(file)));
        }
    }
    last
}
