//! Positions in the news from positions in the log, and when those are visible.
//!
//! A position has the number of the log file in its upper 24 bits and the offset in the lower 40. If the server begins a new log, or another
//! server follows, the numbers of files are shifted, so that later news have higher positions.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::point::Point;
use crate::changes::Position;

/// Bits of the offset.
const OFFSET_BITS: u32 = 40;

/// Numbers of files are below this: half of those that a position has, the other half being for shifts.
pub(super) const FILES: u64 = 1 << (63 - OFFSET_BITS);

/// The number that is added to the numbers of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Numbering {
    shift: i64,
}

impl Numbering {
    pub(super) fn position(self, point: Point) -> Position {
        let file =
            u64::try_from(i64::try_from(point.file).unwrap_or(i64::MAX).saturating_add(self.shift)).unwrap_or_default();
        file.min((1 << (64 - OFFSET_BITS)) - 1) << OFFSET_BITS | point.offset.min((1 << OFFSET_BITS) - 1)
    }

    /// The numbering in which `next` has a higher position than `last`.
    pub(super) fn after(self, last: Point, next: Point) -> Self {
        if self.position(next) > self.position(last) {
            return self;
        }
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        Numbering { shift: self.shift + signed(last.file) + 1 - signed(next.file) }
    }
}

/// The ends of the last transactions. Only there the server's position up to which rows are visible is right: when it begins a file, or writes an
/// event that belongs to no transaction, it sets that position to the end of the log, while the rows of the last transactions are not visible yet.
#[derive(Debug, Default)]
pub(super) struct Ends {
    points: VecDeque<Point>,
    /// Until then no point is sure.
    until: Option<Instant>,
}

/// Number of ends that are stored. More transactions are never between the log and the storage engine.
const ENDS: usize = 4_096;

impl Ends {
    /// Adds the end of a transaction, after all others.
    pub(super) fn add(&mut self, point: Point) {
        if self.points.len() == ENDS {
            self.points.pop_front();
        }
        self.points.push_back(point);
    }

    /// No point is sure until then.
    pub(super) fn unsure_until(&mut self, time: Instant) {
        self.until = Some(time);
    }

    /// Whether the server's position up to which rows are visible is right at this point.
    pub(super) fn is_sure(&self, point: Point, asked: Instant) -> bool {
        self.until.is_none_or(|until| asked > until) && self.points.binary_search(&point).is_ok()
    }
}

/// Up to where rows are surely visible.
#[derive(Debug, Default)]
pub(super) struct Visible {
    epoch: u64,
    sure: Option<Point>,
    /// A point that was in the log at a time, and becomes sure some time later.
    waiting: Option<(Point, Instant)>,
}

impl Visible {
    /// Adds what a query has found, and returns up to where rows are surely visible.
    pub(super) fn add(
        &mut self,
        epoch: u64,
        point: Point,
        (asked, answered): (Instant, Instant),
        is_sure: bool,
        settle: Duration,
    ) -> Option<Point> {
        if self.epoch != epoch {
            *self = Visible { epoch, ..Visible::default() };
        }
        if is_sure {
            self.sure = self.sure.max(Some(point));
            self.waiting = None;
        } else {
            if let Some((waiting, since)) = self.waiting
                && asked.saturating_duration_since(since) >= settle
            {
                self.sure = self.sure.max(Some(waiting));
                self.waiting = Some((waiting, since)).filter(|_| waiting >= point);
            }
            self.waiting.get_or_insert((point, answered));
        }
        self.sure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(file: u64, offset: u64) -> Point {
        Point { file, offset }
    }

    #[test]
    fn positions_grow_when_a_log_begins_anew() {
        let first = Numbering::default();
        assert_eq!(first.position(point(3, 5)), 3 << 40 | 5);
        assert!(first.position(point(3, 1 << 41)) < first.position(point(4, 4)));
        assert_eq!(first.after(point(3, 5), point(7, 4)), first, "files between were purged");
        let second = first.after(point(3, 5), point(1, 330));
        assert_eq!(second.position(point(1, 330)), 4 << 40 | 330);
        let third = second.after(point(1, 330), point(1, 330));
        assert_eq!(third.position(point(2, 4)), 6 << 40 | 4);
        let fourth = third.after(point(2, 4), point(900, 4));
        assert!(fourth.position(point(900, 4)) > third.position(point(2, 4)));
    }

    #[test]
    fn what_is_not_sure_becomes_visible_after_some_time() {
        let start = Instant::now();
        let at = |seconds| (start + Duration::from_secs(seconds), start + Duration::from_secs(seconds));
        let settle = Duration::from_secs(2);
        let mut visible = Visible::default();
        assert_eq!(visible.add(1, point(1, 10), at(0), false, settle), None);
        assert_eq!(visible.add(1, point(1, 20), at(1), false, settle), None);
        assert_eq!(visible.add(1, point(1, 30), at(2), false, settle), Some(point(1, 10)));
        assert_eq!(visible.add(1, point(1, 30), at(3), false, settle), Some(point(1, 10)));
        assert_eq!(visible.add(1, point(1, 30), at(4), false, settle), Some(point(1, 30)));
        assert_eq!(visible.add(1, point(1, 40), at(4), true, settle), Some(point(1, 40)));
        // The first of a new file.
        assert_eq!(visible.add(1, point(2, 4), at(5), false, settle), Some(point(1, 40)));
        assert_eq!(visible.add(1, point(2, 4), at(7), false, settle), Some(point(2, 4)));
        assert_eq!(visible.add(2, point(9, 4), at(8), false, settle), None);
    }

    #[test]
    fn only_ends_of_transactions_are_sure() {
        let now = Instant::now();
        let mut ends = Ends::default();
        assert!(!ends.is_sure(point(1, 300), now));
        ends.add(point(1, 300));
        ends.add(point(2, 500));
        for (at, sure) in [(point(1, 300), true), (point(1, 301), false), (point(2, 300), false), (point(2, 500), true)]
        {
            assert_eq!(ends.is_sure(at, now), sure, "{at:?}");
        }
        for offset in 0..ENDS as u64 {
            ends.add(point(3, offset));
        }
        assert!(!ends.is_sure(point(2, 500), now) && ends.is_sure(point(3, 5), now));
        ends.unsure_until(now + Duration::from_secs(1));
        assert!(!ends.is_sure(point(3, 5), now) && ends.is_sure(point(3, 5), now + Duration::from_secs(2)));
    }
}
