//! Rewrites recordings, which use the brand `wp`, for another brand.
//!
//! The table is not derived from `svc-brand`, so that it checks that crate as well.

use anyhow::{Context, Result};
use fancy_regex::Regex;
use serde_json::{Map, Value};

/// The brand word of the recordings.
pub(crate) const RECORDED: &str = "wp";

/// Names in paths, bodies and header values: a text that each occurrence contains, the pattern, the replacement
/// (`{b}` is the brand word, `{B}` the same in upper case). URLs inside of URLs have percent-encoded slashes.
#[rustfmt::skip]
const TEXTS: &[(&str, &str, &str)] = &[
    ("v2",        r"(?:\b|(?<=%2F))wp(/|%2F)v2\b",                   "{b}${1}v2"),
    ("wp-",       r"\bwp-(site-health|block-editor|abilities)/v1\b", "{b}-${1}/v1"),
    ("wp-json",   r"(?:\b|(?<=%2F))wp-json\b",                       "{b}-json"),
    ("_wpnonce",  r"\b_wpnonce\b",                                   "_{b}nonce"),
    ("X-WP-",     r"\bX-WP-",                                        "X-{B}-"),
    ("rel=\"wp:", "\\brel=\"wp:",                                    "rel=\"{b}:"),
];

/// Rewrites recordings and requests for a brand.
pub(crate) struct BrandRules {
    word: String,
    /// Empty under the recorded brand.
    texts: Vec<(&'static str, Regex, String)>,
    /// Link relations in a query, such as those to embed.
    relations: Regex,
}

impl BrandRules {
    pub(crate) fn new(word: &str) -> Result<Self> {
        let rule = |&(contains, pattern, replacement): &(&'static str, &str, &str)| {
            let pattern = Regex::new(pattern).with_context(|| format!("cannot read the pattern {pattern}"))?;
            Ok((contains, pattern, replacement.replace("{b}", word).replace("{B}", &word.to_ascii_uppercase())))
        };
        let texts: Result<Vec<_>> = TEXTS.iter().filter(|_| word != RECORDED).map(rule).collect();
        let relations = Regex::new(r"([=,]|%2C)wp(:|%3A)").context("the pattern of relations can be read")?;
        Ok(BrandRules { word: word.to_owned(), texts: texts?, relations })
    }

    fn is_recorded(&self) -> bool {
        self.word == RECORDED
    }

    pub(crate) fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (contains, pattern, replacement) in &self.texts {
            if text.contains(contains) {
                text = pattern.replace_all(&text, replacement.as_str()).into_owned();
            }
        }
        text
    }

    /// An encoded query.
    pub(crate) fn query(&self, query: &str) -> String {
        let relation = format!("${{1}}{}${{2}}", self.word);
        self.relations.replace_all(&self.text(query), relation.as_str()).into_owned()
    }

    /// A key of an object: link relations begin with the brand word as well.
    pub(crate) fn key(&self, key: &str) -> String {
        let key = self.text(key);
        match key.strip_prefix("wp:") {
            Some(relation) if !self.is_recorded() && is_relation(relation) => format!("{}:{relation}", self.word),
            _ => key,
        }
    }

    /// The name of a header in lower case.
    pub(crate) fn header_name(&self, name: &str) -> String {
        name.strip_prefix("x-wp-").map_or_else(|| name.to_owned(), |rest| format!("x-{}-{rest}", self.word))
    }

    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            _ if self.is_recorded() => value.clone(),
            Value::String(text) => self.text(text).into(),
            Value::Array(list) => list.iter().map(|v| self.value(v)).collect(),
            Value::Object(map) => {
                let mut map: Map<String, Value> = map.iter().map(|(k, v)| (self.key(k), self.value(v))).collect();
                for curie in map.get_mut("curies").and_then(Value::as_array_mut).into_iter().flatten() {
                    if curie.get("name").is_some_and(|name| name == RECORDED) {
                        curie["name"] = self.word.as_str().into();
                    }
                }
                map.into()
            }
            other => other.clone(),
        }
    }

    /// The action that the REST API's nonces are made for.
    pub(crate) fn nonce_action(&self) -> String {
        format!("{}_rest", self.word)
    }

    /// Prefix of the name of the log-in cookie, which differs from the brand in WordPress.
    pub(crate) fn cookie(&self) -> String {
        if self.is_recorded() { "wordpress_logged_in_".to_owned() } else { format!("{}_logged_in_", self.word) }
    }
}

/// Whether a text can be the name of a link relation.
fn is_relation(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_follow_the_brand_and_other_texts_are_unchanged() {
        let svc = BrandRules::new("svc").unwrap();
        #[rustfmt::skip]
        let rows = [
            ("{base}/wp-json/wp/v2/posts",               "{base}/svc-json/svc/v2/posts"),
            ("{base}%2Fwp-json%2Fwp%2Fv2%2Fposts",       "{base}%2Fsvc-json%2Fsvc%2Fv2%2Fposts"),
            ("/wp-site-health/v1/tests",                 "/svc-site-health/v1/tests"),
            ("wp-content/wp/v20",                        "wp-content/wp/v20"),
            ("/?_wpnonce=1",                             "/?_svcnonce=1"),
            ("X-WP-Total, X-WP-TotalPages",              "X-SVC-Total, X-SVC-TotalPages"),
            ("<x>; rel=\"wp:term\"",                     "<x>; rel=\"svc:term\""),
            ("<https://api.w.org/>; rel=\"wp_template\"", "<https://api.w.org/>; rel=\"wp_template\""),
        ];
        for (recorded, expected) in rows {
            assert_eq!(svc.text(recorded), expected);
            assert_eq!(BrandRules::new(RECORDED).unwrap().text(recorded), recorded);
        }
        let links = json!({"wp:term": [], "wp:Term": 1, "curies": [{"name": "wp"}, {"name": "x"}]});
        let expected = json!({"svc:term": [], "wp:Term": 1, "curies": [{"name": "svc"}, {"name": "x"}]});
        assert_eq!(svc.value(&links), expected);
        assert_eq!(svc.header_name("x-wp-total"), "x-svc-total");
        assert_eq!(
            svc.query("_embed=author%2Cwp%3Aterm,wp:x&a=wp%2Fv2"),
            "_embed=author%2Csvc%3Aterm,svc:x&a=svc%2Fv2"
        );
    }
}
