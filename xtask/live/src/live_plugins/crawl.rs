//! Reads that are sent to the gateway and to WordPress: those that the index names, and those that responses link to.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use anyhow::Result;
use serde_json::Value;
use xtask_support::gateway::{get, is_forwarded};

use crate::differences::difference;

/// Number of times that a read is sent again to see it replayed.
const TRIES: usize = 2;

/// Time after which a response that depends on the clock is another one.
const CLOCK: std::time::Duration = std::time::Duration::from_millis(1_100);

/// Parts of routes that are not read: they send requests to other servers, or describe the machine.
const SKIPPED: [&str; 7] =
    ["site-health", "block-directory", "pattern-directory", "url-details", "/export", "/run", "oembed"];

/// A crawl of both servers.
pub(super) struct Crawl<'a> {
    pub(super) ours: &'a str,
    pub(super) theirs: &'a str,
    /// `USER:PASSWORD`; empty for a visitor.
    pub(super) credentials: &'a str,
    /// URLs per collection.
    pub(super) samples: usize,
    /// Maximum number of URLs.
    pub(super) urls: usize,
}

/// Numbers of responses, and differences.
#[derive(Default)]
pub(super) struct Tally {
    /// Replayed responses that equal those of WordPress.
    pub(super) equal: usize,
    /// Responses that were not replayed when they were asked for again.
    pub(super) forwarded: usize,
    pub(super) failures: Vec<String>,
    /// URLs of which WordPress's own responses differ a second later.
    pub(super) varying: Vec<String>,
    /// URLs that were read.
    pub(super) targets: Vec<String>,
    /// Those that were not replayed, and why.
    pub(super) not_replayed: Vec<String>,
}

impl Crawl<'_> {
    pub(super) fn run(&self, tally: &mut Tally) -> Result<()> {
        let index = get(self.theirs, "/wp-json/?context=help", self.credentials)?.json()?;
        let mut waiting: VecDeque<String> = VecDeque::new();
        for (pattern, route) in index["routes"].as_object().into_iter().flatten() {
            if !pattern.contains('(') && !SKIPPED.iter().any(|part| pattern.contains(part)) && reads(route).is_some() {
                waiting.extend(self.forms(&format!("/wp-json{pattern}"), reads(route)));
            }
        }
        // Those of all namespaces come in turn.
        let mut turns: BTreeMap<String, usize> = BTreeMap::new();
        let mut first: Vec<(usize, String)> = waiting
            .drain(..)
            .map(|target| {
                let space: String = target.split(['/', '?']).skip(2).take(2).collect();
                let turn = turns.entry(space).or_default();
                *turn += 1;
                (*turn, target)
            })
            .collect();
        first.sort();
        waiting.extend(first.into_iter().map(|(_, target)| target));
        let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut n_sent = 0;
        while let Some(target) = waiting.pop_front() {
            if n_sent == self.urls {
                break;
            }
            n_sent += 1;
            let body = self.compare(&target, tally)?;
            for path in links(&body, self.theirs) {
                if SKIPPED.iter().any(|part| path.contains(part)) || path.contains('?') {
                    continue;
                }
                let known = seen.entry(above(&path).to_owned()).or_default();
                if known.len() < self.samples && known.insert(path.clone()) {
                    waiting.extend(self.forms(&path, None));
                }
            }
        }
        Ok(())
    }

    /// URLs of a path: in each context, and for lists with other pages and embedded resources.
    fn forms(&self, path: &str, args: Option<&Value>) -> Vec<String> {
        let contexts = ["view", "embed"];
        match args {
            Some(args) if args.get("context").is_none() && args.get("per_page").is_none() => vec![path.to_owned()],
            Some(args) if args.get("per_page").is_some() => {
                let mut forms: Vec<String> =
                    contexts.iter().map(|context| format!("{path}?context={context}&per_page=30")).collect();
                forms.push(format!("{path}?per_page=5&page=2&_embed=1&_locale=user"));
                forms
            }
            _ => contexts.iter().map(|context| format!("{path}?context={context}")).collect(),
        }
    }

    /// Sends a read to the gateway until it is replayed, and to WordPress. Returns the document.
    fn compare(&self, target: &str, tally: &mut Tally) -> Result<Value> {
        let mut found = None;
        tally.targets.push(target.to_owned());
        // A difference must show twice: data may change between two requests.
        for _ in 0..2 {
            let mut ours = get(self.ours, target, self.credentials)?;
            for _ in 0..TRIES {
                if !is_forwarded(&ours) {
                    break;
                }
                ours = get(self.ours, target, self.credentials)?;
            }
            if is_forwarded(&ours) {
                tally.forwarded += 1;
                let status: Vec<&str> = ours.headers("cache-status").collect();
                tally.not_replayed.push(format!("{} {target} {}", ours.status, status.join(", ")));
                return Ok(ours.json().unwrap_or_default());
            }
            let theirs = get(self.theirs, target, self.credentials)?;
            found = difference(&theirs, &ours);
            if found.is_some() {
                // What depends on the clock differs from itself.
                std::thread::sleep(CLOCK);
                if difference(&theirs, &get(self.theirs, target, self.credentials)?).is_some() {
                    tally.varying.push(target.to_owned());
                    return Ok(ours.json().unwrap_or_default());
                }
            }
            if found.is_none() {
                tally.equal += 1;
                return Ok(ours.json().unwrap_or_default());
            }
        }
        if let Some(difference) = found {
            tally.failures.push(format!("{target}: {difference}"));
        }
        Ok(Value::Null)
    }
}

/// The path without its last part.
fn above(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(before, _)| before)
}

/// The arguments of a route's first endpoint for reads that requires none.
fn reads(route: &Value) -> Option<&Value> {
    let endpoints = route["endpoints"].as_array()?;
    let is_get = |endpoint: &&Value| endpoint["methods"].as_array().is_some_and(|list| list.iter().any(|m| m == "GET"));
    let args = &endpoints.iter().find(is_get)?["args"];
    let has_required = args.as_object().into_iter().flatten().any(|(_, arg)| arg["required"] == true);
    (!has_required).then_some(args)
}

/// The paths below the REST API that a document links to.
fn links(document: &Value, site: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut waiting = vec![document];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(list) => waiting.extend(list),
            Value::Object(map) => waiting.extend(map.values()),
            Value::String(text) => {
                let path = text.strip_prefix(site).filter(|path| path.starts_with("/wp-json/"));
                found.extend(path.map(str::to_owned));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_and_arguments() {
        let document = json!([{"_links": {"self": [{"href": "http://a/wp-json/x/1"}], "other": [{"href": "http://b/wp-json/x"}]}}]);
        assert_eq!(links(&document, "http://a"), ["/wp-json/x/1"]);
        let route = |required: bool| json!({"endpoints": [{"methods": ["POST"]}, {"methods": ["GET"], "args": {"q": {"required": required}}}]});
        assert!(reads(&route(false)).is_some() && reads(&route(true)).is_none());
    }
}
