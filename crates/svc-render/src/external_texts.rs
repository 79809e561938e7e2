//! Texts of posts that another program renders: a WordPress, whose plugins register shortcodes, blocks and filters that this one
//! does not know.
//!
//! Posts are rendered within a snapshot of the store, where waiting for the network is not allowed. A post whose texts are not cached
//! is recorded in [`Missing`](crate::feeds::Missing); the caller requests the texts after the snapshot has ended and renders again. If
//! the other program cannot render a text, a response to a read is an error rather than a wrong text.

mod markup;

use std::{
    collections::{BTreeSet, hash_map::RandomState},
    fmt,
    future::Future,
    hash::BuildHasher,
    pin::Pin,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use svc_model::{Post, UserId};
use svc_store::{Rows, Store};
use svc_versions::{Stamp, VersionedCache, capture, expires_in};

pub use markup::Markup;

/// Memory for texts, in bytes.
const CAPACITY: u64 = 32 << 20;

/// How long texts are used. It is not known which files and times they depend on.
pub(crate) const MAX_AGE: Duration = Duration::from_mins(1);

/// The texts of a post as HTML.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    /// The title.
    pub title: String,
    /// The content.
    pub content: String,
    /// The excerpt.
    pub excerpt: String,
}

/// The outcome of rendering a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T = Texts> {
    /// Its texts, which are the same in each response.
    Stable(T),
    /// Its texts in a response that has no other posts. They may be others in another response.
    Unstable(T),
    /// The user may not see the post.
    Never,
    /// The other program is away, or has rendered another version of the post.
    Failed,
}

/// The outcomes of rendering posts, in their order; those at the end may be missing.
pub type Rendering<'a> = Pin<Box<dyn Future<Output = Vec<Outcome>> + Send + 'a>>;

/// A program that renders texts.
pub trait ExternalRenderer: Send + Sync {
    /// Renders the texts of posts as a user sees them; 0 is a visitor.
    fn render<'a>(&'a self, user: UserId, posts: &'a [Post]) -> Rendering<'a>;
}

/// Another program that renders texts, which texts these are, and a cache of them.
pub struct ExternalTexts {
    renderer: Box<dyn ExternalRenderer>,
    markup: Markup,
    /// Post types whose texts the program renders in any case.
    types: RwLock<BTreeSet<String>>,
    cache: VersionedCache<TextsKey, Option<Arc<Texts>>>,
    hasher: RandomState,
}

/// The user who sees the texts, the post, and a hash of its stored texts.
pub(crate) type TextsKey = (UserId, i64, u64);

impl ExternalTexts {
    /// Texts of posts that have this markup.
    pub fn new(renderer: impl ExternalRenderer + 'static, markup: Markup) -> Self {
        ExternalTexts {
            renderer: Box::new(renderer),
            markup,
            types: RwLock::default(),
            cache: VersionedCache::new(CAPACITY),
            hasher: RandomState::new(),
        }
    }

    /// Changes the post types whose texts the program renders, even without the markup. Returns whether they are others now. The caller
    /// must then invalidate cached responses.
    pub fn change_types(&self, change: impl FnOnce(&mut BTreeSet<String>)) -> bool {
        let mut types = self.types.write().unwrap_or_else(PoisonError::into_inner);
        let before = types.clone();
        change(&mut types);
        *types != before
    }

    /// The post types whose texts the program renders in any case.
    pub fn types(&self) -> BTreeSet<String> {
        self.types.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The markup that only the other program knows.
    pub(crate) fn markup(&self) -> &Markup {
        &self.markup
    }

    /// Whether the other program renders the texts of a post.
    pub fn renders(&self, post: &Post) -> bool {
        self.markup.is_in(&post.content)
            || self.markup.is_in(&post.excerpt)
            || self.types.read().unwrap_or_else(PoisonError::into_inner).contains(&post.post_type)
    }

    pub(crate) fn key(&self, user: UserId, post: &Post) -> TextsKey {
        (user, post.id.0, self.hasher.hash_one((&post.title, &post.content, &post.excerpt)))
    }

    /// Cached texts, on which the current computation then depends: `None` if they are not cached, `Some(None)` if there are none.
    pub(crate) fn cached(&self, store: &Store, key: &TextsKey) -> Option<Option<Arc<Texts>>> {
        self.cache.get(store.versions(), key, store.stamp()?)
    }

    /// Renders posts.
    pub(crate) async fn fetch(
        &self,
        store: &Store,
        user: UserId,
        posts: &[Post],
    ) -> Vec<(TextsKey, Outcome<Arc<Texts>>)> {
        // The other program reads what is stored from now on.
        let stamp = store.watched_stamp().await;
        let mut outcomes = self.renderer.render(user, posts).await.into_iter();
        let mut fetched = Vec::with_capacity(posts.len());
        for post in posts {
            let key = self.key(user, post);
            let outcome = match outcomes.next().unwrap_or(Outcome::Failed) {
                Outcome::Stable(texts) => Outcome::Stable(Arc::new(texts)),
                Outcome::Unstable(texts) => Outcome::Unstable(Arc::new(texts)),
                Outcome::Never => Outcome::Never,
                Outcome::Failed => Outcome::Failed,
            };
            let known = match &outcome {
                Outcome::Stable(texts) => Some(Some(Arc::clone(texts))),
                Outcome::Unstable(_) | Outcome::Never => Some(None),
                Outcome::Failed => None,
            };
            if let (Some(stamp), Some(texts)) = (stamp, known) {
                self.insert(key, texts, stamp);
            }
            fetched.push((key, outcome));
        }
        fetched
    }

    fn insert(&self, key: TextsKey, texts: Option<Arc<Texts>>, stamp: Stamp) {
        // Plugins may read everything.
        let ((), dependencies) = capture(|| {
            Rows::depend_on_everything();
            expires_in(MAX_AGE);
        });
        let size = texts.as_ref().map_or(0, |t| t.title.len() + t.content.len() + t.excerpt.len());
        self.cache.insert(key, texts, size, dependencies, stamp);
    }
}

impl fmt::Debug for ExternalTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalTexts")
            .field("types", &self.types())
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}
