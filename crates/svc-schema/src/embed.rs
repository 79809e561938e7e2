//! The `_embed` parameter: which link relations are embedded.

use serde_json::Value;
use svc_php::{
    cast::truthy,
    list::{TooManyItems, parse_text_list},
};

/// The relations to embed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Embed {
    /// All of them.
    All,
    /// These relations.
    Some(Vec<String>),
}

impl Embed {
    /// Whether a relation is embedded.
    pub fn includes(&self, relation: &str) -> bool {
        match self {
            Embed::All => true,
            Embed::Some(names) => names.iter().any(|n| n == relation),
        }
    }
}

/// Parses the value of `_embed` (null if it is missing): empty, `true` and `1` mean all, anything else is a list of
/// names.
///
/// The boolean true and the integer 1, which cannot occur in a query string, select the relation `1`, as in WordPress.
/// Source: specification, "Embedding".
///
/// # Errors
/// [`TooManyItems`] for a list that is too long.
pub fn parse_embed(value: &Value) -> Result<Embed, TooManyItems> {
    if !truthy(value) || matches!(value.as_str(), Some("true" | "1")) {
        return Ok(Embed::All);
    }
    let names = parse_text_list(value)?;
    Ok(if names.is_empty() { Embed::All } else { Embed::Some(names) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_or_named() {
        for value in
            [json!(null), json!(""), json!("true"), json!("1"), json!("0"), json!([]), json!([[1]]), json!(" ,")]
        {
            assert_eq!(parse_embed(&value), Ok(Embed::All), "{value}");
        }
        let named = parse_embed(&json!("author, wp:term")).unwrap();
        assert_eq!(named, Embed::Some(vec!["author".to_owned(), "wp:term".to_owned()]));
        assert!(named.includes("author") && !named.includes("up"));
    }
}
