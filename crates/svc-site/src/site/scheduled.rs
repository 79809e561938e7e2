//! Wakes the publisher of scheduled posts when a post is scheduled, whoever has stored it.

use std::sync::Arc;

use svc_store::{
    ChangeRecord, Subscriber,
    post_changes::{PostChange, PostChanges},
};
use tokio::sync::Notify;

/// Notified when this process schedules a post or changes a scheduled one.
#[derive(Clone, Debug, Default)]
pub struct Scheduled(Arc<Notify>);

impl Scheduled {
    /// Notified when a post is scheduled. A post that was scheduled since the last wait counts.
    pub fn notify(&self) -> &Notify {
        &self.0
    }
}

impl Subscriber for Scheduled {
    fn committed(&self, changes: &ChangeRecord) {
        let is_scheduled = |change: &PostChange| change.after.as_ref().is_some_and(|post| post.status == "future");
        if PostChanges::of(changes).iter().any(is_scheduled) {
            self.0.notify_one();
        }
    }
}
