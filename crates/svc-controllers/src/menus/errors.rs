//! Errors of menus: one constructor per condition.

use serde_json::json;
use svc_model::TermId;
use svc_routing::{Request, forbidden};
use svc_schema::Error;

/// The caller may not see menus.
pub(super) fn cannot_view(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to see menus.")
}

/// The caller may not see where menus are shown.
pub(super) fn cannot_view_locations(req: &Request) -> Error {
    forbidden(req, "rest_cannot_view", "You are not allowed to see the locations of menus.")
}

/// No such location.
pub(super) fn location_not_found() -> Error {
    Error::new("rest_menu_location_invalid", "There is no such location.").with_status(404)
}

/// A menu cannot be shown at a location that the theme does not have. The list of locations is refused with it.
pub(super) fn unknown_location(location: &str) -> Error {
    Error::new("rest_invalid_menu_location", format!("There is no location {location}."))
        .with_data(json!({"location": location}))
}

/// Another menu has this name; a request to create is told which.
pub(super) fn menu_exists(created: Option<TermId>) -> Error {
    let mut error = Error::new("menu_exists", "There is a menu of this name already.");
    if let Some(existing) = created {
        error.add_data(json!(existing), None);
        error.add_data(json!({"status": 400, "term_id": existing}), None);
    }
    error
}

/// Menus go at once.
pub(super) fn trash_not_supported() -> Error {
    Error::new("rest_trash_not_supported", "There is no trash for menus. Set `force` to delete one for good.")
        .with_status(501)
}

/// The menu that an item is to stand in does not exist.
pub(super) fn invalid_menu() -> Error {
    Error::new("invalid_menu_id", "There is no such menu.").with_status(400)
}

/// An item of a type without archive, or of none.
pub(super) fn invalid_type() -> Error {
    Error::new("rest_post_invalid_type", "There is no such type.").with_status(400)
}

/// The post that an item is to link to does not exist.
pub(super) fn invalid_post() -> Error {
    Error::new("rest_post_invalid_id", "The post that the menu item links to does not exist.").with_status(400)
}

/// The term that an item is to link to does not exist.
pub(super) fn invalid_term() -> Error {
    Error::new("rest_term_invalid_id", "The term that the menu item links to does not exist.").with_status(400)
}

/// What a link of one's own lacks: its title, its address, or both.
pub(super) fn link_lacks(title: bool, url: bool) -> Option<Error> {
    let title = title.then(|| Error::new("rest_title_required", "A link of one's own needs a title.").with_status(400));
    let url = url.then(|| Error::new("rest_url_required", "A link of one's own needs an address.").with_status(400));
    match (title, url) {
        (Some(mut title), Some(url)) => {
            title.merge(url);
            Some(title)
        }
        (title, url) => title.or(url),
    }
}
