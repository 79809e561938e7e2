//! Imports between the route families of `svc-controllers`: a family is a folder, independent of all others but those listed here.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::{Context, Result};

use crate::rust_source::{Kind, pieces};

/// The folder of the families.
const FAMILIES: &str = "crates/svc-controllers/src";

/// Folders below the families: parts that every family may import.
const SHARED: &[&str] = &["registries"];

/// Families that are built on others: their items are posts or terms with further fields, or they share their routes.
#[rustfmt::skip]
const BUILT_ON: &[(&str, &[&str])] = &[
    ("application_passwords", &["users"]),
    ("block_directory", &["plugins"]),
    ("fonts", &["posts"]),
    ("global_styles", &["revisions"]),
    ("media", &["posts"]),
    ("menus", &["posts", "terms"]),
    ("revisions", &["posts", "menus"]),
    ("search", &["posts", "terms"]),
    ("templates", &["revisions"]),
];

/// Imports that [`BUILT_ON`] does not allow, and rows of it that no import needs.
pub(crate) fn faults(root: &Path) -> Result<Vec<String>> {
    let folder = root.join(FAMILIES);
    let mut sources: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot list {FAMILIES}"))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let mut texts = Vec::new();
            read_all(&entry.path(), &mut texts)?;
            sources.insert(entry.file_name().to_string_lossy().into_owned(), texts);
        }
    }
    let is_shared = |name: &String| SHARED.contains(&name.as_str());
    let shared: BTreeMap<_, _> = sources.extract_if(.., |name, _| is_shared(name)).collect();
    let mut faults = compare(&sources, BUILT_ON);
    for (name, texts) in &shared {
        let imports: BTreeSet<String> = texts.iter().flat_map(|text| roots(text)).collect();
        let families = imports.iter().filter(|import| sources.contains_key(*import));
        faults.extend(families.map(|family| format!("{FAMILIES}/{name}: may not import the family {family}")));
    }
    Ok(faults)
}

fn read_all(folder: &Path, texts: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            read_all(&path, texts)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            texts.push(std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?);
        }
    }
    Ok(())
}

fn compare(sources: &BTreeMap<String, Vec<String>>, allowed: &[(&str, &[&str])]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut needed = BTreeSet::new();
    for (family, texts) in sources {
        let imports: BTreeSet<String> = texts.iter().flat_map(|text| roots(text)).collect();
        for other in imports.iter().filter(|name| *name != family && sources.contains_key(*name)) {
            let is_allowed = allowed.iter().any(|(name, others)| name == family && others.contains(&other.as_str()));
            if !is_allowed {
                faults.push(format!("{FAMILIES}/{family}: may not import the family {other}: move what both need up"));
            }
            needed.insert((family.clone(), other.clone()));
        }
    }
    for (family, others) in allowed {
        for other in *others {
            if !needed.contains(&((*family).to_owned(), (*other).to_owned())) {
                faults
                    .push(format!("xtask/src/families.rs: {family} does not import {other}: remove it from the table"));
            }
        }
    }
    faults
}

/// The first names of all paths that begin with `crate::`.
fn roots(source: &str) -> Vec<String> {
    let code: String = pieces(source).into_iter().filter(|p| p.kind == Kind::Code).map(|p| p.text).collect();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let is_word = code[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        if !is_word {
            found.extend(names_of_tree(&code[at + "crate::".len()..]));
        }
    }
    found
}

/// The name that a path begins with, or the names at the top of a list in braces.
fn names_of_tree(rest: &str) -> Vec<String> {
    let Some(list) = rest.strip_prefix('{') else { return vec![first_name(rest)] };
    let (mut names, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                names.push(first_name(list[begin..at].trim()));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(first_name(list[begin..at].trim()));
                begin = at + 1;
            }
            _ => {}
        }
    }
    names.retain(|name| !name.is_empty());
    names
}

fn first_name(path: &str) -> String {
    path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_of_imports_and_paths() {
        for (source, expected) in [
            ("use crate::posts::Posts;", &["posts"][..]),
            (
                "use crate::{\n    RestSite, posts::{Posts, params::{A, B}},\n    terms,\n};",
                &["RestSite", "posts", "terms"],
            ),
            ("fn f() { crate::media::x(); }", &["media"]),
            ("// crate::media\nlet text = \"crate::posts\";", &[]),
            ("use my_crate::posts;", &[]),
        ] {
            assert_eq!(roots(source), expected, "{source}");
        }
    }

    #[test]
    fn families_import_only_what_the_table_lists() {
        let text = |s: &str| vec![s.to_owned()];
        let sources = BTreeMap::from([
            ("media".to_owned(), text("use crate::posts::Posts;")),
            ("posts".to_owned(), text("use crate::media::Media;")),
        ]);
        let faults = compare(&sources, &[("media", &["posts", "terms"])]);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].contains("posts: may not import the family media"), "{faults:?}");
        assert!(faults[1].contains("media does not import terms"), "{faults:?}");
    }
}
