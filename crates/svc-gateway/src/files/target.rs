//! Finds the file or script of a URL, as `try_files $uri $uri/ /index.php?$args` and a location for `\.php$` do in nginx.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::names::{Hostile, Normal, Use, for_clients, for_scripts, normalize};
use crate::options::Site;

/// The script for all URLs that are not those of files.
const FRONT: &str = "index.php";

/// Files that are the response for their folder, first choice first.
const INDEXES: [&str; 2] = [FRONT, "index.html"];

/// Characters of a name that are escaped in a URL: all but those that RFC 3986 allows in a segment.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@');

/// A script to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// Path of its URL, decoded.
    pub(crate) url: String,
    /// The file.
    pub(crate) file: PathBuf,
}

/// The meaning of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileTarget {
    Script(Script),
    File(PathBuf),
    /// A folder without its slash. The path of the URL with it.
    Redirect(String),
    /// Nothing that clients may use, or no such file. The response is the same, so that it does not show which files exist.
    NotFound,
    /// The path is invalid.
    Invalid,
}

/// Finds files of a site. All methods read the disk, so they are called on threads that may wait.
pub(crate) struct Files {
    site: Site,
    /// The names in the path of the site's URL.
    path: Vec<String>,
    /// The folder that URLs with an empty path mean, for `DOCUMENT_ROOT`.
    document_root: PathBuf,
}

impl Files {
    pub(crate) fn new(site: Site) -> Self {
        let path = normalize(&site.path).ok().flatten().map(|path| path.names).unwrap_or_default();
        // `/srv/blog` at `/blog` is in the document root `/srv`. A folder with another name has no parent with all URLs.
        let document_root = match path.iter().rev().try_fold(&*site.root, |folder, name| {
            folder.parent().filter(|_| folder.file_name().is_some_and(|own| own == name.as_str()))
        }) {
            Some(folder) => folder.to_owned(),
            None => site.root.clone(),
        };
        Files { site, path, document_root }
    }

    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    pub(crate) fn document_root(&self) -> &Path {
        &self.document_root
    }

    /// Finds the meaning of a path of a URL.
    pub(crate) fn find(&self, path: &str) -> FileTarget {
        let Normal { names, is_folder } = match normalize(path) {
            Ok(Some(normal)) => normal,
            Ok(None) => return self.front(),
            Err(Hostile) => return FileTarget::Invalid,
        };
        let Some(names) = names.strip_prefix(&self.path[..]) else { return FileTarget::NotFound };
        if for_clients(names) == Use::Nothing {
            return FileTarget::NotFound;
        }
        let file = join(&self.site.root, names);
        match fs::metadata(&file) {
            Ok(about) if about.is_dir() => self.folder(names, &file, is_folder),
            Ok(about) if about.is_file() && !is_folder => self.file(names, file),
            Ok(about) if about.is_file() => self.front(),
            // A pipe or a device.
            Ok(_) => FileTarget::NotFound,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => FileTarget::NotFound,
            Err(_) => self.front(),
        }
    }

    fn front(&self) -> FileTarget {
        self.script(&[FRONT], self.site.root.join(FRONT))
    }

    fn script(&self, names: &[impl AsRef<str>], file: PathBuf) -> FileTarget {
        let names = self.path.iter().map(String::as_str).chain(names.iter().map(AsRef::as_ref));
        let url = names.fold(String::new(), |url, name| url + "/" + name);
        FileTarget::Script(Script { url, file })
    }

    fn folder(&self, names: &[String], folder: &Path, has_slash: bool) -> FileTarget {
        let Some(index) = INDEXES.into_iter().find(|index| folder.join(index).is_file()) else { return self.front() };
        if has_slash {
            let names: Vec<&str> = names.iter().map(String::as_str).chain([index]).collect();
            return self.file(&names, folder.join(index));
        }
        let names = self.path.iter().chain(names).map(|name| utf8_percent_encode(name, ESCAPED));
        FileTarget::Redirect(names.fold(String::new(), |url, name| format!("{url}/{name}")) + "/")
    }

    /// A file, whose real name decides as well: a link must not give another name to a file that clients may not use.
    fn file(&self, names: &[impl AsRef<str>], file: PathBuf) -> FileTarget {
        let Some(real) = self.real_names(&file, |_| true) else { return FileTarget::NotFound };
        match (for_clients(names), for_clients(&real)) {
            (Use::Send, Use::Send) => FileTarget::File(file),
            (Use::Run, Use::Run) => self.script(names, file),
            _ => FileTarget::NotFound,
        }
    }

    /// The names of a file without symbolic links, below the root or one of the other folders of the site. `None` if it is elsewhere.
    fn real_names(&self, file: &Path, uses: impl Fn(&crate::options::SiteFolder) -> bool) -> Option<Vec<String>> {
        let real = fs::canonicalize(file).ok()?;
        let others = self.site.folders.iter().filter(|folder| uses(folder)).map(|folder| &folder.folder);
        let below = [&self.site.root].into_iter().chain(others).find_map(|folder| {
            let folder = fs::canonicalize(folder).ok()?;
            real.strip_prefix(folder).ok()
        })?;
        below.iter().map(|name| name.to_str().map(str::to_owned)).collect()
    }

    /// The file that a script sends with `X-Accel-Redirect`: the path of a URL of the site, of one of its folders, or on disk.
    pub(crate) fn for_accel(&self, path: &str) -> Option<PathBuf> {
        let path = path.split('?').next().filter(|path| path.starts_with('/'))?;
        let names = normalize(path).ok().flatten().filter(|normal| !normal.is_folder)?.names;
        for folder in &self.site.folders {
            let prefix = folder.accel.as_deref().and_then(|prefix| normalize(prefix).ok().flatten());
            if let Some(below) = prefix.and_then(|prefix| names.strip_prefix(&prefix.names[..])) {
                return self.sendable(join(&folder.folder, below), |_| true);
            }
        }
        let below = names.strip_prefix(&self.path[..]);
        let of_url = below.and_then(|below| self.sendable(join(&self.site.root, below), |_| true));
        of_url.or_else(|| self.sendable(join(Path::new("/"), &names), |folder| folder.accel.is_none()))
    }

    /// The file that a script sends with `X-Sendfile`: a path on disk, which may be escaped as in a URL.
    pub(crate) fn for_sendfile(&self, path: &str) -> Option<PathBuf> {
        let sendable =
            |path: &str| Path::new(path).is_absolute().then(|| self.sendable(path.into(), |_| true)).flatten();
        let decoded = || percent_encoding::percent_decode_str(path).decode_utf8().ok();
        sendable(path).or_else(|| sendable(&decoded()?))
    }

    fn sendable(&self, file: PathBuf, uses: impl Fn(&crate::options::SiteFolder) -> bool) -> Option<PathBuf> {
        let names = self.real_names(&file, uses)?;
        let own_name = file.file_name().and_then(|name| name.to_str())?;
        let is_allowed = for_scripts(own_name) && names.iter().all(|name| for_scripts(name));
        (is_allowed && file.is_file()).then_some(file)
    }
}

fn join(folder: &Path, names: &[String]) -> PathBuf {
    let mut file = folder.to_owned();
    file.extend(names);
    file
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::options::SiteFolder;

    /// A folder with the site `www`, a folder for its uploads, and a file that belongs to neither.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        for file in [
            "www/index.php",
            "www/readme.html",
            "www/wp-config.php",
            "www/wp-login.php",
            "www/a b.txt",
            "www/.htaccess",
            "www/.well-known/security.txt",
            "www/wp-admin/index.php",
            "www/static/index.html",
            "www/wp-content/index.php",
            "www/wp-content/debug.log",
            "www/wp-content/plugins/x/run.php",
            "www/wp-content/plugins/x/RUN2.PHP",
            "www/wp-content/uploads/index.php",
            "www/wp-content/uploads/a.jpg",
            "www/wp-content/uploads/shell.php",
            "www/wp-content/uploads/evil.jpg/x.css",
            "store/hidden.pdf",
            "store/other.php",
            "store/.secret",
            "elsewhere/passwords.txt",
        ] {
            fs::create_dir_all(at.join(file).parent().unwrap()).unwrap();
            // Of these files, clients may only run scripts.
            let hidden = [".php", ".PHP", ".htaccess", ".log", ".secret", "passwords.txt", "hidden.pdf"];
            let content = if hidden.iter().any(|end| file.ends_with(end)) { "secret" } else { "x" };
            fs::write(at.join(file), content).unwrap();
        }
        fs::create_dir(at.join("www/empty")).unwrap();
        for (link, to) in [
            ("www/stored", "store"),
            ("www/out", "elsewhere"),
            ("www/config.txt", "www/wp-config.php"),
            ("www/login.txt", "www/wp-login.php"),
            ("www/text.php", "www/readme.html"),
            ("www/picture.jpg", "www/wp-content/uploads/a.jpg"),
        ] {
            symlink(at.join(to), at.join(link)).unwrap();
        }
        folder
    }

    fn files(at: &Path, path: &str, folders: Vec<SiteFolder>) -> Files {
        Files::new(Site { root: at.join("www"), path: path.to_owned(), folders, ..Site::default() })
    }

    fn shown(target: FileTarget, root: &Path) -> String {
        let below = |file: &Path| file.strip_prefix(root).unwrap().display().to_string();
        match target {
            FileTarget::Script(script) => {
                let file = below(&script.file);
                assert!(script.url.ends_with(&format!("/{file}")), "{script:?}");
                format!("run {file}")
            }
            FileTarget::File(file) => format!("send {}", below(&file)),
            FileTarget::Redirect(to) => format!("to {to}"),
            FileTarget::NotFound => "404".to_owned(),
            FileTarget::Invalid => "400".to_owned(),
        }
    }

    #[test]
    fn urls_mean_files_folders_scripts_or_the_front_script() {
        let folder = folder();
        let files = files(folder.path(), "", Vec::new());
        for (path, expected) in [
            ("/", "run index.php"),
            ("", "run index.php"),
            ("/index.php", "run index.php"),
            ("/hello-world/", "run index.php"),
            ("/index.php/hello-world/", "run index.php"),
            ("/wp-login.php", "run wp-login.php"),
            ("//wp-login.php", "run wp-login.php"),
            ("/wp-login.php/x", "run index.php"),
            ("/wp-login.php/", "run index.php"),
            ("/%77p-login.php", "run wp-login.php"),
            ("/WP-LOGIN.PHP", "404"),
            ("/nothing.php", "run index.php"),
            ("/readme.html", "send readme.html"),
            ("/readme.html/", "run index.php"),
            ("/a%20b.txt", "send a b.txt"),
            ("/a%2520b.txt", "run index.php"),
            ("/wp-admin", "to /wp-admin/"),
            ("//wp-admin", "to /wp-admin/"),
            ("/wp-admin/", "run wp-admin/index.php"),
            ("/static", "to /static/"),
            ("/static/", "send static/index.html"),
            ("/empty", "run index.php"),
            ("/empty/", "run index.php"),
            ("/wp-content/", "run wp-content/index.php"),
            ("/wp-content/plugins/x/run.php", "run wp-content/plugins/x/run.php"),
            ("/wp-content/plugins/x/RUN2.PHP", "404"),
            ("/wp-content/debug.log", "404"),
            ("/wp-content/uploads/a.jpg", "send wp-content/uploads/a.jpg"),
            ("/wp-content/uploads/a.jpg/x.php", "404"),
            ("/readme.html/x.php", "run index.php"),
            ("/wp-content/uploads/", "404"),
            ("/wp-content/uploads/shell.php", "404"),
            ("/wp-content/x/../uploads/shell.php", "404"),
            ("/wp-content/uploads/none.php", "404"),
            ("/wp-content/uploads/none.jpg", "run index.php"),
            ("/wp-config.php", "404"),
            ("/x/../wp-config.php", "404"),
            ("/.htaccess", "404"),
            ("/.git/HEAD", "404"),
            ("/.well-known/security.txt", "send .well-known/security.txt"),
            ("/.well-known/none", "run index.php"),
            ("/../elsewhere/passwords.txt", "400"),
            ("/..%2felsewhere/passwords.txt", "400"),
            ("/wp-login.php%00.jpg", "400"),
            ("/..%5celsewhere%5cpasswords.txt", "run index.php"),
            // Symbolic links.
            ("/picture.jpg", "send picture.jpg"),
            ("/out/passwords.txt", "404"),
            ("/stored/hidden.pdf", "404"),
            ("/config.txt", "404"),
            ("/login.txt", "404"),
            ("/text.php", "404"),
        ] {
            assert_eq!(shown(files.find(path), &folder.path().join("www")), expected, "{path}");
        }
    }

    #[test]
    fn links_may_lead_to_folders_of_the_site() {
        let folder = folder();
        let files = files(folder.path(), "", vec![SiteFolder { folder: folder.path().join("store"), accel: None }]);
        for (path, expected) in [
            ("/stored/hidden.pdf", "send stored/hidden.pdf"),
            ("/stored/other.php", "run stored/other.php"),
            ("/stored/.secret", "404"),
            ("/out/passwords.txt", "404"),
        ] {
            assert_eq!(shown(files.find(path), &folder.path().join("www")), expected, "{path}");
        }
    }

    #[test]
    fn a_site_below_a_path() {
        let folder = folder();
        let root = folder.path().join("www");
        let blog = files(folder.path(), "/blog", Vec::new());
        for (path, expected) in [
            ("/blog", "to /blog/"),
            ("/blog/", "run index.php"),
            ("/blog/readme.html", "send readme.html"),
            ("/blog/wp-admin", "to /blog/wp-admin/"),
            ("/blog/.htaccess", "404"),
            ("/readme.html", "404"),
            ("/blogger/", "404"),
        ] {
            assert_eq!(shown(blog.find(path), &root), expected, "{path}");
        }
        let FileTarget::Script(script) = blog.find("/blog/x/") else { panic!("no script") };
        assert_eq!((script.url.as_str(), script.file), ("/blog/index.php", root.join("index.php")));
        assert_eq!(blog.document_root(), root);
        assert_eq!(files(folder.path(), "/www", Vec::new()).document_root(), folder.path());
        assert_eq!(files(folder.path(), "", Vec::new()).document_root(), root);
    }

    #[test]
    fn files_that_scripts_send() {
        let folder = folder();
        let at = folder.path().display().to_string();
        let store = |accel: Option<&str>| {
            vec![SiteFolder { folder: folder.path().join("store"), accel: accel.map(str::to_owned) }]
        };
        let check = |files: &Files, path: &str, accel: Option<&str>, sendfile: Option<&str>| {
            let below = |file: Option<PathBuf>| file.map(|file| file.strip_prefix(&at).unwrap().display().to_string());
            assert_eq!(below(files.for_accel(path)).as_deref(), accel, "X-Accel-Redirect: {path}");
            assert_eq!(below(files.for_sendfile(path)).as_deref(), sendfile, "X-Sendfile: {path}");
        };
        let upload = "www/wp-content/uploads/a.jpg";
        let hidden = "store/hidden.pdf";
        let plain = files(folder.path(), "", Vec::new());
        check(&plain, "/wp-content/uploads/a.jpg", Some(upload), None);
        check(&plain, "/wp-content/debug.log?x=1", Some("www/wp-content/debug.log"), None);
        check(&plain, &format!("{at}/{upload}"), Some(upload), Some(upload));
        check(&plain, &format!("{at}/www/a%20b.txt"), Some("www/a b.txt"), Some("www/a b.txt"));
        check(&plain, "/a%20b.txt", Some("www/a b.txt"), None);
        for refused in [
            "/wp-config.php",
            "/wp-login.php",
            "/config.txt",
            "/.htaccess",
            "/out/passwords.txt",
            "/static",
            "a.txt",
            "",
        ] {
            check(&plain, refused, None, None);
            check(&plain, &format!("{at}/www{refused}"), None, None);
        }
        check(&plain, &format!("{at}/{hidden}"), None, None);
        check(&plain, &format!("{at}/www/../elsewhere/passwords.txt"), None, None);

        let allowed = files(folder.path(), "", store(None));
        check(&allowed, &format!("{at}/{hidden}"), Some(hidden), Some(hidden));
        check(&allowed, &format!("{at}/store/other.php"), None, None);
        check(&allowed, &format!("{at}/store/.secret"), None, None);
        let alias = files(folder.path(), "/blog", store(Some("/protected/")));
        check(&alias, "/protected/hidden.pdf", Some(hidden), None);
        check(&alias, "/protected/../hidden.pdf", None, None);
        check(&alias, &format!("{at}/{hidden}"), None, Some(hidden));
        check(&alias, "/blog/readme.html", Some("www/readme.html"), None);
        check(&alias, "/readme.html", None, None);
    }

    /// Parts of URLs, some of which clients use in attacks.
    const PARTS: [&str; 36] = [
        "/",
        "/",
        "/",
        "/",
        "//",
        "..",
        "..",
        ".",
        "%2f",
        "%2F",
        "%2e",
        "%2e%2e",
        "%252e%252e",
        "%5c",
        "\\",
        "%00",
        "%0a",
        "%",
        "wp-config.php",
        "wp-%63onfig.php",
        "config.txt",
        "index.php",
        "wp-login.php",
        "text.php",
        "readme.html",
        "wp-content",
        "uploads",
        "shell.php",
        "a.jpg",
        "evil.jpg",
        "out",
        "stored",
        "passwords.txt",
        "hidden.pdf",
        ".htaccess",
        "debug.log",
    ];

    #[test]
    fn no_url_leads_to_other_files() {
        let folder = folder();
        let root = fs::canonicalize(folder.path().join("www")).unwrap();
        let files = files(folder.path(), "", Vec::new());
        let urls = proptest::collection::vec(proptest::sample::select(&PARTS[..]), 0..10);
        let config = proptest::test_runner::Config { failure_persistence: None, ..Default::default() };
        let mut runner =
            proptest::test_runner::TestRunner::new(proptest::test_runner::Config { cases: 3000, ..config });
        let mut kinds = std::collections::BTreeSet::new();
        let kinds = std::cell::RefCell::new(&mut kinds);
        runner
            .run(&urls, |parts| {
                let url = format!("/{}", parts.concat());
                let target = files.find(&url);
                kinds.borrow_mut().insert(shown(target.clone(), &root).split(' ').next().unwrap().to_owned());
                match target {
                    FileTarget::File(file) => {
                        assert!(fs::canonicalize(&file).unwrap().starts_with(&root), "{url}");
                        assert_eq!(fs::read_to_string(&file).unwrap(), "x", "{url}");
                    }
                    FileTarget::Script(script) => {
                        let real = fs::canonicalize(&script.file).unwrap();
                        let below = real.strip_prefix(&root).expect("a script of the site");
                        let is_known = ["index.php", "wp-login.php", "wp-content/index.php"]
                            .iter()
                            .any(|own| below == Path::new(own));
                        assert!(is_known, "{url} runs {below:?}");
                    }
                    FileTarget::Redirect(to) => assert!(to.starts_with('/') && !to.starts_with("//"), "{url}"),
                    FileTarget::NotFound | FileTarget::Invalid => {}
                }
                Ok(())
            })
            .unwrap();
        let expected = ["400", "404", "run", "send", "to"];
        assert_eq!(kinds.borrow().iter().map(String::as_str).collect::<Vec<_>>(), expected, "all kinds occur");
    }
}
