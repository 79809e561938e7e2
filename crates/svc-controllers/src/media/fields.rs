//! Fields of attachments: those of posts, and the fields of the file.

use std::sync::Arc;

use serde_json::{Value, json};
use svc_model::PostType;
use svc_php::cast::to_int;
use svc_schema::{
    Error,
    build::{array, boolean, integer, object, string, types},
};
use svc_site::{Settings, Site, media::sizes};

use crate::{
    contexts::{EDIT, VIEW_EDIT, VIEW_EDIT_EMBED},
    posts::{
        fields::{NOTHING, PostFields, fields as post_fields, raw, text},
        item::PostItem,
    },
};

/// The order of the schema.
#[rustfmt::skip]
const SCHEMA_ORDER: &[&str] = &[
    "date", "date_gmt", "guid", "id", "link", "modified", "modified_gmt", "slug", "status", "type", "permalink_template", "generated_slug",
    "class_list", "title", "author", "featured_media", "comment_status", "ping_status", "meta", "template", "alt_text", "caption",
    "description", "media_type", "mime_type", "media_details", "post", "source_url", "missing_image_sizes", "filename", "filesize",
    "exif_orientation", "image_quality",
];

/// Range of image quality, in percent.
const QUALITY: std::ops::RangeInclusive<i64> = 1..=100;

/// The fields of attachments on this site with these settings.
///
/// As in WordPress, `_fields` does not select subfields (`caption.raw`) of fields marked `exact_field`.
#[rustfmt::skip]
pub(super) fn fields(site: &Arc<Site>, settings: &Settings, post_type: &PostType) -> PostFields {
    let mut f = post_fields(site, post_type).without(&["password"]);

    let description = f.add("description", object(NOTHING).describe("The description.").context(VIEW_EDIT)).exact_field();
    raw(description, "The description as stored.").get(|p| p.post.content.clone());
    description.subfield("rendered", string().describe("The file and its description as HTML.").context(VIEW_EDIT).readonly()).get(PostItem::content_rendered);
    description.raw().set(|d, v| d.content = text(v));
    let caption = f.add("caption", object(NOTHING).describe("The caption.").context(VIEW_EDIT_EMBED)).exact_field();
    raw(caption, "The caption as stored.").get(|p| p.post.excerpt.clone());
    caption.subfield("rendered", string().describe("The caption as HTML.").context(VIEW_EDIT_EMBED).readonly()).get(PostItem::excerpt_rendered);
    caption.raw().set(|d, v| d.excerpt = text(v));
    f.add("alt_text", string().describe("Alternative text of the file.").context(VIEW_EDIT_EMBED)).exact_field().sanitize_with(plain)
        .get(|p| p.files().alt.clone()).set_nullable(|d, v: Option<String>| d.alt_text = Some(v.unwrap_or_default()));

    f.add("media_type", string().describe("Whether the file is an image.").one_of(["image", "file"]).context(VIEW_EDIT_EMBED).readonly()).exact_field()
        .get(|p| if p.is_image() { "image" } else { "file" });
    f.add("mime_type", string().describe("MIME type of the file.").context(VIEW_EDIT_EMBED).readonly()).exact_field().get(|p| p.post.mime_type.clone());
    f.add("media_details", json!({"description": "Metadata of the file.", "type": "object", "context": VIEW_EDIT_EMBED, "readonly": true})).exact_field()
        .get(|p| p.files().media_details(&p.settings, &p.source_url(), &p.post.mime_type));
    // Lists of media do not have this parameter, so for `Allow` it can be any value, which WordPress casts to an integer.
    f.add("post", integer().describe("ID of the post to which the file is attached.").context(VIEW_EDIT)).exact_field()
        .get(|p| Some(p.post.parent.0).filter(|id| *id != 0)).try_set(|d, v: Value| { d.unchecked_parent = Some(to_int(&v)); v.is_i64() });
    f.add("source_url", string().describe("URL of the file.").format("uri").context(VIEW_EDIT_EMBED).readonly()).exact_field().get(PostItem::source_url);
    f.add("missing_image_sizes", array(string()).describe("Image sizes that have not been generated yet.").context(EDIT).readonly()).exact_field()
        .get(|p| p.files().missing_sizes(&sizes::all(&p.site, &p.settings), &p.post.mime_type));
    f.add("filename", string().describe("Original name of the uploaded file.").context(VIEW_EDIT).readonly())
        .get(|p| p.files().file_name().map(str::to_owned));
    f.add("filesize", types(["integer", "null"]).describe("Size of the file in bytes.").context(VIEW_EDIT).readonly())
        .get(|p| p.files().file_size());

    f.add("exif_orientation", integer().describe("EXIF orientation of the image; 1 is upright.").context(EDIT).readonly())
        .when(PostItem::is_image).get(|p| p.files().orientation());
    f.add("image_output_format", types(["string", "null"]).describe("MIME type of the generated sizes; null for that of the image.").context(EDIT).readonly())
        .when(PostItem::is_image).get(|_| Value::Null);
    f.add("image_save_progressive", boolean().describe("Whether generated sizes are saved as progressive images.").context(EDIT).readonly())
        .when(PostItem::is_image).get(|_| false);
    let quality = || integer().range(QUALITY);
    let size_qualities = sizes::all(site, settings).into_iter().map(|size| (size.name, quality()));
    let qualities = object([("default", quality()), ("sizes", object(size_qualities))]);
    f.add("image_quality", qualities.describe("Quality of the generated sizes, in percent.").context(EDIT).readonly().last(&["properties"])).exact_field()
        .when(PostItem::is_image).get(|p| json!({"default": sizes::quality(&p.post.mime_type), "sizes": []}));
    f.schema_order(SCHEMA_ORDER);
    f
}

/// Sanitizes a text to one line without markup.
fn plain(value: Value, _: &str) -> Result<Value, Error> {
    Ok(svc_text::sanitize_text_field(&svc_php::cast::to_text(&value)).into())
}
