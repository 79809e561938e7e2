//! Repeats recorded calls on a [`Disk`].

use std::{collections::HashMap, path::Path, rc::Rc};

use anyhow::{Context, Result, bail, ensure};

use super::{
    disk::{Disk, Node, ROOT},
    trace::{Action, Call, Fd, Place},
};

/// Files that need not survive: SQLite makes the index of its log anew.
const REBUILT: &str = "-shm";

/// An open file or folder.
#[derive(Clone, Copy, Debug)]
struct Open {
    node: Node,
    /// Number in `offsets`; descriptors that were duplicated share it.
    offset: usize,
    appends: bool,
}

/// The disk after the calls so far.
pub(super) struct Replay {
    pub(super) disk: Disk,
    root: String,
    open: HashMap<Fd, Open>,
    offsets: Vec<usize>,
}

impl Replay {
    /// An empty folder, in which everything else is that the calls are about.
    pub(super) fn new(root: &Path) -> Result<Self> {
        let root = root.to_str().context("the folder has no text as its path")?.to_owned();
        Ok(Replay { disk: Disk::new(), root, open: HashMap::new(), offsets: Vec::new() })
    }

    /// The process has ended.
    pub(super) fn close_all(&mut self) {
        self.open.clear();
        self.offsets.clear();
    }

    /// Repeats a call.
    pub(super) fn apply(&mut self, call: &Call) -> Result<()> {
        let at = call.ended;
        match &call.action {
            Action::Open { place, flags, fd } => self.open(at, place, flags, *fd)?,
            Action::Close(fd) => drop(self.open.remove(fd)),
            Action::Duplicate { fd, new } => {
                if let Some(open) = self.open.get(fd).copied() {
                    self.open.insert(*new, open);
                }
            }
            Action::Seek { fd, offset } => {
                if let Some(open) = self.open.get(fd).copied() {
                    self.seek(open, *offset);
                }
            }
            Action::Write { fd, file, offset, data } => {
                let Some(open) = self.file(*fd, file)? else { return Ok(()) };
                self.write(at, open, *offset, Rc::clone(data))?;
            }
            Action::Copy { from, from_offset, to, to_offset, len } => {
                self.copy(at, (*from, *from_offset), (*to, *to_offset), *len)?
            }
            Action::SetLen { fd, len } => {
                let open = self.open.get(fd).context("the file is not known")?;
                self.disk.set_len(at, open.node, *len)?;
            }
            Action::Allocate { fd, len } => {
                let open = self.open.get(fd).context("the file is not known")?;
                if self.disk.len(open.node) < *len {
                    self.disk.set_len(at, open.node, *len)?;
                }
            }
            Action::Map { file } => {
                ensure!(!file.starts_with(&self.root) || file.ends_with(REBUILT), "{file} is written through memory");
            }
            Action::Sync(fd) => {
                // Others are outside of the folder.
                if let Some(open) = self.open.get(fd) {
                    self.disk.sync(open.node, call.begun);
                }
            }
            Action::CreateFolder(place) => {
                if let Some((folder, path)) = self.place(place)? {
                    self.disk.create_folder(at, folder, &path)?;
                }
            }
            Action::Rename { from, to, keep } => match (self.place(from)?, self.place(to)?) {
                (Some(from), Some(to)) => self.disk.rename(at, (from.0, &from.1), (to.0, &to.1), *keep)?,
                (None, None) => {}
                _ => bail!("a file enters or leaves the folder"),
            },
            Action::Remove(place) => {
                if let Some((folder, path)) = self.place(place)? {
                    self.disk.remove(at, folder, &path)?;
                }
            }
        }
        Ok(())
    }

    /// Whether a call syncs a file or folder.
    pub(super) fn is_sync(&self, call: &Call) -> bool {
        matches!(call.action, Action::Sync(fd) if self.open.contains_key(&fd))
    }

    /// The folder that a path is relative to, and the path; `None` if it is outside of the root.
    fn place(&self, place: &Place) -> Result<Option<(Node, String)>> {
        let parts = place.path.split('/');
        ensure!(!parts.clone().any(|part| part == ".."), "{} has `..`", place.path);
        let clean =
            |path: &str| path.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/");
        if place.path.starts_with('/') {
            let inside = place.path.strip_prefix(&self.root).filter(|rest| rest.is_empty() || rest.starts_with('/'));
            return Ok(inside.map(|path| (ROOT, clean(path))));
        }
        let from = match place.folder {
            None => ROOT,
            Some(fd) => match self.open.get(&fd) {
                Some(open) => open.node,
                None => return Ok(None),
            },
        };
        Ok(Some((from, clean(&place.path))))
    }

    fn open(&mut self, at: u64, place: &Place, flags: &str, fd: Fd) -> Result<()> {
        // A descriptor that was closed without a call.
        self.open.remove(&fd);
        let Some((folder, path)) = self.place(place)? else { return Ok(()) };
        ensure!(!flags.contains("O_TMPFILE"), "a file without a name");
        let node = match self.disk.find(folder, &path) {
            Some(node) if flags.contains("O_TRUNC") => {
                self.disk.set_len(at, node, 0)?;
                node
            }
            Some(node) => node,
            None if flags.contains("O_CREAT") => self.disk.create(at, folder, &path)?,
            None => bail!("{path} was opened, but not created"),
        };
        self.offsets.push(0);
        let open = Open { node, offset: self.offsets.len() - 1, appends: flags.contains("O_APPEND") };
        self.open.insert(fd, open);
        Ok(())
    }

    /// An open file; `None` if it is outside of the root.
    fn file(&self, fd: Fd, path: &str) -> Result<Option<Open>> {
        let open = self.open.get(&fd).copied();
        ensure!(open.is_some() || !path.starts_with(&self.root), "{path} was not opened");
        Ok(open)
    }

    fn seek(&mut self, open: Open, to: usize) {
        if let Some(offset) = self.offsets.get_mut(open.offset) {
            *offset = to;
        }
    }

    /// Where the next bytes are written or read, if the call does not say.
    fn offset(&self, open: Open, writes: bool) -> usize {
        match open.appends && writes {
            true => self.disk.len(open.node),
            false => self.offsets.get(open.offset).copied().unwrap_or_default(),
        }
    }

    fn write(&mut self, at: u64, open: Open, offset: Option<usize>, data: Rc<[u8]>) -> Result<()> {
        let begin = offset.unwrap_or_else(|| self.offset(open, true));
        if offset.is_none() {
            self.seek(open, begin + data.len());
        }
        self.disk.write(at, open.node, begin, data)
    }

    fn copy(
        &mut self,
        at: u64,
        (from, from_offset): (Fd, Option<usize>),
        (to, to_offset): (Fd, Option<usize>),
        len: usize,
    ) -> Result<()> {
        // To a socket, or from a file that is not in the folder.
        let Some(to) = self.open.get(&to).copied() else { return Ok(()) };
        let from = self.open.get(&from).copied().context("a copy of a file that is not known")?;
        let begin = from_offset.unwrap_or_else(|| self.offset(from, false));
        let data = self.disk.bytes(from.node).get(begin..begin + len).context("a copy of what is not there")?.into();
        if from_offset.is_none() {
            self.seek(from, begin + len);
        }
        self.write(at, to, to_offset, data)
    }
}
