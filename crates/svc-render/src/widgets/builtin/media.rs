//! Media widgets: Audio, Gallery, Image, Video. The files are in the media library or at a URL.

use svc_model::PostId;
use svc_site::{SiteResult, widgets::instance::Instance};
use svc_store::{
    meta::{self, MetaKind},
    posts,
};
use svc_text::{Html, esc_attr, esc_html, esc_url, html};

use crate::{
    renderer::widget_types::WidgetContext,
    widgets::builtin::simple::{Input, Setting, SimpleWidget},
};

const TITLE: Setting = ("title", "Title:", Input::Text);
const ATTACHMENT: Setting = ("attachment_id", "Attachment ID:", Input::Number(0));
const URL: Setting = ("url", "URL:", Input::Url);
const LOOP: Setting = ("loop", "Loop", Input::Switch);
/// Maximum number of images in a gallery.
const MAX_IMAGES: usize = 200;

/// The widget types of this module.
#[rustfmt::skip]
pub(crate) const TYPES: [SimpleWidget; 4] = [
    SimpleWidget { id_base: "media_audio", name: "Audio", description: "Shows an audio player.", class: "widget_media_audio",
             settings: &[TITLE, ATTACHMENT, URL, LOOP], partial_update: true, render: |context, instance| player(context, instance, "audio") },
    SimpleWidget { id_base: "media_gallery", name: "Gallery", description: "Shows an image gallery.", class: "widget_media_gallery",
             settings: &[TITLE, ("ids", "Attachment IDs:", Input::Text), ("columns", "Columns:", Input::Number(3))], partial_update: true, render: gallery },
    SimpleWidget { id_base: "media_image", name: "Image", description: "Shows an image.", class: "widget_media_image",
             settings: &[TITLE, ATTACHMENT, URL, ("alt", "Alternative text:", Input::Text),
                         ("caption", "Caption:", Input::Text), ("link_url", "Link to:", Input::Url)], partial_update: true, render: image },
    SimpleWidget { id_base: "media_video", name: "Video", description: "Shows a video player.", class: "widget_media_video",
             settings: &[TITLE, ATTACHMENT, URL, LOOP], partial_update: true, render: |context, instance| player(context, instance, "video") },
];

/// Ids, URLs and alternative texts of the attachments that exist. Takes two queries.
fn files(context: &mut WidgetContext<'_>, ids: &[PostId]) -> SiteResult<Vec<(PostId, String, String)>> {
    let rows = posts::get_many(context.db, ids)?;
    let raw_ids: Vec<i64> = rows.iter().filter(|post| post.post_type == "attachment").map(|post| post.id.0).collect();
    let metas = meta::load(context.db, MetaKind::Post, &raw_ids)?;
    let base = context.settings.uploads_url();
    let file = |id: &i64| {
        let meta = metas.get(id)?;
        let alt = meta.text("_wp_attachment_image_alt").to_owned();
        Some((PostId(*id), format!("{base}/{}", meta.first("_wp_attached_file")?.text()), alt))
    };
    Ok(raw_ids.iter().filter_map(file).collect())
}

/// URL and alternative text of the widget's file: the attachment's, or the URL in the settings.
fn source(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<(String, String)>> {
    let id = PostId(instance.number("attachment_id"));
    if id.0 > 0
        && let Some((_, url, alt)) = files(context, &[id])?.pop()
    {
        return Ok(Some((url, alt)));
    }
    let url = instance.text("url");
    Ok(if url.is_empty() { None } else { Some((url, String::new())) })
}

fn player(context: &mut WidgetContext<'_>, instance: &Instance, tag: &'static str) -> SiteResult<Option<Html>> {
    let Some((url, _)) = source(context, instance)? else { return Ok(None) };
    let attribute = if instance.is_on("loop") { " loop" } else { "" };
    let title = context.title(instance, "");
    Ok(Some(html!(
        "{}<{tag} controls preload=\"metadata\"{} src=\"{}\"></{tag}>",
        title,
        attribute,
        esc_url(&url),
        tag = tag
    )))
}

fn image(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let Some((url, stored_alt)) = source(context, instance)? else { return Ok(None) };
    let (alt, link) = (instance.text("alt"), instance.text("link_url"));
    let alt = esc_attr(if alt.is_empty() { &stored_alt } else { &alt });
    let mut html = html!("<img class=\"image\" src=\"{}\" alt=\"{}\" decoding=\"async\" />", esc_url(&url), alt);
    if !link.is_empty() {
        html = html!("<a href=\"{}\">{}</a>", esc_url(&link), html);
    }
    let caption = esc_html(&instance.text("caption"));
    if !caption.is_empty() {
        html = html!(
            "<figure class=\"wp-caption\">{}<figcaption class=\"wp-caption-text\">{}</figcaption></figure>",
            html,
            caption
        );
    }
    Ok(Some(html!("{}{}", context.title(instance, ""), html)))
}

fn gallery(context: &mut WidgetContext<'_>, instance: &Instance) -> SiteResult<Option<Html>> {
    let ids = svc_php::list::parse_id_list(&instance.text("ids").into()).unwrap_or_default();
    let ids: Vec<PostId> =
        ids.into_iter().take(MAX_IMAGES).filter_map(|id| i64::try_from(id).ok()).map(PostId).collect();
    let found = files(context, &ids)?;
    if found.is_empty() {
        return Ok(None);
    }
    let columns = instance.number("columns").clamp(1, 9);
    let figure = |(id, url, alt): &(PostId, String, String)| {
        let (url, alt) = (esc_url(url), esc_attr(alt));
        html!(
            "<figure class=\"gallery-item\"><img class=\"wp-image-{}\" src=\"{}\" alt=\"{}\" /></figure>",
            id.0,
            url,
            alt
        )
    };
    let figures: Html = found.iter().map(figure).collect();
    let title = context.title(instance, "");
    Ok(Some(html!("{}<div class=\"gallery gallery-columns-{}\">{}</div>", title, columns, figures)))
}
