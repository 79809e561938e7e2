//! The bridge in front of a program that behaves as a WordPress with the connector.

#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

mod replay;
mod wordpress;
