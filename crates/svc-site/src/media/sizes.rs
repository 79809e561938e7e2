//! The sizes in which a site keeps its images.

use svc_media::RegisteredSize;

use crate::{Settings, Site};

/// Larger images are scaled down to this length before they are shown, in pixels.
pub const LARGEST: u32 = 2560;

/// Sizes that the first page of a document is shown in.
pub const OF_DOCUMENTS: [&str; 3] = ["thumbnail", "medium", "large"];

/// Sizes that are made first: clients show them first.
const FIRST: [&str; 4] = ["medium", "large", "thumbnail", "medium_large"];

/// All sizes of a site: those of its options, two large ones for dense screens, and those registered.
pub fn all(site: &Site, settings: &Settings) -> Vec<RegisteredSize> {
    let option = |name: &str| {
        let number = |what: &str| u32::try_from(settings.number(&format!("{name}_{what}"))).unwrap_or_default();
        let crop = svc_php::cast::truthy(&settings.option(&format!("{name}_crop")).into());
        RegisteredSize { name: name.to_owned(), width: number("size_w"), height: number("size_h"), crop }
    };
    let square = |side: u32| RegisteredSize { name: format!("{side}x{side}"), width: side, height: side, crop: false };
    let mut sizes: Vec<RegisteredSize> = ["thumbnail", "medium", "medium_large", "large"].map(option).into();
    sizes.extend([square(1536), square(2048)]);
    for size in &site.image_sizes {
        match sizes.iter_mut().find(|s| s.name == size.name) {
            Some(known) => known.clone_from(size),
            None => sizes.push(size.clone()),
        }
    }
    sizes
}

/// One size of a site, by its name.
pub fn named(site: &Site, settings: &Settings, name: &str) -> Option<RegisteredSize> {
    all(site, settings).into_iter().find(|size| size.name == name)
}

/// The sizes in the order in which they are made.
pub fn in_order(mut sizes: Vec<RegisteredSize>) -> Vec<RegisteredSize> {
    sizes.sort_by_key(|size| FIRST.iter().position(|name| *name == size.name).unwrap_or(FIRST.len()));
    sizes
}

/// How well images of a type are kept, 1 to 100.
pub fn quality(mime: &str) -> u8 {
    if mime == "image/webp" { 86 } else { 82 }
}
