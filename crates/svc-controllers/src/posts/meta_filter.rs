//! Filters of lists of posts by registered meta: `meta[isbn]=…`, `meta[price][gte]=…`, `orderby=meta.price`.
//!
//! Only fields that are marked as queryable have filters. A list with such a filter contains only posts that the caller may read:
//! not even the number of others may tell anything about their values.

use std::sync::Arc;

use serde_json::{Map, Value};
use svc_auth::Caller;
use svc_model::{Post, PostId, PostType, RouteFamily};
use svc_schema::{
    Error,
    build::{SchemaBuilder, any_of, array, boolean, integer, number, object, string},
};
use svc_site::{Access, MetaField, Settings, Site, SiteResult};
use svc_store::{
    Db,
    posts::{self, MetaClause, MetaCompare, MetaType, PostOrderBy, PostQuery},
};

/// Name of the parameter.
pub(crate) const PARAM: &str = "meta";

/// What sort keys begin with.
const ORDER: &str = "meta.";

/// Longest text to compare with, in characters.
const MAX_TEXT: usize = 255;

/// Maximum number of values of `in`.
const MAX_VALUES: usize = 100;

/// The fields that lists of this type may be filtered by: those in its items. Other families have posts that only some may read
/// although they are published.
pub(super) fn fields(site: &Site, post_type: &PostType) -> Vec<Arc<MetaField>> {
    match post_type.route_family {
        RouteFamily::Posts if post_type.supports("custom-fields") => site.registries.meta.queryable(&post_type.name),
        _ => Vec::new(),
    }
}

/// The sort keys of these fields.
pub(super) fn orders(fields: &[Arc<MetaField>]) -> Vec<String> {
    fields.iter().map(|field| format!("{ORDER}{}", field.name)).collect()
}

/// The order for a sort key.
pub(super) fn order_by(fields: &[Arc<MetaField>], sent: &str) -> Option<PostOrderBy> {
    let field = fields.iter().find(|field| Some(field.name.as_str()) == sent.strip_prefix(ORDER))?;
    Some(PostOrderBy::IndexedMeta(field.key.clone(), field.query_type()?))
}

/// The parameter.
pub(super) fn param(fields: &[Arc<MetaField>]) -> SchemaBuilder {
    let conditions = fields.iter().map(|field| (field.name.clone(), condition(field)));
    object(conditions).additional_properties(false).describe(
        "Only return posts whose meta has these values, or matches these conditions: `meta[field]=value`, `meta[field][gte]=value`.",
    )
}

/// A value, or conditions.
fn condition(field: &MetaField) -> SchemaBuilder {
    let value = || match field.query_type() {
        Some(MetaType::Number) => number(),
        Some(MetaType::Integer) if field.item().source()["type"] == "boolean" => boolean(),
        Some(MetaType::Integer) => integer(),
        _ => {
            let text = string().max_length(MAX_TEXT);
            match field.item().source()["format"].as_str() {
                Some(format) => text.format(format),
                None => text,
            }
        }
    };
    let conditions = object([
        ("gt", value().describe("Greater than this.")),
        ("gte", value().describe("Greater than this, or equal.")),
        ("lt", value().describe("Less than this.")),
        ("lte", value().describe("Less than this, or equal.")),
        ("in", array(value()).max_items(MAX_VALUES).describe("One of these.")),
        ("exists", boolean().describe("Whether there is a value.")),
    ]);
    any_of([Value::from(value()), Value::from(conditions.additional_properties(false))])
}

/// The conditions of a validated value of the parameter.
pub(super) fn clauses(fields: &[Arc<MetaField>], sent: &Map<String, Value>) -> Vec<MetaClause> {
    let mut all = Vec::new();
    for (name, condition) in sent {
        let Some(field) = fields.iter().find(|field| field.name == *name) else { continue };
        let Some(value_type) = field.query_type() else { continue };
        let clause = |compare, values| MetaClause {
            key: field.key.clone(),
            values,
            compare,
            value_type,
            indexed: true,
            other_end: None,
        };
        let mut add = |compare, values| all.push(clause(compare, values));
        let Value::Object(conditions) = condition else {
            add(MetaCompare::Eq, vec![text(condition)]);
            continue;
        };
        let mut bounds = [Vec::new(), Vec::new()];
        for (operator, value) in conditions {
            match (operator.as_str(), value) {
                ("gt", value) => bounds[0].push((MetaCompare::Gt, text(value))),
                ("gte", value) => bounds[0].push((MetaCompare::Gte, text(value))),
                ("lt", value) => bounds[1].push((MetaCompare::Lt, text(value))),
                ("lte", value) => bounds[1].push((MetaCompare::Lte, text(value))),
                ("in", Value::Array(values)) => add(MetaCompare::In, values.iter().map(text).collect()),
                ("exists", Value::Bool(false)) => add(MetaCompare::NotExists, Vec::new()),
                ("exists", _) => add(MetaCompare::Exists, Vec::new()),
                _ => {}
            }
        }
        // Both ends of a range are one clause, so that one value must be in it.
        let [mut lower, mut upper] = bounds;
        while let Some((compare, value)) = lower.pop() {
            all.push(MetaClause { other_end: upper.pop(), ..clause(compare, vec![value]) });
        }
        all.extend(upper.into_iter().map(|(compare, value)| clause(compare, vec![value])));
    }
    all
}

/// A value as meta stores it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(is_true) => i64::from(*is_true).to_string(),
        other => other.to_string(),
    }
}

/// The parameter of a type without queryable fields.
pub(super) fn no_fields() -> Error {
    Error::new("rest_invalid_param", "Invalid parameter(s): meta").with_status(400)
}

/// Whether a list is filtered or sorted by meta.
pub(super) fn is_used(q: &PostQuery) -> bool {
    !q.meta.clauses.is_empty() || q.order_by.iter().any(|(by, _)| matches!(by, PostOrderBy::IndexedMeta(..)))
}

/// Whether a sort key is a meta field.
pub(super) fn is_order(sent: &str) -> bool {
    sent.starts_with(ORDER)
}

/// Restricts a list to posts that the caller may read, by their status: the rules of [`Access::can_read`] for these types, in SQL.
///
/// # Errors
/// Errors of the store.
pub(super) fn only_readable(
    q: &mut PostQuery,
    db: &mut Db,
    site: &Site,
    settings: &Settings,
    post_type: &PostType,
    caller: &Caller,
) -> SiteResult<()> {
    let access = Access::new(site, settings);
    let caps = &post_type.caps;
    let has = |cap: &str| caller.is_logged_in() && access.can(caller, cap);
    let reads_private = has(&caps.read_private_posts);
    let edits_all =
        [&caps.edit_others_posts, &caps.edit_published_posts, &caps.edit_private_posts].iter().all(|cap| has(cap));
    let is_open = |name: &String| {
        site.registries.statuses.get(name).is_some_and(|status| {
            let is_readable = match status.private {
                _ if !post_type.map_meta_cap => has(&caps.read_post),
                true => reads_private,
                false => edits_all,
            };
            status.public || is_readable
        })
    };
    let (open, closed): (Vec<String>, Vec<String>) = std::mem::take(&mut q.statuses).into_iter().partition(is_open);
    q.statuses = open;
    let mut own = q.own_statuses.take().map(|(_, own)| own).unwrap_or_default();
    own.extend(closed);
    if !own.is_empty() && post_type.map_meta_cap && has(&caps.read) {
        q.own_statuses = Some((caller.id, own));
    }
    if q.statuses.is_empty() && q.own_statuses.is_none() {
        // No post: without statuses, there would be no restriction.
        q.ids = Some(Vec::new());
    }
    let is_unpublished =
        |name: &String| site.registries.statuses.get(name).is_none_or(|status| !status.public && !status.private);
    let privacy_page = PostId(settings.number("wp_page_for_privacy_policy"));
    if !privacy_page.is_none() && q.statuses.iter().any(is_unpublished) && !has("manage_options") {
        // Only administrators edit this page, and therefore read it before it is published.
        let is_hidden = |page: &&Post| page.author != caller.id && is_unpublished(&page.status);
        q.not_ids.extend(posts::get_many(db, &[privacy_page])?.iter().filter(is_hidden).map(|page| page.id));
    }
    Ok(())
}
