//! Runs all test vectors in the project's `tests/vectors/`.

use std::{collections::BTreeMap, path::Path};

use svc_testkit::vectors::{Tally, run_file};

#[test]
fn functions_return_the_recorded_values() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no vectors in {}", folder.display());
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for file in &files {
        run_file(file, &mut tallies).unwrap();
    }
    let failures: Vec<&String> = tallies.values().flat_map(|tally| &tally.failures).collect();
    let passed: usize = tallies.values().map(|tally| tally.passed).sum();
    assert!(
        failures.is_empty(),
        "{} of {} failed:\n{:#?}",
        failures.len(),
        passed + failures.len(),
        &failures[..failures.len().min(20)]
    );
    assert!(passed > 0);
}
