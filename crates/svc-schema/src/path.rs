//! The position of a value below a parameter. It is a linked list on the stack and only formatted for errors.

use std::fmt;

/// `param`, `param[name]`, `param[3]` …
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    /// The parameter itself.
    Root(&'a str),
    /// A property of an object.
    Property(&'a Path<'a>, &'a str),
    /// An item of a list.
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    // The recursion is as deep as the schema, which `compile` bounds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root(name) => f.write_str(name),
            Path::Property(parent, name) => write!(f, "{parent}[{name}]"),
            Path::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}
