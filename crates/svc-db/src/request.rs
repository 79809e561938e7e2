//! Values that a request has loaded.

use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use svc_versions::{Context, Dependencies, Transport};

/// What a request has loaded, by transport, type and name, until it writes.
#[derive(Default)]
struct Loaded {
    values: Mutex<Vec<LoadedValue>>,
    /// Whether the request has committed a write.
    has_written: AtomicBool,
}

/// The transport and the name of a value, the value, and what it depends on.
type LoadedValue = (Transport, Box<dyn Any + Send + Sync>, Arc<dyn Any + Send + Sync>, Dependencies);

/// Returns the value of this type with this name, loading it unless this request did so before. A response may reflect the
/// site at any time since its request arrived, so the value is used until the same request writes. Without a request, it
/// is always loaded.
///
/// # Errors
/// The errors of `read`; nothing is kept then.
pub fn get_or_load<K: Any + Eq + Send + Sync, T: Any + Send + Sync, E>(
    cx: &Context,
    name: K,
    read: impl FnOnce() -> Result<Arc<T>, E>,
) -> Result<Arc<T>, E> {
    if !cx.is_request() {
        return read();
    }
    let loaded = cx.state::<Loaded>();
    let find = |(over, known, value, dependencies): &LoadedValue| {
        let is_named = *over == cx.transport() && known.downcast_ref::<K>() == Some(&name);
        let value = if is_named { Arc::clone(value).downcast::<T>().ok()? } else { return None };
        cx.record(dependencies);
        Some(value)
    };
    if let Some(value) = lock(&loaded.values).iter().find_map(find) {
        return Ok(value);
    }
    let (value, dependencies) = cx.capture(read);
    let value = value?;
    lock(&loaded.values).push((cx.transport(), Box::new(name), Arc::clone(&value) as _, dependencies));
    Ok(value)
}

/// Returns whether this request has committed a write. If so, it must not respond with "try again later".
pub(crate) fn has_written(cx: &Context) -> bool {
    cx.is_request() && cx.state::<Loaded>().has_written.load(Ordering::Relaxed)
}

/// Forgets what was loaded, because the request has written, successfully or not.
pub(crate) fn after_write(cx: &Context, committed: bool) {
    if !cx.is_request() {
        return;
    }
    let loaded = cx.state::<Loaded>();
    loaded.has_written.fetch_or(committed, Ordering::Relaxed);
    lock(&loaded.values).clear();
    // The next read begins a newer snapshot.
    cx.renew_stamp(None);
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    #[test]
    fn values_are_kept_until_a_write() {
        let n_reads = Cell::new(0);
        let read = |cx: &Context, id: i64| {
            let read = || {
                n_reads.set(n_reads.get() + 1);
                Ok::<_, Infallible>(Arc::new((id, n_reads.get())))
            };
            *get_or_load(cx, id, read).unwrap()
        };
        let none = Context::background();
        assert_eq!([read(&none, 1), read(&none, 1)], [(1, 1), (1, 2)], "without a request nothing is kept");
        let request = Context::request(Transport::Plain);
        assert_eq!([read(&request, 1), read(&request, 1), read(&request, 2)], [(1, 3), (1, 3), (2, 4)]);
        assert!(!has_written(&request));
        after_write(&request, true);
        after_write(&request, false);
        assert!(has_written(&request));
        assert_eq!(read(&request, 1), (1, 5));
        assert_eq!(read(&Context::request(Transport::Plain), 1), (1, 6), "another request has its own values");
    }
}
