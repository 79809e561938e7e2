//! Fields of users: schema, getter and setter.

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
    Settings, Site,
    users::{draft::UserDraft, locales},
};
use svc_store::Meta;
use svc_versions::Context;

use super::errors;
use crate::{
    args::one_line,
    avatar_fields,
    contexts::{EDIT, EMBED_VIEW_EDIT},
};

/// The fields of users.
pub(super) type UserFields = Fields<UserItem, UserDraft>;

/// The object type of users in additional fields and the item schema.
pub(super) const OBJECT: &str = "user";

/// The zero date as PHP formats it.
const ZERO_DATE: &str = "-0001-11-30T00:00:00+00:00";

/// A user with all loaded data that its fields read.
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
    /// A text from the user's meta.
    fn text(&self, key: &str) -> String {
        self.meta.text(key).to_owned()
    }

    /// The user's language, or the site's.
    fn locale(&self) -> String {
        match self.meta.text("locale") {
            own if !own.is_empty() => own.to_owned(),
            _ => locales::site_locale(&self.settings).to_owned(),
        }
    }

    fn registered(&self) -> String {
        self.user.registered.map_or_else(|| ZERO_DATE.to_owned(), |d| d.format("%Y-%m-%dT%H:%M:%S+00:00").to_string())
    }
}

/// The fields of users on this site, with URLs of avatars of these sizes.
#[rustfmt::skip]
pub(super) fn fields(site: &Site, avatar_sizes: Option<&[u32]>) -> UserFields {
    let mut f = UserFields::new(OBJECT);
    f.add("id", integer().describe("The user's ID.").context(EMBED_VIEW_EDIT).readonly()).get(|u| u.user.id);
    f.add("username", string().describe("Login name of the user.").context(EDIT).required())
        .sanitize_with(username).get(|u| u.user.login.clone()).set(|d, v| d.username = Some(v));
    f.add("name", string().describe("Display name of the user.").context(EMBED_VIEW_EDIT))
        .sanitize_with(one_line).get(|u| u.user.display_name.clone()).set(|d, v| d.name = Some(v));
    f.add("first_name", string().describe("The user's first name.").context(EDIT))
        .sanitize_with(one_line).get(|u| u.text("first_name")).set(|d, v| d.first_name = Some(v));
    f.add("last_name", string().describe("The user's last name.").context(EDIT))
        .sanitize_with(one_line).get(|u| u.text("last_name")).set(|d, v| d.last_name = Some(v));
    f.add("email", string().describe("The user's e-mail address.").format("email").context(EDIT).required())
        .get(|u| u.user.email.clone()).set(|d, v| d.email = Some(v));
    f.add("url", string().describe("URL of the user's web site.").format("uri").context(EMBED_VIEW_EDIT))
        .get(|u| u.user.url.clone()).set(|d, v| d.url = Some(v));
    f.add("description", string().describe("Biography of the user, as HTML.").context(EMBED_VIEW_EDIT))
        .get(|u| u.text("description")).set(|d, v| d.description = Some(v));
    f.add("link", string().describe("URL of the user's archive page.").format("uri").context(EMBED_VIEW_EDIT).readonly())
        .get(|u| u.settings.urls.author(&u.user));
    f.add("locale", string().describe("The user's language.").one_of(locales::available(&Context::background(), site)).context(EDIT))
        .get(UserItem::locale).set(|d, v| d.locale = Some(v));
    f.add("nickname", string().describe("The user's nickname.").context(EDIT))
        .sanitize_with(one_line).get(|u| u.text("nickname")).set(|d, v| d.nickname = Some(v));
    f.add("slug", string().describe("Name of the user in URLs.").context(EMBED_VIEW_EDIT))
        .sanitize_with(slug).get(|u| u.user.nicename.clone()).set(|d, v| d.slug = Some(v));
    f.add("roles", array(string()).describe("Roles of the user.").context(EDIT))
        .get(|u| u.caps.roles.clone()).set(|d, v| d.roles = Some(v));
    f.add("registered_date", string().describe("Registration date of the user.").format("date-time").context(EDIT).readonly()).get(UserItem::registered);
    f.add("password", string().describe("The user's password. It is never returned.").context(&[]).required())
        .sanitize_with(password).set(|d, v: String| d.password = Some(Secret::new(v)));
    f.add("capabilities", map().describe("All capabilities of the user.").context(EDIT).readonly()).get(|u| u.caps.all.to_value());
    f.add("extra_capabilities", map().describe("Roles and capabilities that are assigned to the user directly.").context(EDIT).readonly())
        .get(|u| u.caps.own.to_value());
    if let Some(sizes) = avatar_sizes {
        let urls = f.add("avatar_urls", avatar_fields::schema("Avatar URLs of the user, by width in pixels.", EMBED_VIEW_EDIT));
        avatar_fields::add_sizes(urls, sizes, EMBED_VIEW_EDIT, avatar_source);
    }
    crate::meta_fields::add_member(&mut f, &site.registries.meta, "user", "", |u| &u.meta).set(|d, v| d.meta = Some(v));
    f.schema_order(&[
        "id", "username", "name", "first_name", "last_name", "email", "url", "description", "link", "locale", "nickname", "slug",
        "registered_date",
    ]);
    f.all_exact()
}

/// An object without described properties.
fn map() -> SchemaBuilder {
    untyped().keyword("type", "object")
}

/// E-mail address and settings for the avatar URLs.
fn avatar_source(item: &UserItem) -> (&str, &Settings) {
    (item.user.email.as_str(), &*item.settings)
}

/// The text of an argument that has passed its schema.
fn text(value: &Value) -> String {
    svc_php::cast::to_text(value).into_owned()
}

fn slug(value: Value, _: &str) -> Result<Value, Error> {
    Ok(svc_text::sanitize_title(&text(&value)).into())
}

/// Rejects names that sanitizing would change.
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
