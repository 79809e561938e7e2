//! Private tables of maintained counts, so that totals and the choice of plans do not depend on the size of a site.
//!
//! Triggers maintain the counts within the transaction that changes a row, whichever program writes. Revisions are in no
//! list and only counted per type and status. The row of a count that has become zero is not deleted.

use super::schema::EPOCH_TABLE;
use crate::db::Tx;
use crate::error::Result;
use crate::tables::quoted;

/// A table of counts.
struct CountTable {
    /// Name without prefix.
    name: &'static str,
    /// Definitions of the columns by which rows are counted. They are the primary key, before `n`.
    columns: &'static str,
    /// Names of these columns.
    keys: &'static str,
    /// Queries for the keys of all rows that are counted; `{table}` is a table of the site.
    sources: &'static [&'static str],
    triggers: &'static [Trigger],
}

/// Keeps counts when rows of a table change.
struct Trigger {
    table: &'static str,
    /// `insert`, `update` or `delete`, and a condition.
    event: &'static str,
    when: &'static str,
    /// Queries for the keys that are counted once less.
    less: &'static [&'static str],
    /// Queries for the keys that are counted once more.
    more: &'static [&'static str],
}

const fn trigger(
    table: &'static str,
    event: &'static str,
    when: &'static str,
    less: &'static [&'static str],
    more: &'static [&'static str],
) -> Trigger {
    Trigger { table, event, when, less, more }
}

const KEY: &str = "TEXT COLLATE NOCASE NOT NULL";

/// The count tables. `TYPE` in definitions of columns is the type of names of types and states, `RIGHTS` the keys of the meta with
/// the roles and the level of a user.
#[rustfmt::skip]
const TABLES: &[CountTable] = &[
    CountTable {
        name: "svc_post_count",
        columns: "post_type TYPE, post_status TYPE",
        keys: "post_type, post_status",
        sources: &["SELECT post_type, post_status FROM {posts}"],
        triggers: &[
            trigger("posts", "insert", "1", &[], &["SELECT NEW.post_type, NEW.post_status"]),
            trigger("posts", "delete", "1", &["SELECT OLD.post_type, OLD.post_status"], &[]),
            trigger("posts", "update", "(NEW.post_type, NEW.post_status) IS NOT (OLD.post_type, OLD.post_status)", &["SELECT OLD.post_type, OLD.post_status"], &["SELECT NEW.post_type, NEW.post_status"]),
        ],
    },
    CountTable {
        name: "svc_author_count",
        columns: "post_author INTEGER NOT NULL, post_type TYPE, post_status TYPE",
        keys: "post_author, post_type, post_status",
        sources: &["SELECT post_author, post_type, post_status FROM {posts} WHERE post_type <> 'revision'"],
        triggers: &[
            trigger("posts", "insert", "NEW.post_type <> 'revision'", &[], &["SELECT NEW.post_author, NEW.post_type, NEW.post_status"]),
            trigger("posts", "delete", "OLD.post_type <> 'revision'", &["SELECT OLD.post_author, OLD.post_type, OLD.post_status"], &[]),
            trigger("posts", "update", "(NEW.post_author, NEW.post_type, NEW.post_status) IS NOT (OLD.post_author, OLD.post_type, OLD.post_status)",
                &["SELECT OLD.post_author, OLD.post_type, OLD.post_status WHERE OLD.post_type <> 'revision'"],
                &["SELECT NEW.post_author, NEW.post_type, NEW.post_status WHERE NEW.post_type <> 'revision'"]),
        ],
    },
    // Kind `d` counts by date, `m` by modification.
    CountTable {
        name: "svc_day_count",
        columns: "post_type TYPE, post_status TYPE, kind TEXT NOT NULL, day TEXT NOT NULL",
        keys: "post_type, post_status, kind, day",
        sources: &[
            "SELECT post_type, post_status, 'd', substr(post_date, 1, 10) FROM {posts} WHERE post_type <> 'revision'",
            "SELECT post_type, post_status, 'm', substr(post_modified, 1, 10) FROM {posts} WHERE post_type <> 'revision'",
        ],
        triggers: &[
            trigger("posts", "insert", "NEW.post_type <> 'revision'", &[], &[
                "SELECT NEW.post_type, NEW.post_status, 'd', substr(NEW.post_date, 1, 10)", "SELECT NEW.post_type, NEW.post_status, 'm', substr(NEW.post_modified, 1, 10)"]),
            trigger("posts", "delete", "OLD.post_type <> 'revision'", &[
                "SELECT OLD.post_type, OLD.post_status, 'd', substr(OLD.post_date, 1, 10)", "SELECT OLD.post_type, OLD.post_status, 'm', substr(OLD.post_modified, 1, 10)"], &[]),
            trigger("posts", "update", "(NEW.post_type, NEW.post_status, NEW.post_date, NEW.post_modified) IS NOT (OLD.post_type, OLD.post_status, OLD.post_date, OLD.post_modified)", &[
                "SELECT OLD.post_type, OLD.post_status, 'd', substr(OLD.post_date, 1, 10) WHERE OLD.post_type <> 'revision'", "SELECT OLD.post_type, OLD.post_status, 'm', substr(OLD.post_modified, 1, 10) WHERE OLD.post_type <> 'revision'"], &[
                "SELECT NEW.post_type, NEW.post_status, 'd', substr(NEW.post_date, 1, 10) WHERE NEW.post_type <> 'revision'", "SELECT NEW.post_type, NEW.post_status, 'm', substr(NEW.post_modified, 1, 10) WHERE NEW.post_type <> 'revision'"]),
        ],
    },
    // Relationships whose post exists. A post may be inserted or deleted while it has relationships.
    CountTable {
        name: "svc_term_count",
        columns: "term_taxonomy_id INTEGER NOT NULL, post_type TYPE, post_status TYPE",
        keys: "term_taxonomy_id, post_type, post_status",
        sources: &["SELECT tr.term_taxonomy_id, p.post_type, p.post_status FROM {term_relationships} tr JOIN {posts} p ON p.ID = tr.object_id"],
        triggers: &[
            trigger("term_relationships", "insert", "1", &[], &["SELECT NEW.term_taxonomy_id, post_type, post_status FROM {posts} WHERE ID = NEW.object_id"]),
            trigger("term_relationships", "delete", "1", &["SELECT OLD.term_taxonomy_id, post_type, post_status FROM {posts} WHERE ID = OLD.object_id"], &[]),
            trigger("term_relationships", "update", "(NEW.object_id, NEW.term_taxonomy_id) IS NOT (OLD.object_id, OLD.term_taxonomy_id)",
                &["SELECT OLD.term_taxonomy_id, post_type, post_status FROM {posts} WHERE ID = OLD.object_id"],
                &["SELECT NEW.term_taxonomy_id, post_type, post_status FROM {posts} WHERE ID = NEW.object_id"]),
            trigger("posts", "insert", "1", &[], &["SELECT term_taxonomy_id, NEW.post_type, NEW.post_status FROM {term_relationships} WHERE object_id = NEW.ID"]),
            trigger("posts", "delete", "1", &["SELECT term_taxonomy_id, OLD.post_type, OLD.post_status FROM {term_relationships} WHERE object_id = OLD.ID"], &[]),
            trigger("posts", "update", "(NEW.post_type, NEW.post_status) IS NOT (OLD.post_type, OLD.post_status)",
                &["SELECT term_taxonomy_id, OLD.post_type, OLD.post_status FROM {term_relationships} WHERE object_id = OLD.ID"],
                &["SELECT term_taxonomy_id, NEW.post_type, NEW.post_status FROM {term_relationships} WHERE object_id = NEW.ID"]),
        ],
    },
    // Roles and levels: the values of these two keys, and the users who have them.
    CountTable {
        name: "svc_rights_count",
        columns: "meta_key TYPE, meta_value TEXT NOT NULL",
        keys: "meta_key, meta_value",
        sources: &["SELECT meta_key, COALESCE(meta_value, '0') FROM {usermeta} WHERE meta_key IN RIGHTS"],
        triggers: &[
            trigger("usermeta", "insert", "NEW.meta_key IN RIGHTS", &[], &["SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0')"]),
            trigger("usermeta", "delete", "OLD.meta_key IN RIGHTS", &["SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0')"], &[]),
            trigger("usermeta", "update", "(NEW.meta_key IN RIGHTS OR OLD.meta_key IN RIGHTS)",
                &["SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0') WHERE OLD.meta_key IN RIGHTS"],
                &["SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0') WHERE NEW.meta_key IN RIGHTS"]),
        ],
    },
    CountTable {
        name: "svc_user_rights",
        columns: "meta_key TYPE, meta_value TEXT NOT NULL, user_id INTEGER NOT NULL",
        keys: "meta_key, meta_value, user_id",
        sources: &["SELECT meta_key, COALESCE(meta_value, '0'), user_id FROM {usermeta} WHERE meta_key IN RIGHTS"],
        triggers: &[
            trigger("usermeta", "insert", "NEW.meta_key IN RIGHTS", &[], &["SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0'), NEW.user_id"]),
            trigger("usermeta", "delete", "OLD.meta_key IN RIGHTS", &["SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0'), OLD.user_id"], &[]),
            trigger("usermeta", "update", "(NEW.meta_key IN RIGHTS OR OLD.meta_key IN RIGHTS)",
                &["SELECT OLD.meta_key, COALESCE(OLD.meta_value, '0'), OLD.user_id WHERE OLD.meta_key IN RIGHTS"],
                &["SELECT NEW.meta_key, COALESCE(NEW.meta_value, '0'), NEW.user_id WHERE NEW.meta_key IN RIGHTS"]),
        ],
    },
    CountTable {
        name: "svc_comment_count",
        columns: "comment_approved TYPE, comment_type TYPE, day TEXT NOT NULL",
        keys: "comment_approved, comment_type, day",
        sources: &["SELECT comment_approved, comment_type, substr(comment_date_gmt, 1, 10) FROM {comments}"],
        triggers: &[
            trigger("comments", "insert", "1", &[], &["SELECT NEW.comment_approved, NEW.comment_type, substr(NEW.comment_date_gmt, 1, 10)"]),
            trigger("comments", "delete", "1", &["SELECT OLD.comment_approved, OLD.comment_type, substr(OLD.comment_date_gmt, 1, 10)"], &[]),
            trigger("comments", "update", "(NEW.comment_approved, NEW.comment_type, NEW.comment_date_gmt) IS NOT (OLD.comment_approved, OLD.comment_type, OLD.comment_date_gmt)",
                &["SELECT OLD.comment_approved, OLD.comment_type, substr(OLD.comment_date_gmt, 1, 10)"],
                &["SELECT NEW.comment_approved, NEW.comment_type, substr(NEW.comment_date_gmt, 1, 10)"]),
        ],
    },
];

/// Replaces `{posts}` and other names in braces by the quoted full names of tables, and `RIGHTS`.
fn with_tables(sql: &str, prefix: &str) -> String {
    let text = |name: &str| format!("'{}'", format!("{prefix}{name}").replace('\'', "''"));
    let sql = &sql.replace("RIGHTS", &format!("({}, {})", text("capabilities"), text("user_level")));
    let mut out = String::with_capacity(sql.len() + 32);
    let mut rest = sql.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&quoted(&format!("{prefix}{name}")));
        rest = after;
    }
    out + rest
}

/// The trigger that maintains a count table.
fn create_trigger(counts: &CountTable, trigger: &Trigger, prefix: &str) -> String {
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
    for counts in TABLES {
        let (name, keys) = (quoted(&format!("{prefix}{}", counts.name)), counts.keys);
        tx.run(&format!("DROP TABLE IF EXISTS {name}"))?;
        let columns = counts.columns.replace("TYPE", KEY);
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
    // A version that changes when a user gets a first post of a type and status, or loses the last one.
    let (authors, epochs) = (quoted(&format!("{prefix}svc_author_count")), quoted(&format!("{prefix}{EPOCH_TABLE}")));
    for (event, when) in [("insert", "1"), ("update", "(NEW.n > 0) <> (OLD.n > 0)")] {
        let name = quoted(&format!("{prefix}svc_authors_{event}"));
        tx.run(&format!(
            "CREATE TRIGGER IF NOT EXISTS {name} AFTER {event} ON {authors} WHEN {when} \
             BEGIN UPDATE {epochs} SET n = n + 1 WHERE family = 'authors'; END"
        ))?;
    }
    Ok(())
}
