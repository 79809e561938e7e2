//! The database server: whether its log can be used, and its current positions.

use std::{collections::HashMap, path::PathBuf, time::Duration};

use mysql::{Conn, Opts, OptsBuilder, Row, prelude::Queryable as _};

use super::{
    log_file,
    point::{Point, UnnumberedFile},
    schema::Site,
};

/// Time limit of a query, and for connecting.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Time from writing a transaction to the log until its rows are visible to others, where the server does not report it.
pub(super) const SETTLE: Duration = Duration::from_secs(2);

/// Why the log of a server cannot be read. The messages say what to change.
#[derive(Debug, thiserror::Error)]
pub enum UnavailableReason {
    /// The server cannot be reached, or refuses the user.
    #[error("cannot connect to the database server: {0}")]
    Connection(#[source] mysql::Error),
    /// A query failed.
    #[error("the state of the binary log cannot be read: {0}")]
    Query(#[source] mysql::Error),
    /// The connection has no database.
    #[error("no database is selected")]
    NoDatabase,
    /// The server has no log.
    #[error(
        "the database server writes no binary log; set log_bin and binlog_format=ROW in its configuration and restart it"
    )]
    NoLog,
    /// A setting under which changes are not in the log as rows.
    #[error("the database server has {name}={value}; set {name}={needed} in its configuration and restart it")]
    Setting {
        /// Name of the variable.
        name: &'static str,
        /// Its value.
        value: String,
        /// The value to set.
        needed: &'static str,
    },
    /// The server accepts no writes of sites: another one has taken over, or will.
    #[error("the database server is read-only, so that the site must write to another one")]
    ReadOnly,
    /// The log leaves out some databases.
    #[error(
        "the binary log leaves out some changes: remove binlog_do_db and binlog_ignore_db from the configuration of the database server"
    )]
    Filtered,
    /// The server is a node of a cluster: what another node has committed is in this node's log later.
    #[error("the database server is a node of a cluster, whose binary log has writes to other nodes too late")]
    Cluster,
    /// The user may not read the log.
    #[error(
        "the database user may not read the binary log; run: GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {user}"
    )]
    Privileges {
        /// The account, quoted for SQL.
        user: String,
    },
    /// The name of a log file has no number, or a number beyond those that have positions.
    #[error("the binary log file {0} has no usable number")]
    FileName(String),
}

impl From<UnnumberedFile> for UnavailableReason {
    fn from(UnnumberedFile(name): UnnumberedFile) -> Self {
        UnavailableReason::FileName(name)
    }
}

/// Properties of a server.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// Another server has another identity.
    pub(super) identity: String,
    pub(super) site: Site,
    pub(super) user: String,
    /// Whether the server reports up to which position the rows of transactions are visible (MariaDB).
    pub(super) tells_visible: bool,
    log_folder: Option<PathBuf>,
    end_query: &'static str,
}

/// Codes of errors of the server.
mod code {
    pub(super) const ACCESS_DENIED: u16 = 1045;
    pub(super) const PARSE: u16 = 1064;
    pub(super) const SPECIFIC_ACCESS_DENIED: u16 = 1227;
    /// The log cannot be sent from that position.
    pub(super) const LOG_NOT_READABLE: u16 = 1236;
}

/// The code of an error, if it is of the server.
fn code(error: &mysql::Error) -> Option<u16> {
    if let mysql::Error::MySqlError(error) = error { Some(error.code) } else { None }
}

/// Whether the server has no log at the requested position.
pub(super) fn has_no_such_position(error: &mysql::Error) -> bool {
    code(error) == Some(code::LOG_NOT_READABLE)
}

fn is_denied(error: &mysql::Error) -> bool {
    matches!(code(error), Some(code::ACCESS_DENIED | code::SPECIFIC_ACCESS_DENIED))
}

/// Opens a connection for short queries.
pub(super) fn connect(server: &Opts) -> mysql::Result<Conn> {
    let timeout = Some(TIMEOUT);
    let options = OptsBuilder::from_opts(server.clone())
        .read_timeout(timeout)
        .write_timeout(timeout)
        .tcp_connect_timeout(timeout);
    let mut connection = Conn::new(options)?;
    // Requests may come seldom.
    connection.query_drop("SET SESSION wait_timeout = 86400")?;
    Ok(connection)
}

impl Server {
    /// Checks whether the log can be read and has all changes as rows.
    ///
    /// # Errors
    /// The first reason that prevents it.
    pub(super) fn check(connection: &mut Conn, prefix: &str) -> Result<Self, UnavailableReason> {
        let variables = variables(connection).map_err(UnavailableReason::Query)?;
        let variable = |name: &str| variables.get(name).map(String::as_str);
        let is_on = |name: &str| matches!(variable(name), Some("ON" | "1"));
        if !is_on("log_bin") {
            return Err(UnavailableReason::NoLog);
        }
        let needs = |name: &'static str, needed: &'static str, also: &str| match variable(name) {
            Some(value) if !value.eq_ignore_ascii_case(needed) && !value.eq_ignore_ascii_case(also) => {
                Err(UnavailableReason::Setting { name, value: value.to_owned(), needed })
            }
            _ => Ok(()),
        };
        needs("binlog_format", "ROW", "ROW")?;
        // MariaDB's FULL_NODUP leaves out what an update does not change.
        needs("binlog_row_image", "FULL", "FULL_NODUP")?;
        needs("binlog_transaction_compression", "OFF", "0")?;
        if is_on("wsrep_on") || is_on("group_replication_start_on_boot") {
            return Err(UnavailableReason::Cluster);
        }
        if [variable("log_slave_updates"), variable("log_replica_updates")].contains(&Some("OFF"))
            && is_replica(connection)?
        {
            let name = "log_slave_updates";
            return Err(UnavailableReason::Setting { name, value: "OFF".to_owned(), needed: "ON" });
        }
        let (schema, user): (Option<String>, String) = connection
            .query_first("SELECT DATABASE(), CURRENT_USER()")
            .map_err(UnavailableReason::Query)?
            .unwrap_or_default();
        let site = Site {
            schema: schema.ok_or(UnavailableReason::NoDatabase)?,
            prefix: prefix.to_owned(),
            ignores_case: variable("lower_case_table_names").is_some_and(|value| value != "0"),
            marks_reads: connection.query_drop("SELECT @@skip_parallel_replication").is_ok(),
        };
        let (name, host) = user.rsplit_once('@').unwrap_or((&user, "%"));
        let is_mariadb = variable("version").is_some_and(|version| version.contains("MariaDB"));
        let mut server = Server {
            identity: ["server_id", "server_uuid", "hostname", "port"]
                .map(|name| variable(name).unwrap_or_default())
                .join("/"),
            site,
            user: format!("'{name}'@'{host}'"),
            // Otherwise the transactions of a group become visible one after the other.
            tells_visible: is_mariadb && is_on("binlog_optimize_thread_scheduling"),
            log_folder: log_file::folder(variable("log_bin_basename"), variable("hostname")),
            end_query: "SHOW MASTER STATUS",
        };
        let mut status = connection.query_first::<Row, _>(server.end_query);
        if status.as_ref().is_err_and(|error| code(error) == Some(code::PARSE)) {
            server.end_query = "SHOW BINARY LOG STATUS";
            status = connection.query_first::<Row, _>(server.end_query);
        }
        let status = status.map_err(|error| server.unreadable(error))?.ok_or(UnavailableReason::NoLog)?;
        if [2, 3].into_iter().any(|at| text(&status, at).is_some_and(|filter| !filter.is_empty())) {
            return Err(UnavailableReason::Filtered);
        }
        Ok(server)
    }

    /// The path of a log file, if it is on this machine.
    pub(super) fn log_file(&self, file: &str) -> Option<PathBuf> {
        self.log_folder.as_ref().map(|folder| folder.join(file))
    }

    /// The error of a query about the log or of a request for it.
    pub(super) fn unreadable(&self, error: mysql::Error) -> UnavailableReason {
        if is_denied(&error) {
            UnavailableReason::Privileges { user: self.user.clone() }
        } else {
            UnavailableReason::Query(error)
        }
    }

    /// The file and the offset of the end of the log.
    ///
    /// # Errors
    /// Those of the connection.
    pub(super) fn end(&self, connection: &mut Conn) -> Result<(String, u64), UnavailableReason> {
        // In one round trip.
        let sql = format!("{}; SELECT @@GLOBAL.read_only", self.end_query);
        let mut results = connection.query_iter(sql).map_err(|error| self.unreadable(error))?;
        let mut rows = Vec::new();
        while let Some(result) = results.iter() {
            rows.push(result.last().transpose().map_err(|error| self.unreadable(error))?);
        }
        drop(results);
        let read_only = rows.pop().flatten().and_then(|row| text(&row, 0)).unwrap_or_default();
        if !matches!(&*read_only, "0" | "OFF") {
            return Err(UnavailableReason::ReadOnly);
        }
        let row = rows.pop().flatten().ok_or(UnavailableReason::NoLog)?;
        Option::zip(text(&row, 0), text(&row, 1).and_then(|offset| offset.parse().ok())).ok_or(UnavailableReason::NoLog)
    }

    /// The position up to which the storage engine has committed all transactions. `None` if the server does not report it.
    ///
    /// MariaDB changes this position and commits the transactions of a group under the same lock. A snapshot
    /// (`START TRANSACTION WITH CONSISTENT SNAPSHOT`) has its own position; without one it is the current position.
    ///
    /// # Errors
    /// Those of the connection.
    pub(super) fn visible(&self, connection: &mut Conn) -> Result<Option<Point>, UnavailableReason> {
        if !self.tells_visible {
            return Ok(None);
        }
        let rows: Vec<(String, String)> =
            connection.query("SHOW STATUS LIKE 'Binlog_snapshot_%'").map_err(UnavailableReason::Query)?;
        let value = |name: &str| rows.iter().find(|row| row.0.eq_ignore_ascii_case(name)).map(|row| row.1.as_str());
        match (value("Binlog_snapshot_file"), value("Binlog_snapshot_position").and_then(|offset| offset.parse().ok()))
        {
            (Some(file), Some(offset)) if !file.is_empty() => Ok(Some(Point::new(file, offset)?)),
            _ => Ok(None),
        }
    }
}

/// Time from writing a transaction to the log until its rows are visible, with the current settings.
///
/// # Errors
/// Those of the connection.
pub(super) fn settle_time(connection: &mut Conn) -> mysql::Result<Duration> {
    let rows: Vec<(String, String)> = connection.query("SHOW GLOBAL VARIABLES LIKE 'rpl_semi_sync%'")?;
    Ok(settle(&rows.into_iter().collect()))
}

fn text(row: &Row, at: usize) -> Option<String> {
    row.get_opt::<Option<String>, _>(at)?.ok()?
}

fn variables(connection: &mut Conn) -> mysql::Result<HashMap<String, String>> {
    let rows: Vec<(String, String)> = connection.query(
        "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('version', 'log_bin', 'binlog_format', 'binlog_row_image', \
         'binlog_transaction_compression', 'binlog_optimize_thread_scheduling', 'log_slave_updates', 'log_replica_updates', 'group_replication_start_on_boot', 'hostname', \
         'log_bin_basename', 'lower_case_table_names', 'port', 'server_id', 'server_uuid', 'wsrep_on')",
    )?;
    Ok(rows.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect())
}

/// Whether the server receives the changes of another one. MySQL does not say so here, and writes them to its own log by default.
fn is_replica(connection: &mut Conn) -> Result<bool, UnavailableReason> {
    let sql = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Slave_running', 'Slaves_running', 'Replica_running')";
    let rows: Vec<(String, String)> = connection.query(sql).map_err(UnavailableReason::Query)?;
    Ok(rows.iter().any(|(_, value)| !matches!(value.as_str(), "OFF" | "0")))
}

/// Time from writing a transaction to the log until its rows are visible. With semi-synchronous replication the server may wait for replicas
/// in between.
fn settle(variables: &HashMap<String, String>) -> Duration {
    let either = |old: &str, new: &str| variables.get(old).or_else(|| variables.get(new)).map(String::as_str);
    let enabled = either("rpl_semi_sync_master_enabled", "rpl_semi_sync_source_enabled");
    let point = either("rpl_semi_sync_master_wait_point", "rpl_semi_sync_source_wait_point");
    let timeout = either("rpl_semi_sync_master_timeout", "rpl_semi_sync_source_timeout");
    if !matches!(enabled, Some("ON" | "1")) || point == Some("AFTER_COMMIT") {
        return SETTLE;
    }
    SETTLE + Duration::from_millis(timeout.and_then(|timeout| timeout.parse().ok()).unwrap_or(10_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_visible_later_if_the_server_waits_for_replicas() {
        let settled = |values: &[(&str, &str)]| {
            settle(&values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
        };
        assert_eq!(settled(&[]), SETTLE);
        let enabled = ("rpl_semi_sync_master_enabled", "ON");
        assert_eq!(settled(&[enabled, ("rpl_semi_sync_master_wait_point", "AFTER_COMMIT")]), SETTLE);
        let waits =
            [enabled, ("rpl_semi_sync_master_wait_point", "AFTER_SYNC"), ("rpl_semi_sync_master_timeout", "500")];
        assert_eq!(settled(&waits), SETTLE + Duration::from_millis(500));
    }
}
