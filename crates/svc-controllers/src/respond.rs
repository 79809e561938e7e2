//! What every family does with a prepared item: additional fields, links, and what the request wants to see.

use serde_json::Value;
use svc_resource::View;
use svc_routing::{ExtraField, ExtraFields, Links, Map, Request, Response, Result};
use svc_schema::FieldSet;

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

/// What an answer to a deletion shows of what is gone: what the request asks for, and the number in any case. Of that, the
/// answer lets through what the request asks for of `previous`.
pub(crate) fn previous_view(req: &Request, context: &str) -> View {
    let with_id = |fields: &FieldSet| {
        let names = fields.names().iter().map(String::as_str);
        FieldSet::parse(&names.chain(["id"]).collect::<Vec<_>>().into())
    };
    let fields = req.fields().filter(|fields| !fields.is_everything()).map(with_id);
    View { context: context.to_owned(), fields, embed: false, links: false }
}

/// A parameter as the request gives it: null counts, absence does not.
pub(crate) fn given(req: &Request, name: &str) -> Option<Value> {
    req.param(name).cloned().or_else(|| req.has_param(name).then_some(Value::Null))
}

/// The number that a parameter names, 0 without one. A request whose arguments are refused is asked all the same what it
/// would be allowed to do: its values are whatever was sent.
pub(crate) fn number(req: &Request, name: &str) -> i64 {
    req.param(name).map_or(0, svc_php::cast::to_int)
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
    let shown = |field: &ExtraField| field.schema().is_none_or(|schema| view.is_visible(schema.source()));
    extra.add_where(object, item, req, &shown).await
}

/// [`add_extra`] to an item with a number, which the fields find under `id` whether or not `id` is shown.
pub(crate) async fn finish(
    extra: &ExtraFields,
    object: &str,
    id: i64,
    mut item: Map,
    req: &Request,
    view: &View,
) -> Result<Map> {
    if extra.is_empty_for(object) {
        return Ok(item);
    }
    let is_shown = item.contains_key("id");
    item.entry("id").or_insert_with(|| id.into());
    add_extra(extra, object, &mut item, req, view).await?;
    if !is_shown {
        item.shift_remove("id");
    }
    Ok(item)
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

/// A map of items by name, as the routes of registered things return it; without items it is PHP's empty array.
pub(crate) fn keyed(items: impl IntoIterator<Item = (String, Map, Option<Links>)>, req: &Request) -> Value {
    let items: Map = items.into_iter().map(|(name, item, links)| (name, with_links(item, links, req))).collect();
    if items.is_empty() { Value::Array(Vec::new()) } else { Value::Object(items) }
}

/// A response that shows one item.
pub(crate) fn single(item: Map, links: Option<Links>) -> Response {
    let links = links.unwrap_or_default();
    // Nothing of it is wanted, and there is nothing to link: PHP's empty map again.
    let is_empty = item.is_empty() && links.is_empty();
    let data = if is_empty { Value::Array(Vec::new()) } else { Value::Object(item) };
    let mut response = Response::new(data);
    response.links = links;
    response
}
