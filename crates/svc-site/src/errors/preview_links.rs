//! Errors of preview links.

use svc_schema::Error;

errors! {
    /// The post has as many links as it may have.
    too_many = 400 "rest_too_many_preview_links" "The post has too many preview links. Delete some of them.";

    /// The revision is not one of the post's.
    invalid_revision = 400 "rest_invalid_revision" "The revision does not belong to the post.";

    /// The post is in the trash.
    in_trash = 400 "rest_post_in_trash" "A post in the trash has no preview links.";

    /// No link has this id.
    not_found = 404 "rest_preview_link_not_found" "Preview link not found.";

    /// The token is wrong, has expired, has been revoked, or belongs to another post.
    invalid_token = 403 "rest_invalid_preview_token" "The preview link is not valid, or it has expired.";

    /// The URL to share is longer than mail programs and browsers accept, because of the setting `preview_url` or the site's URL.
    url_too_long = 400 "rest_preview_url_too_long" "The URL of the preview link would be too long. Ask the owner of the server to shorten the setting preview_url.";

    /// The site has no keys to sign links with.
    no_keys = 500 "rest_no_keys" "The site has no keys to sign preview links.";

    /// The operating system has no random numbers.
    no_random_numbers = 500 "rest_preview_link_failed" "The preview link could not be created.";
}
