//! The queue, on all available engines.

use std::{collections::HashMap, sync::Arc, time::Duration};

use svc_db::{Database, DatabaseUrl, StoreConfig, Tuning, schema::Schema};
use svc_test_databases::mariadb::MariaDb;

use crate::*;

static SCHEMA: Schema = Schema::EMPTY;

const START: Time = Time(1_700_000_000_000);
const LEASE: Duration = Duration::from_secs(30);

fn mails() -> Claim {
    Claim { queue: "mail", per_lane: 2, in_progress: HashMap::new(), lease: LEASE }
}

fn open(url: DatabaseUrl) -> Database {
    let database = Database::open(&StoreConfig::new(url), &SCHEMA, Arc::new(()), Tuning::default()).unwrap();
    database.create_own_table(&TABLE).unwrap();
    database.create_own_table(&TABLE).unwrap();
    database
}

/// The tests, each of which gets an empty queue.
const TESTS: [(&str, fn(&Database)); 5] = [
    ("stored_once", an_id_is_stored_once_and_not_without_its_transaction),
    ("leases", a_claimed_message_is_nobody_elses_until_the_lease_is_over),
    ("keys", messages_with_the_same_key_are_delivered_in_order),
    ("lanes", a_lane_gets_few_turns_at_once),
    ("given_up", messages_that_were_given_up_are_retried_and_old_ones_deleted),
];

#[test]
fn on_sqlite() {
    TESTS.iter().for_each(|(_, test)| test(&open(DatabaseUrl::Temporary)));
}

#[test]
fn on_mariadb() {
    let Some(server) = MariaDb::start(&[]).unwrap() else { return };
    TESTS.iter().for_each(|(name, test)| test(&open(server.create(name).unwrap().parse().unwrap())));
}

fn put_one(database: &Database, id: &'static str, lane: &'static str, key: &'static str, now: Time) -> Option<i64> {
    let message = NewMessage { queue: "mail", id, lane, key, payload: "{}" };
    database.write_blocking(move |tx| put(tx, &message, now)).unwrap()
}

fn claim_all(database: &Database, now: Time) -> Vec<Message> {
    database.write_blocking(move |tx| claim(tx, &mails(), now)).unwrap()
}

fn ids(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.id.as_str()).collect()
}

fn finish_as(database: &Database, message: &Message, outcome: Outcome, now: Time) -> bool {
    let message = message.clone();
    database.write_blocking(move |tx| finish(tx, &message, &outcome, now)).unwrap()
}

fn due(database: &Database) -> Option<Time> {
    database.read_blocking(|db| next_due(db, "mail")).unwrap()
}

fn an_id_is_stored_once_and_not_without_its_transaction(database: &Database) {
    assert!(put_one(database, "a", "", "", START).is_some());
    assert_eq!(put_one(database, "a", "", "", START), None);
    let message = NewMessage { queue: "mail", id: "b", lane: "", key: "", payload: "{}" };
    let failed: svc_db::Result<()> = database.write_blocking(move |tx| {
        put(tx, &message, START)?;
        Err(svc_db::StoreError::Other("no".to_owned()))
    });
    failed.unwrap_err();
    let large = "x".repeat(usize::from(MAX_ID) + 1);
    database
        .write_blocking(move |tx| {
            let message = NewMessage { queue: "mail", id: &large, lane: "", key: "", payload: "" };
            put(tx, &message, START)
        })
        .unwrap_err();
    assert_eq!(ids(&claim_all(database, START)), ["a"]);
}

fn a_claimed_message_is_nobody_elses_until_the_lease_is_over(database: &Database) {
    put_one(database, "a", "", "", START);
    let first = claim_all(database, START).remove(0);
    assert_eq!((first.attempts, first.due), (1, START + LEASE));
    assert_eq!(ids(&claim_all(database, START)), [""; 0]);
    assert_eq!(due(database), Some(START + LEASE));
    // The process died, or was suspended.
    let second = claim_all(database, START + LEASE).remove(0);
    assert_eq!(second.attempts, 2);
    let later = START + LEASE + LEASE;
    assert!(!finish_as(database, &first, Outcome::Delivered("late".to_owned()), later));
    assert!(finish_as(database, &second, Outcome::Delivered("ok".to_owned()), later));
    assert!(!finish_as(database, &second, Outcome::Delivered("twice".to_owned()), later));
    assert_eq!(due(database), None);
    let stored = database.read_blocking(|db| find(db, "mail", second.number)).unwrap().unwrap();
    assert_eq!((stored.state, stored.result.as_str(), stored.finished), (State::Delivered, "ok", Some(later)));
}

fn messages_with_the_same_key_are_delivered_in_order(database: &Database) {
    for (id, key) in [("a", "post-1"), ("b", "post-1"), ("c", ""), ("d", "post-2")] {
        put_one(database, id, id, key, START);
    }
    let claimed = claim_all(database, START);
    assert_eq!(ids(&claimed), ["a", "c", "d"]);
    // A repetition keeps its place before the next one.
    let retry = Outcome::Retry("busy".to_owned(), Duration::from_secs(5));
    assert!(finish_as(database, &claimed[0], retry, START));
    assert_eq!(ids(&claim_all(database, START)), [""; 0]);
    let again = claim_all(database, START + Duration::from_secs(5));
    assert_eq!(ids(&again), ["a"]);
    assert!(finish_as(database, &again[0], Outcome::Dead("gone".to_owned()), START));
    assert_eq!(ids(&claim_all(database, START)), ["b"]);
}

fn a_lane_gets_few_turns_at_once(database: &Database) {
    for id in ["a", "b", "c", "d"] {
        put_one(database, id, "slow", "", START);
    }
    put_one(database, "e", "quick", "", START + Duration::from_secs(1));
    let mut claimed = claim_all(database, START + Duration::from_secs(1));
    claimed.sort_by_key(|message| message.number);
    assert_eq!(ids(&claimed), ["a", "b", "e"]);
}

fn messages_that_were_given_up_are_retried_and_old_ones_deleted(database: &Database) {
    for id in ["a", "b"] {
        put_one(database, id, "", "", START);
    }
    for message in claim_all(database, START) {
        assert!(finish_as(database, &message, Outcome::Dead("550 no such user".to_owned()), START));
    }
    let count = || database.read_blocking(|db| counts(db, "mail")).unwrap();
    assert_eq!(count(), Counts { dead: 2, ..Counts::default() });
    let dead = Page { state: Some(State::Dead), limit: 10, ..Page::default() };
    let listed = database.read_blocking(|db| list(db, "mail", &dead)).unwrap();
    assert_eq!(ids(&listed), ["b", "a"]);
    let (first, second) = (listed[1].number, listed[0].number);
    assert_eq!(database.write_blocking(move |tx| retry(tx, "mail", Some(first), START)).unwrap(), 1);
    assert_eq!(database.write_blocking(move |tx| retry(tx, "webhook", None, START)).unwrap(), 0);
    assert_eq!(count(), Counts { dead: 1, waiting: 1, ..Counts::default() });
    let older = Page { before: Some(second), limit: 10, ..Page::default() };
    assert_eq!(ids(&database.read_blocking(|db| list(db, "mail", &older)).unwrap()), ["a"]);
    let delete = |before| database.write_blocking(move |tx| delete_finished(tx, "mail", before)).unwrap();
    assert_eq!((delete(START), delete(START + LEASE)), (0, 1));
    let again = claim_all(database, START);
    assert_eq!((ids(&again), again[0].attempts), (vec!["a"], 1));
}
