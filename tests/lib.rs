//! The workspace's integration tests are in `it/`: a single binary, so that they are linked only once.
