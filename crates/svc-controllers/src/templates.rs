//! What the active theme says that posts depend on. Templates for single posts: `customTemplates` of its `theme.json`,
//! and the `Template Name` header of a classic theme's files. Read once, when the site is opened or its theme changes.

use std::{fs, io::Read, path::Path};

use serde_json::Value;
use svc_content::blocks::Theme;
use svc_packages::header;

/// Largest `theme.json` read, in bytes.
const MAX_THEME_JSON: u64 = 4 << 20;
/// The gap of themes that name none.
const DEFAULT_GAP: &str = "24px";
/// Files of a classic theme looked at.
const MAX_FILES: usize = 2_000;

/// A template that a post can name in its member `template`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageTemplate {
    /// As the member shows it: `wide`, or `templates/wide.php` in a classic theme.
    pub name: String,
    /// Types of posts that may use it.
    pub post_types: Vec<String>,
}

/// What a theme folder says that posts depend on.
#[derive(Clone, Debug, Default)]
pub struct ActiveTheme {
    /// The folder's name, as the option `stylesheet` has it.
    pub name: String,
    /// Templates for single posts.
    pub templates: Vec<PageTemplate>,
    /// Its pages are drawn from templates made of blocks.
    pub is_block_theme: bool,
    /// What its blocks look like, as far as their HTML tells.
    pub blocks: Theme,
}

impl ActiveTheme {
    /// Reads a theme's folder; one that is not there, or not readable, offers nothing.
    pub fn read(name: &str, folder: &Path) -> Self {
        let json: Value = head_of(&folder.join("theme.json"), MAX_THEME_JSON)
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default();
        let mut templates = custom_templates(&json);
        from_headers(folder, folder, 1, &mut 0, &mut templates);
        let is_block_theme = folder.join("templates/index.html").is_file();
        ActiveTheme { name: name.to_owned(), templates, is_block_theme, blocks: blocks(&json) }
    }
}

/// Gaps between blocks and the padding of the page, for themes that let blocks set them.
fn blocks(theme: &Value) -> Theme {
    let settings = &theme["settings"];
    let gaps = &settings["spacing"]["blockGap"];
    let has_gaps = gaps == &Value::Bool(true) || (gaps.is_null() && settings["appearanceTools"] == true);
    let gap = |styles: &Value| styles["spacing"]["blockGap"].as_str().map(str::to_owned);
    let of_blocks = theme["styles"]["blocks"].as_object().into_iter().flatten();
    Theme {
        block_gap: has_gaps.then(|| gap(&theme["styles"]).unwrap_or_else(|| DEFAULT_GAP.to_owned())),
        block_gaps: of_blocks.filter_map(|(name, styles)| Some((name.clone(), gap(styles)?))).collect(),
        root_padding: settings["useRootPaddingAwareAlignments"] == true,
        ..Theme::default()
    }
}

fn head_of(path: &Path, bytes: u64) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    fs::File::open(path).ok()?.take(bytes).read_to_end(&mut head).ok()?;
    Some(head)
}

fn custom_templates(theme: &Value) -> Vec<PageTemplate> {
    theme["customTemplates"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|template| {
            let types = template.get("postTypes").and_then(Value::as_array);
            let post_types = types.map_or_else(
                || vec!["page".to_owned()],
                |types| types.iter().filter_map(|t| t.as_str().map(str::to_owned)).collect(),
            );
            Some(PageTemplate { name: template.get("name")?.as_str()?.to_owned(), post_types })
        })
        .collect()
}

/// Looks through the theme's folder and the folders in it, one level deep, as the peer does.
fn from_headers(theme: &Path, folder: &Path, depth: usize, seen: &mut usize, out: &mut Vec<PageTemplate>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        *seen += 1;
        if *seen > MAX_FILES {
            return;
        }
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            from_headers(theme, &path, depth - 1, seen, out);
        } else if kind.is_file()
            && path.extension().is_some_and(|e| e == "php")
            && let Some(head) = header::read(&path)
            && let Ok(name) = path.strip_prefix(theme)
        {
            if header::field(&head, "Template Name").is_some() {
                let types = header::field(&head, "Template Post Type").unwrap_or_else(|| "page".to_owned());
                out.push(PageTemplate {
                    name: name.to_string_lossy().replace('\\', "/"),
                    post_types: types.split(',').map(|t| t.trim().to_owned()).collect(),
                });
            }
        }
    }
}
