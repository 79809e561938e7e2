//! Taxonomies.
/// Placeholder.
#[derive(Clone, Debug)]
pub struct Taxonomy;
/// Placeholder.
#[derive(Clone, Debug)]
pub struct TaxonomyCaps;
/// Placeholder.
#[derive(Clone, Debug)]
pub struct Taxonomies;
