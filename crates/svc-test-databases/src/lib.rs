#![doc = include_str!("../README.md")]

pub mod galera;
pub mod mariadb;
pub mod replication;
