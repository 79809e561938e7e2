//! A small HTTP/1.1 client: one connection, reused between requests. It neither follows redirects nor decodes encodings.

use std::{
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};

/// The longest wait for the server to send something.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Part of the `Cache-Status` header of responses that a gateway replayed.
const REPLAYED: &str = "svc; hit";

/// Longest line of a head, in bytes.
const LINE_LIMIT: u64 = 64 << 10;

/// Most lines of a head, and of the trailer of a chunked body.
const LINES_LIMIT: usize = 200;

/// Longest body in bytes.
const BODY_LIMIT: u64 = 64 << 20;

/// A request. `target` begins with `/` and is sent unchanged.
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Option<Vec<u8>>,
}

/// A response. The characters of a header's value are its bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl HttpResponse {
    /// The first header of this name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Sends requests to one server.
pub(crate) struct Client {
    /// Host and port.
    authority: String,
    /// Path of the site on the server, without a slash at the end.
    prefix: String,
    connection: Option<BufReader<TcpStream>>,
    /// Whether requests have the header of a proxy that has received them over TLS.
    pub(crate) is_tls_proxy: bool,
    /// Responses received, and those of them that a gateway replayed.
    pub(crate) received: usize,
    pub(crate) replayed: usize,
}

impl Client {
    /// For a URL `http://HOST:PORT/PATH`.
    pub(crate) fn new(url: &str) -> Result<Self> {
        let rest = url.strip_prefix("http://").with_context(|| format!("{url} does not begin with http://"))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let authority = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
        let path = path.trim_end_matches('/');
        let prefix = if path.is_empty() { String::new() } else { format!("/{path}") };
        Ok(Client { authority, prefix, connection: None, is_tls_proxy: false, received: 0, replayed: 0 })
    }

    /// Sends a request and reads the response. If the server has closed the connection, a new one is opened.
    pub(crate) fn send(&mut self, request: &HttpRequest) -> Result<HttpResponse> {
        let response = self.exchange(request)?;
        self.received += 1;
        self.replayed += usize::from(response.header("cache-status").is_some_and(|status| status.contains(REPLAYED)));
        Ok(response)
    }

    fn exchange(&mut self, request: &HttpRequest) -> Result<HttpResponse> {
        if let Some(mut connection) = self.connection.take()
            && self.write(&mut connection, request).is_ok()
        {
            match connection.fill_buf() {
                Ok([]) => {}
                Err(error) if [ErrorKind::ConnectionReset, ErrorKind::ConnectionAborted].contains(&error.kind()) => {}
                _ => return self.read(connection, request),
            }
        }
        let stream = TcpStream::connect(&self.authority).with_context(|| format!("cannot reach {}", self.authority))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let mut connection = BufReader::new(stream);
        self.write(&mut connection, request)?;
        self.read(connection, request)
    }

    fn write(&self, connection: &mut BufReader<TcpStream>, request: &HttpRequest) -> Result<()> {
        let mut head =
            format!("{} {}{} HTTP/1.1\r\nHost: {}\r\n", request.method, self.prefix, request.target, self.authority);
        if self.is_tls_proxy {
            head += "X-Forwarded-Proto: https\r\n";
        }
        for (name, value) in &request.headers {
            ensure!(!value.contains(['\r', '\n']), "the header {name} has more than one line");
            head += &format!("{name}: {value}\r\n");
        }
        let body = request.body.as_deref().unwrap_or_default();
        if request.body.is_some() || ["POST", "PUT", "PATCH"].contains(&request.method.as_str()) {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        let message = [head.as_bytes(), b"\r\n", body].concat();
        connection.get_mut().write_all(&message).context("cannot send the request")
    }

    /// Reads a response; the connection is stored if it can be used again.
    fn read(&mut self, mut connection: BufReader<TcpStream>, request: &HttpRequest) -> Result<HttpResponse> {
        let mut head = read_head(&mut connection)?;
        while (100..200).contains(&head.status) {
            head = read_head(&mut connection)?;
        }
        let value = |name: &str| head.header(name).map(str::to_ascii_lowercase);
        let length =
            value("content-length").map(|n| n.parse::<u64>()).transpose().context("Content-Length is not a number")?;
        let chunked = value("transfer-encoding").is_some_and(|v| v.contains("chunked"));
        let mut closes = value("connection").is_some_and(|v| v.contains("close"));
        let has_body = request.method != "HEAD" && ![204, 304].contains(&head.status);
        let body = match length {
            _ if !has_body => Vec::new(),
            _ if chunked => read_chunks(&mut connection)?,
            Some(length) => read_exactly(&mut connection, length)?,
            None => {
                closes = true;
                let mut body = Vec::new();
                connection.by_ref().take(BODY_LIMIT).read_to_end(&mut body)?;
                body
            }
        };
        if !closes {
            self.connection = Some(connection);
        }
        Ok(HttpResponse { body, ..head })
    }
}

/// Status line and headers.
fn read_head(from: &mut impl BufRead) -> Result<HttpResponse> {
    let line = read_line(from)?;
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    let status = status.and_then(|s| s.parse().ok()).with_context(|| format!("invalid status line: {line:.100}"))?;
    let mut headers = Vec::new();
    for _ in 0..LINES_LIMIT {
        let line = read_line(from)?;
        if line.is_empty() {
            return Ok(HttpResponse { status, headers, body: Vec::new() });
        }
        let (name, value) = line.split_once(':').with_context(|| format!("invalid header: {line:.100}"))?;
        headers.push((name.to_owned(), value.trim().to_owned()));
    }
    bail!("the head has more than {LINES_LIMIT} lines")
}

/// A line without its end; each byte becomes a character.
fn read_line(from: &mut impl BufRead) -> Result<String> {
    let mut line = Vec::new();
    from.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line)?;
    ensure!(line.ends_with(b"\n"), "the connection ended within a line, or the line is too long");
    let line = line.strip_suffix(b"\r\n").or_else(|| line.strip_suffix(b"\n")).unwrap_or(&line);
    Ok(line.iter().copied().map(char::from).collect())
}

fn read_exactly(from: &mut impl BufRead, length: u64) -> Result<Vec<u8>> {
    ensure!(length <= BODY_LIMIT, "the body is longer than {BODY_LIMIT} bytes");
    let mut body = Vec::new();
    let read = from.take(length).read_to_end(&mut body)? as u64;
    ensure!(read == length, "the body ended after {read} of {length} bytes");
    Ok(body)
}

fn read_chunks(from: &mut impl BufRead) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(from)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = u64::from_str_radix(size, 16).with_context(|| format!("invalid chunk size: {line:.100}"))?;
        if size == 0 {
            break;
        }
        ensure!(body.len() as u64 + size.min(BODY_LIMIT) <= BODY_LIMIT, "the body is longer than {BODY_LIMIT} bytes");
        body.extend(read_exactly(from, size)?);
        ensure!(read_line(from)?.is_empty(), "a chunk is longer than its size");
    }
    for _ in 0..LINES_LIMIT {
        if read_line(from)?.is_empty() {
            return Ok(body);
        }
    }
    bail!("the trailer has more than {LINES_LIMIT} lines")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{net::TcpListener, thread::JoinHandle};

    /// A server that sends these responses, some per connection, and returns the heads of the requests.
    fn serve(connections: &'static [&'static [&'static str]]) -> (Client, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = Client::new(&format!("http://{}/site/", listener.local_addr().unwrap())).unwrap();
        let server = std::thread::spawn(move || {
            let mut heads = Vec::new();
            for responses in connections {
                let mut stream = BufReader::new(listener.accept().unwrap().0);
                for response in *responses {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        stream.read_line(&mut head).unwrap();
                    }
                    heads.push(head);
                    stream.get_mut().write_all(response.as_bytes()).unwrap();
                }
            }
            heads
        });
        (client, server)
    }

    fn get(target: &str) -> HttpRequest {
        let headers = vec![("X-A".to_owned(), "é".to_owned())];
        HttpRequest { method: "GET".to_owned(), target: target.to_owned(), headers, body: None }
    }

    #[test]
    fn bodies_follow_their_framing_and_closed_connections_are_reopened() {
        let (mut client, server) = serve(&[
            &[
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-B: \u{e9}\r\n\r\none",
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\ntw\r\n1\r\no\r\n0\r\nT: 1\r\n\r\n",
                "HTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\n",
            ],
            &["HTTP/1.1 200 OK\r\n\r\nto the end"],
            &["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"],
        ]);
        let mut bodies = Vec::new();
        for n in 0..4 {
            let response = client.send(&get(&format!("/{n}"))).unwrap();
            bodies.push((response.status, String::from_utf8(response.body).unwrap()));
        }
        let expected = [(200, "one"), (404, "two"), (304, ""), (200, "to the end")];
        assert_eq!(bodies, expected.map(|(status, body)| (status, body.to_owned())));
        let error = client.send(&get("/4")).unwrap_err().to_string();
        assert_eq!(error, "the body ended after 5 of 9 bytes");
        let heads = server.join().unwrap();
        assert_eq!(heads.len(), 5);
        assert!(heads[0].starts_with("GET /site/0 HTTP/1.1\r\nHost: 127.0.0.1:"), "{}", heads[0]);
        assert!(heads[0].ends_with("\r\nX-A: é\r\n\r\n"), "{}", heads[0]);
    }

    #[test]
    fn requests_over_tls_are_sent_as_a_proxy_does() {
        let (mut client, server) = serve(&[&["HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"; 2]]);
        for is_tls in [false, true] {
            client.is_tls_proxy = is_tls;
            client.send(&get("/")).unwrap();
        }
        let heads = server.join().unwrap();
        assert_eq!([0, 1].map(|n| heads[n].contains("\r\nX-Forwarded-Proto: https\r\n")), [false, true]);
    }

    #[test]
    fn multi_line_headers_and_other_schemes_are_rejected() {
        assert!(Client::new("https://127.0.0.1").is_err());
        let (mut client, server) = serve(&[]);
        let headers = vec![("X-A".to_owned(), "a\r\nX-B: b".to_owned())];
        let request = HttpRequest { headers, ..get("/") };
        assert!(client.send(&request).is_err());
        assert!(server.join().unwrap().is_empty());
    }
}
