//! A connection to the site's database on which the rows of joins are looked up.

use std::{sync::Mutex, time::Duration};

use mysql::{Conn, Opts, OptsBuilder, prelude::Queryable as _};

/// Time limit for a statement, and for connecting. A client waits for the result.
const LIMIT: Duration = Duration::from_secs(1);

/// The connection, which is opened when it is first needed.
pub(crate) struct Lookup {
    options: Opts,
    connection: Mutex<Option<Conn>>,
}

impl Lookup {
    /// A connection with these options.
    pub(crate) fn new(options: Opts) -> Self {
        let limited = OptsBuilder::from_opts(options)
            .tcp_connect_timeout(Some(LIMIT))
            .read_timeout(Some(LIMIT))
            .write_timeout(Some(LIMIT));
        Lookup { options: limited.into(), connection: Mutex::default() }
    }

    /// The first column of the rows that a statement finds; `None` if they cannot be had, or one is no text. Blocks.
    pub(crate) fn first_column(&self, sql: &str) -> Option<Vec<String>> {
        let mut kept = self.connection.lock().ok()?;
        // The server may have ended a connection that was not used for long.
        let attempts = if kept.is_some() { 2 } else { 1 };
        for _ in 0..attempts {
            let opened = kept.take().map_or_else(|| Conn::new(self.options.clone()), Ok);
            let found = opened.and_then(|mut connection| Ok((connection.query_opt::<String, _>(sql)?, connection)));
            match found {
                Ok((rows, connection)) => {
                    *kept = Some(connection);
                    return rows.into_iter().map(Result::ok).collect();
                }
                Err(error) => tracing::debug!(%error, "rows of a join cannot be looked up"),
            }
        }
        None
    }
}
