//! The status of the server, for administrators: the site's health, and plots of the last hour, day or week.

use std::fmt::Write as _;

use askama::Template;
use http::StatusCode;
use svc_login::Page;
use svc_metrics::{History, INTERVAL, Span};
use svc_schema::Error;

use crate::{
    health::Health,
    layout::{self, Layout, Link, STATUS},
    request::AdminRequest,
};

/// Width and height of the area of a plot.
const SIZE: (f32, f32) = (320.0, 80.0);

/// A plot as the template draws it.
struct Plot {
    label: &'static str,
    now: String,
    most: String,
    /// Lines, as the attribute `d` of a path: one for each time without a gap.
    line: String,
    /// The areas below the lines.
    area: String,
    /// Whether there are no values at all.
    is_empty: bool,
}

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage {
    page: Layout,
    /// What the tests of the site's health have found, if they have been run.
    health: Option<Health>,
    /// The URL of the form that runs them; empty if the user may not.
    check: String,
    /// The spans, and whether each is the shown one.
    spans: Vec<(Link, bool)>,
    plots: Vec<Plot>,
    interval: u64,
}

impl AdminRequest<'_> {
    /// The page with the plots.
    pub(crate) async fn show_status(&self) -> Page {
        if !self.can("manage_options") {
            return Err(Error::new("admin_no_status", "You may not see the server's status.").with_status(403));
        }
        let Some(history) = &self.admin.history else { return Err(crate::not_found()) };
        let span = Span::named(self.param("span")).unwrap_or(Span::Hour);
        let url = |span: Span| self.url(STATUS, &[("span", span.name())]);
        let spans = Span::ALL.map(|other| (Link::new(format!("Last {}", other.name()), url(other)), other == span));
        let template = StatusPage {
            page: self.layout("Status", &self.url(STATUS, &[])).await?,
            health: self.admin.health.get().filter(|_| self.sees_health()),
            check: if self.sees_health() { self.url(STATUS, &[]) } else { String::new() },
            spans: spans.into(),
            plots: plots(history, span),
            interval: INTERVAL.as_secs(),
        };
        Ok(layout::html(StatusCode::OK, &template))
    }
}

fn plots(history: &History, span: Span) -> Vec<Plot> {
    let plot = |(at, series): (usize, &svc_metrics::Series)| {
        let points = history.points(at, span);
        let most = points.iter().flatten().copied().fold(0.0_f32, f32::max);
        let (line, area) = paths(&points, span.points(), most);
        let shown = |value: Option<f32>| value.map_or_else(|| "–".to_owned(), |value| quantity(value, series.unit));
        Plot {
            label: series.label,
            now: shown(points.last().copied().flatten()),
            most: quantity(most, series.unit),
            is_empty: points.iter().all(Option::is_none),
            line,
            area,
        }
    };
    history.series().iter().enumerate().map(plot).collect()
}

/// A value with its unit: `12.5 ms`.
fn quantity(value: f32, unit: &str) -> String {
    let number = match value {
        value if value.fract() == 0.0 || value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    };
    if unit.is_empty() { number } else { format!("{number}\u{a0}{unit}") }
}

/// The lines through the points, and the areas below them. The latest point is at the right end.
fn paths(points: &[Option<f32>], n: usize, most: f32) -> (String, String) {
    let (width, height) = SIZE;
    let step = width / n.saturating_sub(1).max(1) as f32;
    let start = n.saturating_sub(points.len());
    let x = |at: usize| (start + at) as f32 * step;
    let y = |value: f32| if most > 0.0 { height - value / most * height } else { height };
    let (mut line, mut area) = (String::new(), String::new());
    let mut from = None;
    for at in 0..=points.len() {
        match (points.get(at).copied().flatten(), from) {
            (Some(value), None) => {
                from = Some(at);
                let _ = write!(line, "M{:.1} {:.1}", x(at), y(value));
                let _ = write!(area, "M{:.1} {height}L{:.1} {:.1}", x(at), x(at), y(value));
            }
            (Some(value), Some(_)) => {
                let _ = write!(line, "L{:.1} {:.1}", x(at), y(value));
                let _ = write!(area, "L{:.1} {:.1}", x(at), y(value));
            }
            (None, Some(begun)) => {
                let last = at.saturating_sub(1);
                // A single point is a line of no length, whose round ends are seen.
                if last == begun {
                    let _ = write!(line, "h0");
                }
                let _ = write!(area, "L{:.1} {height}Z", x(last));
                from = None;
            }
            (None, None) => {}
        }
    }
    (line, area)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_where_values_are_missing() {
        let (line, area) = paths(&[Some(0.0), Some(4.0), None, Some(2.0)], 5, 4.0);
        assert_eq!(line, "M80.0 80.0L160.0 0.0M320.0 40.0h0");
        assert_eq!(area, "M80.0 80L80.0 80.0L160.0 0.0L160.0 80ZM320.0 80L320.0 40.0L320.0 80Z");
        assert_eq!(paths(&[Some(0.0)], 2, 0.0).0, "M320.0 80.0h0");
        assert_eq!(paths(&[], 2, 0.0), (String::new(), String::new()));
    }

    #[test]
    fn quantities_have_three_digits() {
        for (value, unit, text) in [
            (0.0, "", "0"),
            (3.456, "ms", "3.46\u{a0}ms"),
            (34.56, "", "34.6"),
            (345.6, "%", "346\u{a0}%"),
            (7.0, "", "7"),
        ] {
            assert_eq!(quantity(value, unit), text);
        }
    }
}
