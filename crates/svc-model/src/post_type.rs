//! Post types.
/// Placeholder.
#[derive(Clone, Debug)]
pub struct PostType;
/// Placeholder.
#[derive(Clone, Debug)]
pub struct PostTypeCaps;
/// Placeholder.
#[derive(Clone, Debug)]
pub struct PostTypes;
/// Placeholder.
#[derive(Clone, Debug)]
pub struct RestController;
