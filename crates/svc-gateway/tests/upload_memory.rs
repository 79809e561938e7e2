//! The memory of a large upload to php-fpm. A file of its own, since it measures the whole process. Skipped if php-fpm is not installed,
//! unless `SVC_NEED_CLIENTS` is set.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::Request;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use svc_gateway::{BoxError, Origin, ProxyLimits, Site, boxed};

#[path = "it/php_fpm.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod php_fpm;

/// Prints the size and the checksum of the body.
const SCRIPT: &str = "<?php $in = fopen('php://input', 'r'); $hash = hash_init('crc32b'); $n = hash_update_stream($hash, $in); \
                      echo $n, ' ', hash_final($hash);";

/// The largest amount of memory that this process has had, in bytes.
fn peak_memory() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<i64>().unwrap() * 1024
}

#[tokio::test]
async fn large_uploads_are_not_held_in_memory() {
    let Some(fpm) = php_fpm::PhpFpm::start(&[("index.php", SCRIPT)]) else { return };
    let proxy = fpm.proxy(ProxyLimits::default(), Site::default());
    let before = peak_memory();
    // Without a length: 64 MB in parts of 64 KB, which are made one by one.
    let parts = stream::iter(0..1024).map(|_| Ok::<_, BoxError>(Frame::data(Bytes::from(vec![b'x'; 65_536]))));
    let request = Request::put("/").header("host", "h").body(boxed(StreamBody::new(parts))).unwrap();
    let origin = Origin { address: IpAddr::V4(Ipv4Addr::LOCALHOST), tls: false };
    let response = proxy.forward(request, origin).await.unwrap();
    assert_eq!(response.status(), 200);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    // The CRC-32 of 64 MB of `x`.
    assert_eq!(body, "67108864 5d8d9e1e");
    let grown = peak_memory() - before;
    assert!(grown < 8 << 20, "{grown} bytes more");
}
