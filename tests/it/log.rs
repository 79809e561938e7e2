//! What the servers of these tests log: statements are held against the store's snapshot, all else is kept once somebody
//! asks for it.

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

static KEPT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static KEEPING: AtomicBool = AtomicBool::new(false);

/// Listens from now on.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let kept =
            fmt::layer().with_writer(|| Kept).with_filter(dynamic_filter_fn(|_, _| KEEPING.load(Ordering::Relaxed)));
        let all = registry().with(svc_testkit::statements::layer()).with(kept);
        tracing::subscriber::set_global_default(all).unwrap();
    });
}

/// Keeps everything from now on, whatever its level.
pub(crate) fn keep() {
    listen();
    KEEPING.store(true, Ordering::Relaxed);
}

/// What was kept.
pub(crate) fn kept() -> String {
    String::from_utf8_lossy(&KEPT.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

struct Kept;

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        KEPT.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
