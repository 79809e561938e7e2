#![doc = include_str!("../README.md")]

mod histogram;
mod history;
mod outcomes;
mod requests;
mod runs;
mod statements;

pub use histogram::{Histogram, HistogramReport};
pub use history::{Combine, History, INTERVAL, Series, Span};
pub use outcomes::Outcomes;
pub use requests::{MethodRequests, RequestCounts, RouteCounts, RouteRequests, UNKNOWN_ROUTE};
pub use runs::{RunCounts, RunReport};
pub use statements::{QuoteEscapes, StatementLog, StatementReport, without_values};
