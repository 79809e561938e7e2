//! Which lists of posts a change of a post affects.

use svc_db::{Db, Result, Tx};
use svc_model::{Post, PostId, UserId};
use svc_versions::{Context, Key};

use super::post_query::{PostOrderBy, PostQuery};
use crate::post_changes::PostClass;
use crate::rows::{self, post_lists};
use crate::term_counts::CountedBy;

/// The columns that most lists filter and sort by. A list that uses other columns depends on all posts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listing {
    post_type: String,
    status: String,
    date: svc_model::Timestamp,
    author: i64,
    pub(super) parent: i64,
    menu_order: i64,
    slug: String,
    password: String,
    mime_type: String,
}

impl From<&Post> for Listing {
    fn from(post: &Post) -> Self {
        Listing {
            post_type: post.post_type.clone(),
            status: post.status.clone(),
            date: post.date,
            author: post.author.0,
            parent: post.parent.0,
            menu_order: post.menu_order,
            slug: post.slug.clone(),
            password: post.password.clone(),
            mime_type: post.mime_type.clone(),
        }
    }
}

impl Listing {
    /// The columns of a stored post.
    pub(super) fn of(db: &mut Db, id: PostId) -> Result<Option<Self>> {
        Ok(super::get(db, id)?.map(|post| Listing::from(&post)))
    }

    /// The columns that decide whether the post counts for its terms.
    pub(super) fn counted_by(&self) -> CountedBy {
        CountedBy::new(&self.status, &self.post_type, PostId(self.parent))
    }

    /// What the post is counted by.
    pub(super) fn class(&self) -> PostClass {
        let (post_type, status) = (self.post_type.clone(), self.status.clone());
        PostClass { post_type, status, author: Some(UserId(self.author)), parent: Some(PostId(self.parent)) }
    }

    /// Whether the post is a revision of its parent.
    pub(super) fn is_revision(&self) -> bool {
        self.post_type == "revision"
    }

    /// Records that the revisions of a post have changed, if this is one.
    pub(super) fn record_revision(&self, tx: &mut Tx) {
        if self.is_revision() {
            tx.record(rows::REVISIONS, &[self.parent]);
        }
    }

    /// The lists that change when these columns of a post become `after`.
    pub(super) fn changed_lists(&self, after: &Self) -> Vec<Key> {
        if self == after { Vec::new() } else { vec![post_lists(&self.post_type), post_lists(&after.post_type)] }
    }
}

/// Records what a list depends on, besides the rows of its posts.
pub(super) fn depend_on_list(cx: &Context, q: &PostQuery) {
    let uses_listing = q.title.is_none()
        && q.search.is_none()
        && q.modified_after.is_none()
        && q.modified_before.is_none()
        && q.order_by.iter().all(|(by, _)| match by {
            PostOrderBy::Author
            | PostOrderBy::Date
            | PostOrderBy::Id
            | PostOrderBy::Include
            | PostOrderBy::IncludeSlugs
            | PostOrderBy::Parent
            | PostOrderBy::Slug
            | PostOrderBy::MenuOrder => true,
            PostOrderBy::Modified
            | PostOrderBy::Relevance
            | PostOrderBy::Title
            | PostOrderBy::CommentCount
            | PostOrderBy::IndexedMeta(..) => false,
        });
    if uses_listing && !q.post_types.is_empty() {
        // Also on changes of unknown rows.
        rows::POSTS.depend_on(cx, []);
        q.post_types.iter().for_each(|name| cx.depends_on(post_lists(name)));
    } else {
        rows::POSTS.depend_on_all(cx);
    }
    if !q.tax.clauses.is_empty() || q.extra_tax.iter().any(|tax| !tax.clauses.is_empty()) {
        // Which terms exist, and which posts have them. Their numbers of posts do not matter.
        rows::POST_TERMS.depend_on_all(cx);
        rows::TERMS.depend_on_all(cx);
    }
    if !q.meta.clauses.is_empty() || q.search_file_names || q.is_by_meta() {
        rows::POST_META.depend_on_all(cx);
    }
}
