//! The workspace's integration tests live in `it/`, one binary for all of them, so that they are linked once. The Rust code
//! blocks of the documentation are tests of this library.

/// Code blocks of Markdown files, compiled as documentation tests.
#[cfg(doctest)]
pub mod documentation {
    #[doc = include_str!("../docs/server.md")]
    pub struct Server;
    #[doc = include_str!("../docs/rust.md")]
    pub struct Rust;
}
