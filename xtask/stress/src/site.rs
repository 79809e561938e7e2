//! Sites: one or more servers on one database.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::Barrier,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use svc_brand::Brand;
use svc_test_databases::{
    galera::Galera,
    mariadb::{DISPOSABLE_OPTIONS, MariaDb},
    replication::Replication,
};
use xtask_support::server::{self, Response, Server, basic, exchange};

/// Empty plugins, to be activated in parallel.
pub(super) const PLUGINS: usize = 8;

/// A registered meta key of posts with a single value.
pub(super) const META: &str = "race";

/// The network of the clients' addresses in `X-Forwarded-For`, so that limits per address do not apply.
const CLIENTS: &str = "10.77";

/// A kind of database, and how many servers share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DatabaseKind {
    Sqlite,
    /// One MariaDB.
    MariaDb {
        servers: usize,
        /// Updates of rows that changed after the transaction's snapshot fail.
        snapshot_isolation: bool,
    },
    /// A MariaDB with a read replica that gets each change this much later, and two servers.
    Replica {
        lag: Duration,
    },
    /// A cluster of three nodes with a server per node.
    Galera,
}

impl DatabaseKind {
    pub(super) fn name(self) -> String {
        match self {
            DatabaseKind::Sqlite => "sqlite".to_owned(),
            DatabaseKind::MariaDb { servers, snapshot_isolation: false } => format!("mariadb-{servers}"),
            DatabaseKind::MariaDb { servers, snapshot_isolation: true } => format!("mariadb-{servers}-snapshot"),
            DatabaseKind::Replica { .. } => "replica-2".to_owned(),
            DatabaseKind::Galera => "galera-3".to_owned(),
        }
    }
}

/// The site's database, for direct queries.
enum Database {
    Sqlite(PathBuf),
    MariaDb(MariaDb),
    Replica(Replication),
    Galera(Galera),
}

impl Database {
    /// Starts a database; `None` if it is not installed.
    fn start(kind: DatabaseKind, folder: &Path) -> Result<Option<Self>> {
        Ok(match kind {
            DatabaseKind::Sqlite => Some(Database::Sqlite(folder.join("0/svc-data/site.db"))),
            DatabaseKind::MariaDb { snapshot_isolation, .. } => {
                let Some(server) = MariaDb::start(DISPOSABLE_OPTIONS)? else { return Ok(None) };
                // Older servers lack the variable.
                if snapshot_isolation && server.client("SET GLOBAL innodb_snapshot_isolation = ON").is_err() {
                    return Ok(None);
                }
                server.create("site")?;
                Some(Database::MariaDb(server))
            }
            DatabaseKind::Replica { lag } => {
                let Some(servers) = Replication::start_with_lag(lag)? else { return Ok(None) };
                servers.primary.create("site")?;
                let begun = Instant::now();
                servers.catch_up()?;
                ensure!(begun.elapsed() >= lag, "the replica has the database too early");
                Some(Database::Replica(servers))
            }
            DatabaseKind::Galera => {
                let Some(cluster) = Galera::start(3)? else { return Ok(None) };
                cluster.nodes().first().context("the cluster has no nodes")?.create("site")?;
                Some(Database::Galera(cluster))
            }
        })
    }

    /// The settings of the server of this number, by the names of their environment variables.
    fn settings(&self, server: usize) -> Vec<(&'static str, String)> {
        let of = |database: &MariaDb| ("SVC_DATABASE", database.url("site"));
        match self {
            Database::Sqlite(_) => Vec::new(),
            Database::MariaDb(one) => vec![of(one)],
            Database::Replica(both) => {
                let mut settings = vec![of(&both.primary), ("SVC_DATABASE_REPLICAS", both.replica.url("site"))];
                // The second server has hardly any caches, so that it reads nearly everything from a database.
                settings.extend((server == 1).then(|| ("SVC_CACHE_SIZE", "1KB".to_owned())));
                settings
            }
            Database::Galera(cluster) => cluster.nodes().get(server).map(of).into_iter().collect(),
        }
    }

    /// Waits until committed changes are visible on every node.
    fn settle(&self) -> Result<()> {
        match self {
            Database::Galera(cluster) => cluster.settle(),
            _ => Ok(()),
        }
    }

    /// Rows of a query in SQL that both engines support.
    fn rows(&self, sql: &str) -> Result<Vec<Vec<String>>> {
        let node = match self {
            Database::Sqlite(path) => {
                let raw = rusqlite::Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)?;
                let mut statement = raw.prepare(sql)?;
                let n_columns = statement.column_count();
                let text = |row: &rusqlite::Row<'_>, column| {
                    Ok(match row.get::<_, rusqlite::types::Value>(column)? {
                        rusqlite::types::Value::Text(text) => text,
                        rusqlite::types::Value::Integer(n) => n.to_string(),
                        other => format!("{other:?}"),
                    })
                };
                let rows = statement.query_map([], |row| (0..n_columns).map(|c| text(row, c)).collect())?;
                return Ok(rows.collect::<rusqlite::Result<_>>()?);
            }
            Database::MariaDb(server) => server,
            Database::Replica(servers) => &servers.primary,
            Database::Galera(cluster) => cluster.nodes().first().context("the cluster has no nodes")?,
        };
        let out = node.client(&format!("USE site; {sql}"))?;
        Ok(out.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect())
    }
}

/// A request of one client.
pub(super) struct Call {
    method: &'static str,
    path: String,
    content_type: &'static str,
    body: String,
    credentials: Option<String>,
    headers: Vec<(&'static str, String)>,
}

impl Call {
    /// A REST API request, such as to `posts/3` or `posts/3&force=true`.
    pub(super) fn api(method: &'static str, route: &str) -> Self {
        Call {
            method,
            path: format!("/?rest_route=/{}/{route}", Brand::default().namespace()),
            content_type: "",
            body: String::new(),
            credentials: None,
            headers: Vec::new(),
        }
    }

    /// [`Self::api`] with POST and a JSON body.
    pub(super) fn post(route: &str, json: &Value) -> Self {
        Call { content_type: "application/json", body: json.to_string(), ..Self::api("POST", route) }
    }

    /// An anonymous form request to a page.
    pub(super) fn form(path: &str, fields: &[(&str, &str)]) -> Self {
        let fields: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        Call {
            content_type: "application/x-www-form-urlencoded",
            body: fields.join("&"),
            path: path.to_owned(),
            credentials: Some(String::new()),
            ..Self::api("POST", "")
        }
    }

    /// Sends the request as another user, or anonymously if empty.
    pub(super) fn by(mut self, credentials: &str) -> Self {
        self.credentials = Some(credentials.to_owned());
        self
    }

    pub(super) fn header(mut self, name: &'static str, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// An anonymous page request.
    pub(super) fn page(path: &str) -> Self {
        Call { path: path.to_owned(), credentials: Some(String::new()), ..Self::api("GET", "") }
    }
}

/// A site with its servers.
pub(super) struct Site {
    program: PathBuf,
    servers: Vec<Server>,
    database: Database,
    credentials: String,
    /// Deleted on drop.
    folder: tempfile::TempDir,
}

impl Site {
    /// Starts servers on a new site; `None` if the database is not installed.
    pub(super) fn start(program: &Path, kind: DatabaseKind) -> Result<Option<Self>> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let Some(database) = Database::start(kind, folder.path())? else { return Ok(None) };
        let content = folder.path().join("content");
        for n in 0..PLUGINS {
            let plugin = content.join(format!("plugins/p{n}"));
            std::fs::create_dir_all(&plugin)?;
            std::fs::write(plugin.join("p.php"), format!("<?php\n/* Plugin Name: P{n} */\n"))?;
        }
        let n_servers = match kind {
            DatabaseKind::Sqlite => 1,
            DatabaseKind::MariaDb { servers, .. } => servers,
            DatabaseKind::Replica { .. } => 2,
            DatabaseKind::Galera => 3,
        };
        let (program, credentials) = (program.to_owned(), String::new());
        let mut site = Site { program, servers: Vec::new(), database, credentials, folder };
        for n in 0..n_servers {
            site.add_server(n)?;
        }
        Ok(Some(site))
    }

    fn add_server(&mut self, n: usize) -> Result<()> {
        let folder = self.folder.path().join(n.to_string());
        std::fs::create_dir_all(folder.join("svc-data"))?;
        let meta = format!("[[meta]]\nobject = \"post\"\nof = \"post\"\nkey = \"{META}\"\ntype = \"string\"\n");
        std::fs::write(folder.join("svc.toml"), meta)?;
        if n > 0 {
            // Servers of one site share its secrets.
            let keys = self.folder.path().join("0/svc-data/keys.toml");
            std::fs::copy(keys, folder.join("svc-data/keys.toml"))
                .context("the first server has not written its keys")?;
        }
        let server = server::serve(self.command(n), &folder)?;
        if n == 0 {
            self.credentials = server::credentials(self.command(n))?;
        }
        self.database.settle()?;
        self.servers.push(server);
        Ok(())
    }

    /// The program with the settings of the server of this number.
    pub(super) fn command(&self, n: usize) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(&self.program);
        command.current_dir(folder.join(n.to_string())).env_clear().env("SVC_CONTENT_DIR", folder.join("content"));
        command.env("SVC_TRUSTED_PROXIES", "127.0.0.1");
        // A local site has the URL that its server listens on, and the names of cookies contain it.
        if let Some(first) = self.servers.first() {
            command.env("SVC_SITE_URL", first.address());
        }
        command.envs(self.database.settings(n));
        command
    }

    /// The URLs of the servers.
    pub(super) fn addresses(&self) -> Vec<&str> {
        self.servers.iter().map(Server::address).collect()
    }

    /// The name and application password of the administrator.
    pub(super) fn credentials(&self) -> &str {
        &self.credentials
    }

    /// Sends one request, to the first server.
    pub(super) fn send(&self, call: &Call) -> Result<Response> {
        self.send_to(0, call)
    }

    /// Sends one request of a client, to the server whose turn it is.
    pub(super) fn send_to(&self, client: usize, call: &Call) -> Result<Response> {
        let server = self.servers.get(client % self.servers.len()).context("the site has no servers")?;
        let mut headers = call.headers.clone();
        let credentials = call.credentials.as_ref().unwrap_or(&self.credentials);
        if !credentials.is_empty() {
            headers.push(("Authorization", basic(credentials)));
        }
        if !call.content_type.is_empty() {
            headers.push(("Content-Type", call.content_type.to_owned()));
        }
        if !headers.iter().any(|(name, _)| *name == "X-Forwarded-For") {
            headers.push(("X-Forwarded-For", format!("{CLIENTS}.0.{client}")));
        }
        exchange(server.address(), call.method, &call.path, &headers, &call.body)
    }

    /// Sends one request that must succeed, and returns the JSON.
    pub(super) fn done(&self, call: &Call) -> Result<Value> {
        let response = self.send(call)?;
        if !(200..300).contains(&response.status) {
            bail!("{} {}: {} {:.300}", call.method, call.path, response.status, response.body);
        }
        response.json()
    }

    /// Sends all requests in parallel, each from a separate client to the next server.
    pub(super) fn at_once(&self, calls: &[Call]) -> Result<Vec<Response>> {
        self.database.settle()?;
        let start = Barrier::new(calls.len());
        let responses = std::thread::scope(|scope| {
            let client = |(n, call)| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    self.send_to(n, call)
                })
            };
            let clients: Vec<_> = calls.iter().enumerate().map(client).collect();
            let join = |client: std::thread::ScopedJoinHandle<'_, Result<Response>>| {
                client.join().unwrap_or_else(|_| bail!("a client panicked"))
            };
            clients.into_iter().map(join).collect::<Result<Vec<_>>>()
        });
        self.database.settle()?;
        responses
    }

    /// Rows of a query in SQL that both engines support.
    pub(super) fn rows(&self, sql: &str) -> Result<Vec<Vec<String>>> {
        self.database.rows(sql)
    }

    /// The first column of [`Self::rows`].
    pub(super) fn column(&self, sql: &str) -> Result<Vec<String>> {
        Ok(self.rows(sql)?.into_iter().filter_map(|row| row.into_iter().next()).collect())
    }

    /// How many prepared statements the read replica has run; zero without one.
    pub(super) fn replica_reads(&self) -> Result<u64> {
        let Database::Replica(servers) = &self.database else { return Ok(0) };
        let shown = servers.replica.client("SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'")?;
        shown.split_whitespace().last().and_then(|n| n.parse().ok()).with_context(|| format!("no number: {shown}"))
    }

    /// Creates a post with these fields; returns its id.
    pub(super) fn new_post(&self, fields: &Value) -> Result<i64> {
        self.done(&Call::post("posts", fields))?["id"].as_i64().context("the post has no id")
    }

    /// Creates a published post; returns its id.
    pub(super) fn new_published(&self, title: &str) -> Result<i64> {
        self.new_post(&json!({"title": title, "content": "A race.", "status": "publish"}))
    }
}
