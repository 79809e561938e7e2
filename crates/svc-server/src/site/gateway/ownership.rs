//! Which side handles a route, with reasons: the outcome of comparing both REST APIs.

use std::{borrow::Cow, collections::BTreeMap};

use http::Method;
use serde_json::Value;
use svc_gateway::compare::{Difference, compare_routes};

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
    /// The comparisons of responses; `None` if no response was compared. Only reads are compared.
    proof: Option<Proof>,
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
    /// Whether this server handles it for visitors. WordPress handles it for all others.
    pub(crate) is_owned: bool,
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
                (method, MethodState { description, proof: None })
            });
            (pattern, methods.collect())
        });
        Ownership { routes: routes.collect(), unknown: None }
    }

    /// Records a comparison of responses of a route. A difference for one caller holds for all.
    pub(crate) fn record(&mut self, pattern: &str, proof: Proof) {
        if let Some(state) = self.routes.get_mut(pattern).and_then(|methods| methods.get_mut("GET"))
            && !matches!(state.proof, Some(Proof::Different(_)))
        {
            state.proof = Some(proof);
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
    pub(crate) fn is_proven(&self, pattern: &str) -> Result<(), Cow<'_, str>> {
        self.is_described(pattern, &Method::GET)?;
        let state = self.routes.get(pattern).and_then(|methods| methods.get("GET"));
        match state.and_then(|state| state.proof.as_ref()) {
            Some(Proof::Equal(_)) => Ok(()),
            Some(Proof::None(reason)) => Err(Cow::Borrowed(reason)),
            Some(Proof::Different(reason)) => Err(Cow::Borrowed(reason)),
            None => Err(Cow::Borrowed("no response compared")),
        }
    }

    /// How many of the routes' reads this server handles for visitors, and the number of all.
    pub(crate) fn share(&self) -> (usize, usize) {
        let reads = || self.routes.iter().filter(|(_, methods)| methods.contains_key("GET"));
        (reads().filter(|(pattern, _)| self.is_proven(pattern).is_ok()).count(), reads().count())
    }

    /// The table, for reads that need proof.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let methods = self.routes.iter().flat_map(|(pattern, methods)| methods.keys().map(move |m| (pattern, m)));
        let row = |(pattern, method): (&String, &String)| {
            let proven = match method.as_str() {
                "GET" => self.is_proven(pattern),
                _ => Err(Cow::Borrowed("a write")),
            };
            let (route, method, is_owned) = (pattern.clone(), method.clone(), proven.is_ok());
            Row { route, method, is_owned, reason: proven.err().unwrap_or_default().into_owned() }
        };
        methods.map(row).collect()
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
        let proven = |o: &Ownership| o.is_proven("/a").map_err(Cow::into_owned);
        assert_eq!(proven(&ownership), Err("no response compared".to_owned()));
        ownership.record("/a", Proof::Equal(2));
        assert_eq!((proven(&ownership), ownership.share()), (Ok(()), (1, 1)));
        assert_eq!(ownership.is_described("/a", &Method::HEAD), Ok(()));
        assert!(
            ownership.is_described("/a", &Method::DELETE).is_err()
                && ownership.is_described("/b", &Method::GET).is_err()
        );
        // A difference for one kind of caller holds for all.
        ownership.record("/a", Proof::Different("title.rendered".to_owned()));
        ownership.record("/a", Proof::Equal(5));
        assert_eq!((proven(&ownership), ownership.share()), (Err("title.rendered".to_owned()), (0, 1)));
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
        let rows = Ownership::described(&json!({}), &own).rows();
        assert_eq!((&*rows[0].reason, &*rows[1].reason), ("the document: not in WordPress", "a write"));
        assert!(Ownership::unknown("starting").is_described("/a", &Method::GET).is_err());
    }
}
