//! A state of the index: immutable segments, and the documents of them that are obsolete; and the folder where it is saved.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::bits::Bits;
use crate::segment::{Segment, SegmentBuilder};
use crate::words::Language;

/// Name of the file that lists the segments.
const MANIFEST: &str = "index.json";

/// Version of the manifest and of the segments that it lists.
const VERSION: u64 = 4;

/// Maximum number of applied changes that are remembered for readers of older snapshots.
const MAX_RECENT: usize = 4_096;

/// An entry of the log of changed documents, which the owner of the documents keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Ascends with each change.
    pub seq: i64,
    /// A random number, by which a log with another history is recognized.
    pub nonce: i64,
    /// The document.
    pub id: i64,
}

/// A segment and its obsolete documents.
#[derive(Clone)]
pub struct LiveSegment {
    file: String,
    /// The segment.
    pub segment: Arc<Segment>,
    dead: Arc<Bits>,
}

impl LiveSegment {
    /// The ids of the documents that are not obsolete, ascending.
    pub fn live_ids(&self) -> Vec<i64> {
        self.live().iter().filter_map(|at| self.segment.ids.get(usize::from(at)).copied()).collect()
    }

    /// The documents that are not obsolete.
    pub fn live(&self) -> Bits {
        let mut live = Bits::first(self.segment.len());
        live.subtract(&self.dead);
        live
    }

    /// Marks documents as obsolete.
    fn remove(&mut self, ids: &[i64]) {
        let positions: Vec<u16> = ids.iter().filter_map(|id| self.segment.position(*id)).collect();
        if !positions.is_empty() {
            let dead = Arc::make_mut(&mut self.dead);
            positions.into_iter().for_each(|position| dead.insert(position));
        }
    }
}

/// A state of the index. Each document is at most once among the live documents of the segments and the documents that
/// are not indexed.
#[derive(Clone)]
pub struct Generation {
    /// Identifies the rules by which texts were folded.
    folding: String,
    /// The language of the words that ranked searches find.
    language: Language,
    /// The last change that is contained.
    mark: Change,
    /// Documents up to this id have been indexed. `None` if all have.
    built_to: Option<i64>,
    segments: Vec<LiveSegment>,
    /// Documents that cannot be indexed, ascending.
    uncovered: Vec<i64>,
    /// The last applied changes, ascending.
    recent: Vec<Change>,
    /// Number of the next segment's file.
    next_file: u64,
}

impl Generation {
    /// An empty index, which contains the changes up to a mark once it is built. `folding` identifies the rules by which
    /// the texts of documents and terms are folded, `language` the language of the words that ranked searches find.
    pub fn new(mark: Change, folding: String, language: Language) -> Self {
        let (segments, uncovered, recent) = (Vec::new(), Vec::new(), vec![mark]);
        Generation { folding, language, mark, built_to: Some(i64::MIN), segments, uncovered, recent, next_file: 1 }
    }

    /// The language of the words that ranked searches find.
    pub fn language(&self) -> Language {
        self.language
    }

    /// The last change that is contained.
    pub fn mark(&self) -> Change {
        self.mark
    }

    /// Documents up to this id have been indexed. `None` if all have.
    pub fn built_to(&self) -> Option<i64> {
        self.built_to
    }

    /// Returns whether all documents have been indexed.
    pub fn is_complete(&self) -> bool {
        self.built_to.is_none()
    }

    /// Records that documents up to this id have been indexed, or all of them (`None`).
    pub fn set_built_to(&mut self, id: Option<i64>) {
        self.built_to = id;
    }

    /// The segments.
    pub fn segments(&self) -> &[LiveSegment] {
        &self.segments
    }

    /// The segments to merge: those of the smallest tier that has enough of them. To merge them, index their documents
    /// ([`LiveSegment::live_ids`]) again.
    ///
    /// A tier has the segments with fewer documents than its first number, and no tier before it; the second number is
    /// how many of them are enough.
    pub fn segments_to_merge(&self, tiers: &[(usize, usize)]) -> Vec<&LiveSegment> {
        let mut least = 0;
        for (most, n) in tiers {
            let of_tier = |s: &&LiveSegment| (least..*most).contains(&s.live().len());
            let found: Vec<&LiveSegment> = self.segments.iter().filter(of_tier).collect();
            if found.len() >= *n {
                return found;
            }
            least = *most;
        }
        Vec::new()
    }

    /// Documents that cannot be indexed, ascending. Searches examine all of them.
    pub fn uncovered(&self) -> &[i64] {
        &self.uncovered
    }

    /// The last applied changes, ascending, for readers of an older state of the documents.
    pub fn recent(&self) -> &[Change] {
        &self.recent
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        let live = |s: &LiveSegment| s.segment.len() - s.dead.len();
        self.uncovered.len() + self.segments.iter().map(live).sum::<usize>()
    }

    /// Returns whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The digests of the indexed documents, by id.
    pub fn digests(&self) -> impl Iterator<Item = (i64, u64)> {
        self.segments.iter().flat_map(|s| {
            let digest =
                |at: u16| Some((*s.segment.ids.get(usize::from(at))?, *s.segment.digests.get(usize::from(at))?));
            s.live().iter().filter_map(digest).collect::<Vec<_>>()
        })
    }

    /// Removes documents that are indexed again, or that are gone. `ids` must ascend.
    pub fn remove(&mut self, ids: &[i64]) {
        self.segments.iter_mut().for_each(|segment| segment.remove(ids));
        self.segments.retain(|segment| segment.dead.len() < segment.segment.len());
        self.uncovered.retain(|id| ids.binary_search(id).is_err());
    }

    /// Adds documents that cannot be indexed.
    pub fn add_uncovered(&mut self, ids: &[i64]) {
        self.uncovered.extend(ids);
        self.uncovered.sort_unstable();
        self.uncovered.dedup();
    }

    /// Records changes as contained.
    pub fn applied(&mut self, changes: &[Change]) {
        self.recent.extend(changes);
        let surplus = self.recent.len().saturating_sub(MAX_RECENT);
        self.recent.drain(..surplus);
        if let Some(last) = changes.last() {
            self.mark = *last;
        }
    }

    fn manifest(&self) -> String {
        let segment = |s: &LiveSegment| json!([s.file, s.dead.iter().collect::<Vec<_>>()]);
        let mut body = json!({
            "version": VERSION,
            "folding": self.folding,
            "language": self.language.name(),
            "mark": [self.mark.seq, self.mark.nonce],
            "built_to": self.built_to,
            "segments": self.segments.iter().map(segment).collect::<Vec<_>>(),
            "uncovered": self.uncovered,
            "next_file": self.next_file,
        });
        let crc = checksum(&body);
        if let Some(fields) = body.as_object_mut() {
            fields.insert("crc".to_owned(), crc.into());
        }
        body.to_string()
    }

    fn parse(mut body: Value, folder: &Path, language: Language) -> Option<io::Result<Self>> {
        let crc = body.as_object_mut()?.swap_remove("crc")?.as_u64()?;
        if body["version"].as_u64()? != VERSION || u64::from(checksum(&body)) != crc {
            return None;
        }
        let folding = body["folding"].as_str()?.to_owned();
        if body["language"] != language.name() {
            return None;
        }
        let mark = Change { seq: body["mark"][0].as_i64()?, nonce: body["mark"][1].as_i64()?, id: 0 };
        let mut segments = Vec::new();
        for entry in body["segments"].as_array()? {
            let file = entry[0].as_str()?.to_owned();
            let dead = entry[1].as_array()?.iter().map(|at| u16::try_from(at.as_u64()?).ok());
            let dead = Arc::new(dead.collect::<Option<Vec<u16>>>()?.into_iter().collect::<Bits>());
            match Segment::open(&folder.join(&file)) {
                Ok(segment) => segments.push(LiveSegment { file, segment: Arc::new(segment), dead }),
                Err(e) => return Some(Err(e)),
            }
        }
        let uncovered = body["uncovered"].as_array()?.iter().map(Value::as_i64).collect::<Option<Vec<i64>>>()?;
        let (built_to, next_file) = (body["built_to"].as_i64(), body["next_file"].as_u64()?);
        Some(Ok(Generation { folding, language, mark, built_to, segments, uncovered, recent: vec![mark], next_file }))
    }
}

fn checksum(body: &Value) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(body.to_string().as_bytes());
    crc.sum()
}

/// The folder of an index. One process at a time may open it.
pub struct Folder {
    path: PathBuf,
    /// Locked while the folder is open; the operating system unlocks it when the process ends.
    _lock: std::fs::File,
}

impl Folder {
    /// Opens or creates a folder. `None` if another process has opened it.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        // The index contains the words of documents that not everybody may read.
        svc_files::create_private_folder(path)?;
        let lock = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(path.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Folder { path: path.to_owned(), _lock: lock })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(e)) => Err(e),
        }
    }

    /// Reads the last saved state. `None` if there is none, or if it is damaged or has another version, language or other rules.
    pub fn load(&self, folding: &str, language: Language) -> Option<Generation> {
        let text = std::fs::read(self.path.join(MANIFEST)).ok()?;
        match Generation::parse(serde_json::from_slice(&text).ok()?, &self.path, language)? {
            Ok(generation) => Some(generation).filter(|generation| generation.folding == folding),
            Err(e) => {
                tracing::warn!(error = %e, "a part of the search index cannot be used; the index will be built again");
                None
            }
        }
    }

    /// Saves a state durably, and deletes the files of others.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, generation: &Generation) -> io::Result<()> {
        let unfinished = self.path.join("index.unfinished");
        std::fs::write(&unfinished, generation.manifest())?;
        std::fs::File::open(&unfinished)?.sync_all()?;
        std::fs::rename(&unfinished, self.path.join(MANIFEST))?;
        svc_files::sync_folder(&self.path)?;
        self.clean(&generation.segments);
        Ok(())
    }

    /// Deletes the index.
    pub fn clear(&self) {
        let _ = std::fs::remove_file(self.path.join(MANIFEST));
        self.clean(&[]);
    }

    /// Deletes all segments but these. Open ones stay readable.
    fn clean(&self, segments: &[LiveSegment]) {
        for entry in std::fs::read_dir(&self.path).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_segment = Path::new(&name).extension().is_some_and(|end| end == "segment");
            if is_segment && !segments.iter().any(|s| name.to_str() == Some(s.file.as_str())) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Writes a segment to a new file, and adds it to a state. Nothing is added if the builder is empty.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&self, generation: &mut Generation, builder: SegmentBuilder) -> io::Result<()> {
        if builder.is_empty() {
            return Ok(());
        }
        let file = format!("{}.segment", generation.next_file);
        generation.next_file += 1;
        let path = self.path.join(&file);
        // A full disk: an incomplete file must not remain.
        let segment = builder.write(&path).and_then(|()| Segment::open(&path));
        let segment = Arc::new(segment.inspect_err(|_| drop(std::fs::remove_file(&path)))?);
        generation.segments.push(LiveSegment { file, segment, dead: Arc::new(Bits::none()) });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Class, Document, SearchIndex};

    const LANGUAGE: Language = Language::NONE;
    const START: Change = Change { seq: 7, nonce: 1, id: 0 };

    fn builder(documents: &[(i64, &str)]) -> SegmentBuilder {
        let mut builder = SegmentBuilder::new(LANGUAGE);
        for (id, title) in documents {
            let class = Class { post_type: "post".to_owned(), status: "publish".to_owned(), has_password: false };
            let document =
                Document { id: *id, date: 0, class, digest: Some(9), texts: [*title, "", ""], ranked: [title, ""] };
            assert!(builder.add(&document));
        }
        builder
    }

    /// A folder with a complete index of two segments, of which one document is obsolete.
    fn saved(path: &Path) -> (Folder, Generation) {
        let folder = Folder::open(path).unwrap().unwrap();
        let mut generation = Generation::new(START, "rules".to_owned(), LANGUAGE);
        folder.add(&mut generation, builder(&[(1, "harbour"), (2, "arbour")])).unwrap();
        generation.remove(&[2]);
        folder.add(&mut generation, builder(&[(3, "an arbour, a harbour")])).unwrap();
        folder.add(&mut generation, builder(&[])).unwrap();
        generation.add_uncovered(&[5, 4]);
        generation.set_built_to(None);
        generation.applied(&[Change { seq: 8, nonce: 2, id: 3 }]);
        folder.save(&generation).unwrap();
        (folder, generation)
    }

    fn found(generation: &Generation, term: &str) -> Vec<i64> {
        let index = SearchIndex::default();
        let of_segment = |live: &LiveSegment| {
            let mut known = index.matches(live, 0, term).unwrap().known.clone();
            known.retain(&live.live());
            known.iter().map(|at| live.segment.ids[usize::from(at)]).collect::<Vec<_>>()
        };
        generation.segments().iter().flat_map(of_segment).collect()
    }

    #[test]
    fn a_saved_state_is_loaded_with_the_same_rules_only() {
        let path = tempfile::tempdir().unwrap();
        let (folder, saved) = saved(path.path());
        assert!(folder.load("other rules", LANGUAGE).is_none());
        assert!(folder.load("rules", Language::of_locale("de")).is_none());
        let loaded = folder.load("rules", LANGUAGE).unwrap();
        assert!(loaded.is_complete());
        assert_eq!((loaded.len(), loaded.uncovered()), (4, &[4, 5][..]));
        assert_eq!((loaded.mark().seq, loaded.mark().nonce), (saved.mark().seq, saved.mark().nonce));
        assert_eq!(loaded.digests().collect::<Vec<_>>(), [(1, 9), (3, 9)]);
        for term in ["arbo", "harb", "bour", "x", ""] {
            assert_eq!(found(&loaded, term), found(&saved, term), "{term}");
        }
        assert_eq!(
            (found(&loaded, "harb"), found(&loaded, "arbo"), found(&loaded, "x")),
            (vec![1, 3], vec![1, 3], vec![])
        );
    }

    #[test]
    fn damaged_files_are_not_used() {
        let path = tempfile::tempdir().unwrap();
        let (folder, _) = saved(path.path());
        for name in ["1.segment", MANIFEST] {
            let file = path.path().join(name);
            let whole = std::fs::read(&file).unwrap();
            for at in [0, whole.len() / 2, whole.len() - 1] {
                let mut damaged = whole.clone();
                damaged[at] ^= 1;
                std::fs::write(&file, damaged).unwrap();
                assert!(folder.load("rules", LANGUAGE).is_none(), "{name}: {at}");
            }
            std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
            assert!(folder.load("rules", LANGUAGE).is_none(), "{name}: half");
            std::fs::write(&file, whole).unwrap();
        }
        assert!(folder.load("rules", LANGUAGE).is_some());
    }

    #[test]
    fn a_folder_has_one_owner() {
        let path = tempfile::tempdir().unwrap();
        let (folder, _) = saved(path.path());
        assert!(Folder::open(path.path()).unwrap().is_none());
        folder.clear();
        assert!(folder.load("rules", LANGUAGE).is_none());
        drop(folder);
        assert!(Folder::open(path.path()).unwrap().is_some());
    }

    #[test]
    fn the_smallest_tier_with_enough_segments_is_merged() {
        let path = tempfile::tempdir().unwrap();
        let (_folder, generation) = saved(path.path());
        let ids = |tiers: &[(usize, usize)]| -> Vec<i64> {
            generation.segments_to_merge(tiers).into_iter().flat_map(LiveSegment::live_ids).collect()
        };
        assert_eq!(ids(&[(2, 2), (9, 1)]), [1, 3]);
        assert_eq!(ids(&[(1, 1), (9, 2)]), [1, 3]);
        assert_eq!(ids(&[(2, 3), (9, 1)]), [] as [i64; 0]);
    }
}
