//! Slugs that no other post has, and that read as nothing else in addresses.

use svc_model::{Post, PostType};
use svc_store::{
    Db,
    posts::{self, SlugScope, UniqueSlug},
};

use crate::{SiteResult, urls::Urls};

/// A free slug for a post of this type, near the one that its row wishes for. `before` is the slug that it has had.
///
/// Source: `wp_unique_post_slug`.
pub fn unique(db: &mut Db, post: &Post, before: &str, kind: &PostType, urls: &Urls) -> SiteResult<String> {
    Ok(posts::unique_slug(db, &wish(&post.slug, post, before, kind, urls))?)
}

/// What the store is asked for when a post wishes for this slug.
pub fn wish(slug: &str, post: &Post, before: &str, kind: &PostType, urls: &Urls) -> UniqueSlug {
    let name = kind.name.clone();
    let scope = match name.as_str() {
        "attachment" => SlugScope::All,
        _ if kind.hierarchical => {
            SlugScope::Siblings { post_types: vec![name, "attachment".to_owned()], parent: post.parent }
        }
        _ => SlugScope::Type(name),
    };
    let reserved = is_reserved(slug, before, kind, urls.site.permalinks.structure());
    UniqueSlug { slug: slug.to_owned(), post: post.id, scope, reserved }
}

/// Whether a slug would be read as something else: below pages, numbers are pages of a text; posts must not read as parts
/// of a date, where these stand at their place in the address.
pub fn is_reserved(slug: &str, before: &str, kind: &PostType, structure: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if kind.hierarchical {
        return is_number(slug.strip_prefix("page").unwrap_or(slug));
    }
    if kind.name != "post" || slug == before || !is_number(slug) {
        return false;
    }
    let number: u64 = slug.parse().unwrap_or(u64::MAX);
    let mut previous = "";
    for part in structure.split('/').filter(|part| !part.is_empty()) {
        if part == "%postname%" {
            return number > 0
                && match previous {
                    "" => true,
                    "%year%" => number < 13,
                    "%monthnum%" => number < 32,
                    _ => false,
                };
        }
        previous = part;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_addresses_read_as_something_else() {
        let (post, page) = (PostType::new("post"), PostType { hierarchical: true, ..PostType::new("page") });
        let rows = [
            ("2024", &post, "/%postname%/", true),
            ("0", &post, "/%postname%/", false),
            ("2024-x", &post, "/%postname%/", false),
            ("12", &post, "/%year%/%postname%/", true),
            ("13", &post, "/%year%/%postname%/", false),
            ("31", &post, "/%year%/%monthnum%/%postname%", true),
            ("32", &post, "/%year%/%monthnum%/%postname%", false),
            ("12", &post, "/%year%/%monthnum%/%day%/%postname%/", false),
            ("12", &post, "", false),
            ("12", &page, "", true),
            ("page2", &page, "", true),
            ("page", &page, "", false),
            ("page-2", &page, "", false),
        ];
        for (slug, kind, structure, expected) in rows {
            assert_eq!(is_reserved(slug, "", kind, structure), expected, "{slug} {} {structure}", kind.name);
        }
        assert!(!is_reserved("12", "12", &post, "/%postname%/"), "what it has it keeps");
    }
}
