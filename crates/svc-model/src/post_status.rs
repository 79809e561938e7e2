//! Post statuses.

use indexmap::IndexMap;

/// A registered post status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostStatus {
    /// `publish`, `draft`, …
    pub name: String,
    /// Display name of the status.
    pub label: String,
    /// Posts are publicly readable.
    pub public: bool,
    /// Used internally only (`trash`, `auto-draft`, `inherit`).
    pub internal: bool,
    /// Not published yet: readable only by users who may edit the post.
    pub protected: bool,
    /// Readable only by users with the post type's `read_private_posts` capability.
    pub private: bool,
    /// Can be requested in public queries.
    pub publicly_queryable: bool,
    /// Included in the editor's list of all posts.
    pub show_in_list: bool,
    /// The date stays current until the post is published.
    pub date_floating: bool,
}

/// The registered statuses, in registration order.
#[derive(Clone, Debug)]
pub struct PostStatuses(IndexMap<String, PostStatus>);

impl Default for PostStatuses {
    /// The twelve statuses that WordPress registers.
    fn default() -> Self {
        let mut all = PostStatuses(IndexMap::new());
        #[rustfmt::skip]
        let rows = [
            // name, label, public, internal, protected, private, queryable, listed, floating
            ("publish", "Published", true, false, false, false, true, true, false),
            ("future", "Scheduled", false, false, true, false, false, true, false),
            ("draft", "Draft", false, false, true, false, false, true, true),
            ("pending", "Pending", false, false, true, false, false, true, true),
            ("private", "Private", false, false, false, true, false, true, false),
            ("trash", "Trash", false, true, false, false, false, false, false),
            ("auto-draft", "auto-draft", false, true, false, false, false, false, true),
            ("inherit", "inherit", false, true, false, false, false, false, false),
            ("request-pending", "Pending", false, true, false, false, false, false, false),
            ("request-confirmed", "Confirmed", false, true, false, false, false, false, false),
            ("request-failed", "Failed", false, true, false, false, false, false, false),
            ("request-completed", "Completed", false, true, false, false, false, false, false),
        ];
        for (name, label, public, internal, protected, private, publicly_queryable, show_in_list, date_floating) in rows
        {
            all.register(PostStatus {
                name: name.to_owned(),
                label: label.to_owned(),
                public,
                internal,
                protected,
                private,
                publicly_queryable,
                show_in_list,
                date_floating,
            });
        }
        all
    }
}

impl PostStatuses {
    /// Registers a status, replacing one of the same name.
    pub fn register(&mut self, status: PostStatus) {
        self.0.insert(status.name.clone(), status);
    }

    /// Looks up a status by name.
    pub fn get(&self, name: &str) -> Option<&PostStatus> {
        self.0.get(name)
    }

    /// All statuses, in registration order.
    pub fn iter(&self) -> impl Iterator<Item = &PostStatus> {
        self.0.values()
    }

    /// Names of the publicly readable statuses.
    pub fn public_names(&self) -> Vec<&str> {
        self.iter().filter(|s| s.public).map(|s| s.name.as_str()).collect()
    }
}
