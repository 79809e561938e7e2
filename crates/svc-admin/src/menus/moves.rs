//! Moves of the entries of a menu, which are a list with depths.

/// An entry of a menu.
pub(super) trait Nested {
    /// 0 for an entry of the menu itself, 1 for one below it, and so on.
    fn depth(&self) -> usize;
    fn set_depth(&mut self, depth: usize);
    /// Whether other entries can be below it.
    fn can_contain(&self) -> bool;
}

/// What changes the place of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Up,
    Down,
    /// Below the entry before it.
    In,
    /// Behind the entry that it is below.
    Out,
    Remove,
}

impl Move {
    /// The values of the buttons, and their labels.
    pub(super) const ALL: [(Move, &'static str, &'static str); 5] = [
        (Move::Up, "up", "Move up"),
        (Move::Down, "down", "Move down"),
        (Move::In, "in", "Move below the entry before"),
        (Move::Out, "out", "Move out"),
        (Move::Remove, "remove", "Remove"),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known, _)| *known == name).map(|(action, ..)| *action)
    }
}

/// The number of entries at and below this one.
fn size(entries: &[impl Nested], at: usize) -> usize {
    let depth = entries[at].depth();
    let below = entries[at + 1..].iter().take_while(|entry| entry.depth() > depth);
    1 + below.count()
}

/// The entry before this one at the same depth, below the same one.
fn sibling_before(entries: &[impl Nested], at: usize) -> Option<usize> {
    let depth = entries[at].depth();
    let before = entries[..at].iter().rposition(|entry| entry.depth() <= depth)?;
    (entries[before].depth() == depth).then_some(before)
}

/// Whether an entry can be moved like this.
pub(super) fn can(entries: &[impl Nested], at: usize, action: Move) -> bool {
    match action {
        Move::Up => sibling_before(entries, at).is_some(),
        Move::Down => entries.get(at + size(entries, at)).is_some_and(|next| next.depth() == entries[at].depth()),
        Move::In => sibling_before(entries, at).is_some_and(|before| entries[before].can_contain()),
        Move::Out => entries[at].depth() > 0,
        Move::Remove => true,
    }
}

/// Moves an entry with those below it, or removes it: those below it take its place. Returns `false` if that cannot be.
pub(super) fn apply(entries: &mut Vec<impl Nested>, at: usize, action: Move) -> bool {
    if at >= entries.len() || !can(entries, at, action) {
        return false;
    }
    let end = at + size(entries, at);
    match action {
        Move::Up => {
            let before = sibling_before(entries, at).unwrap_or(at);
            entries[before..end].rotate_left(at - before);
        }
        Move::Down => {
            let next = end + size(entries, end);
            entries[at..next].rotate_left(end - at);
        }
        Move::In => entries[at..end].iter_mut().for_each(|entry| entry.set_depth(entry.depth() + 1)),
        Move::Out => {
            // Behind everything that is below the same entry.
            let depth = entries[at].depth();
            let last = end + entries[end..].iter().take_while(|entry| entry.depth() >= depth).count();
            entries[at..end].iter_mut().for_each(|entry| entry.set_depth(entry.depth() - 1));
            entries[at..last].rotate_left(end - at);
        }
        Move::Remove => {
            entries[at + 1..end].iter_mut().for_each(|entry| entry.set_depth(entry.depth() - 1));
            entries.remove(at);
        }
    }
    true
}
