//! Where the part of a request runs that reads or writes data.

use std::pin::Pin;

use http::{Extensions, request::Parts};
use svc_routing::Cost;
use svc_versions::Context;
use tokio::sync::oneshot;

use crate::transport_of;

/// The part of a request that reads or writes data. Its result goes elsewhere.
pub type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Too many requests are waiting, or one has waited for too long. A retry after some seconds may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded;

/// Runs requests, so that those that read data cannot delay connections, files and cached responses.
pub trait Runner: Send + Sync {
    /// Runs `work` to its end, for a request with this cost. Dropping the future cancels the work.
    ///
    /// # Errors
    /// [`Overloaded`] if the work was not started.
    fn run(&self, cost: Cost, work: Work) -> Pin<Box<dyn Future<Output = Result<(), Overloaded>> + Send>>;

    /// Whether its threads run nothing else, so that reads may block them.
    fn may_block(&self) -> bool {
        false
    }
}

impl dyn Runner + '_ {
    /// The context of a request that this runs: a [`Context`] in its extensions, or a new one.
    pub fn context(&self, request: &Parts) -> Context {
        if let Some(cx) = request.extensions.get::<Context>() {
            return cx.clone();
        }
        let transport = transport_of(request);
        if self.may_block() { Context::blocking_request(transport) } else { Context::request(transport) }
    }
}

/// The context that middleware has added to the extensions of a request; without one, that of work without a request.
pub fn context_of(extensions: &Extensions) -> Context {
    extensions.get::<Context>().cloned().unwrap_or_else(Context::background)
}

/// Runs everything where the connection is served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inline;

impl Runner for Inline {
    fn run(&self, _: Cost, work: Work) -> Pin<Box<dyn Future<Output = Result<(), Overloaded>> + Send>> {
        Box::pin(async move {
            work.await;
            Ok(())
        })
    }
}

/// Runs `work` and returns its result.
///
/// # Errors
/// [`Overloaded`] if it was not started, or ended early because the server stops.
pub async fn run<T: Send + 'static>(
    runner: &dyn Runner,
    cost: Cost,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Overloaded> {
    let (sender, receiver) = oneshot::channel();
    let work = async move {
        // The receiver is gone if the client is.
        let _sent = sender.send(work.await);
    };
    runner.run(cost, Box::pin(work)).await?;
    receiver.await.map_err(|_| Overloaded)
}
