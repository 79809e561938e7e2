//! Integration tests over real sockets, with a small upstream that is programmed by each test.

mod proxy;
mod upstream;
