//! A web server that represents a WordPress with the connector: each of its responses has the rows of a statement, and the record says so.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    response::Response,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderValue, StatusCode};
use http_body_util::BodyExt as _;
use mysql::{Conn, Row, prelude::Queryable as _};
use serde_json::json;
use sha2::Sha256;
use svc_bridge::{Bridge, CACHE_STATUS, Settings, Sources, Watch, record::Recorder};
use svc_gateway::{Origin, Proxy, ProxyLimits};

use crate::server::Server;

const SECRET: &str = "0123456789abcdef0123456789abcdef";

struct Php {
    connection: Mutex<Conn>,
    /// The statement of all responses.
    sql: Mutex<String>,
}

/// The rows that a statement finds, in the order of their texts, and the numbers that the connector records of each: the database may find
/// them in any order.
fn rows(connection: &mut Conn, sql: &str) -> Result<(String, Vec<(u64, u64)>), String> {
    let rows: Vec<Row> = connection.query(sql).map_err(|error| error.to_string())?;
    let id = |row: &Row, columns: &[&str]| {
        let at = row.columns_ref().iter().position(|column| columns.contains(&&*column.name_str()))?;
        row.get_opt::<u64, usize>(at)?.ok()
    };
    let number = |row: &Row, columns: &[&str]| id(row, columns).unwrap_or_default();
    let ids = rows.iter().map(|row| (number(row, &["term_id", "ID"]), number(row, &["term_taxonomy_id"]))).collect();
    let mut texts: Vec<String> = rows.into_iter().map(|row| format!("{:?}", row.unwrap())).collect();
    texts.sort();
    Ok((texts.join("\n"), ids))
}

async fn respond(State(php): State<Arc<Php>>, request: Request) -> Response {
    let sql = php.sql.lock().unwrap().clone();
    let found = rows(&mut php.connection.lock().unwrap(), &sql);
    let (body, ids) = match found {
        Ok(found) => found,
        Err(error) => {
            let mut response = Response::new(Body::from(error));
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            return response;
        }
    };
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let has_ids = sql.contains("term_") || sql.contains("user_login");
    let recorded = if has_ids { json!([sql, [ids]]) } else { json!(sql) };
    let record = json!({
        "v": 2, "parts": [], "prefix": "wp_", "database": "wp", "start": now, "end": now, "sql": [recorded], "age": null, "store": true,
        "route": "/x", "user": 0
    });
    let (record, asked) = (record.to_string(), request.headers()["x-svc-record"].to_str().unwrap());
    let nonce = asked.split('.').nth(1).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(format!("svc-recorded\n{nonce}").as_bytes());
    let signature: String = mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut response = Response::new(Body::from(format!("{:08}{signature}\n{record}{body}", record.len())));
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
    response.headers_mut().insert("x-svc-record", HeaderValue::from_static("1"));
    response
}

/// This WordPress behind a bridge with the news of the database's log.
pub(super) struct Site {
    bridge: Bridge,
    php: Arc<Php>,
    /// Another program.
    connection: Mutex<Conn>,
    upstream: tokio::task::JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.upstream.abort();
    }
}

impl Site {
    pub(super) async fn start(server: &Server) -> Self {
        let php = Arc::new(Php { connection: Mutex::new(server.connect()), sql: Mutex::default() });
        let router = Router::new().fallback(respond).with_state(Arc::clone(&php));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        let upstream = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let settings = Settings {
            urls: svc_routing::RouteUrls::new("", "wp-json"),
            pages: false,
            age: Duration::from_secs(3600),
            ages: Vec::new(),
            never: Vec::new(),
            memory: 64 << 20,
            checks: 0,
            max_body: 1 << 20,
        };
        let proxy = Proxy::new(address, "test", ProxyLimits::default());
        let bridge = Bridge::new(settings, proxy, Some(Recorder::new(SECRET.as_bytes())), b"random");
        let source = server.source("root");
        let sources = Sources { database: source.server, prefix: source.prefix, connector: None };
        Watch::new(bridge.clone(), sources, None).look().await.unwrap();
        let site = Site { bridge, php, connection: Mutex::new(server.connect()), upstream };
        // The news begin some seconds after a transaction. The counter of transactions must have been the same for a second.
        let start = Instant::now();
        let mut next_write = start;
        while site.replayed(0, "SELECT ID FROM wp_users").await.is_none() {
            assert!(start.elapsed() < Duration::from_secs(30), "{:?}", site.bridge.report());
            if next_write <= Instant::now() {
                site.write("REPLACE INTO wp_options (option_id, option_name, option_value) VALUES (1, 'a', RAND())");
                next_write += Duration::from_secs(3);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        site
    }

    /// The rows of a statement in the response of this number, and whether it was replayed.
    async fn get(&self, number: u64, sql: &str) -> Result<(String, bool), String> {
        sql.clone_into(&mut self.php.sql.lock().unwrap());
        let path = format!("/wp-json/{number}");
        let request = http::Request::get(path).header("host", "site.example").body(svc_gateway::empty()).unwrap();
        let origin = Origin { address: [192, 0, 2, 1].into(), tls: false };
        let response = self.bridge.respond(request, origin).await;
        let is_replayed = response.headers()[CACHE_STATUS] == "svc; hit";
        let (status, body) = (response.status(), response.into_body().collect().await.unwrap().to_bytes());
        let body = String::from_utf8(body.to_vec()).unwrap();
        if status == StatusCode::OK { Ok((body, is_replayed)) } else { Err(body) }
    }

    /// The rows in a first response.
    pub(super) async fn rendered(&self, number: u64, sql: &str) -> Result<String, String> {
        self.get(number, sql).await.map(|(rows, _)| rows)
    }

    /// The rows in a response that is replayed; `None` if it is rendered.
    pub(super) async fn replayed(&self, number: u64, sql: &str) -> Option<String> {
        self.get(number, sql).await.ok().filter(|(_, is_replayed)| *is_replayed).map(|(rows, _)| rows)
    }

    /// The rows that the database finds.
    pub(super) fn find(&self, sql: &str) -> Result<String, String> {
        rows(&mut self.connection.lock().unwrap(), sql).map(|(rows, _)| rows)
    }

    /// Writes as another program does.
    pub(super) fn write(&self, sql: &str) {
        // Some rows exist already, or are not there.
        drop(self.connection.lock().unwrap().query_drop(sql));
    }
}
