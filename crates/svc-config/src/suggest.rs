//! Suggestions for misspelt names.

/// Similarity from which a name is suggested, from 0 to 1.
const SIMILAR: f64 = 0.84;

/// The candidate that resembles a misspelt name most, if any does.
pub(crate) fn closest<S: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = S>) -> Option<S> {
    let scored = candidates.into_iter().map(|candidate| (strsim::jaro_winkler(name, candidate.as_ref()), candidate));
    let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(score, _)| *score >= SIMILAR).map(|(_, candidate)| candidate)
}

/// The end of a message about a misspelt name: `; did you mean …?`, or nothing.
pub fn did_you_mean<S: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = S>) -> String {
    closest(name, candidates).map_or_else(String::new, |found| format!("; did you mean `{}`?", found.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_similar_names_only() {
        let names = ["listen", "site_url", "limits.body", "limits.values"];
        for (name, found) in
            [("listn", Some("listen")), ("siteurl", Some("site_url")), ("limit.body", Some("limits.body")), ("x", None)]
        {
            assert_eq!(closest(name, names), found, "{name}");
        }
        assert_eq!(did_you_mean("litsen", names), "; did you mean `listen`?");
        assert_eq!(did_you_mean("colour", names), "");
    }
}
