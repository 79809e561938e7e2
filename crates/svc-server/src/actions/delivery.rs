//! Sends entries of the outbox to the connector, in the background.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher as _, Hasher as _, RandomState},
    io,
    time::Duration,
};

use tokio::task::JoinHandle;

use super::{
    Actions, Inner,
    outbox::{Entry, age},
};

/// Maximum number of objects in one request.
const BATCH: usize = 20;

/// Maximum size of the objects in one request, in bytes. The connector accepts 64 KB.
const BATCH_SIZE: usize = 48 << 10;

/// How many of the oldest entries are considered for one request.
const CONSIDERED: usize = 200;

/// Time between two looks at the outbox, if no write has ended.
const LOOK: Duration = Duration::from_secs(2);

/// First and longest pause while WordPress does not respond.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_mins(1)];

/// How often an entry is sent for which WordPress fails.
const MAX_ATTEMPTS: u32 = 5;

/// The background task. It stops when this is dropped; entries that it was sending remain.
#[derive(Debug)]
#[must_use = "the task stops when this is dropped"]
pub struct Delivery(JoinHandle<()>);

impl Drop for Delivery {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Delivery {
    /// Starts the task.
    pub(crate) fn start(actions: Actions) -> Self {
        Delivery(tokio::spawn(async move {
            let (mut failures, mut attempts) = (0_u32, HashMap::new());
            loop {
                failures = match round(&actions.0, &mut attempts).await {
                    Round::Sent => 0,
                    Round::Nothing => {
                        drop(tokio::time::timeout(LOOK, actions.0.finished.notified()).await);
                        failures
                    }
                    Round::Failed(reason) => {
                        if failures == 0 {
                            tracing::warn!("WordPress's actions are delivered later: {reason}");
                        }
                        tokio::time::sleep(pause(failures)).await;
                        failures.saturating_add(1)
                    }
                };
            }
        }))
    }
}

/// The pause after this many failures in a row, at random between a half and the whole of a time that doubles.
fn pause(failures: u32) -> Duration {
    let [first, longest] = PAUSES;
    let whole = first.saturating_mul(2_u32.saturating_pow(failures)).min(longest);
    let random = RandomState::new().build_hasher().finish() % 1000;
    whole.mul_f64(0.5 + random as f64 / 2000.0)
}

/// The result of one request.
#[derive(Debug)]
enum Round {
    Sent,
    /// No entry can be delivered now.
    Nothing,
    Failed(String),
}

/// Sends one request, with the oldest entries. `attempts` counts how often an entry was sent without a response of the connector.
async fn round(actions: &Inner, attempts: &mut HashMap<String, u32>) -> Round {
    let (batch, lock) = match tokio::task::block_in_place(|| {
        let Some(lock) = actions.outbox.lock()? else { return Ok((Vec::new(), None)) };
        Ok::<_, io::Error>((next_batch(actions, attempts)?, Some(lock)))
    }) {
        Ok((batch, _)) if batch.is_empty() => return Round::Nothing,
        Ok((batch, lock)) => (batch, lock),
        Err(error) => return Round::Failed(format!("the outbox cannot be read: {error}")),
    };
    let objects = batch.iter().map(|(_, entry)| serde_json::to_value(&entry.object).unwrap_or_default()).collect();
    let sent = actions.connector.written(objects).await;
    let result = tokio::task::block_in_place(|| match sent {
        Ok(results) => {
            for (n, (name, entry)) in batch.iter().enumerate() {
                attempts.remove(name);
                match results.get(n) {
                    Some(errors) if errors.is_empty() => actions.outbox.remove(name)?,
                    // Other callbacks have run: another attempt would repeat them.
                    Some(errors) => fail(actions, name, entry, &errors.join("; "))?,
                    // The connector had no time for the rest.
                    None => {}
                }
            }
            Ok(if results.is_empty() { Round::Failed("no object was processed".to_owned()) } else { Round::Sent })
        }
        Err(error) => {
            let reason = error.to_string();
            if error.is_of_plugins() {
                for (name, entry) in &batch {
                    let n = attempts.entry(name.clone()).or_default();
                    *n += 1;
                    // The first attempt may have failed because of another entry.
                    if *n >= MAX_ATTEMPTS && batch.len() == 1 {
                        attempts.remove(name);
                        fail(actions, name, entry, &reason)?;
                    }
                }
            }
            Ok::<_, io::Error>(Round::Failed(reason))
        }
    });
    drop(lock);
    result.unwrap_or_else(|error| Round::Failed(format!("the outbox cannot be changed: {error}")))
}

/// Gives up an entry.
fn fail(actions: &Inner, name: &str, entry: &Entry, reason: &str) -> io::Result<()> {
    let object = &entry.object;
    tracing::error!(kind = ?object.kind, of = object.of, id = object.id, "WordPress's actions have failed: {reason}");
    actions.outbox.fail(name)
}

/// The oldest entries that can be delivered. After a failure, entries are sent alone.
fn next_batch(actions: &Inner, attempts: &mut HashMap<String, u32>) -> io::Result<Vec<(String, Entry)>> {
    let names = actions.outbox.list()?;
    attempts.retain(|name, _| names.binary_search(name).is_ok());
    let (mut batch, mut size, mut held) = (Vec::new(), 0, HashSet::new());
    for name in names.into_iter().take(CONSIDERED) {
        let entry = match actions.outbox.read(&name) {
            Ok(Some(entry)) => entry,
            Ok(None) => continue,
            Err(error) => {
                tracing::error!(name, %error, "an entry of the outbox cannot be read");
                actions.outbox.fail(&name)?;
                continue;
            }
        };
        let key = entry.object.key();
        // Of one object, entries are delivered in order.
        if held.contains(&key) || !entry.finished && age(&name) < actions.unknown_after {
            held.insert(key);
            continue;
        }
        size += entry.object.size();
        let was_sent = attempts.contains_key(&name);
        if !batch.is_empty() && (size > BATCH_SIZE || batch.len() == BATCH || was_sent) {
            break;
        }
        batch.push((name, entry));
        if was_sent {
            break;
        }
    }
    Ok(batch)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::{Router, body::to_bytes, extract::Request};
    use http::{HeaderMap, Method, StatusCode};
    use serde_json::{Map, Value, json};
    use svc_model::UserId;

    use super::*;
    use crate::{
        SiteBuilder,
        actions::{NotBegun, Summary},
        config::{Config, Sources},
        connector::client::Connector,
    };

    /// A site, its actions, and a web server with the connector, whose next responses are given.
    struct Fixture {
        folder: tempfile::TempDir,
        actions: Actions,
        attempts: HashMap<String, u32>,
        responses: Arc<Mutex<Vec<(u16, Value)>>>,
        requests: Arc<Mutex<Vec<Value>>>,
    }

    impl Fixture {
        async fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let config = Config::load(&Sources { folder: folder.path().to_owned(), ..Sources::default() }).unwrap();
            let site = SiteBuilder::new().open(&config, &"http://site.example".parse().unwrap()).unwrap();
            let responses: Arc<Mutex<Vec<(u16, Value)>>> = Arc::default();
            let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
            let (next, got) = (Arc::clone(&responses), Arc::clone(&requests));
            let router = Router::new().fallback(move |request: Request| {
                let (next, got) = (Arc::clone(&next), Arc::clone(&got));
                async move {
                    let body = to_bytes(request.into_body(), 1 << 20).await.unwrap();
                    got.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                    let (status, body) = next.lock().unwrap().remove(0);
                    (StatusCode::from_u16(status).unwrap(), body.to_string())
                }
            });
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let connector = Connector::at(&format!("http://{}", listener.local_addr().unwrap()));
            tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
            let data = folder.path().join("outbox");
            let actions = Actions::open(Arc::clone(site.site()), &data, connector, Duration::from_secs(1)).unwrap();
            Fixture { folder, actions, attempts: HashMap::new(), responses, requests }
        }

        /// A write that has ended with this status.
        async fn write(&self, method: Method, route: &str, status: u16) {
            let begun = self.actions.begin(&method, route, &Map::new()).await.unwrap();
            let mut headers = HeaderMap::new();
            headers.insert("location", "http://site.example/wp-json/wp/v2/posts/77".parse().unwrap());
            let before = std::fs::read(self.file(&begun.name)).unwrap();
            let file = self.file(&begun.name);
            begun.end(StatusCode::from_u16(status).unwrap(), &headers, Some(UserId(5)), status < 300);
            // The outcome is recorded in the background.
            while status < 500 && std::fs::read(&file).ok().as_ref() == Some(&before) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }

        fn file(&self, name: &str) -> std::path::PathBuf {
            self.folder.path().join("outbox/actions").join(name)
        }

        async fn round(&mut self, status: u16, response: Value) -> Round {
            self.responses.lock().unwrap().push((status, response));
            round(&self.actions.0, &mut self.attempts).await
        }

        /// Waiting and failed entries.
        fn counts(&self) -> (usize, usize) {
            let summary = Summary::of(&self.folder.path().join("outbox")).unwrap();
            (summary.waiting, summary.failed)
        }

        fn last_ids(&self) -> Vec<i64> {
            let requests = self.requests.lock().unwrap();
            requests.last().unwrap()["objects"].as_array().unwrap().iter().map(|o| o["id"].as_i64().unwrap()).collect()
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn entries_are_delivered_in_order_with_the_state_before() {
        let mut fixture = Fixture::new().await;
        fixture.write(Method::POST, "/wp/v2/posts", 201).await;
        fixture.write(Method::PUT, "/wp/v2/posts/1", 200).await;
        fixture.write(Method::DELETE, "/wp/v2/categories/1", 409).await;
        assert_eq!(fixture.counts(), (2, 0), "a rejected write has no actions");
        let sent = fixture.round(200, json!({"objects": [[], []]})).await;
        assert!(matches!(sent, Round::Sent), "{sent:?}");
        assert_eq!(fixture.last_ids(), [77, 1]);
        let request = fixture.requests.lock().unwrap()[0].clone();
        assert_eq!(request["operation"], "written");
        let [created, updated] = [&request["objects"][0], &request["objects"][1]];
        assert_eq!([&created["kind"], &created["of"], &created["user"]], [&json!("post"), &json!("post"), &json!(5)]);
        assert!(created["before"].is_null() && created["after"].as_i64().unwrap() > 0);
        assert_eq!(updated["before"]["post_status"], "publish");
        assert_eq!(fixture.counts(), (0, 0));
        assert!(matches!(round(&fixture.actions.0, &mut fixture.attempts).await, Round::Nothing));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_unknown_outcome_holds_back_the_object_and_is_delivered() {
        let mut fixture = Fixture::new().await;
        fixture.write(Method::PUT, "/wp/v2/posts/1", 500).await;
        fixture.write(Method::PUT, "/wp/v2/posts/1", 200).await;
        fixture.write(Method::PUT, "/wp/v2/categories/1", 200).await;
        fixture.round(200, json!({"objects": [[]]})).await;
        assert_eq!(fixture.requests.lock().unwrap()[0]["objects"][0]["kind"], "term");
        assert_eq!(fixture.counts(), (2, 0));
        // The background tasks end soon after they have recorded an outcome.
        while Arc::strong_count(&fixture.actions.0) > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Arc::get_mut(&mut fixture.actions.0).unwrap().unknown_after = Duration::ZERO;
        fixture.round(200, json!({"objects": [[], []]})).await;
        assert_eq!((fixture.last_ids(), fixture.counts()), (vec![1, 1], (0, 0)));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn entries_that_fail_are_kept_and_do_not_stop_others() {
        let mut fixture = Fixture::new().await;
        for route in ["/wp/v2/posts/1", "/wp/v2/categories/1", "/wp/v2/comments/1"] {
            fixture.write(Method::PUT, route, 200).await;
        }
        // WordPress is away: nothing is counted.
        for _ in 0..2 * MAX_ATTEMPTS {
            assert!(matches!(fixture.round(503, json!("")).await, Round::Failed(_)));
        }
        assert_eq!((fixture.counts(), fixture.attempts.len()), ((3, 0), 0));
        // A callback throws.
        fixture.round(200, json!({"objects": [[], ["save_term: no"]]})).await;
        assert_eq!(fixture.counts(), (1, 1), "the third was not processed");
        // A callback ends the process.
        for _ in 0..MAX_ATTEMPTS {
            fixture.round(500, json!("")).await;
        }
        assert_eq!(fixture.counts(), (0, 2));
        assert_eq!(super::super::retry(&fixture.folder.path().join("outbox")).unwrap(), 2);
        assert_eq!(fixture.counts(), (2, 0));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn objects_whose_actions_are_not_known_are_wordpress_s() {
        let fixture = Fixture::new().await;
        for route in ["/wp/v2/media/1", "/wp/v2/users", "/wp/v2/settings", "/wp/v2/posts/1/revisions/2", "/batch/v1"] {
            let begun = fixture.actions.begin(&Method::POST, route, &Map::new()).await;
            assert!(matches!(begun.err(), Some(NotBegun::Unknown)), "{route}");
        }
        let text: Map<String, Value> = [("content".to_owned(), json!("x".repeat(100_000)))].into_iter().collect();
        let begun = fixture.actions.begin(&Method::PUT, "/wp/v2/posts/1", &text).await.unwrap();
        assert!(std::fs::metadata(fixture.file(&begun.name)).unwrap().len() < 30_000, "long values are omitted");
    }

    #[test]
    fn pauses_double_and_are_random() {
        for (failures, longest) in [(0, 1), (3, 8), (40, 60)] {
            let paused = pause(failures);
            assert!(paused <= Duration::from_secs(longest) && paused * 2 >= Duration::from_secs(longest), "{paused:?}");
        }
    }
}
