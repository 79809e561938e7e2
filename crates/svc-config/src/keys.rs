//! The eight secrets that sign cookies and nonces: from the configuration, or from a file in the data folder with random ones,
//! which is created on the first start.

use std::{io::Write, path::Path};

use svc_auth::{Keys, Secret};

use super::{
    ConfigError, SettingOrigin,
    layers::Layers,
    settings::{self, Setting},
};

/// Name of the file in the data folder.
pub const KEY_FILE: &str = "keys.toml";

/// The configured secrets by name (`auth_key` … `nonce_salt`).
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

    /// The secret with this name.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, secret)| secret)
    }

    /// Returns the signing keys. A secret that is missing or not usable (a placeholder, or the same text twice) is read from the
    /// site's options (`stored`), or else from the file in the data folder, which is created if necessary, readable by its owner
    /// only.
    ///
    /// # Errors
    /// If the file is needed and cannot be read, parsed or created.
    pub fn complete(&self, data: &Path, stored: impl Fn(&str) -> Option<String>) -> Result<Keys, ConfigError> {
        let configured = |name: &str| self.get(name).map(|s| s.expose().to_owned());
        if let Ok(keys) = Keys::resolve(configured, &stored) {
            return Ok(keys);
        }
        let path = data.join(KEY_FILE);
        let origin = SettingOrigin::File(path.clone(), 0);
        if !path.exists() {
            generate(&path).map_err(|e| ConfigError::at(&origin, format!("cannot be created: {e}")))?;
        }
        let mut layers = Layers::default();
        layers.file(&path, true)?;
        let stored = |name: &str| {
            let in_file = || layers.get(&format!("keys.{name}")).map(|given| given.text.clone());
            stored(name).filter(|secret| !secret.is_empty()).or_else(in_file)
        };
        Keys::resolve(configured, stored).map_err(|missing| ConfigError::at(&origin, missing.to_string()))
    }
}

/// Writes a file of new secrets, durably. It is written to a temporary file and moved, so that an interrupted start leaves no partial
/// file.
fn generate(path: &Path) -> std::io::Result<()> {
    let mut text = String::from(
        "# Secrets that sign this site's cookies and nonces. Anyone who knows them can log in as any user.\n\n[keys]\n",
    );
    for setting in settings::key_settings() {
        let secret = Keys::generate_setting().map_err(std::io::Error::other)?;
        text.push_str(&format!("{} = \"{}\"\n", name(setting), secret.expose()));
    }
    // Concurrent starts write separate files. The first one in place is used by all.
    let temporary = path.with_extension(format!("new{}", std::process::id()));
    let mut file = svc_files::private().create(true).truncate(true).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    let placed = match std::fs::hard_link(&temporary, path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => std::fs::remove_file(&temporary),
        // The file system has no hard links.
        Err(_) => std::fs::rename(&temporary, path),
        Ok(()) => std::fs::remove_file(&temporary),
    };
    placed.and_then(|()| path.parent().map_or(Ok(()), svc_files::sync_folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    use svc_auth::Scheme;

    #[test]
    fn generates_missing_secrets_once() {
        let dir = tempfile::tempdir().unwrap();
        let set = SecretKeys(vec![("auth_key", Secret::new("mine"))]);
        let (first, second) =
            (set.complete(dir.path(), |_| None).unwrap(), set.complete(dir.path(), |_| None).unwrap());
        assert!(first == second && first.key(Scheme::Auth).starts_with(b"mine"));
        assert!(first.key(Scheme::Nonce).len() >= 128 && first.key(Scheme::Nonce) != first.key(Scheme::LoggedIn));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(dir.path().join(KEY_FILE)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn reports_a_missing_secret_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(KEY_FILE), "[keys]\nauth_key = 'a'\n").unwrap();
        let error = SecretKeys::default().complete(dir.path(), |_| None).unwrap_err().to_string();
        assert!(error.contains("no usable value for auth_salt"), "{error}");
    }

    #[test]
    fn complete_configuration_touches_no_file() {
        let all = settings::key_settings().map(|s| (name(s), Secret::new(s.key))).collect();
        assert!(SecretKeys(all).complete(Path::new("/nowhere"), |_| None).is_ok());
    }

    #[test]
    fn secrets_that_the_site_has_stored_come_before_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let of_site = |name: &str| (name == "nonce_salt").then(|| "of the site".to_owned());
        let keys = SecretKeys::default().complete(dir.path(), of_site).unwrap();
        assert!(keys.key(Scheme::Nonce).ends_with(b"of the site"));
        let all = |name: &str| Some(name.to_owned());
        assert!(SecretKeys::default().complete(Path::new("/nowhere"), all).is_ok(), "no file is needed");
    }
}
