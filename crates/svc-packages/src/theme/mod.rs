//! Themes: folders with a `style.css`.
//!
//! [`Theme::read`] reads a theme and its parent, [`folders`] lists the themes. No code is executed: of a pattern's PHP
//! only constant texts and URLs of the theme's own files are evaluated, and classic templates are listed, not run.

pub mod css;
mod files;
mod json;
mod php;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use serde_json::Value;

pub use files::{PageTemplate, Pattern, TemplateFile};
pub(crate) use json::{ELEMENTS, PRESETS, Presets};
pub use json::{RegisteredBlocks, StyleOrigin, ThemeJson, VERSION, without_insecure_properties};

use crate::header;

/// Maximum number of themes per content folder.
const MAX_THEMES: usize = 500;
/// Maximum number of ancestors: a child theme has one parent, which has none.
const MAX_PARENTS: usize = 1;
/// HTML elements that are allowed in names. Descriptions may also contain links.
const NAME_TAGS: [&str; 5] = ["abbr", "acronym", "code", "em", "strong"];

/// Header of `style.css`. Texts are sanitized HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the header")]
pub struct ThemeHeader {
    pub name: String,
    pub theme_uri: String,
    pub description: String,
    pub author: String,
    pub author_uri: String,
    pub version: String,
    pub requires_wp: String,
    pub requires_php: String,
    pub text_domain: String,
    /// Tags with their index in the header; empty ones are omitted.
    pub tags: Vec<(usize, String)>,
    /// There is no style sheet to read: the name is the folder's, everything else is empty.
    pub is_missing: bool,
}

/// A style variation of a theme.
#[derive(Clone, Debug)]
pub struct Variation {
    /// The file name without its extension.
    pub name: String,
    /// Settings and styles that it changes.
    pub json: ThemeJson,
}

impl Variation {
    /// Returns whether it applies to the whole page, rather than to some blocks.
    fn applies_to_page(&self) -> bool {
        self.json.get("blockTypes").is_none()
    }

    /// Name, block types and styles of a block style variation.
    fn of_blocks(&self) -> Option<(String, Vec<String>, Value)> {
        let blocks = self.json.get("blockTypes")?.as_array()?;
        let blocks = blocks.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let name = self.json.get("slug").and_then(Value::as_str).unwrap_or(&self.name);
        Some((name.to_owned(), blocks, self.json.styles().clone()))
    }
}

/// A theme, including what it inherits from its parent.
#[derive(Clone, Debug)]
pub struct Theme {
    /// Its folder under `themes`, as stored in the `stylesheet` option.
    pub stylesheet: String,
    /// The parent's folder, or its own, as stored in the `template` option.
    pub template: String,
    /// Header of its style sheet.
    pub about: ThemeHeader,
    /// File name of its screenshot.
    pub screenshot: Option<String>,
    /// Whether its pages are rendered from block templates.
    pub is_block_theme: bool,
    /// Whether the theme or its parent has a `theme.json`.
    pub has_json: bool,
    /// Its `theme.json`, merged with the parent's.
    pub json: ThemeJson,
    /// Block templates, its own first.
    pub templates: Vec<TemplateFile>,
    /// Template parts, its own first.
    pub parts: Vec<TemplateFile>,
    /// Patterns, its own first.
    pub patterns: Vec<Pattern>,
    /// Style variations.
    pub variations: Vec<Variation>,
    /// Page templates of a classic theme.
    pub page_templates: Vec<PageTemplate>,
    parent: Option<Arc<Theme>>,
    folder: PathBuf,
}

/// Returns whether `name` is a valid theme folder: one path component, or two separated by a slash.
pub fn is_folder_name(name: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0', ':']);
    name.split('/').count() <= 2 && name.split('/').all(is_plain)
}

/// URL of a theme's folder. `themes` is the URL of the folder that contains all themes.
pub fn folder_url(themes: &str, folder: &str) -> String {
    format!("{themes}/{}", svc_php::query::encode_path(folder))
}

/// Names of the folders that contain themes, in the order of the REST API. Folders without a style sheet may contain
/// themes one level below.
pub fn folders(themes: &Path) -> Vec<String> {
    let mut found = BTreeSet::new();
    for name in subfolders(themes) {
        if themes.join(&name).join("style.css").is_file() {
            found.insert(format!("{name}/style.css"));
        } else {
            for inner in subfolders(&themes.join(&name)) {
                if themes.join(&name).join(&inner).join("style.css").is_file() {
                    found.insert(format!("{name}/{inner}/style.css"));
                }
            }
        }
    }
    found.into_iter().filter_map(|path| Some(path.strip_suffix("/style.css")?.to_owned())).collect()
}

fn subfolders(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_THEMES);
    entries
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_folder_name(name))
        .collect()
}

impl Theme {
    /// Reads the theme in the folder `stylesheet` of `themes`. `url` is the URL of `themes`, which image URLs in
    /// patterns start with.
    ///
    /// `None` if there is no style sheet, or the theme is broken: its parent is missing, or it has no templates.
    pub fn read(themes: &Path, stylesheet: &str, url: &str) -> Option<Theme> {
        Self::read_at(themes, stylesheet, url, MAX_PARENTS)
    }

    fn read_at(themes: &Path, stylesheet: &str, url: &str, parents: usize) -> Option<Theme> {
        if !is_folder_name(stylesheet) {
            return None;
        }
        let folder = themes.join(stylesheet);
        let head = header::read(&folder.join("style.css"))?;
        let template = header::field(&head, "Template").filter(|t| t != stylesheet);
        let parent = match &template {
            Some(template) => Some(Arc::new(Self::read_at(themes, template, url, parents.checked_sub(1)?)?)),
            None => None,
        };
        let of_blocks = has_block_index(&folder);
        if parent.is_none() && !of_blocks && !folder.join("index.php").is_file() {
            return None;
        }
        let own = files::json(&folder.join("theme.json")).map(|value| ThemeJson::new(value, StyleOrigin::Theme));
        let mut json = parent.as_ref().map(|p| p.json.clone()).unwrap_or_default();
        if let Some(own) = &own {
            json.merge(own);
        }
        let mut theme = Theme {
            stylesheet: stylesheet.to_owned(),
            template: template.unwrap_or_else(|| stylesheet.to_owned()),
            about: about(&head, stylesheet),
            screenshot: screenshot(&folder),
            is_block_theme: of_blocks || parent.as_ref().is_some_and(|p| p.is_block_theme),
            has_json: own.is_some() || parent.as_ref().is_some_and(|p| p.has_json),
            json,
            templates: files::templates(&folder, "templates", "block-templates"),
            parts: files::templates(&folder, "parts", "block-template-parts"),
            patterns: files::patterns(&folder, &folder_url(url, stylesheet)),
            variations: files::variations(&folder.join("styles")),
            page_templates: files::page_templates(&folder),
            parent,
            folder,
        };
        theme.inherit();
        theme.apply_block_variations();
        Some(theme)
    }

    /// What is known of a theme that [`Self::read`] rejects: the header of its style sheet, if there is one. Source: the constructor of
    /// `WP_Theme`.
    pub fn read_broken(themes: &Path, stylesheet: &str) -> Theme {
        let folder = themes.join(stylesheet);
        let head = is_folder_name(stylesheet).then(|| header::read(&folder.join("style.css"))).flatten();
        let about = match &head {
            Some(head) => about(head, stylesheet),
            None => ThemeHeader { name: stylesheet.to_owned(), is_missing: true, ..ThemeHeader::default() },
        };
        Theme {
            stylesheet: stylesheet.to_owned(),
            template: head.and_then(|head| header::field(&head, "Template")).unwrap_or_else(|| stylesheet.to_owned()),
            screenshot: screenshot(&folder),
            is_block_theme: !about.is_missing && has_block_index(&folder),
            has_json: folder.join("theme.json").is_file(),
            about,
            json: ThemeJson::default(),
            templates: Vec::new(),
            parts: Vec::new(),
            patterns: Vec::new(),
            variations: Vec::new(),
            page_templates: Vec::new(),
            parent: None,
            folder,
        }
    }

    /// Inherits everything from the parent that the theme does not have.
    fn inherit(&mut self) {
        let Some(parent) = self.parent.clone() else { return };
        let add = |own: &mut Vec<TemplateFile>, inherited: &[TemplateFile]| {
            let new: Vec<_> = inherited.iter().filter(|t| own.iter().all(|o| o.slug != t.slug)).cloned().collect();
            own.extend(new);
        };
        add(&mut self.templates, &parent.templates);
        add(&mut self.parts, &parent.parts);
        let new: Vec<_> =
            parent.patterns.iter().filter(|p| self.patterns.iter().all(|o| o.slug != p.slug)).cloned().collect();
        self.patterns.extend(new);
        let new: Vec<_> = parent
            .page_templates
            .iter()
            .filter(|p| self.page_templates.iter().all(|o| o.name != p.name))
            .cloned()
            .collect();
        self.page_templates.extend(new);
        let own = std::mem::take(&mut self.variations);
        let inherited = parent.variations.iter().filter(|v| own.iter().all(|o| o.name != v.name)).cloned().collect();
        // In the order of the paths, including their folders.
        let (first, second) = if self.folder < parent.folder { (own, inherited) } else { (inherited, own) };
        self.variations = first;
        self.variations.extend(second);
    }

    /// The URL of a file of the theme, or of its parent if the theme does not have it. `themes` is the URL of the
    /// folder that contains all themes. Source: `get_theme_file_uri`.
    pub fn file_url(&self, themes: &str, file: &str) -> String {
        let file = file.trim_start_matches('/');
        let is_own = self.folder.join(file).exists();
        let folder = if is_own { &self.stylesheet } else { &self.template };
        format!("{}/{file}", folder_url(themes, folder))
    }

    /// The latest modification time of the files that were read. Folders change when files are added or removed.
    pub fn changed(&self) -> Option<SystemTime> {
        let own = files::changed(&self.folder);
        own.max(self.parent.as_ref().and_then(|p| p.changed()))
    }

    /// Custom templates declared in `theme.json`: `(name, title, post types)`.
    pub fn custom_templates(&self) -> impl Iterator<Item = (&str, Option<&str>, Vec<&str>)> {
        let all = self.json.get("customTemplates").and_then(Value::as_array).into_iter().flatten();
        all.filter_map(|template| {
            let types = template["postTypes"].as_array();
            let types = types.map_or(vec!["page"], |types| types.iter().filter_map(Value::as_str).collect());
            Some((template["name"].as_str()?, template["title"].as_str(), types))
        })
    }

    /// Template parts declared in `theme.json`: `(name, title, area)`.
    pub fn declared_parts(&self) -> impl Iterator<Item = (&str, Option<&str>, Option<&str>)> {
        let all = self.json.get("templateParts").and_then(Value::as_array).into_iter().flatten();
        all.filter_map(|part| Some((part["name"].as_str()?, part["title"].as_str(), part["area"].as_str())))
    }

    /// Returns whether posts of this type can have this PHP file in their `template` field.
    pub fn has_page_template(&self, name: &str, post_type: &str) -> bool {
        self.page_templates.iter().any(|t| t.name == name && t.post_types.iter().any(|p| p == post_type))
    }

    /// The theme merged with WordPress's defaults.
    pub fn merged_json(&self) -> ThemeJson {
        let mut merged = ThemeJson::core().clone();
        merged.merge(&self.json);
        merged
    }

    /// Copies block style variations to the styles of their blocks.
    fn apply_block_variations(&mut self) {
        let of_blocks: Vec<_> = self.variations.iter().filter_map(Variation::of_blocks).collect();
        self.json.add_variations(&of_blocks);
        // Variations of the page can change them, but do not define them.
        let names: Vec<_> = of_blocks.into_iter().map(|(name, blocks, _)| (name, blocks, Value::Null)).collect();
        for variation in self.variations.iter_mut().filter(|v| v.applies_to_page()) {
            variation.json.add_variations(&names);
        }
    }

    /// Whether the theme defines this style variation for this block.
    pub(crate) fn has_block_variation(&self, block: &str, name: &str) -> bool {
        let of_blocks = self.variations.iter().filter_map(Variation::of_blocks);
        of_blocks.into_iter().any(|(known, blocks, _)| known == name && blocks.iter().any(|known| known == block))
    }

    /// Style variations of the whole page, which users can choose from.
    pub fn page_variations(&self) -> impl Iterator<Item = &Variation> {
        self.variations.iter().filter(|v| v.applies_to_page())
    }
}

/// Whether the folder has the block template that every block theme has.
fn has_block_index(folder: &Path) -> bool {
    ["templates", "block-templates"].iter().any(|f| folder.join(f).join("index.html").is_file())
}

/// The file name of the screenshot in the folder.
fn screenshot(folder: &Path) -> Option<String> {
    let names = ["png", "gif", "jpg", "jpeg", "webp", "avif"].map(|ending| format!("screenshot.{ending}"));
    names.into_iter().find(|file| folder.join(file).is_file())
}

/// Parses the header of a style sheet and sanitizes its texts.
fn about(head: &str, stylesheet: &str) -> ThemeHeader {
    let field = |name: &str| header::field(head, name).unwrap_or_default();
    let plain = |name: &str| svc_content::kses::strip(&field(name)).into_string();
    let name = strip_elements(&field("Theme Name"), &NAME_TAGS);
    ThemeHeader {
        name: if name.is_empty() { stylesheet.to_owned() } else { name },
        theme_uri: svc_text::sanitize_url(&field("Theme URI")),
        description: strip_elements(&field("Description"), &[&["a"], &NAME_TAGS[..]].concat()),
        author: strip_elements(&field("Author"), &[&["a"], &NAME_TAGS[..]].concat()),
        author_uri: svc_text::sanitize_url(&field("Author URI")),
        version: plain("Version"),
        requires_wp: plain("Requires at least"),
        requires_php: plain("Requires PHP"),
        text_domain: plain("Text Domain"),
        tags: plain("Tags")
            .split(',')
            .map(|tag| tag.trim().to_owned())
            .enumerate()
            .filter(|(_, tag)| !tag.is_empty())
            .collect(),
        is_missing: false,
    }
}

/// Removes all HTML elements except `elements`; links retain only their target.
fn strip_elements(text: &str, elements: &[&str]) -> String {
    let mut allowed = svc_content::kses::AllowedHtml::default();
    for element in elements {
        let attributes: &[&str] = match *element {
            "a" => &["href", "title"],
            "abbr" | "acronym" => &["title"],
            _ => &[],
        };
        allowed = allowed.allow((*element).to_owned(), attributes.iter().map(|a| (*a).to_owned()));
    }
    svc_content::kses::filter(text, &allowed).into_string()
}

#[cfg(test)]
mod tests;
