//! Differences between JSON documents of two REST APIs.

mod documents;
mod routes;

pub use documents::{Difference, Kind, differences};
pub use routes::{RouteDifferences, compare_routes};
