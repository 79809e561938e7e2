//! Which image a URL is for: its parameters, and their signature.

use svc_auth::Caller;
use svc_media::{Focus, Format, Variant};
use svc_routing::{Request, Result, accepts};
use svc_schema::{
    Args, Error,
    build::{integer, string},
};
use svc_site::{Site, errors::images as errors, image_variants::ImageVariants, media::sizes};

/// Maximum width and height, in pixels.
const MAX_LENGTH: i64 = 4_096;

/// Length of the longest text in a parameter.
const MAX_TEXT: usize = 64;

/// What URLs are signed for.
const PURPOSE: &str = "svc image";

/// The parameters of an image.
pub(super) fn args() -> Args {
    let length = || integer().range(1..=MAX_LENGTH);
    Args::from([
        ("w", length().describe("Maximum width in pixels. Images are not enlarged.")),
        ("h", length().describe("Maximum height in pixels.")),
        (
            "fit",
            string()
                .one_of(["cover", "contain"])
                .default("cover")
                .describe("With a width and a height: `cover` crops to their proportions, `contain` does not crop."),
        ),
        (
            "focus",
            string()
                .max_length(MAX_TEXT)
                .describe("Point that a crop keeps in its middle as far as possible: shares of width and height, such as 0.5,0.25. Default: the middle."),
        ),
        (
            "format",
            string()
                .one_of(["auto", "jpeg", "png", "webp"])
                .default("auto")
                .describe("Format. `auto` is WebP for clients that accept it; otherwise JPEG for a JPEG file, and PNG for others."),
        ),
        ("q", integer().range(1..=100).describe("Quality of JPEG and WebP. Default: as for uploads.")),
    ])
}

/// The parameters of the URL of an image.
pub(super) fn url_args() -> Args {
    args()
        .with(
            "v",
            string().max_length(MAX_TEXT).describe(
                "State of the file, as in a signed URL. While it is the current one, caches may use the image forever.",
            ),
        )
        .with("sig", string().max_length(2 * MAX_TEXT).describe("Signature, for sizes that are not listed."))
}

/// An image that a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    width: u32,
    height: u32,
    crop: Option<Focus>,
    format: Option<Format>,
    quality: Option<u8>,
}

impl Wanted {
    /// Reads the parameters.
    ///
    /// # Errors
    /// 400 without width and height, or if the focus is not a point.
    pub(super) fn read(req: &Request) -> Result<Self> {
        let (width, height): (Option<u32>, Option<u32>) = (req.arg("w")?, req.arg("h")?);
        if width.is_none() && height.is_none() {
            return Err(errors::no_size());
        }
        let focus: Option<String> = req.arg("focus")?;
        let focus = focus.map(|text| text.parse::<Focus>().map_err(|_| errors::invalid_focus())).transpose()?;
        let (fit, format): (Option<String>, Option<String>) = (req.arg("fit")?, req.arg("format")?);
        let crops = width.is_some() && height.is_some() && fit.as_deref() != Some("contain");
        let format = match format.as_deref() {
            Some("jpeg") => Some(Format::Jpeg),
            Some("png") => Some(Format::Png),
            Some("webp") => Some(Format::WebP),
            _ => None,
        };
        Ok(Wanted {
            width: width.unwrap_or(0),
            height: height.unwrap_or(0),
            crop: crops.then(|| focus.unwrap_or(Focus::CENTER)),
            format,
            quality: req.arg("q")?,
        })
    }

    /// Whether anybody may request it: it has a listed size and is described by nothing else but its format.
    pub(super) fn is_listed(&self, variants: &ImageVariants) -> bool {
        let is_plain = self.crop.is_none_or(|focus| focus == Focus::CENTER) && self.quality.is_none();
        let fits = self.height == 0 || self.crop.is_some();
        is_plain && fits && variants.is_listed(self.width, self.height)
    }

    /// Whether the format depends on what the client accepts.
    pub(super) fn is_negotiated(&self) -> bool {
        self.format.is_none()
    }

    /// The variant of a file of this format, for the client that sends the request.
    pub(super) fn variant(&self, req: &Request, source: Format) -> Variant {
        let format = self.format.unwrap_or_else(|| match source {
            _ if accepts(req.headers(), Format::WebP.mime()) => Format::WebP,
            Format::Jpeg => Format::Jpeg,
            _ => Format::Png,
        });
        let quality = self.quality.unwrap_or_else(|| sizes::quality(format.mime()));
        Variant { width: self.width, height: self.height, crop: self.crop, format, quality }
    }

    /// The query of its URL, without signature.
    pub(super) fn query(&self) -> String {
        let Wanted { width, height, crop, format, quality } = self;
        let lengths = [("w", *width), ("h", *height)];
        let mut parts: Vec<String> =
            lengths.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name}={n}")).collect();
        match crop.map(Focus::percent) {
            None if *width > 0 && *height > 0 => parts.push("fit=contain".to_owned()),
            Some((x, y)) if *crop != Some(Focus::CENTER) => {
                parts.push(format!("focus={},{}", f64::from(x) / 100.0, f64::from(y) / 100.0));
            }
            _ => {}
        }
        parts.extend(format.map(|format| format!("format={}", format.mime().trim_start_matches("image/"))));
        parts.extend(quality.map(|quality| format!("q={quality}")));
        parts.join("&")
    }

    /// The signature of its URL for an attachment.
    ///
    /// # Errors
    /// 500 on a site without keys.
    pub(super) fn signature(&self, site: &Site, id: i64) -> Result<String> {
        site.sign(PURPOSE, &self.signed_text(id)).ok_or_else(errors::no_keys)
    }

    /// Whether the request is signed, if it has a signature.
    ///
    /// # Errors
    /// 403 if the signature is not that of this image.
    pub(super) fn is_signed(&self, site: &Site, id: i64, req: &Request) -> Result<bool> {
        let signature: Option<String> = req.arg("sig")?;
        match signature {
            None => Ok(false),
            Some(signature) if site.is_signed(PURPOSE, &self.signed_text(id), &signature) => Ok(true),
            Some(_) => Err(errors::invalid_signature()),
        }
    }

    /// What is signed: the attachment and the query of the URL in its only form.
    fn signed_text(&self, id: i64) -> String {
        format!("{id} {}", self.query())
    }
}

/// The caller may not have URLs signed.
pub(super) fn cannot_sign(req: &Request) -> Error {
    svc_routing::forbidden(req, "rest_cannot_sign_images", "You are not allowed to sign URLs of images.")
}

/// Whether the caller may have URLs signed: those who choose images for posts.
pub(super) fn may_sign(caller: &Caller) -> bool {
    caller.has("upload_files")
}
