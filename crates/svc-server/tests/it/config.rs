//! Settings from files, environment variables and flags.

use std::path::Path;

use svc_brand::Brand;
use svc_server::config::{Config, Environment, FILE, SETTINGS, Setting, SettingOrigin, Sources};

fn setting(key: &str) -> &'static Setting {
    SETTINGS.iter().find(|s| s.key == key).unwrap()
}

fn sources(folder: &Path, variables: &[(&str, &str)], flags: &[(&str, &str)]) -> Sources {
    Sources {
        folder: folder.to_owned(),
        variables: variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        flags: flags.iter().map(|(k, v)| (setting(k), (*v).to_owned())).collect(),
    }
}

#[test]
fn uses_defaults_without_sources() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::load(&sources(dir.path(), &[], &[])).unwrap();
    assert_eq!(config.listen, "127.0.0.1:8080");
    assert_eq!(config.brand, Brand::default());
    assert_eq!(config.database.expose(), format!("sqlite:{}", dir.path().join("svc-data/site.db").display()));
    assert_eq!(config.limits.body, 64 << 20);
    assert!(config.shown().iter().all(|s| s.origin == SettingOrigin::Default));
}

#[test]
fn later_sources_override_earlier_ones() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("d")).unwrap();
    std::fs::write(at(FILE), "data = 'd'\nlisten = 'h:1'\nbrand = 'one'\nlog = 'warn'\ntable_prefix = 'w_'").unwrap();
    std::fs::write(at("d").join(FILE), "listen = 'h:2'\nbrand = 'two'\nlog = 'debug'").unwrap();
    std::fs::write(at("extra.toml"), "listen = 'h:3'\nbrand = 'three'").unwrap();
    let config = Config::load(&sources(
        dir.path(),
        &[("SVC_CONFIG", "extra.toml"), ("SVC_LISTEN", "h:4")],
        &[("listen", "h:5")],
    ))
    .unwrap();
    assert_eq!((config.listen.as_str(), config.brand.word()), ("h:5", "three"));
    assert_eq!((config.log.as_str(), config.table_prefix.as_str()), ("debug", "w_"));
    assert_eq!(config.data, at("d"));
}

#[test]
fn invalid_values_name_their_origin() {
    let dir = tempfile::tempdir().unwrap();
    #[rustfmt::skip]
    let rows = [
        ("brand", "No", "SVC_BRAND: `brand` `No` cannot be a brand: use 1 to 20 lower-case letters and digits, beginning with a letter"),
        ("environment", "test", "SVC_ENVIRONMENT: `environment` must be local or production"),
        ("database", "postgres://x", "SVC_DATABASE: `database` must start with sqlite: or mysql:"),
        ("search_index_min_posts", "x", "SVC_SEARCH_INDEX_MIN_POSTS: `search_index_min_posts` must be a number of posts, or 0"),
        ("readers", "many", "SVC_READERS: `readers` must be a number from 0 to 1024"),
        ("limits.connections", "0", "SVC_LIMITS_CONNECTIONS: `limits.connections` must be a number from 1 to 1000000"),
    ];
    for (key, text, message) in rows {
        let variable = setting(key).variable();
        let error = Config::load(&sources(dir.path(), &[(&variable, text)], &[])).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn settings_of_earlier_versions_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (key, advice) in [
        ("writes", "WordPress handles all writes, so that its plugins decide on them"),
        ("user", "WordPress handles all requests with credentials"),
        ("application_password", "revoke the password"),
        ("reads", "its own responses are replayed"),
        ("svc_routes", "its own responses are replayed"),
        ("samples", "its own responses are replayed"),
        ("shadow_percent", "its own responses are replayed"),
    ] {
        let file = dir.path().join(FILE);
        std::fs::write(&file, format!("[wordpress]\nupstream = 'http://127.0.0.1:81'\n{key} = 'svc'")).unwrap();
        let in_file = Config::load(&sources(dir.path(), &[], &[])).unwrap_err().to_string();
        std::fs::remove_file(&file).unwrap();
        let variable = format!("SVC_WORDPRESS_{}", key.to_uppercase());
        let in_variable = Config::load(&sources(dir.path(), &[(&variable, "svc")], &[])).unwrap_err().to_string();
        let message = format!("there is no setting `wordpress.{key}` any more: ");
        for (error, origin) in [(in_file, format!("{}:3", file.display())), (in_variable, variable)] {
            assert!(error.starts_with(&format!("{origin}: {message}")) && error.contains(advice), "{error}");
        }
    }
}

#[test]
fn hides_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let env = [("SVC_DATABASE", "mysql://u:hunter2@h/n"), ("SVC_KEYS_NONCE_KEY", "hunter2")];
    let config = Config::load(&sources(dir.path(), &env, &[])).unwrap();
    assert_eq!(config.keys.get("nonce_key").unwrap().expose(), "hunter2");
    assert!(!format!("{config:?}{:?}", config.shown()).contains("hunter2"));
}

#[test]
fn derives_the_environment_from_the_url() {
    let dir = tempfile::tempdir().unwrap();
    let free = Config::load(&sources(dir.path(), &[], &[])).unwrap();
    let set = Config::load(&sources(dir.path(), &[("SVC_ENVIRONMENT", "production")], &[])).unwrap();
    let (local, public) = ("http://127.0.0.1:1".parse().unwrap(), "http://example.org".parse().unwrap());
    assert_eq!(free.environment_for(&local), Environment::Local);
    assert_eq!(free.environment_for(&public), Environment::Production);
    assert_eq!(set.environment_for(&local), Environment::Production);
}
