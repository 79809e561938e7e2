//! Thumbnail of a post for oEmbed: the best-fitting size of its featured image.

use serde_json::Value;
use svc_model::{Post, PostId};
use svc_site::{Settings, SiteResult};
use svc_store::{Db, MetaKind, meta};

/// An image file with its display size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thumbnail {
    /// The file's URL.
    pub url: String,
    /// Display width in pixels.
    pub width: i64,
    /// Display height in pixels.
    pub height: i64,
}

/// The thumbnail of a post, at most `width` pixels wide; `None` if it has no image.
///
/// # Errors
/// Errors of the store.
pub(crate) fn of_post(db: &mut Db, settings: &Settings, post: &Post, width: i64) -> SiteResult<Option<Thumbnail>> {
    let image = if post.post_type == "attachment" && post.mime_type.starts_with("image/") {
        post.id
    } else {
        let stored = meta::get(db, MetaKind::Post, post.id.0, "_thumbnail_id")?;
        PostId(stored.map_or(0, |id| svc_php::numeric::text_to_int(id.text())))
    };
    if image.is_none() {
        return Ok(None);
    }
    let all = meta::load_one(db, MetaKind::Post, image.0)?;
    let (Some(file), Some(metadata)) = (all.first("_wp_attached_file"), all.first("_wp_attachment_metadata")) else {
        return Ok(None);
    };
    let (file, metadata) = (file.text(), metadata.json());
    Ok(best(&metadata, width).map(|(name, width, height)| {
        let path = match (name, file.rsplit_once('/')) {
            (Some(name), Some((folder, _))) => format!("{folder}/{name}"),
            (Some(name), None) => name,
            (None, _) => file.to_owned(),
        };
        Thumbnail { url: format!("{}/{path}", settings.uploads_url()), width, height }
    }))
}

/// File name, width and height of the smallest size that is at least `width` wide and has the original's aspect ratio.
/// The file name is `None` for the original, used if no size fits. The dimensions are scaled down to `width`.
///
/// Source: `image_get_intermediate_size`, `image_constrain_size_for_editor`.
fn best(metadata: &Value, width: i64) -> Option<(Option<String>, i64, i64)> {
    let number = |of: &Value, name: &str| svc_php::cast::to_int(&of[name]);
    let original = (number(metadata, "width"), number(metadata, "height"));
    if original.0 <= 0 || original.1 <= 0 {
        return None;
    }
    let sizes = metadata["sizes"].as_object();
    let fitting = sizes.into_iter().flat_map(serde_json::Map::values).filter_map(|size| {
        let (w, h) = (number(size, "width"), number(size, "height"));
        let fits = w >= width && h > 0 && same_proportions((w, h), original);
        let name = size["file"].as_str().filter(|name| !name.contains('/'))?;
        fits.then(|| (name.to_owned(), w, h))
    });
    match fitting.min_by_key(|(_, w, h)| w.saturating_mul(*h)) {
        Some((name, w, h)) => {
            let (w, h) = constrain((w, h), width);
            Some((Some(name), w, h))
        }
        None => {
            let (w, h) = constrain(original, width);
            Some((None, w, h))
        }
    }
}

/// Scales a size down to a width.
fn constrain((w, h): (i64, i64), width: i64) -> (i64, i64) {
    if w <= width {
        return (w, h);
    }
    let height = (h as f64 * width as f64 / w as f64).round() as i64;
    (width, height.max(1))
}

/// Whether two sizes have the same aspect ratio, to within a pixel.
fn same_proportions(a: (i64, i64), b: (i64, i64)) -> bool {
    let (larger, smaller) = if a.0 > b.0 { (a, b) } else { (b, a) };
    let scaled = constrain(larger, smaller.0);
    (scaled.0 - smaller.0).abs() <= 1 && (scaled.1 - smaller.1).abs() <= 1
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn picks_the_smallest_size_that_is_large_enough() {
        let metadata = json!({"width": 1600, "height": 1200, "sizes": {
            "thumbnail": {"file": "a-150x150.jpg", "width": 150, "height": 150},
            "square": {"file": "a-700x700.jpg", "width": 700, "height": 700},
            "large": {"file": "a-1024x768.jpg", "width": 1024, "height": 768},
            "medium_large": {"file": "a-768x576.jpg", "width": 768, "height": 576},
            "evil": {"file": "../../a", "width": 640, "height": 480},
        }});
        assert_eq!(best(&metadata, 600), Some((Some("a-768x576.jpg".to_owned()), 600, 450)));
        assert_eq!(best(&metadata, 200), Some((Some("a-768x576.jpg".to_owned()), 200, 150)));
        let small = json!({"width": 400, "height": 260, "sizes": []});
        assert_eq!(best(&small, 600), Some((None, 400, 260)));
        assert_eq!(best(&json!({}), 600), None);
    }
}
