//! The files of a theme's folder. Every list, depth and length is bounded.

use std::{fs, io::Read, path::Path, time::SystemTime};

use serde_json::Value;

use super::{Origin, ThemeJson, Variation, php};
use crate::header;

/// Largest file read, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// Files of one kind that a theme may have.
const MAX_FILES: usize = 2_000;
/// Folders within folders of templates.
const MAX_DEPTH: usize = 4;

/// A template or a template part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateFile {
    /// Its path below its folder without the ending: `single`, `sub/deep`.
    pub slug: String,
    /// Its blocks, as the file has them.
    pub content: String,
}

/// A pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// Its name: `theme/hero`.
    pub slug: String,
    /// What people call it.
    pub title: String,
    /// What it is for, where it says.
    pub description: Option<String>,
    /// Width of its preview in pixels.
    pub viewport_width: Option<i64>,
    /// Whether people can choose it, where the file says.
    pub inserter: Option<bool>,
    /// Names of its categories.
    pub categories: Vec<String>,
    /// Words that it is found by.
    pub keywords: Vec<String>,
    /// Blocks that it can stand for.
    pub block_types: Vec<String>,
    /// Types of posts that it is for.
    pub post_types: Vec<String>,
    /// Templates that it is for.
    pub template_types: Vec<String>,
    /// Who brings it, where that is shown (`core`).
    pub source: Option<String>,
    /// Its blocks.
    pub content: String,
}

/// A template of a classic theme that a post can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageTemplate {
    /// Its file: `templates/wide.php`.
    pub name: String,
    /// Types of posts that may use it.
    pub post_types: Vec<String>,
}

/// A whole file as text; `None` for one that is too large or cannot be read.
fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let whole = u64::try_from(bytes.len()).is_ok_and(|n| n <= MAX_BYTES);
    whole.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

/// A file of JSON.
pub(super) fn json(path: &Path) -> Option<Value> {
    serde_json::from_str(&text(path)?).ok()
}

/// Files below a folder that end in this, with their paths below it, in the order in which the folder lists them.
fn walk(folder: &Path, ending: &str, depth: usize) -> Vec<String> {
    let mut found = Vec::new();
    collect(folder, "", ending, depth, &mut 0, &mut found);
    found
}

fn collect(folder: &Path, below: &str, ending: &str, depth: usize, seen: &mut usize, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        *seen += 1;
        if *seen > MAX_FILES {
            return;
        }
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = entry.path();
        if path.is_dir() {
            if depth > 0 {
                collect(&path, &format!("{below}{name}/"), ending, depth - 1, seen, found);
            }
        } else if name.ends_with(ending) {
            found.push(format!("{below}{name}"));
        }
    }
}

/// Templates of a theme, which may use the older name of the folder.
pub(super) fn templates(theme: &Path, name: &str, old_name: &str) -> Vec<TemplateFile> {
    let old = theme.join(old_name);
    let folder = if old.is_dir() { old } else { theme.join(name) };
    let read = |path: String| {
        Some(TemplateFile { content: text(&folder.join(&path))?, slug: path.strip_suffix(".html")?.to_owned() })
    };
    walk(&folder, ".html", MAX_DEPTH).into_iter().filter_map(read).collect()
}

/// Variations of styles, by name.
pub(super) fn variations(folder: &Path) -> Vec<Variation> {
    let mut files = walk(folder, ".json", MAX_DEPTH);
    files.sort();
    let read = |file: String| {
        let name = file.strip_suffix(".json")?.rsplit('/').next()?.to_owned();
        Some(Variation { name, json: ThemeJson::new(json(&folder.join(&file))?, Origin::Theme) })
    };
    files.into_iter().filter_map(read).collect()
}

/// Patterns by name of their files. `url` is the address of the theme's folder.
pub(super) fn patterns(theme: &Path, url: &str) -> Vec<Pattern> {
    let folder = theme.join("patterns");
    let mut files = walk(&folder, ".php", 0);
    files.sort();
    files.into_iter().filter_map(|file| pattern(&text(&folder.join(file))?, url)).collect()
}

fn pattern(source: &str, url: &str) -> Option<Pattern> {
    let field = |name: &str| header::field(source, name);
    let words = |name: &str| -> Vec<String> {
        let text = field(name).unwrap_or_default();
        text.split([',', ' ', '\t']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let slug = field("Slug").filter(|s| s.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_-".contains(&b)))?;
    Some(Pattern {
        slug,
        title: field("Title")?,
        description: Some(field("Description").unwrap_or_default()),
        viewport_width: field("Viewport Width").map(|width| leading_number(&width)),
        inserter: field("Inserter").map(|word| ["yes", "true"].contains(&word.to_ascii_lowercase().as_str())),
        categories: words("Categories"),
        keywords: words("Keywords"),
        block_types: words("Block Types"),
        post_types: words("Post Types"),
        template_types: words("Template Types"),
        source: None,
        content: php::output(source, url),
    })
}

/// The number that a text begins with; else 0.
fn leading_number(text: &str) -> i64 {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// Templates that the headers of PHP files offer, in the theme's folder and one level below.
pub(super) fn page_templates(theme: &Path) -> Vec<PageTemplate> {
    let read = |file: String| {
        let head = header::read(&theme.join(&file))?;
        header::field(&head, "Template Name")?;
        let types = header::field(&head, "Template Post Type").unwrap_or_else(|| "page".to_owned());
        Some(PageTemplate { name: file, post_types: types.split(',').map(|t| t.trim().to_owned()).collect() })
    };
    walk(theme, ".php", 1).into_iter().filter_map(read).collect()
}

/// When a file that a theme is made of, or the folder around it, was last changed.
pub(super) fn changed(theme: &Path) -> Option<SystemTime> {
    let mut last = None;
    let mut look = |path: &Path| last = last.max(fs::metadata(path).and_then(|m| m.modified()).ok());
    look(theme);
    for file in ["style.css", "theme.json"] {
        look(&theme.join(file));
    }
    for name in ["templates", "parts", "patterns", "styles", "block-templates", "block-template-parts"] {
        let folder = theme.join(name);
        if folder.is_dir() {
            look(&folder);
            walk(&folder, "", MAX_DEPTH).iter().for_each(|file| look(&folder.join(file)));
        }
    }
    last
}
