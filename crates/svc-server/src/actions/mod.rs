//! WordPress's actions after writes of this server.
//!
//! `object.rs` finds the object of a write and what it was before, `outbox.rs` stores entries on disk, `delivery.rs` sends them to
//! the connector, which runs the actions. An entry is on disk before the write begins, so that a crash cannot lose it. The connector
//! reads what is stored when it runs the actions, so that an entry may be delivered twice, or for a write that failed.

mod delivery;
mod object;
mod outbox;

use std::{io, path::Path, sync::Arc, time::Duration};

use http::{HeaderMap, Method, StatusCode, header};
use serde_json::{Map, Value};
use svc_controllers::RestSite;
use svc_model::UserId;
use tokio::sync::Notify;

pub use self::delivery::Delivery;
use self::{
    object::{Object, Subject},
    outbox::{Entry, Outbox},
};
use crate::connector::client::Connector;

/// Folder of the outbox in the data folder.
const FOLDER: &str = "actions";

/// Time after the limit of a request after which its write has ended: if its outcome is unknown, it is delivered.
const GRACE: Duration = Duration::from_secs(60);

/// The actions of one site. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Actions(Arc<Inner>);

struct Inner {
    site: Arc<RestSite>,
    outbox: Outbox,
    connector: Connector,
    /// Age at which an entry without a known outcome is delivered.
    unknown_after: Duration,
    finished: Notify,
}

/// Why this server cannot handle a write.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotBegun {
    /// The actions of such objects are not known.
    #[error("only WordPress runs the actions of this route")]
    Unknown,
    /// Too many entries are waiting or have failed.
    #[error("the outbox of actions is full")]
    Full,
    /// The database or the outbox cannot be used.
    #[error("the outbox of actions cannot be used: {0}")]
    Failed(String),
}

/// A write in progress, whose entry is on disk. If it is dropped, the outcome is unknown, and the entry is delivered later.
pub(crate) struct Begun {
    actions: Actions,
    name: String,
    entry: Entry,
}

impl Actions {
    /// The actions of a site, with requests that take at most this time.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub(crate) fn open(
        site: Arc<RestSite>,
        data: &Path,
        connector: Connector,
        request: Duration,
    ) -> io::Result<Actions> {
        let outbox = Outbox::open(&data.join(FOLDER))?;
        let (unknown_after, finished) = (request + GRACE, Notify::new());
        Ok(Actions(Arc::new(Inner { site, outbox, connector, unknown_after, finished })))
    }

    /// Stores an entry for a write with these parameters.
    ///
    /// # Errors
    /// The reason for which WordPress must handle the write.
    pub(crate) async fn begin(
        &self,
        method: &Method,
        route: &str,
        params: &Map<String, Value>,
    ) -> Result<Begun, NotBegun> {
        let subject = Subject::of(&self.0.site, route).ok_or(NotBegun::Unknown)?;
        if self.0.outbox.is_full() {
            return Err(NotBegun::Full);
        }
        let (own, method, route, params) = (self.clone(), method.clone(), route.to_owned(), params.clone());
        let stored = tokio::task::spawn_blocking(move || {
            let object = Object::read(&own.0.site, subject, &method, &route, params);
            let object = object.map_err(|error| NotBegun::Failed(error.to_string()))?;
            let entry = Entry { finished: false, object };
            let name = own.0.outbox.begin(&entry).map_err(|error| NotBegun::Failed(error.to_string()))?;
            Ok(Begun { actions: own, name, entry })
        });
        stored.await.map_err(|error| NotBegun::Failed(error.to_string()))?
    }
}

impl Begun {
    /// Records the outcome, without waiting for the disk. `has_stored` is whether the request has committed anything.
    pub(crate) fn end(self, status: StatusCode, headers: &HeaderMap, user: Option<UserId>, has_stored: bool) {
        // After an error of the server, the write may have been committed. One of several steps may fail after the first.
        if status.is_server_error() || has_stored && !status.is_success() {
            return;
        }
        let location = headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
        let created = location.and_then(|url| url.rsplit('/').next()?.parse().ok());
        let Begun { actions, name, mut entry } = self;
        // Nobody waits for the task: if the process ends first, the outcome is unknown.
        drop(tokio::task::spawn_blocking(move || {
            let done = if status.is_success() {
                entry.finished = true;
                entry.object.user = user.map_or(0, |user| user.0);
                entry.object.id = entry.object.id.or(created);
                actions.0.outbox.finish(&name, &entry)
            } else {
                actions.0.outbox.remove(&name)
            };
            if let Err(error) = done {
                tracing::warn!(%error, "the outcome of a write was not recorded; its actions run later");
            }
            actions.0.finished.notify_one();
        }));
    }
}

/// How many entries wait or have failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Entries that wait for delivery, including writes in progress.
    pub(crate) waiting: usize,
    /// Age of the oldest one.
    pub(crate) oldest: Duration,
    /// Entries whose delivery has failed.
    pub(crate) failed: usize,
}

impl Summary {
    /// The summary of the outbox in a data folder; `None` if there is no outbox.
    pub(crate) fn of(data: &Path) -> Option<Summary> {
        Outbox::summary(&data.join(FOLDER)).ok()
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Summary { waiting, oldest, failed } = self;
        write!(f, "{waiting} waiting (oldest {} s), {failed} failed", oldest.as_secs())
    }
}

/// Lets failed entries be delivered again. Returns their number.
///
/// # Errors
/// If the outbox cannot be changed.
pub(crate) fn retry(data: &Path) -> io::Result<usize> {
    Outbox::retry(&data.join(FOLDER))
}
