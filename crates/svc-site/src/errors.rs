//! Errors that clients see: a table of status, code and message per family.
//!
//! Refusals, whose status depends on the caller, are tables of the route families.

use serde_json::{Value, json};
use svc_model::TermId;
use svc_schema::Error;

/// One function per row: name, status, code, message.
macro_rules! errors {
    ($($(#[$meta:meta])* $name:ident = $status:literal $code:literal $message:literal;)*) => {
        $($(#[$meta])* pub fn $name() -> Error {
            Error::new($code, $message).with_status($status)
        })*
    };
}

/// Errors of posts.
pub mod posts {
    use super::*;

    fn error(code: &str, message: &str, status: u16) -> Error {
        Error::new(code, message).with_status(status)
    }

    errors! {
        /// No post has this id, or it has another type.
        post_not_found = 404 "rest_post_invalid_id" "Post not found.";

        /// The post named as parent does not exist.
        invalid_parent = 400 "rest_post_invalid_id" "The parent does not exist.";

        /// A request to create a post contained an id.
        post_exists = 400 "rest_post_exists" "A new post cannot have an id. To update a post, send the request to the post's own URL.";

        /// The status makes the post public, and the caller may not publish.
        cannot_publish = 403 "rest_cannot_publish" "You are not allowed to publish posts of this type.";

        /// A post is sticky and protected by a password at the same time.
        sticky_and_password = 400 "rest_invalid_field" "A post cannot be both sticky and password protected.";

        /// No title, content or excerpt.
        empty_content = 400 "empty_content" "The post needs a title, content or an excerpt.";

        /// A date before year 1.
        invalid_date = 400 "invalid_date" "The date is invalid.";

        /// The author is not a user.
        invalid_author = 400 "rest_invalid_author" "The author does not exist.";

        /// No post with this id and of the type whose revisions are requested.
        invalid_revision_parent = 404 "rest_post_invalid_parent" "Post not found.";

        /// No revision has this id.
        revision_not_found = 404 "rest_post_invalid_id" "Revision not found.";

        /// The revision belongs to another post.
        not_a_revision_of = 404 "rest_revision_parent_id_mismatch" "The revision does not belong to this post.";

        /// The offset is larger than the number of revisions.
        revision_offset_beyond_end = 400 "rest_revision_invalid_offset_number" "The offset is larger than the number of revisions.";

        /// The user has no autosave of the post.
        no_autosave = 404 "rest_post_no_autosave" "The post has no autosave.";

        /// The post is already in the trash.
        already_trashed = 410 "rest_already_trashed" "The post is already in the trash.";

        /// Items of this type are always deleted permanently.
        trash_not_supported = 501 "rest_trash_not_supported" "Items of this type cannot be trashed. Set `force` to delete permanently.";

        /// A wrong password for the content.
        incorrect_password = 403 "rest_post_incorrect_password" "The password for this post is wrong.";

        /// Sorting by relevance without a search term.
        no_search_term = 400 "rest_no_search_term_defined" "Sorting by relevance requires the parameter `search`.";

        /// Sorting by `include` without a list.
        missing_include = 400 "rest_orderby_include_missing_include" "Sorting by `include` requires the parameter `include`.";
    }

    /// A parameter that failed its own validation.
    pub fn invalid_param(name: &str, why: &Error) -> Error {
        Error::new("rest_invalid_param", format!("Invalid parameter(s): {name}")).with_data(json!({
            "status": 400,
            "params": {name: why.message()},
            "details": {name: why.to_body()},
        }))
    }

    /// A template that the theme does not have.
    pub fn unknown_template() -> Error {
        Error::new("rest_invalid_param", "The theme does not have this template.")
    }

    /// Deleting a stored value that does not fit its schema would lose it.
    pub(crate) fn invalid_stored_meta(name: &str) -> Error {
        Error::new(
            "rest_invalid_stored_value",
            format!("The stored value of the meta field {name} does not match its type."),
        )
        .with_status(500)
    }

    /// A value that is too long for its column.
    pub(crate) fn not_stored(exists: bool) -> Error {
        let code = if exists { "db_update_error" } else { "db_insert_error" };
        error(code, "The post cannot be stored: a value is too long.", 500)
    }

    /// Resetting a stored setting that does not fit its schema would lose it.
    pub fn invalid_stored_setting(name: &str) -> Error {
        let text = format!("The stored value of the setting {name} does not match its type, so it cannot be reset.");
        Error::new("rest_invalid_stored_value", text).with_status(500)
    }

    /// The caller may not edit this registered meta field.
    pub(crate) fn cannot_update_meta(name: &str) -> Error {
        Error::new("rest_cannot_update", format!("You are not allowed to edit the meta field {name}."))
            .with_data(serde_json::json!({"key": name, "status": 403}))
    }

    /// The caller may not delete this registered meta field.
    pub(crate) fn cannot_delete_meta(name: &str) -> Error {
        Error::new("rest_cannot_delete", format!("You are not allowed to delete the meta field {name}."))
            .with_data(serde_json::json!({"key": name, "status": 403}))
    }
}

/// Errors of comments.
pub mod comments {
    use super::*;

    fn error(code: &str, message: &str, status: u16) -> Error {
        Error::new(code, message).with_status(status)
    }

    errors! {
        /// No comment has this id.
        not_found = 404 "rest_comment_invalid_id" "Comment not found.";

        /// The post of a comment no longer exists.
        post_is_gone = 404 "rest_post_invalid_id" "Post not found.";

        /// Posts of this type do not support notes.
        notes_not_supported = 403 "rest_comment_not_supported_post_type" "Posts of this type do not support notes.";

        /// Guests may not comment.
        login_required = 401 "rest_comment_login_required" "Log in to comment.";

        /// The post of a new comment must exist.
        invalid_post = 403 "rest_comment_invalid_post_id" "A comment requires an existing post.";

        /// Drafts do not accept comments.
        draft_post = 403 "rest_comment_draft_post" "Drafts do not accept comments.";

        /// Posts in the trash do not accept comments.
        trashed_post = 403 "rest_comment_trash_post" "Posts in the trash do not accept comments.";

        /// Comments are closed.
        closed = 403 "rest_comment_closed" "Comments on this post are closed.";

        /// A request to create a comment contained an id.
        exists = 400 "rest_comment_exists" "A new comment cannot have an id. To update a comment, send the request to the comment's own URL.";

        /// Only comments and notes can be created.
        invalid_type = 400 "rest_invalid_comment_type" "Comments of this type cannot be created.";

        /// The type of a comment cannot change.
        type_is_fixed = 404 "rest_comment_invalid_type" "The type of a comment cannot be changed.";

        /// The comment has no content.
        no_content = 400 "rest_comment_content_invalid" "A comment requires content.";

        /// The site requires the author's name and e-mail address.
        author_data_required = 400 "rest_comment_author_data_required" "The author's name and e-mail address are required.";

        /// The author is not a user.
        unknown_author = 400 "rest_comment_author_invalid" "The author does not exist.";

        /// The same author has already posted the same comment in the same place.
        duplicate = 409 "comment_duplicate" "This comment has already been posted.";

        /// Comments by one author arrive too quickly.
        flood = 400 "comment_flood" "You are commenting too quickly. Wait a moment.";

        /// The comment is already in the trash.
        already_trashed = 410 "rest_already_trashed" "The comment is already in the trash.";
    }

    /// A field is longer than its column; `code` names the field.
    pub fn too_long(code: &'static str) -> Error {
        error(code, "A field of the comment is too long.", 400)
    }
}

/// Errors of media.
pub mod media {
    use super::*;

    fn error(code: &str, message: &str, status: u16) -> Error {
        Error::new(code, message).with_status(status)
    }

    errors! {
        /// The request has no file.
        no_data = 400 "rest_upload_no_data" "The request contains no file.";

        /// A file as the request body, without a `Content-Disposition` header.
        no_disposition = 400 "rest_upload_no_content_disposition" "The request has no Content-Disposition header.";

        /// The file does not match the checksum sent with it.
        hash_mismatch = 412 "rest_upload_hash_mismatch" "The file does not match the checksum in the request.";

        /// The featured image does not exist or is not an image.
        invalid_featured_media = 400 "rest_invalid_featured_media" "The featured image does not exist or is not an image.";

        /// The server does not fetch this URL.
        refused_url = 400 "rest_invalid_url" "Only images at public URLs can be fetched.";

        /// The URL does not name an image.
        no_image_address = 400 "rest_invalid_url" "The URL does not name an image.";

        /// The URL did not respond.
        no_answer = 500 "http_request_failed" "The image could not be fetched.";

        /// Attachments cannot be attached to attachments or revisions.
        invalid_parent_type = 400 "rest_invalid_param" "Files cannot be attached to a post of this type.";

        /// Attachments cannot be trashed.
        no_trash = 501 "rest_trash_not_supported" "Files cannot be trashed. Set `force` to delete them permanently.";

        /// The attachment is not an image, or its URL differs from the one in the request.
        unknown_attachment = 404 "rest_unknown_attachment" "Image not found.";

        /// Images of this type cannot be edited.
        cannot_edit_type = 400 "rest_cannot_edit_file_type" "Files of this type cannot be edited.";

        /// The request contains no changes.
        not_edited = 400 "rest_image_not_edited" "The request contains no changes to the image.";

        /// The file cannot be read as an image.
        unreadable_image = 500 "rest_unknown_image_file_type" "The image cannot be read.";

        /// The image could not be rotated.
        rotation_failed = 500 "rest_image_rotation_failed" "The image could not be rotated.";

        /// The requested area is empty.
        crop_failed = 500 "rest_image_crop_failed" "The image could not be cropped to this area.";
    }

    /// A `Content-Disposition` header without a file name.
    pub fn invalid_disposition() -> Error {
        let message =
            "The Content-Disposition header must name the file, for example: attachment; filename=\"image.png\".";
        error("rest_upload_invalid_disposition", message, 400)
    }

    /// A form without a usable file.
    pub fn unusable_form(message: &str) -> Error {
        error("rest_upload_unknown_error", message, 500)
    }

    /// A file type that the caller may not upload, in a form or as the body.
    pub fn refused_type(form: bool) -> Error {
        let code = if form { "rest_upload_unknown_error" } else { "rest_upload_sideload_error" };
        error(code, "You are not allowed to upload this type of file.", 500)
    }

    /// An image for which no sizes can be generated.
    pub fn unsupported_image() -> Error {
        let message = "Images of this type cannot be resized. Convert the image to JPEG or PNG and upload it again.";
        error("rest_upload_image_type_not_supported", message, 400)
    }

    /// A featured image for an attachment type that does not support one.
    pub fn no_featured_media(mime: &str) -> Error {
        error("rest_no_featured_media", &format!("Attachments of type {mime} do not support featured images."), 400)
    }

    /// The server does not fetch this URL.
    pub fn invalid_url() -> Error {
        super::posts::invalid_param("url", &refused_url())
    }

    /// The URL returned something other than an image.
    pub fn answered(status: u16) -> Error {
        error(&format!("http_{status}"), "The URL did not return an image.", 500)
    }

    /// The storage of uploads failed; the cause is logged.
    pub fn storage(cause: &dyn std::fmt::Display) -> Error {
        tracing::error!(%cause, "the storage of uploads failed");
        error("rest_upload_unknown_error", "The file could not be stored. The failure has been logged.", 500)
    }

    /// The request contains more changes than are allowed at once.
    pub fn too_many_changes(most: usize) -> Error {
        error("rest_invalid_param", &format!("An image can have at most {most} changes per request."), 400)
    }
}

/// Errors of menus.
pub mod menus {
    use super::*;

    /// The required fields that a custom link lacks: title, URL, or both.
    pub fn link_lacks(title: bool, url: bool) -> Option<Error> {
        let title =
            title.then(|| Error::new("rest_title_required", "A custom link requires a title.").with_status(400));
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
}

/// Errors of plugins.
pub mod plugins {
    use super::*;

    errors! {
        /// No plugin has this name.
        not_found = 404 "rest_plugin_not_found" "The plugin does not exist.";

        /// The plugin is active.
        is_active = 400 "rest_cannot_delete_active_plugin" "The plugin is active. Deactivate it before deleting it.";

        /// Extensions are compiled into the server.
        is_compiled_in = 400 "rest_cannot_delete_extension" "This plugin is compiled into the server. It can be deactivated but not deleted.";

        /// The unpacked package contains no plugin.
        no_plugin_inside = 500 "incompatible_archive_no_plugins" "The package contains no plugin.";

        /// The plugin's folder already exists.
        folder_exists = 500 "folder_exists" "A folder with this name already exists.";
    }

    /// The files could not be deleted.
    pub fn cannot_remove(error: &std::io::Error) -> Error {
        tracing::warn!(%error, "failed to delete a plugin");
        Error::new("could_not_remove_plugin", "The plugin's files could not be deleted.").with_status(500)
    }

    /// The plugin requires a newer WordPress or PHP than this server is compatible with.
    pub(crate) fn incompatible(wp: bool, php: bool) -> Error {
        let (code, what) = match (wp, php) {
            (true, true) => ("plugin_wp_php_incompatible", "WordPress and PHP"),
            (true, false) => ("plugin_wp_incompatible", "WordPress"),
            (false, _) => ("plugin_php_incompatible", "PHP"),
        };
        Error::new(code, format!("The plugin requires a newer version of {what}.")).with_status(500)
    }

    /// The plugin requires plugins that are not active: `missing` maps their slugs to names.
    pub(crate) fn missing_dependencies(missing: Value) -> Error {
        let text = "The plugin requires other plugins to be installed and active.";
        let mut error = Error::new("plugin_missing_dependencies", text);
        error.add_data(missing, None);
        error.add_data(json!({"status": 500}), None);
        error
    }

    /// The package could not be downloaded or is invalid.
    pub(crate) fn bad_package(code: &str, why: impl Into<String>) -> Error {
        Error::new(code, why).with_status(500)
    }
}

/// Errors of terms.
pub mod terms {
    use super::*;

    errors! {
        /// No term of this taxonomy has this id.
        not_found = 404 "rest_term_invalid" "Term not found.";

        /// The parent does not exist in this taxonomy.
        invalid_parent = 400 "rest_term_invalid" "The parent does not exist.";

        /// A parent in a taxonomy that is not hierarchical.
        not_hierarchical = 400 "rest_taxonomy_not_hierarchical" "Terms of this taxonomy cannot have a parent.";

        /// The post whose terms are requested does not exist.
        invalid_post = 400 "rest_post_invalid_id" "Post not found.";
    }

    /// The name is empty after markup is removed. It has no status of its own: 500, as in WordPress.
    pub fn empty_name() -> Error {
        Error::new("empty_term_name", "A term requires a name.")
    }

    /// The name is too long for its column. It has no status of its own: 500, as in WordPress.
    pub fn name_too_long() -> Error {
        Error::new("db_insert_error", "The term could not be stored.").with_data(json!("The name is too long."))
    }

    /// Another term of the taxonomy has this slug. It has no status of its own: 500, as in WordPress.
    pub(crate) fn duplicate_slug(slug: &str) -> Error {
        Error::new("duplicate_term_slug", format!("Another term has the slug {slug}."))
    }

    /// A term with this name or slug already exists. Its id is in the data three times, as in WordPress: clients read
    /// it from each position.
    pub fn exists(existing: TermId) -> Error {
        let mut error = Error::new("term_exists", "A term with this name already exists.").with_data(json!(existing));
        error.add_data(json!(existing), None);
        error.add_data(json!({"status": 400, "term_id": existing}), None);
        error
    }
}

/// Errors of users.
pub mod users {
    use super::*;

    fn error(code: &str, message: &str, status: u16) -> Error {
        Error::new(code, message).with_status(status)
    }

    errors! {
        /// No user has this id.
        not_found = 404 "rest_user_invalid_id" "User not found.";

        /// A request for the current user without authentication.
        not_logged_in = 401 "rest_not_logged_in" "You must be logged in.";

        /// A request to create a user contained an id.
        exists = 400 "rest_user_exists" "A new user cannot have an id. To update a user, send the request to the user's own URL.";

        /// The e-mail address is taken or too long.
        invalid_email = 400 "rest_user_invalid_email" "This e-mail address cannot be used.";

        /// Another user has this slug.
        invalid_slug = 400 "rest_user_invalid_slug" "Another user has this slug.";

        /// The login of a user cannot change.
        fixed_username = 400 "rest_user_invalid_argument" "The user name cannot be changed.";

        /// The user name is not allowed.
        invalid_username = 400 "rest_user_invalid_username" "This user name is not allowed.";

        /// The password is empty, too long, or contains a character that login forms cannot send.
        invalid_password = 400 "rest_user_invalid_password" "A password must not be empty, very long, or contain a backslash.";

        /// The new owner of a user's posts is neither a user id nor empty.
        unreadable_reassign = 400 "rest_invalid_param" "This is not a user id.";

        /// The new owner of the posts does not exist, or is the user being deleted.
        invalid_reassign = 400 "rest_user_invalid_reassign" "The posts cannot be reassigned to this user.";
    }

    /// A role that is not registered.
    pub fn unknown_role(role: &str) -> Error {
        error("rest_user_invalid_role", &format!("The role {role} does not exist."), 400)
    }

    /// The display name is too long for its column.
    pub fn name_too_long() -> Error {
        super::posts::invalid_param("name", &error("rest_too_long", "name must be at most 250 characters long.", 400))
    }

    /// Another user has this login.
    pub(crate) fn existing_login() -> Error {
        Error::new("existing_user_login", "A user with this name already exists.")
    }

    /// Another user has this e-mail address.
    pub(crate) fn existing_email() -> Error {
        Error::new("existing_user_email", "A user with this e-mail address already exists.")
    }

    /// The login is too long for its column.
    pub(crate) fn login_too_long() -> Error {
        Error::new("user_login_too_long", "A user name must be at most 60 characters long.")
    }

    /// The slug is too long for its column.
    pub(crate) fn slug_too_long() -> Error {
        Error::new("user_nicename_too_long", "A user's slug must be at most 50 characters long.")
    }

    /// The URL is too long for its column.
    pub(crate) fn url_too_long() -> Error {
        Error::new("user_url_too_long", "A website URL must be at most 100 characters long.")
    }
}

/// Errors of application passwords.
pub mod application_passwords {
    use super::*;

    errors! {
        /// Application passwords are disabled on this site.
        disabled = 501 "application_passwords_disabled" "Application passwords cannot be used on this site.";

        /// The user has no application password with this UUID.
        not_found = 404 "rest_application_password_not_found" "Application password does not exist.";

        /// The name is empty after markup is removed.
        empty_name = 400 "application_password_empty_name" "An application password requires a name.";

        /// The user has the maximum number of application passwords.
        too_many = 400 "rest_too_many_application_passwords" "The maximum number of application passwords is reached. Delete one first.";

        /// The operating system returned no random bytes.
        no_randomness = 500 "rest_internal_error" "The password could not be generated.";

        /// The request was not authenticated with an application password.
        none_in_use = 404 "rest_no_authenticated_app_password" "This request was not authenticated with an application password.";
    }
}

/// Errors of widgets.
pub mod widgets {
    use super::*;

    errors! {
        /// No sidebar has this id.
        sidebar_not_found = 404 "rest_sidebar_not_found" "Sidebar not found.";

        /// No widget has this id.
        not_found = 404 "rest_widget_not_found" "Widget not found.";

        /// No widget type has this id.
        invalid_type = 404 "rest_widget_type_invalid" "Widget type not found.";

        /// A change to a widget of an unknown type: 500, as in WordPress.
        unknown_kind = 500 "rest_invalid_widget" "Widget type not found.";
    }

    /// The widget cannot be created or changed as requested.
    pub fn invalid(why: &str) -> Error {
        Error::new("rest_invalid_widget", why).with_status(400)
    }
}

/// Errors of fonts.
pub mod fonts {
    use super::*;

    errors! {
        /// The font family of a face does not exist.
        invalid_parent = 404 "rest_post_invalid_parent" "Font family not found.";

        /// The face belongs to another family.
        parent_mismatch = 404 "rest_font_face_parent_id_mismatch" "The font face belongs to another family.";

        /// The family already has an identical face.
        duplicate_face = 400 "rest_duplicate_font_face" "This font face already exists.";

        /// No collection has this slug.
        collection_not_found = 404 "rest_font_collection_not_found" "Font collection does not exist.";

        /// The collection's fonts are not available.
        collection_missing = 500 "font_collection_json_missing" "The fonts of this collection are not available.";
    }

    /// Another family has this slug.
    pub fn duplicate_family(slug: &str) -> Error {
        let text = format!("The font family {slug} already exists.");
        Error::new("rest_duplicate_font_family", text).with_status(400)
    }
}
