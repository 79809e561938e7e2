//! Ids as distinct types, so that a post cannot be looked up by a term's id.

macro_rules! id {
    ($(#[$doc:meta] $name:ident),*) => {$(
        #[$doc]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$name> for i64 {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl From<$name> for serde_json::Value {
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }

        impl $name {
            /// Returns whether the id is 0, which stored rows use for "none".
            pub fn is_none(self) -> bool {
                self.0 == 0
            }
        }
    )*};
}

id! {
    /// Id of a post of any type (`posts.ID`).
    PostId,
    /// Id of a term (`terms.term_id`).
    TermId,
    /// Id of a term within a taxonomy (`term_taxonomy.term_taxonomy_id`).
    TermTaxonomyId,
    /// Id of a user (`users.ID`); 0 is an anonymous user.
    UserId,
    /// Id of a comment (`comments.comment_ID`).
    CommentId
}
