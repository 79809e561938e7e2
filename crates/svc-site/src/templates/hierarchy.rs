//! The template hierarchy: candidates for rendering a page, most specific first.

use svc_model::{PostTypes, Taxonomies};

/// The fallbacks of a template, starting with itself.
///
/// `prefix` is the prefix of a generated slug, if the client knows it. Custom templates fall back to the page template.
/// Source: `get_template_hierarchy`.
pub fn of_slug(slug: &str, is_custom: bool, prefix: &str, types: &PostTypes, taxonomies: &Taxonomies) -> Vec<String> {
    let fixed: Option<&[&str]> = match slug {
        "index" => Some(&["index"]),
        _ if is_custom => Some(&["page", "singular", "index"]),
        "front-page" => Some(&["front-page", "home", "index"]),
        _ => None,
    };
    if let Some(fixed) = fixed {
        return fixed.iter().map(|s| (*s).to_owned()).collect();
    }
    let mut all = vec![slug.to_owned()];
    let mut add = |slug: &str| {
        if all.iter().all(|known| known != slug) {
            all.push(slug.to_owned());
        }
    };
    let kind = slug.split_once('-').map_or(slug, |(kind, _)| kind);
    if !prefix.is_empty() {
        add(prefix);
        add(prefix.split_once('-').map_or(prefix, |(kind, _)| kind));
    } else if matches!(kind, "author" | "category" | "archive" | "tag" | "page") {
        add(kind);
    } else if let Some((kind @ ("single" | "taxonomy"), rest)) = slug.split_once('-') {
        let mut names: Box<dyn Iterator<Item = &str>> = if kind == "single" {
            Box::new(types.iter().map(|t| t.name.as_str()))
        } else {
            Box::new(taxonomies.iter().map(|t| t.name.as_str()))
        };
        let of_name = |name: &&str| rest.strip_prefix(name).is_some_and(|r| r.is_empty() || r.starts_with('-'));
        if let Some(name) = names.find(of_name) {
            add(&format!("{kind}-{name}"));
            add(kind);
        }
    }
    if ["author", "taxonomy", "category", "tag"].iter().any(|k| slug.starts_with(k)) || slug == "date" {
        add("archive");
    }
    if slug == "attachment" {
        add("single");
    }
    if ["single", "page"].iter().any(|k| slug.starts_with(k)) || slug == "attachment" {
        add("singular");
    }
    add("index");
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(slug: &str, is_custom: bool, prefix: &str, expected: &[&str]) {
        let found = of_slug(slug, is_custom, prefix, &PostTypes::default(), &Taxonomies::default());
        assert_eq!(found, expected, "{slug} {is_custom} {prefix}");
    }

    #[test]
    fn a_template_falls_back_to_more_general_ones() {
        check("index", false, "", &["index"]);
        check("anything", true, "", &["page", "singular", "index"]);
        check("front-page", false, "", &["front-page", "home", "index"]);
        check("404", false, "", &["404", "index"]);
        check("date", false, "", &["date", "archive", "index"]);
        check("page-about", false, "page", &["page-about", "page", "singular", "index"]);
        check("page-about", false, "", &["page-about", "page", "singular", "index"]);
        check("category-news", false, "category", &["category-news", "category", "archive", "index"]);
        check(
            "taxonomy-post_format-x",
            false,
            "",
            &["taxonomy-post_format-x", "taxonomy-post_format", "taxonomy", "archive", "index"],
        );
        check("single-post-hello", false, "", &["single-post-hello", "single-post", "single", "singular", "index"]);
        check("single-post", false, "", &["single-post", "single", "singular", "index"]);
        check("attachment", false, "", &["attachment", "single", "singular", "index"]);
        check(
            "single-post-hello",
            false,
            "single-post",
            &["single-post-hello", "single-post", "single", "singular", "index"],
        );
    }
}
