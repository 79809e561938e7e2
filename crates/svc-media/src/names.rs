//! Unique file names within a folder.

use std::collections::HashSet;

/// Returns whether the stem ends like a file derived from an image (`-150x150`, `-scaled`, …).
fn is_derived(stem: &str) -> bool {
    let Some((_, last)) = stem.rsplit_once('-') else { return false };
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    matches!(last, "scaled" | "rotated") || last.split_once('x').is_some_and(|(w, h)| digits(w) && digits(h))
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
    suffix: u32,
}

impl Candidates {
    /// Creates an iterator for `name`, given the names in the folder.
    pub(crate) fn new(name: &str, folder: impl IntoIterator<Item = String>) -> Self {
        let (stem, ending) = split_extension(name);
        let mut taken = HashSet::new();
        for name in folder {
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
        Candidates { stem: stem.to_owned(), ending: ending.to_ascii_lowercase(), taken, suffix }
    }
}

impl Iterator for Candidates {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        loop {
            let suffix = self.suffix;
            self.suffix = suffix.checked_add(1)?;
            let name = match suffix {
                0 => format!("{}{}", self.stem, self.ending),
                n => format!("{}-{n}{}", self.stem, self.ending),
            };
            if !self.taken.contains(&name.to_ascii_lowercase()) {
                return Some(name);
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
            let found = Candidates::new(requested, folder.iter().map(|n| (*n).to_owned())).next();
            assert_eq!(found.as_deref(), Some(expected), "{requested}");
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
