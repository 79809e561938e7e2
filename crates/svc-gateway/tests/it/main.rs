//! Integration tests over real sockets, with a small upstream that is programmed by each test, and with php-fpm.

#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

#[cfg(unix)]
mod fastcgi;
#[cfg(unix)]
mod php;
#[cfg(unix)]
mod php_fpm;
mod proxy;
mod upstream;
