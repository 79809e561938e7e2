//! Unique file names within a folder.

use std::collections::HashSet;

/// Returns whether the stem ends like a file derived from an image (`-150x150`, `-scaled`, …).
fn is_derived(stem: &str) -> bool {
    let Some((_, last)) = stem.rsplit_once('-') else { return false };
    matches!(last, "scaled" | "rotated") || is_dimensions(last)
}

/// Returns whether the text is a width and a height: `150x150`.
fn is_dimensions(text: &str) -> bool {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    text.split_once('x').is_some_and(|(w, h)| digits(w) && digits(h))
}

/// How the name of a new file is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Naming<'a> {
    /// The file that the new one is derived from. A name such as `photo-150x150.jpg` is then used as it is for a file
    /// derived from `photo.jpg`, unless it is taken. Other files with such a name get a number.
    pub derived_from: Option<&'a str>,
    /// Whether images may be converted to other formats: `photo.jpg` is then not a free name if there is a `photo.heic`,
    /// which sizes in JPEG could be generated from. Source: `wp_get_image_editor_output_format`.
    pub converts: bool,
}

/// Extensions of images that could have the same names for their sizes, because these formats are converted to JPEG.
fn alternatives(ending: &str) -> &'static [&'static str] {
    match ending {
        ".jpg" | ".jpeg" | ".jpe" => &[".heic", ".heif", ".heics", ".heifs"],
        ".heic" | ".heif" | ".heics" | ".heifs" => &[".jpg", ".heic", ".heif", ".heics", ".heifs"],
        _ => &[],
    }
}

/// Splits a file name into its stem and its extension, including the dot. The extension is empty if there is none.
pub fn split_extension(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(at) if at > 0 => name.split_at(at),
        _ => (name, ""),
    }
}

/// Iterator over names close to a requested one: `a.png`, `a-1.png`, `a-2.png`, …
///
/// It skips names that exist in the folder, ignoring case, and names that files derived from other images could clash
/// with. Source: `wp_unique_filename`.
#[derive(Debug)]
pub(crate) struct Candidates {
    stem: String,
    ending: String,
    taken: HashSet<String>,
    /// Extensions with which a name must be free as well.
    alternatives: &'static [&'static str],
    /// A name to return first, even if it could clash with others.
    first: Option<String>,
    suffix: u32,
}

impl Candidates {
    /// Creates an iterator for `name`, given the names in the folder.
    pub(crate) fn new(name: &str, folder: impl IntoIterator<Item = String>, naming: Naming<'_>) -> Self {
        let (stem, ending) = split_extension(name);
        let lower_ending = ending.to_ascii_lowercase();
        let is_own = |original: &str| {
            let own = stem.strip_prefix(split_extension(original).0).and_then(|end| end.strip_prefix('-'));
            own.is_some_and(|end| end == "scaled" || is_dimensions(end)) && !ending.is_empty()
        };
        let mut first =
            naming.derived_from.filter(|original| is_own(original)).map(|_| format!("{stem}{lower_ending}"));
        let mut taken = HashSet::new();
        for name in folder {
            first = first.filter(|first| *first != name);
            let name = name.to_ascii_lowercase();
            let (stem, ending) = split_extension(&name);
            if is_derived(stem)
                && let Some((original, _)) = stem.rsplit_once('-')
            {
                taken.insert(format!("{original}{ending}"));
            }
            taken.insert(name);
        }
        let suffix = u32::from(is_derived(stem));
        let alternatives = if naming.converts { alternatives(&lower_ending) } else { &[] };
        Candidates { stem: stem.to_owned(), ending: lower_ending, taken, alternatives, first, suffix }
    }
}

impl Iterator for Candidates {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            let suffix = self.suffix;
            self.suffix = suffix.checked_add(1)?;
            let stem = match suffix {
                0 => self.stem.clone(),
                n => format!("{}-{n}", self.stem),
            };
            let is_free = |ending: &str| !self.taken.contains(&format!("{stem}{ending}").to_ascii_lowercase());
            if is_free(&self.ending) && self.alternatives.iter().all(|ending| is_free(ending)) {
                return Some(format!("{stem}{}", self.ending));
            }
        }
    }
}

/// The name of an edited copy: `a-edited.png`, also for a copy of a copy. It is not necessarily unique.
pub fn edited_name(name: &str) -> String {
    let (stem, ending) = split_extension(name);
    let plain = match stem.rsplit_once("-edited") {
        Some((plain, "")) => plain,
        Some((plain, suffix)) if suffix.strip_prefix('-').is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit())) => {
            plain
        }
        _ => stem,
    };
    format!("{plain}-edited{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unique_names() {
        let folder = ["a.png", "B.PNG", "c-150x150.png", "d-scaled.jpg", "e.png", "e-1.png"];
        for (requested, expected) in [
            ("x.PNG", "x.png"),
            ("a.png", "a-1.png"),
            ("A.png", "A-1.png"),
            ("b.png", "b-1.png"),
            ("c.png", "c-1.png"),
            ("c.jpg", "c.jpg"),
            ("d.jpg", "d-1.jpg"),
            ("e.png", "e-2.png"),
            ("f-150x150.png", "f-150x150-1.png"),
            ("f-rotated.png", "f-rotated-1.png"),
            ("f-1x.png", "f-1x.png"),
            ("none", "none"),
        ] {
            let folder = folder.iter().map(|n| (*n).to_owned());
            let found = Candidates::new(requested, folder, Naming::default()).next();
            assert_eq!(found.as_deref(), Some(expected), "{requested}");
        }
    }

    #[test]
    fn names_of_derived_files_need_no_number() {
        let folder = ["photo.jpg", "photo-150x150.jpg", "photo-scaled.jpg", "a-2.png"];
        for (requested, original, expected) in [
            ("photo-300x200.jpg", "photo.jpg", &["photo-300x200.jpg", "photo-300x200-1.jpg"][..]),
            ("photo-150x150.jpg", "photo.jpg", &["photo-150x150-1.jpg", "photo-150x150-2.jpg"]),
            ("photo-150x150.JPG", "photo.jpg", &["photo-150x150-1.jpg"]),
            ("photo-300x200.png", "photo.jpg", &["photo-300x200.png"]),
            ("photo-scaled.jpg", "photo.jpg", &["photo-scaled-1.jpg"]),
            ("photo-rotated.jpg", "photo.jpg", &["photo-rotated-1.jpg"]),
            ("photo-300x200.jpg", "photo-scaled.jpg", &["photo-300x200-1.jpg"]),
            ("other-300x200.jpg", "photo.jpg", &["other-300x200-1.jpg"]),
            ("photo-300x200", "photo.jpg", &["photo-300x200-1"]),
            ("a-2-scaled.png", "a-2.png", &["a-2-scaled.png"]),
            ("photo.jpg", "photo.jpg", &["photo-1.jpg"]),
        ] {
            let folder = folder.iter().map(|n| (*n).to_owned());
            let naming = Naming { derived_from: Some(original), converts: false };
            let found: Vec<String> = Candidates::new(requested, folder, naming).take(expected.len()).collect();
            assert_eq!(found, expected, "{requested} for {original}");
        }
    }

    #[test]
    fn names_of_images_that_are_converted_do_not_clash() {
        let folder = ["a.jpg", "b.heic", "c.jpg", "c-1.heic", "d.png"];
        for (requested, converted, unconverted) in [
            ("a.heic", "a-1.heic", "a.heic"),
            ("b.jpg", "b-1.jpg", "b.jpg"),
            ("b.jpeg", "b-1.jpeg", "b.jpeg"),
            ("c.heif", "c-2.heif", "c.heif"),
            ("c.heic", "c-2.heic", "c.heic"),
            ("d.jpg", "d.jpg", "d.jpg"),
        ] {
            for (converts, expected) in [(true, converted), (false, unconverted)] {
                let folder = folder.iter().map(|n| (*n).to_owned());
                let naming = Naming { derived_from: None, converts };
                let found = Candidates::new(requested, folder, naming).next();
                assert_eq!(found.as_deref(), Some(expected), "{requested} {converts}");
            }
        }
    }

    #[test]
    fn names_of_edited_copies() {
        for (name, expected) in [
            ("a.png", "a-edited.png"),
            ("a-edited.png", "a-edited.png"),
            ("a-edited-3.png", "a-edited.png"),
            ("a-edited-x.png", "a-edited-x-edited.png"),
        ] {
            assert_eq!(edited_name(name), expected);
        }
    }
}
