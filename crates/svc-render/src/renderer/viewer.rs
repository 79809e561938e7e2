//! The viewer of a rendered page.

use svc_auth::Caller;
use svc_site::UnlockedPosts;

use crate::renderer::missing::MissingFeeds;

/// The viewer of a page, and the page's URL.
#[derive(Clone, Debug, Default)]
pub struct BlockViewer {
    /// The authenticated user, or anonymous.
    pub caller: Caller,
    /// The requested URL.
    pub url: String,
    /// Nonce for the log-out link.
    pub logout_nonce: String,
    /// Collects external feeds that are not cached yet.
    pub missing: MissingFeeds,
    /// Password-protected posts that the viewer has unlocked.
    pub unlocked: UnlockedPosts,
}
