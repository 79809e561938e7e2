//! Themes: folders with a `style.css`, as their files describe them.
//!
//! [`Theme::read`] reads one with its parent, [`folders`] lists them. Nothing is executed: of a pattern's PHP only constant
//! texts and addresses of the theme's own files are understood, and classic templates are named, not run.

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
pub use json::{ELEMENTS, Origin, PRESETS, Presets, ThemeJson, VERSION};

use crate::header;

/// Themes in one content folder.
const MAX_THEMES: usize = 500;
/// Parents above a theme: a child theme has one, and it has none.
const MAX_PARENTS: usize = 1;
/// Elements that a name may have; a description may have links too.
const NAME_TAGS: [&str; 5] = ["abbr", "acronym", "code", "em", "strong"];

/// What the header of `style.css` says. Texts are fit for HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the members are those of the header")]
pub struct About {
    pub name: String,
    pub theme_uri: String,
    pub description: String,
    pub author: String,
    pub author_uri: String,
    pub version: String,
    pub requires_wp: String,
    pub requires_php: String,
    pub text_domain: String,
    /// In order, by their place in the header; empty ones are left out.
    pub tags: Vec<(usize, String)>,
}

/// A variation of a theme's styles.
#[derive(Clone, Debug)]
pub struct Variation {
    /// The file's name without its ending.
    pub name: String,
    /// What it changes.
    pub json: ThemeJson,
}

impl Variation {
    /// Whether it is one of the whole page, and not of some blocks.
    fn is_of_page(&self) -> bool {
        self.json.get("blockTypes").is_none()
    }

    /// Of a variation of blocks: its name, the blocks, and their styles.
    fn of_blocks(&self) -> Option<(String, Vec<String>, Value)> {
        let blocks = self.json.get("blockTypes")?.as_array()?;
        let blocks = blocks.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        let name = self.json.get("slug").and_then(Value::as_str).unwrap_or(&self.name);
        Some((name.to_owned(), blocks, self.json.styles().clone()))
    }
}

/// A theme, with what it has from its parent.
#[derive(Clone, Debug)]
pub struct Theme {
    /// Its folder under `themes`, as the option `stylesheet` names it.
    pub stylesheet: String,
    /// The folder of its parent, or its own: the option `template`.
    pub template: String,
    /// The header of its style sheet.
    pub about: About,
    /// Name of its picture in its folder.
    pub screenshot: Option<String>,
    /// Its pages are drawn from templates made of blocks.
    pub is_block_theme: bool,
    /// It has a `theme.json`, or its parent has.
    pub has_json: bool,
    /// Its `theme.json` over that of its parent.
    pub json: ThemeJson,
    /// Templates made of blocks, its own first.
    pub templates: Vec<TemplateFile>,
    /// Template parts, its own first.
    pub parts: Vec<TemplateFile>,
    /// Patterns, its own first.
    pub patterns: Vec<Pattern>,
    /// Variations of its styles.
    pub variations: Vec<Variation>,
    /// Templates that a post can choose, of a classic theme.
    pub page_templates: Vec<PageTemplate>,
    parent: Option<Arc<Theme>>,
    folder: PathBuf,
}

/// Whether this can name a theme's folder: one name, or two with a slash between, none of which leads elsewhere.
pub fn is_folder_name(name: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains(['\\', '\0', ':']);
    name.split('/').count() <= 2 && name.split('/').all(is_plain)
}

/// The URL of a theme's folder; `themes` is that of the folder of all themes.
pub fn folder_url(themes: &str, folder: &str) -> String {
    format!("{themes}/{}", svc_php::query::encode_path(folder))
}

/// Names of the folders that hold themes, in the order of the interface. Folders without a style sheet may hold themes
/// one level below.
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
    /// Reads the theme in this folder under `themes`. `url` is the address of the folder `themes`, which patterns name
    /// their pictures by.
    ///
    /// `None` without a style sheet, or when the theme cannot work: its parent is missing, or it has nothing to draw a
    /// page with.
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
        let of_blocks = ["templates", "block-templates"].iter().any(|f| folder.join(f).join("index.html").is_file());
        if parent.is_none() && !of_blocks && !folder.join("index.php").is_file() {
            return None;
        }
        let own = files::json(&folder.join("theme.json")).map(|value| ThemeJson::new(value, Origin::Theme));
        let mut json = parent.as_ref().map(|p| p.json.clone()).unwrap_or_default();
        if let Some(own) = &own {
            json.merge(own);
        }
        let mut theme = Theme {
            stylesheet: stylesheet.to_owned(),
            template: template.unwrap_or_else(|| stylesheet.to_owned()),
            about: about(&head, stylesheet),
            screenshot: ["png", "gif", "jpg", "jpeg", "webp", "avif"]
                .iter()
                .map(|ending| format!("screenshot.{ending}"))
                .find(|file| folder.join(file).is_file()),
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
        theme.place_variations();
        Some(theme)
    }

    /// Adds what the parent has and the theme has not.
    fn inherit(&mut self) {
        let Some(parent) = self.parent.clone() else { return };
        let add = |own: &mut Vec<TemplateFile>, theirs: &[TemplateFile]| {
            let new: Vec<_> = theirs.iter().filter(|t| own.iter().all(|o| o.slug != t.slug)).cloned().collect();
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
        let theirs = parent.variations.iter().filter(|v| own.iter().all(|o| o.name != v.name)).cloned().collect();
        // In the order of their paths, folders included.
        let (first, second) = if self.folder < parent.folder { (own, theirs) } else { (theirs, own) };
        self.variations = first;
        self.variations.extend(second);
    }

    /// The URL of a file of the theme: its own if it has it, else that of its parent. `themes` is the URL of the folder
    /// of all themes. Source: `get_theme_file_uri`.
    pub fn file_url(&self, themes: &str, file: &str) -> String {
        let file = file.trim_start_matches('/');
        let is_own = self.folder.join(file).exists();
        let folder = if is_own { &self.stylesheet } else { &self.template };
        format!("{}/{file}", folder_url(themes, folder))
    }

    /// When one of the files was last changed that this was read from; a folder changes when files come and go.
    pub fn changed(&self) -> Option<SystemTime> {
        let own = files::changed(&self.folder);
        own.max(self.parent.as_ref().and_then(|p| p.changed()))
    }

    /// Templates that `theme.json` offers for single posts, with its titles: `(name, title, post types)`.
    pub fn custom_templates(&self) -> impl Iterator<Item = (&str, Option<&str>, Vec<&str>)> {
        let all = self.json.get("customTemplates").and_then(Value::as_array).into_iter().flatten();
        all.filter_map(|template| {
            let types = template["postTypes"].as_array();
            let types = types.map_or(vec!["page"], |types| types.iter().filter_map(Value::as_str).collect());
            Some((template["name"].as_str()?, template["title"].as_str(), types))
        })
    }

    /// Template parts that `theme.json` tells of: `(name, title, area)`.
    pub fn described_parts(&self) -> impl Iterator<Item = (&str, Option<&str>, Option<&str>)> {
        let all = self.json.get("templateParts").and_then(Value::as_array).into_iter().flatten();
        all.filter_map(|part| Some((part["name"].as_str()?, part["title"].as_str(), part["area"].as_str())))
    }

    /// Whether a post of this type can name this PHP file of the theme in its member `template`.
    pub fn has_page_template(&self, name: &str, post_type: &str) -> bool {
        self.page_templates.iter().any(|t| t.name == name && t.post_types.iter().any(|p| p == post_type))
    }

    /// The server's defaults with this theme over them.
    pub fn merged_json(&self) -> ThemeJson {
        let mut merged = ThemeJson::core().clone();
        merged.merge(&self.json);
        merged
    }

    /// Puts the variations of blocks where those blocks have their styles.
    fn place_variations(&mut self) {
        let of_blocks: Vec<_> = self.variations.iter().filter_map(Variation::of_blocks).collect();
        self.json.add_variations(&of_blocks);
        // A variation of the page changes them, and says nothing of them otherwise.
        let names: Vec<_> = of_blocks.into_iter().map(|(name, blocks, _)| (name, blocks, Value::Null)).collect();
        for variation in self.variations.iter_mut().filter(|v| v.is_of_page()) {
            variation.json.add_variations(&names);
        }
    }

    /// Variations of the whole page, as a person chooses among them.
    pub fn page_variations(&self) -> impl Iterator<Item = &Variation> {
        self.variations.iter().filter(|v| v.is_of_page())
    }
}

/// The header of a style sheet, made fit for HTML.
fn about(head: &str, stylesheet: &str) -> About {
    let field = |name: &str| header::field(head, name).unwrap_or_default();
    let plain = |name: &str| svc_content::kses::strip(&field(name));
    let name = filtered(&field("Theme Name"), &NAME_TAGS);
    About {
        name: if name.is_empty() { stylesheet.to_owned() } else { name },
        theme_uri: svc_text::sanitize_url(&field("Theme URI")),
        description: filtered(&field("Description"), &[&["a"], &NAME_TAGS[..]].concat()),
        author: filtered(&field("Author"), &[&["a"], &NAME_TAGS[..]].concat()),
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
    }
}

/// A text with only these elements in it; of links only where they lead.
fn filtered(text: &str, elements: &[&str]) -> String {
    let mut allowed = svc_content::kses::AllowedHtml::default();
    for element in elements {
        let attributes: &[&str] = match *element {
            "a" => &["href", "title"],
            "abbr" | "acronym" => &["title"],
            _ => &[],
        };
        allowed = allowed.allow((*element).to_owned(), attributes.iter().map(|a| (*a).to_owned()));
    }
    svc_content::kses::filter(text, &allowed)
}

#[cfg(test)]
mod tests;
