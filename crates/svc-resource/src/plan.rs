//! Which members a request sees: made once per request, run over every item.

use serde_json::{Map, Value};
use svc_schema::FieldSet;

use crate::fields::{Field, Fields};

/// What a request wants to see of a resource.
#[derive(Clone, Debug)]
pub struct View {
    /// `view`, `embed` or `edit`.
    pub context: String,
    /// The members named by `_fields`; `None` for all.
    pub fields: Option<FieldSet>,
    /// `_embed` is among the parameters.
    pub embed: bool,
    /// Items carry `_links`, where the fields let them through.
    pub links: bool,
}

impl View {
    /// Everything of this context.
    pub fn whole(context: &str) -> Self {
        View { context: context.to_owned(), fields: None, embed: false, links: true }
    }

    /// The view narrowed to these members.
    pub fn only(mut self, names: &[&str]) -> Self {
        self.fields = Some(FieldSet::parse(&Value::from(names.to_vec())));
        self
    }

    /// The view without `_links`.
    pub fn without_links(mut self) -> Self {
        self.links = false;
        self
    }

    /// Whether a member with this schema is seen in this context.
    pub fn shows(&self, schema: &Value) -> bool {
        visible(schema, &self.context)
    }

    /// Whether `_fields` lets this member through (specification, "Field selection" 5).
    pub fn includes(&self, name: &str) -> bool {
        self.fields.as_ref().is_none_or(|fields| fields.is_included(name))
    }

    /// Whether `_fields` names this very member, or everything.
    fn names(&self, name: &str) -> bool {
        self.fields.as_ref().is_none_or(|fields| fields.is_everything() || fields.names().iter().any(|n| n == name))
    }

    /// Whether items carry `_links`: asked for, or needed for `_embedded`.
    pub fn wants_links(&self) -> bool {
        self.links && (self.includes("_links") || (self.embed && self.includes("_embedded")))
    }
}

/// The visible members of a table, in order, with their closures resolved.
pub struct Plan<'f, I, D> {
    nodes: Vec<Node<'f, I, D>>,
}

struct Node<'f, I, D> {
    field: &'f Field<I, D>,
    members: Vec<Node<'f, I, D>>,
}

impl<I, D> Fields<I, D> {
    /// The members that this view shows.
    pub fn plan(&self, view: &View) -> Plan<'_, I, D> {
        Plan { nodes: nodes(self.rows(), view, "") }
    }
}

/// Members without `context` are always visible (specification, "Context filtering" 1).
fn visible(schema: &Value, context: &str) -> bool {
    match schema.get("context").and_then(Value::as_array) {
        Some(contexts) => contexts.iter().any(|c| c == context),
        None => true,
    }
}

fn nodes<'f, I, D>(rows: &'f [Field<I, D>], view: &View, above: &str) -> Vec<Node<'f, I, D>> {
    let mut out = Vec::with_capacity(rows.len());
    for field in rows {
        if field.get.is_none() && field.members.is_empty() {
            continue;
        }
        let path = if above.is_empty() { field.name.clone() } else { format!("{above}.{}", field.name) };
        if view.shows(&field.schema) && view.includes(&path) && (!field.exact_field || view.names(&path)) {
            out.push(Node { field, members: nodes(&field.members, view, &path) });
        }
    }
    out
}

impl<I, D> Plan<'_, I, D> {
    /// Whether this member (`content`, or `content.rendered` within one) is computed.
    pub fn wants(&self, path: &str) -> bool {
        let mut nodes = &self.nodes;
        let mut found = false;
        for name in path.split('.') {
            let Some(node) = nodes.iter().find(|n| n.field.name == name) else { return false };
            nodes = &node.members;
            found = true;
        }
        found
    }

    /// Whether any of these members is computed.
    pub fn wants_any(&self, paths: &[&str]) -> bool {
        paths.iter().any(|path| self.wants(path))
    }

    /// The visible members of an item.
    pub fn prepare(&self, item: &I) -> Map<String, Value> {
        prepare(&self.nodes, item)
    }
}

fn prepare<I, D>(nodes: &[Node<'_, I, D>], item: &I) -> Map<String, Value> {
    let mut out = Map::with_capacity(nodes.len() + 1);
    for node in nodes {
        if node.field.when.as_ref().is_some_and(|has| !has(item)) {
            continue;
        }
        let value = match &node.field.get {
            // An object all of whose members are hidden is an empty list, as PHP's empty array prints.
            _ if !node.field.members.is_empty() => match prepare(&node.members, item) {
                members if members.is_empty() => Value::Array(Vec::new()),
                members => Value::Object(members),
            },
            Some(get) => get(item),
            None => continue,
        };
        out.insert(node.field.name.clone(), value);
    }
    out
}
