//! Settings as text, before they are parsed: files, environment variables and flags, each value with its origin.

use std::{collections::BTreeMap, path::Path};

use svc_registrations::{Registrations, TABLES};
use toml::de::{DeTable, DeValue};

use super::{
    ConfigError,
    origin::{Given, SettingOrigin},
    settings::{CONFIG, DATA, Removed, SETTINGS, Setting, VARIABLE_PREFIX, find, find_secret_file},
    suggest::did_you_mean,
};

/// Maximum size of a file of settings or a secret, in bytes.
const FILE_LIMIT: u64 = 1 << 20;

/// Values by key. Later layers replace those of earlier ones.
#[derive(Debug, Default)]
pub(super) struct Layers {
    by_key: BTreeMap<&'static str, Given>,
    /// Entries that the files register on the site.
    pub(super) registered: Registrations,
}

impl Layers {
    pub(super) fn get(&self, key: &str) -> Option<&Given> {
        self.by_key.get(key)
    }

    fn put(&mut self, setting: &'static Setting, text: String, origin: SettingOrigin) {
        self.by_key.insert(setting.key, Given { text, origin });
    }

    /// Adds command-line flags.
    pub(super) fn flags(&mut self, given: &[(&'static Setting, String)]) {
        for (setting, text) in given {
            self.put(setting, text.clone(), SettingOrigin::Flag(setting.flag()));
        }
    }

    /// Adds settings of a `wp-config.php` that are not set yet.
    pub(super) fn wp_config(&mut self, path: &Path, variables: &[(String, String)]) -> Result<(), ConfigError> {
        let environment = |name: &str| variables.iter().rev().find(|(n, _)| n == name).map(|(_, value)| value.clone());
        let found = super::wp_config::read(path, &environment, &|key| self.by_key.contains_key(key))?;
        for (setting, given) in found {
            self.put(setting, given.text, given.origin);
        }
        Ok(())
    }

    /// Adds environment variables. Unknown names with our prefix are no error, since other programs set variables, too; they are
    /// returned, so that misspelt ones can be reported.
    pub(super) fn variables(
        &mut self,
        all: impl Iterator<Item = (String, String)>,
    ) -> Result<Vec<String>, ConfigError> {
        let mut unknown = Vec::new();
        for (name, text) in all {
            let Some(rest) = name.strip_prefix(VARIABLE_PREFIX) else { continue };
            // Service managers pass unset variables as empty ones.
            if text.is_empty() {
                continue;
            }
            if let Some(setting) = SETTINGS.iter().find(|s| s.variable() == name) {
                self.put(setting, text, SettingOrigin::Variable(name));
            } else if let Some(setting) = SETTINGS.iter().find(|s| {
                s.secret && rest.strip_suffix("_FILE").is_some_and(|r| s.variable()[VARIABLE_PREFIX.len()..] == *r)
            }) {
                let origin = SettingOrigin::Variable(name);
                let text = read_secret(Path::new(&text), &origin)?;
                self.put(setting, text, origin);
            } else if let Some(removed) = Removed::of_variable(&name) {
                return Err(ConfigError::at(&SettingOrigin::Variable(name), removed.to_string()));
            } else {
                unknown.push(name);
            }
        }
        Ok(unknown)
    }

    /// Adds the settings of a file. `own_data` is true for the file in the data folder.
    pub(super) fn file(&mut self, path: &Path, own_data: bool) -> Result<(), ConfigError> {
        let source = read_limited(path)
            .map_err(|e| ConfigError::at(&SettingOrigin::File(path.to_owned(), 0), format!("cannot be read: {e}")))?;
        self.text(&source, path, own_data)
    }

    fn text(&mut self, source: &str, path: &Path, own_data: bool) -> Result<(), ConfigError> {
        let line_of =
            |offset: usize| source.as_bytes()[..offset.min(source.len())].iter().filter(|b| **b == b'\n').count() + 1;
        let here = |offset: usize| SettingOrigin::File(path.to_owned(), line_of(offset));
        let table = DeTable::parse(source).map_err(|e| {
            ConfigError::at(&here(e.span().map_or(0, |s| s.start)), format!("is not valid TOML: {}", e.message()))
        })?;
        let mut waiting = vec![(String::new(), table.get_ref())];
        while let Some((prefix, table)) = waiting.pop() {
            for (name, value) in table {
                let key = format!("{prefix}{}", name.get_ref());
                if TABLES.contains(&key.as_str()) {
                    continue;
                }
                let origin = here(name.span().start);
                // Settings are nested in at most one table.
                if let (DeValue::Table(inner), true) = (value.get_ref(), prefix.is_empty()) {
                    waiting.push((format!("{key}."), inner));
                    continue;
                }
                let (setting, from_file) = match (find(&key), find_secret_file(&key)) {
                    (Some(setting), _) => (setting, false),
                    (None, Some(setting)) => (setting, true),
                    (None, None) => return Err(ConfigError::at(&origin, unknown(&key))),
                };
                if setting.key == CONFIG || own_data && setting.key == DATA {
                    return Err(ConfigError::at(&origin, format!("`{key}` cannot be set in this file")));
                }
                let mut text = scalar(value.get_ref()).ok_or_else(|| {
                    ConfigError::at(
                        &origin,
                        format!("`{key}` must be a string, a number, a boolean or a list of strings"),
                    )
                })?;
                if setting.path || from_file {
                    let folder = path.parent().unwrap_or(Path::new(""));
                    text = folder.join(text).display().to_string();
                }
                if from_file {
                    text = read_secret(Path::new(&text), &origin)?;
                }
                self.put(setting, text, origin);
            }
        }
        self.registered
            .file(source, path)
            .map_err(|error| ConfigError::at(&SettingOrigin::File(error.file, error.line), error.message))
    }
}

/// The message about a key that is not a setting.
fn unknown(key: &str) -> String {
    if let Some(removed) = Removed::find(key) {
        return removed.to_string();
    }
    let known = SETTINGS.iter().map(|s| s.key).filter(|k| *k != CONFIG).chain(TABLES.iter().copied());
    format!("`{key}` is not a setting{}", did_you_mean(key, known))
}

/// A TOML value as text. Lists of strings are joined by commas.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(n) => (n.radix() == 10).then(|| n.as_str().to_owned()),
        DeValue::Float(n) => Some(n.as_str().to_owned()),
        DeValue::Boolean(b) => Some(b.to_string()),
        DeValue::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(|i| i.get_ref().as_str()).collect();
            Some(texts?.join(","))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

fn read_limited(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    std::fs::File::open(path)?.take(FILE_LIMIT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_LIMIT {
        return Err(std::io::Error::other("the file is larger than 1 MiB"));
    }
    Ok(text)
}

/// Reads a file with one secret. Trailing newlines are removed.
fn read_secret(path: &Path, origin: &SettingOrigin) -> Result<String, ConfigError> {
    let text =
        read_limited(path).map_err(|e| ConfigError::at(origin, format!("{} cannot be read: {e}", path.display())))?;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers(source: &str) -> Result<Layers, ConfigError> {
        let mut layers = Layers::default();
        layers.text(source, Path::new("/etc/site/svc.toml"), false).map(|()| layers)
    }

    #[track_caller]
    fn refused(source: &str, message: &str) {
        assert_eq!(layers(source).unwrap_err().to_string(), message);
    }

    #[test]
    fn values_of_files_have_lines() {
        let l = layers("brand = \"wp\"\n\n[limits]\nbody = 5\n").unwrap();
        let body = l.get("limits.body").unwrap();
        assert_eq!((body.text.as_str(), body.origin.to_string().as_str()), ("5", "/etc/site/svc.toml:4"));
    }

    #[test]
    fn reads_values_of_all_types_as_text() {
        let l =
            layers("debug = true\ntrusted_proxies = ['10.0.0.0/8', '::1']\ndata = 'd'\ncontent_dir = '/c'").unwrap();
        for (key, text) in
            [("debug", "true"), ("trusted_proxies", "10.0.0.0/8,::1"), ("data", "/etc/site/d"), ("content_dir", "/c")]
        {
            assert_eq!(l.get(key).unwrap().text, text, "{key}");
        }
    }

    #[test]
    fn errors_name_file_and_line() {
        refused("brand = 'wp'\nbrnad = 'x'", "/etc/site/svc.toml:2: `brnad` is not a setting; did you mean `brand`?");
        refused(
            "[limits]\nbodies = 3",
            "/etc/site/svc.toml:2: `limits.bodies` is not a setting; did you mean `limits.body`?",
        );
        refused("colour = 1", "/etc/site/svc.toml:1: `colour` is not a setting");
        refused("config = 'other'", "/etc/site/svc.toml:1: `config` cannot be set in this file");
        refused(
            "[listen.deep]\nx.y = 3",
            "/etc/site/svc.toml:1: `listen.deep` is not a setting; did you mean `listen`?",
        );
        refused(
            "listen = 1979-05-27",
            "/etc/site/svc.toml:1: `listen` must be a string, a number, a boolean or a list of strings",
        );
        for (key, advice) in [
            ("writes = 'svc'", "with an upstream, WordPress handles all writes"),
            ("user = 'ada'", "WordPress handles all requests with credentials"),
            ("reads = 'svc'", "`wordpress.php_routes` are never replayed"),
            ("application_password_file = '/nowhere'", "revoke the password"),
        ] {
            let error = layers(&format!("[wordpress]\n{key}")).unwrap_err().to_string();
            assert!(error.starts_with("/etc/site/svc.toml:2: there is no setting `wordpress."), "{error}");
            assert!(error.contains(advice), "{error}");
        }
        for name in ["SVC_WORDPRESS_WRITES", "SVC_WORDPRESS_APPLICATION_PASSWORD_FILE"] {
            let error = Layers::default().variables([(name.to_owned(), "x".to_owned())].into_iter()).unwrap_err();
            assert!(error.to_string().starts_with(&format!("{name}: there is no setting")), "{error}");
        }
        assert!(layers("a = \n").unwrap_err().to_string().starts_with("/etc/site/svc.toml:1: is not valid TOML"));
    }

    #[test]
    fn later_layers_win_and_unknown_variables_are_reported() {
        let mut l = layers("listen = 'a'\nbrand = 'wp'\nlog = 'warn'").unwrap();
        let env = [("SVC_LISTEN", "b"), ("SVC_LOG", "debug"), ("SVC_LITSEN", "c"), ("PATH", "d")];
        let unknown = l.variables(env.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned()))).unwrap();
        l.flags(&[(find("log").unwrap(), "trace".to_owned())]);
        assert_eq!(unknown, ["SVC_LITSEN"]);
        let origin = |key: &str| l.get(key).unwrap().origin.to_string();
        assert_eq!([origin("brand"), origin("listen"), origin("log")], ["/etc/site/svc.toml:2", "SVC_LISTEN", "--log"]);
    }

    #[test]
    fn reads_secrets_from_files() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("key"), "hidden\n").unwrap();
        let mut l = Layers::default();
        l.text("[keys]\nauth_key_file = 'key'", &dir.path().join("svc.toml"), false).unwrap();
        assert_eq!(l.get("keys.auth_key").unwrap().text, "hidden");
        let env = ("SVC_KEYS_NONCE_SALT_FILE".to_owned(), dir.path().join("key").display().to_string());
        assert!(l.variables([env].into_iter()).unwrap().is_empty());
        assert_eq!(l.get("keys.nonce_salt").unwrap().text, "hidden");
        assert!(l.variables([("SVC_DATABASE_FILE".to_owned(), "/nowhere".to_owned())].into_iter()).is_err());
    }
}
