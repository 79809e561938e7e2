//! What an import knows: the objects of the file with their IDs on this site, and what is left to be done.

use std::collections::HashMap;

use svc_model::{PostId, TermId};
use svc_store::posts::PostIdentity;

use super::{ImportReport, known::KnownPosts};

/// What is known after the entries so far.
pub(super) struct State {
    pub(super) known: KnownPosts,
    /// Names of authors, by their ID in the file.
    pub(super) authors: HashMap<i64, String>,
    /// Terms by their ID in the file.
    pub(super) terms: HashMap<i64, TermId>,
    /// Posts by their ID in the file.
    pub(super) posts: HashMap<i64, PostId>,
    /// Posts that were created, now or by an import that was interrupted.
    pub(super) pending: Vec<PostId>,
    pub(super) references: Vec<Reference>,
    /// URLs of files before and now.
    pub(super) urls: HashMap<String, String>,
    pub(super) sticky: Vec<PostId>,
    pub(super) report: ImportReport,
}

/// A value that names a post or a term by its ID in the file, which may come later in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// The post that has the value.
    pub(super) post: PostId,
    pub(super) to: ReferenceTo,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReferenceTo {
    /// The parent.
    Parent(i64),
    /// A post, in the meta of this key.
    Post(&'static str, i64),
    /// A term, in the meta of this key.
    Term(&'static str, i64),
}

/// What a transaction has done.
#[derive(Clone, Debug, Default)]
pub(super) struct Done {
    /// IDs in the file, and posts.
    pub(super) posts: Vec<(i64, PostId)>,
    pub(super) created: Vec<PostIdentity>,
    /// The created posts, and those that an interrupted import has created.
    pub(super) pending: Vec<PostId>,
    pub(super) existing: u64,
    pub(super) references: Vec<Reference>,
    pub(super) urls: Vec<(String, String)>,
    pub(super) sticky: Vec<PostId>,
    pub(super) terms: u64,
    pub(super) comments: u64,
    pub(super) problems: Vec<String>,
}

impl State {
    pub(super) fn new(known: KnownPosts) -> Self {
        State {
            known,
            authors: HashMap::new(),
            terms: HashMap::new(),
            posts: HashMap::new(),
            pending: Vec::new(),
            references: Vec::new(),
            urls: HashMap::new(),
            sticky: Vec::new(),
            report: ImportReport::default(),
        }
    }

    /// Adds what a transaction has done.
    pub(super) fn merge(&mut self, done: Done) {
        let report = &mut self.report;
        report.created = report.created.saturating_add(done.created.len() as u64);
        report.existing = report.existing.saturating_add(done.existing);
        report.terms = report.terms.saturating_add(done.terms);
        report.comments = report.comments.saturating_add(done.comments);
        done.problems.into_iter().for_each(|problem| report.problem(problem));
        self.posts.extend(done.posts);
        self.references.extend(done.references);
        self.urls.extend(done.urls);
        self.sticky.extend(done.sticky);
        self.pending.extend(done.pending);
        done.created.into_iter().for_each(|post| self.known.add(post));
    }
}
