//! Conditions for lists of posts.

use chrono::NaiveDateTime;
use svc_model::{PostId, TermId, UserId};

use super::search::SearchColumn;
use crate::Order;
use crate::query::list_query;

/// Sort order of posts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostOrderBy {
    /// Id of the author.
    Author,
    /// Date in the site's time zone.
    Date,
    /// Id.
    Id,
    /// The order of `include`; the direction is ignored.
    Include,
    /// The order of `slugs`; the direction is ignored.
    IncludeSlugs,
    /// Date of the last modification.
    Modified,
    /// Id of the parent.
    Parent,
    /// Best search matches first, then by date in the given direction.
    Relevance,
    /// Slug.
    Slug,
    /// Title.
    Title,
    /// `menu_order`.
    MenuOrder,
    /// Number of comments.
    CommentCount,
    /// The first value of a meta key that has an index ([`crate::meta_indexes`]), compared like this. Posts without it are omitted.
    /// At most one.
    IndexedMeta(String, MetaType),
}

/// How conditions are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relation {
    /// All must match.
    #[default]
    And,
    /// Any must match.
    Or,
}

/// How terms are matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaxOperator {
    /// Any of the terms.
    #[default]
    In,
    /// None of the terms.
    NotIn,
    /// All of the terms.
    And,
}

/// A condition on the terms of a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaxClause {
    /// Name of the taxonomy.
    pub taxonomy: String,
    /// Ids of terms.
    pub terms: Vec<TermId>,
    /// How the terms are matched.
    pub operator: TaxOperator,
    /// Whether posts with child terms match too.
    pub include_children: bool,
}

/// Comparison operator for meta values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum MetaCompare {
    #[default]
    Eq,
    Gt,
    Gte,
    Lt,
    Lte,
    In,
    Exists,
    NotExists,
}

/// How meta values are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetaType {
    /// As text.
    #[default]
    Text,
    /// As an integer.
    Integer,
    /// As a number.
    Number,
}

/// A condition on the meta of a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetaClause {
    /// Meta key.
    pub key: String,
    /// Values to compare with; more than one only for `In`.
    pub values: Vec<String>,
    /// Comparison operator.
    pub compare: MetaCompare,
    /// Another comparison that the same value must match: the other end of a range.
    pub other_end: Option<(MetaCompare, String)>,
    /// Type of the comparison.
    pub value_type: MetaType,
    /// Whether the key has an index for comparisons of this type ([`crate::meta_indexes`]).
    pub indexed: bool,
}

/// Conditions and how they are combined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clauses<T> {
    /// How the conditions are combined.
    pub relation: Relation,
    /// The conditions. If empty, there is no restriction.
    pub clauses: Vec<T>,
}

list_query! {
    /// Conditions for a list of posts. Empty lists and `None` are no restriction.
    #[derive(Clone, Debug, Default, PartialEq)]
    pub struct PostQuery {
        /// Only these post types.
        pub post_types: Vec<String>,
        /// Statuses that are listed regardless of the author.
        pub statuses: Vec<String>,
        /// Additional statuses, listed only for posts of this author (private posts of the caller).
        pub own_statuses: Option<(UserId, Vec<String>)>,
        /// Only posts by these authors.
        pub author_in: Vec<UserId>,
        /// Excluded authors. If given, `author_in` is ignored.
        pub author_not_in: Vec<UserId>,
        /// Only these ids.
        pub include: Vec<PostId>,
        /// Excluded ids. Ignored if `include` is given.
        pub exclude: Vec<PostId>,
        /// Only posts that also have one of these ids (`Some(empty)` matches nothing). It does not affect `exclude`.
        pub ids: Option<Vec<PostId>>,
        /// Also excluded ids, even if they are in `include`.
        pub not_ids: Vec<PostId>,
        /// Only these stored slugs.
        pub slugs: Vec<String>,
        /// Exact title.
        pub title: Option<String>,
        /// Only children of these posts.
        pub parent_in: Vec<PostId>,
        /// Excluded parents. Ignored if `parent_in` is given.
        pub parent_not_in: Vec<PostId>,
        /// Only posts with this `menu_order`.
        pub menu_order: Option<i64>,
        /// Media types: `image` matches all images, `image/png` one type.
        pub mime_types: Vec<String>,
        /// Search text.
        pub search: Option<String>,
        /// Whether a column must equal a search term instead of containing it.
        pub search_exact: bool,
        /// Columns to search; all if empty.
        pub search_columns: Vec<SearchColumn>,
        /// Whether the names of attached files are searched too.
        pub search_file_names: bool,
        /// Whether password-protected posts are excluded (searches by anonymous users).
        pub without_password: bool,
        /// Only posts after this time, in the site's time zone.
        pub after: Option<NaiveDateTime>,
        /// Only posts before this time, in the site's time zone.
        pub before: Option<NaiveDateTime>,
        /// Only posts modified after this time.
        pub modified_after: Option<NaiveDateTime>,
        /// Only posts modified before this time.
        pub modified_before: Option<NaiveDateTime>,
        /// Whether the four time bounds are inclusive.
        pub dates_inclusive: bool,
        /// Conditions on terms.
        pub tax: Clauses<TaxClause>,
        /// Additional conditions on terms, each with its own relation. All must match in addition to `tax`.
        pub extra_tax: Vec<Clauses<TaxClause>>,
        /// Conditions on meta.
        pub meta: Clauses<MetaClause>,
        /// Sort orders, most significant first. If empty, by date, newest first. Ties are broken by id.
        pub order_by: Vec<(PostOrderBy, Order)>,
    }
}

impl PostQuery {
    /// Whether the list is sorted by meta.
    pub(super) fn is_by_meta(&self) -> bool {
        self.indexed_order().is_some()
    }

    /// The key with an index that the list is sorted by.
    pub(super) fn indexed_order(&self) -> Option<(&str, MetaType)> {
        self.order_by.iter().find_map(|(by, _)| match by {
            PostOrderBy::IndexedMeta(key, value_type) => Some((key.as_str(), *value_type)),
            _ => None,
        })
    }

    /// The latest `limit` published posts of one type, with their total.
    pub fn published(post_type: &str, limit: u64) -> Self {
        PostQuery {
            post_types: vec![post_type.to_owned()],
            statuses: vec!["publish".to_owned()],
            limit: Some(limit),
            total: true,
            ..PostQuery::default()
        }
    }
}
