//! How the URLs of registered post types and taxonomies are built.

use crate::Permalinks;

/// How the URLs of a custom post type are built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostTypeLinks {
    /// The type's name.
    pub name: String,
    /// First part of paths. Without one, URLs are plain.
    pub base: Option<String>,
    /// Whether the base follows the fixed prefix of the permalink structure.
    pub with_front: bool,
    /// Query variable for a post's slug.
    pub query_var: Option<String>,
    /// Path of the archive, if the type has one.
    pub archive: Option<String>,
    /// Whether posts have parents, so that a slug is a path.
    pub hierarchical: bool,
}

/// How the URLs of a taxonomy's terms are built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaxonomyLinks {
    /// The taxonomy's name.
    pub name: String,
    /// First part of paths. Without one, URLs are plain. Categories and tags use the permalink settings instead.
    pub base: Option<String>,
    /// Whether the base follows the fixed prefix of the permalink structure.
    pub with_front: bool,
    /// Whether paths contain the slugs of parent terms.
    pub hierarchical: bool,
    /// Query variable for a term's slug.
    pub query_var: Option<String>,
}

impl TaxonomyLinks {
    fn built_in(name: &str, base: &str, hierarchical: bool, query_var: &str) -> Self {
        TaxonomyLinks {
            name: name.to_owned(),
            base: Some(base.to_owned()),
            with_front: true,
            hierarchical,
            query_var: Some(query_var.to_owned()),
        }
    }

    /// Categories.
    pub fn category() -> Self {
        Self::built_in("category", "category", true, "category_name")
    }

    /// Tags.
    pub fn post_tag() -> Self {
        Self::built_in("post_tag", "tag", false, "tag")
    }

    /// Post formats.
    pub fn post_format() -> Self {
        Self::built_in("post_format", "type", false, "post_format")
    }

    /// Prefix of the paths of its terms, without leading slash: `archives/category/`.
    pub(crate) fn path_prefix(&self, permalinks: &Permalinks) -> Option<String> {
        let (base, with_front) = match &*self.name {
            "category" => permalinks.category_base(),
            "post_tag" => permalinks.tag_base(),
            _ => (self.base.as_deref()?, self.with_front),
        };
        Some(permalinks.base_path(base, with_front).trim_start_matches('/').to_owned())
    }

    /// Prefix of stored slugs that URLs omit.
    pub(crate) fn slug_prefix(&self) -> &'static str {
        if self.name == "post_format" { "post-format-" } else { "" }
    }
}

#[cfg(test)]
impl PostTypeLinks {
    /// A type of tests, with an archive.
    pub(crate) fn books() -> Self {
        PostTypeLinks {
            name: "book".to_owned(),
            base: Some("books".to_owned()),
            with_front: true,
            query_var: Some("book".to_owned()),
            archive: Some("library".to_owned()),
            hierarchical: false,
        }
    }
}
