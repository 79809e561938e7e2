//! Errors that clients see: a table of code, message and status per family.
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
        /// No post has this number, or it is of another type.
        post_not_found = 404 "rest_post_invalid_id" "There is no such post.";

        /// The post named as parent does not exist.
        invalid_parent = 400 "rest_post_invalid_id" "There is no such parent.";

        /// A request to create named the number of a post.
        post_exists = 400 "rest_post_exists" "An existing post cannot be created: send the change to its own address.";

        /// The status given makes a post public, and the caller may not publish.
        cannot_publish = 403 "rest_cannot_publish" "You are not allowed to publish posts of this type.";

        /// Sticky and guarded by a password at once.
        sticky_and_password = 400 "rest_invalid_field" "A post cannot be both sticky and guarded by a password.";

        /// Neither title nor content nor excerpt.
        empty_content = 400 "empty_content" "The post needs a title, content or an excerpt.";

        /// A date before the first year.
        invalid_date = 400 "invalid_date" "There is no such date.";

        /// No such user to be the author.
        invalid_author = 400 "rest_invalid_author" "There is no such author.";

        /// No post of the type whose revisions are asked for has this number.
        invalid_revision_parent = 404 "rest_post_invalid_parent" "There is no such post.";

        /// No revision has this number.
        revision_not_found = 404 "rest_post_invalid_id" "There is no such revision.";

        /// The revision is of another post.
        not_a_revision_of = 404 "rest_revision_parent_id_mismatch" "The post has no such revision.";

        /// More revisions are to be left out than there are.
        revision_offset_beyond_end = 400 "rest_revision_invalid_offset_number" "There are fewer revisions than are to be left out.";

        /// Nobody has typed anything since the post was saved.
        no_autosave = 404 "rest_post_no_autosave" "The post has no autosave.";

        /// The post is in the trash already.
        already_trashed = 410 "rest_already_trashed" "The post is in the trash already.";

        /// Things of this kind go at once.
        trash_not_supported = 501 "rest_trash_not_supported" "There is no trash for this. Set `force` to delete it for good.";

        /// A wrong password was given for the content.
        incorrect_password = 403 "rest_post_incorrect_password" "The password for this post is wrong.";

        /// Sorting by relevance without a search.
        no_search_term = 400 "rest_no_search_term_defined" "Sorting by relevance needs the parameter `search`.";

        /// Sorting by inclusion without a list.
        missing_include = 400 "rest_orderby_include_missing_include" "Sorting by `include` needs the parameter `include`.";
    }

    /// A parameter that its own check refused.
    pub fn invalid_param(name: &str, why: &Error) -> Error {
        Error::new("rest_invalid_param", format!("Invalid parameter(s): {name}")).with_data(json!({
            "status": 400,
            "params": {name: why.message()},
            "details": {name: why.to_body()},
        }))
    }

    /// A template that the theme does not offer.
    pub fn unknown_template() -> Error {
        Error::new("rest_invalid_param", "The theme does not offer this template.")
    }

    /// A stored value that does not fit its schema would be lost.
    pub fn invalid_stored_meta(name: &str) -> Error {
        Error::new("rest_invalid_stored_value", format!("The stored meta value {name} does not fit its type."))
            .with_status(500)
    }

    /// A value that its column does not take.
    pub fn not_stored(exists: bool) -> Error {
        let code = if exists { "db_update_error" } else { "db_insert_error" };
        error(code, "The post cannot be stored: a value is too long.", 500)
    }

    /// A stored setting that does not fit its schema would be lost.
    pub fn invalid_stored_setting(name: &str) -> Error {
        let text = format!("The stored value of the setting {name} does not fit its type, so it cannot be taken away.");
        Error::new("rest_invalid_stored_value", text).with_status(500)
    }

    /// A registered meta value that this caller may not write.
    pub fn cannot_update_meta(name: &str) -> Error {
        Error::new("rest_cannot_update", format!("You are not allowed to change the meta value {name}."))
            .with_data(serde_json::json!({"key": name, "status": 403}))
    }

    /// A registered meta value that this caller may not delete.
    pub fn cannot_delete_meta(name: &str) -> Error {
        Error::new("rest_cannot_delete", format!("You are not allowed to delete the meta value {name}."))
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
        /// No comment has this number.
        not_found = 404 "rest_comment_invalid_id" "There is no such comment.";

        /// The post of a comment is gone.
        post_is_gone = 404 "rest_post_invalid_id" "There is no such post.";

        /// Posts of this type have no notes.
        notes_not_supported = 403 "rest_comment_not_supported_post_type" "Posts of this type have no notes.";

        /// Guests may not comment here.
        login_required = 401 "rest_comment_login_required" "Sign in to comment.";

        /// A comment must be on a post that exists.
        invalid_post = 403 "rest_comment_invalid_post_id" "A comment needs a post that exists.";

        /// Drafts take no comments.
        draft_post = 403 "rest_comment_draft_post" "Drafts take no comments.";

        /// Posts in the trash take no comments.
        trashed_post = 403 "rest_comment_trash_post" "Posts in the trash take no comments.";

        /// The post takes no more comments.
        closed = 403 "rest_comment_closed" "This post takes no comments.";

        /// A request to create named the number of a comment.
        exists = 400 "rest_comment_exists" "An existing comment cannot be created: send the change to its own address.";

        /// Only comments and notes are written here.
        invalid_type = 400 "rest_invalid_comment_type" "Comments of this type cannot be created.";

        /// A comment keeps its type.
        type_is_fixed = 404 "rest_comment_invalid_type" "The type of a comment cannot be changed.";

        /// Nothing is said.
        no_content = 400 "rest_comment_content_invalid" "A comment needs content.";

        /// The site wants to know the author's name and e-mail address.
        author_data_required = 400 "rest_comment_author_data_required" "A comment needs its author's name and e-mail address.";

        /// There is no such user to be the author.
        unknown_author = 400 "rest_comment_author_invalid" "There is no such author.";

        /// The same has been said already, by the same author, in the same place.
        duplicate = 409 "comment_duplicate" "You have said this already.";

        /// Comments of one author follow one another too quickly.
        flood = 400 "comment_flood" "You are commenting too quickly. Wait a moment.";

        /// The comment is in the trash already.
        already_trashed = 410 "rest_already_trashed" "The comment is in the trash already.";
    }

    /// A member is longer than its column; the code names it.
    pub fn too_long(code: &'static str) -> Error {
        error(code, "A member of the comment is too long.", 400)
    }
}

/// Errors of media.
pub mod media {
    use super::*;

    fn error(code: &str, message: &str, status: u16) -> Error {
        Error::new(code, message).with_status(status)
    }

    errors! {
        /// Nothing was sent.
        no_data = 400 "rest_upload_no_data" "The request has no file.";

        /// A file as the body, without a header that names it.
        no_disposition = 400 "rest_upload_no_content_disposition" "The request has no Content-Disposition header.";

        /// What arrived is not what was sent.
        hash_mismatch = 412 "rest_upload_hash_mismatch" "The file differs from the checksum that was sent with it.";

        /// A featured image that does not exist or is no image.
        invalid_featured_media = 400 "rest_invalid_featured_media" "The featured image does not exist or is not an image.";

        /// What is wrong with an address that the server does not ask.
        refused_url = 400 "rest_invalid_url" "Only images at public addresses can be fetched.";

        /// An address that names no image.
        no_image_address = 400 "rest_invalid_url" "The address does not name an image.";

        /// Nobody answered at an address.
        no_answer = 500 "http_request_failed" "The image could not be fetched.";

        /// Attachments hang neither on attachments nor on revisions.
        invalid_parent_type = 400 "rest_invalid_param" "Files cannot be attached to a post of this type.";

        /// Attachments know no trash.
        no_trash = 501 "rest_trash_not_supported" "Files cannot be moved to the trash: set force to delete them.";

        /// The attachment is no image, or not the one of the address given.
        unknown_attachment = 404 "rest_unknown_attachment" "There is no such image.";

        /// Images of this type are not edited.
        cannot_edit_type = 400 "rest_cannot_edit_file_type" "Files of this type cannot be edited.";

        /// No change was asked for.
        not_edited = 400 "rest_image_not_edited" "The request asks for no change of the image.";

        /// The file is no image that can be read.
        unreadable_image = 500 "rest_unknown_image_file_type" "The image cannot be read.";

        /// The image cannot be turned.
        rotation_failed = 500 "rest_image_rotation_failed" "The image could not be turned.";

        /// The part asked for is empty.
        crop_failed = 500 "rest_image_crop_failed" "This part of the image cannot be cut out.";
    }

    /// A header that should name the file and does not.
    pub fn invalid_disposition() -> Error {
        let message = "The Content-Disposition header does not name the file: attachment; filename=\"image.png\".";
        error("rest_upload_invalid_disposition", message, 400)
    }

    /// A form without a file that could be stored.
    pub fn unusable_form(message: &str) -> Error {
        error("rest_upload_unknown_error", message, 500)
    }

    /// A type of file that the caller may not upload, in a form or as the body.
    pub fn refused_type(form: bool) -> Error {
        let code = if form { "rest_upload_unknown_error" } else { "rest_upload_sideload_error" };
        error(code, "You are not allowed to upload this type of file.", 500)
    }

    /// An image that no sizes can be made of.
    pub fn unsupported_image() -> Error {
        let message = "Sizes of this kind of image cannot be made here: upload it as JPEG or PNG.";
        error("rest_upload_image_type_not_supported", message, 400)
    }

    /// A featured image for a file that has none.
    pub fn no_featured_media(mime: &str) -> Error {
        error("rest_no_featured_media", &format!("Attachments of type {mime} have no featured image."), 400)
    }

    /// An address that the server does not ask.
    pub fn invalid_url() -> Error {
        super::posts::invalid_param("url", &refused_url())
    }

    /// Something else than an image was answered at an address.
    pub fn answered(status: u16) -> Error {
        error(&format!("http_{status}"), "There is no image at the address.", 500)
    }

    /// The storage of uploads failed; the cause is logged.
    pub fn storage(cause: &dyn std::fmt::Display) -> Error {
        tracing::error!(%cause, "the storage of uploads failed");
        error("rest_upload_unknown_error", "The file could not be stored. The failure has been logged.", 500)
    }

    /// The request asks for more changes than are made at once.
    pub fn too_many_changes(most: usize) -> Error {
        error("rest_invalid_param", &format!("An image takes at most {most} changes at once."), 400)
    }
}

/// Errors of menus.
pub mod menus {
    use super::*;

    /// The properties that a custom link lacks: its title, its URL, or both.
    pub fn link_lacks(title: bool, url: bool) -> Option<Error> {
        let title = title.then(|| Error::new("rest_title_required", "A custom link needs a title.").with_status(400));
        let url = url.then(|| Error::new("rest_url_required", "A custom link needs a URL.").with_status(400));
        match (title, url) {
            (Some(mut title), Some(url)) => {
                title.merge(url);
                Some(title)
            }
            (title, url) => title.or(url),
        }
    }

    errors! {
        /// No such location.
        location_not_found = 404 "rest_menu_location_invalid" "There is no such location.";

        /// Menus go at once.
        trash_not_supported = 501 "rest_trash_not_supported" "There is no trash for menus. Set `force` to delete one for good.";

        /// The menu that an item is to stand in does not exist.
        invalid_menu = 400 "invalid_menu_id" "There is no such menu.";

        /// An item of a type without archive, or of none.
        invalid_type = 400 "rest_post_invalid_type" "There is no such type.";

        /// The post that an item is to link to does not exist.
        invalid_post = 400 "rest_post_invalid_id" "The post that the menu item links to does not exist.";

        /// The term that an item is to link to does not exist.
        invalid_term = 400 "rest_term_invalid_id" "The term that the menu item links to does not exist.";
    }

    /// A menu cannot be shown at a location that the theme does not have. The list of locations is refused with it.
    pub fn unknown_location(location: &str) -> Error {
        Error::new("rest_invalid_menu_location", format!("There is no location {location}."))
            .with_data(json!({"location": location}))
    }

    /// Another menu has this name; a request to create is told which.
    pub fn menu_exists(created: Option<TermId>) -> Error {
        let mut error = Error::new("menu_exists", "There is a menu of this name already.");
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
        not_found = 404 "rest_plugin_not_found" "There is no such plugin.";

        /// A plugin in use.
        is_active = 400 "rest_cannot_delete_active_plugin" "The plugin is active. Deactivate it before you delete it.";

        /// An extension is part of the program.
        is_compiled_in = 400 "rest_cannot_delete_extension" "This is a part of the server itself. It can be deactivated, not deleted.";

        /// A package was unpacked, and no plugin is in it.
        no_plugin_inside = 500 "incompatible_archive_no_plugins" "The package holds no plugin.";

        /// The folder of the plugin is there already.
        folder_exists = 500 "folder_exists" "There is a folder of this name already.";
    }

    /// The files cannot be removed.
    pub fn cannot_remove(error: &std::io::Error) -> Error {
        tracing::warn!(%error, "a plugin was not deleted");
        Error::new("could_not_remove_plugin", "The plugin's files could not be removed.").with_status(500)
    }

    /// The plugin asks for a newer WordPress or PHP than this server stands for.
    pub fn incompatible(wp: bool, php: bool) -> Error {
        let (code, what) = match (wp, php) {
            (true, true) => ("plugin_wp_php_incompatible", "WordPress and PHP"),
            (true, false) => ("plugin_wp_incompatible", "WordPress"),
            (false, _) => ("plugin_php_incompatible", "PHP"),
        };
        Error::new(code, format!("The plugin needs a newer version of {what}.")).with_status(500)
    }

    /// The plugin needs others that are not active. `missing` says which, by slug with their names.
    pub fn missing_dependencies(missing: Value) -> Error {
        let text = "The plugin needs other plugins, which have to be installed and active.";
        let mut error = Error::new("plugin_missing_dependencies", text);
        error.add_data(missing, None);
        error.add_data(json!({"status": 500}), None);
        error
    }

    /// The package could not be got, or is not what it should be.
    pub fn bad_package(code: &str, why: impl Into<String>) -> Error {
        Error::new(code, why).with_status(500)
    }
}

/// Errors of terms.
pub mod terms {
    use super::*;

    errors! {
        /// No term of this taxonomy has this number.
        not_found = 404 "rest_term_invalid" "There is no such term.";

        /// The term named as parent does not exist in this taxonomy.
        invalid_parent = 400 "rest_term_invalid" "There is no such parent.";

        /// A parent in a taxonomy without parents.
        not_hierarchical = 400 "rest_taxonomy_not_hierarchical" "Terms of this taxonomy have no parents.";

        /// The post whose terms are asked for does not exist.
        invalid_post = 400 "rest_post_invalid_id" "There is no such post.";
    }

    /// Nothing is left of the name once markup is taken out. Without a status, as the peer: 500.
    pub fn empty_name() -> Error {
        Error::new("empty_term_name", "A term needs a name.")
    }

    /// A name longer than the column that keeps it. Without a status, as the peer: 500.
    pub fn name_too_long() -> Error {
        Error::new("db_insert_error", "The term could not be stored.").with_data(json!("The name is too long."))
    }

    /// Another term of the taxonomy has this slug. Without a status, as the peer: 500.
    pub fn duplicate_slug(slug: &str) -> Error {
        Error::new("duplicate_term_slug", format!("Another term has the slug {slug}."))
    }

    /// A term of this name, or slug, is there already. Its number comes three times, as the peer tells it: clients look for
    /// it in each place.
    pub fn exists(existing: TermId) -> Error {
        let mut error = Error::new("term_exists", "There is a term of this name already.").with_data(json!(existing));
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
        /// No user has this number.
        not_found = 404 "rest_user_invalid_id" "There is no such user.";

        /// Nobody is signed in, and the request is about whoever is.
        not_logged_in = 401 "rest_not_logged_in" "You are not signed in.";

        /// A request to create named the number of a user.
        exists = 400 "rest_user_exists" "An existing user cannot be created: send the change to its own address.";

        /// Another user has this e-mail address, or it does not fit.
        invalid_email = 400 "rest_user_invalid_email" "This e-mail address cannot be used.";

        /// Another user has this slug.
        invalid_slug = 400 "rest_user_invalid_slug" "Another user has this slug.";

        /// The name that a user signs in with stays.
        fixed_username = 400 "rest_user_invalid_argument" "The user name cannot be changed.";

        /// The name is none that a user can have.
        invalid_username = 400 "rest_user_invalid_username" "This cannot be a user name.";

        /// The password is empty, too long, or has a character that log-in forms cannot send.
        invalid_password = 400 "rest_user_invalid_password" "A password must not be empty, very long, or contain a backslash.";

        /// What is to become of a user's posts is neither a user nor nothing.
        unreadable_reassign = 400 "rest_invalid_param" "This is no user.";

        /// The user who would get the posts does not exist, or is the one who goes.
        invalid_reassign = 400 "rest_user_invalid_reassign" "The posts cannot be given to this user.";
    }

    /// A role that the site does not have.
    pub fn unknown_role(role: &str) -> Error {
        error("rest_user_invalid_role", &format!("There is no role {role}."), 400)
    }

    /// The display name does not fit its column.
    pub fn name_too_long() -> Error {
        super::posts::invalid_param("name", &error("rest_too_long", "name must be at most 250 characters long.", 400))
    }

    /// Another user signs in with this name.
    pub fn existing_login() -> Error {
        Error::new("existing_user_login", "There is a user of this name already.")
    }

    /// Another user has this e-mail address.
    pub fn existing_email() -> Error {
        Error::new("existing_user_email", "There is a user of this e-mail address already.")
    }

    /// The name does not fit its column.
    pub fn login_too_long() -> Error {
        Error::new("user_login_too_long", "A user name has at most 60 characters.")
    }

    /// The slug does not fit its column.
    pub fn slug_too_long() -> Error {
        Error::new("user_nicename_too_long", "The slug of a user has at most 50 characters.")
    }

    /// The address does not fit its column.
    pub fn url_too_long() -> Error {
        Error::new("user_url_too_long", "The address of a web site has at most 100 characters.")
    }
}

/// Errors of application passwords.
pub mod application_passwords {
    use super::*;

    errors! {
        /// The site lets nobody use application passwords.
        disabled = 501 "application_passwords_disabled" "Application passwords cannot be used on this site.";

        /// The user has no application password of this UUID.
        not_found = 404 "rest_application_password_not_found" "There is no such application password.";

        /// Nothing is left of the name once markup is taken out.
        empty_name = 400 "application_password_empty_name" "An application password needs a name.";

        /// The user has as many as anybody may have.
        too_many = 400 "rest_too_many_application_passwords" "Delete an application password before you make another.";

        /// The operating system gave no random bytes.
        no_randomness = 500 "rest_internal_error" "The password could not be made.";

        /// The request was not signed in with an application password.
        none_in_use = 404 "rest_no_authenticated_app_password" "This request does not use an application password.";
    }
}

/// Errors of widgets.
pub mod widgets {
    use super::*;

    errors! {
        /// No such sidebar.
        sidebar_not_found = 404 "rest_sidebar_not_found" "There is no such sidebar.";

        /// No such widget.
        not_found = 404 "rest_widget_not_found" "There is no such widget.";

        /// No such kind of widgets.
        invalid_type = 404 "rest_widget_type_invalid" "There is no such kind of widgets.";

        /// A change of a widget of an unknown kind: 500, as the peer.
        unknown_kind = 500 "rest_invalid_widget" "There is no such kind of widgets.";
    }

    /// The widget cannot be made or changed so.
    pub fn invalid(why: &str) -> Error {
        Error::new("rest_invalid_widget", why).with_status(400)
    }
}

/// Errors of fonts.
pub mod fonts {
    use super::*;

    errors! {
        /// The family that a face belongs to does not exist.
        invalid_parent = 404 "rest_post_invalid_parent" "There is no such font family.";

        /// The face belongs to another family.
        parent_mismatch = 404 "rest_font_face_parent_id_mismatch" "The font face is of another family.";

        /// The very same face is there already.
        duplicate_face = 400 "rest_duplicate_font_face" "There is such a font face already.";

        /// No such collection.
        collection_not_found = 404 "rest_font_collection_not_found" "There is no such collection of fonts.";

        /// The collection's fonts are not at hand.
        collection_missing = 500 "font_collection_json_missing" "The fonts of this collection are not at hand.";
    }

    /// Another family has this slug.
    pub fn duplicate_family(slug: &str) -> Error {
        let text = format!("There is a font family {slug} already.");
        Error::new("rest_duplicate_font_family", text).with_status(400)
    }
}
