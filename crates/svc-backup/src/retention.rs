//! Deletes what no point in time within the retention needs.

use std::collections::HashSet;

use crate::catalog;
use crate::destination::Destination;
use crate::error::Result;
use crate::files;
use crate::names::{FILE_CONTENT, FILE_LISTS, LogName, SnapshotName};

/// Deletes snapshots and parts of the log that are not needed to restore times from `until` on, and what was never completed.
pub(crate) fn delete_database(destination: &dyn Destination, until: u64) -> Result<()> {
    destination.delete_incomplete()?;
    let all = catalog::generations(destination)?;
    // The newest snapshot from which `until` can be restored, and all later ones, are kept.
    let snapshots = || all.iter().flat_map(|generation| &generation.snapshots);
    let Some(oldest) = snapshots().map(|snapshot| snapshot.time).filter(|time| *time <= until).max() else {
        return Ok(());
    };
    let is_kept = |snapshot: &SnapshotName| snapshot.time >= oldest;
    for generation in &all {
        let from =
            generation.snapshots.iter().filter(|snapshot| is_kept(snapshot)).map(|snapshot| snapshot.index).min();
        // First what makes a snapshot count.
        let (mut first, mut then) = (Vec::new(), Vec::new());
        for key in &generation.keys {
            if let Some((snapshot, is_complete)) = SnapshotName::parse(key)
                && !is_kept(&snapshot)
            {
                if is_complete { &mut first } else { &mut then }.push(key.clone());
            } else if let Some(part) = LogName::parse(key) {
                // Parts of a generation without a snapshot yet may be those of the first one, which is being stored.
                let is_old = if part.last == 0 { generation.last_time() < oldest } else { part.last < oldest };
                if from.map_or(is_old, |from| part.index <= from) {
                    then.push(key.clone());
                }
            }
        }
        destination.delete_all(&first)?;
        destination.delete_all(&then)?;
    }
    Ok(())
}

/// Deletes lists of files that are not needed to restore times from `until` on, and content that no other list has.
pub(crate) fn delete_files(destination: &dyn Destination, until: u64) -> Result<()> {
    let lists = destination.list(FILE_LISTS)?;
    let time = |key: &String| files::list_time(key);
    let Some(oldest) = lists.iter().filter_map(time).filter(|time| *time <= until).max() else { return Ok(()) };
    let (old, kept): (Vec<&String>, Vec<&String>) = lists.iter().partition(|key| time(key).is_some_and(|t| t < oldest));
    if old.is_empty() {
        return Ok(());
    }
    let mut needed = HashSet::new();
    for key in kept {
        needed.extend(files::read_list(destination, key)?.into_iter().flat_map(|file| file.parts));
    }
    destination.delete_all(&old.into_iter().cloned().collect::<Vec<_>>())?;
    let mut content = destination.list(FILE_CONTENT)?;
    content.retain(|key| key.rsplit('/').next().is_some_and(|name| !needed.contains(name)));
    destination.delete_all(&content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Folder;

    #[test]
    fn keeps_what_is_needed_for_every_time() {
        let root = tempfile::tempdir().unwrap();
        let folder = Folder::new(root.path());
        let put = |key: &str| folder.put(key, Vec::new()).unwrap();
        let snapshot = |generation: &str, index, time| {
            let name = SnapshotName { index, time, at: None };
            put(&name.part(generation, 0));
            put(&name.complete(generation));
        };
        let log =
            |generation: &str, index, time| put(&LogName { index, first: time, last: time, end: None }.key(generation));
        snapshot("1", 0, 100);
        log("1", 1, 110);
        log("1", 2, 210);
        snapshot("2", 0, 300);
        (1..=5).for_each(|n| log("2", n, 300 + n * 10));
        snapshot("2", 3, 335);
        snapshot("2", 5, 355);
        // Its snapshot is being stored.
        put(&SnapshotName { index: 0, time: 400, at: None }.part("3", 0));
        log("3", 1, 410);
        let left = |until| {
            delete_database(&folder, until).unwrap();
            let all = catalog::generations(&folder).unwrap();
            let of = |g: &catalog::Generation| format!("{}:{}:{}", g.name, g.snapshots.len(), g.log.len());
            all.iter().map(of).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(left(50), "1:1:2 2:3:5 3:0:1", "nothing could be restored at that time");
        assert_eq!(left(299), "1:1:2 2:3:5 3:0:1");
        assert_eq!(left(300), "2:3:5 3:0:1");
        assert_eq!(left(334), "2:3:5 3:0:1");
        assert_eq!(left(340), "2:2:2 3:0:1");
        assert_eq!(left(1_000), "2:1:0 3:0:1");
    }
}
