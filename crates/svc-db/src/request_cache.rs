//! A request-scoped cache.
//!
//! A response may reflect the site at any time since its request arrived. Within [`scope`], values loaded through
//! [`get_or_load`] are therefore cached until the same request writes. With a networked database this saves dozens of
//! queries per request.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

use svc_versions::Dependencies;

use crate::session;

/// Cache key: address of the owner, which outlives the request, the type of the value, and its id.
type Key = (usize, TypeId, i64);

/// A cached value, and what it depends on.
type CacheEntry = (Key, Arc<dyn Any + Send + Sync>, Dependencies);

tokio::task_local! {
    static ENTRIES: RefCell<Vec<CacheEntry>>;
    /// Whether the request has committed a write.
    static HAS_WRITTEN: Cell<bool>;
}

/// Runs a whole request. Tasks that it spawns are outside the scope.
///
/// Reads of the store share one connection and one snapshot until the request writes or waits for something.
pub async fn scope<F: Future>(request: F) -> F::Output {
    let recorded = svc_versions::scope(None, session::scope(request));
    HAS_WRITTEN.scope(Cell::new(false), ENTRIES.scope(RefCell::default(), recorded)).await.0
}

/// Returns the owner's value of this type, loading it unless this request did so before. Outside of [`scope`] it is
/// always loaded.
///
/// # Errors
/// The errors of `read`; nothing is cached then.
pub fn get_or_load<O, T: Any + Send + Sync, E>(
    owner: &O,
    read: impl FnOnce() -> Result<Arc<T>, E>,
) -> Result<Arc<T>, E> {
    get_or_load_by_id(owner, 0, read)
}

/// Like [`get_or_load`], for one of several values of this type, identified by `id`.
///
/// # Errors
/// The errors of `read`; nothing is cached then.
pub fn get_or_load_by_id<O, T: Any + Send + Sync, E>(
    owner: &O,
    id: i64,
    read: impl FnOnce() -> Result<Arc<T>, E>,
) -> Result<Arc<T>, E> {
    let key = (std::ptr::from_ref(owner).addr(), TypeId::of::<T>(), id);
    if let Some(value) = find(key) {
        return Ok(value);
    }
    let (value, dependencies) = svc_versions::capture(read);
    let value = value?;
    let entry: Arc<dyn Any + Send + Sync> = value.clone();
    // Outside of a request nothing is cached.
    let _ = ENTRIES.try_with(|entries| entries.borrow_mut().push((key, entry, dependencies)));
    Ok(value)
}

fn find<T: Any + Send + Sync>(key: Key) -> Option<Arc<T>> {
    let find = |entries: &RefCell<Vec<CacheEntry>>| {
        let entries = entries.borrow();
        let (_, value, dependencies) = entries.iter().find(|(of, ..)| *of == key)?;
        svc_versions::record(dependencies);
        Arc::clone(value).downcast::<T>().ok()
    };
    ENTRIES.try_with(find).ok().flatten()
}

/// Returns whether this request has committed a write. If so, it must not respond with "try again later".
pub(crate) fn has_written() -> bool {
    HAS_WRITTEN.try_with(Cell::get).unwrap_or(false)
}

/// Clears the cache, because this request has written, successfully or not.
pub(crate) fn invalidate(committed: bool) {
    if committed {
        let _ = HAS_WRITTEN.try_with(|written| written.set(true));
    }
    let _ = ENTRIES.try_with(|entries| entries.borrow_mut().clear());
    // The next read begins a newer snapshot.
    svc_versions::renew_stamp(None);
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    #[tokio::test]
    async fn values_are_cached_until_a_write() {
        let n_reads = Cell::new(0);
        let (owner, other) = ("a".to_owned(), "b".to_owned());
        let read = |owner: &String| {
            let read = || {
                n_reads.set(n_reads.get() + 1);
                Ok::<_, Infallible>(Arc::new((owner.clone(), n_reads.get())))
            };
            *get_or_load(owner, read).unwrap().clone() == (owner.clone(), n_reads.get())
        };
        assert!(read(&owner) && read(&owner));
        assert_eq!(n_reads.get(), 2, "outside a request nothing is cached");
        scope(async {
            assert!(read(&owner) && read(&owner));
            assert_eq!(n_reads.get(), 3);
            tokio::task::yield_now().await;
            assert!(read(&other) && read(&other), "owners have separate values");
            assert_eq!(n_reads.get(), 4);
            invalidate(true);
            assert!(has_written());
            assert!(read(&owner));
            assert_eq!(n_reads.get(), 5);
        })
        .await;
        assert!(read(&owner));
        assert_eq!(n_reads.get(), 6, "a new request starts empty");
    }
}
