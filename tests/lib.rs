//! The workspace's integration tests live in `it/`, one binary for all of them, so that they are linked once.
