//! Widgets that show a picture, several, a film or a sound from the library or from elsewhere.

use svc_model::PostId;
use svc_site::{SiteResult, widgets::instance::Instance};
use svc_store::{
    meta::{self, MetaKind},
    posts,
};

use crate::widgets::{
    kinds::simple::{Input, Setting, Simple},
    show::Showing,
};

const TITLE: Setting = ("title", "Title:", Input::Text);
const ATTACHMENT: Setting = ("attachment_id", "Number in the library:", Input::Number(0));
const URL: Setting = ("url", "Address:", Input::Address);
const LOOP: Setting = ("loop", "Play again and again", Input::Switch);
/// Most pictures of a gallery.
const MOST: usize = 200;

#[rustfmt::skip]
pub const KINDS: [Simple; 4] = [
    Simple { id_base: "media_audio", name: "Audio", description: "Plays a sound.", class: "widget_media_audio",
             settings: &[TITLE, ATTACHMENT, URL, LOOP], only_given: true, show: |on, instance| player(on, instance, "audio") },
    Simple { id_base: "media_gallery", name: "Gallery", description: "Shows several pictures.", class: "widget_media_gallery",
             settings: &[TITLE, ("ids", "Numbers in the library:", Input::Text), ("columns", "Columns:", Input::Number(3))], only_given: true, show: gallery },
    Simple { id_base: "media_image", name: "Image", description: "Shows a picture.", class: "widget_media_image",
             settings: &[TITLE, ATTACHMENT, URL, ("alt", "Text for those who do not see it:", Input::Text),
                         ("caption", "Caption:", Input::Text), ("link_url", "Leads to:", Input::Address)], only_given: true, show: image },
    Simple { id_base: "media_video", name: "Video", description: "Plays a film.", class: "widget_media_video",
             settings: &[TITLE, ATTACHMENT, URL, LOOP], only_given: true, show: |on, instance| player(on, instance, "video") },
];

/// Addresses of files in the library, by number, for those that are there: two queries.
fn files(on: &mut Showing<'_>, ids: &[PostId]) -> SiteResult<Vec<(PostId, String, String)>> {
    let rows = posts::get_many(on.db, ids)?;
    let numbers: Vec<i64> = rows.iter().filter(|post| post.post_type == "attachment").map(|post| post.id.0).collect();
    let metas = meta::load(on.db, MetaKind::Post, &numbers)?;
    let base = on.settings.uploads_url();
    let file = |id: &i64| {
        let meta = metas.get(id)?;
        let alt = meta.text("_wp_attachment_image_alt").to_owned();
        Some((PostId(*id), format!("{base}/{}", meta.first("_wp_attached_file")?.text()), alt))
    };
    Ok(numbers.iter().filter_map(file).collect())
}

/// The address of what a widget shows: of the library, or the one given.
fn source(on: &mut Showing<'_>, instance: &Instance) -> SiteResult<Option<(String, String)>> {
    let id = PostId(instance.number("attachment_id"));
    if id.0 > 0
        && let Some((_, url, alt)) = files(on, &[id])?.pop()
    {
        return Ok(Some((url, alt)));
    }
    let url = instance.text("url");
    Ok(if url.is_empty() { None } else { Some((url, String::new())) })
}

fn player(on: &mut Showing<'_>, instance: &Instance, tag: &str) -> SiteResult<Option<String>> {
    let Some((url, _)) = source(on, instance)? else { return Ok(None) };
    let again = if instance.is_on("loop") { " loop" } else { "" };
    let title = on.title(instance, "");
    Ok(Some(format!("{title}<{tag} controls preload=\"metadata\"{again} src=\"{}\"></{tag}>", svc_text::esc_url(&url))))
}

fn image(on: &mut Showing<'_>, instance: &Instance) -> SiteResult<Option<String>> {
    let Some((url, kept)) = source(on, instance)? else { return Ok(None) };
    let (alt, link) = (instance.text("alt"), instance.text("link_url"));
    let alt = svc_text::esc_attr(if alt.is_empty() { &kept } else { &alt });
    let mut html =
        format!("<img class=\"image\" src=\"{}\" alt=\"{alt}\" decoding=\"async\" />", svc_text::esc_url(&url));
    if !link.is_empty() {
        html = format!("<a href=\"{}\">{html}</a>", svc_text::esc_url(&link));
    }
    let caption = svc_text::esc_html(&instance.text("caption"));
    if !caption.is_empty() {
        html = format!(
            "<figure class=\"wp-caption\">{html}<figcaption class=\"wp-caption-text\">{caption}</figcaption></figure>"
        );
    }
    Ok(Some(format!("{}{html}", on.title(instance, ""))))
}

fn gallery(on: &mut Showing<'_>, instance: &Instance) -> SiteResult<Option<String>> {
    let ids = svc_php::list::parse_id_list(&instance.text("ids").into());
    let ids: Vec<PostId> = ids.into_iter().take(MOST).filter_map(|id| i64::try_from(id).ok()).map(PostId).collect();
    let found = files(on, &ids)?;
    if found.is_empty() {
        return Ok(None);
    }
    let columns = instance.number("columns").clamp(1, 9);
    let picture = |(id, url, alt): &(PostId, String, String)| {
        let (url, alt) = (svc_text::esc_url(url), svc_text::esc_attr(alt));
        format!("<figure class=\"gallery-item\"><img class=\"wp-image-{id}\" src=\"{url}\" alt=\"{alt}\" /></figure>")
    };
    let pictures: String = found.iter().map(picture).collect();
    let title = on.title(instance, "");
    Ok(Some(format!("{title}<div class=\"gallery gallery-columns-{columns}\">{pictures}</div>")))
}
