//! Image sizes, and how an image is scaled and cropped to a size.

/// A registered image size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredSize {
    /// `thumbnail`, `medium` …
    pub name: String,
    /// Maximum width in pixels; 0 is unlimited.
    pub width: u32,
    /// Maximum height in pixels; 0 is unlimited.
    pub height: u32,
    /// Crop to the exact dimensions.
    pub crop: bool,
}

/// How to bring an image to a size: the area to crop, and the dimensions to scale it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Left edge of the area.
    pub x: u32,
    /// Top edge of the area.
    pub y: u32,
    /// Width of the area.
    pub part_width: u32,
    /// Height of the area.
    pub part_height: u32,
    /// Width of the result.
    pub width: u32,
    /// Height of the result.
    pub height: u32,
}

/// Rounds half away from zero, like PHP.
fn round(value: f64) -> u32 {
    value.round() as u32
}

/// Scales dimensions down to fit within bounds, keeping the aspect ratio. Images are never enlarged. A bound of 0 is
/// unlimited.
///
/// Source: `wp_constrain_dimensions`.
pub fn constrain((width, height): (u32, u32), (max_width, max_height): (u32, u32)) -> (u32, u32) {
    if max_width == 0 && max_height == 0 {
        return (width, height);
    }
    let ratio = |max: u32, is: u32| {
        let over = max > 0 && is > 0 && is > max;
        (if over { f64::from(max) / f64::from(is) } else { 1.0 }, over)
    };
    let (width_ratio, by_width) = ratio(max_width, width);
    let (height_ratio, by_height) = ratio(max_height, height);
    let (smaller, larger) = (width_ratio.min(height_ratio), width_ratio.max(height_ratio));
    let scale = |length: u32, ratio: f64| round(f64::from(length) * ratio);
    let over = |length: u32, max: u32| max > 0 && scale(length, larger) > max;
    let chosen = if over(width, max_width) || over(height, max_height) { smaller } else { larger };
    let (mut w, mut h) = (scale(width, chosen).max(1), scale(height, chosen).max(1));
    // Compensates for a pixel lost to rounding.
    if by_width && w + 1 == max_width {
        w = max_width;
    }
    if by_height && h + 1 == max_height {
        h = max_height;
    }
    (w, h)
}

/// Returns how to bring an image of these dimensions to a size. `None` if the image is not larger. Source:
/// `image_resize_dimensions`.
pub fn fit((width, height): (u32, u32), size: &RegisteredSize) -> Option<Fit> {
    if width == 0 || height == 0 || (size.width == 0 && size.height == 0) {
        return None;
    }
    if (size.height == 0 && width < size.width) || (size.width == 0 && height < size.height) {
        return None;
    }
    let fit = if size.crop { crop_to_fill((width, height), size) } else { scale_to_fit((width, height), size) };
    let same = |a: u32, b: u32| a.abs_diff(b) <= 1;
    let is_smaller = fit.width < width || fit.height < height;
    (is_smaller && !(same(fit.width, width) && same(fit.height, height))).then_some(fit)
}

fn scale_to_fit((width, height): (u32, u32), size: &RegisteredSize) -> Fit {
    let (w, h) = constrain((width, height), (size.width, size.height));
    Fit { x: 0, y: 0, part_width: width, part_height: height, width: w, height: h }
}

fn crop_to_fill((width, height): (u32, u32), size: &RegisteredSize) -> Fit {
    let aspect = f64::from(width) / f64::from(height);
    let (mut w, mut h) = (size.width.min(width), size.height.min(height));
    if w == 0 {
        w = round(f64::from(h) * aspect);
    }
    if h == 0 {
        h = round(f64::from(w) / aspect);
    }
    let ratio = (f64::from(w) / f64::from(width)).max(f64::from(h) / f64::from(height));
    let (part_width, part_height) =
        (round(f64::from(w) / ratio).clamp(1, width), round(f64::from(h) / ratio).clamp(1, height));
    let (x, y) = ((width - part_width) / 2, (height - part_height) / 2);
    Fit { x, y, part_width, part_height, width: w.max(1), height: h.max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constrains_dimensions() {
        #[rustfmt::skip]
        let rows = [
            ((800, 500), (300, 300), (300, 188)), ((320, 200), (300, 300), (300, 188)), ((1601, 901), (1024, 1024), (1024, 576)),
            ((3000, 2000), (2560, 2560), (2560, 1707)), ((3000, 400), (2560, 2560), (2560, 341)), ((200, 600), (300, 300), (100, 300)),
            ((1200, 1600), (768, 0), (768, 1024)), ((400, 260), (0, 0), (400, 260)), ((10, 10_000), (100, 100), (1, 100)),
        ];
        for (image, bounds, expected) in rows {
            assert_eq!(constrain(image, bounds), expected, "{image:?} in {bounds:?}");
        }
    }

    #[test]
    fn fits_sizes() {
        let size = |width, height, crop| RegisteredSize { name: String::new(), width, height, crop };
        let dims = |f: Fit| (f.width, f.height);
        #[rustfmt::skip]
        let rows = [
            ((120, 80), size(150, 150, true), None), ((140, 300), size(150, 150, true), Some((140, 150))),
            ((400, 300), size(150, 150, true), Some((150, 150))), ((600, 400), size(768, 0, false), None),
            ((1200, 1600), size(768, 0, false), Some((768, 1024))), ((300, 300), size(300, 300, false), None),
            ((301, 301), size(300, 300, false), None), ((302, 302), size(300, 300, false), Some((300, 300))),
            ((800, 500), size(0, 0, false), None), ((200, 130), size(150, 150, true), Some((150, 130))),
        ];
        for (image, size, expected) in rows {
            assert_eq!(fit(image, &size).map(dims), expected, "{image:?} in {size:?}");
        }
        let part = fit((800, 500), &size(150, 150, true)).unwrap();
        assert_eq!((part.x, part.y, part.part_width, part.part_height), (150, 0, 500, 500));
    }
}
