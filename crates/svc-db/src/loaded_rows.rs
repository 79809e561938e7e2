//! Rows that a request or a transaction has loaded, so that it does not load them again: what the permission has loaded is
//! what the entity tag, the item and the links use.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use svc_versions::Context;

use crate::error::Result;
use crate::handle::{Db, Tx};
use crate::rows::Rows;

/// Maximum number of objects loaded together that are kept. Lists load each row once anyway.
const MAX_TOGETHER: usize = 8;

/// Maximum number of values of a request or a transaction.
const MAX_KEPT: usize = 256;

/// What a request or a transaction has loaded.
#[derive(Default)]
struct LoadedRows(Mutex<State>);

#[derive(Default)]
struct State {
    is_transaction: bool,
    values: HashMap<Name, Loaded>,
}

/// Rows, the type of what was loaded of them, and the id of the object that they belong to.
type Name = (Rows, TypeId, i64);

struct Loaded {
    /// `None` for an object without such rows.
    value: Option<Arc<dyn Any + Send + Sync>>,
    /// Other rows that the value contains parts of.
    also: &'static [Rows],
}

impl LoadedRows {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn keep(&mut self, name: Name, value: Option<Arc<dyn Any + Send + Sync>>, also: &'static [Rows]) {
        if self.values.len() < MAX_KEPT {
            self.values.insert(name, Loaded { value, also });
        }
    }

    /// Forgets values after a change of the rows of these objects, or of unknown ones.
    fn forget(&mut self, changed: Rows, ids: Option<&[i64]>) {
        self.values.retain(|(rows, _, id), loaded| {
            let is_changed = *rows == changed && ids.is_none_or(|ids| ids.contains(id));
            !is_changed && !loaded.also.contains(&changed)
        });
    }
}

impl Db {
    /// What `load` reads of `rows` of these objects. It is called with the ids of those that this request or transaction has not
    /// read since it has last changed them. Objects without such rows are omitted. `also` are other rows that the values contain
    /// parts of; the caller records the dependencies on these.
    ///
    /// # Errors
    /// Those of `load`.
    pub fn load_once<T: Any + Clone + Send + Sync>(
        &mut self,
        rows: Rows,
        also: &'static [Rows],
        ids: &[i64],
        load: impl FnOnce(&mut Db, &[i64]) -> Result<HashMap<i64, T>>,
    ) -> Result<HashMap<i64, T>> {
        rows.depend_on(self.cx(), ids.iter().copied());
        let kept = self.cx().state::<LoadedRows>();
        let keeps = ids.len() <= MAX_TOGETHER && (self.cx().is_request() || kept.lock().is_transaction);
        if !keeps {
            return load(self, ids);
        }
        let (mut found, mut missing) = (HashMap::with_capacity(ids.len()), Vec::new());
        {
            let state = kept.lock();
            for id in ids {
                match state.values.get(&(rows, TypeId::of::<T>(), *id)) {
                    Some(Loaded { value, .. }) => {
                        found.extend(
                            value.as_deref().and_then(|value| value.downcast_ref::<T>()).map(|v| (*id, v.clone())),
                        );
                    }
                    None => missing.push(*id),
                }
            }
        }
        if !missing.is_empty() {
            let loaded = load(self, &missing)?;
            let mut state = kept.lock();
            for id in missing {
                let value = loaded.get(&id).map(|value| Arc::new(value.clone()) as Arc<dyn Any + Send + Sync>);
                state.keep((rows, TypeId::of::<T>(), id), value, also);
            }
            drop(state);
            found.extend(loaded);
        }
        Ok(found)
    }
}

impl Tx {
    /// Keeps a value for [`Db::load_once`] that is known without reading it: `None` for the rows of a new object.
    pub fn keep_loaded<T: Any + Send + Sync>(&self, rows: Rows, also: &'static [Rows], id: i64, value: Option<T>) {
        let kept = self.cx().state::<LoadedRows>();
        let mut state = kept.lock();
        if state.is_transaction {
            state.keep((rows, TypeId::of::<T>(), id), value.map(|value| Arc::new(value) as _), also);
        }
    }

    /// What this transaction has loaded of `rows` of an object and not changed since; the default if the object has no such rows.
    pub fn loaded<T: Any + Clone + Default + Send + Sync>(&self, rows: Rows, id: i64) -> Option<T> {
        let kept = self.cx().state::<LoadedRows>();
        let state = kept.lock();
        let loaded = state.values.get(&(rows, TypeId::of::<T>(), id)).filter(|_| state.is_transaction)?;
        let Some(value) = &loaded.value else { return Some(T::default()) };
        value.downcast_ref().cloned()
    }

    /// Forgets what was loaded of rows that have changed.
    pub(crate) fn forget_loaded(&self, rows: Rows, ids: Option<&[i64]>) {
        self.cx().state::<LoadedRows>().lock().forget(rows, ids);
    }
}

/// Begins a transaction with this context, in which nothing is loaded yet.
pub(crate) fn begin_transaction(cx: &Context) {
    *cx.state::<LoadedRows>().lock() = State { is_transaction: true, values: HashMap::new() };
}

/// Replaces what a request has loaded by what its transaction has loaded, which nobody else can have changed before the commit.
pub(crate) fn after_write(cx: &Context, transaction: &Context, committed: bool) {
    if cx.is_request() {
        let values = std::mem::take(&mut transaction.state::<LoadedRows>().lock().values);
        cx.state::<LoadedRows>().lock().values = if committed { values } else { HashMap::new() };
    }
}

/// Forgets what a request has loaded.
pub(crate) fn forget_all(cx: &Context) {
    cx.state::<LoadedRows>().lock().values.clear();
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use svc_versions::Transport;

    use super::*;
    use crate::schema::Schema;
    use crate::{Database, DatabaseUrl, StoreConfig, Tuning};

    const BOATS: Rows = Rows::named("boats");
    const HARBOURS: Rows = Rows::named("harbours");

    static SCHEMA: Schema = Schema::EMPTY;

    fn database() -> Database {
        let config = StoreConfig::new(DatabaseUrl::Temporary);
        Database::open(&config, &SCHEMA, Arc::new(()), Tuning::default()).unwrap()
    }

    /// Loads boats, of which odd numbers have a name, and returns the ids that were not known.
    fn load(db: &mut Db, ids: &[i64]) -> Vec<i64> {
        let loaded = RefCell::new(Vec::new());
        let names = db.load_once(BOATS, &[HARBOURS], ids, |_, missing| {
            loaded.borrow_mut().extend_from_slice(missing);
            Ok(missing.iter().filter(|id| **id % 2 == 1).map(|id| (*id, format!("boat {id}"))).collect())
        });
        let names = names.unwrap();
        assert!(ids.iter().all(|id| names.contains_key(id) == (id % 2 == 1)), "{names:?}");
        loaded.into_inner()
    }

    #[test]
    fn requests_load_an_object_once() {
        let database = database();
        let cx = Context::request(Transport::Plain);
        let read = |cx: &Context, ids: &[i64]| {
            let (loaded, dependencies) = cx.capture(|| database.read(cx, |db| Ok(load(db, ids))).unwrap());
            assert_eq!(dependencies.len(), ids.len() + 1, "also of known objects");
            loaded
        };
        assert_eq!(read(&cx, &[1, 2]), [1, 2]);
        assert_eq!(read(&cx, &[1, 2, 3]), [3]);
        let many: Vec<i64> = (0..20).collect();
        assert_eq!(read(&cx, &many).len(), 20, "lists are not kept");
        let none = Context::background();
        assert_eq!((read(&none, &[1]), read(&none, &[1])), (vec![1], vec![1]));
    }

    #[test]
    fn transactions_forget_what_they_change_and_keep_the_rest_for_the_request() {
        let database = database();
        let cx = Context::request(Transport::Plain);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime
            .block_on(database.write(&cx, |tx| {
                assert_eq!(load(tx, &[1, 3]), [1, 3]);
                tx.record(BOATS, &[3, 5]);
                assert_eq!(load(tx, &[1, 3]), [3]);
                tx.record(HARBOURS, &[7]);
                assert_eq!(load(tx, &[1, 3]), [1, 3], "boats contain parts of harbours");
                tx.keep_loaded::<String>(BOATS, &[], 4, None);
                assert_eq!(load(tx, &[4]).len(), 0);
                let known = [1, 4, 5].map(|id| tx.loaded::<String>(BOATS, id));
                assert_eq!(known, [Some("boat 1".to_owned()), Some(String::new()), None]);
                Ok(())
            }))
            .unwrap();
        let read = |ids: &[i64]| database.read(&cx, |db| Ok(load(db, ids))).unwrap();
        assert_eq!(read(&[1, 3, 4, 5]), [5]);
        let failed = runtime.block_on(database.write::<()>(&cx, |tx| {
            assert_eq!(load(tx, &[1]), [1], "a transaction reads what is stored now");
            Err(crate::StoreError::TooMany)
        }));
        assert!(failed.is_err());
        assert_eq!(read(&[1, 5]), [1, 5]);
    }
}
