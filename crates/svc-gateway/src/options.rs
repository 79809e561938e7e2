//! Options of a proxy: limits, and the files of a site.

use std::{path::PathBuf, str::FromStr, time::Duration};

/// Limits on forwarded requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyLimits {
    /// Time limit for a connection.
    pub connect: Duration,
    /// Time limit for the head of the response, from the last part of the request that was sent.
    pub response: Duration,
    /// Time limit between two parts of the response's body.
    pub idle: Duration,
    /// Maximum number of requests that are forwarded at the same time. Four times as many may wait for their turn.
    pub requests: usize,
}

impl Default for ProxyLimits {
    fn default() -> Self {
        ProxyLimits {
            connect: Duration::from_secs(5),
            response: Duration::from_secs(60),
            idle: Duration::from_secs(60),
            requests: 64,
        }
    }
}

/// Limits, and the site whose scripts a FastCGI upstream runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Limits on forwarded requests.
    pub limits: ProxyLimits,
    /// The site's files. Only a FastCGI upstream uses them.
    pub site: Site,
}

impl From<ProxyLimits> for Options {
    fn from(limits: ProxyLimits) -> Self {
        Options { limits, site: Site::default() }
    }
}

/// The files of a site on this machine, with its scripts. The paths must be the same for php-fpm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Folder of the site: of `index.php`, usually that of `wp-config.php`. Absolute; with an empty one, a FastCGI upstream handles
    /// no request.
    pub root: PathBuf,
    /// Path of the folder's URL: empty, or `/blog`.
    pub path: String,
    /// Host of the site's URL, for `SERVER_NAME`. It does not depend on the request, so that a client cannot choose it.
    pub server_name: String,
    /// Folders besides the root that may contain files of the site: targets of symbolic links, and files that scripts let this
    /// server send.
    pub folders: Vec<SiteFolder>,
    /// Maximum size of a request body in bytes. Larger parts of bodies are in temporary files until they have been received.
    pub body: u64,
}

impl Default for Site {
    fn default() -> Self {
        Site {
            root: PathBuf::new(),
            path: String::new(),
            server_name: "localhost".to_owned(),
            folders: Vec::new(),
            body: 1 << 30,
        }
    }
}

/// A folder outside of the root with files of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFolder {
    /// The folder. Absolute.
    pub folder: PathBuf,
    /// Path that `X-Accel-Redirect` has for the folder, as an internal location with an alias in nginx. Without one,
    /// `X-Accel-Redirect` has the paths of files on disk. `X-Sendfile` always has these.
    pub accel: Option<String>,
}

/// The text is not a folder of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be an absolute path like /srv/files, or a path of X-Accel-Redirect with one, like /protected=/srv/files")]
pub struct InvalidFolder;

impl FromStr for SiteFolder {
    type Err = InvalidFolder;

    /// Reads `/srv/files`, or `/protected=/srv/files` for `X-Accel-Redirect: /protected/…`.
    fn from_str(text: &str) -> Result<Self, InvalidFolder> {
        let (accel, folder) = match text.split_once('=') {
            Some((accel, folder)) => (Some(accel.trim_end()), folder.trim_start()),
            None => (None, text),
        };
        let is_accel = |accel: &str| accel.len() > 1 && accel.starts_with('/');
        let folder = PathBuf::from(folder);
        // The whole disk is a slip, or the end of a variable without a value.
        if !folder.is_absolute() || folder.parent().is_none() || !accel.is_none_or(is_accel) {
            return Err(InvalidFolder);
        }
        Ok(SiteFolder { folder, accel: accel.map(str::to_owned) })
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_a_site() {
        for (text, expected) in [
            ("/srv/files", Some((None, "/srv/files"))),
            ("/protected=/srv/files", Some((Some("/protected"), "/srv/files"))),
            ("/protected/ = /srv/files", Some((Some("/protected/"), "/srv/files"))),
            ("files", None),
            ("/protected=files", None),
            ("protected=/srv/files", None),
            ("/=/srv/files", None),
            ("/", None),
            ("/protected=", None),
            ("", None),
        ] {
            let expected =
                expected.map(|(accel, folder)| SiteFolder { folder: folder.into(), accel: accel.map(str::to_owned) });
            assert_eq!(text.parse::<SiteFolder>().ok(), expected, "{text}");
        }
    }
}
