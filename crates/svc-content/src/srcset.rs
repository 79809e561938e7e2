//! The files of an image in several sizes, for `srcset` and `sizes`.

use svc_text::{esc_attr, html};

/// Maximum width of listed files, except for the displayed one.
const MAX_WIDTH: u64 = 2048;

/// An image attachment and its files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image {
    /// URL of the uploads directory, without a trailing slash.
    pub uploads_url: String,
    /// Path of the full-size file in that directory (`2024/03/a.jpg`).
    pub file: String,
    /// Width of the full-size image, in pixels.
    pub width: u64,
    /// Height of the full-size image, in pixels.
    pub height: u64,
    /// Its other files, in the order of its metadata.
    pub sizes: Vec<ImageSize>,
}

/// Another file of an image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImageSize {
    /// File name, in the same directory.
    pub file: String,
    /// Width in pixels.
    pub width: u64,
    /// Height in pixels.
    pub height: u64,
    /// Media type.
    pub mime_type: String,
}

impl Image {
    /// Width and height of the file of a URL. Source: `wp_image_src_get_dimensions`.
    pub fn dimensions(&self, src: &str) -> Option<(u64, u64)> {
        if !self.file.is_empty() && src.contains(basename(&self.file)) {
            return Some((self.width, self.height));
        }
        let name = basename(src);
        self.sizes.iter().find(|size| size.file == name).map(|size| (size.width, size.height))
    }

    /// All files with the aspect ratio of the displayed one, which is first; `None` if there are no others.
    ///
    /// `displayed` is the displayed width and height. Source: `wp_calculate_image_srcset`.
    pub fn srcset(&self, src: &str, displayed: (u64, u64)) -> Option<String> {
        if self.sizes.is_empty() || self.file.is_empty() || displayed.0 == 0 {
            return None;
        }
        let full_size_name = basename(&self.file);
        let folder = self.file.strip_suffix(full_size_name).unwrap_or_default();
        let full_size = ImageSize {
            file: full_size_name.to_owned(),
            width: self.width,
            height: self.height,
            mime_type: String::new(),
        };
        // Resized files of animated images are not animated, so the full-size file is not an alternative to them.
        let only_stills = self.sizes.iter().any(|size| size.mime_type == "image/gif") && !src.contains(full_size_name);
        let edit = edit_mark(basename(src));
        let mut found = false;
        let mut sources: Vec<(u64, String)> = Vec::new();
        for size in self.sizes.iter().chain((!only_stills).then_some(&full_size)) {
            if edit.is_some_and(|edit| !size.file.contains(edit)) {
                continue;
            }
            let is_displayed = !found && src.contains(&format!("{folder}{}", size.file));
            found |= is_displayed;
            if size.width > MAX_WIDTH && !is_displayed || !same_ratio(displayed, (size.width, size.height)) {
                continue;
            }
            let source = format!("{}/{folder}{} {}w", self.uploads_url, size.file, size.width);
            let existing = sources.iter().position(|(width, _)| *width == size.width);
            match existing {
                Some(at) => sources[at].1 = source,
                None if is_displayed => sources.insert(0, (size.width, source)),
                None => sources.push((size.width, source)),
            }
        }
        let all: Vec<String> = sources.into_iter().map(|(_, source)| source).collect();
        (found && all.len() > 1).then(|| all.join(", "))
    }

    /// Adds missing dimensions, `srcset` and `sizes` to a tag.
    pub(crate) fn complete(&self, tag: &str) -> String {
        let mut tag = tag.to_owned();
        let Some(src) = attribute(&tag, "src").map(str::to_owned) else { return tag };
        if !tag.contains(" width=") && !tag.contains(" height=") {
            let plain = src.split('?').next().unwrap_or_default();
            if let Some((width, height)) = self.dimensions(plain) {
                let (width, height) = scaled_to_style(&tag, width, height);
                tag = tag.replacen("<img", &html!("<img width=\"{}\" height=\"{}\"", width, height), 1);
            }
        }
        if tag.contains(" srcset=") || edit_mark(&self.file).is_some_and(|edit| !basename(&src).contains(edit)) {
            return tag;
        }
        let number = |name: &str| attribute(&tag, name).and_then(|value| value.parse().ok()).filter(|n: &u64| *n > 0);
        let displayed = number("width").zip(number("height")).or_else(|| self.dimensions(&src));
        let Some((displayed, srcset)) =
            displayed.and_then(|displayed| Some((displayed, self.srcset(&src, displayed)?)))
        else {
            return tag;
        };
        let mut attributes = html!(" srcset=\"{}\"", esc_attr(&srcset));
        if !tag.contains(" sizes=") {
            attributes.push(html!(" sizes=\"{}\"", esc_attr(&sizes(displayed.0))));
        }
        let inside = tag.trim_end_matches('>').trim_end_matches(['/', ' ']);
        format!("{inside}{attributes} />")
    }
}

/// The `sizes` of an image with this width. Source: `wp_calculate_image_sizes`.
pub fn sizes(width: u64) -> String {
    format!("(max-width: {width}px) 100vw, {width}px")
}

/// The dimensions scaled to the width in the tag's `style`.
fn scaled_to_style(tag: &str, width: u64, height: u64) -> (u64, u64) {
    let style_width = || {
        let (_, style) = tag.split_once("style=\"width:")?;
        let style = style.trim_start();
        style.split_once("px;\"")?.0.parse::<u64>().ok().filter(|n| *n > 0)
    };
    match style_width() {
        Some(style_width) if width > 0 => (style_width, scaled(height, style_width, width)),
        _ => (width, height),
    }
}

fn scaled(length: u64, to: u64, from: u64) -> u64 {
    (length as f64 * to as f64 / from as f64).round() as u64
}

/// The last component of a path or URL.
fn basename(path: &str) -> &str {
    svc_text::basename(path, "")
}

/// The value of an attribute in double quotes.
fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next().filter(|value| !value.is_empty())
}

/// The suffix of an edited image in a file name: `-e` and thirteen digits.
fn edit_mark(name: &str) -> Option<&str> {
    name.match_indices("-e").map(|(at, _)| &name[at..]).find_map(|rest| {
        let mark = rest.get(..15)?;
        mark[2..].bytes().all(|b| b.is_ascii_digit()).then_some(mark)
    })
}

/// Whether two sizes have the same aspect ratio within one pixel. Source: `wp_image_matches_ratio`.
fn same_ratio(a: (u64, u64), b: (u64, u64)) -> bool {
    let (large, small) = if a.0 > b.0 { (a, b) } else { (b, a) };
    if large.0 == 0 {
        return false;
    }
    let height = scaled(large.1, small.0, large.0).max(1);
    height.abs_diff(small.1) <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        let size =
            |file: &str, width, height| ImageSize { file: file.to_owned(), width, height, ..ImageSize::default() };
        Image {
            uploads_url: "http://e.org/u".to_owned(),
            file: "2024/a.png".to_owned(),
            width: 400,
            height: 260,
            sizes: vec![size("a-300x195.png", 300, 195), size("a-150x150.png", 150, 150)],
        }
    }

    #[test]
    fn missing_attributes_are_added() {
        let set = "srcset=\"http://e.org/u/2024/a.png 400w, http://e.org/u/2024/a-300x195.png 300w\"";
        let sizes = "sizes=\"(max-width: 400px) 100vw, 400px\"";
        let src = "src=\"http://e.org/u/2024/a.png\"";
        for (tag, expected) in [
            (format!("<img {src}>"), format!("<img width=\"400\" height=\"260\" {src} {set} {sizes} />")),
            (format!("<img {src} width=\"100\" />"), format!("<img {src} width=\"100\" {set} {sizes} />")),
            (format!("<img {src} sizes=\"x\" width=\"1\">"), format!("<img {src} sizes=\"x\" width=\"1\" {set} />")),
            (format!("<img {src} width=\"9\" height=\"9\">"), format!("<img {src} width=\"9\" height=\"9\">")),
            (
                format!("<img {src} style=\"width: 200px;\" srcset=\"x\">"),
                format!("<img width=\"200\" height=\"130\" {src} style=\"width: 200px;\" srcset=\"x\">"),
            ),
            ("<img src=\"http://x/y.png\">".to_owned(), "<img src=\"http://x/y.png\">".to_owned()),
            ("<img>".to_owned(), "<img>".to_owned()),
        ] {
            assert_eq!(image().complete(&tag), expected, "{tag}");
        }
    }

    #[test]
    fn edited_files_are_no_alternatives() {
        assert_eq!(edit_mark("a-e1234567890123-300x2.png"), Some("-e1234567890123"));
        assert_eq!(edit_mark("a-e123.png"), None);
        let mut edited = image();
        edited.sizes[0].file = "a-e1234567890123-300x195.png".to_owned();
        assert_eq!(edited.srcset("http://e.org/u/2024/a-e1234567890123-300x195.png", (300, 195)), None);
    }
}
