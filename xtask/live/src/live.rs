//! `cargo xtask live`: serves the database of a running WordPress site with `--wp-config`. Both must return the same
//! responses, and posts created through one must be visible in the other at once.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use svc_brand::Brand;
use xtask_support::{
    say,
    server::{self, Server, send},
};

/// Paths to compare, below the namespace. They are requested with credentials, because much is not public.
#[rustfmt::skip]
const READS: &[&str] = &[
    "posts?per_page=100", "posts?per_page=100&context=edit&status=any", "posts?search=post&orderby=relevance", "posts?offset=7&order=asc",
    "pages?per_page=100&context=edit", "categories?per_page=100", "tags?per_page=100&orderby=count&context=edit", "comments?per_page=100",
    "comments?per_page=100&context=edit&status=hold", "users?per_page=100", "users?per_page=100&context=edit&orderby=email",
    "users/me?context=edit", "search?search=a&per_page=50", "settings",
];

/// A user and application password of the recorded site.
const FIXTURE: &str = "admin:fixturepasswordforuser01";

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder of the WordPress site.
    #[arg(long, value_name = "DIR", default_value_os_t = server::wordpress_site())]
    site: PathBuf,
    /// A user with an application password.
    #[arg(long, value_name = "USER:PASSWORD", default_value = FIXTURE)]
    credentials: String,
}

pub(crate) fn run(Options { site, credentials }: &Options) -> Result<()> {
    let file = site.join("wp-config.php");
    if !file.is_file() {
        return say(&format!("skipped: there is no WordPress site at {}", site.display()));
    }
    let program = server::build(Some("demo"), false)?;
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let server = start(&program, work.path(), &file)?;
    let (ours, index) = (
        server.address(),
        send(server.address(), "GET", &format!("/{}/", Brand::original().prefix()), "", None)?.json()?,
    );
    let theirs = index["url"].as_str().context("the index has no URL")?.to_owned();
    if send(&theirs, "GET", &format!("/{}/", Brand::original().prefix()), "", None).is_err() {
        return say(&format!("skipped: the site does not respond at its URL, {theirs}"));
    }
    let both = Both { ours: ours.to_owned(), theirs, credentials: credentials.clone() };
    let differing = both.reads()?;
    both.writes()?;
    say(&format!(
        "{} of {} reads are equal; posts created through either are visible in the other",
        READS.len() - differing,
        READS.len()
    ))?;
    ensure!(differing == 0, "{differing} reads differ");
    Ok(())
}

fn start(program: &Path, work: &Path, file: &Path) -> Result<Server> {
    let mut command = std::process::Command::new(program);
    command.current_dir(work).env_clear().arg("--wp-config").arg(file);
    command.args(["--listen", "127.0.0.1:0", "--log", "warn", "serve"]);
    Server::start(command, &work.join("server.log"))
}

/// The full path of a path below the namespace.
fn under_root(path: &str) -> String {
    let brand = Brand::original();
    format!("/{}/{}/{path}", brand.prefix(), brand.namespace())
}

/// The URLs of both servers.
struct Both {
    ours: String,
    theirs: String,
    credentials: String,
}

impl Both {
    fn request(&self, address: &str, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value)> {
        let response = send(address, method, &under_root(path), &self.credentials, body)?;
        Ok((response.status, response.json()?))
    }

    /// Compares all reads; returns the number of differing responses.
    fn reads(&self) -> Result<usize> {
        let mut n = 0;
        for path in READS {
            let ours = self.request(&self.ours, "GET", path, None)?;
            let theirs = self.request(&self.theirs, "GET", path, None)?;
            if let Some(difference) = difference("", &ours.1, &theirs.1).filter(|_| ours.0 == theirs.0) {
                n += 1;
                say(&format!("    {path}: {difference}"))?;
            } else if ours.0 != theirs.0 {
                n += 1;
                say(&format!("    {path}: {} and not {}", ours.0, theirs.0))?;
            }
        }
        Ok(n)
    }

    /// Creates a post through each server, reads it through the other, and deletes it there.
    fn writes(&self) -> Result<()> {
        for (maker, reader) in [(&self.ours, &self.theirs), (&self.theirs, &self.ours)] {
            let before = self.total(reader)?;
            let post = json!({"title": "Made elsewhere", "content": "<p>é 😀 \\ '</p>", "status": "publish"});
            let (status, made) = self.request(maker, "POST", "posts", Some(&post))?;
            ensure!(status == 201, "{maker} does not create a post: {status} {made}");
            let path = format!("posts/{}", made["id"]);
            let (status, seen) = self.request(reader, "GET", &format!("{path}?context=edit"), None)?;
            ensure!(status == 200, "{reader} does not return the post: {status} {seen}");
            if let Some(difference) = difference("", &seen, &made) {
                bail!("{reader} returns a post that differs from the one created on {maker}: {difference}");
            }
            ensure!(self.total(reader)? == before + 1, "{reader} does not count the post");
            let (status, gone) = self.request(reader, "DELETE", &format!("{path}?force=true"), None)?;
            ensure!(status == 200, "{reader} does not delete the post: {status} {gone}");
            let (status, _) = self.request(maker, "GET", &path, None)?;
            ensure!(status == 404, "{maker} still returns the deleted post: {status}");
        }
        Ok(())
    }

    fn total(&self, address: &str) -> Result<u64> {
        let response = send(address, "GET", &under_root("posts?per_page=1"), &self.credentials, None)?;
        let total = response.header(&Brand::original().header("Total")).and_then(|t| t.parse().ok());
        total.context("the list has no total")
    }
}

/// The first difference between two responses. Numbers are compared by value. Rendered HTML is not compared: the recorded
/// scenarios cover it.
fn difference(path: &str, ours: &Value, theirs: &Value) -> Option<String> {
    if path.ends_with("/rendered") && ours.is_string() == theirs.is_string() {
        return None;
    }
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            names.into_iter().find_map(|name| match (a.get(name), b.get(name)) {
                (Some(a), Some(b)) => difference(&format!("{path}/{name}"), a, b),
                (None, _) => Some(format!("{path}/{name} is missing")),
                (_, None) => Some(format!("{path}/{name} is unexpected")),
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().find_map(|(i, (a, b))| difference(&format!("{path}/{i}"), a, b))
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        (a, b) if a == b => None,
        (a, b) => Some(format!("{path} is {a:.120} and not {b:.120}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_difference_is_reported() {
        let rows = [
            (json!({"a": [1, 2.0]}), json!({"a": [1.0, 2]}), None),
            (json!({"a": [1, {"b": "x"}]}), json!({"a": [1, {"b": "y"}]}), Some("/a/1/b is \"x\" and not \"y\"")),
            (json!({"a": 1}), json!({"a": 1, "b": 2}), Some("/b is missing")),
            (json!({"content": {"rendered": "a"}}), json!({"content": {"rendered": "b"}}), None),
            (json!([]), json!({}), Some(" is [] and not {}")),
        ];
        for (ours, theirs, expected) in rows {
            assert_eq!(difference("", &ours, &theirs).as_deref(), expected);
        }
    }
}
