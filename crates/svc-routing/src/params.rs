//! Where the parameters of a request come from, and which source wins.

use serde_json::Value;

use crate::Map;

/// One source of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Named groups of the route's pattern.
    Url,
    /// Members of a JSON body.
    Json,
    /// Fields of a form or multipart body.
    Body,
    /// The query string.
    Query,
    /// Defaults of the endpoint's arguments.
    Defaults,
}

/// Which source wins when several have a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParamOrder {
    /// The URL, then JSON body, form body, query, defaults: what the pattern has checked can not be overridden.
    #[default]
    UrlFirst,
    /// JSON body, form body, query, then the URL, defaults: as the peer does. Permission and handler still see one
    /// value, as parameters are parsed once.
    UrlLast,
}

impl ParamOrder {
    fn sources(self, body_counts: bool) -> &'static [Source] {
        use Source::*;
        match (self, body_counts) {
            (ParamOrder::UrlFirst, true) => &[Url, Json, Body, Query, Defaults],
            (ParamOrder::UrlFirst, false) => &[Url, Json, Query, Defaults],
            (ParamOrder::UrlLast, true) => &[Json, Body, Query, Url, Defaults],
            (ParamOrder::UrlLast, false) => &[Json, Query, Url, Defaults],
        }
    }
}

/// The parameters of a request by source.
#[derive(Clone, Debug, Default)]
pub struct Params {
    pub(crate) order: ParamOrder,
    /// Whether the method takes form fields as parameters.
    pub(crate) body_counts: bool,
    /// Named groups of the pattern.
    pub url: Map,
    /// Members of the JSON body; a list's items are named by their index, as PHP would see them.
    pub json: Map,
    /// Fields of the form.
    pub body: Map,
    /// The query string.
    pub query: Map,
    /// Defaults of the arguments.
    pub defaults: Map,
}

impl Params {
    /// One source.
    pub fn source(&self, source: Source) -> &Map {
        match source {
            Source::Url => &self.url,
            Source::Json => &self.json,
            Source::Body => &self.body,
            Source::Query => &self.query,
            Source::Defaults => &self.defaults,
        }
    }

    pub(crate) fn source_mut(&mut self, source: Source) -> &mut Map {
        match source {
            Source::Url => &mut self.url,
            Source::Json => &mut self.json,
            Source::Body => &mut self.body,
            Source::Query => &mut self.query,
            Source::Defaults => &mut self.defaults,
        }
    }

    /// The sources, strongest first.
    pub fn sources(&self) -> &'static [Source] {
        self.order.sources(self.body_counts)
    }

    /// The maps that count, for sanitizing, strongest source first.
    pub(crate) fn counted_mut(&mut self) -> Vec<&mut Map> {
        let Self { order, body_counts, url, json, body, query, defaults } = self;
        match order {
            ParamOrder::UrlFirst => [Some(url), Some(json), body_counts.then_some(body), Some(query), Some(defaults)],
            ParamOrder::UrlLast => [Some(json), body_counts.then_some(body), Some(query), Some(url), Some(defaults)],
        }
        .into_iter()
        .flatten()
        .collect()
    }

    /// The value of a parameter, `None` when it is absent or `null` everywhere: a `null` counts as not given, so a
    /// weaker source's value shows through it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.sources().iter().find_map(|s| self.source(*s).get(name).filter(|v| !v.is_null()))
    }

    /// Whether any source names the parameter, `null` included.
    pub fn has(&self, name: &str) -> bool {
        self.sources().iter().any(|s| self.source(*s).contains_key(name))
    }

    /// All parameters, stronger sources over weaker ones; members in the order weakest source first.
    pub fn merged(&self) -> Map {
        let mut out = Map::new();
        for source in self.sources().iter().rev() {
            for (name, value) in self.source(*source) {
                out.insert(name.clone(), value.clone());
            }
        }
        out
    }
}
