//! What the observation and the limits of requests cost: a server with them over one without, for the cheapest request.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use xtask_support::server::exchange;

use super::{
    Options,
    load::Request,
    measure::{Row, compare},
    rows::{N_WRITERS, load, same},
    site::Svc,
};

/// At most one percent.
const TARGET: f64 = 0.99;

/// How often the metrics are read, which is more often than usual.
const SCRAPE: Duration = Duration::from_secs(1);

/// A limit that no client reaches.
const UNREACHED: &str = "1000000/second";

/// What a server without the feature of a setting reports.
const NO_FEATURE: &str = "requires a build with the feature";

/// A cached list with each of them, over the same without.
pub(super) fn rows(options: &Options) -> Result<Vec<Row>> {
    let without = Svc::start(&options.program, None)?;
    without.site.fill(N_WRITERS)?;
    let row = |name: &str, settings: Vec<(&'static str, String)>, headers: fn(&Svc) -> String| -> Result<Row> {
        let with = match Svc::start_with(&options.program, None, settings) {
            Ok(with) => with,
            Err(error) if format!("{error:#}").contains(NO_FEATURE) => {
                return Ok(Row::skipped(name, "needs a build with the feature otlp (--program)"));
            }
            Err(error) => return Err(error),
        };
        with.site.fill(N_WRITERS)?;
        let request = |svc: &Svc| same(Request { headers: headers(svc), ..svc.site.get("posts") });
        let (ours, base) = (request(&with), request(&without));
        Ok(Row::ratio(name, &compare(options, &load(&with, &ours), &load(&without, &base), 1)?, Some(TARGET)))
    };
    let monitoring = TcpListener::bind("127.0.0.1:0").context("no free port")?.local_addr()?.to_string();
    let scraper = Repeated::start(SCRAPE, {
        let monitoring = monitoring.clone();
        move || drop(exchange(&monitoring, "GET", "/metrics", &[], ""))
    });
    let metrics = row(
        "cached list, metrics read every second, over none",
        vec![("SVC_MONITORING_LISTEN", monitoring)],
        no_headers,
    )?;
    drop(scraper);
    let limits = ["SVC_RATE_LIMITS_NETWORK", "SVC_RATE_LIMITS_USER", "SVC_RATE_LIMITS_TOKEN"];
    let limits: Vec<_> = limits.into_iter().map(|name| (name, UNREACHED.to_owned())).collect();
    let collector = collector()?;
    let traces =
        |percent: &str| vec![("SVC_TRACES_ENDPOINT", collector.clone()), ("SVC_TRACES_PERCENT", percent.to_owned())];
    Ok(vec![
        metrics,
        row("cached list, rate limits, over none", limits.clone(), no_headers)?,
        row("cached list with Basic, rate limits, over none", limits, |svc| svc.site.basic.clone())?,
        row("cached list, traces of 1 %, over none", traces("1"), no_headers)?,
        row("cached list, traces of 10 %, over none", traces("10"), no_headers)?,
    ])
}

fn no_headers(_: &Svc) -> String {
    String::new()
}

/// Does something at intervals until it is dropped.
struct Repeated(Arc<AtomicBool>);

impl Repeated {
    fn start(interval: Duration, act: impl Fn() + Send + 'static) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ends);
        std::thread::spawn(move || {
            while !seen.load(Relaxed) {
                act();
                std::thread::sleep(interval);
            }
        });
        Repeated(ends)
    }
}

impl Drop for Repeated {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Starts a collector that accepts all traces, on a thread that ends with the process. Returns its URL.
fn collector() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("no free port")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || accept(stream));
        }
    });
    Ok(format!("http://{address}"))
}

/// Answers all requests of a connection.
fn accept(mut stream: TcpStream) -> std::io::Result<()> {
    let (mut received, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        while let Some(end) = received.windows(4).position(|end| end == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&received[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
            let whole = end + 4 + length.unwrap_or(0);
            if received.len() < whole {
                break;
            }
            received.drain(..whole);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
        }
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            n => received.extend_from_slice(&buffer[..n]),
        }
    }
}
