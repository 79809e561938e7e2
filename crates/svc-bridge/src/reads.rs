//! What a response has read, from what the connector has recorded: statements with some of their rows, options, and what was read from a persistent
//! object cache.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use crate::{
    names::{IDENTITIES, JOBS, Name},
    sql::{Clock, Join, Lookups, MAX_ROWS, Read, Site, Terms, Variables, named, row},
};

/// Maximum age of a response for which a statement has compared something with the clock, in seconds.
const CLOCK_AGE: u64 = 60;

/// Most names of a table. With more, the whole table was read.
const MAX_NAMES: usize = 4 * MAX_ROWS;

/// A statement. With its results if the connector takes it for one of which the rows matter: a list for each time that it was run, with the ids of
/// the term and of its row in `term_taxonomy`, or the id of the user and 0; `None` where it has failed or the rows are too many.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Recorded {
    Plain(String),
    WithRows(String, Vec<Option<Vec<(u64, u64)>>>),
}

impl Recorded {
    fn sql(&self) -> &str {
        match self {
            Recorded::Plain(sql) | Recorded::WithRows(sql, _) => sql,
        }
    }

    /// Once without rows if they are not known.
    fn results(&self) -> impl Iterator<Item = Option<&[(u64, u64)]>> {
        const UNKNOWN: &[Option<Vec<(u64, u64)>>] = &[None];
        let results = match self {
            Recorded::WithRows(_, results) if !results.is_empty() => results,
            _ => UNKNOWN,
        };
        results.iter().map(Option::as_deref)
    }
}

/// What the connector has recorded of what was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Reads {
    /// Names of parts of the database.
    parts: Vec<String>,
    /// Prefix of the site's tables, and name of its database.
    prefix: String,
    database: String,
    /// When the request began and ended, in seconds since the epoch, and the difference of the site's time zone.
    start: i64,
    end: i64,
    offset: i64,
    /// Statements.
    sql: Vec<Recorded>,
    /// Statements while WordPress looked for planned jobs.
    edge: Vec<Recorded>,
    /// Names of options.
    options: Vec<String>,
    /// Entries of a persistent object cache: group, key, and the ids in them, as of [`Recorded`].
    cached: Vec<(String, String, Vec<(u64, u64)>)>,
}

/// What a response has read.
#[derive(Debug, Default)]
pub(crate) struct Found {
    names: HashSet<Name>,
    /// Why the response cannot be stored.
    pub(crate) why: Option<String>,
    /// Seconds for which it is valid at most.
    pub(crate) age: Option<u64>,
    joins: Vec<Join>,
    /// Rows of `term_taxonomy` by term: whether they are known.
    terms: HashMap<u64, bool>,
    /// Counted terms by statement: what they depend on if they were not found as well.
    counted: HashMap<String, Vec<Name>>,
    /// Statements whose terms were all found.
    all_found: HashSet<String>,
}

impl Reads {
    /// What was read, except what [`Found::looked_up`] adds. `has_images` is whether changes have the values of rows.
    pub(crate) fn found(&self, has_images: bool) -> Found {
        let mut found = Found::default();
        let site = Site { prefix: self.prefix.to_ascii_lowercase(), database: self.database.clone(), has_images };
        let clock = Clock { start: self.start, end: self.end, offset: self.offset };
        found.names.extend(self.parts.iter().map(|name| Name::parse(name)));
        for option in &self.options {
            found.names.extend(named("options", &[option], row));
        }
        for (group, key, ids) in &self.cached {
            found.cached(group, key, ids);
        }
        let edge = self.edge.iter().map(|statement| (statement, true));
        let mut variables = Variables::default();
        // All metadata of users, of which sessions are seldom used: the connector names those that are.
        let meta = format!("SELECT user_id, meta_key, meta_value FROM {}usermeta WHERE user_id IN (", self.prefix);
        for (statement, is_edge) in self.sql.iter().map(|statement| (statement, false)).chain(edge) {
            // When they ran is not recorded, so nothing is known of their variables.
            let variables = if is_edge { &mut Variables::default() } else { &mut variables };
            let mut read = Read::of(statement.sql(), &site, &clock, variables);
            let ids =
                statement.sql().strip_prefix(&*meta).and_then(|rest| rest.strip_suffix(") ORDER BY umeta_id ASC"));
            if ids.is_some_and(|ids| ids.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')) {
                read.names.retain(|name| name.table_name() != Some(crate::names::SESSIONS));
            }
            if is_edge {
                read.names.retain(|name| !is_job(name));
            }
            found.statement(read, statement);
        }
        if let Some(why) = variables.unstable() {
            found.why.get_or_insert(why.to_owned());
        }
        let counted = std::mem::take(&mut found.counted);
        let open = counted.into_iter().filter(|(text, _)| !found.all_found.contains(text)).flat_map(|(_, names)| names);
        found.names.extend(open);
        if found.terms.values().any(|is_known| !is_known) {
            found.names.insert(Name::table("term_taxonomy"));
        }
        found
    }
}

/// Whether a name is that of an option with planned jobs. Each request looks at them when it begins and ends, only to see whether some are planned
/// or due.
fn is_job(name: &Name) -> bool {
    matches!(name, Name::Row(table, id) if &**table == "options" && JOBS.contains(&&**id))
}

/// A name for the columns that a statement names.
fn of_columns(name: Name, columns: Option<&str>) -> Name {
    columns.into_iter().fold(name, Name::of_columns)
}

impl Found {
    fn statement(&mut self, read: Read, statement: &Recorded) {
        if let Some(why) = read.why {
            self.why.get_or_insert(why);
            return;
        }
        if read.is_clocked {
            self.age = Some(CLOCK_AGE);
        }
        let columns = read.columns.as_deref();
        for rows in statement.results() {
            if read.is_login {
                self.names.insert(match rows.and_then(<[_]>::first) {
                    Some((user, _)) if *user > 0 => Name::row("users", user),
                    _ => Name::table("users"),
                });
            }
            if let Some(terms) = &read.terms {
                self.found_terms(terms, &read.names, columns, rows);
            }
        }
        self.names.extend(read.names.into_iter().map(|name| of_columns(name, columns)));
        for join in read.joins {
            if !self.joins.contains(&join) {
                self.joins.push(join);
            }
        }
    }

    /// Names the rows that a statement about terms has found.
    fn found_terms(&mut self, terms: &Terms, names: &[Name], columns: Option<&str>, rows: Option<&[(u64, u64)]>) {
        let wide = || terms.names.iter().map(|name| of_columns(name.clone(), columns));
        if terms.counts {
            self.counted.insert(terms.text.clone(), wide().collect());
            return;
        }
        let rows = rows.filter(|rows| rows.len() < terms.limit && rows.iter().all(|(term, _)| *term > 0));
        for (term, taxonomy) in rows.into_iter().flatten() {
            self.term(*term, *taxonomy);
        }
        // Terms that are looked for by number, and are not found.
        let is_found = |name: &Name| match name {
            Name::Row(table, id) if &**table == "terms" => id.parse().is_ok_and(|id| self.terms.contains_key(&id)),
            _ => true,
        };
        if rows.is_some() && names.iter().all(is_found) {
            self.all_found.insert(terms.text.clone());
            if rows.is_some_and(<[_]>::is_empty) {
                // Some are found later if their rows appear, or get another taxonomy: the news then have the whole table.
                self.names.extend(terms.names.iter().filter_map(Name::table_name).map(|table| Name::row(table, "")));
            }
        } else {
            self.names.extend(wide());
        }
    }

    /// Names a term. Its row of `term_taxonomy` may be named by another statement.
    fn term(&mut self, term: u64, taxonomy: u64) {
        self.names.insert(Name::row("terms", term));
        if taxonomy > 0 {
            self.names.insert(Name::row("term_taxonomy", taxonomy));
        }
        *self.terms.entry(term).or_default() |= taxonomy > 0;
    }

    /// Names what an entry of a persistent object cache was made of.
    fn cached(&mut self, group: &str, key: &str, ids: &[(u64, u64)]) {
        let is_number = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_digit());
        let table = match group {
            "post_meta" => Some("postmeta"),
            "term_meta" => Some("termmeta"),
            "user_meta" => Some("usermeta"),
            "comment" => Some("comments"),
            "comment_meta" => Some("commentmeta"),
            "users" | "posts" => Some(group),
            _ => None,
        };
        let first = ids.first().copied().unwrap_or_default();
        if let Some(table) = table {
            self.names.insert(if is_number { Name::row(table, key) } else { Name::table(table) });
        } else if group == "terms" && is_number {
            self.term(key.parse().unwrap_or_default(), first.1);
        } else if group == "options" {
            self.names.extend(named("options", &[key], row));
        } else if group == "userlogins" {
            self.names.insert(if first.0 > 0 { Name::row("users", first.0) } else { Name::table("users") });
        } else if group.ends_with("_relationships") && is_number {
            self.names.insert(Name::row("term_relationships", key));
            for (term, taxonomy) in ids.iter().filter(|(term, _)| *term > 0) {
                self.term(*term, *taxonomy);
            }
        } else if matches!(
            group,
            "post-queries"
                | "term-queries"
                | "comment-queries"
                | "user-queries"
                | "terms"
                | "counts"
                | "timeinfo"
                | "calendar"
                | "useremail"
                | "userslugs"
        ) {
            // Results of queries, which may be of any of WordPress's tables but options.
            let tables = IDENTITIES.iter().map(|identity| identity.table).filter(|table| *table != "options");
            self.names.extend(tables.map(Name::table));
        } else if group == "bookmark" {
            self.names.extend(["links", "terms", "term_taxonomy", "term_relationships"].map(Name::table));
        } else {
            self.why.get_or_insert(format!("object cache group {group}"));
        }
    }

    /// Whether rows must be looked up to know what was read.
    pub(crate) fn has_lookups(&self) -> bool {
        self.joins.iter().any(|join| join.is_open(|name| self.names.contains(name)))
    }

    /// Adds the rows that joins have read, which are looked up with a function from a statement to its first column.
    pub(crate) fn looked_up(&mut self, find: impl FnMut(&str) -> Option<Vec<String>>) {
        let mut lookups = Lookups::new(find);
        for join in std::mem::take(&mut self.joins) {
            if join.is_open(|name| self.names.contains(name)) {
                self.names.extend(join.names(&mut lookups));
            }
        }
    }

    /// The names, without those that others contain.
    pub(crate) fn names(&self) -> Vec<Name> {
        if self.names.contains(&Name::All) {
            return vec![Name::All];
        }
        let mut tables: HashMap<&str, Vec<&Name>> = HashMap::new();
        for name in &self.names {
            tables.entry(name.table_name().unwrap_or_default()).or_default().push(name);
        }
        let mut names = Vec::new();
        for (table, parts) in tables {
            if parts.len() > MAX_NAMES || parts.iter().any(|name| matches!(name, Name::Table(_))) {
                names.push(Name::table(table));
            } else {
                names.extend(parts.into_iter().cloned());
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(reads: Value) -> Found {
        found_with(reads, true)
    }

    fn found_with(reads: Value, has_images: bool) -> Found {
        let mut whole =
            json!({"parts": [], "prefix": "wp_", "database": "site", "start": 100, "end": 101, "offset": 0});
        whole.as_object_mut().unwrap().extend(reads.as_object().unwrap().clone());
        serde_json::from_value::<Reads>(whole).unwrap().found(has_images)
    }

    fn names(found: &Found) -> String {
        let mut names: Vec<String> = found.names().iter().map(Name::to_string).collect();
        names.sort();
        names.join(" ")
    }

    const TERMS: &str = "SELECT t.*, tt.* FROM wp_terms AS t INNER JOIN wp_term_taxonomy AS tt ON t.term_id = tt.term_id WHERE t.term_id IN (1,2)";
    const OF_POST: &str = "FROM wp_terms AS t INNER JOIN wp_term_taxonomy AS tt ON t.term_id = tt.term_id INNER JOIN \
                           wp_term_relationships AS tr ON tr.term_taxonomy_id = tt.term_taxonomy_id WHERE tt.taxonomy IN ('a') AND tr.object_id IN (9)";

    #[test]
    fn what_is_recorded_names_what_was_read() {
        let (ids, count) = (format!("SELECT DISTINCT t.term_id {OF_POST}"), format!("SELECT COUNT(*) {OF_POST}"));
        let login = "SELECT * FROM wp_users WHERE user_login = 'a' LIMIT 1";
        let meta = "SELECT user_id, meta_key, meta_value FROM wp_usermeta WHERE user_id IN (3) ORDER BY umeta_id ASC";
        let cron = "SELECT option_value FROM wp_options WHERE option_name = '_transient_doing_cron' LIMIT 1";
        for (reads, expected) in [
            (json!({}), ""),
            (json!({"parts": ["*", "posts/5"]}), "*"),
            (json!({"parts": ["posts/5", "posts"]}), "posts"),
            (json!({"options": ["Home ", "r\u{e9}sum\u{e9}"]}), "options"),
            (json!({"options": ["Home "]}), "options/home"),
            (json!({"sql": ["SELECT * FROM wp_posts WHERE ID = 5", "COMMIT"]}), "posts/5"),
            (json!({"sql": [[TERMS, [[[1, 11], [2, 12]]]]]}), "term_taxonomy/11 term_taxonomy/12 terms/1 terms/2"),
            (json!({"sql": [[TERMS, [[[1, 11]]]]]}), "term_taxonomy terms/1 terms/2"),
            (json!({"sql": [[TERMS, [null]]]}), "term_taxonomy terms/1 terms/2"),
            (json!({"sql": [TERMS]}), "term_taxonomy terms/1 terms/2"),
            // What a term belongs to may be known by another statement.
            (json!({"sql": [[ids, [[[1, 0]]]]]}), "term_relationships/9 term_taxonomy terms/1"),
            (
                json!({"sql": [[ids, [[[1, 0]]]], [TERMS, [[[1, 11], [2, 12]]]]]}),
                "term_relationships/9 term_taxonomy/11 term_taxonomy/12 terms/1 terms/2",
            ),
            (
                json!({"sql": [[ids, [[[1, 0]], [[2, 0]]]], [TERMS, [[[1, 11], [2, 12]]]]]}),
                "term_relationships/9 term_taxonomy/11 term_taxonomy/12 terms/1 terms/2",
            ),
            (
                json!({"sql": [[count, [[[0, 0]]]]]}),
                "term_relationships/9 \
                 term_taxonomy#taxonomy=a&@object_id|t|taxonomy|term_id|term_taxonomy_id|tr|tt|wp_term_relationships|wp_term_taxonomy|wp_terms \
                 terms#@object_id|t|taxonomy|term_id|term_taxonomy_id|tr|tt|wp_term_relationships|wp_term_taxonomy|wp_terms",
            ),
            (json!({"sql": [[count, [[[0, 0]]]], [ids, [[]]]]}), "term_relationships/9 term_taxonomy/ terms/"),
            (json!({"sql": [[login, [[[5, 0]]]]]}), "users/5"),
            (json!({"sql": [[login, [[]]]]}), "users"),
            (json!({"sql": [login]}), "users"),
            (
                json!({"sql": ["SELECT * FROM wp_posts WHERE post_author = (SELECT ID FROM wp_users WHERE user_login = 'a')"]}),
                "posts users#user_login=a",
            ),
            (json!({"sql": [meta], "parts": ["sessions/4"]}), "sessions/4 usermeta/3"),
            (json!({"sql": [cron]}), "options/_transient_doing_cron"),
            (json!({"edge": [cron, "SELECT * FROM wp_posts WHERE ID = 5"]}), "posts/5"),
            (
                json!({"cached": [["post_meta", "5", []], ["posts", "last_changed", []], ["userlogins", "a", [[3, 0]]]]}),
                "postmeta/5 posts users/3",
            ),
            (
                json!({"cached": [["terms", "5", [[5, 6]]], ["category_relationships", "9", [[5, 0]]]]}),
                "term_relationships/9 term_taxonomy/6 terms/5",
            ),
            (
                json!({"cached": [["category_relationships", "9", [[5, 0]]]]}),
                "term_relationships/9 term_taxonomy terms/5",
            ),
            (
                json!({"cached": [["options", "a", []], ["bookmark", "x", []]]}),
                "links options/a term_relationships term_taxonomy terms",
            ),
        ] {
            let found = found(reads.clone());
            assert_eq!((names(&found).as_str(), &found.why), (expected, &None), "{reads}");
        }
    }

    #[test]
    fn what_ends_a_response_early() {
        for (reads, why, age) in [
            (json!({"sql": ["SELECT RAND()"]}), Some("the function RAND"), None),
            (json!({"sql": ["SELECT * FROM wp_a WHERE b < NOW()"]}), None, Some(60)),
            (json!({"cached": [["plugin", "x", []]]}), Some("object cache group plugin"), None),
        ] {
            let found = found(reads.clone());
            assert_eq!((found.why.as_deref(), found.age), (why, age), "{reads}");
        }
    }

    #[test]
    fn rows_of_conditions_are_looked_up_for_changes_without_values() {
        // As WordPress looks for the styles of a theme.
        let sql = "SELECT t.term_id FROM wp_terms AS t INNER JOIN wp_term_taxonomy AS tt ON t.term_id = tt.term_id \
                   WHERE tt.taxonomy IN ('wp_theme') AND t.name IN ('a') LIMIT 1";
        let exact = found_with(json!({"sql": [sql]}), true);
        assert!(!exact.has_lookups() && names(&exact).starts_with("term_taxonomy#taxonomy=wp_theme&@"));
        let mut rows = found_with(json!({"sql": [sql]}), false);
        rows.looked_up(|sql| sql.contains("`term_id` FROM `wp_term_taxonomy`").then(|| vec!["7".to_owned()]));
        assert!(names(&rows).ends_with(" terms/7") && !rows.has_lookups(), "{}", names(&rows));
        let sessions = found_with(json!({"sql": ["SELECT * FROM wp_usermeta WHERE umeta_id = 5"]}), false);
        assert_eq!(names(&sessions), "sessions#umeta_id:5 usermeta#umeta_id:5");
    }

    #[test]
    fn joins_are_looked_up_unless_their_tables_are_named() {
        let join = "SELECT * FROM wp_posts p, wp_postmeta m WHERE p.ID = m.post_id AND p.post_type = 'page'";
        let mut some = found(json!({"sql": [join]}));
        assert!(some.has_lookups());
        some.looked_up(|_| Some(vec!["7".to_owned()]));
        assert_eq!(names(&some), "postmeta/7 posts?page");
        let mut unknown = found(json!({"sql": [join]}));
        unknown.looked_up(|_| None);
        assert_eq!(names(&unknown), "postmeta posts?page");
        assert!(!found(json!({"sql": [join, "SELECT * FROM wp_postmeta"]})).has_lookups());
        let many = (0..=MAX_NAMES).map(|id| format!("posts/{id}")).collect::<Vec<_>>();
        assert_eq!(names(&found(json!({"parts": many}))), "posts");
    }
}
