//! Lists in a string, separated by commas or white space.

use std::{collections::HashSet, hash::Hash};

use crate::{names::is_pattern_space, number::absint, slug::sanitize_title};

/// The items of a list, without empty ones. Source: `wp_parse_list`.
pub fn parse_list(text: &str) -> Vec<&str> {
    text.split(|c| c == ',' || is_pattern_space(c)).filter(|item| !item.is_empty()).collect()
}

/// The ids in a list as absolute integers, without duplicates. Source: `wp_parse_id_list`.
pub fn parse_id_list(text: &str) -> Vec<u64> {
    unique_with_index(parse_list(text).into_iter().map(absint)).into_iter().map(|(_, id)| id).collect()
}

/// The items of a list as slugs, without duplicates. Source: `wp_parse_slug_list`.
pub fn parse_slug_list(text: &str) -> Vec<String> {
    unique_with_index(parse_list(text).into_iter().map(sanitize_title)).into_iter().map(|(_, slug)| slug).collect()
}

/// Removes duplicates; each remaining item comes with its original index.
pub fn unique_with_index<T: Clone + Eq + Hash>(items: impl IntoIterator<Item = T>) -> Vec<(usize, T)> {
    let mut seen = HashSet::new();
    items.into_iter().enumerate().filter(|(_, item)| seen.insert(item.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        assert_eq!(parse_list(" a,,b c\n,"), ["a", "b", "c"]);
        assert_eq!(parse_id_list("2,-2,x, 6"), [2, 0, 6]);
        assert_eq!(parse_slug_list("Foo_bar, é é"), ["foo_bar", "e"]);
    }
}
