//! Dynamic blocks to HTML, from data that a site gives.

pub mod variations;
