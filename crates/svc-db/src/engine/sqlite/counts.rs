//! Private tables of maintained counts ([`CountTable`]).

use crate::error::Result;
use crate::handle::Tx;
use crate::quoted::quoted;
use crate::schema::{CountTable, CountTrigger};

/// What `TYPE` is in definitions of columns.
const TYPE: &str = "TEXT COLLATE NOCASE NOT NULL";

/// Replaces names in braces by the quoted full names of tables, or texts with the prefix.
fn with_tables(sql: &str, prefix: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 32);
    let mut rest = sql;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        match name.strip_prefix('\'').and_then(|name| name.strip_suffix('\'')) {
            Some(text) => out.push_str(&format!("'{}'", format!("{prefix}{text}").replace('\'', "''"))),
            None => out.push_str(&quoted(&format!("{prefix}{name}"))),
        }
        rest = after;
    }
    out + rest
}

/// The trigger that maintains a count table.
fn create_trigger(counts: &CountTable, trigger: &CountTrigger, prefix: &str) -> String {
    let name = quoted(&format!("{prefix}{}_{}_{}", counts.name, trigger.table, trigger.event));
    let (table, posts) = (quoted(&format!("{prefix}{}", counts.name)), quoted(&format!("{prefix}{}", trigger.table)));
    let mut what = String::new();
    let keys = counts.keys;
    for query in trigger.less {
        let query = with_tables(query, prefix);
        what += &format!("UPDATE {table} SET n = n - 1 WHERE ({keys}) IN ({query}); ");
    }
    for query in trigger.more {
        let query = with_tables(query, prefix);
        // Without a condition, the conflict clause would be read as part of a join.
        let condition = if query.contains(" WHERE ") { "" } else { " WHERE 1" };
        what += &format!(
            "INSERT INTO {table} SELECT *, 1 FROM ({query}{condition}) WHERE 1 ON CONFLICT ({keys}) DO UPDATE SET n = n + 1; "
        );
    }
    let (event, when) = (trigger.event, with_tables(trigger.when, prefix));
    format!("CREATE TRIGGER {name} AFTER {event} ON {posts} WHEN {when} BEGIN {what}END")
}

/// Counts all rows, and creates the triggers that maintain the counts.
pub(super) fn create(tx: &mut Tx, prefix: &str) -> Result<()> {
    for counts in tx.schema().counts {
        let (name, keys) = (quoted(&format!("{prefix}{}", counts.name)), counts.keys);
        tx.run(&format!("DROP TABLE IF EXISTS {name}"))?;
        let columns = counts.columns.replace("TYPE", TYPE);
        tx.run(&format!("CREATE TABLE {name} ({columns}, n INTEGER NOT NULL, PRIMARY KEY ({keys})) WITHOUT ROWID"))?;
        // Positions, because the columns of some queries have no names.
        let by = (1..=keys.split(',').count()).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
        for source in counts.sources {
            let source = with_tables(source, prefix);
            tx.run(&format!("INSERT INTO {name} SELECT *, COUNT(*) FROM ({source}) GROUP BY {by}"))?;
        }
        for trigger in counts.triggers {
            let statement = create_trigger(counts, trigger, prefix);
            tx.run(&statement.replacen("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS", 1))?;
        }
    }
    Ok(())
}
