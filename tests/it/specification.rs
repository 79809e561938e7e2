//! Every sentence of the specification has a check: a test that exists, or a request to a served site.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use svc_server::{
    SiteBuilder,
    model::{PostType, Taxonomy},
};

use crate::{
    client::{HttpResponse, send},
    site::{Site, basic},
};

/// A sentence of the specification.
struct Row {
    number: String,
    check: Check,
}

enum Check {
    /// The crate and the name of a test function.
    Test(String, String),
    Request(Value),
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// All rows, and what is wrong with the list itself.
fn rows() -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut wrong, mut numbers) = (Vec::new(), Vec::new(), BTreeSet::new());
    let files = std::fs::read_dir(root().join("tests/specification")).unwrap();
    let files: BTreeSet<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "toml")) {
        let content: Value = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        for row in content["row"].as_array().expect("rows") {
            let number = row["number"].as_str().unwrap_or_default().to_owned();
            if number.is_empty() || !numbers.insert(number.clone()) || row["says"].as_str().is_none_or(str::is_empty) {
                wrong.push(format!("{}: a row without a number of its own, or without a sentence", file.display()));
            }
            let test = row["test"].as_str().and_then(|test| test.split_once("::"));
            let check = match (test, row["request"].is_string()) {
                (Some((package, name)), false) => Check::Test(package.to_owned(), name.to_owned()),
                (None, true) => Check::Request(row.clone()),
                _ => {
                    wrong.push(format!("{number} has no check, or two"));
                    continue;
                }
            };
            rows.push(Row { number, check });
        }
    }
    (rows, wrong)
}

/// The names of the test functions below a folder.
fn tests_in(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            tests_in(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = std::fs::read_to_string(&path).unwrap();
            let mut is_test = false;
            for line in source.lines().map(str::trim) {
                is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
                let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
                if let (true, Some(name)) = (is_test, name.and_then(|name| name.split('(').next())) {
                    found.insert(name.to_owned());
                    is_test = false;
                }
            }
        }
    }
}

/// Sends `METHOD PATH`, or `METHOD PATH JSON`, with these headers.
async fn request_with(site: &Site, request: &str, headers: &[(String, String)]) -> HttpResponse {
    let mut parts = request.splitn(3, ' ');
    let (method, path) = parts.next().zip(parts.next()).expect("method and path");
    let body = parts.next().unwrap_or_default();
    let mut sent: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    if !body.is_empty() {
        sent.push(("content-type", "application/json"));
    }
    send(site.address, method, path, &sent, body).await
}

/// The differences from the expected response. `admin` has the administrator's credentials.
async fn difference(site: &Site, admin: &str, row: &Value) -> Option<String> {
    let pairs = |name: &str| -> Vec<(String, String)> {
        let text = |(name, value): (&String, &Value)| (name.clone(), value.as_str().unwrap_or_default().to_owned());
        row[name].as_object().into_iter().flatten().map(text).collect()
    };
    let texts = |name: &str| row[name].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>();
    let request = row["request"].as_str()?;
    let mut sent = pairs("send");
    if let Some(status) = row["visitor"].as_u64() {
        let response = request_with(site, request, &sent).await;
        if u64::from(response.status) != status {
            return Some(format!("status {} for a visitor: {}", response.status, response.body));
        }
        sent.push(("authorization".to_owned(), basic(admin)));
    }
    for before in texts("before") {
        let response = request_with(site, before, &sent).await;
        if !(200..300).contains(&response.status) {
            return Some(format!("{before}: status {}: {}", response.status, response.body));
        }
    }
    let response = request_with(site, request, &sent).await;
    if row["status"] != json!(response.status) {
        return Some(format!("status {}: {}", response.status, response.body));
    }
    for (name, value) in pairs("header") {
        let all = response.all(&name).join(", ");
        if !all.contains(&value) {
            return Some(format!("{name}: {all}"));
        }
    }
    if let Some(values) = row["json"].as_object() {
        let body = response.json();
        if let Some((pointer, _)) = values.iter().find(|(pointer, value)| body.pointer(pointer) != Some(value)) {
            return Some(format!("{pointer}: {}", body.pointer(pointer).unwrap_or(&body)));
        }
    }
    let missing = texts("body").into_iter().find(|text| !response.body.contains(text));
    let unexpected = texts("without").into_iter().find(|text| response.body.contains(text));
    missing.or(unexpected).map(|text| format!("`{text}`: {}", response.body))
}

#[tokio::test(flavor = "multi_thread")]
async fn every_sentence_has_a_check() {
    let (rows, mut wrong) = rows();
    assert!(rows.len() > 200, "{} rows", rows.len());
    let site = Site::start().await;
    let admin = site.app_password();
    let mut known: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in rows {
        match row.check {
            Check::Test(package, name) => {
                let tests = known.entry(package.clone()).or_insert_with(|| {
                    let folder = if package == "it" { "tests/it".to_owned() } else { format!("crates/{package}") };
                    let mut found = BTreeSet::new();
                    tests_in(&root().join(folder), &mut found);
                    found
                });
                if !tests.contains(&name) {
                    wrong.push(format!("{}: there is no test {package}::{name}", row.number));
                }
            }
            Check::Request(request) => {
                let difference = difference(&site, &admin, &request).await;
                wrong.extend(difference.map(|text| format!("{}: {}: {text}", row.number, request["request"])));
            }
        }
    }
    let shown: Vec<String> = wrong.iter().map(|text| text.chars().take(400).collect()).collect();
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), shown.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_type_without_rest_base_has_its_name_as_base() {
    let builder = SiteBuilder::new().prepare(|setup| {
        setup.registries.types.register(PostType::new("book").public().rest(""));
        setup.registries.taxonomies.register(Taxonomy::new("genre", &["book"]).rest(""));
    });
    let site = Site::start_in(tempfile::tempdir().unwrap(), &builder, &[]).await;
    for (path, field) in [("types/book", "rest_base"), ("taxonomies/genre", "rest_base")] {
        let entry = site.get(&format!("/svc-json/svc/v2/{path}")).await.json();
        let name = path.split('/').next_back().unwrap();
        assert_eq!(entry[field], json!(name), "{entry}");
        let href = entry["_links"]["wp:items"][0]["href"].as_str().or(entry["_links"]["svc:items"][0]["href"].as_str());
        assert!(href.unwrap().ends_with(&format!("/svc-json/svc/v2/{name}")), "{entry}");
        assert_eq!(site.get(&format!("/svc-json/svc/v2/{name}")).await.json(), json!([]));
    }
    let index = site.get("/svc-json/").await.json();
    assert!(index["routes"].as_object().unwrap().keys().all(|route| !route.starts_with("/svc/v2/(?P<id>")), "{index}");
}
