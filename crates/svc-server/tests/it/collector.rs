//! A collector of OpenTelemetry on a socket of its own, which stores what it receives and can misbehave.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::{KeyValue, any_value::Value},
    trace::v1::{ResourceSpans, Span},
};
use prost::Message as _;

/// How a collector responds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Behaviour {
    /// With these bytes.
    Responds(&'static str),
    /// Never.
    Hangs,
    /// One byte of a response in 200 milliseconds.
    Drips,
    /// With a body that never ends.
    Floods,
}

pub(crate) const ACCEPTS: Behaviour = Behaviour::Responds("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");

#[derive(Default)]
struct Received {
    /// Head and body of each request.
    requests: Vec<(String, Vec<u8>)>,
    /// Connections without a response.
    open: Vec<TcpStream>,
}

/// A running collector.
pub(crate) struct Collector {
    pub(crate) url: String,
    behaviour: Arc<Mutex<Behaviour>>,
    received: Arc<Mutex<Received>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let collector =
            Collector { url, behaviour: Arc::new(Mutex::new(ACCEPTS)), received: Arc::new(Mutex::default()) };
        let (behaviour, received) = (Arc::clone(&collector.behaviour), Arc::clone(&collector.received));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (behaviour, received) = (Arc::clone(&behaviour), Arc::clone(&received));
                // Connections are reused.
                std::thread::spawn(move || while respond(&stream, &behaviour, &received).is_some() {});
            }
        });
        collector
    }

    pub(crate) fn set(&self, behaviour: Behaviour) {
        *self.behaviour.lock().unwrap() = behaviour;
    }

    /// Heads and bodies of the requests so far.
    pub(crate) fn requests(&self) -> Vec<(String, Vec<u8>)> {
        self.received.lock().unwrap().requests.clone()
    }

    /// What was received so far.
    pub(crate) fn resources(&self) -> Vec<ResourceSpans> {
        let decode = |(_, body): (String, Vec<u8>)| ExportTraceServiceRequest::decode(&body[..]).unwrap();
        self.requests().into_iter().flat_map(|request| decode(request).resource_spans).collect()
    }

    /// The spans so far.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let scopes = self.resources().into_iter().flat_map(|resource| resource.scope_spans);
        scopes.flat_map(|scope| scope.spans).collect()
    }

    /// The spans of one trace, given by 32 hexadecimal digits.
    pub(crate) fn trace(&self, id: &str) -> Vec<Span> {
        self.spans().into_iter().filter(|span| hex(&span.trace_id) == id).collect()
    }

    /// Waits until this many requests have been received.
    #[track_caller]
    pub(crate) fn until(&self, n_requests: usize) {
        let begun = Instant::now();
        while self.received.lock().unwrap().requests.len() < n_requests {
            assert!(begun.elapsed() < Duration::from_secs(30), "the collector gets no more requests");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Reads a request and responds; `None` when the connection ends.
fn respond(mut stream: &TcpStream, behaviour: &Mutex<Behaviour>, received: &Mutex<Received>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.to_ascii_lowercase();
    let length = length.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    received.lock().unwrap().requests.push((head, body));
    let behaviour = *behaviour.lock().unwrap();
    match behaviour {
        Behaviour::Responds(response) => stream.write_all(response.as_bytes()).ok(),
        Behaviour::Hangs => {
            received.lock().unwrap().open.push(stream.try_clone().ok()?);
            None
        }
        Behaviour::Drips => {
            for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" {
                stream.write_all(&[*byte]).ok()?;
                std::thread::sleep(Duration::from_millis(200));
            }
            Some(())
        }
        Behaviour::Floods => {
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").ok()?;
            let chunk = [b"10000\r\n".as_slice(), &[b'x'; 0x10000], b"\r\n"].concat();
            while stream.write_all(&chunk).is_ok() {}
            None
        }
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The texts and numbers among attributes.
pub(crate) fn attributes(attributes: &[KeyValue]) -> BTreeMap<&str, String> {
    let text = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(n) => n.to_string(),
        other => panic!("{other:?}"),
    };
    let of = |attribute: &KeyValue| attribute.value.as_ref().unwrap().value.as_ref().map(text).unwrap();
    attributes.iter().map(|attribute| (&*attribute.key, of(attribute))).collect()
}

/// The names of the spans of a trace, each after those of its parents.
pub(crate) fn paths(spans: &[Span]) -> BTreeSet<String> {
    let path = |span: &Span| {
        let (mut names, mut parent) = (vec![&*span.name], &span.parent_span_id);
        while let Some(above) = spans.iter().find(|other| other.span_id == *parent) {
            names.push(&above.name);
            parent = &above.parent_span_id;
        }
        names.reverse();
        names.join(" > ")
    };
    spans.iter().map(path).collect()
}
