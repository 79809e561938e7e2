//! Decoded images: bounded decoding, rotation, cropping, scaling and encoding.

use std::io::Cursor;

use fast_image_resize as fir;
use image::{
    DynamicImage, ExtendedColorType, ImageReader, Limits, RgbaImage,
    codecs::{
        gif::GifEncoder,
        png::{PngDecoder, PngEncoder},
        webp::WebPDecoder,
    },
    metadata::Orientation,
};
use imagesize::{Compression, ImageType};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

use crate::{Blob, Fit};

/// Images with more pixels are stored unchanged and not processed.
pub const MAX_PIXELS: u64 = 64_000_000;
/// Maximum memory that decoding may allocate in addition to the image, in bytes.
const MAX_ALLOC: u64 = MAX_PIXELS * 8;

/// Image formats that can be decoded and encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// GIF. Only the first frame of an animation is read.
    Gif,
    /// WebP.
    WebP,
}

impl Format {
    /// The format for a media type; `None` if images of this type are not processed.
    pub fn of_mime(mime: &str) -> Option<Self> {
        Some(match mime {
            "image/jpeg" => Format::Jpeg,
            "image/png" => Format::Png,
            "image/gif" => Format::Gif,
            "image/webp" => Format::WebP,
            _ => return None,
        })
    }

    /// The media type.
    pub fn mime(self) -> &'static str {
        match self {
            Format::Jpeg => "image/jpeg",
            Format::Png => "image/png",
            Format::Gif => "image/gif",
            Format::WebP => "image/webp",
        }
    }

    fn codec(self) -> image::ImageFormat {
        match self {
            Format::Jpeg => image::ImageFormat::Jpeg,
            Format::Png => image::ImageFormat::Png,
            Format::Gif => image::ImageFormat::Gif,
            Format::WebP => image::ImageFormat::WebP,
        }
    }
}

/// An error of image processing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The image has more than [`MAX_PIXELS`] pixels.
    #[error("the image has too many pixels")]
    TooLarge,
    /// The image is animated.
    #[error("the image is animated")]
    Animated,
    /// The area to crop is empty or outside the image.
    #[error("the area to crop is empty")]
    EmptyCrop,
    /// The image cannot be decoded or encoded.
    #[error("the image cannot be processed: {0}")]
    Codec(#[from] image::ImageError),
    /// The image cannot be encoded as JPEG or WebP.
    #[error("the image cannot be encoded: {0}")]
    Encoder(String),
    /// The image cannot be scaled.
    #[error("the image cannot be scaled: {0}")]
    Scale(String),
    /// The file cannot be read.
    #[error("the image cannot be read: {0}")]
    Io(#[from] std::io::Error),
}

/// Reads the width and height of an image file in pixels from its header. `None` if it is not an image, or a HEIC image:
/// its header does not show which part of the coded image is visible.
pub fn dimensions(file: &Blob) -> Option<(u32, u32)> {
    let format = imagesize::reader_type(file.open().ok()?).ok()?;
    if matches!(format, ImageType::Heif(codec) if codec != Compression::Av1) {
        return None;
    }
    let size = imagesize::reader_size(file.open().ok()?).ok()?;
    Some((u32::try_from(size.width).ok()?, u32::try_from(size.height).ok()?))
}

/// Whether the file has more than one frame, by its header. `false` for GIF files, whose header does not show it.
///
/// # Errors
/// If the file is not an image of this format.
pub(crate) fn is_animated(file: &Blob, format: Format) -> Result<bool, ImageError> {
    Ok(match format {
        Format::Png => PngDecoder::with_limits(file.open()?, limits())?.is_apng()?,
        Format::WebP => WebPDecoder::new(file.open()?)?.has_animation(),
        Format::Jpeg | Format::Gif => false,
    })
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_ALLOC);
    limits
}

/// A decoded image with eight bits per channel.
#[derive(Debug)]
pub struct DecodedImage(DynamicImage);

impl DecodedImage {
    /// Decodes a file.
    ///
    /// # Errors
    /// If the image is too large, or the file is not an image of this format.
    pub fn decode(file: &Blob, format: Format) -> Result<Self, ImageError> {
        let pixels = dimensions(file).map_or(0, |(w, h)| u64::from(w) * u64::from(h));
        if pixels > MAX_PIXELS {
            return Err(ImageError::TooLarge);
        }
        let mut reader = ImageReader::with_format(file.open()?, format.codec());
        reader.limits(limits());
        let image = reader.decode()?;
        Ok(DecodedImage(match image {
            DynamicImage::ImageLuma8(_) | DynamicImage::ImageRgb8(_) | DynamicImage::ImageRgba8(_) => image,
            DynamicImage::ImageLuma16(_) => DynamicImage::ImageLuma8(image.into_luma8()),
            _ if image.color().has_alpha() => DynamicImage::ImageRgba8(image.into_rgba8()),
            _ => DynamicImage::ImageRgb8(image.into_rgb8()),
        }))
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.0.width(), self.0.height())
    }

    /// Applies an EXIF orientation (1 to 8). Other values change nothing.
    #[must_use]
    pub fn oriented(mut self, orientation: u32) -> Self {
        if let Some(orientation) = u8::try_from(orientation).ok().and_then(Orientation::from_exif) {
            self.0.apply_orientation(orientation);
        }
        self
    }

    /// The image on a white background, without transparency.
    #[must_use]
    pub(crate) fn on_white(self) -> Self {
        let DynamicImage::ImageRgba8(image) = self.0 else { return self };
        let on_white = |channel: u8, alpha: u8| {
            let (channel, alpha) = (u32::from(channel), u32::from(alpha));
            ((channel * alpha + 255 * (255 - alpha) + 127) / 255) as u8
        };
        DecodedImage(DynamicImage::ImageRgb8(image::RgbImage::from_fn(image.width(), image.height(), |x, y| {
            let [r, g, b, alpha] = image.get_pixel(x, y).0;
            image::Rgb([r, g, b].map(|channel| on_white(channel, alpha)))
        })))
    }

    /// Mirrors the image.
    #[must_use]
    pub fn flipped(self, horizontally: bool, vertically: bool) -> Self {
        let image = if horizontally { self.0.fliph() } else { self.0 };
        DecodedImage(if vertically { image.flipv() } else { image })
    }

    /// Rotates the image clockwise by `degrees`. Areas outside the original are transparent.
    ///
    /// # Errors
    /// If the rotated image would be too large.
    pub fn rotated(self, degrees: f64) -> Result<Self, ImageError> {
        let degrees = degrees.rem_euclid(360.0);
        let quarter = [0.0, 90.0, 180.0, 270.0].iter().position(|q| *q == degrees);
        Ok(DecodedImage(match quarter {
            Some(0) => self.0,
            Some(1) => self.0.rotate90(),
            Some(2) => self.0.rotate180(),
            Some(_) => self.0.rotate270(),
            None => DynamicImage::ImageRgba8(rotate_by_angle(&self.0.into_rgba8(), degrees)?),
        }))
    }

    /// Crops the image to a rectangle, clipped to the image.
    ///
    /// # Errors
    /// If the rectangle does not overlap the image.
    pub fn part(&self, x: u32, y: u32, width: u32, height: u32) -> Result<Self, ImageError> {
        let (w, h) = self.size();
        let (width, height) = (width.min(w.saturating_sub(x)), height.min(h.saturating_sub(y)));
        if width == 0 || height == 0 {
            return Err(ImageError::EmptyCrop);
        }
        Ok(DecodedImage(self.0.crop_imm(x, y, width, height)))
    }

    /// Crops and scales the image.
    ///
    /// # Errors
    /// If the area to crop is outside the image.
    pub fn scaled(&self, fit: &Fit) -> Result<Self, ImageError> {
        let scale_error = |error: &dyn std::fmt::Display| ImageError::Scale(error.to_string());
        let kind = match self.0 {
            DynamicImage::ImageLuma8(_) => fir::PixelType::U8,
            DynamicImage::ImageRgb8(_) => fir::PixelType::U8x3,
            _ => fir::PixelType::U8x4,
        };
        let (w, h) = self.size();
        let source = fir::images::ImageRef::new(w, h, self.0.as_bytes(), kind).map_err(|e| scale_error(&e))?;
        let mut out = fir::images::Image::new(fit.width, fit.height, kind);
        let part = fir::ResizeOptions::new().crop(
            f64::from(fit.x),
            f64::from(fit.y),
            f64::from(fit.part_width),
            f64::from(fit.part_height),
        );
        fir::Resizer::new().resize(&source, &mut out, &part).map_err(|e| scale_error(&e))?;
        let (w, h, pixels) = (fit.width, fit.height, out.into_vec());
        let image = match kind {
            fir::PixelType::U8 => image::GrayImage::from_raw(w, h, pixels).map(DynamicImage::ImageLuma8),
            fir::PixelType::U8x3 => image::RgbImage::from_raw(w, h, pixels).map(DynamicImage::ImageRgb8),
            _ => RgbaImage::from_raw(w, h, pixels).map(DynamicImage::ImageRgba8),
        };
        image.map(DecodedImage).ok_or_else(|| scale_error(&"unexpected buffer length"))
    }

    /// Encodes the image. `quality`, 1 to 100, is used by formats that have one.
    ///
    /// # Errors
    /// If the format cannot represent the image.
    pub fn encode(&self, format: Format, quality: u8) -> Result<Vec<u8>, ImageError> {
        let mut out = Cursor::new(Vec::new());
        let (w, h) = self.size();
        match format {
            Format::Jpeg => {
                let kind = match self.0 {
                    DynamicImage::ImageLuma8(_) => ColorType::Luma,
                    DynamicImage::ImageRgb8(_) => ColorType::Rgb,
                    _ => ColorType::Rgba,
                };
                let side = |n: u32| u16::try_from(n).map_err(|_| ImageError::TooLarge);
                let mut encoder = Encoder::new(&mut out, quality);
                // 4:2:0 subsampling is usual for photographs on the web. Optimized tables give wrong colours with it.
                encoder.set_sampling_factor(SamplingFactor::F_2_2);
                let done = encoder.encode(self.0.as_bytes(), side(w)?, side(h)?, kind);
                done.map_err(|error| ImageError::Encoder(error.to_string()))?;
            }
            Format::Png => self.0.write_with_encoder(PngEncoder::new(&mut out))?,
            Format::Gif => {
                let mut encoder = GifEncoder::new(&mut out);
                encoder.encode(self.0.to_rgba8().as_raw(), w, h, ExtendedColorType::Rgba8)?;
                drop(encoder);
            }
            Format::WebP => {
                let rgb;
                let encoder = match &self.0 {
                    DynamicImage::ImageRgba8(image) => webp::Encoder::from_rgba(image, w, h),
                    image => {
                        rgb = image.to_rgb8();
                        webp::Encoder::from_rgb(&rgb, w, h)
                    }
                };
                let done = encoder.encode_simple(false, f32::from(quality));
                return Ok(done.map_err(|error| ImageError::Encoder(format!("{error:?}")))?.to_vec());
            }
        }
        Ok(out.into_inner())
    }
}

/// Returns a copy rotated clockwise, on a canvas that fits all of it.
fn rotate_by_angle(image: &RgbaImage, degrees: f64) -> Result<RgbaImage, ImageError> {
    let (sin, cos) = degrees.to_radians().sin_cos();
    let (w, h) = (f64::from(image.width()), f64::from(image.height()));
    let side = |a: f64, b: f64| (a.abs() + b.abs()).ceil().max(1.0);
    let (width, height) = (side(w * cos, h * sin), side(w * sin, h * cos));
    if width * height > MAX_PIXELS as f64 {
        return Err(ImageError::TooLarge);
    }
    Ok(RgbaImage::from_fn(width as u32, height as u32, |x, y| {
        let (dx, dy) = (f64::from(x) + 0.5 - width / 2.0, f64::from(y) + 0.5 - height / 2.0);
        let (sx, sy) = (dx * cos + dy * sin + w / 2.0 - 0.5, dy * cos - dx * sin + h / 2.0 - 0.5);
        interpolate(image, sx, sy)
    }))
}

/// Interpolates the colour between pixels; transparent outside the image.
fn interpolate(image: &RgbaImage, x: f64, y: f64) -> image::Rgba<u8> {
    let (left, top) = (x.floor(), y.floor());
    let (right_share, bottom_share) = (x - left, y - top);
    let mut sums = [0.0; 4];
    for (dx, share_x) in [(0.0, 1.0 - right_share), (1.0, right_share)] {
        for (dy, share_y) in [(0.0, 1.0 - bottom_share), (1.0, bottom_share)] {
            let (px, py) = (left + dx, top + dy);
            if px < 0.0 || py < 0.0 || px >= f64::from(image.width()) || py >= f64::from(image.height()) {
                continue;
            }
            let pixel = image.get_pixel(px as u32, py as u32).0;
            let weight = share_x * share_y * f64::from(pixel[3]);
            for (sum, channel) in sums.iter_mut().zip(&pixel[..3]) {
                *sum += weight * f64::from(*channel);
            }
            sums[3] += weight;
        }
    }
    let channel = |sum: f64| if sums[3] > 0.0 { (sum / sums[3]).round() as u8 } else { 0 };
    image::Rgba([channel(sums[0]), channel(sums[1]), channel(sums[2]), sums[3].round() as u8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RegisteredSize, fit};

    fn test_image(width: u32, height: u32) -> DecodedImage {
        let image = RgbaImage::from_fn(width, height, |x, _| {
            if x < width / 2 { image::Rgba([255, 0, 0, 255]) } else { image::Rgba([0, 0, 255, 255]) }
        });
        DecodedImage(DynamicImage::ImageRgba8(image))
    }

    #[test]
    fn formats_round_trip() {
        for format in [Format::Jpeg, Format::Png, Format::Gif, Format::WebP] {
            let bytes = test_image(64, 48).encode(format, 82).unwrap();
            if format == Format::WebP {
                assert!(bytes.windows(4).any(|chunk| chunk == b"VP8 "), "expected lossy coding");
            }
            let file = Blob::Memory(bytes.into());
            assert_eq!(dimensions(&file), Some((64, 48)), "{format:?}");
            let back = DecodedImage::decode(&file, format).unwrap();
            let pixel = back.0.to_rgb8().get_pixel(4, 4).0;
            assert!(pixel[0] > 240 && pixel[2] < 16, "{format:?}: {pixel:?}");
        }
    }

    #[test]
    fn transformations() {
        let left = |p: &DecodedImage| p.0.to_rgba8().get_pixel(1, p.size().1 / 2).0;
        let red = [255, 0, 0, 255];
        let blue = [0, 0, 255, 255];
        let turned = test_image(40, 20).rotated(90.0).unwrap();
        assert_eq!((turned.size(), turned.0.to_rgba8().get_pixel(10, 1).0), ((20, 40), red));
        assert_eq!(left(&test_image(40, 20).rotated(-180.0).unwrap()), blue);
        assert_eq!(left(&test_image(40, 20).flipped(true, false)), blue);
        assert_eq!(left(&test_image(40, 20).flipped(false, true)), red);
        assert_eq!(test_image(40, 20).oriented(6).size(), (20, 40));
        assert_eq!(test_image(40, 20).oriented(9).size(), (40, 20));
        let rotated = test_image(400, 260).rotated(45.0).unwrap();
        assert_eq!((rotated.size(), rotated.0.to_rgba8().get_pixel(0, 0).0[3]), ((467, 467), 0));
        assert_eq!(test_image(400, 260).part(320, 208, 200, 130).unwrap().size(), (80, 52));
        assert!(matches!(test_image(4, 2).part(4, 0, 2, 2), Err(ImageError::EmptyCrop)));
        let size = RegisteredSize { name: String::new(), width: 10, height: 10, crop: true };
        let small = test_image(40, 20).scaled(&fit((40, 20), &size).unwrap()).unwrap();
        assert_eq!((small.size(), left(&small)), ((10, 10), red));
    }

    #[test]
    fn decompression_bombs_are_rejected() {
        // A PNG that declares impossible dimensions.
        let mut file = test_image(2, 2).encode(Format::Png, 0).unwrap();
        file[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
        assert!(matches!(DecodedImage::decode(&Blob::Memory(file.into()), Format::Png), Err(ImageError::TooLarge)));
        assert!(DecodedImage::decode(&Blob::Memory(b"GIF89a"[..].into()), Format::Gif).is_err());
    }
}
