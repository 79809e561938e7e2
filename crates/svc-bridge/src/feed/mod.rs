//! News of writes to the database, of whatever program.
//!
//! Three feeds, best first: the [binary log](binlog) has each row of each transaction; [`reports`] of the connector have the writes of
//! WordPress before they run, and notice those of other programs within seconds; the [`counter`] of transactions shows only that something was
//! written.

pub mod binlog;
pub mod counter;
mod poller;
pub mod reports;

use futures_util::future::BoxFuture;

use crate::changes::{Changes, Position};

/// It is not known what was written: WordPress must respond. The text says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unknown(pub String);

/// A feed cannot be used on this database. The text says why, and what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// A source of news.
pub trait Feed: Send + Sync + 'static {
    /// Where the news are applied.
    fn changes(&self) -> &Changes;

    /// Applies all news of writes that were acknowledged before the call.
    fn catch_up(&self) -> BoxFuture<'_, Result<(), Unknown>>;

    /// A position such that a response whose rendering begins after the call contains all writes up to it.
    fn visible(&self) -> BoxFuture<'_, Result<Position, Unknown>>;

    /// Whether the news name what was written. Otherwise each write ends all responses.
    fn has_names(&self) -> bool;

    /// What is used, and what bound it gives, for people.
    fn describe(&self) -> String;
}
