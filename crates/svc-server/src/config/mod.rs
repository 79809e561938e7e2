//! What a site owner sets: defaults, then a `wp-config.php`, then `svc.toml` in the working folder, then the data folder's `svc.toml`, then the
//! file of `--config`, then `SVC_…` variables, then flags. Every value knows where it comes from, and a mistake names the
//! place.
//!
//! What a site *holds* (its title, its permalinks) is not here: that lives in its database, as in WordPress.

mod keys;
mod layers;
mod registered;
mod settings;
mod values;
mod wp_config;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use svc_auth::Secret;
use svc_brand::Brand;
use svc_fetch::{Allowed, Guard};
use svc_packages::theme;

pub use keys::{KEY_FILE, SecretKeys};
pub use layers::Origin;
pub use registered::Registered;
pub use settings::{SETTINGS, Setting};
pub use values::{Environment, LogFormat, Network, SiteUrl};

use layers::Layers;

/// Name of a file of settings.
pub const FILE: &str = "svc.toml";

/// A mistake in what was set, with its place.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{place}: {what}")]
pub struct ConfigError {
    place: String,
    what: String,
}

impl ConfigError {
    pub(crate) fn at(origin: &Origin, what: impl Into<String>) -> Self {
        ConfigError { place: origin.to_string(), what: what.into() }
    }
}

/// Bounds on what strangers can ask of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest request body in bytes.
    pub body: u64,
    /// Most values of a JSON body.
    pub values: usize,
    /// Connections served at a time.
    pub connections: usize,
    /// Connections of one client network (an IPv4 address, a /64 of IPv6) served at a time.
    pub connections_per_network: usize,
    /// Time to send the first request, and the head of each further one.
    pub header: Duration,
    /// Time that a connection may be open without a request.
    pub idle: Duration,
    /// Time that a client may be behind in sending a body or reading a response.
    pub stall: Duration,
    /// Time to answer a request.
    pub request: Duration,
    /// Time that requests in progress get when the server stops.
    pub shutdown: Duration,
    /// Networks without a bound of their own on connections: the trusted proxies.
    pub trusted: Vec<Network>,
}

/// A bucket of an S3-compatible store, for uploads.
#[derive(Clone, Debug)]
pub struct Bucket {
    /// Its name.
    pub name: String,
    /// Address of the store; that of AWS when not given.
    pub endpoint: Option<String>,
    /// Its region.
    pub region: String,
    /// Beginning of the paths in it.
    pub prefix: String,
    /// Name of the key.
    pub access_key: Secret,
    /// The key.
    pub secret_key: Secret,
}

/// Whom the server may ask on its own account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    /// The public network may be asked.
    pub public: bool,
    /// What may be asked besides, though it is not public.
    pub allow: Vec<Allowed>,
}

impl Outbound {
    /// The guard of the client.
    pub fn guard(&self) -> Guard {
        if self.public { Guard::new(self.allow.clone()) } else { Guard::only(self.allow.clone()) }
    }
}

/// A server's configuration, understood and checked.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folder of the database, the uploads and the secret keys.
    pub data: PathBuf,
    /// The `wp-config.php` of the WordPress site that is served.
    pub wp_config: Option<PathBuf>,
    /// Host and port to listen on.
    pub listen: String,
    /// Public address, when it is to differ from the one stored in the database.
    pub site_url: Option<SiteUrl>,
    /// Where the site's data is: `sqlite:FILE` or `mysql://…`; secret for the password in it.
    pub database: Secret,
    /// Beginning of table names.
    pub table_prefix: String,
    /// How long totals of lists may be kept without asking a MySQL server.
    pub staleness: Duration,
    /// Database connections for reading; zero lets the store decide.
    pub readers: usize,
    /// Folder of uploads, themes and plugins.
    pub content_dir: PathBuf,
    /// Where uploads are kept, when not in the content folder.
    pub uploads: Option<Bucket>,
    /// Word in the names of the interface.
    pub brand: Brand,
    /// The theme that is put in force at the start.
    pub theme: Option<String>,
    /// As set; [`Config::environment_for`] decides when it is not.
    pub environment: Option<Environment>,
    /// Developer notices as response headers.
    pub debug: bool,
    /// What to log.
    pub log: String,
    /// How log lines look.
    pub log_format: LogFormat,
    /// Who may say for whom they speak.
    pub trusted_proxies: Vec<Network>,
    /// Bounds.
    pub limits: Limits,
    /// Address of a directory of plugins.
    pub directory: Option<SiteUrl>,
    /// Requests to others.
    pub outgoing: Outbound,
    /// Secrets that sign cookies and nonces; those not set come from [`KEY_FILE`] in the data folder.
    pub keys: SecretKeys,
    /// How many revisions of a post are kept; `None` keeps all.
    pub revisions: Option<u64>,
    /// Post types, taxonomies, meta and settings that the files register.
    pub registered: Registered,
    /// Variables that look like ours and are not: probably misspelt.
    pub unknown_variables: Vec<String>,
    shown: Vec<Shown>,
}

/// A setting in force, for people: see [`Config::shown`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its key.
    pub key: &'static str,
    /// Its value, or `(secret)`; empty when not set.
    pub value: String,
    /// Where it was given.
    pub origin: Origin,
}

/// Where settings are looked for; the real process is [`Sources::of_process`].
#[derive(Debug, Default)]
pub struct Sources {
    /// Folder in which `svc.toml` is looked for and from which relative paths count.
    pub folder: PathBuf,
    /// Environment variables.
    pub variables: Vec<(String, String)>,
    /// Flags given on the command line.
    pub flags: Vec<(&'static Setting, String)>,
}

impl Sources {
    /// The working folder, the process's environment and these flags.
    pub fn of_process(flags: Vec<(&'static Setting, String)>) -> Self {
        // A variable that is not UTF-8 cannot be one of ours.
        let variables = std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
        Sources { folder: PathBuf::new(), variables: variables.collect(), flags }
    }
}

impl Config {
    /// Reads, lays over one another and checks what the sources hold.
    ///
    /// # Errors
    /// A [`ConfigError`] naming file and line, variable or flag: an unknown key, a value that cannot be understood, a
    /// file that cannot be read.
    pub fn load(sources: &Sources) -> Result<Config, ConfigError> {
        // Where to look is itself set: by flag or variable, or, for the data folder, in the files named before it.
        let mut outer = Layers::default();
        let unknown_variables = outer.variables(sources.variables.iter().cloned())?;
        outer.flags(&sources.flags);
        let mut layers = Layers::default();
        let working = sources.folder.join(FILE);
        if working.is_file() {
            layers.file(&working, false)?;
        }
        let extra = outer.get(settings::CONFIG).map(|given| sources.folder.join(&given.text));
        let mut named = Layers::default();
        if let Some(extra) = &extra {
            named.file(extra, false)?;
        }
        let data = [&outer, &named, &layers].into_iter().find_map(|l| l.get(settings::DATA)).map_or_else(
            || settings::find(settings::DATA).and_then(|s| s.default).unwrap_or_default().to_owned(),
            |given| given.text.clone(),
        );
        let data = sources.folder.join(data);
        let own = data.join(FILE);
        // The working folder may be the data folder: one file is then read once.
        if own.is_file() && !same_file(&own, &working) {
            layers.file(&own, true)?;
        }
        if let Some(extra) = &extra {
            layers.file(extra, false)?;
        }
        layers.variables(sources.variables.iter().cloned())?;
        layers.flags(&sources.flags);
        if let Some(given) = layers.get(settings::WP_CONFIG) {
            let path = sources.folder.join(&given.text);
            layers.wp_config(&path, &sources.variables)?;
        }
        let mut config = Self::understand(&layers, &sources.folder, data)?;
        config.unknown_variables = unknown_variables;
        Ok(config)
    }

    fn understand(layers: &Layers, folder: &Path, data: PathBuf) -> Result<Config, ConfigError> {
        let mut read = Reader { layers, shown: Vec::new() };
        let read = &mut read;
        read.show(settings::DATA, data.display().to_string());
        let path = |text: &str| Ok(folder.join(text));
        let trusted_proxies: Vec<Network> = read.required("trusted_proxies", values::list)?;
        Ok(Config {
            wp_config: read.optional(settings::WP_CONFIG, path)?,
            listen: read.required("listen", values::listen)?,
            site_url: read.optional("site_url", str::parse)?,
            database: read
                .optional("database", database)?
                .unwrap_or_else(|| Secret::new(format!("sqlite:{}", data.join("site.db").display()))),
            table_prefix: read.required("table_prefix", values::table_prefix)?,
            staleness: read.required("staleness_seconds", staleness)?,
            readers: read.required("readers", readers)?,
            content_dir: read.optional("content_dir", path)?.unwrap_or_else(|| data.join("content")),
            uploads: bucket(read)?,
            brand: read.required("brand", |text| Brand::new(text).map_err(|e| e.to_string()))?,
            theme: read.optional("theme", |name| match theme::is_folder_name(name) {
                true => Ok(name.to_owned()),
                false => Err("must be the name of a theme's folder".to_owned()),
            })?,
            environment: read.optional("environment", str::parse)?,
            debug: read.required("debug", values::truth)?,
            log: read.required("log", |text| {
                tracing_subscriber::EnvFilter::try_new(text).map(|_| text.to_owned()).map_err(|e| e.to_string())
            })?,
            log_format: read.required("log_format", str::parse)?,
            trusted_proxies: trusted_proxies.clone(),
            limits: Limits {
                body: read.required("limits.body", values::size)?,
                values: read.required("limits.values", values::count)? as usize,
                connections: read.required("limits.connections", values::count)? as usize,
                connections_per_network: read.required("limits.connections_per_network", values::count)? as usize,
                header: read.required("limits.header_seconds", seconds)?,
                idle: read.required("limits.idle_seconds", seconds)?,
                stall: read.required("limits.stall_seconds", seconds)?,
                request: read.required("limits.request_seconds", seconds)?,
                shutdown: read.required("limits.shutdown_seconds", seconds)?,
                trusted: trusted_proxies,
            },
            directory: read.optional("directory", str::parse)?,
            outgoing: Outbound {
                public: read.required("outgoing.public", values::truth)?,
                allow: read.required("outgoing.allow", values::list)?,
            },
            keys: SecretKeys::read(|key| read.optional(key, |text| Ok(Secret::new(text))))?,
            revisions: read.required("revisions", values::all_or_count)?,
            registered: layers.registered.clone(),
            unknown_variables: Vec::new(),
            shown: std::mem::take(&mut read.shown),
            data,
        })
    }

    /// Every setting with its value and origin, secrets hidden, in the order of [`SETTINGS`].
    pub fn shown(&self) -> Vec<Shown> {
        let one = |s: &Setting| {
            let none = || Shown { key: s.key, value: String::new(), origin: Origin::Default };
            self.shown.iter().find(|shown| shown.key == s.key).cloned().unwrap_or_else(none)
        };
        SETTINGS.iter().map(one).collect()
    }

    /// What the site is, given its address: as set, else local when nobody else can reach that address.
    pub fn environment_for(&self, site: &SiteUrl) -> Environment {
        self.environment.unwrap_or(if site.is_loopback() { Environment::Local } else { Environment::Production })
    }
}

/// The bucket for uploads, when one is named.
fn bucket(read: &mut Reader<'_>) -> Result<Option<Bucket>, ConfigError> {
    let text = |text: &str| Ok(text.to_owned());
    let secret = |text: &str| Ok(Secret::new(text));
    let name = read.optional("uploads.bucket", |name| match cfg!(feature = "s3") {
        true => Ok(name.to_owned()),
        false => Err("needs a build with the feature s3".to_owned()),
    })?;
    let (endpoint, region) = (read.optional("uploads.endpoint", text)?, read.required("uploads.region", text)?);
    let prefix = read.required("uploads.prefix", text)?;
    let keys = (read.optional("uploads.access_key", secret)?, read.optional("uploads.secret_key", secret)?);
    let (access_key, secret_key) =
        (keys.0.unwrap_or_else(|| Secret::new("")), keys.1.unwrap_or_else(|| Secret::new("")));
    Ok(name.map(|name| Bucket { name, endpoint, region, prefix, access_key, secret_key }))
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn seconds(text: &str) -> Result<Duration, String> {
    values::count(text).map(Duration::from_secs)
}

/// From nothing to an hour.
fn staleness(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|n| *n <= 3_600);
    seconds.map(Duration::from_secs).ok_or_else(|| "must be a number from 0 to 3600".to_owned())
}

/// A number of connections; zero leaves it to the store.
fn readers(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n <= 1_024).ok_or_else(|| "must be a number from 0 to 1024".to_owned())
}

fn database(text: &str) -> Result<Secret, String> {
    let known = ["sqlite:", "mysql:", "mariadb:"].iter().any(|scheme| text.starts_with(scheme));
    if known { Ok(Secret::new(text)) } else { Err("must begin with sqlite: or mysql:".to_owned()) }
}

/// Takes settings out of the layers, each by the reader of its kind, and notes what it took.
struct Reader<'a> {
    layers: &'a Layers,
    shown: Vec<Shown>,
}

impl Reader<'_> {
    fn optional<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, ConfigError> {
        let setting = settings::find(key).expect("every setting that is read stands in the table");
        let (text, origin) = match (self.layers.get(key), setting.default) {
            (Some(given), _) => (given.text.as_str(), given.origin.clone()),
            (None, Some(default)) => (default, Origin::Default),
            (None, None) => return Ok(None),
        };
        let value = parse(text).map_err(|why| ConfigError::at(&origin, format!("`{key}` {why}")))?;
        let value_shown = if setting.secret { "(secret)".to_owned() } else { text.to_owned() };
        self.shown.push(Shown { key, value: value_shown, origin });
        Ok(Some(value))
    }

    fn required<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, ConfigError> {
        Ok(self.optional(key, parse)?.expect("the table gives this setting a default"))
    }

    fn show(&mut self, key: &'static str, value: String) {
        let origin = self.layers.get(key).map_or(Origin::Default, |given| given.origin.clone());
        self.shown.push(Shown { key, value, origin });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(folder: &Path, variables: &[(&str, &str)], flags: &[(&str, &str)]) -> Sources {
        Sources {
            folder: folder.to_owned(),
            variables: variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            flags: flags.iter().map(|(k, v)| (settings::find(k).unwrap(), (*v).to_owned())).collect(),
        }
    }

    #[test]
    fn defaults_need_no_source() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::load(&sources(dir.path(), &[], &[])).unwrap();
        assert_eq!(config.listen, "127.0.0.1:8080");
        assert_eq!(config.brand, Brand::default());
        assert_eq!(config.database.expose(), format!("sqlite:{}", dir.path().join("svc-data/site.db").display()));
        assert_eq!(config.limits.body, 64 << 20);
        assert!(config.shown().iter().all(|s| s.origin == Origin::Default));
    }

    #[test]
    fn each_layer_overrides_the_one_before() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("d")).unwrap();
        std::fs::write(at(FILE), "data = 'd'\nlisten = 'h:1'\nbrand = 'one'\nlog = 'warn'\ntable_prefix = 'w_'")
            .unwrap();
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
    fn a_value_that_cannot_be_understood_names_its_place() {
        let dir = tempfile::tempdir().unwrap();
        #[rustfmt::skip]
        let rows = [
            ("brand", "No", "SVC_BRAND: `brand` `No` cannot be a brand: use 1 to 20 lower-case letters and digits, beginning with a letter"),
            ("environment", "test", "SVC_ENVIRONMENT: `environment` must be local or production"),
            ("database", "postgres://x", "SVC_DATABASE: `database` must begin with sqlite: or mysql:"),
            ("readers", "many", "SVC_READERS: `readers` must be a number from 0 to 1024"),
            ("limits.connections", "0", "SVC_LIMITS_CONNECTIONS: `limits.connections` must be a number from 1 to 1000000"),
        ];
        for (key, text, message) in rows {
            let variable = settings::find(key).unwrap().variable();
            let error = Config::load(&sources(dir.path(), &[(&variable, text)], &[])).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }

    #[test]
    fn secrets_are_not_shown() {
        let dir = tempfile::tempdir().unwrap();
        let env = [("SVC_DATABASE", "mysql://u:hunter2@h/n"), ("SVC_KEYS_NONCE_KEY", "hunter2")];
        let config = Config::load(&sources(dir.path(), &env, &[])).unwrap();
        assert_eq!(config.keys.get("nonce_key").unwrap().expose(), "hunter2");
        assert!(!format!("{config:?}{:?}", config.shown()).contains("hunter2"));
    }

    #[test]
    fn the_environment_follows_the_address_unless_set() {
        let dir = tempfile::tempdir().unwrap();
        let free = Config::load(&sources(dir.path(), &[], &[])).unwrap();
        let set = Config::load(&sources(dir.path(), &[("SVC_ENVIRONMENT", "production")], &[])).unwrap();
        let (local, public) = ("http://127.0.0.1:1".parse().unwrap(), "http://example.org".parse().unwrap());
        assert_eq!(free.environment_for(&local), Environment::Local);
        assert_eq!(free.environment_for(&public), Environment::Production);
        assert_eq!(set.environment_for(&local), Environment::Production);
    }
}
