//! Requirements for activating a plugin.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};
use svc_schema::Error;

use crate::{errors::plugins as errors, plugins::item::PluginItem};

/// The WordPress version whose REST API and tables this server is compatible with.
const WORDPRESS: &str = "7.1.4";

/// The PHP version that requirements are compared with. The server runs no PHP, and a PHP installation next to it may
/// have another version.
const PHP: &str = "8.5";

/// Checks whether a plugin can be activated, given all plugins.
///
/// # Errors
/// If it requires a newer WordPress or PHP, or another plugin that is not active.
pub fn check(item: &PluginItem, all: &[PluginItem]) -> Result<(), Error> {
    let newer = |needed: &str, here: &str| !needed.is_empty() && compare(needed, here) == Ordering::Greater;
    let (wp, php) = (newer(&item.plugin.requires_wp, WORDPRESS), newer(&item.plugin.requires_php, PHP));
    if wp || php {
        return Err(errors::incompatible(wp, php));
    }
    let (mut absent, mut inactive) = (Map::new(), Map::new());
    for slug in &item.plugin.requires_plugins {
        match all.iter().find(|other| other.plugin.slug() == slug) {
            None => drop(absent.insert(slug.clone(), slug.as_str().into())),
            Some(other) if !other.active => {
                drop(inactive.insert(slug.clone(), other.display_texts.name.as_str().into()))
            }
            Some(_) => {}
        }
    }
    let mut missing = Map::new();
    for (kind, slugs) in [("not_installed", absent), ("inactive", inactive)] {
        if !slugs.is_empty() {
            missing.insert(kind.to_owned(), Value::Object(slugs));
        }
    }
    if missing.is_empty() { Ok(()) } else { Err(errors::missing_dependencies(json!(missing))) }
}

/// Compares two versions part by part. Words sort before numbers, as in pre-releases.
fn compare(a: &str, b: &str) -> Ordering {
    let parts = |text: &str| -> Vec<Option<u64>> {
        text.split(['.', '-', '+', '_']).map(|part| part.trim().parse().ok()).collect()
    };
    let (a, b) = (parts(a), parts(b));
    let at = |parts: &[Option<u64>], i: usize| parts.get(i).copied().unwrap_or(Some(0));
    (0..a.len().max(b.len())).map(|i| at(&a, i).cmp(&at(&b, i))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_part_by_part() {
        for (a, b, expected) in [
            ("7.1.4", "7.1.4", Ordering::Equal),
            ("7.1", "7.1.0", Ordering::Equal),
            ("6.10", "6.9", Ordering::Greater),
            ("99.0", "7.1.4", Ordering::Greater),
            ("7.2-beta1", "7.2", Ordering::Less),
            ("8", "8.5", Ordering::Less),
        ] {
            assert_eq!(compare(a, b), expected, "{a} {b}");
        }
    }
}
