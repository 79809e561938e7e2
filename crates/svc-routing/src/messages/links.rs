//! Link relations of a response: `_links`, abbreviated by CURIEs.

use serde_json::{Value, json};

use crate::Map;

/// The attribute that lists the methods allowed on the target.
const HINTS: &str = "targetHints";

/// A prefix that abbreviates relation names: `svc` for `https://api.w.org/{rel}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curie {
    /// The prefix, before the colon.
    pub name: String,
    /// The URL template; `{rel}` is the rest of the relation's name.
    pub href: String,
}

impl Curie {
    /// The rest of the relation's name, if the template matches.
    fn shorten<'a>(&self, rel: &'a str) -> Option<&'a str> {
        let (before, after) = self.href.split_once("{rel}")?;
        let rest = rel.strip_prefix(before)?.strip_suffix(after)?;
        (!rest.is_empty()).then_some(rest)
    }
}

/// One target of a relation, with its attributes (`embeddable`, `templated`, `type` …).
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    href: String,
    attributes: Map,
    /// The methods that the caller may use on the target, if they are known.
    allowed: Option<Vec<String>>,
}

impl Link {
    /// A link to this URL.
    pub fn new(href: impl Into<String>) -> Self {
        Self { href: href.into(), attributes: Map::new(), allowed: None }
    }

    /// Allows `_embed` to fetch the target.
    pub fn embeddable(self) -> Self {
        self.attr("embeddable", true)
    }

    /// Sets one attribute.
    pub fn attr(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.attributes.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the methods that the caller may use on the target, so that the server does not determine them. An empty
    /// list results in no hints, as if the server had found no allowed methods.
    pub fn allow<'a>(mut self, methods: impl IntoIterator<Item = &'a str>) -> Self {
        self.allowed = Some(methods.into_iter().map(str::to_owned).collect());
        self
    }

    /// The URL.
    pub fn href(&self) -> &str {
        &self.href
    }

    fn has_hints(&self) -> bool {
        self.allowed.is_some() || self.attributes.get(HINTS).is_some_and(|hints| hints.get("allow").is_some())
    }

    /// As an entry of `_links`: the attributes, then the URL, then the allowed methods.
    fn to_value(&self) -> Value {
        let mut out = self.attributes.clone();
        out.insert("href".to_owned(), Value::String(self.href.clone()));
        if let Some(methods) = self.allowed.as_ref().filter(|methods| !methods.is_empty()) {
            out.insert(HINTS.to_owned(), json!({ "allow": methods }));
        }
        Value::Object(out)
    }
}

/// The links of a response, in the order in which their relations were first added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Links(Vec<(String, Vec<Link>)>);

impl Links {
    /// No links.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a target to a relation.
    pub fn add(&mut self, rel: impl Into<String>, link: Link) {
        let rel = rel.into();
        match self.0.iter_mut().find(|(name, _)| *name == rel) {
            Some((_, links)) => links.push(link),
            None => self.0.push((rel, vec![link])),
        }
    }

    /// Removes a relation, or only its targets with this URL.
    pub fn remove(&mut self, rel: &str, href: Option<&str>) {
        for (_, links) in self.0.iter_mut().filter(|(name, _)| name == rel) {
            links.retain(|link| href.is_some_and(|href| link.href != href));
        }
        self.0.retain(|(_, links)| !links.is_empty());
    }

    /// Whether there are no links.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Relations and their targets.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Link])> {
        self.0.iter().map(|(rel, links)| (rel.as_str(), links.as_slice()))
    }

    /// The `self` targets whose allowed methods are not set.
    pub(crate) fn unhinted_self(&mut self) -> impl Iterator<Item = &mut Link> {
        self.0.iter_mut().filter(|(rel, _)| rel == "self").flat_map(|(_, links)| links).filter(|link| !link.has_hints())
    }

    /// The value of `_links`: relations abbreviated by CURIEs, with the used CURIEs last. `None` without links.
    pub fn to_value(&self, curies: &[Curie]) -> Option<Map> {
        if self.0.is_empty() {
            return None;
        }
        let (mut out, mut used) = (Map::new(), Vec::<&Curie>::new());
        for (rel, links) in &self.0 {
            let mut name = rel.clone();
            if let Some((curie, rest)) = curies.iter().find_map(|c| Some((c, c.shorten(rel)?))) {
                name = format!("{}:{rest}", curie.name);
                if !used.contains(&curie) {
                    used.push(curie);
                }
            }
            let values = links.iter().map(Link::to_value);
            match out.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
                Value::Array(list) => list.extend(values),
                other => *other = values.collect(),
            }
        }
        if !used.is_empty() {
            let list = used.iter().map(|c| json!({ "name": c.name, "href": c.href, "templated": true })).collect();
            out.insert("curies".to_owned(), list);
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_are_abbreviated_and_curies_come_last() {
        let mut links = Links::new();
        links.add("https://api.w.org/thing", Link::new("a").embeddable());
        links.add("self", Link::new("b").allow(["GET"]));
        links.add("https://api.w.org/", Link::new("c"));
        let curies = [Curie { name: "svc".to_owned(), href: "https://api.w.org/{rel}".to_owned() }];
        let got = serde_json::to_string(&links.to_value(&curies)).unwrap();
        expect_test::expect![[r#"{"svc:thing":[{"embeddable":true,"href":"a"}],"self":[{"href":"b","targetHints":{"allow":["GET"]}}],"https://api.w.org/":[{"href":"c"}],"curies":[{"name":"svc","href":"https://api.w.org/{rel}","templated":true}]}"#]].assert_eq(&got);
        assert_eq!(links.unhinted_self().count(), 0);
    }

    #[test]
    fn remove_deletes_a_relation_or_one_target() {
        let mut links = Links::new();
        links.add("a", Link::new("1"));
        links.add("a", Link::new("2"));
        links.add("b", Link::new("3"));
        links.remove("a", Some("1"));
        let targets = |links: &Links| links.iter().map(|(r, l)| format!("{r}{}", l[0].href())).collect::<Vec<_>>();
        assert_eq!(targets(&links), ["a2", "b3"]);
        links.remove("a", None);
        assert_eq!(targets(&links), ["b3"]);
        assert!(!links.is_empty());
        links.remove("b", Some("3"));
        assert!(links.is_empty());
        assert!(Links::new().to_value(&[]).is_none());
    }
}
