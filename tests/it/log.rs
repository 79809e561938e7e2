//! The log of the tests' servers: SQL statements are compared with the store's snapshot, and all other events are
//! captured on request.

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
static IS_CAPTURING: AtomicBool = AtomicBool::new(false);

/// Installs the subscriber.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let captured = fmt::layer()
            .with_writer(|| CaptureWriter)
            .with_filter(dynamic_filter_fn(|_, _| IS_CAPTURING.load(Ordering::Relaxed)));
        let all = registry().with(svc_testkit::statements::layer()).with(captured);
        tracing::subscriber::set_global_default(all).unwrap();
    });
}

/// Captures all events from now on, at every level.
pub(crate) fn capture() {
    install();
    IS_CAPTURING.store(true, Ordering::Relaxed);
}

/// The captured log.
pub(crate) fn captured() -> String {
    String::from_utf8_lossy(&CAPTURED.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

struct CaptureWriter;

impl Write for CaptureWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        CAPTURED.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
