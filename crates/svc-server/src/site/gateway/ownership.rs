//! Which side handles a route, with reasons: the outcome of comparing both REST APIs.

use std::{borrow::Cow, collections::BTreeMap, ops::Bound};

use http::Method;
use serde_json::Value;
use svc_gateway::compare::{Difference, compare_routes};

use super::refuted::collection;

/// The rights of a request, as far as its headers show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Viewer {
    /// No credentials.
    Anonymous,
    /// Credentials of WordPress: an application password, or a cookie with a nonce.
    LoggedIn,
}

impl Viewer {
    pub(crate) const ALL: [Viewer; 2] = [Viewer::Anonymous, Viewer::LoggedIn];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Viewer::Anonymous => "visitors",
            Viewer::LoggedIn => "users",
        }
    }
}

/// The outcome of comparing responses for one route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// This many responses were compared and equal.
    Equal(usize),
    /// No response could be compared.
    None(Cow<'static, str>),
    /// A response differs.
    Different(String),
}

/// The outcome for one method of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MethodState {
    /// The difference of the descriptions; `None` if they are equal.
    description: Option<String>,
    /// Comparisons of responses. Only reads are compared.
    samples: BTreeMap<Viewer, Proof>,
}

/// The routes of this server, and which of them respond as those of WordPress do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ownership {
    routes: BTreeMap<String, BTreeMap<String, MethodState>>,
    /// The reason for which nothing is known: no comparison has finished. `None` after one.
    unknown: Option<Cow<'static, str>>,
}

/// A row of the table that `routes --ownership` prints.
pub(crate) struct Row {
    pub(crate) route: String,
    pub(crate) method: String,
    /// Handled by this server for visitors, and for logged-in users.
    pub(crate) owned: [bool; 2],
    /// The reason for which WordPress handles it; empty if it does not.
    pub(crate) reason: String,
}

impl Ownership {
    /// Nothing is known yet.
    pub(crate) fn unknown(reason: impl Into<Cow<'static, str>>) -> Self {
        Ownership { routes: BTreeMap::new(), unknown: Some(reason.into()) }
    }

    /// The outcome of comparing the routes of two indexes. No response has been compared yet.
    pub(crate) fn described(wordpress: &Value, own: &Value) -> Self {
        let routes = compare_routes(wordpress, own).into_iter().map(|(pattern, found)| {
            let methods = found.methods.into_iter().map(|(method, args)| {
                let reason =
                    |what: &str, list: &[Difference]| list.first().map(|first| reason(what, first, list.len()));
                let description = reason("field ", &found.schema).or_else(|| reason("argument ", &args));
                (method, MethodState { description, samples: BTreeMap::new() })
            });
            (pattern, methods.collect())
        });
        Ownership { routes: routes.collect(), unknown: None }
    }

    /// Records the comparison of responses of a route.
    pub(crate) fn record(&mut self, pattern: &str, viewer: Viewer, proof: Proof) {
        if let Some(state) = self.routes.get_mut(pattern).and_then(|methods| methods.get_mut("GET")) {
            state.samples.insert(viewer, proof);
        }
    }

    /// Whether the descriptions of a route's method are equal.
    ///
    /// # Errors
    /// The reason why they are not.
    pub(crate) fn is_described(&self, pattern: &str, method: &Method) -> Result<(), Cow<'_, str>> {
        if let Some(reason) = &self.unknown {
            return Err(Cow::Borrowed(reason));
        }
        let method = if *method == Method::HEAD { "GET" } else { method.as_str() };
        let state = self.routes.get(pattern).and_then(|methods| methods.get(method));
        match state.map(|state| &state.description) {
            Some(None) => Ok(()),
            Some(Some(reason)) => Err(Cow::Borrowed(reason)),
            None => Err(Cow::Borrowed("not in the index")),
        }
    }

    /// Whether responses of a route were compared and equal, besides its description.
    ///
    /// # Errors
    /// The reason why not.
    pub(crate) fn is_proven(&self, pattern: &str, viewer: Viewer) -> Result<(), Cow<'_, str>> {
        self.is_described(pattern, &Method::GET)?;
        let state = self.routes.get(pattern).and_then(|methods| methods.get("GET"));
        match state.and_then(|state| state.samples.get(&viewer)) {
            Some(Proof::Equal(_)) => Ok(()),
            Some(Proof::None(reason)) => Err(Cow::Borrowed(reason)),
            Some(Proof::Different(reason)) => Err(Cow::Borrowed(reason)),
            None => Err(Cow::Borrowed("no response compared")),
        }
    }

    /// Whether this server may handle a write to a route: the descriptions are equal, and no response of its collection differs. A
    /// difference in reads depends on something that only WordPress knows, and writes may depend on it as well.
    ///
    /// # Errors
    /// The reason why not.
    pub(crate) fn is_writable(&self, pattern: &str, method: &Method) -> Result<(), Cow<'_, str>> {
        self.is_described(pattern, method)?;
        let path = collection(pattern);
        let routes = self.routes.range::<str, _>((Bound::Included(path), Bound::Unbounded));
        let routes =
            routes.take_while(|(other, _)| other.starts_with(path)).filter(|(other, _)| collection(other) == path);
        let mut proofs = routes.flat_map(|(_, methods)| methods.values()).flat_map(|state| state.samples.values());
        match proofs.find_map(|proof| if let Proof::Different(reason) = proof { Some(reason) } else { None }) {
            Some(reason) => Err(Cow::Borrowed(reason)),
            None => Ok(()),
        }
    }

    /// The table, for reads that need proof.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (pattern, methods) in &self.routes {
            for method in methods.keys() {
                let (owned, reason) = match method.as_str() {
                    "GET" => {
                        let proofs = Viewer::ALL.map(|viewer| self.is_proven(pattern, viewer));
                        let mut reasons: Vec<String> = Vec::new();
                        for (viewer, proof) in Viewer::ALL.iter().zip(&proofs) {
                            if let Err(reason) = proof {
                                reasons.push(format!("{}: {reason}", viewer.name()));
                            }
                        }
                        if let [first, second] = &reasons[..]
                            && let (Some((_, a)), Some((_, b))) = (first.split_once(": "), second.split_once(": "))
                            && a == b
                        {
                            reasons = vec![a.to_owned()];
                        }
                        (proofs.map(|proof| proof.is_ok()), reasons.join("; "))
                    }
                    _ => {
                        let writable = method.parse().map(|method| self.is_writable(pattern, &method));
                        let reason = writable.map_or_else(|_| "unknown method".into(), |d| d.err().unwrap_or_default());
                        ([reason.is_empty(); 2], reason.into_owned())
                    }
                };
                rows.push(Row { route: pattern.clone(), method: method.clone(), owned, reason });
            }
        }
        rows
    }
}

fn reason(what: &str, first: &Difference, n: usize) -> String {
    let more = if n > 1 { format!(" (and {} more)", n - 1) } else { String::new() };
    let what = if first.path.is_empty() { "" } else { what };
    format!("{what}{first}{more}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn index(args: Value, properties: Value) -> Value {
        json!({"/a": {
            "endpoints": [{"methods": ["GET"], "args": args}, {"methods": ["POST"], "args": {}}],
            "schema": {"properties": properties},
        }})
    }

    #[test]
    fn a_route_is_owned_by_description_and_samples() {
        let own = index(json!({}), json!({"id": {}}));
        let mut ownership = Ownership::described(&own, &own);
        let proven = |o: &Ownership, viewer| o.is_proven("/a", viewer).map_err(Cow::into_owned);
        assert_eq!(proven(&ownership, Viewer::Anonymous), Err("no response compared".to_owned()));
        ownership.record("/a", Viewer::Anonymous, Proof::Equal(2));
        ownership.record("/a", Viewer::LoggedIn, Proof::Different("title.rendered".to_owned()));
        assert_eq!(proven(&ownership, Viewer::Anonymous), Ok(()));
        assert_eq!(proven(&ownership, Viewer::LoggedIn), Err("title.rendered".to_owned()));
        assert_eq!(ownership.is_described("/a", &Method::HEAD), Ok(()));
        assert!(
            ownership.is_described("/a", &Method::DELETE).is_err()
                && ownership.is_described("/b", &Method::GET).is_err()
        );
    }

    #[test]
    fn writes_need_equal_reads_of_their_collection() {
        let route = json!({"endpoints": [{"methods": ["GET", "POST"], "args": {}}], "schema": {}});
        let own = json!({"/a": &route, "/a/(?P<id>\\d+)": &route, "/ab": &route});
        let mut ownership = Ownership::described(&own, &own);
        let is_writable = |o: &Ownership, pattern| o.is_writable(pattern, &Method::POST).map_err(Cow::into_owned);
        assert_eq!(is_writable(&ownership, "/a"), Ok(()));
        ownership.record("/a/(?P<id>\\d+)", Viewer::LoggedIn, Proof::Different("url".to_owned()));
        for pattern in ["/a", "/a/(?P<id>\\d+)"] {
            assert_eq!(is_writable(&ownership, pattern), Err("url".to_owned()));
        }
        assert_eq!(is_writable(&ownership, "/ab"), Ok(()));
    }

    #[test]
    fn differences_of_descriptions_are_reasons() {
        let own = index(json!({}), json!({"id": {}}));
        let field = Ownership::described(&index(json!({}), json!({"id": {}, "seo": {}})), &own);
        for method in [Method::GET, Method::POST] {
            assert_eq!(field.is_described("/a", &method).unwrap_err(), "field properties.seo: only in WordPress");
        }
        let argument = Ownership::described(&index(json!({"lang": {}}), json!({"id": {}})), &own);
        assert_eq!(argument.is_described("/a", &Method::GET).unwrap_err(), "argument lang: only in WordPress");
        assert!(argument.is_described("/a", &Method::POST).is_ok());
        assert_eq!(Ownership::described(&json!({}), &own).rows()[0].reason, "the document: not in WordPress");
        assert!(Ownership::unknown("starting").is_described("/a", &Method::GET).is_err());
    }
}
