//! Installs the connector: the plugin in the folder `mu-plugins`, whose plugins are always active, and its secret.
//!
//! The secret is in a PHP file next to `wp-config.php`, with that file's owner, group and mode. So it is protected as the password of
//! the database is, and outside of the web server's folder if `wp-config.php` is. A web server that executes the file sends nothing.

use std::{
    fs, io,
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use super::{Secret, random};

/// The plugin.
const PLUGIN: &str = include_str!("../../connector/svc-connector.php");

/// Name of the plugin's file. WordPress loads the files of this folder in the order of their names, and what other plugins read before is
/// not recorded.
const PLUGIN_FILE: &str = "0-svc-connector.php";

/// Name of the plugin's file in earlier versions. WordPress cannot load both.
const FORMER_FILE: &str = "svc-connector.php";

/// Name of the file with the secret.
const SECRET_FILE: &str = "svc-connector-secret.php";

/// Text that every version of the plugin contains.
const MARK: &str = "namespace Svc\\Connector;";

/// Beginning and end of the line with the secret.
const SECRET_LINE: [&str; 2] = ["return '", "';"];

/// Number of characters of a new secret: letters and digits.
const SECRET_LENGTH: usize = 48;

/// A file that cannot be read or written, with the reason.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

type Result<T> = std::result::Result<T, Error>;

/// Adds what was tried to an error.
fn context(what: String) -> impl FnOnce(io::Error) -> Error {
    move |error| Error(format!("{what}: {error}"))
}

/// Maximum size of a file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The files of a connector.
#[derive(Debug)]
pub struct Files {
    wp_config: PathBuf,
    /// The plugin.
    pub plugin: PathBuf,
    /// The file with the secret.
    pub secret: PathBuf,
}

/// State of the plugin's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Installed {
    /// There is none.
    No,
    /// Another version.
    Other,
    /// The version of this program.
    Current,
    /// A file of somebody else.
    Foreign,
}

impl Installed {
    /// The state, for users.
    pub fn describe(self) -> &'static str {
        match self {
            Installed::No => "not installed; `svc-server connector install` installs it",
            Installed::Other => "another version; run `svc-server connector install`",
            Installed::Current => "installed",
            Installed::Foreign => "a file of somebody else has its name",
        }
    }
}

/// The file with the secret of the site with this `wp-config.php`.
pub fn secret_path(wp_config: &Path) -> PathBuf {
    wp_config.with_file_name(SECRET_FILE)
}

/// The secret in a file; `None` if the file does not exist.
///
/// # Errors
/// If it cannot be read, or contains no secret.
pub fn read_secret(path: &Path) -> io::Result<Option<Secret>> {
    let Some(text) = read(path)? else { return Ok(None) };
    let [start, end] = SECRET_LINE;
    let secret = text.lines().find_map(|line| line.strip_prefix(start)?.strip_suffix(end));
    match secret.filter(|secret| secret.len() >= 32 && secret.bytes().all(|b| b.is_ascii_alphanumeric())) {
        Some(secret) => Ok(Some(Secret::new(secret.to_owned()))),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "it contains no secret of a connector")),
    }
}

/// The text of a file; `None` if it does not exist.
fn read(path: &Path) -> io::Result<Option<String>> {
    let file = match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut text = String::new();
    file.take(MAX_FILE).read_to_string(&mut text)?;
    Ok(Some(text))
}

impl Files {
    /// The files of a site.
    pub fn new(wp_config: &Path, content_dir: &Path) -> Self {
        Files {
            wp_config: wp_config.to_owned(),
            plugin: content_dir.join("mu-plugins").join(PLUGIN_FILE),
            secret: secret_path(wp_config),
        }
    }

    /// The state of the plugin.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn installed(&self) -> Result<Installed> {
        let text = read(&self.plugin).map_err(context(format!("cannot read {}", self.plugin.display())))?;
        Ok(match text {
            None => Installed::No,
            Some(text) if text == PLUGIN => Installed::Current,
            Some(text) if text.contains(MARK) => Installed::Other,
            Some(_) => Installed::Foreign,
        })
    }

    /// Writes the plugin and, unless there is one, a secret. Returns whether the secret is new.
    ///
    /// # Errors
    /// If a file cannot be written, or one of somebody else has the plugin's name.
    pub fn install(&self) -> Result<bool> {
        self.refuse_foreign()?;
        if !self.wp_config.is_file() {
            return Err(Error(format!("there is no file {}", self.wp_config.display())));
        }
        let cannot_write = |path: &Path| context(format!("cannot write {}", path.display()));
        // The secret first: the plugin rejects all requests without one.
        let known = read_secret(&self.secret).map_err(context(format!("cannot use {}", self.secret.display())))?;
        if known.is_none() {
            let secret = random(SECRET_LENGTH).map_err(context("cannot make a secret".to_owned()))?;
            let [start, end] = SECRET_LINE;
            let text = format!(
                "<?php\n// Secret of the svc connector. Anyone who knows it can send requests to the connector.\n{start}{secret}{end}\n"
            );
            write(&self.secret, &text, &self.wp_config, false).map_err(cannot_write(&self.secret))?;
        }
        let no_path = || Error("the content folder has no path".to_owned());
        let folder = self.plugin.parent().ok_or_else(no_path)?;
        if !folder.is_dir() {
            fs::create_dir(folder).map_err(context(format!("cannot create {}", folder.display())))?;
            let content = folder.parent().ok_or_else(no_path)?;
            inherit(folder, content, true).map_err(cannot_write(folder))?;
        }
        self.remove_former()?;
        write(&self.plugin, PLUGIN, folder, true).map_err(cannot_write(&self.plugin))?;
        Ok(known.is_none())
    }

    /// Deletes the plugin and the secret. Returns the deleted files.
    ///
    /// # Errors
    /// If a file cannot be deleted, or one of somebody else has the plugin's name.
    pub fn remove(&self) -> Result<Vec<&Path>> {
        self.refuse_foreign()?;
        self.remove_former()?;
        let mut removed = Vec::new();
        for path in [&self.plugin, &self.secret] {
            match fs::remove_file(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => {
                    result.map_err(context(format!("cannot delete {}", path.display())))?;
                    removed.push(path.as_path());
                }
            }
        }
        Ok(removed)
    }

    /// Deletes the plugin of an earlier version.
    fn remove_former(&self) -> Result<()> {
        let former = self.plugin.with_file_name(FORMER_FILE);
        let text = read(&former).map_err(context(format!("cannot read {}", former.display())))?;
        if text.is_some_and(|text| text.contains(MARK)) {
            fs::remove_file(&former).map_err(context(format!("cannot delete {}", former.display())))?;
        }
        Ok(())
    }

    fn refuse_foreign(&self) -> Result<()> {
        if self.installed()? == Installed::Foreign {
            return Err(Error(format!("{} is not a file of this program; move it first", self.plugin.display())));
        }
        Ok(())
    }
}

/// Writes a file as a whole: to a temporary file, which then replaces it. It gets the owner and group of `like`, and its mode without
/// the right to execute. Only a `public` file can be read by everybody.
fn write(path: &Path, text: &str, like: &Path, public: bool) -> io::Result<()> {
    let suffix = random(8)?;
    // WordPress loads files in `mu-plugins` whose names end with `.php`.
    let temporary = path.with_extension(format!("new-{suffix}"));
    let written = (|| {
        let mut file = private_file(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        inherit(&temporary, like, public)?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        drop(fs::remove_file(&temporary));
    }
    written
}

#[cfg(unix)]
fn private_file(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn private_file(path: &Path) -> io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).open(path)
}

/// Gives a file or folder the owner, group and mode of another one. A public one can be read by everybody.
#[cfg(unix)]
fn inherit(path: &Path, like: &Path, public: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    let (of, own) = (fs::metadata(like)?, fs::metadata(path)?);
    if (of.uid(), of.gid()) != (own.uid(), own.gid()) {
        chown(path, Some(of.uid()), Some(of.gid())).map_err(|error| {
            io::Error::new(error.kind(), format!("it must belong to the owner of {}: {error}", like.display()))
        })?;
    }
    let mode = match (own.is_dir(), public) {
        (true, _) => of.mode() & 0o777,
        (false, true) => (of.mode() & 0o666) | 0o444,
        (false, false) => of.mode() & 0o666,
    };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn inherit(_path: &Path, _like: &Path, _public: bool) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> (tempfile::TempDir, Files) {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("wp-config.php");
        fs::write(&config, "<?php").unwrap();
        fs::create_dir(folder.path().join("content")).unwrap();
        let files = Files::new(&config, &folder.path().join("content"));
        (folder, files)
    }

    #[test]
    fn the_plugin_has_the_version_that_is_expected() {
        let version = crate::connector::VERSION;
        for text in [format!("\n * Version: {version}\n"), format!("'connector'    => {version},\n")] {
            assert!(PLUGIN.contains(&text), "{text}");
        }
    }

    #[test]
    fn installs_and_removes() {
        let (_folder, files) = site();
        assert_eq!(files.installed().unwrap(), Installed::No);
        assert!(files.install().unwrap(), "a new secret");
        assert_eq!(files.installed().unwrap(), Installed::Current);
        let secret = read_secret(&files.secret).unwrap().unwrap();
        assert_eq!(secret.expose().len(), SECRET_LENGTH);
        fs::write(&files.plugin, format!("<?php {MARK} older")).unwrap();
        assert_eq!(files.installed().unwrap(), Installed::Other);
        let former = files.plugin.with_file_name(FORMER_FILE);
        fs::write(&former, format!("<?php {MARK} older")).unwrap();
        assert!(!files.install().unwrap());
        assert!(!former.exists(), "WordPress cannot load both");
        assert_eq!(read_secret(&files.secret).unwrap().unwrap().expose(), secret.expose(), "the secret is unchanged");
        assert_eq!(files.remove().unwrap().len(), 2);
        assert_eq!(files.remove().unwrap().len(), 0);
        let left = fs::read_dir(files.plugin.parent().unwrap()).unwrap().count();
        assert_eq!(left, 0, "no temporary file");
    }

    #[test]
    fn refuses_foreign_files() {
        let (_folder, files) = site();
        fs::create_dir(files.plugin.parent().unwrap()).unwrap();
        fs::write(&files.plugin, "<?php // something else").unwrap();
        assert!(files.install().unwrap_err().to_string().contains("is not a file of this program"));
        assert!(files.remove().is_err());
        assert!(!files.secret.exists());
    }

    #[test]
    fn rejects_a_file_without_a_secret() {
        let (_folder, files) = site();
        for text in ["", "<?php\nreturn 'short';\n", "<?php\nreturn '0123456789012345678901234567890123456789\\';\n"] {
            fs::write(&files.secret, text).unwrap();
            assert!(read_secret(&files.secret).is_err(), "{text}");
            assert!(files.install().is_err(), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_secret_is_as_private_as_the_configuration() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_folder, files) = site();
        for (config, secret) in [(0o644, 0o644), (0o640, 0o640), (0o600, 0o600), (0o755, 0o644)] {
            fs::set_permissions(&files.wp_config, fs::Permissions::from_mode(config)).unwrap();
            files.install().unwrap();
            let mode = fs::metadata(&files.secret).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, secret, "{config:o}");
            files.remove().unwrap();
        }
    }
}
