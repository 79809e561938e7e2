//! Preconditions of a request on the state of an object (RFC 9110, section 13): what a client requires to be unchanged.
//!
//! They are a value of the request's context ([`PendingPreconditions`]) and are checked by [`Site::write`](crate::Site::write) at the
//! beginning of the request's first transaction, which therefore changes nothing if they are false. Transactions are
//! serialized, so the object cannot change between the check and the write.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use svc_model::Timestamp;
use svc_routing::EntityTags;
use svc_schema::Error;
use svc_store::{Db, Tx};

use crate::{SiteResult, errors::preconditions as errors};

/// The state of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectState {
    /// Identifies the state; the first part of entity tags.
    pub tag: String,
    /// When the object was last changed, in UTC, if this is stored.
    pub modified: Timestamp,
}

/// Reads the state of the object that a request names; `None` if there is no such object.
pub type ReadState = Arc<dyn Fn(&mut Db) -> SiteResult<Option<ObjectState>> + Send + Sync>;

/// The conditions of a request on the state of its object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// The state is one of these.
    pub if_match: Option<EntityTags>,
    /// The state is none of these.
    pub if_none_match: Option<EntityTags>,
    /// The object was not changed after this time. Ignored if [`if_match`](Self::if_match) is present.
    pub if_unmodified_since: Timestamp,
    /// Whether the site rejects changes to existing objects without a precondition.
    pub required: bool,
}

impl Preconditions {
    /// Whether nothing has to be checked.
    pub fn is_empty(&self) -> bool {
        *self == Preconditions::default()
    }

    /// Checks the preconditions against the state of the object.
    ///
    /// # Errors
    /// 412 if one is false, 428 if one is required and there is none, 400 for a date if the object has none.
    pub fn check(&self, state: Option<&ObjectState>) -> Result<(), Error> {
        let names = |tags: &EntityTags| state.is_some_and(|state| tags.names_state(&state.tag));
        if self.if_match.as_ref().is_some_and(|tags| !names(tags)) {
            return Err(errors::failed());
        }
        if self.if_match.is_none()
            && let Some(since) = self.if_unmodified_since
        {
            match state.map(|state| state.modified) {
                Some(Some(modified)) if modified <= since => {}
                Some(None) => return Err(errors::no_date()),
                _ => return Err(errors::failed()),
            }
        }
        if self.if_none_match.as_ref().is_some_and(names) {
            return Err(errors::failed());
        }
        let has_any = self.if_match.is_some() || self.if_none_match.is_some() || self.if_unmodified_since.is_some();
        if self.required && !has_any && state.is_some() { Err(errors::required()) } else { Ok(()) }
    }
}

/// Preconditions of the current request, and how to read the state that they are about.
pub struct PendingPreconditions {
    preconditions: Preconditions,
    read: ReadState,
    /// Whether the request has committed a transaction. Later ones are not checked, because the request has then
    /// changed the object itself.
    is_settled: AtomicBool,
}

impl PendingPreconditions {
    /// Preconditions of a request, which [`Context::with`](svc_versions::Context::with) adds to its context.
    pub fn new(preconditions: Preconditions, read: ReadState) -> Self {
        PendingPreconditions { preconditions, read, is_settled: AtomicBool::new(false) }
    }

    /// Whether the request has committed a transaction.
    pub fn is_settled(&self) -> bool {
        self.is_settled.load(Ordering::Relaxed)
    }

    /// Checks the preconditions against the state in this snapshot or transaction.
    ///
    /// # Errors
    /// See [`Preconditions::check`]; errors of the store.
    pub fn check(&self, db: &mut Db) -> SiteResult<()> {
        let state = (self.read)(db)?;
        Ok(self.preconditions.check(state.as_ref())?)
    }

    /// Runs `f` in the transaction if the preconditions are true.
    pub(crate) fn guard<T>(&self, tx: &mut Tx, f: impl FnOnce(&mut Tx) -> SiteResult<T>) -> SiteResult<T> {
        self.check(tx)?;
        f(tx)
    }

    /// Called once a transaction is committed.
    pub(crate) fn settle(&self) {
        self.is_settled.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::*;

    #[test]
    fn preconditions_on_states() {
        let day = |day| NaiveDate::from_ymd_opt(2024, 1, day).and_then(|date| date.and_hms_opt(0, 0, 0));
        let state = |modified| Some(ObjectState { tag: "s".to_owned(), modified });
        let (dated, dateless) = (state(day(2)), state(None));
        let tags = |text: &str| Some(EntityTags::parse(text));
        let none = Preconditions::default;
        let if_match = |text| Preconditions { if_match: tags(text), ..none() };
        let if_none_match = |text| Preconditions { if_none_match: tags(text), ..none() };
        let since = |n| Preconditions { if_unmodified_since: day(n), ..none() };
        let required = |p| Preconditions { required: true, ..p };
        #[rustfmt::skip]
        let rows = [
            (none(), &dated, 0), (none(), &None, 0),
            (if_match(r#""s-1""#), &dated, 0), (if_match(r#""s""#), &dated, 0),
            (if_match(r#""t-1""#), &dated, 412), (if_match(r#"W/"s-1""#), &dated, 412), (if_match(""), &dated, 412),
            (if_match("*"), &dated, 0), (if_match("*"), &None, 412), (if_match(r#""s-1""#), &None, 412),
            (if_none_match("*"), &dated, 412), (if_none_match("*"), &None, 0),
            (if_none_match(r#""s-1""#), &dated, 412), (if_none_match(r#""t-1""#), &dated, 0),
            (since(1), &dated, 412), (since(2), &dated, 0), (since(3), &dated, 0), (since(3), &None, 412), (since(3), &dateless, 400),
            (Preconditions { if_unmodified_since: day(1), ..if_match("*") }, &dated, 0),
            (required(none()), &dated, 428), (required(none()), &None, 0),
            (required(if_match("*")), &dated, 0), (required(if_match(r#""t""#)), &dated, 412), (required(since(2)), &dated, 0),
        ];
        for (preconditions, state, status) in rows {
            let checked = preconditions.check(state.as_ref()).map_or_else(|error| error.status(), |()| 0);
            assert_eq!(checked, status, "{preconditions:?} {state:?}");
        }
    }
}
