//! The effects of statements in the log. With row events, only definitions of tables and the like are logged as statements.

/// A table that a statement names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableName {
    /// `None` for the default schema.
    pub(super) schema: Option<String>,
    pub(super) table: String,
}

/// The effect of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Begins a transaction.
    Begin,
    /// Ends a transaction.
    End,
    /// Commits an XA transaction whose changes are elsewhere in the log.
    CommitPrepared,
    /// No data.
    None,
    /// All rows of these tables.
    Tables(Vec<TableName>),
    /// A whole schema.
    Schema(String),
    /// It is not known what.
    Unknown,
}

/// The effect of a statement.
pub(super) fn effect(sql: &str) -> Effect {
    let mut words = Tokens { rest: sql };
    let mut keyword = || words.next().and_then(Token::keyword).unwrap_or_default();
    let first = keyword();
    match first.as_str() {
        "" if Tokens { rest: sql }.next().is_none() => Effect::None,
        "BEGIN" => Effect::Begin,
        "START" => Effect::Begin,
        "COMMIT" => Effect::End,
        "ROLLBACK" => match keyword().as_str() {
            "" | "WORK" => Effect::End,
            _ => Effect::None,
        },
        "SAVEPOINT" | "RELEASE" | "GRANT" | "REVOKE" | "ANALYZE" | "OPTIMIZE" | "FLUSH" => Effect::None,
        "XA" => match keyword().as_str() {
            "START" | "BEGIN" => Effect::Begin,
            "END" => Effect::None,
            "PREPARE" | "ROLLBACK" => Effect::End,
            "COMMIT" => Effect::CommitPrepared,
            _ => Effect::Unknown,
        },
        "SET" => match keyword().as_str() {
            "PASSWORD" | "DEFAULT" => Effect::None,
            _ => Effect::Unknown,
        },
        "CREATE" | "ALTER" | "DROP" | "RENAME" | "TRUNCATE" => definition(sql).unwrap_or(Effect::Unknown),
        _ => Effect::Unknown,
    }
}

/// The effect of a definition. `None` if it is not clear.
fn definition(sql: &str) -> Option<Effect> {
    let mut tokens = Tokens { rest: sql }.peekable();
    let verb = tokens.next()?.keyword()?;
    if verb == "TRUNCATE" {
        tokens.next_if(|token| token.is("TABLE"));
        return Some(Effect::Tables(vec![table(&mut tokens)?]));
    }
    // Words before the kind of what is defined.
    let modifiers = ["OR", "REPLACE", "ONLINE", "OFFLINE", "IGNORE", "UNIQUE", "FULLTEXT", "SPATIAL"];
    while tokens.next_if(|token| modifiers.iter().any(|word| token.is(word))).is_some() {}
    match tokens.next()?.keyword()?.as_str() {
        "TEMPORARY" => return Some(Effect::None),
        "TABLE" | "TABLES" => {}
        "USER" | "ROLE" | "TRIGGER" | "EVENT" | "SERVER" => return Some(Effect::None),
        "DATABASE" | "SCHEMA" => {
            skip_conditions(&mut tokens);
            return Some(Effect::Schema(tokens.next()?.name()?));
        }
        "INDEX" => {
            tokens.find(|token| token.is("ON"))?;
            return Some(Effect::Tables(vec![table(&mut tokens)?]));
        }
        _ => return None,
    }
    skip_conditions(&mut tokens);
    let mut tables = vec![table(&mut tokens)?];
    match verb.as_str() {
        "DROP" | "RENAME" => {
            while let Some(token) = tokens.next() {
                match &token {
                    Token::Symbol(',') => tables.push(table(&mut tokens)?),
                    _ if token.is("TO") => tables.push(table(&mut tokens)?),
                    _ if token.is("RESTRICT") || token.is("CASCADE") => {}
                    _ if token.is("WAIT") || token.is("NOWAIT") || matches!(token, Token::Other) => {}
                    Token::Symbol(';') => {}
                    _ => return None,
                }
            }
        }
        "ALTER" => {
            while let Some(token) = tokens.next() {
                if token.is("RENAME") {
                    let column = ["COLUMN", "INDEX", "KEY"];
                    if tokens.peek().is_some_and(|next| column.iter().any(|word| next.is(word))) {
                        continue;
                    }
                    while tokens.next_if(|next| next.is("TO") || next.is("AS") || *next == Token::Symbol('=')).is_some()
                    {
                    }
                    tables.push(table(&mut tokens)?);
                } else if token.is("WITH") && tokens.next_if(|next| next.is("TABLE")).is_some() {
                    tables.push(table(&mut tokens)?);
                }
            }
        }
        _ => {}
    }
    Some(Effect::Tables(tables))
}

type Peekable<'s> = std::iter::Peekable<Tokens<'s>>;

/// Skips `IF EXISTS`, `WAIT 5` and the like.
fn skip_conditions(tokens: &mut Peekable<'_>) {
    let skipped = ["IF", "NOT", "EXISTS", "NOWAIT"];
    loop {
        if tokens.next_if(|token| token.is("WAIT")).is_some() {
            tokens.next();
        } else if tokens.next_if(|token| skipped.iter().any(|word| token.is(word))).is_none() {
            return;
        }
    }
}

fn table(tokens: &mut Peekable<'_>) -> Option<TableName> {
    let first = tokens.next()?.name()?;
    if tokens.next_if(|token| *token == Token::Symbol('.')).is_none() {
        skip_conditions(tokens);
        return Some(TableName { schema: None, table: first });
    }
    let table = tokens.next()?.name()?;
    skip_conditions(tokens);
    Some(TableName { schema: Some(first), table })
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// A name in backticks or double quotes.
    Quoted(String),
    Symbol(char),
    /// A text or a number.
    Other,
}

impl Token {
    fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(text) if text.eq_ignore_ascii_case(word))
    }

    fn keyword(self) -> Option<String> {
        if let Token::Word(word) = self { Some(word.to_ascii_uppercase()) } else { None }
    }

    fn name(self) -> Option<String> {
        if let Token::Word(name) | Token::Quoted(name) = self { Some(name) } else { None }
    }
}

/// The tokens of a statement, without comments. `/*! … */`, which only some servers execute, is no comment.
struct Tokens<'s> {
    rest: &'s str,
}

impl Tokens<'_> {
    /// The text up to `quote`, where doubled quotes are one.
    fn quoted(&mut self, quote: char, escapes: bool) -> String {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1).peekable();
        let mut end = self.rest.len();
        while let Some((at, char)) = chars.next() {
            if escapes && char == '\\' {
                chars.next();
            } else if char != quote {
                text.push(char);
            } else if chars.next_if(|(_, next)| *next == quote).is_some() {
                text.push(quote);
            } else {
                end = at + 1;
                break;
            }
        }
        self.rest = &self.rest[end..];
        text
    }

    fn skip_to(&mut self, end: &str) {
        self.rest = self.rest.find(end).map_or("", |at| &self.rest[at + end.len()..]);
    }
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            self.rest = self.rest.trim_start();
            let rest = self.rest;
            let executed = ["/*!", "/*M!"].iter().find_map(|start| rest.strip_prefix(start));
            if let Some(executed) = executed {
                self.rest = executed.trim_start_matches(|c: char| c.is_ascii_digit());
            } else if rest.starts_with("/*") {
                self.skip_to("*/");
            } else if let Some(rest) = rest.strip_prefix("*/") {
                self.rest = rest;
            } else if rest.starts_with('#') || rest.starts_with("-- ") {
                self.skip_to("\n");
            } else {
                break;
            }
        }
        let first = self.rest.chars().next()?;
        Some(match first {
            '`' | '"' => Token::Quoted(self.quoted(first, false)),
            '\'' => {
                self.quoted(first, true);
                Token::Other
            }
            _ if is_word(first) => {
                let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                if word.bytes().all(|b| b.is_ascii_digit()) { Token::Other } else { Token::Word(word.to_owned()) }
            }
            _ => {
                self.rest = &self.rest[first.len_utf8()..];
                Token::Symbol(first)
            }
        })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(names: &str) -> Effect {
        let name = |name: &str| match name.split_once('.') {
            Some((schema, table)) => TableName { schema: Some(schema.to_owned()), table: table.to_owned() },
            None => TableName { schema: None, table: name.to_owned() },
        };
        Effect::Tables(names.split(' ').map(name).collect())
    }

    #[test]
    fn statements_name_the_tables_that_they_change() {
        for (sql, expected) in [
            ("BEGIN", Effect::Begin),
            ("COMMIT", Effect::End),
            ("ROLLBACK", Effect::End),
            ("ROLLBACK TO SAVEPOINT `a`", Effect::None),
            ("rollback to a", Effect::None),
            ("# Dummy event", Effect::None),
            ("", Effect::None),
            ("XA START X'61',X'',1", Effect::Begin),
            ("XA COMMIT X'61',X'',1", Effect::CommitPrepared),
            ("TRUNCATE wp_posts", tables("wp_posts")),
            ("truncate table wp.wp_posts", tables("wp.wp_posts")),
            ("TRUNCATE `wp`.`wp_posts`", tables("wp.wp_posts")),
            ("DROP TABLE IF EXISTS `a`,`b`.`c` /* generated by server */", tables("a b.c")),
            ("DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `a`", Effect::None),
            ("CREATE TEMPORARY TABLE a (b int)", Effect::None),
            ("CREATE OR REPLACE TABLE a LIKE b", tables("a")),
            ("create table if not exists a(b int)", tables("a")),
            ("RENAME TABLE a TO b, c TO d.e", tables("a b c d.e")),
            ("ALTER TABLE a ADD COLUMN `rename` varchar(20) DEFAULT 'RENAME TO x'", tables("a")),
            ("ALTER /* why */ IGNORE TABLE a RENAME COLUMN x TO y, RENAME TO b", tables("a b")),
            ("ALTER TABLE IF EXISTS a WAIT 5 RENAME b.c", tables("a b.c")),
            ("ALTER TABLE a EXCHANGE PARTITION p WITH TABLE b", tables("a b")),
            ("CREATE UNIQUE INDEX x ON a (b)", tables("a")),
            ("DROP INDEX `x` ON `b`.`a`", tables("b.a")),
            ("DROP DATABASE IF EXISTS `x`", Effect::Schema("x".to_owned())),
            ("CREATE DATABASE x", Effect::Schema("x".to_owned())),
            ("CREATE USER a@b IDENTIFIED BY 'x'", Effect::None),
            ("GRANT ALL ON *.* TO a", Effect::None),
            ("CREATE DEFINER=`a`@`b` TRIGGER x", Effect::Unknown),
            ("CREATE VIEW a AS SELECT 1", Effect::Unknown),
            ("INSERT INTO a VALUES (1)", Effect::Unknown),
            ("/* a */ UPDATE a SET b = 1", Effect::Unknown),
            ("DROP TABLE 'a", Effect::Unknown),
            ("DROP TABLE", Effect::Unknown),
            ("'", Effect::Unknown),
        ] {
            assert_eq!(effect(sql), expected, "{sql}");
        }
    }
}
