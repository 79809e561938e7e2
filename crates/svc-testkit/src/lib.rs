#![doc = include_str!("../README.md")]

pub mod fixture;
pub mod galera;
pub mod mariadb;
pub mod markdown;
pub mod statements;
pub mod vectors;
