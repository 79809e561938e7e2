//! What is read once for a whole request.
//!
//! An answer may show the site as it was at any moment since its question came. Within [`scope`], what is asked for through
//! [`get_or_load`] is therefore read at the first time and given again, until the same request writes something itself.
//! On servers that are asked over a socket this is the difference between one question and dozens.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Whose value it is (the address of a thing that outlives the request), its type, and its number.
type Key = (usize, TypeId, i64);

/// What was read.
type CacheEntry = (Key, Arc<dyn Any + Send + Sync>);

tokio::task_local! {
    static ENTRIES: RefCell<Vec<CacheEntry>>;
    /// Whether the request has committed a write.
    static HAS_WRITTEN: Cell<bool>;
}

/// Runs the whole of a request. What it hands to other tasks is outside.
pub async fn scope<F: Future>(request: F) -> F::Output {
    HAS_WRITTEN.scope(Cell::new(false), ENTRIES.scope(RefCell::default(), request)).await
}

/// The owner's value of this type, read unless this request did so before. Outside of [`scope`] it is always read.
///
/// # Errors
/// Those of `read`; then nothing is kept.
pub fn get_or_load<O, T: Any + Send + Sync, E>(
    owner: &O,
    read: impl FnOnce() -> Result<Arc<T>, E>,
) -> Result<Arc<T>, E> {
    get_or_load_by_id(owner, 0, read)
}

/// [`get_or_load`] for one of several values of this type, by its number.
///
/// # Errors
/// Those of `read`; then nothing is kept.
pub fn get_or_load_by_id<O, T: Any + Send + Sync, E>(
    owner: &O,
    id: i64,
    read: impl FnOnce() -> Result<Arc<T>, E>,
) -> Result<Arc<T>, E> {
    let key = (std::ptr::from_ref(owner).addr(), TypeId::of::<T>(), id);
    if let Some(value) = find(key) {
        return Ok(value);
    }
    let value = read()?;
    let kept: Arc<dyn Any + Send + Sync> = value.clone();
    // Outside of a request nothing is kept.
    let _ = ENTRIES.try_with(|entries| entries.borrow_mut().push((key, kept)));
    Ok(value)
}

/// The owner's value of this type, if this request has read it before.
pub(crate) fn get<O, T: Any + Send + Sync>(owner: &O) -> Option<Arc<T>> {
    find((std::ptr::from_ref(owner).addr(), TypeId::of::<T>(), 0))
}

fn find<T: Any + Send + Sync>(key: Key) -> Option<Arc<T>> {
    let find = |entries: &RefCell<Vec<CacheEntry>>| {
        let entries = entries.borrow();
        let found = entries.iter().find(|(of, _)| *of == key);
        found.and_then(|(_, value)| Arc::clone(value).downcast::<T>().ok())
    };
    ENTRIES.try_with(find).ok().flatten()
}

/// Whether this request has committed a write: its response must not be "try again later".
pub(crate) fn has_written() -> bool {
    HAS_WRITTEN.try_with(Cell::get).unwrap_or(false)
}

/// Forgets what was read: this request has written, with or without success.
pub(crate) fn invalidate(committed: bool) {
    if committed {
        let _ = HAS_WRITTEN.try_with(|written| written.set(true));
    }
    let _ = ENTRIES.try_with(|entries| entries.borrow_mut().clear());
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    #[tokio::test]
    async fn a_request_reads_once_until_it_writes() {
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
        assert_eq!(n_reads.get(), 2, "outside of a request");
        scope(async {
            assert!(read(&owner) && read(&owner));
            assert_eq!(n_reads.get(), 3);
            tokio::task::yield_now().await;
            assert!(read(&other) && read(&other), "each owner has values of its own");
            assert_eq!(n_reads.get(), 4);
            invalidate(true);
            assert!(has_written());
            assert!(read(&owner));
            assert_eq!(n_reads.get(), 5);
        })
        .await;
        assert!(read(&owner));
        assert_eq!(n_reads.get(), 6, "the next request");
    }
}
