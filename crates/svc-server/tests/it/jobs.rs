//! The list of background jobs in the documentation.

use std::{collections::BTreeSet, path::Path};

const PAGE: &str = include_str!("../../../../docs/server.md");

/// The names of all jobs in the sources of the crates, without those of tests.
fn jobs_of_sources() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !["target", "tests", "examples"].contains(&&*name) {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let text = std::fs::read_to_string(&path).unwrap();
                let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
                if ["Job for ", "Courier for ", "RunCounts", "SearchIndexer"].iter().any(|part| code.contains(part)) {
                    let before = [
                        "fn name(&self) -> &'static str {\n        \"",
                        "const JOB: &'static str = \"",
                        // Threads with the state of a job.
                        "_JOB: &str = \"",
                    ];
                    let found = before.iter().flat_map(|before| code.split(before).skip(1));
                    names.extend(found.map(|rest| rest.split('"').next().unwrap().to_owned()));
                }
            }
        }
    }
    names
}

#[test]
fn the_list_of_background_jobs_is_complete() {
    let section = PAGE.split("\n## ").find(|section| section.starts_with("Background jobs\n")).unwrap();
    let first_cells = section.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let listed: BTreeSet<String> = first_cells
        .flat_map(|cell| cell.trim_end_matches(" *").split(", ").map(|name| name.trim_matches('`').to_owned()))
        .collect();
    assert_eq!(listed, jobs_of_sources());
}
