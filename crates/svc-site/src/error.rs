//! Errors inside transactions and reads.

use svc_schema::Error;
use svc_store::StoreError;

use crate::outage;

/// A failure inside a transaction or a read: an API error or an error of the store.
#[derive(Debug)]
pub enum SiteError {
    /// Returned to the client as it is.
    Wire(Error),
    /// Logged; the client receives no detail.
    Store(StoreError),
}

/// Result of a function that runs inside a transaction or a read.
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
    /// Details of store errors are logged and never sent: the client only learns whether to retry.
    fn from(fail: SiteError) -> Self {
        match fail {
            SiteError::Wire(error) => error,
            // Lists in requests are limited to the number of parameters of one statement.
            SiteError::Store(StoreError::TooMany) => {
                Error::new("rest_invalid_param", "The request contains more values than one query supports.")
                    .with_status(400)
            }
            SiteError::Store(StoreError::NoPosition) => crate::errors::lists::invalid_cursor(),
            SiteError::Store(error) if error.is_temporary() => {
                outage::log(&error);
                Error::new("rest_service_unavailable", "The site is busy. Try again in a moment.").with_status(503)
            }
            SiteError::Store(error) => {
                outage::log(&error);
                Error::new(
                    "rest_internal_error",
                    "The request failed because of an internal error, which has been logged.",
                )
                .with_status(500)
            }
        }
    }
}
