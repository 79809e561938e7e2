//! Errors that clients see: a table of status, code and message per family.
//!
//! Refusals, whose status depends on the caller, are tables of the route families.

use svc_schema::Error;

/// One function per row: name, status, code, message.
macro_rules! errors {
    ($($(#[$meta:meta])* $name:ident = $status:literal $code:literal $message:literal;)*) => {
        $($(#[$meta])* pub fn $name() -> Error {
            Error::new($code, $message).with_status($status)
        })*
    };
}

pub mod application_passwords;
pub mod comments;
pub mod fonts;
pub mod images;
pub mod languages;
pub mod lists;
pub mod media;
pub mod menus;
pub mod permalinks;
pub mod plugins;
pub mod posts;
pub mod preconditions;
pub mod preview_links;
pub mod terms;
pub mod transfer;
pub mod users;
pub mod widgets;

/// An error whose message depends on a value.
fn error(code: &str, message: &str, status: u16) -> Error {
    Error::new(code, message).with_status(status)
}
