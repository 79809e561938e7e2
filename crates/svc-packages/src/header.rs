//! File headers: lines of the form `Name: value` at the beginning of a theme's `style.css`, a plugin's main file, or a
//! pattern. No code is executed.

use std::{fs, io::Read, path::Path};

/// Number of bytes at the beginning of a file that may contain its header.
const HEADER_BYTES: u64 = 8 << 10;

/// Reads the beginning of a file, which contains its header. `None` if the file cannot be read. Invalid UTF-8 is
/// replaced.
pub fn read(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    fs::File::open(path).ok()?.take(HEADER_BYTES).read_to_end(&mut head).ok()?;
    Some(String::from_utf8_lossy(&head).into_owned())
}

/// The value of the first line `Name: value`, which may follow comment markers. Names are compared without regard to
/// case.
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
    fn finds_fields_after_comment_markers() {
        let headers = [
            "<?php /* Plugin Name: Wide */",
            " * plugin name: Wide",
            "// Plugin Name:   Wide  ?>",
            "x\rPlugin Name: Wide\ry",
        ];
        for text in headers {
            assert_eq!(field(text, "Plugin Name").as_deref(), Some("Wide"), "{text}");
        }
        for text in ["Plugin Name:", "Some Plugin Name: x", "Plugin Name"] {
            assert_eq!(field(text, "Plugin Name"), None, "{text}");
        }
    }
}
