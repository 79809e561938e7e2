//! Registered icon collections, for the icon block.
//!
//! The `core` collection contains icons of the Lucide project (`LICENSE-lucide.txt`) under the names that stored content uses.

use indexmap::IndexMap;
use svc_text::{Html, html};

/// The `core` icons, one per line: name, tab, SVG shapes.
const CORE: &str = include_str!("core.txt");
/// Labels that do not derive from the icon's name.
const LABELS: [(&str, &str); 2] = [("at-symbol", "At Symbol (@)"), ("rss", "RSS")];
/// Icons with filled shapes.
const FILLED: [&str; 2] = ["star-filled", "symbol-filled"];

/// An icon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icon {
    /// Display name.
    pub label: String,
    /// The `svg` element.
    pub svg: Html,
}

/// A collection of icons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IconCollection {
    /// The collection's slug.
    pub slug: String,
    /// Display name.
    pub label: String,
    /// A short description.
    pub description: String,
    /// Icons by name.
    pub icons: IndexMap<String, Icon>,
}

impl IconCollection {
    /// An empty collection with a slug and a display name.
    pub fn new(slug: &str, label: &str) -> Self {
        IconCollection {
            slug: slug.to_owned(),
            label: label.to_owned(),
            description: String::new(),
            icons: IndexMap::new(),
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    /// Adds an icon by its name within the collection, display name and SVG.
    #[must_use]
    pub fn icon(mut self, name: &str, label: &str, svg: Html) -> Self {
        self.icons.insert(name.to_owned(), Icon { label: label.to_owned(), svg });
        self
    }
}

/// The collections of a site, in the order of registration.
#[derive(Clone, Debug)]
pub struct Icons(pub IndexMap<String, IconCollection>);

impl Icons {
    /// Adds a collection, or replaces the one with the same slug.
    pub fn register(&mut self, collection: IconCollection) {
        self.0.insert(collection.slug.clone(), collection);
    }

    /// The SVG of an icon by its full name, such as `core/arrow-left`.
    pub fn svg(&self, name: &str) -> Option<&Html> {
        let (collection, icon) = name.split_once('/')?;
        Some(&self.0.get(collection)?.icons.get(icon)?.svg)
    }
}

impl Default for Icons {
    /// The `core` collection.
    fn default() -> Self {
        let mut core = IconCollection::new("core", "Core").describe("Icons available on every site.");
        for (name, shapes) in CORE.lines().filter_map(|line| line.split_once('\t')) {
            core = core.icon(name, &label(name), svg(name, shapes));
        }
        let mut all = Icons(IndexMap::new());
        all.register(core);
        all
    }
}

/// The label of an icon: "Arrow Down" for `arrow-down`.
fn label(name: &str) -> String {
    if let Some((_, label)) = LABELS.iter().find(|(known, _)| *known == name) {
        return (*label).to_owned();
    }
    let mut words: Vec<String> = name.split('-').map(str::to_owned).collect();
    words.iter_mut().filter_map(|word| word.get_mut(..1)).for_each(str::make_ascii_uppercase);
    words.join(" ")
}

fn svg(name: &str, shapes: &'static str) -> Html {
    let fill = if FILLED.contains(&name) { "currentColor" } else { "none" };
    html!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 24 24\" fill=\"{}\" stroke=\"currentColor\" \
         stroke-width=\"1.5\" stroke-linecap=\"round\" stroke-linejoin=\"round\">{}</svg>",
        fill,
        shapes
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_icons_have_labels_and_well_formed_svgs() {
        let all = Icons::default();
        let core = &all.0["core"];
        assert_eq!(core.icons.len(), 88);
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        for (name, icon) in &core.icons {
            assert!(name.chars().all(allowed) && !icon.label.is_empty(), "{name}");
            let tags = icon.svg.matches('<').count();
            let closed = icon.svg.matches("/>").count() + 2;
            assert!(icon.svg.ends_with("</svg>") && tags == closed && !icon.svg.contains("script"), "{name}");
        }
        for (name, label) in [("arrow-down-left", "Arrow Down Left"), ("rss", "RSS"), ("at-symbol", "At Symbol (@)")] {
            assert_eq!(core.icons[name].label, label);
        }
    }
}
