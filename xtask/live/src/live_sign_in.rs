//! `cargo xtask live-sign-in`: serves the database of a running WordPress site with `--wp-config`. A session of either is valid on
//! both, until it ends on either.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;
use svc_brand::Brand;
use xtask_support::{
    say,
    server::{self, Server},
};

/// The longest time for a request.
const TIMEOUT: Duration = Duration::from_secs(60);

const LOG_IN: &str = "/wp-login.php";
const AUTHORIZE: &str = "/wp-admin/authorize-application.php";
const NONCE: &str = "/wp-admin/admin-ajax.php?action=rest-nonce";

/// Arguments of the task.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Folder of the WordPress site.
    #[arg(long, value_name = "DIR", default_value_os_t = server::wordpress_site())]
    site: PathBuf,
    /// Login and password of a user.
    #[arg(long, value_name = "LOGIN:PASSWORD", default_value = "editor1:password", value_parser = login_and_password)]
    user: (String, String),
}

fn login_and_password(text: &str) -> Result<(String, String)> {
    let (login, password) = text.split_once(':').context("this is not LOGIN:PASSWORD")?;
    Ok((login.to_owned(), password.to_owned()))
}

pub(crate) fn run(Options { site, user }: &Options) -> Result<()> {
    let file = site.join("wp-config.php");
    if !file.is_file() {
        return say(&format!("skipped: there is no WordPress site at {}", site.display()));
    }
    let program = server::build(None, false)?;
    let work = tempfile::tempdir().context("cannot create a temporary folder")?;
    let mut command = std::process::Command::new(program);
    command.current_dir(work.path()).env_clear().arg("--wp-config").arg(&file);
    command.args(["--listen", "127.0.0.1:0", "--environment", "local", "--log", "warn", "serve"]);
    let server = Server::start(command, &work.path().join("server.log"))?;
    let ours = server.address();
    let index: Value = serde_json::from_str(&Visitor::default().get(ours, "/?rest_route=/")?.body)?;
    let theirs = index["url"].as_str().context("the index has no URL")?;
    if Visitor::default().get(theirs, "/?rest_route=/").is_err() {
        return say(&format!("skipped: the site does not respond at its URL, {theirs}"));
    }
    let mut cookies = Vec::new();
    for (here, there) in [(theirs, ours), (ours, theirs)] {
        cookies.push(session(here, there, user).with_context(|| format!("a session begun at {here}"))?);
        application(here, there, user).with_context(|| format!("an application approved at {here}"))?;
    }
    ensure!(cookies[0] == cookies[1], "the cookies differ: {:#?} and {:#?}", cookies[0], cookies[1]);
    say("sessions, nonces and application passwords of each are valid on the other, until either revokes them")
}

/// Logs in here and out there; the session must be valid on both, then on neither. Returns the cookies' names and attributes.
fn session(here: &str, there: &str, user: &(String, String)) -> Result<BTreeSet<String>> {
    let mut visitor = Visitor::default();
    visitor.log_in(here, user)?;
    let kinds = visitor.kinds.clone();
    let (own, other) = (visitor.get(here, NONCE)?, visitor.get(there, NONCE)?);
    ensure!(own.status == 200 && other.status == 200, "nonces: {} here, {} there", own.status, other.status);
    ensure!(own.body == other.body, "the nonces of one session differ");
    let me = format!("/?rest_route=/{}/users/me", Brand::original().namespace());
    let header = Brand::original().header("Nonce");
    let seen = visitor.request(there, "GET", &me, &[(&header, &own.body)], "")?;
    let name = serde_json::from_str::<Value>(&seen.body)?["slug"].clone();
    ensure!(seen.status == 200 && name == user.0.as_str(), "{there} returns the user {name} ({})", seen.status);
    let confirmation = visitor.get(there, &format!("{LOG_IN}?action=logout"))?;
    let nonce = nonce_on(&confirmation.body).context("the page has no nonce to log out")?;
    let cookies = visitor.cookies.clone();
    let out = visitor.get(there, &format!("{LOG_IN}?action=logout&{}={nonce}", Brand::original().nonce_param()))?;
    ensure!(out.status == 302, "{there} does not log out: {}", out.status);
    visitor.cookies = cookies;
    let after = visitor.get(here, NONCE)?;
    ensure!(after.status == 400, "{here} still accepts the cookie: {}", after.status);
    Ok(kinds)
}

/// Approves an application here; its password must be valid on both, until it is revoked there.
fn application(here: &str, there: &str, user: &(String, String)) -> Result<()> {
    let mut visitor = Visitor::default();
    visitor.log_in(here, user)?;
    let query = "app_name=Live&success_url=https%3A%2F%2Fapp.example%2Fdone";
    let page = visitor.get(here, &format!("{AUTHORIZE}?{query}"))?;
    ensure!(page.status == 200, "the page: {}", page.status);
    let nonce = nonce_on(&page.body).context("the page has no nonce to approve")?;
    let route = format!("/?rest_route=/{}/users/me/application-passwords", Brand::original().namespace());
    let field = Brand::original().nonce_param();
    let plain = if page.body.contains("id=\"what-follows\"") {
        let form = format!("{query}&app_id=&reject_url=&approve=1&{field}={nonce}");
        let response = visitor.post(here, AUTHORIZE, &form)?;
        let to = response.header("location").context("the response has no redirect to the application")?;
        to.split_once("&password=").context("the redirect has no password")?.1.to_owned()
    } else {
        // The page of WordPress sends a REST API request from a script.
        let rest = visitor.get(here, NONCE)?.body;
        let headers =
            [(&*Brand::original().header("Nonce"), &*rest), ("Content-Type", "application/x-www-form-urlencoded")];
        let response = visitor.request(here, "POST", &route, &headers, "name=Live")?;
        let created: Value = serde_json::from_str(&response.body)?;
        created["password"].as_str().with_context(|| format!("the response has no password: {created}"))?.to_owned()
    };
    let credentials = format!("Basic {}", STANDARD.encode(format!("{}:{plain}", user.0)));
    let headers = [("Authorization", credentials.as_str())];
    let works =
        |site: &str| -> Result<u16> { Ok(Visitor::default().request(site, "GET", &route, &headers, "")?.status) };
    ensure!((works(here)?, works(there)?) == (200, 200), "the password is not valid on both");
    // A web server in front of the site may reject the method DELETE.
    let delete = [headers[0], ("X-HTTP-Method-Override", "DELETE")];
    let gone = Visitor::default().request(there, "POST", &route, &delete, "")?;
    ensure!(gone.status == 200, "{there} does not revoke the password: {}", gone.status);
    ensure!((works(here)?, works(there)?) == (401, 401), "the revoked password is still valid");
    Ok(())
}

/// The nonce in a form field or a link.
fn nonce_on(page: &str) -> Option<String> {
    let name = Brand::original().nonce_param();
    let at = page.find(&format!("name=\"{name}\"")).map(|at| page[at..].find("value=\"").map(|v| at + v + 7));
    let at = at.flatten().or_else(|| page.find(&format!("{name}=")).map(|at| at + name.len() + 1))?;
    page.get(at..at + 10).map(str::to_owned)
}

struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    fn all(&self, name: &str) -> Vec<&str> {
        let headers = self.head.lines().filter_map(|line| line.split_once(": "));
        headers.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.all(name).first().copied()
    }
}

/// A client with a cookie jar that ignores hosts and paths, so that both servers get all cookies.
#[derive(Default)]
struct Visitor {
    cookies: Vec<(String, String)>,
    /// Name, path and attributes of the login cookies, without values that change.
    kinds: BTreeSet<String>,
}

impl Visitor {
    fn log_in(&mut self, site: &str, (login, password): &(String, String)) -> Result<()> {
        self.get(site, LOG_IN)?;
        let response =
            self.post(site, LOG_IN, &format!("log={login}&pwd={password}&rememberme=forever&testcookie=1"))?;
        ensure!(response.status == 302, "{site} does not log in: {}", response.status);
        Ok(())
    }

    fn get(&mut self, site: &str, path: &str) -> Result<Response> {
        self.request(site, "GET", path, &[], "")
    }

    fn post(&mut self, site: &str, path: &str, form: &str) -> Result<Response> {
        self.request(site, "POST", path, &[("Content-Type", "application/x-www-form-urlencoded")], form)
    }

    fn request(
        &mut self,
        site: &str,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Response> {
        let host = site.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        // In HTTP/1.0 the body ends with the connection.
        let mut request = format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if !self.cookies.is_empty() {
            let pairs: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request += &format!("Cookie: {}\r\n", pairs.join("; "));
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes())?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").context("the head of the response is incomplete")?;
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).context("the response has no status")?;
        let response = Response { status, head: head.to_owned(), body: body.to_owned() };
        self.store_cookies(&response);
        Ok(response)
    }

    fn store_cookies(&mut self, response: &Response) {
        for line in response.all("set-cookie") {
            let mut parts = line.split("; ");
            let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
            self.cookies.retain(|(own, _)| own != name);
            self.cookies.push((name.to_owned(), value.to_owned()));
            // Only this server sends `SameSite`, and `Expires` is a timestamp.
            let attributes = parts.map(str::to_ascii_lowercase);
            let stable: BTreeSet<String> =
                attributes.filter(|a| !a.starts_with("expires=") && !a.starts_with("samesite=")).collect();
            self.kinds.insert(format!("{name}: {}", Vec::from_iter(stable).join("; ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonces_on_pages() {
        let field = r#"<input type="hidden" id="_wpnonce" name="_wpnonce" value="0123456789" />"#;
        let link = r#"<a href="/wp-login.php?action=logout&amp;_wpnonce=9876543210">"#;
        assert_eq!(nonce_on(field).as_deref(), Some("0123456789"));
        assert_eq!(nonce_on(link).as_deref(), Some("9876543210"));
        assert_eq!(nonce_on("nothing"), None);
    }
}
