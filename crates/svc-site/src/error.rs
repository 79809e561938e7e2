//! What goes wrong between the store and the wire.

use svc_schema::Error;
use svc_store::StoreError;

/// A failure inside a transaction or a read: an error of the interface, or one of the store.
#[derive(Debug)]
pub enum SiteError {
    /// To be answered as it is.
    Wire(Error),
    /// To be logged, and answered without its detail.
    Store(StoreError),
}

/// What runs against the store gives.
pub type SiteResult<T> = Result<T, SiteError>;

impl From<Error> for SiteError {
    fn from(error: Error) -> Self {
        SiteError::Wire(error)
    }
}

impl From<StoreError> for SiteError {
    fn from(error: StoreError) -> Self {
        SiteError::Store(error)
    }
}

impl From<SiteError> for Error {
    /// The store's detail is logged and never sent: a client learns whether to try again, no more.
    fn from(fail: SiteError) -> Self {
        match fail {
            SiteError::Wire(error) => error,
            // What a request names in lists is bounded by what a statement takes.
            SiteError::Store(StoreError::TooMany) => {
                Error::new("rest_invalid_param", "The request names more values than one query can take.")
                    .with_status(400)
            }
            SiteError::Store(error) if error.is_temporary() => {
                tracing::warn!(%error, "the store is busy");
                Error::new("rest_service_unavailable", "The site is busy. Try again in a moment.").with_status(503)
            }
            SiteError::Store(error) => {
                tracing::error!(%error, "the store failed");
                Error::new("rest_internal_error", "The site could not do this. The failure has been logged.")
                    .with_status(500)
            }
        }
    }
}
