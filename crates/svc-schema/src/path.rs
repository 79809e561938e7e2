//! The place of a value below a parameter, kept as a list on the stack and spelled only when an error is raised.

use std::fmt;

/// `param`, `param[name]`, `param[3]` …
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The parameter itself.
    Root(&'a str),
    /// A member of a map.
    Member(&'a Path<'a>, &'a str),
    /// An item of a list.
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    // As deep as the schema is, which `compile` bounds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root(name) => f.write_str(name),
            Path::Member(parent, name) => write!(f, "{parent}[{name}]"),
            Path::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
