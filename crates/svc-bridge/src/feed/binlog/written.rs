//! The names of the parts that a transaction has changed, in bounded memory.

use std::collections::{HashMap, HashSet};

use crate::{
    names::{Name, SESSIONS},
    rows::Image,
};

/// Most rows and groups of a table that are stored; with more, the whole table has changed.
const PARTS: usize = 50_000;

/// Most images of rows of a table; with more, they are rows of which nothing is known.
const IMAGES: usize = 500;

/// Most tables that are stored; with more, everything has changed.
const TABLES: usize = 2_000;

#[derive(Debug, Default)]
struct Table {
    whole: bool,
    rows: HashSet<Box<str>>,
    groups: HashSet<Box<str>>,
    images: HashSet<Image>,
}

/// The changes of a transaction so far.
#[derive(Debug, Default)]
pub(super) struct Written {
    all: bool,
    tables: HashMap<Box<str>, Table>,
}

impl Written {
    pub(super) fn all(&mut self) {
        self.all = true;
        self.tables.clear();
    }

    pub(super) fn table(&mut self, table: &str) {
        if let Some(table) = self.entry(table) {
            *table = Table { whole: true, ..Table::default() };
        }
        // Rows of user metadata have one of two names.
        if table == "usermeta" {
            self.table(SESSIONS);
        }
    }

    pub(super) fn row(&mut self, table: &str, id: &str) {
        self.part(table, id, |table| &mut table.rows);
    }

    pub(super) fn group(&mut self, table: &str, value: &str) {
        self.part(table, value, |table| &mut table.groups);
    }

    pub(super) fn image(&mut self, table: &str, image: Image) {
        let Some(table) = self.entry(table).filter(|table| !table.whole) else { return };
        if table.images.len() < IMAGES {
            table.images.insert(image);
        } else if table.images.len() == IMAGES {
            table.images.insert(Image::default());
        }
    }

    /// Whether nothing narrower than the whole table can be added.
    pub(super) fn has_whole(&self, table: &str) -> bool {
        self.all || self.tables.get(table).is_some_and(|table| table.whole)
    }

    fn part(&mut self, name: &str, part: &str, parts: impl Fn(&mut Table) -> &mut HashSet<Box<str>>) {
        let Some(table) = self.entry(name).filter(|table| !table.whole) else { return };
        if parts(table).contains(part) {
            return;
        }
        if table.rows.len() + table.groups.len() >= PARTS {
            self.table(name);
        } else {
            parts(table).insert(part.into());
        }
    }

    fn entry(&mut self, table: &str) -> Option<&mut Table> {
        if !self.all && !self.tables.contains_key(table) {
            if self.tables.len() >= TABLES {
                self.all();
            } else {
                self.tables.insert(table.into(), Table::default());
            }
        }
        self.tables.get_mut(table)
    }

    /// The names, which are removed.
    pub(super) fn take(&mut self) -> Vec<Name> {
        if std::mem::take(&mut self.all) {
            return vec![Name::All];
        }
        let mut names = Vec::new();
        for (name, table) in self.tables.drain() {
            // As the connector names tables.
            let name: Box<str> = name.to_lowercase().into();
            if table.whole {
                names.push(Name::Table(name));
                continue;
            }
            names.extend(table.rows.into_iter().map(|id| Name::row(name.clone(), id)));
            names.extend(table.groups.into_iter().map(|value| Name::group(name.clone(), value)));
            names.extend(table.images.into_iter().map(|image| Name::Image(name.clone(), image)));
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::Value;

    #[test]
    fn many_parts_become_the_whole_table() {
        let mut written = Written::default();
        for id in 0..PARTS {
            written.row("posts", &id.to_string());
            written.row("posts", "1");
        }
        assert_eq!(written.take().len(), PARTS);
        for id in 0..=PARTS {
            written.row("usermeta", &id.to_string());
        }
        written.row("usermeta", "x");
        let mut names = written.take();
        names.sort();
        assert_eq!(names, [Name::table(SESSIONS), Name::table("usermeta")]);
        for table in 0..=TABLES {
            written.table(&table.to_string());
        }
        written.row("posts", "1");
        assert_eq!(written.take(), [Name::All]);
        assert!(written.take().is_empty());
        for id in 0..IMAGES as i128 + 10 {
            written.image("a", Image::new([("b".into(), Value::Number(id))]));
        }
        let names = written.take();
        assert!(names.len() == IMAGES + 1 && names.contains(&Name::Image("a".into(), Image::default())));
    }
}
