//! Tests of the service in process. `../memory.rs` is a binary of its own, because it measures the memory of its process.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

#[path = "../../../svc-routing/tests/demo/mod.rs"]
#[expect(unreachable_pub, reason = "shared by the test binaries of two crates")]
mod demo;
mod recorded;
mod response_cache;
mod service;
