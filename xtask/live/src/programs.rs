//! Programs of other projects that are found in the search path.

use std::path::PathBuf;

use anyhow::{Context, Result};

/// Names of PHP's command line.
const PHP: [&str; 4] = ["php", "php8.4", "php8.3", "php8.2"];

/// The path of PHP's command line; `None` if it is not installed.
pub(crate) fn php() -> Option<PathBuf> {
    PHP.into_iter().find_map(|name| location(name).ok())
}

pub(crate) fn is_installed(program: &str) -> bool {
    location(program).is_ok()
}

/// The path of a program.
///
/// # Errors
/// If it is not installed.
pub(crate) fn location(program: &str) -> Result<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).map(|path| path.join(program)).find(|path| path.is_file());
    found.with_context(|| format!("{program} is not installed"))
}
