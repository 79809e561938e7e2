//! Reports about the WordPress whose database this server uses.

use anyhow::{Context as _, Result};

use super::output::{columns, say};
use crate::site::OpenSite;

/// Facts about a WordPress whose database this server uses: what its plugins may register that this server does not know.
pub(super) fn facts(site: &OpenSite) -> Result<Vec<[String; 2]>> {
    let site = site.site();
    let read = site.store.read_blocking(|db| {
        Ok((svc_store::posts::counts_by_type(db)?, svc_store::options::get(db, "active_plugins")?.unwrap_or_default()))
    });
    let (types, plugins) = read.context("cannot read the site")?;
    let mut facts = Vec::new();
    let plugins = plugin_files(&plugins.json());
    let names: Vec<&str> = plugins.iter().map(|file| file.split('/').next().unwrap_or_default()).collect();
    let list = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    facts.push(["active PHP plugins".to_owned(), list]);
    let unknown: Vec<String> = types
        .iter()
        .filter(|(name, _)| site.registries.types.get(name).is_none())
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    if !unknown.is_empty() {
        facts.push(["post types that only PHP registers".to_owned(), unknown.join(", ")]);
    }
    for (file, what) in
        [("object-cache.php", "object cache"), ("advanced-cache.php", "page cache"), ("db.php", "database")]
    {
        if site.content_dir.join(file).is_file() {
            facts.push(["drop-in".to_owned(), format!("{file} ({what})")]);
        }
    }
    Ok(facts)
}

/// The main files of active plugins, such as `akismet/akismet.php`.
fn plugin_files(active: &serde_json::Value) -> Vec<String> {
    let values: Vec<&serde_json::Value> = match active {
        serde_json::Value::Array(list) => list.iter().collect(),
        serde_json::Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    };
    values.into_iter().filter_map(|value| Some(value.as_str()?.to_owned())).collect()
}

/// Prints the facts.
pub(super) fn report(site: &OpenSite) -> Result<()> {
    let mut rows: Vec<Vec<String>> = facts(site)?.into_iter().map(|row| row.to_vec()).collect();
    let hint = "WordPress's plugins do not run here; set wordpress.upstream, or their data may be lost";
    rows.push(vec!["upstream".to_owned(), hint.to_owned()]);
    say("\nWordPress\n");
    say(columns(&rows).trim_end());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::plugin_files;

    #[test]
    fn active_plugins_are_a_list_or_an_object() {
        assert_eq!(plugin_files(&serde_json::json!({"0": "a/a.php", "2": "b.php", "3": 1})), ["a/a.php", "b.php"]);
        assert_eq!(plugin_files(&serde_json::json!(["a.php"])), ["a.php"]);
    }
}
