//! News of writes to the database, of whatever program.
//!
//! Three feeds, best first: the [binary log](binlog) has each row of each transaction; [`reports`] of the connector have the writes of
//! WordPress before they run, and notice those of other programs within seconds; the [`counter`] of transactions shows only that something was
//! written.

pub mod binlog;
pub mod counter;
mod option_values;
mod poller;
pub mod reports;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::changes::{Changes, Position};

/// It is not known what was written: WordPress must respond. The text says why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unknown(pub String);

/// A feed cannot be used on this database. The text says why, and what to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unavailable(pub String);

/// A place in the binary log of a server up to which all transactions were applied, from which a later process can continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumePoint {
    /// Another server has another identity.
    pub server: String,
    /// Name of the file.
    pub file: String,
    /// Offset in the file, outside of transactions.
    pub offset: u64,
    /// When and by which server the file was created: a new log may have a file of the same name.
    pub created: Option<(u32, u32)>,
}

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

    /// Whether writes end in these news when the requests that made them have, and so have changed WordPress's object cache as well.
    fn has_ends(&self) -> bool {
        false
    }

    /// Where a later process can continue, if these news can be read from an earlier time on.
    fn resume_point(&self) -> Option<ResumePoint> {
        None
    }

    /// The position of a point of a previous process. All later changes have higher positions.
    fn position_of(&self, _: &ResumePoint) -> Option<Position> {
        None
    }

    /// What is used, and what bound it gives, for people.
    fn describe(&self) -> String;
}
