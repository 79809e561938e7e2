//! A commented `svc.toml` with every setting, generated from the table of settings.

use std::collections::HashSet;

use super::settings::{CONFIG, SETTINGS, Setting};

/// Width of comment lines.
const WIDTH: usize = 96;

/// The file: every setting is commented out, with its help and its default or a placeholder.
pub fn template() -> String {
    let mut text = String::from(
        "# Settings of svc-server. Remove the # in front of a setting to change it.\n\
         # `svc-server config` prints the settings in effect, and `svc-server config check` validates this file.\n",
    );
    // Keys without a table come first: below a heading they would belong to its table.
    let mut tables = vec![""];
    tables.extend(SETTINGS.iter().map(table_of));
    let mut seen = HashSet::new();
    for table in tables.into_iter().filter(|table| seen.insert(*table)) {
        if !table.is_empty() {
            text.push_str(&format!("\n[{table}]\n"));
        }
        for setting in SETTINGS.iter().filter(|s| s.key != CONFIG && table_of(s) == table) {
            text.push('\n');
            for line in wrapped(setting.help) {
                text.push_str(&format!("# {line}\n"));
            }
            let name = setting.key.rsplit('.').next().unwrap_or_default();
            text.push_str(&format!("#{name} = {}\n", value(setting)));
        }
    }
    text
}

/// The table of a setting; empty if it has none.
fn table_of(setting: &Setting) -> &'static str {
    setting.key.split_once('.').map_or("", |(table, _)| table)
}

/// The default as a TOML value, or the placeholder as a string.
fn value(setting: &Setting) -> String {
    match setting.default {
        Some(text) if text.parse::<i64>().is_ok() || text == "true" || text == "false" => text.to_owned(),
        Some("") if setting.metavar == "LIST" => "[]".to_owned(),
        Some(text) => format!("{text:?}"),
        None => format!("{:?}", setting.metavar),
    }
}

/// Lines of at most [`WIDTH`] characters, broken between words.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, FILE, Sources};

    #[test]
    fn the_defaults_of_the_template_are_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        let load = || Config::load(&Sources { folder: folder.path().to_owned(), ..Sources::default() }).unwrap();
        let defaults = load().shown();
        // As it is, the file sets nothing.
        std::fs::write(folder.path().join(FILE), template()).unwrap();
        assert_eq!(load().shown(), defaults);
        // With every setting that has a default, except those that require others.
        let optional: Vec<&str> = SETTINGS.iter().filter(|s| s.default.is_none()).map(|s| s.key).collect();
        let mut table = String::new();
        let mut set = 0;
        let whole = template();
        let lines = whole.lines().map(|line| {
            if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
                table = format!("{name}.");
            }
            let key = line.strip_prefix('#').filter(|l| !l.starts_with(' ')).and_then(|l| l.split(" = ").next());
            match key.map(|key| format!("{table}{key}")) {
                Some(key) if !optional.contains(&key.as_str()) && !key.starts_with("wordpress.") => {
                    set += 1;
                    line[1..].to_owned()
                }
                _ => line.to_owned(),
            }
        });
        let text = lines.collect::<Vec<_>>().join("\n");
        std::fs::write(folder.path().join(FILE), text).unwrap();
        let values = |shown: Vec<super::super::Shown>| shown.into_iter().map(|s| s.value).collect::<Vec<_>>();
        // The data folder is relative to the file's folder, as the default is to the working folder.
        assert_eq!(values(load().shown()), values(defaults));
        assert!(set > 20, "{set}");
    }
}
