//! Settings from a `wp-config.php`: database, table prefix, keys and salts, content folder, URL, environment, debug mode.

use std::path::{Path, PathBuf};

use svc_brand::Brand;
use svc_wp_config::{ErrorKind, Located, WpConfig};

use super::{
    ConfigError,
    origin::{Given, SettingOrigin},
    settings::{self, Setting, find},
};

/// Constants that set an optional setting. Those whose value is unknown are ignored.
const OPTIONAL: [(&str, &str); 3] =
    [("WP_HOME", "site_url"), ("WP_ENVIRONMENT_TYPE", "environment"), ("WP_DEBUG", "debug")];

/// A setting with the value that the file gives it.
pub(super) type FoundSetting = (&'static Setting, Given);

impl From<svc_wp_config::Error> for ConfigError {
    fn from(error: svc_wp_config::Error) -> Self {
        // A file that cannot be read has no line.
        let line = if matches!(error.kind(), ErrorKind::Io(_)) { 0 } else { error.line() };
        ConfigError::at(&SettingOrigin::File(error.file().to_owned(), line), error.kind().to_string())
    }
}

/// The path of the configuration: the given one, or `wp-config.php` in a folder.
pub(super) fn file(working: &Path, given: &str) -> PathBuf {
    let path = working.join(given);
    if path.is_dir() { path.join("wp-config.php") } else { path }
}

/// Adds to an error about a value that the setting can be set elsewhere.
fn or_set(key: &'static str) -> impl FnOnce(svc_wp_config::Error) -> ConfigError {
    move |error| {
        let is_value = !matches!(error.kind(), ErrorKind::Io(_));
        let mut error = ConfigError::from(error);
        if let Some(setting) = find(key).filter(|_| is_value) {
            error.what.push_str(&format!("; set `{key}` in svc.toml, or {}", setting.variable()));
        }
        error
    }
}

fn given(text: String, file: PathBuf, line: usize) -> Given {
    Given { text, origin: SettingOrigin::File(file, line) }
}

impl From<Located> for Given {
    fn from(found: Located) -> Self {
        given(found.text, found.file, found.line)
    }
}

/// Reads the settings of the file, except those for which `is_set` returns true. `environment` gives the variables of the
/// process.
///
/// # Errors
/// If the file cannot be read, or does not give the value of a required setting.
pub(super) fn read(
    path: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    is_set: &dyn Fn(&str) -> bool,
) -> Result<Vec<FoundSetting>, ConfigError> {
    let config = WpConfig::read(path, environment)?;
    let mut found = Vec::new();
    let mut put = |key: &str, value: Given| {
        if let Some(setting) = find(key).filter(|_| !is_set(key)) {
            found.push((setting, value));
        }
    };
    if !is_set("database") {
        let database = config.database().map_err(or_set("database"))?;
        put("database", given(database.url(), database.file, database.line));
    }
    if !is_set("table_prefix")
        && let Some(prefix) = config.variable("table_prefix").map_err(or_set("table_prefix"))?
    {
        put("table_prefix", prefix.into());
    }
    for setting in settings::key_settings().filter(|s| !is_set(s.key)) {
        let constant = setting.key.trim_start_matches("keys.").to_ascii_uppercase();
        if let Some(secret) = config.constant(&constant).map_err(or_set(setting.key))? {
            put(setting.key, secret.into());
        }
    }
    if !is_set("content_dir") {
        put("content_dir", config.content_dir().map_err(or_set("content_dir"))?.into());
    }
    for (constant, key) in OPTIONAL {
        let Ok(Some(mut value)) = config.constant(constant) else { continue };
        match key {
            "environment" if value.text != "local" => value.text = "production".to_owned(),
            "debug" => value.text = (!value.text.is_empty() && value.text != "0").to_string(),
            _ => {}
        }
        put(key, value.into());
    }
    // A database of WordPress serves WordPress's clients.
    put("brand", given(Brand::original().word().to_owned(), config.path().to_owned(), 1));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a configuration; `ROOT` is its folder.
    fn settings(php: &str, is_set: &dyn Fn(&str) -> bool) -> Vec<(&'static str, String)> {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let path = root.join("wp-config.php");
        std::fs::write(&path, format!("<?php {php}")).unwrap();
        let found = read(&path, &|_| None, is_set).unwrap();
        let text = |given: Given| given.text.replace(&root.display().to_string(), "ROOT");
        found.into_iter().map(|(setting, given)| (setting.key, text(given))).collect()
    }

    #[test]
    fn constants_become_settings() {
        let found = settings(
            r#"define('DB_NAME', 'site'); define('DB_USER', 'me'); define('DB_PASSWORD', 'p\'w/$x@:?');
               define('DB_HOST', '127.0.0.1:3307'); define('DB_CHARSET', 'utf8mb4');
               define('MYSQL_CLIENT_FLAGS', MYSQLI_CLIENT_SSL); define('AUTH_KEY', 'k1'); define('NONCE_SALT', 'k2');
               $table_prefix = 'blog_'; define('WP_DEBUG', true); define('WP_ENVIRONMENT_TYPE', 'staging');
               define('WP_HOME', 'https://' . $_SERVER['HTTP_HOST']);"#,
            &|_| false,
        );
        let expected = [
            ("database", "mysql://me:p%27w%2F%24x%40%3A%3F@127.0.0.1:3307/site?charset=utf8mb4&tls=true"),
            ("table_prefix", "blog_"),
            ("keys.auth_key", "k1"),
            ("keys.nonce_salt", "k2"),
            ("content_dir", "ROOT/wp-content"),
            ("environment", "production"),
            ("debug", "true"),
            ("brand", "wp"),
        ];
        assert_eq!(found, expected.map(|(key, text)| (key, text.to_owned())));
    }

    #[test]
    fn settings_given_elsewhere_are_not_read() {
        let found =
            settings("define('DB_NAME', f()); $table_prefix = 'x_';", &|key| matches!(key, "database" | "brand"));
        let keys: Vec<&str> = found.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, ["table_prefix", "content_dir"]);
    }

    #[test]
    fn errors_name_file_and_line() {
        let error = read(Path::new("/no/such/wp-config.php"), &|_| None, &|_| false).err().unwrap().to_string();
        assert!(error.starts_with("/no/such/wp-config.php: cannot be read"), "{error}");
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("wp-config.php");
        std::fs::write(&path, "<?php\ndefine('DB_NAME', f());").unwrap();
        let error = read(&path, &|_| None, &|_| false).err().unwrap().to_string();
        assert!(error.contains("wp-config.php:2: ") && error.ends_with("or SVC_DATABASE"), "{error}");
        assert_eq!(file(dir.path(), ""), path, "a folder is searched for the file");
    }
}
