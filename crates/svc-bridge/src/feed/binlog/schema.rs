//! The columns of the site's tables that name rows. Row events have only the positions of columns.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use mysql::{Conn, prelude::Queryable as _};

use super::{
    point::Point,
    row::{Column, Form},
};
use crate::names::{IDENTITIES, Identity};

/// The schema and the prefix of the site's tables.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) schema: String,
    pub(super) prefix: String,
    /// Whether the server compares names of tables without regard to case.
    pub(super) ignores_case: bool,
    /// Whether transactions of renderings of reads can be marked.
    pub(super) marks_reads: bool,
}

impl Site {
    pub(super) fn owns(&self, schema: &str) -> bool {
        schema == self.schema || (self.ignores_case && schema.eq_ignore_ascii_case(&self.schema))
    }

    /// The name of a table, without the prefix if it has it.
    pub(super) fn short<'t>(&self, table: &'t str) -> &'t str {
        let matches =
            |start: &str| start == self.prefix || (self.ignores_case && start.eq_ignore_ascii_case(&self.prefix));
        match table.split_at_checked(self.prefix.len()) {
            Some((start, rest)) if !rest.is_empty() && matches(start) => rest,
            _ => table,
        }
    }

    /// The columns that name rows of a table, if it is one of the site's own with such columns.
    pub(super) fn identity(&self, table: &str) -> Option<Identity> {
        let short = self.short(table);
        let is_own = short.len() < table.len() || self.prefix.is_empty();
        IDENTITIES.into_iter().find(|identity| is_own && identity.table == short)
    }
}

/// The columns of a table that are read from its rows: their positions and forms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) identity: Identity,
    pub(super) row: (usize, Form),
    pub(super) group: Option<(usize, Form)>,
    /// The key of user metadata.
    pub(super) key: Option<(usize, Form)>,
    /// The parent of a post.
    pub(super) parent: Option<(usize, Form)>,
    /// The value of an option.
    pub(super) value: Option<usize>,
}

/// A column of a table: its position and form.
#[derive(Clone, Debug)]
pub(super) struct ColumnPlace {
    pub(super) name: Arc<str>,
    pub(super) at: usize,
    pub(super) form: Form,
}

#[derive(Debug)]
struct Described {
    name: String,
    form: Option<Form>,
    /// Whether its value is computed from those of other columns.
    is_computed: bool,
    /// Whether it is part of an index.
    is_indexed: bool,
}

/// The site's tables in `information_schema`.
#[derive(Debug, Default)]
pub(super) struct Schema {
    tables: HashMap<String, Vec<Described>>,
    /// Tables whose rows change with those of others, without events of their own: foreign keys with actions. Those of other schemas have the name of
    /// their schema and a point in front.
    dependents: HashMap<String, BTreeSet<String>>,
    /// Where the log ended afterwards: events before it may have had other columns.
    pub(super) since: Option<Point>,
}

impl Schema {
    /// Reads the columns and the foreign keys.
    ///
    /// # Errors
    /// Those of the connection.
    pub(super) fn load(connection: &mut Conn, site: &Site) -> mysql::Result<Self> {
        let mut schema = Schema::default();
        let start = site.prefix.replace('\\', "\\\\").replace('_', "\\_").replace('%', "\\%");
        let columns = connection.exec_iter(
            "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLLATION_NAME, EXTRA FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = ? AND TABLE_NAME LIKE ? ORDER BY TABLE_NAME, ORDINAL_POSITION",
            (&site.schema, format!("{start}%")),
        )?;
        for row in columns {
            type Row = (String, String, String, String, Option<String>, Option<String>);
            let (table, name, data_type, full_type, collation, extra): Row = mysql::from_row_opt(row?)?;
            // The log may have another value of what is computed.
            let extra = extra.unwrap_or_default().to_ascii_uppercase();
            let is_computed = ["VIRTUAL", "STORED", "PERSISTENT"].iter().any(|word| extra.contains(word));
            let form = form(&data_type, &full_type, collation.as_deref()).filter(|_| !is_computed);
            schema.tables.entry(table).or_default().push(Described { name, form, is_computed, is_indexed: false });
        }
        let indexed: Vec<(String, Option<String>)> = connection.exec(
            "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = ? AND TABLE_NAME LIKE ?",
            (&site.schema, format!("{start}%")),
        )?;
        for (table, indexed) in indexed {
            // Without a name, an expression of any columns.
            let is_part = |column: &&mut Described| indexed.as_ref().is_none_or(|name| *name == column.name);
            let columns = schema.tables.get_mut(&table).into_iter().flatten();
            columns.filter(is_part).for_each(|column| column.is_indexed = true);
        }
        let actions = "('RESTRICT', 'NO ACTION')";
        let keys: Vec<(String, String)> = connection.exec(
            format!(
                "SELECT IF(UNIQUE_CONSTRAINT_SCHEMA = CONSTRAINT_SCHEMA, REFERENCED_TABLE_NAME, \
                 CONCAT(UNIQUE_CONSTRAINT_SCHEMA, '.', REFERENCED_TABLE_NAME)), TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS \
                 WHERE CONSTRAINT_SCHEMA = ? AND (DELETE_RULE NOT IN {actions} OR UPDATE_RULE NOT IN {actions})"
            ),
            (&site.schema,),
        )?;
        schema.dependents = dependents(&keys);
        Ok(schema)
    }

    /// The columns to read from rows of a table. `None` if they are not known.
    pub(super) fn wanted(&self, table: &str, identity: Identity, columns: &[Column]) -> Option<Wanted> {
        let described = self.tables.get(table).filter(|described| described.len() == columns.len())?;
        let find = |name: &str| {
            let at = described.iter().position(|column| column.name.eq_ignore_ascii_case(name))?;
            let form = described[at].form.filter(|form| columns[at].has_form(*form))?;
            Some((at, form))
        };
        let group = match identity.group {
            Some(name) => Some(find(name)?),
            None => None,
        };
        let key = if identity.table == "usermeta" { Some(find("meta_key")?) } else { None };
        let parent = if identity.table == "posts" { Some(find("post_parent")?) } else { None };
        let value = described.iter().position(|column| column.name.eq_ignore_ascii_case("option_value"));
        let value = value.filter(|_| identity.table == "options");
        Some(Wanted { identity, row: find(identity.row)?, group, key, parent, value })
    }

    /// Those columns of a table with these names, in lower case, of which the values can be read.
    pub(super) fn found(&self, table: &str, names: Vec<Arc<str>>, columns: &[Column]) -> Vec<ColumnPlace> {
        let described = self.tables.get(table).filter(|described| described.len() == columns.len());
        let find = |name: Arc<str>| {
            let (at, column) =
                described?.iter().enumerate().find(|(_, column)| column.name.eq_ignore_ascii_case(&name))?;
            let form = column.form.filter(|form| columns[at].has_form(*form))?;
            Some(ColumnPlace { name, at, form })
        };
        names.into_iter().filter_map(find).collect()
    }

    /// The names of all columns of a table, in lower case; `None` for columns of indexes, on which the order of rows may depend in statements that do
    /// not name them. `None` instead of the list if it is not known, or what a statement names may be another column: names with other characters
    /// than the usual ones, and values that are computed from others.
    pub(super) fn names(&self, table: &str, columns: &[Column]) -> Option<Vec<Option<Arc<str>>>> {
        let described = self.tables.get(table).filter(|described| described.len() == columns.len())?;
        let is_plain = |name: &str| {
            !name.starts_with(|first: char| first.is_ascii_digit())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let name = |column: &Described| {
            let name = || column.name.to_ascii_lowercase().into();
            (!column.is_computed && is_plain(&column.name)).then(|| (!column.is_indexed).then(name))
        };
        described.iter().map(name).collect()
    }

    /// The tables whose rows change with those of `table` that are updated or deleted, without events of their own.
    pub(super) fn dependents(&self, table: &str) -> impl Iterator<Item = &str> {
        self.dependents.get(table).into_iter().flatten().map(String::as_str)
    }
}

#[cfg(test)]
impl Schema {
    /// A schema with one table.
    pub(super) fn with(table: &str, columns: &[(&str, Form)]) -> Self {
        let described = columns.iter().map(|(name, form)| Described {
            name: (*name).to_owned(),
            form: Some(*form),
            is_computed: false,
            is_indexed: false,
        });
        Schema { tables: HashMap::from([(table.to_owned(), described.collect())]), ..Schema::default() }
    }
}

/// Encodings in which each byte below 128 is that letter of ASCII.
const EXTENDS_ASCII: [&str; 14] = [
    "latin1", "latin2", "latin5", "latin7", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "greek", "hebrew",
    "koi8r", "koi8u", "geostd8",
];

/// Collations, without the encoding, in which no two letters of ASCII are equal but upper and lower case of the same. In those of some languages
/// `i` and `y`, or `v` and `w` are.
const COLLATIONS: [&str; 11] = [
    "bin",
    "general_ci",
    "general_cs",
    "unicode_ci",
    "unicode_520_ci",
    "unicode_nopad_ci",
    "unicode_520_nopad_ci",
    "0900_ai_ci",
    "0900_as_ci",
    "0900_as_cs",
    "0900_bin",
];

/// How the values of a column are read. `None` for types, encodings and collations that are not.
fn form(data_type: &str, full_type: &str, collation: Option<&str>) -> Option<Form> {
    let is_unsigned = full_type.to_ascii_lowercase().contains("unsigned");
    match data_type.to_ascii_lowercase().as_str() {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" if is_unsigned => Some(Form::Unsigned),
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => Some(Form::Signed),
        "varchar" | "char" | "tinytext" | "text" | "mediumtext" | "longtext" => {
            let (charset, rules) = collation?.split_once('_')?;
            let is_known = COLLATIONS.contains(&rules)
                || rules
                    .strip_prefix("uca1400_")
                    .is_some_and(|rules| ["ai_", "as_", "nopad_"].iter().any(|start| rules.starts_with(start)))
                || matches!(collation, Some("latin1_swedish_ci"));
            match charset {
                _ if !is_known => None,
                "utf8" | "utf8mb3" | "utf8mb4" | "ascii" => Some(Form::Text),
                charset if EXTENDS_ASCII.contains(&charset) => Some(Form::Ascii),
                _ => None,
            }
        }
        _ => None,
    }
}

/// For each table, those that reference it, directly or through others.
fn dependents(keys: &[(String, String)]) -> HashMap<String, BTreeSet<String>> {
    let mut direct: HashMap<&str, Vec<&str>> = HashMap::new();
    for (referenced, table) in keys {
        direct.entry(referenced).or_default().push(table);
    }
    let reach = |start: &str| {
        let mut found = BTreeSet::new();
        let mut seen = HashSet::from([start]);
        let mut waiting: Vec<&str> = direct.get(start).cloned().unwrap_or_default();
        while let Some(table) = waiting.pop() {
            found.insert(table.to_owned());
            if seen.insert(table) {
                waiting.extend(direct.get(table).into_iter().flatten());
            }
        }
        found
    };
    direct.keys().map(|table| ((*table).to_owned(), reach(table))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_named_without_the_prefix() {
        let site = Site { schema: "wp".to_owned(), prefix: "wp_".to_owned(), ignores_case: false, marks_reads: false };
        for (table, short, has_rows) in [
            ("wp_posts", "posts", true),
            ("posts", "posts", false),
            ("wp_2_posts", "2_posts", false),
            ("wp_", "wp_", false),
            ("WP_posts", "WP_posts", false),
            ("é", "é", false),
        ] {
            assert_eq!((site.short(table), site.identity(table).is_some()), (short, has_rows), "{table}");
        }
        assert!(!site.owns("WP") && Site { ignores_case: true, ..site.clone() }.owns("WP"));
        assert_eq!(Site { ignores_case: true, ..site.clone() }.short("WP_posts"), "posts");
        assert!(Site { prefix: String::new(), ..site }.identity("posts").is_some());
    }

    #[test]
    fn texts_are_read_if_their_collation_is_known() {
        for (data_type, collation, expected) in [
            ("varchar", "utf8mb4_unicode_520_ci", Some(Form::Text)),
            ("longtext", "utf8mb3_bin", Some(Form::Text)),
            ("varchar", "utf8mb4_uca1400_ai_ci", Some(Form::Text)),
            ("char", "latin1_swedish_ci", Some(Form::Ascii)),
            ("varchar", "utf8mb4_lithuanian_ci", None),
            ("varchar", "utf8mb4_uca1400_lithuanian_ai_ci", None),
            ("varchar", "utf8mb4_lt_0900_ai_ci", None),
            ("varchar", "utf16_bin", None),
            ("enum", "utf8mb4_bin", None),
        ] {
            assert_eq!(form(data_type, data_type, Some(collation)), expected, "{collation}");
        }
        assert_eq!(
            (form("bigint", "bigint(20) UNSIGNED", None), form("blob", "blob", None)),
            (Some(Form::Unsigned), None)
        );
    }

    #[test]
    fn tables_depend_on_those_that_they_reference() {
        let keys = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "d")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let dependents = dependents(&keys);
        assert_eq!(dependents["a"].iter().map(String::as_str).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(dependents["d"].iter().map(String::as_str).collect::<Vec<_>>(), ["d"]);
    }
}
