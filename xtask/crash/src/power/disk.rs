//! What a disk has after a power failure: what was synced, and any part of what was not.
//!
//! A write is durable after a later sync of its file, and a change of a name after a later sync of its folder, as POSIX has it.
//! File systems keep more promises than that; code that needs them would fail here.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    rc::Rc,
};

use anyhow::{Context, Result, bail};

/// Bytes that a disk writes at once.
const SECTOR: usize = 512;

/// A file or folder, by the order of creation.
pub(super) type Node = usize;

/// The folder that everything is in.
pub(super) const ROOT: Node = 0;

/// A change of a file.
#[derive(Clone, Debug)]
enum Edit {
    Write { offset: usize, data: Rc<[u8]> },
    Length(usize),
}

/// A change of names: folder, name, and what it is the name of.
type Names = Vec<(Node, String, Option<Node>)>;

#[derive(Debug)]
enum Content {
    File { now: Vec<u8>, durable: Vec<u8>, pending: Vec<(u64, Edit)> },
    Folder { now: BTreeMap<String, Node>, durable: BTreeMap<String, Node> },
}

/// Files and folders, as programs see them and as the disk has them.
#[derive(Debug)]
pub(super) struct Disk {
    nodes: Vec<Content>,
    /// Changes of names that are not durable, in order.
    renamed: Vec<(u64, Names)>,
}

/// What becomes of writes that were not synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// All are lost.
    All,
    /// None is, as if only the process was killed.
    Nothing,
    /// Each is kept, lost, or torn: some of its sectors are kept.
    Some,
    /// Names and lengths are kept, but no content: there are zeros.
    Content,
}

impl Disk {
    /// An empty folder.
    pub(super) fn new() -> Self {
        Disk { nodes: vec![Content::Folder { now: BTreeMap::new(), durable: BTreeMap::new() }], renamed: Vec::new() }
    }

    /// Finds a file or folder.
    pub(super) fn find(&self, from: Node, path: &str) -> Option<Node> {
        path.split('/').filter(|name| !name.is_empty()).try_fold(from, |folder, name| self.entry(folder, name))
    }

    /// The folder and the last name of a path.
    fn parent<'p>(&self, from: Node, path: &'p str) -> Result<(Node, &'p str)> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Ok((self.find(from, folder).with_context(|| format!("no folder {folder}"))?, name))
    }

    fn entry(&self, folder: Node, name: &str) -> Option<Node> {
        match self.nodes.get(folder)? {
            Content::Folder { now, .. } => now.get(name).copied(),
            Content::File { .. } => None,
        }
    }

    /// The length of a file.
    pub(super) fn len(&self, file: Node) -> usize {
        self.bytes(file).len()
    }

    /// The content of a file.
    pub(super) fn bytes(&self, file: Node) -> &[u8] {
        match self.nodes.get(file) {
            Some(Content::File { now, .. }) => now,
            _ => &[],
        }
    }

    /// Creates a file.
    pub(super) fn create(&mut self, at: u64, from: Node, path: &str) -> Result<Node> {
        self.add(at, from, path, Content::File { now: Vec::new(), durable: Vec::new(), pending: Vec::new() })
    }

    /// Creates a folder.
    pub(super) fn create_folder(&mut self, at: u64, from: Node, path: &str) -> Result<Node> {
        self.add(at, from, path, Content::Folder { now: BTreeMap::new(), durable: BTreeMap::new() })
    }

    fn add(&mut self, at: u64, from: Node, path: &str, content: Content) -> Result<Node> {
        let node = self.nodes.len();
        self.nodes.push(content);
        let (folder, name) = self.parent(from, path)?;
        self.name(at, vec![(folder, name.to_owned(), Some(node))])?;
        Ok(node)
    }

    /// Gives a file another name, and keeps the old one if `keep`.
    pub(super) fn rename(&mut self, at: u64, old: (Node, &str), new: (Node, &str), keep: bool) -> Result<()> {
        let node = self.find(old.0, old.1).with_context(|| format!("no file {}", old.1))?;
        let ((old_folder, old), (folder, name)) = (self.parent(old.0, old.1)?, self.parent(new.0, new.1)?);
        let mut names = vec![(folder, name.to_owned(), Some(node))];
        if !keep {
            names.push((old_folder, old.to_owned(), None));
        }
        self.name(at, names)
    }

    /// Removes a name.
    pub(super) fn remove(&mut self, at: u64, from: Node, path: &str) -> Result<()> {
        let (folder, name) = self.parent(from, path)?;
        self.name(at, vec![(folder, name.to_owned(), None)])
    }

    fn name(&mut self, at: u64, names: Names) -> Result<()> {
        for (folder, name, node) in &names {
            match self.nodes.get_mut(*folder) {
                Some(Content::Folder { now, .. }) => set(now, name, *node),
                _ => bail!("{name} is not in a folder"),
            }
        }
        self.renamed.push((at, names));
        Ok(())
    }

    /// Writes to a file.
    pub(super) fn write(&mut self, at: u64, file: Node, offset: usize, data: Rc<[u8]>) -> Result<()> {
        self.edit(at, file, Edit::Write { offset, data })
    }

    /// Sets the length of a file.
    pub(super) fn set_len(&mut self, at: u64, file: Node, len: usize) -> Result<()> {
        self.edit(at, file, Edit::Length(len))
    }

    fn edit(&mut self, at: u64, file: Node, edit: Edit) -> Result<()> {
        let Some(Content::File { now, pending, .. }) = self.nodes.get_mut(file) else { bail!("not a file") };
        edit.apply(now, |_| Sector::Kept);
        pending.push((at, edit));
        Ok(())
    }

    /// What happened to a file or folder until a time is durable.
    pub(super) fn sync(&mut self, node: Node, until: u64) {
        match self.nodes.get_mut(node) {
            Some(Content::File { durable, pending, .. }) => {
                let n = pending.partition_point(|(at, _)| *at <= until);
                pending.drain(..n).for_each(|(_, edit)| edit.apply(durable, |_| Sector::Kept));
            }
            Some(Content::Folder { .. }) => self.sync_names(node, until),
            None => {}
        }
    }

    /// Earlier changes of the folders that a change is in become durable with it.
    fn sync_names(&mut self, folder: Node, until: u64) {
        let mut folders = BTreeSet::from([folder]);
        let mut durable = vec![false; self.renamed.len()];
        for ((at, names), durable) in self.renamed.iter().zip(&mut durable).rev() {
            if *at <= until && names.iter().any(|(folder, ..)| folders.contains(folder)) {
                folders.extend(names.iter().map(|(folder, ..)| *folder));
                *durable = true;
            }
        }
        let mut later = Vec::new();
        for ((at, names), is_durable) in std::mem::take(&mut self.renamed).into_iter().zip(durable) {
            if !is_durable {
                later.push((at, names));
                continue;
            }
            for (folder, name, node) in names {
                if let Some(Content::Folder { durable, .. }) = self.nodes.get_mut(folder) {
                    set(durable, &name, node);
                }
            }
        }
        self.renamed = later;
    }

    /// Whether everything is durable.
    #[cfg(test)]
    fn is_synced(&self) -> bool {
        self.renamed.is_empty()
            && self.nodes.iter().all(|node| !matches!(node, Content::File { pending, .. } if !pending.is_empty()))
    }

    /// Writes what the disk has after a power failure to an empty folder.
    pub(super) fn write_to(&self, to: &Path, loss: Loss, random: &mut Random) -> Result<()> {
        let mut names: BTreeMap<Node, BTreeMap<&str, Node>> = BTreeMap::new();
        for (node, content) in self.nodes.iter().enumerate() {
            if let Content::Folder { durable, .. } = content {
                names.insert(node, durable.iter().map(|(name, node)| (name.as_str(), *node)).collect());
            }
        }
        for (_, changes) in &self.renamed {
            let is_kept = match loss {
                Loss::All => false,
                Loss::Nothing | Loss::Content => true,
                Loss::Some => random.below(2) == 0,
            };
            for (folder, name, node) in changes.iter().filter(|_| is_kept) {
                let folder = names.entry(*folder).or_default();
                match node {
                    Some(node) => folder.insert(name, *node),
                    None => folder.remove(name.as_str()),
                };
            }
        }
        let mut folders = vec![(ROOT, to.to_owned())];
        while let Some((folder, path)) = folders.pop() {
            for (name, node) in names.get(&folder).into_iter().flatten() {
                let path = path.join(name);
                match self.nodes.get(*node) {
                    Some(Content::Folder { .. }) => {
                        fs::create_dir(&path)?;
                        folders.push((*node, path));
                    }
                    Some(Content::File { durable, pending, .. }) => {
                        let mut bytes = durable.clone();
                        pending.iter().for_each(|(_, edit)| edit.survive(&mut bytes, loss, random));
                        fs::write(&path, bytes)?;
                    }
                    None => bail!("{} is nothing", path.display()),
                }
            }
        }
        Ok(())
    }
}

fn set(names: &mut BTreeMap<String, Node>, name: &str, node: Option<Node>) {
    match node {
        Some(node) => names.insert(name.to_owned(), node),
        None => names.remove(name),
    };
}

/// What becomes of a sector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sector {
    Kept,
    /// What was there before stays.
    Lost,
    /// The file has its length, but nothing was written.
    Zeros,
}

impl Edit {
    /// Changes the content, a sector at a time.
    fn apply(&self, bytes: &mut Vec<u8>, mut fate: impl FnMut(usize) -> Sector) {
        match self {
            Edit::Length(len) => bytes.resize(*len, 0),
            Edit::Write { offset, data } => {
                let mut begin = 0;
                while begin < data.len() {
                    let at = offset + begin;
                    let end = (begin + SECTOR - at % SECTOR).min(data.len());
                    let (len, fate) = (end - begin, fate(at / SECTOR));
                    let is_new = bytes.len() < at + len;
                    if is_new && fate != Sector::Lost {
                        bytes.resize(at + len, 0);
                    }
                    if fate == Sector::Kept
                        && let (Some(to), Some(from)) = (bytes.get_mut(at..at + len), data.get(begin..end))
                    {
                        to.copy_from_slice(from);
                    }
                    begin = end;
                }
            }
        }
    }

    /// Changes the content as far as a power failure leaves it.
    fn survive(&self, bytes: &mut Vec<u8>, loss: Loss, random: &mut Random) {
        let fate = match loss {
            Loss::All => return,
            Loss::Nothing => 0,
            Loss::Content => 3,
            Loss::Some => random.below(4),
        };
        match fate {
            0 => self.apply(bytes, |_| Sector::Kept),
            1 => {}
            2 if matches!(self, Edit::Write { .. }) => {
                self.apply(bytes, |_| if random.below(2) == 0 { Sector::Kept } else { Sector::Lost });
            }
            _ => self.apply(bytes, |_| Sector::Zeros),
        }
    }
}

/// Pseudo-random numbers (SplitMix64).
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `n`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is there after a power failure.
    fn after(disk: &Disk, loss: Loss) -> BTreeMap<String, Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        disk.write_to(folder.path(), loss, &mut Random(1)).unwrap();
        let entries = fs::read_dir(folder.path()).unwrap().map(Result::unwrap);
        let files = entries.filter(|entry| entry.path().is_file());
        files.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
    }

    fn files(expected: &[(&str, &[u8])]) -> BTreeMap<String, Vec<u8>> {
        expected.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect()
    }

    #[test]
    fn what_is_synced_is_kept() {
        let mut disk = Disk::new();
        let file = disk.create(1, ROOT, "a").unwrap();
        disk.write(2, file, 0, b"one".as_slice().into()).unwrap();
        disk.sync(file, 2);
        assert_eq!(after(&disk, Loss::All), files(&[]), "the name is not durable");
        assert_eq!(after(&disk, Loss::Content), files(&[("a", b"one")]));
        disk.sync(ROOT, 0);
        assert_eq!(after(&disk, Loss::All), files(&[]), "created after the sync began");
        disk.sync(ROOT, 3);
        assert!(disk.is_synced());
        disk.write(4, file, 1, b"thers".as_slice().into()).unwrap();
        disk.rename(5, (ROOT, "a"), (ROOT, "b"), false).unwrap();
        for (loss, expected) in [
            (Loss::All, files(&[("a", b"one")])),
            (Loss::Nothing, files(&[("b", b"others")])),
            (Loss::Content, files(&[("b", b"one\0\0\0")])),
        ] {
            assert_eq!(after(&disk, loss), expected, "{loss:?}");
        }
        disk.set_len(6, file, 2).unwrap();
        disk.rename(7, (ROOT, "b"), (ROOT, "c"), true).unwrap();
        assert_eq!(after(&disk, Loss::Nothing), files(&[("b", b"ot"), ("c", b"ot")]));
        disk.remove(8, ROOT, "b").unwrap();
        disk.sync(file, 9);
        disk.sync(ROOT, 6);
        assert_eq!(after(&disk, Loss::All), files(&[("b", b"ot")]));
    }

    #[test]
    fn a_torn_write_has_whole_sectors() {
        let mut disk = Disk::new();
        let file = disk.create(1, ROOT, "a").unwrap();
        disk.write(1, file, 0, vec![1; 8 * SECTOR].into()).unwrap();
        disk.sync(file, 1);
        disk.sync(ROOT, 1);
        disk.write(2, file, 100, vec![2; 4 * SECTOR].into()).unwrap();
        let mut found = BTreeSet::new();
        for seed in 0..200 {
            let folder = tempfile::tempdir().unwrap();
            disk.write_to(folder.path(), Loss::Some, &mut Random(seed)).unwrap();
            let bytes = fs::read(folder.path().join("a")).unwrap();
            let sectors: Vec<u8> = bytes.chunks(SECTOR).map(|sector| sector[SECTOR - 1].max(sector[0])).collect();
            assert!(bytes.iter().enumerate().all(|(i, b)| *b == 1 || (100..100 + 4 * SECTOR).contains(&i)));
            found.insert(sectors);
        }
        // Kept, lost, and most of the others.
        assert!(found.len() > 10, "{}", found.len());
    }

    #[test]
    fn what_is_in_a_lost_folder_is_lost() {
        let mut disk = Disk::new();
        disk.create_folder(1, ROOT, "f").unwrap();
        let file = disk.create(2, ROOT, "f/a").unwrap();
        disk.sync(file, 2);
        disk.sync(disk.find(ROOT, "f").unwrap(), 2);
        let folder = tempfile::tempdir().unwrap();
        disk.write_to(folder.path(), Loss::All, &mut Random(1)).unwrap();
        assert!(!folder.path().join("f").exists());
        disk.sync(ROOT, 2);
        disk.write_to(folder.path(), Loss::All, &mut Random(1)).unwrap();
        assert!(folder.path().join("f/a").exists());
    }
}
