//! Errors of lists.

use svc_schema::Error;

errors! {
    /// The cursor was forged, belongs to another list, or continues after an item that has been deleted.
    invalid_cursor = 400 "rest_invalid_cursor" "The cursor is not one of this list. Begin again with an empty cursor.";

    /// A list that is read with cursors has no page numbers.
    cursor_with_page = 400 "rest_cursor_with_page" "A cursor cannot be combined with a page number or an offset.";

    /// The site has no keys to encrypt cursors with.
    no_keys = 500 "rest_no_keys" "The site has no keys for cursors.";
}
