#![doc = include_str!("../README.md")]

mod builtin_types;
mod comment;
mod ids;
mod meta_kind;
mod post;
mod post_status;
mod post_type;
mod taxonomy;
mod term;
mod user;

pub use comment::Comment;
pub use ids::{CommentId, PostId, TermId, TermTaxonomyId, UserId};
pub use meta_kind::MetaKind;
pub use post::Post;
pub use post_status::{PostStatus, PostStatuses};
pub use post_type::{PostType, PostTypeCaps, PostTypes, RouteFamily};
pub use taxonomy::{Taxonomies, Taxonomy, TaxonomyCaps};
pub use term::Term;
pub use user::User;

/// A stored timestamp without a time zone. `None` is the zero date (`0000-00-00 00:00:00`), which unpublished drafts
/// have.
pub type Timestamp = Option<chrono::NaiveDateTime>;
