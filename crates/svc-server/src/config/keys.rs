//! The eight secrets that sign cookies and nonces: from the configuration, else from a file in the data folder that is
//! made with random ones on the first start.

use std::{io::Write, path::Path};

use super::{
    ConfigError, Origin, Secret,
    layers::Layers,
    settings::{self, Setting},
};

/// Name of the file in the data folder.
pub const KEY_FILE: &str = "keys.toml";

/// Random bytes in a generated secret.
const SECRET_BYTES: usize = 48;

/// The secrets by their WordPress names in lower case (`auth_key` … `nonce_salt`), as far as known.
#[derive(Clone, Debug, Default)]
pub struct SecretKeys(Vec<(&'static str, Secret)>);

fn name(setting: &'static Setting) -> &'static str {
    setting.key.trim_start_matches("keys.")
}

impl SecretKeys {
    pub(super) fn read(
        mut take: impl FnMut(&'static str) -> Result<Option<Secret>, ConfigError>,
    ) -> Result<Self, ConfigError> {
        let mut known = Vec::new();
        for setting in settings::key_settings() {
            if let Some(secret) = take(setting.key)? {
                known.push((name(setting), secret));
            }
        }
        Ok(SecretKeys(known))
    }

    /// The secret of this name.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, secret)| secret)
    }

    /// Fills in what is missing from the data folder's file, which is made, readable by its owner only, when it is not
    /// there.
    ///
    /// # Errors
    /// When the file cannot be read, understood or made.
    pub fn complete(mut self, data: &Path) -> Result<Self, ConfigError> {
        let missing: Vec<&'static Setting> = settings::key_settings().filter(|s| self.get(name(s)).is_none()).collect();
        if missing.is_empty() {
            return Ok(self);
        }
        let path = data.join(KEY_FILE);
        let origin = Origin::File(path.clone(), 1);
        if !path.exists() {
            generate(&path).map_err(|e| ConfigError::at(&origin, format!("cannot be made: {e}")))?;
        }
        let mut layers = Layers::default();
        layers.file(&path, true)?;
        for setting in missing {
            let given = layers
                .get(setting.key)
                .ok_or_else(|| ConfigError::at(&origin, format!("`{}` is missing", setting.key)))?;
            self.0.push((name(setting), Secret::new(given.text.clone())));
        }
        Ok(self)
    }
}

/// Writes a file of fresh secrets. It is written beside its place and moved there, so that an interrupted start leaves
/// no half of it.
fn generate(path: &Path) -> std::io::Result<()> {
    let mut text = String::from(
        "# Secrets that sign this site's cookies and nonces. Whoever knows them can sign in as anybody.\n\n[keys]\n",
    );
    for setting in settings::key_settings() {
        text.push_str(&format!("{} = \"{}\"\n", name(setting), random_text(SECRET_BYTES)?));
    }
    let beside = path.with_extension("new");
    let mut file = private_file(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}

/// Random text of letters, digits, `-` and `_`, made of this many random bytes.
///
/// # Errors
/// When the system has no random bytes to give.
pub(crate) fn random_text(bytes: usize) -> std::io::Result<String> {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut raw = vec![0_u8; bytes];
    getrandom::fill(&mut raw).map_err(|e| std::io::Error::other(e.to_string()))?;
    // One sign a byte: a quarter of the entropy is given away, the bytes are plenty.
    Ok(raw.iter().map(|b| char::from(SIGNS[usize::from(b % 64)])).collect())
}

#[cfg(unix)]
fn private_file(path: &Path) -> std::io::Result<std::fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> std::io::Result<std::fs::File> {
    std::fs::File::create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_secrets_are_made_once_and_kept_private() {
        let dir = tempfile::tempdir().unwrap();
        let set = SecretKeys(vec![("auth_key", Secret::new("mine"))]);
        let first = set.clone().complete(dir.path()).unwrap();
        let second = set.complete(dir.path()).unwrap();
        assert_eq!(first.get("auth_key").unwrap().reveal(), "mine");
        let salt = first.get("nonce_salt").unwrap();
        assert_eq!(salt, second.get("nonce_salt").unwrap());
        assert!(salt.reveal().len() >= 48 && Some(salt) != first.get("auth_salt"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(dir.path().join(KEY_FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_file_that_lacks_a_secret_is_told() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(KEY_FILE), "[keys]\nauth_key = 'a'\n").unwrap();
        let error = SecretKeys::default().complete(dir.path()).unwrap_err().to_string();
        assert!(error.ends_with("`keys.secure_auth_key` is missing"), "{error}");
    }

    #[test]
    fn complete_configuration_touches_no_file() {
        let all = settings::key_settings().map(|s| (name(s), Secret::new("x"))).collect();
        assert!(SecretKeys(all).complete(Path::new("/nowhere")).is_ok());
    }
}
