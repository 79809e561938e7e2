//! One rendering per key at a time: further requests wait for its response.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::watch;

use crate::key::Key;

/// The renderings in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flights(Arc<Mutex<HashMap<Key, watch::Receiver<()>>>>);

/// The part of a request in a rendering.
pub(crate) enum Flight {
    /// It renders. Others wait until this is dropped.
    Leads(Leading),
    /// It waits.
    Waits(watch::Receiver<()>),
}

/// A rendering in progress. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Leading {
    flights: Flights,
    key: Key,
    _sender: watch::Sender<()>,
}

impl Flights {
    /// Joins the rendering for a key, or begins one.
    pub(crate) fn join(&self, key: Key) -> Flight {
        let mut flights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ended) = flights.get(&key) {
            return Flight::Waits(ended.clone());
        }
        let (sender, ended) = watch::channel(());
        flights.insert(key, ended);
        Flight::Leads(Leading { flights: self.clone(), key, _sender: sender })
    }
}

impl Drop for Leading {
    fn drop(&mut self) {
        self.flights.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn others_wait_until_the_first_has_ended() {
        let flights = Flights::default();
        let Flight::Leads(leading) = flights.join([1; 32]) else { panic!("the first leads") };
        assert!(matches!(flights.join([2; 32]), Flight::Leads(_)));
        let Flight::Waits(mut ended) = flights.join([1; 32]) else { panic!("the second waits") };
        drop(leading);
        assert!(ended.changed().await.is_err(), "the sender is gone");
        assert!(matches!(flights.join([1; 32]), Flight::Leads(_)));
    }
}
