//! Developer notices: values that are collected where the mistake is found, and shown only in debug mode.

/// What a notice is about; each kind has a response header of its own in debug mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// The interface is used wrongly.
    DoingItWrong,
    /// A function that will go away was called.
    DeprecatedFunction,
    /// A parameter that will go away was given.
    DeprecatedParam,
}

/// A notice to the developer of a route or schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is about.
    pub kind: NoticeKind,
    /// The function of the interface that found it, by its established name.
    pub function: String,
    /// What is wrong, for people.
    pub message: String,
    /// The version of the interface since which this is wrong; may be empty.
    pub version: String,
}

/// The most notices kept: a long list against a faulty schema would raise one for each item.
const MOST: usize = 256;

/// Collects notices, at most 256; further ones are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices(Vec<Notice>);

impl Notices {
    /// An empty collector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps a notice, unless there are too many already.
    pub fn push(&mut self, notice: Notice) {
        if !self.is_full() {
            self.0.push(notice);
        }
    }

    /// Whether further notices are dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST
    }

    /// The notices, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Notice> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The notices, in order, as a list.
    pub fn into_vec(self) -> Vec<Notice> {
        self.0
    }
}

impl<'a> IntoIterator for &'a Notices {
    type Item = &'a Notice;
    type IntoIter = std::slice::Iter<'a, Notice>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
