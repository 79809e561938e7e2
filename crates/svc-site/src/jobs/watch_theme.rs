//! The job that looks for changed files of the theme.

use std::{sync::Arc, time::Duration};

use svc_versions::Context;

use super::{Job, Next, Outcome, RunsOn};
use crate::{Site, blocking::run_blocking};

/// Time between two checks of the theme's files.
const INTERVAL: Duration = Duration::from_secs(1);

/// Checks the files of the theme regularly, so that responses that depend on them are cached until they change. Without
/// these checks, such responses are cached for a second only.
pub struct WatchTheme(pub Arc<Site>);

impl Job for WatchTheme {
    fn name(&self) -> &'static str {
        "watch-theme"
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::EachServer
    }

    async fn run(&self, cx: &Context) -> Outcome {
        let (site, cx) = (Arc::clone(&self.0), cx.clone());
        run_blocking(move || site.watch_theme(&cx)).await??;
        Ok(Next::After(INTERVAL))
    }
}
