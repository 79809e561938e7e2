//! File types, detected from name and content, which must agree.

use svc_text::{MimeTypes, check_filetype};

/// The name and type to store a file under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileType {
    /// File name. The extension of an image is corrected to match its content.
    pub name: String,
    /// Media type.
    pub mime: String,
}

/// File name extensions of images by detected media type.
const IMAGES: &[(&str, &str)] = &[
    ("image/jpeg", "jpg"),
    ("image/png", "png"),
    ("image/gif", "gif"),
    ("image/bmp", "bmp"),
    ("image/tiff", "tif"),
    ("image/webp", "webp"),
    ("image/avif", "avif"),
];

/// Text types that cannot be detected from content.
const TEXTS: &[&str] =
    &["text/plain", "text/csv", "text/richtext", "text/tab-separated-values", "text/vtt", "text/calendar"];

/// Types detected for files that may contain any type of the same group.
const CONTAINERS: &[&str] = &["application/octet-stream", "application/zip", "application/x-ole-storage"];

/// Media types of files that are not in the table of uploads.
const EXTRA_TYPES: &[(&str, &str)] = &[
    ("otf", "font/otf"),
    ("svg", "image/svg+xml"),
    ("ttf", "font/ttf"),
    ("woff", "font/woff"),
    ("woff2", "font/woff2"),
];

/// The `Content-Type` with which a file of this path or name is served.
pub fn content_type(path: &str) -> String {
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let known = MimeTypes::known();
    let extra = || EXTRA_TYPES.iter().find(|(e, _)| *e == extension).map(|(_, mime)| *mime);
    let mime = known.of_extension(&extension).or_else(extra).unwrap_or("application/octet-stream");
    let charset = if mime.starts_with("text/") { "; charset=utf-8" } else { "" };
    format!("{mime}{charset}")
}

/// Detects the media type of a file from its first bytes. Unknown content is `text/plain` if it is valid text,
/// otherwise `application/octet-stream`.
fn media_type(head: &[u8]) -> &'static str {
    if is_program(head) {
        return "text/x-php";
    }
    match infer::get(head) {
        Some(found) => found.mime_type(),
        None if is_text(head) => "text/plain",
        None => "application/octet-stream",
    }
}

/// Returns whether a server could execute the content, wherever the code begins.
fn is_program(head: &[u8]) -> bool {
    let has = |what: &[u8]| head.windows(what.len()).any(|w| w.eq_ignore_ascii_case(what));
    infer::get(head).is_none_or(|t| t.mime_type().starts_with("text/")) && (has(b"<?php") || has(b"<?="))
}

fn is_text(head: &[u8]) -> bool {
    let plain = match std::str::from_utf8(head) {
        Ok(_) => true,
        // The last character may be truncated.
        Err(error) => error.error_len().is_none(),
    };
    let control = |b: &u8| *b < 0x20 && !matches!(b, b'\t' | b'\n' | 0x0c | b'\r' | 0x1b);
    plain && !head.iter().any(control)
}

/// Returns the name and type to store a file under. `None` if the type is not allowed or the content does not match it.
/// Source: `wp_check_filetype_and_ext`.
pub fn check(name: &str, head: &[u8], allowed: &MimeTypes) -> Option<FileType> {
    let (_, mime) = check_filetype(name, allowed)?;
    let real = media_type(head);
    if real == mime || is_same(real, mime) {
        return Some(FileType { name: name.to_owned(), mime: mime.to_owned() });
    }
    let (group, real_group) = (group(mime), group(real));
    let fits = match real_group {
        // The extension of an image is corrected.
        "image" if group == "image" => {
            let (_, ending) = IMAGES.iter().find(|(mime, _)| *mime == real)?;
            let (stem, _) = name.rsplit_once('.')?;
            let name = format!("{stem}.{ending}");
            let (_, mime) = check_filetype(&name, allowed)?;
            return Some(FileType { mime: mime.to_owned(), name });
        }
        // The beginning of an Ogg file does not show whether it contains video.
        "audio" | "video" => group == real_group || (group == "video" && real == "audio/ogg"),
        _ if real == "text/plain" => TEXTS.contains(&mime),
        _ if CONTAINERS.contains(&real) || is_office(real) => matches!(group, "application" | "audio" | "video"),
        _ => false,
    };
    fits.then(|| FileType { name: name.to_owned(), mime: mime.to_owned() })
}

fn group(mime: &str) -> &str {
    mime.split('/').next().unwrap_or_default()
}

/// Office documents are containers that are detected with varying precision.
fn is_office(mime: &str) -> bool {
    ["application/vnd.", "application/msword"].iter().any(|begin| mime.starts_with(begin))
}

/// Returns whether two names denote the same type.
fn is_same(a: &str, b: &str) -> bool {
    let heic = |mime: &str| mime.starts_with("image/hei");
    heic(a) && heic(b) || matches!((a, b), ("text/rtf", "application/rtf"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0";

    #[test]
    fn name_and_content_agree() {
        #[rustfmt::skip]
        let rows: &[(&str, &[u8], Option<(&str, &str)>)] = &[
            ("a.png", PNG, Some(("a.png", "image/png"))),
            ("a.jpg", PNG, Some(("a.png", "image/png"))),
            ("a.gif", JPEG, Some(("a.jpg", "image/jpeg"))),
            ("a.png", b"plain text", None),
            ("a.txt", PNG, None),
            ("a.txt", b"plain \xc3\xbc", Some(("a.txt", "text/plain"))),
            ("a.txt", b"cut \xc3", Some(("a.txt", "text/plain"))),
            ("a.txt", b"x <?PHP echo 1;", None),
            ("a.txt", b"<html><script>alert(1)</script></html>", None),
            ("a.txt", b"\0\x01\x02", None),
            ("a.csv", b"a,b\n", Some(("a.csv", "text/csv"))),
            ("a.pdf", b"hello", None),
            ("a.pdf", b"%PDF-1.4", Some(("a.pdf", "application/pdf"))),
            ("a.zip", b"PK\x03\x04", Some(("a.zip", "application/zip"))),
            ("a.docx", b"PK\x03\x04", Some(("a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"))),
            ("a.mp4", b"\0\0\0\x18ftypisom\0\0\x02\0isommp41", Some(("a.mp4", "video/mp4"))),
            ("a.ogv", b"OggS\0\x02", Some(("a.ogv", "video/ogg"))),
            ("a.mp3", b"ID3\x03\0\0\0\0\0\0", Some(("a.mp3", "audio/mpeg"))),
            ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
            ("a.php", b"<?php", None),
            ("a.png.php", PNG, None),
            ("png", PNG, None),
        ];
        let allowed = MimeTypes::allowed(false);
        for (name, head, expected) in rows {
            let found = check(name, head, &allowed);
            assert_eq!(found.as_ref().map(|k| (k.name.as_str(), k.mime.as_str())), *expected, "{name}");
        }
    }
}
