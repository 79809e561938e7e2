//! Settings out of a `wp-config.php`: database, table prefix, keys and salts, content folder, address. The file is read,
//! never run.

mod reader;
mod tokens;
mod value;

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use svc_brand::Brand;

use super::{
    ConfigError, Origin,
    layers::Given,
    settings::{self, Setting, find},
};
use reader::{Defined, World};
use value::Value;

/// The bit of `MYSQL_CLIENT_FLAGS` that asks for TLS.
const CLIENT_SSL: i64 = 2048;

/// The bit that asks for TLS with whatever certificate the server shows.
const CLIENT_SSL_UNVERIFIED: i64 = 64;

/// Where servers put their socket, which `localhost` means.
const SOCKETS: [&str; 4] =
    ["/run/mysqld/mysqld.sock", "/var/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// What is escaped in a part of an address.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A setting that the file gives.
pub(super) type Found = (&'static Setting, Given);

/// The settings that the file gives, of those that nothing else gives (`given`); what is needed must be told in it.
pub(super) fn read(
    path: &Path,
    environment: &dyn Fn(&str) -> Option<String>,
    given: &dyn Fn(&str) -> bool,
) -> Result<Vec<Found>, ConfigError> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let whole = Origin::File(path.clone(), 1);
    let mut world = World::new(environment);
    // WordPress defines it before it reads its configuration.
    let root = format!("{}/", root_beside(&path).display());
    world.constants.insert("ABSPATH".to_owned(), Defined { value: Value::Text(root), file: path.clone(), line: 1 });
    world.file(&path).map_err(|e| ConfigError::at(&whole, format!("cannot be read: {e}")))?;
    let file = File { world, whole };

    let mut found = Vec::new();
    let mut put = |key: &str, text: String, origin: Origin| {
        if let Some(setting) = find(key).filter(|_| !given(key)) {
            found.push((setting, Given { text, origin }));
        }
    };
    if !given("database") {
        let (url, origin) = file.database()?;
        put("database", url, origin);
    }
    if !given("table_prefix")
        && let Some((prefix, origin)) = file.told(file.world.variables.get("table_prefix"), "$table_prefix")?
    {
        put("table_prefix", prefix, origin);
    }
    for setting in settings::key_settings().filter(|s| !given(s.key)) {
        let constant = setting.key.trim_start_matches("keys.").to_ascii_uppercase();
        if let Some((secret, origin)) = file.constant(&constant)? {
            put(setting.key, secret, origin);
        }
    }
    if !given("content_dir") {
        let (folder, origin) = file.content_folder()?;
        put("content_dir", folder, origin);
    }
    // What follows is not needed: what cannot be told of it is as if it were not there.
    for (constant, key) in [("WP_HOME", "site_url"), ("WP_ENVIRONMENT_TYPE", "environment"), ("WP_DEBUG", "debug")] {
        let Ok(Some((text, origin))) = file.constant(constant) else { continue };
        let text = match key {
            "environment" if text != "local" => "production".to_owned(),
            "debug" => (!text.is_empty() && text != "0").to_string(),
            _ => text,
        };
        put(key, text, origin);
    }
    // A database of WordPress serves WordPress's clients.
    put("brand", Brand::original().word().to_owned(), file.whole.clone());
    Ok(found)
}

/// The folder of the WordPress that reads this file: the file's own, or a folder in it.
fn root_beside(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    let holds = |f: &Path| f.join("wp-load.php").is_file();
    if holds(&folder) {
        return folder;
    }
    let inner = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path());
    inner.filter(|f| holds(f)).min().unwrap_or(folder)
}

/// The file once read.
struct File<'a> {
    world: World<'a>,
    whole: Origin,
}

impl File<'_> {
    /// A constant's text and place; `None` when it is not defined.
    fn constant(&self, name: &str) -> Result<Option<(String, Origin)>, ConfigError> {
        self.told(self.world.constants.get(name), name)
    }

    fn told(&self, defined: Option<&Defined>, name: &str) -> Result<Option<(String, Origin)>, ConfigError> {
        let Some(defined) = defined else { return Ok(None) };
        let origin = Origin::File(defined.file.clone(), defined.line);
        match defined.value.text() {
            Some(text) => Ok(Some((text, origin))),
            None => {
                Err(ConfigError::at(&origin, format!("the value of {name} cannot be told without running this file")))
            }
        }
    }

    fn needed(&self, name: &str) -> Result<(String, Origin), ConfigError> {
        self.constant(name)?.ok_or_else(|| ConfigError::at(&self.whole, format!("{name} is not defined")))
    }

    /// The address of the database, and where its name is defined.
    fn database(&self) -> Result<(String, Origin), ConfigError> {
        let (name, origin) = self.needed("DB_NAME")?;
        let ((user, _), (password, _)) = (self.needed("DB_USER")?, self.needed("DB_PASSWORD")?);
        let (host, host_origin) = self.needed("DB_HOST")?;
        let server = Server::of(&host)
            .ok_or_else(|| ConfigError::at(&host_origin, format!("DB_HOST `{host}` is not an address of a server")))?;
        let mut parameters = Vec::new();
        if let Some(socket) = &server.socket {
            parameters.push(("socket", socket.clone()));
        }
        if let Some((charset, _)) = self.constant("DB_CHARSET")? {
            parameters.push(("charset", charset));
        }
        if let Ok(Some((flags, _))) = self.constant("MYSQL_CLIENT_FLAGS") {
            let flags: i64 = flags.parse().unwrap_or(0);
            if flags & CLIENT_SSL_UNVERIFIED != 0 {
                parameters.push(("tls", "unverified".to_owned()));
            } else if flags & CLIENT_SSL != 0 {
                parameters.push(("tls", "true".to_owned()));
            }
        }
        let escape = |text: &str| utf8_percent_encode(text, ESCAPED).to_string();
        let query: Vec<String> = parameters.iter().map(|(k, v)| format!("{k}={}", escape(v))).collect();
        let mut url = format!("mysql://{}:{}@{}/{}", escape(&user), escape(&password), server.host, escape(&name));
        if !query.is_empty() {
            url.push('?');
            url.push_str(&query.join("&"));
        }
        Ok((url, origin))
    }

    /// The content folder: where the file says, else the one beside WordPress.
    fn content_folder(&self) -> Result<(String, Origin), ConfigError> {
        let root = self.world.constants.get("ABSPATH").and_then(|d| d.value.text()).unwrap_or_default();
        let usual = Path::new(&root).join("wp-content");
        match self.constant("WP_CONTENT_DIR") {
            Ok(Some(told)) => Ok(told),
            // Often told by what the web server says of each request, and then the usual one.
            Err(error) if !usual.is_dir() => Err(error),
            _ => Ok((usual.display().to_string(), self.whole.clone())),
        }
    }
}

/// What `DB_HOST` says.
#[derive(Debug, PartialEq, Eq)]
struct Server {
    /// Host and port as an address has them.
    host: String,
    socket: Option<String>,
}

impl Server {
    /// `host`, `host:port`, `[v6]:port`, a bare IPv6 address, each with `:/path/of/socket` behind or alone.
    fn of(text: &str) -> Option<Self> {
        let (address, socket) = match text.find(":/") {
            Some(i) => (&text[..i], Some(text[i + 1..].to_owned())),
            None if text.starts_with('/') => ("", Some(text.to_owned())),
            None => (text, None),
        };
        // Connections that stay open are asked for with `p:`; here they always do.
        let address = address.strip_prefix("p:").unwrap_or(address);
        let socket = socket.or_else(|| {
            let usual = || SOCKETS.iter().find(|s| Path::new(s).exists()).map(|s| (*s).to_owned());
            (address.is_empty() || address.eq_ignore_ascii_case("localhost")).then(usual).flatten()
        });
        let (host, port) = if let Some(v6) = address.strip_prefix('[') {
            let (host, after) = v6.split_once(']')?;
            (format!("[{host}]"), after.strip_prefix(':'))
        } else if address.matches(':').count() > 1 {
            (format!("[{address}]"), None)
        } else {
            let (host, port) = address.split_once(':').map_or((address, None), |(h, p)| (h, Some(p)));
            (if host.is_empty() { "localhost" } else { host }.to_owned(), port)
        };
        let port = port.filter(|p| !p.is_empty()).map_or(Ok(3306), str::parse::<u16>).ok()?;
        let fits = host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_[]:%".contains(&b));
        fits.then(|| Server { host: format!("{host}:{port}"), socket })
    }
}

#[cfg(test)]
mod tests;
