//! Quotes names in statements that are texts.

/// Quotes a name in a way that both engines understand. Names never contain quotes.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Quotes names and joins them with commas.
pub(crate) fn quoted_list(names: &[&str]) -> String {
    names.iter().map(|n| quoted(n)).collect::<Vec<_>>().join(",")
}
