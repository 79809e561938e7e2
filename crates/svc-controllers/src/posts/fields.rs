//! Fields of posts of every type: schema, getter and setter.

use std::sync::Arc;

use serde_json::Value;
use svc_model::PostType;
use svc_resource::{Field, Fields, Plan};
use svc_schema::{
    Args, Error,
    build::{array, boolean, integer, object, string, types},
};
use svc_site::posts::{draft::PostDraft, formats::FORMATS};

use super::item::PostItem;
use crate::{
    contexts::{EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
    item_languages::{LANG, TRANSLATIONS, lang_field, translations_field},
};
use svc_site::{Site, languages::Languages};

/// The fields of posts.
pub(crate) type PostFields = Fields<PostItem, PostDraft>;
type PostField = Field<PostItem, PostDraft>;
/// The fields of a response.
pub(crate) type PostPlan<'f> = Plan<'f, PostItem, PostDraft>;

/// Properties of an object that are added as subfields.
pub(crate) const NOTHING: [(&str, Value); 0] = [];

/// The order of the schemas of posts.
#[rustfmt::skip]
const SCHEMA_ORDER: &[&str] = &[
    "date", "date_gmt", "guid", "id", "link", "modified", "modified_gmt", "slug", "status", "type", "password", "permalink_template",
    "generated_slug", "class_list", "parent", "title", "content", "author", "excerpt", "featured_media", "comment_status", "ping_status",
    "menu_order", "format", "meta", "sticky", "template",
];

/// Features that fields depend on. `post`, `page` and `attachment` have a fixed list, even if a theme removes support
/// for a feature.
fn features(post_type: &PostType) -> Vec<&str> {
    match post_type.name.as_str() {
        "post" => {
            vec!["title", "editor", "author", "excerpt", "thumbnail", "comments", "post-formats", "custom-fields"]
        }
        "page" => {
            vec!["title", "editor", "author", "excerpt", "thumbnail", "comments", "page-attributes", "custom-fields"]
        }
        "attachment" => vec!["title", "author", "comments", "custom-fields", "thumbnail"],
        _ => post_type.supports.keys().map(String::as_str).collect(),
    }
}

/// The fields of this type on this site.
#[rustfmt::skip]
pub(crate) fn fields(site: &Arc<Site>, post_type: &PostType) -> PostFields {
    let has = features(post_type);
    let has = |feature: &str| has.contains(&feature);
    let mut f = PostFields::new(&post_type.name);

    f.add("id", integer().describe("The post's ID.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.post.id);
    f.add("date", types(["string", "null"]).describe("Publication date in the site's time zone.").format("date-time").context(VIEW_EDIT_EMBED))
        .get(PostItem::date).set_nullable(|d, v: Option<String>| d.date = v.into());
    f.add("date_gmt", types(["string", "null"]).describe("Publication date in UTC.").format("date-time").context(VIEW_EDIT))
        .get(PostItem::date_gmt).set_nullable(|d, v: Option<String>| d.date_gmt = v.into());

    let guid = f.add("guid", object(NOTHING).describe("Permanent global identifier of the post.").context(VIEW_EDIT).readonly());
    guid.subfield("rendered", string().describe("The identifier for display.").context(VIEW_EDIT).readonly()).get(|p| p.post.guid.clone());
    guid.subfield("raw", string().describe("The identifier as stored.").context(EDIT).readonly()).get(|p| p.post.guid.clone());
    guid.schema_order(&["raw"]);

    f.add("modified", string().describe("Date of the last change in the site's time zone.").format("date-time").context(VIEW_EDIT).readonly()).get(PostItem::modified);
    f.add("modified_gmt", string().describe("Date of the last change in UTC.").format("date-time").context(VIEW_EDIT).readonly()).get(PostItem::modified_gmt);
    f.add("password", string().describe("Password required to read the content and the excerpt.").context(EDIT))
        .get(|p| p.post.password.clone()).set(|d, v| d.password = Some(v));

    f.add("slug", string().describe("Name of the post in URLs; unique within its type.").context(VIEW_EDIT_EMBED))
        .sanitize_with(slug).get(|p| p.post.slug.clone()).set(|d, v| d.slug = Some(v));
    f.add("status", string().describe("The post's status.").one_of(site.writable_statuses()).context(VIEW_EDIT))
        .get(|p| p.post.status.clone()).set(|d, v| d.status = choice(v).or_else(|| Some("draft".to_owned())));
    f.add("type", string().describe("The post's type.").context(VIEW_EDIT_EMBED).readonly()).get(|p| p.post.post_type.clone());
    f.add("link", string().describe("URL of the post.").format("uri").context(VIEW_EDIT_EMBED).readonly()).get(PostItem::link);

    if has("title") {
        let title = f.add("title", object(NOTHING).describe("The post's title.").context(VIEW_EDIT_EMBED));
        raw(title, "The title as stored.").get(|p| p.post.title.clone());
        title.subfield("rendered", string().describe("The title as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(PostItem::title_rendered);
        // An object with an empty title changes nothing; an empty text does.
        title.raw().set(|d, v: Value| d.title = if v.is_object() { text(v).filter(|t| !t.is_empty()) } else { text(v) });
    }
    if has("editor") {
        let content = f.add("content", object(NOTHING).describe("The post's content.").context(VIEW_EDIT));
        raw(content, "The content as stored.").get(PostItem::content_raw);
        content.subfield("rendered", string().describe("The content as HTML.").context(VIEW_EDIT).readonly()).get(PostItem::content_rendered);
        protected(content, "Whether the content requires a password.");
        content.subfield("block_version", integer().describe("Version of the content's block format.").context(EDIT).readonly()).get(PostItem::block_version);
        content.schema_order(&["raw", "rendered", "block_version"]);
        content.raw().set(|d, v| d.content = text(v));
    }
    if has("excerpt") {
        let excerpt = f.add("excerpt", object(NOTHING).describe("The post's excerpt.").context(VIEW_EDIT_EMBED));
        raw(excerpt, "The excerpt as stored.").get(|p| p.post.excerpt.clone());
        excerpt.subfield("rendered", string().describe("The excerpt as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(PostItem::excerpt_rendered);
        protected(excerpt, "Whether the excerpt requires a password.");
        excerpt.raw().set(|d, v| d.excerpt = text(v));
    }
    f.add("author", integer().describe("User ID of the author.").context(VIEW_EDIT_EMBED))
        .get(|p| p.post.author).set(|d, v| d.author = Some(v)).supported(has("author"));
    if has("thumbnail") {
        f.add("featured_media", integer().describe("ID of the featured image.").context(VIEW_EDIT_EMBED)).get(PostItem::featured_media).set(|d, v| d.featured_media = Some(v));
    }
    if post_type.hierarchical {
        f.add("parent", integer().describe("ID of the parent post.").context(VIEW_EDIT)).get(|p| p.post.parent).set(|d, v| d.parent = Some(v));
    }
    if has("page-attributes") {
        f.add("menu_order", integer().describe("Sort position of the post.").context(VIEW_EDIT)).get(|p| p.post.menu_order).set(|d, v| d.menu_order = Some(v));
    }
    if has("comments") {
        f.add("comment_status", string().describe("Whether the post accepts comments.").one_of(["open", "closed"]).context(VIEW_EDIT))
            .get(|p| p.post.comment_status.clone()).set(|d, v| d.comment_status = choice(v));
        f.add("ping_status", string().describe("Whether the post accepts pingbacks and trackbacks.").one_of(["open", "closed"]).context(VIEW_EDIT))
            .get(|p| p.post.ping_status.clone()).set(|d, v| d.ping_status = choice(v));
    }
    f.add("sticky", boolean().describe("Whether the post is sticky.").context(VIEW_EDIT))
        .get(PostItem::sticky).set(|d, v| d.sticky = Some(v)).supported(post_type.name == "post");
    f.add("template", string().describe("Template of the post's page.").context(VIEW_EDIT))
        // Not checked by type: the routes validate the template, because the choices depend on the theme.
        .validate_with(|_, _| Ok(true)).sanitize_with(empty_as_text).get(PostItem::template).set(|d, v| d.field_meta.push(("_wp_page_template", v)));
    if has("post-formats") {
        f.add("format", string().describe("The post's format.").one_of(FORMATS).context(VIEW_EDIT)).get(PostItem::format).set(|d, v| d.format = choice(v));
    }
    if has("custom-fields") {
        crate::meta_fields::add_member(&mut f, &site.registries.meta, "post", &post_type.name, |p| &p.stored_meta)
            .set(|d, v| d.meta = Some(v));
    }

    for taxonomy in site.registries.taxonomies.of_type(&post_type.name).filter(|t| t.show_in_rest) {
        let (name, base) = (taxonomy.name.clone(), taxonomy.rest_base.clone());
        let read = name.clone();
        f.add(&base, array(integer()).describe(&format!("IDs of the post's terms in the {name} taxonomy.")).context(VIEW_EDIT))
            .get(move |p| p.term_ids(&read))
            .try_set(move |d, v: Value| set_terms(d, &name, &v));
    }
    if post_type.is_viewable() && post_type.public {
        f.add("permalink_template", string().describe("URL of the post with a placeholder for the slug.").context(EDIT).readonly()).get(PostItem::permalink_template);
        f.add("generated_slug", string().describe("Slug derived from the title.").context(EDIT).readonly()).get(|p| p.generated_slug.clone());
        f.add("class_list", array(string()).describe("CSS classes of the post's container element.").context(VIEW_EDIT).readonly().last(&["items"])).get(PostItem::class_list);
    }
    f.schema_order(SCHEMA_ORDER);
    f.keyword("links", crate::links::schema_links(site, post_type));
    match post_type.name.as_str() {
        "wp_block" => serve_stored_text(&mut f),
        "wp_navigation" => serve_embedded_text(&mut f),
        _ => {}
    }
    f
}

/// Adds the fields of a type whose posts have languages.
pub(super) fn add_languages(f: &mut PostFields, languages: &Languages) {
    f.add(LANG, lang_field(languages)).get(|p| p.languages.slug.clone()).set(|d, v| d.language = Some(v));
    f.add(TRANSLATIONS, translations_field(languages))
        .get(|p| p.languages.translations.clone())
        .set(|d, v| d.translations = Some(v));
}

/// Sets the terms of a taxonomy. Returns false for other values than a list of ids. Permissions check the ids in those as well: `menus` of a
/// menu item is one id. Objects, which only lists of posts have, assign nothing.
pub(crate) fn set_terms(draft: &mut PostDraft, taxonomy: &str, sent: &Value) -> bool {
    let list = sent.as_array().map_or(std::slice::from_ref(sent), Vec::as_slice);
    let ids: Vec<i64> = list.iter().filter_map(Value::as_i64).collect();
    let is_list_of_ids = sent.is_array() && ids.len() == list.len();
    draft.terms.insert(taxonomy.to_owned(), ids);
    is_list_of_ids
}

/// A choice; `None` for an empty text, which null is converted to.
fn choice(value: String) -> Option<String> {
    Some(value).filter(|value| !value.is_empty())
}

/// No value in PHP's sense, such as `false` or an empty list, as an empty text.
fn empty_as_text(value: Value, _: &str) -> Result<Value, Error> {
    let is_empty = !svc_php::cast::truthy(&value) && !value.is_null() && !value.is_string();
    Ok(if is_empty { "".into() } else { value })
}

/// Patterns are inserted into other posts, so the response contains their stored text and no HTML.
fn serve_stored_text(f: &mut PostFields) {
    for name in ["title", "content"] {
        if let Some(text) = f.at(name) {
            text.drop_subfield("rendered");
        }
        if let Some(raw) = f.at(&format!("{name}.raw")) {
            raw.context(VIEW_EDIT);
        }
    }
}

/// Editors embed the fallback navigation menu and render it from the embedded fields.
fn serve_embedded_text(f: &mut PostFields) {
    const EDIT_EMBED: &[&str] = &["edit", "embed"];
    let rows = [
        ("status", VIEW_EDIT_EMBED),
        ("title.raw", EDIT_EMBED),
        ("content", VIEW_EDIT_EMBED),
        ("content.raw", EDIT_EMBED),
        ("content.rendered", VIEW_EDIT_EMBED),
        ("content.block_version", EDIT_EMBED),
    ];
    for (path, contexts) in rows {
        if let Some(subfield) = f.at(path) {
            subfield.context(contexts);
        }
    }
}

/// The stored text of a title, content or excerpt.
pub(crate) fn raw<'f>(field: &'f mut PostField, description: &str) -> &'f mut PostField {
    field.subfield("raw", string().describe(description).context(EDIT))
}

fn protected(field: &mut PostField, description: &str) {
    field
        .subfield("protected", boolean().describe(description).context(VIEW_EDIT_EMBED).readonly())
        .get(|p| p.post.is_protected());
}

/// The example of a new post.
pub(crate) const NEW: &[(&str, &str)] = &[
    ("title", "A new title"),
    ("content", "<!-- wp:paragraph --><p>Hello.</p><!-- /wp:paragraph -->"),
    ("status", "draft"),
];
/// The example of a change of a post.
pub(crate) const CHANGED: &[(&str, &str)] = &[("title", "A better title")];

/// A request body with those of these fields that posts of the type have.
pub(crate) fn example(args: &Args, fields: &[(&str, &str)]) -> Value {
    let known = fields.iter().filter(|(name, _)| args.get(name).is_some());
    known.map(|(name, text)| ((*name).to_owned(), Value::from(*text))).collect::<serde_json::Map<_, _>>().into()
}

/// The text of a field that is written as a string or as an object with `raw`. Other values are ignored.
pub(crate) fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(mut object) => {
            object.swap_remove("raw").filter(|raw| !raw.is_null()).map(|raw| svc_php::cast::to_text(&raw).into_owned())
        }
        _ => None,
    }
}

fn slug(value: Value, _: &str) -> Result<Value, Error> {
    Ok(svc_text::sanitize_title(&svc_php::cast::to_text(&value)).into())
}
