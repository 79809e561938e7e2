//! What numbers were over the last hour, day and week, in a fixed amount of memory.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time between two readings.
pub const INTERVAL: Duration = Duration::from_secs(10);

/// A time span that a history covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// An hour, with a point for each reading.
    Hour,
    /// A day, with a point for four minutes.
    Day,
    /// A week, with a point for half an hour.
    Week,
}

impl Span {
    /// All spans, shortest first.
    pub const ALL: [Span; 3] = [Span::Hour, Span::Day, Span::Week];

    /// The name: `hour`, `day` or `week`.
    pub const fn name(self) -> &'static str {
        match self {
            Span::Hour => "hour",
            Span::Day => "day",
            Span::Week => "week",
        }
    }

    /// The span with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|span| span.name() == name)
    }

    /// The number of readings of a point.
    const fn readings(self) -> usize {
        match self {
            Span::Hour => 1,
            Span::Day => 24,
            Span::Week => 180,
        }
    }

    /// The number of points.
    pub const fn points(self) -> usize {
        match self {
            Span::Hour | Span::Day => 360,
            Span::Week => 336,
        }
    }
}

/// How the readings of a point are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combine {
    /// Their mean.
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
}

/// A number that is read again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series {
    /// What it is, for people.
    pub label: &'static str,
    /// What a value is counted in; empty for a number of things.
    pub unit: &'static str,
    /// How readings are combined.
    pub combine: Combine,
}

/// The last points of some series.
#[derive(Debug)]
pub struct History {
    series: &'static [Series],
    spans: Mutex<[Points; Span::ALL.len()]>,
}

/// The points of a span.
#[derive(Debug, Default)]
struct Points {
    /// Finished points, oldest first: a value for each series, or none if it was not known.
    done: VecDeque<Box<[Option<f32>]>>,
    /// Readings of the point that is not finished.
    open: Vec<Box<[Option<f32>]>>,
}

impl History {
    /// An empty history of these series.
    pub fn new(series: &'static [Series]) -> Self {
        History { series, spans: Mutex::default() }
    }

    /// The series.
    pub fn series(&self) -> &'static [Series] {
        self.series
    }

    /// Adds a reading: a value for each series, in order. Missing ones are not known.
    pub fn add(&self, values: &[Option<f64>]) {
        let reading: Box<[Option<f32>]> =
            (0..self.series.len()).map(|n| values.get(n).copied().flatten().map(|value| value as f32)).collect();
        let mut spans = self.lock();
        for (span, points) in Span::ALL.into_iter().zip(spans.iter_mut()) {
            points.open.push(reading.clone());
            if points.open.len() < span.readings() {
                continue;
            }
            let open = std::mem::take(&mut points.open);
            let combined = self
                .series
                .iter()
                .enumerate()
                .map(|(n, series)| combine(series.combine, open.iter().filter_map(|reading| reading[n])));
            points.done.push_back(combined.collect());
            if points.done.len() > span.points() {
                points.done.pop_front();
            }
        }
    }

    /// The points of a series, oldest first. The last one is the latest finished point.
    pub fn points(&self, series: usize, span: Span) -> Vec<Option<f32>> {
        let at = Span::ALL.iter().position(|known| *known == span).unwrap_or_default();
        self.lock()[at].done.iter().map(|point| point.get(series).copied().flatten()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, [Points; Span::ALL.len()]> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn combine(how: Combine, values: impl Iterator<Item = f32>) -> Option<f32> {
    let (mut n, mut sum) = (0_u16, 0.0_f32);
    let (mut min, mut max) = (f32::INFINITY, f32::NEG_INFINITY);
    for value in values {
        n = n.saturating_add(1);
        sum += value;
        min = min.min(value);
        max = max.max(value);
    }
    (n > 0).then(|| match how {
        Combine::Mean => sum / f32::from(n),
        Combine::Max => max,
        Combine::Min => min,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERIES: &[Series] = &[
        Series { label: "Boats", unit: "", combine: Combine::Mean },
        Series { label: "Wind", unit: "kn", combine: Combine::Max },
        Series { label: "Depth", unit: "m", combine: Combine::Min },
    ];

    #[test]
    fn readings_are_combined_to_points() {
        let history = History::new(SERIES);
        for n in 0..48 {
            let depth = if n < 24 { None } else { Some(f64::from(n)) };
            history.add(&[Some(f64::from(n)), Some(f64::from(n)), depth]);
        }
        assert_eq!(history.points(0, Span::Hour).len(), 48);
        assert_eq!(history.points(0, Span::Day), [Some(11.5), Some(35.5)]);
        assert_eq!(history.points(1, Span::Day), [Some(23.0), Some(47.0)]);
        assert_eq!(history.points(2, Span::Day), [None, Some(24.0)]);
        assert_eq!((history.points(0, Span::Week).len(), history.points(9, Span::Hour)[0]), (0, None));
    }

    #[test]
    fn old_points_are_forgotten() {
        let history = History::new(SERIES);
        for n in 0..100_000 {
            history.add(&[Some(f64::from(n))]);
        }
        for span in Span::ALL {
            assert_eq!(history.points(0, span).len(), span.points(), "{span:?}");
        }
        assert_eq!(history.points(0, Span::Hour).last(), Some(&Some(99_999.0)));
        assert_eq!(history.points(1, Span::Hour).last(), Some(&None));
    }
}
