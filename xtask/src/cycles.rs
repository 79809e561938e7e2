//! Import cycles inside crates: no more than three neighbouring files and folders may import each other in a circle.
//!
//! The children of a folder are its files and subfolders; a subfolder counts as one, with everything in it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use anyhow::Result;

use crate::{
    imports::{Imports, ModulePath},
    tidy,
};

/// The largest number of children of a folder that may import each other in a circle.
const LIMIT: usize = 3;

/// By child of a folder: the other children that it imports.
type Children = BTreeMap<String, BTreeSet<String>>;

/// The cycles of all crates that are larger than [`LIMIT`].
pub(crate) fn faults(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for folder in tidy::packages(root)? {
        let shown = folder.strip_prefix(root).unwrap_or(&folder).display().to_string();
        for (parent, cycle) in cycles(&Imports::of_crate(&folder.join("src"))?) {
            if cycle.len() > LIMIT {
                let place = [&[shown.clone(), "src".to_owned()], parent.as_slice()].concat().join("/");
                let names = cycle.into_iter().collect::<Vec<_>>().join(", ");
                faults.push(format!("{place}: these import each other in a circle: {names}; at most {LIMIT} may"));
            }
        }
    }
    Ok(faults)
}

/// The cycles among the children of each folder, with the folder.
fn cycles(imports: &Imports) -> Vec<(ModulePath, BTreeSet<String>)> {
    let mut folders: BTreeMap<ModulePath, Children> = BTreeMap::new();
    for (from, targets) in &imports.edges {
        for to in targets {
            let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            // A parent and its child are no neighbours.
            if let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) {
                let children = folders.entry(from[..shared].to_vec()).or_default();
                children.entry(a.clone()).or_default().insert(b.clone());
            }
        }
    }
    let mut found = Vec::new();
    for (folder, children) in folders {
        found.extend(components(&children).into_iter().map(|cycle| (folder.clone(), cycle)));
    }
    found
}

/// The largest sets of at least two children that all reach each other.
fn components(children: &Children) -> BTreeSet<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        children.keys().map(|child| (child, reached_from(child, children))).collect();
    let reaches = |a: &String, b: &String| reached.get(a).is_some_and(|set| set.contains(b));
    let around = |child: &String| -> BTreeSet<String> {
        children.keys().filter(|other| reaches(child, other) && reaches(other, child)).cloned().collect()
    };
    children.keys().map(around).filter(|cycle| cycle.len() > 1).collect()
}

/// The children that a child imports, directly or through others.
fn reached_from<'a>(child: &'a String, children: &'a Children) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![child];
    while let Some(next) = waiting.pop() {
        waiting.extend(children.get(next).into_iter().flatten().filter(|other| reached.insert(*other)));
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_found_among_the_children_of_a_folder() {
        for (edges, expected) in [
            ("a>b b>c", ""),
            ("a>b b>a c>a", ": a b"),
            ("a/x>b b>a/y", ": a b"),
            // A parent and its children, and files of different folders that import each other within one child.
            ("a>a/x a/x>a", ""),
            ("a/x>a/y a/y>a/z a/z>a/x", "a: x y z"),
            ("a>b b>a c>d d>c", ": a b|: c d"),
        ] {
            let mut imports = Imports::default();
            let path = |text: &str| text.split('/').map(str::to_owned).collect::<ModulePath>();
            for edge in edges.split(' ') {
                let (from, to) = edge.split_once('>').unwrap();
                imports.edges.entry(path(from)).or_default().insert(path(to));
            }
            let line = |(folder, cycle): (ModulePath, BTreeSet<String>)| {
                format!("{}: {}", folder.join("/"), cycle.into_iter().collect::<Vec<_>>().join(" "))
            };
            let found: Vec<String> = cycles(&imports).into_iter().map(line).collect();
            assert_eq!(found.join("|"), expected, "{edges}");
        }
    }
}
