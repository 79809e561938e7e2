#![doc = include_str!("../README.md")]

mod database;
mod error;
mod expressions;
mod statements;
mod tokens;
mod value;

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
};

pub use database::{DatabaseConstants, Tls};
pub use error::{Error, ErrorKind, Result};

use database::DatabaseServer;
use statements::{Definition, Evaluation};
use value::Value;

/// Looks up an environment variable.
pub type Environment<'a> = dyn Fn(&str) -> Option<String> + 'a;

/// A value with the place of its definition.
#[derive(Clone, PartialEq, Eq)]
pub struct Located {
    /// The value as PHP prints it: `true` is `1`; `false` and `null` are empty.
    pub text: String,
    /// The file: the configuration, or one that it includes.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Debug for Located {
    /// Leaves out the value, which may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// An evaluated `wp-config.php`.
pub struct WpConfig {
    path: PathBuf,
    constants: HashMap<String, Definition>,
    variables: HashMap<String, Definition>,
}

impl WpConfig {
    /// Reads and evaluates the file, and those that it includes. `environment` gives the variables of the process.
    ///
    /// # Errors
    /// If the file cannot be read. Included files that cannot be read are logged and left out.
    pub fn read(path: &Path, environment: &Environment<'_>) -> Result<Self> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let mut evaluation = Evaluation::new(environment);
        // WordPress defines this constant before it reads its configuration.
        let root = Value::Text(format!("{}/", wordpress_root(&path).display()));
        evaluation.constants.insert("ABSPATH".to_owned(), Definition { value: root, file: path.clone(), line: 1 });
        evaluation.file(&path).map_err(|e| Error::new(&path, 1, ErrorKind::Io(e)))?;
        Ok(WpConfig { constants: evaluation.constants, variables: evaluation.variables, path })
    }

    /// Path of the configuration, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The value of a constant; `None` if it is not defined.
    ///
    /// # Errors
    /// [`ErrorKind::Unknown`] if only running the file would give the value.
    pub fn constant(&self, name: &str) -> Result<Option<Located>> {
        located(self.constants.get(name), name)
    }

    /// The value of a global variable, by its name without `$`; `None` if it is not set.
    ///
    /// # Errors
    /// As [`Self::constant`].
    pub fn variable(&self, name: &str) -> Result<Option<Located>> {
        located(self.variables.get(name), &format!("${name}"))
    }

    /// The value of a constant that must be defined.
    fn required(&self, name: &str) -> Result<Located> {
        self.constant(name)?.ok_or_else(|| Error::new(&self.path, 1, ErrorKind::Undefined(name.to_owned())))
    }

    /// The database settings.
    ///
    /// # Errors
    /// If `DB_NAME`, `DB_USER`, `DB_PASSWORD` or `DB_HOST` is missing, unknown or invalid, or `DB_CHARSET` is unknown.
    pub fn database(&self) -> Result<DatabaseConstants> {
        let Located { text: name, file, line } = self.required("DB_NAME")?;
        let (user, password) = (self.required("DB_USER")?.text, self.required("DB_PASSWORD")?.text);
        let host = self.required("DB_HOST")?;
        let server = DatabaseServer::parse(&host.text);
        let server = server.ok_or_else(|| Error::new(&host.file, host.line, ErrorKind::Host(host.text)))?;
        let charset = self.constant("DB_CHARSET")?.map(|c| c.text);
        let flags = self.constant("MYSQL_CLIENT_FLAGS").ok().flatten();
        let tls = Tls::from_flags(flags.and_then(|f| f.text.parse().ok()).unwrap_or_default());
        Ok(DatabaseConstants {
            name,
            user,
            password,
            host: server.host,
            socket: server.socket,
            charset,
            tls,
            file,
            line,
        })
    }

    /// The content folder: `WP_CONTENT_DIR`, or `wp-content` in WordPress's folder.
    ///
    /// # Errors
    /// If `WP_CONTENT_DIR` is unknown and there is no `wp-content` folder.
    pub fn content_dir(&self) -> Result<Located> {
        let root = self.constants.get("ABSPATH").and_then(|d| d.value.text()).unwrap_or_default();
        let default = Path::new(&root).join("wp-content");
        match self.constant("WP_CONTENT_DIR") {
            Ok(Some(defined)) => Ok(defined),
            // The constant often depends on the request; the folder is then usually the default one.
            Err(error) if !default.is_dir() => Err(error),
            _ => Ok(Located { text: default.display().to_string(), file: self.path.clone(), line: 1 }),
        }
    }
}

/// The text of a definition. `name` is for the error.
fn located(defined: Option<&Definition>, name: &str) -> Result<Option<Located>> {
    let Some(Definition { value, file, line }) = defined else { return Ok(None) };
    match value.text() {
        Some(text) => Ok(Some(Located { text, file: file.clone(), line: *line })),
        None => Err(Error::new(file, *line, ErrorKind::Unknown(name.to_owned()))),
    }
}

/// The folder of the WordPress that reads this file: the file's own, or a folder in it.
fn wordpress_root(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    let is_root = |f: &Path| f.join("wp-load.php").is_file();
    if is_root(&folder) {
        return folder;
    }
    let inner = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|e| e.path());
    inner.filter(|f| is_root(f)).min().unwrap_or(folder)
}

#[cfg(test)]
mod tests;
