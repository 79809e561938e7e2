//! Members of a user, each named once: schema, how it is read, how it is written.

use std::sync::Arc;

use serde_json::Value;
use svc_auth::{Secret, roles::UserCaps};
use svc_model::User;
use svc_resource::Fields;
use svc_schema::{
    Error,
    build::{SchemaBuilder, array, integer, string, untyped},
};
use svc_site::{
    Settings,
    users::{draft::UserDraft, locales},
};
use svc_store::Meta;

use super::errors;
use crate::{
    RestSite,
    args::one_line,
    avatar_fields,
    contexts::{EDIT, EMBED_VIEW_EDIT},
};

/// The table of users.
pub(super) type UserFields = Fields<UserItem, UserDraft>;

/// What additional fields and the item schema call a user.
pub(super) const OBJECT: &str = "user";

/// What PHP prints of the zero date.
const ZERO_DATE: &str = "-0001-11-30T00:00:00+00:00";

/// A user with everything loaded that its members read.
pub(super) struct UserItem {
    /// The row.
    pub(super) user: User,
    /// Stored meta; empty when the plan reads none.
    pub(super) meta: Meta,
    /// Roles and capabilities; empty when the plan reads none.
    pub(super) caps: UserCaps,
    /// The site's options as of this request.
    pub(super) settings: Arc<Settings>,
}

impl UserItem {
    /// A text of the user's meta.
    fn text(&self, key: &str) -> String {
        self.meta.text(key).to_owned()
    }

    /// The user's language, or that of the site.
    fn locale(&self) -> String {
        match self.meta.text("locale") {
            own if !own.is_empty() => own.to_owned(),
            _ => locales::of_site(&self.settings).to_owned(),
        }
    }

    fn registered(&self) -> String {
        self.user.registered.map_or_else(|| ZERO_DATE.to_owned(), |d| d.format("%Y-%m-%dT%H:%M:%S+00:00").to_string())
    }
}

/// The table of users on this site, with or without addresses of avatars.
#[rustfmt::skip]
pub(super) fn fields(site: &RestSite, with_avatars: bool) -> UserFields {
    let mut f = UserFields::new(OBJECT);
    f.add("id", integer().describe("Number that identifies the user.").context(EMBED_VIEW_EDIT).readonly()).get(|u| u.user.id);
    f.add("username", string().describe("Name that the user signs in with.").context(EDIT).required())
        .sanitize_with(username).get(|u| u.user.login.clone()).set(|d, v| d.username = Some(v));
    f.add("name", string().describe("Name that the user is shown by.").context(EMBED_VIEW_EDIT))
        .sanitize_with(one_line).get(|u| u.user.display_name.clone()).set(|d, v| d.name = Some(v));
    f.add("first_name", string().describe("The user's first name.").context(EDIT))
        .sanitize_with(one_line).get(|u| u.text("first_name")).set(|d, v| d.first_name = Some(v));
    f.add("last_name", string().describe("The user's last name.").context(EDIT))
        .sanitize_with(one_line).get(|u| u.text("last_name")).set(|d, v| d.last_name = Some(v));
    f.add("email", string().describe("The user's e-mail address.").format("email").context(EDIT).required())
        .get(|u| u.user.email.clone()).set(|d, v| d.email = Some(v));
    f.add("url", string().describe("Address of the user's web site.").format("uri").context(EMBED_VIEW_EDIT))
        .get(|u| u.user.url.clone()).set(|d, v| d.url = Some(v));
    f.add("description", string().describe("What the user says of himself, as HTML.").context(EMBED_VIEW_EDIT))
        .get(|u| u.text("description")).set(|d, v| d.description = Some(v));
    f.add("link", string().describe("Address of the page with the user's posts.").format("uri").context(EMBED_VIEW_EDIT).readonly())
        .get(|u| u.settings.urls.author(&u.user));
    f.add("locale", string().describe("The user's language.").one_of(locales::choices(site)).context(EDIT))
        .get(UserItem::locale).set(|d, v| d.locale = Some(v));
    f.add("nickname", string().describe("What the user likes to be called.").context(EDIT))
        .sanitize_with(one_line).get(|u| u.text("nickname")).set(|d, v| d.nickname = Some(v));
    f.add("slug", string().describe("Name of the user as it stands in addresses.").context(EMBED_VIEW_EDIT))
        .sanitize_with(slug).get(|u| u.user.nicename.clone()).set(|d, v| d.slug = Some(v));
    f.add("registered_date", string().describe("When the user was made.").format("date-time").context(EDIT).readonly()).get(UserItem::registered);
    f.add("roles", array(string()).describe("Roles of the user.").context(EDIT))
        .get(|u| u.caps.roles.clone()).set(|d, v| d.roles = Some(v));
    f.add("password", string().describe("The user's password; it is never shown.").context(&[]).required())
        .sanitize_with(password).set(|d, v: String| d.password = Some(Secret::new(v)));
    f.add("capabilities", map().describe("Everything that the user may do.").context(EDIT).readonly()).get(|u| u.caps.all.to_value());
    f.add("extra_capabilities", map().describe("What is kept of the user's rights with the user: roles, and capabilities beside them.").context(EDIT).readonly())
        .get(|u| u.caps.own.to_value());
    if with_avatars {
        let urls = f.add("avatar_urls", avatar_fields::schema("Addresses of the user's picture, by width in pixels.", EMBED_VIEW_EDIT));
        avatar_fields::add_sizes(urls, &site.avatar_sizes, EMBED_VIEW_EDIT, pictured);
    }
    crate::meta_fields::add_member(&mut f, &site.meta, "user", "", |u| &u.meta).set(|d, v| d.meta = Some(v));
    f.all_exact()
}

/// A map whose members nobody lists.
fn map() -> SchemaBuilder {
    untyped().keyword("type", "object")
}

/// What a user's picture is found by.
fn pictured(item: &UserItem) -> (&str, &Settings) {
    (item.user.email.as_str(), &*item.settings)
}

/// The text of an argument that has passed its schema.
fn text(value: &Value) -> String {
    svc_php::cast::to_text(value).into_owned()
}

fn slug(value: Value, _: &str) -> Result<Value, Error> {
    Ok(svc_text::sanitize_title(&text(&value)).into())
}

/// A name is taken as it is or not at all.
fn username(value: Value, _: &str) -> Result<Value, Error> {
    let name = text(&value);
    if svc_text::validate_username(&name) { Ok(name.into()) } else { Err(errors::invalid_username()) }
}

fn password(value: Value, _: &str) -> Result<Value, Error> {
    let password = text(&value);
    let fits = !matches!(password.as_str(), "" | "0")
        && password.len() <= svc_auth::password::MAX_LENGTH
        && !password.contains('\\');
    if fits { Ok(password.into()) } else { Err(errors::invalid_password()) }
}
