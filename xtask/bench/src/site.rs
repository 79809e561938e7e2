//! The servers that are compared: svc, a bare axum handler, and a WordPress.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use svc_brand::Brand;
use xtask_support::server::{self, Server, basic, exchange, send};

use super::load::{Clients, Request, Until};

/// Number of posts on each site.
pub(super) const N_POSTS: u64 = 200;

/// The plugin of the example with an extension: it registers a field of posts, and a hook.
pub(super) const PLUGIN: &str = "reading-time";

/// A site, for requests.
pub(super) struct Site {
    /// `HOST:PORT`.
    pub(super) host: String,
    pub(super) brand: Brand,
    /// Header line for the administrator, with an application password.
    pub(super) basic: String,
}

impl Site {
    pub(super) fn new(url: &str, brand: Brand, credentials: &str) -> Self {
        let host = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Site { host, brand, basic: format!("Authorization: {}\r\n", basic(credentials)) }
    }

    /// The path of a resource.
    pub(super) fn path(&self, path: &str) -> String {
        format!("/{}/{}/{path}", self.brand.prefix(), self.brand.namespace())
    }

    /// The path of the index.
    pub(super) fn index(&self) -> String {
        format!("/{}/", self.brand.prefix())
    }

    pub(super) fn get(&self, path: &str) -> Request {
        Request::get(self.path(path))
    }

    /// A request that creates a post.
    pub(super) fn create(&self, n: u64) -> Request {
        self.write("posts", &post(n))
    }

    /// A request with a JSON body, as the administrator.
    pub(super) fn write(&self, path: &str, body: &Value) -> Request {
        Request {
            method: "POST",
            path: self.path(path),
            headers: format!("{}Content-Type: application/json\r\n", self.basic),
            body: body.to_string(),
        }
    }

    /// Creates posts until there are [`N_POSTS`]. Returns the ids of published posts.
    pub(super) fn fill(&self, clients: usize) -> Result<Vec<u64>> {
        let list = send(&self.host, "GET", &self.path("posts?per_page=1&_fields=id"), "", None)?;
        let total = list.header(&self.brand.header("Total")).and_then(|n| n.parse::<u64>().ok());
        let missing = N_POSTS.saturating_sub(total.context("the list of posts has no total")?);
        if missing > 0 {
            let create = |n| self.create(n);
            let outcome = self.clients(clients, &create).run(Until::Requests(missing))?;
            ensure!(outcome.n_failed == 0, "{} of {missing} posts could not be created", outcome.n_failed);
        }
        let mut ids = Vec::new();
        for page in 1..=N_POSTS.div_ceil(100) {
            let path = self.path(&format!("posts?per_page=100&page={page}&_fields=id"));
            let list = send(&self.host, "GET", &path, "", None)?.json()?;
            ids.extend(list.as_array().into_iter().flatten().filter_map(|post| post["id"].as_u64()));
        }
        Ok(ids)
    }

    /// Clients that send these requests without pauses.
    pub(super) fn clients<'a>(&'a self, n_clients: usize, request: &'a dyn Fn(u64) -> Request) -> Clients<'a> {
        Clients { host: &self.host, n_clients, pause: std::time::Duration::ZERO, request }
    }
}

/// The JSON of a post.
fn post(n: u64) -> Value {
    let paragraph = "<!-- wp:paragraph -->\n<p>A sentence about the weather, the harbour and \"quoted\" words.</p>\n\
        <!-- /wp:paragraph -->\n\n";
    let content = format!("<!-- wp:heading -->\n<h2>Part {n}</h2>\n<!-- /wp:heading -->\n\n{}", paragraph.repeat(8));
    json!({"title": format!("Benchmark {n}"), "status": "publish", "content": content, "excerpt": "A short summary."})
}

/// A started server of this project.
pub(super) struct Svc {
    pub(super) server: Server,
    pub(super) site: Site,
    command: Box<dyn Fn() -> Command>,
    folder: tempfile::TempDir,
}

impl Svc {
    /// Starts a program with an own site, or with that of a `wp-config.php`.
    pub(super) fn start(program: &Path, wp_config: Option<&Path>) -> Result<Self> {
        Svc::start_with(program, wp_config, Vec::new())
    }

    /// [`Self::start`] with settings, by the names of their environment variables.
    pub(super) fn start_with(
        program: &Path,
        wp_config: Option<&Path>,
        settings: Vec<(&'static str, String)>,
    ) -> Result<Self> {
        let (program, config) = (program.to_owned(), wp_config.map(Path::to_owned));
        let brand = if wp_config.is_some() { Brand::original() } else { Brand::default() };
        let command = move || {
            let mut command = Command::new(&program);
            command.env_clear().envs(settings.iter().map(|(name, value)| (name, value)));
            if let Some(config) = &config {
                command.arg("--wp-config").arg(config);
            }
            command
        };
        Svc::start_as(command, brand)
    }

    /// Starts a program with this command, in a folder of its own.
    pub(super) fn start_as(command: impl Fn() -> Command + 'static, brand: Brand) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a temporary folder")?;
        let path = folder.path().to_owned();
        let command = Box::new(move || {
            let mut command = command();
            // All clients have the same address.
            command.current_dir(&path).env("SVC_LIMITS_CONNECTIONS_PER_NETWORK", "1024");
            command
        });
        let server = server::serve(command(), folder.path())?;
        let credentials = server::credentials(command())?;
        let site = Site::new(server.address(), brand, &credentials);
        Ok(Svc { server, site, command, folder })
    }

    /// The folder of the site, where the server runs.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Activates the example's extension.
    pub(super) fn activate_plugin(&self) -> Result<()> {
        let Request { method, path, headers: _, body } =
            self.site.write(&format!("plugins/{PLUGIN}"), &json!({"status": "active"}));
        let authorization = self.site.basic.trim_start_matches("Authorization: ").trim_end().to_owned();
        let headers = [("Authorization", authorization), ("Content-Type", "application/json".to_owned())];
        let response = exchange(&self.site.host, method, &path, &headers, &body)?;
        ensure!(response.status == 200, "the plugin was not activated: {:.300}", response.body);
        Ok(())
    }

    /// Header lines of a logged-in browser: cookies and nonce.
    pub(super) fn session(&self) -> Result<String> {
        let out = (self.command)().args(["user", "set-password", "admin"]).output()?;
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let password = text.trim().rsplit(": ").next().filter(|_| out.status.success());
        let password = password.with_context(|| format!("no password: {out:?}"))?;
        let form = [("Content-Type", "application/x-www-form-urlencoded".to_owned())];
        let login = exchange(&self.site.host, "POST", "/wp-login.php", &form, &format!("log=admin&pwd={password}"))?;
        let cookies: Vec<&str> = login.headers("set-cookie").filter_map(|cookie| cookie.split(';').next()).collect();
        let cookie = [("Cookie", cookies.join("; "))];
        let nonce = exchange(&self.site.host, "GET", "/wp-admin/admin-ajax.php?action=rest-nonce", &cookie, "")?;
        ensure!(nonce.status == 200, "no nonce: {:.300}", nonce.body);
        Ok(format!("Cookie: {}\r\n{}: {}\r\n", cookie[0].1, self.site.brand.header("Nonce"), nonce.body))
    }
}

/// The WordPress of a folder. Its URL and an application password come from its database, which svc can serve, too.
pub(super) struct WordPress {
    pub(super) site: Site,
    /// svc on the same database.
    pub(super) svc: Svc,
}

impl WordPress {
    /// Finds the site; `None` if there is none, or its server does not respond.
    pub(super) fn find(program: &Path, folder: &Path) -> Result<Option<Self>> {
        let config: PathBuf = folder.join("wp-config.php");
        if !config.is_file() {
            return Ok(None);
        }
        let svc = Svc::start(program, Some(&config))?;
        let index = send(&svc.site.host, "GET", &svc.site.index(), "", None)?.json()?;
        let url = index["url"].as_str().context("the index has no URL")?.to_owned();
        if send(url.trim_start_matches("http://"), "GET", &svc.site.index(), "", None).is_err() {
            return Ok(None);
        }
        let mut site = Site::new(&url, Brand::original(), "");
        site.basic.clone_from(&svc.site.basic);
        Ok(Some(WordPress { site, svc }))
    }
}
