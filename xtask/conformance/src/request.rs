//! Builds the HTTP request of a step.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};

use crate::{
    accounts::{Account, SiteKeys, basic},
    brand::BrandRules,
    client::HttpRequest,
    form::{Space, encode, percent_encode},
    normalize::unix_time,
    scenario::{Part, Step},
    variables::Variables,
};

const BOUNDARY: &str = "conformance-boundary-7d1";

/// Bytes of a target that are not encoded, in addition to the unreserved ones.
const TARGET: &[u8] = b"/%?&=:;,+@!$'()*[]#|^<>\"\\{}";

/// Inputs of requests.
pub(crate) struct Requests {
    pub(crate) keys: SiteKeys,
    pub(crate) brand: Arc<BrandRules>,
    /// The URL that the server writes in its responses.
    pub(crate) site_url: String,
    /// Folders with the files that steps send.
    pub(crate) assets: Vec<PathBuf>,
}

/// Credentials as they are sent.
#[derive(Default)]
struct Credentials {
    headers: Vec<(String, String)>,
    /// A parameter of the query.
    query: Option<String>,
}

impl Requests {
    pub(crate) fn request(&self, step: &Step, variables: &Variables) -> Result<HttpRequest> {
        let credentials = self.credentials(&variables.text(&step.user))?;
        let mut headers = credentials.headers;
        let mut path = match &step.raw_path {
            Some(path) => self.brand.text(&variables.text(path)),
            None => self.brand.text(&format!("/wp-json{}", variables.text(&step.path))),
        };
        let query = match variables.value(&step.query) {
            serde_json::Value::String(query) => query,
            parameters => encode(&parameters, Space::Percent),
        };
        for query in [Some(query), credentials.query].into_iter().flatten().filter(|query| !query.is_empty()) {
            path.push(if path.contains('?') { '&' } else { '?' });
            path += &self.brand.query(&query);
        }
        if !path.is_ascii() || path.contains(' ') {
            path = percent_encode(&path, TARGET);
        }
        let (content_type, body) = self.body(step, variables)?;
        headers.extend(content_type.map(|value| ("Content-Type".to_owned(), value)));
        for (name, value) in &step.headers {
            let name = self.brand.text(&variables.text(name));
            let value = value.as_str().with_context(|| format!("the header {name} is not a text"))?;
            headers.retain(|(n, _)| *n != name);
            headers.push((name, self.brand.text(&variables.text(value))));
        }
        Ok(HttpRequest { method: step.method.clone(), target: path, headers, body })
    }

    fn credentials(&self, user: &str) -> Result<Credentials> {
        if user == "none" {
            return Ok(Credentials::default());
        }
        let authorization = |value: String| Credentials {
            headers: vec![("Authorization".to_owned(), value)],
            ..Credentials::default()
        };
        match user.split_once(':') {
            None => Ok(authorization(Account::named(user)?.basic())),
            Some(("basic", credentials)) => Ok(authorization(basic(credentials))),
            Some((mode, name)) => self.session(mode, name),
        }
    }

    /// A log-in cookie, with or without a nonce.
    fn session(&self, mode: &str, name: &str) -> Result<Credentials> {
        // An empty name fails: anonymous cookies were never recorded.
        let account = Account::named(name)?;
        let mut cookie = self.keys.cookie(account, &self.site_url, &self.brand);
        let action = self.brand.nonce_action();
        let nonce = |action: &str, age| self.keys.nonce(account, action, age, unix_time() as u64);
        let mut query = None;
        let header = match mode {
            "cookie" => Some(nonce(&action, 0)),
            "cookie-old" => Some(nonce(&action, 1)),
            "cookie-expired" => Some(nonce(&action, 2)),
            "cookie-action" => Some(nonce("other", 0)),
            "cookie-bad" => Some("0123456789".to_owned()),
            "cookie-none" => None,
            "cookie-query" => {
                query = Some(format!("_wpnonce={}", nonce(&action, 0)));
                None
            }
            "cookie-forged" => {
                cookie.replace_range(cookie.len() - 4.., "0000");
                Some(nonce(&action, 0))
            }
            other => bail!("`{other}:{name}` are unknown credentials"),
        };
        let mut headers = vec![("Cookie".to_owned(), cookie)];
        headers.extend(header.map(|nonce| (self.brand.text("X-WP-Nonce"), nonce)));
        Ok(Credentials { headers, query })
    }

    /// The content type and the body.
    fn body(&self, step: &Step, variables: &Variables) -> Result<(Option<String>, Option<Vec<u8>>)> {
        Ok(if let Some(json) = &step.json {
            let json = self.brand.value(&variables.value(json));
            (Some("application/json".to_owned()), Some(json.to_string().into_bytes()))
        } else if let Some(form) = &step.form {
            let body = encode(&variables.value(form), Space::Plus);
            (Some("application/x-www-form-urlencoded".to_owned()), Some(body.into_bytes()))
        } else if let Some(parts) = &step.multipart {
            (Some(format!("multipart/form-data; boundary={BOUNDARY}")), Some(self.multipart(parts, variables)?))
        } else if let Some(file) = &step.file {
            (None, Some(self.asset(file)?))
        } else {
            (None, step.body.as_ref().map(|body| variables.text(body).into_bytes()))
        })
    }

    fn multipart(&self, parts: &[Part], variables: &Variables) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        for part in parts {
            let mut head =
                format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"", variables.text(&part.name));
            let content = match &part.file {
                Some(file) => {
                    let filename = variables.text(part.filename.as_ref().unwrap_or(file));
                    let content_type = part.content_type.as_deref().unwrap_or("application/octet-stream");
                    head += &format!("; filename=\"{filename}\"\r\nContent-Type: {content_type}");
                    self.asset(file)?
                }
                None => variables.text(&part.value).into_bytes(),
            };
            body.extend([head.as_bytes(), b"\r\n\r\n", &content, b"\r\n"].concat());
        }
        body.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
        Ok(body)
    }

    fn asset(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.assets.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
        let path: &Path = &path.with_context(|| format!("there is no asset `{name}`"))?;
        std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::own_folder;
    use serde_json::{Value, json};

    /// The request of a step under a brand: its first line, its headers in lines, its body.
    fn request(brand: &str, step: &Value) -> (String, String, String) {
        let own = own_folder().unwrap();
        let requests = Requests {
            keys: SiteKeys::read(&own.join("site/svc.toml")).unwrap(),
            brand: Arc::new(BrandRules::new(brand).unwrap()),
            site_url: "http://h".to_owned(),
            assets: vec![own.join("assets")],
        };
        let mut variables = Variables::new("http://h").unwrap();
        variables.set("id", json!(7));
        let mut whole = json!({"name": "n", "method": "GET", "path": "/wp/v2/posts/{{id}}"});
        whole.as_object_mut().unwrap().extend(step.as_object().unwrap().clone());
        let request = requests.request(&serde_json::from_value(whole).unwrap(), &variables).unwrap();
        let headers: Vec<String> = request.headers.iter().map(|(n, v)| format!("{n}: {v}")).collect();
        let body = String::from_utf8_lossy(&request.body.unwrap_or_default()).into_owned();
        (format!("{} {}", request.method, request.target), headers.join("\n"), body)
    }

    #[test]
    fn requests_follow_step_and_brand() {
        let json_type = "Content-Type: application/json";
        #[rustfmt::skip]
        let rows = [
            ("wp", json!({}), "GET /wp-json/wp/v2/posts/7", "", ""),
            ("svc", json!({}), "GET /svc-json/svc/v2/posts/7", "", ""),
            ("svc", json!({"raw_path": "/?rest_route=/wp/v2", "query": {"a b": ["é"]}}), "GET /?rest_route=/svc/v2&a%20b%5B%5D=%C3%A9", "", ""),
            ("wp", json!({"query": "a=b c&ü"}), "GET /wp-json/wp/v2/posts/7?a=b%20c&%C3%BC", "", ""),
            ("svc", json!({"method": "POST", "json": {"id": "{{id}}", "path": "/wp/v2"}}), "POST /svc-json/svc/v2/posts/7", json_type, r#"{"id":7,"path":"/svc/v2"}"#),
            ("wp", json!({"json": null, "headers": {"Content-Type": "text/plain", "X-WP-Nonce": "{{id}}"}}), "GET /wp-json/wp/v2/posts/7", "Content-Type: text/plain\nX-WP-Nonce: 7", "null"),
            ("wp", json!({"form": {"a": "b c"}}), "GET /wp-json/wp/v2/posts/7", "Content-Type: application/x-www-form-urlencoded", "a=b+c"),
            ("wp", json!({"body": "raw {{id}}"}), "GET /wp-json/wp/v2/posts/7", "", "raw 7"),
            ("wp", json!({"as": "basic:a:b:c"}), "GET /wp-json/wp/v2/posts/7", "Authorization: Basic YTpiOmM=", ""),
            ("wp", json!({"multipart": [{"name": "a", "value": "{{id}}"}]}), "GET /wp-json/wp/v2/posts/7", "Content-Type: multipart/form-data; boundary=conformance-boundary-7d1",
             "--conformance-boundary-7d1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n7\r\n--conformance-boundary-7d1--\r\n"),
        ];
        for (brand, step, line, headers, body) in rows {
            let expected = (line.to_owned(), headers.to_owned(), body.to_owned());
            assert_eq!(request(brand, &step), expected, "{step}");
        }
    }

    #[test]
    fn sessions_send_cookies_and_nonces_in_every_way() {
        let (_, headers, _) = request("svc", &json!({"as": "cookie:admin"}));
        assert!(headers.starts_with("Cookie: svc_logged_in_") && headers.contains("\nX-SVC-Nonce: "), "{headers}");
        let (line, headers, _) = request("svc", &json!({"as": "cookie-query:admin", "query": {"a": 1}}));
        assert!(line.contains("?a=1&_svcnonce=") && !headers.contains("Nonce"), "{line} {headers}");
        let (_, headers, _) = request("wp", &json!({"as": "cookie-forged:admin"}));
        assert!(
            headers.starts_with("Cookie: wordpress_logged_in_") && headers.contains("0000\nX-WP-Nonce: "),
            "{headers}"
        );
        let (_, headers, _) = request("wp", &json!({"as": "cookie-none:admin"}));
        assert!(!headers.contains("Nonce"), "{headers}");
        let nonces = ["cookie", "cookie-old", "cookie-expired", "cookie-action", "cookie-bad"].map(|mode| {
            let (_, headers, _) = request("wp", &json!({"as": format!("{mode}:admin")}));
            headers.rsplit_once(' ').unwrap().1.to_owned()
        });
        let distinct: std::collections::HashSet<_> = nonces.iter().collect();
        assert_eq!((distinct.len(), nonces[4].as_str()), (5, "0123456789"));
    }

    #[test]
    fn assets_are_sent_whole() {
        let (_, _, body) =
            request("wp", &json!({"multipart": [{"name": "file", "file": "dot.png", "type": "image/png"}]}));
        assert!(body.contains("name=\"file\"; filename=\"dot.png\"\r\nContent-Type: image/png\r\n\r\n"));
        let (_, _, body) = request("wp", &json!({"file": "dot.png"}));
        assert!(body.contains("PNG"));
    }
}
