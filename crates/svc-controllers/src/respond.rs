//! What every family does with a prepared item: additional fields, links, and what the request wants to see.

use serde_json::Value;
use svc_resource::View;
use svc_routing::{ExtraField, ExtraFields, Links, Map, Request, Result};

/// What this request wants to see of items.
pub(crate) fn view(req: &Request) -> View {
    View {
        context: req.context().to_owned(),
        fields: req.fields().cloned(),
        embed: req.has_param("_embed"),
        links: true,
    }
}

/// [`view`] in context `edit`: what a request that writes is answered.
pub(crate) fn edit_view(req: &Request) -> View {
    View { context: "edit".to_owned(), ..view(req) }
}

/// A parameter as the request gives it: null counts, absence does not.
pub(crate) fn given(req: &Request, name: &str) -> Option<Value> {
    req.param(name).cloned().or_else(|| req.has_param(name).then_some(Value::Null))
}

/// Adds the additional fields of an object type that the view shows.
pub(crate) async fn add_extra(
    extra: &ExtraFields,
    object: &str,
    item: &mut Map,
    req: &Request,
    view: &View,
) -> Result<()> {
    if extra.is_empty_for(object) {
        return Ok(());
    }
    let shown = |field: &ExtraField| field.schema().is_none_or(|schema| view.shows(schema.source()));
    extra.add_shown_to(object, item, req, &shown).await
}

/// An item of a list: its links stand in the item itself.
pub(crate) fn with_links(mut item: Map, links: Option<Links>, req: &Request) -> Value {
    if let Some(links) = links
        && let Some(server) = req.server()
        && let Some(links) = links.to_value(&server.site().curies())
    {
        item.insert("_links".to_owned(), Value::Object(links));
    }
    // An item of which nothing is wanted prints as PHP's empty map.
    if item.is_empty() { Value::Array(Vec::new()) } else { Value::Object(item) }
}

/// A map of items by name, as the families of what is registered answer; an item without any member is an empty list, as
/// PHP prints it.
pub(crate) fn keyed(items: impl IntoIterator<Item = (String, Map, Option<Links>)>, req: &Request) -> Value {
    let shown = |item: Map, links| match with_links(item, links, req) {
        Value::Object(item) if item.is_empty() => Value::Array(Vec::new()),
        item => item,
    };
    Value::Object(items.into_iter().map(|(name, item, links)| (name, shown(item, links))).collect())
}
