//! Renders `img` elements of attachments, with `srcset`.

use serde_json::Value;
use svc_blocks::data::{ImageLoading, ImageRequest};
use svc_content::srcset::{Image, ImageSize, sizes};
use svc_model::Post;
use svc_store::{Meta, StoredText};
use svc_text::{Html, esc_attr, esc_url, html};

/// The original and sizes of an attachment, from its metadata; `None` if it is not an image.
pub(crate) fn files(post: &Post, meta: &Meta, uploads_url: &str) -> Option<Image> {
    if !post.mime_type.starts_with("image/") {
        return None;
    }
    let data = meta.first("_wp_attachment_metadata").map(StoredText::json).unwrap_or_default();
    let number = |value: &Value| u64::try_from(svc_php::cast::to_int(value)).unwrap_or_default();
    let named = data["sizes"].as_object().into_iter().flatten();
    let size = |(_, size): (&String, &Value)| ImageSize {
        file: size["file"].as_str().unwrap_or_default().to_owned(),
        width: number(&size["width"]),
        height: number(&size["height"]),
        mime_type: size["mime-type"].as_str().unwrap_or_default().to_owned(),
    };
    Some(Image {
        uploads_url: uploads_url.to_owned(),
        file: meta.first("_wp_attached_file")?.text().to_owned(),
        width: number(&data["width"]),
        height: number(&data["height"]),
        sizes: named.map(size).collect(),
    })
}

/// The `img` element of an attachment in the requested size, or of the original if the size does not exist.
///
/// Source: `wp_get_attachment_image`.
pub(crate) fn tag(image: &Image, meta: &Meta, request: &ImageRequest) -> Html {
    let data = meta.first("_wp_attachment_metadata").map(StoredText::json).unwrap_or_default();
    let chosen = data["sizes"][request.size.as_str()]["file"].as_str();
    let folder = image.file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (url, (width, height)) = match chosen.and_then(|file| Some((file, image.dimensions(file)?))) {
        Some((file, size)) => (format!("{}/{folder}/{file}", image.uploads_url), size),
        None => (format!("{}/{}", image.uploads_url, image.file), (image.width, image.height)),
    };
    let alt = match &request.alt {
        Some(alt) => alt.clone(),
        None => svc_text::strip_all_tags(meta.text("_wp_attachment_image_alt"), false),
    };
    let mut out = html!(
        "<img width=\"{}\" height=\"{}\" src=\"{}\" class=\"{}\" alt=\"{}\"",
        width,
        height,
        esc_url(&url),
        esc_attr(&request.class),
        esc_attr(&alt)
    );
    for (name, value) in &request.more {
        out.push(html!(" {}=\"{}\"", name, esc_attr(value)));
    }
    if let Some(style) = &request.style {
        out.push(html!(" style=\"{}\"", esc_attr(style)));
    }
    out.push(match request.loading {
        ImageLoading::Late => " decoding=\"async\" loading=\"lazy\"",
        ImageLoading::First => " decoding=\"async\" fetchpriority=\"high\"",
        ImageLoading::Content => "",
    });
    if let Some(srcset) = image.srcset(&url, (width, height)) {
        let auto = if request.loading == ImageLoading::Late { "auto, " } else { "" };
        out.push(html!(" srcset=\"{}\" sizes=\"{}{}\"", esc_attr(&srcset), auto, esc_attr(&sizes(width))));
    }
    out.push(" />");
    out
}
