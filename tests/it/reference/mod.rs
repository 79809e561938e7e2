//! The reference pages of `docs/` are generated from the settings and the OpenAPI document. These tests compare them with the
//! program; `cargo xtask docs --update` writes them.

mod examples;
mod operations;
mod settings;

use expect_test::ExpectFile;
use serde_json::Value;
use svc_server::SiteBuilder;

use self::{
    examples::Recorder,
    operations::{PAGES, page},
};
use crate::{
    client::send,
    site::{Site, on_sqlite},
};

/// A page of the documentation.
fn document(name: &str) -> ExpectFile {
    ExpectFile { path: format!("{}/../docs/{name}", env!("CARGO_MANIFEST_DIR")).into(), position: file!() }
}

#[test]
fn the_configuration_reference_lists_every_setting() {
    document("configuration.md").assert_eq(&settings::page());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_reference_describes_every_operation() {
    if !on_sqlite() {
        return; // Ids of new rows, and thus the examples, depend on the database.
    }
    let settings = [("outgoing.public", "false"), ("log", "error")];
    let site = Site::start_in(tempfile::tempdir().unwrap(), &SiteBuilder::new(), &settings).await;
    // All operations exist for secure origins.
    let openapi = send(site.address, "GET", "/svc-json/openapi.json", &[("Host", "localhost")], "").await;
    let openapi: Value = openapi.json();
    let recorder = Recorder::record(&site, &openapi).await;
    document("reference.md").assert_eq(&operations::overview(&openapi));
    for (file, _, _) in PAGES {
        document(file).assert_eq(&page(&openapi, file, &recorder));
    }
}
