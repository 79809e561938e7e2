//! A browser without a screen: keeps cookies by name and path, follows nothing by itself.

use crate::{
    client::{Answer, send},
    site::Site,
};

/// Somebody at a browser of his own.
pub(crate) struct Visitor<'a> {
    site: &'a Site,
    /// Name, path, value.
    pub(crate) cookies: Vec<(String, String, String)>,
}

impl<'a> Visitor<'a> {
    pub(crate) fn new(site: &'a Site) -> Self {
        Visitor { site, cookies: Vec::new() }
    }

    pub(crate) fn home(&self) -> String {
        format!("http://{}", self.site.address)
    }

    /// The cookies that a browser sends to this path.
    pub(crate) fn cookie_header(&self, path: &str) -> String {
        let path = path.split('?').next().unwrap_or_default();
        let fits =
            |own: &str| path == own || path.strip_prefix(own).is_some_and(|r| own.ends_with('/') || r.starts_with('/'));
        let sent =
            self.cookies.iter().filter(|(_, own, _)| fits(own)).map(|(name, _, value)| format!("{name}={value}"));
        sent.collect::<Vec<_>>().join("; ")
    }

    fn keep(&mut self, answer: &Answer) {
        for line in answer.all("set-cookie") {
            let (pair, attributes) = line.split_once(';').unwrap_or((line, ""));
            let (name, value) = pair.split_once('=').unwrap();
            let attribute = |wanted: &str| {
                attributes
                    .split(';')
                    .filter_map(|a| a.trim().split_once('='))
                    .find(|(n, _)| n.eq_ignore_ascii_case(wanted))
            };
            let path = attribute("path").map_or("/", |(_, v)| v);
            self.cookies.retain(|(n, p, _)| n != name || p != path);
            if attribute("max-age").is_none_or(|(_, v)| v != "0") {
                self.cookies.push((name.to_owned(), path.to_owned(), value.to_owned()));
            }
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let cookies = self.cookie_header(path);
        let mut all = headers.to_vec();
        if !cookies.is_empty() {
            all.push(("Cookie", &cookies));
        }
        let answer = send(self.site.address, method, path, &all, body).await;
        self.keep(&answer);
        answer
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }

    /// Posts a form.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let body = fields.iter().map(|(n, v)| format!("{n}={}", encode(v))).collect::<Vec<_>>().join("&");
        self.ask("POST", path, &[("Content-Type", "application/x-www-form-urlencoded")], &body).await
    }

    /// Logs in with the form, as a browser does: the page first.
    pub(crate) async fn log_in(&mut self, login: &str, password: &str) -> Answer {
        self.get("/wp-login.php").await;
        self.submit("/wp-login.php", &[("log", login), ("pwd", password), ("testcookie", "1")]).await
    }
}

/// A text in a form or a query.
pub(crate) fn encode(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// The value of the field of this name on a page.
#[track_caller]
pub(crate) fn field(page: &str, name: &str) -> String {
    let tag = page.split('<').find(|tag| tag.contains(&format!("name=\"{name}\""))).expect("the page has the field");
    tag.split_once("value=\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .expect("it has a value")
        .0
        .replace("&#38;", "&")
}
