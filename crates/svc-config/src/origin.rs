//! Values as text, with their origin.

use std::path::PathBuf;

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingOrigin {
    /// The default.
    Default,
    /// A file, at this line (from 1), or as a whole (0).
    File(PathBuf, usize),
    /// An environment variable.
    Variable(String),
    /// A command-line flag.
    Flag(String),
}

impl std::fmt::Display for SettingOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SettingOrigin::Default => f.write_str("default"),
            SettingOrigin::File(file, 0) => write!(f, "{}", file.display()),
            SettingOrigin::File(file, line) => write!(f, "{}:{line}", file.display()),
            SettingOrigin::Variable(name) => f.write_str(name),
            SettingOrigin::Flag(name) => write!(f, "--{name}"),
        }
    }
}

/// A value as text, with its origin.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) text: String,
    pub(super) origin: SettingOrigin,
}
