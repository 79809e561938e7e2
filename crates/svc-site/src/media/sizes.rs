//! The image sizes of a site.

use svc_media::RegisteredSize;

use crate::{Settings, Site};

/// Maximum width and height in pixels; larger images are scaled down.
pub const MAX_DIMENSION: u32 = 2560;

/// Sizes of the preview of a document's first page.
pub(crate) const OF_DOCUMENTS: [&str; 3] = ["thumbnail", "medium", "large"];

/// Sizes that are generated first, because clients use them first.
const GENERATED_FIRST: [&str; 4] = ["medium", "large", "thumbnail", "medium_large"];

/// All sizes of a site: those of its options, two large ones for high-density screens, and registered ones. Sizes without
/// any bound are left out. Source: `wp_get_registered_image_subsizes`.
pub fn all(site: &Site, settings: &Settings) -> Vec<RegisteredSize> {
    let option = |name: &str| {
        let number = |what: &str| u32::try_from(settings.number(&format!("{name}_{what}"))).unwrap_or_default();
        let crop = svc_php::cast::truthy(&settings.option(&format!("{name}_crop")).into());
        RegisteredSize { name: name.to_owned(), width: number("size_w"), height: number("size_h"), crop }
    };
    let square = |side: u32| RegisteredSize { name: format!("{side}x{side}"), width: side, height: side, crop: false };
    let mut sizes: Vec<RegisteredSize> = ["thumbnail", "medium", "medium_large", "large"].map(option).into();
    sizes.extend([square(1536), square(2048)]);
    for size in &site.registries.image_sizes {
        match sizes.iter_mut().find(|s| s.name == size.name) {
            Some(known) => known.clone_from(size),
            None => sizes.push(size.clone()),
        }
    }
    sizes.retain(|size| size.width > 0 || size.height > 0);
    sizes
}

/// The size with this name.
pub fn named(site: &Site, settings: &Settings, name: &str) -> Option<RegisteredSize> {
    all(site, settings).into_iter().find(|size| size.name == name)
}

/// Sorts sizes in the order in which they are generated.
pub fn in_generation_order(mut sizes: Vec<RegisteredSize>) -> Vec<RegisteredSize> {
    sizes.sort_by_key(|size| {
        GENERATED_FIRST.iter().position(|name| *name == size.name).unwrap_or(GENERATED_FIRST.len())
    });
    sizes
}

/// Encoding quality for a media type, 1 to 100.
pub fn quality(mime: &str) -> u8 {
    if mime == "image/webp" { 86 } else { 82 }
}
