//! A state of the index: immutable segments, and the documents of them that are obsolete.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::bits::Bits;
use super::segment::Segment;

/// Name of the file that lists the segments.
const MANIFEST: &str = "index.json";

/// Version of the manifest.
const VERSION: u64 = 2;

/// Maximum number of applied changes that are remembered for readers of older snapshots.
const MAX_RECENT: usize = 4_096;

/// An entry of the database's log of changed posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// Ascends with each change.
    pub(crate) seq: i64,
    /// A random number, by which a log with another history is recognized.
    pub(crate) nonce: i64,
    /// The post.
    pub(crate) id: i64,
}

/// A segment and its obsolete documents.
#[derive(Clone)]
pub(crate) struct LiveSegment {
    pub(crate) file: String,
    pub(crate) segment: Arc<Segment>,
    pub(crate) dead: Arc<Bits>,
}

impl LiveSegment {
    /// The ids of the documents that are not obsolete, ascending.
    pub(crate) fn live_ids(&self) -> Vec<i64> {
        self.live().iter().filter_map(|at| self.segment.ids.get(usize::from(at)).copied()).collect()
    }

    /// The documents that are not obsolete.
    pub(crate) fn live(&self) -> Bits {
        let mut live = Bits::first(self.segment.len());
        live.subtract(&self.dead);
        live
    }

    /// Marks documents as obsolete.
    pub(crate) fn remove(&mut self, ids: &[i64]) {
        let positions: Vec<u16> = ids.iter().filter_map(|id| self.segment.position(*id)).collect();
        if !positions.is_empty() {
            let dead = Arc::make_mut(&mut self.dead);
            positions.into_iter().for_each(|position| dead.insert(position));
        }
    }
}

/// A state of the index. Each post is at most once among the live documents of the segments and the posts that are not
/// indexed.
#[derive(Clone)]
pub(crate) struct Generation {
    /// Identifies the rules by which texts were folded.
    pub(crate) folding: String,
    /// The last change of the database that is contained.
    pub(crate) mark: Change,
    /// Posts up to this id have been indexed. `None` if all have.
    pub(crate) built_to: Option<i64>,
    pub(crate) segments: Vec<LiveSegment>,
    /// Posts that cannot be indexed, ascending.
    pub(crate) uncovered: Vec<i64>,
    /// The last applied changes, ascending.
    pub(crate) recent: Vec<Change>,
    /// Number of the next segment's file.
    pub(crate) next_file: u64,
}

impl Generation {
    /// An empty index, which contains the changes up to a mark once it is built.
    pub(crate) fn new(mark: Change, folding: String) -> Self {
        let (segments, uncovered, recent) = (Vec::new(), Vec::new(), vec![mark]);
        Generation { folding, mark, built_to: Some(i64::MIN), segments, uncovered, recent, next_file: 1 }
    }

    /// Number of posts.
    pub(crate) fn len(&self) -> usize {
        let live = |s: &LiveSegment| s.segment.len() - s.dead.len();
        self.uncovered.len() + self.segments.iter().map(live).sum::<usize>()
    }

    /// The digests of the indexed posts, by id.
    pub(crate) fn digests(&self) -> impl Iterator<Item = (i64, u64)> {
        self.segments.iter().flat_map(|s| {
            let digest =
                |at: u16| Some((*s.segment.ids.get(usize::from(at))?, *s.segment.digests.get(usize::from(at))?));
            s.live().iter().filter_map(digest).collect::<Vec<_>>()
        })
    }

    /// Removes posts that are indexed again, or that are gone. `ids` must ascend.
    pub(crate) fn remove(&mut self, ids: &[i64]) {
        self.segments.iter_mut().for_each(|segment| segment.remove(ids));
        self.segments.retain(|segment| segment.dead.len() < segment.segment.len());
        self.uncovered.retain(|id| ids.binary_search(id).is_err());
    }

    /// Adds posts that cannot be indexed.
    pub(crate) fn add_uncovered(&mut self, ids: &[i64]) {
        self.uncovered.extend(ids);
        self.uncovered.sort_unstable();
        self.uncovered.dedup();
    }

    /// Records changes as contained.
    pub(crate) fn applied(&mut self, changes: &[Change]) {
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

    fn parse(mut body: Value, folder: &Path) -> Option<io::Result<Self>> {
        let crc = body.as_object_mut()?.swap_remove("crc")?.as_u64()?;
        if body["version"].as_u64()? != VERSION || u64::from(checksum(&body)) != crc {
            return None;
        }
        let folding = body["folding"].as_str()?.to_owned();
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
        Some(Ok(Generation { folding, mark, built_to, segments, uncovered, recent: vec![mark], next_file }))
    }
}

fn checksum(body: &Value) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(body.to_string().as_bytes());
    crc.sum()
}

/// The folder of an index. One process at a time may open it.
pub(crate) struct Folder {
    path: PathBuf,
    /// Locked while the folder is open; the operating system unlocks it when the process ends.
    _lock: std::fs::File,
}

impl Folder {
    /// Opens or creates a folder. `None` if another process has opened it.
    ///
    /// # Errors
    /// If it cannot be created.
    pub(crate) fn open(path: &Path) -> io::Result<Option<Self>> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        // The index contains the words of drafts and private posts.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)?;
        let lock = std::fs::OpenOptions::new().create(true).truncate(false).write(true).open(path.join("lock"))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Folder { path: path.to_owned(), _lock: lock })),
            Err(std::fs::TryLockError::WouldBlock) => Ok(None),
            Err(std::fs::TryLockError::Error(e)) => Err(e),
        }
    }

    /// Reads the last saved state. `None` if there is none, or if it is damaged or has another version or other rules.
    pub(crate) fn load(&self, folding: &str) -> Option<Generation> {
        let text = std::fs::read(self.path.join(MANIFEST)).ok()?;
        match Generation::parse(serde_json::from_slice(&text).ok()?, &self.path)? {
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
    pub(crate) fn save(&self, generation: &Generation) -> io::Result<()> {
        let unfinished = self.path.join("index.unfinished");
        std::fs::write(&unfinished, generation.manifest())?;
        std::fs::File::open(&unfinished)?.sync_all()?;
        std::fs::rename(&unfinished, self.path.join(MANIFEST))?;
        #[cfg(unix)]
        std::fs::File::open(&self.path)?.sync_all()?;
        self.clean(&generation.segments);
        Ok(())
    }

    /// Deletes the index.
    pub(crate) fn clear(&self) {
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

    /// Writes a segment to a new file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn write(
        &self,
        generation: &mut Generation,
        builder: super::segment::SegmentBuilder,
    ) -> io::Result<LiveSegment> {
        let file = format!("{}.segment", generation.next_file);
        generation.next_file += 1;
        let path = self.path.join(&file);
        // A full disk: an incomplete file must not remain.
        let segment = builder.write(&path).and_then(|()| Segment::open(&path));
        let segment = Arc::new(segment.inspect_err(|_| drop(std::fs::remove_file(&path)))?);
        Ok(LiveSegment { file, segment, dead: Arc::new(Bits::none()) })
    }
}
