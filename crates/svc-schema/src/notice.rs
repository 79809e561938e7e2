//! Developer notices: collected where a mistake is detected, and sent to clients in debug mode only.

use std::fmt;

/// The kind of a notice. Each has a response header of its own in debug mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoticeKind {
    /// The API is used incorrectly.
    DoingItWrong,
    /// A deprecated function was called.
    DeprecatedFunction,
    /// A deprecated parameter was used.
    DeprecatedParam,
}

impl NoticeKind {
    /// The name of the kind, as it appears in the name of its response header.
    pub fn name(self) -> &'static str {
        match self {
            NoticeKind::DoingItWrong => "DoingItWrong",
            NoticeKind::DeprecatedFunction => "DeprecatedFunction",
            NoticeKind::DeprecatedParam => "DeprecatedParam",
        }
    }
}

/// A notice to the developer of a route or schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notice {
    /// Its kind.
    pub kind: NoticeKind,
    /// Name of the WordPress function that detects the mistake.
    pub function: String,
    /// Human-readable description.
    pub message: String,
    /// The version since which this is a mistake; may be empty.
    pub version: String,
}

impl Notice {
    /// A notice of this function, without a version.
    pub fn new(kind: NoticeKind, function: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind, function: function.into(), message: message.into(), version: String::new() }
    }

    /// Sets the version since which this is a mistake.
    #[must_use]
    pub fn since(self, version: impl Into<String>) -> Self {
        Self { version: version.into(), ..self }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.function, self.message)
    }
}

impl std::error::Error for Notice {}

/// Maximum number of notices: a long list and an invalid schema would otherwise produce one per item.
const MAX_NOTICES: usize = 256;

/// Collects up to 256 notices. Further ones are dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices(Vec<Notice>);

impl Notices {
    /// An empty collector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a notice, unless the collection is full.
    pub fn push(&mut self, notice: Notice) {
        if !self.is_full() {
            self.0.push(notice);
        }
    }

    /// Whether further notices are dropped.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MAX_NOTICES
    }

    /// The notices, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Notice> {
        self.0.iter()
    }

    /// Whether there are no notices.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_are_listed_in_order() {
        let mut notices = Notices::new();
        assert!(notices.is_empty());
        notices.push(Notice::new(NoticeKind::DeprecatedFunction, "f", "Do not call f.").since("1.0"));
        notices.push(Notice::new(NoticeKind::DeprecatedParam, "g", "Do not set x."));
        assert!(!notices.is_empty());
        let texts: Vec<String> = (&notices).into_iter().map(Notice::to_string).collect();
        assert_eq!(texts, ["f: Do not call f.", "g: Do not set x."]);
        let kinds = notices.into_vec().into_iter().map(|notice| (notice.kind.name(), notice.version));
        let expected = [("DeprecatedFunction", "1.0".to_owned()), ("DeprecatedParam", String::new())];
        assert_eq!(kinds.collect::<Vec<_>>(), expected);
        assert_eq!(NoticeKind::DoingItWrong.name(), "DoingItWrong");
    }
}
