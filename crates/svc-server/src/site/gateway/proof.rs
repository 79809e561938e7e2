//! Proves which routes this server handles as WordPress does: compares the descriptions of all routes, then responses for URLs
//! that WordPress's own responses link to.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::atomic::{AtomicUsize, Ordering},
};

use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, HeaderValue, Method, header};
use serde_json::Value;
use svc_gateway::Failure;
use svc_routing::{RouteEntry, Server};

use super::{
    ownership::{Ownership, Proof},
    request::{basic, is_index},
    sides::{Comparison, Sides},
};

/// Maximum number of requests to WordPress for one proof.
const MAX_REQUESTS: usize = 3_000;

/// Requests that are sent to WordPress at the same time.
const PARALLEL: usize = 2;

/// Items of a list that are requested.
const PER_PAGE: usize = 10;

/// The kinds of callers as which responses are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Viewer {
    /// No credentials.
    Anonymous,
    /// An application password of the user of `compare --as`.
    LoggedIn,
}

impl Viewer {
    pub(crate) const ALL: [Viewer; 2] = [Viewer::Anonymous, Viewer::LoggedIn];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Viewer::Anonymous => "visitors",
            Viewer::LoggedIn => "the user",
        }
    }
}

/// One response that was compared.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) pattern: String,
    pub(crate) viewer: Viewer,
    /// Path and query.
    pub(crate) target: String,
    /// The first difference.
    pub(crate) difference: Option<String>,
}

/// The outcome of a proof.
pub(crate) struct Proven {
    pub(crate) ownership: Ownership,
    /// Hash of WordPress's descriptions of its routes.
    pub(super) index: u64,
    pub(crate) samples: Vec<Sample>,
}

/// Compares both servers.
pub(super) struct Prover<'a> {
    pub(super) sides: &'a Sides,
    /// Host of the site's URL.
    pub(super) host: &'a str,
    /// A user and their application password, to compare what they see as well.
    pub(super) user: Option<(&'a str, &'a str)>,
    /// URLs per route and viewer.
    pub(super) samples: usize,
    /// Is called after each comparison with the numbers of finished and of known ones.
    pub(super) progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// A URL that waits for its comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    pattern: String,
    route: String,
    target: String,
}

impl Prover<'_> {
    /// Runs all comparisons.
    ///
    /// # Errors
    /// The reason for which the routes of WordPress could not be read.
    pub(super) async fn run(&self) -> Result<Proven, String> {
        let server = self.sides.service.server();
        let (target, headers) = self.index_request(&server);
        let index = self.index().await?;
        let own = self.sides.own("/", &target, &headers).await.json();
        let mut ownership = Ownership::described(&index["routes"], &own["routes"]);
        let index = hash(&index["routes"]);
        let mut samples = Vec::new();
        let mut budget = MAX_REQUESTS;
        for viewer in Viewer::ALL {
            if viewer == Viewer::LoggedIn && self.user.is_none() {
                continue;
            }
            let found = self.compare(&server, &ownership, viewer, &mut budget).await?;
            for (pattern, proof) in proofs(&found) {
                // Responses to a user show only differences: visitors may get others.
                if viewer == Viewer::Anonymous || matches!(proof, Proof::Different(_)) {
                    ownership.record(&pattern, proof);
                }
            }
            samples.extend(found.into_iter().map(|(sample, _)| sample));
        }
        Ok(Proven { ownership, index, samples })
    }

    /// Hash of WordPress's descriptions of its routes.
    ///
    /// # Errors
    /// The reason for which they could not be read.
    pub(super) async fn index_hash(&self) -> Result<u64, String> {
        Ok(hash(&self.index().await?["routes"]))
    }

    fn index_request(&self, server: &Server) -> (String, HeaderMap) {
        let viewer = if self.user.is_some() { Viewer::LoggedIn } else { Viewer::Anonymous };
        (target(server, "/", &[("context", "help")]), self.headers(viewer))
    }

    /// WordPress's index, with descriptions of all routes.
    async fn index(&self) -> Result<Value, String> {
        let (target, headers) = self.index_request(&self.sides.service.server());
        let index = self.sides.wordpress(&target, &headers).await.map_err(|failure| failure.to_string())?;
        if !index.status.is_success() {
            return Err(format!("the index of WordPress has the status {}", index.status));
        }
        let index = index.json();
        match index["routes"].is_object() {
            true => Ok(index),
            false => Err("the index of WordPress is not a JSON object with routes".to_owned()),
        }
    }

    fn headers(&self, viewer: Viewer) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Ok(host) = HeaderValue::from_str(self.host) {
            headers.insert(header::HOST, host);
        }
        if let (Viewer::LoggedIn, Some((user, password))) = (viewer, self.user)
            && let Ok(mut value) = HeaderValue::from_str(&basic(user, password))
        {
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        headers
    }

    /// Compares responses for one viewer: first for the routes without parameters, then for the URLs that responses link to.
    /// Returns each sample, and whether it has content.
    ///
    /// # Errors
    /// If WordPress stopped responding.
    async fn compare(
        &self,
        server: &Server,
        ownership: &Ownership,
        viewer: Viewer,
        budget: &mut usize,
    ) -> Result<Vec<(Sample, bool)>, String> {
        let headers = self.headers(viewer);
        let contexts: &[&str] = match viewer {
            Viewer::Anonymous => &["view", "embed"],
            Viewer::LoggedIn => &["view", "edit"],
        };
        let mut waiting: VecDeque<Target> =
            fixed_routes(server).flat_map(|r| targets(server, r, r.pattern(), contexts)).collect();
        let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut samples = Vec::new();
        while !waiting.is_empty() && *budget > 0 {
            let batch: Vec<Target> = waiting.drain(..waiting.len().min(*budget).min(64)).collect();
            *budget -= batch.len();
            let (headers, finished) = (&headers, MAX_REQUESTS - *budget - batch.len());
            let known = finished + batch.len() + waiting.len();
            let compared_now = &AtomicUsize::new(0);
            let compared: Vec<_> = stream::iter(batch)
                .map(|target| async move {
                    let is_described = ownership.is_described(&target.pattern, &Method::GET).is_ok();
                    let compared = if is_described {
                        self.sides.compare(&target.route, &target.target, headers).await
                    } else {
                        // The response is only a source of links.
                        let response = self.sides.wordpress(&target.target, headers).await;
                        response.map(|response| (response, Comparison::Forwarded))
                    };
                    (self.progress)(finished + compared_now.fetch_add(1, Ordering::Relaxed) + 1, known);
                    (target, compared)
                })
                .buffer_unordered(PARALLEL)
                .collect()
                .await;
            for (target, compared) in compared {
                let (response, comparison) = match compared {
                    Ok(compared) => compared,
                    // One slow route; the others may be fine.
                    Err(Failure::Timeout) => continue,
                    Err(failure) => return Err(failure.to_string()),
                };
                let body = response.json();
                if response.status.is_success() {
                    for url in links(&body) {
                        let Some((route, _)) = server.route_of(url) else { continue };
                        let Some((entry, _)) = server.endpoint_for(&Method::GET, &route) else { continue };
                        let routes = seen.entry(entry.pattern().to_owned()).or_default();
                        if is_fixed(entry)
                            || !is_compared(entry)
                            || routes.len() >= self.samples
                            || !routes.insert(route.clone())
                        {
                            continue;
                        }
                        waiting.extend(targets(server, entry, &route, contexts));
                    }
                }
                let difference = match comparison {
                    Comparison::Forwarded | Comparison::Unclear => continue,
                    Comparison::Equal => None,
                    Comparison::Different(difference) => Some(difference),
                };
                let has_content = response.status.is_success() && !is_empty(&body);
                let Target { pattern, target, .. } = target;
                samples.push((Sample { pattern, viewer, target, difference }, has_content));
            }
        }
        Ok(samples)
    }
}

/// Hash of a document.
fn hash(document: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    document.to_string().hash(&mut hasher);
    hasher.finish()
}

/// The routes without parameters that can be compared.
fn fixed_routes(server: &Server) -> impl Iterator<Item = &RouteEntry> {
    server.routes().filter(|route| is_fixed(route) && is_compared(route) && !is_index(server, route.pattern()))
}

/// Whether the route has one path.
fn is_fixed(route: &RouteEntry) -> bool {
    !route.pattern().contains(['(', '{', '['])
}

/// Whether reads of the route are compared. Results of the site's health depend on the machine, and abilities may do anything.
fn is_compared(route: &RouteEntry) -> bool {
    let is_health = route.namespace().contains("-site-health/");
    route.methods().contains(&Method::GET) && !is_health && !route.pattern().ends_with("/run")
}

/// The URLs to compare for one path: each context, and for lists also a page other than the first.
fn targets(server: &Server, entry: &RouteEntry, route: &str, contexts: &[&str]) -> Vec<Target> {
    let Some(endpoint) = entry.endpoints().find(|e| e.methods().contains(&Method::GET)) else { return Vec::new() };
    let has = |name| endpoint.args().get(name).is_some();
    let mut queries: Vec<Vec<(&str, &str)>> = match has("context") {
        true => contexts.iter().map(|context| vec![("context", *context)]).collect(),
        false => vec![Vec::new()],
    };
    let per_page = PER_PAGE.to_string();
    if has("per_page") {
        queries.iter_mut().for_each(|query| query.push(("per_page", &per_page)));
        queries.push(vec![("per_page", "1"), ("page", "2")]);
    }
    let one = |query: &Vec<(&str, &str)>| Target {
        pattern: entry.pattern().to_owned(),
        route: route.to_owned(),
        target: target(server, route, query),
    };
    queries.iter().map(one).collect()
}

/// Path and query of a route's URL.
fn target(server: &Server, route: &str, query: &[(&str, &str)]) -> String {
    let url = server.rest_url(route);
    let after = url.find("://").map_or(0, |i| i + 3);
    let path = url[after..].find('/').map_or("/", |i| &url[after + i..]);
    let query: Vec<String> = query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    match (query.is_empty(), path.contains('?')) {
        (true, _) => path.to_owned(),
        (false, true) => format!("{path}&{}", query.join("&")),
        (false, false) => format!("{path}?{}", query.join("&")),
    }
}

/// The targets of all links of a document.
fn links(document: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    let mut waiting = vec![document];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(list) => waiting.extend(list.iter().rev()),
            Value::Object(map) => {
                if let Some(Value::Object(links)) = map.get("_links") {
                    let targets = links.values().filter_map(Value::as_array).flatten();
                    found.extend(targets.filter_map(|link| link["href"].as_str()));
                }
                waiting.extend(map.iter().filter(|(name, _)| *name != "_links").map(|(_, value)| value));
            }
            _ => {}
        }
    }
    found
}

/// Whether a list or an object has no entries. Such a response shows nothing about the entries to come.
fn is_empty(body: &Value) -> bool {
    match body {
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => body.is_null(),
    }
}

/// The proof of each route that was compared.
fn proofs(samples: &[(Sample, bool)]) -> Proofs {
    let mut found: Proofs = BTreeMap::new();
    for (sample, has_content) in samples {
        let proof =
            found.entry(sample.pattern.clone()).or_insert(Proof::None("no response with content to compare".into()));
        *proof = match (&*proof, &sample.difference) {
            (Proof::Different(_), _) => continue,
            (_, Some(difference)) => Proof::Different(format!("{} of {}", difference, sample.target)),
            (Proof::Equal(n), None) => Proof::Equal(n + usize::from(*has_content)),
            (Proof::None(_), None) if *has_content => Proof::Equal(1),
            (Proof::None(_), None) => continue,
        };
    }
    // A difference in a list holds for its items, of which only some were compared one by one.
    let refuted: Vec<(String, String)> = found
        .iter()
        .filter_map(|(pattern, proof)| match proof {
            Proof::Different(reason) => Some((format!("{pattern}/"), reason.clone())),
            _ => None,
        })
        .collect();
    for (pattern, proof) in &mut found {
        if let Some((_, reason)) = refuted.iter().find(|(above, _)| pattern.starts_with(above.as_str())) {
            *proof = Proof::Different(reason.clone());
        }
    }
    found
}

/// Proofs by route.
type Proofs = BTreeMap<String, Proof>;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_of_nested_documents() {
        let document = json!([
            {"id": 1, "_links": {"self": [{"href": "a"}], "up": [{"href": "b"}, {"x": 1}]}},
            {"inner": {"_links": {"self": [{"href": "c"}]}}},
        ]);
        assert_eq!(links(&document), ["a", "b", "c"]);
        assert_eq!(links(&json!({"_links": {"a": "x"}})), Vec::<&str>::new());
    }

    #[test]
    fn one_difference_refutes_a_route_and_those_below_it() {
        let sample = |pattern: &str, difference: Option<&str>, has_content| {
            let difference = difference.map(str::to_owned);
            (
                Sample { pattern: pattern.into(), viewer: Viewer::Anonymous, target: "/t".into(), difference },
                has_content,
            )
        };
        let found = proofs(&[
            sample("a", None, true),
            sample("a", None, false),
            sample("b", None, true),
            sample("b", Some("x"), true),
            sample("b", None, true),
            sample("b/(?P<id>\\d+)", None, true),
            sample("bc", None, true),
            sample("c", None, false),
        ]);
        assert_eq!(found["b/(?P<id>\\d+)"], found["b"]);
        assert_eq!(found["bc"], Proof::Equal(1));
        assert_eq!(found["a"], Proof::Equal(1));
        assert_eq!(found["b"], Proof::Different("x of /t".to_owned()));
        assert!(matches!(found["c"], Proof::None(_)));
    }
}
