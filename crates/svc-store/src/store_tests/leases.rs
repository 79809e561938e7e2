//! Leases of several servers on one database. Skipped if MariaDB is not installed.

use std::time::{Duration, Instant};

use svc_db::{Lease, LeaseTimes};
use svc_model::Post;
use svc_versions::Context;

use super::mysql::{CACHED, OtherProgram, quiet_site, total, wait_until};
use crate::{Store, StoreConfig, StoreError, StoredText, fixture, options};

const TIMES: LeaseTimes = LeaseTimes {
    length: Duration::from_secs(2),
    margin: Duration::from_millis(500),
    interval: Duration::from_millis(20),
};

/// Two servers on one database.
fn servers() -> Option<[Store; 2]> {
    Some(servers_on(&fixture::database(fixture::server()?)))
}

fn servers_on(config: &StoreConfig) -> [Store; 2] {
    let first = fixture::open(config).unwrap();
    first.write_blocking(crate::schema::install).unwrap();
    [first, fixture::open(config).unwrap()]
}

fn lease(store: &Store, label: &str) -> Lease {
    store.lease("jobs", label, TIMES).unwrap().expect("several servers can use the database")
}

async fn look(lease: &Lease) -> bool {
    lease.look(&Context::background()).await.unwrap();
    lease.is_held()
}

/// Sets an option in a transaction with this context.
async fn set(store: &Store, cx: &Context, value: &'static str) -> Result<(), StoreError> {
    store.write(cx, move |tx| options::set(tx, "a", &StoredText::of(value), true)).await
}

fn value(store: &Store) -> Option<String> {
    store.read_blocking(|db| options::get(db, "a")).unwrap().map(|value| value.text().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_several_servers_holds_a_lease() {
    let Some([first, second]) = servers() else { return };
    let (a, b) = (lease(&first, "a"), lease(&second, "b"));
    assert!(!a.is_held() && a.holder().as_deref() == Some(""));
    assert!(look(&a).await && !look(&b).await);
    assert_eq!((a.holder(), b.holder().as_deref()), (None, Some("a")));
    set(&first, &a.fence(&Context::background()), "1").await.unwrap();
    let refused = set(&second, &b.fence(&Context::background()), "2").await;
    assert!(matches!(refused, Err(StoreError::LeaseLost)), "{refused:?}");
    // For longer than the lease: it is renewed.
    let (start, mut renewed) = (Instant::now(), Instant::now());
    while start.elapsed() < 2 * TIMES.length {
        let begun = Instant::now();
        let looks = (look(&a).await, look(&b).await);
        // On a machine that does much else, this test can pause for longer than a lease.
        if renewed.elapsed() > TIMES.length.saturating_sub(TIMES.margin) {
            eprintln!("skipped: the machine is too slow");
            return;
        }
        assert_eq!(looks, (true, false));
        renewed = begun;
        tokio::time::sleep(TIMES.interval).await;
    }
    assert_eq!(value(&second).as_deref(), Some("1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_hangs_loses_its_lease_and_notices_it() {
    let Some([first, second]) = servers() else { return };
    let (a, b) = (lease(&first, "a"), lease(&second, "b"));
    assert!(look(&a).await);
    let hangs = Instant::now();
    // What it does after it has looked, and before it hangs.
    let fenced = a.fence(&Context::background());
    while !look(&b).await {
        assert!(hangs.elapsed() < 20 * TIMES.takeover(), "nobody takes over");
        tokio::time::sleep(TIMES.interval).await;
    }
    assert!(hangs.elapsed() >= TIMES.length && !a.is_held(), "the owner stops first");
    let late = set(&first, &fenced, "late").await;
    assert!(matches!(late, Err(StoreError::LeaseLost)), "{late:?}");
    assert_eq!(value(&first), None);
    assert!(!look(&a).await && a.holder().as_deref() == Some("b"));
    // A server that stops properly leaves the lease at once.
    b.release(&Context::background()).await.unwrap();
    assert!(!b.is_held() && look(&a).await && !look(&b).await);
    assert_eq!(b.holder().as_deref(), Some("a"));
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_has_ended_on_this_machine_is_not_waited_for() {
    let Some(server) = fixture::server() else { return };
    let config = fixture::database(server);
    let [first, second] = servers_on(&config);
    let (a, b) = (lease(&first, "a"), lease(&second, "b"));
    assert!(look(&a).await && !look(&b).await);
    // The owner becomes an earlier process with the same ID.
    OtherProgram::of(&config).run("UPDATE wp_svc_leases SET owner = CONCAT(SUBSTRING_INDEX(owner, '.', 4), '.1')");
    assert!(look(&b).await && !look(&a).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_for_a_lease_ends_when_it_is_taken() {
    let Some([first, second]) = servers() else { return };
    let (a, b) = (lease(&first, "a"), lease(&second, "b"));
    assert!(look(&a).await && !look(&b).await);
    let gained = async {
        a.release(&Context::background()).await.unwrap();
        assert!(look(&b).await);
    };
    tokio::join!(b.held(), gained);
}

#[test]
fn renewals_leave_the_caches_of_other_servers_valid() {
    let Some((_alone, store, config)) = quiet_site() else { return };
    let (other, cx) = (fixture::open(&config).unwrap(), Context::background());
    let lease = lease(&other, "other");
    // So that this server looks for renewals.
    let _own = self::lease(&store, "own");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let renew = || runtime.block_on(lease.look(&cx)).unwrap();
    renew();
    wait_until(|| total(&store) == (0, CACHED));
    // The server itself numbers some transactions.
    let n_cached = (0..20).filter(|_| {
        wait_until(|| total(&store) == (0, CACHED));
        renew();
        total(&store) == (0, CACHED)
    });
    assert!(n_cached.count() >= 10);
    let post = Post { post_type: "post".to_owned(), status: "publish".to_owned(), ..Post::default() };
    for n in 1..10 {
        let post = post.clone();
        other.write_blocking(move |tx| crate::posts::insert(tx, &post)).unwrap();
        renew();
        assert_eq!(total(&store).0, n, "a renewal hides no other write");
    }
}

#[test]
fn an_sqlite_file_has_no_leases() {
    let (store, _folder) = fixture::store();
    assert!(store.lease("jobs", "a", TIMES).unwrap().is_none());
    assert!(!store.read_blocking(|db| db.table_exists("wp_svc_leases")).unwrap());
}
