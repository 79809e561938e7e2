//! The parts of the database that a statement reads.

use super::{
    Site,
    clock::{BARE, CLOCKS, Clock, UNSTABLE, is_setting},
    conditions::{Constraints, constraints},
    joins::{self, Join},
    tokens::{CLAUSES, Doubt, Named, SET_OPERATORS, Statement, content, is, is_identifier, is_one, name, tokens},
    unclear::{is_unknown_function, unclear},
    variables::{Naming, VARIABLE, Variables, is_variable},
    whole,
    writes::MODIFIERS,
};
use crate::names::{Name, SESSIONS};

/// Deepest nesting of statements that is examined.
const MAX_DEPTH: usize = 20;

/// What a statement reads.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// Why what it finds is not the same the next time.
    pub(crate) why: Option<String>,
    /// Whether it compares something with the clock.
    pub(crate) is_clocked: bool,
    /// The parts that it reads.
    pub(crate) names: Vec<Name>,
    /// The columns that it names, as of [`Name::of_columns`]; `None` for all.
    pub(crate) columns: Option<String>,
    /// If the rows that it finds show which terms it has read: their parts if the rows are not known.
    pub(crate) terms: Option<Terms>,
    /// Whether the row that it finds is the only user with that name.
    pub(crate) is_login: bool,
    /// Joins of which rows of one table show which rows of another can be found.
    pub(crate) joins: Vec<Join>,
}

/// A statement that finds a row for each term that it looks at.
#[derive(Debug)]
pub(crate) struct Terms {
    /// What it reads if the rows are not known.
    pub(crate) names: Vec<Name>,
    /// Its tables and its condition.
    pub(crate) text: String,
    /// Whether it only counts them.
    pub(crate) counts: bool,
    /// Number of rows from which on it may have found only some of them.
    pub(crate) limit: usize,
}

impl Read {
    /// Examines a statement. One that only writes reads nothing. `variables` are those of the request.
    pub(crate) fn of(sql: &str, site: &Site, clock: &Clock, variables: &mut Variables) -> Self {
        let tokens = tokens(sql);
        let mut reader = Reader { read: Read::default(), site, variables, doubt: None };
        match &tokens {
            Some(tokens) => {
                let tokens: Vec<&str> = tokens.iter().map(AsRef::as_ref).collect();
                reader.read.columns = named_columns(&tokens);
                reader.statement(tokens, clock);
            }
            None => reader.refuse("a statement that cannot be read"),
        }
        reader.read
    }
}

/// Examines a statement.
pub(super) struct Reader<'a> {
    pub(super) read: Read,
    pub(super) site: &'a Site,
    pub(super) variables: &'a mut Variables,
    pub(super) doubt: Doubt,
}

impl Reader<'_> {
    pub(super) fn refuse(&mut self, why: impl Into<String>) {
        self.read.why.get_or_insert(why.into());
    }

    fn add(&mut self, names: impl IntoIterator<Item = Name>) {
        for name in names {
            if !self.read.names.contains(&name) {
                self.read.names.push(name);
            }
        }
    }

    fn statement(&mut self, mut tokens: Vec<&str>, clock: &Clock) {
        tokens.pop_if(|last| *last == ";");
        let s = Statement::new(tokens);
        let is_word = |token: &&&str| token.bytes().all(|byte| byte.is_ascii_alphabetic());
        let verb = s.all().iter().find(is_word).copied().unwrap_or_default();
        let variables = Naming::of(&s);
        let has_variables = variables == Naming::Plain;
        let is_read = is_one(verb, &["SELECT", "WITH"]);
        if !is_read && variables != Naming::Absent {
            self.variables.change(&s, clock);
        }
        if variables == Naming::Other {
            self.refuse(VARIABLE);
        } else if is_read {
            if let Some(why) = self.unstable(&s, clock).or_else(|| unclear(&s)) {
                self.refuse(why);
            } else if has_variables && self.read.is_clocked {
                // A variable may have the time.
                self.refuse(VARIABLE);
            } else if s.has_one(&["TABLE"]) {
                self.refuse("the statement TABLE");
            } else if s.has_one(&["WITH", "MATCH", "EXAMINED"]) || s.all().contains(&";") {
                // The relevance of a row depends on all others, and LIMIT ROWS EXAMINED on all that are looked at.
                self.everything_named(&s);
            } else if has_variables {
                self.select_with_variables(s.all(), MAX_DEPTH);
            } else {
                let is_only = s.all().iter().filter(|token| is(token, "SELECT")).count() == 1;
                self.select(s.all(), is_only, MAX_DEPTH);
            }
        } else if is_one(verb, &["SHOW", "DESC", "DESCRIBE"]) {
            self.definitions(&s);
        } else if !verb.is_empty() {
            self.other(verb, &s, clock);
        }
        if let Some(why) = self.doubt.take() {
            self.refuse(why);
        }
    }

    /// Why the statement finds something else the next time, though no row has changed. Notes clocks in conditions.
    pub(super) fn unstable(&mut self, s: &Statement<'_>, clock: &Clock) -> Option<String> {
        let mut in_condition = vec![false];
        for (at, token) in s.all().iter().enumerate() {
            let is_inside = in_condition.last().copied().unwrap_or_default();
            match *token {
                "(" => in_condition.push(is_inside),
                ")" if in_condition.len() > 1 => drop(in_condition.pop()),
                token if is_one(token, &["WHERE", "ON", "SELECT", "UNION"]) || is_one(token, &CLAUSES) => {
                    if let Some(last) = in_condition.last_mut() {
                        *last = is_one(token, &["WHERE", "ON"]);
                    }
                }
                _ => {}
            }
            let has_point = s.at(at + 1) == ".";
            if token.starts_with("@@") && is_setting(&s.slice(at, at + if has_point { 3 } else { 1 }).concat()) {
                self.read.is_clocked = true;
                continue;
            }
            if is_variable(token) && self.variables.read(token) {
                continue;
            }
            if token.starts_with('@') {
                return Some(VARIABLE.to_owned());
            }
            if *token == "/*" {
                return Some("a comment that is executed".to_owned());
            }
            let is_function = s.at(at + 1) == "(" || is_one(token, &BARE);
            if is_unknown_function(s, at) {
                return Some(format!("the function {}", name(token)));
            }
            let is_clock =
                is_function && (is_one(token, &CLOCKS) || is(token, "UNIX_TIMESTAMP") && s.at(at + 2) == ")");
            if !is_clock && is_function && is_one(token, &UNSTABLE) {
                return Some(format!("the function {}", token.to_ascii_uppercase()));
            }
            let is_time = is_clock || clock.is_time(token);
            if is_time && !in_condition.last().copied().unwrap_or_default() {
                return Some(match is_clock {
                    true => format!("the function {}", token.to_ascii_uppercase()),
                    false => "the time in a statement".to_owned(),
                });
            }
            self.read.is_clocked |= is_time;
        }
        None
    }

    /// Definitions of tables, which change only together with whole tables.
    fn definitions(&mut self, s: &Statement<'_>) {
        let verb = s.at(0);
        let (mut at, mut has_numbers) = (1, false);
        if is(verb, "SHOW") && s.is(1, "TABLES") && s.is(2, "LIKE") && s.len() == 4 {
            let table = content(s.at(3)).unwrap_or_default().replace("\\\\_", "_").replace("\\_", "_");
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
            if !table.is_empty() && table.bytes().all(is_name) {
                let short = self.site.short(&table.to_ascii_lowercase());
                return self.add([Name::row(short, "")]);
            }
        }
        if is(verb, "SHOW") {
            while is_one(s.at(at), &["FULL", "EXTENDED"]) {
                at += 1;
            }
            let is_create = at == 1 && s.is(1, "CREATE") && s.is(2, "TABLE");
            let is_list = is_one(s.at(at), &["COLUMNS", "FIELDS", "INDEX", "INDEXES", "KEYS"])
                && is_one(s.at(at + 1), &["FROM", "IN"]);
            // The next number of a row, and how many values an index has.
            has_numbers = is_create || is_one(s.at(at), &["INDEX", "INDEXES", "KEYS"]);
            at = if is_create || is_list { at + 2 } else { 0 };
        }
        if at == 0 {
            return self.refuse(format!("the statement {}", verb.to_ascii_uppercase()));
        }
        let table = s.table_at(&mut at, self.site, &mut self.doubt);
        let name = |table: String| match self.site.short(&table) {
            table if has_numbers => whole(&table),
            table => Name::row(table, ""),
        };
        let name = table.map_or(Name::All, name);
        self.add([name]);
    }

    /// All tables that a statement names anywhere.
    pub(super) fn everything_named(&mut self, s: &Statement<'_>) {
        let mut names = Vec::new();
        for (at, token) in s.all().iter().enumerate() {
            // A single table, or a list of tables.
            let mut table = at + 1;
            let is_update = is(token, "UPDATE") && !is_one(s.at(at.wrapping_sub(1)), &["FOR", "KEY"]);
            if is_one(token, &["INTO", "TABLE"]) {
                let table = s.table_at(&mut table, self.site, &mut self.doubt);
                names.extend(table.map(|table| whole(&self.site.short(&table))));
            } else if is_update
                || is_one(token, &["FROM", "JOIN", "STRAIGHT_JOIN"])
                || is(token, "USING") && s.at(table) != "("
            {
                while is_update && is_one(s.at(table), &MODIFIERS) {
                    table += 1;
                }
                let end = s.find(&CLAUSES, table, s.closing(table));
                let tables = s.tables(table, end, self.site, &mut self.doubt);
                names.extend(tables.iter().map(|(_, table)| whole(&self.site.short(table))));
            } else if is_identifier(token) && !self.site.prefix.is_empty() && name(token).starts_with(&self.site.prefix)
            {
                names.push(whole(&self.site.short(&name(token))));
            }
        }
        if names.is_empty() {
            names.push(Name::All);
        }
        if names.contains(&Name::table("usermeta")) {
            names.push(Name::table(SESSIONS));
        }
        self.add(names);
    }

    /// A statement in which each SELECT in parentheses is `?`. Examines these.
    fn outside<'s>(&mut self, s: &Statement<'s>, mut examine: impl FnMut(&mut Self, &[&str])) -> Statement<'s> {
        let mut flat = Vec::new();
        let mut at = 0;
        while at < s.len() {
            let after = s.after(at);
            // It may begin with another in parentheses: (SELECT …) UNION SELECT ….
            if s.at(at) == "(" && s.find(&["SELECT"], at + 1, after - 1) < after - 1 {
                examine(self, s.slice(at + 1, after - 1));
                flat.push("?");
                at = after;
            } else {
                flat.push(s.at(at));
                at += 1;
            }
        }
        Statement::new(flat)
    }

    /// A SELECT with variables, with those inside it. What these have may depend on each row that the database looks at.
    fn select_with_variables(&mut self, tokens: &[&str], depth: usize) {
        if depth == 0 {
            return self.refuse(VARIABLE);
        }
        let s = Statement::new(tokens.to_vec());
        let s = self.outside(&s, |reader, inside| reader.select_with_variables(inside, depth - 1));
        self.everything_named(&s);
    }

    /// A SELECT, with those inside it.
    fn select(&mut self, tokens: &[&str], is_only: bool, depth: usize) {
        let s = Statement::new(tokens.to_vec());
        if is_only && s.is(0, "SELECT") {
            return self.single(&s, true);
        }
        if depth == 0 {
            return self.everything_named(&s);
        }
        let s = self.outside(&s, |reader, inside| reader.select(inside, is_only, depth - 1));
        let mut from = 0;
        while from < s.len() {
            let end = s.find(&SET_OPERATORS, from, s.len());
            self.single(&Statement::new(s.slice(from, end).to_vec()), false);
            from = end + 1;
        }
    }

    /// A SELECT without others in it. `is_only` is whether the statement has no others at all, so that its rows are those of this one.
    fn single(&mut self, s: &Statement<'_>, is_only: bool) {
        let from = s.find(&["FROM"], 0, s.len());
        if from == s.len() {
            return;
        }
        let site = self.site;
        let condition = s.find(&CLAUSES, from + 1, s.len());
        let tables = s.tables(from + 1, condition, site, &mut self.doubt);
        if tables.is_empty() && !s.all().contains(&"?") {
            return self.add([Name::All]);
        }
        let (mut end, mut found) = (condition, Constraints::default());
        if s.is(condition, "WHERE") {
            end = s.find(&CLAUSES, condition + 1, s.len());
            found = constraints(s, condition + 1, end);
        }
        let is_one_login =
            found.get(".user_login").is_some_and(|values| values.len() == 1) && compares_login_with_text(s);
        found = found.of_tables(&tables, site);
        for (alias, on, stop) in joins::conditions(s, from, condition) {
            // Of a table that is joined, only the rows for which this is true.
            if tables.iter().any(|(known, _)| *known == alias) {
                for (key, values) in constraints(s, on, stop).of_alias(&alias) {
                    found.add(key, values);
                }
            }
        }
        let mut names: Vec<(String, Vec<Name>)> = Vec::new();
        for (alias, table) in tables.iter().filter(|(_, table)| site.short(table) != "dual") {
            let table = site.short(table);
            // A number equals many texts.
            let is_whole = table == "users" && !compares_login_with_text(s);
            let mut of_table = if is_whole { vec![whole(&table)] } else { found.names(alias, &table) };
            let is_wide = |name: &Name| name.without_condition().as_deref() == Some(&[Name::table(&*table)]);
            if !site.has_images && table != "usermeta" && of_table.iter().any(is_wide) {
                // As a whole, so that its rows are looked up if it is joined.
                of_table = vec![whole(&table)];
            }
            names.push((alias.clone(), of_table));
        }
        if is_only && let Some((counts, limit)) = self.finds_terms(&tables, &names, s, condition, end) {
            let (narrow, wide): (Vec<_>, Vec<_>) =
                names.into_iter().partition(|(_, names)| matches!(names.first(), Some(Name::Row(..))));
            names = narrow;
            let text = s.slice(from, end).join(" ");
            self.read.terms =
                Some(Terms { names: wide.into_iter().flat_map(|(_, names)| names).collect(), text, counts, limit });
        }
        let is_user = tables.iter().all(|(_, table)| site.short(table) == "users") && tables.len() == 1;
        if is_only && is_user && is_one_login {
            self.read.is_login = true;
            return;
        }
        if tables.len() > 1
            && self.read.terms.is_none()
            && let Some(join) = Join::of(&tables, &names, s, (from, condition, end), site, &found)
        {
            names.retain(|(alias, _)| join.open.iter().all(|(open, _)| open != alias));
            self.read.joins.push(join);
        }
        self.add(names.into_iter().flat_map(|(_, names)| names));
    }

    /// Whether a SELECT finds a row for each term that it looks at: those of objects or ids, of which only the taxonomy and these ids decide
    /// whether they are found. Returns whether it only counts them, and the limit of its rows.
    fn finds_terms(
        &self,
        tables: &[Named],
        names: &[(String, Vec<Name>)],
        s: &Statement<'_>,
        condition: usize,
        end: usize,
    ) -> Option<(bool, usize)> {
        let mut short: Vec<String> = tables.iter().map(|(_, table)| self.site.short(table)).collect();
        short.sort_unstable();
        let n = short.len();
        short.dedup();
        let is_of_terms = |table: &String| ["terms", "term_taxonomy", "term_relationships"].contains(&table.as_str());
        if short.len() < 2 || short.len() < n || !short.iter().all(is_of_terms) || names.len() < n {
            return None;
        }
        if s.find(&["GROUP", "HAVING"], condition, s.len()) < s.len()
            || s.all().contains(&"?")
            || s.has_one(&["LEFT", "RIGHT", "CROSS", "NATURAL", "USING"])
        {
            return None;
        }
        // A further condition after ON decides which terms are found.
        let from = s.find(&["FROM"], 0, condition);
        let is_link = |(_, on, stop): &(String, usize, usize)| {
            let (on, stop) = s.inside(*on, *stop);
            matches!(s.slice(on, stop), [_, ".", _, "=", _, ".", _])
        };
        if !joins::conditions(s, from, condition).iter().all(is_link) {
            return None;
        }
        let at = s.find(&["LIMIT"], condition, s.len());
        let limit = match s.slice((at + 1).min(s.len()), s.len()) {
            [] => usize::MAX,
            ["0", ",", limit] | [limit] => limit.parse().ok()?,
            _ => return None,
        };
        let is_row = |names: &[Name]| matches!(names.first(), Some(Name::Row(..)));
        let is_open = |names: &[Name]| {
            !is_row(names)
                && names.first().and_then(Name::table_name).is_some_and(|table| table.starts_with("term_relationships"))
        };
        if names.iter().any(|(_, names)| is_open(names)) || !names.iter().any(|(_, names)| is_row(names)) {
            return None;
        }
        let allowed = ["and", "in", "term_id", "term_taxonomy_id", "taxonomy", "object_id"];
        let mut at = condition + 1;
        while at < end {
            at += if s.at(at + 1) == "." && is_identifier(s.at(at)) { 2 } else { 0 };
            if is_identifier(s.at(at)) && !allowed.contains(&name(s.at(at)).as_str()) {
                return None;
            }
            at += 1;
        }
        let from = s.find(&["FROM"], 0, s.len());
        Some((s.slice(0, from).iter().any(|token| is(token, "COUNT")), limit))
    }
}

/// Most columns of a statement that are told apart from others, and the maximum length of their names together, in bytes.
const MAX_COLUMNS: usize = 40;
const MAX_COLUMN_NAMES: usize = 600;

/// Reserved words, which are no names of columns without quotes.
const RESERVED: [&str; 38] = [
    "SELECT",
    "DISTINCT",
    "SQL_CALC_FOUND_ROWS",
    "FROM",
    "AS",
    "JOIN",
    "INNER",
    "LEFT",
    "RIGHT",
    "CROSS",
    "ON",
    "WHERE",
    "AND",
    "OR",
    "NOT",
    "XOR",
    "IN",
    "IS",
    "NULL",
    "LIKE",
    "BETWEEN",
    "EXISTS",
    "GROUP",
    "HAVING",
    "ORDER",
    "BY",
    "ASC",
    "DESC",
    "LIMIT",
    "UNION",
    "ALL",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "INTERVAL",
    "TRUE",
    "FALSE",
];

/// The names in a statement that may be those of columns, in lower case and between `|`. `None` if it may read others: with `*`, except for numbers of
/// rows, and with joins by the columns that tables have in common.
fn named_columns(tokens: &[&str]) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = |n: usize| at.checked_sub(n).and_then(|at| tokens.get(at)).copied().unwrap_or_default();
        if *token == "*" && !(before(1) == "(" && is(before(2), "COUNT") && tokens.get(at + 1) == Some(&")"))
            || is(token, "NATURAL")
        {
            return None;
        }
        // A table or a database before a point, or a function.
        let next = tokens.get(at + 1).copied().unwrap_or_default();
        let is_other = next == "." || next == "(" && !token.starts_with('`');
        if is_other || !is_identifier(token) || is_one(token, &RESERVED) {
            continue;
        }
        let name = name(token);
        if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_unstable();
    let text = names.join("|");
    (!names.is_empty() && names.len() <= MAX_COLUMNS && text.len() <= MAX_COLUMN_NAMES).then_some(text)
}

/// Whether all conditions on login names compare them with a text.
fn compares_login_with_text(s: &Statement<'_>) -> bool {
    let is_login = |at: &usize| name(s.at(*at)) == "user_login";
    let is_text = |at: usize| {
        let (operator, value) = (s.at(at + 1), at + 2);
        let list = if is(operator, "IN") { value + 1..s.after(value).saturating_sub(1) } else { value..value + 1 };
        is_one(operator, &["=", "!=", "<>", "IN"])
            && s.slice(list.start, list.end).iter().all(|token| *token == "," || content(token).is_some())
    };
    (s.find(&["FROM"], 0, s.len())..s.len()).filter(is_login).all(is_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements, each with what it reads in the next line: names, and after "rows or" those of the rows that it finds if they are not known. After
    /// "joined" are the tables of which rows are looked up.
    const STATEMENTS: &str = include_str!("reads.txt");

    fn read(sql: &str, clock: &Clock) -> String {
        let site = Site { prefix: "wp_".to_owned(), database: "site".to_owned(), has_images: true };
        let read = Read::of(sql, &site, clock, &mut Variables::default());
        if let Some(why) = read.why {
            return format!("unstable: {why}");
        }
        let names = |names: &[Name]| names.iter().map(Name::to_string).collect::<Vec<_>>().join(" ");
        let mut text = format!("reads {}", names(&read.names));
        if let Some(terms) = &read.terms {
            text += &format!(" rows or {}", names(&terms.names));
        }
        for join in &read.joins {
            text += " joined";
            join.open.iter().for_each(|(_, table)| text += &format!(" {table}"));
        }
        text += if read.is_login { " row or users" } else { "" };
        text += if read.is_clocked { " and the clock" } else { "" };
        text.trim_end().to_owned()
    }

    #[test]
    fn statements_name_what_they_read() {
        let mut lines = STATEMENTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut wrong = Vec::new();
        while let (Some(sql), Some(expected)) = (lines.next(), lines.next()) {
            let found = read(&sql.replace("\\n", "\n"), &Clock::default());
            if found != expected.trim() {
                wrong.push(format!("{sql}\n  found: {found}\n  right: {}", expected.trim()));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn variables_that_a_request_has_set() {
        const SET: &str = "SET @a:=NULL, @Counter = 1, SQL_BIG_SELECTS=1";
        const READ: &str = "SELECT id, IF(@a=kind,@counter:=@counter+1,@counter:=1), @a:=kind FROM wp_x WHERE id = @a";
        // As a plugin does that groups the entries of a log.
        const GROUPS: &str = "SELECT max(h.id) AS id FROM wp_log AS h INNER JOIN ( SELECT id, #message,\n \
            IF(@a=kind,@counter:=@counter+1,@counter:=1) AS n, @a:=kind, c.value AS text FROM wp_log AS h2 \
            LEFT OUTER JOIN wp_contexts AS c ON (c.log_id = h2.id AND c.key = '_message') ORDER BY date DESC, id DESC ) AS r \
            ON r.id = h.id GROUP BY r.n ORDER by id DESC LIMIT 0, 30";
        let site = Site { prefix: "wp_".to_owned(), database: "site".to_owned(), has_images: true };
        for (statements, reads) in [
            (&[SET, READ][..], Some("x")),
            (&[SET, GROUPS], Some("log contexts")),
            (&[SET, READ, "SET NAMES utf8mb4", "UPDATE wp_y SET a = '@a' WHERE id = 5"], Some("x")),
            // Not set, or not yet, or not all of them.
            (&[READ], None),
            (&[READ, SET], None),
            (&["SET @a = 1", READ], None),
            // Other values than constants, whenever: a statement that is run again is recorded once.
            (&["SET @a = 1, @counter = RAND()", READ], None),
            (&[SET, READ, "SET @a = (1)"], None),
            (&[SET, "UPDATE wp_y SET a = (@a := RAND())", READ], None),
            (&[SET, "PREPARE a FROM @a", READ], None),
            (&[SET, "SHOW COLUMNS FROM wp_x WHERE (@a := RAND()) IS NOT NULL", READ], None),
            // The time, in a variable.
            (&["SET @a = 1000000005, @counter = 1", READ], None),
            (&["SET @a = '2001-09-09 01:46:45', @counter = 1", READ], None),
            (&[SET, "SELECT id FROM wp_x WHERE (@a := NOW()) IS NOT NULL"], None),
            // Names in other forms.
            (&["SET @`a` = 1, @counter = 1", READ], None),
            (&[SET, "SELECT @a.b"], None),
            // Everything that a statement without tables may mean.
            (&[SET, "SELECT n FROM (SELECT @a := 0) AS r, wp_x WHERE id = 5"], Some("* x")),
            (&[SET, "SET@a=@@timestamp", READ], None),
            (&[SET, "SELECT @@wait_timeout, @a"], None),
        ] {
            let mut variables = Variables::default();
            let clock = Clock { start: 1_000_000_000, end: 1_000_000_010, offset: 0 };
            let found: Vec<Read> = statements.iter().map(|sql| Read::of(sql, &site, &clock, &mut variables)).collect();
            let is_stable = variables.unstable().is_none() && found.iter().all(|read| read.why.is_none());
            let names: Vec<_> = found.iter().flat_map(|read| &read.names).map(Name::to_string).collect();
            let why: Vec<_> = found.iter().map(|read| &read.why).collect();
            assert_eq!(is_stable.then(|| names.join(" ")).as_deref(), reads, "{statements:?} {why:?}");
        }
    }

    #[test]
    fn long_and_nested_statements() {
        let ids = |n: usize| (1..=n).map(|id| id.to_string()).collect::<Vec<_>>().join(",");
        let long = "it''s \\\"a\\\" text \\\\ ".repeat(20_000);
        let ands = |n: usize| format!("{}ID = 5{}", "(1 = 1 AND ".repeat(n), ")".repeat(n));
        for (sql, expected) in [
            (format!("SELECT * FROM wp_posts WHERE ID IN ({})", ids(600)), "reads posts"),
            (
                format!("SELECT * FROM wp_posts WHERE ID IN ({})", ids(60_000)),
                "unstable: a statement that cannot be read",
            ),
            (
                format!("/* a */ SELECT * FROM wp_posts WHERE ID IN ({})", ids(60_000)),
                "unstable: a statement that cannot be read",
            ),
            (format!("SELECT 1 FROM wp_posts WHERE {}ID = 5{}", "(".repeat(2_000), ")".repeat(2_000)), "reads posts/5"),
            (format!("SELECT 1 FROM wp_posts WHERE {}", ands(20)), "reads posts/5"),
            (format!("SELECT 1 FROM wp_posts WHERE {}", ands(5_000)), "reads posts"),
            (format!("{}1{}", "SELECT (".repeat(5_000), ")".repeat(5_000)), "reads *"),
            ("(".repeat(60_000), "reads"),
            (format!("SELECT * FROM wp_posts WHERE post_title = '{long}' AND ID = 5"), "reads posts/5"),
            ("SELECT * FROM wp_posts WHERE post_title = 'a".to_owned(), "unstable: a statement that cannot be read"),
            ("SELECT * FROM wp_posts WHERE ID = 5 /* a".to_owned(), "unstable: a comment that is executed"),
        ] {
            assert_eq!(read(&sql, &Clock::default()), expected, "{}", &sql[..60.min(sql.len())]);
        }
        for number in ["7", "07", "'7'"] {
            assert_eq!(
                read(&format!("SELECT * FROM wp_posts WHERE ID = {number}"), &Clock::default()),
                "reads posts/7"
            );
        }
        for number in ["7e1", "7.5", "-7", "0x7"] {
            assert_eq!(read(&format!("SELECT * FROM wp_posts WHERE ID = {number}"), &Clock::default()), "reads posts");
        }
    }

    #[test]
    fn statements_name_columns() {
        for (sql, expected) in [
            (
                "SELECT ID FROM wp_posts p WHERE p.post_type = 'a' ORDER BY post_date DESC LIMIT 0, 10",
                "id|p|post_date|post_type|wp_posts",
            ),
            ("SELECT COUNT( * ) FROM wp_posts WHERE `Post_Status` = 'b'", "post_status|wp_posts"),
            ("SELECT MAX(a) FROM wp_b b WHERE b.order = 1 AND b . /* x */ from = 2", "a|b|from|order|wp_b"),
            (
                "SELECT ID FROM wp_posts WHERE EXISTS (SELECT 1 FROM wp_b WHERE x = post_title)",
                "id|post_title|wp_b|wp_posts|x",
            ),
            ("SELECT * FROM wp_posts", ""),
            ("SELECT p.*, 1 FROM wp_posts p", ""),
            ("SELECT COUNT(DISTINCT a) * 2 FROM wp_b", ""),
            ("SELECT a FROM wp_b NATURAL JOIN wp_c", ""),
            ("SELECT `a b` FROM wp_b", "wp_b"),
            ("SELECT NOW()", ""),
        ] {
            let read = Read::of(sql, &Site::default(), &Clock::default(), &mut Variables::default());
            assert_eq!(read.columns.unwrap_or_default(), expected, "{sql}");
        }
        let many: Vec<String> = (0..=MAX_COLUMNS).map(|n| format!("c{n}")).collect();
        let sql = format!("SELECT {} FROM wp_b", many.join(","));
        let read = Read::of(&sql, &Site::default(), &Clock::default(), &mut Variables::default());
        assert_eq!(read.columns, None);
    }

    #[test]
    fn times_of_the_clock() {
        // 2026-11-27 14:00:00 UTC.
        let clock = Clock { start: 1_795_788_000, end: 1_795_788_002, offset: 3_600 };
        for (sql, expected) in [
            ("SELECT ID FROM wp_posts WHERE post_date < '2026-11-27 14:00:05'", "reads posts and the clock"),
            ("SELECT ID FROM wp_posts WHERE post_date < '2026-11-27 15:00:01'", "reads posts and the clock"),
            ("SELECT ID FROM wp_posts WHERE post_date < '2026-11-27 16:00:01'", "reads posts"),
            ("SELECT ID FROM wp_posts WHERE post_date < '2024-01-01 00:00:00'", "reads posts"),
            ("SELECT ID, 1795788001 FROM wp_posts", "unstable: the time in a statement"),
            ("SELECT ID FROM wp_posts WHERE ID < 1795788001", "reads posts and the clock"),
            ("SELECT ID FROM wp_posts WHERE ID < 1795788101", "reads posts"),
        ] {
            assert_eq!(read(sql, &clock), expected, "{sql}");
        }
    }
}
