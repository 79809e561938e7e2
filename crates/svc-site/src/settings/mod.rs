//! The site's options, parsed once per change and shared by all requests with the same scheme.

pub mod languages;
pub mod menu_assignments;
pub mod permalink_settings;
pub mod text_options;
pub mod time_zone;
pub mod urls;

use std::{
    collections::HashSet,
    sync::{Arc, OnceLock},
};

use serde_json::Value;
use svc_auth::roles::Roles;
use svc_model::PostId;
use svc_store::{StoredText, options::Options};

use self::{
    languages::Languages, menu_assignments::MenuAssignments, text_options::TextOptions, time_zone::TimeZone, urls::Urls,
};

/// Parsed options. Requests over TLS have settings of their own, whose URLs have the scheme `https`; the options are as stored.
pub struct Settings {
    /// The autoloaded options as stored.
    pub options: Arc<Options>,
    /// The site's time zone.
    pub zone: TimeZone,
    /// Generates URLs.
    pub urls: Urls,
    /// Ids of sticky posts.
    pub sticky: HashSet<PostId>,
    /// Ids of sticky posts in the order of the option.
    pub sticky_list: Vec<PostId>,
    /// Default comment status of new posts: `open` or `closed`.
    pub default_comment_status: String,
    /// Default ping status of new posts.
    pub default_ping_status: String,
    /// Options for rendering text.
    pub texts: Arc<TextOptions>,
    /// The languages of a site whose content is translated.
    pub languages: Option<Arc<Languages>>,
    roles: OnceLock<Roles>,
    menu_assignments: OnceLock<MenuAssignments>,
}

impl Settings {
    /// Parses options.
    pub fn new(options: Arc<Options>, urls: Urls) -> Self {
        let text = |name: &str| options.get(name).map_or("", StoredText::text);
        Settings {
            zone: TimeZone::from_options(text("timezone_string"), text("gmt_offset")),
            texts: Arc::new(TextOptions::new(&options, &urls)),
            urls,
            languages: None,
            sticky: sticky(options.get("sticky_posts")).into_iter().collect(),
            sticky_list: sticky(options.get("sticky_posts")),
            default_comment_status: text("default_comment_status").to_owned(),
            default_ping_status: text("default_ping_status").to_owned(),
            roles: OnceLock::new(),
            menu_assignments: OnceLock::new(),
            options,
        }
    }

    /// With the languages of the site.
    #[must_use]
    pub(crate) fn with_languages(self, languages: Option<Arc<Languages>>) -> Self {
        Settings { languages, ..self }
    }

    /// The languages of posts of this type, if they have languages.
    pub fn languages_of_type(&self, post_type: &str) -> Option<&Arc<Languages>> {
        self.languages.as_ref().filter(|languages| languages.translates_type(post_type))
    }

    /// The languages of terms of this taxonomy, if they have languages.
    pub fn languages_of_taxonomy(&self, taxonomy: &str) -> Option<&Arc<Languages>> {
        self.languages.as_ref().filter(|languages| languages.translates_taxonomy(taxonomy))
    }

    /// The site's roles from the option `<table prefix>user_roles`; the default roles if it is not stored.
    pub fn roles(&self, table_prefix: &str) -> &Roles {
        let stored = || self.stored(&format!("{table_prefix}user_roles")).filter(|stored| !stored.is_empty());
        self.roles.get_or_init(|| stored().map(|roles| Roles::from_value(&roles.json())).unwrap_or_default())
    }

    /// The assignments of menus.
    pub fn menu_assignments(&self) -> &MenuAssignments {
        self.menu_assignments.get_or_init(|| MenuAssignments::new(&self.options))
    }

    /// An option as text; empty if not stored.
    pub fn option(&self, name: &str) -> &str {
        self.stored(name).map_or("", StoredText::text)
    }

    /// An option's stored value.
    pub fn stored(&self, name: &str) -> Option<&StoredText> {
        self.options.get(name)
    }

    /// URL of the uploads folder, without a trailing slash, for responses.
    pub fn uploads_url(&self) -> String {
        self.urls.site.with_scheme(&self.stored_uploads_url())
    }

    /// URL of the uploads folder, without a trailing slash, for the database. It does not depend on the request.
    pub fn stored_uploads_url(&self) -> String {
        match self.option("upload_url_path") {
            "" => format!("{}/wp-content/uploads", self.option("siteurl").trim_end_matches('/')),
            url => url.trim_end_matches('/').to_owned(),
        }
    }

    /// URL of the themes folder, without a trailing slash.
    pub fn themes_url(&self) -> String {
        self.urls.site.site_url("wp-content/themes")
    }

    /// An option as an integer.
    pub fn number(&self, name: &str) -> i64 {
        svc_php::numeric::text_to_int(self.option(name))
    }
}

/// The ids in the option `sticky_posts`, in its order.
pub fn sticky(stored: Option<&StoredText>) -> Vec<PostId> {
    match stored.map(StoredText::json).unwrap_or_default() {
        Value::Array(ids) => ids.iter().map(svc_php::cast::to_int).map(PostId).collect(),
        Value::Object(ids) => ids.values().map(svc_php::cast::to_int).map(PostId).collect(),
        _ => Vec::new(),
    }
}
