//! Roles: named sets of capabilities, as the `user_roles` option holds them, and what a user may do by his.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use crate::stored::truthy;

/// Capabilities and whether each is granted, in stored order.
///
/// Values are kept as stored, since old sites hold `1` and `"1"` for true; what PHP takes for true grants.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CapSet(IndexMap<String, Value>);

impl CapSet {
    /// A set that grants these.
    pub fn granting(caps: &[&str]) -> Self {
        CapSet(caps.iter().map(|cap| ((*cap).to_owned(), Value::Bool(true))).collect())
    }

    /// Reads an unserialized map of capabilities; anything else is an empty set.
    pub fn from_value(stored: &Value) -> Self {
        CapSet(stored.as_object().into_iter().flatten().map(|(cap, v)| (cap.clone(), v.clone())).collect())
    }

    /// The map to store, and to show in the interface.
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.iter().map(|(cap, v)| (cap.clone(), v.clone())).collect())
    }

    /// Whether the set itself grants a capability.
    pub fn grants(&self, cap: &str) -> bool {
        self.0.get(cap).is_some_and(truthy)
    }

    /// Whether its owner has a primitive capability: what the set grants and what follows from it.
    ///
    /// Everybody has `exist` and nobody `do_not_allow`, whatever is stored. Who manages core, plugins or themes may
    /// install languages, resume what was paused, and see the site's health.
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

    /// Whether it holds nothing.
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
    /// What people call it.
    pub name: String,
    /// What its users may do.
    pub capabilities: CapSet,
}

/// The roles of a site by key (`editor`), in stored order.
#[derive(Clone, Debug, PartialEq)]
pub struct Roles(IndexMap<String, Role>);

impl Default for Roles {
    /// The five roles that every site begins with.
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

/// What a user may do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserCaps {
    /// Keys of his roles, in stored order.
    pub roles: Vec<String>,
    /// What is stored for himself: his roles, and capabilities beside them (`extra_capabilities` of the interface).
    pub own: CapSet,
    /// His roles' capabilities and his own together (`capabilities` of the interface).
    pub all: CapSet,
}

impl Roles {
    /// Reads the unserialized `user_roles` option; whatever is not a role in it is left out.
    pub fn from_value(stored: &Value) -> Self {
        let entries = stored.as_object().into_iter().flatten();
        let role = |key: &str, role: &Map<String, Value>| Role {
            name: role.get("name").and_then(Value::as_str).unwrap_or(key).to_owned(),
            capabilities: CapSet::from_value(role.get("capabilities").unwrap_or(&Value::Null)),
        };
        Roles(entries.filter_map(|(key, value)| Some((key.clone(), role(key, value.as_object()?)))).collect())
    }

    /// The option to store.
    pub fn to_value(&self) -> Value {
        let role = |role: &Role| json!({"name": role.name, "capabilities": role.capabilities.to_value()});
        Value::Object(self.0.iter().map(|(key, r)| (key.clone(), role(r))).collect())
    }

    /// The role of this key.
    pub fn get(&self, key: &str) -> Option<&Role> {
        self.0.get(key)
    }

    /// All by key, in stored order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Role)> {
        self.0.iter().map(|(key, role)| (key.as_str(), role))
    }

    /// Adds a role, or replaces that of the same key.
    pub fn insert(&mut self, key: &str, role: Role) {
        self.0.insert(key.to_owned(), role);
    }

    /// What a user may do whose unserialized `capabilities` meta is this.
    ///
    /// Every key that names a role gives its capabilities, even with a false value, as on the peer; what is stored
    /// for the user himself overrides them, so that false takes a capability away.
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
        // stored meta, roles, number of capabilities, edit_posts, x; recorded from the peer
        let rows = [
            (json!({"subscriber": true}), &["subscriber"] as &[_], 3, false, false),
            (json!({"subscriber": false}), &["subscriber"], 3, false, false),
            (json!({"editor": true, "edit_posts": false}), &["editor"], 35, false, false),
            (json!({"editor": true, "subscriber": true, "x": true}), &["editor", "subscriber"], 37, true, true),
            (json!({"author": true, "contributor": ""}), &["author", "contributor"], 12, true, false),
            (json!({"x": 1}), &[], 1, false, true),
            (json!({"x": "0"}), &[], 1, false, false),
            (json!({"x": 0.0}), &[], 1, false, false),
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
    fn capabilities_that_follow_from_others() {
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
        let odd = CapSet::from_value(&json!({"exist": false, "do_not_allow": true}));
        assert!(odd.has("exist") && !odd.has("do_not_allow"));
    }

    #[test]
    fn stored_roles_of_other_shapes() {
        let roles = Roles::from_value(&json!({"a": {"name": "A", "capabilities": {"x": "1"}}, "b": {}, "c": 5}));
        assert_eq!(roles.iter().map(|(k, r)| (k, r.name.as_str())).collect::<Vec<_>>(), [("a", "A"), ("b", "b")]);
        assert!(roles.get("a").unwrap().capabilities.has("x"));
        assert_eq!(Roles::from_value(&json!(false)).iter().count(), 0);
    }
}
