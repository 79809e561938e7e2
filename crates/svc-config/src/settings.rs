//! The table of settings. The flag, the environment variable and the key in `svc.toml` derive from a setting's name.

/// A setting.
#[derive(Debug)]
pub struct Setting {
    /// Key in `svc.toml`. A dot separates a table: `limits.body` is `body` in `[limits]`.
    pub key: &'static str,
    /// Placeholder of the value in help texts.
    pub metavar: &'static str,
    /// Default value; `None` if it depends on other settings, as the help describes.
    pub default: Option<&'static str>,
    /// Help text, one line.
    pub help: &'static str,
    /// Whether the value is hidden in logs and in the list of settings.
    pub secret: bool,
    /// Whether the value is a path. A relative path in a file is relative to the folder of that file.
    pub path: bool,
}

impl Setting {
    /// Name of the command-line flag without dashes: `limits.body` gives `limits-body`.
    pub fn flag(&self) -> String {
        self.key.replace(['.', '_'], "-")
    }

    /// Name of the environment variable: `limits.body` gives `SVC_LIMITS_BODY`.
    pub fn variable(&self) -> String {
        variable_of(self.key)
    }
}

/// Prefix of environment variables. It does not depend on the brand.
pub(super) const VARIABLE_PREFIX: &str = "SVC_";

/// Suffix of a key or variable that names a file with a secret.
pub(super) const FILE_SUFFIX: &str = "_file";

/// Key of a further settings file; cannot be set in a file.
pub(super) const CONFIG: &str = "config";

/// Key of a `wp-config.php`. All other sources take precedence over its settings.
pub(super) const WP_CONFIG: &str = "wp_config";

/// Key of the data folder; cannot be set in that folder's own file.
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
    path(CONFIG, "FILE", None, "Settings file, read after ./svc.toml and DIR/svc.toml"),
    path(WP_CONFIG, "FILE", None, "The wp-config.php of a WordPress site: sets database, keys, content folder and URL; the default brand is then `wp`"),
    row("listen", "ADDR:PORT", Some("127.0.0.1:8080"), "Address to listen on; port 0 selects a free one"),
    row("site_url", "URL", None, "Public URL of the site [default: the one stored in the database]"),
    Setting { secret: true, ..row("database", "URL", None, "sqlite:FILE or mysql://USER:PASSWORD@HOST/NAME [default: site.db in the data folder]") },
    Setting { secret: true, ..row("database_replicas", "LIST", Some(""), "Comma-separated URLs of read replicas of the MariaDB database, mysql://USER:PASSWORD@HOST/NAME, which replicate with GTIDs and are read_only; they answer reads that they are current enough for") },
    row("replica_staleness", "TIME", Some("1s"), "How old the data of a replica may be that visitors get; callers who are logged in get current data"),
    row("table_prefix", "PREFIX", Some("wp_"), "Prefix of table names"),
    row("staleness_seconds", "N", Some("0"), "Maximum age of cached totals of lists if other programs write to the MySQL database; permissions always use current data"),
    row("change_log", "N", None, "Number of changes to keep in the table svc_changes, by which `changes` shows who changed what; a MySQL database gets the table only if this is set [default: 100000 with SQLite]"),
    row("upgrade_copy", "BOOL", Some("true"), "Copy an SQLite database to the folder before-upgrade of the data folder before another version of the program first writes to it; the last two copies are kept"),
    row("readers", "N", Some("0"), "Number of database connections for reading; 0 chooses by the number of processors (SQLite: 3/2 and one more; MySQL: four per processor, 8 to 64)"),
    row("cache_size", "SIZE", Some("64MB"), "Memory for caches: responses, encoded items, rendered texts, compressed responses, and pages of an SQLite database"),
    row("search_index_min_posts", "N", Some("1000"), "Number of posts from which searches use an index in the data folder; 0 disables the index"),
    path("content_dir", "DIR", None, "Folder of uploads, themes and plugins [default: content in the data folder]"),
    row("uploads.use", "WHERE", None, "Where uploads are: folder, bucket, or bucket,folder or folder,bucket while they are moved: new ones are stored in the first, and found in both [default: bucket if one is set, otherwise folder]"),
    row("uploads.bucket", "NAME", None, "Bucket of an S3-compatible store for uploads; requires a build with the feature s3 [default: uploads in the content folder]"),
    row("uploads.endpoint", "URL", None, "URL of the S3-compatible store [default: AWS]"),
    row("uploads.region", "NAME", Some("us-east-1"), "Region of the bucket"),
    row("uploads.prefix", "PATH", Some(""), "Prefix of object keys in the bucket"),
    Setting { secret: true, ..row("uploads.access_key", "NAME", None, "Access key ID of the bucket") },
    Setting { secret: true, ..row("uploads.secret_key", "SECRET", None, "Secret access key of the bucket") },
    row("images.on_demand", "BOOL", Some("true"), "Make images in other sizes and formats when they are requested: /svc-json/svc/v2/images/ID?w=640"),
    row("images.sizes", "LIST", Some("320,480,640,800,960,1280,1600,1920,2560"), "Comma-separated sizes that anybody may request: widths, and widths with heights to crop to, such as 1200x630; the URLs of other sizes must be signed"),
    row("images.cache_size", "SIZE", Some("512MB"), "Disk space for images that were made, in the folder image-cache of the data folder; those that were used least recently are deleted"),
    row("backup.to", "WHERE", None, "Folder, or s3://BUCKET/PREFIX with a build with the feature s3, to which every change of an SQLite database and the files are copied while the server runs; one for each site [default: none]"),
    row("backup.interval", "TIME", Some("250ms"), "How often changes are copied"),
    row("backup.snapshot_interval", "TIME", Some("24h"), "How often the whole database is copied"),
    row("backup.retention", "TIME", Some("7d"), "How far back every point in time can be restored"),
    row("backup.max_log", "SIZE", Some("1GB"), "Size that the write-ahead log may reach while the destination does not work; then the backup begins anew"),
    row("backup.recipients", "KEYS", None, "Comma-separated public keys of age (age1…), which encrypt the backup; requires a build with the feature age [default: not encrypted]"),
    row("backup.endpoint", "URL", None, "URL of the S3-compatible store of the backup [default: AWS]"),
    row("backup.region", "NAME", Some("us-east-1"), "Region of the backup's bucket"),
    Setting { secret: true, ..row("backup.access_key", "NAME", None, "Access key ID of the backup's bucket") },
    Setting { secret: true, ..row("backup.secret_key", "SECRET", None, "Secret access key of the backup's bucket") },
    row("brand", "WORD", Some("svc"), "URL prefix, namespaces and header names of the REST API; `wp` supports unmodified WordPress clients"),
    row("theme", "NAME", None, "Theme to activate at every start [default: the one stored in the database]"),
    row("environment", "KIND", None, "local or production; in production, application passwords are accepted in requests over TLS only: that of this server, or as a trusted proxy reports [default: local if the site's URL is a loopback address]"),
    row("wrong_application_password", "WHAT", Some("error"), "Response to a request with a wrong application password: error (401), or anonymous (that of an anonymous caller, as in WordPress)"),
    row("append_root_link", "BOOL", Some("true"), "Append the Link to the API root to the links of an API response; false: only responses without links of their own have it, as in WordPress"),
    row("two_factor_roles", "LIST", Some(""), "Comma-separated roles whose users must set up two-factor log-in, such as administrator,editor"),
    row("revisions", "N", Some("all"), "Number of revisions to store per post: all, or a number"),
    row("require_preconditions", "BOOL", Some("false"), "Reject changes to existing objects over the REST API without If-Match or If-Unmodified-Since (428)"),
    row("batch_requests", "N", Some("25"), "Maximum number of requests in a batch, up to 500"),
    row("users", "WHOM", Some("authors"), "Users that are shown to those who are not logged in: public (all), authors (those with published posts, as in WordPress) or private (none, also not as authors)"),
    row("languages", "BOOL", Some("true"), "On a site with the plugin Polylang, or with its data: languages and translations in the REST API"),
    row("public_menus", "LIST", Some(""), "Comma-separated menu locations whose menus visitors may read in the REST API, such as primary"),
    row("public_settings", "LIST", Some(""), "Comma-separated settings that visitors may read in the REST API, such as title,description,site_icon"),
    row("cors_origins", "LIST", None, "Comma-separated origins whose scripts may read responses of the REST API, such as https://front.example; empty for none [default: all, as in WordPress]"),
    row("api_max_age", "SECONDS", None, "Time for which browsers and proxies may cache responses of the REST API to requests without credentials [default: no Cache-Control, as in WordPress]"),
    row("shared_max_age", "SECONDS", None, "Time for which caches in front of the server (Varnish, a CDN) may keep responses of the REST API and pages for visitors; set cache_tags and purge.service as well, so that changes remove them [default: none]"),
    row("stale_while_revalidate", "SECONDS", None, "Time for which a cache may use a response that has expired while it requests a new one [default: none]"),
    row("cache_tags", "HEADER", None, "Header with what a response depends on, for caches that purge by tags: xkey (Varnish), Surrogate-Key (Fastly), Cache-Tag (Cloudflare) or another one; names with Cache-Tag separate tags by commas, others by spaces [default: none]"),
    row("purge.service", "KIND", None, "Cache that is told of changes: varnish, fastly, cloudflare, nginx (everything is purged) or custom; with MySQL, change_log is required [default: none]"),
    row("purge.url", "LIST", Some(""), "Comma-separated URLs that are requested to purge, one per cache; known for Fastly and Cloudflare"),
    row("purge.id", "ID", None, "ID of the service (Fastly) or of the zone (Cloudflare)"),
    Setting { secret: true, ..row("purge.token", "SECRET", None, "Token of the API of Fastly or Cloudflare, or a bearer token for Varnish") },
    row("purge.method", "METHOD", None, "Method of the requests to a custom cache [default: PURGE]"),
    Setting { secret: true, ..row("purge.headers", "LIST", Some(""), "Headers of the requests to a custom cache, as `Name: value`, with {tags} (separated by spaces), {tags:comma}, {tags:json} and {token}") },
    row("purge.body", "TEXT", None, "Body of the requests to a custom cache, with the same placeholders"),
    row("admin", "BOOL", Some("true"), "Serve the administration area at /wp-admin/, where posts are written"),
    row("explorer", "BOOL", None, "Serve the API explorer at /svc-explorer/ [default: true if the environment is local]"),
    row("debug", "BOOL", Some("false"), "Send developer notices as response headers"),
    row("log", "FILTER", Some("info"), "Log level (error, warn, info, debug, trace), or a filter such as svc_http=debug,warn"),
    row("log_format", "FORMAT", Some("text"), "Log format: text or json"),
    row("log_sample", "N", Some("1"), "Log one in N successful requests; failed requests are always logged"),
    row("slow_request", "TIME", None, "Log requests that take at least this long, such as 500ms or 2s, with their slowest statements, whose values are hidden [default: none]"),
    row("traces.endpoint", "URL", None, "URL of an OpenTelemetry collector that gets traces of requests by OTLP over HTTP, such as http://127.0.0.1:4318; requires a build with the feature otlp [default: none]"),
    row("traces.percent", "N", Some("10"), "Percentage of the requests that are traced, from 0 to 100, such as 0.5"),
    row("traces.follow_proxy", "BOOL", Some("false"), "Trace the requests that a trusted proxy traces, by the flag in its traceparent, and of those with this header no others; the proxy must not pass on the header of clients"),
    row("traces.service_name", "NAME", Some("svc-server"), "Name of the service in traces"),
    Setting { secret: true, ..row("traces.headers", "LIST", Some(""), "Headers of the requests to the collector, as `Name: value`, such as one with a token") },
    row("trusted_proxies", "LIST", Some(""), "Comma-separated IP addresses or networks whose forwarding headers are trusted"),
    row("mail.from", "ADDRESS", None, "Sender of the site's mails, such as `Our Site <site@example.org>`; requires mail.smtp or mail.sendmail [default: no mail is sent]"),
    Setting { secret: true, ..row("mail.smtp", "URL", None, "Mail server, as smtp://USER:PASSWORD@HOST or smtps://USER:PASSWORD@HOST; without user and password if it needs none. With smtp, STARTTLS is used, on other machines; ?tls=none and ?tls=required change that") },
    path("mail.sendmail", "FILE", None, "Program that sends the mails instead of a mail server, such as /usr/sbin/sendmail"),
    row("monitoring.listen", "ADDR:PORT", None, "Address of the monitoring listener, with health checks and metrics: a port, 127.0.0.1:9090 or unix:/PATH [default: none]"),
    path("tls.certificate", "FILE", None, "Certificate with those of the intermediate authorities, in PEM: the server then requires TLS at its listening address. Read again when the file changes"),
    path("tls.key", "FILE", None, "Private key of the certificate, in PEM"),
    row("tls.acme", "LIST", None, "Comma-separated host names, for which the server gets and renews a certificate by ACME, instead of tls.certificate; requires that the authority reaches this server at port 443 of each. Setting it accepts the terms of the authority [default: none]"),
    row("tls.acme_contact", "ADDRESS", None, "Email address for the authority's account [default: none]"),
    row("tls.acme_directory", "URL", None, "Directory of the ACME authority [default: that of Let's Encrypt]"),
    path("tls.acme_root", "FILE", None, "Certificate of the authority that issued the one of the directory's host, in PEM [default: the public authorities]"),
    row("tls.redirect", "ADDR:PORT", None, "Address of a second listener, which redirects from HTTP to HTTPS, such as 0.0.0.0:80 [default: none]"),
    row("tls.hsts_seconds", "N", None, "Time for which browsers shall use HTTPS only (Strict-Transport-Security), in responses over TLS [default: the header is not sent]"),
    row("rate_limits.network", "RATE", None, "Maximum rate of requests per client address (IPv6: /64), such as 600/minute; a write counts as 5, a search as 10, a cached response or a file as a tenth [default: no limit]"),
    row("rate_limits.user", "RATE", None, "Maximum rate of requests of a user over the REST API, with all application passwords and sessions [default: no limit]"),
    row("rate_limits.token", "RATE", None, "Maximum rate of requests with an application password [default: no limit]"),
    row("rate_limits.exempt", "LIST", Some(""), "Comma-separated IP addresses or networks whose requests are not limited"),
    row("limits.body", "SIZE", Some("64MB"), "Maximum size of a request body"),
    row("limits.values", "N", Some("100000"), "Maximum number of values in a JSON body, including nested ones"),
    row("limits.connections", "N", Some("1024"), "Maximum number of connections; a new one then replaces the one that has been idle for longest"),
    row("limits.connections_per_network", "N", Some("256"), "Maximum number of connections per client address (IPv6: /64), except trusted proxies"),
    row("limits.subscribers", "N", Some("512"), "Maximum number of clients that follow the changes of the site as a stream of events; each of them has a connection"),
    row("limits.subscribers_per_network", "N", Some("32"), "Maximum number of such clients per client address (IPv6: /64)"),
    row("limits.header_seconds", "N", Some("10"), "Time limit for the first request of a connection, and for the head of each further one"),
    row("limits.idle_seconds", "N", Some("75"), "Time after which a connection without a request is closed"),
    row("limits.stall_seconds", "N", Some("20"), "Maximum time that a client may be behind a rate of 1000 bytes per second"),
    row("limits.request_seconds", "N", Some("60"), "Time limit for a response"),
    row("limits.drain_seconds", "N", Some("0"), "Time before shutdown in which /readyz responds with 503 while requests are still accepted, so that load balancers notice"),
    row("limits.shutdown_seconds", "N", Some("10"), "Time limit for requests in progress on shutdown"),
    row("directory", "URL", None, "URL of a directory of plugins and patterns with the API of WordPress.org [default: none]"),
    row("preview_url", "URL", None, "URL of the front end's page that shows preview links, with {token}, {id} and {type} [default: the page of the site]"),
    row("outgoing.public", "BOOL", Some("true"), "Allow requests to public IP addresses: link previews, embeds, feeds, the directory"),
    row("outgoing.allow", "LIST", Some(""), "Comma-separated private networks, or hosts with ports, to which requests are allowed as well"),
    row("wordpress.upstream", "URL", None, "The WordPress behind this server, as http://HOST:PORT of its web server, or fastcgi:/PATH or fastcgi://HOST:PORT of php-fpm; this server replays its responses [default: none]"),
    row("wordpress.root", "PATH", None, "Folder of index.php, if the upstream is php-fpm [default: the folder of wp_config]"),
    row("wordpress.files", "LIST", Some(""), "Comma-separated folders outside of the root with files of the site, if the upstream is php-fpm: /srv/uploads, or /protected=/srv/files for X-Accel-Redirect"),
    row("wordpress.pages", "BOOL", Some("false"), "Replay pages, feeds and sitemaps to visitors as well, not only responses of the REST API"),
    row("wordpress.max_age_seconds", "SECONDS", Some("60"), "Time for which a response is replayed at most: the bound for what cannot be seen, such as clocks and files"),
    row("wordpress.route_ages", "LIST", Some(""), "Comma-separated routes with another time, such as /acme/v1/weather=10"),
    row("wordpress.php_routes", "LIST", Some(""), "Comma-separated routes whose responses are never replayed, such as /acme/v1/stats"),
    row("wordpress.memory", "SIZE", Some("64MB"), "Maximum size of all stored responses"),
    row("wordpress.check_percent", "N", Some("1"), "Percentage of the replayed responses that WordPress renders again to compare them, from 0 to 100"),
    row("wordpress.connector", "BOOL", Some("true"), "Use the connector, a plugin that tells what responses read and what WordPress writes, if it is installed"),
    row("wordpress.timeout_seconds", "N", Some("60"), "Time limit for a response of WordPress, and between two parts of it"),
    row("wordpress.connections", "N", Some("64"), "Maximum number of requests that are forwarded at the same time, best as many as PHP has processes; four times as many may wait, and at least 256"),
    secret("keys.auth_key"),
    secret("keys.secure_auth_key"),
    secret("keys.logged_in_key"),
    secret("keys.nonce_key"),
    secret("keys.auth_salt"),
    secret("keys.secure_auth_salt"),
    secret("keys.logged_in_salt"),
    secret("keys.nonce_salt"),
];

/// A setting that earlier versions had.
#[derive(Debug)]
pub(super) struct Removed {
    pub(super) key: &'static str,
    /// The replacement, and steps to take.
    advice: &'static str,
}

/// The settings that earlier versions had. They are refused, so that nobody relies on what they did.
const REMOVED: &[Removed] = &[
    Removed {
        key: "wordpress.writes",
        advice: "with an upstream, WordPress handles all writes, so that its plugins decide on them. Delete the setting; to let \
                 svc-server handle writes, serve the site without `wordpress.upstream`",
    },
    Removed { key: "wordpress.user", advice: "WordPress handles all requests with credentials. Delete the setting" },
    Removed {
        key: "wordpress.application_password",
        advice: "WordPress handles all requests with credentials. Delete the setting, and revoke the password",
    },
    Removed { key: "wordpress.reads", advice: REPLAYED },
    Removed { key: "wordpress.svc_routes", advice: REPLAYED },
    Removed { key: "wordpress.samples", advice: REPLAYED },
    Removed { key: "wordpress.shadow_percent", advice: REPLAYED },
];

/// The advice for settings of the comparison of both servers.
const REPLAYED: &str = "in front of WordPress, its own responses are replayed, so that nothing has to be compared before. Delete the setting; \
                        `wordpress.php_routes` are never replayed, and `wordpress.check_percent` is the share that is checked";

impl Removed {
    /// The removed setting with this key, or with the key of a file with its value.
    pub(super) fn find(key: &str) -> Option<&'static Removed> {
        REMOVED.iter().find(|removed| key == removed.key || key.strip_suffix(FILE_SUFFIX) == Some(removed.key))
    }

    /// The removed setting of an environment variable.
    pub(super) fn of_variable(name: &str) -> Option<&'static Removed> {
        let name = name.strip_suffix("_FILE").unwrap_or(name);
        REMOVED.iter().find(|removed| variable_of(removed.key) == name)
    }
}

impl std::fmt::Display for Removed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no setting `{}` any more: {}", self.key, self.advice)
    }
}

/// Name of the environment variable of a key.
fn variable_of(key: &str) -> String {
    format!("{VARIABLE_PREFIX}{}", key.replace('.', "_").to_ascii_uppercase())
}

/// The setting with this key.
pub(super) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|s| s.key == key)
}

/// The secret setting of a `…_file` key.
pub(super) fn find_secret_file(key: &str) -> Option<&'static Setting> {
    find(key.strip_suffix(FILE_SUFFIX)?).filter(|s| s.secret)
}

/// The eight secrets for cookies and nonces.
pub(super) fn key_settings() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|s| s.key.starts_with("keys."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derives_names_from_the_key() {
        let body = find("limits.body").unwrap();
        assert_eq!((body.flag().as_str(), body.variable().as_str()), ("limits-body", "SVC_LIMITS_BODY"));
        assert_eq!(find_secret_file("keys.auth_key_file").unwrap().key, "keys.auth_key");
        assert!(find_secret_file("listen_file").is_none(), "only secrets can be read from files");
        assert_eq!(key_settings().count(), 8);
    }

    #[test]
    fn no_two_settings_share_a_variable() {
        let names: std::collections::BTreeSet<String> = SETTINGS.iter().map(Setting::variable).collect();
        assert_eq!(names.len(), SETTINGS.len());
    }
}
