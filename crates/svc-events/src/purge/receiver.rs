//! The caches that are purged, and the requests that they understand.

use std::{str::FromStr, time::Duration};

use http::{HeaderName, HeaderValue, Method};
use serde_json::json;
use svc_auth::Secret;
use svc_fetch::{Allowed, Post};

/// Time limit for the response of a cache.
const RESPONSE: Duration = Duration::from_secs(10);

/// A kind of cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Varnish with the module xkey, and a configuration that purges by the header `xkey-purge`.
    Varnish,
    /// Fastly.
    Fastly,
    /// Cloudflare.
    Cloudflare,
    /// nginx, which knows no tags: a request for the URL, which removes everything.
    Nginx,
    /// Another one, as the settings describe it.
    Custom,
}

impl FromStr for Service {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "varnish" => Ok(Service::Varnish),
            "fastly" => Ok(Service::Fastly),
            "cloudflare" => Ok(Service::Cloudflare),
            "nginx" => Ok(Service::Nginx),
            "custom" => Ok(Service::Custom),
            _ => Err("must be varnish, fastly, cloudflare, nginx or custom".to_owned()),
        }
    }
}

/// The settings of a cache.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The URLs, one per cache; those of Fastly and Cloudflare are known.
    pub urls: Vec<String>,
    /// The number of the service at Fastly, or of the zone at Cloudflare.
    pub id: Option<String>,
    /// The token of the API.
    pub token: Option<Secret>,
    /// The method, of a custom cache.
    pub method: Option<String>,
    /// Headers as `Name: value`, of a custom cache.
    pub headers: Vec<String>,
    /// The body, of a custom cache.
    pub body: Option<String>,
}

/// Why settings describe no cache: the setting, and what is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid(pub &'static str, pub &'static str);

/// Caches of one kind that are purged.
#[derive(Clone, Debug)]
pub struct Receiver {
    urls: Vec<String>,
    method: Method,
    headers: Vec<(HeaderName, String)>,
    body: String,
    token: Secret,
    /// Maximum number of tags per request; `None` if the request is the same for all.
    max_tags: Option<usize>,
    /// Whether 404 and 412 mean that nothing was stored.
    missing_is_done: bool,
}

impl Receiver {
    /// The caches of these settings.
    ///
    /// # Errors
    /// If a setting is missing, not valid, or has no effect.
    pub fn new(service: Service, settings: Settings) -> Result<Self, Invalid> {
        let Settings { mut urls, id, token, method, headers, body } = settings;
        let is_hosted = matches!(service, Service::Fastly | Service::Cloudflare);
        let is_custom = service == Service::Custom;
        let header = |name: &'static str, value: &str| (HeaderName::from_static(name), value.to_owned());
        if !is_custom && method.is_some() {
            return Err(Invalid("purge.method", "is for the service `custom` only"));
        }
        if !is_custom && !headers.is_empty() {
            return Err(Invalid("purge.headers", "are for the service `custom` only"));
        }
        if !is_custom && body.is_some() {
            return Err(Invalid("purge.body", "is for the service `custom` only"));
        }
        if is_hosted {
            let Some(id) = id.filter(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_alphanumeric())) else {
                return Err(Invalid("purge.id", "must be the ID of the service (Fastly) or zone (Cloudflare)"));
            };
            if token.is_none() {
                return Err(Invalid("purge.token", "is required"));
            }
            if urls.is_empty() {
                urls.push(match service {
                    Service::Fastly => format!("https://api.fastly.com/service/{id}/purge"),
                    _ => format!("https://api.cloudflare.com/client/v4/zones/{id}/purge_cache"),
                });
            }
        }
        if urls.is_empty() || urls.iter().any(|url| Allowed::origin_of(url).is_none()) {
            return Err(Invalid("purge.url", "must be an http or https URL without a user name, or a list of them"));
        }
        let receiver = |method: Method, headers: Vec<(HeaderName, String)>, body: &str, max_tags: Option<usize>| {
            let token = token.clone().unwrap_or_else(|| Secret::new(""));
            let missing_is_done = service == Service::Nginx;
            Receiver { urls, method, headers, body: body.to_owned(), token, max_tags, missing_is_done }
        };
        let purge = Method::from_bytes(b"PURGE").unwrap_or_default();
        let bearer = ("authorization", "Bearer {token}");
        Ok(match service {
            Service::Varnish => {
                let mut headers = vec![header("xkey-purge", "{tags}")];
                if token.is_some() {
                    headers.push(header(bearer.0, bearer.1));
                }
                receiver(purge, headers, "", Some(100))
            }
            Service::Fastly => {
                let headers = vec![header("fastly-key", "{token}"), header("surrogate-key", "{tags}")];
                receiver(Method::POST, headers, "", Some(250))
            }
            Service::Cloudflare => {
                let headers = vec![header(bearer.0, bearer.1), header("content-type", "application/json")];
                receiver(Method::POST, headers, "{\"tags\":{tags:json}}", Some(30))
            }
            Service::Nginx => receiver(purge, Vec::new(), "", None),
            Service::Custom => {
                let method = method.unwrap_or_else(|| "PURGE".to_owned());
                let method = Method::from_bytes(method.as_bytes())
                    .map_err(|_| Invalid("purge.method", "must be a method of HTTP"))?;
                let parsed: Option<Vec<_>> = headers.iter().map(|text| parse_header(text)).collect();
                let Some(headers) = parsed else {
                    return Err(Invalid("purge.headers", "must be like `Name: value`"));
                };
                let body = body.unwrap_or_default();
                let names_tags = headers.iter().map(|(_, value)| value).chain([&body]).any(|t| t.contains("{tags"));
                receiver(method, headers, &body, names_tags.then_some(100))
            }
        })
    }

    /// The requests that purge what has one of these tags.
    pub(super) fn requests(&self, tags: &[String]) -> Vec<Post> {
        let pieces: Vec<&[String]> = match self.max_tags {
            Some(max) => tags.chunks(max).collect(),
            None => vec![tags],
        };
        let requests = pieces.into_iter().flat_map(|tags| {
            self.urls.iter().map(move |url| {
                let request = Post::new(url, self.fill(&self.body, tags)).method(self.method.clone());
                // The host is one of the configuration.
                let request = request.within(RESPONSE).allow(Allowed::origin_of(url));
                let headers = self.headers.iter();
                headers.fold(request, |r, (name, value)| r.header(name.as_str(), self.fill(value, tags)))
            })
        });
        requests.collect()
    }

    fn fill(&self, template: &str, tags: &[String]) -> String {
        let text = template.replace("{tags:json}", &json!(tags).to_string()).replace("{tags:comma}", &tags.join(","));
        text.replace("{tags}", &tags.join(" ")).replace("{token}", self.token.expose())
    }

    /// Whether a status means that the cache has purged what it had.
    pub(super) fn is_done(&self, status: u16) -> bool {
        matches!(status, 200..300) || self.missing_is_done && matches!(status, 404 | 412)
    }
}

/// A header with placeholders in its value.
fn parse_header(text: &str) -> Option<(HeaderName, String)> {
    let (name, value) = text.split_once(':')?;
    let (name, value) = (name.trim().parse().ok()?, value.trim());
    HeaderValue::from_str(value).ok()?;
    Some((name, value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str) -> Settings {
        Settings { urls: vec![url.to_owned()], token: Some(Secret::new("secret")), ..Settings::default() }
    }

    fn tags(n: usize) -> Vec<String> {
        (0..n).map(|n| format!("post-{n}")).collect()
    }

    #[track_caller]
    fn check(receiver: &Receiver, contained: &[&str]) {
        let request = format!("{:?}", receiver.requests(&tags(2)).remove(0));
        contained.iter().for_each(|text| assert!(request.contains(text), "{text} in {request}"));
    }

    #[test]
    fn caches_get_the_requests_that_they_understand() {
        let of = |service, id: Option<&str>| {
            let urls = if id.is_some() { Vec::new() } else { vec!["http://10.0.0.7:6081/".to_owned()] };
            let settings = Settings { urls, id: id.map(str::to_owned), ..settings("") };
            Receiver::new(service, settings).unwrap()
        };
        check(&of(Service::Varnish, None), &["PURGE", "xkey-purge", "\"post-0 post-1\"", "10.0.0.7"]);
        check(&of(Service::Fastly, Some("abc")), &["fastly.com/service/abc/purge", "\"fastly-key\", \"secret\""]);
        let cloudflare = of(Service::Cloudflare, Some("z1"));
        check(&cloudflare, &["zones/z1/purge_cache", "\"Bearer secret\""]);
        assert_eq!(cloudflare.fill(&cloudflare.body, &tags(2)), "{\"tags\":[\"post-0\",\"post-1\"]}");
        assert_eq!(cloudflare.requests(&tags(61)).len(), 3);
        let nginx = of(Service::Nginx, None);
        assert!(nginx.requests(&tags(500)).len() == 1 && nginx.is_done(404) && !cloudflare.is_done(404));
        let urls = vec!["http://a.test/".to_owned(), "http://b.test/".to_owned()];
        let custom = Settings {
            urls,
            method: Some("BAN".to_owned()),
            headers: vec!["X-Tags: {tags:comma}".to_owned()],
            ..settings("")
        };
        let custom = Receiver::new(Service::Custom, custom).unwrap();
        check(&custom, &["BAN", "\"x-tags\", \"post-0,post-1\"", "http://a.test/"]);
        assert_eq!(custom.requests(&tags(101)).len(), 4);
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let refused = |service, settings| Receiver::new(service, settings).unwrap_err().0;
        assert_eq!(refused(Service::Varnish, Settings::default()), "purge.url");
        assert_eq!(refused(Service::Varnish, settings("ftp://a/")), "purge.url");
        assert_eq!(refused(Service::Varnish, settings("http://u:p@a/")), "purge.url");
        assert_eq!(refused(Service::Fastly, settings("")), "purge.id");
        let id = Some("a/../b".to_owned());
        assert_eq!(refused(Service::Cloudflare, Settings { id, ..settings("") }), "purge.id");
        let (id, token) = (Some("a".to_owned()), None);
        assert_eq!(refused(Service::Fastly, Settings { id, token, ..settings("") }), "purge.token");
        let body = Some("x".to_owned());
        assert_eq!(refused(Service::Varnish, Settings { body, ..settings("http://a/") }), "purge.body");
        let method = Some("a b".to_owned());
        assert_eq!(refused(Service::Custom, Settings { method, ..settings("http://a/") }), "purge.method");
        let headers = vec!["no colon".to_owned()];
        assert_eq!(refused(Service::Custom, Settings { headers, ..settings("http://a/") }), "purge.headers");
    }

    #[test]
    fn the_token_is_not_shown() {
        assert!(!format!("{:?}", Receiver::new(Service::Varnish, settings("http://a/")).unwrap()).contains("secret"));
    }
}
