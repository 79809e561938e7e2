//! Object types with meta.

/// Type of object that meta belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MetaKind {
    /// Posts of any type.
    Post,
    /// Terms.
    Term,
    /// Users.
    User,
    /// Comments.
    Comment,
}
