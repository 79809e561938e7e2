//! Roles, which are named sets of capabilities in the `user_roles` option, and the capabilities of users.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::stored::truthy;

/// Capabilities and whether each is granted, in stored order.
///
/// Values are preserved as stored, because old sites store `1` or `"1"`. A value grants the capability if PHP treats it
/// as true.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapSet(IndexMap<String, Value>);

impl CapSet {
    /// Creates a set that grants these capabilities.
    pub fn granting(caps: &[&str]) -> Self {
        CapSet(caps.iter().map(|cap| ((*cap).to_owned(), Value::Bool(true))).collect())
    }

    /// Reads an unserialized map of capabilities. Anything else yields an empty set.
    pub fn from_value(stored: &Value) -> Self {
        CapSet(stored.as_object().into_iter().flatten().map(|(cap, v)| (cap.clone(), v.clone())).collect())
    }

    /// The map to store and to return over REST.
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.iter().map(|(cap, v)| (cap.clone(), v.clone())).collect())
    }

    /// Returns whether the set itself grants a capability.
    pub fn grants(&self, cap: &str) -> bool {
        self.0.get(cap).is_some_and(truthy)
    }

    /// Returns whether the set includes a primitive capability, directly or by implication.
    ///
    /// `exist` is always included and `do_not_allow` never. Capabilities to manage core, plugins or themes imply
    /// installing languages, resuming paused extensions and viewing site health.
    pub fn has(&self, cap: &str) -> bool {
        let implied = match cap {
            "exist" => return true,
            "do_not_allow" => return false,
            "install_languages" => ["update_core", "install_plugins", "install_themes"].as_slice(),
            "resume_plugins" => &["activate_plugins"],
            "resume_themes" => &["switch_themes"],
            "view_site_health_checks" => &["install_plugins"],
            _ => &[],
        };
        self.grants(cap) || implied.iter().any(|by| self.grants(by))
    }

    /// The capabilities and their stored values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(cap, v)| (cap.as_str(), v))
    }

    /// Grants or denies a capability.
    pub fn set(&mut self, cap: &str, granted: bool) {
        self.0.insert(cap.to_owned(), granted.into());
    }

    /// Removes a capability, so that it is neither granted nor denied.
    pub fn remove(&mut self, cap: &str) {
        self.0.shift_remove(cap);
    }

    /// Returns whether the set has no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn merge(&mut self, other: &CapSet) {
        self.0.extend(other.0.iter().map(|(cap, v)| (cap.clone(), v.clone())));
    }
}

/// A role.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Role {
    /// Display name.
    pub name: String,
    /// Capabilities of users with this role.
    pub capabilities: CapSet,
}

/// The roles of a site by key (`editor`), in stored order.
#[derive(Clone, Debug, PartialEq)]
pub struct Roles(IndexMap<String, Role>);

impl Default for Roles {
    /// The five roles of a new site.
    fn default() -> Self {
        let rows = [
            ("administrator", "Administrator", ADMINISTRATOR),
            ("editor", "Editor", EDITOR),
            ("author", "Author", AUTHOR),
            ("contributor", "Contributor", CONTRIBUTOR),
            ("subscriber", "Subscriber", SUBSCRIBER),
        ];
        let role = |name: &str, caps| Role { name: name.to_owned(), capabilities: CapSet::granting(caps) };
        Roles(rows.into_iter().map(|(key, name, caps)| (key.to_owned(), role(name, caps))).collect())
    }
}

/// Roles and capabilities of a user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserCaps {
    /// Keys of the user's roles, in stored order.
    pub roles: Vec<String>,
    /// Entries stored for the user: roles and additional capabilities (`extra_capabilities` in the REST API).
    pub own: CapSet,
    /// The capabilities of the roles merged with the user's own (`capabilities` in the REST API).
    pub all: CapSet,
}

impl Roles {
    /// Reads the unserialized `user_roles` option and skips invalid roles.
    pub fn from_value(stored: &Value) -> Self {
        let entries = stored.as_object().into_iter().flatten();
        let role = |key: &str, role: &Map<String, Value>| Role {
            name: role.get("name").and_then(Value::as_str).unwrap_or(key).to_owned(),
            capabilities: CapSet::from_value(role.get("capabilities").unwrap_or(&Value::Null)),
        };
        Roles(entries.filter_map(|(key, value)| Some((key.clone(), role(key, value.as_object()?)))).collect())
    }

    /// The option value to store.
    pub fn to_value(&self) -> Value {
        let role = |role: &Role| json!({"name": role.name, "capabilities": role.capabilities.to_value()});
        Value::Object(self.0.iter().map(|(key, r)| (key.clone(), role(r))).collect())
    }

    /// Looks up a role by key.
    pub fn get(&self, key: &str) -> Option<&Role> {
        self.0.get(key)
    }

    /// All roles by key, in stored order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Role)> {
        self.0.iter().map(|(key, role)| (key.as_str(), role))
    }

    /// Adds a role, replacing one with the same key.
    pub fn insert(&mut self, key: &str, role: Role) {
        self.0.insert(key.to_owned(), role);
    }

    /// The capabilities of a user with this unserialized `capabilities` meta.
    ///
    /// As in WordPress, every key that names a role grants its capabilities, even if its value is false. Entries stored
    /// for the user override those of roles, so that false revokes a capability.
    pub fn caps_of(&self, stored: &Value) -> UserCaps {
        let own = CapSet::from_value(stored);
        let mut user = UserCaps::default();
        for (key, role) in own.iter().filter_map(|(key, _)| Some((key, self.get(key)?))) {
            user.roles.push(key.to_owned());
            user.all.merge(&role.capabilities);
        }
        user.all.merge(&own);
        user.own = own;
        user
    }
}

#[rustfmt::skip]
const ADMINISTRATOR: &[&str] = &[
    "switch_themes", "edit_themes", "activate_plugins", "edit_plugins", "edit_users", "edit_files", "manage_options",
    "moderate_comments", "manage_categories", "manage_links", "upload_files", "import", "unfiltered_html",
    "edit_posts", "edit_others_posts", "edit_published_posts", "publish_posts", "edit_pages", "read", "level_10",
    "level_9", "level_8", "level_7", "level_6", "level_5", "level_4", "level_3", "level_2", "level_1", "level_0",
    "edit_others_pages", "edit_published_pages", "publish_pages", "delete_pages", "delete_others_pages",
    "delete_published_pages", "delete_posts", "delete_others_posts", "delete_published_posts",
    "delete_private_posts", "edit_private_posts", "read_private_posts", "delete_private_pages", "edit_private_pages",
    "read_private_pages", "delete_users", "create_users", "unfiltered_upload", "edit_dashboard", "update_plugins",
    "delete_plugins", "install_plugins", "update_themes", "install_themes", "update_core", "list_users",
    "remove_users", "promote_users", "edit_theme_options", "delete_themes", "export",
];

#[rustfmt::skip]
const EDITOR: &[&str] = &[
    "moderate_comments", "manage_categories", "manage_links", "upload_files", "unfiltered_html", "edit_posts",
    "edit_others_posts", "edit_published_posts", "publish_posts", "edit_pages", "read", "level_7", "level_6",
    "level_5", "level_4", "level_3", "level_2", "level_1", "level_0", "edit_others_pages", "edit_published_pages",
    "publish_pages", "delete_pages", "delete_others_pages", "delete_published_pages", "delete_posts",
    "delete_others_posts", "delete_published_posts", "delete_private_posts", "edit_private_posts",
    "read_private_posts", "delete_private_pages", "edit_private_pages", "read_private_pages",
];

#[rustfmt::skip]
const AUTHOR: &[&str] = &[
    "upload_files", "edit_posts", "edit_published_posts", "publish_posts", "read", "level_2", "level_1", "level_0",
    "delete_posts", "delete_published_posts",
];

#[rustfmt::skip]
const CONTRIBUTOR: &[&str] = &[
    "edit_posts", "read", "level_1", "level_0", "delete_posts",
];

#[rustfmt::skip]
const SUBSCRIBER: &[&str] = &[
    "read", "level_0",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_roles_have_their_capabilities() {
        let roles = Roles::default();
        for (key, n, has, lacks) in [
            ("administrator", 61, "manage_options", "nonexistent"),
            ("editor", 34, "edit_others_posts", "manage_options"),
            ("author", 10, "publish_posts", "edit_pages"),
            ("contributor", 5, "edit_posts", "publish_posts"),
            ("subscriber", 2, "read", "edit_posts"),
        ] {
            let caps = &roles.get(key).unwrap().capabilities;
            assert_eq!(caps.iter().count(), n, "{key}");
            assert!(caps.has(has) && !caps.has(lacks), "{key}");
        }
        assert_eq!(Roles::from_value(&roles.to_value()), roles);
    }

    #[test]
    fn merged_capabilities_of_users() {
        let roles = Roles::default();
        // stored meta, roles, number of capabilities, edit_posts, x; recorded from WordPress
        let rows = [
            (json!({"subscriber": true}), &["subscriber"] as &[_], 3, false, false),
            (json!({"subscriber": false}), &["subscriber"], 3, false, false),
            (json!({"editor": true, "edit_posts": false}), &["editor"], 35, false, false),
            (json!({"editor": true, "subscriber": true, "x": true}), &["editor", "subscriber"], 37, true, true),
            (json!({"author": true, "contributor": ""}), &["author", "contributor"], 12, true, false),
            (json!({"x": 1}), &[], 1, false, true),
            (json!({"x": "0"}), &[], 1, false, false),
            (json!({"x": 0.0}), &[], 1, false, false),
            (json!({"x": []}), &[], 1, false, false),
            (json!({"x": [0]}), &[], 1, false, true),
            (json!({"x": {}}), &[], 1, false, false),
            (json!({"x": {"y": 0}}), &[], 1, false, true),
            (json!({"nosuch": true}), &[], 1, false, false),
            (json!([]), &[], 0, false, false),
            (json!("junk"), &[], 0, false, false),
            (json!(null), &[], 0, false, false),
        ];
        for (stored, keys, n, edit_posts, x) in rows {
            let user = roles.caps_of(&stored);
            assert_eq!(user.roles, keys, "{stored}");
            assert_eq!(user.all.iter().count(), n, "{stored}");
            assert_eq!((user.all.has("edit_posts"), user.all.has("x")), (edit_posts, x), "{stored}");
        }
    }

    #[test]
    fn capabilities_and_roles_change() {
        let mut caps = CapSet::default();
        assert!(caps.is_empty());
        caps.set("x", true);
        caps.set("y", false);
        assert!(!caps.is_empty() && caps.has("x") && !caps.has("y"));
        assert_eq!(caps.to_value(), json!({"x": true, "y": false}));
        caps.remove("x");
        assert!(!caps.has("x"));
        let mut roles = Roles::default();
        roles.insert("editor", Role { name: "Chief".to_owned(), capabilities: caps });
        roles.insert("guest", Role::default());
        assert_eq!(roles.get("editor").map(|role| role.name.as_str()), Some("Chief"));
        let keys: Vec<&str> = roles.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["administrator", "editor", "author", "contributor", "subscriber", "guest"]);
    }

    #[test]
    fn implied_capabilities() {
        let names = ["install_languages", "resume_plugins", "resume_themes", "view_site_health_checks"];
        for (stored, expected) in [
            (json!({"update_core": true, "install_plugins": false}), [true, false, false, false]),
            (json!({"install_plugins": true, "install_languages": false}), [true, false, false, true]),
            (json!({"activate_plugins": true}), [false, true, false, false]),
            (json!({"switch_themes": true, "install_themes": true}), [true, false, true, false]),
            (json!({"resume_plugins": true}), [false, true, false, false]),
            (json!({}), [false; 4]),
        ] {
            let caps = CapSet::from_value(&stored);
            assert_eq!(names.map(|name| caps.has(name)), expected, "{stored}");
        }
        let caps = CapSet::from_value(&json!({"exist": false, "do_not_allow": true}));
        assert!(caps.has("exist") && !caps.has("do_not_allow"));
    }

    #[test]
    fn invalid_stored_roles_are_skipped() {
        let roles = Roles::from_value(&json!({"a": {"name": "A", "capabilities": {"x": "1"}}, "b": {}, "c": 5}));
        assert_eq!(roles.iter().map(|(k, r)| (k, r.name.as_str())).collect::<Vec<_>>(), [("a", "A"), ("b", "b")]);
        assert!(roles.get("a").unwrap().capabilities.has("x"));
        assert_eq!(Roles::from_value(&json!(false)).iter().count(), 0);
    }
}
