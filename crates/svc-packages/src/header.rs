//! Header comments: the lines `Name: value` at the beginning of a theme's `style.css`, a plugin's main file, a pattern.
//! Nothing is executed.

use std::{fs, io::Read, path::Path};

/// A header stands in this many bytes at the beginning of its file.
const HEADER_BYTES: u64 = 8 << 10;

/// The beginning of a file: the part that may hold a header. `None` for one that cannot be read; bytes that are no
/// UTF-8 are replaced.
pub fn read(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    fs::File::open(path).ok()?.take(HEADER_BYTES).read_to_end(&mut head).ok()?;
    Some(String::from_utf8_lossy(&head).into_owned())
}

/// The value of the first line `Name: value`, whatever comment marks stand before it. Names differ by more than case.
pub fn field(text: &str, name: &str) -> Option<String> {
    text.split(['\n', '\r']).find_map(|line| {
        let line = line.trim_start_matches([' ', '\t']);
        let line = line.strip_prefix("<?php").unwrap_or(line).trim_start_matches([' ', '\t', '/', '*', '#', '@']);
        let (key, value) = line.split_once(':')?;
        if !key.eq_ignore_ascii_case(name) {
            return None;
        }
        let end = [value.find("*/"), value.find("?>")].into_iter().flatten().min().unwrap_or(value.len());
        let value = value[..end].trim();
        (!value.is_empty()).then(|| value.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_whatever_decorates_its_line() {
        let found = [
            "<?php /* Plugin Name: Wide */",
            " * plugin name: Wide",
            "// Plugin Name:   Wide  ?>",
            "x\rPlugin Name: Wide\ry",
        ];
        for text in found {
            assert_eq!(field(text, "Plugin Name").as_deref(), Some("Wide"), "{text}");
        }
        for text in ["Plugin Name:", "Some Plugin Name: x", "Plugin Name"] {
            assert_eq!(field(text, "Plugin Name"), None, "{text}");
        }
    }
}
