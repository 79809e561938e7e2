#![doc = include_str!("../README.md")]

mod administer;
mod deliver;
mod message;
mod table;
#[cfg(test)]
mod tests;
mod time;

pub use administer::{Counts, Page, counts, delete_finished, find, list, retry};
pub use deliver::{Claim, Outcome, claim, finish, next_due};
pub use message::{MAX_ID, MAX_PAYLOAD, Message, NewMessage, State, put};
pub use table::{OUTBOX, TABLE};
pub use time::Time;
