#![doc = include_str!("../README.md")]

pub mod fixture;
pub mod markdown;
pub mod smtp;
pub mod statements;
pub mod vectors;

pub use svc_test_databases::{galera, mariadb, replication};
