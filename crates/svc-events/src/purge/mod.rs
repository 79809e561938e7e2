//! Purging: requests that tell a cache in front of the server which responses are not valid any more.
//!
//! A job turns the entries of the log into [cache tags](svc_store::cache_tags), and queues them in the transaction that records how far
//! it is, so that each change is queued once, also those of other programs that are in the log. The outbox sends them.

mod courier;
mod queue;
mod receiver;

pub use courier::Purges;
pub use queue::{QUEUE, QueuePurges, forget, purge};
pub use receiver::{Invalid, Receiver, Service, Settings};

/// The names of the tags of a site.
pub fn tag_names(site: &svc_site::Site) -> svc_store::cache_tags::TagNames {
    svc_store::cache_tags::TagNames::new(site.registries.types.iter().map(|post_type| post_type.name.as_str()))
}
