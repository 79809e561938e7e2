//! Font collections.

use serde_json::{Value, json};

/// A collection of fonts that editors can install from.
#[derive(Clone, Debug, PartialEq)]
pub struct FontCollection {
    pub(crate) slug: String,
    /// Name, description, categories and families; `None` for an external collection.
    pub(crate) contents: Option<Contents>,
}

/// The contents of a font collection.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Contents {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) categories: Value,
    pub(crate) font_families: Value,
}

impl FontCollection {
    /// A collection of these families, each `{"font_family_settings": …, "categories": [slug, …]}`.
    pub fn new(slug: &str, name: &str, font_families: Value) -> Self {
        let contents =
            Contents { name: name.to_owned(), description: String::new(), categories: json!([]), font_families };
        FontCollection { slug: slug.to_owned(), contents: Some(contents) }
    }

    /// An external collection, of which only the slug is known. Fetching its fields fails.
    pub fn external(slug: &str) -> Self {
        FontCollection { slug: slug.to_owned(), contents: None }
    }

    /// Sets the description.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        if let Some(contents) = &mut self.contents {
            description.clone_into(&mut contents.description);
        }
        self
    }

    /// Sets the categories, each `{"name": …, "slug": …}`.
    #[must_use]
    pub fn categories(mut self, categories: Value) -> Self {
        if let Some(contents) = &mut self.contents {
            contents.categories = categories;
        }
        self
    }

    /// The collection's slug.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    pub(crate) fn contents_field(&self, read: fn(&Contents) -> Value) -> Value {
        self.contents.as_ref().map_or(Value::Null, read)
    }
}
