//! Integration tests over real sockets, with a small upstream that is programmed by each test.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

mod proxy;
mod upstream;
