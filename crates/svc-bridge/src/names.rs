//! Names for parts of the database: what a response depended on, and what a write changes.

use std::fmt;

use crate::{
    rows::{Condition, Image},
    sql::named,
};

/// A part of the database.
///
/// As text: `*`, `posts`, `posts/5`, `posts?page`, `options^a`, `posts#post_name=a`. Tables are named without the prefix of the site's tables. Rows are named by the columns
/// of [`IDENTITIES`]; only the tables listed there have rows and groups. Revisions are also grouped by their post: `posts?revision/5`.
///
/// The connector writes names of tables and texts in lower case, and texts without spaces at the end, since the database compares them so. A
/// text with other characters than ASCII names the whole table. Revisions have a further group by the post that they belong to,
/// `posts?revision/5`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name {
    /// Everything.
    All,
    /// All rows of a table.
    Table(Box<str>),
    /// The rows of a table with this identity.
    Row(Box<str>, Box<str>),
    /// The rows of a table with this value in the column that groups them.
    Group(Box<str>, Box<str>),
    /// The rows of a table whose identity begins with this text. Only reads have such names.
    Start(Box<str>, Box<str>),
    /// The rows of a table for which a condition is true. Only reads have such names.
    Where(Box<str>, Condition),
    /// A row of a table before or after a change, by its values. Only changes have such names, besides those of the row and its group.
    Image(Box<str>, Image),
}

/// The columns that name the rows of a table.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// Name of the table, without the prefix.
    pub table: &'static str,
    /// The column of [`Name::Row`]: the id of the row, or of the object that it belongs to.
    pub row: &'static str,
    /// The column of [`Name::Group`].
    pub group: Option<&'static str>,
}

/// The columns that name rows, for WordPress's own tables. The connector has the same table.
pub const IDENTITIES: [Identity; 11] = [
    Identity { table: "posts", row: "ID", group: Some("post_type") },
    Identity { table: "postmeta", row: "post_id", group: None },
    Identity { table: "comments", row: "comment_ID", group: Some("comment_post_ID") },
    Identity { table: "commentmeta", row: "comment_id", group: None },
    Identity { table: "terms", row: "term_id", group: None },
    Identity { table: "termmeta", row: "term_id", group: None },
    Identity { table: "term_taxonomy", row: "term_taxonomy_id", group: Some("taxonomy") },
    Identity { table: "term_relationships", row: "object_id", group: Some("term_taxonomy_id") },
    Identity { table: "users", row: "ID", group: None },
    Identity { table: "usermeta", row: "user_id", group: None },
    Identity { table: "options", row: "option_name", group: Some("autoload") },
];

/// Rows of `usermeta` with this key are named [`SESSIONS`] instead, by user: each log-in writes one, and only credentials depend on them.
pub const SESSION_TOKENS: &str = "session_tokens";

/// The name of the rows of `usermeta` that hold sessions.
pub const SESSIONS: &str = "sessions";

/// The name of the slugs of posts: `slugs/about` is written with each post that has this slug before or afterwards. Only the connector's reports have such
/// names; the binary log has all values of rows.
pub const SLUGS: &str = "slugs";

/// Options with planned jobs. They change often, and hardly anybody reads them who reads all options that are loaded together, so they are in the
/// group [`JOB_OPTIONS`] instead.
pub const JOBS: [&str; 3] = ["cron", "_transient_doing_cron", "_transient_timeout_doing_cron"];

/// The group of options with planned jobs.
pub const JOB_OPTIONS: &str = "jobs";

impl Name {
    /// All rows of a table.
    pub fn table(table: impl Into<Box<str>>) -> Self {
        Name::Table(table.into())
    }

    /// The rows with this identity. Texts that the database compares as equal have the same name; where that is not known, the name is that
    /// of the table.
    pub fn row(table: impl Into<Box<str>>, id: impl fmt::Display) -> Self {
        let table = table.into();
        match compared(&id.to_string()) {
            Some(id) => Name::Row(table, id),
            None => Name::Table(table),
        }
    }

    /// The rows of a group; see [`row`](Self::row).
    pub fn group(table: impl Into<Box<str>>, value: impl fmt::Display) -> Self {
        let table = table.into();
        match compared(&value.to_string()) {
            Some(value) => Name::Group(table, value),
            None => Name::Table(table),
        }
    }

    /// The rows whose identity begins with a text; see [`row`](Self::row).
    pub fn start(table: impl Into<Box<str>>, text: impl fmt::Display) -> Self {
        let table = table.into();
        match compared(&text.to_string()) {
            Some(text) => Name::Start(table, text),
            None => Name::Table(table),
        }
    }

    /// Reads a name. Each text is a name; the empty one is [`Name::All`], so that nothing unknown is narrower than it should be.
    pub fn parse(text: &str) -> Self {
        match text.find(['/', '?', '^', '#']) {
            _ if matches!(text, "" | "*") => Name::All,
            None => Name::table(text),
            Some(at) => {
                let (table, rest) = (&text[..at], &text[at + 1..]);
                match text.as_bytes()[at] {
                    b'/' => Name::row(table, rest),
                    b'?' => Name::group(table, rest),
                    b'#' => Condition::parse(rest).map_or(Name::All, |condition| Name::Where(table.into(), condition)),
                    _ => Name::start(table, rest),
                }
            }
        }
    }

    /// The table; `None` for everything.
    pub fn table_name(&self) -> Option<&str> {
        match self {
            Name::All => None,
            Name::Table(table)
            | Name::Row(table, _)
            | Name::Group(table, _)
            | Name::Start(table, _)
            | Name::Where(table, _)
            | Name::Image(table, _) => Some(table),
        }
    }

    /// The same rows, of which only these columns are read: their names in lower case, between `|`. Single rows, options and the revisions of a post keep
    /// their names.
    pub(crate) fn of_columns(self, columns: &str) -> Self {
        if self.table_name() == Some("options") {
            return self;
        }
        let named = match &self {
            Name::Table(table) => format!("{table}#@{columns}"),
            Name::Where(..) => format!("{self}&@{columns}"),
            Name::Group(table, value) if !value.contains(['/', '%', '&', '|']) => {
                let identity = IDENTITIES.iter().find(|identity| identity.table == &**table);
                let Some(group) = identity.and_then(|identity| identity.group) else { return self };
                let mark = if value.parse::<u64>().is_ok() { ':' } else { '=' };
                format!("{table}#{}{mark}{value}&@{columns}", group.to_ascii_lowercase())
            }
            _ => return self,
        };
        Name::parse(&named)
    }

    /// Names for the rows that this condition is true for, for news that do not have the values of rows. `None` for other names.
    pub(crate) fn without_condition(&self) -> Option<Vec<Name>> {
        let Name::Where(table, condition) = self else { return None };
        if let Some(slugs) = condition.texts("post_name").filter(|_| &**table == "posts") {
            return Some(named(SLUGS, &slugs, |table, slug| Name::row(table, slug)));
        }
        let group = IDENTITIES.iter().find(|identity| identity.table == &**table).and_then(|identity| identity.group);
        let Some(values) = group.and_then(|group| condition.values(group)) else {
            return Some(vec![Name::Table(table.clone())]);
        };
        let mut names: Vec<Name> = values.into_iter().map(|value| Name::group(table.clone(), value)).collect();
        if &**table == "options" {
            names.push(Name::group(table.clone(), JOB_OPTIONS));
        }
        Some(names)
    }
}

/// A text as the collations of WordPress's tables compare it: without regard to case and to spaces at the end. `None` for texts with other
/// characters than those of ASCII, which may be equal to others.
pub(crate) fn compared(text: &str) -> Option<Box<str>> {
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    is_plain.then(|| text.trim_end_matches(' ').to_ascii_lowercase().into())
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::All => f.write_str("*"),
            Name::Table(table) => f.write_str(table),
            Name::Row(table, id) => write!(f, "{table}/{id}"),
            Name::Group(table, value) => write!(f, "{table}?{value}"),
            Name::Start(table, text) => write!(f, "{table}^{text}"),
            Name::Where(table, condition) => write!(f, "{table}#{condition}"),
            Name::Image(table, image) => write!(f, "{table} {image:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_they_are_read() {
        for (text, name) in [
            ("*", Name::All),
            ("posts", Name::table("posts")),
            ("posts/5", Name::row("posts", 5)),
            ("posts?page", Name::group("posts", "page")),
            ("options/a/b?c", Name::row("options", "a/b?c")),
            ("posts?a/b", Name::group("posts", "a/b")),
            ("options^a/b", Name::start("options", "a/b")),
            ("options/a^b", Name::row("options", "a^b")),
            ("posts/", Name::row("posts", "")),
            ("a#b=/?", Name::Where("a".into(), Condition::parse("b=/?").unwrap())),
        ] {
            assert_eq!(Name::parse(text), name);
            assert_eq!(name.to_string(), text);
        }
        assert_eq!((Name::parse(""), Name::parse("a#b")), (Name::All, Name::All));
        assert_eq!(Name::parse("options/Blog "), Name::parse("options/blog"));
        for (condition, names) in [
            ("posts#post_name=a|b&post_type=page|post", "slugs/a slugs/b"),
            ("posts#post_name:5", "posts"),
            ("posts#post_status=a&post_type=page|post", "posts?page posts?post"),
            ("posts#post_status=a&@id", "posts"),
            ("posts#@id", "posts"),
            ("options#autoload=yes", "options?yes options?jobs"),
            ("postmeta#meta_key=a", "postmeta"),
            ("comments#comment_approved=1&comment_post_id:5", "comments?5"),
            ("a#b=c", "a"),
        ] {
            let found = Name::parse(condition).without_condition().unwrap();
            assert_eq!(found, names.split(' ').map(Name::parse).collect::<Vec<_>>(), "{condition}");
        }
        assert_eq!(Name::row("options", "r\u{e9}sum\u{e9}"), Name::table("options"), "it may be equal to `resume`");
    }
}
