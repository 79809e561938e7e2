//! File names, and the MIME types of their extensions.

use std::borrow::Cow;

use crate::{accents::remove_accents, trim::collapse};

/// Known extensions and MIME types, in the order of WordPress. Alternatives are separated by `|`.
#[rustfmt::skip]
const KNOWN: &[(&str, &str)] = &[
    ("jpg|jpeg|jpe", "image/jpeg"),
    ("gif", "image/gif"),
    ("png", "image/png"),
    ("bmp", "image/bmp"),
    ("tiff|tif", "image/tiff"),
    ("webp", "image/webp"),
    ("avif", "image/avif"),
    ("ico", "image/x-icon"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("heics", "image/heic-sequence"),
    ("heifs", "image/heif-sequence"),
    ("asf|asx", "video/x-ms-asf"),
    ("wmv", "video/x-ms-wmv"),
    ("wmx", "video/x-ms-wmx"),
    ("wm", "video/x-ms-wm"),
    ("avi", "video/avi"),
    ("divx", "video/divx"),
    ("flv", "video/x-flv"),
    ("mov|qt", "video/quicktime"),
    ("mpeg|mpg|mpe", "video/mpeg"),
    ("mp4|m4v", "video/mp4"),
    ("ogv", "video/ogg"),
    ("webm", "video/webm"),
    ("mkv", "video/x-matroska"),
    ("3gp|3gpp", "video/3gpp"),
    ("3g2|3gp2", "video/3gpp2"),
    ("txt|asc|c|cc|h|srt", "text/plain"),
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("ics", "text/calendar"),
    ("rtx", "text/richtext"),
    ("css", "text/css"),
    ("htm|html", "text/html"),
    ("vtt", "text/vtt"),
    ("dfxp", "application/ttaf+xml"),
    ("mp3|m4a|m4b", "audio/mpeg"),
    ("aac", "audio/aac"),
    ("ra|ram", "audio/x-realaudio"),
    ("wav|x-wav", "audio/wav"),
    ("ogg|oga", "audio/ogg"),
    ("flac", "audio/flac"),
    ("mid|midi", "audio/midi"),
    ("wma", "audio/x-ms-wma"),
    ("wax", "audio/x-ms-wax"),
    ("mka", "audio/x-matroska"),
    ("rtf", "application/rtf"),
    ("js", "application/javascript"),
    ("pdf", "application/pdf"),
    ("swf", "application/x-shockwave-flash"),
    ("class", "application/java"),
    ("tar", "application/x-tar"),
    ("zip", "application/zip"),
    ("gz|gzip", "application/x-gzip"),
    ("rar", "application/rar"),
    ("7z", "application/x-7z-compressed"),
    ("exe", "application/x-msdownload"),
    ("psd", "application/octet-stream"),
    ("xcf", "application/octet-stream"),
    ("doc", "application/msword"),
    ("pot|pps|ppt", "application/vnd.ms-powerpoint"),
    ("wri", "application/vnd.ms-write"),
    ("xla|xls|xlt|xlw", "application/vnd.ms-excel"),
    ("mdb", "application/vnd.ms-access"),
    ("mpp", "application/vnd.ms-project"),
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("docm", "application/vnd.ms-word.document.macroEnabled.12"),
    ("dotx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template"),
    ("dotm", "application/vnd.ms-word.template.macroEnabled.12"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("xlsm", "application/vnd.ms-excel.sheet.macroEnabled.12"),
    ("xlsb", "application/vnd.ms-excel.sheet.binary.macroEnabled.12"),
    ("xltx", "application/vnd.openxmlformats-officedocument.spreadsheetml.template"),
    ("xltm", "application/vnd.ms-excel.template.macroEnabled.12"),
    ("xlam", "application/vnd.ms-excel.addin.macroEnabled.12"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("pptm", "application/vnd.ms-powerpoint.presentation.macroEnabled.12"),
    ("ppsx", "application/vnd.openxmlformats-officedocument.presentationml.slideshow"),
    ("ppsm", "application/vnd.ms-powerpoint.slideshow.macroEnabled.12"),
    ("potx", "application/vnd.openxmlformats-officedocument.presentationml.template"),
    ("potm", "application/vnd.ms-powerpoint.template.macroEnabled.12"),
    ("ppam", "application/vnd.ms-powerpoint.addin.macroEnabled.12"),
    ("sldx", "application/vnd.openxmlformats-officedocument.presentationml.slide"),
    ("sldm", "application/vnd.ms-powerpoint.slide.macroEnabled.12"),
    ("onetoc|onetoc2|onetmp|onepkg", "application/onenote"),
    ("oxps", "application/oxps"),
    ("xps", "application/vnd.ms-xpsdocument"),
    ("odt", "application/vnd.oasis.opendocument.text"),
    ("odp", "application/vnd.oasis.opendocument.presentation"),
    ("ods", "application/vnd.oasis.opendocument.spreadsheet"),
    ("odg", "application/vnd.oasis.opendocument.graphics"),
    ("odc", "application/vnd.oasis.opendocument.chart"),
    ("odb", "application/vnd.oasis.opendocument.database"),
    ("odf", "application/vnd.oasis.opendocument.formula"),
    ("wp|wpd", "application/wordperfect"),
    ("key", "application/vnd.apple.keynote"),
    ("numbers", "application/vnd.apple.numbers"),
    ("pages", "application/vnd.apple.pages"),
];

/// Known extensions that no user may upload.
const NEVER: &[&str] = &["swf", "exe"];
/// Known extensions that only users who may write unfiltered HTML may upload.
const UNFILTERED: &[&str] = &["htm|html", "js"];

/// A list of extensions and their MIME types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MimeTypes(Vec<(Cow<'static, str>, Cow<'static, str>)>);

impl MimeTypes {
    /// All known types. Source: `wp_get_mime_types`.
    pub fn known() -> Self {
        MimeTypes(KNOWN.iter().map(|(e, t)| (Cow::Borrowed(*e), Cow::Borrowed(*t))).collect())
    }

    /// The types that may be uploaded. `unfiltered_html` adds those for users who may write unfiltered HTML.
    ///
    /// Source: `get_allowed_mime_types`.
    pub fn allowed(unfiltered_html: bool) -> Self {
        let mut types = Self::known();
        types.0.retain(|(e, _)| !NEVER.contains(&&**e) && (unfiltered_html || !UNFILTERED.contains(&&**e)));
        types
    }

    /// Adds a type, or replaces the type of the same extensions. `extensions` is a single extension, or several
    /// separated by `|`.
    #[must_use]
    pub fn with(mut self, extensions: impl Into<String>, mime: impl Into<String>) -> Self {
        let (extensions, mime) = (extensions.into(), mime.into());
        match self.0.iter_mut().find(|(e, _)| **e == extensions) {
            Some(row) => row.1 = Cow::Owned(mime),
            None => self.0.push((Cow::Owned(extensions), Cow::Owned(mime))),
        }
        self
    }

    /// Extensions (separated by `|`) and types, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(e, t)| (&**e, &**t))
    }

    /// The MIME type of an extension, ignoring case.
    pub fn of_extension(&self, extension: &str) -> Option<&str> {
        self.iter().find(|(e, _)| e.split('|').any(|e| e.eq_ignore_ascii_case(extension))).map(|(_, t)| t)
    }
}

/// The extension (as written) and MIME type of a file name, if the list has them. Source: `wp_check_filetype`.
pub fn check_filetype<'a>(name: &'a str, types: &'a MimeTypes) -> Option<(&'a str, &'a str)> {
    let name = name.strip_suffix('\n').unwrap_or(name);
    let (_, extension) = name.rsplit_once('.')?;
    types.of_extension(extension).map(|mime| (extension, mime))
}

/// Characters with a special meaning in file systems, shells or URLs.
const SPECIAL: &str = "?[]/\\=<>:;,'\"&$#*()|~`!{}%+\u{2019}«»”“\0";

/// Makes a file name safe for file systems and URLs. May return an empty string.
///
/// Accents and special characters are removed, spaces become dashes. Inner extensions that are not allowed get a `_`,
/// so that web servers do not run `x.php.jpg`. Source: `sanitize_file_name`.
pub fn sanitize_file_name(name: &str, allowed: &MimeTypes) -> String {
    let plain = remove_accents(name, "en_US").replace(is_wide_space, " ").replace(|c| SPECIAL.contains(c), "");
    let plain = collapse(&plain, |c| c == '.', '.');
    let plain = collapse(&plain, |c| matches!(c, '\r' | '\n' | '\t' | ' ' | '-'), '-');
    let plain = plain.trim_matches(['.', '-', '_']);
    let mut parts = plain.split('.');
    let (first, rest) = (parts.next().unwrap_or_default(), parts.collect::<Vec<_>>());
    let Some((extension, inner)) = rest.split_last() else {
        // The name has no dot, so it may be only an extension.
        let known = MimeTypes::known().of_extension(plain).is_some();
        return if known { format!("unnamed-file.{plain}") } else { plain.to_owned() };
    };
    let mut out = first.to_owned();
    for part in inner {
        out.push('.');
        out.push_str(part);
        if looks_like_extension(part) && allowed.of_extension(part).is_none() {
            out.push('_');
        }
    }
    out.push('.');
    out.push_str(extension);
    out
}

/// Two to five letters, optionally followed by a digit.
fn looks_like_extension(part: &str) -> bool {
    let letters = part.strip_suffix(|c: char| c.is_ascii_digit()).unwrap_or(part);
    (2..=5).contains(&letters.len()) && letters.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Unicode's space separators, except the ASCII space.
fn is_wide_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// The last component of a path with `/` or `\`, without `suffix` unless that is the whole component. Source:
/// `wp_basename`.
pub fn basename<'a>(path: &'a str, suffix: &str) -> &'a str {
    let path = path.trim_end_matches(['/', '\\']);
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    match name.strip_suffix(suffix) {
        Some(stem) if !stem.is_empty() => stem,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let allowed = MimeTypes::allowed(false);
        for (name, expected) in [
            ("a.php.jpg", "a.php_.jpg"),
            ("a.php5.jpg", "a.php5_.jpg"),
            ("a.png.jpg", "a.png.jpg"),
            ("x.tar.gz", "x.tar.gz"),
            ("../../etc/passwd", "etcpasswd"),
            ("a  b\u{3000}- c..jpg", "a-b-c.jpg"),
            ("jpg", "unnamed-file.jpg"),
            (".htaccess", "htaccess"),
            ("é(1).webp", "e1.webp"),
            ("...", ""),
        ] {
            assert_eq!(sanitize_file_name(name, &allowed), expected, "{name}");
        }
        assert_eq!(sanitize_file_name("a.html.jpg", &allowed), "a.html_.jpg");
        assert_eq!(sanitize_file_name("a.html.jpg", &MimeTypes::allowed(true)), "a.html.jpg");
    }

    #[test]
    fn types() {
        let allowed = MimeTypes::allowed(false);
        assert_eq!(check_filetype("a.b.JPG", &allowed), Some(("JPG", "image/jpeg")));
        for none in ["jpg", "a.exe", "a.html", "a.jpg ", ""] {
            assert_eq!(check_filetype(none, &allowed), None, "{none}");
        }
        let more = allowed.with("svg", "image/svg+xml").with("gif", "image/x-gif");
        assert_eq!(check_filetype("a.svg", &more), Some(("svg", "image/svg+xml")));
        assert_eq!(more.of_extension("gif"), Some("image/x-gif"));
    }

    #[test]
    fn base_names() {
        for (path, expected) in [("/a/b/", "b"), ("a\\b.jpg", "b"), (".jpg", ".jpg"), ("/", ""), ("é/ü.jpg", "ü")] {
            assert_eq!(basename(path, ".jpg"), expected, "{path}");
        }
    }
}
