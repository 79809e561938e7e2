//! The reads of an access log, to find out what share of them a bridge would replay.

use std::net::IpAddr;

use http_body_util::BodyExt as _;
use svc_gateway::Origin;

use crate::Bridge;

/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 16 << 10;

/// A read in an access log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRead {
    address: IpAddr,
    target: String,
    agent: String,
}

impl LoggedRead {
    /// The read in a line of the common or combined log format; `None` for other requests, and for other and long lines.
    pub fn parse(line: &str) -> Option<Self> {
        if line.len() > MAX_LINE {
            return None;
        }
        let address = line.split(' ').next()?.parse().ok()?;
        let mut quoted = line.split('"').skip(1).step_by(2);
        let request = quoted.next()?;
        let agent = quoted.nth(1).unwrap_or_default().to_owned();
        let mut words = request.split(' ');
        let target = (words.next()? == "GET").then(|| words.next()).flatten()?;
        target.starts_with('/').then(|| LoggedRead { address, target: target.to_owned(), agent })
    }

    /// Sends the read through a bridge, as a visitor, and reads the response. `host` is the site's host with its port.
    pub async fn send(&self, bridge: &Bridge, host: &str, tls: bool) {
        let request = http::Request::get(&self.target)
            .header(http::header::HOST, host)
            .header(http::header::USER_AGENT, &self.agent);
        // A line that is no request, such as one of an attack.
        let Ok(request) = request.body(svc_gateway::empty()) else { return };
        let mut response = bridge.respond(request, Origin { address: self.address, tls }).await;
        while response.body_mut().frame().await.is_some_and(|frame| frame.is_ok()) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines_of_logs() {
        let line = r#"192.0.2.7 - - [24/Nov/2026:10:00:00 +0000] "GET /wp-json/wp/v2/posts?a=b HTTP/1.1" 200 5 "-" "Mozilla/5.0 (X)""#;
        let read = LoggedRead::parse(line).unwrap();
        assert_eq!((read.target.as_str(), read.agent.as_str()), ("/wp-json/wp/v2/posts?a=b", "Mozilla/5.0 (X)"));
        assert_eq!(read.address, IpAddr::from([192, 0, 2, 7]));
        let common = r#"2001:db8::1 - ada [24/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5"#;
        assert_eq!(LoggedRead::parse(common).unwrap().agent, "");
        for other in [
            "",
            "x",
            r#"192.0.2.7 - - [x] "POST / HTTP/1.1" 200 5"#,
            r#"192.0.2.7 - - [x] "GET" 400 0"#,
            r#"192.0.2.7 - - [x] "\x16" 400"#,
        ] {
            assert_eq!(LoggedRead::parse(other), None, "{other}");
        }
    }
}
