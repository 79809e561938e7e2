//! Errors of menus.

use serde_json::json;
use svc_model::TermId;
use svc_schema::Error;

/// The required fields that a custom link lacks: title, URL, or both.
pub fn missing_link_fields(title: bool, url: bool) -> Option<Error> {
    let title = title.then(|| Error::new("rest_title_required", "A custom link requires a title.").with_status(400));
    let url = url.then(|| Error::new("rest_url_required", "A custom link requires a URL.").with_status(400));
    match (title, url) {
        (Some(mut title), Some(url)) => {
            title.merge(url);
            Some(title)
        }
        (title, url) => title.or(url),
    }
}

errors! {
    /// No location has this name.
    location_not_found = 404 "rest_menu_location_invalid" "Menu location not found.";

    /// Menus cannot be trashed.
    trash_not_supported = 501 "rest_trash_not_supported" "Menus cannot be trashed. Set `force` to delete permanently.";

    /// The menu of an item does not exist.
    invalid_menu = 400 "invalid_menu_id" "The menu does not exist.";

    /// A type without an archive, or an unknown type.
    invalid_type = 400 "rest_post_invalid_type" "The post type does not exist or has no archive.";

    /// The post that an item links to does not exist.
    invalid_post = 400 "rest_post_invalid_id" "The post that the menu item links to does not exist.";

    /// The term that an item links to does not exist.
    invalid_term = 400 "rest_term_invalid_id" "The term that the menu item links to does not exist.";
}

/// The theme does not have this menu location. The whole list of locations is rejected.
pub fn unknown_location(location: &str) -> Error {
    Error::new("rest_invalid_menu_location", format!("The menu location {location} does not exist."))
        .with_data(json!({"location": location}))
}

/// Another menu has this name; the response to a request to create contains its id.
pub fn menu_exists(created: Option<TermId>) -> Error {
    let mut error = Error::new("menu_exists", "A menu with this name already exists.");
    if let Some(existing) = created {
        error.add_data(json!(existing), None);
        error.add_data(json!({"status": 400, "term_id": existing}), None);
    }
    error
}
