//! Unique slugs that are not ambiguous in permalinks.

use svc_model::{Post, PostType};
use svc_store::{
    Db,
    posts::{self, SlugScope, UniqueSlug},
};

use crate::{SiteResult, settings::urls::Urls};

/// A unique slug for a post of this type, based on the slug in its row. `before` is its former slug.
///
/// Source: `wp_unique_post_slug`.
pub fn unique(db: &mut Db, post: &Post, before: &str, post_type: &PostType, urls: &Urls) -> SiteResult<String> {
    Ok(posts::unique_slug(db, &unique_slug_request(&post.slug, post, before, post_type, urls))?)
}

/// The store's request for a unique slug.
pub fn unique_slug_request(slug: &str, post: &Post, before: &str, post_type: &PostType, urls: &Urls) -> UniqueSlug {
    let name = post_type.name.clone();
    let scope = match name.as_str() {
        "attachment" => SlugScope::All,
        _ if post_type.hierarchical => {
            SlugScope::Siblings { post_types: vec![name, "attachment".to_owned()], parent: post.parent }
        }
        _ => SlugScope::Type(name),
    };
    let reserved = is_reserved(slug, before, post_type, urls.site.permalinks.structure());
    UniqueSlug { slug: slug.to_owned(), post: post.id, scope, reserved }
}

/// Whether a slug would be read as something else: below a page, numbers are page numbers of a text; slugs of posts
/// must not be read as parts of a date if the permalink structure has them in that position.
pub(crate) fn is_reserved(slug: &str, before: &str, post_type: &PostType, structure: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if post_type.hierarchical {
        return is_number(slug.strip_prefix("page").unwrap_or(slug));
    }
    if post_type.name != "post" || slug == before || !is_number(slug) {
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
    fn numbers_that_permalinks_read_as_dates_or_pages_are_reserved() {
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
        for (slug, post_type, structure, expected) in rows {
            assert_eq!(is_reserved(slug, "", post_type, structure), expected, "{slug} {} {structure}", post_type.name);
        }
        assert!(!is_reserved("12", "12", &post, "/%postname%/"), "an unchanged slug is not reserved");
    }
}
