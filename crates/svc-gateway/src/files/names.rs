//! Which files of a site may be sent or run, according to the URL and the names.

/// Extensions of PHP's source code, in lower case. Servers with other settings run some of them.
const PHP: [&str; 5] = ["php", "phtml", "phar", "phps", "pht"];

/// Other extensions of files that no visitor is meant to read, in lower case: parts of programs, copies that editors and people leave,
/// dumps, logs and settings.
const PRIVATE: [&str; 12] = ["inc", "bak", "old", "orig", "save", "swp", "swo", "sql", "log", "ini", "conf", "sh"];

/// A file with a secret of the connector.
const CONNECTOR_SECRET: &str = "svc-connector-secret.php";

/// Folders whose content is uploaded: no script runs there, regardless of the folder that has them.
const UPLOADS: [&str; 3] = ["uploads", "files", "blogs.dir"];

/// The way in which a file may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It is sent as it is.
    Send,
    /// It is run.
    Run,
    /// Neither.
    Nothing,
}

/// The path of a URL, as the path of a file below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Normal {
    /// Names, none of which is empty, `.` or `..`.
    pub(crate) names: Vec<String>,
    /// Whether the path ends with a slash, or is that of the folder.
    pub(crate) is_folder: bool,
}

/// A path that no server should accept: it has a NUL, or leads out of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hostile;

/// Decodes and normalizes the path of a URL, as nginx does. `None` if it cannot be that of a file, but may be one of WordPress's URLs.
pub(crate) fn normalize(path: &str) -> Result<Option<Normal>, Hostile> {
    let decoded: Vec<u8> = percent_encoding::percent_decode_str(path).collect();
    if decoded.contains(&0) {
        return Err(Hostile);
    }
    let (mut names, mut is_folder) = (Vec::new(), true);
    for name in decoded.split(|byte| *byte == b'/') {
        is_folder = matches!(name, b"" | b"." | b"..");
        match name {
            b"" | b"." => {}
            b".." => drop(names.pop().ok_or(Hostile)?),
            name => names.push(name),
        }
    }
    let is_name = |name: &str| {
        let has_drive = cfg!(windows) && (name.contains(':') || name.ends_with(['.', ' ']));
        !name.contains(|c: char| c == '\\' || c.is_control()) && !has_drive
    };
    let names: Option<Vec<String>> = names
        .into_iter()
        .map(|name| std::str::from_utf8(name).ok().filter(|name| is_name(name)).map(str::to_owned))
        .collect();
    Ok(names.map(|names| Normal { names, is_folder }))
}

/// The way in which clients may use the file or folder of these names.
pub(crate) fn for_clients(names: &[impl AsRef<str>]) -> Use {
    let lower: Vec<String> = names.iter().map(|name| name.as_ref().to_lowercase()).collect();
    let is_hidden = |(at, name): (usize, &String)| name.starts_with('.') && !(at == 0 && name == ".well-known");
    let Some((name, folders)) = lower.split_last() else { return Use::Send };
    if lower.iter().enumerate().any(is_hidden) || is_secret(name) {
        return Use::Nothing;
    }
    // The name itself, since php-fpm and some file systems distinguish case.
    if names.last().is_some_and(|name| name.as_ref().ends_with(".php")) {
        let is_upload = folders.iter().any(|folder| UPLOADS.contains(&folder.as_str()));
        return if is_upload { Use::Nothing } else { Use::Run };
    }
    let is_private = extensions(name).last().is_some_and(|last| PRIVATE.contains(&last));
    if is_source(name) || is_private { Use::Nothing } else { Use::Send }
}

/// Whether a script may let the server send a file of this name.
pub(crate) fn for_scripts(name: &str) -> bool {
    let name = name.to_lowercase();
    !name.starts_with('.') && !is_secret(&name) && !is_source(&name)
}

/// Whether the file has keys or passwords.
fn is_secret(name: &str) -> bool {
    name.starts_with("wp-config.") || name.starts_with(CONNECTOR_SECRET)
}

/// Whether one of the extensions is that of PHP's source code: also that of a copy (`a.php.txt`, `a.php~`).
fn is_source(name: &str) -> bool {
    extensions(name).any(|extension| PHP.contains(&extension))
}

/// The extensions of a file, without the version of PHP (`php5`) and what editors add to the names of copies.
fn extensions(name: &str) -> impl Iterator<Item = &str> {
    name.split('.').skip(1).map(|extension| {
        let end = extension.find(|c: char| !c.is_ascii_alphabetic() && c != '_').unwrap_or(extension.len());
        &extension[..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded_once_and_normalized() {
        for (path, names, is_folder) in [
            ("/", &[][..], true),
            ("", &[], true),
            ("/a/b.css", &["a", "b.css"], false),
            ("//a///b/", &["a", "b"], true),
            ("/a/./b/../c", &["a", "c"], false),
            ("/a/..", &[], true),
            ("/a/%2e%2e/b", &["b"], false),
            ("/a%2Fb", &["a", "b"], false),
            ("/%252e%252e/a", &["%2e%2e", "a"], false),
            ("/caf%C3%A9", &["caf\u{e9}"], false),
            ("/100%", &["100%"], false),
            ("/.../a", &["...", "a"], false),
        ] {
            let expected = Normal { names: names.iter().map(|&name| name.to_owned()).collect(), is_folder };
            assert_eq!(normalize(path), Ok(Some(expected)), "{path}");
        }
        for no_file in ["/a%5Cb", "/..%5C..%5Cwp-config.php", "/%ff", "/a%0Ab", "/a\\b", "/%c0%ae%c0%ae/a"] {
            assert_eq!(normalize(no_file), Ok(None), "{no_file}");
        }
        for hostile in ["/..", "/../a", "/a/../../b", "/%2e%2e/%2e%2e/etc/passwd", "/..%2fa", "/a%00.jpg", "/a.php%00"]
        {
            assert_eq!(normalize(hostile), Err(Hostile), "{hostile}");
        }
    }

    #[test]
    fn what_clients_may_use() {
        for (path, expected) in [
            ("", Use::Send),
            ("index.php", Use::Run),
            ("wp-admin/admin-ajax.php", Use::Run),
            ("wp-config-sample.php", Use::Run),
            ("wp-content/plugins/a/b.php", Use::Run),
            ("readme.html", Use::Send),
            ("wp-content/uploads/2026/11/a.jpg", Use::Send),
            ("wp-content/uploads/a.php_.jpg", Use::Send),
            ("wp-includes/js/a.min.js", Use::Send),
            ("php", Use::Send),
            ("a.phpx", Use::Send),
            (".well-known/acme-challenge/x", Use::Send),
            // Configuration and secrets.
            ("wp-config.php", Use::Nothing),
            ("WP-Config.PHP", Use::Nothing),
            ("wp-config.php.bak", Use::Nothing),
            ("wp-config.txt", Use::Nothing),
            ("blog/wp-config.php", Use::Nothing),
            ("wp-content/mu-plugins/svc-connector-secret.php", Use::Nothing),
            ("wp-content/mu-plugins/svc-connector-secret.php.old", Use::Nothing),
            // Hidden files and folders.
            (".htaccess", Use::Nothing),
            (".git/config", Use::Nothing),
            ("wp-content/.env", Use::Nothing),
            ("a/.well-known/x", Use::Nothing),
            (".well-known/.htpasswd", Use::Nothing),
            (".hidden/a.php", Use::Nothing),
            ("...", Use::Nothing),
            // Source code under other names.
            ("a.PHP", Use::Nothing),
            ("a.Php", Use::Nothing),
            ("a.php5", Use::Nothing),
            ("a.php~", Use::Nothing),
            ("a.php.", Use::Nothing),
            ("a.php.txt", Use::Nothing),
            ("a.php.jpg", Use::Nothing),
            ("a.php-old", Use::Nothing),
            ("a.phtml", Use::Nothing),
            ("a.phar", Use::Nothing),
            ("a.phps", Use::Nothing),
            ("a.inc", Use::Nothing),
            ("a.INC", Use::Nothing),
            ("a.inc~", Use::Nothing),
            // Dumps and logs.
            ("wp-content/debug.log", Use::Nothing),
            ("dump.sql", Use::Nothing),
            ("dump.sql.gz", Use::Send),
            ("php.ini", Use::Nothing),
            // Uploads.
            ("wp-content/uploads/a.php", Use::Nothing),
            ("wp-content/Uploads/2026/a.php", Use::Nothing),
            ("files/a.php", Use::Nothing),
            ("wp-content/blogs.dir/1/a.php", Use::Nothing),
            ("uploads.php", Use::Run),
        ] {
            let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
            assert_eq!(for_clients(&names), expected, "{path}");
        }
    }

    #[test]
    fn what_scripts_may_send() {
        for (name, expected) in [
            ("a.pdf", true),
            ("report.log", true),
            ("dump.sql", true),
            ("a.php", false),
            ("a.PHP", false),
            ("wp-config.php", false),
            (".htpasswd", false),
            ("svc-connector-secret.php", false),
        ] {
            assert_eq!(for_scripts(name), expected, "{name}");
        }
    }
}
