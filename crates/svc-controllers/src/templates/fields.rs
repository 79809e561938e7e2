//! Fields of templates and template parts, and list parameters.

use std::sync::Arc;

use serde_json::Value;
use svc_render::content as render;
use svc_resource::{Fields, Params};
use svc_schema::build::{SchemaBuilder, integer, string, types, untyped};
use svc_site::templates::{
    draft::TemplateDraft,
    load::{Template, TemplateKind},
};

use crate::{
    args::context_param,
    contexts::{EDIT, EMBED_VIEW_EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
};
use svc_site::Site;

/// List filters.
#[derive(Clone, Debug, Default)]
pub(super) struct TemplateList {
    pub wp_id: Option<i64>,
    pub area: Option<String>,
    pub post_type: Option<String>,
}

fn format_date(template: &Template, of: fn(&svc_model::Post) -> svc_model::Timestamp) -> Value {
    let stamp = template.post.as_ref().and_then(of);
    stamp.map_or(Value::Null, |s| s.format("%Y-%m-%dT%H:%M:%S").to_string().into())
}

/// The type `bool`, which WordPress uses here although JSON Schema does not have it. It is documented and not validated.
fn flag() -> SchemaBuilder {
    untyped().keyword("type", "bool")
}

#[rustfmt::skip]
pub(super) fn fields(site: &Arc<Site>, kind: TemplateKind) -> Fields<Template, TemplateDraft> {
    let mut f = Fields::<Template, TemplateDraft>::new(kind.post_type());
    f.add("id", string().describe("The template's ID: theme and slug.").context(EMBED_VIEW_EDIT).readonly()).get(Template::id);
    f.add("theme", string().describe("The template's theme.").context(EMBED_VIEW_EDIT)).get(|t| t.theme.clone()).set(|d, v| d.theme = Some(v));
    let content = f.add("content", types(["object", "string"]).describe("The template's blocks.").default("").context(EMBED_VIEW_EDIT));
    content.subfield("raw", string().describe("The blocks as stored.").context(VIEW_EDIT)).get(|t| t.content.clone());
    content.subfield("block_version", integer().describe("Version of the block format of the content.").context(EDIT).readonly())
        .get(|t| i64::from(svc_content::blocks::block_version(&t.content)));
    content.set(|d, v| d.content = text(v));
    f.add("slug", string().describe("The template's slug.").context(EMBED_VIEW_EDIT).required().min_length(1).pattern(r"[a-zA-Z0-9_\%-]+"))
        .get(|t| t.slug.clone()).set(|d, v| d.slug = Some(v));
    f.add("source", string().describe("Source of the template.").context(EMBED_VIEW_EDIT).readonly()).get(Template::source);
    f.add("origin", string().describe("Source of the template before it was edited.").context(EMBED_VIEW_EDIT).readonly()).get(|t| t.origin.clone());
    f.add("type", string().describe("Post type: template or template part.").context(EMBED_VIEW_EDIT)).get(|t| t.kind.post_type());
    f.add("description", string().describe("The template's description.").default("").context(EMBED_VIEW_EDIT))
        .get(|t| t.description.clone()).set(|d, v| d.description = Some(v));
    let title = f.add("title", types(["object", "string"]).describe("The template's title.").default("").context(EMBED_VIEW_EDIT));
    title.subfield("raw", string().describe("The title as stored.").context(VIEW_EDIT_EMBED)).get(|t| t.title.clone());
    title.subfield("rendered", string().describe("The title as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(|t| render::title(&t.title).into_string());
    title.set(|d, v| d.title = text(v));
    f.add("status", string().describe("The template's status.").one_of(site.writable_statuses()).default("publish").context(EMBED_VIEW_EDIT))
        .get(|t| t.post.as_ref().map_or("publish".to_owned(), |p| p.status.clone()));
    f.add("wp_id", integer().describe("ID of the post that stores the template, or 0.").context(EMBED_VIEW_EDIT).readonly()).get(|t| t.post.as_ref().map_or(0, |p| p.id.0));
    f.add("has_theme_file", flag().describe("Whether the theme has a file for the template.").context(EMBED_VIEW_EDIT).readonly()).get(|t| t.has_theme_file);
    if kind == TemplateKind::Template {
        f.add("is_custom", flag().describe("Whether the template is a custom template that users assign to posts.").context(EMBED_VIEW_EDIT).readonly()).get(|t| t.is_custom);
    }
    f.add("author", integer().describe("ID of the template's author.").context(VIEW_EDIT_EMBED)).get(|t| t.post.as_ref().map_or(0, |p| p.author.0)).set(|d, v| d.author = Some(v));
    if kind == TemplateKind::Part {
        f.add("area", string().describe("Area of the page that the template part is for.").context(EMBED_VIEW_EDIT)).get(|t| t.area.clone()).set(|d, v| d.area = Some(v));
    }
    f.add("modified", types(["string", "null"]).describe("Modification date in the site's time zone.").format("date-time").context(VIEW_EDIT).readonly()).get(|t| format_date(t, |p| p.modified));
    f.add("date", types(["string", "null"]).describe("Creation date in the site's time zone.").format("date-time").context(VIEW_EDIT).readonly()).get(|t| format_date(t, |p| p.date));
    f.add("author_text", string().describe("Display name of the template's creator.").readonly().context(VIEW_EDIT_EMBED).first(&["type"])).get(|t| t.author_name.clone());
    f.add("original_source", string().describe("Kind of the template's creator.").readonly().context(VIEW_EDIT_EMBED).one_of(["theme", "plugin", "site", "user"])).get(|t| t.author_kind().name());
    if kind == TemplateKind::Template {
        f.add("plugin", string().describe("The plugin that registers the template.").readonly().context(VIEW_EDIT_EMBED).first(&["type"]));
    }
    f.schema_order(&[
        "id", "slug", "theme", "type", "source", "origin", "content", "title", "description", "status", "wp_id", "has_theme_file", "author",
        "modified", "author_text", "original_source", "date",
    ]);
    f
}

/// Reads a text field, given as a string or as an object with `raw`.
fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(mut fields) => match fields.swap_remove("raw") {
            Some(Value::String(raw)) => Some(raw),
            _ => None,
        },
        _ => None,
    }
}

#[rustfmt::skip]
pub(super) fn params() -> Params<TemplateList> {
    let mut p = Params::<TemplateList>::new("templates");
    p.add("context", context_param());
    p.add("wp_id", integer().describe("Only return the template stored in the post with this ID.")).set(|l, v| l.wp_id = Some(v));
    p.add("area", string().describe("Only return template parts of this area.")).set(|l, v| l.area = Some(v));
    p.add("post_type", string().describe("Only return templates available to this post type.")).set(|l, v| l.post_type = Some(v));
    p
}
