//! The counter of transactions: whether anything was written to the database server.
//!
//! MariaDB's InnoDB numbers its transactions: each gets a number at its first write and another at its commit. While the highest number is
//! unchanged, nothing was committed on the whole server. The number of a commit is visible shortly before its rows, so that a rendering
//! counts only if the number has not changed for a second before it began.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use mysql::{Conn, Opts, prelude::Queryable as _};

use super::{
    Feed, Unavailable, Unknown,
    poller::{Poll, Poller},
};
use crate::{
    changes::{Changes, Position},
    names::Name,
};

/// How long the number must have been unchanged before a rendering.
const SETTLED: Duration = Duration::from_secs(1);

/// The highest number, and the server, since a proxy may lead to several. A restart of the server closes the connection.
const SQL: &str = "SELECT VARIABLE_VALUE, CONCAT(@@hostname, ':', @@port) FROM information_schema.GLOBAL_STATUS \
                   WHERE VARIABLE_NAME = 'INNODB_MAX_TRX_ID'";

/// Tables whose engine does not number its transactions.
const OTHER_ENGINES: &str = "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() \
                             AND TABLE_TYPE = 'BASE TABLE' AND ENGINE <> 'InnoDB'";

/// The feed.
pub struct Counter {
    poller: Poller,
    changes: Changes,
}

impl Counter {
    /// Reads the counter of a database server.
    ///
    /// # Errors
    /// If the server has none, or some tables have another engine.
    pub fn start(opts: &Opts) -> Result<Self, Unavailable> {
        let failed = |error: mysql::Error| Unavailable(format!("the database cannot be read: {error}"));
        let mut conn = Conn::new(opts.clone()).map_err(failed)?;
        if conn.query_first::<(String, String), _>(SQL).map_err(failed)?.is_none() {
            return Err(Unavailable(
                "the database server does not tell whether anything was written (MariaDB does)".to_owned(),
            ));
        }
        if conn.query_first::<u64, _>(OTHER_ENGINES).map_err(failed)?.unwrap_or_default() > 0 {
            return Err(Unavailable("some tables do not use InnoDB: writes to them would not be noticed".to_owned()));
        }
        let changes = Changes::default();
        let poll = Reading { changes: changes.clone(), seen: None, position: 1 };
        let poller = Poller::start(opts, poll).map_err(|error| Unavailable(error.to_string()))?;
        Ok(Counter { poller, changes })
    }
}

impl Feed for Counter {
    fn changes(&self) -> &Changes {
        &self.changes
    }

    fn catch_up(&self) -> BoxFuture<'_, Result<(), Unknown>> {
        Box::pin(async {
            // A write that is not settled has ended all responses already.
            match self.poller.read().await {
                Ok(_) => Ok(()),
                Err(Unknown(why)) if why == UNSETTLED => Ok(()),
                Err(unknown) => Err(unknown),
            }
        })
    }

    fn visible(&self) -> BoxFuture<'_, Result<Position, Unknown>> {
        Box::pin(self.poller.read())
    }

    fn has_names(&self) -> bool {
        false
    }

    fn describe(&self) -> String {
        "the counter of transactions: each write to the database server ends all stored responses".to_owned()
    }
}

/// The reason while the number is young.
const UNSETTLED: &str = "the database was written to just now";

struct Reading {
    changes: Changes,
    /// The number with the server's identity, and when it was seen first.
    seen: Option<((String, String), Instant)>,
    position: Position,
}

impl Poll for Reading {
    fn poll(&mut self, conn: &mut Conn) -> Result<Result<Position, Unknown>, mysql::Error> {
        let now: Option<(String, String)> = conn.query_first(SQL)?;
        let Some(now) = now else { return Ok(Err(Unknown("the server does not report its counter".to_owned()))) };
        match &self.seen {
            Some((seen, since)) if *seen == now => {
                Ok(if since.elapsed() >= SETTLED { Ok(self.position) } else { Err(Unknown(UNSETTLED.to_owned())) })
            }
            _ => {
                self.position += 1;
                self.changes.changed(&[Name::All], self.position);
                self.seen = Some((now, Instant::now()));
                Ok(Err(Unknown(UNSETTLED.to_owned())))
            }
        }
    }

    fn tick(&mut self, conn: &mut Conn) -> Result<(), mysql::Error> {
        // So that a write is seen, and settled, before somebody asks.
        self.poll(conn).map(drop)
    }

    fn connected(&mut self, _: &mut Conn) -> Result<(), mysql::Error> {
        self.seen = None;
        Ok(())
    }
}
