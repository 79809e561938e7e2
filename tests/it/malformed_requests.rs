//! Malformed requests: the server responds or closes the connection, and continues to work.

use proptest::prelude::*;

use crate::{client::raw, site::Site};

#[tokio::test(flavor = "multi_thread")]
async fn malformed_requests_are_rejected_and_the_server_continues() {
    let site = Site::start().await;
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(100_000));
    #[rustfmt::skip]
    let rows: &[&[u8]] = &[
        b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00\xff\xfe", b"GET /%zz%00%ff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /?%5B%5D=%5B&s=%ff HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", long.as_bytes(),
        b"POST /svc-json/svc/v2/posts HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /svc-json/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /?rest_route[]=x HTTP/1.1\r\nHost: x\r\nCookie: a=%\xff;;;=\r\nAuthorization: Basic \xff\r\nConnection: close\r\n\r\n",
    ];
    for request in rows {
        let response = raw(site.address, request, true).await;
        let first = String::from_utf8_lossy(&response[..response.len().min(20)]).into_owned();
        assert!(!first.contains(" 500"), "{:?}: {first}", String::from_utf8_lossy(&request[..request.len().min(60)]));
    }
    assert_eq!(site.get("/").await.status, 200);
}

/// Random paths and queries never get a 500.
#[test]
fn any_url_gets_a_response() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let site = runtime.block_on(Site::start());
    let segment = prop_oneof![
        Just("svc-json".to_owned()),
        Just("index.php".to_owned()),
        Just("category".to_owned()),
        Just("page".to_owned()),
        Just("feed".to_owned()),
        Just("wp-content/uploads".to_owned()),
        "[0-9]{1,20}",
        "%[0-9A-F]{2}",
        "[a-z.~%]{0,8}",
    ];
    let name = prop_oneof![
        Just("p".to_owned()),
        Just("s".to_owned()),
        Just("paged".to_owned()),
        Just("author".to_owned()),
        Just("cat".to_owned()),
        Just("m".to_owned()),
        Just("feed".to_owned()),
        Just("rest_route".to_owned()),
        Just("_method".to_owned()),
        "[a-z_\\[\\]]{0,6}",
    ];
    let value = prop_oneof!["-?[0-9]{1,20}", "(/[a-z0-9]{0,6}){0,4}", "[a-z%+&=\\[\\]]{0,12}"];
    let query = prop::collection::vec((name, value), 0..4);
    let address = (prop::collection::vec(segment, 0..5), query);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 300, ..ProptestConfig::default() });
    let result = runner.run(&address, |(segments, query)| {
        let pairs: Vec<String> = query.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let path = format!("/{}?{}", segments.join("/"), pairs.join("&"));
        let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let response = runtime.block_on(raw(site.address, request.as_bytes(), false));
        let status = String::from_utf8_lossy(response.get(9..12).unwrap_or_default()).into_owned();
        prop_assert!(status.starts_with(['2', '3', '4']), "{path}: {status}");
        Ok(())
    });
    result.unwrap();
}
