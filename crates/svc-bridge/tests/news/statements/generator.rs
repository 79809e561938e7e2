//! SELECTs made by chance, of the forms that plugins send.

use super::schema::{ALIASES, LINKS, TABLES, TEXTS};

/// A table in a statement.
#[derive(Clone)]
struct Table {
    name: &'static str,
    columns: &'static [&'static str],
    alias: String,
}

pub(super) struct Generator {
    state: u64,
    n_aliases: usize,
}

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Generator { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, n_aliases: 0 }
    }

    /// A number from zero on.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    /// True once in `n` times.
    pub(super) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub(super) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// So many parts in a text.
    fn join(&mut self, n: usize, separator: &str, mut part: impl FnMut(&mut Self) -> String) -> String {
        let parts: Vec<String> = (0..n).map(|_| part(self)).collect();
        parts.join(separator)
    }

    fn space(&mut self) -> &'static str {
        self.one(&[" ", " ", " ", " ", " ", "\n", "\t", "  ", " /* a ' b */ ", " -- it's\n", "/**/", " # \"\n"])
    }

    fn number(&mut self) -> String {
        match self.below(12) {
            0 => "-1".to_owned(),
            1 => "2.0".to_owned(),
            2 => "0x2".to_owned(),
            3 => "1e0".to_owned(),
            4 => "007".to_owned(),
            _ => (1 + self.below(6)).to_string(),
        }
    }

    fn text(&mut self) -> String {
        let text = self.one(TEXTS);
        let escaped = text.replace('\\', "\\\\");
        match self.below(14) {
            0 => format!("\"{}\"", escaped.replace('"', "\"\"")),
            1 => format!("_utf8mb4'{}'", escaped.replace('\'', "''")),
            2 => format!("'{}' ''", escaped.replace('\'', "''")),
            3 => format!("'{}'", escaped.replace('\'', "\\'")),
            4 => format!("x'{}'", text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>()),
            5 => format!("N'{}'", escaped.replace('\'', "''")),
            _ => format!("'{}'", escaped.replace('\'', "''")),
        }
    }

    /// A value that suits a column, mostly.
    fn value(&mut self, column: &str) -> String {
        let is_number = ["id", "rank", "order", "karma", "parent", "author", "user", "price"]
            .iter()
            .any(|part| column.to_ascii_lowercase().ends_with(part));
        match self.below(20) {
            0 => "NULL".to_owned(),
            1 => self.text(),
            2 => self.number(),
            3 => format!("'{}'", 1 + self.below(6)),
            _ if column == "day" => self.one(&["'2026-01-01'", "'2026-01-02'", "20260101"]).to_owned(),
            _ if column == "post_type" => self.one(&["'post'", "'page'", "'revision'", "'Page '"]).to_owned(),
            _ if column == "post_status" => self.one(&["'publish'", "'draft'"]).to_owned(),
            _ if column == "taxonomy" => self.one(&["'category'", "'post_tag'"]).to_owned(),
            _ if is_number => self.number(),
            _ => self.text(),
        }
    }

    fn quoted(&mut self, name: &str) -> String {
        let is_keyword = ["rank", "order", "key", "value", "end"].contains(&name);
        if is_keyword || self.once_in(6) { format!("`{name}`") } else { name.to_owned() }
    }

    /// A column of one of these tables, and its name.
    fn column(&mut self, tables: &[Table]) -> (String, &'static str) {
        let table = tables[self.below(tables.len())].clone();
        let name = self.one(table.columns);
        // A name after a point needs no quotes.
        let after_point = if self.once_in(5) { format!("`{name}`") } else { name.to_owned() };
        let written = match self.below(8) {
            0 => self.quoted(name),
            1 if table.alias == table.name => format!("wp.{}.{after_point}", table.alias),
            2 => format!(
                "{} . {}",
                table.alias,
                if after_point.starts_with('`') { after_point } else { format!("`{name}`") }
            ),
            _ => format!("{}.{after_point}", table.alias),
        };
        (written, name)
    }

    fn table(&mut self) -> Table {
        let (name, columns) = self.one(TABLES);
        self.named(name, columns)
    }

    fn named(&mut self, name: &'static str, columns: &'static [&'static str]) -> Table {
        self.n_aliases += 1;
        let alias = match self.below(6) {
            0 if self.n_aliases == 1 => name.to_owned(),
            1 => format!("{}{}", self.one(ALIASES).trim_matches('`').replace(' ', "_"), self.n_aliases),
            2 if self.n_aliases < 4 => self.one(ALIASES).to_owned(),
            _ => format!("t{}", self.n_aliases),
        };
        Table { name, columns, alias }
    }

    fn written(&mut self, table: &Table) -> String {
        let name = match self.below(8) {
            0 => format!("`{}`", table.name),
            1 => format!("wp.{}", table.name),
            2 => format!("`wp` . `{}`", table.name),
            _ if table.name == "rank" => "`rank`".to_owned(),
            _ => table.name.to_owned(),
        };
        let space = self.space();
        if table.alias == table.name {
            return name;
        }
        let hint = if self.once_in(20) { " FORCE INDEX (PRIMARY)" } else { "" };
        format!("{name}{space}{}{}{hint}", if self.once_in(2) { "AS " } else { "" }, table.alias)
    }

    /// The tables after FROM.
    fn from(&mut self, depth: usize) -> (String, Vec<Table>) {
        let first = self.table();
        let mut tables = vec![first.clone()];
        let mut text = self.written(&first);
        for _ in 0..self.one(&[0, 0, 0, 1, 1, 2, 3]) {
            let (table, link) = self.linked(&tables);
            // The name of a column that is the same in both tables.
            let columns: Vec<&str> =
                link.split('=').filter_map(|side| side.trim().split_once('.')).map(|(_, column)| column).collect();
            let same = columns.first().filter(|first| columns.last() == Some(*first)).map(|name| (*name).to_owned());
            let mut written = if depth > 0 && self.once_in(12) {
                let condition = self.condition(std::slice::from_ref(&table), depth - 1, 1);
                format!("(SELECT * FROM {} WHERE {condition}) {}", self.written(&table), table.alias)
            } else {
                self.written(&table)
            };
            let mut all = tables.clone();
            all.push(table.clone());
            if self.once_in(15) {
                let (other, on) = self.linked(&all);
                written = format!("({written} {} {} ON {on})", self.one(&["JOIN", "LEFT JOIN"]), self.written(&other));
                all.push(other);
            }
            let kind = self.one(&[
                "JOIN",
                "INNER JOIN",
                "LEFT JOIN",
                "LEFT OUTER JOIN",
                "RIGHT JOIN",
                ",",
                "CROSS JOIN",
                "STRAIGHT_JOIN",
                "JOIN",
            ]);
            let further = if self.once_in(3) {
                format!(" {} {}", self.one(&["AND", "AND", "AND", "OR", "&&"]), self.condition(&all, depth, 1))
            } else {
                String::new()
            };
            let on = if kind == "," {
                String::new()
            } else if same.is_some() && self.once_in(3) {
                format!(" USING ({})", same.unwrap_or_default())
            } else if self.once_in(2) {
                format!(" ON {link}{further}")
            } else {
                format!(" ON ({link}{further})")
            };
            let space = self.space();
            text = match self.below(12) {
                0 if kind != "," => format!("({text}{space}{kind} {written}{on})"),
                1 if kind == "," => format!("({text}, {written})"),
                _ => format!("{text}{space}{kind} {written}{on}"),
            };
            tables = all;
        }
        (text, tables)
    }

    /// A further table, and how its rows belong to others.
    fn linked(&mut self, tables: &[Table]) -> (Table, String) {
        let of = tables[self.below(tables.len())].clone();
        let links: Vec<_> = LINKS
            .iter()
            .flat_map(|(a, b, c, d)| [(*a, *b, *c, *d), (*c, *d, *a, *b)])
            .filter(|link| link.0 == of.name)
            .collect();
        if links.is_empty() || self.once_in(10) {
            let table = self.table();
            let (one, _) = self.column(std::slice::from_ref(&table));
            let (other, _) = self.column(&[of]);
            return (table, format!("{one} = {other}"));
        }
        let (_, mine, name, theirs) = self.one(&links);
        let columns = TABLES.iter().find(|(table, _)| *table == name).unwrap().1;
        let table = self.named(name, columns);
        let (one, other) = (format!("{}.{mine}", of.alias), format!("{}.{theirs}", table.alias));
        let link = if self.once_in(2) { format!("{one} = {other}") } else { format!("{other}={one}") };
        (table, link)
    }

    fn comparison(&mut self, tables: &[Table], depth: usize) -> String {
        let (column, name) = self.column(tables);
        let value = self.value(name);
        match self.below(if depth > 0 { 30 } else { 24 }) {
            0 => format!("{value} = {column}"),
            1..=3 => {
                let n = 1 + self.below(3);
                let list = self.join(n, ", ", |g| g.value(name));
                format!("{column} {}IN ({list})", if self.once_in(5) { "NOT " } else { "" })
            }
            4 => format!("{column} BETWEEN {value} AND {}", self.value(name)),
            5 => format!("{column} {} {value}", self.one(&["<", ">", "<=", ">=", "<>", "!=", "<=>"])),
            6 => format!(
                "{column} {}LIKE {}",
                self.one(&["", "NOT "]),
                self.one(&["'a%'", "'p_st'", "'%e%'", "'a\\_%'", "'page'"])
            ),
            7 => format!("{column} IS {}NULL", self.one(&["", "NOT "])),
            8 => {
                let function = self.one(&[
                    "LOWER({})",
                    "COALESCE({}, 1)",
                    "ABS({})",
                    "TRIM(LEADING 'a' FROM {})",
                    "SUBSTRING({} FROM 1 FOR 1)",
                    "CONVERT({} USING utf8mb4)",
                    "CAST({} AS CHAR)",
                    "POSITION('a' IN {})",
                    "EXTRACT(YEAR FROM {})",
                    "DATE_ADD({}, INTERVAL 1 DAY)",
                    "IF({} REGEXP '^a', 'a', 5)",
                ]);
                format!("{} = {value}", function.replace("{}", &column))
            }
            9 => format!("({column}, 1) = ({value}, 1)"),
            10 => format!(
                "{column} = {value} {}",
                self.one(&["IS TRUE", "= 1", "= 0", "COLLATE utf8mb4_bin", "+ 0", "IS NOT NULL", "DIV 1"])
            ),
            11 => format!("CASE WHEN {column} = {value} THEN 1 ELSE {} END", self.below(2)),
            12 => {
                let (other, _) = self.column(tables);
                format!("{column} = {other}")
            }
            13 => format!("BINARY {column} = {value}"),
            14 => format!("IF({column} = {value}, {}, {})", self.below(2), self.below(2)),
            24 | 25 => {
                let (from, inner) = self.from(depth - 1);
                let selected = self.column(&inner).0;
                let all: Vec<Table> = inner.iter().chain(tables).cloned().collect();
                let condition = self.condition(&all, depth - 1, 2);
                format!("{column} {}IN (SELECT {selected} FROM {from} WHERE {condition})", self.one(&["", "NOT "]))
            }
            26 | 27 => {
                let (from, inner) = self.from(depth - 1);
                let all: Vec<Table> = inner.iter().chain(tables).cloned().collect();
                let condition = self.condition(&all, depth - 1, 2);
                format!("{}EXISTS (SELECT 1 FROM {from} WHERE {condition})", self.one(&["", "NOT "]))
            }
            28 => {
                let united = self.united(1, depth - 1);
                format!("{column} {} ({united})", self.one(&["IN", "= ANY", "<> ALL"]))
            }
            29 => {
                let (from, inner) = self.from(depth - 1);
                let selected = self.column(&inner).0;
                let condition = self.condition(&inner, depth - 1, 1);
                format!(
                    "{column} {} (SELECT {}({selected}) FROM {from} WHERE {condition})",
                    self.one(&["=", "=", "<"]),
                    self.one(&["MAX", "MIN", "COUNT"])
                )
            }
            _ => format!("{column} = {value}"),
        }
    }

    /// A condition of up to so many comparisons on a level.
    fn condition(&mut self, tables: &[Table], depth: usize, n: usize) -> String {
        let mut text = self.comparison(tables, depth);
        for _ in 0..self.below(n + 1) {
            let part = match self.below(6) {
                0 if depth > 0 => format!("({})", self.condition(tables, depth - 1, 2)),
                1 if depth > 0 => format!("{} ({})", self.one(&["NOT", "!"]), self.condition(tables, depth - 1, 1)),
                2 => format!("NOT {}", self.comparison(tables, 0)),
                _ => self.comparison(tables, depth),
            };
            let junction = self.one(&["AND", "AND", "AND", "and", "&&", "OR", "||", "XOR"]);
            text = format!("{text}{}{junction} {part}", self.space());
        }
        if self.once_in(8) { format!("({text})") } else { text }
    }

    /// A SELECT of so many columns.
    fn query(&mut self, n_columns: usize, depth: usize) -> String {
        let (from, tables) = self.from(depth);
        let columns = match self.below(8) {
            0 if n_columns == 1 => self.one(&["COUNT(*)", "MAX(1)"]).to_owned(),
            _ => self.join(n_columns, ", ", |g| g.selected(&tables, depth)),
        };
        let is_counted = columns.contains("COUNT(*)");
        let modifier =
            self.one(&["", "", "", "", "DISTINCT ", "SQL_CALC_FOUND_ROWS ", "SQL_NO_CACHE ", "STRAIGHT_JOIN ", "ALL "]);
        let mut text = format!("SELECT {modifier}{columns}{}FROM {from}", self.space());
        if !self.once_in(8) {
            let condition = self.condition(&tables, depth, 3);
            text = format!("{text}{}WHERE {condition}", self.space());
        }
        if !is_counted {
            let (column, _) = self.column(&tables);
            match self.below(12) {
                0 => {
                    text +=
                        &format!(" GROUP BY {column} HAVING COUNT(*) {} {}", self.one(&[">", "=", "<"]), self.below(3))
                }
                1 => text += &format!(" GROUP BY {column}"),
                2 => text += &format!(" ORDER BY {column} DESC"),
                3 => text += self.one(&[" FOR UPDATE", " LOCK IN SHARE MODE"]),
                _ => {}
            }
        }
        text
    }

    fn selected(&mut self, tables: &[Table], depth: usize) -> String {
        let (column, _) = self.column(tables);
        match self.below(if depth > 0 { 14 } else { 12 }) {
            0 => format!("CONCAT({column}, 'x')"),
            1 => format!("COUNT(*) OVER (PARTITION BY {column})"),
            3 => format!("(SELECT {column})"),
            2 => format!("CASE WHEN {column} = 'a' THEN 1 ELSE 2 END"),
            12 => format!("({})", self.query(1, depth - 1)),
            13 => {
                let (from, inner) = self.from(depth - 1);
                let all: Vec<Table> = inner.iter().chain(tables).cloned().collect();
                format!("(SELECT COUNT(*) FROM {from} WHERE {})", self.condition(&all, depth - 1, 2))
            }
            _ => column,
        }
    }

    /// Two SELECTs of so many columns, with parentheses around some.
    fn united(&mut self, n_columns: usize, depth: usize) -> String {
        let (one, other) = (self.query(n_columns, depth), self.query(n_columns, depth));
        let operator = self.one(&["UNION", "UNION ALL", "EXCEPT", "INTERSECT", "UNION DISTINCT"]);
        match self.below(4) {
            0 => format!("({one}) {operator} ({other})"),
            1 => format!("({one}) {operator} {other}"),
            2 => format!("{one} {operator} ({other})"),
            _ => format!("{one} {operator} {other}"),
        }
    }

    /// A statement that reads.
    pub(super) fn select(&mut self) -> String {
        match self.below(16) {
            0 => self.united(2, 1),
            1 => {
                let (inner, (from, tables)) = (self.query(1, 1), self.from(1));
                format!("WITH c AS ({inner}) SELECT * FROM c, {from} WHERE {}", self.condition(&tables, 1, 2))
            }
            2 => format!("SELECT COUNT(*) FROM ({}) counted", self.query(1, 2)),
            5 => format!("SELECT * FROM ({}) united", self.united(1, 1)),
            3 => self.terms(),
            4 => self.login(),
            _ => {
                let n = 1 + self.below(3);
                self.query(n, 2)
            }
        }
    }

    /// A statement as WordPress's class for terms sends it.
    fn terms(&mut self) -> String {
        let columns = self.one(&["t.term_id", "t.*, tt.*", "COUNT(*)", "t.term_id, tr.object_id"]);
        let relation = "INNER JOIN wp_term_relationships AS tr ON tr.term_taxonomy_id = tt.term_taxonomy_id";
        let has_objects = columns.contains("tr.") || self.once_in(2);
        let objects = if has_objects {
            format!(" AND tr.object_id IN ({})", self.join(2, ", ", |g| g.number()))
        } else {
            String::new()
        };
        let further = match self.below(4) {
            0 => format!(" AND t.term_id IN ({})", self.join(2, ",", |g| (1 + g.below(6)).to_string())),
            1 => format!(" AND t.name = {}", self.text()),
            2 => " AND tt.term_id > 2".to_owned(),
            _ => String::new(),
        };
        let order = if columns == "t.term_id" && self.once_in(3) { " ORDER BY t.term_id DESC LIMIT 2" } else { "" };
        format!(
            "SELECT {}{columns} FROM wp_terms AS t INNER JOIN wp_term_taxonomy AS tt ON t.term_id = tt.term_id {} WHERE tt.taxonomy IN ('category'){objects}{further}{order}",
            self.one(&["", "DISTINCT "]),
            if has_objects { relation } else { "" },
        )
    }

    /// A statement as WordPress sends it when a user logs in.
    fn login(&mut self) -> String {
        format!(
            "SELECT * FROM wp_users WHERE user_login {} LIMIT 1",
            self.one(&["= 'a'", "= 'A '", "IN ('a', 'b')", "= 5", "= '5' AND ID = 2", "= user_login"])
        )
    }
}
