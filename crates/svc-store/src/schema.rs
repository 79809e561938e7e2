//! The tables of a site, as data: WordPress's own layout, and what each engine adds to it.
//!
//! From these tables come the `CREATE` statements of both engines, the columns that import and export move, and the
//! names that queries use. A database that exists already is used as it is; nothing here alters one on MySQL.

use crate::collation;
use crate::db::Tx;
use crate::dialect::Dialect;
use crate::error::{Result, StoreError};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `bigint(20) unsigned`: an id, or a reference to one.
    Id,
    /// `bigint(20)`.
    BigInt,
    /// `int(11)`.
    Int,
    /// A word of the machinery (`publish`, a meta key): compared without case.
    Key(u16),
    /// A text of people, of bounded length: compared without case and accents.
    Varchar(u16),
    /// A text of people of this MySQL type (`text`, `longtext` …).
    Text(&'static str),
    /// A date.
    DateTime,
}

/// A column of a table.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// `None` is nullable for texts without default.
    pub(crate) default: Default,
}

/// What a column holds when a row does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    /// Handed out by the engine.
    Auto,
    /// This text or number.
    Is(&'static str),
    /// `NOT NULL` without a default (SQLite gets the empty text).
    Required,
    /// `NULL`.
    Null,
}

/// An index: its name, its columns with the length that MySQL indexes (0: whole), and whether it is unique.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [(&'static str, u16)],
    pub(crate) unique: bool,
}

/// A table of a site.
#[derive(Debug)]
pub(crate) struct Table {
    /// Without the prefix.
    pub(crate) name: &'static str,
    pub(crate) columns: &'static [Column],
    pub(crate) primary: &'static [&'static str],
    pub(crate) indexes: &'static [Index],
    /// Indexes that only SQLite gets.
    pub(crate) sqlite_indexes: &'static [Index],
    /// What changes when a row of this changes (see [`EPOCHS`]).
    pub(crate) epoch: &'static str,
}

const fn col(name: &'static str, kind: Kind, default: Default) -> Column {
    Column { name, kind, default }
}
const fn index(name: &'static str, columns: &'static [(&'static str, u16)]) -> Index {
    Index { name, columns, unique: false }
}
const fn unique(name: &'static str, columns: &'static [(&'static str, u16)]) -> Index {
    Index { name, columns, unique: true }
}

const ZERO_DATE: Default = Default::Is("0000-00-00 00:00:00");
const EMPTY: Default = Default::Is("");
const ZERO: Default = Default::Is("0");
const LONG: Kind = Kind::Text("longtext");

macro_rules! meta_table {
    ($name:literal, $id:literal, $object:literal, $epoch:literal) => {
        Table {
            name: $name,
            columns: &[
                col($id, Kind::Id, Default::Auto),
                col($object, Kind::Id, ZERO),
                col("meta_key", Kind::Key(255), Default::Null),
                col("meta_value", LONG, Default::Null),
            ],
            primary: &[$id],
            indexes: &[index($object, &[($object, 0)]), index("meta_key", &[("meta_key", 191)])],
            sqlite_indexes: &[],
            epoch: $epoch,
        }
    };
}

/// The twelve tables, in alphabetical order as dumps have them.
pub(crate) const TABLES: &[Table] = &[
    meta_table!("commentmeta", "meta_id", "comment_id", "commentmeta"),
    Table {
        name: "comments",
        columns: &[
            col("comment_ID", Kind::Id, Default::Auto),
            col("comment_post_ID", Kind::Id, ZERO),
            col("comment_author", Kind::Text("tinytext"), Default::Required),
            col("comment_author_email", Kind::Varchar(100), EMPTY),
            col("comment_author_url", Kind::Varchar(200), EMPTY),
            col("comment_author_IP", Kind::Varchar(100), EMPTY),
            col("comment_date", Kind::DateTime, ZERO_DATE),
            col("comment_date_gmt", Kind::DateTime, ZERO_DATE),
            col("comment_content", Kind::Text("text"), Default::Required),
            col("comment_karma", Kind::Int, ZERO),
            col("comment_approved", Kind::Key(20), Default::Is("1")),
            col("comment_agent", Kind::Varchar(255), EMPTY),
            col("comment_type", Kind::Key(20), Default::Is("comment")),
            col("comment_parent", Kind::Id, ZERO),
            col("user_id", Kind::Id, ZERO),
        ],
        primary: &["comment_ID"],
        indexes: &[
            index("comment_post_ID", &[("comment_post_ID", 0)]),
            index("comment_approved_date_gmt", &[("comment_approved", 0), ("comment_date_gmt", 0)]),
            index("comment_date_gmt", &[("comment_date_gmt", 0)]),
            index("comment_parent", &[("comment_parent", 0)]),
            index("comment_author_email", &[("comment_author_email", 10)]),
        ],
        sqlite_indexes: &[],
        epoch: "comments",
    },
    Table {
        name: "links",
        columns: &[
            col("link_id", Kind::Id, Default::Auto),
            col("link_url", Kind::Varchar(255), EMPTY),
            col("link_name", Kind::Varchar(255), EMPTY),
            col("link_image", Kind::Varchar(255), EMPTY),
            col("link_target", Kind::Varchar(25), EMPTY),
            col("link_description", Kind::Varchar(255), EMPTY),
            col("link_visible", Kind::Varchar(20), Default::Is("Y")),
            col("link_owner", Kind::Id, Default::Is("1")),
            col("link_rating", Kind::Int, ZERO),
            col("link_updated", Kind::DateTime, ZERO_DATE),
            col("link_rel", Kind::Varchar(255), EMPTY),
            col("link_notes", Kind::Text("mediumtext"), Default::Required),
            col("link_rss", Kind::Varchar(255), EMPTY),
        ],
        primary: &["link_id"],
        indexes: &[index("link_visible", &[("link_visible", 0)])],
        sqlite_indexes: &[],
        epoch: "",
    },
    Table {
        name: "options",
        columns: &[
            col("option_id", Kind::Id, Default::Auto),
            col("option_name", Kind::Key(191), EMPTY),
            col("option_value", LONG, Default::Required),
            col("autoload", Kind::Key(20), Default::Is("yes")),
        ],
        primary: &["option_id"],
        indexes: &[unique("option_name", &[("option_name", 0)]), index("autoload", &[("autoload", 0)])],
        sqlite_indexes: &[],
        epoch: "options",
    },
    meta_table!("postmeta", "meta_id", "post_id", "postmeta"),
    Table {
        name: "posts",
        columns: &[
            col("ID", Kind::Id, Default::Auto),
            col("post_author", Kind::Id, ZERO),
            col("post_date", Kind::DateTime, ZERO_DATE),
            col("post_date_gmt", Kind::DateTime, ZERO_DATE),
            col("post_content", LONG, Default::Required),
            col("post_title", Kind::Text("text"), Default::Required),
            col("post_excerpt", Kind::Text("text"), Default::Required),
            col("post_status", Kind::Key(20), Default::Is("publish")),
            col("comment_status", Kind::Key(20), Default::Is("open")),
            col("ping_status", Kind::Key(20), Default::Is("open")),
            col("post_password", Kind::Varchar(255), EMPTY),
            col("post_name", Kind::Varchar(200), EMPTY),
            col("to_ping", Kind::Text("text"), Default::Required),
            col("pinged", Kind::Text("text"), Default::Required),
            col("post_modified", Kind::DateTime, ZERO_DATE),
            col("post_modified_gmt", Kind::DateTime, ZERO_DATE),
            col("post_content_filtered", LONG, Default::Required),
            col("post_parent", Kind::Id, ZERO),
            col("guid", Kind::Varchar(255), EMPTY),
            col("menu_order", Kind::Int, ZERO),
            col("post_type", Kind::Key(20), Default::Is("post")),
            col("post_mime_type", Kind::Key(100), EMPTY),
            col("comment_count", Kind::BigInt, ZERO),
        ],
        primary: &["ID"],
        indexes: &[
            index("post_name", &[("post_name", 191)]),
            index("type_status_date", &[("post_type", 0), ("post_status", 0), ("post_date", 0), ("ID", 0)]),
            index("post_parent", &[("post_parent", 0)]),
            index("post_author", &[("post_author", 0)]),
            index("type_status_author", &[("post_type", 0), ("post_status", 0), ("post_author", 0)]),
        ],
        sqlite_indexes: &[index("type_date", &[("post_type", 0), ("post_date", 0), ("ID", 0), ("post_status", 0)])],
        epoch: "posts",
    },
    Table {
        name: "term_relationships",
        columns: &[
            col("object_id", Kind::Id, ZERO),
            col("term_taxonomy_id", Kind::Id, ZERO),
            col("term_order", Kind::Int, ZERO),
        ],
        primary: &["object_id", "term_taxonomy_id"],
        indexes: &[index("term_taxonomy_id", &[("term_taxonomy_id", 0)])],
        sqlite_indexes: &[],
        epoch: "terms",
    },
    Table {
        name: "term_taxonomy",
        columns: &[
            col("term_taxonomy_id", Kind::Id, Default::Auto),
            col("term_id", Kind::Id, ZERO),
            col("taxonomy", Kind::Key(32), EMPTY),
            col("description", LONG, Default::Required),
            col("parent", Kind::Id, ZERO),
            col("count", Kind::BigInt, ZERO),
        ],
        primary: &["term_taxonomy_id"],
        indexes: &[
            unique("term_id_taxonomy", &[("term_id", 0), ("taxonomy", 0)]),
            index("taxonomy", &[("taxonomy", 0)]),
        ],
        sqlite_indexes: &[],
        epoch: "terms",
    },
    meta_table!("termmeta", "meta_id", "term_id", "termmeta"),
    Table {
        name: "terms",
        columns: &[
            col("term_id", Kind::Id, Default::Auto),
            col("name", Kind::Varchar(200), EMPTY),
            col("slug", Kind::Varchar(200), EMPTY),
            col("term_group", Kind::BigInt, ZERO),
        ],
        primary: &["term_id"],
        indexes: &[index("slug", &[("slug", 191)]), index("name", &[("name", 191)])],
        sqlite_indexes: &[],
        epoch: "terms",
    },
    meta_table!("usermeta", "umeta_id", "user_id", "users"),
    Table {
        name: "users",
        columns: &[
            col("ID", Kind::Id, Default::Auto),
            col("user_login", Kind::Varchar(60), EMPTY),
            col("user_pass", Kind::Varchar(255), EMPTY),
            col("user_nicename", Kind::Varchar(50), EMPTY),
            col("user_email", Kind::Varchar(100), EMPTY),
            col("user_url", Kind::Varchar(100), EMPTY),
            col("user_registered", Kind::DateTime, ZERO_DATE),
            col("user_activation_key", Kind::Varchar(255), EMPTY),
            col("user_status", Kind::Int, ZERO),
            col("display_name", Kind::Varchar(250), EMPTY),
        ],
        primary: &["ID"],
        indexes: &[
            index("user_login_key", &[("user_login", 0)]),
            index("user_nicename", &[("user_nicename", 0)]),
            index("user_email", &[("user_email", 0)]),
        ],
        sqlite_indexes: &[],
        epoch: "users",
    },
];

/// What the cached answers depend on. SQLite counts the changes of each in a table, kept by triggers, so that a change
/// of any process is seen within the same snapshot as its rows.
pub(crate) const EPOCHS: &[&str] =
    &["commentmeta", "comments", "options", "postmeta", "posts", "termmeta", "terms", "users"];

/// Private table (after the prefix) of the counts of changes.
pub(crate) const EPOCH_TABLE: &str = "svc_epoch";

/// Private table (after the prefix) of SQLite with the number of posts of each type and status, kept by triggers, so
/// that the total of a plain list costs nothing however large the site is.
pub(crate) const COUNT_TABLE: &str = "svc_post_count";

impl Table {
    /// The column that hands out ids, if there is one.
    pub(crate) fn auto_column(&self) -> Option<&'static str> {
        self.columns.iter().find(|c| c.default == Default::Auto).map(|c| c.name)
    }

    /// The statement that creates the table under this whole name, without its secondary indexes on SQLite.
    pub(crate) fn create(&self, dialect: Dialect, full_name: &str) -> String {
        let mut lines: Vec<String> = self.columns.iter().map(|c| c.definition(dialect)).collect();
        let auto = self.auto_column().is_some();
        if !(dialect == Dialect::Sqlite && auto) {
            lines.push(format!("PRIMARY KEY ({})", quoted_list(self.primary)));
        }
        if dialect == Dialect::MySql {
            for i in self.indexes {
                let columns: Vec<String> = i
                    .columns
                    .iter()
                    .map(|(c, n)| if *n == 0 { quoted(c) } else { format!("{}({n})", quoted(c)) })
                    .collect();
                let unique = if i.unique { "UNIQUE KEY" } else { "KEY" };
                lines.push(format!("{unique} {} ({})", quoted(i.name), columns.join(",")));
            }
        }
        let end = match dialect {
            Dialect::Sqlite if !auto => " WITHOUT ROWID",
            Dialect::Sqlite => "",
            Dialect::MySql => " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci",
        };
        format!("CREATE TABLE {} (\n  {}\n){end}", quoted(full_name), lines.join(",\n  "))
    }

    /// The statements that create the secondary indexes on SQLite, whose index names are shared by all tables.
    pub(crate) fn sqlite_indexes(&self, full_name: &str) -> Vec<String> {
        let all = self.indexes.iter().chain(self.sqlite_indexes);
        all.map(|i| {
            let columns: Vec<String> = i.columns.iter().map(|(c, _)| quoted(c)).collect();
            let unique = if i.unique { "UNIQUE " } else { "" };
            let name = quoted(&format!("{full_name}_{}", i.name));
            format!("CREATE {unique}INDEX {name} ON {} ({})", quoted(full_name), columns.join(", "))
        })
        .collect()
    }

    /// The triggers that count changes on SQLite.
    fn sqlite_triggers(&self, prefix: &str) -> Vec<String> {
        if self.epoch.is_empty() {
            return Vec::new();
        }
        let (table, epochs) = (quoted(&format!("{prefix}{}", self.name)), quoted(&format!("{prefix}{EPOCH_TABLE}")));
        let events = [("insert", "NEW"), ("update", "NEW"), ("delete", "OLD")];
        events
            .iter()
            .map(|(event, row)| {
                // Revisions come with every save and are in no list that is cached.
                let when = if self.name == "posts" { format!(" WHEN {row}.post_type <> 'revision'") } else { String::new() };
                let name = quoted(&format!("{prefix}svc_{}_{event}", self.name));
                format!(
                    "CREATE TRIGGER {name} AFTER {event} ON {table}{when} BEGIN UPDATE {epochs} SET n = n + 1 WHERE family = '{}'; END",
                    self.epoch
                )
            })
            .collect()
    }
}

impl Column {
    fn definition(&self, dialect: Dialect) -> String {
        let name = quoted(self.name);
        if dialect == Dialect::Sqlite {
            let (kind, collate) = match self.kind {
                Kind::Id | Kind::BigInt | Kind::Int => ("INTEGER", ""),
                Kind::Key(_) => ("TEXT", " COLLATE NOCASE"),
                Kind::Varchar(_) | Kind::Text(_) => ("TEXT", " COLLATE PEOPLE"),
                Kind::DateTime => ("TEXT", ""),
            };
            return match self.default {
                Default::Auto => format!("{name} INTEGER PRIMARY KEY AUTOINCREMENT"),
                Default::Is(d) if kind == "INTEGER" => format!("{name} INTEGER NOT NULL DEFAULT {d}"),
                Default::Is(d) => format!("{name} TEXT{collate} NOT NULL DEFAULT '{d}'"),
                Default::Required => format!("{name} {kind}{collate} NOT NULL DEFAULT ''"),
                Default::Null => format!("{name} {kind}{collate} DEFAULT NULL"),
            };
        }
        let kind = match self.kind {
            Kind::Id => "bigint(20) unsigned".to_owned(),
            Kind::BigInt => "bigint(20)".to_owned(),
            Kind::Int => "int(11)".to_owned(),
            Kind::Key(n) | Kind::Varchar(n) => format!("varchar({n})"),
            Kind::Text(t) => t.to_owned(),
            Kind::DateTime => "datetime".to_owned(),
        };
        match self.default {
            Default::Auto => format!("{name} {kind} NOT NULL AUTO_INCREMENT"),
            Default::Is(d) => format!("{name} {kind} NOT NULL DEFAULT '{d}'"),
            Default::Required => format!("{name} {kind} NOT NULL"),
            Default::Null => format!("{name} {kind} DEFAULT NULL"),
        }
    }
}

/// A name between the quotes that both engines understand; a name never holds one.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn quoted_list(names: &[&str]) -> String {
    names.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(",")
}

/// Creates the tables of a site in a database that does not have them, under the store's table prefix.
///
/// Tables that exist stay as they are. What a new site holds (options, roles, an administrator) is written by the
/// caller, with [`crate::options::set`], [`crate::users::insert`] and the like.
///
/// # Errors
/// When the database refuses.
pub fn install(tx: &mut Tx) -> Result<()> {
    let prefix = tx.prefix().to_owned();
    let mut made = !tx.table_exists(&format!("{prefix}{COUNT_TABLE}"))?;
    for table in TABLES {
        let name = format!("{prefix}{}", table.name);
        if tx.table_exists(&name)? {
            continue;
        }
        made = true;
        // Another process may be making the same site.
        tx.run(&table.create(tx.dialect(), &name).replacen("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))?;
        if tx.dialect() == Dialect::Sqlite {
            for statement in table.sqlite_indexes(&name) {
                tx.run(&statement)?;
            }
        }
    }
    if made && tx.dialect() == Dialect::Sqlite {
        watch(tx, &prefix)?;
    }
    Ok(())
}

/// Claims a database for a new site at this URL: `false` when it holds a site already.
///
/// The claim is a row that only one transaction can insert, on every engine and on every node of a cluster: every other
/// transaction that tries waits for it, or is run again after it, and then finds the site. So it comes first in the
/// transaction that writes what the new site holds. The tables must be there: see [`install`].
///
/// # Errors
/// When the database refuses.
pub fn claim(tx: &mut Tx, site_url: &str) -> Result<bool> {
    let options = quoted(&format!("{}options", tx.prefix()));
    let sql = format!("INSERT INTO {options} (option_name, option_value, autoload) VALUES ('siteurl', ?, 'on')");
    match tx.conn.execute(&sql, &[site_url.into()]) {
        Ok(_) => Ok(true),
        Err(StoreError::Duplicate(_)) => Ok(false),
        Err(e) => Err(e),
    }
}

/// The statements of a dump that make the tables of a site under this prefix, for programs that make up sites.
pub fn dump_head(prefix: &str) -> String {
    let tables = TABLES.iter().map(|t| t.create(Dialect::MySql, &format!("{prefix}{}", t.name)) + ";\n");
    tables.collect()
}

/// Creates SQLite's private table of change counts and its triggers, and moves every count on.
pub(crate) fn watch(tx: &mut Tx, prefix: &str) -> Result<()> {
    let epochs = quoted(&format!("{prefix}{EPOCH_TABLE}"));
    tx.run(&format!(
        "CREATE TABLE IF NOT EXISTS {epochs} (family TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID"
    ))?;
    for family in EPOCHS {
        tx.run(&format!(
            "INSERT INTO {epochs} (family, n) VALUES ('{family}', 1) ON CONFLICT (family) DO UPDATE SET n = n + 1"
        ))?;
    }
    // What the indexes were ordered by.
    tx.run(&format!("INSERT OR REPLACE INTO {epochs} (family, n) VALUES ('collation', {})", collation::VERSION))?;
    for table in TABLES {
        for statement in table.sqlite_triggers(prefix) {
            tx.run(&statement.replacen("CREATE TRIGGER", "CREATE TRIGGER IF NOT EXISTS", 1))?;
        }
    }
    count_posts(tx, prefix)
}

/// Counts the posts of each type and status, and has triggers keep the counts true from now on.
fn count_posts(tx: &mut Tx, prefix: &str) -> Result<()> {
    let posts = quoted(&format!("{prefix}posts"));
    let counts = quoted(&format!("{prefix}{COUNT_TABLE}"));
    tx.run(&format!("DROP TABLE IF EXISTS {counts}"))?;
    tx.run(&format!(
        "CREATE TABLE {counts} (post_type TEXT COLLATE NOCASE NOT NULL, post_status TEXT COLLATE NOCASE NOT NULL, \
         n INTEGER NOT NULL, PRIMARY KEY (post_type, post_status)) WITHOUT ROWID"
    ))?;
    tx.run(&format!("INSERT INTO {counts} SELECT post_type, post_status, COUNT(*) FROM {posts} GROUP BY 1, 2"))?;
    let more = format!(
        "INSERT INTO {counts} VALUES (NEW.post_type, NEW.post_status, 1) \
         ON CONFLICT (post_type, post_status) DO UPDATE SET n = n + 1;"
    );
    let less =
        format!("UPDATE {counts} SET n = n - 1 WHERE post_type = OLD.post_type AND post_status = OLD.post_status;");
    let moved = "WHEN NEW.post_type <> OLD.post_type OR NEW.post_status <> OLD.post_status";
    let events = [("insert", "", more.clone()), ("delete", "", less.clone()), ("update", moved, less + &more)];
    for (event, when, what) in events {
        let name = quoted(&format!("{prefix}svc_count_{event}"));
        tx.run(&format!("CREATE TRIGGER IF NOT EXISTS {name} AFTER {event} ON {posts} {when} BEGIN {what} END"))?;
    }
    Ok(())
}
