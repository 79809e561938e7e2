//! Parameters of a request, which PHP has as `$_SERVER`: those of nginx's `fastcgi_params`, and the request's headers.

use std::borrow::Cow;

use http::{
    HeaderMap, HeaderName, HeaderValue, Version,
    header::{CONTENT_LENGTH, CONTENT_TYPE, HOST},
    request::Parts,
    uri::Authority,
};

use crate::{
    files::{Files, Script},
    headers::Origin,
};

/// The value of `SERVER_SOFTWARE`. WordPress and plugins recognize by `nginx` that URLs without `index.php` work, and that
/// `X-Accel-Redirect` is obeyed.
const SOFTWARE: &str = concat!("nginx (svc-gateway/", env!("CARGO_PKG_VERSION"), ")");

/// A name and its value.
pub(crate) type Param<'a> = (Cow<'a, str>, Cow<'a, [u8]>);

/// The parameters of a request whose headers are those for the upstream. `length` is the size of the body in bytes, if it has one.
pub(crate) fn params<'a>(
    parts: &'a Parts,
    files: &'a Files,
    script: &'a Script,
    origin: Origin,
    length: Option<u64>,
) -> Vec<Param<'a>> {
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    let (scheme, https) = if origin.tls { ("https", Some("on")) } else { ("http", None) };
    let content_type = parts.headers.get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    let length = length.map(|length| length.to_string()).unwrap_or_default();
    let protocol = match parts.version {
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2.0",
        Version::HTTP_3 => "HTTP/3.0",
        _ => "HTTP/1.1",
    };
    let text = |text: &'a str| Cow::Borrowed(text.as_bytes());
    let own = |text: String| Cow::Owned(text.into_bytes());
    let path = |path: &'a std::path::Path| Cow::Borrowed(path.as_os_str().as_encoded_bytes());
    let mut params: Vec<Param<'a>> = [
        ("QUERY_STRING", text(parts.uri.query().unwrap_or_default())),
        ("REQUEST_METHOD", text(parts.method.as_str())),
        ("CONTENT_TYPE", Cow::Borrowed(content_type)),
        ("CONTENT_LENGTH", own(length)),
        ("SCRIPT_FILENAME", path(&script.file)),
        ("SCRIPT_NAME", text(&script.url)),
        ("DOCUMENT_URI", text(&script.url)),
        ("DOCUMENT_ROOT", path(files.document_root())),
        ("REQUEST_URI", text(target)),
        ("SERVER_PROTOCOL", text(protocol)),
        ("REQUEST_SCHEME", text(scheme)),
        ("GATEWAY_INTERFACE", text("CGI/1.1")),
        ("SERVER_SOFTWARE", text(SOFTWARE)),
        ("REMOTE_ADDR", own(origin.address.to_string())),
        // Behind another proxy it is not known. Scripts expect a number.
        ("REMOTE_PORT", text("0")),
        ("SERVER_ADDR", text("127.0.0.1")),
        ("SERVER_PORT", own(port(&parts.headers, origin.tls).to_string())),
        ("SERVER_NAME", text(&files.site().server_name)),
        // PHP may be built to require it.
        ("REDIRECT_STATUS", text("200")),
    ]
    .into_iter()
    .map(|(name, value)| (Cow::Borrowed(name), value))
    .collect();
    params.extend(https.map(|on| (Cow::Borrowed("HTTPS"), text(on))));
    for name in parts.headers.keys() {
        if let Some(param) = variable(name) {
            params.push((Cow::Owned(param), joined(&parts.headers, name)));
        }
    }
    params
}

/// The port of the site, which `Host` names unless it is the usual one. It is 443 exactly with TLS: WordPress takes it for that.
fn port(headers: &HeaderMap, tls: bool) -> u16 {
    let host = headers.get(HOST).and_then(|host| Authority::try_from(host.as_bytes()).ok());
    match (tls, host.and_then(|host| host.port_u16())) {
        (true, port) => port.filter(|port| *port != 80).unwrap_or(443),
        (false, port) => port.filter(|port| *port != 443).unwrap_or(80),
    }
}

/// The name of a header's variable. `None` if the header has a parameter of its own, or a name that could be that of another variable.
fn variable(name: &HeaderName) -> Option<String> {
    let is_plain = name.as_str().bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if *name == CONTENT_TYPE || *name == CONTENT_LENGTH || !is_plain {
        return None;
    }
    Some(format!("HTTP_{}", name.as_str().to_ascii_uppercase().replace('-', "_")))
}

/// The value of a header that may have been sent in several lines.
fn joined<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Cow<'a, [u8]> {
    let mut values = headers.get_all(name).iter().map(HeaderValue::as_bytes);
    let first = values.next().unwrap_or_default();
    values.fold(Cow::Borrowed(first), |all, value| Cow::Owned([&all, &b", "[..], value].concat()))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::PathBuf};

    use http::Request;

    use super::*;
    use crate::{headers::prepare, options::Site};

    fn of(request: Request<()>, address: &str, tls: bool, length: Option<u64>) -> BTreeMap<String, String> {
        let site = Site { root: "/srv/www".into(), server_name: "site.example".to_owned(), ..Site::default() };
        let origin = Origin { address: address.parse().unwrap(), tls };
        let (mut parts, ()) = request.into_parts();
        prepare(&mut parts, origin);
        let script = Script { url: "/index.php".to_owned(), file: PathBuf::from("/srv/www/index.php") };
        let files = Files::new(site);
        let params = params(&parts, &files, &script, origin, length);
        let n_params = params.len();
        let params: BTreeMap<String, String> = params
            .into_iter()
            .map(|(name, value)| (name.into_owned(), String::from_utf8(value.into_owned()).unwrap()))
            .collect();
        assert_eq!(params.len(), n_params, "each name once");
        params
    }

    #[test]
    fn parameters_of_a_request() {
        let request = Request::post("/caf%C3%A9/?a=1&b=%20")
            .header("host", "site.example:8080")
            .header("content-type", "text/plain")
            .header("content-length", "5")
            .header("authorization", "Basic eDp5")
            .header("cookie", "a=1")
            .header("cookie", "b=2")
            .header("accept", "text/html")
            .header("accept", "*/*")
            .header("proxy", "http://evil.example")
            .header("x_forwarded_for", "10.0.0.1")
            .header("x-forwarded-for", "10.0.0.1")
            .header("x.y", "1")
            .header("https", "on")
            .header("connection", "keep-alive")
            .body(())
            .unwrap();
        let expected = [
            ("CONTENT_LENGTH", "5"),
            ("CONTENT_TYPE", "text/plain"),
            ("DOCUMENT_ROOT", "/srv/www"),
            ("DOCUMENT_URI", "/index.php"),
            ("GATEWAY_INTERFACE", "CGI/1.1"),
            ("HTTP_ACCEPT", "text/html, */*"),
            ("HTTP_AUTHORIZATION", "Basic eDp5"),
            ("HTTP_COOKIE", "a=1; b=2"),
            ("HTTP_FORWARDED", "for=192.0.2.7;host=\"site.example:8080\";proto=http"),
            ("HTTP_HOST", "site.example:8080"),
            ("HTTP_HTTPS", "on"),
            ("HTTP_X_FORWARDED_FOR", "192.0.2.7"),
            ("HTTP_X_FORWARDED_HOST", "site.example:8080"),
            ("HTTP_X_FORWARDED_PROTO", "http"),
            ("QUERY_STRING", "a=1&b=%20"),
            ("REDIRECT_STATUS", "200"),
            ("REMOTE_ADDR", "192.0.2.7"),
            ("REMOTE_PORT", "0"),
            ("REQUEST_METHOD", "POST"),
            ("REQUEST_SCHEME", "http"),
            ("REQUEST_URI", "/caf%C3%A9/?a=1&b=%20"),
            ("SCRIPT_FILENAME", "/srv/www/index.php"),
            ("SCRIPT_NAME", "/index.php"),
            ("SERVER_ADDR", "127.0.0.1"),
            ("SERVER_NAME", "site.example"),
            ("SERVER_PORT", "8080"),
            ("SERVER_PROTOCOL", "HTTP/1.1"),
            ("SERVER_SOFTWARE", SOFTWARE),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(of(request, "192.0.2.7", false, Some(5)), BTreeMap::from(expected));
    }

    #[test]
    fn tls_and_ports() {
        for (host, tls, port) in [
            ("a.example", false, "80"),
            ("a.example", true, "443"),
            ("a.example:443", false, "80"),
            ("a.example:80", true, "443"),
            ("a.example:8443", true, "8443"),
            ("[::1]:81", false, "81"),
        ] {
            let params = of(Request::get("/").header("host", host).body(()).unwrap(), "2001:db8::1", tls, None);
            assert_eq!(params["SERVER_PORT"], port, "{host} {tls}");
            assert_eq!(params.get("HTTPS").map(String::as_str), tls.then_some("on"));
            assert_eq!((params["CONTENT_LENGTH"].as_str(), params["REMOTE_ADDR"].as_str()), ("", "2001:db8::1"));
        }
    }

    #[test]
    fn an_absolute_target_is_that_of_its_host() {
        let request = Request::get("http://a.example/x?y").header("host", "b.example").body(()).unwrap();
        let params = of(request, "192.0.2.7", false, None);
        assert_eq!((params["HTTP_HOST"].as_str(), params["REQUEST_URI"].as_str()), ("a.example", "/x?y"));
    }
}
