//! The first things to do with a new site, as commands to copy.

use std::path::Path;

use crate::{
    config::{Config, Environment, SettingOrigin},
    site::OpenSite,
};

/// Commands that create a post on a new site. `login` is the administrator.
///
/// They work in any folder on this machine. If application passwords require TLS, or another process would not find the same
/// site by the data folder alone, the command reads posts instead.
pub(super) fn commands(config: &Config, site: &OpenSite, login: &str) -> Vec<String> {
    let posts = site.server().rest_url(&format!("/{}/posts", site.site().brand.namespace()));
    let is_local = config.environment_for(site.home()) == Environment::Local;
    write_commands(config, login, &posts)
        .filter(|_| is_local || site.home().is_tls())
        .unwrap_or_else(|| vec![format!("curl {}", quoted(&format!("{posts}?_fields=id,title")))])
}

/// Commands that create a post; `None` if the data folder does not select the database. `posts` is the URL of the posts.
fn write_commands(config: &Config, login: &str, posts: &str) -> Option<Vec<String>> {
    if !is_found_by_folder(config) {
        return None;
    }
    let (program, data) = (program()?, std::path::absolute(&config.data).ok()?);
    let data = quoted(&data.display().to_string());
    Some(vec![
        format!("PASSWORD=$({program} --data {data} app-password create {login} curl --porcelain)"),
        format!("curl -u \"{login}:$PASSWORD\" -d title=Hello -d status=publish {posts}"),
    ])
}

/// The name under which a shell finds this program.
fn program() -> Option<String> {
    let typed = std::env::args_os().next()?.into_string().ok()?;
    let name = Path::new(&typed);
    // A name without a folder was found in the search path.
    let path = if name.components().count() > 1 { std::env::current_exe().ok()? } else { name.to_owned() };
    Some(quoted(path.to_str()?))
}

/// Whether the data folder is enough to find the database: no variable, flag or other file selects it.
fn is_found_by_folder(config: &Config) -> bool {
    let own = |origin: &SettingOrigin| match origin {
        SettingOrigin::Default => true,
        SettingOrigin::File(file, _) => file.parent() == Some(&config.data),
        SettingOrigin::Variable(_) | SettingOrigin::Flag(_) => false,
    };
    config.shown().iter().filter(|s| matches!(s.key, "database" | "table_prefix")).all(|s| own(&s.origin))
}

/// The text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Sources;

    #[test]
    fn words_of_shells() {
        for (text, word) in
            [("/a/b-c", "/a/b-c"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("", "''"), ("x?y", "'x?y'")]
        {
            assert_eq!(quoted(text), word);
        }
    }

    #[test]
    fn a_database_that_the_folder_does_not_select_is_only_read() {
        let folder = tempfile::tempdir().unwrap();
        let config = |variables: &[(&str, &str)]| {
            let variables = variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
            Config::load(&Sources { folder: folder.path().to_owned(), variables, ..Sources::default() }).unwrap()
        };
        assert_eq!(write_commands(&config(&[]), "admin", "http://h/posts").unwrap().len(), 2);
        assert!(write_commands(&config(&[("SVC_DATABASE", "mysql://u:p@h/n")]), "admin", "http://h/posts").is_none());
    }
}
