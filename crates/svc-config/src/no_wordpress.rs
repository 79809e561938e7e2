//! Settings of a server in front of a running WordPress, in a program without the feature `wordpress`: they are refused.

use super::{ConfigError, Reader, settings};

/// Never made.
#[derive(Clone, Debug)]
pub enum WordPress {}

/// Reads the settings.
///
/// # Errors
/// If one is given.
pub(super) fn read(read: &mut Reader<'_>, _: &str, _: bool, _: bool) -> Result<Option<WordPress>, ConfigError> {
    let given = settings::SETTINGS.iter().filter(|s| s.key.starts_with("wordpress."));
    match given.filter_map(|s| Some((s.key, read.layers.get(s.key)?))).next() {
        None => Ok(None),
        Some((key, given)) => {
            let text = format!("`{key}`: this program was built without the feature `wordpress`");
            Err(ConfigError::at(&given.origin, text))
        }
    }
}
