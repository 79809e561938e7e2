//! What a proxy is built with, besides the upstream.

use std::{path::PathBuf, time::Duration};

/// Limits on forwarded requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time limit for a connection.
    pub connect: Duration,
    /// Time limit for the head of the response, from the last part of the request that was sent.
    pub response: Duration,
    /// Time limit between two parts of the response's body.
    pub idle: Duration,
    /// Maximum number of requests that are forwarded at the same time. Four times as many may wait for their turn.
    pub requests: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
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
    pub limits: Limits,
    /// The site's files. Only a FastCGI upstream uses them.
    pub site: Site,
}

impl From<Limits> for Options {
    fn from(limits: Limits) -> Self {
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
