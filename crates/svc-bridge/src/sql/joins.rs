//! Joins of which some tables are known by rows or groups, and others only as a whole: which of their rows can be found is looked up after the
//! rendering. `posts?page` joined with `postmeta` by the number of the post depends on the metadata of pages.
//!
//! What is looked up depends on rows that are named, so that a later change of it ends the response.

use std::collections::HashMap;

use super::{
    MAX_ROWS, Site,
    conditions::{Constraints, number},
    named, row,
    tokens::{Named, Statement, is, name},
    whole,
};
use crate::names::{IDENTITIES, Name};

/// Most statements for a response.
const MAX_LOOKUPS: usize = 60;

/// A join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Join {
    /// The tables by alias.
    tables: Vec<Named>,
    /// Names of the rows of those that are known.
    names: Vec<(String, Vec<Name>)>,
    /// The aliases and names of those that are not.
    pub(super) open: Vec<Named>,
    /// Columns that are equal: a row of the second table is found only if the first one has its value.
    links: Vec<[(String, String); 2]>,
    /// The aliases after LEFT JOIN, without rows of which the others are found nevertheless.
    outer: Vec<String>,
}

/// What was looked up for a response: the first columns by statement; `None` where there are too many rows.
pub(crate) struct Lookups<F> {
    results: HashMap<String, Option<Vec<String>>>,
    find: F,
}

impl<F: FnMut(&str) -> Option<Vec<String>>> Lookups<F> {
    /// Looks rows up with a function from a statement to its first column, which returns `None` where that is not possible.
    pub(crate) fn new(find: F) -> Self {
        Lookups { results: HashMap::new(), find }
    }

    /// The values of a column in the rows for which a condition is true; `None` if there are many, or they cannot be known.
    fn values(&mut self, column: &str, table: &str, condition: &str) -> Option<Vec<String>> {
        if condition.is_empty() {
            return Some(Vec::new());
        }
        let is_plain = |name: &str| !name.contains('`');
        let sql = format!(
            "SELECT DISTINCT `{column}` FROM `{table}` WHERE ({condition}) AND `{column}` IS NOT NULL LIMIT {}",
            MAX_ROWS + 1
        );
        if let Some(known) = self.results.get(&sql) {
            return known.clone();
        }
        let is_possible = self.results.len() < MAX_LOOKUPS && is_plain(column) && is_plain(table);
        let found = if is_possible { (self.find)(&sql).filter(|rows| rows.len() <= MAX_ROWS) } else { None };
        self.results.insert(sql, found.clone());
        found
    }
}

impl Join {
    /// The join of a SELECT with these tables, of which these names are known, with the indices of FROM, of the condition, and of its end, and what
    /// the condition says. `None` if nothing can be looked up.
    pub(super) fn of(
        tables: &[Named],
        names: &[(String, Vec<Name>)],
        s: &Statement<'_>,
        (from, condition, end): (usize, usize, usize),
        site: &Site,
        constraints: &Constraints<'_>,
    ) -> Option<Self> {
        if s.has_one(&["RIGHT", "NATURAL", "USING", "?"]) || s.at(from + 1) == "(" {
            return None;
        }
        let (mut known, mut open) = (Vec::new(), Vec::new());
        for (alias, written) in tables {
            let table = site.short(written);
            let (_, found) = names.iter().find(|(of, _)| of == alias).filter(|_| table != "usermeta")?;
            if *found == [Name::table(&*table)] {
                open.push((alias.clone(), table));
            } else if identity(&table).is_some()
                && found.iter().all(can_be_looked_up)
                && constraints.has_exact_texts(alias)
            {
                known.push((alias.clone(), found.clone()));
            }
        }
        if open.is_empty() || known.is_empty() {
            return None;
        }
        let mut links = if s.is(condition, "WHERE") { links(s, condition + 1, end, None) } else { Vec::new() };
        let mut outer = Vec::new();
        let on = conditions(s, from, condition);
        if on.len() != s.slice(from, condition).iter().filter(|token| is(token, "ON")).count() {
            return None;
        }
        for (alias, on, stop) in on {
            let mut of_join = self::links(s, on, stop, Some(&alias));
            if is_outer(s, from, on) {
                of_join.retain(|[_, (found, _)]| *found == alias);
                outer.push(alias);
            }
            links.extend(of_join);
        }
        (!links.is_empty()).then(|| Join { tables: tables.to_vec(), names: known, open, links, outer })
    }

    /// Whether one of the tables that are not known is not among these names.
    pub(crate) fn is_open(&self, mut has: impl FnMut(&Name) -> bool) -> bool {
        self.open.iter().any(|(_, table)| !has(&Name::table(&**table)))
    }

    /// Names of what the join reads besides the tables that are known.
    pub(crate) fn names<F: FnMut(&str) -> Option<Vec<String>>>(&self, lookups: &mut Lookups<F>) -> Vec<Name> {
        let narrow: Vec<(&str, String)> =
            self.names.iter().map(|(alias, names)| (alias.as_str(), condition(names))).collect();
        let mut conditions: HashMap<&str, String> = narrow.iter().cloned().collect();
        let written =
            |alias: &str| self.tables.iter().find(|(known, _)| known == alias).map(|(_, table)| table.as_str());
        let mut names = Vec::new();
        loop {
            let before = conditions.len();
            for [(alias, column), (other, of_other)] in &self.links {
                let open = self.open.iter().find(|(open, _)| open == other && !conditions.contains_key(&**other));
                let Some((_, table)) = open else { continue };
                let key = identity(table).filter(|key| key.0.eq_ignore_ascii_case(of_other) && key.0 != "option_name");
                let (Some(condition), Some(from), Some(_)) = (conditions.get(&**alias), written(alias), key) else {
                    continue;
                };
                let values = lookups.values(column, from, &condition.clone());
                let Some(values) = values.and_then(|values| values.iter().map(|value| exact(value)).collect()) else {
                    continue;
                };
                let values: Vec<String> = values;
                let list = values.join(",");
                conditions.insert(other, if list.is_empty() { list } else { format!("{of_other} IN ({list})") });
                names.extend(named(table, &values, row));
            }
            if conditions.len() == before {
                break;
            }
        }
        let rest: Vec<Name> = (self.open.iter())
            .filter(|(alias, _)| !conditions.contains_key(&**alias))
            .map(|(_, table)| whole(table))
            .collect();
        let finds_nothing = !rest.is_empty()
            && narrow.iter().filter(|(alias, _)| !self.outer.iter().any(|outer| outer == alias)).any(
                |(alias, condition)| {
                    let table = self.names.iter().find(|(of, _)| of == alias);
                    let table =
                        table.and_then(|(_, names)| names.first()).and_then(Name::table_name).unwrap_or_default();
                    let (Some((row, _)), Some(written)) = (identity(table), written(alias)) else { return false };
                    // Nothing is found whatever the others have.
                    lookups.values(&row.to_ascii_lowercase(), written, condition).is_some_and(|found| found.is_empty())
                },
            );
        if !finds_nothing {
            names.extend(rest);
        }
        names
    }
}

/// The columns of the rows and the groups of a table.
fn identity(table: &str) -> Option<(&'static str, Option<&'static str>)> {
    IDENTITIES.iter().find(|identity| identity.table == table).map(|identity| (identity.row, identity.group))
}

/// A value as the number that the database compares; `None` if it is another one, or so large that it is not compared exactly.
fn exact(value: &str) -> Option<String> {
    number(value).filter(|number| number.len() <= 15)
}

/// Whether rows of this name can be found by their values.
fn can_be_looked_up(name: &Name) -> bool {
    match name {
        Name::Row(..) | Name::Where(..) => true,
        Name::Group(_, value) => !value.starts_with("revision/"),
        _ => false,
    }
}

/// The condition for the rows of these names, of one table.
fn condition(names: &[Name]) -> String {
    let text = |value: &str| format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''"));
    let (mut rows, mut groups) = (Vec::new(), Vec::new());
    for name in names {
        match name {
            Name::Where(_, condition) => return condition.to_sql(text),
            Name::Row(_, id) => rows.push(text(id)),
            Name::Group(_, value) => groups.push(text(value)),
            _ => {}
        }
    }
    let table = names.first().and_then(Name::table_name).unwrap_or_default();
    let Some((row, group)) = identity(table) else { return String::new() };
    let list = |column: &str, values: &[String]| {
        (!values.is_empty()).then(|| format!("{} IN ({})", column.to_ascii_lowercase(), values.join(",")))
    };
    let parts = [list(row, &rows), group.and_then(|group| list(group, &groups))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" OR ")
}

/// The conditions after ON: the alias of the table that is joined, and the indices of the condition.
pub(super) fn conditions(s: &Statement<'_>, from: usize, end: usize) -> Vec<(String, usize, usize)> {
    let joins = ["JOIN", "STRAIGHT_JOIN"];
    let mut conditions = Vec::new();
    if s.has_one(&["RIGHT", "NATURAL", "FULL"]) {
        return conditions;
    }
    let mut at = s.find(&joins, from, end);
    while at < end {
        let next = s.find(&joins, at + 1, end);
        let on = s.find(&["ON"], at, next);
        if on < next {
            let stop = s.find(&["LEFT", "INNER", "CROSS", ","], on + 1, next);
            // A second one is that of a join around this one.
            if s.find(&["ON"], on + 1, stop) < stop {
                return Vec::new();
            }
            conditions.push((name(s.at(on - 1)), on + 1, stop));
        }
        at = next;
    }
    conditions
}

/// Whether the condition at an index is that of a LEFT JOIN.
fn is_outer(s: &Statement<'_>, from: usize, on: usize) -> bool {
    let join = (from..on).rev().find(|at| s.is(*at, "JOIN") || s.is(*at, "STRAIGHT_JOIN")).unwrap_or(from);
    s.is(join.saturating_sub(1), "LEFT")
        || (s.is(join.saturating_sub(1), "OUTER") && s.is(join.saturating_sub(2), "LEFT"))
}

/// Columns that are equal in each row for which a condition is true. One of them must be of this alias.
fn links(s: &Statement<'_>, from: usize, end: usize, alias: Option<&str>) -> Vec<[(String, String); 2]> {
    let (mut at, end) = s.inside(from, end);
    let mut links = Vec::new();
    if s.find(&["OR", "||", "XOR", "BETWEEN", "CASE"], at, end) < end {
        return links;
    }
    while at < end {
        let next = s.find(&["AND", "&&"], at, end);
        let (first, stop) = s.inside(at, next);
        at = next + 1;
        if let [a, ".", b, "=", c, ".", d] = s.slice(first, stop) {
            let (one, other) = ((name(a), name(b)), (name(c), name(d)));
            if alias.is_none_or(|alias| one.0 == alias || other.0 == alias) {
                links.push([one.clone(), other.clone()]);
                links.push([other, one]);
            }
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Clock, Read, Variables},
        *,
    };

    #[test]
    fn joins_read_the_rows_that_can_be_found() {
        let rows = [
            (
                "SELECT DISTINCT `id` FROM `wp_posts` WHERE (post_type IN ('page')) AND `id` IS NOT NULL LIMIT 501",
                "5 6",
            ),
            ("SELECT DISTINCT `id` FROM `wp_posts` WHERE (post_type IN ('none')) AND `id` IS NOT NULL LIMIT 501", ""),
            (
                "SELECT DISTINCT `term_taxonomy_id` FROM `wp_term_relationships` WHERE (object_id IN (5,6)) AND \
                 `term_taxonomy_id` IS NOT NULL LIMIT 501",
                "4",
            ),
            (
                "SELECT DISTINCT `meta_value` FROM `wp_postmeta` WHERE (post_id IN ('5')) AND `meta_value` IS NOT NULL LIMIT 501",
                "7a",
            ),
            (
                "SELECT DISTINCT `meta_value` FROM `wp_postmeta` WHERE (post_id IN ('6')) AND `meta_value` IS NOT NULL LIMIT 501",
                "007",
            ),
        ];
        let posts = "SELECT p.ID FROM wp_posts p INNER JOIN wp_term_relationships r ON (p.ID = r.object_id) \
                     LEFT JOIN wp_term_taxonomy tt ON r.term_taxonomy_id = tt.term_taxonomy_id AND tt.count > 0 WHERE";
        for (sql, expected) in [
            (&*format!("{posts} p.post_type = 'page'"), "term_relationships/5 term_relationships/6 term_taxonomy/4"),
            (&*format!("{posts} p.post_type = 'none'"), ""),
            // A column may tell capitals apart.
            (&*format!("{posts} p.post_type = 'Page'"), "none"),
            (&*format!("{posts} p.post_type = 'other'"), "term_relationships term_taxonomy"),
            (
                "SELECT * FROM wp_posts p, wp_postmeta m WHERE p.ID = m.post_id AND p.post_type = 'page'",
                "postmeta/5 postmeta/6",
            ),
            (
                "SELECT * FROM wp_posts p JOIN wp_postmeta m ON p.ID = m.post_id OR m.meta_key = 'a' WHERE p.post_type = 'page'",
                "none",
            ),
            (
                "SELECT * FROM wp_posts p RIGHT JOIN wp_postmeta m ON p.ID = m.post_id WHERE p.post_type = 'page'",
                "none",
            ),
            (
                "SELECT * FROM wp_posts p JOIN wp_comments c ON p.post_title = 'a' LEFT JOIN wp_users u ON p.ID = c.comment_ID \
                 WHERE p.post_type = 'page'",
                "none",
            ),
            // What is on the left is found without anything on the right.
            (
                "SELECT p.ID FROM wp_posts p LEFT JOIN wp_postmeta m ON p.ID = m.post_id AND m.post_id IN (99) WHERE p.post_type <> 'page'",
                "posts",
            ),
            (
                "SELECT p.ID FROM wp_posts p LEFT OUTER JOIN wp_postmeta m ON m.post_id = p.ID AND m.post_id IN (5)",
                "posts",
            ),
            ("SELECT * FROM wp_postmeta m JOIN wp_posts p ON m.meta_value = p.ID WHERE m.post_id = 6", "posts/7"),
            // No number, so that the database compares it in its own way.
            ("SELECT * FROM wp_postmeta m JOIN wp_posts p ON m.meta_value = p.ID WHERE m.post_id = 5", "posts"),
            // A table of a plugin, if there are pages.
            ("SELECT * FROM wp_posts p JOIN wp_orders o ON o.post = p.ID WHERE p.post_type = 'page'", "orders"),
            ("SELECT * FROM wp_posts p JOIN wp_orders o ON o.post = p.ID WHERE p.post_type = 'none'", ""),
        ] {
            let site = Site { prefix: "wp_".to_owned(), database: "site".to_owned(), has_images: true };
            let read = Read::of(sql, &site, &Clock::default(), &mut Variables::default());
            let mut lookups = Lookups::new(|sql: &str| {
                let (_, found) = rows.iter().find(|(of, _)| *of == sql)?;
                Some(found.split_whitespace().map(str::to_owned).collect())
            });
            let found = read.joins.first().map(|join| join.names(&mut lookups));
            let found = found
                .map_or("none".to_owned(), |names| names.iter().map(Name::to_string).collect::<Vec<_>>().join(" "));
            assert_eq!(found, expected, "{sql}");
        }
    }
}
