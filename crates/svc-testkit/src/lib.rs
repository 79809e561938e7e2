//! Runners for recorded data: function vectors and HTTP scenarios. Only tests and `cargo xtask` use it.

pub mod vectors;
