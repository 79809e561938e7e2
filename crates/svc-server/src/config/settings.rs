//! The table of settings: each is named once here, and its flag, environment variable and key in `svc.toml` follow.

/// One setting that a site owner can give.
#[derive(Debug)]
pub struct Setting {
    /// Key in `svc.toml`; a dot stands for a table (`limits.body` is `body` under `[limits]`).
    pub key: &'static str,
    /// What stands for the value in help texts.
    pub metavar: &'static str,
    /// Value when nobody gives one; `None` where it depends on other settings (the help says how).
    pub default: Option<&'static str>,
    /// One line for people.
    pub help: &'static str,
    /// Kept out of logs, of the list of settings and of the command line, where other users could read it.
    pub secret: bool,
    /// A path: a relative one in a file counts from the folder of that file.
    pub path: bool,
}

impl Setting {
    /// Name of the command-line flag without dashes: `limits.body` gives `limits-body`.
    pub fn flag(&self) -> String {
        self.key.replace(['.', '_'], "-")
    }

    /// Name of the environment variable: `limits.body` gives `SVC_LIMITS_BODY`.
    pub fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.key.replace('.', "_").to_ascii_uppercase())
    }
}

/// Beginning of every environment variable that the server reads. It names the program, whatever the brand word is.
pub(super) const VARIABLE_PREFIX: &str = "SVC_";

/// Ending of a key or variable that names a file holding the value of a secret.
pub(super) const FILE_SUFFIX: &str = "_file";

/// The key that names a further file of settings; it cannot stand in a file.
pub(super) const CONFIG: &str = "config";

/// The key that names a `wp-config.php`, whose settings count below all others that are given.
pub(super) const WP_CONFIG: &str = "wp_config";

/// The key that names the data folder; it cannot stand in that folder's own file.
pub(super) const DATA: &str = "data";

const fn row(key: &'static str, metavar: &'static str, default: Option<&'static str>, help: &'static str) -> Setting {
    Setting { key, metavar, default, help, secret: false, path: false }
}

const fn path(key: &'static str, metavar: &'static str, default: Option<&'static str>, help: &'static str) -> Setting {
    Setting { path: true, ..row(key, metavar, default, help) }
}

const fn secret(key: &'static str) -> Setting {
    Setting { secret: true, ..row(key, "SECRET", None, "One of the eight secrets that sign cookies and nonces") }
}

/// Every setting, in the order of the help.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    path(DATA, "DIR", Some("svc-data"), "Folder of the database, the uploads and the secret keys"),
    path(CONFIG, "FILE", None, "A file of settings, read after ./svc.toml and DIR/svc.toml"),
    path(WP_CONFIG, "FILE", None, "The wp-config.php of a WordPress site: its database, keys, content folder and address; the brand is then `wp` unless set"),
    row("listen", "ADDR:PORT", Some("127.0.0.1:8080"), "Address to listen on; port 0 takes a free one"),
    row("site_url", "URL", None, "Public address of the site [default: the one stored in the database]"),
    Setting { secret: true, ..row("database", "URL", None, "sqlite:FILE or mysql://USER:PASSWORD@HOST/NAME [default: site.db in the data folder]") },
    row("table_prefix", "PREFIX", Some("wp_"), "Beginning of the names of the database tables"),
    row("staleness_seconds", "N", Some("0"), "How long totals of lists may be kept while others write to the same MySQL database; what decides permission is never old"),
    row("readers", "N", Some("0"), "Database connections for reading; 0 takes one per processor (MySQL: four per processor, 8 to 64)"),
    path("content_dir", "DIR", None, "Folder of uploads, themes and plugins [default: content in the data folder]"),
    row("uploads.bucket", "NAME", None, "Bucket of an S3-compatible store for uploads, in builds with the feature s3 [default: the folder uploads in the content folder]"),
    row("uploads.endpoint", "URL", None, "Address of that store [default: that of AWS]"),
    row("uploads.region", "NAME", Some("us-east-1"), "Region of that bucket"),
    row("uploads.prefix", "PATH", Some(""), "Beginning of the paths in that bucket"),
    Setting { secret: true, ..row("uploads.access_key", "NAME", None, "Name of the key to that bucket") },
    Setting { secret: true, ..row("uploads.secret_key", "SECRET", None, "The key to that bucket") },
    row("brand", "WORD", Some("svc"), "Word in the names of the interface; `wp` serves unmodified WordPress clients"),
    row("theme", "NAME", None, "Folder of the theme that draws the site, put in force at each start [default: the one stored in the database]"),
    row("environment", "KIND", None, "local or production; local accepts application passwords without TLS [default: local when the site's address is a loopback one]"),
    row("revisions", "N", Some("all"), "How many revisions of a post are kept: all, or a number; 0 keeps none"),
    row("debug", "BOOL", Some("false"), "Send developer notices as response headers"),
    row("log", "FILTER", Some("info"), "What to log: error, warn, info, debug, trace, or a filter such as svc_http=debug,warn"),
    row("log_format", "FORMAT", Some("text"), "text or json"),
    row("trusted_proxies", "LIST", Some(""), "Addresses or networks, by commas, whose forwarding headers are believed"),
    row("limits.body", "SIZE", Some("64MB"), "Largest request body"),
    row("limits.values", "N", Some("100000"), "Most values of a JSON body: lists, objects and what they hold"),
    row("limits.connections", "N", Some("1024"), "Connections served at a time; when all are taken, a new one replaces the one that has been idle for longest"),
    row("limits.connections_per_network", "N", Some("256"), "Connections served at a time for one client address (IPv6: one /64); trusted proxies are exempt"),
    row("limits.header_seconds", "N", Some("10"), "Time to send the first request of a connection, and the head of each further one"),
    row("limits.idle_seconds", "N", Some("75"), "Time that a connection stays open without a request"),
    row("limits.stall_seconds", "N", Some("20"), "How far a client may fall behind 1000 bytes a second while it sends a body or reads a response"),
    row("limits.request_seconds", "N", Some("60"), "Time to answer a request"),
    row("limits.shutdown_seconds", "N", Some("10"), "Time that requests in progress get when the server stops"),
    row("directory", "URL", None, "Address of a directory of plugins and patterns, in the form of the public one [default: none]"),
    row("outgoing.public", "BOOL", Some("true"), "Let the server ask addresses of the public network: previews of links, embeds, feeds, the directory"),
    row("outgoing.allow", "LIST", Some(""), "Private networks, or hosts with their ports, by commas, that the server may ask too"),
    secret("keys.auth_key"),
    secret("keys.secure_auth_key"),
    secret("keys.logged_in_key"),
    secret("keys.nonce_key"),
    secret("keys.auth_salt"),
    secret("keys.secure_auth_salt"),
    secret("keys.logged_in_salt"),
    secret("keys.nonce_salt"),
];

/// The setting of this key.
pub(super) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|s| s.key == key)
}

/// The secret whose value a `…_file` key or variable points to.
pub(super) fn find_secret_file(key: &str) -> Option<&'static Setting> {
    find(key.strip_suffix(FILE_SUFFIX)?).filter(|s| s.secret)
}

/// The eight secrets, by their keys.
pub(super) fn key_settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|s| s.key.starts_with("keys."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_from_the_key() {
        let body = find("limits.body").unwrap();
        assert_eq!((body.flag().as_str(), body.variable().as_str()), ("limits-body", "SVC_LIMITS_BODY"));
        assert_eq!(find_secret_file("keys.auth_key_file").unwrap().key, "keys.auth_key");
        assert!(find_secret_file("listen_file").is_none(), "only secrets are read from files");
        assert_eq!(key_settings().count(), 8);
    }

    #[test]
    fn no_two_settings_share_a_variable() {
        let names: std::collections::BTreeSet<String> = SETTINGS.iter().map(Setting::variable).collect();
        assert_eq!(names.len(), SETTINGS.len());
    }
}
