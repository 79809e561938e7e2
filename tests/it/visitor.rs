//! An HTTP client with cookies by name and path, like a browser without a screen. It does not follow redirects.

use serde_json::json;

use crate::{
    client::{HttpResponse, send},
    site::Site,
};

/// The password of users whom tests create.
pub(crate) const PASSWORD: &str = "a-long-pass-phrase-of-tests";

/// A visitor of the site.
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

    /// The `Cookie` header for this path.
    pub(crate) fn cookie_header(&self, path: &str) -> String {
        let path = path.split('?').next().unwrap_or_default();
        let fits =
            |own: &str| path == own || path.strip_prefix(own).is_some_and(|r| own.ends_with('/') || r.starts_with('/'));
        let sent =
            self.cookies.iter().filter(|(_, own, _)| fits(own)).map(|(name, _, value)| format!("{name}={value}"));
        sent.collect::<Vec<_>>().join("; ")
    }

    fn store_cookies(&mut self, response: &HttpResponse) {
        for line in response.all("set-cookie") {
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

    pub(crate) async fn request(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpResponse {
        let cookies = self.cookie_header(path);
        let mut all = headers.to_vec();
        if !cookies.is_empty() {
            all.push(("Cookie", &cookies));
        }
        let response = send(self.site.address, method, path, &all, body).await;
        self.store_cookies(&response);
        response
    }

    pub(crate) async fn get(&mut self, path: &str) -> HttpResponse {
        self.request("GET", path, &[], "").await
    }

    /// Posts a form.
    pub(crate) async fn submit(&mut self, path: &str, fields: &[(&str, &str)]) -> HttpResponse {
        let body = fields.iter().map(|(n, v)| format!("{n}={}", encode(v))).collect::<Vec<_>>().join("&");
        self.request("POST", path, &[("Content-Type", "application/x-www-form-urlencoded")], &body).await
    }

    /// Follows a redirect to a page of the site.
    #[track_caller]
    pub(crate) fn follow(&mut self, response: &HttpResponse) -> impl Future<Output = HttpResponse> {
        assert!(matches!(response.status, 302 | 303), "{}: {}", response.status, response.body);
        let to = response.header("location");
        let path =
            to.split_once("://").and_then(|(_, rest)| rest.find('/').map(|at| &rest[at..])).unwrap_or(to).to_owned();
        async move { self.get(&path).await }
    }

    /// Logs in with the form after loading the login page, as a browser does.
    pub(crate) async fn log_in(&mut self, login: &str, password: &str) -> HttpResponse {
        self.get("/wp-login.php").await;
        self.submit("/wp-login.php", &[("log", login), ("pwd", password), ("testcookie", "1")]).await
    }
}

/// Percent-encodes a value of a form or query.
pub(crate) fn encode(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
        .collect()
}

/// The value of a form field on a page.
#[track_caller]
pub(crate) fn field(page: &str, name: &str) -> String {
    let tag = page.split('<').find(|tag| tag.contains(&format!("name=\"{name}\""))).expect("the page has the field");
    tag.split_once("value=\"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .expect("the field has a value")
        .0
        .replace("&#34;", "\"")
        .replace("&#39;", "'")
        .replace("&#60;", "<")
        .replace("&#62;", ">")
        .replace("&#38;", "&")
}

/// Creates a user with this role; returns the id.
pub(crate) async fn user(site: &Site, admin: &str, login: &str, role: &str) -> i64 {
    let body =
        json!({"username": login, "email": format!("{login}@example.org"), "password": PASSWORD, "roles": [role]});
    let created = site.post("/svc-json/svc/v2/users", admin, &body).await;
    assert_eq!(created.status, 201, "{}", created.body);
    created.json()["id"].as_i64().unwrap()
}

/// A visitor who has logged in: the administrator, or a user of [`user`].
pub(crate) async fn logged_in<'a>(site: &'a Site, login: &str) -> Visitor<'a> {
    let mut visitor = Visitor::new(site);
    let password = match login {
        "admin" => site.created.as_ref().unwrap().password.expose().to_owned(),
        _ => PASSWORD.to_owned(),
    };
    assert_eq!(visitor.log_in(login, &password).await.status, 302);
    visitor
}
