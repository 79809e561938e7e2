//! The log of the servers under test: statements are compared with the store's snapshot, and all records can be captured.

use std::{
    io::{Result, Write},
    sync::{
        Mutex, Once, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use tracing_subscriber::{
    filter::dynamic_filter_fn,
    fmt,
    layer::{Layer as _, SubscriberExt as _},
    registry,
};

static CAPTURED: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static CAPTURING: AtomicBool = AtomicBool::new(false);

/// Installs the subscriber.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let capture = fmt::layer()
            .with_writer(|| Capture)
            .with_filter(dynamic_filter_fn(|_, _| CAPTURING.load(Ordering::Relaxed)));
        let all = registry().with(svc_testkit::statements::layer()).with(capture);
        tracing::subscriber::set_global_default(all).unwrap();
    });
}

/// Captures all records of every level from now on.
pub(crate) fn capture() {
    listen();
    CAPTURING.store(true, Ordering::Relaxed);
}

/// The captured records.
pub(crate) fn captured() -> String {
    String::from_utf8_lossy(&CAPTURED.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

struct Capture;

impl Write for Capture {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        CAPTURED.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
