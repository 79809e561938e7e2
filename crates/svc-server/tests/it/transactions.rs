//! Batches that are transactions, while the server is killed.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{
    process::{Server, credentials, send},
    start::on_each,
};

/// How often the server is killed.
const N_KILLS: u64 = 12;

/// Requests of a batch.
const N_PARTS: usize = 8;

const BATCH: &str = "/svc-json/batch/v1";
const TAGS: &str = "/svc-json/svc/v2/tags?per_page=100&_fields=name";

/// A batch that creates tags whose names begin with that of the batch.
fn batch(name: &str) -> Value {
    let tag = |n: usize| json!({"path": "/svc/v2/tags", "body": {"name": format!("{name}-{n}"), "description": "x".repeat(2_000)}});
    json!({"transaction": true, "requests": (0..N_PARTS).map(tag).collect::<Vec<_>>()})
}

#[test]
fn kills_leave_no_half_of_a_transaction() {
    on_each("transactions_and_kills", |folder, database| {
        let mut server = Server::start(folder, database);
        let credentials = credentials(folder, database);
        let mut acknowledged = Vec::new();
        for kill in 0..N_KILLS {
            let is_over = AtomicBool::new(false);
            let address = server.address.clone();
            let done = thread::scope(|threads| {
                let writers: Vec<_> = ["a", "b"]
                    .map(|writer| {
                        let (is_over, address, credentials) = (&is_over, &address, &credentials);
                        threads.spawn(move || {
                            let mut done = Vec::new();
                            for n in 0.. {
                                if is_over.load(Ordering::Relaxed) {
                                    break;
                                }
                                let name = format!("{writer}{kill}x{n}");
                                let body = batch(&name).to_string();
                                let headers = "Content-Type: application/json\r\n";
                                // The connection breaks when the server is killed.
                                let sent = std::panic::catch_unwind(|| {
                                    send(address, "POST", BATCH, credentials, headers, body.as_bytes())
                                });
                                let Ok((207, response)) = sent else { continue };
                                if response.get("responses").is_some() && response.get("failed").is_none() {
                                    done.push(name);
                                }
                            }
                            done
                        })
                    })
                    .into();
                // At another moment each time.
                thread::sleep(Duration::from_millis(60 + 17 * kill));
                server.signal("KILL");
                is_over.store(true, Ordering::Relaxed);
                writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
            });
            acknowledged.extend(done);
            drop(server);
            server = Server::start(folder, database);
        }
        let mut tags: BTreeMap<String, usize> = BTreeMap::new();
        for page in 1.. {
            let (status, found) = server.send("GET", &format!("{TAGS}&page={page}"), &credentials, None);
            let found = found.as_array().filter(|found| status == 200 && !found.is_empty());
            let Some(found) = found else { break };
            for tag in found {
                let name = tag["name"].as_str().unwrap();
                let batch = name.rsplit_once('-').map_or(name, |(batch, _)| batch);
                *tags.entry(batch.to_owned()).or_default() += 1;
            }
        }
        let half: Vec<_> = tags.iter().filter(|(name, n)| name.contains('x') && **n != N_PARTS).collect();
        assert!(half.is_empty(), "{half:?}");
        assert!(acknowledged.len() > 3, "{acknowledged:?}");
        let lost: Vec<_> = acknowledged.iter().filter(|name| !tags.contains_key(*name)).collect();
        assert!(lost.is_empty(), "{lost:?}");
        eprintln!("{} transactions acknowledged, {} stored, {N_KILLS} kills", acknowledged.len(), tags.len());
    });
}
