//! Statuses.
/// Placeholder.
#[derive(Clone, Debug)]
pub struct PostStatus;
/// Placeholder.
#[derive(Clone, Debug)]
pub struct PostStatuses;
