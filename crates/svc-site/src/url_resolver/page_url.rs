//! The path and the query of a page's URL.

/// Maximum number of query parameters; further ones are ignored.
const MAX_PAIRS: usize = 100;

/// The path of a page's URL, and its query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageUrl {
    /// The path, percent-encoded.
    pub path: String,
    /// The decoded parameters, in order.
    pub query: Vec<(String, String)>,
}

impl PageUrl {
    /// A URL with this path and query, both as sent. Parameters are decoded.
    pub fn new(path: &str, query: &str) -> Self {
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let pair = |p: &str| p.split_once('=').map_or((decode(p), String::new()), |(k, v)| (decode(k), decode(v)));
        let pairs = query.split('&').filter(|p| !p.is_empty()).take(MAX_PAIRS);
        PageUrl { path: path.to_owned(), query: pairs.map(pair).collect() }
    }

    /// The last value of a parameter, as in PHP.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.query.iter().rev().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }

    /// Whether the query has a parameter with this name.
    pub fn has(&self, name: &str) -> bool {
        self.query.iter().any(|(k, _)| k == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_the_last_value_counts() {
        let url = PageUrl::new("/a%20b/", "s=x+y&s=caf%C3%A9&&flag");
        assert_eq!((url.path.as_str(), url.value("s"), url.value("flag")), ("/a%20b/", Some("café"), Some("")));
        assert!(url.has("flag") && !url.has("other"));
        assert_eq!(PageUrl::new("/", &"a=1&".repeat(MAX_PAIRS + 5)).query.len(), MAX_PAIRS);
    }
}
