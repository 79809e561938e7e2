//! Registered patterns and pattern categories, and the built-in ones.

use std::sync::LazyLock;

use serde_json::Value;
use svc_packages::theme::Pattern;

/// A pattern category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatternCategory {
    /// The category's name.
    pub name: String,
    /// The category's label.
    pub label: String,
    /// The category's description.
    pub description: String,
}

impl PatternCategory {
    /// Creates a category.
    pub fn new(name: &str, label: &str, description: &str) -> Self {
        PatternCategory { name: name.to_owned(), label: label.to_owned(), description: description.to_owned() }
    }
}

/// Built-in categories. Names and labels are part of the REST API.
#[rustfmt::skip]
const CATEGORIES: &[(&str, &str, &str)] = &[
    ("banner", "Banners", "Large introductions at the top of a page."),
    ("buttons", "Buttons", "Single buttons and groups of buttons."),
    ("columns", "Columns", "Content in several columns."),
    ("text", "Text", "Patterns that consist mainly of text."),
    ("query", "Posts", "Lists of posts."),
    ("featured", "Featured", "Selected content."),
    ("call-to-action", "Call to action", "Invitations to sign up, buy or get in touch."),
    ("team", "Team", "Introductions of team members."),
    ("testimonials", "Testimonials", "Quotes from customers and reviewers."),
    ("services", "Services", "Descriptions of services."),
    ("contact", "Contact", "Contact details and forms."),
    ("about", "About", "Information about the site's owner."),
    ("portfolio", "Portfolio", "Presentations of work samples."),
    ("gallery", "Gallery", "Collections of images."),
    ("media", "Media", "Combinations of images, video and audio."),
    ("videos", "Videos", "Films."),
    ("audio", "Audio", "Sound."),
    ("posts", "Posts", "Layouts for the latest posts."),
    ("footer", "Footers", "Footers of pages."),
    ("header", "Headers", "Headers of pages."),
    ("navigation", "Navigation", "Menus that open as overlays."),
];

/// The registered patterns and categories, which come before the built-in ones.
#[derive(Clone, Debug, Default)]
pub struct PatternRegistry {
    patterns: Vec<Pattern>,
    categories: Vec<PatternCategory>,
}

impl PatternRegistry {
    /// Registers a pattern; replaces one with the same name.
    pub fn register(&mut self, pattern: Pattern) {
        self.patterns.retain(|known| known.slug != pattern.slug);
        self.patterns.push(pattern);
    }

    /// Registers a category; replaces one with the same name.
    pub fn register_category(&mut self, category: PatternCategory) {
        self.categories.retain(|known| known.name != category.name);
        self.categories.push(category);
    }

    /// All patterns that do not depend on the theme.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let core = core().iter().filter(|core| self.patterns.iter().all(|own| own.slug != core.slug));
        self.patterns.iter().chain(core)
    }

    /// All categories.
    pub fn categories(&self) -> impl Iterator<Item = &PatternCategory> {
        static CORE: LazyLock<Vec<PatternCategory>> = LazyLock::new(|| {
            CATEGORIES.iter().map(|(name, label, text)| PatternCategory::new(name, label, text)).collect()
        });
        let core = CORE.iter().filter(|core| self.categories.iter().all(|own| own.name != core.name));
        self.categories.iter().chain(core)
    }
}

/// The built-in patterns.
fn core() -> &'static [Pattern] {
    static CORE: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
        let all: Vec<Value> =
            serde_json::from_str(include_str!("core_patterns.json")).expect("the embedded file is JSON");
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
    fn registered_patterns_come_first_and_are_unique() {
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
