//! Conditional requests: the object that a route reads and changes, the preconditions of requests for it, and the
//! validators of its responses. `svc_site` checks the preconditions in the transaction.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, NaiveDateTime, TimeDelta};
use svc_model::PostId;
use svc_routing::{Conditional, EntityTags, Method, Request, Result, Validators};
use svc_site::{
    Site,
    object_state::ConditionalObject,
    preconditions::{ObjectState, PendingPreconditions, Preconditions, ReadState},
};
use svc_versions::{Context, VersionedCache};

use crate::respond;

/// Age from which a modification date identifies a state: dates have a precision of a second, so an object may change again
/// in the second of its last change.
const CERTAIN_AFTER: TimeDelta = TimeDelta::seconds(2);

/// The object that a request names.
type FindSubject = Box<dyn Fn(&Request) -> Option<ConditionalObject> + Send + Sync>;

struct ObjectRoute {
    site: Arc<Site>,
    subject: FindSubject,
    /// The states of objects that were read, until they change.
    states: VersionedCache<ConditionalObject, ObjectState>,
}

/// Memory for the states of a route, in bytes, and that of one.
const STATES_CAPACITY: u64 = 256 << 10;
const STATE_SIZE: usize = 256;

/// Makes a route conditional on the object that `subject` finds in its requests.
pub(crate) fn on(
    site: &Arc<Site>,
    subject: impl Fn(&Request) -> Option<ConditionalObject> + Send + Sync + 'static,
) -> Arc<dyn Conditional> {
    let states = VersionedCache::new(STATES_CAPACITY);
    Arc::new(ObjectRoute { site: Arc::clone(site), subject: Box::new(subject), states })
}

/// Makes a route conditional on the object whose id is the parameter `id`.
pub(crate) fn on_id(site: &Arc<Site>, subject: fn(i64) -> ConditionalObject) -> Arc<dyn Conditional> {
    on(site, move |req| Some(subject(respond::number(req, "id"))))
}

/// Makes a route conditional on the post whose id is the parameter `id`.
pub(crate) fn on_post(site: &Arc<Site>) -> Arc<dyn Conditional> {
    on_id(site, |id| ConditionalObject::Post(PostId(id)))
}

impl ObjectRoute {
    /// Reads the state in the transaction that changes the object.
    fn read_state(&self, subject: ConditionalObject) -> ReadState {
        let site = Arc::clone(&self.site);
        Arc::new(move |db| subject.state(&site, db))
    }

    /// The state for a response. A failure to read it fails the response as well.
    fn current_state(&self, cx: &Context, subject: ConditionalObject) -> Option<ObjectState> {
        let (store, stamp) = (&self.site.store, self.site.store.stamp(cx));
        if let Some(state) = stamp.and_then(|stamp| self.states.get(cx, store.versions(), &subject, stamp)) {
            return Some(state);
        }
        let (state, dependencies) = cx.capture(|| self.site.read(cx, |db| subject.state(&self.site, db)));
        let state = state.ok().flatten()?;
        if let Some(stamp) = stamp {
            self.states.insert(cx.transport(), subject, state.clone(), STATE_SIZE, dependencies, stamp);
        }
        Some(state)
    }

    fn validators(&self, cx: &Context, state: ObjectState) -> Validators {
        let certain = state.modified.filter(|modified| *modified + CERTAIN_AFTER <= self.site.clock());
        if certain != state.modified {
            // The date is sent soon.
            cx.recheck_after(Duration::from_secs(1));
        }
        Validators { state: Some(state.tag), modified: certain.map(|modified| modified.and_utc().timestamp()) }
    }
}

impl Conditional for ObjectRoute {
    fn begin(&self, req: Request) -> (Request, Option<Validators>) {
        let Some(subject) = (self.subject)(&req) else { return (req, None) };
        if matches!(*req.method(), Method::GET | Method::HEAD) {
            let validators = self.current_state(req.cx(), subject).map(|state| self.validators(req.cx(), state));
            return (req, validators);
        }
        let preconditions = preconditions_of(&req, self.site.policies.require_preconditions);
        if preconditions.is_empty() {
            return (req, None);
        }
        let cx = req.cx().with(PendingPreconditions::new(preconditions, self.read_state(subject)));
        (req.with_cx(cx), None)
    }

    /// Checks before the transaction as well, so that nothing is prepared for a write that will be rejected.
    fn check(&self, req: &Request) -> Result<()> {
        match req.cx().get::<PendingPreconditions>().filter(|pending| !pending.is_settled()) {
            Some(pending) => self.site.read(req.cx(), |db| pending.check(db)),
            None => Ok(()),
        }
    }
}

/// The preconditions in the headers of a request. Invalid dates are ignored (RFC 9110).
fn preconditions_of(req: &Request, required: bool) -> Preconditions {
    let tags = |name| req.header(name).map(EntityTags::parse);
    let since = req.header("if-unmodified-since").and_then(http_date);
    Preconditions {
        if_match: tags("if-match"),
        if_none_match: tags("if-none-match"),
        if_unmodified_since: since,
        required,
    }
}

/// A date in a header, in UTC.
fn http_date(text: &str) -> Option<NaiveDateTime> {
    let seconds = httpdate::parse_http_date(text).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs();
    Some(DateTime::from_timestamp(i64::try_from(seconds).ok()?, 0)?.naive_utc())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_headers() {
        for text in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(http_date(text).map(|date| date.and_utc().timestamp()), Some(784_111_777), "{text}");
        }
        assert_eq!(http_date("yesterday"), None);
    }
}
