//! Writes made by chance.

use super::{
    generator::Generator,
    schema::{TABLES, TERM, TEXTS},
};

impl Generator {
    /// A statement that writes, mostly to a table that another statement names. As with WordPress, a term has one row in `term_taxonomy`, and two users
    /// have different names.
    pub(super) fn write(&mut self, sql: &str) -> String {
        let named: Vec<_> = TABLES.iter().copied().filter(|(name, _)| sql.contains(name)).collect();
        let (name, columns) = if named.is_empty() || self.once_in(6) { self.one(TABLES) } else { self.one(&named) };
        let key = columns[0];
        let id = 1 + self.below(6);
        let is_unique =
            |column: &str| column == key || matches!(column, "user_login" | "term_id") || (name, column) == TERM;
        match self.below(10) {
            0..=3 => {
                let columns: Vec<&str> =
                    columns.iter().copied().filter(|column| is_unique(column) || !self.once_in(8)).collect();
                let values = columns.iter().map(|column| self.stored(name, column, id)).collect::<Vec<_>>().join(", ");
                format!("REPLACE INTO `{name}` (`{}`) VALUES ({values})", columns.join("`, `"))
            }
            4..=8 => {
                let column = self.one(columns);
                let value = self.stored(name, column, id);
                let all = if is_unique(column) || !self.once_in(5) {
                    format!(" WHERE `{key}` = {id}")
                } else {
                    String::new()
                };
                format!("UPDATE `{name}` SET `{column}` = {value}{all}")
            }
            _ => format!("DELETE FROM `{name}` WHERE `{key}` = {id}"),
        }
    }

    /// A value as it is stored in the row of a table with this number.
    fn stored(&mut self, table: &str, column: &str, id: usize) -> String {
        match column {
            _ if (table, column) == TERM => id.to_string(),
            "post_type" => self.one(&["'post'", "'page'", "'Page'", "'revision'"]).to_owned(),
            "post_status" => self.one(&["'publish'", "'draft'"]).to_owned(),
            "taxonomy" => self.one(&["'category'", "'post_tag'", "'Category'"]).to_owned(),
            "day" => self.one(&["'2026-01-01'", "'2026-01-02'", "NULL"]).to_owned(),
            "user_login" => format!(
                "'{}'",
                [["a", "A"], ["b", "B"], ["5", "5 "], ["c", "\u{e9}"], ["2", "2"], ["d", "d"]][id - 1][self.below(2)]
            ),
            "ID" | "id" | "option_id" | "meta_id" | "umeta_id" | "comment_ID" | "term_id" | "object_id" => {
                id.to_string()
            }
            "post_name" | "post_title" | "meta_key" | "meta_value" | "comment_author" | "name" | "description"
            | "option_name" | "option_value" | "autoload" | "key" | "value" | "end" | "kind" => {
                format!("'{}'", self.one(TEXTS).replace('\\', "\\\\").replace('\'', "''"))
            }
            _ => (1 + self.below(6)).to_string(),
        }
    }
}
