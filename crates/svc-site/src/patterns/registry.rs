//! Patterns and categories that code registers, over those that every site has.

use std::sync::LazyLock;

use serde_json::Value;
use svc_packages::theme::Pattern;

/// A category of patterns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatternCategory {
    /// Its name for programs.
    pub name: String,
    /// What people call it.
    pub label: String,
    /// What its patterns are for.
    pub description: String,
}

impl PatternCategory {
    /// A category.
    pub fn new(name: &str, label: &str, description: &str) -> Self {
        PatternCategory { name: name.to_owned(), label: label.to_owned(), description: description.to_owned() }
    }
}

/// Categories that every site has. Names and labels are facts of the interface.
#[rustfmt::skip]
const CATEGORIES: &[(&str, &str, &str)] = &[
    ("banner", "Banners", "Something large at the top."),
    ("buttons", "Buttons", "Buttons, alone and in groups."),
    ("columns", "Columns", "Content side by side."),
    ("text", "Text", "Mostly text."),
    ("query", "Posts", "Lists of posts."),
    ("featured", "Featured", "A choice of the best."),
    ("call-to-action", "Call to action", "Asks visitors to do something."),
    ("team", "Team", "Shows the people behind the site."),
    ("testimonials", "Testimonials", "What others say."),
    ("services", "Services", "What can be had."),
    ("contact", "Contact", "How to get in touch."),
    ("about", "About", "Tells who is behind the site."),
    ("portfolio", "Portfolio", "Shows works."),
    ("gallery", "Gallery", "Many pictures."),
    ("media", "Media", "Pictures, films and sound together."),
    ("videos", "Videos", "Films."),
    ("audio", "Audio", "Sound."),
    ("posts", "Posts", "The latest posts, in various ways."),
    ("footer", "Footers", "The bottom of pages."),
    ("header", "Headers", "The top of pages."),
    ("navigation", "Navigation", "Menus that open over the page."),
];

/// What is registered. What code registers comes first.
#[derive(Clone, Debug, Default)]
pub struct PatternRegistry {
    patterns: Vec<Pattern>,
    categories: Vec<PatternCategory>,
}

impl PatternRegistry {
    /// Adds a pattern, or replaces the one of the same name.
    pub fn register(&mut self, pattern: Pattern) {
        self.patterns.retain(|known| known.slug != pattern.slug);
        self.patterns.push(pattern);
    }

    /// Adds a category, or replaces the one of the same name.
    pub fn register_category(&mut self, category: PatternCategory) {
        self.categories.retain(|known| known.name != category.name);
        self.categories.push(category);
    }

    /// The patterns that do not depend on the theme.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let core = core().iter().filter(|core| self.patterns.iter().all(|own| own.slug != core.slug));
        self.patterns.iter().chain(core)
    }

    /// The categories.
    pub fn categories(&self) -> impl Iterator<Item = &PatternCategory> {
        static CORE: LazyLock<Vec<PatternCategory>> = LazyLock::new(|| {
            CATEGORIES.iter().map(|(name, label, text)| PatternCategory::new(name, label, text)).collect()
        });
        let core = CORE.iter().filter(|core| self.categories.iter().all(|own| own.name != core.name));
        self.categories.iter().chain(core)
    }
}

/// Patterns that every site has.
fn core() -> &'static [Pattern] {
    static CORE: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
        let all: Vec<Value> = serde_json::from_str(include_str!("core.json")).expect("the embedded file is JSON");
        all.iter().map(read).collect()
    });
    &CORE
}

fn read(source: &Value) -> Pattern {
    let text = |name: &str| source[name].as_str().unwrap_or_default().to_owned();
    let words = |name: &str| -> Vec<String> {
        source[name].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    Pattern {
        slug: text("slug"),
        title: text("title"),
        content: text("content"),
        categories: words("categories"),
        block_types: words("block_types"),
        source: Some("core".to_owned()),
        ..Pattern::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_code_registers_comes_first_and_once() {
        let mut registry = PatternRegistry::default();
        let own = |title: &str| Pattern {
            slug: "core/query-grid-posts".to_owned(),
            title: title.to_owned(),
            ..Pattern::default()
        };
        registry.register(own("First"));
        registry.register(own("Second"));
        registry.register_category(PatternCategory::new("text", "Own", ""));
        let found: Vec<_> =
            registry.patterns().filter(|p| p.slug == "core/query-grid-posts").map(|p| p.title.as_str()).collect();
        assert_eq!(found, ["Second"]);
        assert_eq!(registry.categories().next().map(|c| c.label.as_str()), Some("Own"));
        assert_eq!(registry.categories().filter(|c| c.name == "text").count(), 1);
        assert!(core().iter().all(|p| !p.slug.is_empty() && !p.content.is_empty()));
    }
}
