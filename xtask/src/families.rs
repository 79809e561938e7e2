//! Imports between the route families of `svc-controllers`: a family is a folder, independent of all others but those listed here.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::Result;

use crate::imports::Imports;

/// The folder of the families.
const FAMILIES: &str = "crates/svc-controllers/src";

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
    let src = root.join(FAMILIES);
    let is_folder = |name: &&String| src.join(name).is_dir();
    let mut families: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, targets) in Imports::of_crate(&src)?.edges {
        if let Some(family) = from.first().filter(is_folder) {
            let others = targets.iter().filter_map(|to| to.first()).filter(is_folder).filter(|other| *other != family);
            families.entry(family.clone()).or_default().extend(others.cloned());
        }
    }
    Ok(compare(&families, BUILT_ON))
}

/// Faults of the families, each with the families that it imports.
fn compare(families: &BTreeMap<String, BTreeSet<String>>, allowed: &[(&str, &[&str])]) -> Vec<String> {
    let mut faults = Vec::new();
    for (family, imported) in families {
        let others = allowed.iter().find(|(name, _)| name == family).map_or(&[][..], |(_, others)| others);
        for other in imported.iter().filter(|other| !others.contains(&other.as_str())) {
            faults.push(format!("{FAMILIES}/{family}: may not import the family {other}: move what both need up"));
        }
    }
    for (family, others) in allowed {
        let imported = families.get(*family);
        for other in others.iter().filter(|other| !imported.is_some_and(|set| set.contains(**other))) {
            faults.push(format!("xtask/src/families.rs: {family} does not import {other}: remove it from the table"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_import_only_what_the_table_lists() {
        let set = |name: &str| BTreeSet::from([name.to_owned()]);
        let families = BTreeMap::from([("media".to_owned(), set("posts")), ("posts".to_owned(), set("media"))]);
        let faults = compare(&families, &[("media", &["posts", "terms"])]);
        assert_eq!(faults.len(), 2, "{faults:?}");
        assert!(faults[0].contains("posts: may not import the family media"), "{faults:?}");
        assert!(faults[1].contains("media does not import terms"), "{faults:?}");
    }
}
