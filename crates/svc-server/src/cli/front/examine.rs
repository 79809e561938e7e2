//! `doctor` in front of a WordPress.

use anyhow::Result;
use svc_bridge::RouteReport;

use crate::{
    background,
    cli::{
        block_on,
        output::{columns, print_warning, say},
        progress::Progress,
    },
    config::{Config, WordPress},
    front::{Front, doctor},
};

/// Prints what `doctor` finds in front of a WordPress.
pub(in crate::cli) fn examine(config: &Config, wordpress: &WordPress) -> Result<()> {
    let front = Front::open(config, wordpress)?;
    let progress = Progress::start("asking WordPress");
    let found = block_on(doctor::examine(&front, config, wordpress))?;
    drop(progress);
    let rows: Vec<Vec<String>> = found.rows.into_iter().map(|row| row.to_vec()).collect();
    say(columns(&rows).trim_end());
    let (title, jobs) = background::report(config);
    say(&format!("\n{title}"));
    if !jobs.is_empty() {
        say(columns(&jobs).trim_end());
    }
    if !found.routes.is_empty() {
        let head = RouteReport::COLUMNS.map(str::to_owned).to_vec();
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(found.routes).collect();
        say(&format!("\nRoutes on which WordPress spends most time:\n\n{}", columns(&rows).trim_end()));
    }
    for warning in found.warnings {
        print_warning(&warning);
    }
    Ok(())
}
