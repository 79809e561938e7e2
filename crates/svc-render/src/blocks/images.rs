//! Images of the site as HTML: the file of a size, and the others to choose from.

use serde_json::Value;
use svc_blocks::data::{ImageLoading, ImageRequest};
use svc_content::srcset::{Image, ImageSize, sizes};
use svc_model::Post;
use svc_store::{Meta, StoredText};
use svc_text::{esc_attr, esc_url};

/// The files of an attachment as its metadata names them; nothing when it is no image.
pub fn files(post: &Post, meta: &Meta, uploads_url: &str) -> Option<Image> {
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

/// The tag of an attachment in the size asked for, or in its own when it has no such file.
///
/// Source: `wp_get_attachment_image`.
pub fn tag(image: &Image, meta: &Meta, wish: &ImageRequest) -> String {
    let data = meta.first("_wp_attachment_metadata").map(StoredText::json).unwrap_or_default();
    let chosen = data["sizes"][wish.size.as_str()]["file"].as_str();
    let folder = image.file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let (address, (width, height)) = match chosen.and_then(|file| Some((file, image.dimensions(file)?))) {
        Some((file, size)) => (format!("{}/{folder}/{file}", image.uploads_url), size),
        None => (format!("{}/{}", image.uploads_url, image.file), (image.width, image.height)),
    };
    let alt = match &wish.alt {
        Some(alt) => alt.clone(),
        None => svc_text::strip_all_tags(meta.text("_wp_attachment_image_alt"), false),
    };
    let mut out = format!(
        "<img width=\"{width}\" height=\"{height}\" src=\"{}\" class=\"{}\" alt=\"{}\"",
        esc_url(&address),
        esc_attr(&wish.class),
        esc_attr(&alt)
    );
    for (name, value) in &wish.more {
        out.push_str(&format!(" {name}=\"{}\"", esc_attr(value)));
    }
    if let Some(style) = &wish.style {
        out.push_str(&format!(" style=\"{}\"", esc_attr(style)));
    }
    out.push_str(match wish.loading {
        ImageLoading::Late => " decoding=\"async\" loading=\"lazy\"",
        ImageLoading::First => " decoding=\"async\" fetchpriority=\"high\"",
        ImageLoading::Content => "",
    });
    if let Some(srcset) = image.srcset(&address, (width, height)) {
        let auto = if wish.loading == ImageLoading::Late { "auto, " } else { "" };
        out.push_str(&format!(" srcset=\"{}\" sizes=\"{auto}{}\"", esc_attr(&srcset), sizes(width)));
    }
    out.push_str(" />");
    out
}
