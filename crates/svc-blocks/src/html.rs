//! Names of classes and elements.

/// Joins class names; empty ones are omitted.
pub(crate) fn classes(parts: &[&str]) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The element name of a heading; level 0 is a paragraph.
pub(crate) fn heading(level: i64) -> String {
    if level == 0 { "p".to_owned() } else { format!("h{}", level.clamp(1, 6)) }
}
