//! Runners for recorded data: function vectors and HTTP scenarios; a database server for tests. Only tests and
//! `cargo xtask` use it.

pub mod galera;
pub mod mariadb;
pub mod statements;
pub mod vectors;
