//! Images in another size or format: what is made of a file, described by values, so that equal descriptions give the same image.

use std::str::FromStr;

use crate::{Blob, DecodedImage, Fit, Format, ImageError, constrain, decoded_image::is_animated, image_meta};

/// The point of an image that a crop keeps, in percent of its width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Focus {
    x: u8,
    y: u8,
}

impl Focus {
    /// The middle.
    pub const CENTER: Focus = Focus { x: 50, y: 50 };

    /// The point in percent.
    pub fn percent(self) -> (u8, u8) {
        (self.x, self.y)
    }
}

impl FromStr for Focus {
    type Err = NoFocus;

    /// Parses the shares of width and height, such as `0.5,0.25`. They are rounded to hundredths.
    fn from_str(text: &str) -> Result<Self, NoFocus> {
        let share = |text: &str| {
            let is_plain = text.len() <= 8 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            let share = text.parse::<f64>().ok().filter(|share| is_plain && (0.0..=1.0).contains(share));
            share.map(|share| (share * 100.0).round() as u8).ok_or(NoFocus)
        };
        let (x, y) = text.split_once(',').ok_or(NoFocus)?;
        Ok(Focus { x: share(x)?, y: share(y)? })
    }
}

/// The text does not describe a [`Focus`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a focus is two numbers from 0 to 1, separated by a comma")]
pub struct NoFocus;

/// What is made of an image: its size, its part and its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Maximum width in pixels; 0 is unlimited.
    pub width: u32,
    /// Maximum height in pixels; 0 is unlimited.
    pub height: u32,
    /// Crop to the proportions of width and height, if both are limited, and keep this point.
    pub crop: Option<Focus>,
    /// Format of the result.
    pub format: Format,
    /// Quality from 1 to 100, for formats that have one.
    pub quality: u8,
}

impl Variant {
    /// The area and the size for an image of these dimensions. It is never enlarged: a crop of a small image has the proportions
    /// and fewer pixels.
    pub fn fit(&self, (width, height): (u32, u32)) -> Fit {
        let whole = |width_out, height_out| Fit {
            x: 0,
            y: 0,
            part_width: width,
            part_height: height,
            width: width_out,
            height: height_out,
        };
        let Some(focus) = self.crop.filter(|_| self.width > 0 && self.height > 0) else {
            let (w, h) = constrain((width, height), (self.width, self.height));
            return whole(w, h);
        };
        let (w, h) = (f64::from(width), f64::from(height));
        let scale = (f64::from(self.width) / w).max(f64::from(self.height) / h);
        let part = |wanted: u32, is: u32| ((f64::from(wanted) / scale).round() as u32).clamp(1, is.max(1));
        let (part_width, part_height) = (part(self.width, width), part(self.height, height));
        // The focus is in the middle, or as near to it as the edges allow.
        let start = |percent: u8, is: u32, part: u32| {
            let start = f64::from(is) * f64::from(percent) / 100.0 - f64::from(part) / 2.0;
            (start.round().max(0.0) as u32).min(is.saturating_sub(part))
        };
        let (width_out, height_out) = if scale < 1.0 { (self.width, self.height) } else { (part_width, part_height) };
        Fit {
            x: start(focus.x, width, part_width),
            y: start(focus.y, height, part_height),
            part_width,
            part_height,
            width: width_out,
            height: height_out,
        }
    }

    /// Makes the image from a file of this format: upright, without metadata. Transparent areas become white in a JPEG. Takes long, and
    /// much memory.
    ///
    /// # Errors
    /// If the file is too large, damaged or animated, or the result does not fit into its format.
    pub fn make(&self, file: &Blob, format: Format) -> Result<Vec<u8>, ImageError> {
        if is_animated(file, format)? {
            return Err(ImageError::Animated);
        }
        let orientation = image_meta(file, format.mime()).orientation;
        let image = DecodedImage::decode(file, format)?.oriented(orientation);
        let fit = self.fit(image.size());
        let is_whole = (fit.part_width, fit.part_height) == image.size() && (fit.width, fit.height) == image.size();
        let image = if is_whole { image } else { image.scaled(&fit)? };
        let image = if self.format == Format::Jpeg { image.on_white() } else { image };
        image.encode(self.format, self.quality)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variant(width: u32, height: u32, crop: Option<&str>) -> Variant {
        let crop = crop.map(|focus| focus.parse().unwrap());
        Variant { width, height, crop, format: Format::Png, quality: 80 }
    }

    #[test]
    fn focus_is_two_shares() {
        #[rustfmt::skip]
        let rows = [
            ("0.5,0.5", Some((50, 50))), ("0,1", Some((0, 100))), ("1.0,.254", Some((100, 25))), ("0.999,0.001", Some((100, 0))),
            ("", None), ("0.5", None), ("0.5,", None), ("1.01,0", None), ("-0,0", None), ("-0.1,0", None), ("NaN,0", None), ("inf,0", None),
            ("1e-1,0", None), (" 0.5,0.5", None), ("0.5,0.5,0.5", None), ("0.5;0.5", None), ("0.555555555,0", None), ("٠,0", None),
        ];
        for (text, expected) in rows {
            assert_eq!(text.parse::<Focus>().ok().map(Focus::percent), expected, "{text}");
        }
    }

    #[test]
    fn fits() {
        let fit = |image, width, height, crop| {
            let Fit { x, y, part_width, part_height, width, height } = variant(width, height, crop).fit(image);
            ((x, y, part_width, part_height), (width, height))
        };
        let middle = Some("0.5,0.5");
        #[rustfmt::skip]
        let rows = [
            // image, width, height, focus, part, result
            ((800, 600), 400, 0, None, (0, 0, 800, 600), (400, 300)), ((800, 600), 0, 300, None, (0, 0, 800, 600), (400, 300)),
            ((800, 600), 400, 100, None, (0, 0, 800, 600), (133, 100)), ((800, 600), 1600, 0, None, (0, 0, 800, 600), (800, 600)),
            ((800, 600), 300, 300, middle, (100, 0, 600, 600), (300, 300)), ((800, 600), 300, 300, Some("0,0"), (0, 0, 600, 600), (300, 300)),
            ((800, 600), 300, 300, Some("1,1"), (200, 0, 600, 600), (300, 300)), ((800, 600), 300, 300, Some("0.4,0"), (20, 0, 600, 600), (300, 300)),
            ((600, 800), 300, 150, Some("0,0.75"), (0, 450, 600, 300), (300, 150)), ((600, 800), 300, 150, Some("0,1"), (0, 500, 600, 300), (300, 150)),
            // Never enlarged: the proportions of the crop with the pixels that there are.
            ((800, 600), 1600, 1600, middle, (100, 0, 600, 600), (600, 600)), ((800, 600), 800, 600, middle, (0, 0, 800, 600), (800, 600)),
            ((800, 600), 4000, 1000, middle, (0, 200, 800, 200), (800, 200)), ((800, 600), 400, 0, middle, (0, 0, 800, 600), (400, 300)),
            ((1, 1), 4096, 1, middle, (0, 0, 1, 1), (1, 1)), ((1, 5000), 4096, 16, middle, (0, 2500, 1, 1), (1, 1)),
            ((5000, 1), 1, 4096, middle, (2500, 0, 1, 1), (1, 1)), ((10_000, 2), 100, 0, None, (0, 0, 10_000, 2), (100, 1)),
        ];
        for (image, width, height, crop, part, result) in rows {
            assert_eq!(fit(image, width, height, crop), (part, result), "{image:?} in {width} × {height} at {crop:?}");
        }
    }

    /// Every crop is inside of the image, keeps the proportions, and has no more pixels than the image.
    #[test]
    fn crops_are_inside_of_the_image() {
        let lengths = [1, 2, 3, 7, 99, 100, 101, 640, 2560, 4096, 65_535];
        let points = ["0,0", "0.5,0.5", "1,1", "0.33,0.67", "0.01,0.99"];
        for (image_width, image_height) in lengths.iter().flat_map(|w| lengths.map(|h| (*w, h))) {
            for (width, height) in lengths.iter().flat_map(|w| lengths.map(|h| (*w, h))) {
                for point in points {
                    let fit = variant(width, height, Some(point)).fit((image_width, image_height));
                    let row = format!("{image_width} × {image_height} in {width} × {height} at {point}: {fit:?}");
                    assert!(fit.part_width > 0 && fit.part_height > 0 && fit.width > 0 && fit.height > 0, "{row}");
                    assert!(fit.x + fit.part_width <= image_width && fit.y + fit.part_height <= image_height, "{row}");
                    assert!(fit.width <= fit.part_width && fit.height <= fit.part_height, "{row}");
                    assert!(fit.width <= width && fit.height <= height, "{row}");
                }
            }
        }
    }

    /// A picture of four quarters: red, green, blue, and half transparent black.
    fn quarters() -> Blob {
        let image = image::RgbaImage::from_fn(80, 40, |x, y| {
            image::Rgba(match (x < 40, y < 20) {
                (true, true) => [255, 0, 0, 255],
                (false, true) => [0, 255, 0, 255],
                (true, false) => [0, 0, 255, 255],
                (false, false) => [0, 0, 0, 0],
            })
        });
        let mut bytes = std::io::Cursor::new(Vec::new());
        image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        Blob::Memory(bytes.into_inner().into())
    }

    fn pixel(bytes: &[u8], x: u32, y: u32) -> [u8; 4] {
        image::load_from_memory(bytes).unwrap().to_rgba8().get_pixel(x, y).0
    }

    #[test]
    fn the_focus_selects_the_part() {
        let rows = [
            ("0.25,0.25", [255, 0, 0, 255]),
            ("0.75,0.2", [0, 255, 0, 255]),
            ("0,1", [0, 0, 255, 255]),
            ("1,1", [0, 0, 0, 0]),
        ];
        for (focus, expected) in rows {
            // Ten pixels of eighty in width: the height decides, so twenty of forty.
            let made = variant(10, 20, Some(focus)).make(&quarters(), Format::Png).unwrap();
            let size = image::load_from_memory(&made).unwrap();
            assert_eq!((size.width(), size.height()), (10, 20));
            let (x, y) = (5, if focus.ends_with('1') { 17 } else { 2 });
            assert_eq!(pixel(&made, x, y), expected, "{focus}");
        }
    }

    #[test]
    fn transparency_is_kept_where_the_format_has_it() {
        for (format, alpha) in [(Format::Png, 0), (Format::WebP, 0), (Format::Jpeg, 255)] {
            let made = Variant { format, ..variant(40, 0, None) }.make(&quarters(), Format::Png).unwrap();
            let transparent = pixel(&made, 35, 17);
            assert_eq!(transparent[3], alpha, "{format:?}");
            if format == Format::Jpeg {
                assert!(transparent[..3].iter().all(|channel| *channel > 240), "white, not {transparent:?}");
            }
            let red = pixel(&made, 4, 4);
            assert!(red[0] > 230 && red[1] < 30 && red[2] < 30 && red[3] == 255, "{format:?}: {red:?}");
        }
    }

    #[test]
    fn quality_changes_the_size() {
        let noise =
            image::RgbImage::from_fn(64, 64, |x, y| image::Rgb([((x * 37) ^ (y * 91)) as u8, (x * y) as u8, y as u8]));
        let mut bytes = std::io::Cursor::new(Vec::new());
        noise.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        let file = Blob::Memory(bytes.into_inner().into());
        for format in [Format::Jpeg, Format::WebP] {
            let sizes = [10, 50, 95].map(|quality| {
                let made = Variant { format, quality, ..variant(64, 0, None) }.make(&file, Format::Png).unwrap();
                made.len()
            });
            assert!(sizes[0] < sizes[1] && sizes[1] < sizes[2], "{format:?}: {sizes:?}");
        }
    }
}
