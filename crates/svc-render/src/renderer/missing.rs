//! Data that a response needs and that is not cached yet.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use svc_model::{Post, UserId};
use svc_store::{Rows, Store};
use svc_versions::{expires_in, never};

use crate::external_texts::{ExternalTexts, MAX_AGE, Outcome, Texts, TextsKey};

/// Maximum number of feeds fetched per rendering.
const MAX_FETCHES: usize = 8;

/// Maximum length of a feed's URL, in bytes.
const MAX_URL: usize = 2_000;

/// External feeds, and posts whose texts another program renders, that are not cached yet. Collected while a response is rendered. Cheap to
/// clone.
///
/// Feeds that stay missing are left out. [`WithoutTexts`] decides how posts are rendered whose texts stay missing.
#[derive(Clone, Debug, Default)]
pub struct Missing(Arc<Mutex<State>>);

/// How a post is rendered if another program should render it and cannot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WithoutTexts {
    /// By this program, with its own texts. For responses to writes, which have succeeded, and for pages.
    #[default]
    Own,
    /// Not at all: the response is an error.
    Error,
}

#[derive(Debug, Default)]
struct State {
    feeds: BTreeSet<String>,
    posts: Vec<Post>,
    /// The viewer of the posts.
    user: UserId,
    /// The texts that were fetched for this response.
    texts: HashMap<TextsKey, Outcome<Arc<Texts>>>,
    /// Whether texts can be fetched after this rendering.
    fetches: bool,
    without: WithoutTexts,
}

/// The texts of a post that another program renders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Texts(Arc<Texts>),
    /// They are recorded, and the response will be rendered again.
    Later,
    /// There are none.
    None(WithoutTexts),
}

/// Data to be fetched.
#[derive(Debug)]
pub(crate) struct Taken {
    /// URLs of feeds.
    pub(crate) feeds: BTreeSet<String>,
    /// Posts whose texts another program renders.
    pub(crate) posts: Vec<Post>,
    /// The viewer of the posts.
    pub(crate) user: UserId,
}

impl Missing {
    /// For a response that is rendered again after texts were fetched.
    pub(crate) fn fetching(without: WithoutTexts) -> Self {
        Missing(Arc::new(Mutex::new(State { fetches: true, without, ..State::default() })))
    }

    /// For a response that cannot wait.
    pub fn not_fetching(without: WithoutTexts) -> Self {
        Missing(Arc::new(Mutex::new(State { without, ..State::default() })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How posts are rendered whose texts stay missing.
    pub fn without_texts(&self) -> WithoutTexts {
        self.lock().without
    }

    /// Records the URL of a feed. Ignored if it is too long, or if too many are recorded.
    pub fn record(&self, url: &str) {
        let feeds = &mut self.lock().feeds;
        if feeds.len() < MAX_FETCHES && url.len() <= MAX_URL {
            feeds.insert(url.to_owned());
        }
    }

    /// The texts of a post, on which the current computation then depends. Posts without are recorded.
    pub(crate) fn texts(&self, external: &ExternalTexts, store: &Store, user: UserId, post: &Post) -> Found {
        let key = external.key(user, post);
        let mut state = self.lock();
        // A response to a write has one post.
        let is_write = state.without == WithoutTexts::Own;
        let found = match state.texts.get(&key) {
            Some(Outcome::Stable(texts)) => {
                Rows::depend_on_everything();
                expires_in(MAX_AGE);
                return Found::Texts(Arc::clone(texts));
            }
            Some(Outcome::Unstable(texts)) if is_write => {
                never();
                return Found::Texts(Arc::clone(texts));
            }
            Some(_) => Some(None),
            None => external.cached(store, &key).filter(|texts| texts.is_some() || !is_write),
        };
        match found {
            Some(Some(texts)) => return Found::Texts(texts),
            None if state.fetches => {
                never();
                state.user = user;
                if state.posts.iter().all(|other| other.id != post.id) {
                    state.posts.push(post.clone());
                }
                return Found::Later;
            }
            Some(None) | None => {}
        }
        never();
        Found::None(state.without)
    }

    /// Removes and returns the recorded URLs and posts. Texts can only be fetched once.
    pub(crate) fn take(&self) -> Taken {
        let mut state = self.lock();
        let posts = std::mem::take(&mut state.posts);
        state.fetches &= posts.is_empty();
        Taken { feeds: std::mem::take(&mut state.feeds), posts, user: state.user }
    }

    /// Adds texts that were fetched.
    pub(crate) fn add(&self, texts: impl IntoIterator<Item = (TextsKey, Outcome<Arc<Texts>>)>) {
        self.lock().texts.extend(texts);
    }
}
