#![doc = include_str!("../README.md")]

mod backup;
mod caches;
mod keys;
mod layers;
mod origin;
mod settings;
mod suggest;
mod template;
mod tls;
mod traces;
mod uploads;
mod values;
#[cfg_attr(not(feature = "wordpress"), path = "no_wordpress.rs")]
mod wordpress;
mod wp_config;

use std::{
    hash::{BuildHasher as _, RandomState},
    path::{Path, PathBuf},
    sync::LazyLock,
    time::Duration,
};

use http::HeaderName;
use svc_auth::{Secret, UserVisibility};
use svc_brand::Brand;
use svc_events::{StreamLimits, purge};
use svc_fetch::{Allowed, Guard};
use svc_listen::{AccessLog, ConnectionLimits, Network, RateLimitSettings};
use svc_login::WrongPassword;
use svc_mail::{MailSettings, Sender, SmtpServer, Transport};
use svc_monitoring::MonitoringAddress;
use svc_packages::theme;
use svc_registrations::Registrations;

pub use backup::{BackupConfig, BackupTarget, BucketAccess};
pub use caches::Caches;
pub use keys::{KEY_FILE, SecretKeys};
pub use origin::SettingOrigin;
pub use settings::{SETTINGS, Setting};
pub use template::template;
pub use tls::{CertificateSource, Tls};
pub use traces::Traces;
pub use uploads::{Bucket, Uploads, UploadsUse};
pub use values::{Environment, LogFormat, SiteUrl};
pub use wordpress::WordPress;

pub use backup::target as backup_target;
pub use suggest::did_you_mean;

use layers::Layers;

/// Name of the settings file.
pub const FILE: &str = "svc.toml";

/// An invalid setting, with its origin.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{place}: {what}")]
pub struct ConfigError {
    place: String,
    what: String,
}

impl ConfigError {
    pub(crate) fn at(origin: &SettingOrigin, what: impl Into<String>) -> Self {
        ConfigError { place: origin.to_string(), what: what.into() }
    }
}

/// Images on demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagesConfig {
    /// The sizes that anybody may request: width, and height to crop to or 0.
    pub listed: Vec<(u32, u32)>,
    /// Maximum size of the images on the disk, in bytes.
    pub cache_bytes: u64,
}

/// Limits on outgoing requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outbound {
    /// Whether public IP addresses are allowed.
    pub public: bool,
    /// Private networks and hosts that are allowed as well.
    pub allow: Vec<Allowed>,
}

impl Outbound {
    /// The guard of the HTTP client.
    pub fn guard(&self) -> Guard {
        if self.public { Guard::new(self.allow.clone()) } else { Guard::only(self.allow.clone()) }
    }
}

/// The parsed configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Folder of the database, the uploads and the secret keys.
    pub data: PathBuf,
    /// The `wp-config.php` of the WordPress site that is served.
    pub wp_config: Option<PathBuf>,
    /// Host and port to listen on.
    pub listen: String,
    /// Public URL, if it differs from the one stored in the database.
    pub site_url: Option<SiteUrl>,
    /// URL of the database: `sqlite:FILE` or `mysql://…`. Secret, since it may contain a password.
    pub database: Secret,
    /// URLs of read replicas of the database. Secret, since they may contain passwords.
    pub database_replicas: Vec<Secret>,
    /// How old the data of a replica may be that visitors get.
    pub replica_staleness: Duration,
    /// Prefix of table names.
    pub table_prefix: String,
    /// Maximum age of cached totals of lists, with MySQL.
    pub staleness: Duration,
    /// Number of changes that the log of changes keeps; `None` for the default of the store.
    pub change_log: Option<u32>,
    /// Whether an SQLite database is copied before another version of the program first writes to it.
    pub upgrade_copy: bool,
    /// Number of database connections for reading; zero for the default of the store.
    pub readers: usize,
    /// Memory for caches.
    pub caches: Caches,
    /// Number of posts from which searches use an index; `None` disables it.
    pub search_index_min_posts: Option<u64>,
    /// Folder of uploads, themes and plugins.
    pub content_dir: PathBuf,
    /// Where uploads are.
    pub uploads: Uploads,
    /// Images on demand; `None` if there are none.
    pub images: Option<ImagesConfig>,
    /// The continuous backup.
    pub backup: BackupConfig,
    /// Brand of the REST API.
    pub brand: Brand,
    /// Theme to activate at every start.
    pub theme: Option<String>,
    /// Environment; default: see [`Config::environment_for`].
    pub environment: Option<Environment>,
    /// The response to a request with a wrong application password.
    pub wrong_application_password: WrongPassword,
    /// Whether the `Link` to the API root is appended to the links of an API response.
    pub append_root_link: bool,
    /// Roles whose users must set up two-factor log-in.
    pub two_factor_roles: Vec<String>,
    /// Whether changes to existing objects over the REST API require a precondition.
    pub require_preconditions: bool,
    /// Maximum number of requests in a batch.
    pub batch_requests: usize,
    /// The users that are shown to those who are not logged in.
    pub users: UserVisibility,
    /// Whether posts and terms have the languages of the plugin Polylang, if the site has any.
    pub languages: bool,
    /// The menu locations whose menus visitors may read.
    pub public_menus: Vec<String>,
    /// The names of the settings that visitors may read.
    pub public_settings: Vec<String>,
    /// The origins whose scripts may read responses of the REST API; `None` for all.
    pub cors_origins: Option<Vec<String>>,
    /// Time in seconds for which responses of the REST API to requests without credentials may be cached outside.
    pub api_max_age: Option<u32>,
    /// Time in seconds for which caches in front of the server may keep responses to requests without credentials.
    pub shared_max_age: Option<u32>,
    /// Time in seconds for which a cache may use an expired response while it requests a new one.
    pub stale_while_revalidate: Option<u32>,
    /// The header with what a response depends on.
    pub cache_tags: Option<HeaderName>,
    /// The caches that are told of changes.
    pub purge: Option<purge::Receiver>,
    /// Whether the administration area is served.
    pub admin: bool,
    /// Whether the API explorer is served; default: in the local environment only.
    pub explorer: Option<bool>,
    /// Whether developer notices are sent as response headers.
    pub debug: bool,
    /// Log filter.
    pub log: String,
    /// Log format.
    pub log_format: LogFormat,
    /// Log lines of requests.
    pub access_log: AccessLog,
    /// Time from which on a request is logged as slow.
    pub slow_request: Option<Duration>,
    /// The traces that are exported, if any are.
    pub traces: Option<Traces>,
    /// How mails are sent; `None` if none are.
    pub mail: Option<MailSettings>,
    /// Address of the monitoring listener.
    pub monitoring: Option<MonitoringAddress>,
    /// TLS of the server itself.
    pub tls: Option<Tls>,
    /// Time in seconds of `Strict-Transport-Security`.
    pub hsts: Option<u32>,
    /// Limits on requests and connections, and the trusted proxies.
    pub limits: ConnectionLimits,
    /// Limits on the rate of requests.
    pub rate_limits: RateLimitSettings,
    /// Time before shutdown in which the server is not ready and still accepts requests.
    pub drain: Duration,
    /// Limits on clients that follow the changes of the site as a stream of events. Their network is an IPv4 address, or an IPv6 /64.
    pub subscribers: StreamLimits,
    /// Maximum number of values in a JSON body, including nested ones.
    pub json_values: usize,
    /// URL of a plugin directory.
    pub directory: Option<SiteUrl>,
    /// URL of a front end's page for previews, with placeholders.
    pub preview_url: Option<String>,
    /// Limits on outgoing requests.
    pub outgoing: Outbound,
    /// The running WordPress behind this server.
    pub wordpress: Option<WordPress>,
    /// Secrets that sign cookies and nonces. Missing ones are read from [`KEY_FILE`] in the data folder.
    pub keys: SecretKeys,
    /// Maximum number of revisions per post; `None` for no limit.
    pub revisions: Option<u64>,
    /// Post types, taxonomies, meta and settings from the files.
    pub registered: Registrations,
    /// Unknown environment variables with our prefix; probably misspelt.
    pub unknown_variables: Vec<String>,
    shown: Vec<Shown>,
}

/// A setting for display: see [`Config::shown`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The setting's key.
    pub key: &'static str,
    /// The value, or `(secret)`; empty if it is not set. In the URL of the database only the password is hidden.
    pub value: String,
    /// The origin of the value.
    pub origin: SettingOrigin,
    /// Hash of the value, to notice that a secret has changed. Differs between processes.
    pub hash: u64,
}

/// Sources of settings. [`Sources::of_process`] returns those of this process.
#[derive(Debug, Default)]
pub struct Sources {
    /// Working folder: contains `svc.toml`, and resolves relative paths.
    pub folder: PathBuf,
    /// Environment variables.
    pub variables: Vec<(String, String)>,
    /// Command-line flags.
    pub flags: Vec<(&'static Setting, String)>,
}

impl Sources {
    /// The working folder, the process's environment and these flags.
    pub fn of_process(flags: Vec<(&'static Setting, String)>) -> Self {
        // Variables that are not UTF-8 are not settings.
        let variables = std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)));
        Sources { folder: PathBuf::new(), variables: variables.collect(), flags }
    }
}

impl Config {
    /// Reads, merges and parses the sources.
    ///
    /// # Errors
    /// On an unknown key, an invalid value or an unreadable file. The error names the file and line, the variable or the flag.
    pub fn load(sources: &Sources) -> Result<Config, ConfigError> {
        // The locations of files are settings, too: flags, variables or, for the data folder, settings of earlier files.
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
        // If the working folder is the data folder, its file is read once.
        if own.is_file() && !same_file(&own, &working) {
            layers.file(&own, true)?;
        }
        if let Some(extra) = &extra {
            layers.file(extra, false)?;
        }
        layers.variables(sources.variables.iter().cloned())?;
        layers.flags(&sources.flags);
        if let Some(given) = layers.get(settings::WP_CONFIG) {
            let path = wp_config::file(&sources.folder, &given.text);
            layers.wp_config(&path, &sources.variables)?;
        }
        let mut config = Self::parse(&layers, &sources.folder, data)?;
        config.unknown_variables = unknown_variables;
        Ok(config)
    }

    fn parse(layers: &Layers, folder: &Path, data: PathBuf) -> Result<Config, ConfigError> {
        let mut read = Reader { layers, shown: Vec::new() };
        let read = &mut read;
        read.show(settings::DATA, data.display().to_string());
        let path = |text: &str| Ok(folder.join(text));
        let trusted: Vec<Network> = read.required("trusted_proxies", values::list)?;
        let listen = read.required("listen", values::listen)?;
        let wp_config = read.optional(settings::WP_CONFIG, |text| Ok(wp_config::file(folder, text)))?;
        let brand: Brand = read.required("brand", |text| Brand::new(text).map_err(|e| e.to_string()))?;
        let wordpress = wordpress::read(read, &listen, wp_config.is_some(), brand == Brand::original())?;
        let database = read.optional("database", database)?;
        let caches = Caches::divide(read.required("cache_size", values::size)?);
        Ok(Config {
            two_factor_roles: two_factor_roles(read, wordpress.is_some())?,
            wp_config,
            listen,
            wordpress,
            site_url: read.optional("site_url", str::parse)?,
            database: database.unwrap_or_else(|| Secret::new(format!("sqlite:{}", data.join("site.db").display()))),
            database_replicas: read.required("database_replicas", replicas)?,
            replica_staleness: read.required("replica_staleness", values::time)?,
            table_prefix: read.required("table_prefix", values::table_prefix)?,
            staleness: read.required("staleness_seconds", staleness)?,
            change_log: read.optional("change_log", change_log)?,
            upgrade_copy: read.required("upgrade_copy", values::boolean)?,
            readers: read.required("readers", readers)?,
            caches,
            search_index_min_posts: read.required("search_index_min_posts", min_posts)?,
            content_dir: read.optional("content_dir", path)?.unwrap_or_else(|| data.join("content")),
            uploads: uploads::read(read)?,
            images: images(read)?,
            backup: backup::read(read, folder)?,
            brand,
            theme: read.optional("theme", |name| match theme::is_folder_name(name) {
                true => Ok(name.to_owned()),
                false => Err("must be the name of a theme's folder".to_owned()),
            })?,
            environment: read.optional("environment", str::parse)?,
            wrong_application_password: read.required("wrong_application_password", values::wrong_password)?,
            append_root_link: read.required("append_root_link", values::boolean)?,
            require_preconditions: read.required("require_preconditions", values::boolean)?,
            batch_requests: read.required("batch_requests", batch_requests)?,
            users: read.required("users", str::parse)?,
            languages: read.required("languages", values::boolean)?,
            public_menus: read.required("public_menus", values::texts)?,
            public_settings: read.required("public_settings", values::texts)?,
            cors_origins: read.optional("cors_origins", values::origins)?,
            api_max_age: read.optional("api_max_age", whole_seconds)?,
            shared_max_age: read.optional("shared_max_age", whole_seconds)?,
            stale_while_revalidate: read.optional("stale_while_revalidate", whole_seconds)?,
            cache_tags: read.optional("cache_tags", values::header_name)?,
            purge: purge(read)?,
            admin: read.required("admin", values::boolean)?,
            explorer: read.optional("explorer", values::boolean)?,
            debug: read.required("debug", values::boolean)?,
            log: read.required("log", values::log_filter)?,
            log_format: read.required("log_format", str::parse)?,
            access_log: AccessLog::sampled(read.required("log_sample", values::count)?),
            slow_request: read.optional("slow_request", values::time)?,
            traces: traces::read(read)?,
            mail: mail(read, folder)?,
            monitoring: read.optional("monitoring.listen", str::parse)?,
            tls: tls::read(read, folder)?,
            hsts: read.optional("tls.hsts_seconds", |text| {
                text.parse().map_err(|_| "must be a number of seconds".to_owned())
            })?,
            limits: ConnectionLimits {
                body: read.required("limits.body", values::size)?,
                connections: read.required("limits.connections", values::count)? as usize,
                connections_per_network: read.required("limits.connections_per_network", values::count)? as usize,
                header: read.required("limits.header_seconds", seconds)?,
                idle: read.required("limits.idle_seconds", seconds)?,
                stall: read.required("limits.stall_seconds", seconds)?,
                request: read.required("limits.request_seconds", seconds)?,
                shutdown: read.required("limits.shutdown_seconds", seconds)?,
                trusted,
            },
            rate_limits: RateLimitSettings {
                network: read.optional("rate_limits.network", str::parse)?,
                user: read.optional("rate_limits.user", str::parse)?,
                token: read.optional("rate_limits.token", str::parse)?,
                exempt: read.required("rate_limits.exempt", values::list)?,
            },
            drain: read.required("limits.drain_seconds", drain)?,
            subscribers: StreamLimits {
                all: read.required("limits.subscribers", values::count)? as usize,
                per_network: read.required("limits.subscribers_per_network", values::count)? as usize,
            },
            json_values: read.required("limits.values", values::count)? as usize,
            directory: read.optional("directory", str::parse)?,
            preview_url: read.optional("preview_url", values::preview_url)?,
            outgoing: Outbound {
                public: read.required("outgoing.public", values::boolean)?,
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
            let none = || Shown { key: s.key, value: String::new(), origin: SettingOrigin::Default, hash: 0 };
            self.shown.iter().find(|shown| shown.key == s.key).cloned().unwrap_or_else(none)
        };
        SETTINGS.iter().map(one).collect()
    }

    /// One message for each environment variable with our prefix that is not a setting, and for each setting without effect.
    pub fn warnings(&self) -> Vec<String> {
        let message = |name: &String| {
            let known = SETTINGS.iter().map(Setting::variable);
            format!("the environment variable {name} is not a setting{}", did_you_mean(name, known))
        };
        let mut all: Vec<String> = self.unknown_variables.iter().map(message).collect();
        if self.backup.to.is_some() && self.wordpress.is_some() {
            all.push("`backup.to` has no effect with `wordpress.upstream`: WordPress has the database".to_owned());
        } else if self.backup.to.is_some() && !self.database.expose().starts_with("sqlite:") {
            all.push("`backup.to` has no effect: only SQLite databases are backed up continuously".to_owned());
        }
        if self.explorer == Some(true) && self.wordpress.is_some() {
            all.push("`explorer` has no effect with `wordpress.upstream`: WordPress has its paths".to_owned());
        }
        if self.mail.is_some() && self.wordpress.is_some() {
            all.push("`mail` has no effect with `wordpress.upstream`: WordPress sends its mails".to_owned());
        }
        if self.purge.is_some() && self.wordpress.is_some() {
            all.push("`purge.service` has no effect with `wordpress.upstream`: responses have no tags".to_owned());
        }
        let needed = [("`cache_tags`", self.cache_tags.is_some()), ("`purge.service`", self.purge.is_some())];
        let missing: Vec<&str> = needed.iter().filter(|(_, is_set)| !is_set).map(|(name, _)| *name).collect();
        if self.shared_max_age.is_some() && !missing.is_empty() {
            let missing = missing.join(" and ");
            all.push(format!("`shared_max_age` without {missing}: caches keep responses that have changed"));
        }
        all
    }

    /// The environment of a site with this URL: the setting, or else local if only this machine can reach the URL.
    pub fn environment_for(&self, site: &SiteUrl) -> Environment {
        self.environment.unwrap_or(if site.is_loopback() { Environment::Local } else { Environment::Production })
    }
}

/// The settings of mail, if they are set: a sender, and either a mail server or a program.
fn mail(read: &mut Reader<'_>, folder: &Path) -> Result<Option<MailSettings>, ConfigError> {
    let from: Option<Sender> = read.optional("mail.from", str::parse)?;
    let smtp: Option<SmtpServer> = read.optional("mail.smtp", str::parse)?;
    let sendmail = read.optional("mail.sendmail", |text| Ok(folder.join(text)))?;
    let error = |key: &'static str, what: &str| Err(read.error(key, what));
    let transport = match (smtp, sendmail) {
        (Some(_), Some(_)) => return error("mail.sendmail", "cannot be set together with `mail.smtp`"),
        (Some(server), None) => Transport::Smtp(server),
        (None, Some(program)) => Transport::Sendmail(program),
        (None, None) if from.is_some() => return error("mail.from", "requires `mail.smtp` or `mail.sendmail`"),
        (None, None) => return Ok(None),
    };
    let key = if matches!(transport, Transport::Smtp(_)) { "mail.smtp" } else { "mail.sendmail" };
    match from {
        Some(from) => Ok(Some(MailSettings { from, transport })),
        None => error(key, "requires `mail.from`"),
    }
}

/// The caches that are told of changes, if there are any.
fn purge(read: &mut Reader<'_>) -> Result<Option<purge::Receiver>, ConfigError> {
    let text = |text: &str| Ok(text.to_owned());
    let service: Option<purge::Service> = read.optional("purge.service", str::parse)?;
    let settings = purge::Settings {
        urls: read.required("purge.url", values::texts)?,
        id: read.optional("purge.id", text)?,
        token: read.optional("purge.token", |text| Ok(Secret::new(text)))?,
        method: read.optional("purge.method", text)?,
        headers: read.required("purge.headers", values::headers)?,
        body: read.optional("purge.body", text)?,
    };
    let Some(service) = service else { return Ok(None) };
    purge::Receiver::new(service, settings).map(Some).map_err(|purge::Invalid(key, what)| {
        let given = read.layers.get(key).or_else(|| read.layers.get("purge.service"));
        let origin = given.map_or(SettingOrigin::Default, |given| given.origin.clone());
        ConfigError::at(&origin, format!("`{key}` {what}"))
    })
}

/// Images on demand, if they are enabled.
fn images(read: &mut Reader<'_>) -> Result<Option<ImagesConfig>, ConfigError> {
    let is_enabled = read.required("images.on_demand", values::boolean)?;
    let listed = read.required("images.sizes", values::image_sizes)?;
    let cache_bytes = read.required("images.cache_size", values::size)?;
    Ok(is_enabled.then_some(ImagesConfig { listed, cache_bytes }))
}

/// The name of a bucket, which a build without object stores refuses.
fn bucket_name(name: &str, is_supported: bool) -> Result<String, String> {
    if is_supported {
        return Ok(name.to_owned());
    }
    Err("requires a build with the feature s3: `cargo build --release -p svc-server --features s3`".to_owned())
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn whole_seconds(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "must be a number of seconds".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    values::count(text).map(Duration::from_secs)
}

/// Seconds, from 0 to ten minutes.
fn drain(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|n| *n <= 600);
    seconds.map(Duration::from_secs).ok_or_else(|| "must be a number from 0 to 600".to_owned())
}

/// Seconds, from 0 to an hour.
fn staleness(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|n| *n <= 3_600);
    seconds.map(Duration::from_secs).ok_or_else(|| "must be a number from 0 to 3600".to_owned())
}

/// A number of changes, from ten thousand to ten million: the search index must not lose its place while it is built.
fn change_log(text: &str) -> Result<u32, String> {
    let n = text.parse().ok().filter(|n| (10_000..=10_000_000).contains(n));
    n.ok_or_else(|| "must be a number from 10000 to 10000000".to_owned())
}

/// A number of requests in a batch.
fn batch_requests(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=500).contains(n)).ok_or_else(|| "must be a number from 1 to 500".to_owned())
}

/// A number of connections; zero for the default of the store.
fn readers(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n <= 1_024).ok_or_else(|| "must be a number from 0 to 1024".to_owned())
}

/// A number of posts; `None` for zero.
fn min_posts(text: &str) -> Result<Option<u64>, String> {
    let n: u64 = text.parse().map_err(|_| "must be a number of posts, or 0".to_owned())?;
    Ok(Some(n).filter(|n| *n > 0))
}

/// URLs of replicas, at most 16.
fn replicas(text: &str) -> Result<Vec<Secret>, String> {
    let urls: Vec<&str> = text.split(',').map(str::trim).filter(|url| !url.is_empty()).collect();
    let is_server = |url: &&str| ["mysql://", "mariadb://"].iter().any(|scheme| url.starts_with(scheme));
    if urls.len() > 16 || !urls.iter().all(is_server) {
        return Err("must be at most 16 URLs that start with mysql:// or mariadb://".to_owned());
    }
    Ok(urls.into_iter().map(Secret::new).collect())
}

fn database(text: &str) -> Result<Secret, String> {
    let known = ["sqlite:", "mysql:", "mariadb:"].iter().any(|scheme| text.starts_with(scheme));
    if known { Ok(Secret::new(text)) } else { Err("must start with sqlite: or mysql:".to_owned()) }
}

/// Parses settings and records them for [`Config::shown`].
struct Reader<'a> {
    layers: &'a Layers,
    shown: Vec<Shown>,
}

/// Hash of a value with a key of this process.
fn hash(value: &str) -> u64 {
    static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEY.hash_one(value)
}

impl Reader<'_> {
    fn optional<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>, ConfigError> {
        let setting = settings::find(key).expect("every setting is in the table");
        let (text, origin) = match (self.layers.get(key), setting.default) {
            (Some(given), _) => (given.text.as_str(), given.origin.clone()),
            (None, Some(default)) => (default, SettingOrigin::Default),
            (None, None) => return Ok(None),
        };
        let value = parse(text).map_err(|why| ConfigError::at(&origin, format!("`{key}` {why}")))?;
        let value_shown = match setting.secret {
            true if key == "database" => values::without_password(text),
            true => "(secret)".to_owned(),
            false => text.to_owned(),
        };
        self.shown.push(Shown { key, value: value_shown, origin, hash: hash(text) });
        Ok(Some(value))
    }

    fn required<T>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<T, ConfigError> {
        Ok(self.optional(key, parse)?.expect("the setting has a default"))
    }

    /// An error about a setting that does not fit the others.
    fn error(&self, key: &'static str, what: &str) -> ConfigError {
        let origin = self.layers.get(key).map_or(SettingOrigin::Default, |given| given.origin.clone());
        ConfigError::at(&origin, format!("`{key}` {what}"))
    }

    fn show(&mut self, key: &'static str, value: String) {
        let origin = self.layers.get(key).map_or(SettingOrigin::Default, |given| given.origin.clone());
        self.shown.push(Shown { key, hash: hash(&value), value, origin });
    }
}

/// The roles whose users must set up two-factor log-in. In front of a WordPress, which has a log-in of its own, nobody could.
fn two_factor_roles(read: &mut Reader<'_>, has_wordpress: bool) -> Result<Vec<String>, ConfigError> {
    const KEY: &str = "two_factor_roles";
    let roles = read.required(KEY, values::texts)?;
    match read.layers.get(KEY) {
        Some(given) if has_wordpress && !roles.is_empty() => Err(ConfigError::at(
            &given.origin,
            format!("`{KEY}` has no effect with `wordpress.upstream`, which has its own log-in"),
        )),
        _ => Ok(roles),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_without_object_stores_names_the_command_for_one_with_them() {
        assert_eq!(bucket_name("media", true).as_deref(), Ok("media"));
        let message = bucket_name("media", false).unwrap_err();
        let command = message.split('`').nth(1).unwrap();
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words, ["cargo", "build", "--release", "-p", "svc-server", "--features", "s3"]);
        let manifest = include_str!("../../svc-server/Cargo.toml");
        assert!(manifest.lines().any(|line| line.starts_with("s3 = [")), "the feature exists");
    }
}
