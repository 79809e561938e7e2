//! Webhooks: requests that tell other servers of events, as [Standard Webhooks](https://www.standardwebhooks.com) describes them.
//!
//! They are stored in one option, so that the site's database has all of them, and a change of one is a transaction. A job turns new
//! events into deliveries, in the transaction that records how far it is, so that each event is queued once; the outbox delivers them.

mod courier;
mod deliveries;
mod queue;
mod sign;
mod stored;

pub use courier::Webhooks;
pub use deliveries::{Delivery, QUEUE, list_deliveries, replay, test};
pub use queue::QueueWebhooks;
pub use sign::{new_secret, signature};
pub use stored::{
    Draft, Invalid, MAX_WEBHOOKS, Webhook, create, delete, is_pattern, list, rotate_secret, set_failing, set_working,
    switch_off, update,
};
