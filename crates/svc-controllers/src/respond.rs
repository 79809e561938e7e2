//! Builds responses from prepared items: views, additional fields and links. Used by every family.

use serde_json::{Value, json};
use svc_resource::View;
use svc_routing::{ExtraField, ExtraFields, Links, Map, Request, Response, Result};
use svc_schema::FieldSet;

/// The view of items that this request selects with `context`, `_fields` and `_embed`.
pub(crate) fn view(req: &Request) -> View {
    View {
        context: req.context().to_owned(),
        fields: req.fields().map(|fields| with_needed(fields, req)),
        embed: req.has_param("_embed"),
        links: true,
    }
}

/// The selected fields, and those that selected additional fields need: see [`without_needed`].
fn with_needed(fields: &FieldSet, req: &Request) -> FieldSet {
    let Some(server) = req.server() else { return fields.clone() };
    let needed: Vec<&str> = server.fields().needed_by(fields).collect();
    if needed.is_empty() {
        return fields.clone();
    }
    FieldSet::of(fields.names().iter().map(String::as_str).chain(needed).map(str::to_owned).collect())
}

/// Removes the fields that were prepared for additional fields only.
fn without_needed(item: &mut Map, req: &Request, view: &View) {
    let (Some(selected), Some(prepared), Some(server)) = (req.fields(), &view.fields, req.server()) else { return };
    let needed: Vec<&str> = server.fields().needed_by(selected).collect();
    // The view of a deleted item has a name more for another reason.
    let is_extended = !needed.is_empty()
        && prepared.names().iter().rev().zip(needed.iter().rev()).all(|(name, needed)| name == needed);
    if is_extended && let Value::Object(trimmed) = selected.trim_item(Value::Object(std::mem::take(item))) {
        *item = trimmed;
    }
}

/// [`view`] in context `edit`, for responses to writes.
pub(crate) fn edit_view(req: &Request) -> View {
    View { context: "edit".to_owned(), ..view(req) }
}

/// The view of a deleted item in the field `previous` of the response: the requested fields and always `id`. The
/// response filter then applies the request's `previous.…` fields.
pub(crate) fn previous_view(req: &Request, context: &str) -> View {
    let with_id = |fields: &FieldSet| FieldSet::of(fields.names().iter().cloned().chain(["id".to_owned()]).collect());
    let fields = req.fields().filter(|fields| !fields.is_everything()).map(with_id);
    View { context: context.to_owned(), fields, embed: false, links: false }
}

/// The value of a parameter; null if the request contains it as null, `None` if it is absent.
pub(crate) fn param_or_null(req: &Request, name: &str) -> Option<Value> {
    req.param(name).cloned().or_else(|| req.has_param(name).then_some(Value::Null))
}

/// The value of an integer parameter, 0 if it is absent. The value may be unvalidated: permission checks also run for
/// requests with invalid arguments, to compute `Allow`.
pub(crate) fn number(req: &Request, name: &str) -> i64 {
    req.param(name).map_or(0, svc_php::cast::to_int)
}

/// Whether a request asks to delete permanently instead of moving to the trash.
///
/// # Errors
/// If `force` is not a boolean, which the argument's schema excludes.
pub(crate) fn is_forced(req: &Request) -> Result<bool> {
    Ok(req.arg("force")?.unwrap_or(false))
}

/// The response to a permanent deletion, with the object as it was.
pub(crate) fn deleted(previous: impl Into<Value>) -> Response {
    let previous: Value = previous.into();
    Response::new(json!({"deleted": true, "previous": previous}))
}

/// Adds the additional fields of an object type that are visible in the view.
pub(crate) async fn add_extra(
    extra: &ExtraFields,
    object: &str,
    item: &mut Map,
    req: &Request,
    view: &View,
) -> Result<()> {
    if extra.is_empty_for(object) {
        without_needed(item, req, view);
        return Ok(());
    }
    let is_visible = |field: &ExtraField| field.schema().is_none_or(|schema| view.is_visible(schema.source()));
    extra.add_where(object, item, req, &is_visible).await?;
    without_needed(item, req, view);
    Ok(())
}

/// Calls [`add_extra`] for an item with an id. The additional fields can read `id` even if it is not part of the
/// response.
pub(crate) async fn finish(
    extra: &ExtraFields,
    object: &str,
    id: i64,
    mut item: Map,
    req: &Request,
    view: &View,
) -> Result<Map> {
    if extra.is_empty_for(object) {
        without_needed(&mut item, req, view);
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

/// An item of a list, with its links in `_links`.
pub(crate) fn with_links(mut item: Map, links: Option<Links>, req: &Request) -> Value {
    if let Some(links) = links
        && let Some(server) = req.server()
        && let Some(links) = links.to_value(server.curies())
    {
        item.insert("_links".to_owned(), Value::Object(links));
    }
    // An item without fields is serialized as `[]`, as PHP serializes an empty map.
    if item.is_empty() { Value::Array(Vec::new()) } else { Value::Object(item) }
}

/// A response with a list of these items, without pages.
pub(crate) fn list(items: impl IntoIterator<Item = (Map, Option<Links>)>, req: &Request) -> Response {
    let items = items.into_iter().map(|(item, links)| with_links(item, links, req));
    Response::new(Value::Array(items.collect()))
}

/// A map of items by name, as the registry routes return it; `[]` if there are no items, as in PHP.
pub(crate) fn keyed(items: impl IntoIterator<Item = (String, Map, Option<Links>)>, req: &Request) -> Value {
    let items: Map = items.into_iter().map(|(name, item, links)| (name, with_links(item, links, req))).collect();
    if items.is_empty() { Value::Array(Vec::new()) } else { Value::Object(items) }
}

/// A response with one item.
pub(crate) fn single(item: Map, links: Option<Links>) -> Response {
    let links = links.unwrap_or_default();
    // As for `with_links`: `[]` for an item without fields and links.
    let is_empty = item.is_empty() && links.is_empty();
    let data = if is_empty { Value::Array(Vec::new()) } else { Value::Object(item) };
    let mut response = Response::new(data);
    response.links = links;
    response
}
