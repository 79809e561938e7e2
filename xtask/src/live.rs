//! `cargo xtask live`: one database, two programs. The server is pointed at the `wp-config.php` of a running WordPress
//! site; both must answer alike, and what is made through one must at once be seen through the other.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use svc_brand::Brand;

use crate::{
    say,
    server::{self, Server, send},
};

/// What both are asked, under the interface's root; with these credentials, since much is not public.
#[rustfmt::skip]
const READS: &[&str] = &[
    "posts?per_page=100", "posts?per_page=100&context=edit&status=any", "posts?search=post&orderby=relevance", "posts?offset=7&order=asc",
    "pages?per_page=100&context=edit", "categories?per_page=100", "tags?per_page=100&orderby=count&context=edit", "comments?per_page=100",
    "comments?per_page=100&context=edit&status=hold", "users?per_page=100", "users?per_page=100&context=edit&orderby=email",
    "users/me?context=edit", "search?search=a&per_page=50", "settings",
];

/// The site's user and application password that the recorded fixture has.
const FIXTURE: &str = "admin:fixturepasswordforuser01";

struct Options {
    /// The folder of the WordPress site.
    site: PathBuf,
    credentials: String,
}

fn options(args: &[String]) -> Result<Options> {
    let peer = std::env::var_os("PEER_DIR").map_or(std::env::temp_dir().join("svc-peer"), PathBuf::from);
    let mut options = Options { site: peer.join("wordpress"), credentials: FIXTURE.to_owned() };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--site" => options.site = args.next().context("--site needs a folder")?.into(),
            "--credentials" => options.credentials = args.next().context("--credentials needs USER:PASSWORD")?.clone(),
            other => bail!("{other} is not known"),
        }
    }
    Ok(options)
}

pub(crate) fn run(args: &[String]) -> Result<()> {
    let Options { site, credentials } = options(args)?;
    let file = site.join("wp-config.php");
    if !file.is_file() {
        return say(&format!("skipped: there is no WordPress site at {}", site.display()));
    }
    let program = server::build(Some("demo"), false)?;
    let work = tempfile::tempdir().context("cannot make a temporary folder")?;
    let server = start(&program, work.path(), &file)?;
    let (ours, index) = (
        server.address(),
        send(server.address(), "GET", &format!("/{}/", Brand::original().prefix()), "", None)?.json()?,
    );
    let theirs = index["url"].as_str().context("the site has an address")?.to_owned();
    if send(&theirs, "GET", &format!("/{}/", Brand::original().prefix()), "", None).is_err() {
        return say(&format!("skipped: nobody answers at {theirs}, where the site says that it is"));
    }
    let both = Both { ours: ours.to_owned(), theirs, credentials };
    let differing = both.reads()?;
    both.writes()?;
    say(&format!(
        "{} of {} reads alike; posts made through either are seen through the other",
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

/// The address of what both are asked.
fn under_root(path: &str) -> String {
    let brand = Brand::original();
    format!("/{}/{}/{path}", brand.prefix(), brand.namespace())
}

/// The two programs.
struct Both {
    ours: String,
    theirs: String,
    credentials: String,
}

impl Both {
    fn ask(&self, address: &str, method: &str, path: &str, body: Option<&Value>) -> Result<(u16, Value)> {
        let answer = send(address, method, &under_root(path), &self.credentials, body)?;
        Ok((answer.status, answer.json()?))
    }

    /// How many reads are answered differently.
    fn reads(&self) -> Result<usize> {
        let mut n = 0;
        for path in READS {
            let ours = self.ask(&self.ours, "GET", path, None)?;
            let theirs = self.ask(&self.theirs, "GET", path, None)?;
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

    /// Makes a post through each, reads it through the other, and removes it there.
    fn writes(&self) -> Result<()> {
        for (maker, reader) in [(&self.ours, &self.theirs), (&self.theirs, &self.ours)] {
            let before = self.total(reader)?;
            let post = json!({"title": "Made elsewhere", "content": "<p>é 😀 \\ '</p>", "status": "publish"});
            let (status, made) = self.ask(maker, "POST", "posts", Some(&post))?;
            ensure!(status == 201, "{maker} does not make a post: {status} {made}");
            let path = format!("posts/{}", made["id"]);
            let (status, seen) = self.ask(reader, "GET", &format!("{path}?context=edit"), None)?;
            ensure!(status == 200, "{reader} does not see the post: {status} {seen}");
            if let Some(difference) = difference("", &seen, &made) {
                bail!("{reader} sees another post than {maker} made: {difference}");
            }
            ensure!(self.total(reader)? == before + 1, "{reader} does not count the post");
            let (status, gone) = self.ask(reader, "DELETE", &format!("{path}?force=true"), None)?;
            ensure!(status == 200, "{reader} does not delete the post: {status} {gone}");
            let (status, _) = self.ask(maker, "GET", &path, None)?;
            ensure!(status == 404, "{maker} still sees the deleted post: {status}");
        }
        Ok(())
    }

    fn total(&self, address: &str) -> Result<u64> {
        let answer = send(address, "GET", &under_root("posts?per_page=1"), &self.credentials, None)?;
        let total = answer.header(&Brand::original().header("Total")).and_then(|t| t.parse().ok());
        total.context("a list tells its total")
    }
}

/// Where two answers first differ. Numbers are compared by value. How contents are rendered is what the recorded
/// scenarios are for; here it is about what is stored.
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
                (_, None) => Some(format!("{path}/{name} is too much")),
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
    fn the_first_difference_is_told() {
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
