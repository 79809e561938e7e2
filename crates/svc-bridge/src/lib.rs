#![doc = include_str!("../README.md")]

pub mod changes;
pub mod names;
